//! The part of rtnetlink(7) that joins two namespaces and changes them in a test.

mod route;

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoMacVlan, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
    MacVlanMode, State,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState as KernelState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use crate::Host;
use crate::ethtool::Queues;

pub use route::{Route, RouteKind, Rule};

const NEW: u16 = NLM_F_CREATE | NLM_F_EXCL;

/// An rtnetlink socket for the network namespace of one host, with one request at a time.
///
/// A test uses it to change a host: see [`Host::rtnetlink`](crate::Host::rtnetlink). Every error is
/// the kernel's.
#[derive(Debug)]
pub struct Rtnetlink {
    socket: Socket,
    sequence: u32,
}

/// The state of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The interface index.
    pub index: u32,
    /// `true` if packets pass: both ends are up.
    pub up: bool,
    /// The longest packet in bytes, without the Ethernet header.
    pub mtu: u32,
    /// The Ethernet address.
    pub mac: [u8; 6],
}

/// The state of a neighbor entry (NUD state of rtnetlink(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NudState {
    /// Valid without limit; the kernel never probes it.
    Permanent,
    /// Valid until its reachability timeout.
    Reachable,
    /// Valid; the kernel probes it soon after the next packet.
    Stale,
    /// Invalid: probes were not answered, and the Ethernet address is unknown.
    Failed,
}

/// The mode of a macvlan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Macvlan {
    /// The macvlans of an interface do not reach each other.
    Private,
    /// The macvlans of an interface reach each other directly.
    Bridge,
    /// The only macvlan of an interface, with the same Ethernet address.
    Passthru,
}

/// The settings of one end of a veth pair; `None` selects the kernel's default.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Veth {
    /// The number of queues, all of which are real at first.
    pub(crate) queues: Option<Queues>,
    pub(crate) mtu: Option<u32>,
}

impl Veth {
    /// Returns the settings of the other end, with receive and transmit queues exchanged.
    pub(crate) fn matching(self) -> Self {
        Self { queues: self.queues.map(Queues::matching), ..self }
    }

    fn end(self, name: &str) -> Vec<LinkAttribute> {
        let mut attributes = vec![LinkAttribute::IfName(name.into())];
        attributes.extend(self.mtu.map(LinkAttribute::Mtu));
        if let Some(Queues { rx, tx }) = self.queues {
            attributes.extend([LinkAttribute::NumRxQueues(rx), LinkAttribute::NumTxQueues(tx)]);
        }
        attributes
    }
}

impl Rtnetlink {
    /// Opens a socket for the namespace of the calling thread, for the life of the socket.
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Adds a veth pair with these names, one end in this namespace and the other in `peer`.
    pub(crate) fn add_veth(
        &mut self,
        [here, there]: [Veth; 2],
        names: [&str; 2],
        peer: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut far = there.end(names[1]);
        far.push(LinkAttribute::NetNsFd(peer.as_raw_fd()));
        self.add_ends(here.end(names[0]), far)
    }

    /// Adds a veth pair with these names and both ends in this namespace, down.
    ///
    /// # Errors
    /// The kernel's: a name is in use.
    pub fn add_pair(&mut self, names: [&str; 2]) -> io::Result<()> {
        let [near, far] = names.map(|name| Veth::default().end(name));
        self.add_ends(near, far)
    }

    /// Adds a veth pair between this host and another one, with the same name at both ends, down.
    ///
    /// # Errors
    /// The kernel's: the name is in use. `NotFound` over loopback.
    pub fn add_wire(&mut self, name: &str, peer: &Host) -> io::Result<()> {
        let namespace = peer.namespace().ok_or(io::ErrorKind::NotFound)?;
        self.add_veth([Veth::default(); 2], [name; 2], namespace)
    }

    fn add_ends(&mut self, near: Vec<LinkAttribute>, far: Vec<LinkAttribute>) -> io::Result<()> {
        let [mut here, mut there] = [LinkMessage::default(), LinkMessage::default()];
        there.attributes = far;
        here.attributes = near;
        here.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(there))),
        ]));
        self.request(RouteNetlinkMessage::NewLink(here), NEW).map(drop)
    }

    /// Adds a macvlan on an interface, down.
    ///
    /// # Errors
    /// The kernel's: the name is in use, or the interface has a macvlan in passthru mode.
    pub fn add_macvlan(&mut self, name: &str, parent: u32, mode: Macvlan) -> io::Result<()> {
        let mode = match mode {
            Macvlan::Private => MacVlanMode::Private,
            Macvlan::Bridge => MacVlanMode::Bridge,
            Macvlan::Passthru => MacVlanMode::Passthrough,
        };
        let data = InfoData::MacVlan(vec![InfoMacVlan::Mode(mode)]);
        let info = vec![LinkInfo::Kind(InfoKind::MacVlan), LinkInfo::Data(data)];
        self.add_link(name, Some(parent), info)
    }

    /// Adds a bridge, down.
    ///
    /// # Errors
    /// The kernel's: the name is in use.
    pub fn add_bridge(&mut self, name: &str) -> io::Result<()> {
        self.add_link(name, None, vec![LinkInfo::Kind(InfoKind::Bridge)])
    }

    /// Makes an interface a port of a bridge.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_bridge(&mut self, index: u32, bridge: u32) -> io::Result<()> {
        self.set_attribute(index, LinkAttribute::Controller(bridge))
    }

    fn add_link(&mut self, name: &str, parent: Option<u32>, info: Vec<LinkInfo>) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.attributes = vec![LinkAttribute::IfName(name.into()), LinkAttribute::LinkInfo(info)];
        link.attributes.extend(parent.map(LinkAttribute::Link));
        self.request(RouteNetlinkMessage::NewLink(link), NEW).map(drop)
    }

    /// Returns the state of the interface `name`.
    ///
    /// # Errors
    /// The kernel's: no interface has that name.
    pub fn link(&mut self, name: &str) -> io::Result<Link> {
        let mut query = LinkMessage::default();
        query.attributes = vec![LinkAttribute::IfName(name.into())];
        match self.request(RouteNetlinkMessage::GetLink(query), 0)? {
            Some(RouteNetlinkMessage::NewLink(found)) => {
                let has = |wanted| found.attributes.contains(&wanted);
                let up = has(LinkAttribute::OperState(State::Up))
                    && has(LinkAttribute::Carrier(1))
                    && found.header.flags.contains(LinkFlags::Up | LinkFlags::Running);
                let mut link =
                    Link { index: found.header.index, up, mtu: 0, mac: Default::default() };
                for attribute in &found.attributes {
                    match attribute {
                        LinkAttribute::Mtu(mtu) => link.mtu = *mtu,
                        LinkAttribute::Address(mac) => {
                            link.mac = mac.as_slice().try_into().unwrap_or_default();
                        }
                        _ => {}
                    }
                }
                Ok(link)
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Removes an interface, and with a veth also its other end.
    ///
    /// # Errors
    /// The kernel's: no interface has that name.
    pub fn remove_link(&mut self, name: &str) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = self.link(name)?.index;
        self.request(RouteNetlinkMessage::DelLink(link), 0).map(drop)
    }

    /// Sets an interface up.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_up(&mut self, index: u32) -> io::Result<()> {
        self.set_flags(index, LinkFlags::Up)
    }

    /// Sets an interface down, which removes all routes through it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_down(&mut self, index: u32) -> io::Result<()> {
        self.set_flags(index, LinkFlags::empty())
    }

    fn set_flags(&mut self, index: u32, flags: LinkFlags) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = flags;
        link.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(link), 0).map(drop)
    }

    /// Sets the Ethernet address of an interface.
    ///
    /// # Errors
    /// The kernel's: the address is a group address or zero.
    pub fn set_mac(&mut self, index: u32, mac: [u8; 6]) -> io::Result<()> {
        self.set_attribute(index, LinkAttribute::Address(mac.to_vec()))
    }

    /// Sets the MTU of an interface: the longest packet in bytes without the Ethernet header.
    ///
    /// # Errors
    /// The kernel's: the MTU is not between 68 and 65,535.
    pub fn set_mtu(&mut self, index: u32, mtu: u32) -> io::Result<()> {
        self.set_attribute(index, LinkAttribute::Mtu(mtu))
    }

    fn set_attribute(&mut self, index: u32, attribute: LinkAttribute) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.attributes = vec![attribute];
        self.request(RouteNetlinkMessage::SetLink(link), 0).map(drop)
    }

    /// Adds an address to an interface, and with it the route to its network. An IPv6 address is
    /// usable at once, without duplicate address detection.
    ///
    /// # Errors
    /// The kernel's: the interface already has the address.
    pub fn add_address(
        &mut self,
        index: u32,
        address: IpAddr,
        prefix_length: u8,
    ) -> io::Result<()> {
        let message = address_message(index, address, prefix_length);
        self.request(RouteNetlinkMessage::NewAddress(message), NEW).map(drop)
    }

    /// Adds an IPv4 address with a broadcast address.
    ///
    /// # Errors
    /// The kernel's: the interface already has the address.
    pub fn add_broadcast_address(
        &mut self,
        index: u32,
        address: Ipv4Addr,
        prefix_length: u8,
        broadcast: Ipv4Addr,
    ) -> io::Result<()> {
        let mut message = address_message(index, address.into(), prefix_length);
        message.attributes.push(AddressAttribute::Broadcast(broadcast));
        self.request(RouteNetlinkMessage::NewAddress(message), NEW).map(drop)
    }

    /// Removes an address.
    ///
    /// # Errors
    /// The kernel's: the interface does not have the address.
    pub fn remove_address(
        &mut self,
        index: u32,
        address: IpAddr,
        prefix_length: u8,
    ) -> io::Result<()> {
        let message = address_message(index, address, prefix_length);
        self.request(RouteNetlinkMessage::DelAddress(message), 0).map(drop)
    }

    /// Adds a route.
    ///
    /// # Errors
    /// The kernel's: the route exists already, or its gateway is unreachable.
    pub fn add_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(RouteNetlinkMessage::NewRoute(route.message()), NEW).map(drop)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// The kernel's: no such route.
    pub fn remove_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRoute(route.message()), 0).map(drop)
    }

    /// Adds a routing rule.
    ///
    /// # Errors
    /// The kernel's: the rule exists already.
    pub fn add_rule(&mut self, rule: &Rule) -> io::Result<()> {
        self.request(RouteNetlinkMessage::NewRule(rule.message()), NEW).map(drop)
    }

    /// Removes a routing rule.
    ///
    /// # Errors
    /// The kernel's: no such rule.
    pub fn remove_rule(&mut self, rule: &Rule) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRule(rule.message()), 0).map(drop)
    }

    /// Adds or replaces a neighbor entry.
    ///
    /// # Errors
    /// The kernel's: the interface is down.
    pub fn set_neighbor(
        &mut self,
        index: u32,
        address: IpAddr,
        mac: [u8; 6],
        state: NudState,
    ) -> io::Result<()> {
        let mut message = neighbor_message(index, address);
        message.header.state = match state {
            NudState::Permanent => KernelState::Permanent,
            NudState::Reachable => KernelState::Reachable,
            NudState::Stale => KernelState::Stale,
            NudState::Failed => KernelState::Failed,
        };
        if state != NudState::Failed {
            message.attributes.push(NeighbourAttribute::LinkLayerAddress(mac.to_vec()));
        }
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        self.request(RouteNetlinkMessage::NewNeighbour(message), flags).map(drop)
    }

    /// Removes a neighbor entry.
    ///
    /// # Errors
    /// The kernel's: no entry for the address.
    pub fn remove_neighbor(&mut self, index: u32, address: IpAddr) -> io::Result<()> {
        let message = neighbor_message(index, address);
        self.request(RouteNetlinkMessage::DelNeighbour(message), 0).map(drop)
    }

    /// Sends a request and returns the reply: a message, `None` for an acknowledgment, or an error.
    ///
    /// The acknowledgment after a reply message stays in the socket, and the next request skips it.
    fn request(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Option<RouteNetlinkMessage>> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.sequence_number = self.sequence;
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        loop {
            // The kernel queues the reply before `send` returns, so this never waits.
            let (bytes, _) = self.socket.recv_from_full()?;
            let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&bytes)
                .map_err(io::Error::other)?;
            if answer.header.sequence_number != self.sequence {
                continue;
            }
            return match answer.payload {
                NetlinkPayload::InnerMessage(message) => Ok(Some(message)),
                NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
                _ => Ok(None),
            };
        }
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

fn address_message(index: u32, address: IpAddr, prefix_length: u8) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(address);
    message.header.prefix_len = prefix_length;
    message.header.index = index;
    if address.is_ipv6() {
        message.header.flags = AddressHeaderFlags::Nodad;
    }
    message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
    message
}

fn neighbor_message(index: u32, address: IpAddr) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family(address);
    message.header.ifindex = index;
    let destination = match address {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    };
    message.attributes = vec![NeighbourAttribute::Destination(destination)];
    message
}
