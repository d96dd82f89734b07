//! The maps that the program looks into, which change while it runs.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::bpf;
use super::entry::{EntryError, FLOW_KEY, Key, LOCAL_KEY};

/// Bytes of a value: the base of a slot, or that the kernel keeps the frame.
const VALUE: usize = 4;

/// How many entries there may be of each kind. Memory for all is taken at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Capacity {
    pub(super) flows: u32,
    pub(super) locals: u32,
    pub(super) groups: u32,
    pub(super) sockets: u32,
}

#[derive(Debug)]
pub(super) struct Maps {
    pub(super) flows: OwnedFd,
    pub(super) locals: OwnedFd,
    pub(super) groups: OwnedFd,
    pub(super) sockets: OwnedFd,
}

impl Maps {
    pub(super) fn create(capacity: Capacity) -> io::Result<Self> {
        let entries = |key: usize, entries, name: &str| {
            bpf::create_map(bpf::HASH, key as u32, VALUE as u32, entries, name)
        };
        Ok(Self {
            flows: entries(FLOW_KEY, capacity.flows, "hairpin_flows")?,
            locals: entries(LOCAL_KEY, capacity.locals, "hairpin_locals")?,
            groups: entries(LOCAL_KEY, capacity.groups, "hairpin_groups")?,
            sockets: bpf::create_map(bpf::SOCKETS, 4, 4, capacity.sockets, "hairpin_sockets")?,
        })
    }

    pub(super) fn enter(&self, key: &Key, value: u32) -> Result<(), EntryError> {
        let (map, key) = self.place(key);
        // SAFETY: `place` gives a key as long as its map's, and values are of four bytes.
        unsafe { bpf::update(map, key, &value.to_ne_bytes()) }.map_err(|reason| {
            match reason.raw_os_error() {
                Some(libc::E2BIG) => EntryError::Full,
                _ => EntryError::Kernel(reason),
            }
        })
    }

    /// False if there was no such entry.
    pub(super) fn remove(&self, key: &Key) -> Result<bool, EntryError> {
        let (map, key) = self.place(key);
        // SAFETY: as above.
        found(unsafe { bpf::delete(map, key) })
    }

    pub(super) fn value(&self, key: &Key) -> Result<Option<u32>, EntryError> {
        let (map, key) = self.place(key);
        let mut value = [0; VALUE];
        // SAFETY: as above.
        let is_there = found(unsafe { bpf::lookup(map, key, &mut value) })?;
        Ok(is_there.then(|| u32::from_ne_bytes(value)))
    }

    fn place<'a>(&'a self, key: &'a Key) -> (BorrowedFd<'a>, &'a [u8]) {
        match key {
            Key::Flow(key) => (self.flows.as_fd(), key),
            Key::Local(key) => (self.locals.as_fd(), key),
            Key::Group(key) => (self.groups.as_fd(), key),
        }
    }

    pub(super) fn set_socket(&self, index: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let value = socket.as_raw_fd().to_ne_bytes();
        // SAFETY: keys and values of this map are of four bytes.
        unsafe { bpf::update(self.sockets.as_fd(), &index.to_ne_bytes(), &value) }
    }

    /// False if there was none.
    pub(super) fn clear_socket(&self, index: u32) -> Result<bool, EntryError> {
        // SAFETY: as above.
        found(unsafe { bpf::delete(self.sockets.as_fd(), &index.to_ne_bytes()) })
    }
}

fn found(result: io::Result<()>) -> Result<bool, EntryError> {
    match result {
        Ok(()) => Ok(true),
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(EntryError::Kernel(reason)),
    }
}
