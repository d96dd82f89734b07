//! A ring of receive buffers provided to io_uring.

use std::io;
use std::slice;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

use crate::raw_array::{CacheLine, RawArray};

/// Buffers of one length, and the ring through which they are provided to the kernel
/// (io_uring_register(2), IORING_REGISTER_PBUF_RING).
///
/// ```text
/// entries | address, length, index | ... |   one per released buffer, in ring order
///         | tail: buffers released so far, modulo 2^16; last two bytes of entry 0
/// bytes   | buffer 0 | buffer 1 | ...
/// ```
/// A buffer is released to the kernel, returned with a completion, and released again. The kernel
/// reads the ring and writes to the buffers that it holds, so all memory is accessed through
/// pointers only.
pub(crate) struct BufferRing {
    entries: RawArray<Page>,
    bytes: RawArray<CacheLine>,
    /// The number of buffers, a power of two.
    count: u16,
    /// The length of each buffer in bytes.
    length: usize,
}

/// A page: the kernel requires a page-aligned ring.
#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page([u8; 4_096]);

/// The maximum number of entries that the kernel supports.
const COUNT_MAX: usize = 1 << 15;

impl BufferRing {
    /// Allocates at least `count` buffers, up to 2^15, of `length` bytes. None is released to the
    /// kernel yet.
    pub(crate) fn new(count: usize, length: usize) -> Self {
        let count = count.next_power_of_two().clamp(2, COUNT_MAX);
        let pages = (count * size_of::<BufRingEntry>()).div_ceil(size_of::<Page>());
        let lines = length.div_ceil(size_of::<CacheLine>()).max(1);
        Self {
            entries: RawArray::from_fn(pages, |_| Page([0; 4_096])),
            bytes: RawArray::from_fn(count * lines, |_| CacheLine([0; 64])),
            count: count as u16,
            length,
        }
    }

    pub(crate) fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// Registers the ring with the kernel under a buffer group id.
    ///
    /// # Safety
    /// The buffers live until the group is unregistered, or leak.
    pub(crate) unsafe fn register(&self, submitter: &Submitter<'_>, group: u16) -> io::Result<()> {
        let address = self.entries.first().as_ptr() as u64;
        // SAFETY: the entries exist in the number and alignment that the kernel requires, and stay
        // valid.
        unsafe { submitter.register_buf_ring_with_flags(address, self.count, group, 0) }
    }

    /// Releases all buffers except the held ones, into an empty ring.
    ///
    /// # Safety
    /// The ring is not registered, and no other thread releases buffers.
    pub(crate) unsafe fn release_all(&self, is_held: impl Fn(u16) -> bool) {
        self.tail().store(0, Ordering::Relaxed);
        for index in (0..self.count).filter(|&index| !is_held(index)) {
            // SAFETY: no buffer is released twice. The caller guarantees that no other thread
            // releases buffers.
            unsafe { self.release(index) };
        }
    }

    /// Releases a buffer to the kernel.
    ///
    /// # Safety
    /// The kernel does not hold the buffer, and no thread reads it any more. No other thread
    /// releases buffers at the same time.
    #[inline]
    pub(crate) unsafe fn release(&self, index: u16) {
        let tail = self.tail().load(Ordering::Relaxed);
        let first = self.entries.first().cast::<BufRingEntry>();
        // SAFETY: the entry is inside the ring, since its index is taken modulo the number of
        // entries. The kernel reads it only after the tail has passed it. The kernel has read the
        // previous entry, since there are no more buffers than entries. The tail itself is not
        // written.
        unsafe {
            let entry = first.add(usize::from(tail & (self.count - 1))).as_mut();
            entry.set_addr(self.first_byte(index) as u64);
            entry.set_len(self.length as u32);
            entry.set_bid(index);
        }
        self.tail().store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Returns the first bytes of a buffer, as many as the kernel reports to have written.
    ///
    /// # Safety
    /// The kernel has returned the buffer, and it is not released again while the bytes are
    /// borrowed.
    #[inline]
    pub(crate) unsafe fn bytes(&self, index: u16, length: usize) -> &[u8] {
        let length = length.min(self.length);
        // SAFETY: the buffer is at least that long and initialized, and no thread writes to it.
        unsafe { slice::from_raw_parts(self.first_byte(index), length) }
    }

    fn first_byte(&self, index: u16) -> *mut u8 {
        let lines = self.bytes.length() / self.count();
        self.bytes.at(usize::from(index) * lines).as_ptr().cast()
    }

    #[inline]
    fn tail(&self) -> &AtomicU16 {
        let entries = self.entries.first().cast::<BufRingEntry>().as_ptr();
        // SAFETY: the ring begins with an entry. The entry's last two bytes are the tail, which
        // this process and the kernel access only as an atomic.
        unsafe { AtomicU16::from_ptr(BufRingEntry::tail(entries).cast_mut()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn released(buffers: &BufferRing) -> Vec<(u64, u32, u16)> {
        let first = buffers.entries.first().cast::<BufRingEntry>();
        let tail = usize::from(buffers.tail().load(Ordering::Relaxed));
        (tail.saturating_sub(buffers.count())..tail)
            .map(|index| {
                // SAFETY: the entry is inside the ring, and no thread writes to it now.
                let entry = unsafe { first.add(index % buffers.count()).as_ref() };
                (entry.addr(), entry.len(), entry.bid())
            })
            .collect()
    }

    #[test]
    fn releases_every_buffer_with_its_own_bytes() {
        let buffers = BufferRing::new(3, 100);
        assert_eq!(buffers.count(), 4);
        // SAFETY: the ring is not registered with a kernel.
        unsafe { buffers.release_all(|_| false) };
        let all = released(&buffers);
        let first = all[0].0;
        assert_eq!(first % 64, 0);
        let expected: Vec<_> = (0..4).map(|i| (first + 128 * i, 100, i as u16)).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn release_all_skips_held_buffers() {
        let buffers = BufferRing::new(4, 64);
        // SAFETY: the ring is not registered with a kernel.
        unsafe {
            buffers.release_all(|index| index == 1);
            assert_eq!(released(&buffers).iter().map(|e| e.2).collect::<Vec<_>>(), [0, 2, 3]);
            buffers.release(1);
            buffers.release(2);
        }
        assert_eq!(released(&buffers).iter().map(|e| e.2).collect::<Vec<_>>(), [2, 3, 1, 2]);
        // SAFETY: same as above.
        unsafe { buffers.release_all(|_| false) };
        assert_eq!(released(&buffers).iter().map(|e| e.2).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "index < self.length")]
    fn panics_on_release_of_unknown_buffer() {
        // SAFETY: the ring is not registered with a kernel.
        unsafe { BufferRing::new(4, 64).release(4) };
    }
}
