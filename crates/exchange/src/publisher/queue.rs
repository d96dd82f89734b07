//! Events that are published but not yet sent.

use hairpin_time::Utc;

use super::ladder::{Action, DEPTH, IMPLIED_DEPTH};
use super::orders::PublishedOrder;
use super::settings::{Group, PublisherSettings};
use super::statistics::SessionStatistic;
use super::status::TradingStatus;
use super::top_orders::TopOrders;
use crate::matching::{OrderId, PriceLevel, Side};
use crate::{Accumulator, Price};

/// Where the event's last message bit (0x80) stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ending {
    /// On the last message that carries data: in five events of eight.
    LastMessage,
    /// On an empty book message behind it in the same packet: in two of eight.
    NextMessage,
    /// On an empty book message in a packet of its own: in one of eight.
    NextPacket,
}

impl Ending {
    /// The ending of event `number`, eight in turn.
    pub(super) const fn of(number: u64) -> Self {
        match number % 8 {
            2 | 6 => Self::NextMessage,
            4 => Self::NextPacket,
            _ => Self::LastMessage,
        }
    }
}

/// An entry of template 48.
#[derive(Debug, Clone, Copy)]
pub(super) struct TradeEntry {
    /// The trade's own time, which other entries of its message share.
    pub(super) transact_time: Utc,
    pub(super) security_id: i32,
    pub(super) price: Price,
    pub(super) quantity: u32,
    pub(super) aggressor: Side,
    pub(super) id: u32,
    pub(super) rpt_seq: u32,
    pub(super) first_order: usize,
    pub(super) orders: usize,
}

/// An order entry of template 48.
#[derive(Debug, Clone, Copy)]
pub(super) struct TradeOrder {
    pub(super) order: OrderId,
    pub(super) quantity: u32,
}

/// An entry of template 37.
#[derive(Debug, Clone, Copy)]
pub(super) struct VolumeEntry {
    pub(super) security_id: i32,
    pub(super) volume: u64,
    pub(super) rpt_seq: u32,
}

/// What an entry of template 46 does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// One level of a side changes; the number is the level's, from 1.
    Level { side: Side, action: Action, number: u8, level: PriceLevel },
    /// The whole book of the instrument is empty (entry type J).
    Reset,
}

/// The books of an instrument, in the order in which an event states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BookKind {
    /// Of orders.
    Real,
    /// Implied, without orders.
    Implied,
}

impl BookKind {
    /// Both, in order.
    pub(super) const ALL: [Self; 2] = [Self::Real, Self::Implied];

    /// The most entries that one event makes of one book.
    const fn entries_max(self) -> usize {
        Side::BOTH.len()
            * 2
            * match self {
                Self::Real => DEPTH,
                Self::Implied => IMPLIED_DEPTH,
            }
    }
}

/// An entry of template 46.
#[derive(Debug, Clone, Copy)]
pub(super) struct BookEntry {
    pub(super) security_id: i32,
    pub(super) change: Change,
    pub(super) rpt_seq: u32,
    /// Order entries that refer to it.
    pub(super) orders: u8,
}

/// An entry of template 47, or an order entry of template 46.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderEntry {
    pub(super) security_id: i32,
    pub(super) action: Action,
    pub(super) order: PublishedOrder,
}

/// A message of template 59.
#[derive(Debug, Clone, Copy)]
pub(super) struct TopEntry {
    pub(super) security_id: i32,
    pub(super) orders: TopOrders,
}

/// An entry of template 51.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatisticEntry {
    pub(super) security_id: i32,
    pub(super) statistic: SessionStatistic,
    pub(super) rpt_seq: u32,
}

/// What an event says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// Trades, volumes, book entries; with the bit of what is resent if `is_resent`.
    Market { is_resent: bool },
    /// Template 30, of one instrument (by SecurityID) or of the whole group.
    Status { security_id: Option<i32>, status: TradingStatus },
    /// Template 4; packets behind it begin at 1 again if `restarts`.
    Reset { restarts: bool },
    /// Messages that were written when they were queued.
    Announcement,
}

/// One event; its entries are those from the end of the event before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) transact_time: Utc,
    pub(super) content: Content,
    pub(super) ending: Ending,
    pub(super) end: Ends,
}

/// Lengths of the queue's lists.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) trades: usize,
    pub(super) volumes: usize,
    pub(super) apart: usize,
    pub(super) tops: usize,
    /// By [`BookKind`].
    pub(super) books: [usize; 2],
    pub(super) statistics: usize,
    pub(super) bytes: usize,
}

/// How far sending has come: indices into the queue's lists.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) event: usize,
    /// Order entries beside levels, which end with the levels they belong to.
    pub(super) beside: usize,
    pub(super) at: Ends,
}

/// Entries in the order they leave, and the events they belong to. Sized at the start; emptied
/// whole when the last of it has left.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) events: Vec<Event>,
    pub(super) trades: Vec<TradeEntry>,
    pub(super) orders: Vec<TradeOrder>,
    pub(super) volumes: Vec<VolumeEntry>,
    /// Entries of template 47.
    pub(super) apart: Vec<OrderEntry>,
    /// Messages of template 59.
    pub(super) tops: Vec<TopEntry>,
    /// Entries of the books of each [`BookKind`].
    pub(super) books: [Vec<BookEntry>; 2],
    /// Order entries of template 46, each with the index of the book entry it refers to, sorted
    /// by that.
    pub(super) beside: Vec<(usize, OrderEntry)>,
    pub(super) statistics: Vec<StatisticEntry>,
    /// Whole messages from MsgSize on, one behind the other.
    pub(super) bytes: Vec<u8>,
    pub(super) cursor: Cursor,
}

/// Bytes of whole messages that may wait.
const BYTES: usize = 64 << 10;

/// Session statistics of one instrument.
const STATISTICS: usize = SessionStatistic::KINDS;

/// Events that may wait while the network does not take them, beside one of each instrument.
const EVENTS: usize = 64;

impl Queue {
    /// Room for whatever one `accumulator` can hold, and for a burst of small events.
    pub(super) fn new(
        settings: &PublisherSettings,
        instruments: usize,
        accumulator: &Accumulator,
    ) -> Self {
        let (trades, fills) = accumulator.capacity();
        let each = instruments + EVENTS;
        let has_orders = matches!(settings.group, Group::Premium { orders: Some(_) });
        // What was in a slot goes, and something else comes.
        let orders = if has_orders { 2 * accumulator.order_capacity() + EVENTS } else { 0 };
        let has_tops = matches!(settings.group, Group::Conflated { top_orders: true, .. });
        Self {
            events: Vec::with_capacity(instruments + EVENTS),
            trades: Vec::with_capacity(trades),
            orders: Vec::with_capacity(fills),
            volumes: Vec::with_capacity(each),
            apart: Vec::with_capacity(orders),
            tops: Vec::with_capacity(if has_tops { each } else { 0 }),
            books: BookKind::ALL.map(|kind| Vec::with_capacity(each * kind.entries_max())),
            beside: Vec::with_capacity(orders),
            statistics: Vec::with_capacity(if settings.statistics { each * STATISTICS } else { 0 }),
            bytes: Vec::with_capacity(BYTES),
            cursor: Cursor::default(),
        }
    }

    /// Whether all that is in `events` fits, however its books have changed, and the changes of
    /// `implied` implied books.
    pub(super) fn has_room(&self, events: &Accumulator, implied: usize) -> bool {
        let touched = events.touched().len();
        self.has_room_for(1, touched, implied)
            && self.has_room_for_trades(events.trades().len(), events.fills().len())
            && self.has_room_for_orders(events.orders().len())
    }

    /// Whether so many trades fit, in which so many orders meet.
    pub(super) fn has_room_for_trades(&self, trades: usize, fills: usize) -> bool {
        free(&self.trades) >= trades && free(&self.orders) >= fills
    }

    /// Whether the changes of so many slots of orders fit.
    pub(super) fn has_room_for_orders(&self, slots: usize) -> bool {
        free(&self.apart).min(free(&self.beside)) >= 2 * slots
    }

    /// Whether so many bytes of whole messages fit, an event of their own.
    pub(super) fn has_room_for_bytes(&self, bytes: usize) -> bool {
        free(&self.events) >= 1 && free(&self.bytes) >= bytes
    }

    /// Whether so many events without trades fit, that change the books of `touched` instruments
    /// and `implied` implied ones.
    pub(super) fn has_room_for(&self, events: usize, touched: usize, implied: usize) -> bool {
        let [real_books, implied_books] = &self.books;
        free(&self.events) >= events
            && free(&self.volumes) >= touched
            && (self.tops.capacity() == 0 || free(&self.tops) >= touched)
            && (self.statistics.capacity() == 0 || free(&self.statistics) >= touched * STATISTICS)
            && free(real_books) >= touched * BookKind::Real.entries_max()
            && free(implied_books) >= implied * BookKind::Implied.entries_max()
    }

    /// The event that is being sent.
    pub(super) fn current(&self) -> Option<&Event> {
        self.events.get(self.cursor.event)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cursor.event == self.events.len()
    }

    /// What is queued so far.
    pub(super) fn ends(&self) -> Ends {
        Ends {
            trades: self.trades.len(),
            volumes: self.volumes.len(),
            apart: self.apart.len(),
            tops: self.tops.len(),
            books: self.books.each_ref().map(Vec::len),
            statistics: self.statistics.len(),
            bytes: self.bytes.len(),
        }
    }

    /// The current event has left.
    pub(super) fn advance(&mut self) {
        self.cursor.event += 1;
        if self.is_empty() {
            self.events.clear();
            self.trades.clear();
            self.orders.clear();
            self.volumes.clear();
            self.apart.clear();
            self.tops.clear();
            self.books.iter_mut().for_each(Vec::clear);
            self.beside.clear();
            self.statistics.clear();
            self.bytes.clear();
            self.cursor = Cursor::default();
        }
    }
}

fn free<T>(list: &Vec<T>) -> usize {
    list.capacity() - list.len()
}
