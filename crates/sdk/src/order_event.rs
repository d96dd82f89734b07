//! Events of orders, and fills.

use core::fmt;

use hairpin_order_entry::messages::{
    ExecTypTrdCxl, OrderStatus, order_mass_action_report562::NoAffectedOrders,
};
use hairpin_order_entry::{
    self as order_entry, BusinessReject521, BusinessRejectReason, CancelRejectReason, ClOrdId,
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportModify531,
    ExecutionReportNew522, ExecutionReportPendingCancel564, ExecutionReportPendingReplace565,
    ExecutionReportReject523, ExecutionReportStatus532, ExecutionReportTradeAddendumOutright548,
    ExecutionReportTradeAddendumSpread549, ExecutionReportTradeAddendumSpreadLeg550,
    ExecutionReportTradeOutright525, ExecutionReportTradeSpread526,
    ExecutionReportTradeSpreadLeg527, Message, OrderCancelReject535, OrderCancelReplaceReject536,
    OrderId, OrderMassActionReport562, OrderRejectReason, Orders, ReplaceRejectReason, SecurityId,
};
use hairpin_sbe::CharArray;

use crate::names::Names;
use crate::{Price, Quantity, Side};

/// The length of Text (58) in bytes.
const TEXT_LENGTH: usize = 256;

/// The state of an order in an [`OrderEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderState {
    /// On the exchange's book with its present terms, or a stop order that waits for its trigger.
    Working,
    /// Working; the exchange delays a replacement.
    PendingReplace,
    /// Working; the exchange delays a cancel.
    PendingCancel,
    /// Unchanged: the exchange rejected a replacement.
    ReplaceRejected,
    /// Unchanged: the exchange rejected a cancel.
    CancelRejected,
    /// Filled, as a response to a status request reports it.
    Filled,
    /// Canceled, on request or unsolicited.
    Canceled,
    /// Eliminated: its day or date is over, or it could not trade as its time in force requires.
    Expired,
    /// Rejected; the order never worked.
    Rejected,
    /// Not received by the exchange, for example because the connection broke. Send it again if it
    /// is still needed.
    NotApplied,
}

impl OrderState {
    const fn text(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::PendingReplace => "replacement pending",
            Self::PendingCancel => "cancel pending",
            Self::ReplaceRejected => "replacement rejected",
            Self::CancelRejected => "cancel rejected",
            Self::Filled => "filled",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
            Self::Rejected => "rejected",
            Self::NotApplied => "not applied",
        }
    }
}

impl fmt::Display for OrderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The exchange's reason for a reject.
#[derive(Debug, Clone, Copy)]
pub struct Reason {
    code: u16,
    meaning: &'static str,
    text: [u8; TEXT_LENGTH],
}

impl Reason {
    fn new(code: u16, meaning: &'static str, text: CharArray<'_>) -> Self {
        let mut reason = Self { code, meaning, text: [0; TEXT_LENGTH] };
        let text = text.as_bytes();
        let length = text.len().min(TEXT_LENGTH);
        reason.text[..length].copy_from_slice(&text[..length]);
        reason
    }

    /// Returns the code: OrdRejReason (103), CxlRejReason (102) or BusinessRejectReason (380).
    #[must_use]
    pub const fn code(&self) -> u16 {
        self.code
    }

    /// Returns CME's description of the code.
    #[must_use]
    pub const fn meaning(&self) -> &'static str {
        self.meaning
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.code, self.meaning)?;
        let text = CharArray::new(&self.text);
        if text.as_bytes().is_empty() { Ok(()) } else { write!(f, ": {text}") }
    }
}

/// The fields of an order that both kinds of event have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderFields {
    pub(crate) cl_ord_id: ClOrdId,
    pub(crate) order_id: Option<OrderId>,
    pub(crate) security_id: SecurityId,
    pub(crate) side: Side,
    pub(crate) price: Option<Price>,
    pub(crate) quantity: u32,
    pub(crate) open: u32,
    pub(crate) filled: u32,
}

/// A report on an order, except for its trades, which are [`Fill`]s.
#[derive(Debug, Clone, Copy)]
pub struct OrderEvent<'a> {
    pub(crate) order: OrderFields,
    pub(crate) state: OrderState,
    pub(crate) reason: Option<Reason>,
    pub(crate) names: Names<'a>,
    pub(crate) is_redelivered: bool,
}

/// The kind of a [`Fill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FillKind {
    /// A trade of an order in an outright instrument.
    Outright,
    /// A trade of a spread order. Each leg follows as a fill of its own.
    Spread,
    /// A leg of a spread trade.
    SpreadLeg,
    /// A correction of an earlier trade, such as its price. It does not change the position.
    Correction,
    /// A bust of an earlier trade: its quantity leaves the position.
    Bust,
}

/// A trade of an order, or a correction or bust of one.
#[derive(Debug, Clone, Copy)]
pub struct Fill<'a> {
    pub(crate) fill: FillFields,
    pub(crate) names: Names<'a>,
    pub(crate) is_redelivered: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FillFields {
    pub(crate) order: OrderFields,
    pub(crate) kind: FillKind,
    pub(crate) last_price: Price,
    pub(crate) last_quantity: u32,
    pub(crate) exec_id: u64,
    pub(crate) trade_date: Option<u16>,
}

impl FillFields {
    /// Returns the change of the position in contracts, signed.
    pub(crate) fn position_change(&self) -> i64 {
        let signed = self.order.side.sign() * i64::from(self.last_quantity);
        match self.kind {
            FillKind::Outright | FillKind::Spread | FillKind::SpreadLeg => signed,
            FillKind::Bust => -signed,
            FillKind::Correction => 0,
        }
    }
}

/// Defines the accessors of the fields that both kinds of event have.
macro_rules! order_accessors {
    ($event:ident, $($order:ident).+) => {
        impl<'a> $event<'a> {
            /// Returns ClOrdID (11) of the order. A replacement changes it.
            #[must_use]
            pub const fn cl_ord_id(&self) -> ClOrdId {
                self.$($order).+.cl_ord_id
            }

            /// Returns OrderID (37); `None` for an order that was never accepted.
            #[must_use]
            pub const fn order_id(&self) -> Option<OrderId> {
                self.$($order).+.order_id
            }

            /// Returns SecurityID (48).
            #[must_use]
            pub const fn security_id(&self) -> SecurityId {
                self.$($order).+.security_id
            }

            /// Returns Symbol (55), from the definition or `[instruments]` of order.toml; empty if
            /// unknown.
            #[must_use]
            pub fn symbol(&self) -> &'a str {
                self.names.symbol(self.security_id())
            }

            /// Returns the side.
            #[must_use]
            pub const fn side(&self) -> Side {
                self.$($order).+.side
            }

            /// Returns the limit price of the order, if known.
            #[must_use]
            pub const fn price(&self) -> Option<Price> {
                self.$($order).+.price
            }

            /// Returns LeavesQty (151), the open quantity; 0 after the order's end.
            #[must_use]
            pub const fn open(&self) -> Quantity {
                Quantity(self.$($order).+.open as u64)
            }

            /// Returns CumQty (14), the filled quantity of the order.
            #[must_use]
            pub const fn filled(&self) -> Quantity {
                Quantity(self.$($order).+.filled as u64)
            }

            /// Returns `true` if an earlier process received the report, and may have handled it.
            #[must_use]
            pub const fn is_redelivered(&self) -> bool {
                self.is_redelivered
            }
        }
    };
}

order_accessors!(OrderEvent, order);
order_accessors!(Fill, fill.order);

impl<'a> OrderEvent<'a> {
    /// Returns the order's state.
    #[must_use]
    pub const fn state(&self) -> OrderState {
        self.state
    }

    /// Returns OrderQty (38).
    #[must_use]
    pub const fn quantity(&self) -> Quantity {
        Quantity(self.order.quantity as u64)
    }

    /// Returns the exchange's reason for a reject.
    #[must_use]
    pub const fn reason(&self) -> Option<&Reason> {
        self.reason.as_ref()
    }
}

impl fmt::Display for OrderEvent<'_> {
    /// Formats the event in one line: `05F2K9QX-1 buy 1 ESZ6 @ 450025: working, OrderID 7001`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OrderFields { cl_ord_id, side, quantity, security_id, .. } = self.order;
        write!(f, "{cl_ord_id} {side} {quantity} {}", self.names.text(security_id))?;
        if let Some(price) = self.order.price {
            write!(f, " @ {price}")?;
        }
        write!(f, ": {}", self.state)?;
        if let Some(order_id) = self.order.order_id {
            write!(f, ", OrderID {order_id}")?;
        }
        if let Some(reason) = self.reason {
            write!(f, ", {reason}")?;
        }
        f.write_str(redelivered(self.is_redelivered))
    }
}

impl Fill<'_> {
    /// Returns the kind of fill.
    #[must_use]
    pub const fn kind(&self) -> FillKind {
        self.fill.kind
    }

    /// Returns LastPx (31), the price of the trade.
    #[must_use]
    pub const fn last_price(&self) -> Price {
        self.fill.last_price
    }

    /// Returns LastQty (32), the quantity of the trade.
    #[must_use]
    pub const fn last_quantity(&self) -> Quantity {
        Quantity(self.fill.last_quantity as u64)
    }

    /// Returns SecExecID (527).
    #[must_use]
    pub const fn exec_id(&self) -> u64 {
        self.fill.exec_id
    }

    /// Returns TradeDate (75): days since 1970-01-01.
    #[must_use]
    pub const fn trade_date(&self) -> Option<u16> {
        self.fill.trade_date
    }
}

impl fmt::Display for Fill<'_> {
    /// Formats the fill in one line: `05F2K9QX-1 buys 1 ESZ6 @ 450025, 0 open`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FillFields { order, kind, last_price, last_quantity, .. } = self.fill;
        let what = match kind {
            FillKind::Correction => "correction: ",
            FillKind::Bust => "bust: ",
            _ => "",
        };
        let verb = if order.side == Side::Buy { "buys" } else { "sells" };
        let symbol = self.names.text(order.security_id);
        write!(f, "{what}{} {verb} {last_quantity} {symbol} @ {last_price}", order.cl_ord_id)?;
        write!(f, ", {} open{}", order.open, redelivered(self.is_redelivered))
    }
}

/// Returns the end of an event's line.
const fn redelivered(is_redelivered: bool) -> &'static str {
    if is_redelivered { " (redelivered: an earlier run received it)" } else { "" }
}

/// The content of a business message that a strategy receives.
pub(crate) enum Report {
    Order(OrderFields, OrderState, Option<Reason>),
    Fill(FillFields),
    /// A reject of a message that is no request for an order.
    Reject(Reason),
    Other,
}

fn id(text: CharArray<'_>) -> ClOrdId {
    let mut id = [0; 20];
    let text = text.as_bytes();
    let length = text.len().min(id.len());
    id[..length].copy_from_slice(&text[..length]);
    ClOrdId(id)
}

fn fields(order: &order_entry::Order) -> OrderFields {
    OrderFields {
        cl_ord_id: order.cl_ord_id,
        order_id: order.order_id,
        security_id: order.security_id,
        side: Side::from_wire(order.side),
        price: order.price.map(Price::from),
        quantity: order.quantity,
        open: order.leaves,
        filled: order.filled,
    }
}

/// Decodes `$message` as `$name` and evaluates `$then` with the view.
macro_rules! decode {
    ($message:ident, $name:ident, |$view:ident| $then:expr) => {{
        let mut scratch = $name::SCRATCH;
        match $name::decode(&$message.header, $message.body, &mut scratch) {
            Ok($view) => $then,
            // The session has checked the message before.
            Err(_) => Report::Other,
        }
    }};
}

/// Builds the fields of an order from a report; all reports use the same names.
macro_rules! reported {
    ($report:ident, $price:expr, $open:expr, $filled:expr) => {
        OrderFields {
            cl_ord_id: id($report.cl_ord_id()),
            order_id: Some(OrderId($report.order_id())),
            security_id: SecurityId($report.security_id()),
            side: Side::from_wire($report.side()),
            price: $price.map(Price::from),
            quantity: $report.order_qty(),
            open: $open,
            filled: $filled,
        }
    };
}

/// Builds the report of a trade.
macro_rules! traded {
    ($trade:ident, $kind:expr) => {
        Report::Fill(FillFields {
            order: reported!($trade, Some($trade.price()), $trade.leaves_qty(), $trade.cum_qty()),
            kind: $kind,
            last_price: $trade.last_px().into(),
            last_quantity: $trade.last_qty(),
            exec_id: $trade.sec_exec_id(),
            trade_date: $trade.trade_date(),
        })
    };
}

/// Builds the report of a leg or an addendum, which do not have the order's terms.
macro_rules! trade_part {
    ($orders:ident, $part:ident, $side:expr, $kind:expr) => {{
        let order_id = OrderId($part.order_id());
        let known = $orders.by_order_id(order_id).map(fields);
        Report::Fill(FillFields {
            order: OrderFields {
                cl_ord_id: id($part.cl_ord_id()),
                order_id: Some(order_id),
                security_id: SecurityId($part.security_id()),
                side: Side::from_wire($side),
                price: known.and_then(|known| known.price),
                quantity: known.map_or(0, |known| known.quantity),
                open: known.map_or(0, |known| known.open),
                filled: known.map_or(0, |known| known.filled),
            },
            kind: $kind,
            last_price: $part.last_px().into(),
            last_quantity: $part.last_qty(),
            exec_id: $part.sec_exec_id(),
            trade_date: $part.trade_date(),
        })
    }};
}

/// Returns the content of a message. `orders` is the tracker before the message is applied.
pub(crate) fn report(message: &Message<'_>, orders: &Orders) -> Report {
    match message.header.template_id {
        ExecutionReportNew522::TEMPLATE_ID => decode!(message, ExecutionReportNew522, |report| {
            let known = orders.by_order_id(report.order_id());
            let (open, filled) =
                known.map_or((report.order_qty(), 0), |known| (known.leaves, known.filled));
            let order = reported!(report, Some(report.price()), open, filled);
            Report::Order(order, OrderState::Working, None)
        }),
        ExecutionReportModify531::TEMPLATE_ID => {
            decode!(message, ExecutionReportModify531, |report| {
                let (open, filled) = (report.leaves_qty(), report.cum_qty());
                let order = reported!(report, Some(report.price()), open, filled);
                Report::Order(order, OrderState::Working, None)
            })
        }
        ExecutionReportCancel534::TEMPLATE_ID => {
            decode!(message, ExecutionReportCancel534, |report| {
                let order = reported!(report, Some(report.price()), 0, report.cum_qty());
                Report::Order(named(order, orders), OrderState::Canceled, None)
            })
        }
        ExecutionReportElimination524::TEMPLATE_ID => {
            decode!(message, ExecutionReportElimination524, |report| {
                let order = reported!(report, Some(report.price()), 0, report.cum_qty());
                Report::Order(named(order, orders), OrderState::Expired, None)
            })
        }
        ExecutionReportStatus532::TEMPLATE_ID => {
            decode!(message, ExecutionReportStatus532, |report| {
                let order =
                    reported!(report, report.price(), report.leaves_qty(), report.cum_qty());
                Report::Order(order, status_state(report.ord_status()), None)
            })
        }
        ExecutionReportPendingCancel564::TEMPLATE_ID => {
            decode!(message, ExecutionReportPendingCancel564, |report| {
                known_order(orders, report.order_id(), OrderState::PendingCancel, None)
            })
        }
        ExecutionReportPendingReplace565::TEMPLATE_ID => {
            decode!(message, ExecutionReportPendingReplace565, |report| {
                known_order(orders, report.order_id(), OrderState::PendingReplace, None)
            })
        }
        _ => reject_report(message, orders),
    }
}

/// Returns the content of a reject or a trade.
fn reject_report(message: &Message<'_>, orders: &Orders) -> Report {
    match message.header.template_id {
        ExecutionReportReject523::TEMPLATE_ID => {
            decode!(message, ExecutionReportReject523, |report| {
                let order =
                    OrderFields { order_id: None, ..reported!(report, report.price(), 0, 0) };
                let code = OrderRejectReason(report.ord_rej_reason());
                let reason = Reason::new(code.0, code.text(), report.text());
                Report::Order(order, OrderState::Rejected, Some(reason))
            })
        }
        OrderCancelReject535::TEMPLATE_ID => decode!(message, OrderCancelReject535, |reject| {
            let code = CancelRejectReason(reject.cxl_rej_reason());
            let reason = Reason::new(code.0, code.text(), reject.text());
            known_order(orders, reject.order_id(), OrderState::CancelRejected, Some(reason))
        }),
        OrderCancelReplaceReject536::TEMPLATE_ID => {
            decode!(message, OrderCancelReplaceReject536, |reject| {
                let code = ReplaceRejectReason(reject.cxl_rej_reason());
                let reason = Reason::new(code.0, code.text(), reject.text());
                known_order(orders, reject.order_id(), OrderState::ReplaceRejected, Some(reason))
            })
        }
        BusinessReject521::TEMPLATE_ID => decode!(message, BusinessReject521, |reject| {
            let code = BusinessRejectReason(reject.business_reject_reason());
            let reason = Reason::new(code.0, code.text(), reject.text());
            rejected_request(orders, &reject, reason)
        }),
        _ => trade_report(message, orders),
    }
}

/// Returns the content of a trade, a leg or an addendum.
fn trade_report(message: &Message<'_>, orders: &Orders) -> Report {
    match message.header.template_id {
        ExecutionReportTradeOutright525::TEMPLATE_ID => {
            decode!(message, ExecutionReportTradeOutright525, |trade| {
                traded!(trade, FillKind::Outright)
            })
        }
        ExecutionReportTradeSpread526::TEMPLATE_ID => {
            decode!(message, ExecutionReportTradeSpread526, |trade| {
                traded!(trade, FillKind::Spread)
            })
        }
        ExecutionReportTradeSpreadLeg527::TEMPLATE_ID => {
            decode!(message, ExecutionReportTradeSpreadLeg527, |leg| {
                trade_part!(orders, leg, leg.side(), FillKind::SpreadLeg)
            })
        }
        ExecutionReportTradeAddendumOutright548::TEMPLATE_ID => {
            decode!(message, ExecutionReportTradeAddendumOutright548, |part| {
                trade_part!(orders, part, part.side(), addendum_kind(part.exec_type()))
            })
        }
        ExecutionReportTradeAddendumSpread549::TEMPLATE_ID => {
            decode!(message, ExecutionReportTradeAddendumSpread549, |part| {
                trade_part!(orders, part, part.side(), addendum_kind(part.exec_type()))
            })
        }
        ExecutionReportTradeAddendumSpreadLeg550::TEMPLATE_ID => {
            decode!(message, ExecutionReportTradeAddendumSpreadLeg550, |part| {
                match part.side() {
                    Some(side) => trade_part!(orders, part, side, addendum_kind(part.exec_type())),
                    None => Report::Other,
                }
            })
        }
        _ => Report::Other,
    }
}

/// Returns an order that a mass action has canceled, before it is applied: `number` counts the
/// orders of the report. Returns `None` after the last one, and `Some(None)` for an unknown order.
pub(crate) fn affected_order(
    message: &Message<'_>,
    orders: &Orders,
    number: usize,
) -> Option<Option<OrderFields>> {
    if message.header.template_id != OrderMassActionReport562::TEMPLATE_ID {
        return None;
    }
    let mut scratch = OrderMassActionReport562::SCRATCH;
    let decoded = OrderMassActionReport562::decode(&message.header, message.body, &mut scratch);
    let (mut affected, mut scratch) =
        (decoded.ok()?.no_affected_orders(), NoAffectedOrders::SCRATCH);
    let mut order_id = affected.next(&mut scratch)?.affected_order_id();
    for _ in 0..number {
        order_id = affected.next(&mut scratch)?.affected_order_id();
    }
    Some(orders.by_order_id(order_id).map(|order| OrderFields { open: 0, ..fields(order) }))
}

/// Returns a new order that the exchange has not applied, before it is dropped: `number` counts
/// the requests in flight. Returns `None` after the last request, and `Some(None)` for another
/// request.
pub(crate) fn unapplied_order(
    uuid: u64,
    not_applied: order_entry::NotApplied,
    orders: &Orders,
    number: usize,
) -> Option<Option<OrderFields>> {
    let request = orders.in_flight().nth(number)?;
    let from = not_applied.from_seq_no;
    let numbers = from..from.saturating_add(not_applied.count);
    let is_meant = request.kind == order_entry::RequestKind::New
        && request.uuid == uuid
        && numbers.contains(&request.seq_num);
    let order = orders.by_cl_ord_id(request.cl_ord_id).filter(|_| is_meant);
    Some(order.map(|order| OrderFields { open: 0, ..fields(order) }))
}

fn addendum_kind(kind: ExecTypTrdCxl) -> FillKind {
    if kind == ExecTypTrdCxl::TRADE_CANCEL { FillKind::Bust } else { FillKind::Correction }
}

fn status_state(status: OrderStatus) -> OrderState {
    match status {
        OrderStatus::PENDING_CANCEL => OrderState::PendingCancel,
        OrderStatus::PENDING_REPLACE => OrderState::PendingReplace,
        OrderStatus::FILLED => OrderState::Filled,
        OrderStatus::CANCELLED => OrderState::Canceled,
        OrderStatus::EXPIRED => OrderState::Expired,
        OrderStatus::REJECTED => OrderState::Rejected,
        _ => OrderState::Working,
    }
}

/// Gives a reported order the ClOrdID under which it is known: the report of a cancel has that of
/// the request.
fn named(order: OrderFields, orders: &Orders) -> OrderFields {
    let known = order.order_id.and_then(|order_id| orders.by_order_id(order_id));
    OrderFields { cl_ord_id: known.map_or(order.cl_ord_id, |known| known.cl_ord_id), ..order }
}

/// Returns the report on a request for a known order.
fn known_order(
    orders: &Orders,
    order_id: u64,
    state: OrderState,
    reason: Option<Reason>,
) -> Report {
    match (orders.by_order_id(order_id), reason) {
        (Some(order), reason) => Report::Order(fields(order), state, reason),
        (None, Some(reason)) => Report::Reject(reason),
        (None, None) => Report::Other,
    }
}

/// Returns the report on a request that the exchange did not execute.
fn rejected_request(orders: &Orders, reject: &BusinessReject521<'_>, reason: Reason) -> Report {
    let (number, uuid) = (reject.ref_seq_num(), reject.uuid());
    let request = orders.in_flight().find(|it| match number {
        Some(number) => it.seq_num == number && it.uuid == uuid,
        None => reject.business_reject_ref_id() == Some(it.request_id),
    });
    let Some(request) = request else { return Report::Reject(reason) };
    let order = match request.order_id {
        Some(order_id) => orders.by_order_id(order_id),
        None => orders.by_cl_ord_id(request.cl_ord_id),
    };
    let state = match request.kind {
        order_entry::RequestKind::New => OrderState::Rejected,
        order_entry::RequestKind::Replace => OrderState::ReplaceRejected,
        _ => OrderState::CancelRejected,
    };
    match order {
        Some(order) => Report::Order(fields(order), state, Some(reason)),
        None => Report::Reject(reason),
    }
}
