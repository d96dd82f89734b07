//! A TCP connection of the kernel's.

use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::context::Context;
use crate::inbox::Inbox;
use crate::stamps::Stamps;
use crate::stream_buffer::StreamBuffer;
use crate::timestamping::Stamping;
use crate::{
    Blocker, DropNotifier, Meta, Receive, Received, Source, Stream, Timestamping, Transmit,
    Transmitted, UringHandle, address,
};

/// How a [`TcpStream`] is sized, and what it asks the kernel for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpOptions {
    /// The longest chunk delivered at once, in bytes: 64 KiB unless set.
    pub chunk_max: usize,
    /// The longest message for [`Transmit::transmit`], in bytes: 64 KiB unless set.
    pub message_max: usize,
    /// The kernel's send buffer in bytes: 4 MiB unless set, capped by `net.core.wmem_max`; `None`
    /// leaves the system's default. Each small message in flight takes over a kilobyte of it, so
    /// that the default (16 KiB at first) takes only some dozens until the peer acknowledges.
    pub send_buffer: Option<usize>,
    /// Receive timestamps: off unless set. A chunk has the time of its last bytes.
    pub timestamping: Timestamping,
    /// The local address and port to connect from: the kernel's choice unless set. Of no effect on
    /// accepted connections.
    pub local: Option<SocketAddrV4>,
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self {
            chunk_max: 64 << 10,
            message_max: 64 << 10,
            send_buffer: Some(4 << 20),
            timestamping: Timestamping::Off,
            local: None,
        }
    }
}

/// A kernel TCP connection that never waits, sends at once (`TCP_NODELAY`) and raises no SIGPIPE.
#[derive(Debug)]
pub struct TcpStream {
    socket: Arc<Socket>,
    inbox: Inbox<StreamBuffer>,
    stamps: Stamps,
    outbox: Box<[u8]>,
    /// What of the outbox has still to leave.
    pending: Range<usize>,
    peer_address: SocketAddrV4,
    is_connected: bool,
}

impl TcpStream {
    /// Begins to connect. When the stream becomes writable, [`Stream::finish_connect`] tells the
    /// outcome; it may be there already (see [`Stream::is_connected`]).
    ///
    /// # Errors
    /// The kernel's, with the address, as far as it knows at once: `ConnectionRefused`,
    /// `NetworkUnreachable`, `AddrNotAvailable`.
    pub fn connect(remote: SocketAddrV4, options: TcpOptions) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        if let Some(local) = options.local {
            socket.set_reuse_address(true)?;
            socket.bind(&local.into()).context(format_args!("connect from {local}"))?;
        }
        let mut stream = Self::new(socket, remote, options)?;
        match stream.socket.connect(&remote.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            outcome => {
                outcome.context(format_args!("connect to {remote}"))?;
                stream.finish_connect()?;
            }
        }
        Ok(stream)
    }

    pub(crate) fn accepted(
        socket: Socket,
        peer: SocketAddrV4,
        options: TcpOptions,
    ) -> io::Result<Self> {
        Ok(Self { is_connected: true, ..Self::new(socket, peer, options)? })
    }

    fn new(socket: Socket, peer_address: SocketAddrV4, options: TcpOptions) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        if let Some(bytes) = options.send_buffer {
            socket.set_send_buffer_size(bytes)?;
        }
        let stamps = Stamps::new(&socket, Stamping::of_stream(options.timestamping))?;
        Ok(Self {
            socket: Arc::new(socket),
            inbox: Inbox::new(StreamBuffer::new(options.chunk_max, options.timestamping)),
            stamps,
            outbox: vec![0; options.message_max].into_boxed_slice(),
            pending: 0..0,
            peer_address,
            is_connected: false,
        })
    }

    /// The address and port of this side.
    ///
    /// # Errors
    /// The kernel's.
    pub fn local_address(&self) -> io::Result<SocketAddrV4> {
        address::local(&self.socket)
    }

    /// The address and port of the other side.
    #[must_use]
    pub fn peer_address(&self) -> SocketAddrV4 {
        self.peer_address
    }

    /// Which receive timestamps are in force: hardware ones if they were asked for and the
    /// interface of the local address says that its NIC takes them now
    /// ([`crate::InterfaceTimestamping`]), else the kernel's. Asks the system anew at each call.
    #[must_use]
    pub fn timestamping(&self) -> Timestamping {
        self.interface().map_or(Timestamping::Off, |interface| self.stamps.received_on(interface))
    }

    /// Has the times taken at which bytes leave that are written from now on, or no longer. Their
    /// ids count from the first of them; stamps not yet read are gone. Off unless set.
    ///
    /// # Errors
    /// `NotConnected` before the connection is established; `InvalidInput` of a kernel older than
    /// Linux 6.2; else the kernel's.
    pub fn set_transmit_timestamping(&mut self, timestamping: Timestamping) -> io::Result<()> {
        if !self.is_connected {
            return Err(io::ErrorKind::NotConnected.into());
        }
        self.stamps.set_transmit(&self.socket, timestamping)
    }

    /// Which transmit timestamps are in force, as [`TcpStream::timestamping`] tells of the others.
    #[must_use]
    pub fn transmit_timestamping(&self) -> Timestamping {
        self.interface().map_or(Timestamping::Off, |interface| self.stamps.sent_on(interface))
    }

    /// Delivers the timestamps of bytes that have left, each to one call of `on` and in the order
    /// in which they were taken, and returns how many. Never waits; one system call for up to 16.
    ///
    /// The last byte of each write is stamped, and [`Transmitted::id`] is its place in the stream.
    /// Writes that leave in one segment have one stamp, that of the last; a segment sent again may
    /// have another. What was left waiting for room and sent later is a write of its own.
    ///
    /// # Errors
    /// The kernel's.
    pub fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        self.stamps.deliver(&self.socket, on)
    }

    /// Timestamps of bytes sent that went unread: while [`Receive::receive`] finds nothing it takes
    /// them from the kernel, so that they do not end each wait, and keeps the newest 1,024.
    #[must_use]
    pub fn transmit_timestamps_lost(&self) -> u64 {
        self.stamps.lost()
    }

    /// The address of the interface that the connection goes by.
    fn interface(&self) -> Option<Ipv4Addr> {
        self.local_address().ok().map(|address| *address.ip())
    }

    #[inline]
    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    }
}

impl Stream for TcpStream {
    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        if self.is_connected {
            return Ok(true);
        }
        let remote = self.peer_address;
        if let Some(reason) = self.socket.take_error()? {
            return Err(reason).context(format_args!("connect to {remote}"));
        }
        match self.socket.peer_addr() {
            // A port of this host that nobody listens on may be chosen as the local one, and the
            // attempt then meets itself (RFC 9293, 3.5, simultaneous open).
            Ok(_) if self.local_address()? == remote => {
                Err(io::ErrorKind::ConnectionRefused.into())
                    .context(format_args!("connect to {remote}"))
            }
            Ok(_) => {
                self.is_connected = true;
                self.inbox.open().set_open();
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error).context(format_args!("connect to {remote}")),
        }
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.send(bytes)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        self.socket.send_vectored_with_flags(parts, flags)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<bool> {
        if self.pending.is_empty() {
            return Ok(true);
        }
        match self.send(&self.outbox[self.pending.clone()]) {
            Ok(count) => self.pending.start += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        Ok(self.pending.is_empty())
    }

    fn shutdown(&mut self) -> io::Result<()> {
        self.socket.shutdown(std::net::Shutdown::Write)
    }
}

impl Receive for TcpStream {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let (socket, peer) = (self.socket.as_fd(), self.peer_address);
        let received = self.inbox.open().receive(socket, peer, budget, on)?;
        if received.count == 0 {
            self.stamps.keep(&self.socket)?;
        }
        Ok(received)
    }
}

impl Transmit for TcpStream {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        if length > self.outbox.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        fill(&mut self.outbox[..length]);
        self.pending = 0..length;
        self.flush().map(drop)
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for TcpStream {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.socket.set_read_timeout(timeout.map(Into::into))?;
        self.socket.set_nonblocking(timeout.is_none())?;
        if timeout.is_none() {
            self.inbox.reclaim();
            return Ok(None);
        }
        Ok(Some(Blocker::of_kernel(Arc::downgrade(&self.socket), self.inbox.share())))
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let mut inbox = self.inbox.open();
        let intake = inbox.set_uring_handle(notice)?;
        if self.is_connected {
            inbox.set_open();
        }
        Ok(intake)
    }
}
