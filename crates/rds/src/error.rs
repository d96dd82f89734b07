//! Errors of sends and binds.

use core::fmt;

/// The reason why a message was not accepted. Nothing was queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The socket is not bound (RDS: ENOTCONN).
    NotBound,
    /// The message is longer than the limit (RDS: EMSGSIZE).
    TooLong {
        /// The limit in bytes.
        max: usize,
    },
    /// The destination's receive buffer is full (RDS: ENOBUFS). [`crate::Event::Writable`] reports
    /// the end.
    Congested,
    /// The send buffer is full (RDS: EAGAIN).
    WouldBlock,
    /// The destination is an unspecified, broadcast or multicast address, or of another address
    /// family than the socket's own.
    InvalidDestination,
    /// All peers of [`crate::Config::peers`] are in use.
    TooManyPeers,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBound => f.write_str("cannot send: the socket is not bound"),
            Self::TooLong { max } => {
                write!(f, "cannot send: the message is longer than {max} bytes")
            }
            Self::Congested => f.write_str("cannot send: the destination is congested"),
            Self::WouldBlock => f.write_str("cannot send: the send buffer is full"),
            Self::InvalidDestination => f.write_str(
                "cannot send: the destination is not a unicast address of the \
                             socket's family",
            ),
            Self::TooManyPeers => {
                f.write_str("cannot send: too many peers, increase Config::peers")
            }
        }
    }
}

impl core::error::Error for SendError {}

/// The reason why a bind was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// The socket is bound already.
    AlreadyBound,
    /// The address is unspecified, broadcast or multicast.
    InvalidAddress,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyBound => "cannot bind: the socket is already bound",
            Self::InvalidAddress => "cannot bind: not a unicast address",
        })
    }
}

impl core::error::Error for BindError {}
