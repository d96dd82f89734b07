//! Queued order entries and their application after a snapshot.

use hairpin_time::Utc;

use super::OrderBooks;
use super::order_book_head::ChunkTracker;
use super::order_entry::{OrderEntry, OrderError};
use crate::market::Market;
use crate::message::entries::Root;
use crate::recovery::recovery_queue::{QueueEntry, RecoveryQueue};
use crate::{InstrumentIndex, Listener, MatchEvent, Packet, UpdateSource, Warning};

/// An order entry that waits for its instrument's snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedOrder {
    /// The sequence of its packet.
    pub(super) sequence: u32,
    pub(super) entry: OrderEntry,
}

const _: () = assert!(RecoveryQueue::<QueuedOrder>::NODE_BYTES == 48);

impl QueueEntry for QueuedOrder {
    const VACANT: Self = Self { sequence: 0, entry: OrderEntry::RESET };

    fn sequence(&self) -> u32 {
        self.sequence
    }
}

impl Market {
    /// Finishes an order snapshot as of packet `sequence`: applies the queued entries after it, and
    /// reports the book if it is then in sync.
    pub(super) fn finish_order_snapshot(
        &mut self,
        (packet, transact_time): (&Packet, Utc),
        instrument: InstrumentIndex,
        sequence: u32,
        listener: &mut impl Listener,
    ) {
        let head = &mut self.instruments.orders.heads[instrument.as_usize()];
        head.snapshot_sequence = sequence;
        head.chunk_tracker = ChunkTracker::NONE;
        if !self.begun {
            head.early = true;
            return;
        }
        let Some((failed_at, error)) = self.apply_queued_orders(instrument, sequence) else {
            self.mark_order_book_in_sync(instrument, listener);
            let source = UpdateSource::Snapshot;
            return self.notify_order_update(
                (packet, Root { transact_time, match_event: MatchEvent::NONE }),
                instrument,
                source,
                true,
                listener,
            );
        };
        self.mark_order_book_out_of_sync(instrument, failed_at.saturating_add(1), listener);
        if error == OrderError::NoRoom {
            self.instruments.orders.clear(instrument);
            let security_id = self.instruments.book(instrument).security_id();
            self.warn(&Warning::OrdersOverCapacity { security_id }, listener);
        } else {
            self.counters.order_snapshots_not_continued += 1;
        }
    }

    /// Applies the queued entries after packet `sequence`. Returns the packet of the first that
    /// failed, and the error.
    fn apply_queued_orders(
        &mut self,
        instrument: InstrumentIndex,
        sequence: u32,
    ) -> Option<(u32, OrderError)> {
        if self.settings.order_books != OrderBooks::Full {
            return None;
        }
        let arena = &mut self.instruments.orders;
        let queued = self.orders.queue.entries(instrument);
        queued.filter(|queued| queued.sequence > sequence).find_map(|queued| {
            let error = arena.apply(instrument, &queued.entry).err()?;
            Some((queued.sequence, error))
        })
    }
}
