//! One channel on kernel sockets.

use hairpin_endpoint::MulticastGroup;
use hairpin_mdp3::{Action, Channel, ChannelState, Feed, Listener, Settings};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now};

use crate::line::Line;
use crate::{Addresses, FeedError, LineStatistics};

/// Datagrams taken from one line before the others have their turn: two full batches, and fewer
/// than the channel holds while it waits for the other side.
const BUDGET: usize = 64;

/// How often each line has its turn in one wake.
const ROUNDS: usize = 8;

/// While books are not in sync, the longest time from one wake to the next: a wait may watch one
/// socket only (`Wait::Block`), and recovery comes by others.
const RECOVERY_WAKE: Duration = Duration::from_millis(10);

/// A market data channel and the sockets it is fed by.
///
/// All sockets are opened at the start; later their groups are joined and left as the channel asks
/// for it. Nothing is allocated after the start.
#[derive(Debug)]
pub struct FeedHandler {
    channel: Channel,
    /// Each side of each feed, the incremental feed first: that is the one that
    /// [`Wait::Block`](hairpin_reactor::Wait::Block) blocks in, and what recovery catches up with.
    lines: Vec<Line>,
    /// Some line was not read to its end.
    has_backlog: bool,
    /// It is on the incremental feed, and may fill a hole.
    may_fill_hole: bool,
    processed: Instant,
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
    /// [`FeedError::MissingFeed`], [`FeedError::SameGroup`]: the addresses will not do.
    /// [`FeedError::Socket`]: one cannot be opened.
    pub fn new(
        settings: Settings,
        addresses: Addresses,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        addresses.check(settings.late_join)?;
        let mut handler = Self {
            channel: Channel::new(settings),
            lines: Vec::with_capacity(addresses.groups().count()),
            has_backlog: false,
            may_fill_hole: false,
            processed: Instant::ZERO,
        };
        match handler.open(&addresses, reactor) {
            Ok(()) => Ok(handler),
            Err(error) => {
                // The first error tells what is wrong; those of taking back would not.
                let _ = handler.close(reactor);
                Err(error)
            }
        }
    }

    fn open(&mut self, addresses: &Addresses, reactor: &mut Reactor) -> Result<(), FeedError> {
        let Addresses { interface, ref sources, .. } = *addresses;
        for (feed, side, group) in addresses.groups() {
            let group = MulticastGroup { group, interface, sources };
            self.lines.push(Line::open((feed, side), group, reactor)?);
        }
        self.act(reactor)
    }

    /// Does what a wake calls for: hands the channel what has arrived, calls the listener, does
    /// what is due, joins and leaves.
    ///
    /// A hole in the stream does not become a gap while an incremental line has more to read.
    ///
    /// # Errors
    /// [`FeedError::Socket`], the first if there are several; the other lines were read
    /// nevertheless. A group that could not be joined is not tried again.
    #[inline]
    pub fn process(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        self.processed = now.monotonic;
        let received = self.receive(now, ready, listener);
        if !self.may_fill_hole {
            self.channel.handle_timeout(now, listener);
        }
        received.and(self.act(reactor))
    }

    /// When [`process`](Self::process) is due though nothing has arrived.
    #[must_use]
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.has_backlog {
            return Some(self.processed);
        }
        let hole = self.channel.poll_timeout();
        if self.channel.state() == ChannelState::InSync {
            return hole;
        }
        let wake = self.processed + RECOVERY_WAKE;
        Some(hole.map_or(wake, |hole| hole.min(wake)))
    }

    /// Takes the sockets from the reactor and closes them.
    ///
    /// # Errors
    /// [`FeedError::Socket`], the first if there are several; all are closed nevertheless.
    pub fn close(mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        let closed = self.lines.iter_mut().map(|line| line.close(reactor));
        closed.fold(Ok(()), Result::and)
    }

    /// The channel: its state, instruments, books and counters.
    #[must_use]
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// What the sockets have counted since the start, all together.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.lines().fold(Statistics::default(), |all, line| {
            let granted = line.receive_buffer.granted;
            Statistics {
                datagrams: all.datagrams + line.datagrams,
                kernel_drops: all.kernel_drops + line.kernel_drops,
                truncated: all.truncated + line.truncated,
                least_receive_buffer: all.least_receive_buffer.min(Some(granted)).or(Some(granted)),
            }
        })
    }

    /// What each side of each feed has received since the start.
    pub fn lines(&self) -> impl Iterator<Item = LineStatistics> {
        self.lines.iter().map(Line::statistics)
    }

    /// Reads every line that is ready, in turns, until all are empty or have had their rounds.
    #[inline]
    fn receive(
        &mut self,
        now: Now,
        ready: Ready,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let readable = self.lines.iter().enumerate().filter(|(_, line)| line.is_readable(ready));
        let mut pending = readable.fold(0u64, |pending, (position, _)| pending | 1 << position);
        let mut outcome = Ok(());
        for _ in 0..ROUNDS {
            if pending == 0 {
                break;
            }
            for (position, line) in self.lines.iter_mut().enumerate() {
                if pending >> position & 1 == 0 {
                    continue;
                }
                let received = line.receive(now, BUDGET, &mut self.channel, listener);
                if !matches!(received, Ok(false)) {
                    pending &= !(1 << position);
                }
                outcome = outcome.and(received.map(|_| ()));
            }
        }
        self.has_backlog = pending != 0;
        let is_pending = |position: usize| pending >> position & 1 == 1;
        let mut lines = self.lines.iter().enumerate();
        self.may_fill_hole =
            lines.any(|(position, line)| is_pending(position) && line.is(Feed::Incremental));
        outcome
    }

    /// Does what the channel asks for.
    #[inline]
    fn act(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        while let Some(action) = self.channel.poll_action() {
            for line in &mut self.lines {
                outcome = outcome.and(match action {
                    Action::Join(feed) if line.is(feed) => line.join(reactor),
                    Action::Leave(feed) if line.is(feed) => line.leave(reactor),
                    _ => Ok(()),
                });
            }
        }
        outcome
    }
}
