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
//! wanted. Everything else is told and not kept; `docs/reference/market-data-callbacks.md` goes
//! through all templates.
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

mod admission;
mod arbiter;
mod aside;
mod book;
mod book_copy;
mod book_display;
mod book_entry;
mod cell;
mod changes;
mod channel;
mod collateral;
mod consolidated_book;
mod counters;
mod definition;
mod definition_decoder;
mod definition_details;
mod definition_loop;
mod display_price;
mod entries;
mod error;
mod feed;
mod feed_skew;
mod feeds;
mod filter;
mod holding;
mod holes;
mod implied_book;
mod incremental;
mod instrument_index;
mod instruments;
mod ladder;
mod levels;
mod listener;
mod loop_tracker;
mod lot_type_rules;
mod market;
mod natural;
mod orders;
mod other_messages;
mod packet;
mod presets;
mod quote_request;
mod ranks;
mod recovery_queue;
mod related;
mod replay;
mod settings;
mod silence;
mod snapshot;
mod snapshot_loop;
mod statistic_kind;
mod statistic_update;
mod statistics;
mod status;
mod stream;
mod sync;
mod tcp_replay;
mod template_ids;
mod text;
mod tick_rule;
mod trade_orders;
mod workup;

pub use book::{Best, Book, BookSide};
pub use book_copy::BookCopy;
pub use book_display::BookDisplay;
pub use changes::Changes;
pub use channel::{Action, Channel, Input};
pub use collateral::{Collateral, CollateralValue};
pub use consolidated_book::{ConsolidatedBook, ConsolidatedLevel};
pub use counters::Counters;
pub use definition::{Definition, DefinitionAction};
pub use definition_details::{
    Details, FixedIncomeDetails, FxDetails, OptionDetails, RepoDetails, SpreadDetails,
};
pub use display_price::DisplayPrice;
pub use error::{Error, Warning};
pub use feed::{Feed, FeedLine};
pub use feed_skew::FeedSkew;
pub use feeds::{Feeds, Sides};
pub use filter::Filter;
pub use hairpin_cme_codecs::mdp3::{
    AggressorFlag, AggressorSide, DecimalQty, HaltReason, InstAttribValue, LegSide, MDUpdateAction,
    OpenCloseSettlFlag, Price9, PriceSource, PutOrCall, RepoSubType, SecurityAltIDSource,
    SecurityTradingEvent, SecurityTradingStatus, SettlPriceType,
};
pub use hairpin_sbe::MonthYear;
pub use implied_book::ImpliedBook;
pub use instrument_index::InstrumentIndex;
pub use instruments::Instruments;
pub use levels::{Level, Levels, LevelsIter, MAX_DEPTH, MAX_IMPLIED_DEPTH};
pub use listener::{
    BookUpdate, ChannelReset, ChannelState, DefinitionUpdate, EndOfEvent, Gap,
    InstrumentStateChange, Listener, SecurityStatus, Trade, UpdateSource, Volume,
};
pub use lot_type_rules::{LotTypeRule, LotTypeRules};
pub use orders::{
    MAX_TOP_ORDERS, Order, OrderBook, OrderBookStateChange, OrderBooks, OrderChange, OrderIter,
    OrderUpdate,
};
pub use packet::{Message, Messages, Packet, PacketHeader};
pub use quote_request::{QuoteRequest, QuoteRequestEntry};
pub use related::{Leg, Related, Underlying};
pub use settings::{LateJoin, Settings};
pub use silence::{Silence, SilenceScope, SilenceState};
pub use statistic_kind::StatisticKind;
pub use statistic_update::{LimitsUpdate, Statistic};
pub use statistics::{InstrumentStatistics, PriceLimits, StatisticValue};
pub use status::{InstrumentStatus, StatusScope};
pub use sync::SyncState;
pub use tcp_replay::{Replay, ReplayFailure, ReplayOutcome, ReplayUpdate};
pub use template_ids::TemplateIds;
pub use text::Text;
pub use trade_orders::{TradeOrder, TradeOrders};
pub use workup::{Workup, WorkupOrder};
