//! Deadlines.

use hairpin_time::{Duration, Instant};

use super::{Connection, NEVER};
use crate::Reason;

/// The time for which a window may be closed.
const CLOSED: Duration = Duration::from_millis(5);
/// The bytes in flight, and their time, that make a bulk transfer.
const BULK_BYTES: usize = 64 << 10;
const BULK: Duration = Duration::from_millis(100);
/// The longest pause in a bulk transfer: a burst of acknowledgments may leave less in flight.
const BULK_PAUSE: Duration = Duration::from_millis(10);
/// Timeouts in a row after which the kernel continues.
const TIMEOUTS_MAX: u32 = 2;

impl Connection {
    /// Returns the next deadline.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let retransmission = self.timeout_at.min(self.probe_at).min(self.reordering_at);
        let held = self.ack_at.min(self.cork.until);
        let next = retransmission.min(held).min(self.closed_at).min(self.bulk_at);
        (next != NEVER).then_some(next)
    }

    /// Processes expired deadlines. Segments to send follow from
    /// [`poll_transmit`](Self::poll_transmit), handback from [`poll_action`](Self::poll_action).
    pub fn handle_timeout(&mut self, now: Instant) {
        self.catch_up(now);
        if take_expired(&mut self.ack_at, now) {
            self.ack_now = true;
        }
        if take_expired(&mut self.reordering_at, now) {
            self.detect_losses(now);
            self.arm_timers(now);
        }
        if take_expired(&mut self.probe_at, now) {
            self.probe_due = true;
        }
        if take_expired(&mut self.cork.until, now) {
            self.cork.is_expired = true;
        }
        if take_expired(&mut self.timeout_at, now) {
            self.handle_retransmission_timeout(now);
        }
        if take_expired(&mut self.closed_at, now) {
            self.hand_back(Reason::ClosedWindow);
        }
        if take_expired(&mut self.bulk_at, now) && !self.take_bulk_pause(now) {
            self.hand_back(Reason::Bulk);
        }
    }

    /// Sends everything in flight again, one segment first (RFC 6298 §5.4 to 5.6).
    #[cold]
    fn handle_retransmission_timeout(&mut self, now: Instant) {
        if self.is_idle() {
            return;
        }
        self.counters.timeouts += 1;
        self.backoff += 1;
        if self.backoff >= TIMEOUTS_MAX {
            self.hand_back(Reason::Timeouts);
        }
        if self.recovery.is_none() || self.backoff == 1 {
            self.cubic.on_timeout();
        }
        self.scoreboard.lose_all(self.send_unacknowledged);
        self.recovery = Some(self.send_next);
        self.resend_now = true;
        (self.probe, self.probe_due, self.reordering_at) = (None, false, NEVER);
        self.arm_timers(now);
    }

    /// Restarts the retransmission and probe timers after data were sent or acknowledged.
    #[inline]
    pub(super) fn arm_timers(&mut self, now: Instant) {
        if self.is_idle() {
            (self.timeout_at, self.probe_at) = (NEVER, NEVER);
            return;
        }
        self.timeout_at = now + self.rtt.timeout(self.backoff);
        self.arm_probe(now);
    }

    /// Restarts the probe timer after new data were sent; the retransmission timer runs on.
    #[inline]
    pub(super) fn arm_probe(&mut self, now: Instant) {
        if self.timeout_at == NEVER {
            self.timeout_at = now + self.rtt.timeout(self.backoff);
        }
        // A probe is useful only while nothing is known to be lost (RFC 8985 §7.2).
        let probes = self.selective
            && self.recovery.is_none()
            && self.probe.is_none()
            && !self.scoreboard.has_sacked();
        self.probe_at = NEVER;
        if probes {
            let is_delayed = self.in_flight() < 2 * self.payload_max() as usize;
            let at = now + self.rtt.probe_timeout(is_delayed);
            if at < self.timeout_at {
                self.probe_at = at;
            }
        }
    }

    /// Starts or stops the time of a closed window: data wait, nothing is in flight, and the window
    /// does not permit sending.
    #[inline]
    pub(super) fn update_closed(&mut self, now: Instant) {
        let is_closed = self.is_idle() && self.unsent_length() > 0 && !self.window_permits();
        if !is_closed {
            self.closed_at = NEVER;
        } else if self.closed_at == NEVER {
            self.closed_at = now + CLOSED;
        }
    }

    /// Starts or stops the time of a bulk transfer.
    #[inline]
    pub(super) fn update_bulk(&mut self, now: Instant) {
        if self.in_flight() < BULK_BYTES || !self.config.hands_back_bulk {
            if self.bulk_at != NEVER && self.bulk_paused_at.is_none() {
                self.bulk_paused_at = Some(now);
            }
        } else if self.take_bulk_pause(now) || self.bulk_at == NEVER {
            self.bulk_at = now + BULK;
        }
    }

    /// Ends a pause of a bulk transfer. Returns `true` if it was long.
    #[inline]
    fn take_bulk_pause(&mut self, now: Instant) -> bool {
        self.bulk_paused_at.take().is_some_and(|since| now - since > BULK_PAUSE)
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.send_next == self.send_unacknowledged
    }
}

#[inline]
fn take_expired(deadline: &mut Instant, now: Instant) -> bool {
    let is_expired = *deadline <= now;
    if is_expired {
        *deadline = NEVER;
    }
    is_expired
}
