//! A kernel-bypass TCP connection.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddrV4};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hairpin_stack::{Stack, TcpSocket};
use hairpin_time::Duration;
use socket2::{SockRef, Socket};

use crate::error_context::is_idle;
use crate::kernel::address;
use crate::kernel::tcp_stream::{is_established, set_options, start_connect};
use crate::recv_buffer::RecvBuffer;
use crate::source::Wait;
use crate::xdp::takeover::Takeover;
use crate::{Blocker, Meta, Receive, Received, Source, Stream, TcpOptions, Timestamp, Transmit};

/// A connection that the kernel has connected or is connecting, and that bypasses the kernel
/// whenever possible.
pub(crate) struct XdpTcpStream {
    connection: RecvBuffer<XdpConnection>,
    /// A duplicate of the socket's descriptor, since the socket itself may be shared with a
    /// blocker.
    readiness: OwnedFd,
    send_buffer: Box<[u8]>,
    /// The unsent range of `send_buffer`.
    pending: Range<usize>,
    connected: bool,
}

/// A stack's socket with its receive state.
pub(crate) struct XdpConnection {
    socket: TcpSocket,
    takeover: Takeover,
    peer: SocketAddrV4,
    chunk_max: usize,
    /// The error for the next receive to return: it occurred after data were delivered, or in a
    /// wait.
    failure: Option<io::Error>,
    /// The timeout of a blocking wait.
    timeout: Duration,
}

impl XdpTcpStream {
    /// Starts connecting.
    ///
    /// # Errors
    /// The kernel's errors. Those of [`Takeover::attempt`] if the connection is established
    /// immediately.
    pub(crate) fn connect(
        stack: &Stack,
        remote: SocketAddrV4,
        options: TcpOptions,
    ) -> io::Result<Self> {
        let (socket, is_complete) = start_connect(remote, options)?;
        let mut stream = Self::new(stack, socket, remote, options)?;
        if is_complete {
            stream.finish_connect()?;
        }
        Ok(stream)
    }

    pub(crate) fn accepted(
        stack: &Stack,
        socket: Socket,
        peer: SocketAddrV4,
        options: TcpOptions,
    ) -> io::Result<Self> {
        set_options(&socket, options)?;
        let mut stream = Self::new(stack, socket, peer, options)?;
        stream.set_connected()?;
        Ok(stream)
    }

    fn new(
        stack: &Stack,
        socket: Socket,
        peer: SocketAddrV4,
        options: TcpOptions,
    ) -> io::Result<Self> {
        let mut socket = stack.adopt_tcp(socket.into())?;
        socket.set_spinning(false);
        let readiness = socket.as_fd().try_clone_to_owned()?;
        let connection = XdpConnection {
            socket,
            takeover: Takeover::new(stack),
            peer,
            chunk_max: options.chunk_max,
            failure: None,
            timeout: Duration::ZERO,
        };
        Ok(Self {
            connection: RecvBuffer::new(connection),
            readiness,
            send_buffer: vec![0; options.message_max].into_boxed_slice(),
            pending: 0..0,
            connected: false,
        })
    }

    fn set_connected(&mut self) -> io::Result<()> {
        self.connected = true;
        let XdpConnection { socket, takeover, peer, .. } = &mut *self.connection.borrow();
        takeover.attempt(socket, *peer)
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddrV4> {
        self.connection.with(|connection| {
            address::v4(&SockRef::from(connection.socket.kernel_socket()).local_addr()?)
        })
    }

    pub(crate) fn peer_address(&self) -> SocketAddrV4 {
        self.connection.with(|connection| connection.peer)
    }

    pub(crate) fn is_bypassing(&self) -> bool {
        self.connection.with(|connection| connection.socket.is_bypassing())
    }

    pub(crate) fn last_handback(&self) -> Option<String> {
        self.connection.with(|connection| connection.socket.last_handback())
    }

    /// Sends all or some of the bytes: in place in a frame if that is possible.
    #[inline]
    fn send(socket: &mut TcpSocket, bytes: &[u8]) -> io::Result<usize> {
        if socket.transmit(bytes.len(), |frame| frame.copy_from_slice(bytes))? {
            return Ok(bytes.len());
        }
        socket.send(bytes)
    }
}

impl Stream for XdpTcpStream {
    fn is_connected(&self) -> bool {
        self.connected
    }

    fn segment_size(&self) -> Option<usize> {
        let size = |connection: &XdpConnection| {
            SockRef::from(connection.socket.kernel_socket()).tcp_mss().ok()
        };
        self.connection.with(size).map(|size| size as usize)
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        if self.connected {
            return Ok(true);
        }
        let established = self.connection.with(|connection| {
            is_established(&SockRef::from(connection.socket.kernel_socket()), connection.peer)
        })?;
        if established {
            self.set_connected()?;
        }
        Ok(established)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Self::send(&mut self.connection.borrow().socket, bytes)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let socket = &mut self.connection.borrow().socket;
        let length = parts.iter().map(|part| part.len()).sum();
        let in_place = socket.transmit(length, |mut frame| {
            for part in parts {
                let (start, rest) = frame.split_at_mut(part.len());
                start.copy_from_slice(part);
                frame = rest;
            }
        })?;
        if in_place {
            return Ok(length);
        }
        let mut sent = 0;
        for part in parts.iter().filter(|part| !part.is_empty()) {
            match socket.send(part) {
                Ok(count) => sent += count,
                Err(error) if is_idle(&error) && sent > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<bool> {
        if self.pending.is_empty() {
            return Ok(true);
        }
        let bytes = &self.send_buffer[self.pending.clone()];
        match self.connection.borrow().socket.send(bytes) {
            Ok(count) => self.pending.start += count,
            Err(error) if is_idle(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(self.pending.is_empty())
    }

    fn warm_up(&mut self, length: usize) {
        self.connection.borrow().socket.warm_up(length);
    }

    fn shutdown(&mut self) -> io::Result<()> {
        let XdpConnection { socket, takeover, .. } = &mut *self.connection.borrow();
        takeover.end();
        socket.hand_back()?;
        socket.kernel_socket().shutdown(Shutdown::Write)
    }
}

impl Receive for XdpTcpStream {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        if !self.connected {
            return Ok(Received { drained: true, ..Received::default() });
        }
        self.connection.borrow().receive(budget, on)
    }
}

impl Transmit for XdpTcpStream {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        if length > self.send_buffer.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut fill = Some(fill);
        let in_place = |frame: &mut [u8]| {
            if let Some(fill) = fill.take() {
                fill(frame);
            }
        };
        self.connection.borrow().socket.transmit(length, in_place)?;
        let Some(fill) = fill else { return Ok(()) };
        fill(&mut self.send_buffer[..length]);
        self.pending = 0..length;
        self.flush().map(drop)
    }
}

impl AsFd for XdpTcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readiness.as_fd()
    }
}

impl Source for XdpTcpStream {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        let Some(timeout) = timeout else {
            self.connection.reclaim();
            return Ok(None);
        };
        self.connection.borrow().timeout = timeout;
        Ok(Some(Blocker::from_stack(self.connection.share())))
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.connection.borrow().socket.set_spinning(is_spinning);
    }

    fn set_interest(&self, readable: bool, writable: bool) -> io::Result<bool> {
        self.connection.with(|connection| connection.socket.set_interest(readable, writable))?;
        Ok(true)
    }
}

impl XdpConnection {
    #[inline]
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        if budget == 0 {
            return Ok(Received::default());
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let meta = Meta { source: self.peer, timestamp: Timestamp::None };
        let received =
            self.socket.receive_chunks(budget, self.chunk_max, |bytes| on(meta, bytes))?;
        if received.is_kernel {
            self.take_over_again(received.chunks > 0, received.closed);
        }
        let (count, drained, closed) = (received.chunks, received.drained, received.closed);
        Ok(Received { count, drained, closed })
    }

    /// Takes the connection over again after bytes were received through the kernel. This is the
    /// moment at which it is usually quiet.
    #[cold]
    fn take_over_again(&mut self, has_received: bool, closed: bool) {
        if closed {
            self.takeover.end();
        } else if has_received {
            self.failure = self.takeover.attempt_if_due(&mut self.socket, self.peer).err();
        }
    }
}

impl Wait for XdpConnection {
    fn wait(&mut self) {
        if self.failure.is_none()
            && let Err(failure) = self.socket.wait(Some(self.timeout.into()))
        {
            self.failure = Some(failure);
        }
    }
}

impl fmt::Debug for XdpTcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XdpTcpStream")
            .field("peer", &self.peer_address())
            .field("is_bypassing", &self.is_bypassing())
            .finish_non_exhaustive()
    }
}
