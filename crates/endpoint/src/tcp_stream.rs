//! A TCP connection, through the kernel or with kernel bypass.

use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;
use socket2::Socket;

use crate::error_context::Context;
use crate::kernel::tcp_stream::KernelTcpStream;
use crate::transport::has_interface_address;
use crate::xdp::tcp_stream::XdpTcpStream;
use crate::xdp::{FallbackReason, PathEvent, Stack};
use crate::{
    Blocker, DropNotifier, Meta, Receive, Received, Source, Stream, Timestamping, Transmit,
    Transmitted, Transport, UringHandle,
};

/// The sizes and socket options of a [`TcpStream`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpOptions {
    /// The maximum chunk delivered at once, in bytes. Default: 64 KiB.
    pub chunk_max: usize,
    /// The maximum message for [`Transmit::transmit`], in bytes. Default: 64 KiB.
    pub message_max: usize,
    /// The kernel's send buffer in bytes, capped by `net.core.wmem_max`. Default: 4 MiB. `None`
    /// keeps the system's default. Each small message in flight takes over a kilobyte, so the
    /// system's default (16 KiB at first) holds only some dozens until the peer acknowledges.
    pub send_buffer: Option<usize>,
    /// The receive timestamps. Default: off. A chunk has the time of its last byte.
    pub timestamping: Timestamping,
    /// The local address and port to connect from. Default: chosen by the kernel. Without effect on
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

/// A TCP connection. It never blocks, sends immediately (`TCP_NODELAY`) and raises no SIGPIPE.
///
/// With kernel bypass ([`Transport::Xdp`]) the kernel connects and closes. In between the
/// connection is taken over: bytes are delivered in place from their frames, and sent from prepared
/// headers. A connection that needs the kernel is handed back, continues through the kernel, and is
/// taken over again as soon as possible, at most ten times a second. No byte is lost.
#[derive(Debug)]
pub struct TcpStream(Backend);

/// A kernel connection or a kernel-bypass connection.
#[derive(Debug)]
enum Backend {
    Kernel(KernelTcpStream),
    Xdp(Box<XdpTcpStream>),
}

/// Calls a method of the connection.
macro_rules! call {
    ($stream:expr, $connection:ident => $call:expr) => {
        match $stream {
            Backend::Kernel($connection) => $call,
            Backend::Xdp($connection) => $call,
        }
    };
}

impl TcpStream {
    /// Starts connecting. When the stream becomes writable, [`Stream::finish_connect`] returns the
    /// outcome. The connection may be established immediately (see [`Stream::is_connected`]).
    ///
    /// # Errors
    /// The kernel's errors, with the address, if they are known immediately: `ConnectionRefused`,
    /// `NetworkUnreachable`, `AddrNotAvailable`.
    pub fn connect(remote: SocketAddrV4, options: TcpOptions) -> io::Result<Self> {
        Self::connect_with(&Transport::Kernel, remote, options)
    }

    /// Starts connecting over a transport. If the route to `remote` does not use the stack's
    /// interface, the connection stays with the kernel.
    ///
    /// # Errors
    /// The errors of [`TcpStream::connect`]. `Unsupported` if the stack is strict and the
    /// connection cannot bypass the kernel; from [`Stream::finish_connect`] if that is known later.
    pub fn connect_with(
        transport: &Transport,
        remote: SocketAddrV4,
        options: TcpOptions,
    ) -> io::Result<Self> {
        let Transport::Xdp(stack) = transport else {
            return KernelTcpStream::connect(remote, options).map(Backend::Kernel).map(Self);
        };
        if stack.routes_to((*remote.ip()).into()) {
            let stream = XdpTcpStream::connect(stack, remote, options)?;
            return Ok(Self(Backend::Xdp(Box::new(stream))));
        }
        fall_back(stack, remote).context(format_args!("connect to {remote}"))?;
        Self::connect(remote, options)
    }

    pub(crate) fn accepted(
        transport: &Transport,
        socket: Socket,
        [local, peer]: [SocketAddrV4; 2],
        options: TcpOptions,
    ) -> io::Result<Self> {
        if let Transport::Xdp(stack) = transport {
            if has_interface_address(stack, *local.ip()) && !local.ip().is_unspecified() {
                let stream = XdpTcpStream::accepted(stack, socket, peer, options)?;
                return Ok(Self(Backend::Xdp(Box::new(stream))));
            }
            fall_back(stack, peer)?;
        }
        KernelTcpStream::accepted(socket, peer, options).map(Backend::Kernel).map(Self)
    }

    /// Returns the local address and port.
    ///
    /// # Errors
    /// The kernel's errors.
    pub fn local_address(&self) -> io::Result<SocketAddrV4> {
        call!(&self.0, stream => stream.local_address())
    }

    /// Returns the peer's address and port.
    #[must_use]
    pub fn peer_address(&self) -> SocketAddrV4 {
        call!(&self.0, stream => stream.peer_address())
    }

    /// Returns `true` while the connection bypasses the kernel.
    #[must_use]
    pub fn is_bypassing(&self) -> bool {
        matches!(&self.0, Backend::Xdp(stream) if stream.is_bypassing())
    }

    /// Returns the reason of the last handback to the kernel, as text; `None` if there was none.
    #[must_use]
    pub fn last_handback(&self) -> Option<String> {
        match &self.0 {
            Backend::Kernel(_) => None,
            Backend::Xdp(stream) => stream.last_handback(),
        }
    }

    /// Returns the active receive timestamping. Hardware timestamps are active if they were
    /// requested and the NIC of the local address's interface takes them now
    /// ([`crate::InterfaceTimestamping`]). Otherwise software timestamps are active. Each call
    /// queries the system. `Off` with kernel bypass.
    #[must_use]
    pub fn timestamping(&self) -> Timestamping {
        match &self.0 {
            Backend::Kernel(stream) => stream.timestamping(),
            Backend::Xdp(_) => Timestamping::Off,
        }
    }

    /// Turns transmit timestamps on for the bytes written from now on, or off. Ids count from the
    /// first of these bytes, and unread timestamps are discarded. Default: off.
    ///
    /// With kernel bypass there are no transmit timestamps: the call succeeds without effect.
    ///
    /// # Errors
    /// `NotConnected` before the connection is established. `InvalidInput` on kernels before Linux
    /// 6.2. Otherwise the kernel's errors.
    pub fn set_transmit_timestamping(&mut self, timestamping: Timestamping) -> io::Result<()> {
        match &mut self.0 {
            Backend::Kernel(stream) => stream.set_transmit_timestamping(timestamping),
            Backend::Xdp(_) => Ok(()),
        }
    }

    /// Returns the active transmit timestamping, by the same rules as [`TcpStream::timestamping`].
    #[must_use]
    pub fn transmit_timestamping(&self) -> Timestamping {
        match &self.0 {
            Backend::Kernel(stream) => stream.transmit_timestamping(),
            Backend::Xdp(_) => Timestamping::Off,
        }
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
    pub fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        match &mut self.0 {
            Backend::Kernel(stream) => stream.transmit_timestamps(on),
            Backend::Xdp(_) => Ok(0),
        }
    }

    /// Returns the number of unread transmit timestamps that were discarded. When
    /// [`Receive::receive`] finds no data, it takes pending timestamps from the kernel, so that
    /// they do not end each wait, and keeps the newest 1,024.
    #[must_use]
    pub fn transmit_timestamps_discarded(&self) -> u64 {
        match &self.0 {
            Backend::Kernel(stream) => stream.transmit_timestamps_discarded(),
            Backend::Xdp(_) => 0,
        }
    }
}

/// Reports that a connection stays with the kernel, or rejects that in a strict stack.
fn fall_back(stack: &Stack, peer: SocketAddrV4) -> io::Result<()> {
    let is_local = Ipv4Addr::is_loopback(peer.ip()) || stack.has_address((*peer.ip()).into());
    let reason = if is_local { FallbackReason::ThisHost } else { FallbackReason::OtherInterface };
    stack.fall_back(PathEvent::TxFallback { address: SocketAddr::V4(peer), reason })
}

impl Stream for TcpStream {
    fn is_connected(&self) -> bool {
        call!(&self.0, stream => stream.is_connected())
    }

    /// Returns the kernel's `TCP_MAXSEG`, which excludes the TCP timestamp option.
    fn segment_size(&self) -> Option<usize> {
        call!(&self.0, stream => stream.segment_size())
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        call!(&mut self.0, stream => stream.finish_connect())
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        call!(&mut self.0, stream => stream.write(bytes))
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        call!(&mut self.0, stream => stream.write_vectored(parts))
    }

    #[inline]
    fn flush(&mut self) -> io::Result<bool> {
        call!(&mut self.0, stream => stream.flush())
    }

    /// Does nothing while the connection is the kernel's.
    #[inline]
    fn warm_up(&mut self, length: usize) {
        if let Backend::Xdp(stream) = &mut self.0 {
            stream.warm_up(length);
        }
    }

    fn shutdown(&mut self) -> io::Result<()> {
        call!(&mut self.0, stream => stream.shutdown())
    }
}

impl Receive for TcpStream {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        call!(&mut self.0, stream => stream.receive(budget, on))
    }
}

impl Transmit for TcpStream {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        call!(&mut self.0, stream => stream.transmit(length, fill))
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        call!(&self.0, stream => stream.as_fd())
    }
}

impl Source for TcpStream {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        call!(&mut self.0, stream => stream.set_blocking(timeout))
    }

    fn set_uring_handle(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        call!(&mut self.0, stream => stream.set_uring_handle(drop_notifier))
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        call!(&mut self.0, stream => stream.set_spinning(is_spinning));
    }

    fn set_interest(&self, readable: bool, writable: bool) -> io::Result<bool> {
        call!(&self.0, stream => stream.set_interest(readable, writable))
    }
}
