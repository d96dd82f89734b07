//! Arbitrary datagrams as the kernel's rtnetlink responses and notifications.
//!
//! Checks:
//!
//! - No datagram makes a parser panic.
//! - Messages lie within their datagram, and are the same in one datagram or in many.
//! - The reported neighbor is the one in the message.
//! - A message that only resembles a notification is never ignored silently.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{RouteAttribute, RouteMessage, RouteMetric, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::Seed;
use crate::stack_netlink::address::InterfaceAddress;
use crate::stack_netlink::change::{Change, change};
use crate::stack_netlink::link::Link;
use crate::stack_netlink::message::{Dump, Message, RequestId, messages};
use crate::stack_netlink::neighbor;
use crate::stack_netlink::route::Found;

const ASKED: RequestId = RequestId { sequence: 1, port: 2 };
const INTERFACE: u32 = 3;
/// The notifications of changes, except for neighbors.
const NEWS: [u16; 10] = [16, 17, 20, 21, 24, 25, 32, 33, 104, 105];
const NEIGHBOURS: [u16; 2] = [28, 29];

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let all: Vec<_> = messages(bytes).collect();
    assert!(all.len() * 16 <= bytes.len());
    for message in &all {
        let within = bytes.as_ptr_range();
        let payload = message.payload.as_ptr_range();
        assert!(within.start <= payload.start && payload.end <= within.end);
        check_change(*message);
        let _ = message.answer(ASKED);
        let _ = Link::parse(message.kind, message.payload);
        let _ = Found::parse(message.kind, message.payload).map(|found| found.with_source(None));
        let _ = InterfaceAddress::parse(message.kind, message.payload, INTERFACE);
    }
    check_dump(bytes);
}

fn check_change(message: Message<'_>) {
    let reported = change(message);
    assert!(reported.is_some() || !NEWS.contains(&message.kind), "{message:?}");
    if !NEIGHBOURS.contains(&message.kind) {
        return;
    }
    if let Some(Change::Neighbor { mac, .. }) = reported {
        let entry =
            neighbor::parse(message.kind, message.payload).expect("the notification was reported");
        assert_eq!(mac, entry.neighbor.map(|neighbor| neighbor.mac));
    }
}

/// Checks that the result of a dump does not depend on its split into datagrams.
fn check_dump(bytes: &[u8]) {
    let parse = |kind, payload: &_| InterfaceAddress::parse(kind, payload, INTERFACE);
    let mut whole = Dump::new(ASKED);
    let ended = whole.take(bytes, &mut { parse }).map_err(|error| error.kind());
    let mut cut = Dump::new(ASKED);
    let mut cut_ended = Ok(false);
    let mut rest = bytes;
    while let (Some(message), Ok(false)) = (messages(rest).next(), cut_ended) {
        let length = (16 + message.payload.len()).next_multiple_of(4).min(rest.len());
        let datagram;
        (datagram, rest) = rest.split_at(length);
        cut_ended = cut.take(datagram, &mut { parse }).map_err(|error| error.kind());
    }
    assert_eq!(ended, cut_ended);
    assert_eq!(whole.finish(), cut.finish());
}

/// Returns the initial corpus.
pub fn seeds() -> Vec<Seed> {
    let [v4, v6] = [IpAddr::from(Ipv4Addr::new(10, 0, 0, 1)), Ipv6Addr::LOCALHOST.into()];
    let entries = [link(), address(v4), address(v6), route(v4), route(v6)];
    let mut seeds: Vec<Seed> = ["link", "address", "address6", "route", "route6"]
        .iter()
        .zip(&entries)
        .map(|(name, bytes)| ((*name).to_string(), bytes.clone()))
        .collect();
    seeds.push(("neighbour".to_string(), neighbour()));
    let done = raw(3, 0);
    seeds.push(("dump".to_string(), [&entries[1][..], &entries[2], &done].concat()));
    seeds.push(("refused".to_string(), raw(2, -101)));
    seeds
}

fn raw(kind: u16, number: i32) -> Vec<u8> {
    let mut bytes = 20_u32.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend([2, 0]);
    bytes.extend(ASKED.sequence.to_ne_bytes());
    bytes.extend(ASKED.port.to_ne_bytes());
    bytes.extend(number.to_ne_bytes());
    bytes
}

fn message(message: RouteNetlinkMessage) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.sequence_number = ASKED.sequence;
    header.port_number = ASKED.port;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn link() -> Vec<u8> {
    let mut link = LinkMessage::default();
    link.header.index = INTERFACE;
    link.header.flags = LinkFlags::Up | LinkFlags::Running;
    link.attributes = vec![
        LinkAttribute::IfName("eth0".to_string()),
        LinkAttribute::Mtu(1_500),
        LinkAttribute::Address(vec![2, 0, 0, 0, 0, 1]),
    ];
    message(RouteNetlinkMessage::NewLink(link))
}

fn address(own: IpAddr) -> Vec<u8> {
    let mut address = AddressMessage::default();
    address.header.family = family(own);
    address.header.prefix_len = 24;
    address.header.index = INTERFACE;
    address.attributes = vec![AddressAttribute::Address(own), AddressAttribute::Local(own)];
    message(RouteNetlinkMessage::NewAddress(address))
}

fn route(far: IpAddr) -> Vec<u8> {
    let mut route = RouteMessage::default();
    route.header.address_family = family(far);
    route.header.kind = RouteType::Unicast;
    route.attributes = vec![
        RouteAttribute::Destination(far.into()),
        RouteAttribute::Oif(INTERFACE),
        RouteAttribute::PrefSource(far.into()),
        RouteAttribute::Gateway(far.into()),
        RouteAttribute::Metrics(vec![RouteMetric::Mtu(1_400)]),
    ];
    message(RouteNetlinkMessage::NewRoute(route))
}

fn neighbour() -> Vec<u8> {
    let mut neighbour = NeighbourMessage::default();
    neighbour.header.family = AddressFamily::Inet;
    neighbour.header.ifindex = INTERFACE;
    neighbour.header.state = NeighbourState::Reachable;
    neighbour.attributes = vec![
        NeighbourAttribute::Destination(NeighbourAddress::Inet(Ipv4Addr::LOCALHOST)),
        NeighbourAttribute::LinkLayerAddress(vec![2, 0, 0, 0, 0, 1]),
    ];
    message(RouteNetlinkMessage::NewNeighbour(neighbour))
}
