//! The receive state of a TCP stream.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::error_context::is_idle;
use crate::kernel::ancillary::{ANCILLARY_LENGTH, Ancillary, AncillaryBuffer};
use crate::recv_buffer::Fill;
use crate::uring::multishot_receive::BufferLayout;
use crate::uring::receiver::{DropNotifier, UringHandle, UringReceiver};
use crate::{Meta, Received, Timestamp, Timestamping};

/// The chunk of the last receive until it is delivered, and the chunks that a ring has received by
/// requests.
pub(crate) struct StreamBuffer {
    bytes: Box<[u8]>,
    filled: usize,
    timestamp: Timestamp,
    takes_timestamps: bool,
    /// The last system call returned less than the buffer's length.
    short_read: bool,
    /// The next delivery needs no system call: its outcome is already here.
    outcome_pending: bool,
    closed: bool,
    failure: Option<io::Error>,
    uring: Option<UringReceiver>,
}

/// The total bytes of buffers for requests, if the chunks are short enough. A request without a
/// free buffer ends and is made again at the next wait.
const URING_BYTES: usize = 256 << 10;
/// The limits on the number of chunks for requests. While one chunk is delivered, the kernel fills
/// others.
const URING_CHUNKS: std::ops::RangeInclusive<usize> = 4..=64;

impl StreamBuffer {
    pub(crate) fn new(length: usize, timestamping: Timestamping) -> Self {
        Self {
            bytes: vec![0; length.max(1)].into_boxed_slice(),
            filled: 0,
            timestamp: Timestamp::None,
            takes_timestamps: timestamping != Timestamping::Off,
            short_read: false,
            outcome_pending: false,
            closed: false,
            failure: None,
            uring: None,
        }
    }

    #[inline]
    pub(crate) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        peer: SocketAddrV4,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        if budget == 0 {
            return Ok(Received::default());
        }
        if self.uring.as_ref().is_some_and(UringReceiver::is_active) {
            return self.deliver_from_uring(peer, budget, on);
        }
        if !self.outcome_pending {
            self.fetch(socket, libc::MSG_DONTWAIT);
        }
        self.outcome_pending = false;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(peer, &mut on);
        while count < budget && !self.short_read {
            self.fetch(socket, libc::MSG_DONTWAIT);
            count += self.deliver(peer, &mut on);
        }
        Ok(Received { count, drained: self.short_read, closed: self.closed })
    }

    /// Attaches a ring that receives by requests, or detaches it.
    pub(crate) fn set_uring_handle(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let layout = if self.takes_timestamps {
            BufferLayout::TimestampedChunks
        } else {
            BufferLayout::Chunks
        };
        let length = self.bytes.len();
        let (least, most) = URING_CHUNKS.into_inner();
        let count = (URING_BYTES / length).clamp(least, most);
        let new = || UringReceiver::new(layout, count, length);
        self.uring.get_or_insert_with(new).attach(drop_notifier)
    }

    /// Marks the stream as connected for a ring, if there is one.
    pub(crate) fn set_open(&mut self) {
        if let Some(uring) = &self.uring {
            uring.set_open();
        }
    }

    /// Delivers what a blocking receive has left over, then what has arrived by requests.
    #[inline]
    fn deliver_from_uring(
        &mut self,
        peer: SocketAddrV4,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(peer, &mut on);
        let Self { uring: Some(uring), closed, takes_timestamps, .. } = self else {
            return Ok(Received::default());
        };
        while count < budget && !*closed {
            let length = match if *takes_timestamps {
                deliver_timestamped(uring, peer, &mut on)
            } else {
                deliver_untimestamped(uring, peer, &mut on)
            } {
                None => break,
                Some(Err(_)) if count > 0 => break,
                Some(outcome) => outcome,
            };
            uring.pop();
            *closed = length? == 0;
            count += usize::from(!*closed);
        }
        Ok(Received { count, drained: uring.is_empty(), closed: *closed })
    }

    #[inline]
    fn deliver(&mut self, peer: SocketAddrV4, on: &mut impl FnMut(Meta, &[u8])) -> usize {
        if self.filled == 0 {
            return 0;
        }
        on(Meta { source: peer, timestamp: self.timestamp }, &self.bytes[..self.filled]);
        self.filled = 0;
        1
    }

    /// Receives from the kernel, after the last chunk has been delivered. An error is kept and is
    /// reported after the data received before it.
    #[inline]
    fn fetch(&mut self, socket: BorrowedFd<'_>, flags: libc::c_int) {
        self.short_read = true;
        if self.closed {
            return;
        }
        let outcome = if self.takes_timestamps {
            receive_with_timestamp(socket, &mut self.bytes, flags).map(|(count, timestamp)| {
                self.timestamp = timestamp;
                count
            })
        } else {
            receive(socket, &mut self.bytes, flags)
        };
        match outcome {
            Ok(count) => {
                self.filled = count;
                self.short_read = count < self.bytes.len();
                self.closed = count == 0;
            }
            Err(error) if is_idle(&error) => {}
            Err(error) => {
                self.failure = Some(error);
                self.outcome_pending = true;
            }
        }
    }
}

/// Delivers the oldest chunk and returns its length, which is 0 at the end of the stream.
#[inline]
fn deliver_untimestamped(
    uring: &mut UringReceiver,
    source: SocketAddrV4,
    on: &mut impl FnMut(Meta, &[u8]),
) -> Option<io::Result<usize>> {
    let chunk = uring.first()?.inspect(|bytes| {
        if !bytes.is_empty() {
            on(Meta { source, timestamp: Timestamp::None }, bytes);
        }
    });
    Some(chunk.map(<[u8]>::len))
}

/// Delivers the oldest chunk with the arrival time of its last byte, and returns its length.
#[inline]
fn deliver_timestamped(
    uring: &mut UringReceiver,
    source: SocketAddrV4,
    on: &mut impl FnMut(Meta, &[u8]),
) -> Option<io::Result<usize>> {
    let message = uring.first_message()?.inspect(|message| {
        if !message.payload_data().is_empty() {
            let timestamp = Ancillary::parse(message.control_data()).timestamp;
            on(Meta { source, timestamp }, message.payload_data());
        }
    });
    Some(message.map(|message| message.payload_data().len()))
}

impl Fill for StreamBuffer {
    fn fill(&mut self, socket: BorrowedFd<'_>) {
        if self.filled == 0 && self.failure.is_none() {
            self.fetch(socket, 0);
        }
        self.outcome_pending = true;
    }
}

fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8], flags: libc::c_int) -> io::Result<usize> {
    // SAFETY: the buffer is valid for writes of its length until the call returns.
    let count =
        unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Receives with recvmsg(2), which also returns the arrival time of the last byte.
fn receive_with_timestamp(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: libc::c_int,
) -> io::Result<(usize, Timestamp)> {
    let mut control = AncillaryBuffer([0; ANCILLARY_LENGTH]);
    let mut iovec = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a header consists of integers and pointers, for all of which zero is valid.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut iovec;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = ANCILLARY_LENGTH;
    // SAFETY: the header points to one buffer and one control area, each valid for writes of the
    // given length until the call returns.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let length = header.msg_controllen.min(ANCILLARY_LENGTH);
    Ok((count, Ancillary::parse(&control.0[..length]).timestamp))
}
