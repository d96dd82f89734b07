//! One row of a results file.

use serde::{Deserialize, Serialize};

use super::{Bucket, RoundFigures, RowError, over_time, rounds};
use crate::{Histogram, Recorder, Summary};

/// What was measured and how: all of a row that is known before the first sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The benchmark: `t2t`, `feed`, `order`, `rds`, `ping`, `sockets`.
    pub bench: String,
    /// Which of its stages, in the published tables' words: `intended to order`.
    pub case: String,
    /// How market data travelled, where there was any: `multicast` or `tcp`.
    #[serde(default)]
    pub feed: Option<String>,
    /// What carried the bytes: `kernel`, `preload`, `xdp` or `shm`.
    pub transport: String,
    /// How the measured program waited: `block`, `poll`, `epoll`, `spin` or `io_uring`.
    pub wait: String,
    /// The protocols: `multicast+tcp`.
    pub protocol: String,
    /// Bytes of one message.
    pub size_bytes: u64,
    /// Microseconds between intended sends; zero for no pause.
    pub interval_us: u64,
    /// What span a sample is.
    pub kind: Kind,
    /// What it was measured with.
    pub clock: Clock,
    /// In how many interleaved rounds the samples were taken.
    pub rounds: u32,
}

impl Setting {
    /// Whether both are the same but for the number of rounds: rows that may be joined or compared.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { bench, case, feed, transport, wait, protocol, .. } = other;
        let words = [bench, case, transport, wait, protocol];
        let own = [&self.bench, &self.case, &self.transport, &self.wait, &self.protocol];
        let numbers = |it: &Self| (it.size_bytes, it.interval_us, it.kind, it.clock);
        own == words && &self.feed == feed && numbers(self) == numbers(other)
    }
}

/// What span a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// There and back.
    Rtt,
    /// There, by two clocks that agree.
    OneWay,
    /// Part of the way within one host.
    Stage,
    /// The mean of at least 64 operations back to back: for what is too short for the clock.
    Batch,
}

/// What a sample was measured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The processor's time stamp counter.
    Tsc,
    /// The kernel's monotonic clock: where the counter is not to be trusted.
    Monotonic,
    /// The kernel's time of a packet.
    SoftwareTimestamp,
    /// The network card's time of a packet.
    HardwareTimestamp,
}

/// The unit of every figure of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    #[default]
    Ns,
}

/// One row: a setting, what came of it, and how well the schedule was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What was measured and how.
    #[serde(flatten)]
    pub setting: Setting,
    /// The unit of all figures.
    pub unit: Unit,
    /// How many samples were recorded.
    pub samples: u64,
    /// How many sends were never answered.
    pub lost: u64,
    /// Their distribution.
    #[serde(flatten)]
    pub summary: Summary,
    /// Median of how much later than intended the sends left.
    #[serde(default)]
    pub lateness_p50: Option<u64>,
    /// 99th percentile of the same.
    #[serde(default)]
    pub lateness_p99: Option<u64>,
    /// The whole distribution of the same; `None` without sends, and in a file that does not tell
    /// it.
    #[serde(default)]
    pub lateness_histogram: Option<Histogram>,
    /// Whether the schedule was missed so far that the row says more of the sender than of what was
    /// measured: the 99th percentile of the lateness exceeds 5 % of the interval.
    #[serde(default)]
    pub late: bool,
    /// Answers that came after their send had been given up as lost.
    #[serde(default)]
    pub late_orders: u64,
    /// Why the row does not count; `None` if it does.
    #[serde(default)]
    pub failed: Option<String>,
    /// Whether the row was stopped before its end: it then has fewer samples than were asked for.
    #[serde(default)]
    pub interrupted: bool,
    /// The cores that exchange and trader were bound to, in this order; `None` if they were not.
    #[serde(default)]
    pub cores: Option<[usize; 2]>,
    /// The seed of books and order flow; `None` where nothing is random.
    #[serde(default)]
    pub seed: Option<u64>,
    /// What the two sides stood on: two network namespaces, loopback, two hosts.
    #[serde(default)]
    pub ground: Option<String>,
    /// To how many nanoseconds the deadlines of the wait `block` are rounded up; `None` for any
    /// other wait, whose deadlines are kept to the nanosecond.
    #[serde(default)]
    pub block_deadline_ns: Option<u64>,
    /// The latency in the order it was measured, in at most 200 buckets; empty in a file that does
    /// not tell it.
    #[serde(default)]
    pub over_time: Vec<Bucket>,
    /// From starting the processes of a round to both sides ready, in nanoseconds; the median where
    /// there are several. `None` where nothing was started or it is not known.
    #[serde(default)]
    pub start_ns: Option<u64>,
    /// The figures of each round, in their order; empty in a row of one round that was not joined,
    /// and in a file that does not tell them.
    #[serde(default)]
    pub by_round: Vec<RoundFigures>,
}

/// One interval has this many parts of which lateness may take one: 5 %.
const PARTS_OF_INTERVAL: u64 = 20;

impl Row {
    /// A row of what was recorded: latencies, and the lateness of the sends. What came of it beside
    /// them (loss, reasons, cores, seed, ground) is the caller's to fill in.
    #[must_use]
    pub fn new(setting: Setting, latency: &Recorder, lateness: &Recorder) -> Self {
        let lateness = Summary::of(lateness);
        Self {
            late: is_late(lateness.p99.or(lateness.max), &setting),
            setting,
            unit: Unit::Ns,
            samples: latency.samples().len() as u64,
            lost: 0,
            summary: Summary::of(latency),
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
            over_time: Bucket::over(latency.samples()),
            start_ns: None,
            by_round: Vec::new(),
        }
    }

    /// A row without samples that says why there are none.
    #[must_use]
    pub fn failed(setting: Setting, reason: impl Into<String>) -> Self {
        let nothing = Recorder::with_capacity(0);
        Self { failed: Some(reason.into()), ..Self::new(setting, &nothing, &nothing) }
    }

    /// Whether the row agrees with itself.
    ///
    /// # Errors
    /// One [`RowError`] for each rule: percentiles rise, the histogram holds the row's samples, no
    /// percentile without enough samples beyond it, extremes whenever there are samples; buckets
    /// over time follow one another and hold the row's samples; rounds add up to the row; lateness
    /// rises too; exchange and trader have a core each; only the wait `block` rounds deadlines.
    pub fn validate(&self) -> Result<(), RowError> {
        let (of, samples) = (&self.summary, self.samples);
        if of.histogram.count() != samples {
            return Err(RowError::Count { histogram: of.histogram.count(), samples });
        }
        let given = [of.min.is_some(), of.max.is_some(), of.mean.is_some(), of.stddev.is_some()];
        if given != [samples > 0; 4] {
            return Err(RowError::Incomplete);
        }
        let (mut lower, mut least) = ("min", of.min);
        for (name, quantile, value) in of.percentiles() {
            if value.is_some() && quantile.rank(samples).is_none() {
                return Err(RowError::Unfounded { name });
            }
            in_order((lower, least), (name, value))?;
            if value.is_some() {
                (lower, least) = (name, value);
            }
        }
        in_order((lower, least), ("max", of.max))?;
        over_time::validate(&self.over_time, samples, [of.min, of.max])?;
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

/// Whether the earlier of two runs of one setting is the one to believe: the later one, unless it
/// failed, or was late, or was cut short, where the earlier was not; in this order.
pub(crate) fn is_believed_before(earlier: &Row, later: &Row) -> bool {
    let faults = |row: &Row| (row.failed.is_some() || row.samples == 0, row.late, row.interrupted);
    faults(earlier) < faults(later)
}

impl Row {
    /// Of several runs of one setting, in the order they were made, the one to believe: the last
    /// without fault, else the last that did not fail, was not late, was not interrupted, in this
    /// order. `None` of none.
    pub fn believed<'a>(runs: impl IntoIterator<Item = &'a Self>) -> Option<&'a Self> {
        let later = |one, next| if is_believed_before(one, next) { one } else { next };
        runs.into_iter().reduce(later)
    }
}

type Named = (&'static str, Option<u64>);

/// An absent figure is in order with any.
pub(super) fn in_order((lower, least): Named, (higher, most): Named) -> Result<(), RowError> {
    match (least, most) {
        (Some(least), Some(most)) if most < least => Err(RowError::Disorder { lower, higher }),
        _ => Ok(()),
    }
}

/// With too few sends for a 99th percentile the latest of them stands for it. Without a pause there
/// is no schedule to miss.
pub(super) fn is_late(tail: Option<u64>, setting: &Setting) -> bool {
    let interval_ns = setting.interval_us.saturating_mul(1_000);
    interval_ns > 0 && tail.unwrap_or(0) > interval_ns / PARTS_OF_INTERVAL
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hairpin_time::Duration;

    /// A setting of the tick-to-trade benchmark.
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

    /// A recorder of these values.
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
    fn of_several_runs_the_last_with_the_least_fault_is_believed() {
        let good = |samples| Row { samples, ..row() };
        let late = |samples| Row { late: true, ..good(samples) };
        let cut = |row: Row| Row { interrupted: true, ..row };
        let failed = |samples| Row { failed: Some("x".to_owned()), ..good(samples) };
        let believed = |runs: &[Row]| Row::believed(runs).map(|row| row.samples);
        assert_eq!(believed(&[good(1), good(2)]), Some(2));
        assert_eq!(believed(&[late(1), late(2)]), Some(2));
        assert_eq!(believed(&[late(1), cut(late(2))]), Some(1));
        assert_eq!(believed(&[late(1), cut(good(2))]), Some(2));
        assert_eq!(believed(&[cut(late(1)), failed(2)]), Some(1));
        assert_eq!(believed(&[late(1), good(2), late(3)]), Some(2));
        assert_eq!(believed(&[]), None);
    }

    #[test]
    fn settings_are_the_same_if_all_but_their_rounds_are() {
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
    fn a_row_just_measured_is_valid() {
        assert_eq!(row().validate(), Ok(()));
        assert_eq!(Row::failed(setting("sent to order"), "no permission").validate(), Ok(()));
    }

    #[test]
    fn percentiles_rise() {
        let mut row = row();
        row.summary.p90 = Some(3);
        let disorder = RowError::Disorder { lower: "p75", higher: "p90" };
        assert_eq!(row.validate(), Err(disorder));
        (row.summary.p90, row.summary.p75, row.summary.p95) = (None, None, Some(2));
        let disorder = RowError::Disorder { lower: "p50", higher: "p95" };
        assert_eq!(row.validate(), Err(disorder));
    }

    #[test]
    fn extremes_enclose_the_percentiles() {
        let mut row = row();
        row.summary.max = Some(1_500);
        let disorder = RowError::Disorder { lower: "p99", higher: "max" };
        assert_eq!(row.validate(), Err(disorder));
        row.summary.min = Some(1_000_000);
        let disorder = RowError::Disorder { lower: "min", higher: "p25" };
        assert_eq!(row.validate(), Err(disorder));
    }

    #[test]
    fn the_histogram_holds_the_rows_samples() {
        let row = Row { samples: 1_999, ..row() };
        assert_eq!(row.validate(), Err(RowError::Count { histogram: 2_000, samples: 1_999 }));
    }

    #[test]
    fn a_percentile_without_samples_beyond_it_is_refused() {
        let mut row = row();
        row.summary.p99_9 = row.summary.max;
        assert_eq!(row.validate(), Err(RowError::Unfounded { name: "p99_9" }));
    }

    #[test]
    fn samples_have_extremes() {
        let mut row = row();
        row.summary.min = None;
        assert_eq!(row.validate(), Err(RowError::Incomplete));
    }

    #[test]
    fn over_time_is_of_the_rows_samples_in_their_order() {
        let backwards = Row::new(setting("a"), &recorded((1..2_001).rev()), &recorded([]));
        assert_eq!(backwards.over_time[0].max, 2_000);
        let row = Row { over_time: backwards.over_time[1..].to_vec(), ..row() };
        assert_eq!(row.validate(), Err(RowError::BucketPlace { bucket: 1 }));
    }

    #[test]
    fn exchange_and_trader_have_a_core_each() {
        let row = Row { cores: Some([1, 1]), ..row() };
        assert_eq!(row.validate(), Err(RowError::SameCore { core: 1 }));
    }

    #[test]
    fn only_block_rounds_deadlines() {
        let mut row = Row { block_deadline_ns: Some(4_000_000), ..row() };
        assert_eq!(row.validate(), Err(RowError::Deadline));
        row.setting.wait = "block".to_string();
        assert_eq!(row.validate(), Ok(()));
    }

    #[test]
    fn a_row_is_late_when_one_send_in_a_hundred_misses_a_twentieth_of_the_interval() {
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
    fn a_short_run_is_judged_by_its_latest_send() {
        let late = |nanos| Row::new(setting("a"), &recorded([]), &recorded([nanos])).late;
        assert!(late(25_001));
        assert!(!late(25_000));
    }

    #[test]
    fn without_a_pause_no_row_is_late() {
        let setting = Setting { interval_us: 0, ..setting("sent to order") };
        assert!(!Row::new(setting, &recorded([]), &recorded([90_000])).late);
    }
}
