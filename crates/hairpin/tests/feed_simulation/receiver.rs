//! A receiver: the real channel on simulated lines, and its checker.

use hairpin_mdp3::{Action, Channel, ChannelState, Feed, FeedLine, Input, PacketHeader, Settings};
use hairpin_netsim::{Census, Link, Random};
use hairpin_time::{Duration, Instant, Now};

use crate::hearing::Hearing;
use crate::judge::Judge;
use crate::plan::{Audience, Fault, Trouble, Way};
use crate::replay_call::ReplayCall;
use crate::stage::Stage;
use crate::trace::trace;

/// The multicast feeds, each with its index into `distances`.
const FEEDS: [(Feed, usize); 4] =
    [(Feed::Incremental, 0), (Feed::Instrument, 1), (Feed::Snapshot, 1), (Feed::SnapshotOrders, 1)];

/// The time without faults and the synchronized part of it, summed over books, in nanoseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Sum {
    good: u64,
    in_sync: u64,
}

/// A receiver.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) name: String,
    way: Way,
    settings: Settings,
    audience: Option<Audience>,
    joins: Instant,
    channel: Option<Channel>,
    pub(crate) judge: Judge,
    /// The lines by feed and A/B line.
    lines: [[Link; 2]; 4],
    distances: [[Duration; 2]; 2],
    joined: [bool; 4],
    troubles: std::vec::IntoIter<Trouble>,
    next_trouble: Option<Trouble>,
    trouble: Option<Trouble>,
    recovery: Duration,
    /// The end of the recovery time after the last fault.
    good_from: Instant,
    accounted: Instant,
    /// The sums of price books and of order books.
    sums: [Sum; 2],
    replacements: u32,
    call: Option<ReplayCall>,
    random: Random,
    wanted: Vec<i32>,
}

impl Receiver {
    pub(crate) fn new(number: usize, mut audience: Audience, is_unnumbered: bool) -> Self {
        let name = format!("receiver {number}, {:?}", audience.way);
        let mut random = audience.random.split();
        let lines = FEEDS.map(|(_, place)| {
            [0, 1].map(|side| {
                let (faults, _) = Fault::Nothing.line(audience.distances[place][side]);
                Link::new(random.split(), faults)
            })
        });
        let mut troubles = std::mem::take(&mut audience.troubles).into_iter();
        let wanted = (1_001..1_010).filter(|id| audience.filter.accepts_id(*id)).collect();
        Self {
            way: audience.way,
            settings: audience.settings,
            joins: audience.joins,
            channel: None,
            judge: Judge::new(name.clone(), is_unnumbered),
            name,
            lines,
            distances: audience.distances,
            joined: [false; 4],
            next_trouble: troubles.next(),
            troubles,
            trouble: None,
            recovery: audience.recovery,
            good_from: audience.joins + audience.recovery,
            accounted: audience.joins,
            sums: Default::default(),
            replacements: 0,
            call: None,
            random,
            wanted,
            audience: Some(audience),
        }
    }

    /// Sends a packet of the exchange on both lines.
    pub(crate) fn send(&mut self, now: Instant, feed: Feed, bytes: &[u8]) {
        let place = place_of(feed);
        if !self.joined[place] {
            return;
        }
        for side in FeedLine::ALL {
            if self.settings.feeds.lines(feed).contains(side) {
                self.lines[place][side as usize].send(now, bytes);
            }
        }
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let Some(channel) = &self.channel else { return Some(self.joins) };
        let lines = self.lines.iter().flatten().filter_map(Link::poll_timeout);
        let begins = self.next_trouble.map(|trouble| trouble.begins);
        let ends = self.trouble.map(|trouble| trouble.ends);
        let call = self.call.as_ref().and_then(|call| call.next_at(now));
        let others = [channel.poll_timeout(), begins, ends, call];
        lines.chain(others.into_iter().flatten()).min()
    }

    /// Handles all due events.
    pub(crate) fn run(&mut self, now: Now, stage: &mut Stage) {
        self.account(now.monotonic, stage);
        if self.channel.is_none() {
            if now.monotonic < self.joins {
                return;
            }
            self.join(now, stage);
        }
        self.change_lines(now);
        self.receive(now, stage);
        let channel = self.channel.as_mut().expect("the receiver has joined");
        if channel.poll_timeout().is_some_and(|at| at <= now.monotonic) {
            let hearing = &mut Hearing { judge: &mut self.judge, truth: &stage.truth, now };
            channel.handle_timeout(now, hearing);
        }
        self.act(now, stage);
        self.run_call(now, stage);
        self.act(now, stage);
    }

    fn join(&mut self, now: Now, stage: &mut Stage) {
        trace!(now, "{} joins", self.name);
        let Some(Audience { filter, .. }) = self.audience.take() else { return };
        let mut channel = Channel::new_with_filter(self.settings, filter);
        self.judge.state = Some(channel.state());
        if self.way == Way::Cached && !stage.cache.is_empty() {
            let input = Input { feed: Feed::Instrument, line: FeedLine::A, received: None };
            let hearing = &mut Hearing { judge: &mut self.judge, truth: &stage.truth, now };
            for packet in &stage.cache {
                channel.handle_packet(now, input, packet, hearing);
            }
            if !channel.is_collecting_definitions() {
                self.judge.census.count("joins with instruments from a cache");
            }
            channel.collect_definitions();
        }
        let has_begun = stage.last().sequence > 0;
        self.judge.census.count(if has_begun { "late joins" } else { "joins at the start" });
        self.channel = Some(channel);
        self.replacements = stage.replacements;
        self.act(now, stage);
    }

    /// Starts and ends fault periods.
    fn change_lines(&mut self, now: Now) {
        let before = self.trouble.is_some();
        if self.trouble.is_some_and(|trouble| trouble.ends <= now.monotonic) {
            self.trouble = None;
            self.good_from = now.monotonic + self.recovery;
        }
        if self.trouble.is_none()
            && let Some(trouble) = self.next_trouble
            && trouble.begins <= now.monotonic
        {
            self.trouble = Some(trouble);
            self.next_trouble = self.troubles.next();
            self.count_trouble(&trouble);
        } else if before == self.trouble.is_some() {
            return;
        }
        trace!(now, "{}: {:?}", self.name, self.trouble);
        for (feed, place) in FEEDS {
            for side in FeedLine::ALL {
                let distance = self.distances[place][side as usize];
                let trouble = self.trouble.filter(|t| t.reaches_loops || place == 0);
                let fault = trouble.map_or(Fault::Nothing, |t| t.faults[side as usize]);
                let (faults, is_cut) = fault.line(distance);
                let line = &mut self.lines[place_of(feed)][side as usize];
                line.set_faults(faults);
                line.set_cut(is_cut);
            }
        }
    }

    fn count_trouble(&mut self, trouble: &Trouble) {
        let census = &mut self.judge.census;
        let loses = trouble.faults.map(|fault| matches!(fault, Fault::Loss(_) | Fault::Cut));
        match loses {
            [true, false] => census.count("periods of loss on A only"),
            [false, true] => census.count("periods of loss on B only"),
            [true, true] => census.count("periods of loss on both lines"),
            [false, false] => {}
        }
        match trouble.faults.map(|fault| fault == Fault::Cut) {
            [true, true] => census.count("periods of silence on both lines"),
            [false, false] => {}
            _ => census.count("periods of silence on one line"),
        }
        for fault in trouble.faults {
            match fault {
                Fault::Duplicates => census.count("periods of duplicates"),
                Fault::Reordering => census.count("periods of reordering"),
                Fault::Late => census.count("periods of packets later than the reorder wait"),
                _ => {}
            }
        }
    }

    /// Passes received packets to the channel.
    fn receive(&mut self, now: Now, stage: &Stage) {
        let Self { channel: Some(channel), judge, lines, .. } = self else { return };
        for (feed, place) in FEEDS.map(|(feed, _)| (feed, place_of(feed))) {
            for side in FeedLine::ALL {
                let input = Input { feed, line: side, received: None };
                lines[place][side as usize].receive(now.monotonic, |_, bytes| {
                    let before = left_out(channel);
                    let hearing = &mut Hearing { judge, truth: &stage.truth, now };
                    channel.handle_packet(now, input, bytes, hearing);
                    if feed == Feed::Incremental
                        && left_out(channel) == before
                        && let Ok((header, _)) = PacketHeader::decode(bytes)
                    {
                        judge.note_handed(&stage.truth, header.sequence, header.sending_time);
                    }
                });
            }
        }
    }

    /// Performs the channel's actions.
    fn act(&mut self, now: Now, stage: &mut Stage) {
        let Some(channel) = &mut self.channel else { return };
        while let Some(action) = channel.poll_action() {
            match action {
                Action::Join(feed) => self.joined[place_of(feed)] = true,
                Action::Leave(feed) => {
                    self.joined[place_of(feed)] = false;
                    self.lines[place_of(feed)].iter_mut().for_each(Link::clear);
                }
                Action::Replay { first, last } => {
                    let call = ReplayCall::new(now.monotonic, &mut self.random, (first, last));
                    let before = self.call.replace(call);
                    before.into_iter().for_each(|mut call| call.close(&mut stage.replay));
                }
                Action::EndReplay => {
                    let before = self.call.take();
                    before.into_iter().for_each(|mut call| call.close(&mut stage.replay));
                }
                _ => unreachable!("{action:?}"),
            }
        }
    }

    fn run_call(&mut self, now: Now, stage: &mut Stage) {
        let Self { channel: Some(channel), judge, call: Some(call), .. } = self else { return };
        let input = Input { feed: Feed::Replay, line: FeedLine::A, received: None };
        let (truth, server) = (&stage.truth, &mut stage.replay);
        let outcome = call.run(now, server, |packet| {
            channel.handle_packet(now, input, packet, &mut Hearing { judge, truth, now });
        });
        if let Some(outcome) = outcome {
            call.close(server);
            self.call = None;
            trace!(now, "{}: the replay ends: {outcome:?}", self.name);
            channel.handle_replay_end(now, outcome, &mut Hearing { judge, truth, now });
        }
    }

    /// Adds up the time without faults.
    fn account(&mut self, now: Instant, stage: &Stage) {
        let since = self.accounted.max(self.good_from);
        self.accounted = now;
        if self.replacements != stage.replacements && self.channel.is_some() {
            // Until now, the books were those of the previous exchange.
            self.replacements = stage.replacements;
            self.good_from = now + self.recovery;
        }
        let is_good = self.trouble.is_none() && self.channel.is_some();
        self.judge.is_calm = is_good && now >= self.good_from;
        let span = now.saturating_since(since).as_nanos();
        if !is_good || span == 0 {
            return;
        }
        let keeps_orders = self.settings.order_books != hairpin_mdp3::OrderBooks::None;
        for (security_id, is_active) in stage.listed() {
            if !is_active || !(self.wanted.is_empty() || self.wanted.contains(&security_id)) {
                continue;
            }
            let in_sync = self.judge.in_sync(security_id);
            for (kind, sum) in self.sums.iter_mut().enumerate() {
                if kind == 0 || keeps_orders {
                    sum.good += span;
                    sum.in_sync += if in_sync[kind] { span } else { 0 };
                }
            }
        }
    }

    /// Checks at the end of the run that all books are synchronized and correct.
    pub(crate) fn finish(&mut self, now: Now, stage: &Stage) -> Census {
        self.account(now.monotonic, stage);
        if let Some(channel) = self.channel.take() {
            if self.way.recovers() {
                assert_eq!(channel.state(), ChannelState::InSync, "{} at the end", self.name);
                self.judge_time();
                self.judge_end(stage);
            }
            let instruments = channel.instruments();
            for instrument in instruments.iter() {
                let stamp = stage.last();
                let truth = &stage.truth;
                self.judge.judge_books(now, truth, instruments, instrument, stamp, true);
            }
            count_counters(&channel, &mut self.judge.census);
        }
        let mut census = std::mem::take(&mut self.judge.census);
        self.lines.iter().flatten().for_each(|line| line.report(&mut census));
        census.count(self.way.class());
        census
    }

    /// Checks that books were synchronized for nine tenths of the time without faults.
    fn judge_time(&mut self) {
        for (sum, what) in self.sums.iter().zip(["books", "order books"]) {
            let Sum { good, in_sync } = *sum;
            assert!(
                in_sync >= good / 10 * 9,
                "{}: {what} were synchronized for {in_sync} ns of {good} ns without a fault",
                self.name
            );
        }
        let class = ["ms synchronized without faults", "ms without faults"];
        let [Sum { good, in_sync }, _] = self.sums;
        self.judge.census.add(class[0], in_sync / 1_000_000);
        self.judge.census.add(class[1], good / 1_000_000);
    }

    fn judge_end(&self, stage: &Stage) {
        for (security_id, is_active) in stage.listed() {
            let is_wanted = self.wanted.is_empty() || self.wanted.contains(&security_id);
            if is_active && is_wanted {
                let [prices, orders] = self.judge.in_sync(security_id);
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
fn left_out(channel: &Channel) -> u64 {
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
