//! The queued order entries after a snapshot.

use hairpin_time::Utc;

use super::OrderBooks;
use super::order_book_head::Loading;
use super::order_entry::{Flaw, OrderEntry};
use crate::market::Market;
use crate::recovery::recovery_queue::{Queued, RecoveryQueue};
use crate::{InstrumentIndex, Listener, Packet, UpdateSource, Warning};

/// An order entry that waits for its instrument's snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedOrder {
    /// The packet it came in.
    pub(super) sequence: u32,
    pub(super) entry: OrderEntry,
}

const _: () = assert!(RecoveryQueue::<QueuedOrder>::NODE_BYTES == 48);

impl Queued for QueuedOrder {
    const VACANT: Self = Self { sequence: 0, entry: OrderEntry::RESET };

    fn sequence(&self) -> u32 {
        self.sequence
    }
}

impl Market {
    /// An order book has been loaded as of packet `sequence`: applies what is queued after it, and
    /// tells the book if it is right then.
    pub(super) fn replay_orders(
        &mut self,
        (packet, transact_time): (&Packet, Utc),
        instrument: InstrumentIndex,
        sequence: u32,
        listener: &mut impl Listener,
    ) {
        let head = &mut self.instruments.orders.heads[instrument.as_usize()];
        head.snapshot_sequence = sequence;
        head.loading = Loading::NONE;
        let Some((failed_at, flaw)) = self.apply_queued(instrument, sequence) else {
            self.order_book_comes_in(instrument, listener);
            let source = UpdateSource::Snapshot;
            return self.tell_orders((packet, transact_time), instrument, source, true, listener);
        };
        self.order_book_falls_out(instrument, failed_at.saturating_add(1), listener);
        if flaw == Flaw::NoRoom {
            self.instruments.orders.clear(instrument);
            let security_id = self.instruments.book(instrument).security_id();
            self.warn(&Warning::OrdersOverCapacity { security_id }, listener);
        } else {
            self.counters.order_snapshots_not_continued += 1;
        }
    }

    /// Applies the queued entries after packet `sequence`; returns the packet of the first that
    /// did not fit, and why.
    fn apply_queued(&mut self, instrument: InstrumentIndex, sequence: u32) -> Option<(u32, Flaw)> {
        if self.settings.order_books != OrderBooks::Full {
            return None;
        }
        let arena = &mut self.instruments.orders;
        let queued = self.orders.queue.of(instrument);
        queued.filter(|queued| queued.sequence > sequence).find_map(|queued| {
            let flaw = arena.apply(instrument, &queued.entry).err()?;
            Some((queued.sequence, flaw))
        })
    }
}
