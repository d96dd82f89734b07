//! Rows as a text table.

use crate::batch::is_below_resolution;
use crate::compare::{Baseline, against_kernel};
use crate::results::shown;
use crate::text_table::TextTable;
use crate::{EnvironmentReport, Figure, Row, Setting, Style};

/// A table of rows, one line each, latencies in microseconds.
///
/// Transport, protocol and size have a column if rows of one feed differ in them. A percentile that
/// too few samples exceed is `-`. For rows measured in rounds, percentiles are medians over rounds,
/// and a column contains the 95 % interval of the p50. If some rows do not use kernel sockets, a
/// column compares their p50 with that of kernel sockets and the same wait. A last column notes
/// failed, late and interrupted rows, if there are any. A failed row has no latencies.
///
/// A terminal that is too narrow loses columns in this order: interval if all rows have the same,
/// lateness p99, min, samples, p90, max, 95 % interval, lost, ratio, p99, case. Its figures have no
/// more decimals than the largest of their column needs, and its notes are a word; see
/// [`Conclusion`](crate::Conclusion) for the reasons.
///
/// Lines below the table explain the figures and contain the [`EnvironmentReport`], if given.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    rows: &'a [Row],
    environment: Option<&'a EnvironmentReport>,
}

/// A column of a table of rows.
struct Column<'a> {
    heading: &'static str,
    /// The order in which narrow terminals drop columns: the highest first, zero never.
    rank: u8,
    content: Content<'a>,
}

/// The function that returns a row's cell.
enum Content<'a> {
    Words(Cell<'a, String>),
    Figures(Cell<'a, String>),
    Nanos(Cell<'a, Option<u64>>),
}

type Cell<'a, T> = Box<dyn Fn(&Row) -> T + 'a>;

/// A field of the setting, with its heading.
type Field = (&'static str, fn(&Setting) -> String);

impl<'a> Column<'a> {
    fn words(heading: &'static str, rank: u8, cell: impl Fn(&Row) -> String + 'a) -> Self {
        Self { heading, rank, content: Content::Words(Box::new(cell)) }
    }

    fn figures(heading: &'static str, rank: u8, cell: impl Fn(&Row) -> String + 'a) -> Self {
        Self { heading, rank, content: Content::Figures(Box::new(cell)) }
    }

    /// Returns a column of latencies. A failed row has none.
    fn nanos(heading: &'static str, rank: u8, cell: impl Fn(&Row) -> Option<u64> + 'a) -> Self {
        let cell = move |row: &Row| cell(row).filter(|_| row.failed.is_none());
        Self { heading, rank, content: Content::Nanos(Box::new(cell)) }
    }

    /// Returns the cell of each row.
    fn cells(&self, rows: &[Row], style: Style) -> Vec<String> {
        match &self.content {
            Content::Words(cell) | Content::Figures(cell) => rows.iter().map(cell).collect(),
            Content::Nanos(cell) => {
                let nanos: Vec<Option<u64>> = rows.iter().map(cell).collect();
                let decimals = match style {
                    Style::Plain => 2,
                    Style::Terminal { .. } => decimals(nanos.iter().flatten().max().copied()),
                };
                nanos.into_iter().map(|nanos| micros_with(nanos, decimals)).collect()
            }
        }
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
        let mut table = TextTable::default();
        let columns = self.columns(style);
        for Column { heading, rank, content } in &columns {
            match content {
                Content::Words(_) => table.add_words(heading, *rank),
                Content::Figures(_) | Content::Nanos(_) => table.add_figures(heading, *rank),
            }
        }
        let cells: Vec<Vec<String>> =
            columns.iter().map(|column| column.cells(self.rows, style)).collect();
        for row in 0..self.rows.len() {
            table.add_row(cells.iter().map(|column| column[row].clone()));
        }
        let footnotes: String = self.footnotes().into_iter().map(|line| line + "\n").collect();
        table.render(style) + &style.wrap(&footnotes)
    }

    fn columns(&self, style: Style) -> Vec<Column<'a>> {
        let Self { rows, environment } = *self;
        let over_rounds = |figure| move |row: &Row| rounded(shown(row, figure));
        let is_constant = rows.windows(2).all(|pair| {
            let [one, other] = [&pair[0].setting, &pair[1].setting];
            one.interval_us == other.interval_us
        });
        let mut columns = settings(rows);
        columns.extend([
            Column::words("wait", 0, |it| it.setting.wait.clone()),
            Column::figures("interval", if is_constant { 20 } else { 0 }, |it| {
                pause(it.setting.interval_us)
            }),
            Column::words("case", 1, |it| it.setting.case.clone()),
            Column::figures("samples", 8, |it| it.samples.to_string()),
            Column::figures("lost", 4, |it| it.lost.to_string()),
            Column::nanos("min", 9, |it| it.summary.min),
            Column::nanos("p50", 0, over_rounds(Figure::P50)),
        ]);
        if has_rounds(rows) {
            columns.push(Column::figures("p50 95 %", 5, interval_of_p50));
        }
        columns.extend([
            Column::nanos("p90", 7, over_rounds(Figure::P90)),
            Column::nanos("p99", 2, over_rounds(Figure::P99)),
            Column::nanos("max", 6, |it| it.summary.max),
            Column::nanos("lateness p99", 10, |it| it.lateness_p99),
        ]);
        if has_baseline(rows) {
            let against = move |row: &Row| against_kernel(row, rows).to_string();
            columns.push(Column::figures("p50 against kernel", 3, against));
        }
        let notes = move |row: &Row| match style {
            Style::Plain => notes(row, environment).join("; "),
            Style::Terminal { .. } => marks(row, environment).join(", "),
        };
        if rows.iter().any(|row| !notes(row).is_empty()) {
            columns.push(Column::words("note", 0, notes));
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
        columns.push(Column::words("feed", 0, feed));
    }
    for (heading, field) in fields {
        let first = |row: &Row| rows.iter().find(|it| it.setting.feed == row.setting.feed);
        let differs =
            |row: &Row| first(row).is_some_and(|it| field(&it.setting) != field(&row.setting));
        if rows.iter().any(differs) {
            let cell = move |row: &Row| field(&row.setting);
            columns.push(match heading {
                "size" => Column::figures(heading, 0, cell),
                _ => Column::words(heading, 0, cell),
            });
        }
    }
    columns
}

/// Returns the settings of a row that distinguish it in a text: those with a column, the wait and
/// the interval.
pub(crate) fn label(row: &Row, rows: &[Row]) -> String {
    let settings = settings(rows).into_iter().map(|column| match column.content {
        Content::Words(cell) | Content::Figures(cell) => cell(row),
        Content::Nanos(cell) => micros(cell(row)),
    });
    let rest = [row.setting.wait.clone(), pause(row.setting.interval_us)];
    settings.chain(rest).collect::<Vec<_>>().join(", ")
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
    let spread = row.over_rounds(Figure::P50).filter(|_| row.failed.is_none());
    let Some(spread) = spread else { return "-".to_string() };
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
    micros_with(nanos, 2)
}

/// Formats nanoseconds as microseconds with up to two decimals, rounded half up.
fn micros_with(nanos: Option<u64>, decimals: u32) -> String {
    let Some(nanos) = nanos else { return "-".to_string() };
    let unit = 10_u64.pow(3 - decimals.min(2));
    let parts = nanos / unit + u64::from(nanos % unit >= unit / 2);
    let (whole, rest) = (parts / 10_u64.pow(decimals), parts % 10_u64.pow(decimals));
    match decimals {
        0 => whole.to_string(),
        _ => format!("{whole}.{rest:0width$}", width = decimals as usize),
    }
}

/// Returns the decimals of microseconds that matter in a column with this maximum.
const fn decimals(max_nanos: Option<u64>) -> u32 {
    match max_nanos {
        Some(1_000_000..) => 0,
        Some(100_000..) => 1,
        _ => 2,
    }
}

/// Returns the restrictions of a row in a word each.
fn marks(row: &Row, environment: Option<&EnvironmentReport>) -> Vec<String> {
    let mark = |note: String| match note.split([':', ' ']).next() {
        Some("p50") => "short".to_owned(),
        Some(word) => word.to_owned(),
        None => note,
    };
    notes(row, environment).into_iter().map(mark).collect()
}

/// Returns the restrictions of a row: failed, late, interrupted, or too short for the clock.
pub(crate) fn notes(row: &Row, environment: Option<&EnvironmentReport>) -> Vec<String> {
    let failed = row.failed.as_ref().map(|reason| format!("failed: {}", without_repeats(reason)));
    let late = (row.late && failed.is_none()).then(|| "late".to_string());
    let interrupted = row.interrupted.then(|| "interrupted".to_string());
    let is_short = environment.is_some_and(|it| is_below_resolution(row, it));
    let short = is_short.then(|| "p50 under 20 clock steps".to_string());
    [failed, late, interrupted, short].into_iter().flatten().collect()
}

/// Returns the reason of a failure without parts that repeat the previous ones: errors are joined
/// with colons, checks with semicolons.
pub(crate) fn without_repeats(reason: &str) -> String {
    let mut checks: Vec<String> = Vec::new();
    for check in reason.split("; ") {
        let mut parts: Vec<&str> = Vec::new();
        for part in check.split(": ") {
            parts.push(part);
            let repeats = |length: &usize| {
                let (before, last) = parts.split_at(parts.len() - length);
                before.ends_with(last)
            };
            if let Some(length) = (1..=parts.len() / 2).find(repeats) {
                parts.truncate(parts.len() - length);
            }
        }
        let check = parts.join(": ");
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    checks.join("; ")
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

    #[test]
    fn tables_fit_terminals_and_drop_columns_in_the_stated_order() {
        let late = |wait: &str, nanos: u64| {
            let samples = recorded((0..2_000).map(|more| nanos + more));
            let mut setting = setting("intended to order");
            wait.clone_into(&mut setting.wait);
            Row { late: true, ..Row::new(setting, &samples, &recorded(0..2_000)) }
        };
        let rows = [late("io_uring", 3_400_000_000), late("spin", 12_000)];
        let order = [
            (60, "feed wait case p50 note"),
            (80, "feed wait case lost p50 p99 max note"),
            (100, "feed wait case samples lost p50 p90 p99 max note"),
            (120, "feed wait case samples lost min p50 p90 p99 max lateness p99 note"),
        ];
        for (columns, expected) in order {
            let text = Table::new(&rows).render(Style::Terminal { columns });
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
            let heading: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
            assert_eq!(heading.join(" "), expected, "{text}");
            assert!(text.contains("3400002") && !text.contains("3400002."), "{text}");
        }
        let text = Table::new(&rows).render(Style::Terminal { columns: 160 });
        assert!(text.lines().all(|line| line.chars().count() <= 160), "{text}");
        assert!(text.contains(" interval ") && !text.contains("not shown"), "{text}");
    }

    #[test]
    fn failed_rows_have_no_latency() {
        let failed = Row { failed: Some("3 ticks lost".to_owned()), ..row() };
        let lines = lines(Table::new(&[failed]));
        let expected =
            "multicast epoll 500 µs sent to order 1000 0 - - - - - - failed: 3 ticks lost";
        assert_eq!(lines[1], expected);
    }

    #[test]
    fn reasons_have_no_part_twice() {
        for (reason, expected) in [
            ("cannot open x: denied: denied", "cannot open x: denied"),
            ("a: b: a: b", "a: b"),
            ("3 lost; 3 lost; 1 gap", "3 lost; 1 gap"),
            ("a: b: c", "a: b: c"),
        ] {
            assert_eq!(without_repeats(reason), expected);
        }
    }
}
