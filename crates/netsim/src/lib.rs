//! A deterministic network for tests: a virtual clock, and links whose faults come from a seed.
//!
//! Layer T: a dev-dependency, never part of a product. There are no threads, sockets or clocks in
//! here: bytes and time go in, bytes and a deadline come out, and one seed gives one run, always.
//!
//! | type | is |
//! |---|---|
//! | [`Clock`], [`Timeline`] | virtual time; what is due when, ties in the order of their coming |
//! | [`Random`], [`Chance`] | the seed, and streams that do not disturb each other |
//! | [`Link`], [`Faults`] | datagrams one way: delayed, lost, repeated, reordered, corrupted, cut |
//! | [`Script`] | exactly what happens to which datagram |
//! | [`Group`] | a multicast group: a link for each receiver |
//! | [`Connection`] | a byte stream both ways: chunks, windows, half-close, reset, refusal |
//! | [`Storage`] | a file that loses a suffix of what was not synced |
//! | [`FaultSchedule`] | faults that begin and end, by a seed |
//! | [`Census`] | what has happened, and a complaint about what should have and has not |
//!
//! Not here: addresses, routes, fragments, and the machinery of TCP; a [`Connection`] shows what a
//! program sees of TCP, not what the wire does.
//!
//! ```
//! use hairpin_netsim::{Chance, Clock, Faults, Link, Random};
//! use hairpin_time::{Duration, Utc};
//!
//! let mut clock = Clock::new(Utc::from_nanos(1_700_000_000_000_000_000));
//! let mut link = Link::new(Random::new(7), Faults { loss: Chance::percent(50), ..Faults::LAN });
//! (0..100_u8).for_each(|number| link.send(clock.now().monotonic, &[number]));
//! clock.advance(Duration::from_millis(1));
//! let mut received = Vec::new();
//! link.receive(clock.now().monotonic, |_, datagram| received.push(datagram[0]));
//! assert_eq!(received.len() as u64, 100 - link.tally().lost);
//! assert!(received.is_sorted() && link.poll_timeout().is_none());
//! ```
#![forbid(unsafe_code)]

mod census;
mod clock;
mod connection;
mod fault_schedule;
mod faults;
mod group;
mod link;
mod pipe;
mod random;
mod script;
mod storage;
mod timeline;

pub use census::{Census, NeverHappened};
pub use clock::Clock;
pub use connection::{Connection, ConnectionState, End, StreamError};
pub use fault_schedule::{Change, FaultSchedule};
pub use faults::{Delay, Faults, Rate, StreamFaults};
pub use group::{Group, ReceiverId};
pub use link::{Link, Tally};
pub use random::{Chance, Random};
pub use script::Script;
pub use storage::Storage;
pub use timeline::Timeline;

pub use pipe::Reading;
