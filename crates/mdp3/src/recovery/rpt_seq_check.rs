//! The RptSeq check: whether an entry is the next of its instrument, and the handling of all other
//! entries.

use crate::book::apply_entry::EntryTarget;
use crate::book::book_slot::DirectBookSlot;
use crate::instrument::instruments::Instruments;
use crate::market::Market;
use crate::message::entries::{Entry, EntryKind};
use crate::recovery::queued_entry::QueuedEntry;
use crate::recovery::sync_state::State;
use crate::{InstrumentIndex, LateJoin, Listener, Packet, Warning};

impl Instruments {
    /// Accepts an entry in the common case: the book is in sync and the entry is its next. Returns
    /// `None` in all other cases.
    #[inline]
    pub(crate) fn accept_next_entry(
        &mut self,
        security_id: i32,
        rpt_seq: u32,
    ) -> Option<(InstrumentIndex, &mut DirectBookSlot)> {
        let instrument = self.find(security_id)?;
        let slot = self.direct.get_mut(instrument.as_usize())?;
        if slot.head.state != State::InSync || slot.head.next_rpt_seq != rpt_seq {
            return None;
        }
        slot.head.next_rpt_seq = rpt_seq.wrapping_add(1);
        Some((instrument, slot))
    }
}

impl Market {
    /// Checks an entry in all other cases. Returns the instrument if the entry may be applied;
    /// otherwise queues or drops the entry.
    pub(crate) fn check_entry(
        &mut self,
        packet: &Packet,
        instrument: Option<InstrumentIndex>,
        entry: Entry,
        listener: &mut impl Listener,
    ) -> Option<InstrumentIndex> {
        let instrument = match instrument {
            Some(instrument) => instrument,
            None if self.is_unwanted(None, entry.security_id) => {
                self.counters.unwanted_entries += 1;
                return None;
            }
            None => self.find_or_register(entry.security_id, packet.sequence, listener)?,
        };
        let recovery = self.recovery[instrument.as_usize()];
        let head = self.instruments.direct[instrument.as_usize()].head;
        let (rpt_seq, next) = (entry.rpt_seq, head.next_rpt_seq);
        let in_snapshot = head.state.is_in_sync()
            && (packet.sequence <= recovery.snapshot_sequence
                || (rpt_seq != 0 && rpt_seq <= recovery.snapshot_rpt_seq && rpt_seq < next));
        // A channel without RptSeq sends 0 in all entries and snapshots.
        let is_unnumbered = rpt_seq == 0 && next <= 1;
        match head.state {
            _ if in_snapshot => {
                self.counters.entries_in_snapshot += 1;
                return None;
            }
            State::InSync if is_unnumbered => return Some(instrument),
            // The books are empty then, whatever was missed.
            State::InSync | State::Ahead | State::Waiting | State::Suspect | State::Refreshing
                if entry.resets_book() => {}
            State::Suspect if rpt_seq == next && rpt_seq > self.rpt_seq_floor => {
                self.counters.found_unaffected += 1;
                self.mark_in_sync(instrument, State::InSync, listener);
            }
            State::Ahead if rpt_seq != next && !is_unnumbered => {
                self.handle_rpt_seq_gap(packet, instrument, &entry, listener);
                return None;
            }
            State::Fresh | State::Ahead => {
                self.instruments.direct[instrument.as_usize()].head.state = State::InSync
            }
            State::Unknown => {
                self.handle_undefined_entry(packet, instrument, &entry, listener);
                return None;
            }
            State::InSync | State::Suspect => {
                self.handle_rpt_seq_gap(packet, instrument, &entry, listener);
                return None;
            }
            State::Waiting | State::Early | State::Restoring | State::Refreshing => {
                self.queue_entry(packet, instrument, &entry, listener);
                self.apply_natural_refresh(instrument, &entry, listener);
                return None;
            }
        }
        let head = &mut self.instruments.direct[instrument.as_usize()].head;
        head.next_rpt_seq = if rpt_seq == 0 { 0 } else { rpt_seq.wrapping_add(1) };
        Some(instrument)
    }

    /// Marks an instrument out of sync because an entry is not its next.
    fn handle_rpt_seq_gap(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &Entry,
        listener: &mut impl Listener,
    ) {
        self.counters.rpt_seq_gaps += 1;
        self.mark_out_of_sync(instrument, packet.sequence, listener);
        self.queue_entry(packet, instrument, entry, listener);
        self.apply_natural_refresh(instrument, entry, listener);
    }

    /// Queues an entry until its instrument's snapshot arrives.
    fn queue_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &Entry,
        listener: &mut impl Listener,
    ) {
        self.counters.withheld_entries += 1;
        let book =
            if let EntryKind::Book(book_entry) = entry.kind { Some(book_entry) } else { None };
        let queued = QueuedEntry { sequence: packet.sequence, rpt_seq: entry.rpt_seq, book };
        if let Some(dropped) = self.queue.push(instrument, queued) {
            self.floor = self.floor.max(dropped.sequence.saturating_add(1));
            self.warn(&Warning::QueueOverflow, listener);
        }
    }

    /// Returns the instrument of an entry or a snapshot, added if it is new. Its snapshot must
    /// contain all incremental packets before `from`. Returns `None` if the filter rejects it, if
    /// there is no room, or if it needs a definition first, which is then collected.
    pub(crate) fn find_or_register(
        &mut self,
        security_id: i32,
        from: u32,
        listener: &mut impl Listener,
    ) -> Option<InstrumentIndex> {
        let found = self.instruments.find(security_id);
        if found.is_some() || self.is_unwanted(found, security_id) {
            return found;
        }
        match self.settings.late_join {
            LateJoin::InstrumentsAndBooks if self.definition_loop.is_first() => {
                self.find_or_insert(security_id, listener)
            }
            LateJoin::InstrumentsAndBooks => {
                self.request_definitions(security_id, listener);
                None
            }
            LateJoin::Books => {
                let instrument = self.find_or_insert(security_id, listener)?;
                let waiting_from = if self.snapshot_loop.is_joining() { 0 } else { from };
                self.mark_out_of_sync(instrument, waiting_from, listener);
                Some(instrument)
            }
            LateJoin::Nothing => {
                let instrument = self.find_or_insert(security_id, listener)?;
                self.instruments.direct[instrument.as_usize()].head.state = State::Fresh;
                Some(instrument)
            }
        }
    }

    /// Handles an entry of an instrument without a definition. During the first collection the
    /// entry is queued, because the definition may still arrive. Otherwise definitions are
    /// collected again.
    fn handle_undefined_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &Entry,
        listener: &mut impl Listener,
    ) {
        if self.definition_loop.is_first() {
            self.queue_entry(packet, instrument, entry, listener);
        } else {
            self.request_definitions(entry.security_id, listener);
        }
    }
}

impl Entry {
    /// Returns `true` if the entry empties its instrument's books.
    fn resets_book(&self) -> bool {
        let EntryKind::Book(entry) = &self.kind else { return false };
        EntryTarget::from_entry_type(entry.entry_type) == EntryTarget::Reset
    }
}
