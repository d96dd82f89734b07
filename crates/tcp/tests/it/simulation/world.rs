//! The world of one seed: two hosts, two links and two programs.

use hairpin_netsim::{Census, Chance, Clock, Delay, Faults, Link, Random, trace};
use hairpin_tcp::{Action, Config, Listener, Reason};
use hairpin_time::{Duration, Instant, Now, Utc};
use hairpin_wire::TcpHeader;

use super::end::End;
use crate::host::{Shape, segment};

/// The time without a new byte after which bytes count as lost: more than three of the longest
/// timeouts.
const LIMIT: Duration = Duration::from_secs(200);
/// The limit with smoltcp, which does not hand back after two timeouts but continues to double its
/// own.
const SMOLTCP_LIMIT: Duration = Duration::from_secs(1_200);

/// The most bytes of a stream.
const TOTALS: [u64; 4] = [1, 5_000, 100_000, 600_000];

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

/// The other end of the connection of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Engine,
    Smoltcp,
}

/// One program and its end of the connection.
struct Program {
    end: End,
    link: Link,
    sent: u64,
    /// The total to send.
    total: u64,
    received: Received,
    /// The time of the next write.
    writes_at: Instant,
    stalled_until: Instant,
    write_max: u64,
    interval: Duration,
    /// Holds back short segments.
    corks: bool,
    is_corked: bool,
}

/// The checked bytes of a stream.
pub(super) struct Received {
    end: usize,
    position: u64,
    stalled: bool,
}

impl Received {
    fn take(&mut self, bytes: &[u8]) -> usize {
        for &found in bytes {
            assert_eq!(found, byte(1 - self.end, self.position), "at {}", self.position);
            self.position += 1;
        }
        bytes.len()
    }
}

impl Listener for Received {
    fn on_data(&mut self, _: Instant, bytes: &[u8]) -> usize {
        if self.stalled {
            return 0;
        }
        // Sometimes a part is left in the ring.
        let count = if self.position.is_multiple_of(7) { bytes.len() / 2 } else { bytes.len() };
        self.take(&bytes[..count])
    }
}

/// Returns the byte at a position of the stream of an end.
fn byte(end: usize, at: u64) -> u8 {
    ((at ^ at >> 8 ^ at >> 16) as u8).wrapping_mul(31).wrapping_add(end as u8)
}

fn shape(random: &mut Random, census: &mut Census) -> Shape {
    let segment_size = *random.pick(&[88, 150, 536, 1_460, 1_460, 1_460]);
    let ring = *random.pick(&[1 << 12, 1 << 14, 1 << 16, 1 << 18]);
    let timestamps = random.below(4) > 0;
    let selective = random.below(5) > 0;
    let nagle = random.below(4) == 0;
    let wraps = random.below(3) == 0;
    let start = |random: &mut Random| {
        if wraps { u32::MAX - random.below(20_000) as u32 } else { random.any() as u32 }
    };
    census.add("without timestamps", u64::from(!timestamps));
    census.add("without selective acknowledgments", u64::from(!selective));
    census.add("segments below 200 bytes", u64::from(segment_size < 200));
    census.add("with Nagle's algorithm", u64::from(nagle));
    census.add("sequence numbers wrapped", u64::from(wraps));
    Shape {
        segment_size,
        timestamps,
        selective,
        scale: if ring > 1 << 14 { 7 } else { random.below(3) as u8 },
        ring,
        config: Config { nagle, quick_ack: random.below(5) == 0, hands_back_bulk: true },
        starts: [start(random), start(random)],
    }
}

fn faults(random: &mut Random) -> Faults {
    let up_to = |random: &mut Random, most: u64| Chance::per_million(random.below(most) as u32);
    let loss = *random.pick(&[0, 0, 20_000, 100_000, 300_000]);
    let min = *random.pick(&[US * 10, US * 100, MS * 2, MS * 30]);
    Faults {
        loss: Chance::per_million(loss),
        rate: None,
        duplication: up_to(random, 50_000),
        corruption: up_to(random, 30_000),
        delay: Delay {
            min,
            jitter: min,
            long_chance: up_to(random, 20_000),
            long: Duration::from_nanos(min.as_nanos() * 8),
        },
        reorders: random.below(2) == 0,
    }
}

/// Runs a seed and returns its census.
pub(super) fn run(seed: u64, peer: Peer) -> Census {
    let mut random = Random::new(seed);
    let mut census = Census::new();
    let mut clock = Clock::new(Utc::from_nanos(1_700_000_000_000_000_000));
    clock.advance(Duration::from_secs(1));
    let shape = shape(&mut random, &mut census);
    let faults = faults(&mut random);
    let now = clock.now().monotonic;
    let [first, second] = match peer {
        Peer::Engine => End::engines(now, &shape),
        Peer::Smoltcp => End::with_smoltcp(now, &shape, &mut random),
    };
    let limit = if peer == Peer::Smoltcp { SMOLTCP_LIMIT } else { LIMIT };
    let mut programs = [(0, first), (1, second)].map(|(number, end)| Program {
        end,
        link: Link::new(random.split(), faults),
        sent: 0,
        total: *random.pick(&TOTALS) / (1 + random.below(4)),
        received: Received { end: number, position: 0, stalled: false },
        writes_at: now,
        stalled_until: now,
        write_max: 1 + random.below(20_000),
        interval: *random.pick(&[Duration::ZERO, US * 50, MS, MS * 50]),
        corks: seed % 8 == 5,
        is_corked: false,
    });
    let (mut arrived, mut arrived_at) = (0, now);
    loop {
        let now = clock.now().monotonic;
        let totals = [programs[0].total, programs[1].total];
        let done = programs
            .iter()
            .enumerate()
            .all(|(at, program)| program.received.position == totals[1 - at]);
        if done {
            break;
        }
        let sum = programs.iter().map(|program| program.received.position).sum();
        if std::mem::replace(&mut arrived, sum) != sum {
            arrived_at = now;
        }
        assert!(now < arrived_at + limit, "{} of {totals:?}", describe(&mut programs, now));
        for at in 0..2 {
            step(now, &mut programs, at, &mut random, &mut census);
        }
        let next =
            programs.iter_mut().flat_map(|it| it.deadlines(now)).filter(|&at| at > now).min();
        clock.advance_to(next.unwrap_or(now + MS));
    }
    for program in &programs {
        program.link.report(&mut census);
        report(program, &mut census);
    }
    census
}

/// Returns a segment's numbers, for the trace.
fn summary(frame: &[u8]) -> String {
    let (header, _, payload) = TcpHeader::parse(segment(frame).unwrap()).unwrap();
    format!(
        "{} bytes at {}, acknowledges {}, window {}, {:?}",
        payload.len(),
        header.sequence_number(),
        header.acknowledgement_number(),
        header.window(),
        header.flags()
    )
}

fn at_time(monotonic: Instant) -> Now {
    Now { monotonic, utc: Utc::EPOCH }
}

fn describe(programs: &mut [Program; 2], now: Instant) -> String {
    let ends = programs.each_mut().map(|program| {
        let (sent, received) = (program.sent, program.received.position);
        format!("sent {sent} received {received} {}", program.end.describe(now))
    });
    ends.join("; ")
}

impl Program {
    fn deadlines(&mut self, now: Instant) -> impl Iterator<Item = Instant> + use<> {
        let writes = (self.sent < self.total).then_some(self.writes_at);
        let reads = self.received.stalled.then_some(self.stalled_until);
        [self.link.poll_timeout(), self.end.poll_timeout(now), writes, reads].into_iter().flatten()
    }
}

/// Lets one end do everything that is due.
fn step(
    now: Instant,
    programs: &mut [Program; 2],
    at: usize,
    random: &mut Random,
    census: &mut Census,
) {
    let (mut arrived, peer) = (Vec::new(), 1 - at);
    programs[peer].link.receive(now, |_, frame| arrived.push(frame.to_vec()));
    let program = &mut programs[at];
    for frame in &arrived {
        let Program { end, received, .. } = program;
        end.handle(now, frame, received);
    }
    let before = program.sent;
    if !arrived.is_empty() && (now.as_nanos() / 1_000).is_multiple_of(4) {
        // An answer does not wait until the acknowledgment is processed.
        program.writes_at = program.writes_at.min(now);
        write(now, program, random, census);
    }
    census.add("answers before an acknowledgment is processed", u64::from(program.sent > before));
    program.end.catch_up(now);
    program.end.handle_timeout(now);
    read(now, program, random, census);
    write(now, program, random, census);
    program.end.catch_up(now);
    if let Some(probe) = hand_back(now, program, at, random, census) {
        let Program { end, received, .. } = &mut programs[peer];
        end.handle(now, &probe, received);
        end.catch_up(now);
    }
    let program = &mut programs[at];
    if let End::Smoltcp(host) = &mut program.end {
        host.poll(now);
    }
    while let Some(frame) = program.end.transmit(now) {
        trace!(at_time(now), "{at}: sends {}", summary(&frame));
        program.link.send(now, &frame);
    }
}

/// Moves an engine through its snapshot if it asks to be handed back, and at random moments.
/// Returns the kernel's probe of a closed window.
fn hand_back(
    now: Instant,
    program: &mut Program,
    at: usize,
    random: &mut Random,
    census: &mut Census,
) -> Option<Vec<u8>> {
    let connection = &program.end.engine()?.connection;
    let action = connection.poll_action();
    if let Some(Action::HandBack(reason)) = action {
        trace!(at_time(now), "{at}: handed back: {reason}");
        census.count(class(reason));
    } else if random.below(300) == 0 {
        census.count("snapshots");
        census.add("snapshots with bytes in flight", u64::from(connection.in_flight() > 0));
        census.add("snapshots with unread bytes", u64::from(connection.unread_length() > 0));
    } else {
        return None;
    }
    report(program, census);
    let End::Engine(host) = &mut program.end else { return None };
    host.restore(now);
    // As the program's next owner of the connection does.
    host.connection.set_corked(program.is_corked);
    let is_closed = action == Some(Action::HandBack(Reason::ClosedWindow));
    is_closed.then(|| host.window_probe(now))
}

fn read(now: Instant, program: &mut Program, random: &mut Random, census: &mut Census) {
    let Program { end, received, stalled_until, .. } = program;
    if received.stalled && now < *stalled_until {
        return;
    }
    received.stalled = false;
    let most = 1 + random.below(5_000) as usize;
    end.read(|bytes| received.take(&bytes[..bytes.len().min(most)]));
    if random.below(400) == 0 {
        let is_engine = end.engine().is_some();
        census.count(if is_engine { "windows closed" } else { "windows of smoltcp closed" });
        received.stalled = true;
        *stalled_until = now + random.span(MS, MS * 200);
    }
}

fn write(now: Instant, program: &mut Program, random: &mut Random, census: &mut Census) {
    if now < program.writes_at || program.sent == program.total {
        return;
    }
    let end = program.received.end;
    let length = (1 + random.below(program.write_max)).min(program.total - program.sent);
    let length = length.min(program.end.room() as u64);
    if length == 0 {
        program.writes_at = now + (MS * 20).max(program.interval);
        return;
    }
    let bytes: Vec<_> = (program.sent..program.sent + length).map(|at| byte(end, at)).collect();
    program.writes_at = now + program.interval + US;
    if let Some(frame) = program.end.send_in_place(now, &bytes) {
        census.count("segments sent in place");
        program.sent += length;
        program.link.send(now, &frame);
        return;
    }
    assert_eq!(program.end.queue(now, &bytes), bytes.len());
    program.sent += length;
    if program.corks {
        // A part of the short segments waits for the next write, the others for 200 ms.
        program.is_corked = !program.sent.is_multiple_of(3);
        program.end.set_corked(program.is_corked);
        census.add("writes before short segments wait", u64::from(program.is_corked));
    }
}

fn class(reason: Reason) -> &'static str {
    match reason {
        Reason::Timeouts => "handbacks: two retransmission timeouts in a row",
        Reason::ClosedWindow => "handbacks: window closed for 5 ms",
        Reason::Bulk => "handbacks: 64 KiB in flight for 100 ms",
        other => panic!("unexpected handback: {other}"),
    }
}

/// Adds the counters of a connection, which start again with each snapshot.
fn report(program: &Program, census: &mut Census) {
    let Some(host) = program.end.engine() else {
        return census.add("bytes received by smoltcp", program.received.position);
    };
    let counters = host.connection.counters();
    for (class, count) in [
        ("bytes received", counters.bytes_received),
        ("segments predicted", counters.predicted),
        ("segments out of order", counters.out_of_order),
        ("segments received again", counters.duplicates),
        ("segments sent again", counters.retransmitted),
        ("tail loss probes", counters.probes_sent),
        ("retransmission timeouts", counters.timeouts),
        ("reductions of the congestion window", counters.losses),
    ] {
        census.add(class, count);
    }
}
