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

mod arena;
mod entry;
mod head;
mod incremental;
mod keeping;
mod order_table;
mod pass;
mod replay;
mod slab;
mod snapshots;
mod sync;
mod top;
mod tree;
mod update;
mod view;

pub(crate) use arena::OrderArena;
pub(crate) use keeping::OrderKeeping;
pub use top::MAX_TOP_ORDERS;
pub use update::{OrderBookStateChange, OrderChange, OrderUpdate};
pub use view::{OrderBook, OrderIter};

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
