//! The reactor: sources in, readiness out.

use std::io;
use std::os::fd::AsRawFd;

use hairpin_endpoint::Source;
use hairpin_time::Instant;

use crate::block::Block;
use crate::epoll::Epoll;
use crate::sources::Sources;
use crate::uring::Uring;
use crate::{Interest, Ready, Token, Wait, poll};

/// Waits for up to [`crate::CAPACITY`] sources at once, or for a deadline.
///
/// Readiness is level-triggered under every wait: a source that has not been drained is ready
/// again. A source must be removed before it is dropped.
///
/// Under [`Wait::IoUring`] a source that receives by request ([`hairpin_endpoint::UdpReceiver`],
/// [`hairpin_endpoint::UdpSocket`], [`hairpin_endpoint::TcpStream`]) belongs to its reactor from
/// the first wait in which it is waited for to be readable until it is removed: its `receive`
/// delivers what the last wait has brought, and asks the kernel for nothing. The reactor itself
/// belongs to the thread that first waits by it, for the kernel does its part on that thread alone;
/// until then it can be moved. It should be dropped there too: elsewhere the buffers of the sources
/// it still has leak.
///
/// A source past the kernel ([`hairpin_endpoint::Transport::Xdp`]) can be in it like any other, to
/// be readable. It never is to be writable: it can always be tried.
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
    IoUring(Box<Uring>),
}

impl Reactor {
    /// A reactor without sources.
    ///
    /// # Errors
    /// The kernel's; under [`Wait::Epoll`] one older than Linux 5.11 has no such call. Under
    /// [`Wait::IoUring`] `Unsupported` before Linux 6.1, `PermissionDenied` where it is forbidden,
    /// `OutOfMemory` where the user may lock less than some 40 KiB of memory.
    pub fn new(wait: Wait) -> io::Result<Self> {
        let backend = match wait {
            Wait::Block => Backend::Block(Box::new(Block::new())),
            Wait::Poll => Backend::Poll,
            Wait::Epoll => Backend::Epoll(Epoll::new()?),
            Wait::Spin => Backend::Spin,
            Wait::IoUring => Backend::IoUring(Box::new(Uring::new()?)),
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
            Backend::IoUring(_) => Wait::IoUring,
        }
    }

    /// Waits until a source is ready, `deadline` has passed or a signal has come; `now` is the
    /// loop's last reading of the clock.
    ///
    /// A reactor with more than 64 sources tells of one group of 64 at a time, those with the
    /// numbers 0 to 63 ([`Token::index`]), 64 to 127 and so on: what it has found in the others the
    /// next calls tell, without a wait and but for io_uring without a system call. The groups take
    /// turns. Sources that matter most are best added first.
    ///
    /// Under [`Wait::Block`] and [`Wait::Spin`] all sources are returned as ready for what they
    /// are waited for, to be tried; the deadline is met as [`Wait`] says. Under [`Wait::Block`]
    /// what the blocking receive brought lies in its source already. Without a deadline a loop
    /// that is to see a flag set by a signal handler may miss it for as long as nothing happens.
    ///
    /// # Errors
    /// The kernel's. `NotFound` if a source was dropped without being removed, as far as that is
    /// noticed. Under [`Wait::IoUring`] `PermissionDenied` on a thread other than the one that
    /// waited first.
    #[inline]
    pub fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<Ready> {
        match &mut self.backend {
            Backend::Spin => Ok(self.sources.parts().1.next()),
            Backend::Epoll(epoll) => epoll.wait(self.sources.parts().1, now, deadline),
            Backend::IoUring(uring) => uring.wait(now, deadline),
            Backend::Poll => poll::wait(&mut self.sources, now, deadline),
            Backend::Block(block) => block.wait(&mut self.sources, now, deadline),
        }
    }

    /// Adds a source.
    ///
    /// Under [`Wait::Block`] the first one added, of those still there that are waited for to be
    /// readable, is the one blocked in. Under [`Wait::IoUring`] a source is given its buffers for
    /// requests: as many bytes as two batches of datagrams, or 256 KiB of chunks of a stream (no
    /// fewer than 4 and no more than 64 chunks), which stay its own when it is removed.
    ///
    /// # Errors
    /// The kernel's; `OutOfMemory` if there are [`crate::CAPACITY`] sources. Under
    /// [`Wait::IoUring`] `AlreadyExists` if the source is in another such reactor.
    pub fn add(&mut self, source: &mut impl Source, interest: Interest) -> io::Result<Token> {
        let token = self.sources.claim()?;
        let outcome = match &mut self.backend {
            Backend::Block(block) => block.add(token, source),
            Backend::Epoll(epoll) => epoll.change(token, source.as_fd(), Interest::NONE, interest),
            Backend::IoUring(uring) => uring.add(token, source),
            Backend::Spin => {
                source.set_spinning(true);
                Ok(())
            }
            Backend::Poll => Ok(()),
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
    /// Under [`Wait::IoUring`] this waits until the kernel has ended the source's requests. What
    /// they have brought by then is what the source's next `receive` delivers.
    ///
    /// # Errors
    /// The kernel's; the source is removed nevertheless. Under [`Wait::IoUring`] `PermissionDenied`
    /// on a thread other than the one that waits.
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
            Backend::IoUring(uring) => uring.remove(token, source),
            Backend::Spin => {
                source.set_spinning(false);
                Ok(())
            }
            Backend::Poll => Ok(()),
        }
    }

    /// Sources there are now.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sources.count()
    }

    /// How often a source had no buffer left for what arrived by request, and what came after that
    /// waited in its socket until some had been delivered: nothing is lost, but a turn is. Zero
    /// under every wait but [`Wait::IoUring`].
    #[must_use]
    pub fn exhausted(&self) -> u64 {
        match &self.backend {
            Backend::IoUring(uring) => uring.exhausted(),
            _ => 0,
        }
    }

    fn record(&mut self, token: Token, source: &impl Source, interest: Interest) {
        self.sources.set(token, source.as_fd().as_raw_fd(), interest);
        match &mut self.backend {
            Backend::Block(block) => block.choose(&self.sources),
            Backend::IoUring(uring) => uring.set_interest(token, interest),
            Backend::Poll | Backend::Epoll(_) | Backend::Spin => {}
        }
    }
}
