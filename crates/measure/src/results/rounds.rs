//! Rows that were measured in several rounds.

use serde::{Deserialize, Serialize};

use super::row::{Row, Setting, in_order, is_late};
use super::{Bucket, RowError};
use crate::{Histogram, Quantile, Summary, bootstrap};

/// What one round of a row gave, in nanoseconds.
///
/// As in a row, a percentile is `None` unless at least [`Quantile::SAMPLES_BEYOND`] samples of the
/// round lie beyond it, and without samples there is no figure at all.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RoundFigures {
    /// How many samples the round recorded.
    pub samples: u64,
    /// How many of its sends were never answered.
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
    /// From starting the round's processes to both sides ready, as in [`Row::start_ns`].
    #[serde(default)]
    pub start_ns: Option<u64>,
}

/// A figure that every round has of its own.
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

/// A figure over the rounds of a row, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median over rounds; of an even number of them the mean of the two in the middle.
    pub median: f64,
    /// The lower end of the 95 % bootstrap interval of that median.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Of the round with the least.
    pub least: f64,
    /// Of the round with the greatest.
    pub greatest: f64,
}

/// The order of interleaved rounds: A B C A B C … as (round, side), both counted from zero.
///
/// What slows the machine for a while then slows all sides alike, instead of the one whose turn it
/// was.
///
/// ```
/// let order: Vec<_> = hairpin_measure::interleaved(2, 2).collect();
/// assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1)]);
/// ```
pub fn interleaved(sides: usize, rounds: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rounds).flat_map(move |round| (0..sides).map(move |side| (round, side)))
}

impl RoundFigures {
    /// The figures of a row that was measured in one round.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        let Summary { min, p25, p50, p75, p90, p95, p99, p99_9, max, mean, .. } = row.summary;
        let Row { samples, lost, start_ns, .. } = *row;
        Self { samples, lost, min, p25, p50, p75, p90, p95, p99, p99_9, max, mean, start_ns }
    }

    /// One of the figures, in nanoseconds; `None` where the round has too few samples for it.
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

    /// Whether the figures of this round, number `round` counted from one, agree.
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
        // The last bits of a mean may be rounded past the extremes.
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
    /// Joins the rounds of one setting, in their order: what a measuring command reports of it.
    ///
    /// - Histograms are added, and percentiles are those of the sum; extremes are exact; mean and
    ///   deviation are combined from the rounds' own and are as exact as they are.
    /// - `lost` and `late_orders` are summed. Lateness is pooled: its percentiles, and `late`, are
    ///   of all sends together. Of rounds that lack their lateness histogram (files of an earlier
    ///   version) the greatest percentile of any stands for it, which is never too good.
    /// - `over_time` is one round after the other, or empty if one lacks it.
    /// - `cores`, `seed`, `ground` and `block_deadline_ns` are kept where all rounds agree in them.
    /// - `start_ns` is the median over the rounds that tell it.
    /// - If a round failed the row did, and says which and why; if one was interrupted, so was it.
    /// - `rounds` is their number, and `by_round` has the figures of each. A row that is one of
    ///   rounds already brings all of its own.
    ///
    /// # Errors
    /// [`RowError::NoRounds`]; [`RowError::OtherSetting`] if the settings differ in anything but
    /// `rounds`; and what [`Row::validate`] finds, when a row given was not valid.
    pub fn of_rounds(rows: &[Self]) -> Result<Self, RowError> {
        let (first, rest) = rows.split_first().ok_or(RowError::NoRounds)?;
        if let Some(at) = rest.iter().position(|row| !row.setting.is_same(&first.setting)) {
            return Err(RowError::OtherSetting { round: at + 2 });
        }
        let by_round: Vec<_> = rows.iter().flat_map(Self::figures_by_round).collect();
        let rounds = u32::try_from(by_round.len()).unwrap_or(u32::MAX);
        let setting = Setting { rounds, ..first.setting.clone() };
        let lateness = Lateness::of(rows);
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
            cores: agreed(rows, |row| row.cores),
            seed: agreed(rows, |row| row.seed),
            ground: agreed(rows, |row| row.ground.clone()),
            block_deadline_ns: agreed(rows, |row| row.block_deadline_ns),
            over_time: joined_over_time(rows),
            start_ns: median_start(&by_round),
            by_round,
        };
        joined.validate()?;
        Ok(joined)
    }

    /// A figure over the rounds of this row: median, 95 % interval, extremes. Rounds that have too
    /// few samples for the figure are left out.
    ///
    /// `None` with fewer than two rounds that have it: one round tells nothing of the next. With
    /// fewer than six no interval of a median reaches 95 %, and it goes from the least to the
    /// greatest, which holds the true median in 1 − 2^(1 − rounds) of all cases.
    #[must_use]
    pub fn over_rounds(&self, figure: Figure) -> Option<Spread> {
        let mut values = self.values(figure);
        if values.len() < 2 {
            return None;
        }
        let [median, low, high] = bootstrap::of_median(&values);
        values.sort_unstable_by(f64::total_cmp);
        let (least, greatest) = (*values.first()?, *values.last()?);
        Some(Spread { median, low, high, least, greatest })
    }

    /// A figure of each round that has it, in the order of the rounds.
    pub(crate) fn values(&self, figure: Figure) -> Vec<f64> {
        self.by_round.iter().filter_map(|round| round.figure(figure)).collect()
    }

    fn figures_by_round(&self) -> Vec<RoundFigures> {
        match self.by_round.is_empty() {
            true => vec![RoundFigures::of(self)],
            false => self.by_round.clone(),
        }
    }
}

/// What tables show of a figure, in nanoseconds: the median over rounds where every round has it,
/// else that of all samples together.
pub(crate) fn shown(row: &Row, figure: Figure) -> Option<f64> {
    let mut values = row.values(figure);
    match values.len() >= 2 && values.len() == row.by_round.len() {
        true => Some(bootstrap::median(&mut values)),
        false => RoundFigures::of(row).figure(figure),
    }
}

/// Saturating: what does not fit cannot agree with its rounds either, and is refused.
fn sum(rows: &[Row], what: impl Fn(&Row) -> u64) -> u64 {
    rows.iter().map(what).fold(0, u64::saturating_add)
}

fn agreed<T: PartialEq>(rows: &[Row], what: impl Fn(&Row) -> Option<T>) -> Option<T> {
    let mut said = rows.iter().map(what);
    let first = said.next()??;
    said.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// Which round failed, and why.
fn failure(rows: &[Row]) -> Option<String> {
    let mut reasons =
        rows.iter().zip(1..).filter_map(|(row, round)| Some((row.failed.as_ref()?, round)));
    let (reason, round) = reasons.next()?;
    match rows.len() {
        1 => Some(reason.clone()),
        _ => Some(format!("round {round}: {reason}")),
    }
}

/// Of an even number of rounds the longer one of the two in the middle.
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

/// How late the sends of all rounds together left.
struct Lateness {
    p50: Option<u64>,
    p99: Option<u64>,
    histogram: Option<Histogram>,
}

impl Lateness {
    fn of(rows: &[Row]) -> Self {
        let has_sends = |row: &&Row| row.lateness_histogram.is_some() || row.lateness_p50.is_some();
        let of: Option<Vec<&Histogram>> =
            rows.iter().filter(has_sends).map(|row| row.lateness_histogram.as_ref()).collect();
        match of {
            Some(of) if !of.is_empty() => {
                let histogram = Histogram::sum(of);
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

    /// By the pooled tail; where that is not known, if any round was late.
    fn is_late(&self, rows: &[Row], setting: &Setting) -> bool {
        let latest = |histogram: &Histogram| histogram.iter().last().map(|bucket| bucket.least);
        match &self.histogram {
            Some(histogram) => is_late(self.p99.or(latest(histogram)), setting),
            None => rows.iter().any(|row| row.late),
        }
    }
}

/// Whether these rounds are those of a row with so many rounds, samples, losses and these extremes.
/// None at all are of any row: files of the first version have none.
///
/// # Errors
/// Those of [`RowError`] that speak of rounds.
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
    let of = &row.summary;
    match (sums, min, max) == ([Some(row.samples), Some(row.lost)], of.min, of.max) {
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

    /// Seven rounds of 100 samples whose medians are 1 … 7 µs.
    fn seven() -> Row {
        let rows: Vec<Row> = (1..=7).map(|at| round((0..100).map(|n| at * 1_000 + n))).collect();
        Row::of_rounds(&rows).unwrap()
    }

    #[test]
    fn sides_take_turns_in_every_round() {
        let order: Vec<_> = interleaved(3, 2).collect();
        assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        assert_eq!((interleaved(0, 7).count(), interleaved(3, 0).count()), (0, 0));
    }

    #[test]
    fn what_is_counted_is_summed_and_extremes_are_exact() {
        let one = Row { lost: 2, late_orders: 1, ..round([70_001, 70_003]) };
        let other = Row { lost: 3, ..round([5, 70_002]) };
        let joined = Row::of_rounds(&[one, other]).unwrap();
        assert_eq!((joined.samples, joined.lost, joined.late_orders), (4, 5, 1));
        assert_eq!((joined.summary.min, joined.summary.max), (Some(5), Some(70_003)));
        assert_eq!((joined.setting.rounds, joined.by_round.len()), (2, 2));
        assert_eq!((joined.by_round[1].samples, joined.by_round[1].lost), (2, 3));
    }

    #[test]
    fn the_start_is_the_median_of_the_rounds_that_tell_it() {
        let starts = [Some(30), None, Some(90), Some(10)];
        let rows = starts.map(|start_ns| Row { start_ns, ..round([1]) });
        let joined = Row::of_rounds(&rows).unwrap();
        assert_eq!(joined.start_ns, Some(30));
        assert_eq!([0, 1, 2, 3].map(|at| joined.by_round[at].start_ns), starts);
        assert_eq!(Row::of_rounds(&[round([1])]).unwrap().start_ns, None);
    }

    #[test]
    fn rounds_of_another_setting_are_refused() {
        assert_eq!(Row::of_rounds(&[]), Err(RowError::NoRounds));
        let mut other = round([2]);
        other.setting.wait = "spin".to_owned();
        let refused = RowError::OtherSetting { round: 3 };
        assert_eq!(Row::of_rounds(&[round([1]), round([1]), other]), Err(refused));
        let mut of_two = round([2]);
        of_two.setting.rounds = 2;
        assert!(Row::of_rounds(&[round([1]), of_two]).is_ok(), "their number is no setting");
    }

    #[test]
    fn a_failed_round_fails_the_row_and_an_interrupted_one_interrupts_it() {
        let failed = Row::failed(setting("intended to order"), "3 gaps");
        let cut = Row { interrupted: true, ..round([7]) };
        let joined = Row::of_rounds(&[cut, failed.clone()]).unwrap();
        assert_eq!((joined.failed.as_deref(), joined.interrupted), (Some("round 2: 3 gaps"), true));
        assert_eq!(joined.by_round[1], RoundFigures::default());
        assert_eq!(Row::of_rounds(&[failed]).unwrap().failed.as_deref(), Some("3 gaps"));
    }

    #[test]
    fn what_the_rounds_agree_in_is_kept() {
        let one = Row { cores: Some([0, 1]), seed: Some(1), ..round([7]) };
        let other = Row { seed: Some(2), ..one.clone() };
        let joined = Row::of_rounds(&[one, other]).unwrap();
        assert_eq!((joined.cores, joined.seed, joined.ground), (Some([0, 1]), None, None));
    }

    #[test]
    fn lateness_is_that_of_all_sends_together() {
        let sends = |late, count| {
            let all =
                std::iter::repeat_n(late, count).chain(std::iter::repeat_n(10, 1_000 - count));
            Row::new(setting("a"), &recorded([1]), &recorded(all))
        };
        // 20 late sends of 3,000 are less than one in a hundred, though one round was late.
        let (late, punctual) = (sends(900_000, 20), sends(10, 1_000));
        assert!(late.late);
        let joined = Row::of_rounds(&[late.clone(), punctual.clone(), punctual.clone()]).unwrap();
        assert_eq!(
            (joined.late, joined.lateness_p50, joined.lateness_p99),
            (false, Some(10), Some(10))
        );
        assert_eq!(joined.lateness_histogram.map(|it| it.count()), Some(3_000));
        // Without the whole distribution, the worst of the rounds stands for it.
        let old = Row { lateness_histogram: None, ..late };
        let joined = Row::of_rounds(&[old, punctual.clone(), punctual]).unwrap();
        assert!(joined.late && joined.lateness_p99.is_some_and(|nanos| nanos > 890_000));
        assert_eq!(joined.lateness_histogram, None);
    }

    #[test]
    fn over_time_one_round_follows_the_other() {
        let joined = Row::of_rounds(&[round(1..=30), round(31..=60)]).unwrap();
        let places: Vec<_> = joined.over_time.iter().map(|it| (it.first, it.min, it.max)).collect();
        assert_eq!(places, [(0, 1, 30), (30, 31, 60)]);
        let old = Row { over_time: Vec::new(), ..round([1]) };
        assert_eq!(Row::of_rounds(&[round([1]), old]).unwrap().over_time, []);
    }

    #[test]
    fn a_figure_over_rounds_is_their_median() {
        let row = seven();
        let of = |figure| row.over_rounds(figure).unwrap();
        let p50 = of(Figure::P50);
        assert_eq!((p50.least, p50.median, p50.greatest), (1_049.0, 4_049.0, 7_051.0));
        assert_eq!([of(Figure::Min).median, of(Figure::Max).median], [4_000.0, 4_099.0]);
        assert_eq!(of(Figure::Mean).median, 4_049.5);
        assert_eq!(row.over_rounds(Figure::P99_9), None, "no round has enough samples");
        assert_eq!(round([1; 100]).over_rounds(Figure::P50), None);
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it_in_a_round_as_in_the_row() {
        let joined = Row::of_rounds(&[round(1..=19), round(1..=1)]).unwrap();
        assert_eq!((joined.by_round[0].p50, joined.summary.p50), (None, Some(9)));
        assert_eq!((joined.by_round[0].p25, joined.summary.p75), (Some(5), None));
        // One round has it and one has not: no median over both.
        assert_eq!(joined.over_rounds(Figure::P25), None);
        assert_eq!(shown(&joined, Figure::P25), Some(4.0));
    }

    #[test]
    fn rounds_add_up_to_their_row() {
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
    fn the_figures_of_a_round_agree() {
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

        /// The second computation: one recorder that all rounds went into.
        #[test]
        fn joined_rounds_are_the_row_of_all_their_samples(
            rounds in prop::collection::vec(prop::collection::vec(
                (0u32..36).prop_flat_map(|bits| 0..=(1u64 << bits)), 0..400), 1..9),
        ) {
            let rows: Vec<Row> = rounds.iter().map(|it| round(it.iter().copied())).collect();
            let joined = Row::of_rounds(&rows).unwrap();
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

        /// In whatever parts they are joined.
        #[test]
        fn joining_what_was_joined_changes_nothing(
            rounds in prop::collection::vec(prop::collection::vec(0..90_000u64, 0..60), 2..7),
        ) {
            let rows: Vec<Row> = rounds.iter().map(|it| round(it.iter().copied())).collect();
            let (one, other) = rows.split_at(rows.len() / 2);
            let parts = [Row::of_rounds(one).unwrap(), Row::of_rounds(other).unwrap()];
            let (parts, whole) = (Row::of_rounds(&parts).unwrap(), Row::of_rounds(&rows).unwrap());
            prop_assert_eq!(&parts.by_round, &whole.by_round);
            prop_assert_eq!(&parts.over_time, &whole.over_time);
            prop_assert_eq!(parts.summary.percentiles(), whole.summary.percentiles());
        }
    }
}
