//! The tables of the feed benchmark: published figures next to ours.

use std::fmt::Write;

use hairpin_measure::{EnvironmentReport, Figure, Host, Results, Row, Style, is_too_short};

use super::feed_case::{Receiver, name};
use super::published_results::{FIGURES, SOURCE, TABLES, Table};
use super::setup::{is_of, receiver_of};
use crate::bench::bench_case::pause;
use crate::bench::comparison_table::{Column, drawn, here, note};

/// Renders the tables of a results file.
pub(in crate::bench) fn render(results: &Results, style: Style) -> String {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.setting.bench == "feed").collect();
    let step = results.truth.as_ref().map_or(0.0, |truth| truth.clock_step_ns);
    let mut text = "feed handler, 100 instruments, packets of one book entry, µs\n".to_owned();
    for table in TABLES {
        let _ = write!(text, "\n{}", block(&table, &rows, step, style));
    }
    let truth = results.truth.as_ref().map(EnvironmentReport::describe).unwrap_or_default();
    text + &style.paragraph(LEGEND) + &machines(&results.host, rows.first().copied()) + &truth
}

const LEGEND: &str = "
our values cover all samples; the interval contains the median over the rounds with 95 %
confidence. xdp: the same feed handler, its packets bypassing the kernel (AF_XDP), receive
timestamps by the filter on the interface, with the kernel's clock. preload: the feed handler
under hairpin run. batch: the mean of 64 packets back to back, from memory, in the channel alone.
bare receiver: a socket without a feed handler, receive timestamp to user space. *: below 20 steps
of the clock, where one reading is inexact; see batch. No floor was subtracted. A percentile with
fewer than 10 samples beyond it is -.
";

/// The names of the lines after those of the figures.
const LINES: [&str; 5] = ["median, low", "median, high", "samples", "lost", "note"];

fn block(table: &Table, rows: &[&Row], step: f64, style: Style) -> String {
    let Table { span, interval_us, columns } = table;
    let pause = pause(*interval_us);
    let published = columns.iter().map(|column| Column {
        heading: column.engine.to_owned(),
        cells: column.micros.iter().map(|micros| format!("{micros:.3}")).collect(),
    });
    let is_ours =
        |row: &&&Row| is_of(*span, &row.setting) && row.setting.interval_us == *interval_us;
    let ours: Vec<Column> = rows.iter().filter(is_ours).map(|row| ours(row, step)).collect();
    let heading = format!("{}: {}, {pause} between packets\n", span.case(), span.describe());
    if ours.is_empty() {
        return heading + "  not measured\n";
    }
    let count = columns.len();
    let names: Vec<&str> = FIGURES.into_iter().chain(LINES).collect();
    heading + &drawn(&names, &published.chain(ours).collect::<Vec<_>>(), count, style)
}

fn ours(row: &Row, step: f64) -> Column {
    let of = &row.summary;
    let is_doubtful =
        |nanos: u64| receiver_of(&row.setting) != Receiver::Batch && is_too_short(nanos, step);
    // A failed row has no latencies.
    let is_valid = row.failed.is_none();
    let micros = |nanos: Option<u64>| match nanos.filter(|_| is_valid) {
        None => "-".to_owned(),
        Some(nanos) => {
            let mark = if is_doubtful(nanos) { "*" } else { "" };
            format!("{mark}{:.3}", nanos as f64 / 1e3)
        }
    };
    let mean =
        of.mean.filter(|_| is_valid).map_or("-".to_owned(), |nanos| format!("{:.3}", nanos / 1e3));
    let figures = [micros(of.min), micros(of.p50), mean, micros(of.p95), micros(of.p99)];
    let spread = row.over_rounds(Figure::P50).filter(|_| is_valid);
    let end = |nanos: Option<f64>| nanos.map_or("-".to_owned(), |it| format!("{:.3}", it / 1e3));
    let rest = [
        micros(of.max),
        end(spread.map(|spread| spread.low)),
        end(spread.map(|spread| spread.high)),
        row.samples.to_string(),
        row.lost.to_string(),
        note(row),
    ];
    Column { heading: heading(row), cells: figures.into_iter().chain(rest).collect() }
}

fn heading(row: &Row) -> String {
    name(receiver_of(&row.setting), &row.setting.transport, &row.setting.wait)
}

/// Describes the differences between this machine and the published one.
fn machines(host: &Host, row: Option<&Row>) -> String {
    format!(
        "published: {SOURCE}.\nBook updates, with its engines on kernel sockets, on those under \
         OpenOnload, and on ef_vi of a Solarflare card;\nit does not state machine and packets. \
         \"messages, no network\": channel 360, i7-7700K, no book.\n{} One side (A), packets of 76 \
         bytes, kernel sockets unless xdp, software timestamps.\n",
        here(host, row, ["publisher", "receiver"]),
    )
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::transport::Transport;
    use hairpin_measure::{Clock, Recorder};
    use hairpin_time::{Duration, Utc};

    use super::*;
    use crate::bench::comparison_table::host;
    use crate::bench::feed::feed_case::Load;
    use crate::bench::feed::setup::settings;

    fn rows(receiver: Receiver, interval_us: u64, nanos: u64) -> Vec<Row> {
        rows_by(Transport::Kernel, receiver, interval_us, nanos)
    }

    fn rows_by(transport: Transport, receiver: Receiver, interval_us: u64, nanos: u64) -> Vec<Row> {
        let load = Load { interval_us, warm_up: 0, samples: 0, seed: 1 };
        let mut samples = Recorder::with_capacity(1_000);
        (0..1_000).for_each(|more| samples.record(Duration::from_nanos(nanos + more)));
        let none = Recorder::with_capacity(0);
        let settings = settings(receiver, transport, "spin", &load, Clock::Tsc);
        settings.into_iter().map(|setting| Row::new(setting, &samples, &none)).collect()
    }

    fn results(rows: Vec<Row>) -> Results {
        let truth = EnvironmentReport { clock_step_ns: 10.0, ..EnvironmentReport::default() };
        let results = Results::new(Utc::EPOCH, "hairpin bench feed", host());
        Results { rows, truth: Some(truth), ..results }
    }

    /// Returns the line with this name in the block whose heading contains `block`.
    fn line(text: &str, block: &str, name: &str) -> String {
        let of = text.split("\n\n").find(|part| part.contains(block)).unwrap_or_default();
        let found = of.lines().find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn our_figures_stand_beside_all_four_published_tables() {
        let warm = Receiver::Handler { is_kept_warm: true };
        let handler = Receiver::Handler { is_kept_warm: false };
        let all = [
            rows(handler, 5_000, 900),
            rows(warm, 5_000, 300),
            rows_by(Transport::Xdp, handler, 5_000, 500),
            rows(Receiver::Bare, 5_000, 2_000),
            rows(handler, 0, 100),
            rows_by(Transport::Xdp, handler, 0, 200),
            rows(Receiver::Bare, 0, 3_000),
            rows(Receiver::Batch, 0, 60),
        ];
        let text = render(&results(all.concat()), Style::Plain);
        let application = "application only: packet in the process to callback, 5 ms";
        let expected = "min 0.993 0.856 | 0.900 0.300 0.500";
        assert_eq!(line(&text, application, "min"), expected, "{text}");
        let network = "with network and kernel: receive timestamp to callback, 5 ms";
        assert_eq!(line(&text, network, "max"), "max 79.933 16.385 | 1.899 1.299 1.499 2.999");
        let hot = "packet in the process to callback, no delay";
        assert_eq!(line(&text, hot, "min"), "min 0.507 0.533 0.600 0.047 | *0.100 0.200 0.060");
        assert_eq!(line(&text, hot, "samples"), "samples | 1000 1000 1000");
        let flat_out = "receive timestamp to callback, no delay";
        assert_eq!(line(&text, flat_out, "95 %"), "95 % 14.238 5.260 2.853 | 1.049 1.149 3.949");
        assert!(text.contains("xdp, spin") && !text.contains("bare receiver, xdp"), "{text}");
        assert!(text.contains("here: A Processor, 2 cores, virtual machine, Linux 6.12.1"));
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
    }

    #[test]
    fn reports_missing_and_failed_rows() {
        let handler = Receiver::Handler { is_kept_warm: false };
        let mut few = rows(handler, 5_000, 900);
        few[0].failed = Some("3 packets were not decoded".to_owned());
        few[1].late = true;
        let text = render(&results(few), Style::Plain);
        assert!(text.contains("  spin: failed: 3 packets were not decoded\n"), "{text}");
        assert!(text.contains("  spin: late\n"), "{text}");
        assert_eq!(text.matches("  not measured\n").count(), 2, "{text}");
    }
}
