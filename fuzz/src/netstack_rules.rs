//! Frames to the UDP engine, compared with a model of the kernel's input path.
//!
//! The model reads bytes at fixed offsets and sums 16-bit words; it shares no code with the engine.
//!
//! Checks:
//!
//! - A frame is delivered exactly if the model delivers it, with the payload of the model.
//! - A frame is dropped for the reason of the model, and by nothing else.
//! - The fast path takes no frame that the model does not deliver.
//!
//! Input: steps of a kind, an offset, a length and bytes that overwrite a valid frame. The kind
//! also selects which checksums are made valid or partial again.

use hairpin_netstack::{
    Address, Datagram, DeviceSettings, Dropped, Engine, Listener, Settings, SocketAddress,
    SocketId, SocketOptions, Verdict,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::MacAddress;

use crate::Seed;
use crate::script::Script;

const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const HOST: [u8; 4] = [10, 0, 0, 1];
const BROADCAST: [u8; 4] = [10, 0, 0, 255];
const HOST6: [u8; 16] = [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const PORT: u16 = 7;
const SETTINGS: Settings =
    Settings { devices: 1, addresses: 2, sockets: 2, memberships: 1, sources: 1, seed: 0 };

/// What becomes of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Delivered(Vec<u8>),
    Malformed,
    Checksum,
    Martian,
    Kernel,
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut engine = engine();
    let device = engine.device_ids().next().expect("the device was added");
    let mut script = Script(bytes);
    while !script.is_over() {
        let [kind, place, length] = [(); 3].map(|()| script.byte());
        let over = script.bytes(usize::from(length % 48));
        let frame = frame(kind, usize::from(place), over);
        let Some(expected) = fate(&frame) else { continue };
        let known = engine.deliver_known_flow(device, &frame);
        if let Some((_, payload)) = known {
            assert_eq!(Fate::Delivered(payload.bytes(&frame).to_vec()), expected, "fast path");
        }
        let mut seen = Seen(Vec::new());
        let found = match engine.handle_frame(NOW, device, &frame, &mut seen) {
            Verdict::Delivered(1) => Fate::Delivered(seen.0.pop().expect("it was delivered")),
            Verdict::Dropped(Dropped::Malformed) => Fate::Malformed,
            Verdict::Dropped(Dropped::Checksum) => Fate::Checksum,
            Verdict::Dropped(Dropped::Martian) => Fate::Martian,
            Verdict::Kernel(_) => Fate::Kernel,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{frame:02x?}");
        assert!(seen.0.is_empty());
    }
}

/// Opens a socket of each family on one device.
fn engine() -> Engine {
    let mut engine = Engine::new(&SETTINGS);
    let settings = DeviceSettings { mac: MacAddress(MAC), mtu: 1_500, vlan: None };
    let device = engine.add_device(&settings).expect("the engine has room");
    let broadcast = Some(std::net::Ipv4Addr::from(BROADCAST).into());
    let hosts =
        [Address::from(std::net::Ipv4Addr::from(HOST)), std::net::Ipv6Addr::from(HOST6).into()];
    for host in hosts {
        let broadcast = broadcast.filter(|_| host.is_ipv4());
        engine.add_address(device, host, broadcast).expect("the engine has room");
        let socket = engine.open_socket(&SocketOptions::default()).expect("the engine has room");
        engine.bind(socket, SocketAddress { address: host.any(), port: PORT }).expect("it is free");
    }
    engine
}

struct Seen(Vec<Vec<u8>>);

impl Listener for Seen {
    fn on_datagram(&mut self, _: Now, _: SocketId, datagram: &Datagram<'_>) {
        self.0.push(datagram.payload.to_vec());
    }
}

/// Returns the fate of a frame by the model; `None` for ICMP, which is not modeled.
fn fate(frame: &[u8]) -> Option<Fate> {
    if frame.len() < 14 {
        return Some(Fate::Malformed);
    }
    let (mut kind, mut packet) = (word(frame, 12), &frame[14..]);
    if kind == 0x8100 || kind == 0x88A8 {
        if packet.len() < 4 {
            return Some(Fate::Malformed);
        }
        let inner = word(packet, 2);
        let is_priority = kind == 0x8100 && word(packet, 0) & 0xFFF == 0;
        if !is_priority || [0x8100, 0x88A8].contains(&inner) {
            return Some(Fate::Kernel);
        }
        (kind, packet) = (inner, &packet[4..]);
    }
    if frame[..6] != MAC && frame[0] & 1 == 0 {
        return Some(Fate::Kernel);
    }
    match kind {
        0x0800 => fate_of_ipv4(packet),
        0x86DD => fate_of_ipv6(packet),
        _ => Some(Fate::Kernel),
    }
}

fn fate_of_ipv4(packet: &[u8]) -> Option<Fate> {
    if packet.len() < 20 || packet[0] >> 4 != 4 {
        return Some(Fate::Malformed);
    }
    let (header, total) = (usize::from(packet[0] & 15) * 4, usize::from(word(packet, 2)));
    if header < 20 || total < header || total > packet.len() {
        return Some(Fate::Malformed);
    }
    if header > 20 || word(packet, 6) & 0x3FFF != 0 {
        return Some(Fate::Kernel);
    }
    if folded(0, &packet[..20]) != 0xFFFF {
        return Some(Fate::Checksum);
    }
    let [source, to] = [12, 16].map(|at| packet[at..at + 4].try_into().unwrap_or([0; 4]));
    let is_towards_link = to == [255; 4] || to[..3] == [224, 0, 0];
    if source[0] == 127
        || source[0] >> 4 == 14
        || source == [255; 4]
        || source == HOST
        || source == [0; 4] && !is_towards_link
        || to[0] == 127
        || to == [0; 4]
    {
        return Some(Fate::Martian);
    }
    let body = &packet[20..total];
    match packet[9] {
        1 => return None,
        17 => {}
        _ => return Some(Fate::Kernel),
    }
    let is_ours = to == HOST || to == BROADCAST || to == [255; 4];
    Some(fate_of_udp(body, &packet[12..20], is_ours, false))
}

fn fate_of_ipv6(packet: &[u8]) -> Option<Fate> {
    if packet.len() < 40 || packet[0] >> 4 != 6 {
        return Some(Fate::Malformed);
    }
    let length = usize::from(word(packet, 4));
    if 40 + length > packet.len() {
        return Some(Fate::Malformed);
    }
    let (source, to) = (&packet[8..24], &packet[24..40]);
    let is_loopback = |address: &[u8]| address[..15] == [0; 15] && address[15] == 1;
    let is_mapped = |address: &[u8]| address[..10] == [0; 10] && address[10..12] == [0xFF, 0xFF];
    if is_loopback(source)
        || is_loopback(to)
        || is_mapped(source)
        || is_mapped(to)
        || source == [0; 16]
        || to == [0; 16]
        || source[0] == 0xFF
        || source == HOST6
        || to[0] == 0xFF && to[1] & 15 < 2
    {
        return Some(Fate::Martian);
    }
    match packet[6] {
        58 => None,
        17 => Some(fate_of_udp(&packet[40..40 + length], &packet[8..40], to == HOST6, true)),
        _ => Some(Fate::Kernel),
    }
}

fn fate_of_udp(body: &[u8], addresses: &[u8], is_ours: bool, is_v6: bool) -> Fate {
    if body.len() < 8 {
        return Fate::Malformed;
    }
    let length = match usize::from(word(body, 4)) {
        0 if is_v6 => body.len(),
        length => length,
    };
    if length < 8 || length > body.len() {
        return Fate::Malformed;
    }
    let field = word(body, 6);
    let pseudo = u32::from(folded(17 + length as u32, addresses));
    let is_valid = match field {
        0 => !is_v6,
        field => u32::from(field) == pseudo || folded(pseudo, &body[..length]) == 0xFFFF,
    };
    if !is_valid {
        return Fate::Checksum;
    }
    if is_ours && word(body, 2) == PORT {
        Fate::Delivered(body[8..length].to_vec())
    } else {
        Fate::Kernel
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Returns the folded sum of 16-bit words.
fn folded(start: u32, bytes: &[u8]) -> u16 {
    let mut sum = start;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    ((sum >> 16) + (sum & 0xFFFF)) as u16
}

/// Overwrites a valid frame, and makes checksums valid or partial again by bits of the kind.
fn frame(kind: u8, place: usize, over: &[u8]) -> Vec<u8> {
    let is_v6 = kind & 1 != 0;
    let mut frame = [&MAC[..], &[2, 0, 0, 0, 0, 2]].concat();
    if kind & 2 != 0 {
        frame.extend([0x81, 0, 0x60, 0]);
    }
    let ip = frame.len() + 2;
    if is_v6 {
        frame.extend([0x86, 0xDD, 0x60, 0, 0, 0, 0, 12, 17, 9]);
        frame.extend([0xFD; 16].into_iter().chain(HOST6));
    } else {
        frame.extend([8, 0, 0x45, 0, 0, 32, 0, 0, 0, 0, 9, 17, 0, 0, 10, 0, 0, 2]);
        frame.extend(HOST);
    }
    frame.extend([0, 9, 0, 7, 0, 12, 0, 0, 1, 2, 3, 4]);
    let place = place % frame.len();
    frame.resize(frame.len().max(place + over.len()), 0);
    frame[place..place + over.len()].copy_from_slice(over);
    let udp = ip + if is_v6 { 40 } else { 20 };
    if !is_v6 && kind & 4 == 0 {
        frame[ip + 10..ip + 12].fill(0);
        let checksum = !folded(0, &frame[ip..udp]);
        frame[ip + 10..ip + 12].copy_from_slice(&checksum.to_be_bytes());
    }
    let length = usize::from(word(&frame, udp + 4));
    let end = (udp + length).min(frame.len());
    let addresses = if is_v6 { ip + 8..ip + 40 } else { ip + 12..ip + 20 };
    let pseudo = folded(17 + length as u32, &frame[addresses]);
    let field = udp + 6..udp + 8;
    match kind >> 3 & 3 {
        0 if end >= udp + 8 => {
            frame[field.clone()].fill(0);
            let checksum = !folded(pseudo.into(), &frame[udp..end]);
            let checksum = if checksum == 0 { 0xFFFF } else { checksum };
            frame[field].copy_from_slice(&checksum.to_be_bytes());
        }
        1 => frame[field].copy_from_slice(&pseudo.to_be_bytes()),
        2 => frame[field].fill(0),
        _ => {}
    }
    // Sometimes the frame is cut.
    if kind >> 5 == 7 {
        frame.truncate(place);
    }
    frame
}

/// Returns every kind of frame, each with every byte changed once, and the martian sources.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let kinds: Vec<u8> = (0..=255).flat_map(|kind: u8| [kind, 0, 0]).collect();
    let bytes = |kind: u8| -> Vec<u8> {
        (0..80).flat_map(|place: u8| [kind, place, 1, 0xA5 ^ place]).collect()
    };
    let source = |kind: u8, at: u8, sources: &[&[u8]]| -> Vec<u8> {
        let step = |source: &&[u8]| [&[kind, at, source.len() as u8][..], *source].concat();
        sources.iter().flat_map(|source| step(source)).collect()
    };
    let v4: [&[u8]; 6] = [&[127, 0, 0, 1], &[0; 4], &[255; 4], &[224, 0, 0, 1], &HOST, &BROADCAST];
    let mapped = [&[0; 10][..], &[0xFF, 0xFF, 10, 0, 0, 2]].concat();
    let loopback = [&[0; 15][..], &[1]].concat();
    let v6: [&[u8]; 5] = [&loopback, &[0; 16], &[0xFF; 16], &mapped, &HOST6];
    let seed = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    vec![
        seed("kinds", kinds),
        seed("changed", bytes(0)),
        seed("changed_v6", bytes(1)),
        seed("changed_partial", bytes(8)),
        seed("sources", [source(0, 26, &v4), source(8, 26, &v4)].concat()),
        seed("sources_v6", [source(1, 22, &v6), source(9, 22, &v6)].concat()),
        seed("destinations", [source(0, 30, &v4), source(1, 38, &v6)].concat()),
    ]
}
