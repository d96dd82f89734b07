//! Rows as a table for people.

use std::io::IsTerminal;

use comfy_table::{CellAlignment, presets};

use crate::Row;

/// The tick-to-trade table: one line a row, latencies in microseconds.
///
/// A percentile that has too few samples beyond it is `-`. A row that failed, was late or was
/// interrupted says so in a last column, which is there only if a row needs it.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    rows: &'a [Row],
}

/// How a table is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Columns set apart by spaces, for files and other programs.
    Plain,
    /// With lines around it.
    Lines,
}

impl Style {
    /// Lines on a terminal, none in a pipe.
    #[must_use]
    pub fn of_stdout() -> Self {
        if std::io::stdout().is_terminal() { Self::Lines } else { Self::Plain }
    }
}

const HEADINGS: [&str; 12] = [
    "feed",
    "wait",
    "interval",
    "case",
    "samples",
    "lost",
    "min",
    "p50",
    "p90",
    "p99",
    "max",
    "lateness p99",
];

/// The columns from here on are figures, set to the right; so is the interval.
const FIRST_FIGURE: usize = 4;
const INTERVAL: usize = 2;

impl<'a> Table<'a> {
    /// A table of these rows, in this order.
    #[must_use]
    pub const fn new(rows: &'a [Row]) -> Self {
        Self { rows }
    }

    /// The table as text, one line feed at its end.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let has_notes = self.rows.iter().any(|row| !notes(row).is_empty());
        let mut table = comfy_table::Table::new();
        table.load_style(match style {
            Style::Plain => presets::NOTHING,
            Style::Lines => presets::UTF8_FULL_CONDENSED,
        });
        table.set_header(HEADINGS.into_iter().chain(has_notes.then_some("note")));
        for row in self.rows {
            let note = has_notes.then(|| notes(row).join("; "));
            table.add_row(cells(row).into_iter().chain(note));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            if index == INTERVAL || (FIRST_FIGURE..HEADINGS.len()).contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines = table.lines().map(|line| line.trim_end().to_string() + "\n");
        lines.collect()
    }
}

fn cells(row: &Row) -> [String; 12] {
    let (setting, of) = (&row.setting, &row.summary);
    [
        setting.feed.clone().unwrap_or_else(|| "-".to_string()),
        setting.wait.clone(),
        interval(setting.interval_us),
        setting.case.clone(),
        row.samples.to_string(),
        row.lost.to_string(),
        micros(of.min),
        micros(of.p50),
        micros(of.p90),
        micros(of.p99),
        micros(of.max),
        micros(row.lateness_p99),
    ]
}

fn interval(micros: u64) -> String {
    match micros {
        0 => "no pause".to_string(),
        _ => format!("{micros} µs"),
    }
}

/// Nanoseconds as microseconds with two decimals, rounded half up.
pub(crate) fn micros(nanos: Option<u64>) -> String {
    let Some(nanos) = nanos else { return "-".to_string() };
    let hundredths = nanos / 10 + u64::from(nanos % 10 >= 5);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// What a reader must know of a row before believing it.
pub(crate) fn notes(row: &Row) -> Vec<String> {
    let failed = row.failed.as_ref().map(|reason| format!("failed: {reason}"));
    let late = (row.late && failed.is_none()).then(|| "late".to_string());
    let interrupted = row.interrupted.then(|| "interrupted".to_string());
    [failed, late, interrupted].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{recorded, setting};

    fn row() -> Row {
        Row::new(setting("sent to order"), &recorded(12_001..13_001), &recorded(1..1_001))
    }

    #[test]
    fn nanoseconds_are_rounded_to_hundredths_of_a_microsecond() {
        let printed = [0, 4, 5, 994, 995, 12_345, u64::MAX].map(|nanos| micros(Some(nanos)));
        let expected = ["0.00", "0.00", "0.01", "0.99", "1.00", "12.35", "18446744073709551.62"];
        assert_eq!(printed, expected);
        assert_eq!(micros(None), "-");
    }

    #[test]
    fn a_plain_table_has_a_line_a_row_and_no_drawing() {
        let rows = [row(), row()];
        let text = Table::new(&rows).render(Style::Plain);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.chars().all(|c| c.is_ascii() || c == 'µ'), "{text}");
        let words: Vec<_> = text.lines().nth(1).unwrap().split_whitespace().collect();
        let expected =
            "multicast epoll 500 µs sent to order 1000 0 12.00 12.50 12.90 12.99 13.00 0.99";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn a_percentile_that_is_not_known_is_a_dash() {
        let few = Row::new(setting("sent to order"), &recorded(1..21), &recorded(1..21));
        let text = Table::new(&[few]).render(Style::Plain);
        let words: Vec<_> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(words[9..], ["0.00", "0.01", "-", "-", "0.02", "-"]);
    }

    #[test]
    fn every_feed_and_wait_fits() {
        let mut wide = row();
        wide.setting.feed = Some("tcp".to_string());
        wide.setting.wait = "io_uring".to_string();
        let text = Table::new(&[row(), wide]).render(Style::Plain);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[2].trim_start().starts_with("tcp        io_uring  "), "{text}");
        assert_eq!(lines[1].chars().count(), lines[2].chars().count(), "{text}");
    }

    #[test]
    fn an_interrupted_row_says_so_beside_what_else_there_is() {
        let rows = [Row { late: true, interrupted: true, ..row() }];
        let text = Table::new(&rows).render(Style::Plain);
        assert!(text.trim_end().ends_with("  late; interrupted"), "{text}");
    }

    #[test]
    fn failed_and_late_rows_say_so() {
        let failed = Row::failed(setting("sent to order"), "the trader left");
        let late = Row { late: true, ..row() };
        let rows = [row(), failed, late];
        let text = Table::new(&rows).render(Style::Plain);
        let ends: Vec<_> = text.lines().map(|line| line.rsplit("  ").next().unwrap()).collect();
        assert_eq!(ends[0].trim(), "note");
        assert_eq!((ends[2].trim(), ends[3].trim()), ("failed: the trader left", "late"));
        assert!(!Table::new(&rows[..1]).render(Style::Plain).contains("note"));
    }
}
