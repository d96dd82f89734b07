//! The io_uring wait: requests in an io_uring(7).

use std::io;

use hairpin_endpoint::{Ring, Source};
use hairpin_host::Clock;
use hairpin_time::Instant;

use crate::ready::GROUP;
use crate::sources::{CAPACITY, dropped_without_removal};
use crate::{Interest, Ready, Token};

const _: () = assert!(CAPACITY == Ring::CAPACITY, "a token must be a slot of the ring");

/// A ring, and the clock for the rare wakeup without a ready source.
#[derive(Debug)]
pub(crate) struct Uring {
    ring: Ring,
    clock: Clock,
}

impl Uring {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { ring: Ring::new()?, clock: Clock::from_kernel() })
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

    /// Waits until a source is ready, the deadline has passed or a signal was caught. A completion
    /// that makes no source ready, such as one of a source without interest, does not end the wait.
    #[inline]
    pub(crate) fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<Ready> {
        let mut now = now;
        loop {
            let timeout = deadline.map(|deadline| deadline - now);
            let ready_set = self.ring.wait(timeout).map_err(describe_error)?;
            let ready = Ready::from_sets(
                (ready_set.first / GROUP) as u16,
                ready_set.readable,
                ready_set.writable,
            );
            if !ready.is_empty() || ready_set.completions == 0 {
                return Ok(ready);
            }
            now = self.clock.instant();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(Ready::EMPTY);
            }
        }
    }
}

#[cold]
fn describe_error(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => dropped_without_removal(),
        _ => error,
    }
}
