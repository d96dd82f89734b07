//! Datagrams that come past the kernel, and how far they have been delivered.

use std::io;

use hairpin_stack::UdpSocket;
use hairpin_time::Duration;

use crate::xdp_socket::v4;
use crate::xdp_stamps::XdpStamps;
use crate::{Meta, Received};

/// A socket of a stack, and what has gone wrong with what it received.
pub(crate) struct XdpDatagrams {
    socket: UdpSocket,
    datagram_max: usize,
    stamps: XdpStamps,
    truncated: u64,
    /// To be told by the next receive: it came behind what the last one delivered, or was found by
    /// a wait.
    failure: Option<io::Error>,
    /// How long a blocking wait waits.
    patience: Duration,
}

impl XdpDatagrams {
    pub(crate) fn new(socket: UdpSocket, datagram_max: usize, stamps: XdpStamps) -> Self {
        let patience = Duration::ZERO;
        Self { socket, datagram_max, stamps, truncated: 0, failure: None, patience }
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
        let Self { socket, datagram_max, stamps, truncated, .. } = self;
        let mut count = 0;
        let outcome = socket.receive(budget, |meta, datagram| {
            count += 1;
            *truncated += u64::from(datagram.len() > *datagram_max);
            let kept = &datagram[..datagram.len().min(*datagram_max)];
            on(Meta { source: v4(meta.source), timestamp: stamps.timestamp(meta.stamp) }, kept);
        });
        match outcome {
            Ok(received) => Ok(Received { count, drained: received.drained, closed: false }),
            Err(failure) => self.fail(failure, count),
        }
    }

    /// Tells of a failure, or keeps it to be told after what has been delivered.
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

    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Sleeps until there is something to receive, but no longer than it has patience.
    pub(crate) fn wait(&mut self) {
        if self.failure.is_none()
            && let Err(failure) = self.socket.wait(Some(self.patience.into()))
        {
            self.failure = Some(failure);
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.socket.dropped()
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.truncated
    }
}
