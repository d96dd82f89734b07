//! A mapped segment. All memory accesses of the journal are in this module.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::{Advice, MmapRaw};

use super::format::{
    DURABLE, END, FIXED, Header, MARKED, RECORD_HEADER, SEGMENT_HEADER, SegmentHeader, Slot, TAIL,
};
use super::record::{NO_SEGMENT, Record};
use crate::lost_pages::PageGuard;
use crate::mapping;

/// A mapped segment, shared by the writer and the sync worker.
///
/// The memory after the last committed record belongs to the writer. A committed record does not
/// change, except for two words of its header, both atomic: the sync worker stores the checksum,
/// the writer the mark. Headers are accessed only as 8-byte atomics. No header overlaps a payload,
/// since both are located by the same scan, and a [`Record`] can only be made by it.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    /// The start of `memory`. The writer needs it for every record, and through `memory` it would
    /// take two loads.
    start: NonNull<u8>,
    /// The guard of pages that can disappear, for a file that other programs can change; dropped
    /// before `memory`.
    guard: Option<Arc<PageGuard>>,
    memory: Arc<MmapRaw>,
    number: u32,
    /// The id of this mapping, unique in the process: a record names its segment by it.
    id: u32,
}

// SAFETY: `start` points to `memory`, which is Send and Sync and lives as long as the segment.
unsafe impl Send for Segment {}
// SAFETY: same as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Maps a file with a complete header and allocated blocks, with all pages present.
    pub(super) fn map(file: &File, number: u32) -> io::Result<Self> {
        Ok(Self::new(mapping::map(file)?, number))
    }

    /// Maps a file in a directory, as [`map`](Self::map) does.
    pub(super) fn map_guarded(file: &File, number: u32) -> io::Result<Self> {
        // Guarded before its pages are touched.
        let segment = Self::map_lazily(file, number)?.guarded();
        mapping::populate(&segment.memory)?;
        Ok(segment)
    }

    /// Guards the segment: a page that cannot be read or written is replaced by zeros, instead of
    /// the end of the process.
    #[must_use]
    pub(super) fn guarded(mut self) -> Self {
        self.guard = PageGuard::new(&self.memory).map(Arc::new);
        self
    }

    /// Returns `true` if a page was lost.
    pub(super) fn has_lost_pages(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.has_lost_pages())
    }

    /// Maps a file that is mainly read, without populating its pages.
    pub(super) fn map_lazily(file: &File, number: u32) -> io::Result<Self> {
        Ok(Self::new(MmapRaw::map_raw(file)?, number))
    }

    fn new(memory: MmapRaw, number: u32) -> Self {
        let start = NonNull::new(memory.as_mut_ptr()).expect("a mapping is never at address 0");
        Self { start, memory: Arc::new(memory), guard: None, number, id: next_id() }
    }

    /// Allocates the file of a new segment and writes its header.
    pub(super) fn format(file: &File, header: &SegmentHeader) -> io::Result<()> {
        mapping::allocate(file, header.bytes)?;
        file.write_all_at(&header.encode(), 0)
    }

    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the id of this mapping. Later mappings have higher ids.
    #[inline]
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Returns the size of the whole segment in bytes.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// Returns the word at `offset`.
    #[inline]
    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes());
        // SAFETY: in bounds and aligned, by the assertion and since a mapping begins on a page. The
        // mapping lives as long as `self`. This memory is never accessed as plain memory, see
        // above.
        unsafe { self.known_word(offset) }
    }

    /// Returns the word at `offset` without a check.
    ///
    /// # Safety
    /// `offset` is a multiple of 8, and the 8 bytes there are inside the segment.
    #[inline]
    unsafe fn known_word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: guaranteed by the caller, and a mapping begins on a page.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Returns the writer's room after the last record.
    ///
    /// # Safety
    /// The range is inside the segment, after the header of its record and after every committed
    /// record. No other slice of this range exists.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the caller has the writer's exclusive borrow")]
    pub(super) unsafe fn room(&self, start: usize, length: usize) -> &mut [u8] {
        // SAFETY: guaranteed by the caller. The whole mapping is initialized, since a new file is
        // all zeros.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(start), length) }
    }

    /// Commits the record of `header` at `offset`, whose payload is already in place.
    ///
    /// # Safety
    /// `offset` is a multiple of 8 after every committed record. The record and the 8 bytes after
    /// it are inside the segment.
    #[inline]
    pub(super) unsafe fn commit(&self, offset: usize, next: usize, header: Header) {
        debug_assert!(offset.is_multiple_of(8) && next + TAIL <= self.bytes());
        // SAFETY: in bounds and a multiple of 8, guaranteed by the caller.
        let word = |at: usize| unsafe { self.known_word(at) };
        // An earlier, abandoned claim may have left any bytes here.
        word(next).store(0, Ordering::Relaxed);
        let [first, rest @ ..] = header.0;
        for (index, value) in rest.into_iter().enumerate() {
            word(offset + 8 + 8 * index).store(value.to_le(), Ordering::Relaxed);
        }
        // Release: a thread that sees this word also sees the payload, the header and the zero
        // after it.
        word(offset).store(first.to_le(), Ordering::Release);
        self.prefetch(offset, next);
    }

    /// Prefetches the cache lines that are written a few records later: an untouched line comes
    /// from memory, and the writer would wait for each. A block of lines is prefetched at once, by
    /// the record that crosses the start of a block. The block may be beyond the segment.
    #[inline]
    fn prefetch(&self, offset: usize, next: usize) {
        let (mut block, end) = (offset & !(BLOCK - 1), next & !(BLOCK - 1));
        while block < end {
            block += BLOCK;
            for line in 0..BLOCK / LINE {
                prefetch_line(self.start.as_ptr().wrapping_add(block + AHEAD + line * LINE));
            }
        }
    }

    /// Returns the payload of a record of this segment.
    ///
    /// # Panics
    /// If the record does not end before `end`.
    #[inline]
    pub(super) fn payload(&self, record: Record, end: usize) -> &[u8] {
        // SAFETY: `end` is limited to the segment.
        unsafe { self.payload_before(record, end.min(self.bytes())) }
    }

    /// Returns the payload of a record of this segment without limiting `end`.
    ///
    /// # Panics
    /// If the record does not end before `end`.
    ///
    /// # Safety
    /// `end` is not beyond the segment.
    #[inline]
    pub(super) unsafe fn payload_before(&self, record: Record, end: usize) -> &[u8] {
        assert!(record.ends_before(end), "the record does not belong to this journal");
        let start = record.offset() + RECORD_HEADER;
        // SAFETY: in bounds, by the assertion, and before `end`, where payloads do not change.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(start), record.length()) }
    }

    /// Returns the header at `offset`, where a record begins.
    pub(super) fn header(&self, offset: usize) -> Header {
        let word = |index: usize, order| u64::from_le(self.word(offset + 8 * index).load(order));
        let first = word(0, Ordering::Acquire);
        Header(std::array::from_fn(|index| match index {
            0 => first,
            _ => word(index, Ordering::Relaxed),
        }))
    }

    /// Returns the content at `offset`, or `None` if no journal can have written it.
    pub(super) fn slot(&self, offset: usize) -> Option<Slot> {
        match u64::from_le(self.word(offset).load(Ordering::Acquire)) as u32 {
            0 => Some(Slot::Empty),
            END => Some(Slot::End),
            _ if offset + RECORD_HEADER + TAIL > self.bytes() => None,
            _ => {
                let header = self.header(offset);
                let record = header.record(self.id, offset, self.bytes())?;
                Some(Slot::Record(record, header))
            }
        }
    }

    /// Writes the end-of-segment word.
    pub(super) fn close(&self, offset: usize) {
        self.word(offset).store(u64::from(END).to_le(), Ordering::Release);
    }

    /// Removes all records from `offset` on.
    pub(super) fn truncate(&self, offset: usize) {
        self.word(offset).store(0, Ordering::Release);
    }

    /// Marks an inbound record.
    ///
    /// # Panics
    /// If the record does not end before `end`, or its offset is not a multiple of 8.
    ///
    /// # Safety
    /// `end` is not beyond the segment.
    #[inline]
    pub(super) unsafe fn mark_before(&self, record: Record, end: usize) {
        let offset = record.offset();
        let is_ours = record.ends_before(end) && offset.is_multiple_of(8);
        assert!(is_ours, "the record does not belong to this journal");
        // SAFETY: a multiple of 8, and inside the segment like the whole record.
        let word = unsafe { self.known_word(offset + 8) };
        // No other thread writes this word.
        word.store(word.load(Ordering::Relaxed) | MARKED.to_le(), Ordering::Release);
    }

    /// Stores the checksum of a committed record.
    pub(super) fn set_checksum(&self, offset: usize, header: Header, sum: u32) {
        let word = u64::from(header.word()) | u64::from(sum) << 32;
        // No other thread writes this word after the commit.
        self.word(offset).store(word.to_le(), Ordering::Release);
    }

    /// Returns the offset up to which everything has a checksum and is on disk.
    pub(super) fn durable(&self) -> u64 {
        u64::from_le(self.word(DURABLE).load(Ordering::Acquire))
    }

    /// Sets the offset up to which everything has a checksum and is on disk.
    pub(super) fn set_durable(&self, offset: usize) {
        self.word(DURABLE).store((offset as u64).to_le(), Ordering::Release);
    }

    /// Populates the pages from `offset` on, which a sync has made read-only.
    pub(super) fn fault_in(&self, offset: usize, length: usize) {
        let start = offset & !4095;
        let length = length.min(self.bytes() - start);
        // Optional: with a kernel that does not support it, the faults happen later.
        let _ = self.memory.advise_range(Advice::PopulateWrite, start, length);
    }

    /// Zeroes the segment from `offset` on, before any other access.
    pub(super) fn clear(&mut self, offset: usize) {
        let length = self.bytes() - offset;
        // SAFETY: the range ends with the mapping. The opener of a journal has exclusive access,
        // and `self` is borrowed mutably.
        unsafe { self.start.as_ptr().add(offset).write_bytes(0, length) }
    }

    /// Reads the bytes of a segment header that are written once.
    pub(super) fn fixed(file: &File) -> io::Result<[u8; FIXED]> {
        let mut image = [0; FIXED];
        file.read_exact_at(&mut image, 0)?;
        Ok(image)
    }
}

/// Returns a segment id that no other mapping of this process has.
fn next_id() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(NO_SEGMENT + 1);
    // An id is never used again: a record of a closed journal must not match a later segment.
    NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| id.checked_add(1))
        .expect("a process maps fewer than 2^32 segments")
}

/// The prefetch distance after the last record: a few records, written in about the latency of
/// memory.
const AHEAD: usize = 1024;
/// The prefetched block size in bytes: about one execution report.
const BLOCK: usize = 256;
/// The size of a cache line in bytes.
const LINE: usize = 64;

/// Prefetches the line at an address for writing, where the processor supports this.
#[inline]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The minimum segment size: its header, one empty record, and the end-of-segment word.
pub(super) const SMALLEST: usize = SEGMENT_HEADER + RECORD_HEADER + TAIL;
