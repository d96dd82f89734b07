//! The gateway driven by a scripted client, in bytes and in fake time.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod client;

use client::{ACCESS_KEY, KEY, Reply};
use client::{
    cancel, credentials, establish, establish_with, frame, negotiate, negotiate_by, order,
    order_with, replies, retransmit_request, sequence, terminate,
};
use hairpin_cme_codecs::ilink3::{
    BusinessReject521, EstablishmentAck504, EstablishmentReject505, ExecInst,
    ExecutionReportCancel534, ExecutionReportNew522, ExecutionReportTradeOutright525,
    KeepAliveLapsed, NegotiationReject502, NegotiationResponse501, NotApplied513,
    OrderCancelReject535, OrderTypeReq, RetransmitReject510, Sequence506, SideReq, Terminate507,
    TimeInForce,
};
use hairpin_exchange::{
    Action, BusinessReason, ConnectionId, Credentials, Floor, FloorSettings, Gateway,
    GatewayCounters, Instrument, Listener, OrderId, Rejected, SessionState, Side,
};
use hairpin_sbe::Decimal;
use hairpin_time::{Duration, Instant, Now, Utc};
use proptest::prelude::*;

const START: u64 = 1_700_000_000_000_000_000;
const UUID: u64 = 1_700_000_000_000_000;
const CAPACITY: u32 = 32_768;

/// What the listener was told, in words.
#[derive(Debug, Default)]
struct Notes(Vec<String>);

impl Listener for Notes {
    fn on_session(&mut self, connection: ConnectionId, state: SessionState) {
        self.0.push(format!("{}:{state:?}", connection.0));
    }
    fn on_order(&mut self, cl_ord_id: &[u8]) {
        self.0.push(format!("order {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_acknowledged(&mut self, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(format!("acknowledged {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_cancel(&mut self, cl_ord_id: &[u8]) {
        self.0.push(format!("cancel {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_cancelled(&mut self, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(format!("cancelled {}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_fill(&mut self, cl_ord_id: &[u8], _: OrderId, quantity: u32) {
        self.0.push(format!("fill {} {quantity}", String::from_utf8_lossy(cl_ord_id)));
    }
    fn on_rejected(&mut self, rejected: Rejected<'_>) {
        self.0.push(match rejected {
            Rejected::Business { reason, tag, .. } => format!("rejected {reason:?} {tag:?}"),
            Rejected::Cancel { cl_ord_id } => {
                format!("cancel rejected {}", String::from_utf8_lossy(cl_ord_id))
            }
        });
    }
}

struct Bench {
    now: Now,
    floor: Floor,
    gateway: Gateway,
    notes: Notes,
}

impl Bench {
    fn new() -> Self {
        let other = Credentials::new("OTHERKEY", KEY, "XYZ", "DEFGH").unwrap();
        let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(START) };
        let instruments = Instrument::numbered(2);
        let floor = Floor::new(&FloorSettings { instruments, ..FloorSettings::default() }, now);
        let gateway = Gateway::new(vec![credentials(), other], 2, CAPACITY);
        Self { now, floor, gateway, notes: Notes::default() }
    }

    /// A bench with an established session on the returned connection.
    fn established() -> (Self, ConnectionId) {
        let mut bench = Self::new();
        let id = bench.connect();
        bench.log_on(id);
        (bench, id)
    }

    fn log_on(&mut self, id: ConnectionId) {
        let timestamp = self.timestamp();
        assert_eq!(self.send(id, &negotiate(UUID, timestamp))[0].template(), 501);
        let timestamp = self.timestamp();
        assert_eq!(self.send(id, &establish(UUID, timestamp, 1))[0].template(), 504);
        self.notes.0.clear();
    }

    fn connect(&mut self) -> ConnectionId {
        self.gateway.handle_connected(self.now, &mut self.notes).unwrap()
    }

    fn pass(&mut self, span: Duration) {
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
    }

    /// The time, a microsecond later than before, as logons need it.
    fn timestamp(&mut self) -> u64 {
        self.pass(Duration::from_micros(1));
        self.now.utc.as_nanos()
    }

    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> Vec<Reply> {
        self.gateway.handle_bytes(self.now, id, bytes, &mut self.floor, &mut self.notes);
        self.read(id)
    }

    fn read(&mut self, id: ConnectionId) -> Vec<Reply> {
        let bytes = self.gateway.poll_transmit(id).unwrap_or_default().to_vec();
        self.gateway.handle_sent(id, bytes.len());
        replies(&bytes)
    }

    fn send_one(&mut self, id: ConnectionId, bytes: &[u8]) -> Reply {
        let replies = self.send(id, bytes);
        assert_eq!(replies.len(), 1, "{replies:?}");
        replies.into_iter().next().unwrap()
    }

    fn timeout(&mut self, id: ConnectionId) -> Vec<Reply> {
        self.gateway.handle_timeout(self.now, &mut self.notes);
        self.read(id)
    }

    /// The session ends with this Terminate, and the connection behind it.
    #[track_caller]
    fn expect_terminate(&mut self, id: ConnectionId, replies: &[Reply], code: u16) {
        let last = replies.last().expect("a Terminate");
        assert_eq!(last.template(), 507, "{last:?}");
        assert_eq!(decode!(Terminate507, last).error_codes(), code);
        let action = self.gateway.poll_action(&mut self.notes);
        assert_eq!(action, Some(Action::Close(id)));
        assert_eq!(self.gateway.state(id), SessionState::Closed);
    }

    /// A price far below the market: five ticks under the tenth level.
    fn far(&self) -> i64 {
        let tenth = self.floor.publisher().published(0).sides[0].levels()[9].price;
        tenth.0 - 5 * 250_000_000
    }

    fn counters(&self) -> GatewayCounters {
        *self.gateway.counters()
    }
}

#[test]
fn a_session_from_negotiate_to_terminate() {
    let mut bench = Bench::new();
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &negotiate(UUID, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.uuid(), response.request_timestamp()), (UUID, timestamp));
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (0, 0));

    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.uuid(), ack.request_timestamp()), (UUID, timestamp));
    assert_eq!((ack.next_seq_no(), ack.keep_alive_interval()), (1, 10_000));

    let price = bench.far();
    let reply = bench.send_one(id, &order(1, price));
    let report = decode!(ExecutionReportNew522, reply);
    assert_eq!((report.seq_num(), report.uuid()), (1, UUID));
    assert_eq!(report.cl_ord_id(), "1");
    assert_eq!(report.sender_id(), "TRADER");
    assert_eq!((report.price(), report.order_qty()), (Decimal(price), 1));
    assert_eq!((report.security_id(), report.side()), (1_001, SideReq::BUY));
    assert_eq!((report.order_request_id(), report.party_details_list_req_id()), (7_001, 1));
    assert_eq!(report.transact_time(), bench.now.utc.as_nanos());
    let order_id = report.order_id();

    let reply = bench.send_one(id, &cancel(2, order_id));
    let report = decode!(ExecutionReportCancel534, reply);
    assert_eq!((report.seq_num(), report.uuid()), (2, UUID));
    assert_eq!(report.order_id(), order_id);
    assert_eq!(report.cl_ord_id(), "2");
    assert_eq!((report.order_qty(), report.cum_qty()), (1, 0));
    assert_eq!((report.price(), report.side()), (Decimal(price), SideReq::BUY));

    let reply = bench.send_one(id, &terminate(UUID, 77, 0));
    let answer = decode!(Terminate507, reply);
    assert_eq!((answer.request_timestamp(), answer.uuid()), (77, UUID));
    bench.expect_terminate(id, &[reply], 0);
    assert_eq!(
        bench.notes.0,
        [
            "0:Connected",
            "0:Negotiated",
            "0:Established",
            "order 1",
            "acknowledged 1",
            "cancel 2",
            "cancelled 2",
            "0:Terminating",
            "0:Closed",
        ]
    );
    let expected = GatewayCounters {
        connections: 1,
        frames: 5,
        negotiated: 1,
        established: 1,
        orders: 1,
        acknowledgements: 1,
        cancels: 1,
        cancelled: 1,
        ..GatewayCounters::default()
    };
    assert_eq!(bench.counters(), expected);
}

#[test]
fn frames_split_and_joined_anywhere_are_the_same() {
    let mut whole = Bench::new();
    let price = whole.far();
    let stamps = [whole.timestamp(), whole.timestamp()];
    let bytes = [
        negotiate(UUID, stamps[0]),
        establish(UUID, stamps[1], 1),
        order(1, price),
        cancel(2, 1),
        sequence(UUID, 3, KeepAliveLapsed::LAPSED),
    ]
    .concat();
    let id = whole.connect();
    let expected = whole.send(id, &bytes);
    assert_eq!(expected.len(), 5);
    for cut in 0..bytes.len() {
        let mut bench = Bench::new();
        bench.pass(Duration::from_micros(2));
        let id = bench.connect();
        let mut received = bench.send(id, &bytes[..cut]);
        received.extend(bench.send(id, &bytes[cut..]));
        assert_eq!(received, expected, "cut at {cut}");
    }
}

#[test]
fn rejects_logons_with_cmes_codes() {
    let stale = Duration::from_secs(5).as_nanos() + 1;
    let mut forged = negotiate(UUID, START);
    forged[12 + 5] ^= 1;
    let mut unsigned = negotiate(UUID, START);
    unsigned[12..12 + 32].fill(0);
    for (what, request, code) in [
        ("a forged signature", forged, 0),
        ("an unknown key", negotiate_by(UUID, START, "NOBODY", "ABC"), 0),
        ("no signature", unsigned, 4),
        ("no key", negotiate_by(UUID, START, "", "ABC"), 5),
        ("no session", negotiate_by(UUID, START, ACCESS_KEY, ""), 6),
        ("another's session", negotiate_by(UUID, START, ACCESS_KEY, "XYZ"), 10),
        ("another's key", negotiate_by(UUID, START, "OTHERKEY", "ABC"), 10),
        ("a stale timestamp", negotiate(UUID, START - stale), 3),
        ("a timestamp to come", negotiate(UUID, START + stale), 3),
        ("no timestamp", negotiate(UUID, u64::MAX), 9),
    ] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let reply = bench.send_one(id, &request);
        let reject = decode!(NegotiationReject502, reply);
        assert_eq!((reject.error_codes(), reject.uuid()), (code, UUID), "{what}");
        assert_eq!(bench.gateway.state(id), SessionState::Connected, "{what}");
        assert_eq!(bench.counters().logon_rejects, 1, "{what}");
        // The session is none the worse for it.
        bench.log_on(id);
    }
}

#[test]
fn rejects_establish_with_cmes_codes() {
    let names = ("A", "B", "C");
    for (what, keep_alive, names, code) in [
        ("too short an interval", 4_999, names, 11),
        ("too long an interval", 60_001, names, 11),
        ("no name", 10_000, ("", "B", "C"), 18),
        ("no version", 10_000, ("A", "", "C"), 19),
        ("no vendor", 10_000, ("A", "B", ""), 20),
    ] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let timestamp = bench.timestamp();
        bench.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = bench.timestamp();
        let request = establish_with(UUID, timestamp, 1, keep_alive, names);
        let reply = bench.send_one(id, &request);
        let reject = decode!(EstablishmentReject505, reply);
        assert_eq!((reject.error_codes(), reject.next_seq_no()), (code, 1), "{what}");
        assert_eq!(bench.gateway.state(id), SessionState::Negotiated, "{what}");
    }
    for keep_alive in [5_000, 60_000] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let timestamp = bench.timestamp();
        bench.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = bench.timestamp();
        let request = establish_with(UUID, timestamp, 1, keep_alive, names);
        assert_eq!(bench.send_one(id, &request).template(), 504);
    }
}

#[test]
fn a_timestamp_is_good_once() {
    let mut bench = Bench::new();
    let id = bench.connect();
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(id, &negotiate(UUID, timestamp)).template(), 501);
    let reply = bench.send_one(id, &establish(UUID, timestamp, 1));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 3);
}

#[test]
fn terminates_with_cmes_codes_before_establish() {
    let price = 0;
    for (what, messages, code) in [
        ("an order before Negotiate", vec![order(1, price)], 2),
        ("a Sequence before Negotiate", vec![sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)], 2),
        ("Establish before any Negotiate", vec![establish(UUID, START, 1)], 2),
        ("an order before Establish", vec![negotiate(UUID, START), order(1, price)], 3),
        ("Negotiate twice", vec![negotiate(UUID, START), negotiate(UUID + 1, START + 1)], 4),
        ("a UUID beyond CME's", vec![negotiate(u64::MAX - 1, START)], 13),
        ("no UUID", vec![negotiate(u64::MAX, START)], 15),
        ("another UUID", vec![negotiate(UUID, START), establish(UUID + 1, START + 1, 1)], 13),
        ("NextSeqNo not 1", vec![negotiate(UUID, START), establish(UUID, START + 1, 2)], 10),
        ("NextSeqNo 0", vec![negotiate(UUID, START), establish(UUID, START + 1, 0)], 10),
    ] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let mut last = Vec::new();
        for message in &messages {
            last = bench.send(id, message);
        }
        bench.expect_terminate(id, &last, code);
        assert_eq!(bench.counters().terminates, 1, "{what}");
    }
}

#[test]
fn terminates_with_cmes_codes_when_established() {
    let now = START + 2_000;
    let price = 0;
    for (what, message, code) in [
        ("Negotiate again", negotiate(UUID + 1, now), 4),
        ("Establish again", establish(UUID, now, 1), 6),
        ("a low number", order(0, price), 11),
        ("a number out of range", order(1_000_000_000, price), 11),
        ("Sequence of another UUID", sequence(UUID + 1, 1, KeepAliveLapsed::NOT_LAPSED), 13),
        ("Sequence too low", sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED), 10),
        ("Terminate with an error", terminate(UUID, now, 5), 23),
        ("Terminate of another UUID", terminate(UUID + 1, now, 0), 13),
        ("RetransmitRequest of another UUID", retransmit_request(UUID + 1, now), 13),
        ("an impossible length", vec![3, 0, 0xFE, 0xCA], 18),
        ("another encoding", vec![26, 0, 0xCA, 0xFE], 18),
        ("an unknown template", frame(&[0, 0, 1, 0, 8, 0, 9, 0]), 19),
        ("a message of the gateway's", frame(&[14, 0, 0xF5, 1, 8, 0, 9, 0]), 19),
        ("another schema", frame(&[14, 0, 0xFA, 1, 1, 0, 9, 0]), 19),
        ("a short Sequence", frame(&[14, 0, 0xFA, 1, 8, 0, 9, 0, 1, 2, 3]), 19),
    ] {
        let (mut bench, id) = Bench::established();
        let replies = bench.send(id, &message);
        bench.expect_terminate(id, &replies, code);
        let counters = bench.counters();
        assert_eq!(counters.terminates, 1, "{what}");
        assert_eq!(counters.bad_frames, u64::from(code == 18), "{what}");
        assert_eq!(counters.undecodable, u64::from(code == 19), "{what}");
    }
}

#[test]
fn nothing_is_handled_behind_a_terminate() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let bytes = [terminate(UUID, 1, 0), order(1, price)].concat();
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 0);
    assert_eq!(bench.counters().orders, 0);
}

#[test]
fn keeps_a_quiet_session_alive_by_sequence() {
    let (mut bench, id) = Bench::established();
    for _ in 0..5 {
        bench.pass(Duration::from_secs(5));
        // The client has spoken, the gateway has not.
        assert_eq!(bench.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)), []);
        assert_eq!(bench.timeout(id), []);
        let due = bench.now.monotonic + Duration::from_secs(5);
        assert_eq!(bench.gateway.poll_timeout(), Some(due));
        bench.pass(Duration::from_secs(5));
        let replies = bench.timeout(id);
        let message = decode!(Sequence506, replies[0]);
        assert_eq!((replies.len(), message.uuid(), message.next_seq_no()), (1, UUID, 1));
        assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);
    }
    assert_eq!(bench.counters().lapses, 0);
}

#[test]
fn warns_a_silent_client_and_terminates_it_after_another_interval() {
    let (mut bench, id) = Bench::established();
    bench.pass(Duration::from_secs(10));
    let replies = bench.timeout(id);
    assert_eq!(replies.len(), 1);
    let message = decode!(Sequence506, replies[0]);
    assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::LAPSED);
    bench.pass(Duration::from_nanos(9_999_999_999));
    assert_eq!(bench.timeout(id), []);
    bench.pass(Duration::from_nanos(1));
    let replies = bench.timeout(id);
    bench.expect_terminate(id, &replies, 20);
    assert_eq!((bench.counters().lapses, bench.counters().terminates), (1, 1));
}

#[test]
fn a_client_that_answers_the_warning_stays() {
    let (mut bench, id) = Bench::established();
    for _ in 0..3 {
        bench.pass(Duration::from_secs(10));
        assert_eq!(bench.timeout(id).len(), 1);
        bench.pass(Duration::from_secs(9));
        bench.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    }
    assert_eq!(bench.gateway.state(id), SessionState::Established);
}

#[test]
fn answers_a_lapse() {
    let (mut bench, id) = Bench::established();
    let reply = bench.send_one(id, &sequence(UUID, 1, KeepAliveLapsed::LAPSED));
    let message = decode!(Sequence506, reply);
    assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);
}

#[test]
fn a_logon_must_come_within_a_minute() {
    let mut bench = Bench::new();
    let id = bench.connect();
    bench.pass(Duration::from_secs(59));
    let timestamp = bench.timestamp();
    assert_eq!(bench.timeout(id), []);
    bench.send_one(id, &negotiate(UUID, timestamp));
    bench.pass(Duration::from_secs(59));
    assert_eq!(bench.timeout(id), []);
    bench.pass(Duration::from_secs(1));
    let replies = bench.timeout(id);
    bench.expect_terminate(id, &replies, 1);
}

#[test]
fn ends_a_session_from_this_side() {
    let (mut bench, id) = Bench::established();
    bench.gateway.terminate(bench.now, id, &mut bench.notes);
    let replies = bench.read(id);
    assert_eq!(decode!(Terminate507, replies[0]).error_codes(), 0);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), None);
    // What was under way is not answered any more.
    let price = bench.far();
    assert_eq!(bench.send(id, &order(1, price)), []);
    assert_eq!(bench.send(id, &terminate(UUID, 1, 0)), []);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), Some(Action::Close(id)));

    let (mut bench, id) = Bench::established();
    bench.gateway.terminate(bench.now, id, &mut bench.notes);
    bench.read(id);
    bench.pass(Duration::from_secs(10));
    assert_eq!(bench.timeout(id), []);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), Some(Action::Close(id)));
}

/// CME's four examples of NotApplied.
#[test]
fn counts_what_is_not_applied_through_the_new_message() {
    let not_applied = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.uuid(), message.from_seq_no(), message.msg_count())
    };
    let price = 0;
    // Establish 100 is reached by a Sequence, then a terminate and a new logon.
    let up_to_100 = |bench: &mut Bench, id| {
        assert_eq!(bench.send(id, &sequence(UUID, 100, KeepAliveLapsed::NOT_LAPSED)), []);
    };
    let again = |bench: &mut Bench, id, next| {
        bench.send(id, &terminate(UUID, 1, 0));
        assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
        let id = bench.connect();
        let timestamp = bench.timestamp();
        (id, bench.send(id, &establish(UUID, timestamp, next)))
    };

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    bench.send_one(id, &order(100, price));
    assert_eq!(not_applied(&bench.send_one(id, &order(110, price))), (UUID, 101, 10));

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    assert_eq!(not_applied(&bench.send_one(id, &order(110, price))), (UUID, 100, 11));

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    bench.send_one(id, &order(100, price));
    let (_, replies) = again(&mut bench, id, 110);
    assert_eq!((replies[0].template(), not_applied(&replies[1])), (504, (UUID, 101, 10)));

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    let (id, _) = again(&mut bench, id, 100);
    let (_, replies) = again(&mut bench, id, 110);
    assert_eq!((replies[0].template(), not_applied(&replies[1])), (504, (UUID, 100, 11)));
}

#[test]
fn a_gap_is_filled_or_replayed_and_each_number_told_once() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let told = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.from_seq_no(), message.msg_count())
    };
    assert_eq!(bench.send_one(id, &order(1, price)).template(), 522);
    assert_eq!(told(&bench.send_one(id, &order(4, price))), (2, 3));
    assert_eq!(told(&bench.send_one(id, &order(5, price))), (5, 1));
    // A replay from the first missing number on.
    for number in 2..=5 {
        assert_eq!(bench.send_one(id, &order(number, price)).template(), 522);
    }
    // A gap once more, filled this time.
    assert_eq!(told(&bench.send_one(id, &order(9, price))), (6, 4));
    assert_eq!(bench.send(id, &sequence(UUID, 10, KeepAliveLapsed::NOT_LAPSED)), []);
    assert_eq!(bench.send_one(id, &order(10, price)).template(), 522);
    // A replay that leaves something out is told so again.
    assert_eq!(told(&bench.send_one(id, &order(14, price))), (11, 4));
    assert_eq!(bench.send_one(id, &order(11, price)).template(), 522);
    assert_eq!(told(&bench.send_one(id, &order(13, price))), (12, 2));
    let counters = bench.counters();
    assert_eq!((counters.not_applied, counters.gap_fills), (5, 1));
    assert_eq!(counters.orders, counters.acknowledgements);
}

#[test]
fn refuses_orders_that_are_not_limit_orders_for_the_day() {
    use BusinessReason::{
        EnumNotSupported, IncorrectDataFormat, Other, RequiredFieldMissing, UnknownSecurity,
        ValueOutOfRange,
    };
    type Change = fn(&mut hairpin_cme_codecs::ilink3::NewOrderSingle514Encoder<'_>);
    let cases: [(Change, BusinessReason, u16); 18] = [
        (
            |o| {
                o.set_security_id(5);
            },
            UnknownSecurity,
            48,
        ),
        (
            |o| {
                o.set_price(None);
            },
            RequiredFieldMissing,
            44,
        ),
        (
            |o| {
                o.set_price(Decimal(1));
            },
            ValueOutOfRange,
            44,
        ),
        (
            |o| {
                o.set_order_qty(0);
            },
            ValueOutOfRange,
            38,
        ),
        (
            |o| {
                o.set_order_qty(u32::MAX);
            },
            ValueOutOfRange,
            38,
        ),
        (
            |o| {
                o.set_sender_id("");
            },
            RequiredFieldMissing,
            5392,
        ),
        (
            |o| {
                o.set_cl_ord_id("");
            },
            RequiredFieldMissing,
            11,
        ),
        (
            |o| {
                o.set_location("");
            },
            RequiredFieldMissing,
            9537,
        ),
        (
            |o| {
                o.set_cl_ord_id(b"\x07");
            },
            IncorrectDataFormat,
            11,
        ),
        (
            |o| {
                o.set_side(SideReq(0));
            },
            EnumNotSupported,
            54,
        ),
        (
            |o| {
                o.set_ord_type(OrderTypeReq::STOP_LIMIT);
            },
            EnumNotSupported,
            40,
        ),
        (
            |o| {
                o.set_time_in_force(TimeInForce::FILL_AND_KILL);
            },
            EnumNotSupported,
            59,
        ),
        (
            |o| {
                o.set_stop_px(Decimal(1));
            },
            Other,
            99,
        ),
        (
            |o| {
                o.set_min_qty(1);
            },
            Other,
            110,
        ),
        (
            |o| {
                o.set_display_qty(1);
            },
            Other,
            1138,
        ),
        (
            |o| {
                o.set_exec_inst(ExecInst::AON);
            },
            Other,
            18,
        ),
        (
            |o| {
                o.set_party_details_list_req_id(2);
            },
            BusinessReason::UnknownPartyDetailsListReqId,
            1505,
        ),
        (
            |o| {
                o.set_party_details_list_req_id(u64::MAX);
            },
            BusinessReason::UnknownPartyDetailsListReqId,
            1505,
        ),
    ];
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let resting = bench.floor.matching().resting();
    for (number, (change, reason, tag)) in (1..).zip(cases) {
        let reply = bench.send_one(id, &order_with(number, price, change));
        let reject = decode!(BusinessReject521, reply);
        assert_eq!(reject.business_reject_reason(), reason.code(), "order {number}");
        assert_eq!((reject.ref_tag_id(), reject.ref_seq_num()), (Some(tag), Some(number)));
        assert_eq!((reject.seq_num(), reject.uuid()), (number, UUID));
        assert_eq!(reject.ref_msg_type(), "D");
        assert_eq!(reject.business_reject_ref_id(), Some(u64::from(number) + 7_000));
        let note = bench.notes.0.pop().unwrap();
        assert_eq!(note, format!("rejected {reason:?} Some({tag})"));
    }
    assert_eq!(bench.floor.matching().resting(), resting);
    let counters = bench.counters();
    assert_eq!((counters.orders, counters.business_rejects), (18, 18));
    assert_eq!(counters.acknowledgements, 0);
}

#[test]
fn a_null_time_in_force_means_day() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let request = order_with(1, price, |order| {
        order.set_time_in_force(None);
    });
    let reply = bench.send_one(id, &request);
    assert_eq!(decode!(ExecutionReportNew522, reply).time_in_force(), Some(TimeInForce::DAY));
}

#[test]
fn refuses_messages_it_does_not_do_and_messages_it_cannot_read() {
    let (mut bench, id) = Bench::established();
    // OrderStatusRequest533 and PartyDetailsListRequest537, whose SeqNum stands elsewhere.
    for (number, template, length, offset, message_type) in
        [(1_u32, 533_u16, 62_usize, 17_usize, "H"), (2, 537, 20, 16, "CF")]
    {
        let mut message = vec![0; 8 + length];
        message[..2].copy_from_slice(&(length as u16).to_le_bytes());
        message[2..4].copy_from_slice(&template.to_le_bytes());
        message[4] = 8;
        message[6] = 9;
        message[8 + offset..][..4].copy_from_slice(&number.to_le_bytes());
        let reply = bench.send_one(id, &frame(&message));
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (3, Some(number)));
        assert_eq!(reject.ref_msg_type(), message_type);
    }
    // A NewOrderSingle that is cut short does not use up a number.
    let price = bench.far();
    let cut = order(3, price)[4..60].to_vec();
    let reply = bench.send_one(id, &frame(&cut));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (109, None));
    assert_eq!(bench.send_one(id, &order(3, price)).template(), 522);
}

#[test]
fn refuses_to_cancel_what_is_not_there_or_another_sessions() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let reply = bench.send_one(id, &cancel(1, 123_456));
    let reject = decode!(OrderCancelReject535, reply);
    assert_eq!((reject.cxl_rej_reason(), reject.order_id()), (1, 123_456));
    assert_eq!(reject.seq_num(), 1);
    assert_eq!(reject.cl_ord_id(), "1");

    let reply = bench.send_one(id, &cancel(2, None));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (5, Some(37)));

    // An order of the house.
    let house = bench.floor.matching().orders_at_best(0, Side::Bid).next().unwrap().id;
    let resting = bench.floor.matching().resting();
    assert_eq!(bench.send_one(id, &cancel(3, house.0)).template(), 535);
    assert_eq!(bench.floor.matching().resting(), resting);

    // Twice the same.
    let reply = bench.send_one(id, &order(4, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    assert_eq!(bench.send_one(id, &cancel(5, order_id)).template(), 534);
    assert_eq!(bench.send_one(id, &cancel(6, order_id)).template(), 535);
    let counters = bench.counters();
    assert_eq!((counters.cancels, counters.cancelled, counters.cancel_rejects), (5, 1, 3));
}

#[test]
fn reports_trades_of_an_aggressor_and_of_a_resting_order() {
    let (mut bench, id) = Bench::established();
    let offer = bench.floor.matching().best(0, Side::Offer).unwrap();
    // Takes the whole best offer and rests one contract there.
    let quantity = offer.quantity + 1;
    let request = order_with(1, offer.price.0, |order| {
        order.set_order_qty(quantity);
    });
    let replies = bench.send(id, &request);
    let report = decode!(ExecutionReportNew522, replies[0]);
    let order_id = report.order_id();
    assert_eq!(replies.len(), 2);
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.seq_num(), trade.order_id()), (2, order_id));
    assert_eq!(trade.cl_ord_id(), "1");
    assert_eq!((trade.last_px(), trade.last_qty()), (offer.price, offer.quantity));
    assert_eq!((trade.cum_qty(), trade.leaves_qty()), (offer.quantity, 1));
    assert_eq!((trade.ord_status().0, trade.aggressor_indicator().0), (1, 1));
    // Now it is the best bid, and the order flow takes it sooner or later.
    bench.notes.0.clear();
    let mut steps = 0;
    while bench.floor.matching().order(OrderId(order_id)).is_some() {
        bench.floor.step(bench.now).unwrap();
        let now = bench.now;
        bench.gateway.handle_fills(now, &mut bench.floor, &mut bench.notes);
        steps += 1;
        assert!(steps < 10_000);
        // The publisher's packets are of no interest here.
        while bench.floor.publisher().has_event() {
            bench.floor.publisher_mut().poll_transmit(now, &mut [0; 1_420]);
        }
    }
    let replies = bench.read(id);
    let trade = decode!(ExecutionReportTradeOutright525, replies[0]);
    assert_eq!((trade.seq_num(), trade.last_qty(), trade.leaves_qty()), (3, 1, 0));
    assert_eq!((trade.ord_status().0, trade.aggressor_indicator().0), (2, 0));
    assert_eq!(bench.notes.0, ["fill 1 1"]);
    assert_eq!(bench.counters().fills, 2);
}

#[test]
fn counts_trades_of_a_session_that_has_left() {
    let (mut bench, id) = Bench::established();
    let bid = bench.floor.matching().best(0, Side::Bid).unwrap();
    bench.send_one(id, &order(1, bid.price.0 + 250_000_000));
    bench.gateway.handle_closed(id, &mut bench.notes);
    for _ in 0..1_000 {
        bench.floor.step(bench.now).unwrap();
        bench.gateway.handle_fills(bench.now, &mut bench.floor, &mut bench.notes);
        while bench.floor.publisher().has_event() {
            bench.floor.publisher_mut().poll_transmit(bench.now, &mut [0; 1_420]);
        }
    }
    assert_eq!((bench.counters().fills, bench.counters().unreported_fills), (0, 1));
}

#[test]
fn continues_after_a_lost_connection_and_restarts_under_a_new_uuid() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let reply = bench.send_one(id, &order(1, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    bench.gateway.handle_closed(id, &mut bench.notes);

    // The same UUID: Establish alone, and the numbers go on.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID, timestamp, 2));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (2, 1, UUID));
    let reply = bench.send_one(id, &cancel(2, order_id));
    assert_eq!(decode!(ExecutionReportCancel534, reply).seq_num(), 2);
    bench.send(id, &terminate(UUID, 1, 0));
    bench.gateway.poll_action(&mut bench.notes);

    // A number that was used before.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &establish(UUID, timestamp, 2));
    bench.expect_terminate(id, &replies, 10);

    // A UUID that is not greater, then one that is.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &negotiate(UUID, timestamp));
    bench.expect_terminate(id, &replies, 13);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &negotiate(UUID + 1, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (2, UUID));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID + 1, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (1, 2, UUID));
    let reply = bench.send_one(id, &order(1, price));
    let report = decode!(ExecutionReportNew522, reply);
    assert_eq!((report.seq_num(), report.uuid()), (1, UUID + 1));
}

#[test]
fn a_session_that_logs_on_again_displaces_its_old_connection() {
    let (mut bench, old) = Bench::established();
    let new = bench.connect();
    assert!(bench.gateway.handle_connected(bench.now, &mut bench.notes).is_none());
    assert_eq!(bench.counters().refused_connections, 1);
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(new, &establish(UUID, timestamp, 1)).template(), 504);
    let replies = bench.read(old);
    bench.expect_terminate(old, &replies, 23);
    let price = bench.far();
    assert_eq!(bench.send_one(new, &order(1, price)).template(), 522);
}

#[test]
fn two_sessions_have_their_own_numbers_and_orders() {
    let (mut bench, one) = Bench::established();
    let two = bench.connect();
    // The other account has the same key bytes here, and another session name.
    let timestamp = bench.timestamp();
    let reply = bench.send_one(two, &negotiate_by(UUID + 9, timestamp, "OTHERKEY", "XYZ"));
    assert_eq!(reply.template(), 501);
    assert_eq!(bench.gateway.state(one), SessionState::Established);
    assert_eq!(bench.gateway.state(two), SessionState::Negotiated);
}

#[test]
fn says_that_nothing_can_be_retransmitted() {
    let (mut bench, id) = Bench::established();
    let reply = bench.send_one(id, &retransmit_request(UUID, 55));
    let reject = decode!(RetransmitReject510, reply);
    assert_eq!((reject.uuid(), reject.request_timestamp(), reject.error_codes()), (UUID, 55, 0));
    assert_eq!(bench.counters().retransmit_rejects, 1);
}

#[test]
fn a_client_that_does_not_read_is_made_to_wait_and_loses_nothing() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let mut sent = 0_u32;
    let mut turns = 0;
    let mut pairs = Vec::new();
    while bench.gateway.can_receive(id) {
        pairs.clear();
        for _ in 0..50 {
            sent += 1;
            pairs.extend(order(sent, price));
        }
        let (now, floor) = (bench.now, &mut bench.floor);
        bench.gateway.handle_bytes(now, id, &pairs, floor, &mut bench.notes);
        turns += 1;
        assert!(turns < 1_000, "it takes everything");
    }
    let mut received = 0;
    while received < sent {
        let replies = bench.send(id, &[]);
        assert!(!replies.is_empty());
        for reply in replies {
            received += 1;
            assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), received);
        }
    }
    assert!(bench.gateway.can_receive(id));
    assert_eq!(bench.counters().acknowledgements, u64::from(sent));
}

/// Frames that a client could send, to be bent.
fn valid_frames() -> Vec<Vec<u8>> {
    vec![
        negotiate(UUID, START + 5),
        establish(UUID, START + 6, 1),
        sequence(UUID, 1, KeepAliveLapsed::LAPSED),
        order(1, 980_000_000_000),
        order(2, 1_050_000_000_000),
        cancel(3, 1),
        retransmit_request(UUID, 1),
        terminate(UUID, 1, 0),
    ]
}

fn bent_bytes() -> impl Strategy<Value = Vec<u8>> {
    let frames = valid_frames();
    let bent = (0..frames.len(), any::<prop::sample::Index>(), any::<u8>(), 0_u8..6).prop_map(
        move |(which, place, value, kind)| {
            let mut bytes = frames[which].clone();
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = value,
                1 => bytes.truncate(place),
                2 => bytes.insert(place, value),
                3 => bytes.extend(vec![value; place]),
                4 => {
                    // A block that is said to be shorter, in a frame that fits it.
                    let shorter = u16::try_from(place).unwrap_or(0);
                    bytes[4..6].copy_from_slice(&shorter.to_le_bytes());
                }
                _ => {}
            }
            bytes
        },
    );
    prop_oneof![4 => bent, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn any_bytes_are_counted_and_never_panic(
        is_established: bool,
        chunks in prop::collection::vec(bent_bytes(), 1..12),
        pause in 0_u64..8_000,
    ) {
        let (mut bench, id) = if is_established {
            Bench::established()
        } else {
            let mut bench = Bench::new();
            let id = bench.connect();
            (bench, id)
        };
        for chunk in &chunks {
            let before = bench.counters();
            if bench.gateway.can_receive(id) {
                bench.send(id, chunk);
            }
            bench.pass(Duration::from_millis(pause));
            bench.timeout(id);
            let after = bench.counters();
            // Whatever ended a session is counted.
            prop_assert!(after.frames + after.bad_frames >= before.frames + before.bad_frames);
            let failed = after.terminates > before.terminates;
            while let Some(action) = bench.gateway.poll_action(&mut bench.notes) {
                prop_assert_eq!(action, Action::Close(id));
                prop_assert_eq!(bench.gateway.state(id), SessionState::Closed);
            }
            prop_assert!(!failed || bench.gateway.state(id) == SessionState::Closed);
            let answered =
                after.acknowledgements + after.business_rejects;
            prop_assert!(answered >= after.orders);
        }
    }
}
