//! A CME iLink 3 order entry session, without IO: the client's side of FIXP over SBE.
//!
//! Bytes and time go in; bytes, callbacks, actions and a deadline come out. The crate frames and
//! reassembles, logs on (Negotiate, Establish, with their signatures), keeps alive both ways,
//! numbers what leaves and checks the numbers of what comes, and terminates both ways. It opens
//! no socket, reads no clock and writes no journal: connections belong to whoever drives it, and
//! business messages leave through an [`OutboundSink`], which keeps each before it writes it.
//!
//! What a client says, it says as a [`NewOrder`], [`ReplaceOrder`] or [`CancelOrder`], or as any
//! other message of the schema by [`Outgoing`]. What the exchange answers has a callback of its own
//! in [`Listener`] for each kind of report on an order.
//!
//! What the exchange has published and has not arrived is asked for again, in chunks and one at a
//! time, and what comes meanwhile is held until its turn: the listener sees each message once and
//! in order.
//!
//! What the exchange has not applied it is moved past, or is sent again, as the user likes:
//! [`NotAppliedAnswer`]. A second session on the backup gateway takes over when the exchange says
//! so: [`Binding::Backup`]. When to connect, where to and how decides a [`Connector`].
//!
//! Layer L1: `no_std` with `alloc`, no `unsafe`. After the session is made it allocates nothing.
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
//!     operator: Operator::automated("TRADER", "US,IL"),
//! };
//! let mut session = Session::new(settings, Progress::default())?;
//! let now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(1_700_000_000_000_000_000) };
//! session.connect(now, Binding::New)?;
//! assert_eq!(session.poll_action(), Some(Action::Connect));
//! assert_eq!(session.state(), State::Connecting);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
mod error;
mod key_expiry;
mod listener;
mod mass_cancel;
mod mass_status;
mod new_order;
mod order_time_in_force;
mod party_details;
mod pending;
mod pricing;
mod reason;
mod reassembly;
mod rehearsal;
mod replace_order;
mod replay;
mod request;
mod schedule;
mod sender;
mod session;
mod session_policy;
mod settings;
mod state;
mod throttle;
mod version;

pub use authentication::{
    EstablishSubject, NegotiateSubject, SIGNATURE_LENGTH, SecretKey, SecretKeyError,
};
pub use batch::Batched;
pub use cancel_order::CancelOrder;
pub use cl_ord_id::ClOrdId;
pub use connector::{
    BAD_LOGONS_MAX, Connector, ConnectorSettings, Ending, PORT_CLOSURE_WINDOW, Role, Step,
};
pub use counters::{InboundCounters, OutboundCounters};
pub use error::{Error, Warning};
pub use key_expiry::{KEY_WARNING_DAYS_DEFAULT, KeyExpiry};
pub use listener::{
    Active, BackupNotice, Established, Failover, Gap, Listener, Message, NotApplied, Rejected,
    RetransmitRejected, Terminated,
};
pub use mass_cancel::MassCancel;
pub use mass_status::MassStatus;
pub use new_order::NewOrder;
pub use order_time_in_force::OrderTimeInForce;
pub use party_details::{PARTIES_MAX, Party, PartyDetails};
pub use pricing::Pricing;
pub use reason::{
    BusinessRejectReason, CancelRejectReason, OrderRejectReason, RejectCode, ReplaceRejectReason,
    RetransmitRejectCode, TerminateCode,
};
pub use reassembly::{
    ENCODING_TYPE, FRAME_MAX, FRAME_MIN, FRAMING_HEADER_LENGTH, FramingError, Reassembly,
    write_framing_header,
};
pub use replace_order::{InFlightMitigation, ReplaceOrder};
pub use request::RequestError;
pub use schedule::{FixedZone, Schedule, ScheduleError, WeekTime, Zone};
pub use sender::{
    Delivery, OutboundError, OutboundSink, Outgoing, SEQ_NUM_MAX, SendError, Sender, Sent, Stamp,
};
pub use session::{CONTROL_LENGTH, ConnectError, REQUEST_MAX, Session};
pub use session_policy::{HELD_BYTES_DEFAULT, NotAppliedAnswer, SessionPolicy};
pub use settings::{
    KEEP_ALIVE_DEFAULT, KEEP_ALIVE_MAX, KEEP_ALIVE_MIN, Operator, Settings, SettingsError,
};
pub use state::{Action, Binding, PreviousUuids, Progress, State, Stream};
pub use throttle::{MessageClass, RATE_INTERVAL, Rate, Rates, Throttle};
pub use version::Version;
