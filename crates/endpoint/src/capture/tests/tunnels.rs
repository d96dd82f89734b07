//! Tests of tags and tunnels around a datagram, written from their specifications.

use super::*;

const EXPECTED: (&str, &str, &[u8]) = ("10.0.0.1:1", "224.0.28.5:14310", b"data");

/// Returns the payload of the only frame of a file.
fn read(link: u32, frame: &[u8]) -> Result<(String, String, Vec<u8>), String> {
    let file = pcap(false, true, link, &[(1, 2, frame)]);
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let frame = reader.next_frame().unwrap().unwrap();
    match frame.payload() {
        Ok(Payload::Datagram { source, destination, bytes }) => {
            Ok((source.to_string(), destination.to_string(), bytes.to_vec()))
        }
        Ok(Payload::Other) => Err(frame.protocol().unwrap().to_string()),
        Ok(segment) => Err(format!("{segment:?}")),
        Err(error) => Err(error.to_string()),
    }
}

fn assert_read(link: u32, frame: &[u8], what: &str) {
    let (source, destination, bytes) = EXPECTED;
    let expected = (source.to_owned(), destination.to_owned(), bytes.to_vec());
    assert_eq!(read(link, frame), Ok(expected), "{what}");
}

fn ethernet() -> Vec<u8> {
    datagram_of(b"data")
}

fn ip() -> Vec<u8> {
    ethernet()[14..].to_vec()
}

/// Returns an Ethernet frame with another EtherType and what follows it.
fn typed(ether_type: u16, rest: &[u8]) -> Vec<u8> {
    [&ethernet()[..12], &ether_type.to_be_bytes(), rest].concat()
}

/// Returns an IPv4 packet of this protocol.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 9, protocol, 0, 0, 10, 9, 9, 1, 10, 9, 9, 2];
    packet.extend_from_slice(payload);
    let length = (packet.len() as u16).to_be_bytes();
    packet[2..4].copy_from_slice(&length);
    packet
}

/// Returns an IPv6 packet that begins with this header.
fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0, length[0], length[1], next, 9][..], &[0xfd; 32], payload].concat()
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let halves = [50_000, port, length, 0].map(u16::to_be_bytes);
    [&halves.concat()[..], payload].concat()
}

fn gre(flags: u16, options: &[u8], protocol: u16, payload: &[u8]) -> Vec<u8> {
    [&flags.to_be_bytes()[..], &protocol.to_be_bytes(), options, payload].concat()
}

fn vxlan(payload: &[u8]) -> Vec<u8> {
    [&[8, 0, 0, 0, 0, 0, 7, 0][..], payload].concat()
}

#[test]
fn finds_datagram_after_any_tags() {
    let after = |header: &[u8]| [header, &[8, 0], &ip()].concat();
    for (ether_type, rest, what) in [
        (0x9200, after(&[0, 7]), "0x9200"),
        (0x88a8, after(&[0, 7, 0x88, 0xa8, 0, 8, 0x81, 0, 0, 9, 0x81, 0, 0, 1]), "four tags"),
        (0x8926, after(&[0, 1, 0, 2]), "VN-Tag"),
        (0x8926, after(&[0, 1, 0, 2, 0x81, 0, 0, 5]), "VN-Tag and VLAN"),
        (0x893f, after(&[0, 1, 0, 2, 0, 0]), "E-Tag"),
        (0xd28b, after(&[&[0, 1, 0, 0x10][..], &[7; 8]].concat()), "Arista, 64 bits, TAI"),
        (0xd28b, after(&[&[0, 1, 1, 0x10][..], &[7; 8]].concat()), "Arista, 64 bits, UTC"),
        (0xd28b, after(&[&[0, 1, 0, 0x20][..], &[7; 6]].concat()), "Arista, 48 bits, TAI"),
        (0xd28b, after(&[&[0, 1, 1, 0x20][..], &[7; 6]].concat()), "Arista, 48 bits, UTC"),
        (0x8100, after(&[&[0, 5, 0xd2, 0x8b, 0, 1, 0, 0x20][..], &[7; 6]].concat()), "both"),
    ] {
        assert_read(1, &typed(ether_type, &rest), what);
    }
}

#[test]
fn finds_datagram_after_llc_and_pppoe() {
    for organization in [[0, 0, 0], [0, 0, 0xf8]] {
        let snap = [&[0xaa, 0xaa, 3][..], &organization, &[8, 0], &ip()].concat();
        assert_read(1, &typed(snap.len() as u16, &snap), "SNAP");
        let padded = [&snap[..], &[0xee; 20]].concat();
        assert_read(1, &typed(snap.len() as u16, &padded), "SNAP with padding");
    }
    let length = (ip().len() as u16 + 2).to_be_bytes();
    let session = [&[0x11, 0, 0, 9], &length[..], &[0, 0x21], &ip()].concat();
    assert_read(1, &typed(0x8864, &session), "PPPoE");
}

#[test]
fn finds_datagram_after_mpls_labels() {
    let labels = [&[0, 1, 0, 9][..], &[0, 2, 1, 9]].concat();
    let one = [0, 2, 1, 9];
    let control_word = [0, 0, 0, 5];
    for (packet, what) in [
        ([&labels[..], &ip()].concat(), "IP"),
        ([&one[..], &control_word, &ethernet()].concat(), "pseudowire"),
        ([&one[..], &ethernet()].concat(), "pseudowire without a control word"),
    ] {
        assert_read(1, &typed(0x8847, &packet), what);
        assert_read(1, &typed(0x8848, &packet), what);
        let in_gre = ipv4(47, &gre(0, &[], 0x8847, &packet));
        assert_read(101, &in_gre, &format!("{what} in GRE"));
        assert_read(101, &ipv4(17, &udp(6635, &packet)), &format!("{what} in UDP"));
        assert_read(101, &ipv4(137, &packet), &format!("{what} in IP"));
    }
}

#[test]
fn finds_datagram_in_gre_and_erspan() {
    let type_ii = [&[0x10, 5, 0, 1, 0, 0, 0, 3][..], &ethernet()].concat();
    let type_iii =
        |last: [u8; 2], rest: &[u8]| [&[0x20, 5, 0, 1, 0, 0, 0, 9, 0, 0][..], &last, rest].concat();
    let subheader = [&[0x0c; 8][..], &ethernet()].concat();
    for (packet, what) in [
        (gre(0, &[], 0x0800, &ip()), "IP"),
        (gre(0x8000, &[0; 4], 0x0800, &ip()), "checksum"),
        (gre(0x2000, &[1; 4], 0x0800, &ip()), "key"),
        (gre(0xb000, &[1; 12], 0x0800, &ip()), "checksum, key and sequence number"),
        (gre(0x2000, &[1; 4], 0x6558, &ethernet()), "bridging"),
        (gre(0, &[], 0x88be, &ethernet()), "ERSPAN I"),
        (gre(0x1000, &[1; 4], 0x88be, &type_ii), "ERSPAN II"),
        (gre(0x1000, &[1; 4], 0x22eb, &type_iii([0, 0], &ethernet())), "ERSPAN III"),
        (gre(0x1000, &[1; 4], 0x22eb, &type_iii([0, 1], &subheader)), "ERSPAN III, subheader"),
        (gre(0x1000, &[1; 4], 0x22eb, &type_iii([8, 0], &ip())), "ERSPAN III, IP"),
    ] {
        assert_read(101, &ipv4(47, &packet), what);
        assert_read(1, &typed(0x86dd, &ipv6(47, &packet)), &format!("{what} over IPv6"));
    }
}

#[test]
fn finds_datagram_in_tunnels_over_udp_and_ip() {
    let gpe = |protocol: u8, rest: &[u8]| [&[0x0c, 0, 0, protocol, 0, 0, 7, 0][..], rest].concat();
    let geneve = |options: u8, protocol: [u8; 2], rest: &[u8]| {
        let length = 4 * usize::from(options);
        [&[options, 0][..], &protocol, &[0, 0, 7, 0], &vec![1; length], rest].concat()
    };
    for (packet, what) in [
        (udp(4789, &vxlan(&ethernet())), "VXLAN"),
        (udp(8472, &vxlan(&ethernet())), "VXLAN on Linux's port"),
        (udp(4790, &gpe(1, &ip())), "VXLAN-GPE, IPv4"),
        (udp(4790, &gpe(3, &ethernet())), "VXLAN-GPE, Ethernet"),
        (udp(6081, &geneve(0, [0x65, 0x58], &ethernet())), "GENEVE"),
        (udp(6081, &geneve(3, [8, 0], &ip())), "GENEVE with options, IPv4"),
    ] {
        assert_read(101, &ipv4(17, &packet), what);
        assert_read(101, &ipv6(17, &packet), &format!("{what} over IPv6"));
    }
    assert_read(101, &ipv4(4, &ip()), "IP in IP");
    assert_read(101, &ipv6(4, &ip()), "IPv4 in IPv6");
    assert_read(101, &ipv4(41, &ipv6(4, &ip())), "IPv4 in IPv6 in IPv4");
    let authenticated = [&[17, 4, 0, 0][..], &[0; 20], &udp(4789, &vxlan(&ethernet()))].concat();
    assert_read(101, &ipv4(51, &authenticated), "authentication header");
    let options = [&[47, 0, 1, 4, 0, 0, 0, 0][..], &gre(0, &[], 0x0800, &ip())].concat();
    assert_read(101, &ipv6(60, &options), "GRE after destination options");
}

#[test]
fn finds_datagram_in_tunnels_in_each_other() {
    let tagged = typed(0x8100, &[&[0, 9, 8, 0][..], &ip()].concat());
    let erspan =
        gre(0x1000, &[1; 4], 0x88be, &[&[0x10, 5, 0, 1, 0, 0, 0, 3][..], &tagged].concat());
    let outer = typed(0x0800, &ipv4(47, &erspan));
    assert_read(1, &outer, "VLAN in ERSPAN");
    let inner = ipv6(17, &udp(4789, &vxlan(&outer)));
    assert_read(1, &typed(0x86dd, &inner), "VLAN in ERSPAN in VXLAN over IPv6");
    let labeled = [&[0, 2, 1, 9][..], &inner].concat();
    assert_read(101, &ipv4(47, &gre(0x2000, &[1; 4], 0x8847, &labeled)), "in MPLS in GRE");
}

#[test]
fn deep_nesting_ends() {
    let mut packet = ip();
    for _ in 0..200 {
        packet = ipv4(4, &packet);
    }
    assert_eq!(read(101, &packet).unwrap_err(), "too many nested headers");
    // Each level may be read in two ways.
    let mut frame = vec![0; 60];
    for _ in 0..200 {
        frame = [&[0, 2, 1, 9, 0, 0, 0, 0][..], &[0; 12], &[0x88, 0x47], &frame].concat();
    }
    assert!(read(1, &typed(0x8847, &frame)).is_err());
}

#[test]
fn datagram_that_contains_no_packet_stays_as_it_is() {
    let market_data = [&[8, 0, 0, 0][..], &[9; 8], &[10, 0, 0, 0, 12, 0, 1, 0, 13, 0]].concat();
    for port in [4789, 4790, 6081, 6635, 8472] {
        for payload in [&b""[..], b"short", &market_data, &vxlan(b"not a frame"), &[0; 64]] {
            let (_, destination, bytes) = read(101, &ipv4(17, &udp(port, payload))).unwrap();
            assert_eq!(destination, format!("10.9.9.2:{port}"));
            assert_eq!(bytes, payload);
        }
    }
}

#[test]
fn cooked_protocol_is_read_for_every_hardware_type() {
    let sll = |hardware: u16, protocol: u16, rest: &[u8]| {
        let [hardware, protocol] = [hardware, protocol].map(u16::to_be_bytes);
        [&[0, 0][..], &hardware, &[0, 6], &[0; 8], &protocol, rest].concat()
    };
    let sll2 = |hardware: u16, protocol: u16, rest: &[u8]| {
        let [hardware, protocol] = [hardware, protocol].map(u16::to_be_bytes);
        [&protocol[..], &[0, 0, 0, 0, 0, 3], &hardware, &[0, 6], &[0; 8], rest].concat()
    };
    // Ethernet, ARCnet, PPP, IP in IP, loopback, SIT, GRE, InfiniBand, none (tun), raw IP.
    for hardware in [1, 7, 512, 768, 772, 776, 778, 32, 0xfffe, 519] {
        assert_read(113, &sll(hardware, 0x0800, &ip()), "cooked");
        assert_read(276, &sll2(hardware, 0x0800, &ip()), "cooked 2");
        let tagged = [&[0, 7, 8, 0][..], &ip()].concat();
        assert_read(113, &sll(hardware, 0x8100, &tagged), "cooked with VLAN");
    }
    let snap = [&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0][..], &ip()].concat();
    assert_read(113, &sll(1, 4, &snap), "cooked 802.2");
    for hardware in [770, 803, 824] {
        let expected = format!("cooked hardware type {hardware}");
        assert_eq!(read(113, &sll(hardware, 0x0800, &ip())).unwrap_err(), expected);
        assert_eq!(read(276, &sll2(hardware, 0x0800, &ip())).unwrap_err(), expected);
    }
}

#[test]
fn names_what_is_not_decoded() {
    for (link, frame, what) in [
        (1, typed(0x0806, &[0; 28]), "EtherType 0x0806 (ARP)"),
        (1, typed(0x88f7, &[0; 44]), "EtherType 0x88f7 (PTP)"),
        (1, typed(0x8100, &[0, 7, 0x12, 0x34, 0]), "EtherType 0x1234"),
        (1, typed(38, &[0x42; 38]), "LLC service access point 0x42 (spanning tree)"),
        (1, typed(0xd28b, &[0, 9, 0, 0x10]), "EtherType 0xd28b (Arista)"),
        (101, ipv4(2, &[0; 8]), "IP protocol 2 (IGMP)"),
        (101, ipv4(47, &gre(0x4000, &[0; 8], 0x0800, &ip())), "IP protocol 47 (GRE)"),
        (101, ipv4(47, &gre(1, &[0; 8], 0x880b, &ip())), "IP protocol 47 (GRE)"),
        (101, ipv4(47, &gre(0, &[], 0x0806, &[0; 28])), "EtherType 0x0806 (ARP)"),
        (101, ipv4(17, &udp(4789, &vxlan(&typed(0x0806, &[0; 28])))), "EtherType 0x0806 (ARP)"),
        (101, ipv6(58, &[0; 8]), "IP protocol 58 (ICMPv6)"),
        (0, vec![7, 0, 0, 0, 0, 0], "address family 7"),
        (113, vec![0; 9], "frames without a whole link header"),
    ] {
        assert_eq!(read(link, &frame).unwrap_err(), what);
    }
}

#[test]
fn fragment_of_a_tunnel_is_a_fragment() {
    let mut packet = ipv4(47, &gre(0, &[], 0x0800, &ip()));
    packet[6] = 0x20;
    assert_eq!(read(101, &packet).unwrap_err(), "IP fragment: fragments are not reassembled");
}

#[test]
fn segment_has_flags_and_what_was_captured_of_it() {
    let mut frame = Vec::new();
    let builder = etherparse::PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([1; 4], [2; 4], 1);
    builder.tcp(1, 2, 77, 9).fin().rst().write(&mut frame, b"segment").unwrap();
    let read = |bytes: &[u8], length: u32| {
        LinkType::ETHERNET.payload(bytes, length).map(|payload| {
            let Payload::Segment { sequence, syn, fin, rst, bytes, missing, .. } = payload else {
                panic!("{payload:?}")
            };
            (sequence, syn, fin, rst, bytes.to_vec(), missing)
        })
    };
    let length = frame.len() as u32;
    let whole = (77, false, true, true, b"segment".to_vec(), 0);
    assert_eq!(read(&frame, length), Ok(whole.clone()));
    let cut = &frame[..frame.len() - 3];
    assert_eq!(read(cut, length), Ok((77, false, true, true, b"segm".to_vec(), 3)));
    let error = read(cut, cut.len() as u32).unwrap_err();
    assert_eq!(error.to_string(), "IP packet is longer than its frame");
    let error = read(&frame[..30], length).unwrap_err();
    assert_eq!(error, PacketError::Cut { captured: 30, length });
    // Segmentation offload.
    frame[16..18].fill(0);
    assert_eq!(read(&frame, length), Ok(whole));
}

proptest! {
    #[test]
    fn never_panics_on_changed_tunnels(
        which in 0_usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let erspan = [&[0x20, 5, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1][..], &[0; 8], &ethernet()].concat();
        let packet = match which {
            0 => ipv4(47, &gre(0xb000, &[1; 12], 0x22eb, &erspan)),
            1 => ipv6(17, &udp(4789, &vxlan(&ethernet()))),
            2 => {
                let header = [2, 0, 0x65, 0x58, 0, 0, 7, 0];
                ipv4(17, &udp(6081, &[&header[..], &[1; 8], &ethernet()].concat()))
            }
            3 => ipv4(137, &[&[0, 2, 1, 9, 0, 0, 0, 0][..], &ethernet()].concat()),
            4 => ipv6(60, &[&[51, 0, 1, 4, 0, 0, 0, 0, 4, 4, 0, 0][..], &[0; 20], &ip()].concat()),
            _ => ipv4(17, &udp(6635, &[&[0, 2, 1, 9][..], &ip()].concat())),
        };
        let mut frame = typed(if packet[0] >> 4 == 4 { 0x0800 } else { 0x86dd }, &packet);
        for (place, value) in changes {
            *place.get_mut(&mut frame) = value;
        }
        let length = frame.len() as u32;
        for bytes in [&frame[..], &frame[..cut.index(frame.len())]] {
            for link in [1, 101, 113, 276, 0] {
                let _ = LinkType(link).payload(bytes, length);
            }
        }
    }
}
