//! A listening socket whose accept errors do not end the loop.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{TcpListener, TcpOptions, TcpStream};
use hairpin_time::{Duration, Instant};

use crate::{Interest, Reactor, Ready, Token, Wait};

/// The interval at which a spinning loop checks for rare events such as a new connection. Each
/// check costs a system call.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The pause after a failed accept. The listener stays readable in that time, so it is removed from
/// the reactor's wait.
const PAUSE: Duration = Duration::from_millis(100);

/// A listening socket of a server that stays up: when the kernel cannot accept a connection, as
/// without free descriptors (`EMFILE`, `ENFILE`) or memory, it pauses for 100 ms. Connections wait
/// in the listen queue meanwhile, and those that exist are served.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    token: Token,
    options: TcpOptions,
    next: Instant,
    paused: bool,
    failure: Option<io::Error>,
}

/// The result of [`Acceptor::accept`].
#[derive(Debug)]
pub enum Accepted {
    /// A new connection.
    Stream(TcpStream),
    /// No connection is pending, or the next check is not due.
    None,
    /// No descriptor or memory is free: [`Acceptor::failure`]. The caller may close a connection
    /// and call [`Acceptor::retry`]; otherwise the next attempt follows after 100 ms.
    Exhausted,
    /// The kernel returned another error: [`Acceptor::failure`]. The next attempt follows after
    /// 100 ms.
    Failed,
}

/// Linux's ENFILE, EMFILE, ENOMEM and ENOBUFS.
const EXHAUSTED: [i32; 4] = [23, 24, 12, 105];

impl Acceptor {
    /// Registers the listener with the reactor. New connections get `options`.
    ///
    /// # Errors
    /// The kernel's errors.
    pub fn new(
        mut listener: TcpListener,
        options: TcpOptions,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let token = reactor.add(&mut listener, Interest::READABLE)?;
        Ok(Self { listener, token, options, next: now, paused: false, failure: None })
    }

    /// Returns the address of the listener.
    #[must_use]
    pub fn address(&self) -> SocketAddrV4 {
        self.listener.local_address()
    }

    /// Returns the end of the current pause, at which [`Acceptor::accept`] must be called.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.paused.then_some(self.next)
    }

    /// Returns the error of the last attempt, if it has failed.
    #[must_use]
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Accepts a connection if one may be pending.
    ///
    /// # Errors
    /// Errors of the reactor.
    pub fn accept(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> io::Result<Accepted> {
        if self.paused && now >= self.next {
            self.paused = false;
            reactor.set_interest(self.token, &self.listener, Interest::READABLE)?;
        }
        let is_early = reactor.kind() == Wait::Spin && now < self.next;
        if self.paused || is_early || !ready.is_readable(self.token) {
            return Ok(Accepted::None);
        }
        match self.listener.accept(self.options) {
            // More may be pending: a crowd of connections must not delay the one that logs on.
            Ok(Some(stream)) => {
                self.failure = None;
                Ok(Accepted::Stream(stream))
            }
            Ok(None) => {
                self.next = now + CHECK_INTERVAL;
                Ok(Accepted::None)
            }
            Err(error) => self.handle_error(error, now, reactor),
        }
    }

    /// Handles a failed accept. Without a free descriptor the kernel fails before it checks for a
    /// connection, so this does.
    #[cold]
    fn handle_error(
        &mut self,
        error: io::Error,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Accepted> {
        let is_exhausted = error.raw_os_error().is_some_and(|code| EXHAUSTED.contains(&code));
        if is_exhausted && !self.has_pending(now)? {
            self.next = now + CHECK_INTERVAL;
            return Ok(Accepted::None);
        }
        self.failure = Some(error);
        self.next = now + PAUSE;
        self.paused = true;
        reactor.set_interest(self.token, &self.listener, Interest::NONE)?;
        Ok(if is_exhausted { Accepted::Exhausted } else { Accepted::Failed })
    }

    /// Returns `true` if a connection waits, whatever the wait of the loop.
    fn has_pending(&mut self, now: Instant) -> io::Result<bool> {
        // This wait needs no descriptor.
        let mut probe = Reactor::new(Wait::Poll)?;
        let token = probe.add(&mut self.listener, Interest::READABLE)?;
        let ready = probe.wait(now, Some(Instant::ZERO))?;
        let is_pending = ready.is_readable(token);
        probe.remove(token, &mut self.listener)?;
        Ok(is_pending)
    }

    /// Ends the pause after a failed accept, once a connection has been closed.
    ///
    /// # Errors
    /// Errors of the reactor.
    pub fn retry(&mut self, now: Instant, reactor: &mut Reactor) -> io::Result<()> {
        self.paused = false;
        self.next = now;
        reactor.set_interest(self.token, &self.listener, Interest::READABLE)
    }
}
