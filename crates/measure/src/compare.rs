//! The comparison of two results files.

mod between_runs;
mod ratio;
mod ratio_chart;
mod table;

use std::fmt;

use serde::{Serialize, Serializer};

use crate::results::is_preferred;
use crate::{Figure, Host, Results, Row, Setting, bootstrap};

pub use between_runs::between_runs;
pub use ratio::Ratio;
pub(crate) use ratio::{Baseline, against_kernel};

/// The comparison of one setting in two results files.
///
/// Two figures represent a row. The *median* over its rounds includes the load of the machine
/// during the run. The *quiet* figure is the lower decile over its rounds, from rounds without
/// other load; it is far more reproducible. The verdict is that of the quiet figures. The medians
/// have a separate verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The setting, from the first file if it contains the row, otherwise from the second.
    #[serde(flatten)]
    pub setting: Setting,
    /// The row of the first file, A.
    pub a: Option<ComparedRow>,
    /// The row of the second file, B.
    pub b: Option<ComparedRow>,
    /// The median of B divided by that of A, with the 95 % interval over rounds; `None` unless both
    /// have [`Ratio::ROUNDS_MIN`] rounds.
    pub over_rounds: Option<Ratio>,
    /// The same ratio, with the interval widened by the usual difference of medians between runs.
    pub ratio: Option<Ratio>,
    /// The verdict of the medians; `None` without `ratio`.
    pub median_verdict: Option<Verdict>,
    /// The quiet figure of B divided by that of A, with the interval over rounds; `None` without
    /// `over_rounds`.
    pub quiet_over_rounds: Option<Ratio>,
    /// The same ratio, with the interval widened by the usual difference of quiet figures between
    /// runs. The verdict is that of this ratio.
    pub quiet_ratio: Option<Ratio>,
    /// The verdict.
    pub verdict: Verdict,
}

/// A row of one of the compared files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRow {
    /// The median in nanoseconds: over rounds, or of all samples without rounds.
    pub p50: Option<f64>,
    /// The quiet figure in nanoseconds: the lower decile of the medians of the rounds. `None`
    /// without rounds.
    pub quiet: Option<f64>,
    /// The number of rounds with a median.
    pub rounds: usize,
    /// The restrictions of the row: late, interrupted, lost sends.
    pub notes: Vec<String>,
}

/// The verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The interval of the ratio contains 1, and lies within [`Ratio::EQUAL`].
    Same,
    /// The interval contains 1, and is wider.
    Undecided,
    /// The interval is below 1.
    Faster,
    /// The interval is above 1.
    Slower,
    /// The rows cannot be compared.
    NotComparable(Reason),
}

/// The reason for which rows cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The second file does not contain the row.
    OnlyInA,
    /// The first file does not contain the row.
    OnlyInB,
    /// The row of the first file failed.
    FailedInA,
    /// The row of the second file failed.
    FailedInB,
    /// The row of the first file has too few samples for a median, or a median of zero.
    NoMedianInA,
    /// The row of the second file has too few samples for a median, or a median of zero.
    NoMedianInB,
    /// A row has fewer than [`Ratio::ROUNDS_MIN`] rounds with a median.
    TooFewRounds {
        /// The rounds of the first file.
        a: usize,
        /// The rounds of the second file.
        b: usize,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyInA => f.write_str("only in A"),
            Self::OnlyInB => f.write_str("only in B"),
            Self::FailedInA => f.write_str("failed in A"),
            Self::FailedInB => f.write_str("failed in B"),
            Self::NoMedianInA => f.write_str("no median in A"),
            Self::NoMedianInB => f.write_str("no median in B"),
            Self::TooFewRounds { a, b } => {
                write!(f, "too few rounds: {a} and {b}, {} are needed", Ratio::ROUNDS_MIN)
            }
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("the same"),
            Self::Undecided => f.write_str("undecided"),
            Self::Faster => f.write_str("faster"),
            Self::Slower => f.write_str("slower"),
            Self::NotComparable(reason) => write!(f, "not comparable: {reason}"),
        }
    }
}

impl Verdict {
    /// Returns `true` if B is faster or slower.
    #[must_use]
    pub fn is_change(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Compares the rows of two files, paired by setting, with the usual allowance for the difference
/// [between runs](between_runs).
///
/// Settings have the order of the first file, followed by those of the second file alone. For a
/// setting with several runs, the last run that was not late counts, as in the report.
#[must_use]
pub fn compare(a: &Results, b: &Results) -> Vec<Compared> {
    compare_allowing(a, b, between_runs(a, b))
}

/// Compares like [`compare`] with another allowance, as a fraction: 0.02 is 2 %.
#[must_use]
pub fn compare_allowing(a: &Results, b: &Results, between_runs: f64) -> Vec<Compared> {
    let mut settings: Vec<&Setting> = Vec::new();
    for row in a.rows.iter().chain(&b.rows) {
        if !settings.iter().any(|known| known.is_same(&row.setting)) {
            settings.push(&row.setting);
        }
    }
    let compared = |setting: &Setting| {
        let [a, b] = [a, b].map(|file| last_valid(&file.rows, |it| it.is_same(setting)));
        Compared::new(setting, a, b, between_runs)
    };
    settings.into_iter().map(compared).collect()
}

/// Returns the run that counts among the rows with a wanted setting: the last one that kept its
/// schedule, otherwise the last that did not fail, otherwise the last.
pub(crate) fn last_valid(rows: &[Row], is_wanted: impl Fn(&Setting) -> bool) -> Option<&Row> {
    let runs = rows.iter().filter(|row| is_wanted(&row.setting));
    runs.reduce(|one, next| if is_preferred(one, next) { one } else { next })
}

/// Returns the facts in which two machines differ and that may explain a difference of their rows.
/// Each text contains the name and both values.
#[must_use]
pub fn differences(a: &Host, b: &Host) -> Vec<String> {
    let facts = |host: &Host| {
        let Host { cpu, cores, kernel, virtualised, governor, nic, .. } = host.clone();
        let kind = if virtualised { "virtual" } else { "not virtual" };
        [
            ("processor", cpu),
            ("cores", cores.to_string()),
            ("kernel", kernel),
            ("machine", kind.to_owned()),
            ("governor", governor.unwrap_or_else(|| "none".to_owned())),
            ("network", nic),
        ]
    };
    let both = facts(a).into_iter().zip(facts(b)).filter(|(a, b)| a != b);
    both.map(|((name, a), (_, b))| format!("{name}: {a} / {b}")).collect()
}

impl Compared {
    fn new(setting: &Setting, a: Option<&Row>, b: Option<&Row>, between_runs: f64) -> Self {
        let reason = exclusion(a, b);
        let medians =
            |row: Option<&Row>| row.map(|row| row.values(Figure::P50)).unwrap_or_default();
        let values = [medians(a), medians(b)];
        let between = |ratio: fn(&[f64], &[f64]) -> Option<Ratio>| match reason {
            Some(_) => None,
            None => ratio(&values[0], &values[1]),
        };
        let [over_rounds, quiet_over_rounds] =
            [Ratio::from_medians, Ratio::from_quiet].map(between);
        let for_medians = between_runs::for_medians(between_runs, &values[0], &values[1]);
        let ratio = over_rounds.map(|it| it.widened(for_medians));
        let quiet_ratio = quiet_over_rounds.map(|it| it.widened(between_runs));
        let too_few = Reason::TooFewRounds { a: values[0].len(), b: values[1].len() };
        let reason = Verdict::NotComparable(reason.unwrap_or(too_few));
        let [a, b] = [a, b].map(|row| row.map(ComparedRow::new));
        Self {
            setting: setting.clone(),
            a,
            b,
            over_rounds,
            ratio,
            median_verdict: ratio.map(Ratio::verdict),
            quiet_over_rounds,
            quiet_ratio,
            verdict: quiet_ratio.map_or(reason, Ratio::verdict),
        }
    }

    /// Returns the verdict of the medians if it differs from the verdict and one of them is a
    /// change.
    fn contradiction(&self) -> Option<Verdict> {
        let is_change = |it: Verdict| it.is_change() || self.verdict.is_change();
        self.median_verdict.filter(|it| *it != self.verdict && is_change(*it))
    }

    /// Returns the number of rounds of both files that would probably decide; `None` if that takes
    /// too many, or if equal runs differ by more.
    fn rounds_to_decide(&self) -> Option<usize> {
        let (drawn, widened) = (self.quiet_over_rounds?, self.quiet_ratio?);
        let [narrow, wide] = [drawn, widened].map(|it| (it.high / it.ratio).ln());
        // Either the interval excludes 1, or it lies within the bounds.
        let distance = drawn.ratio.ln().abs().max(drawn.distance_to_bound());
        let rounds = self.a.as_ref()?.rounds.min(self.b.as_ref()?.rounds);
        drawn.rounds_to_reach(distance, rounds, (wide.powi(2) - narrow.powi(2)).max(0.0).sqrt())
    }
}

/// Returns the reason that excludes a comparison independently of the number of rounds.
fn exclusion(a: Option<&Row>, b: Option<&Row>) -> Option<Reason> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (None, _) => return Some(Reason::OnlyInB),
        (_, None) => return Some(Reason::OnlyInA),
    };
    let has_no_median = |row: &Row| ComparedRow::new(row).p50.is_none_or(|p50| p50 <= 0.0);
    let reasons = [
        (Reason::FailedInA, a.failed.is_some()),
        (Reason::FailedInB, b.failed.is_some()),
        (Reason::NoMedianInA, has_no_median(a)),
        (Reason::NoMedianInB, has_no_median(b)),
    ];
    reasons.into_iter().find(|(_, applies)| *applies).map(|(reason, _)| reason)
}

impl ComparedRow {
    fn new(row: &Row) -> Self {
        let p50 = crate::results::shown(row, Figure::P50);
        let all = [
            ("late".to_owned(), row.late),
            ("interrupted".to_owned(), row.interrupted),
            (format!("{} lost", row.lost), row.lost > 0),
        ];
        let notes = all.into_iter().filter(|(_, applies)| *applies).map(|(note, _)| note);
        let mut values = row.values(Figure::P50);
        let rounds = values.len();
        let quiet = (rounds > 0).then(|| bootstrap::quiet(&mut values));
        Self { p50, quiet, rounds, notes: notes.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{recorded, setting};
    use crate::{RoundFigures, Style, Timestamping};
    use hairpin_time::Utc;

    fn host() -> Host {
        Host {
            cpu: "A processor".to_owned(),
            cores: 2,
            kernel: "6.1.0".to_owned(),
            virtualised: false,
            tsc_hz: None,
            governor: None,
            nic: "veth".to_owned(),
            timestamping: Timestamping::None,
        }
    }

    fn file(rows: Vec<Row>) -> Results {
        Results { rows, ..Results::new(Utc::EPOCH, "hairpin ping", host()) }
    }

    /// Returns a row with this number of rounds around a median.
    fn row(wait: &str, p50: u64, rounds: u64) -> Row {
        let mut row = Row::new(setting("ping"), &recorded([p50; 30]), &recorded([]));
        row.setting.wait = wait.to_owned();
        let round =
            |at| RoundFigures { samples: 1, p50: Some(p50 + at % 3), ..RoundFigures::default() };
        row.by_round = (0..rounds).map(round).collect();
        row
    }

    fn verdict(a: Vec<Row>, b: Vec<Row>) -> String {
        let compared = compare(&file(a), &file(b));
        assert_eq!(compared.len(), 1);
        compared[0].verdict.to_string()
    }

    #[test]
    fn rows_are_paired_by_setting() {
        let a = file(vec![row("poll", 10_000, 7), row("spin", 5_000, 7)]);
        let b = file(vec![row("spin", 5_000, 15), row("poll", 20_000, 7), row("block", 1, 7)]);
        let compared = compare(&a, &b);
        let verdicts: Vec<_> =
            compared.iter().map(|it| (it.setting.wait.as_str(), it.verdict.to_string())).collect();
        let expected = [
            ("poll", "slower".to_owned()),
            ("spin", "the same".to_owned()),
            ("block", "not comparable: only in B".to_owned()),
        ];
        assert_eq!(verdicts, expected);
        assert_eq!(compare(&b, &a)[1].verdict, Verdict::Faster);
        assert_eq!(compare(&b, &a)[2].verdict, Verdict::NotComparable(Reason::OnlyInA));
    }

    #[test]
    fn verdicts_contain_the_reason_for_no_comparison() {
        let good = || vec![row("poll", 10_000, 7)];
        let failed = || vec![Row { failed: Some("x".to_owned()), ..row("poll", 10_000, 7) }];
        assert_eq!(verdict(failed(), good()), "not comparable: failed in A");
        assert_eq!(verdict(good(), failed()), "not comparable: failed in B");
        let few = "not comparable: too few rounds: 7 and 5, 6 are needed";
        assert_eq!(verdict(good(), vec![row("poll", 10_000, 5)]), few);
        let old = "not comparable: too few rounds: 0 and 7, 6 are needed";
        assert_eq!(verdict(vec![row("poll", 10_000, 0)], good()), old);
        assert_eq!(verdict(vec![row("poll", 0, 0)], good()), "not comparable: no median in A");
        let mut short = row("poll", 10_000, 0);
        short.summary.p50 = None;
        assert_eq!(verdict(good(), vec![short]), "not comparable: no median in B");
    }

    #[test]
    fn last_run_that_kept_its_schedule_counts() {
        let late = |p50| Row { late: true, ..row("poll", p50, 7) };
        let good = |p50| row("poll", p50, 7);
        let failed = Row { failed: Some("x".to_owned()), ..good(5) };
        let p50 =
            |rows: Vec<Row>| last_valid(&rows, |_| true).map(|row| row.by_round[0].p50.unwrap());
        assert_eq!(p50(vec![late(1), good(2)]), Some(2));
        assert_eq!(p50(vec![good(1), good(2), late(3)]), Some(2));
        assert_eq!(p50(vec![late(1), late(2)]), Some(2));
        assert_eq!(p50(vec![late(1), failed]), Some(1));
        assert_eq!(p50(vec![]), None);
    }

    #[test]
    fn virtual_machines_require_a_greater_difference() {
        let [a, mut b] = [10_000, 10_500].map(|p50| file(vec![row("poll", p50, 7)]));
        assert_eq!(compare(&a, &b)[0].verdict, Verdict::Slower);
        b.host.virtualised = true;
        assert_eq!(compare(&a, &b)[0].verdict, Verdict::Undecided);
        assert_eq!(compare(&b, &a)[0].verdict, Verdict::Undecided);
        assert_eq!(compare_allowing(&a, &b, 0.03)[0].verdict, Verdict::Slower);
    }

    /// Returns a row of seven rounds, of which the first `count` are slower by a half.
    fn disturbed(p50: u64, count: usize) -> Row {
        let mut row = row("poll", p50, 7);
        let slow = |round: &mut RoundFigures| round.p50 = round.p50.map(|nanos| nanos * 3 / 2);
        row.by_round[..count].iter_mut().for_each(slow);
        row
    }

    #[test]
    fn verdict_is_that_of_the_quiet_rounds() {
        let [a, b] = [file(vec![disturbed(10_000, 0)]), file(vec![disturbed(10_000, 6)])];
        let compared = &compare(&a, &b)[0];
        assert_eq!(compared.verdict, Verdict::Undecided);
        assert_eq!(compared.median_verdict, Some(Verdict::Slower));
        assert_eq!(compared.contradiction(), Some(Verdict::Slower));
        let [a, b] = [compared.a.as_ref().unwrap(), compared.b.as_ref().unwrap()];
        assert_eq!((a.quiet, a.p50), (Some(10_000.0), Some(10_001.0)));
        assert!(b.quiet.unwrap() < 10_400.0 && b.p50.unwrap() >= 15_000.0, "{b:?}");
        // Disturbed rounds do not hide a real change.
        let [a, b] = [file(vec![disturbed(10_000, 2)]), file(vec![disturbed(12_000, 0)])];
        assert_eq!(compare(&a, &b)[0].verdict, Verdict::Slower);
    }

    #[test]
    fn differences_name_each_fact() {
        let other = Host { kernel: "6.2.0".to_owned(), cores: 4, ..host() };
        assert_eq!(differences(&host(), &other), ["cores: 2 / 4", "kernel: 6.1.0 / 6.2.0"]);
        assert!(differences(&host(), &Host { tsc_hz: Some(1), ..host() }).is_empty());
    }

    #[test]
    fn table_contains_differing_settings_and_notes() {
        let b = Row { late: true, lost: 3, ..row("spin", 5_000, 0) };
        let a = file(vec![row("poll", 10_000, 7), row("spin", 4_000, 7)]);
        let compared = compare(&a, &file(vec![row("poll", 10_000, 7), b]));
        let text = Compared::table(&compared, Style::Plain);
        let lines: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let expected = [
            "wait case p50 A p50 B ratio quiet A quiet B ratio 95 % interval verdict",
            "poll ping 10.00 10.00 1.000 10.00 10.00 1.000 0.980 to 1.020 the same",
            "spin ping 4.00 5.00 1.250 4.00 - - - not comparable: too few rounds: 7 and 0, 6 are \
             needed; B late; B 3 lost",
        ];
        assert_eq!(lines, expected);
        let census = "2 rows: 1 the same, 0 undecided, 0 slower, 0 faster, 1 not comparable; the \
                      median of all quiet ratios is 1.000\n";
        assert_eq!(Compared::census(&compared), census);
        assert!(Compared::census(&[]).ends_with("0 not comparable\n"));
    }
}
