//! The TCP connection by which both sides agree on parameters, start and end: lines of JSON.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hairpin_cli_harness::signals::Signals;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::args::Parameters;
use super::statistics::Totals;

/// The longest wait of one read, so that signals and statistics are seen in time.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The longest wait for a connection and for an answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest line: the addresses of all tasks fit.
const LINE_MAX: usize = 16 * 1_024;
/// The version of the lines and of the messages.
pub(super) const VERSION: u32 = 1;

/// A line of the connecting side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Request {
    /// The first line.
    Hello { version: u32, parameters: Parameters, addresses: Vec<SocketAddr> },
    /// The tasks of both sides start.
    Start,
    /// No further requests; those in flight are acknowledged.
    Drain,
    /// The tasks end.
    End,
}

/// A line of the listening side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The addresses of the tasks.
    Ready { addresses: Vec<SocketAddr> },
    /// The session cannot start.
    Refused { reason: String },
    /// All requests were acknowledged, or did not arrive in time.
    Drained { totals: Totals },
}

/// A signal has ended the command before its session has started.
#[derive(Debug, thiserror::Error)]
#[error("interrupted before the start")]
pub(super) struct Interrupted;

/// The connection to the other side.
pub(super) struct Control {
    stream: TcpStream,
    peer: SocketAddr,
    received: Vec<u8>,
}

impl Control {
    /// Takes over a connected stream.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(stream: TcpStream) -> Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL_INTERVAL))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self { peer: stream.peer_addr()?, stream, received: Vec::new() })
    }

    /// Returns the address of the other side.
    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns the address of this side.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn local_ip(&self) -> Result<IpAddr> {
        // A listener at [::] has an IPv4 peer under a mapped address.
        Ok(self.stream.local_addr()?.ip().to_canonical())
    }

    /// Sends a line.
    ///
    /// # Errors
    /// Those of the connection.
    pub(super) fn send(&mut self, line: &impl Serialize) -> Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        let sent = self.stream.write_all(&bytes);
        sent.with_context(|| format!("cannot write to {}", self.peer))
    }

    /// Returns the next line, or `None` after [`POLL_INTERVAL`].
    ///
    /// # Errors
    /// Those of the connection; a line that cannot be decoded.
    pub(super) fn poll<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let mut bytes = [0; 1_024];
        while !self.received.contains(&b'\n') {
            match self.stream.read(&mut bytes) {
                Ok(0) => bail!("{}: the other side has ended", self.peer),
                Ok(count) => self.received.extend_from_slice(&bytes[..count]),
                Err(error) if is_timeout(error.kind()) => return Ok(None),
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot read from {}", self.peer));
                }
            }
            if self.received.len() > LINE_MAX {
                bail!("{}: not an rds-stress of this version", self.peer);
            }
        }
        let end = self.received.iter().position(|&byte| byte == b'\n').unwrap_or_default();
        let line: Vec<u8> = self.received.drain(..=end).collect();
        let decoded = serde_json::from_slice(&line);
        decoded
            .map(Some)
            .map_err(|_| anyhow::anyhow!("{}: not an rds-stress of this version", self.peer))
    }

    /// Waits for the next line.
    ///
    /// # Errors
    /// As for [`poll`](Self::poll); no line within [`TIMEOUT`]; a signal.
    pub(super) fn wait<T: DeserializeOwned>(&mut self, signals: &Signals) -> Result<T> {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            if let Some(line) = self.poll()? {
                return Ok(line);
            }
            if signals.stop_requested() {
                bail!(Interrupted);
            }
        }
        bail!("{}: no answer within {TIMEOUT:?}", self.peer)
    }
}

fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
