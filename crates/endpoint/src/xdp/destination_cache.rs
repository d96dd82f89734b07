//! A cache of the routes to the destinations of a kernel-bypass socket.

use std::fmt;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};

use hairpin_stack::Destination;

/// The number of cached destinations: as many as a small server has clients. A new destination
/// beyond this replaces the oldest, whose route must be resolved again with some system calls.
const CAPACITY: usize = 64;

/// The cached destinations of one socket, with prepared headers.
pub(crate) struct DestinationCache {
    entries: Vec<Destination>,
    /// The index of the destination used last.
    last: usize,
    /// The index of the oldest destination, once the cache is full.
    oldest: usize,
}

impl DestinationCache {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::with_capacity(CAPACITY), last: 0, oldest: 0 }
    }

    /// Returns the destination of an address. Calls `find` to resolve an address that is not
    /// cached.
    #[inline]
    pub(crate) fn find(
        &mut self,
        to: SocketAddrV4,
        find: impl FnOnce(SocketAddr) -> io::Result<Destination>,
    ) -> io::Result<&mut Destination> {
        let to = SocketAddr::V4(to);
        let is_last = self.entries.get(self.last).is_some_and(|last| last.address() == to);
        if !is_last {
            self.last = match self.entries.iter().position(|entry| entry.address() == to) {
                Some(at) => at,
                None => self.insert(find(to)?),
            };
        }
        Ok(&mut self.entries[self.last])
    }

    #[cold]
    fn insert(&mut self, destination: Destination) -> usize {
        if self.entries.len() < CAPACITY {
            self.entries.push(destination);
            return self.entries.len() - 1;
        }
        let at = self.oldest;
        self.entries[at] = destination;
        self.oldest = (at + 1) % CAPACITY;
        at
    }
}

impl fmt::Debug for DestinationCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DestinationCache")
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}
