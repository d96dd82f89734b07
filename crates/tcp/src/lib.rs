//! One established TCP connection as a value: data, loss recovery and windows.
//!
//! Layer L1: sans-IO, `no_std`, no `unsafe`, no allocation. A [`Connection`] is plain data; its
//! bytes are in two rings of the caller. It is created from a [`Snapshot`] of another TCP, the
//! kernel's, and can be converted back into one between any two calls. `hairpin-stack` takes
//! connections over from the kernel and hands them back.
//!
//! ```text
//!            queue, send                       poll_transmit
//!  owner  ---------------> send ring (una..end) -------------> frame
//!                              ^ acknowledged, lost      |
//!  owner  <--------------- receive ring        <------------- segment
//!           receive,       (in place if in order)   handle_segment
//!           on_data
//! ```
//!
//! # What stays with the kernel
//!
//! The connection has one state, ESTABLISHED. All else is a [`Reason`] to hand it back:
//!
//! | subject | handling |
//! |---|---|
//! | handshake, listening, TIME-WAIT | never here: the kernel's socket does them |
//! | our FIN: `shutdown`, `close`, linger | the owner hands back first |
//! | the peer's FIN | [`Reason::Fin`] once everything before it was received |
//! | RST | checked by RFC 5961 §3.2, then [`Reason::Reset`] |
//! | SYN, urgent data, unknown options | [`Reason::Syn`], [`Reason::Urgent`], [`Reason::Option`] |
//! | window probes | [`Reason::ClosedWindow`] after 5 ms; probes of the peer are answered |
//! | dead peers, path MTU | [`Reason::Timeouts`] after the second timeout in a row |
//! | bulk transfer | [`Reason::Bulk`]: the kernel has segmentation offload |
//! | keep-alive | the kernel's, after handback; probes of the peer are answered |
//! | ECN, MD5, AO, MPTCP, TLS, fast open | never taken over |
//!
//! # Rules
//!
//! - Data in order with expected options takes a short path (header prediction).
//! - Timestamps and PAWS follow RFC 7323. The clock has milliseconds, as the kernel's.
//! - Selective acknowledgments are sent and used (RFC 2018). A segment is lost if one that was sent
//!   later has arrived: RACK, with tail loss probes (RFC 8985). There is no other detector.
//! - The retransmission timeout is that of RFC 6298 with a floor of 5 ms plus the delay of the
//!   peer's acknowledgments: 40 ms, or the longest observed.
//! - The congestion window is CUBIC's (RFC 9438). There is no pacing.
//! - Acknowledgments leave with data, after two full segments, after 20 ms, or at once if a segment
//!   is out of order or repeated.
//! - RST, SYN and acknowledgments are checked by RFC 5961. Challenge acknowledgments are limited to
//!   one per 100 ms.
//!
//! Not implemented: duplicate selective acknowledgments are understood but not sent (RFC 2883),
//! F-RTO (RFC 5682), and undoing a wrong reduction of the window (RFC 4015).
//!
//! # Where to start reading
//!
//! | module | contents |
//! |---|---|
//! | `connection` | [`Connection`]; below it `receive`, `acknowledge`, `transmit` and `timeout` |
//! | `snapshot`, `reason` | what connects it with another TCP |
//! | `segment`, `header` | the wire format; [`PreparedHeader`] |
//! | `scoreboard` | segments in flight, RACK |
//! | `reassembly`, `ring` | segments out of order; the bytes |
//! | `rtt`, `cubic` | timeouts; the congestion window |
//! | `counters`, `config` | what a user sees and sets |
//!
//! ```
//! use hairpin_tcp::{Config, Connection, Rings, Snapshot};
//! use hairpin_time::Instant;
//!
//! # fn f(snapshot: &Snapshot) -> Result<(), hairpin_tcp::SnapshotError> {
//! let (mut send, mut receive) = (vec![0; 1 << 17], vec![0; 1 << 17]);
//! let mut rings = Rings { send: &mut send, receive: &mut receive };
//! let now = Instant::ZERO;
//! let mut connection = Connection::new(now, snapshot, &[], Config::default(), &mut rings)?;
//! assert_eq!(connection.queue(now, &mut rings, b"order"), 5);
//! // Frames: connection.poll_transmit(now, &rings, &header, &mut frame)
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod config;
mod connection;
mod counters;
mod cubic;
mod header;
mod reason;
mod reassembly;
mod ring;
mod rtt;
mod scoreboard;
mod segment;
mod sequence;
mod snapshot;

pub use config::Config;
pub use connection::{Action, Connection, Listener, Verdict};
pub use counters::Counters;
pub use header::{PreparedHeader, Route};
pub use reason::Reason;
pub use ring::Rings;
pub use snapshot::{Numbers, Snapshot, SnapshotError, Timestamps};
