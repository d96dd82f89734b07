//! An exchange on loopback, and a session that trades there and writes a journal.
#![allow(dead_code, reason = "each test program uses its part")]

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use hairpin_exchange as exchange;
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, Pace, SimulatedMarketSettings,
};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::Duration;

pub(crate) const ACCESS_KEY_ID: &str = "ACCESS-KEY-ID-123456";
pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The first instrument. Its prices stay near 1,000.
pub(crate) const INSTRUMENT: i32 = 1_001;

/// A gateway of an idle market. Its thread sleeps while no bytes arrive.
pub(crate) struct Venue {
    pub(crate) gateway: SocketAddrV4,
    pub(crate) backup: SocketAddrV4,
    stop: Arc<AtomicBool>,
    /// A request to fail the primary.
    fail: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Venue {
    pub(crate) fn open() -> Self {
        let [stop, fail] = [false; 2].map(|it| Arc::new(AtomicBool::new(it)));
        let (addresses, gateways) = mpsc::channel();
        let (stopped, failed) = (Arc::clone(&stop), Arc::clone(&fail));
        let thread = thread::spawn(move || run(&stopped, &failed, &addresses));
        let (gateway, backup) = gateways.recv().unwrap();
        Self { gateway, backup, stop, fail, thread: Some(thread) }
    }

    /// Closes the primary's connections and makes the backup the primary.
    pub(crate) fn fail_primary(&self) {
        self.fail.store(true, Ordering::Relaxed);
    }
}

impl Drop for Venue {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let outcome = self.thread.take().unwrap().join();
        assert!(outcome.is_ok() || thread::panicking(), "the exchange thread panicked");
    }
}

fn run(
    stop: &AtomicBool,
    fail: &AtomicBool,
    addresses: &mpsc::Sender<(SocketAddrV4, SocketAddrV4)>,
) {
    let clock = Clock::from_kernel();
    let gateway = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let account = |session| Credentials::new(ACCESS_KEY_ID, KEY, session, "DEFGH").unwrap();
    let settings = ExchangeSettings {
        market: SimulatedMarketSettings {
            instruments: exchange::Instrument::numbered(2),
            ..SimulatedMarketSettings::default()
        },
        matching: false,
        accounts: ["ABC", "ABD"].map(account).into(),
        connections: 4,
        transport: Default::default(),
        addresses: Addresses { multicast: None, tcp: None, gateway },
    };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let mut exchange = Exchange::new(settings, clock.now(), &mut reactor).unwrap();
    exchange.set_pace(Pace::Paced, clock.now());
    let backup = exchange.serve_backup(gateway, clock.now(), &mut reactor).unwrap();
    addresses.send((exchange.gateway_address(), backup)).unwrap();
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        if fail.swap(false, Ordering::Relaxed) {
            exchange.gateway_mut().fail_primary(now, &mut ());
            exchange.step(now, Ready::EMPTY, &mut reactor, &mut ()).unwrap();
        }
        let look = now.monotonic + Duration::from_millis(20);
        let deadline = exchange.poll_timeout().map_or(look, |due| due.min(look));
        let ready = reactor.wait(now.monotonic, Some(deadline)).unwrap();
        exchange.step(clock.now(), ready, &mut reactor, &mut ()).unwrap();
    }
}

/// A strategy that buys, replaces, cancels, is rejected, trades, and logs off.
#[derive(Default)]
struct Trader {
    replaced: bool,
}

impl Trader {
    fn buy(id: u64, price: i64) -> NewOrder {
        NewOrder::limit(INSTRUMENT, SideReq::BUY, Decimal(price), 5, ClOrdId::from(id))
    }
}

impl Listener for Trader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        sender.send(&Self::buy(1, 1_000_000_000)).unwrap();
    }
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        if !std::mem::replace(&mut self.replaced, true) {
            let order = Self::buy(2, 2_000_000_000);
            sender.send(&ReplaceOrder::from_order(report.order_id(), &order)).unwrap();
        }
    }
    fn on_execution_report_modify(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportModify531<'_>,
        _: &Message<'_>,
    ) {
        let id = ClOrdId::from(3);
        let cancel = CancelOrder::new(report.order_id(), INSTRUMENT, SideReq::BUY, id);
        sender.send(&cancel).unwrap();
    }
    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        _: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        sender.send(&NewOrder { security_id: 7.into(), ..Self::buy(4, 1_000_000_000) }).unwrap();
    }
    fn on_execution_report_reject(
        &mut self,
        sender: &mut Sender<'_>,
        _: ExecutionReportReject523<'_>,
        _: &Message<'_>,
    ) {
        let order = NewOrder::market(INSTRUMENT, SideReq::BUY, 1, ClOrdId::from(5));
        sender.send(&order).unwrap();
    }
    fn on_execution_report_trade_outright(
        &mut self,
        sender: &mut Sender<'_>,
        _: ExecutionReportTradeOutright525<'_>,
        _: &Message<'_>,
    ) {
        sender.terminate();
    }
}

/// The direction and name of each message in the journal of a [`Trader`].
pub(crate) const WRITTEN: [(&str, &str); 14] = [
    ("request", "Negotiate500"),
    ("request", "Establish503"),
    ("out", "NewOrderSingle514"),
    ("in", "ExecutionReportNew522"),
    ("out", "OrderCancelReplaceRequest515"),
    ("in", "ExecutionReportModify531"),
    ("out", "OrderCancelRequest516"),
    ("in", "ExecutionReportCancel534"),
    ("out", "NewOrderSingle514"),
    ("in", "ExecutionReportReject523"),
    ("out", "NewOrderSingle514"),
    ("in", "ExecutionReportNew522"),
    ("in", "ExecutionReportTradeOutright525"),
    ("request", "Terminate507"),
];

/// Trades at a new exchange with a journal in `folder`. The returned session has the journal open.
pub(crate) fn traded(folder: &Path) -> Session {
    let venue = Venue::open();
    let logon = Logon {
        access_key_id: ACCESS_KEY_ID.into(),
        secret_key: SecretKey::from_base64url(KEY).unwrap(),
        session: "ABC".into(),
        firm: "DEFGH".into(),
        trading_system_name: "Test".into(),
        trading_system_version: "1".into(),
        trading_system_vendor: "Test".into(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL").unwrap(),
    };
    let journal = Journal::create(folder, 1 << 16).unwrap();
    let mut session = Session::new(Settings::new(venue.gateway, logon), journal).unwrap();
    let (clock, mut trader) = (Clock::from_kernel(), Trader::default());
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    session.connect(clock.now(), Binding::New).unwrap();
    let until = clock.instant() + Duration::from_secs(60);
    loop {
        let now = clock.now();
        assert!(now.monotonic < until, "no trade within a minute");
        let look = now.monotonic + Duration::from_millis(20);
        let deadline = session.next_deadline().map_or(look, |due| due.min(look));
        let ready = reactor.wait(now.monotonic, Some(deadline)).unwrap();
        session.process(clock.now(), ready, &mut reactor, &mut trader).unwrap();
        if session.state() == State::Disconnected {
            return session;
        }
    }
}
