//! Reading, replaying and writing captured network traffic: pcap and pcapng files.
//!
//! [`CaptureReader`] returns every frame of a file, [`Frame::payload`] decodes its headers, and
//! [`Datagrams`] returns only the UDP datagrams and counts everything else:
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
//! [`Replay`] returns frames and deadlines in order of capture time, at any [`Speed`].
//!
//! [`CaptureWriter`] writes datagrams. [`Recorder`] writes them on a thread of its own, off the hot
//! path of the receiver.
//!
//! [`DeviceTime`] reads the times that switches and taps write into frames.
//!
//! [`MergedCaptures`] reads several captures as one, in the order of their times.
//!
//! **Supported.** pcap with microseconds or nanoseconds, and pcapng, in either byte order. Any
//! number of sections and interfaces with any clock resolution; enhanced, simple and obsolete
//! packet blocks. Other blocks are skipped. ERF. The packet files of CME DataMine. Each of them
//! also compressed with gzip or zstd. Frames of Ethernet, Linux cooked captures (both versions),
//! raw IP, and BSD loopback. Tags of VLANs and switches, LLC and SNAP, MPLS, PPPoE, GRE, ERSPAN,
//! VXLAN, GENEVE and IP in IP, in any order. IPv4 and IPv6. Any [`Read`](std::io::Read) works,
//! also a pipe, since the reader never seeks.
//!
//! **Not supported.** IP fragments are counted but not reassembled: market data avoid them, and a
//! missing fragment appears as a gap like any other loss. Blocks of more than 16 MiB; frames of
//! other link types.

mod buffer;
mod compression;
mod counters;
mod datagrams;
mod datamine;
mod decapsulation;
mod device_time;
mod erf;
mod error;
mod frame;
mod interface;
mod link_type;
mod merge;
mod pacer;
mod pcapng;
mod protocol;
mod reader;
mod recorder;
mod recorder_thread;
mod replay;
mod tunnels;
mod writer;

pub use counters::CaptureCounters;
pub use datagrams::{CapturedDatagram, Datagrams};
pub use device_time::DeviceTime;
pub use error::{CaptureError, PacketError};
pub use frame::{CaptureClock, CaptureTime, Frame, Payload};
pub use interface::Interface;
pub use link_type::LinkType;
pub use merge::{CaptureInput, MergedCaptures};
pub use pacer::{Pacer, Speed, SpeedError};
pub use protocol::Protocol;
pub use reader::CaptureReader;
pub use recorder::{RecordedLine, Recorder, RecorderCounters, RecorderSettings};
pub use replay::{Replay, Step};
pub use writer::{CaptureFormat, CaptureWriter};

#[cfg(test)]
mod tests;
