//! What the exchange says of its own accord: statuses, resets, implied levels.

use hairpin_time::{Now, Utc};

use super::queue::{BookEntry, BookKind, Change, Content, Ending};
use super::{IMPLIED_DEPTH, Ladder, Publication, Publisher, TopOrders, TradingStatus};
use crate::matching::{Matching, PriceLevel, Side};

/// The implied levels that were set, and those of them that are not published yet.
#[derive(Debug)]
pub(super) struct Implied {
    targets: Box<[[Ladder<IMPLIED_DEPTH>; 2]]>,
    changed: Vec<u32>,
}

impl Implied {
    pub(super) fn new(instruments: usize) -> Self {
        Self {
            targets: vec![Default::default(); instruments].into(),
            changed: Vec::with_capacity(instruments),
        }
    }

    /// Instruments with levels that are not published yet, each once.
    pub(super) fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Forgets which these are, and tells them.
    pub(super) fn drain_changed(&mut self) -> impl Iterator<Item = u32> + '_ {
        self.changed.drain(..)
    }
}

impl Publisher {
    /// Sets the implied levels of a side, best first; those beyond [`IMPLIED_DEPTH`] are ignored,
    /// and so are their numbers of orders: none stand behind them. The next
    /// [`Publisher::publish`] sends how they differ from what was published, at the end of its
    /// event.
    ///
    /// # Panics
    /// If there is no such instrument or it has no implied book.
    pub fn set_implied(&mut self, instrument: u32, side: Side, levels: &[PriceLevel]) {
        assert!(self.instruments[instrument as usize].has_implied, "no implied book");
        let target = &mut self.implied.targets[instrument as usize][side.index()];
        let levels = levels.iter().map(|&level| PriceLevel { orders: 0, ..level });
        target.become_equal(side, levels, |_, _, _| {});
        if !self.implied.changed.contains(&instrument) {
            self.implied.changed.push(instrument);
        }
    }

    /// Whether implied levels were set that are not published yet.
    #[must_use]
    pub fn has_unpublished(&self) -> bool {
        !self.implied.changed.is_empty()
    }

    /// Queues that an instrument, or with `None` every one, has this status now. Template 30 is an
    /// event of its own, behind what a conflated group keeps.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn set_status(
        &mut self,
        now: Now,
        instrument: Option<u32>,
        status: TradingStatus,
    ) -> Publication {
        if !self.flush(now.monotonic) || !self.queue.has_room_for(1, 0, 0) {
            return Publication::Deferred;
        }
        match instrument {
            Some(instrument) => self.changing(instrument).status = status,
            None => self.all().for_each(|index| self.changing(index).status = status),
        }
        let security_id = instrument.map(|instrument| self.security_id(instrument));
        self.queue_alone(now.utc, Content::Status { security_id, status })
    }

    /// Queues that a book is empty (entry type J), real and implied levels and orders alike, and in
    /// the same event what the book is now. RptSeq goes on. Where orders are published too, what is
    /// now is an event of its own: orders come before levels in one, and would be emptied with
    /// them.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn reset_book(&mut self, now: Now, instrument: u32, matching: &Matching) -> Publication {
        let orders = self.orders_of(instrument, matching);
        let has_room = |publisher: &Self| {
            let queue = &publisher.queue;
            queue.has_room_for(2, 1, 1) && queue.has_room_for_orders(orders)
        };
        if !self.flush(now.monotonic) || !has_room(self) {
            return Publication::Deferred;
        }
        let security_id = self.security_id(instrument);
        let published = self.changing(instrument);
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        published.transact_time = now.utc;
        published.sides = Default::default();
        published.implied = Default::default();
        let rpt_seq = published.rpt_seq;
        let entries = &mut self.queue.books[BookKind::Real as usize];
        entries.push(BookEntry { security_id, change: Change::Reset, rpt_seq, orders: 0 });
        self.forget_orders(instrument);
        let mut number = None;
        if self.orders.is_some() || self.tops.is_some() {
            number = Some(self.queue_market(now.utc, self.queue.ends(), false));
            self.take_fingerprints(self.events, &[instrument]);
        }
        let before = self.queue.ends();
        self.queue_all_of(instrument, matching);
        let after = self.queue.ends();
        if number.is_none() || after != before {
            let last = self.queue_market(now.utc, after, false);
            self.take_fingerprints(last, &[instrument]);
            number.get_or_insert(last);
        }
        Publication::Event(number.unwrap_or(self.events))
    }

    /// Queues a ChannelReset: all books, orders, volumes, last trades and statistics are void,
    /// RptSeq begins again at 1, the loops of snapshots begin anew. Then, in an event of its own
    /// and marked as resent (0x20), the volumes, books, orders and session statistics as they are
    /// now; limits and statistics of the day are not sent again. With `restarts`, the packets
    /// behind the reset are numbered from 1 again. The publication is that of the reset.
    ///
    /// Deferred when more than a burst of small events is waiting: send, then try again.
    pub fn reset_channel(&mut self, now: Now, matching: &Matching, restarts: bool) -> Publication {
        let count = self.instruments.len();
        let slots = self.orders.as_ref().map_or(0, |_| matching.resting() as usize);
        let has_room = |publisher: &Self| {
            let queue = &publisher.queue;
            queue.has_room_for(2, count, count) && queue.has_room_for_orders(slots)
        };
        if !self.flush(now.monotonic) || !has_room(self) {
            return Publication::Deferred;
        }
        let reset = self.queue_alone(now.utc, Content::Reset { restarts });
        self.books.forget();
        self.all().for_each(|instrument| self.forget_orders(instrument));
        self.snapshots.restart();
        self.order_snapshots.restart();
        let before = self.queue.ends();
        self.all()
            .for_each(|instrument| self.queue_volume(instrument, matching.volume(instrument)));
        self.all().for_each(|instrument| self.queue_all_of(instrument, matching));
        self.implied.changed.clear();
        let after = self.queue.ends();
        if after != before {
            self.queue_resent(now.utc, after);
        }
        reset
    }

    fn queue_resent(&mut self, transact_time: Utc, end: super::queue::Ends) {
        let number = self.queue_market(transact_time, end, true);
        for instrument in self.all() {
            self.changing(instrument).transact_time = transact_time;
            if self.books.at(instrument).rpt_seq > 0 {
                self.take_fingerprints(number, &[instrument]);
            }
        }
    }

    /// Queues all that is now of an instrument and was forgotten.
    fn queue_all_of(&mut self, instrument: u32, matching: &Matching) {
        if self.tops.is_some() {
            self.queue_tops(instrument, &TopOrders::of(matching, instrument));
        }
        self.queue_book(instrument, |side| matching.levels(instrument, side));
        self.queue_all_orders(instrument, matching);
        self.queue_statistics(instrument);
        self.queue_implied(instrument);
    }

    /// How many orders of an instrument are to be published again when it is emptied.
    fn orders_of(&self, instrument: u32, matching: &Matching) -> usize {
        let all = |side| matching.orders(instrument, side).count();
        self.orders.as_ref().map_or(0, |_| Side::BOTH.into_iter().map(all).sum())
    }

    /// Forgets what orders were published of an instrument.
    fn forget_orders(&mut self, instrument: u32) {
        self.preserve_orders(instrument);
        if let Some(orders) = &mut self.orders {
            orders.forget(instrument);
        }
        let is_ahead = self.is_ahead(instrument);
        if let Some(tops) = &mut self.tops {
            *tops.change(instrument, self.snapshots.number(), is_ahead) = TopOrders::default();
        }
    }

    /// Queues the implied levels that were set since the last publication, and still knows of which
    /// instruments they are.
    pub(super) fn queue_changed_implied(&mut self, transact_time: Utc) {
        let changed = core::mem::take(&mut self.implied.changed);
        for &instrument in &changed {
            let before = self.queue.ends();
            self.queue_implied(instrument);
            if self.queue.ends() != before {
                self.changing(instrument).transact_time = transact_time;
            }
        }
        self.implied.changed = changed;
    }

    /// Those are published, by the event of this number if by any.
    pub(super) fn end_changed_implied(&mut self, event: Option<u64>) {
        let mut changed = core::mem::take(&mut self.implied.changed);
        if let Some(event) = event {
            self.take_fingerprints(event, &changed);
        }
        changed.clear();
        self.implied.changed = changed;
    }

    pub(super) fn queue_implied(&mut self, instrument: u32) {
        self.preserve_orders(instrument);
        let security_id = self.security_id(instrument);
        let is_ahead = self.is_ahead(instrument);
        let published = self.books.change(instrument, self.snapshots.number(), is_ahead);
        let targets = &self.implied.targets[instrument as usize];
        for side in Side::BOTH {
            let target = targets[side.index()].levels().iter().copied();
            let rpt_seq = &mut published.rpt_seq;
            let entries = &mut self.queue.books[BookKind::Implied as usize];
            published.implied[side.index()].become_equal(side, target, |action, number, level| {
                *rpt_seq = rpt_seq.wrapping_add(1);
                let change = Change::Level { side, action, number, level };
                entries.push(BookEntry { security_id, change, rpt_seq: *rpt_seq, orders: 0 });
            });
        }
    }

    /// Queues an event of one message without entries.
    fn queue_alone(&mut self, transact_time: Utc, content: Content) -> Publication {
        let end = self.queue.ends();
        let number = self.queue_event(transact_time, content, Ending::LastMessage, end);
        Publication::Event(number)
    }

    fn all(&self) -> core::ops::Range<u32> {
        // As many as settings asked for in a `u32`.
        0..self.instruments.len() as u32
    }
}
