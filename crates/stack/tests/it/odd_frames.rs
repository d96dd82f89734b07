//! UDP frames with one odd field each, by a seed, and the frames that mark the end of a batch.
#![allow(dead_code, reason = "two test programs use a part each")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use hairpin_netsim::{Census, Random};
use hairpin_testbed::{FrameSender, Host, Testbed};
use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, MacAddress, Protocol, Sum};
use hairpin_wire::{UdpHeader, VlanTag};

/// The places of the host's and the sender's Ethernet addresses, which differ between hosts.
const HOST: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const SENDER: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
/// The source port, which the connected sockets have as their peer's.
pub(crate) const SOURCE_PORT: u16 = 9;
/// Numbers of marker datagrams.
pub(crate) const MARKER: u32 = 0xF000_0000;
/// Stands for the number of an empty datagram.
const NO_NUMBER: u32 = u32::MAX;

/// The difference between the kernel and the stack that a frame provokes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Both deliver it, or neither does.
    AsKernel,
    /// The stack is stricter: a source that the kernel accepts over IPv6 only.
    KernelOnly,
    /// The stack accepts the partial sum, which it cannot tell from that of a local sender.
    StackOnly,
}

/// A frame, and what it is.
#[derive(Debug)]
pub(crate) struct OddFrame {
    pub(crate) class: &'static str,
    pub(crate) rule: Rule,
    number: u32,
    port: u16,
    bytes: Vec<u8>,
    /// The offset of the UDP header if the kernel should know that its checksum is partial.
    pub(crate) partial: Option<u16>,
}

impl OddFrame {
    /// Returns the port of its destination, as far as it is not changed.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the bytes for a host.
    pub(crate) fn bytes(&self, host: [u8; 6], sender: [u8; 6]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for (at, placeholder, address) in [(0, HOST, host), (6, SENDER, sender)] {
            if bytes[at..at + 6] == placeholder.0 {
                bytes[at..at + 6].copy_from_slice(&address);
            }
        }
        bytes
    }
}

/// The addresses of both hosts: the sender's, and the host's that receives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) from: Ipv4Addr,
    pub(crate) to: Ipv4Addr,
    pub(crate) from_v6: Ipv6Addr,
    pub(crate) to_v6: Ipv6Addr,
}

/// The parts of a frame before checksums are computed.
struct Draft {
    ethernet: EthernetHeader,
    tags: Vec<VlanTag>,
    v4: Option<Ipv4Header>,
    v6: Ipv6Header,
    udp: UdpHeader,
    payload: Vec<u8>,
    /// Bytes behind the packet.
    trailer: usize,
}

impl Draft {
    fn new(ends: &Ends, to: Destination, number: u32, length: usize) -> Self {
        let (source, port) = (SOURCE_PORT, to.port);
        let mut payload = number.to_be_bytes().to_vec();
        payload.extend((0..8 + length).map(|at| at as u8 ^ number as u8));
        let mut udp = UdpHeader::new(source, port);
        udp.set_length((UdpHeader::SIZE + payload.len()) as u16);
        let group = to.group.unwrap_or(ends.to);
        let mut v4 = Ipv4Header::new(Protocol::UDP, ends.from, group);
        v4.set_ttl(7);
        v4.set_total_length(Ipv4Header::SIZE as u16 + udp.length());
        let mut v6 = Ipv6Header::new(Protocol::UDP, ends.from_v6, ends.to_v6);
        v6.set_hop_limit(7);
        v6.set_payload_length(udp.length());
        let ether_type = if to.is_v6 { EtherType::IPV6 } else { EtherType::IPV4 };
        let mac = to.group.map_or(HOST, MacAddress::from_ipv4_group);
        let ethernet = EthernetHeader::new(mac, SENDER, ether_type);
        let v4 = (!to.is_v6).then_some(v4);
        Self { ethernet, tags: Vec::new(), v4, v6, udp, payload, trailer: 0 }
    }

    /// Returns the sum of the pseudo header for a UDP length.
    fn pseudo(&self, length: u16) -> Sum {
        match &self.v4 {
            Some(ip) => Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::UDP, length),
            None => {
                let (source, to) = (self.v6.source(), self.v6.destination());
                Sum::pseudo_ipv6(source, to, Protocol::UDP, length.into())
            }
        }
    }

    fn fill_udp(&mut self) {
        let length = self.udp.length();
        let covered = usize::from(length).saturating_sub(UdpHeader::SIZE).min(self.payload.len());
        let pseudo = self.pseudo(length);
        self.udp.fill_checksum(pseudo, &self.payload[..covered]);
    }

    fn fill_ip(&mut self) {
        if let Some(ip) = &mut self.v4 {
            ip.fill_checksum();
        }
    }

    /// Returns the frame with `between` behind the IP header.
    fn bytes_with(&self, between: &[u8]) -> Vec<u8> {
        let mut ethernet = self.ethernet;
        let inner = ethernet.ether_type();
        if !self.tags.is_empty() {
            ethernet.set_ether_type(EtherType::VLAN);
        }
        let mut bytes = ethernet.as_bytes().to_vec();
        for (at, tag) in self.tags.iter().enumerate() {
            let is_last = at + 1 == self.tags.len();
            let ether_type = if is_last { inner } else { EtherType::VLAN };
            bytes.extend(VlanTag::new(tag.identifier(), ether_type).as_bytes());
        }
        match &self.v4 {
            Some(ip) => bytes.extend(ip.as_bytes()),
            None => bytes.extend(self.v6.as_bytes()),
        }
        bytes.extend(between);
        bytes.extend(self.udp.as_bytes());
        bytes.extend(&self.payload);
        bytes.extend(std::iter::repeat_n(0xEE, self.trailer));
        bytes
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.fill_udp();
        self.fill_ip();
        self.bytes_with(&[])
    }

    fn ip_at(&self) -> usize {
        EthernetHeader::SIZE + self.tags.len() * VlanTag::SIZE
    }

    fn udp_at(&self) -> usize {
        self.ip_at() + if self.v4.is_some() { Ipv4Header::SIZE } else { Ipv6Header::SIZE }
    }

    fn set_source(&mut self, v4: [u8; 4], v6: &str) {
        match &mut self.v4 {
            Some(ip) => ip.set_source(v4.into()),
            None => self.v6.set_source(v6.parse().unwrap()),
        }
    }

    fn set_destination(&mut self, v4: [u8; 4], v6: &str) {
        match &mut self.v4 {
            Some(ip) => ip.set_destination(v4.into()),
            None => self.v6.set_destination(v6.parse().unwrap()),
        }
    }

    fn is_v6(&self) -> bool {
        self.v4.is_none()
    }
}

/// The destination of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    pub(crate) port: u16,
    pub(crate) is_v6: bool,
    pub(crate) group: Option<Ipv4Addr>,
}

/// Every class of frames. Those for one family only have its number.
pub(crate) const CLASSES: [&str; 51] = [
    "good",
    "partial sum of a local sender",
    "partial sum from the wire",
    "UDP checksum damaged",
    "payload damaged",
    "no UDP checksum",
    "IPv4 checksum damaged",
    "source loopback",
    "source unspecified",
    "source group",
    "source 255.255.255.255",
    "source our own",
    "source 0.1.2.3",
    "source class E",
    "source broadcast of the subnet",
    "source of another network",
    "source IPv4-mapped",
    "source link-local",
    "destination loopback",
    "destination unspecified",
    "destination IPv4-mapped",
    "destination of another host",
    "destination 255.255.255.255",
    "destination broadcast of the subnet",
    "MAC of another host",
    "MAC broadcast",
    "MAC group",
    "version wrong",
    "IPv4 header length wrong",
    "IP length too long",
    "IP length too short",
    "UDP length too long",
    "UDP length shorter",
    "UDP length of the header",
    "UDP length below the header",
    "UDP length zero",
    "trailing bytes",
    "TTL zero",
    "traffic class",
    "first fragment",
    "later fragment",
    "reserved flag",
    "IPv4 options",
    "IPv6 destination options",
    "priority tag",
    "priority tag twice",
    "VLAN tag",
    "truncated",
    "source port zero",
    "random byte",
    "random byte with valid checksums",
];

/// Makes frames by a seed.
pub(crate) struct OddFrames {
    random: Random,
    ends: Ends,
    destinations: Vec<Destination>,
    next: u32,
}

impl OddFrames {
    pub(crate) fn new(seed: u64, ends: Ends, destinations: &[Destination]) -> Self {
        let destinations = destinations.to_vec();
        Self { random: Random::new(seed), ends, destinations, next: 0 }
    }

    /// Returns a frame to each destination that is delivered by the path of most frames.
    pub(crate) fn good(&mut self) -> Vec<OddFrame> {
        let all = self.destinations.clone();
        all.into_iter().map(|to| self.frame("good", to)).collect()
    }

    /// Returns two datagrams to each destination, by both paths to a socket of the stack, with the
    /// number of a batch. The filter passes packets with options to the kernel.
    pub(crate) fn markers(&mut self, batch: u32) -> Vec<OddFrame> {
        let mut frames = Vec::new();
        for &to in &self.destinations {
            for (by, class) in [(0, "good"), (1, "options")] {
                let number = MARKER | batch << 1 | by;
                let mut draft = Draft::new(&self.ends, to, number, 0);
                let bytes = if by == 0 { draft.bytes() } else { with_options(&mut draft) };
                let rule = Rule::AsKernel;
                frames.push(OddFrame { class, rule, number, port: to.port, bytes, partial: None });
            }
        }
        frames
    }

    /// Returns a frame of a class.
    pub(crate) fn next(&mut self) -> OddFrame {
        loop {
            let class = *self.random.pick(&CLASSES);
            let to = *self.random.pick(&self.destinations.clone());
            let is_v4_only = class.contains("IPv4 ")
                || ["source 255.255.255.255", "source 0.1.2.3", "source class E"].contains(&class)
                || class.contains("broadcast of the subnet")
                || class == "destination 255.255.255.255"
                || class.contains("fragment")
                || class == "reserved flag";
            let is_v6_only = class.contains("mapped") || class.contains("IPv6");
            if !(is_v4_only && to.is_v6 || is_v6_only && !to.is_v6) {
                return self.frame(class, to);
            }
        }
    }

    fn frame(&mut self, class: &'static str, to: Destination) -> OddFrame {
        let (number, length) = (self.next, self.random.below(60) as usize);
        self.next += 1;
        let mut draft = Draft::new(&self.ends, to, number, length);
        let rule = match class {
            "source unspecified" | "source our own" | "source IPv4-mapped" if to.is_v6 => {
                Rule::KernelOnly
            }
            "partial sum from the wire" => Rule::StackOnly,
            _ => Rule::AsKernel,
        };
        let partial = (class == "partial sum of a local sender").then(|| draft.udp_at() as u16);
        let bytes = self.change(class, &mut draft);
        OddFrame { class, rule, number, port: to.port, bytes, partial }
    }

    fn change(&mut self, class: &'static str, draft: &mut Draft) -> Vec<u8> {
        let ends = self.ends;
        match class {
            "source loopback" => draft.set_source([127, 0, 0, 1], "::1"),
            "source unspecified" => draft.set_source([0; 4], "::"),
            "source group" => draft.set_source([224, 0, 0, 9], "ff02::9"),
            "source 255.255.255.255" => draft.set_source([255; 4], "::2"),
            "source our own" => draft.set_source(ends.to.octets(), &ends.to_v6.to_string()),
            "source 0.1.2.3" => draft.set_source([0, 1, 2, 3], "::3"),
            "source class E" => draft.set_source([240, 0, 0, 1], "::4"),
            "source broadcast of the subnet" => {
                let [a, b, c, _] = ends.from.octets();
                draft.set_source([a, b, c, 255], "::5");
            }
            "source of another network" => draft.set_source([203, 0, 113, 9], "2001:db8::9"),
            "source IPv4-mapped" => draft.set_source([9; 4], "::ffff:10.77.0.1"),
            "source link-local" => draft.set_source([169, 254, 9, 9], "fe80::99"),
            "destination loopback" => draft.set_destination([127, 0, 0, 1], "::1"),
            "destination unspecified" => draft.set_destination([0; 4], "::"),
            "destination IPv4-mapped" => draft.set_destination([9; 4], "::ffff:10.77.0.2"),
            "destination of another host" => draft.set_destination([10, 77, 0, 9], "fd77::9"),
            "destination 255.255.255.255" => draft.set_destination([255; 4], "::6"),
            "destination broadcast of the subnet" => {
                let [a, b, c, _] = ends.to.octets();
                draft.set_destination([a, b, c, 255], "::7");
            }
            "MAC of another host" => {
                draft.ethernet.set_destination(MacAddress([2, 0, 0, 0, 0, 9]));
            }
            "MAC broadcast" => draft.ethernet.set_destination(MacAddress([0xFF; 6])),
            "MAC group" => draft.ethernet.set_destination(MacAddress([1, 0, 0x5E, 9, 9, 9])),
            "TTL zero" => match &mut draft.v4 {
                Some(ip) => ip.set_ttl(0),
                None => draft.v6.set_hop_limit(0),
            },
            "traffic class" => match &mut draft.v4 {
                Some(ip) => ip.set_traffic_class(0xB9),
                None => draft.v6.set_traffic_class(0xB9),
            },
            "source port zero" => draft.udp.set_source_port(0),
            "trailing bytes" => draft.trailer = 1 + self.random.below(40) as usize,
            "priority tag" => draft.tags = vec![VlanTag::new(0, EtherType::IPV4)],
            "priority tag twice" => draft.tags = vec![VlanTag::new(0, EtherType::IPV4); 2],
            "VLAN tag" => draft.tags = vec![VlanTag::new(5, EtherType::IPV4)],
            _ => return self.damage(class, draft),
        }
        draft.bytes()
    }

    /// Makes frames with damaged lengths, checksums or bytes.
    fn damage(&mut self, class: &'static str, draft: &mut Draft) -> Vec<u8> {
        let length = draft.udp.length();
        let is_v6 = draft.is_v6();
        match class {
            "IPv4 options" | "IPv6 destination options" => return with_options(draft),
            "UDP length too long" => draft.udp.set_length(length + 1 + self.random.below(9) as u16),
            "UDP length shorter" => draft.udp.set_length(length - 1 - self.random.below(3) as u16),
            "UDP length of the header" => draft.udp.set_length(UdpHeader::SIZE as u16),
            "UDP length below the header" => draft.udp.set_length(1 + self.random.below(7) as u16),
            "UDP length zero" => {
                // The checksum covers the packet's length.
                let pseudo = draft.pseudo(length);
                draft.udp.set_length(0);
                let payload = draft.payload.clone();
                draft.udp.fill_checksum(pseudo, &payload);
                draft.fill_ip();
                return draft.bytes_with(&[]);
            }
            "IP length too long" => set_ip_length(draft, i32::from(length) + 1),
            "IP length too short" => set_ip_length(draft, i32::from(length) - 2),
            _ => {}
        }
        let mut bytes = draft.bytes();
        let (ip, udp) = (draft.ip_at(), draft.udp_at());
        let partial = !draft.pseudo(length).checksum();
        match class {
            "partial sum of a local sender" | "partial sum from the wire" => {
                bytes[udp + 6..udp + 8].copy_from_slice(&partial.to_be_bytes());
            }
            "UDP checksum damaged" => bytes[udp + 7] ^= 1 << self.random.below(8),
            "payload damaged" => bytes[udp + 9] ^= 1 << self.random.below(8),
            "no UDP checksum" => bytes[udp + 6..udp + 8].fill(0),
            "IPv4 checksum damaged" => bytes[ip + 10] ^= 1 << self.random.below(8),
            "version wrong" => bytes[ip] ^= 0x70,
            "truncated" => {
                bytes.truncate(ip + self.random.below((bytes.len() - ip) as u64) as usize)
            }
            "random byte" => {
                let at = self.random.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << self.random.below(8);
            }
            "random byte with valid checksums" => {
                let at = ip + self.random.below((udp - ip) as u64) as usize;
                bytes[at] ^= 1 << self.random.below(8);
                mend(&mut bytes, ip, udp, is_v6);
            }
            "IPv4 header length wrong" => {
                bytes[ip] = 0x40 | self.random.below(5) as u8;
                mend(&mut bytes, ip, udp, is_v6);
            }
            "first fragment" | "later fragment" | "reserved flag" => {
                let field = match class {
                    "first fragment" => [0x20, 0],
                    "later fragment" => [0x00, 9],
                    _ => [0x80, 0],
                };
                bytes[ip + 6..ip + 8].copy_from_slice(&field);
                mend(&mut bytes, ip, udp, is_v6);
            }
            _ => {}
        }
        bytes
    }
}

/// Sets the length of an IP packet with this UDP length.
fn set_ip_length(draft: &mut Draft, udp_length: i32) {
    let length = u16::try_from(udp_length).unwrap();
    match &mut draft.v4 {
        Some(ip) => ip.set_total_length(Ipv4Header::SIZE as u16 + length),
        None => draft.v6.set_payload_length(length),
    }
}

/// Returns a frame with IPv4 options or an IPv6 extension header, all of them padding.
fn with_options(draft: &mut Draft) -> Vec<u8> {
    draft.fill_udp();
    let between: &[u8] = if draft.is_v6() { &[17, 0, 1, 4, 0, 0, 0, 0] } else { &[1, 1, 1, 0] };
    let length = draft.udp.length() + between.len() as u16;
    set_ip_length(draft, i32::from(length));
    if draft.is_v6() {
        draft.v6.set_next_header(Protocol(60));
        return draft.bytes_with(between);
    }
    let mut bytes = draft.bytes_with(between);
    bytes[EthernetHeader::SIZE] = 0x46;
    let header = &mut bytes[EthernetHeader::SIZE..EthernetHeader::SIZE + 24];
    header[10..12].fill(0);
    let checksum = Sum::ZERO.bytes(header).checksum();
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

/// Makes the checksums of a frame valid again, after a change of its IP header.
fn mend(bytes: &mut [u8], ip: usize, udp: usize, is_v6: bool) {
    let length = u16::from_be_bytes([bytes[udp + 4], bytes[udp + 5]]);
    let addresses = if is_v6 { ip + 8..ip + 40 } else { ip + 12..ip + 20 };
    let pseudo = Sum::ZERO.bytes(&bytes[addresses]).word(17).word(length);
    if !is_v6 {
        bytes[ip + 10..ip + 12].fill(0);
        let checksum = Sum::ZERO.bytes(&bytes[ip..ip + 20]).checksum();
        bytes[ip + 10..ip + 12].copy_from_slice(&checksum.to_be_bytes());
    }
    let end = (udp + usize::from(length)).min(bytes.len());
    bytes[udp + 6..udp + 8].fill(0);
    let checksum = pseudo.bytes(&bytes[udp..end]).udp_checksum();
    bytes[udp + 6..udp + 8].copy_from_slice(&checksum.to_be_bytes());
}

pub(crate) const GROUP: Ipv4Addr = Ipv4Addr::new(239, 7, 7, 7);

/// The sockets of a host: the number that they are recorded with is their index.
pub(crate) const PORTS: [u16; 6] = [5_000, 5_001, 5_002, 5_003, 5_004, 5_005];

pub(crate) fn destinations() -> Vec<Destination> {
    let to = |at: usize, is_v6, group| Destination { port: PORTS[at], is_v6, group };
    vec![
        to(0, false, None),
        to(1, false, None),
        to(2, false, None),
        to(2, true, None),
        to(3, false, None),
        to(4, true, None),
        to(5, false, Some(GROUP)),
    ]
}

/// A datagram that a program receives: the socket, the source and the payload.
pub(crate) type Record = (usize, SocketAddr, Vec<u8>);

/// Datagrams, each with the number of equal ones before it.
pub(crate) type Records = BTreeSet<(Record, u32)>;

/// The number at the front of a payload; `NO_NUMBER` without one.
fn number(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(NO_NUMBER, |bytes| u32::from_be_bytes(*bytes))
}

/// Two hosts, the second of which receives.
pub(crate) struct Side {
    pub(crate) testbed: Testbed,
    sender: FrameSender,
    macs: [[u8; 6]; 2],
}

impl Side {
    pub(crate) fn new(testbed: Testbed) -> Self {
        let [from, to] = testbed.hosts();
        let mac = |host: &Host| host.rtnetlink().unwrap().link(host.interface()).unwrap().mac;
        let macs = [mac(to), mac(from)];
        let sender = FrameSender::open(from, from.interface_index()).unwrap();
        Self { testbed, sender, macs }
    }

    pub(crate) fn ends(&self) -> Ends {
        let [from, to] = self.testbed.hosts();
        Ends {
            from: from.address(),
            to: to.address(),
            from_v6: from.address_v6().unwrap(),
            to_v6: to.address_v6().unwrap(),
        }
    }

    pub(crate) fn send(&self, frame: &OddFrame) {
        let bytes = frame.bytes(self.macs[0], self.macs[1]);
        match frame.partial {
            Some(start) => self.sender.send_partial(&bytes, start, 6).unwrap(),
            None => self.sender.send(&bytes).unwrap(),
        }
    }
}

/// What a program received of a batch.
#[derive(Debug)]
pub(crate) struct Batch {
    markers: [u32; 2],
    marked: BTreeSet<(usize, bool, bool, u32)>,
    pub(crate) records: Records,
}

impl Batch {
    pub(crate) fn new(number: u32) -> Self {
        let markers = [0, 1].map(|by| MARKER | number << 1 | by);
        Self { markers, marked: BTreeSet::new(), records: BTreeSet::new() }
    }

    pub(crate) fn add(&mut self, record: Record) {
        let number = number(&record.2);
        if self.markers.contains(&number) {
            self.marked.insert((record.0, record.1.is_ipv4(), is_mapped(record.1), number));
        } else {
            // A datagram without a number has no payload.
            let mut record = (record, 0);
            while !self.records.insert(record.clone()) {
                assert!(record.0.2.is_empty(), "twice: {record:?}");
                record.1 += 1;
            }
        }
    }

    /// Returns `true` once the markers have arrived by both paths at each destination.
    pub(crate) fn is_complete(&self) -> bool {
        self.marked.len() == 2 * destinations().len()
    }
}

fn is_mapped(address: SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(address) if address.ip().to_ipv4_mapped().is_some())
}

pub(crate) fn without_scope(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

/// Compares what both sides received of a batch.
pub(crate) fn compare(sent: &[OddFrame], kernel: &Records, stack: &Records, census: &mut Census) {
    let mut frames: BTreeMap<_, _> =
        sent.iter().map(|frame| (frame.number, (frame.class, frame.rule))).collect();
    frames.insert(NO_NUMBER, ("UDP length of the header", Rule::AsKernel));
    for record in kernel.symmetric_difference(stack) {
        let (class, rule) = frames[&number(&record.0.2)];
        let expected = if kernel.contains(record) { Rule::KernelOnly } else { Rule::StackOnly };
        assert_eq!(rule, expected, "{class}: {record:?}");
        census.count(if rule == Rule::KernelOnly { "kernel only" } else { "stack only" });
    }
    for record in kernel.intersection(stack) {
        let (class, rule) = frames[&number(&record.0.2)];
        assert_eq!(rule, Rule::AsKernel, "{class}: {record:?}");
        census.count("delivered by both");
    }
}
