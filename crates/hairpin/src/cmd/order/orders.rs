//! The orders of this run, updated from the exchange's reports.

use std::ops::Range;

use hairpin_order_entry::messages::{
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportModify531,
    ExecutionReportNew522, ExecutionReportReject523, OrderCancelReplaceReject536,
    OrderMassActionReport562,
};
use hairpin_order_entry::{BusinessReject521, ClOrdId, NewOrder};

use super::columns::Columns;
use super::script::Target;

/// The state of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderStatus {
    /// Sent, without an answer from the exchange.
    Sent,
    /// Working.
    Working,
    /// Filled, canceled, rejected or eliminated.
    Over,
    /// Sent and never received: the exchange's expected number was moved past it.
    Missed,
}

/// An order of this run.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// The terms at the exchange, or as sent; always under the ClOrdID of its entry.
    pub(super) terms: NewOrder,
    /// The new terms, once the exchange has replaced the order.
    pub(super) replacement: Option<NewOrder>,
    /// The exchange's identifier.
    pub(super) order_id: Option<u64>,
    /// The ClOrdID at the exchange: that of the last accepted replacement.
    pub(super) cl_ord_id: ClOrdId,
    pub(super) leaves: u32,
    pub(super) status: OrderStatus,
    /// The sequence number of its message.
    pub(super) seq_num: u32,
}

/// All orders, in the order of entry.
#[derive(Debug, Default)]
pub(super) struct Orders(Vec<Order>);

impl Orders {
    /// Adds a sent order.
    pub(super) fn push(&mut self, terms: NewOrder, seq_num: u32) {
        let (order_id, replacement, leaves) = (None, None, terms.quantity);
        let status = OrderStatus::Sent;
        let cl_ord_id = terms.cl_ord_id;
        self.0.push(Order { terms, replacement, order_id, cl_ord_id, leaves, status, seq_num });
    }

    /// Returns the order with this identifier, if any.
    pub(super) fn find(&mut self, target: Target) -> Option<&mut Order> {
        match target {
            Target::Last => self.0.last_mut(),
            Target::Id(id) => self.0.iter_mut().rev().find(|order| order.terms.cl_ord_id == id),
        }
    }

    /// Returns the orders that are or may be working.
    pub(super) fn open(&self) -> impl Iterator<Item = &Order> {
        let is_open =
            |order: &&Order| matches!(order.status, OrderStatus::Sent | OrderStatus::Working);
        self.0.iter().filter(is_open)
    }

    /// Handles messages with these numbers that were not applied and are not sent again.
    pub(super) fn not_applied(&mut self, numbers: &Range<u32>) {
        let is_meant = |order: &&mut Order| {
            order.status == OrderStatus::Sent && numbers.contains(&order.seq_num)
        };
        self.0.iter_mut().filter(is_meant).for_each(|order| order.status = OrderStatus::Missed);
    }

    /// Handles a message of the exchange; those about other orders are ignored.
    pub(super) fn on_report(&mut self, template_id: u16, report: &Columns) {
        match template_id {
            OrderMassActionReport562::TEMPLATE_ID => {
                let affected = |order: &&mut Order| {
                    order.order_id.is_some_and(|id| report.affected.contains(&id))
                };
                self.0.iter_mut().filter(affected).for_each(|order| {
                    order.status = OrderStatus::Over;
                });
                return;
            }
            BusinessReject521::TEMPLATE_ID => {
                let refused = report.number("BusinessRejectRefID");
                let order = self.0.iter_mut().find(|order| {
                    order.status == OrderStatus::Sent && Some(order.seq_num.into()) == refused
                });
                if let Some(order) = order {
                    order.status = OrderStatus::Over;
                }
                return;
            }
            _ => {}
        }
        let (id, cl_ord_id) = (report.number("OrderID"), report.get("ClOrdID"));
        let order = self.0.iter_mut().rev().find(|order| match order.order_id {
            Some(known) => Some(known) == id,
            None => Some(order.terms.cl_ord_id.to_string().as_str()) == cl_ord_id,
        });
        if let Some(order) = order {
            order.on_report(template_id, report);
        }
    }
}

impl Order {
    fn on_report(&mut self, template_id: u16, report: &Columns) {
        let leaves = report.number("LeavesQty").and_then(|leaves| u32::try_from(leaves).ok());
        match template_id {
            ExecutionReportNew522::TEMPLATE_ID => {
                self.order_id = report.number("OrderID");
                self.status = OrderStatus::Working;
            }
            ExecutionReportModify531::TEMPLATE_ID => {
                let terms = self.replacement.take().unwrap_or(self.terms);
                self.cl_ord_id = terms.cl_ord_id;
                self.terms = NewOrder { cl_ord_id: self.terms.cl_ord_id, ..terms };
                self.leaves = leaves.unwrap_or(self.terms.quantity);
            }
            OrderCancelReplaceReject536::TEMPLATE_ID => self.replacement = None,
            ExecutionReportCancel534::TEMPLATE_ID
            | ExecutionReportElimination524::TEMPLATE_ID
            | ExecutionReportReject523::TEMPLATE_ID => self.status = OrderStatus::Over,
            _ => {
                self.leaves = leaves.unwrap_or(self.leaves);
                if leaves == Some(0) {
                    self.status = OrderStatus::Over;
                }
            }
        }
    }
}
