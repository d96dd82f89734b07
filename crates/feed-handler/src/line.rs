//! One side of a feed, joined.

use std::io;

use hairpin_endpoint::{MulticastGroup, Receive, UdpOptions, UdpReceiver};
use hairpin_mdp3::{Channel, Feed, Input, Listener, Side};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::Now;

use crate::feed_handler::Statistics;

/// Datagrams taken from one line before the others have their turn: two full batches.
const BUDGET: usize = 64;

/// A joined group and its place in the reactor.
#[derive(Debug)]
pub(crate) struct Line {
    feed: Feed,
    side: Side,
    receiver: UdpReceiver,
    token: Token,
}

impl Line {
    pub(crate) fn join(
        feed: Feed,
        side: Side,
        group: MulticastGroup<'_>,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let mut receiver = UdpReceiver::join(group, UdpOptions::default())?;
        let token = reactor.add(&mut receiver, Interest::READABLE)?;
        Ok(Self { feed, side, receiver, token })
    }

    pub(crate) fn is(&self, feed: Feed) -> bool {
        self.feed == feed
    }

    /// Hands what has arrived to the channel; how many datagrams.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        ready: Ready,
        channel: &mut Channel,
        listener: &mut impl Listener,
    ) -> io::Result<u64> {
        if !ready.is_readable(self.token) {
            return Ok(0);
        }
        let (feed, side) = (self.feed, self.side);
        let received = self.receiver.receive(BUDGET, |meta, datagram| {
            let input = Input { feed, side, received: meta.timestamp.utc() };
            channel.handle_packet(now, input, datagram, listener);
        })?;
        Ok(received.count as u64)
    }

    pub(crate) fn leave(mut self, reactor: &mut Reactor) -> io::Result<()> {
        reactor.remove(self.token, &mut self.receiver)
    }

    /// Adds what the socket has counted.
    pub(crate) fn add_to(&self, statistics: &mut Statistics) {
        statistics.kernel_drops += self.receiver.dropped();
        statistics.truncated += self.receiver.truncated();
        let granted = self.receiver.receive_buffer().granted;
        statistics.least_receive_buffer =
            Some(statistics.least_receive_buffer.map_or(granted, |least| least.min(granted)));
    }
}
