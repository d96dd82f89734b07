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

const FIGURES: [&str; 5] = ["p50 A", "p50 B", "ratio", "95 % interval", "verdict"];

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

    fn figures(&self) -> [String; 5] {
        let p50 = |side: &Option<Side>| {
            micros(side.as_ref().and_then(|it| it.p50).map(|nanos| nanos.round() as u64))
        };
        let [ratio, interval] = match (self.ratio, self.plain()) {
            (Some(Ratio { ratio, low, high }), _) => {
                [format!("{ratio:.3}"), format!("{low:.3} to {high:.3}")]
            }
            (None, Some(ratio)) => [format!("{ratio:.3}"), "-".to_owned()],
            (None, None) => ["-", "-"].map(str::to_owned),
        };
        let notes = [("A", &self.a), ("B", &self.b)].into_iter().flat_map(|(name, side)| {
            side.iter().flat_map(|it| &it.notes).map(move |note| format!("; {name} {note}"))
        });
        let verdict = std::iter::once(self.verdict.to_string()).chain(notes).collect();
        [p50(&self.a), p50(&self.b), ratio, interval, verdict]
    }

    /// The quotient of two medians that nothing more may be said of.
    fn plain(&self) -> Option<f64> {
        let [a, b] = [&self.a, &self.b].map(|side| side.as_ref()?.p50.filter(|p50| *p50 > 0.0));
        Some(b? / a?)
    }

    /// How many of these have which verdict, and where the median of all ratios lies: one line with
    /// its line feed. A common shift of all rows is the machine's, or that of what all rows share.
    #[must_use]
    pub fn census(compared: &[Self]) -> String {
        let count = |wanted: fn(&Verdict) -> bool| {
            compared.iter().filter(|row| wanted(&row.verdict)).count()
        };
        let mut ratios: Vec<f64> =
            compared.iter().filter_map(|row| row.ratio).map(|it| it.ratio).collect();
        let middle = match ratios.is_empty() {
            true => String::new(),
            false => {
                format!(
                    "; the median of all ratios is {:.3}",
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
