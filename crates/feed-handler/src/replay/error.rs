//! What can go wrong with a replay.

use std::io;

use crate::FrameError;

/// Why packets were not replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The channel has no replay server.
    #[error("no host to ask for a replay")]
    NoHost,
    /// A user, password or channel has control characters in it.
    #[error("a control character in the user, the password or the channel of a replay")]
    BadText,
    /// Another range is being asked for.
    #[error("another replay is under way")]
    Busy,
    /// The range is empty or begins with 0.
    #[error("packets {first} to {last} are no range")]
    BadRange {
        /// The first packet asked for.
        first: u32,
        /// The last.
        last: u32,
    },
    /// The range is longer than one request may be.
    #[error("{count} packets are more than the {max} of one replay")]
    TooMany {
        /// Packets asked for.
        count: u64,
        /// The most there may be.
        max: u32,
    },
    /// A connection could not be begun.
    #[error("no connection to the replay server")]
    NoConnection,
    /// The connection failed.
    #[error("the replay server: {0}")]
    Io(#[from] io::Error),
    /// Nothing has come for so long.
    #[error("the replay server has sent nothing for {0}")]
    Silent(hairpin_time::Duration),
    /// Not everything has come in the time that an attempt may take; of a joined server alone.
    #[error("the replay server was not done in time")]
    TooSlow,
    /// A length that no packet has.
    #[error("the replay server has sent {0}")]
    Frame(#[from] FrameError),
    /// The first packet was not number 1 with an AdminLogin.
    #[error("the replay server has not begun with a login")]
    NoLogin,
    /// The server has logged out before the last packet, with these words.
    #[error("the replay server has refused: {0}")]
    Refused(String),
    /// The connection ended before the last packet.
    #[error("the replay server has ended the connection")]
    Ended,
}
