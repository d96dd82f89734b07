//! The snapshot loops: template 52 (69 with long quantities) for each instrument that was ever
//! active. A conflated group with top orders adds a 53 after each. A Premium group with orders has
//! a second loop with the 53 of all orders after each 52, in chunks.
//!
//! A loop sends all books as of one incremental packet (LastMsgSeqNumProcessed, tag 369), while the
//! market continues. A book that changes before the loop has sent it is copied first.

mod orders;
mod prices;

use core::ops::Range;

use hairpin_time::Utc;

use super::Channel;
use super::ladder::{IMPLIED_DEPTH, Ladder};
use super::orders::{Activity, OrderBooks, PublishedOrder};
use super::packet::Packet;
use super::statistics::Statistics;
use super::status::TradingStatus;
use super::top_orders::TopOrders;
use crate::{Instrument, Price};
use orders::Chunk;

/// The published state of one instrument.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Bids and offers.
    pub sides: [Ladder; 2],
    /// Implied bids and offers. Their levels have no orders.
    pub implied: [Ladder<IMPLIED_DEPTH>; 2],
    /// The last RptSeq (tag 83), 0 if the instrument was never active.
    pub rpt_seq: u32,
    /// The traded contracts.
    pub volume: u64,
    /// The price and quantity of the last trade.
    pub last_trade: Option<(Price, u32)>,
    /// TransactTime of the last event (tag 60).
    pub transact_time: Utc,
    /// The trading status (tag 1682).
    pub status: TradingStatus,
    /// The published statistics.
    pub statistics: Statistics,
    /// The market best bid and offer (entry types x and w): price, and quantity if known.
    pub market_best: [Option<(Price, Option<u32>)>; 2],
}

impl Published {
    pub(super) fn activity(&self) -> Activity {
        Activity { active: self.rpt_seq > 0, transact_time: self.transact_time }
    }
}

/// The published state of each instrument, and copies of earlier states that the current snapshot
/// loop has to send.
#[derive(Debug)]
pub(super) struct Books<T = Published> {
    current: Box<[T]>,
    /// Indexed by [`LoopKind`].
    preserved: [Box<[Preserved<T>]>; 2],
}

/// The snapshot loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopKind {
    /// The loop of price books.
    Snapshots,
    /// The loop of price books and all orders.
    OrderSnapshots,
}

/// The numbers of the current loops that have not sent an instrument yet, indexed by [`LoopKind`].
pub(super) type AwaitedLoops = [Option<u64>; 2];

#[derive(Debug, Default, Clone, Copy)]
struct Preserved<T> {
    loop_number: u64,
    published: T,
}

/// The header fields that are the same in a whole loop.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct LoopHeader {
    /// LastMsgSeqNumProcessed (tag 369).
    pub(super) last_processed: u32,
    /// TotNumReports (tag 911).
    pub(super) total: u32,
}

impl<T: Copy + Default> Books<T> {
    /// Creates default states. `has_order_loop` allocates the copies for the second loop.
    pub(super) fn new(instruments: usize, has_order_loop: bool) -> Self {
        let preserved = |count| vec![Preserved::default(); count].into();
        let second = if has_order_loop { instruments } else { 0 };
        Self {
            current: vec![T::default(); instruments].into(),
            preserved: [preserved(instruments), preserved(second)],
        }
    }

    pub(super) fn at(&self, instrument: u32) -> &T {
        &self.current[instrument as usize]
    }

    /// Returns a state for a change, after preserving it for the loops that wait for it.
    pub(super) fn change(&mut self, instrument: u32, awaited: AwaitedLoops) -> &mut T {
        let current = &mut self.current[instrument as usize];
        for (preserved, loop_number) in self.preserved.iter_mut().zip(awaited) {
            let Some(loop_number) = loop_number else { continue };
            let preserved = &mut preserved[instrument as usize];
            if preserved.loop_number != loop_number {
                *preserved = Preserved { loop_number, published: *current };
            }
        }
        current
    }

    /// Returns the state at the start of loop `loop_number`.
    fn at_loop_start(&self, kind: LoopKind, loop_number: u64, instrument: u32) -> &T {
        let preserved = &self.preserved[kind as usize][instrument as usize];
        if preserved.loop_number == loop_number {
            &preserved.published
        } else {
            self.at(instrument)
        }
    }
}

impl Books {
    /// Clears the published state except for the trading status.
    pub(super) fn clear(&mut self) {
        for current in &mut self.current {
            *current = Published { status: current.status, ..Published::default() };
        }
    }

    /// Returns the number of instruments that were ever active.
    pub(super) fn active(&self) -> u32 {
        // The count is at most the number of instruments.
        self.current.iter().filter(|published| published.rpt_seq > 0).count() as u32
    }
}

/// The position of a snapshot loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoopPosition {
    /// The number of the loop.
    pub(super) loop_number: u64,
    /// The next instrument.
    pub(super) instrument: u32,
    /// The number of its messages already sent.
    pub(super) part: u32,
}

/// The data that snapshots are encoded from.
pub(super) struct Source<'a> {
    pub(super) books: &'a Books,
    pub(super) top_orders: Option<&'a Books<TopOrders>>,
    pub(super) instruments: &'a [Instrument],
    pub(super) header: &'a LoopHeader,
    pub(super) channel: &'a Channel,
}

/// Appends the snapshots from `position` that fit. Returns the next instrument, and the number of
/// its messages already appended.
pub(super) fn fill(
    packet: &mut Packet<'_>,
    source: &Source<'_>,
    position: LoopPosition,
) -> (u32, u32) {
    let LoopPosition { loop_number, mut instrument, mut part } = position;
    while (instrument as usize) < source.instruments.len() {
        let kind = LoopKind::Snapshots;
        let published = source.books.at_loop_start(kind, loop_number, instrument);
        if published.rpt_seq > 0 {
            if part == 0 && !prices::append(packet, source, instrument, published) {
                break;
            }
            part = 1;
            if let Some(top_orders) = source.top_orders {
                let top = top_orders.at_loop_start(kind, loop_number, instrument);
                if !append_top(packet, source, instrument, (published, top)) {
                    break;
                }
            }
        }
        (instrument, part) = (instrument + 1, 0);
    }
    (instrument, part)
}

/// Appends template 53 with an instrument's top orders. Returns `false` if it does not fit.
fn append_top(
    packet: &mut Packet<'_>,
    source: &Source<'_>,
    instrument: u32,
    (published, top): (&Published, &TopOrders),
) -> bool {
    let chunk = Chunk {
        security_id: source.instruments[instrument as usize].security_id,
        transact_time: published.transact_time,
        chunks: 1,
        number: 1,
    };
    let each = |visit: &mut dyn FnMut(&PublishedOrder)| top.interleaved().for_each(visit);
    orders::append(packet, source.header, &chunk, (top.count(), &each))
}

/// Appends the snapshots from `position` that fit: for each instrument the price book (52), then
/// its orders (53), up to `chunk_max` in each message. Returns the same as [`fill`].
///
/// CME's page on MBP and MBOFD market recovery: a receiver of orders needs this loop only.
pub(super) fn fill_orders(
    packet: &mut Packet<'_>,
    source: &Source<'_>,
    books: &OrderBooks,
    position: LoopPosition,
    chunk_max: usize,
) -> (u32, u32) {
    let LoopPosition { loop_number, mut instrument, mut part } = position;
    while (instrument as usize) < source.instruments.len() {
        let current = source.books.at(instrument).activity();
        let (count, activity) = books.at_loop_start(loop_number, instrument, current);
        // A book without orders has one chunk without entries. The number of chunks is at most the
        // number of orders, which fits in a `u32`.
        let chunks = if activity.active { count.div_ceil(chunk_max).max(1) as u32 } else { 0 };
        if activity.active && part == 0 {
            let kind = LoopKind::OrderSnapshots;
            let published = source.books.at_loop_start(kind, loop_number, instrument);
            if !prices::append(packet, source, instrument, published) {
                return (instrument, part);
            }
            part = 1;
        }
        while (1..=chunks).contains(&part) {
            let first = (part - 1) as usize * chunk_max;
            let range: Range<usize> = first..count.min(first + chunk_max);
            let chunk = Chunk {
                security_id: source.instruments[instrument as usize].security_id,
                transact_time: activity.transact_time,
                chunks,
                number: part,
            };
            let each = |visit: &mut dyn FnMut(&PublishedOrder)| {
                books.for_each_at_loop_start(loop_number, instrument, range.clone(), visit);
            };
            if !orders::append(packet, source.header, &chunk, (range.len(), &each)) {
                return (instrument, part);
            }
            part += 1;
        }
        (instrument, part) = (instrument + 1, 0);
    }
    (instrument, part)
}
