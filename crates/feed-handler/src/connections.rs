//! A channel by TCP: one connection a side, each of which brings all feeds.

use hairpin_mdp3::{Action, Channel, Feed, Listener};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::backlog::Backlog;
use crate::connection::Connection;
use crate::{FeedError, TcpLines};

/// How often each side has its turn, of one chunk, in one wake.
const ROUNDS: usize = 32;

/// The connections, side A first.
#[derive(Debug)]
pub(crate) struct Connections {
    sides: Vec<Connection>,
    joined: [bool; Feed::ALL.len()],
    /// The side whose packets stand behind a hole that the other side may fill.
    ahead: Option<usize>,
}

impl Connections {
    /// Begins to connect. A side that cannot be reached now is tried again later.
    pub(crate) fn open(
        lines: &TcpLines,
        max_packet: usize,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let mut connections =
            Self { sides: Vec::with_capacity(2), joined: Default::default(), ahead: None };
        for side in lines.sides() {
            match Connection::open(side, lines.interface, max_packet, reactor) {
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

    /// Reads both sides, in turns, until they are empty or have had their rounds. A side that is
    /// ahead of a hole waits for the other to be read to its end: that may fill it.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        channel: &mut Channel,
        listener: &mut impl Listener,
    ) -> (Result<(), FeedError>, Backlog) {
        let mut outcome = Ok(());
        let mut pending = 0u8;
        for (position, side) in self.sides.iter().enumerate() {
            pending |= u8::from(side.is_readable(ready)) << position;
        }
        for _ in 0..ROUNDS {
            if pending == 0 {
                break;
            }
            for position in 0..self.sides.len() {
                let bit = 1 << position;
                let is_parked = self.ahead == Some(position) && pending != bit;
                if pending & bit == 0 || is_parked {
                    continue;
                }
                let had_hole = channel.poll_timeout().is_some();
                let side = &mut self.sides[position];
                let received = side.receive(now, self.joined, reactor, channel, listener);
                if !matches!(received, Ok(false)) {
                    pending &= !bit;
                }
                outcome = outcome.and(received.map(|_| ()));
                match (had_hole, channel.poll_timeout().is_some()) {
                    (false, true) => self.ahead = Some(position),
                    (_, false) => self.ahead = None,
                    (true, true) => {}
                }
            }
        }
        // After reading: a loop that was away for long has not heard what is there to be heard.
        for side in &mut self.sides {
            outcome = outcome.and(side.tend(now.monotonic, ready, reactor));
        }
        (outcome, Backlog { is_any: pending != 0, may_fill_hole: pending != 0 })
    }

    /// What is joined is handed over from now on; a connection brings everything.
    pub(crate) fn act(&mut self, action: Action) {
        match action {
            Action::Join(feed) => self.joined[feed as usize] = true,
            Action::Leave(feed) => self.joined[feed as usize] = false,
            _ => {}
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.sides.iter().map(Connection::next_deadline).min()
    }

    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.sides.iter_mut().map(|side| side.close(reactor)).fold(Ok(()), Result::and)
    }

    pub(crate) fn sides(&self) -> &[Connection] {
        &self.sides
    }
}
