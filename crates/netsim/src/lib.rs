//! A deterministic simulated network for tests: a virtual clock, and links with seeded faults.
//!
//! Layer T (tools): a dev-dependency, never part of a product. The crate has no threads, sockets or
//! real clocks. Bytes and time go in, bytes and a deadline come out, and a seed always gives the
//! same run. It simulates no addresses, routes, fragments or TCP segments: a [`Connection`] behaves
//! as a program sees TCP. Real kernels and interfaces are in `hairpin-testbed`.
//!
//! ```text
//!              send               Faults, Script               receive
//!   sender ------------> Link: loss, rate, duplication, ... ------------> receiver
//!              at now              Random(seed)               poll_timeout
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `clock`, `timeline` | [`Clock`], virtual time; [`Timeline`], events ordered by time |
//! | `random` | [`Random`], independent streams of random numbers; [`Chance`], a probability |
//! | `link`, `faults` | [`Link`], datagrams in one direction with [`Faults`]; [`LinkCounters`] |
//! | `script` | [`Script`], exact faults of chosen datagrams |
//! | `group` | [`Group`], a multicast group with a link to each receiver |
//! | `connection`, `pipe` | [`Connection`], a byte stream: chunks, windows, half-close, reset, refusal |
//! | `storage` | [`Storage`], a file that loses unsynced bytes in a crash |
//! | `fault_schedule` | [`FaultSchedule`], faults with a begin and an end |
//! | `census` | [`Census`], the classes of events that occurred, and those that did not |
//! | `simulation` | [`Simulation`], which runs seeds and prints how to repeat one that fails |
//! | `trace` | [`trace!`], a line per event, if enabled |
//!
//! Start reading at [`Link`]. To add a fault, add a field to [`Faults`] and apply it in `link.rs`.
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
//! assert_eq!(received.len() as u64, 100 - link.counters().lost);
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
mod simulation;
mod storage;
mod timeline;
pub mod trace;

pub use census::{Census, NeverHappened};
pub use clock::Clock;
pub use connection::{Connection, ConnectionState, End, StreamError};
pub use fault_schedule::{Change, FaultSchedule};
pub use faults::{Delay, Faults, Rate, StreamFaults};
pub use group::{Group, ReceiverId};
pub use link::{Link, LinkCounters};
pub use random::{Chance, Random};
pub use script::Script;
pub use simulation::{Simulation, setting};
pub use storage::Storage;
pub use timeline::Timeline;

pub use pipe::Reading;
