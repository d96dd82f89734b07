//! What little of rtnetlink(7) it takes to join two namespaces.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, State,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use crate::ethtool::Queues;

const NEW: u16 = NLM_F_CREATE | NLM_F_EXCL;

/// A conversation with the kernel about one network namespace: one request, one answer.
pub(crate) struct Rtnetlink {
    socket: Socket,
    sequence: u32,
}

/// What is asked about an interface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    /// The kernel's number of it.
    pub(crate) index: u32,
    /// True once packets pass: switched on, and the other end is too.
    pub(crate) is_up: bool,
    /// The longest packet in bytes, without the Ethernet header.
    pub(crate) mtu: u32,
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
        let mut far = LinkMessage::default();
        far.attributes = there.end(names[1]);
        far.attributes.push(LinkAttribute::NetNsFd(peer.as_raw_fd()));
        let mut near = LinkMessage::default();
        near.attributes = here.end(names[0]);
        near.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
        ]));
        self.request(RouteNetlinkMessage::NewLink(near), NEW).map(drop)
    }

    /// Asks about the interface `name`.
    pub(crate) fn link(&mut self, name: &str) -> io::Result<Link> {
        let mut asked = LinkMessage::default();
        asked.attributes = vec![LinkAttribute::IfName(name.into())];
        match self.request(RouteNetlinkMessage::GetLink(asked), 0)? {
            Some(RouteNetlinkMessage::NewLink(found)) => {
                let has = |wanted| found.attributes.contains(&wanted);
                let is_up = has(LinkAttribute::OperState(State::Up))
                    && has(LinkAttribute::Carrier(1))
                    && found.header.flags.contains(LinkFlags::Up | LinkFlags::Running);
                let mtu = found.attributes.iter().find_map(|attribute| match attribute {
                    LinkAttribute::Mtu(mtu) => Some(*mtu),
                    _ => None,
                });
                Ok(Link { index: found.header.index, is_up, mtu: mtu.unwrap_or(0) })
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Takes an interface away; of a veth both ends.
    pub(crate) fn remove_link(&mut self, name: &str) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = self.link(name)?.index;
        self.request(RouteNetlinkMessage::DelLink(link), 0).map(drop)
    }

    /// Switches an interface on.
    pub(crate) fn set_up(&mut self, index: u32) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(link), 0).map(drop)
    }

    /// Gives an interface an address, and with it a route to the network it is in.
    pub(crate) fn add_address(
        &mut self,
        index: u32,
        address: Ipv4Addr,
        prefix_length: u8,
    ) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix_length;
        message.header.index = index;
        message.attributes = vec![
            AddressAttribute::Local(IpAddr::V4(address)),
            AddressAttribute::Address(IpAddr::V4(address)),
        ];
        self.request(RouteNetlinkMessage::NewAddress(message), NEW).map(drop)
    }

    /// Sends what is for `network` straight out of an interface.
    pub(crate) fn add_route(
        &mut self,
        index: u32,
        network: Ipv4Addr,
        prefix_length: u8,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: AddressFamily::Inet,
            destination_prefix_length: prefix_length,
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: RouteScope::Link,
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        message.attributes = vec![
            RouteAttribute::Destination(RouteAddress::Inet(network)),
            RouteAttribute::Oif(index),
        ];
        self.request(RouteNetlinkMessage::NewRoute(message), NEW).map(drop)
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
