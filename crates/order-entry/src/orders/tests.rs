//! Tests of each rule of the tracker, message by message.

use super::*;
use hairpin_cme_codecs::ilink3::*;
use hairpin_ilink3::{CancelOrder, MassCancel, NewOrder, ReplaceOrder};
use hairpin_sbe::{Decimal, MessageHeader};

const UUID: u64 = 70;

/// A tracker with the sequence numbers of both streams.
struct TrackerHarness {
    orders: Orders,
    uuid: u64,
    sent: u32,
    received: u32,
}

impl TrackerHarness {
    fn new() -> Self {
        Self { orders: Orders::new(4), uuid: UUID, sent: 0, received: 0 }
    }

    fn send<M: OrderRequest>(&mut self, message: &M) -> u32 {
        self.sent += 1;
        self.orders.handle_sent(self.uuid, self.sent, message);
        self.sent
    }

    /// Sends an order with this id; returns its SeqNum.
    fn order(&mut self, id: u64) -> u32 {
        self.send(&buy(id))
    }

    /// Sends an order and delivers its acceptance with this OrderID.
    fn working(&mut self, order_id: u64) -> u64 {
        let seq_num = self.order(order_id);
        self.receive(new(order_id, order_id, seq_num));
        order_id
    }

    fn receive(&mut self, message: Vec<u8>) {
        self.received += 1;
        self.deliver(&message, self.received, false);
    }

    fn deliver(&mut self, message: &[u8], seq_num: u32, redelivered: bool) {
        let (header, body) = MessageHeader::decode(message).unwrap();
        let (uuid, possible_retransmission) = (self.uuid, redelivered);
        self.orders.handle_message(&Message {
            header,
            body,
            seq_num,
            uuid,
            possible_retransmission,
            redelivered,
        });
    }

    /// Returns id, state, filled and open quantity of each order, by id.
    fn book(&self) -> Vec<(u64, OrderState, u32, u32)> {
        let row = |it: &Order| (it.cl_ord_id.number().unwrap(), it.state, it.filled, it.leaves);
        let mut book: Vec<_> = self.orders.iter().map(row).collect();
        book.sort_unstable_by_key(|row| row.0);
        book
    }

    fn in_flight(&self) -> Vec<u32> {
        self.orders.in_flight().map(|it| it.seq_num).collect()
    }
}

fn buy(id: u64) -> NewOrder {
    NewOrder::limit(1, SideReq::BUY, Decimal(5), 10, id.into())
}

/// Encodes a report with the fields that identify its order.
macro_rules! report {
    ($name:ident, $order_id:expr, $id:expr, $request:expr, $($set:ident $value:expr),*) => {{
        let mut buffer = vec![0; 1_000];
        $name::encode(&mut buffer).unwrap()
            .set_order_id($order_id)
            .set_cl_ord_id(ClOrdId::from($id).0)
            .set_order_request_id(u64::from($request))
            $(.$set($value))*;
        buffer.truncate($name::ENCODED_LENGTH);
        buffer
    }};
}

fn new(order_id: u64, id: u64, request: u32) -> Vec<u8> {
    let side = SideReq::BUY;
    report!(ExecutionReportNew522, order_id, id, request, set_order_qty 10, set_side side,
        set_price Decimal(5))
}

fn rejected(id: u64, request: u32) -> Vec<u8> {
    report!(ExecutionReportReject523, 0, id, request, set_ord_rej_reason 1)
}

fn modified(order_id: u64, id: u64, request: u32, leaves: u32) -> Vec<u8> {
    report!(ExecutionReportModify531, order_id, id, request, set_order_qty leaves,
        set_leaves_qty leaves, set_price Decimal(6))
}

fn canceled(order_id: u64, id: u64, request: u32) -> Vec<u8> {
    report!(ExecutionReportCancel534, order_id, id, request, set_order_qty 10)
}

fn eliminated(order_id: u64) -> Vec<u8> {
    report!(ExecutionReportElimination524, order_id, order_id, 1_u32, set_order_qty 10)
}

fn cancel_rejected(order_id: u64, id: u64, request: u32) -> Vec<u8> {
    report!(OrderCancelReject535, order_id, id, request, set_cxl_rej_reason 1)
}

fn replace_rejected(order_id: u64, id: u64, request: u32) -> Vec<u8> {
    report!(OrderCancelReplaceReject536, order_id, id, request, set_cxl_rej_reason 1)
}

fn status(order_id: u64, status: OrderStatus, leaves: u32) -> Vec<u8> {
    report!(ExecutionReportStatus532, order_id, order_id, 1_u32, set_ord_status status,
        set_leaves_qty leaves, set_cum_qty 10 - leaves)
}

fn pending_cancel(order_id: u64) -> Vec<u8> {
    report!(ExecutionReportPendingCancel564, order_id, order_id, 1_u32, set_order_qty 10)
}

fn pending_replace(order_id: u64) -> Vec<u8> {
    report!(ExecutionReportPendingReplace565, order_id, order_id, 1_u32, set_order_qty 10)
}

fn traded(order_id: u64, filled: u32, leaves: u32) -> Vec<u8> {
    let mut buffer = vec![0; 1_000];
    let (mut root, groups) = ExecutionReportTradeOutright525::encode(&mut buffer).unwrap();
    root.set_order_id(order_id)
        .set_cl_ord_id(ClOrdId::from(order_id).0)
        .set_order_qty(10)
        .set_cum_qty(filled)
        .set_leaves_qty(leaves);
    let length = groups.finish().unwrap();
    buffer.truncate(length);
    buffer
}

fn traded_spread(order_id: u64, filled: u32, leaves: u32) -> Vec<u8> {
    let mut buffer = vec![0; 1_000];
    let (mut root, groups) = ExecutionReportTradeSpread526::encode(&mut buffer).unwrap();
    root.set_order_id(order_id)
        .set_cl_ord_id(ClOrdId::from(order_id).0)
        .set_order_qty(10)
        .set_cum_qty(filled)
        .set_leaves_qty(leaves);
    let length = groups.finish().unwrap();
    buffer.truncate(length);
    buffer
}

fn mass_canceled(request: u32, orders: &[u64], is_last: bool) -> Vec<u8> {
    mass_action(request, MassActionResponse::ACCEPTED, orders, is_last)
}

fn mass_action(
    request: u32,
    response: MassActionResponse,
    orders: &[u64],
    is_last: bool,
) -> Vec<u8> {
    let mut buffer = vec![0; 2_000];
    let (mut root, mut groups) = OrderMassActionReport562::encode(&mut buffer).unwrap();
    root.set_order_request_id(request.into())
        .set_mass_action_response(response)
        .set_last_fragment(BooleanFlag(is_last.into()));
    let mut group = groups.no_affected_orders().unwrap();
    orders.iter().for_each(|&order| {
        group.push().unwrap().set_affected_order_id(order);
    });
    let length = groups.finish().unwrap();
    buffer.truncate(length);
    buffer
}

fn business_reject(number: Option<u32>, request: Option<u64>) -> Vec<u8> {
    let mut buffer = vec![0; 1_000];
    BusinessReject521::encode(&mut buffer)
        .unwrap()
        .set_uuid(UUID)
        .set_ref_seq_num(number)
        .set_business_reject_ref_id(request);
    buffer.truncate(BusinessReject521::ENCODED_LENGTH);
    buffer
}

use OrderState::{Pending, PendingCancel, PendingReplace, Working};

#[test]
fn order_is_pending_until_it_is_accepted() {
    let mut harness = TrackerHarness::new();
    let seq_num = harness.order(5);
    assert_eq!(harness.book(), [(5, Pending, 0, 10)]);
    assert_eq!(harness.orders.working().count(), 0);
    assert_eq!(harness.in_flight(), [1]);
    harness.receive(new(900, 5, seq_num));
    assert_eq!(harness.book(), [(5, Working, 0, 10)]);
    assert_eq!(harness.orders.by_order_id(900), harness.orders.by_cl_ord_id(5.into()));
    assert_eq!(harness.orders.by_order_id(900).unwrap().price, Some(Decimal(5)));
    assert!(harness.in_flight().is_empty());
    assert_eq!(
        (harness.orders.by_order_id(901), harness.orders.by_cl_ord_id(6.into())),
        (None, None)
    );
}

#[test]
fn rejected_order_is_removed() {
    let mut harness = TrackerHarness::new();
    let first = harness.order(5);
    harness.order(6);
    harness.receive(rejected(5, first));
    assert_eq!(harness.book(), [(6, Pending, 0, 10)]);
    assert_eq!(harness.in_flight(), [2]);
}

#[test]
fn answer_must_match_id_and_request_id() {
    let mut harness = TrackerHarness::new();
    harness.order(5);
    harness.receive(rejected(5, 2));
    harness.receive(rejected(6, 1));
    assert_eq!(harness.in_flight(), [1]);
}

#[test]
fn trade_sets_filled_and_open_quantity() {
    let mut harness = TrackerHarness::new();
    for (id, traded) in [(1, traded as fn(u64, u32, u32) -> Vec<u8>), (2, traded_spread)] {
        harness.working(id);
        harness.receive(traded(id, 4, 6));
        assert_eq!(harness.book(), [(id, Working, 4, 6)]);
        harness.receive(traded(id, 10, 0));
        assert_eq!(harness.book(), []);
    }
    assert_eq!(harness.orders.counters().unknown, 0);
}

#[test]
fn stop_trigger_keeps_open_quantity() {
    let mut harness = TrackerHarness::new();
    harness.working(1);
    harness.receive(modified(1, 1, 9, 3));
    harness.receive(new(1, 1, 1));
    assert_eq!(harness.book(), [(1, Working, 0, 3)]);
}

#[test]
fn replaced_order_has_the_id_of_its_replacement() {
    let mut harness = TrackerHarness::new();
    harness.working(1);
    let seq_num = harness.send(&ReplaceOrder::from_order(1, &buy(7)));
    assert_eq!(harness.book(), [(1, Working, 0, 10)]);
    harness.receive(modified(1, 7, seq_num, 3));
    assert_eq!(harness.book(), [(7, Working, 0, 3)]);
    let order = *harness.orders.by_cl_ord_id(7.into()).unwrap();
    assert_eq!((order.order_id, order.price), (Some(OrderId(1)), Some(Decimal(6))));
    assert_eq!(harness.orders.by_cl_ord_id(1.into()), None);
    assert!(harness.in_flight().is_empty());
}

#[test]
fn rejected_replacement_changes_nothing() {
    let mut harness = TrackerHarness::new();
    harness.working(1);
    let seq_num = harness.send(&ReplaceOrder::from_order(1, &buy(7)));
    harness.receive(pending_replace(1));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(1, PendingReplace, 0, 10)], vec![2]));
    harness.receive(replace_rejected(1, 7, seq_num));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(1, Working, 0, 10)], vec![]));
}

#[test]
fn pending_order_is_canceled_by_its_cl_ord_id() {
    let mut harness = TrackerHarness::new();
    let order = buy(5);
    let entered = harness.send(&order);
    let cancel = CancelOrder::by_cl_ord_id(order.cl_ord_id, order.security_id, order.side);
    let seq_num = harness.send(&cancel);
    assert_eq!(harness.in_flight(), [entered, seq_num]);
    harness.receive(new(9, 5, entered));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(5, Working, 0, 10)], vec![seq_num]));
    harness.receive(canceled(9, 5, seq_num));
    assert_eq!((harness.book(), harness.in_flight()), (vec![], vec![]));
}

#[test]
fn canceled_order_is_removed() {
    let mut harness = TrackerHarness::new();
    (1..5).for_each(|id| assert_eq!(harness.working(id), id));
    let seq_num = harness.send(&CancelOrder::new(1, 1, SideReq::BUY, 8.into()));
    harness.receive(pending_cancel(1));
    assert_eq!(harness.book()[0], (1, PendingCancel, 0, 10));
    harness.receive(traded(1, 2, 8));
    assert_eq!(harness.book()[0], (1, PendingCancel, 2, 8), "a trade does not end the delay");
    harness.receive(canceled(1, 8, seq_num));
    // Unsolicited reports.
    harness.receive(canceled(2, 2, 2));
    harness.receive(eliminated(3));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(4, Working, 0, 10)], vec![]));
    // A cancel may also answer a replacement.
    let seq_num = harness.send(&ReplaceOrder::from_order(4, &buy(9)));
    harness.receive(canceled(4, 9, seq_num));
    assert_eq!((harness.book(), harness.in_flight()), (vec![], vec![]));
}

#[test]
fn rejected_cancel_keeps_the_order() {
    let mut harness = TrackerHarness::new();
    harness.working(1);
    let seq_num = harness.send(&CancelOrder::new(1, 1, SideReq::BUY, 8.into()));
    harness.receive(pending_cancel(1));
    harness.receive(cancel_rejected(1, 8, seq_num));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(1, Working, 0, 10)], vec![]));
}

#[test]
fn status_report_sets_state_and_quantities() {
    let mut harness = TrackerHarness::new();
    harness.receive(status(3, OrderStatus::PARTIALLY_FILLED, 4));
    assert_eq!(harness.book(), [(3, Working, 6, 4)]);
    assert_eq!(harness.orders.counters().adopted, 1);
    for (code, state) in [
        (OrderStatus::PENDING_CANCEL, PendingCancel),
        (OrderStatus::PENDING_REPLACE, PendingReplace),
        (OrderStatus::NEW, Working),
        (OrderStatus::REPLACED, Working),
    ] {
        harness.receive(status(3, code, 2));
        assert_eq!(harness.book(), [(3, state, 8, 2)]);
    }
    for code in [OrderStatus::FILLED, OrderStatus::CANCELLED, OrderStatus::UNDEFINED] {
        harness.receive(status(3, OrderStatus::NEW, 2));
        harness.receive(status(3, code, 2));
        assert_eq!(harness.book(), []);
    }
}

#[test]
fn mass_action_removes_the_orders_in_its_reports() {
    let mut harness = TrackerHarness::new();
    (1..4).for_each(|id| assert_eq!(harness.working(id), id));
    let seq_num = harness.send(&MassCancel::all());
    harness.receive(mass_canceled(seq_num, &[1], false));
    assert_eq!((harness.book().len(), harness.in_flight()), (2, vec![4]));
    harness.receive(mass_canceled(seq_num, &[3], true));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(2, Working, 0, 10)], vec![]));
}

#[test]
fn rejected_mass_action_removes_nothing() {
    let mut harness = TrackerHarness::new();
    assert_eq!(harness.working(1), 1);
    let seq_num = harness.send(&MassCancel::all());
    harness.receive(mass_action(seq_num, MassActionResponse::REJECTED, &[1], true));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(1, Working, 0, 10)], vec![]));
}

#[test]
fn business_reject_drops_a_request_by_number_or_id() {
    let mut harness = TrackerHarness::new();
    (1..4).for_each(|id| assert_eq!(harness.order(id), id as u32));
    harness.receive(business_reject(Some(2), None));
    assert_eq!(harness.in_flight(), [1, 3]);
    harness.receive(business_reject(None, Some(3)));
    harness.receive(business_reject(None, None));
    assert_eq!((harness.book(), harness.in_flight()), (vec![(1, Pending, 0, 10)], vec![1]));
}

#[test]
fn anonymous_reject_makes_requests_uncertain() {
    let mut harness = TrackerHarness::new();
    (1..4).for_each(|id| assert_eq!(harness.order(id), id as u32));
    harness.receive(business_reject(None, None));
    harness.receive(new(1, 1, 1));
    assert_eq!(harness.in_flight(), [2, 3]);
    harness.receive(new(3, 3, 3));
    assert_eq!(harness.in_flight(), []);
    assert_eq!(harness.book(), [(1, Working, 0, 10), (3, Working, 0, 10)]);
}

#[test]
fn logon_makes_earlier_requests_uncertain() {
    let mut harness = TrackerHarness::new();
    (1..5).for_each(|id| assert_eq!(harness.order(id), id as u32));
    harness.orders.handle_established(UUID);
    // NotApplied after the logon still takes effect at once.
    let not_applied = NotApplied { from_seq_no: 2, count: 1 };
    harness.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(harness.in_flight(), [1, 3, 4]);
    harness.receive(new(1, 1, 1));
    let seq_num = harness.order(5);
    harness.receive(new(4, 4, 4));
    assert_eq!(harness.in_flight(), [5]);
    harness.receive(new(5, 5, seq_num));
    assert_eq!(harness.book().iter().map(|row| row.0).collect::<Vec<_>>(), [1, 4, 5]);
}

#[test]
fn reused_sequence_number_drops_the_first_request() {
    let mut harness = TrackerHarness::new();
    harness.order(1);
    harness.sent = 0;
    harness.order(2);
    assert_eq!((harness.book(), harness.in_flight()), (vec![(2, Pending, 0, 10)], vec![1]));
}

#[test]
fn not_applied_requests_are_dropped_unless_resent() {
    let mut harness = TrackerHarness::new();
    (1..5).for_each(|id| assert_eq!(harness.order(id), id as u32));
    let not_applied = NotApplied { from_seq_no: 2, count: 2 };
    harness.orders.handle_not_applied(UUID + 1, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(harness.in_flight(), [1, 2, 3, 4]);
    harness.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(harness.in_flight(), [1, 4]);
    assert_eq!(harness.book(), [(1, Pending, 0, 10), (4, Pending, 0, 10)]);
    assert_eq!(harness.orders.counters().not_applied, 2);
}

#[test]
fn resent_request_is_dropped_when_a_later_one_is_answered() {
    let mut harness = TrackerHarness::new();
    (1..5).for_each(|id| assert_eq!(harness.order(id), id as u32));
    let not_applied = NotApplied { from_seq_no: 2, count: 1 };
    harness.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::Replay);
    let not_applied = NotApplied { from_seq_no: 3, count: 2 };
    harness.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(harness.in_flight(), [1, 2, 3, 4]);
    harness.receive(new(1, 1, 1));
    assert_eq!(harness.in_flight(), [2, 3, 4]);
    harness.receive(new(3, 3, 3));
    assert_eq!(harness.in_flight(), [4]);
    assert_eq!(harness.book().iter().map(|row| row.0).collect::<Vec<_>>(), [1, 3, 4]);
}

#[test]
fn message_of_a_later_session_drops_earlier_requests() {
    let mut harness = TrackerHarness::new();
    (1..3).for_each(|id| assert_eq!(harness.order(id), id as u32));
    (harness.uuid, harness.sent) = (UUID + 1, 0);
    let seq_num = harness.order(3);
    // Missed messages of the earlier session are delivered first.
    harness.uuid = UUID;
    harness.receive(new(2, 2, 2));
    assert_eq!(harness.in_flight(), [1, 1]);
    (harness.uuid, harness.received) = (UUID + 1, 0);
    harness.receive(new(3, 3, seq_num));
    assert_eq!(harness.book(), [(2, Working, 0, 10), (3, Working, 0, 10)]);
}

#[test]
fn redelivered_message_is_applied_once() {
    let mut harness = TrackerHarness::new();
    harness.working(1);
    let (report, cancel) = (new(1, 1, 1), canceled(1, 1, 1));
    harness.receive(cancel.clone());
    harness.deliver(&report, 1, true);
    harness.deliver(&cancel, 2, true);
    assert_eq!(harness.book(), []);
    assert_eq!(harness.orders.counters().repeated, 2);
    // The earlier process had not applied this message.
    harness.deliver(&new(2, 2, 2), 3, true);
    assert_eq!(harness.book(), [(2, Working, 0, 10)]);
    // UUID 0 restarts its numbers each week; a message that is not redelivered is new.
    harness.uuid = 0;
    harness.deliver(&canceled(2, 2, 2), 9, false);
    harness.deliver(&new(3, 3, 3), 1, false);
    assert_eq!(harness.book(), [(3, Working, 0, 10)]);
}

#[test]
fn last_sessions_are_remembered() {
    let mut harness = TrackerHarness::new();
    for uuid in 1..=5 {
        harness.uuid = uuid;
        harness.deliver(&new(1, 1, 1), 1, false);
    }
    for (uuid, repeated) in [(5, 1), (4, 2), (3, 3), (2, 3)] {
        harness.uuid = uuid;
        harness.deliver(&new(1, 1, 1), 1, true);
        assert_eq!(harness.orders.counters().repeated, repeated);
    }
}

#[test]
fn forget_removes_the_requests_of_the_order() {
    let mut harness = TrackerHarness::new();
    harness.working(1);
    harness.send(&CancelOrder::new(1, 1, SideReq::BUY, 8.into()));
    assert_eq!(harness.orders.forget(1).unwrap().leaves, 10);
    assert_eq!((harness.orders.forget(1), harness.in_flight()), (None, vec![]));
}

/// Returns the nonzero counters of warnings and errors.
fn warnings(orders: &Orders) -> Vec<(&'static str, u64)> {
    let ordinary = ["requests", "applied", "repeated", "adopted", "not_applied"];
    let counters = orders.counters().iter();
    counters.filter(|(name, value)| *value > 0 && !ordinary.contains(name)).collect()
}

#[test]
fn counts_untracked_orders_only() {
    let mut harness = TrackerHarness::new();
    (1..5).for_each(|id| assert_eq!(harness.working(id), id));
    assert_eq!(warnings(&harness.orders), []);
    harness.receive(new(5, 5, 99));
    assert_eq!(warnings(&harness.orders), [("untracked_orders", 1)]);
    assert_eq!(harness.book().len(), 4);
}

#[test]
fn untracked_order_is_tracked_when_accepted_with_room() {
    let mut harness = TrackerHarness::new();
    (1..5).for_each(|id| assert_eq!(harness.working(id), id));
    let seq_num = harness.order(5);
    harness.receive(eliminated(1));
    harness.receive(new(5, 5, seq_num));
    assert_eq!(harness.book().len(), 4);
    assert!(harness.in_flight().is_empty());
}

#[test]
fn counts_untracked_requests_only() {
    let mut harness = TrackerHarness::new();
    (1..6).for_each(|id| assert_eq!(harness.order(id), id as u32));
    assert_eq!(warnings(&harness.orders), [("untracked_requests", 1)]);
}

#[test]
fn counts_unknown_only() {
    let mut harness = TrackerHarness::new();
    for report in [rejected(1, 1), eliminated(1), canceled(1, 1, 1), traded(1, 10, 0)] {
        harness.receive(report);
    }
    assert_eq!(warnings(&harness.orders), [("unknown", 4)]);
}

#[test]
fn counts_undecodable_only() {
    let mut harness = TrackerHarness::new();
    let mut report = new(1, 1, 1);
    report.truncate(50);
    harness.receive(report);
    assert_eq!(warnings(&harness.orders), [("undecodable", 1)]);
    assert_eq!(harness.book(), []);
}

#[test]
fn counts_lost_only() {
    let mut harness = TrackerHarness::new();
    harness.orders.handle_lost(Gap { uuid: UUID, from: 3, to: 5 });
    assert_eq!(warnings(&harness.orders), [("lost", 3)]);
}
