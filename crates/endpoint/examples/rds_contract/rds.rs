//! What both implementations have in common.

use std::net::SocketAddr;

use crate::hosts::Host;

/// The result of a call: the error is the name of the kernel's, such as `EINVAL`.
pub(crate) type Outcome<T> = Result<T, String>;

/// The payload bytes that a socket may queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) send: usize,
    pub(crate) receive: usize,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { send: 4 << 20, receive: 4 << 20 }
    }
}

/// RDS of the kernel, or ours.
pub(crate) trait Implementation {
    /// Returns another number for each.
    fn number(&self) -> u8;
    /// Opens a socket on a host.
    fn open(&self, host: &Host, buffers: Buffers) -> Box<dyn Rds>;
}

/// A socket, which never blocks.
pub(crate) trait Rds {
    /// Binds the socket. Returns its address.
    fn bind(&mut self, host: &Host, address: SocketAddr) -> Outcome<SocketAddr>;
    fn send(&mut self, to: SocketAddr, bytes: &[u8]) -> Outcome<()>;
    /// Receives a message. Returns its sender and its whole length.
    fn receive(&mut self, buffer: &mut [u8]) -> Outcome<(SocketAddr, usize)>;
    /// Returns the length of the next message without removing it.
    fn peek(&mut self) -> Outcome<usize>;
    /// Gives up all messages to a socket that are not yet acknowledged.
    fn cancel(&mut self, to: SocketAddr) -> Outcome<()>;
    /// Processes what a kernel would process in the background.
    fn work(&mut self);
    /// Returns `true` once after a peer has restarted: messages in flight to it may be dropped.
    fn has_peer_restarted(&mut self) -> bool;
    /// Returns `true` if nothing is in flight, as far as the implementation knows.
    fn is_settled(&self) -> bool;
    /// Returns the counts of messages sent and received, of the socket or its host.
    fn counts(&self) -> Outcome<[u64; 2]>;
}
