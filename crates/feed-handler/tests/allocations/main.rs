//! Tests with a counting allocator: no allocation after startup.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engine;
mod tcp;

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../../mdp3/tests/support/packets.rs"]
mod packets;

use hairpin_testbed::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
