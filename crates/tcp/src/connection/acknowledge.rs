//! Acknowledgments from the peer: what arrived, what is lost, and the peer's window.

use hairpin_time::{Duration, Instant};

use super::{Connection, NEVER};
use crate::scoreboard::Delivered;
use crate::segment::Segment;
use crate::sequence::is_before;

/// The part of a segment that acknowledges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acknowledgment {
    /// The time of its arrival.
    at: Instant,
    sequence: u32,
    number: u32,
    /// The window before scaling.
    window: u16,
}

impl Acknowledgment {
    #[inline]
    pub(super) fn new(at: Instant, segment: &Segment<'_>) -> Self {
        let Segment { sequence, acknowledgment: number, window, .. } = *segment;
        Self { at, sequence, number, window }
    }
}

impl Connection {
    /// Processes an acceptable acknowledgment and the blocks that were received with it.
    #[inline]
    pub(super) fn acknowledge(&mut self, acknowledgment: Acknowledgment, blocks: &[(u32, u32)]) {
        let is_new = is_before(self.send_unacknowledged, acknowledgment.number);
        if is_new || !blocks.is_empty() {
            self.deliver_sent(&acknowledgment, blocks, is_new);
        }
        if !is_before(acknowledgment.number, self.send_unacknowledged) {
            self.update_window(&acknowledgment);
        }
    }

    #[inline]
    fn deliver_sent(
        &mut self,
        acknowledgment: &Acknowledgment,
        blocks: &[(u32, u32)],
        is_new: bool,
    ) {
        let (now, number) = (acknowledgment.at, acknowledgment.number);
        let before = self.scoreboard.pipe(self.send_unacknowledged);
        let minimum = self.rtt.minimum();
        let mut delivered = Delivered::default();
        if is_new {
            let (from, to) = (self.send_unacknowledged, number);
            self.scoreboard.acknowledge(now, from, to, minimum, &mut delivered);
            self.send_unacknowledged = to;
            self.backoff = 0;
        }
        if self.selective {
            for &block in blocks {
                let from = self.send_unacknowledged;
                self.scoreboard.sack(now, from, block, minimum, &mut delivered);
            }
        }
        if let Some(round_trip) = delivered.round_trip.filter(|_| !delivered.resent) {
            self.rtt.add(now, round_trip);
        }
        self.end_probe(number, &delivered);
        if self.recovery.is_some_and(|end| !is_before(self.send_unacknowledged, end)) {
            self.recovery = None;
        }
        self.detect_losses(now);
        let was_limited = before + self.payload_max() > self.cubic.window() / 2;
        let grows = self.recovery.is_none() || self.cubic.is_slow_start();
        if grows && is_new && was_limited {
            let round_trip = self.rtt.smoothed().unwrap_or(Duration::ZERO);
            self.cubic.on_ack(now, delivered.bytes, round_trip);
        }
        self.arm_timers(now);
        self.update_bulk(now);
    }

    /// Ends an episode of a tail loss probe (RFC 8985 §7.4). If the probe repeated data and no
    /// duplicate was reported, it repaired a loss.
    fn end_probe(&mut self, acknowledgment: u32, delivered: &Delivered) {
        let Some((end, was_repeated)) = self.probe else { return };
        if is_before(acknowledgment, end) {
            return;
        }
        self.probe = None;
        if was_repeated && !delivered.duplicate && self.recovery.is_none() && self.selective {
            self.cubic.on_loss();
            self.counters.losses += 1;
        }
    }

    /// Runs RACK, and enters recovery if something is lost.
    pub(super) fn detect_losses(&mut self, now: Instant) {
        let in_recovery = self.recovery.is_some();
        let (from, minimum) = (self.send_unacknowledged, self.rtt.minimum());
        let may_be_lost_at = self.scoreboard.detect_losses(now, from, minimum, in_recovery);
        self.reordering_at = may_be_lost_at.unwrap_or(NEVER);
        if self.scoreboard.has_lost() && !in_recovery {
            self.recovery = Some(self.send_next);
            self.cubic.on_loss();
            self.counters.losses += 1;
            self.resend_now = true;
        }
    }

    /// Updates the peer's window (RFC 9293 §3.10.7.4).
    #[inline]
    fn update_window(&mut self, acknowledgment: &Acknowledgment) {
        let Acknowledgment { at, sequence, number, window } = *acknowledgment;
        let (last_sequence, last_number) = self.window_update;
        let is_newer = is_before(last_sequence, sequence)
            || last_sequence == sequence && !is_before(number, last_number);
        if is_newer {
            self.window_update = (sequence, number);
            self.send_window = u32::from(window) << self.send_scale;
            self.send_window_max = self.send_window_max.max(self.send_window);
        }
        self.update_closed(at);
    }
}
