//! `hairpin lab`: runs a server and a client between two hosts, over kernel sockets and
//! accelerated, and compares what the client printed.
//!
//! | module | contents |
//! |---|---|
//! | `server` | the server: its start, its first port, its end |
//! | `numbers` | the numbers that the client printed, and their medians |

mod numbers;
mod server;

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::output;
use hairpin_cli_harness::preload::accelerated_if_possible;
use hairpin_cli_harness::signals::Signals;
use hairpin_host::{allowed_cores, busy_time};
use hairpin_measure::Style;

use self::numbers::Comparison;
use self::server::{Group, Server};

/// Compare programs over kernel sockets and under `hairpin run`, between two hosts made for it
///
/// Two network namespaces are joined by a veth. SERVER runs in one and CLIENT in the other, once
/// over kernel sockets and once accelerated in each round. Both are commands of the shell, and
/// `$SERVER` is the server's address. The table has the medians of every number that differs in
/// what the client printed. The namespaces disappear with the command. Needs root.
#[derive(clap::Args, Debug, Clone)]
pub struct LabArgs {
    /// The server, such as 'redis-server --bind $SERVER --save ""'
    server: String,

    /// The client, which ends by itself, such as 'redis-benchmark -h $SERVER -t get -q'
    client: String,

    /// How often each of the two runs
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
}

/// The time in which the load of other programs is measured.
const LOAD_TIME: Duration = Duration::from_millis(300);
/// The load of other programs, in percent of the cores, from which a comparison is doubtful.
const LOAD_MAX: f64 = 10.0;

/// Runs the rounds and prints the table.
///
/// # Errors
/// No two hosts; the server opens no port; the client fails.
pub fn run(arguments: &LabArgs) -> Result<ExitCode> {
    let hosts = HostPair::new(None)?;
    hosts.check_bypass("hairpin lab")?;
    let signals = Signals::take()?;
    let load = load_of_others().filter(|load| *load >= LOAD_MAX);
    let mut comparison = Comparison::default();
    for round in 1..=arguments.rounds {
        for (side, name) in ["kernel sockets", "hairpin run"].into_iter().enumerate() {
            let mut errors = std::io::stderr();
            let _ = writeln!(errors, "round {round} of {}: {name}", arguments.rounds);
            let text = run_once(arguments, &hosts, side == 1, &signals);
            if let Some(status) = signals.exit_status() {
                return Ok(status);
            }
            let (seconds, text) = text.with_context(|| name.to_owned())?;
            comparison.record(side, seconds, &text);
        }
    }
    output::print(&comparison.table(arguments.rounds, Style::for_stdout()))?;
    if let Some(load) = load {
        let text = "of the cores before the first round: run again on an idle machine";
        let _ = writeln!(std::io::stderr(), "other programs used {load:.0} % {text}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the time that programs use now, in percent of the cores of this process.
fn load_of_others() -> Option<f64> {
    let cores = allowed_cores().ok()?;
    let used = || -> Option<u64> {
        cores.iter().map(|&core| busy_time(core).ok()?.map(|time| time.as_nanos())).sum()
    };
    let (before, begun) = (used()?, Instant::now());
    thread::sleep(LOAD_TIME);
    let nanos = used()?.saturating_sub(before) as f64;
    Some(nanos / 1e9 / begun.elapsed().as_secs_f64() / cores.len() as f64 * 100.0)
}

/// Runs the server and the client once. Returns the client's seconds and its output.
fn run_once(
    arguments: &LabArgs,
    hosts: &HostPair,
    is_accelerated: bool,
    signals: &Signals,
) -> Result<(f64, String)> {
    let command = |role, text: &str| -> Result<Command> {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        if is_accelerated {
            command = accelerated_if_possible(&command, hosts.interface(role))?;
        }
        command.env("SERVER", hosts.address(Role::Pong).to_string());
        Ok(command)
    };
    let server = Server::start(hosts, command(Role::Pong, &arguments.server)?, signals)?;
    let mut client = command(Role::Ping, &arguments.client)?;
    client.stdout(Stdio::piped());
    let begun = Instant::now();
    let client = Group::start(hosts, Role::Ping, client).context("cannot start the client")?;
    let (status, text) = client.output(signals)?;
    let seconds = begun.elapsed().as_secs_f64();
    drop(server);
    if !status.success() && !signals.stop_requested() {
        let last = text.lines().last().unwrap_or("nothing");
        bail!("the client has failed, {status}; it printed last: {last}");
    }
    Ok((seconds, text))
}
