//! The instruments that definitions have named.

use std::collections::BTreeMap;

use hairpin_feed_handler::{Definition, DefinitionAction, StatusScope, Text};

/// The names of an instrument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub(super) symbol: Text<20>,
    group: Text<6>,
    asset: Text<6>,
    deleted: bool,
}

/// The names of instruments by SecurityID, also of deleted ones.
#[derive(Debug, Default)]
pub(super) struct Symbols(BTreeMap<u32, Names>);

impl Symbols {
    /// Records a definition.
    pub(super) fn record(&mut self, definition: &Definition) {
        let names = Names {
            symbol: definition.symbol,
            group: definition.security_group,
            asset: definition.asset,
            deleted: definition.action == DefinitionAction::Delete,
        };
        self.0.insert(definition.security_id as u32, names);
    }

    /// Returns the symbol of an instrument, if it has one that DBN can hold: ASCII.
    pub(super) fn symbol(&self, instrument: u32) -> Option<&str> {
        let symbol = self.0.get(&instrument).map(|names| names.symbol.as_str());
        symbol.filter(|symbol| !symbol.is_empty() && symbol.is_ascii())
    }

    /// Returns the instruments that a status concerns.
    pub(super) fn in_scope(&self, scope: &StatusScope) -> Vec<u32> {
        let StatusScope::Group { security_group, asset } = scope else {
            let StatusScope::Instrument { security_id, .. } = scope else { return Vec::new() };
            return vec![*security_id as u32];
        };
        let is_any = |text: &Text<6>| text.as_bytes().is_empty();
        if is_any(security_group) && is_any(asset) {
            return Vec::new();
        }
        let includes = |names: &Names| {
            !names.deleted
                && (is_any(security_group) || names.group == *security_group)
                && (is_any(asset) || names.asset == *asset)
        };
        self.0.iter().filter(|(_, names)| includes(names)).map(|(id, _)| *id).collect()
    }
}
