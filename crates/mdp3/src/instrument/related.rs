//! The related instruments of a definition: the legs of a spread, the underlyings of an option or a
//! repo.

use alloc::vec;
use alloc::vec::Vec;

use hairpin_cme_codecs::mdp3::{DecimalQty, LegSide};

use crate::{InstrumentIndex, Price9, Text};

/// A leg of a spread (group NoLegs of template 56).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leg {
    /// LegSecurityID (602).
    pub security_id: i32,
    /// LegSide (624): the side of the leg when buying the spread.
    pub side: LegSide,
    /// LegRatioQty (623): the quantity of the leg per spread.
    pub ratio: i8,
    /// LegPrice (566), of covered instruments.
    pub price: Option<Price9>,
    /// LegOptionDelta (1017), of covered instruments.
    pub option_delta: Option<DecimalQty>,
}

/// An underlying or related instrument (groups NoUnderlyings and NoRelatedInstruments of templates
/// 55 and 58).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Underlying {
    /// UnderlyingSecurityID (309) or RelatedSecurityID (1650).
    pub security_id: Option<i32>,
    /// UnderlyingSymbol (311) or RelatedSymbol (1649).
    pub symbol: Text<20>,
}

/// An instrument that a definition refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Related {
    /// A leg of a spread.
    Leg(Leg),
    /// An underlying.
    Underlying(Underlying),
    /// A related instrument.
    Instrument(Underlying),
}

/// The maximum number of entries in all lists of one definition: three groups with a one-byte
/// count.
pub(crate) const MAX_RELATED: usize = 3 * 255;

#[derive(Debug, Clone, Copy)]
struct Node {
    related: Related,
    next: u32,
}

/// The null node number.
const END: u32 = u32::MAX;

const FREE: Related = Related::Underlying(Underlying { security_id: None, symbol: Text::EMPTY });

/// The list of each instrument, in a shared arena; freed nodes are reused.
#[derive(Debug)]
pub(crate) struct RelatedLists {
    nodes: Vec<Node>,
    /// The first free node.
    free: u32,
    /// The first node of each instrument.
    firsts: Vec<u32>,
}

impl RelatedLists {
    /// Creates lists for `instruments` instruments with `capacity` entries in total.
    pub(crate) fn new(instruments: usize, capacity: usize) -> Self {
        let capacity = capacity.min(END as usize - 1);
        let node = |slot| Node {
            related: FREE,
            next: if slot + 1 == capacity { END } else { slot as u32 + 1 },
        };
        let free = if capacity == 0 { END } else { 0 };
        Self { nodes: (0..capacity).map(node).collect(), free, firsts: vec![END; instruments] }
    }

    /// Returns the list of an instrument.
    pub(crate) fn list(&self, instrument: InstrumentIndex) -> impl Iterator<Item = &Related> {
        let mut slot = self.firsts[instrument.as_usize()];
        core::iter::from_fn(move || {
            let node = self.nodes.get(slot as usize)?;
            slot = node.next;
            Some(&node.related)
        })
    }

    /// Replaces the list of an instrument. If it does not fit, clears the list and returns `false`.
    pub(crate) fn replace(&mut self, instrument: InstrumentIndex, list: &[Related]) -> bool {
        self.remove(instrument);
        let mut first = END;
        for related in list.iter().rev() {
            let Some(node) = self.nodes.get_mut(self.free as usize) else {
                self.firsts[instrument.as_usize()] = first;
                self.remove(instrument);
                return false;
            };
            let slot = core::mem::replace(&mut self.free, node.next);
            *node = Node { related: *related, next: first };
            first = slot;
        }
        self.firsts[instrument.as_usize()] = first;
        true
    }

    /// Empties the list of an instrument.
    pub(crate) fn remove(&mut self, instrument: InstrumentIndex) {
        let mut slot = core::mem::replace(&mut self.firsts[instrument.as_usize()], END);
        while let Some(node) = self.nodes.get_mut(slot as usize) {
            let next = core::mem::replace(&mut node.next, self.free);
            self.free = slot;
            slot = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn underlying(security_id: i32) -> Related {
        let security_id = Some(security_id);
        Related::Underlying(Underlying { security_id, symbol: Text::EMPTY })
    }

    fn list(ids: core::ops::Range<i32>) -> Vec<Related> {
        ids.map(underlying).collect()
    }

    fn entries(lists: &RelatedLists, instrument: u32) -> Vec<Related> {
        lists.list(InstrumentIndex(instrument)).copied().collect()
    }

    #[test]
    fn list_keeps_order_when_replaced() {
        let mut lists = RelatedLists::new(2, 8);
        assert!(lists.replace(InstrumentIndex(0), &list(0..3)));
        assert!(lists.replace(InstrumentIndex(1), &list(10..12)));
        assert!(lists.replace(InstrumentIndex(0), &list(20..24)));
        assert_eq!((entries(&lists, 0), entries(&lists, 1)), (list(20..24), list(10..12)));
    }

    #[test]
    fn reuses_freed_nodes() {
        let mut lists = RelatedLists::new(2, 4);
        for round in 0..100 {
            let (long, short) = (round % 2, 1 - round % 2);
            assert!(lists.replace(InstrumentIndex(short), &list(9..10)));
            assert!(lists.replace(InstrumentIndex(long), &list(0..3)));
            assert_eq!((entries(&lists, long), entries(&lists, short)), (list(0..3), list(9..10)));
            lists.remove(InstrumentIndex(long));
            assert_eq!(entries(&lists, long), []);
        }
    }

    #[test]
    fn drops_list_that_does_not_fit() {
        let mut lists = RelatedLists::new(2, 4);
        assert!(lists.replace(InstrumentIndex(0), &list(0..2)));
        assert!(!lists.replace(InstrumentIndex(1), &list(0..3)));
        assert_eq!((entries(&lists, 0), entries(&lists, 1)), (list(0..2), list(0..0)));
        assert!(lists.replace(InstrumentIndex(1), &list(0..2)));
        assert!(!RelatedLists::new(1, 0).replace(InstrumentIndex(0), &list(0..1)));
    }
}
