//! The selection of printed messages, and the symbols of their instruments.

use std::collections::{HashMap, HashSet};

use hairpin_feed_handler::{Definition, Filter, Text};

/// The selected instruments, as far as definitions have named them.
///
/// A message that names instruments is printed if it names a selected one; a message that names
/// none is always printed. The instrument of a definition is known only after the message was
/// formatted, so its line is kept until then.
#[derive(Debug)]
pub(super) struct MessageFilter {
    filter: Filter,
    wanted: HashSet<i32>,
    symbols: HashMap<i32, Text<20>>,
    /// The last formatted message, and whether its template is known.
    kept: Option<(String, bool)>,
}

impl MessageFilter {
    pub(super) fn new(filter: Filter) -> Self {
        let (wanted, symbols) = (HashSet::new(), HashMap::new());
        Self { filter, wanted, symbols, kept: None }
    }

    /// Returns the line of a message with these instruments if it must be printed now.
    pub(super) fn choose(
        &mut self,
        text: String,
        (template_id, is_known): (u16, bool),
        security_ids: &[i32],
    ) -> Option<String> {
        let is_wanted = |id: &i32| self.filter.accepts_id(*id) || self.wanted.contains(id);
        // Without entries it only ends an event of others.
        let is_empty = security_ids.is_empty() && matches!(template_id, 37 | 46..=51 | 64..=67);
        let names_none = security_ids.is_empty() && !is_empty;
        if self.filter.accepts_all() || names_none || security_ids.iter().any(is_wanted) {
            return Some(text);
        }
        self.kept = Some((text, is_known));
        None
    }

    /// Handles a definition: selects its instrument if it matches. Returns the kept line, and
    /// whether its template is known, if it must be printed after all.
    pub(super) fn on_definition(&mut self, definition: &Definition) -> Option<(String, bool)> {
        self.symbols.insert(definition.security_id, definition.symbol);
        if self.filter.accepts_all() {
            return None;
        }
        self.wanted.insert(definition.security_id);
        self.kept.take()
    }

    /// Called after the last callback of a message.
    pub(super) fn end(&mut self) {
        self.kept = None;
    }

    /// Returns the symbol of an instrument; empty if no definition was received.
    pub(super) fn symbol(&self, security_id: i32) -> Text<20> {
        self.symbols.get(&security_id).copied().unwrap_or(Text::EMPTY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOK: (u16, bool) = (46, true);

    fn choose(selection: &mut MessageFilter, of: (u16, bool), ids: &[i32]) -> bool {
        selection.choose("line".to_owned(), of, ids).is_some()
    }

    #[test]
    fn without_a_filter_everything_is_printed() {
        let mut all = MessageFilter::new(Filter::default());
        assert!(choose(&mut all, BOOK, &[]) && choose(&mut all, BOOK, &[7]));
    }

    #[test]
    fn prints_messages_of_selected_or_no_instruments() {
        let mut selection = MessageFilter::new(Filter::default().with_security_id(7));
        assert!(choose(&mut selection, BOOK, &[8, 7]));
        assert!(!choose(&mut selection, BOOK, &[8]));
        assert!(choose(&mut selection, (12, true), &[]));
        assert!(!choose(&mut selection, BOOK, &[]), "it only ends an event");
        // Of no received definition.
        selection.end();
        assert_eq!(selection.kept, None);
    }
}
