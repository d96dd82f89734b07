//! The ways to where a socket past the kernel sends to, found before.

use std::fmt;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};

use hairpin_stack::Destination;

/// Destinations that are remembered: as many as a small server has askers. A new one beyond that
/// takes the place of the oldest, whose way has to be found again: some system calls.
const REMEMBERED: usize = 64;

/// Destinations with prepared headers, of one socket.
pub(crate) struct Destinations {
    known: Vec<Destination>,
    /// The one that was used last.
    last: usize,
    /// The oldest, once there is no more room.
    oldest: usize,
}

impl Destinations {
    pub(crate) fn new() -> Self {
        Self { known: Vec::with_capacity(REMEMBERED), last: 0, oldest: 0 }
    }

    /// The way to an address, which `find` is asked for if it is not known.
    #[inline]
    pub(crate) fn find(
        &mut self,
        to: SocketAddrV4,
        find: impl FnOnce(SocketAddr) -> io::Result<Destination>,
    ) -> io::Result<&mut Destination> {
        let to = SocketAddr::V4(to);
        let is_last = self.known.get(self.last).is_some_and(|last| last.address() == to);
        if !is_last {
            self.last = match self.known.iter().position(|known| known.address() == to) {
                Some(at) => at,
                None => self.remember(find(to)?),
            };
        }
        Ok(&mut self.known[self.last])
    }

    #[cold]
    fn remember(&mut self, destination: Destination) -> usize {
        if self.known.len() < REMEMBERED {
            self.known.push(destination);
            return self.known.len() - 1;
        }
        let at = self.oldest;
        self.known[at] = destination;
        self.oldest = (at + 1) % REMEMBERED;
        at
    }
}

impl fmt::Debug for Destinations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destinations").field("known", &self.known.len()).finish_non_exhaustive()
    }
}
