//! Committed records that are held back until the limit lets them leave.

use hairpin_ilink3::{MessageClass, Rates, Throttle};
use hairpin_time::Instant;

use crate::record;

/// What a record has to pass before its first byte leaves.
#[derive(Debug)]
pub(crate) struct Gate {
    throttle: Throttle,
    /// When the first record of the backlog may leave, if it may not yet.
    held_until: Option<Instant>,
    /// How many of the first records of the backlog have passed, though no byte of them may have
    /// left.
    passed: usize,
}

impl Gate {
    pub(crate) fn new(rates: &Rates) -> Self {
        Self { throttle: Throttle::new(rates), held_until: None, passed: 0 }
    }

    /// Whether a frame may leave; if it may, it counts. Only business messages are limited.
    pub(crate) fn passes(&mut self, now: Instant, frame: &[u8]) -> bool {
        let Some(template_id) = record::business_template(frame) else { return true };
        let class = MessageClass::of_template(template_id);
        self.held_until = self.throttle.free_at(class, now);
        if self.held_until.is_none() {
            self.throttle.note(class, now);
        }
        self.held_until.is_none()
    }

    /// The same for the frame of the backlog with so many before it, all of which have passed. It
    /// counts once however often it is tried.
    pub(crate) fn nth_passes(&mut self, before: usize, now: Instant, frame: &[u8]) -> bool {
        if before == self.passed && self.passes(now, frame) {
            self.passed += 1;
        }
        before < self.passed
    }

    /// The only frame of the backlog was let through before it came there.
    pub(crate) fn first_has_passed(&mut self) {
        self.passed = 1;
    }

    /// So many of the first frames have left.
    pub(crate) fn left(&mut self, frames: usize) {
        self.passed = self.passed.saturating_sub(frames);
    }

    /// When the first frame of the backlog may leave, unless it is not the limit that holds it.
    pub(crate) fn held_until(&self) -> Option<Instant> {
        self.held_until.filter(|_| self.passed == 0)
    }

    /// Nothing waits any more. What has left still counts.
    pub(crate) fn clear(&mut self) {
        (self.held_until, self.passed) = (None, 0);
    }
}
