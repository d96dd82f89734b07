//! Received frames: recipients, and frames that belong to the kernel.

use crate::support::*;
use hairpin_netstack::{
    Address, Datagram, DeviceSettings, Dropped, Engine, Error, Kernel, Listener, SocketId,
    SocketOptions, Verdict,
};
use hairpin_time::Now;

#[test]
fn connected_precedes_bound_and_bound_precedes_any() {
    for (host, peer, other, any) in
        [("10.0.0.1", "10.0.0.2", "10.0.0.3", "0.0.0.0"), ("fd00::1", "fd00::2", "fd00::3", "::")]
    {
        let (mut engine, device) = engine();
        let mut seen = Seen::default();
        let wild = bound(&mut engine, at(any, 7));
        let exact = shared_socket(&mut engine, at(host, 7));
        let connected = shared_socket(&mut engine, at(host, 7));
        engine.connect(connected, ip(host), at(peer, 9)).unwrap();
        let mut to = |engine: &mut Engine, from, port, expected: &[_]| {
            let frame = frame(from, at(host, port), b"payload");
            let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
            match expected.len() {
                0 => assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket)),
                count => assert_eq!(verdict, Verdict::Delivered(count as u32)),
            }
            assert_eq!(seen.sockets(), expected, "{host}");
        };
        to(&mut engine, at(peer, 9), 7, &[connected]);
        to(&mut engine, at(peer, 10), 7, &[exact]);
        to(&mut engine, at(other, 9), 7, &[exact]);
        to(&mut engine, at(peer, 9), 8, &[]);
        engine.close(exact).unwrap();
        to(&mut engine, at(other, 9), 7, &[wild]);
        engine.close(connected).unwrap();
        to(&mut engine, at(peer, 9), 7, &[wild]);
        engine.remove_address(device, ip(host));
        to(&mut engine, at(peer, 9), 7, &[]);
    }
}

#[test]
fn datagram_callback_has_all_fields() {
    let (mut engine, device) = engine();
    let socket = bound(&mut engine, at("10.0.0.1", 7));
    let mut frame = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"payload");
    frame[15] = 0xB9;
    fix_header_checksum(&mut frame);
    frame.extend([0xEE; 11]);
    let mut seen = Seen::default();
    engine.handle_frame(NOW, device, &frame, &mut seen);
    let expected = (socket, at("10.0.0.2", 9), at("10.0.0.1", 7), b"payload".to_vec());
    assert_eq!(seen.datagrams, [expected]);
    assert_eq!((seen.ttl, seen.traffic_class, seen.device), (9, 0xB9, Some(device)));
    let counters = engine.socket_counters(socket).unwrap();
    assert_eq!((counters.received, counters.received_bytes), (1, 7));
    let counters = engine.device_counters(device).unwrap();
    assert_eq!((counters.frames, counters.delivered, counters.to_kernel), (1, 1, 0));
}

#[test]
fn group_members_receive_and_no_others() {
    for (group, other, any, host, peer) in [
        ("239.192.0.1", "239.192.0.2", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
        ("ff15::1", "ff15::2", "::", "fd00::1", "fd00::2"),
    ] {
        let (mut engine, device) = engine();
        let second = engine.add_device(&DeviceSettings { mac: THEIRS, ..DEVICE }).unwrap();
        let [first, also, no_member] = [(); 3].map(|()| shared_socket(&mut engine, at(any, 7)));
        let of_group = bound(&mut engine, at(group, 7));
        let also_of_group = bound(&mut engine, at(group, 7));
        let of_host = bound(&mut engine, at(host, 7));
        let other_port = bound(&mut engine, at(any, 8));
        for member in [first, of_group, also, also_of_group, of_host, other_port] {
            engine.join(member, device, ip(group)).unwrap();
        }
        engine.join(no_member, device, ip(other)).unwrap();
        assert_eq!(engine.join(first, device, ip(group)), Err(Error::Membership));
        let mut frame = frame(at(peer, 9), at(group, 7), b"x");
        frame[..6].copy_from_slice(&[1, 0, 0x5E, 0, 0, 1]);
        let mut seen = Seen::default();
        let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
        assert_eq!(verdict, Verdict::Delivered(4));
        assert_eq!(seen.sockets(), [first, of_group, also, also_of_group]);
        let elsewhere = engine.handle_frame(NOW, second, &frame, &mut seen);
        assert_eq!(elsewhere, Verdict::Kernel(Kernel::NoSocket));
        engine.leave(first, device, ip(group)).unwrap();
        engine.close(also).unwrap();
        assert_eq!(engine.leave(first, device, ip(group)), Err(Error::Membership));
        engine.handle_frame(NOW, device, &frame, &mut seen);
        assert_eq!(seen.sockets(), [of_group, also_of_group]);
        for left in [of_group, also_of_group, of_host] {
            engine.close(left).unwrap();
        }
        let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
        assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket));
    }
}

#[test]
fn broadcast_reaches_sockets_bound_to_any_address() {
    let (mut engine, device) = engine();
    let second = engine.add_device(&DeviceSettings { mac: THEIRS, ..DEVICE }).unwrap();
    let [first, also] = [(); 2].map(|()| shared_socket(&mut engine, at("0.0.0.0", 7)));
    bound(&mut engine, at("10.0.0.1", 7));
    let mut seen = Seen::default();
    for to in ["255.255.255.255", "10.0.0.255"] {
        let mut frame = frame(at("10.0.0.2", 9), at(to, 7), b"x");
        frame[..6].fill(0xFF);
        engine.handle_frame(NOW, device, &frame, &mut seen);
        assert_eq!(seen.sockets(), [first, also], "{to}");
        engine.handle_frame(NOW, second, &frame, &mut seen);
        let expected: &[_] = if to == "10.0.0.255" { &[] } else { &[first, also] };
        assert_eq!(seen.sockets(), expected, "the subnet of another device");
        let socket = engine.open_socket(&SocketOptions::default()).unwrap();
        assert_eq!(engine.bind(socket, at(to, 9)), Err(Error::WrongAddress));
    }
}

#[test]
fn reuseport_balances_by_flow() {
    let (mut engine, device) = engine();
    let sockets: Vec<_> = (0..3).map(|_| shared_socket(&mut engine, at("10.0.0.1", 7))).collect();
    let mut parts = [0; 3];
    for port in 1..=3_000 {
        let frame = frame(at("10.0.0.2", port), at("10.0.0.1", 7), b"");
        let mut seen = Seen::default();
        engine.handle_frame(NOW, device, &frame, &mut seen);
        engine.handle_frame(NOW, device, &frame, &mut seen);
        let [one, two] = seen.sockets()[..] else { panic!("{port}") };
        assert_eq!(one, two);
        parts[sockets.iter().position(|&socket| socket == one).unwrap()] += 1;
    }
    assert!(parts.iter().all(|&part| part > 800), "{parts:?}");
}

#[test]
fn wrong_checksums_are_dropped() {
    for (host, peer) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
        let (mut engine, device) = engine();
        bound(&mut engine, at(host, 7));
        let good = frame(at(peer, 9), at(host, 7), b"payload");
        let is_ipv4 = ip(host).is_ipv4();
        let udp = if is_ipv4 { 34 } else { 54 };
        let mut seen = Seen::default();
        let mut dropped = 0;
        // Before and after the device has seen a partial sum, and for unknown and known flows.
        for _ in 0..2 {
            for byte in [14 + 8, udp + 6, udp + 7, udp + 8].into_iter().skip(usize::from(!is_ipv4))
            {
                let mut bad = good.clone();
                bad[byte] ^= 0x10;
                assert!(engine.deliver_known_flow(device, &bad).is_none(), "{byte}");
                let verdict = engine.handle_frame(NOW, device, &bad, &mut seen);
                assert_eq!(verdict, Verdict::Dropped(Dropped::Checksum), "{byte}");
                dropped += 1;
            }
            assert_eq!(engine.device_counters(device).unwrap().wrong_checksum, dropped);
            let partial = with_partial_checksum(&good);
            let verdict = engine.handle_frame(NOW, device, &partial, &mut seen);
            assert_eq!(verdict, Verdict::Delivered(1));
        }
        let mut none = good.clone();
        none[udp + 6..udp + 8].fill(0);
        let verdict = engine.handle_frame(NOW, device, &none, &mut seen);
        let expected =
            if is_ipv4 { Verdict::Delivered(1) } else { Verdict::Dropped(Dropped::Checksum) };
        assert_eq!(verdict, expected, "without a checksum");
    }
}

#[test]
fn partial_sum_is_accepted_in_the_fast_path_after_the_first_frame() {
    for (host, peer) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
        let (mut engine, device) = engine();
        let socket = bound(&mut engine, at(host, 7));
        let good = frame(at(peer, 9), at(host, 7), b"payload");
        let partial = with_partial_checksum(&good);
        assert_ne!(partial, good);
        let mut seen = Seen::default();
        engine.handle_frame(NOW, device, &good, &mut seen);
        assert!(engine.deliver_known_flow(device, &partial).is_none(), "no partial sum yet");
        let verdict = engine.handle_frame(NOW, device, &partial, &mut seen);
        assert_eq!(verdict, Verdict::Delivered(1));
        for frame in [&partial, &good] {
            let (known, payload) = engine.deliver_known_flow(device, frame).unwrap();
            assert_eq!((known, payload.bytes(frame)), (socket, &b"payload"[..]));
        }
        // The IPv4 header is verified all the same, and the addresses by the sum itself.
        for byte in 14..good.len() - b"payload".len() - 8 {
            let mut bad = partial.clone();
            bad[byte] ^= 1;
            let verdict = engine.handle_frame(NOW, device, &bad, &mut seen);
            let is_covered = ip(host).is_ipv4() || byte >= 14 + 8;
            assert!(verdict != Verdict::Delivered(1) || !is_covered, "{byte}");
        }
    }
}

/// Returns the frame with the folded sum of the pseudo header as its UDP checksum.
fn with_partial_checksum(frame: &[u8]) -> Vec<u8> {
    let (is_ipv4, mut partial) = (frame[14] >> 4 == 4, frame.to_vec());
    let (addresses, udp) = if is_ipv4 { (26..34, 34) } else { (22..54, 54) };
    let word = |bytes: &[u8]| u32::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    let sum = frame[addresses].chunks(2).map(word).sum::<u32>() + 17 + word(&frame[udp + 4..]);
    let folded = (sum >> 16) + (sum & 0xFFFF);
    let folded = ((folded >> 16) + folded) as u16;
    partial[udp + 6..udp + 8].copy_from_slice(&folded.to_be_bytes());
    partial
}

#[test]
fn martian_sources_are_dropped_and_never_become_known_flows() {
    let (mut engine, device) = engine();
    for local in ["10.0.0.1", "fd00::1", "0.0.0.0"] {
        bound(&mut engine, at(local, if local == "0.0.0.0" { 8 } else { 7 }));
    }
    let group = bound(&mut engine, at("0.0.0.0", 9));
    engine.join(group, device, ip("239.1.1.1")).unwrap();
    let mut seen = Seen::default();
    let v4 = ["127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "10.0.0.1"];
    let v6 = ["::1", "::", "ff02::1", "fd00::1"];
    let to = |to: &str, port| v4.map(|source| (source, at(to, port)));
    let to_v6 = v6.map(|source| (source, at("fd00::1", 7)));
    let all = [to("10.0.0.1", 7), to("10.0.0.1", 8), to("239.1.1.1", 9)].concat();
    let mut dropped = 0;
    for (source, destination) in all.into_iter().chain(to_v6) {
        let frame = frame(at(source, 9), destination, b"x");
        for _ in 0..2 {
            assert!(engine.deliver_known_flow(device, &frame).is_none(), "{source}");
            let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
            assert_eq!(verdict, Verdict::Dropped(Dropped::Martian), "{source}");
            dropped += 1;
        }
    }
    assert_eq!(engine.device_counters(device).unwrap().martian, dropped);
    assert!(seen.datagrams.is_empty());
    let mapped = |source: &str, to: &str| {
        let mut frame = frame(at("fd00::2", 9), at("fd00::1", 7), b"x");
        let octets = |text: &str| text.parse::<std::net::Ipv6Addr>().unwrap().octets();
        frame[22..38].copy_from_slice(&octets(source));
        frame[38..54].copy_from_slice(&octets(to));
        with_partial_checksum(&frame)
    };
    for (source, to) in [
        ("::ffff:10.0.0.2", "fd00::1"),
        ("fd00::2", "::ffff:10.0.0.1"),
        ("::ffff:10.0.0.2", "::ffff:10.0.0.1"),
    ] {
        let verdict = engine.handle_frame(NOW, device, &mapped(source, to), &mut seen);
        assert_eq!(verdict, Verdict::Dropped(Dropped::Martian), "{source} {to}");
    }
    assert_eq!(
        engine.handle_frame(NOW, device, &mapped("fd00::2", "fd00::1"), &mut seen),
        Verdict::Delivered(1)
    );
}

#[test]
fn known_flow_whose_source_becomes_our_own_is_martian() {
    let (mut engine, device) = engine();
    bound(&mut engine, at("10.0.0.1", 7));
    let frame = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"x");
    let mut seen = Seen::default();
    assert_eq!(engine.handle_frame(NOW, device, &frame, &mut seen), Verdict::Delivered(1));
    assert!(engine.deliver_known_flow(device, &frame).is_some());
    engine.add_address(device, ip("10.0.0.2"), None).unwrap();
    assert!(engine.deliver_known_flow(device, &frame).is_none());
    let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
    assert_eq!(verdict, Verdict::Dropped(Dropped::Martian));
    engine.remove_address(device, ip("10.0.0.2"));
    assert_eq!(engine.handle_frame(NOW, device, &frame, &mut seen), Verdict::Delivered(1));
}

/// A listener that rejects one source.
struct Rejects(Address, u32);

impl Listener for Rejects {
    fn on_datagram(&mut self, _: Now, _: SocketId, _: &Datagram<'_>) {
        self.1 += 1;
    }

    fn accepts_source(&mut self, source: Address, _: Address) -> bool {
        source != self.0
    }
}

#[test]
fn listener_rejects_sources_of_flows_that_are_not_known() {
    let (mut engine, device) = engine();
    bound(&mut engine, at("10.0.0.1", 7));
    let frame = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"x");
    let mut listener = Rejects(ip("10.0.0.3"), 0);
    assert_eq!(engine.handle_frame(NOW, device, &frame, &mut listener), Verdict::Delivered(1));
    listener.0 = ip("10.0.0.2");
    assert!(engine.deliver_known_flow(device, &frame).is_some(), "until flows are forgotten");
    engine.forget_flows();
    assert!(engine.deliver_known_flow(device, &frame).is_none());
    let verdict = engine.handle_frame(NOW, device, &frame, &mut listener);
    assert_eq!((verdict, listener.1), (Verdict::Dropped(Dropped::Martian), 1));
}

#[test]
fn icmp_error_from_a_martian_source_counts_for_nothing() {
    let (mut engine, device) = engine();
    bound(&mut engine, at("10.0.0.1", 7));
    let quoted = frame(at("10.0.0.1", 7), at("10.0.0.2", 9), b"x");
    let error = |source: [u8; 4]| {
        let mut frame = Vec::new();
        etherparse::PacketBuilder::ethernet2(THEIRS.0, OURS.0)
            .ipv4(source, [10, 0, 0, 1], 9)
            .icmpv4_raw(3, 3, [0; 4])
            .write_to_vec(&mut frame, &quoted[14..])
            .unwrap();
        frame
    };
    let mut seen = Seen::default();
    for source in [[127, 0, 0, 1], [10, 0, 0, 1], [224, 0, 0, 1], [0, 0, 0, 0]] {
        let verdict = engine.handle_frame(NOW, device, &error(source), &mut seen);
        assert_eq!(verdict, Verdict::Dropped(Dropped::Martian), "{source:?}");
    }
    assert!(seen.errors.is_empty());
    engine.handle_frame(NOW, device, &error([10, 0, 0, 9]), &mut seen);
    assert_eq!(seen.errors.len(), 1);
}

#[test]
fn udp_length_of_zero_is_that_of_the_packet_over_ipv6_only() {
    let (mut engine, device) = engine();
    bound(&mut engine, at("10.0.0.1", 7));
    bound(&mut engine, at("fd00::1", 7));
    let mut seen = Seen::default();
    let mut six = frame(at("fd00::2", 9), at("fd00::1", 7), b"payload");
    six[58..60].fill(0);
    let verdict = engine.handle_frame(NOW, device, &six, &mut seen);
    assert_eq!(verdict, Verdict::Dropped(Dropped::Checksum), "the sum covers the field");
    let old = u16::from_be_bytes([six[60], six[61]]);
    let checksum = hairpin_wire::update(old, 15, 0);
    six[60..62].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(engine.handle_frame(NOW, device, &six, &mut seen), Verdict::Delivered(1));
    assert_eq!(seen.datagrams[0].3, b"payload");
    let mut four = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"payload");
    four[38..42].fill(0);
    let verdict = engine.handle_frame(NOW, device, &four, &mut seen);
    assert_eq!(verdict, Verdict::Dropped(Dropped::Malformed));
}

#[test]
fn foreign_frames_pass_to_the_kernel() {
    let (mut engine, device) = engine();
    bound(&mut engine, at("10.0.0.1", 7));
    bound(&mut engine, at("fd00::1", 7));
    let good = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"payload");
    let six = frame(at("fd00::2", 9), at("fd00::1", 7), b"payload");
    type Case<'a> = (&'a [u8], &'a [(usize, u8)], Kernel);
    let cases: [Case<'_>; 8] = [
        (&good, &[(5, 9)], Kernel::OtherMac),
        (&good, &[(12, 8), (13, 6)], Kernel::OtherProtocol),
        (&good, &[(20, 0x20)], Kernel::Fragment),
        (&good, &[(21, 1)], Kernel::Fragment),
        (&good, &[(14, 0x46)], Kernel::Options),
        (&good, &[(23, 6)], Kernel::OtherProtocol),
        (&six, &[(20, 44)], Kernel::Fragment),
        (&six, &[(20, 0)], Kernel::OtherProtocol),
    ];
    let mut seen = Seen::default();
    for (number, (frame, changes, expected)) in cases.into_iter().enumerate() {
        let mut frame = frame.to_vec();
        changes.iter().for_each(|&(at, byte)| frame[at] = byte);
        if frame[14] == 0x45 {
            fix_header_checksum(&mut frame);
        }
        let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
        assert_eq!(verdict, Verdict::Kernel(expected), "{number}");
    }
    assert_eq!(engine.device_counters(device).unwrap().to_kernel, 8);
    for length in 0..good.len() {
        let verdict = engine.handle_frame(NOW, device, &good[..length], &mut seen);
        assert_eq!(verdict, Verdict::Dropped(Dropped::Malformed), "{length}");
    }
    assert_eq!(engine.device_counters(device).unwrap().malformed, good.len() as u64);
    assert!(seen.datagrams.is_empty());
}

#[test]
fn vlan_tag_selects_the_vlan_device() {
    let (mut engine, device) = engine();
    let vlan = DeviceSettings { vlan: Some((device, 101)), ..DEVICE };
    let vlan = engine.add_device(&vlan).unwrap();
    bound(&mut engine, at("10.0.0.1", 7));
    let plain = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"payload");
    let mut seen = Seen::default();
    let mut tagged = |ether_type: [u8; 2], tag: u16, inner: [u8; 2]| {
        let parts = [&plain[..12], &ether_type, &tag.to_be_bytes(), &inner, &plain[14..]];
        let verdict = engine.handle_frame(NOW, device, &parts.concat(), &mut seen);
        (verdict, seen.device.take())
    };
    let (delivered, other) = (Verdict::Delivered(1), Verdict::Kernel(Kernel::OtherDevice));
    assert_eq!(tagged([0x81, 0], 0xE065, [8, 0]), (delivered, Some(vlan)));
    assert_eq!(tagged([0x81, 0], 0xE000, [8, 0]), (delivered, Some(device)));
    assert_eq!(tagged([0x81, 0], 102, [8, 0]), (other, None));
    assert_eq!(tagged([0x88, 0xA8], 101, [8, 0]), (other, None));
    assert_eq!(tagged([0x81, 0], 101, [0x81, 0]), (other, None));
    assert_eq!(engine.device_counters(vlan).unwrap().frames, 1);
}

#[test]
fn closed_socket_differs_from_its_successor() {
    let (mut engine, device) = engine();
    let first = bound(&mut engine, at("10.0.0.1", 7));
    engine.close(first).unwrap();
    let second = bound(&mut engine, at("10.0.0.1", 7));
    assert_ne!(first, second);
    assert_eq!(engine.close(first), Err(Error::NoSuchSocket));
    assert_eq!(engine.join(first, device, ip("239.1.1.1")), Err(Error::NoSuchSocket));
    let frame = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), b"");
    let mut seen = Seen::default();
    engine.handle_frame(NOW, device, &frame, &mut seen);
    assert_eq!(seen.sockets(), [second]);
}

#[test]
fn dual_stack_socket_receives_ipv4_that_no_ipv4_socket_receives() {
    let (mut engine, device) = engine();
    let mut open = |dual_stack, local| {
        let options = SocketOptions { reuse_address: true, dual_stack, ..SocketOptions::default() };
        let socket = engine.open_socket(&options).unwrap();
        engine.bind(socket, local).unwrap();
        socket
    };
    let (dual, only_v6) = (open(true, at("::", 7)), open(false, at("::", 7)));
    let v4 = open(false, at("0.0.0.0", 8));
    open(true, at("::", 8));
    open(false, at("::", 9));
    let mut recipients = |from: &str, to, port| {
        let mut seen = Seen::default();
        engine.handle_frame(NOW, device, &frame(at(from, 9), at(to, port), b"x"), &mut seen);
        seen.sockets()
    };
    assert_eq!(recipients("10.0.0.2", "10.0.0.1", 7), [dual]);
    assert!([dual, only_v6].contains(&recipients("fd00::2", "fd00::1", 7)[0]));
    assert_eq!(recipients("10.0.0.2", "10.0.0.1", 8), [v4]);
    assert_eq!(recipients("10.0.0.2", "10.0.0.1", 9), []);
    assert_eq!(recipients("10.0.0.2", "10.0.0.9", 7), [], "not an address of this host");
    let prepare = |socket, source, to| engine.prepare(socket, &route(device, source, to));
    assert!(prepare(dual, "10.0.0.1", at("10.0.0.2", 9)).is_ok());
    assert_eq!(prepare(only_v6, "10.0.0.1", at("10.0.0.2", 9)).err(), Some(Error::WrongAddress));
    assert_eq!(engine.join(only_v6, device, ip("239.1.1.1")), Err(Error::WrongAddress));
    assert_eq!(engine.join(dual, device, ip("239.1.1.1")), Ok(()));
    assert_eq!(
        engine.connect(only_v6, ip("10.0.0.1"), at("10.0.0.2", 9)),
        Err(Error::WrongAddress)
    );
    assert_eq!(engine.connect(dual, ip("10.0.0.1"), at("10.0.0.2", 9)), Ok(()));
}

#[test]
fn invalid_operations_are_rejected() {
    let (mut engine, device) = engine();
    let host = at("10.0.0.1", 7);
    let bound_one = bound(&mut engine, host);
    let open = engine.open_socket(&SocketOptions::default()).unwrap();
    assert_eq!(engine.bind(open, host), Err(Error::AddressInUse));
    assert_eq!(engine.bind(open, at("10.0.0.1", 0)), Err(Error::NoPort));
    assert_eq!(engine.bind(bound_one, at("10.0.0.1", 8)), Err(Error::WrongState));
    assert_eq!(engine.join(open, device, ip("239.1.1.1")), Err(Error::WrongState));
    assert_eq!(engine.join(bound_one, device, ip("10.1.1.1")), Err(Error::WrongAddress));
    assert_eq!(engine.join(bound_one, device, ip("ff02::1")), Err(Error::WrongAddress));
    assert_eq!(engine.connect(open, ip("10.0.0.1"), at("10.0.0.2", 9)), Err(Error::WrongState));
    let mut connect = |local, remote| engine.connect(bound_one, ip(local), remote);
    assert_eq!(connect("10.0.0.9", at("10.0.0.2", 9)), Err(Error::WrongAddress));
    assert_eq!(connect("10.0.0.1", at("fd00::2", 9)), Err(Error::WrongAddress));
    assert_eq!(connect("10.0.0.1", at("10.0.0.2", 0)), Err(Error::NoPort));
    assert_eq!(connect("10.0.0.1", at("10.0.0.2", 9)), Ok(()));
    let any = engine.add_address(device, ip("0.0.0.0"), None);
    assert_eq!(any, Err(Error::WrongAddress));
    while engine.open_socket(&SocketOptions::default()).is_ok() {}
    assert_eq!(engine.open_socket(&SocketOptions::default()), Err(Error::Full));
}
