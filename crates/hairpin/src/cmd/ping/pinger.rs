//! The loop that sends pings and takes their answers.

use std::io;

use anyhow::{Result, bail};
use hairpin_endpoint::{Received, Timestamping};
use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};
use hairpin_reactor::{Interest, Reactor, Token};
use hairpin_time::{Duration, Instant, Now};

use super::message_splitter::Framing;
use super::ping_transport::Line;
use super::message;
use super::ping_loop::{Departure, Load, Rally};
use super::latency_breakdown::Stages;
use crate::harness::counter_publisher::Live;

/// How often the loop looks whether it is to stop, and for pings that are lost.
const LOOK: Duration = Duration::from_millis(1);
/// The longest it sleeps: signals and the parent's wish are seen after that.
const SLEEP: Duration = Duration::from_millis(100);

/// A round with the lines it runs over.
pub(super) struct Pinger<'a, L> {
    pub(super) reactor: Reactor,
    pub(super) rally: Rally,
    pub(super) clock: Clock,
    lines: &'a mut [L],
    connections: Box<[Connection]>,
    size: usize,
    /// Whose pings these are.
    run: u32,
    next_look: Instant,
    /// A ping that found no room on its stream yet.
    owed: Option<Departure>,
    live: Live,
    /// Where the time goes, if packets are stamped.
    pub(super) stages: Option<Stages>,
}

struct Connection {
    token: Token,
    framing: Framing,
    /// Bytes wait for room.
    is_full: bool,
}

impl<'a, L: Line> Pinger<'a, L> {
    /// A round of messages of `size` bytes over `lines`, each of which is added to the reactor.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn new(
        mut reactor: Reactor,
        rally: Rally,
        clock: Clock,
        lines: &'a mut [L],
        size: usize,
    ) -> io::Result<Self> {
        let connections = lines.iter_mut().map(|line| {
            let token = reactor.add(line, Interest::READABLE)?;
            Ok(Connection { token, framing: Framing::new(size), is_full: false })
        });
        let connections = connections.collect::<io::Result<Box<[Connection]>>>()?;
        let run = std::process::id();
        Ok(Self {
            reactor,
            rally,
            clock,
            lines,
            connections,
            size,
            run,
            next_look: Instant::ZERO,
            owed: None,
            live: Live::default(),
            stages: None,
        })
    }

    /// Has packets stamped from now on, and their way cut at the stamps.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn stamp(&mut self, timestamping: Timestamping, load: &Load) -> io::Result<()> {
        self.lines.iter_mut().try_for_each(|line| line.stamp_transmits(timestamping))?;
        self.stages = Some(Stages::new(load, self.size, L::IS_STREAM));
        Ok(())
    }

    /// Publishes live counters from now on, as the process that `title` tells.
    pub(super) fn publish(&mut self, title: &str) {
        self.live = Live::publish(title, "ping", |sheet| tell(sheet, &self.rally));
    }

    /// Sends and takes answers until the round is over. Once `asked_to_stop` says so, no further
    /// ping leaves; true if it did. `told` hears now and then how many pings have left.
    ///
    /// # Errors
    /// The network's; nobody answers.
    pub(super) fn run(
        &mut self,
        asked_to_stop: impl Fn() -> bool,
        told: impl Fn(u64),
    ) -> Result<bool> {
        let mut interrupted = false;
        while !self.rally.is_over() {
            let now = self.clock.instant();
            let owed = self.owed.take();
            if let Some(departure) = owed.or_else(|| self.rally.depart(now)) {
                self.transmit(departure)?;
            }
            if now >= self.next_look {
                self.look(now)?;
                told(self.rally.sent());
                if !interrupted && asked_to_stop() {
                    interrupted = true;
                    self.rally.stop();
                }
            }
            self.take_answers(now)?;
        }
        told(self.rally.sent());
        Ok(interrupted)
    }

    #[inline]
    fn transmit(&mut self, Departure { sequence, connection }: Departure) -> Result<()> {
        let (size, run) = (self.size, self.run);
        if let Some(stages) = &mut self.stages {
            stages.sent(sequence, self.clock.now().utc);
        }
        let line = &mut self.lines[connection];
        match line.transmit(size, |message| message::write(message, sequence, run)) {
            Ok(()) => {}
            // Bytes of the ping before must leave first.
            Err(error) if L::IS_STREAM && error.kind() == io::ErrorKind::WouldBlock => {
                self.owed = Some(Departure { sequence, connection });
            }
            // A datagram for which there is no room is lost, as it might be further on.
            Err(error) if is_lost(&error) => return Ok(()),
            Err(error) => return Err(nobody(error)),
        }
        if L::IS_STREAM && !line.flush()? {
            self.set_full(connection, true)?;
        }
        Ok(())
    }

    fn set_full(&mut self, connection: usize, is_full: bool) -> io::Result<()> {
        let Connection { token, is_full: known, .. } = &mut self.connections[connection];
        *known = is_full;
        let interest = if is_full { Interest::BOTH } else { Interest::READABLE };
        self.reactor.set_interest(*token, &self.lines[connection], interest)
    }

    #[inline]
    fn take_answers(&mut self, now: Instant) -> Result<()> {
        let longest = now + SLEEP;
        let deadline = self.rally.poll_timeout().map_or(longest, |due| due.min(longest));
        let ready = self.reactor.wait(now, Some(deadline))?;
        for index in 0..self.connections.len() {
            let Connection { token, is_full, .. } = self.connections[index];
            if is_full && ready.is_writable(token) && self.lines[index].flush()? {
                self.set_full(index, false)?;
            }
            if ready.is_readable(token) && self.receive(index)?.closed {
                bail!("the pong has closed the connection");
            }
        }
        Ok(())
    }

    #[inline]
    fn receive(&mut self, index: usize) -> Result<Received> {
        let Self { lines, connections, rally, clock, size, run, stages, .. } = self;
        let framing = &mut connections[index].framing;
        let mut answer = |header: &[u8], timestamp, received: Now| match message::read(
            header,
            rally.expected(index),
            *run,
        ) {
            Some(sequence) => {
                let ping = rally.answer(index, sequence, received.monotonic);
                if let (Some(stages), Some(_)) = (&mut *stages, ping) {
                    stages.answered(sequence, timestamp, received.utc);
                }
            }
            None => rally.answer_unexpected(),
        };
        let mut is_cut = false;
        let received = lines[index].receive(1, |meta, bytes| {
            let received = clock.now();
            if L::IS_STREAM {
                framing.take(bytes, |header| answer(header, meta.timestamp, received));
            } else if bytes.len() == *size {
                answer(bytes, meta.timestamp, received);
            } else {
                is_cut = true;
            }
        });
        if is_cut {
            rally.answer_unexpected();
        }
        let received = received.map_err(nobody)?;
        if let (Some(stages), true) = (stages, received.count > 0) {
            lines[index].transmit_timestamps(|stamp| stages.stamped(index, stamp))?;
        }
        Ok(received)
    }

    /// What need not be done at every turn.
    #[cold]
    fn look(&mut self, now: Instant) -> Result<()> {
        self.next_look = now + LOOK;
        self.rally.handle_timeout(now);
        if self.rally.is_unanswered() {
            bail!("nothing answers: is a pong listening there?");
        }
        let Self { rally, live, .. } = self;
        let is_quiet = rally.is_quiet(now);
        live.update_if_due(now, is_quiet, |sheet| tell(sheet, rally));
        if is_quiet {
            self.clock.recalibrate_if_due(now);
        }
        Ok(())
    }
}

/// What `hairpin stat` sees of a running ping.
fn tell(sheet: &mut CounterWriter<'_>, rally: &Rally) {
    sheet.gauge("ping", "waiting", Unit::Count, rally.waiting());
    sheet.counters("ping", rally.counts().iter());
}

/// No room on the way out.
pub(super) fn is_lost(error: &io::Error) -> bool {
    /// "No buffer space available" has no kind of its own.
    const ENOBUFS: i32 = 105;
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(ENOBUFS)
}

/// A refused datagram is reported by the socket's next call, whatever that is.
pub(super) fn nobody(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        anyhow::anyhow!("connection refused: no pong listens there")
    } else {
        error.into()
    }
}
