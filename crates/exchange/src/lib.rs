//! An exchange simulator to trade against: matching engine, MDP 3.0 market data publisher, iLink 3
//! order entry gateway.
//!
//! Layer L3. The crate is a partner for tests and benchmarks, not a venue: it has no risk checks
//! and stores nothing on disk. It never uses `mdp3` or `ilink3`, not even in tests. It is a second,
//! independent implementation of CME's documents and shares only the generated codecs with
//! Hairpin's clients. So each side can reveal the other's misreadings.
//!
//! ```text
//!              SimulatedMarket
//!              ┌─────────────────────────────────────────────────────────────────────┐
//!              │ FlowGenerator (background orders)                                   │ UDP, TCP
//!  TCP         │      ▼                                                              │ lines A, B
//! ────▶ Gateway ─▶ Matching ─▶ Accumulator (trades, changed books) ─▶ Publisher ─────┼─▶ packets
//! ◀────        ◀─ OrderEvent (fills, eliminations, triggers)                         │
//!   reports    └─────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`SimulatedMarket`] combines matching engine, background flow, accumulator and publisher.
//! [`Exchange`] runs all of them on sockets.
//!
//! # Where to start
//!
//! | file | contents | I/O |
//! |---|---|---|
//! | `exchange.rs` | [`Exchange`]: the loop on UDP and TCP sockets | yes |
//! | `simulated_market.rs` | [`SimulatedMarket`]: matching, background flow and publisher | no |
//! | `matching.rs` | [`Matching`]: price-time priority, all order types, replace, cancel | no |
//! | `matching/accumulator.rs` | [`Accumulator`]: trades and changed books until published | no |
//! | `flow_generator.rs` | [`FlowGenerator`]: the seeded background flow | no |
//! | `publisher.rs` | [`Publisher`]: MDP 3.0, a Premium or a conflated group, all feeds | no |
//! | `publisher/admin_events.rs` | trading status, book and channel resets, implied levels | no |
//! | `publisher/instrument_events.rs` | statistics, limits, quote requests, definitions | no |
//! | `feed_faults.rs` | [`FeedFaults`]: loss, duplication, reordering, delay, outages | no |
//! | `replay.rs` | [`ReplayServer`]: packets of the incremental feed on request, over TCP | no |
//! | `gateway.rs` | [`Gateway`]: iLink 3 sessions, orders and reports | no |
//! | `gateway/counters.rs` | [`GatewayCounters`]: add a counter of the gateway here | no |
//! | `exchange/counters.rs` | [`ExchangeCounters`]: add a counter of the sockets here | no |
//! | `market.rs` | [`Market`]: the interface between gateway and market | no |
//! | `listener.rs` | [`Listener`]: the callbacks for measurements | no |
//!
//! Nothing allocates after start-up, except for each accepted connection. No clock is read: time is
//! a parameter, and a [`Listener`] is called where a measurement needs a timestamp.
//!
//! ```
//! use hairpin_exchange::{
//!     Feed, MAX_PAYLOAD, Publication, SimulatedMarket, SimulatedMarketSettings,
//! };
//! use hairpin_time::{Instant, Now, Utc};
//!
//! let now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(1_700_000_000_000_000_000) };
//! let mut market = SimulatedMarket::new(&SimulatedMarketSettings::default(), now);
//! let mut packet = [0; MAX_PAYLOAD];
//! while market.publisher().has_event() {
//!     let transmit = market.publisher_mut().poll_transmit(now, &mut packet).unwrap();
//!     assert_eq!(transmit.feed, Feed::Incremental);
//! }
//! let (step, publication) = market.step(now).unwrap();
//! assert!(step.instrument < 100 && matches!(publication, Publication::Event(_)));
//! ```
#![forbid(unsafe_code)]

mod defined_values;
mod exchange;
mod feed_faults;
mod flow_generator;
mod gateway;
mod instrument;
mod listener;
mod market;
mod matching;
mod publisher;
mod replay;
mod simulated_market;
mod slab;

pub use exchange::{
    Addresses, Exchange, ExchangeCounters, ExchangeSettings, FeedLine, Groups, Multicast, TcpFeed,
};
pub use feed_faults::{FaultSettings, FaultTally, FeedFaults, LineFaults};
pub use flow_generator::{
    BOOK_RANGE, BackgroundFlow, FlowGenerator, FlowStep, STEP_RANGE, StepKind,
};
pub use gateway::{
    Action, BusinessReason, ConnectionId, Credentials, CredentialsError, Designation, Gateway,
    GatewayCounters, GatewayFaultTally, GatewayFaults, GatewayKind, GatewaySettings, LogonReject,
    MassActionReason, OrderReason, QuoteReason, RateLimit, RateLimits, Rejected, RetransmitReason,
    SessionState, TerminateCode, Venue,
};
pub use instrument::{DisplayFormat, Instrument, InstrumentKind, Leg, OptionRight};
pub use listener::{EventPacket, Listener, Tick};
pub use market::{Market, OrderEvent, SessionElimination, SessionFill};
pub use matching::{
    Accumulator, Capacity, Fill, Matching, NewOrder, Order, OrderId, OrderKind, Owner, PriceLevel,
    Rejection, Replaced, Replacement, SelfMatchCancel, SelfMatchInstruction, SelfMatchPrevention,
    Side, StopOrder, Submitted, Terms, TimeInForce, Trade,
};
pub use publisher::{
    BROKERTEC_INTERVAL, Collateral, DEPTH, Daily, DailyStatistic, DefinitionChange,
    DefinitionCount, Digest, EBS_INTERVAL, EventPart, Feed, Fingerprint, FullOrders, Group,
    IMPLIED_DEPTH, Ladder, Limits, MAX_PAYLOAD, OrderPath, Pace, Publication, Published,
    PublishedOrder, Publisher, PublisherSettings, QuoteRequest, SETTLEMENTS_MAX, Session,
    Settlement, Statistics, TOP_ORDERS, TopOrders, TradingStatus, Transmit, Workup, WorkupOrder,
};
pub use replay::{
    REPLAY_MAX, ReplayCounters, ReplayId, ReplayReject, ReplaySchema, ReplayServer, ReplaySettings,
};
pub use simulated_market::{SimulatedMarket, SimulatedMarketSettings};

/// A price: a mantissa with nine decimals, as in MDP 3.0 and iLink 3.
pub type Price = hairpin_sbe::Decimal<-9>;
