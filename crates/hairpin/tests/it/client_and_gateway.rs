//! The client session against the exchange's gateway: two implementations of CME's documents, in
//! virtual time, over a connection that splits the byte stream at arbitrary positions.

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

struct NoopListener;
impl exchange::Listener for NoopListener {}

#[derive(Default)]
struct EventLog {
    lines: Vec<String>,
    working: Vec<u64>,
}

impl Listener for EventLog {
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
        self.lines.push(format!("canceled {}", r.cl_ord_id()));
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
        self.lines.push(format!("terminated {} {}", t.code.0, t.solicited));
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

/// Returns a limit order to buy. `price` is in units of 10⁻⁹.
fn buy(id: u64, price: i64, quantity: u32) -> NewOrder {
    NewOrder::limit(security_id(), SideReq::BUY, Decimal(price), quantity, id.into())
}

/// The client, the gateway and the connection between them.
struct Pair {
    now: Now,
    session: Session,
    events: EventLog,
    wire: Wire,
    gateway: exchange::Gateway,
    floor: exchange::SimulatedMarket,
    id: Option<exchange::ConnectionId>,
    piece: usize,
}

impl Pair {
    fn new(key: &str, piece: usize) -> Self {
        Self::with_operator(Operator::automated("TRADER", "US,IL").unwrap(), key, piece)
    }

    fn with_operator(operator: Operator, key: &str, piece: usize) -> Self {
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
        let policy = SessionPolicy { on_demand_party_id: 0, ..SessionPolicy::default() };
        Self {
            now,
            session: Session::with_policy(settings, Progress::default(), policy).unwrap(),
            events: EventLog::default(),
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
                    self.gateway.handle_bytes(
                        self.now,
                        id,
                        piece,
                        &mut self.floor,
                        &mut NoopListener,
                    );
                }
            }
            while let Some(action) = self.session.poll_action() {
                busy = true;
                match action {
                    Action::Connect => {
                        self.id = self.gateway.handle_connected(self.now, &mut NoopListener);
                        self.session.handle_connected(self.now, &mut self.wire, &mut self.events);
                    }
                    Action::Close => {
                        self.gateway.handle_closed(self.id.take().unwrap(), &mut NoopListener);
                        self.session.handle_disconnected(
                            self.now,
                            &mut self.wire,
                            &mut self.events,
                        );
                    }
                }
            }
            if let Some(id) = self.id {
                let back = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
                self.gateway.handle_sent(id, back.len());
                for piece in back.chunks(self.piece) {
                    busy = true;
                    self.session.handle_bytes(self.now, piece, &mut self.wire, &mut self.events);
                }
            }
            while let Some(exchange::Action::Close(_)) = self.gateway.poll_action(&mut NoopListener)
            {
                busy = true;
                if self.id.take().is_some() {
                    self.session.handle_disconnected(self.now, &mut self.wire, &mut self.events);
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
        self.session.handle_timeout(self.now, &mut self.wire, &mut self.events);
        self.gateway.handle_timeout(self.now, &mut NoopListener);
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

    /// Sends `message` and returns the events that the client then receives.
    fn answer<M: Outgoing>(&mut self, message: &M) -> Vec<String> {
        self.send(message);
        self.take_events()
    }

    fn order(&mut self, id: u64, price: i64) {
        self.send(&buy(id, price, 1));
    }

    /// Returns the exchange's id of the latest working order.
    fn working(&self) -> u64 {
        *self.events.working.last().unwrap()
    }

    /// Cancels the latest working order.
    fn cancel(&mut self, id: u64) {
        let order_id = self.working();
        self.send(&CancelOrder::new(order_id, security_id(), SideReq::BUY, id.into()));
    }

    fn lose_connection(&mut self) {
        self.gateway.handle_closed(self.id.take().unwrap(), &mut NoopListener);
        self.session.handle_disconnected(self.now, &mut self.wire, &mut self.events);
        self.pass(1);
    }

    /// Returns the events since the last call.
    fn take_events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.events.lines)
    }
}

#[test]
fn client_and_gateway_agree_on_a_whole_session() {
    const LOGON: [&str; 4] = ["connecting", "negotiating", "establishing", "established"];
    for piece in [1, 7, 100_000] {
        let mut pair = Pair::new(KEY, piece);
        pair.log_on(Binding::New);
        assert_eq!(pair.take_events(), LOGON);
        pair.order(5, 1_000_000_000);
        assert_eq!(pair.take_events(), ["new 5 1"]);
        // Five idle minutes: both sides send heartbeats in time, and neither sends a request for
        // one.
        (0..3_000).for_each(|_| pair.pass(100));
        assert!(pair.take_events().is_empty());
        assert!(pair.session.outbound_counters().sequences > 30);
        pair.cancel(6);
        assert_eq!(pair.take_events(), ["canceled 6"]);
        pair.order(7, 999_999_000_000_000);
        assert_eq!(pair.take_events(), ["new 7 999999", "traded 7 1 leaves 0"]);

        pair.lose_connection();
        assert_eq!(pair.take_events(), ["connection lost while established", "disconnected"]);
        pair.log_on(Binding::Resume);
        assert_eq!(pair.take_events(), ["connecting", "establishing", "established"]);
        pair.session.terminate(pair.now);
        pair.run();
        assert_eq!(pair.take_events(), ["terminating", "terminated 0 true", "disconnected"]);

        pair.pass(1);
        pair.log_on(Binding::New);
        assert_eq!(pair.take_events(), LOGON);
        pair.gateway.terminate(pair.now, pair.id.unwrap(), &mut NoopListener);
        pair.run();
        assert_eq!(pair.take_events(), ["terminating", "terminated 0 false", "disconnected"]);
        assert_eq!(pair.session.inbound_counters().errors(), 1, "one error: the lost connection");
    }
}

#[test]
fn wrong_key_is_rejected() {
    let mut pair = Pair::new("AAAA", 50);
    pair.log_on(Binding::New);
    let events = pair.take_events();
    assert_eq!(events[2], "rejected 0 (signature does not match)");
    assert_eq!(pair.session.state(), State::Disconnected);
}

/// A price at which no order to buy trades.
const LOW: i64 = 1_000_000_000;
/// A price at which every order to buy trades.
const HIGH: i64 = 999_999_000_000_000;

fn established() -> Pair {
    let mut pair = Pair::new(KEY, 100_000);
    pair.log_on(Binding::New);
    pair.take_events();
    pair
}

#[test]
fn order_is_replaced_and_canceled() {
    let mut pair = established();
    assert_eq!(pair.answer(&buy(1, LOW, 5)), ["new 1 1"]);
    let order_id = pair.working();
    let replace = ReplaceOrder::from_order(order_id, &buy(2, 2 * LOW, 7));
    assert_eq!(pair.answer(&replace), ["modified 2 2 leaves 7"]);
    let replace = ReplaceOrder::from_order(order_id, &buy(3, LOW, 6).good_till_cancel());
    assert_eq!(pair.answer(&replace), ["modified 3 1 leaves 6"]);
    pair.cancel(4);
    assert_eq!(pair.take_events(), ["canceled 4"]);
    let canceled = pair.answer(&replace);
    assert_eq!(canceled, ["replacement 3 refused: 2045 (order is not on the book)"]);
}

#[test]
fn fill_and_kill_orders_trade_or_are_eliminated() {
    let mut pair = established();
    let id = security_id();
    assert_eq!(pair.answer(&buy(1, LOW, 5).fill_and_kill()), ["new 1 1", "eliminated 1 after 0"]);
    assert_eq!(pair.answer(&buy(2, LOW, 5).fill_or_kill()), ["new 2 1", "eliminated 2 after 0"]);
    for order in [
        NewOrder::market(id, SideReq::BUY, 1, 3.into()),
        NewOrder::market_limit(id, SideReq::BUY, 1, 3.into()),
        buy(3, HIGH, 1).fill_and_kill(),
        buy(3, HIGH, 1).fill_or_kill(),
    ] {
        let events = pair.answer(&order);
        assert!(events[0].starts_with("new 3 "), "{events:?}");
        assert_eq!(events[1..], ["traded 3 1 leaves 0"]);
    }
}

#[test]
fn stop_orders_and_good_till_date_orders_rest() {
    let mut pair = established();
    let stop = NewOrder::stop(security_id(), SideReq::BUY, Decimal(HIGH), 1, 1.into());
    assert_eq!(pair.answer(&stop).len(), 1);
    pair.cancel(2);
    assert_eq!(pair.take_events(), ["canceled 2"]);
    assert_eq!(pair.answer(&buy(3, LOW, 5).good_till_date(20_000)), ["new 3 1"]);
    pair.cancel(4);
    assert_eq!(pair.take_events(), ["canceled 4"]);
    // The trade triggers the stop order. It is reported as new again, with its protection limit.
    let stop = NewOrder::stop(security_id(), SideReq::BUY, Decimal(LOW), 1, 5.into());
    assert_eq!(pair.answer(&stop).len(), 1);
    let events = pair.answer(&buy(6, HIGH, 1).fill_and_kill());
    assert_eq!(events, ["new 6 999999", "traded 6 1 leaves 0", "new 5 7"]);
    pair.cancel(7);
    assert_eq!(pair.take_events(), ["canceled 7"]);
}

#[test]
fn invalid_orders_are_rejected_with_a_known_reason() {
    let mut pair = established();
    pair.send(&buy(1, LOW, 5));
    pair.take_events();
    let (order_id, security) = (pair.working(), security_id());
    let order = buy(9, LOW, 1);
    let replace = ReplaceOrder::from_order(order_id, &order);
    let refused = |line: &str, events: Vec<String>| assert_eq!(events, [line]);
    refused("refused 9: 1011 (a field is incorrect)", pair.answer(&buy(9, LOW + 1, 1)));
    let quantity = "refused 9: 2115 (quantity is out of range)";
    refused(quantity, pair.answer(&buy(9, LOW, 99_999)));
    let value = "business Some(4): 100 (value is out of range for its tag)";
    refused(value, pair.answer(&buy(9, LOW, 100_000)));
    let unknown = NewOrder { security_id: 1.into(), ..order };
    refused("refused 9: 2047 (instrument is unknown)", pair.answer(&unknown));
    let qualifier = "refused 9: 1013 (order qualifier is invalid)";
    refused(qualifier, pair.answer(&order.good_till_date(0)));
    let stop = NewOrder::stop(security, SideReq::BUY, Decimal(LOW), 1, 9.into());
    refused(qualifier, pair.answer(&stop.fill_and_kill()));

    let canceled = "replacement 9 refused: 2045 (order is not on the book)";
    refused(canceled, pair.answer(&ReplaceOrder { order_id: Some(1.into()), ..replace }));
    let side = "replacement 9 refused: 2051 (side differs from the order's)";
    refused(side, pair.answer(&ReplaceOrder { side: SideReq::SELL, ..replace }));
    let display = "replacement 9 refused: 5102 (an order cannot gain or lose its DisplayQty)";
    refused(display, pair.answer(&ReplaceOrder { display_quantity: Some(1), ..replace }));
    refused("modified 9 1 leaves 1", pair.answer(&replace.with_in_flight_mitigation()));
    let mitigation = "replacement 9 refused: 2101 \
                      (in-flight mitigation differs from the first replacement's)";
    refused(mitigation, pair.answer(&replace));

    let canceled = "cancel 9 refused: 2045 (order is not on the book)";
    refused(canceled, pair.answer(&CancelOrder::new(1, security, SideReq::BUY, 9.into())));
    let side = "cancel 9 refused: 2051 (side differs from the order's)";
    refused(side, pair.answer(&CancelOrder::new(order_id, security, SideReq::SELL, 9.into())));
    assert_eq!(pair.session.state(), State::Established);
}

/// An order that ends before its ClOrdID. The gateway rejects it without an id, so the session
/// cannot determine which of its messages was rejected.
struct TruncatedOrder;

impl Outgoing for TruncatedOrder {
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
fn reject_without_id_is_resolved_by_not_applied() {
    let mut pair = established();
    assert_eq!(pair.send(&TruncatedOrder), 1);
    assert_eq!(pair.take_events(), [NOT_DECODED]);
    assert_eq!(pair.send(&buy(2, LOW, 1)), 2);
    assert_eq!(pair.take_events(), ["NotApplied { from_seq_no: 1, count: 2 }"]);
    assert_eq!(pair.send(&buy(3, LOW, 1)), 3);
    assert_eq!(pair.take_events(), ["new 3 1"]);
}

#[test]
fn rejects_with_messages_in_flight_yield_not_applied() {
    let mut pair = established();
    // All three are sent before the answer to the first arrives.
    for refused in [true, false, false] {
        let mut sender = pair.session.sender(pair.now, &mut pair.wire);
        let sent = match refused {
            true => sender.send(&TruncatedOrder),
            false => sender.send(&buy(2, LOW, 1)),
        };
        sent.unwrap();
    }
    pair.run();
    let not_applied = "NotApplied { from_seq_no: 1, count: 2 }";
    assert_eq!(pair.take_events()[..2], [NOT_DECODED, not_applied]);
    assert_eq!(pair.session.outbound_counters().taken_back, 0);
    assert_eq!(pair.send(&buy(3, LOW, 1)), 4);
    assert_eq!(pair.take_events(), ["new 3 1"]);
}

/// Returns the number at the end of a line.
fn leaves(line: &str) -> u32 {
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn replacement_counts_fills_if_requested() {
    const PRICE: i64 = 1_000_250_000_000;
    for mitigated in [false, true] {
        let mut pair = established();
        // Buys the whole quantity offered at this price. The remainder rests as the best bid.
        let order = buy(1, PRICE, 4_000);
        let resting = leaves(pair.answer(&order).last().unwrap());
        let order_id = pair.working();
        let sell = NewOrder { side: SideReq::SELL, quantity: 2, cl_ord_id: 2.into(), ..order };
        let left = resting - 2;
        let traded = format!("traded 1 2 leaves {left}");
        assert_eq!(pair.answer(&sell), ["new 2 1000.25", "traded 2 2 leaves 0", &traded]);
        let replace = ReplaceOrder::from_order(order_id, &buy(3, PRICE, 4_000));
        let replace = if mitigated { replace.with_in_flight_mitigation() } else { replace };
        let expected = if mitigated { left } else { 4_000 };
        assert_eq!(pair.answer(&replace), [format!("modified 3 1000.25 leaves {expected}")]);
    }
}

/// A request for party details by their number.
struct PartyListRequest(u64);

impl Outgoing for PartyListRequest {
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
fn party_details_are_registered_listed_and_sent() {
    const UNKNOWN: &str = "1 (PartyDetailsListReqID is unknown)";
    let operator = Operator {
        party_details_list_req_id: 77,
        ..Operator::automated("TRADER", "US,IL").unwrap()
    };
    for piece in [1, 100_000] {
        let mut pair = Pair::with_operator(operator, KEY, piece);
        pair.log_on(Binding::New);
        pair.take_events();
        assert_eq!(pair.answer(&buy(1, LOW, 1)), [format!("business Some(1): {UNKNOWN}")]);
        let parties = [
            Party::new(PartyDetailRole::CUSTOMER_ACCOUNT, "ACCOUNT").unwrap(),
            Party::new(PartyDetailRole::OPERATOR, "TRADER").unwrap(),
        ];
        let details = PartyDetails::new(77, &parties);
        assert_eq!(pair.answer(&details), ["parties 77: 2"]);
        assert_eq!(pair.answer(&buy(2, LOW, 1)), ["new 2 1"]);
        assert_eq!(pair.answer(&PartyListRequest(77)), ["listed 77: 2, result 0"]);
        assert_eq!(
            pair.answer(&PartyListRequest(78))[0],
            format!("listed {}: 0, result 2", u64::MAX)
        );
        let again = pair.answer(&details);
        assert_eq!(again, ["business Some(6): 108 (PartyDetailsListReqID is a duplicate)"]);
        // Sends party details for one order, with the list request id reserved for this.
        let mut sender = pair.session.sender(pair.now, &mut pair.wire);
        sender.send_with_party(&PartyDetails::new(0, &parties[..1]), &buy(3, LOW, 1)).unwrap();
        pair.run();
        assert_eq!(pair.take_events(), ["parties 0: 1", "new 3 1"]);
        assert_eq!(pair.answer(&buy(4, LOW, 1)), ["new 4 1"]);
    }
}
