//! The related instruments of a definition: the legs of a spread, the underlyings of an option or a
//! repo.

use alloc::vec;
use alloc::vec::Vec;

use hairpin_cme_codecs::mdp3::{DecimalQty, LegSide, SecurityAltIDSource};

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
    /// UnderlyingInstrumentGUID (37519, since version 11) or RelatedInstrumentGUID (37724), of
    /// repos.
    pub instrument_guid: Option<u64>,
    /// The other fields of a repo's underlying.
    pub security: UnderlyingSecurity,
}

/// The security that a repo refers to (group NoUnderlyings of template 58); empty for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnderlyingSecurity {
    /// UnderlyingSecurityAltID (458).
    pub alt_id: Text<12>,
    /// UnderlyingSecurityAltIDSource (459): CUSIP or ISIN.
    pub alt_id_source: Option<SecurityAltIDSource>,
    /// UnderlyingFinancialInstrumentFullName (2720).
    pub full_name: Text<35>,
    /// UnderlyingSecurityType (310).
    pub security_type: Text<6>,
    /// UnderlyingCountryOfIssue (592).
    pub country_of_issue: Text<2>,
    /// UnderlyingIssuer (306).
    pub issuer: Text<25>,
    /// UnderlyingMaxLifeTime (37717), in years.
    pub max_life_time: Option<u8>,
    /// UnderlyingMinDaysToMaturity (37718).
    pub min_days_to_maturity: Option<u16>,
    /// UnderlyingMaturityDate (542), since version 11: days since 1970-01-01.
    pub maturity_date: Option<u16>,
}

impl UnderlyingSecurity {
    pub(crate) const NONE: Self = Self {
        alt_id: Text::EMPTY,
        alt_id_source: None,
        full_name: Text::EMPTY,
        security_type: Text::EMPTY,
        country_of_issue: Text::EMPTY,
        issuer: Text::EMPTY,
        max_life_time: None,
        min_days_to_maturity: None,
        maturity_date: None,
    };
}

/// A broken date of a repo (group NoBrokenDates of template 58, since version 13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenDate {
    /// BrokenDateGUID (39031).
    pub guid: u64,
    /// BrokenDateSecurityID (39027).
    pub security_id: i32,
    /// BrokenDateStart (6748): days since 1970-01-01.
    pub start: Option<u16>,
    /// BrokenDateEnd (6741): days since 1970-01-01.
    pub end: Option<u16>,
}

/// A trading session of a foreign exchange instrument (group NoTradingSessions of template 63).
/// Dates are days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TradingSession {
    /// TradeDate (75).
    pub trade_date: Option<u16>,
    /// SettlDate (64).
    pub settl_date: Option<u16>,
    /// MaturityDate (541).
    pub maturity_date: Option<u16>,
    /// SecurityAltID (455).
    pub security_alt_id: Text<12>,
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
    /// A broken date of a repo.
    BrokenDate(BrokenDate),
    /// A trading session of a foreign exchange instrument.
    TradingSession(TradingSession),
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

const FREE: Related = Related::Underlying(Underlying::new(None, Text::EMPTY));

impl Underlying {
    /// Creates an instrument with the fields of an option's underlying.
    pub(crate) const fn new(security_id: Option<i32>, symbol: Text<20>) -> Self {
        Self { security_id, symbol, instrument_guid: None, security: UnderlyingSecurity::NONE }
    }
}

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
        Related::Underlying(Underlying::new(security_id, Text::EMPTY))
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
