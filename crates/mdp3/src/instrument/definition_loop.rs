//! Definitions from the instrument feed's loop and from the incremental feed.

use crate::book::levels::{MAX_DEPTH, MAX_IMPLIED_DEPTH};
use crate::feed::loop_tracker::{LoopTracker, PassPosition, WholePass};
use crate::instrument::definition_decoder::{self, DecodedDefinition};
use crate::instrument::instruments::DEFAULT_IMPLIED_DEPTH;
use crate::instrument::status::InstrumentStatus;
use crate::market::Market;
use crate::recovery::sync_state::State;
use crate::{
    DefinitionAction, DefinitionUpdate, Error, Feed, InstrumentIndex, LateJoin, Listener, Message,
    Messages, Packet, Warning,
};

/// The progress of a collection of definitions.
///
/// TotNumReports (911) counts messages by one CME page and instruments by another. A collection is
/// complete when as many distinct instruments were named as TotNumReports states; they may come
/// from different passes of the loop, so losses only delay it. It is also complete after a whole
/// pass, see [`WholePass`].
#[derive(Debug)]
pub(crate) struct DefinitionLoop {
    tracker: LoopTracker,
    collecting: bool,
    /// No collection is complete yet, and the channel waits for the first.
    first: bool,
    /// Packets were lost since the collection began, possibly with changes of definitions already
    /// collected.
    outdated: bool,
    /// A pass has started since the collection began.
    pass_started: bool,
    /// The number of this collection, which marks the instruments it has named.
    collection: u32,
    total: u32,
    distinct: u32,
    whole_pass: WholePass,
}

impl DefinitionLoop {
    pub(crate) fn new(max_packets: usize, is_wanted: bool) -> Self {
        Self {
            tracker: LoopTracker::new(max_packets),
            collecting: is_wanted,
            first: is_wanted,
            outdated: false,
            pass_started: false,
            collection: 1,
            total: 0,
            distinct: 0,
            whole_pass: WholePass::default(),
        }
    }

    /// Returns `true` if the instrument feed is needed.
    pub(crate) fn is_collecting(&self) -> bool {
        self.collecting
    }

    /// Returns `true` if books must wait for the first collection.
    pub(crate) fn is_first(&self) -> bool {
        self.first
    }

    /// Starts a collection unless one is in progress.
    pub(crate) fn start_collection(&mut self) {
        if !self.collecting {
            self.collecting = true;
            self.pass_started = false;
            self.whole_pass = WholePass::default();
            self.tracker.abandon();
            self.begin_count(0);
        }
    }

    /// Collects again after a loss of packets that may have contained definitions.
    pub(crate) fn restart_collection(&mut self) {
        self.outdated = self.collecting;
        self.start_collection();
    }

    /// Starts counting up to `total`.
    fn begin_count(&mut self, total: u32) {
        self.collection = self.collection.wrapping_add(1);
        (self.total, self.distinct) = (total, 0);
    }

    /// Counts an instrument, given its last collection. Does nothing if the definitions do not
    /// state their total.
    fn count(&mut self, security_id: i32, total: Option<u32>, last_collection: &mut u32) {
        self.whole_pass.count(security_id);
        let Some(total) = total.filter(|_| self.pass_started) else { return };
        if total != self.total {
            self.begin_count(total);
        }
        if *last_collection != self.collection {
            *last_collection = self.collection;
            self.distinct += 1;
        }
    }

    /// Returns `true` if all definitions that fit in memory were received.
    fn is_complete(&self, room: usize) -> bool {
        self.total > 0 && self.distinct as usize >= room.min(self.total as usize)
    }

    fn end_collection(&mut self) {
        (self.collecting, self.first) = (false, false);
        if core::mem::take(&mut self.outdated) {
            self.start_collection();
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
        let was_whole = tracker.is_complete();
        let position = tracker.observe(packet.line, packet.sequence, packet.sending_time);
        if tracker.is_too_long() {
            self.warn(&Warning::LoopTooLong { feed: Feed::Instrument }, listener);
        }
        match position {
            PassPosition::First => {
                let definitions = &mut self.definition_loop;
                let is_whole = definitions.whole_pass.end(was_whole, 0);
                if definitions.collecting && definitions.pass_started && is_whole {
                    self.end_collection(listener);
                }
                self.definition_loop.pass_started = self.definition_loop.collecting;
            }
            PassPosition::New => {}
            PassPosition::Duplicate => {
                self.counters.loop_duplicates += 1;
                return;
            }
        }
        listener.on_packet(packet);
        for message in Messages::new(bytes) {
            match message {
                Ok(message) => {
                    let message = self.translate(message, listener);
                    self.apply_loop_message(packet, &message, listener);
                    listener.on_end_of_message(packet, &message);
                }
                Err(error) => self.report(Some(packet), &error, listener),
            }
        }
        // Unwanted instruments without a slot are counted too.
        let room = if self.filtering { usize::MAX } else { self.settings.max_instruments };
        if self.definition_loop.collecting && self.definition_loop.is_complete(room) {
            self.end_collection(listener);
        }
        listener.on_end_of_packet(packet);
    }

    /// Ends a complete collection.
    fn end_collection(&mut self, listener: &mut impl Listener) {
        self.definition_loop.end_collection();
        // A collection that a loss has outdated is followed by another.
        if !self.definition_loop.collecting && core::mem::take(&mut self.has_earlier_instruments) {
            self.remove_undefined_instruments(listener);
        }
    }

    fn apply_loop_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        if !self.begin_message(packet, message, listener) {
            return;
        }
        let decoded = definition_decoder::decode(&message.header, message.body, &mut self.related);
        match decoded {
            Some(Ok(decoded)) => {
                let security_id = decoded.definition.security_id;
                if let Some(instrument) = self.apply_definition(packet, &decoded, false, listener) {
                    let last_collection = &mut self.recovery[instrument.as_usize()].collection;
                    self.definition_loop.count(security_id, decoded.total_reports, last_collection);
                } else if self.filtering {
                    let mut unnoted = 0;
                    let noted = self.unwanted.last_collection(security_id);
                    let last_collection = noted.unwrap_or(&mut unnoted);
                    self.definition_loop.count(security_id, decoded.total_reports, last_collection);
                }
            }
            Some(Err(error)) => {
                let template_id = message.header.template_id;
                let error = Error::MalformedMessage { template_id, error };
                self.report(Some(packet), &error, listener);
            }
            None => self.handle_other_loop_message(packet, message, listener),
        }
    }

    /// Collects definitions again because an instrument without one has an entry or a snapshot.
    /// Once per instrument, since the exchange may never define it.
    pub(crate) fn request_definitions(&mut self, security_id: i32, listener: &mut impl Listener) {
        self.warn(&Warning::UnknownSecurity { security_id }, listener);
        if self.settings.late_join != LateJoin::InstrumentsAndBooks {
            return;
        }
        if let Some(instrument) = self.find_or_insert(security_id, listener)
            && !core::mem::replace(
                &mut self.recovery[instrument.as_usize()].definitions_requested,
                true,
            )
        {
            self.definition_loop.start_collection();
        }
    }

    /// Applies a definition, whose legs or underlyings are in `self.related`. Returns `None` if
    /// there is no room for its instrument.
    pub(crate) fn apply_definition(
        &mut self,
        packet: &Packet,
        decoded: &DecodedDefinition,
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
        self.recovery[instrument.as_usize()].defined_in = self.week;
        let known = &self.instruments.definitions[instrument.as_usize()];
        let repeats = if is_live {
            known.has_same_content(&definition)
                && self.instruments.related(instrument).eq(&self.related)
        } else {
            known.supersedes(&definition)
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
        self.apply_definition_status(instrument, is_live.then_some(packet.sequence));
        let updated = &self.instruments.definitions[instrument.as_usize()];
        let instruments = &self.instruments;
        let update = DefinitionUpdate {
            packet,
            match_event: decoded.match_event,
            instrument,
            definition: updated,
            instruments,
        };
        listener.on_definition(&update);
        let current = instruments.user_data(instrument);
        self.instruments.user_data[instrument.as_usize()] = listener.user_data(&update, current);
        if definition.is_in_force() {
            self.start_instrument(instrument, is_live, definition.action, listener);
        } else {
            self.remove_instrument(instrument, listener);
            self.free_slot(instrument, is_live);
        }
        Some(instrument)
    }

    /// Sets the depths of both books. A definition without feed types leaves the depth open; one
    /// with other feed types only means that there is no such book.
    fn set_depth(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        let definition = &self.instruments.definitions[instrument.as_usize()];
        let (security_id, stated) = (definition.security_id, definition.depth);
        let implied = definition.implied_depth;
        let (depth, implied_depth) = match (stated, implied) {
            (0, 0) => (self.settings.depth_unless_defined(), DEFAULT_IMPLIED_DEPTH),
            _ => (stated.min(MAX_DEPTH as u8), implied.min(MAX_IMPLIED_DEPTH as u8)),
        };
        self.instruments.direct[instrument.as_usize()].set_depth(depth);
        self.instruments.implied[instrument.as_usize()].set_depth(implied_depth);
        self.instruments.update_best(instrument);
        for (stated, current) in [(stated, depth), (implied, implied_depth)] {
            if stated > current {
                self.warn(&Warning::DepthCut { security_id, depth: stated }, listener);
            }
        }
    }

    /// Sets the state of an instrument that had no definition in force. If it is new at the
    /// exchange, its book is empty; otherwise it waits for a snapshot.
    fn start_instrument(
        &mut self,
        instrument: InstrumentIndex,
        is_live: bool,
        action: DefinitionAction,
        listener: &mut impl Listener,
    ) {
        let slot = &mut self.instruments.direct[instrument.as_usize()];
        if slot.head.state != State::Unknown {
            return;
        }
        let is_new = is_live && action == DefinitionAction::Add;
        if is_new || self.settings.late_join == LateJoin::Nothing {
            slot.head.next_rpt_seq = 0;
            slot.head.state = State::Fresh;
            self.instruments.clear_books(instrument);
            self.instruments.update_best(instrument);
            self.queue.discard(instrument);
            self.recovery[instrument.as_usize()].clear_snapshot();
            self.notify_state(instrument, listener);
            self.define_order_book(instrument, None, listener);
        } else {
            let security_id = self.instruments.book(instrument).security_id();
            // Entries of an accepted group that arrived before its definition were not queued.
            let has_all = self.definition_loop.is_first() && !self.is_unwanted(None, security_id);
            let waiting_from = if has_all { 0 } else { self.next_sequence };
            self.mark_out_of_sync(instrument, waiting_from, listener);
            self.define_order_book(instrument, Some(waiting_from), listener);
        }
    }

    /// Removes a deleted instrument.
    pub(crate) fn remove_instrument(
        &mut self,
        instrument: InstrumentIndex,
        listener: &mut impl Listener,
    ) {
        let slot = &mut self.instruments.direct[instrument.as_usize()];
        if slot.head.state == State::Unknown {
            return;
        }
        if slot.head.state.needs_snapshot() {
            self.out_of_sync -= 1;
        }
        slot.head.state = State::Unknown;
        self.instruments.clear_books(instrument);
        self.instruments.update_best(instrument);
        self.instruments.related.remove(instrument);
        self.instruments.statuses[instrument.as_usize()] = InstrumentStatus::UNKNOWN;
        let last = self.next_sequence.saturating_sub(1);
        self.instruments.statistics[instrument.as_usize()].reset(last);
        self.queue.discard(instrument);
        self.notify_state(instrument, listener);
        self.remove_order_book(instrument, listener);
    }
}
