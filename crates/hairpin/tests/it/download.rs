//! Downloads orders that outlive the trading day from the exchange's gateway.

use hairpin_cme_codecs::ilink3::SideReq;
use hairpin_exchange as exchange;
use hairpin_ilink3::{
    Action, Binding, CONTROL_LENGTH, ClOrdId, Delivery, KEEP_ALIVE_DEFAULT, MassStatus, NewOrder,
    Operator, OutboundError, OutboundSink, Progress, SecretKey, SendError, Sender, Session,
    Settings, State,
};
use hairpin_order_entry::{
    Download, DownloadError, DownloadResult, Downloaded, Established, Listener, OrderTracking,
    Orders, TrackOrders,
};
use hairpin_sbe::Decimal;
use hairpin_time::{Duration, Instant, Now, Utc};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const UTC: u64 = 1_700_000_000_000_000_000;
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Default)]
struct LossyOutbound {
    bytes: Vec<u8>,
    claimed: Vec<u8>,
    loses: bool,
}

impl OutboundSink for LossyOutbound {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.claimed.resize(max, 0);
        Ok(&mut self.claimed)
    }

    fn commit(&mut self, length: usize, _: Option<u32>) -> Delivery {
        if !self.loses {
            self.bytes.extend_from_slice(&self.claimed[..length]);
        }
        Delivery::Written
    }
}

struct NoopListener;
impl exchange::Listener for NoopListener {}

/// A strategy that starts a download after each logon.
struct DownloadingStrategy {
    orders: Orders,
    download: Download,
    starts: bool,
    ends: Vec<DownloadResult>,
}

impl DownloadingStrategy {
    fn new(download: Download, starts: bool) -> Self {
        Self { orders: Orders::new(100), download, starts, ends: Vec::new() }
    }
}

impl Listener for DownloadingStrategy {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        if self.starts {
            self.download.start(sender).unwrap();
        }
    }
}

impl TrackOrders for DownloadingStrategy {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
    fn download(&mut self) -> Option<&mut Download> {
        Some(&mut self.download)
    }
    fn on_download(&mut self, _: &mut Sender<'_>, end: DownloadResult) {
        self.ends.push(end);
    }
}

struct Pair {
    now: Now,
    session: Session,
    strategy: DownloadingStrategy,
    wire: LossyOutbound,
    gateway: exchange::Gateway,
    floor: exchange::SimulatedMarket,
    connection: Option<exchange::ConnectionId>,
}

impl Pair {
    fn new(download: Download) -> Self {
        let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(UTC) };
        let settings = Settings {
            access_key_id: "ACCESS-KEY-ID-123456".into(),
            secret_key: SecretKey::from_base64url(KEY).unwrap(),
            session: "ABC".into(),
            firm: "DEFGH".into(),
            trading_system_name: "Test".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Test".into(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL").unwrap(),
        };
        let instruments = exchange::Instrument::numbered(2);
        let floor = exchange::SimulatedMarketSettings { instruments, ..Default::default() };
        let credentials = exchange::Credentials::new("ACCESS-KEY-ID-123456", KEY, "ABC", "DEFGH");
        let mut gateway = exchange::GatewaySettings::lenient(vec![credentials.unwrap()], 2, 1_024);
        gateway.cancels_on_disconnect = false;
        // Status requests for all orders.
        gateway.kind = exchange::GatewayKind::Cgw;
        Self {
            now,
            session: Session::new(settings, Progress::default()).unwrap(),
            strategy: DownloadingStrategy::new(download, false),
            wire: LossyOutbound::default(),
            gateway: exchange::Gateway::with_settings(gateway),
            floor: exchange::SimulatedMarket::new(&floor, now),
            connection: None,
        }
    }

    fn run(&mut self) {
        while self.step_once() {}
    }

    fn step_once(&mut self) -> bool {
        let mut tracking = OrderTracking::new(&mut self.strategy);
        let (now, mut buffer) = (self.now, [0; CONTROL_LENGTH]);
        let mut busy = false;
        while let Some(length) = self.session.poll_transmit(now, &mut buffer) {
            self.wire.bytes.extend_from_slice(&buffer[..length]);
        }
        let out = std::mem::take(&mut self.wire.bytes);
        if let Some(id) = self.connection {
            busy |= !out.is_empty();
            self.gateway.handle_bytes(now, id, &out, &mut self.floor, &mut NoopListener);
        }
        self.gateway.handle_fills(now, &mut self.floor, &mut NoopListener);
        while let Some(Action::Connect) = self.session.poll_action() {
            busy = true;
            self.connection = self.gateway.handle_connected(now, &mut NoopListener);
            self.session.handle_connected(now, &mut self.wire, &mut tracking);
        }
        if let Some(id) = self.connection {
            let back = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
            busy |= !back.is_empty();
            self.gateway.handle_sent(id, back.len());
            self.session.handle_bytes(now, &back, &mut self.wire, &mut tracking);
        }
        busy
    }

    fn log_on(&mut self) {
        let span = Duration::from_millis(1);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        self.session.connect(self.now, Binding::New).unwrap();
        self.run();
        assert_eq!(self.session.state(), State::Established);
    }

    fn lose_connection(&mut self) {
        self.gateway.handle_closed(self.connection.take().unwrap(), &mut NoopListener);
        let mut tracking = OrderTracking::new(&mut self.strategy);
        self.session.handle_disconnected(self.now, &mut self.wire, &mut tracking);
    }

    /// Sends `day` day orders, `gtc` orders good till cancel and `gtd` orders good till date.
    fn trade(&mut self, day: u64, gtc: u64, gtd: u64) {
        let security = exchange::Instrument::numbered(2)[0].security_id;
        for id in 1..=day + gtc + gtd {
            let price = Decimal(1_000_000_000);
            let order = NewOrder::limit(security, SideReq::BUY, price, 1, ClOrdId::from(id));
            let order = match id {
                _ if id <= day => order,
                _ if id <= day + gtc => order.good_till_cancel(),
                _ => order.good_till_date(20_000),
            };
            let mut sender = self.session.sender(self.now, &mut self.wire);
            self.strategy.orders.send(&mut sender, &order).unwrap();
            self.run();
        }
    }

    /// Restarts the strategy: a process without orders logs on.
    fn restart(&mut self) {
        self.lose_connection();
        self.strategy = DownloadingStrategy::new(self.strategy.download.clone(), true);
        self.log_on();
    }

    fn tracked_ids(&self) -> Vec<String> {
        let mut ids: Vec<_> =
            self.strategy.orders.working().map(|order| order.cl_ord_id.to_string()).collect();
        ids.sort();
        ids
    }
}

#[test]
fn download_tracks_all_orders_that_outlive_the_day() {
    let mut pair = Pair::new(Download::new(64, TIMEOUT));
    pair.log_on();
    pair.trade(2, 40, 3);
    pair.restart();
    assert_eq!(pair.strategy.ends, [Ok(Downloaded { orders: 43 })]);
    let expected: Vec<_> = (3..=45).map(|id| id.to_string()).collect();
    let mut expected = expected;
    expected.sort();
    assert_eq!(pair.tracked_ids(), expected, "day orders must be absent");
    assert!(!pair.strategy.download.is_in_progress());
    assert_eq!(pair.strategy.orders.counters().adopted, 43);
}

#[test]
fn download_of_one_order_completes() {
    let mut pair = Pair::new(Download::new(64, TIMEOUT));
    pair.log_on();
    pair.trade(2, 0, 1);
    pair.restart();
    assert_eq!(pair.strategy.ends, [Ok(Downloaded { orders: 1 })]);
    assert_eq!(pair.tracked_ids(), ["3"]);
}

#[test]
fn download_can_be_limited_to_an_instrument() {
    let security = exchange::Instrument::numbered(2)[1].security_id;
    let mut pair = Pair::new(Download::with_request(MassStatus::instrument(security), TIMEOUT));
    pair.log_on();
    pair.trade(0, 2, 2);
    pair.restart();
    assert_eq!(
        pair.strategy.ends,
        [Ok(Downloaded { orders: 0 })],
        "all orders are in the other instrument"
    );
}

#[test]
fn rejected_download_reports_the_reason() {
    let mut pair = Pair::new(Download::with_request(MassStatus::instrument(7), TIMEOUT));
    pair.log_on();
    pair.restart();
    let [Err(DownloadError::Refused(reason))] = pair.strategy.ends[..] else {
        panic!("{:?}", pair.strategy.ends);
    };
    assert_eq!(reason.0, 2, "reason 2 is an unknown security");
}

#[test]
fn unanswered_download_times_out() {
    let mut pair = Pair::new(Download::new(64, TIMEOUT));
    pair.log_on();
    pair.wire.loses = true;
    let mut sender = pair.session.sender(pair.now, &mut pair.wire);
    pair.strategy.download.start(&mut sender).unwrap();
    let due = pair.strategy.download.poll_timeout().unwrap();
    assert_eq!(due, pair.now.monotonic + TIMEOUT);
    assert_eq!(pair.strategy.download.handle_timeout(pair.now), None);
    let late = Now { monotonic: due, ..pair.now };
    assert_eq!(pair.strategy.download.handle_timeout(late), Some(Err(DownloadError::TimedOut)));
    assert_eq!(
        pair.strategy.download.handle_timeout(late),
        None,
        "the timeout must be reported once"
    );
    assert_eq!(pair.strategy.download.poll_timeout(), None);
}

#[test]
fn lost_request_or_connection_ends_the_download() {
    let mut pair = Pair::new(Download::new(64, TIMEOUT));
    pair.log_on();
    pair.wire.loses = true;
    let mut sender = pair.session.sender(pair.now, &mut pair.wire);
    pair.strategy.download.start(&mut sender).unwrap();
    pair.wire.loses = false;
    pair.trade(1, 0, 0);
    assert_eq!(pair.strategy.ends, [Err(DownloadError::NotApplied)]);
    let mut sender = pair.session.sender(pair.now, &mut pair.wire);
    pair.strategy.download.start(&mut sender).unwrap();
    pair.lose_connection();
    assert_eq!(pair.strategy.ends[1..], [Err(DownloadError::Disconnected)]);
    let mut sender = pair.session.sender(pair.now, &mut pair.wire);
    let refused = pair.strategy.download.start(&mut sender);
    assert_eq!(refused, Err(SendError::NotEstablished(State::Disconnected)));
    assert!(!pair.strategy.download.is_in_progress());
}
