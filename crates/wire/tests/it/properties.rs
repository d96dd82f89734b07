//! Property tests with any fields and bytes, compared with etherparse.

use etherparse::{
    ArpHardwareId, Icmpv4Slice, Icmpv6Slice, Ipv4HeaderSlice, Ipv6HeaderSlice, NetSlice,
    PacketBuilder, SlicedPacket, TcpSlice, TransportSlice, UdpSlice, VlanId,
};
use hairpin_wire::{
    ArpOperation, ArpPacket, EtherType, EthernetHeader, Icmpv4Header, Icmpv4Message, Icmpv6Header,
    Icmpv6Message, IgmpHeader, Ipv4Header, Ipv6Header, MacAddress, Protocol, QuotedPacket, Sum,
    TcpFlags, TcpHeader, TcpOption, TcpOptions, UdpHeader, VlanTag, update, update_u32,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn payload() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..300)
}

/// Computes the checksum word by word, as in RFC 1071 §1.
fn slow_checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| [pair[0], *pair.get(1).unwrap_or(&0)]);
    let mut sum = words.map(|pair| u32::from(u16::from_be_bytes(pair))).sum::<u32>();
    while sum > 0xFFFF {
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    !(sum as u16)
}

proptest! {
    #[test]
    fn sum_of_parts_equals_reference(bytes in payload(), cuts in any::<(u16, u16)>()) {
        let even = |cut: u16| usize::from(cut) % (bytes.len() + 1) / 2 * 2;
        let (first, second) = (even(cuts.0).min(even(cuts.1)), even(cuts.0).max(even(cuts.1)));
        let expected = slow_checksum(&bytes);
        prop_assert_eq!(Sum::ZERO.bytes(&bytes).checksum(), expected);
        let [a, b, c] = [&bytes[..first], &bytes[first..second], &bytes[second..]];
        prop_assert_eq!(Sum::ZERO.bytes(a).bytes(b).bytes(c).checksum(), expected);
        let [a, b, c] = [a, b, c].map(|part| Sum::ZERO.bytes(part));
        prop_assert_eq!(c.join(a).join(b).checksum(), expected);
    }

    #[test]
    fn update_equals_new_sum(
        mut bytes in vec(any::<u8>(), 8..60),
        at in any::<u16>(),
        new in any::<[u8; 4]>(),
    ) {
        let at = usize::from(at) % (bytes.len() - 4) / 2 * 2;
        let before = Sum::ZERO.bytes(&bytes).checksum();
        let old: [u8; 4] = bytes[at..at + 4].try_into().unwrap();
        bytes[at..at + 4].copy_from_slice(&new);
        let word = |bytes: [u8; 4]| u32::from_be_bytes(bytes);
        let after = update_u32(before, word(old), word(new));
        let high = update(before, (word(old) >> 16) as u16, (word(new) >> 16) as u16);
        prop_assert_eq!(update(high, word(old) as u16, word(new) as u16), after);
        // Only all zeros have two valid checksums: 0xFFFF, and the result of an update.
        if bytes.iter().any(|&byte| byte != 0) {
            prop_assert_eq!(after, slow_checksum(&bytes));
        }
    }

    #[test]
    fn reads_datagrams_of_etherparse(
        macs in any::<([u8; 6], [u8; 6])>(),
        vlan in proptest::option::of(0_u16..4_096),
        addresses in any::<([u8; 4], [u8; 4])>(),
        (ttl, ports) in any::<(u8, (u16, u16))>(),
        payload in payload(),
    ) {
        let mut frame = Vec::new();
        match vlan {
            None => PacketBuilder::ethernet2(macs.0, macs.1)
                .ipv4(addresses.0, addresses.1, ttl)
                .udp(ports.0, ports.1)
                .write_to_vec(&mut frame, &payload),
            Some(vlan) => PacketBuilder::ethernet2(macs.0, macs.1)
                .single_vlan(VlanId::try_new(vlan).unwrap())
                .ipv4(addresses.0, addresses.1, ttl)
                .udp(ports.0, ports.1)
                .write_to_vec(&mut frame, &payload),
        }
        .unwrap();
        let (ethernet, mut packet) = EthernetHeader::split(&frame).unwrap();
        prop_assert_eq!((ethernet.source().0, ethernet.destination().0), macs);
        let mut ether_type = ethernet.ether_type();
        prop_assert_eq!(ether_type.is_vlan(), vlan.is_some());
        if let Some(vlan) = vlan {
            let (tag, rest) = VlanTag::split(packet).unwrap();
            prop_assert_eq!(tag.identifier(), vlan);
            (ether_type, packet) = (tag.ether_type(), rest);
        }
        prop_assert_eq!(ether_type, EtherType::IPV4);
        let (ip, _, datagram) = Ipv4Header::parse(packet).unwrap();
        prop_assert_eq!((ip.source().octets(), ip.destination().octets()), addresses);
        prop_assert!(ip.is_checksum_valid(packet) && ip.ttl() == ttl);
        let (udp, ours) = UdpHeader::parse(datagram).unwrap();
        prop_assert_eq!((udp.source_port(), udp.destination_port()), ports);
        prop_assert_eq!(ours, &payload[..]);
        let pseudo =
            Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::UDP, udp.length());
        prop_assert!(udp.is_checksum_valid(pseudo, ours));
        let mut anew = UdpHeader::new(ports.0, ports.1);
        anew.set_length(udp.length());
        anew.fill_checksum(pseudo, ours);
        prop_assert_eq!(&anew, udp);
    }

    #[test]
    fn reads_segments_of_etherparse(
        addresses in any::<([u8; 16], [u8; 16])>(),
        hop_limit in any::<u8>(),
        ports in any::<(u16, u16)>(),
        numbers in any::<(u32, u32, u16)>(),
        mss in any::<u16>(),
        payload in payload(),
    ) {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv6(addresses.0, addresses.1, hop_limit)
            .tcp(ports.0, ports.1, numbers.0, numbers.2)
            .ack(numbers.1)
            .syn()
            .options(&[etherparse::TcpOptionElement::MaximumSegmentSize(mss)])
            .unwrap()
            .write_to_vec(&mut frame, &payload)
            .unwrap();
        let (ethernet, packet) = EthernetHeader::split(&frame).unwrap();
        prop_assert_eq!(ethernet.ether_type(), EtherType::IPV6);
        let (ip, segment) = Ipv6Header::parse(packet).unwrap();
        prop_assert_eq!((ip.source().octets(), ip.destination().octets()), addresses);
        prop_assert_eq!((ip.hop_limit(), ip.next_header()), (hop_limit, Protocol::TCP));
        let (tcp, mut options, ours) = TcpHeader::parse(segment).unwrap();
        prop_assert_eq!((tcp.source_port(), tcp.destination_port()), ports);
        prop_assert_eq!(
            (tcp.sequence_number(), tcp.acknowledgement_number(), tcp.window()),
            numbers
        );
        prop_assert_eq!(tcp.flags(), TcpFlags::SYN | TcpFlags::ACK);
        prop_assert_eq!(options.next(), Some(Ok(TcpOption::MaximumSegmentSize(mss))));
        prop_assert_eq!(ours, &payload[..]);
        let length = u32::from(ip.payload_length());
        let pseudo = Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::TCP, length);
        prop_assert!(TcpHeader::is_checksum_valid(pseudo, segment));
    }

    #[test]
    fn etherparse_reads_our_datagrams(
        addresses in any::<([u8; 4], [u8; 4])>(),
        (class, identification, ttl) in any::<(u8, u16, u8)>(),
        ports in any::<(u16, u16)>(),
        vlan in 0_u16..4_096,
        payload in payload(),
    ) {
        let udp_length = 8 + payload.len() as u16;
        let (source, destination) = (addresses.0.into(), addresses.1.into());
        let mut ip = Ipv4Header::new(Protocol::UDP, source, destination);
        ip.set_traffic_class(class);
        ip.set_identification(identification);
        ip.set_ttl(ttl);
        ip.set_total_length(20 + udp_length);
        ip.fill_checksum();
        let mut udp = UdpHeader::new(ports.0, ports.1);
        udp.set_length(udp_length);
        let pseudo = Sum::pseudo_ipv4(source, destination, Protocol::UDP, udp_length);
        udp.fill_checksum(pseudo, &payload);
        let ethernet = EthernetHeader::new(MacAddress([2; 6]), MacAddress([4; 6]), EtherType::VLAN);
        let tag = VlanTag::new(vlan, EtherType::IPV4);
        let frame =
            [ethernet.as_bytes(), tag.as_bytes(), ip.as_bytes(), udp.as_bytes(), &payload].concat();

        let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
        prop_assert_eq!(sliced.vlan_ids()[0].value(), vlan);
        let Some(NetSlice::Ipv4(net)) = &sliced.net else { panic!("no IPv4") };
        let header = net.header().to_header();
        prop_assert_eq!((header.source, header.destination), addresses);
        prop_assert_eq!(header.dscp.value() << 2 | header.ecn.value(), class);
        prop_assert_eq!((header.identification, header.time_to_live), (identification, ttl));
        prop_assert!(header.dont_fragment);
        prop_assert_eq!(header.calc_header_checksum(), ip.checksum());
        let Some(TransportSlice::Udp(slice)) = &sliced.transport else { panic!("no UDP") };
        let header = slice.to_header();
        prop_assert_eq!((header.source_port, header.destination_port), ports);
        let checksum = header.calc_checksum_ipv4_raw(addresses.0, addresses.1, &payload).unwrap();
        prop_assert_eq!(checksum, udp.checksum());
        prop_assert_eq!(slice.payload(), &payload[..]);
    }

    #[test]
    fn etherparse_reads_our_segments(
        addresses in any::<([u8; 16], [u8; 16])>(),
        (class, label, hop_limit) in (any::<u8>(), 0_u32..1 << 20, any::<u8>()),
        ports in any::<(u16, u16)>(),
        (sequence, acknowledgement, window, urgent) in any::<(u32, u32, u16, u16)>(),
        flags in any::<u8>(),
        payload in payload(),
    ) {
        let (source, destination) = (addresses.0.into(), addresses.1.into());
        let mut ip = Ipv6Header::new(Protocol::TCP, source, destination);
        ip.set_traffic_class(class);
        ip.set_flow_label(label);
        ip.set_hop_limit(hop_limit);
        ip.set_payload_length(20 + payload.len() as u16);
        let mut tcp = TcpHeader::new(ports.0, ports.1);
        tcp.set_sequence_number(sequence);
        tcp.set_acknowledgement_number(acknowledgement);
        tcp.set_window(window);
        tcp.set_urgent_pointer(urgent);
        tcp.set_flags(TcpFlags(flags));
        let length = u32::from(ip.payload_length());
        let sum = Sum::pseudo_ipv6(source, destination, Protocol::TCP, length)
            .bytes(tcp.as_bytes())
            .bytes(&payload);
        tcp.set_checksum(sum.checksum());
        let packet = [ip.as_bytes(), tcp.as_bytes(), &payload].concat();

        let sliced = SlicedPacket::from_ip(&packet).unwrap();
        let Some(NetSlice::Ipv6(net)) = &sliced.net else { panic!("no IPv6") };
        let header = net.header().to_header();
        prop_assert_eq!((header.source, header.destination), addresses);
        prop_assert_eq!(header.dscp().value() << 2 | header.ecn().value(), class);
        prop_assert_eq!((header.flow_label.value(), header.hop_limit), (label, hop_limit));
        let Some(TransportSlice::Tcp(slice)) = &sliced.transport else { panic!("no TCP") };
        let header = slice.to_header();
        prop_assert_eq!((header.source_port, header.destination_port), ports);
        prop_assert_eq!(
            (header.sequence_number, header.acknowledgment_number),
            (sequence, acknowledgement)
        );
        prop_assert_eq!((header.window_size, header.urgent_pointer), (window, urgent));
        let theirs = [header.fin, header.syn, header.rst, header.psh];
        let theirs_high = [header.ack, header.urg, header.ece, header.cwr];
        for (bit, set) in theirs.into_iter().chain(theirs_high).enumerate() {
            prop_assert_eq!(set, flags >> bit & 1 == 1, "bit {}", bit);
        }
        let checksum = slice.calc_checksum_ipv6(addresses.0, addresses.1).unwrap();
        prop_assert_eq!(checksum, tcp.checksum());
    }

    #[test]
    fn echoes_equal_etherparse(
        (identifier, sequence, is_reply) in any::<(u16, u16, bool)>(),
        addresses in any::<([u8; 16], [u8; 16])>(),
        payload in payload(),
    ) {
        let mut ours = Icmpv4Header::echo(is_reply, identifier, sequence);
        ours.fill_checksum(&payload);
        let bytes = [ours.as_bytes(), &payload].concat();
        let theirs = Icmpv4Slice::from_slice(&bytes).unwrap();
        let echo = etherparse::IcmpEchoHeader { id: identifier, seq: sequence };
        let kind = if is_reply {
            etherparse::Icmpv4Type::EchoReply(echo)
        } else {
            etherparse::Icmpv4Type::EchoRequest(echo)
        };
        let expected = etherparse::Icmpv4Header::with_checksum(kind, &payload);
        prop_assert_eq!(theirs.header(), expected);
        let (header, data) = Icmpv4Header::split(&bytes).unwrap();
        let expected = if is_reply {
            Icmpv4Message::EchoReply { identifier, sequence, data }
        } else {
            Icmpv4Message::EchoRequest { identifier, sequence, data }
        };
        prop_assert_eq!(header.message(data), expected);

        let mut ours = Icmpv6Header::echo(is_reply, identifier, sequence);
        let length = bytes.len() as u32;
        let (source, destination) = (addresses.0.into(), addresses.1.into());
        let pseudo = Sum::pseudo_ipv6(source, destination, Protocol::ICMPV6, length);
        ours.fill_checksum(pseudo, &payload);
        let bytes = [ours.as_bytes(), &payload].concat();
        let theirs = Icmpv6Slice::from_slice(&bytes).unwrap();
        prop_assert!(theirs.is_checksum_valid(addresses.0, addresses.1));
        let (header, data) = Icmpv6Header::split(&bytes).unwrap();
        let expected = if is_reply {
            Icmpv6Message::EchoReply { identifier, sequence, data }
        } else {
            Icmpv6Message::EchoRequest { identifier, sequence, data }
        };
        prop_assert_eq!(header.message(data), expected);
    }

    #[test]
    fn arp_equals_etherparse(
        macs in any::<([u8; 6], [u8; 6])>(),
        addresses in any::<([u8; 4], [u8; 4])>(),
    ) {
        let request =
            ArpPacket::request(MacAddress(macs.0), addresses.0.into(), addresses.1.into());
        let reply = request.reply(MacAddress(macs.1));
        let theirs = etherparse::ArpPacketSlice::from_slice(reply.as_bytes()).unwrap().to_packet();
        prop_assert_eq!(theirs.hw_addr_type, ArpHardwareId::ETHERNET);
        prop_assert_eq!(theirs.operation, etherparse::ArpOperation::REPLY);
        prop_assert_eq!(theirs.sender_hw_addr(), macs.1);
        prop_assert_eq!(theirs.target_hw_addr(), macs.0);
        prop_assert_eq!(theirs.sender_protocol_addr(), addresses.1);
        prop_assert_eq!(theirs.target_protocol_addr(), addresses.0);
        let read = ArpPacket::parse(reply.as_bytes()).unwrap();
        prop_assert_eq!((read.operation(), read.sender_ip()), (ArpOperation::REPLY, addresses.1));
    }

    /// Any bytes: no parser panics, both reject the same bytes, and lengths are equal.
    #[test]
    fn accepts_same_bytes_as_etherparse(
        mut bytes in vec(any::<u8>(), 0..120),
        version in 0_u8..4,
        length in any::<u8>(),
    ) {
        // Three of four inputs begin with a plausible version and length.
        if let (Some(first), 1..) = (bytes.first_mut(), version) {
            *first = [0x45, 0x46, 0x60][usize::from(version) - 1];
        }
        if let (Some(third), 1..) = (bytes.get_mut(2), version) {
            *third = 0;
        }
        if let (Some(word), 1..) = (bytes.get_mut(2..6), version) {
            word[1] = length % 128;
            word[2..].copy_from_slice(&[0, length % 128]);
        }
        let ours = Ipv4Header::parse_start(&bytes).map(|(header, options, _)| {
            (header.source().octets(), options.to_vec())
        });
        let theirs = Ipv4HeaderSlice::from_slice(&bytes).map(|slice| {
            (slice.source(), slice.options().to_vec())
        });
        prop_assert_eq!(ours.ok(), theirs.ok());
        let ours = Ipv4Header::parse(&bytes).map(|(.., payload)| payload.len());
        let theirs = Ipv4HeaderSlice::from_slice(&bytes).ok().and_then(|slice| {
            let payload = usize::from(slice.payload_len().ok()?);
            (slice.slice().len() + payload <= bytes.len()).then_some(payload)
        });
        prop_assert_eq!(ours.ok(), theirs);
        let ours = Ipv6Header::parse_start(&bytes).map(|(header, _)| header.payload_length());
        let theirs = Ipv6HeaderSlice::from_slice(&bytes).map(|slice| slice.payload_length());
        prop_assert_eq!(ours.ok(), theirs.ok());
        let ours = UdpHeader::parse(&bytes).map(|(_, payload)| payload.len());
        // A length of 0 is a jumbogram for etherparse (RFC 2675 §4), and an error here.
        let theirs = UdpSlice::from_slice(&bytes).ok().filter(|slice| slice.length() != 0);
        prop_assert_eq!(ours.ok(), theirs.map(|slice| slice.payload().len()));
        let ours = TcpHeader::parse(&bytes).map(|(header, _, payload)| {
            (header.header_length(), payload.to_vec())
        });
        let theirs = TcpSlice::from_slice(&bytes).map(|slice| {
            (slice.header_len(), slice.payload().to_vec())
        });
        prop_assert_eq!(ours.ok(), theirs.ok());
        let _ = (QuotedPacket::parse_ipv4(&bytes), QuotedPacket::parse_ipv6(&bytes));
        let _ = (ArpPacket::parse(&bytes), IgmpHeader::split(&bytes));
    }

    /// Options are written as they were read, and reading ends.
    #[test]
    fn options_round_trip(bytes in vec(prop_oneof![0_u8..11, any::<u8>()], 0..40)) {
        let mut left = TcpOptions::new(&bytes);
        for _ in 0..=bytes.len() {
            let before = left.as_bytes();
            let Some(Ok(option)) = left.next() else { break };
            let mut written = [0; 256];
            let length = option.write(&mut written).unwrap();
            let end = before.len() - left.as_bytes().len();
            prop_assert_eq!(&written[..length], &before[end - length..end]);
        }
        prop_assert_eq!(left.next(), None);
    }
}
