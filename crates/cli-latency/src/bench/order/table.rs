//! The tables of the order benchmark: published figures next to ours.

use std::fmt::Write;

use hairpin_measure::{EnvironmentReport, Figure, Host, Results, Row, Style, is_too_short};

use super::order_case::Subject;
use super::published_results::{COLUMNS, SOURCE, Stage};
use super::setup::subject_and_stage;
use crate::bench::bench_case::pause;
use crate::bench::comparison_table::{Column, drawn, here, note};

/// Renders the tables of a results file.
pub(in crate::bench) fn render(results: &Results, style: Style) -> String {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.setting.bench == "order").collect();
    let step = results.truth.as_ref().map_or(0.0, |truth| truth.clock_step_ns);
    let mut text = "order entry, journal on: min / median / 99th percentile, ns\n".to_owned();
    for interval_us in intervals(&rows) {
        let of = |row: &&&Row| row.setting.interval_us == interval_us;
        let rows: Vec<&Row> = rows.iter().filter(of).copied().collect();
        let _ =
            write!(text, "\n{} between orders\n{}", pause(interval_us), block(&rows, step, style));
    }
    let truth = results.truth.as_ref().map(EnvironmentReport::describe).unwrap_or_default();
    text + &style.paragraph(LEGEND) + &machines(&results.host, rows.first().copied()) + &truth
}

const LEGEND: &str = "
handler receive: report in the process to its callback. handler send: call to the write of the
order's bytes. OS + handler send: call to its return. one way: half of the way from the call to the
callback. batch: the mean of 64 back to back, in memory, a turn of the session each. bare gateway:
it reports every order as new and does nothing else. bare sockets: no session on either side.
xdp: both sides with AF_XDP, other columns with kernel sockets. preload: both sides under hairpin
run.
Our values cover all samples and include the readings of the clock: one in each handler
stage, two in OS + handler send, three in one way's whole. Their floor stands below and was not
subtracted. *: below 20 steps of the clock, where one reading is inexact; see batch. A percentile
that has not 10 samples beyond it is -. between: where the median over the rounds lies with 95 %
confidence.
";

/// Returns the distinct intervals, in their order.
fn intervals(rows: &[&Row]) -> Vec<u64> {
    let mut intervals = Vec::new();
    for interval in rows.iter().map(|row| row.setting.interval_us) {
        if !intervals.contains(&interval) {
            intervals.push(interval);
        }
    }
    intervals
}

/// The rows of one column, by stage.
struct Measured<'a> {
    subject: Subject,
    transport: &'a str,
    wait: &'a str,
    stages: [Option<&'a Row>; Stage::ALL.len()],
}

fn measured<'a>(rows: &[&'a Row]) -> Vec<Measured<'a>> {
    let mut columns: Vec<Measured<'a>> = Vec::new();
    for &row in rows {
        let Some((subject, stage)) = subject_and_stage(&row.setting) else { continue };
        let (transport, wait) = (row.setting.transport.as_str(), row.setting.wait.as_str());
        let is_same =
            |of: &Measured<'_>| (of.subject, of.transport, of.wait) == (subject, transport, wait);
        let place = columns.iter().position(is_same).unwrap_or_else(|| {
            let stages = [None; Stage::ALL.len()];
            columns.push(Measured { subject, transport, wait, stages });
            columns.len() - 1
        });
        columns[place].stages[stage as usize] = Some(row);
    }
    columns
}

fn block(rows: &[&Row], step: f64, style: Style) -> String {
    let names = Stage::ALL.map(Stage::case);
    let with = |more: &[&'static str]| [&names[..], more].concat();
    let published = COLUMNS.iter().map(|column| Column {
        heading: column.sockets.to_owned(),
        cells: column.nanos.map(|figures| figures.map(|it| it.to_string()).join(" / ")).into(),
    });
    let columns = measured(rows);
    let ours =
        columns.iter().map(|of| of.column(|stage, row| figures(of.subject, stage, row, step), []));
    let all: Vec<Column> = published.chain(ours).collect();
    let between = |of: &Measured<'_>| of.column(between, of.counts());
    let below: Vec<Column> = columns.iter().map(between).collect();
    let mut text = drawn(&with(&["note"]), &all, COLUMNS.len(), style);
    text += "  between\n";
    text + &drawn(&with(&["samples", "lost", "note"]), &below, usize::MAX, style)
}

impl Measured<'_> {
    fn column<const N: usize>(
        &self,
        cell: impl Fn(Stage, &Row) -> String,
        more: [String; N],
    ) -> Column {
        let cell = |stage: Stage| {
            self.stages[stage as usize].map_or("".to_owned(), |row| cell(stage, row))
        };
        let cells = Stage::ALL.map(cell).into_iter().chain(more).collect();
        Column { heading: self.subject.name(self.transport, self.wait), cells }
    }

    /// Returns the samples, the lost orders and the note of the column, which all stages share.
    fn counts(&self) -> [String; 3] {
        match self.stages.iter().flatten().next() {
            Some(row) => [row.samples.to_string(), row.lost.to_string(), note(row)],
            None => Default::default(),
        }
    }
}

/// Returns the nanoseconds that the table shows: half of a round trip.
fn shown(stage: Stage, row: &Row, nanos: f64) -> f64 {
    let is_halved = stage == Stage::OneWay && row.setting.kind == hairpin_measure::Kind::Rtt;
    if is_halved { nanos / 2.0 } else { nanos }
}

/// Returns minimum, median and 99th percentile; dashes for a failed row.
fn figures(subject: Subject, stage: Stage, row: &Row, step: f64) -> String {
    let of = &row.summary;
    let figure = |nanos: Option<u64>| match nanos.filter(|_| row.failed.is_none()) {
        None => "-".to_owned(),
        Some(nanos) => {
            let is_doubtful = subject != Subject::Batch && is_too_short(nanos, step);
            let mark = if is_doubtful { "*" } else { "" };
            format!("{mark}{:.0}", shown(stage, row, nanos as f64))
        }
    };
    [of.min, of.p50, of.p99].map(figure).join(" / ")
}

fn between(stage: Stage, row: &Row) -> String {
    match row.over_rounds(Figure::P50).filter(|_| row.failed.is_none()) {
        Some(spread) => {
            let [low, high] = [spread.low, spread.high].map(|nanos| shown(stage, row, nanos));
            format!("{low:.0} to {high:.0}")
        }
        None => "-".to_owned(),
    }
}

/// Describes the differences between this machine and the published one.
fn machines(host: &Host, row: Option<&Row>) -> String {
    format!(
        "published: {SOURCE}.\nIt does not state journal, message and pause.\n{}\n\
         NewOrderSingle514 of 144 bytes and ExecutionReportNew522.\n",
        here(host, row, ["gateway", "session"]),
    )
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::transport::Transport;
    use hairpin_measure::{Clock, Recorder};
    use hairpin_time::{Duration, Utc};

    use super::*;
    use crate::bench::comparison_table::host;
    use crate::bench::order::order_case::Load;
    use crate::bench::order::setup::settings;

    /// Returns rows of a thousand samples, from 100 ns for the first stage and 1,000 more for each
    /// next one.
    fn rows(subject: Subject, interval_us: u64) -> Vec<Row> {
        rows_over(Transport::Kernel, subject, interval_us)
    }

    fn rows_over(transport: Transport, subject: Subject, interval_us: u64) -> Vec<Row> {
        let load = Load { interval_us, warm_up: 0, samples: 0, seed: 1 };
        let none = Recorder::with_capacity(0);
        let settings = settings(subject, transport, "spin", &load, Clock::Tsc);
        let settings = settings.into_iter().enumerate();
        let row = |(place, setting)| {
            let mut samples = Recorder::with_capacity(1_000);
            let first = 100 + 1_000 * place as u64;
            (0..1_000).for_each(|more| samples.record(Duration::from_nanos(first + more % 100)));
            Row::new(setting, &samples, &none)
        };
        settings.map(row).collect()
    }

    fn results(rows: Vec<Row>) -> Results {
        let truth = EnvironmentReport { clock_step_ns: 10.0, ..EnvironmentReport::default() };
        let results = Results::new(Utc::EPOCH, "hairpin bench order", host());
        Results { rows, truth: Some(truth), ..results }
    }

    /// Returns the first line with this name after the text `behind`.
    fn line(text: &str, behind: &str, name: &str) -> String {
        let of = text.split_once(behind).map(|(_, rest)| rest).unwrap_or_default();
        let found = of.lines().find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn prints_our_values_next_to_published_ones() {
        let subjects = [Subject::Gateway, Subject::BareGateway, Subject::BareSockets];
        let mut all: Vec<Row> = subjects.iter().flat_map(|&of| rows(of, 1_000)).collect();
        all.extend(rows(Subject::Batch, 0));
        let text = render(&results(all), Style::Plain);
        let expected = [
            ("handler receive", "34 / 65 / 84 30 / 37 / 73 21 / 23 / 34 | *100 / *149 / *198"),
            ("handler send + receive", "66 / 69 / 82 | 2100 / 2149 / 2199 2100 / 2149 / 2199"),
            ("OS + handler send", "3100 / 3149 / 3199 3100 / 3149 / 3199 *100 / *149 / *198"),
            ("one way", "| 2050 / 2076 / 2100 2050 / 2076 / 2100 550 / 574 / 599"),
        ];
        for (name, figures) in expected {
            let line = line(&text, "1 ms between", name);
            assert!(line.contains(figures), "{name}: {line}\n{text}");
        }
        let batch = line(&text, "no delay between", "handler send + receive");
        assert!(batch.ends_with("| 2100 / 2149 / 2199"), "{batch}\n{text}");
        assert!(text.contains("here: A Processor, 2 cores, virtual machine, Linux 6.12.1"));
        assert!(text.lines().all(|line| line.chars().count() <= 160), "{text}");
    }

    #[test]
    fn xdp_has_columns_of_its_own() {
        let mut all = rows(Subject::Gateway, 0);
        all.extend(rows_over(Transport::Xdp, Subject::Gateway, 0));
        let text = render(&results(all), Style::Plain);
        assert!(text.contains("xdp, spin"), "{text}");
        let both = line(&text, "no delay between", "one way");
        assert!(both.ends_with("| 2050 / 2076 / 2100 2050 / 2076 / 2100"), "{both}\n{text}");
    }

    #[test]
    fn samples_and_loss_are_stated_and_what_failed_says_so() {
        let mut few = rows(Subject::Gateway, 0);
        few.iter_mut().for_each(|row| row.failed = Some("2 messages came".to_owned()));
        let text = render(&results(few), Style::Plain);
        assert_eq!(line(&text, "between\n ", "samples"), "samples 1000", "{text}");
        assert_eq!(line(&text, "between\n ", "lost"), "lost 0", "{text}");
        assert!(text.contains("  spin: failed: 2 messages came\n"), "{text}");
    }
}
