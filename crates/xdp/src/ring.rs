//! The rings between this process and the kernel: one writes, one reads, neither locks.
//!
//! ```text
//! producer   u32, counts up and wraps: entries written in all      written by the producer
//! consumer   u32, counts up and wraps: entries read in all         written by the consumer
//! flags      u32, bit 0: the kernel sleeps and wants to be woken   written by the kernel
//! entries    a power of two of them, u64 or Descriptor
//! ```
//!
//! Each side keeps its own cursor and the last it has seen of the other's. The shared word of the
//! other side is loaded (acquire) only when what is known is used up, and the own one is stored
//! (release) once for a batch. Nothing is locked. (linux/if_xdp.h, `af_xdp.rst`.)

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::mapping::Mapping;

/// `struct xdp_desc` of linux/if_xdp.h, 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct Descriptor {
    /// Bytes from the beginning of the UMEM.
    pub(crate) address: u64,
    pub(crate) length: u32,
    pub(crate) options: u32,
}

/// Where the parts of a ring lie in its memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offsets {
    pub(crate) producer: usize,
    pub(crate) consumer: usize,
    pub(crate) flags: usize,
    pub(crate) entries: usize,
}

/// The memory of a ring of `T`.
struct Memory<T> {
    producer: *const AtomicU32,
    consumer: *const AtomicU32,
    flags: *const AtomicU32,
    entries: *mut T,
    /// The number of entries less one.
    mask: u32,
    /// What the pointers point into.
    mapping: Arc<Mapping>,
    _entries: PhantomData<T>,
}

// SAFETY: the memory belongs to the process and is owned by this value. What is in it is reached by
// atomics, or belongs to one side at a time.
unsafe impl<T: Send> Send for Memory<T> {}

impl<T> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("mask", &self.mask).finish_non_exhaustive()
    }
}

impl<T: Copy> Memory<T> {
    /// # Safety
    /// The mapping holds a ring of `size` entries `T` at these offsets, any bits being a `T`, whose
    /// one side nobody else plays, and whose other side leaves alone what is this side's.
    ///
    /// # Panics
    /// If the parts lie outside the mapping, are not aligned, or `size` is no power of two.
    unsafe fn new(mapping: Mapping, offsets: Offsets, size: u32) -> Self {
        assert!(size.is_power_of_two(), "a ring of {size} entries");
        let word = |offset: usize| {
            assert!(offset.is_multiple_of(4) && offset + 4 <= mapping.len(), "outside the ring");
            // SAFETY: inside the mapping, as was just checked.
            unsafe { mapping.start().add(offset) }.cast::<AtomicU32>().cast_const()
        };
        let (producer, consumer) = (word(offsets.producer), word(offsets.consumer));
        let flags = word(offsets.flags);
        assert!(offsets.entries.is_multiple_of(align_of::<T>()), "entries are not aligned");
        let end = offsets.entries + size as usize * size_of::<T>();
        assert!(end <= mapping.len(), "a ring of {size} entries ends outside its memory");
        // SAFETY: inside the mapping, as was just checked.
        let entries = unsafe { mapping.start().add(offsets.entries) }.cast::<T>();
        let mask = size - 1;
        let mapping = Arc::new(mapping);
        Self { producer, consumer, flags, entries, mask, mapping, _entries: PhantomData }
    }

    #[inline]
    fn producer(&self) -> &AtomicU32 {
        // SAFETY: inside the mapping and aligned (`new`); all sides reach it atomically.
        unsafe { &*self.producer }
    }

    #[inline]
    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { &*self.consumer }
    }

    #[inline]
    fn wants_wake(&self) -> bool {
        // SAFETY: as above.
        let flags = unsafe { &*self.flags };
        flags.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn cursors(&self) -> Cursors {
        let Self { producer, consumer, flags, .. } = *self;
        Cursors { producer, consumer, flags, _mapping: Arc::clone(&self.mapping) }
    }

    /// The entry of a cursor.
    #[inline]
    fn entry(&self, cursor: u32) -> *mut T {
        // SAFETY: the mask keeps the index below the number of entries.
        unsafe { self.entries.add((cursor & self.mask) as usize) }
    }

    #[inline]
    fn size(&self) -> u32 {
        self.mask + 1
    }
}

/// How far both sides of a ring have come, for those who play neither. The memory stays as long as
/// this does.
#[derive(Debug)]
pub(crate) struct Cursors {
    producer: *const AtomicU32,
    consumer: *const AtomicU32,
    flags: *const AtomicU32,
    _mapping: Arc<Mapping>,
}

// SAFETY: it reads atomics alone, in memory that it keeps.
unsafe impl Send for Cursors {}
// SAFETY: as above.
unsafe impl Sync for Cursors {}

impl Cursors {
    /// Whether the consumer has released all that was produced. By the time that this is known
    /// there may be more.
    #[inline]
    pub(crate) fn are_level(&self) -> bool {
        // SAFETY: inside the mapping and aligned (`Memory::new`); all sides reach them atomically.
        let (producer, consumer) = unsafe { (&*self.producer, &*self.consumer) };
        producer.load(Ordering::Relaxed) == consumer.load(Ordering::Relaxed)
    }

    /// Whether the kernel must be woken to go on with the ring.
    #[inline]
    pub(crate) fn wants_wake(&self) -> bool {
        // SAFETY: as above.
        let flags = unsafe { &*self.flags };
        flags.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

/// The side of a ring that writes: fill and transmit.
#[derive(Debug)]
pub(crate) struct Producer<T> {
    memory: Memory<T>,
    /// Entries written, those that are not submitted yet among them.
    written: u32,
    /// Entries submitted.
    submitted: u32,
    /// How many may be written before the consumer must be looked at again.
    room: u32,
}

impl<T: Copy> Producer<T> {
    /// # Safety
    /// As [`Memory::new`], the side that writes.
    pub(crate) unsafe fn new(mapping: Mapping, offsets: Offsets, size: u32) -> Self {
        // SAFETY: the caller's word.
        let memory = unsafe { Memory::new(mapping, offsets, size) };
        let mut producer = Self { memory, written: 0, submitted: 0, room: 0 };
        producer.resume();
        producer
    }

    /// Goes on where the last owner of this side has stopped; what was not submitted is forgotten.
    pub(crate) fn resume(&mut self) {
        self.written = self.memory.producer().load(Ordering::Acquire);
        (self.submitted, self.room) = (self.written, 0);
    }

    /// The next place to write to; `None` if the ring is full. The consumer is looked at only if no
    /// place is known to be free.
    #[inline(always)]
    pub(crate) fn place(&mut self) -> Option<Place<'_, T>> {
        if self.room == 0 && self.look() == 0 { None } else { Some(Place(self)) }
    }

    #[cold]
    fn look(&mut self) -> u32 {
        // A consumer that counts nonsense finds a full ring, and no entry is overwritten.
        self.room = self.memory.size().saturating_sub(self.pending());
        self.room
    }

    /// What anybody may know of this ring.
    pub(crate) fn cursors(&self) -> Cursors {
        self.memory.cursors()
    }

    /// The first of the last `count` entries that were written; `None` without any, or if their
    /// places have been written again.
    #[inline]
    pub(crate) fn first_of_last(&self, count: u32) -> Option<T> {
        if count == 0 || count > self.memory.size() {
            return None;
        }
        // SAFETY: inside the ring, and this side alone writes it. Any bits are a `T`.
        Some(unsafe { self.memory.entry(self.written.wrapping_sub(count)).read() })
    }

    /// Shows the consumer all that was written.
    #[inline]
    pub(crate) fn submit(&mut self) {
        if self.submitted != self.written {
            self.memory.producer().store(self.written, Ordering::Release);
            self.submitted = self.written;
        }
    }

    /// How many entries, submitted or not, the consumer has not taken, as it is now.
    #[inline]
    pub(crate) fn pending(&self) -> u32 {
        self.written.wrapping_sub(self.memory.consumer().load(Ordering::Acquire))
    }

    /// Whether the kernel must be woken to go on with this ring.
    #[inline]
    pub(crate) fn wants_wake(&self) -> bool {
        self.memory.wants_wake()
    }
}

/// A place in a ring that the consumer is done with.
pub(crate) struct Place<'r, T>(&'r mut Producer<T>);

impl<T: Copy> Place<'_, T> {
    /// Writes an entry, which the consumer sees after the next [`submit`](Producer::submit).
    #[inline(always)]
    pub(crate) fn write(self, entry: T) {
        let Self(ring) = self;
        // SAFETY: the consumer is done with this entry: `look` saw, by an acquiring load, how far
        // it has come. Until `submit` it belongs to this side.
        unsafe { ring.memory.entry(ring.written).write(entry) };
        ring.written = ring.written.wrapping_add(1);
        ring.room -= 1;
    }
}

/// The side of a ring that reads: receive and completion.
#[derive(Debug)]
pub(crate) struct Consumer<T> {
    memory: Memory<T>,
    /// Entries read, those that are not released yet among them.
    read: u32,
    /// Entries that are known to be there, those read among them.
    known: u32,
    /// Entries released.
    released: u32,
}

impl<T: Copy> Consumer<T> {
    /// # Safety
    /// As [`Memory::new`], the side that reads.
    pub(crate) unsafe fn new(mapping: Mapping, offsets: Offsets, size: u32) -> Self {
        // SAFETY: the caller's word.
        let memory = unsafe { Memory::new(mapping, offsets, size) };
        let mut consumer = Self { memory, read: 0, known: 0, released: 0 };
        consumer.resume();
        consumer
    }

    /// Goes on where the last owner of this side has stopped; what was not released is read again.
    pub(crate) fn resume(&mut self) {
        self.read = self.memory.consumer().load(Ordering::Acquire);
        (self.released, self.known) = (self.read, self.read);
    }

    /// How many entries can be read now. The producer is looked at only if none is known.
    #[inline(always)]
    pub(crate) fn filled(&mut self) -> u32 {
        if self.known == self.read {
            let produced = self.memory.producer().load(Ordering::Acquire);
            // A producer that counts nonsense gives no more than the ring holds.
            let filled = produced.wrapping_sub(self.read).min(self.memory.size());
            self.known = self.read.wrapping_add(filled);
        }
        self.known.wrapping_sub(self.read)
    }

    /// The next entry, if [`filled`](Self::filled) has told of one. The producer may use its place
    /// again after the next [`release`](Self::release).
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.known == self.read {
            return None;
        }
        // SAFETY: the producer is done with this entry: `filled` saw, by an acquiring load, how far
        // it has come. Until `release` it is not written again. Any bits are a `T`.
        let entry = unsafe { self.memory.entry(self.read).read() };
        self.read = self.read.wrapping_add(1);
        Some(entry)
    }

    /// Whether [`pop`](Self::pop) has one.
    #[inline(always)]
    pub(crate) fn has_known(&self) -> bool {
        self.known != self.read
    }

    /// Whether there are any. The producer has all places back before it is looked at.
    #[inline(always)]
    pub(crate) fn look(&mut self) -> bool {
        self.release();
        self.filled() > 0
    }

    /// The next entry that is there; a look serves all that it finds.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<T> {
        if !self.has_known() && !self.look() {
            return None;
        }
        self.pop()
    }

    /// What anybody may know of this ring.
    pub(crate) fn cursors(&self) -> Cursors {
        self.memory.cursors()
    }

    /// Lets the producer have all places that were read.
    #[inline]
    pub(crate) fn release(&mut self) {
        if self.released != self.read {
            self.memory.consumer().store(self.read, Ordering::Release);
            self.released = self.read;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    const OFFSETS: Offsets = Offsets { producer: 0, consumer: 64, flags: 128, entries: 192 };

    /// Both sides of one ring, whose cursors begin at `start`; `entries` has the size.
    fn ring(size: u32, start: u32) -> (Producer<Descriptor>, Consumer<Descriptor>) {
        let length = 192 + 16 * size as usize;
        let file = crate::mapping::sealed_file(c"hairpin-test", length as u64).unwrap();
        let map = || Mapping::shared(std::os::fd::AsFd::as_fd(&file), length, 0).unwrap();
        let cursors = map();
        for offset in [OFFSETS.producer, OFFSETS.consumer] {
            // SAFETY: inside the mapping, aligned, and nobody else has it yet.
            unsafe { cursors.start().add(offset).cast::<u32>().write(start) };
        }
        // SAFETY: two mappings of one file, which holds a ring of zeros; each side is played once.
        unsafe { (Producer::new(map(), OFFSETS, size), Consumer::new(map(), OFFSETS, size)) }
    }

    fn entry(number: u64) -> Descriptor {
        Descriptor { address: number, length: !number as u32, options: 7 }
    }

    /// Writes an entry; false if there is no room.
    fn put(producer: &mut Producer<Descriptor>, number: u64) -> bool {
        producer.place().map(|place| place.write(entry(number))).is_some()
    }

    #[test]
    fn nothing_is_seen_before_it_is_submitted_nor_reused_before_it_is_released() {
        let (mut producer, mut consumer) = ring(2, 0);
        assert!(put(&mut producer, 1) && put(&mut producer, 2));
        assert_eq!(consumer.filled(), 0);
        assert_eq!(consumer.pop(), None);
        producer.submit();
        assert_eq!(consumer.filled(), 2);
        assert_eq!(consumer.pop(), Some(entry(1)));
        assert!(!put(&mut producer, 3));
        assert_eq!(producer.pending(), 2);
        consumer.release();
        assert_eq!(producer.pending(), 1);
        assert!(put(&mut producer, 3) && !put(&mut producer, 4));
    }

    #[test]
    fn the_other_side_is_looked_at_only_when_what_is_known_is_used_up() {
        let (mut producer, mut consumer) = ring(4, 0);
        put(&mut producer, 1);
        producer.submit();
        assert_eq!(consumer.filled(), 1);
        put(&mut producer, 2);
        producer.submit();
        // One is known and not read yet: the second is not looked for.
        assert_eq!(consumer.filled(), 1);
        consumer.pop();
        assert_eq!(consumer.pop(), None);
        assert_eq!(consumer.filled(), 1);
        consumer.pop();
        consumer.release();
        assert_eq!(producer.room, 2);
        assert!(put(&mut producer, 3) && put(&mut producer, 4));
        assert_eq!(producer.room, 0);
        assert!(put(&mut producer, 5));
        assert_eq!(producer.room, 1);
    }

    #[test]
    fn who_wants_the_next_releases_before_looking() {
        let (mut producer, mut consumer) = ring(2, u32::MAX);
        assert_eq!(consumer.next(), None);
        assert!(put(&mut producer, 1) && put(&mut producer, 2));
        producer.submit();
        assert_eq!(consumer.next(), Some(entry(1)));
        assert_eq!(consumer.next(), Some(entry(2)));
        assert_eq!(producer.pending(), 2, "no look yet");
        assert_eq!(consumer.next(), None);
        assert_eq!(producer.pending(), 0);
        assert!(put(&mut producer, 3));
        producer.submit();
        assert_eq!(consumer.next(), Some(entry(3)));
    }

    #[test]
    fn the_first_of_the_last_is_found_as_long_as_its_place_is_its_own() {
        let (mut producer, mut consumer) = ring(2, u32::MAX);
        assert_eq!([0, 3].map(|count| producer.first_of_last(count)), [None, None]);
        for number in 1..=4 {
            assert!(put(&mut producer, number));
            producer.submit();
            consumer.next();
            consumer.release();
        }
        assert_eq!([1, 2].map(|count| producer.first_of_last(count).unwrap().address), [4, 3]);
    }

    #[test]
    fn who_plays_no_side_sees_what_is_not_released() {
        let (mut producer, mut consumer) = ring(4, u32::MAX);
        let cursors = [producer.cursors(), consumer.cursors()];
        let are_level = |level| cursors.iter().all(|cursors| cursors.are_level() == level);
        assert!(are_level(true));
        put(&mut producer, 1);
        assert!(are_level(true), "nothing is submitted yet");
        producer.submit();
        assert!(are_level(false));
        assert_eq!((consumer.filled(), consumer.pop()), (1, Some(entry(1))));
        assert!(are_level(false), "nothing is released yet");
        consumer.release();
        assert!(are_level(true));
        assert!(!cursors[0].wants_wake());
    }

    #[test]
    fn the_kernels_wish_to_be_woken_is_seen() {
        let (producer, _consumer) = ring(2, 0);
        assert!(!producer.wants_wake());
        // SAFETY: the ring's memory, which both sides reach atomically.
        let flags = unsafe { &*producer.memory.flags };
        flags.store(libc::XDP_RING_NEED_WAKEUP, Ordering::Relaxed);
        assert!(producer.wants_wake());
        flags.store(2, Ordering::Relaxed);
        assert!(!producer.wants_wake());
    }

    #[test]
    fn cursors_that_make_no_sense_lose_nothing_of_ours() {
        let (mut producer, mut consumer) = ring(4, 0);
        producer.memory.consumer().store(100, Ordering::Relaxed);
        assert!(!put(&mut producer, 1));
        producer.memory.producer().store(1_000, Ordering::Relaxed);
        assert_eq!(consumer.filled(), 4);
    }

    #[test]
    fn a_ring_taken_over_goes_on_where_it_stood() {
        let (mut producer, mut consumer) = ring(4, u32::MAX);
        assert!(put(&mut producer, 1) && put(&mut producer, 2));
        producer.submit();
        assert_eq!(consumer.filled(), 2);
        consumer.pop();
        consumer.release();
        let mapping = Arc::try_unwrap(producer.memory.mapping).expect("nobody looks at it");
        // SAFETY: the same ring, whose first owner is gone.
        let mut again = unsafe { Producer::<Descriptor>::new(mapping, OFFSETS, 4) };
        assert_eq!((again.written, again.pending()), (1, 1));
        assert!(put(&mut again, 3));
        assert_eq!(again.room, 2);
        again.submit();
        assert_eq!([consumer.pop(), consumer.pop()], [Some(entry(2)), None]);
        assert_eq!(consumer.filled(), 1);
        assert_eq!(consumer.pop(), Some(entry(3)));
    }

    #[test]
    fn two_owners_of_a_side_take_turns() {
        let (mut first, mut reader) = ring(4, u32::MAX);
        put(&mut first, 1);
        first.submit();
        let first_written = first.written;
        // Another owner would have written one more.
        // SAFETY: the place is free, and nobody looks at it before the count below.
        unsafe { first.memory.entry(first_written).write(entry(2)) };
        first.memory.producer().store(first_written.wrapping_add(1), Ordering::Release);
        first.resume();
        assert!(put(&mut first, 3));
        assert_eq!(first.room, 1);
        first.submit();
        assert_eq!(reader.filled(), 3);
        assert_eq!(reader.pop(), Some(entry(1)));
        // And another reader has taken the second.
        reader.memory.consumer().store(first_written.wrapping_add(1), Ordering::Release);
        reader.resume();
        assert_eq!([reader.filled(), first.pending()], [1, 1]);
        assert_eq!(reader.pop(), Some(entry(3)));
    }

    #[test]
    #[should_panic(expected = "ends outside its memory")]
    fn a_ring_lies_inside_its_memory() {
        let mapping = Mapping::anonymous(4_096, false).unwrap();
        // SAFETY: it panics before anything is read.
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

    /// The same as a queue: what is written and not shown, shown and not read, read and held.
    #[derive(Default)]
    struct Model {
        hidden: VecDeque<u64>,
        shown: VecDeque<u64>,
        held: u32,
    }

    impl Model {
        fn used(&self) -> u32 {
            self.hidden.len() as u32 + self.shown.len() as u32 + self.held
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        /// Both sides do what a queue does, wherever the counters begin; half of the runs wrap.
        #[test]
        fn does_what_a_queue_does(
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
                            prop_assert_eq!(put(&mut producer, next), has_room);
                            if has_room {
                                model.hidden.push_back(next);
                                next += 1;
                            }
                        }
                    }
                    Step::Submit => {
                        producer.submit();
                        model.shown.append(&mut model.hidden);
                    }
                    Step::Consume(wanted) => for _ in 0..wanted {
                        let filled = consumer.filled();
                        prop_assert!(filled as usize <= model.shown.len());
                        prop_assert_eq!(filled > 0, !model.shown.is_empty());
                        let read = consumer.pop();
                        prop_assert_eq!(read, model.shown.pop_front().map(entry));
                        model.held += u32::from(read.is_some());
                    }
                    Step::Release => {
                        consumer.release();
                        model.held = 0;
                    }
                }
                let pending = model.used();
                prop_assert_eq!(producer.pending(), pending);
            }
        }
    }

    /// Two threads, one batch after another: what was written arrives, once and in order.
    #[test]
    fn two_threads_lose_and_double_nothing() {
        const COUNT: u64 = 200_000;
        let (mut producer, mut consumer) = ring(64, u32::MAX - 1_000);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut next = 0;
                while next < COUNT {
                    while next < COUNT && put(&mut producer, next) {
                        next += 1;
                    }
                    producer.submit();
                    std::thread::yield_now();
                }
            });
            let mut expected = 0;
            while expected < COUNT {
                if consumer.filled() == 0 {
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
