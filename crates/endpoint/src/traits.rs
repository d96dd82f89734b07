//! What every endpoint can do.

use std::io::{self, IoSlice};

use crate::{Meta, Received};

/// An endpoint that bytes arrive at.
pub trait Receive {
    /// Delivers what has arrived, up to `budget` datagrams (of a stream: chunks), each to one call
    /// of `on` and in the order of arrival. Never waits.
    ///
    /// The bytes belong to the endpoint and are good for the length of that call. A budget that is
    /// a multiple of the endpoint's batch makes the fewest system calls.
    ///
    /// # Errors
    /// The kernel's, such as a connection reset. That nothing was there, or that a signal came in
    /// between, is no error.
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received>;
}

/// An endpoint that bytes leave from.
pub trait Transmit {
    /// Has `fill` write `length` bytes into the endpoint's own buffer, and sends them as one
    /// datagram, or with one write.
    ///
    /// The bytes `fill` is given are not zeroed: they are those of an earlier message.
    ///
    /// # Errors
    /// - `InvalidInput`: `length` is more than the endpoint's buffer holds; `fill` was not called.
    /// - Datagrams: whatever the kernel says (`WouldBlock`, or ENOBUFS as an uncategorised error,
    ///   when the way out is full); the datagram is lost.
    /// - Streams: `WouldBlock` when bytes of an earlier message still wait; `fill` was not called.
    ///   When it was called and there was no error, the whole message will leave.
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()>;
}

/// A connection.
pub trait Stream: Receive + Transmit {
    /// Whether the connection is established.
    fn is_connected(&self) -> bool;

    /// Asks for the outcome of a connection attempt, when the endpoint has become writable: true
    /// if it is established, false if it is still under way.
    ///
    /// # Errors
    /// Why the attempt failed. The endpoint is of no further use.
    fn finish_connect(&mut self) -> io::Result<bool>;

    /// Sends `bytes` from where they are, as many as there is room for, and returns how many.
    ///
    /// # Errors
    /// `WouldBlock` if there is room for none, or bytes of an earlier [`Transmit::transmit`] still
    /// wait; else the kernel's, `BrokenPipe` if the peer has reset or this side has been shut down.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Sends `parts` one after the other as if they were one, with one write where the endpoint
    /// can, as many bytes as there is room for, and returns how many. By default those of the first
    /// part that has any.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let first = parts.iter().find(|part| !part.is_empty());
        first.map_or(Ok(0), |part| self.write(part))
    }

    /// Sends what [`Transmit::transmit`] had to leave waiting; true if nothing waits any more.
    ///
    /// # Errors
    /// The kernel's; that there is no room is none.
    fn flush(&mut self) -> io::Result<bool>;

    /// Ends this side's bytes: the peer reads to their end and then is told so.
    ///
    /// # Errors
    /// The kernel's, such as that the connection is not established.
    fn shutdown(&mut self) -> io::Result<()>;
}
