//! The loops of snapshots: template 52 (or 69, with long quantities) of every instrument that was
//! ever active; in a conflated group with top orders 53 behind each; in a Premium group with orders
//! a loop of their own of 53, in chunks.
//!
//! A loop states all books as of one incremental packet (tag 369), though the market moves on
//! while it is being sent: a book that changes before its turn leaves its picture behind first.

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

/// What the world has been told of one instrument.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Bids and offers.
    pub sides: [Ladder; 2],
    /// Implied bids and offers, whose levels have no orders.
    pub implied: [Ladder<IMPLIED_DEPTH>; 2],
    /// The last sequence number of this instrument (tag 83), 0 if it was never active.
    pub rpt_seq: u32,
    /// Contracts traded.
    pub volume: u64,
    /// Price and quantity of the last trade.
    pub last_trade: Option<(Price, u32)>,
    /// Time of the last event (tag 60).
    pub transact_time: Utc,
    /// Whether it trades (tag 1682).
    pub status: TradingStatus,
    /// What is known beside the books.
    pub statistics: Statistics,
}

impl Published {
    pub(super) fn activity(&self) -> Activity {
        Activity { is_active: self.rpt_seq > 0, transact_time: self.transact_time }
    }
}

/// What is published of each instrument, and what of it the present loop still has to state as it
/// was.
#[derive(Debug)]
pub(super) struct Books<T = Published> {
    present: Box<[T]>,
    kept: Box<[Kept<T>]>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Kept<T> {
    loop_number: u64,
    published: T,
}

/// Facts that a whole loop repeats.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Heading {
    /// Tag 369.
    pub(super) last_processed: u32,
    /// Tag 911.
    pub(super) total: u32,
}

impl<T: Copy + Default> Books<T> {
    pub(super) fn new(instruments: usize) -> Self {
        Self {
            present: vec![T::default(); instruments].into(),
            kept: vec![Kept::default(); instruments].into(),
        }
    }

    pub(super) fn at(&self, instrument: u32) -> &T {
        &self.present[instrument as usize]
    }

    /// A book about to change; loop `loop_number` has yet to send it if `is_ahead`.
    pub(super) fn change(&mut self, instrument: u32, loop_number: u64, is_ahead: bool) -> &mut T {
        let present = &mut self.present[instrument as usize];
        let kept = &mut self.kept[instrument as usize];
        if is_ahead && kept.loop_number != loop_number {
            *kept = Kept { loop_number, published: *present };
        }
        present
    }

    /// A book as it was when loop `loop_number` began.
    fn at_start_of(&self, loop_number: u64, instrument: u32) -> &T {
        let kept = &self.kept[instrument as usize];
        if kept.loop_number == loop_number { &kept.published } else { self.at(instrument) }
    }
}

impl Books {
    /// Forgets everything but the statuses.
    pub(super) fn forget(&mut self) {
        for present in &mut self.present {
            *present = Published { status: present.status, ..Published::default() };
        }
    }

    /// Instruments that were ever active.
    pub(super) fn active(&self) -> u32 {
        // No more than there are instruments.
        self.present.iter().filter(|published| published.rpt_seq > 0).count() as u32
    }
}

/// Where a loop of snapshots is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Which loop it is.
    pub(super) loop_number: u64,
    /// The instrument that comes next.
    pub(super) instrument: u32,
    /// How many messages of it have left.
    pub(super) part: u32,
}

/// What loops of snapshots are made from.
pub(super) struct Source<'a> {
    pub(super) books: &'a Books,
    pub(super) tops: Option<&'a Books<TopOrders>>,
    pub(super) instruments: &'a [Instrument],
    pub(super) heading: &'a Heading,
    pub(super) channel: &'a Channel,
}

/// Appends the snapshots from `place` on that fit; returns the instrument behind the last, and how
/// many messages of that one are among them.
pub(super) fn fill(packet: &mut Packet<'_>, source: &Source<'_>, place: Place) -> (u32, u32) {
    let Place { loop_number, mut instrument, mut part } = place;
    while (instrument as usize) < source.instruments.len() {
        let published = source.books.at_start_of(loop_number, instrument);
        if published.rpt_seq > 0 {
            if part == 0 && !prices::append(packet, source, instrument, published) {
                break;
            }
            part = 1;
            if let Some(tops) = source.tops {
                let top = tops.at_start_of(loop_number, instrument);
                if !append_top(packet, source, instrument, (published, top)) {
                    break;
                }
            }
        }
        (instrument, part) = (instrument + 1, 0);
    }
    (instrument, part)
}

/// Appends template 53 of the top orders of an instrument; whether there was room.
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
    let each = |tell: &mut dyn FnMut(&PublishedOrder)| top.interleaved().for_each(tell);
    orders::append(packet, source.heading, &chunk, (top.count(), &each))
}

/// Appends the snapshots of orders from `place` on that fit, at most `chunk_max` orders each;
/// returns as [`fill`] does.
pub(super) fn fill_orders(
    packet: &mut Packet<'_>,
    source: &Source<'_>,
    books: &OrderBooks,
    place: Place,
    chunk_max: usize,
) -> (u32, u32) {
    let Place { loop_number, mut instrument, mut part } = place;
    while (instrument as usize) < source.instruments.len() {
        let present = source.books.at(instrument).activity();
        let (count, activity) = books.at_start_of(loop_number, instrument, present);
        // A book without orders is one chunk without entries; as many chunks fit in a `u32` as
        // there are orders.
        let chunks = if activity.is_active { count.div_ceil(chunk_max).max(1) as u32 } else { 0 };
        while part < chunks {
            let first = part as usize * chunk_max;
            let range: Range<usize> = first..count.min(first + chunk_max);
            let chunk = Chunk {
                security_id: source.instruments[instrument as usize].security_id,
                transact_time: activity.transact_time,
                chunks,
                number: part + 1,
            };
            let each = |tell: &mut dyn FnMut(&PublishedOrder)| {
                books.each_at_start_of(loop_number, instrument, range.clone(), tell);
            };
            if !orders::append(packet, source.heading, &chunk, (range.len(), &each)) {
                return (instrument, part);
            }
            part += 1;
        }
        (instrument, part) = (instrument + 1, 0);
    }
    (instrument, part)
}
