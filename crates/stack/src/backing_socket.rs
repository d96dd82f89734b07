//! The kernel UDP socket behind each socket of the stack. It owns the port, the memberships and the
//! errors, and carries the datagrams that do not bypass the kernel.

use std::collections::BTreeSet;
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use hairpin_xdp::ForkGuardedFd;
use socket2::{Domain, Protocol, SockAddr, SockAddrStorage, SockRef, Socket, Type};

use crate::SocketOptions;

/// The longest datagram: IPv6 without extension headers.
pub(crate) const LONGEST: usize = 65_535;
/// The size of the control message buffer, for the destination address.
const CONTROL: usize = 128;

/// The cookies of all backing sockets of this process. These sockets receive no group that they
/// have not joined.
static COOKIES: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Returns `true` if the cookie belongs to a backing socket of this process.
pub(crate) fn is_backing_socket(cookie: u64) -> bool {
    COOKIES.lock().unwrap_or_else(PoisonError::into_inner).contains(&cookie)
}

/// The cookie of a backing socket, listed while this value exists.
#[derive(Debug)]
pub(crate) struct ListedCookie(u64);

impl ListedCookie {
    pub(crate) fn new(cookie: u64) -> Self {
        COOKIES.lock().unwrap_or_else(PoisonError::into_inner).insert(cookie);
        Self(cookie)
    }
}

impl Drop for ListedCookie {
    fn drop(&mut self) {
        COOKIES.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// A kernel UDP socket.
#[derive(Debug)]
pub(crate) struct BackingSocket {
    descriptor: ForkGuardedFd,
    is_ipv4: bool,
    _cookie: ListedCookie,
}

/// A datagram received through the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KernelDatagram {
    pub(crate) length: usize,
    pub(crate) source: SocketAddr,
    pub(crate) destination: Option<IpAddr>,
    /// The index of the interface that it arrived on, if reported.
    pub(crate) interface: u32,
}

impl BackingSocket {
    /// Binds a socket that sends multicast on this interface.
    pub(crate) fn bind(
        address: SocketAddr,
        interface: u32,
        options: &SocketOptions,
    ) -> io::Result<Self> {
        let is_ipv4 = address.is_ipv4();
        let domain = if is_ipv4 { Domain::IPV4 } else { Domain::IPV6 };
        let open = || Socket::new(domain, Type::DGRAM, Some(Protocol::UDP));
        let descriptor = ForkGuardedFd::from_fn(open)?;
        let socket = SockRef::from(&descriptor);
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(options.reuse_address)?;
        socket.set_broadcast(options.broadcast)?;
        let cookie = ListedCookie::new(socket.cookie()?);
        let this = Self { descriptor, is_ipv4, _cookie: cookie };
        if let Some(bytes) = options.receive_buffer {
            this.set_receive_buffer(bytes)?;
        }
        if is_ipv4 {
            this.set_up_ipv4(interface, options)?;
            this.set(libc::IPPROTO_IP, libc::IP_PKTINFO, &1_i32)?;
        } else {
            this.set_up_ipv6(interface, options)?;
            if !options.only_v6 {
                // The options of its IPv4 half. `IPV6_RECVPKTINFO` covers both halves.
                this.set_up_ipv4(interface, options)?;
            }
        }
        this.socket().bind(&address.into())?;
        Ok(this)
    }

    /// Returns the number of the descriptor.
    pub(crate) fn fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    fn socket(&self) -> SockRef<'_> {
        SockRef::from(&self.descriptor)
    }

    fn set_up_ipv4(&self, interface: u32, options: &SocketOptions) -> io::Result<()> {
        let socket = self.socket();
        socket.set_ttl_v4(u32::from(options.ttl))?;
        socket.set_tos_v4(u32::from(options.traffic_class))?;
        socket.set_multicast_ttl_v4(u32::from(options.multicast_ttl))?;
        socket.set_multicast_loop_v4(options.multicast_loop)?;
        socket.set_multicast_all_v4(options.multicast_all && self.is_ipv4)?;
        let request = libc::ip_mreqn {
            imr_multiaddr: libc::in_addr { s_addr: 0 },
            imr_address: libc::in_addr { s_addr: 0 },
            imr_ifindex: interface as i32,
        };
        self.set(libc::IPPROTO_IP, libc::IP_MULTICAST_IF, &request)
    }

    fn set_up_ipv6(&self, interface: u32, options: &SocketOptions) -> io::Result<()> {
        let socket = self.socket();
        socket.set_only_v6(options.only_v6)?;
        socket.set_unicast_hops_v6(u32::from(options.ttl))?;
        socket.set_multicast_hops_v6(u32::from(options.multicast_ttl))?;
        socket.set_multicast_loop_v6(options.multicast_loop)?;
        socket.set_multicast_if_v6(interface)?;
        let all = i32::from(options.multicast_all);
        self.set(libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_ALL, &all)?;
        self.set(libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &i32::from(options.traffic_class))?;
        self.set(libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, &1_i32)
    }

    fn set<T>(&self, level: i32, name: i32, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        let fd = self.descriptor.as_raw_fd();
        // SAFETY: the kernel reads the value, which outlives the call.
        let result =
            unsafe { libc::setsockopt(fd, level, name, (&raw const *value).cast(), length) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sets the receive buffer, beyond the system's limit if permitted.
    fn set_receive_buffer(&self, bytes: usize) -> io::Result<()> {
        let forced = i32::try_from(bytes).unwrap_or(i32::MAX);
        let outcome = self.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &forced);
        outcome.or_else(|_| self.socket().set_recv_buffer_size(bytes))
    }

    /// Returns the granted buffer size. The kernel doubles the requested size for its bookkeeping.
    pub(crate) fn receive_buffer(&self) -> io::Result<usize> {
        Ok(self.socket().recv_buffer_size()? / 2)
    }

    pub(crate) fn set_multicast_ttl(&self, ttl: u8) -> io::Result<()> {
        let (socket, value) = (self.socket(), u32::from(ttl));
        if !self.is_ipv4 {
            socket.set_multicast_hops_v6(value)?;
        }
        // Also the IPv4 half of an IPv6 socket.
        socket.set_multicast_ttl_v4(value)
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        address_of(&self.socket().local_addr()?)
    }

    pub(crate) fn connect(&self, remote: SocketAddr) -> io::Result<()> {
        self.socket().connect(&remote.into())
    }

    /// Joins a group on an interface; with `sources`, only those sources are received.
    pub(crate) fn join(&self, group: IpAddr, interface: u32, sources: &[IpAddr]) -> io::Result<()> {
        if sources.is_empty() {
            let request = group_request(group, interface);
            return self.set(level(group), libc::MCAST_JOIN_GROUP, &request);
        }
        for (at, &source) in sources.iter().enumerate() {
            let request = source_request(group, source, interface);
            if let Err(error) = self.set(level(group), libc::MCAST_JOIN_SOURCE_GROUP, &request) {
                if at > 0 {
                    // The join succeeds for all sources or fails as a whole.
                    let _ = self.leave(group, interface);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Leaves a group, with all its sources.
    pub(crate) fn leave(&self, group: IpAddr, interface: u32) -> io::Result<()> {
        self.set(level(group), libc::MCAST_LEAVE_GROUP, &group_request(group, interface))
    }

    /// Sends a datagram.
    pub(crate) fn send(&self, payload: &[u8], to: SocketAddr) -> io::Result<()> {
        self.socket().send_to(payload, &to.into()).map(drop)
    }

    /// Returns `true` if a datagram or an error is pending.
    pub(crate) fn is_readable(&self) -> bool {
        let fd = self.descriptor.as_raw_fd();
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which outlives the call.
        unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
    }

    /// Receives a pending datagram into `buffer`.
    ///
    /// # Errors
    /// The kernel's: `ConnectionRefused` and similar errors concern an earlier send.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<KernelDatagram>> {
        let mut name = SockAddrStorage::zeroed();
        let mut control_plane = ControlPlane([0; CONTROL]);
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: a header consists of integers and pointers, for which zero is a valid value.
        let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        header.msg_name = (&raw mut name).cast();
        header.msg_namelen = name.size_of();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control_plane.0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL;
        // SAFETY: everything that the header points to outlives the call.
        let length = unsafe { libc::recvmsg(self.descriptor.as_raw_fd(), &raw mut header, 0) };
        let Ok(length) = usize::try_from(length) else {
            let error = io::Error::last_os_error();
            let is_nothing =
                matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            return if is_nothing { Ok(None) } else { Err(error) };
        };
        // SAFETY: the kernel wrote an address of this length, and the rest is zero.
        let source = unsafe { SockAddr::new(name, header.msg_namelen) };
        let source = address_of(&source)?;
        // SAFETY: the kernel filled the header in.
        let (destination, interface) = unsafe { destination(&header) }.unzip();
        let interface = interface.unwrap_or(0);
        Ok(Some(KernelDatagram { length, source, destination, interface }))
    }
}

impl AsFd for BackingSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Control messages must be 8-byte aligned.
#[repr(align(8))]
struct ControlPlane([u8; CONTROL]);

/// Reads a datagram's destination and the index of its interface from the control messages.
///
/// # Safety
/// The header was filled in by recvmsg(2), and the memory that it points to is still valid.
unsafe fn destination(header: &libc::msghdr) -> Option<(IpAddr, u32)> {
    // SAFETY: the caller guarantees a valid header; the macros walk the messages.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: not null, so a message that the kernel wrote.
    while let Some(message) = unsafe { next.as_ref() } {
        // SAFETY: as above.
        let data = unsafe { libc::CMSG_DATA(message) };
        match (message.cmsg_level, message.cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: a message of this type contains this structure.
                let info = unsafe { data.cast::<libc::in_pktinfo>().read_unaligned() };
                let address = Ipv4Addr::from(u32::from_be(info.ipi_addr.s_addr));
                return Some((address.into(), info.ipi_ifindex.cast_unsigned()));
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: a message of this type contains this structure.
                let info = unsafe { data.cast::<libc::in6_pktinfo>().read_unaligned() };
                let address = Ipv6Addr::from(info.ipi6_addr.s6_addr);
                return Some((address.into(), info.ipi6_ifindex));
            }
            _ => {}
        }
        // SAFETY: as above.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    None
}

fn address_of(address: &SockAddr) -> io::Result<SocketAddr> {
    address.as_socket().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// `struct group_req` of RFC 3678 §5.1.1.
#[repr(C)]
struct GroupRequest {
    interface: u32,
    group: libc::sockaddr_storage,
}

/// `struct group_source_req` of RFC 3678 §5.1.1.
#[repr(C)]
struct SourceRequest {
    interface: u32,
    group: libc::sockaddr_storage,
    source: libc::sockaddr_storage,
}

fn storage(address: IpAddr) -> libc::sockaddr_storage {
    let address = SockAddr::from(SocketAddr::new(address, 0));
    // SAFETY: `SockAddr` stores the address in a `sockaddr_storage`, so that many bytes can be
    // read.
    unsafe { *address.as_ptr().cast::<libc::sockaddr_storage>() }
}

fn level(group: IpAddr) -> i32 {
    if group.is_ipv4() { libc::IPPROTO_IP } else { libc::IPPROTO_IPV6 }
}

fn group_request(group: IpAddr, interface: u32) -> GroupRequest {
    GroupRequest { interface, group: storage(group) }
}

fn source_request(group: IpAddr, source: IpAddr, interface: u32) -> SourceRequest {
    SourceRequest { interface, group: storage(group), source: storage(source) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(socket: &BackingSocket, buffer: &mut [u8]) -> KernelDatagram {
        for _ in 0..1_000 {
            if let Some(datagram) = socket.receive(buffer).unwrap() {
                return datagram;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        panic!("no datagram arrived");
    }

    #[test]
    fn receive_returns_source_and_destination() {
        for host in ["127.0.0.1", "::1"] {
            let host: IpAddr = host.parse().unwrap();
            let any: IpAddr = if host.is_ipv4() {
                Ipv4Addr::UNSPECIFIED.into()
            } else {
                Ipv6Addr::UNSPECIFIED.into()
            };
            let options = SocketOptions::default();
            let one = BackingSocket::bind(SocketAddr::new(any, 0), 1, &options).unwrap();
            let other = BackingSocket::bind(SocketAddr::new(host, 0), 1, &options).unwrap();
            let port = one.local_address().unwrap().port();
            let mut buffer = vec![0; LONGEST];
            assert_eq!(one.receive(&mut buffer).unwrap(), None);
            other.send(b"hello", SocketAddr::new(host, port)).unwrap();
            let datagram = receive(&one, &mut buffer);
            assert_eq!(&buffer[..datagram.length], b"hello");
            assert_eq!(datagram.source, other.local_address().unwrap());
            assert_eq!(datagram.destination, Some(host));
        }
    }
}
