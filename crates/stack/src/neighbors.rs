//! The kernel's neighbors of one interface, for users of raw frames.

use std::fmt;
use std::io;
use std::net::IpAddr;

use hairpin_xdp::Device;

use crate::StackError;
use crate::destination::is_local_to_link;
use crate::netlink::{Netlink, RouteKind};

/// Reads the Ethernet addresses of hosts on the interface's network segment from the kernel's
/// neighbor table (ARP, RFC 826; neighbor discovery, RFC 4861).
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut neighbors = hairpin_stack::Neighbors::open("eth1")?;
/// let peer = "10.0.0.2".parse()?;
/// neighbors.check_on_link(peer)?;
/// // `None` until the kernel has resolved the address.
/// let mac: Option<[u8; 6]> = neighbors.mac(peer)?;
/// # Ok(())
/// # }
/// ```
pub struct Neighbors {
    netlink: Netlink,
    name: String,
    interface: u32,
}

impl Neighbors {
    /// Opens the neighbor table of an interface by name.
    ///
    /// # Errors
    /// See [`StackError`].
    pub fn open(name: &str) -> Result<Self, StackError> {
        let device = Device::from_name(name).map_err(hairpin_xdp::InterfaceError::from)?;
        let netlink = Netlink::open().map_err(StackError::Netlink)?;
        Ok(Self { netlink, name: name.to_string(), interface: device.index })
    }

    /// Returns `true` if the interface has this address.
    ///
    /// # Errors
    /// The kernel's.
    pub fn has_address(&mut self, address: IpAddr) -> io::Result<bool> {
        let addresses = self.netlink.addresses(self.interface)?;
        Ok(addresses.iter().any(|entry| entry.address == address))
    }

    /// Checks that an address is reached over the interface without a router.
    ///
    /// # Errors
    /// `NetworkUnreachable` with the reason; the kernel's.
    pub fn check_on_link(&mut self, address: IpAddr) -> io::Result<()> {
        // With an interface, IPv4 takes any address without a route for one on the link.
        let interface = is_local_to_link(address).then_some(self.interface);
        let route = self.netlink.route(address, None, interface)?;
        let is_on_link = route.gateway.is_none() && route.interface == self.interface;
        if is_on_link && route.kind == RouteKind::Unicast {
            return Ok(());
        }
        let reason = format!("{address} is not on the network segment of {}", self.name);
        Err(io::Error::new(io::ErrorKind::NetworkUnreachable, reason))
    }

    /// Returns the Ethernet address of a host, or `None` while it is not resolved; the call then
    /// asks the kernel to resolve it. Makes system calls.
    ///
    /// # Errors
    /// The kernel's; `PermissionDenied` without CAP_NET_ADMIN if the address is not resolved.
    pub fn mac(&mut self, address: IpAddr) -> io::Result<Option<[u8; 6]>> {
        let neighbor = self.netlink.neighbor(self.interface, address)?;
        // Also for a resolved one, so that the kernel confirms its entry.
        let used = self.netlink.use_neighbor(self.interface, address);
        match neighbor {
            Some(neighbor) => Ok(Some(neighbor.mac)),
            None => used.map(|()| None),
        }
    }
}

impl fmt::Debug for Neighbors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Neighbors").field("interface", &self.name).finish_non_exhaustive()
    }
}
