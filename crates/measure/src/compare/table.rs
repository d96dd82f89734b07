//! A comparison as a table for people.

use comfy_table::CellAlignment;

use super::{Compared, Side, Verdict};
use crate::table::{micros, pause};
use crate::{Ratio, Setting, Style, cell};

/// A word of a setting, in a column of its own where rows differ in it.
type Column = (&'static str, fn(&Setting) -> String);

const COLUMNS: [Column; 9] = [
    ("bench", |it| it.bench.clone()),
    ("feed", |it| it.feed.clone().unwrap_or_else(|| "-".to_owned())),
    ("transport", |it| it.transport.clone()),
    ("wait", |it| it.wait.clone()),
    ("protocol", |it| it.protocol.clone()),
    ("size", |it| format!("{} B", it.size_bytes)),
    ("interval", |it| pause(it.interval_us)),
    ("kind", |it| cell::name(it.kind).to_owned()),
    ("case", |it| it.case.clone()),
];

/// Those that are there even if all rows agree in them.
const ALWAYS: [&str; 2] = ["wait", "case"];

const FIGURES: [&str; 8] =
    ["p50 A", "p50 B", "ratio", "quiet A", "quiet B", "ratio", "95 % interval", "verdict"];

impl Compared {
    /// A table of these, a line each, medians in microseconds; one line feed at its end.
    #[must_use]
    pub fn table(compared: &[Self], style: Style) -> String {
        let differs = |column: &&Column| {
            let mut said = compared.iter().map(|it| (column.1)(&it.setting));
            let first = said.next();
            ALWAYS.contains(&column.0) || said.any(|other| Some(other) != first)
        };
        let columns: Vec<&Column> = COLUMNS.iter().filter(differs).collect();
        let mut table = style.table();
        table.set_header(columns.iter().map(|column| column.0).chain(FIGURES));
        for row in compared {
            let words = columns.iter().map(|column| (column.1)(&row.setting));
            table.add_row(words.chain(row.figures()));
        }
        let first_figure = columns.len();
        for (index, column) in table.column_iter_mut().enumerate() {
            if (first_figure..first_figure + FIGURES.len() - 1).contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    fn figures(&self) -> [String; 8] {
        let [p50_a, p50_b, p50_ratio] = self.both(|side| side.p50);
        let [quiet_a, quiet_b, quiet_ratio] = self.both(|side| side.quiet);
        let interval = match self.quiet_ratio {
            Some(Ratio { low, high, .. }) => format!("{low:.3} to {high:.3}"),
            None => "-".to_owned(),
        };
        let medians = self.contradiction().map(|said| format!("; the medians: {said}"));
        let notes = [("A", &self.a), ("B", &self.b)].into_iter().flat_map(|(name, side)| {
            side.iter().flat_map(|it| &it.notes).map(move |note| format!("; {name} {note}"))
        });
        let verdict = std::iter::once(self.verdict.to_string()).chain(medians).chain(notes);
        let verdict = verdict.collect();
        [p50_a, p50_b, p50_ratio, quiet_a, quiet_b, quiet_ratio, interval, verdict]
    }

    /// A figure of both sides in microseconds, and the second divided by the first.
    fn both(&self, figure: fn(&Side) -> Option<f64>) -> [String; 3] {
        let [a, b] = [&self.a, &self.b].map(|side| side.as_ref().and_then(figure));
        let quotient = a.filter(|nanos| *nanos > 0.0).zip(b.filter(|nanos| *nanos > 0.0));
        let ratio = quotient.map_or("-".to_owned(), |(a, b)| format!("{:.3}", b / a));
        let [a, b] = [a, b].map(|nanos| micros(nanos.map(|nanos| nanos.round() as u64)));
        [a, b, ratio]
    }

    /// How many of these have which verdict, and where the median of all quiet ratios lies: one
    /// line with its line feed. A common shift of all rows is the machine's, or
    /// that of what all rows share.
    #[must_use]
    pub fn census(compared: &[Self]) -> String {
        let count = |wanted: fn(&Verdict) -> bool| {
            compared.iter().filter(|row| wanted(&row.verdict)).count()
        };
        let mut ratios: Vec<f64> =
            compared.iter().filter_map(|row| row.quiet_ratio).map(|it| it.ratio).collect();
        let middle = match ratios.is_empty() {
            true => String::new(),
            false => {
                format!(
                    "; the median of all quiet ratios is {:.3}",
                    crate::bootstrap::median(&mut ratios)
                )
            }
        };
        format!(
            "{} rows: {} within noise, {} slower, {} faster, {} not comparable{middle}\n",
            compared.len(),
            count(|it| *it == Verdict::WithinNoise),
            count(|it| *it == Verdict::Slower),
            count(|it| *it == Verdict::Faster),
            count(|it| matches!(it, Verdict::NotComparable(_))),
        )
    }
}
