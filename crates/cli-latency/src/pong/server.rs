//! The run loop of a pong for every protocol.

use std::io::{self, Write};

use anyhow::Result;
use hairpin_cli_harness::datapath::OpenTransport;
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn};
use hairpin_endpoint::is_permanent;
use hairpin_host::Clock;
use hairpin_mapped::CounterWriter;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant};

use super::flood_stats::{FloodReceived, FloodTally};
use super::response_delay::{ResponseDelay, Slowness};
use crate::ping::message;

/// The longest sleep, so that signals and stop requests are seen in time.
const MAX_SLEEP: Duration = Duration::from_millis(100);
/// The interval at which the pong checks whether a flood has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The time without a message after which a flood is over.
const SILENCE: Duration = Duration::from_millis(500);

/// Answers or counts pings.
pub(super) trait Responder {
    /// Handles what has arrived at the ready sources.
    ///
    /// # Errors
    /// Those that end the pong; the end of one of several pingers is not an error.
    fn serve(
        &mut self,
        ready: Ready,
        reactor: &mut Reactor,
        state: &mut PongState,
    ) -> io::Result<()>;

    /// Writes the counters of its protocol, if it has any.
    fn write_counters(&self, _writer: &mut CounterWriter<'_>) {}
}

/// The state of a pong that responders share.
pub(super) struct PongState {
    pub(super) clock: Clock,
    pause: ResponseDelay,
    /// `true` if messages are counted, not answered.
    pub(super) is_flood: bool,
    pub(super) tally: FloodTally,
    pub(super) counts: PongCounts,
}

/// The counts of a pong.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct PongCounts {
    /// Messages answered.
    pub(super) answered: u64,
    /// Answers that the kernel did not send.
    pub(super) refused: u64,
    /// Messages that are no pings, and are not answered.
    pub(super) ignored: u64,
    /// Errors of a socket that several pingers share.
    pub(super) errors: u64,
    /// Connections that could not be accepted at once.
    pub(super) failed_accepts: u64,
    /// Connections that were closed, because there are too many.
    pub(super) refused_connections: u64,
    /// Connections that ended with an error.
    pub(super) broken_connections: u64,
}

impl PongCounts {
    /// Prints one line with the counts that stay zero in normal operation, if one is not.
    ///
    /// # Errors
    /// Those of standard error.
    pub(super) fn print_unusual(&self, place: &impl std::fmt::Display) -> io::Result<()> {
        let unusual = self.iter().skip(2).filter(|(_, count)| *count > 0);
        let listed: Vec<_> = unusual.map(|(name, count)| format!("{count} {name}")).collect();
        match listed.is_empty() {
            true => Ok(()),
            false => writeln!(io::stderr(), "pong: {place}: {}", listed.join(", ")),
        }
    }

    /// Returns every count with its name.
    fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let Self {
            answered,
            refused,
            ignored,
            errors,
            failed_accepts,
            refused_connections,
            broken_connections,
        } = *self;
        [
            ("answered", answered),
            ("refused", refused),
            ("ignored", ignored),
            ("errors", errors),
            ("failed_accepts", failed_accepts),
            ("refused_connections", refused_connections),
            ("broken_connections", broken_connections),
        ]
        .into_iter()
    }
}

impl PongState {
    pub(super) fn new(clock: Clock, slowness: Slowness, is_flood: bool) -> Self {
        let (pause, tally) = (ResponseDelay::new(slowness), FloodTally::default());
        Self { clock, pause, is_flood, tally, counts: PongCounts::default() }
    }

    /// Spins until the answer to the message just read may be sent.
    #[inline]
    pub(super) fn before_answer(&mut self) {
        if !self.pause.is_none() {
            let until = self.pause.answer_at(self.clock.instant());
            while self.clock.instant() < until {
                std::hint::spin_loop();
            }
        }
    }

    /// Records the sequence of a flood message.
    #[inline]
    pub(super) fn number(&mut self, message: &[u8]) {
        // The run of the sender does not matter here.
        let run = message.get(8..message::HEADER).and_then(|run| run.first_chunk());
        let run = run.map_or(0, |run| u32::from_le_bytes(*run));
        if let Some(sequence) = message::read(message, self.tally.expected(), run) {
            self.tally.number(sequence);
        }
    }

    /// Counts a message that is not answered, and reports the first one.
    #[cold]
    pub(super) fn ignore(&mut self, source: impl std::fmt::Display) {
        self.counts.ignored += 1;
        if self.counts.ignored == 1 {
            let reason = "an answer of a pong, or from a port of a service";
            let line = format!("pong: no ping from {source}: {reason}; others are counted");
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Counts an error of a socket that several pingers share: it concerns one of them, or the
    /// network, and ends nothing.
    ///
    /// # Errors
    /// A permanent error.
    #[inline]
    pub(super) fn tolerate(&mut self, outcome: io::Result<()>) -> io::Result<()> {
        match outcome {
            // A pinger has exited.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) if !is_permanent(&error) => {
                self.counts.errors += 1;
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Counts an answer.
    #[inline]
    pub(super) fn answered(&mut self, outcome: &io::Result<()>) {
        match outcome {
            Ok(()) => self.counts.answered += 1,
            Err(_) => self.counts.refused += 1,
        }
    }
}

/// A pong that serves until it is stopped.
pub(super) struct PongServer<S> {
    reactor: Reactor,
    pub(super) state: PongState,
    responder: S,
    run_loop: Option<RunLoop>,
}

impl<S: Responder> PongServer<S> {
    /// Creates a pong that waits with `wait`; `open` opens its responder and adds it to the
    /// reactor.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(
        wait: Wait,
        state: PongState,
        open: impl FnOnce(&mut Reactor) -> Result<S>,
    ) -> Result<Self> {
        let mut reactor = Reactor::new(wait)?;
        let responder = open(&mut reactor)?;
        Ok(Self { reactor, state, responder, run_loop: None })
    }

    /// Returns the same pong, which prints the notices of `transport`.
    pub(super) fn with_transport(self, transport: OpenTransport) -> Self {
        Self { run_loop: Some(RunLoop::with_transport(transport)), ..self }
    }

    /// Publishes live counters from now on, as the process with this title.
    pub(super) fn publish(&mut self, title: &str) {
        let mut run_loop = self.run_loop.take().unwrap_or_default();
        run_loop.publish(title, "pong", &Serving::new(self, |_| ()));
        self.run_loop = Some(run_loop);
    }

    /// Serves until `stop_requested` returns `true`; `on_flood` receives each flood that has ended.
    ///
    /// # Errors
    /// Those of the network.
    pub(super) fn run(
        &mut self,
        stop_requested: impl Fn() -> bool,
        on_flood: impl FnMut(FloodReceived),
    ) -> Result<()> {
        let mut run_loop = self.run_loop.take().unwrap_or_default();
        run_loop.run(&mut Serving::new(self, on_flood), stop_requested).map(drop)
    }
}

/// A pong inside its run loop.
struct Serving<'a, S, F> {
    server: &'a mut PongServer<S>,
    on_flood: F,
    next_poll: Instant,
    stopped: bool,
}

impl<'a, S, F> Serving<'a, S, F> {
    fn new(server: &'a mut PongServer<S>, on_flood: F) -> Self {
        Self { server, on_flood, next_poll: Instant::ZERO, stopped: false }
    }
}

impl<S: Responder, F: FnMut(FloodReceived)> Task for Serving<'_, S, F> {
    #[inline]
    fn turn(&mut self) -> Result<Turn> {
        let PongServer { reactor, state, responder, .. } = &mut *self.server;
        let now = state.clock.instant();
        let is_due = now >= self.next_poll;
        if is_due {
            self.next_poll = now + POLL_INTERVAL;
            if state.tally.is_silent(now, SILENCE) {
                (self.on_flood)(state.tally.take());
            }
        }
        let ready = reactor.wait(now, Some(now + MAX_SLEEP))?;
        responder.serve(ready, reactor, state)?;
        Ok(Turn { now, activity: if is_due { Activity::Idle } else { Activity::Critical } })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.stopped = true;
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.server.state.clock)
    }

    fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        let state = &self.server.state;
        let counted = ("counted", state.tally.messages());
        writer.counters("pong", state.counts.iter().chain([counted]));
        self.server.responder.write_counters(writer);
    }
}
