//! The shared state of an io_uring multishot receive.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use io_uring::types::Fd;
use io_uring::{Submitter, opcode, squeue};

use crate::uring::buffer_ring::BufferRing;
use crate::uring::completion_queue::{Completion, CompletionQueue};

/// The buffers and the queued completions of a source's receive requests. The ring makes the
/// requests, and the source delivers the received data.
///
/// Both own this state, the ring for as long as the kernel may write to the buffers.
pub(crate) struct MultishotReceive {
    layout: BufferLayout,
    buffers: BufferRing,
    completions: CompletionQueue,
    /// The header of a recvmsg request, which contains only lengths.
    header: libc::msghdr,
    /// `true` while a ring uses this state.
    attached: AtomicBool,
    /// `true` while the ring receives: the source then makes no system calls.
    receiving: AtomicBool,
    /// `true` if the socket can receive: it is connected, or needs no connection.
    open: AtomicBool,
}

// SAFETY: the header contains only null pointers. Only the source releases buffers. Only the source
// reads a buffer, between its completion and its release. Everything else is atomic.
unsafe impl Send for MultishotReceive {}
// SAFETY: same as above.
unsafe impl Sync for MultishotReceive {}

/// The layout of a receive buffer.
///
/// ```text
/// Chunks            | payload ...
/// Datagrams         | lengths and flags: 16 | source: 16 | control messages: 160 | payload ...
/// TimestampedChunks | lengths and flags: 16 |            | control messages: 176 | payload ...
/// ```
/// The payload begins on its own cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BufferLayout {
    /// A datagram with its source address and control messages.
    Datagrams,
    /// A stream chunk with its control messages.
    TimestampedChunks,
    /// A stream chunk.
    Chunks,
}

/// The bytes before the payload, in layouts with a prefix.
const PREFIX: usize = 192;
/// The size of `struct io_uring_recvmsg_out`: four 32-bit fields.
const LENGTHS_SIZE: usize = 16;

impl BufferLayout {
    fn prefix(self) -> usize {
        if self == Self::Chunks { 0 } else { PREFIX }
    }

    fn header(self) -> libc::msghdr {
        // SAFETY: a header consists of integers and pointers, for all of which zero is valid.
        let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        let name = if self == Self::Datagrams { size_of::<libc::sockaddr_in>() } else { 0 };
        header.msg_namelen = name as libc::socklen_t;
        header.msg_controllen = PREFIX - LENGTHS_SIZE - name;
        header
    }
}

/// The completions without a buffer that may wait for delivery: an error, the end of a stream.
const WITHOUT_BUFFER: usize = 2;

impl MultishotReceive {
    /// Allocates at least `count` buffers of `length` bytes of payload each.
    pub(crate) fn new(layout: BufferLayout, count: usize, length: usize) -> Self {
        let buffers = BufferRing::new(count, layout.prefix() + length);
        Self {
            layout,
            completions: CompletionQueue::new(buffers.count() + WITHOUT_BUFFER),
            buffers,
            header: layout.header(),
            attached: AtomicBool::new(false),
            receiving: AtomicBool::new(false),
            open: AtomicBool::new(false),
        }
    }

    /// Attaches a ring and releases all buffers except those with undelivered data. Returns `false`
    /// if a ring is already attached.
    ///
    /// # Safety
    /// Only the source calls this.
    pub(crate) unsafe fn attach(&self) -> bool {
        if self.attached.swap(true, Ordering::AcqRel) {
            return false;
        }
        let held = |index| self.completions.iter().any(|other| other.buffer() == Some(index));
        // SAFETY: no ring was attached, so the kernel holds no buffers. The caller is the source,
        // the only one to release buffers.
        unsafe { self.buffers.release_all(held) };
        true
    }

    /// Makes the source use system calls again, once everything is delivered.
    pub(crate) fn stop_receiving(&self) {
        self.receiving.store(false, Ordering::Release);
    }

    /// Detaches the ring. Called by the attached ring, after the kernel has completed all its
    /// requests.
    pub(crate) fn detach(&self) {
        self.stop_receiving();
        self.attached.store(false, Ordering::Release);
    }

    /// Returns `true` if the completions here are the source's only input.
    #[inline]
    pub(crate) fn is_receiving(&self) -> bool {
        self.receiving.load(Ordering::Acquire)
    }

    pub(crate) fn set_open(&self) {
        self.open.store(true, Ordering::Release);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    pub(crate) fn completions(&self) -> &CompletionQueue {
        &self.completions
    }

    pub(crate) fn buffers(&self) -> &BufferRing {
        &self.buffers
    }

    /// Returns the header of the request, needed to parse what the kernel has written.
    pub(crate) fn header(&self) -> &libc::msghdr {
        &self.header
    }

    /// Registers the buffers with the kernel.
    ///
    /// # Safety
    /// The ring owns this state until it has unregistered the buffers, or leaks it.
    pub(crate) unsafe fn register(&self, submitter: &Submitter<'_>, group: u16) -> io::Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.buffers.register(submitter, group) }
    }

    /// Creates a request that receives while there are free buffers. From now on the request is the
    /// source's only input. The ring owns this state until the kernel has posted the last
    /// completion.
    pub(crate) fn request(&self, socket: RawFd, group: u16) -> squeue::Entry {
        self.receiving.store(true, Ordering::Release);
        match self.layout {
            BufferLayout::Chunks => opcode::RecvMulti::new(Fd(socket), group).build(),
            BufferLayout::Datagrams | BufferLayout::TimestampedChunks => {
                opcode::RecvMsgMulti::new(Fd(socket), &raw const self.header, group).build()
            }
        }
    }

    /// Returns `true` if a completion is the end of a stream.
    pub(crate) fn is_end_of_stream(&self, completion: Completion) -> bool {
        match self.layout {
            BufferLayout::Datagrams => false,
            BufferLayout::TimestampedChunks => completion.result == PREFIX as i32,
            BufferLayout::Chunks => completion.result == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_equals_lengths_in_header() {
        for (layout, name) in [(BufferLayout::Datagrams, 16), (BufferLayout::TimestampedChunks, 0)]
        {
            let header = layout.header();
            assert_eq!(header.msg_namelen, name);
            assert_eq!(LENGTHS_SIZE + name as usize + header.msg_controllen, layout.prefix());
        }
        assert_eq!(BufferLayout::Chunks.prefix(), 0);
    }

    #[test]
    fn attaches_one_ring_at_a_time() {
        let multishot = MultishotReceive::new(BufferLayout::Chunks, 2, 8);
        // SAFETY: this test is the source.
        unsafe {
            assert!(multishot.attach());
            assert!(!multishot.attach());
            multishot.detach();
            assert!(multishot.attach());
        }
    }
}
