//! The run loop that sends pings and receives their answers.

use std::io;

use anyhow::{Result, bail};
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn};
use hairpin_endpoint::{Received, Timestamping};
use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};
use hairpin_reactor::{Interest, Reactor, Token};
use hairpin_time::{Duration, Instant, Now};

use super::latency_breakdown::LatencyBreakdown;
use super::message;
use super::message_splitter::MessageSplitter;
use super::ping_loop::{DuePing, Load, PingLoop};
use super::ping_transport::PingTransport;

/// The interval at which lost pings are counted.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The longest sleep, so that signals and stop requests are seen in time.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// A round with its transports.
pub(super) struct Pinger<'a, L> {
    pub(super) reactor: Reactor,
    pub(super) ping_loop: PingLoop,
    pub(super) clock: Clock,
    lines: &'a mut [L],
    connections: Box<[Connection]>,
    size: usize,
    /// The process id, which identifies the pings of this run.
    run: u32,
    next_poll: Instant,
    /// A ping that waits for buffer space of its stream.
    blocked: Option<DuePing>,
    /// The latency breakdown, if packets are timestamped.
    pub(super) breakdown: Option<LatencyBreakdown>,
}

struct Connection {
    token: Token,
    framing: MessageSplitter,
    /// `true` if bytes wait for buffer space.
    is_full: bool,
}

impl<'a, L: PingTransport> Pinger<'a, L> {
    /// Returns a round of messages of `size` bytes over `lines` and adds each of them to the
    /// reactor.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(
        mut reactor: Reactor,
        ping_loop: PingLoop,
        clock: Clock,
        lines: &'a mut [L],
        size: usize,
    ) -> io::Result<Self> {
        let connections = lines.iter_mut().map(|line| {
            let token = reactor.add(line, Interest::READABLE)?;
            Ok(Connection { token, framing: MessageSplitter::new(size), is_full: false })
        });
        let connections = connections.collect::<io::Result<Box<[Connection]>>>()?;
        let run = std::process::id();
        Ok(Self {
            reactor,
            ping_loop,
            clock,
            lines,
            connections,
            size,
            run,
            next_poll: Instant::ZERO,
            blocked: None,
            breakdown: None,
        })
    }

    /// Enables timestamps and the latency breakdown.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn stamp(&mut self, timestamping: Timestamping, load: &Load) -> io::Result<()> {
        self.lines.iter_mut().try_for_each(|line| line.stamp_transmits(timestamping))?;
        self.breakdown = Some(LatencyBreakdown::new(load, self.size, L::IS_STREAM));
        Ok(())
    }

    /// Sends and receives until the round is over, and returns `true` if a stop was requested: then
    /// no further ping leaves. `title` names the process in its live counters; `on_sent` receives
    /// the number of pings sent so far.
    ///
    /// # Errors
    /// Those of the network; no pong answers.
    pub(super) fn run(
        &mut self,
        title: &str,
        stop_requested: impl Fn() -> bool,
        on_sent: impl Fn(u64),
    ) -> Result<bool> {
        let mut run_loop = RunLoop::default();
        let mut round = Round { pinger: self, on_sent };
        run_loop.publish(title, "ping", &round);
        let stopped = run_loop.run(&mut round, stop_requested)?;
        (round.on_sent)(round.pinger.ping_loop.sent());
        Ok(stopped)
    }

    #[inline]
    fn transmit(&mut self, DuePing { sequence, connection }: DuePing) -> Result<()> {
        let (size, run) = (self.size, self.run);
        if let Some(breakdown) = &mut self.breakdown {
            breakdown.sent(sequence, self.clock.now().utc);
        }
        let line = &mut self.lines[connection];
        match line.transmit(size, |message| message::write(message, sequence, run)) {
            Ok(()) => {}
            // Bytes of the previous ping are sent first.
            Err(error) if L::IS_STREAM && error.kind() == io::ErrorKind::WouldBlock => {
                self.blocked = Some(DuePing { sequence, connection });
            }
            // A datagram that does not fit into the send buffer is lost, as it may be later on the
            // path.
            Err(error) if is_lost::<L>(&error) => return Ok(()),
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

    /// Waits for answers until the next ping is due, and receives them.
    #[inline]
    fn receive_answers(&mut self, now: Instant) -> Result<()> {
        let latest = now + MAX_SLEEP;
        let deadline = self.ping_loop.poll_timeout().map_or(latest, |due| due.min(latest));
        let ready = self.reactor.wait(now, Some(deadline))?;
        for index in 0..self.connections.len() {
            let Connection { token, is_full, .. } = self.connections[index];
            if is_full && ready.is_writable(token) && self.lines[index].flush()? {
                self.set_full(index, false)?;
            }
            if ready.is_readable(token) && self.receive(index)?.closed {
                bail!("connection closed by the pong");
            }
        }
        Ok(())
    }

    #[inline]
    fn receive(&mut self, index: usize) -> Result<Received> {
        let Self { lines, connections, ping_loop, clock, size, run, breakdown, .. } = self;
        let framing = &mut connections[index].framing;
        let mut answer = |header: &[u8], timestamp, received: Now| match message::read(
            header,
            ping_loop.expected(index),
            *run,
        ) {
            Some(sequence) => {
                let ping = ping_loop.answer(index, sequence, received.monotonic);
                if let (Some(breakdown), Some(_)) = (&mut *breakdown, ping) {
                    breakdown.answered(sequence, timestamp, received.utc);
                }
            }
            None => ping_loop.answer_unexpected(),
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
            ping_loop.answer_unexpected();
        }
        let received = received.map_err(nobody)?;
        if let (Some(breakdown), true) = (breakdown, received.count > 0) {
            lines[index].transmit_timestamps(|stamp| breakdown.stamped(index, stamp))?;
        }
        Ok(received)
    }

    /// Counts the pings that are lost, every [`POLL_INTERVAL`].
    #[cold]
    fn expire(&mut self, now: Instant) -> Result<()> {
        self.next_poll = now + POLL_INTERVAL;
        self.ping_loop.handle_timeout(now);
        if self.ping_loop.is_unanswered() {
            bail!("no answer: no pong listens there");
        }
        Ok(())
    }
}

/// A pinger inside its run loop, with the receiver of its progress.
struct Round<'r, 'a, L, P> {
    pinger: &'r mut Pinger<'a, L>,
    on_sent: P,
}

impl<L: PingTransport, P: Fn(u64)> Task for Round<'_, '_, L, P> {
    #[inline]
    fn turn(&mut self) -> Result<Turn> {
        let Self { pinger, on_sent } = self;
        let now = pinger.clock.instant();
        let blocked = pinger.blocked.take();
        if let Some(ping) = blocked.or_else(|| pinger.ping_loop.depart(now)) {
            pinger.transmit(ping)?;
        }
        if now >= pinger.next_poll {
            pinger.expire(now)?;
            on_sent(pinger.ping_loop.sent());
        }
        pinger.receive_answers(now)?;
        let is_quiet = pinger.ping_loop.is_quiet(now);
        Ok(Turn { now, activity: if is_quiet { Activity::Idle } else { Activity::Critical } })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.pinger.ping_loop.stop();
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.pinger.ping_loop.is_over()
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.pinger.clock)
    }

    fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        let ping_loop = &self.pinger.ping_loop;
        writer.gauge("ping", "waiting", Unit::Count, ping_loop.waiting());
        writer.counters("ping", ping_loop.counts().iter());
        match &*self.pinger.lines {
            [line] => line.write_counters("rds", writer),
            lines => {
                for (number, line) in lines.iter().enumerate() {
                    line.write_counters(&format!("rds{number}"), writer);
                }
            }
        }
    }
}

/// Returns `true` if the send buffer is full, or if a datagram has no path now, such as while a
/// cable is out.
pub(super) fn is_lost<L: PingTransport>(error: &io::Error) -> bool {
    match L::IS_STREAM {
        true => error.kind() == io::ErrorKind::WouldBlock,
        false => hairpin_endpoint::is_lost(error),
    }
}

/// Explains a refused datagram, which the next call on the socket reports.
pub(super) fn nobody(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        anyhow::anyhow!("connection refused: no pong listens there")
    } else {
        error.into()
    }
}
