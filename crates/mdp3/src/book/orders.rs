//! Order books: all orders of an instrument (MBOFD), or the best ten per side (MBOLD).
//!
//! Order entries carry no RptSeq, so an order book relies on packet sequence alone. It is therefore
//! in or out of sync independently of the instrument's price book. Memory:
//!
//! ```text
//!                 per instrument   per order
//! None            0 bytes          -
//! Top             708 bytes        -
//! Full            88 bytes         56 to 64 bytes
//! ```
//! `Full` also takes a queue of [`crate::Settings::queue_bytes`].

mod order_arena;
mod order_book;
mod order_book_head;
mod order_entry;
mod order_messages;
mod order_slab;
mod order_snapshot_pass;
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

/// The orders that a channel stores.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderBooks {
    /// No orders. Messages with orders only reach [`crate::Listener::on_message`].
    #[default]
    None,
    /// The best orders per side, at most [`MAX_TOP_ORDERS`], as stated by template 59 (MBOLD,
    /// conflated groups).
    Top,
    /// All orders, from template 47 and the order entries of 46 and 64 (MBOFD, Premium groups).
    Full,
}

/// An order of an [`OrderBook`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// OrderID (37).
    pub id: u64,
    /// MDOrderPriority (37707): at one price, the lowest is first. `u64::MAX` if the exchange
    /// states none, which sorts last.
    pub priority: u64,
    /// MDEntryPx (270), as on the wire. Multiply by the definition's display factor for display.
    pub price: Price9,
    /// MDDisplayQty (37706): the displayed quantity.
    pub quantity: u64,
}
