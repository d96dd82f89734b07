//! Queued entries and their application after a snapshot.

use hairpin_time::Utc;

use crate::book::apply_entry::{self, EntryOutcome, EntryTarget};
use crate::instrument::instruments::Instruments;
use crate::market::{InstrumentRecovery, Market};
use crate::message::entries::{BookEntry, Root};
use crate::recovery::recovery_queue::QueueEntry;
use crate::recovery::sync_state::State;
use crate::{BookUpdate, InstrumentIndex, Listener, MatchEvent, Packet, UpdateSource};

/// An entry that waits for its instrument's snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedEntry {
    /// The sequence of its packet.
    pub(crate) sequence: u32,
    pub(crate) rpt_seq: u32,
    /// `None` for an entry that changes no book but has an RptSeq.
    pub(crate) book: Option<BookEntry>,
}

impl QueueEntry for QueuedEntry {
    const VACANT: Self = Self { sequence: 0, rpt_seq: 0, book: None };

    fn sequence(&self) -> u32 {
        self.sequence
    }
}

impl Market {
    /// Applies the queued entries to the books just loaded, and reports the books that are then in
    /// sync.
    pub(crate) fn apply_queued_entries(
        &mut self,
        packet: &Packet,
        transact_time: Utc,
        listener: &mut impl Listener,
    ) {
        for position in 0..self.changed_in_message.len() {
            let instrument = self.changed_in_message[position];
            let recovery = &mut self.recovery[instrument.as_usize()];
            for queued in self.queue.entries(instrument) {
                apply_queued_entry(&mut self.instruments, instrument, recovery, queued);
            }
            self.finish_queued_entries(instrument, packet, transact_time, listener);
        }
        self.changed_in_message.clear();
    }

    fn finish_queued_entries(
        &mut self,
        instrument: InstrumentIndex,
        packet: &Packet,
        transact_time: Utc,
        listener: &mut impl Listener,
    ) {
        let changes = self.instruments.update_best(instrument);
        if self.instruments.direct[instrument.as_usize()].head.state == State::Early {
            return;
        }
        if self.instruments.direct[instrument.as_usize()].head.state != State::Restoring {
            self.counters.snapshots_not_continued += 1;
            if self.recovery[instrument.as_usize()].replaced_refresh {
                self.reset_refresh(instrument, listener);
            }
            return;
        }
        let recovery = &self.recovery[instrument.as_usize()];
        let state = if recovery.accept_any_rpt_seq {
            State::Fresh
        } else if recovery.snapshot_sequence >= self.next_sequence {
            State::Ahead
        } else {
            State::InSync
        };
        let has_market_best = recovery.market_best_changed;
        self.mark_in_sync(instrument, state, listener);
        if has_market_best {
            let root = Root { transact_time, match_event: MatchEvent::NONE };
            let source = UpdateSource::Snapshot;
            self.notify_market_best((packet, root), instrument, source, listener);
        }
        listener.on_book_update(&BookUpdate {
            packet,
            transact_time,
            match_event: MatchEvent::NONE,
            instrument,
            book: self.instruments.book(instrument),
            instruments: &self.instruments,
            changes,
            source: UpdateSource::Snapshot,
        });
    }
}

/// Applies an entry to the books being restored if it is the next of its instrument.
fn apply_queued_entry(
    instruments: &mut Instruments,
    instrument: InstrumentIndex,
    recovery: &mut InstrumentRecovery,
    queued: &QueuedEntry,
) {
    let slot = &mut instruments.direct[instrument.as_usize()];
    if slot.head.state != State::Restoring || queued.sequence <= recovery.snapshot_sequence {
        return;
    }
    let (rpt_seq, next) = (queued.rpt_seq, slot.head.next_rpt_seq);
    let is_unnumbered = rpt_seq == 0 && next <= 1;
    let target = queued.book.map(|entry| EntryTarget::from_entry_type(entry.entry_type));
    let is_reset = target == Some(EntryTarget::Reset);
    if !recovery.accept_any_rpt_seq && !is_unnumbered && rpt_seq != next && !is_reset {
        if rpt_seq > next || rpt_seq == 0 {
            slot.head.state = State::Waiting;
        }
        return;
    }
    if !is_unnumbered {
        slot.head.next_rpt_seq = rpt_seq.wrapping_add(1);
    }
    recovery.accept_any_rpt_seq = is_reset;
    let (Some(entry), Some(target)) = (queued.book, target) else { return };
    let outcome = match target {
        EntryTarget::Direct(side) => apply_entry::apply(slot, side, &entry),
        EntryTarget::Implied(side) => {
            apply_entry::apply(&mut instruments.implied[instrument.as_usize()], side, &entry)
        }
        EntryTarget::Reset => return instruments.clear_books(instrument),
        EntryTarget::MarketBest(side) => {
            recovery.market_best_changed = true;
            match instruments.market_best[instrument.as_usize()].apply(side, &entry) {
                true => return,
                false => EntryOutcome::Invalid,
            }
        }
        EntryTarget::Invalid => EntryOutcome::Invalid,
    };
    if matches!(outcome, EntryOutcome::Invalid | EntryOutcome::Inapplicable) {
        instruments.direct[instrument.as_usize()].head.state = State::Waiting;
        recovery.waiting_from = queued.sequence.saturating_add(1);
    }
}
