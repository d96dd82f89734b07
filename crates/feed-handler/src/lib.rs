//! CME market data channels on endpoints.
//!
//! [`FeedHandler`] joins the protocol of `hairpin-mdp3` to sockets, multicast or TCP: it joins and
//! leaves the feeds the channel asks for, or connects, hands over every packet with its feed, side
//! and receive timestamp, and calls the listener. The application owns it beside its session and
//! its strategy and drives the loop: [`FeedHandler::process`] after each wake,
//! [`FeedHandler::next_deadline`] before the next. Callbacks run within `process`; they reach the
//! session through a struct of two `&mut`s that implements [`Listener`], made anew for each call.
//!
//! [`FeedHandlers`] joins several channels to one [`FeedEngine`]: kernel sockets, a capture, or a
//! source of packets of one's own; [`FeedThreads`] has such on named and pinned threads. Beside
//! them stand what a handler can do without: [`DefinitionCache`], [`ReplayClient`], [`KeepWarm`].
//! The user's guide is `docs/guide/feed-library.md`. Layer L3, no `unsafe`.
//!
//! ```no_run
//! use std::net::Ipv4Addr;
//! use hairpin_feed_handler::{
//!     EndOfEvent, FeedHandler, Group, Lines, Listener, Multicast, Settings, Transport,
//! };
//! use hairpin_reactor::{Reactor, Wait};
//! # fn now() -> hairpin_time::Now { unreachable!() }
//!
//! struct Session; // what sends orders
//! struct Position; // what decides on them
//!
//! struct Strategy<'a> {
//!     session: &'a mut Session,
//!     position: &'a mut Position,
//! }
//!
//! impl Listener for Strategy<'_> {
//!     fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
//!         for (_, book, changes) in event.changed().filter(|(.., changes)| changes.best_price()) {
//!             println!("{} {changes:?} {:?}", book.security_id(), book.best_bid());
//!             # let _ = (&mut self.session, &mut self.position);
//!         }
//!     }
//! }
//!
//! let group = |address: &str| -> Result<Group, std::net::AddrParseError> {
//!     Ok(Group::new(address.parse()?, &[Ipv4Addr::new(10, 0, 0, 1)]))
//! };
//! let addresses = Multicast {
//!     incremental: Lines::both(group("224.0.31.1:14310")?, group("224.0.32.1:15310")?),
//!     instrument: Lines::only_a(group("224.0.31.43:14310")?),
//!     snapshot: Lines::only_a(group("224.0.31.22:14310")?),
//!     snapshot_orders: Lines::default(),
//!     interface: Ipv4Addr::new(10, 0, 0, 2),
//!     transport: Transport::Kernel,
//!     replay: None,
//! };
//! let mut reactor = Reactor::new(Wait::Epoll)?;
//! let mut feed = FeedHandler::new(Settings::default(), addresses, &mut reactor)?;
//! let (mut session, mut position) = (Session, Position);
//! loop {
//!     let ready = reactor.wait(now().monotonic, feed.next_deadline())?;
//!     let mut strategy = Strategy { session: &mut session, position: &mut position };
//!     feed.process(now(), ready, &mut reactor, &mut strategy)?;
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod addresses;
mod backlog;
pub mod config;
mod connection;
mod connections;
mod definition_cache;
mod engine;
mod error;
mod feed_handler;
mod feed_handlers;
mod feed_threads;
mod frames;
mod groups;
mod inlet;
mod interface_watch;
mod keep_warm;
mod line;
mod order;
mod replay;
mod replay_line;
mod socket_line;
mod statistics;

pub use addresses::{Addresses, Group, Lines, Multicast, TcpLines};
pub use connection::ConnectionStatistics;
pub use definition_cache::{CacheError, DefinitionCache};
pub use engine::{
    Arrival, CaptureEngine, CaptureSource, Captured, EngineError, FeedEngine, LineAddress,
    LineFigures, LineId, SocketEngine, TappedEngine,
};
pub use error::{ConnectionError, FeedError, FrameError, LineName};
pub use feed_handler::FeedHandler;
pub use feed_handlers::{FeedHandlers, HandlerId, Listeners, Same};
pub use feed_threads::{FeedThread, FeedThreads, ThreadChannel, ThreadError, ThreadsError};
pub use hairpin_endpoint::capture::Speed;
pub use hairpin_endpoint::{ReceiveBuffer, Timestamp, Transport, UdpOptions};
pub use hairpin_mdp3::{
    Action, AggressorFlag, AggressorSide, Best, Book, BookCopy, BookDisplay, BookSide, BookUpdate,
    Changes, Channel, ChannelReset, ChannelState, Collateral, CollateralValue, ConsolidatedBook,
    ConsolidatedLevel, Counters, DecimalQty, Definition, DefinitionAction, DefinitionUpdate,
    Details, DisplayPrice, EndOfEvent, Error, Feed, FeedLine, FeedLines, FeedSkew, Feeds, Filter,
    FixedIncomeDetails, FxDetails, Gap, HaltReason, ImpliedBook, Input, InstAttribValue,
    InstrumentIndex, InstrumentStateChange, InstrumentStatistics, InstrumentStatus, Instruments,
    LateJoin, Leg, LegSide, Level, Levels, LevelsIter, LimitsUpdate, Listener, LotTypeRule,
    LotTypeRules, MAX_DEPTH, MAX_IMPLIED_DEPTH, MAX_TOP_ORDERS, MDUpdateAction, Message, MonthYear,
    OpenCloseSettlFlag, OptionDetails, Order, OrderBook, OrderBookStateChange, OrderBooks,
    OrderChange, OrderIter, OrderUpdate, Packet, Price9, PriceLimits, PriceSource, PutOrCall,
    QuoteRequest, QuoteRequestEntry, Related, Replay, ReplayFailure, ReplayOutcome, ReplayUpdate,
    RepoDetails, RepoSubType, SecurityAltIDSource, SecurityStatus, SecurityTradingEvent,
    SecurityTradingStatus, Settings, SettlPriceType, Silence, SilenceScope, SilenceState,
    SpreadDetails, Statistic, StatisticKind, StatisticValue, StatusScope, SyncState, TemplateIds,
    Text, Trade, TradeOrder, TradeOrders, Underlying, UpdateSource, Volume, Warning, Workup,
    WorkupOrder,
};
pub use hairpin_reactor::{CallError, Panic, SpawnError, SpinError};
pub use keep_warm::KeepWarm;
pub use line::LineStatistics;
pub use replay::{
    ReplayClient, ReplayEnd, ReplayError, ReplayRequest, ReplayServer, ReplaySettings,
};
pub use statistics::Statistics;
