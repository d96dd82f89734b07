//! The selection of a session's orders for requests about many orders.

use hairpin_cme_codecs::ilink3::{SideReq, TimeInForce};

use super::check::trimmed;
use super::request::ClientOrder;
use crate::matching::{Order, Owner};
use crate::{Market, OrderId};

/// The criteria for orders. A field that is `None` matches all orders.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selection {
    pub(super) owner: Owner,
    pub(super) instrument: Option<u32>,
    pub(super) side: Option<SideReq>,
    /// OrdType (tag 40).
    pub(super) ord_type: Option<u8>,
    pub(super) time_in_force: Option<TimeInForce>,
}

impl Selection {
    /// Returns the resting or pending order of a table entry, if it matches.
    pub(super) fn find(&self, entry: &ClientOrder, market: &impl Market) -> Option<Order> {
        let matches = self.side.is_none_or(|side| side == entry.side)
            && self.ord_type.is_none_or(|ord_type| ord_type == entry.ord_type.0)
            && self.time_in_force.is_none_or(|time_in_force| time_in_force == entry.time_in_force)
            && entry.order != OrderId::NONE
            && !entry.quote;
        if !matches {
            return None;
        }
        let order = market.order(entry.order).filter(|order| order.owner == self.owner)?;
        self.instrument.is_none_or(|instrument| instrument == order.instrument).then_some(*order)
    }

    /// Returns the slot and order of the first match, starting at `slot`.
    pub(super) fn next(
        &self,
        orders: &[ClientOrder],
        slot: usize,
        market: &impl Market,
    ) -> Option<(usize, Order)> {
        let mut rest = orders.iter().enumerate().skip(slot);
        rest.find_map(|(slot, entry)| Some((slot, self.find(entry, market)?)))
    }
}

/// Returns `true` if `text` is the security group of this market.
pub(super) fn is_group(text: &[u8], market: &impl Market) -> bool {
    trimmed(text) == market.security_group(0)
}
