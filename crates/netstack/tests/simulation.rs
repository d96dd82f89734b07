//! Two engines on a bad network: what is delivered was sent, to that socket, and every loss has an
//! explanation.
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

mod support;

use hairpin_netsim::{Census, Chance, Clock, Delay, Faults, Link, Random};
use hairpin_netstack::{
    DeviceSettings, Dropped, Engine, Kernel, PreparedHeader, SocketAddress, SocketId, Verdict,
};
use hairpin_time::{Duration, Utc};
use hairpin_wire::MacAddress;
use support::*;
use zerocopy::IntoBytes;

const SEEDS: u64 = 200;
const DATAGRAMS: u32 = 150;

/// What has to have happened in two hundred seeds.
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
    "dropped for its checksum",
    "dropped as malformed",
    "left to the kernel",
    "moved",
    "corrupted where nothing looks",
];

/// Where the sender's four flows go: two hosts' addresses and two groups.
const FLOWS: [(&str, &str, &str); 4] = [
    ("0.0.0.0", "10.0.0.1", "10.0.0.2"),
    ("::", "fd00::1", "fd00::2"),
    ("0.0.0.0", "10.0.0.1", "239.1.1.1"),
    ("::", "fd00::1", "ff15::1"),
];

/// The frame's number, its length and a pattern that depends on both.
fn payload(number: u32, flow: usize, bytes: &mut [u8]) {
    let (head, rest) = bytes.split_at_mut(5);
    head[..4].copy_from_slice(&number.to_be_bytes());
    head[4] = flow as u8;
    rest.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at as u32 * 7 + number) as u8);
}

struct Receiver {
    memory: Vec<u64>,
    sockets: Vec<SocketId>,
    /// How often each datagram has come, and the highest number so far.
    came: Vec<u32>,
    highest: u32,
}

impl Receiver {
    fn new() -> Self {
        let mut memory = memory(&SMALL);
        let mut engine = Engine::create(memory.as_mut_bytes(), &SMALL).unwrap();
        let device = engine.add_device(&DeviceSettings { mac: THEIRS, ..DEVICE }).unwrap();
        let sockets = FLOWS.iter().map(|&(_, _, to)| {
            let socket = bound(&mut engine, at(to, 9));
            if ip(to).is_multicast() {
                engine.join(socket, device, ip(to)).unwrap();
            }
            socket
        });
        let sockets = sockets.collect();
        Self { memory, sockets, came: vec![0; DATAGRAMS as usize], highest: 0 }
    }

    /// Takes a frame; the arena may lie elsewhere than for the last one.
    fn take(&mut self, frame: &[u8], original: Option<&[u8]>, moves: bool, census: &mut Census) {
        if moves {
            let mut elsewhere = self.memory.clone();
            std::mem::swap(&mut self.memory, &mut elsewhere);
            elsewhere.fill(0xDEAD);
            census.count("moved");
        }
        let mut engine = Engine::open(self.memory.as_mut_bytes()).unwrap();
        let device = engine.device_ids().next().unwrap();
        let mut seen = Seen::default();
        match engine.handle_frame(NOW, device, frame, &mut seen) {
            Verdict::Delivered(1) => {}
            Verdict::Dropped(Dropped::Checksum) => census.count("dropped for its checksum"),
            Verdict::Dropped(Dropped::Malformed) => census.count("dropped as malformed"),
            Verdict::Kernel(Kernel::NoSocket | _) => census.count("left to the kernel"),
            verdict => panic!("{verdict:?}"),
        }
        if seen.datagrams.is_empty() {
            assert!(original != Some(frame), "a good frame was not delivered");
            return;
        }
        let (socket, _, destination, payload) = seen.datagrams.pop().unwrap();
        self.check(socket, destination, &payload, census);
        if original.is_some_and(|original| original != frame) {
            census.count("corrupted where nothing looks");
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
        assert_eq!(bytes, expected, "not as it was sent");
        assert_eq!((socket, destination), (self.sockets[flow], at(FLOWS[flow].2, 9)));
        let came = &mut self.came[number as usize];
        *came += 1;
        census.count(if *came == 1 { "delivered" } else { "delivered twice" });
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
    let mut ours = memory(&SMALL);
    let (mut engine, device) = engine(&mut ours);
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
        // To the group's address or the next hop's, which is the receiver's.
        assert!(MacAddress(buffer[..6].try_into().unwrap()).is_group() || buffer[..6] == THEIRS.0);
        frames.push(buffer[..sent].to_vec());
        link.send(clock.now().monotonic, &buffer[..sent]);
        clock.advance(Duration::from_micros(10));
        let mut arrived = Vec::new();
        link.receive(clock.now().monotonic, |_, frame| arrived.push(frame.to_vec()));
        for frame in arrived {
            let near = closest(&frames, &frame);
            receiver.take(&frame, near, random.below(10) == 0, census);
        }
    }
    clock.advance(Duration::from_millis(1));
    let mut arrived = Vec::new();
    link.receive(clock.now().monotonic, |_, frame| arrived.push(frame.to_vec()));
    for frame in arrived {
        receiver.take(&frame, closest(&frames, &frame), false, census);
    }
    link.report(census);
    let missing = receiver.came.iter().filter(|&&came| came == 0).count() as u64;
    let tally = link.counters();
    assert!(missing <= tally.lost + tally.corrupted, "{missing} are missing: {tally:?}");
    let came = receiver.came.iter().map(|&came| u64::from(came)).sum::<u64>();
    assert!(came <= tally.arrived && came + tally.corrupted >= tally.arrived, "{came} {tally:?}");
}

/// The frame that was sent, of which at most one bit has been flipped since.
fn closest<'a>(frames: &'a [Vec<u8>], frame: &[u8]) -> Option<&'a [u8]> {
    let bits = |a: &[u8]| a.iter().zip(frame).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    let mut same = frames.iter().filter(|sent| sent.len() == frame.len());
    same.find(|sent| bits(sent) <= 1).map(Vec::as_slice)
}

#[test]
fn what_is_delivered_was_sent_and_what_is_not_was_broken() {
    let mut census = Census::default();
    for seed in 0..SEEDS {
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
