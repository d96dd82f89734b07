//! An exchange to trade with: matching engine, market data publisher, order entry gateway.
//!
//! Layer L3. CME's protocols, read from CME's documents a second time: this crate shares only the
//! generated codecs with Hairpin's clients, so that each side can find the other's misreadings.
//! It is a partner for tests and benchmarks, not a venue: no risk checks, nothing kept on disk.
//!
//! | module | is | IO |
//! |---|---|---|
//! | [`Matching`] | price-time priority: limit, market and stop orders, replace, cancel | no |
//! | [`Generator`] | seeded order flow that always changes a best price | no |
//! | [`Publisher`] | MDP 3.0: a Premium or a conflated group, all its feeds | no |
//! | [`FeedFaults`] | loss, repetition, reordering, delay and silence on side A and side B | no |
//! | [`ReplayServer`] | packets of the incremental feed again, by TCP | no |
//! | [`Gateway`] | iLink 3: sessions, orders, reports | no |
//! | [`SimulatedMarket`] | the first three as one market | no |
//! | [`Exchange`] | all of it on UDP and TCP sockets | yes |
//!
//! Nothing allocates after start-up, but for a connection when it is accepted. No clock is read:
//! time is a parameter, and a [`Listener`] is called where a measurement needs one.
//!
//! ```
//! use hairpin_exchange::{Feed, SimulatedMarket, SimulatedMarketSettings, MAX_PAYLOAD,
//! Publication};
//! use hairpin_time::{Instant, Now, Utc};
//!
//! let now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(1_700_000_000_000_000_000) };
//! let mut floor = SimulatedMarket::new(&SimulatedMarketSettings::default(), now);
//! let mut packet = [0; MAX_PAYLOAD];
//! while floor.publisher().has_event() {
//!     let transmit = floor.publisher_mut().poll_transmit(now, &mut packet).unwrap();
//!     assert_eq!(transmit.feed, Feed::Incremental);
//! }
//! let (step, publication) = floor.step(now).unwrap();
//! assert!(step.instrument < 100 && matches!(publication, Publication::Event(_)));
//! ```
#![forbid(unsafe_code)]

mod exchange;
mod faults;
mod gateway;
mod generator;
mod instrument;
mod listener;
mod market;
mod matching;
mod publisher;
mod replay;
mod simulated_market;
mod slab;

pub use exchange::{
    Addresses, Exchange, ExchangeCounters, ExchangeSettings, FeedSide, Groups, Multicast, TcpFeed,
};
pub use faults::{FaultSettings, FaultTally, FeedFaults, SideFaults};
pub use gateway::{
    Action, BusinessReason, ConnectionId, Credentials, CredentialsError, Designation, Gateway,
    GatewayCounters, GatewayFaultTally, GatewayFaults, GatewaySettings, LogonReject,
    MassActionReason, OrderReason, QuoteReason, RateLimit, RateLimits, Rejected, RetransmitReason,
    SessionState, TerminateCode,
};
pub use generator::{EXTENT, Flow, Generator, Kind, REACH, Step};
pub use instrument::{Instrument, InstrumentKind, Leg, OptionRight};
pub use listener::{EventPacket, Listener, Tick};
pub use market::{Market, Notice, SessionElimination, SessionFill};
pub use matching::{
    Accumulator, Capacity, Fill, Matching, NewOrder, Order, OrderId, OrderKind, Owner, PriceLevel,
    Rejection, Replaced, Replacement, Side, Stop, Submitted, Terms, TimeInForce, Trade,
};
pub use publisher::{
    BROKERTEC_INTERVAL, Collateral, DEPTH, Daily, DailyStatistic, DefinitionChange, Digest,
    EBS_INTERVAL, EventPart, Feed, Fingerprint, FullOrders, Group, IMPLIED_DEPTH, Ladder, Limits,
    MAX_PAYLOAD, OrderPath, Pace, Publication, Published, PublishedOrder, Publisher,
    PublisherSettings, QuoteRequest, Session, Settlement, Statistics, TOP_ORDERS, TopOrders,
    TradingStatus, Transmit, Workup, WorkupOrder,
};
pub use replay::{
    REPLAY_MAX, ReplayCounters, ReplayId, ReplayReject, ReplayServer, ReplaySettings,
};
pub use simulated_market::{SimulatedMarket, SimulatedMarketSettings};

/// A price: a mantissa with nine decimals, as MDP 3.0 and iLink 3 have it.
pub type Price = hairpin_sbe::Decimal<-9>;
