//! CME iLink 3 order entry: a session with its journal on a connection.
//!
//! The crate connects `hairpin-ilink3` (the protocol), a connection of `hairpin-endpoint` and a
//! journal of `hairpin-mapped`. It does not decide what to trade and does not parse messages
//! itself. Layer L3, no `unsafe`.
//!
//! An order's path:
//!
//! ```text
//!   strategy            decides; holds a Sender
//!      │ send(&NewOrder)
//!   Sender              checks the session's state and the rate limit, assigns SeqNum
//!      │ claim
//!   journal record      encode NewOrderSingle (514) in place, once
//!      │ commit         the length word is stored last: the record is complete
//!   transmit            write the frame from the record; queue the rest if the socket is full
//!      │
//!   wire                TCP to the gateway; the journal's thread syncs to disk meanwhile
//! ```
//!
//! No sequence number is on the wire that is not in the journal, except in Sequence messages. When
//! [`Sender::send`] returns, the connection has accepted the order, or the result has the number of
//! bytes that wait. After startup only a new connection allocates.
//!
//! # Where to start
//!
//! | type | purpose |
//! |---|---|
//! | [`Session`] | a session on one connection |
//! | [`ReconnectingSession`] | reconnection by schedule, other hosts, failover to the backup |
//! | [`SegmentSessions`] | one session per market segment on one loop |
//! | [`SessionThreads`] | sessions on named, pinned threads |
//! | [`Orders`], [`OrderTracking`] | the state of all orders, also from a journal after a restart |
//! | [`Download`] | a download of GTC and GTD orders after a logon |
//! | [`Config`] | `order.toml` |
//!
//! | file | contents |
//! |---|---|
//! | `session.rs` | protocol, connection and reactor combined |
//! | `journaled_connection.rs` | the send path: journal, queue, throttle, writes |
//! | `send_queue.rs`, `send_throttle.rs` | records that wait for the socket or the rate limit |
//! | `connect.rs` | how a session connects; hooks for its frames |
//! | `reconnecting_session.rs`, `standby.rs` | reconnection, and the connection to the backup |
//! | `journal_record.rs`, `session_snapshot.rs` | the contents of journal records |
//! | `orders.rs` and `orders/` | the order tracker |
//! | `counters.rs`, `orders/counters.rs` | counters (add new error counters here) |
//! | `settings.rs`, `config.rs`, `time_zone.rs` | settings, the configuration file, time zones |
//!
//! The application owns the session next to its feed and its strategy, and drives the loop:
//! [`Session::process`] after each wakeup, [`Session::next_deadline`] before the next wait.
//! Callbacks of the session receive the [`Sender`]; callbacks of a feed use [`Session::sender`]. A
//! session on an existing journal resumes it, and redelivers messages whose callback had not
//! returned.
//!
//! Fields that CME requires are parameters, so a request without one does not compile:
//!
//! ```compile_fail,E0061
//! use hairpin_order_entry::*;
//!
//! // The quantity is missing.
//! let order = NewOrder::limit(42, SideReq::BUY, Decimal(450_025_000_000_000), ClOrdId::from(1));
//! ```
//!
//! Prices are CME wire prices (PRICE9): an integer mantissa with the implied exponent -9. The
//! display price is the wire price times the instrument's DisplayFactor (9787).
//!
//! ```no_run
//! use hairpin_mapped::Journal;
//! use hairpin_order_entry::*;
//! use hairpin_reactor::{Reactor, Wait};
//! use hairpin_time::Now;
//!
//! struct Buyer;
//!
//! impl Listener for Buyer {
//!     fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
//!         let price = Decimal(450_025_000_000_000); // ES at 4500.25, DisplayFactor 0.01
//!         let order = NewOrder::limit(42, SideReq::BUY, price, 1, ClOrdId::from(1));
//!         if let Err(error) = sender.send(&order) {
//!             eprintln!("not sent: {error}");
//!         }
//!     }
//!     fn on_execution_report_new(
//!         &mut self,
//!         sender: &mut Sender<'_>,
//!         report: ExecutionReportNew522<'_>,
//!         _: &Message<'_>,
//!     ) {
//!         println!("order {} is working", report.order_id());
//!         sender.terminate();
//!     }
//! }
//!
//! fn buy(settings: Settings, clock: impl Fn() -> Now) -> Result<(), Box<dyn std::error::Error>> {
//!     let mut reactor = Reactor::new(Wait::Epoll)?;
//!     let mut session = Session::new(settings, Journal::anonymous(1 << 20)?)?;
//!     let mut now = clock();
//!     session.connect(now, Binding::New)?;
//!     while session.state() != State::Disconnected {
//!         let ready = reactor.wait(now.monotonic, session.next_deadline())?;
//!         now = clock();
//!         session.process(now, ready, &mut reactor, &mut Buyer)?;
//!     }
//!     Ok(())
//! }
//! ```
#![forbid(unsafe_code)]

mod config;
mod connect;
mod counters;
mod journal_record;
mod journaled_connection;
mod msgw_config;
mod orders;
mod reconnecting_session;
mod segment_sessions;
mod send_queue;
mod send_throttle;
mod session;
mod session_snapshot;
mod session_threads;
mod settings;
mod standby;
mod time_zone;

pub use config::{Config, ConfigError, JournalLocation, ReadOptions, secret_key_from};
pub use connect::{Connect, FrameTap, TcpConnect};
pub use counters::Counters;
/// All messages of the schema, to decode the input of [`Listener::on_message`] and to encode
/// [`Outgoing`] messages.
pub use hairpin_cme_codecs::ilink3 as messages;
pub use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecutionReportCancel534, ExecutionReportElimination524,
    ExecutionReportModify531, ExecutionReportNew522, ExecutionReportPendingCancel564,
    ExecutionReportPendingReplace565, ExecutionReportReject523, ExecutionReportStatus532,
    ExecutionReportTradeAddendumOutright548, ExecutionReportTradeAddendumSpread549,
    ExecutionReportTradeAddendumSpreadLeg550, ExecutionReportTradeOutright525,
    ExecutionReportTradeSpread526, ExecutionReportTradeSpreadLeg527, MassQuoteAck545,
    MassQuoteResponse571, OrderCancelReject535, OrderCancelReplaceReject536,
    OrderMassActionReport562, OrderTypeReq, PartyDetailsDefinitionRequestAck519,
    PartyDetailsListReport538, Price9, QuoteCancelAck563, RequestForQuoteAck546,
    SecurityDefinitionResponse561, SideReq, TimeInForce,
};
/// Options and receive timestamps of connections.
pub use hairpin_endpoint::{Meta, TcpOptions, Timestamp, Timestamping};
pub use hairpin_ilink3::{
    BackupNotice, Batched, Binding, BrokenDate, BusinessRejectReason, CancelOrder,
    CancelRejectReason, ClOrdId, ConnectError, CrossSide, Delivery, ENTRIES_MAX, Error,
    Established, ExecutionAck, Failover, Gap, GatewayKind, InFlightMitigation, InboundCounters,
    KEEP_ALIVE_DEFAULT, KEY_WARNING_DAYS_DEFAULT, KeyExpiry, Leg, Listener, Location, MassCancel,
    MassQuote, MassQuoteRequest, MassStatus, Message, MessageClass, NewOrder, NewOrderCross,
    NotApplied, NotAppliedAnswer, OnFault, Operator, OperatorError, OrderId, OrderRejectReason,
    OrderStatusRequest, OrderTimeInForce, OutboundCounters, OutboundError, Outgoing, PARTIES_MAX,
    PUBLICATIONS_MAX, Party, PartyDetails, PartyDetailsListRequest, Pricing, Progress, QUOTES_MAX,
    Quote, QuoteCancel, QuoteCancelByGroup, QuoteCancelByInstrument, QuoteCancelBySet,
    QuoteCancelEntry, QuoteCancelSet, RATE_INTERVAL, Rate, Rates, RejectCode, Rejected, RelatedSym,
    ReplaceOrder, ReplaceRejectReason, RequestError, RequestForCross, RequestForQuote,
    RequestedParty, RequestingParty, RetransmitRejectCode, RetransmitRejected, SENDER_ID_MAX,
    SecretKey, SecretKeyError, SecurityDefinitionRequest, SecurityId, SendError, Sender, SenderId,
    Sent, SessionPolicy, Settings as Logon, SettingsError, SideQuote, Stamp, State, Takeover,
    TerminateCode, Terminated, Text, Throttle, TrdRegPublication, Version, Warning, redact_keys,
    resembles_key,
};
/// The connector of a [`ReconnectingSession`], with its settings.
pub use hairpin_ilink3::{
    Connector, ConnectorSettings, DisconnectReason, FixedZone, Schedule, ScheduleError, WeekTime,
    Zone,
};
/// Types for threads and their errors.
pub use hairpin_reactor::{CallError, Panic, SpawnError, SpinError};
pub use hairpin_sbe::{Decimal, EncodeError};
pub use journal_record::{CONTROL_RECORD, FILL_RECORD, MESSAGE_RECORD, snapshot_from_record};
pub use msgw_config::{MsgwConfigError, msgw_schema_version, msgw_segments};
pub use orders::{
    CancelOnQuit, Download, DownloadError, DownloadResult, Downloaded, InFlight, Intent, Order,
    OrderRequest, OrderState, OrderTracking, Orders, OrdersCounters, OrdersLeft, RequestKind,
    TrackOrders,
};
pub use reconnecting_session::ReconnectingSession;
pub use segment_sessions::{DuplicateSegment, Listeners, SegmentSessions};
pub use session::Session;
pub use session_threads::{
    Mailbox, SessionThread, SessionThreads, ThreadError, ThreadSession, ThreadsError,
};
pub use settings::{
    BATCH_BYTES_DEFAULT, Settings, ThrottleSettings, WAITING_DEFAULT, WhenFull, WhenJournalFails,
    WhenThrottled,
};
pub use time_zone::{NamedZone, ZoneError};
