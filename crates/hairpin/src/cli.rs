//! The command line: parses it, runs the subcommand, and turns the outcome into an exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use hairpin_cli_harness::child_protocol::ChildArgs;
use hairpin_cli_harness::{output, secret_key, usage};
use hairpin_measure::Style;
use hairpin_order_entry::redact_keys;

use crate::cmd::{
    bench, bench_compare, check, data_program, decode, doctor, exchange, feed, generate, jitter,
    lab, order, ping, pong, rds_stress, report, run, stat, t2t, trader, wire,
};
use crate::completion;

/// A low-latency CME trading stack for Linux: market data, order entry, an exchange simulator and
/// benchmarks
#[derive(Parser)]
#[command(name = "hairpin", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure tick-to-trade latency: run an exchange and a trader on this machine
    T2t(t2t::T2tArgs),
    /// Measure a published table on this machine: t2t, feed, order, rds, sockets or all
    Bench(bench::BenchArgs),
    /// Run an exchange simulator; with --rounds, --json, --traders and others, measure its traders
    Exchange(Box<exchange::ExchangeArgs>),
    /// Run a trader that answers each tick of an exchange with an order
    Trader(trader::TraderArgs),
    /// Run the feed handler, live or on a capture, and print messages, books and statistics
    Feed(feed::FeedArgs),
    /// Run an order entry session from a script or by hand, or print its journal as an audit trail
    Order(order::OrderArgs),
    /// Write a capture of an exchange's market data, without a network
    Generate(generate::GenerateArgs),
    /// Print the messages of a capture
    Decode(decode::DecodeArgs),
    /// Measure the latencies and losses of any program from captures
    Wire(wire::WireArgs),
    /// Convert captures to DBN, Parquet or Arrow, and journals to Parquet, by hairpin-data
    ///
    /// Executes the program hairpin-data beside this one, otherwise in PATH, with these arguments.
    /// In a clone, `cargo install --locked --path data` builds it. Its arguments are in
    /// docs/guide/exporting.md, and `hairpin export --help` prints them if it is installed.
    Export(data_program::DataProgramArgs),
    /// Send the execution reports in a journal to FIX 4.4 clients, by hairpin-data
    ///
    /// Executes the program hairpin-data beside this one, otherwise in PATH, with these arguments.
    /// In a clone, `cargo install --locked --path data` builds it. Its arguments are in
    /// docs/guide/drop-copy.md, and `hairpin drop-copy --help` prints them if it is installed.
    DropCopy(data_program::DataProgramArgs),
    /// Print live counters of running Hairpin processes
    Stat(stat::StatArgs),
    /// Measure round trips of messages over UDP, multicast, TCP, reliable datagrams or raw frames
    Ping(ping::PingArgs),
    /// Answer the pings of this or other hosts
    Pong(pong::PongArgs),
    /// Exchange messages between many reliable datagram sockets of two hosts, and verify them
    RdsStress(rds_stress::RdsStressArgs),
    /// Run an unmodified program with its UDP and TCP sockets over AF_XDP
    Run(run::RunCommandArgs),
    /// Report what Hairpin will do on this host, and what stands in the way; change nothing
    Doctor(doctor::DoctorArgs),
    /// Check configuration files, and connect to nothing
    Check(check::CheckArgs),
    Jitter(jitter::JitterArgs),
    /// Compare programs over kernel sockets and under `hairpin run`, between two hosts made for it
    Lab(lab::LabArgs),
    /// Write a page with charts from results files
    Report(report::ReportArgs),
    BenchCompare(bench_compare::CompareArgs),
    Completions(completion::CompletionsArgs),
    Man(completion::ManArgs),
    /// Run the exchange of one `t2t` row; its setup is read from standard input
    #[command(hide = true)]
    T2tExchange(ChildArgs),
    /// Run the trader of one `t2t` row; its setup is read from standard input
    #[command(hide = true)]
    T2tTrader(ChildArgs),
    /// Compare our ping latencies with those of sockperf
    #[command(hide = true)]
    PingSockperf(ping::sockperf_check::SockperfArgs),
    /// Run the ping of one round; its setup is read from standard input
    #[command(hide = true)]
    PingPing(ChildArgs),
    /// Run the pong of one round; its setup is read from standard input
    #[command(hide = true)]
    PingPong(ChildArgs),
    /// Run the sender of one round of `bench feed`; its setup is read from standard input
    #[command(hide = true)]
    BenchSender(ChildArgs),
    /// Run the receiver of one round of `bench feed`; its setup is read from standard input
    #[command(hide = true)]
    BenchReceiver(ChildArgs),
    /// Run the gateway of one round of `bench order`; its setup is read from standard input
    #[command(hide = true)]
    BenchGateway(ChildArgs),
    /// Run the client of one round of `bench order`; its setup is read from standard input
    #[command(hide = true)]
    BenchClient(ChildArgs),
}

/// Runs the `hairpin` command on this process's arguments and returns its exit status. `library` is
/// the shared library that `hairpin run` preloads.
pub fn run(library: &[u8]) -> ExitCode {
    completion::answer_shell(Cli::command);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return status(usage::report(&error, &Cli::command()).map_err(Into::into)),
    };
    if let Some(commit) = option_env!("HAIRPIN_COMMIT") {
        output::set_commit(commit);
    }
    // While the process has one thread. A program under `hairpin run` receives its environment.
    if !matches!(cli.command, Command::Run(_)) {
        secret_key::take_variable();
    }
    let outcome = match cli.command {
        Command::T2t(arguments) => t2t::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Decode(arguments) => Ok(decode::run(&arguments)),
        Command::Wire(arguments) => wire::run(&arguments),
        Command::Export(arguments) => data_program::run("export", &arguments, Cli::command()),
        Command::DropCopy(arguments) => data_program::run("drop-copy", &arguments, Cli::command()),
        Command::Report(arguments) => report::run(&arguments),
        Command::BenchCompare(arguments) => bench_compare::run(&arguments),
        Command::Completions(arguments) => completion::register(&arguments),
        Command::Man(arguments) => completion::write_pages(&arguments, Cli::command()),
        Command::Stat(arguments) => stat::run(&arguments),
        Command::Feed(arguments) => feed::run(&arguments),
        Command::Order(arguments) => order::run(&arguments),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Exchange(arguments) => exchange::run(&arguments),
        Command::Trader(arguments) => trader::run(&arguments),
        Command::Ping(arguments) => ping::run(&arguments),
        Command::Pong(arguments) => pong::run(&arguments),
        Command::RdsStress(arguments) => rds_stress::run(&arguments),
        Command::Run(arguments) => run::run(&arguments, library),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Jitter(arguments) => jitter::run(&arguments),
        Command::Lab(arguments) => lab::run(&arguments),
        Command::PingSockperf(arguments) => ping::sockperf_check::run(&arguments),
        Command::PingPing(arguments) => ping::child::run(&arguments),
        Command::PingPong(arguments) => pong::child::run(&arguments),
        Command::BenchSender(arguments) => bench::feed::sender::run(&arguments),
        Command::BenchReceiver(arguments) => bench::feed::receiver::run(&arguments),
        Command::BenchGateway(arguments) => bench::order::gateway::run(&arguments),
        Command::BenchClient(arguments) => bench::order::client::run(&arguments),
        Command::T2tExchange(arguments) => exchange::child::run(&arguments),
        Command::T2tTrader(arguments) => trader::child::run(&arguments),
    };
    status(outcome)
}

/// Returns the exit status of an outcome, after printing its error.
fn status(outcome: Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(status) => status,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let message = format!("hairpin: {error:#}");
            let message = Style::for_stderr().wrap(&redact_keys(&message));
            let _ = writeln!(io::stderr(), "{message}");
            usage::status_of(&error)
        }
    }
}

/// Returns `true` if the reader of our output has closed the pipe, which is not an error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .root_cause()
        .downcast_ref::<io::Error>()
        .is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
