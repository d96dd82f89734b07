//! A receiver: the real channel on simulated lines, and its checker.

use hairpin_mdp3::{Action, Channel, ChannelState, Feed, FeedLine, Input, PacketHeader, Settings};
use hairpin_netsim::{Census, Link, Random, trace};
use hairpin_time::{Duration, Instant, Now};

use crate::checker::Checker;
use crate::exchange::Exchange;
use crate::plan::{Fault, FaultPeriod, ReceiverKind, ReceiverPlan};
use crate::receiver_log::ReceiverLog;
use crate::replay_connection::ReplayConnection;

/// The multicast feeds, each with its index into `distances`.
const FEEDS: [(Feed, usize); 4] =
    [(Feed::Incremental, 0), (Feed::Instrument, 1), (Feed::Snapshot, 1), (Feed::SnapshotOrders, 1)];

/// The time without faults and the synchronized part of it, summed over books, in nanoseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SyncTime {
    good: u64,
    in_sync: u64,
}

/// A receiver.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) name: String,
    receiver_kind: ReceiverKind,
    settings: Settings,
    receiver_plan: Option<ReceiverPlan>,
    joins: Instant,
    channel: Option<Channel>,
    pub(crate) checker: Checker,
    /// The lines by feed and A/B line.
    lines: [[Link; 2]; 4],
    distances: [[Duration; 2]; 2],
    joined: [bool; 4],
    fault_periods: std::vec::IntoIter<FaultPeriod>,
    next_fault_period: Option<FaultPeriod>,
    fault_period: Option<FaultPeriod>,
    recovery: Duration,
    /// The end of the recovery time after the last fault.
    good_from: Instant,
    accounted: Instant,
    /// The sums of price books and of order books.
    sync_times: [SyncTime; 2],
    replacements: u32,
    replay_connection: Option<ReplayConnection>,
    random: Random,
    wanted: Vec<i32>,
}

impl Receiver {
    pub(crate) fn new(number: usize, mut receiver_plan: ReceiverPlan, lacks_rpt_seq: bool) -> Self {
        let name = format!("receiver {number}, {:?}", receiver_plan.receiver_kind);
        let mut random = receiver_plan.random.split();
        let lines = FEEDS.map(|(_, place)| {
            [0, 1].map(|feed_line| {
                let (faults, _) = Fault::Nothing.line(receiver_plan.distances[place][feed_line]);
                Link::new(random.split(), faults)
            })
        });
        let mut fault_periods = std::mem::take(&mut receiver_plan.fault_periods).into_iter();
        let wanted = (1_001..1_010).filter(|id| receiver_plan.filter.accepts_id(*id)).collect();
        Self {
            receiver_kind: receiver_plan.receiver_kind,
            settings: receiver_plan.settings,
            joins: receiver_plan.joins,
            channel: None,
            checker: Checker::new(name.clone(), lacks_rpt_seq),
            name,
            lines,
            distances: receiver_plan.distances,
            joined: [false; 4],
            next_fault_period: fault_periods.next(),
            fault_periods,
            fault_period: None,
            recovery: receiver_plan.recovery,
            good_from: receiver_plan.joins + receiver_plan.recovery,
            accounted: receiver_plan.joins,
            sync_times: Default::default(),
            replacements: 0,
            replay_connection: None,
            random,
            wanted,
            receiver_plan: Some(receiver_plan),
        }
    }

    /// Sends a packet of the exchange on both lines.
    pub(crate) fn send(&mut self, now: Instant, feed: Feed, bytes: &[u8]) {
        let place = place_of(feed);
        if !self.joined[place] {
            return;
        }
        for feed_line in FeedLine::ALL {
            if self.settings.feeds.lines(feed).contains(feed_line) {
                self.lines[place][feed_line as usize].send(now, bytes);
            }
        }
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let Some(channel) = &self.channel else { return Some(self.joins) };
        let lines = self.lines.iter().flatten().filter_map(Link::poll_timeout);
        let begins = self.next_fault_period.map(|fault_period| fault_period.begins);
        let ends = self.fault_period.map(|fault_period| fault_period.ends);
        let replay_connection = self
            .replay_connection
            .as_ref()
            .and_then(|replay_connection| replay_connection.next_at(now));
        let others = [channel.poll_timeout(), begins, ends, replay_connection];
        lines.chain(others.into_iter().flatten()).min()
    }

    /// Handles all due events.
    pub(crate) fn run(&mut self, now: Now, exchange: &mut Exchange) {
        self.account(now.monotonic, exchange);
        if self.channel.is_none() {
            if now.monotonic < self.joins {
                return;
            }
            self.join(now, exchange);
        }
        self.change_lines(now);
        self.receive(now, exchange);
        let channel = self.channel.as_mut().expect("the receiver has joined");
        if channel.poll_timeout().is_some_and(|at| at <= now.monotonic) {
            let receiver_log = &mut ReceiverLog {
                checker: &mut self.checker,
                expected_state: &exchange.expected_state,
                now,
            };
            channel.handle_timeout(now, receiver_log);
        }
        self.act(now, exchange);
        self.run_replay(now, exchange);
        self.act(now, exchange);
    }

    fn join(&mut self, now: Now, exchange: &mut Exchange) {
        trace!(now, "{} joins", self.name);
        let Some(ReceiverPlan { filter, .. }) = self.receiver_plan.take() else { return };
        let mut channel = Channel::new_with_filter(self.settings, filter);
        self.checker.state = Some(channel.state());
        if self.receiver_kind == ReceiverKind::Cached && !exchange.cache.is_empty() {
            let input = Input { feed: Feed::Instrument, line: FeedLine::A, received: None };
            let receiver_log = &mut ReceiverLog {
                checker: &mut self.checker,
                expected_state: &exchange.expected_state,
                now,
            };
            for packet in &exchange.cache {
                channel.handle_packet(now, input, packet, receiver_log);
            }
            if !channel.is_collecting_definitions() {
                self.checker.census.count("joins with instruments from a cache");
            }
            channel.collect_definitions();
        }
        let has_begun = exchange.last().sequence > 0;
        self.checker.census.count(if has_begun { "late joins" } else { "joins at the start" });
        self.channel = Some(channel);
        self.replacements = exchange.replacements;
        self.act(now, exchange);
    }

    /// Starts and ends fault periods.
    fn change_lines(&mut self, now: Now) {
        let before = self.fault_period.is_some();
        if self.fault_period.is_some_and(|fault_period| fault_period.ends <= now.monotonic) {
            self.fault_period = None;
            self.good_from = now.monotonic + self.recovery;
        }
        if self.fault_period.is_none()
            && let Some(fault_period) = self.next_fault_period
            && fault_period.begins <= now.monotonic
        {
            self.fault_period = Some(fault_period);
            self.next_fault_period = self.fault_periods.next();
            self.count_fault_period(&fault_period);
        } else if before == self.fault_period.is_some() {
            return;
        }
        trace!(now, "{}: {:?}", self.name, self.fault_period);
        for (feed, place) in FEEDS {
            for feed_line in FeedLine::ALL {
                let distance = self.distances[place][feed_line as usize];
                let fault_period = self.fault_period.filter(|t| t.reaches_loops || place == 0);
                let fault = fault_period.map_or(Fault::Nothing, |t| t.faults[feed_line as usize]);
                let (faults, is_cut) = fault.line(distance);
                let line = &mut self.lines[place_of(feed)][feed_line as usize];
                line.set_faults(faults);
                line.set_cut(is_cut);
            }
        }
    }

    fn count_fault_period(&mut self, fault_period: &FaultPeriod) {
        let census = &mut self.checker.census;
        let loses = fault_period.faults.map(|fault| matches!(fault, Fault::Loss(_) | Fault::Cut));
        match loses {
            [true, false] => census.count("periods of loss on A only"),
            [false, true] => census.count("periods of loss on B only"),
            [true, true] => census.count("periods of loss on both lines"),
            [false, false] => {}
        }
        match fault_period.faults.map(|fault| fault == Fault::Cut) {
            [true, true] => census.count("periods of silence on both lines"),
            [false, false] => {}
            _ => census.count("periods of silence on one line"),
        }
        for fault in fault_period.faults {
            match fault {
                Fault::Duplicates => census.count("periods of duplicates"),
                Fault::Reordering => census.count("periods of reordering"),
                Fault::Late => census.count("periods of packets later than the reorder wait"),
                _ => {}
            }
        }
    }

    /// Passes received packets to the channel.
    fn receive(&mut self, now: Now, exchange: &Exchange) {
        let Self { channel: Some(channel), checker, lines, .. } = self else { return };
        for (feed, place) in FEEDS.map(|(feed, _)| (feed, place_of(feed))) {
            for feed_line in FeedLine::ALL {
                let input = Input { feed, line: feed_line, received: None };
                lines[place][feed_line as usize].receive(now.monotonic, |_, bytes| {
                    let before = unprocessed_packets(channel);
                    let receiver_log =
                        &mut ReceiverLog { checker, expected_state: &exchange.expected_state, now };
                    channel.handle_packet(now, input, bytes, receiver_log);
                    if feed == Feed::Incremental
                        && unprocessed_packets(channel) == before
                        && let Ok((header, _)) = PacketHeader::decode(bytes)
                    {
                        checker.record_passed(
                            &exchange.expected_state,
                            header.sequence,
                            header.sending_time,
                        );
                    }
                });
            }
        }
    }

    /// Performs the channel's actions.
    fn act(&mut self, now: Now, exchange: &mut Exchange) {
        let Some(channel) = &mut self.channel else { return };
        while let Some(action) = channel.poll_action() {
            match action {
                Action::Join(feed) => self.joined[place_of(feed)] = true,
                Action::Leave(feed) => {
                    self.joined[place_of(feed)] = false;
                    self.lines[place_of(feed)].iter_mut().for_each(Link::clear);
                }
                Action::Replay { first, last } => {
                    let replay_connection =
                        ReplayConnection::new(now.monotonic, &mut self.random, (first, last));
                    let before = self.replay_connection.replace(replay_connection);
                    before.into_iter().for_each(|mut replay_connection| {
                        replay_connection.close(&mut exchange.replay)
                    });
                }
                Action::EndReplay => {
                    let before = self.replay_connection.take();
                    before.into_iter().for_each(|mut replay_connection| {
                        replay_connection.close(&mut exchange.replay)
                    });
                }
                _ => unreachable!("{action:?}"),
            }
        }
    }

    fn run_replay(&mut self, now: Now, exchange: &mut Exchange) {
        let Self {
            channel: Some(channel),
            checker,
            replay_connection: Some(replay_connection),
            ..
        } = self
        else {
            return;
        };
        let input = Input { feed: Feed::Replay, line: FeedLine::A, received: None };
        let (expected_state, server) = (&exchange.expected_state, &mut exchange.replay);
        let outcome = replay_connection.run(now, server, |packet| {
            channel.handle_packet(
                now,
                input,
                packet,
                &mut ReceiverLog { checker, expected_state, now },
            );
        });
        if let Some(outcome) = outcome {
            replay_connection.close(server);
            self.replay_connection = None;
            trace!(now, "{}: the replay ends: {outcome:?}", self.name);
            channel.handle_replay_end(
                now,
                outcome,
                &mut ReceiverLog { checker, expected_state, now },
            );
        }
    }

    /// Adds up the time without faults.
    fn account(&mut self, now: Instant, exchange: &Exchange) {
        let since = self.accounted.max(self.good_from);
        self.accounted = now;
        if self.replacements != exchange.replacements && self.channel.is_some() {
            // Until now, the books were those of the previous exchange.
            self.replacements = exchange.replacements;
            self.good_from = now + self.recovery;
        }
        let is_good = self.fault_period.is_none() && self.channel.is_some();
        self.checker.forbids_gaps = is_good && now >= self.good_from;
        let span = now.saturating_since(since).as_nanos();
        if !is_good || span == 0 {
            return;
        }
        let keeps_orders = self.settings.order_books != hairpin_mdp3::OrderBooks::None;
        for (security_id, is_active) in exchange.listed() {
            if !is_active || !(self.wanted.is_empty() || self.wanted.contains(&security_id)) {
                continue;
            }
            let in_sync = self.checker.in_sync(security_id);
            for (kind, sum) in self.sync_times.iter_mut().enumerate() {
                if kind == 0 || keeps_orders {
                    sum.good += span;
                    sum.in_sync += if in_sync[kind] { span } else { 0 };
                }
            }
        }
    }

    /// Checks at the end of the run that all books are synchronized and correct.
    pub(crate) fn finish(&mut self, now: Now, exchange: &Exchange) -> Census {
        self.account(now.monotonic, exchange);
        if let Some(channel) = self.channel.take() {
            if self.receiver_kind.recovers() {
                assert_eq!(channel.state(), ChannelState::InSync, "{} at the end", self.name);
                self.check_sync_time();
                self.check_final_state(exchange);
            }
            let instruments = channel.instruments();
            for instrument in instruments.iter() {
                let position = exchange.last();
                let expected_state = &exchange.expected_state;
                self.checker.check_books(
                    now,
                    expected_state,
                    instruments,
                    instrument,
                    position,
                    true,
                );
            }
            count_counters(&channel, &mut self.checker.census);
        }
        let mut census = std::mem::take(&mut self.checker.census);
        self.lines.iter().flatten().for_each(|line| line.report(&mut census));
        census.count(self.receiver_kind.class());
        census
    }

    /// Checks that books were synchronized for nine tenths of the time without faults.
    fn check_sync_time(&mut self) {
        for (sum, what) in self.sync_times.iter().zip(["books", "order books"]) {
            let SyncTime { good, in_sync } = *sum;
            assert!(
                in_sync >= good / 10 * 9,
                "{}: {what} were synchronized for {in_sync} ns of {good} ns without a fault",
                self.name
            );
        }
        let class = ["ms synchronized without faults", "ms without faults"];
        let [SyncTime { good, in_sync }, _] = self.sync_times;
        self.checker.census.add(class[0], in_sync / 1_000_000);
        self.checker.census.add(class[1], good / 1_000_000);
    }

    fn check_final_state(&self, exchange: &Exchange) {
        for (security_id, is_active) in exchange.listed() {
            let is_wanted = self.wanted.is_empty() || self.wanted.contains(&security_id);
            if is_active && is_wanted {
                let [prices, orders] = self.checker.in_sync(security_id);
                assert!(prices, "{}: at the end {security_id} is not synchronized", self.name);
                let keeps = self.settings.order_books != hairpin_mdp3::OrderBooks::None;
                assert!(
                    orders || !keeps,
                    "{}: at the end the orders of {security_id} are not synchronized",
                    self.name
                );
            }
        }
    }
}

/// Returns the number of packets that the channel has set aside or ignored because a restart of
/// their line was not confirmed.
fn unprocessed_packets(channel: &Channel) -> u64 {
    let counters = channel.counters();
    counters.doubtful_packets + counters.older_epoch_packets
}

fn place_of(feed: Feed) -> usize {
    match feed {
        Feed::Incremental => 0,
        Feed::Instrument => 1,
        Feed::Snapshot => 2,
        Feed::SnapshotOrders => 3,
        _ => unreachable!("replay packets arrive over TCP"),
    }
}

/// Adds the channel's counters to the census.
fn count_counters(channel: &Channel, census: &mut Census) {
    let counters = channel.counters();
    for (class, times) in [
        ("books from snapshots", counters.snapshots_applied),
        ("order books from snapshots", counters.order_snapshots_applied),
        ("books empty because the pass omits them", counters.empty_by_absence),
        ("natural refreshes", counters.refreshes),
        ("books unaffected by a gap", counters.found_unaffected),
        ("entries dropped that a snapshot contained", counters.entries_in_snapshot),
        ("orders dropped that a snapshot contained", counters.orders_in_snapshot),
        ("entries withheld", counters.withheld_entries),
        ("packets held for a gap", counters.held_packets),
        ("packets of an older epoch", counters.older_epoch_packets),
        ("restarts detected", counters.restarts),
        ("snapshots too old", counters.snapshots_too_old),
        ("order snapshots with missing chunks", counters.order_snapshots_torn),
        ("queue overflows", counters.queue_overflows),
        ("packets received by replay", counters.replayed_packets),
        ("top orders sent again", counters.order_overlays),
        ("order entries applied", counters.order_entries),
    ] {
        census.add(class, times);
    }
}
