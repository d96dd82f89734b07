//! Conflation: the changes of an interval are published as one event.
//!
//! Each instrument belongs to a market segment, and each segment has its own interval. The interval
//! restarts when messages of the segment are published. It restarts silently if it ends without
//! changes. Within an interval, each trade is stored with its time, and only the latest state of
//! each book. Messages that are not conflated (statuses, definitions, limits, resets) first publish
//! the changes of all segments.

use hairpin_time::{Duration, Instant, Now, Utc};

use super::queue::{Lengths, TradeEntry, TradeOrder};
use super::{Group, Ladder, Publication, Publisher, PublisherSettings, TopOrders};
use crate::matching::{Accumulator, Matching, Side};

#[derive(Debug)]
pub(super) struct Conflation {
    segments: Box<[Segment]>,
    latest: Box<[LatestState]>,
}

/// A market segment.
#[derive(Debug)]
struct Segment {
    interval: Duration,
    /// The end of the current interval.
    ends: Instant,
    pending: bool,
    /// The time of the last event.
    transact_time: Utc,
    /// The instruments of the segment that have changed.
    touched: Vec<u32>,
    /// The trades of these instruments. Their `first_order` is an index into `orders`.
    trades: Vec<(u32, TradeEntry)>,
    orders: Vec<TradeOrder>,
}

/// The latest state of a changed instrument.
#[derive(Debug, Default, Clone, Copy)]
struct LatestState {
    touched: bool,
    sides: [Ladder; 2],
    volume: u64,
    top_orders: TopOrders,
}

impl Conflation {
    /// Creates the conflation state. Returns `None` for a group that is not conflated.
    pub(super) fn new(
        settings: &PublisherSettings,
        instruments: usize,
        accumulator: &Accumulator,
        now: Instant,
    ) -> Option<Self> {
        let Group::Conflated { intervals, .. } = settings.group else { return None };
        let (trades, fills) = accumulator.capacity();
        let segment = |&interval: &Duration| Segment {
            interval,
            ends: now + interval,
            pending: false,
            transact_time: Utc::default(),
            touched: Vec::with_capacity(instruments.div_ceil(intervals.len())),
            trades: Vec::with_capacity(trades),
            orders: Vec::with_capacity(fills),
        };
        Some(Self {
            segments: intervals.iter().map(segment).collect(),
            latest: vec![LatestState::default(); instruments].into(),
        })
    }

    /// Returns the end of the first interval with changes.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let pending = self.segments.iter().filter(|segment| segment.pending);
        pending.map(|segment| segment.ends).min()
    }

    fn segment_of(&mut self, instrument: u32) -> &mut Segment {
        let index = instrument as usize % self.segments.len();
        &mut self.segments[index]
    }

    /// Records that an instrument has changed, and returns its latest state.
    fn touch(&mut self, now: Now, instrument: u32) -> &mut LatestState {
        let segment = self.segment_of(instrument);
        segment.record_change(now);
        let latest = &mut self.latest[instrument as usize];
        if !latest.touched {
            latest.touched = true;
            let index = instrument as usize % self.segments.len();
            self.segments[index].touched.push(instrument);
        }
        latest
    }

    /// Returns `true` if all trades of `events` can be stored.
    fn has_room(&self, events: &Accumulator) -> bool {
        self.segments.iter().all(|segment| {
            segment.trades.capacity() - segment.trades.len() >= events.trades().len()
                && segment.orders.capacity() - segment.orders.len() >= events.fills().len()
        })
    }
}

impl Segment {
    /// Records a change. If the interval has ended without changes, advances to the interval that
    /// contains `now`.
    fn record_change(&mut self, now: Now) {
        self.transact_time = now.utc;
        if !self.pending {
            self.pending = true;
            if now.monotonic >= self.ends {
                let overdue = (now.monotonic - self.ends).as_nanos();
                let step = self.interval.as_nanos();
                self.ends += Duration::from_nanos((overdue / step + 1) * step);
            }
        }
    }
}

impl Publisher {
    /// Stores the changes until the end of the interval.
    pub(super) fn conflate(
        &mut self,
        now: Now,
        matching: &Matching,
        events: &mut Accumulator,
    ) -> Publication {
        if events.is_empty() && self.implied.changed().is_empty() {
            return Publication::Unchanged;
        }
        let has_room =
            |publisher: &Self| publisher.conflation.as_ref().is_none_or(|c| c.has_room(events));
        if !(has_room(self) || self.flush(now.monotonic) && has_room(self)) {
            return Publication::Deferred;
        }
        let Some(mut conflation) = self.conflation.take() else { return Publication::Unchanged };
        self.store_trades(&mut conflation, now.utc, events);
        for &instrument in events.touched() {
            let latest = conflation.touch(now, instrument);
            latest.volume = matching.volume(instrument);
            for side in Side::BOTH {
                latest.sides[side.index()] = Ladder::from_levels(matching.levels(instrument, side));
            }
            if self.tops.is_some() {
                latest.top_orders = TopOrders::from_matching(matching, instrument);
            }
        }
        for instrument in self.implied.drain_changed() {
            // All changes of the direct book pass through here, so its latest state is the
            // published one.
            conflation.touch(now, instrument);
        }
        self.conflation = Some(conflation);
        events.clear();
        Publication::Conflated
    }

    fn store_trades(&self, conflation: &mut Conflation, transact_time: Utc, events: &Accumulator) {
        for trade in events.trades() {
            let segment = conflation.segment_of(trade.instrument);
            let first_order = segment.orders.len();
            let fills = events.fills_of(trade);
            let order =
                |fill: &crate::Fill| TradeOrder { order: fill.order, quantity: fill.quantity };
            segment.orders.extend(fills.iter().map(order));
            let security_id = self.security_id(trade.instrument);
            let entry =
                TradeEntry::new(trade, security_id, transact_time, first_order, fills.len());
            segment.trades.push((trade.instrument, entry));
        }
    }

    /// Publishes the changes of segments whose interval has ended, until something is queued. The
    /// queue was empty before, so there is room.
    pub(super) fn publish_due_segments(&mut self, now: Instant) {
        let Some(mut conflation) = self.conflation.take() else { return };
        let Conflation { segments, latest } = &mut conflation;
        let is_due = |segment: &&mut Segment| segment.pending && now >= segment.ends;
        for segment in segments.iter_mut().filter(is_due) {
            self.publish_segment(segment, latest, now);
            if !self.queue.is_empty() {
                break;
            }
        }
        self.conflation = Some(conflation);
    }

    /// Publishes the changes of all segments at once, before a message that is not conflated.
    /// Returns `false` without publishing if the queue has no room.
    pub(super) fn flush(&mut self, now: Instant) -> bool {
        let Some(mut conflation) = self.conflation.take() else { return true };
        let Conflation { segments, latest } = &mut conflation;
        let sum = |count: fn(&Segment) -> usize| segments.iter().map(count).sum::<usize>();
        let touched = sum(|segment| segment.touched.len());
        let has_room = self.queue.has_room_for(segments.len(), touched, touched)
            && self.queue.has_room_for_trades(
                sum(|segment| segment.trades.len()),
                sum(|segment| segment.orders.len()),
            );
        if has_room {
            let pending = segments.iter_mut().filter(|segment| segment.pending);
            pending.for_each(|segment| self.publish_segment(segment, latest, now));
        }
        self.conflation = Some(conflation);
        has_room
    }

    /// Queues the changes of a segment as one event, if they are visible in the published state.
    fn publish_segment(&mut self, segment: &mut Segment, latest: &mut [LatestState], now: Instant) {
        let before = self.queue.lengths();
        for (instrument, trade) in segment.trades.drain(..) {
            let first_order = self.queue.orders.len();
            let orders = &segment.orders[trade.first_order..][..trade.orders];
            self.queue.orders.extend_from_slice(orders);
            self.queue_trade(instrument, TradeEntry { first_order, ..trade });
        }
        segment.orders.clear();
        for &instrument in &segment.touched {
            self.queue_volume(instrument, latest[instrument as usize].volume);
        }
        for &instrument in &segment.touched {
            let LatestState { sides, top_orders, .. } = &latest[instrument as usize];
            self.queue_top_orders(instrument, top_orders);
            self.queue_book(instrument, |side| sides[side.index()].levels().iter().copied());
        }
        for &instrument in &segment.touched {
            self.queue_statistics(instrument);
            self.queue_implied(instrument);
        }
        let after = self.queue.lengths();
        if after != before {
            self.queue_segment_event(segment, after);
        }
        for instrument in segment.touched.drain(..) {
            latest[instrument as usize].touched = false;
        }
        segment.pending = false;
        segment.ends = now + segment.interval;
    }

    fn queue_segment_event(&mut self, segment: &Segment, end: Lengths) {
        for &instrument in &segment.touched {
            self.published_mut(instrument).transact_time = segment.transact_time;
        }
        let number = self.queue_market(segment.transact_time, end, false);
        self.record_fingerprints(number, &segment.touched);
    }
}
