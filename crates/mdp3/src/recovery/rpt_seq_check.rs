//! Whether an entry is the next of its instrument, and what follows if it is not.

use crate::book::apply_entry::EntryTarget;
use crate::book::book_slot::DirectBookSlot;
use crate::instrument::instruments::Instruments;
use crate::market::Market;
use crate::message::entries::{Entry, Kind};
use crate::recovery::queued_entry::QueuedEntry;
use crate::recovery::sync_state::State;
use crate::{InstrumentIndex, LateJoin, Listener, Packet, Warning};

impl Instruments {
    /// Admits the entry of an instrument in the usual case: the book is in sync and this is its
    /// next. `None` in any other.
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
    /// Every other case: whether the entry may be applied, and if not, what follows from it.
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
        // A channel without RptSeq has 0 throughout, in snapshots too.
        let is_unnumbered = rpt_seq == 0 && next <= 1;
        match head.state {
            _ if in_snapshot => {
                self.counters.entries_in_snapshot += 1;
                return None;
            }
            State::InSync if is_unnumbered => return Some(instrument),
            // Whatever was missed, the books are empty then.
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
            State::Waiting | State::Restoring | State::Refreshing => {
                self.queue_entry(packet, instrument, &entry, listener);
                self.apply_natural_refresh(instrument, &entry, listener);
                return None;
            }
        }
        let head = &mut self.instruments.direct[instrument.as_usize()].head;
        head.next_rpt_seq = if rpt_seq == 0 { 0 } else { rpt_seq.wrapping_add(1) };
        Some(instrument)
    }

    /// An entry is not the next of its instrument: others are missing.
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

    /// Keeps an entry for when its instrument's snapshot comes.
    fn queue_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &Entry,
        listener: &mut impl Listener,
    ) {
        self.counters.withheld_entries += 1;
        let book = if let Kind::Book(book_entry) = entry.kind { Some(book_entry) } else { None };
        let queued = QueuedEntry { sequence: packet.sequence, rpt_seq: entry.rpt_seq, book };
        if let Some(dropped) = self.queue.push(instrument, queued) {
            self.floor = self.floor.max(dropped.sequence.saturating_add(1));
            self.warn(&Warning::QueueOverflow, listener);
        }
    }

    /// The instrument with a SecurityID that an entry or a snapshot names, or one that begins with
    /// it; packet `from` of the incremental feed is the first that its snapshot need not contain.
    /// `None`: it is not wanted, there is no room, or it needs a definition first, which is
    /// collected.
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

    /// An entry of an instrument without a definition. While definitions are being collected it
    /// is kept, since its instrument's may be still to come; afterwards they are collected again.
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
    /// Whether it empties its instrument's books.
    fn resets_book(&self) -> bool {
        matches!(&self.kind, Kind::Book(entry) if EntryTarget::from_entry_type(entry.entry_type) == EntryTarget::Reset)
    }
}
