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
    /// The first record of the backlog has passed, though no byte of it may have left.
    has_passed: bool,
}

impl Gate {
    pub(crate) fn new(rates: &Rates) -> Self {
        Self { throttle: Throttle::new(rates), held_until: None, has_passed: false }
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

    /// The same for the first frame of the backlog, which counts once however often it is tried.
    pub(crate) fn first_passes(&mut self, now: Instant, frame: &[u8]) -> bool {
        self.has_passed = self.has_passed || self.passes(now, frame);
        self.has_passed
    }

    /// The first frame of the backlog was let through, or another one is the first now.
    pub(crate) fn set_passed(&mut self, has_passed: bool) {
        self.has_passed = has_passed;
    }

    pub(crate) fn held_until(&self) -> Option<Instant> {
        self.held_until
    }

    /// Nothing waits any more. What has left still counts.
    pub(crate) fn clear(&mut self) {
        (self.held_until, self.has_passed) = (None, false);
    }
}
