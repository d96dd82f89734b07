//! One channel on kernel sockets.

use std::io;

use hairpin_endpoint::MulticastGroup;
use hairpin_mdp3::{Action, Channel, Feed, Listener, Settings, Side};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::Addresses;
use crate::line::Line;

/// A market data channel and the sockets it is fed by.
///
/// Nothing is allocated after the start but for a feed that is joined.
#[derive(Debug)]
pub struct FeedHandler {
    channel: Channel,
    addresses: Addresses,
    /// In the order of joining: incremental A first, which is the one that
    /// [`Wait::Block`](hairpin_reactor::Wait::Block) blocks in.
    lines: Vec<Line>,
    /// Of lines that were left, and the datagrams of all.
    statistics: Statistics,
}

/// What the sockets of a feed handler have counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Datagrams received on all lines.
    pub datagrams: u64,
    /// Datagrams the kernel dropped because a receive buffer was full.
    pub kernel_drops: u64,
    /// Datagrams longer than a receive slot, which were cut.
    pub truncated: u64,
    /// The smallest receive buffer that the kernel granted a line, in bytes; asked for are 4 MiB.
    pub least_receive_buffer: Option<usize>,
}

impl FeedHandler {
    /// A handler that has joined the incremental feed, and what it needs to come in sync.
    ///
    /// # Errors
    /// Those of joining a group, with its address and interface; those of the reactor.
    pub fn new(
        settings: Settings,
        addresses: Addresses,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let mut handler = Self {
            channel: Channel::new(settings),
            addresses,
            lines: Vec::with_capacity(Feed::ALL.len() * Side::ALL.len()),
            statistics: Statistics::default(),
        };
        handler.act(reactor)?;
        Ok(handler)
    }

    /// Does what a wake calls for: hands the channel what has arrived, calls the listener, does
    /// what is due, joins and leaves.
    ///
    /// # Errors
    /// Those of the sockets and of the reactor; of joining a group, with its address.
    #[inline]
    pub fn process(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        for line in &mut self.lines {
            self.statistics.datagrams += line.receive(now, ready, &mut self.channel, listener)?;
        }
        if self.channel.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic) {
            self.channel.handle_timeout(now, listener);
        }
        self.act(reactor)
    }

    /// When [`process`](Self::process) is due though nothing has arrived.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.channel.poll_timeout()
    }

    /// The channel: its state, instruments, books and counters.
    #[must_use]
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// What the sockets have counted since the start.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.statistics;
        self.lines.iter().for_each(|line| line.add_to(&mut statistics));
        statistics
    }

    fn act(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        while let Some(action) = self.channel.poll_action() {
            match action {
                Action::Join(feed) => self.join(feed, reactor)?,
                Action::Leave(feed) => self.leave(feed, reactor)?,
                _ => {}
            }
        }
        Ok(())
    }

    #[cold]
    fn join(&mut self, feed: Feed, reactor: &mut Reactor) -> io::Result<()> {
        for side in Side::ALL {
            if let Some(group) = self.addresses.group(feed, side) {
                let Addresses { interface, ref sources, .. } = self.addresses;
                let group = MulticastGroup { group, interface, sources };
                self.lines.push(Line::join(feed, side, group, reactor)?);
            }
        }
        Ok(())
    }

    #[cold]
    fn leave(&mut self, feed: Feed, reactor: &mut Reactor) -> io::Result<()> {
        while let Some(index) = self.lines.iter().position(|line| line.is(feed)) {
            let line = self.lines.remove(index);
            line.add_to(&mut self.statistics);
            line.leave(reactor)?;
        }
        Ok(())
    }
}
