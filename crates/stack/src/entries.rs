//! What the filter has been told to send here, for however many sockets.

use std::collections::HashMap;

use hairpin_xdp::{Entry, EntryError, Interface};

/// How many sockets want each entry; it is in the filter while one does.
#[derive(Debug, Default)]
pub(crate) struct Entries(HashMap<Entry, u32>);

impl Entries {
    /// One more wants an entry.
    pub(crate) fn add(&mut self, interface: &Interface, entry: Entry) -> Result<(), EntryError> {
        let count = self.0.entry(entry).or_insert(0);
        if *count == 0
            && let Err(error) = interface.enter(&entry)
        {
            self.0.remove(&entry);
            return Err(error);
        }
        *count += 1;
        Ok(())
    }

    /// One fewer wants an entry.
    pub(crate) fn remove(&mut self, interface: &Interface, entry: &Entry) {
        let Some(count) = self.0.get_mut(entry) else { return };
        *count -= 1;
        if *count == 0 {
            self.0.remove(entry);
            // It was there, and if it cannot be taken away there is nobody to tell.
            let _ = interface.remove(entry);
        }
    }
}
