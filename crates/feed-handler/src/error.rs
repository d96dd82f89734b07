//! Errors of addresses, sockets and connections.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use hairpin_mdp3::{Feed, FeedLine};

use crate::{EngineError, ReplayError};

/// An error of a feed handler, at startup or at run time.
///
/// Malformed packets are not errors: they are reported to the listener and counted. A lost
/// connection is not an error either; see [`ConnectionError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// No feed has an address.
    #[error("cannot start the feed handler: no feed has an address")]
    NoFeed,
    /// Neither side has an address to connect to.
    #[error("cannot start the feed handler: no side has an address")]
    NoSide,
    /// Two lines have the same address and port, so that each would receive both.
    #[error("cannot use {address} twice: assigned to {first}, and to {second}")]
    SameAddress {
        /// The address and port.
        address: SocketAddrV4,
        /// The first line with this address.
        first: LineName,
        /// The second line with this address.
        second: LineName,
    },
    /// The packet source failed; see [`EngineError`].
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The replay client cannot be created: no host, or an invalid user, password or channel.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A multicast socket failed. At startup: no such interface, not a multicast address, or port
    /// in use. Later: the kernel's error on a receive, join or leave.
    #[error("{feed} feed, side {side}: {error}")]
    Socket {
        /// The feed.
        feed: Feed,
        /// The side.
        side: FeedLine,
        /// The kernel's error, with its context.
        #[source]
        error: io::Error,
    },
    /// A TCP connection failed permanently: no such interface, or later an error of the reactor.
    #[error("side {side}: {error}")]
    Connection {
        /// The side.
        side: FeedLine,
        /// The kernel's error, with its context.
        #[source]
        error: io::Error,
    },
}

impl FeedError {
    /// Returns `true` if the condition resolves by itself: an interface is lost, and its lines are
    /// rejoined when it returns. Such an error is reported once; the loop continues.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Engine(EngineError::InterfaceLost { .. }))
    }
}

/// A side of one feed, or of all feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineName {
    /// The feed; `None` if one connection carries all feeds.
    pub feed: Option<Feed>,
    /// The side.
    pub side: FeedLine,
}

impl From<(Option<Feed>, FeedLine)> for LineName {
    fn from((feed, side): (Option<Feed>, FeedLine)) -> Self {
        Self { feed, side }
    }
}

impl fmt::Display for LineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.feed {
            Some(feed) => write!(f, "{feed} feed, side {}", self.side),
            None => write!(f, "side {}", self.side),
        }
    }
}

/// The cause of a lost or failed connection. The side reconnects after a delay. Each cause has a
/// counter in [`Statistics`](crate::Statistics).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The attempt was refused, or timed out.
    #[error("{0}")]
    Failed(#[source] io::Error),
    /// The network or the peer reset the connection.
    #[error("connection failed: {0}")]
    Broken(#[source] io::Error),
    /// The exchange closed the connection after a complete packet.
    #[error("exchange closed the connection")]
    Ended,
    /// The connection closed inside a packet, as when the exchange drops a slow reader.
    #[error("connection closed {missing} bytes before the end of a packet")]
    EndedMidPacket {
        /// The missing bytes, as far as the packet's length was received.
        missing: usize,
    },
    /// No data arrived for this time, so that the exchange counts as dead.
    #[error("no data received for {0}")]
    Silent(hairpin_time::Duration),
    /// The byte stream is not a feed, or bytes were lost in it.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// An invalid packet length. The stream cannot be resynchronized, so the connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The length is 0.
    #[error("invalid packet length 0")]
    Empty,
    /// The length is shorter than the 12-byte packet header.
    #[error("invalid packet length {length}: shorter than the 12-byte header")]
    TooShort {
        /// The received length, 1 to 11.
        length: usize,
    },
    /// The length exceeds the channel's limit.
    #[error("invalid packet length {length}: longest allowed is {max}")]
    TooLong {
        /// The received length.
        length: usize,
        /// The limit: [`Settings::max_packet`](crate::Settings::max_packet).
        max: usize,
    },
}
