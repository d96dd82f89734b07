//! Which instruments of a channel are wanted.

use alloc::vec;
use alloc::vec::Vec;

use crate::instrument::instrument_index::{IdTable, InstrumentIndex};
use crate::market::Market;
use crate::{Definition, StatusScope, Text};

/// Which instruments of a channel are wanted: those with a SecurityID or a symbol, of a security
/// group or of an asset that is named here. One that names nothing wants all of them.
///
/// An instrument that is not wanted takes no book, no queue and no place among
/// [`crate::Settings::max_instruments`]; an entry of it costs the lookup that does not find it.
/// Nothing of it is told but the messages that it is in ([`crate::Listener::on_message`]): not its
/// definitions, and of statuses of a group or an asset only those that reach a wanted instrument.
///
/// Symbols, groups and assets are known from definitions, so an instrument wanted for one of them
/// exists from its definition on. Once wanted it stays so, whatever later definitions say.
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
    /// In ascending order.
    security_ids: Vec<i32>,
    symbols: Vec<Text<20>>,
    groups: Vec<Text<6>>,
    assets: Vec<Text<6>>,
    max_unwanted: usize,
}

/// Every instrument.
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
    /// Wants an instrument.
    #[must_use]
    pub fn with_security_id(mut self, security_id: i32) -> Self {
        if let Err(place) = self.security_ids.binary_search(&security_id) {
            self.security_ids.insert(place, security_id);
        }
        self
    }

    /// Wants the instrument with a Symbol (55).
    #[must_use]
    pub fn with_symbol(mut self, symbol: Text<20>) -> Self {
        self.symbols.push(symbol);
        self
    }

    /// Wants all instruments of a SecurityGroup (1151).
    #[must_use]
    pub fn with_group(mut self, security_group: Text<6>) -> Self {
        self.groups.push(security_group);
        self
    }

    /// Wants all instruments of an Asset (6937), the product.
    #[must_use]
    pub fn with_asset(mut self, asset: Text<6>) -> Self {
        self.assets.push(asset);
        self
    }

    /// Room to know so many unwanted instruments apart while definitions are collected, about 20
    /// bytes each; taken only if anything is unwanted. Beyond it, a collection that repeats itself
    /// may count as complete too early.
    #[must_use]
    pub const fn with_max_unwanted(mut self, instruments: usize) -> Self {
        self.max_unwanted = instruments;
        self
    }

    /// Whether every instrument is wanted.
    #[must_use]
    pub fn accepts_all(&self) -> bool {
        self.security_ids.is_empty()
            && self.symbols.is_empty()
            && self.groups.is_empty()
            && self.assets.is_empty()
    }

    /// Whether an instrument is wanted by its SecurityID alone.
    #[must_use]
    pub fn accepts_id(&self, security_id: i32) -> bool {
        self.security_ids.binary_search(&security_id).is_ok()
    }

    /// Whether the instrument with this definition is wanted.
    #[must_use]
    pub fn accepts(&self, definition: &Definition) -> bool {
        self.accepts_all()
            || self.accepts_id(definition.security_id)
            || self.symbols.contains(&definition.symbol)
            || self.groups.contains(&definition.security_group)
            || self.assets.contains(&definition.asset)
    }
}

/// The unwanted instruments that a collection of definitions has named.
#[derive(Debug)]
pub(crate) struct UnwantedInstruments {
    ids: IdTable,
    /// The last collection that named each.
    collections: Vec<u32>,
    count: usize,
}

impl UnwantedInstruments {
    pub(crate) fn new(filter: &Filter) -> Self {
        let room = if filter.accepts_all() { 0 } else { filter.max_unwanted };
        Self { ids: IdTable::new(room), collections: vec![0; room], count: 0 }
    }

    /// The last collection that named an instrument; `None` if there is no room to note it.
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
    /// Whether an instrument that is not known is unwanted, as far as its SecurityID tells: then
    /// nothing is told or kept of it.
    #[inline]
    pub(crate) fn is_unwanted(
        &self,
        instrument: Option<InstrumentIndex>,
        security_id: i32,
    ) -> bool {
        instrument.is_none() && self.filtering && !self.filter.accepts_id(security_id)
    }

    /// Whether a definition is of an instrument that is neither wanted nor known.
    pub(crate) fn is_unwanted_definition(&self, definition: &Definition) -> bool {
        self.filtering
            && !self.filter.accepts(definition)
            && self.instruments.find(definition.security_id).is_none()
    }

    /// Whether a status is of any instrument that is wanted.
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
    fn one_that_names_nothing_wants_all() {
        assert!(Filter::default().accepts_all());
        assert!(Filter::default().accepts(&definition(7, "ES", "ES")));
        assert!(
            UnwantedInstruments::new(&Filter::default()).collections.is_empty(),
            "takes no memory"
        );
    }

    #[test]
    fn what_any_name_fits_is_wanted() {
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
    fn the_unwanted_are_known_apart_while_there_is_room() {
        let filter = Filter::default().with_security_id(9).with_max_unwanted(2);
        let mut unwanted = UnwantedInstruments::new(&filter);
        *unwanted.last_collection(1).unwrap() = 5;
        assert_eq!(unwanted.last_collection(2), Some(&mut 0));
        assert_eq!(unwanted.last_collection(1), Some(&mut 5));
        assert_eq!(unwanted.last_collection(3), None);
    }
}
