//! Two measurements of reliable datagrams that `hairpin bench rds` does not have:
//!
//! - `peers`: round trips of one socket with 1 and with 10,000 peers in turn, over the kernel's
//!   loopback, on one thread;
//! - `loss`: round trips over a wire that loses 1 % of the packets in each direction, and the time
//!   until a lost packet was replaced. Needs root. The wire is a relay, which adds its own latency.
//!
//! Prints medians of interleaved rounds. Run alone: `cargo bench -p hairpin-endpoint --bench rds`.
#![allow(clippy::unwrap_used, reason = "a benchmark ends on the first error")]

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;

use hairpin_endpoint::rds::{RdsOptions, RdsSocket, RdsTransport};
use hairpin_host::Clock;
use hairpin_testbed::{Chance, Direction, Faults, RelaySettings, Testbed};
use hairpin_time::{Duration, Instant};

const PEERS: usize = 10_000;
const ROUNDS: usize = 9;
const SIZE: usize = 64;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|it| it == name);
    if is_wanted("peers") {
        peers();
    }
    if is_wanted("loss") {
        loss();
    }
}

fn small(peers: usize) -> RdsOptions {
    let mut options = RdsOptions { receive_buffer: None, ..RdsOptions::default() };
    options.protocol.packet_max = 256;
    options.protocol.message_max = 200;
    options.protocol.send_buffer = 16 << 10;
    options.protocol.receive_buffer = 16 << 10;
    options.protocol.peers = peers;
    options.protocol.unconfirmed_peers = peers;
    options.protocol.tracked_messages = 1;
    options
}

fn bound(clock: &Clock, options: RdsOptions, address: IpAddr) -> RdsSocket {
    let now = clock.instant();
    let mut socket = RdsSocket::new(now, options);
    socket.bind(now, &RdsTransport::Kernel, SocketAddr::new(address, 0)).unwrap();
    socket
}

/// Sends a message to a peer, which answers it. Returns the time that the hub has spent.
fn round_trip(clock: &Clock, hub: &mut RdsSocket, peer: &mut RdsSocket) -> Duration {
    let to = peer.local_address().unwrap();
    let start = clock.instant();
    hub.send(start, to, SIZE, |bytes| bytes.fill(1)).unwrap();
    let sent = clock.instant();
    let mut source = None;
    while source.is_none() {
        let now = clock.instant();
        hub.handle_timeout(now).unwrap();
        // Processes the challenge of the first message.
        hub.process(now, 8).unwrap();
        peer.receive(now, 1, |message| source = Some(message.source)).unwrap();
    }
    peer.send(clock.instant(), source.unwrap(), SIZE, |bytes| bytes.fill(2)).unwrap();
    let mut is_answered = false;
    while !is_answered {
        let now = clock.instant();
        hub.receive(now, 1, |_| is_answered = true).unwrap();
        if is_answered {
            return sent - start + (clock.instant() - now);
        }
        peer.handle_timeout(now).unwrap();
    }
    unreachable!("the peer has answered")
}

fn peers() {
    let clock = Clock::new();
    let loopback = IpAddr::from([127, 0, 0, 1]);
    let mut hub = bound(&clock, small(PEERS + 1), loopback);
    let mut peers: Vec<_> = (0..PEERS).map(|_| bound(&clock, small(4), loopback)).collect();
    // The first contact, with its challenge, is not measured.
    peers.iter_mut().for_each(|peer| _ = round_trip(&clock, &mut hub, peer));
    let mut hub_times = [Vec::new(), Vec::new()];
    compare("rds", |is_one| {
        let peers = &mut peers[..if is_one { 1 } else { PEERS }];
        let start = clock.instant();
        let mut spent = Duration::ZERO;
        for turn in 0..PEERS {
            let index = turn % peers.len();
            spent += round_trip(&clock, &mut hub, &mut peers[index]);
        }
        hub_times[usize::from(!is_one)].push(spent.as_nanos() as f64 / PEERS as f64);
        (clock.instant() - start).as_nanos() as f64 / PEERS as f64
    });
    let mut ratios: Vec<_> =
        hub_times[1].iter().zip(&hub_times[0]).map(|(many, one)| many / one).collect();
    let [one, many] = &mut hub_times;
    println!(
        "peers, rds, the hub's part: 1: {:.0} ns, {PEERS}: {:.0} ns, ratio {:.3}",
        median(one),
        median(many),
        median(&mut ratios),
    );
    drop(peers);
    udp_peers(&clock);
}

/// Measures the same with plain UDP sockets: the part of the ratio that is the kernel's.
fn udp_peers(clock: &Clock) {
    let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
    let hub = bind();
    let peers: Vec<_> = (0..PEERS).map(|_| bind()).collect();
    let to: Vec<_> = peers.iter().map(|peer| peer.local_addr().unwrap()).collect();
    let round_trip = |index: usize| {
        let mut buffer = [0; SIZE];
        hub.send_to(&[1; SIZE], to[index]).unwrap();
        let (_, source) = peers[index].recv_from(&mut buffer).unwrap();
        peers[index].send_to(&[2; SIZE], source).unwrap();
        hub.recv_from(&mut buffer).unwrap();
    };
    compare("udp", |is_one| {
        let start = clock.instant();
        (0..PEERS).for_each(|turn| round_trip(if is_one { 0 } else { turn }));
        (clock.instant() - start).as_nanos() as f64 / PEERS as f64
    });
}

/// Measures with one peer and with all in turn, and prints both.
fn compare(name: &str, mut measure: impl FnMut(bool) -> f64) {
    let mut times = [Vec::new(), Vec::new()];
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (one, many) = (measure(true), measure(false));
        times[0].push(one);
        times[1].push(many);
        ratios.push(many / one);
    }
    let [one, many] = &mut times;
    println!(
        "peers, {name}: 1: {:.0} ns, {PEERS}: {:.0} ns, ratio {:.3} ({:.3} to {:.3}), {ROUNDS} \
         rounds of {PEERS} round trips on one thread",
        median(one),
        median(many),
        median(&mut ratios),
        ratios[0],
        ratios[ROUNDS - 1],
    );
}

/// Sorts the values and returns the middle one.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

const PINGS: usize = 20_000;
const PORT: u16 = 4_000;

fn loss() {
    let faults = Faults { loss: Chance::percent(1), ..Faults::NONE };
    let settings = Direction::BOTH
        .into_iter()
        .fold(RelaySettings::seeded(1), |settings, direction| settings.with(direction, faults));
    let testbed = match Testbed::builder().relay(settings).build() {
        Ok(testbed) => testbed,
        Err(error) => return println!("loss: left out: {error}"),
    };
    let [pinger, ponger] = testbed.hosts();
    let (from, to) =
        [pinger, ponger].map(|host| SocketAddr::new(host.address().into(), PORT)).into();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let open = |local| {
        let now = Clock::from_kernel().instant();
        let mut socket = RdsSocket::new(now, RdsOptions::default());
        socket.bind(now, &RdsTransport::Kernel, local).unwrap();
        socket
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            ponger
                .run(|| {
                    let mut socket = open(to);
                    while !stopped() {
                        let now = wait(&mut socket);
                        let mut source = None;
                        socket.receive(now, 1, |message| source = Some(message.source)).unwrap();
                        if let Some(source) = source {
                            socket.send(now, source, SIZE, |bytes| bytes.fill(2)).unwrap();
                        }
                    }
                })
                .unwrap();
        });
        pinger
            .run(|| {
                let mut socket = open(from);
                thread::sleep(std::time::Duration::from_millis(200));
                let clock = Clock::from_kernel();
                let mut times = Vec::with_capacity(PINGS);
                let mut resent = Vec::new();
                for _ in 0..PINGS {
                    let start = clock.instant();
                    let before = socket.counters().retransmitted;
                    let mut is_resent = false;
                    socket.send(start, to, SIZE, |bytes| bytes.fill(1)).unwrap();
                    let mut is_answered = false;
                    while !is_answered {
                        let now = wait(&mut socket);
                        socket.receive(now, 1, |_| is_answered = true).unwrap();
                        if !is_resent && socket.counters().retransmitted > before {
                            is_resent = true;
                            resent.push((clock.instant() - start).as_nanos());
                        }
                    }
                    times.push((clock.instant() - start).as_nanos());
                }
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
                report(&mut times, &mut resent, &socket);
            })
            .unwrap();
    });
}

/// Waits in poll(2) until a packet has arrived or a timeout is due, at most 50 ms.
fn wait(socket: &mut RdsSocket) -> Instant {
    use std::os::fd::{AsFd, AsRawFd};
    let clock = Clock::from_kernel();
    let now = clock.instant();
    let latest = now + Duration::from_millis(50);
    let until = socket.poll_timeout(now).map_or(latest, |at| at.min(latest));
    let left = until.saturating_since(now);
    let timeout = libc::timespec { tv_sec: 0, tv_nsec: left.as_nanos() as libc::c_long };
    let mut descriptor =
        libc::pollfd { fd: socket.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the array has one entry; both values live through the call.
    unsafe { libc::ppoll(&raw mut descriptor, 1, &raw const timeout, std::ptr::null()) };
    let now = clock.instant();
    socket.handle_timeout(now).unwrap();
    now
}

fn report(times: &mut [u64], resent: &mut [u64], socket: &RdsSocket) {
    times.sort_unstable();
    resent.sort_unstable();
    let at = |permille: usize| times[(times.len() - 1) * permille / 1_000] as f64 / 1_000.0;
    let lossless = times[times.len() / 2];
    // A ping or its answer was lost: the round trip took longer than the shortest timeout.
    let recovered: Vec<_> = times.iter().filter(|&&time| time > lossless + 150_000).collect();
    let late = recovered.iter().filter(|&&&time| time > lossless + 1_000_000).count();
    let counters = socket.counters();
    let late_resent = resent.iter().filter(|&&time| time > 1_000_000).count();
    println!(
        "loss: 1 % each way, {} round trips in sequence: p50 {:.1} µs, p99 {:.1} µs, p99.9 {:.1} \
         µs, max {:.1} µs; {} recovered, {late} of them after more than 1 ms; {} lost pings \
         resent, {late_resent} of them after more than 1 ms, median {:.1} µs; {} retransmitted, {} \
         probes by this side",
        times.len(),
        at(500),
        at(990),
        at(999),
        at(1_000),
        recovered.len(),
        resent.len(),
        resent[resent.len() / 2] as f64 / 1_000.0,
        counters.retransmitted,
        counters.probes_sent,
    );
}
