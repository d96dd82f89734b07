//! A listener that never ends the loop and costs little when there is nobody.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{TcpListener, TcpOptions, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant};

/// How often a spinning loop asks for what is rare, such as a new connection: each time costs a
/// system call.
pub(super) const RARELY: Duration = Duration::from_millis(1);

/// How long nobody is accepted after that has failed. The listener stays readable meanwhile, so
/// it is not waited for either.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener and when it is asked next.
#[derive(Debug)]
pub(super) struct Acceptor {
    listener: TcpListener,
    token: Token,
    options: TcpOptions,
    next: Instant,
    is_paused: bool,
}

/// What asking for a connection has brought.
#[derive(Debug)]
pub(super) enum Accepted {
    /// A connection.
    Stream(TcpStream),
    /// There is none, or it is not time to ask.
    Nobody,
    /// The kernel has refused; the next attempt follows after a pause.
    Failed,
}

impl Acceptor {
    /// Has the listener waited for; connections are made with `options`.
    pub(super) fn new(
        mut listener: TcpListener,
        options: TcpOptions,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let token = reactor.add(&mut listener, Interest::READABLE)?;
        Ok(Self { listener, token, options, next: now, is_paused: false })
    }

    pub(super) fn address(&self) -> SocketAddrV4 {
        self.listener.local_address()
    }

    /// When the listener is to be waited for again.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.is_paused.then_some(self.next)
    }

    /// Asks for a connection, if there may be one.
    ///
    /// # Errors
    /// The reactor's.
    pub(super) fn accept(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> io::Result<Accepted> {
        if self.is_paused && now >= self.next {
            self.is_paused = false;
            reactor.set_interest(self.token, &self.listener, Interest::READABLE)?;
        }
        let is_early = reactor.kind() == Wait::Spin && now < self.next;
        if self.is_paused || is_early || !ready.is_readable(self.token) {
            return Ok(Accepted::Nobody);
        }
        self.next = now + RARELY;
        match self.listener.accept(self.options) {
            Ok(Some(stream)) => Ok(Accepted::Stream(stream)),
            Ok(None) => Ok(Accepted::Nobody),
            Err(_) => {
                self.pause(now, reactor)?;
                Ok(Accepted::Failed)
            }
        }
    }

    #[cold]
    fn pause(&mut self, now: Instant, reactor: &mut Reactor) -> io::Result<()> {
        self.next = now + PAUSE;
        self.is_paused = true;
        reactor.set_interest(self.token, &self.listener, Interest::NONE)
    }
}
