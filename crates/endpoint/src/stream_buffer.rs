//! The receiving end of a stream: one chunk at a time.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::ancillary::{ANCILLARY_LENGTH, Ancillary, AncillaryBuffer};
use crate::context::is_idle;
use crate::inbox::Fill;
use crate::{Meta, Received, Timestamp, Timestamping};

/// The chunk that the last receive brought, until it is delivered.
pub(crate) struct StreamBuffer {
    bytes: Box<[u8]>,
    filled: usize,
    timestamp: Timestamp,
    takes_timestamps: bool,
    /// The last system call brought less than it could have.
    is_short: bool,
    /// The next delivery needs no system call: what there is to say is here already.
    is_answered: bool,
    is_closed: bool,
    failure: Option<io::Error>,
}

impl StreamBuffer {
    pub(crate) fn new(length: usize, timestamping: Timestamping) -> Self {
        Self {
            bytes: vec![0; length.max(1)].into_boxed_slice(),
            filled: 0,
            timestamp: Timestamp::None,
            takes_timestamps: timestamping != Timestamping::Off,
            is_short: false,
            is_answered: false,
            is_closed: false,
            failure: None,
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
        if !self.is_answered {
            self.fetch(socket, libc::MSG_DONTWAIT);
        }
        self.is_answered = false;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(peer, &mut on);
        while count < budget && !self.is_short {
            self.fetch(socket, libc::MSG_DONTWAIT);
            count += self.deliver(peer, &mut on);
        }
        Ok(Received { count, drained: self.is_short, closed: self.is_closed })
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

    /// Asks the kernel, when the last chunk has been delivered. A failure is kept, to be reported
    /// after what came before it.
    #[inline]
    fn fetch(&mut self, socket: BorrowedFd<'_>, flags: libc::c_int) {
        self.is_short = true;
        if self.is_closed {
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
                self.is_short = count < self.bytes.len();
                self.is_closed = count == 0;
            }
            Err(error) if is_idle(&error) => {}
            Err(error) => {
                self.failure = Some(error);
                self.is_answered = true;
            }
        }
    }
}

impl Fill for StreamBuffer {
    fn fill(&mut self, socket: BorrowedFd<'_>) {
        if self.filled == 0 && self.failure.is_none() {
            self.fetch(socket, 0);
        }
        self.is_answered = true;
    }
}

fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8], flags: libc::c_int) -> io::Result<usize> {
    // SAFETY: the buffer is valid for writes of its length until the call returns.
    let count =
        unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// The same by way of recvmsg(2), with the time at which the last of the bytes arrived.
fn receive_with_timestamp(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: libc::c_int,
) -> io::Result<(usize, Timestamp)> {
    let mut control = AncillaryBuffer([0; ANCILLARY_LENGTH]);
    let mut iovec = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a header is integers and pointers, for all of which zero is a value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut iovec;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = ANCILLARY_LENGTH;
    // SAFETY: the header points to one buffer and one control area, each valid for writes of the
    // length given until the call returns.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let length = header.msg_controllen.min(ANCILLARY_LENGTH);
    Ok((count, Ancillary::parse(&control.0[..length]).timestamp))
}
