//! A mapping from template ids on the wire, in case the exchange renumbers templates.

/// A mapping from template ids on the wire to templates of schema version 13. By default every id
/// maps to itself.
///
/// When CME changes a message incompatibly, the message gets a new id. If the fields that Hairpin
/// reads did not move, an entry here is sufficient.
///
/// ```
/// use hairpin_mdp3::{Settings, TemplateIds};
///
/// // Template 47 now has id 147.
/// let templates = TemplateIds::AS_PUBLISHED.with(147, 47);
/// assert_eq!([46, 47, 147].map(|id| templates.template(id)), [46, 47, 47]);
/// let settings = Settings { templates, ..Settings::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateIds {
    /// Ids on the wire and their templates; the first `count` entries are in use.
    entries: [(u16, u16); Self::MAX],
    count: usize,
}

impl Default for TemplateIds {
    fn default() -> Self {
        Self::AS_PUBLISHED
    }
}

impl TemplateIds {
    /// The maximum number of entries, more than the schema has templates.
    pub const MAX: usize = 40;

    /// The mapping of every id to itself.
    pub const AS_PUBLISHED: Self = Self { entries: [(0, 0); Self::MAX], count: 0 };

    /// Adds or replaces the template of an id on the wire.
    ///
    /// # Panics
    ///
    /// Panics if there are more than [`Self::MAX`] entries.
    #[must_use]
    pub const fn with(mut self, wire: u16, template: u16) -> Self {
        let mut slot = 0;
        while slot < self.count && self.entries[slot].0 != wire {
            slot += 1;
        }
        assert!(slot < Self::MAX, "more template ids than can be entered");
        self.entries[slot] = (wire, template);
        if slot == self.count {
            self.count += 1;
        }
        self
    }

    /// Returns the template of an id on the wire.
    #[must_use]
    pub fn template(&self, wire: u16) -> u16 {
        let entered = self.entries[..self.count].iter().find(|(id, _)| *id == wire);
        entered.map_or(wire, |(_, template)| *template)
    }

    /// Returns the id on the wire of a template, or `None` if no id maps to it.
    #[must_use]
    pub fn wire(&self, template: u16) -> Option<u16> {
        let entered = self.entries[..self.count].iter().find(|(_, other)| *other == template);
        let itself = (self.template(template) == template).then_some(template);
        entered.map(|(id, _)| *id).or(itself)
    }

    /// Returns `true` if every id maps to itself.
    pub(crate) const fn is_as_published(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_entry_of_id_wins() {
        let templates = TemplateIds::AS_PUBLISHED.with(147, 46).with(147, 47).with(47, 46);
        assert_eq!([46, 47, 147, 148].map(|id| templates.template(id)), [46, 46, 47, 148]);
        assert_eq!(
            [46, 47, 48].map(|template| templates.wire(template)),
            [Some(47), Some(147), Some(48)]
        );
        assert_eq!(TemplateIds::AS_PUBLISHED.with(46, 47).wire(46), None);
        assert!(TemplateIds::default().is_as_published() && !templates.is_as_published());
    }

    #[test]
    #[should_panic(expected = "more template ids")]
    fn rejects_entries_beyond_capacity() {
        let full = (0..TemplateIds::MAX as u16)
            .fold(TemplateIds::AS_PUBLISHED, |templates, id| templates.with(id, 46));
        assert_eq!(full.with(0, 47).template(0), 47, "the id exists");
        let _ = full.with(1_000, 46);
    }
}
