//! Order books as text.

use hairpin_mdp3::{Feed, FeedLine, Order, OrderBook, OrderIter, OrderUpdate, UpdateSource};

use super::{PacketBuilder, Trace};

impl Trace {
    /// Delivers a packet of the order snapshot feed on line A.
    pub fn order_snapshots(&mut self, packet: &PacketBuilder) {
        self.on(Feed::SnapshotOrders, FeedLine::A, packet);
    }

    /// Returns the order book of an instrument: `id:quantity@price …| id:quantity@price …`, best
    /// first.
    pub fn orders(&self, security_id: i32) -> String {
        let instrument = self.channel.find(security_id).expect("the instrument is known");
        show_orders(self.channel.order_book(instrument))
    }

    /// Returns `true` if the order book of an instrument is in sync.
    pub fn orders_in_sync(&self, security_id: i32) -> bool {
        let instrument = self.channel.find(security_id).expect("the instrument is known");
        self.channel.order_book(instrument).is_in_sync()
    }
}

pub fn show_orders(book: OrderBook<'_>) -> String {
    let side = |orders: OrderIter<'_>| {
        let shown: Vec<_> = orders.map(show_order).collect();
        shown.join(" ")
    };
    format!("{} | {}", side(book.bids()), side(book.asks())).trim().to_owned()
}

fn show_order(order: Order) -> String {
    format!("{}:{}@{}", order.id, order.quantity, order.price)
}

/// Formats the book, and in brackets the new, changed and removed orders.
pub fn show_order_update(update: &OrderUpdate<'_>) -> String {
    assert!(update.book.is_in_sync(), "an order book out of sync is not reported");
    let source = match (update.source, update.restated) {
        (UpdateSource::Incremental, false) => "orders",
        (UpdateSource::Incremental, true) => "orders restated",
        _ => "orders restored",
    };
    let changes: String = update
        .changes()
        .map(|change| {
            let sign = match change.action {
                hairpin_mdp3::MDUpdateAction::NEW => '+',
                hairpin_mdp3::MDUpdateAction::CHANGE => '~',
                _ => '-',
            };
            format!("[{sign}{}]", change.order.id)
        })
        .collect();
    format!("{source} {}: {}{changes}", update.book.security_id(), show_orders(update.book))
}
