//! The reactor.

use std::io;
use std::os::fd::AsRawFd;

use hairpin_endpoint::Source;
use hairpin_time::Instant;

use crate::blocking::Blocking;
use crate::deadlines::Deadlines;
use crate::epoll::Epoll;
use crate::sources::Sources;
use crate::uring::Uring;
use crate::{Interest, Ready, Token, Wait, poll};

/// A reactor, which waits for up to [`crate::CAPACITY`] sources at once, or for a deadline.
///
/// Readiness is level-triggered under every wait: a source that has not been drained is reported
/// again. A source must be removed before it is dropped.
///
/// Under [`Wait::IoUring`] some sources receive by requests: [`hairpin_endpoint::UdpReceiver`],
/// [`hairpin_endpoint::UdpSocket`] and [`hairpin_endpoint::TcpStream`]. Such a source belongs to
/// its reactor from the first wait with interest in reading until it is removed. Its `receive`
/// delivers what the last wait has received and makes no system call. The reactor belongs to the
/// thread that first waits with it, since the kernel works on that thread only. Until then it can
/// be moved. It should be dropped on that thread too: elsewhere the buffers of its remaining
/// sources leak.
///
/// A kernel-bypass source ([`hairpin_endpoint::Transport::Xdp`]) can be added like any other. A UDP
/// socket is never reported as writable: a send can always be attempted. A connection may be
/// reported as ready without reason, for reading and writing.
#[derive(Debug)]
pub struct Reactor {
    sources: Sources,
    deadlines: Deadlines,
    state: WaitState,
}

#[derive(Debug)]
enum WaitState {
    Blocking(Box<Blocking>),
    Poll,
    Epoll(Epoll),
    Spin,
    IoUring(Box<Uring>),
}

impl Reactor {
    /// Creates a reactor without sources.
    ///
    /// # Errors
    /// The kernel's errors. [`Wait::Epoll`] fails before Linux 5.11. [`Wait::IoUring`] fails with
    /// `Unsupported` before Linux 6.1, with `PermissionDenied` where it is forbidden, and with
    /// `OutOfMemory` where the user may lock less than about 40 KiB of memory.
    pub fn new(wait: Wait) -> io::Result<Self> {
        let state = match wait {
            Wait::Block => WaitState::Blocking(Box::new(Blocking::new())),
            Wait::Poll => WaitState::Poll,
            Wait::Epoll => WaitState::Epoll(Epoll::new()?),
            Wait::Spin => WaitState::Spin,
            Wait::IoUring => WaitState::IoUring(Box::new(Uring::new()?)),
        };
        Ok(Self { sources: Sources::new(), deadlines: Deadlines::default(), state })
    }

    /// Returns the kind of wait.
    #[must_use]
    pub fn kind(&self) -> Wait {
        match self.state {
            WaitState::Blocking(_) => Wait::Block,
            WaitState::Poll => Wait::Poll,
            WaitState::Epoll(_) => Wait::Epoll,
            WaitState::Spin => Wait::Spin,
            WaitState::IoUring(_) => Wait::IoUring,
        }
    }

    /// Waits until a source is ready, `deadline` has passed or a signal was caught. `now` is the
    /// loop's last clock reading.
    ///
    /// A reactor with more than 64 sources reports one group of 64 at a time: the sources with the
    /// numbers 0 to 63 ([`Token::index`]), 64 to 127 and so on. The next calls report the other
    /// groups without waiting and, except for io_uring, without a system call. The groups take
    /// turns. Add the most important sources first.
    ///
    /// A source with a deadline of its own ([`Source::deadline`]) ends the wait when that has
    /// passed, and is reported as ready. So its owner needs no timer for it.
    ///
    /// Under [`Wait::Block`] and [`Wait::Spin`] all sources are reported as ready for their
    /// interest, so that the caller tries them. [`Wait`] describes the precision of the deadline.
    /// Under [`Wait::Block`] the received data are already in the source. A loop that checks a flag
    /// set by a signal handler needs a deadline; otherwise it may miss the flag until another event
    /// occurs.
    ///
    /// # Errors
    /// The kernel's errors. `NotFound` if a source was dropped without being removed, where this is
    /// detected. Under [`Wait::IoUring`] `PermissionDenied` on a thread other than the one that
    /// waited first.
    #[inline]
    pub fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<Ready> {
        match self.state {
            WaitState::Spin => Ok(self.sources.parts().1.next()),
            _ if self.deadlines.is_empty() => self.wait_in_kernel(now, deadline),
            _ => self.wait_with_deadlines(now, deadline),
        }
    }

    /// Waits for the deadlines of sources too, and reports those that have passed.
    #[inline(never)]
    fn wait_with_deadlines(
        &mut self,
        now: Instant,
        deadline: Option<Instant>,
    ) -> io::Result<Ready> {
        if let Some(ready) = self.sources.parts().1.take_pending() {
            return Ok(ready);
        }
        let earliest = self.deadlines.earliest(&self.sources);
        let until = [deadline, earliest].into_iter().flatten().min();
        let ready = self.wait_in_kernel(now, until)?;
        // Without a result the time has passed, or a signal was caught. Then a source may be
        // reported too early, which costs one call.
        let passed = if ready.is_empty() { until } else { Some(now) };
        if earliest.is_none_or(|earliest| passed.is_none_or(|passed| earliest > passed)) {
            return Ok(ready);
        }
        Ok(self.deadlines.add_passed(passed, ready, &mut self.sources))
    }

    /// Not inlined, so that a spinning wait is.
    #[inline(never)]
    fn wait_in_kernel(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<Ready> {
        match &mut self.state {
            WaitState::Spin => Ok(self.sources.parts().1.next()),
            WaitState::Epoll(epoll) => epoll.wait(self.sources.parts().1, now, deadline),
            WaitState::IoUring(uring) => {
                let ready = uring.wait(now, deadline)?;
                Ok(self.sources.parts().1.translate(ready))
            }
            WaitState::Poll => poll::wait(&mut self.sources, now, deadline),
            WaitState::Blocking(blocking) => blocking.wait(&mut self.sources, now, deadline),
        }
    }

    /// Adds a source.
    ///
    /// Under [`Wait::Block`] the reactor blocks in the first added source that has interest in
    /// reading. Under [`Wait::IoUring`] a source allocates buffers for requests: two batches of
    /// datagrams, or 256 KiB of stream chunks (4 to 64 chunks). The buffers stay with the source
    /// when it is removed.
    ///
    /// # Errors
    /// The kernel's errors. `OutOfMemory` if there are [`crate::CAPACITY`] sources. Under
    /// [`Wait::IoUring`] `AlreadyExists` if the source is in another such reactor.
    pub fn add(&mut self, source: &mut impl Source, interest: Interest) -> io::Result<Token> {
        let token = self.sources.claim()?;
        if let Err(error) = self.prepare(token, source, interest) {
            self.sources.release(token);
            return Err(error);
        }
        let outcome = match &mut self.state {
            WaitState::Blocking(blocking) => blocking.add(token, source),
            WaitState::Epoll(epoll) => {
                let new = self.sources.descriptor_interest(token, interest);
                epoll.change(token, source.as_fd(), Interest::NONE, new)
            }
            WaitState::IoUring(uring) => uring.add(token, source),
            WaitState::Spin => {
                source.set_spinning(true);
                Ok(())
            }
            WaitState::Poll => Ok(()),
        };
        match outcome {
            Ok(()) => {
                self.record(token, source, interest);
                if self.kind() != Wait::Spin {
                    self.deadlines.add(token, source.deadline());
                }
                Ok(token)
            }
            Err(error) => {
                self.sources.release(token);
                Err(error)
            }
        }
    }

    /// Changes the interest in a source. Costs nothing if nothing changes.
    ///
    /// # Errors
    /// The kernel's errors.
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
        self.prepare(token, source, interest)?;
        if let WaitState::Epoll(epoll) = &mut self.state {
            let [old, new] =
                [old, interest].map(|interest| self.sources.descriptor_interest(token, interest));
            if old != new {
                epoll.change(token, source.as_fd(), old, new)?;
            }
        }
        self.record(token, source, interest);
        Ok(())
    }

    /// Removes a source. Its token may be reused.
    ///
    /// Under [`Wait::IoUring`] this waits until the kernel has ended the source's requests. The
    /// source's next `receive` delivers what they have received.
    ///
    /// # Errors
    /// The kernel's errors. The source is still removed. Under [`Wait::IoUring`] `PermissionDenied`
    /// on a thread other than the one that waits.
    pub fn remove(&mut self, token: Token, source: &mut impl Source) -> io::Result<()> {
        let old = self.sources.interest(token);
        self.sources.release(token);
        self.deadlines.remove(token);
        match &mut self.state {
            WaitState::Blocking(blocking) => {
                let outcome = blocking.remove(token, source);
                blocking.select_first(&self.sources);
                outcome
            }
            WaitState::Epoll(epoll) => epoll.change(token, source.as_fd(), old, Interest::NONE),
            WaitState::IoUring(uring) => uring.remove(token, source),
            WaitState::Spin => {
                source.set_spinning(false);
                Ok(())
            }
            WaitState::Poll => Ok(()),
        }
    }

    /// Returns the number of sources.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sources.count()
    }

    /// Returns how often a source had no free buffer for its requests. The data then waited in the
    /// socket until some buffers were delivered: no data are lost, but one iteration is. Zero under
    /// every wait but [`Wait::IoUring`].
    #[must_use]
    pub fn exhausted(&self) -> u64 {
        match &self.state {
            WaitState::IoUring(uring) => uring.exhausted(),
            _ => 0,
        }
    }

    /// Notifies a source of an interest before waiting for it.
    fn prepare(
        &mut self,
        token: Token,
        source: &impl Source,
        interest: Interest,
    ) -> io::Result<()> {
        let readable = interest.contains(Interest::READABLE);
        let is_combined = source.set_interest(readable, interest.contains(Interest::WRITABLE))?;
        self.sources.set_combined(token, is_combined);
        Ok(())
    }

    fn record(&mut self, token: Token, source: &impl Source, interest: Interest) {
        self.sources.set(token, source.as_fd().as_raw_fd(), interest);
        match &mut self.state {
            WaitState::Blocking(blocking) => blocking.select_first(&self.sources),
            WaitState::IoUring(uring) => {
                uring.set_interest(token, self.sources.descriptor_interest(token, interest));
            }
            WaitState::Poll | WaitState::Epoll(_) | WaitState::Spin => {}
        }
    }
}
