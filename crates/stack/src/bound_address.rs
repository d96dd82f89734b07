//! A socket's addresses and the filter entries that follow from them.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;

use hairpin_xdp::{Entry, EntryError, Protocol};

use crate::data_plane::DataPlane;
use crate::family::Family;
use crate::filter_entries::FilterEntries;

/// The local and remote address of a socket, and its filter entries.
#[derive(Debug)]
pub(crate) struct BoundAddress {
    pub(crate) local: SocketAddr,
    pub(crate) remote: Option<SocketAddr>,
    family: Family,
    /// The kernel's socket.
    socket: RawFd,
    entries: Vec<Entry>,
    /// `true` if the kernel receives the traffic, because all frames were dropped.
    given_up: bool,
}

impl BoundAddress {
    pub(crate) fn new(
        local: SocketAddr,
        remote: Option<SocketAddr>,
        family: Family,
        socket: RawFd,
    ) -> Self {
        Self { local, remote, family, socket, entries: Vec::new(), given_up: false }
    }

    /// Returns `true` if the filter redirects traffic to this local address for the socket.
    pub(crate) fn has_entry(&self, address: SocketAddr) -> bool {
        self.entries.iter().any(|entry| match *entry {
            Entry::Local { local, .. } | Entry::Flow { local, .. } => local == address,
            _ => false,
        })
    }

    /// Makes the kernel receive the traffic from now on.
    pub(crate) fn give_up(&mut self, data_plane: &DataPlane, entries: &mut FilterEntries) {
        self.given_up = true;
        self.remove_entries(data_plane, entries);
    }

    /// Returns `true` if the filter redirects traffic for the socket.
    pub(crate) fn receives_over_xdp(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Updates the filter entries to the socket's addresses and the interface's local addresses.
    ///
    /// An unspecified address gets an entry for each local address, because frames that the host
    /// forwards are not its own.
    ///
    /// # Errors
    /// The filter's; the entries are unchanged then.
    pub(crate) fn update_entries(
        &mut self,
        data_plane: &DataPlane,
        entries: &mut FilterEntries,
        addresses: &[IpAddr],
    ) -> Result<(), EntryError> {
        let wanted = self.wanted(addresses);
        let new: Vec<_> = wanted.iter().filter(|entry| !self.entries.contains(entry)).collect();
        for (at, &&entry) in new.iter().enumerate() {
            if let Err(error) = entries.add(data_plane, entry, self.socket) {
                for entry in &new[..at] {
                    entries.remove(data_plane, entry, self.socket);
                }
                return Err(error);
            }
        }
        for entry in self.entries.iter().filter(|entry| !wanted.contains(entry)) {
            entries.remove(data_plane, entry, self.socket);
        }
        self.entries = wanted;
        Ok(())
    }

    /// Removes all entries, so that the kernel receives the traffic.
    pub(crate) fn remove_entries(&mut self, data_plane: &DataPlane, entries: &mut FilterEntries) {
        for entry in self.entries.drain(..) {
            entries.remove(data_plane, &entry, self.socket);
        }
    }

    fn wanted(&self, addresses: &[IpAddr]) -> Vec<Entry> {
        let (protocol, vlan) = (Protocol::Udp, None);
        let Self { local, remote, family, given_up, .. } = *self;
        if given_up {
            return Vec::new();
        }
        if let Some(remote) = remote {
            let local_route = addresses.contains(&local.ip()) && !is_multicast(remote.ip());
            return local_route
                .then_some(Entry::Flow { protocol, vlan, local, remote })
                .into_iter()
                .collect();
        }
        let is_covered = |address: &&IpAddr| {
            let same_family = local.is_ipv4() == address.is_ipv4() || family == Family::DualStack;
            local.ip() == **address || local.ip().is_unspecified() && same_family
        };
        let entry = |address: &IpAddr| {
            let local = SocketAddr::new(*address, local.port());
            Entry::Local { protocol, vlan, local }
        };
        addresses.iter().filter(is_covered).map(entry).collect()
    }
}

pub(crate) fn is_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_multicast(),
        IpAddr::V6(address) => address.is_multicast(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(local: &str, remote: Option<&str>) -> Vec<String> {
        wanted_by(local, remote, true)
    }

    fn wanted_by(local: &str, remote: Option<&str>, only_v6: bool) -> Vec<String> {
        let addresses = ["10.0.0.1", "10.0.0.9", "fd00::1"].map(|address| address.parse().unwrap());
        let remote = remote.map(|remote| remote.parse().unwrap());
        let local: SocketAddr = local.parse().unwrap();
        let bound = BoundAddress::new(local, remote, Family::new(local, only_v6), -1);
        let entry = |entry: &Entry| match entry {
            Entry::Local { local, .. } => local.to_string(),
            Entry::Flow { local, remote, .. } => format!("{local} {remote}"),
            other => panic!("{other:?}"),
        };
        bound.wanted(&addresses).iter().map(entry).collect()
    }

    #[test]
    fn entries_cover_the_bound_addresses_only() {
        assert_eq!(wanted("10.0.0.9:7", None), ["10.0.0.9:7"]);
        assert_eq!(wanted("0.0.0.0:7", None), ["10.0.0.1:7", "10.0.0.9:7"]);
        assert_eq!(wanted("[::]:7", None), ["[fd00::1]:7"]);
        let all = ["10.0.0.1:7", "10.0.0.9:7", "[fd00::1]:7"];
        assert_eq!(wanted_by("[::]:7", None, false), all);
        assert!(wanted("127.0.0.1:7", None).is_empty());
        assert!(wanted("239.0.0.1:7", None).is_empty());
        assert_eq!(wanted("10.0.0.1:7", Some("10.0.0.2:8")), ["10.0.0.1:7 10.0.0.2:8"]);
        assert!(wanted("127.0.0.1:7", Some("127.0.0.1:8")).is_empty());
        assert!(wanted("10.0.0.1:7", Some("239.0.0.1:8")).is_empty());
    }
}
