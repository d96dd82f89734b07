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
}

impl Rtnetlink {
    /// Talks about the namespace that the calling thread is in, now and later.
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Makes a veth with one end here and the other in `peer`, both of the same name.
    pub(crate) fn add_veth(&mut self, name: &str, peer: BorrowedFd<'_>) -> io::Result<()> {
        let mut there = LinkMessage::default();
        there.attributes =
            vec![LinkAttribute::IfName(name.into()), LinkAttribute::NetNsFd(peer.as_raw_fd())];
        let mut here = LinkMessage::default();
        here.attributes = vec![
            LinkAttribute::IfName(name.into()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(there))),
            ]),
        ];
        self.request(RouteNetlinkMessage::NewLink(here), NEW).map(drop)
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
                Ok(Link { index: found.header.index, is_up })
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
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
