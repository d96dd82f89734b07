//! The loop of a pong, whatever it serves.

use std::io;

use hairpin_host::Clock;
use hairpin_mapped::CounterWriter;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant};

use super::response_delay::{Pause, Slowness};
use super::flood_stats::{Received, Tally};
use crate::harness::counter_publisher::Live;
use crate::cmd::ping::message;
use crate::harness::datapath::Way;

/// The longest a pong sleeps: signals and the parent's wish are seen after that.
const SLEEP: Duration = Duration::from_millis(100);
/// Without a message for so long a flood is over.
const SILENCE: Duration = Duration::from_millis(500);

/// What answers pings, or counts them.
pub(super) trait Serve {
    /// Takes what has arrived at the sources that are ready.
    ///
    /// # Errors
    /// Those that end the pong; that one of several pingers has gone is none.
    fn serve(&mut self, ready: Ready, reactor: &mut Reactor, desk: &mut Desk) -> io::Result<()>;
}

/// What a pong knows while it serves.
pub(super) struct Desk {
    pub(super) clock: Clock,
    pause: Pause,
    /// Messages are counted, not answered.
    pub(super) is_flood: bool,
    pub(super) tally: Tally,
    pub(super) counts: Counts,
}

/// What a pong has done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// Messages answered.
    pub(super) answered: u64,
    /// Answers that the kernel would not send.
    pub(super) refused: u64,
}

impl Desk {
    pub(super) fn new(clock: Clock, slowness: Slowness, is_flood: bool) -> Self {
        let (pause, tally) = (Pause::new(slowness), Tally::default());
        Self { clock, pause, is_flood, tally, counts: Counts::default() }
    }

    /// Spins until the answer to a message that has just been read may leave.
    #[inline]
    pub(super) fn before_answer(&mut self) {
        if !self.pause.is_none() {
            let until = self.pause.answer_at(self.clock.instant());
            while self.clock.instant() < until {
                std::hint::spin_loop();
            }
        }
    }

    /// Notes the number that a message of a flood carries.
    #[inline]
    pub(super) fn number(&mut self, message: &[u8]) {
        // Another run has other numbers: which one it is must not matter here.
        let run = message.get(8..message::HEADER).and_then(|run| run.first_chunk());
        let run = run.map_or(0, |run| u32::from_le_bytes(*run));
        if let Some(sequence) = message::read(message, self.tally.expected(), run) {
            self.tally.number(sequence);
        }
    }

    /// Notes what became of an answer.
    #[inline]
    pub(super) fn answered(&mut self, outcome: &io::Result<()>) {
        match outcome {
            Ok(()) => self.counts.answered += 1,
            Err(_) => self.counts.refused += 1,
        }
    }
}

/// A pong that serves until it is told to stop.
pub(super) struct Server<S> {
    reactor: Reactor,
    pub(super) desk: Desk,
    service: S,
    live: Live,
    /// How messages come and go, where that is to be told.
    way: Option<Way>,
}

impl<S: Serve> Server<S> {
    /// A pong that waits as told; `open` makes what it serves and adds it to the reactor.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn new(
        wait: Wait,
        desk: Desk,
        open: impl FnOnce(&mut Reactor) -> anyhow::Result<S>,
    ) -> anyhow::Result<Self> {
        let mut reactor = Reactor::new(wait)?;
        let service = open(&mut reactor)?;
        Ok(Self { reactor, desk, service, live: Live::default(), way: None })
    }

    /// The same, which tells of the way that messages come and go.
    pub(super) fn by(self, way: Way) -> Self {
        Self { way: Some(way), ..self }
    }

    /// Publishes live counters from now on, as the process that `title` tells.
    pub(super) fn publish(&mut self, title: &str) {
        self.live = Live::publish(title, "pong", |sheet| tell(sheet, &self.desk));
    }

    /// Serves until `asked_to_stop` says so; `flooded` hears of each flood that is over.
    ///
    /// # Errors
    /// The network's.
    pub(super) fn run(
        &mut self,
        asked_to_stop: impl Fn() -> bool,
        mut flooded: impl FnMut(Received),
    ) -> io::Result<()> {
        let mut next_look = Instant::ZERO;
        loop {
            let now = self.desk.clock.instant();
            if now >= next_look {
                next_look = now + Duration::from_millis(1);
                if asked_to_stop() {
                    return Ok(());
                }
                if self.desk.tally.is_silent(now, SILENCE) {
                    flooded(self.desk.tally.take());
                }
                let Self { desk, live, way, .. } = self;
                way.iter_mut().for_each(|way| way.tell_if_due(now, true));
                live.update_if_due(now, false, |sheet| tell(sheet, desk));
                desk.clock.recalibrate_if_due(now);
            }
            let ready = self.reactor.wait(now, Some(now + SLEEP))?;
            self.service.serve(ready, &mut self.reactor, &mut self.desk)?;
        }
    }
}

/// What `hairpin stat` sees of a running pong.
fn tell(sheet: &mut CounterWriter<'_>, desk: &Desk) {
    let Counts { answered, refused } = desk.counts;
    let counted = desk.tally.messages();
    sheet.counters(
        "pong",
        [("answered", answered), ("refused", refused), ("counted", counted)].into_iter(),
    );
}
