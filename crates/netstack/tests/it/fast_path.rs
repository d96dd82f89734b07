//! The fast path compared with the slow path: the same frames, callbacks and counters.

use crate::support::*;
use hairpin_netstack::{
    Datagram, DeviceId, DeviceSettings, Engine, Kernel, Listener, PathError, Payload,
    SocketAddress, SocketId, SocketOptions, Verdict,
};
use hairpin_time::Now;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Bind { local: usize, port: u16, reuse_address: bool },
    Connect { socket: usize, remote: usize, port: u16 },
    Join { socket: usize, group: usize, device: usize, source: Option<usize> },
    Source { socket: usize, group: usize, device: usize, source: usize, removes: bool },
    Leave { socket: usize, group: usize, device: usize },
    Close { socket: usize },
    Address { address: usize, removes: bool },
    Frame { device: usize, frame: Frame },
}

/// A datagram and the modifications of its frame.
#[derive(Debug, Clone)]
struct Frame {
    from: usize,
    from_port: u16,
    to: usize,
    port: u16,
    length: usize,
    mac: Option<[u8; 6]>,
    tag: Option<u16>,
    without_checksum: bool,
    changes: Vec<(usize, u8)>,
    fixes_checksum: bool,
    cut: Option<usize>,
    padding: usize,
}

const LOCALS: [&str; 6] = ["0.0.0.0", "10.0.0.1", "10.0.0.9", "239.1.1.1", "::", "fd00::1"];
const REMOTES: [&str; 3] = ["10.0.0.2", "10.0.0.3", "fd00::2"];
const GROUPS: [&str; 3] = ["239.1.1.1", "239.1.1.2", "ff15::1"];
const TO: [&str; 9] = [
    "10.0.0.1",
    "10.0.0.9",
    "239.1.1.1",
    "239.1.1.2",
    "fd00::1",
    "ff15::1",
    "10.0.0.255",
    "255.255.255.255",
    "0.0.0.0",
];

fn frame_strategy() -> impl Strategy<Value = Frame> {
    let ends = (0..3_usize, 1_u16..4, 0..9_usize, 1_u16..4, 0..150_usize);
    let mac = prop_oneof![
        8 => Just(None),
        1 => Just(Some([0xFF; 6])),
        1 => Just(Some([1, 0, 0x5E, 1, 1, 1])),
        1 => Just(Some(THEIRS.0)),
    ];
    let tag =
        prop_oneof![8 => Just(None), 1 => prop_oneof![Just(0), Just(5), Just(6)].prop_map(Some)];
    let changes = prop_oneof![
        4 => Just(Vec::new()),
        2 => proptest::collection::vec((0..64_usize, any::<u8>()), 1..4),
    ];
    let cut = prop_oneof![8 => Just(None), 1 => (0..120_usize).prop_map(Some)];
    let rest = (mac, tag, proptest::bool::weighted(0.1), changes, any::<bool>(), cut, 0..3_usize);
    (ends, rest).prop_map(
        |(
            (from, from_port, to, port, length),
            (mac, tag, without_checksum, changes, fixes_checksum, cut, padding),
        )| {
            Frame {
                from,
                from_port,
                to,
                port,
                length,
                mac,
                tag,
                without_checksum,
                changes,
                fixes_checksum,
                cut,
                padding,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let port = || 1_u16..4;
    let membership = || (0..16_usize, 0..3_usize, 0..3_usize);
    prop_oneof![
        4 => (0..6_usize, port(), any::<bool>())
            .prop_map(|(local, port, reuse_address)| Step::Bind { local, port, reuse_address }),
        2 => (0..16_usize, 0..3_usize, port())
            .prop_map(|(socket, remote, port)| Step::Connect { socket, remote, port }),
        4 => (membership(), prop::option::of(0..3_usize)).prop_map(
            |((socket, group, device), source)| Step::Join { socket, group, device, source }
        ),
        2 => (membership(), 0..3_usize, any::<bool>()).prop_map(
            |((socket, group, device), source, removes)| {
                Step::Source { socket, group, device, source, removes }
            }
        ),
        1 => membership().prop_map(|(socket, group, device)| Step::Leave { socket, group, device }),
        1 => (0..16_usize).prop_map(|socket| Step::Close { socket }),
        1 => (0..3_usize, any::<bool>())
            .prop_map(|(address, removes)| Step::Address { address, removes }),
        20 => (0..3_usize, frame_strategy())
            .prop_map(|(device, frame)| Step::Frame { device, frame }),
    ]
}

impl Frame {
    fn bytes(&self) -> Option<Vec<u8>> {
        let (from, to) = (at(REMOTES[self.from], self.from_port), at(TO[self.to], self.port));
        if from.address.is_ipv4() != to.address.is_ipv4() {
            return None;
        }
        let payload: Vec<u8> = (0..self.length as u8).collect();
        let mut bytes = frame(from, to, &payload);
        if let Some(mac) = self.mac {
            bytes[..6].copy_from_slice(&mac);
        }
        if self.without_checksum {
            let udp = if from.address.is_ipv4() { 34 } else { 54 };
            bytes[udp + 6..udp + 8].fill(0);
        }
        for &(place, byte) in &self.changes {
            if let Some(old) = bytes.get_mut(place) {
                *old = byte;
            }
        }
        if self.fixes_checksum && from.address.is_ipv4() {
            fix_header_checksum(&mut bytes);
        }
        if let Some(tag) = self.tag {
            let [high, low] = tag.to_be_bytes();
            bytes.splice(12..12, [0x81, 0, high, low]);
        }
        bytes.truncate(self.cut.unwrap_or(bytes.len()));
        bytes.extend((0..self.padding).map(|_| 0xEE));
        Some(bytes)
    }
}

/// A listener that records every callback as text.
struct CallbackLog<'f> {
    frame: &'f [u8],
    entries: Vec<String>,
    last: Option<(SocketId, Payload)>,
}

impl<'f> CallbackLog<'f> {
    fn new(frame: &'f [u8]) -> Self {
        Self { frame, entries: Vec::new(), last: None }
    }
}

impl Listener for CallbackLog<'_> {
    fn on_datagram(&mut self, _: Now, socket: SocketId, datagram: &Datagram<'_>) {
        let place = datagram.offset as usize;
        assert_eq!(&self.frame[place..][..datagram.payload.len()], datagram.payload);
        let payload = Payload { offset: datagram.offset, length: datagram.payload.len() as u32 };
        let ends = (datagram.source, datagram.destination);
        assert_eq!(payload.endpoints(self.frame), Some(ends));
        self.last = Some((socket, payload));
        self.entries.push(format!("{socket:?} {datagram:?}"));
    }

    fn on_path_error(&mut self, _: Now, socket: SocketId, error: &PathError) {
        self.entries.push(format!("{socket:?} {error:?}"));
    }
}

/// Adds a second device, and a VLAN to the first device.
fn devices(engine: &mut Engine, first: DeviceId) -> [DeviceId; 3] {
    let vlan = DeviceSettings { vlan: Some((first, 5)), ..DEVICE };
    [first, engine.add_device(&DEVICE).unwrap(), engine.add_device(&vlan).unwrap()]
}

/// Executes any step but a frame; returns the result as text.
fn apply(
    engine: &mut Engine,
    devices: [DeviceId; 3],
    sockets: &mut Vec<SocketId>,
    step: &Step,
) -> String {
    let some = |socket: usize| sockets.get(socket % sockets.len().max(1)).copied();
    match *step {
        Step::Bind { local, port, reuse_address } => {
            let options = SocketOptions { reuse_address, ..SocketOptions::default() };
            let Ok(id) = engine.open_socket(&options) else { return "full".into() };
            sockets.push(id);
            format!("{:?}", engine.bind(id, at(LOCALS[local], port)))
        }
        Step::Connect { socket, remote, port } => {
            let Some(id) = some(socket) else { return String::new() };
            let remote = at(REMOTES[remote], port);
            let host = if remote.address.is_ipv4() { ip("10.0.0.1") } else { ip("fd00::1") };
            format!("{:?}", engine.connect(id, host, remote))
        }
        Step::Join { socket, group, device, source } => {
            let Some(id) = some(socket) else { return String::new() };
            let (device, group) = (devices[device], ip(GROUPS[group]));
            let Some(source) = source else {
                return format!("{:?}", engine.join(id, device, group));
            };
            format!("{:?}", engine.join_sources(id, device, group, &[ip(REMOTES[source])]))
        }
        Step::Source { socket, group, device, source, removes } => {
            let Some(id) = some(socket) else { return String::new() };
            let (device, group) = (devices[device], ip(GROUPS[group]));
            let source = ip(REMOTES[source]);
            if removes {
                return format!("{:?}", engine.remove_source(id, device, group, source));
            }
            format!("{:?}", engine.add_source(id, device, group, source))
        }
        Step::Leave { socket, group, device } => {
            let Some(id) = some(socket) else { return String::new() };
            format!("{:?}", engine.leave(id, devices[device], ip(GROUPS[group])))
        }
        Step::Close { socket } => {
            let Some(id) = some(socket) else { return String::new() };
            sockets.retain(|&other| other != id);
            format!("{:?}", engine.close(id))
        }
        Step::Address { address, removes } => {
            let address = ip(["10.0.0.1", "10.0.0.9", "fd00::1"][address]);
            if removes {
                engine.remove_address(devices[0], address);
                return String::new();
            }
            format!("{:?}", engine.add_address(devices[0], address, Some(ip("10.0.0.255"))))
        }
        Step::Frame { .. } => String::new(),
    }
}

fn counters(engine: &Engine, devices: [DeviceId; 3], sockets: &[SocketId]) -> String {
    let devices = devices.map(|device| engine.device_counters(device).unwrap());
    let sockets: Vec<_> = sockets.iter().map(|&id| engine.socket_counters(id).unwrap()).collect();
    format!("{devices:?} {sockets:?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn both_paths_deliver_and_count_the_same(steps in proptest::collection::vec(step(), 1..150)) {
        let [(mut quick, device), (mut general, _)] = [engine(), engine()];
        let ids = devices(&mut quick, device);
        devices(&mut general, device);
        let [mut sockets, mut others] = [const { Vec::new() }; 2];
        for step in &steps {
            let one = apply(&mut quick, ids, &mut sockets, step);
            prop_assert_eq!(one, apply(&mut general, ids, &mut others, step));
            let Step::Frame { device, frame } = step else { continue };
            let Some(frame) = frame.bytes() else { continue };
            // Twice: as a new flow and as a known one.
            for _ in 0..2 {
                let (mut one, mut other) = (CallbackLog::new(&frame), CallbackLog::new(&frame));
                let expected = general.handle_frame(NOW, ids[*device], &frame, &mut other);
                let known = quick.deliver_known_flow(ids[*device], &frame);
                if known.is_some() {
                    prop_assert_eq!((expected, known), (Verdict::Delivered(1), other.last));
                } else {
                    let verdict = quick.handle_frame(NOW, ids[*device], &frame, &mut one);
                    prop_assert_eq!(verdict, expected);
                    prop_assert_eq!(one.entries, &other.entries[..]);
                }
            }
        }
        let expected = counters(&general, ids, &others);
        prop_assert_eq!(counters(&quick, ids, &sockets), expected);
    }
}

/// A cached flow is invalidated by every change that may affect its recipient.
#[test]
fn cached_flow_follows_every_change() {
    let (mut engine, device) = engine();
    let (peer, group) = (at("10.0.0.2", 9), "239.1.1.1");
    let to_host = frame(peer, at("10.0.0.1", 7), b"x");
    let to_group = frame(peer, at(group, 7), b"x");
    let expect = |engine: &mut Engine, frame: &[u8], sockets: &[SocketId]| {
        for _ in 0..2 {
            let mut seen = Seen::default();
            engine.handle_frame(NOW, device, frame, &mut seen);
            assert_eq!(seen.sockets(), sockets);
        }
        let known = engine.deliver_known_flow(device, frame).map(|(socket, _)| socket);
        assert_eq!(known, (sockets.len() == 1).then(|| sockets[0]));
    };
    expect(&mut engine, &to_host, &[]);
    let any = bound(&mut engine, at("0.0.0.0", 7));
    expect(&mut engine, &to_host, &[any]);
    engine.remove_address(device, ip("10.0.0.1"));
    expect(&mut engine, &to_host, &[]);
    engine.add_address(device, ip("10.0.0.1"), None).unwrap();
    expect(&mut engine, &to_host, &[any]);
    let exact = shared_socket(&mut engine, at("10.0.0.1", 7));
    expect(&mut engine, &to_host, &[exact]);
    let connected = shared_socket(&mut engine, at("10.0.0.1", 7));
    engine.connect(connected, ip("10.0.0.1"), peer).unwrap();
    expect(&mut engine, &to_host, &[connected]);
    engine.close(connected).unwrap();
    expect(&mut engine, &to_host, &[exact]);
    let also = bound(&mut engine, at(group, 7));
    engine.join(any, device, ip(group)).unwrap();
    expect(&mut engine, &to_group, &[any]);
    engine.join(also, device, ip(group)).unwrap();
    expect(&mut engine, &to_group, &[any, also]);
    engine.leave(any, device, ip(group)).unwrap();
    expect(&mut engine, &to_group, &[also]);
    engine.close(also).unwrap();
    expect(&mut engine, &to_group, &[]);
}

/// Offsets where the engine never finds a payload have no headers before them.
#[test]
fn invalid_payload_offsets_have_no_endpoints() {
    let frames = [("10.0.0.2", "10.0.0.1", 42), ("fd00::2", "fd00::1", 62)];
    for (from, to, offset) in frames {
        let frame = frame(at(from, 9), at(to, 7), b"x");
        let endpoints = |offset| Payload { offset, length: 1 }.endpoints(&frame);
        assert_eq!(endpoints(offset), Some((at(from, 9), at(to, 7))));
        for other in (0..300).filter(|other| ![42, 46, 62, 66].contains(other)) {
            assert_eq!(endpoints(other), None, "{other}");
        }
        assert_eq!(Payload { offset, length: 0 }.endpoints(&frame[..offset as usize - 1]), None);
    }
}

/// More flows than the cache has slots: they replace each other and never reach another socket.
#[test]
fn colliding_flows_reach_their_own_sockets() {
    let (mut engine, device) = engine();
    let sockets: Vec<_> = (1..=8).map(|port| bound(&mut engine, at("10.0.0.1", port))).collect();
    for _ in 0..2 {
        for peer in 1..200 {
            for (port, &socket) in (1..).zip(&sockets) {
                let frame = frame(at("10.0.0.2", peer), at("10.0.0.1", port), b"x");
                let mut seen = Seen::default();
                let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
                assert_eq!(verdict, Verdict::Delivered(1));
                let got = seen.datagrams.pop().map(|(id, source, ..)| (id, source));
                assert_eq!(got, Some((socket, SocketAddress::new(ip("10.0.0.2"), peer))));
            }
        }
    }
}

/// The IPv6 addresses differ only in their last bytes.
#[test]
fn ipv6_flows_are_distinguished_by_whole_addresses() {
    let (mut engine, device) = engine();
    let hosts = ["fd00::1", "fd00::8"];
    let sockets = hosts.map(|host| bound(&mut engine, at(host, 7)));
    for peer in 1..400 {
        for (host, socket) in hosts.into_iter().zip(sockets) {
            let source = at(&format!("fd00::1:{peer:x}"), 9);
            let mut seen = Seen::default();
            let frame = frame(source, at(host, 7), b"x");
            engine.handle_frame(NOW, device, &frame, &mut seen);
            let got = seen.datagrams.pop().map(|(id, source, ..)| (id, source));
            assert_eq!(got, Some((socket, source)));
            let (known, payload) = engine.deliver_known_flow(device, &frame).unwrap();
            assert_eq!((known, payload), (socket, Payload { offset: 62, length: 1 }));
            assert_eq!(payload.endpoints(&frame), Some((source, at(host, 7))));
        }
    }
}

#[test]
fn group_flow_is_cached_per_device() {
    let (mut engine, device) = engine();
    let [_, second, _] = devices(&mut engine, device);
    let member = bound(&mut engine, at("0.0.0.0", 7));
    engine.join(member, device, ip("239.1.1.1")).unwrap();
    let frame = frame(at("10.0.0.2", 9), at("239.1.1.1", 7), b"x");
    for _ in 0..2 {
        let verdict = engine.handle_frame(NOW, device, &frame, &mut Seen::default());
        assert_eq!(verdict, Verdict::Delivered(1));
        let verdict = engine.handle_frame(NOW, second, &frame, &mut Seen::default());
        assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket));
    }
}
