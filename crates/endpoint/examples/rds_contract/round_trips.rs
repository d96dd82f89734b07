//! Round trips of the kernel's RDS over TCP and of ours, in one run.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::hosts::Hosts;
use crate::kernel::KernelRds;
use crate::ours::OurRds;
use crate::rds::{Buffers, Implementation, Rds};

/// Interleaved rounds, of which the median counts.
const ROUNDS: usize = 5;
const SAMPLES: usize = 400;
/// The payload bytes of the messages.
const SIZES: [usize; 3] = [4, 64, 1_024];
const PORT: u16 = 9_890;

/// Prints the median round trip of each implementation, and the ratios. One thread has both
/// sockets, neither of which sleeps.
pub(crate) fn measure(hosts: &Hosts) {
    let implementations: [(&str, Box<dyn Implementation>); 3] = [
        ("RDS over TCP in Linux", Box::new(KernelRds)),
        ("Hairpin over UDP", Box::new(OurRds::kernel_udp())),
        ("Hairpin over AF_XDP", Box::new(OurRds::bypassed())),
    ];
    let mut pairs: Vec<Pair> = implementations
        .iter()
        .zip(PORT..)
        .map(|((_, implementation), port)| Pair::new(hosts, &**implementation, port))
        .collect();
    let names = implementations.each_ref().map(|it| it.0);
    println!("| round trip, median | {} |\n|---|---|---|---|", names.join(" | "));
    for size in SIZES {
        let mut medians = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            for (pair, medians) in pairs.iter_mut().zip(&mut medians) {
                medians.push(pair.round(size));
            }
        }
        let [theirs, udp, bypassed] = medians.map(median);
        let shown = |time: Duration| {
            let ratio = theirs.as_secs_f64() / time.as_secs_f64();
            format!("{:.1} µs, ratio {ratio:.2}", time.as_nanos() as f64 / 1_000.0)
        };
        println!("| {size} bytes | {} | {} | {} |", shown(theirs), shown(udp), shown(bypassed));
    }
    println!("{ROUNDS} interleaved rounds of {SAMPLES} round trips");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A socket on each host.
struct Pair {
    sockets: [Box<dyn Rds>; 2],
    addresses: [SocketAddr; 2],
    buffer: Vec<u8>,
}

impl Pair {
    fn new(hosts: &Hosts, implementation: &dyn Implementation, port: u16) -> Self {
        let mut sockets = hosts.0.each_ref().map(|it| implementation.open(it, Buffers::default()));
        let mut host_of = hosts.0.iter();
        let addresses = sockets.each_mut().map(|socket| {
            let host = host_of.next().expect("two hosts");
            socket.bind(host, SocketAddr::new(host.address, port)).expect("a free port")
        });
        Self { sockets, addresses, buffer: vec![0; 2_048] }
    }

    /// Returns the median of a round.
    fn round(&mut self, size: usize) -> Duration {
        let samples = (0..SAMPLES).map(|_| {
            let start = Instant::now();
            self.pass(0, size);
            self.pass(1, size);
            start.elapsed()
        });
        median(samples.collect())
    }

    /// Sends a message from one socket and receives it at the other.
    fn pass(&mut self, from: usize, size: usize) {
        let to = self.addresses[1 - from];
        let bytes = [7; 1_024];
        while let Err(error) = self.sockets[from].send(to, &bytes[..size]) {
            assert!(error == "EAGAIN", "cannot send: {error}");
            self.sockets[from].work();
        }
        while self.sockets[1 - from].receive(&mut self.buffer).is_err() {
            // Its timers send again what is lost.
            self.sockets[from].work();
        }
    }
}
