//! `hairpin trader`: a trader for an exchange on this or another host.

mod arguments;
pub(crate) mod child;
mod figures;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, Result};
use hairpin_feed_handler::{Addresses, FeedHandler, Settings as ChannelSettings};
use hairpin_host::{Clock, interface_address, interface_drops};
use hairpin_mapped::Journal;
use hairpin_order_entry::{
    KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Session, Settings as SessionSettings, WhenFull,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_xdp::ReceiveStamps;

pub(crate) use arguments::Arguments;

use crate::setup::{self, Account, TraderSetup};
use crate::signals::Signals;
use crate::trader::{Counts, Trader, Turn};
use crate::way::{Room, Way};
use crate::{output, secret};

/// Orders that may wait for a blocked connection: those of a second's stall at the fastest pace. A
/// benchmark wants every tick answered, however late.
const WAITING_MAX: usize = 4_096;
/// Room for the records of a journal that begins again when it is full: some hundred thousand.
const JOURNAL_BYTES: usize = 64 << 20;
/// The benchmark's market has 100 instruments.
const INSTRUMENTS_MAX: usize = 1_024;

/// Trades until the exchange logs it off or a signal comes, and says what happened.
///
/// # Errors
/// No such core or interface, a bad key or configuration file, a logon that is refused.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.transport.check_by(Some(&arguments.interface))?;
    let interface = interface_address(&arguments.interface)?;
    let addresses = arguments.addresses(interface)?;
    let setup = TraderSetup {
        id: arguments.id,
        transport: arguments.transport,
        gateway: arguments.gateway,
        wait: arguments.wait.to_string(),
        core: arguments.cores.choose()?.trader,
        secret_key_file: arguments.secret_key_file.clone(),
        journal_bytes: JOURNAL_BYTES,
    };
    let signals = Signals::take()?;
    let mut way =
        Way::open(&setup.transport, &arguments.interface, Room::Ample, ReceiveStamps::Off)?;
    let mut trader = open(&setup, addresses, &way)?;
    let _ = writeln!(
        std::io::stderr(),
        "trader {}: wait {} on {} ({interface}), orders to {}; waiting for market data",
        setup.id,
        setup.wait,
        arguments.interface,
        setup.gateway,
    );
    let mut live = figures::publish("trader", &setup, &trader);
    let drops_before = interface_drops(&arguments.interface).ok();
    let watch = |turn: &Turn<'_>| {
        way.tell_if_due(turn.now, turn.is_quiet);
        figures::update(&mut live, turn);
    };
    let counts = trader.run(|| signals.asked_to_stop(), watch)?;
    let drops = interface_drops(&arguments.interface).ok().zip(drops_before);
    let drops = drops.map(|(after, before)| after.saturating_sub(before));
    output::print(&describe(setup.id, &counts, drops))?;
    let status = if is_clean(&counts) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    Ok(signals.exit_status().unwrap_or(status))
}

/// A trader as `setup` describes it, whose market data comes by `way`, on this thread, which is
/// bound to its name and core.
///
/// # Errors
/// No such core, a bad key, an interface that joins no group, no memory for the journal.
fn open(setup: &TraderSetup, mut addresses: Addresses, way: &Way) -> Result<Trader> {
    hairpin_host::name_thread("trader")?;
    if let Some(core) = setup.core {
        hairpin_host::pin(core)?;
    }
    let session = session(setup)?;
    let wait = Wait::from_str(&setup.wait).context("an unknown wait")?;
    let mut reactor = Reactor::new(wait)?;
    way.bring(&mut addresses);
    let feed = feed(addresses, &mut reactor)?;
    Ok(Trader { clock: Clock::new(), reactor, feed, session })
}

fn session(setup: &TraderSetup) -> Result<Session> {
    let logon = logon(Account::of(setup.id), setup.secret_key_file.as_deref())?;
    let journal = Journal::anonymous(setup.journal_bytes).context("no memory for the journal")?;
    let settings = SessionSettings {
        waiting_max: WAITING_MAX,
        when_full: WhenFull::Restart,
        // No other process reads it.
        keep_inbound: false,
        ..SessionSettings::new(setup.gateway, logon)
    };
    Ok(Session::new(settings, journal)?)
}

/// Who logs on for an account of the benchmarks, with the key of a file or of the environment.
///
/// # Errors
/// No key, or one that is none.
pub(crate) fn logon(account: Account, secret_key_file: Option<&Path>) -> Result<Logon> {
    let key = secret::read(secret_key_file)?;
    Ok(Logon {
        access_key_id: account.access_key_id,
        secret_key: SecretKey::from_base64url(&key.base64url)?,
        session: account.session,
        firm: setup::FIRM.to_owned(),
        trading_system_name: "Hairpin".to_owned(),
        trading_system_version: env!("CARGO_PKG_VERSION").to_owned(),
        trading_system_vendor: "Hairpin".to_owned(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL"),
    })
}

fn feed(addresses: Addresses, reactor: &mut Reactor) -> Result<FeedHandler> {
    let settings = ChannelSettings { max_instruments: INSTRUMENTS_MAX, ..Default::default() };
    Ok(FeedHandler::new(settings, addresses, reactor)?)
}

/// Nothing was missed, refused or misunderstood.
fn is_clean(counts: &Counts) -> bool {
    let Counts { rejects, gaps, unsynced, errors, kernel_drops, .. } = counts;
    [*rejects, *gaps, *unsynced, *errors, *kernel_drops].iter().all(|&count| count == 0)
}

/// What happened; `before_sockets` are the packets that the interface has dropped meanwhile, of
/// which no socket hears, where that is known.
fn describe(id: u32, counts: &Counts, before_sockets: Option<u64>) -> String {
    let Counts { orders, acknowledgements, cancels, rejects, gaps, unsynced, errors, .. } = counts;
    let [a, b] = counts.packets;
    let first_gap = counts.first_gap.map(|(first, count)| {
        format!(" (the first of {count} from packet {first} on; side A brought {a}, side B {b})")
    });
    let before_sockets = before_sockets.map(|drops| format!(" and {drops} before them"));
    let first = counts.first_error.as_ref().map(|words| format!(", the first: {words}"));
    format!(
        "trader {id}: {orders} orders, {acknowledgements} acknowledged, {cancels} cancelled, \
         {rejects} rejects; {gaps} gaps{}, {unsynced} times a book out of sync, {} packets dropped \
         at the sockets{}, {errors} errors{}\n",
        first_gap.unwrap_or_default(),
        counts.kernel_drops,
        before_sockets.unwrap_or_default(),
        first.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_told_with_what_was_lost_where() {
        let clean = Counts { orders: 2, ..Counts::default() };
        let said = describe(3, &clean, Some(0));
        assert!(said.starts_with("trader 3: 2 orders, 0 acknowledged"), "{said}");
        let rest = "; 0 gaps, 0 times a book out of sync, 0 packets dropped at the sockets and 0 \
                    before them, 0 errors\n";
        assert!(said.ends_with(rest), "{said}");
        let counts =
            Counts { gaps: 1, first_gap: Some((7, 2)), packets: [40, 41], ..Counts::default() };
        let said = describe(3, &counts, None);
        let gap =
            "; 1 gaps (the first of 2 from packet 7 on; side A brought 40, side B 41), 0 times";
        assert!(said.contains(gap), "{said}");
        assert!(said.contains("0 packets dropped at the sockets, 0 errors"), "{said}");
    }
}
