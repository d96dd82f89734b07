//! The differences between the current and the published state, as entries of the queue.

use hairpin_time::Utc;

use super::incremental::ATTACHED_MAX;
use super::loop_pacer::LoopPacer;
use super::orders::PublishedOrder;
use super::queue::{
    BookEntry, BookKind, Change, Content, Ending, Event, Lengths, OrderEntry, StatisticEntry,
    TopEntry, TradeEntry, TradeOrder, VolumeEntry,
};
use super::snapshots::AwaitedLoops;
use super::{OrderPath, Published, Publisher, TopOrders};
use crate::matching::{Accumulator, Matching, PriceLevel, Side};

impl Publisher {
    pub(super) fn queue_trades(&mut self, transact_time: Utc, events: &Accumulator) {
        for trade in events.trades() {
            let fills = events.fills_of(trade);
            let first_order = self.queue.orders.len();
            let orders =
                fills.iter().map(|fill| TradeOrder { order: fill.order, quantity: fill.quantity });
            self.queue.orders.extend(orders);
            let security_id = self.security_id(trade.instrument);
            let entry =
                TradeEntry::new(trade, security_id, transact_time, first_order, fills.len());
            self.queue_trade(trade.instrument, entry);
        }
    }

    /// Queues a trade whose orders are queued, and assigns its RptSeq.
    pub(super) fn queue_trade(&mut self, instrument: u32, entry: TradeEntry) {
        if let Some(session) = self.sessions.get_mut(instrument as usize) {
            session.record_trade(entry.price);
        }
        let published = self.published_mut(instrument);
        published.last_trade = Some((entry.price, entry.quantity));
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        let rpt_seq = published.rpt_seq;
        self.queue.trades.push(TradeEntry { rpt_seq, ..entry });
    }

    /// Queues the volume of the session: `volume` without the part before the last reset of the
    /// session's statistics.
    pub(super) fn queue_volume(&mut self, instrument: u32, volume: u64) {
        let volume = volume - self.earlier_volumes[instrument as usize];
        if self.books.at(instrument).volume == volume {
            return;
        }
        let security_id = self.security_id(instrument);
        let published = self.published_mut(instrument);
        published.volume = volume;
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        let rpt_seq = published.rpt_seq;
        self.queue.volumes.push(VolumeEntry { security_id, volume, rpt_seq });
    }

    /// Queues the differences between `levels` and the published book.
    pub(super) fn queue_book<L: Iterator<Item = PriceLevel>>(
        &mut self,
        instrument: u32,
        levels: impl Fn(Side) -> L,
    ) {
        self.preserve_orders(instrument);
        let security_id = self.security_id(instrument);
        let awaited = self.awaited(instrument);
        let published = self.books.change(instrument, awaited);
        let entries = &mut self.queue.books[BookKind::Direct as usize];
        let first = entries.len();
        for side in Side::BOTH {
            let rpt_seq = &mut published.rpt_seq;
            let on_action = |action, number, level| {
                *rpt_seq = rpt_seq.wrapping_add(1);
                let rpt_seq = *rpt_seq;
                let change = Change::Level { side, action, number, level };
                entries.push(BookEntry { security_id, change, rpt_seq, orders: 0 });
            };
            published.sides[side.index()].update_to(side, levels(side), on_action);
        }
        let end = entries.len();
        if let Some(range) = self.entries.get_mut(instrument as usize) {
            *range = (self.events + 1, first, end);
        }
    }

    /// Queues all orders of an instrument whose book is queued and whose orders are unpublished.
    pub(super) fn queue_all_orders(&mut self, instrument: u32, matching: &Matching) {
        if self.orders.is_none() {
            return;
        }
        for side in Side::BOTH {
            for order in matching.orders(instrument, side) {
                self.queue_orders(&[order.id.slot()], matching);
            }
        }
    }

    /// Queues the changes of the orders in `slots`, whose books are queued.
    pub(super) fn queue_orders(&mut self, slots: &[u32], matching: &Matching) {
        let (Some(mut orders), Some(settings)) = (self.orders.take(), self.settings.orders())
        else {
            return;
        };
        let first = self.queue.attached_orders.len();
        for &slot in slots {
            let target = matching.order_in_slot(slot);
            let target = target.map(|order| (order.instrument, PublishedOrder::from_order(order)));
            orders.update_to(slot, target, |instrument, action, order| {
                let security_id = self.security_id(instrument);
                let entry = OrderEntry { security_id, action, order };
                self.queue_order(instrument, entry, settings.path);
            });
        }
        self.queue.attached_orders[first..]
            .sort_unstable_by_key(|&(entry, OrderEntry { order, .. })| (entry, order.id));
        self.orders = Some(orders);
    }

    /// Queues a change of an order, attached to the entry of its price level or separately.
    fn queue_order(&mut self, instrument: u32, entry: OrderEntry, path: OrderPath) {
        let (event, first, end) = self.entries[instrument as usize];
        let range = if event == self.events + 1 { first..end } else { 0..0 };
        let levels = &mut self.queue.books[BookKind::Direct as usize][range];
        let matches_order = |level: &&mut BookEntry| {
            matches!(level.change, Change::Level { side, level: PriceLevel { price, .. }, .. }
                if side == entry.order.side && price == entry.order.price)
                && level.orders < ATTACHED_MAX
        };
        let attached = match path {
            OrderPath::Separate => None,
            OrderPath::WithLevels => {
                levels.iter_mut().enumerate().find(|(_, level)| matches_order(level))
            }
        };
        match attached {
            Some((index, level)) => {
                level.orders += 1;
                self.queue.attached_orders.push((first + index, entry));
            }
            None => self.queue.separate_orders.push(entry),
        }
    }

    /// Queues the top orders of an instrument if they differ from the published ones.
    pub(super) fn queue_top_orders(&mut self, instrument: u32, orders: &TopOrders) {
        let security_id = self.security_id(instrument);
        let awaited = self.awaited(instrument);
        let Some(tops) = &mut self.tops else { return };
        if tops.at(instrument) != orders {
            *tops.change(instrument, awaited) = *orders;
            self.queue.top_orders.push(TopEntry { security_id, orders: *orders });
        }
    }

    /// Queues the changes of the session statistics caused by an instrument's trades and book.
    pub(super) fn queue_statistics(&mut self, instrument: u32) {
        let Some(session) = self.sessions.get_mut(instrument as usize) else { return };
        let published = self.books.at(instrument);
        session.record_book(&published.sides);
        let (session, published) = (*session, published.statistics.session);
        if session == published {
            return;
        }
        let security_id = self.security_id(instrument);
        for statistic in session.changes_since(published) {
            let rpt_seq = self.next_rpt_seq(instrument);
            self.queue.statistics.push(StatisticEntry { security_id, statistic, rpt_seq });
        }
        self.published_mut(instrument).statistics.session = session;
    }

    /// Queues the event whose entries end at `end`, and returns its number.
    pub(super) fn queue_market(&mut self, transact_time: Utc, end: Lengths, resent: bool) -> u64 {
        let ending = match self.settings.plain_endings {
            true => Ending::LastMessage,
            false => Ending::new(self.events + 1),
        };
        self.queue_event(transact_time, Content::Market { resent }, ending, end)
    }

    pub(super) fn queue_event(
        &mut self,
        transact_time: Utc,
        content: Content,
        ending: Ending,
        end: Lengths,
    ) -> u64 {
        self.events += 1;
        let number = self.events;
        self.queue.events.push(Event { number, transact_time, content, ending, end });
        number
    }

    /// Returns the next RptSeq (tag 83) of an instrument.
    pub(super) fn next_rpt_seq(&mut self, instrument: u32) -> u32 {
        let published = self.published_mut(instrument);
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        published.rpt_seq
    }

    /// Returns the published state of an instrument for a change.
    pub(super) fn published_mut(&mut self, instrument: u32) -> &mut Published {
        self.preserve_orders(instrument);
        let awaited = self.awaited(instrument);
        self.books.change(instrument, awaited)
    }

    /// Preserves the orders of an instrument for the order snapshot loop that has not sent them
    /// yet. Call before a change of the orders or of the fields in their snapshot.
    pub(super) fn preserve_orders(&mut self, instrument: u32) {
        let Some(orders) = &mut self.orders else { return };
        let pacer = &self.order_snapshots;
        if !pacer.is_at_start() && instrument >= pacer.next() {
            let activity = self.books.at(instrument).activity();
            orders.preserve(instrument, pacer.number(), activity);
        }
    }

    /// Returns the current snapshot loops that have not sent this instrument yet.
    pub(super) fn awaited(&self, instrument: u32) -> AwaitedLoops {
        let awaited = |pacer: &LoopPacer| {
            let is_awaited = !pacer.is_at_start() && instrument >= pacer.next();
            is_awaited.then_some(pacer.number())
        };
        let orders = self.orders.as_ref().and_then(|_| awaited(&self.order_snapshots));
        [awaited(&self.snapshots), orders]
    }

    pub(super) fn security_id(&self, instrument: u32) -> i32 {
        self.instruments[instrument as usize].security_id
    }
}
