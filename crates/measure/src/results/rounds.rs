//! Rows measured in several rounds.

use serde::{Deserialize, Serialize};

use super::row::{Row, Setting, in_order, is_late};
use super::{Bucket, RowError};
use crate::{Histogram, Quantile, Summary, bootstrap};

/// The figures of one round of a row, in nanoseconds.
///
/// As in a row, a percentile is `None` unless at least [`Quantile::SAMPLES_BEYOND`] samples of the
/// round exceed it. Without samples, all figures are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RoundFigures {
    /// The number of recorded samples.
    pub samples: u64,
    /// The number of sends without an answer.
    pub lost: u64,
    /// The least sample, exact.
    pub min: Option<u64>,
    /// The 25th percentile.
    pub p25: Option<u64>,
    /// The median.
    pub p50: Option<u64>,
    /// The 75th percentile.
    pub p75: Option<u64>,
    /// The 90th percentile.
    pub p90: Option<u64>,
    /// The 95th percentile.
    pub p95: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The 99.9th percentile.
    pub p99_9: Option<u64>,
    /// The greatest sample, exact.
    pub max: Option<u64>,
    /// The arithmetic mean, exact.
    pub mean: Option<f64>,
    /// The time from starting the round's processes until both were ready, as in [`Row::start_ns`].
    #[serde(default)]
    pub start_ns: Option<u64>,
}

/// A figure of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The least sample.
    Min,
    /// The 25th percentile.
    P25,
    /// The median.
    P50,
    /// The 75th percentile.
    P75,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    P99_9,
    /// The greatest sample.
    Max,
    /// The arithmetic mean.
    Mean,
}

/// The spread of a figure over the rounds of a row, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median over rounds; for an even number, the mean of the two middle values.
    pub median: f64,
    /// The lower end of the 95 % bootstrap interval of that median.
    pub low: f64,
    /// The upper end of that interval.
    pub high: f64,
    /// The least value of a round.
    pub least: f64,
    /// The greatest value of a round.
    pub greatest: f64,
}

/// Returns the order of interleaved rounds: A B C A B C … as (round, subject), both counted from
/// zero.
///
/// A temporary slowdown of the machine then affects all subjects alike, instead of one of them.
///
/// ```
/// let order: Vec<_> = hairpin_measure::interleaved(2, 2).collect();
/// assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1)]);
/// ```
pub fn interleaved(subjects: usize, rounds: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rounds).flat_map(move |round| (0..subjects).map(move |subject| (round, subject)))
}

impl RoundFigures {
    /// Returns the figures of a row that was measured in one round.
    #[must_use]
    pub fn from_row(row: &Row) -> Self {
        let Summary { min, p25, p50, p75, p90, p95, p99, p99_9, max, mean, .. } = row.summary;
        let Row { samples, lost, start_ns, .. } = *row;
        Self { samples, lost, min, p25, p50, p75, p90, p95, p99, p99_9, max, mean, start_ns }
    }

    /// Returns a figure in nanoseconds; `None` if the round has too few samples.
    #[must_use]
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        let nanos = match figure {
            Figure::Mean => return self.mean,
            Figure::Min => self.min,
            Figure::P25 => self.p25,
            Figure::P50 => self.p50,
            Figure::P75 => self.p75,
            Figure::P90 => self.p90,
            Figure::P95 => self.p95,
            Figure::P99 => self.p99,
            Figure::P99_9 => self.p99_9,
            Figure::Max => self.max,
        };
        nanos.map(|nanos| nanos as f64)
    }

    /// Checks that the figures of this round are consistent. Errors contain `round`, counted from
    /// one.
    fn validate(&self, round: usize) -> Result<(), RowError> {
        let extremes = [self.min.is_some(), self.max.is_some(), self.mean.is_some()];
        if extremes != [self.samples > 0; 3] {
            return Err(RowError::RoundIncomplete { round });
        }
        let mut lower = ("min", self.min);
        for (name, quantile, value) in self.percentiles() {
            if value.is_some() && quantile.rank(self.samples).is_none() {
                return Err(RowError::RoundUnfounded { round, name });
            }
            in_round(round, lower, (name, value))?;
            lower = if value.is_some() { (name, value) } else { lower };
        }
        in_round(round, lower, ("max", self.max))?;
        let (Some(mean), Some(min), Some(max)) = (self.mean, self.min, self.max) else {
            return Ok(());
        };
        // Rounding may move the last bits of a mean beyond the extremes.
        let (least, greatest) = (min as f64 * (1.0 - 1e-12), max as f64 * (1.0 + 1e-12));
        match mean >= least && mean <= greatest {
            true => Ok(()),
            false => Err(RowError::RoundMean { round }),
        }
    }

    fn percentiles(&self) -> [(&'static str, Quantile, Option<u64>); 7] {
        [
            ("p25", Quantile::P25, self.p25),
            ("p50", Quantile::P50, self.p50),
            ("p75", Quantile::P75, self.p75),
            ("p90", Quantile::P90, self.p90),
            ("p95", Quantile::P95, self.p95),
            ("p99", Quantile::P99, self.p99),
            ("p99_9", Quantile::P99_9, self.p99_9),
        ]
    }
}

type Named = (&'static str, Option<u64>);

fn in_round(round: usize, lower: Named, higher: Named) -> Result<(), RowError> {
    in_order(lower, higher).map_err(|_| {
        let (lower, higher) = (lower.0, higher.0);
        RowError::RoundDisorder { round, lower, higher }
    })
}

impl Row {
    /// Joins the rounds of one setting, in order, to the row that a measuring command reports.
    ///
    /// - Histograms are added, and percentiles are those of the sum. Extremes are exact. Mean and
    ///   deviation are combined from those of the rounds.
    /// - `lost` and `late_orders` are summed. Lateness is pooled: its percentiles and `late` are
    ///   those of all sends together. For rounds without a lateness histogram (older files), the
    ///   greatest percentile of any round is used, which is an upper bound.
    /// - `over_time` contains the rounds in order, or is empty if one round has none.
    /// - `cores`, `seed`, `ground` and `block_deadline_ns` are kept if they are equal in all
    ///   rounds.
    /// - `start_ns` is the median over the rounds that contain it.
    /// - If rounds failed, the row failed, with their numbers and reasons. If a round was
    ///   interrupted, the row was.
    /// - `rounds` is the number of rounds, and `by_round` contains the figures of each. An input
    ///   row that is already joined contributes all its rounds.
    ///
    /// # Errors
    /// [`RowError::NoRounds`]; [`RowError::OtherSetting`] if the settings differ in more than
    /// `rounds`; the errors of [`Row::validate`] for an invalid input.
    pub fn from_rounds(rows: &[Self]) -> Result<Self, RowError> {
        let (first, rest) = rows.split_first().ok_or(RowError::NoRounds)?;
        if let Some(at) = rest.iter().position(|row| !row.setting.is_same(&first.setting)) {
            return Err(RowError::OtherSetting { round: at + 2 });
        }
        let by_round: Vec<_> = rows.iter().flat_map(Self::figures_by_round).collect();
        let rounds = u32::try_from(by_round.len()).unwrap_or(u32::MAX);
        let setting = Setting { rounds, ..first.setting.clone() };
        let lateness = Lateness::new(rows);
        let joined = Self {
            late: lateness.is_late(rows, &setting),
            setting,
            unit: first.unit,
            samples: sum(rows, |row| row.samples),
            lost: sum(rows, |row| row.lost),
            summary: joined_summary(rows),
            lateness_p50: lateness.p50,
            lateness_p99: lateness.p99,
            lateness_histogram: lateness.histogram,
            late_orders: sum(rows, |row| row.late_orders),
            failed: failure(rows),
            interrupted: rows.iter().any(|row| row.interrupted),
            cores: common(rows, |row| row.cores),
            seed: common(rows, |row| row.seed),
            ground: common(rows, |row| row.ground.clone()),
            block_deadline_ns: common(rows, |row| row.block_deadline_ns),
            over_time: joined_over_time(rows),
            start_ns: median_start(&by_round),
            by_round,
        };
        joined.validate()?;
        Ok(joined)
    }

    /// Returns the spread of a figure over the rounds of this row: median, 95 % interval, extremes.
    /// Rounds with too few samples for the figure are omitted.
    ///
    /// `None` with fewer than two rounds. With fewer than six, no interval of a median reaches 95
    /// %: then the interval is the range of all values, which contains the true median in 1 − 2^(1
    /// − rounds) of all cases.
    #[must_use]
    pub fn over_rounds(&self, figure: Figure) -> Option<Spread> {
        let mut values = self.values(figure);
        if values.len() < 2 {
            return None;
        }
        let [median, low, high] = bootstrap::median_with_interval(&values);
        values.sort_unstable_by(f64::total_cmp);
        let (least, greatest) = (*values.first()?, *values.last()?);
        Some(Spread { median, low, high, least, greatest })
    }

    /// Returns the figure of each round that has it, in the order of the rounds.
    pub(crate) fn values(&self, figure: Figure) -> Vec<f64> {
        self.by_round.iter().filter_map(|round| round.figure(figure)).collect()
    }

    fn figures_by_round(&self) -> Vec<RoundFigures> {
        match self.by_round.is_empty() {
            true => vec![RoundFigures::from_row(self)],
            false => self.by_round.clone(),
        }
    }
}

/// Returns the value of a figure for tables, in nanoseconds: the median over rounds if every round
/// has the figure, otherwise the figure of all samples together.
pub(crate) fn shown(row: &Row, figure: Figure) -> Option<f64> {
    let mut values = row.values(figure);
    match values.len() >= 2 && values.len() == row.by_round.len() {
        true => Some(bootstrap::median(&mut values)),
        false => RoundFigures::from_row(row).figure(figure),
    }
}

/// Returns a saturating sum. A saturated sum differs from that of the rounds, so validation rejects
/// it.
fn sum(rows: &[Row], what: impl Fn(&Row) -> u64) -> u64 {
    rows.iter().map(what).fold(0, u64::saturating_add)
}

/// Returns the common value of all rows.
fn common<T: PartialEq>(rows: &[Row], what: impl Fn(&Row) -> Option<T>) -> Option<T> {
    let mut values = rows.iter().map(what);
    let first = values.next()??;
    values.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// Returns the reasons of failed rounds, each once with the numbers of its rounds.
fn failure(rows: &[Row]) -> Option<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (row, round) in rows.iter().zip(1_usize..) {
        let Some(reason) = row.failed.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rounds)) => rounds.push(round.to_string()),
            None => reasons.push((reason, vec![round.to_string()])),
        }
    }
    let reason = |(reason, rounds): &(&str, Vec<String>)| match (rows.len(), &rounds[..]) {
        (1, _) => (*reason).to_owned(),
        (_, [round]) => format!("round {round}: {reason}"),
        (_, rounds) => format!("rounds {}: {reason}", rounds.join(", ")),
    };
    let text = reasons.iter().map(reason).collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then_some(text)
}

/// Returns the median; for an even number, the longer of the two middle values.
fn median_start(rounds: &[RoundFigures]) -> Option<u64> {
    let mut starts: Vec<u64> = rounds.iter().filter_map(|round| round.start_ns).collect();
    starts.sort_unstable();
    starts.get(starts.len() / 2).copied()
}

fn joined_summary(rows: &[Row]) -> Summary {
    let parts: Vec<&Summary> = rows.iter().map(|row| &row.summary).collect();
    Summary::joined(&parts)
}

fn joined_over_time(rows: &[Row]) -> Vec<Bucket> {
    if rows.iter().any(|row| row.samples > 0 && row.over_time.is_empty()) {
        return Vec::new();
    }
    let mut before = 0_u64;
    let mut buckets = Vec::new();
    for row in rows {
        let moved =
            |bucket: &Bucket| Bucket { first: before.saturating_add(bucket.first), ..*bucket };
        buckets.extend(row.over_time.iter().map(moved));
        before = before.saturating_add(row.samples);
    }
    buckets
}

/// The lateness of the sends of all rounds together.
struct Lateness {
    p50: Option<u64>,
    p99: Option<u64>,
    histogram: Option<Histogram>,
}

impl Lateness {
    fn new(rows: &[Row]) -> Self {
        let has_sends = |row: &&Row| row.lateness_histogram.is_some() || row.lateness_p50.is_some();
        let histograms: Option<Vec<&Histogram>> =
            rows.iter().filter(has_sends).map(|row| row.lateness_histogram.as_ref()).collect();
        match histograms {
            Some(histograms) if !histograms.is_empty() => {
                let histogram = Histogram::sum(histograms);
                let [p50, p99] = [Quantile::P50, Quantile::P99].map(|at| histogram.at(at));
                Self { p50, p99, histogram: Some(histogram) }
            }
            _ => {
                let greatest = |what: fn(&Row) -> Option<u64>| rows.iter().filter_map(what).max();
                let [p50, p99] =
                    [greatest(|row| row.lateness_p50), greatest(|row| row.lateness_p99)];
                Self { p50, p99, histogram: None }
            }
        }
    }

    /// Returns `true` if the pooled tail is late; without a histogram, if any round was late.
    fn is_late(&self, rows: &[Row], setting: &Setting) -> bool {
        let latest = |histogram: &Histogram| histogram.iter().last().map(|bucket| bucket.least);
        match &self.histogram {
            Some(histogram) => is_late(self.p99.or(latest(histogram)), setting),
            None => rows.iter().any(|row| row.late),
        }
    }
}

/// Checks that the rounds of a row match its number of rounds, samples, losses and extremes. An
/// empty list is valid: older files have no rounds.
///
/// # Errors
/// The variants of [`RowError`] for rounds.
pub(super) fn validate(row: &Row) -> Result<(), RowError> {
    let by_round = &row.by_round;
    if by_round.is_empty() {
        return Ok(());
    }
    if by_round.len() as u64 != u64::from(row.setting.rounds) {
        return Err(RowError::RoundCount { figures: by_round.len(), rounds: row.setting.rounds });
    }
    by_round.iter().zip(1..).try_for_each(|(figures, round)| figures.validate(round))?;
    let sum = |what: fn(&RoundFigures) -> u64| {
        by_round.iter().map(what).try_fold(0_u64, |sum, next| sum.checked_add(next))
    };
    let sums = [sum(|round| round.samples), sum(|round| round.lost)];
    let min = by_round.iter().filter_map(|round| round.min).min();
    let max = by_round.iter().filter_map(|round| round.max).max();
    let summary = &row.summary;
    match (sums, min, max) == ([Some(row.samples), Some(row.lost)], summary.min, summary.max) {
        true => Ok(()),
        false => Err(RowError::Rounds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;
    use crate::results::tests::{recorded, setting};
    use proptest::prelude::*;

    fn round(samples: impl IntoIterator<Item = u64>) -> Row {
        Row::new(setting("intended to order"), &recorded(samples), &recorded([100]))
    }

    /// Returns a row of seven rounds of 100 samples, with medians of 1 to 7 µs.
    fn seven() -> Row {
        let rows: Vec<Row> = (1..=7).map(|at| round((0..100).map(|n| at * 1_000 + n))).collect();
        Row::from_rounds(&rows).unwrap()
    }

    #[test]
    fn interleaved_alternates_subjects_in_every_round() {
        let order: Vec<_> = interleaved(3, 2).collect();
        assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        assert_eq!((interleaved(0, 7).count(), interleaved(3, 0).count()), (0, 0));
    }

    #[test]
    fn counts_are_summed_and_extremes_are_exact() {
        let one = Row { lost: 2, late_orders: 1, ..round([70_001, 70_003]) };
        let other = Row { lost: 3, ..round([5, 70_002]) };
        let joined = Row::from_rounds(&[one, other]).unwrap();
        assert_eq!((joined.samples, joined.lost, joined.late_orders), (4, 5, 1));
        assert_eq!((joined.summary.min, joined.summary.max), (Some(5), Some(70_003)));
        assert_eq!((joined.setting.rounds, joined.by_round.len()), (2, 2));
        assert_eq!((joined.by_round[1].samples, joined.by_round[1].lost), (2, 3));
    }

    #[test]
    fn start_is_the_median_of_the_rounds_that_contain_it() {
        let starts = [Some(30), None, Some(90), Some(10)];
        let rows = starts.map(|start_ns| Row { start_ns, ..round([1]) });
        let joined = Row::from_rounds(&rows).unwrap();
        assert_eq!(joined.start_ns, Some(30));
        assert_eq!([0, 1, 2, 3].map(|at| joined.by_round[at].start_ns), starts);
        assert_eq!(Row::from_rounds(&[round([1])]).unwrap().start_ns, None);
    }

    #[test]
    fn rounds_of_another_setting_are_rejected() {
        assert_eq!(Row::from_rounds(&[]), Err(RowError::NoRounds));
        let mut other = round([2]);
        other.setting.wait = "spin".to_owned();
        let error = RowError::OtherSetting { round: 3 };
        assert_eq!(Row::from_rounds(&[round([1]), round([1]), other]), Err(error));
        let mut of_two = round([2]);
        of_two.setting.rounds = 2;
        assert!(
            Row::from_rounds(&[round([1]), of_two]).is_ok(),
            "the number of rounds is not compared"
        );
    }

    #[test]
    fn failed_or_interrupted_rounds_mark_the_row() {
        let failed = Row::failed(setting("intended to order"), "3 gaps");
        let cut = Row { interrupted: true, ..round([7]) };
        let joined = Row::from_rounds(&[cut, failed.clone()]).unwrap();
        assert_eq!((joined.failed.as_deref(), joined.interrupted), (Some("round 2: 3 gaps"), true));
        assert_eq!(joined.by_round[1], RoundFigures::default());
        let twice = Row::from_rounds(&[failed.clone(), failed.clone()]).unwrap();
        assert_eq!(twice.failed.as_deref(), Some("rounds 1, 2: 3 gaps"));
        assert_eq!(Row::from_rounds(&[failed]).unwrap().failed.as_deref(), Some("3 gaps"));
    }

    #[test]
    fn common_values_of_the_rounds_are_kept() {
        let one = Row { cores: Some([0, 1]), seed: Some(1), ..round([7]) };
        let other = Row { seed: Some(2), ..one.clone() };
        let joined = Row::from_rounds(&[one, other]).unwrap();
        assert_eq!((joined.cores, joined.seed, joined.ground), (Some([0, 1]), None, None));
    }

    #[test]
    fn lateness_is_pooled_over_all_sends() {
        let sends = |late, count| {
            let all =
                std::iter::repeat_n(late, count).chain(std::iter::repeat_n(10, 1_000 - count));
            Row::new(setting("a"), &recorded([1]), &recorded(all))
        };
        // 20 late sends of 3,000 are less than 1 %, although one round was late.
        let (late, punctual) = (sends(900_000, 20), sends(10, 1_000));
        assert!(late.late);
        let joined = Row::from_rounds(&[late.clone(), punctual.clone(), punctual.clone()]).unwrap();
        assert_eq!(
            (joined.late, joined.lateness_p50, joined.lateness_p99),
            (false, Some(10), Some(10))
        );
        assert_eq!(joined.lateness_histogram.map(|it| it.count()), Some(3_000));
        // Without a histogram, the greatest lateness of a round is used.
        let old = Row { lateness_histogram: None, ..late };
        let joined = Row::from_rounds(&[old, punctual.clone(), punctual]).unwrap();
        assert!(joined.late && joined.lateness_p99.is_some_and(|nanos| nanos > 890_000));
        assert_eq!(joined.lateness_histogram, None);
    }

    #[test]
    fn over_time_contains_the_rounds_in_order() {
        let joined = Row::from_rounds(&[round(1..=30), round(31..=60)]).unwrap();
        let places: Vec<_> = joined.over_time.iter().map(|it| (it.first, it.min, it.max)).collect();
        assert_eq!(places, [(0, 1, 30), (30, 31, 60)]);
        let old = Row { over_time: Vec::new(), ..round([1]) };
        assert_eq!(Row::from_rounds(&[round([1]), old]).unwrap().over_time, []);
    }

    #[test]
    fn spread_has_the_median_over_rounds() {
        let row = seven();
        let spread = |figure| row.over_rounds(figure).unwrap();
        let p50 = spread(Figure::P50);
        assert_eq!((p50.least, p50.median, p50.greatest), (1_049.0, 4_049.0, 7_051.0));
        assert_eq!([spread(Figure::Min).median, spread(Figure::Max).median], [4_000.0, 4_099.0]);
        assert_eq!(spread(Figure::Mean).median, 4_049.5);
        assert_eq!(row.over_rounds(Figure::P99_9), None, "no round has enough samples");
        assert_eq!(round([1; 100]).over_rounds(Figure::P50), None);
    }

    #[test]
    fn percentiles_of_rounds_need_ten_greater_samples() {
        let joined = Row::from_rounds(&[round(1..=19), round(1..=1)]).unwrap();
        assert_eq!((joined.by_round[0].p50, joined.summary.p50), (None, Some(9)));
        assert_eq!((joined.by_round[0].p25, joined.summary.p75), (Some(5), None));
        // Only one round has the percentile, so there is no median over both.
        assert_eq!(joined.over_rounds(Figure::P25), None);
        assert_eq!(shown(&joined, Figure::P25), Some(4.0));
    }

    #[test]
    fn rounds_must_add_up_to_their_row() {
        let changed = |change: fn(&mut Row)| {
            let mut row = seven();
            change(&mut row);
            row.validate()
        };
        assert_eq!(changed(|_| {}), Ok(()));
        assert_eq!(changed(|row| row.by_round.clear()), Ok(()));
        let count = RowError::RoundCount { figures: 7, rounds: 8 };
        assert_eq!(changed(|row| row.setting.rounds = 8), Err(count));
        assert_eq!(changed(|row| row.by_round[2].samples += 1), Err(RowError::Rounds));
        assert_eq!(changed(|row| row.by_round[2].samples = u64::MAX), Err(RowError::Rounds));
        assert_eq!(changed(|row| row.by_round[2].lost += 1), Err(RowError::Rounds));
        assert_eq!(changed(|row| row.by_round[0].min = Some(999)), Err(RowError::Rounds));
        assert_eq!(changed(|row| row.by_round[6].max = Some(8_000)), Err(RowError::Rounds));
    }

    #[test]
    fn figures_of_a_round_must_be_consistent() {
        let changed = |change: fn(&mut RoundFigures)| {
            let mut row = seven();
            change(&mut row.by_round[1]);
            row.validate()
        };
        let round = 2;
        assert_eq!(changed(|it| it.mean = None), Err(RowError::RoundIncomplete { round }));
        assert_eq!(changed(|it| it.mean = Some(1_999.0)), Err(RowError::RoundMean { round }));
        assert_eq!(changed(|it| it.mean = Some(f64::NAN)), Err(RowError::RoundMean { round }));
        let unfounded = RowError::RoundUnfounded { round, name: "p99" };
        assert_eq!(changed(|it| it.p99 = it.max), Err(unfounded));
        let disorder = RowError::RoundDisorder { round, lower: "p25", higher: "p50" };
        assert_eq!(changed(|it| it.p50 = it.min), Err(disorder));
        let disorder = RowError::RoundDisorder { round, lower: "p90", higher: "max" };
        assert_eq!(changed(|it| it.max = Some(2_085)), Err(disorder));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The reference is one recorder with the samples of all rounds.
        #[test]
        fn joined_rounds_match_a_row_of_all_samples(
            rounds in prop::collection::vec(prop::collection::vec(
                (0u32..36).prop_flat_map(|bits| 0..=(1u64 << bits)), 0..400), 1..9),
        ) {
            let rows: Vec<Row> = rounds.iter().map(|it| round(it.iter().copied())).collect();
            let joined = Row::from_rounds(&rows).unwrap();
            let mut all = Recorder::with_capacity(4_000);
            let samples = rounds.concat().into_iter().map(hairpin_time::Duration::from_nanos);
            samples.for_each(|sample| all.record(sample));
            let naive = Row::new(setting("intended to order"), &all, &recorded([]));
            prop_assert_eq!(&joined.summary.histogram, &naive.summary.histogram);
            prop_assert_eq!(joined.summary.percentiles(), naive.summary.percentiles());
            prop_assert_eq!(joined.summary.min, naive.summary.min);
            prop_assert_eq!(joined.summary.max, naive.summary.max);
            for (ours, theirs) in [
                (joined.summary.mean, naive.summary.mean),
                (joined.summary.stddev, naive.summary.stddev),
            ] {
                let (Some(ours), Some(theirs)) = (ours, theirs) else {
                    prop_assert_eq!(ours, theirs);
                    continue;
                };
                let scale = naive.summary.max.unwrap_or(0) as f64;
                prop_assert!((ours - theirs).abs() <= 1e-12 * scale + 1e-9, "{} {}", ours, theirs);
            }
            prop_assert_eq!(joined.validate(), Ok(()));
        }

        /// The order of joining does not matter.
        #[test]
        fn joining_is_associative(
            rounds in prop::collection::vec(prop::collection::vec(0..90_000u64, 0..60), 2..7),
        ) {
            let rows: Vec<Row> = rounds.iter().map(|it| round(it.iter().copied())).collect();
            let (one, other) = rows.split_at(rows.len() / 2);
            let parts = [Row::from_rounds(one).unwrap(), Row::from_rounds(other).unwrap()];
            let [parts, whole] = [&parts[..], &rows].map(|rows| Row::from_rounds(rows).unwrap());
            prop_assert_eq!(&parts.by_round, &whole.by_round);
            prop_assert_eq!(&parts.over_time, &whole.over_time);
            prop_assert_eq!(parts.summary.percentiles(), whole.summary.percentiles());
        }
    }
}
