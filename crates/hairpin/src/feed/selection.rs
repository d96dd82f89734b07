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
        is_known: bool,
        security_ids: &[i32],
    ) -> Option<String> {
        let is_wanted = |id: &i32| self.filter.names(*id) || self.wanted.contains(id);
        if self.filter.wants_all() || security_ids.is_empty() || security_ids.iter().any(is_wanted)
        {
            return Some(text);
        }
        self.kept = Some((text, is_known));
        None
    }

    /// A definition is told, so that its instrument is wanted; the line that was kept, if it is to
    /// be printed after all, and whether its template is known.
    pub(super) fn meet(&mut self, definition: &Definition) -> Option<(String, bool)> {
        self.symbols.insert(definition.security_id, definition.symbol);
        if self.filter.wants_all() {
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
