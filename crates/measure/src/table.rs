//! Rows as a text table.

use std::io::IsTerminal;

use comfy_table::{CellAlignment, presets};

use crate::batch::is_below_resolution;
use crate::compare::{Baseline, against_kernel};
use crate::results::shown;
use crate::{EnvironmentReport, Figure, Row, Setting};

/// A table of rows, one line each, latencies in microseconds.
///
/// Transport, protocol and size have a column if rows of one feed differ in them. A percentile that
/// too few samples exceed is `-`. For rows measured in rounds, percentiles are medians over rounds,
/// and a column contains the 95 % interval of the p50. If some rows do not use kernel sockets, a
/// column compares their p50 with that of kernel sockets and the same wait. A last column notes
/// failed, late and interrupted rows, if there are any.
///
/// Lines below the table explain the figures and contain the [`EnvironmentReport`], if given.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    rows: &'a [Row],
    environment: Option<&'a EnvironmentReport>,
}

/// The style of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Columns separated by spaces, for files and other programs.
    Plain,
    /// Lines around the cells.
    Lines,
}

impl Style {
    /// Returns [`Self::Lines`] if standard output is a terminal, otherwise [`Self::Plain`].
    #[must_use]
    pub fn for_stdout() -> Self {
        if std::io::stdout().is_terminal() { Self::Lines } else { Self::Plain }
    }
}

/// A column: the heading, `true` for figures, and the function that formats a row's cell.
type Column<'a> = (&'static str, bool, Box<dyn Fn(&Row) -> String + 'a>);

/// A field of the setting, with its heading.
type Field = (&'static str, fn(&Setting) -> String);

impl Style {
    /// Returns an empty table of this style.
    pub(crate) fn table(self) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_style(match self {
            Self::Plain => presets::NOTHING,
            Self::Lines => presets::UTF8_FULL_CONDENSED,
        });
        table
    }
}

impl<'a> Table<'a> {
    /// Returns a table of these rows, in this order.
    #[must_use]
    pub const fn new(rows: &'a [Row]) -> Self {
        Self { rows, environment: None }
    }

    /// Adds the environment of the run below the table, and marks rows that it puts in question.
    #[must_use]
    pub const fn with_environment(self, environment: Option<&'a EnvironmentReport>) -> Self {
        Self { environment, ..self }
    }

    /// Returns the table as text, ending with a line feed.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let columns = self.columns();
        let mut table = style.table();
        table.set_header(columns.iter().map(|(heading, ..)| *heading));
        for row in self.rows {
            table.add_row(columns.iter().map(|(.., cell)| cell(row)));
        }
        for (column, (_, is_figure, _)) in table.column_iter_mut().zip(&columns) {
            if *is_figure {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines = table.lines().map(|line| line.trim_end().to_string());
        lines.chain(self.footnotes()).map(|line| line + "\n").collect()
    }

    fn columns(&self) -> Vec<Column<'a>> {
        let Self { rows, environment } = *self;
        let nanos = |what: fn(&Row) -> Option<u64>| Box::new(move |row: &Row| micros(what(row)));
        let over_rounds = |figure| Box::new(move |row: &Row| micros(rounded(shown(row, figure))));
        let mut columns = settings(rows);
        columns.extend::<[Column<'a>; 7]>([
            ("wait", false, Box::new(|it| it.setting.wait.clone())),
            ("interval", true, Box::new(|it| pause(it.setting.interval_us))),
            ("case", false, Box::new(|it| it.setting.case.clone())),
            ("samples", true, Box::new(|it| it.samples.to_string())),
            ("lost", true, Box::new(|it| it.lost.to_string())),
            ("min", true, nanos(|it| it.summary.min)),
            ("p50", true, over_rounds(Figure::P50)),
        ]);
        if has_rounds(rows) {
            columns.push(("p50 95 %", true, Box::new(interval_of_p50)));
        }
        columns.extend::<[Column<'a>; 4]>([
            ("p90", true, over_rounds(Figure::P90)),
            ("p99", true, over_rounds(Figure::P99)),
            ("max", true, nanos(|it| it.summary.max)),
            ("lateness p99", true, nanos(|it| it.lateness_p99)),
        ]);
        if has_baseline(rows) {
            let against = move |row: &Row| against_kernel(row, rows).to_string();
            columns.push(("p50 against kernel", true, Box::new(against)));
        }
        let notes = move |row: &Row| notes(row, environment).join("; ");
        if rows.iter().any(|row| !notes(row).is_empty()) {
            columns.push(("note", false, Box::new(notes)));
        }
        columns
    }

    /// Returns the explanation of the figures and the lines of the environment.
    fn footnotes(&self) -> Vec<String> {
        let mut lines = explanations(self.rows);
        lines.extend(self.environment.map(EnvironmentReport::lines).unwrap_or_default());
        lines
    }
}

/// Returns the columns of the settings: the feed if there is one; transport, protocol and size if
/// rows of one feed differ in them.
fn settings<'a>(rows: &[Row]) -> Vec<Column<'a>> {
    let fields: [Field; 3] = [
        ("transport", |it| it.transport.clone()),
        ("protocol", |it| it.protocol.clone()),
        ("size", |it| format!("{} B", it.size_bytes)),
    ];
    let feed = |row: &Row| row.setting.feed.clone().unwrap_or_else(|| "-".to_string());
    let has_feed = rows.iter().any(|row| row.setting.feed.is_some());
    let mut columns: Vec<Column<'a>> = Vec::new();
    if has_feed || rows.is_empty() {
        columns.push(("feed", false, Box::new(feed)));
    }
    for (heading, field) in fields {
        let first = |row: &Row| rows.iter().find(|it| it.setting.feed == row.setting.feed);
        let differs =
            |row: &Row| first(row).is_some_and(|it| field(&it.setting) != field(&row.setting));
        if rows.iter().any(differs) {
            columns.push((heading, heading == "size", Box::new(move |row| field(&row.setting))));
        }
    }
    columns
}

/// Returns the lines that explain the figures of rounds, baselines and late answers.
pub(crate) fn explanations(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    if has_rounds(rows) {
        let counts = || rows.iter().map(|row| row.by_round.len()).filter(|&rounds| rounds > 1);
        let rounds = match (counts().min(), counts().max()) {
            (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
            (_, most) => most.unwrap_or(0).to_string(),
        };
        lines.push(format!(
            "rows of {rounds} rounds: percentiles are medians over rounds, for p50 with the 95 % \
             interval; if a round has too few samples, they are those of all samples together"
        ));
    }
    if has_baseline(rows) {
        lines.push(
            "against kernel: p50 divided by that of kernel sockets with otherwise the same \
             setting, with the 95 % interval over rounds if both have rounds"
                .to_owned(),
        );
    }
    let late: u64 = rows.iter().map(|row| row.late_orders).fold(0, u64::saturating_add);
    if late > 0 {
        let lost: u64 = rows.iter().map(|row| row.lost).fold(0, u64::saturating_add);
        lines.push(format!("of {lost} lost sends, {late} were answered after their timeout"));
    }
    lines
}

/// Returns `true` if a row was measured in several rounds.
pub(crate) fn has_rounds(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.by_round.len() > 1)
}

/// Returns `true` if a row does not use kernel sockets.
pub(crate) fn has_baseline(rows: &[Row]) -> bool {
    rows.iter().any(|row| against_kernel(row, &[]) != Baseline::Itself)
}

/// Formats the 95 % interval of the median over rounds.
pub(crate) fn interval_of_p50(row: &Row) -> String {
    let Some(spread) = row.over_rounds(Figure::P50) else { return "-".to_string() };
    format!("{} to {}", micros(rounded(Some(spread.low))), micros(rounded(Some(spread.high))))
}

/// Rounds to whole nanoseconds.
pub(crate) fn rounded(nanos: Option<f64>) -> Option<u64> {
    nanos.map(|nanos| nanos.round() as u64)
}

/// Formats an interval.
pub(crate) fn pause(micros: u64) -> String {
    match micros {
        0 => "no pause".to_string(),
        _ => format!("{micros} µs"),
    }
}

/// Formats nanoseconds as microseconds with two decimals, rounded half up.
pub(crate) fn micros(nanos: Option<u64>) -> String {
    let Some(nanos) = nanos else { return "-".to_string() };
    let hundredths = nanos / 10 + u64::from(nanos % 10 >= 5);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Returns the restrictions of a row: failed, late, interrupted, or too short for the clock.
pub(crate) fn notes(row: &Row, environment: Option<&EnvironmentReport>) -> Vec<String> {
    let failed = row.failed.as_ref().map(|reason| format!("failed: {reason}"));
    let late = (row.late && failed.is_none()).then(|| "late".to_string());
    let interrupted = row.interrupted.then(|| "interrupted".to_string());
    let is_short = environment.is_some_and(|it| is_below_resolution(row, it));
    let short = is_short.then(|| "p50 under 20 clock steps".to_string());
    [failed, late, interrupted, short].into_iter().flatten().collect()
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
    fn plain_table_has_a_line_per_row_and_no_borders() {
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
    fn missing_percentiles_are_dashes() {
        let few = Row::new(setting("sent to order"), &recorded(1..21), &recorded(1..21));
        let text = Table::new(&[few]).render(Style::Plain);
        let words: Vec<_> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(words[9..], ["0.00", "0.01", "-", "-", "0.02", "-"]);
    }

    #[test]
    fn columns_fit_every_feed_and_wait() {
        let mut wide = row();
        wide.setting.feed = Some("tcp".to_string());
        wide.setting.wait = "io_uring".to_string();
        let text = Table::new(&[row(), wide]).render(Style::Plain);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[2].trim_start().starts_with("tcp        io_uring  "), "{text}");
        assert_eq!(lines[1].chars().count(), lines[2].chars().count(), "{text}");
    }

    /// Returns a row of seven rounds with medians of 10, 20, …, 70 µs.
    fn seven(transport: &str) -> Row {
        let round = |at: u64| {
            let samples = recorded((0..40).map(|index| at * 10_000 + index));
            let mut row = Row::new(setting("ping"), &samples, &recorded([]));
            transport.clone_into(&mut row.setting.transport);
            row
        };
        Row::from_rounds(&[4, 1, 7, 2, 6, 3, 5].map(round)).unwrap()
    }

    /// Returns the lines of a table with single spaces.
    fn lines(table: Table<'_>) -> Vec<String> {
        let text = table.render(Style::Plain);
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn rows_of_rounds_contain_medians_with_their_interval() {
        let rows = [seven("kernel"), row()];
        let lines = lines(Table::new(&rows));
        let words = "samples lost min p50 p50 95 % p90 p99 max lateness p99";
        assert!(lines[0].ends_with(words), "{lines:#?}");
        let first = "280 0 10.00 40.03 10.02 to 70.04 70.02 - 70.04 -";
        assert!(lines[1].ends_with(first), "{lines:#?}");
        assert!(lines[2].ends_with("1000 0 12.00 12.50 - 12.90 12.99 13.00 0.99"), "{lines:#?}");
        assert!(lines[3].starts_with("rows of 7 rounds: percentiles are medians"), "{lines:#?}");
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn rows_of_other_transports_are_compared_with_kernel_sockets() {
        let mut alone = seven("shm");
        alone.setting.wait = "spin".to_string();
        let rows = [seven("kernel"), seven("xdp"), alone];
        let lines = lines(Table::new(&rows));
        assert!(lines[0].ends_with("p50 against kernel"), "{lines:#?}");
        assert!(lines[1].ends_with(" - -"), "{lines:#?}");
        assert!(lines[2].ends_with("× 1.000 (1.000 to 1.000)"), "{lines:#?}");
        assert!(lines[3].ends_with("no baseline"), "{lines:#?}");
        assert!(lines[5].starts_with("against kernel: "), "{lines:#?}");
        assert!(!Table::new(&rows[..1]).render(Style::Plain).contains("against"));
    }

    #[test]
    fn settings_that_differ_have_a_column() {
        let with = |feed: Option<&str>, protocol: &str, size_bytes| {
            let mut row = row();
            row.setting.feed = feed.map(str::to_string);
            (row.setting.protocol, row.setting.size_bytes) = (protocol.to_string(), size_bytes);
            row
        };
        let heading = |rows: &[Row]| lines(Table::new(rows)).remove(0);
        let pings = [with(None, "udp", 14), with(None, "udp", 1_400), with(None, "tcp", 14)];
        assert!(heading(&pings).starts_with("protocol size wait interval"), "{}", heading(&pings));
        assert!(lines(Table::new(&pings))[2].starts_with("udp 1400 B epoll"));
        let ticks =
            [with(Some("multicast"), "multicast+tcp", 64), with(Some("tcp"), "tcp+tcp", 64)];
        assert!(heading(&ticks).starts_with("feed wait interval"), "{}", heading(&ticks));
    }

    #[test]
    fn environment_follows_the_table_and_marks_short_samples() {
        let environment = EnvironmentReport {
            clock_step_ns: 10.0,
            floor_ns: Some(60),
            ..EnvironmentReport::default()
        };
        let row_of = |nanos| Row::new(setting("stage"), &recorded([nanos; 30]), &recorded([]));
        let rows = [row_of(200), row_of(199)];
        let lines = lines(Table::new(&rows).with_environment(Some(&environment)));
        assert!(lines[0].ends_with("note") && !lines[1].contains("clock"), "{lines:#?}");
        assert!(lines[2].ends_with("p50 under 20 clock steps"), "{lines:#?}");
        assert!(lines[3].starts_with("clock: step 10.0 ns"), "{lines:#?}");
        assert!(lines[4].starts_with("floor: 0.06 µs"), "{lines:#?}");
        assert_eq!(Table::new(&rows).render(Style::Plain).lines().count(), 3);
    }

    #[test]
    fn lost_sends_and_late_answers_are_distinguished() {
        let rows = [Row { lost: 5, late_orders: 2, ..row() }, Row { lost: 1, ..row() }];
        let last = lines(Table::new(&rows)).pop().unwrap();
        assert_eq!(last, "of 6 lost sends, 2 were answered after their timeout");
    }

    #[test]
    fn interrupted_rows_have_a_note() {
        let rows = [Row { late: true, interrupted: true, ..row() }];
        let text = Table::new(&rows).render(Style::Plain);
        assert!(text.trim_end().ends_with("  late; interrupted"), "{text}");
    }

    #[test]
    fn failed_and_late_rows_have_a_note() {
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
