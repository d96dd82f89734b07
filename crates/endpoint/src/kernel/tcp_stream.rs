//! A kernel TCP connection.

use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::error_context::Context;
use crate::kernel::address;
use crate::kernel::stream_buffer::StreamBuffer;
use crate::recv_buffer::RecvBuffer;
use crate::timestamps::socket::SocketTimestamps;
use crate::timestamps::timestamping::TimestampFlags;
use crate::{
    Blocker, DropNotifier, Meta, Receive, Received, Source, Stream, TcpOptions, Timestamping,
    Transmit, Transmitted, UringHandle,
};

/// A kernel TCP connection. It never blocks, sends immediately (`TCP_NODELAY`) and raises no
/// SIGPIPE.
#[derive(Debug)]
pub(crate) struct KernelTcpStream {
    socket: Arc<Socket>,
    recv_buffer: RecvBuffer<StreamBuffer>,
    timestamps: SocketTimestamps,
    send_buffer: Box<[u8]>,
    /// The unsent range of `send_buffer`.
    pending: Range<usize>,
    peer_address: SocketAddrV4,
    connected: bool,
}

impl KernelTcpStream {
    /// Starts connecting.
    pub(crate) fn connect(remote: SocketAddrV4, options: TcpOptions) -> io::Result<Self> {
        let (socket, is_complete) = start_connect(remote, options)?;
        let mut stream = Self::new(socket, remote, options)?;
        if is_complete {
            stream.finish_connect()?;
        }
        Ok(stream)
    }

    pub(crate) fn accepted(
        socket: Socket,
        peer: SocketAddrV4,
        options: TcpOptions,
    ) -> io::Result<Self> {
        set_options(&socket, options)?;
        Ok(Self { connected: true, ..Self::new(socket, peer, options)? })
    }

    fn new(socket: Socket, peer_address: SocketAddrV4, options: TcpOptions) -> io::Result<Self> {
        let timestamps =
            SocketTimestamps::new(&socket, TimestampFlags::for_stream(options.timestamping))?;
        Ok(Self {
            socket: Arc::new(socket),
            recv_buffer: RecvBuffer::new(StreamBuffer::new(
                options.chunk_max,
                options.timestamping,
            )),
            timestamps,
            send_buffer: vec![0; options.message_max].into_boxed_slice(),
            pending: 0..0,
            peer_address,
            connected: false,
        })
    }

    /// Returns the local address and port.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(crate) fn local_address(&self) -> io::Result<SocketAddrV4> {
        address::local(&self.socket)
    }

    /// Returns the peer's address and port.
    pub(crate) fn peer_address(&self) -> SocketAddrV4 {
        self.peer_address
    }

    /// Returns the active receive timestamping. Hardware timestamps are active if they were
    /// requested and the NIC of the local address's interface takes them now
    /// ([`crate::InterfaceTimestamping`]). Otherwise software timestamps are active. Each call
    /// queries the system.
    pub(crate) fn timestamping(&self) -> Timestamping {
        self.interface().map_or(Timestamping::Off, |interface| {
            self.timestamps.receive_timestamping_on(interface)
        })
    }

    /// Turns transmit timestamps on for the bytes written from now on, or off. Ids count from the
    /// first of these bytes, and unread timestamps are discarded. Default: off.
    ///
    /// # Errors
    /// `NotConnected` before the connection is established. `InvalidInput` on kernels before Linux
    /// 6.2. Otherwise the kernel's errors.
    pub(crate) fn set_transmit_timestamping(
        &mut self,
        timestamping: Timestamping,
    ) -> io::Result<()> {
        if !self.connected {
            return Err(io::ErrorKind::NotConnected.into());
        }
        self.timestamps.set_transmit(&self.socket, timestamping)
    }

    /// Returns the active transmit timestamping, by the same rules as `timestamping`.
    pub(crate) fn transmit_timestamping(&self) -> Timestamping {
        self.interface().map_or(Timestamping::Off, |interface| {
            self.timestamps.transmit_timestamping_on(interface)
        })
    }

    /// Delivers the timestamps of sent bytes, each in one call of `on`, in the order in which they
    /// were taken, and returns their number. Never blocks. Makes one system call for up to 16
    /// timestamps.
    ///
    /// The last byte of each write is timestamped, and [`Transmitted::id`] is its position in the
    /// stream. Writes that leave in one segment have one timestamp, that of the last write. A
    /// retransmitted segment may have another. Bytes that were pending and sent later count as a
    /// write of their own.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(crate) fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        self.timestamps.deliver(&self.socket, on)
    }

    /// Returns the number of unread transmit timestamps that were discarded. When
    /// [`Receive::receive`] finds no data, it takes pending timestamps from the kernel, so that
    /// they do not end each wait, and keeps the newest 1,024.
    pub(crate) fn transmit_timestamps_discarded(&self) -> u64 {
        self.timestamps.discarded()
    }

    /// Returns the local address of the interface that carries the connection.
    fn interface(&self) -> Option<Ipv4Addr> {
        self.local_address().ok().map(|address| *address.ip())
    }

    #[inline]
    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    }
}

/// Opens a socket that connects. Returns `true` with it if the attempt is complete.
///
/// # Errors
/// The kernel's errors, with the address, if they are known immediately.
pub(crate) fn start_connect(
    remote: SocketAddrV4,
    options: TcpOptions,
) -> io::Result<(Socket, bool)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    if let Some(local) = options.local {
        socket.set_reuse_address(true)?;
        socket.bind(&local.into()).context(format_args!("connect from {local}"))?;
    }
    set_options(&socket, options)?;
    match socket.connect(&remote.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok((socket, false)),
        outcome => {
            outcome.context(format_args!("connect to {remote}"))?;
            Ok((socket, true))
        }
    }
}

pub(crate) fn set_options(socket: &Socket, options: TcpOptions) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    options.send_buffer.map_or(Ok(()), |bytes| socket.set_send_buffer_size(bytes))
}

/// Returns `true` if the connection is established, `false` if the attempt is still in progress.
///
/// # Errors
/// The reason why the attempt failed, with the address.
pub(crate) fn is_established(socket: &Socket, remote: SocketAddrV4) -> io::Result<bool> {
    if let Some(reason) = socket.take_error()? {
        return Err(reason).context(format_args!("connect to {remote}"));
    }
    match socket.peer_addr() {
        // The kernel may choose a local port equal to a remote port on this host without a
        // listener. The attempt then connects to itself (RFC 9293, 3.5, simultaneous open).
        Ok(_) if address::local(socket)? == remote => Err(io::ErrorKind::ConnectionRefused.into())
            .context(format_args!("connect to {remote}")),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error).context(format_args!("connect to {remote}")),
    }
}

impl Stream for KernelTcpStream {
    fn is_connected(&self) -> bool {
        self.connected
    }

    /// Returns the kernel's `TCP_MAXSEG`, which excludes the TCP timestamp option.
    fn segment_size(&self) -> Option<usize> {
        self.socket.tcp_mss().ok().map(|size| size as usize)
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        if self.connected {
            return Ok(true);
        }
        self.connected = is_established(&self.socket, self.peer_address)?;
        if self.connected {
            self.recv_buffer.borrow().set_open();
        }
        Ok(self.connected)
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
        match self.send(&self.send_buffer[self.pending.clone()]) {
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

impl Receive for KernelTcpStream {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let (socket, peer) = (self.socket.as_fd(), self.peer_address);
        let received = self.recv_buffer.borrow().receive(socket, peer, budget, on)?;
        if received.count == 0 {
            self.timestamps.drain_error_queue(&self.socket)?;
        }
        Ok(received)
    }
}

impl Transmit for KernelTcpStream {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        if length > self.send_buffer.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        fill(&mut self.send_buffer[..length]);
        self.pending = 0..length;
        self.flush().map(drop)
    }
}

impl AsFd for KernelTcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for KernelTcpStream {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.socket.set_read_timeout(timeout.map(Into::into))?;
        self.socket.set_nonblocking(timeout.is_none())?;
        if timeout.is_none() {
            self.recv_buffer.reclaim();
            return Ok(None);
        }
        Ok(Some(Blocker::from_kernel(Arc::downgrade(&self.socket), self.recv_buffer.share())))
    }

    fn set_uring_handle(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let mut recv_buffer = self.recv_buffer.borrow();
        let handle = recv_buffer.set_uring_handle(drop_notifier)?;
        if self.connected {
            recv_buffer.set_open();
        }
        Ok(handle)
    }
}
