//! The `Receive`, `Transmit` and `Stream` traits that every endpoint implements.

use std::io::{self, IoSlice};

use crate::{Meta, Received};

/// An endpoint that receives datagrams or stream data.
pub trait Receive {
    /// Delivers up to `budget` received datagrams (for a stream: chunks), each in one call of `on`,
    /// in arrival order. Never blocks.
    ///
    /// The bytes belong to the endpoint and are valid only during that call. A budget that is a
    /// multiple of the endpoint's batch size needs the fewest system calls.
    ///
    /// # Errors
    /// The kernel's errors, such as a connection reset. An empty queue or an interrupting signal is
    /// not an error.
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received>;
}

/// An endpoint that sends datagrams or stream data.
pub trait Transmit {
    /// Calls `fill` to write `length` bytes into the endpoint's own buffer, then sends them as one
    /// datagram or with one write.
    ///
    /// The buffer passed to `fill` is not zeroed: it contains bytes of an earlier message.
    ///
    /// # Errors
    /// - `InvalidInput`: `length` is larger than the endpoint's buffer. `fill` was not called.
    /// - Datagrams: the kernel's errors (`WouldBlock`, or ENOBUFS as an uncategorized error, when a
    ///   send queue is full). The datagram is dropped.
    /// - Streams: `WouldBlock` while bytes of an earlier message are pending; `fill` was not
    ///   called. When `fill` was called and no error was returned, the whole message will be sent.
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()>;
}

/// A connection-oriented byte stream.
pub trait Stream: Receive + Transmit {
    /// Returns `true` if the connection is established.
    fn is_connected(&self) -> bool;

    /// Completes a connection attempt after the endpoint has become writable. Returns `true` if the
    /// connection is established, `false` if the attempt is still in progress.
    ///
    /// # Errors
    /// The reason why the attempt failed. The endpoint cannot be used any more.
    fn finish_connect(&mut self) -> io::Result<bool>;

    /// Returns the connection's segment size now: the most payload bytes that leave in one packet.
    /// `None` if the connection has no segments or the size is unknown.
    fn segment_size(&self) -> Option<usize> {
        None
    }

    /// Sends as many of `bytes` as fit in the send buffer, without copying them first, and returns
    /// the number sent.
    ///
    /// # Errors
    /// `WouldBlock` if the send buffer is full, or while bytes of an earlier [`Transmit::transmit`]
    /// are pending. Otherwise the kernel's errors: `BrokenPipe` if the peer has reset the
    /// connection or this end has shut down.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Sends `parts` in order as one write where the endpoint supports it. Sends as many bytes as
    /// fit and returns the number sent. The default implementation sends from the first non-empty
    /// part only.
    ///
    /// # Errors
    /// Same as [`write`](Self::write).
    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let first = parts.iter().find(|part| !part.is_empty());
        first.map_or(Ok(0), |part| self.write(part))
    }

    /// Sends the bytes that [`Transmit::transmit`] left pending. Returns `true` if no bytes are
    /// pending any more.
    ///
    /// # Errors
    /// The kernel's errors. A full send buffer is not an error.
    fn flush(&mut self) -> io::Result<bool>;

    /// Prepares a write of `length` bytes without sending it, to bring code and data into the
    /// caches. The default implementation does nothing.
    fn warm_up(&mut self, length: usize) {
        let _ = length;
    }

    /// Shuts down the sending direction. The peer reads the remaining bytes and then end of stream.
    ///
    /// # Errors
    /// The kernel's errors, such as `NotConnected`.
    fn shutdown(&mut self) -> io::Result<()>;
}
