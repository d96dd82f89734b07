//! Elements that are found by a key: slots lead to the first of each key, and it to the others.

use crate::Error;
use crate::index::{self, NONE};
use crate::socket::Key;

/// What lies in a table.
pub(crate) trait Element {
    fn key(&self) -> &Key;
    fn next(&self) -> u32;
    fn set_next(&mut self, next: u32);
    /// Whether it is entered.
    fn is_entered(&self) -> bool;
}

/// All elements of a kind, and the slots that lead to them.
pub(crate) struct Table<'t, T> {
    pub(crate) seed: u64,
    pub(crate) slots: &'t mut [u32],
    pub(crate) elements: &'t mut [T],
}

/// The slot and the first element of a key.
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

/// An element and those behind it, each once. It ends, whoever has written the arena.
#[inline]
pub(crate) fn chain<T: Element>(elements: &[T], first: u32) -> impl Iterator<Item = u32> {
    let next = |&at: &u32| elements.get(at as usize).map(Element::next);
    core::iter::successors(Some(first), next)
        .take_while(|&at| (at as usize) < elements.len())
        .take(elements.len())
}

impl<T: Element> Table<'_, T> {
    /// The first of a key.
    pub(crate) fn first(&self, key: &Key) -> Option<u32> {
        self.find(key).map(|(_, first)| first)
    }

    /// Enters an element, whose key stands already, behind those that share that.
    pub(crate) fn attach(&mut self, at: u32) -> Result<(), Error> {
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

    /// Takes an element out of the slots, or out of the chain of those that share its key.
    pub(crate) fn detach(&mut self, at: u32) -> Result<(), Error> {
        let element = self.elements.get(at as usize).ok_or(Error::Corrupt)?;
        let (key, next) = (*element.key(), element.next());
        let (slot, first) = self.find(&key).ok_or(Error::Corrupt)?;
        if first != at {
            let is_before = |&before: &u32| self.elements[before as usize].next() == at;
            let before = chain(self.elements, first).find(is_before).ok_or(Error::Corrupt)?;
            self.elements[before as usize].set_next(next);
        } else if next != NONE {
            self.slots[slot] = next;
        } else {
            let (seed, elements) = (self.seed, &*self.elements);
            let hash = |at: u32| elements.get(at as usize).map(|other| other.key().hash(seed));
            index::remove(self.slots, slot, hash).ok_or(Error::Corrupt)?;
        }
        Ok(())
    }

    /// Whether every slot leads to the first of its key, and all that is entered is in one chain.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut entered = self.elements.iter().filter(|element| element.is_entered()).count();
        for (slot, &first) in self.slots.iter().enumerate().filter(|&(_, &first)| first != NONE) {
            let key = self.elements.get(first as usize).ok_or(Error::Corrupt)?.key();
            if self.find(key) != Some((slot, first)) {
                return Err(Error::Corrupt);
            }
            let mut last = NONE;
            for at in chain(self.elements, first) {
                let element = &self.elements[at as usize];
                let belongs = element.is_entered() && element.key() == key;
                entered = entered.checked_sub(1).filter(|_| belongs).ok_or(Error::Corrupt)?;
                last = element.next();
            }
            if last != NONE {
                return Err(Error::Corrupt);
            }
        }
        if entered == 0 { Ok(()) } else { Err(Error::Corrupt) }
    }

    fn find(&self, key: &Key) -> Option<(usize, u32)> {
        find(self.slots, self.elements, key, key.hash(self.seed))
    }
}
