//! The registered descriptors that no forked child may keep. The table changes only under the fork
//! lock; a fork in the middle of a change finds it consistent.

use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

const FREE: RawFd = -1;

/// A block of entries and a link to the next block. Blocks are never freed; their number is the
/// highest number needed at one time.
struct Block {
    entries: [AtomicI32; 64],
    next: OnceLock<Box<Block>>,
}

static FIRST: Block = Block::new();

impl Block {
    const fn new() -> Self {
        Self { entries: [const { AtomicI32::new(FREE) }; 64], next: OnceLock::new() }
    }
}

/// Stores `to` in the first entry that contains `from`. Returns `false` if no entry contains
/// `from`.
fn replace(from: RawFd, to: RawFd) -> bool {
    let mut blocks = std::iter::successors(Some(&FIRST), |block| block.next.get().map(Box::as_ref));
    blocks.any(|block| {
        let entry = block.entries.iter().find(|entry| entry.load(Ordering::Relaxed) == from);
        entry.inspect(|entry| entry.store(to, Ordering::Relaxed)).is_some()
    })
}

/// Returns `true` if the descriptor is registered.
pub(super) fn contains(descriptor: RawFd) -> bool {
    let mut blocks = std::iter::successors(Some(&FIRST), |block| block.next.get().map(Box::as_ref));
    blocks.any(|block| block.entries.iter().any(|it| it.load(Ordering::Relaxed) == descriptor))
}

pub(super) fn insert(descriptor: RawFd) {
    while !replace(FREE, descriptor) {
        let mut last = &FIRST;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last.next.get_or_init(|| Box::new(Block::new()));
    }
}

pub(super) fn remove(descriptor: RawFd) {
    replace(descriptor, FREE);
}

/// Empties the table. Async-signal-safe, so a forked child can call it.
pub(super) fn drain(mut drained: impl FnMut(RawFd)) {
    let mut block = Some(&FIRST);
    while let Some(here) = block {
        for entry in &here.entries {
            match entry.swap(FREE, Ordering::Relaxed) {
                FREE => {}
                descriptor => drained(descriptor),
            }
        }
        block = here.next.get().map(Box::as_ref);
    }
}
