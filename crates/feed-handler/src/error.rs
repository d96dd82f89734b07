//! What can be wrong with addresses and sockets.

use std::io;
use std::net::SocketAddrV4;

use hairpin_mdp3::{Feed, Side};

/// Why a feed handler could not start, or what has failed while it runs.
///
/// What is wrong with packets is no such error: that is told to the listener and counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// A feed that the late join needs has no address.
    #[error("no address for the {feed} feed")]
    MissingFeed {
        /// The feed.
        feed: Feed,
    },
    /// Two sides have the same group and port, so that each would receive both.
    #[error("{group} is given for two sides")]
    SameGroup {
        /// The group and port.
        group: SocketAddrV4,
    },
    /// A socket: no such interface, no multicast group, a port that is taken; later whatever the
    /// kernel says when it is read, or its group joined or left.
    #[error("{feed} feed, side {side}: {error}")]
    Socket {
        /// The feed.
        feed: Feed,
        /// The side.
        side: Side,
        /// What the kernel said, and to what.
        #[source]
        error: io::Error,
    },
}
