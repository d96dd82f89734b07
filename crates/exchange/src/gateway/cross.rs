//! NewOrderCross544 and RequestForCross566: a buyer and a seller who have found each other, at one
//! price.
//!
//! The market is told by a QuoteRequest39 whose side is a cross, then both enter. Both are orders
//! like any others once they are in: the side that comes in first may trade with what the book
//! offers, and the second with what has priority there, before they trade with each other. The
//! buyer comes in first, unless only the seller's order may rest. Each has its own reports, which
//! name the cross.

use hairpin_cme_codecs::ilink3::{
    CrossTypeEnum, NewOrderCross544, OrderType, RequestForCross566, SideReq, SideTimeInForce,
    TimeInForce, new_order_cross544, request_for_cross566,
};

use super::check::{self, Refusal, tag};
use super::dispatch::Handling;
use super::number::Digits;
use super::reason::{BusinessReason, OrderReason};
use super::reports::CROSS;
use super::request::{ClientOrder, Request};
use crate::{Listener, Market, Price, QuoteRequest};

/// Crosses of one session in a day.
const CROSSES_MAX: usize = 4_096;

/// The CrossIDs that a session has used today, in order.
#[derive(Debug)]
pub(super) struct CrossIds {
    day: u16,
    used: Vec<u64>,
}

impl CrossIds {
    pub(super) fn new() -> Self {
        Self { day: 0, used: Vec::with_capacity(CROSSES_MAX) }
    }

    /// Uses a CrossID up; not if it was used this day, or so many were.
    fn take(&mut self, day: u16, id: u64) -> Result<(), Refusal> {
        if self.day != day {
            self.used.clear();
            self.day = day;
        }
        let text = match self.used.binary_search(&id) {
            Err(place) if self.used.len() < CROSSES_MAX => {
                self.used.insert(place, id);
                return Ok(());
            }
            Err(_) => "Too many crosses in one day",
            Ok(_) => "The CrossID was used before today",
        };
        Err(check::business_refusal(BusinessReason::Other, Some(tag::CROSS_ID), text))
    }
}

/// A cross, whichever message it came by.
#[derive(Debug, Clone, Copy)]
struct Cross {
    /// Of the cross as a whole: its sides have party details and ClOrdIDs of their own.
    request: Request,
    number: u32,
    id: u64,
    kind: CrossTypeEnum,
    price: Price,
    security_id: i32,
    sides: [Side; 2],
    /// How many the message has.
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Side {
    cl_ord_id: [u8; 20],
    party_details_list_req_id: u64,
    quantity: u32,
    side: SideReq,
    time_in_force: SideTimeInForce,
}

impl Side {
    const NONE: Self = Self {
        cl_ord_id: [0; 20],
        party_details_list_req_id: u64::MAX,
        quantity: 0,
        side: SideReq(u8::MAX),
        time_in_force: SideTimeInForce(u8::MAX),
    };
}

/// Reads the fields that both messages have under the same names.
macro_rules! cross {
    ($message:expr, $kind:expr, $module:ident) => {{
        let (mut entries, mut scratch) = ($message.no_sides(), $module::NoSides::SCRATCH);
        let count = entries.len();
        let mut sides = [Side::NONE; 2];
        for side in &mut sides {
            let Some(entry) = entries.next(&mut scratch) else { break };
            *side = Side {
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
                ..Request::UNREAD
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

impl<L: Listener> Handling<'_, L> {
    pub(super) fn handle_new_order_cross(
        &mut self,
        account: usize,
        message: &NewOrderCross544<'_>,
        market: &mut impl Market,
    ) {
        let kind = CrossTypeEnum(CROSS);
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
        if !self.take_number(account, cross.number) {
            return;
        }
        self.counters.crosses += 1;
        let today = self.today();
        let checked = self
            .check_cross(account, cross)
            .and_then(|sides| self.accounts[account].crosses.take(today, cross.id).map(|()| sides));
        let mut sides = match checked {
            Ok(sides) => sides,
            Err(why) => return self.reject(account, &cross.request, b"s", cross.number, why),
        };
        if sides[0].time_in_force == TimeInForce::FILL_AND_KILL {
            sides.reverse();
        }
        let mut refused = self.announce_cross(account, &sides, market).err();
        for order in sides {
            // Without the first there is nothing for the second to meet.
            let entered = match refused {
                Some(why) => Err(why),
                None => self.submit(account, &order, market),
            };
            match entered {
                Ok((id, price)) => self.acknowledge(account, &order.accepted(id, price)),
                Err(Refusal::Order(reason)) => {
                    refused = Some(Refusal::Order(reason));
                    self.refuse_order(account, &order, reason);
                }
                Err(why) => {
                    return self.reject(account, &order.request, b"s", cross.number, why);
                }
            }
        }
    }

    /// Tells the market that a cross is coming, if it takes both sides.
    fn announce_cross(
        &self,
        account: usize,
        sides: &[ClientOrder; 2],
        market: &mut impl Market,
    ) -> Result<(), Refusal> {
        for order in sides {
            let (new, _) = check::check_order(order, &self.parties(account), market, self.today())?;
            market.check(&new).map_err(OrderReason::from)?;
        }
        let instrument = market.instrument(sides[0].security_id);
        let instrument = instrument.ok_or(OrderReason::UnknownContract)?;
        let digits = Digits::of(*self.executions + 1);
        let id = core::str::from_utf8(digits.as_ref()).unwrap_or_default();
        let request = QuoteRequest { id, instrument, quantity: None, side: None };
        match market.request_quote(self.now, &request, true) {
            true => Ok(()),
            false => Err(OrderReason::Rejected.into()),
        }
    }

    /// The buyer's order and the seller's.
    fn check_cross(&self, account: usize, cross: &Cross) -> Result<[ClientOrder; 2], Refusal> {
        match cross.kind {
            CrossTypeEnum::CROSS | CrossTypeEnum::R_CROSS => {}
            // It would have the market wait for better prices.
            CrossTypeEnum::C_CROSS => return Err(check::not_done(tag::CROSS_TYPE)),
            _ => return Err(check::no_such_value(tag::CROSS_TYPE)),
        }
        let not_both = check::business_refusal(
            BusinessReason::CrossSides,
            Some(tag::SIDE),
            "Not a buyer followed by a seller",
        );
        if cross.count != cross.sides.len() {
            return Err(not_both);
        }
        let mut sides = [ClientOrder::default(); 2];
        let meant = [SideReq::BUY, SideReq::SELL];
        for ((order, of), meant) in sides.iter_mut().zip(&cross.sides).zip(meant) {
            if of.side != meant {
                return Err(not_both);
            }
            *order = cross.order(of)?;
            check::check_named_request(&order.request, meant, &self.parties(account))?;
        }
        if sides[0].quantity != sides[1].quantity {
            return Err(check::business_refusal(
                BusinessReason::ValueOutOfRange,
                Some(tag::ORDER_QTY),
                "Not the same quantity on both sides",
            ));
        }
        if sides.iter().all(|order| order.time_in_force == TimeInForce::FILL_AND_KILL) {
            return Err(check::not_done(tag::SIDE_TIME_IN_FORCE));
        }
        Ok(sides)
    }
}

impl Cross {
    fn order(&self, of: &Side) -> Result<ClientOrder, Refusal> {
        let time_in_force = match of.time_in_force {
            SideTimeInForce(0 | u8::MAX) => TimeInForce::DAY,
            SideTimeInForce::FAK => TimeInForce::FILL_AND_KILL,
            _ => return Err(check::no_such_value(tag::SIDE_TIME_IN_FORCE)),
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
