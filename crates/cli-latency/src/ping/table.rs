//! The results of pings as tables.

use hairpin_measure::{Figure, Kind, Row, Style, TextTable, counted};

use super::latency_breakdown::StampCounts;
use super::ping_case::PingCase;
use super::ping_loop::PingCounts;
use super::round::Outcome;

const WHOLE: [&str; 15] = [
    "protocol",
    "wait",
    "size",
    "interval",
    "case",
    "samples",
    "lost",
    "min",
    "p50",
    "p50 over rounds",
    "p90",
    "p99",
    "p99.9",
    "max",
    "lateness p99",
];

const HALF: [&str; 15] = [
    "protocol",
    "wait",
    "size",
    "avg",
    "deviation",
    "min",
    "p25",
    "p50",
    "p75",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "p99.99",
    "max",
];

/// The left-aligned columns.
const WORDS: [&str; 4] = ["protocol", "wait", "case", "note"];

/// The columns that narrow terminals drop, the last first.
const DROPPED: [&str; 23] = [
    "p99",
    "case",
    "interval",
    "lost",
    "size",
    "max",
    "p50 over rounds",
    "p99.9",
    "p90",
    "samples",
    "min",
    "avg",
    "deviation",
    "p99.99",
    "p95",
    "p75",
    "p25",
    "sent",
    "least to most",
    "lost %",
    "received MB/s",
    "sent/s",
    "lateness p99",
];

/// Renders whole round trips and, for closed loops, half round trips, in microseconds.
pub(super) fn render(rows: &[Row], style: Style) -> String {
    let mut text =
        style.wrap("Round trips, µs (p50 over rounds: the 95 % interval of its median)\n");
    let notes: Vec<String> = rows.iter().map(|row| note(row, style)).collect();
    let has_notes = notes.iter().any(|note| !note.is_empty());
    let headings: Vec<&str> = WHOLE.into_iter().chain(has_notes.then_some("note")).collect();
    let cases = rows
        .iter()
        .zip(notes)
        .map(|(row, note)| whole(row).into_iter().chain(has_notes.then_some(note)).collect());
    text += &drawn(&headings, cases.collect(), style);
    let is_shown = |row: &&Row| is_closed(row) && row.samples > 0 && row.failed.is_none();
    let closed: Vec<&Row> = rows.iter().filter(is_shown).collect();
    if !closed.is_empty() {
        let heading = "\nHalf round trips of the closed loops, µs, as sockperf prints them\n";
        text += &style.wrap(heading);
        text += &drawn(&HALF, closed.into_iter().map(half).collect(), style);
    }
    text
}

fn is_closed(row: &Row) -> bool {
    row.setting.interval_us == 0 && row.setting.kind == Kind::Rtt
}

/// Renders a table with these headings and rows.
pub(super) fn drawn(headings: &[&str], rows: Vec<Vec<String>>, style: Style) -> String {
    let mut table = TextTable::default();
    for heading in headings {
        let rank = DROPPED.iter().position(|it| it == heading).map_or(0, |place| place + 1);
        let rank = u8::try_from(rank).unwrap_or(u8::MAX);
        match WORDS.contains(heading) {
            true => table.add_words(heading, rank),
            false => table.add_figures(heading, rank),
        }
    }
    rows.into_iter().for_each(|row| table.add_row(row));
    table.render(style)
}

fn whole(row: &Row) -> Vec<String> {
    let (setting, of) = (&row.setting, &row.summary);
    // A failed row has no latencies.
    let micros = |nanos: Option<u64>| micros(nanos.filter(|_| row.failed.is_none()), 1);
    let spread = row.over_rounds(Figure::P50).filter(|_| row.failed.is_none());
    vec![
        setting.protocol.clone(),
        setting.wait.clone(),
        setting.size_bytes.to_string(),
        match setting.interval_us {
            0 => "closed loop".to_owned(),
            interval => format!("{interval} µs"),
        },
        setting.case.clone(),
        row.samples.to_string(),
        row.lost.to_string(),
        micros(of.min),
        micros(of.p50),
        spread.map_or("-".to_owned(), |spread| {
            format!("{:.2} to {:.2}", spread.low / 1e3, spread.high / 1e3)
        }),
        micros(of.p90),
        micros(of.p99),
        micros(of.p99_9),
        micros(of.max),
        micros(row.lateness_p99),
    ]
}

fn half(row: &Row) -> Vec<String> {
    let (setting, of) = (&row.setting, &row.summary);
    let mean = |nanos: Option<f64>| nanos.map_or("-".to_owned(), |it| format!("{:.3}", it / 2e3));
    let words = [setting.protocol.clone(), setting.wait.clone(), setting.size_bytes.to_string()];
    let figures =
        [of.min, of.p25, of.p50, of.p75, of.p90, of.p95, of.p99, of.p99_9, of.p99_99, of.max];
    let figures = figures.map(|nanos| micros(nanos, 2));
    words.into_iter().chain([mean(of.mean), mean(of.stddev)]).chain(figures).collect()
}

/// Formats nanoseconds divided by `part` as microseconds: halves with three decimals, wholes with
/// two.
fn micros(nanos: Option<u64>, part: u64) -> String {
    let Some(nanos) = nanos else { return "-".to_owned() };
    let micros = nanos as f64 / part as f64 / 1e3;
    if part == 1 { format!("{micros:.2}") } else { format!("{micros:.3}") }
}

/// Returns the restrictions of a row; for a terminal without the reason, which the conclusion has.
fn note(row: &Row, style: Style) -> String {
    let late = (row.late && row.failed.is_none()).then(|| "late".to_owned());
    let failed = row.failed.as_ref().map(|reason| match style {
        Style::Plain => format!("failed: {reason}"),
        Style::Terminal { .. } => "failed".to_owned(),
    });
    let interrupted = row.interrupted.then(|| "interrupted".to_owned());
    [failed, late, interrupted].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The counts of one case besides its rows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    ping: PingCounts,
    refused: u64,
    stamps: Option<StampCounts>,
}

impl Tally {
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let PingCounts { sent, answered, lost, late, duplicated, out_of_order, unexpected } =
            outcome.ping.counts;
        self.ping.sent += sent;
        self.ping.answered += answered;
        self.ping.lost += lost;
        self.ping.late += late;
        self.ping.duplicated += duplicated;
        self.ping.out_of_order += out_of_order;
        self.ping.unexpected += unexpected;
        self.refused += outcome.pong.as_ref().map_or(0, |pong| pong.refused);
        if let Some(StampCounts { complete, no_transmit, no_receive, contradictory }) =
            outcome.ping.stamps
        {
            let stamps = self.stamps.get_or_insert_default();
            stamps.complete += complete;
            stamps.no_transmit += no_transmit;
            stamps.no_receive += no_receive;
            stamps.contradictory += contradictory;
        }
    }

    /// Returns a line if a count is unexpected, and one about timestamps if they were enabled.
    pub(crate) fn describe(&self, case: &PingCase) -> String {
        let stamps = self.stamps.map(|stamps| {
            let StampCounts { complete, no_transmit, no_receive, contradictory } = stamps;
            format!(
                "{}, {}, {}: {} with both timestamps, {no_transmit} without a transmit one, \
                 {no_receive} without a receive one, {contradictory} with clocks that contradict \
                 each other\n",
                case.protocol.name(),
                case.wait,
                counted(case.size, "byte"),
                counted(complete, "ping"),
            )
        });
        self.describe_counts(case) + &stamps.unwrap_or_default()
    }

    fn describe_counts(&self, case: &PingCase) -> String {
        let PingCounts { sent, lost, late, duplicated, out_of_order, unexpected, .. } = self.ping;
        if [lost, late, duplicated, out_of_order, unexpected, self.refused] == [0; 6] {
            return String::new();
        }
        format!(
            "{}, {}, {}: of {} {lost} lost, {late} answered late; {}, {out_of_order} out of \
             order, {unexpected} unexpected; {} refused by the kernel\n",
            case.protocol.name(),
            case.wait,
            counted(case.size, "byte"),
            counted(sent, "ping"),
            counted(duplicated, "duplicate answer"),
            counted(self.refused, "answer"),
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hairpin_measure::{Clock, Recorder, Setting};
    use hairpin_time::Duration;

    /// Returns the setting of a ping.
    pub(crate) fn setting(interval_us: u64) -> Setting {
        Setting {
            bench: "ping".to_owned(),
            case: "ping".to_owned(),
            feed: None,
            transport: "kernel".to_owned(),
            wait: "spin".to_owned(),
            protocol: "udp".to_owned(),
            size_bytes: 14,
            interval_us,
            kind: Kind::Rtt,
            clock: Clock::Tsc,
            rounds: 1,
        }
    }

    fn row(interval_us: u64) -> Row {
        let setting = setting(interval_us);
        let mut latency = Recorder::with_capacity(1_000);
        (0..1_000).for_each(|nanos| latency.record(Duration::from_nanos(12_000 + nanos)));
        Row::new(setting, &latency, &Recorder::with_capacity(0))
    }

    #[test]
    fn prints_closed_loop_with_half_round_trips() {
        let text = render(&[row(0)], Style::Plain);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].contains("closed loop") && lines[2].contains("12.00"), "{text}");
        assert_eq!(lines[4], "Half round trips of the closed loops, µs, as sockperf prints them");
        assert!(lines[6].contains("6.000") && !lines[6].contains("12.00"), "{text}");
    }

    #[test]
    fn prints_open_loop_without_half_round_trips() {
        let text = render(&[row(100)], Style::Plain);
        assert!(text.contains("100 µs") && !text.contains("Half"), "{text}");
    }

    #[test]
    fn fits_terminals_and_keeps_the_median() {
        let rows = [row(0), row(100)];
        for columns in [60, 80, 100, 120, 160] {
            let text = render(&rows, Style::Terminal { columns });
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
            let heading = text.lines().find(|line| line.contains("protocol")).unwrap();
            let heading: Vec<&str> = heading.split_whitespace().collect();
            assert_eq!(heading.contains(&"lateness"), columns >= 160, "{text}");
            assert!(text.contains("p50") && text.contains("12.50"), "{text}");
        }
    }

    #[test]
    fn prints_reason_of_failed_row() {
        let failed = Row::failed(row(0).setting, "timeout");
        let text = render(&[failed], Style::Plain);
        assert!(text.contains("failed: timeout") && !text.contains("Half"), "{text}");
    }
}
