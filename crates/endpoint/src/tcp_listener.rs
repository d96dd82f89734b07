//! A TCP listener.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::error_context::{Context, is_idle};
use crate::kernel::address;
use crate::{Blocker, Source, TcpOptions, TcpStream, Transport};

/// A kernel TCP socket that accepts connections. It never blocks, and is readable when a connection
/// waits. Its connections may bypass the kernel.
#[derive(Debug)]
pub struct TcpListener {
    socket: Socket,
    transport: Transport,
    local_address: SocketAddrV4,
}

/// The listen backlog; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 1_024;

impl TcpListener {
    /// Listens on a local address. Port 0 lets the kernel choose a port.
    ///
    /// The port may still have connections of an earlier listener in TIME-WAIT (`SO_REUSEADDR`).
    ///
    /// # Errors
    /// The kernel's errors, with the address: `AddrInUse`, `AddrNotAvailable`, `PermissionDenied`
    /// (a port below 1,024).
    pub fn bind(address: SocketAddrV4) -> io::Result<Self> {
        Self::bind_with(&Transport::Kernel, address)
    }

    /// Listens on a local address for connections over a transport. Connections through other
    /// interfaces than the stack's stay with the kernel.
    ///
    /// # Errors
    /// The errors of [`TcpListener::bind`]. `Unsupported` if the stack is strict and has another
    /// interface than the address.
    pub fn bind_with(transport: &Transport, address: SocketAddrV4) -> io::Result<Self> {
        let stack = transport
            .receive_stack(*address.ip(), address)
            .context(format_args!("listen on {address}"))?;
        let transport = stack.map_or(Transport::Kernel, |stack| Transport::Xdp(stack.clone()));
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket
            .bind(&address.into())
            .and_then(|()| socket.listen(BACKLOG))
            .context(format_args!("listen on {address}"))?;
        Ok(Self { local_address: address::local(&socket)?, socket, transport })
    }

    /// Accepts the next connection. Returns `None` if no connection waits, or if it has failed
    /// before it could be accepted.
    ///
    /// # Errors
    /// The kernel's errors: no more descriptors or memory. The connection waits, and the listener
    /// stays readable, so that a caller pauses before the next attempt. `Unsupported` if the stack
    /// is strict and the connection cannot bypass the kernel; the connection is closed.
    pub fn accept(&mut self, options: TcpOptions) -> io::Result<Option<TcpStream>> {
        match self.socket.accept() {
            Ok((socket, peer)) => {
                let ends = [address::local(&socket)?, address::v4(&peer)?];
                TcpStream::accepted(&self.transport, socket, ends, options).map(Some)
            }
            Err(error) if is_idle(&error) || concerns_connection(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the address that the listener is bound to.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.local_address
    }
}

/// Returns `true` if an error of accept(2) concerns the connection that was accepted: Linux passes
/// on the connection's own pending network error.
fn concerns_connection(error: &io::Error) -> bool {
    let of_connection = [
        libc::ECONNABORTED,
        libc::ENETDOWN,
        libc::EPROTO,
        libc::ENOPROTOOPT,
        libc::EHOSTDOWN,
        libc::ENONET,
        libc::EHOSTUNREACH,
        libc::EOPNOTSUPP,
        libc::ENETUNREACH,
    ];
    error.raw_os_error().is_some_and(|code| of_connection.contains(&code))
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for TcpListener {
    /// Returns `None`: a listener has no receive to block in.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
