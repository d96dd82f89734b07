//! A comparison of our pings with sockperf's: interleaved, on the same path, cores and wait.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use hairpin_cli_harness::host_checks::HostChecks;
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::sockperf::{self, PingPong, Server};
use hairpin_cli_harness::transport::TransportArgs;
use hairpin_measure::{Ratio, Style, difference_of_medians, interleaved, median};
use hairpin_reactor::Wait;

use super::args::Cores;
use super::ping_case::PingCase;
use super::ping_loop::Load;
use super::round::PingContext;
use super::setup::{Protocol, Stamping};
use super::table::drawn;
use crate::pong::Slowness;

/// The message size in bytes: the smallest that sockperf accepts.
const SIZE: usize = 14;
/// The pings of one of our rounds: about a second.
const SAMPLES: u64 = 40_000;
const WARM_UP: u64 = 1_000;

/// Measures round trips of 14 bytes in a closed loop with our ping and with sockperf (`ping-pong -m
/// 14 --mps=3000000`) in interleaved rounds, in the same network namespaces, on the same cores,
/// spinning (`--nonblocked`) and blocking, over UDP and TCP. Prints the ratio of the medians with
/// its 95 % bootstrap interval over rounds. Installs sockperf with apt if it is missing and the
/// user may.
#[derive(clap::Args, Debug, Clone)]
pub struct SockperfArgs {
    /// Rounds of each program
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
/// Those of either program.
pub fn run(arguments: &SockperfArgs) -> Result<ExitCode> {
    let hosts = HostPair::new(None)?;
    if !sockperf::is_installed() {
        output::print("skipped: sockperf is not installed and cannot be installed\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let signals = Signals::take()?;
    let [pong, ping, ..] = hairpin_host::allowed_cores()?[..] else {
        bail!("ping and pong need a core each, and there is only one");
    };
    let cores = Cores { pong: Some(pong), ping: Some(ping) };
    let checks = HostChecks::start(&hairpin_host::Clock::new(), &cores.chosen())?;
    let context = PingContext {
        hosts: &hosts,
        cores,
        remote: None,
        slowness: Slowness::default(),
        stamping: Stamping::None,
        signals: &signals,
    };
    let mut pairs = pairs(arguments);
    for (round, side) in interleaved(2 * pairs.len(), arguments.rounds as usize) {
        if signals.stop_requested() {
            break;
        }
        let pair = &mut pairs[side / 2];
        // The order of the two programs alternates between rounds.
        if (side + round) % 2 == 0 {
            pair.ours.push(ours(&context, &pair.case)?);
        } else {
            pair.theirs.push(theirs(&context, &pair.case)?);
        }
    }
    let text = render(&pairs);
    let truth = checks.after().describe();
    output::print(&format!("{}; {}\n{text}\n{truth}", hosts.describe(), cores.describe()))?;
    let status = if pairs.iter().all(|pair| pair.agreement() == Agreement::Agrees) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    Ok(signals.exit_status().unwrap_or(status))
}

/// One protocol and wait, and the half round trips of the rounds, in nanoseconds.
struct Pair {
    case: PingCase,
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

fn pairs(arguments: &SockperfArgs) -> Vec<Pair> {
    let load =
        Load { interval_ns: 0, warm_up: WARM_UP, samples: arguments.samples, connections: 1 };
    let of = |protocol, wait| {
        let case = PingCase {
            protocol,
            transport: TransportArgs::default(),
            wait,
            pong_wait: wait,
            size: SIZE,
            load,
            flood_ms: None,
        };
        Pair { case, ours: Vec::new(), theirs: Vec::new() }
    };
    let waits = [Wait::Spin, Wait::Block];
    [Protocol::Udp, Protocol::Tcp]
        .into_iter()
        .flat_map(|it| waits.map(|wait| of(it, wait)))
        .collect()
}

impl Pair {
    /// Returns the ratio of our median over rounds to theirs, and its interval.
    fn ratio(&self) -> Option<Ratio> {
        // The ratio of two medians is the difference of the medians of the logarithms.
        let log = |(ours, theirs): (&f64, &f64)| [ours.ln(), theirs.ln()];
        let rounds: Vec<[f64; 2]> = self.ours.iter().zip(&self.theirs).map(log).collect();
        let middle =
            |side: usize| median(&mut rounds.iter().map(|it| it[side]).collect::<Vec<_>>());
        let [low, high] = difference_of_medians(&rounds)?;
        let [ratio, low, high] = [middle(0) - middle(1), low, high].map(f64::exp);
        Some(Ratio { ratio, low, high })
    }

    fn rounds(&self) -> usize {
        self.ours.len().min(self.theirs.len())
    }

    fn agreement(&self) -> Agreement {
        let Some(ratio) = self.ratio() else { return Agreement::Undecided(None) };
        let [least, most] = Ratio::EQUAL;
        if ratio.is_equal() {
            return Agreement::Agrees;
        }
        if ratio.high < least || ratio.low > most {
            return Agreement::Differs;
        }
        let distance = ratio.distance_to_bound().abs();
        Agreement::Undecided(ratio.rounds_to_reach(distance, self.rounds(), 0.0))
    }

    /// Describes the agreement, with what is known about a difference.
    fn note(&self) -> String {
        match self.agreement() {
            Agreement::Agrees => "agrees".to_owned(),
            Agreement::Undecided(Some(rounds)) => format!("undecided: about {rounds} rounds"),
            Agreement::Undecided(None) => "undecided".to_owned(),
            // With --nonblocked.
            Agreement::Differs if self.case.protocol == Protocol::Tcp && self.is_spinning() => {
                "differs: sockperf's server calls accept between receives".to_owned()
            }
            Agreement::Differs => "differs".to_owned(),
        }
    }

    fn is_spinning(&self) -> bool {
        self.case.wait == Wait::Spin
    }
}

/// The outcome of the comparison of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    /// The whole interval of the ratio lies within 5 %.
    Agrees,
    /// The whole interval lies outside.
    Differs,
    /// Neither. Contains the number of rounds that would probably decide.
    Undecided(Option<usize>),
}

fn render(pairs: &[Pair]) -> String {
    let headings =
        ["protocol", "wait", "rounds", "ours p50", "sockperf p50", "ratio", "95 %", "note"];
    let rows = pairs.iter().map(|pair| {
        let nothing = Ratio { ratio: f64::NAN, low: f64::NAN, high: f64::NAN };
        let Ratio { ratio, low, high } = pair.ratio().unwrap_or(nothing);
        let micros = |side: &[f64]| format!("{:.3}", median(&mut side.to_vec()) / 1e3);
        vec![
            pair.case.protocol.name().to_owned(),
            pair.case.wait.to_string(),
            pair.rounds().to_string(),
            micros(&pair.ours),
            micros(&pair.theirs),
            format!("{ratio:.3}"),
            format!("{low:.3} to {high:.3}"),
            pair.note(),
        ]
    });
    let [least, most] = Ratio::EQUAL;
    format!(
        "Half round trips of {SIZE} bytes, µs; agreement: the interval lies within {least} to \
         {most}\n{}",
        drawn(&headings, rows.collect(), Style::for_stdout())
    )
}

fn ours(context: &PingContext<'_>, case: &PingCase) -> Result<f64> {
    let outcome = context.round(case, |_| {})?;
    let row = outcome.ping.rows.first().context("a round without a row")?;
    Ok(row.summary.p50.context("a round without enough samples")? as f64 / 2.0)
}

/// Runs a round of sockperf: a second of pings.
fn theirs(context: &PingContext<'_>, case: &PingCase) -> Result<f64> {
    let ping_pong = PingPong {
        address: context.hosts.address(Role::Pong),
        size: SIZE,
        is_tcp: case.protocol == Protocol::Tcp,
        is_nonblocked: case.wait == Wait::Spin,
        seconds: 1,
    };
    let server = sockperf::pinned(context.cores.pong, &ping_pong.server());
    let _server = Server::start(context.hosts, server)?;
    let client = sockperf::pinned(context.cores.ping, &ping_pong.client());
    let output = sockperf::output(context.hosts, client)?;
    p50_ns(&output).ok_or_else(|| {
        let last = output.lines().last().unwrap_or("nothing").trim();
        anyhow!("no median in sockperf's output, which ends with: {last}")
    })
}

/// Returns the median that sockperf prints, half a round trip in microseconds, in nanoseconds.
fn p50_ns(output: &str) -> Option<f64> {
    let line = output.lines().find(|line| line.contains("percentile 50.000"))?;
    let micros: f64 = line.rsplit('=').next()?.trim().parse().ok()?;
    Some(micros * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(ours: &[f64], theirs: &[f64]) -> Pair {
        let arguments = SockperfArgs { rounds: 3, samples: 100 };
        let case = pairs(&arguments)[0].case;
        Pair { case, ours: ours.to_vec(), theirs: theirs.to_vec() }
    }

    #[test]
    fn finds_median_in_sockperf_output() {
        let output = "sockperf: Summary: Latency is 6.012 usec\n\
                    sockperf: ---> percentile 75.000 =    6.500\n\
                    sockperf: ---> percentile 50.000 =    5.977\n";
        assert_eq!(p50_ns(output), Some(5_977.0));
        assert_eq!(p50_ns("nothing of the kind"), None);
    }

    #[test]
    fn only_an_interval_within_five_percent_agrees() {
        let theirs: Vec<f64> = (0..15).map(|round| 10_000.0 + f64::from(round)).collect();
        let times = |factor: f64| -> Vec<f64> { theirs.iter().map(|it| it * factor).collect() };
        for (factor, note) in
            [(1.04, "agrees"), (0.96, "agrees"), (1.06, "differs"), (0.94, "differs")]
        {
            assert_eq!(pair(&times(factor), &theirs).note(), note);
        }
        assert_eq!(pair(&[], &theirs).note(), "undecided");
        let wide: Vec<f64> = (0..15).map(|round| 7_000.0 + 450.0 * f64::from(round)).collect();
        let note = pair(&wide, &theirs).note();
        assert!(note.starts_with("undecided: about "), "{note}");
        let mut tcp = pair(&times(0.8), &theirs);
        tcp.case.protocol = Protocol::Tcp;
        assert_eq!(tcp.note(), "differs: sockperf's server calls accept between receives");
    }

    #[test]
    fn noise_widens_interval() {
        let theirs = vec![10_000.0; 15];
        let ours: Vec<f64> = (0..15).map(|it| 9_000.0 + 300.0 * f64::from(it)).collect();
        let Ratio { ratio, low, high } = pair(&ours, &theirs).ratio().unwrap();
        assert!(low < ratio && ratio < high, "{low} {ratio} {high}");
    }
}
