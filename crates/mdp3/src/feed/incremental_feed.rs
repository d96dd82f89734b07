//! The incremental feed: each packet is processed once and in order. The first copy on either line
//! counts.

use core::cmp::Ordering;

use hairpin_time::Utc;

use crate::feed::arbiter::{Arbiter, Arbitration, Restart, Verdict};
use crate::feed::pending_packet::PendingPacket;
use crate::market::Market;
use crate::recovery::tcp_replay::ReplayFailure;
use crate::{Channel, FeedLine, Listener, Packet};

impl Channel {
    #[inline]
    pub(crate) fn handle_incremental(
        &mut self,
        utc: Utc,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        let counters = &mut self.market.counters;
        *match packet.line {
            FeedLine::A => &mut counters.packets_a,
            FeedLine::B => &mut counters.packets_b,
        } += 1;
        if !self.arbiter.advance_if_next(packet.line, packet.header()) {
            self.end_silence(packet.feed, packet.line, listener);
            let arbitration = self.arbiter.judge(packet.line, packet.header(), utc);
            return self.handle_arbitration(arbitration, packet, messages, listener);
        }
        match self.arbiter.compare(packet.sequence) {
            Ordering::Equal => self.handle_next(packet, messages, listener),
            Ordering::Less => {
                self.market.counters.duplicates += 1;
                if self.feed_skew.is_sample_due(packet.sequence) {
                    self.measure_feed_skew(packet);
                }
            }
            Ordering::Greater => self.handle_ahead(packet, messages, listener),
        }
    }

    #[inline]
    fn handle_next(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        process(&mut self.arbiter, &mut self.market, packet, messages, listener);
        if self.followup_pending {
            self.run_followup(packet, listener);
        }
    }

    /// Does the rare work after a packet: records it for the feed skew and releases buffered
    /// packets.
    #[cold]
    fn run_followup(&mut self, packet: &Packet, listener: &mut impl Listener) {
        self.feed_skew.record_first_copy(packet);
        self.release_buffered(listener);
    }

    /// Records the second copy of a packet.
    #[cold]
    fn measure_feed_skew(&mut self, packet: &Packet) {
        self.feed_skew.record_second_copy(packet);
        self.followup_pending |= self.feed_skew.is_waiting();
    }

    #[cold]
    fn handle_arbitration(
        &mut self,
        arbitration: Arbitration,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        if let Some(restart) = arbitration.restart {
            self.restart(restart, listener);
        }
        match arbitration.verdict {
            Verdict::Next => self.handle_next(packet, messages, listener),
            Verdict::Ahead => self.handle_ahead(packet, messages, listener),
            Verdict::Duplicate => self.market.counters.duplicates += 1,
            Verdict::OlderEpoch => {
                // If a later packet confirms that this line has restarted, the other line has
                // already delivered this one.
                self.pending.packet = None;
                self.market.counters.older_epoch_packets += 1;
            }
            Verdict::Suspect => {
                self.pending.set(packet, messages);
                self.warn_suspect(packet, listener);
            }
            Verdict::Confirms => self.handle_confirmed(packet, messages, listener),
        }
        if arbitration.restart.is_some() {
            self.recall_pending(packet, listener);
        }
    }

    /// Processes the pending packet if it follows `first`, which started an epoch: on the same line
    /// it may have arrived before `first` and become suspect for that reason.
    #[cold]
    fn recall_pending(&mut self, first: &Packet, listener: &mut impl Listener) {
        let window = self.market.settings.reorder_packets;
        let follows = |pending: &Packet| {
            pending.line == first.line
                && pending.sequence > first.sequence
                && ((pending.sequence - first.sequence) as usize) < window
                && pending.sending_time >= first.sending_time
        };
        if !self.pending.packet.as_ref().is_some_and(follows) {
            return;
        }
        let pending = core::mem::take(&mut self.pending);
        if let Some(packet) = pending.packet {
            self.arbiter.clear_suspect();
            let arbitration = self.arbiter.accept(packet.line, packet.header());
            self.handle_arbitration(
                arbitration,
                &packet,
                &pending.bytes[..pending.length],
                listener,
            );
        }
        self.pending = PendingPacket { packet: None, ..pending };
    }

    /// Processes the pending packet and the one that confirms it, in this order.
    #[cold]
    fn handle_confirmed(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        let pending = core::mem::take(&mut self.pending);
        if let Some(first) = pending.packet {
            let arbitration = self.arbiter.accept(first.line, first.header());
            self.handle_arbitration(
                arbitration,
                &first,
                &pending.bytes[..pending.length],
                listener,
            );
        }
        self.pending = PendingPacket { packet: None, ..pending };
        let arbitration = self.arbiter.accept(packet.line, packet.header());
        self.handle_arbitration(arbitration, packet, messages, listener);
    }

    /// Restarts packet numbering: buffered packets belong to the old epoch.
    #[cold]
    fn restart(&mut self, restart: Restart, listener: &mut impl Listener) {
        self.end_replay(ReplayFailure::Restarted, listener);
        self.replay.reset();
        self.market.counters.abandoned_packets += self.reorder_buffer.clear() as u64;
        self.gap_deadline = None;
        self.feed_skew.restart();
        self.followup_pending = false;
        self.market.restart_numbering(restart != Restart::Unannounced, listener);
        self.market.update_state(listener);
    }
}

/// Processes the next packet, delivered by one of the lines.
#[inline]
pub(crate) fn process(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    *match packet.line {
        FeedLine::A => &mut market.counters.first_a,
        FeedLine::B => &mut market.counters.first_b,
    } += 1;
    process_in_order(arbiter, market, packet, messages, listener);
}

/// Processes the next packet, delivered by TCP replay.
#[cold]
#[inline(never)]
pub(crate) fn process_replayed(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    market.counters.replayed_packets += 1;
    process_in_order(arbiter, market, packet, messages, listener);
}

/// Processes the next packet, whatever its source.
#[inline(always)]
fn process_in_order(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    if !market.begun {
        market.begin_stream(packet, listener);
    }
    market.process_incremental(packet, messages, listener);
    if market.reset_seen {
        market.reset_seen = false;
        arbiter.record_reset(packet.sequence);
    }
    arbiter.advance_past(packet.sequence);
    market.update_state(listener);
}
