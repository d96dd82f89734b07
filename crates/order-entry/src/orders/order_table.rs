//! The storage of orders, indexed by OrderID and ClOrdID.

use hairpin_ilink3::{ClOrdId, OrderId};

use super::hash_index::{HashIndex, hash, hash_text};
use super::order::Order;

/// A table with a fixed number of orders.
#[derive(Debug, Clone)]
pub(super) struct OrderTable {
    slots: Box<[Option<Order>]>,
    free: Vec<u32>,
    by_order_id: HashIndex,
    by_cl_ord_id: HashIndex,
}

impl OrderTable {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            slots: vec![None; capacity].into(),
            free: (0..capacity as u32).rev().collect(),
            by_order_id: HashIndex::new(capacity),
            by_cl_ord_id: HashIndex::new(capacity),
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Order> {
        self.slots.iter().flatten()
    }

    #[inline]
    pub(super) fn order(&self, slot: u32) -> Option<&Order> {
        self.slots[slot as usize].as_ref()
    }

    #[inline]
    pub(super) fn by_order_id(&self, order_id: OrderId) -> Option<u32> {
        let is_meant = |slot| self.order(slot).is_some_and(|it| it.order_id == Some(order_id));
        self.by_order_id.find(hash(order_id.0), is_meant)
    }

    #[inline]
    pub(super) fn by_cl_ord_id(&self, id: &ClOrdId) -> Option<u32> {
        let is_meant = |slot| self.order(slot).is_some_and(|it| it.cl_ord_id == *id);
        self.by_cl_ord_id.find(hash_text(&id.0), is_meant)
    }

    /// Inserts an order and returns its slot, or `None` if the table is full.
    pub(super) fn insert(&mut self, order: Order) -> Option<u32> {
        let slot = self.free.pop()?;
        self.put(slot, order);
        Some(slot)
    }

    /// Replaces the order in an occupied slot.
    pub(super) fn replace(&mut self, slot: u32, order: Order) {
        let Some(old) = &mut self.slots[slot as usize] else { return };
        if (old.order_id, old.cl_ord_id) == (order.order_id, order.cl_ord_id) {
            *old = order;
        } else {
            self.take(slot);
            self.put(slot, order);
        }
    }

    pub(super) fn remove(&mut self, slot: u32) -> Option<Order> {
        let order = self.take(slot)?;
        self.free.push(slot);
        Some(order)
    }

    fn put(&mut self, slot: u32, order: Order) {
        if let Some(order_id) = order.order_id {
            self.by_order_id.insert(hash(order_id.0), slot);
        }
        self.by_cl_ord_id.insert(hash_text(&order.cl_ord_id.0), slot);
        self.slots[slot as usize] = Some(order);
    }

    fn take(&mut self, slot: u32) -> Option<Order> {
        let order = self.slots[slot as usize].take()?;
        if let Some(order_id) = order.order_id {
            self.by_order_id.remove(hash(order_id.0), slot);
        }
        self.by_cl_ord_id.remove(hash_text(&order.cl_ord_id.0), slot);
        Some(order)
    }
}
