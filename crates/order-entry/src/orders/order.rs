//! The state of an order, and of a request in flight.

use hairpin_cme_codecs::ilink3::{OrderType, Price9, SideReq, TimeInForce};
use hairpin_ilink3::{ClOrdId, OrderId, SecurityId};

/// An order as last reported by the exchange, or as sent while it is
/// [pending](OrderState::Pending).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The exchange's OrderID (37); `None` until the order is accepted.
    pub order_id: Option<OrderId>,
    /// ClOrdID (11) of the order, or of its last accepted replacement.
    pub cl_ord_id: ClOrdId,
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// Side (54).
    pub side: SideReq,
    /// OrdType (40), as sent or reported.
    pub order_type: Option<OrderType>,
    /// Price (44): the limit price, also if the exchange assigned it.
    pub price: Option<Price9>,
    /// StopPx (99).
    pub stop_price: Option<Price9>,
    /// TimeInForce (59).
    pub time_in_force: Option<TimeInForce>,
    /// OrderQty (38), in contracts.
    pub quantity: u32,
    /// CumQty (14): filled quantity, in contracts.
    pub filled: u32,
    /// LeavesQty (151): open quantity, in contracts. After replacements, `filled + leaves` may
    /// differ from `quantity`.
    pub leaves: u32,
    /// The order's state.
    pub state: OrderState,
}

/// The state of an order. Orders that have ended are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderState {
    /// Sent and not answered.
    Pending,
    /// On the exchange's book, or a stop order that waits for its trigger.
    Working,
    /// Working; the exchange delays a replacement.
    PendingReplace,
    /// Working; the exchange delays a cancel.
    PendingCancel,
}

/// An unanswered request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InFlight {
    /// The kind of request.
    pub kind: RequestKind,
    /// ClOrdID (11) of the request; empty for a mass action.
    pub cl_ord_id: ClOrdId,
    /// OrderID (37) of the order; `None` for a new order, a mass action, or a request that
    /// addresses the order by ClOrdID.
    pub order_id: Option<OrderId>,
    /// OrderRequestID (2422).
    pub request_id: u64,
    /// The UUID under which it was sent.
    pub uuid: u64,
    /// The SeqNum under which it was sent.
    pub seq_num: u32,
    /// The exchange may have skipped the request. It is dropped when a later one is answered.
    pub(super) uncertain: bool,
    /// The request was sent again, so a NotApplied for it may refer to the first time.
    pub(super) resent: bool,
    /// The slot of the pending order, for a new order.
    pub(super) slot: Option<u32>,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// A new order.
    New,
    /// A replacement of an order.
    Replace,
    /// A cancel of one order.
    Cancel,
    /// A cancel of several orders.
    MassAction,
}

impl InFlight {
    /// Returns `true` if the exchange may have skipped the request. It is then dropped when a later
    /// request is answered.
    ///
    /// The causes are: it was sent again after NotApplied; an earlier process received a NotApplied
    /// without its range; a reject did not identify its request; or the session was re-established,
    /// so that reports on it may be lost.
    #[must_use]
    pub fn is_uncertain(&self) -> bool {
        self.uncertain
    }
}

impl Order {
    /// Returns `true` if the order is on the exchange's books.
    #[must_use]
    pub fn is_working(&self) -> bool {
        self.state != OrderState::Pending
    }
}
