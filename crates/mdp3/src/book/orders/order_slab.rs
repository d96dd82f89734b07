//! The storage of all orders of a channel.
//!
//! A slot is 48 bytes of plain data; slots refer to each other by number. An order is found by
//! instrument and OrderID, and is linked into the tree of its side. CME states that an OrderID is
//! unique per channel and instrument, so the instrument is part of the key.

use alloc::vec;
use alloc::vec::Vec;

use super::order_table::OrderTable;
use super::{Order, order_tree as tree};
use crate::{BookSide, InstrumentIndex, Price9};

/// The null slot number.
pub(super) const NONE: u32 = u32::MAX;

/// An order in its slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) priority: u64,
    pub(super) price: i64,
    pub(super) quantity: u32,
    pub(super) instrument: u32,
    /// Links in the tree of the order's side. In a free slot, `left` is the next free slot.
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) parent: u32,
    pub(super) side: BookSide,
}

const _: () = assert!(size_of::<Node>() == 48);

const FREE: Node = Node {
    id: 0,
    priority: 0,
    price: 0,
    quantity: 0,
    instrument: 0,
    left: NONE,
    right: NONE,
    parent: NONE,
    side: BookSide::Bid,
};

impl Node {
    fn order(&self) -> Order {
        Order {
            id: self.id,
            priority: self.priority,
            price: Price9(self.price),
            quantity: u64::from(self.quantity),
        }
    }
}

/// The trees of an instrument, by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trees {
    roots: [u32; 2],
    counts: [u32; 2],
}

impl Trees {
    pub(super) const EMPTY: Self = Self { roots: [NONE; 2], counts: [0; 2] };

    pub(super) const fn count(&self, side: BookSide) -> usize {
        self.counts[side as usize] as usize
    }
}

/// The reason why an order cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertError {
    /// The order exists.
    Exists,
    /// The slab is full.
    NoRoom,
}

#[derive(Debug)]
pub(super) struct Slab {
    nodes: Vec<Node>,
    /// The first free slot.
    free: u32,
    table: OrderTable,
}

impl Slab {
    /// Creates a slab for `capacity` orders.
    pub(super) fn new(capacity: usize) -> Self {
        let capacity = capacity.min(NONE as usize);
        let mut nodes = vec![FREE; capacity];
        for (next, node) in (1u32..).zip(&mut nodes) {
            node.left = if next as usize == capacity { NONE } else { next };
        }
        let free = if capacity == 0 { NONE } else { 0 };
        Self { nodes, free, table: OrderTable::new(capacity) }
    }

    /// Returns the slot of an order.
    pub(super) fn find(&self, instrument: InstrumentIndex, id: u64) -> Option<u32> {
        self.table.find(&self.nodes, instrument.0, id)
    }

    /// Returns the order in a slot, and its side.
    pub(super) fn order(&self, slot: u32) -> (BookSide, Order) {
        let node = &self.nodes[slot as usize];
        (node.side, node.order())
    }

    /// Adds a new order.
    pub(super) fn insert(
        &mut self,
        trees: &mut Trees,
        instrument: InstrumentIndex,
        side: BookSide,
        order: &Order,
    ) -> Result<(), InsertError> {
        if self.find(instrument, order.id).is_some() {
            return Err(InsertError::Exists);
        }
        let slot = self.free;
        let node = self.nodes.get_mut(slot as usize).ok_or(InsertError::NoRoom)?;
        self.free = node.left;
        *node = Node { id: order.id, instrument: instrument.0, ..FREE };
        self.table.insert(&self.nodes, slot);
        self.link(trees, slot, side, order);
        Ok(())
    }

    /// Changes the side, priority, price or quantity of the order in a slot.
    pub(super) fn change(&mut self, trees: &mut Trees, slot: u32, side: BookSide, order: &Order) {
        let node = &mut self.nodes[slot as usize];
        if (node.side, node.price, node.priority) == (side, order.price.0, order.priority) {
            node.quantity = order.quantity as u32;
            return;
        }
        self.unlink(trees, slot);
        self.link(trees, slot, side, order);
    }

    /// Removes the order in a slot.
    pub(super) fn remove(&mut self, trees: &mut Trees, slot: u32) {
        self.unlink(trees, slot);
        self.release(slot);
    }

    /// Removes all orders of an instrument.
    pub(super) fn clear(&mut self, trees: &mut Trees) {
        for root in trees.roots {
            let mut slot = root;
            // Removes leaf by leaf: each is released and unlinked from its parent.
            while slot != NONE {
                let node = self.nodes[slot as usize];
                if node.left != NONE {
                    slot = node.left;
                } else if node.right != NONE {
                    slot = node.right;
                } else {
                    tree::detach(&mut self.nodes, slot);
                    self.release(slot);
                    slot = node.parent;
                }
            }
        }
        *trees = Trees::EMPTY;
    }

    /// Returns the orders of a side, best first.
    pub(super) fn orders(&self, trees: &Trees, side: BookSide) -> TreeIter<'_> {
        let root = trees.roots[side as usize];
        TreeIter {
            nodes: &self.nodes,
            front: tree::first(&self.nodes, root),
            back: tree::last(&self.nodes, root),
            remaining: trees.count(side),
        }
    }

    fn link(&mut self, trees: &mut Trees, slot: u32, side: BookSide, order: &Order) {
        let node = &mut self.nodes[slot as usize];
        node.side = side;
        node.price = order.price.0;
        node.priority = order.priority;
        node.quantity = order.quantity as u32;
        tree::insert(&mut self.nodes, &mut trees.roots[side as usize], slot);
        trees.counts[side as usize] += 1;
    }

    fn unlink(&mut self, trees: &mut Trees, slot: u32) {
        let side = self.nodes[slot as usize].side;
        tree::remove(&mut self.nodes, &mut trees.roots[side as usize], slot);
        trees.counts[side as usize] -= 1;
    }

    fn release(&mut self, slot: u32) {
        self.table.remove(&self.nodes, slot);
        self.nodes[slot as usize].left = self.free;
        self.free = slot;
    }
}

/// An iterator over the orders of a side, best first.
#[derive(Debug, Clone)]
pub(super) struct TreeIter<'a> {
    nodes: &'a [Node],
    front: u32,
    back: u32,
    remaining: usize,
}

impl TreeIter<'_> {
    pub(super) const fn len(&self) -> usize {
        self.remaining
    }

    pub(super) fn next(&mut self) -> Option<Order> {
        self.remaining = self.remaining.checked_sub(1)?;
        let slot = self.front;
        self.front = tree::next(self.nodes, slot);
        Some(self.nodes[slot as usize].order())
    }

    pub(super) fn next_back(&mut self) -> Option<Order> {
        self.remaining = self.remaining.checked_sub(1)?;
        let slot = self.back;
        self.back = tree::previous(self.nodes, slot);
        Some(self.nodes[slot as usize].order())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEVEN: InstrumentIndex = InstrumentIndex(0);
    const EIGHT: InstrumentIndex = InstrumentIndex(1);

    fn order(id: u64) -> Order {
        Order { id, priority: id, price: Price9(5), quantity: 1 }
    }

    #[test]
    fn reuses_freed_slots() {
        let (mut slab, mut trees) = (Slab::new(2), Trees::EMPTY);
        let enter = |slab: &mut Slab, trees: &mut Trees, id| {
            slab.insert(trees, SEVEN, BookSide::Bid, &order(id))
        };
        assert_eq!(enter(&mut slab, &mut trees, 1), Ok(()));
        assert_eq!(enter(&mut slab, &mut trees, 2), Ok(()));
        assert_eq!(enter(&mut slab, &mut trees, 3), Err(InsertError::NoRoom));
        assert_eq!(enter(&mut slab, &mut trees, 2), Err(InsertError::Exists));
        let slot = slab.find(SEVEN, 1).unwrap();
        slab.remove(&mut trees, slot);
        assert_eq!(enter(&mut slab, &mut trees, 3), Ok(()));
        assert_eq!(slab.find(SEVEN, 1), None);
        slab.clear(&mut trees);
        assert_eq!((trees.count(BookSide::Bid), slab.find(SEVEN, 3)), (0, None));
        assert_eq!(enter(&mut slab, &mut trees, 1), Ok(()));
        assert_eq!(enter(&mut slab, &mut trees, 2), Ok(()));
    }

    #[test]
    fn order_ids_are_per_instrument() {
        let (mut slab, mut seven, mut eight) = (Slab::new(2), Trees::EMPTY, Trees::EMPTY);
        slab.insert(&mut seven, SEVEN, BookSide::Bid, &order(1)).unwrap();
        slab.insert(&mut eight, EIGHT, BookSide::Ask, &order(1)).unwrap();
        slab.clear(&mut seven);
        assert_eq!(slab.find(SEVEN, 1), None);
        let slot = slab.find(EIGHT, 1).unwrap();
        assert_eq!(slab.order(slot), (BookSide::Ask, order(1)));
    }

    #[test]
    fn empty_slab_rejects_orders() {
        let (mut slab, mut trees) = (Slab::new(0), Trees::EMPTY);
        let refused = slab.insert(&mut trees, SEVEN, BookSide::Bid, &order(1));
        assert_eq!(refused, Err(InsertError::NoRoom));
    }
}
