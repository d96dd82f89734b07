//! NewOrderCross544: a buyer and a seller who have found each other, at one price.
//!
//! Both are orders like any others once they are in: the side that comes in first may trade with
//! what the book offers, and the second with what has priority there, before they trade with each
//! other. The buyer comes in first, unless only the seller's order may rest. Each has its own
//! reports, which name the cross.

use hairpin_cme_codecs::ilink3::new_order_cross544::NoSides;
use hairpin_cme_codecs::ilink3::{
    NewOrderCross544, OrderType, SideReq, SideTimeInForce, TimeInForce,
};

use super::check::{self, Refusal, tag};
use super::dispatch::Handling;
use super::reason::BusinessReason;
use super::request::{ClientOrder, Request};
use crate::{Listener, Market};

impl<L: Listener> Handling<'_, L> {
    pub(super) fn handle_cross(
        &mut self,
        account: usize,
        message: &NewOrderCross544<'_>,
        market: &mut impl Market,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        self.counters.crosses += 1;
        let mut sides = match self.check_cross(account, message) {
            Ok(sides) => sides,
            Err(why) => {
                let request = Request::from_cross(message);
                return self.reject(account, &request, b"s", message.seq_num(), why);
            }
        };
        if sides[0].time_in_force == TimeInForce::FILL_AND_KILL {
            sides.reverse();
        }
        let mut refused = None;
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
                    return self.reject(account, &order.request, b"s", message.seq_num(), why);
                }
            }
        }
    }

    /// The buyer's order and the seller's.
    fn check_cross(
        &self,
        account: usize,
        message: &NewOrderCross544<'_>,
    ) -> Result<[ClientOrder; 2], Refusal> {
        let (mut entries, mut scratch) = (message.no_sides(), NoSides::SCRATCH);
        let mut sides = [ClientOrder::default(); 2];
        let not_both = check::business_refusal(
            BusinessReason::CrossSides,
            Some(tag::SIDE),
            "Not a buyer followed by a seller",
        );
        if entries.len() != sides.len() {
            return Err(not_both);
        }
        for (order, meant) in sides.iter_mut().zip([SideReq::BUY, SideReq::SELL]) {
            let entry = entries.next(&mut scratch).ok_or(not_both)?;
            if entry.side() != meant {
                return Err(not_both);
            }
            let time_in_force = match entry.side_time_in_force() {
                SideTimeInForce(0 | u8::MAX) => TimeInForce::DAY,
                SideTimeInForce::FAK => TimeInForce::FILL_AND_KILL,
                _ => return Err(check::no_such_value(tag::SIDE_TIME_IN_FORCE)),
            };
            *order = ClientOrder {
                request: Request::from_cross_side(message, &entry),
                security_id: message.security_id(),
                side: meant,
                ord_type: OrderType::LIMIT,
                price: Some(message.price()),
                quantity: entry.order_qty(),
                time_in_force,
                cross: Some(message.cross_id()),
                ..ClientOrder::default()
            };
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
