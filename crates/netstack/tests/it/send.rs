//! Sent frames, as etherparse reads them, and rejected sends.

use crate::support::*;
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use hairpin_netstack::{DeviceSettings, Error, Route, SendError, SocketOptions};
use hairpin_wire::MacAddress;
use proptest::prelude::*;

proptest! {
    /// Checks that every field has the requested value, that both checksums match etherparse's, and
    /// that the engine's own frame is received.
    #[test]
    fn etherparse_reads_what_was_sent(
        is_ipv4: bool,
        vlan in proptest::option::of(1_u16..4_095),
        (ttl, traffic_class, port, peer_port) in (any::<u8>(), any::<u8>(), 1_u16.., 1_u16..),
        checksum: bool,
        payloads in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..200), 1..4),
    ) {
        let (mut engine, parent) = engine();
        let settings = DeviceSettings { vlan: vlan.map(|vlan| (parent, vlan)), ..DEVICE };
        let device = engine.add_device(&settings).unwrap();
        let options = SocketOptions { ttl, traffic_class, checksum, ..SocketOptions::default() };
        let socket = engine.open_socket(&options).unwrap();
        let (any, host) = if is_ipv4 { ("0.0.0.0", "10.0.0.1") } else { ("::", "fd00::1") };
        engine.bind(socket, at(any, port)).unwrap();
        let peer = if is_ipv4 { "10.0.0.2" } else { "fd00::2" };
        let to = route(device, host, at(peer, peer_port));
        let header = engine.prepare(socket, &to).unwrap();
        let mut buffer = vec![0xEE; 300];
        for (number, payload) in payloads.iter().enumerate() {
            let length = engine
                .send(&header, payload.len(), &mut buffer, |bytes| bytes.copy_from_slice(payload))
                .unwrap();
            let sliced = SlicedPacket::from_ethernet(&buffer[..length]).unwrap();
            let ids: Vec<_> = sliced.vlan_ids().iter().map(|id| id.value()).collect();
            prop_assert_eq!(ids, vlan.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(&buffer[..12], &[THEIRS.0, OURS.0].concat()[..]);
            let Some(TransportSlice::Udp(udp)) = &sliced.transport else { panic!("no UDP") };
            let udp_header = udp.to_header();
            prop_assert_eq!((udp.source_port(), udp.destination_port()), (port, peer_port));
            prop_assert_eq!(udp.payload(), &payload[..]);
            let expected = match sliced.net.as_ref().unwrap() {
                NetSlice::Ipv4(net) => {
                    let ip = net.header().to_header();
                    prop_assert_eq!((ip.source, ip.destination), ([10, 0, 0, 1], [10, 0, 0, 2]));
                    prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                    prop_assert_eq!(usize::from(ip.identification), number + 1);
                    prop_assert_eq!(ip.time_to_live, ttl);
                    prop_assert_eq!(ip.dscp.value() << 2 | ip.ecn.value(), traffic_class);
                    udp_header.calc_checksum_ipv4(&ip, payload).unwrap()
                }
                NetSlice::Ipv6(net) => {
                    let ip = net.header().to_header();
                    prop_assert_eq!((ip.hop_limit, ip.flow_label.value()), (ttl, 0));
                    prop_assert_eq!(ip.dscp().value() << 2 | ip.ecn().value(), traffic_class);
                    udp_header.calc_checksum_ipv6(&ip, payload).unwrap()
                }
                NetSlice::Arp(_) => panic!("ARP"),
            };
            let expected = if checksum || !is_ipv4 { expected } else { 0 };
            prop_assert_eq!(udp_header.checksum, expected);
        }
        let counters = engine.socket_counters(socket).unwrap();
        let bytes = payloads.iter().map(|payload| payload.len() as u64).sum::<u64>();
        prop_assert_eq!((counters.sent, counters.sent_bytes), (payloads.len() as u64, bytes));
        prop_assert_eq!(engine.device_counters(device).unwrap().sent, counters.sent);
    }
}

#[test]
fn group_has_its_own_ethernet_address_and_ttl() {
    for (any, host, group, mac, ttl_at) in [
        ("0.0.0.0", "10.0.0.1", "239.129.2.3", [1, 0, 0x5E, 1, 2, 3], 22),
        ("::", "fd00::1", "ff15::1:2", [0x33, 0x33, 0, 1, 0, 2], 21),
    ] {
        let (mut engine, device) = engine();
        let options = SocketOptions { ttl: 9, multicast_ttl: 3, ..SocketOptions::default() };
        let socket = engine.open_socket(&options).unwrap();
        engine.bind(socket, at(any, 7)).unwrap();
        let header = engine.prepare(socket, &route(device, host, at(group, 9))).unwrap();
        let mut frame = [0; 100];
        engine.send(&header, 1, &mut frame, |bytes| bytes[0] = 1).unwrap();
        assert_eq!((&frame[..6], frame[ttl_at]), (&mac[..], 3));
    }
}

#[test]
fn broadcast_requires_the_option() {
    let (mut engine, device) = engine();
    let socket = bound(&mut engine, at("0.0.0.0", 7));
    let to = Route { is_broadcast: true, ..route(device, "10.0.0.1", at("10.0.0.255", 9)) };
    assert_eq!(engine.prepare(socket, &to).err(), Some(Error::BroadcastNotAllowed));
    let options = SocketOptions { broadcast: true, ..SocketOptions::default() };
    engine.set_options(socket, &options).unwrap();
    let header = engine.prepare(socket, &to).unwrap();
    let mut frame = [0; 100];
    engine.send(&header, 0, &mut frame, |_| {}).unwrap();
    assert_eq!(frame[..6], MacAddress::BROADCAST.0);
}

#[test]
fn oversized_send_is_rejected_and_writes_nothing() {
    for (any, host, peer, limit) in
        [("0.0.0.0", "10.0.0.1", "10.0.0.2", 1_472), ("::", "fd00::1", "fd00::2", 1_452)]
    {
        let (mut engine, device) = engine();
        let socket = bound(&mut engine, at(any, 7));
        let header = engine.prepare(socket, &route(device, host, at(peer, 9))).unwrap();
        let mut frame = [0; 1_514];
        assert_eq!(header.limit(), limit);
        assert_eq!(engine.send(&header, limit, &mut frame, |_| {}), Ok(1_514));
        let mut untouched = [0xEE; 1_514];
        let too_large = engine.send(&header, limit + 1, &mut untouched, |_| panic!());
        assert_eq!(too_large, Err(SendError::TooLarge { limit }));
        let small = engine.send(&header, limit, &mut untouched[..1_513], |_| panic!());
        assert_eq!(small, Err(SendError::BufferTooSmall { needed: 1_514 }));
        engine.close(socket).unwrap();
        let closed = engine.send(&header, 1, &mut untouched, |_| panic!());
        assert_eq!(closed, Err(SendError::NoSuchSocket));
        assert_eq!(untouched, [0xEE; 1_514]);
    }
}

#[test]
fn headers_require_a_valid_route_for_the_socket() {
    let (mut engine, device) = engine();
    let open = engine.open_socket(&SocketOptions::default()).unwrap();
    let good = route(device, "10.0.0.1", at("10.0.0.2", 9));
    assert_eq!(engine.prepare(open, &good).err(), Some(Error::WrongState));
    let socket = bound(&mut engine, at("10.0.0.1", 7));
    let refused =
        |engine: &hairpin_netstack::Engine, route: Route| engine.prepare(socket, &route).err();
    assert_eq!(refused(&engine, good), None);
    for (source, to) in [
        ("10.0.0.3", at("10.0.0.2", 9)),
        ("fd00::1", at("10.0.0.2", 9)),
        ("fd00::1", at("fd00::2", 9)),
        ("10.0.0.1", at("0.0.0.0", 9)),
    ] {
        assert_eq!(refused(&engine, route(device, source, to)), Some(Error::WrongAddress));
    }
    let no_port = route(device, "10.0.0.1", at("10.0.0.2", 0));
    assert_eq!(refused(&engine, no_port), Some(Error::NoPort));
    engine.connect(socket, ip("10.0.0.1"), at("10.0.0.2", 9)).unwrap();
    assert_eq!(refused(&engine, good), None);
    let other = route(device, "10.0.0.1", at("10.0.0.2", 10));
    assert_eq!(refused(&engine, other), Some(Error::WrongAddress));
}

#[test]
fn zero_checksum_is_sent_as_ones() {
    let (mut engine, device) = engine();
    let socket = bound(&mut engine, at("10.0.0.1", 7));
    let to = route(device, "10.0.0.1", at("10.0.0.2", 9));
    let header = engine.prepare(socket, &to).unwrap();
    let mut frame = [0; 100];
    engine.send(&header, 2, &mut frame, |bytes| bytes.fill(0)).unwrap();
    let checksum = [frame[40], frame[41]];
    engine.send(&header, 2, &mut frame, |bytes| bytes.copy_from_slice(&checksum)).unwrap();
    assert_eq!(frame[40..42], [0xFF, 0xFF]);
}
