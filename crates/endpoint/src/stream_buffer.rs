//! The receiving end of a stream: one chunk at a time.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::ancillary::{ANCILLARY_LENGTH, Ancillary, AncillaryBuffer};
use crate::arrivals::Shape;
use crate::context::is_idle;
use crate::delivery::{Delivery, DropNotifier, UringHandle};
use crate::inbox::Fill;
use crate::{Meta, Received, Timestamp, Timestamping};

/// The chunk that the last receive brought, until it is delivered; or, by the delivery, those that
/// a ring has received by request.
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
    delivery: Option<Delivery>,
}

/// Bytes of buffers for requests, if the chunks are short enough for that: a request that has no
/// buffer left is made anew at the next wait.
const REQUESTED_BYTES: usize = 256 << 10;
/// Chunks for requests, whatever their length: while one is delivered, the kernel fills others.
const REQUESTED_CHUNKS: std::ops::RangeInclusive<usize> = 4..=64;

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
            delivery: None,
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
        if self.delivery.as_ref().is_some_and(Delivery::is_responsible) {
            return self.deliver_requested(peer, budget, on);
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

    /// Lets a ring receive by request, or ends that.
    pub(crate) fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let shape = if self.takes_timestamps { Shape::StampedChunks } else { Shape::Chunks };
        let length = self.bytes.len();
        let (least, most) = REQUESTED_CHUNKS.into_inner();
        let count = (REQUESTED_BYTES / length).clamp(least, most);
        let new = || Delivery::new(shape, count, length);
        self.delivery.get_or_insert_with(new).attach(notice)
    }

    /// Tells the ring, if there is one, that there is a connection to receive from.
    pub(crate) fn set_open(&mut self) {
        if let Some(delivery) = &self.delivery {
            delivery.set_open();
        }
    }

    /// Delivers what has arrived by request, behind what a blocking receive may have left.
    #[inline]
    fn deliver_requested(
        &mut self,
        peer: SocketAddrV4,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(peer, &mut on);
        let Self { delivery: Some(delivery), is_closed, takes_timestamps, .. } = self else {
            return Ok(Received::default());
        };
        while count < budget && !*is_closed {
            let length = match if *takes_timestamps {
                deliver_stamped(delivery, peer, &mut on)
            } else {
                deliver_plain(delivery, peer, &mut on)
            } {
                None => break,
                Some(Err(_)) if count > 0 => break,
                Some(outcome) => outcome,
            };
            delivery.pop();
            *is_closed = length? == 0;
            count += usize::from(!*is_closed);
        }
        Ok(Received { count, drained: delivery.is_empty(), closed: *is_closed })
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

/// Delivers the oldest chunk and returns its length, 0 at the end of the stream.
#[inline]
fn deliver_plain(
    delivery: &mut Delivery,
    source: SocketAddrV4,
    on: &mut impl FnMut(Meta, &[u8]),
) -> Option<io::Result<usize>> {
    let chunk = delivery.first()?.inspect(|bytes| {
        if !bytes.is_empty() {
            on(Meta { source, timestamp: Timestamp::None }, bytes);
        }
    });
    Some(chunk.map(<[u8]>::len))
}

/// The same with the time at which the last of the bytes arrived.
#[inline]
fn deliver_stamped(
    delivery: &mut Delivery,
    source: SocketAddrV4,
    on: &mut impl FnMut(Meta, &[u8]),
) -> Option<io::Result<usize>> {
    let message = delivery.first_message()?.inspect(|message| {
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
