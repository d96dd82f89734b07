//! Business messages: numbers, orders, cancels, and their answers.

use hairpin_cme_codecs::ilink3::{
    NewOrderSingle514, OrderCancelRequest516, OrderTypeReq, SideReq, TimeInForce,
};
use hairpin_sbe::CharArray;

use super::Rejected;
use super::dispatch::Handling;
use super::reason::{BusinessReason, TerminateCode};
use super::reports::{Refusal, Request};
use crate::matching::{NewOrder, OrderId, Owner, Rejection, Side};
use crate::{Listener, Market};

/// Numbers run from 1 to this.
pub(super) const LARGEST_SEQUENCE: u32 = 999_999_999;

/// Tags of the fields that orders are refused for.
mod tag {
    pub(super) const CL_ORD_ID: u16 = 11;
    pub(super) const EXEC_INST: u16 = 18;
    pub(super) const ORDER_ID: u16 = 37;
    pub(super) const ORDER_QTY: u16 = 38;
    pub(super) const ORD_TYPE: u16 = 40;
    pub(super) const PRICE: u16 = 44;
    pub(super) const SECURITY_ID: u16 = 48;
    pub(super) const SIDE: u16 = 54;
    pub(super) const TIME_IN_FORCE: u16 = 59;
    pub(super) const STOP_PX: u16 = 99;
    pub(super) const MIN_QTY: u16 = 110;
    pub(super) const DISPLAY_QTY: u16 = 1138;
    pub(super) const PARTY_DETAILS_LIST_REQ_ID: u16 = 1505;
    pub(super) const SENDER_ID: u16 = 5392;
    pub(super) const LOCATION: u16 = 9537;
}

impl<L: Listener> Handling<'_, L> {
    /// Takes the number of a business message; `true` if it is the expected one.
    pub(super) fn take_number(&mut self, account: usize, number: u32) -> bool {
        let expected = self.accounts[account].next_inbound;
        if number < expected || number > LARGEST_SEQUENCE {
            self.fail(TerminateCode::InvalidMsgSeqNo);
            return false;
        }
        if number > expected {
            self.not_applied(expected, number);
            return false;
        }
        self.accounts[account].next_inbound += 1;
        true
    }

    /// Tells the client that `number` and those before it from `expected` on are not applied,
    /// each number once unless the client begins again from below.
    pub(super) fn not_applied(&mut self, expected: u32, number: u32) {
        let told = self.session.not_applied;
        let from = if number > told { expected.max(told + 1) } else { expected };
        self.session.not_applied = told.max(number);
        self.counters.not_applied += 1;
        self.session.send_not_applied(self.now, from, number - from + 1);
    }

    pub(super) fn handle_new_order(
        &mut self,
        account: usize,
        message: &NewOrderSingle514<'_>,
        market: &mut impl Market,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        let cl_ord_id = message.cl_ord_id().as_bytes();
        self.counters.orders += 1;
        self.listener.on_order(self.session.id, cl_ord_id);
        let request = Request::from_order(message);
        let accepted = check_order(message, market).and_then(|order| {
            let owner = Owner(account as u32 + 1);
            market.submit(self.now, &NewOrder { owner, ..order }).map_err(refusal_of)
        });
        match accepted {
            Ok(submitted) => {
                self.orders[submitted.order.slot() as usize] = super::reports::ClientOrder {
                    order: submitted.order,
                    request,
                    security_id: message.security_id(),
                    side: message.side(),
                    price: message.price().unwrap_or_default(),
                    quantity: message.order_qty(),
                };
                self.send_new(account, message, submitted.order);
                self.counters.acknowledgements += 1;
                self.listener.on_acknowledged(self.session.id, cl_ord_id, submitted.order);
            }
            Err(refusal) => self.reject(account, &request, b"D", message.seq_num(), refusal),
        }
    }

    pub(super) fn handle_cancel_request(
        &mut self,
        account: usize,
        message: &OrderCancelRequest516<'_>,
        market: &mut impl Market,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        let cl_ord_id = message.cl_ord_id().as_bytes();
        self.counters.cancels += 1;
        self.listener.on_cancel(self.session.id, cl_ord_id);
        let request = Request::from_cancel(message);
        if let Err(refusal) = check_cancel(message) {
            return self.reject(account, &request, b"F", message.seq_num(), refusal);
        }
        let order = OrderId(message.order_id().unwrap_or(0));
        let owner = Owner(account as u32 + 1);
        match market.cancel(self.now, order, owner) {
            Some(cancelled) => {
                self.send_cancelled(account, message, &cancelled);
                self.counters.cancelled += 1;
                self.listener.on_cancelled(self.session.id, cl_ord_id, order);
            }
            None => {
                self.send_cancel_reject(account, message);
                self.counters.cancel_rejects += 1;
                let rejected = Rejected::Cancel { cl_ord_id };
                self.listener.on_rejected(self.session.id, rejected);
            }
        }
    }

    pub(super) fn reject(
        &mut self,
        account: usize,
        request: &Request,
        message_type: &[u8],
        number: u32,
        refusal: Refusal,
    ) {
        self.send_business_reject(account, request, message_type, Some(number), refusal);
        self.counters.business_rejects += 1;
        let Refusal { reason, tag, .. } = refusal;
        let cl_ord_id = CharArray::new(&request.cl_ord_id).as_bytes();
        self.listener.on_rejected(self.session.id, Rejected::Business { cl_ord_id, reason, tag });
    }
}

const fn refusal(reason: BusinessReason, tag: u16, text: &'static str) -> Refusal {
    Refusal { reason, tag: Some(tag), text }
}

const fn missing(tag: u16) -> Refusal {
    refusal(BusinessReason::RequiredFieldMissing, tag, "Required field missing")
}

const fn unsupported(tag: u16) -> Refusal {
    refusal(BusinessReason::EnumNotSupported, tag, "Only limit orders good for the day")
}

const fn not_done(tag: u16) -> Refusal {
    refusal(BusinessReason::Other, tag, "This field is not supported here")
}

fn refusal_of(rejection: Rejection) -> Refusal {
    match rejection {
        Rejection::Price => refusal(
            BusinessReason::ValueOutOfRange,
            tag::PRICE,
            "Price is not a multiple of the tick, or out of range",
        ),
        Rejection::Quantity => {
            refusal(BusinessReason::ValueOutOfRange, tag::ORDER_QTY, "Quantity out of range")
        }
        Rejection::UnknownInstrument => {
            refusal(BusinessReason::UnknownSecurity, tag::SECURITY_ID, "Unknown security")
        }
        Rejection::Full => Refusal {
            reason: BusinessReason::Other,
            tag: None,
            text: "The exchange holds no more orders",
        },
    }
}

/// The party details that every session is taken to have registered.
const PARTY_DETAILS_LIST_REQ_ID: u64 = 1;

/// What orders and cancels have in common.
fn check_request(
    party_details: u64,
    texts: [(CharArray<'_>, u16); 3],
    side: SideReq,
) -> Result<Side, Refusal> {
    for (text, tag) in texts {
        if text.is_empty() {
            return Err(missing(tag));
        }
        if !text.as_bytes().iter().all(|byte| (b' '..=b'~').contains(byte)) {
            return Err(refusal(BusinessReason::IncorrectDataFormat, tag, "Incorrect data format"));
        }
    }
    if party_details != PARTY_DETAILS_LIST_REQ_ID {
        return Err(refusal(
            BusinessReason::UnknownPartyDetailsListReqId,
            tag::PARTY_DETAILS_LIST_REQ_ID,
            "Unknown PartyDetailsListReqID",
        ));
    }
    match side {
        SideReq::BUY => Ok(Side::Bid),
        SideReq::SELL => Ok(Side::Offer),
        _ => Err(refusal(BusinessReason::EnumNotSupported, tag::SIDE, "Side is Buy or Sell")),
    }
}

/// The order as matching takes it, but for its owner.
fn check_order(message: &NewOrderSingle514<'_>, market: &impl Market) -> Result<NewOrder, Refusal> {
    let texts = [
        (message.sender_id(), tag::SENDER_ID),
        (message.cl_ord_id(), tag::CL_ORD_ID),
        (message.location(), tag::LOCATION),
    ];
    let side = check_request(message.party_details_list_req_id(), texts, message.side())?;
    if message.ord_type() != OrderTypeReq::LIMIT {
        return Err(unsupported(tag::ORD_TYPE));
    }
    // Absent means Day.
    if message.time_in_force().is_some_and(|time| time != TimeInForce::DAY) {
        return Err(unsupported(tag::TIME_IN_FORCE));
    }
    let extras = [
        (message.stop_px().is_some(), tag::STOP_PX),
        (message.min_qty().is_some(), tag::MIN_QTY),
        (message.display_qty().is_some(), tag::DISPLAY_QTY),
        (message.exec_inst().0 != 0, tag::EXEC_INST),
    ];
    if let Some((_, tag)) = extras.into_iter().find(|(is_set, _)| *is_set) {
        return Err(not_done(tag));
    }
    let instrument =
        market.instrument(message.security_id()).ok_or(refusal_of(Rejection::UnknownInstrument))?;
    let price = message.price().ok_or(missing(tag::PRICE))?;
    Ok(NewOrder { instrument, side, price, quantity: message.order_qty(), owner: Owner::HOUSE })
}

fn check_cancel(message: &OrderCancelRequest516<'_>) -> Result<(), Refusal> {
    let texts = [
        (message.sender_id(), tag::SENDER_ID),
        (message.cl_ord_id(), tag::CL_ORD_ID),
        (message.location(), tag::LOCATION),
    ];
    check_request(message.party_details_list_req_id(), texts, message.side())?;
    if message.order_id().is_none() {
        return Err(missing(tag::ORDER_ID));
    }
    Ok(())
}
