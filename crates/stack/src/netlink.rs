//! The kernel's links, addresses, routes and neighbors of one network namespace, over rtnetlink(7).
//!
//! There are two sockets. One sends requests: the kernel answers before a request returns, so no
//! call waits. The other receives notifications: [`Netlink::changes`] drains it, and its descriptor
//! is readable when something has changed. So a flood of notifications never loses a reply.
//!
//! Reading requires no capability; only [`Netlink::use_neighbor`] requires `CAP_NET_ADMIN`.
//! Messages come from the kernel and are still validated for length.

mod address;
mod attributes;
mod change;
mod link;
mod message;
mod neighbor;
mod request_socket;
mod route;
mod socket;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::NLM_F_CREATE;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;

pub(crate) use address::InterfaceAddress;
pub use attributes::attributes;
pub(crate) use change::Change;
pub(crate) use link::Link;
pub(crate) use neighbor::{Neighbor, NeighborState};
pub use request_socket::RequestSocket;
pub(crate) use route::{Route, RouteKind};

use change::Changes;

/// The kernel's view of the network.
#[derive(Debug)]
pub(crate) struct Netlink {
    request_socket: RequestSocket,
    changes: Changes,
}

impl Netlink {
    /// Opens both sockets in the calling thread's network namespace; later changes of the namespace
    /// have no effect.
    ///
    /// Every change from now on is reported by [`changes`](Self::changes), so open first and read
    /// afterwards. Both sockets are close-on-exec, not inherited by a forked child, and
    /// non-blocking.
    ///
    /// # Errors
    /// Those of creating a socket; a kernel before Linux 5.3, which has no notification group for
    /// nexthops.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self { request_socket: open_requests()?, changes: Changes::subscribe()? })
    }

    /// Returns an interface by its index.
    ///
    /// # Errors
    /// `ENODEV` if it does not exist.
    pub(crate) fn link(&mut self, interface: u32) -> io::Result<Link> {
        self.request_socket.request(link::request(interface), Link::parse)
    }

    /// Returns the usable addresses of an interface.
    ///
    /// An IPv6 address during or after failed duplicate address detection is not usable. When it
    /// becomes usable, a change is reported.
    ///
    /// # Errors
    /// `ENODEV` if the interface does not exist; `ResourceBusy` if the addresses change faster than
    /// they can be read.
    pub(crate) fn addresses(&mut self, interface: u32) -> io::Result<Vec<InterfaceAddress>> {
        let parse = |kind, payload: &_| InterfaceAddress::parse(kind, payload, interface);
        self.request_socket.dump(&address::request(interface), parse)
    }

    /// Returns the usable addresses of all interfaces.
    ///
    /// # Errors
    /// As for [`addresses`](Self::addresses).
    pub(crate) fn host_addresses(&mut self) -> io::Result<Vec<IpAddr>> {
        let parse = |kind, payload: &[u8]| {
            let interface = address::interface(payload)?;
            InterfaceAddress::parse(kind, payload, interface).map(|found| found.address)
        };
        self.request_socket.dump(&address::request(0), parse)
    }

    /// Returns the kernel's route to `destination`, including policy rules and learned MTUs.
    ///
    /// `source` and `interface` restrict the route if given. Marks, types of service and ports are
    /// not considered: of several paths, it is the one for packets without ports.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable`, also if an IPv4 `source` is not an address of this host;
    /// `HostUnreachable`; `PermissionDenied` for a prohibit route; `InvalidInput` for a blackhole
    /// route. `AddrNotAvailable` if there is no source address.
    pub(crate) fn route(
        &mut self,
        destination: IpAddr,
        source: Option<IpAddr>,
        interface: Option<u32>,
    ) -> io::Result<Route> {
        find_route(&mut self.request_socket, destination, source, interface)
    }

    /// Returns the Ethernet address of a neighbor, if the kernel has one.
    ///
    /// # Errors
    /// The kernel's, for example if the interface does not exist.
    pub(crate) fn neighbor(
        &mut self,
        interface: u32,
        address: IpAddr,
    ) -> io::Result<Option<Neighbor>> {
        match self.request_socket.request(neighbor::request(interface, address), neighbor::parse) {
            Ok(entry) => Ok(entry.neighbor),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks the kernel to resolve or confirm a neighbor, as if a packet had been sent to it. The
    /// result is reported as a change. A permanent neighbor entry is left alone, because the kernel
    /// would lose its permanent state.
    ///
    /// # Errors
    /// `PermissionDenied` unless both the opener of this socket and the calling thread have
    /// `CAP_NET_ADMIN`; the kernel's.
    pub(crate) fn use_neighbor(&mut self, interface: u32, address: IpAddr) -> io::Result<()> {
        let known = self.neighbor(interface, address)?.map(|neighbor| neighbor.state);
        if matches!(known, Some(NeighborState::Permanent | NeighborState::NoArp)) {
            return Ok(());
        }
        let used = RouteNetlinkMessage::NewNeighbour(neighbor::used_message(interface, address));
        self.request_socket.command(used, NLM_F_CREATE)
    }

    /// Reports the changes since the last call. It never waits. Under a flood of changes it returns
    /// early, and the descriptor stays readable.
    ///
    /// # Errors
    /// The kernel's, of the socket.
    pub(crate) fn changes(&mut self, report: &mut impl FnMut(Change)) -> io::Result<()> {
        self.changes.drain(report)
    }
}

/// Opens a socket for requests only, in the calling thread's network namespace.
///
/// # Errors
/// Those of creating a socket; a kernel before Linux 4.20.
pub(crate) fn open_requests() -> io::Result<RequestSocket> {
    let requests = RequestSocket::open(NETLINK_ROUTE)?;
    requests.enable_strict_checking()?;
    Ok(requests)
}

/// Returns the kernel's route; see [`Netlink::route`].
///
/// # Errors
/// As there.
pub(crate) fn find_route(
    requests: &mut RequestSocket,
    destination: IpAddr,
    source: Option<IpAddr>,
    interface: Option<u32>,
) -> io::Result<Route> {
    let request = route::request(destination, source, interface);
    let found = requests.request(request, route::Found::parse)?;
    found.with_source(source).ok_or(io::ErrorKind::AddrNotAvailable.into())
}

/// Readable when there are changes.
impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.changes.as_fd()
    }
}
