//! What has arrived by request, until its source delivers it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use io_uring::types::Fd;
use io_uring::{Submitter, opcode, squeue};

use crate::buffers::Buffers;
use crate::completions::{Completion, Completions};

/// The buffers of a source's requests to receive and the kernel's answers to them: between the
/// ring, which makes the requests, and the source, which delivers what they bring.
///
/// Both own it, and the ring for as long as the kernel may write to the buffers.
pub(crate) struct Arrivals {
    shape: Shape,
    buffers: Buffers,
    completions: Completions,
    /// What a request by recvmsg says of lengths.
    header: libc::msghdr,
    /// A ring has it.
    is_attached: AtomicBool,
    /// The ring has begun to receive: the source has nothing to ask the kernel itself.
    is_live: AtomicBool,
    /// The socket can receive at all: it is connected, or needs no connection.
    is_open: AtomicBool,
}

// SAFETY: the header holds no pointer but null. Buffers are given by the source alone, each is
// read by it alone between its completion and its return, and all else is atomic.
unsafe impl Send for Arrivals {}
// SAFETY: as above.
unsafe impl Sync for Arrivals {}

/// What lies in a buffer.
///
/// ```text
/// Chunks          | bytes ...
/// Datagrams       | lengths and flags: 16 | sender: 16 | control messages: 160 | bytes ...
/// StampedChunks   | lengths and flags: 16 |            | control messages: 176 | bytes ...
/// ```
/// The bytes begin with a cache line of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A datagram, with its sender and its control messages.
    Datagrams,
    /// A piece of a stream, with its control messages.
    StampedChunks,
    /// A piece of a stream.
    Chunks,
}

/// What lies before the bytes, where there is something.
const PREFIX: usize = 192;
/// struct io_uring_recvmsg_out: four times 32 bits.
const LENGTHS: usize = 16;

impl Shape {
    fn prefix(self) -> usize {
        if self == Self::Chunks { 0 } else { PREFIX }
    }

    fn header(self) -> libc::msghdr {
        // SAFETY: a header is integers and pointers, for all of which zero is a value.
        let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        let name = if self == Self::Datagrams { size_of::<libc::sockaddr_in>() } else { 0 };
        header.msg_namelen = name as libc::socklen_t;
        header.msg_controllen = PREFIX - LENGTHS - name;
        header
    }
}

/// Answers that come without a buffer and wait to be delivered: an error, the end of a stream.
const BUFFERLESS: usize = 2;

impl Arrivals {
    /// At least `count` buffers that hold `length` bytes each.
    pub(crate) fn new(shape: Shape, count: usize, length: usize) -> Self {
        let buffers = Buffers::new(count, shape.prefix() + length);
        Self {
            shape,
            completions: Completions::new(buffers.count() + BUFFERLESS),
            buffers,
            header: shape.header(),
            is_attached: AtomicBool::new(false),
            is_live: AtomicBool::new(false),
            is_open: AtomicBool::new(false),
        }
    }

    /// Gets ready for a ring, with all buffers but those that hold what is not yet delivered.
    /// False if a ring has it.
    ///
    /// # Safety
    /// Only the source may ask for this.
    pub(crate) unsafe fn attach(&self) -> bool {
        if self.is_attached.swap(true, Ordering::AcqRel) {
            return false;
        }
        let held = |index| self.completions.iter().any(|other| other.buffer() == Some(index));
        // SAFETY: no ring had it, so nor has the kernel; the source is the one that gives buffers.
        unsafe { self.buffers.give_all(held) };
        true
    }

    /// Has the source speak to the kernel itself again, once all is delivered.
    pub(crate) fn end(&self) {
        self.is_live.store(false, Ordering::Release);
    }

    /// Frees it for another ring. For the ring that has it, once the kernel has nothing of it.
    pub(crate) fn detach(&self) {
        self.end();
        self.is_attached.store(false, Ordering::Release);
    }

    /// Whether what is said here, be it that there is nothing, is all there is to say.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.is_live.load(Ordering::Acquire)
    }

    pub(crate) fn set_open(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    pub(crate) fn completions(&self) -> &Completions {
        &self.completions
    }

    pub(crate) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// The lengths that the kernel was told, for reading what it has written.
    pub(crate) fn header(&self) -> &libc::msghdr {
        &self.header
    }

    /// Shows the kernel the buffers.
    ///
    /// # Safety
    /// The ring owns this until it has withdrawn the buffers, or leaks it.
    pub(crate) unsafe fn register(&self, submitter: &Submitter<'_>, group: u16) -> io::Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.buffers.register(submitter, group) }
    }

    /// A request to receive for as long as there are buffers, and from now on the only way to.
    /// The ring owns this until the kernel has answered to it for the last time.
    pub(crate) fn request(&self, socket: RawFd, group: u16) -> squeue::Entry {
        self.is_live.store(true, Ordering::Release);
        match self.shape {
            Shape::Chunks => opcode::RecvMulti::new(Fd(socket), group).build(),
            Shape::Datagrams | Shape::StampedChunks => {
                opcode::RecvMsgMulti::new(Fd(socket), &raw const self.header, group).build()
            }
        }
    }

    /// Whether an answer is the end of a stream, after which nothing comes.
    pub(crate) fn is_end(&self, completion: Completion) -> bool {
        match self.shape {
            Shape::Datagrams => false,
            Shape::StampedChunks => completion.result == PREFIX as i32,
            Shape::Chunks => completion.result == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_begin_behind_the_lengths_the_kernel_is_told() {
        for (shape, name) in [(Shape::Datagrams, 16), (Shape::StampedChunks, 0)] {
            let header = shape.header();
            assert_eq!(header.msg_namelen, name);
            assert_eq!(LENGTHS + name as usize + header.msg_controllen, shape.prefix());
        }
        assert_eq!(Shape::Chunks.prefix(), 0);
    }

    #[test]
    fn belongs_to_one_ring_at_a_time() {
        let arrivals = Arrivals::new(Shape::Chunks, 2, 8);
        // SAFETY: this is all there is of a source.
        unsafe {
            assert!(arrivals.attach());
            assert!(!arrivals.attach());
            arrivals.detach();
            assert!(arrivals.attach());
        }
    }
}
