//! A comparison as a text table.

use std::collections::BTreeMap;

use super::{Compared, ComparedRow, Verdict};
use crate::table::{micros, pause};
use crate::text_table::TextTable;
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

/// The figures, with the order in which narrow terminals drop them: the highest first.
const FIGURES: [(&str, u8); 7] = [
    ("p50 A", 3),
    ("p50 B", 3),
    ("p50 ratio", 2),
    ("quiet A", 5),
    ("quiet B", 5),
    ("ratio", 0),
    ("95 % interval", 1),
];

impl Compared {
    /// Returns a table with a line per comparison and medians in microseconds, ending with a line
    /// feed. On a terminal, verdicts are a word; [`Self::notes`] returns the rest.
    #[must_use]
    pub fn table(compared: &[Self], style: Style) -> String {
        let columns = Self::setting_columns(compared);
        let mut table = TextTable::default();
        columns.iter().for_each(|(heading, _)| table.add_words(heading, 0));
        for (heading, rank) in FIGURES {
            // A terminal names the columns that it drops, a file has all of them in order.
            let is_ratio = style == Style::Plain && heading == "p50 ratio";
            table.add_figures(if is_ratio { "ratio" } else { heading }, rank);
        }
        table.add_words("verdict", 0);
        for row in compared {
            let settings = columns.iter().map(|column| (column.1)(&row.setting));
            let verdict = match style {
                Style::Plain => row.verdict_with_notes(),
                Style::Terminal { .. } => row.verdict_word().to_owned(),
            };
            table.add_row(settings.chain(row.figures()).chain([verdict]));
        }
        table.render(style)
    }

    /// Returns the columns of settings that differ, and those that are always shown.
    fn setting_columns(compared: &[Self]) -> Vec<&'static Column> {
        let differs = |column: &&Column| {
            let mut values = compared.iter().map(|it| (column.1)(&it.setting));
            let first = values.next();
            ALWAYS.contains(&column.0) || values.any(|other| Some(other) != first)
        };
        COLUMNS.iter().filter(differs).collect()
    }

    /// Returns a chart of the ratios of comparable rows, a line each: the interval between brackets
    /// if the quiet ratio has one, on a scale that contains all of them and 1. Empty without such
    /// rows.
    #[must_use]
    pub fn chart(compared: &[Self], style: Style) -> String {
        let label = |row: &Self| row.labels(compared).replace(", ", " ");
        let ratios: Vec<(String, &Ratio)> = compared
            .iter()
            .filter_map(|row| Some((label(row), row.quiet_ratio.as_ref()?)))
            .collect();
        super::ratio_chart::draw(&ratios, style)
    }

    /// Returns a line for each reason why rows are not comparable, and for each restriction, with
    /// the number of rows.
    #[must_use]
    pub fn notes(compared: &[Self]) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for row in compared {
            let text = row.verdict_with_notes();
            let notes = text
                .split("; ")
                .enumerate()
                .filter(|(place, note)| *place > 0 || note.starts_with("not comparable"));
            notes.for_each(|(_, note)| *counts.entry(note.to_owned()).or_default() += 1);
        }
        let rows = |count: usize| if count == 1 { "row" } else { "rows" };
        counts.iter().map(|(note, count)| format!("{count} {}: {note}\n", rows(*count))).collect()
    }

    /// Returns the settings that differ between rows, and the wait and case.
    pub(crate) fn labels(&self, compared: &[Self]) -> String {
        let columns = Self::setting_columns(compared);
        columns.iter().map(|column| (column.1)(&self.setting)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the medians, their ratio, the quiet ratio with its interval, and the verdict.
    pub(crate) fn summary(&self) -> [String; 5] {
        let [p50_a, p50_b, p50_ratio, _, _, quiet_ratio, interval] = self.figures();
        let quiet = match self.quiet_ratio {
            Some(_) => format!("{quiet_ratio} ({interval})"),
            None => "-".to_owned(),
        };
        [p50_a, p50_b, p50_ratio, quiet, self.verdict.to_string()]
    }

    fn figures(&self) -> [String; 7] {
        let [p50_a, p50_b, p50_ratio] = self.pair(|row| row.p50);
        let [quiet_a, quiet_b, quiet_ratio] = self.pair(|row| row.quiet);
        let interval = match self.quiet_ratio {
            Some(Ratio { low, high, .. }) => format!("{low:.3} to {high:.3}"),
            None => "-".to_owned(),
        };
        [p50_a, p50_b, p50_ratio, quiet_a, quiet_b, quiet_ratio, interval]
    }

    /// Returns the verdict, that of the medians if it differs, and the restrictions of both rows.
    fn verdict_with_notes(&self) -> String {
        let rounds = (self.verdict == Verdict::Undecided).then(|| match self.rounds_to_decide() {
            Some(rounds) => format!("; about {rounds} rounds would decide"),
            None => "; no number of rounds up to 100,000 would decide".to_owned(),
        });
        let medians = self.contradiction().map(|verdict| format!("; the medians: {verdict}"));
        let notes = [("A", &self.a), ("B", &self.b)].into_iter().flat_map(|(name, row)| {
            row.iter().flat_map(|it| &it.notes).map(move |note| format!("; {name} {note}"))
        });
        std::iter::once(self.verdict.to_string())
            .chain(rounds)
            .chain(medians)
            .chain(notes)
            .collect()
    }

    const fn verdict_word(&self) -> &'static str {
        match self.verdict {
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NotComparable(_) => "none",
        }
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
            "{}: {} the same, {} undecided, {} slower, {} faster, {} not comparable{median}\n",
            crate::counted(compared.len(), "row"),
            count(|it| *it == Verdict::Same),
            count(|it| *it == Verdict::Undecided),
            count(|it| *it == Verdict::Slower),
            count(|it| *it == Verdict::Faster),
            count(|it| matches!(it, Verdict::NotComparable(_))),
        )
    }
}
