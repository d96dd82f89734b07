//! The tables of accelerated sockets: published figures next to ours.

use std::collections::BTreeSet;

use hairpin_measure::{EnvironmentReport, Figure, Host, Results, Row, Setting, Style};
use hairpin_reactor::Wait;

use super::published_results::{LINES, SOURCE, TCP, UDP};
use super::sockets_case::{Program, Protocol};
use crate::bench::comparison_table::{Column, drawn, grouped, here, median_ratio, note};

/// The columns that are measured, and their headings.
const PROGRAMS: [(&str, Program); 6] = [
    ("kernel", Program::KERNEL),
    ("both", Program::BOTH),
    ("client", Program::CLIENT),
    ("server", Program::SERVER),
    ("minimal", Program::MinimalEcho),
    ("copying", Program::CopyingEcho),
];

/// Renders the tables of a results file.
pub(in crate::bench) fn render(results: &Results, style: Style) -> String {
    let rows: Vec<&Row> =
        results.rows.iter().filter(|row| row.setting.bench == "sockets").collect();
    let mut text = "sockperf ping-pong, closed loop; half round trips in µs\n".to_owned();
    for protocol in Protocol::ALL {
        let rows = rows.iter().copied().filter(|row| row.setting.protocol == protocol.name());
        let sockets = Rows { protocol, rows: rows.collect(), style };
        for wait in [Wait::Block, Wait::Spin] {
            text += &sockets.distribution(wait);
            text += &sockets.medians(wait);
            text += &sockets.ratios(wait);
        }
    }
    text += &notes(&rows);
    let truth = results.truth.as_ref().map(EnvironmentReport::describe).unwrap_or_default();
    text + &style.paragraph(LEGEND) + &machines(&results.host, rows.first().copied()) + &truth
}

const LEGEND: &str = "
kernel: without acceleration. both, client, server: these sides under hairpin run. minimal: frames
of the same length over an AF_XDP socket with minimal code around it, the lower bound of the device.
copying: minimal, and each message is copied into the frame and out of it, and its bytes are summed.
A percentile with fewer than 10 samples beyond it is -. A ratio is the median over rounds.
";

/// The rows of a protocol.
struct Rows<'a> {
    protocol: Protocol,
    rows: Vec<&'a Row>,
    style: Style,
}

impl Rows<'_> {
    /// Returns the valid row of a program, a wait and a size. The echoes always spin.
    fn row(&self, program: Program, wait: Wait, size: u64) -> Option<&Row> {
        let [case, transport] = program.names();
        let is_wanted = |row: &&&Row| {
            let setting = &row.setting;
            (&*setting.case, &*setting.transport, &*setting.wait, setting.size_bytes)
                == (case, transport, wait.name(), size)
        };
        self.rows.iter().find(is_wanted).copied().filter(|row| row.failed.is_none())
    }

    fn sizes(&self) -> BTreeSet<u64> {
        self.rows.iter().map(|row| row.setting.size_bytes).collect()
    }

    /// Returns the distribution of the smallest message.
    fn distribution(&self, wait: Wait) -> String {
        let Some(size) = self.sizes().first().copied() else { return String::new() };
        let mut columns = Vec::new();
        if wait == Wait::Block {
            let published = match self.protocol {
                Protocol::Udp => UDP,
                Protocol::Tcp => TCP,
            };
            columns.extend(published.map(|published| Column {
                heading: published.heading.to_owned(),
                cells: published.values.map(micros).to_vec(),
            }));
        }
        let published = columns.len();
        for (heading, program) in PROGRAMS {
            if let Some(row) = self.row(program, wait, size) {
                let cells = values(row).map(micros).to_vec();
                columns.push(Column { heading: heading.to_owned(), cells });
            }
        }
        if columns.len() == published {
            return String::new();
        }
        let names: Vec<&str> = LINES.into_iter().chain([""]).collect();
        // Without published columns there is no border.
        let border = if published == 0 { columns.len() } else { published };
        let protocol = self.protocol.name();
        format!(
            "\n{protocol}, wait {wait}, {size} bytes\n{}",
            drawn(&names, &columns, border, self.style)
        )
    }

    /// Returns the medians by size.
    fn medians(&self, wait: Wait) -> String {
        let columns = PROGRAMS.map(|(heading, program)| {
            let median = move |size| Some(self.row(program, wait, size)?.summary.p50? as f64 / 2e3);
            (heading.to_owned(), median)
        });
        self.by_size(&format!("wait {wait}: median by message size"), columns)
    }

    /// Returns the ratios of the medians by size.
    fn ratios(&self, wait: Wait) -> String {
        const RATIOS: [(&str, Program, Program); 6] = [
            ("kernel/both", Program::KERNEL, Program::BOTH),
            ("both/kernel", Program::BOTH, Program::KERNEL),
            ("client/kernel", Program::CLIENT, Program::KERNEL),
            ("server/kernel", Program::SERVER, Program::KERNEL),
            ("both/minimal", Program::BOTH, Program::MinimalEcho),
            ("both/copying", Program::BOTH, Program::CopyingEcho),
        ];
        let columns = RATIOS.map(|(heading, over, under)| {
            let ratio = move |size| {
                let rows = [self.row(over, wait, size)?, self.row(under, wait, size)?];
                median_ratio(rows, Figure::P50)
            };
            (heading.to_owned(), ratio)
        });
        self.by_size(&format!("wait {wait}: ratios of the medians"), columns)
    }

    /// Returns a table with a line for each size. Columns without values are left out.
    fn by_size<const N: usize>(
        &self,
        heading: &str,
        columns: [(String, impl Fn(u64) -> Option<f64>); N],
    ) -> String {
        let sizes = self.sizes();
        let columns: Vec<Column> = columns
            .into_iter()
            .map(|(heading, value)| {
                let cells = sizes.iter().map(|&size| micros(value(size))).collect();
                Column { heading, cells }
            })
            .filter(|column| column.cells.iter().any(|cell| cell != "-"))
            .collect();
        if columns.is_empty() {
            return String::new();
        }
        let names: Vec<String> = sizes.iter().map(u64::to_string).chain([String::new()]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!(
            "\n{}, {heading}\n{}",
            self.protocol.name(),
            drawn(&names, &columns, columns.len(), self.style)
        )
    }
}

/// Formats microseconds, or a ratio.
fn micros(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// Returns the value of each line of [`LINES`], in microseconds of half a round trip.
fn values(row: &Row) -> [Option<f64>; LINES.len()] {
    let summary = &row.summary;
    let nanos = |value: Option<u64>| value.map(|nanos| nanos as f64);
    let values = [
        summary.mean,
        summary.stddev,
        nanos(summary.min),
        nanos(summary.p25),
        nanos(summary.p50),
        nanos(summary.p75),
        nanos(summary.p90),
        nanos(summary.p95),
        nanos(summary.p99),
        nanos(summary.p99_9),
        nanos(summary.p99_99),
        nanos(summary.max),
    ];
    values.map(|value| value.map(|nanos| nanos / 2e3))
}

/// Returns a line for each reason why rows may not count, with the cases.
fn notes(rows: &[&Row]) -> String {
    let notes = rows.iter().map(|row| {
        let setting = &row.setting;
        let Setting { case, transport, protocol, wait, .. } = setting;
        (note(row), format!("{case} ({transport}, {protocol}, {wait})"))
    });
    let notes = grouped(notes);
    let lines = notes.iter().map(|(reason, cases)| format!("{}: {reason}\n", cases.join(", ")));
    let text: String = lines.collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Describes the differences between this machine and the published one.
fn machines(host: &Host, row: Option<&Row>) -> String {
    format!(
        "published: {SOURCE}.\nThe least message of \
         today's sockperf has 14 bytes.\n{}\n",
        here(host, row, ["server", "client"]),
    )
}

#[cfg(test)]
mod tests {
    use hairpin_measure::Recorder;
    use hairpin_time::{Duration, Utc};

    use super::*;
    use crate::bench::bench_case::Load;
    use crate::bench::comparison_table::host;
    use crate::bench::sockets::sockets_case::SocketsCase;

    fn row(program: Program, wait: Wait, size: usize, round_trip_ns: u64) -> Row {
        row_of(Protocol::Udp, program, wait, size, round_trip_ns)
    }

    fn row_of(
        protocol: Protocol,
        program: Program,
        wait: Wait,
        size: usize,
        round_trip_ns: u64,
    ) -> Row {
        let load = Load { interval_us: 0, warm_up: 0, samples: 0, seed: 0 };
        let setting = SocketsCase { program, protocol, wait, size, seconds: 1, load }.setting();
        let rounds: Vec<Row> = (0..3)
            .map(|_| {
                let mut samples = Recorder::with_capacity(100);
                (0..100).for_each(|_| samples.record(Duration::from_nanos(round_trip_ns)));
                Row::new(setting.clone(), &samples, &Recorder::with_capacity(0))
            })
            .collect();
        Row::from_rounds(&rounds).unwrap()
    }

    fn rendered(rows: Vec<Row>) -> String {
        let command = "hairpin bench sockets".to_owned();
        let results = Results { rows, ..Results::new(Utc::from_nanos(0), command, host()) };
        render(&results, Style::Plain)
    }

    fn line<'a>(text: &'a str, block: &str, name: &str) -> Vec<&'a str> {
        let of = text.split("\n\n").find(|part| part.starts_with(block)).unwrap_or_default();
        let found = of.lines().find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_default().split_whitespace().collect()
    }

    #[test]
    fn tables_show_half_round_trips_and_ratios() {
        let text = rendered(vec![
            row(Program::KERNEL, Wait::Block, 14, 60_000),
            row(Program::BOTH, Wait::Block, 14, 4_000),
            row(Program::KERNEL, Wait::Spin, 14, 8_000),
            row(Program::BOTH, Wait::Spin, 14, 4_000),
            row(Program::MinimalEcho, Wait::Spin, 14, 3_200),
            row_of(Protocol::Tcp, Program::BOTH, Wait::Block, 14, 5_000),
        ]);
        let published = ["50", "%", "12.432", "1.083", "|", "30.000", "2.000"];
        assert_eq!(line(&text, "udp, wait block, 14", "50 %"), published, "{text}");
        let published = ["50", "%", "16.235", "1.132", "|", "2.500"];
        assert_eq!(line(&text, "tcp, wait block, 14", "50 %"), published, "{text}");
        assert_eq!(
            line(&text, "udp, wait block: ratios", "14"),
            ["14", "15.000", "0.067"],
            "{text}"
        );
        assert_eq!(line(&text, "udp, wait spin: median", "14"), ["14", "4.000", "2.000", "1.600"]);
        let ratios = ["14", "2.000", "0.500", "1.250"];
        assert_eq!(line(&text, "udp, wait spin: ratios", "14"), ratios, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn names_each_reason_once() {
        let failed = |size| {
            let row = row(Program::BOTH, Wait::Spin, size, 1);
            Row::failed(row.setting, "AF_XDP is not available: no capability")
        };
        let text = rendered(vec![failed(14), failed(64)]);
        assert_eq!(text.matches("no capability").count(), 1, "{text}");
    }
}
