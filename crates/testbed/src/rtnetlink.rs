//! What little of rtnetlink(7) it takes to join two namespaces, and to change them under a test.

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
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, State,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use crate::ethtool::Queues;

pub use route::{Route, RouteKind, Rule};

const NEW: u16 = NLM_F_CREATE | NLM_F_EXCL;

/// A conversation with the kernel about the network namespace of one host: one request, one answer.
///
/// It sets up and takes away what a test needs: see [`Host::rtnetlink`](crate::Host::rtnetlink).
/// Whatever is refused is told by the kernel's own error.
#[derive(Debug)]
pub struct Rtnetlink {
    socket: Socket,
    sequence: u32,
}

/// What is asked about an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The kernel's number of it.
    pub index: u32,
    /// True once packets pass: switched on, and the other end is too.
    pub is_up: bool,
    /// The longest packet in bytes, without the Ethernet header.
    pub mtu: u32,
    /// Its Ethernet address.
    pub mac: [u8; 6],
}

/// How sure the kernel is to be of a neighbour that it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// For ever; it never asks.
    Permanent,
    /// Until it has not been heard of for some time.
    Reachable,
    /// It asks soon after it has sent there.
    Stale,
    /// It has asked in vain, and knows no Ethernet address.
    Failed,
}

/// How an end of a veth is made; what is `None` is the kernel's choice.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Veth {
    /// Queues to make, all of which are real at first.
    pub(crate) queues: Option<Queues>,
    pub(crate) mtu: Option<u32>,
}

impl Veth {
    /// An end that transmits by as many queues as this one receives by, and the other way round.
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
    /// Talks about the namespace that the calling thread is in, now and later.
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Makes a veth with one end here and the other in `peer`, called by these names.
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

    /// Makes a veth with both ends in this namespace, called by these names, and switched off.
    ///
    /// # Errors
    /// The kernel's: a name is taken.
    pub fn add_pair(&mut self, names: [&str; 2]) -> io::Result<()> {
        let [near, far] = names.map(|name| Veth::default().end(name));
        self.add_ends(near, far)
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

    /// Asks about the interface `name`.
    ///
    /// # Errors
    /// The kernel's: there is none of that name.
    pub fn link(&mut self, name: &str) -> io::Result<Link> {
        let mut asked = LinkMessage::default();
        asked.attributes = vec![LinkAttribute::IfName(name.into())];
        match self.request(RouteNetlinkMessage::GetLink(asked), 0)? {
            Some(RouteNetlinkMessage::NewLink(found)) => {
                let has = |wanted| found.attributes.contains(&wanted);
                let is_up = has(LinkAttribute::OperState(State::Up))
                    && has(LinkAttribute::Carrier(1))
                    && found.header.flags.contains(LinkFlags::Up | LinkFlags::Running);
                let mut link =
                    Link { index: found.header.index, is_up, mtu: 0, mac: Default::default() };
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

    /// Takes an interface away; of a veth both ends.
    ///
    /// # Errors
    /// The kernel's: there is none of that name.
    pub fn remove_link(&mut self, name: &str) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = self.link(name)?.index;
        self.request(RouteNetlinkMessage::DelLink(link), 0).map(drop)
    }

    /// Switches an interface on.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_up(&mut self, index: u32) -> io::Result<()> {
        self.switch(index, LinkFlags::Up)
    }

    /// Switches an interface off, and with it all routes out of it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_down(&mut self, index: u32) -> io::Result<()> {
        self.switch(index, LinkFlags::empty())
    }

    fn switch(&mut self, index: u32, flags: LinkFlags) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = flags;
        link.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(link), 0).map(drop)
    }

    /// Gives an interface another Ethernet address.
    ///
    /// # Errors
    /// The kernel's: it is a group's, or nought.
    pub fn set_mac(&mut self, index: u32, mac: [u8; 6]) -> io::Result<()> {
        self.set_attribute(index, LinkAttribute::Address(mac.to_vec()))
    }

    /// Has an interface carry packets of so many bytes, without the Ethernet header.
    ///
    /// # Errors
    /// The kernel's: not between 68 and 65,535.
    pub fn set_mtu(&mut self, index: u32, mtu: u32) -> io::Result<()> {
        self.set_attribute(index, LinkAttribute::Mtu(mtu))
    }

    fn set_attribute(&mut self, index: u32, attribute: LinkAttribute) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.attributes = vec![attribute];
        self.request(RouteNetlinkMessage::SetLink(link), 0).map(drop)
    }

    /// Gives an interface an address, and with it a route to the network it is in. An IPv6 address
    /// is there at once: whether somebody else has it is not asked.
    ///
    /// # Errors
    /// The kernel's: it has it already.
    pub fn add_address(
        &mut self,
        index: u32,
        address: IpAddr,
        prefix_length: u8,
    ) -> io::Result<()> {
        let message = address_message(index, address, prefix_length);
        self.request(RouteNetlinkMessage::NewAddress(message), NEW).map(drop)
    }

    /// The same of an IPv4 address, whose network has a broadcast address.
    ///
    /// # Errors
    /// The kernel's: it has it already.
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

    /// Takes an address away.
    ///
    /// # Errors
    /// The kernel's: it is not there.
    pub fn remove_address(
        &mut self,
        index: u32,
        address: IpAddr,
        prefix_length: u8,
    ) -> io::Result<()> {
        let message = address_message(index, address, prefix_length);
        self.request(RouteNetlinkMessage::DelAddress(message), 0).map(drop)
    }

    /// Enters a route.
    ///
    /// # Errors
    /// The kernel's: it is there already, or the gateway cannot be reached.
    pub fn add_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(RouteNetlinkMessage::NewRoute(route.message()), NEW).map(drop)
    }

    /// Takes a route away.
    ///
    /// # Errors
    /// The kernel's: it is not there.
    pub fn remove_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRoute(route.message()), 0).map(drop)
    }

    /// Enters a rule.
    ///
    /// # Errors
    /// The kernel's: it is there already.
    pub fn add_rule(&mut self, rule: &Rule) -> io::Result<()> {
        self.request(RouteNetlinkMessage::NewRule(rule.message()), NEW).map(drop)
    }

    /// Takes a rule away.
    ///
    /// # Errors
    /// The kernel's: it is not there.
    pub fn remove_rule(&mut self, rule: &Rule) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRule(rule.message()), 0).map(drop)
    }

    /// Tells the kernel a neighbour, in the place of what it knew.
    ///
    /// # Errors
    /// The kernel's: the interface is switched off.
    pub fn set_neighbour(
        &mut self,
        index: u32,
        address: IpAddr,
        mac: [u8; 6],
        certainty: Certainty,
    ) -> io::Result<()> {
        let mut message = neighbour_message(index, address);
        message.header.state = match certainty {
            Certainty::Permanent => NeighbourState::Permanent,
            Certainty::Reachable => NeighbourState::Reachable,
            Certainty::Stale => NeighbourState::Stale,
            Certainty::Failed => NeighbourState::Failed,
        };
        if certainty != Certainty::Failed {
            message.attributes.push(NeighbourAttribute::LinkLayerAddress(mac.to_vec()));
        }
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        self.request(RouteNetlinkMessage::NewNeighbour(message), flags).map(drop)
    }

    /// Has the kernel forget a neighbour.
    ///
    /// # Errors
    /// The kernel's: it knows none of that address.
    pub fn remove_neighbour(&mut self, index: u32, address: IpAddr) -> io::Result<()> {
        let message = neighbour_message(index, address);
        self.request(RouteNetlinkMessage::DelNeighbour(message), 0).map(drop)
    }

    /// Sends one request and waits for its answer: a message, an acknowledgement or an error.
    ///
    /// A question is answered by a message; its acknowledgement, which follows, is left unread
    /// and passed over by the next request.
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
            // The kernel answers before `send` returns, so that this never waits.
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

fn family_of(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

fn address_message(index: u32, address: IpAddr, prefix_length: u8) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family_of(address);
    message.header.prefix_len = prefix_length;
    message.header.index = index;
    if address.is_ipv6() {
        message.header.flags = AddressHeaderFlags::Nodad;
    }
    message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
    message
}

fn neighbour_message(index: u32, address: IpAddr) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family_of(address);
    message.header.ifindex = index;
    let destination = match address {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    };
    message.attributes = vec![NeighbourAttribute::Destination(destination)];
    message
}
