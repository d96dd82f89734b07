//! Order messages, alone or with price levels.

use hairpin_cme_codecs::mdp3::*;

use super::{Entry, PacketBuilder, price};

/// An order entry of a message. Prices are whole numbers; nulls are `None`.
#[derive(Clone, Copy, Debug)]
pub struct OrderEntry {
    pub instrument: i32,
    pub kind: u8,
    pub action: u8,
    pub id: Option<u64>,
    pub priority: Option<u64>,
    pub price: Option<i64>,
    pub quantity: Option<i32>,
    /// ReferenceID, where the order refers to a price level.
    pub reference: Option<u8>,
}

/// Returns a new bid whose priority is its id.
pub fn buy(instrument: i32, id: u64, price: i64, quantity: i32) -> OrderEntry {
    OrderEntry {
        instrument,
        kind: b'0',
        action: 0,
        id: Some(id),
        priority: Some(id),
        price: Some(price),
        quantity: Some(quantity),
        reference: Some(1),
    }
}

/// Returns a new ask whose priority is its id.
pub fn sell(instrument: i32, id: u64, price: i64, quantity: i32) -> OrderEntry {
    OrderEntry { kind: b'1', ..buy(instrument, id, price, quantity) }
}

impl OrderEntry {
    /// Returns the same as a change of an existing order.
    pub fn changed(self) -> Self {
        Self { action: 1, ..self }
    }
    /// Returns the same as a deletion.
    pub fn deleted(self) -> Self {
        Self { action: 2, price: None, quantity: None, ..self }
    }
    /// Returns the same with a reference to a price level of the message, counted from 1.
    pub fn at(self, reference: u8) -> Self {
        Self { reference: Some(reference), ..self }
    }
}

/// Adds a book message with price levels and orders that refer to them. The two templates differ in
/// the quantity type of the levels.
macro_rules! combined {
    ($packet:expr, $type:ident, $quantity:ty, $indicator:ident, $levels:ident, $orders:ident) => {{
        let time = $packet.time();
        $packet.message(|buffer| {
            let (mut root, mut groups) = $type::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator($indicator));
            let mut group = groups.no_md_entries().unwrap();
            for entry in $levels {
                let mut wire = group.push().unwrap();
                wire.set_md_entry_px(entry.price.map(price))
                    .set_md_entry_size(entry.quantity.map(|quantity| quantity as $quantity))
                    .set_security_id(entry.id)
                    .set_rpt_seq(entry.rpt_seq)
                    .set_number_of_orders(1)
                    .set_md_price_level(entry.level)
                    .set_md_update_action(MDUpdateAction(entry.action))
                    .set_md_entry_type(MDEntryTypeBook(entry.kind));
            }
            let mut group = groups.no_order_id_entries().unwrap();
            for order in $orders {
                let mut wire = group.push().unwrap();
                wire.set_order_id(order.id.unwrap())
                    .set_md_order_priority(order.priority)
                    .set_md_display_qty(order.quantity)
                    .set_reference_id(order.reference)
                    .set_order_update_action(OrderUpdateAction(order.action));
            }
            groups.finish().unwrap()
        })
    }};
}

impl PacketBuilder {
    /// Adds an order book message (template 47).
    pub fn orders(self, indicator: u8, entries: &[OrderEntry]) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = MDIncrementalRefreshOrderBook47::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(indicator));
            let mut group = groups.no_md_entries().unwrap();
            for entry in entries {
                let mut wire = group.push().unwrap();
                wire.set_order_id(entry.id)
                    .set_md_order_priority(entry.priority)
                    .set_md_entry_px(entry.price.map(price))
                    .set_md_display_qty(entry.quantity)
                    .set_security_id(entry.instrument)
                    .set_md_update_action(MDUpdateAction(entry.action))
                    .set_md_entry_type(MDEntryTypeBook(entry.kind));
            }
            groups.finish().unwrap()
        })
    }

    /// Adds a book message (template 46) with price levels and orders that refer to them.
    pub fn combined(self, indicator: u8, levels: &[Entry], orders: &[OrderEntry]) -> Self {
        combined!(self, MDIncrementalRefreshBook46, i32, indicator, levels, orders)
    }

    /// Adds the same with 64-bit quantities of levels (template 64).
    pub fn long_combined(self, indicator: u8, levels: &[Entry], orders: &[OrderEntry]) -> Self {
        combined!(self, MDIncrementalRefreshBookLongQty64, u64, indicator, levels, orders)
    }

    /// Adds the top orders of an instrument (template 59).
    pub fn top_orders(self, indicator: u8, instrument: i32, orders: &[OrderEntry]) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = SnapshotRefreshTopOrders59::encode(buffer).unwrap();
            root.set_transact_time(time)
                .set_match_event_indicator(MatchEventIndicator(indicator))
                .set_security_id(instrument);
            let mut group = groups.no_md_entries().unwrap();
            for order in orders {
                let mut wire = group.push().unwrap();
                wire.set_order_id(order.id.unwrap())
                    .set_md_order_priority(order.priority.unwrap())
                    .set_md_entry_px(price(order.price.unwrap()))
                    .set_md_display_qty(order.quantity.unwrap())
                    .set_md_entry_type(MDEntryTypeBook(order.kind));
            }
            groups.finish().unwrap()
        })
    }

    /// Adds an order book in one chunk as of incremental packet `last`.
    pub fn order_snapshot(self, id: i32, last: u32, total: u32, orders: &[OrderEntry]) -> Self {
        self.order_chunk((id, last, total), (1, 1), orders)
    }

    /// Adds chunk `chunk`, counted from 1, of `chunks` of an order book (template 53).
    pub fn order_chunk(
        self,
        (id, last, total): (i32, u32, u32),
        (chunk, chunks): (u32, u32),
        orders: &[OrderEntry],
    ) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = SnapshotFullRefreshOrderBook53::encode(buffer).unwrap();
            root.set_last_msg_seq_num_processed(last)
                .set_tot_num_reports(total)
                .set_security_id(id)
                .set_no_chunks(chunks)
                .set_current_chunk(chunk)
                .set_transact_time(time);
            let mut group = groups.no_md_entries().unwrap();
            for order in orders {
                let mut wire = group.push().unwrap();
                wire.set_order_id(order.id.unwrap())
                    .set_md_order_priority(order.priority)
                    .set_md_entry_px(price(order.price.unwrap()))
                    .set_md_display_qty(order.quantity.unwrap())
                    .set_md_entry_type(MDEntryTypeBook(order.kind));
            }
            groups.finish().unwrap()
        })
    }
}
