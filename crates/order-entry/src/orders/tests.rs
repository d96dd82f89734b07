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

fn refused(id: u64, request: u32) -> Vec<u8> {
    report!(ExecutionReportReject523, 0, id, request, set_ord_rej_reason 1)
}

fn modified(order_id: u64, id: u64, request: u32, leaves: u32) -> Vec<u8> {
    report!(ExecutionReportModify531, order_id, id, request, set_order_qty leaves,
        set_leaves_qty leaves, set_price Decimal(6))
}

fn cancelled(order_id: u64, id: u64, request: u32) -> Vec<u8> {
    report!(ExecutionReportCancel534, order_id, id, request, set_order_qty 10)
}

fn eliminated(order_id: u64) -> Vec<u8> {
    report!(ExecutionReportElimination524, order_id, order_id, 1_u32, set_order_qty 10)
}

fn cancel_refused(order_id: u64, id: u64, request: u32) -> Vec<u8> {
    report!(OrderCancelReject535, order_id, id, request, set_cxl_rej_reason 1)
}

fn replace_refused(order_id: u64, id: u64, request: u32) -> Vec<u8> {
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

fn mass_cancelled(request: u32, orders: &[u64], is_last: bool) -> Vec<u8> {
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
    let mut desk = Desk::new();
    let seq_num = desk.order(5);
    assert_eq!(desk.book(), [(5, Pending, 0, 10)]);
    assert_eq!(desk.orders.working().count(), 0);
    assert_eq!(desk.in_flight(), [1]);
    desk.hear(new(900, 5, seq_num));
    assert_eq!(desk.book(), [(5, Working, 0, 10)]);
    assert_eq!(desk.orders.by_order_id(900), desk.orders.by_cl_ord_id(5.into()));
    assert_eq!(desk.orders.by_order_id(900).unwrap().price, Some(Decimal(5)));
    assert!(desk.in_flight().is_empty());
    assert_eq!((desk.orders.by_order_id(901), desk.orders.by_cl_ord_id(6.into())), (None, None));
}

#[test]
fn rejected_order_is_removed() {
    let mut desk = Desk::new();
    let first = desk.order(5);
    desk.order(6);
    desk.hear(refused(5, first));
    assert_eq!(desk.book(), [(6, Pending, 0, 10)]);
    assert_eq!(desk.in_flight(), [2]);
}

#[test]
fn answer_must_match_id_and_request_id() {
    let mut desk = Desk::new();
    desk.order(5);
    desk.hear(refused(5, 2));
    desk.hear(refused(6, 1));
    assert_eq!(desk.in_flight(), [1]);
}

#[test]
fn trade_sets_filled_and_open_quantity() {
    let mut desk = Desk::new();
    for (id, traded) in [(1, traded as fn(u64, u32, u32) -> Vec<u8>), (2, traded_spread)] {
        desk.working(id);
        desk.hear(traded(id, 4, 6));
        assert_eq!(desk.book(), [(id, Working, 4, 6)]);
        desk.hear(traded(id, 10, 0));
        assert_eq!(desk.book(), []);
    }
    assert_eq!(desk.orders.counters().unknown, 0);
}

#[test]
fn stop_trigger_keeps_open_quantity() {
    let mut desk = Desk::new();
    desk.working(1);
    desk.hear(modified(1, 1, 9, 3));
    desk.hear(new(1, 1, 1));
    assert_eq!(desk.book(), [(1, Working, 0, 3)]);
}

#[test]
fn replaced_order_has_the_id_of_its_replacement() {
    let mut desk = Desk::new();
    desk.working(1);
    let seq_num = desk.send(&ReplaceOrder::with_terms_of(1, &buy(7)));
    assert_eq!(desk.book(), [(1, Working, 0, 10)]);
    desk.hear(modified(1, 7, seq_num, 3));
    assert_eq!(desk.book(), [(7, Working, 0, 3)]);
    let order = *desk.orders.by_cl_ord_id(7.into()).unwrap();
    assert_eq!((order.order_id, order.price), (Some(1), Some(Decimal(6))));
    assert_eq!(desk.orders.by_cl_ord_id(1.into()), None);
    assert!(desk.in_flight().is_empty());
}

#[test]
fn rejected_replacement_changes_nothing() {
    let mut desk = Desk::new();
    desk.working(1);
    let seq_num = desk.send(&ReplaceOrder::with_terms_of(1, &buy(7)));
    desk.hear(pending_replace(1));
    assert_eq!((desk.book(), desk.in_flight()), (vec![(1, PendingReplace, 0, 10)], vec![2]));
    desk.hear(replace_refused(1, 7, seq_num));
    assert_eq!((desk.book(), desk.in_flight()), (vec![(1, Working, 0, 10)], vec![]));
}

#[test]
fn canceled_order_is_removed() {
    let mut desk = Desk::new();
    (1..5).for_each(|id| assert_eq!(desk.working(id), id));
    let seq_num = desk.send(&CancelOrder::new(1, 1, SideReq::BUY, 8.into()));
    desk.hear(pending_cancel(1));
    assert_eq!(desk.book()[0], (1, PendingCancel, 0, 10));
    desk.hear(traded(1, 2, 8));
    assert_eq!(desk.book()[0], (1, PendingCancel, 2, 8), "a trade does not end the delay");
    desk.hear(cancelled(1, 8, seq_num));
    // Unsolicited reports.
    desk.hear(cancelled(2, 2, 2));
    desk.hear(eliminated(3));
    assert_eq!((desk.book(), desk.in_flight()), (vec![(4, Working, 0, 10)], vec![]));
    // A cancel may also answer a replacement.
    let seq_num = desk.send(&ReplaceOrder::with_terms_of(4, &buy(9)));
    desk.hear(cancelled(4, 9, seq_num));
    assert_eq!((desk.book(), desk.in_flight()), (vec![], vec![]));
}

#[test]
fn rejected_cancel_keeps_the_order() {
    let mut desk = Desk::new();
    desk.working(1);
    let seq_num = desk.send(&CancelOrder::new(1, 1, SideReq::BUY, 8.into()));
    desk.hear(pending_cancel(1));
    desk.hear(cancel_refused(1, 8, seq_num));
    assert_eq!((desk.book(), desk.in_flight()), (vec![(1, Working, 0, 10)], vec![]));
}

#[test]
fn status_report_sets_state_and_quantities() {
    let mut desk = Desk::new();
    desk.hear(status(3, OrderStatus::PARTIALLY_FILLED, 4));
    assert_eq!(desk.book(), [(3, Working, 6, 4)]);
    assert_eq!(desk.orders.counters().adopted, 1);
    for (code, state) in [
        (OrderStatus::PENDING_CANCEL, PendingCancel),
        (OrderStatus::PENDING_REPLACE, PendingReplace),
        (OrderStatus::NEW, Working),
        (OrderStatus::REPLACED, Working),
    ] {
        desk.hear(status(3, code, 2));
        assert_eq!(desk.book(), [(3, state, 8, 2)]);
    }
    for code in [OrderStatus::FILLED, OrderStatus::CANCELLED, OrderStatus::UNDEFINED] {
        desk.hear(status(3, OrderStatus::NEW, 2));
        desk.hear(status(3, code, 2));
        assert_eq!(desk.book(), []);
    }
}

#[test]
fn mass_action_removes_the_orders_in_its_reports() {
    let mut desk = Desk::new();
    (1..4).for_each(|id| assert_eq!(desk.working(id), id));
    let seq_num = desk.send(&MassCancel::all());
    desk.hear(mass_cancelled(seq_num, &[1], false));
    assert_eq!((desk.book().len(), desk.in_flight()), (2, vec![4]));
    desk.hear(mass_cancelled(seq_num, &[3], true));
    assert_eq!((desk.book(), desk.in_flight()), (vec![(2, Working, 0, 10)], vec![]));
}

#[test]
fn rejected_mass_action_removes_nothing() {
    let mut desk = Desk::new();
    assert_eq!(desk.working(1), 1);
    let seq_num = desk.send(&MassCancel::all());
    desk.hear(mass_action(seq_num, MassActionResponse::REJECTED, &[1], true));
    assert_eq!((desk.book(), desk.in_flight()), (vec![(1, Working, 0, 10)], vec![]));
}

#[test]
fn business_reject_drops_a_request_by_number_or_id() {
    let mut desk = Desk::new();
    (1..4).for_each(|id| assert_eq!(desk.order(id), id as u32));
    desk.hear(business_reject(Some(2), None));
    assert_eq!(desk.in_flight(), [1, 3]);
    desk.hear(business_reject(None, Some(3)));
    desk.hear(business_reject(None, None));
    assert_eq!((desk.book(), desk.in_flight()), (vec![(1, Pending, 0, 10)], vec![1]));
}

#[test]
fn anonymous_reject_makes_requests_uncertain() {
    let mut desk = Desk::new();
    (1..4).for_each(|id| assert_eq!(desk.order(id), id as u32));
    desk.hear(business_reject(None, None));
    desk.hear(new(1, 1, 1));
    assert_eq!(desk.in_flight(), [2, 3]);
    desk.hear(new(3, 3, 3));
    assert_eq!(desk.in_flight(), []);
    assert_eq!(desk.book(), [(1, Working, 0, 10), (3, Working, 0, 10)]);
}

#[test]
fn logon_makes_earlier_requests_uncertain() {
    let mut desk = Desk::new();
    (1..5).for_each(|id| assert_eq!(desk.order(id), id as u32));
    desk.orders.handle_established(UUID);
    // NotApplied after the logon still takes effect at once.
    let not_applied = NotApplied { from_seq_no: 2, count: 1 };
    desk.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(desk.in_flight(), [1, 3, 4]);
    desk.hear(new(1, 1, 1));
    let seq_num = desk.order(5);
    desk.hear(new(4, 4, 4));
    assert_eq!(desk.in_flight(), [5]);
    desk.hear(new(5, 5, seq_num));
    assert_eq!(desk.book().iter().map(|row| row.0).collect::<Vec<_>>(), [1, 4, 5]);
}

#[test]
fn reused_sequence_number_drops_the_first_request() {
    let mut desk = Desk::new();
    desk.order(1);
    desk.sent = 0;
    desk.order(2);
    assert_eq!((desk.book(), desk.in_flight()), (vec![(2, Pending, 0, 10)], vec![1]));
}

#[test]
fn not_applied_requests_are_dropped_unless_resent() {
    let mut desk = Desk::new();
    (1..5).for_each(|id| assert_eq!(desk.order(id), id as u32));
    let not_applied = NotApplied { from_seq_no: 2, count: 2 };
    desk.orders.handle_not_applied(UUID + 1, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(desk.in_flight(), [1, 2, 3, 4]);
    desk.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(desk.in_flight(), [1, 4]);
    assert_eq!(desk.book(), [(1, Pending, 0, 10), (4, Pending, 0, 10)]);
    assert_eq!(desk.orders.counters().not_applied, 2);
}

#[test]
fn resent_request_is_dropped_when_a_later_one_is_answered() {
    let mut desk = Desk::new();
    (1..5).for_each(|id| assert_eq!(desk.order(id), id as u32));
    let not_applied = NotApplied { from_seq_no: 2, count: 1 };
    desk.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::Replay);
    let not_applied = NotApplied { from_seq_no: 3, count: 2 };
    desk.orders.handle_not_applied(UUID, not_applied, NotAppliedAnswer::FillGap);
    assert_eq!(desk.in_flight(), [1, 2, 3, 4]);
    desk.hear(new(1, 1, 1));
    assert_eq!(desk.in_flight(), [2, 3, 4]);
    desk.hear(new(3, 3, 3));
    assert_eq!(desk.in_flight(), [4]);
    assert_eq!(desk.book().iter().map(|row| row.0).collect::<Vec<_>>(), [1, 3, 4]);
}

#[test]
fn message_of_a_later_session_drops_earlier_requests() {
    let mut desk = Desk::new();
    (1..3).for_each(|id| assert_eq!(desk.order(id), id as u32));
    (desk.uuid, desk.sent) = (UUID + 1, 0);
    let seq_num = desk.order(3);
    // Missed messages of the earlier session are delivered first.
    desk.uuid = UUID;
    desk.hear(new(2, 2, 2));
    assert_eq!(desk.in_flight(), [1, 1]);
    (desk.uuid, desk.received) = (UUID + 1, 0);
    desk.hear(new(3, 3, seq_num));
    assert_eq!(desk.book(), [(2, Working, 0, 10), (3, Working, 0, 10)]);
}

#[test]
fn redelivered_message_is_applied_once() {
    let mut desk = Desk::new();
    desk.working(1);
    let (report, cancel) = (new(1, 1, 1), cancelled(1, 1, 1));
    desk.hear(cancel.clone());
    desk.deliver(&report, 1, true);
    desk.deliver(&cancel, 2, true);
    assert_eq!(desk.book(), []);
    assert_eq!(desk.orders.counters().repeated, 2);
    // The earlier process had not applied this message.
    desk.deliver(&new(2, 2, 2), 3, true);
    assert_eq!(desk.book(), [(2, Working, 0, 10)]);
    // UUID 0 restarts its numbers each week; a message that is not redelivered is new.
    desk.uuid = 0;
    desk.deliver(&cancelled(2, 2, 2), 9, false);
    desk.deliver(&new(3, 3, 3), 1, false);
    assert_eq!(desk.book(), [(3, Working, 0, 10)]);
}

#[test]
fn last_sessions_are_remembered() {
    let mut desk = Desk::new();
    for uuid in 1..=5 {
        desk.uuid = uuid;
        desk.deliver(&new(1, 1, 1), 1, false);
    }
    for (uuid, repeated) in [(5, 1), (4, 2), (3, 3), (2, 3)] {
        desk.uuid = uuid;
        desk.deliver(&new(1, 1, 1), 1, true);
        assert_eq!(desk.orders.counters().repeated, repeated);
    }
}

#[test]
fn forget_removes_the_requests_of_the_order() {
    let mut desk = Desk::new();
    desk.working(1);
    desk.send(&CancelOrder::new(1, 1, SideReq::BUY, 8.into()));
    assert_eq!(desk.orders.forget(1).unwrap().leaves, 10);
    assert_eq!((desk.orders.forget(1), desk.in_flight()), (None, vec![]));
}

/// Returns the nonzero counters of warnings and errors.
fn warnings(orders: &Orders) -> Vec<(&'static str, u64)> {
    let ordinary = ["requests", "applied", "repeated", "adopted", "not_applied"];
    let counters = orders.counters().iter();
    counters.filter(|(name, value)| *value > 0 && !ordinary.contains(name)).collect()
}

#[test]
fn counts_untracked_orders_only() {
    let mut desk = Desk::new();
    (1..5).for_each(|id| assert_eq!(desk.working(id), id));
    assert_eq!(warnings(&desk.orders), []);
    desk.hear(new(5, 5, 99));
    assert_eq!(warnings(&desk.orders), [("untracked_orders", 1)]);
    assert_eq!(desk.book().len(), 4);
}

#[test]
fn untracked_order_is_tracked_when_accepted_with_room() {
    let mut desk = Desk::new();
    (1..5).for_each(|id| assert_eq!(desk.working(id), id));
    let seq_num = desk.order(5);
    desk.hear(eliminated(1));
    desk.hear(new(5, 5, seq_num));
    assert_eq!(desk.book().len(), 4);
    assert!(desk.in_flight().is_empty());
}

#[test]
fn counts_untracked_requests_only() {
    let mut desk = Desk::new();
    (1..6).for_each(|id| assert_eq!(desk.order(id), id as u32));
    assert_eq!(warnings(&desk.orders), [("untracked_requests", 1)]);
}

#[test]
fn counts_unknown_only() {
    let mut desk = Desk::new();
    for report in [refused(1, 1), eliminated(1), cancelled(1, 1, 1), traded(1, 10, 0)] {
        desk.hear(report);
    }
    assert_eq!(warnings(&desk.orders), [("unknown", 4)]);
}

#[test]
fn counts_undecodable_only() {
    let mut desk = Desk::new();
    let mut report = new(1, 1, 1);
    report.truncate(50);
    desk.hear(report);
    assert_eq!(warnings(&desk.orders), [("undecodable", 1)]);
    assert_eq!(desk.book(), []);
}

#[test]
fn counts_lost_only() {
    let mut desk = Desk::new();
    desk.orders.handle_lost(Gap { uuid: UUID, from: 3, to: 5 });
    assert_eq!(warnings(&desk.orders), [("lost", 3)]);
}
