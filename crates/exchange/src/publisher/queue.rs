//! The queue of events that are published but not yet sent.

use hairpin_time::Utc;

use super::ladder::{Action, DEPTH, IMPLIED_DEPTH};
use super::orders::PublishedOrder;
use super::settings::{Group, PublisherSettings};
use super::statistics::SessionStatistic;
use super::status::StatusNotice;
use super::top_orders::TopOrders;
use crate::matching::{OrderId, PriceLevel, Side, Trade};
use crate::{Accumulator, Price};

/// The position of the end-of-event bit (0x80) of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ending {
    /// On the last message with data: in five of eight events.
    LastMessage,
    /// On an empty book message after it in the same packet: in two of eight.
    NextMessage,
    /// On an empty book message in a separate packet: in one of eight.
    NextPacket,
}

impl Ending {
    /// Returns the ending of event `number`, in a cycle of eight.
    pub(super) const fn new(number: u64) -> Self {
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
    /// The time of the trade, shared by all entries of its message.
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

impl TradeEntry {
    /// Creates an entry without RptSeq, whose `orders` orders start at index `first_order`.
    pub(super) fn new(
        trade: &Trade,
        security_id: i32,
        transact_time: Utc,
        first_order: usize,
        orders: usize,
    ) -> Self {
        let &Trade { price, quantity, aggressor, id, .. } = trade;
        Self {
            transact_time,
            security_id,
            price,
            quantity,
            aggressor,
            id,
            rpt_seq: 0,
            first_order,
            orders,
        }
    }
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

/// The change in an entry of template 46.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// A change of one level of a side. `number` is the level's, starting at 1.
    Level { side: Side, action: Action, number: u8, level: PriceLevel },
    /// The whole book of the instrument is empty (entry type J).
    Reset,
}

/// The books of an instrument, in the order in which an event contains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BookKind {
    /// The book of resting orders.
    Direct,
    /// The implied book, without orders.
    Implied,
}

impl BookKind {
    /// Both kinds, in order.
    pub(super) const ALL: [Self; 2] = [Self::Direct, Self::Implied];

    /// Returns the maximum number of entries that one event contains for one book.
    const fn entries_max(self) -> usize {
        Side::BOTH.len()
            * 2
            * match self {
                Self::Direct => DEPTH,
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
    /// The number of order entries that refer to this entry.
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

/// The content of an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// Trades, volumes and book entries. `resent` sets the bit for resent data.
    Market { resent: bool },
    /// Template 30, for one instrument (by SecurityID) or the whole group.
    Status { security_id: Option<i32>, notice: StatusNotice },
    /// Template 4. With `restarts`, the next packet has MsgSeqNum 1.
    Reset { restarts: bool },
    /// Messages that were encoded when they were queued.
    Message,
}

/// An event. Its entries start at the end of the previous event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) transact_time: Utc,
    pub(super) content: Content,
    pub(super) ending: Ending,
    pub(super) end: Lengths,
}

/// The lengths of the queue's lists.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lengths {
    pub(super) trades: usize,
    pub(super) volumes: usize,
    pub(super) separate_orders: usize,
    pub(super) top_orders: usize,
    /// Indexed by [`BookKind`].
    pub(super) books: [usize; 2],
    pub(super) statistics: usize,
    pub(super) bytes: usize,
}

/// The sending position: indices into the queue's lists.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) event: usize,
    /// The index of the next attached order. Attached orders end with their levels.
    pub(super) attached_orders: usize,
    pub(super) position: Lengths,
}

/// The entries in sending order, and their events. The size is fixed at the start. The queue is
/// cleared when its last event has been sent.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) events: Vec<Event>,
    pub(super) trades: Vec<TradeEntry>,
    pub(super) orders: Vec<TradeOrder>,
    pub(super) volumes: Vec<VolumeEntry>,
    /// Entries of template 47.
    pub(super) separate_orders: Vec<OrderEntry>,
    /// Messages of template 59.
    pub(super) top_orders: Vec<TopEntry>,
    /// Entries of the books of each [`BookKind`].
    pub(super) books: [Vec<BookEntry>; 2],
    /// The order entries of template 46, each with the index of the book entry that it refers to,
    /// sorted by this index.
    pub(super) attached_orders: Vec<(usize, OrderEntry)>,
    pub(super) statistics: Vec<StatisticEntry>,
    /// Whole messages starting at MsgSize, consecutively.
    pub(super) bytes: Vec<u8>,
    pub(super) cursor: Cursor,
}

/// The capacity for whole messages in bytes.
const BYTES: usize = 64 << 10;

/// The number of session statistics per instrument.
const STATISTICS: usize = SessionStatistic::KINDS;

/// The number of events that may be queued while the network does not accept packets, in addition
/// to one per instrument.
const EVENTS: usize = 64;

impl Queue {
    /// Creates a queue for the contents of one `accumulator` and a burst of small events.
    pub(super) fn new(
        settings: &PublisherSettings,
        instruments: usize,
        accumulator: &Accumulator,
    ) -> Self {
        let (trades, fills) = accumulator.capacity();
        let each = instruments + EVENTS;
        let has_orders = matches!(settings.group, Group::Premium { orders: Some(_) });
        // A slot's previous order is deleted, and another one is added.
        let orders = if has_orders { 2 * accumulator.order_capacity() + EVENTS } else { 0 };
        let has_top_orders = matches!(settings.group, Group::Conflated { top_orders: true, .. });
        Self {
            events: Vec::with_capacity(instruments + EVENTS),
            trades: Vec::with_capacity(trades),
            orders: Vec::with_capacity(fills),
            volumes: Vec::with_capacity(each),
            separate_orders: Vec::with_capacity(orders),
            top_orders: Vec::with_capacity(if has_top_orders { each } else { 0 }),
            books: BookKind::ALL.map(|kind| Vec::with_capacity(each * kind.entries_max())),
            attached_orders: Vec::with_capacity(orders),
            statistics: Vec::with_capacity(if settings.statistics { each * STATISTICS } else { 0 }),
            bytes: Vec::with_capacity(BYTES),
            cursor: Cursor::default(),
        }
    }

    /// Returns `true` if the contents of `events` fit, for any change of its books, and the changes
    /// of `implied` implied books.
    pub(super) fn has_room(&self, events: &Accumulator, implied: usize) -> bool {
        let touched = events.touched().len();
        self.has_room_for(1, touched, implied)
            && self.has_room_for_trades(events.trades().len(), events.fills().len())
            && self.has_room_for_orders(events.orders().len())
    }

    /// Returns `true` if `trades` trades with `fills` fills fit.
    pub(super) fn has_room_for_trades(&self, trades: usize, fills: usize) -> bool {
        free(&self.trades) >= trades && free(&self.orders) >= fills
    }

    /// Returns `true` if the changes of `slots` order slots fit.
    pub(super) fn has_room_for_orders(&self, slots: usize) -> bool {
        free(&self.separate_orders).min(free(&self.attached_orders)) >= 2 * slots
    }

    /// Returns `true` if one event of `bytes` bytes of whole messages fits.
    pub(super) fn has_room_for_bytes(&self, bytes: usize) -> bool {
        free(&self.events) >= 1 && free(&self.bytes) >= bytes
    }

    /// Returns `true` if `events` events without trades fit, which change the books of `touched`
    /// instruments and `implied` implied books.
    pub(super) fn has_room_for(&self, events: usize, touched: usize, implied: usize) -> bool {
        let [direct_books, implied_books] = &self.books;
        free(&self.events) >= events
            && free(&self.volumes) >= touched
            && (self.top_orders.capacity() == 0 || free(&self.top_orders) >= touched)
            && (self.statistics.capacity() == 0 || free(&self.statistics) >= touched * STATISTICS)
            && free(direct_books) >= touched * BookKind::Direct.entries_max()
            && free(implied_books) >= implied * BookKind::Implied.entries_max()
    }

    /// Returns the event being sent.
    pub(super) fn current(&self) -> Option<&Event> {
        self.events.get(self.cursor.event)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cursor.event == self.events.len()
    }

    /// Returns the lengths of the lists.
    pub(super) fn lengths(&self) -> Lengths {
        Lengths {
            trades: self.trades.len(),
            volumes: self.volumes.len(),
            separate_orders: self.separate_orders.len(),
            top_orders: self.top_orders.len(),
            books: self.books.each_ref().map(Vec::len),
            statistics: self.statistics.len(),
            bytes: self.bytes.len(),
        }
    }

    /// Advances to the next event after the end of the current one has been sent.
    pub(super) fn advance(&mut self) {
        self.cursor.event += 1;
        if self.is_empty() {
            self.events.clear();
            self.trades.clear();
            self.orders.clear();
            self.volumes.clear();
            self.separate_orders.clear();
            self.top_orders.clear();
            self.books.iter_mut().for_each(Vec::clear);
            self.attached_orders.clear();
            self.statistics.clear();
            self.bytes.clear();
            self.cursor = Cursor::default();
        }
    }
}

fn free<T>(list: &Vec<T>) -> usize {
    list.capacity() - list.len()
}
