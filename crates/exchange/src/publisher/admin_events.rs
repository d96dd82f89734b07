//! Administrative events: trading status, book and channel resets, implied levels.

use hairpin_time::{Now, Utc};

use super::queue::{BookEntry, BookKind, Change, Content, Ending};
use super::status::StatusNotice;
use super::{IMPLIED_DEPTH, Ladder, Publication, Publisher, Session, TopOrders, TradingStatus};
use crate::matching::{Matching, PriceLevel, Side};

/// The implied levels to publish, and the instruments with unpublished changes.
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

    /// Returns the instruments with unpublished changes, each once.
    pub(super) fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Removes and returns the instruments with unpublished changes.
    pub(super) fn drain_changed(&mut self) -> impl Iterator<Item = u32> + '_ {
        self.changed.drain(..)
    }
}

impl Publisher {
    /// Sets the implied levels of a side, best first. Levels beyond [`IMPLIED_DEPTH`] and numbers
    /// of orders are ignored. The next [`Publisher::publish`] sends the differences from the
    /// published levels at the end of its event.
    ///
    /// # Panics
    /// If the instrument does not exist or has no implied book.
    pub fn set_implied(&mut self, instrument: u32, side: Side, levels: &[PriceLevel]) {
        assert!(
            self.instruments[instrument as usize].implied_book,
            "instrument has no implied book"
        );
        let target = &mut self.implied.targets[instrument as usize][side.index()];
        let levels = levels.iter().map(|&level| PriceLevel { orders: 0, ..level });
        target.update_to(side, levels, |_, _, _| {});
        if !self.implied.changed.contains(&instrument) {
            self.implied.changed.push(instrument);
        }
    }

    /// Returns `true` if implied levels have unpublished changes.
    #[must_use]
    pub fn has_unpublished(&self) -> bool {
        !self.implied.changed.is_empty()
    }

    /// Queues a new trading status of an instrument, or of all instruments with `None`. Template 30
    /// is a separate event after all conflated changes.
    ///
    /// # Panics
    /// If the instrument does not exist.
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
            Some(instrument) => self.published_mut(instrument).status = status,
            None => self
                .instrument_indices()
                .for_each(|index| self.published_mut(index).status = status),
        }
        let security_id = instrument.map(|instrument| self.security_id(instrument));
        let notice = StatusNotice::Status(status);
        self.queue_single_message(now.utc, Content::Status { security_id, notice })
    }

    /// Queues a reset of the session statistics of an instrument, or of all with `None`: template
    /// 30 with SecurityTradingEvent (tag 1174) 4, after all conflated changes. The last trade, the
    /// session's volume, and all [`Session`] statistics leave the snapshots (CME, "Session
    /// Statistics Reset"). The cumulative volume restarts at 0.
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn reset_statistics(
        &mut self,
        now: Now,
        instrument: Option<u32>,
        matching: &Matching,
    ) -> Publication {
        if !self.flush(now.monotonic) || !self.queue.has_room_for(1, 0, 0) {
            return Publication::Deferred;
        }
        let range = match instrument {
            Some(instrument) => instrument..instrument + 1,
            None => self.instrument_indices(),
        };
        for instrument in range {
            self.earlier_volumes[instrument as usize] = matching.volume(instrument);
            if let Some(session) = self.sessions.get_mut(instrument as usize) {
                *session = Session::default();
            }
            let published = self.published_mut(instrument);
            published.volume = 0;
            published.last_trade = None;
            published.statistics.session = Session::default();
        }
        let security_id = instrument.map(|instrument| self.security_id(instrument));
        let notice = StatusNotice::StatisticsReset;
        self.queue_single_message(now.utc, Content::Status { security_id, notice })
    }

    /// Queues a book reset (entry type J), which clears levels, implied levels and orders, and the
    /// current book in the same event. RptSeq continues. If orders are published, the current book
    /// is a separate event: within one event, orders precede levels and would be cleared with them.
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn reset_book(&mut self, now: Now, instrument: u32, matching: &Matching) -> Publication {
        let orders = self.order_count(instrument, matching);
        let has_room = |publisher: &Self| {
            let queue = &publisher.queue;
            queue.has_room_for(2, 1, 1) && queue.has_room_for_orders(orders)
        };
        if !self.flush(now.monotonic) || !has_room(self) {
            return Publication::Deferred;
        }
        let security_id = self.security_id(instrument);
        let published = self.published_mut(instrument);
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        published.transact_time = now.utc;
        published.sides = Default::default();
        published.implied = Default::default();
        published.market_best = Default::default();
        let rpt_seq = published.rpt_seq;
        let entries = &mut self.queue.books[BookKind::Direct as usize];
        entries.push(BookEntry { security_id, change: Change::Reset, rpt_seq, orders: 0 });
        self.clear_orders(instrument);
        let mut number = None;
        if self.orders.is_some() || self.tops.is_some() {
            number = Some(self.queue_market(now.utc, self.queue.lengths(), false));
            self.record_fingerprints(self.events, &[instrument]);
        }
        let before = self.queue.lengths();
        self.queue_current_state(instrument, matching);
        let after = self.queue.lengths();
        if number.is_none() || after != before {
            let last = self.queue_market(now.utc, after, false);
            self.record_fingerprints(last, &[instrument]);
            number.get_or_insert(last);
        }
        Publication::Event(number.unwrap_or(self.events))
    }

    /// Queues a ChannelReset. All books, orders, volumes, last trades and statistics become void.
    /// RptSeq restarts at 1, and the snapshot loops restart. A separate event marked as resent
    /// (0x20) follows with the current volumes, books, orders and session statistics. Limits and
    /// daily statistics are not sent again. With `restarts`, packets after the reset are numbered
    /// from 1. The result is the publication of the reset.
    ///
    /// Returns [`Publication::Deferred`] while more than a burst of small events is queued. Send
    /// packets, then try again.
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
        let reset = self.queue_single_message(now.utc, Content::Reset { restarts });
        self.books.clear();
        self.instrument_indices().for_each(|instrument| self.clear_orders(instrument));
        self.snapshots.restart();
        self.order_snapshots.restart();
        let before = self.queue.lengths();
        self.instrument_indices()
            .for_each(|instrument| self.queue_volume(instrument, matching.volume(instrument)));
        self.instrument_indices()
            .for_each(|instrument| self.queue_current_state(instrument, matching));
        self.implied.changed.clear();
        let after = self.queue.lengths();
        if after != before {
            self.queue_all_books(now.utc, after, true);
        }
        reset
    }

    /// Starts a trading week: packets of the incremental feed are numbered from 1, without a
    /// ChannelReset, and so are the entries of each instrument. The loops restart. Volumes, trades,
    /// statistics and limits are those of a new week. The next event has the current books, if
    /// there are any.
    ///
    /// Returns [`Publication::Deferred`] while an event is queued. Send packets, then try again.
    pub fn begin_week(&mut self, now: Now, matching: &Matching) -> Publication {
        let count = self.instruments.len();
        let slots = self.orders.as_ref().map_or(0, |_| matching.resting() as usize);
        let has_room = |publisher: &Self| {
            let queue = &publisher.queue;
            queue.has_room_for(1, count, count) && queue.has_room_for_orders(slots)
        };
        if !self.flush(now.monotonic) || !self.queue.is_empty() || !has_room(self) {
            return Publication::Deferred;
        }
        self.sequence = 0;
        self.books.clear();
        self.sessions.fill(Session::default());
        for instrument in self.instrument_indices() {
            self.earlier_volumes[instrument as usize] = matching.volume(instrument);
            self.clear_orders(instrument);
        }
        self.definitions.restart();
        self.snapshots.restart();
        self.order_snapshots.restart();
        let before = self.queue.lengths();
        self.instrument_indices()
            .for_each(|instrument| self.queue_current_state(instrument, matching));
        self.implied.changed.clear();
        let after = self.queue.lengths();
        if after == before {
            return Publication::Unchanged;
        }
        self.queue_all_books(now.utc, after, false);
        Publication::Event(self.events)
    }

    fn queue_all_books(&mut self, transact_time: Utc, end: super::queue::Lengths, resent: bool) {
        let number = self.queue_market(transact_time, end, resent);
        for instrument in self.instrument_indices() {
            self.published_mut(instrument).transact_time = transact_time;
            if self.books.at(instrument).rpt_seq > 0 {
                self.record_fingerprints(number, &[instrument]);
            }
        }
    }

    /// Queues the current state of an instrument whose published state was cleared.
    fn queue_current_state(&mut self, instrument: u32, matching: &Matching) {
        if self.tops.is_some() {
            self.queue_top_orders(instrument, &TopOrders::from_matching(matching, instrument));
        }
        self.queue_book(instrument, |side| matching.levels(instrument, side));
        self.queue_all_orders(instrument, matching);
        self.queue_statistics(instrument);
        self.queue_implied(instrument);
    }

    /// Returns the number of orders to publish again after a reset of an instrument.
    fn order_count(&self, instrument: u32, matching: &Matching) -> usize {
        let count = |side| matching.orders(instrument, side).count();
        self.orders.as_ref().map_or(0, |_| Side::BOTH.into_iter().map(count).sum())
    }

    /// Clears the published orders of an instrument.
    fn clear_orders(&mut self, instrument: u32) {
        self.preserve_orders(instrument);
        if let Some(orders) = &mut self.orders {
            orders.clear(instrument);
        }
        let awaited = self.awaited(instrument);
        if let Some(tops) = &mut self.tops {
            *tops.change(instrument, awaited) = TopOrders::default();
        }
    }

    /// Queues the implied levels set since the last publication. The list of their instruments
    /// stays until [`Publisher::finish_changed_implied`].
    pub(super) fn queue_changed_implied(&mut self, transact_time: Utc) {
        let changed = core::mem::take(&mut self.implied.changed);
        for &instrument in &changed {
            let before = self.queue.lengths();
            self.queue_implied(instrument);
            if self.queue.lengths() != before {
                self.published_mut(instrument).transact_time = transact_time;
            }
        }
        self.implied.changed = changed;
    }

    /// Clears the list of changed implied books, which `event` publishes, if any.
    pub(super) fn finish_changed_implied(&mut self, event: Option<u64>) {
        let mut changed = core::mem::take(&mut self.implied.changed);
        if let Some(event) = event {
            self.record_fingerprints(event, &changed);
        }
        changed.clear();
        self.implied.changed = changed;
    }

    pub(super) fn queue_implied(&mut self, instrument: u32) {
        self.preserve_orders(instrument);
        let security_id = self.security_id(instrument);
        let awaited = self.awaited(instrument);
        let published = self.books.change(instrument, awaited);
        let targets = &self.implied.targets[instrument as usize];
        for side in Side::BOTH {
            let target = targets[side.index()].levels().iter().copied();
            let rpt_seq = &mut published.rpt_seq;
            let entries = &mut self.queue.books[BookKind::Implied as usize];
            published.implied[side.index()].update_to(side, target, |action, number, level| {
                *rpt_seq = rpt_seq.wrapping_add(1);
                let change = Change::Level { side, action, number, level };
                entries.push(BookEntry { security_id, change, rpt_seq: *rpt_seq, orders: 0 });
            });
        }
    }

    /// Queues an event of one message without entries.
    fn queue_single_message(&mut self, transact_time: Utc, content: Content) -> Publication {
        let end = self.queue.lengths();
        let number = self.queue_event(transact_time, content, Ending::LastMessage, end);
        Publication::Event(number)
    }

    fn instrument_indices(&self) -> core::ops::Range<u32> {
        // The number was given as a `u32`.
        0..self.instruments.len() as u32
    }
}
