//! Probes of peers that owe an answer.

use hairpin_time::{Duration, Instant};

use super::Socket;
use crate::pool::NIL;
use crate::{Event, timestamp};

/// The interval between probes of a peer that was reported as unreachable.
const UNREACHABLE_INTERVAL: Duration = Duration::from_secs(1);
/// The time after which transmission times are renewed, before they wrap.
pub(super) const RENEW_AFTER: Duration = Duration::from_secs(60);
/// The most that timestamps run ahead of the clock.
pub(super) const AHEAD_MAX: Duration = Duration::from_secs(1);

impl Socket {
    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has something to do.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.wheel.next_deadline()
    }

    /// Processes expired deadlines: peers whose answer is late are probed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.process_deferred();
        while let Some(index) = self.wheel.pop(now) {
            let peer = self.peers.peer_mut(index);
            if !peer.is_waiting() {
                continue;
            }
            let deadline = peer.deadline;
            if now < deadline {
                self.wheel.schedule(now, index, deadline);
                continue;
            }
            self.probe(now, index);
        }
    }

    fn probe(&mut self, now: Instant, index: u32) {
        let unreachable_after = self.config.unreachable_after;
        self.resend_tail(index);
        let peer = self.peers.peer_mut(index);
        peer.probe_due = peer.send.lost == 0;
        peer.is_probed_early = false;
        peer.probes = peer.probes.saturating_add(1);
        let waited = now.saturating_since(peer.waiting_since);
        let is_unreachable = unreachable_after.is_some_and(|limit| waited >= limit);
        let interval = match peer.is_reported_unreachable {
            true => UNREACHABLE_INTERVAL,
            false => peer.round_trip.backoff(peer.probes),
        };
        peer.deadline = now + interval;
        let (deadline, address) = (peer.deadline, peer.address);
        let is_new = is_unreachable && !peer.is_reported_unreachable;
        peer.is_reported_unreachable |= is_unreachable;
        if now >= peer.renew_at {
            self.renew_transmission_times(now, index);
        }
        self.wheel.schedule(now, index, deadline);
        self.make_ready(index);
        if is_new {
            self.counters.peers_unreachable += 1;
            self.report(Event::Unreachable(address));
        }
    }

    /// Marks the last packet for retransmission, in place of the first probe, as RFC 8985, 7.3
    /// does: it repairs the loss of a last packet one round trip earlier than a probe, and requests
    /// an acknowledgment as a probe does.
    fn resend_tail(&mut self, index: u32) {
        let peer = self.peers.peer_mut(index);
        let send = &mut peer.send;
        let is_first = peer.probes == 0 && send.lost == 0;
        let is_established = peer.incarnation != 0 && !send.congested;
        if !is_first || !is_established || send.in_flight == 0 || send.unsent != NIL {
            return;
        }
        let slot = self.send_pool.slot_mut(send.queue.tail);
        if !slot.received {
            slot.lost = true;
            send.lost += 1;
        }
    }

    fn renew_transmission_times(&mut self, now: Instant, index: u32) {
        let peer = self.peers.peer_mut(index);
        peer.renew_at = now + RENEW_AFTER;
        let (mut buffer, end) = (peer.send.queue.head, peer.send.unsent);
        let present = timestamp::from_instant(now);
        let limit = timestamp::units(RENEW_AFTER);
        while buffer != end && buffer != NIL {
            let slot = self.send_pool.slot_mut(buffer);
            slot.sent_at = present;
            // No packet was sent in the future, so an age of more than half the range is one: the
            // owner has stalled for minutes. Only bursts run ahead of the clock, by at most 1 s.
            let age = present.wrapping_sub(slot.first_sent_at);
            if (limit..timestamp::units(AHEAD_MAX).wrapping_neg()).contains(&age) {
                slot.first_sent_at = present.wrapping_sub(limit);
            }
            buffer = slot.next;
        }
    }

    /// Starts to wait for an answer: the peer owed none so far, or has just made progress.
    #[inline]
    pub(super) fn start_waiting(&mut self, now: Instant, index: u32) {
        let peer = self.peers.peer_mut(index);
        peer.waiting_since = now;
        peer.probes = 0;
        peer.is_reported_unreachable = false;
        peer.deadline = now + peer.round_trip.timeout();
        let deadline = peer.deadline;
        self.wheel.schedule(now, index, deadline);
    }
}
