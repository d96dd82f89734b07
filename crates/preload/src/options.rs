//! The options of a kernel socket that matter to acceleration.

use std::ffi::c_int;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hairpin_stack::{SocketOptions, Stack};
use libc::{IPPROTO_IP, IPPROTO_IPV6, SOL_SOCKET, socklen_t};

use crate::addresses::option;
use crate::nonblocking::Nonblocking;
use crate::settings::settings;
use crate::slots::{self, Slot};
use crate::{process, real};

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
    pub(crate) nonblocking: Nonblocking,
    /// What is delivered with each IPv4 datagram: by the options of `IPPROTO_IP`, which an IPv6
    /// socket has too.
    pub(crate) ipv4: Requested,
    /// What is delivered with each IPv6 datagram. `IPV6_RECVPKTINFO` is for both families.
    pub(crate) ipv6: Requested,
    /// `true` if each datagram is delivered with the number of drops (`SO_RXQ_OVFL`).
    pub(crate) overflow: bool,
    /// `true` if TTL or hop limit, or traffic class, is delivered.
    pub(crate) ip_fields: bool,
    pub(crate) timestamp: Timestamp,
    /// `true` if software timestamps are delivered as `SO_TIMESTAMPING` does.
    pub(crate) timestamping: bool,
    /// `true` if a datagram may have a control message.
    pub(crate) control: bool,
    /// `true` if sends may bypass the kernel.
    pub(crate) sends: bool,
    /// `false` if an IPv6 socket has other options for IPv4, so that only IPv6 may bypass.
    pub(crate) sends_ipv4: bool,
    /// The interfaces that IPv4 and IPv6 datagrams to groups are sent on; 0 selects by route.
    pub(crate) multicast_interfaces: [u32; 2],
    pub(crate) options: SocketOptions,
}

/// The control messages that the program requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Requested {
    /// The destination (`IP_PKTINFO`, `IPV6_RECVPKTINFO`).
    pub(crate) packet_info: bool,
    /// The TTL or hop limit (`IP_RECVTTL`, `IPV6_RECVHOPLIMIT`).
    pub(crate) ttl: bool,
    /// The traffic class (`IP_RECVTOS`, `IPV6_RECVTCLASS`).
    pub(crate) traffic_class: bool,
}

impl Requested {
    fn read(fd: c_int, level: c_int, names: [c_int; 3]) -> Self {
        let [packet_info, ttl, traffic_class] =
            names.map(|name| option(fd, level, name).is_some_and(|value| value != 0));
        Self { packet_info, ttl, traffic_class }
    }

    fn any(self) -> bool {
        self.packet_info || self.ttl || self.traffic_class
    }
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
    /// Reads the options from the kernel socket, which is bound to this address.
    ///
    /// # Errors
    /// An option that only the kernel implements is set.
    pub(crate) fn read(fd: c_int, local: SocketAddr) -> Result<Self, Unsupported> {
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
        let (timestamp, timestamping) = timestamps(fd)?;
        let overflow = is_set(SOL_SOCKET, SO_RXQ_OVFL);
        let names = [libc::IP_PKTINFO, libc::IP_RECVTTL, libc::IP_RECVTOS];
        let ipv4 = Requested::read(fd, IPPROTO_IP, names);
        let names = [libc::IPV6_RECVPKTINFO, libc::IPV6_RECVHOPLIMIT, libc::IPV6_RECVTCLASS];
        let ipv6 = Requested::read(fd, IPPROTO_IPV6, names);
        let stamps = timestamping || timestamp != Timestamp::Off;
        let mut options = send_options(fd, local.ip().to_canonical().is_ipv4());
        let sends_ipv4 = options.only_v6 || options == send_options(fd, true);
        options.multicast_all = if local.is_ipv4() {
            is_set(IPPROTO_IP, libc::IP_MULTICAST_ALL)
        } else {
            is_set(IPPROTO_IPV6, libc::IPV6_MULTICAST_ALL)
        };
        Ok(Self {
            ipv4,
            ipv6,
            ip_fields: ipv4.ttl || ipv4.traffic_class || ipv6.ttl || ipv6.traffic_class,
            timestamp,
            timestamping,
            control: ipv4.any() || ipv6.any() || overflow || stamps,
            nonblocking: Nonblocking::read(fd),
            overflow,
            sends: !KERNEL_SENDS.iter().any(|&(level, name)| is_set(level, name)),
            sends_ipv4,
            multicast_interfaces: [multicast_interface_v4(fd), multicast_interface_v6(fd)],
            options,
        })
    }

    /// Returns the interface that datagrams to groups of a family are sent on; 0 selects by route.
    pub(crate) fn multicast_interface(&self, is_ipv4: bool) -> u32 {
        self.multicast_interfaces[usize::from(!is_ipv4)]
    }
}

/// Reads the options that affect sent packets: those of one family.
fn send_options(fd: c_int, is_ipv4: bool) -> SocketOptions {
    let level = if is_ipv4 { IPPROTO_IP } else { IPPROTO_IPV6 };
    let is_set = |level, name| option(fd, level, name).is_some_and(|value| value != 0);
    let number = |v4, v6, otherwise: u8| {
        let value = option(fd, level, if is_ipv4 { v4 } else { v6 });
        value.and_then(|value| u8::try_from(value).ok()).unwrap_or(otherwise)
    };
    SocketOptions {
        ttl: number(libc::IP_TTL, libc::IPV6_UNICAST_HOPS, 64),
        multicast_ttl: number(libc::IP_MULTICAST_TTL, libc::IPV6_MULTICAST_HOPS, 1),
        traffic_class: number(libc::IP_TOS, libc::IPV6_TCLASS, 0),
        broadcast: is_set(SOL_SOCKET, libc::SO_BROADCAST),
        multicast_loop: number(libc::IP_MULTICAST_LOOP, libc::IPV6_MULTICAST_LOOP, 1) != 0,
        reuse_address: is_set(SOL_SOCKET, libc::SO_REUSEADDR),
        checksum: !is_set(SOL_SOCKET, libc::SO_NO_CHECK),
        only_v6: is_set(IPPROTO_IPV6, libc::IPV6_V6ONLY),
        multicast_all: false,
        receive_buffer: None,
    }
}

/// The index of no interface of the run.
const ELSEWHERE: u32 = u32::MAX;

fn multicast_interface_v4(fd: c_int) -> u32 {
    // The kernel returns the address only, not the index of `struct ip_mreqn`.
    let address = option(fd, IPPROTO_IP, libc::IP_MULTICAST_IF).unwrap_or(0);
    let address = Ipv4Addr::from(u32::from_be(address.cast_unsigned()));
    if address.is_unspecified() {
        return slots::find(fd).map_or(0, Slot::multicast_interface);
    }
    let found = process::open_stacks().iter().find(|stack| stack.has_address(address.into()));
    found.map_or(ELSEWHERE, Stack::interface)
}

fn multicast_interface_v6(fd: c_int) -> u32 {
    let index = option(fd, IPPROTO_IPV6, libc::IPV6_MULTICAST_IF);
    index.and_then(|index| u32::try_from(index).ok()).unwrap_or(0)
}

/// Returns the timestamps that the program requests: of `SO_TIMESTAMP` or `SO_TIMESTAMPNS`, and
/// whether those of `SO_TIMESTAMPING`.
fn timestamps(fd: c_int) -> Result<(Timestamp, bool), Unsupported> {
    let is_set = |name| option(fd, SOL_SOCKET, name).is_some_and(|value| value != 0);
    let timestamp = if is_set(libc::SO_TIMESTAMPNS) {
        Timestamp::Nanoseconds
    } else if is_set(libc::SO_TIMESTAMP) {
        Timestamp::Microseconds
    } else {
        Timestamp::Off
    };
    let flags = option(fd, SOL_SOCKET, libc::SO_TIMESTAMPING).unwrap_or(0);
    if !settings().timestamps {
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
