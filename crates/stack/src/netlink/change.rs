//! Changes, as the kernel's notifications report them.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_ROUTE;

use super::message::{Message, messages};
use super::socket::Socket;
use super::{address, link, neighbor};

/// The size of the receive buffer. The longest notification is that of a link, a few kilobytes; a
/// longer one counts as an overrun.
const DATAGRAM: usize = 32 * 1_024;
/// The most datagrams read per call.
const BUDGET: usize = 1_024;

/// The notification groups of rtnetlink(7). Rules and nexthops affect routing as routes do.
const GROUPS: [u32; 9] = [
    libc::RTNLGRP_LINK,
    libc::RTNLGRP_NEIGH,
    libc::RTNLGRP_IPV4_IFADDR,
    libc::RTNLGRP_IPV6_IFADDR,
    libc::RTNLGRP_IPV4_ROUTE,
    libc::RTNLGRP_IPV6_ROUTE,
    libc::RTNLGRP_IPV4_RULE,
    libc::RTNLGRP_IPV6_RULE,
    libc::RTNLGRP_NEXTHOP,
];

/// `RTM_NEWNEXTHOP` and `RTM_DELNEXTHOP` of linux/rtnetlink.h.
const NEW_NEXTHOP: u16 = 104;
const DELETED_NEXTHOP: u16 = 105;

/// A change in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// An interface was added, removed or changed.
    Link(u32),
    /// The addresses of an interface changed.
    Addresses(u32),
    /// A route, rule or nexthop changed, so any path may have changed. A learned path MTU is not
    /// reported.
    Routes,
    /// A neighbor changed: its Ethernet address, if the kernel has one.
    Neighbor { interface: u32, address: IpAddr, mac: Option<[u8; 6]> },
    /// Notifications were lost because the socket was full. Everything must be read again.
    Overrun,
}

/// The notification socket.
#[derive(Debug)]
pub(super) struct Changes {
    socket: Socket,
    datagram: Vec<u8>,
    /// `true` after a loss, until the kernel sends new notifications.
    is_overrun: bool,
}

impl Changes {
    /// Subscribes in the calling thread's network namespace.
    pub(super) fn subscribe() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, 0))?;
        socket.connect(&SocketAddr::new(0, 0))?;
        socket.set_non_blocking(true)?;
        GROUPS.into_iter().try_for_each(|group| socket.add_membership(group))?;
        Ok(Self { socket, datagram: Vec::with_capacity(DATAGRAM), is_overrun: false })
    }

    /// Reports the pending changes.
    ///
    /// After a loss the kernel sends nothing more until the pending notifications are read. So the
    /// overrun is reported after these; otherwise changes during the following read of everything
    /// would be lost.
    pub(super) fn drain(&mut self, report: &mut impl FnMut(Change)) -> io::Result<()> {
        for _ in 0..BUDGET {
            match self.receive() {
                Ok(true) if !self.is_overrun => {
                    messages(&self.datagram).filter_map(change).for_each(&mut *report);
                }
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => self.is_overrun = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if std::mem::take(&mut self.is_overrun) {
                        report(Change::Overrun);
                    }
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        if self.is_overrun {
            report(Change::Overrun);
        }
        Ok(())
    }

    /// Receives a datagram. Returns `true` if the kernel sent it; privileged processes can also
    /// send to a group.
    fn receive(&mut self) -> io::Result<bool> {
        self.datagram.clear();
        let (length, sender) = self.socket.recv_from(&mut self.datagram, libc::MSG_TRUNC)?;
        let from_kernel = sender.port_number() == 0;
        self.is_overrun |= from_kernel && length > self.datagram.len();
        Ok(from_kernel)
    }
}

impl AsFd for Changes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Converts a notification. A malformed one of a known type counts as lost.
pub(crate) fn change(message: Message<'_>) -> Option<Change> {
    let payload = message.payload;
    let change = match message.kind {
        libc::RTM_NEWLINK | libc::RTM_DELLINK => link::index(payload).map(Change::Link),
        libc::RTM_NEWADDR | libc::RTM_DELADDR => address::interface(payload).map(Change::Addresses),
        libc::RTM_NEWROUTE | libc::RTM_DELROUTE | libc::RTM_NEWRULE | libc::RTM_DELRULE => {
            Some(Change::Routes)
        }
        NEW_NEXTHOP | DELETED_NEXTHOP => Some(Change::Routes),
        libc::RTM_NEWNEIGH | libc::RTM_DELNEIGH if neighbor::is_ignored(payload) => {
            return None;
        }
        libc::RTM_NEWNEIGH | libc::RTM_DELNEIGH => {
            neighbor::parse(message.kind, payload).map(Change::from_entry)
        }
        _ => return None,
    };
    Some(change.unwrap_or(Change::Overrun))
}

impl Change {
    fn from_entry(entry: neighbor::Entry) -> Self {
        let neighbor::Entry { interface, address, neighbor } = entry;
        Self::Neighbor { interface, address, mac: neighbor.map(|neighbor| neighbor.mac) }
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload};
    use netlink_packet_route::neighbour::{
        NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
    };
    use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

    use super::*;

    fn reported(message: &NeighbourMessage) -> Option<Change> {
        reported_as(RouteNetlinkMessage::NewNeighbour(message.clone()))
    }

    fn reported_as(message: RouteNetlinkMessage) -> Option<Change> {
        let payload = NetlinkPayload::from(message);
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        messages(&bytes).next().and_then(change)
    }

    fn neighbor() -> NeighbourMessage {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.ifindex = 4;
        message.header.state = NeighbourState::Reachable;
        message.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::Inet([10, 0, 0, 1].into())),
            NeighbourAttribute::LinkLayerAddress(vec![2, 0, 0, 0, 0, 1]),
        ];
        message
    }

    #[test]
    fn neighbor_has_an_address_while_it_is_usable() {
        let mut message = neighbor();
        let mut mac = |state| {
            message.header.state = state;
            match reported(&message) {
                Some(Change::Neighbor { mac, .. }) => mac.is_some(),
                other => panic!("{other:?}"),
            }
        };
        use NeighbourState::{
            Delay, Failed, Incomplete, Noarp, None, Permanent, Probe, Reachable, Stale,
        };
        let has = [Permanent, Noarp, Reachable, Stale, Delay, Probe].map(&mut mac);
        assert_eq!(has, [true; 6]);
        assert_eq!([None, Incomplete, Failed].map(&mut mac), [false; 3]);
    }

    /// The kernel sends it with its last state and address.
    #[test]
    fn deleted_neighbor_has_no_address() {
        let deleted = RouteNetlinkMessage::DelNeighbour(neighbor());
        let address = [10, 0, 0, 1].into();
        assert_eq!(
            reported_as(deleted),
            Some(Change::Neighbor { interface: 4, address, mac: None })
        );
    }

    #[test]
    fn bridge_and_proxy_neighbors_are_ignored() {
        let mut bridge = neighbor();
        bridge.header.family = AddressFamily::Bridge;
        assert_eq!(reported(&bridge), None);
        let mut proxy = neighbor();
        proxy.header.flags = NeighbourFlags::Proxy;
        assert_eq!(reported(&proxy), None);
    }

    #[test]
    fn malformed_notifications_count_as_lost() {
        let mut nameless = neighbor();
        nameless.attributes.remove(0);
        assert_eq!(reported(&nameless), Some(Change::Overrun));
        let mut bytes = 16_u32.to_ne_bytes().to_vec();
        bytes.resize(16, 0);
        let mut of = |kind: u16| {
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            messages(&bytes).next().and_then(change)
        };
        assert_eq!(of(libc::RTM_NEWLINK), Some(Change::Overrun));
        assert_eq!(of(libc::RTM_DELADDR), Some(Change::Overrun));
        assert_eq!([DELETED_NEXTHOP, NEW_NEXTHOP].map(&mut of), [Some(Change::Routes); 2]);
        assert_eq!(of(libc::RTM_NEWQDISC), None);
    }
}
