//! Blocking in the first source's own receive.

use std::io;

use hairpin_endpoint::{Blocker, Source};
use hairpin_host::kernel_tick;
use hairpin_time::{Duration, Instant};

use crate::sources::{Sources, dropped_without_removal};
use crate::{Interest, Ready, Token, poll};

/// Kernel ticks that [`crate::Wait::Block`] blocks for at a time: one, the shortest there is.
///
/// The timeout belongs to the socket and is set once, since to set it anew for each deadline
/// would be a second system call per wake. So a deadline is noticed up to this much late, plus up
/// to one tick by which the kernel rounds such a timeout up; and for as long, at the most, data
/// of a source other than the first may lie there. See [`hairpin_host::kernel_tick`].
pub const BLOCK_TICKS: u64 = 1;

/// The means to block in each source, and which of them is blocked in.
#[derive(Debug)]
pub(crate) struct Block {
    timeout: Duration,
    /// By token.
    blockers: Vec<Option<Blocker>>,
    /// Sources in the order in which they were added.
    order: Vec<Token>,
    /// The first of those that can be blocked in and are waited for to be readable.
    first: Option<Token>,
}

impl Block {
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

    /// Chooses anew whom to block in, after a source or an interest has changed.
    pub(crate) fn choose(&mut self, sources: &Sources) {
        self.first = self.order.iter().copied().find(|&token| {
            self.blockers[token.index()].is_some()
                && sources.interest(token).contains(Interest::READABLE)
        });
    }

    /// Blocks in the first source, unless the deadline has passed, and has all of them tried, one
    /// group after the other. While there is none to block in, waits by ppoll(2).
    pub(crate) fn wait(
        &mut self,
        sources: &mut Sources,
        now: Instant,
        deadline: Option<Instant>,
    ) -> io::Result<Ready> {
        if let Some(ready) = sources.parts().1.tell() {
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
