//! The blocking wait: blocks in the first source's own receive.

use std::io;

use hairpin_endpoint::{Blocker, Source};
use hairpin_host::kernel_tick;
use hairpin_time::{Duration, Instant};

use crate::sources::{Sources, dropped_without_removal};
use crate::{Interest, Ready, Token, poll};

/// The length of one blocking receive under [`crate::Wait::Block`] in kernel ticks: one, the
/// minimum.
///
/// The timeout is a socket option that is set once: setting it for each deadline would be a second
/// system call per wakeup. So a deadline is noticed up to this much late, plus up to one tick by
/// which the kernel rounds the timeout up. Data of the other sources may also wait this long. See
/// [`hairpin_host::kernel_tick`].
pub const BLOCK_TICKS: u64 = 1;

/// The blocking handles of all sources, and the source to block in.
#[derive(Debug)]
pub(crate) struct Blocking {
    timeout: Duration,
    /// The handles by token.
    blockers: Vec<Option<Blocker>>,
    /// The sources in the order in which they were added.
    order: Vec<Token>,
    /// The first source that supports blocking and has interest in reading.
    first: Option<Token>,
}

impl Blocking {
    pub(crate) fn new() -> Self {
        Self {
            timeout: kernel_tick() * BLOCK_TICKS,
            blockers: Vec::new(),
            order: Vec::new(),
            first: None,
        }
    }

    pub(crate) fn add(&mut self, token: Token, source: &mut impl Source) -> io::Result<()> {
        if self.blockers.len() <= token.index() {
            self.blockers.resize(token.index() + 1, None);
        }
        self.blockers[token.index()] = source.set_blocking(Some(self.timeout))?;
        self.order.push(token);
        Ok(())
    }

    pub(crate) fn remove(&mut self, token: Token, source: &mut impl Source) -> io::Result<()> {
        self.blockers[token.index()] = None;
        self.order.retain(|&other| other != token);
        source.set_blocking(None).map(drop)
    }

    /// Selects the source to block in, after a source or an interest has changed.
    pub(crate) fn select_first(&mut self, sources: &Sources) {
        self.first = self.order.iter().copied().find(|&token| {
            self.blockers[token.index()].is_some()
                && sources.interest(token).contains(Interest::READABLE)
        });
    }

    /// Blocks in the first source, unless the deadline has passed, and then reports all sources as
    /// ready, one group at a time. Waits with ppoll(2) if there is no source to block in.
    pub(crate) fn wait(
        &mut self,
        sources: &mut Sources,
        now: Instant,
        deadline: Option<Instant>,
    ) -> io::Result<Ready> {
        if let Some(ready) = sources.parts().1.take_pending() {
            return Ok(ready);
        }
        let Some(first) = self.first else { return poll::wait(sources, now, deadline) };
        if deadline.is_none_or(|deadline| deadline > now) {
            let blocker = self.blockers[first.index()].as_ref();
            if !blocker.is_some_and(Blocker::block) {
                return Err(dropped_without_removal());
            }
        }
        Ok(sources.parts().1.gather_all())
    }
}
