//! How long the two processes of a round take to start.

use std::fmt;

use hairpin_cli_harness::t2t_setup::{ExchangeStart, TraderStart};
use hairpin_time::Duration;

/// The stages between starting the exchange and the trader's logon, in order.
const STAGES: usize = 7;

/// Their names in the output.
const NAMES: [&str; STAGES] = [
    "exchange begins",
    "listens",
    "trader is started",
    "begins",
    "opens its sockets",
    "is in sync",
    "is logged on",
];

/// The number of stages until the trader is in sync: all except the logon.
const UNTIL_SYNC: usize = 6;

/// The durations of the stages of one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StartTimes([Duration; STAGES]);

impl StartTimes {
    /// Computes them from when the parent started each process and the times that these report;
    /// `None` if the trader was never in sync or never logged on.
    pub(super) fn new(
        started_ns: [u64; 2],
        exchange: &ExchangeStart,
        trader: &TraderStart,
    ) -> Option<Self> {
        let [exchange_ns, trader_ns] = started_ns;
        let ends = [
            exchange.began_ns,
            exchange.listened_ns,
            trader_ns,
            trader.began_ns,
            trader.opened_ns,
            trader.in_sync_ns?,
            exchange.joined_ns?,
        ];
        let mut begin = exchange_ns;
        let stage = |end: u64| {
            let nanos = end.saturating_sub(begin);
            begin = end;
            Duration::from_nanos(nanos)
        };
        Some(Self(ends.map(stage)))
    }

    /// Returns the time from starting the first process to the trader in sync.
    pub(crate) fn in_sync(&self) -> Duration {
        self.0[..UNTIL_SYNC].iter().fold(Duration::ZERO, |sum, &stage| sum + stage)
    }
}

/// The start times of the rounds of a run.
#[derive(Debug, Default)]
pub(crate) struct StartSummary(Vec<StartTimes>);

impl StartSummary {
    /// Records one round's.
    pub(super) fn record(&mut self, start: Option<StartTimes>) {
        self.0.extend(start);
    }

    /// Returns the median of one value.
    fn median(&self, figure: impl Fn(&StartTimes) -> Duration) -> Duration {
        let mut all: Vec<Duration> = self.0.iter().map(figure).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(Duration::ZERO)
    }
}

/// Two lines under a table: the total, and the medians of its parts. Empty if no round started.
impl fmt::Display for StartSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(longest) = self.0.iter().map(StartTimes::in_sync).max() else { return Ok(()) };
        let median = self.median(StartTimes::in_sync);
        let rounds = if self.0.len() == 1 { "round" } else { "rounds" };
        writeln!(
            f,
            "from starting both processes to the trader in sync: \
             median {}, at most {}, {} {rounds}",
            Millis(median),
            Millis(longest),
            self.0.len(),
        )?;
        f.write_str(" medians of its parts:")?;
        for (index, name) in NAMES.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {name} {}", Millis(self.median(|start| start.0[index])))?;
        }
        writeln!(f)
    }
}

/// Milliseconds with one decimal place.
struct Millis(Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.0.as_nanos() as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    fn exchange(joined_ms: Option<u64>) -> ExchangeStart {
        let joined_ns = joined_ms.map(|millis| millis * MILLI);
        ExchangeStart { began_ns: 12 * MILLI, listened_ns: 20 * MILLI, joined_ns }
    }

    fn trader(in_sync_ms: Option<u64>) -> TraderStart {
        let in_sync_ns = in_sync_ms.map(|millis| millis * MILLI);
        TraderStart { began_ns: 25 * MILLI, opened_ns: 33 * MILLI, in_sync_ns }
    }

    fn start(in_sync_ms: u64) -> Option<StartTimes> {
        let joined = exchange(Some(in_sync_ms + 2));
        StartTimes::new([10 * MILLI, 21 * MILLI], &joined, &trader(Some(in_sync_ms)))
    }

    #[test]
    fn measures_sync_from_first_process_to_before_logon() {
        assert_eq!(start(50).map(|start| start.in_sync()), Some(Duration::from_millis(40)));
    }

    #[test]
    fn process_that_never_started_has_no_start_times() {
        let started = [10 * MILLI, 21 * MILLI];
        assert_eq!(StartTimes::new(started, &exchange(Some(52)), &trader(None)), None);
        assert_eq!(StartTimes::new(started, &exchange(None), &trader(Some(50))), None);
    }

    #[test]
    fn says_median_maximum_and_parts() {
        let mut starts = StartSummary::default();
        [start(50), None, start(40), start(90)].into_iter().for_each(|start| starts.record(start));
        let text = starts.to_string();
        assert!(text.contains("median 40.0 ms, at most 80.0 ms, 3 rounds"), "{text}");
        let parts = "exchange begins 2.0 ms, listens 8.0 ms, trader is started 1.0 ms, \
                     begins 4.0 ms, opens its sockets 8.0 ms, is in sync 17.0 ms, \
                     is logged on 2.0 ms\n";
        assert!(text.ends_with(parts), "{text}");
        assert_eq!(StartSummary::default().to_string(), "");
    }
}
