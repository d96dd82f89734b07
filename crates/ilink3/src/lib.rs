//! CME iLink 3 order entry: the client side of a FIXP session over SBE, without I/O.
//!
//! Bytes and time go in; bytes, callbacks, actions and a deadline come out. A [`Session`] does
//! framing, logon with signatures, keep-alive, sequence numbers, gap recovery and termination. The
//! crate opens no socket, reads no clock and writes no journal: the owner of the connection does
//! the I/O. Business messages leave through an [`OutboundSink`], which keeps each message before
//! writing it. The `order-entry` crate provides the I/O, a journal and an order tracker.
//!
//! Layer L1: `no_std` with `alloc`, no `unsafe`. A session allocates only when it is created.
//!
//! # Example
//!
//! ```
//! use hairpin_ilink3::{Action, Binding, Operator, Progress, SecretKey, Session, Settings, State};
//! use hairpin_time::{Duration, Instant, Now, Utc};
//!
//! let settings = Settings {
//!     access_key_id: "ACCESS-KEY-ID-123456".into(),
//!     secret_key: SecretKey::from_base64url("AAECAwQFBgcICQoLDA0ODw")?,
//!     session: "ABC".into(),
//!     firm: "DEFGH".into(),
//!     trading_system_name: "Example".into(),
//!     trading_system_version: "1.0".into(),
//!     trading_system_vendor: "Example".into(),
//!     keep_alive_interval: Duration::from_secs(10),
//!     operator: Operator::automated("TRADER", "US,IL")?,
//! };
//! let mut session = Session::new(settings, Progress::default())?;
//! let now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(1_700_000_000_000_000_000) };
//! session.connect(now, Binding::New)?;
//! assert_eq!(session.poll_action(), Some(Action::Connect));
//! assert_eq!(session.state(), State::Connecting);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # States of a session
//!
//! ```text
//!              connect                handle_connected
//! Disconnected ───────► Connecting ───┬──────────────► Negotiating     sends Negotiate
//!      ▲                              │ Resume, Backup      │
//!      │                              ▼                     │ NegotiationResponse
//!      │ handle_disconnected     Establishing ◄─────────────┘          sends Establish
//!      │                              │ EstablishmentAck
//!      │                              ▼
//! Terminating ◄────────────────── Established              business messages both ways
//!              Terminate, reject, fault or timeout: from every connected state
//! ```
//!
//! [`Session::connect`] takes a [`Binding`]: a new UUID, the previous UUID, or the primary's UUID
//! on the backup gateway.
//!
//! # Sequence numbers
//!
//! ```text
//! client                                                     exchange
//! next_outgoing = 7                                          expects 5
//!   │ NewOrderSingle SeqNum=7 ─────────────────────────────────► │ 5 and 6 are missing
//!   │ ◄────────────────────── NotApplied FromSeqNo=5 MsgCount=3  │
//!   │ Sequence NextSeqNo=8 (fill the gap) ─────────────────────► │ expects 8
//!   │ or 5, 6, 7 again (replay) ───────────────────────────────► │
//!
//! next_incoming = 10
//!   │ ◄─────────────────────────── ExecutionReportNew SeqNum=12  │
//!   │ 12 is held; RetransmitRequest FromSeqNo=10 MsgCount=2 ───► │
//!   │ ◄─────────────────────────── 10, 11 with PossRetransFlag   │
//! delivers 10, 11, 12; next_incoming = 13
//! ```
//!
//! The listener receives each message of the exchange once and in order. [`NotAppliedAnswer`]
//! selects between filling a gap of ours and replaying the messages. [`Progress`] contains the
//! UUID and both numbers; store it to resume the session in another process.
//!
//! # Where to start
//!
//! | file | content |
//! |---|---|
//! | `session.rs` | [`Session`]: received bytes, session messages, timers, actions |
//! | `sender.rs` | [`Sender`], [`OutboundSink`], [`Outgoing`]: sending business messages |
//! | `listener.rs` | [`Listener`]: the callbacks and their arguments |
//! | `state.rs` | [`State`], [`Progress`], [`Binding`], [`Action`] |
//! | `settings.rs`, `session_policy.rs` | [`Settings`] (credentials), [`SessionPolicy`] |
//! | `operator.rs` | [`Operator`], [`SenderId`], [`Location`] |
//! | `error.rs`, `error_codes.rs` | [`Error`], [`Warning`]; CME's codes with descriptions |
//! | `counters.rs` | [`InboundCounters`], [`OutboundCounters`]; add a counter here |
//! | `new_order.rs`, `replace_order.rs`, `cancel_order.rs` | requests for one order |
//! | `mass_cancel.rs`, `mass_status.rs` | requests for many orders |
//! | `mass_quote.rs`, `quote_cancel.rs`, `cross.rs` | quotes, quote cancels and crosses |
//! | `other_requests.rs` | status, party list, acknowledgment, request for quote, definitions |
//! | `pricing.rs`, `order_time_in_force.rs`, `order_terms.rs` | order terms, validation |
//! | `party_details.rs` | party details, registered or on demand |
//! | `ids.rs`, `cl_ord_id.rs`, `text.rs` | [`OrderId`], [`SecurityId`]; [`ClOrdId`]; text fields |
//! | `batch.rs`, `warm_up.rs`, `throttle.rs` | batches, cache warm-up, rate limits |
//! | `replay.rs` | replay of messages that were not applied |
//! | `connector.rs`, `schedule.rs` | [`Connector`]: attempts, hosts, schedule, failover |
//! | `session/inbound.rs`, `session/out_of_sequence.rs` | delivery of received messages |
//! | `session/recovery.rs`, `session/hold_queue.rs` | gap recovery, hold queue |
//! | `session/retransmit_request.rs`, `session/retransmit_chunk.rs` | retransmit requests |
//! | `session/logon.rs`, `logon_history.rs` | logon responses, previous UUIDs |
//! | `session/connection.rs`, `session/backup.rs` | connection, backup and takeover |
//! | `session/transmit.rs`, `session/session_message.rs` | session messages sent and received |
//! | `session/timers.rs` | deadlines: keep-alive, response timeouts |
//! | `reassembly.rs`, `version.rs` | framing, older schema versions |
//! | `authentication.rs`, `key_expiry.rs` | secret key, signatures, expiry |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod ascii;
mod authentication;
mod batch;
mod cancel_order;
mod cl_ord_id;
mod connector;
mod counters;
mod cross;
mod error;
mod error_codes;
mod ids;
mod key_expiry;
mod listener;
mod mass_cancel;
mod mass_quote;
mod mass_status;
mod new_order;
mod operator;
mod order_terms;
mod order_time_in_force;
mod other_requests;
mod party_details;
mod pending;
mod pricing;
mod quote_cancel;
mod reassembly;
mod replace_order;
mod replay;
mod schedule;
mod sender;
mod session;
mod session_policy;
mod settings;
mod state;
mod text;
mod throttle;
mod version;
mod warm_up;

pub use authentication::{
    EstablishSubject, NegotiateSubject, SIGNATURE_LENGTH, SecretKey, SecretKeyError, redact_keys,
    resembles_key,
};
pub use batch::Batched;
pub use cancel_order::CancelOrder;
pub use cl_ord_id::ClOrdId;
pub use connector::{
    BAD_LOGONS_MAX, Connector, ConnectorSettings, DisconnectReason, PORT_CLOSURE_WINDOW, Role, Step,
};
pub use counters::{InboundCounters, OutboundCounters};
pub use cross::{CrossSide, NewOrderCross, RequestForCross};
pub use error::{Error, Warning};
pub use error_codes::{
    BusinessRejectReason, CancelRejectReason, OrderRejectReason, RejectCode, ReplaceRejectReason,
    RetransmitRejectCode, TerminateCode,
};
pub use ids::{OrderId, SecurityId};
pub use key_expiry::{KEY_WARNING_DAYS_DEFAULT, KeyExpiry};
pub use listener::{
    BackupNotice, Established, Failover, Gap, Listener, Message, NotApplied, Rejected,
    RetransmitRejected, Takeover, Terminated,
};
pub use mass_cancel::MassCancel;
pub use mass_quote::{MassQuote, MassQuoteRequest, QUOTES_MAX, Quote, SideQuote};
pub use mass_status::MassStatus;
pub use new_order::NewOrder;
pub use operator::{Location, Operator, OperatorError, SENDER_ID_MAX, SenderId};
pub use order_terms::RequestError;
pub use order_time_in_force::OrderTimeInForce;
pub use other_requests::{
    BrokenDate, ENTRIES_MAX, ExecutionAck, Leg, OrderStatusRequest, PartyDetailsListRequest,
    RelatedSym, RequestForQuote, RequestedParty, RequestingParty, SecurityDefinitionRequest,
};
pub use party_details::{PARTIES_MAX, PUBLICATIONS_MAX, Party, PartyDetails, TrdRegPublication};
pub use pricing::Pricing;
pub use quote_cancel::{
    QuoteCancel, QuoteCancelByGroup, QuoteCancelByInstrument, QuoteCancelBySet, QuoteCancelEntry,
    QuoteCancelSet,
};
pub use reassembly::{
    ENCODING_TYPE, FRAME_MAX, FRAME_MIN, FRAMING_HEADER_LENGTH, FramingError, Reassembly,
    write_framing_header,
};
pub use replace_order::{InFlightMitigation, ReplaceOrder};
pub use schedule::{FixedZone, Schedule, ScheduleError, WeekTime, Zone};
pub use sender::{
    Delivery, OutboundError, OutboundSink, Outgoing, SEQ_NUM_MAX, SendError, Sender, Sent, Stamp,
};
pub use session::{CONTROL_LENGTH, ConnectError, REQUEST_MAX, Session};
pub use session_policy::{
    GatewayKind, HELD_BYTES_DEFAULT, NotAppliedAnswer, OnFault, SessionPolicy,
};
pub use settings::{KEEP_ALIVE_DEFAULT, KEEP_ALIVE_MAX, KEEP_ALIVE_MIN, Settings, SettingsError};
pub use state::{Action, Binding, PreviousUuids, Progress, State, Stream};
pub use text::Text;
pub use throttle::{MessageClass, RATE_INTERVAL, Rate, Rates, Throttle};
pub use version::Version;
