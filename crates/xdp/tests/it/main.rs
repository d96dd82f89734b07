//! The crate's public interface, tested as root between hosts joined by a veth.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod filter;
mod link_state;
mod reception;
mod rx_probe;
mod setup;
mod support;
mod traffic;
mod transmission;

use hairpin_testbed::CountingAllocator;

/// Counts allocations per thread, so that parallel tests do not disturb each other.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
