//! The queued entries after a snapshot.

use hairpin_time::Utc;

use crate::book_entry::{self, Outcome};
use crate::entries::{self, Entry, Kind};
use crate::market::{Market, Recovery};
use crate::packet_queue::PacketQueue;
use crate::sync::State;
use crate::{BookUpdate, InstrumentIndex, Instruments, Listener, Messages, Packet, UpdateSource};

impl Market {
    /// Applies what is queued to the books just loaded, and tells those that are right then.
    pub(crate) fn replay(
        &mut self,
        packet: &Packet,
        transact_time: Utc,
        listener: &mut impl Listener,
    ) {
        let Self { queue, instruments, recovery, touched, .. } = self;
        let sequences =
            touched.iter().map(|instrument| recovery[instrument.as_usize()].snapshot_sequence);
        let Some(lowest) = sequences.min() else { return };
        replay_queue(queue, lowest, instruments, recovery);
        for position in 0..self.touched.len() {
            self.finish_replay(self.touched[position], packet, transact_time, listener);
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
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        let changes = cell.settle_best();
        if cell.head.state != State::Replaying {
            self.counters.snapshots_not_continued += 1;
            return;
        }
        let is_fresh = self.recovery[instrument.as_usize()].any_rpt_seq;
        let state = if is_fresh { State::Fresh } else { State::InSync };
        self.come_in(instrument, state, listener);
        let book = self.instruments.book(instrument);
        let source = UpdateSource::Snapshot;
        let update = BookUpdate { packet, transact_time, instrument, book, changes, source };
        listener.on_book_update(&update);
    }
}

/// Applies the packets after `lowest` to all books being replayed, one pass for all of them.
fn replay_queue(
    queue: &PacketQueue,
    lowest: u32,
    instruments: &mut Instruments,
    recovery: &mut [Recovery],
) {
    for (sequence, bytes) in queue.after(lowest) {
        for message in Messages::new(bytes).map_while(Result::ok) {
            // What cannot be read was reported when the packet came, and nothing before it counts.
            let _ = entries::read(&message, |_, entry| {
                replay_entry(instruments, recovery, sequence, &entry);
            });
        }
    }
}

fn replay_entry(
    instruments: &mut Instruments,
    recovery: &mut [Recovery],
    sequence: u32,
    entry: &Entry,
) {
    let Some(instrument) = instruments.find(entry.security_id) else { return };
    let cell = &mut instruments.cells[instrument.as_usize()];
    let recovery = &mut recovery[instrument.as_usize()];
    if cell.head.state != State::Replaying || sequence <= recovery.snapshot_sequence {
        return;
    }
    let (rpt_seq, next) = (entry.rpt_seq, cell.head.next_rpt_seq);
    let is_unnumbered = rpt_seq == 0 && next <= 1;
    if !recovery.any_rpt_seq && !is_unnumbered && rpt_seq != next {
        if rpt_seq > next || rpt_seq == 0 {
            cell.head.state = State::Waiting;
        }
        return;
    }
    if !is_unnumbered {
        cell.head.next_rpt_seq = rpt_seq.wrapping_add(1);
    }
    recovery.any_rpt_seq = false;
    if let Kind::Book(book_entry) = &entry.kind
        && matches!(book_entry::apply(cell, book_entry), Outcome::Invalid | Outcome::Inapplicable)
    {
        cell.head.state = State::Waiting;
        recovery.waiting_from = sequence.saturating_add(1);
    }
}
