//! A row of a results file.

use serde::{Deserialize, Serialize};

use super::{Bucket, RoundFigures, RowError, over_time, rounds};
use crate::{Histogram, Recorder, Summary};

/// The setting of a measurement: the part of a row that is known before the first sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The benchmark: `t2t`, `feed`, `order`, `rds`, `ping`, `sockets`.
    pub bench: String,
    /// The measured stage, with its name in published tables: `intended to order`.
    pub case: String,
    /// The transport of market data: `multicast` or `tcp`; `None` without market data.
    #[serde(default)]
    pub feed: Option<String>,
    /// The transport: `kernel`, `preload`, `xdp` or `shm`.
    pub transport: String,
    /// The wait of the measured program: `block`, `poll`, `epoll`, `spin` or `io_uring`.
    pub wait: String,
    /// The protocols: `multicast+tcp`.
    pub protocol: String,
    /// The size of a message in bytes.
    pub size_bytes: u64,
    /// The interval between intended sends in microseconds; zero for no pause.
    pub interval_us: u64,
    /// The span that a sample measures.
    pub kind: Kind,
    /// The clock of the measurement.
    pub clock: Clock,
    /// The number of interleaved rounds.
    pub rounds: u32,
}

impl Setting {
    /// Returns `true` if both are equal except for the number of rounds: such rows can be joined or
    /// compared.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { bench, case, feed, transport, wait, protocol, .. } = other;
        let texts = [bench, case, transport, wait, protocol];
        let own = [&self.bench, &self.case, &self.transport, &self.wait, &self.protocol];
        let numbers = |it: &Self| (it.size_bytes, it.interval_us, it.kind, it.clock);
        own == texts && &self.feed == feed && numbers(self) == numbers(other)
    }
}

/// The span that a sample measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A round trip.
    Rtt,
    /// A single direction, with two synchronized clocks.
    OneWay,
    /// A part of the path within one host.
    Stage,
    /// The mean of at least 64 back-to-back operations, which are too short for the clock.
    Batch,
}

/// The clock of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The processor's time stamp counter.
    Tsc,
    /// The kernel's monotonic clock, if the counter is not reliable.
    Monotonic,
    /// The kernel's timestamp of a packet.
    SoftwareTimestamp,
    /// The network card's timestamp of a packet.
    HardwareTimestamp,
}

/// The unit of all figures of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    #[default]
    Ns,
}

/// A row: a setting, its results, and the lateness of the sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The setting.
    #[serde(flatten)]
    pub setting: Setting,
    /// The unit of all figures.
    pub unit: Unit,
    /// The number of recorded samples.
    pub samples: u64,
    /// The number of sends without an answer.
    pub lost: u64,
    /// The statistics of the samples.
    #[serde(flatten)]
    pub summary: Summary,
    /// The median of the lateness: the time from the intended to the actual send.
    #[serde(default)]
    pub lateness_p50: Option<u64>,
    /// The 99th percentile of the lateness.
    #[serde(default)]
    pub lateness_p99: Option<u64>,
    /// The distribution of the lateness; `None` without sends, and in older files.
    #[serde(default)]
    pub lateness_histogram: Option<Histogram>,
    /// `true` if the 99th percentile of the lateness exceeds 5 % of the interval: the row then
    /// measures the sender more than its subject.
    #[serde(default)]
    pub late: bool,
    /// The number of answers after the timeout of their send.
    #[serde(default)]
    pub late_orders: u64,
    /// The reason for which the row failed; `None` for a valid row.
    #[serde(default)]
    pub failed: Option<String>,
    /// `true` if the row was stopped early, with fewer samples than requested.
    #[serde(default)]
    pub interrupted: bool,
    /// The cores to which exchange and trader were pinned, in this order; `None` without pinning.
    #[serde(default)]
    pub cores: Option<[usize; 2]>,
    /// The seed of books and order flow; `None` without random input.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The hosts of the two processes: two network namespaces, loopback, or two machines.
    #[serde(default)]
    pub ground: Option<String>,
    /// The granularity in nanoseconds to which deadlines of the wait `block` are rounded up; `None`
    /// for any other wait, whose deadlines are exact.
    #[serde(default)]
    pub block_deadline_ns: Option<u64>,
    /// The latency over time in at most 200 buckets; empty in older files.
    #[serde(default)]
    pub over_time: Vec<Bucket>,
    /// The time from starting the processes of a round until both were ready, in nanoseconds; the
    /// median for several rounds. `None` if no process was started, or if unknown.
    #[serde(default)]
    pub start_ns: Option<u64>,
    /// The figures of each round, in order; empty for a row of one round that was not joined, and
    /// in older files.
    #[serde(default)]
    pub by_round: Vec<RoundFigures>,
}

/// The allowed lateness is this fraction of the interval: 5 %.
const PARTS_OF_INTERVAL: u64 = 20;

impl Row {
    /// Returns a row of the recorded latencies and lateness. The caller sets the other fields
    /// (loss, failure, cores, seed, ground).
    #[must_use]
    pub fn new(setting: Setting, latency: &Recorder, lateness: &Recorder) -> Self {
        let lateness = Summary::new(lateness);
        Self {
            late: is_late(lateness.p99.or(lateness.max), &setting),
            setting,
            unit: Unit::Ns,
            samples: latency.samples().len() as u64,
            lost: 0,
            summary: Summary::new(latency),
            lateness_p50: lateness.p50,
            lateness_p99: lateness.p99,
            lateness_histogram: lateness.max.map(|_| lateness.histogram),
            late_orders: 0,
            failed: None,
            interrupted: false,
            cores: None,
            seed: None,
            ground: None,
            block_deadline_ns: None,
            over_time: Bucket::divide(latency.samples()),
            start_ns: None,
            by_round: Vec::new(),
        }
    }

    /// Returns a row of samples that were not kept: without lateness, and not over time.
    #[must_use]
    pub fn from_summary(setting: Setting, summary: Summary) -> Self {
        let nothing = Recorder::with_capacity(0);
        let samples = summary.histogram.count();
        Self { samples, summary, ..Self::new(setting, &nothing, &nothing) }
    }

    /// Returns a failed row without samples, with the reason.
    #[must_use]
    pub fn failed(setting: Setting, reason: impl Into<String>) -> Self {
        let nothing = Recorder::with_capacity(0);
        Self { failed: Some(reason.into()), ..Self::new(setting, &nothing, &nothing) }
    }

    /// Checks that the row is consistent.
    ///
    /// # Errors
    /// A [`RowError`] for each rule: percentiles are ordered; the histogram contains the row's
    /// samples; every percentile is exceeded by enough samples; extremes exist exactly with
    /// samples; buckets over time are consecutive and contain the row's samples; rounds add up to
    /// the row; percentiles of lateness are ordered; exchange and trader have different cores; only
    /// the wait `block` rounds deadlines.
    pub fn validate(&self) -> Result<(), RowError> {
        let (summary, samples) = (&self.summary, self.samples);
        if summary.histogram.count() != samples {
            return Err(RowError::Count { histogram: summary.histogram.count(), samples });
        }
        let given = [
            summary.min.is_some(),
            summary.max.is_some(),
            summary.mean.is_some(),
            summary.stddev.is_some(),
        ];
        if given != [samples > 0; 4] {
            return Err(RowError::Incomplete);
        }
        let (mut lower, mut least) = ("min", summary.min);
        for (name, quantile, value) in summary.percentiles() {
            if value.is_some() && quantile.rank(samples).is_none() {
                return Err(RowError::Unfounded { name });
            }
            in_order((lower, least), (name, value))?;
            if value.is_some() {
                (lower, least) = (name, value);
            }
        }
        in_order((lower, least), ("max", summary.max))?;
        over_time::validate(&self.over_time, samples, [summary.min, summary.max])?;
        rounds::validate(self)?;
        in_order(("lateness_p50", self.lateness_p50), ("lateness_p99", self.lateness_p99))?;
        match (self.cores, self.block_deadline_ns) {
            (Some([exchange, trader]), _) if exchange == trader => {
                Err(RowError::SameCore { core: trader })
            }
            (_, Some(_)) if self.setting.wait != "block" => Err(RowError::Deadline),
            _ => Ok(()),
        }
    }
}

/// Returns `true` if the earlier of two runs of one setting counts. The later one counts unless it
/// failed, was late or was interrupted and the earlier was not, in this order of severity.
pub(crate) fn is_preferred(earlier: &Row, later: &Row) -> bool {
    let faults = |row: &Row| (row.failed.is_some() || row.samples == 0, row.late, row.interrupted);
    faults(earlier) < faults(later)
}

impl Row {
    /// Returns the run that counts among several runs of one setting, in chronological order: the
    /// last valid one, otherwise the last that did not fail, was not late, was not interrupted, in
    /// this order. `None` without runs.
    pub fn last_valid<'a>(runs: impl IntoIterator<Item = &'a Self>) -> Option<&'a Self> {
        let preferred = |one, next| if is_preferred(one, next) { one } else { next };
        runs.into_iter().reduce(preferred)
    }
}

type Named = (&'static str, Option<u64>);

/// Checks the order of two figures. A missing figure is in order.
pub(super) fn in_order((lower, least): Named, (higher, most): Named) -> Result<(), RowError> {
    match (least, most) {
        (Some(least), Some(most)) if most < least => Err(RowError::Disorder { lower, higher }),
        _ => Ok(()),
    }
}

/// Returns `true` if the tail of the lateness exceeds the allowed fraction of the interval. The
/// tail is the maximum if there are too few sends for a 99th percentile. Without a pause, no send
/// is late.
pub(super) fn is_late(tail: Option<u64>, setting: &Setting) -> bool {
    let interval_ns = setting.interval_us.saturating_mul(1_000);
    interval_ns > 0 && tail.unwrap_or(0) > interval_ns / PARTS_OF_INTERVAL
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hairpin_time::Duration;

    /// Returns a setting of the tick-to-trade benchmark.
    pub(crate) fn setting(case: &str) -> Setting {
        Setting {
            bench: "t2t".to_string(),
            case: case.to_string(),
            feed: Some("multicast".to_string()),
            transport: "kernel".to_string(),
            wait: "epoll".to_string(),
            protocol: "multicast+tcp".to_string(),
            size_bytes: 64,
            interval_us: 500,
            kind: Kind::Rtt,
            clock: Clock::Tsc,
            rounds: 1,
        }
    }

    /// Returns a recorder with these values.
    pub(crate) fn recorded(samples: impl IntoIterator<Item = u64>) -> Recorder {
        let samples: Vec<u64> = samples.into_iter().collect();
        let mut recorder = Recorder::with_capacity(samples.len());
        samples.into_iter().for_each(|nanos| recorder.record(Duration::from_nanos(nanos)));
        recorder
    }

    fn row() -> Row {
        Row::new(setting("intended to order"), &recorded(1..2_001), &recorded(1..2_001))
    }

    #[test]
    fn last_valid_prefers_runs_without_faults() {
        let good = |samples| Row { samples, ..row() };
        let late = |samples| Row { late: true, ..good(samples) };
        let cut = |row: Row| Row { interrupted: true, ..row };
        let failed = |samples| Row { failed: Some("x".to_owned()), ..good(samples) };
        let last_valid = |runs: &[Row]| Row::last_valid(runs).map(|row| row.samples);
        assert_eq!(last_valid(&[good(1), good(2)]), Some(2));
        assert_eq!(last_valid(&[late(1), late(2)]), Some(2));
        assert_eq!(last_valid(&[late(1), cut(late(2))]), Some(1));
        assert_eq!(last_valid(&[late(1), cut(good(2))]), Some(2));
        assert_eq!(last_valid(&[cut(late(1)), failed(2)]), Some(1));
        assert_eq!(last_valid(&[late(1), good(2), late(3)]), Some(2));
        assert_eq!(last_valid(&[]), None);
    }

    #[test]
    fn is_same_ignores_only_the_rounds() {
        let changes: [fn(&mut Setting); 10] = [
            |it| it.bench.push('x'),
            |it| it.case.push('x'),
            |it| it.feed = None,
            |it| it.transport.push('x'),
            |it| it.wait.push('x'),
            |it| it.protocol.push('x'),
            |it| it.size_bytes += 1,
            |it| it.interval_us += 1,
            |it| it.kind = Kind::Stage,
            |it| it.clock = Clock::Monotonic,
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut other = setting("a");
            change(&mut other);
            assert!(!other.is_same(&setting("a")), "{index}");
        }
        assert!(Setting { rounds: 7, ..setting("a") }.is_same(&setting("a")));
    }

    #[test]
    fn new_rows_are_valid() {
        assert_eq!(row().validate(), Ok(()));
        assert_eq!(Row::failed(setting("sent to order"), "no permission").validate(), Ok(()));
    }

    #[test]
    fn percentiles_must_be_ordered() {
        let mut row = row();
        row.summary.p90 = Some(3);
        let disorder = RowError::Disorder { lower: "p75", higher: "p90" };
        assert_eq!(row.validate(), Err(disorder));
        (row.summary.p90, row.summary.p75, row.summary.p95) = (None, None, Some(2));
        let disorder = RowError::Disorder { lower: "p50", higher: "p95" };
        assert_eq!(row.validate(), Err(disorder));
    }

    #[test]
    fn extremes_must_enclose_the_percentiles() {
        let mut row = row();
        row.summary.max = Some(1_500);
        let disorder = RowError::Disorder { lower: "p99", higher: "max" };
        assert_eq!(row.validate(), Err(disorder));
        row.summary.min = Some(1_000_000);
        let disorder = RowError::Disorder { lower: "min", higher: "p25" };
        assert_eq!(row.validate(), Err(disorder));
    }

    #[test]
    fn histogram_must_contain_the_rows_samples() {
        let row = Row { samples: 1_999, ..row() };
        assert_eq!(row.validate(), Err(RowError::Count { histogram: 2_000, samples: 1_999 }));
    }

    #[test]
    fn percentiles_without_greater_samples_are_rejected() {
        let mut row = row();
        row.summary.p99_9 = row.summary.max;
        assert_eq!(row.validate(), Err(RowError::Unfounded { name: "p99_9" }));
    }

    #[test]
    fn samples_require_extremes() {
        let mut row = row();
        row.summary.min = None;
        assert_eq!(row.validate(), Err(RowError::Incomplete));
    }

    #[test]
    fn over_time_has_the_order_of_samples() {
        let backwards = Row::new(setting("a"), &recorded((1..2_001).rev()), &recorded([]));
        assert_eq!(backwards.over_time[0].max, 2_000);
        let row = Row { over_time: backwards.over_time[1..].to_vec(), ..row() };
        assert_eq!(row.validate(), Err(RowError::BucketPlace { bucket: 1 }));
    }

    #[test]
    fn exchange_and_trader_must_have_different_cores() {
        let row = Row { cores: Some([1, 1]), ..row() };
        assert_eq!(row.validate(), Err(RowError::SameCore { core: 1 }));
    }

    #[test]
    fn deadlines_are_rounded_by_block_alone() {
        let mut row = Row { block_deadline_ns: Some(4_000_000), ..row() };
        assert_eq!(row.validate(), Err(RowError::Deadline));
        row.setting.wait = "block".to_string();
        assert_eq!(row.validate(), Ok(()));
    }

    #[test]
    fn row_is_late_if_the_99th_percentile_exceeds_5_percent() {
        let late_by = |late: u64, sends: u64| {
            let punctual = std::iter::repeat_n(20_000, 2_000 - sends as usize);
            let all = punctual.chain(std::iter::repeat_n(late, sends as usize));
            Row::new(setting("sent to order"), &recorded([]), &recorded(all)).late
        };
        assert!(!late_by(24_900, 2_000));
        assert!(!late_by(26_000, 20));
        assert!(late_by(26_000, 21));
    }

    #[test]
    fn short_runs_are_judged_by_the_latest_send() {
        let late = |nanos| Row::new(setting("a"), &recorded([]), &recorded([nanos])).late;
        assert!(late(25_001));
        assert!(!late(25_000));
    }

    #[test]
    fn rows_without_a_pause_are_never_late() {
        let setting = Setting { interval_us: 0, ..setting("sent to order") };
        assert!(!Row::new(setting, &recorded([]), &recorded([90_000])).late);
    }
}
