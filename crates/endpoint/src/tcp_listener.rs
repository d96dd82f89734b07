//! Incoming TCP connections from the kernel.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::context::{Context, is_idle};
use crate::{Blocker, Source, TcpOptions, TcpStream, address};

/// A kernel TCP socket that accepts connections. Never waits; readable when there is one.
#[derive(Debug)]
pub struct TcpListener {
    socket: Socket,
    local_address: SocketAddrV4,
}

/// Connections that may wait to be accepted; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 1_024;

impl TcpListener {
    /// Listens on a local address; port 0 has the kernel choose one.
    ///
    /// A port that still has connections of an earlier listener in TIME-WAIT can be listened on
    /// (`SO_REUSEADDR`).
    ///
    /// # Errors
    /// The kernel's, with the address: `AddrInUse`, `AddrNotAvailable`, `PermissionDenied` (a port
    /// below 1,024).
    pub fn bind(address: SocketAddrV4) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket
            .bind(&address.into())
            .and_then(|()| socket.listen(BACKLOG))
            .context(format_args!("listen on {address}"))?;
        Ok(Self { local_address: address::local(&socket)?, socket })
    }

    /// The next connection; `None` if there is none, or it was gone before it could be accepted.
    ///
    /// # Errors
    /// The kernel's: no more descriptors or memory.
    pub fn accept(&mut self, options: TcpOptions) -> io::Result<Option<TcpStream>> {
        match self.socket.accept() {
            Ok((socket, peer)) => {
                TcpStream::accepted(socket, address::v4(&peer)?, options).map(Some)
            }
            Err(error) if is_idle(&error) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The address listened on.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.local_address
    }
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for TcpListener {
    /// A listener has no receive to block in.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
