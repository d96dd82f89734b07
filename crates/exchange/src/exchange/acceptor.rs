//! A listening socket whose accept errors do not end the loop.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{TcpListener, TcpOptions, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant};

/// The interval at which a spinning loop checks for rare events such as a new connection. Each
/// check costs a system call.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The pause after a failed accept. The listener stays readable in that time, so it is removed from
/// the reactor's wait.
const PAUSE: Duration = Duration::from_millis(100);

/// A listening socket and the time of its next check.
#[derive(Debug)]
pub(super) struct Acceptor {
    listener: TcpListener,
    token: Token,
    options: TcpOptions,
    next: Instant,
    paused: bool,
}

/// The result of [`Acceptor::accept`].
#[derive(Debug)]
pub(super) enum Accepted {
    /// A new connection.
    Stream(TcpStream),
    /// No connection is pending, or the next check is not due.
    None,
    /// The kernel returned an error. The next attempt follows after [`PAUSE`].
    Failed,
}

impl Acceptor {
    /// Registers the listener with the reactor. New connections get `options`.
    pub(super) fn new(
        mut listener: TcpListener,
        options: TcpOptions,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let token = reactor.add(&mut listener, Interest::READABLE)?;
        Ok(Self { listener, token, options, next: now, paused: false })
    }

    pub(super) fn address(&self) -> SocketAddrV4 {
        self.listener.local_address()
    }

    /// Returns the end of the current pause.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.paused.then_some(self.next)
    }

    /// Accepts a connection if one may be pending.
    ///
    /// # Errors
    /// Errors of the reactor.
    pub(super) fn accept(
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
        self.next = now + CHECK_INTERVAL;
        match self.listener.accept(self.options) {
            Ok(Some(stream)) => Ok(Accepted::Stream(stream)),
            Ok(None) => Ok(Accepted::None),
            Err(_) => {
                self.pause(now, reactor)?;
                Ok(Accepted::Failed)
            }
        }
    }

    #[cold]
    fn pause(&mut self, now: Instant, reactor: &mut Reactor) -> io::Result<()> {
        self.next = now + PAUSE;
        self.paused = true;
        reactor.set_interest(self.token, &self.listener, Interest::NONE)
    }
}
