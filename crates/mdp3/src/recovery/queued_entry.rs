//! The queued entries after a snapshot.

use hairpin_time::Utc;

use crate::book::apply_entry::{self, Outcome, Target};
use crate::instrument::instruments::Instruments;
use crate::market::{Market, Recovery};
use crate::message::entries::BookEntry;
use crate::recovery::recovery_queue::Queued;
use crate::recovery::sync_state::State;
use crate::{BookUpdate, InstrumentIndex, Listener, Packet, UpdateSource};

/// An entry that waits for its instrument's snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedEntry {
    /// The packet it came in.
    pub(crate) sequence: u32,
    pub(crate) rpt_seq: u32,
    /// `None`: it changes no book, but its RptSeq counts.
    pub(crate) book: Option<BookEntry>,
}

impl Queued for QueuedEntry {
    const VACANT: Self = Self { sequence: 0, rpt_seq: 0, book: None };

    fn sequence(&self) -> u32 {
        self.sequence
    }
}

impl Market {
    /// Applies what is queued to the books just loaded, and tells those that are right then.
    pub(crate) fn replay(
        &mut self,
        packet: &Packet,
        transact_time: Utc,
        listener: &mut impl Listener,
    ) {
        for position in 0..self.touched.len() {
            let instrument = self.touched[position];
            let recovery = &mut self.recovery[instrument.as_usize()];
            for queued in self.queue.of(instrument) {
                replay_entry(&mut self.instruments, instrument, recovery, queued);
            }
            self.finish_replay(instrument, packet, transact_time, listener);
        }
        self.touched.clear();
    }

    fn finish_replay(
        &mut self,
        instrument: InstrumentIndex,
        packet: &Packet,
        transact_time: Utc,
        listener: &mut impl Listener,
    ) {
        let changes = self.instruments.settle(instrument);
        if self.instruments.cells[instrument.as_usize()].head.state != State::Replaying {
            self.counters.snapshots_not_continued += 1;
            if self.recovery[instrument.as_usize()].was_refreshing {
                self.end_refresh(instrument, listener);
            }
            return;
        }
        let recovery = &self.recovery[instrument.as_usize()];
        let state = if recovery.any_rpt_seq {
            State::Fresh
        } else if recovery.snapshot_sequence >= self.next_sequence {
            State::Ahead
        } else {
            State::InSync
        };
        self.come_in(instrument, state, listener);
        listener.on_book_update(&BookUpdate {
            packet,
            transact_time,
            instrument,
            book: self.instruments.book(instrument),
            instruments: &self.instruments,
            changes,
            source: UpdateSource::Snapshot,
        });
    }
}

/// Applies an entry to the books being replayed, if it is the next of its instrument.
fn replay_entry(
    instruments: &mut Instruments,
    instrument: InstrumentIndex,
    recovery: &mut Recovery,
    queued: &QueuedEntry,
) {
    let cell = &mut instruments.cells[instrument.as_usize()];
    if cell.head.state != State::Replaying || queued.sequence <= recovery.snapshot_sequence {
        return;
    }
    let (rpt_seq, next) = (queued.rpt_seq, cell.head.next_rpt_seq);
    let is_unnumbered = rpt_seq == 0 && next <= 1;
    let target = queued.book.map(|entry| Target::of(entry.entry_type));
    let is_reset = target == Some(Target::Reset);
    if !recovery.any_rpt_seq && !is_unnumbered && rpt_seq != next && !is_reset {
        if rpt_seq > next || rpt_seq == 0 {
            cell.head.state = State::Waiting;
        }
        return;
    }
    if !is_unnumbered {
        cell.head.next_rpt_seq = rpt_seq.wrapping_add(1);
    }
    recovery.any_rpt_seq = is_reset;
    let (Some(entry), Some(target)) = (queued.book, target) else { return };
    let outcome = match target {
        Target::Direct(side) => apply_entry::apply(cell, side, &entry),
        Target::Implied(side) => {
            apply_entry::apply(&mut instruments.implied[instrument.as_usize()], side, &entry)
        }
        Target::Reset => return instruments.empty(instrument),
        Target::MarketBest => return,
        Target::Invalid => Outcome::Invalid,
    };
    if matches!(outcome, Outcome::Invalid | Outcome::Inapplicable) {
        instruments.cells[instrument.as_usize()].head.state = State::Waiting;
        recovery.waiting_from = queued.sequence.saturating_add(1);
    }
}
