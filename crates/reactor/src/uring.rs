//! Waiting by requests in an io_uring(7).

use std::io;

use hairpin_endpoint::{Ring, Source};
use hairpin_host::Clock;
use hairpin_time::Instant;

use crate::ready::GROUP;
use crate::sources::{CAPACITY, dropped_without_removal};
use crate::{Interest, Ready, Token};

const _: () = assert!(CAPACITY == Ring::CAPACITY, "a token is a slot of the ring");

/// A ring, and the clock for the rare wake that finds nothing ready.
#[derive(Debug)]
pub(crate) struct Uring {
    ring: Ring,
    clock: Clock,
}

impl Uring {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { ring: Ring::new()?, clock: Clock::of_kernel() })
    }

    pub(crate) fn add(&mut self, token: Token, source: &mut impl Source) -> io::Result<()> {
        self.ring.add(token.index(), source)
    }

    pub(crate) fn remove(&mut self, token: Token, source: &mut impl Source) -> io::Result<()> {
        self.ring.remove(token.index(), source)
    }

    pub(crate) fn set_interest(&mut self, token: Token, interest: Interest) {
        let (readable, writable) =
            (interest.contains(Interest::READABLE), interest.contains(Interest::WRITABLE));
        self.ring.set_interest(token.index(), readable, writable);
    }

    pub(crate) fn exhausted(&self) -> u64 {
        self.ring.exhausted()
    }

    /// Waits until a source is ready, the deadline has passed or a signal has come. An answer that
    /// makes none ready, such as one to a source that is not waited for any more, ends no wait.
    #[inline]
    pub(crate) fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<Ready> {
        let mut now = now;
        loop {
            let timeout = deadline.map(|deadline| deadline - now);
            let turn = self.ring.wait(timeout).map_err(named)?;
            let ready = Ready::of_sets((turn.first / GROUP) as u16, turn.readable, turn.writable);
            if !ready.is_nothing() || turn.answers == 0 {
                return Ok(ready);
            }
            now = self.clock.instant();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(Ready::NOTHING);
            }
        }
    }
}

#[cold]
fn named(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => dropped_without_removal(),
        _ => error,
    }
}
