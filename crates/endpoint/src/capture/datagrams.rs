//! The UDP datagrams of a capture.

use std::io::Read;
use std::net::SocketAddr;

use super::{CaptureCounters, CaptureError, CaptureReader, CaptureTime, Payload};

/// A reader of the UDP datagrams in a capture. Other packets are counted.
#[derive(Debug)]
pub struct Datagrams<R> {
    reader: CaptureReader<R>,
    counters: CaptureCounters,
    location: Option<Location>,
}

/// The location of a datagram in its frame.
#[derive(Debug)]
struct Location {
    source: SocketAddr,
    destination: SocketAddr,
    start: usize,
    length: usize,
}

/// A UDP datagram, borrowed from the reader until the next one is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedDatagram<'a> {
    /// The source address.
    pub source: SocketAddr,
    /// The destination address: the group for multicast.
    pub destination: SocketAddr,
    /// The capture time with its clock. `None` if the file has no time.
    pub time: Option<CaptureTime>,
    /// The capturing interface, counted from 0 within its section.
    pub interface: u32,
    /// The payload.
    pub bytes: &'a [u8],
}

impl<R: Read> Datagrams<R> {
    /// Creates a reader of the datagrams of a capture.
    pub fn new(reader: CaptureReader<R>) -> Self {
        Self { reader, counters: CaptureCounters::default(), location: None }
    }

    /// Returns the next datagram, or `None` at the end of the file.
    ///
    /// # Errors
    /// The errors of the file; see [`CaptureReader::next_frame`]. Errors in a packet are counted.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "the returned borrow ends with the next call")]
    pub fn next(&mut self) -> Result<Option<CapturedDatagram<'_>>, CaptureError> {
        Ok(if self.advance()? { self.current() } else { None })
    }

    /// Advances to the next datagram, which [`Datagrams::current`] then returns. Returns `false` at
    /// the end. So a caller can check a datagram's time before delivering it.
    ///
    /// # Errors
    /// Same as [`Datagrams::next`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, CaptureError> {
        self.location = None;
        while self.reader.advance()? {
            let Some(frame) = self.reader.frame() else { break };
            if let Ok(Payload::Datagram { source, destination, bytes }) =
                self.counters.payload(&frame)
            {
                let start = bytes.as_ptr().addr() - frame.bytes.as_ptr().addr();
                self.location = Some(Location { source, destination, start, length: bytes.len() });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the last datagram read. `None` before the first and after the last datagram.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<CapturedDatagram<'_>> {
        let &Location { source, destination, start, length } = self.location.as_ref()?;
        let frame = self.reader.frame()?;
        let bytes = &frame.bytes[start..start + length];
        let (time, interface) = (frame.time, frame.interface);
        Some(CapturedDatagram { source, destination, time, interface, bytes })
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &CaptureCounters {
        &self.counters
    }

    /// Returns the underlying reader, with the interfaces and the file offset.
    #[must_use]
    pub fn reader(&self) -> &CaptureReader<R> {
        &self.reader
    }
}
