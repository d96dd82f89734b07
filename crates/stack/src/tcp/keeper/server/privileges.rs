//! What the programs of a run may ask for.

use std::collections::HashSet;
use std::ffi::CString;
use std::net::{IpAddr, SocketAddr};

use crate::HostRules;
use crate::netlink::Netlink;

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
    pub(super) rules: Option<HostRules>,
}
impl Privileges {
    pub(super) fn new(interfaces: Vec<String>, users: Vec<u32>) -> Self {
        let (open, addresses) = (HashSet::new(), HashSet::new());
        Self { interfaces, open, users, addresses, netlink: None, rules: None }
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
        rules.obstacle(interface, local, connection).unwrap_or_else(|error| {
            Some(format!("the rules of the host cannot be read ({error}), so they may apply"))
        })
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
/// Returns the index of an interface.
fn index(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name ends with zero.
    Some(unsafe { libc::if_nametoindex(name.as_ptr()) }).filter(|index| *index != 0)
}
