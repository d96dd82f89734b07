//! Which orders of a session a request about many of them means.

use hairpin_cme_codecs::ilink3::{SideReq, TimeInForce};

use super::check::trimmed;
use super::request::ClientOrder;
use crate::matching::{Order, Owner};
use crate::{Market, OrderId};

/// What an order has to be; what is `None` does not matter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selection {
    pub(super) owner: Owner,
    pub(super) instrument: Option<u32>,
    pub(super) side: Option<SideReq>,
    /// Tag 40.
    pub(super) ord_type: Option<u8>,
    pub(super) time_in_force: Option<TimeInForce>,
}

impl Selection {
    /// The order in a place of the gateway's table, as it rests or waits, if it is meant.
    pub(super) fn find(&self, of: &ClientOrder, market: &impl Market) -> Option<Order> {
        let is_meant = self.side.is_none_or(|side| side == of.side)
            && self.ord_type.is_none_or(|kind| kind == of.ord_type.0)
            && self.time_in_force.is_none_or(|time| time == of.time_in_force)
            && of.order != OrderId::NONE
            && !of.is_quote;
        if !is_meant {
            return None;
        }
        let order = market.order(of.order).filter(|order| order.owner == self.owner)?;
        self.instrument.is_none_or(|meant| meant == order.instrument).then_some(*order)
    }

    /// The place of the first order that is meant, from `place` on.
    pub(super) fn next(
        &self,
        orders: &[ClientOrder],
        place: usize,
        market: &impl Market,
    ) -> Option<(usize, Order)> {
        let mut rest = orders.iter().enumerate().skip(place);
        rest.find_map(|(place, of)| Some((place, self.find(of, market)?)))
    }
}

/// Whether a text names the group of this market's instruments.
pub(super) fn is_group(text: &[u8], market: &impl Market) -> bool {
    trimmed(text) == market.security_group(0)
}
