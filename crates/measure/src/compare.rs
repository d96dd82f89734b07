//! Two results files side by side.

mod allowance;
mod ratio;
mod table;

use std::fmt;

use serde::{Serialize, Serializer};

use crate::results::is_believed_before;
use crate::{Figure, Host, Results, Row, Setting, bootstrap};

pub use allowance::between_runs;
pub use ratio::Ratio;
pub(crate) use ratio::{Baseline, against_kernel};

/// One setting of two results files: the figures of both and what may be said of them.
///
/// Two figures stand for a row. The *median* over its rounds is what it took on the whole, on that
/// machine in those minutes. The *quiet* figure is the lower decile over its rounds: what it took
/// where the machine did nothing else, which two runs agree in much better. The verdict is taken
/// from the quiet figure; the medians have one of their own beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What was measured; of the first file, else of the second.
    #[serde(flatten)]
    pub setting: Setting,
    /// Of the first file, A.
    pub a: Option<Side>,
    /// Of the second file, B.
    pub b: Option<Side>,
    /// B's median divided by A's, with the 95 % interval over rounds; `None` unless both have
    /// [`Ratio::ROUNDS_MIN`] rounds.
    pub over_rounds: Option<Ratio>,
    /// The same, widened by how far the medians of two runs of the same lie apart.
    pub ratio: Option<Ratio>,
    /// What would be said of the medians alone; `None` where there is no ratio.
    pub median_verdict: Option<Verdict>,
    /// B's quiet figure divided by A's, with its interval over rounds; `None` where `over_rounds`
    /// is.
    pub quiet_over_rounds: Option<Ratio>,
    /// The same, widened by how far the quiet figures of two runs of the same lie apart: what the
    /// verdict is taken from.
    pub quiet_ratio: Option<Ratio>,
    /// What may be said.
    pub verdict: Verdict,
}

/// A row of one of two files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The median in nanoseconds: over rounds where there are some, else of all samples.
    pub p50: Option<f64>,
    /// The lower decile over rounds of their medians, in nanoseconds: that of the quiet rounds.
    /// `None` without rounds.
    pub quiet: Option<f64>,
    /// Rounds that have a median.
    pub rounds: usize,
    /// What a reader must know before believing it: late, interrupted, lossy.
    pub notes: Vec<String>,
}

/// What may be said of two rows of one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The interval of the ratio holds 1.
    WithinNoise,
    /// All of the interval lies below 1.
    Faster,
    /// All of it lies above 1.
    Slower,
    /// Nothing.
    NotComparable(Reason),
}

/// Why nothing may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The second file has no such row.
    OnlyInA,
    /// The first file has none.
    OnlyInB,
    /// The row of the first file failed.
    FailedInA,
    /// That of the second did.
    FailedInB,
    /// The first row has too few samples for a median, or a median of zero.
    NoMedianInA,
    /// The second has.
    NoMedianInB,
    /// Fewer than [`Ratio::ROUNDS_MIN`] rounds with a median in either.
    TooFewRounds {
        /// Those of the first file.
        a: usize,
        /// Those of the second.
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
            Self::WithinNoise => f.write_str("within noise"),
            Self::Faster => f.write_str("faster"),
            Self::Slower => f.write_str("slower"),
            Self::NotComparable(reason) => write!(f, "not comparable: {reason}"),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Compares all rows of two files, paired by setting, with the usual allowance for
/// what differs [between runs](between_runs).
///
/// Settings are in the order of the first file, then those that only the second has. Of a setting
/// that was run more than once the last run that was not late counts, as in the report.
#[must_use]
pub fn compare(a: &Results, b: &Results) -> Vec<Compared> {
    compare_allowing(a, b, between_runs(a, b))
}

/// The same with another allowance, as a part of one: 0.02 is 2 %.
#[must_use]
pub fn compare_allowing(a: &Results, b: &Results, between_runs: f64) -> Vec<Compared> {
    let mut settings: Vec<&Setting> = Vec::new();
    for row in a.rows.iter().chain(&b.rows) {
        if !settings.iter().any(|known| known.is_same(&row.setting)) {
            settings.push(&row.setting);
        }
    }
    let compared = |setting: &Setting| {
        let [a, b] = [a, b].map(|file| believed(&file.rows, |of| of.is_same(setting)));
        Compared::of(setting, a, b, between_runs)
    };
    settings.into_iter().map(compared).collect()
}

/// The row to believe of those whose setting is wanted: the last run that kept its schedule, else
/// the last, and one that failed only if all did.
pub(crate) fn believed(rows: &[Row], is_wanted: impl Fn(&Setting) -> bool) -> Option<&Row> {
    let runs = rows.iter().filter(|row| is_wanted(&row.setting));
    runs.reduce(|one, next| if is_believed_before(one, next) { one } else { next })
}

/// In what two machines differ that any difference of their rows may come from, a clause each:
/// name, the first, the second.
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
    fn of(setting: &Setting, a: Option<&Row>, b: Option<&Row>, between_runs: f64) -> Self {
        let reason = is_out(a, b);
        let of = |row: Option<&Row>| row.map(|row| row.values(Figure::P50)).unwrap_or_default();
        let values = [of(a), of(b)];
        let between = |ratio: fn(&[f64], &[f64]) -> Option<Ratio>| match reason {
            Some(_) => None,
            None => ratio(&values[0], &values[1]),
        };
        let [over_rounds, quiet_over_rounds] = [Ratio::of_medians, Ratio::of_quiet].map(between);
        let of_medians = allowance::of_medians(between_runs, &values[0], &values[1]);
        let ratio = over_rounds.map(|it| it.widened(of_medians));
        let quiet_ratio = quiet_over_rounds.map(|it| it.widened(between_runs));
        let too_few = Reason::TooFewRounds { a: values[0].len(), b: values[1].len() };
        let reason = Verdict::NotComparable(reason.unwrap_or(too_few));
        let [a, b] = [a, b].map(|row| row.map(Side::of));
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

    /// What the medians say, where that is another thing than the verdict.
    fn contradiction(&self) -> Option<Verdict> {
        self.median_verdict.filter(|said| *said != self.verdict)
    }
}

/// Why nothing may be said whatever the rounds.
fn is_out(a: Option<&Row>, b: Option<&Row>) -> Option<Reason> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (None, _) => return Some(Reason::OnlyInB),
        (_, None) => return Some(Reason::OnlyInA),
    };
    let has_none = |row: &Row| Side::of(row).p50.is_none_or(|p50| p50 <= 0.0);
    let reasons = [
        (Reason::FailedInA, a.failed.is_some()),
        (Reason::FailedInB, b.failed.is_some()),
        (Reason::NoMedianInA, has_none(a)),
        (Reason::NoMedianInB, has_none(b)),
    ];
    reasons.into_iter().find(|(_, applies)| *applies).map(|(reason, _)| reason)
}

impl Side {
    fn of(row: &Row) -> Self {
        let p50 = crate::results::shown(row, Figure::P50);
        let said = [
            ("late".to_owned(), row.late),
            ("interrupted".to_owned(), row.interrupted),
            (format!("{} lost", row.lost), row.lost > 0),
        ];
        let notes = said.into_iter().filter(|(_, applies)| *applies).map(|(note, _)| note);
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

    /// A row of so many rounds around this median.
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
    fn rows_are_paired_by_setting_whatever_their_order_and_rounds() {
        let a = file(vec![row("poll", 10_000, 7), row("spin", 5_000, 7)]);
        let b = file(vec![row("spin", 5_000, 15), row("poll", 20_000, 7), row("block", 1, 7)]);
        let compared = compare(&a, &b);
        let said: Vec<_> =
            compared.iter().map(|it| (it.setting.wait.as_str(), it.verdict.to_string())).collect();
        let expected = [
            ("poll", "slower".to_owned()),
            ("spin", "within noise".to_owned()),
            ("block", "not comparable: only in B".to_owned()),
        ];
        assert_eq!(said, expected);
        assert_eq!(compare(&b, &a)[1].verdict, Verdict::Faster);
        assert_eq!(compare(&b, &a)[2].verdict, Verdict::NotComparable(Reason::OnlyInA));
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
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
    fn the_last_run_that_kept_its_schedule_counts() {
        let late = |p50| Row { late: true, ..row("poll", p50, 7) };
        let good = |p50| row("poll", p50, 7);
        let failed = Row { failed: Some("x".to_owned()), ..good(5) };
        let p50 =
            |rows: Vec<Row>| believed(&rows, |_| true).map(|row| row.by_round[0].p50.unwrap());
        assert_eq!(p50(vec![late(1), good(2)]), Some(2));
        assert_eq!(p50(vec![good(1), good(2), late(3)]), Some(2));
        assert_eq!(p50(vec![late(1), late(2)]), Some(2));
        assert_eq!(p50(vec![late(1), failed]), Some(1));
        assert_eq!(p50(vec![]), None);
    }

    #[test]
    fn a_virtual_machine_needs_a_greater_difference() {
        let [a, mut b] = [10_000, 10_500].map(|p50| file(vec![row("poll", p50, 7)]));
        assert_eq!(compare(&a, &b)[0].verdict, Verdict::Slower);
        b.host.virtualised = true;
        assert_eq!(compare(&a, &b)[0].verdict, Verdict::WithinNoise);
        assert_eq!(compare(&b, &a)[0].verdict, Verdict::WithinNoise);
        assert_eq!(compare_allowing(&a, &b, 0.03)[0].verdict, Verdict::Slower);
    }

    /// A row of seven rounds, of which so many, in turn, were disturbed by a half.
    fn disturbed(p50: u64, count: usize) -> Row {
        let mut row = row("poll", p50, 7);
        let slow = |round: &mut RoundFigures| round.p50 = round.p50.map(|nanos| nanos * 3 / 2);
        row.by_round[..count].iter_mut().for_each(slow);
        row
    }

    #[test]
    fn a_verdict_is_taken_from_the_quiet_rounds_and_the_medians_say_if_they_differ() {
        let [a, b] = [file(vec![disturbed(10_000, 0)]), file(vec![disturbed(10_000, 6)])];
        let compared = &compare(&a, &b)[0];
        assert_eq!(compared.verdict, Verdict::WithinNoise);
        assert_eq!(compared.median_verdict, Some(Verdict::Slower));
        assert_eq!(compared.contradiction(), Some(Verdict::Slower));
        let [a, b] = [compared.a.as_ref().unwrap(), compared.b.as_ref().unwrap()];
        assert_eq!((a.quiet, a.p50), (Some(10_000.0), Some(10_001.0)));
        assert!(b.quiet.unwrap() < 10_400.0 && b.p50.unwrap() >= 15_000.0, "{b:?}");
        // And a change that disturbed rounds do not hide.
        let [a, b] = [file(vec![disturbed(10_000, 2)]), file(vec![disturbed(12_000, 0)])];
        assert_eq!(compare(&a, &b)[0].verdict, Verdict::Slower);
    }

    #[test]
    fn another_machine_is_named_fact_by_fact() {
        let other = Host { kernel: "6.2.0".to_owned(), cores: 4, ..host() };
        assert_eq!(differences(&host(), &other), ["cores: 2 / 4", "kernel: 6.1.0 / 6.2.0"]);
        assert!(differences(&host(), &Host { tsc_hz: Some(1), ..host() }).is_empty());
    }

    #[test]
    fn a_table_has_the_words_that_differ_and_what_the_rows_note() {
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
            "poll ping 10.00 10.00 1.000 10.00 10.00 1.000 0.980 to 1.020 within noise",
            "spin ping 4.00 5.00 1.250 4.00 - - - not comparable: too few rounds: 7 and 0, 6 are \
             needed; B late; B 3 lost",
        ];
        assert_eq!(lines, expected);
        let census = "2 rows: 1 within noise, 0 slower, 0 faster, 1 not comparable; the median of \
                      all quiet ratios is 1.000\n";
        assert_eq!(Compared::census(&compared), census);
        assert!(Compared::census(&[]).ends_with("0 not comparable\n"));
    }
}
