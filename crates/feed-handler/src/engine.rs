//! Where packets come from: what the engines of several handlers have in common.

mod capture;
mod sockets;
mod tapped;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{ReceiveBuffer, Timestamp, Transport};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

pub use capture::{CaptureEngine, CaptureSource, Captured};
pub use sockets::SocketEngine;
pub use tapped::TappedEngine;

/// A line: one multicast group and port, on one interface, from these senders.
///
/// Feeds and channels whose lines are equal share one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LineAddress {
    /// Group and port.
    pub group: SocketAddrV4,
    /// The local address of the interface; unspecified: the kernel's choice.
    pub interface: Ipv4Addr,
    /// The only senders to receive from; empty: any.
    pub sources: Vec<Ipv4Addr>,
    /// How it comes, through the kernel or past it.
    pub transport: Transport,
}

impl fmt::Display for LineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.group, self.interface)
    }
}

/// The number of a line of one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(u32);

impl LineId {
    /// The line with this number, from 0.
    ///
    /// # Panics
    /// If there cannot be so many.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Self(u32::try_from(number).expect("an engine has fewer than four billion lines"))
    }

    /// The number: that of the call of [`FeedEngine::open`] which made it, from 0.
    #[inline]
    #[must_use]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// A packet that has arrived on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// The line.
    pub line: LineId,
    /// The sender.
    pub source: SocketAddrV4,
    /// When it arrived, by whose clock.
    pub timestamp: Timestamp,
    /// The payload of the datagram: borrowed from the engine, good for the length of the call.
    pub bytes: &'a [u8],
}

/// What an engine knows of a line beside what it has handed on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineFigures {
    /// The kernel's receive buffer, asked for and granted, where there is one.
    pub receive_buffer: Option<ReceiveBuffer>,
    /// Packets that were lost for want of room, as far as is known.
    pub drops: u64,
    /// Packets that were longer than a place for one, and were cut.
    pub truncated: u64,
}

/// Why an engine cannot do what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A line cannot be read. The engine goes on with the others.
    #[error("{address}: {error}")]
    Line {
        /// The line.
        address: LineAddress,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// An interface is gone, or is down. Told once; its lines are joined again when it returns.
    #[error("the interface with address {interface} is gone; waiting for it to return")]
    InterfaceGone {
        /// The address it had.
        interface: Ipv4Addr,
    },
    /// Nothing can be had any more: a capture is damaged, a wait fails.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Brings packets of lines to handlers.
///
/// An engine is asked by [`FeedHandlers`](crate::FeedHandlers) and knows nothing of channels: it
/// opens, joins and leaves lines, waits, and hands on what arrives. Kernel sockets
/// ([`SocketEngine`]) and captures ([`CaptureEngine`]) are here; any other source of packets is an
/// engine with the five methods that have no default (`examples/engine.rs`). What a bypass of the
/// kernel needs is in the shape: frames are lent for the length of a call, the receive timestamp
/// comes with each, [`FeedEngine::wait`] is where a device is polled or slept on, and a line can
/// tell that it has more to read.
pub trait FeedEngine {
    /// Whether the time is the engine's own ([`FeedEngine::now`]): then what is due is done between
    /// one packet and the next, and joins and leaves take effect from packet to packet.
    const HAS_OWN_TIME: bool = false;

    /// Makes a line that is not received yet. Numbers are given in the order of the calls, from 0.
    ///
    /// # Errors
    /// What the system said, and to what. The number is not used up.
    fn open(&mut self, address: &LineAddress) -> io::Result<LineId>;

    /// Receives a line from now on.
    ///
    /// # Errors
    /// What the system said. The line is not received; it may be tried again.
    fn join(&mut self, line: LineId) -> io::Result<()>;

    /// Receives a line no longer.
    ///
    /// # Errors
    /// What the system said. The line counts as left.
    fn leave(&mut self, line: LineId) -> io::Result<()>;

    /// Gives up all lines, which are left by now: their numbers begin anew from 0. For an engine
    /// that is used again; one that only ends has nothing to do.
    ///
    /// # Errors
    /// The first of the system's. The lines count as closed.
    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Waits until something may have arrived, until `deadline`, or for a while.
    ///
    /// # Errors
    /// The system's.
    fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<()>;

    /// Hands on what has arrived, in the order of arrival on each line, with the time to process it
    /// at: `now`, or the engine's own. A call ends after a bounded number of packets.
    ///
    /// # Errors
    /// The first, if there are several. Lines without one were read nevertheless.
    fn receive(
        &mut self,
        now: Now,
        on: &mut impl FnMut(Now, Arrival<'_>),
    ) -> Result<(), EngineError>;

    /// Whether the last [`FeedEngine::receive`] has left something of this line unread: a hole in
    /// the stream may be filled by it.
    fn has_more(&self, line: LineId) -> bool {
        let _ = line;
        false
    }

    /// The time it is for what this engine brings.
    fn now(&self, now: Now) -> Now {
        now
    }

    /// When [`FeedEngine::receive`] is due though nothing has arrived.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// Where connections can be made and waited for beside the lines, and what the last wait has
    /// found: TCP replay needs it. An engine without has no replay.
    fn streams(&mut self) -> Option<(&mut Reactor, Ready)> {
        None
    }

    /// What is known of a line.
    fn figures(&self, line: LineId) -> LineFigures {
        let _ = line;
        LineFigures::default()
    }

    /// Whether nothing will ever come any more, as at the end of a capture.
    fn is_over(&self) -> bool {
        false
    }
}
