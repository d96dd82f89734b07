//! Streams in both directions, each end on a thread of its own, so that segments arrive at every
//! moment of takeovers and handbacks.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use hairpin_stack::{Mode, Stack, TcpSocket};
use hairpin_testbed::{Chance, Direction, Faults, Host, Offloads, RelaySettings, Testbed, scaled};
use hairpin_testkit::Random;

use super::{bytes, connect, each_configuration, pull_from, push_to, take_over};
use crate::support::{MODES, TIMEOUT, eventually, stack};

/// The most bytes in flight in each direction: less than the window and than bulk transfer.
const IN_FLIGHT_MAX: u64 = 40_000;
/// The longest time that is counted of a turn without takeover and handback: the process was
/// stopped in a longer one.
const TURN_MAX: Duration = Duration::from_millis(60);

/// The state that both threads share, by end.
#[derive(Default)]
struct Shared {
    sent: [AtomicU64; 2],
    received: [AtomicU64; 2],
    /// `true` while an end waits for a takeover, and the other must not send.
    quiet: [AtomicBool; 2],
    handbacks: AtomicU64,
    stopped: AtomicBool,
    /// `true` once an end sends nothing more.
    ended: [AtomicBool; 2],
}

impl Shared {
    fn is_complete(&self) -> bool {
        (0..2).all(|end| {
            self.ended[end].load(SeqCst)
                && self.sent[end].load(SeqCst) == self.received[end].load(SeqCst)
        })
    }
}

/// What the ends do besides exchanging bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transitions {
    /// Takeovers and handbacks at random moments.
    Random,
    /// Nothing: the kernel's own stalls, to compare.
    None,
}

/// The stalls of one end: times without a new byte while bytes were missing.
#[derive(Debug, Default)]
struct Stalls {
    longest: Duration,
    /// The number above 150 ms.
    long: u64,
}

impl Stalls {
    fn add(&mut self, stall: Duration) {
        self.longest = self.longest.max(stall);
        self.long += u64::from(stall > Duration::from_millis(150));
    }
}

/// Runs one end until both have handed back `cycles` times, then until nothing is missing. The
/// socket stays open for the other end.
fn run(
    end: usize,
    host: &Host,
    mut socket: TcpSocket,
    shared: &Shared,
    random: &mut Random,
    (transitions, cycles): (Transitions, u64),
) -> (Stalls, TcpSocket) {
    let takes_over = transitions == Transitions::Random;
    let (mut sent, mut received, mut wanted) = (0, 0, takes_over);
    let (mut stalls, mut last, mut turn) = (Stalls::default(), Instant::now(), Instant::now());
    loop {
        let stopped = shared.stopped.load(SeqCst);
        let mut has_transition = false;
        shared.quiet[end].store(wanted && !stopped, SeqCst);
        if stopped {
            shared.ended[end].store(true, SeqCst);
            if shared.is_complete() {
                return (stalls, socket);
            }
        } else if wanted {
            has_transition = true;
            wanted = host.run(|| socket.take_over()).unwrap().is_err();
        } else if random.below(40) == 0 {
            if socket.is_bypassing() || !takes_over {
                has_transition = true;
                socket.hand_back().unwrap();
                let count = shared.handbacks.fetch_add(1, SeqCst) + 1;
                shared.stopped.store(count >= cycles, SeqCst);
            }
            wanted = takes_over;
        } else if sent - shared.received[end].load(SeqCst) < IN_FLIGHT_MAX
            && !shared.quiet[1 - end].load(SeqCst)
        {
            sent += push_to(&mut socket, &bytes(sent, 1 + random.below(4_000) as usize));
            shared.sent[end].store(sent, SeqCst);
        }
        let before = received;
        let missing = shared.sent[1 - end].load(SeqCst) > received;
        pull_from(&mut socket, &mut received);
        shared.received[1 - end].store(received, SeqCst);
        let time = Instant::now();
        if time - turn > TURN_MAX && !has_transition {
            last += time - turn;
        }
        turn = time;
        if received > before || !missing {
            stalls.add(time - last);
            last = time;
        }
        assert!(time - last < TIMEOUT, "no byte for {:?}, {:?}", time - last, socket.counters());
    }
}

/// Returns the number of stalls above 150 ms, and the longest.
fn stream_between(
    testbed: &Testbed,
    stacks: &[Stack; 2],
    family: usize,
    cycles: (Transitions, u64),
) -> (u64, Duration) {
    let sockets = connect(testbed, family);
    let hosts = testbed.hosts();
    let shared = Shared::default();
    let stalls = std::thread::scope(|scope| {
        let ends = [0, 1].into_iter().zip(sockets).zip(hosts).zip(stacks);
        let threads: Vec<_> = ends
            .map(|(((end, stream), host), stack)| {
                let (socket, shared) = (stack.adopt_tcp(stream).unwrap(), &shared);
                scope.spawn(move || {
                    run(end, host, socket, shared, &mut Random::new(3 + end as u64), cycles)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let longest = stalls.iter().map(|(stalls, _)| stalls.longest).max().unwrap();
    (stalls.iter().map(|(stalls, _)| stalls.long).sum(), longest)
}

fn stream(testbed: &Testbed, mode: Mode, transitions: Transitions, cycles: u64) {
    let hosts = testbed.hosts();
    let stacks = [stack(&hosts[0], mode), stack(&hosts[1], mode)];
    for family in 0..2 {
        let of = (transitions, cycles);
        let (long, longest) = stream_between(testbed, &stacks, family, of);
        println!(
            "{mode:?}, family {family}, {transitions:?} × {cycles}: {long} stalls, \
             longest {longest:?}"
        );
    }
    for stack in &stacks {
        println!("{:?}", stack.tcp_counters());
    }
}

#[test]
#[ignore = "needs root"]
fn ends_on_two_threads_hand_back_while_segments_arrive() {
    each_configuration(|testbed, mode| stream(testbed, mode, Transitions::Random, scaled(100)));
}

#[test]
#[ignore = "needs root"]
fn ends_on_two_threads_hand_back_over_a_lossy_link() {
    let faults = Faults { loss: Chance::percent(1), ..Faults::NONE };
    for mode in MODES {
        let relay = RelaySettings::seeded(7)
            .with(Direction::FirstToSecond, faults)
            .with(Direction::SecondToFirst, faults);
        let builder = Testbed::builder().ipv6().offloads(Offloads::OFF).relay(relay);
        let testbed = builder.build().unwrap();
        stream(&testbed, mode, Transitions::Random, scaled(50));
        stream(&testbed, mode, Transitions::None, scaled(50));
    }
}

/// Stops the sender, also after a panic.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Reads with takeovers until the kernel has received bytes of a connection taken over, for a
/// limited time.
fn read_until_late(stack: &Stack, socket: &mut TcpSocket, received: &mut u64) {
    let start = Instant::now();
    while stack.tcp_counters().late_bytes == 0 && start.elapsed() < 3 * TIMEOUT {
        if !socket.is_bypassing() {
            // Fails while bytes are unread.
            let _ = socket.take_over();
        } else if socket.counters().unwrap().segments_received > 3 {
            socket.hand_back().unwrap();
        }
        pull_from(socket, received);
    }
}

#[test]
#[ignore = "needs root"]
fn bytes_that_pass_the_filter_before_its_entry_are_merged() {
    for family in 0..2 {
        let testbed = super::testbed(1);
        let hosts = testbed.hosts();
        // In generic mode the window between entry and state is shorter, and rarely hit.
        let stack = stack(&hosts[0], Mode::Native);
        let [near, mut far] = connect(&testbed, family);
        far.set_write_timeout(Some(TIMEOUT)).unwrap();
        let stopped = AtomicBool::new(false);
        let mut socket = stack.adopt_tcp(near).unwrap();
        take_over(&hosts[0], &mut socket);
        socket.hand_back().unwrap();
        let (mut received, sent) = (0, AtomicU64::new(0));
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let (mut random, mut at) = (Random::new(5), 0);
                while !stopped.load(SeqCst) {
                    let length = 1 + random.below(3_000) as usize;
                    far.write_all(&bytes(at, length)).unwrap();
                    at += length as u64;
                    sent.store(at, SeqCst);
                    // The reader catches up now and then, so that it can take over.
                    std::thread::sleep(Duration::from_micros(random.below(60)));
                }
                sent.load(SeqCst)
            });
            let stop = Stop(&stopped);
            read_until_late(&stack, &mut socket, &mut received);
            drop(stop);
            while !sender.is_finished() {
                pull_from(&mut socket, &mut received);
            }
            let sent = sender.join().unwrap();
            assert!(eventually(|| {
                pull_from(&mut socket, &mut received);
                received == sent
            }));
        });
        let counters = stack.tcp_counters();
        println!("family {family}: {counters:?}");
        assert!(counters.late_bytes > 0, "{counters:?}");
    }
}
