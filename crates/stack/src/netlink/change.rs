//! What changes, as the kernel's notifications tell it.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_ROUTE;

use super::message::{Message, messages};
use super::socket::Socket;
use super::{address, link, neighbour};

/// The longest notification is that of a link, a few kilobytes. A longer one counts as an overrun.
const DATAGRAM: usize = 32 * 1_024;
/// How many datagrams are read before the caller has its turn.
const BUDGET: usize = 1_024;

/// Groups of rtnetlink(7). Rules and nexthops change where packets go as routes do.
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

/// Something is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// An interface: it came, went, or is different.
    Link(u32),
    /// The addresses of an interface.
    Addresses(u32),
    /// A route, a rule or a nexthop: any destination may be reached otherwise. An MTU that a path
    /// has shown is not told.
    Routes,
    /// A neighbour: its Ethernet address, while the kernel has one for it.
    Neighbour { interface: u32, address: IpAddr, mac: Option<[u8; 6]> },
    /// Changes were lost, because there were more than the socket holds: all is to be read anew.
    Overrun,
}

/// The socket that listens.
#[derive(Debug)]
pub(super) struct Changes {
    socket: Socket,
    datagram: Vec<u8>,
    /// Since changes were lost, until the kernel tells new ones.
    is_overrun: bool,
}

impl Changes {
    /// Listens in the network namespace of the calling thread.
    pub(super) fn subscribe() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, 0))?;
        socket.connect(&SocketAddr::new(0, 0))?;
        socket.set_non_blocking(true)?;
        GROUPS.into_iter().try_for_each(|group| socket.add_membership(group))?;
        Ok(Self { socket, datagram: Vec::with_capacity(DATAGRAM), is_overrun: false })
    }

    /// Tells what has come.
    ///
    /// After a loss the kernel tells nothing more until all before it has been read. So an overrun
    /// is told behind that, or what changes while all is read anew would be lost unseen.
    pub(super) fn drain(&mut self, tell: &mut impl FnMut(Change)) -> io::Result<()> {
        for _ in 0..BUDGET {
            match self.receive() {
                Ok(true) if !self.is_overrun => {
                    messages(&self.datagram).filter_map(change).for_each(&mut *tell);
                }
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => self.is_overrun = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if std::mem::take(&mut self.is_overrun) {
                        tell(Change::Overrun);
                    }
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        if self.is_overrun {
            tell(Change::Overrun);
        }
        Ok(())
    }

    /// Reads a datagram: true if it is the kernel's. Others may send to a group too, if they are
    /// privileged.
    fn receive(&mut self) -> io::Result<bool> {
        self.datagram.clear();
        let (length, sender) = self.socket.recv_from(&mut self.datagram, libc::MSG_TRUNC)?;
        let is_of_kernel = sender.port_number() == 0;
        self.is_overrun |= is_of_kernel && length > self.datagram.len();
        Ok(is_of_kernel)
    }
}

impl AsFd for Changes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// What a notification says. One that is of a known kind and cannot be read is as good as lost.
pub(crate) fn change(message: Message<'_>) -> Option<Change> {
    let payload = message.payload;
    let change = match message.kind {
        libc::RTM_NEWLINK | libc::RTM_DELLINK => link::index(payload).map(Change::Link),
        libc::RTM_NEWADDR | libc::RTM_DELADDR => address::interface(payload).map(Change::Addresses),
        libc::RTM_NEWROUTE | libc::RTM_DELROUTE | libc::RTM_NEWRULE | libc::RTM_DELRULE => {
            Some(Change::Routes)
        }
        NEW_NEXTHOP | DELETED_NEXTHOP => Some(Change::Routes),
        libc::RTM_NEWNEIGH | libc::RTM_DELNEIGH if neighbour::is_of_no_concern(payload) => {
            return None;
        }
        libc::RTM_NEWNEIGH | libc::RTM_DELNEIGH => {
            neighbour::parse(message.kind, payload).map(Change::of)
        }
        _ => return None,
    };
    Some(change.unwrap_or(Change::Overrun))
}

impl Change {
    fn of(entry: neighbour::Entry) -> Self {
        let neighbour::Entry { interface, address, neighbour } = entry;
        Self::Neighbour { interface, address, mac: neighbour.map(|neighbour| neighbour.mac) }
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

    fn told(message: &NeighbourMessage) -> Option<Change> {
        told_as(RouteNetlinkMessage::NewNeighbour(message.clone()))
    }

    fn told_as(message: RouteNetlinkMessage) -> Option<Change> {
        let payload = NetlinkPayload::from(message);
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        messages(&bytes).next().and_then(change)
    }

    fn neighbour() -> NeighbourMessage {
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
    fn a_neighbour_has_an_ethernet_address_while_the_kernel_would_send_to_it() {
        let mut message = neighbour();
        let mut mac = |state| {
            message.header.state = state;
            match told(&message) {
                Some(Change::Neighbour { mac, .. }) => mac.is_some(),
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

    /// The kernel tells it with the state and the address that it had.
    #[test]
    fn a_neighbour_that_was_deleted_has_no_ethernet_address() {
        let deleted = RouteNetlinkMessage::DelNeighbour(neighbour());
        let address = [10, 0, 0, 1].into();
        assert_eq!(told_as(deleted), Some(Change::Neighbour { interface: 4, address, mac: None }));
    }

    #[test]
    fn neighbours_of_bridges_and_those_answered_for_are_of_no_concern() {
        let mut bridge = neighbour();
        bridge.header.family = AddressFamily::Bridge;
        assert_eq!(told(&bridge), None);
        let mut proxy = neighbour();
        proxy.header.flags = NeighbourFlags::Proxy;
        assert_eq!(told(&proxy), None);
    }

    #[test]
    fn news_that_cannot_be_read_is_as_good_as_lost() {
        let mut nameless = neighbour();
        nameless.attributes.remove(0);
        assert_eq!(told(&nameless), Some(Change::Overrun));
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
