//! Reliable datagrams: the contract of RDS at the latency of UDP.
//!
//! Layer L1: sans-IO, `no_std`, no `unsafe`, no allocation after [`Socket::new`]. Bytes and time
//! go in; packets, messages, events and a deadline come out. `hairpin-endpoint` runs this protocol
//! over kernel UDP, UDP over AF_XDP, and raw Ethernet.
//!
//! One [`Socket`] exchanges whole messages with any number of peers. An endpoint is an IP address
//! and a 16-bit RDS port. Each message is delivered once, and in order per pair of sockets. There
//! is no connection setup: the first packet to a new peer carries data. Nothing waits while nothing
//! is lost.
//!
//! ```text
//!            send                            poll_transmit
//!  owner  ----------> message -> send pool -----------------> carrier
//!                                   ^ acknowledged, lost         |
//!  owner  <---------- message <- receive pool <--------------- carrier
//!           receive,             (in place if in order)   handle_packet
//!           poll_event
//! ```
//!
//! # Contract
//!
//! - `send` queues a message and returns at once. The packets leave with `poll_transmit`.
//! - A message accepted for a bound, reachable peer is delivered once, unless it is cancelled.
//! - Messages of different pairs of sockets have no order, and do not wait for one another.
//! - An acknowledgment means that the message is in the receiver's queue or its owner has it.
//! - A full receiver is reported to its senders, whose sends fail with [`SendError::Congested`].
//! - The sender can request the outcome of a message ([`Socket::send_tracked`]).
//!
//! # Protocol
//!
//! - Each packet is numbered per pair of sockets. At most 64 are in flight to one peer.
//! - A receiver that sees a gap sends an acknowledgment with a bitmap at once, for all gaps.
//!   Packets that are missing, and were sent before the newest packet received, are sent again.
//! - Acknowledgments travel with data. The sender requests one after 16 packets, and probes a peer
//!   that has not answered for twice the round trip (at least 200 µs) plus the response delay.
//! - A loss halves the window to that peer. There is no pacing.
//! - Each packet carries `floor`, the lowest number that may still be sent. A cancelled message
//!   raises `floor`, so that the receiver never waits for the gap.
//! - Each socket has a random incarnation. A packet of or for another incarnation is dropped, and
//!   answered with a challenge. Only a sender that returns the challenge's timestamp replaces the
//!   earlier incarnation.
//! - An ICMP error ends nothing unless it proves that its sender has seen a packet of this socket
//!   ([`Socket::handle_undeliverable`]). Any other one, which may be forged, causes a probe.
//! - For 10 s after `bind`, a sender that does not know this incarnation is challenged before its
//!   data are accepted: they may be a copy of data for an earlier socket. This costs the first
//!   message one round trip. A sender with the address of a peer whose first answer is awaited is
//!   challenged at any time: it may be forged.
//!
//! [`packet`] shows the packet format.
//!
//! # Where to start reading
//!
//! | module | contents |
//! |---|---|
//! | `socket` | [`Socket`]; below it `send`, `receive`, `transmit`, `timeout` and `association` (packet to peer, restarts) |
//! | `packet` | the wire format |
//! | `peer`, `peer_table` | the state of a peer; the table of peers by address |
//! | `pool` | packet buffers and queues of them |
//! | `rtt`, `timer_wheel`, `clock_offset` | timeouts; deadlines of all peers; the age of packets |
//! | `counters`, `event`, `error`, `config` | what a user sees and sets |
//!
//! ```
//! # fn crc32c(crc: u32, bytes: &[u8]) -> u32 { crc32c::crc32c_append(crc, bytes) }
//! use core::num::NonZeroU32;
//! use hairpin_rds::{Config, Delivery, Socket};
//! use hairpin_time::Instant;
//!
//! let now = Instant::from_nanos(1_000);
//! let (here, there) = ("10.0.0.1:4000".parse().unwrap(), "10.0.0.2:4000".parse().unwrap());
//! let config = Config { peers: 8, send_buffer: 1 << 16, ..Config::new(crc32c) };
//! let (mut a, mut b) = (Socket::new(config, now), Socket::new(config, now));
//! a.bind(now, here, NonZeroU32::new(7).unwrap())?;
//! b.bind(now, there, NonZeroU32::new(9).unwrap())?;
//!
//! a.send(now, there, 5, |message| message.copy_from_slice(b"hello"))?;
//! let mut received = Vec::new();
//! // A new socket challenges its first sender, so the packets go back and forth once.
//! for _ in 0..2 {
//!     while let Some(transmit) = a.poll_transmit(now) {
//!         let packet = transmit.packet;
//!         if let Some(message) = b.handle_packet(now, here.ip(), packet, Delivery::InPlace) {
//!             received.push((message.source, message.bytes.to_vec()));
//!         }
//!     }
//!     while let Some(transmit) = b.poll_transmit(now) {
//!         a.handle_packet(now, there.ip(), transmit.packet, Delivery::InPlace);
//!     }
//! }
//! assert_eq!(received, [(here, b"hello".to_vec())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod clock_offset;
mod config;
mod counters;
mod error;
mod event;
pub mod packet;
mod peer;
mod peer_table;
mod pool;
mod rtt;
mod sequence;
mod socket;
mod timer_wheel;
mod timestamp;

pub use config::{Config, Crc32c, MESSAGE_MAX};
pub use counters::Counters;
pub use error::{BindError, SendError};
pub use event::{Event, MessageId, Outcome};
pub use socket::{Delivery, Message, Socket, Transmit};
