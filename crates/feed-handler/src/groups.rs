//! A channel by multicast: a socket for each side of each feed.

use std::io;

use hairpin_endpoint::MulticastGroup;
use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_mdp3::{Action, Channel, Feed, Listener};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::Now;

use crate::backlog::Backlog;
use crate::line::Line;
use crate::{FeedError, LineStatistics, Multicast};

/// Datagrams taken from one line before the others have their turn: two full batches, and fewer
/// than the channel holds while it waits for the other side.
const BUDGET: usize = 64;

/// How often each line has its turn in one wake.
const ROUNDS: usize = 8;

/// The sockets. All are opened at the start; later their groups are joined and left as the channel
/// asks for it.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Each side of each feed, the incremental feed first: that is the one that
    /// [`Wait::Block`](hairpin_reactor::Wait::Block) blocks in, and what recovery catches up with.
    lines: Vec<Line>,
    recorder: Option<Recorder>,
}

impl Groups {
    pub(crate) fn open(addresses: &Multicast, reactor: &mut Reactor) -> Result<Self, FeedError> {
        let lines = Vec::with_capacity(addresses.groups().count());
        let mut groups = Self { lines, recorder: None };
        let interface = addresses.interface;
        for (feed, side, group) in addresses.groups() {
            let sources = &group.sources;
            let group = MulticastGroup { group: group.address, interface, sources };
            match Line::open((feed, side), group, reactor) {
                Ok(line) => groups.lines.push(line),
                Err(error) => {
                    // The first error tells what is wrong; that of taking back would not.
                    let _ = groups.close(reactor);
                    return Err(error);
                }
            }
        }
        Ok(groups)
    }

    /// Reads every line that is ready, in turns, until all are empty or have had their rounds.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        ready: Ready,
        channel: &mut Channel,
        listener: &mut impl Listener,
    ) -> (Result<(), FeedError>, Backlog) {
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
                let recorder = (&mut self.recorder, position);
                let received = line.receive(now, BUDGET, recorder, channel, listener);
                if !matches!(received, Ok(false)) {
                    pending &= !(1 << position);
                }
                outcome = outcome.and(received.map(|_| ()));
            }
        }
        let is_pending = |position: usize| pending >> position & 1 == 1;
        let mut lines = self.lines.iter().enumerate();
        let may_fill_hole =
            lines.any(|(position, line)| is_pending(position) && line.is(Feed::Incremental));
        (outcome, Backlog { is_any: pending != 0, may_fill_hole })
    }

    /// Joins or leaves a feed on all its sides.
    pub(crate) fn act(&mut self, action: Action, reactor: &mut Reactor) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        for line in &mut self.lines {
            outcome = outcome.and(match action {
                Action::Join(feed) if line.is(feed) => line.join(reactor),
                Action::Leave(feed) if line.is(feed) => line.leave(reactor),
                _ => Ok(()),
            });
        }
        outcome
    }

    /// Records what is received from now on.
    pub(crate) fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        let lines = self.lines.iter().map(|line| line.recorded(channel)).collect();
        self.recorder = Some(Recorder::start(settings, lines)?);
        Ok(())
    }

    /// What records, if anything does.
    pub(crate) fn recorder(&mut self) -> &mut Option<Recorder> {
        &mut self.recorder
    }

    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.lines.iter_mut().map(|line| line.close(reactor)).fold(Ok(()), Result::and)
    }

    pub(crate) fn statistics(&self) -> impl Iterator<Item = LineStatistics> {
        self.lines.iter().map(Line::statistics)
    }
}
