//! Two engines on a faulty network: every delivered datagram was sent to that socket, and every
//! loss has an explanation.

use crate::support::*;
use hairpin_netsim::{Census, Chance, Clock, Delay, Faults, Link, Random};
use hairpin_netstack::{
    DeviceId, DeviceSettings, Dropped, Engine, Kernel, PreparedHeader, SocketAddress, SocketId,
    Verdict,
};
use hairpin_time::{Duration, Utc};
use hairpin_wire::MacAddress;

/// The number of seeds that CI runs.
const SEEDS: u64 = 200;
const DATAGRAMS: u32 = 150;

/// The event classes that must occur in two hundred seeds.
const CLASSES: [&str; 14] = [
    "lost",
    "duplicated",
    "corrupted",
    "reordered",
    "delivered",
    "delivered twice",
    "delivered late",
    "delivered to a group",
    "delivered over IPv6",
    "dropped for a wrong checksum",
    "dropped as malformed",
    "dropped as martian",
    "passed to the kernel",
    "corrupted in an unchecked field",
];

/// The sender's four flows: two unicast addresses and two groups.
const FLOWS: [(&str, &str, &str); 4] = [
    ("0.0.0.0", "10.0.0.1", "10.0.0.2"),
    ("::", "fd00::1", "fd00::2"),
    ("0.0.0.0", "10.0.0.1", "239.1.1.1"),
    ("::", "fd00::1", "ff15::1"),
];

/// Writes the frame's number, its flow, and a pattern that depends on the number.
fn payload(number: u32, flow: usize, bytes: &mut [u8]) {
    let (head, rest) = bytes.split_at_mut(5);
    head[..4].copy_from_slice(&number.to_be_bytes());
    head[4] = flow as u8;
    rest.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at as u32 * 7 + number) as u8);
}

struct Receiver {
    engine: Engine,
    device: DeviceId,
    sockets: Vec<SocketId>,
    /// The deliveries of each datagram, and the highest number so far.
    deliveries: Vec<u32>,
    highest: u32,
}

impl Receiver {
    fn new() -> Self {
        let mut engine = Engine::new(&SMALL);
        let device = engine.add_device(&DeviceSettings { mac: THEIRS, ..DEVICE }).unwrap();
        let sockets = FLOWS.iter().map(|&(_, _, to)| {
            let socket = bound(&mut engine, at(to, 9));
            if ip(to).is_multicast() {
                engine.join(socket, device, ip(to)).unwrap();
            }
            socket
        });
        let sockets = sockets.collect();
        Self { engine, device, sockets, deliveries: vec![0; DATAGRAMS as usize], highest: 0 }
    }

    fn handle_frame(&mut self, frame: &[u8], original: Option<&[u8]>, census: &mut Census) {
        let mut seen = Seen::default();
        match self.engine.handle_frame(NOW, self.device, frame, &mut seen) {
            Verdict::Delivered(1) => {}
            Verdict::Dropped(Dropped::Checksum) => census.count("dropped for a wrong checksum"),
            Verdict::Dropped(Dropped::Malformed) => census.count("dropped as malformed"),
            Verdict::Dropped(Dropped::Martian) => census.count("dropped as martian"),
            Verdict::Kernel(Kernel::NoSocket | _) => census.count("passed to the kernel"),
            verdict => panic!("{verdict:?}"),
        }
        if seen.datagrams.is_empty() {
            assert!(original != Some(frame), "an intact frame was not delivered");
            return;
        }
        let (socket, _, destination, payload) = seen.datagrams.pop().unwrap();
        self.check(socket, destination, &payload, census);
        if original.is_some_and(|original| original != frame) {
            census.count("corrupted in an unchecked field");
        }
    }

    fn check(
        &mut self,
        socket: SocketId,
        destination: SocketAddress,
        bytes: &[u8],
        census: &mut Census,
    ) {
        let number = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        let flow = usize::from(bytes[4]);
        let mut expected = vec![0; bytes.len()];
        payload(number, flow, &mut expected);
        assert_eq!(bytes, expected, "differs from the sent datagram");
        assert_eq!((socket, destination), (self.sockets[flow], at(FLOWS[flow].2, 9)));
        let deliveries = &mut self.deliveries[number as usize];
        *deliveries += 1;
        census.count(if *deliveries == 1 { "delivered" } else { "delivered twice" });
        census.add("delivered late", u64::from(number < self.highest));
        census.add("delivered to a group", u64::from(flow >= 2));
        census.add("delivered over IPv6", u64::from(flow % 2 == 1));
        self.highest = self.highest.max(number);
    }
}

fn run(seed: u64, census: &mut Census) {
    let mut random = Random::new(seed);
    let mut clock = Clock::new(Utc::EPOCH);
    let jitter = Delay { jitter: Duration::from_micros(60), ..Faults::LAN.delay };
    let faults = Faults {
        loss: Chance::percent(5),
        duplication: Chance::percent(5),
        corruption: Chance::percent(20),
        delay: jitter,
        reorders: true,
        ..Faults::LAN
    };
    let mut link = Link::new(random.split(), faults);
    let (mut engine, device) = engine();
    let headers: Vec<PreparedHeader> = FLOWS
        .iter()
        .enumerate()
        .map(|(flow, &(any, host, to))| {
            let socket = bound(&mut engine, at(any, 7 + flow as u16));
            engine.prepare(socket, &route(device, host, at(to, 9))).unwrap()
        })
        .collect();
    let mut receiver = Receiver::new();
    let mut frames = Vec::new();
    let mut buffer = [0; 1_514];
    for number in 0..DATAGRAMS {
        let flow = random.below(4) as usize;
        let length = 5 + random.below(200) as usize;
        let write = |bytes: &mut [u8]| payload(number, flow, bytes);
        let sent = engine.send(&headers[flow], length, &mut buffer, write).unwrap();
        // The destination is the group's Ethernet address or the next hop, which is the receiver.
        assert!(MacAddress(buffer[..6].try_into().unwrap()).is_group() || buffer[..6] == THEIRS.0);
        frames.push(buffer[..sent].to_vec());
        link.send(clock.now().monotonic, &buffer[..sent]);
        clock.advance(Duration::from_micros(10));
        let mut arrived = Vec::new();
        link.receive(clock.now().monotonic, |_, frame| arrived.push(frame.to_vec()));
        for frame in arrived {
            let near = closest(&frames, &frame);
            receiver.handle_frame(&frame, near, census);
        }
    }
    clock.advance(Duration::from_millis(1));
    let mut arrived = Vec::new();
    link.receive(clock.now().monotonic, |_, frame| arrived.push(frame.to_vec()));
    for frame in arrived {
        receiver.handle_frame(&frame, closest(&frames, &frame), census);
    }
    link.report(census);
    let missing = receiver.deliveries.iter().filter(|&&deliveries| deliveries == 0).count() as u64;
    let tally = link.counters();
    assert!(missing <= tally.lost + tally.corrupted, "{missing} are missing: {tally:?}");
    let deliveries =
        receiver.deliveries.iter().map(|&deliveries| u64::from(deliveries)).sum::<u64>();
    assert!(
        deliveries <= tally.arrived && deliveries + tally.corrupted >= tally.arrived,
        "{deliveries} {tally:?}"
    );
}

/// Returns the sent frame that differs in at most one bit.
fn closest<'a>(frames: &'a [Vec<u8>], frame: &[u8]) -> Option<&'a [u8]> {
    let bits = |a: &[u8]| a.iter().zip(frame).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    let mut same = frames.iter().filter(|sent| sent.len() == frame.len());
    same.find(|sent| bits(sent) <= 1).map(Vec::as_slice)
}

#[test]
fn delivered_datagrams_were_sent_and_losses_are_explained() {
    let mut census = Census::default();
    for seed in 0..hairpin_testbed::scaled(SEEDS) {
        let before = std::panic::catch_unwind(|| {
            let mut census = Census::default();
            run(seed, &mut census);
            census
        });
        match before {
            Ok(of_seed) => census.merge(&of_seed),
            Err(panic) => {
                println!("seed {seed}");
                std::panic::resume_unwind(panic);
            }
        }
    }
    for (class, times) in census.iter() {
        println!("{times:>8} {class}");
    }
    census.require(&CLASSES).unwrap();
}
