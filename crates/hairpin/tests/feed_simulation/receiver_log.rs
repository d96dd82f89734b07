//! The listener of a channel, which forwards each callback to the checker.

use hairpin_mdp3::{
    BookUpdate, ChannelReset, ChannelState, EndOfEvent, Error, EventEnd, Feed, Gap,
    InstrumentStateChange, Listener, Message, OrderBookStateChange, OrderUpdate, Packet,
    ReplayUpdate, Silence, SyncState, Warning,
};
use hairpin_netsim::trace;
use hairpin_time::Now;

use crate::checker::{BookKind, Checker};
use crate::expected_state::ExpectedState;

/// The checker during a call of the channel.
pub(crate) struct ReceiverLog<'a> {
    pub(crate) checker: &'a mut Checker,
    pub(crate) expected_state: &'a ExpectedState,
    pub(crate) now: Now,
}

impl Listener for ReceiverLog<'_> {
    fn on_packet(&mut self, packet: &Packet) {
        let Packet { feed, sequence, sending_time, .. } = *packet;
        match feed {
            Feed::Incremental | Feed::Replay => {
                let packet_record = self.expected_state.packet(sequence, sending_time);
                let packet_record =
                    packet_record.expect("the channel reported a packet that was never sent");
                self.checker.check_packet(self.now, packet_record);
            }
            _ => {
                let as_of = self.expected_state.pass(feed, sequence, sending_time);
                self.checker.loop_packet = as_of.map(|as_of| (*packet, as_of));
            }
        }
    }

    fn on_message(&mut self, packet: &Packet, message: &Message<'_>) {
        if matches!(packet.feed, Feed::Incremental | Feed::Replay) {
            let (name, template) = (&self.checker.name, message.header.template_id);
            trace!(self.now, "{name}: message {template} of {}", packet.sequence);
        } else {
            self.checker.record_loop_message(message);
        }
    }

    fn on_end_of_packet(&mut self, packet: &Packet) {
        if matches!(packet.feed, Feed::Incremental | Feed::Replay) {
            let last = self.checker.last.expect("the packet's start was reported");
            let name = &self.checker.name;
            assert_eq!(
                self.checker.is_event_ended, last.ends_event,
                "{name}: wrong end of event in packet {:?}",
                last.position
            );
        }
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        if event.end == EventEnd::Gap {
            assert!(event.changed().next().is_none(), "no book is in sync after a gap");
            return;
        }
        self.checker.check_event(self.now, self.expected_state, event);
    }

    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let security_id = update.book.security_id();
        let (name, rpt_seq) = (&self.checker.name, update.book.rpt_seq());
        trace!(self.now, "{name}: book of {security_id} {rpt_seq:?} by {:?}", update.source);
        self.checker.record_update(security_id, update.packet, update.source, BookKind::Prices);
    }

    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        let security_id = update.book.security_id();
        self.checker.record_update(security_id, update.packet, update.source, BookKind::Orders);
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        let security_id = change.book.security_id();
        trace!(self.now, "{}: {security_id} is {:?}", self.checker.name, change.state);
        let is_in_sync = change.state == SyncState::InSync;
        self.checker.prices.entry(security_id).or_default().record_state(is_in_sync);
    }

    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        let security_id = change.book.security_id();
        trace!(self.now, "{}: orders of {security_id} are {:?}", self.checker.name, change.state);
        let is_in_sync = change.state == SyncState::InSync;
        self.checker.orders.entry(security_id).or_default().record_state(is_in_sync);
    }

    fn on_channel_reset(&mut self, reset: &ChannelReset<'_>) {
        trace!(self.now, "{}: reset in {}", self.checker.name, reset.packet.sequence);
        for book_status in self.checker.prices.values_mut().chain(self.checker.orders.values_mut())
        {
            (book_status.as_of, book_status.equal) = (None, None);
            book_status.updates += 1;
        }
        self.checker.census.count("channel resets");
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        trace!(self.now, "{}: the channel is {state:?}", self.checker.name);
        let was_recovering = self.checker.state == Some(ChannelState::Recovering);
        if was_recovering && state == ChannelState::InSync {
            self.checker.census.count("recoveries");
        }
        self.checker.state = Some(state);
    }

    fn on_gap(&mut self, gap: &Gap) {
        let checker = &mut *self.checker;
        assert!(!checker.forbids_gaps, "{}: {gap:?} without a loss", checker.name);
        trace!(self.now, "{}: {gap:?}", checker.name);
        let is_next = checker.expected.is_none_or(|expected| expected == gap.first);
        // The first numbers of a new numbering may also be missing.
        assert!(is_next || gap.first <= checker.expected.unwrap_or(0), "{}: {gap:?}", checker.name);
        checker.expected = Some(gap.first + gap.count);
        checker.gaps.push((*gap, checker.passed_count));
        checker.census.count("gaps");
    }

    fn on_replay(&mut self, update: &ReplayUpdate) {
        trace!(self.now, "{}: {update:?}", self.checker.name);
        self.checker.census.count(match update {
            ReplayUpdate::Requested { .. } => "replays requested",
            ReplayUpdate::Filled { .. } => "replays filled",
            _ => "replays given up",
        });
    }

    fn on_silence(&mut self, silence: &Silence) {
        trace!(self.now, "{}: {silence:?}", self.checker.name);
        self.checker.census.count("feed silences reported");
    }

    fn on_error(&mut self, packet: Option<&Packet>, error: &Error) {
        panic!("{}: {error} in {packet:?}", self.checker.name);
    }

    fn on_warning(&mut self, warning: &Warning) {
        trace!(self.now, "{}: {warning}", self.checker.name);
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
        assert!(!never, "{}: {warning}", self.checker.name);
        self.checker.census.count("warnings");
    }
}
