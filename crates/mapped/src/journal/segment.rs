//! One mapped segment: the only place of the journal where memory is touched.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{Advice, MmapRaw};

use super::format::{
    DURABLE, END, FIXED, Header, MARKED, RECORD_HEADER, SEGMENT_HEADER, SegmentHeader, Slot, TAIL,
};
use super::record::Record;
use crate::memory;

/// A segment in memory, shared by the writer and the sync thread.
///
/// Who touches what: what lies behind the last committed record is the writer's alone. A committed
/// record changes no more, but for two words of its header, both atomic: the sync thread stores the
/// checksum, the writer the mark. Headers are only ever reached as atomics of 8 bytes, and no
/// header overlaps a payload, since both are found by the same walk.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    /// Where `memory` begins: the writer asks for it with every record, and `memory` is two loads
    /// away from it.
    start: NonNull<u8>,
    memory: Arc<MmapRaw>,
    number: u32,
}

// SAFETY: `start` is of `memory`, which may go to any thread and be used by several, and lives as
// long as the segment does.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Maps a file whose header stands and whose blocks are there, all its pages present.
    pub(super) fn map(file: &File, number: u32) -> io::Result<Self> {
        Ok(Self::new(memory::map(file)?, number))
    }

    /// Maps a file that is read more than it is written.
    pub(super) fn map_lazily(file: &File, number: u32) -> io::Result<Self> {
        Ok(Self::new(MmapRaw::map_raw(file)?, number))
    }

    fn new(memory: MmapRaw, number: u32) -> Self {
        let start = NonNull::new(memory.as_mut_ptr()).expect("no mapping is at address 0");
        Self { start, memory: Arc::new(memory), number }
    }

    /// Writes the header of a new segment into a file of its size.
    pub(super) fn format(file: &File, header: &SegmentHeader) -> io::Result<()> {
        memory::allocate(file, header.bytes)?;
        file.write_all_at(&header.encode(), 0)
    }

    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Bytes of the whole segment.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// The word at `offset`.
    #[inline]
    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes());
        // SAFETY: in bounds and aligned, by the assertion and because a mapping begins on a page;
        // the mapping lives as long as `self`. What is reached this way is never reached as plain
        // memory, see above.
        unsafe { self.known_word(offset) }
    }

    /// The word at `offset`, which the caller knows to be one.
    ///
    /// # Safety
    /// `offset` is a multiple of 8, and the 8 bytes there lie inside the segment.
    #[inline]
    unsafe fn known_word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the caller's promise, and a mapping begins on a page.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Room of the writer, behind its last record.
    ///
    /// # Safety
    /// The range lies inside the segment, behind the header of the record it is for, and behind
    /// every committed record; and no other such slice of it lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the caller has the writer's exclusive borrow")]
    pub(super) unsafe fn room(&self, start: usize, length: usize) -> &mut [u8] {
        // SAFETY: the caller's promise; all of the mapping is initialised, since its file was
        // zeros before it was records.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(start), length) }
    }

    /// Commits the record of `header` at `offset`, whose payload stands behind it.
    ///
    /// # Safety
    /// `offset` is a multiple of 8 behind every committed record, and the record with the 8 bytes
    /// behind it lies inside the segment.
    #[inline]
    pub(super) unsafe fn commit(&self, offset: usize, next: usize, header: Header) {
        debug_assert!(offset.is_multiple_of(8) && next + TAIL <= self.bytes());
        // SAFETY: in bounds and a multiple of 8, by the caller's promise.
        let word = |at: usize| unsafe { self.known_word(at) };
        // An earlier claim that was given up may have left anything here.
        word(next).store(0, Ordering::Relaxed);
        let [first, rest @ ..] = header.0;
        for (index, value) in rest.into_iter().enumerate() {
            word(offset + 8 + 8 * index).store(value.to_le(), Ordering::Relaxed);
        }
        // Release: whoever sees this word sees the payload, the header and the zero behind it.
        word(offset).store(first.to_le(), Ordering::Release);
        self.fetch(offset, next);
    }

    /// Asks for the cache lines that are written a few records from now: a line that nobody has
    /// touched comes from memory, and the writer would wait for each. A block of them is asked for
    /// once, by the record that goes past the beginning of one. It may lie behind the segment.
    #[inline]
    fn fetch(&self, offset: usize, next: usize) {
        let (mut block, end) = (offset & !(BLOCK - 1), next & !(BLOCK - 1));
        while block < end {
            block += BLOCK;
            for line in 0..BLOCK / LINE {
                fetch_line(self.start.as_ptr().wrapping_add(block + AHEAD + line * LINE));
            }
        }
    }

    /// The payload of a record of this segment.
    ///
    /// # Panics
    /// If it does not lie before `end`.
    #[inline]
    pub(super) fn payload(&self, record: Record, end: usize) -> &[u8] {
        // SAFETY: no further than the segment.
        unsafe { self.payload_before(record, end.min(self.bytes())) }
    }

    /// The payload of a record of this segment.
    ///
    /// # Panics
    /// If it does not lie before `end`.
    ///
    /// # Safety
    /// `end` is no further than the segment.
    #[inline]
    pub(super) unsafe fn payload_before(&self, record: Record, end: usize) -> &[u8] {
        assert!(record.lies_before(end), "a record of another journal");
        let start = record.offset() + RECORD_HEADER;
        // SAFETY: in bounds, by the assertion, and before `end`, where payloads change no more.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(start), record.length()) }
    }

    /// The header at `offset`, where one is.
    pub(super) fn header(&self, offset: usize) -> Header {
        let word = |index: usize, order| u64::from_le(self.word(offset + 8 * index).load(order));
        let first = word(0, Ordering::Acquire);
        Header(std::array::from_fn(|index| match index {
            0 => first,
            _ => word(index, Ordering::Relaxed),
        }))
    }

    /// What is at `offset`, or nothing if no journal could have written it.
    pub(super) fn slot(&self, offset: usize) -> Option<Slot> {
        match u64::from_le(self.word(offset).load(Ordering::Acquire)) as u32 {
            0 => Some(Slot::Empty),
            END => Some(Slot::End),
            _ if offset + RECORD_HEADER + TAIL > self.bytes() => None,
            _ => {
                let header = self.header(offset);
                let record = header.record(self.number, offset, self.bytes())?;
                Some(Slot::Record(record, header))
            }
        }
    }

    /// Says that the next record is in the next segment.
    pub(super) fn close(&self, offset: usize) {
        self.word(offset).store(u64::from(END).to_le(), Ordering::Release);
    }

    /// Forgets what is from `offset` on.
    pub(super) fn forget(&self, offset: usize) {
        self.word(offset).store(0, Ordering::Release);
    }

    /// Notes that the callback of an inbound record has returned.
    ///
    /// # Panics
    /// If it does not lie before `end`, or nowhere that a record can begin.
    ///
    /// # Safety
    /// `end` is no further than the segment.
    #[inline]
    pub(super) unsafe fn mark_before(&self, record: Record, end: usize) {
        let offset = record.offset();
        let is_ours = record.lies_before(end) && offset.is_multiple_of(8);
        assert!(is_ours, "a record of another journal");
        // SAFETY: a multiple of 8, and like all of the record inside the segment.
        let word = unsafe { self.known_word(offset + 8) };
        // Nobody else writes it.
        word.store(word.load(Ordering::Relaxed) | MARKED.to_le(), Ordering::Release);
    }

    /// Stores the checksum of a committed record.
    pub(super) fn set_checksum(&self, offset: usize, header: Header, sum: u32) {
        let word = u64::from(header.word()) | u64::from(sum) << 32;
        // Nobody else writes it once it is committed.
        self.word(offset).store(word.to_le(), Ordering::Release);
    }

    /// Up to where everything has a checksum and is on the disk.
    pub(super) fn durable(&self) -> u64 {
        u64::from_le(self.word(DURABLE).load(Ordering::Acquire))
    }

    /// Notes up to where everything has a checksum and is on the disk.
    pub(super) fn set_durable(&self, offset: usize) {
        self.word(DURABLE).store((offset as u64).to_le(), Ordering::Release);
    }

    /// Takes the faults of the pages from `offset` on, which a sync has made read-only.
    pub(super) fn fault_in(&self, offset: usize, length: usize) {
        let start = offset & !4095;
        let length = length.min(self.bytes() - start);
        // It is a favour: a kernel that does not know it takes the faults later.
        let _ = self.memory.advise_range(Advice::PopulateWrite, start, length);
    }

    /// Zeroes the segment from `offset` on, before anybody writes to it or reads it.
    pub(super) fn clear(&mut self, offset: usize) {
        let length = self.bytes() - offset;
        // SAFETY: the range ends with the mapping. Whoever opens a journal is alone with it, and
        // `self` is borrowed mutably.
        unsafe { self.start.as_ptr().add(offset).write_bytes(0, length) }
    }

    /// The bytes of a segment that are written once.
    pub(super) fn fixed(file: &File) -> io::Result<[u8; FIXED]> {
        let mut image = [0; FIXED];
        file.read_exact_at(&mut image, 0)?;
        Ok(image)
    }
}

/// How far behind the last record lines are asked for: a few records, written in about the time
/// that memory takes.
const AHEAD: usize = 1024;
/// Bytes that are asked for together: about a report.
const BLOCK: usize = 256;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for the line at an address, to write to it, where the processor can be asked.
#[inline]
fn fetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, and takes no fault whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The smallest segment: its header, one record of nothing, and the word that ends it.
pub(super) const SMALLEST: usize = SEGMENT_HEADER + RECORD_HEADER + TAIL;
