//! A frame of a capture and what it carries.

use std::net::SocketAddr;

use hairpin_time::{Duration, Utc};

use super::{LinkType, PacketError};
use crate::Timestamp;

/// A frame as it lies in the file, borrowed from the reader until the next is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The interface that it was captured at, counted from 0 within its section; of a pcap file 0.
    pub interface: u32,
    /// The kind of that interface's link; nothing if the file does not say.
    pub link: Option<LinkType>,
    /// When it was captured; nothing if the file does not say.
    pub time: Option<CaptureTime>,
    /// What was captured of it.
    pub bytes: &'a [u8],
    /// How many bytes it had: more than `bytes` if it was cut.
    pub length: u32,
}

impl<'a> Frame<'a> {
    /// What the frame carries behind its link, network and transport headers.
    ///
    /// # Errors
    /// Any [`PacketError`].
    #[inline]
    pub fn payload(&self) -> Result<Payload<'a>, PacketError> {
        match self.link {
            Some(link) => link.payload(self.bytes, self.length),
            None => Err(PacketError::NoInterface(self.interface)),
        }
    }
}

/// When a frame was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureTime {
    /// The time.
    pub utc: Utc,
    /// The length of the file's unit of time, at least 1 ns: of a pcap file 1 µs or 1 ns.
    pub precision: Duration,
    /// By whose clock.
    pub clock: CaptureClock,
}

impl CaptureTime {
    /// As a socket would have told it. A clock that nobody names is taken for the kernel's, which
    /// it is unless whoever captured asked for another.
    #[must_use]
    pub fn timestamp(self) -> Timestamp {
        match self.clock {
            CaptureClock::Hardware => Timestamp::Hardware(self.utc),
            CaptureClock::Unknown | CaptureClock::Software => Timestamp::Software(self.utc),
        }
    }
}

/// Whose clock the times of an interface were taken by. The formats have no place for it: captures
/// that Hairpin records say it in the interface's description.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum CaptureClock {
    /// The file does not say.
    #[default]
    Unknown,
    /// The kernel's.
    Software,
    /// The NIC's.
    Hardware,
}

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// A UDP datagram.
    Datagram {
        /// Where it comes from.
        source: SocketAddr,
        /// Where it goes: of multicast the group.
        destination: SocketAddr,
        /// Its payload.
        bytes: &'a [u8],
    },
    /// A TCP segment, perhaps without payload.
    Segment {
        /// Where it comes from.
        source: SocketAddr,
        /// Where it goes.
        destination: SocketAddr,
        /// The number of its first byte.
        sequence: u32,
        /// Whether it begins the stream.
        is_syn: bool,
        /// Its payload.
        bytes: &'a [u8],
    },
    /// Neither: another protocol.
    Other,
}
