//! `hairpin exchange`: an exchange simulator for programs on this or other hosts, which can measure
//! traders in rounds.

mod args;
pub mod child;
mod counters;
mod events;
mod exchange_run;
mod files;
mod market_args;
mod measurement;
mod open_exchange;
mod publish_capture;
mod round_report;
mod trader_stats;

use std::io::Write;
use std::net::SocketAddrV4;
use std::process::ExitCode;

use anyhow::{Context, Result};
use hairpin_endpoint::capture::{Recorder, RecorderCounters, RecorderSettings};
use hairpin_host::{Clock, interface_address};
use hairpin_measure::{Results, Style, counted};
use hairpin_reactor::Wait;
use hairpin_xdp::ReceiveStamps;

pub use args::ExchangeArgs;
use hairpin_cli_harness::args::FeedTransport;
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::host_checks::HostChecks;
use hairpin_cli_harness::multicast_groups::MulticastGroups;
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::t2t_setup::{ExchangeSetup, MarketData, TRADERS_MAX};
use hairpin_cli_harness::{output, readiness, secret_key};

use events::Events;
use exchange_run::ExchangeRun;
use files::Files;
use measurement::{Measurement, UNKNOWN_WAIT};
use open_exchange::OpenExchange;
use round_report::RoundReport;

/// The most recent rows that the results file keeps: those of a day at the default length.
const ROWS_MAX: usize = 4_096;

/// Publishes ticks until a signal arrives. A measurement waits for traders, runs rounds of ticks,
/// and prints and saves the results of each, until the requested rounds are done.
///
/// # Errors
/// Causes that prevent listening: no such interface, a busy port, an invalid key, a file that
/// cannot be written.
pub fn run(arguments: &ExchangeArgs) -> Result<ExitCode> {
    arguments.check()?;
    if arguments.publishes() {
        return publish_capture::run(arguments, &arguments.publish);
    }
    arguments.output.check()?;
    let files = Files::new(arguments)?;
    let clock = Clock::new();
    let setup = setup(arguments)?;
    let instruments = arguments.market.floor(0).instruments;
    let events = arguments.events.as_deref();
    let events = events.map(|path| Events::read(path, &instruments)).transpose()?;
    let is_test_key = secret_key::read(&arguments.key)?.is_test_key;
    let signals = Signals::take()?;
    let core: Vec<usize> = setup.core.into_iter().collect();
    let checks = match arguments.measures() {
        true => Some(HostChecks::start(&clock, &core)?),
        false => None,
    };
    let datapath = OpenTransport::open(
        &setup.transport.for_tcp(),
        &arguments.interface,
        BufferSize::Default,
        ReceiveStamps::Off,
    )?;
    let market = (&arguments.market, datapath);
    let mut open =
        open_exchange::open_market(&setup, TRADERS_MAX, &clock, arguments.own_wait(), market)?;
    if let Some(path) = &arguments.record {
        open.exchange.record(&RecorderSettings::new(path), &arguments.channel())?;
    }
    files.write(&open, setup.interface)?;
    announce(arguments, &setup, &open, is_test_key);
    files.announce();
    readiness::report();

    let mut results = output::results(&clock, &arguments.interface);
    let measurement = Measurement::new(clock, &setup.load, TRADERS_MAX);
    let title = counters::title("exchange", &setup, open.gateway);
    let parts = (open.exchange, open.reactor, open.datapath);
    let mut run = ExchangeRun::new(parts, measurement, setup.load, arguments.quorum(), None);
    run.publish(&title);
    run.events = events.unwrap_or_default();
    let status = match checks {
        Some(checks) => rounds(arguments, &setup, &mut run, (&mut results, &checks), &signals),
        None => run.round(|| signals.stop_requested(), |_| ()).map(|()| ExitCode::SUCCESS),
    };
    run.finish()?;
    let recorded = run.exchange.recorder().take().map(Recorder::finish).transpose();
    let status = match report(recorded) {
        true => status?,
        false => ExitCode::FAILURE,
    };
    Ok(signals.exit_status().unwrap_or(status))
}

/// Prints a message if a recording is incomplete. Returns `false` if one is incomplete.
fn report(recorded: Result<Option<RecorderCounters>, String>) -> bool {
    let what = match recorded {
        Ok(counters) => match counters.map_or(0, |counters| counters.ring_overflows) {
            0 => return true,
            lost => {
                format!("cannot record {}: the disk is too slow", counted(lost, "packet"))
            }
        },
        Err(failure) => failure,
    };
    let _ = writeln!(std::io::stderr(), "hairpin: {what}");
    false
}

/// Runs the rounds; returns success if all of them count.
fn rounds(
    arguments: &ExchangeArgs,
    setup: &ExchangeSetup,
    run: &mut ExchangeRun,
    (results, checks): (&mut Results, &HostChecks),
    signals: &Signals,
) -> Result<ExitCode> {
    let mut status = ExitCode::SUCCESS;
    let mut number = 0;
    while !run.interrupted && arguments.rounds.is_none_or(|rounds| number < rounds) {
        run.round(|| signals.stop_requested(), |_| ())?;
        number += 1;
        let round = RoundReport::new(number, run, setup);
        if round.is_empty() {
            continue;
        }
        if round.has_failed() {
            status = ExitCode::FAILURE;
        }
        let excess = (results.rows.len() + round.rows().count()).saturating_sub(ROWS_MAX);
        results.rows.drain(..excess.min(results.rows.len()));
        results.rows.extend(round.rows().cloned());
        let truth = checks.after();
        let described = format!("{round}\n{}{}", truth.describe(), checks.describe_drops());
        results.truth = Some(truth);
        let saved = arguments.output.save(results);
        output::print(&described)?;
        saved?;
    }
    Ok(status)
}

fn setup(arguments: &ExchangeArgs) -> Result<ExchangeSetup> {
    let interface = interface_address(&arguments.interface)?;
    let market_data = match arguments.feed {
        FeedTransport::Multicast => MarketData::Multicast(match arguments.groups {
            Some(groups) => groups,
            None => MulticastGroups::free().context("no free UDP port")?,
        }),
        FeedTransport::Tcp => {
            MarketData::Tcp(arguments.feed_ports().map(|port| SocketAddrV4::new(interface, port)))
        }
    };
    Ok(ExchangeSetup {
        market_data,
        interface,
        transport: arguments.transport,
        gateway: arguments.gateway.unwrap_or(SocketAddrV4::new(interface, 0)),
        core: arguments.cores.choose()?.exchange,
        wait: arguments.wait.map_or(UNKNOWN_WAIT, Wait::name).to_owned(),
        load: arguments.load(),
        key: arguments.key.clone(),
    })
}

/// Prints the addresses; a closed standard error does not stop the exchange.
fn announce(
    arguments: &ExchangeArgs,
    setup: &ExchangeSetup,
    open: &OpenExchange,
    is_test_key: bool,
) {
    let key = if is_test_key { "; iLink key: the published test key" } else { "" };
    let replay = open.replay.map_or_else(String::new, |at| format!(", replay at {at}"));
    let traders = match arguments.quorum() {
        0 => String::new(),
        1 => "\nwaiting for a trader to log on".to_owned(),
        more => format!("\nwaiting for {more} traders to log on"),
    };
    let line = format!(
        "exchange on {} ({}): gateway {} {}, market data by {}{replay}{key}{traders}",
        arguments.interface,
        setup.interface,
        open.gateway,
        arguments.market.gateway_rules.describe(),
        open.market_data,
    );
    let _ = writeln!(std::io::stderr(), "{}", Style::for_stderr().wrap(&line));
}
