//! The plan of a run, drawn from its seed: the group and its order flow, the receivers, and the
//! faults of each receiver.

use hairpin_exchange::{
    BROKERTEC_INTERVAL, EBS_INTERVAL, FullOrders, Group, OrderPath, PublisherSettings,
};
use hairpin_mdp3::{FeedLines, Feeds, Filter, LateJoin, OrderBooks, Replay, Settings};
use hairpin_netsim::{Chance, Delay, Faults, Random};
use hairpin_time::{Duration, Instant};

/// The kinds of instrument group, which rotate with the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupKind {
    Levels,
    WithoutRptSeq,
    Premium,
    PremiumSeparateOrders,
    BrokerTec,
    Ebs,
    Segments,
    TopsWithoutRptSeq,
}

impl GroupKind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Premium,
        Self::BrokerTec,
        Self::Levels,
        Self::Ebs,
        Self::WithoutRptSeq,
        Self::PremiumSeparateOrders,
        Self::Segments,
        Self::TopsWithoutRptSeq,
    ];

    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Levels => "group: every event, price levels",
            Self::WithoutRptSeq => "group: every event, no RptSeq",
            Self::Premium => "group: premium, orders with levels",
            Self::PremiumSeparateOrders => "group: premium, separate orders in small chunks",
            Self::BrokerTec => "group: conflated 50 ms with top orders",
            Self::Ebs => "group: conflated 5 ms with long quantities",
            Self::Segments => "group: conflated, segments of 5 and 50 ms",
            Self::TopsWithoutRptSeq => "group: conflated 5 ms with top orders, no RptSeq",
        }
    }

    /// Returns `true` if RptSeq is 0 in every entry.
    pub(crate) const fn lacks_rpt_seq(self) -> bool {
        matches!(self, Self::WithoutRptSeq | Self::TopsWithoutRptSeq)
    }

    pub(crate) fn publisher(self) -> PublisherSettings {
        let conflated = |intervals, top_orders| PublisherSettings {
            group: Group::Conflated { intervals, top_orders },
            ..PublisherSettings::brokertec()
        };
        match self {
            Self::Levels | Self::WithoutRptSeq => PublisherSettings::default(),
            Self::Premium => PublisherSettings::premium(),
            Self::PremiumSeparateOrders => {
                let orders = Some(FullOrders { path: OrderPath::Separate, chunk: 9 });
                PublisherSettings {
                    group: Group::Premium { orders },
                    ..PublisherSettings::premium()
                }
            }
            Self::BrokerTec => PublisherSettings::brokertec(),
            Self::Ebs => PublisherSettings::ebs(),
            Self::Segments => conflated(&[EBS_INTERVAL, BROKERTEC_INTERVAL], true),
            Self::TopsWithoutRptSeq => conflated(&[EBS_INTERVAL], true),
        }
    }

    /// Returns the order books that a receiver of this group can maintain.
    pub(crate) const fn orders(self) -> OrderBooks {
        match self {
            Self::Levels | Self::WithoutRptSeq | Self::Ebs => OrderBooks::None,
            Self::Premium | Self::PremiumSeparateOrders => OrderBooks::Full,
            Self::BrokerTec | Self::Segments | Self::TopsWithoutRptSeq => OrderBooks::Top,
        }
    }

    const fn is_premium(self) -> bool {
        matches!(
            self,
            Self::Levels | Self::WithoutRptSeq | Self::Premium | Self::PremiumSeparateOrders
        )
    }
}

/// The way in which a receiver gets its books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiverKind {
    Usual,
    Cached,
    BooksOnly,
    OnlyA,
    OnlyB,
    NoInstrumentFeed,
    NoSnapshotFeed,
    LoopsOnOneLine,
    TcpReplay,
    NaturalRefresh,
    Filtered,
    ShortQueue,
    NarrowWindow,
}

impl ReceiverKind {
    pub(crate) const ALL: [Self; 13] = [
        Self::Usual,
        Self::Cached,
        Self::BooksOnly,
        Self::OnlyA,
        Self::OnlyB,
        Self::NoInstrumentFeed,
        Self::NoSnapshotFeed,
        Self::LoopsOnOneLine,
        Self::TcpReplay,
        Self::NaturalRefresh,
        Self::Filtered,
        Self::ShortQueue,
        Self::NarrowWindow,
    ];

    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Usual => "receiver: definitions, then books",
            Self::Cached => "receiver: instruments from a cache",
            Self::BooksOnly => "receiver: books only",
            Self::OnlyA => "receiver: line A only",
            Self::OnlyB => "receiver: line B only",
            Self::NoInstrumentFeed => "receiver: no instrument feed",
            Self::NoSnapshotFeed => "receiver: no snapshot feed",
            Self::LoopsOnOneLine => "receiver: each loop on one line",
            Self::TcpReplay => "receiver: TCP replay",
            Self::NaturalRefresh => "receiver: natural refresh",
            Self::Filtered => "receiver: some instruments",
            Self::ShortQueue => "receiver: short queues",
            Self::NarrowWindow => "receiver: narrow reorder window",
        }
    }

    /// Returns `true` if the books must be synchronized a fixed time after the last fault.
    pub(crate) const fn recovers(self) -> bool {
        !matches!(self, Self::NoSnapshotFeed | Self::ShortQueue)
    }

    fn settings(self, kind: GroupKind, random: &mut Random) -> Settings {
        let on = |feed_lines| Feeds {
            incremental: feed_lines,
            instrument: feed_lines,
            snapshot: feed_lines,
            snapshot_orders: feed_lines,
        };
        let usual = Settings {
            max_instruments: 16,
            reorder_packets: 256,
            reorder_wait: REORDER_WAIT,
            queue_bytes: 1 << 18,
            max_loop_packets: 1_024,
            max_related: 64,
            max_packet: 1_500,
            max_orders: 4_096,
            silence: *random.pick(&[Duration::ZERO, Duration::from_millis(150)]),
            order_books: if random.below(5) == 0 { OrderBooks::None } else { kind.orders() },
            ..Settings::default()
        };
        let feeds = match self {
            Self::OnlyA => on(FeedLines::A),
            Self::OnlyB => on(FeedLines::B),
            Self::NoInstrumentFeed => Feeds { instrument: FeedLines::None, ..Feeds::ALL },
            Self::NoSnapshotFeed => {
                Feeds { snapshot: FeedLines::None, snapshot_orders: FeedLines::None, ..Feeds::ALL }
            }
            Self::LoopsOnOneLine => Feeds {
                instrument: FeedLines::B,
                snapshot: FeedLines::A,
                snapshot_orders: FeedLines::B,
                ..Feeds::ALL
            },
            _ => Feeds::ALL,
        };
        let has_replay =
            kind.is_premium() && matches!(self, Self::TcpReplay | Self::NoSnapshotFeed);
        let late_join = match self {
            Self::BooksOnly => LateJoin::Books,
            _ => LateJoin::InstrumentsAndBooks,
        };
        let (reorder_packets, queue_bytes) = match self {
            Self::NarrowWindow => (*random.pick(&[0, 2, 5]), usual.queue_bytes),
            Self::ShortQueue => (usual.reorder_packets, 56 * 24),
            _ => (usual.reorder_packets, usual.queue_bytes),
        };
        Settings {
            feeds,
            late_join,
            reorder_packets,
            queue_bytes,
            replay: has_replay.then_some(REPLAY),
            natural_refresh: self == Self::NaturalRefresh,
            ..usual
        }
    }
}

/// The time after which a missing packet is a gap.
pub(crate) const REORDER_WAIT: Duration = Duration::from_millis(10);
const REPLAY: Replay = Replay {
    max_packets: 100,
    attempts: 2,
    timeout: Duration::from_millis(20),
    pause: Duration::ZERO,
    max_held: 256,
};
/// The delay of [`Fault::Late`], which exceeds the channel's reorder wait.
const LATE: Duration = Duration::from_millis(25);

/// The fault of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Nothing,
    /// The loss rate in percent.
    Loss(u32),
    Duplicates,
    Reordering,
    Late,
    Cut,
}

impl Fault {
    const ALL: [Self; 8] = [
        Self::Nothing,
        Self::Loss(3),
        Self::Loss(15),
        Self::Loss(50),
        Self::Duplicates,
        Self::Reordering,
        Self::Late,
        Self::Cut,
    ];

    /// Returns the network faults of a line with a normal delay of `distance`, and `true` if the
    /// line is cut.
    pub(crate) fn line(self, distance: Duration) -> (Faults, bool) {
        let delay = Delay { min: distance, jitter: Duration::from_micros(20), ..Faults::LAN.delay };
        let mut line = Faults { delay, ..Faults::LAN };
        match self {
            Self::Nothing | Self::Cut => {}
            Self::Loss(percent) => line.loss = Chance::percent(percent),
            Self::Duplicates => line.duplication = Chance::percent(40),
            Self::Reordering => {
                line.reorders = true;
                line.delay.jitter = Duration::from_millis(4);
            }
            Self::Late => {
                line.reorders = true;
                (line.delay.long_chance, line.delay.long) = (Chance::percent(8), LATE);
            }
        }
        (line, self == Self::Cut)
    }
}

/// A time during which the lines of a receiver have faults.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FaultPeriod {
    pub(crate) begins: Instant,
    pub(crate) ends: Instant,
    /// The faults of lines A and B.
    pub(crate) faults: [Fault; 2],
    /// The faults also affect the loops, not only the incremental feed.
    pub(crate) reaches_loops: bool,
}

/// The plan of one receiver.
#[derive(Debug)]
pub(crate) struct ReceiverPlan {
    pub(crate) receiver_kind: ReceiverKind,
    pub(crate) settings: Settings,
    pub(crate) filter: Filter,
    pub(crate) joins: Instant,
    /// The delay of the incremental feed and of the loops, by line.
    pub(crate) distances: [[Duration; 2]; 2],
    pub(crate) fault_periods: Vec<FaultPeriod>,
    /// The maximum time to synchronize after the last fault.
    pub(crate) recovery: Duration,
    pub(crate) random: Random,
}

/// A period with a constant rate of steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RatePeriod {
    pub(crate) ends: Instant,
    /// The average time between two steps.
    pub(crate) interval: Duration,
}

/// An event that affects the whole channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelEvent {
    Reset,
    ResetAndRestart,
    /// Another exchange takes over without a notification.
    Replacement,
}

/// The plan of one run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) kind: GroupKind,
    pub(crate) instruments: u32,
    pub(crate) unlisted: u32,
    pub(crate) loop_period: Duration,
    pub(crate) heartbeat: Duration,
    /// The time between two packets that are ready at the same time.
    pub(crate) spacing: Duration,
    pub(crate) rate_periods: Vec<RatePeriod>,
    pub(crate) channel_events: Vec<(Instant, ChannelEvent)>,
    pub(crate) receiver_plans: Vec<ReceiverPlan>,
    pub(crate) ends: Instant,
    pub(crate) random: Random,
}

/// The number of receivers per run.
const RECEIVERS: u64 = 4;

impl Plan {
    /// Draws the plan of `seed`, which begins at `start`. Group and receiver kinds rotate with the
    /// seed.
    pub(crate) fn new(seed: u64, start: Instant) -> Self {
        let mut random = Random::new(seed);
        let kind = GroupKind::ALL[(seed % GroupKind::ALL.len() as u64) as usize];
        let instruments = 3 + random.below(6) as u32;
        let millis = |random: &mut Random, least, most| {
            random.span(Duration::from_millis(least), Duration::from_millis(most))
        };
        let length = millis(&mut random, 900, 1_500);
        let mut plan = Self {
            kind,
            instruments,
            unlisted: random.below(3) as u32,
            loop_period: Duration::from_millis(*random.pick(&[10, 20])),
            heartbeat: Duration::from_millis(*random.pick(&[10, 30])),
            spacing: Duration::from_micros(*random.pick(&[0, 1, 5])),
            rate_periods: Vec::new(),
            channel_events: Vec::new(),
            receiver_plans: Vec::new(),
            ends: start + length,
            random: random.split(),
        };
        plan.draw_rate_periods(&mut random, start);
        plan.draw_channel_events(&mut random, start, length);
        for number in 0..RECEIVERS {
            let receiver_kind = ReceiverKind::ALL
                [((seed * RECEIVERS + number) % ReceiverKind::ALL.len() as u64) as usize];
            // The first receiver joins before the first packet.
            let late = if number == 0 { Duration::ZERO } else { length / 2 };
            let joins = plan.avoid_restart(start + random.span(Duration::ZERO, late));
            let receiver_plan = plan.receiver_plan(receiver_kind, joins, random.split());
            plan.receiver_plans.push(receiver_plan);
        }
        plan
    }

    fn draw_rate_periods(&mut self, random: &mut Random, start: Instant) {
        let mut ends = start;
        while ends < self.ends {
            ends += random.span(Duration::from_millis(30), Duration::from_millis(300));
            ends = ends.min(self.ends);
            let micros = *random.pick(&[300, 1_000, 3_000, 20_000, 60_000]);
            self.rate_periods.push(RatePeriod { ends, interval: Duration::from_micros(micros) });
        }
    }

    fn draw_channel_events(&mut self, random: &mut Random, start: Instant, length: Duration) {
        // With two restarts less than a second apart and one line behind, a channel cannot tell
        // which numbering a line has reached. Numbering therefore restarts once per run.
        let mut restart =
            Some(*random.pick(&[ChannelEvent::ResetAndRestart, ChannelEvent::Replacement]));
        for _ in 0..random.below(4) {
            let is_restart = random.below(2) == 0;
            let channel_event = restart.take_if(|_| is_restart).unwrap_or(ChannelEvent::Reset);
            let at =
                start + Duration::from_millis(20) + random.span(Duration::ZERO, length * 2 / 3);
            self.channel_events.push((at, channel_event));
        }
        self.channel_events.sort_by_key(|(at, _)| *at);
    }

    /// Returns a join time that avoids a restart of the numbering.
    ///
    /// A receiver that joins directly before a restart may receive new numbers first and old
    /// numbers with the same SendingTime later, which cannot be distinguished.
    fn avoid_restart(&self, at: Instant) -> Instant {
        let span = Duration::from_millis(50);
        let is_near = |restart: Instant| at <= restart && restart <= at + span;
        let mut restarts = self.channel_events.iter().filter(|(_, u)| *u != ChannelEvent::Reset);
        let near = restarts.find(|(restart, _)| is_near(*restart));
        near.map_or(at, |(restart, _)| *restart + span)
    }

    fn receiver_plan(
        &self,
        receiver_kind: ReceiverKind,
        joins: Instant,
        mut random: Random,
    ) -> ReceiverPlan {
        let settings = receiver_kind.settings(self.kind, &mut random);
        let distance = |random: &mut Random, most: &[u64]| {
            let most = *random.pick(most);
            Duration::from_micros(30 + random.below(1 + most))
        };
        // In some runs a loop is ahead of the incremental feed, or line B is far behind line A.
        // Line A must then have no faults during a restart: a snapshot with a distant number looks
        // like any other.
        let is_far = !matches!(receiver_kind, ReceiverKind::OnlyB | ReceiverKind::OnlyA)
            && random.below(3) == 0;
        let a = distance(&mut random, &[50, 50, 7_000]);
        let b = distance(&mut random, if is_far { &[200_000] } else { &[50, 50, 7_000] });
        let near = [a, b];
        let loops = [distance(&mut random, &[50, 6_000]), distance(&mut random, &[50, 6_000])];
        let farthest = near.into_iter().chain(loops).max().unwrap_or_default();
        let replay = settings.replay.map_or(Duration::ZERO, |replay| replay.timeout * 2);
        // The next heartbeat reveals a gap. Recovery then needs at most two passes each of
        // definitions and books, and one pass that a channel event or a changed definition has cut
        // short.
        let recovery = self.heartbeat
            + REORDER_WAIT
            + replay
            + LATE
            + self.loop_period * 5
            + farthest * 2
            + Duration::from_millis(10);
        let mut fault_periods = self.fault_periods(&mut random, joins, recovery);
        if is_far
            && self
                .channel_events
                .iter()
                .any(|(_, channel_event)| *channel_event != ChannelEvent::Reset)
        {
            let is_good = |fault| matches!(fault, Fault::Duplicates | Fault::Reordering);
            let bad =
                fault_periods.iter_mut().filter(|fault_period| !is_good(fault_period.faults[0]));
            bad.for_each(|fault_period| fault_period.faults[0] = Fault::Nothing);
        }
        let wanted = match receiver_kind {
            ReceiverKind::Filtered => 1 + random.below(2) as i32,
            _ => 0,
        };
        let filter = (0..wanted)
            .fold(Filter::default(), |filter, number| filter.with_security_id(1_001 + number));
        let distances = [near, loops];
        ReceiverPlan {
            receiver_kind,
            settings,
            filter,
            joins,
            distances,
            fault_periods,
            recovery,
            random,
        }
    }

    fn fault_periods(
        &self,
        random: &mut Random,
        joins: Instant,
        recovery: Duration,
    ) -> Vec<FaultPeriod> {
        let mut fault_periods = Vec::new();
        let mut at = joins;
        let is_troubled_from_the_start = random.below(4) == 0;
        loop {
            if !(fault_periods.is_empty() && is_troubled_from_the_start) {
                at += random.span(Duration::from_millis(10), recovery * 2);
            }
            let ends = at + random.span(Duration::from_millis(3), Duration::from_millis(200));
            if ends + recovery + Duration::from_millis(50) > self.ends {
                return fault_periods;
            }
            let faults = [*random.pick(&Fault::ALL), *random.pick(&Fault::ALL)];
            let reaches_loops = random.below(3) > 0;
            fault_periods.push(FaultPeriod { begins: at, ends, faults, reaches_loops });
            at = ends;
        }
    }
}
