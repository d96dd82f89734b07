//! The market as a gateway sees it.

use hairpin_time::Now;

use crate::Price;
use crate::matching::{NewOrder, Order, OrderId, Owner, Rejection, Submitted};

/// One order's part in a trade, for the session whose order it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionFill {
    /// The order.
    pub order: OrderId,
    /// Whose it is: not the house's.
    pub owner: Owner,
    /// The price of the trade.
    pub price: Price,
    /// Contracts of this order that traded.
    pub quantity: u32,
    /// Contracts of it that are still open.
    pub remaining: u32,
    /// Number of the trade (tag 37711).
    pub trade: u32,
    /// Whether this order came in and met others, or rested.
    pub is_aggressor: bool,
}

/// Where a gateway's orders go.
pub trait Market {
    /// The index of the instrument with this SecurityID.
    fn instrument(&self, security_id: i32) -> Option<u32>;

    /// Matches an order.
    ///
    /// # Errors
    /// See [`Rejection`].
    fn submit(&mut self, now: Now, order: &NewOrder) -> Result<Submitted, Rejection>;

    /// Takes an order out of its book; `None` if `owner` has no such order there.
    fn cancel(&mut self, now: Now, order: OrderId, owner: Owner) -> Option<Order>;

    /// The oldest part of a session's order in a trade that has not been asked for yet.
    fn next_fill(&mut self) -> Option<SessionFill>;
}
