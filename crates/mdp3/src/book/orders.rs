//! Order books: every order of an instrument (MBOFD), or the best ten a side (MBOLD).
//!
//! An order book goes by packet sequence alone, since its entries carry no RptSeq; so it is in sync
//! or not apart from the price book of its instrument. What it costs in memory:
//!
//! ```text
//!                 None   Top     Full
//! an instrument   0      708     88     bytes
//! an order        -      -       56 to 64
//! ```
//! and for `Full` a queue of [`crate::Settings::queue_bytes`] more.

mod order_arena;
mod order_book;
mod order_book_head;
mod order_entry;
mod order_messages;
mod order_pass;
mod order_slab;
mod order_snapshots;
mod order_state;
mod order_sync;
mod order_table;
mod order_tree;
mod order_update;
mod queued_order;
mod top_orders;

pub(crate) use order_arena::OrderArena;
pub use order_book::{OrderBook, OrderIter};
pub(crate) use order_state::OrderState;
pub use order_update::{OrderBookStateChange, OrderChange, OrderUpdate};
pub use top_orders::MAX_TOP_ORDERS;

use crate::Price9;

/// Which orders a channel keeps.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderBooks {
    /// None: messages about orders are only shown, by [`crate::Listener::on_message`].
    #[default]
    None,
    /// The best orders of each side, at most [`MAX_TOP_ORDERS`], as template 59 restates them
    /// (MBOLD, of conflated groups).
    Top,
    /// Every order, from template 47 and from the order entries of 46 and 64 (MBOFD, of Premium
    /// groups).
    Full,
}

/// An order of an [`OrderBook`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// OrderID (37).
    pub id: u64,
    /// MDOrderPriority (37707): at one price the lowest is first. `u64::MAX` where the exchange
    /// states none, which is behind all others.
    pub priority: u64,
    /// MDEntryPx (270), as on the wire: multiply by the definition's display factor to show it.
    pub price: Price9,
    /// MDDisplayQty (37706): the quantity that is shown.
    pub quantity: u64,
}
