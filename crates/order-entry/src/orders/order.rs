//! An order as it stands, and a request that is on its way.

use hairpin_cme_codecs::ilink3::{OrderType, Price9, SideReq, TimeInForce};
use hairpin_ilink3::ClOrdId;

/// An order as the exchange has last reported it or, while it is [pending](OrderState::Pending),
/// as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// OrderID (37), the exchange's; `None` until it has accepted the order.
    pub order_id: Option<u64>,
    /// ClOrdID (11) of the order, or of its last replacement that was accepted.
    pub cl_ord_id: ClOrdId,
    /// SecurityID (48).
    pub security_id: i32,
    /// Side (54).
    pub side: SideReq,
    /// OrdType (40), as sent or reported.
    pub order_type: Option<OrderType>,
    /// Price (44): the limit, also that which the exchange has given an order without one.
    pub price: Option<Price9>,
    /// StopPx (99).
    pub stop_price: Option<Price9>,
    /// TimeInForce (59).
    pub time_in_force: Option<TimeInForce>,
    /// OrderQty (38), contracts.
    pub quantity: u32,
    /// CumQty (14): contracts traded.
    pub filled: u32,
    /// LeavesQty (151): contracts open. With replacements this and `filled` need not add up to
    /// `quantity`.
    pub leaves: u32,
    /// Where it stands.
    pub state: OrderState,
}

/// Where an order stands. One that has ended is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderState {
    /// Sent and not answered.
    Pending,
    /// On the exchange's book, or a stop order that waits for its trigger.
    Working,
    /// Working, and the exchange delays a replacement of it.
    PendingReplace,
    /// Working, and the exchange delays its cancel.
    PendingCancel,
}

/// A request of ours that is not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InFlight {
    /// What it asks for.
    pub kind: RequestKind,
    /// ClOrdID (11) of the request; empty for a mass action.
    pub cl_ord_id: ClOrdId,
    /// OrderID (37) of the order that is meant; of a new order and a mass action `None`.
    pub order_id: Option<u64>,
    /// OrderRequestID (2422).
    pub request_id: u64,
    /// UUID it was sent under.
    pub uuid: u64,
    /// SeqNum it was sent under.
    pub seq_num: u32,
    /// The exchange may have passed it by: it goes as soon as a later one is answered.
    pub(super) is_doubtful: bool,
    /// It was sent again: what is said of it by then has been answered.
    pub(super) is_sent_again: bool,
    /// Where the order is, if this is a new one.
    pub(super) slot: Option<u32>,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// A new order.
    New,
    /// The replacement of an order.
    Replace,
    /// The cancel of an order.
    Cancel,
    /// The cancel of many.
    MassAction,
}

impl InFlight {
    /// Whether the exchange may have passed it by: it was sent again after it was not applied, or
    /// an earlier process was told that something was not applied, and not what, or something was
    /// refused without a word of what it was, or the session was established since, and what was
    /// said of it may be lost. It is given up when a later one is answered.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }
}

impl Order {
    /// Whether the exchange has it on its books.
    #[must_use]
    pub fn is_working(&self) -> bool {
        self.state != OrderState::Pending
    }
}
