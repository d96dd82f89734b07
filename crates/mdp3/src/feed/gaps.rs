//! Gaps in the incremental feed. Packets after a gap are buffered until it is filled or declared
//! lost.

use hairpin_time::Instant;

use crate::feed::incremental_feed::{process, process_replayed};
use crate::recovery::tcp_replay::ReplayFailure;
use crate::{Channel, Feed, Gap, Listener, Packet, Warning};

impl Channel {
    /// Handles a packet that arrived before its predecessors. It is buffered unless the window is
    /// full. If it is full, the oldest gaps are requested by replay, which widens the window, or
    /// declared lost, until the packet fits or is next.
    #[cold]
    pub(crate) fn handle_ahead(
        &mut self,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        loop {
            let expected = self.arbiter.expected();
            if packet.sequence < expected {
                // It was buffered already and has just been processed from the buffer.
                self.market.counters.duplicates += 1;
                return;
            }
            if packet.sequence == expected {
                process(&mut self.arbiter, &mut self.market, packet, messages, listener);
                return self.release_buffered(listener);
            }
            if self.has_room(expected, packet.sequence, messages.len()) {
                return self.buffer_packet(packet, messages);
            }
            let is_oversized = messages.len() > self.market.settings.max_packet;
            if is_oversized {
                let warning = Warning::OversizedPacket { length: messages.len() };
                self.market.warn(&warning, listener);
            }
            if self.replay.is_active() {
                self.end_replay(ReplayFailure::BufferFull, listener);
            } else if !is_oversized
                && self.request_replay(packet.handed_over, Some(packet.sequence), listener)
            {
                continue;
            }
            self.declare_gap(Some(packet.sequence), listener);
        }
    }

    /// Returns `true` if a packet ahead can be buffered: within the reorder window or, during a
    /// replay, wherever there is memory.
    fn has_room(&self, expected: u32, sequence: u32, length: usize) -> bool {
        let is_near = ((sequence - expected) as usize) < self.market.settings.reorder_packets;
        (is_near || self.replay.is_active())
            && self.reorder_buffer.has_room(expected, sequence, length)
    }

    fn buffer_packet(&mut self, packet: &Packet, messages: &[u8]) {
        self.followup_pending = true;
        if self.reorder_buffer.insert(*packet, messages) {
            self.market.counters.held_packets += 1;
        } else {
            self.market.counters.duplicates += 1;
        }
        if self.gap_deadline.is_none() && !self.replay.is_active() {
            self.gap_deadline = Some(packet.handed_over + self.market.settings.reorder_wait);
        }
    }

    /// Returns the first available packet after the gap: the lowest buffered, or `sequence` if
    /// lower.
    pub(crate) fn end_of_gap(&self, sequence: Option<u32>) -> Option<u32> {
        let held = self.reorder_buffer.lowest_sequence(self.arbiter.expected());
        held.into_iter().chain(sequence).min()
    }

    /// Requests overdue gaps by replay, or declares them lost.
    pub(crate) fn handle_overdue_gaps(&mut self, now: Instant, listener: &mut impl Listener) {
        while self.gap_deadline.is_some_and(|deadline| deadline <= now) {
            if !self.request_replay(now, None, listener) {
                self.declare_gap(None, listener);
            }
        }
    }

    /// Declares as lost the gap before the lowest buffered packet, or before `sequence` if lower.
    #[cold]
    pub(crate) fn declare_gap(&mut self, sequence: Option<u32>, listener: &mut impl Listener) {
        let expected = self.arbiter.expected();
        let Some(next) = self.end_of_gap(sequence) else {
            self.gap_deadline = None;
            return;
        };
        let gap = Gap { first: expected, count: next - expected };
        self.market.counters.gaps += 1;
        self.market.counters.missed_packets += u64::from(gap.count);
        listener.on_gap(&gap);
        self.market.mark_all_suspect(gap.count, next, listener);
        self.market.update_state(listener);
        self.arbiter.advance_to(next);
        self.release_buffered(listener);
    }

    /// Processes the buffered packets that have become next.
    #[cold]
    pub(crate) fn release_buffered(&mut self, listener: &mut impl Listener) {
        let Self { arbiter, reorder_buffer, market, .. } = self;
        while let Some((packet, messages)) = reorder_buffer.remove(arbiter.expected()) {
            if packet.feed == Feed::Replay {
                process_replayed(arbiter, market, &packet, messages, listener);
            } else {
                process(arbiter, market, &packet, messages, listener);
            }
        }
        self.followup_pending = !self.reorder_buffer.is_empty() || self.feed_skew.is_waiting();
        self.end_if_filled(listener);
        if self.replay.is_active() {
            return;
        }
        let expected = self.arbiter.expected();
        self.gap_deadline = self
            .reorder_buffer
            .lowest_sequence(expected)
            .and_then(|lowest| self.reorder_buffer.handed_over_at(lowest))
            .map(|handed_over| handed_over + self.market.settings.reorder_wait);
    }
}
