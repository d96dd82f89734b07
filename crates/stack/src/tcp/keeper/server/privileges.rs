//! What the programs of a run may ask for.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use socket2::{Domain, Socket, Type};

use super::super::vault::Vault;
use super::requests::HeldInterface;
use crate::HostRules;
use crate::netlink::Netlink;

/// The failures in a row to read the rules of the host that end no flow: the queue of a socket may
/// be full for a moment.
const UNREAD_MAX: u32 = 3;

/// What programs may ask for.
#[derive(Debug)]
pub(super) struct Privileges {
    /// The names of the run's interfaces, and of those that a process has opened.
    pub(super) interfaces: Vec<String>,
    pub(super) open: HashSet<String>,
    /// The users whose processes are served.
    pub(super) users: Vec<u32>,
    /// The last known addresses of the run's interfaces.
    addresses: HashSet<IpAddr>,
    /// Opened for the first request.
    netlink: Option<Netlink>,
    /// Opened for the first request.
    rules: Option<HostRules>,
    /// The failures in a row to read them.
    unread: u32,
    /// The interfaces of `open`, for the process that replaces this one.
    pub(super) vault: Vault,
    /// The number of the network namespace.
    namespace: Option<u64>,
}

impl Privileges {
    /// Returns the privileges of a run in the network namespace of the calling thread.
    pub(super) fn new(interfaces: Vec<String>, users: Vec<u32>, vault: Vault) -> Self {
        let (open, addresses) = (HashSet::new(), HashSet::new());
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).ok();
        let namespace = socket.and_then(|socket| namespace(socket.as_fd()));
        let (netlink, rules, unread) = (None, None, 0);
        Self { interfaces, open, users, addresses, netlink, rules, unread, vault, namespace }
    }

    /// Returns `true` if a socket is one of this network namespace: in a namespace of its own, a
    /// user may bind any address and port.
    pub(super) fn has_namespace_of(&self, socket: BorrowedFd<'_>) -> bool {
        self.namespace.is_some() && self.namespace == namespace(socket)
    }

    /// Forgets interfaces that a process uses no more.
    pub(super) fn close(&mut self, interfaces: &HashMap<String, HeldInterface>) {
        interfaces.keys().for_each(|name| self.close_one(name));
    }

    pub(super) fn close_one(&mut self, interface: &str) {
        if self.open.remove(interface) {
            self.vault.remove(interface);
        }
    }

    /// Returns `true` if an interface of the run has this address.
    pub(super) fn has_address(&mut self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if self.addresses.contains(&address) {
            return true;
        }
        let interfaces: Vec<_> = self.interfaces.iter().filter_map(|name| index(name)).collect();
        let Some(netlink) = self.netlink() else { return false };
        let mut found = HashSet::new();
        for interface in interfaces {
            let addresses = netlink.addresses(interface).unwrap_or_default();
            found.extend(addresses.iter().map(|found| found.address.to_canonical()));
        }
        self.addresses = found;
        self.addresses.contains(&address)
    }

    /// Returns the rule that a flow of an interface would skip, in words. Rules that cannot be read
    /// are an obstacle too.
    pub(super) fn obstacle(
        &mut self,
        interface: u32,
        local: IpAddr,
        connection: Option<[SocketAddr; 2]>,
    ) -> Option<String> {
        let rules = self.rules.get_or_insert_with(HostRules::open);
        rules.obstacle(interface, local, connection).unwrap_or_else(|error| Some(unread(&error)))
    }

    /// Returns the families that rules of the host restrict and translate, and the first rule, as
    /// [`HostRules::families`]: all families if the rules cannot be read again and again.
    pub(super) fn families(&mut self, interface: u32) -> io::Result<([u32; 2], Option<String>)> {
        let found = self.rules.get_or_insert_with(HostRules::open).families(interface);
        self.unread = if found.is_ok() { 0 } else { self.unread + 1 };
        match found {
            Err(error) if self.unread > UNREAD_MAX => Ok(([3, 3], Some(unread(&error)))),
            found => found,
        }
    }

    fn netlink(&mut self) -> Option<&mut Netlink> {
        if self.netlink.is_none() {
            self.netlink = Netlink::open().ok();
        }
        self.netlink.as_mut()
    }

    /// Makes the kernel confirm a neighbor on an interface of the run.
    pub(super) fn use_neighbor(&mut self, interface: u32, address: &str) {
        let Ok(address) = address.parse() else { return };
        let is_of_run = |name: &String| index(name) == Some(interface);
        if self.interfaces.iter().any(is_of_run)
            && let Some(netlink) = self.netlink()
        {
            // If this fails, the next datagram through the kernel resolves it.
            let _ = netlink.use_neighbor(interface, address);
        }
    }
}

fn unread(error: &io::Error) -> String {
    format!("the rules of the host cannot be read ({error}), so they may apply")
}

/// Returns the number of a socket's network namespace (`SO_NETNS_COOKIE`, Linux 5.14).
fn namespace(socket: BorrowedFd<'_>) -> Option<u64> {
    const SO_NETNS_COOKIE: libc::c_int = 71;
    let (mut cookie, mut length) = (0_u64, size_of::<u64>() as libc::socklen_t);
    let (level, at) = (libc::SOL_SOCKET, (&raw mut cookie).cast());
    // SAFETY: the kernel writes at most `length` bytes to the number, which outlives the call.
    let read = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, SO_NETNS_COOKIE, at, &raw mut length)
    };
    (read == 0).then_some(cookie)
}

/// Returns the index of an interface.
fn index(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name ends with zero.
    Some(unsafe { libc::if_nametoindex(name.as_ptr()) }).filter(|index| *index != 0)
}

#[cfg(test)]
mod tests {
    use hairpin_testbed::become_ordinary_user;

    use super::*;

    #[test]
    #[ignore = "needs root"]
    fn rules_that_cannot_be_read_again_and_again_apply() {
        let found = std::thread::spawn(|| {
            become_ordinary_user(&[]).unwrap();
            let mut privileges = Privileges::new(Vec::new(), Vec::new(), Vault::new().unwrap());
            let mut read = || privileges.families(1).map_err(|error| error.kind());
            [(); UNREAD_MAX as usize + 1].map(|()| read())
        });
        let found = found.join().unwrap();
        let (last, first) = found.split_last().unwrap();
        assert!(first.iter().all(|it| *it == Err(io::ErrorKind::PermissionDenied)), "{found:?}");
        let (families, rule) = last.as_ref().unwrap();
        assert_eq!(*families, [3, 3]);
        assert!(rule.as_ref().unwrap().contains("cannot be read"), "{rule:?}");
    }
}
