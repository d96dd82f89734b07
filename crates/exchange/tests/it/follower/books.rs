//! The state of one instrument.

use std::collections::BTreeMap;

use super::wire::{byte, i64_at, u16_at, u32_at, u64_at};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level {
    pub price: i64,
    pub quantity: u64,
    pub orders: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    pub entry_type: u8,
    pub id: u64,
    pub priority: u64,
    pub price: i64,
    pub quantity: u32,
}

impl Order {
    /// Decodes an entry of template 53 or 59.
    pub(crate) fn from_entry(entry: &[u8]) -> Self {
        Self {
            entry_type: byte(entry, 28),
            id: u64_at(entry, 0),
            priority: u64_at(entry, 8),
            price: i64_at(entry, 16),
            quantity: u32_at(entry, 24),
        }
    }

    /// Returns the sort key: bids before offers, better prices first, then the lower priority.
    pub(super) fn sort_key(&self) -> (u8, i64, u64) {
        let price = if self.entry_type == b'0' { -self.price } else { self.price };
        (self.entry_type, price, self.priority)
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Instrument {
    pub rpt_seq: u32,
    /// The levels by entry type: 0, 1, E, F.
    pub sides: BTreeMap<u8, Vec<Level>>,
    pub orders: BTreeMap<u64, Order>,
    pub volume: u64,
    pub last_trade: Option<(i64, u64)>,
    /// The statistics by entry type.
    pub statistics: BTreeMap<u8, i64>,
    pub limits: [i64; 3],
    /// The settlement prices by TradingReferenceDate and SettlPriceType without the actual bit.
    pub settlements: BTreeMap<(u16, u8), i64>,
    /// The market best bid and offer: price, and quantity if known.
    pub market_best: [Option<(i64, Option<u64>)>; 2],
}

impl Instrument {
    /// Records a settlement price.
    pub(crate) fn settle(&mut self, date: u16, kind: u8, price: i64) {
        self.settlements.insert((date, kind & !2), price);
    }

    /// Clears what a reset of the session statistics (tag 1174 = 4) clears.
    pub(crate) fn reset_session(&mut self) {
        (self.volume, self.last_trade) = (0, None);
        for kind in *b"478NO" {
            self.statistics.remove(&kind);
        }
    }

    pub(crate) fn side(&self, entry_type: u8) -> &[Level] {
        self.sides.get(&entry_type).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn apply_level(
        &mut self,
        entry_type: u8,
        action: u8,
        (number, depth): (u8, usize),
        level: Level,
    ) {
        if entry_type == b'J' {
            self.sides.clear();
            self.orders.clear();
            return;
        }
        let side = self.sides.entry(entry_type).or_default();
        let sort_key = usize::from(number) - 1;
        assert!(sort_key < depth);
        match action {
            0 => {
                side.insert(sort_key, level);
                side.truncate(depth);
            }
            1 => {
                assert_eq!(side[sort_key].price, level.price, "a change entry must keep the price");
                side[sort_key] = level;
            }
            2 => assert_eq!(side.remove(sort_key), level),
            other => panic!("action {other}"),
        }
        let better = |pair: &[Level]| match entry_type {
            b'0' | b'E' => pair[0].price > pair[1].price,
            _ => pair[0].price < pair[1].price,
        };
        assert!(side.windows(2).all(better), "levels are not sorted: {side:?}");
    }

    pub(crate) fn apply_order(&mut self, action: u8, order: Order) {
        let current = match action {
            0 | 1 => self.orders.insert(order.id, order),
            2 => self.orders.remove(&order.id),
            other => panic!("action {other}"),
        };
        assert_eq!(current.is_some(), action != 0, "action {action} of {order:?}");
        assert!(
            action != 1 || current != Some(order),
            "a change entry without a change: {order:?}"
        );
    }

    /// Replaces the orders by a complete set of top orders.
    pub(crate) fn overlay(&mut self, orders: &[Order]) {
        self.orders = orders.iter().map(|order| (order.id, *order)).collect();
        let of = |side: u8| orders.iter().filter(move |order| order.entry_type == side);
        assert!(of(b'0').count() <= 10 && of(b'1').count() <= 10);
        let (mut bids, mut offers) = (of(b'0'), of(b'1'));
        let mut interleaved: Vec<&Order> = Vec::new();
        loop {
            let (bid, offer) = (bids.next(), offers.next());
            interleaved.extend(bid.into_iter().chain(offer));
            if bid.is_none() && offer.is_none() {
                break;
            }
        }
        assert!(
            interleaved.into_iter().eq(orders),
            "orders are not in the order bid 1, offer 1, bid 2, …: {orders:?}"
        );
        for side in [b'0', b'1'] {
            assert!(of(side).map(Order::sort_key).is_sorted());
        }
    }

    /// Returns all orders, bids before offers, each side best first.
    pub(crate) fn sorted_orders(&self) -> Vec<Order> {
        let mut orders: Vec<_> = self.orders.values().copied().collect();
        orders.sort_by_key(Order::sort_key);
        orders
    }

    /// Returns the sums of a side's orders by price, best first.
    pub(crate) fn sums(&self, entry_type: u8) -> Vec<Level> {
        let mut levels: Vec<Level> = Vec::new();
        for order in self.sorted_orders().iter().filter(|order| order.entry_type == entry_type) {
            let quantity = u64::from(order.quantity);
            match levels.last_mut().filter(|level| level.price == order.price) {
                Some(level) => {
                    level.quantity += quantity;
                    level.orders = level.orders.map(|orders| orders + 1);
                }
                None => levels.push(Level { price: order.price, quantity, orders: Some(1) }),
            }
        }
        levels
    }

    /// Checks that an entry of template 52 is in the book: a price alone or with a size, by entry
    /// type.
    pub(crate) fn state(&mut self, entry: &[u8], is_long: bool) {
        let (price, kind) = (i64_at(entry, 0), byte(entry, if is_long { 22 } else { 21 }));
        let (size, orders, number) = match is_long {
            true => (u64_at(entry, 8), u32_at(entry, 16), byte(entry, 20)),
            false => (u64::from(u32_at(entry, 8)), u32_at(entry, 12), byte(entry, 16)),
        };
        match kind {
            b'0' | b'1' | b'E' | b'F' => {
                let orders = Some(orders as i32).filter(|&orders| orders != i32::MAX);
                let side = self.sides.entry(kind).or_default();
                side.push(Level { price, quantity: size, orders });
                assert_eq!(usize::from(number), side.len());
            }
            b'e' => self.volume = size,
            b'2' => self.last_trade = Some((price, size)),
            b'w' | b'x' => {
                assert!(is_long, "market best price in template 52");
                self.market_best[usize::from(kind == b'w')] =
                    Some((price, Some(size).filter(|&size| size != u64::MAX)));
            }
            b'6' if !is_long => {
                self.statistics.insert(kind, price);
                self.settle(u16_at(entry, 17), byte(entry, 20), price);
            }
            b'B' | b'C' => drop(self.statistics.insert(kind, size as i64)),
            b'4' | b'6' | b'7' | b'8' | b'N' | b'O' | b'W' => {
                self.statistics.insert(kind, price);
            }
            other => panic!("entry type {other}"),
        }
    }
}
