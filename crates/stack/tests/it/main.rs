//! The crate's public interface, tested as root between hosts joined by a veth.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod allocation;
mod capabilities;
mod changes;
mod flood;
mod groups;
mod kernel_rules;
mod memberships;
mod neighbors;
mod netlink;
mod odd_frames;
mod order;
mod poller;
mod raw_dedicated;
mod raw_frames;
mod spinning;
mod support;
mod tcp;
mod udp;
mod waits;

use hairpin_testbed::CountingAllocator;

/// Counts allocations per thread, so that parallel tests do not disturb each other.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Private modules of the crate, for tests of their behavior on a real kernel.
#[path = "../../src"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "the stack uses more of it")]
mod source {
    pub(crate) mod memberships;
    pub(crate) mod netlink;
}
