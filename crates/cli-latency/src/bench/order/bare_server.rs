//! The servers of the bare gateway and of bare sockets.

use std::io;

use anyhow::Result;
use hairpin_endpoint::{Receive, Source, Stream, TcpListener, TcpOptions, TcpStream};

use super::bare_gateway::{BareGateway, REPORT_BYTES};
use super::setup::ORDER_BYTES;

/// The turns between two checks for a stop request.
const TURNS: u32 = 1_024;

/// Answers the bytes of a connection.
pub(super) trait Answer {
    /// Handles bytes of the client.
    ///
    /// # Errors
    /// Bytes that cannot be decoded.
    fn take(&mut self, bytes: &[u8]) -> Result<()>;

    /// Returns the bytes to send.
    fn outbox(&mut self) -> &mut Vec<u8>;
}

impl Answer for BareGateway {
    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        Self::take(self, bytes)
    }

    fn outbox(&mut self) -> &mut Vec<u8> {
        &mut self.outbox
    }
}

/// Sends the bytes of a report for each order's worth of bytes.
#[derive(Debug, Default)]
pub(super) struct Echo {
    taken: usize,
    outbox: Vec<u8>,
}

impl Answer for Echo {
    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        self.taken += bytes.len();
        let orders = self.taken / ORDER_BYTES;
        self.taken %= ORDER_BYTES;
        self.outbox.resize(self.outbox.len() + orders * REPORT_BYTES, 0);
        Ok(())
    }

    fn outbox(&mut self) -> &mut Vec<u8> {
        &mut self.outbox
    }
}

/// Serves one connection, spinning, until stopped.
///
/// # Errors
/// Those of the network; bytes that cannot be decoded.
pub(super) fn serve(
    listener: &mut TcpListener,
    mut answer: impl Answer,
    stop_requested: &dyn Fn() -> bool,
) -> Result<()> {
    let mut stream = None;
    loop {
        for _ in 0..TURNS {
            match &mut stream {
                None => {
                    stream = listener.accept(TcpOptions::default())?;
                    stream.iter_mut().for_each(|stream| stream.set_spinning(true));
                }
                Some(connection) => {
                    if !turn(connection, &mut answer)? {
                        // The client has closed the connection.
                        stream = None;
                    }
                }
            }
        }
        if stop_requested() {
            return Ok(());
        }
    }
}

/// Reads and answers; returns `false` when the connection is closed.
fn turn(stream: &mut TcpStream, answer: &mut impl Answer) -> Result<bool> {
    let mut taken = Ok(());
    let received = stream.receive(1, |_, bytes| taken = answer.take(bytes));
    taken?;
    // The client reports why a connection broke.
    if received.map_or(true, |received| received.closed) {
        return Ok(false);
    }
    let outbox = answer.outbox();
    if !outbox.is_empty() {
        match stream.write(outbox) {
            Ok(count) => drop(outbox.drain(..count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_each_complete_order() {
        let mut echo = Echo::default();
        for (bytes, reports) in [(143, 0), (1, 1), (300, 3), (132, 4)] {
            echo.take(&vec![0; bytes]).unwrap();
            assert_eq!(echo.outbox().len(), reports * REPORT_BYTES);
        }
    }
}
