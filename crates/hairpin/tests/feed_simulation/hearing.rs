//! The listener of a channel, which forwards each callback to the checker.

use hairpin_mdp3::{
    BookUpdate, ChannelReset, ChannelState, EndOfEvent, Error, Feed, Gap, InstrumentStateChange,
    Listener, Message, OrderBookStateChange, OrderUpdate, Packet, ReplayUpdate, Silence, SyncState,
    Warning,
};
use hairpin_time::Now;

use crate::judge::{Judge, Of};
use crate::trace::trace;
use crate::truth::Truth;

/// The checker during a call of the channel.
pub(crate) struct Hearing<'a> {
    pub(crate) judge: &'a mut Judge,
    pub(crate) truth: &'a Truth,
    pub(crate) now: Now,
}

impl Listener for Hearing<'_> {
    fn on_packet(&mut self, packet: &Packet) {
        let Packet { feed, sequence, sending_time, .. } = *packet;
        match feed {
            Feed::Incremental | Feed::Replay => {
                let fact = self.truth.packet(sequence, sending_time);
                let fact = fact.expect("the channel reported a packet that was never sent");
                self.judge.judge_packet(self.now, fact);
            }
            _ => {
                let as_of = self.truth.pass(feed, sequence, sending_time);
                self.judge.loop_packet = as_of.map(|as_of| (*packet, as_of));
            }
        }
    }

    fn on_message(&mut self, packet: &Packet, message: &Message<'_>) {
        if matches!(packet.feed, Feed::Incremental | Feed::Replay) {
            let (name, template) = (&self.judge.name, message.header.template_id);
            trace!(self.now, "{name}: message {template} of {}", packet.sequence);
        }
    }

    fn on_end_of_packet(&mut self, packet: &Packet) {
        if matches!(packet.feed, Feed::Incremental | Feed::Replay) {
            let last = self.judge.last.expect("the packet's start was reported");
            let name = &self.judge.name;
            assert_eq!(
                self.judge.is_event_ended, last.ends_event,
                "{name}: wrong end of event in packet {:?}",
                last.stamp
            );
        }
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.judge.judge_event(self.now, self.truth, event);
    }

    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let security_id = update.book.security_id();
        let (name, rpt_seq) = (&self.judge.name, update.book.rpt_seq());
        trace!(self.now, "{name}: book of {security_id} {rpt_seq:?} by {:?}", update.source);
        self.judge.note_update(security_id, update.packet, update.source, Of::Prices);
    }

    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        let security_id = update.book.security_id();
        self.judge.note_update(security_id, update.packet, update.source, Of::Orders);
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        let security_id = change.book.security_id();
        trace!(self.now, "{}: {security_id} is {:?}", self.judge.name, change.state);
        let is_in_sync = change.state == SyncState::InSync;
        self.judge.prices.entry(security_id).or_default().note_state(is_in_sync);
    }

    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        let security_id = change.book.security_id();
        trace!(self.now, "{}: orders of {security_id} are {:?}", self.judge.name, change.state);
        let is_in_sync = change.state == SyncState::InSync;
        self.judge.orders.entry(security_id).or_default().note_state(is_in_sync);
    }

    fn on_channel_reset(&mut self, reset: &ChannelReset<'_>) {
        trace!(self.now, "{}: reset in {}", self.judge.name, reset.packet.sequence);
        for known in self.judge.prices.values_mut().chain(self.judge.orders.values_mut()) {
            (known.as_of, known.equal) = (None, None);
            known.updates += 1;
        }
        self.judge.census.count("channel resets");
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        trace!(self.now, "{}: the channel is {state:?}", self.judge.name);
        let was_recovering = self.judge.state == Some(ChannelState::Recovering);
        if was_recovering && state == ChannelState::InSync {
            self.judge.census.count("recoveries");
        }
        self.judge.state = Some(state);
    }

    fn on_gap(&mut self, gap: &Gap) {
        let judge = &mut *self.judge;
        assert!(!judge.is_calm, "{}: {gap:?} without a loss", judge.name);
        trace!(self.now, "{}: {gap:?}", judge.name);
        let is_next = judge.expected.is_none_or(|expected| expected == gap.first);
        // The first numbers of a new numbering may also be missing.
        assert!(is_next || gap.first <= judge.expected.unwrap_or(0), "{}: {gap:?}", judge.name);
        judge.expected = Some(gap.first + gap.count);
        judge.gaps.push((*gap, judge.handed_count));
        judge.census.count("gaps");
    }

    fn on_replay(&mut self, update: &ReplayUpdate) {
        trace!(self.now, "{}: {update:?}", self.judge.name);
        self.judge.census.count(match update {
            ReplayUpdate::Requested { .. } => "replays requested",
            ReplayUpdate::Filled { .. } => "replays filled",
            _ => "replays given up",
        });
    }

    fn on_silence(&mut self, silence: &Silence) {
        trace!(self.now, "{}: {silence:?}", self.judge.name);
        self.judge.census.count("feed silences reported");
    }

    fn on_error(&mut self, packet: Option<&Packet>, error: &Error) {
        panic!("{}: {error} in {packet:?}", self.judge.name);
    }

    fn on_warning(&mut self, warning: &Warning) {
        trace!(self.now, "{}: {warning}", self.judge.name);
        let never = matches!(
            warning,
            Warning::PriceChanged { .. }
                | Warning::BeyondDepth { .. }
                | Warning::UnknownTemplate { .. }
                | Warning::NewerVersion { .. }
                | Warning::OversizedPacket { .. }
                | Warning::InstrumentsOverCapacity { .. }
                | Warning::RelatedOverCapacity { .. }
                | Warning::LoopTooLong { .. }
        );
        assert!(!never, "{}: {warning}", self.judge.name);
        self.judge.census.count("warnings");
    }
}
