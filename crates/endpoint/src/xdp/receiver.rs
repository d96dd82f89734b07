//! The receive state of a kernel-bypass UDP socket.

use std::io;

use hairpin_stack::UdpSocket;
use hairpin_time::Duration;

use crate::source::Wait;
use crate::xdp::socket::v4;
use crate::xdp::timestamps::XdpTimestamps;
use crate::{Meta, Received};

/// A stack's socket with its error state and counters.
pub(crate) struct XdpReceiver {
    socket: UdpSocket,
    datagram_max: usize,
    timestamps: XdpTimestamps,
    truncated: u64,
    /// The error for the next receive to return: it occurred after data were delivered, or in a
    /// wait.
    failure: Option<io::Error>,
    /// The timeout of a blocking wait.
    timeout: Duration,
}

impl XdpReceiver {
    pub(crate) fn new(socket: UdpSocket, datagram_max: usize, timestamps: XdpTimestamps) -> Self {
        let timeout = Duration::ZERO;
        Self { socket, datagram_max, timestamps, truncated: 0, failure: None, timeout }
    }

    #[inline]
    pub(crate) fn receive(
        &mut self,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        if budget == 0 {
            return Ok(Received::default());
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let Self { socket, datagram_max, timestamps, truncated, .. } = self;
        let mut count = 0;
        let outcome = socket.receive(budget, |meta, datagram| {
            count += 1;
            *truncated += u64::from(datagram.len() > *datagram_max);
            let bytes = &datagram[..datagram.len().min(*datagram_max)];
            on(
                Meta { source: v4(meta.source), timestamp: timestamps.timestamp(meta.stamp) },
                bytes,
            );
        });
        match outcome {
            Ok(received) => Ok(Received { count, drained: received.drained, closed: false }),
            Err(failure) => self.fail(failure, count),
        }
    }

    /// Returns an error, or keeps it for the next receive if data have been delivered.
    #[cold]
    fn fail(&mut self, failure: io::Error, delivered: usize) -> io::Result<Received> {
        if delivered == 0 {
            return Err(failure);
        }
        self.failure = Some(failure);
        Ok(Received { count: delivered, drained: false, closed: false })
    }

    #[inline]
    pub(crate) fn socket(&mut self) -> &mut UdpSocket {
        &mut self.socket
    }

    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.socket.dropped()
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.truncated
    }
}

impl Wait for XdpReceiver {
    fn wait(&mut self) {
        if self.failure.is_none()
            && let Err(failure) = self.socket.wait(Some(self.timeout.into()))
        {
            self.failure = Some(failure);
        }
    }
}
