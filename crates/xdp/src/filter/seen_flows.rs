//! The TCP connections whose frames the program passed to the kernel, or looked up: the last one
//! per slot of a table, in the same array map as the [entry counts](super::entry_counts).
//!
//! A connection can be taken over only if its frames arrive on this interface. The route to the
//! peer does not show that: another interface of the host may answer ARP for the same address.

use std::sync::atomic::{AtomicU64, Ordering};

use super::entry::Key;
use super::inline_flows::MULTIPLIER;

/// The number of slots, as a power of two.
pub(super) const SEEN_BITS: u32 = 14;

/// The slots. Each has the byte order of the frame: the remote and the local port, 16 bits each,
/// and the last four bytes of the remote address. A connection is not seen if another one with the
/// same slot was seen later.
#[repr(C)]
pub(super) struct SeenFlows([AtomicU64; 1 << SEEN_BITS]);

impl SeenFlows {
    /// Returns `true` if a frame of a connection was seen.
    pub(super) fn contains(&self, key: &Key) -> bool {
        let Key::Flow(key) = key else { return false };
        let word = [40, 41, 16, 17, 36, 37, 38, 39].map(|at: usize| key[at]);
        let word = u64::from_ne_bytes(word);
        let slot = (word as u32).wrapping_mul(MULTIPLIER) >> (32 - SEEN_BITS);
        self.0[slot as usize].load(Ordering::SeqCst) == word
    }
}
