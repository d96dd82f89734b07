//! Buffers that are the kernel's to fill, in any order it likes.

use std::io;
use std::slice;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

use crate::table::{Line, Table};

/// Buffers of one length, and the ring through which they are given to the kernel
/// (io_uring_register(2), IORING_REGISTER_PBUF_RING).
///
/// ```text
/// entries | address, length, index | ... |   one for each buffer given, in turns
///         | tail: buffers ever given, modulo 2^16, in the last two bytes of the first entry
/// bytes   | buffer 0 | buffer 1 | ...
/// ```
/// A buffer is given to the kernel, comes back with a completion, and is given again. The kernel
/// reads the ring and writes to the buffers it has, so all is reached through pointers only.
pub(crate) struct Buffers {
    entries: Table<Page>,
    bytes: Table<Line>,
    /// A power of two.
    count: u16,
    /// Bytes the kernel may write to a buffer.
    length: usize,
}

/// The kernel wants the ring to begin with a page.
#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page([u8; 4_096]);

/// Entries that the kernel can count.
const COUNT_MAX: usize = 1 << 15;

impl Buffers {
    /// At least `count` buffers, no more than 2^15, of `length` bytes. None is given yet.
    pub(crate) fn new(count: usize, length: usize) -> Self {
        let count = count.next_power_of_two().clamp(2, COUNT_MAX);
        let pages = (count * size_of::<BufRingEntry>()).div_ceil(size_of::<Page>());
        let lines = length.div_ceil(size_of::<Line>()).max(1);
        Self {
            entries: Table::filled(pages, |_| Page([0; 4_096])),
            bytes: Table::filled(count * lines, |_| Line([0; 64])),
            count: count as u16,
            length,
        }
    }

    pub(crate) fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// Shows the kernel the ring, as the group of this number.
    ///
    /// # Safety
    /// The buffers live until the group is withdrawn from the kernel, or leak.
    pub(crate) unsafe fn register(&self, submitter: &Submitter<'_>, group: u16) -> io::Result<()> {
        let address = self.entries.first().as_ptr() as u64;
        // SAFETY: the entries are there, as many and aligned as the kernel asks for, and stay.
        unsafe { submitter.register_buf_ring_with_flags(address, self.count, group, 0) }
    }

    /// Gives all buffers but those held back, into an empty ring.
    ///
    /// # Safety
    /// The kernel does not have the ring, and nobody else gives buffers.
    pub(crate) unsafe fn give_all(&self, is_held: impl Fn(u16) -> bool) {
        self.tail().store(0, Ordering::Relaxed);
        for index in (0..self.count).filter(|&index| !is_held(index)) {
            // SAFETY: no buffer is given twice; nobody else gives any, as the caller says.
            unsafe { self.give(index) };
        }
    }

    /// Gives a buffer to the kernel.
    ///
    /// # Safety
    /// The buffer is not the kernel's already, and nobody reads it any more; and nobody else gives
    /// buffers at this time.
    #[inline]
    pub(crate) unsafe fn give(&self, index: u16) {
        let tail = self.tail().load(Ordering::Relaxed);
        let first = self.entries.first().cast::<BufRingEntry>();
        // SAFETY: the entry lies within the ring, since its place is taken modulo their count. The
        // kernel reads it only after the tail has passed it, and has read what was there before,
        // since there are no more buffers than entries. The tail itself is left alone.
        unsafe {
            let entry = first.add(usize::from(tail & (self.count - 1))).as_mut();
            entry.set_addr(self.first_byte(index) as u64);
            entry.set_len(self.length as u32);
            entry.set_bid(index);
        }
        self.tail().store(tail.wrapping_add(1), Ordering::Release);
    }

    /// The first bytes of a buffer, as many as the kernel has said that it wrote.
    ///
    /// # Safety
    /// The kernel has given the buffer back, and it is not given again before the bytes are let
    /// go.
    #[inline]
    pub(crate) unsafe fn bytes(&self, index: u16, length: usize) -> &[u8] {
        let length = length.min(self.length);
        // SAFETY: the buffer is as long as that, initialised, and nobody's to write to.
        unsafe { slice::from_raw_parts(self.first_byte(index), length) }
    }

    fn first_byte(&self, index: u16) -> *mut u8 {
        let lines = self.bytes.length() / self.count();
        self.bytes.at(usize::from(index) * lines).as_ptr().cast()
    }

    #[inline]
    fn tail(&self) -> &AtomicU16 {
        let entries = self.entries.first().cast::<BufRingEntry>().as_ptr();
        // SAFETY: the ring begins with an entry, whose last two bytes are the tail and are only
        // ever reached through this, by us and by the kernel.
        unsafe { AtomicU16::from_ptr(BufRingEntry::tail(entries).cast_mut()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(buffers: &Buffers) -> Vec<(u64, u32, u16)> {
        let first = buffers.entries.first().cast::<BufRingEntry>();
        let tail = usize::from(buffers.tail().load(Ordering::Relaxed));
        (tail.saturating_sub(buffers.count())..tail)
            .map(|index| {
                // SAFETY: the entry lies within the ring and nobody writes to it now.
                let entry = unsafe { first.add(index % buffers.count()).as_ref() };
                (entry.addr(), entry.len(), entry.bid())
            })
            .collect()
    }

    #[test]
    fn every_buffer_is_given_with_its_own_bytes() {
        let buffers = Buffers::new(3, 100);
        assert_eq!(buffers.count(), 4);
        // SAFETY: no kernel has the ring.
        unsafe { buffers.give_all(|_| false) };
        let all = given(&buffers);
        let first = all[0].0;
        assert_eq!(first % 64, 0);
        let expected: Vec<_> = (0..4).map(|i| (first + 128 * i, 100, i as u16)).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn buffers_are_given_in_turns_and_those_held_are_not() {
        let buffers = Buffers::new(4, 64);
        // SAFETY: no kernel has the ring.
        unsafe {
            buffers.give_all(|index| index == 1);
            assert_eq!(given(&buffers).iter().map(|e| e.2).collect::<Vec<_>>(), [0, 2, 3]);
            buffers.give(1);
            buffers.give(2);
        }
        assert_eq!(given(&buffers).iter().map(|e| e.2).collect::<Vec<_>>(), [2, 3, 1, 2]);
        // SAFETY: as above.
        unsafe { buffers.give_all(|_| false) };
        assert_eq!(given(&buffers).iter().map(|e| e.2).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "index < self.length")]
    fn a_buffer_that_is_not_there_is_not_given() {
        // SAFETY: no kernel has the ring.
        unsafe { Buffers::new(4, 64).give(4) };
    }
}
