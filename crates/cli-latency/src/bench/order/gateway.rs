//! The gateway process of one round.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::child_protocol::{self, ChildArgs};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn};
use hairpin_cli_harness::secret_key::{self, KeyArgs};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::t2t_setup::{self, Account};
use hairpin_endpoint::{TcpListener, Transport};
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, Instrument, Pace, SimulatedMarketSettings,
};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Instant;
use hairpin_xdp::ReceiveStamps;

use super::bare_gateway::BareGateway;
use super::bare_server::{self, Echo};
use super::order_case::Subject;
use super::setup::{GatewaySetup, Ready};

/// Serves the round whose setup is on standard input.
///
/// # Errors
/// A core that cannot be used, no free port, those of the network.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<GatewaySetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::name_thread("exchange")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let stop_requested = || page.stop_requested() || signals.stop_requested();
    if setup.subject == Subject::Gateway {
        exchange(&setup, &stop_requested)?;
        return Ok(ExitCode::SUCCESS);
    }
    let datapath = datapath(&setup)?;
    let mut listener = TcpListener::bind_with(datapath.transport(), setup.address)?;
    child_protocol::print_line(&Ready { address: listener.local_address() })?;
    match setup.subject {
        Subject::BareGateway => {
            bare_server::serve(&mut listener, BareGateway::default(), &stop_requested)?
        }
        _ => bare_server::serve(&mut listener, Echo::default(), &stop_requested)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the exchange's gateway with a quiet market and without market data.
fn exchange(setup: &GatewaySetup, stop_requested: &dyn Fn() -> bool) -> Result<()> {
    let clock = Clock::new();
    let mut reactor = Reactor::new(Wait::Spin)?;
    let datapath = datapath(setup)?;
    let settings = settings(setup, datapath.transport().clone())?;
    let mut exchange = Exchange::new(settings, clock.now(), &mut reactor)?;
    exchange.set_pace(Pace::Paced, clock.now());
    child_protocol::print_line(&Ready { address: exchange.gateway_address() })?;
    let mut task = GatewayTask { clock, reactor, exchange, stopped: false };
    RunLoop::with_transport(datapath).run(&mut task, stop_requested).map(drop)
}

fn datapath(setup: &GatewaySetup) -> Result<OpenTransport> {
    let address = *setup.address.ip();
    OpenTransport::open_at(
        &setup.transport.for_tcp(),
        address,
        BufferSize::Default,
        ReceiveStamps::Off,
    )
}

/// The exchange inside the run loop; it spins.
struct GatewayTask {
    clock: Clock,
    reactor: Reactor,
    exchange: Exchange,
    stopped: bool,
}

impl Task for GatewayTask {
    #[inline]
    fn turn(&mut self) -> Result<Turn> {
        let now = self.clock.now();
        let ready = self.reactor.wait(now.monotonic, None)?;
        self.exchange.step(now, ready, &mut self.reactor, &mut ())?;
        Ok(Turn { now: now.monotonic, activity: Activity::Busy })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.stopped = true;
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.clock)
    }
}

fn settings(setup: &GatewaySetup, transport: Transport) -> Result<ExchangeSettings> {
    let key = secret_key::read(&KeyArgs::default())?.bytes()?;
    let Account { access_key_id, session } = Account::new(1);
    let account = Credentials::with_secret(&access_key_id, key, &session, t2t_setup::FIRM)?;
    Ok(ExchangeSettings {
        market: SimulatedMarketSettings {
            instruments: Instrument::numbered(1),
            seed: setup.seed,
            ..SimulatedMarketSettings::default()
        },
        matching: false,
        accounts: vec![account],
        connections: 2,
        transport,
        addresses: Addresses { multicast: None, tcp: None, gateway: setup.address },
    })
}
