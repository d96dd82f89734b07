//! The arguments of callbacks: plain data, valid until the callback returns.
//!
//! Members are added at the end only.

use core::ffi::c_char;

use hairpin::feed_handler::{Definition, Level as FeedLevel, Price9, StatusScope};
use hairpin::order_entry::{self as order_entry, SideReq};
use hairpin::time::Utc;
use hairpin::{
    BookEvent, ClOrdId, Fill, FillKind, Level, MarketMessage, NotReady, OrderEvent, OrderMessage,
    OrderState, Price, Problem, SecurityStatus, Side, Statistic, TradeEvent,
};

use crate::error::{Outcome, fail, hairpin_error};
use crate::price::{HAIRPIN_NO_PRICE, hairpin_price};

/// The side of an order, a trade or a book.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum hairpin_side {
    /// Not stated.
    None = 0,
    /// Buy; in a book, the bids.
    Buy = 1,
    /// Sell; in a book, the asks.
    Sell = 2,
}

impl hairpin_side {
    pub(crate) fn read(side: i32) -> Outcome<Side> {
        match side {
            1 => Ok(Side::Buy),
            2 => Ok(Side::Sell),
            _ => Err(fail(hairpin_error::Argument, format_args!("{side} is not a side"))),
        }
    }
}

impl From<Side> for hairpin_side {
    fn from(side: Side) -> Self {
        match side {
            Side::Buy => Self::Buy,
            Side::Sell => Self::Sell,
        }
    }
}

/// The state of an order.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum hairpin_order_state {
    /// A state that this version of the header does not list.
    Other = 0,
    /// On the exchange's book with its present terms, or a stop order that waits for its trigger.
    Working = 1,
    /// Working; the exchange delays a replacement.
    PendingReplace = 2,
    /// Working; the exchange delays a cancel.
    PendingCancel = 3,
    /// Unchanged: the exchange rejected a replacement.
    ReplaceRejected = 4,
    /// Unchanged: the exchange rejected a cancel.
    CancelRejected = 5,
    /// Filled, as a response to a status request reports it.
    Filled = 6,
    /// Canceled, on request or unsolicited.
    Canceled = 7,
    /// Eliminated by its time in force.
    Expired = 8,
    /// Rejected; the order never worked.
    Rejected = 9,
    /// Not received by the exchange. Send it again if it is still needed.
    NotApplied = 10,
    /// Sent and not answered; only in `hairpin_order`.
    Pending = 11,
}

impl From<OrderState> for hairpin_order_state {
    fn from(state: OrderState) -> Self {
        match state {
            OrderState::Working => Self::Working,
            OrderState::PendingReplace => Self::PendingReplace,
            OrderState::PendingCancel => Self::PendingCancel,
            OrderState::ReplaceRejected => Self::ReplaceRejected,
            OrderState::CancelRejected => Self::CancelRejected,
            OrderState::Filled => Self::Filled,
            OrderState::Canceled => Self::Canceled,
            OrderState::Expired => Self::Expired,
            OrderState::Rejected => Self::Rejected,
            OrderState::NotApplied => Self::NotApplied,
            _ => Self::Other,
        }
    }
}

/// The kind of a fill.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum hairpin_fill_kind {
    /// A kind that this version of the header does not list.
    Other = 0,
    /// A trade of an order in an outright instrument.
    Outright = 1,
    /// A trade of a spread order. Each leg follows as a fill of its own.
    Spread = 2,
    /// A leg of a spread trade.
    SpreadLeg = 3,
    /// A correction of an earlier trade. It does not change the position.
    Correction = 4,
    /// A bust of an earlier trade: its quantity leaves the position.
    Bust = 5,
}

impl From<FillKind> for hairpin_fill_kind {
    fn from(kind: FillKind) -> Self {
        match kind {
            FillKind::Outright => Self::Outright,
            FillKind::Spread => Self::Spread,
            FillKind::SpreadLeg => Self::SpreadLeg,
            FillKind::Correction => Self::Correction,
            FillKind::Bust => Self::Bust,
            _ => Self::Other,
        }
    }
}

/// ClOrdID (11): text, padded with NULs; empty if absent.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct hairpin_cl_ord_id {
    /// The text; at most 20 characters.
    pub text: [c_char; 24],
}

impl From<ClOrdId> for hairpin_cl_ord_id {
    #[inline]
    fn from(id: ClOrdId) -> Self {
        let mut text = [0; 24];
        text[..20].copy_from_slice(&id.0.map(|byte| byte as c_char));
        Self { text }
    }
}

impl hairpin_cl_ord_id {
    pub(crate) fn read(&self) -> ClOrdId {
        ClOrdId(core::array::from_fn(|place| self.text[place] as u8))
    }
}

/// A price level of a book.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_level {
    /// The wire price; `HAIRPIN_NO_PRICE` without a level.
    pub price: hairpin_price,
    /// The quantity of all orders at the price.
    pub quantity: u64,
    /// The number of orders; 0 where the exchange does not publish it.
    pub orders: u32,
    /// `true` if the level exists.
    pub is_present: bool,
}

impl From<Option<Level>> for hairpin_level {
    #[inline]
    fn from(level: Option<Level>) -> Self {
        match level {
            Some(Level { price, quantity, orders }) => {
                let price = price.mantissa();
                Self { price, quantity: quantity.0, orders, is_present: true }
            }
            None => Self { price: HAIRPIN_NO_PRICE, quantity: 0, orders: 0, is_present: false },
        }
    }
}

impl From<&FeedLevel> for hairpin_level {
    fn from(level: &FeedLevel) -> Self {
        Some(Level::from(level)).into()
    }
}

/// A change of a book. The matching event is complete, and all books are consistent.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_book_event {
    /// SecurityID (48).
    pub security_id: i32,
    /// The changed parts: 1 the direct book, 2 best bid, 4 best ask, 8 price of the best bid, 16
    /// price of the best ask, 32 the implied book, 64 its best bid, 128 its best ask.
    pub changes: u8,
    /// `true` if the price or the presence of the best bid or ask has changed.
    pub best_price_changed: bool,
    /// `true` if the book has come into sync, or if the exchange sends the event again.
    pub is_resent: bool,
    /// The best bid.
    pub best_bid: hairpin_level,
    /// The best ask.
    pub best_ask: hairpin_level,
    /// TransactTime (60) in nanoseconds since 1970; 0 for a book that has come into sync.
    pub transact_time: u64,
    /// The receive timestamp of the network card or the kernel in nanoseconds since 1970; 0 if
    /// not available.
    pub received: u64,
}

/// The bits of `hairpin_book_event::changes`, in the order of its documentation.
const CHANGES: [hairpin::Changes; 8] = {
    use hairpin::Changes;
    [
        Changes::BOOK,
        Changes::BEST_BID,
        Changes::BEST_ASK,
        Changes::BEST_BID_PRICE,
        Changes::BEST_ASK_PRICE,
        Changes::IMPLIED,
        Changes::BEST_IMPLIED_BID,
        Changes::BEST_IMPLIED_ASK,
    ]
};

/// Returns the changes as bits. The compiler reduces this to a copy, because the bits are equal.
#[inline]
fn change_bits(changes: hairpin::Changes) -> u8 {
    (0..8).fold(0, |bits, bit| bits | u8::from(changes.contains(CHANGES[bit])) << bit)
}

impl From<&BookEvent<'_>> for hairpin_book_event {
    #[inline]
    fn from(event: &BookEvent<'_>) -> Self {
        Self {
            security_id: event.security_id().0,
            changes: change_bits(event.changes()),
            best_price_changed: event.best_price_changed(),
            is_resent: event.is_resent(),
            best_bid: event.best_bid().into(),
            best_ask: event.best_ask().into(),
            transact_time: event.transact_time().as_nanos(),
            received: nanos(event.received()),
        }
    }
}

/// A trade of the market.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_trade_event {
    /// SecurityID (48).
    pub security_id: i32,
    /// The aggressor's side.
    pub aggressor: hairpin_side,
    /// The wire price.
    pub price: hairpin_price,
    /// The quantity.
    pub quantity: u64,
    /// NumberOfOrders (346): the aggressor's order and those it matched.
    pub orders: u32,
    /// MDUpdateAction (279): 0 new, 1 corrected, 2 busted.
    pub action: u8,
    /// `true` if the exchange sends the trade again while it recovers.
    pub is_resent: bool,
    /// TransactTime (60) in nanoseconds since 1970.
    pub transact_time: u64,
    /// The receive timestamp in nanoseconds since 1970; 0 if not available.
    pub received: u64,
}

impl From<&TradeEvent<'_>> for hairpin_trade_event {
    #[inline]
    fn from(event: &TradeEvent<'_>) -> Self {
        let raw = event.raw();
        Self {
            security_id: event.security_id().0,
            aggressor: event.aggressor().map_or(hairpin_side::None, hairpin_side::from),
            price: event.price().mantissa(),
            quantity: event.quantity().0,
            orders: raw.orders,
            action: raw.action.0,
            is_resent: event.is_resent(),
            transact_time: event.transact_time().as_nanos(),
            received: nanos(raw.packet.received),
        }
    }
}

/// An instrument, as its definition describes it. Texts end with a NUL.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_instrument {
    /// SecurityID (48).
    pub security_id: i32,
    /// MarketSegmentID (1300).
    pub market_segment_id: u8,
    /// MarketDepth (264) of the direct book; 0 without one.
    pub depth: u8,
    /// MinPriceIncrement (969); `HAIRPIN_NO_PRICE` if it depends on the price.
    pub min_price_increment: hairpin_price,
    /// DisplayFactor (9787) in units of 10^-9.
    pub display_factor: i64,
    /// MinTradeVol (562): the minimum quantity of an order.
    pub min_trade_vol: u32,
    /// MaxTradeVol (1140): the maximum quantity of an order.
    pub max_trade_vol: u32,
    /// Symbol (55).
    pub symbol: [c_char; 24],
    /// SecurityGroup (1151).
    pub security_group: [c_char; 8],
    /// Asset (6937).
    pub asset: [c_char; 8],
    /// SecurityType (167).
    pub security_type: [c_char; 8],
    /// Currency (15).
    pub currency: [c_char; 8],
}

impl From<&Definition> for hairpin_instrument {
    fn from(definition: &Definition) -> Self {
        Self {
            security_id: definition.security_id,
            market_segment_id: definition.market_segment_id,
            depth: definition.depth,
            min_price_increment: price_or_none(definition.min_price_increment),
            display_factor: definition.display_factor.0,
            min_trade_vol: definition.min_trade_vol,
            max_trade_vol: definition.max_trade_vol,
            symbol: padded(definition.symbol.as_bytes()),
            security_group: padded(definition.security_group.as_bytes()),
            asset: padded(definition.asset.as_bytes()),
            security_type: padded(definition.security_type.as_bytes()),
            currency: padded(definition.currency.as_bytes()),
        }
    }
}

/// A change of the trading status of an instrument, a group or a product.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_status_event {
    /// SecurityID (48); 0 for a group or a product.
    pub security_id: i32,
    /// SecurityTradingStatus (326), such as 17 for open; 255 if not stated.
    pub trading_status: u8,
    /// HaltReason (327); 255 if not stated.
    pub halt_reason: u8,
    /// SecurityTradingEvent (1174); 255 if not stated.
    pub event: u8,
    /// SecurityGroup (1151); empty: any group.
    pub security_group: [c_char; 8],
    /// Asset (6937); empty: all products of the group.
    pub asset: [c_char; 8],
    /// TransactTime (60) in nanoseconds since 1970.
    pub transact_time: u64,
}

impl From<&SecurityStatus<'_>> for hairpin_status_event {
    fn from(status: &SecurityStatus<'_>) -> Self {
        let (security_id, group, asset) = match &status.scope {
            StatusScope::Instrument { security_id, .. } => (*security_id, [0; 8], [0; 8]),
            StatusScope::Group { security_group, asset } => {
                (0, padded(security_group.as_bytes()), padded(asset.as_bytes()))
            }
            _ => (0, [0; 8], [0; 8]),
        };
        Self {
            security_id,
            trading_status: status.trading_status.map_or(u8::MAX, |it| it.0),
            halt_reason: status.halt_reason.map_or(u8::MAX, |it| it.0),
            event: status.event.map_or(u8::MAX, |it| it.0),
            security_group: group,
            asset,
            transact_time: status.transact_time.as_nanos(),
        }
    }
}

/// A statistic of an instrument.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_statistic_event {
    /// SecurityID (48).
    pub security_id: i32,
    /// MDEntryType (269), a character such as `7` for the session's highest trade.
    pub entry_type: u8,
    /// OpenCloseSettlFlag (286), which distinguishes prices of one type; 255 if absent.
    pub flag: u8,
    /// MDUpdateAction (279); 2 removes the statistic.
    pub action: u8,
    /// `true` if the exchange sends the statistic again while it recovers.
    pub is_resent: bool,
    /// The wire price; `HAIRPIN_NO_PRICE` if absent.
    pub price: hairpin_price,
    /// The quantity; `UINT64_MAX` if absent.
    pub quantity: u64,
    /// TransactTime (60) in nanoseconds since 1970.
    pub transact_time: u64,
}

impl From<&Statistic<'_>> for hairpin_statistic_event {
    fn from(statistic: &Statistic<'_>) -> Self {
        Self {
            security_id: statistic.security_id,
            entry_type: statistic.entry_type,
            flag: statistic.open_close_flag.map_or(u8::MAX, |it| it.0),
            action: statistic.action.0,
            is_resent: statistic.is_resent(),
            price: price_or_none(statistic.value.price),
            quantity: statistic.value.quantity.unwrap_or(u64::MAX),
            transact_time: statistic.transact_time.as_nanos(),
        }
    }
}

/// A report on an order, except for its trades.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_order_event {
    /// ClOrdID (11) of the order. A replacement changes it.
    pub cl_ord_id: hairpin_cl_ord_id,
    /// OrderID (37); 0 for an order that was never accepted.
    pub order_id: u64,
    /// SecurityID (48).
    pub security_id: i32,
    /// The side.
    pub side: hairpin_side,
    /// The order's state.
    pub state: hairpin_order_state,
    /// The code of the exchange's reason for a reject; `hairpin_reason_text` has the text.
    pub reason_code: u16,
    /// `true` if there is a reason.
    pub has_reason: bool,
    /// `true` if an earlier process received the report, and may have handled it.
    pub is_redelivered: bool,
    /// The limit price; `HAIRPIN_NO_PRICE` if unknown.
    pub price: hairpin_price,
    /// OrderQty (38).
    pub quantity: u64,
    /// LeavesQty (151), the open quantity.
    pub open: u64,
    /// CumQty (14), the filled quantity.
    pub filled: u64,
}

impl From<&OrderEvent<'_>> for hairpin_order_event {
    #[inline]
    fn from(event: &OrderEvent<'_>) -> Self {
        Self {
            cl_ord_id: event.cl_ord_id().into(),
            order_id: event.order_id().map_or(0, |id| id.0),
            security_id: event.security_id().0,
            side: event.side().into(),
            state: event.state().into(),
            reason_code: event.reason().map_or(0, |reason| reason.code()),
            has_reason: event.reason().is_some(),
            is_redelivered: event.is_redelivered(),
            price: event.price().map_or(HAIRPIN_NO_PRICE, Price::mantissa),
            quantity: event.quantity().0,
            open: event.open().0,
            filled: event.filled().0,
        }
    }
}

/// A trade of an order, or a correction or bust of one.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_fill {
    /// ClOrdID (11) of the order.
    pub cl_ord_id: hairpin_cl_ord_id,
    /// OrderID (37).
    pub order_id: u64,
    /// SecurityID (48).
    pub security_id: i32,
    /// The side.
    pub side: hairpin_side,
    /// The kind of fill.
    pub kind: hairpin_fill_kind,
    /// TradeDate (75) in days since 1970-01-01; 0 if absent.
    pub trade_date: u16,
    /// `true` if an earlier process received the report, and may have handled it.
    pub is_redelivered: bool,
    /// LastPx (31), the price of the trade.
    pub last_price: hairpin_price,
    /// LastQty (32), the quantity of the trade.
    pub last_quantity: u64,
    /// The limit price of the order; `HAIRPIN_NO_PRICE` if unknown.
    pub price: hairpin_price,
    /// LeavesQty (151), the open quantity.
    pub open: u64,
    /// CumQty (14), the filled quantity of the order.
    pub filled: u64,
    /// SecExecID (527).
    pub exec_id: u64,
}

impl From<&Fill<'_>> for hairpin_fill {
    #[inline]
    fn from(fill: &Fill<'_>) -> Self {
        Self {
            cl_ord_id: fill.cl_ord_id().into(),
            order_id: fill.order_id().map_or(0, |id| id.0),
            security_id: fill.security_id().0,
            side: fill.side().into(),
            kind: fill.kind().into(),
            trade_date: fill.trade_date().unwrap_or(0),
            is_redelivered: fill.is_redelivered(),
            last_price: fill.last_price().mantissa(),
            last_quantity: fill.last_quantity().0,
            price: fill.price().map_or(HAIRPIN_NO_PRICE, Price::mantissa),
            open: fill.open().0,
            filled: fill.filled().0,
            exec_id: fill.exec_id(),
        }
    }
}

/// An order on the exchange's books, or one not yet answered.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_order {
    /// ClOrdID (11) of the order, or of its last accepted replacement.
    pub cl_ord_id: hairpin_cl_ord_id,
    /// OrderID (37); 0 until the order is accepted.
    pub order_id: u64,
    /// SecurityID (48).
    pub security_id: i32,
    /// The side.
    pub side: hairpin_side,
    /// The order's state.
    pub state: hairpin_order_state,
    /// The limit price; `HAIRPIN_NO_PRICE` if unknown.
    pub price: hairpin_price,
    /// The stop price; `HAIRPIN_NO_PRICE` without one.
    pub stop_price: hairpin_price,
    /// OrderQty (38).
    pub quantity: u64,
    /// LeavesQty (151), the open quantity.
    pub open: u64,
    /// CumQty (14), the filled quantity.
    pub filled: u64,
}

impl From<&order_entry::Order> for hairpin_order {
    fn from(order: &order_entry::Order) -> Self {
        use order_entry::OrderState;
        let is_sell = order.side == SideReq::SELL;
        Self {
            cl_ord_id: order.cl_ord_id.into(),
            order_id: order.order_id.map_or(0, |id| id.0),
            security_id: order.security_id.0,
            side: if is_sell { hairpin_side::Sell } else { hairpin_side::Buy },
            state: match order.state {
                OrderState::Pending => hairpin_order_state::Pending,
                OrderState::Working => hairpin_order_state::Working,
                OrderState::PendingReplace => hairpin_order_state::PendingReplace,
                OrderState::PendingCancel => hairpin_order_state::PendingCancel,
            },
            price: price_or_none(order.price),
            stop_price: price_or_none(order.stop_price),
            quantity: order.quantity.into(),
            open: order.leaves.into(),
            filled: order.filled.into(),
        }
    }
}

/// The part that is not ready.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_not_ready {
    /// The channel whose books are not in sync; 0 for a session.
    pub channel: u32,
    /// MarketSegmentID (1300) of the session; 0 if there is only one session.
    pub segment: u8,
    /// The reason in one line.
    pub text: *const c_char,
}

impl hairpin_not_ready {
    /// Creates the argument. `text` ends with a NUL.
    pub(crate) fn new(reason: NotReady, text: &[u8]) -> Self {
        let (channel, segment) = match reason {
            NotReady::Books(channel) => (channel.0, 0),
            NotReady::Session(segment) => (0, segment.unwrap_or(0)),
            _ => (0, 0),
        };
        Self { channel, segment, text: text.as_ptr().cast() }
    }
}

/// A problem that does not end the run.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_problem {
    /// The channel of a problem with market data; 0 for a session.
    pub channel: u32,
    /// The problem in one line.
    pub text: *const c_char,
}

impl hairpin_problem {
    /// Creates the argument. `text` ends with a NUL.
    pub(crate) fn new(problem: &Problem<'_>, text: &[u8]) -> Self {
        let channel = match problem {
            Problem::Feed(channel, _)
            | Problem::MarketData(channel, _)
            | Problem::Gap(channel, _)
            | Problem::ChannelReset(channel) => channel.0,
            _ => 0,
        };
        Self { channel, text: text.as_ptr().cast() }
    }
}

/// A raw market data message.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_market_message {
    /// The channel.
    pub channel: u32,
    /// MsgSeqNum: the packet's number within its feed.
    pub sequence: u32,
    /// SendingTime in nanoseconds since 1970.
    pub sending_time: u64,
    /// The receive timestamp in nanoseconds since 1970; 0 if not available.
    pub received: u64,
    /// The message from its SBE header on.
    pub bytes: *const u8,
    /// The length of the message in bytes.
    pub length: usize,
    /// The template id.
    pub template_id: u16,
    /// The schema version.
    pub version: u16,
}

impl From<&MarketMessage<'_>> for hairpin_market_message {
    fn from(message: &MarketMessage<'_>) -> Self {
        let MarketMessage { channel, packet, message } = *message;
        Self {
            channel: channel.0,
            sequence: packet.sequence,
            sending_time: packet.sending_time.as_nanos(),
            received: nanos(packet.received),
            bytes: message.bytes.as_ptr(),
            length: message.bytes.len(),
            template_id: message.header.template_id,
            version: message.header.version,
        }
    }
}

/// A raw business message of the exchange.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_order_message {
    /// UUID (39001) under which the exchange published the message.
    pub uuid: u64,
    /// SeqNum (9726).
    pub seq_num: u32,
    /// MarketSegmentID (1300) of the session; 0 if there is only one session.
    pub segment: u8,
    /// `true` if the exchange may have sent the message before.
    pub is_possible_retransmission: bool,
    /// `true` if an earlier process received the message, and may have handled it.
    pub is_redelivered: bool,
    /// The root block, groups and data after the SBE header.
    pub body: *const u8,
    /// The length of the body in bytes.
    pub length: usize,
    /// The template id.
    pub template_id: u16,
    /// The schema version.
    pub version: u16,
    /// The length of the root block.
    pub block_length: u16,
}

impl From<&OrderMessage<'_>> for hairpin_order_message {
    fn from(message: &OrderMessage<'_>) -> Self {
        let OrderMessage { segment, message } = *message;
        Self {
            uuid: message.uuid,
            seq_num: message.seq_num,
            segment: segment.unwrap_or(0),
            is_possible_retransmission: message.possible_retransmission,
            is_redelivered: message.redelivered,
            body: message.body.as_ptr(),
            length: message.body.len(),
            template_id: message.header.template_id,
            version: message.header.version,
            block_length: message.header.block_length,
        }
    }
}

fn nanos(time: Option<Utc>) -> u64 {
    time.map_or(0, Utc::as_nanos)
}

fn price_or_none(price: Option<Price9>) -> hairpin_price {
    price.map_or(HAIRPIN_NO_PRICE, |price| price.0)
}

/// Copies a text that is shorter than `N`; the rest is NULs.
fn padded<const N: usize>(text: &[u8]) -> [c_char; N] {
    let mut padded = [0; N];
    for (to, from) in padded[..N - 1].iter_mut().zip(text) {
        *to = *from as c_char;
    }
    padded
}
