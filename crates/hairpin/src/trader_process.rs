//! The process around the trader of a `t2t` row: its set-up in, its counts out.

use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, Result};
use hairpin_feed_handler::{Addresses, FeedHandler, Lines, Settings as ChannelSettings};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::{
    KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Session, Settings as SessionSettings,
};
use hairpin_reactor::{Reactor, Wait};

use crate::secret;
pub(crate) use crate::setup::ChildArguments as Arguments;
use crate::setup::{self, TraderOutcome, TraderSetup};
use crate::signals::Signals;
use crate::trader::{Counts, Trader};

/// Orders that may wait for a blocked connection: those of a second's stall at the fastest pace. A
/// benchmark wants every tick answered, however late.
const WAITING_MAX: usize = 4_096;
/// The benchmark's market has 100 instruments.
const INSTRUMENTS_MAX: usize = 1_024;

/// Runs the trader that standard input describes.
///
/// # Errors
/// No such core, a bad key, an interface that joins no group, a logon that is refused.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<TraderSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::name_thread("trader")?;
    if let Some(core) = setup.core {
        hairpin_host::pin(core)?;
    }
    let session = session(&setup)?;
    let wait = Wait::from_str(&setup.wait).context("an unknown wait")?;
    let mut reactor = Reactor::new(wait)?;
    let feed = feed(&setup, &mut reactor)?;
    let mut trader = Trader { clock: Clock::new(), reactor, feed, session };
    let counts = trader.run(|| page.asked_to_stop() || signals.asked_to_stop())?;
    setup::say(&outcome(counts))?;
    Ok(ExitCode::SUCCESS)
}

fn session(setup: &TraderSetup) -> Result<Session> {
    let key = secret::read(setup.secret_key_file.as_deref())?;
    let logon = Logon {
        access_key_id: setup::ACCESS_KEY_ID.to_owned(),
        secret_key: SecretKey::from_base64url(&key.base64url)?,
        session: setup::SESSION.to_owned(),
        firm: setup::FIRM.to_owned(),
        trading_system_name: "Hairpin".to_owned(),
        trading_system_version: env!("CARGO_PKG_VERSION").to_owned(),
        trading_system_vendor: "Hairpin".to_owned(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL"),
    };
    let journal = Journal::anonymous(setup.journal_bytes).context("no memory for the journal")?;
    let settings =
        SessionSettings { waiting_max: WAITING_MAX, ..SessionSettings::new(setup.gateway, logon) };
    Ok(Session::new(settings, journal)?)
}

fn feed(setup: &TraderSetup, reactor: &mut Reactor) -> Result<FeedHandler> {
    let settings = ChannelSettings { max_instruments: INSTRUMENTS_MAX, ..Default::default() };
    let lines = |[a, b]: [_; 2]| Lines::both(a, b);
    let addresses = Addresses {
        incremental: lines(setup.groups.incremental),
        instrument: lines(setup.groups.instrument),
        snapshot: lines(setup.groups.snapshot),
        interface: setup.interface,
        sources: setup.sources.clone(),
    };
    Ok(FeedHandler::new(settings, addresses, reactor)?)
}

fn outcome(counts: Counts) -> TraderOutcome {
    let Counts {
        orders,
        acknowledgements,
        cancels,
        rejects,
        gaps,
        unsynced,
        errors,
        first_error,
        kernel_drops,
        packets,
    } = counts;
    TraderOutcome {
        orders,
        acknowledgements,
        cancels,
        rejects,
        gaps,
        unsynced,
        errors,
        first_error,
        kernel_drops,
        packets,
    }
}
