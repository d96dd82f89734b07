//! A gateway in front of a market, with a fake clock and a recording listener.

use hairpin_cme_codecs::ilink3::Terminate507;
use hairpin_exchange::{
    Action, Capacity, ConnectionId, Credentials, Designation, Gateway, GatewayCounters,
    GatewaySettings, Instrument, Listener, OrderId, Rejected, SessionState, SimulatedMarket,
    SimulatedMarketSettings,
};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::client::{
    KEY, Reply, SYSTEM, credentials, establish, establish_by, negotiate, negotiate_by, replies,
};
use crate::decode;

pub(crate) const START: u64 = 1_700_000_000_000_000_000;
pub(crate) const UUID: u64 = 1_700_000_000_000_000;
const CAPACITY: Capacity = Capacity { orders: 4_096, levels: 1_024 };

/// The listener calls as text.
#[derive(Debug, Default)]
pub(crate) struct RecordingListener(pub(crate) Vec<String>);

impl Listener for RecordingListener {
    fn on_session(&mut self, connection: ConnectionId, _: Option<usize>, state: SessionState) {
        self.0.push(format!("{}:{state:?}", connection.0));
    }
    fn on_order(&mut self, _: ConnectionId, cl_ord_id: &[u8]) {
        self.0.push(format!("order {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_acknowledged(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(format!("acknowledged {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_replace(&mut self, _: ConnectionId, cl_ord_id: &[u8]) {
        self.0.push(format!("replace {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_replaced(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(format!("replaced {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_eliminated(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(format!("eliminated {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_triggered(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(format!("triggered {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_cancel(&mut self, _: ConnectionId, cl_ord_id: &[u8]) {
        self.0.push(format!("cancel {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_cancelled(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(format!("canceled {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_fill(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId, quantity: u32) {
        self.0.push(format!("fill {} {quantity}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_rejected(&mut self, _: ConnectionId, rejected: Rejected<'_>) {
        self.0.push(match rejected {
            Rejected::Business { reason, tag, .. } => format!("rejected {reason:?} {tag:?}"),
            Rejected::Order { cl_ord_id, reason } => {
                format!("order rejected {} {reason:?}", String::from_utf8_lossy(cl_ord_id))
            }
            Rejected::Replace { cl_ord_id, reason } => {
                format!("replace rejected {} {reason:?}", String::from_utf8_lossy(cl_ord_id))
            }
            Rejected::Cancel { cl_ord_id, reason } => {
                format!("cancel rejected {} {reason:?}", String::from_utf8_lossy(cl_ord_id))
            }
        });
    }
}

pub(crate) struct Harness {
    pub(crate) now: Now,
    pub(crate) market: SimulatedMarket,
    pub(crate) gateway: Gateway,
    pub(crate) listener: RecordingListener,
}

impl Harness {
    pub(crate) fn new() -> Self {
        Self::with_connections(2)
    }

    /// Creates a harness for three accounts and at most `connections` connections.
    pub(crate) fn with_connections(connections: u32) -> Self {
        Self::with(connections, |_| {})
    }

    /// Creates a harness with a lenient gateway whose settings are modified by `change`.
    pub(crate) fn with(connections: u32, change: impl FnOnce(&mut GatewaySettings)) -> Self {
        let third = Credentials::new("THIRDKEY", KEY, "TRI", "DEFGH").unwrap();
        let other = Credentials::new("OTHERKEY", KEY, "XYZ", "DEFGH").unwrap();
        let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(START) };
        let instruments = Instrument::numbered(2);
        let settings =
            SimulatedMarketSettings { instruments, capacity: CAPACITY, ..Default::default() };
        let market = SimulatedMarket::new(&settings, now);
        let accounts = vec![credentials(), other, third];
        let mut settings = GatewaySettings::lenient(accounts, connections, CAPACITY.orders);
        change(&mut settings);
        let gateway = Gateway::with_settings(settings);
        Self { now, market, gateway, listener: RecordingListener::default() }
    }

    /// Replaces the market by one with room for `orders` orders.
    pub(crate) fn resize(&mut self, orders: u32) {
        let (instruments, capacity) =
            (Instrument::numbered(2), Capacity { orders, levels: CAPACITY.levels });
        let settings = SimulatedMarketSettings { instruments, capacity, ..Default::default() };
        self.market = SimulatedMarket::new(&settings, self.now);
    }

    /// Creates a harness with an established session on the returned connection.
    pub(crate) fn established() -> (Self, ConnectionId) {
        let mut harness = Self::new();
        let id = harness.connect();
        harness.log_on(id);
        (harness, id)
    }

    pub(crate) fn log_on(&mut self, id: ConnectionId) {
        let timestamp = self.timestamp();
        assert_eq!(self.send(id, &negotiate(UUID, timestamp))[0].template(), 501);
        let timestamp = self.timestamp();
        assert_eq!(self.send(id, &establish(UUID, timestamp, 1))[0].template(), 504);
        self.listener.0.clear();
    }

    /// Logs on to an account other than the first.
    pub(crate) fn log_on_by(&mut self, id: ConnectionId, by: (&str, &str)) {
        let timestamp = self.timestamp();
        let replies = self.send(id, &negotiate_by(UUID, timestamp, by.0, by.1));
        assert_eq!(replies[0].template(), 501);
        let timestamp = self.timestamp();
        let message = establish_by(UUID, timestamp, (1, 10_000), SYSTEM, by);
        assert_eq!(self.send(id, &message)[0].template(), 504);
        self.listener.0.clear();
    }

    /// Discards the packets of the feed.
    pub(crate) fn drain_feed(&mut self) {
        while self.market.publisher().has_event() {
            self.market.publisher_mut().poll_transmit(self.now, &mut [0; 1_420]);
        }
    }

    /// Reports the order events of sessions.
    pub(crate) fn report(&mut self) {
        self.gateway.handle_fills(self.now, &mut self.market, &mut self.listener);
        self.drain_feed();
    }

    pub(crate) fn connect(&mut self) -> ConnectionId {
        self.gateway.handle_connected(self.now, &mut self.listener).unwrap()
    }

    pub(crate) fn connect_at(&mut self, at: Designation) -> Option<ConnectionId> {
        self.gateway.handle_connected_at(self.now, at, &mut self.listener)
    }

    pub(crate) fn pass(&mut self, span: Duration) {
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
    }

    /// Returns the time, a microsecond later on each call, as logons require.
    pub(crate) fn timestamp(&mut self) -> u64 {
        self.pass(Duration::from_micros(1));
        self.now.utc.as_nanos()
    }

    pub(crate) fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> Vec<Reply> {
        self.gateway.handle_bytes(self.now, id, bytes, &mut self.market, &mut self.listener);
        self.read(id)
    }

    pub(crate) fn read(&mut self, id: ConnectionId) -> Vec<Reply> {
        let bytes = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
        self.gateway.handle_sent(id, bytes.len());
        replies(&bytes)
    }

    pub(crate) fn send_one(&mut self, id: ConnectionId, bytes: &[u8]) -> Reply {
        let replies = self.send(id, bytes);
        assert_eq!(replies.len(), 1, "{replies:?}");
        replies.into_iter().next().unwrap()
    }

    pub(crate) fn timeout(&mut self, id: ConnectionId) -> Vec<Reply> {
        self.gateway.handle_timeout(self.now, &mut self.listener);
        self.read(id)
    }

    /// Expects the session to end with this Terminate, and then the connection.
    #[track_caller]
    pub(crate) fn expect_terminate(&mut self, id: ConnectionId, replies: &[Reply], code: u16) {
        let last = replies.last().expect("a Terminate");
        assert_eq!(last.template(), 507, "{last:?}");
        assert_eq!(decode!(Terminate507, last).error_codes(), code);
        let action = self.gateway.poll_action(&mut self.listener);
        assert_eq!(action, Some(Action::Close(id)));
        assert_eq!(self.gateway.state(id), SessionState::Closed);
    }

    /// Returns a price far below the market: five ticks under the tenth level.
    pub(crate) fn far_price(&self) -> i64 {
        let tenth = self.market.publisher().published(0).sides[0].levels()[9].price;
        tenth.0 - 5 * 250_000_000
    }

    pub(crate) fn counters(&self) -> GatewayCounters {
        *self.gateway.counters()
    }
}
