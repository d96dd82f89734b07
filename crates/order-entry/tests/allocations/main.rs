//! Tests with a counting allocator: no allocation after the logon.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../it/mock_exchange.rs"]
mod mock_exchange;
mod recovery;
mod session;
#[path = "../it/session_harness.rs"]
mod session_harness;

use hairpin_testbed::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
