//! NewOrderCross544 and RequestForCross566: a buyer and a seller who agreed on a price off-book.
//!
//! The gateway first announces the cross to the market by a QuoteRequest39 with side cross. Then
//! both orders enter as ordinary orders. The first may trade with the book, and the second with
//! orders that have priority there, before they trade with each other. The buyer's order enters
//! first, unless only the seller's order may rest. Each order has its own reports, which carry the
//! CrossID.

use hairpin_cme_codecs::ilink3::{
    CrossTypeEnum, NewOrderCross544, OrderType, RequestForCross566, SideReq, SideTimeInForce,
    TimeInForce, new_order_cross544, request_for_cross566,
};

use super::ascii_int::AsciiInt;
use super::check::{self, RejectCause, tag};
use super::dispatch::FrameHandler;
use super::reason_codes::{BusinessReason, OrderReason};
use super::reports::CROSS_TYPE;
use super::request::{ClientOrder, Request};
use crate::{Listener, Market, Price, QuoteRequest};

/// The maximum number of crosses per session and day.
const CROSSES_MAX: usize = 4_096;

/// The CrossIDs that a session has used today, sorted.
#[derive(Debug)]
pub(super) struct CrossIds {
    day: u16,
    used: Vec<u64>,
}

impl CrossIds {
    pub(super) fn new() -> Self {
        Self { day: 0, used: Vec::with_capacity(CROSSES_MAX) }
    }

    /// Consumes a CrossID. Fails if it was used today, or if the daily maximum is reached.
    fn consume(&mut self, day: u16, id: u64) -> Result<(), RejectCause> {
        if self.day != day {
            self.used.clear();
            self.day = day;
        }
        let text = match self.used.binary_search(&id) {
            Err(place) if self.used.len() < CROSSES_MAX => {
                self.used.insert(place, id);
                return Ok(());
            }
            Err(_) => "Too many crosses today",
            Ok(_) => "CrossID was already used today",
        };
        Err(check::business_reject(BusinessReason::Other, Some(tag::CROSS_ID), text))
    }
}

/// A cross, decoded from either message.
#[derive(Debug, Clone, Copy)]
struct Cross {
    /// The request fields of the whole cross. Each side has its own party details and ClOrdID.
    request: Request,
    number: u32,
    id: u64,
    kind: CrossTypeEnum,
    price: Price,
    security_id: i32,
    sides: [CrossSide; 2],
    /// The number of sides in the message.
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct CrossSide {
    cl_ord_id: [u8; 20],
    party_details_list_req_id: u64,
    quantity: u32,
    side: SideReq,
    time_in_force: SideTimeInForce,
}

impl CrossSide {
    const NONE: Self = Self {
        cl_ord_id: [0; 20],
        party_details_list_req_id: u64::MAX,
        quantity: 0,
        side: SideReq(u8::MAX),
        time_in_force: SideTimeInForce(u8::MAX),
    };
}

/// Decodes the fields that both messages have under the same names.
macro_rules! cross {
    ($message:expr, $kind:expr, $module:ident) => {{
        let (mut entries, mut scratch) = ($message.no_sides(), $module::NoSides::SCRATCH);
        let count = entries.len();
        let mut sides = [CrossSide::NONE; 2];
        for side in &mut sides {
            let Some(entry) = entries.next(&mut scratch) else { break };
            *side = CrossSide {
                cl_ord_id: entry.cl_ord_id().raw().try_into().unwrap_or([0; 20]),
                party_details_list_req_id: entry.party_details_list_req_id(),
                quantity: entry.order_qty(),
                side: entry.side(),
                time_in_force: entry.side_time_in_force(),
            };
        }
        Cross {
            request: Request {
                sender_id: $message.sender_id().raw().try_into().unwrap_or([0; 20]),
                location: $message.location().raw().try_into().unwrap_or([0; 5]),
                order_request_id: $message.order_request_id(),
                manual_order_indicator: $message.manual_order_indicator().0,
                ..Request::UNDECODED
            },
            number: $message.seq_num(),
            id: $message.cross_id(),
            kind: $kind,
            price: $message.price(),
            security_id: $message.security_id(),
            sides,
            count,
        }
    }};
}

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_new_order_cross(
        &mut self,
        account: usize,
        message: &NewOrderCross544<'_>,
        market: &mut impl Market,
    ) {
        let kind = CrossTypeEnum(CROSS_TYPE);
        self.handle_cross(account, &cross!(message, kind, new_order_cross544), market);
    }

    pub(super) fn handle_request_for_cross(
        &mut self,
        account: usize,
        message: &RequestForCross566<'_>,
        market: &mut impl Market,
    ) {
        let kind = message.cross_type();
        self.handle_cross(account, &cross!(message, kind, request_for_cross566), market);
    }

    fn handle_cross(&mut self, account: usize, cross: &Cross, market: &mut impl Market) {
        if !self.consume_number(account, cross.number) {
            return;
        }
        self.counters.crosses += 1;
        let cross = &Cross { request: cross.request.echoed(self.rules.venue), ..*cross };
        let today = self.today();
        let checked = self.check_cross(account, cross).and_then(|sides| {
            self.accounts[account].crosses.consume(today, cross.id).map(|()| sides)
        });
        let mut sides = match checked {
            Ok(sides) => sides,
            Err(reject) => return self.reject(account, &cross.request, b"s", cross.number, reject),
        };
        if sides[0].time_in_force == TimeInForce::FILL_AND_KILL {
            sides.reverse();
        }
        let mut rejected = self.announce_cross(account, &sides, market).err();
        for order in sides {
            // Without the first order, the second has nothing to match.
            let result = match rejected {
                Some(reject) => Err(reject),
                None => self.submit(account, &order, market),
            };
            match result {
                Ok((id, price)) => self.acknowledge(account, &order.accepted(id, price)),
                Err(RejectCause::Order(reason)) => {
                    rejected = Some(RejectCause::Order(reason));
                    self.reject_order(account, &order, reason);
                }
                Err(reject) => {
                    return self.reject(account, &order.request, b"s", cross.number, reject);
                }
            }
        }
    }

    /// Announces the cross to the market, if both orders would be accepted.
    fn announce_cross(
        &self,
        account: usize,
        sides: &[ClientOrder; 2],
        market: &mut impl Market,
    ) -> Result<(), RejectCause> {
        for order in sides {
            let (new, _) = check::check_order(order, &self.parties(account), market, self.today())?;
            market.check(&new).map_err(OrderReason::from)?;
        }
        let instrument = market.instrument(sides[0].security_id);
        let instrument = instrument.ok_or(OrderReason::UnknownContract)?;
        let digits = AsciiInt::new(*self.executions + 1);
        let id = core::str::from_utf8(digits.as_ref()).unwrap_or_default();
        let request = QuoteRequest { id, instrument, quantity: None, side: None };
        match market.request_quote(self.now, &request, true) {
            true => Ok(()),
            false => Err(OrderReason::Rejected.into()),
        }
    }

    /// Validates the cross and returns the buyer's and the seller's order.
    fn check_cross(&self, account: usize, cross: &Cross) -> Result<[ClientOrder; 2], RejectCause> {
        match cross.kind {
            CrossTypeEnum::CROSS | CrossTypeEnum::R_CROSS => {}
            // A C-cross would require the market to wait for better prices.
            CrossTypeEnum::C_CROSS => return Err(check::unsupported(tag::CROSS_TYPE)),
            _ => return Err(check::undefined_value(tag::CROSS_TYPE)),
        }
        let wrong_sides = check::business_reject(
            BusinessReason::CrossSides,
            Some(tag::SIDE),
            "Sides must be a buyer followed by a seller",
        );
        if cross.count != cross.sides.len() {
            return Err(wrong_sides);
        }
        let mut sides = [ClientOrder::default(); 2];
        let expected = [SideReq::BUY, SideReq::SELL];
        for ((order, of), expected) in sides.iter_mut().zip(&cross.sides).zip(expected) {
            if of.side != expected {
                return Err(wrong_sides);
            }
            *order = cross.order(of)?;
            check::check_named_request(&order.request, expected, &self.parties(account))?;
        }
        if sides[0].quantity != sides[1].quantity {
            return Err(check::business_reject(
                BusinessReason::ValueOutOfRange,
                Some(tag::ORDER_QTY),
                "Quantities of the sides differ",
            ));
        }
        if sides.iter().all(|order| order.time_in_force == TimeInForce::FILL_AND_KILL) {
            return Err(check::unsupported(tag::SIDE_TIME_IN_FORCE));
        }
        Ok(sides)
    }
}

impl Cross {
    fn order(&self, of: &CrossSide) -> Result<ClientOrder, RejectCause> {
        let time_in_force = match of.time_in_force {
            SideTimeInForce(0 | u8::MAX) => TimeInForce::DAY,
            SideTimeInForce::FAK => TimeInForce::FILL_AND_KILL,
            _ => return Err(check::undefined_value(tag::SIDE_TIME_IN_FORCE)),
        };
        Ok(ClientOrder {
            request: Request {
                cl_ord_id: of.cl_ord_id,
                party_details_list_req_id: of.party_details_list_req_id,
                ..self.request
            },
            security_id: self.security_id,
            side: of.side,
            ord_type: OrderType::LIMIT,
            price: Some(self.price),
            quantity: of.quantity,
            time_in_force,
            cross: Some(self.id),
            cross_type: self.kind.0,
            ..ClientOrder::default()
        })
    }
}
