//! A channel by TCP: one connection a side, each of which brings all feeds.

use hairpin_mdp3::{Action, Listener, Settings};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now};

use crate::backlog::Backlog;
use crate::connection::Connection;
use crate::inlet::Inlet;
use crate::order::Order;
use crate::{FeedError, TcpLines};

/// How often each side has its turn, of one chunk, in one wake.
const ROUNDS: usize = 32;

/// The connections, side A first.
#[derive(Debug)]
pub(crate) struct Connections {
    sides: Vec<Connection>,
    order: Order,
    /// How long a side that is ahead waits for the other, if nothing comes there.
    patience: Duration,
}

impl Connections {
    /// Begins to connect. A side that cannot be reached now is tried again later.
    pub(crate) fn open(
        lines: &TcpLines,
        settings: &Settings,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let mut connections = Self {
            sides: Vec::with_capacity(2),
            order: Order::default(),
            patience: settings.reorder_wait,
        };
        for side in lines.sides() {
            match Connection::open(side, lines.interface, settings, reactor) {
                Ok(connection) => connections.sides.push(connection),
                Err(error) => {
                    // The first error tells what is wrong; that of taking back would not.
                    let _ = connections.close(reactor);
                    return Err(error);
                }
            }
        }
        Ok(connections)
    }

    /// Reads both sides, in turns, until they are empty or have had their rounds. `by_then` is when
    /// the wait that `ready` is of began: what has come since may lie unread.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        (now, by_then): (Now, Now),
        ready: Ready,
        reactor: &mut Reactor,
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) -> (Result<(), FeedError>, Backlog) {
        let mut outcome = Ok(());
        let mut pending = 0u8;
        let before = self.packets();
        for (position, side) in self.sides.iter().enumerate() {
            pending |= u8::from(side.is_readable(ready)) << position;
        }
        for _ in 0..ROUNDS {
            for position in 0..self.sides.len() {
                let is_holding = self.sides[position].is_holding();
                if !is_holding && pending >> position & 1 == 0 {
                    continue;
                }
                self.order.may_wait = self.other_may_fill(position, pending, by_then.monotonic);
                let (side, order) = (&mut self.sides[position], &mut self.order);
                if !is_holding {
                    let received = side.receive(now, order, reactor, inlet, listener);
                    if !matches!(received, Ok(false)) {
                        pending &= !(1 << position);
                    }
                    outcome = outcome.and(received.map(|_| ()));
                } else if !order.may_wait || side.held().is_some_and(|held| !order.is_ahead(held)) {
                    outcome = outcome.and(side.resume(now, order, reactor, inlet, listener));
                }
            }
            if pending == 0 {
                break;
            }
        }
        let is_idle = self.packets() == before;
        // After reading: a loop that was away for long has not heard what is there to be heard.
        for side in &mut self.sides {
            outcome = outcome.and(side.tend(now.monotonic, ready, reactor));
        }
        (outcome, Backlog { is_any: pending != 0, may_fill_hole: pending != 0, is_idle })
    }

    /// Packets that all connections have brought.
    #[inline]
    fn packets(&self) -> u64 {
        self.sides.iter().map(Connection::packets).sum()
    }

    /// Whether the other side may bring what is missing before this one's packets: it is there,
    /// not ahead itself, and has more to read, or has brought something within the time that a
    /// hole may stay open.
    #[inline]
    fn other_may_fill(&self, position: usize, pending: u8, by_then: Instant) -> bool {
        self.sides.iter().enumerate().filter(|&(other, _)| other != position).any(
            |(other, side)| {
                let is_patient = by_then < side.progress() + self.patience;
                let is_moving = pending >> other & 1 == 1 || is_patient;
                is_moving && side.is_connected() && !side.is_holding()
            },
        )
    }

    /// What is joined is handed over from now on; a connection brings everything.
    pub(crate) fn act(&mut self, action: Action) {
        match action {
            Action::Join(feed) => self.order.joined[feed as usize] = true,
            Action::Leave(feed) => self.order.joined[feed as usize] = false,
            _ => {}
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let deadlines = self.sides.iter().map(Connection::next_deadline).min();
        if !self.sides.iter().any(Connection::is_holding) {
            return deadlines;
        }
        let progress =
            self.sides.iter().filter(|side| !side.is_holding()).map(Connection::progress);
        deadlines.into_iter().chain(progress.map(|last| last + self.patience)).min()
    }

    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.sides.iter_mut().map(|side| side.close(reactor)).fold(Ok(()), Result::and)
    }

    pub(crate) fn sides(&self) -> &[Connection] {
        &self.sides
    }
}
