//! The send throttle: records wait until the rate limit permits them.

use hairpin_cme_codecs::ilink3::PartyDetailsDefinitionRequest518;
use hairpin_ilink3::{MessageClass, Rates, Throttle};
use hairpin_time::Instant;

use crate::journal_record;

/// The rate limit that a record must pass before its first byte is written.
#[derive(Debug)]
pub(crate) struct SendThrottle {
    throttle: Throttle,
    /// The time at which the front record of the queue may be sent, if it must wait.
    held_until: Option<Instant>,
    /// The number of records at the front of the queue that have passed the limit, but may not be
    /// written.
    passed: usize,
}

impl SendThrottle {
    pub(crate) fn new(rates: &Rates) -> Self {
        Self { throttle: Throttle::new(rates), held_until: None, passed: 0 }
    }

    /// Returns `true` and counts the frame if it may be sent now. Only business messages are
    /// limited. Party details pass only if the frame after them, `next`, may be sent now too.
    pub(crate) fn admits(&mut self, now: Instant, frame: &[u8], next: Option<&[u8]>) -> bool {
        let Some(class) = class_of(frame) else { return true };
        self.held_until = self.throttle.blocked_until(class, now);
        if is_party_details(frame)
            && let Some(next) = next.and_then(class_of)
        {
            let count = 1 + u32::from(next == class);
            let both = self.throttle.blocked_until_nth(next, count, now);
            // A limit of one message never has room for both.
            self.held_until = self.held_until.max(both.filter(|&until| until < Instant::MAX));
        }
        if self.held_until.is_none() {
            self.throttle.record(class, now);
        }
        self.held_until.is_none()
    }

    /// Returns `true` if the queued frame at index `before` may be sent now. All frames before it
    /// must have passed. A frame counts once, however often this is called.
    pub(crate) fn admits_nth(
        &mut self,
        before: usize,
        now: Instant,
        frame: &[u8],
        next: Option<&[u8]>,
    ) -> bool {
        if before == self.passed && self.admits(now, frame, next) {
            self.passed += 1;
        }
        before < self.passed
    }

    /// Marks the only queued frame as passed: it was admitted before it was queued.
    pub(crate) fn mark_front_passed(&mut self) {
        self.passed = 1;
    }

    /// Removes frames that are completely written from the front.
    pub(crate) fn remove_written(&mut self, frames: usize) {
        self.passed = self.passed.saturating_sub(frames);
    }

    /// Returns the time at which the front frame may be sent, or `None` if the limit does not hold
    /// it.
    pub(crate) fn held_until(&self) -> Option<Instant> {
        self.held_until.filter(|_| self.passed == 0)
    }

    /// Forgets all queued frames. Frames that were sent still count.
    pub(crate) fn clear(&mut self) {
        (self.held_until, self.passed) = (None, 0);
    }
}

/// Returns the class of a business message's frame.
fn class_of(frame: &[u8]) -> Option<MessageClass> {
    journal_record::business_template(frame).map(MessageClass::from_template)
}

/// Returns `true` if a whole frame is a PartyDetailsDefinitionRequest518.
pub(crate) fn is_party_details(frame: &[u8]) -> bool {
    let template_id = journal_record::business_template(frame);
    template_id == Some(PartyDetailsDefinitionRequest518::TEMPLATE_ID)
}
