//! Exact flows that the program compares instead of looking them up: untagged IPv4, one per slot of
//! a table in the same array map as the [entry counts](super::entry_counts).
//!
//! The slot follows from the ports, so two flows can need the same one. The second is an entry of
//! the flow map. A flow is in the table or in the map, never in both.
//!
//! The program can run while a slot changes. The word with the protocol is written last and cleared
//! first, so a slot that is half written matches no frame.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::entry::Key;

/// The number of slots, as a power of two.
pub(super) const SLOT_BITS: u32 = 10;
/// The size of a slot, as a power of two.
pub(super) const SLOT_SIZE_BITS: u32 = 5;
/// The multiplier of Fibonacci hashing, 2³² divided by the golden ratio, as 31 bits.
pub(super) const MULTIPLIER: u32 = 0x4f1b_bcdd;

/// A slot. Both words have the byte order of the frame.
#[repr(C, align(32))]
pub(super) struct InlineFlow {
    /// The remote address, 32 bits, and the local one.
    addresses: AtomicU64,
    /// The remote and the local port, 16 bits each; the protocol, 32 bits. 0 if the slot is free.
    rest: AtomicU64,
    /// The entry's value.
    value: AtomicU32,
}

const _: () = assert!(size_of::<InlineFlow>() == 1 << SLOT_SIZE_BITS);

/// A flow as a slot contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlowWords {
    addresses: u64,
    rest: u64,
}

impl FlowWords {
    /// Converts the key of an untagged IPv4 flow; `None` for other entries.
    pub(super) fn new(key: &Key) -> Option<Self> {
        let Key::Flow(key) = key else { return None };
        let word =
            |at: usize| u64::from(u32::from_ne_bytes([0, 1, 2, 3].map(|byte| key[at + byte])));
        let half = |at: usize| word(at) & 0xFFFF;
        let is_ipv4 = key[..12] == IPV4_PREFIX && key[24..36] == IPV4_PREFIX;
        (is_ipv4 && half(20) == 0).then(|| Self {
            addresses: word(36) | word(12) << 32,
            rest: half(40) | half(16) << 16 | half(18) << 32,
        })
    }

    /// Returns the index of the flow's slot.
    fn slot(self) -> usize {
        let ports = self.rest as u32;
        (ports.wrapping_mul(MULTIPLIER) >> (32 - SLOT_BITS)) as usize
    }
}

/// The start of an IPv4 address as 16 bytes.
const IPV4_PREFIX: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF];

/// The slots of all flows.
#[repr(C)]
pub(super) struct InlineFlows([InlineFlow; 1 << SLOT_BITS]);

impl InlineFlows {
    /// Returns the slot of a flow if it contains the flow.
    fn find(&self, flow: FlowWords) -> Option<&InlineFlow> {
        Some(&self.0[flow.slot()]).filter(|slot| {
            slot.rest.load(Ordering::SeqCst) == flow.rest
                && slot.addresses.load(Ordering::SeqCst) == flow.addresses
        })
    }

    /// Returns the value of a flow; `None` if it is not in the table.
    pub(super) fn value(&self, flow: FlowWords) -> Option<u32> {
        self.find(flow).map(|slot| slot.value.load(Ordering::SeqCst))
    }

    /// Changes the value of a flow. Returns `false` if it is not in the table.
    pub(super) fn replace(&self, flow: FlowWords, value: u32) -> bool {
        self.find(flow).inspect(|slot| slot.value.store(value, Ordering::SeqCst)).is_some()
    }

    /// Inserts a flow that has no entry. Returns `false` if its slot is occupied.
    pub(super) fn insert(&self, flow: FlowWords, value: u32) -> bool {
        let slot = &self.0[flow.slot()];
        if slot.rest.load(Ordering::SeqCst) != 0 {
            return false;
        }
        slot.value.store(value, Ordering::SeqCst);
        slot.addresses.store(flow.addresses, Ordering::SeqCst);
        slot.rest.store(flow.rest, Ordering::SeqCst);
        true
    }

    /// Removes a flow. Returns `false` if it is not in the table.
    pub(super) fn remove(&self, flow: FlowWords) -> bool {
        self.find(flow).inspect(|slot| slot.rest.store(0, Ordering::SeqCst)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Entry, Protocol};
    use super::*;

    fn words(vlan: Option<u16>, local: &str, remote: &str) -> Option<FlowWords> {
        let [local, remote] = [local, remote].map(|end| end.parse().unwrap());
        FlowWords::new(&Entry::Flow { protocol: Protocol::Tcp, vlan, local, remote }.key().unwrap())
    }

    #[test]
    fn words_have_the_byte_order_of_a_frame() {
        let words = words(None, "10.0.0.2:80", "10.0.0.1:258").unwrap();
        assert_eq!(words.addresses.to_ne_bytes(), [10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(words.rest.to_ne_bytes(), [1, 2, 0, 80, 6, 0, 0, 0]);
    }

    #[test]
    fn tagged_and_ipv6_flows_are_not_inline() {
        assert_eq!(words(Some(5), "10.0.0.2:80", "10.0.0.1:258"), None);
        assert_eq!(words(None, "[fd00::2]:80", "[fd00::1]:258"), None);
    }

    #[test]
    fn slot_contains_one_flow() {
        // SAFETY: a structure of integers, for which zero is a valid value.
        let flows: InlineFlows = unsafe { std::mem::zeroed() };
        let [one, other] =
            ["10.0.0.1:258", "10.0.0.3:258"].map(|remote| words(None, "10.0.0.2:80", remote));
        let [one, other] = [one.unwrap(), other.unwrap()];
        assert!(flows.insert(one, 7) && !flows.insert(other, 7), "both have the same ports");
        assert!(flows.replace(one, 8) && !flows.replace(other, 8));
        assert_eq!((flows.value(one), flows.value(other)), (Some(8), None));
        assert!(!flows.remove(other) && flows.remove(one) && !flows.remove(one));
        assert!(flows.insert(other, 7));
    }
}
