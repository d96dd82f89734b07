//! The plan of a run, drawn from its seed: the market, and the fault scenario of each trader.

use hairpin_netsim::{Chance, Delay, FaultSchedule, Faults, Random, Rate, StreamFaults};
use hairpin_time::{Duration, Instant};

/// The number of traders.
pub(crate) const TRADERS: usize = 3;

/// A fault that lasts for a time or happens once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Some datagrams of these lines are lost.
    Loss(Lines),
    /// All datagrams of these lines are lost.
    Cut(Lines),
    /// Some datagrams of these lines arrive twice.
    Duplicates(Lines),
    /// Datagrams are reordered within the channel's reorder wait.
    Reordering,
    /// Some datagrams of these lines arrive after the channel's reorder wait.
    Late(Lines),
    /// A low rate and short queues on these lines.
    Narrow(Lines),
    /// Bits of datagrams are flipped.
    Corruption,
    /// Bits of the order stream are flipped.
    CorruptOrders,
    /// Bytes from the trader to the gateway are delayed for a time.
    StallUp,
    /// Bytes from the gateway to the trader are delayed for a time.
    StallDown,
    /// The connection has small windows and smaller chunks.
    Trickle,
    /// New connections are refused.
    Refusal,
    /// The connection is reset.
    Reset,
    /// The exchange terminates the session.
    Terminate,
    /// A report of the exchange is never sent.
    DropReport,
    /// The trader's process crashes and restarts when the fault ends.
    Death,
}

/// The market-data lines that a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    A,
    B,
    Both,
}

impl Lines {
    /// Returns `true` if line 0 (A) or 1 (B) is included.
    pub(crate) fn has(self, feed_line: usize) -> bool {
        match self {
            Self::A => feed_line == 0,
            Self::B => feed_line == 1,
            Self::Both => true,
        }
    }
}

/// The fault scenario of a trader during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    Calm,
    LossOnOneSide,
    LossOnBothSides,
    OneSideCut,
    BothSidesCut,
    Duplicates,
    Reordering,
    LateOnOneSide,
    LateOnBothSides,
    NarrowOnOneSide,
    NarrowOnBothSides,
    LateJoin,
    Death,
    Reset,
    ExchangeTerminates,
    ReportsSwallowed,
    SlowOrders,
    Silence,
    Everything,
    CorruptData,
    CorruptOrders,
}

use Fault::*;
use Lines::{A, B, Both};

impl Scenario {
    pub(crate) const ALL: [Self; 21] = [
        Self::Calm,
        Self::LossOnOneSide,
        Self::LossOnBothSides,
        Self::OneSideCut,
        Self::BothSidesCut,
        Self::Duplicates,
        Self::Reordering,
        Self::LateOnOneSide,
        Self::LateOnBothSides,
        Self::NarrowOnOneSide,
        Self::NarrowOnBothSides,
        Self::LateJoin,
        Self::Death,
        Self::Reset,
        Self::ExchangeTerminates,
        Self::ReportsSwallowed,
        Self::SlowOrders,
        Self::Silence,
        Self::Everything,
        Self::CorruptData,
        Self::CorruptOrders,
    ];

    /// Returns the scenario's class in the census.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Calm => "scenario: no faults",
            Self::LossOnOneSide => "scenario: loss on one line",
            Self::LossOnBothSides => "scenario: loss on both lines",
            Self::OneSideCut => "scenario: one line cut",
            Self::BothSidesCut => "scenario: both lines cut",
            Self::Duplicates => "scenario: duplicates",
            Self::Reordering => "scenario: reordering",
            Self::LateOnOneSide => "scenario: late packets on one line",
            Self::LateOnBothSides => "scenario: late packets on both lines",
            Self::NarrowOnOneSide => "scenario: full queues on one line",
            Self::NarrowOnBothSides => "scenario: full queues on both lines",
            Self::LateJoin => "scenario: late join",
            Self::Death => "scenario: killed and restarted",
            Self::Reset => "scenario: connection reset",
            Self::ExchangeTerminates => "scenario: exchange terminates",
            Self::ReportsSwallowed => "scenario: reports dropped",
            Self::SlowOrders => "scenario: slow and refused connections",
            Self::Silence => "scenario: silence longer than the keep-alive interval",
            Self::Everything => "scenario: all faults at once",
            Self::CorruptData => "scenario: corrupt datagrams",
            Self::CorruptOrders => "scenario: corrupt order stream",
        }
    }

    /// Returns the faults of the scenario.
    const fn faults(self) -> &'static [Fault] {
        match self {
            Self::Calm | Self::LateJoin | Self::Silence => &[],
            Self::LossOnOneSide => &[Loss(A), Loss(B)],
            Self::LossOnBothSides => &[Loss(Both)],
            Self::OneSideCut => &[Cut(A), Cut(B)],
            Self::BothSidesCut => &[Cut(Both), Cut(A)],
            Self::Duplicates => &[Duplicates(A), Duplicates(Both)],
            Self::Reordering => &[Reordering],
            Self::LateOnOneSide => &[Late(A), Late(B)],
            Self::LateOnBothSides => &[Late(Both)],
            Self::NarrowOnOneSide => &[Narrow(A), Narrow(B)],
            Self::NarrowOnBothSides => &[Narrow(Both)],
            Self::Death => &[Death],
            Self::Reset => &[Reset],
            Self::ExchangeTerminates => &[Terminate],
            Self::ReportsSwallowed => &[DropReport],
            Self::SlowOrders => &[StallUp, StallDown, Trickle, Refusal],
            Self::Everything => &[
                Loss(Both),
                Cut(Both),
                Reordering,
                Duplicates(Both),
                Late(Both),
                Narrow(A),
                StallUp,
                StallDown,
                Trickle,
                Reset,
                Terminate,
                Death,
            ],
            Self::CorruptData => &[Corruption],
            Self::CorruptOrders => &[CorruptOrders],
        }
    }

    /// Returns `true` if market data may be missing on both lines.
    pub(crate) const fn may_gap(self) -> bool {
        matches!(
            self,
            Self::LossOnBothSides
                | Self::BothSidesCut
                | Self::LateOnBothSides
                | Self::NarrowOnBothSides
                | Self::Everything
                | Self::CorruptData
        )
    }

    /// Returns `true` if a connection may end early.
    pub(crate) const fn may_disconnect(self) -> bool {
        matches!(
            self,
            Self::Death
                | Self::Reset
                | Self::ExchangeTerminates
                | Self::ReportsSwallowed
                | Self::SlowOrders
                | Self::Silence
                | Self::Everything
                | Self::CorruptOrders
        )
    }

    /// Returns `true` if an order may be refused because too many are queued.
    pub(crate) const fn may_refuse(self) -> bool {
        matches!(self, Self::SlowOrders | Self::Everything | Self::CorruptOrders)
    }

    /// Returns `true` if market data is corrupt, so that the only rule is not to panic.
    pub(crate) const fn corrupts_data(self) -> bool {
        matches!(self, Self::CorruptData)
    }

    /// Returns `true` if the order stream is corrupt, so that the only rule is not to panic.
    pub(crate) const fn corrupts_orders(self) -> bool {
        matches!(self, Self::CorruptOrders)
    }
}

/// The plan of one run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) random: Random,
    pub(crate) instruments: u32,
    pub(crate) ticks: u64,
    /// The average time between two ticks.
    pub(crate) interval: Duration,
    /// The probability that ticks come in a burst.
    pub(crate) bursts: Chance,
    pub(crate) loop_period: Duration,
    /// The feed's heartbeat interval.
    pub(crate) heartbeat: Duration,
    pub(crate) scenarios: [Scenario; TRADERS],
}

impl Plan {
    /// Draws the plan of `seed` with a number of ticks.
    ///
    /// The first trader's scenario rotates with the seed, so that 21 seeds cover every scenario.
    /// The other scenarios are random. Every fourth scenario is a connection reset, because both
    /// ends lose messages in only a few of them.
    pub(crate) fn new(seed: u64, ticks: u64) -> Self {
        let mut random = Random::new(seed);
        let first = Scenario::ALL[(seed % Scenario::ALL.len() as u64) as usize];
        let mut other = || match random.below(4) {
            0 => Scenario::Reset,
            _ => *random.pick(&Scenario::ALL),
        };
        let scenarios = [first, other(), other()];
        // A silence is long: short loop periods and heartbeat intervals would dominate the work.
        let has_silence = scenarios.contains(&Scenario::Silence);
        let (loop_millis, heartbeat_millis) =
            if has_silence { (100, 1_000) } else { (*random.pick(&[10, 20, 50]), 100) };
        Self {
            instruments: 2 + random.below(8) as u32,
            ticks,
            interval: Duration::from_micros(*random.pick(&[200, 500, 1_000, 2_000])),
            bursts: *random.pick(&[Chance::NEVER, Chance::percent(5), Chance::percent(20)]),
            loop_period: Duration::from_millis(loop_millis),
            heartbeat: Duration::from_millis(heartbeat_millis),
            scenarios,
            random,
        }
    }

    /// Returns the duration of all ticks.
    pub(crate) fn length(&self) -> Duration {
        self.interval * self.ticks
    }

    /// Draws the start and end of a scenario's faults.
    pub(crate) fn schedule(&mut self, scenario: Scenario, start: Instant) -> FaultSchedule<Fault> {
        let faults = scenario.faults();
        let (least, most) = match scenario {
            Scenario::Everything => (1, 7),
            Scenario::Reset => (2, 6),
            _ => (1, 3),
        };
        let count = least + self.random.below(most + 1 - least);
        // A connection must be established and used again after a reset.
        let is_reset = scenario == Scenario::Reset;
        let (span, longest) =
            if is_reset { (self.length() * 3 / 4, 10) } else { (self.length(), 150) };
        let within = start..start + span;
        // The short faults, and faults that outlast several snapshot loops.
        let length = Duration::from_millis(2)..Duration::from_millis(longest);
        FaultSchedule::new(&mut self.random, within, faults, count, length)
    }
}

/// Returns a trader's faults of one market-data line, with the extra delay `lag`.
pub(crate) fn line(feed_line: usize, lag: Duration, faults: &[Fault]) -> (Faults, bool) {
    let (min, jitter) = (Duration::from_micros(20) + lag, Duration::from_micros(60));
    let mut line = Faults { delay: Delay { min, jitter, ..LAN }, ..Faults::LAN };
    let mut is_cut = false;
    for fault in faults {
        match *fault {
            Loss(lines) if lines.has(feed_line) => line.loss = Chance::percent(15),
            Cut(lines) if lines.has(feed_line) => is_cut = true,
            Duplicates(lines) if lines.has(feed_line) => line.duplication = Chance::percent(50),
            Reordering => {
                line.reorders = true;
                line.delay.jitter = Duration::from_millis(5);
            }
            Late(lines) if lines.has(feed_line) => {
                line.reorders = true;
                line.delay.long_chance = Chance::percent(5);
                line.delay.long = Duration::from_millis(25);
            }
            Narrow(lines) if lines.has(feed_line) => {
                line.rate = Some(Rate { bytes_per_second: 2_000_000, queue_bytes: 1_500 });
            }
            Corruption => line.corruption = Chance::percent(10),
            _ => {}
        }
    }
    (line, is_cut)
}

const LAN: Delay = Faults::LAN.delay;

/// Returns the faults of a trader's order connection.
pub(crate) fn stream(faults: &[Fault]) -> StreamFaults {
    let mut stream = StreamFaults { window_bytes: 8 << 10, ..StreamFaults::LAN };
    for fault in faults {
        match fault {
            Trickle => (stream.window_bytes, stream.chunk_max) = (300, 7),
            CorruptOrders => stream.corruption = Chance::percent(3),
            _ => {}
        }
    }
    stream
}
