//! A comparison as a text table.

use comfy_table::CellAlignment;

use super::{Compared, ComparedRow, Verdict};
use crate::table::{micros, pause};
use crate::{Ratio, Setting, Style, chart_group};

/// A column with a field of the setting, shown if rows differ in it.
type Column = (&'static str, fn(&Setting) -> String);

const COLUMNS: [Column; 9] = [
    ("bench", |it| it.bench.clone()),
    ("feed", |it| it.feed.clone().unwrap_or_else(|| "-".to_owned())),
    ("transport", |it| it.transport.clone()),
    ("wait", |it| it.wait.clone()),
    ("protocol", |it| it.protocol.clone()),
    ("size", |it| format!("{} B", it.size_bytes)),
    ("interval", |it| pause(it.interval_us)),
    ("kind", |it| chart_group::kind_name(it.kind).to_owned()),
    ("case", |it| it.case.clone()),
];

/// The columns that are always shown.
const ALWAYS: [&str; 2] = ["wait", "case"];

const FIGURES: [&str; 8] =
    ["p50 A", "p50 B", "ratio", "quiet A", "quiet B", "ratio", "95 % interval", "verdict"];

impl Compared {
    /// Returns a table with a line per comparison and medians in microseconds, ending with a line
    /// feed.
    #[must_use]
    pub fn table(compared: &[Self], style: Style) -> String {
        let differs = |column: &&Column| {
            let mut values = compared.iter().map(|it| (column.1)(&it.setting));
            let first = values.next();
            ALWAYS.contains(&column.0) || values.any(|other| Some(other) != first)
        };
        let columns: Vec<&Column> = COLUMNS.iter().filter(differs).collect();
        let mut table = style.table();
        table.set_header(columns.iter().map(|column| column.0).chain(FIGURES));
        for row in compared {
            let settings = columns.iter().map(|column| (column.1)(&row.setting));
            table.add_row(settings.chain(row.figures()));
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
        let [p50_a, p50_b, p50_ratio] = self.pair(|row| row.p50);
        let [quiet_a, quiet_b, quiet_ratio] = self.pair(|row| row.quiet);
        let interval = match self.quiet_ratio {
            Some(Ratio { low, high, .. }) => format!("{low:.3} to {high:.3}"),
            None => "-".to_owned(),
        };
        let medians = self.contradiction().map(|verdict| format!("; the medians: {verdict}"));
        let notes = [("A", &self.a), ("B", &self.b)].into_iter().flat_map(|(name, row)| {
            row.iter().flat_map(|it| &it.notes).map(move |note| format!("; {name} {note}"))
        });
        let verdict = std::iter::once(self.verdict.to_string()).chain(medians).chain(notes);
        let verdict = verdict.collect();
        [p50_a, p50_b, p50_ratio, quiet_a, quiet_b, quiet_ratio, interval, verdict]
    }

    /// Returns a figure of both rows in microseconds, and the second divided by the first.
    fn pair(&self, figure: fn(&ComparedRow) -> Option<f64>) -> [String; 3] {
        let [a, b] = [&self.a, &self.b].map(|row| row.as_ref().and_then(figure));
        let quotient = a.filter(|nanos| *nanos > 0.0).zip(b.filter(|nanos| *nanos > 0.0));
        let ratio = quotient.map_or("-".to_owned(), |(a, b)| format!("{:.3}", b / a));
        let [a, b] = [a, b].map(|nanos| micros(nanos.map(|nanos| nanos.round() as u64)));
        [a, b, ratio]
    }

    /// Returns a line with the number of each verdict and the median of all quiet ratios. A common
    /// shift of all rows indicates a change of the machine, or of code that all rows share.
    #[must_use]
    pub fn census(compared: &[Self]) -> String {
        let count = |wanted: fn(&Verdict) -> bool| {
            compared.iter().filter(|row| wanted(&row.verdict)).count()
        };
        let mut ratios: Vec<f64> =
            compared.iter().filter_map(|row| row.quiet_ratio).map(|it| it.ratio).collect();
        let median = match ratios.is_empty() {
            true => String::new(),
            false => {
                format!(
                    "; the median of all quiet ratios is {:.3}",
                    crate::bootstrap::median(&mut ratios)
                )
            }
        };
        format!(
            "{} rows: {} within noise, {} slower, {} faster, {} not comparable{median}\n",
            compared.len(),
            count(|it| *it == Verdict::WithinNoise),
            count(|it| *it == Verdict::Slower),
            count(|it| *it == Verdict::Faster),
            count(|it| matches!(it, Verdict::NotComparable(_))),
        )
    }
}
