//! The reactor: sources in, readiness out.

use std::io;
use std::os::fd::AsRawFd;

use hairpin_endpoint::Source;
use hairpin_time::Instant;

use crate::block::Block;
use crate::epoll::Epoll;
use crate::sources::Sources;
use crate::{Interest, Ready, Token, Wait, poll};

/// Waits for up to [`crate::CAPACITY`] sources at once, or for a deadline.
///
/// Readiness is level-triggered under every wait: a source that has not been drained is ready
/// again. A source must be removed before it is dropped.
#[derive(Debug)]
pub struct Reactor {
    sources: Sources,
    backend: Backend,
}

#[derive(Debug)]
enum Backend {
    Block(Box<Block>),
    Poll,
    Epoll(Epoll),
    Spin,
}

impl Reactor {
    /// A reactor without sources.
    ///
    /// # Errors
    /// The kernel's; under [`Wait::Epoll`] one older than Linux 5.11 has no such call.
    pub fn new(wait: Wait) -> io::Result<Self> {
        let backend = match wait {
            Wait::Block => Backend::Block(Box::new(Block::new())),
            Wait::Poll => Backend::Poll,
            Wait::Epoll => Backend::Epoll(Epoll::new()?),
            Wait::Spin => Backend::Spin,
        };
        Ok(Self { sources: Sources::new(), backend })
    }

    /// How this reactor waits.
    #[must_use]
    pub fn kind(&self) -> Wait {
        match self.backend {
            Backend::Block(_) => Wait::Block,
            Backend::Poll => Wait::Poll,
            Backend::Epoll(_) => Wait::Epoll,
            Backend::Spin => Wait::Spin,
        }
    }

    /// Waits until a source is ready, `deadline` has passed or a signal has come; `now` is the
    /// loop's last reading of the clock.
    ///
    /// Under [`Wait::Block`] and [`Wait::Spin`] all sources are returned as ready for what they
    /// are waited for, to be tried; the deadline is met as [`Wait`] says. Under [`Wait::Block`]
    /// what the blocking receive brought lies in its source already. Without a deadline a loop
    /// that is to see a flag set by a signal handler may miss it for as long as nothing happens.
    ///
    /// # Errors
    /// The kernel's. `NotFound` if a source was dropped without being removed, as far as that is
    /// noticed.
    #[inline]
    pub fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<Ready> {
        match &mut self.backend {
            Backend::Spin => Ok(self.sources.all()),
            Backend::Epoll(epoll) => {
                epoll.wait(now, deadline).map(|ready| ready.within(self.sources.all()))
            }
            Backend::Poll => poll::wait(&mut self.sources, now, deadline),
            Backend::Block(block) => block.wait(&mut self.sources, now, deadline),
        }
    }

    /// Adds a source.
    ///
    /// Under [`Wait::Block`] the first one added, of those still there that are waited for to be
    /// readable, is the one blocked in.
    ///
    /// # Errors
    /// The kernel's; `OutOfMemory` if there are [`crate::CAPACITY`] sources.
    pub fn add(&mut self, source: &mut impl Source, interest: Interest) -> io::Result<Token> {
        let token = self.sources.claim()?;
        let outcome = match &mut self.backend {
            Backend::Block(block) => block.add(token, source),
            Backend::Epoll(epoll) => epoll.change(token, source.as_fd(), Interest::NONE, interest),
            Backend::Poll | Backend::Spin => Ok(()),
        };
        match outcome {
            Ok(()) => {
                self.record(token, source, interest);
                Ok(token)
            }
            Err(error) => {
                self.sources.release(token);
                Err(error)
            }
        }
    }

    /// Changes what a source is waited for. Free if nothing changes.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_interest(
        &mut self,
        token: Token,
        source: &impl Source,
        interest: Interest,
    ) -> io::Result<()> {
        let old = self.sources.interest(token);
        if old == interest {
            return Ok(());
        }
        if let Backend::Epoll(epoll) = &mut self.backend {
            epoll.change(token, source.as_fd(), old, interest)?;
        }
        self.record(token, source, interest);
        Ok(())
    }

    /// Removes a source; its token may be given to another.
    ///
    /// # Errors
    /// The kernel's; the source is removed nevertheless.
    pub fn remove(&mut self, token: Token, source: &mut impl Source) -> io::Result<()> {
        let old = self.sources.interest(token);
        self.sources.release(token);
        match &mut self.backend {
            Backend::Block(block) => {
                let outcome = block.remove(token, source);
                block.choose(&self.sources);
                outcome
            }
            Backend::Epoll(epoll) => epoll.change(token, source.as_fd(), old, Interest::NONE),
            Backend::Poll | Backend::Spin => Ok(()),
        }
    }

    fn record(&mut self, token: Token, source: &impl Source, interest: Interest) {
        self.sources.set(token, source.as_fd().as_raw_fd(), interest);
        if let Backend::Block(block) = &mut self.backend {
            block.choose(&self.sources);
        }
    }
}
