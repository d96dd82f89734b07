//! The tracker of orders against the exchange's gateway: after whatever was traded, cancelled and
//! lost, it knows what the exchange's books hold.
#![allow(clippy::unwrap_used, reason = "this is all tests")]

use hairpin_cme_codecs::ilink3::{ExecInst, OrderStatusRequest533, SideNULL, SideReq};
use hairpin_exchange as exchange;
use hairpin_ilink3::{
    Action, Binding, CONTROL_LENGTH, CancelOrder, Delivery, FRAMING_HEADER_LENGTH,
    KEEP_ALIVE_DEFAULT, MassCancel, NewOrder, NotAppliedAnswer, Operator, Outgoing, Outlet,
    OutletError, Progress, ReplaceOrder, SecretKey, Session, Settings, Stamp, State,
    write_framing_header,
};
use hairpin_mapped::{Direction, MemoryStorage, Record, Storage, Tag};
use hairpin_order_entry::{
    FILL_RECORD, Intent, Listener, MESSAGE_RECORD, NotApplied, OrderRequest, OrderState, Orders,
    Tracked, Tracks,
};
use hairpin_sbe::{Decimal, EncodeError};
use hairpin_time::{Duration, Instant, Now, Utc};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const UTC: u64 = 1_700_000_000_000_000_000;
/// A price that does not trade, and one at which every order to buy does.
const LOW: i64 = 1_000_000_000;
const HIGH: i64 = 999_999_000_000_000;

/// A connection that loses what is written when it is told to, in front of a journal.
struct Wire {
    journal: MemoryStorage,
    uuid: u64,
    bytes: Vec<u8>,
    loses: bool,
    kept: Option<Record>,
}

impl Wire {
    fn tag(&self, direction: Direction, kind: u16, uuid: u64, seq_num: u32) -> Tag {
        Tag { direction, kind, uuid, seq_num, ..Tag::default() }
    }
}

impl Outlet for Wire {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutletError> {
        self.journal.claim(max).map_err(|_| OutletError::Full)
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

    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutletError> {
        let (direction, numbers) = (Direction::Outbound, seq_num..=seq_num);
        let found = self.journal.replay(direction, MESSAGE_RECORD, self.uuid, numbers).next();
        let frame = self.journal.bytes(found.ok_or(OutletError::NotKept)?);
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

struct Quiet;
impl exchange::Listener for Quiet {}

/// A strategy of which only its orders matter.
struct Desk {
    orders: Orders,
    answer: NotAppliedAnswer,
    not_applied: u32,
}

impl Listener for Desk {
    fn answer_not_applied(&mut self, _: NotApplied, _: NotAppliedAnswer) -> NotAppliedAnswer {
        self.answer
    }
    fn on_not_applied(&mut self, _: &mut hairpin_ilink3::Sender<'_>, it: NotApplied) {
        self.not_applied += it.count;
    }
}

impl Tracks for Desk {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

/// Asks how an order stands.
struct Status(u64);

impl Outgoing for Status {
    const MAX_LENGTH: usize = OrderStatusRequest533::ENCODED_LENGTH;

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        OrderStatusRequest533::encode(buffer)?
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_ord_status_req_id(stamp.seq_num.into())
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_order_id(self.0)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location);
        Ok(Self::MAX_LENGTH)
    }
}

impl OrderRequest for Status {
    fn intent(&self) -> Intent {
        Intent::Other
    }
}

/// An order that is refused without an id: its number is not used.
struct Broken(NewOrder);

impl Outgoing for Broken {
    const MAX_LENGTH: usize = NewOrder::MAX_LENGTH;

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        self.0.request_id(seq_num)
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.0.encode(stamp, buffer)?;
        Ok(40)
    }
}

impl OrderRequest for Broken {
    fn intent(&self) -> Intent {
        self.0.intent()
    }
}

/// Both sides and the path between them.
struct World {
    now: Now,
    session: Session,
    desk: Desk,
    wire: Wire,
    gateway: exchange::Gateway,
    floor: exchange::Floor,
    connection: Option<exchange::ConnectionId>,
    random: u64,
    /// The next ClOrdID.
    id: u64,
}

impl World {
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
            operator: Operator::automated("TRADER", "US,IL"),
        };
        let instruments = exchange::Instrument::numbered(2);
        let floor = exchange::FloorSettings { instruments, seed, ..Default::default() };
        let credentials = exchange::Credentials::new("ACCESS-KEY-ID-123456", KEY, "ABC", "DEFGH");
        let mut gateway = exchange::GatewaySettings::lenient(vec![credentials.unwrap()], 2, 32_768);
        gateway.cancels_on_disconnect = seed.is_multiple_of(2);
        let answer = match seed % 3 {
            0 => NotAppliedAnswer::Replay,
            _ => NotAppliedAnswer::FillGap,
        };
        let journal = MemoryStorage::new(false);
        Self {
            now,
            session: Session::new(settings, Progress::default()).unwrap(),
            desk: Desk { orders: Orders::new(500), answer, not_applied: 0 },
            wire: Wire { journal, uuid: 0, bytes: Vec::new(), loses: false, kept: None },
            gateway: exchange::Gateway::with_settings(gateway),
            floor: exchange::Floor::new(&floor, now),
            connection: None,
            random: seed,
            id: 0,
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % below
    }

    /// Lets everything arrive.
    fn run(&mut self) {
        while self.turn() {}
        assert!(self.gateway.poll_action(&mut Quiet).is_none());
    }

    fn turn(&mut self) -> bool {
        let mut told = Tracked::new(&mut self.desk);
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
        while let Some(action) = self.session.poll_action() {
            busy = true;
            match action {
                Action::Connect => {
                    self.connection = self.gateway.handle_connected(now, &mut Quiet);
                    self.session.handle_connected(now, &mut self.wire, &mut told);
                    self.wire.uuid = self.session.progress().uuid;
                }
                Action::Close => panic!("nobody closes"),
            }
        }
        if let Some(id) = self.connection {
            let back = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
            busy |= !back.is_empty();
            self.gateway.handle_sent(id, back.len());
            self.session.handle_bytes(now, &back, &mut self.wire, &mut told);
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
        self.gateway.handle_closed(self.connection.take().unwrap(), &mut Quiet);
        self.gateway.handle_fills(self.now, &mut self.floor, &mut Quiet);
        let mut told = Tracked::new(&mut self.desk);
        self.session.handle_disconnected(self.now, &mut self.wire, &mut told);
        self.wire.loses = false;
    }

    fn send<M: OrderRequest>(&mut self, message: &M) {
        let mut sender = self.session.sender(self.now, &mut self.wire);
        self.desk.orders.send(&mut sender, message).unwrap();
    }

    /// A new order of some kind.
    fn draw_order(&mut self) -> NewOrder {
        self.id += 1;
        let (id, quantity) = (self.id.into(), 1 + self.draw(20) as u32);
        let security = exchange::Instrument::numbered(2)[self.draw(2) as usize].security_id;
        let side = if self.draw(2) == 0 { SideReq::BUY } else { SideReq::SELL };
        let near = (1_000 + self.draw(9)) as i64 * 1_000_000_000;
        let far = if side == SideReq::BUY { LOW } else { HIGH };
        let limit = |price| NewOrder::limit(security, side, Decimal(price), quantity, id);
        match self.draw(8) {
            0 => NewOrder::market(security, side, quantity, id),
            1 => limit(near).fill_and_kill(),
            2 => limit(far).good_till_cancel(),
            3 => limit(far).good_till_date(20_000),
            4 => {
                let trigger = if side == SideReq::BUY { HIGH } else { LOW };
                NewOrder::stop(security, side, Decimal(trigger), quantity, id)
            }
            5 => limit(near + 1),
            6 => limit(near),
            _ => limit(far),
        }
    }

    /// Some working order, as the client knows it.
    fn draw_working(&mut self) -> Option<hairpin_order_entry::Order> {
        let working: Vec<_> = self.desk.orders.working().copied().collect();
        (!working.is_empty()).then(|| working[self.draw(working.len() as u64) as usize])
    }

    fn step(&mut self) {
        self.id += 1;
        let id = self.id.into();
        match self.draw(20) {
            0..8 => {
                let order = self.draw_order();
                self.send(&order);
            }
            8..11 => {
                if let Some(order) = self.draw_working() {
                    let order_id = order.order_id.unwrap();
                    self.send(&CancelOrder::new(order_id, order.security_id, order.side, id));
                }
            }
            11..14 => {
                let terms = self.draw_order();
                if let Some(order) = self.draw_working() {
                    let (security_id, side) = (order.security_id, order.side);
                    let terms = NewOrder { security_id, side, ..terms };
                    let replace = ReplaceOrder::with_terms_of(order.order_id.unwrap(), &terms);
                    let mitigates = self.draw(2) == 0;
                    self.send(&if mitigates { replace.mitigated() } else { replace });
                }
            }
            14 if self.draw(6) == 0 => {
                let side = [None, Some(SideNULL::BUY)][self.draw(2) as usize];
                let security = exchange::Instrument::numbered(2)[0].security_id;
                let mass = match self.draw(3) {
                    0 => MassCancel::all(),
                    1 => MassCancel::market_segment(64),
                    _ => MassCancel::instrument(security),
                };
                self.send(&MassCancel { side, ..mass });
            }
            15 => {
                let order_id = self.draw_working().and_then(|order| order.order_id);
                self.send(&Status(order_id.unwrap_or(77)));
            }
            16 if self.draw(4) == 0 => {
                let order = self.draw_order();
                self.send(&Broken(order));
            }
            17 if self.draw(3) == 0 => self.wire.loses = true,
            18 if self.draw(3) == 0 => {
                self.lose_connection();
                let new = self.draw(3) == 0;
                self.log_on(if new { Binding::New } else { Binding::Resume });
            }
            _ => self.run(),
        }
    }

    /// Has all that is in flight answered, or found not to be applied.
    fn settle(&mut self) {
        self.lose_connection();
        self.log_on(Binding::Resume);
        for _ in 0..2 {
            self.send(&Status(77));
            self.run();
        }
        // What the next process cannot know to be passed by it knows when a later one is answered.
        let security = exchange::Instrument::numbered(2)[0].security_id;
        let order = NewOrder::limit(security, SideReq::BUY, Decimal(LOW), 1, 999_999.into());
        self.send(&order);
        self.run();
    }
}

/// OrderID, ClOrdID, contracts traded and open.
type Row = (u64, String, u32, u32);

/// What the client believes to work.
fn believed(orders: &Orders) -> Vec<Row> {
    let row = |it: &hairpin_order_entry::Order| {
        assert_eq!(it.state, OrderState::Working);
        (it.order_id.unwrap(), it.cl_ord_id.to_string(), it.filled, it.leaves)
    };
    let mut rows: Vec<_> = orders.working().map(row).collect();
    rows.sort_unstable();
    rows
}

/// What the exchange holds of the first account.
fn held(floor: &exchange::Floor) -> Vec<(u64, u32, u32)> {
    let matching = floor.matching();
    let resting = (0..matching.instruments())
        .flat_map(|instrument| exchange::Side::BOTH.map(|side| matching.orders(instrument, side)))
        .flatten();
    let stops = matching.stops().iter().map(|stop| &stop.order);
    let all = resting.chain(stops).filter(|order| order.owner == exchange::Owner(1));
    let mut rows: Vec<_> = all.map(|it| (it.id.0, it.traded, it.remaining)).collect();
    rows.sort_unstable();
    rows
}

fn without_text(rows: &[Row]) -> Vec<(u64, u32, u32)> {
    rows.iter().map(|&(order, _, traded, open)| (order, traded, open)).collect()
}

#[test]
fn after_any_run_the_tracker_knows_what_the_exchange_holds() {
    let (mut held_at_all, mut not_applied, mut resumed) = (0, 0, 0);
    for seed in 0..60 {
        let mut world = World::new(seed);
        world.log_on(Binding::New);
        for _ in 0..300 {
            world.step();
        }
        world.settle();
        let (believed_now, held_now) = (believed(&world.desk.orders), held(&world.floor));
        assert_eq!(without_text(&believed_now), held_now, "seed {seed}");
        assert_eq!(world.desk.orders.in_flight().count(), 0, "seed {seed}");
        assert_eq!(world.desk.orders.iter().count(), held_now.len(), "seed {seed}");
        let counters = world.desk.orders.counters();
        assert_eq!((counters.unknown, counters.lost, counters.adopted), (0, 0, 0), "seed {seed}");
        // And so does the tracker of the next process.
        let rebuilt = Orders::from_journal(&world.wire.journal, 500);
        assert_eq!(believed(&rebuilt), believed_now, "seed {seed}");
        assert_eq!(rebuilt.in_flight().count(), 0, "seed {seed}");
        assert_eq!(rebuilt.iter().count(), held_now.len(), "seed {seed}");
        held_at_all += held_now.len();
        not_applied += world.desk.not_applied;
        resumed += world.session.inbound_counters().retransmitted;
    }
    assert!(held_at_all > 200, "{held_at_all} orders");
    assert!(not_applied > 200, "{not_applied} messages not applied");
    assert!(resumed > 50, "{resumed} reports came again");
}

/// The listing that decides has to be one that can differ.
#[test]
fn an_order_that_is_not_tracked_shows() {
    let mut world = World::new(1);
    world.log_on(Binding::New);
    let security_id = exchange::Instrument::numbered(2)[0].security_id;
    let order = NewOrder::limit(security_id, SideReq::BUY, Decimal(LOW), 2, 5.into());
    assert_eq!(order.execution_instructions, ExecInst(0));
    world.send(&order);
    world.run();
    let rows = believed(&world.desk.orders);
    assert_eq!((rows[0].1.as_str(), rows[0].2, rows[0].3), ("5", 0, 2));
    assert_eq!(without_text(&rows), held(&world.floor));
    world.desk.orders.forget(rows[0].0);
    assert_ne!(without_text(&believed(&world.desk.orders)), held(&world.floor));
}
