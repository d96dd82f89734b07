//! Conversion of the kernel's IPv4 socket addresses.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use socket2::{SockAddr, Socket};

/// Converts a `sockaddr_in`, whose address and port are in network byte order.
pub(crate) fn from_kernel(address: &libc::sockaddr_in) -> SocketAddrV4 {
    let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
    SocketAddrV4::new(ip, u16::from_be(address.sin_port))
}

/// Converts an address of either family. The first bytes of a `sockaddr_in` are family, port and
/// address; those of a `sockaddr_in6` family, port, flow information and address.
#[inline]
pub(crate) fn from_kernel_v6(address: &libc::sockaddr_in6) -> SocketAddr {
    let port = u16::from_be(address.sin6_port);
    if libc::c_int::from(address.sin6_family) == libc::AF_INET6 {
        let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
        return SocketAddrV6::new(ip, port, 0, address.sin6_scope_id).into();
    }
    // A `sockaddr_in` has its address where a `sockaddr_in6` has the flow information.
    let ip = Ipv4Addr::from(u32::from_be(address.sin6_flowinfo));
    SocketAddrV4::new(ip, port).into()
}

/// Converts the bytes of a `sockaddr_in`: family, port, address. Returns the unspecified address if
/// the bytes are too short.
#[inline]
pub(crate) fn from_bytes(bytes: &[u8]) -> SocketAddrV4 {
    match *bytes {
        [_, _, p0, p1, a, b, c, d, ..] => {
            SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([p0, p1]))
        }
        _ => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0),
    }
}

/// Returns the address to which a socket is bound.
pub(crate) fn local(socket: &Socket) -> io::Result<SocketAddrV4> {
    v4(&socket.local_addr()?)
}

/// Converts a socket address.
///
/// # Errors
/// The address is not an IPv4 address.
pub(crate) fn v4(address: &SockAddr) -> io::Result<SocketAddrV4> {
    address
        .as_socket_ipv4()
        .ok_or_else(|| io::Error::other("cannot read the socket's address: not an IPv4 address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_struct_and_bytes_alike() {
        let bytes = [2, 0, 0x1f, 0x90, 192, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 0];
        let expected: SocketAddrV4 = "192.0.2.7:8080".parse().unwrap();
        assert_eq!(from_bytes(&bytes), expected);
        let kernel = libc::sockaddr_in {
            sin_family: 2,
            sin_port: u16::from_ne_bytes([bytes[2], bytes[3]]),
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([192, 0, 2, 7]) },
            sin_zero: [0; 8],
        };
        assert_eq!(from_kernel(&kernel), expected);
        assert_eq!(from_bytes(&bytes[..7]), SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    }
}
