//! The orders of this run, updated from the exchange's reports.

use std::collections::BTreeMap;
use std::ops::Range;

use hairpin_order_entry::messages::{
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportModify531,
    ExecutionReportNew522, ExecutionReportReject523, ExecutionReportTradeAddendumOutright548,
    ExecutionReportTradeAddendumSpread549, ExecutionReportTradeAddendumSpreadLeg550,
    ExecutionReportTradeOutright525, ExecutionReportTradeSpread526,
    ExecutionReportTradeSpreadLeg527, OrderCancelReplaceReject536, OrderMassActionReport562,
};
use hairpin_order_entry::{BusinessReject521, CancelOnQuit, ClOrdId, NewOrder, OrdersLeft};

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

    /// Returns the ClOrdID of the entry of an order, by the exchange's identifier.
    pub(super) fn name(&self, order_id: u64) -> Option<String> {
        let order = self.0.iter().rev().find(|order| order.order_id == Some(order_id));
        order.map(|order| order.terms.cl_ord_id.to_string())
    }

    /// Returns the orders that are or may be working.
    pub(super) fn open(&self) -> impl Iterator<Item = &Order> {
        let is_open =
            |order: &&Order| matches!(order.status, OrderStatus::Sent | OrderStatus::Working);
        self.0.iter().filter(is_open)
    }

    /// Returns the orders that are left if the run ends now.
    pub(super) fn left(&self, cancel: CancelOnQuit) -> OrdersLeft {
        let working = self.open().filter(|it| it.status == OrderStatus::Working).count();
        OrdersLeft { working, unanswered: self.open().count() - working, cancel }
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

/// The contracts bought and sold in an instrument.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) bought: i64,
    pub(super) sold: i64,
}

/// The fills of this run by SecurityID. A spread trade counts for the spread and for each leg.
#[derive(Debug, Default)]
pub(super) struct Positions(BTreeMap<u64, Position>);

impl Positions {
    /// Returns each instrument with fills.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Position)> {
        self.0.iter().map(|(&id, &position)| (id, position))
    }

    /// Handles a message of the exchange: fills, and trades that were busted later.
    pub(super) fn on_report(&mut self, template_id: u16, report: &Columns) {
        let is_bust = report.get("OrdStatus").is_some_and(|status| status.ends_with("(H)"));
        let sign = match template_id {
            ExecutionReportTradeOutright525::TEMPLATE_ID
            | ExecutionReportTradeSpread526::TEMPLATE_ID
            | ExecutionReportTradeSpreadLeg527::TEMPLATE_ID => 1,
            ExecutionReportTradeAddendumOutright548::TEMPLATE_ID
            | ExecutionReportTradeAddendumSpread549::TEMPLATE_ID
            | ExecutionReportTradeAddendumSpreadLeg550::TEMPLATE_ID
                if is_bust =>
            {
                -1
            }
            _ => return,
        };
        let (Some(id), Some(quantity)) = (report.number("SecurityID"), report.number("LastQty"))
        else {
            return;
        };
        let position = self.0.entry(id).or_default();
        let change = sign * i64::try_from(quantity).unwrap_or_default();
        match report.get("Side").is_some_and(|side| side.starts_with("Buy")) {
            true => position.bought += change,
            false => position.sold += change,
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
