//! The interface between gateway and market.

use hairpin_time::Now;

use crate::matching::{
    NewOrder, Order, OrderId, Owner, Rejection, Replaced, Replacement, SelfMatchCancel, Submitted,
};
use crate::{Price, QuoteRequest};

/// An order's part in a trade, for the session that owns the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionFill {
    /// The order.
    pub order: OrderId,
    /// The owner, never [`Owner::BACKGROUND`].
    pub owner: Owner,
    /// The price of the trade.
    pub price: Price,
    /// The contracts of this order traded now.
    pub quantity: u32,
    /// The contracts of this order that are still open.
    pub remaining: u32,
    /// The contracts of this order traded so far, including these.
    pub traded: u32,
    /// MDTradeEntryID of the trade (tag 37711).
    pub trade: u32,
    /// SideTradeID of this side of the trade (tag 1506).
    pub side_trade: u32,
    /// The order was the aggressor; otherwise it was resting.
    pub aggressor: bool,
}

/// A session's order that left the book without a cancel: the remainder of an order that may not
/// rest, or a day order at the end of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionElimination {
    /// The order.
    pub order: OrderId,
    /// The owner, never [`Owner::BACKGROUND`].
    pub owner: Owner,
    /// The contracts of this order traded so far.
    pub traded: u32,
}

/// An event of a session's order that its session did not request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderEvent {
    /// The order has traded.
    Fill(SessionFill),
    /// The order has been eliminated, or is a quote that has left the market.
    Elimination(SessionElimination),
    /// The order has been canceled by self-match prevention. The owner is never
    /// [`Owner::BACKGROUND`].
    SelfMatch(SelfMatchCancel),
    /// A stop order has been triggered and has entered the book.
    Trigger {
        /// The order.
        order: OrderId,
        /// The owner, never [`Owner::BACKGROUND`].
        owner: Owner,
    },
}

/// The market that receives a gateway's orders.
pub trait Market {
    /// Returns the index of the instrument with this SecurityID.
    fn instrument(&self, security_id: i32) -> Option<u32>;

    /// Returns CME's security group of an instrument (tag 1151).
    fn security_group(&self, instrument: u32) -> &[u8];

    /// Returns a resting order or a pending stop order, of any owner.
    fn order(&self, order: OrderId) -> Option<&Order>;

    /// Checks that an order would be accepted, regardless of the resting orders.
    ///
    /// # Errors
    /// See [`Rejection`].
    fn check(&self, order: &NewOrder) -> Result<(), Rejection>;

    /// Matches an order.
    ///
    /// # Errors
    /// See [`Rejection`].
    fn submit(&mut self, now: Now, order: &NewOrder) -> Result<Submitted, Rejection>;

    /// Returns `true` if an order is a pending stop order.
    fn is_stop(&self, order: OrderId) -> bool;

    /// Accepts a stop order with this trigger price. Returns the pending order.
    ///
    /// # Errors
    /// See [`Rejection`].
    fn submit_stop(
        &mut self,
        now: Now,
        order: &NewOrder,
        trigger: Price,
    ) -> Result<Order, Rejection>;

    /// Replaces a pending stop order of `owner`.
    ///
    /// # Errors
    /// See [`Rejection`]; [`Rejection::UnknownOrder`] if `owner` has no such order.
    fn replace_stop(
        &mut self,
        now: Now,
        order: OrderId,
        owner: Owner,
        replacement: (&Replacement, Price),
    ) -> Result<Order, Rejection>;

    /// Replaces an order of `owner`.
    ///
    /// # Errors
    /// See [`Rejection`]; [`Rejection::UnknownOrder`] if `owner` has no such order in a book.
    fn replace(
        &mut self,
        now: Now,
        order: OrderId,
        owner: Owner,
        replacement: &Replacement,
    ) -> Result<Replaced, Rejection>;

    /// Cancels a resting order or a pending stop order. Returns `None` if `owner` has no such
    /// order.
    fn cancel(&mut self, now: Now, order: OrderId, owner: Owner) -> Option<Order>;

    /// Returns `true` if an instrument accepts orders now.
    ///
    /// # Panics
    /// May panic if the instrument does not exist.
    fn is_open(&self, instrument: u32) -> bool;

    /// Publishes a request for quotes, or the announcement of a cross. Returns `false` if there is
    /// no room for it.
    ///
    /// # Panics
    /// May panic if the instrument does not exist.
    fn request_quote(&mut self, now: Now, request: &QuoteRequest<'_>, is_cross: bool) -> bool;

    /// Removes and returns the oldest order event.
    fn next_order_event(&mut self) -> Option<OrderEvent>;
}
