//! The market as a gateway sees it.

use hairpin_time::Now;

use crate::matching::{
    NewOrder, Order, OrderId, Owner, Rejection, Replaced, Replacement, Submitted,
};
use crate::{Price, QuoteRequest};

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
    /// Contracts of it that have traded, these included.
    pub traded: u32,
    /// Number of the trade (tag 37711).
    pub trade: u32,
    /// Number of this side of the trade (tag 1506).
    pub side_trade: u32,
    /// Whether this order came in and met others, or rested.
    pub is_aggressor: bool,
}

/// An order of a session that left without being cancelled: the rest of one that may not rest, or
/// a day order at the end of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionElimination {
    /// The order.
    pub order: OrderId,
    /// Whose it is: not the house's.
    pub owner: Owner,
    /// Contracts of it that have traded.
    pub traded: u32,
}

/// What has happened to a session's order without its asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// It has traded.
    Fill(SessionFill),
    /// It is gone.
    Elimination(SessionElimination),
    /// A stop order has been triggered and has come in.
    Trigger {
        /// The order.
        order: OrderId,
        /// Whose it is: not the house's.
        owner: Owner,
    },
}

/// Where a gateway's orders go.
pub trait Market {
    /// The index of the instrument with this SecurityID.
    fn instrument(&self, security_id: i32) -> Option<u32>;

    /// CME's group of an instrument (tag 1151).
    fn security_group(&self, instrument: u32) -> &[u8];

    /// An order that rests, or a stop order that waits, whoever's it is.
    fn order(&self, order: OrderId) -> Option<&Order>;

    /// Whether an order would be taken, as far as that does not depend on what rests.
    ///
    /// # Errors
    /// See [`Rejection`].
    fn check(&self, order: &NewOrder) -> Result<(), Rejection>;

    /// Matches an order.
    ///
    /// # Errors
    /// See [`Rejection`].
    fn submit(&mut self, now: Now, order: &NewOrder) -> Result<Submitted, Rejection>;

    /// Whether an order is a stop order that waits.
    fn is_stop(&self, order: OrderId) -> bool;

    /// Accepts a stop order that `trigger` triggers; the order as it waits.
    ///
    /// # Errors
    /// See [`Rejection`].
    fn submit_stop(
        &mut self,
        now: Now,
        order: &NewOrder,
        trigger: Price,
    ) -> Result<Order, Rejection>;

    /// Replaces a stop order of `owner` that waits.
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

    /// Takes an order out of its book, or a stop order from where it waits; `None` if `owner` has
    /// no such order there.
    fn cancel(&mut self, now: Now, order: OrderId, owner: Owner) -> Option<Order>;

    /// Whether an instrument takes orders now.
    ///
    /// # Panics
    /// May, if there is no such instrument.
    fn is_open(&self, instrument: u32) -> bool;

    /// Publishes a request for quotes, or the same ahead of a cross; `false` if there is no room
    /// for it.
    ///
    /// # Panics
    /// May, if there is no such instrument.
    fn request_quote(&mut self, now: Now, request: &QuoteRequest<'_>, is_cross: bool) -> bool;

    /// The oldest notice to a session that has not been asked for yet.
    fn next_notice(&mut self) -> Option<Notice>;
}
