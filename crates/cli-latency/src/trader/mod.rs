//! `hairpin trader`: a trader for an exchange on this or another host.

mod args;
pub mod child;
mod counters;

use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use hairpin_feed_handler::{Addresses, FeedHandler, Settings as ChannelSettings};
use hairpin_host::{Clock, interface_address, interface_drops};
use hairpin_mapped::{CounterWriter, Journal};
use hairpin_measure::counted;
use hairpin_order_entry::{
    KEEP_ALIVE_DEFAULT, Logon, Operator, Session, Settings as SessionSettings, TcpConnect, WhenFull,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Instant;
use hairpin_xdp::ReceiveStamps;

pub use args::TraderArgs;

use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn};
use hairpin_cli_harness::secret_key::{self, KeyArgs};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::t2t_setup::{self, Account, TraderSetup};
use hairpin_cli_harness::{output, refused_gateway};

use crate::strategy::{Trader, TraderCounts};

/// The largest number of orders that may wait for a blocked connection: those of a second's stall
/// at the fastest interval. A benchmark requires an order for every tick, however late.
const WAITING_MAX: usize = 4_096;
/// The size of a journal that starts again when it is full: some hundred thousand records.
const JOURNAL_BYTES: usize = 64 << 20;
/// The largest number of instruments; the benchmark's market has 100.
const INSTRUMENTS_MAX: usize = 1_024;

/// Trades until the exchange logs the trader off or a signal arrives, and prints the counts.
///
/// # Errors
/// No such core or interface, an invalid key or configuration file, a rejected logon.
pub fn run(arguments: &TraderArgs) -> Result<ExitCode> {
    arguments.transport.check_interface(Some(&arguments.interface))?;
    let interface = interface_address(&arguments.interface)?;
    let addresses = arguments.addresses(interface)?;
    let setup = TraderSetup {
        id: arguments.id,
        transport: arguments.transport,
        gateway: arguments.gateway,
        wait: arguments.wait.to_string(),
        core: arguments.cores.choose()?.trader,
        key: arguments.key.clone(),
        journal_bytes: JOURNAL_BYTES,
    };
    let signals = Signals::take()?;
    let transport = OpenTransport::open(
        &setup.transport.for_tcp(),
        &arguments.interface,
        BufferSize::Large,
        ReceiveStamps::Off,
    )?;
    let mut task = open(&setup, addresses, &transport)?;
    let _ = writeln!(
        std::io::stderr(),
        "trader {}: wait {} on {} ({interface}), orders to {}; waiting for market data",
        setup.id,
        setup.wait,
        arguments.interface,
        setup.gateway,
    );
    let drops_before = interface_drops(&arguments.interface).ok();
    let counts = run_trader(&mut task, "trader", &setup, transport, || signals.stop_requested());
    let counts = counts.map_err(|error| {
        let failure = task.0.session().last_failure();
        let advice = failure.map_or("", |it| refused_gateway::advice(it, &[setup.gateway]));
        anyhow!("{error}{advice}")
    })?;
    let drops = interface_drops(&arguments.interface).ok().zip(drops_before);
    let drops = drops.map(|(after, before)| after.saturating_sub(before));
    output::print(&describe(setup.id, &counts, drops))?;
    let status = if is_clean(&counts) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    Ok(signals.exit_status().unwrap_or(status))
}

/// The trader inside the run loop.
struct TraderTask(Trader);

impl Task for TraderTask {
    #[inline]
    fn turn(&mut self) -> Result<Turn> {
        let (now, idle) = self.0.turn()?;
        Ok(Turn { now, activity: Activity::idle_if(idle) })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.0.stop();
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.0.clock)
    }

    fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        counters::write(writer, &self.0);
    }
}

/// Runs the trader to its end, with live counters under the name of `command`.
fn run_trader(
    task: &mut TraderTask,
    command: &str,
    setup: &TraderSetup,
    transport: OpenTransport,
    stop_requested: impl Fn() -> bool,
) -> Result<TraderCounts> {
    let TraderSetup { id, gateway, wait, .. } = setup;
    let title = format!("{command} --id {id} --gateway {gateway} --wait {wait}");
    let mut run_loop = RunLoop::with_transport(transport);
    run_loop.publish(&title, "trader", task);
    run_loop.run(task, stop_requested)?;
    task.0.outcome()
}

/// Opens the trader of `setup`, whose market data and orders use `transport`, on this thread, and
/// gives the thread its name and core.
///
/// # Errors
/// A core that cannot be used, an invalid key, an interface that cannot join a group, no memory for
/// the journal.
fn open(
    setup: &TraderSetup,
    mut addresses: Addresses,
    transport: &OpenTransport,
) -> Result<TraderTask> {
    hairpin_host::name_thread("trader")?;
    if let Some(core) = setup.core {
        hairpin_host::pin(core)?;
    }
    let session = session(setup, transport)?;
    let wait = Wait::from_str(&setup.wait).context("an unknown wait")?;
    let mut reactor = Reactor::new(wait)?;
    transport.apply_to(&mut addresses);
    let feed = feed(addresses, &mut reactor)?;
    Ok(TraderTask(Trader::new(Clock::new(), reactor, feed, session)))
}

fn session(setup: &TraderSetup, transport: &OpenTransport) -> Result<Session> {
    let mut logon = logon(Account::new(setup.id), &setup.key)?;
    logon.trading_system_name = t2t_setup::system_name(&setup.wait);
    let journal = Journal::anonymous(setup.journal_bytes).context("cannot allocate the journal")?;
    let settings = SessionSettings {
        waiting_max: WAITING_MAX,
        when_full: WhenFull::Restart,
        // No other process reads the journal.
        keep_inbound: false,
        ..SessionSettings::new(setup.gateway, logon)
    };
    let transport = transport.transport().clone();
    let connect = TcpConnect { transport, ..TcpConnect::default() };
    Ok(Session::with_connect(settings, journal, connect)?)
}

/// Returns the logon of a benchmark account, with the key of a file or of the environment.
///
/// # Errors
/// No key, or an invalid one.
pub(crate) fn logon(account: Account, key: &KeyArgs) -> Result<Logon> {
    let key = secret_key::read(key)?;
    Ok(Logon {
        access_key_id: account.access_key_id,
        secret_key: key.decode()?,
        session: account.session,
        firm: t2t_setup::FIRM.to_owned(),
        trading_system_name: "Hairpin".to_owned(),
        trading_system_version: env!("CARGO_PKG_VERSION").to_owned(),
        trading_system_vendor: "Hairpin".to_owned(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL")?,
    })
}

fn feed(addresses: Addresses, reactor: &mut Reactor) -> Result<FeedHandler> {
    let settings = ChannelSettings { max_instruments: INSTRUMENTS_MAX, ..Default::default() };
    Ok(FeedHandler::new(settings, addresses, reactor)?)
}

/// Returns `true` if nothing was missed, rejected or invalid.
fn is_clean(counts: &TraderCounts) -> bool {
    let TraderCounts { rejects, gaps, unsynced, errors, kernel_drops, .. } = counts;
    [*rejects, *gaps, *unsynced, *errors, *kernel_drops].iter().all(|&count| count == 0)
}

/// Describes the counts; `before_sockets` are the packets that the interface has dropped before any
/// socket, where known.
fn describe(id: u32, counts: &TraderCounts, before_sockets: Option<u64>) -> String {
    let TraderCounts { orders, acknowledgements, cancels, rejects, gaps, unsynced, errors, .. } =
        counts;
    let [a, b] = counts.packets;
    let first_gap = counts.first_gap.map(|(first, count)| {
        format!(" (the first of {count} from packet {first}; side A delivered {a}, side B {b})")
    });
    let before_sockets = before_sockets.map(|drops| format!(" and {drops} before them"));
    let first = counts.first_error.as_ref().map(|words| format!(", the first: {words}"));
    format!(
        "trader {id}: {}, {acknowledgements} acknowledged, {cancels} canceled, {}; {}{}, a book \
         was out of sync {}, {} dropped at the sockets{}, {}{}\n",
        counted(*orders, "order"),
        counted(*rejects, "reject"),
        counted(*gaps, "gap"),
        first_gap.unwrap_or_default(),
        counted(*unsynced, "time"),
        counted(counts.kernel_drops, "packet"),
        before_sockets.unwrap_or_default(),
        counted(*errors, "error"),
        first.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_gap_with_packets_per_side() {
        let clean = TraderCounts { orders: 2, ..TraderCounts::default() };
        let line = describe(3, &clean, Some(0));
        assert!(line.starts_with("trader 3: 2 orders, 0 acknowledged"), "{line}");
        let rest = "; 0 gaps, a book was out of sync 0 times, 0 packets dropped at the sockets \
                    and 0 before them, 0 errors\n";
        assert!(line.ends_with(rest), "{line}");
        let counts = TraderCounts {
            gaps: 1,
            first_gap: Some((7, 2)),
            packets: [40, 41],
            ..TraderCounts::default()
        };
        let line = describe(3, &counts, None);
        let gap = "; 1 gap (the first of 2 from packet 7; side A delivered 40, side B 41), a book";
        assert!(line.contains(gap), "{line}");
        assert!(line.contains("0 packets dropped at the sockets, 0 errors"), "{line}");
    }
}
