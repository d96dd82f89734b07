//! A side of a ring shared with the kernel (`af_xdp.rst`, "Rings").

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Mapped memory.
#[derive(Debug)]
pub(super) struct Region {
    start: *mut u8,
    length: usize,
}

// SAFETY: the memory belongs to the process and is owned by this value.
unsafe impl Send for Region {}

impl Region {
    /// Maps private memory with every page populated.
    pub(super) fn anonymous(length: usize) -> io::Result<Self> {
        Self::map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    fn map(length: usize, flags: i32, fd: i32, offset: i64) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { start: start.cast(), length })
    }

    #[inline]
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: mapped with this length, and no reference remains.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// A ring of which this side produces or consumes entries.
#[derive(Debug)]
pub(super) struct Ring<T> {
    producer: *const AtomicU32,
    consumer: *const AtomicU32,
    entries: *mut T,
    mask: u32,
    /// The entries produced or consumed by this side.
    own: u32,
    _region: Region,
    _entries: PhantomData<T>,
}

// SAFETY: this value owns the memory that the pointers point into.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// Maps the ring of `size` entries at an offset of the socket.
    pub(super) fn map(
        socket: &OwnedFd,
        page: i64,
        offsets: libc::xdp_ring_offset,
        size: u32,
    ) -> io::Result<Self> {
        let length = offsets.desc as usize + size as usize * size_of::<T>();
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        let region = Region::map(length, flags, socket.as_raw_fd(), page)?;
        // SAFETY: the kernel laid the ring out at these offsets of the mapping.
        let at = |offset: u64| unsafe { region.start().add(offset as usize) };
        Ok(Self {
            producer: at(offsets.producer).cast::<AtomicU32>().cast_const(),
            consumer: at(offsets.consumer).cast::<AtomicU32>().cast_const(),
            entries: at(offsets.desc).cast(),
            mask: size - 1,
            own: 0,
            _region: region,
            _entries: PhantomData,
        })
    }

    /// Produces an entry. There is always space, because there are no more frames than entries.
    #[inline]
    pub(super) fn put(&mut self, entry: T) {
        // SAFETY: the mask keeps the entry inside the ring, and the kernel has released it.
        unsafe { self.entries.add((self.own & self.mask) as usize).write(entry) };
        self.own = self.own.wrapping_add(1);
        // SAFETY: a word of the mapping that both sides access atomically.
        unsafe { &*self.producer }.store(self.own, Ordering::Release);
    }

    /// Consumes the next entry.
    #[inline]
    pub(super) fn take(&mut self) -> Option<T> {
        // SAFETY: as above.
        if unsafe { &*self.producer }.load(Ordering::Acquire) == self.own {
            return None;
        }
        // SAFETY: the kernel has published this entry and does not write it until it is released.
        let entry = unsafe { self.entries.add((self.own & self.mask) as usize).read() };
        self.own = self.own.wrapping_add(1);
        // SAFETY: a word of the mapping that both sides access atomically.
        unsafe { &*self.consumer }.store(self.own, Ordering::Release);
        Some(entry)
    }
}
