//! Memory use of a channel, in a program with a counting allocator.

mod channel;
mod memory;
mod messages;
mod recovery;
#[path = "../support/mod.rs"]
mod support;

use hairpin_testbed::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
