//! Errors of a replay.

use std::io;

use crate::FrameError;

/// An error of a replay request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The channel has no replay server.
    #[error("cannot request a replay: no replay host")]
    NoHost,
    /// User, password or channel is empty or has control characters.
    #[error(
        "cannot request a replay: user, password or channel is empty or has a control character"
    )]
    InvalidText,
    /// Another request is in progress.
    #[error("cannot request a replay: another request is in progress")]
    Busy,
    /// The range is empty or starts at 0.
    #[error("cannot request packets {first} to {last}: not a valid range")]
    BadRange {
        /// The first requested packet.
        first: u32,
        /// The last requested packet.
        last: u32,
    },
    /// The range exceeds the limit per request.
    #[error("cannot request {count} packets: limit is {max} per request")]
    TooMany {
        /// The number of requested packets.
        count: u64,
        /// The limit per request.
        max: u32,
    },
    /// The connection could not be started.
    #[error("cannot connect to the replay server")]
    NoConnection,
    /// The connection failed.
    #[error("replay server: {0}")]
    Io(#[from] io::Error),
    /// No data arrived within the timeout.
    #[error("no data from the replay server for {0}")]
    Silent(hairpin_time::Duration),
    /// The channel's timeout for an attempt expired. Only reported by a handler's own replay.
    #[error("replay server did not complete the request in time")]
    TimedOut,
    /// A packet length is invalid.
    #[error("replay server: {0}")]
    Frame(#[from] FrameError),
    /// Market data arrived before AdminLogin.
    #[error("replay server did not start with AdminLogin")]
    NoLogin,
    /// The server answered the login by a logout, with this text.
    #[error("replay server refused the login: {0}")]
    LoginRefused(String),
    /// The server logged out before the last packet, with this text.
    #[error("replay server refused the request: {0}")]
    Refused(String),
    /// The connection closed before the last packet.
    #[error("replay server closed the connection")]
    ConnectionClosed,
}
