//! Whether our pings agree with sockperf's: both in turn, on the same path, cores and wait.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use hairpin_measure::{Style, difference_of_medians, interleaved, median};
use hairpin_reactor::Wait;

use super::arguments::Cores;
use super::plan::Cell;
use super::rally::Load;
use super::round::Stand;
use super::setup::{Protocol, Stamping};
use super::table::drawn;
use crate::ground::{Ground, Role};
use crate::output;
use crate::pong::Slowness;
use crate::signals::Signals;
use crate::transport;
use crate::truth::Checks;

/// Bytes of a message: the least that sockperf takes.
const SIZE: usize = 14;
/// Pings of one of our rounds: about a second of them.
const SAMPLES: u64 = 40_000;
const WARM_UP: u64 = 1_000;
/// What is called agreement: the interval of the ratio meets these.
const AGREEMENT: [f64; 2] = [0.95, 1.05];
/// sockperf's own, where it has one to itself.
const PORT: u16 = 11_111;

/// Round trips of 14 bytes in a closed loop by us and by sockperf (`ping-pong -m 14 --mps=3000000`)
/// in interleaved rounds, in the same network namespaces, on the same cores, spinning
/// (`--nonblocked`) and blocking, by UDP and TCP; the ratio of their medians, with its 95 %
/// bootstrap interval over rounds. sockperf is installed by apt if it is missing and may be.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// Rounds of each
    #[arg(long, value_name = "N", default_value_t = 15,
          value_parser = clap::value_parser!(u32).range(3..=1_000))]
    rounds: u32,

    /// Pings of each of our rounds
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    samples: u64,
}

/// Runs the rounds and prints a line for each protocol and wait.
///
/// # Errors
/// What stands in the way of either program.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let ground = Ground::make(None)?;
    if !is_there() {
        output::print("skipped: there is no sockperf, and it cannot be installed here\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let signals = Signals::take()?;
    let [pong, ping, ..] = hairpin_host::allowed_cores()?[..] else {
        bail!("ping and pong need a core each, and there is one");
    };
    let cores = Cores { pong: Some(pong), ping: Some(ping) };
    let checks = Checks::before(&hairpin_host::Clock::new(), &cores.chosen())?;
    let stand = Stand {
        ground: &ground,
        cores,
        remote: None,
        transport: transport::Arguments::default(),
        slowness: Slowness::default(),
        stamping: Stamping::None,
        signals: &signals,
    };
    let mut pairs = pairs(arguments);
    for (round, side) in interleaved(2 * pairs.len(), arguments.rounds as usize) {
        if signals.asked_to_stop() {
            break;
        }
        let pair = &mut pairs[side / 2];
        // Who begins changes from round to round.
        if (side + round) % 2 == 0 {
            pair.ours.push(ours(&stand, &pair.cell)?);
        } else {
            pair.theirs.push(theirs(&stand, &pair.cell)?);
        }
    }
    let text = render(&pairs);
    let truth = checks.after().describe();
    output::print(&format!("{}; {}\n{text}\n{truth}", ground.describe(), cores.describe()))?;
    let status = if pairs.iter().all(Pair::agrees) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    Ok(signals.exit_status().unwrap_or(status))
}

/// One protocol and wait, and the half round trips of the rounds, in nanoseconds.
struct Pair {
    cell: Cell,
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

fn pairs(arguments: &Arguments) -> Vec<Pair> {
    let load =
        Load { interval_ns: 0, warm_up: WARM_UP, samples: arguments.samples, connections: 1 };
    let of = |protocol, wait| {
        let cell = Cell { protocol, wait, pong_wait: wait, size: SIZE, load, flood_ms: None };
        Pair { cell, ours: Vec::new(), theirs: Vec::new() }
    };
    let waits = [Wait::Spin, Wait::Block];
    [Protocol::Udp, Protocol::Tcp]
        .into_iter()
        .flat_map(|it| waits.map(|wait| of(it, wait)))
        .collect()
}

impl Pair {
    /// Ours to theirs: the ratio of medians over rounds, and its interval.
    fn ratio(&self) -> Option<[f64; 3]> {
        // The ratio of two medians is the difference of those of their logarithms.
        let log = |(ours, theirs): (&f64, &f64)| [ours.ln(), theirs.ln()];
        let rounds: Vec<[f64; 2]> = self.ours.iter().zip(&self.theirs).map(log).collect();
        let middle =
            |side: usize| median(&mut rounds.iter().map(|it| it[side]).collect::<Vec<_>>());
        let [low, high] = difference_of_medians(&rounds)?;
        Some([middle(0) - middle(1), low, high].map(f64::exp))
    }

    fn agrees(&self) -> bool {
        let [least, most] = AGREEMENT;
        self.ratio().is_some_and(|[_, low, high]| high >= least && low <= most)
    }
}

fn render(pairs: &[Pair]) -> String {
    let headings =
        ["protocol", "wait", "rounds", "ours p50", "sockperf p50", "ratio", "95 %", "note"];
    let rows = pairs.iter().map(|pair| {
        let [ratio, low, high] = pair.ratio().unwrap_or([f64::NAN; 3]);
        let micros = |side: &[f64]| format!("{:.3}", median(&mut side.to_vec()) / 1e3);
        let verdict = if pair.agrees() { "agrees" } else { "does not agree" };
        vec![
            pair.cell.protocol.name().to_owned(),
            pair.cell.wait.to_string(),
            pair.ours.len().min(pair.theirs.len()).to_string(),
            micros(&pair.ours),
            micros(&pair.theirs),
            format!("{ratio:.3}"),
            format!("{low:.3} to {high:.3}"),
            verdict.to_owned(),
        ]
    });
    let [least, most] = AGREEMENT;
    format!(
        "Half round trips of {SIZE} bytes, µs; agreement: the interval meets {least} to {most}\n{}",
        drawn(&headings, rows.collect(), Style::for_stdout())
    )
}

fn ours(stand: &Stand<'_>, cell: &Cell) -> Result<f64> {
    let outcome = stand.round(cell, |_| {})?;
    let row = outcome.ping.rows.first().context("a round without a row")?;
    Ok(row.summary.p50.context("a round without enough samples")? as f64 / 2.0)
}

/// A round of sockperf's: a second of pings.
fn theirs(stand: &Stand<'_>, cell: &Cell) -> Result<f64> {
    let address = stand.ground.address(Role::Pong).to_string();
    let port = PORT.to_string();
    let mut words = vec!["-i", &*address, "-p", &*port];
    words.extend((cell.protocol == Protocol::Tcp).then_some("--tcp"));
    words.extend((cell.wait == Wait::Spin).then_some("--nonblocked"));
    let mut server = pinned("sockperf", stand.cores.pong);
    server.arg("server").args(&words).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Process(stand.ground.start(Role::Pong, server)?);
    server.wait_for("to block on socket")?;
    let mut client = pinned("sockperf", stand.cores.ping);
    client.arg("ping-pong").args(&words).args(["-m", "14", "--mps=3000000", "-t", "1"]);
    client.stdout(Stdio::piped()).stderr(Stdio::piped());
    let client = stand.ground.start(Role::Ping, client)?.wait_with_output()?;
    let said = String::from_utf8_lossy(&client.stdout);
    p50_ns(&said).ok_or_else(|| {
        let last = said.lines().last().unwrap_or("nothing").trim();
        anyhow!("sockperf says no median; its last words: {last}")
    })
}

fn pinned(program: &str, core: Option<usize>) -> Command {
    let Some(core) = core else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string(), program]);
    command
}

/// The median that sockperf prints, half a round trip in microseconds, in nanoseconds.
fn p50_ns(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains("percentile 50.000"))?;
    let micros: f64 = line.rsplit('=').next()?.trim().parse().ok()?;
    Some(micros * 1e3)
}

/// Whether sockperf is here, perhaps from now on.
fn is_there() -> bool {
    let runs = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let is_here = || runs("sockperf", &["--version"]);
    is_here()
        || (runs("apt-get", &["install", "-y", "--no-install-recommends", "sockperf"]) && is_here())
}

/// A program that does not outlive its round.
struct Process(Child);

impl Process {
    /// Reads what it says until `words` are among it; the rest is read away.
    fn wait_for(&mut self, words: &str) -> Result<()> {
        let out = self.0.stdout.take().context("a child without standard output")?;
        let mut lines = BufReader::new(out).lines();
        let is_ready = |line: std::io::Result<String>| line.is_ok_and(|it| it.contains(words));
        if !lines.by_ref().any(is_ready) {
            bail!("sockperf's server has ended");
        }
        std::thread::spawn(move || lines.for_each(drop));
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(ours: &[f64], theirs: &[f64]) -> Pair {
        let arguments = Arguments { rounds: 3, samples: 100 };
        let cell = pairs(&arguments)[0].cell;
        Pair { cell, ours: ours.to_vec(), theirs: theirs.to_vec() }
    }

    #[test]
    fn the_median_is_found_in_what_sockperf_prints() {
        let said = "sockperf: Summary: Latency is 6.012 usec\n\
                    sockperf: ---> percentile 75.000 =    6.500\n\
                    sockperf: ---> percentile 50.000 =    5.977\n";
        assert_eq!(p50_ns(said), Some(5_977.0));
        assert_eq!(p50_ns("nothing of the kind"), None);
    }

    #[test]
    fn an_interval_that_meets_five_per_cent_agrees() {
        let theirs: Vec<f64> = (0..15).map(|round| 10_000.0 + f64::from(round)).collect();
        let times = |factor: f64| -> Vec<f64> { theirs.iter().map(|it| it * factor).collect() };
        assert!(pair(&times(1.04), &theirs).agrees());
        assert!(pair(&times(0.96), &theirs).agrees());
        assert!(!pair(&times(1.06), &theirs).agrees());
        assert!(!pair(&times(0.94), &theirs).agrees());
        assert!(!pair(&[], &theirs).agrees());
    }

    #[test]
    fn a_noisy_side_widens_the_interval() {
        let theirs = vec![10_000.0; 15];
        let ours: Vec<f64> = (0..15).map(|it| 9_000.0 + 300.0 * f64::from(it)).collect();
        let [ratio, low, high] = pair(&ours, &theirs).ratio().unwrap();
        assert!(low < ratio && ratio < high, "{low} {ratio} {high}");
    }
}
