//! Validation of orders, replacements and cancels.
//!
//! A message that is not a valid order is rejected by BusinessReject521: a field is missing, is not
//! text, or has an undefined value. A valid order that this market does not accept is rejected by
//! the report of its own kind (523, 536, 535), with one of CME's order reject codes.

use hairpin_cme_codecs::ilink3::{BooleanNULL, OrderTypeReq, SideReq, TimeInForce};
use hairpin_sbe::CharArray;

use super::Venue;
use super::party_requests::KnownParties;
use super::reason_codes::{BusinessReason, OrderReason, QuoteReason};
use super::request::{ClientOrder, Request};
use crate::matching::{self, NewOrder, OrderKind, Owner, Rejection, Side};
use crate::{Market, Price};

/// The tags of the fields that cause rejects.
pub(super) mod tag {
    pub(crate) const SECURITY: u16 = 48;
    pub(crate) const QUOTE_CANCEL_TYPE: u16 = 298;
    pub(crate) const MASS_STATUS_REQ_TYPE: u16 = 585;
    pub(crate) const SIDE_TIME_IN_FORCE: u16 = 962;
    pub(crate) const SECURITY_GROUP: u16 = 1151;
    pub(super) const CL_ORD_ID: u16 = 11;
    pub(super) const EXEC_INST: u16 = 18;
    pub(crate) const ORDER_ID: u16 = 37;
    pub(crate) const ORDER_QTY: u16 = 38;
    pub(crate) const ORD_TYPE: u16 = 40;
    pub(super) const PRICE: u16 = 44;
    pub(crate) const SIDE: u16 = 54;
    pub(crate) const TIME_IN_FORCE: u16 = 59;
    pub(super) const STOP_PX: u16 = 99;
    pub(super) const EXPIRE_DATE: u16 = 432;
    pub(crate) const CROSS_ID: u16 = 548;
    pub(crate) const CROSS_TYPE: u16 = 549;
    pub(super) const MANUAL_ORDER_INDICATOR: u16 = 1028;
    pub(crate) const LIST_UPDATE_ACTION: u16 = 1324;
    pub(crate) const MASS_ACTION_SCOPE: u16 = 1374;
    pub(crate) const PARTY_DETAILS_LIST_REQ_ID: u16 = 1505;
    pub(crate) const NO_PARTY_DETAILS: u16 = 1671;
    pub(crate) const PARTY_DETAIL_ID: u16 = 1691;
    pub(crate) const PARTY_DETAIL_ROLE: u16 = 1693;
    pub(crate) const NO_TRD_REG_PUBLICATIONS: u16 = 2668;
    pub(crate) const AVG_PX_INDICATOR: u16 = 819;
    pub(crate) const CLEARING_TRADE_PRICE_TYPE: u16 = 1598;
    pub(crate) const CUST_ORDER_CAPACITY: u16 = 582;
    pub(crate) const CUST_ORDER_HANDLING_INST: u16 = 1031;
    pub(crate) const CLEARING_ACCOUNT_TYPE: u16 = 1816;
    pub(crate) const SELF_MATCH_PREVENTION_ID: u16 = 2362;
    pub(super) const SENDER_ID: u16 = 5392;
    pub(crate) const EXECUTION_MODE: u16 = 5906;
    pub(crate) const MASS_CANCEL_REQUEST_TYPE: u16 = 6115;
    pub(crate) const SMPI: u16 = 8000;
    pub(crate) const SHORT_SALE_TYPE: u16 = 5409;
    pub(super) const MANAGED_ORDER: u16 = 6881;
    pub(crate) const LIQUIDITY_FLAG: u16 = 9373;
    pub(crate) const CMTA_GIVEUP_CD: u16 = 9708;
    pub(crate) const QUOTE_ENTRY_OPEN: u16 = 9182;
    pub(super) const LOCATION: u16 = 9537;
    pub(crate) const QUOTE_ENTRY_CONTROL: u16 = 39_034;
}

/// A reason to reject a business message.
#[derive(Debug, Clone, Copy)]
pub(super) enum RejectCause {
    Business { reason: BusinessReason, tag: Option<u16>, text: &'static str },
    Order(OrderReason),
}

impl From<OrderReason> for RejectCause {
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
            Rejection::Display => Self::Display,
            Rejection::DisplayBelowMinimum => Self::DisplayBelowMinimum,
            Rejection::DisplayChange => Self::DisplayChange,
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

/// The largest quantity of an order (CME, tag 38). A smaller quantity above the instrument's limit
/// is rejected as an order.
const QUANTITY_MAX: u32 = 99_999;

const fn business(reason: BusinessReason, tag: u16, text: &'static str) -> RejectCause {
    RejectCause::Business { reason, tag: Some(tag), text }
}

/// Rejects the first field with a value that its enumeration lacks; reports would repeat it.
pub(super) fn check_defined(undefined: &[(bool, u16)]) -> Result<(), RejectCause> {
    match undefined.iter().find(|(is_undefined, _)| *is_undefined) {
        Some((_, tag)) => Err(undefined_value(*tag)),
        None => Ok(()),
    }
}

/// Rejects an undefined LiquidityFlag (tag 9373).
pub(super) fn check_liquidity(flag: Option<BooleanNULL>) -> Result<(), RejectCause> {
    check_defined(&[(flag.is_some_and(|of| of.name().is_none()), tag::LIQUIDITY_FLAG)])
}

/// Creates a rejection of a message that is not a valid order.
pub(super) const fn business_reject(
    reason: BusinessReason,
    tag: Option<u16>,
    text: &'static str,
) -> RejectCause {
    RejectCause::Business { reason, tag, text }
}

pub(super) const fn missing(tag: u16) -> RejectCause {
    business(BusinessReason::RequiredFieldMissing, tag, "Required field missing")
}

pub(super) const fn undefined_value(tag: u16) -> RejectCause {
    business(BusinessReason::EnumNotSupported, tag, "Value is not defined for this field")
}

pub(super) const fn unsupported(tag: u16) -> RejectCause {
    business(BusinessReason::Other, tag, "Field is not supported")
}

/// Removes the padding of a text.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    CharArray::new(text).as_bytes()
}

/// Checks that texts are present and printable.
pub(super) fn check_texts(texts: &[(&[u8], u16)]) -> Result<(), RejectCause> {
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

/// Creates the reject of a character with another null value than 0x00, which is not decoded.
pub(super) const fn text_null(tag: u16) -> RejectCause {
    business(BusinessReason::CouldNotBeDecoded, tag, "Null of a character is 0x00")
}

/// Checks a character that may be null, which is 0x00 on the wire.
pub(super) fn check_char(value: Option<u8>, defined: &[u8], tag: u16) -> Result<(), RejectCause> {
    match value {
        None => Ok(()),
        Some(u8::MAX) => Err(text_null(tag)),
        Some(value) if defined.contains(&value) => Ok(()),
        Some(_) => Err(undefined_value(tag)),
    }
}

/// The longest operator (tag 5392) in the audit trail's format (CME, page 46441910).
const OPERATOR_MAX: usize = 18;

/// The length of an EBS operator.
const EBS_OPERATOR: usize = 3;

/// Checks the operator: up to 18 letters, digits and `_-:@.+`; for EBS exactly 3.
fn check_operator(request: &Request, venue: Venue) -> Result<(), RejectCause> {
    let operator = trimmed(&request.sender_id);
    if operator.is_empty() {
        return Err(missing(tag::SENDER_ID));
    }
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-:@.+".contains(byte);
    let is_long_enough = match venue {
        Venue::Ebs => operator.len() == EBS_OPERATOR,
        Venue::FuturesAndOptions | Venue::BrokerTec => operator.len() <= OPERATOR_MAX,
    };
    if is_long_enough && operator.iter().all(is_allowed) {
        return Ok(());
    }
    let text = match venue {
        Venue::Ebs => "SenderID is not 3 letters, digits or _-:@.+",
        Venue::FuturesAndOptions | Venue::BrokerTec => {
            "SenderID is not up to 18 letters, digits or _-:@.+"
        }
    };
    Err(business(BusinessReason::IncorrectDataFormat, tag::SENDER_ID, text))
}

/// Checks the fields that all requests have in common.
pub(super) fn check_sender(
    request: &Request,
    parties: &KnownParties<'_>,
) -> Result<(), RejectCause> {
    check_operator(request, parties.venue)?;
    check_texts(&[(&request.location, tag::LOCATION)])?;
    check_manual(request)?;
    parties.check(request.party_details_list_req_id)
}

/// Accepts automated (0) and manual (1), as CME does, and rejects other values.
fn check_manual(request: &Request) -> Result<(), RejectCause> {
    match request.manual_order_indicator {
        0 | 1 => Ok(()),
        _ => Err(undefined_value(tag::MANUAL_ORDER_INDICATOR)),
    }
}

/// Checks the fields that orders, replacements and cancels have in common.
pub(super) fn check_named_request(
    request: &Request,
    side: SideReq,
    parties: &KnownParties<'_>,
) -> Result<Side, RejectCause> {
    check_operator(request, parties.venue)?;
    check_texts(&[(&request.cl_ord_id, tag::CL_ORD_ID), (&request.location, tag::LOCATION)])?;
    check_manual(request)?;
    parties.check(request.party_details_list_req_id)?;
    match side {
        SideReq::BUY => Ok(Side::Bid),
        SideReq::SELL => Ok(Side::Offer),
        _ => Err(undefined_value(tag::SIDE)),
    }
}

/// A validated order without its owner, and the trigger price of a stop order.
pub(super) type ValidatedOrder = (NewOrder, Option<Price>);

/// Validates an order, without its owner and self-match prevention. `today` is in days since
/// 1970-01-01.
pub(super) fn check_order(
    order: &ClientOrder,
    parties: &KnownParties<'_>,
    market: &impl Market,
    today: u16,
) -> Result<ValidatedOrder, RejectCause> {
    let side = check_named_request(&order.request, order.side, parties)?;
    let execution_mode = order.execution_mode.map(|mode| mode.0);
    check_char(execution_mode, b"AP", tag::EXECUTION_MODE)?;
    let (kind, is_stop) = check_kind(order)?;
    check_liquidity(order.liquidity_flag)?;
    check_defined(&[
        (order.managed_order.is_some_and(|of| of.name().is_none()), tag::MANAGED_ORDER),
        (order.short_sale_type.is_some_and(|of| of.name().is_none()), tag::SHORT_SALE_TYPE),
    ])?;
    let extras = [
        (order.stop_px.is_some() && !is_stop, tag::STOP_PX),
        (order.exec_inst != 0, tag::EXEC_INST),
    ];
    if let Some((_, tag)) = extras.into_iter().find(|(is_set, _)| *is_set) {
        return Err(unsupported(tag));
    }
    if order.quantity > QUANTITY_MAX {
        let text = "OrderQty exceeds 99999";
        return Err(business(BusinessReason::ValueOutOfRange, tag::ORDER_QTY, text));
    }
    // The price of a market order and of a stop order with protection is ignored.
    let price = match kind {
        OrderKind::Limit => order.price.ok_or(missing(tag::PRICE))?,
        OrderKind::Market | OrderKind::MarketLimit => order.price.unwrap_or_default(),
    };
    let trigger = match order.stop_px {
        None if is_stop => return Err(missing(tag::STOP_PX)),
        trigger => trigger,
    };
    let (time_in_force, minimum) = check_time_in_force(order, today)?;
    let display = match order.display_qty {
        Some(0) => return Err(OrderReason::Qualifier.into()),
        display => display.unwrap_or(0),
    };
    let instrument = market.instrument(order.security_id).ok_or(OrderReason::UnknownContract)?;
    let quantity = order.quantity;
    let new = NewOrder {
        instrument,
        side,
        kind,
        price,
        quantity,
        minimum,
        display,
        time_in_force,
        ..NewOrder::default()
    };
    Ok((new, trigger))
}

/// Validates the order type. Returns the kind with which the order enters the book, and `true` for
/// a stop order.
fn check_kind(order: &ClientOrder) -> Result<(OrderKind, bool), RejectCause> {
    match OrderTypeReq(order.ord_type.0) {
        OrderTypeReq::LIMIT => Ok((OrderKind::Limit, false)),
        OrderTypeReq::MARKETWITH_PROTECTION => Ok((OrderKind::Market, false)),
        OrderTypeReq::MARKET_WITH_LEFTOVER_AS_LIMIT => Ok((OrderKind::MarketLimit, false)),
        OrderTypeReq::STOP_LIMIT => Ok((OrderKind::Limit, true)),
        OrderTypeReq::STOPWITH_PROTECTION => Ok((OrderKind::Market, true)),
        _ => Err(undefined_value(tag::ORD_TYPE)),
    }
}

/// Validates time in force and minimum quantity. CME defines fill or kill as fill and kill with the
/// whole quantity as the minimum.
fn check_time_in_force(
    order: &ClientOrder,
    today: u16,
) -> Result<(matching::TimeInForce, u32), RejectCause> {
    let minimum = order.min_qty.unwrap_or(0);
    let validated = match order.time_in_force {
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
        // Fill or kill with another minimum, and orders that end with the client's session.
        TimeInForce::FILL_OR_KILL | TimeInForce::GOOD_FOR_SESSION => {
            return Err(OrderReason::Qualifier.into());
        }
        _ => return Err(undefined_value(tag::TIME_IN_FORCE)),
    };
    if order.expire_date.is_some() && order.time_in_force != TimeInForce::GOOD_TILL_DATE {
        return Err(OrderReason::Qualifier.into());
    }
    Ok(validated)
}

/// Validates a cancel and returns its side.
pub(super) fn check_cancel(
    request: &Request,
    side: SideReq,
    parties: &KnownParties<'_>,
) -> Result<Side, RejectCause> {
    check_named_request(request, side, parties)
}

/// Checks that `owner` has this order on this side.
pub(super) fn check_target(
    market: &impl Market,
    order: matching::OrderId,
    owner: Owner,
    side: Side,
) -> Result<matching::Order, RejectCause> {
    let resting = market.order(order).copied().ok_or(OrderReason::NotOnBook)?;
    if resting.owner != owner {
        return Err(OrderReason::OtherSession.into());
    }
    if resting.side != side {
        return Err(OrderReason::OtherSide.into());
    }
    Ok(resting)
}
