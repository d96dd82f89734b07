//! Hash tables by key: a slot leads to the first element of each key, which links to the others.

use crate::Error;
use crate::index::{self, NONE};
use crate::socket::Key;

/// An element of a table.
pub(crate) trait Element {
    fn key(&self) -> &Key;
    fn next(&self) -> u32;
    fn set_next(&mut self, next: u32);
    /// Returns `true` if the element is in the table.
    fn is_inserted(&self) -> bool;
}

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
    index::find(slots, hash, |at| {
        elements.get(at as usize).is_some_and(|element| element.key() == key)
    })
}

/// Returns an element and its successors. The iteration ends even if the list is corrupt.
#[inline]
pub(crate) fn chain<T: Element>(elements: &[T], first: u32) -> impl Iterator<Item = u32> {
    let next = |&at: &u32| elements.get(at as usize).map(Element::next);
    core::iter::successors(Some(first), next)
        .take_while(|&at| (at as usize) < elements.len())
        .take(elements.len())
}

impl<T: Element> Table<'_, T> {
    /// Returns the first element of a key.
    pub(crate) fn first(&self, key: &Key) -> Option<u32> {
        self.find(key).map(|(_, first)| first)
    }

    /// Inserts an element, whose key is set, after those that share the key.
    pub(crate) fn insert(&mut self, at: u32) -> Result<(), Error> {
        let element = self.elements.get_mut(at as usize).ok_or(Error::Corrupt)?;
        element.set_next(NONE);
        let key = *element.key();
        let Some(first) = self.first(&key) else {
            return index::insert(self.slots, key.hash(self.seed), at).ok_or(Error::Corrupt);
        };
        let last = chain(self.elements, first).last().ok_or(Error::Corrupt)?;
        let last = &mut self.elements[last as usize];
        if last.next() != NONE || first == at {
            return Err(Error::Corrupt);
        }
        last.set_next(at);
        Ok(())
    }

    /// Removes an element from its slot or from the list of its key.
    pub(crate) fn remove(&mut self, at: u32) -> Result<(), Error> {
        let element = self.elements.get(at as usize).ok_or(Error::Corrupt)?;
        let (key, next) = (*element.key(), element.next());
        let (slot, first) = self.find(&key).ok_or(Error::Corrupt)?;
        if first != at {
            let precedes = |&predecessor: &u32| self.elements[predecessor as usize].next() == at;
            let predecessor = chain(self.elements, first).find(precedes).ok_or(Error::Corrupt)?;
            self.elements[predecessor as usize].set_next(next);
        } else if next != NONE {
            self.slots[slot] = next;
        } else {
            let (seed, elements) = (self.seed, &*self.elements);
            let hash = |at: u32| elements.get(at as usize).map(|other| other.key().hash(seed));
            index::remove(self.slots, slot, hash).ok_or(Error::Corrupt)?;
        }
        Ok(())
    }

    /// Validates that every slot leads to the first element of its key, and that the lists contain
    /// each inserted element once.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let mut inserted = self.elements.iter().filter(|element| element.is_inserted()).count();
        for (slot, &first) in self.slots.iter().enumerate().filter(|&(_, &first)| first != NONE) {
            let key = self.elements.get(first as usize).ok_or(Error::Corrupt)?.key();
            if self.find(key) != Some((slot, first)) {
                return Err(Error::Corrupt);
            }
            let mut last = NONE;
            for at in chain(self.elements, first) {
                let element = &self.elements[at as usize];
                let belongs = element.is_inserted() && element.key() == key;
                inserted = inserted.checked_sub(1).filter(|_| belongs).ok_or(Error::Corrupt)?;
                last = element.next();
            }
            if last != NONE {
                return Err(Error::Corrupt);
            }
        }
        if inserted == 0 { Ok(()) } else { Err(Error::Corrupt) }
    }

    fn find(&self, key: &Key) -> Option<(usize, u32)> {
        find(self.slots, self.elements, key, key.hash(self.seed))
    }
}
