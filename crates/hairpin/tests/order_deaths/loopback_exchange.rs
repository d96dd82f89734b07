//! The exchange: the production gateway on loopback, driven by the test.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_exchange::{
    Addresses, ConnectionId, Credentials, Exchange, ExchangeSettings, Instrument, Listener, Owner,
    Pace, Side, SimulatedMarketSettings,
};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant};

pub(crate) const ACCESS_KEY_ID: &str = "ACCESS-KEY-ID-123456";
pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The interval between two polls of the trader.
const POLL_INTERVAL: Duration = Duration::from_micros(300);

/// The ClOrdIDs that the gateway has accepted, in order.
#[derive(Default)]
pub(crate) struct AcceptedIds {
    pub(crate) ids: Vec<String>,
    known: BTreeSet<String>,
}

impl AcceptedIds {
    fn accept(&mut self, id: &[u8]) {
        let id = String::from_utf8(id.to_vec()).unwrap();
        assert!(self.known.insert(id.clone()), "ClOrdID {id} was applied twice");
        self.ids.push(id);
    }
}

impl Listener for AcceptedIds {
    fn on_order(&mut self, _: ConnectionId, cl_ord_id: &[u8]) {
        self.accept(cl_ord_id);
    }

    fn on_replace(&mut self, _: ConnectionId, cl_ord_id: &[u8]) {
        self.accept(cl_ord_id);
    }

    fn on_cancel(&mut self, _: ConnectionId, cl_ord_id: &[u8]) {
        self.accept(cl_ord_id);
    }
}

pub(crate) struct LoopbackExchange {
    clock: Clock,
    reactor: Reactor,
    exchange: Exchange,
    pub(crate) accepted: AcceptedIds,
}

impl LoopbackExchange {
    pub(crate) fn open() -> Self {
        let clock = Clock::from_kernel();
        let instruments = Instrument::numbered(2);
        let account = Credentials::new(ACCESS_KEY_ID, KEY, "ABC", "DEFGH").unwrap();
        let gateway = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings { instruments, ..SimulatedMarketSettings::default() },
            matching: false,
            accounts: vec![account],
            connections: 4,
            transport: Default::default(),
            addresses: Addresses { multicast: None, tcp: None, gateway },
        };
        let mut reactor = Reactor::new(Wait::Epoll).unwrap();
        let mut exchange = Exchange::new(settings, clock.now(), &mut reactor).unwrap();
        exchange.set_pace(Pace::Paced, clock.now());
        Self { clock, reactor, exchange, accepted: AcceptedIds::default() }
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.instant()
    }

    pub(crate) fn gateway(&self) -> SocketAddrV4 {
        self.exchange.gateway_address()
    }

    /// Handles all due events, and waits a short time for more.
    pub(crate) fn step(&mut self, until: Option<Instant>) {
        let now = self.clock.now();
        let next_poll = now.monotonic + POLL_INTERVAL;
        let due = self.exchange.poll_timeout().into_iter().chain(until);
        let deadline = due.fold(next_poll, Instant::min);
        let ready = self.reactor.wait(now.monotonic, Some(deadline)).unwrap();
        let now = self.clock.now();
        self.exchange.step(now, ready, &mut self.reactor, &mut self.accepted).unwrap();
    }

    /// Reads the remaining bytes of a killed trader until no connection is left.
    pub(crate) fn drain(&mut self) {
        let end = self.now() + Duration::from_secs(60);
        self.step(None);
        while self.exchange.has_connections() {
            assert!(self.now() < end, "a killed trader is still connected after 60 s");
            self.step(None);
        }
    }

    /// Returns OrderID, traded quantity and open quantity of the trader's orders.
    pub(crate) fn working_rows(&self) -> Vec<(u64, u32, u32)> {
        let matching = self.exchange.market().matching();
        let sides = (0..matching.instruments())
            .flat_map(|instrument| Side::BOTH.map(|side| matching.orders(instrument, side)));
        let all = sides.flatten().filter(|order| order.owner == Owner(1));
        let mut rows: Vec<_> = all.map(|it| (it.id.0, it.traded, it.remaining)).collect();
        rows.sort_unstable();
        rows
    }
}
