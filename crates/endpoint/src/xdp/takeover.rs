//! The attempts to take a connection over from the kernel.

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

use hairpin_stack::{FallbackReason, PathEvent, Stack, TakeoverError, TcpSocket};

/// The interval between takeovers of one connection, and after a refusal that may end. The stack
/// takes a connection over again after its owner's pause without an interval.
const INTERVAL: Duration = Duration::from_millis(100);
/// The interval while bytes are unacknowledged or unread, which is the usual case for a moment.
const BUSY_INTERVAL: Duration = Duration::from_millis(1);

/// The takeovers of one connection: at most ten a second, and none after a refusal that does not
/// end.
#[derive(Debug)]
pub(crate) struct Takeover {
    stack: Stack,
    /// The time of the next attempt; `None` if there is no other.
    next: Option<Instant>,
    /// The reason that was reported last.
    reported: Option<FallbackReason>,
}

impl Takeover {
    pub(crate) fn new(stack: &Stack) -> Self {
        Self { stack: stack.clone(), next: Some(Instant::now()), reported: None }
    }

    /// Prevents attempts: a side has closed the connection.
    pub(crate) fn end(&mut self) {
        self.next = None;
    }

    /// Attempts a takeover if the last one is long enough ago.
    ///
    /// # Errors
    /// As for [`attempt`](Self::attempt).
    pub(crate) fn attempt_if_due(
        &mut self,
        socket: &mut TcpSocket,
        peer: SocketAddrV4,
    ) -> io::Result<()> {
        match self.next {
            Some(next) if Instant::now() >= next => self.attempt(socket, peer),
            _ => Ok(()),
        }
    }

    /// Attempts a takeover. If it is refused, the connection stays with the kernel.
    ///
    /// # Errors
    /// `Unsupported` if the stack is strict and the connection does not bypass the kernel.
    pub(crate) fn attempt(&mut self, socket: &mut TcpSocket, peer: SocketAddrV4) -> io::Result<()> {
        let (interval, reason) = match socket.take_over() {
            Ok(()) => (Some(INTERVAL), None),
            Err(TakeoverError::Busy) => (Some(BUSY_INTERVAL), None),
            Err(TakeoverError::Path(FallbackReason::NoNeighbor) | TakeoverError::Full) => {
                (Some(INTERVAL), None)
            }
            Err(TakeoverError::Path(reason)) => (Some(INTERVAL), Some(reason)),
            Err(TakeoverError::Filter(_)) => (Some(INTERVAL), Some(FallbackReason::FilterFull)),
            Err(TakeoverError::State) => (None, None),
            Err(TakeoverError::Feature(feature)) => (None, Some(FallbackReason::Feature(feature))),
            Err(TakeoverError::Window(_)) => {
                (None, Some(FallbackReason::Feature("a receive window of more than 8 MiB")))
            }
            Err(TakeoverError::Kernel(error))
                if error.kind() == io::ErrorKind::PermissionDenied =>
            {
                (None, Some(FallbackReason::Feature("a socket without CAP_NET_ADMIN")))
            }
            Err(_) => (Some(INTERVAL), None),
        };
        self.next = interval.map(|interval| Instant::now() + interval);
        match reason {
            Some(reason) if self.reported != Some(reason) => {
                self.reported = Some(reason);
                let address = SocketAddr::V4(peer);
                self.stack.fall_back(PathEvent::TxFallback { address, reason })
            }
            _ => Ok(()),
        }
    }
}
