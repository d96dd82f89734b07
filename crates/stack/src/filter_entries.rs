//! Reference-counted filter entries.

use std::collections::HashMap;
use std::os::fd::RawFd;

use hairpin_xdp::{Entry, EntryError};

use crate::data_plane::DataPlane;

/// The number of users of each entry in the filter. It is 0 for an entry that no keeper was left to
/// remove.
#[derive(Debug, Default)]
pub(crate) struct FilterEntries(HashMap<Entry, u32>);

impl FilterEntries {
    /// Adds a user of an entry, whose socket this is.
    pub(crate) fn add(
        &mut self,
        data_plane: &DataPlane,
        entry: Entry,
        socket: RawFd,
    ) -> Result<(), EntryError> {
        if let Some(count) = self.0.get_mut(&entry) {
            *count += 1;
            return Ok(());
        }
        data_plane.redirect(&entry, socket)?;
        self.0.insert(entry, 1);
        Ok(())
    }

    /// Removes a user of an entry.
    pub(crate) fn remove(&mut self, data_plane: &DataPlane, entry: &Entry) {
        let Some(count) = self.0.get_mut(entry) else { return };
        *count = count.saturating_sub(1);
        if *count == 0 && data_plane.end_redirect(entry).is_ok() {
            self.0.remove(entry);
        }
    }
}
