//! Network faults injected into outgoing packets, independently on line A and line B.
//!
//! A sans-IO value. Every packet of a line goes in. The packets that a receiver of the line would
//! get come out, at once or at [`FeedFaults::poll_timeout`]. The same seed and the same packets at
//! the same times give the same faults. Each line has its own random sequence.

use hairpin_time::{Duration, Instant};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{Feed, FeedLine, MAX_PAYLOAD};

/// Packets held back at once, both lines together. Further packets are sent at once.
const HELD_MAX: usize = 512;
/// The time for which a packet to be reordered waits for the next packet of its feed.
const REORDER_TIMEOUT: Duration = Duration::from_millis(20);

/// The faults of one line. Each probability is in parts per million and applies to each packet.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LineFaults {
    /// Drops the packet.
    pub drop_ppm: u32,
    /// Sends the packet twice.
    pub duplicate_ppm: u32,
    /// Sends the packet after the next packet of its feed, or after 20 ms without one.
    pub reorder_ppm: u32,
    /// Delays the packet by up to `delay_max`. Other packets may overtake it.
    pub delay_ppm: u32,
    /// The maximum delay.
    pub delay_max: Duration,
    /// Starts an outage: this packet and all others of the line are dropped for `silence`.
    pub silence_ppm: u32,
    /// The duration of an outage.
    pub silence: Duration,
}

/// The faults of both lines.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FaultSettings {
    /// The seed of all random decisions.
    pub seed: u64,
    /// The faults of line A.
    pub a: LineFaults,
    /// The faults of line B.
    pub b: LineFaults,
}

/// The number of packets of a line affected by each fault.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FaultTally {
    /// Packets handled.
    pub packets: u64,
    /// Packets dropped, not counting outages.
    pub dropped: u64,
    /// Packets sent twice.
    pub duplicated: u64,
    /// Packets held until another had overtaken them, or for 20 ms.
    pub reordered: u64,
    /// Packets delayed.
    pub delayed: u64,
    /// Outages started.
    pub silences: u64,
    /// Packets dropped in outages.
    pub silenced: u64,
    /// Packets that should have been held but were sent at once, because `HELD_MAX` were held.
    pub unheld: u64,
}

/// The fault injector and the packets it holds back.
#[derive(Debug)]
pub struct FeedFaults {
    lines: [Line; 2],
    held: Box<[Held]>,
    /// The indices into `held` in use, oldest first.
    waiting: Vec<usize>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Line {
    faults: LineFaults,
    random: ChaCha8Rng,
    silent_until: Instant,
    tally: FaultTally,
}

#[derive(Debug, Clone)]
struct Held {
    release: Instant,
    /// The packet is sent after the next packet of the same feed and line.
    reordered: bool,
    line: FeedLine,
    feed: Feed,
    length: usize,
    bytes: [u8; MAX_PAYLOAD],
}

/// The decision about a packet.
enum Decision {
    Drop,
    Send,
    Duplicate,
    Reorder,
    Delay(Duration),
}

impl FeedFaults {
    /// Creates the injector and allocates all the memory that it will ever use.
    #[must_use]
    pub fn new(settings: &FaultSettings) -> Self {
        let line = |(stream, faults)| {
            let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
            random.set_stream(stream);
            let (silent_until, tally) = (Instant::ZERO, FaultTally::default());
            Line { faults, random, silent_until, tally }
        };
        let held = Held {
            release: Instant::ZERO,
            reordered: false,
            line: FeedLine::A,
            feed: Feed::Incremental,
            length: 0,
            bytes: [0; MAX_PAYLOAD],
        };
        Self {
            lines: [(1, settings.a), (2, settings.b)].map(line),
            held: vec![held; HELD_MAX].into(),
            waiting: Vec::with_capacity(HELD_MAX),
            free: (0..HELD_MAX).collect(),
        }
    }

    /// Handles a packet sent on a line. Calls `send` for each packet to send now, with its line and
    /// feed.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        (line, feed): (FeedLine, Feed),
        packet: &[u8],
        send: &mut impl FnMut(FeedLine, Feed, &[u8]),
    ) {
        self.handle_timeout(now, send);
        match self.lines[line as usize].decide(now) {
            Decision::Drop => return,
            Decision::Send => send(line, feed, packet),
            Decision::Duplicate => (0..2).for_each(|_| send(line, feed, packet)),
            Decision::Reorder => {
                return self.hold((now + REORDER_TIMEOUT, true), (line, feed), packet, send);
            }
            Decision::Delay(by) => return self.hold((now + by, false), (line, feed), packet, send),
        }
        let reordered = |held: &Held| held.reordered && (held.line, held.feed) == (line, feed);
        self.release(reordered, send);
    }

    /// Sends the held packets that are due.
    pub fn handle_timeout(&mut self, now: Instant, send: &mut impl FnMut(FeedLine, Feed, &[u8])) {
        if !self.waiting.is_empty() {
            self.release(|held| held.release <= now, send);
        }
    }

    /// Returns the time at which the next held packet is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.iter().map(|&index| self.held[index].release).min()
    }

    /// Returns the counts of a line.
    #[must_use]
    pub fn tally(&self, line: FeedLine) -> &FaultTally {
        &self.lines[line as usize].tally
    }

    fn hold(
        &mut self,
        (release, reordered): (Instant, bool),
        (line, feed): (FeedLine, Feed),
        packet: &[u8],
        send: &mut impl FnMut(FeedLine, Feed, &[u8]),
    ) {
        let Some(index) = self.free.pop() else {
            self.lines[line as usize].tally.unheld += 1;
            return send(line, feed, packet);
        };
        let held = &mut self.held[index];
        held.bytes[..packet.len()].copy_from_slice(packet);
        (held.release, held.reordered) = (release, reordered);
        (held.line, held.feed, held.length) = (line, feed, packet.len());
        self.waiting.push(index);
    }

    /// Sends the held packets that `matches` accepts, oldest first.
    fn release(
        &mut self,
        matches: impl Fn(&Held) -> bool,
        send: &mut impl FnMut(FeedLine, Feed, &[u8]),
    ) {
        let Self { held, waiting, free, .. } = self;
        waiting.retain(|&index| {
            let held = &held[index];
            if !matches(held) {
                return true;
            }
            send(held.line, held.feed, &held.bytes[..held.length]);
            free.push(index);
            false
        });
    }
}

impl Line {
    fn decide(&mut self, now: Instant) -> Decision {
        self.tally.packets += 1;
        // Every random number is drawn each time, so that one fault does not shift the others.
        let [drop, duplicate, reorder, delay, silence] = [
            self.faults.drop_ppm,
            self.faults.duplicate_ppm,
            self.faults.reorder_ppm,
            self.faults.delay_ppm,
            self.faults.silence_ppm,
        ]
        .map(|ppm| self.below(1_000_000) < u64::from(ppm));
        let by = Duration::from_nanos(self.below(self.faults.delay_max.as_nanos().max(1)));
        if silence && now >= self.silent_until {
            self.silent_until = now + self.faults.silence;
            self.tally.silences += 1;
        }
        if now < self.silent_until {
            self.tally.silenced += 1;
            return Decision::Drop;
        }
        let tally = &mut self.tally;
        let (count, decision) = match () {
            () if drop => (&mut tally.dropped, Decision::Drop),
            () if reorder => (&mut tally.reordered, Decision::Reorder),
            () if delay => (&mut tally.delayed, Decision::Delay(by)),
            () if duplicate => (&mut tally.duplicated, Decision::Duplicate),
            () => return Decision::Send,
        };
        *count += 1;
        decision
    }

    /// Returns a number below `bound`, which is not 0. The bias is `bound` in 2^64.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.random.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: LineFaults = LineFaults {
        drop_ppm: 50_000,
        duplicate_ppm: 50_000,
        reorder_ppm: 50_000,
        delay_ppm: 50_000,
        delay_max: Duration::from_millis(3),
        silence_ppm: 500,
        silence: Duration::from_millis(50),
    };

    /// Sends ten thousand packets, one every 100 µs, and returns the output of each line.
    fn run(settings: &FaultSettings) -> ([Vec<u16>; 2], [FaultTally; 2]) {
        let mut faults = FeedFaults::new(settings);
        let mut left = [Vec::new(), Vec::new()];
        let mut send = |line: FeedLine, _: Feed, bytes: &[u8]| {
            left[line as usize].push(u16::from_le_bytes([bytes[0], bytes[1]]));
        };
        for number in 0..10_000_u16 {
            let now = Instant::from_nanos(u64::from(number) * 100_000);
            for line in FeedLine::ALL {
                let packet = number.to_le_bytes();
                faults.handle_packet(now, (line, Feed::Incremental), &packet, &mut send);
            }
        }
        while let Some(at) = faults.poll_timeout() {
            faults.handle_timeout(at, &mut send);
        }
        let tallies = FeedFaults::tally;
        let tallies = FeedLine::ALL.map(|line| *tallies(&faults, line));
        (left, tallies)
    }

    #[test]
    fn seed_determines_the_faults() {
        let settings = FaultSettings { seed: 1, a: SOME, b: SOME };
        let ([a, b], _) = run(&settings);
        assert_eq!(run(&settings).0, [a.clone(), b.clone()]);
        assert_ne!(a, b, "the lines are independent");
        assert_ne!(run(&FaultSettings { seed: 2, ..settings }).0[0], a);
    }

    #[test]
    fn faults_of_one_line_leave_the_other_unchanged() {
        let settings = FaultSettings { seed: 3, a: SOME, b: SOME };
        let without = FaultSettings { a: LineFaults::default(), ..settings };
        assert_eq!(run(&settings).0[1], run(&without).0[1]);
        assert!(run(&without).0[0].iter().copied().eq(0..10_000));
    }

    #[test]
    fn counts_account_for_all_packets() {
        let (left, tallies) = run(&FaultSettings { seed: 4, a: SOME, b: SOME });
        for (left, tally) in left.iter().zip(tallies) {
            assert_eq!(tally.packets, 10_000);
            let lost = tally.dropped + tally.silenced;
            assert_eq!(left.len() as u64, tally.packets - lost + tally.duplicated);
            let FaultTally { dropped, duplicated, reordered, delayed, silences, .. } = tally;
            for count in [dropped, duplicated, reordered, delayed] {
                assert!((300..700).contains(&count), "{tally:?}");
            }
            assert!(silences > 0 && tally.unheld == 0, "{tally:?}");
            assert!(!left.is_sorted());
        }
    }

    #[test]
    fn sends_reordered_packet_after_the_next_of_its_feed() {
        let a = LineFaults { reorder_ppm: 1_000_000, ..LineFaults::default() };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = Vec::new();
        let mut send = |_: FeedLine, _: Feed, bytes: &[u8]| left.push(bytes[0]);
        let at = Instant::from_nanos;
        let from = (FeedLine::A, Feed::Incremental);
        faults.handle_packet(at(1), from, &[1], &mut send);
        faults.lines[0].faults.reorder_ppm = 0;
        faults.handle_packet(at(2), (FeedLine::A, Feed::Snapshots), &[9], &mut send);
        faults.handle_packet(at(3), from, &[2], &mut send);
        assert_eq!((left, faults.poll_timeout()), (vec![9, 2, 1], None));
    }

    #[test]
    fn sends_reordered_packet_after_the_timeout() {
        let a = LineFaults { reorder_ppm: 1_000_000, ..LineFaults::default() };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = Vec::new();
        let mut send = |_: FeedLine, _: Feed, bytes: &[u8]| left.push(bytes[0]);
        faults.handle_packet(Instant::ZERO, (FeedLine::A, Feed::Incremental), &[1], &mut send);
        let due = faults.poll_timeout();
        assert_eq!(due, Some(Instant::ZERO + REORDER_TIMEOUT));
        faults.handle_timeout(Instant::ZERO + REORDER_TIMEOUT, &mut send);
        assert_eq!((left, faults.poll_timeout()), (vec![1], None));
    }

    #[test]
    fn outage_drops_all_packets_of_the_line() {
        let a = LineFaults {
            silence_ppm: 1_000_000,
            silence: Duration::from_millis(10),
            ..LineFaults::default()
        };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = Vec::new();
        let mut send = |_: FeedLine, _: Feed, bytes: &[u8]| left.push(bytes[0]);
        for (millis, number) in [(0, 1), (5, 2), (9, 3), (10, 4)] {
            let now = Instant::ZERO + Duration::from_millis(millis);
            faults.handle_packet(now, (FeedLine::A, Feed::Incremental), &[number], &mut send);
            faults.lines[0].faults.silence_ppm = 0;
        }
        let FaultTally { silences, silenced, .. } = *faults.tally(FeedLine::A);
        assert_eq!((left, silences, silenced), (vec![4], 1, 3));
    }

    #[test]
    fn faults_are_drawn_independently() {
        let settings = FaultSettings { seed: 5, a: SOME, b: SOME };
        let without = FaultSettings { a: LineFaults { delay_ppm: 0, ..SOME }, ..settings };
        let [with, without] = [settings, without].map(|settings| run(&settings).1[0]);
        assert!(with.delayed > 0 && without.delayed == 0);
        let others =
            |tally: FaultTally| (tally.dropped, tally.reordered, tally.silences, tally.silenced);
        assert_eq!(others(with), others(without));
    }

    #[test]
    fn full_store_sends_at_once() {
        let a = LineFaults { reorder_ppm: 1_000_000, ..LineFaults::default() };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = 0;
        for _ in 0..HELD_MAX + 3 {
            let from = (FeedLine::A, Feed::Incremental);
            faults.handle_packet(Instant::ZERO, from, &[1], &mut |_, _, _| left += 1);
        }
        assert_eq!((left, faults.tally(FeedLine::A).unheld), (3, 3));
    }
}
