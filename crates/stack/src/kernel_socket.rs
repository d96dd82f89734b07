//! The kernel's socket behind each of ours: it has the port, the memberships and the errors, and
//! brings and takes what does not go past the kernel.

use std::collections::BTreeSet;
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};

use hairpin_xdp::ForkGuardedFd;
use socket2::{Domain, Protocol, SockAddr, SockAddrStorage, SockRef, Socket, Type};

use crate::SocketOptions;

/// The longest datagram there is, of IPv6 without extension headers.
pub(crate) const LONGEST: usize = 65_535;
/// Room for the control messages that are asked for: where a datagram went to.
const CONTROL: usize = 128;

/// The cookies of this process's own, of all stacks: they hear no group that they have not joined.
static OURS: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Whether the kernel's socket of this cookie stands behind one of ours.
pub(crate) fn is_ours(cookie: u64) -> bool {
    OURS.lock().unwrap_or_else(PoisonError::into_inner).contains(&cookie)
}

/// A UDP socket of the kernel.
#[derive(Debug)]
pub(crate) struct KernelSocket {
    descriptor: ForkGuardedFd,
    is_ipv4: bool,
    cookie: u64,
}

/// What came by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Brought {
    pub(crate) length: usize,
    pub(crate) source: SocketAddr,
    pub(crate) destination: Option<IpAddr>,
}

impl KernelSocket {
    /// Binds a socket that sends to groups from this interface.
    pub(crate) fn bind(
        address: SocketAddr,
        interface: u32,
        options: &SocketOptions,
    ) -> io::Result<Self> {
        let is_ipv4 = address.is_ipv4();
        let domain = if is_ipv4 { Domain::IPV4 } else { Domain::IPV6 };
        let open = || Socket::new(domain, Type::DGRAM, Some(Protocol::UDP));
        let descriptor = ForkGuardedFd::make(open)?;
        let socket = SockRef::from(&descriptor);
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(options.shares)?;
        socket.set_broadcast(options.broadcast)?;
        let cookie = socket.cookie()?;
        OURS.lock().unwrap_or_else(PoisonError::into_inner).insert(cookie);
        let this = Self { descriptor, is_ipv4, cookie };
        if let Some(bytes) = options.receive_buffer {
            this.set_receive_buffer(bytes)?;
        }
        if is_ipv4 {
            this.set_up_ipv4(interface, options)?;
        } else {
            this.set_up_ipv6(interface, options)?;
        }
        this.socket().bind(&address.into())?;
        Ok(this)
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
        socket.set_multicast_all_v4(false)?;
        let request = libc::ip_mreqn {
            imr_multiaddr: libc::in_addr { s_addr: 0 },
            imr_address: libc::in_addr { s_addr: 0 },
            imr_ifindex: interface as i32,
        };
        self.set(libc::IPPROTO_IP, libc::IP_MULTICAST_IF, &request)?;
        self.set(libc::IPPROTO_IP, libc::IP_PKTINFO, &1_i32)
    }

    fn set_up_ipv6(&self, interface: u32, options: &SocketOptions) -> io::Result<()> {
        let socket = self.socket();
        socket.set_only_v6(true)?;
        socket.set_unicast_hops_v6(u32::from(options.ttl))?;
        socket.set_multicast_hops_v6(u32::from(options.multicast_ttl))?;
        socket.set_multicast_loop_v6(options.multicast_loop)?;
        socket.set_multicast_if_v6(interface)?;
        self.set(libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_ALL, &0_i32)?;
        self.set(libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &i32::from(options.traffic_class))?;
        self.set(libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, &1_i32)
    }

    fn set<T>(&self, level: i32, name: i32, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        let fd = self.descriptor.as_raw_fd();
        // SAFETY: the value is read for the length of the call.
        let result =
            unsafe { libc::setsockopt(fd, level, name, (&raw const *value).cast(), length) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Past the system's limit, if the process may.
    fn set_receive_buffer(&self, bytes: usize) -> io::Result<()> {
        let forced = i32::try_from(bytes).unwrap_or(i32::MAX);
        let outcome = self.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &forced);
        outcome.or_else(|_| self.socket().set_recv_buffer_size(bytes))
    }

    /// What was granted. The kernel doubles what is asked, for its book-keeping.
    pub(crate) fn receive_buffer(&self) -> io::Result<usize> {
        Ok(self.socket().recv_buffer_size()? / 2)
    }

    pub(crate) fn set_multicast_ttl(&self, ttl: u8) -> io::Result<()> {
        if self.is_ipv4 {
            self.socket().set_multicast_ttl_v4(u32::from(ttl))
        } else {
            self.socket().set_multicast_hops_v6(u32::from(ttl))
        }
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        address_of(&self.socket().local_addr()?)
    }

    pub(crate) fn connect(&self, remote: SocketAddr) -> io::Result<()> {
        self.socket().connect(&remote.into())
    }

    /// Becomes a member of a group on an interface; from these senders alone, if there are any.
    pub(crate) fn join(&self, group: IpAddr, interface: u32, sources: &[IpAddr]) -> io::Result<()> {
        if sources.is_empty() {
            return self.set(
                self.level(),
                libc::MCAST_JOIN_GROUP,
                &group_request(group, interface),
            );
        }
        for (at, &source) in sources.iter().enumerate() {
            let request = source_request(group, source, interface);
            if let Err(error) = self.set(self.level(), libc::MCAST_JOIN_SOURCE_GROUP, &request) {
                if at > 0 {
                    // As a whole or not at all.
                    let _ = self.leave(group, interface);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Ends a membership, of whatever senders.
    pub(crate) fn leave(&self, group: IpAddr, interface: u32) -> io::Result<()> {
        self.set(self.level(), libc::MCAST_LEAVE_GROUP, &group_request(group, interface))
    }

    fn level(&self) -> i32 {
        if self.is_ipv4 { libc::IPPROTO_IP } else { libc::IPPROTO_IPV6 }
    }

    /// Sends a datagram.
    pub(crate) fn send(&self, payload: &[u8], to: SocketAddr) -> io::Result<()> {
        self.socket().send_to(payload, &to.into()).map(drop)
    }

    /// Whether there is something to receive, be it an error.
    pub(crate) fn is_readable(&self) -> bool {
        let fd = self.descriptor.as_raw_fd();
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which lives through the call.
        unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
    }

    /// What came by the kernel, if something did, into `buffer`.
    ///
    /// # Errors
    /// The kernel's: `ConnectionRefused` and the like tell of something sent before.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Brought>> {
        let mut name = SockAddrStorage::zeroed();
        let mut control = Control([0; CONTROL]);
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: a header is integers and pointers, for all of which zero is a value.
        let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        header.msg_name = (&raw mut name).cast();
        header.msg_namelen = name.size_of();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL;
        // SAFETY: all that the header points to lives through the call.
        let length = unsafe { libc::recvmsg(self.descriptor.as_raw_fd(), &raw mut header, 0) };
        let Ok(length) = usize::try_from(length) else {
            let error = io::Error::last_os_error();
            let is_nothing =
                matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            return if is_nothing { Ok(None) } else { Err(error) };
        };
        // SAFETY: the kernel has written an address of this length, and the rest is zero.
        let source = unsafe { SockAddr::new(name, header.msg_namelen) };
        let source = address_of(&source)?;
        // SAFETY: the kernel has filled the header in.
        let destination = unsafe { destination(&header) };
        Ok(Some(Brought { length, source, destination }))
    }
}

impl Drop for KernelSocket {
    fn drop(&mut self) {
        OURS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.cookie);
    }
}

impl AsFd for KernelSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Control messages begin at a multiple of 8.
#[repr(align(8))]
struct Control([u8; CONTROL]);

/// Where a datagram went to, as the control messages have it.
///
/// # Safety
/// The header is one that recvmsg(2) has filled in, and what it points to is there.
unsafe fn destination(header: &libc::msghdr) -> Option<IpAddr> {
    // SAFETY: the caller's word; messages are walked through by the macros made for that.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: not null, so a message that the kernel wrote.
    while let Some(message) = unsafe { next.as_ref() } {
        // SAFETY: as above.
        let data = unsafe { libc::CMSG_DATA(message) };
        match (message.cmsg_level, message.cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: a message of this type holds this.
                let info = unsafe { data.cast::<libc::in_pktinfo>().read_unaligned() };
                return Some(Ipv4Addr::from(u32::from_be(info.ipi_addr.s_addr)).into());
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: a message of this type holds this.
                let info = unsafe { data.cast::<libc::in6_pktinfo>().read_unaligned() };
                return Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
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

/// struct group_req of RFC 3678 §5.1.1.
#[repr(C)]
struct GroupRequest {
    interface: u32,
    group: libc::sockaddr_storage,
}

/// struct group_source_req of RFC 3678 §5.1.1.
#[repr(C)]
struct SourceRequest {
    interface: u32,
    group: libc::sockaddr_storage,
    source: libc::sockaddr_storage,
}

fn storage(address: IpAddr) -> libc::sockaddr_storage {
    let address = SockAddr::from(SocketAddr::new(address, 0));
    // SAFETY: an address of either family is shorter than the storage that it lies in.
    unsafe { *address.as_ptr().cast::<libc::sockaddr_storage>() }
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

    fn receive(socket: &KernelSocket, buffer: &mut [u8]) -> Brought {
        for _ in 0..1_000 {
            if let Some(brought) = socket.receive(buffer).unwrap() {
                return brought;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        panic!("nothing came");
    }

    #[test]
    fn says_where_a_datagram_came_from_and_went_to() {
        for host in ["127.0.0.1", "::1"] {
            let host: IpAddr = host.parse().unwrap();
            let any: IpAddr = if host.is_ipv4() {
                Ipv4Addr::UNSPECIFIED.into()
            } else {
                Ipv6Addr::UNSPECIFIED.into()
            };
            let options = SocketOptions::default();
            let one = KernelSocket::bind(SocketAddr::new(any, 0), 1, &options).unwrap();
            let other = KernelSocket::bind(SocketAddr::new(host, 0), 1, &options).unwrap();
            let port = one.local_address().unwrap().port();
            let mut buffer = vec![0; LONGEST];
            assert_eq!(one.receive(&mut buffer).unwrap(), None);
            other.send(b"hello", SocketAddr::new(host, port)).unwrap();
            let brought = receive(&one, &mut buffer);
            assert_eq!(&buffer[..brought.length], b"hello");
            assert_eq!(brought.source, other.local_address().unwrap());
            assert_eq!(brought.destination, Some(host));
        }
    }
}
