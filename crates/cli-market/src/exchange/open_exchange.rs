//! An exchange on its sockets, as its setup describes it.

use std::net::SocketAddrV4;

use anyhow::{Context, Result};
use hairpin_cli_harness::datapath::OpenTransport;
use hairpin_cli_harness::secret_key;
use hairpin_cli_harness::t2t_setup::{self, ExchangeSetup, MarketData};
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FeedLine, Groups, Multicast, TcpFeed,
};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};

use super::market_args;

/// An exchange that listens, and its reactor.
pub(super) struct OpenExchange {
    pub(super) exchange: Exchange,
    pub(super) reactor: Reactor,
    /// The datapath of market data.
    pub(super) datapath: OpenTransport,
    /// Where the gateway listens.
    pub(super) gateway: SocketAddrV4,
    /// The addresses of market data.
    pub(super) market_data: MarketData,
    /// Where packets are replayed, if they are.
    pub(super) replay: Option<SocketAddrV4>,
}

/// Opens the market of a benchmark; see [`open_market`].
pub(super) fn open(
    setup: &ExchangeSetup,
    traders: u32,
    clock: &Clock,
    datapath: OpenTransport,
) -> Result<OpenExchange> {
    let market = market_args::MarketArgs::benchmark();
    open_market(setup, traders, clock, Wait::Spin, (&market, datapath))
}

/// Names and pins the thread, and opens all sockets for up to `traders` traders; market data leaves
/// by `datapath`, and the exchange waits by `wait`.
///
/// # Errors
/// No such core, a bad key, a busy port, or an interface without multicast.
pub(super) fn open_market(
    setup: &ExchangeSetup,
    traders: u32,
    clock: &Clock,
    wait: Wait,
    (market, datapath): (&market_args::MarketArgs, OpenTransport),
) -> Result<OpenExchange> {
    hairpin_host::name_thread("exchange")?;
    if let Some(core) = setup.core {
        hairpin_host::pin(core)?;
    }
    let mut reactor = Reactor::new(wait)?;
    let settings = settings(setup, traders, market, &datapath)?;
    let gateway = market.gateway(settings.accounts.clone(), settings.connections);
    let mut exchange = Exchange::new(settings, clock.now(), &mut reactor)?;
    exchange.set_gateway(gateway);
    exchange.set_faults(market.faults());
    let replay = match market.replay(setup.interface) {
        Some((settings, address)) => {
            Some(exchange.serve_replay(settings, address, clock.now(), &mut reactor)?)
        }
        None => None,
    };
    let gateway = exchange.gateway_address();
    let market_data = match setup.market_data {
        MarketData::Tcp(_) => {
            let side = |side| exchange.tcp_feed_address(side).context("no market data by TCP");
            MarketData::Tcp([side(FeedLine::A)?, side(FeedLine::B)?])
        }
        groups => groups,
    };
    Ok(OpenExchange { exchange, reactor, datapath, gateway, market_data, replay })
}

fn settings(
    setup: &ExchangeSetup,
    traders: u32,
    market: &market_args::MarketArgs,
    datapath: &OpenTransport,
) -> Result<ExchangeSettings> {
    let key = secret_key::read(&setup.key)?.bytes()?;
    let account = |id| {
        let account = t2t_setup::Account::new(id);
        let t2t_setup::Account { access_key_id, session } = account;
        Credentials::with_secret(&access_key_id, key.clone(), &session, t2t_setup::FIRM)
    };
    Ok(ExchangeSettings {
        market: market.floor(setup.load.seed),
        matching: setup.load.matching,
        accounts: (1..=traders).map(account).collect::<Result<_, _>>()?,
        // One more is accepted, to be refused because its session is in use.
        connections: traders + 1,
        addresses: addresses(setup, traders, market),
        transport: datapath.transport().clone(),
    })
}

fn addresses(setup: &ExchangeSetup, traders: u32, market: &market_args::MarketArgs) -> Addresses {
    let both = |[a, b]: [_; 2]| Groups { a, b: Some(b) };
    let (multicast, tcp) = match setup.market_data {
        MarketData::Multicast(groups) => (
            Some(Multicast {
                interface: setup.interface,
                ttl: 1,
                incremental: both(groups.incremental),
                instruments: both(groups.instrument),
                snapshots: both(groups.snapshot),
                order_snapshots: market.order_snapshots(groups.snapshot),
            }),
            None,
        ),
        MarketData::Tcp([a, b]) => {
            (None, Some(TcpFeed { connections: traders, ..TcpFeed::new(a, b) }))
        }
    };
    Addresses { multicast, tcp, gateway: setup.gateway }
}
