//! The check that every name of the filter belongs to an instrument.

use std::collections::{BTreeMap, BTreeSet};

use hairpin_cme_codecs::mdp3;
use hairpin_feed_handler::{Channel, Message, Text};
use hairpin_sbe::{Value, Visitor};

/// The most names that an error suggests.
const MAX_SIMILAR: usize = 3;
/// The greatest edit distance of a name that is suggested.
const MAX_DISTANCE: usize = 2;

/// The names of a filter, as given.
#[derive(Debug, Default, Clone)]
pub(super) struct Names {
    /// Symbols or SecurityIDs.
    pub(super) securities: Vec<Text<20>>,
    pub(super) groups: Vec<Text<6>>,
    pub(super) assets: Vec<Text<6>>,
}

/// The names of a filter, and those that definitions contain.
#[derive(Debug, Default)]
pub(super) struct SelectionCheck {
    wanted: Names,
    symbols: BTreeMap<i32, String>,
    groups: BTreeSet<String>,
    assets: BTreeSet<String>,
    /// The missing names were reported.
    is_reported: bool,
}

impl SelectionCheck {
    pub(super) fn new(wanted: Names) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Returns `true` if the filter names anything that was not yet reported as missing.
    pub(super) fn is_due(&self) -> bool {
        let Names { securities, groups, assets } = &self.wanted;
        let has_names = !securities.is_empty() || !groups.is_empty() || !assets.is_empty();
        has_names && !self.is_reported
    }

    /// Records a message, which may be a definition.
    pub(super) fn record(&mut self, message: &Message<'_>) {
        if !self.is_due() || !matches!(message.header.template_id, 54..=58 | 63) {
            return;
        }
        let mut definition = Definition::default();
        // A message that cannot be decoded is reported elsewhere.
        if mdp3::visit(&message.header, message.body, &mut definition).is_ok() {
            let Definition { security_id, symbol, group, asset, .. } = definition;
            self.symbols.insert(security_id, symbol);
            self.groups.insert(group);
            self.assets.insert(asset);
        }
    }

    /// Returns an error for each name that no instrument has; once.
    pub(super) fn missing(&mut self, channel: &Channel) -> Vec<String> {
        if !self.is_due() {
            return Vec::new();
        }
        self.is_reported = true;
        let cause = match self.symbols.len() {
            0 => "no definition was received".to_owned(),
            1 => "the only definition has another name".to_owned(),
            count => format!("none of {count} definitions has that name"),
        };
        let symbols: BTreeSet<&str> = self.symbols.values().map(String::as_str).collect();
        let is_known = |word: &str| {
            let id: Option<i32> = word.parse().ok();
            symbols.contains(word)
                || id.is_some_and(|id| self.symbols.contains_key(&id) || channel.find(id).is_some())
        };
        let mut errors = Vec::new();
        for word in self.wanted.securities.iter().map(Text::as_str).filter(|it| !is_known(it)) {
            let similar = similar(word, symbols.iter().copied());
            errors.push(format!("cannot find security {word}: {cause}{similar}"));
        }
        for (kind, wanted, known) in [
            ("security group", &self.wanted.groups, &self.groups),
            ("asset", &self.wanted.assets, &self.assets),
        ] {
            for word in wanted.iter().map(Text::as_str).filter(|word| !known.contains(*word)) {
                let similar = similar(word, known.iter().map(String::as_str));
                errors.push(format!("cannot find {kind} {word}: {cause}{similar}"));
            }
        }
        errors
    }
}

/// Returns the names closest to a word, as the end of an error.
fn similar<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let distance = |name: &str| {
        let (name, word) = (name.to_ascii_uppercase(), word.to_ascii_uppercase());
        match name.starts_with(&word) {
            true => 0,
            false => strsim::damerau_levenshtein(&name, &word),
        }
    };
    let mut close: Vec<_> = names.map(|name| (distance(name), name)).collect();
    close.retain(|(distance, _)| *distance <= MAX_DISTANCE);
    close.sort_unstable();
    let close: Vec<_> = close.into_iter().take(MAX_SIMILAR).map(|(_, name)| name).collect();
    if close.is_empty() { String::new() } else { format!("; similar: {}", close.join(", ")) }
}

/// The names in a definition.
#[derive(Debug, Default)]
struct Definition {
    security_id: i32,
    symbol: String,
    group: String,
    asset: String,
    /// The fields are those of a leg or an underlying.
    is_in_group: bool,
}

impl Visitor for Definition {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let text = |value: Value<'_>| match value {
            Value::Text(text) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
            _ => String::new(),
        };
        match name {
            _ if self.is_in_group => {}
            "SecurityID" => {
                if let Value::Signed(id) = value {
                    self.security_id = i32::try_from(id).unwrap_or_default();
                }
            }
            "Symbol" => self.symbol = text(value),
            "SecurityGroup" => self.group = text(value),
            "Asset" => self.asset = text(value),
            _ => {}
        }
    }

    fn group(&mut self, _: &str, _: usize) {
        self.is_in_group = true;
    }

    fn end_group(&mut self) {
        self.is_in_group = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_names_that_are_close() {
        let similar = |word| similar(word, ["ESZ6", "ESH7", "ES", "NQZ6", "CLF7"].into_iter());
        assert_eq!(similar("ESX6"), "; similar: ESZ6, ES, ESH7");
        assert_eq!(similar("nq"), "; similar: NQZ6, ES");
        assert_eq!(similar("NOSUCH"), "");
    }
}
