//! Rows as a table for people.

use std::io::IsTerminal;

use comfy_table::{CellAlignment, presets};

use crate::batch::is_doubtful;
use crate::compare::{Baseline, against_kernel};
use crate::results::shown;
use crate::{EnvironmentReport, Figure, Row, Setting};

/// The table of measured rows: one line each, latencies in microseconds.
///
/// Transport, protocol and size have a column where rows of one feed differ in them. A percentile
/// that has too few samples beyond it is `-`. Where rows were measured in rounds, the percentiles
/// are medians over rounds, and the 95 % interval of the p50's has a column. Where rows were not
/// carried by kernel sockets, the p50 against that of kernel sockets with the same wait has one. A
/// row that failed, was late or was interrupted says so in a last column, which is there only if a
/// row needs it.
///
/// Below stand the [`EnvironmentReport`] checks, if they were given, and what the figures mean.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    rows: &'a [Row],
    truth: Option<&'a EnvironmentReport>,
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

/// A column: its heading, whether it holds figures, and the cell of a row.
type Column<'a> = (&'static str, bool, Box<dyn Fn(&Row) -> String + 'a>);

/// A word of a setting, and its heading.
type Word = (&'static str, fn(&Setting) -> String);

impl Style {
    /// An empty table of this style.
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
    /// A table of these rows, in this order.
    #[must_use]
    pub const fn new(rows: &'a [Row]) -> Self {
        Self { rows, truth: None }
    }

    /// With the truth checks of the run below it, and rows marked that they cast doubt on.
    #[must_use]
    pub const fn with_truth(self, truth: Option<&'a EnvironmentReport>) -> Self {
        Self { truth, ..self }
    }

    /// The table as text, one line feed at its end.
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
        let Self { rows, truth } = *self;
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
        let notes = move |row: &Row| notes(row, truth).join("; ");
        if rows.iter().any(|row| !notes(row).is_empty()) {
            columns.push(("note", false, Box::new(notes)));
        }
        columns
    }

    /// What the figures mean, where that is not plain, and what they stand on.
    fn footnotes(&self) -> Vec<String> {
        let mut said = reading(self.rows);
        said.extend(self.truth.map(EnvironmentReport::lines).unwrap_or_default());
        said
    }
}

/// What was measured, as far as the rows need it: the feed where there is one; transport, protocol
/// and size where rows of one feed differ in them.
fn settings<'a>(rows: &[Row]) -> Vec<Column<'a>> {
    let words: [Word; 3] = [
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
    for (heading, word) in words {
        let first = |row: &Row| rows.iter().find(|it| it.setting.feed == row.setting.feed);
        let differs =
            |row: &Row| first(row).is_some_and(|it| word(&it.setting) != word(&row.setting));
        if rows.iter().any(differs) {
            columns.push((heading, heading == "size", Box::new(move |row| word(&row.setting))));
        }
    }
    columns
}

/// How the figures of rows with rounds or without kernel sockets are to be read, a line each.
pub(crate) fn reading(rows: &[Row]) -> Vec<String> {
    let mut said = Vec::new();
    if has_rounds(rows) {
        let counts = || rows.iter().map(|row| row.by_round.len()).filter(|&rounds| rounds > 1);
        let rounds = match (counts().min(), counts().max()) {
            (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
            (_, most) => most.unwrap_or(0).to_string(),
        };
        said.push(format!(
            "rows of {rounds} rounds: percentiles are medians over rounds, of p50 with the 95 % \
             interval; where a round has too few samples, of all samples together"
        ));
    }
    if has_baseline(rows) {
        said.push(
            "against kernel: p50 divided by that of kernel sockets with the same wait and \
             otherwise the same setting, with the 95 % interval over rounds where both have them"
                .to_owned(),
        );
    }
    let late: u64 = rows.iter().map(|row| row.late_orders).fold(0, u64::saturating_add);
    if late > 0 {
        let lost: u64 = rows.iter().map(|row| row.lost).fold(0, u64::saturating_add);
        said.push(format!(
            "of {lost} lost sends {late} were answered after they had been given up"
        ));
    }
    said
}

/// Whether any row was measured in several rounds.
pub(crate) fn has_rounds(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.by_round.len() > 1)
}

/// Whether any row was carried by something else than kernel sockets.
pub(crate) fn has_baseline(rows: &[Row]) -> bool {
    rows.iter().any(|row| against_kernel(row, &[]) != Baseline::Itself)
}

/// The 95 % interval of the median over rounds.
pub(crate) fn interval_of_p50(row: &Row) -> String {
    let Some(of) = row.over_rounds(Figure::P50) else { return "-".to_string() };
    format!("{} to {}", micros(rounded(Some(of.low))), micros(rounded(Some(of.high))))
}

/// To the nanosecond.
pub(crate) fn rounded(nanos: Option<f64>) -> Option<u64> {
    nanos.map(|nanos| nanos.round() as u64)
}

/// An interval in words.
pub(crate) fn pause(micros: u64) -> String {
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
pub(crate) fn notes(row: &Row, truth: Option<&EnvironmentReport>) -> Vec<String> {
    let failed = row.failed.as_ref().map(|reason| format!("failed: {reason}"));
    let late = (row.late && failed.is_none()).then(|| "late".to_string());
    let interrupted = row.interrupted.then(|| "interrupted".to_string());
    let is_doubtful = truth.is_some_and(|truth| is_doubtful(row, truth));
    let short = is_doubtful.then(|| "p50 under 20 clock steps".to_string());
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

    /// Seven rounds whose medians are 10, 20, … 70 µs.
    fn seven(transport: &str) -> Row {
        let round = |at: u64| {
            let samples = recorded((0..40).map(|index| at * 10_000 + index));
            let mut row = Row::new(setting("ping"), &samples, &recorded([]));
            transport.clone_into(&mut row.setting.transport);
            row
        };
        Row::of_rounds(&[4, 1, 7, 2, 6, 3, 5].map(round)).unwrap()
    }

    /// The lines of a table, words one space apart.
    fn lines(table: Table<'_>) -> Vec<String> {
        let text = table.render(Style::Plain);
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn rows_of_rounds_show_medians_over_rounds_with_their_interval() {
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
    fn rows_that_no_kernel_socket_carried_stand_beside_those_it_did() {
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
    fn what_rows_of_one_feed_differ_in_has_a_column() {
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
    fn the_truth_stands_below_and_marks_what_it_casts_doubt_on() {
        let truth = EnvironmentReport {
            clock_step_ns: 10.0,
            floor_ns: Some(60),
            ..EnvironmentReport::default()
        };
        let of = |nanos| Row::new(setting("stage"), &recorded([nanos; 30]), &recorded([]));
        let rows = [of(200), of(199)];
        let lines = lines(Table::new(&rows).with_truth(Some(&truth)));
        assert!(lines[0].ends_with("note") && !lines[1].contains("clock"), "{lines:#?}");
        assert!(lines[2].ends_with("p50 under 20 clock steps"), "{lines:#?}");
        assert!(lines[3].starts_with("clock: step 10.0 ns"), "{lines:#?}");
        assert!(lines[4].starts_with("floor: 0.06 µs"), "{lines:#?}");
        assert_eq!(Table::new(&rows).render(Style::Plain).lines().count(), 3);
    }

    #[test]
    fn lost_sends_and_late_answers_are_told_apart() {
        let rows = [Row { lost: 5, late_orders: 2, ..row() }, Row { lost: 1, ..row() }];
        let last = lines(Table::new(&rows)).pop().unwrap();
        assert_eq!(last, "of 6 lost sends 2 were answered after they had been given up");
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
