//! One block of a table that compares two waits at one feed and interval.

use hairpin_measure::{Figure, Kind, RoundFigures, Row, Style, TextTable, counted};

use super::difference::{Difference, Verdict};

/// The rows of one feed and interval: poll and epoll.
#[derive(Debug)]
pub(super) struct Block<'a> {
    first: &'a Row,
    sides: [WaitRuns<'a>; 2],
}

/// The runs of one wait.
#[derive(Debug, Default)]
struct WaitRuns<'a> {
    runs: Vec<&'a Row>,
}

/// The names of the two waits.
const NAMES: [&str; 2] = ["poll", "epoll"];

/// A line of the block: its name and figure, as a median over rounds where rounds have the figure.
struct FigureLine {
    name: &'static str,
    of_round: Option<Figure>,
    of_all: fn(&Row) -> Option<f64>,
}

const LINES: [FigureLine; 11] = [
    FigureLine::over_rounds("mean", Figure::Mean, |row| row.summary.mean),
    FigureLine::of_all("deviation", |row| row.summary.stddev),
    FigureLine::of_all("min", |row| float(row.summary.min)),
    FigureLine::over_rounds("p25", Figure::P25, |row| float(row.summary.p25)),
    FigureLine::over_rounds("p50", Figure::P50, |row| float(row.summary.p50)),
    FigureLine::over_rounds("p75", Figure::P75, |row| float(row.summary.p75)),
    FigureLine::over_rounds("p90", Figure::P90, |row| float(row.summary.p90)),
    FigureLine::over_rounds("p95", Figure::P95, |row| float(row.summary.p95)),
    FigureLine::over_rounds("p99", Figure::P99, |row| float(row.summary.p99)),
    FigureLine::over_rounds("p99.9", Figure::P99_9, |row| float(row.summary.p99_9)),
    FigureLine::of_all("max", |row| float(row.summary.max)),
];

fn float(nanos: Option<u64>) -> Option<f64> {
    nanos.map(|nanos| nanos as f64)
}

impl<'a> Block<'a> {
    /// Returns a block for rows with the same feed and interval as this row.
    pub(super) fn new(row: &'a Row) -> Self {
        Self { first: row, sides: <[WaitRuns<'a>; 2]>::default() }
    }

    /// Returns `true` if a row belongs to this block.
    pub(super) fn is_of(&self, row: &Row) -> bool {
        let (ours, other) = (&self.first.setting, &row.setting);
        (&ours.feed, ours.interval_us) == (&other.feed, other.interval_us)
    }

    /// Adds a run of one wait.
    pub(super) fn add(&mut self, side: usize, row: &'a Row) {
        self.sides[side].runs.push(row);
    }

    /// Returns the heading and, if both waits have figures, a table of eleven lines. Narrow
    /// terminals lose the interval, then the percentage.
    pub(super) fn render(&self, style: Style) -> String {
        let setting = &self.first.setting;
        let feed = setting.feed.as_deref().unwrap_or("-");
        let mut text = format!("{feed}, {} µs between ticks\n", setting.interval_us);
        for (name, side) in NAMES.iter().zip(&self.sides) {
            text += &side.describe(name);
        }
        let [Some(a), Some(b)] = self.sides.each_ref().map(WaitRuns::counted) else {
            return text + "  nothing to compare\n";
        };
        let mut table = TextTable::default().without_borders();
        table.add_words("", 0);
        for (heading, rank) in [
            ("poll µs", 0),
            ("epoll µs", 0),
            ("poll - epoll ns", 0),
            ("%", 1),
            ("95 % interval ns", 2),
        ] {
            table.add_figures(heading, rank);
        }
        table.add_words("verdict", 0);
        LINES.iter().for_each(|line| table.add_row(line.cells(a, b)));
        text + &table.render(style)
    }
}

impl<'a> WaitRuns<'a> {
    /// Returns the run that the table shows.
    fn chosen(&self) -> Option<&'a Row> {
        Row::last_valid(self.runs.iter().copied())
    }

    /// Returns the run whose figures are compared.
    fn counted(&self) -> Option<&'a Row> {
        self.chosen().filter(|row| row.failed.is_none() && row.samples > 0)
    }

    fn describe(&self, name: &str) -> String {
        let Some(row) = self.chosen() else { return format!("  {name}: not measured\n") };
        let rounds = row.setting.rounds;
        let (samples, rounds) = (counted(row.samples, "sample"), counted(rounds, "round"));
        let mut text = format!("  {name}: {samples} in {rounds}, ");
        text += &format!("{} lost", row.lost);
        if self.runs.len() > 1 {
            text += &format!("; run {} times, since its generator was late", self.runs.len());
        }
        if row.late {
            text += "; late";
        }
        if row.interrupted {
            text += "; interrupted";
        }
        if let Some(reason) = &row.failed {
            text += &format!("; failed: {reason}");
        }
        text + "\n"
    }
}

impl FigureLine {
    const fn over_rounds(
        name: &'static str,
        of_round: Figure,
        of_all: fn(&Row) -> Option<f64>,
    ) -> Self {
        Self { name, of_round: Some(of_round), of_all }
    }

    const fn of_all(name: &'static str, of_all: fn(&Row) -> Option<f64>) -> Self {
        Self { name, of_round: None, of_all }
    }

    /// Returns the figure of both rows, halved if a sample is a round trip: the median over the
    /// rounds in which both have it, else of all samples, or `None` if one row has no figure.
    fn difference(&self, a: &Row, b: &Row) -> Option<Difference> {
        Difference::over_rounds(&self.pairs(a, b)).or_else(|| {
            let of = |row: &Row| (self.of_all)(row).map(|nanos| nanos * part(row));
            Some(Difference::of_all(of(a)?, of(b)?))
        })
    }

    /// Returns the figure in each round in which both rows have it.
    fn pairs(&self, a: &Row, b: &Row) -> Vec<[f64; 2]> {
        let Some(figure) = self.of_round else { return Vec::new() };
        let rounds = a.by_round.iter().zip(&b.by_round);
        let pair = |(of_a, of_b): (&RoundFigures, &RoundFigures)| {
            Some([of_a.figure(figure)? * part(a), of_b.figure(figure)? * part(b)])
        };
        rounds.filter_map(pair).collect()
    }

    /// Returns the cells of the line.
    fn cells(&self, a: &Row, b: &Row) -> [String; 7] {
        let dash = || "-".to_owned();
        let Some(difference) = self.difference(a, b) else {
            return [self.name.to_owned(), dash(), dash(), dash(), dash(), dash(), dash()];
        };
        let ends = |[low, high]: [f64; 2]| format!("[{low:+.0}, {high:+.0}]");
        let verdict = match difference.verdict() {
            None => "-",
            Some(Verdict::WithinNoise) => "within noise",
            Some(Verdict::Less) => "poll less",
            Some(Verdict::Greater) => "poll more",
        };
        [
            self.name.to_owned(),
            format!("{:.2}", difference.a / 1_000.0),
            format!("{:.2}", difference.b / 1_000.0),
            format!("{:+.0}", difference.difference()),
            difference.per_cent().map_or_else(dash, |part| format!("{part:+.2}")),
            difference.interval.map_or_else(dash, ends),
            verdict.to_owned(),
        ]
    }
}

/// Returns the fraction of a sample that is a latency.
fn part(row: &Row) -> f64 {
    if row.setting.kind == Kind::Rtt { 0.5 } else { 1.0 }
}
