//! The tables of reliable datagrams: published figures next to ours.

use std::collections::BTreeSet;
use std::fmt::Write;

use hairpin_measure::{EnvironmentReport, Figure, Host, Results, Row, Style};

use super::published_results::{SOURCE, TABLE};
use crate::bench::comparison_table::{Column, drawn, grouped, here, median_ratio, note};

/// The measured columns: heading, transport and protocol.
const COLUMNS: [(&str, &str, &str); 7] = [
    ("TCP", "kernel", "tcp"),
    ("UDP", "kernel", "udp"),
    ("RDS", "kernel", "rds"),
    ("xdp UDP", "xdp", "udp"),
    ("xdp RDS", "xdp", "rds"),
    ("raw", "xdp", "raw"),
    ("RDS/eth", "xdp", "rds-ethernet"),
];

/// A ratio of two measured columns, the divisor last, and its published counterpart.
struct Ratio {
    heading: &'static str,
    columns: [usize; 2],
}

const RATIOS: [Ratio; 5] = [
    Ratio { heading: "RDS/UDP", columns: [2, 1] },
    Ratio { heading: "RDS/TCP", columns: [2, 0] },
    Ratio { heading: "xdp RDS/UDP", columns: [4, 3] },
    Ratio { heading: "RDS/eth to raw", columns: [6, 5] },
    Ratio { heading: "RDS/eth to UDP", columns: [6, 1] },
];

/// Renders the tables of a results file.
pub(in crate::bench) fn render(results: &Results, style: Style) -> String {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.setting.bench == "rds").collect();
    let wait = rows.first().map_or("", |row| &row.setting.wait);
    let pings = Pings::new(&rows, style);
    let mut text = format!("reliable datagrams, closed loop, wait {wait}; round trips in µs\n");
    text += &pings.published_and_ours("fastest", Figure::Min, true);
    text += &pings.published_and_ours("median", Figure::P50, false);
    text += &pings.published_and_ours("99th percentile", Figure::P99, false);
    text += &pings.ratios("ratios of the fastest, median over rounds", Figure::Min, true);
    text += &pings.ratios("ratios of the medians, median over rounds", Figure::P50, false);
    text += &flood(&rows);
    text += &notes(&rows);
    let truth = results.truth.as_ref().map(EnvironmentReport::describe).unwrap_or_default();
    text + &style.paragraph(LEGEND) + &machines(&results.host, rows.first().copied()) + &truth
}

const LEGEND: &str = "
xdp: over AF_XDP, bypassing the kernel. raw: Ethernet frames without IP over AF_XDP, returned by
the peer. RDS/eth: reliable datagrams in Ethernet frames over AF_XDP. A percentile with fewer than
10 samples beyond it is -.
";

/// The rows of pings by size and column.
struct Pings<'a> {
    sizes: Vec<u64>,
    rows: &'a [&'a Row],
    style: Style,
}

impl<'a> Pings<'a> {
    fn new(rows: &'a [&'a Row], style: Style) -> Self {
        let pings = rows.iter().filter(|row| row.setting.case == "ping");
        let sizes: BTreeSet<u64> = pings.map(|row| row.setting.size_bytes).collect();
        Self { sizes: sizes.into_iter().collect(), rows, style }
    }

    /// Returns the valid row of a column and size.
    fn row(&self, column: usize, size: u64) -> Option<&'a Row> {
        let (_, transport, protocol) = COLUMNS[column];
        let is_wanted = |row: &&&Row| {
            let setting = &row.setting;
            (&*setting.case, &*setting.transport, &*setting.protocol, setting.size_bytes)
                == ("ping", transport, protocol, size)
        };
        self.rows.iter().find(is_wanted).copied().filter(|row| row.failed.is_none())
    }

    /// Returns a cell for each size, and an empty note.
    fn cells(&self, cell: impl Fn(u64) -> Option<String>) -> Vec<String> {
        self.sizes.iter().map(|&size| cell(size).unwrap_or_else(|| "-".to_owned())).collect()
    }

    fn names(&self) -> Vec<String> {
        self.sizes.iter().map(u64::to_string).chain([String::new()]).collect()
    }

    fn published(
        &self,
        of: impl Fn(&super::published_results::Published) -> String,
    ) -> Vec<String> {
        let line = |size| TABLE.iter().find(|line| line.size as u64 == size);
        self.cells(|size| line(size).map(&of))
    }

    fn block(&self, heading: &str, columns: &[Column], published: usize) -> String {
        let names = self.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("\n{heading}\n{}", drawn(&names, columns, published, self.style))
    }

    /// Returns a figure of every column that was measured, after the published ones.
    fn published_and_ours(&self, heading: &str, figure: Figure, is_published: bool) -> String {
        let mut columns = Vec::new();
        if is_published {
            columns.push(column("TCP", self.published(|line| line.tcp.to_string())));
            columns.push(column("UDP", self.published(|line| line.udp.to_string())));
            columns.push(column("RDS/eth", self.published(|line| line.rds.to_string())));
        }
        let published = columns.len();
        for (index, (heading, ..)) in COLUMNS.into_iter().enumerate() {
            if !self.sizes.iter().any(|&size| self.row(index, size).is_some()) {
                continue;
            }
            let micros = |size| {
                let nanos = figure_of(self.row(index, size)?, figure)?;
                Some(format!("{:.2}", nanos / 1e3))
            };
            columns.push(column(heading, self.cells(micros)));
        }
        self.block(heading, &columns, published)
    }

    fn ratios(&self, heading: &str, figure: Figure, is_published: bool) -> String {
        let mut columns = Vec::new();
        if is_published {
            let ratio = |a: u64, b: u64| format!("{:.2}", a as f64 / b as f64);
            columns.push(column("RDS/UDP", self.published(|it| ratio(it.rds, it.udp))));
            columns.push(column("RDS/TCP", self.published(|it| ratio(it.rds, it.tcp))));
        }
        let published = columns.len();
        for Ratio { heading, columns: [over, under] } in RATIOS {
            let ratio = |size| {
                let rows = [self.row(over, size)?, self.row(under, size)?];
                median_ratio(rows, figure).map(|ratio| format!("{ratio:.2}"))
            };
            let cells = self.cells(ratio);
            if cells.iter().any(|cell| cell != "-") {
                columns.push(column(heading, cells));
            }
        }
        self.block(heading, &columns, published)
    }
}

fn column(heading: &str, cells: Vec<String>) -> Column {
    Column { heading: heading.to_owned(), cells }
}

/// Returns a figure of all samples of a row, in nanoseconds.
fn figure_of(row: &Row, figure: Figure) -> Option<f64> {
    hairpin_measure::RoundFigures::from_row(row).figure(figure)
}

/// Returns the message rates of the flood.
fn flood(rows: &[&Row]) -> String {
    let row = |protocol| {
        let is_flood = |row: &&&Row| row.setting.case == "flood" && row.failed.is_none();
        rows.iter().filter(is_flood).find(|row| row.setting.protocol == protocol).copied()
    };
    let mut text = String::new();
    for protocol in ["udp", "rds"] {
        let Some(row) = row(protocol) else { continue };
        let rate = row.summary.p50.map_or(0.0, |nanos| 1e9 / nanos.max(1) as f64);
        let _ = writeln!(text, "  {protocol}  {rate:>9.0} messages/s received, {} lost", row.lost);
    }
    if text.is_empty() {
        return text;
    }
    // The samples are times per message, so the ratio of rates is the inverse one.
    let ratio =
        row("udp").zip(row("rds")).and_then(|(udp, rds)| median_ratio([udp, rds], Figure::P50));
    if let Some(ratio) = ratio {
        let _ = writeln!(text, "  RDS/UDP: {ratio:.2}, median over rounds");
    }
    let size =
        rows.iter().find(|row| row.setting.case == "flood").map_or(0, |it| it.setting.size_bytes);
    format!("\nflood of {size}-byte messages through the kernel, one way\n{text}")
}

/// Returns a line for each reason why rows may not count, with their cases.
fn notes(rows: &[&Row]) -> String {
    let notes = grouped(rows.iter().map(|row| {
        let reason = note(row);
        let is_lossy = row.lost > 0 && row.setting.case == "ping";
        let lost = if is_lossy { format!("{} lost", row.lost) } else { String::new() };
        let case = format!("{} {}", row.setting.transport, row.setting.protocol);
        (if reason.is_empty() { lost } else { reason }, case)
    }));
    let lines = notes.iter().map(|(reason, cases)| {
        let cases = cases.join(", ");
        match reason.strip_prefix("failed: xdp is not available: ") {
            Some(reason) => format!("left out: {cases}: {reason}\n"),
            None => format!("{cases}: {reason}\n"),
        }
    });
    let text: String = lines.collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Describes the differences between this machine and the published one.
fn machines(host: &Host, row: Option<&Row>) -> String {
    format!(
        "published: {SOURCE}.\nThe fastest round trips between two hosts; the first three \
         columns.\n{} Closed loop, one message in flight.\n",
        here(host, row, ["pong", "ping"]),
    )
}

#[cfg(test)]
mod tests {
    use hairpin_measure::{Clock, Kind, Recorder, Setting};
    use hairpin_time::{Duration, Utc};

    use super::*;
    use crate::bench::comparison_table::host;

    fn setting(transport: &str, protocol: &str, size: u64) -> Setting {
        Setting {
            bench: "rds".to_owned(),
            case: "ping".to_owned(),
            feed: None,
            transport: transport.to_owned(),
            wait: "spin".to_owned(),
            protocol: protocol.to_owned(),
            size_bytes: size,
            interval_us: 0,
            kind: Kind::Rtt,
            clock: Clock::Tsc,
            rounds: 1,
        }
    }

    /// Returns a row whose rounds have these fastest round trips.
    fn row(setting: &Setting, fastest: &[u64]) -> Row {
        let rounds: Vec<Row> = fastest
            .iter()
            .map(|&nanos| {
                let mut samples = Recorder::with_capacity(100);
                (0..100).for_each(|more| samples.record(Duration::from_nanos(nanos + more)));
                Row::new(setting.clone(), &samples, &Recorder::with_capacity(0))
            })
            .collect();
        Row::from_rounds(&rounds).unwrap()
    }

    fn results(rows: Vec<Row>) -> Results {
        Results { rows, ..Results::new(Utc::from_nanos(0), "hairpin bench rds".to_owned(), host()) }
    }

    fn line<'a>(text: &'a str, block: &str, name: &str) -> Vec<&'a str> {
        let of = text.split("\n\n").find(|part| part.starts_with(block)).unwrap_or_default();
        let found = of.lines().find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_default().split_whitespace().collect()
    }

    #[test]
    fn ratio_is_the_median_over_rounds() {
        let udp = row(&setting("kernel", "udp", 64), &[1_000, 2_000, 1_000]);
        let rds = row(&setting("kernel", "rds", 64), &[1_100, 2_000, 5_000]);
        assert_eq!(median_ratio([&rds, &udp], Figure::Min), Some(1.1));
        let two = row(&setting("kernel", "rds", 64), &[1_000, 2_500]);
        assert_eq!(median_ratio([&two, &udp], Figure::Min), Some(1.125));
    }

    #[test]
    fn our_figures_stand_next_to_the_published_ones() {
        let rows = vec![
            row(&setting("kernel", "tcp", 64), &[20_000, 20_000, 20_000]),
            row(&setting("kernel", "udp", 64), &[10_000, 10_000, 10_000]),
            row(&setting("kernel", "rds", 64), &[10_500, 10_400, 10_600]),
        ];
        let text = render(&results(rows), Style::Plain);
        let expected = ["64", "110", "74", "79", "|", "20.00", "10.00", "10.40"];
        assert_eq!(line(&text, "fastest", "64"), expected, "{text}");
        let ratios = line(&text, "ratios of the fastest", "64");
        assert_eq!(ratios, ["64", "1.07", "0.72", "|", "1.05", "0.53"], "{text}");
        assert!(!text.contains("raw  "), "columns that were not measured are left out: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
    }

    #[test]
    fn names_each_reason_once() {
        let failed = |protocol, size| {
            Row::failed(setting("xdp", protocol, size), "xdp is not available: no capability")
        };
        let rows = vec![failed("udp", 4), failed("rds", 4), failed("udp", 8), failed("rds", 8)];
        let text = render(&results(rows), Style::Plain);
        let line = "left out: xdp udp, xdp rds: no capability\n";
        assert!(text.contains(line), "{text}");
        assert_eq!(text.matches("no capability").count(), 1, "{text}");
    }
}
