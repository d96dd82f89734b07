//! The options of a kernel socket that matter to acceleration.

use std::ffi::c_int;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use hairpin_stack::{ReceiveStamps, SocketOptions, Stack};
use libc::{IPPROTO_IP, IPPROTO_IPV6, SOL_SOCKET, socklen_t};

use crate::addresses::option;
use crate::real;

/// Options of linux/udp.h and linux/in.h that the `libc` crate does not define.
const UDP_CORK: c_int = 1;
const UDP_ENCAP: c_int = 100;
const UDP_SEGMENT: c_int = 103;
const SO_PEEK_OFF: c_int = 42;
pub(crate) const SO_RXQ_OVFL: c_int = 40;
const SO_TIMESTAMP_NEW: c_int = 63;
const SO_TIMESTAMPNS_NEW: c_int = 64;
const SO_TIMESTAMPING_NEW: c_int = 65;
const SO_RCVMARK: c_int = 75;
const IP_RECVFRAGSIZE: c_int = 25;
const IPV6_FLOWINFO: c_int = 11;
const IPV6_RECVHOPOPTS: c_int = 53;
const IPV6_RECVRTHDR: c_int = 56;
const IPV6_RECVDSTOPTS: c_int = 58;
const IPV6_RECVFRAGSIZE: c_int = 77;
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
    /// `true` if TTL or hop limit, or traffic class, is delivered.
    pub(crate) ip_fields: bool,
    /// `true` if the TTL or hop limit is delivered (`IP_RECVTTL`, `IPV6_RECVHOPLIMIT`).
    pub(crate) ttl: bool,
    /// `true` if the traffic class is delivered (`IP_RECVTOS`, `IPV6_RECVTCLASS`).
    pub(crate) traffic_class: bool,
    pub(crate) timestamp: Timestamp,
    /// `true` if software timestamps are delivered as `SO_TIMESTAMPING` does.
    pub(crate) timestamping: bool,
    /// `true` if a datagram may have a control message.
    pub(crate) control: bool,
    /// `true` if sends may bypass the kernel.
    pub(crate) sends: bool,
    /// The interface's index, for `IP_PKTINFO`.
    pub(crate) interface: u32,
    pub(crate) options: SocketOptions,
}

/// The receive timestamp of `SO_TIMESTAMP` or `SO_TIMESTAMPNS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timestamp {
    Off,
    Microseconds,
    Nanoseconds,
}

/// The flags of `SO_TIMESTAMPING` for software receive timestamps
/// (`SOF_TIMESTAMPING_RX_SOFTWARE`, `SOF_TIMESTAMPING_SOFTWARE`).
const SOFTWARE_STAMPS: c_int = 1 << 3 | 1 << 4;

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
    (SOL_SOCKET, SO_TIMESTAMP_NEW, "SO_TIMESTAMP_NEW"),
    (SOL_SOCKET, SO_TIMESTAMPNS_NEW, "SO_TIMESTAMPNS_NEW"),
    (SOL_SOCKET, SO_TIMESTAMPING_NEW, "SO_TIMESTAMPING_NEW"),
    (SOL_SOCKET, SO_RCVMARK, "SO_RCVMARK"),
    (SOL_SOCKET, libc::SO_MARK, "SO_MARK"),
    (libc::IPPROTO_UDP, UDP_ENCAP, "UDP_ENCAP"),
    (IPPROTO_IP, libc::IP_RECVOPTS, "IP_RECVOPTS"),
    (IPPROTO_IP, libc::IP_RETOPTS, "IP_RETOPTS"),
    (IPPROTO_IP, libc::IP_RECVORIGDSTADDR, "IP_RECVORIGDSTADDR"),
    (IPPROTO_IP, IP_PASSSEC, "IP_PASSSEC"),
    (IPPROTO_IP, IP_CHECKSUM, "IP_CHECKSUM"),
    (IPPROTO_IP, libc::IP_OPTIONS, "IP_OPTIONS"),
    (IPPROTO_IP, IP_RECVFRAGSIZE, "IP_RECVFRAGSIZE"),
    (IPPROTO_IPV6, libc::IPV6_RECVORIGDSTADDR, "IPV6_RECVORIGDSTADDR"),
    (IPPROTO_IPV6, IPV6_FLOWINFO, "IPV6_FLOWINFO"),
    (IPPROTO_IPV6, IPV6_RECVHOPOPTS, "IPV6_RECVHOPOPTS"),
    (IPPROTO_IPV6, IPV6_RECVRTHDR, "IPV6_RECVRTHDR"),
    (IPPROTO_IPV6, IPV6_RECVDSTOPTS, "IPV6_RECVDSTOPTS"),
    (IPPROTO_IPV6, IPV6_RECVFRAGSIZE, "IPV6_RECVFRAGSIZE"),
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
    pub(crate) fn read(fd: c_int, local: SocketAddr, stack: &Stack) -> Result<Self, Unsupported> {
        let interface = stack.interface();
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
        let (timestamp, timestamping) = timestamps(fd, stack)?;
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
        let status = unsafe { real::fcntl(fd, libc::F_GETFL, 0) };
        let other_multicast_if =
            multicast_if.is_some_and(|index| index != 0 && index != interface as c_int);
        let overflow = is_set(SOL_SOCKET, SO_RXQ_OVFL);
        let packet_info =
            is_set(level, if local.is_ipv4() { libc::IP_PKTINFO } else { libc::IPV6_RECVPKTINFO });
        let ttl =
            is_set(level, if local.is_ipv4() { libc::IP_RECVTTL } else { libc::IPV6_RECVHOPLIMIT });
        let traffic_class =
            is_set(level, if local.is_ipv4() { libc::IP_RECVTOS } else { libc::IPV6_RECVTCLASS });
        let stamps = timestamping || timestamp != Timestamp::Off;
        Ok(Self {
            ip_fields: ttl || traffic_class,
            ttl,
            traffic_class,
            timestamp,
            timestamping,
            control: packet_info || overflow || ttl || traffic_class || stamps,
            nonblocking: status & libc::O_NONBLOCK != 0,
            receive_timeout: timeout(fd, libc::SO_RCVTIMEO),
            packet_info,
            overflow,
            sends: !other_multicast_if
                && !KERNEL_SENDS.iter().any(|&(level, name)| is_set(level, name)),
            interface,
            options,
        })
    }
}

/// Returns the timestamps that the program requests: of `SO_TIMESTAMP` or `SO_TIMESTAMPNS`, and
/// whether those of `SO_TIMESTAMPING`.
fn timestamps(fd: c_int, stack: &Stack) -> Result<(Timestamp, bool), Unsupported> {
    let is_set = |name| option(fd, SOL_SOCKET, name).is_some_and(|value| value != 0);
    let timestamp = if is_set(libc::SO_TIMESTAMPNS) {
        Timestamp::Nanoseconds
    } else if is_set(libc::SO_TIMESTAMP) {
        Timestamp::Microseconds
    } else {
        Timestamp::Off
    };
    let flags = option(fd, SOL_SOCKET, libc::SO_TIMESTAMPING).unwrap_or(0);
    if stack.receive_stamps() == ReceiveStamps::Off {
        if timestamp != Timestamp::Off {
            return Err(Unsupported("SO_TIMESTAMP without --timestamps"));
        }
        if flags != 0 {
            return Err(Unsupported("SO_TIMESTAMPING without --timestamps"));
        }
    }
    if flags & !SOFTWARE_STAMPS != 0 {
        return Err(Unsupported("SO_TIMESTAMPING except software receive timestamps"));
    }
    Ok((timestamp, flags == SOFTWARE_STAMPS))
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
