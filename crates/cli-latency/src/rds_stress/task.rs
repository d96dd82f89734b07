//! A task: a socket that exchanges requests and acknowledgments with its counterpart.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Result, bail};
use hairpin_cli_harness::run_loop::{self, Activity, Turn};
use hairpin_endpoint::rds::{ProtocolError, RdsError, RdsSocket};
use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};
use hairpin_reactor::{Interest, Reactor, Wait};
use hairpin_time::{Duration, Instant};

use super::args::Parameters;
use super::message::{self, Kind};
use super::statistics::{TaskCounts, add};

/// The longest sleep, so that a new phase is seen in time.
const MAX_SLEEP: Duration = Duration::from_millis(20);
/// The messages received between two sends.
const BUDGET: usize = 32;

/// The phase of all tasks of a session.
#[derive(Debug, Default)]
pub(super) struct Phase(AtomicU8);

impl Phase {
    const DRAINING: u8 = 1;
    const ENDED: u8 = 2;

    /// Stops new requests.
    pub(super) fn drain(&self) {
        self.0.fetch_max(Self::DRAINING, Ordering::Relaxed);
    }

    /// Ends the tasks.
    pub(super) fn end(&self) {
        self.0.store(Self::ENDED, Ordering::Relaxed);
    }

    fn is_running(&self) -> bool {
        self.0.load(Ordering::Relaxed) < Self::DRAINING
    }

    /// Returns `true` if the tasks have to end.
    pub(super) fn is_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::ENDED
    }
}

/// The work of one thread.
pub(super) struct StressTask {
    socket: RdsSocket,
    reactor: Reactor,
    clock: Clock,
    peer: SocketAddr,
    parameters: Parameters,
    counts: Arc<[TaskCounts]>,
    /// The index of its counts.
    index: usize,
    phase: Arc<Phase>,
    /// The send times of the requests in flight; request `n` is at `n % depth`.
    sent_at: Box<[Instant]>,
    next_request: u64,
    next_ack: u64,
    next_from_peer: u64,
    /// The requests that are not acknowledged yet.
    unacknowledged: VecDeque<u64>,
    stopped: bool,
}

impl StressTask {
    /// Adds a bound socket to a reactor of this thread.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(
        mut socket: RdsSocket,
        wait: Wait,
        peer: SocketAddr,
        parameters: Parameters,
        (counts, index): (Arc<[TaskCounts]>, usize),
        phase: Arc<Phase>,
    ) -> Result<Self> {
        let mut reactor = Reactor::new(wait)?;
        reactor.add(&mut socket, Interest::READABLE)?;
        Ok(Self {
            socket,
            reactor,
            clock: Clock::new(),
            peer,
            parameters,
            counts,
            index,
            phase,
            sent_at: vec![Instant::ZERO; parameters.depth].into_boxed_slice(),
            next_request: 0,
            next_ack: 0,
            next_from_peer: 0,
            unacknowledged: VecDeque::with_capacity(parameters.depth),
            stopped: false,
        })
    }

    /// Receives messages; returns `true` if no more are available.
    fn receive(&mut self, now: Instant) -> Result<bool> {
        let Self { socket, clock, peer, parameters, counts, index, .. } = self;
        let counts = &counts[*index];
        let mut error = None;
        let (next_from_peer, next_ack) = (&mut self.next_from_peer, &mut self.next_ack);
        let received = socket.receive(now, BUDGET, |received| {
            if received.source != *peer {
                return;
            }
            let checked = check(received.bytes, parameters, *next_from_peer, *next_ack);
            match checked {
                Ok(Kind::Request) => {
                    self.unacknowledged.push_back(*next_from_peer);
                    *next_from_peer += 1;
                    add(&counts.requests_received, 1);
                }
                Ok(Kind::Acknowledgment) => {
                    let sent = self.sent_at[(*next_ack % parameters.depth as u64) as usize];
                    add(&counts.rtt_ns, clock.instant().saturating_since(sent).as_nanos());
                    *next_ack += 1;
                    add(&counts.acks_received, 1);
                }
                Err(what) => error = error.take().or(Some(what)),
            }
        })?;
        match error {
            Some(what) => bail!("{peer}: {what}"),
            None => Ok(received.drained),
        }
    }

    /// Sends acknowledgments and requests as far as there is room.
    fn send(&mut self) -> Result<()> {
        while let Some(&number) = self.unacknowledged.front() {
            if !self.send_one(Kind::Acknowledgment, number)? {
                return Ok(());
            }
            self.unacknowledged.pop_front();
            add(&self.counts[self.index].acks_sent, 1);
        }
        let depth = self.parameters.depth as u64;
        while self.next_request - self.next_ack < depth && self.phase.is_running() {
            let number = self.next_request;
            self.sent_at[(number % depth) as usize] = self.clock.instant();
            if !self.send_one(Kind::Request, number)? {
                return Ok(());
            }
            self.next_request += 1;
            add(&self.counts[self.index].requests_sent, 1);
        }
        Ok(())
    }

    /// Sends one message; returns `false` if there is no room now.
    fn send_one(&mut self, kind: Kind, number: u64) -> Result<bool> {
        let Parameters { request_size, ack_size, verify, .. } = self.parameters;
        let length = if kind == Kind::Request { request_size } else { ack_size };
        let before = self.clock.instant();
        let sent = self.socket.send(before, self.peer, length, |bytes| {
            message::write(bytes, kind, number, verify);
        });
        match sent {
            Ok(_) => {
                let nanos = self.clock.instant().saturating_since(before).as_nanos();
                add(&self.counts[self.index].send_ns, nanos);
                Ok(true)
            }
            Err(RdsError::Protocol(ProtocolError::WouldBlock | ProtocolError::Congested)) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Checks a message of the counterpart against the next expected numbers.
fn check(
    bytes: &[u8],
    parameters: &Parameters,
    next_request: u64,
    next_ack: u64,
) -> Result<Kind, String> {
    let (kind, number) = message::read(bytes).ok_or("a message without a valid header")?;
    let (name, expected, length) = match kind {
        Kind::Request => ("request", next_request, parameters.request_size),
        Kind::Acknowledgment => ("acknowledgment", next_ack, parameters.ack_size),
    };
    if number != expected {
        return Err(format!("{name} {number} instead of {expected}"));
    }
    if bytes.len() != length {
        return Err(format!("{name} {number} has {} bytes instead of {length}", bytes.len()));
    }
    if parameters.verify
        && let Some(at) = message::first_difference(bytes, kind, number)
    {
        return Err(format!("{name} {number} has a wrong byte at {at}"));
    }
    Ok(kind)
}

impl run_loop::Task for StressTask {
    fn turn(&mut self) -> Result<Turn> {
        let now = self.clock.instant();
        let is_drained = self.receive(now)?;
        self.send()?;
        while self.socket.poll_event().is_some() {}
        let now = self.clock.instant();
        if is_drained {
            // The wait ends when a timeout of the socket is due, and the next receive processes it.
            self.reactor.wait(now, Some(now + MAX_SLEEP))?;
        }
        Ok(Turn { now, activity: Activity::Busy })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.stopped = true;
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.clock)
    }

    fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        let in_flight = self.next_request - self.next_ack;
        writer.gauge("stress", "in_flight", Unit::Count, in_flight);
        writer.counter("stress", "requests_sent", Unit::Count, self.next_request);
        writer.counter("stress", "requests_received", Unit::Count, self.next_from_peer);
        writer.counter("stress", "acks_received", Unit::Count, self.next_ack);
        let carrier = self.socket.carrier_counters();
        writer.counters("rds", self.socket.counters().iter().chain(carrier.iter()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_messages_out_of_order_short_or_changed() {
        let parameters =
            Parameters { tasks: 1, depth: 4, request_size: 40, ack_size: 16, verify: true };
        let mut bytes = [0; 40];
        message::write(&mut bytes, Kind::Request, 7, true);
        assert_eq!(check(&bytes, &parameters, 7, 0), Ok(Kind::Request));
        let error = |bytes: &[u8], next| check(bytes, &parameters, next, 0).unwrap_err();
        assert_eq!(error(&bytes, 6), "request 7 instead of 6");
        assert_eq!(error(&bytes[..39], 7), "request 7 has 39 bytes instead of 40");
        bytes[30] ^= 1;
        assert_eq!(error(&bytes, 7), "request 7 has a wrong byte at 30");
        assert_eq!(
            check(&bytes, &Parameters { verify: false, ..parameters }, 7, 0),
            Ok(Kind::Request)
        );
        assert_eq!(error(&bytes[..9], 7), "a message without a valid header");
    }

    #[test]
    fn phases_only_advance() {
        let phase = Phase::default();
        assert!(phase.is_running());
        phase.drain();
        assert!(!phase.is_running() && !phase.is_ended());
        phase.end();
        phase.drain();
        assert!(phase.is_ended());
    }
}
