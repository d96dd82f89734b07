//! A channel over TCP: one connection per side, each carrying all feeds.

use hairpin_mdp3::{Action, Listener, Settings};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now};

use crate::channel_input::ChannelInput;
use crate::sequence_gate::SequenceGate;
use crate::tcp_connection::TcpConnection;
use crate::unread_sockets::UnreadSockets;
use crate::{FeedError, TcpLines};

/// The number of chunks read per side in one call.
const ROUNDS: usize = 32;

/// The connections, side A first.
#[derive(Debug)]
pub(crate) struct TcpConnections {
    sides: Vec<TcpConnection>,
    gate: SequenceGate,
    /// The time that a side that is ahead waits for the other side, if no data arrives there.
    reorder_wait: Duration,
}

impl TcpConnections {
    /// Starts to connect. A side that cannot be reached now is retried later.
    pub(crate) fn open(
        lines: &TcpLines,
        settings: &Settings,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let mut connections = Self {
            sides: Vec::with_capacity(2),
            gate: SequenceGate::default(),
            reorder_wait: settings.reorder_wait,
        };
        for side in lines.sides() {
            match TcpConnection::open(side, lines.interface, settings, reactor) {
                Ok(connection) => connections.sides.push(connection),
                Err(error) => {
                    // The first error is the cause; a close error would hide it.
                    let _ = connections.close(reactor);
                    return Err(error);
                }
            }
        }
        Ok(connections)
    }

    /// Reads both sides in turn, until they are drained or the round limit is reached.
    ///
    /// `timeout_now` is the time at which the wait that produced `ready` began: data that arrived
    /// later may be unread.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        (now, timeout_now): (Now, Now),
        ready: Ready,
        reactor: &mut Reactor,
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) -> (Result<(), FeedError>, UnreadSockets) {
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
                self.gate.may_hold = self.other_may_fill(position, pending, timeout_now.monotonic);
                let (side, gate) = (&mut self.sides[position], &mut self.gate);
                if !is_holding {
                    let received = side.receive(now, gate, reactor, channel_input, listener);
                    if !matches!(received, Ok(false)) {
                        pending &= !(1 << position);
                    }
                    outcome = outcome.and(received.map(|_| ()));
                } else if !gate.may_hold || side.held().is_some_and(|held| !gate.is_ahead(held)) {
                    outcome = outcome.and(side.resume(now, gate, reactor, channel_input, listener));
                }
            }
            if pending == 0 {
                break;
            }
        }
        let idle = self.packets() == before;
        // Poll after reading: a loop that was suspended must read buffered data before it counts
        // silence.
        for side in &mut self.sides {
            outcome = outcome.and(side.poll(now.monotonic, ready, reactor));
        }
        (outcome, UnreadSockets { any: pending != 0, may_fill_gap: pending != 0, idle })
    }

    /// Returns the number of packets received on all connections.
    #[inline]
    fn packets(&self) -> u64 {
        self.sides.iter().map(TcpConnection::packets).sum()
    }

    /// Returns `true` if the other side may still deliver the packets missing before this side's
    /// next one. The other side must be connected and not ahead itself. It must also have unread
    /// data, or have delivered a packet within the reorder wait.
    #[inline]
    fn other_may_fill(&self, position: usize, pending: u8, timeout_now: Instant) -> bool {
        self.sides.iter().enumerate().filter(|&(other, _)| other != position).any(
            |(other, side)| {
                let is_recent = timeout_now < side.progress() + self.reorder_wait;
                let is_moving = pending >> other & 1 == 1 || is_recent;
                is_moving && side.is_connected() && !side.is_holding()
            },
        )
    }

    /// Updates the joined feeds. A connection carries every feed; only joined feeds are delivered.
    pub(crate) fn handle_action(&mut self, action: Action) {
        match action {
            Action::Join(feed) => self.gate.joined[feed as usize] = true,
            Action::Leave(feed) => self.gate.joined[feed as usize] = false,
            _ => {}
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let deadlines = self.sides.iter().map(TcpConnection::next_deadline).min();
        if !self.sides.iter().any(TcpConnection::is_holding) {
            return deadlines;
        }
        let progress =
            self.sides.iter().filter(|side| !side.is_holding()).map(TcpConnection::progress);
        deadlines.into_iter().chain(progress.map(|last| last + self.reorder_wait)).min()
    }

    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.sides.iter_mut().map(|side| side.close(reactor)).fold(Ok(()), Result::and)
    }

    pub(crate) fn sides(&self) -> &[TcpConnection] {
        &self.sides
    }
}
