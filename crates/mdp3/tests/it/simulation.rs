//! Simulation of a publisher, two lossy lines, loops, and a channel that joins late. Books in sync
//! always equal what was published. Once losses stop, all books are in sync, and all statuses and
//! definitions are correct.

mod book_checker;
mod exchange;
mod joins;
use std::collections::{BTreeMap, VecDeque};

use crate::support::*;
use book_checker::BookChecker;
use exchange::{Exchange, Sent};
use hairpin_mdp3::{
    Action, Channel, Feed, FeedLine, FeedLines, Input, PacketHeader, ReplayOutcome, Settings,
};
use hairpin_testbed::scaled;
use hairpin_time::{Duration, Instant, Now};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const IDS: [i32; 6] = [7, 8, 9, 10, 11, 12];
/// Instruments without trades in the first half of a run, so that snapshots do not name them.
const QUIET: [i32; 2] = [11, 12];
const DEPTH: usize = 3;
const IMPLIED_DEPTH: usize = 2;

/// The delay of B after A around a reset.
const LAG_MILLIS: u64 = 1_000;

/// The minimum time between two strays.
const STRAY_SPACING_MILLIS: u64 = 100;

struct Simulation {
    exchange: Exchange,
    channel: Channel,
    checker: BookChecker,
    rng: ChaCha8Rng,
    now: Instant,
    joined: [bool; Feed::ALL.len()],
    /// The lines that deliver packets.
    sides: FeedLines,
    /// The packets sent in this epoch, the requested range, and how often a replay fails per
    /// thousand.
    history: BTreeMap<u32, PacketBuilder>,
    asked: Option<(u32, u32)>,
    replay_loss: u32,
    /// Packets per thousand that each line loses, delays behind the next, or receives from
    /// elsewhere.
    loss: u32,
    delay: u32,
    stray: u32,
    may_reset: bool,
    late: [Option<PacketBuilder>; 2],
    /// The packets that B has still to send, with their times, and B's present delay.
    b_line: VecDeque<(u64, PacketBuilder)>,
    b_lag: u64,
    strays: u64,
    /// The earliest time of the next stray. A single stray must not be accepted; two cannot be
    /// distinguished from a stream.
    next_stray: u64,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        Self::with(seed, Settings { max_instruments: IDS.len(), ..SETTINGS })
    }

    fn with(seed: u64, settings: Settings) -> Self {
        Self {
            exchange: Exchange::new(),
            channel: Channel::new(settings),
            checker: BookChecker { seed, ..BookChecker::default() },
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: Instant::from_nanos(1_000_000_000),
            joined: [false; Feed::ALL.len()],
            sides: FeedLines::Both,
            history: BTreeMap::new(),
            asked: None,
            replay_loss: 0,
            loss: 0,
            delay: 0,
            stray: 0,
            may_reset: false,
            late: [None, None],
            b_line: VecDeque::new(),
            b_lag: 0,
            strays: 0,
            next_stray: 0,
        }
    }

    fn chance(&mut self, in_a_thousand: u32) -> bool {
        self.rng.next_u32() % 1_000 < in_a_thousand
    }

    fn clock(&self) -> Now {
        let utc = YEAR_2026 + Duration::from_millis(self.exchange.millis);
        Now { monotonic: self.now, utc }
    }

    fn deliver(&mut self, feed: Feed, side: FeedLine, packet: &PacketBuilder) {
        let now = self.clock();
        if self.joined[feed as usize] {
            let input = Input { feed, line: side, received: None };
            self.channel.handle_packet(now, input, packet.bytes(), &mut self.checker);
        }
        while let Some(action) = self.channel.poll_action() {
            match action {
                Action::Join(feed) => self.joined[feed as usize] = true,
                Action::Leave(feed) => self.joined[feed as usize] = false,
                Action::Replay { first, last } => self.asked = Some((first, last)),
                Action::EndReplay => self.asked = None,
                _ => unreachable!(),
            }
        }
    }

    /// Sends a packet on one line unless it is lost. A delayed packet follows the next one.
    fn send_on(&mut self, feed: Feed, side: FeedLine, packet: &PacketBuilder) {
        if !self.sides.contains(side) || self.chance(self.loss) {
            return;
        }
        let late = self.late[side as usize].take();
        if feed == Feed::Incremental && late.is_none() && self.chance(self.delay) {
            self.late[side as usize] = Some(packet.clone());
            return;
        }
        self.deliver(feed, side, packet);
        if let Some(late) = late {
            self.deliver(Feed::Incremental, side, &late);
        }
    }

    fn send_incremental(&mut self, packet: &PacketBuilder) {
        self.note(packet);
        self.send_on(Feed::Incremental, FeedLine::A, packet);
        // B sends in order, even while it catches up.
        let now = self.exchange.millis;
        let last = self.b_line.back().map_or(0, |(due, _)| *due);
        self.b_line.push_back((last.max(now + self.b_lag), packet.clone()));
        while let Some((_, packet)) = self.b_line.pop_front_if(|(due, _)| *due <= now) {
            self.send_on(Feed::Incremental, FeedLine::B, &sent_now(packet, self.exchange.stamp()));
        }
        if self.chance(self.stray) && self.exchange.millis >= self.next_stray {
            self.send_stray();
        }
    }

    fn note(&mut self, packet: &PacketBuilder) {
        let (header, _) = PacketHeader::decode(packet.bytes()).expect("the packet has a header");
        if header.sequence == 1 {
            self.history.clear();
        }
        self.history.insert(header.sequence, packet.clone());
    }

    /// Serves a replay request after some time: completely, partially, or not at all.
    fn serve_replay(&mut self) {
        if self.asked.is_none() || !self.chance(100) {
            return;
        }
        let Some((first, last)) = self.asked.take() else { return };
        let outcome = if self.chance(self.replay_loss) {
            ReplayOutcome::Failed
        } else {
            ReplayOutcome::Complete
        };
        let replayed: Vec<_> = self.history.range(first..=last).map(|(_, p)| p.clone()).collect();
        for packet in &replayed {
            let now = self.clock();
            let input = Input { feed: Feed::Replay, line: FeedLine::A, received: None };
            if !self.chance(self.replay_loss) {
                self.channel.handle_packet(now, input, packet.bytes(), &mut self.checker);
            }
        }
        let now = self.clock();
        self.channel.handle_replay_end(now, outcome, &mut self.checker);
    }

    /// Delivers a datagram that does not belong to the feed: with a wrong time or number.
    fn send_stray(&mut self) {
        self.strays += 1;
        self.next_stray = self.exchange.millis + STRAY_SPACING_MILLIS;
        let (sequence, millis) = (self.exchange.sequence, self.exchange.millis);
        let side = if self.rng.next_u32().is_multiple_of(2) { FeedLine::A } else { FeedLine::B };
        let (feed, stray) = match self.rng.next_u32() % 5 {
            0 => (Feed::Incremental, sent_at(sequence.wrapping_add(1 << 30), millis)),
            1 => (Feed::Incremental, sent_at(sequence + 1, millis + 1_000_000)),
            2 => (Feed::Incremental, sent_at(sequence / 2 + 2, millis)),
            3 => (Feed::Snapshot, sent_at(1, millis + 1_000_000)),
            _ => (Feed::Instrument, sent_at(1, millis + 1_000_000)),
        };
        self.deliver(feed, side, &stray.heartbeat());
    }

    fn publish(&mut self, packet: &PacketBuilder) {
        self.share_published();
        self.send_incremental(packet);
    }

    /// Passes everything published so far to the checker.
    fn share_published(&mut self) {
        self.checker.exchange_epoch = self.exchange.epoch;
        self.checker.published.extend(self.exchange.published.drain());
        self.checker.epochs.append(&mut self.exchange.epochs);
    }

    /// Runs `steps` milliseconds: a packet each, and a pass of the loops every 40.
    fn run(&mut self, steps: usize, ids: &[i32]) {
        for step in 0..steps {
            let packet = self.exchange.next_packet(&mut self.rng, ids, self.may_reset);
            self.publish(&packet);
            if step % 40 == 39 {
                self.run_loops_ahead(ids);
            }
            self.now += Duration::from_millis(1);
            let now = self.clock();
            self.channel.handle_timeout(now, &mut self.checker);
            self.serve_replay();
            let instruments = self.channel.instruments();
            for instrument in instruments.iter() {
                if instruments.book(instrument).is_in_sync() {
                    self.checker.check_book(instruments, instrument);
                }
            }
        }
    }

    /// Runs the loops ahead of the last few packets of the stream, since they take another path.
    fn run_loops_ahead(&mut self, ids: &[i32]) {
        let count = self.rng.next_u32() % 5;
        let mut packets = Vec::new();
        for _ in 0..count {
            packets.push(self.exchange.next_packet(&mut self.rng, ids, self.may_reset));
        }
        self.share_published();
        self.run_loops();
        packets.iter().for_each(|packet| self.send_incremental(packet));
    }

    fn run_loops(&mut self) {
        let loops = [
            (Feed::Instrument, self.exchange.definitions()),
            (Feed::Snapshot, self.exchange.snapshots()),
        ];
        for (feed, packets) in loops {
            for packet in &packets {
                for side in FeedLine::ALL {
                    self.send_on(feed, side, packet);
                }
            }
        }
    }

    /// Resets A a second before B. The packet numbering restarts or continues.
    fn run_reset(&mut self, restarts: bool, ids: &[i32]) {
        self.b_lag = LAG_MILLIS;
        self.run(300, ids);
        let packet = self.exchange.channel_reset(restarts);
        self.publish(&packet);
        self.run(900, ids);
        self.b_lag = 0;
        self.run(300, ids);
    }

    /// Checks that all state is known and correct.
    fn check(&self, seed: u64) {
        let instruments = self.channel.instruments();
        for id in IDS {
            let instrument = self.channel.find(id).expect("the instrument is defined");
            let is_in_sync = self.channel.book(instrument).is_in_sync();
            assert!(is_in_sync, "seed {seed}: instrument {id} is not in sync at the end");
            let shown = book_checker::show(instruments, instrument);
            assert_eq!(shown, self.exchange.show(id), "seed {seed}: {id}");
            let status = instruments.status(instrument).trading_status.map(|status| status.0);
            let expected = self.exchange.statuses.get(&id).copied();
            assert_eq!(status, expected, "seed {seed}: the status of {id}");
            let version = self.exchange.versions.get(&id).copied().unwrap_or(0);
            let symbol =
                self.channel.definition(instrument).expect("the instrument is defined").symbol;
            assert_eq!(symbol, format!("ES{id}v{version}").as_str(), "seed {seed}");
        }
        self.check_errors(seed);
    }

    fn check_errors(&self, seed: u64) {
        let counters = self.channel.counters();
        let errors = counters.inapplicable_entries + counters.invalid_entries;
        assert_eq!(errors, 0, "seed {seed}");
    }
}

/// Returns the packet with the time at which its line sends it.
fn sent_now(mut packet: PacketBuilder, millis: u64) -> PacketBuilder {
    let (header, _) = PacketHeader::decode(packet.bytes()).expect("the packet has a header");
    let sending_time = YEAR_2026 + Duration::from_millis(millis);
    let header = PacketHeader { sending_time, ..header };
    packet.bytes_mut()[..PacketHeader::LENGTH].copy_from_slice(&header.encode());
    packet
}

/// The counts of all runs together.
#[derive(Default, Debug)]
struct Census {
    counts: Vec<(&'static str, u64)>,
}

impl Census {
    fn add(&mut self, simulation: &Simulation) {
        let (counters, checker) = (simulation.channel.counters(), &simulation.checker);
        let sent: Sent = simulation.exchange.sent;
        let counts = [
            ("books checked", checker.checked),
            ("books checked with implied levels", checker.checked_implied),
            ("fell out", checker.lost_sync),
            ("gaps", counters.gaps),
            ("held", counters.held_packets),
            ("unaffected", counters.found_unaffected),
            ("recovered", counters.snapshots_applied),
            ("empty by absence", counters.empty_by_absence),
            ("implied entries sent", sent.implied),
            ("implied entries applied", counters.implied_entries),
            ("book resets sent", sent.book_resets),
            ("book resets obeyed", counters.book_resets),
            ("statuses sent", sent.statuses),
            ("group statuses sent", sent.group_statuses),
            ("statuses reported", counters.statuses),
            ("statuses restored", checker.restored_statuses),
            ("definitions modified", sent.modified),
            ("channel resets sent", sent.resets),
            ("channel resets obeyed", counters.resets),
            ("restarts sent", sent.restarts),
            ("restarts sent at the time of their reset", sent.restarts_at_once),
            ("restarts seen", counters.restarts),
            ("packets of B from before a restart", counters.older_epoch_packets),
            ("strays", simulation.strays),
            ("packets without RptSeq", u64::from(checker.unnumbered) * counters.first_a),
            ("doubtful packets", counters.doubtful_packets),
        ];
        if self.counts.is_empty() {
            self.counts = counts.map(|(name, _)| (name, 0)).to_vec();
        }
        for ((_, sum), (_, count)) in self.counts.iter_mut().zip(counts) {
            *sum += count;
        }
    }
}

fn simulate(seed: u64, census: &mut Census) {
    let mut simulation = Simulation::new(seed);
    simulation.joined = [true, true, false, false];
    let active: Vec<_> = IDS.into_iter().filter(|id| !QUIET.contains(id)).collect();
    simulation.may_reset = seed.is_multiple_of(2);
    let unnumbered = seed % 8 == 5;
    simulation.exchange.unnumbered = unnumbered;
    if seed % 8 == 4 {
        simulation.exchange.wake = 8;
    }
    simulation.checker.unnumbered = unnumbered;
    if !simulation.may_reset {
        // Late in the day, when the next RptSeq proves something.
        simulation.exchange.rpt_seqs = active.iter().map(|id| (*id, 10_000)).collect();
    }
    // The channel joins in the middle of the exchange's day or at the start of its week. Losses
    // follow, then an undisturbed period.
    simulation.exchange.statuses = IDS.into_iter().map(|id| (id, 17)).collect();
    for _ in 0..if seed % 4 == 2 { 0 } else { 50 } {
        simulation.exchange.next_packet(&mut simulation.rng, &active, simulation.may_reset);
    }
    simulation.checker.epoch = simulation.exchange.epoch;
    (simulation.loss, simulation.delay, simulation.stray) = (100, 50, 10);
    simulation.run(600, &active);
    if simulation.may_reset {
        simulation.run_reset(seed.is_multiple_of(4), &IDS);
    }
    simulation.run(600, &IDS);
    (simulation.loss, simulation.delay, simulation.stray) = (0, 0, 0);
    simulation.may_reset = false;
    simulation.run(120, &IDS);
    simulation.check(seed);
    census.add(&simulation);
}

#[test]
fn books_in_sync_match_published_state() {
    let mut census = Census::default();
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let first = number("HAIRPIN_FIRST_SEED").unwrap_or(0);
    for seed in first..first + number("HAIRPIN_SEEDS").unwrap_or_else(|| scaled(50)) {
        simulate(seed, &mut census);
    }
    println!("{census:#?}");
    for (name, count) in &census.counts {
        assert!(*count > 0, "{name}: this event never happened");
    }
}
