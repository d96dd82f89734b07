//! The plan of a run, drawn from its seed.

use hairpin_netsim::{Chance, Delay, Faults, Random};
use hairpin_rds::Config;
use hairpin_time::Duration;

/// The kind of a run, which follows from the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Quiet,
    Loss,
    HeavyLoss,
    Disorder,
    Partitions,
    Stalls,
    Restarts,
    Unbound,
    Overload,
    LongMessages,
    Cancels,
    Eviction,
    Stale,
    Everything,
    Forgery,
}

impl Kind {
    pub(super) const ALL: [Self; 15] = [
        Self::Quiet,
        Self::Loss,
        Self::HeavyLoss,
        Self::Disorder,
        Self::Partitions,
        Self::Stalls,
        Self::Restarts,
        Self::Unbound,
        Self::Overload,
        Self::LongMessages,
        Self::Cancels,
        Self::Eviction,
        Self::Stale,
        Self::Everything,
        Self::Forgery,
    ];

    /// Returns the kind of a seed.
    fn from_seed(seed: u64) -> Self {
        // A remainder of its own, so that earlier seeds keep their kinds.
        if seed % 16 == 5 { Self::Forgery } else { Self::ALL[(seed % 14) as usize] }
    }

    /// Returns the name of the kind in the census.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Quiet => "runs without faults",
            Self::Loss => "runs with loss",
            Self::HeavyLoss => "runs with heavy loss",
            Self::Disorder => "runs with reordering, duplicates and bit errors",
            Self::Partitions => "runs with partitions",
            Self::Stalls => "runs with stalls",
            Self::Restarts => "runs with restarts",
            Self::Unbound => "runs with unbound ports",
            Self::Overload => "runs with overload",
            Self::LongMessages => "runs with long messages",
            Self::Cancels => "runs with cancels",
            Self::Eviction => "runs with eviction",
            Self::Stale => "runs with stale packets",
            Self::Everything => "runs with all faults",
            Self::Forgery => "runs with forged packets and errors",
        }
    }
}

/// An interval between two random events; `None` for never.
pub(super) type Interval = Option<Duration>;

/// A plan. Intervals are mean values per host.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) kind: Kind,
    pub(super) hosts: usize,
    pub(super) is_v6: bool,
    pub(super) config: Config,
    /// The time between the binds and the first message: more than 10 s for trusted senders.
    pub(super) idle: Duration,
    /// The time with messages and faults.
    pub(super) active: Duration,
    /// The number of periods of this length; 61 s pass between them.
    pub(super) periods: usize,
    pub(super) faults: Faults,
    pub(super) send: Duration,
    pub(super) longest: usize,
    /// `true` if each host has one peer in each period.
    pub(super) in_pairs: bool,
    /// `true` if all hosts send to the first one.
    pub(super) to_one: bool,
    pub(super) cancel: Interval,
    pub(super) restart: Interval,
    pub(super) unbind: Interval,
    pub(super) stall: Interval,
    pub(super) pause: Interval,
    pub(super) cut: Interval,
    /// The interval between two forged packets or ICMP errors to one host.
    pub(super) forge: Interval,
    /// The longest cut, stall, pause and time without a socket.
    pub(super) span: Duration,
    /// `true` if peers can be evicted.
    pub(super) evicts: bool,
    /// `true` if an unbound port is answered with an ICMP error.
    pub(super) icmp: bool,
    pub(super) no_room: Chance,
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

impl Plan {
    pub(super) fn new(seed: u64, random: &mut Random) -> Self {
        let kind = Kind::from_seed(seed);
        let packet_max = *random.pick(&[104, 104, 200, 1_448]);
        let payload = packet_max - 40;
        let longest = *random.pick(&[payload / 2, payload, 3 * payload, 10 * payload]);
        let mut plan = Self {
            kind,
            hosts: 2 + random.below(2) as usize,
            is_v6: random.below(4) == 0,
            config: Config {
                packet_max,
                message_max: longest.max(payload),
                send_buffer: packet_max << random.below(8),
                receive_buffer: packet_max * (16 << random.below(5)),
                peers: 16,
                unconfirmed_peers: 8,
                tracked_messages: 1 << random.below(8),
                unreachable_after: *random.pick(&[None, Some(ms(20)), Some(ms(10_000))]),
                ..Config::new(crc32c::crc32c_append)
            },
            idle: if random.below(2) == 0 { ms(1) } else { ms(11_000) },
            active: ms(20),
            periods: 1,
            faults: Faults::LAN,
            send: Duration::from_micros(20 << random.below(4)),
            longest,
            to_one: false,
            in_pairs: false,
            cancel: None,
            restart: None,
            unbind: None,
            stall: None,
            pause: None,
            cut: None,
            forge: None,
            span: ms(2),
            evicts: false,
            icmp: random.below(2) == 0,
            no_room: Chance::NEVER,
        };
        plan.apply(kind, random);
        plan
    }

    fn apply(&mut self, kind: Kind, random: &mut Random) {
        match kind {
            Kind::Quiet => {}
            Kind::Loss => {
                self.faults.loss = *random.pick(&[1, 3, 10].map(Chance::percent));
                self.no_room = Chance::percent(2);
            }
            Kind::HeavyLoss => self.faults.loss = *random.pick(&[30, 50].map(Chance::percent)),
            Kind::Disorder => self.disorder(random),
            Kind::Partitions => {
                (self.cut, self.span) = (Some(ms(5)), *random.pick(&[ms(3), ms(40), ms(12_000)]));
            }
            Kind::Stalls => {
                (self.stall, self.span) = (Some(ms(8)), *random.pick(&[ms(4), ms(10), ms(40)]));
            }
            Kind::Restarts => {
                self.restart = Some(ms(4));
                self.faults.loss = *random.pick(&[0, 5, 20].map(Chance::percent));
                self.disorder_a_little(random);
            }
            Kind::Unbound => {
                (self.unbind, self.span) = (Some(ms(6)), *random.pick(&[ms(1), ms(5)]));
                self.faults.loss = *random.pick(&[0, 5, 20].map(Chance::percent));
                self.disorder_a_little(random);
            }
            Kind::Overload => self.overload(random),
            Kind::LongMessages => self.long_messages(random),
            Kind::Cancels => {
                self.cancel = Some(ms(1));
                self.faults.loss = *random.pick(&[0, 5, 30].map(Chance::percent));
                self.disorder_a_little(random);
            }
            Kind::Eviction => self.eviction(random),
            Kind::Stale => self.stale(random),
            Kind::Everything => self.everything(random),
            Kind::Forgery => {
                self.forge = Some(Duration::from_micros(*random.pick(&[20, 100, 1_000])));
                self.active = ms(100);
                self.faults.loss = *random.pick(&[0, 5, 20].map(Chance::percent));
                self.disorder_a_little(random);
            }
        }
    }

    fn disorder(&mut self, random: &mut Random) {
        self.faults.duplication = Chance::percent(5);
        self.faults.corruption = Chance::percent(5);
        self.faults.reorders = true;
        self.faults.delay = Delay {
            jitter: Duration::from_micros(*random.pick(&[60, 500, 4_000])),
            long_chance: Chance::percent(2),
            long: *random.pick(&[ms(1), ms(10)]),
            ..Faults::LAN.delay
        };
    }

    fn disorder_a_little(&mut self, random: &mut Random) {
        if random.below(2) == 0 {
            self.disorder(random);
        }
    }

    fn overload(&mut self, random: &mut Random) {
        self.hosts = 4 + random.below(4) as usize;
        self.to_one = true;
        self.send = Duration::from_micros(10);
        self.config.receive_buffer = self.config.packet_max * (2 << random.below(4));
        (self.pause, self.span) = (Some(ms(2)), *random.pick(&[ms(1), ms(8)]));
        self.faults.loss = *random.pick(&[0, 1, 10].map(Chance::percent));
    }

    fn long_messages(&mut self, random: &mut Random) {
        let payload = self.config.packet_max - 40;
        self.longest = *random.pick(&[70, 100, 200]) * payload;
        self.config.message_max = self.longest;
        self.config.receive_buffer = self.config.packet_max * (8 << random.below(5));
        self.hosts = 2 + random.below(4) as usize;
        self.to_one = random.below(2) == 0;
        self.send = Duration::from_micros(200);
        self.faults.loss = *random.pick(&[0, 1, 10, 30].map(Chance::percent));
        self.disorder_a_little(random);
    }

    fn eviction(&mut self, random: &mut Random) {
        self.evicts = true;
        self.idle = ms(11_000);
        self.hosts = 4;
        self.in_pairs = random.below(2) == 0;
        match self.in_pairs {
            true => (self.config.peers, self.periods) = (1, 2 + random.below(2) as usize),
            false => self.config.unconfirmed_peers = 1 + random.below(2) as usize,
        }
        self.to_one = random.below(2) == 0;
        self.send = Duration::from_micros(300);
        (self.cut, self.span) = (Some(ms(2)), ms(5));
        self.disorder_a_little(random);
    }

    fn stale(&mut self, random: &mut Random) {
        self.faults.reorders = true;
        self.faults.duplication = Chance::percent(10);
        self.faults.delay.long_chance = Chance::percent(1);
        self.faults.delay.long = ms(10_500);
        self.periods = 1 + random.below(2) as usize;
        self.active = ms(12_000);
        self.send = ms(20);
        self.config.unreachable_after = None;
    }

    fn everything(&mut self, random: &mut Random) {
        self.hosts = 2 + random.below(4) as usize;
        self.disorder(random);
        self.faults.loss = *random.pick(&[1, 5, 20, 50].map(Chance::percent));
        self.active = ms(40);
        let mut maybe = |mean| (random.below(2) == 0).then_some(mean);
        self.cancel = maybe(ms(5));
        self.restart = maybe(ms(15));
        self.unbind = maybe(ms(15));
        self.stall = maybe(ms(15));
        self.pause = maybe(ms(15));
        self.cut = maybe(ms(10));
        self.span = ms(6);
        self.no_room = Chance::percent(1);
    }
}
