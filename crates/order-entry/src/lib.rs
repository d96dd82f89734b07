//! An iLink 3 session on an endpoint, with its journal.
//!
//! [`Session`] joins the protocol of `hairpin-ilink3`, a connection and a journal of
//! `hairpin-mapped`. An order is encoded once, in the journal's next record; the record is
//! committed; then its bytes leave from there. Nothing is on the wire that is not in the journal,
//! but for Sequence messages. When [`Sender::send`] returns, the connection has taken the order,
//! or the caller knows how many bytes wait.
//!
//! The application owns the session beside its feed and its strategy and drives the loop:
//! [`Session::process`] after each wake, [`Session::next_deadline`] before the next. Callbacks of
//! the session are given the [`Sender`]; callbacks of a feed reach it through
//! [`Session::sender`]. Nothing allocates after the session is made, but for a connection.
//!
//! A journal that an earlier process has written is gone on with; messages whose callback it had
//! not finished are delivered again. [`ReconnectingSession`] connects by a schedule and again after
//! a
//! failure, and goes on over the backup's connection when the primary fails.
//!
//! What CME requires of a request is a field or a parameter of it: without it nothing compiles.
//!
//! ```compile_fail,E0061
//! use hairpin_order_entry::*;
//!
//! let how_many = NewOrder::limit(42, SideReq::BUY, Decimal(4_500_250_000_000), ClOrdId::from(1));
//! ```
//!
//! Layer L3, no `unsafe`.
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
//!         let price = Decimal(4_500_250_000_000);
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

mod backlog;
mod config;
mod connect;
mod counters;
mod gate;
mod link;
mod orders;
mod reconnecting_session;
mod record;
mod segments;
mod session;
mod session_threads;
mod settings;
mod standby;
mod standing;
mod zone;

pub use config::{Config, ConfigError, JournalPlace};
pub use connect::{Connect, FrameTap, TcpConnect};
pub use counters::Counters;
/// Every message of the schema, to decode what [`Listener::on_message`] gives and to encode what
/// [`Outgoing`] sends.
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
/// How connections are made, and when their bytes came.
pub use hairpin_endpoint::{Meta, TcpOptions, Timestamp, Timestamping};
pub use hairpin_ilink3::{
    Active, BackupNotice, Batched, Binding, BusinessRejectReason, CancelOrder, CancelRejectReason,
    ClOrdId, ConnectError, Delivery, Error, Established, Failover, Gap, InFlightMitigation,
    InboundCounters, KEEP_ALIVE_DEFAULT, KEY_WARNING_DAYS_DEFAULT, KeyExpiry, Listener, MassCancel,
    MassStatus, Message, MessageClass, NewOrder, NotApplied, NotAppliedAnswer, Operator,
    OrderRejectReason, OrderTimeInForce, OutboundCounters, OutboundError, Outgoing, Pricing,
    Progress, RATE_INTERVAL, Rate, Rates, RejectCode, Rejected, ReplaceOrder, ReplaceRejectReason,
    RequestError, RetransmitRejectCode, RetransmitRejected, SecretKey, SecretKeyError, SendError,
    Sender, Sent, SessionPolicy, Settings as Logon, SettingsError, Stamp, State, TerminateCode,
    Terminated, Throttle, Warning,
};
/// What keeps a session connected, for [`ReconnectingSession`].
pub use hairpin_ilink3::{
    Connector, ConnectorSettings, Ending, FixedZone, Schedule, ScheduleError, WeekTime, Zone,
};
/// What threads are started with, and why they are not.
pub use hairpin_reactor::{CallError, Panic, SpawnError, SpinError};
pub use hairpin_sbe::{Decimal, EncodeError};
pub use orders::{
    Download, DownloadEnd, DownloadError, Downloaded, InFlight, Intent, Order, OrderRequest,
    OrderState, OrderTracking, Orders, OrdersCounters, RequestKind, TrackOrders,
};
pub use reconnecting_session::ReconnectingSession;
pub use record::{CONTROL_RECORD, FILL_RECORD, MESSAGE_RECORD, standing_of};
pub use segments::{Listeners, SegmentTaken, Segments};
pub use session::Session;
pub use session_threads::{
    Mailbox, SessionThread, SessionThreads, ThreadError, ThreadSession, ThreadsError,
};
pub use settings::{
    BATCH_BYTES_DEFAULT, Settings, ThrottleSettings, WAITING_DEFAULT, WhenFull, WhenThrottled,
};
pub use zone::{NamedZone, ZoneError};
