//! `hairpin bench t2t`: the published exchange and trader table, poll() against epoll().

mod args;
mod difference;
mod table;

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_measure::{EnvironmentReport, Host, Results, Row, Style};
use hairpin_reactor::Wait;

pub(super) use args::BenchT2tArgs;
use hairpin_cli_harness::output;

pub(super) use args::Case;
use table::Block;

use crate::t2t::{Measured, RunContext};

/// The waits to compare, the first with the second.
const WAITS: [Wait; 2] = [Wait::Poll, Wait::Epoll];

/// Measures the table or reads it from a file, and prints it.
///
/// # Errors
/// Causes that fail the first round; a file that cannot be read or has no rows for this table.
pub(super) fn run(arguments: &BenchT2tArgs) -> Result<ExitCode> {
    let style = Style::for_stdout();
    if let Some(path) = &arguments.from {
        let results = Results::read(path)?;
        let busy = output::busy(results.truth.as_ref());
        let text = style.wrap(&(busy + &render(&results, arguments.case, style)));
        if blocks(&results.rows, arguments.case).is_empty() {
            bail!("{} has no rows of t2t with poll and epoll", path.display());
        }
        arguments.context.output.check()?;
        arguments.context.output.save(&results)?;
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    arguments.context.check(arguments.feeds())?;
    let context = RunContext::new("bench t2t", &arguments.context)?;
    let Measured { results, said, saved } = context.measure(&arguments.plan(), "")?;
    let text = output::busy(results.truth.as_ref()) + &render(&results, arguments.case, style);
    output::print(&style.wrap(&(text + &said)))?;
    saved?;
    Ok(context.exit_status(&results))
}

/// Renders the table with its legend.
pub(super) fn render(results: &Results, case: Case, style: Style) -> String {
    let mut text = format!(
        "exchange and trader, half the round trip, {}: poll() against epoll()\n",
        case.name()
    );
    for block in blocks(&results.rows, case) {
        let _ = write!(text, "\n{}", block.render(style));
    }
    let truth = results.truth.as_ref().map(EnvironmentReport::describe).unwrap_or_default();
    text + &style.paragraph(LEGEND) + &machines(&results.host, results.rows.first()) + &truth
}

const LEGEND: &str = "
mean and percentiles with an interval are medians over the rounds; all else is of all samples. The
interval is where poll - epoll lies with 95 % confidence, drawn from the rounds with replacement;
within noise: it holds 0. A percentile that has not 10 samples beyond it is -.
";

/// Describes the differences between this machine and the published one.
fn machines(host: &Host, row: Option<&Row>) -> String {
    let ground = row.and_then(|row| row.ground.as_deref()).unwrap_or("an unknown ground");
    let bound = match row.and_then(|row| row.cores) {
        Some([exchange, trader]) => format!("exchange on core {exchange}, trader on core {trader}"),
        None => "no thread pinned".to_owned(),
    };
    let machine = if host.virtualised { "virtual machine" } else { "machine" };
    format!(
        "published: feed by TCP or multicast, orders by TCP, with and without OpenOnload; threads \
         pinned to\nisolated cores. Its figures and its machine are not \
         public, so that none\nstand beside ours.\n\
         here: {}, {} cores, {machine}, Linux {}; {ground},\nwithout OpenOnload; {bound}, cores \
         not isolated.\n",
        host.cpu, host.cores, host.kernel,
    )
}

/// Returns a block for each feed and interval that has rows of either wait, in their order.
fn blocks(rows: &[Row], case: Case) -> Vec<Block<'_>> {
    let is_ours = |row: &&Row| {
        row.setting.bench == "t2t"
            && row.setting.case == case.name()
            && WAITS.iter().any(|wait| wait.name() == row.setting.wait)
    };
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for row in rows.iter().filter(is_ours) {
        let index = blocks.iter().position(|block| block.is_of(row)).unwrap_or_else(|| {
            blocks.push(Block::new(row));
            blocks.len() - 1
        });
        let side = usize::from(row.setting.wait == WAITS[1].name());
        blocks[index].add(side, row);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::t2t_setup::{self, Load};
    use hairpin_cli_harness::transport::Transport;
    use hairpin_host::ClockSource;
    use hairpin_measure::Recorder;
    use hairpin_time::{Duration, Utc};

    use super::*;
    use crate::bench::comparison_table::host;

    const LOAD: Load = Load {
        interval_us: 500,
        warm_up: 0,
        samples: 0,
        seed: 1,
        matching: true,
        outage_a: None,
        outage_b: None,
    };

    /// Returns a round's samples in its two cases: `sent` is a microsecond less than `intended`.
    fn round(feed: &str, wait: &str, samples: impl Iterator<Item = u64>) -> [Row; 2] {
        let samples: Vec<u64> = samples.collect();
        let recorder = |less: u64| {
            let mut recorder = Recorder::with_capacity(samples.len());
            samples.iter().for_each(|nanos| recorder.record(Duration::from_nanos(nanos - less)));
            recorder
        };
        let [intended, sent] =
            t2t_setup::settings(feed, Transport::Kernel, wait, &LOAD, ClockSource::Tsc);
        let none = Recorder::with_capacity(0);
        [Row::new(intended, &recorder(0), &none), Row::new(sent, &recorder(1_000), &none)]
    }

    /// Returns seven rounds of 1,000 samples from 20 µs up, each round 100 ns slower than the
    /// previous one.
    fn rows(feed: &str, wait: &str, slower_ns: u64) -> Vec<Row> {
        let begin = |number: u64| 20_000 + slower_ns + number * 100;
        let rounds: Vec<[Row; 2]> =
            (0..7).map(|number| round(feed, wait, begin(number)..begin(number) + 1_000)).collect();
        let joined = |case: usize| {
            let rows: Vec<Row> = rounds.iter().map(|round| round[case].clone()).collect();
            Row::from_rounds(&rows).unwrap()
        };
        vec![joined(0), joined(1)]
    }

    fn results(rows: Vec<Row>) -> Results {
        Results { rows, ..Results::new(Utc::EPOCH, "hairpin bench t2t", host()) }
    }

    fn words(text: &str, name: &str) -> String {
        let line = text.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn prints_half_round_trips_with_difference_and_interval() {
        let all = [rows("tcp", "poll", 2_000), rows("tcp", "epoll", 0)].concat();
        let text = render(&results(all), Case::Intended, Style::Plain);
        assert!(text.contains("half the round trip, intended to order"), "{text}");
        assert!(text.contains("tcp, 500 µs between ticks"), "{text}");
        assert!(text.contains("poll: 7000 samples in 7 rounds, 0 lost"), "{text}");
        // The fourth round is the median: 20.3 µs to 21.3 µs, and 2 µs more with poll.
        let expected = "mean 11.40 10.40 +1000 +9.62 [+1000, +1000] poll more";
        assert_eq!(words(&text, "mean"), expected, "{text}");
        assert_eq!(words(&text, "min"), "min 11.00 10.00 +1000 +10.00 - -", "{text}");
        assert_eq!(words(&text, "p99.9"), "p99.9 - - - - - -", "{text}");
        let max = words(&text, "max");
        assert!(max.starts_with("max 11.80 10.80 +1000 "), "{text}");
        for name in ["deviation", "p25 ", "p50 ", "p75 ", "p90 ", "p95 ", "p99 "] {
            let line = words(&text, name);
            assert!(line.split(' ').nth(1).is_some_and(|word| word != "-"), "{name}: {text}");
        }
    }

    #[test]
    fn keeps_second_case() {
        let all = [rows("tcp", "poll", 2_000), rows("tcp", "epoll", 0)].concat();
        let text = render(&results(all), Case::Sent, Style::Plain);
        assert!(text.contains("sent to order"), "{text}");
        assert_eq!(words(&text, "min"), "min 10.50 9.50 +1000 +10.53 - -", "{text}");
    }

    #[test]
    fn reports_equal_rows_as_within_noise() {
        let all = [rows("tcp", "poll", 0), rows("tcp", "epoll", 0)].concat();
        let text = render(&results(all), Case::Intended, Style::Plain);
        assert!(words(&text, "p50").ends_with("within noise"), "{text}");
    }

    #[test]
    fn feeds_have_a_block_each_and_other_waits_none() {
        let all = [
            ("multicast", "poll"),
            ("multicast", "spin"),
            ("multicast", "epoll"),
            ("tcp", "poll"),
            ("tcp", "epoll"),
        ];
        let all = all.map(|(feed, wait)| rows(feed, wait, 0)).concat();
        let text = render(&results(all), Case::Intended, Style::Plain);
        assert_eq!(text.matches("µs between ticks").count(), 2, "{text}");
        assert_eq!(text.matches("\n mean ").count(), 2, "{text}");
        assert!(!text.contains("spin"), "{text}");
    }

    #[test]
    fn prefers_later_run_that_was_not_late() {
        let late = |rows: Vec<Row>| rows.into_iter().map(|row| Row { late: true, ..row });
        let all = [rows("tcp", "poll", 6_000), rows("tcp", "poll", 2_000), rows("tcp", "epoll", 0)];
        let [mut first, mut again, other] = all;
        first = late(first).collect();
        let text = render(
            &results([first.clone(), again.clone(), other.clone()].concat()),
            Case::Intended,
            Style::Plain,
        );
        assert!(text.contains("0 lost; run 2 times, since its generator was late\n"), "{text}");
        assert!(words(&text, "min").starts_with("min 11.00 "), "{text}");
        again = late(again).collect();
        let text = render(&results([first, again, other].concat()), Case::Intended, Style::Plain);
        assert!(text.contains("since its generator was late; late\n"), "{text}");
    }

    #[test]
    fn explains_missing_comparison() {
        let failed = |rows: Vec<Row>| {
            let failed = |row| Row { failed: Some("3 ticks lost".to_owned()), ..row };
            rows.into_iter().map(failed).collect::<Vec<Row>>()
        };
        let all = [rows("tcp", "poll", 0), failed(rows("tcp", "epoll", 0))].concat();
        let text = render(&results(all), Case::Intended, Style::Plain);
        assert!(text.contains("epoll: 7000 samples in 7 rounds, 0 lost; failed: 3 ticks lost"));
        assert!(text.contains("nothing to compare") && !text.contains("\n mean "), "{text}");
        let text = render(&results(rows("tcp", "poll", 0)), Case::Intended, Style::Plain);
        assert!(text.contains("epoll: not measured"), "{text}");
    }

    #[test]
    fn says_what_is_published_and_what_this_is() {
        let mut all = rows("tcp", "poll", 0);
        all[0].ground = Some("two network namespaces".to_owned());
        all[0].cores = Some([0, 1]);
        let text = render(&results(all), Case::Intended, Style::Plain);
        let here = "here: A Processor, 2 cores, virtual machine, Linux 6.12.1; two network \
                    namespaces,\nwithout OpenOnload; exchange on core 0, trader on core 1";
        assert!(text.contains("are not public") && text.contains(here), "{text}");
    }
}
