//! The filter that selects the instruments of a channel.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::instrument::instrument_index::{IdTable, InstrumentIndex};
use crate::market::Market;
use crate::{Definition, Instruments, StatusScope, Text};

/// A selection of instruments by SecurityID, symbol, security group or asset. An empty filter
/// accepts all instruments.
///
/// A rejected instrument takes no book, no queue and no slot of
/// [`crate::Settings::max_instruments`]; an entry of it costs one failed lookup. The listener
/// receives nothing of it except whole messages ([`crate::Listener::on_message`]). Statuses of a
/// group or an asset are reported only if they apply to an accepted instrument.
///
/// Symbols, groups and assets come from definitions. An instrument accepted by one of them exists
/// from its definition on, and stays accepted whatever later definitions state.
///
/// ```
/// use hairpin_mdp3::{Channel, Filter, Settings, Text};
///
/// let group = Text::new("ES").ok_or("at most six characters")?;
/// let filter = Filter::default().with_security_id(26_418).with_group(group);
/// let channel = Channel::new_with_filter(Settings::default(), filter);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The accepted SecurityIDs, ascending.
    security_ids: Vec<i32>,
    symbols: Vec<Text<20>>,
    groups: Vec<Text<6>>,
    assets: Vec<Text<6>>,
    max_unwanted: usize,
}

/// Accepts all instruments.
impl Default for Filter {
    fn default() -> Self {
        Self {
            security_ids: Vec::new(),
            symbols: Vec::new(),
            groups: Vec::new(),
            assets: Vec::new(),
            // Ten times the instruments of CME's largest channels.
            max_unwanted: 1 << 17,
        }
    }
}

impl Filter {
    /// Accepts the instrument with a SecurityID (48).
    #[must_use]
    pub fn with_security_id(mut self, security_id: i32) -> Self {
        if let Err(place) = self.security_ids.binary_search(&security_id) {
            self.security_ids.insert(place, security_id);
        }
        self
    }

    /// Accepts the instrument with a Symbol (55).
    #[must_use]
    pub fn with_symbol(mut self, symbol: Text<20>) -> Self {
        self.symbols.push(symbol);
        self
    }

    /// Accepts all instruments of a SecurityGroup (1151).
    #[must_use]
    pub fn with_group(mut self, security_group: Text<6>) -> Self {
        self.groups.push(security_group);
        self
    }

    /// Accepts all instruments of an Asset (6937), the product.
    #[must_use]
    pub fn with_asset(mut self, asset: Text<6>) -> Self {
        self.assets.push(asset);
        self
    }

    /// Sets how many rejected instruments a collection of definitions can distinguish, at about 20
    /// bytes each. Allocated only if the filter rejects any. With more rejected instruments, a
    /// collection that repeats may count as complete too early.
    #[must_use]
    pub const fn with_max_unwanted(mut self, instruments: usize) -> Self {
        self.max_unwanted = instruments;
        self
    }

    /// Returns `true` if all instruments are accepted.
    #[must_use]
    pub fn accepts_all(&self) -> bool {
        self.security_ids.is_empty()
            && self.symbols.is_empty()
            && self.groups.is_empty()
            && self.assets.is_empty()
    }

    /// Returns `true` if an instrument is accepted by its SecurityID alone.
    #[must_use]
    pub fn accepts_id(&self, security_id: i32) -> bool {
        self.security_ids.binary_search(&security_id).is_ok()
    }

    /// Returns `true` if the instrument with this definition is accepted.
    #[must_use]
    pub fn accepts(&self, definition: &Definition) -> bool {
        self.accepts_all()
            || self.accepts_id(definition.security_id)
            || self.symbols.contains(&definition.symbol)
            || self.groups.contains(&definition.security_group)
            || self.assets.contains(&definition.asset)
    }
}

/// A name in a [`Filter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterName {
    /// SecurityID (48).
    SecurityId(i32),
    /// Symbol (55).
    Symbol(Text<20>),
    /// SecurityGroup (1151).
    Group(Text<6>),
    /// Asset (6937).
    Asset(Text<6>),
}

impl fmt::Display for FilterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SecurityId(id) => write!(f, "SecurityID {id}"),
            Self::Symbol(symbol) => write!(f, "symbol {symbol}"),
            Self::Group(group) => write!(f, "security group {group}"),
            Self::Asset(asset) => write!(f, "asset {asset}"),
        }
    }
}

impl Filter {
    /// Returns the names that no instrument has.
    pub(crate) fn unmatched(&self, instruments: &Instruments) -> impl Iterator<Item = FilterName> {
        let ids = self.security_ids.iter().copied().map(FilterName::SecurityId);
        let symbols = self.symbols.iter().copied().map(FilterName::Symbol);
        let groups = self.groups.iter().copied().map(FilterName::Group);
        let assets = self.assets.iter().copied().map(FilterName::Asset);
        let is_known = |name: &FilterName| {
            let mut definitions =
                instruments.iter().filter_map(|index| instruments.definition(index));
            match name {
                FilterName::SecurityId(id) => instruments.find(*id).is_some(),
                FilterName::Symbol(symbol) => definitions.any(|it| it.symbol == *symbol),
                FilterName::Group(group) => definitions.any(|it| it.security_group == *group),
                FilterName::Asset(asset) => definitions.any(|it| it.asset == *asset),
            }
        };
        let names = ids.chain(symbols).chain(groups).chain(assets);
        names.filter(move |name| !is_known(name))
    }
}

/// The rejected instruments named by a collection of definitions.
#[derive(Debug)]
pub(crate) struct UnwantedInstruments {
    ids: IdTable,
    /// The last collection that named each instrument.
    collections: Vec<u32>,
    count: usize,
}

impl UnwantedInstruments {
    pub(crate) fn new(filter: &Filter) -> Self {
        let room = if filter.accepts_all() { 0 } else { filter.max_unwanted };
        Self { ids: IdTable::new(room), collections: vec![0; room], count: 0 }
    }

    /// Returns the last collection that named an instrument, or `None` if there is no room for it.
    pub(crate) fn last_collection(&mut self, security_id: i32) -> Option<&mut u32> {
        let place = match self.ids.find(security_id) {
            Some(place) => place.as_usize(),
            None if self.count < self.collections.len() => {
                self.ids.insert(security_id, InstrumentIndex(self.count as u32));
                self.count += 1;
                self.count - 1
            }
            None => return None,
        };
        self.collections.get_mut(place)
    }
}

impl Market {
    /// Returns `true` if an unknown instrument is rejected as far as its SecurityID shows. It is
    /// then neither reported nor stored.
    #[inline]
    pub(crate) fn is_unwanted(
        &self,
        instrument: Option<InstrumentIndex>,
        security_id: i32,
    ) -> bool {
        instrument.is_none() && self.filtering && !self.filter.accepts_id(security_id)
    }

    /// Returns `true` if a definition belongs to an unknown, rejected instrument.
    pub(crate) fn is_unwanted_definition(&self, definition: &Definition) -> bool {
        self.filtering
            && !self.filter.accepts(definition)
            && self.instruments.find(definition.security_id).is_none()
    }

    /// Returns `true` if a status applies to any accepted instrument.
    pub(crate) fn is_wanted_status(&self, scope: &StatusScope) -> bool {
        if !self.filtering {
            return true;
        }
        match scope {
            StatusScope::Instrument { security_id, instrument } => {
                !self.is_unwanted(*instrument, *security_id)
            }
            StatusScope::Group { .. } => self
                .instruments
                .iter()
                .any(|wanted| scope.includes(&self.instruments.definitions[wanted.as_usize()])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(security_id: i32, group: &str, asset: &str) -> Definition {
        Definition {
            security_group: Text::new(group).unwrap(),
            asset: Text::new(asset).unwrap(),
            ..Definition::undefined(security_id)
        }
    }

    #[test]
    fn empty_filter_accepts_all() {
        assert!(Filter::default().accepts_all());
        assert!(Filter::default().accepts(&definition(7, "ES", "ES")));
        assert!(
            UnwantedInstruments::new(&Filter::default()).collections.is_empty(),
            "takes no memory"
        );
    }

    #[test]
    fn accepts_by_any_criterion() {
        let es = Text::new("ES").unwrap();
        let filter = Filter::default().with_security_id(9).with_group(es);
        let filter = filter.with_asset(Text::new("NQ").unwrap()).with_security_id(7);
        assert!(!filter.accepts_all());
        assert!(filter.accepts_id(7) && filter.accepts_id(9) && !filter.accepts_id(8));
        assert!(filter.accepts(&definition(7, "ZZ", "ZZ")));
        assert!(filter.accepts(&definition(1, "ES", "ZZ")));
        assert!(filter.accepts(&definition(1, "ZZ", "NQ")));
        assert!(!filter.accepts(&definition(1, "NQ", "ES")));
        let named =
            |symbol| Definition { symbol: Text::new(symbol).unwrap(), ..definition(1, "ES", "ES") };
        let filter = Filter::default().with_symbol(Text::new("ESZ6").unwrap());
        assert!(!filter.accepts_all());
        assert!(filter.accepts(&named("ESZ6")) && !filter.accepts(&named("ESH7")));
    }

    #[test]
    fn distinguishes_unwanted_up_to_capacity() {
        let filter = Filter::default().with_security_id(9).with_max_unwanted(2);
        let mut unwanted = UnwantedInstruments::new(&filter);
        *unwanted.last_collection(1).unwrap() = 5;
        assert_eq!(unwanted.last_collection(2), Some(&mut 0));
        assert_eq!(unwanted.last_collection(1), Some(&mut 5));
        assert_eq!(unwanted.last_collection(3), None);
    }
}
