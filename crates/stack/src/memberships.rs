//! The kernel's group members, and the sockets that receive a group without being members.
//!
//! `/proc/net/igmp` and `igmp6` list the members per interface. The count includes sockets, once
//! each for any number of sources, and the kernel itself, which is in 224.0.0.1 and ff02::1 on
//! every interface.
//!
//! The lists do not show sockets that receive a group without being members: a socket bound to the
//! group or to no address receives what other sockets of the host have joined, while its
//! `IP_MULTICAST_ALL` (or `IPV6_MULTICAST_ALL`) is on. The option is on by default, except for IPv4
//! groups at an IPv6 socket, and only the owner can read it. [`Memberships::listeners`] returns all
//! sockets that may be affected. Packet sockets, which receive copies in any case, and multicast
//! routers are not visible in either list.
//!
//! Neither query requires a capability.

mod igmp_list;
mod listener;

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use hairpin_xdp::ForkGuardedFd;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use super::netlink::RequestSocket;
use listener::{Family, ListRequest};

/// The most bytes that the kernel returns of a list per read (a page).
const CHUNK: usize = 4_096;

/// The group members of a network namespace.
#[derive(Debug)]
pub(crate) struct Memberships {
    igmp: ForkGuardedFd,
    /// `None` if the kernel has no IPv6.
    igmp6: Option<ForkGuardedFd>,
    sockets: RequestSocket,
    list: Vec<u8>,
}

impl Memberships {
    /// Opens the lists of the calling thread's network namespace; later changes of the namespace
    /// have no effect.
    ///
    /// # Errors
    /// Those of opening a file and a socket.
    pub(crate) fn open() -> io::Result<Self> {
        let open = |path: &str| ForkGuardedFd::from_fn(|| File::open(path));
        let igmp = open("/proc/thread-self/net/igmp")?;
        let igmp6 = match open("/proc/thread-self/net/igmp6") {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let sockets = RequestSocket::open(NETLINK_SOCK_DIAG)?;
        Ok(Self { igmp, igmp6, sockets, list: Vec::new() })
    }

    /// Returns the number of members of a group on an interface, given by its index.
    ///
    /// A list longer than a page is read in parts. If other sockets join and leave meanwhile, a
    /// group may be missing; the next poll finds it.
    ///
    /// # Errors
    /// Those of reading a file.
    pub(crate) fn count(&mut self, interface: u32, group: IpAddr) -> io::Result<u32> {
        self.list.clear();
        match group {
            IpAddr::V4(group) => {
                read(&self.igmp, &mut self.list)?;
                Ok(igmp_list::members_v4(&self.list, interface, group))
            }
            IpAddr::V6(group) => {
                let Some(igmp6) = &self.igmp6 else { return Ok(0) };
                read(igmp6, &mut self.list)?;
                Ok(igmp_list::members_v6(&self.list, interface, group))
            }
        }
    }

    /// Returns the UDP sockets that may receive `group` on an interface without being members:
    /// those bound to the port, to the group or no address, and to that interface or none. Each is
    /// given by its cookie (`SO_COOKIE`).
    ///
    /// # Errors
    /// The kernel's: `NotFound` if it does not list sockets (`CONFIG_INET_UDP_DIAG`).
    pub(crate) fn listeners(&mut self, interface: u32, group: SocketAddr) -> io::Result<Vec<u64>> {
        let mut cookies = Vec::new();
        let families: &[_] =
            if group.is_ipv4() { &[Family::Inet, Family::Inet6] } else { &[Family::Inet6] };
        for &family in families {
            let request = ListRequest { family, port: group.port() };
            let parse = |kind, payload: &_| {
                listener::parse(kind, payload).filter(|it| it.receives(interface, group))
            };
            let found = self.sockets.dump(&request, parse)?;
            cookies.extend(found.into_iter().map(|listener| listener.cookie));
        }
        Ok(cookies)
    }
}

/// Reads a list from its start to its end.
fn read(file: &ForkGuardedFd, list: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let end = list.len();
        list.resize(end + CHUNK, 0);
        let (fd, part) = (file.as_raw_fd(), &mut list[end..]);
        // SAFETY: the kernel writes at most as many bytes as the part has.
        let length = unsafe { libc::pread(fd, part.as_mut_ptr().cast(), part.len(), end as i64) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        list.truncate(end + length);
        if length == 0 {
            return Ok(());
        }
    }
}
