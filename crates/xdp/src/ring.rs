//! The rings shared with the kernel: one side produces entries, the other consumes them.
//!
//! ```text
//! producer   u32, wrapping count of entries produced           written by the producer
//! consumer   u32, wrapping count of entries consumed           written by the consumer
//! flags      u32, bit 0: the kernel sleeps, needs a wakeup     written by the kernel
//! entries    a power of two, each u64 or Descriptor
//! ```
//!
//! Each side keeps its own index and a cached copy of the other side's. The shared word of the
//! other side is loaded (acquire) only when the cached entries are used up. The own word is stored
//! (release) once per batch. There are no locks. Source: linux/if_xdp.h, `af_xdp.rst`.
//!
//! [`queue`] contains the protocol; `model.rs` checks it with loom.

#[cfg(test)]
mod model;
mod queue;

use std::cell::UnsafeCell;
use std::panic::RefUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::mapping::Mapping;
use queue::Memory;
pub(crate) use queue::{Consumer, Producer, RingView};

/// The orderings of the shared indices. The release store of an index publishes the entries before
/// it; the acquire load by the other side makes them visible.
const PUBLISH_PRODUCER: Ordering = Ordering::Release;
const OBSERVE_PRODUCER: Ordering = Ordering::Acquire;
const PUBLISH_CONSUMER: Ordering = Ordering::Release;
const OBSERVE_CONSUMER: Ordering = Ordering::Acquire;

/// `struct xdp_desc` of linux/if_xdp.h, 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct Descriptor {
    /// The offset from the start of the UMEM in bytes.
    pub(crate) address: u64,
    pub(crate) length: u32,
    pub(crate) options: u32,
}

/// The offsets of a ring's parts in its memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offsets {
    pub(crate) producer: usize,
    pub(crate) consumer: usize,
    pub(crate) flags: usize,
    pub(crate) entries: usize,
}

/// An entry of a ring, which the other side may write. It has the interface of loom's cell.
#[repr(transparent)]
struct EntryCell<T>(UnsafeCell<T>);

impl<T> EntryCell<T> {
    #[inline(always)]
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    #[inline(always)]
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// A panic cannot leave a broken entry visible, because an entry is published by the index after
/// its only write.
impl<T> RefUnwindSafe for EntryCell<T> {}

impl<T: Copy> Memory<T> {
    /// Locates a ring in a mapping.
    ///
    /// # Safety
    /// The mapping contains a ring of `size` entries of type `T` at these offsets. Every bit
    /// pattern is a valid `T`. The caller's side has no other user, and the other side does not
    /// touch what belongs to the caller's side.
    ///
    /// # Panics
    /// If a part lies outside the mapping or is misaligned, or `size` is not a power of two.
    unsafe fn new(mapping: Mapping, offsets: Offsets, size: u32) -> Self {
        assert!(size.is_power_of_two(), "a ring of {size} entries is not a power of two");
        let word = |offset: usize| {
            assert!(offset.is_multiple_of(4) && offset + 4 <= mapping.len(), "outside the ring");
            // SAFETY: inside the mapping, as checked above.
            unsafe { mapping.start().add(offset) }.cast::<AtomicU32>().cast_const()
        };
        let (producer, consumer) = (word(offsets.producer), word(offsets.consumer));
        let flags = word(offsets.flags);
        assert!(offsets.entries.is_multiple_of(align_of::<T>()), "entries are not aligned");
        let end = offsets.entries + size as usize * size_of::<T>();
        assert!(end <= mapping.len(), "a ring of {size} entries ends outside its memory");
        // SAFETY: inside the mapping, as checked above.
        let entries = unsafe { mapping.start().add(offsets.entries) }.cast::<EntryCell<T>>();
        let (entries, mask, mapping) = (entries.cast_const(), size - 1, Arc::new(mapping));
        Self { producer, consumer, flags, entries, mask, mapping }
    }
}

impl<T: Copy> Producer<T> {
    /// Takes the producing side of a ring.
    ///
    /// # Safety
    /// As for [`Memory::new`].
    pub(crate) unsafe fn new(mapping: Mapping, offsets: Offsets, size: u32) -> Self {
        // SAFETY: the caller guarantees the same conditions.
        Self::from_memory(unsafe { Memory::new(mapping, offsets, size) })
    }
}

impl<T: Copy> Consumer<T> {
    /// Takes the consuming side of a ring.
    ///
    /// # Safety
    /// As for [`Memory::new`].
    pub(crate) unsafe fn new(mapping: Mapping, offsets: Offsets, size: u32) -> Self {
        // SAFETY: the caller guarantees the same conditions.
        Self::from_memory(unsafe { Memory::new(mapping, offsets, size) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    const OFFSETS: Offsets = Offsets { producer: 0, consumer: 64, flags: 128, entries: 192 };

    /// Returns both sides of a ring of `size` entries whose indices start at `start`.
    fn ring(size: u32, start: u32) -> (Producer<Descriptor>, Consumer<Descriptor>) {
        let length = 192 + 16 * size as usize;
        let file = crate::mapping::sealed_file(c"hairpin-test", length as u64).unwrap();
        let map = || Mapping::shared(std::os::fd::AsFd::as_fd(&file), length, 0).unwrap();
        let cursors = map();
        for offset in [OFFSETS.producer, OFFSETS.consumer] {
            // SAFETY: inside the mapping, aligned, and without another user yet.
            unsafe { cursors.start().add(offset).cast::<u32>().write(start) };
        }
        // SAFETY: two mappings of one file, which contains a ring of zeros; each side has one user.
        unsafe { (Producer::new(map(), OFFSETS, size), Consumer::new(map(), OFFSETS, size)) }
    }

    fn entry(number: u64) -> Descriptor {
        Descriptor { address: number, length: !number as u32, options: 7 }
    }

    /// Writes an entry. Returns `false` if the ring is full.
    fn push(producer: &mut Producer<Descriptor>, number: u64) -> bool {
        producer.reserve().map(|reservation| reservation.write(entry(number))).is_some()
    }

    #[test]
    fn entries_are_visible_after_submit_and_reusable_after_release() {
        let (mut producer, mut consumer) = ring(2, 0);
        assert!(push(&mut producer, 1) && push(&mut producer, 2));
        assert_eq!(consumer.available(), 0);
        assert_eq!(consumer.pop(), None);
        producer.submit();
        assert_eq!(consumer.available(), 2);
        assert_eq!(consumer.pop(), Some(entry(1)));
        assert!(!push(&mut producer, 3));
        assert_eq!(producer.pending(), 2);
        consumer.release();
        assert_eq!(producer.pending(), 1);
        assert!(push(&mut producer, 3) && !push(&mut producer, 4));
    }

    #[test]
    fn shared_index_is_read_only_when_cached_entries_are_used_up() {
        let (mut producer, mut consumer) = ring(4, 0);
        push(&mut producer, 1);
        producer.submit();
        assert_eq!(consumer.available(), 1);
        push(&mut producer, 2);
        producer.submit();
        // One cached entry is unread, so the shared index is not read.
        assert_eq!(consumer.available(), 1);
        consumer.pop();
        assert_eq!(consumer.pop(), None);
        assert_eq!(consumer.available(), 1);
        consumer.pop();
        consumer.release();
        assert_eq!(producer.free, 2);
        assert!(push(&mut producer, 3) && push(&mut producer, 4));
        assert_eq!(producer.free, 0);
        assert!(push(&mut producer, 5));
        assert_eq!(producer.free, 1);
    }

    #[test]
    fn next_releases_before_polling() {
        let (mut producer, mut consumer) = ring(2, u32::MAX);
        assert_eq!(consumer.next(), None);
        assert!(push(&mut producer, 1) && push(&mut producer, 2));
        producer.submit();
        assert_eq!(consumer.next(), Some(entry(1)));
        assert_eq!(consumer.next(), Some(entry(2)));
        assert_eq!(producer.pending(), 2, "not polled yet");
        assert_eq!(consumer.next(), None);
        assert_eq!(producer.pending(), 0);
        assert!(push(&mut producer, 3));
        producer.submit();
        assert_eq!(consumer.next(), Some(entry(3)));
    }

    #[test]
    fn nth_last_finds_entries_that_are_not_overwritten() {
        let (mut producer, mut consumer) = ring(2, u32::MAX);
        assert_eq!([0, 3].map(|count| producer.nth_last(count)), [None, None]);
        for number in 1..=4 {
            assert!(push(&mut producer, number));
            producer.submit();
            consumer.next();
            consumer.release();
        }
        assert_eq!([1, 2].map(|count| producer.nth_last(count).unwrap().address), [4, 3]);
    }

    #[test]
    fn view_is_empty_once_entries_are_released() {
        let (mut producer, mut consumer) = ring(4, u32::MAX);
        let views = [producer.view(), consumer.view()];
        let are_empty = |empty| views.iter().all(|view| view.is_empty() == empty);
        assert!(are_empty(true));
        push(&mut producer, 1);
        assert!(are_empty(true), "not submitted yet");
        producer.submit();
        assert!(are_empty(false));
        assert_eq!((consumer.available(), consumer.pop()), (1, Some(entry(1))));
        assert!(are_empty(false), "not released yet");
        consumer.release();
        assert!(are_empty(true));
        assert!(!views[0].needs_wakeup());
    }

    #[test]
    fn needs_wakeup_reads_the_flag_of_the_kernel() {
        let (producer, _consumer) = ring(2, 0);
        assert!(!producer.needs_wakeup());
        // SAFETY: the ring's memory, which both sides access atomically.
        let flags = unsafe { &*producer.memory.flags };
        flags.store(libc::XDP_RING_NEED_WAKEUP, Ordering::Relaxed);
        assert!(producer.needs_wakeup());
        flags.store(2, Ordering::Relaxed);
        assert!(!producer.needs_wakeup());
    }

    #[test]
    fn invalid_indices_overwrite_and_lose_nothing() {
        let (mut producer, mut consumer) = ring(4, 0);
        producer.memory.consumer().store(100, Ordering::Relaxed);
        assert!(!push(&mut producer, 1));
        producer.memory.producer().store(1_000, Ordering::Relaxed);
        assert_eq!(consumer.available(), 4);
    }

    #[test]
    fn ring_taken_over_continues_where_it_stopped() {
        let (mut producer, mut consumer) = ring(4, u32::MAX);
        assert!(push(&mut producer, 1) && push(&mut producer, 2));
        producer.submit();
        assert_eq!(consumer.available(), 2);
        consumer.pop();
        consumer.release();
        let mapping = Arc::try_unwrap(producer.memory.mapping).expect("no view exists");
        // SAFETY: the same ring, whose first owner no longer exists.
        let mut again = unsafe { Producer::<Descriptor>::new(mapping, OFFSETS, 4) };
        assert_eq!((again.written, again.pending()), (1, 1));
        assert!(push(&mut again, 3));
        assert_eq!(again.free, 2);
        again.submit();
        assert_eq!([consumer.pop(), consumer.pop()], [Some(entry(2)), None]);
        assert_eq!(consumer.available(), 1);
        assert_eq!(consumer.pop(), Some(entry(3)));
    }

    #[test]
    #[should_panic(expected = "ends outside its memory")]
    fn new_rejects_a_ring_beyond_its_memory() {
        let mapping = Mapping::anonymous(4_096, false).unwrap();
        // SAFETY: the call panics before it reads anything.
        let _ = unsafe { Producer::<Descriptor>::new(mapping, OFFSETS, 256) };
    }

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Produce(u32),
        Submit,
        Consume(u32),
        Release,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1..12_u32).prop_map(Step::Produce),
            Just(Step::Submit),
            (1..12_u32).prop_map(Step::Consume),
            Just(Step::Release),
        ]
    }

    /// A reference model: entries not submitted, submitted and not read, read and not released.
    #[derive(Default)]
    struct Model {
        unsubmitted: VecDeque<u64>,
        unread: VecDeque<u64>,
        unreleased: u32,
    }

    impl Model {
        fn used(&self) -> u32 {
            self.unsubmitted.len() as u32 + self.unread.len() as u32 + self.unreleased
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        /// Both sides behave like a queue, at any start index; half of the runs wrap.
        #[test]
        fn ring_behaves_like_a_queue(
            power in 0..5_u32,
            start in prop_oneof![any::<u32>(), u32::MAX - 64..=u32::MAX],
            steps in prop::collection::vec(step(), 1..200),
        ) {
            let size = 1 << power;
            let (mut producer, mut consumer) = ring(size, start);
            let (mut model, mut next) = (Model::default(), 0_u64);
            for step in steps {
                match step {
                    Step::Produce(wanted) => {
                        for _ in 0..wanted {
                            let has_room = model.used() < size;
                            prop_assert_eq!(push(&mut producer, next), has_room);
                            if has_room {
                                model.unsubmitted.push_back(next);
                                next += 1;
                            }
                        }
                    }
                    Step::Submit => {
                        producer.submit();
                        model.unread.append(&mut model.unsubmitted);
                    }
                    Step::Consume(wanted) => for _ in 0..wanted {
                        let available = consumer.available();
                        prop_assert!(available as usize <= model.unread.len());
                        prop_assert_eq!(available > 0, !model.unread.is_empty());
                        let read = consumer.pop();
                        prop_assert_eq!(read, model.unread.pop_front().map(entry));
                        model.unreleased += u32::from(read.is_some());
                    }
                    Step::Release => {
                        consumer.release();
                        model.unreleased = 0;
                    }
                }
                let pending = model.used();
                prop_assert_eq!(producer.pending(), pending);
            }
        }
    }

    /// Transfers batches between two threads: each entry arrives once and in order.
    #[test]
    fn concurrent_transfer_loses_and_duplicates_nothing() {
        const COUNT: u64 = 200_000;
        let (mut producer, mut consumer) = ring(64, u32::MAX - 1_000);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut next = 0;
                while next < COUNT {
                    while next < COUNT && push(&mut producer, next) {
                        next += 1;
                    }
                    producer.submit();
                    std::thread::yield_now();
                }
            });
            let mut expected = 0;
            while expected < COUNT {
                if consumer.available() == 0 {
                    std::thread::yield_now();
                }
                while let Some(read) = consumer.pop() {
                    assert_eq!(read, entry(expected));
                    expected += 1;
                }
                consumer.release();
            }
        });
    }
}
