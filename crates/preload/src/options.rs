//! The options of a kernel socket that matter to acceleration.

use std::ffi::c_int;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use hairpin_stack::SocketOptions;
use libc::{IPPROTO_IP, IPPROTO_IPV6, SOL_SOCKET, socklen_t};

use crate::addresses::option;
use crate::real;

/// Options of linux/udp.h and linux/in.h that the `libc` crate does not define.
const UDP_CORK: c_int = 1;
const UDP_ENCAP: c_int = 100;
const UDP_SEGMENT: c_int = 103;
const SO_PEEK_OFF: c_int = 42;
const SO_RXQ_OVFL: c_int = 40;
const IP_PASSSEC: c_int = 18;
const IP_CHECKSUM: c_int = 23;

/// The state that a receive or send needs, cached from the kernel socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SocketState {
    pub(crate) nonblocking: bool,
    pub(crate) receive_timeout: Option<Duration>,
    /// `true` if each datagram is delivered with its destination (`IP_PKTINFO`).
    pub(crate) packet_info: bool,
    /// `true` if each datagram is delivered with the number of drops (`SO_RXQ_OVFL`).
    pub(crate) overflow: bool,
    /// `true` if sends may bypass the kernel.
    pub(crate) sends: bool,
    /// The interface's index, for `IP_PKTINFO`.
    pub(crate) interface: u32,
    pub(crate) options: SocketOptions,
}

/// The option that an accelerated socket cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unsupported(&'static str);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not supported", self.0)
    }
}

/// Options that change what a receive delivers, and which only the kernel implements.
const KERNEL_ONLY: &[(c_int, c_int, &str)] = &[
    (SOL_SOCKET, libc::SO_REUSEPORT, "SO_REUSEPORT"),
    (SOL_SOCKET, libc::SO_TIMESTAMP, "SO_TIMESTAMP"),
    (SOL_SOCKET, libc::SO_TIMESTAMPNS, "SO_TIMESTAMPNS"),
    (SOL_SOCKET, libc::SO_TIMESTAMPING, "SO_TIMESTAMPING"),
    (SOL_SOCKET, libc::SO_MARK, "SO_MARK"),
    (libc::IPPROTO_UDP, UDP_ENCAP, "UDP_ENCAP"),
    (IPPROTO_IP, libc::IP_RECVTTL, "IP_RECVTTL"),
    (IPPROTO_IP, libc::IP_RECVTOS, "IP_RECVTOS"),
    (IPPROTO_IP, libc::IP_RECVOPTS, "IP_RECVOPTS"),
    (IPPROTO_IP, libc::IP_RETOPTS, "IP_RETOPTS"),
    (IPPROTO_IP, libc::IP_RECVORIGDSTADDR, "IP_RECVORIGDSTADDR"),
    (IPPROTO_IP, IP_PASSSEC, "IP_PASSSEC"),
    (IPPROTO_IP, IP_CHECKSUM, "IP_CHECKSUM"),
    (IPPROTO_IP, libc::IP_OPTIONS, "IP_OPTIONS"),
    (IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT, "IPV6_RECVHOPLIMIT"),
    (IPPROTO_IPV6, libc::IPV6_RECVTCLASS, "IPV6_RECVTCLASS"),
    (IPPROTO_IPV6, libc::IPV6_RECVORIGDSTADDR, "IPV6_RECVORIGDSTADDR"),
];

/// Options that change what a send does. Such sends go through the kernel socket.
const KERNEL_SENDS: &[(c_int, c_int)] = &[
    (libc::IPPROTO_UDP, UDP_CORK),
    (libc::IPPROTO_UDP, UDP_SEGMENT),
    (SOL_SOCKET, libc::SO_DONTROUTE),
];

impl SocketState {
    /// Reads the options from the kernel socket.
    ///
    /// # Errors
    /// An option that only the kernel implements is set.
    pub(crate) fn read(fd: c_int, local: SocketAddr, interface: u32) -> Result<Self, Unsupported> {
        let is_set = |level, name| option(fd, level, name).is_some_and(|value| value != 0);
        for &(level, name, text) in KERNEL_ONLY {
            // The IPv6 options do not exist on an IPv4 socket.
            if is_set(level, name) {
                return Err(Unsupported(text));
            }
        }
        if has_filter(fd) {
            return Err(Unsupported("a socket filter"));
        }
        if option(fd, SOL_SOCKET, SO_PEEK_OFF).is_some_and(|offset| offset >= 0) {
            return Err(Unsupported("SO_PEEK_OFF"));
        }
        let bound_to = option(fd, SOL_SOCKET, libc::SO_BINDTOIFINDEX).unwrap_or(0);
        if bound_to != 0 && bound_to != interface as c_int {
            return Err(Unsupported("SO_BINDTODEVICE to another interface"));
        }
        let level = if local.is_ipv4() { IPPROTO_IP } else { IPPROTO_IPV6 };
        let number = |v4, v6, otherwise: u8| {
            let name = if local.is_ipv4() { v4 } else { v6 };
            let value = option(fd, level, name).and_then(|value| u8::try_from(value).ok());
            value.unwrap_or(otherwise)
        };
        // The multicast interface: another one, or the route's.
        let multicast_if = if local.is_ipv4() { 0 } else { libc::IPV6_MULTICAST_IF };
        let multicast_if = if multicast_if == 0 { None } else { option(fd, level, multicast_if) };
        let options = SocketOptions {
            ttl: number(libc::IP_TTL, libc::IPV6_UNICAST_HOPS, 64),
            multicast_ttl: number(libc::IP_MULTICAST_TTL, libc::IPV6_MULTICAST_HOPS, 1),
            traffic_class: number(libc::IP_TOS, libc::IPV6_TCLASS, 0),
            broadcast: is_set(SOL_SOCKET, libc::SO_BROADCAST),
            multicast_loop: number(libc::IP_MULTICAST_LOOP, libc::IPV6_MULTICAST_LOOP, 1) != 0,
            reuse_address: is_set(SOL_SOCKET, libc::SO_REUSEADDR),
            checksum: !is_set(SOL_SOCKET, libc::SO_NO_CHECK),
            receive_buffer: None,
        };
        // SAFETY: the call takes integers.
        let flags = unsafe { real::fcntl(fd, libc::F_GETFL, 0) };
        let other_multicast_if =
            multicast_if.is_some_and(|index| index != 0 && index != interface as c_int);
        Ok(Self {
            nonblocking: flags & libc::O_NONBLOCK != 0,
            receive_timeout: timeout(fd, libc::SO_RCVTIMEO),
            packet_info: is_set(
                level,
                if local.is_ipv4() { libc::IP_PKTINFO } else { libc::IPV6_RECVPKTINFO },
            ),
            overflow: is_set(SOL_SOCKET, SO_RXQ_OVFL),
            sends: !other_multicast_if
                && !KERNEL_SENDS.iter().any(|&(level, name)| is_set(level, name)),
            interface,
            options,
        })
    }
}

/// Returns `true` if the socket has a packet filter.
pub(crate) fn has_filter(fd: c_int) -> bool {
    let mut count: socklen_t = 0;
    let (name, none) = (libc::SO_GET_FILTER, std::ptr::null_mut());
    // SAFETY: with room for no instruction, the kernel writes only their number.
    let result = unsafe { real::getsockopt(fd, SOL_SOCKET, name, none, &raw mut count) };
    result != 0 || count != 0
}

/// Reads a timeout; `None` waits without limit.
pub(crate) fn timeout(fd: c_int, name: c_int) -> Option<Duration> {
    let mut value = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<libc::timeval>() as socklen_t;
    let place = (&raw mut value).cast();
    // SAFETY: the value outlives the call and has the length that is passed.
    let result = unsafe { real::getsockopt(fd, SOL_SOCKET, name, place, &raw mut length) };
    let timeout = Duration::new(
        value.tv_sec.try_into().unwrap_or(0),
        u32::try_from(value.tv_usec).unwrap_or(0) * 1_000,
    );
    (result == 0 && !timeout.is_zero()).then_some(timeout)
}
