//! A captured frame and its payload.

use std::net::SocketAddr;

use hairpin_time::{Duration, Utc};

use super::decapsulation::{Decoded, decode};
use super::{LinkType, PacketError, Protocol};
use crate::Timestamp;

/// A captured frame, borrowed from the reader until the next one is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The capturing interface, counted from 0 within its section. 0 for a pcap file.
    pub interface: u32,
    /// The link type of the interface. `None` if the file does not describe the interface.
    pub link: Option<LinkType>,
    /// The capture time. `None` if the file has no time.
    pub time: Option<CaptureTime>,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// The original length in bytes, which is more than `bytes` if the frame was truncated.
    pub length: u32,
}

impl<'a> Frame<'a> {
    /// Decodes the link, network and transport headers and returns the payload.
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

    /// Returns the innermost protocol of a frame whose payload is [`Payload::Other`].
    #[must_use]
    pub fn protocol(&self) -> Option<Protocol> {
        match decode(self.link?, self.bytes, self.length) {
            Ok(Decoded::Other(protocol)) => Some(protocol),
            _ => None,
        }
    }
}

/// A capture time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureTime {
    /// The time.
    pub utc: Utc,
    /// The file's time resolution, at least 1 ns. For a pcap file: 1 µs or 1 ns.
    pub precision: Duration,
    /// The clock that measured the time.
    pub clock: CaptureClock,
}

impl CaptureTime {
    /// Returns the time as a socket's timestamp. A time of an unknown clock is taken as the
    /// kernel's, which is the default of capture programs.
    #[must_use]
    pub fn timestamp(self) -> Timestamp {
        match self.clock {
            CaptureClock::Hardware => Timestamp::Hardware(self.utc),
            CaptureClock::Unknown | CaptureClock::Software => Timestamp::Software(self.utc),
        }
    }
}

/// The clock of an interface's times. The file formats have no field for it. Captures recorded by
/// Hairpin name the clock in the interface's description.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum CaptureClock {
    /// The file does not name the clock.
    #[default]
    Unknown,
    /// The kernel's clock.
    Software,
    /// The NIC's clock.
    Hardware,
}

/// The payload of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// A UDP datagram.
    Datagram {
        /// The source address.
        source: SocketAddr,
        /// The destination address: the group for multicast.
        destination: SocketAddr,
        /// The payload.
        bytes: &'a [u8],
    },
    /// A TCP segment, possibly without payload.
    Segment {
        /// The source address.
        source: SocketAddr,
        /// The destination address.
        destination: SocketAddr,
        /// The sequence number of the first byte.
        sequence: u32,
        /// `true` if the SYN flag is set.
        syn: bool,
        /// The payload, as far as it was captured.
        bytes: &'a [u8],
        /// `true` if the FIN flag is set.
        fin: bool,
        /// `true` if the RST flag is set.
        rst: bool,
        /// The bytes of the payload that the capture truncated.
        missing: u32,
    },
    /// Another protocol, which [`Frame::protocol`] names.
    Other,
}
