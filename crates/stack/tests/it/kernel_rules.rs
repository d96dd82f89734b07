//! Odd frames to sockets of the stack and of the kernel: both deliver the same.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket as KernelSocket};

use hairpin_netsim::Census;
use hairpin_stack::{Mode, PathEvent, SocketOptions, UdpSocket};
use hairpin_testbed::{FrameSender, Host, Testbed};

use crate::odd_frames::{CLASSES, Destination, Ends, MARKER, OddFrame, OddFrames, Rule, SOURCE_PORT};
use crate::support::{MODES, bind_with, eventually, stack, testbed};

const SEED: u64 = 0x0DD;
const BATCHES: u32 = 40;
const FRAMES: u32 = 60;
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 7, 7, 7);

/// The sockets of a host: the number that they are recorded with is their index.
const PORTS: [u16; 6] = [5_000, 5_001, 5_002, 5_003, 5_004, 5_005];

fn destinations() -> Vec<Destination> {
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

/// Returns the address that each socket is bound to, and its peer.
fn ends_of(ends: &Ends) -> [(SocketAddr, Option<SocketAddr>); 6] {
    let at = |ip: IpAddr, index: usize| SocketAddr::new(ip, PORTS[index]);
    let any = IpAddr::from(Ipv4Addr::UNSPECIFIED);
    let peer = |ip: IpAddr| Some(SocketAddr::new(ip, SOURCE_PORT));
    [
        (at(any, 0), None),
        (at(ends.to.into(), 1), None),
        (at(Ipv6Addr::UNSPECIFIED.into(), 2), None),
        (at(ends.to.into(), 3), peer(ends.from.into())),
        (at(ends.to_v6.into(), 4), peer(ends.from_v6.into())),
        (at(any, 5), None),
    ]
}

/// A datagram that a program receives: the socket, the source and the payload.
type Record = (usize, SocketAddr, Vec<u8>);

/// The number at the front of a payload.
fn number(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes))
}

/// Two hosts, the second of which receives.
struct Side {
    testbed: Testbed,
    sender: FrameSender,
    macs: [[u8; 6]; 2],
}

impl Side {
    fn new() -> Self {
        let testbed = testbed(1);
        let [from, to] = testbed.hosts();
        let mac = |host: &Host| host.rtnetlink().unwrap().link(host.interface()).unwrap().mac;
        let macs = [mac(to), mac(from)];
        let sender = FrameSender::open(from, from.interface_index()).unwrap();
        Self { testbed, sender, macs }
    }

    fn ends(&self) -> Ends {
        let [from, to] = self.testbed.hosts();
        Ends {
            from: from.address(),
            to: to.address(),
            from_v6: from.address_v6().unwrap(),
            to_v6: to.address_v6().unwrap(),
        }
    }

    fn send(&self, frame: &OddFrame) {
        let bytes = frame.bytes(self.macs[0], self.macs[1]);
        match frame.partial {
            Some(start) => self.sender.send_partial(&bytes, start, 6).unwrap(),
            None => self.sender.send(&bytes).unwrap(),
        }
    }
}

/// Records datagrams until the markers of a batch have arrived by both paths at each destination.
fn until_marked(batch: u32, mut receive: impl FnMut(&mut Vec<Record>)) -> BTreeSet<Record> {
    let (mut records, mut marked) = (Vec::new(), BTreeSet::new());
    let markers = [0, 1].map(|by| MARKER | batch << 1 | by);
    let all = 2 * destinations().len();
    let mut found = BTreeSet::new();
    let complete = eventually(|| {
        receive(&mut records);
        for record in records.drain(..) {
            let number = number(&record.2);
            if markers.contains(&number) {
                marked.insert((record.0, record.1.is_ipv4(), is_mapped(record.1), number));
            } else {
                assert!(found.insert(record.clone()), "twice: {record:?}");
            }
        }
        marked.len() == all
    });
    assert!(complete, "batch {batch}: {} of {all} markers", marked.len());
    found
}

fn is_mapped(address: SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(address) if address.ip().to_ipv4_mapped().is_some())
}

fn kernel_sockets(host: &Host, ends: &Ends) -> Vec<KernelSocket> {
    let all = ends_of(ends).map(|(local, peer)| {
        let socket = host.run(|| KernelSocket::bind(local)).unwrap().unwrap();
        if let Some(peer) = peer {
            host.run(|| socket.connect(peer)).unwrap().unwrap();
        }
        socket.set_nonblocking(true).unwrap();
        socket
    });
    all[5].join_multicast_v4(&GROUP, &ends.to).unwrap();
    all.into()
}

fn receive_kernel(sockets: &[KernelSocket], records: &mut Vec<Record>) {
    let mut buffer = [0; 2_048];
    for (at, socket) in sockets.iter().enumerate() {
        // An error is an ICMP message about nothing that was sent.
        while let Ok((length, source)) = socket.recv_from(&mut buffer) {
            records.push((at, without_scope(source), buffer[..length].to_vec()));
        }
    }
}

fn receive_stack(sockets: &mut [UdpSocket], records: &mut Vec<Record>) {
    for (at, socket) in sockets.iter_mut().enumerate() {
        let receive = socket.receive(64, |meta, bytes| {
            records.push((at, without_scope(meta.source), bytes.to_vec()));
        });
        receive.unwrap();
    }
}

fn without_scope(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

/// Compares what both sides received of a batch.
fn compare(
    frames: &BTreeMap<u32, (&'static str, Rule)>,
    kernel: &BTreeSet<Record>,
    stack: &BTreeSet<Record>,
    census: &mut Census,
) {
    for record in kernel.symmetric_difference(stack) {
        let (class, rule) = frames[&number(&record.2)];
        let expected = if kernel.contains(record) { Rule::KernelOnly } else { Rule::StackOnly };
        assert_eq!(rule, expected, "{class}: {record:?}");
        census.count(if rule == Rule::KernelOnly { "kernel only" } else { "stack only" });
    }
    for record in kernel.intersection(stack) {
        let (class, rule) = frames[&number(&record.2)];
        assert_eq!(rule, Rule::AsKernel, "{class}: {record:?}");
        census.count("delivered by both");
    }
}

/// Sends thousands of odd frames to both hosts.
fn run(mode: Mode) -> Census {
    let (kernel_side, stack_side) = (Side::new(), Side::new());
    let ends = kernel_side.ends();
    let kernel = kernel_sockets(&kernel_side.testbed.hosts()[1], &ends);
    let host = &stack_side.testbed.hosts()[1];
    let stack = stack(host, mode);
    let mut sockets: Vec<_> = ends_of(&ends)
        .into_iter()
        .map(|(local, peer)| {
            let mut socket = bind_with(host, &stack, local, &SocketOptions::default());
            if let Some(peer) = peer {
                host.run(|| socket.connect(peer)).unwrap().unwrap();
            }
            socket
        })
        .collect();
    sockets[5].join(GROUP.into(), &[]).unwrap();
    let is_redirected = eventually(|| sockets[5].receives_group_over_xdp(GROUP.into()));
    assert!(is_redirected && sockets[..5].iter().all(UdpSocket::receives_over_xdp));
    let mut frames = OddFrames::new(SEED, ends, &destinations());
    let mut census = Census::default();
    for batch in 0..BATCHES {
        let mut sent = frames.good();
        sent.extend((0..FRAMES).map(|_| frames.next()));
        let classes: BTreeMap<_, _> =
            sent.iter().map(|frame| (frame.number(), (frame.class, frame.rule))).collect();
        let markers = frames.markers(batch);
        for side in [&kernel_side, &stack_side] {
            sent.iter().chain(&markers).for_each(|frame| side.send(frame));
        }
        sent.iter().for_each(|frame| census.count(frame.class));
        let by_kernel = until_marked(batch, |records| receive_kernel(&kernel, records));
        let by_stack = until_marked(batch, |records| receive_stack(&mut sockets, records));
        compare(&classes, &by_kernel, &by_stack, &mut census);
    }
    let fallback = std::iter::from_fn(|| stack.next_event()).find(PathEvent::is_fallback);
    assert_eq!(fallback, None);
    let dropped = stack.drop_counters();
    for (name, count) in [
        ("malformed", dropped.malformed),
        ("wrong_checksum", dropped.wrong_checksum),
        ("martian", dropped.martian),
        ("other_mac", dropped.other_mac),
    ] {
        assert!(count > 0, "{name}: {dropped:?}");
    }
    assert_eq!(dropped.queue_full + dropped.receive_ring_full + dropped.fill_ring_empty, 0);
    census
}

#[test]
#[ignore = "needs root"]
fn sockets_receive_the_odd_frames_that_the_kernel_accepts() {
    for mode in MODES {
        let census = run(mode);
        println!("{mode}:");
        census.iter().for_each(|(class, count)| println!("{count:6} {class}"));
        census.require(&CLASSES).unwrap();
        census.require(&["delivered by both", "kernel only", "stack only"]).unwrap();
    }
}
