//! The descriptors that no forked child may have. Changed behind the gate alone; what a fork in the
//! midst of a change finds is still whole.

use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

const FREE: RawFd = -1;

/// Some of the places, and more behind. Chunks are never freed: there are as many as were once
/// needed at the same time.
struct Chunk {
    places: [AtomicI32; 64],
    next: OnceLock<Box<Chunk>>,
}

static FIRST: Chunk = Chunk::new();

impl Chunk {
    const fn new() -> Self {
        Self { places: [const { AtomicI32::new(FREE) }; 64], next: OnceLock::new() }
    }
}

/// Puts `to` where `from` stands first; false if it stands nowhere.
fn replace(from: RawFd, to: RawFd) -> bool {
    let mut chunks = std::iter::successors(Some(&FIRST), |chunk| chunk.next.get().map(Box::as_ref));
    chunks.any(|chunk| {
        let place = chunk.places.iter().find(|place| place.load(Ordering::Relaxed) == from);
        place.inspect(|place| place.store(to, Ordering::Relaxed)).is_some()
    })
}

pub(super) fn enter(descriptor: RawFd) {
    while !replace(FREE, descriptor) {
        let mut last = &FIRST;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last.next.get_or_init(|| Box::new(Chunk::new()));
    }
}

pub(super) fn remove(descriptor: RawFd) {
    replace(descriptor, FREE);
}

/// Empties the table. Fit for a forked child.
pub(super) fn take_all(mut taken: impl FnMut(RawFd)) {
    let mut chunk = Some(&FIRST);
    while let Some(here) = chunk {
        for place in &here.places {
            match place.swap(FREE, Ordering::Relaxed) {
                FREE => {}
                descriptor => taken(descriptor),
            }
        }
        chunk = here.next.get().map(Box::as_ref);
    }
}
