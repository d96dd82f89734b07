//! What can be wrong with addresses and sockets.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use hairpin_mdp3::{Feed, FeedLine};

use crate::{EngineError, ReplayError};

/// Why a feed handler could not start, or what has failed while it runs.
///
/// What is wrong with packets is no such error: that is told to the listener and counted. A
/// connection that is lost is none either; see [`ConnectionError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// No feed has an address.
    #[error("no address for any feed")]
    NoFeed,
    /// Neither side has an address to connect to.
    #[error("no address for either side")]
    NoSide,
    /// Two sides have the same address and port, so that each would receive both.
    #[error("{address} is given for two sides: {first}, and {second}")]
    SameAddress {
        /// The address and port.
        address: SocketAddrV4,
        /// What it is given for.
        first: LineName,
        /// What it is given for too.
        second: LineName,
    },
    /// What brings the packets; see [`EngineError`].
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The replay server cannot be asked: no host, or a user, password or channel that is none.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A socket: no such interface, no multicast group, a port that is taken; later whatever the
    /// kernel says when it is read, or its group joined or left.
    #[error("{feed} feed, side {side}: {error}")]
    Socket {
        /// The feed.
        feed: Feed,
        /// The side.
        side: FeedLine,
        /// What the kernel said, and to what.
        #[source]
        error: io::Error,
    },
    /// A connection that cannot be tried at all: no such interface; later the reactor's errors.
    #[error("side {side}: {error}")]
    Connection {
        /// The side.
        side: FeedLine,
        /// What the kernel said, and to what.
        #[source]
        error: io::Error,
    },
}

impl FeedError {
    /// Whether it will pass without anyone's doing: an interface that has gone, and whose lines
    /// are joined again when it returns. Told once; a loop goes on.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Engine(EngineError::InterfaceGone { .. }))
    }
}

/// A side of a feed, or of all feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineName {
    /// The feed; `None` where all feeds come the same way.
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

/// Why a connection was lost, or not made. It is made again after a pause, and each cause has a
/// counter in [`Statistics`](crate::Statistics).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// It was refused, or there was no answer in time.
    #[error("{0}")]
    Failed(#[source] io::Error),
    /// The network or the peer has broken it.
    #[error("the connection broke: {0}")]
    Broken(#[source] io::Error),
    /// The exchange has ended it, behind a whole packet.
    #[error("the exchange has ended the connection")]
    Ended,
    /// It ended amid a packet, as it does when the exchange gives up who reads too slowly.
    #[error("the connection ended {missing} bytes before the end of a packet")]
    EndedAmidPacket {
        /// Bytes that were missing, as far as the packet's length had come.
        missing: usize,
    },
    /// Nothing has come for so long that the exchange must be gone.
    #[error("nothing has come for {0}")]
    Silent(hairpin_time::Duration),
    /// The bytes are no feed, or one was lost among them.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// A length that no packet has. What follows cannot be told apart, so that the connection is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A packet of no bytes.
    #[error("a packet of 0 bytes")]
    Empty,
    /// A packet shorter than the 12 bytes of its header.
    #[error("a packet of {length} bytes, shorter than its header of 12")]
    TooShort {
        /// The length that was stated, 1 to 11.
        length: usize,
    },
    /// A packet longer than the channel takes.
    #[error("a packet of {length} bytes, longer than {max}")]
    TooLong {
        /// The length that was stated.
        length: usize,
        /// The longest packet there may be: [`Settings::max_packet`](crate::Settings::max_packet).
        max: usize,
    },
}
