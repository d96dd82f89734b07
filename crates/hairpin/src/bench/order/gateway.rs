//! The gateway of one round: its set-up on standard input.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_endpoint::TcpListener;
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, Instrument, Pace, SimulatedMarketSettings,
};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};

use super::answers::Answers;
use super::bare::{self, Echo};
use super::plan::Subject;
use super::setup::{GatewaySetup, Ready};
use crate::secret;
use crate::setup::{self, Account, ChildArguments};
use crate::signals::Signals;

/// Serves the round that standard input describes.
///
/// # Errors
/// No such core, no free port, the network's.
pub(crate) fn run(arguments: &ChildArguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<GatewaySetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::name_thread("exchange")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let asked_to_stop = || page.asked_to_stop() || signals.asked_to_stop();
    if setup.subject == Subject::Gateway {
        exchange(&setup, &asked_to_stop)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut listener = TcpListener::bind(setup.address)?;
    setup::say(&Ready { address: listener.local_address() })?;
    match setup.subject {
        Subject::BareGateway => bare::serve(&mut listener, Answers::default(), &asked_to_stop)?,
        _ => bare::serve(&mut listener, Echo::default(), &asked_to_stop)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The exchange's gateway, with a quiet market behind it and no market data.
fn exchange(setup: &GatewaySetup, asked_to_stop: &dyn Fn() -> bool) -> Result<()> {
    let mut clock = Clock::new();
    let mut reactor = Reactor::new(Wait::Spin)?;
    let mut exchange = Exchange::new(settings(setup)?, clock.now(), &mut reactor)?;
    exchange.set_pace(Pace::Paced, clock.now());
    setup::say(&Ready { address: exchange.gateway_address() })?;
    while !asked_to_stop() {
        let now = clock.now();
        let ready = reactor.wait(now.monotonic, None)?;
        exchange.step(now, ready, &mut reactor, &mut ())?;
        clock.recalibrate_if_due(now.monotonic);
    }
    Ok(())
}

fn settings(setup: &GatewaySetup) -> Result<ExchangeSettings> {
    let key = secret::read(None)?;
    let Account { access_key_id, session } = Account::of(1);
    let account = Credentials::new(&access_key_id, &key.base64url, &session, setup::FIRM)?;
    Ok(ExchangeSettings {
        market: SimulatedMarketSettings {
            instruments: Instrument::numbered(1),
            seed: setup.seed,
            ..SimulatedMarketSettings::default()
        },
        matching: false,
        accounts: vec![account],
        connections: 2,
        transport: Default::default(),
        addresses: Addresses { multicast: None, tcp: None, gateway: setup.address },
    })
}
