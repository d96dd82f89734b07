//! Definitions: from the instrument feed's loop, and one by one on the incremental feed.

use crate::book::levels::{MAX_DEPTH, MAX_IMPLIED_DEPTH};
use crate::feed::loop_tracker::{LoopTracker, Position};
use crate::instrument::definition_decoder::{self, Decoded};
use crate::instrument::instruments::USUAL_IMPLIED_DEPTH;
use crate::instrument::status::InstrumentStatus;
use crate::market::Market;
use crate::recovery::sync_state::State;
use crate::{
    DefinitionAction, DefinitionUpdate, Error, Feed, InstrumentIndex, LateJoin, Listener, Message,
    Messages, Packet, Warning,
};

/// How far the collection of definitions has come.
///
/// It is complete when as many distinct instruments were named as each definition's TotNumReports
/// says there are; which pass of the loop named them does not matter, so that losses only delay.
#[derive(Debug)]
pub(crate) struct DefinitionLoop {
    tracker: LoopTracker,
    is_collecting: bool,
    /// No collection has been completed yet, and the channel waits for the first.
    is_first: bool,
    /// Packets were lost since the collection began: it may have gone past what they changed.
    is_outdated: bool,
    /// A pass has begun since the collection began.
    has_begun: bool,
    /// The number of this collection; instruments it has named carry it.
    collection: u32,
    total: u32,
    distinct: u32,
}

impl DefinitionLoop {
    pub(crate) fn new(max_packets: usize, is_wanted: bool) -> Self {
        Self {
            tracker: LoopTracker::new(max_packets),
            is_collecting: is_wanted,
            is_first: is_wanted,
            is_outdated: false,
            has_begun: false,
            collection: 1,
            total: 0,
            distinct: 0,
        }
    }

    /// Whether the instrument feed is needed.
    pub(crate) fn is_collecting(&self) -> bool {
        self.is_collecting
    }

    /// Whether books have to wait for the collection.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Begins to collect, unless that is going on.
    pub(crate) fn collect(&mut self) {
        if !self.is_collecting {
            self.is_collecting = true;
            self.has_begun = false;
            self.tracker.abandon();
            self.begin(0);
        }
    }

    /// Packets were lost that may have had definitions: collects once more from now on.
    pub(crate) fn collect_again(&mut self) {
        self.is_outdated = self.is_collecting;
        self.collect();
    }

    /// Begins to count, to `total`.
    fn begin(&mut self, total: u32) {
        self.collection = self.collection.wrapping_add(1);
        (self.total, self.distinct) = (total, 0);
    }

    /// Counts an instrument, whose last collection is given; all there is if a loop's definitions
    /// do not say how many they are.
    fn count(&mut self, total: Option<u32>, last_collection: &mut u32) {
        let Some(total) = total.filter(|_| self.has_begun) else { return };
        if total != self.total {
            self.begin(total);
        }
        if *last_collection != self.collection {
            *last_collection = self.collection;
            self.distinct += 1;
        }
    }

    /// Whether all definitions that there is room for have been seen.
    fn is_complete(&self, room: usize) -> bool {
        self.total > 0 && self.distinct as usize >= room.min(self.total as usize)
    }

    fn end(&mut self) {
        (self.is_collecting, self.is_first) = (false, false);
        if core::mem::take(&mut self.is_outdated) {
            self.collect();
        }
    }
}

impl Market {
    /// Processes a packet of the instrument feed; `bytes` are its messages.
    pub(crate) fn process_instrument(
        &mut self,
        packet: &Packet,
        bytes: &[u8],
        listener: &mut impl Listener,
    ) {
        self.counters.instrument_packets += 1;
        let tracker = &mut self.definition_loop.tracker;
        let position = tracker.observe(packet.side, packet.sequence, packet.sending_time);
        if tracker.is_too_long() {
            self.warn(&Warning::LoopTooLong { feed: Feed::Instrument }, listener);
        }
        match position {
            Position::Starts => self.definition_loop.has_begun = true,
            Position::Continues => {}
            Position::Repeats => {
                self.counters.loop_duplicates += 1;
                return;
            }
        }
        listener.on_packet(packet);
        for message in Messages::new(bytes) {
            match message {
                Ok(message) => {
                    let message = self.translate(message, listener);
                    self.loop_definition(packet, &message, listener);
                    listener.on_end_of_message(packet, &message);
                }
                Err(error) => self.report(Some(packet), &error, listener),
            }
        }
        // Of the unwanted ones those without a place are counted too.
        let room = if self.is_filtering { usize::MAX } else { self.settings.max_instruments };
        if self.definition_loop.is_collecting && self.definition_loop.is_complete(room) {
            self.definition_loop.end();
        }
        listener.on_end_of_packet(packet);
    }

    fn loop_definition(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        if !self.is_readable(packet, message, listener) {
            return;
        }
        let decoded = definition_decoder::decode(&message.header, message.body, &mut self.related);
        match decoded {
            Some(Ok(decoded)) => {
                if let Some(instrument) = self.define(packet, &decoded, false, listener) {
                    let last_collection = &mut self.recovery[instrument.as_usize()].collection;
                    self.definition_loop.count(decoded.total_reports, last_collection);
                } else if self.is_filtering {
                    let security_id = decoded.definition.security_id;
                    let mut unnoted = 0;
                    let noted = self.unwanted.last_collection(security_id);
                    let last_collection = noted.unwrap_or(&mut unnoted);
                    self.definition_loop.count(decoded.total_reports, last_collection);
                }
            }
            Some(Err(error)) => {
                let template_id = message.header.template_id;
                let error = Error::MalformedMessage { template_id, error };
                self.report(Some(packet), &error, listener);
            }
            None => self.loop_extra(packet, message, listener),
        }
    }

    /// An instrument without a definition has an entry or a snapshot: definitions are collected
    /// again. Once for each instrument, since the exchange may never define it.
    pub(crate) fn miss_definition(&mut self, security_id: i32, listener: &mut impl Listener) {
        self.warn(&Warning::UnknownSecurity { security_id }, listener);
        if self.settings.late_join != LateJoin::InstrumentsAndBooks {
            return;
        }
        if let Some(instrument) = self.find_or_insert(security_id, listener)
            && !core::mem::replace(&mut self.recovery[instrument.as_usize()].was_missed, true)
        {
            self.definition_loop.collect();
        }
    }

    /// Takes a definition; `None` if there is no room for its instrument. What it relates the
    /// instrument to is in `self.related`.
    pub(crate) fn define(
        &mut self,
        packet: &Packet,
        decoded: &Decoded,
        is_live: bool,
        listener: &mut impl Listener,
    ) -> Option<InstrumentIndex> {
        let definition = decoded.definition;
        if self.is_unwanted_definition(&definition) {
            self.counters.unwanted_definitions += 1;
            return None;
        }
        self.counters.definitions += 1;
        let instrument = self.find_or_insert(definition.security_id, listener)?;
        let known = &self.instruments.definitions[instrument.as_usize()];
        let repeats = if is_live {
            known.says_the_same_as(&definition)
                && self.instruments.related(instrument).eq(&self.related)
        } else {
            known.is_as_new_as(&definition)
        };
        if repeats {
            return Some(instrument);
        }
        self.instruments.definitions[instrument.as_usize()] = definition;
        if !self.instruments.related.replace(instrument, &self.related) {
            let security_id = definition.security_id;
            self.warn(&Warning::RelatedOverCapacity { security_id }, listener);
        }
        self.set_depth(instrument, listener);
        self.definition_status(instrument, is_live.then_some(packet.sequence));
        let told = &self.instruments.definitions[instrument.as_usize()];
        let instruments = &self.instruments;
        let update = DefinitionUpdate { packet, instrument, definition: told, instruments };
        listener.on_definition(&update);
        let kept = instruments.user_data(instrument);
        self.instruments.user_data[instrument.as_usize()] = listener.user_data(&update, kept);
        if definition.is_in_force() {
            self.enter_definition(instrument, is_live, definition.action, listener);
        } else {
            self.leave(instrument, listener);
        }
        Some(instrument)
    }

    /// The depths of both books. A definition without feed types says nothing of depth; one with
    /// other feed types only says that there is no such book.
    fn set_depth(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        let definition = &self.instruments.definitions[instrument.as_usize()];
        let (security_id, stated) = (definition.security_id, definition.depth);
        let implied = definition.implied_depth;
        let (depth, implied_depth) = match (stated, implied) {
            (0, 0) => (self.settings.depth_unless_defined(), USUAL_IMPLIED_DEPTH),
            _ => (stated.min(MAX_DEPTH as u8), implied.min(MAX_IMPLIED_DEPTH as u8)),
        };
        self.instruments.cells[instrument.as_usize()].set_depth(depth);
        self.instruments.implied[instrument.as_usize()].set_depth(implied_depth);
        self.instruments.settle(instrument);
        for (stated, kept) in [(stated, depth), (implied, implied_depth)] {
            if stated > kept {
                self.warn(&Warning::DepthCut { security_id, depth: stated }, listener);
            }
        }
    }

    /// What a definition makes of an instrument that had none in force: if it is new to the
    /// exchange, its book is empty; otherwise a snapshot has it.
    fn enter_definition(
        &mut self,
        instrument: InstrumentIndex,
        is_live: bool,
        action: DefinitionAction,
        listener: &mut impl Listener,
    ) {
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        if cell.head.state != State::Unknown {
            return;
        }
        let is_new = is_live && action == DefinitionAction::Add;
        if is_new || self.settings.late_join == LateJoin::Nothing {
            cell.head.next_rpt_seq = 0;
            cell.head.state = State::Fresh;
            self.instruments.empty(instrument);
            self.instruments.settle(instrument);
            self.queue.forget(instrument);
            self.recovery[instrument.as_usize()].forget_snapshot();
            self.tell_state(instrument, listener);
            self.order_book_is_defined(instrument, None, listener);
        } else {
            let security_id = self.instruments.book(instrument).security_id();
            // What came for a wanted group before it was known to be wanted has not been kept.
            let has_all = self.definition_loop.is_first() && !self.is_unwanted(None, security_id);
            let waiting_from = if has_all { 0 } else { self.next_sequence };
            self.fall_out(instrument, waiting_from, listener);
            self.order_book_is_defined(instrument, Some(waiting_from), listener);
        }
    }

    /// The instrument is gone.
    fn leave(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        if cell.head.state == State::Unknown {
            return;
        }
        if cell.head.state.needs_snapshot() {
            self.out_of_sync -= 1;
        }
        cell.head.state = State::Unknown;
        self.instruments.empty(instrument);
        self.instruments.settle(instrument);
        self.instruments.related.remove(instrument);
        self.instruments.statuses[instrument.as_usize()] = InstrumentStatus::UNKNOWN;
        let last = self.next_sequence.saturating_sub(1);
        self.instruments.statistics[instrument.as_usize()].reset(last);
        self.queue.forget(instrument);
        self.tell_state(instrument, listener);
        self.order_book_is_gone(instrument, listener);
    }
}
