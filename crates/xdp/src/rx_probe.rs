//! A look from outside at whether an interface has anything for its owner.

use crate::ring::Cursors;
use crate::socket::Socket;

/// Says whether it is worth while to ask an [`Interface`](crate::Interface) for packets: without
/// it, from any thread, by three loads for each queue. For who looks again and again, and would
/// have to take a lock to look.
///
/// It keeps the sockets' rings, and so their queues taken, as long as it lives.
#[derive(Debug)]
pub struct RxProbe {
    queues: Box<[Queue]>,
}

#[derive(Debug)]
struct Queue {
    receive: Cursors,
    fill: Cursors,
    /// A socket that polls the driver itself is to be asked each time.
    polls: bool,
}

impl RxProbe {
    pub(crate) fn of(sockets: &[Socket]) -> Self {
        let queue = |socket: &Socket| {
            let (receive, fill, polls) = socket.glance();
            Queue { receive, fill, polls }
        };
        Self { queues: sockets.iter().map(queue).collect() }
    }

    /// Whether nothing has come that was not received and released, and the kernel wants no waking.
    /// Frames that the interface is short of to receive into
    /// ([`Interface::is_short`](crate::Interface::is_short)) do not show.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let is_quiet =
            |queue: &Queue| queue.receive.are_level() && !queue.fill.wants_wake() && !queue.polls;
        self.queues.iter().all(is_quiet)
    }
}
