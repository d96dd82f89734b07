//! Many datagrams of every length in both directions between two stacks.
//!
//! Each test sends 20,000, or `HAIRPIN_DATAGRAMS`. No more are in flight than fit the queues, so
//! none may be lost.

use std::net::SocketAddr;
use std::time::Instant;

use hairpin_stack::{Destination, Meta, Mode, UdpSocket};
use hairpin_testbed::{Offloads, Queues, Testbed};
use hairpin_testkit::Random;

use crate::support::{TIMEOUT, addresses, bind, pattern, stack, xdp_destination};

/// The most datagrams in flight.
const WINDOW: u64 = 64;
/// The longest payload of one IPv6 packet, and the shortest: its number.
const LONGEST: u64 = 1_452;
const SHORTEST: u64 = 8;

fn datagrams() -> u64 {
    std::env::var("HAIRPIN_DATAGRAMS").map_or(20_000, |number| number.parse().unwrap())
}

/// Datagrams whose lengths and bytes follow from their numbers.
struct Datagrams {
    bytes: Vec<u8>,
    random: Random,
    /// The lengths of those in flight, by number.
    in_flight: [Option<usize>; WINDOW as usize],
    sent: u64,
    back: u64,
    oldest: u64,
}

impl Datagrams {
    fn new(seed: u64) -> Self {
        let bytes = pattern(seed as u32, 2 * LONGEST as usize);
        let in_flight = [None; WINDOW as usize];
        Self { bytes, random: Random::new(seed), in_flight, sent: 0, back: 0, oldest: 0 }
    }

    fn body(&self, number: u64, length: usize) -> &[u8] {
        &self.bytes[(number % LONGEST) as usize..][..length - SHORTEST as usize]
    }

    /// Sends as many as may be in flight.
    fn send(&mut self, socket: &mut UdpSocket, to: &mut Destination, most: u64) {
        while self.sent < most && self.sent < self.oldest + WINDOW {
            let number = self.sent;
            let length = (SHORTEST + self.random.below(LONGEST - SHORTEST + 1)) as usize;
            let body = self.body(number, length);
            let fill = |payload: &mut [u8]| {
                payload[..8].copy_from_slice(&number.to_be_bytes());
                payload[8..].copy_from_slice(body);
            };
            socket.transmit_to(to, length, fill).unwrap();
            self.in_flight[(number % WINDOW) as usize] = Some(length);
            self.sent += 1;
        }
    }

    /// Checks a returned datagram.
    fn take(&mut self, payload: &[u8]) {
        let number = u64::from_be_bytes(*payload.first_chunk().unwrap());
        assert!((self.oldest..self.sent).contains(&number), "{number} is not in flight");
        let length = self.in_flight[(number % WINDOW) as usize].take();
        assert_eq!(length, Some(payload.len()), "{number} has another length or arrived twice");
        assert!(payload[8..] == *self.body(number, payload.len()), "{number} has other bytes");
        self.back += 1;
        while self.oldest < self.sent && self.in_flight[(self.oldest % WINDOW) as usize].is_none() {
            self.oldest += 1;
        }
    }
}

/// Sends received datagrams back.
struct Echo {
    socket: UdpSocket,
    to: Destination,
    arrived: Vec<Vec<u8>>,
    count: usize,
}

impl Echo {
    fn turn(&mut self) {
        let (arrived, count) = (&mut self.arrived, &mut self.count);
        let on = |meta: Meta, payload: &[u8]| {
            assert!(!meta.via_kernel, "through the kernel");
            arrived[*count].clear();
            arrived[*count].extend_from_slice(payload);
            *count += 1;
        };
        self.socket.receive(WINDOW as usize, on).unwrap();
        for payload in self.arrived.iter().take(std::mem::take(&mut self.count)) {
            let fill = |bytes: &mut [u8]| bytes.copy_from_slice(payload);
            self.socket.transmit_to(&mut self.to, payload.len(), fill).unwrap();
        }
    }
}

fn exchange(testbed: &Testbed, mode: Mode, family: usize) {
    let hosts = testbed.hosts();
    let stacks = [0, 1].map(|end| stack(&hosts[end], mode));
    let places = [0, 1].map(|end| SocketAddr::new(addresses(&hosts[end])[family], 7_000));
    // Outbound traffic uses the first queue, and the return traffic the other one if there are two.
    let _first = bind(&hosts[1], &stacks[1], SocketAddr::new(places[1].ip(), 7_001));
    let [mut near, far] = [0, 1].map(|end| bind(&hosts[end], &stacks[end], places[end]));
    let mut there = xdp_destination(&near, places[1]);
    let back = xdp_destination(&far, places[0]);
    let arrived = vec![Vec::with_capacity(LONGEST as usize); WINDOW as usize];
    let mut echo = Echo { socket: far, to: back, arrived, count: 0 };
    let (mut all, most) = (Datagrams::new(2_026), datagrams());
    let mut last = Instant::now();
    while all.back < most && last.elapsed() < TIMEOUT {
        all.send(&mut near, &mut there, most);
        echo.turn();
        let before = all.back;
        let on = |meta: Meta, payload: &[u8]| {
            assert!(!meta.via_kernel, "through the kernel");
            all.take(payload);
        };
        near.receive(WINDOW as usize, on).unwrap();
        if all.back > before {
            last = Instant::now();
        }
    }
    let lost = all.sent - all.back;
    println!("{mode}, family {family}: {} sent, {} back, {lost} lost", all.sent, all.back);
    assert_eq!((all.sent, lost), (most, 0), "lost");
    assert_eq!((near.dropped(), echo.socket.dropped()), (0, 0));
    assert_eq!((there.fallback_reason(), echo.to.fallback_reason()), (None, None));
}

fn testbed(queues: u32) -> Testbed {
    let testbed = Testbed::builder().queues(Queues::pairs(queues)).offloads(Offloads::OFF).ipv6();
    testbed.build().unwrap()
}

#[test]
#[ignore = "needs root"]
fn ipv4_on_one_queue_generic() {
    exchange(&testbed(1), Mode::Generic, 0);
}

#[test]
#[ignore = "needs root"]
fn ipv4_by_one_queue_native() {
    exchange(&testbed(1), Mode::Native, 0);
}

#[test]
#[ignore = "needs root"]
fn ipv4_by_two_queues_generic() {
    exchange(&testbed(2), Mode::Generic, 0);
}

#[test]
#[ignore = "needs root"]
fn ipv4_by_two_queues_native() {
    exchange(&testbed(2), Mode::Native, 0);
}

#[test]
#[ignore = "needs root"]
fn ipv6_by_one_queue_generic() {
    exchange(&testbed(1), Mode::Generic, 1);
}

#[test]
#[ignore = "needs root"]
fn ipv6_by_one_queue_native() {
    exchange(&testbed(1), Mode::Native, 1);
}

#[test]
#[ignore = "needs root"]
fn ipv6_by_two_queues_generic() {
    exchange(&testbed(2), Mode::Generic, 1);
}

#[test]
#[ignore = "needs root"]
fn ipv6_by_two_queues_native() {
    exchange(&testbed(2), Mode::Native, 1);
}
