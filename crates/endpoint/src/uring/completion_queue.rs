// A queue of completions from the ring to the source.
//
// The parent module supplies the atomics and the memory orderings. The loom model includes this file
// once more, with loom's atomics.

use std::sync::atomic::Ordering;

use io_uring::cqueue;

use super::memory::{
    AtomicU32, AtomicU64, OBSERVE_POPPED, OBSERVE_PUSHED, PUBLISH_POPPED, PUBLISH_PUSHED,
};

/// An io_uring completion: a byte count or a negative error number, and flags that contain the
/// buffer's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) result: i32,
    pub(crate) flags: u32,
}

impl Completion {
    /// Returns the index of the buffer that the kernel has returned with the completion.
    #[inline]
    pub(crate) fn buffer(self) -> Option<u16> {
        cqueue::buffer_select(self.flags)
    }

    /// Returns `true` if the request continues and further completions follow.
    #[inline]
    pub(crate) fn has_more(self) -> bool {
        cqueue::more(self.flags)
    }

    /// Returns `true` if the completion only reports that a request has ended.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        let idle = [libc::ENOBUFS, libc::ECANCELED, libc::EAGAIN, libc::EINTR];
        idle.contains(&self.result.wrapping_neg())
    }
}

/// A lock-free single-producer, single-consumer queue of fixed capacity. The ring pushes and the
/// source pops, so the source may deliver while its ring is in use.
///
/// ```text
/// 63           32 31            0
/// |    result    |     flags    |      one slot
/// ```
pub(crate) struct CompletionQueue {
    slots: Box<[AtomicU64]>,
    /// The number of completions pushed, modulo 2^32. Written by the ring.
    pushed: AtomicU32,
    /// The number of completions popped, modulo 2^32. Written by the source.
    popped: AtomicU32,
}

impl CompletionQueue {
    /// Creates a queue with room for `capacity` completions, rounded up to a power of two.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.next_power_of_two();
        let slots = (0..capacity).map(|_| AtomicU64::new(0)).collect();
        Self { slots, pushed: AtomicU32::new(0), popped: AtomicU32::new(0) }
    }

    /// Creates a queue after `count` completions, for tests of the wrap-around.
    #[cfg(test)]
    pub(super) fn starting_at(capacity: usize, count: u32) -> Self {
        let (pushed, popped) = (AtomicU32::new(count), AtomicU32::new(count));
        Self { pushed, popped, ..Self::new(capacity) }
    }

    /// Appends a completion.
    ///
    /// # Panics
    /// If the queue is full. The ring limits its requests so that this cannot happen.
    #[inline]
    pub(crate) fn push(&self, completion: Completion) {
        assert!(
            self.count() < self.slots.len(),
            "the queue must have room for each request's completion"
        );
        let pushed = self.pushed.load(Ordering::Relaxed);
        let result = u64::from(completion.result.cast_unsigned());
        let slot = result << 32 | u64::from(completion.flags);
        self.slot(pushed).store(slot, Ordering::Relaxed);
        self.pushed.store(pushed.wrapping_add(1), PUBLISH_PUSHED);
    }

    /// Returns the oldest completion.
    #[inline]
    pub(crate) fn first(&self) -> Option<Completion> {
        self.iter().next()
    }

    /// Removes the oldest completion, if there is one.
    #[inline]
    pub(crate) fn pop(&self) {
        if self.count() > 0 {
            let popped = self.popped.load(Ordering::Relaxed);
            self.popped.store(popped.wrapping_add(1), PUBLISH_POPPED);
        }
    }

    /// Iterates over the completions, oldest first.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Completion> {
        let popped = self.popped.load(Ordering::Relaxed);
        (0..self.count() as u32).map(move |index| {
            let slot = self.slot(popped.wrapping_add(index)).load(Ordering::Relaxed);
            Completion { result: ((slot >> 32) as u32).cast_signed(), flags: slot as u32 }
        })
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        let pushed = self.pushed.load(OBSERVE_PUSHED);
        pushed.wrapping_sub(self.popped.load(OBSERVE_POPPED)) as usize
    }

    fn slot(&self, position: u32) -> &AtomicU64 {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}
