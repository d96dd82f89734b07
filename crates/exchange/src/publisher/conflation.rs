//! What happens within an interval, published as one event.
//!
//! Instruments are of market segments, and each segment has an interval of its own. It begins anew
//! when messages of it are published, and silently when it ends and nothing has happened. Within
//! it trades are kept one by one, each with its time, and of books only what is latest. Whatever
//! is not conflated (statuses, definitions, limits, resets) publishes first what all segments keep.

use hairpin_time::{Duration, Instant, Now, Utc};

use super::queue::{Ends, TradeEntry, TradeOrder};
use super::{Group, Ladder, Publication, Publisher, PublisherSettings, TopOrders};
use crate::matching::{Accumulator, Matching, Side};

#[derive(Debug)]
pub(super) struct Conflation {
    segments: Box<[Segment]>,
    latest: Box<[Latest]>,
}

/// One market segment.
#[derive(Debug)]
struct Segment {
    interval: Duration,
    /// When the present interval ends.
    ends: Instant,
    is_pending: bool,
    /// Of the last event.
    transact_time: Utc,
    /// Instruments of the segment to which something has happened.
    touched: Vec<u32>,
    /// Trades of these, whose `first_order` is an index of `orders`.
    trades: Vec<(u32, TradeEntry)>,
    orders: Vec<TradeOrder>,
}

/// What is now of an instrument to which something has happened.
#[derive(Debug, Default, Clone, Copy)]
struct Latest {
    is_touched: bool,
    sides: [Ladder; 2],
    volume: u64,
    tops: TopOrders,
}

impl Conflation {
    /// `None` for a group that is not conflated.
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
            is_pending: false,
            transact_time: Utc::default(),
            touched: Vec::with_capacity(instruments.div_ceil(intervals.len())),
            trades: Vec::with_capacity(trades),
            orders: Vec::with_capacity(fills),
        };
        Some(Self {
            segments: intervals.iter().map(segment).collect(),
            latest: vec![Latest::default(); instruments].into(),
        })
    }

    /// When the first interval ends in which something has happened.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let pending = self.segments.iter().filter(|segment| segment.is_pending);
        pending.map(|segment| segment.ends).min()
    }

    fn segment_of(&mut self, instrument: u32) -> &mut Segment {
        let index = instrument as usize % self.segments.len();
        &mut self.segments[index]
    }

    /// Something has happened to an instrument.
    fn touch(&mut self, now: Now, instrument: u32) -> &mut Latest {
        let segment = self.segment_of(instrument);
        segment.begin(now);
        let latest = &mut self.latest[instrument as usize];
        if !latest.is_touched {
            latest.is_touched = true;
            let index = instrument as usize % self.segments.len();
            self.segments[index].touched.push(instrument);
        }
        latest
    }

    /// Whether all trades of `events` can be kept.
    fn has_room(&self, events: &Accumulator) -> bool {
        self.segments.iter().all(|segment| {
            segment.trades.capacity() - segment.trades.len() >= events.trades().len()
                && segment.orders.capacity() - segment.orders.len() >= events.fills().len()
        })
    }
}

impl Segment {
    /// Something happens: in the present interval, or in the one that began when the last of those
    /// in which nothing happened had ended.
    fn begin(&mut self, now: Now) {
        self.transact_time = now.utc;
        if !self.is_pending {
            self.is_pending = true;
            if now.monotonic >= self.ends {
                let over = (now.monotonic - self.ends).as_nanos();
                let step = self.interval.as_nanos();
                self.ends += Duration::from_nanos((over / step + 1) * step);
            }
        }
    }
}

impl Publisher {
    /// Keeps what has happened for the end of the interval.
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
        self.keep_trades(&mut conflation, now.utc, events);
        for &instrument in events.touched() {
            let latest = conflation.touch(now, instrument);
            latest.volume = matching.volume(instrument);
            for side in Side::BOTH {
                latest.sides[side.index()] = Ladder::of(matching.levels(instrument, side));
            }
            if self.tops.is_some() {
                latest.tops = TopOrders::of(matching, instrument);
            }
        }
        for instrument in self.implied.drain_changed() {
            // Whatever changes its other book comes by here, so that what is latest of that is what
            // was published.
            conflation.touch(now, instrument);
        }
        self.conflation = Some(conflation);
        events.clear();
        Publication::Conflated
    }

    fn keep_trades(&self, conflation: &mut Conflation, transact_time: Utc, events: &Accumulator) {
        for trade in events.trades() {
            let segment = conflation.segment_of(trade.instrument);
            let first_order = segment.orders.len();
            let fills = events.fills_of(trade);
            let order =
                |fill: &crate::Fill| TradeOrder { order: fill.order, quantity: fill.quantity };
            segment.orders.extend(fills.iter().map(order));
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
            segment.trades.push((trade.instrument, entry));
        }
    }

    /// Publishes what the segments keep whose interval has ended, until something is queued:
    /// nothing was before, so there is room for it.
    pub(super) fn publish_what_is_due(&mut self, now: Instant) {
        let Some(mut conflation) = self.conflation.take() else { return };
        let Conflation { segments, latest } = &mut conflation;
        let is_due = |segment: &&mut Segment| segment.is_pending && now >= segment.ends;
        for segment in segments.iter_mut().filter(is_due) {
            self.publish_segment(segment, latest, now);
            if !self.queue.is_empty() {
                break;
            }
        }
        self.conflation = Some(conflation);
    }

    /// Publishes at once what all segments keep: something that is not conflated comes behind it.
    /// `false` if the queue has no room for it; nothing is published then.
    pub(super) fn flush(&mut self, now: Instant) -> bool {
        let Some(mut conflation) = self.conflation.take() else { return true };
        let Conflation { segments, latest } = &mut conflation;
        let sum = |of: fn(&Segment) -> usize| segments.iter().map(of).sum::<usize>();
        let touched = sum(|segment| segment.touched.len());
        let has_room = self.queue.has_room_for(segments.len(), touched, touched)
            && self.queue.has_room_for_trades(
                sum(|segment| segment.trades.len()),
                sum(|segment| segment.orders.len()),
            );
        if has_room {
            let pending = segments.iter_mut().filter(|segment| segment.is_pending);
            pending.for_each(|segment| self.publish_segment(segment, latest, now));
        }
        self.conflation = Some(conflation);
        has_room
    }

    /// Queues what a segment keeps as one event, if anything of it is to be seen.
    fn publish_segment(&mut self, segment: &mut Segment, latest: &mut [Latest], now: Instant) {
        let before = self.queue.ends();
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
            let Latest { sides, tops, .. } = &latest[instrument as usize];
            self.queue_tops(instrument, tops);
            self.queue_book(instrument, |side| sides[side.index()].levels().iter().copied());
        }
        for &instrument in &segment.touched {
            self.queue_statistics(instrument);
            self.queue_implied(instrument);
        }
        let after = self.queue.ends();
        if after != before {
            self.end_segment(segment, after);
        }
        for instrument in segment.touched.drain(..) {
            latest[instrument as usize].is_touched = false;
        }
        segment.is_pending = false;
        segment.ends = now + segment.interval;
    }

    fn end_segment(&mut self, segment: &Segment, end: Ends) {
        for &instrument in &segment.touched {
            self.changing(instrument).transact_time = segment.transact_time;
        }
        let number = self.queue_market(segment.transact_time, end, false);
        self.take_fingerprints(number, &segment.touched);
    }
}
