//! The requests for UDP sockets that a process has passed.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use hairpin_wire::Protocol;
use hairpin_xdp::{Entry, KeptInterface};
use socket2::{SockAddr, SockRef, Socket};

use super::passed::{close_udp, is_full};
use super::privileges::Privileges;
use super::requests::{Answer, errno, failure, refused};
use crate::tcp::injector::{Injector, ends};
use crate::tcp::kernel_socket::KernelSocket;
use crate::tcp::transfer::Refusal;

/// The most sockets of a process that are held, so that one program leaves room for others.
pub(super) const HELD_MAX: usize = 4_096;

/// The sockets of each entry and interface, by the number that a process has given them. While they
/// are held, the kernel gives their ports to no other socket.
#[derive(Debug, Default)]
pub(super) struct Redirects(HashMap<(u32, Entry), HashMap<u32, OwnedFd>>);

impl Redirects {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Redirects what the socket receives otherwise, at an address of the run's interfaces, unless
    /// a rule of the host applies to it.
    pub(super) fn add(
        &mut self,
        interface: &KeptInterface,
        entry: Entry,
        user: u32,
        socket: OwnedFd,
        privileges: &mut Privileges,
    ) -> Answer {
        let is_full = self.0.values().map(HashMap::len).sum::<usize>() >= HELD_MAX;
        let checked = match is_full {
            true => Err(failure(&io::Error::from_raw_os_error(libc::EMFILE))),
            false => check(interface, &entry, &socket, privileges),
        };
        match checked {
            Ok(()) => match interface.redirect(&entry) {
                Ok(()) => {
                    let sockets = self.0.entry((interface.index(), entry)).or_default();
                    sockets.insert(user, socket);
                    Answer::default()
                }
                Err(error) => failure(&errno(error)),
            },
            Err(answer) => {
                close_udp(socket);
                answer
            }
        }
    }

    /// Releases the socket of a user. The entry ends with the last one; one that the keeper before
    /// this one has entered ends at once.
    pub(super) fn end(
        &mut self,
        interface: &KeptInterface,
        entry: Entry,
        user: u32,
    ) -> io::Result<()> {
        let key = (interface.index(), entry);
        if let Some(sockets) = self.0.get_mut(&key)
            && sockets.keys().any(|other| *other != user)
        {
            sockets.remove(&user);
            return Ok(());
        }
        // The sockets last, so that no other one has the port before.
        let removed = interface.remove(&entry).map(drop).map_err(errno);
        self.0.remove(&key);
        removed
    }

    /// Ends the entries whose sockets receive such packets no more: connect(2) to `AF_UNSPEC`
    /// gives a port up.
    pub(super) fn recheck<'i>(&mut self, kept: impl Fn(u32) -> Option<&'i KeptInterface>) {
        self.0.retain(|(index, entry), sockets| {
            sockets.retain(|_, socket| owns(socket, entry, *index));
            if sockets.is_empty()
                && let Some(interface) = kept(*index)
            {
                let _ = interface.remove(entry);
            }
            !sockets.is_empty()
        });
    }

    /// Ends all entries of an interface.
    pub(super) fn end_all(&mut self, interface: &KeptInterface) {
        let is_of = |(index, _): &(u32, Entry)| *index == interface.index();
        for ((_, entry), _) in self.0.extract_if(|key, _| is_of(key)) {
            let _ = interface.remove(&entry);
        }
    }
}

/// Checks that a socket receives what an entry redirects.
fn check(
    interface: &KeptInterface,
    entry: &Entry,
    socket: &OwnedFd,
    privileges: &mut Privileges,
) -> Result<(), Answer> {
    let refuse = |number| Err(failure(&io::Error::from_raw_os_error(number)));
    let local = SockRef::from(socket).local_addr().ok().and_then(|local| local.as_socket());
    match local {
        Some(local)
            if owns(socket, entry, interface.index())
                && privileges.has_namespace_of(socket.as_fd())
                && is_here(entry, privileges) =>
        {
            match privileges.obstacle(interface.index(), local.ip(), None) {
                Some(rule) => Err(refused(&Refusal::Rule(rule))),
                None if is_full(socket) => refuse(libc::EMFILE),
                None => Ok(()),
            }
        }
        _ => refuse(libc::EACCES),
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
