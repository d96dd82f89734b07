//! IPv4 addresses as the kernel writes them.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use socket2::{SockAddr, Socket};

/// The kernel's form of an address: both parts in network byte order.
pub(crate) fn from_kernel(address: &libc::sockaddr_in) -> SocketAddrV4 {
    let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
    SocketAddrV4::new(ip, u16::from_be(address.sin_port))
}

/// The address a socket is bound to.
pub(crate) fn local(socket: &Socket) -> io::Result<SocketAddrV4> {
    v4(&socket.local_addr()?)
}

/// An address of an IPv4 socket.
pub(crate) fn v4(address: &SockAddr) -> io::Result<SocketAddrV4> {
    address.as_socket_ipv4().ok_or_else(|| io::Error::other("the address is not an IPv4 one"))
}
