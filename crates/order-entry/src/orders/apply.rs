//! What each report of the exchange means for our orders.

use hairpin_cme_codecs::ilink3::order_mass_action_report562::NoAffectedOrders;
use hairpin_cme_codecs::ilink3::*;
use hairpin_ilink3::{ClOrdId, Message};
use hairpin_sbe::CharArray;

use super::Orders;
use super::order::{InFlight, Order, OrderState, RequestKind};

/// An order as a report describes it, under the same names in all reports.
macro_rules! reported {
    ($report:ident, leaves: $leaves:expr, filled: $filled:expr, price: $price:expr) => {
        Order {
            order_id: Some($report.order_id()),
            cl_ord_id: id($report.cl_ord_id()),
            security_id: $report.security_id(),
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

/// Decodes a message by its template and has it applied.
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

/// A ClOrdID as a report has it.
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

    /// The order works. Of one that works already this says that its trigger was reached: how
    /// much of it is open stays.
    fn apply_new(&mut self, report: ExecutionReportNew522<'_>) {
        let quantity = report.order_qty();
        let order = reported!(report, leaves: quantity, filled: 0, price: Some(report.price()));
        let known = self.by_order_id(report.order_id());
        let (filled, leaves) = known.map_or((0, quantity), |it| (it.filled, it.leaves));
        self.stands(Order { filled, leaves, ..order }, report.order_request_id());
    }

    fn apply_modify(&mut self, report: ExecutionReportModify531<'_>) {
        let (leaves, filled) = (report.leaves_qty(), report.cum_qty());
        let order = reported!(report, leaves: leaves, filled: filled, price: Some(report.price()));
        self.answer_by(&[RequestKind::Replace], order.cl_ord_id, report.order_request_id());
        self.stands(order, report.order_request_id());
    }

    fn apply_trade_outright(&mut self, report: ExecutionReportTradeOutright525<'_>) {
        let (leaves, filled) = (report.leaves_qty(), report.cum_qty());
        let order = reported!(report, leaves: leaves, filled: filled, price: Some(report.price()));
        self.trades(order, report.order_request_id());
    }

    fn apply_trade_spread(&mut self, report: ExecutionReportTradeSpread526<'_>) {
        let (leaves, filled) = (report.leaves_qty(), report.cum_qty());
        let order = reported!(report, leaves: leaves, filled: filled, price: Some(report.price()));
        self.trades(order, report.order_request_id());
    }

    /// A trade leaves a delayed replacement or cancel where it is.
    fn trades(&mut self, order: Order, request_id: u64) {
        let known = order.order_id.and_then(|order_id| self.by_order_id(order_id));
        let state = known.map_or(OrderState::Working, |it| it.state);
        self.stands(Order { state, ..order }, request_id);
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
            // Also one the exchange knows nothing of.
            _ => {
                self.end(report.order_id());
                return;
            }
        };
        self.stands(Order { state, ..order }, report.order_request_id());
    }

    fn apply_reject(&mut self, report: ExecutionReportReject523<'_>) {
        let (cl_ord_id, request_id) = (id(report.cl_ord_id()), report.order_request_id());
        let request = self.answer_by(&[RequestKind::New], cl_ord_id, request_id);
        match request {
            Some(InFlight { slot, .. }) => {
                slot.and_then(|slot| self.book.remove(slot));
            }
            None => self.counters.unknown += 1,
        }
    }

    fn apply_elimination(&mut self, report: ExecutionReportElimination524<'_>) {
        self.ends(report.order_id());
    }

    /// A replacement too may have been answered so: if no more is left to be open.
    fn apply_cancel(&mut self, report: ExecutionReportCancel534<'_>) {
        let kinds = [RequestKind::Cancel, RequestKind::Replace];
        self.answer_by(&kinds, id(report.cl_ord_id()), report.order_request_id());
        self.ends(report.order_id());
    }

    fn apply_cancel_reject(&mut self, reject: OrderCancelReject535<'_>) {
        let (cl_ord_id, request_id) = (id(reject.cl_ord_id()), reject.order_request_id());
        self.answer_by(&[RequestKind::Cancel], cl_ord_id, request_id);
        self.set_state(reject.order_id(), OrderState::Working);
    }

    fn apply_replace_reject(&mut self, reject: OrderCancelReplaceReject536<'_>) {
        let (cl_ord_id, request_id) = (id(reject.cl_ord_id()), reject.order_request_id());
        self.answer_by(&[RequestKind::Replace], cl_ord_id, request_id);
        self.set_state(reject.order_id(), OrderState::Working);
    }

    fn apply_pending_cancel(&mut self, report: ExecutionReportPendingCancel564<'_>) {
        self.set_state(report.order_id(), OrderState::PendingCancel);
    }

    fn apply_pending_replace(&mut self, report: ExecutionReportPendingReplace565<'_>) {
        self.set_state(report.order_id(), OrderState::PendingReplace);
    }

    /// One of the reports on a mass action; the last one answers it.
    fn apply_mass_action(&mut self, report: OrderMassActionReport562<'_>) {
        if report.last_fragment() == BooleanFlag::TRUE {
            let request_id = report.order_request_id();
            let kind = RequestKind::MassAction;
            self.answer(|it| it.kind == kind && it.request_id == request_id);
        }
        if report.mass_action_response() != MassActionResponse::ACCEPTED {
            return;
        }
        let (mut affected, mut scratch) = (report.no_affected_orders(), NoAffectedOrders::SCRATCH);
        while let Some(order) = affected.next(&mut scratch) {
            self.ends(order.affected_order_id());
        }
    }

    /// Whatever it was, it was not done. The request is known by its number or by its id; if the
    /// exchange could read neither, it is one of those that are on their way.
    fn apply_business_reject(&mut self, reject: BusinessReject521<'_>) {
        let (number, uuid) = (reject.ref_seq_num(), reject.uuid());
        let request_id = reject.business_reject_ref_id();
        let request = self.answer(|it| match number {
            Some(number) => it.seq_num == number && it.uuid == uuid,
            None => request_id == Some(it.request_id),
        });
        if let Some(slot) = request.and_then(|it| it.slot) {
            self.book.remove(slot);
        }
        if request.is_none() && number.is_none() {
            self.doubt(uuid);
        }
    }

    /// The order is now so; if nothing of it is open any more, it is over.
    fn stands(&mut self, order: Order, request_id: u64) {
        let known = order.order_id.and_then(|order_id| self.book.by_order_id(order_id));
        let slot = known.or_else(|| {
            let kinds = [RequestKind::New];
            self.answer_by(&kinds, order.cl_ord_id, request_id).and_then(|it| it.slot)
        });
        match slot {
            Some(slot) if order.leaves == 0 => {
                self.book.remove(slot);
            }
            Some(slot) => self.book.replace(slot, order),
            None if order.leaves == 0 => self.counters.unknown += 1,
            None => {
                self.counters.adopted += 1;
                self.insert(order);
            }
        }
    }

    fn ends(&mut self, order_id: u64) {
        if self.end(order_id).is_none() {
            self.counters.unknown += 1;
        }
    }

    fn set_state(&mut self, order_id: u64, state: OrderState) {
        let Some(slot) = self.book.by_order_id(order_id) else { return };
        if let Some(&order) = self.book.order(slot) {
            self.book.replace(slot, Order { state, ..order });
        }
    }

    fn answer_by(
        &mut self,
        kinds: &[RequestKind],
        cl_ord_id: ClOrdId,
        request_id: u64,
    ) -> Option<InFlight> {
        self.answer(|it| {
            it.request_id == request_id && it.cl_ord_id == cl_ord_id && kinds.contains(&it.kind)
        })
    }
}
