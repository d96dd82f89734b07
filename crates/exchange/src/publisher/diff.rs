//! How what is now differs from what was published: entries for the queue.

use hairpin_time::Utc;

use super::incremental::BESIDE_MAX;
use super::orders::PublishedOrder;
use super::queue::{
    BookEntry, BookKind, Change, Content, Ending, Ends, Event, OrderEntry, StatisticEntry,
    TopEntry, TradeEntry, TradeOrder, VolumeEntry,
};
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
            let entry = TradeEntry {
                transact_time,
                security_id: self.security_id(trade.instrument),
                price: trade.price,
                quantity: trade.quantity,
                aggressor: trade.aggressor,
                id: trade.id,
                rpt_seq: 0,
                first_order,
                orders: fills.len(),
            };
            self.queue_trade(trade.instrument, entry);
        }
    }

    /// Queues a trade whose orders are queued, and gives it its RptSeq.
    pub(super) fn queue_trade(&mut self, instrument: u32, entry: TradeEntry) {
        if let Some(session) = self.sessions.get_mut(instrument as usize) {
            session.note_trade(entry.price);
        }
        let published = self.changing(instrument);
        published.last_trade = Some((entry.price, entry.quantity));
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        let rpt_seq = published.rpt_seq;
        self.queue.trades.push(TradeEntry { rpt_seq, ..entry });
    }

    pub(super) fn queue_volume(&mut self, instrument: u32, volume: u64) {
        if self.books.at(instrument).volume == volume {
            return;
        }
        let security_id = self.security_id(instrument);
        let published = self.changing(instrument);
        published.volume = volume;
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        let rpt_seq = published.rpt_seq;
        self.queue.volumes.push(VolumeEntry { security_id, volume, rpt_seq });
    }

    /// Queues how `levels` differ from what was published.
    pub(super) fn queue_book<L: Iterator<Item = PriceLevel>>(
        &mut self,
        instrument: u32,
        levels: impl Fn(Side) -> L,
    ) {
        self.preserve_orders(instrument);
        let security_id = self.security_id(instrument);
        let is_ahead = self.is_ahead(instrument);
        let published = self.books.change(instrument, self.snapshots.number(), is_ahead);
        let entries = &mut self.queue.books[BookKind::Real as usize];
        let first = entries.len();
        for side in Side::BOTH {
            let rpt_seq = &mut published.rpt_seq;
            let on_step = |action, number, level| {
                *rpt_seq = rpt_seq.wrapping_add(1);
                let rpt_seq = *rpt_seq;
                let change = Change::Level { side, action, number, level };
                entries.push(BookEntry { security_id, change, rpt_seq, orders: 0 });
            };
            published.sides[side.index()].become_equal(side, levels(side), on_step);
        }
        let end = entries.len();
        if let Some(range) = self.entries.get_mut(instrument as usize) {
            *range = (self.events + 1, first, end);
        }
    }

    /// Queues all orders of an instrument, of which none is published, and whose book is queued.
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

    /// Queues how the orders in `slots` differ from what was published, whose books are queued.
    pub(super) fn queue_orders(&mut self, slots: &[u32], matching: &Matching) {
        let (Some(mut orders), Some(settings)) = (self.orders.take(), self.settings.orders())
        else {
            return;
        };
        let first = self.queue.beside.len();
        for &slot in slots {
            let target = matching.in_slot(slot);
            let target = target.map(|order| (order.instrument, PublishedOrder::of(order)));
            orders.become_equal(slot, target, |instrument, action, order| {
                let security_id = self.security_id(instrument);
                let entry = OrderEntry { security_id, action, order };
                self.queue_order(instrument, entry, settings.path);
            });
        }
        self.queue.beside[first..]
            .sort_unstable_by_key(|&(entry, OrderEntry { order, .. })| (entry, order.id));
        self.orders = Some(orders);
    }

    /// Queues a change of an order beside the entry of its price, or apart.
    fn queue_order(&mut self, instrument: u32, entry: OrderEntry, path: OrderPath) {
        let (event, first, end) = self.entries[instrument as usize];
        let range = if event == self.events + 1 { first..end } else { 0..0 };
        let levels = &mut self.queue.books[BookKind::Real as usize][range];
        let is_of = |level: &&mut BookEntry| {
            matches!(level.change, Change::Level { side, level: PriceLevel { price, .. }, .. }
                if side == entry.order.side && price == entry.order.price)
                && level.orders < BESIDE_MAX
        };
        let place = match path {
            OrderPath::Apart => None,
            OrderPath::BesideLevels => levels.iter_mut().enumerate().find(|(_, of)| is_of(of)),
        };
        match place {
            Some((place, level)) => {
                level.orders += 1;
                self.queue.beside.push((first + place, entry));
            }
            None => self.queue.apart.push(entry),
        }
    }

    /// Queues the top orders of an instrument if they are not what was published.
    pub(super) fn queue_tops(&mut self, instrument: u32, orders: &TopOrders) {
        let security_id = self.security_id(instrument);
        let is_ahead = self.is_ahead(instrument);
        let Some(tops) = &mut self.tops else { return };
        if tops.at(instrument) != orders {
            *tops.change(instrument, self.snapshots.number(), is_ahead) = *orders;
            self.queue.tops.push(TopEntry { security_id, orders: *orders });
        }
    }

    /// Queues what an instrument's trades and book have changed of the session's prices.
    pub(super) fn queue_statistics(&mut self, instrument: u32) {
        let Some(session) = self.sessions.get_mut(instrument as usize) else { return };
        let published = self.books.at(instrument);
        session.note_book(&published.sides);
        let (session, known) = (*session, published.statistics.session);
        if session == known {
            return;
        }
        let security_id = self.security_id(instrument);
        for statistic in session.beyond(known) {
            let rpt_seq = self.next_rpt_seq(instrument);
            self.queue.statistics.push(StatisticEntry { security_id, statistic, rpt_seq });
        }
        self.changing(instrument).statistics.session = session;
    }

    /// Queues the event whose entries end at `end`; returns its number.
    pub(super) fn queue_market(&mut self, transact_time: Utc, end: Ends, is_resent: bool) -> u64 {
        let ending = match self.settings.plain_endings {
            true => Ending::LastMessage,
            false => Ending::of(self.events + 1),
        };
        self.queue_event(transact_time, Content::Market { is_resent }, ending, end)
    }

    pub(super) fn queue_event(
        &mut self,
        transact_time: Utc,
        content: Content,
        ending: Ending,
        end: Ends,
    ) -> u64 {
        self.events += 1;
        let number = self.events;
        self.queue.events.push(Event { number, transact_time, content, ending, end });
        number
    }

    /// The next sequence number of an instrument (tag 83), which is published with it.
    pub(super) fn next_rpt_seq(&mut self, instrument: u32) -> u32 {
        let published = self.changing(instrument);
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        published.rpt_seq
    }

    /// The published state of an instrument, to be changed.
    pub(super) fn changing(&mut self, instrument: u32) -> &mut Published {
        self.preserve_orders(instrument);
        let is_ahead = self.is_ahead(instrument);
        self.books.change(instrument, self.snapshots.number(), is_ahead)
    }

    /// Keeps the orders of an instrument for the loop that has yet to state them, before anything
    /// changes of them or of what is said beside them.
    pub(super) fn preserve_orders(&mut self, instrument: u32) {
        let Some(orders) = &mut self.orders else { return };
        let carousel = &self.order_snapshots;
        if !carousel.is_at_start() && instrument >= carousel.next() {
            let activity = self.books.at(instrument).activity();
            orders.preserve(instrument, carousel.number(), activity);
        }
    }

    /// Whether the snapshot loop has begun and has yet to state this instrument.
    pub(super) fn is_ahead(&self, instrument: u32) -> bool {
        !self.snapshots.is_at_start() && instrument >= self.snapshots.next()
    }

    pub(super) fn security_id(&self, instrument: u32) -> i32 {
        self.instruments[instrument as usize].security_id
    }
}
