//! The requests for UDP sockets that a process has passed.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use hairpin_wire::Protocol;
use hairpin_xdp::{Entry, KeptInterface};
use socket2::{SockAddr, SockRef, Socket};

use super::passed::close_udp;
use super::privileges::Privileges;
use super::requests::{Answer, done, errno, failure, refused};
use crate::tcp::injector::{Injector, ends};
use crate::tcp::kernel_socket::KernelSocket;
use crate::tcp::transfer::Refusal;

/// Redirects what the socket receives otherwise, at an address of the run's interfaces, unless a
/// rule of the host applies to it.
pub(super) fn redirect(
    interface: &KeptInterface,
    entry: &Entry,
    socket: OwnedFd,
    privileges: &mut Privileges,
) -> Answer {
    let is_own = owns(&socket, entry, interface.index())
        && privileges.has_namespace_of(socket.as_fd())
        && is_here(entry, privileges);
    let local = SockRef::from(&socket).local_addr().ok().and_then(|local| local.as_socket());
    close_udp(socket);
    match local {
        Some(local) if is_own => match privileges.obstacle(interface.index(), local.ip(), None) {
            Some(rule) => refused(&Refusal::Rule(rule)),
            None => done(interface.redirect(entry).map_err(errno)),
        },
        _ => failure(&io::Error::from_raw_os_error(libc::EACCES)),
    }
}

/// Returns `true` if an entry is for a group or for an address of the run's interfaces. A host that
/// forwards also receives frames for others, whose addresses any user can bind (`IP_FREEBIND`).
fn is_here(entry: &Entry, privileges: &mut Privileges) -> bool {
    match entry {
        Entry::Flow { local, .. } | Entry::Local { local, .. } => {
            privileges.has_address(local.ip())
        }
        _ => true,
    }
}

/// Returns `true` if the kernel delivers what arrives on the interface and matches the entry to
/// this UDP socket.
fn owns(socket: &OwnedFd, entry: &Entry, interface: u32) -> bool {
    let bound = KernelSocket::new(socket.as_fd()).bound_interface();
    if !bound.is_ok_and(|bound| bound == 0 || bound.cast_unsigned() == interface) {
        return false;
    }
    // What a connected socket receives has one source.
    let anyone = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0);
    match *entry {
        Entry::Flow { local, remote, .. } => {
            SockRef::from(socket).peer_addr().is_ok()
                && receives(socket, plain(remote), plain(local))
        }
        Entry::Local { local, .. } => receives(socket, anyone, plain(local)),
        Entry::Group { group, port: Some(port), .. } => {
            receives(socket, anyone, plain(SocketAddr::new(group, port)))
                && is_member(socket, group, interface)
        }
        _ => false,
    }
}

/// Returns `true` if the socket has joined a group on the interface: only then it has a filter of
/// sources there (`MCAST_MSFILTER`, RFC 3678).
fn is_member(socket: &OwnedFd, group: IpAddr, interface: u32) -> bool {
    /// `struct group_filter` without sources.
    #[repr(C)]
    struct Filter {
        interface: u32,
        group: libc::sockaddr_storage,
        mode: u32,
        sources: u32,
    }
    const MCAST_MSFILTER: libc::c_int = 48;
    let level = if group.is_ipv4() { libc::IPPROTO_IP } else { libc::IPPROTO_IPV6 };
    let address = SockAddr::from(SocketAddr::new(group, 0));
    // SAFETY: the storage holds an address of the length that its family has.
    let group = unsafe { address.as_ptr().cast::<libc::sockaddr_storage>().read() };
    let mut filter = Filter { interface, group, mode: 0, sources: 0 };
    let mut length = size_of::<Filter>() as libc::socklen_t;
    let at = (&raw mut filter).cast();
    // SAFETY: the kernel writes at most `length` bytes to the structure, which outlives the call.
    unsafe { libc::getsockopt(socket.as_raw_fd(), level, MCAST_MSFILTER, at, &raw mut length) == 0 }
}

/// Presents a datagram to the kernel if it is one for this UDP socket, from another host.
pub(super) fn inject(
    packet: &[u8],
    socket: Option<OwnedFd>,
    privileges: &mut Privileges,
    injector: &Injector,
) {
    let Some(socket) = socket else { return };
    if let Some([source, destination]) = ends(packet, Protocol::UDP)
        && receives(&socket, source, destination)
        && privileges.has_namespace_of(socket.as_fd())
        && privileges.has_address(destination.ip())
        && !privileges.has_address(source.ip())
        && !source.ip().is_loopback()
        && !source.ip().is_unspecified()
        && !source.ip().is_multicast()
    {
        let _ = injector.inject_udp(socket.as_fd(), packet, destination.ip());
    }
    close_udp(socket);
}

/// Returns `true` if the socket is a UDP socket that receives such datagrams.
fn receives(socket: &OwnedFd, source: SocketAddr, destination: SocketAddr) -> bool {
    let reference = SockRef::from(socket);
    let end = |address: io::Result<SockAddr>| address.ok()?.as_socket().map(plain);
    let Some(local) = end(reference.local_addr()) else { return false };
    reference.protocol().is_ok_and(|protocol| protocol == Some(socket2::Protocol::UDP))
        && local.port() == destination.port()
        && (receives_all(&reference, local.ip(), destination.ip())
            || local.ip() == destination.ip())
        && end(reference.peer_addr()).is_none_or(|peer| peer == source)
}

/// Returns `true` if a socket is bound to all addresses of the family of `destination`. Those of
/// IPv6 include IPv4 unless the socket has `IPV6_V6ONLY`; `0.0.0.0` written as IPv6 is IPv4 only.
fn receives_all(socket: &Socket, local: IpAddr, destination: IpAddr) -> bool {
    local.is_unspecified()
        && (local.is_ipv4() == destination.is_ipv4()
            || local.is_ipv6() && socket.only_v6().is_ok_and(|only| !only))
}

/// Returns an address as packets have it.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
