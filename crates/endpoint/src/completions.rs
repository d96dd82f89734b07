//! What the kernel said of requests, on its way from the ring to the source.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use io_uring::cqueue;

/// The kernel's answer to a request: bytes or a negative error number, and flags that name the
/// buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) result: i32,
    pub(crate) flags: u32,
}

impl Completion {
    /// The buffer that the kernel has given back with it.
    #[inline]
    pub(crate) fn buffer(self) -> Option<u16> {
        cqueue::buffer_select(self.flags)
    }

    /// Whether the request lives on.
    #[inline]
    pub(crate) fn has_more(self) -> bool {
        cqueue::more(self.flags)
    }

    /// Whether it says no more than that a request has ended.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        let idle = [libc::ENOBUFS, libc::ECANCELED, libc::EAGAIN, libc::EINTR];
        idle.contains(&self.result.wrapping_neg())
    }
}

/// A queue of a fixed capacity with one end for the ring and one for the source. It takes no lock,
/// so that a source may deliver while its ring is in use.
///
/// ```text
/// 63           32 31            0
/// |    result    |     flags    |      one slot
/// ```
pub(crate) struct Completions {
    slots: Box<[AtomicU64]>,
    /// Completions ever pushed, modulo 2^32: written by the ring.
    pushed: AtomicU32,
    /// Completions ever popped, modulo 2^32: written by the source.
    popped: AtomicU32,
}

impl Completions {
    /// Room for `capacity`, rounded up to a power of two.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.next_power_of_two();
        let slots = (0..capacity).map(|_| AtomicU64::new(0)).collect();
        Self { slots, pushed: AtomicU32::new(0), popped: AtomicU32::new(0) }
    }

    /// Adds one at the end.
    ///
    /// # Panics
    /// If there is no room: the ring makes no more requests than fit.
    #[inline]
    pub(crate) fn push(&self, completion: Completion) {
        assert!(self.count() < self.slots.len(), "there is room for the answer to each request");
        let pushed = self.pushed.load(Ordering::Relaxed);
        let result = u64::from(completion.result.cast_unsigned());
        let slot = result << 32 | u64::from(completion.flags);
        self.slot(pushed).store(slot, Ordering::Relaxed);
        self.pushed.store(pushed.wrapping_add(1), Ordering::Release);
    }

    /// The oldest.
    #[inline]
    pub(crate) fn first(&self) -> Option<Completion> {
        self.iter().next()
    }

    /// Takes the oldest away, if there is one.
    #[inline]
    pub(crate) fn pop(&self) {
        if self.count() > 0 {
            let popped = self.popped.load(Ordering::Relaxed);
            self.popped.store(popped.wrapping_add(1), Ordering::Release);
        }
    }

    /// All of them, the oldest first.
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
    fn a_completion_names_its_buffer_and_says_whether_more_will_follow() {
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
    #[should_panic(expected = "there is room")]
    fn more_than_there_is_room_for_is_our_own_mistake() {
        let completions = Completions::new(2);
        (0..3).for_each(|result| completions.push(Completion { result, flags: 0 }));
    }

    proptest! {
        /// Also across the turn of both counts.
        #[test]
        fn comes_out_in_the_order_it_went_in(
            pushes in prop::collection::vec(any::<(bool, i32, u32)>(), 0..200),
        ) {
            let completions = Completions::new(5);
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
