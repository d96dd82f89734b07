//! A queue of completions from the ring to the source.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use io_uring::cqueue;

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
        self.pushed.store(pushed.wrapping_add(1), Ordering::Release);
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
            self.popped.store(popped.wrapping_add(1), Ordering::Release);
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
        let pushed = self.pushed.load(Ordering::Acquire);
        pushed.wrapping_sub(self.popped.load(Ordering::Acquire)) as usize
    }

    fn slot(&self, position: u32) -> &AtomicU64 {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn completion_flags_contain_buffer_and_more() {
        let last = Completion { result: 4, flags: 7 << 16 | 1 };
        assert_eq!((last.buffer(), last.has_more()), (Some(7), false));
        let more = Completion { result: 4, flags: 2 };
        assert_eq!((more.buffer(), more.has_more()), (None, true));
        assert!(Completion { result: -libc::ENOBUFS, flags: 0 }.is_empty());
        assert!(!Completion { result: 0, flags: 0 }.is_empty());
        assert!(!Completion { result: -libc::ECONNRESET, flags: 0 }.is_empty());
        assert!(!Completion { result: i32::MIN, flags: 0 }.is_empty());
    }

    #[test]
    #[should_panic(expected = "the queue must have room")]
    fn panics_on_push_to_full_queue() {
        let completions = CompletionQueue::new(2);
        (0..3).for_each(|result| completions.push(Completion { result, flags: 0 }));
    }

    proptest! {
        /// Covers the wrap-around of both counts.
        #[test]
        fn pops_in_push_order(
            pushes in prop::collection::vec(any::<(bool, i32, u32)>(), 0..200),
        ) {
            let completions = CompletionQueue::new(5);
            completions.pushed.store(u32::MAX - 20, Ordering::Relaxed);
            completions.popped.store(u32::MAX - 20, Ordering::Relaxed);
            let mut model = VecDeque::new();
            for (push, result, flags) in pushes {
                if push && model.len() < 8 {
                    completions.push(Completion { result, flags });
                    model.push_back(Completion { result, flags });
                } else {
                    prop_assert_eq!(completions.first(), model.pop_front());
                    completions.pop();
                }
                prop_assert_eq!(completions.count(), model.len());
                prop_assert!(completions.iter().eq(model.iter().copied()));
            }
        }
    }
}
