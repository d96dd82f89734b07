//! A CME MDP 3.0 market data channel without I/O: packets in, books and callbacks out.
//!
//! A [`Channel`] takes the packets of all feeds of one CME channel, from lines A and B. It calls a
//! [`Listener`] for definitions, statuses, trades, volume and statistics, and for price and order
//! books with their sync state. It arbitrates between the lines, detects gaps, joins late, and
//! recovers by TCP replay or snapshots. The caller performs the I/O requested by
//! [`Channel::poll_action`].
//!
//! Layer L1: a value without sockets, threads or clocks; `no_std` with `alloc`, no `unsafe`.
//! [`Channel::new`] allocates all memory. No packet causes an allocation or a panic.
//!
//! This crate is not a feed handler: `hairpin-feed-handler` has addresses, sockets and the replay
//! connection. A channel stores definitions, statuses, statistics, direct books of up to
//! [`MAX_DEPTH`] levels and implied books of up to [`MAX_IMPLIED_DEPTH`]. It stores order books if
//! [`Settings::order_books`] enables them. A [`Filter`] excludes instruments. All other messages
//! are reported and not stored; `docs/reference/market-data-callbacks.md` lists all templates.
//!
//! # The path of a packet
//!
//! ```text
//!  line A   line B                  snapshot, instrument loops        replay server
//!     │        │                               │                           │
//!     ▼        ▼                               │                           │
//!  Channel::handle_packet ◀────────────────────┴───────────────────────────┘
//!     │
//!     ▼
//!  Arbiter ──────────▶ duplicate: dropped, sampled for FeedSkew
//!     │   └──────────▶ suspect: PendingPacket, until another packet confirms it
//!     ├─ ahead ──────▶ ReorderBuffer ── gap filled ──▶ in sequence
//!     │                     └─ overdue ──▶ TCP replay, or Listener::on_gap and snapshots
//!     ▼ in sequence
//!  Messages ─▶ entries ─▶ RptSeq check ──▶ not next: RecoveryQueue, until a snapshot
//!                              │ next
//!                              ▼
//!                    Ladder (price level) ──▶ best levels in BookSlot ──▶ Listener
//! ```
//!
//! # Where to find what
//!
//! | module | contents |
//! |---|---|
//! | `channel` | [`Channel`]: entry points, deadlines, actions. Start reading here |
//! | `listener` | [`Listener`] and the data of its callbacks |
//! | `settings` | [`Settings`] and its presets |
//! | `counters` | [`Counters`] |
//! | `error` | [`Error`] and [`Warning`], each with its counter |
//! | `market` | the state behind a channel: instruments, recovery queue, loops |
//! | `feed` | A/B arbitration, reorder buffer, gaps, loop passes, silence, feed skew |
//! | `message` | packet framing, entries, and a file for each rarer message |
//! | `book` | price books: storage, application of entries, views |
//! | `book::orders` | order books: storage, messages, snapshots |
//! | `instrument` | definitions, statuses, statistics, [`Filter`], prices for display |
//! | `recovery` | sync states, RptSeq check, snapshots, recovery queue, TCP replay |
//!
//! A new error needs a variant of [`Error`], a counter in `counters`, and a test
//! `counts_<counter>_only` in `tests/it/errors.rs`.
//!
//! # Example
//!
//! ```
//! use hairpin_mdp3::{Action, Channel, EndOfEvent, Feed, FeedLine, Input, Listener, Settings};
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
//! let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
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
pub use book::market_best::{MarketBest, MarketBestUpdate, MarketPrice};
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
    MoneyOrPar, OpenCloseSettlFlag, Price9, PriceSource, PutOrCall, RepoSubType,
    SecurityAltIDSource, SecurityTradingEvent, SecurityTradingStatus, SettlPriceType,
};
pub use hairpin_sbe::MonthYear;
pub use instrument::definition::{Definition, DefinitionAction};
pub use instrument::definition_details::{
    Details, FixedIncomeDetails, FutureDetails, FxDetails, OptionDetails, RepoDetails,
    SpreadDetails,
};
pub use instrument::display_price::{DisplayPrice, ParsePriceError};
pub use instrument::filter::{Filter, FilterName};
pub use instrument::instrument_index::InstrumentIndex;
pub use instrument::instruments::Instruments;
pub use instrument::lot_type_rules::{LotTypeRule, LotTypeRules};
pub use instrument::related_instruments::{
    BrokenDate, Leg, Related, TradingSession, Underlying, UnderlyingSecurity,
};
pub use instrument::statistic_kind::StatisticKind;
pub use instrument::statistic_update::{LimitsUpdate, Statistic};
pub use instrument::statistics::{InstrumentStatistics, PriceLimits, StatisticValue};
pub use instrument::status::{InstrumentStatus, StatusScope};
pub use listener::{
    BookEntryUpdate, BookUpdate, ChannelReset, ChannelState, DefinitionUpdate, EndOfEvent,
    EventEnd, Gap, InstrumentReplaced, InstrumentStateChange, Listener, SecurityStatus, Trade,
    UpdateSource, Volume,
};
pub use message::collateral::{Collateral, CollateralValue};
pub use message::match_event::MatchEvent;
pub use message::packet::{Message, Messages, Packet, PacketHeader};
pub use message::quote_request::{QuoteRequest, QuoteRequestEntry};
pub use message::template_ids::TemplateIds;
pub use message::text::Text;
pub use message::trade_orders::{TradeOrder, TradeOrders};
pub use message::workup::{Workup, WorkupOrder};
pub use recovery::sync_state::SyncState;
pub use recovery::tcp_replay::{Replay, ReplayFailure, ReplayOutcome, ReplayUpdate};
pub use settings::{LateJoin, Settings};
