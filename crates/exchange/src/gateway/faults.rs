//! Faults on demand: what a gateway may do to its clients, by seed.
//!
//! Messages: lost, sent twice, their numbers left out. Writes: delayed, split, coalesced, or
//! nothing at all for a time. Connections: refused, cut. The same seed and the same calls give the
//! same faults. Without them nothing here is looked at.

use hairpin_time::{Duration, Instant, Now};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::session::Session;

/// How long the rest of a split write waits.
const MOMENT: Duration = Duration::from_micros(1);

/// How long a write waits at most for another to be coalesced with.
const PATIENCE: Duration = Duration::from_millis(20);

/// What may happen: chances are parts per million.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct GatewayFaults {
    /// Where all chances come from.
    pub seed: u64,
    /// Of each business message: it has its number and is kept, and does not leave.
    pub drop_ppm: u32,
    /// Of each business message: it leaves twice.
    pub double_ppm: u32,
    /// Of each business message: the number before its own is never used.
    pub skip_ppm: u32,
    /// Of each write: it leaves up to `delay_max` later.
    pub delay_ppm: u32,
    /// The longest delay.
    pub delay_max: Duration,
    /// Of each write: some of its bytes leave, the rest a moment later.
    pub split_ppm: u32,
    /// Of each write: it leaves with the next one, or after 20 ms.
    pub coalesce_ppm: u32,
    /// Of each write: nothing leaves for `silence`, heartbeats neither.
    pub silence_ppm: u32,
    /// How long a silence is.
    pub silence: Duration,
    /// Of each write: the connection ends in its place.
    pub cut_ppm: u32,
    /// Of each connection: it is refused.
    pub refuse_ppm: u32,
}

/// How many faults have happened.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct GatewayFaultTally {
    /// Business messages that did not leave.
    pub dropped: u64,
    /// Business messages that left twice.
    pub doubled: u64,
    /// Numbers left out.
    pub skipped: u64,
    /// Writes delayed.
    pub delayed: u64,
    /// Writes split.
    pub split: u64,
    /// Writes that left with another, or waited for one.
    pub coalesced: u64,
    /// Silences.
    pub silences: u64,
    /// Connections cut.
    pub cut: u64,
    /// Connections refused.
    pub refused: u64,
}

/// What becomes of a business message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Sent,
    Lost,
    Twice,
}

impl Fate {
    /// How often the message leaves.
    pub(super) const fn copies(self) -> u8 {
        match self {
            Self::Lost => 0,
            Self::Sent => 1,
            Self::Twice => 2,
        }
    }
}

/// A write that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    until: Instant,
    /// It leaves as soon as more than so many bytes wait.
    beyond: usize,
}

/// The faults of a gateway.
#[derive(Debug)]
pub(super) struct Faults {
    settings: GatewayFaults,
    random: ChaCha8Rng,
    pub(super) tally: GatewayFaultTally,
}

impl Faults {
    pub(super) fn new(settings: GatewayFaults) -> Self {
        let random = ChaCha8Rng::seed_from_u64(settings.seed);
        Self { settings, random, tally: GatewayFaultTally::default() }
    }

    fn happens(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.random.next_u32() % 1_000_000 < ppm
    }

    pub(super) fn refuses(&mut self) -> bool {
        let refuses = self.happens(self.settings.refuse_ppm);
        self.tally.refused += u64::from(refuses);
        refuses
    }

    pub(super) fn skips(&mut self) -> bool {
        let skips = self.happens(self.settings.skip_ppm);
        self.tally.skipped += u64::from(skips);
        skips
    }

    pub(super) fn fate(&mut self) -> Fate {
        if self.happens(self.settings.drop_ppm) {
            self.tally.dropped += 1;
            Fate::Lost
        } else if self.happens(self.settings.double_ppm) {
            self.tally.doubled += 1;
            Fate::Twice
        } else {
            Fate::Sent
        }
    }

    /// Decides about the bytes of a session that nothing is decided of.
    pub(super) fn tend(&mut self, now: Now, session: &mut Session) {
        let waiting = session.outbound.bytes().len();
        if waiting <= session.allowed {
            return;
        }
        match session.hold {
            Some(hold) if now.monotonic < hold.until && waiting <= hold.beyond => {}
            Some(_) => {
                session.hold = None;
                session.allowed = waiting;
            }
            None => self.write(now, session, waiting),
        }
    }

    fn write(&mut self, now: Now, session: &mut Session, waiting: usize) {
        let settings = self.settings;
        let hold = |span, beyond| Some(Hold { until: now.monotonic + span, beyond });
        if self.happens(settings.cut_ppm) {
            self.tally.cut += 1;
            session.outbound.clear();
            session.close(now);
        } else if self.happens(settings.silence_ppm) {
            self.tally.silences += 1;
            session.hold = hold(settings.silence, usize::MAX);
        } else if self.happens(settings.delay_ppm) {
            self.tally.delayed += 1;
            let span = self.random.next_u64() % (settings.delay_max.as_nanos() + 1);
            session.hold = hold(Duration::from_nanos(span), usize::MAX);
        } else if self.happens(settings.coalesce_ppm) {
            self.tally.coalesced += 1;
            session.hold = hold(PATIENCE, waiting);
        } else if self.happens(settings.split_ppm) {
            self.tally.split += 1;
            let undecided = waiting - session.allowed;
            session.allowed += self.random.next_u32() as usize % undecided;
            session.hold = hold(MOMENT, usize::MAX);
        } else {
            session.allowed = waiting;
        }
    }
}

impl Hold {
    pub(super) fn until(&self) -> Instant {
        self.until
    }
}
