//! The client session against the exchange's gateway: two readings of CME's documents, in fake
//! time, over a path that cuts the bytes.

use hairpin_cme_codecs::ilink3::execution_report_trade_outright525::NoFills;
use hairpin_cme_codecs::ilink3::*;
use hairpin_exchange as exchange;
use hairpin_ilink3::*;
use hairpin_sbe::{Decimal, EncodeError};
use hairpin_time::{Duration, Instant, Now, Utc};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const UTC: u64 = 1_700_000_000_000_000_000;

#[derive(Default)]
struct Wire {
    bytes: Vec<u8>,
    claimed: Vec<u8>,
}

impl OutboundSink for Wire {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.claimed.resize(max, 0);
        Ok(&mut self.claimed)
    }

    fn commit(&mut self, length: usize, _: Option<u32>) -> Delivery {
        self.bytes.extend_from_slice(&self.claimed[..length]);
        Delivery::Written
    }
}

struct Quiet;
impl exchange::Listener for Quiet {}

#[derive(Default)]
struct Told {
    lines: Vec<String>,
    working: Vec<u64>,
}

impl Listener for Told {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.lines.push(state.to_string());
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.working.push(r.order_id());
        self.lines.push(format!("new {} {}", r.cl_ord_id(), r.price()));
    }
    fn on_execution_report_cancel(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.lines.push(format!("cancelled {}", r.cl_ord_id()));
    }
    fn on_execution_report_modify(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportModify531<'_>,
        _: &Message<'_>,
    ) {
        let (price, leaves) = (r.price(), r.leaves_qty());
        self.lines.push(format!("modified {} {price} leaves {leaves}", r.cl_ord_id()));
    }
    fn on_execution_report_trade_outright(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportTradeOutright525<'_>,
        _: &Message<'_>,
    ) {
        let (mut fills, mut scratch, mut filled) = (r.no_fills(), NoFills::SCRATCH, 0);
        while let Some(fill) = fills.next(&mut scratch) {
            filled += fill.fill_qty();
        }
        assert_eq!(filled, r.last_qty());
        let (id, traded, leaves) = (r.cl_ord_id(), r.last_qty(), r.leaves_qty());
        self.lines.push(format!("traded {id} {traded} leaves {leaves}"));
    }
    fn on_execution_report_elimination(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportElimination524<'_>,
        _: &Message<'_>,
    ) {
        self.lines.push(format!("eliminated {} after {}", r.cl_ord_id(), r.cum_qty()));
    }
    fn on_execution_report_reject(
        &mut self,
        _: &mut Sender<'_>,
        r: ExecutionReportReject523<'_>,
        _: &Message<'_>,
    ) {
        let reason = OrderRejectReason(r.ord_rej_reason());
        self.lines.push(format!("refused {}: {reason}", r.cl_ord_id()));
    }
    fn on_order_cancel_reject(
        &mut self,
        _: &mut Sender<'_>,
        r: OrderCancelReject535<'_>,
        _: &Message<'_>,
    ) {
        let reason = CancelRejectReason(r.cxl_rej_reason());
        self.lines.push(format!("cancel {} refused: {reason}", r.cl_ord_id()));
    }
    fn on_order_cancel_replace_reject(
        &mut self,
        _: &mut Sender<'_>,
        r: OrderCancelReplaceReject536<'_>,
        _: &Message<'_>,
    ) {
        let reason = ReplaceRejectReason(r.cxl_rej_reason());
        self.lines.push(format!("replacement {} refused: {reason}", r.cl_ord_id()));
    }
    fn on_business_reject(
        &mut self,
        _: &mut Sender<'_>,
        r: BusinessReject521<'_>,
        _: &Message<'_>,
    ) {
        let reason = BusinessRejectReason(r.business_reject_reason());
        self.lines.push(format!("business {:?}: {reason}", r.ref_seq_num()));
    }
    fn on_party_details_definition_ack(
        &mut self,
        _: &mut Sender<'_>,
        a: PartyDetailsDefinitionRequestAck519<'_>,
        _: &Message<'_>,
    ) {
        let (id, count) = (a.party_details_list_req_id(), a.no_party_details().len());
        self.lines.push(format!("parties {id}: {count}"));
    }
    fn on_party_details_list_report(
        &mut self,
        _: &mut Sender<'_>,
        r: PartyDetailsListReport538<'_>,
        _: &Message<'_>,
    ) {
        let (id, count) = (r.party_details_list_req_id(), r.no_party_details().len());
        self.lines.push(format!("listed {id}: {count}, result {}", r.request_result().0));
    }
    fn on_message(&mut self, _: &mut Sender<'_>, m: &Message<'_>) {
        self.lines.push(format!("message {}", m.header.template_id));
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, r: &Rejected<'_>) {
        self.lines.push(format!("rejected {}", r.code));
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, t: &Terminated<'_>) {
        self.lines.push(format!("terminated {} {}", t.code.0, t.answer));
    }
    fn on_not_applied(&mut self, _: &mut Sender<'_>, n: NotApplied) {
        self.lines.push(format!("{n:?}"));
    }
    fn on_gap(&mut self, _: &mut Sender<'_>, g: Gap) {
        self.lines.push(format!("{g:?}"));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, e: &Error) {
        self.lines.push(e.to_string());
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, w: &Warning) {
        self.lines.push(w.to_string());
    }
}

fn security_id() -> i32 {
    exchange::Instrument::numbered(2)[0].security_id
}

/// A limit order to buy; `price` in units of 10⁻⁹.
fn buy(id: u64, price: i64, quantity: u32) -> NewOrder {
    NewOrder::limit(security_id(), SideReq::BUY, Decimal(price), quantity, id.into())
}

/// Both sides and the path between them.
struct World {
    now: Now,
    session: Session,
    told: Told,
    wire: Wire,
    gateway: exchange::Gateway,
    floor: exchange::SimulatedMarket,
    id: Option<exchange::ConnectionId>,
    piece: usize,
}

impl World {
    fn new(key: &str, piece: usize) -> Self {
        Self::by(Operator::automated("TRADER", "US,IL"), key, piece)
    }

    fn by(operator: Operator, key: &str, piece: usize) -> Self {
        let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(UTC) };
        let settings = Settings {
            access_key_id: "ACCESS-KEY-ID-123456".into(),
            secret_key: SecretKey::from_base64url(key).unwrap(),
            session: "ABC".into(),
            firm: "DEFGH".into(),
            trading_system_name: "Test".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Test".into(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator,
        };
        let instruments = exchange::Instrument::numbered(2);
        let floor = exchange::SimulatedMarket::new(
            &exchange::SimulatedMarketSettings { instruments, ..Default::default() },
            now,
        );
        let credentials =
            exchange::Credentials::new("ACCESS-KEY-ID-123456", KEY, "ABC", "DEFGH").unwrap();
        Self {
            now,
            session: Session::new(settings, Progress::default()).unwrap(),
            told: Told::default(),
            wire: Wire::default(),
            gateway: exchange::Gateway::new(vec![credentials], 2, 32_768),
            floor,
            id: None,
            piece,
        }
    }

    fn run(&mut self) {
        loop {
            let mut busy = false;
            let mut buffer = [0; CONTROL_LENGTH];
            while let Some(length) = self.session.poll_transmit(self.now, &mut buffer) {
                self.wire.bytes.extend_from_slice(&buffer[..length]);
            }
            let out = std::mem::take(&mut self.wire.bytes);
            if let Some(id) = self.id {
                for piece in out.chunks(self.piece) {
                    busy = true;
                    self.gateway.handle_bytes(self.now, id, piece, &mut self.floor, &mut Quiet);
                }
            }
            while let Some(action) = self.session.poll_action() {
                busy = true;
                match action {
                    Action::Connect => {
                        self.id = self.gateway.handle_connected(self.now, &mut Quiet);
                        self.session.handle_connected(self.now, &mut self.wire, &mut self.told);
                    }
                    Action::Close => {
                        self.gateway.handle_closed(self.id.take().unwrap(), &mut Quiet);
                        self.session.handle_disconnected(self.now, &mut self.wire, &mut self.told);
                    }
                }
            }
            if let Some(id) = self.id {
                let back = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
                self.gateway.handle_sent(id, back.len());
                for piece in back.chunks(self.piece) {
                    busy = true;
                    self.session.handle_bytes(self.now, piece, &mut self.wire, &mut self.told);
                }
            }
            while let Some(exchange::Action::Close(_)) = self.gateway.poll_action(&mut Quiet) {
                busy = true;
                if self.id.take().is_some() {
                    self.session.handle_disconnected(self.now, &mut self.wire, &mut self.told);
                }
            }
            if !busy {
                return;
            }
        }
    }

    fn pass(&mut self, millis: u64) {
        let span = Duration::from_millis(millis);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        self.session.handle_timeout(self.now, &mut self.wire, &mut self.told);
        self.gateway.handle_timeout(self.now, &mut Quiet);
        self.run();
    }

    fn log_on(&mut self, binding: Binding) {
        self.session.connect(self.now, binding).unwrap();
        self.run();
    }

    fn send<M: Outgoing>(&mut self, message: &M) -> u32 {
        let sent = self.session.sender(self.now, &mut self.wire).send(message).unwrap();
        self.run();
        sent.seq_num
    }

    /// Sends `message` and returns what the client is told then.
    fn answer<M: Outgoing>(&mut self, message: &M) -> Vec<String> {
        self.send(message);
        self.told()
    }

    fn order(&mut self, id: u64, price: i64) {
        self.send(&buy(id, price, 1));
    }

    /// The exchange's id of the order that last began to work.
    fn working(&self) -> u64 {
        *self.told.working.last().unwrap()
    }

    /// Cancels the order that last began to work.
    fn cancel(&mut self, id: u64) {
        let order_id = self.working();
        self.send(&CancelOrder::new(order_id, security_id(), SideReq::BUY, id.into()));
    }

    fn lose_connection(&mut self) {
        self.gateway.handle_closed(self.id.take().unwrap(), &mut Quiet);
        self.session.handle_disconnected(self.now, &mut self.wire, &mut self.told);
        self.pass(1);
    }

    /// What the client was told since the last look.
    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told.lines)
    }
}

#[test]
fn two_readings_of_the_documents_agree() {
    const LOGON: [&str; 4] = ["connecting", "negotiating", "establishing", "established"];
    for piece in [1, 7, 100_000] {
        let mut world = World::new(KEY, piece);
        world.log_on(Binding::New);
        assert_eq!(world.told(), LOGON);
        world.order(5, 1_000_000_000);
        assert_eq!(world.told(), ["new 5 1"]);
        // Five quiet minutes: both sides keep alive, and neither asks for a sign of life.
        (0..3_000).for_each(|_| world.pass(100));
        assert!(world.told().is_empty());
        assert!(world.session.outbound_counters().sequences > 30);
        world.cancel(6);
        assert_eq!(world.told(), ["cancelled 6"]);
        world.order(7, 999_999_000_000_000);
        assert_eq!(world.told(), ["new 7 999999", "traded 7 1 leaves 0"]);

        world.lose_connection();
        assert_eq!(world.told(), ["connection lost while established", "disconnected"]);
        world.log_on(Binding::Resume);
        assert_eq!(world.told(), ["connecting", "establishing", "established"]);
        world.session.terminate(world.now);
        world.run();
        assert_eq!(world.told(), ["terminating", "terminated 0 true", "disconnected"]);

        world.pass(1);
        world.log_on(Binding::New);
        assert_eq!(world.told(), LOGON);
        world.gateway.terminate(world.now, world.id.unwrap(), &mut Quiet);
        world.run();
        assert_eq!(world.told(), ["terminating", "terminated 0 false", "disconnected"]);
        assert_eq!(world.session.inbound_counters().errors(), 1, "the lost connection");
    }
}

#[test]
fn a_wrong_key_is_refused() {
    let mut world = World::new("AAAA", 50);
    world.log_on(Binding::New);
    let told = world.told();
    assert_eq!(told[2], "rejected 0 (signature does not match)");
    assert_eq!(world.session.state(), State::Disconnected);
}

/// The price of the tests' orders that are not to trade.
const LOW: i64 = 1_000_000_000;
/// A price at which every order to buy trades.
const HIGH: i64 = 999_999_000_000_000;

fn established() -> World {
    let mut world = World::new(KEY, 100_000);
    world.log_on(Binding::New);
    world.told();
    world
}

#[test]
fn an_order_is_replaced_and_cancelled() {
    let mut world = established();
    assert_eq!(world.answer(&buy(1, LOW, 5)), ["new 1 1"]);
    let order_id = world.working();
    let replace = ReplaceOrder::with_terms_of(order_id, &buy(2, 2 * LOW, 7));
    assert_eq!(world.answer(&replace), ["modified 2 2 leaves 7"]);
    let replace = ReplaceOrder::with_terms_of(order_id, &buy(3, LOW, 6).good_till_cancel());
    assert_eq!(world.answer(&replace), ["modified 3 1 leaves 6"]);
    world.cancel(4);
    assert_eq!(world.told(), ["cancelled 4"]);
    let gone = world.answer(&replace);
    assert_eq!(gone, ["replacement 3 refused: 2045 (order is not on the book)"]);
}

#[test]
fn orders_trade_and_what_may_not_rest_is_eliminated() {
    let mut world = established();
    let id = security_id();
    assert_eq!(world.answer(&buy(1, LOW, 5).fill_and_kill()), ["new 1 1", "eliminated 1 after 0"]);
    assert_eq!(world.answer(&buy(2, LOW, 5).fill_or_kill()), ["new 2 1", "eliminated 2 after 0"]);
    for order in [
        NewOrder::market(id, SideReq::BUY, 1, 3.into()),
        NewOrder::market_limit(id, SideReq::BUY, 1, 3.into()),
        buy(3, HIGH, 1).fill_and_kill(),
        buy(3, HIGH, 1).fill_or_kill(),
    ] {
        let told = world.answer(&order);
        assert!(told[0].starts_with("new 3 "), "{told:?}");
        assert_eq!(told[1..], ["traded 3 1 leaves 0"]);
    }
}

#[test]
fn orders_wait_for_their_trigger_or_their_date() {
    let mut world = established();
    let stop = NewOrder::stop(security_id(), SideReq::BUY, Decimal(HIGH), 1, 1.into());
    assert_eq!(world.answer(&stop).len(), 1);
    world.cancel(2);
    assert_eq!(world.told(), ["cancelled 2"]);
    assert_eq!(world.answer(&buy(3, LOW, 5).good_till_date(20_000)), ["new 3 1"]);
    world.cancel(4);
    assert_eq!(world.told(), ["cancelled 4"]);
    // The trade triggers it: it is new once more, with the limit that its protection gives it.
    let stop = NewOrder::stop(security_id(), SideReq::BUY, Decimal(LOW), 1, 5.into());
    assert_eq!(world.answer(&stop).len(), 1);
    let told = world.answer(&buy(6, HIGH, 1).fill_and_kill());
    assert_eq!(told, ["new 6 999999", "traded 6 1 leaves 0", "new 5 7"]);
    world.cancel(7);
    assert_eq!(world.told(), ["cancelled 7"]);
}

#[test]
fn what_the_market_does_not_take_is_refused_with_a_known_reason() {
    let mut world = established();
    world.send(&buy(1, LOW, 5));
    world.told();
    let (order_id, security) = (world.working(), security_id());
    let order = buy(9, LOW, 1);
    let replace = ReplaceOrder::with_terms_of(order_id, &order);
    let refused = |line: &str, told: Vec<String>| assert_eq!(told, [line]);
    refused("refused 9: 1011 (a field is incorrect)", world.answer(&buy(9, LOW + 1, 1)));
    let quantity = "refused 9: 2115 (quantity is out of range)";
    refused(quantity, world.answer(&buy(9, LOW, 99_999)));
    let value = "business Some(4): 100 (value is out of range for its tag)";
    refused(value, world.answer(&buy(9, LOW, 100_000)));
    let unknown = NewOrder { security_id: 1, ..order };
    refused("refused 9: 2047 (instrument is unknown)", world.answer(&unknown));
    let qualifier = "refused 9: 1013 (order qualifier is invalid)";
    refused(qualifier, world.answer(&order.good_till_date(0)));
    refused("business Some(7): 0 (other reason)", world.answer(&order.with_display_quantity(1)));
    let stop = NewOrder::stop(security, SideReq::BUY, Decimal(LOW), 1, 9.into());
    refused(qualifier, world.answer(&stop.fill_and_kill()));

    let gone = "replacement 9 refused: 2045 (order is not on the book)";
    refused(gone, world.answer(&ReplaceOrder { order_id: 1, ..replace }));
    let side = "replacement 9 refused: 2051 (side differs from the order's)";
    refused(side, world.answer(&ReplaceOrder { side: SideReq::SELL, ..replace }));
    refused("modified 9 1 leaves 1", world.answer(&replace.mitigated()));
    let mitigation = "replacement 9 refused: 2101 \
                      (in-flight mitigation differs from the first replacement's)";
    refused(mitigation, world.answer(&replace));

    let gone = "cancel 9 refused: 2045 (order is not on the book)";
    refused(gone, world.answer(&CancelOrder::new(1, security, SideReq::BUY, 9.into())));
    let side = "cancel 9 refused: 2051 (side differs from the order's)";
    refused(side, world.answer(&CancelOrder::new(order_id, security, SideReq::SELL, 9.into())));
    assert_eq!(world.session.state(), State::Established);
}

/// An order that ends before its block does, and before its id: the gateway names none when it
/// refuses it, so that the session cannot tell which of its messages is meant.
struct Broken;

impl Outgoing for Broken {
    const MAX_LENGTH: usize = NewOrder::MAX_LENGTH;

    fn request_id(&self, _: u32) -> Option<u64> {
        Some(9)
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        buy(9, LOW, 1).encode(stamp, buffer)?;
        Ok(40)
    }
}

const NOT_DECODED: &str = "business None: 109 (message could not be decoded)";

#[test]
fn a_number_refused_without_an_id_is_settled_by_not_applied() {
    let mut world = established();
    assert_eq!(world.send(&Broken), 1);
    assert_eq!(world.told(), [NOT_DECODED]);
    assert_eq!(world.send(&buy(2, LOW, 1)), 2);
    assert_eq!(world.told(), ["NotApplied { from_seq_no: 1, count: 2 }"]);
    assert_eq!(world.send(&buy(3, LOW, 1)), 3);
    assert_eq!(world.told(), ["new 3 1"]);
}

#[test]
fn refused_numbers_with_others_in_flight_are_settled_by_not_applied() {
    let mut world = established();
    // All three leave before the gateway's answer to the first arrives.
    for refused in [true, false, false] {
        let mut sender = world.session.sender(world.now, &mut world.wire);
        let sent = match refused {
            true => sender.send(&Broken),
            false => sender.send(&buy(2, LOW, 1)),
        };
        sent.unwrap();
    }
    world.run();
    let not_applied = "NotApplied { from_seq_no: 1, count: 2 }";
    assert_eq!(world.told()[..2], [NOT_DECODED, not_applied]);
    assert_eq!(world.session.outbound_counters().taken_back, 0);
    assert_eq!(world.send(&buy(3, LOW, 1)), 4);
    assert_eq!(world.told(), ["new 3 1"]);
}

/// The number a line ends with.
fn leaves(line: &str) -> u32 {
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn what_has_traded_counts_towards_a_replacement_if_it_is_said_so() {
    const PRICE: i64 = 1_000_250_000_000;
    for mitigated in [false, true] {
        let mut world = established();
        // Takes all that is offered at this price and rests as the best bid with the remainder.
        let order = buy(1, PRICE, 4_000);
        let resting = leaves(world.answer(&order).last().unwrap());
        let order_id = world.working();
        let sell = NewOrder { side: SideReq::SELL, quantity: 2, cl_ord_id: 2.into(), ..order };
        let left = resting - 2;
        let traded = format!("traded 1 2 leaves {left}");
        assert_eq!(world.answer(&sell), ["new 2 1000.25", "traded 2 2 leaves 0", &traded]);
        let replace = ReplaceOrder::with_terms_of(order_id, &buy(3, PRICE, 4_000));
        let replace = if mitigated { replace.mitigated() } else { replace };
        let expected = if mitigated { left } else { 4_000 };
        assert_eq!(world.answer(&replace), [format!("modified 3 1000.25 leaves {expected}")]);
    }
}

/// Asks for party details by their number.
struct ListOf(u64);

impl Outgoing for ListOf {
    const MAX_LENGTH: usize = 200;

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = PartyDetailsListRequest537::encode(buffer)?;
        root.set_sending_time_epoch(stamp.sending_time.as_nanos());
        root.set_party_details_list_req_id(5);
        groups.no_requesting_party_i_ds()?;
        groups.no_party_i_ds()?.push()?.set_party_id(self.0);
        groups.finish()
    }
}

#[test]
fn party_details_are_registered_listed_and_sent_on_demand() {
    const UNKNOWN: &str = "1 (PartyDetailsListReqID is unknown)";
    let operator =
        Operator { party_details_list_req_id: 77, ..Operator::automated("TRADER", "US,IL") };
    for piece in [1, 100_000] {
        let mut world = World::by(operator, KEY, piece);
        world.log_on(Binding::New);
        world.told();
        assert_eq!(world.answer(&buy(1, LOW, 1)), [format!("business Some(1): {UNKNOWN}")]);
        let parties = [
            Party::new(PartyDetailRole::CUSTOMER_ACCOUNT, "ACCOUNT").unwrap(),
            Party::new(PartyDetailRole::OPERATOR, "TRADER").unwrap(),
        ];
        let details = PartyDetails::new(77, &parties);
        assert_eq!(world.answer(&details), ["parties 77: 2"]);
        assert_eq!(world.answer(&buy(2, LOW, 1)), ["new 2 1"]);
        assert_eq!(world.answer(&ListOf(77)), ["listed 77: 2, result 0"]);
        assert_eq!(world.answer(&ListOf(78))[0], format!("listed {}: 0, result 2", u64::MAX));
        let again = world.answer(&details);
        assert_eq!(again, ["business Some(6): 108 (PartyDetailsListReqID is a duplicate)"]);
        // On demand: for one order, by the number that stands for that.
        let mut sender = world.session.sender(world.now, &mut world.wire);
        sender.send_with_party(&PartyDetails::new(0, &parties[..1]), &buy(3, LOW, 1)).unwrap();
        world.run();
        assert_eq!(world.told(), ["new 3 1", "parties 4294967295: 1"]);
        assert_eq!(world.answer(&buy(4, LOW, 1)), ["new 4 1"]);
    }
}
