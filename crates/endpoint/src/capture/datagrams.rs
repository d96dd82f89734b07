//! The UDP datagrams of a capture.

use std::io::Read;
use std::net::SocketAddr;

use super::{CaptureCounters, CaptureError, CaptureReader, CaptureTime, Payload};

/// Hands over the UDP datagrams of a capture; all else is counted.
#[derive(Debug)]
pub struct Datagrams<R> {
    reader: CaptureReader<R>,
    counters: CaptureCounters,
    place: Option<Place>,
}

/// A datagram by where it lies in its frame.
#[derive(Debug)]
struct Place {
    source: SocketAddr,
    destination: SocketAddr,
    start: usize,
    length: usize,
}

/// A UDP datagram, borrowed from the reader until the next is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedDatagram<'a> {
    /// Where it comes from.
    pub source: SocketAddr,
    /// Where it goes: of multicast the group.
    pub destination: SocketAddr,
    /// When it was captured and by whose clock; nothing if the file does not say.
    pub time: Option<CaptureTime>,
    /// The interface that it was captured at, counted from 0 within its section.
    pub interface: u32,
    /// Its payload.
    pub bytes: &'a [u8],
}

impl<R: Read> Datagrams<R> {
    /// The datagrams of a capture that was just opened.
    pub fn new(reader: CaptureReader<R>) -> Self {
        Self { reader, counters: CaptureCounters::default(), place: None }
    }

    /// The next datagram; nothing at the end of the file.
    ///
    /// # Errors
    /// What is wrong with the file from here on; see [`CaptureReader::next_frame`]. What is wrong
    /// with a packet is counted.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "what it lends ends with the next call")]
    pub fn next(&mut self) -> Result<Option<CapturedDatagram<'_>>, CaptureError> {
        Ok(if self.advance()? { self.current() } else { None })
    }

    /// Goes on to the next datagram, which [`Datagrams::current`] then is; false at the end. So its
    /// time may be looked at before it is due.
    ///
    /// # Errors
    /// As of [`Datagrams::next`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, CaptureError> {
        self.place = None;
        while self.reader.advance()? {
            let Some(frame) = self.reader.frame() else { break };
            if let Ok(Payload::Datagram { source, destination, bytes }) =
                self.counters.payload(&frame)
            {
                let start = bytes.as_ptr().addr() - frame.bytes.as_ptr().addr();
                self.place = Some(Place { source, destination, start, length: bytes.len() });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The datagram that was read last; nothing before the first and after the last.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<CapturedDatagram<'_>> {
        let &Place { source, destination, start, length } = self.place.as_ref()?;
        let frame = self.reader.frame()?;
        let bytes = &frame.bytes[start..start + length];
        let (time, interface) = (frame.time, frame.interface);
        Some(CapturedDatagram { source, destination, time, interface, bytes })
    }

    /// What has been read so far.
    #[must_use]
    pub fn counters(&self) -> &CaptureCounters {
        &self.counters
    }

    /// The reader beneath: interfaces, and how far the file is used.
    #[must_use]
    pub fn reader(&self) -> &CaptureReader<R> {
        &self.reader
    }
}
