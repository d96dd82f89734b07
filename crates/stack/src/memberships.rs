//! How many members a group has in a network namespace, and who gets what is sent to it.
//!
//! The kernel lists the members of each interface in `/proc/net/igmp` and `igmp6`. Everybody
//! counts who has joined: sockets, each once however many sources it wants, and the kernel
//! itself, which is in 224.0.0.1 and ff02::1 on every interface.
//!
//! What the lists do not tell: a socket need not be a member. One that is bound to the group, or to
//! no address at all, gets what others of this host have joined while its `IP_MULTICAST_ALL` (or
//! `IPV6_MULTICAST_ALL`) is on. So it is at first, but for IPv4 groups at an IPv6 socket; and what
//! it is now, nobody but its owner sees. [`Memberships::listeners`] names all that may be such.
//! Neither sees packet sockets, which get their copies all the same, nor who forwards groups to
//! other networks.
//!
//! Both take no capability.

mod list;
mod listener;

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::FileExt;

use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use super::netlink::Conversation;
use listener::{Family, Question};

/// The kernel gives at most so much of a list at once (a page).
const CHUNK: usize = 4_096;

/// The groups' members on one host.
#[derive(Debug)]
pub(crate) struct Memberships {
    igmp: File,
    /// Nothing where the kernel has no IPv6.
    igmp6: Option<File>,
    sockets: Conversation,
    list: Vec<u8>,
}

impl Memberships {
    /// Reads the lists of the network namespace of the calling thread, now and wherever it goes.
    ///
    /// # Errors
    /// Those of opening a file and a socket.
    pub(crate) fn open() -> io::Result<Self> {
        let igmp = File::open("/proc/thread-self/net/igmp")?;
        let igmp6 = match File::open("/proc/thread-self/net/igmp6") {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let sockets = Conversation::open(NETLINK_SOCK_DIAG)?;
        Ok(Self { igmp, igmp6, sockets, list: Vec::new() })
    }

    /// How many members a group has on an interface, which is named by its index.
    ///
    /// A list of more than a page is read piece by piece. If others join and leave meanwhile, a
    /// group may be missing from it; the next look finds it.
    ///
    /// # Errors
    /// Those of reading a file.
    pub(crate) fn count(&mut self, interface: u32, group: IpAddr) -> io::Result<u32> {
        self.list.clear();
        match group {
            IpAddr::V4(group) => {
                read(&self.igmp, &mut self.list)?;
                Ok(list::members_v4(&self.list, interface, group))
            }
            IpAddr::V6(group) => {
                let Some(igmp6) = &self.igmp6 else { return Ok(0) };
                read(igmp6, &mut self.list)?;
                Ok(list::members_v6(&self.list, interface, group))
            }
        }
    }

    /// The UDP sockets that get what comes to `group` by an interface, as far as it is theirs to
    /// be a member or not: those bound to the port and to the group or no address, and to that
    /// interface or none. Each by its cookie (`SO_COOKIE`).
    ///
    /// # Errors
    /// The kernel's: `NotFound` if it does not list sockets (`CONFIG_INET_UDP_DIAG`).
    pub(crate) fn listeners(&mut self, interface: u32, group: SocketAddr) -> io::Result<Vec<u64>> {
        let mut cookies = Vec::new();
        let families: &[_] =
            if group.is_ipv4() { &[Family::Inet, Family::Inet6] } else { &[Family::Inet6] };
        for &family in families {
            let question = Question { family, port: group.port() };
            let parse = |kind, payload: &_| {
                listener::parse(kind, payload).filter(|it| it.hears(interface, group))
            };
            let found = self.sockets.dump(&question, parse)?;
            cookies.extend(found.into_iter().map(|listener| listener.cookie));
        }
        Ok(cookies)
    }
}

/// Reads a whole list from its beginning.
fn read(file: &File, list: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let end = list.len();
        list.resize(end + CHUNK, 0);
        let length = file.read_at(&mut list[end..], end as u64)?;
        list.truncate(end + length);
        if length == 0 {
            return Ok(());
        }
    }
}
