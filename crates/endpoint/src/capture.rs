//! Captures of network traffic: pcap and pcapng files, read, replayed and written.
//!
//! [`CaptureReader`] gives every frame of a file as it lies there, [`Frame::payload`] what is in
//! it, and [`Datagrams`] the UDP datagrams alone, with all else counted:
//!
//! ```no_run
//! use hairpin_endpoint::capture::{CaptureReader, Datagrams};
//!
//! let reader = CaptureReader::new(std::fs::File::open("feed.pcapng")?)?;
//! let mut datagrams = Datagrams::new(reader);
//! while let Some(datagram) = datagrams.next()? {
//!     println!("{} {:?} {} bytes", datagram.destination, datagram.time, datagram.bytes.len());
//! }
//! println!("{:?}", datagrams.counters());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Replay`] gives frames and deadlines in the order of the capture's time, at any [`Speed`].
//!
//! [`CaptureWriter`] writes datagrams, and [`Recorder`] has a thread of its own do it, off the path
//! of whoever receives them.
//!
//! **Read.** pcap of microseconds and of nanoseconds and pcapng, in either byte order, of any
//! number of sections and interfaces with any resolution of their clocks, enhanced, simple and the
//! obsolete packet blocks; other blocks are skipped. Frames of Ethernet (with up to three VLAN
//! tags), Linux cooked captures (both versions), raw IP, and the loopback of BSD. IPv4 and IPv6.
//! Any [`Read`](std::io::Read) will do, a pipe too: nothing is sought.
//!
//! **Not read.** Fragments of IP packets are counted and not put together: market data avoids
//! them, and what a fragment lacks is reported as a gap like any other loss. Compressed files;
//! blocks of more than 16 MiB; frames behind any other link.

mod buffer;
mod counters;
mod datagrams;
mod error;
mod frame;
mod interface;
mod link;
mod pace;
mod pcapng;
mod reader;
mod recorder;
mod recording;
mod replay;
mod writer;

pub use counters::CaptureCounters;
pub use datagrams::{CapturedDatagram, Datagrams};
pub use error::{CaptureError, PacketError};
pub use frame::{CaptureClock, CaptureTime, Frame, Payload};
pub use interface::Interface;
pub use link::LinkType;
pub use pace::{Pace, Speed, SpeedError};
pub use reader::CaptureReader;
pub use recorder::{RecordedLine, Recorder, RecorderCounters, RecorderSettings};
pub use replay::{Replay, Step};
pub use writer::{CaptureFormat, CaptureWriter};

#[cfg(test)]
mod tests;
