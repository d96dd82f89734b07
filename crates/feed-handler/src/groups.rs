//! A channel by multicast: a socket for each side of each feed.

use std::io;

use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_mdp3::{Action, Feed, Listener};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::backlog::Backlog;
use crate::inlet::Inlet;
use crate::interface_watch::{Finding, InterfaceWatch};
use crate::line::Line;
use crate::{EngineError, FeedError, LineStatistics, Multicast};

/// Datagrams taken from one line before the others have their turn: a full batch, and half of the
/// smallest reorder window of a preset. So what one side has lost is read from the other, where it
/// lies unread, before the window is full.
pub(crate) const BUDGET: usize = 32;

/// How often each line has its turn in one wake.
pub(crate) const ROUNDS: usize = 16;

/// The sockets. All are opened at the start; later their groups are joined and left as the channel
/// asks for it.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Each side of each feed, the incremental feed first: that is the one that
    /// [`Wait::Block`](hairpin_reactor::Wait::Block) blocks in, and what recovery catches up with.
    lines: Vec<Line>,
    watches: Vec<InterfaceWatch>,
    recorder: Option<Recorder>,
}

impl Groups {
    pub(crate) fn open(addresses: &Multicast, reactor: &mut Reactor) -> Result<Self, FeedError> {
        let lines = Vec::with_capacity(addresses.groups().count());
        let mut groups = Self { lines, watches: Vec::new(), recorder: None };
        for (feed, side, group) in addresses.groups() {
            let address = addresses.line(group);
            let interface = address.interface;
            match Line::open((feed, side), address, reactor) {
                Ok(line) => groups.lines.push(line),
                Err(error) => {
                    // The first error tells what is wrong; that of taking back would not.
                    let _ = groups.close(reactor);
                    return Err(error);
                }
            }
            if !groups.watches.iter().any(|watch| watch.address() == interface) {
                groups.watches.push(InterfaceWatch::new(interface));
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
        reactor: &mut Reactor,
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) -> (Result<(), FeedError>, Backlog) {
        let readable = self.lines.iter().enumerate().filter(|(_, line)| line.is_readable(ready));
        let mut pending = readable.fold(0u64, |pending, (position, _)| pending | 1 << position);
        let (mut outcome, mut heard) = (Ok(()), 0u64);
        for _ in 0..ROUNDS {
            if pending == 0 {
                break;
            }
            for (position, line) in self.lines.iter_mut().enumerate() {
                if pending >> position & 1 == 0 {
                    continue;
                }
                let recorder = (&mut self.recorder, position);
                let received = line.receive(now, BUDGET, recorder, inlet, listener);
                if !matches!(received, Ok((_, false))) {
                    pending &= !(1 << position);
                }
                heard |= u64::from(matches!(received, Ok((1.., _)))) << position;
                outcome = outcome.and(received.map(|_| ()));
            }
        }
        let outcome = outcome.and(self.tend(now.monotonic, heard, reactor));
        let is_pending = |position: usize| pending >> position & 1 == 1;
        let mut lines = self.lines.iter().enumerate();
        let may_fill_hole =
            lines.any(|(position, line)| is_pending(position) && line.is(Feed::Incremental));
        (outcome, Backlog { is_any: pending != 0, may_fill_hole, is_idle: heard == 0 })
    }

    /// Looks after interfaces from which nothing has come.
    #[inline]
    fn tend(&mut self, now: Instant, heard: u64, reactor: &mut Reactor) -> Result<(), FeedError> {
        if let [watch] = &mut self.watches[..] {
            // The usual case: all lines are on one.
            if heard != 0 && !watch.is_gone() {
                watch.hear(now);
                return Ok(());
            }
        } else if heard != 0 {
            self.hear(now, heard);
        }
        let mut outcome = Ok(());
        for watch in 0..self.watches.len() {
            match self.watches[watch].turn(now) {
                Finding::Same => {}
                Finding::Gone => {
                    let interface = self.watches[watch].address();
                    let gone = EngineError::InterfaceGone { interface };
                    outcome = outcome.and(Err(gone.into()));
                }
                Finding::Returned => self.renew(watch, now, reactor),
            }
        }
        outcome
    }

    #[cold]
    fn hear(&mut self, now: Instant, heard: u64) {
        for (position, line) in self.lines.iter_mut().enumerate() {
            let interface = line.socket().address().interface;
            if heard >> position & 1 == 1 {
                let watch = self.watches.iter_mut().find(|it| it.address() == interface);
                watch.into_iter().for_each(|watch| watch.hear(now));
            }
        }
    }

    /// Opens the lines of an interface anew. What fails is tried again.
    #[cold]
    fn renew(&mut self, watch: usize, now: Instant, reactor: &mut Reactor) {
        let watch = &mut self.watches[watch];
        let mut is_whole = true;
        for line in &mut self.lines {
            if line.socket().address().interface == watch.address() {
                is_whole &= line.socket().renew(reactor).is_ok();
            }
        }
        watch.settle(now, is_whole);
    }

    /// When [`Groups::receive`] is due though nothing has arrived.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.watches.iter().filter_map(InterfaceWatch::next_deadline).min()
    }

    /// Joins or leaves a feed on all its sides.
    pub(crate) fn act(&mut self, action: Action, reactor: &mut Reactor) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        for line in &mut self.lines {
            let interface = line.socket().address().interface;
            let done = match action {
                Action::Join(feed) if line.is(feed) => line.join(reactor),
                Action::Leave(feed) if line.is(feed) => line.leave(reactor),
                _ => Ok(()),
            };
            let mut watches = self.watches.iter();
            let is_gone = watches.any(|watch| watch.address() == interface && watch.is_gone());
            // That it is gone has been told; it is joined when it returns.
            outcome = outcome.and(if is_gone { Ok(()) } else { done });
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
