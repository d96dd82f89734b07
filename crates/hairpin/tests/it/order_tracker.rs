//! Tests the order tracker against the exchange's gateway: after random trades, cancels and losses,
//! the tracker contains the same orders as the exchange's books.

use hairpin_cme_codecs::ilink3::{ExecInst, SideReq};
use hairpin_exchange as exchange;
use hairpin_ilink3::{
    Action, Binding, CONTROL_LENGTH, Delivery, FRAMING_HEADER_LENGTH, KEEP_ALIVE_DEFAULT, NewOrder,
    NotAppliedAnswer, Operator, OutboundError, OutboundSink, Progress, SecretKey, Session,
    Settings, State, write_framing_header,
};
use hairpin_mapped::{Direction, MemoryStorage, Record, Storage, Tag};
use hairpin_netsim::Random;
use hairpin_order_entry::{
    FILL_RECORD, Listener, MESSAGE_RECORD, NotApplied, OrderRequest, OrderTracking, Orders,
    TrackOrders,
};
use hairpin_sbe::Decimal;
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::request::{FIRST, LOW, Request, Status, held, tracked_rows};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const UTC: u64 = 1_700_000_000_000_000_000;

/// A connection that drops written messages on request, and a journal.
struct LossyOutbound {
    journal: MemoryStorage,
    uuid: u64,
    bytes: Vec<u8>,
    loses: bool,
    kept: Option<Record>,
}

impl LossyOutbound {
    fn tag(&self, direction: Direction, kind: u16, uuid: u64, seq_num: u32) -> Tag {
        Tag { direction, kind, uuid, seq_num, ..Tag::default() }
    }
}

impl OutboundSink for LossyOutbound {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.journal.claim(max).map_err(|_| OutboundError::Full)
    }

    fn commit(&mut self, length: usize, seq_num: Option<u32>) -> Delivery {
        let frame = self.journal.claim(length).unwrap()[..length].to_vec();
        let kind = if seq_num.is_some() { MESSAGE_RECORD } else { FILL_RECORD };
        let tag = self.tag(Direction::Outbound, kind, self.uuid, seq_num.unwrap_or(0));
        self.journal.claim(length).unwrap().copy_from_slice(&frame);
        self.journal.commit(&tag, length);
        if !self.loses {
            self.bytes.extend_from_slice(&frame);
        }
        Delivery::Written
    }

    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutboundError> {
        let (direction, numbers) = (Direction::Outbound, seq_num..=seq_num);
        let found = self.journal.replay(direction, MESSAGE_RECORD, self.uuid, numbers).next();
        let frame = self.journal.bytes(found.ok_or(OutboundError::NotKept)?);
        self.bytes.extend_from_slice(frame);
        Ok(Delivery::Written)
    }

    fn keep(&mut self, uuid: u64, seq_num: u32, message: &[u8]) {
        let length = FRAMING_HEADER_LENGTH + message.len();
        let payload = self.journal.claim(length).unwrap();
        write_framing_header(payload.first_chunk_mut().unwrap(), length);
        payload[FRAMING_HEADER_LENGTH..].copy_from_slice(message);
        let tag = self.tag(Direction::Inbound, MESSAGE_RECORD, uuid, seq_num);
        self.kept = Some(self.journal.commit(&tag, length));
    }

    fn mark(&mut self) {
        let kept = self.kept.take();
        kept.into_iter().for_each(|record| self.journal.mark(record));
    }
}

struct NoopListener;
impl exchange::Listener for NoopListener {}

/// A strategy that only tracks its orders.
struct TrackingStrategy {
    orders: Orders,
    answer: NotAppliedAnswer,
    not_applied: u32,
}

impl Listener for TrackingStrategy {
    fn answer_not_applied(&mut self, _: NotApplied, _: NotAppliedAnswer) -> NotAppliedAnswer {
        self.answer
    }
    fn on_not_applied(&mut self, _: &mut hairpin_ilink3::Sender<'_>, it: NotApplied) {
        self.not_applied += it.count;
    }
}

impl TrackOrders for TrackingStrategy {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

/// The client, the gateway and the connection between them.
struct Pair {
    now: Now,
    session: Session,
    strategy: TrackingStrategy,
    wire: LossyOutbound,
    gateway: exchange::Gateway,
    floor: exchange::SimulatedMarket,
    connection: Option<exchange::ConnectionId>,
    random: Random,
    /// The next ClOrdID.
    id: u64,
}

impl Pair {
    fn new(seed: u64) -> Self {
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
        let floor = exchange::SimulatedMarketSettings { instruments, seed, ..Default::default() };
        let credentials = exchange::Credentials::new("ACCESS-KEY-ID-123456", KEY, "ABC", "DEFGH");
        let mut gateway = exchange::GatewaySettings::lenient(vec![credentials.unwrap()], 2, 32_768);
        gateway.cancels_on_disconnect = seed.is_multiple_of(2);
        // Status requests for all orders.
        gateway.kind = exchange::GatewayKind::Cgw;
        let answer = match seed % 3 {
            0 => NotAppliedAnswer::Replay,
            _ => NotAppliedAnswer::FillGap,
        };
        let journal = MemoryStorage::new(false);
        Self {
            now,
            session: Session::new(settings, Progress::default()).unwrap(),
            strategy: TrackingStrategy { orders: Orders::new(500), answer, not_applied: 0 },
            wire: LossyOutbound { journal, uuid: 0, bytes: Vec::new(), loses: false, kept: None },
            gateway: exchange::Gateway::with_settings(gateway),
            floor: exchange::SimulatedMarket::new(&floor, now),
            connection: None,
            random: Random::new(seed),
            id: 0,
        }
    }

    /// Delivers every byte in flight.
    fn run(&mut self) {
        while self.step_once() {}
        assert!(self.gateway.poll_action(&mut NoopListener).is_none());
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
        while let Some(action) = self.session.poll_action() {
            busy = true;
            match action {
                Action::Connect => {
                    self.connection = self.gateway.handle_connected(now, &mut NoopListener);
                    self.session.handle_connected(now, &mut self.wire, &mut tracking);
                    self.wire.uuid = self.session.progress().uuid;
                }
                Action::Close => panic!("unexpected close"),
            }
        }
        if let Some(id) = self.connection {
            let back = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
            busy |= !back.is_empty();
            self.gateway.handle_sent(id, back.len());
            self.session.handle_bytes(now, &back, &mut self.wire, &mut tracking);
        }
        busy
    }

    fn log_on(&mut self, binding: Binding) {
        let span = Duration::from_millis(1);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        self.session.connect(self.now, binding).unwrap();
        self.run();
        assert_eq!(self.session.state(), State::Established);
    }

    fn lose_connection(&mut self) {
        self.gateway.handle_closed(self.connection.take().unwrap(), &mut NoopListener);
        self.gateway.handle_fills(self.now, &mut self.floor, &mut NoopListener);
        let mut tracking = OrderTracking::new(&mut self.strategy);
        self.session.handle_disconnected(self.now, &mut self.wire, &mut tracking);
        self.wire.loses = false;
    }

    fn send<M: OrderRequest>(&mut self, message: &M) {
        let mut sender = self.session.sender(self.now, &mut self.wire);
        self.strategy.orders.send(&mut sender, message).unwrap();
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..17 => {
                self.id += 1;
                let Self { strategy, random, .. } = self;
                if let Some(request) = Request::draw(random, &strategy.orders, self.id) {
                    let mut sender = self.session.sender(self.now, &mut self.wire);
                    request.send(&mut self.strategy.orders, &mut sender).unwrap();
                }
            }
            17 if self.random.below(3) == 0 => self.wire.loses = true,
            18 if self.random.below(3) == 0 => {
                self.lose_connection();
                let new = self.random.below(3) == 0;
                self.log_on(if new { Binding::New } else { Binding::Resume });
            }
            _ => self.run(),
        }
    }

    /// Resolves every message in flight: each is answered or reported as not applied.
    fn resolve_in_flight(&mut self) {
        self.lose_connection();
        self.log_on(Binding::Resume);
        for _ in 0..2 {
            self.send(&Status(77));
            self.run();
        }
        // The next process detects an unapplied message only after the answer to a later message.
        let order = NewOrder::limit(FIRST, SideReq::BUY, Decimal(LOW), 1, 999_999.into());
        self.send(&order);
        self.run();
    }
}

#[test]
fn tracker_matches_the_books_after_random_runs() {
    let (mut held_at_all, mut not_applied, mut resumed) = (0, 0, 0);
    for seed in 0..60 {
        let mut pair = Pair::new(seed);
        pair.log_on(Binding::New);
        for _ in 0..300 {
            pair.step();
        }
        pair.resolve_in_flight();
        let (believed_now, held_now) = (tracked_rows(&pair.strategy.orders), held(&pair.floor));
        assert_eq!(believed_now, held_now, "seed {seed}");
        assert_eq!(pair.strategy.orders.in_flight().count(), 0, "seed {seed}");
        assert_eq!(pair.strategy.orders.iter().count(), held_now.len(), "seed {seed}");
        let counters = pair.strategy.orders.counters();
        assert_eq!((counters.unknown, counters.lost, counters.adopted), (0, 0, 0), "seed {seed}");
        // The tracker of the next process must match too.
        let rebuilt = Orders::from_journal(&pair.wire.journal, 500);
        assert_eq!(tracked_rows(&rebuilt), believed_now, "seed {seed}");
        assert_eq!(rebuilt.in_flight().count(), 0, "seed {seed}");
        assert_eq!(rebuilt.iter().count(), held_now.len(), "seed {seed}");
        held_at_all += held_now.len();
        not_applied += pair.strategy.not_applied;
        resumed += pair.session.inbound_counters().retransmitted;
    }
    assert!(held_at_all > 200, "{held_at_all} orders");
    assert!(not_applied > 200, "{not_applied} messages not applied");
    assert!(resumed > 50, "too few repeated reports: {resumed}");
}

/// The comparison of the other tests must be able to fail.
#[test]
fn comparison_detects_an_untracked_order() {
    let mut pair = Pair::new(1);
    pair.log_on(Binding::New);
    let order = NewOrder::limit(FIRST, SideReq::BUY, Decimal(LOW), 2, 5.into());
    assert_eq!(order.execution_instructions, ExecInst(0));
    pair.send(&order);
    pair.run();
    let rows = tracked_rows(&pair.strategy.orders);
    assert_eq!((rows[0].1, rows[0].2), (0, 2));
    assert!(pair.strategy.orders.by_cl_ord_id(5.into()).is_some());
    assert_eq!(rows, held(&pair.floor));
    pair.strategy.orders.forget(rows[0].0);
    assert_ne!(tracked_rows(&pair.strategy.orders), held(&pair.floor));
}
