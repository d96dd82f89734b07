//! CME market data and order entry: a strategy in fifteen lines.
//!
//! The crate combines feed handlers, order entry sessions, a reactor and a clock in one loop for
//! one [`Strategy`]. It does not decide what to trade and contains no protocol. Layer L3, no
//! `unsafe`.
//!
//! | type | purpose |
//! |---|---|
//! | [`Feed`] | market data |
//! | [`Session`] | order entry |
//! | [`Trader`] | both |
//! | [`Strategy`] | the callbacks |
//! | [`Context`] | books, orders and sessions inside a callback |
//!
//! ```text
//!               ┌──────── Trader::turn ────────┐
//!   multicast ─▶ FeedHandler ─▶ FeedAdapter ──┐ │
//!                                             ├─▶ Strategy(event, Context)
//!   TCP ───────▶ ReconnectingSession ─▶ SessionAdapter    │ buy, cancel, …
//!       ◀──────────────────────── Sender ◀────────────────┘
//! ```
//!
//! Feeds and sessions are siblings. For each wakeup the loop builds two adapters from borrowed
//! parts, which implement the listeners of the low-level crates and are monomorphized for the
//! strategy. So nothing is shared, locked or queued: when [`Context::buy`] returns, the kernel has
//! the order. Nothing is allocated after the start, except for new connections.
//!
//! ```no_run
//! use hairpin::prelude::*;
//!
//! struct BestPrices;
//! impl Strategy for BestPrices {
//!     fn on_book(&mut self, book: &BookEvent<'_>, _: &mut Context<'_>) {
//!         if book.best_price_changed() {
//!             println!("{} {} | {}", book.symbol(), book.bid(), book.ask());
//!         }
//!     }
//! }
//! Feed::open("config.xml", 310)?.run(&mut BestPrices)?;
//! # Ok::<(), hairpin::Error>(())
//! ```
//!
//! The user's guide is `docs/guide/programs.md`.
//!
//! | file | contents |
//! |---|---|
//! | `trader.rs` | the loop, and the three types that run it |
//! | `builder.rs` | their settings, and how they are opened |
//! | `strategy.rs`, `context.rs` | callbacks and their context |
//! | `adapters.rs` | the listeners between a strategy and the low-level crates |
//! | `book.rs`, `order_event.rs` | the arguments of callbacks |
//! | `price.rs`, `instrument.rs`, `ids.rs` | prices, instruments and ids |
//! | `cl_ord_ids.rs` | ClOrdIDs that never repeat |
//! | `state.rs`, `names.rs` | orders, positions, timers and symbols |
//! | `error.rs`, `stop.rs` | errors and problems; stopping |
#![forbid(unsafe_code)]

mod adapters;
mod book;
mod builder;
mod cl_ord_ids;
mod context;
mod error;
mod ids;
mod instrument;
mod names;
mod order_event;
mod price;
mod state;
mod stop;
mod strategy;
mod trader;

pub use book::{Book, BookEvent, Level, LevelText, TradeEvent};
pub use builder::Builder;
pub use context::{Context, TooManyTimers};
pub use error::{Error, NotReady, Problem, RejectCodeText, Result, SendError};
/// The feed handler: its settings, and the types of raw messages.
pub use hairpin_feed_handler as feed_handler;
pub use hairpin_feed_handler::{Changes, SecurityStatus, Statistic};
/// Whether a socket of the program bypasses the kernel under `hairpin run`.
pub use hairpin_host::is_accelerated;
/// Order entry: all messages, and the session's types.
pub use hairpin_order_entry as order_entry;
pub use hairpin_order_entry::{ClOrdId, Order, OrderId, SecurityId};
/// The wait of the loop.
pub use hairpin_reactor::Wait;
/// Times.
pub use hairpin_time as time;
pub use ids::{ChannelId, Quantity, Side};
pub use instrument::{Displayed, Instrument};
pub use order_event::{Fill, FillKind, OrderEvent, OrderState, Reason};
pub use price::{ParsePriceError, Price};
pub use state::SegmentSession;
pub use stop::StopHandle;
#[doc(hidden)]
pub use strategy::Callback;
pub use strategy::{MarketMessage, OrderMessage, Strategy};
pub use trader::{Feed, PartsMut, Session, Trader};

/// The names that most strategies need.
pub mod prelude {
    pub use crate::{
        BookEvent, ClOrdId, Context, Feed, Fill, Instrument, NotReady, OrderEvent, OrderId,
        OrderState, Price, Problem, Quantity, SecurityId, Session, Side, Strategy, TradeEvent,
        Trader, Wait,
    };
    pub use hairpin_order_entry::NewOrder;
}
