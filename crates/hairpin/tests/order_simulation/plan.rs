//! The plan of a run, drawn from its seed.

use hairpin_exchange::GatewayFaults;
use hairpin_netsim::{Chance, Delay, Random, StreamFaults};
use hairpin_order_entry::NotAppliedAnswer;
use hairpin_time::Duration;

use crate::trader::TraderPolicy;

/// The owner of the session, which keeps it connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionOwner {
    /// A `ReconnectingSession` with its connector, which resumes whenever possible.
    Reconnecting,
    /// The trader, which sometimes negotiates a new session without need.
    Trader,
}

/// The response to messages that were not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAppliedPolicy {
    Fill,
    Replay,
    /// A random choice between the two for each NotApplied.
    Mixed,
}

/// The permanent fault of the gateway, with a random rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GatewayFault {
    None,
    Drops,
    Doubles,
    Skips,
    Delays,
    Splits,
    Coalesces,
    Silences,
    Cuts,
    Refuses,
    /// All faults except doubled messages, which end the session.
    All,
}

/// A fault that happens once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection ends after this number of further bytes from the trader, or to it.
    CutUp(usize),
    CutDown(usize),
    Reset,
    /// Bytes from the trader, or to it, are delayed by this duration.
    StallUp(Duration),
    StallDown(Duration),
    /// The trader's process crashes after this number of steps.
    Kill(u64),
    /// The process crashes after this number of steps of a class.
    KillAt(&'static str, u64),
    /// The process crashes after this number of steps, and the machine loses power.
    PowerCut(u64),
    ExchangeTerminates,
    TraderTerminates,
    /// Connections are refused for this duration.
    Refusals(Duration),
    /// The connection transfers a few bytes at a time.
    Trickle,
    /// The trading day ends, which expires day orders.
    DayEnds,
    /// The trader's clock steps back.
    ClockBack(Duration),
    /// The primary fails.
    Failover(Failover),
    /// The connection to the backup is reset.
    LoseBackup,
}

/// A failure of the primary, after which the backup takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failover {
    /// The primary's connections hang instead of closing.
    pub(crate) hangs: bool,
    /// The time after which the failed gateway accepts connections again, as the backup.
    pub(crate) back_after: Duration,
    /// The number of market steps at the time of the failure.
    pub(crate) ticks: u64,
    /// The crash of the trader's process: after a number of steps, or as soon as the session is
    /// active again. `true` if the machine loses power too.
    pub(crate) crashes: Option<(Option<u64>, bool)>,
    /// The trader stops sending, so that the next logon settles messages of unknown state.
    pub(crate) falls_silent: bool,
}

impl Failover {
    fn draw(random: &mut Random) -> Self {
        Self {
            hangs: random.below(3) == 0,
            back_after: random.span(Duration::from_millis(1), LENGTH),
            ticks: random.below(6),
            crashes: (random.below(2) == 0).then(|| {
                let steps = (random.below(3) > 0).then(|| random.below(40));
                (steps, random.below(2) == 0)
            }),
            falls_silent: random.below(4) == 0,
        }
    }
}

/// The classes of crash points that are drawn more often.
const CRITICAL_STEPS: &[&str] = &[
    "killed between commit and write",
    "killed after a write",
    "killed between recording and callback",
    "killed in a callback",
    "killed between callback and mark",
    "killed after a mark",
];

impl Fault {
    fn draw(random: &mut Random, has_backup: bool) -> Self {
        if has_backup && random.below(3) == 0 {
            return match random.below(4) {
                0 => Self::LoseBackup,
                _ => Self::Failover(Failover::draw(random)),
            };
        }
        let bytes = |random: &mut Random| random.below(1_500) as usize;
        let span = |random: &mut Random, least, most| {
            random.span(Duration::from_millis(least), Duration::from_millis(most))
        };
        match random.below(22) {
            0..3 => Self::CutUp(1 + bytes(random)),
            3..6 => Self::CutDown(bytes(random)),
            6 => Self::Reset,
            7 => Self::StallUp(span(random, 1, 30)),
            8 => Self::StallDown(span(random, 1, 30)),
            9 if random.below(2) == 0 => Self::StallUp(span(random, 4_000, 14_000)),
            9 => Self::StallDown(span(random, 4_000, 14_000)),
            10..13 => Self::Kill(random.below(160)),
            13..15 => Self::KillAt(CRITICAL_STEPS[random.below(6) as usize], random.below(8)),
            15..17 => Self::PowerCut(random.below(160)),
            17 => Self::ExchangeTerminates,
            18 => Self::TraderTerminates,
            19 => Self::Refusals(span(random, 1, 20)),
            20 => Self::Trickle,
            _ if random.below(3) == 0 => Self::DayEnds,
            _ => Self::ClockBack(span(random, 1, 1_500)),
        }
    }
}

/// The start of a phase, before its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prelude {
    None,
    /// A new week, with trades before the first logon of the week.
    Week,
    /// Thousands of trades while the trader is disconnected.
    Flood,
}

/// A period with faults, after which all faults end.
#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) prelude: Prelude,
    pub(crate) length: Duration,
    /// The faults, each with its start relative to the phase.
    pub(crate) faults: Vec<(Duration, Fault)>,
}

/// The plan of one run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) random: Random,
    pub(crate) session_owner: SessionOwner,
    /// The session is also connected to the backup.
    pub(crate) has_backup: bool,
    pub(crate) not_applied_policy: NotAppliedPolicy,
    pub(crate) gateway_fault: GatewayFault,
    pub(crate) faults: Option<GatewayFaults>,
    /// The session waits until each of our records is on disk. Otherwise, the disk is synced at
    /// random.
    pub(crate) waits: bool,
    pub(crate) cancels_on_disconnect: bool,
    /// The number of bytes for messages held until earlier ones arrive.
    pub(crate) held_bytes: usize,
    /// The maximum number of messages queued for the connection.
    pub(crate) waiting_max: usize,
    /// Retransmissions are delayed for so long that the session requests them again.
    pub(crate) delays_retransmissions: bool,
    pub(crate) phases: Vec<Phase>,
}

/// The maximum length of a phase.
const LENGTH: Duration = Duration::from_millis(60);

impl Plan {
    /// Draws the plan of `seed`. The gateway's fault and the trader's policy rotate with the seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let gateway_fault = GatewayFault::from_seed(seed);
        let session_owner =
            if seed.is_multiple_of(2) { SessionOwner::Reconnecting } else { SessionOwner::Trader };
        let has_backup = session_owner == SessionOwner::Reconnecting && random.below(3) > 0;
        let policy = (seed % 25 == 7, has_backup);
        let phases = 3 + random.below(4);
        let phases = (0..phases).map(|number| Phase::draw(&mut random, number, policy)).collect();
        Self {
            session_owner,
            has_backup,
            not_applied_policy: [
                NotAppliedPolicy::Fill,
                NotAppliedPolicy::Fill,
                NotAppliedPolicy::Replay,
                NotAppliedPolicy::Mixed,
            ][random.below(4) as usize],
            faults: gateway_fault.faults(random.any()),
            gateway_fault,
            waits: random.below(2) == 0,
            cancels_on_disconnect: random.below(2) == 0,
            held_bytes: *random.pick(&[64 << 10, 64 << 10, 2_000]),
            waiting_max: *random.pick(&[4, 64, 64]),
            delays_retransmissions: random.below(2) == 0,
            phases,
            random,
        }
    }

    pub(crate) fn policy(&self) -> TraderPolicy {
        let Self { not_applied_policy, gateway_fault, session_owner, has_backup, .. } = *self;
        TraderPolicy { not_applied_policy, gateway_fault, session_owner, has_backup }
    }

    pub(crate) fn preferred(&self) -> NotAppliedAnswer {
        match self.not_applied_policy {
            NotAppliedPolicy::Fill => NotAppliedAnswer::FillGap,
            NotAppliedPolicy::Replay | NotAppliedPolicy::Mixed => NotAppliedAnswer::Replay,
        }
    }
}

impl Phase {
    fn draw(random: &mut Random, number: u64, (is_flooded, has_backup): (bool, bool)) -> Self {
        let prelude = match random.below(10) {
            _ if is_flooded && number == 1 => Prelude::Flood,
            0 if number > 0 => Prelude::Week,
            _ => Prelude::None,
        };
        let count = random.below(4) + u64::from(has_backup);
        let begins = |random: &mut Random| random.span(Duration::ZERO, LENGTH);
        let faults = (0..count).map(|_| (begins(random), Fault::draw(random, has_backup)));
        let mut faults: Vec<_> = faults.collect();
        faults.sort_by_key(|(at, _)| *at);
        Self { prelude, length: random.span(Duration::from_millis(5), LENGTH), faults }
    }
}

impl GatewayFault {
    fn from_seed(seed: u64) -> Self {
        const ALL: [GatewayFault; 14] = [
            GatewayFault::None,
            GatewayFault::Drops,
            GatewayFault::None,
            GatewayFault::Doubles,
            GatewayFault::Skips,
            GatewayFault::None,
            GatewayFault::Delays,
            GatewayFault::Splits,
            GatewayFault::Coalesces,
            GatewayFault::Silences,
            GatewayFault::None,
            GatewayFault::Cuts,
            GatewayFault::Refuses,
            GatewayFault::All,
        ];
        // The step differs from the step of the trader's policy.
        ALL[(seed / 2 % ALL.len() as u64) as usize]
    }

    fn faults(self, seed: u64) -> Option<GatewayFaults> {
        let none = GatewayFaults { seed, ..GatewayFaults::default() };
        let (delay_max, silence) = (Duration::from_millis(3), Duration::from_secs(12));
        Some(match self {
            Self::None => return None,
            Self::Drops => GatewayFaults { drop_ppm: 40_000, ..none },
            Self::Doubles => GatewayFaults { double_ppm: 8_000, ..none },
            Self::Skips => GatewayFaults { skip_ppm: 20_000, ..none },
            Self::Delays => GatewayFaults { delay_ppm: 200_000, delay_max, ..none },
            Self::Splits => GatewayFaults { split_ppm: 400_000, ..none },
            Self::Coalesces => GatewayFaults { coalesce_ppm: 200_000, ..none },
            Self::Silences => GatewayFaults { silence_ppm: 3_000, silence, ..none },
            Self::Cuts => GatewayFaults { cut_ppm: 10_000, ..none },
            Self::Refuses => GatewayFaults { refuse_ppm: 500_000, ..none },
            Self::All => GatewayFaults {
                drop_ppm: 10_000,
                skip_ppm: 5_000,
                delay_ppm: 50_000,
                delay_max,
                split_ppm: 100_000,
                coalesce_ppm: 50_000,
                silence_ppm: 1_000,
                silence,
                cut_ppm: 3_000,
                refuse_ppm: 200_000,
                ..none
            },
        })
    }

    /// Returns `true` if a message may arrive twice without a loss.
    pub(crate) fn doubles(self) -> bool {
        self == Self::Doubles
    }

    /// Returns `true` if the exchange may skip sequence numbers.
    pub(crate) fn skips(self) -> bool {
        matches!(self, Self::Skips | Self::All)
    }
}

/// Returns the faults of a good connection, or of one that transfers a few bytes at a time.
pub(crate) fn line(is_trickling: bool) -> StreamFaults {
    let good = StreamFaults { window_bytes: 16 << 10, ..StreamFaults::LAN };
    let delay = Delay {
        long_chance: Chance::percent(2),
        long: Duration::from_micros(400),
        ..StreamFaults::LAN.delay
    };
    match is_trickling {
        true => StreamFaults { window_bytes: 400, chunk_max: 9, delay, ..good },
        false => StreamFaults { delay, ..good },
    }
}
