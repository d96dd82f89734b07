//! The effect of each report on the tracked orders.

use hairpin_cme_codecs::ilink3::order_mass_action_report562::NoAffectedOrders;
use hairpin_cme_codecs::ilink3::*;
use hairpin_ilink3::{ClOrdId, Message, OrderId, SecurityId};
use hairpin_sbe::CharArray;

use super::Orders;
use super::order::{InFlight, Order, OrderState, RequestKind};

/// Builds an order from a report; all reports use the same field names.
macro_rules! reported {
    ($report:ident, leaves: $leaves:expr, filled: $filled:expr, price: $price:expr) => {
        Order {
            order_id: Some(OrderId($report.order_id())),
            cl_ord_id: id($report.cl_ord_id()),
            security_id: SecurityId($report.security_id()),
            side: $report.side(),
            order_type: $report.ord_type(),
            price: $price,
            stop_price: $report.stop_px(),
            time_in_force: $report.time_in_force(),
            quantity: $report.order_qty(),
            filled: $filled,
            leaves: $leaves,
            state: OrderState::Working,
        }
    };
}

/// Decodes a message by its template and applies it.
macro_rules! by_template {
    ($orders:ident, $message:ident, $($name:ident => $apply:ident,)*) => {
        match $message.header.template_id {
            $($name::TEMPLATE_ID => {
                let mut scratch = $name::SCRATCH;
                match $name::decode(&$message.header, $message.body, &mut scratch) {
                    Ok(report) => {
                        $orders.counters.applied += 1;
                        $orders.$apply(report);
                    }
                    Err(_) => $orders.counters.undecodable += 1,
                }
            })*
            _ => {}
        }
    };
}

/// Returns the ClOrdID of a report.
pub(super) fn id(text: CharArray<'_>) -> ClOrdId {
    let mut id = [0; 20];
    let text = text.as_bytes();
    let length = text.len().min(id.len());
    id[..length].copy_from_slice(&text[..length]);
    ClOrdId(id)
}

impl Orders {
    pub(super) fn apply(&mut self, message: &Message<'_>) {
        by_template! { self, message,
            ExecutionReportNew522 => apply_new,
            ExecutionReportReject523 => apply_reject,
            ExecutionReportElimination524 => apply_elimination,
            ExecutionReportTradeOutright525 => apply_trade_outright,
            ExecutionReportTradeSpread526 => apply_trade_spread,
            ExecutionReportModify531 => apply_modify,
            ExecutionReportStatus532 => apply_status,
            ExecutionReportCancel534 => apply_cancel,
            OrderCancelReject535 => apply_cancel_reject,
            OrderCancelReplaceReject536 => apply_replace_reject,
            OrderMassActionReport562 => apply_mass_action,
            ExecutionReportPendingCancel564 => apply_pending_cancel,
            ExecutionReportPendingReplace565 => apply_pending_replace,
            BusinessReject521 => apply_business_reject,
        }
    }

    /// Applies an accepted order. For a working order the report means that its stop was triggered:
    /// the open quantity stays.
    fn apply_new(&mut self, report: ExecutionReportNew522<'_>) {
        let quantity = report.order_qty();
        let order = reported!(report, leaves: quantity, filled: 0, price: Some(report.price()));
        let known = self.by_order_id(report.order_id());
        let (filled, leaves) = known.map_or((0, quantity), |it| (it.filled, it.leaves));
        self.upsert(Order { filled, leaves, ..order }, report.order_request_id());
    }

    fn apply_modify(&mut self, report: ExecutionReportModify531<'_>) {
        let (leaves, filled) = (report.leaves_qty(), report.cum_qty());
        let order = reported!(report, leaves: leaves, filled: filled, price: Some(report.price()));
        self.take_answered_by(&[RequestKind::Replace], order.cl_ord_id, report.order_request_id());
        self.upsert(order, report.order_request_id());
    }

    fn apply_trade_outright(&mut self, report: ExecutionReportTradeOutright525<'_>) {
        let (leaves, filled) = (report.leaves_qty(), report.cum_qty());
        let order = reported!(report, leaves: leaves, filled: filled, price: Some(report.price()));
        self.apply_trade(order, report.order_request_id());
    }

    fn apply_trade_spread(&mut self, report: ExecutionReportTradeSpread526<'_>) {
        let (leaves, filled) = (report.leaves_qty(), report.cum_qty());
        let order = reported!(report, leaves: leaves, filled: filled, price: Some(report.price()));
        self.apply_trade(order, report.order_request_id());
    }

    /// Applies a trade. A delayed replacement or cancel stays pending.
    fn apply_trade(&mut self, order: Order, request_id: u64) {
        let known = order.order_id.and_then(|order_id| self.by_order_id(order_id));
        let state = known.map_or(OrderState::Working, |it| it.state);
        self.upsert(Order { state, ..order }, request_id);
    }

    fn apply_status(&mut self, report: ExecutionReportStatus532<'_>) {
        let (leaves, filled) = (report.leaves_qty(), report.cum_qty());
        let order = reported!(report, leaves: leaves, filled: filled, price: report.price());
        let state = match report.ord_status() {
            OrderStatus::NEW | OrderStatus::PARTIALLY_FILLED | OrderStatus::REPLACED => {
                OrderState::Working
            }
            OrderStatus::PENDING_CANCEL => OrderState::PendingCancel,
            OrderStatus::PENDING_REPLACE => OrderState::PendingReplace,
            // Includes orders that the exchange does not have.
            _ => {
                self.remove(OrderId(report.order_id()));
                return;
            }
        };
        self.upsert(Order { state, ..order }, report.order_request_id());
    }

    fn apply_reject(&mut self, report: ExecutionReportReject523<'_>) {
        let (cl_ord_id, request_id) = (id(report.cl_ord_id()), report.order_request_id());
        let request = self.take_answered_by(&[RequestKind::New], cl_ord_id, request_id);
        match request {
            Some(InFlight { slot, .. }) => {
                slot.and_then(|slot| self.orders.remove(slot));
            }
            None => self.counters.unknown += 1,
        }
    }

    fn apply_elimination(&mut self, report: ExecutionReportElimination524<'_>) {
        self.remove_reported(OrderId(report.order_id()));
    }

    /// Applies a cancel. It also answers a replacement that left no open quantity.
    fn apply_cancel(&mut self, report: ExecutionReportCancel534<'_>) {
        let kinds = [RequestKind::Cancel, RequestKind::Replace];
        self.take_answered_by(&kinds, id(report.cl_ord_id()), report.order_request_id());
        self.remove_reported(OrderId(report.order_id()));
    }

    fn apply_cancel_reject(&mut self, reject: OrderCancelReject535<'_>) {
        let (cl_ord_id, request_id) = (id(reject.cl_ord_id()), reject.order_request_id());
        self.take_answered_by(&[RequestKind::Cancel], cl_ord_id, request_id);
        self.set_state(OrderId(reject.order_id()), OrderState::Working);
    }

    fn apply_replace_reject(&mut self, reject: OrderCancelReplaceReject536<'_>) {
        let (cl_ord_id, request_id) = (id(reject.cl_ord_id()), reject.order_request_id());
        self.take_answered_by(&[RequestKind::Replace], cl_ord_id, request_id);
        self.set_state(OrderId(reject.order_id()), OrderState::Working);
    }

    fn apply_pending_cancel(&mut self, report: ExecutionReportPendingCancel564<'_>) {
        self.set_state(OrderId(report.order_id()), OrderState::PendingCancel);
    }

    fn apply_pending_replace(&mut self, report: ExecutionReportPendingReplace565<'_>) {
        self.set_state(OrderId(report.order_id()), OrderState::PendingReplace);
    }

    /// Applies one report of a mass action. The last fragment answers the request.
    fn apply_mass_action(&mut self, report: OrderMassActionReport562<'_>) {
        if report.last_fragment() == BooleanFlag::TRUE {
            let request_id = report.order_request_id();
            let kind = RequestKind::MassAction;
            self.take_answered(|it| it.kind == kind && it.request_id == request_id);
        }
        if report.mass_action_response() != MassActionResponse::ACCEPTED {
            return;
        }
        let (mut affected, mut scratch) = (report.no_affected_orders(), NoAffectedOrders::SCRATCH);
        while let Some(order) = affected.next(&mut scratch) {
            self.remove_reported(OrderId(order.affected_order_id()));
        }
    }

    /// Applies a business reject: the request was not executed. It is identified by its sequence
    /// number or its id. If the exchange could read neither, it is one of the requests in flight.
    fn apply_business_reject(&mut self, reject: BusinessReject521<'_>) {
        let (number, uuid) = (reject.ref_seq_num(), reject.uuid());
        let request_id = reject.business_reject_ref_id();
        let request = self.take_answered(|it| match number {
            Some(number) => it.seq_num == number && it.uuid == uuid,
            None => request_id == Some(it.request_id),
        });
        if let Some(slot) = request.and_then(|it| it.slot) {
            self.orders.remove(slot);
        }
        if request.is_none() && number.is_none() {
            self.mark_uncertain(uuid);
        }
    }

    /// Inserts or updates an order; removes it if no quantity is open.
    fn upsert(&mut self, order: Order, request_id: u64) {
        let known = order.order_id.and_then(|order_id| self.orders.by_order_id(order_id));
        let slot = known.or_else(|| {
            let kinds = [RequestKind::New];
            self.take_answered_by(&kinds, order.cl_ord_id, request_id).and_then(|it| it.slot)
        });
        match slot {
            Some(slot) if order.leaves == 0 => {
                self.orders.remove(slot);
            }
            Some(slot) => self.orders.replace(slot, order),
            None if order.leaves == 0 => self.counters.unknown += 1,
            None => {
                self.counters.adopted += 1;
                self.insert(order);
            }
        }
    }

    /// Removes an order that a report has ended.
    fn remove_reported(&mut self, order_id: OrderId) {
        if self.remove(order_id).is_none() {
            self.counters.unknown += 1;
        }
    }

    fn set_state(&mut self, order_id: OrderId, state: OrderState) {
        let Some(slot) = self.orders.by_order_id(order_id) else { return };
        if let Some(&order) = self.orders.order(slot) {
            self.orders.replace(slot, Order { state, ..order });
        }
    }

    fn take_answered_by(
        &mut self,
        kinds: &[RequestKind],
        cl_ord_id: ClOrdId,
        request_id: u64,
    ) -> Option<InFlight> {
        self.take_answered(|it| {
            it.request_id == request_id && it.cl_ord_id == cl_ord_id && kinds.contains(&it.kind)
        })
    }
}
