//! A lock-free check whether an interface may have packets.

use crate::ring::RingView;
use crate::socket::Socket;

/// Checks from any thread, without locking, whether an [`Interface`](crate::Interface) may have
/// packets (three loads per queue).
///
/// It is meant for busy-polling callers that would otherwise take a lock for every poll. The probe
/// keeps the rings mapped, so the queues stay bound while the probe exists.
#[derive(Debug)]
pub struct RxProbe {
    queues: Box<[Queue]>,
}

#[derive(Debug)]
struct Queue {
    receive: RingView,
    fill: RingView,
    /// `true` if the socket busy-polls the driver: its rings do not show pending packets.
    busy_polls: bool,
}

impl RxProbe {
    pub(crate) fn new(sockets: &[Socket]) -> Self {
        let queue = |socket: &Socket| {
            let (receive, fill, busy_polls) = socket.rx_probe();
            Queue { receive, fill, busy_polls }
        };
        Self { queues: sockets.iter().map(queue).collect() }
    }

    /// Returns `true` if every received packet has been released and no queue needs a wakeup.
    ///
    /// It does not show whether the interface needs more frames to receive into; see
    /// [`Interface::needs_refill`](crate::Interface::needs_refill).
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let queue_is_idle = |queue: &Queue| {
            queue.receive.is_empty() && !queue.fill.needs_wakeup() && !queue.busy_polls
        };
        self.queues.iter().all(queue_is_idle)
    }
}
