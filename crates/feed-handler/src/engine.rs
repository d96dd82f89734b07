//! The interface between packet sources and feed handlers.

mod capture;
mod sockets;
mod tapped;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{ReceiveBuffer, Timestamp, Transport};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

pub use capture::{CaptureEngine, CaptureSource, CapturedPacket};
pub use sockets::SocketEngine;
pub use tapped::TappedEngine;

/// A line: one multicast group and port on one interface, with its allowed senders.
///
/// Feeds and channels with equal line addresses share one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LineAddress {
    /// Group address and UDP port.
    pub group: SocketAddrV4,
    /// The local address of the interface. Unspecified (0.0.0.0) leaves the choice to the kernel.
    pub interface: Ipv4Addr,
    /// The allowed senders; empty allows any sender.
    pub sources: Vec<Ipv4Addr>,
    /// The receive path: kernel sockets or kernel bypass.
    pub transport: Transport,
}

impl fmt::Display for LineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.group, self.interface)
    }
}

/// The index of a line in one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(u32);

impl LineId {
    /// Creates the id of the line with this index, counted from 0.
    ///
    /// # Panics
    /// If the index exceeds `u32::MAX`.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Self(u32::try_from(number).expect("an engine has fewer than four billion lines"))
    }

    /// Returns the index: the number of earlier [`FeedEngine::open`] calls of the engine.
    #[inline]
    #[must_use]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// A packet received on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// The line.
    pub line: LineId,
    /// The sender's address and port.
    pub source: SocketAddrV4,
    /// The receive timestamp, with its clock.
    pub timestamp: Timestamp,
    /// The UDP payload, borrowed from the engine for the duration of the call.
    pub bytes: &'a [u8],
}

/// Counters of a line that only the engine can provide.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineCounters {
    /// The socket receive buffer, requested and granted, if there is one.
    pub receive_buffer: Option<ReceiveBuffer>,
    /// Packets dropped for lack of buffer space, as far as the engine can count them.
    pub drops: u64,
    /// Packets longer than a receive slot, delivered truncated.
    pub truncated: u64,
}

/// An error of an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A line cannot be opened, joined or read. The engine continues with the other lines.
    #[error("{address}: {error}")]
    Line {
        /// The line.
        address: LineAddress,
        /// The cause.
        #[source]
        error: io::Error,
    },
    /// An interface is down or was removed. Reported once; its lines are rejoined when it returns.
    #[error(
        "cannot receive on interface {interface}: interface down or removed; rejoining on return"
    )]
    InterfaceLost {
        /// The interface's former address.
        interface: Ipv4Addr,
    },
    /// The engine cannot continue: a capture is damaged, or a wait failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A source of packets for feed handlers.
///
/// [`FeedHandlers`](crate::FeedHandlers) drives an engine, which has no notion of channels. An
/// engine opens, joins and leaves lines, waits, and delivers packets. This crate provides kernel
/// sockets and kernel bypass ([`SocketEngine`]) and captures ([`CaptureEngine`]). Any other packet
/// source implements the five methods without a default (`examples/engine.rs`).
///
/// The interface suits kernel bypass. FrameDecoder are borrowed for the duration of a call, each
/// with its receive timestamp. [`FeedEngine::wait`] is the place to poll a device or to block on
/// it, and a line can report unread packets.
pub trait FeedEngine {
    /// `true` if the engine has a clock of its own ([`FeedEngine::now`]). Timeouts then run between
    /// packets, and joins and leaves take effect from packet to packet.
    const HAS_OWN_CLOCK: bool = false;

    /// Opens a line without joining its group. Ids count the calls, from 0.
    ///
    /// # Errors
    /// The system's error, with the line's address. The id is not consumed.
    fn open(&mut self, address: &LineAddress) -> io::Result<LineId>;

    /// Starts to receive a line.
    ///
    /// # Errors
    /// The system's error. The line is not joined; the call may be repeated.
    fn join(&mut self, line: LineId) -> io::Result<()>;

    /// Stops receiving a line.
    ///
    /// # Errors
    /// The system's error. The line counts as left.
    fn leave(&mut self, line: LineId) -> io::Result<()>;

    /// Closes all lines, which must have been left. Ids then start from 0 again.
    ///
    /// Required for an engine that is used again. An engine that is dropped needs no call.
    ///
    /// # Errors
    /// The first of the system's errors. All lines count as closed.
    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Waits until packets may have arrived, or until `deadline` or a limit of the engine.
    ///
    /// # Errors
    /// The system's error.
    fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<()>;

    /// Delivers received packets, in order of arrival on each line, with the time to process each
    /// at: `now`, or the engine's own time. A call delivers a bounded number of packets.
    ///
    /// # Errors
    /// The first of several errors. Lines without an error are still read.
    fn receive(
        &mut self,
        now: Now,
        on: &mut impl FnMut(Now, Arrival<'_>),
    ) -> Result<(), EngineError>;

    /// Returns `true` if the last [`FeedEngine::receive`] left packets of this line unread. Unread
    /// packets may fill a sequence gap.
    fn has_more(&self, line: LineId) -> bool {
        let _ = line;
        false
    }

    /// Returns the current time for this engine's packets.
    fn now(&self, now: Now) -> Now {
        now
    }

    /// Returns the next time at which [`FeedEngine::receive`] must run without input.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// Returns the reactor for connections in addition to lines, and the result of the last wait.
    /// TCP replay requires a reactor; an engine without one has no replay.
    fn streams(&mut self) -> Option<(&mut Reactor, Ready)> {
        None
    }

    /// Returns the engine's counters of a line.
    fn line_counters(&self, line: LineId) -> LineCounters {
        let _ = line;
        LineCounters::default()
    }

    /// Returns `true` if no packet can arrive any more, as at the end of a capture.
    fn is_finished(&self) -> bool {
        false
    }
}
