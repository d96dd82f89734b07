//! Whether an order, a replacement or a cancel can be done, and the refusal if not.
//!
//! A message that is no order at all, because a field is missing, is not text or has no such
//! value, is refused by BusinessReject521; an order that could be one but that this market does
//! not take, by the report of its own kind (523, 536, 535) with one of CME's order reject codes.

use hairpin_cme_codecs::ilink3::{OrderTypeReq, SideReq, TimeInForce};
use hairpin_sbe::CharArray;

use super::parties::Parties;
use super::reason::{BusinessReason, OrderReason, QuoteReason};
use super::request::{ClientOrder, Request};
use crate::matching::{self, NewOrder, OrderKind, Owner, Rejection, Side};
use crate::{Market, Price};

/// Tags of the fields that messages are refused for.
pub(super) mod tag {
    pub(crate) const SECURITY: u16 = 48;
    pub(crate) const QUOTE_CANCEL_TYPE: u16 = 298;
    pub(crate) const MASS_STATUS_REQ_TYPE: u16 = 585;
    pub(crate) const SIDE_TIME_IN_FORCE: u16 = 962;
    pub(crate) const SECURITY_GROUP: u16 = 1151;
    pub(super) const CL_ORD_ID: u16 = 11;
    pub(super) const EXEC_INST: u16 = 18;
    pub(super) const ORDER_ID: u16 = 37;
    pub(crate) const ORDER_QTY: u16 = 38;
    pub(super) const ORD_TYPE: u16 = 40;
    pub(super) const PRICE: u16 = 44;
    pub(crate) const SIDE: u16 = 54;
    pub(super) const TIME_IN_FORCE: u16 = 59;
    pub(super) const STOP_PX: u16 = 99;
    pub(super) const EXPIRE_DATE: u16 = 432;
    pub(crate) const CROSS_ID: u16 = 548;
    pub(crate) const CROSS_TYPE: u16 = 549;
    pub(super) const MANUAL_ORDER_INDICATOR: u16 = 1028;
    pub(super) const DISPLAY_QTY: u16 = 1138;
    pub(crate) const LIST_UPDATE_ACTION: u16 = 1324;
    pub(crate) const PARTY_DETAILS_LIST_REQ_ID: u16 = 1505;
    pub(crate) const NO_PARTY_DETAILS: u16 = 1671;
    pub(crate) const PARTY_DETAIL_ID: u16 = 1691;
    pub(crate) const PARTY_DETAIL_ROLE: u16 = 1693;
    pub(crate) const NO_TRD_REG_PUBLICATIONS: u16 = 2668;
    pub(super) const SENDER_ID: u16 = 5392;
    pub(crate) const QUOTE_ENTRY_OPEN: u16 = 9182;
    pub(super) const LOCATION: u16 = 9537;
    pub(crate) const QUOTE_ENTRY_CONTROL: u16 = 39_034;
}

/// Why a business message is refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refusal {
    Business { reason: BusinessReason, tag: Option<u16>, text: &'static str },
    Order(OrderReason),
}

impl From<OrderReason> for Refusal {
    fn from(reason: OrderReason) -> Self {
        Self::Order(reason)
    }
}

impl From<Rejection> for OrderReason {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::UnknownInstrument => Self::UnknownContract,
            Rejection::Quantity => Self::Quantity,
            Rejection::Price => Self::FieldIncorrect,
            Rejection::Minimum => Self::Qualifier,
            Rejection::NoOppositePrice => Self::NoOppositePrice,
            Rejection::Closed => Self::Closed,
            Rejection::UnknownOrder => Self::NotOnBook,
            Rejection::Mitigation => Self::OtherMitigation,
            Rejection::StopNotAbove => Self::StopNotAbove,
            Rejection::StopNotBelow => Self::StopNotBelow,
            Rejection::LimitBelowStop => Self::LimitBelowStop,
            Rejection::LimitAboveStop => Self::LimitAboveStop,
            Rejection::NotForStop => Self::Qualifier,
            Rejection::Full => Self::Rejected,
        }
    }
}

impl From<Rejection> for QuoteReason {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::UnknownInstrument => Self::UnknownSecurity,
            Rejection::Closed => Self::Closed,
            Rejection::Full => Self::ExceedsLimit,
            Rejection::Price => Self::InvalidPrice,
            _ => Self::Other,
        }
    }
}

/// The largest quantity that is an order at all, says CME of tag 38; below it, what is more than
/// the instrument allows is refused as an order.
const LARGEST_QUANTITY: u32 = 99_999;

const fn business(reason: BusinessReason, tag: u16, text: &'static str) -> Refusal {
    Refusal::Business { reason, tag: Some(tag), text }
}

/// A refusal that is about no order.
pub(super) const fn business_refusal(
    reason: BusinessReason,
    tag: Option<u16>,
    text: &'static str,
) -> Refusal {
    Refusal::Business { reason, tag, text }
}

pub(super) const fn missing(tag: u16) -> Refusal {
    business(BusinessReason::RequiredFieldMissing, tag, "Required field missing")
}

pub(super) const fn no_such_value(tag: u16) -> Refusal {
    business(BusinessReason::EnumNotSupported, tag, "The field has no such value")
}

pub(super) const fn not_done(tag: u16) -> Refusal {
    business(BusinessReason::Other, tag, "This field is not supported here")
}

/// A text without its padding.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    CharArray::new(text).as_bytes()
}

/// Whether texts are there, and printable.
pub(super) fn check_texts(texts: &[(&[u8], u16)]) -> Result<(), Refusal> {
    for &(text, tag) in texts {
        let text = CharArray::new(text);
        if text.is_empty() {
            return Err(missing(tag));
        }
        if !text.as_bytes().iter().all(|byte| (b' '..=b'~').contains(byte)) {
            return Err(business(BusinessReason::IncorrectDataFormat, tag, "Not printable ASCII"));
        }
    }
    Ok(())
}

/// What all requests have in common.
pub(super) fn check_sender(request: &Request, parties: &Parties<'_>) -> Result<(), Refusal> {
    check_texts(&[(&request.sender_id, tag::SENDER_ID), (&request.location, tag::LOCATION)])?;
    check_manual(request)?;
    parties.check(request.party_details_list_req_id)
}

/// CME takes automated (0) and manual (1), and refuses what is neither.
fn check_manual(request: &Request) -> Result<(), Refusal> {
    match request.manual_order_indicator {
        0 | 1 => Ok(()),
        _ => Err(no_such_value(tag::MANUAL_ORDER_INDICATOR)),
    }
}

/// What orders, replacements and cancels have in common.
pub(super) fn check_named_request(
    request: &Request,
    side: SideReq,
    parties: &Parties<'_>,
) -> Result<Side, Refusal> {
    check_texts(&[
        (&request.sender_id, tag::SENDER_ID),
        (&request.cl_ord_id, tag::CL_ORD_ID),
        (&request.location, tag::LOCATION),
    ])?;
    check_manual(request)?;
    parties.check(request.party_details_list_req_id)?;
    match side {
        SideReq::BUY => Ok(Side::Bid),
        SideReq::SELL => Ok(Side::Offer),
        _ => Err(no_such_value(tag::SIDE)),
    }
}

/// An order as matching takes it, but for its owner, and the trigger of a stop order.
pub(super) type Wanted = (NewOrder, Option<Price>);

/// The order as matching takes it. `today` counts days from 1970-01-01.
pub(super) fn check_order(
    order: &ClientOrder,
    parties: &Parties<'_>,
    market: &impl Market,
    today: u16,
) -> Result<Wanted, Refusal> {
    let side = check_named_request(&order.request, order.side, parties)?;
    let (kind, is_stop) = check_kind(order)?;
    let extras = [
        (order.stop_px.is_some() && !is_stop, tag::STOP_PX),
        (order.display_qty.is_some(), tag::DISPLAY_QTY),
        (order.exec_inst != 0, tag::EXEC_INST),
    ];
    if let Some((_, tag)) = extras.into_iter().find(|(is_set, _)| *is_set) {
        return Err(not_done(tag));
    }
    if order.quantity > LARGEST_QUANTITY {
        let text = "No order has so many contracts";
        return Err(business(BusinessReason::ValueOutOfRange, tag::ORDER_QTY, text));
    }
    // Of a market order, and of a stop order with protection, the price is not looked at.
    let price = match kind {
        OrderKind::Limit => order.price.ok_or(missing(tag::PRICE))?,
        OrderKind::Market | OrderKind::MarketLimit => order.price.unwrap_or_default(),
    };
    let trigger = match order.stop_px {
        None if is_stop => return Err(missing(tag::STOP_PX)),
        trigger => trigger,
    };
    let (time_in_force, minimum) = check_qualifier(order, today)?;
    let instrument = market.instrument(order.security_id).ok_or(OrderReason::UnknownContract)?;
    let quantity = order.quantity;
    let owner = Owner::HOUSE;
    let new = NewOrder { instrument, side, kind, price, quantity, minimum, time_in_force, owner };
    Ok((new, trigger))
}

/// The kind of an order, that of a stop order as it comes in, and whether it is one.
fn check_kind(order: &ClientOrder) -> Result<(OrderKind, bool), Refusal> {
    match OrderTypeReq(order.ord_type.0) {
        OrderTypeReq::LIMIT => Ok((OrderKind::Limit, false)),
        OrderTypeReq::MARKETWITH_PROTECTION => Ok((OrderKind::Market, false)),
        OrderTypeReq::MARKET_WITH_LEFTOVER_AS_LIMIT => Ok((OrderKind::MarketLimit, false)),
        OrderTypeReq::STOP_LIMIT => Ok((OrderKind::Limit, true)),
        OrderTypeReq::STOPWITH_PROTECTION => Ok((OrderKind::Market, true)),
        _ => Err(no_such_value(tag::ORD_TYPE)),
    }
}

/// How long an order works, and how much of it has to trade at once. Fill or kill is what CME
/// makes of it: fill and kill with all of it as the minimum.
fn check_qualifier(
    order: &ClientOrder,
    today: u16,
) -> Result<(matching::TimeInForce, u32), Refusal> {
    let minimum = order.min_qty.unwrap_or(0);
    let qualifier = match order.time_in_force {
        TimeInForce::DAY => (matching::TimeInForce::Day, minimum),
        TimeInForce::GOOD_TILL_CANCEL => (matching::TimeInForce::GoodTillCancel, minimum),
        TimeInForce::FILL_AND_KILL => (matching::TimeInForce::FillAndKill, minimum),
        TimeInForce::FILL_OR_KILL if order.min_qty.is_none_or(|min| min == order.quantity) => {
            (matching::TimeInForce::FillAndKill, order.quantity)
        }
        TimeInForce::GOOD_TILL_DATE => {
            let last = order.expire_date.ok_or(missing(tag::EXPIRE_DATE))?;
            if last < today {
                return Err(OrderReason::Qualifier.into());
            }
            (matching::TimeInForce::GoodTillDate(last), minimum)
        }
        // Another minimum, and orders that end with the client's session.
        TimeInForce::FILL_OR_KILL | TimeInForce::GOOD_FOR_SESSION => {
            return Err(OrderReason::Qualifier.into());
        }
        _ => return Err(no_such_value(tag::TIME_IN_FORCE)),
    };
    if order.expire_date.is_some() && order.time_in_force != TimeInForce::GOOD_TILL_DATE {
        return Err(OrderReason::Qualifier.into());
    }
    Ok(qualifier)
}

/// The side of a cancel.
pub(super) fn check_cancel(
    request: &Request,
    side: SideReq,
    parties: &Parties<'_>,
) -> Result<Side, Refusal> {
    check_named_request(request, side, parties)
}

/// The number of an order that is to be replaced or cancelled.
pub(super) fn check_order_id(order_id: Option<u64>) -> Result<matching::OrderId, Refusal> {
    order_id.map(matching::OrderId).ok_or(missing(tag::ORDER_ID))
}

/// Whether `owner` may have this order on this side replaced or cancelled.
pub(super) fn check_target(
    market: &impl Market,
    order: matching::OrderId,
    owner: Owner,
    side: Side,
) -> Result<matching::Order, Refusal> {
    let resting = market.order(order).copied().ok_or(OrderReason::NotOnBook)?;
    if resting.owner != owner {
        return Err(OrderReason::OtherSession.into());
    }
    if resting.side != side {
        return Err(OrderReason::OtherSide.into());
    }
    Ok(resting)
}
