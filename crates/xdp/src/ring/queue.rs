// The index protocol of a ring: its memory, its two sides, and a read-only view.
//
// The parent module supplies the memory orderings and the types of index words, entries and
// mapping. `ring.rs` supplies the real ones; `model.rs` includes this file once more with loom's.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{
    AtomicU32, EntryCell, Mapping, OBSERVE_CONSUMER, OBSERVE_PRODUCER, PUBLISH_CONSUMER,
    PUBLISH_PRODUCER,
};

/// The memory of a ring of `T`.
pub(super) struct Memory<T> {
    pub(super) producer: *const AtomicU32,
    pub(super) consumer: *const AtomicU32,
    pub(super) flags: *const AtomicU32,
    pub(super) entries: *const EntryCell<T>,
    /// The number of entries minus one.
    pub(super) mask: u32,
    /// The mapping that the pointers point into.
    pub(super) mapping: Arc<Mapping>,
}

// SAFETY: the memory belongs to the process and is owned by this value. Its content is accessed by
// atomics, or belongs to one side at a time.
unsafe impl<T: Send> Send for Memory<T> {}

impl<T> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("mask", &self.mask).finish_non_exhaustive()
    }
}

impl<T: Copy> Memory<T> {
    #[inline]
    pub(super) fn producer(&self) -> &AtomicU32 {
        // SAFETY: inside the mapping and aligned (constructor); all users access it atomically.
        unsafe { &*self.producer }
    }

    #[inline]
    pub(super) fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { &*self.consumer }
    }

    #[inline]
    fn needs_wakeup(&self) -> bool {
        // SAFETY: as above.
        let flags = unsafe { &*self.flags };
        flags.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn view(&self) -> RingView {
        let Self { producer, consumer, flags, .. } = *self;
        RingView { producer, consumer, flags, _mapping: Arc::clone(&self.mapping) }
    }

    /// Returns the entry at an index.
    #[inline]
    pub(super) fn entry(&self, index: u32) -> &EntryCell<T> {
        // SAFETY: the mask keeps the offset below the number of entries. An entry is a cell, so a
        // shared reference to it permits writes by the other side.
        unsafe { &*self.entries.add((index & self.mask) as usize) }
    }

    #[inline]
    fn size(&self) -> u32 {
        self.mask + 1
    }
}

/// A read-only view of a ring's indices, for code that plays neither side. It keeps the memory
/// mapped.
#[derive(Debug)]
pub(crate) struct RingView {
    producer: *const AtomicU32,
    consumer: *const AtomicU32,
    flags: *const AtomicU32,
    _mapping: Arc<Mapping>,
}

// SAFETY: the view only reads atomics, in memory that it keeps mapped.
unsafe impl Send for RingView {}
// SAFETY: as above.
unsafe impl Sync for RingView {}

impl RingView {
    /// Returns `true` if the consumer has released all entries that were produced. New entries may
    /// have been produced since.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // SAFETY: inside the mapping and aligned (constructor); all users access them atomically.
        let (producer, consumer) = unsafe { (&*self.producer, &*self.consumer) };
        producer.load(Ordering::Relaxed) == consumer.load(Ordering::Relaxed)
    }

    /// Returns `true` if the kernel needs a wakeup to process the ring.
    #[inline]
    pub(crate) fn needs_wakeup(&self) -> bool {
        // SAFETY: as above.
        let flags = unsafe { &*self.flags };
        flags.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

/// The producing side of a ring: fill and transmit.
#[derive(Debug)]
pub(crate) struct Producer<T> {
    pub(super) memory: Memory<T>,
    /// Entries written, including those not submitted yet.
    pub(super) written: u32,
    /// Entries submitted.
    submitted: u32,
    /// Entries that can be written before the consumer index must be read again.
    pub(super) free: u32,
}

impl<T: Copy> Producer<T> {
    pub(super) fn from_memory(memory: Memory<T>) -> Self {
        // The previous owner of this side stopped here.
        let written = memory.producer().load(OBSERVE_PRODUCER);
        Self { memory, written, submitted: written, free: 0 }
    }

    /// Reserves the next entry for writing; `None` if the ring is full. The consumer index is read
    /// only if no entry is known to be free.
    #[inline(always)]
    pub(crate) fn reserve(&mut self) -> Option<Reservation<'_, T>> {
        if self.free == 0 && self.refresh_free() == 0 { None } else { Some(Reservation(self)) }
    }

    #[cold]
    fn refresh_free(&mut self) -> u32 {
        // An invalid consumer index reads as a full ring, so that no entry is overwritten.
        self.free = self.memory.size().saturating_sub(self.pending());
        self.free
    }

    /// Returns a read-only view of the ring.
    pub(crate) fn view(&self) -> RingView {
        self.memory.view()
    }

    /// Returns the entry written `count` entries ago, where 1 is the last. `None` if `count` is 0
    /// or the entry has been overwritten.
    #[inline]
    pub(crate) fn nth_last(&self, count: u32) -> Option<T> {
        if count == 0 || count > self.memory.size() {
            return None;
        }
        // SAFETY: inside the ring, and only this side writes entries. Every bit pattern is a `T`.
        Some(
            self.memory
                .entry(self.written.wrapping_sub(count))
                .with(|entry| unsafe { entry.read() }),
        )
    }

    /// Publishes all written entries to the consumer.
    #[inline]
    pub(crate) fn submit(&mut self) {
        if self.submitted != self.written {
            self.memory.producer().store(self.written, PUBLISH_PRODUCER);
            self.submitted = self.written;
        }
    }

    /// Returns the number of written entries, submitted or not, that the consumer has not released
    /// at this moment.
    #[inline]
    pub(crate) fn pending(&self) -> u32 {
        self.written.wrapping_sub(self.memory.consumer().load(OBSERVE_CONSUMER))
    }

    /// Returns `true` if the kernel needs a wakeup to process this ring.
    #[inline]
    pub(crate) fn needs_wakeup(&self) -> bool {
        self.memory.needs_wakeup()
    }
}

/// A free entry of a ring, reserved for writing.
pub(crate) struct Reservation<'r, T>(&'r mut Producer<T>);

impl<T: Copy> Reservation<'_, T> {
    /// Writes the entry. The consumer sees it after the next [`submit`](Producer::submit).
    #[inline(always)]
    pub(crate) fn write(self, entry: T) {
        let Self(ring) = self;
        // SAFETY: the consumer has released this entry: `refresh_free` read its index by an
        // acquiring load. The entry belongs to this side until `submit`.
        ring.memory.entry(ring.written).with_mut(|place| unsafe { place.write(entry) });
        ring.written = ring.written.wrapping_add(1);
        ring.free -= 1;
    }
}

/// The consuming side of a ring: receive and completion.
#[derive(Debug)]
pub(crate) struct Consumer<T> {
    pub(super) memory: Memory<T>,
    /// Entries read, including those not released yet.
    read: u32,
    /// The producer index as last read: entries up to here can be read.
    cached_producer: u32,
    /// Entries released.
    released: u32,
}

impl<T: Copy> Consumer<T> {
    pub(super) fn from_memory(memory: Memory<T>) -> Self {
        // The previous owner of this side stopped here. Entries that were not released are read
        // again.
        let read = memory.consumer().load(OBSERVE_CONSUMER);
        Self { memory, read, cached_producer: read, released: read }
    }

    /// Returns the number of entries that can be read now. The shared producer index is read only
    /// if no cached entry is left.
    #[inline(always)]
    pub(crate) fn available(&mut self) -> u32 {
        if self.cached_producer == self.read {
            let produced = self.memory.producer().load(OBSERVE_PRODUCER);
            // An invalid producer index yields at most the ring's size.
            let available = produced.wrapping_sub(self.read).min(self.memory.size());
            self.cached_producer = self.read.wrapping_add(available);
        }
        self.cached_producer.wrapping_sub(self.read)
    }

    /// Returns the next entry, if [`available`](Self::available) has reported one. The producer may
    /// overwrite the entry after the next [`release`](Self::release).
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.cached_producer == self.read {
            return None;
        }
        // SAFETY: the producer has published this entry: `available` read its index by an acquiring
        // load. The producer does not write the entry until `release`. Every bit pattern is a `T`.
        let entry = self.memory.entry(self.read).with(|entry| unsafe { entry.read() });
        self.read = self.read.wrapping_add(1);
        Some(entry)
    }

    /// Returns `true` if [`pop`](Self::pop) returns an entry.
    #[inline(always)]
    pub(crate) fn has_cached(&self) -> bool {
        self.cached_producer != self.read
    }

    /// Releases all read entries, then returns `true` if more are available.
    #[inline(always)]
    pub(crate) fn poll(&mut self) -> bool {
        self.release();
        self.available() > 0
    }

    /// Returns the next entry. One read of the shared index serves all entries that it covers.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<T> {
        if !self.has_cached() && !self.poll() {
            return None;
        }
        self.pop()
    }

    /// Returns a read-only view of the ring.
    pub(crate) fn view(&self) -> RingView {
        self.memory.view()
    }

    /// Releases all read entries to the producer.
    #[inline]
    pub(crate) fn release(&mut self) {
        if self.released != self.read {
            self.memory.consumer().store(self.read, PUBLISH_CONSUMER);
            self.released = self.read;
        }
    }
}
