//! An end of a transport.

use std::io;

/// The interface of ping and pong to a transport. No call waits.
pub(crate) trait Port {
    /// Sends a message with this number.
    fn send(&mut self, number: u64) -> io::Result<()>;

    /// Receives the next pending message and returns its number.
    fn receive(&mut self) -> io::Result<Option<u64>>;

    /// Sends the next pending message back. Returns `true` if there was one.
    fn echo(&mut self) -> io::Result<bool>;
}
