//! One end of a way.

use std::io;

/// What a ping or a pong speaks through. Nothing here waits.
pub(crate) trait Port {
    /// Sends a message with this number.
    fn send(&mut self, number: u64) -> io::Result<()>;

    /// Takes the next message that is there, and returns its number.
    fn receive(&mut self) -> io::Result<Option<u64>>;

    /// Sends the next message that is there back; whether there was one.
    fn echo(&mut self) -> io::Result<bool>;
}
