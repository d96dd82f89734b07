//! Hash tables by key: a slot leads to the first element of each key, which links to the others.

use crate::index::{self, NONE};
use crate::socket::Key;

/// An element of a table.
pub(crate) trait Element {
    fn key(&self) -> &Key;
    fn next(&self) -> u32;
    fn set_next(&mut self, next: u32);
}

/// The proof that an element to remove is found.
const INSERTED: &str = "the element was inserted";

/// All elements of a kind, and the slots that lead to them.
pub(crate) struct Table<'t, T> {
    pub(crate) seed: u64,
    pub(crate) slots: &'t mut [u32],
    pub(crate) elements: &'t mut [T],
}

/// Returns the slot and the first element of a key.
#[inline]
pub(crate) fn find<T: Element>(
    slots: &[u32],
    elements: &[T],
    key: &Key,
    hash: u32,
) -> Option<(usize, u32)> {
    index::find(slots, hash, |at| elements[at as usize].key() == key)
}

/// Returns an element and its successors.
#[inline]
pub(crate) fn chain<T: Element>(elements: &[T], first: u32) -> impl Iterator<Item = u32> {
    let next = |&at: &u32| index::some(elements[at as usize].next());
    core::iter::successors(index::some(first), next)
}

impl<T: Element> Table<'_, T> {
    /// Returns the first element of a key.
    pub(crate) fn first(&self, key: &Key) -> Option<u32> {
        self.find(key).map(|(_, first)| first)
    }

    /// Inserts an element, whose key is set, after those that share the key.
    pub(crate) fn insert(&mut self, at: u32) {
        self.elements[at as usize].set_next(NONE);
        let key = *self.elements[at as usize].key();
        match self.first(&key).and_then(|first| chain(self.elements, first).last()) {
            Some(last) => self.elements[last as usize].set_next(at),
            None => index::insert(self.slots, key.hash(self.seed), at),
        }
    }

    /// Removes an element from its slot or from the list of its key.
    pub(crate) fn remove(&mut self, at: u32) {
        let (seed, elements) = (self.seed, &mut *self.elements);
        let (key, next) = (*elements[at as usize].key(), elements[at as usize].next());
        let (slot, first) = find(self.slots, elements, &key, key.hash(seed)).expect(INSERTED);
        if first != at {
            let precedes = |&predecessor: &u32| elements[predecessor as usize].next() == at;
            let predecessor = chain(elements, first).find(precedes).expect(INSERTED);
            elements[predecessor as usize].set_next(next);
        } else if next != NONE {
            self.slots[slot] = next;
        } else {
            index::remove(self.slots, slot, |at| elements[at as usize].key().hash(seed));
        }
    }

    fn find(&self, key: &Key) -> Option<(usize, u32)> {
        find(self.slots, self.elements, key, key.hash(self.seed))
    }
}
