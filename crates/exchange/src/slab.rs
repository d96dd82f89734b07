//! A fixed number of slots that are allocated and freed without heap allocation.

use core::ops::{Index, IndexMut};

/// No slot: the end of an intrusive list.
pub(crate) const NONE: u32 = u32::MAX;

/// Slots of `T`, addressed by index. The free slots form a list through `next_free`.
///
/// A freed slot keeps its last value until it is allocated again. An owner that marks its values
/// (an order's id) can therefore recognize a stale index.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Box<[T]>,
    next_free: Box<[u32]>,
    free: u32,
    used: u32,
}

impl<T: Copy + Default> Slab<T> {
    /// Creates `capacity` free slots.
    ///
    /// # Panics
    /// If `capacity` is `u32::MAX`, which means no slot.
    pub(crate) fn new(capacity: u32) -> Self {
        assert!(capacity < NONE, "capacity {capacity} is reserved for no slot");
        let next_free = (1..=capacity).map(|n| if n == capacity { NONE } else { n }).collect();
        let free = if capacity == 0 { NONE } else { 0 };
        Self { slots: vec![T::default(); capacity as usize].into(), next_free, free, used: 0 }
    }

    /// Stores `value` in a free slot. Returns `None` if all slots are in use.
    pub(crate) fn insert(&mut self, value: T) -> Option<u32> {
        let slot = self.free;
        if slot == NONE {
            return None;
        }
        self.free = self.next_free[slot as usize];
        self.slots[slot as usize] = value;
        self.used += 1;
        Some(slot)
    }

    /// Frees a slot allocated by [`Slab::insert`].
    pub(crate) fn remove(&mut self, slot: u32) {
        self.next_free[slot as usize] = self.free;
        self.free = slot;
        self.used -= 1;
    }

    pub(crate) fn used(&self) -> u32 {
        self.used
    }

    pub(crate) fn capacity(&self) -> u32 {
        // The constructor took a `u32`.
        self.slots.len() as u32
    }

    pub(crate) fn is_full(&self) -> bool {
        self.free == NONE
    }

    pub(crate) fn at(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    fn index(&self, slot: u32) -> &T {
        &self.slots[slot as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, slot: u32) -> &mut T {
        &mut self.slots[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocates_each_slot_once_until_removed() {
        let mut slab = Slab::new(3);
        let slots = [slab.insert(10), slab.insert(11), slab.insert(12)].map(Option::unwrap);
        assert_eq!(slots, [0, 1, 2]);
        assert_eq!((slab.insert(13), slab.is_full(), slab.used()), (None, true, 3));
        slab.remove(1);
        assert_eq!((slab.insert(14), slab[1], slab.used()), (Some(1), 14, 3));
    }

    #[test]
    fn slab_of_capacity_zero_is_full() {
        let mut slab = Slab::new(0);
        assert_eq!((slab.insert(1), slab.is_full(), slab.capacity()), (None, true, 0));
    }
}
