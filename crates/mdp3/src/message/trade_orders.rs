//! The orders of a trade summary.
//!
//! ```text
//! message 48 or 65   root | NoMDEntries: trade, trade, … | NoOrderIDEntries: order, order, …
//! ```
//! An order entry states its OrderID and filled quantity, but not its trade: the format has no
//! reference between the groups. Each trade states its number of orders (NumberOfOrders, 346). If
//! these numbers add up to the number of order entries, the entries are assigned to the trades in
//! order. A message with a single trade has all of them. Otherwise the assignment is unknown, and
//! only the message as a whole has orders.

use core::cmp::Ordering;

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_sbe::{Entries, Group, MessageHeader};

use crate::Trade;
use crate::message::entries::{TradePosition, non_negative, order_count};

use codec::md_incremental_refresh_trade_summary_long_qty65 as long_qty;
use codec::md_incremental_refresh_trade_summary48 as int_qty;

/// An order that was filled, fully or partially.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TradeOrder {
    /// OrderID (37), as in order books and execution reports.
    pub order_id: u64,
    /// LastQty (32): the quantity filled by the trade.
    pub quantity: u64,
}

/// The numbers of orders before a trade, of that trade, and of all trades of a message.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    before: usize,
    own: usize,
    all: usize,
}

/// Counts the orders of one template's trades relative to the one at `$position`.
macro_rules! tally {
    ($type:path, $trades:expr, $position:expr) => {{
        let mut group = Group::<$type>::new($trades);
        let mut scratch = <$type>::SCRATCH;
        let (mut tally, mut at) = (Tally::default(), 0);
        while let Some(trade) = group.next(&mut scratch) {
            let orders = order_count(trade.number_of_orders()) as usize;
            match at.cmp(&$position) {
                Ordering::Less => tally.before += orders,
                Ordering::Equal => tally.own = orders,
                Ordering::Greater => {}
            }
            tally.all += orders;
            at += 1;
        }
        tally
    }};
}
/// An iterator over the orders of a trade or of its message.
#[derive(Debug, Clone)]
pub struct TradeOrders<'a> {
    // Both templates have the same layout of order entries.
    group: Group<'a, int_qty::NoOrderIDEntries<'a>>,
    remaining: usize,
}

impl Iterator for TradeOrders<'_> {
    type Item = TradeOrder;

    fn next(&mut self) -> Option<TradeOrder> {
        self.remaining = self.remaining.checked_sub(1)?;
        let mut scratch = int_qty::NoOrderIDEntries::SCRATCH;
        let entry = self.group.next(&mut scratch)?;
        let quantity = non_negative(entry.last_qty()).unwrap_or(0);
        Some(TradeOrder { order_id: entry.order_id(), quantity })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = self.remaining.min(self.group.len());
        (remaining, Some(remaining))
    }
}

impl ExactSizeIterator for TradeOrders<'_> {}

impl<'a> TradeOrders<'a> {
    const NONE: Self = Self { group: Group::new(Entries::EMPTY), remaining: 0 };

    /// Returns all orders of a message, given from its SBE header on.
    fn from_message(bytes: &'a [u8], long: bool) -> Self {
        let Some((_, orders)) = groups(bytes, long) else { return Self::NONE };
        Self { group: Group::new(orders), remaining: orders.len() }
    }

    /// Returns the orders of one trade of a message.
    fn from_trade(bytes: &'a [u8], TradePosition { long, trade }: TradePosition) -> Self {
        let Some((trades, orders)) = groups(bytes, long) else { return Self::NONE };
        let mut orders = Self { group: Group::new(orders), remaining: orders.len() };
        if trades.len() == 1 {
            return orders;
        }
        let trade = usize::from(trade);
        let Tally { before, own, all } = if long {
            tally!(long_qty::NoMDEntries, trades, trade)
        } else {
            tally!(int_qty::NoMDEntries, trades, trade)
        };
        if all != orders.remaining {
            return Self::NONE;
        }
        for _ in 0..before {
            orders.next();
        }
        orders.remaining = own;
        orders
    }
}

/// Returns both groups of a trade summary.
fn groups(bytes: &[u8], long: bool) -> Option<(Entries<'_>, Entries<'_>)> {
    let (header, body) = MessageHeader::decode(bytes).ok()?;
    let layout = if long { &long_qty::MESSAGE } else { &int_qty::MESSAGE };
    let [trades, orders] = layout.groups else { return None };
    let rest = body.get(usize::from(header.block_length)..)?;
    let (trades, rest) = Entries::decode(trades, header.version, rest).ok()?;
    let (orders, _) = Entries::decode(orders, header.version, rest).ok()?;
    Some((trades, orders))
}

impl<'a> Trade<'a> {
    /// Returns `true` if the exchange sends the trade again while it recovers.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.match_event.is_resent()
    }

    /// Returns the orders of this trade, as far as the message determines them; see
    /// [`Self::message_orders`]. The aggressor's order, if any, is first.
    #[must_use]
    pub fn orders(&self) -> TradeOrders<'a> {
        TradeOrders::from_trade(self.bytes, self.position)
    }

    /// Returns the orders of all trades of the message. The orders of one trade are known if it is
    /// the only one, or if the trades' numbers of orders add up to the number of entries.
    #[must_use]
    pub fn message_orders(&self) -> TradeOrders<'a> {
        TradeOrders::from_message(self.bytes, self.position.long)
    }
}
