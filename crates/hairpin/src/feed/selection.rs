//! Which messages are printed, and what their instruments are called.

use std::collections::{HashMap, HashSet};

use hairpin_feed_handler::{Definition, Filter, Text};

/// The instruments that somebody has asked for, as far as definitions have named them.
///
/// A message that names instruments is printed if it names one of these; one that names none
/// concerns all. Which instrument a definition is of is known only after it was shown, so that it
/// is kept until then.
#[derive(Debug)]
pub(super) struct Selection {
    filter: Filter,
    wanted: HashSet<i32>,
    symbols: HashMap<i32, Text<20>>,
    /// The message that was shown last, and whether its template is known.
    kept: Option<(String, bool)>,
}

impl Selection {
    pub(super) fn new(filter: Filter) -> Self {
        let (wanted, symbols) = (HashSet::new(), HashMap::new());
        Self { filter, wanted, symbols, kept: None }
    }

    /// The line of a message with these instruments, if it is to be printed now.
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

    /// A definition is told, so that its instrument is wanted; the line that was kept, if it is to
    /// be printed after all, and whether its template is known.
    pub(super) fn meet(&mut self, definition: &Definition) -> Option<(String, bool)> {
        self.symbols.insert(definition.security_id, definition.symbol);
        if self.filter.accepts_all() {
            return None;
        }
        self.wanted.insert(definition.security_id);
        self.kept.take()
    }

    /// All that a message means has been told.
    pub(super) fn end(&mut self) {
        self.kept = None;
    }

    /// The symbol of an instrument; empty where no definition has told it.
    pub(super) fn symbol(&self, security_id: i32) -> Text<20> {
        self.symbols.get(&security_id).copied().unwrap_or(Text::EMPTY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOK: (u16, bool) = (46, true);

    fn choose(selection: &mut Selection, of: (u16, bool), ids: &[i32]) -> bool {
        selection.choose("line".to_owned(), of, ids).is_some()
    }

    #[test]
    fn without_a_filter_everything_is_printed() {
        let mut all = Selection::new(Filter::default());
        assert!(choose(&mut all, BOOK, &[]) && choose(&mut all, BOOK, &[7]));
    }

    #[test]
    fn what_names_an_instrument_that_is_wanted_is_printed_and_what_names_none() {
        let mut selection = Selection::new(Filter::default().with_security_id(7));
        assert!(choose(&mut selection, BOOK, &[8, 7]));
        assert!(!choose(&mut selection, BOOK, &[8]));
        assert!(choose(&mut selection, (12, true), &[]));
        assert!(!choose(&mut selection, BOOK, &[]), "it only ends an event");
        // Of no definition that was told.
        selection.end();
        assert_eq!(selection.kept, None);
    }
}
