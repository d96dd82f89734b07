//! Arbitrary frames to the UDP engine.
//!
//! Checks:
//!
//! - No frame causes a panic.
//! - Sockets receive the number of datagrams that the verdict reports, each within its frame.
//! - Devices count every frame once.
//! - A payload is the one that etherparse finds in the frame.
//! - A second engine that handles known flows separately reports and counts the same.
//!
//! Input: steps of a kind, a length and bytes. Most bytes overwrite a valid frame from an offset
//! that the input selects.

use hairpin_netstack::{
    Address, Datagram, DeviceSettings, Engine, Listener, PathError, Payload, Settings,
    SocketAddress, SocketId, SocketOptions, Verdict,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::{
    EtherType, EthernetHeader, Icmpv4Header, Ipv4Header, Ipv6Header, MacAddress, Protocol, Sum,
    UdpHeader,
};

use crate::Seed;
use crate::script::Script;

const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
const DELIVERED: Verdict = Verdict::Delivered(1);
const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const HOST: [u8; 4] = [10, 0, 0, 1];
const GROUP: [u8; 4] = [239, 1, 1, 1];
const HOST6: [u8; 16] = [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const SETTINGS: Settings =
    Settings { devices: 3, addresses: 4, sockets: 8, memberships: 4, sources: 4, seed: 0 };

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let [mut engine, mut quick] = [engine(), engine()];
    let devices: Vec<_> = engine.device_ids().collect();
    let mut script = Script(bytes);
    let mut frames = 0;
    while !script.is_over() {
        let [kind, place, length] = [(); 3].map(|()| script.byte());
        let over = script.bytes(usize::from(length));
        let frame = match kind % 8 {
            0 => over.to_vec(),
            kind => laid_over(good(kind), usize::from(place), over, place & 1 == 0),
        };
        let mut seen = Seen::of(&frame);
        let device = devices[usize::from(kind >> 3) % 2];
        let verdict = match kind >> 6 {
            2 => engine.handle_icmpv4(NOW, &frame, &mut seen),
            3 => engine.handle_icmpv6(NOW, &frame, &mut seen),
            _ => {
                frames += 1;
                engine.handle_frame(NOW, device, &frame, &mut seen)
            }
        };
        let mut other = Seen::of(&frame);
        let quick_verdict = match kind >> 6 {
            2 => quick.handle_icmpv4(NOW, &frame, &mut other),
            3 => quick.handle_icmpv6(NOW, &frame, &mut other),
            _ => match quick.deliver_known_flow(device, &frame) {
                Some(known) => {
                    assert_eq!(Some(known), seen.last);
                    DELIVERED
                }
                None => quick.handle_frame(NOW, device, &frame, &mut other),
            },
        };
        assert_eq!(verdict, quick_verdict, "the fast path");
        let reported = if let Verdict::Delivered(sockets) = verdict { sockets } else { 0 };
        assert_eq!(reported as usize, seen.reported.len(), "{verdict:?}");
        if let Some(payload) = seen.payload {
            let sliced = etherparse::SlicedPacket::from_ethernet(&frame)
                .expect("the datagram was delivered");
            let Some(etherparse::TransportSlice::Udp(udp)) = sliced.transport else {
                panic!("delivered without UDP: {:?}", sliced.transport);
            };
            assert_eq!(udp.payload(), payload);
        }
    }
    let counters = devices.iter().map(|&device| engine.device_counters(device).expect("own entry"));
    let counted: u64 = counters
        .map(|c| {
            let dropped = c.malformed + c.wrong_checksum + c.unwanted + c.martian;
            assert_eq!(c.frames, c.delivered + c.to_kernel + dropped);
            c.frames
        })
        .sum();
    assert_eq!(counted, frames);
    assert_eq!(counters_of(&quick), counters_of(&engine));
}

fn counters_of(engine: &Engine) -> String {
    let devices: Vec<_> = engine.device_ids().map(|id| engine.device_counters(id)).collect();
    let sockets: Vec<_> = engine.socket_ids().map(|id| engine.socket_counters(id)).collect();
    format!("{devices:?} {sockets:?}")
}

/// Opens sockets of every kind on three devices, the last of which is a VLAN.
fn engine() -> Engine {
    let mut engine = Engine::new(&SETTINGS);
    let settings = DeviceSettings { mac: MAC, mtu: 1_500, vlan: None };
    let device = engine.add_device(&settings).expect("the buffer has room");
    engine.add_device(&settings).expect("the buffer has room");
    let vlan = DeviceSettings { vlan: Some((device, 5)), ..settings };
    engine.add_device(&vlan).expect("the buffer has room");
    let hosts =
        [Address::from(std::net::Ipv4Addr::from(HOST)), std::net::Ipv6Addr::from(HOST6).into()];
    let options = SocketOptions { reuse_address: true, ..SocketOptions::default() };
    for host in hosts {
        engine.add_address(device, host, None).expect("the buffer has room");
        for local in [host, host.any(), host.any()] {
            let socket = engine.open_socket(&options).expect("the buffer has room");
            engine.bind(socket, SocketAddress { address: local, port: 7 }).expect("all share");
            if host.is_ipv4() && local.is_any() {
                let group = std::net::Ipv4Addr::from(GROUP).into();
                engine.join(socket, device, group).expect("the buffer has room");
            }
        }
    }
    let [host, _] = hosts;
    let connected = engine.open_socket(&options).expect("the buffer has room");
    engine.bind(connected, SocketAddress { address: host, port: 7 }).expect("all share");
    let peer = std::net::Ipv4Addr::new(10, 0, 0, 2);
    engine.connect(connected, host, SocketAddress::new(peer, 9)).expect("the socket is bound");
    // Two sockets: exclusive, and for one host only.
    let of_group = engine.open_socket(&options).expect("the buffer has room");
    let group = std::net::Ipv4Addr::from(GROUP).into();
    engine.bind(of_group, SocketAddress { address: group, port: 8 }).expect("the name is free");
    engine.join_sources(of_group, device, group, &[peer.into()]).expect("the buffer has room");
    engine
}

struct Seen<'a> {
    frame: &'a [u8],
    reported: Vec<(SocketId, String)>,
    payload: Option<&'a [u8]>,
    last: Option<(SocketId, Payload)>,
}

impl<'a> Seen<'a> {
    fn of(frame: &'a [u8]) -> Self {
        Self { frame, reported: Vec::new(), payload: None, last: None }
    }
}

impl Listener for Seen<'_> {
    fn on_datagram(&mut self, _: Now, socket: SocketId, datagram: &Datagram<'_>) {
        let (frame, payload) = (self.frame.as_ptr_range(), datagram.payload.as_ptr_range());
        assert!(
            frame.start <= payload.start && payload.end <= frame.end,
            "payload outside of its frame"
        );
        let at = payload.start as usize - frame.start as usize;
        self.payload = Some(&self.frame[at..at + datagram.payload.len()]);
        let place = Payload { offset: at as u32, length: datagram.payload.len() as u32 };
        assert_eq!(place.offset, datagram.offset);
        assert_eq!(place.endpoints(self.frame), Some((datagram.source, datagram.destination)));
        self.last = Some((socket, place));
        self.reported.push((socket, format!("{datagram:?}")));
    }

    fn on_path_error(&mut self, _: Now, socket: SocketId, error: &PathError) {
        self.reported.push((socket, format!("{error:?}")));
    }
}

/// Creates a valid frame: to the host, to a group or over IPv6; or an ICMP error that quotes one.
fn good(kind: u8) -> Vec<u8> {
    let mut udp = UdpHeader::new(9, 7);
    udp.set_length(12);
    let payload = [1, 2, 3, 4];
    let (ether_type, packet) = match kind {
        1..=3 => (EtherType::IPV6, ipv6(udp, &payload)),
        4 | 5 => (EtherType::IPV4, ipv4(GROUP, udp, &payload)),
        6 => (EtherType::IPV4, ipv4(HOST, udp, &payload)),
        _ => (EtherType::IPV4, icmp()),
    };
    let ethernet = EthernetHeader::new(MAC, MacAddress([2, 0, 0, 0, 0, 2]), ether_type);
    [ethernet.as_bytes(), &packet].concat()
}

fn ipv4(to: [u8; 4], mut udp: UdpHeader, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = ([10, 0, 0, 2].into(), to.into());
    let mut ip = Ipv4Header::new(Protocol::UDP, source, destination);
    ip.set_total_length(20 + udp.length());
    ip.fill_checksum();
    udp.fill_checksum(Sum::pseudo_ipv4(source, destination, Protocol::UDP, udp.length()), payload);
    [ip.as_bytes(), udp.as_bytes(), payload].concat()
}

fn ipv6(mut udp: UdpHeader, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = ([2; 16].into(), HOST6.into());
    let mut ip = Ipv6Header::new(Protocol::UDP, source, destination);
    ip.set_payload_length(udp.length());
    let length = u32::from(udp.length());
    udp.fill_checksum(Sum::pseudo_ipv6(source, destination, Protocol::UDP, length), payload);
    [ip.as_bytes(), udp.as_bytes(), payload].concat()
}

fn icmp() -> Vec<u8> {
    let mut quoted = Ipv4Header::new(Protocol::UDP, HOST.into(), [10, 0, 0, 2].into());
    quoted.set_total_length(100);
    let quoted = [quoted.as_bytes(), UdpHeader::new(7, 9).as_bytes()].concat();
    let mut header = Icmpv4Header::echo(false, 0, 0);
    header.set_kind(3);
    header.set_code(3);
    header.fill_checksum(&quoted);
    let mut ip = Ipv4Header::new(Protocol::ICMPV4, [10, 0, 0, 2].into(), HOST.into());
    ip.set_total_length(20 + 8 + 28);
    ip.fill_checksum();
    [ip.as_bytes(), header.as_bytes(), &quoted].concat()
}

/// Overwrites the frame from an offset. With `mends`, corrects the IPv4 checksum.
fn laid_over(mut frame: Vec<u8>, place: usize, over: &[u8], mends: bool) -> Vec<u8> {
    let place = place % frame.len();
    frame.resize(frame.len().max(place + over.len()), 0);
    frame[place..place + over.len()].copy_from_slice(over);
    if mends
        && frame[12..14] == [8, 0]
        && let Ok((ip, _)) = Ipv4Header::split_mut(&mut frame[14..])
    {
        ip.fill_checksum();
    }
    frame
}

/// Returns every valid frame on both devices, invalid frames, a tag, and an error without its
/// frame.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let good: Vec<[u8; 3]> = (1..16).map(|kind| [kind, 0, 0]).collect();
    let broken: Vec<[u8; 4]> = (0..54).map(|place| [6, place, 1, 0xA5]).collect();
    let tag: Vec<u8> = [&[6, 12, 6, 0x81, 0, 0, 5, 8, 0][..], &[0, 0, 2, 1, 2]].concat();
    let message = &super::netstack_udp_frames::good(7)[34..];
    let icmp = [&[0x80, 0, message.len() as u8][..], message].concat();
    let seed = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    vec![
        seed("good", good.concat()),
        seed("broken", broken.concat()),
        seed("tag", tag),
        seed("icmp", icmp),
    ]
}
