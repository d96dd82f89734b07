//! Reference-counted filter entries.

use std::collections::HashMap;
use std::os::fd::RawFd;

use hairpin_xdp::{Entry, EntryError};

use crate::data_plane::DataPlane;

/// The users of each entry in the filter, by the descriptors of their sockets. An entry that no
/// keeper was left to remove has none.
#[derive(Debug, Default)]
pub(crate) struct FilterEntries(HashMap<Entry, Vec<RawFd>>);

impl FilterEntries {
    /// Adds a user of an entry, whose socket this is.
    pub(crate) fn add(
        &mut self,
        data_plane: &DataPlane,
        entry: Entry,
        socket: RawFd,
    ) -> Result<(), EntryError> {
        // Also for an entry that is there: a keeper holds the sockets of all users.
        data_plane.redirect(&entry, socket)?;
        self.0.entry(entry).or_default().push(socket);
        Ok(())
    }

    /// Removes a user of an entry.
    pub(crate) fn remove(&mut self, data_plane: &DataPlane, entry: &Entry, socket: RawFd) {
        let Some(users) = self.0.get_mut(entry) else { return };
        let Some(at) = users.iter().position(|user| *user == socket) else { return };
        users.swap_remove(at);
        let is_last = users.is_empty();
        if data_plane.end_redirect(entry, socket, is_last).is_ok() && is_last {
            self.0.remove(entry);
        }
    }
}
