//! A hash table from instrument and OrderID to slot.

use alloc::vec;
use alloc::vec::Vec;

use super::order_slab::{NONE, Node};

/// A table with open addressing: a power of two of slot numbers, at most half of them in use,
/// linear probing. A removal moves later entries up, so there are no tombstones and probes do not
/// grow over time. The keys are in the slab.
#[derive(Debug)]
pub(super) struct OrderTable {
    slots: Vec<u32>,
}

impl OrderTable {
    /// Creates a table for `capacity` orders.
    pub(super) fn new(capacity: usize) -> Self {
        Self { slots: vec![NONE; (capacity * 2).next_power_of_two().max(2)] }
    }

    /// Returns the slot of an order.
    pub(super) fn find(&self, nodes: &[Node], instrument: u32, id: u64) -> Option<u32> {
        let mut position = self.home(instrument, id);
        loop {
            let slot = self.slots[position];
            let node = nodes.get(slot as usize)?;
            if node.id == id && node.instrument == instrument {
                return Some(slot);
            }
            position = self.after(position);
        }
    }

    /// Adds a slot whose order is not in the table.
    pub(super) fn insert(&mut self, nodes: &[Node], slot: u32) {
        let node = &nodes[slot as usize];
        let mut position = self.home(node.instrument, node.id);
        while self.slots[position] != NONE {
            position = self.after(position);
        }
        self.slots[position] = slot;
    }

    /// Removes a slot that is in the table.
    pub(super) fn remove(&mut self, nodes: &[Node], slot: u32) {
        let mut vacated = self.home(nodes[slot as usize].instrument, nodes[slot as usize].id);
        while self.slots[vacated] != slot {
            vacated = self.after(vacated);
        }
        let mut position = self.after(vacated);
        while let Some(node) = nodes.get(self.slots[position] as usize) {
            // Moves an entry that probing from its home would no longer find.
            let home = self.home(node.instrument, node.id);
            if self.distance(home, position) >= self.distance(vacated, position) {
                self.slots[vacated] = self.slots[position];
                vacated = position;
            }
            position = self.after(position);
        }
        self.slots[vacated] = NONE;
    }

    fn after(&self, position: usize) -> usize {
        (position + 1) & (self.slots.len() - 1)
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.slots.len() - 1)
    }

    /// Returns the home position of an order. A day's OrderIDs are close together, so they are
    /// hashed.
    fn home(&self, instrument: u32, id: u64) -> usize {
        let mixed =
            (id ^ u64::from(instrument).rotate_left(40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ mixed >> 32) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BookSide;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    fn node(instrument: u32, id: u64) -> Node {
        Node {
            id,
            priority: 0,
            price: 0,
            quantity: 0,
            instrument,
            left: NONE,
            right: NONE,
            parent: NONE,
            side: BookSide::Bid,
        }
    }

    proptest! {
        /// The table equals a map after the same insertions and removals.
        #[test]
        fn matches_map(steps in prop::collection::vec((0u32..2, 0u64..40), 0..400)) {
            const ROOM: usize = 16;
            let mut nodes = alloc::vec![node(0, 0); ROOM];
            let mut vacant: Vec<u32> = (0..ROOM as u32).collect();
            let (mut table, mut map) = (OrderTable::new(ROOM), BTreeMap::new());
            for (instrument, id) in steps {
                if let Some(slot) = map.remove(&(instrument, id)) {
                    table.remove(&nodes, slot);
                    vacant.push(slot);
                } else if let Some(slot) = vacant.pop() {
                    nodes[slot as usize] = node(instrument, id);
                    table.insert(&nodes, slot);
                    map.insert((instrument, id), slot);
                }
                for instrument in 0..2 {
                    for id in 0..40 {
                        let found = table.find(&nodes, instrument, id);
                        prop_assert_eq!(found, map.get(&(instrument, id)).copied());
                    }
                }
            }
        }
    }
}
