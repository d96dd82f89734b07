//! Reference-counted filter entries.

use std::collections::HashMap;

use hairpin_xdp::{Entry, EntryError, Interface};

/// The number of users of each entry. An entry is in the filter while it has users.
#[derive(Debug, Default)]
pub(crate) struct FilterEntries(HashMap<Entry, u32>);

impl FilterEntries {
    /// Adds a user of an entry.
    pub(crate) fn add(&mut self, interface: &Interface, entry: Entry) -> Result<(), EntryError> {
        let count = self.0.entry(entry).or_insert(0);
        if *count == 0
            && let Err(error) = interface.redirect(&entry)
        {
            self.0.remove(&entry);
            return Err(error);
        }
        *count += 1;
        Ok(())
    }

    /// Removes a user of an entry.
    pub(crate) fn remove(&mut self, interface: &Interface, entry: &Entry) {
        let Some(count) = self.0.get_mut(entry) else { return };
        *count -= 1;
        if *count == 0 {
            self.0.remove(entry);
            // The entry exists; there is no caller to report a failure to.
            let _ = interface.remove(entry);
        }
    }
}
