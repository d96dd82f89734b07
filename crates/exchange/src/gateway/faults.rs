//! Injected faults of the gateway, reproducible by seed.
//!
//! Messages are dropped or sent twice, or their numbers are skipped. Writes are delayed, split,
//! coalesced or suspended for a time. Connections are refused or cut. The same seed and the same
//! calls give the same faults. Without faults, no code of this module runs.

use hairpin_time::{Duration, Instant, Now};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::session::Session;

/// The delay of the second part of a split write.
const SPLIT_DELAY: Duration = Duration::from_micros(1);

/// The maximum time for which a write waits to be coalesced with the next one.
const COALESCE_TIMEOUT: Duration = Duration::from_millis(20);

/// The faults to inject. Probabilities are in parts per million.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct GatewayFaults {
    /// The seed of all random decisions.
    pub seed: u64,
    /// Per business message: it gets its number and is stored, but is not sent.
    pub drop_ppm: u32,
    /// Per business message: it is sent twice.
    pub double_ppm: u32,
    /// Per business message: the number before its own is skipped.
    pub skip_ppm: u32,
    /// Per write: it is sent up to `delay_max` later.
    pub delay_ppm: u32,
    /// The maximum delay.
    pub delay_max: Duration,
    /// Per write: a part of the bytes is sent at once, the rest 1 µs later.
    pub split_ppm: u32,
    /// Per write: it is sent together with the next one, or after 20 ms.
    pub coalesce_ppm: u32,
    /// Per write: nothing is sent for `silence`, not even heartbeats.
    pub silence_ppm: u32,
    /// The duration of a silence.
    pub silence: Duration,
    /// Per write: the connection is closed instead.
    pub cut_ppm: u32,
    /// Per connection: it is refused.
    pub refuse_ppm: u32,
}

/// The counts of injected faults.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct GatewayFaultTally {
    /// Business messages not sent.
    pub dropped: u64,
    /// Business messages sent twice.
    pub doubled: u64,
    /// Sequence numbers skipped.
    pub skipped: u64,
    /// Writes delayed.
    pub delayed: u64,
    /// Writes split.
    pub split: u64,
    /// Writes sent together with the next one, or held for one.
    pub coalesced: u64,
    /// Silences started.
    pub silences: u64,
    /// Connections cut.
    pub cut: u64,
    /// Connections refused.
    pub refused: u64,
}

/// The decision about a business message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Send,
    Drop,
    Duplicate,
}

impl Decision {
    /// Returns the number of times the message is sent.
    pub(super) const fn copies(self) -> u8 {
        match self {
            Self::Drop => 0,
            Self::Send => 1,
            Self::Duplicate => 2,
        }
    }
}

/// A write that is held back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    until: Instant,
    /// The write is released early once more bytes than this are pending.
    release_above: usize,
}

/// The fault injector of a gateway.
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

    pub(super) fn end(&mut self) {
        self.settings = GatewayFaults::default();
    }

    fn draw(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.random.next_u32() % 1_000_000 < ppm
    }

    pub(super) fn refuses_connection(&mut self) -> bool {
        let refuses = self.draw(self.settings.refuse_ppm);
        self.tally.refused += u64::from(refuses);
        refuses
    }

    pub(super) fn skips_number(&mut self) -> bool {
        let skips = self.draw(self.settings.skip_ppm);
        self.tally.skipped += u64::from(skips);
        skips
    }

    pub(super) fn decide_message(&mut self) -> Decision {
        if self.draw(self.settings.drop_ppm) {
            self.tally.dropped += 1;
            Decision::Drop
        } else if self.draw(self.settings.double_ppm) {
            self.tally.doubled += 1;
            Decision::Duplicate
        } else {
            Decision::Send
        }
    }

    /// Decides about the bytes of a session written since the last decision.
    pub(super) fn handle_written(&mut self, now: Now, session: &mut Session) {
        let pending = session.outbound.bytes().len();
        if pending <= session.sendable_length {
            return;
        }
        match session.hold {
            Some(hold) if now.monotonic < hold.until && pending <= hold.release_above => {}
            Some(_) => {
                session.hold = None;
                session.sendable_length = pending;
            }
            None => self.decide_write(now, session, pending),
        }
    }

    fn decide_write(&mut self, now: Now, session: &mut Session, pending: usize) {
        let settings = self.settings;
        let hold = |span, release_above| Some(Hold { until: now.monotonic + span, release_above });
        if self.draw(settings.cut_ppm) {
            self.tally.cut += 1;
            session.outbound.clear();
            session.close(now);
        } else if self.draw(settings.silence_ppm) {
            self.tally.silences += 1;
            session.hold = hold(settings.silence, usize::MAX);
        } else if self.draw(settings.delay_ppm) {
            self.tally.delayed += 1;
            let span = self.random.next_u64() % (settings.delay_max.as_nanos() + 1);
            session.hold = hold(Duration::from_nanos(span), usize::MAX);
        } else if self.draw(settings.coalesce_ppm) {
            self.tally.coalesced += 1;
            session.hold = hold(COALESCE_TIMEOUT, pending);
        } else if self.draw(settings.split_ppm) {
            self.tally.split += 1;
            let undecided = pending - session.sendable_length;
            session.sendable_length += self.random.next_u32() as usize % undecided;
            session.hold = hold(SPLIT_DELAY, usize::MAX);
        } else {
            session.sendable_length = pending;
        }
    }
}

impl Hold {
    pub(super) fn until(&self) -> Instant {
        self.until
    }
}
