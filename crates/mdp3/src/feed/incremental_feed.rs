//! Packets of the incremental feed: each is processed once and in order, whichever side brings it.

use core::cmp::Ordering;

use hairpin_time::Utc;

use crate::feed::arbiter::{Arbiter, Arbitration, Restart, Verdict};
use crate::feed::pending_packet::Aside;
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
        *match packet.side {
            FeedLine::A => &mut counters.packets_a,
            FeedLine::B => &mut counters.packets_b,
        } += 1;
        if !self.arbiter.goes_on(packet.side, packet.header()) {
            self.hear(packet.feed, packet.side, listener);
            let judged = self.arbiter.judge(packet.side, packet.header(), utc);
            return self.handle_judged(judged, packet, messages, listener);
        }
        match packet.sequence.cmp(&self.arbiter.expected()) {
            Ordering::Equal => self.handle_next(packet, messages, listener),
            Ordering::Less => {
                self.market.counters.duplicates += 1;
                if self.lead.is_due(packet.sequence) {
                    self.measure_lead(packet);
                }
            }
            Ordering::Greater => self.handle_ahead(packet, messages, listener),
        }
    }

    #[inline]
    fn handle_next(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        process(&mut self.arbiter, &mut self.market, packet, messages, listener);
        if self.has_more {
            self.do_more(packet, listener);
        }
    }

    /// What follows a packet now and then.
    #[cold]
    fn do_more(&mut self, packet: &Packet, listener: &mut impl Listener) {
        self.lead.note_first(packet);
        self.release_held(listener);
    }

    /// The second copy of a packet came.
    #[cold]
    fn measure_lead(&mut self, packet: &Packet) {
        self.lead.note_second(packet);
        self.has_more |= self.lead.is_waiting();
    }

    #[cold]
    fn handle_judged(
        &mut self,
        judged: Arbitration,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        if let Some(restart) = judged.restart {
            self.restart(restart, listener);
        }
        match judged.verdict {
            Verdict::Next => self.handle_next(packet, messages, listener),
            Verdict::Ahead => self.handle_ahead(packet, messages, listener),
            Verdict::Duplicate => self.market.counters.duplicates += 1,
            Verdict::OlderEpoch => {
                // If a later one shows that its side has restarted, it was the other side's before.
                self.aside.packet = None;
                self.market.counters.older_epoch_packets += 1;
            }
            Verdict::Doubtful => {
                self.aside.set(packet, messages);
                self.warn_doubtful(packet, listener);
            }
            Verdict::Confirms => self.handle_confirmed(packet, messages, listener),
        }
        if judged.restart.is_some() {
            self.recall_aside(packet, listener);
        }
    }

    /// A packet has begun a numbering: one that follows it may have come before it on its side,
    /// and been set aside for that.
    #[cold]
    fn recall_aside(&mut self, first: &Packet, listener: &mut impl Listener) {
        let window = self.market.settings.reorder_packets;
        let follows = |aside: &Packet| {
            aside.side == first.side
                && aside.sequence > first.sequence
                && ((aside.sequence - first.sequence) as usize) < window
                && aside.sending_time >= first.sending_time
        };
        if !self.aside.packet.as_ref().is_some_and(follows) {
            return;
        }
        let aside = core::mem::take(&mut self.aside);
        if let Some(packet) = aside.packet {
            self.arbiter.forget_doubtful();
            let judged = self.arbiter.settle(packet.side, packet.header());
            self.handle_judged(judged, &packet, &aside.bytes[..aside.length], listener);
        }
        self.aside = Aside { packet: None, ..aside };
    }

    /// A packet shows that the one set aside was no stray: both count, one after the other.
    #[cold]
    fn handle_confirmed(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        let aside = core::mem::take(&mut self.aside);
        if let Some(first) = aside.packet {
            let judged = self.arbiter.settle(first.side, first.header());
            self.handle_judged(judged, &first, &aside.bytes[..aside.length], listener);
        }
        self.aside = Aside { packet: None, ..aside };
        let judged = self.arbiter.settle(packet.side, packet.header());
        self.handle_judged(judged, packet, messages, listener);
    }

    /// The numbering has restarted: what is held is of the old one.
    #[cold]
    fn restart(&mut self, restart: Restart, listener: &mut impl Listener) {
        self.end_replay(ReplayFailure::Restarted, listener);
        self.replay.forget();
        self.market.counters.abandoned_packets += self.holding.clear() as u64;
        self.hole_deadline = None;
        self.lead.restart();
        self.has_more = false;
        self.market.restart(restart == Restart::AfterReset, listener);
        self.market.settle_state(listener);
    }
}

/// Processes the packet that is next, which one of the sides has delivered.
#[inline]
pub(crate) fn process(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    *match packet.side {
        FeedLine::A => &mut market.counters.first_a,
        FeedLine::B => &mut market.counters.first_b,
    } += 1;
    take(arbiter, market, packet, messages, listener);
}

/// Processes the packet that is next, which replay has delivered.
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
    take(arbiter, market, packet, messages, listener);
}

/// Processes the packet that is next, wherever it came from.
#[inline(always)]
fn take(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    if market.floor == u32::MAX {
        market.begin(packet.sequence, listener);
    }
    market.process_incremental(packet, messages, listener);
    if market.was_reset {
        market.was_reset = false;
        arbiter.note_reset(packet.sequence);
    }
    arbiter.advance_to(packet.sequence.wrapping_add(1));
    market.settle_state(listener);
}
