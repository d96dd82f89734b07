//! A CME MDP 3.0 market data channel, without IO.
//!
//! A [`Channel`] takes the packets of all feeds of one CME channel, from sides A and B, and tells
//! a [`Listener`] what they mean: definitions, statuses, trades, volume, and price books that are
//! right or say that they are not. It arbitrates between the sides, finds gaps, joins late and
//! recovers, by TCP replay or from snapshots; what only IO can do it asks for by
//! [`Channel::poll_action`].
//!
//! Layer L1: a value without sockets, threads or clocks; `no_std` with `alloc`, no `unsafe`. All
//! memory is taken by [`Channel::new`]; no packet makes it allocate, and none makes it panic.
//!
//! It is not a feed handler: addresses, sockets and replay are `hairpin-feed-handler`'s. It keeps
//! definitions, statuses, statistics and books by price: the direct ones up to [`MAX_DEPTH`]
//! levels, the implied ones up to [`MAX_IMPLIED_DEPTH`]; and order books, if
//! [`Settings::order_books`] asks for them. A [`Filter`] leaves out instruments that are not
//! wanted. Everything else is told and not kept; `docs/listener.md` goes through all templates.
//!
//! ```
//! use hairpin_mdp3::{Action, Channel, EndOfEvent, Feed, Input, Listener, Settings, FeedLine};
//! use hairpin_time::{Instant, Now, Utc};
//!
//! struct Strategy;
//! impl Listener for Strategy {
//!     fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
//!         for (_, book, changes) in event.changed().filter(|(.., changes)| changes.best_price()) {
//!             println!("{changes:?}: {:?} {:?}", book.best_bid(), book.best_ask());
//!         }
//!     }
//! }
//!
//! let mut channel = Channel::new(Settings { max_instruments: 100, ..Settings::default() });
//! assert_eq!(channel.poll_action(), Some(Action::Join(Feed::Incremental)));
//!
//! let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
//! let input = Input { feed: Feed::Incremental, side: FeedLine::A, received: None };
//! channel.handle_packet(now, input, b"too short", &mut Strategy);
//! assert_eq!(channel.counters().packets_too_short, 1);
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod book;
mod channel;
mod counters;
mod error;
mod feed;
mod instrument;
mod listener;
mod market;
mod message;
mod recovery;
mod settings;

pub use book::book_copy::BookCopy;
pub use book::book_display::BookDisplay;
pub use book::changes::Changes;
pub use book::consolidated_book::{ConsolidatedBook, ConsolidatedLevel};
pub use book::implied_book::ImpliedBook;
pub use book::levels::{Level, Levels, LevelsIter, MAX_DEPTH, MAX_IMPLIED_DEPTH};
pub use book::orders::{
    MAX_TOP_ORDERS, Order, OrderBook, OrderBookStateChange, OrderBooks, OrderChange, OrderIter,
    OrderUpdate,
};
pub use book::{Best, Book, BookSide};
pub use channel::{Action, Channel, Input};
pub use counters::Counters;
pub use error::{Error, Warning};
pub use feed::feed_skew::FeedSkew;
pub use feed::feeds::{FeedLines, Feeds};
pub use feed::silence::{Silence, SilenceScope, SilenceState};
pub use feed::{Feed, FeedLine};
pub use hairpin_cme_codecs::mdp3::{
    AggressorFlag, AggressorSide, DecimalQty, HaltReason, InstAttribValue, LegSide, MDUpdateAction,
    OpenCloseSettlFlag, Price9, PriceSource, PutOrCall, RepoSubType, SecurityAltIDSource,
    SecurityTradingEvent, SecurityTradingStatus, SettlPriceType,
};
pub use hairpin_sbe::MonthYear;
pub use instrument::definition::{Definition, DefinitionAction};
pub use instrument::definition_details::{
    Details, FixedIncomeDetails, FxDetails, OptionDetails, RepoDetails, SpreadDetails,
};
pub use instrument::display_price::DisplayPrice;
pub use instrument::filter::Filter;
pub use instrument::instrument_index::InstrumentIndex;
pub use instrument::instruments::Instruments;
pub use instrument::lot_type_rules::{LotTypeRule, LotTypeRules};
pub use instrument::related::{Leg, Related, Underlying};
pub use instrument::statistic_kind::StatisticKind;
pub use instrument::statistic_update::{LimitsUpdate, Statistic};
pub use instrument::statistics::{InstrumentStatistics, PriceLimits, StatisticValue};
pub use instrument::status::{InstrumentStatus, StatusScope};
pub use listener::{
    BookUpdate, ChannelReset, ChannelState, DefinitionUpdate, EndOfEvent, Gap,
    InstrumentStateChange, Listener, SecurityStatus, Trade, UpdateSource, Volume,
};
pub use message::collateral::{Collateral, CollateralValue};
pub use message::packet::{Message, Messages, Packet, PacketHeader};
pub use message::quote_request::{QuoteRequest, QuoteRequestEntry};
pub use message::template_ids::TemplateIds;
pub use message::text::Text;
pub use message::trade_orders::{TradeOrder, TradeOrders};
pub use message::workup::{Workup, WorkupOrder};
pub use recovery::sync_state::SyncState;
pub use recovery::tcp_replay::{Replay, ReplayFailure, ReplayOutcome, ReplayUpdate};
pub use settings::{LateJoin, Settings};
