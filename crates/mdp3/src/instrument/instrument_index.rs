//! The index of an instrument, and the table from SecurityID to index.

use alloc::vec;
use alloc::vec::Vec;

/// The index of an instrument of a channel: dense from 0. When all slots are in use, the index of a
/// deleted instrument is reused for another, and [`crate::Listener::on_instrument_replaced`] is
/// called. [`crate::Instruments::generation`] distinguishes the instruments of one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstrumentIndex(pub(crate) u32);

impl InstrumentIndex {
    /// Returns the index as a number below `Settings::max_instruments`, for the caller's own
    /// arrays.
    #[must_use]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// A slot of the table, 8 bytes, so that a cache line holds eight.
#[derive(Debug, Clone, Copy)]
struct Slot {
    security_id: i32,
    index: u32,
}

const EMPTY: Slot = Slot { security_id: 0, index: u32::MAX };

/// A hash table with open addressing: a power of two of slots, at most half of them in use, linear
/// probing. A removal moves later slots of the probe sequence back.
///
/// CME's SecurityIDs are close together and often multiples of a number. Multiplying by the golden
/// ratio and taking the top bits spreads such runs.
#[derive(Debug)]
pub(crate) struct IdTable {
    slots: Vec<Slot>,
    shift: u32,
}

const GOLDEN_RATIO: u32 = 0x9E37_79B9;

impl IdTable {
    /// Creates a table for `capacity` instruments.
    pub(crate) fn new(capacity: usize) -> Self {
        let slots = (capacity * 2).next_power_of_two().max(2);
        Self { slots: vec![EMPTY; slots], shift: 32 - slots.trailing_zeros() }
    }

    /// Returns the instrument of `security_id`.
    #[inline]
    pub(crate) fn find(&self, security_id: i32) -> Option<InstrumentIndex> {
        let (_, slot) = self.probe(security_id);
        (slot.index != EMPTY.index).then_some(InstrumentIndex(slot.index))
    }

    /// Adds an instrument that is not in the table. The caller respects the capacity.
    pub(crate) fn insert(&mut self, security_id: i32, index: InstrumentIndex) {
        let (position, _) = self.probe(security_id);
        self.slots[position] = Slot { security_id, index: index.0 };
    }

    /// Removes an instrument, if it is in the table.
    pub(crate) fn remove(&mut self, security_id: i32) {
        let mask = self.slots.len() - 1;
        let (mut free, slot) = self.probe(security_id);
        if slot.index == EMPTY.index {
            return;
        }
        let mut position = free;
        loop {
            self.slots[free] = EMPTY;
            loop {
                position = (position + 1) & mask;
                let slot = self.slots[position];
                if slot.index == EMPTY.index {
                    return;
                }
                // A slot may move back unless its own place is after the free one.
                let distance = position.wrapping_sub(self.place(slot.security_id)) & mask;
                if distance >= (position.wrapping_sub(free) & mask) {
                    self.slots[free] = slot;
                    break;
                }
            }
            free = position;
        }
    }

    /// Returns the first position of `security_id`.
    #[inline]
    fn place(&self, security_id: i32) -> usize {
        let hash = security_id.cast_unsigned().wrapping_mul(GOLDEN_RATIO);
        (hash >> self.shift) as usize & (self.slots.len() - 1)
    }

    /// Returns the position and slot of `security_id`, or the free slot for it.
    #[inline]
    fn probe(&self, security_id: i32) -> (usize, Slot) {
        let mask = self.slots.len() - 1;
        let mut position = self.place(security_id);
        loop {
            let slot = self.slots[position];
            // Compares the id first: a hit costs one comparison, and the caller checks once for a
            // free slot.
            if slot.security_id == security_id {
                return (position, slot);
            }
            if slot.index == EMPTY.index {
                return (position, EMPTY);
            }
            position = (position + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_exactly_inserted_ids() {
        let ids = [0, 1, -1, i32::MIN, i32::MAX, 26_418, 26_420, 1 << 20, 1 << 21];
        let mut table = IdTable::new(ids.len());
        for (n, id) in ids.into_iter().enumerate() {
            assert_eq!(table.find(id), None, "{id}");
            table.insert(id, InstrumentIndex(n as u32));
        }
        for (n, id) in ids.into_iter().enumerate() {
            assert_eq!(table.find(id), Some(InstrumentIndex(n as u32)), "{id}");
        }
        assert_eq!(table.find(2), None);
    }

    #[test]
    fn removal_keeps_other_ids() {
        // 4,096 apart, so that probe sequences overlap; compared with a map.
        let mut table = IdTable::new(64);
        let mut map = alloc::collections::BTreeMap::new();
        for n in 0..10_000_i32 {
            let id = n * 4096;
            table.insert(id, InstrumentIndex(n as u32));
            map.insert(id, n as u32);
            if n >= 48 {
                let oldest = (n.wrapping_mul(7) % 48 + n - 48) * 4096;
                table.remove(oldest);
                map.remove(&oldest);
            }
            while map.len() > 60 {
                let (id, _) = map.pop_first().unwrap();
                table.remove(id);
            }
            for (id, index) in &map {
                assert_eq!(table.find(*id), Some(InstrumentIndex(*index)));
            }
            table.remove(-1);
            assert_eq!(
                table.find((n - 200) * 4096).is_some(),
                map.contains_key(&((n - 200) * 4096))
            );
        }
    }

    #[test]
    fn full_table_reports_missing_ids() {
        let mut table = IdTable::new(1_000);
        (0..1_000).for_each(|n| table.insert(n * 4096, InstrumentIndex(n as u32)));
        assert!((0..1_000).all(|n| table.find(n * 4096) == Some(InstrumentIndex(n as u32))));
        assert!((0..1_000).all(|n| table.find(n * 4096 + 1).is_none()));
    }
}
