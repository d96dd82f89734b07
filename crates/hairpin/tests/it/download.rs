//! The download of orders that outlive the day, against the exchange's gateway.

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
struct Wire {
    bytes: Vec<u8>,
    claimed: Vec<u8>,
    loses: bool,
}

impl OutboundSink for Wire {
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

struct Quiet;
impl exchange::Listener for Quiet {}

/// Downloads after each logon.
struct Desk {
    orders: Orders,
    download: Download,
    starts: bool,
    ends: Vec<DownloadResult>,
}

impl Desk {
    fn new(download: Download, starts: bool) -> Self {
        Self { orders: Orders::new(100), download, starts, ends: Vec::new() }
    }
}

impl Listener for Desk {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        if self.starts {
            self.download.start(sender).unwrap();
        }
    }
}

impl TrackOrders for Desk {
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

struct World {
    now: Now,
    session: Session,
    desk: Desk,
    wire: Wire,
    gateway: exchange::Gateway,
    floor: exchange::SimulatedMarket,
    connection: Option<exchange::ConnectionId>,
}

impl World {
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
            operator: Operator::automated("TRADER", "US,IL"),
        };
        let instruments = exchange::Instrument::numbered(2);
        let floor = exchange::SimulatedMarketSettings { instruments, ..Default::default() };
        let credentials = exchange::Credentials::new("ACCESS-KEY-ID-123456", KEY, "ABC", "DEFGH");
        let mut gateway = exchange::GatewaySettings::lenient(vec![credentials.unwrap()], 2, 1_024);
        gateway.cancels_on_disconnect = false;
        Self {
            now,
            session: Session::new(settings, Progress::default()).unwrap(),
            desk: Desk::new(download, false),
            wire: Wire::default(),
            gateway: exchange::Gateway::with_settings(gateway),
            floor: exchange::SimulatedMarket::new(&floor, now),
            connection: None,
        }
    }

    fn run(&mut self) {
        while self.turn() {}
    }

    fn turn(&mut self) -> bool {
        let mut told = OrderTracking::new(&mut self.desk);
        let (now, mut buffer) = (self.now, [0; CONTROL_LENGTH]);
        let mut busy = false;
        while let Some(length) = self.session.poll_transmit(now, &mut buffer) {
            self.wire.bytes.extend_from_slice(&buffer[..length]);
        }
        let out = std::mem::take(&mut self.wire.bytes);
        if let Some(id) = self.connection {
            busy |= !out.is_empty();
            self.gateway.handle_bytes(now, id, &out, &mut self.floor, &mut Quiet);
        }
        self.gateway.handle_fills(now, &mut self.floor, &mut Quiet);
        while let Some(Action::Connect) = self.session.poll_action() {
            busy = true;
            self.connection = self.gateway.handle_connected(now, &mut Quiet);
            self.session.handle_connected(now, &mut self.wire, &mut told);
        }
        if let Some(id) = self.connection {
            let back = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
            busy |= !back.is_empty();
            self.gateway.handle_sent(id, back.len());
            self.session.handle_bytes(now, &back, &mut self.wire, &mut told);
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
        self.gateway.handle_closed(self.connection.take().unwrap(), &mut Quiet);
        let mut told = OrderTracking::new(&mut self.desk);
        self.session.handle_disconnected(self.now, &mut self.wire, &mut told);
    }

    /// Leaves `day` orders for the day, and so many good till cancel and till a date.
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
            self.desk.orders.send(&mut sender, &order).unwrap();
            self.run();
        }
    }

    /// The next process logs on, and knows nothing.
    fn begin_anew(&mut self) {
        self.lose_connection();
        self.desk = Desk::new(self.desk.download.clone(), true);
        self.log_on();
    }

    fn known(&self) -> Vec<String> {
        let mut ids: Vec<_> =
            self.desk.orders.working().map(|order| order.cl_ord_id.to_string()).collect();
        ids.sort();
        ids
    }
}

#[test]
fn all_orders_that_outlive_the_day_are_told_and_tracked() {
    let mut world = World::new(Download::new(TIMEOUT));
    world.log_on();
    world.trade(2, 40, 3);
    world.begin_anew();
    assert_eq!(world.desk.ends, [Ok(Downloaded { orders: 43 })]);
    let expected: Vec<_> = (3..=45).map(|id| id.to_string()).collect();
    let mut expected = expected;
    expected.sort();
    assert_eq!(world.known(), expected, "not those for the day");
    assert!(!world.desk.download.is_in_progress());
    assert_eq!(world.desk.orders.counters().adopted, 43);
}

#[test]
fn where_there_are_none_that_is_told() {
    let mut world = World::new(Download::new(TIMEOUT));
    world.log_on();
    world.trade(2, 0, 1);
    world.begin_anew();
    assert_eq!(world.desk.ends, [Ok(Downloaded { orders: 1 })]);
    assert_eq!(world.known(), ["3"]);
}

#[test]
fn a_part_of_the_market_can_be_asked_for() {
    let security = exchange::Instrument::numbered(2)[1].security_id;
    let mut world = World::new(Download::with_request(MassStatus::instrument(security), TIMEOUT));
    world.log_on();
    world.trade(0, 2, 2);
    world.begin_anew();
    assert_eq!(world.desk.ends, [Ok(Downloaded { orders: 0 })], "all are in the other instrument");
}

#[test]
fn a_download_that_is_refused_says_why() {
    let mut world = World::new(Download::with_request(MassStatus::instrument(7), TIMEOUT));
    world.log_on();
    world.begin_anew();
    let [Err(DownloadError::Refused(reason))] = world.desk.ends[..] else {
        panic!("{:?}", world.desk.ends);
    };
    assert_eq!(reason.0, 2, "an unknown security");
}

#[test]
fn a_download_of_which_nothing_comes_is_given_up_in_time() {
    let mut world = World::new(Download::new(TIMEOUT));
    world.log_on();
    world.wire.loses = true;
    let mut sender = world.session.sender(world.now, &mut world.wire);
    world.desk.download.start(&mut sender).unwrap();
    let due = world.desk.download.poll_timeout().unwrap();
    assert_eq!(due, world.now.monotonic + TIMEOUT);
    assert_eq!(world.desk.download.handle_timeout(world.now), None);
    let late = Now { monotonic: due, ..world.now };
    assert_eq!(world.desk.download.handle_timeout(late), Some(Err(DownloadError::TimedOut)));
    assert_eq!(world.desk.download.handle_timeout(late), None, "told once");
    assert_eq!(world.desk.download.poll_timeout(), None);
}

#[test]
fn a_download_that_is_lost_ends_with_its_request_or_its_connection() {
    let mut world = World::new(Download::new(TIMEOUT));
    world.log_on();
    world.wire.loses = true;
    let mut sender = world.session.sender(world.now, &mut world.wire);
    world.desk.download.start(&mut sender).unwrap();
    world.wire.loses = false;
    world.trade(1, 0, 0);
    assert_eq!(world.desk.ends, [Err(DownloadError::NotApplied)]);
    let mut sender = world.session.sender(world.now, &mut world.wire);
    world.desk.download.start(&mut sender).unwrap();
    world.lose_connection();
    assert_eq!(world.desk.ends[1..], [Err(DownloadError::Disconnected)]);
    let mut sender = world.session.sender(world.now, &mut world.wire);
    let refused = world.desk.download.start(&mut sender);
    assert_eq!(refused, Err(SendError::NotEstablished(State::Disconnected)));
    assert!(!world.desk.download.is_in_progress());
}
