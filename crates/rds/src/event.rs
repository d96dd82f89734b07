//! Events that a socket reports to its owner.

use core::net::SocketAddr;

/// The number of a message, unique within its socket. The first message has number 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u64);

/// The final state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The peer's socket has queued the message or passed it to its owner.
    Delivered,
    /// The peer's owner has not received the message and will not.
    NotDelivered,
    /// The peer restarted, closed or evicted this socket while the message was in flight, or the
    /// message was cancelled in flight. The peer may have received it.
    Unknown,
}

/// A change that is not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The outcome of a message sent with [`crate::Socket::send_tracked`].
    Outcome {
        /// The message.
        id: MessageId,
        /// Its final state.
        outcome: Outcome,
    },
    /// Another socket has taken over the peer's address: the peer restarted. Messages in flight are
    /// dropped, because the earlier socket may have received them. Those that it certainly has not
    /// are sent again: the new socket has refused their first transmission, or this was longer
    /// after its bind than a packet travels.
    PeerRestarted(SocketAddr),
    /// No socket is bound at the peer's address. The messages transmitted so far are dropped.
    Undeliverable(SocketAddr),
    /// The peer has not answered for [`crate::Config::unreachable_after`]. Retries continue.
    Unreachable(SocketAddr),
    /// The peer's receive buffer has room again, or the peer was evicted after congestion.
    Writable(SocketAddr),
}
