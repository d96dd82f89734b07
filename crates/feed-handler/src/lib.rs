//! CME MDP 3.0 feed handlers: market data channels on sockets, captures or any packet source.
//!
//! The crate connects `hairpin-mdp3`, the protocol of one channel, to I/O. It opens and joins the
//! lines, reads packets with their receive timestamps, passes them to the channel, and runs its
//! timers. It does not decode or arbitrate packets itself; `hairpin-mdp3` does. Layer L3, no
//! `unsafe`.
//!
//! ```text
//!   multicast groups / TCP / AF_XDP / captures
//!        │ datagrams with receive timestamps
//!   line sockets        LineSocket, TcpConnection, FeedEngine
//!        │ (feed, side, bytes)
//!   channel input       ChannelInput ── DefinitionCache
//!        │ handle_packet
//!   mdp3::Channel       A/B arbitration, recovery, books ── replay over TCP (ReplayClient)
//!        │ callbacks in stream order
//!   Listener            the strategy
//! ```
//!
//! # Where to start
//!
//! | type | purpose |
//! |---|---|
//! | [`FeedHandler`] | one channel on sockets in the caller's reactor |
//! | [`FeedHandlers`] | several channels on one [`FeedEngine`]: sockets, capture, custom source |
//! | [`FeedThreads`] | channels on named, pinned threads |
//! | [`config`] | CME's config.xml, and TOML for conflated channels |
//! | [`CaptureGroups`], [`CapturedFeed`] | the groups of a capture, detected or known |
//! | [`DefinitionCache`] | instrument definitions that survive a restart |
//! | [`ReplayClient`] | CME's TCP replay |
//! | [`CacheWarmer`] | synthetic packets that keep an idle path warm |
//!
//! | file | contents |
//! |---|---|
//! | `addresses.rs`, `capture_groups.rs` | the addresses of a channel, and those in a capture |
//! | `feed_handler.rs` | one channel, and the socket set it runs on |
//! | `multicast_sockets.rs` | multicast: all sockets of a channel |
//! | `feed_socket.rs`, `line_socket.rs` | multicast: one side of a feed, and its socket |
//! | `tcp_connections.rs`, `tcp_connection.rs` | TCP: both sides, one side with reconnection |
//! | `frame_decoder.rs`, `sequence_gate.rs` | TCP: packet framing, and the order of A and B |
//! | `channel_input.rs` | the entry point of packets to the channel |
//! | `feed_handlers.rs`, `engine.rs` | several channels, and the interface to packet sources |
//! | `interface_monitor.rs` | detection of a lost interface |
//! | `channel_replay.rs`, `replay.rs` | replay of lost packets for a channel, and its client |
//! | `statistics.rs`, `error.rs` | I/O counters (add new error counters here), and errors |
//!
//! The application owns the handler next to its session and its strategy, and drives the loop:
//! [`FeedHandler::process`] after each wakeup, [`FeedHandler::next_deadline`] before the next wait.
//! Callbacks run inside `process`. They reach the session through a struct of two `&mut`s that
//! implements [`Listener`], created for each call. The user's guide is
//! `docs/guide/feed-library.md`.
//!
//! ```no_run
//! use std::net::Ipv4Addr;
//! use hairpin_feed_handler::{
//!     EndOfEvent, FeedHandler, Group, Lines, Listener, Multicast, Settings, Transport,
//! };
//! use hairpin_reactor::{Reactor, Wait};
//! # fn now() -> hairpin_time::Now { unreachable!() }
//!
//! struct Session; // sends orders
//! struct Position; // decides on orders
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
mod cache_warmer;
mod capture_groups;
mod channel_input;
mod channel_replay;
pub mod config;
mod definition_cache;
mod engine;
mod error;
mod feed_handler;
mod feed_handlers;
mod feed_socket;
mod feed_threads;
mod frame_decoder;
mod interface_monitor;
mod line_socket;
mod multicast_sockets;
mod replay;
mod sequence_gate;
mod statistics;
mod tcp_connection;
mod tcp_connections;
mod unread_sockets;

pub use addresses::{Addresses, Group, Lines, Multicast, TcpLines};
pub use cache_warmer::CacheWarmer;
pub use capture_groups::{CaptureGroups, CapturedFeed};
pub use definition_cache::{CacheError, DefinitionCache};
pub use engine::{
    Arrival, CaptureEngine, CaptureSource, CapturedPacket, EngineError, FeedEngine, LineAddress,
    LineCounters, LineId, SocketEngine, TappedEngine,
};
pub use error::{ConnectionError, FeedError, FrameError, LineName};
pub use feed_handler::FeedHandler;
pub use feed_handlers::{FeedHandlers, HandlerId, Listeners, SharedListener};
pub use feed_socket::LineStatistics;
pub use feed_threads::{FeedThread, FeedThreads, ThreadChannel, ThreadError, ThreadsError};
pub use hairpin_endpoint::capture::Speed;
pub use hairpin_endpoint::{ReceiveBuffer, Timestamp, Timestamping, Transport, UdpOptions};
pub use hairpin_mdp3::{
    Action, AggressorFlag, AggressorSide, Best, Book, BookCopy, BookDisplay, BookEntryUpdate,
    BookSide, BookUpdate, BrokenDate, Changes, Channel, ChannelReset, ChannelState, Collateral,
    CollateralValue, ConsolidatedBook, ConsolidatedLevel, Counters, DecimalQty, Definition,
    DefinitionAction, DefinitionUpdate, Details, DisplayPrice, EndOfEvent, Error, EventEnd, Feed,
    FeedLine, FeedLines, FeedSkew, Feeds, Filter, FilterName, FixedIncomeDetails, FutureDetails,
    FxDetails, Gap, HaltReason, ImpliedBook, Input, InstAttribValue, InstrumentIndex,
    InstrumentReplaced, InstrumentStateChange, InstrumentStatistics, InstrumentStatus, Instruments,
    LateJoin, Leg, LegSide, Level, Levels, LevelsIter, LimitsUpdate, Listener, LotTypeRule,
    LotTypeRules, MAX_DEPTH, MAX_IMPLIED_DEPTH, MAX_TOP_ORDERS, MDUpdateAction, MarketBest,
    MarketBestUpdate, MarketPrice, MatchEvent, Message, MoneyOrPar, MonthYear, OpenCloseSettlFlag,
    OptionDetails, Order, OrderBook, OrderBookStateChange, OrderBooks, OrderChange, OrderIter,
    OrderUpdate, Packet, ParsePriceError, Price9, PriceLimits, PriceSource, PutOrCall,
    QuoteRequest, QuoteRequestEntry, Related, Replay, ReplayFailure, ReplayOutcome, ReplayUpdate,
    RepoDetails, RepoSubType, SecurityAltIDSource, SecurityStatus, SecurityTradingEvent,
    SecurityTradingStatus, Settings, SettlPriceType, Silence, SilenceScope, SilenceState,
    SpreadDetails, Statistic, StatisticKind, StatisticValue, StatusScope, SyncState, TemplateIds,
    Text, Trade, TradeOrder, TradeOrders, TradingSession, Underlying, UnderlyingSecurity,
    UpdateSource, Volume, Warning, Workup, WorkupOrder,
};
pub use hairpin_reactor::{CallError, Panic, SpawnError, SpinError};
pub use replay::{
    AdminTemplates, ReplayClient, ReplayCompletion, ReplayError, ReplayRequest, ReplayServer,
    ReplaySettings,
};
pub use statistics::Statistics;
pub use tcp_connection::ConnectionStatistics;
