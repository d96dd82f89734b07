//! Answers pings over TCP.

use std::io::{self, Write};

use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions, TcpStream};
use hairpin_reactor::{Accepted, Acceptor, CAPACITY, Interest, Reactor, Ready, Token};
use hairpin_time::{Duration, Instant};

use super::server::{PongState, Responder};
use crate::ping::{GREETING, GREETING_LENGTH};

/// The longest message; a longer one in a greeting is invalid.
const MESSAGE_MAX: usize = 1 << 20;
/// The shortest time between two reports of connections that cannot be accepted.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);
/// The most connections: one source is the listener.
const CONNECTIONS: usize = CAPACITY - 1;

/// A listener and its connections.
pub(super) struct TcpResponder {
    acceptor: Acceptor,
    /// The time at which a failed attempt to accept a connection was last reported.
    reported_at: Option<Instant>,
    pingers: Vec<Pinger>,
}

/// A connection.
struct Pinger {
    stream: TcpStream,
    token: Token,
    /// The length of a message, once the greeting has arrived.
    length: Option<usize>,
    /// The bytes that are not yet answered.
    bytes: Vec<u8>,
    /// The bytes of the first message that were sent back.
    answered: usize,
    is_full: bool,
}

/// The state of a connection after a turn.
#[derive(PartialEq, Eq)]
enum Turn {
    Goes,
    Gone,
}

impl TcpResponder {
    /// Adds the listener to the reactor.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(listener: TcpListener, reactor: &mut Reactor) -> io::Result<Self> {
        let acceptor = Acceptor::new(listener, TcpOptions::default(), Instant::ZERO, reactor)?;
        Ok(Self { acceptor, reported_at: None, pingers: Vec::with_capacity(CAPACITY) })
    }

    /// Accepts the connections that wait. Those that exist are served also while none can be
    /// accepted.
    #[inline]
    fn accept(
        &mut self,
        ready: Ready,
        reactor: &mut Reactor,
        state: &mut PongState,
    ) -> io::Result<()> {
        loop {
            match self.acceptor.accept(state.clock.instant(), ready, reactor)? {
                Accepted::Stream(stream) => self.add(stream, reactor, state),
                Accepted::None => return Ok(()),
                Accepted::Exhausted | Accepted::Failed => {
                    self.report_failure(state);
                    return Ok(());
                }
            }
        }
    }

    /// Serves a connection. Dropping the stream closes a surplus one.
    #[cold]
    fn add(&mut self, mut stream: TcpStream, reactor: &mut Reactor, state: &mut PongState) {
        let added = match self.pingers.len() < CONNECTIONS {
            true => reactor.add(&mut stream, Interest::READABLE),
            false => Err(io::Error::other(format!("there are {CONNECTIONS} already"))),
        };
        match added {
            Ok(token) => self.pingers.push(Pinger {
                stream,
                token,
                length: None,
                bytes: Vec::with_capacity(4 << 10),
                answered: 0,
                is_full: false,
            }),
            Err(error) => {
                state.counts.refused_connections += 1;
                if state.counts.refused_connections == 1 {
                    let line = format!("pong: cannot serve a connection: {error}");
                    let _ = writeln!(io::stderr(), "{line}; others are counted");
                }
            }
        }
    }

    /// Counts a failed attempt to accept, and reports one per minute.
    #[cold]
    fn report_failure(&mut self, state: &mut PongState) {
        state.counts.failed_accepts += 1;
        let now = state.clock.instant();
        let is_due = self.reported_at.is_none_or(|at| now.saturating_since(at) >= REPORT_INTERVAL);
        if let Some(error) = self.acceptor.failure().filter(|_| is_due) {
            self.reported_at = Some(now);
            let line = format!("pong: cannot accept connections: {error}");
            let _ = writeln!(io::stderr(), "{line}; those that wait are tried every 100 ms");
        }
    }
}

impl Responder for TcpResponder {
    #[inline]
    fn serve(
        &mut self,
        ready: Ready,
        reactor: &mut Reactor,
        state: &mut PongState,
    ) -> io::Result<()> {
        let mut index = 0;
        while let Some(pinger) = self.pingers.get_mut(index) {
            // An error of one connection closes only that connection.
            let turn = pinger.turn(ready, reactor, state).unwrap_or_else(|error| {
                report_broken(&error, state);
                Turn::Gone
            });
            if turn == Turn::Gone {
                let Pinger { mut stream, token, .. } = self.pingers.swap_remove(index);
                reactor.remove(token, &mut stream)?;
            } else {
                index += 1;
            }
        }
        self.accept(ready, reactor, state)
    }
}

/// Counts a connection that ended with an error, and reports the first.
#[cold]
fn report_broken(error: &io::Error, state: &mut PongState) {
    state.counts.broken_connections += 1;
    if state.counts.broken_connections == 1 {
        let line = format!("pong: a connection ended: {error}");
        let _ = writeln!(io::stderr(), "{line}; others are counted");
    }
}

impl Pinger {
    #[inline]
    fn turn(
        &mut self,
        ready: Ready,
        reactor: &mut Reactor,
        state: &mut PongState,
    ) -> io::Result<Turn> {
        if self.is_full {
            if ready.is_writable(self.token) {
                self.answer(reactor, state)?;
            }
            return Ok(Turn::Goes);
        }
        if !ready.is_readable(self.token) {
            return Ok(Turn::Goes);
        }
        let bytes = &mut self.bytes;
        let received = self.stream.receive(1, |_, chunk| bytes.extend_from_slice(chunk))?;
        if received.count > 0 {
            if self.length.is_none() && !self.is_greeted()? {
                return Ok(Turn::Goes);
            }
            if state.is_flood {
                self.count(state);
            } else {
                self.answer(reactor, state)?;
            }
        }
        Ok(if received.closed { Turn::Gone } else { Turn::Goes })
    }

    /// Answers the complete messages, as far as the send buffer allows.
    #[inline]
    fn answer(&mut self, reactor: &mut Reactor, state: &mut PongState) -> io::Result<()> {
        let Some(length) = self.length else { return Ok(()) };
        let mut start = 0;
        while self.bytes.len() - start >= length {
            if self.answered == 0 {
                state.before_answer();
            }
            match self.stream.write(&self.bytes[start + self.answered..start + length]) {
                Ok(count) => self.answered += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            if self.answered == length {
                state.answered(&Ok(()));
                self.answered = 0;
                start += length;
            }
        }
        self.bytes.drain(..start);
        self.set_full(self.bytes.len() >= length, reactor)
    }

    #[inline]
    fn set_full(&mut self, is_full: bool, reactor: &mut Reactor) -> io::Result<()> {
        if self.is_full == is_full {
            return Ok(());
        }
        self.is_full = is_full;
        let interest = if is_full { Interest::WRITABLE } else { Interest::READABLE };
        reactor.set_interest(self.token, &self.stream, interest)
    }

    fn count(&mut self, state: &mut PongState) {
        let Some(length) = self.length else { return };
        let messages = self.bytes.len() / length;
        if messages > 0 {
            state.tally.count(messages as u64, state.clock.instant());
            self.bytes.drain(..messages * length);
        }
    }

    /// Reads the greeting; returns `false` while it is incomplete.
    ///
    /// # Errors
    /// Bytes that are not a greeting.
    #[cold]
    fn is_greeted(&mut self) -> io::Result<bool> {
        let Some(greeting) = self.bytes.first_chunk::<GREETING_LENGTH>() else { return Ok(false) };
        self.length = Some(length_in(*greeting).ok_or(io::ErrorKind::InvalidData)?);
        self.bytes.drain(..GREETING_LENGTH);
        Ok(true)
    }
}

/// Returns the message length of a greeting.
fn length_in(greeting: [u8; GREETING_LENGTH]) -> Option<usize> {
    let length = greeting.strip_prefix(&GREETING)?.first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    (1..=MESSAGE_MAX).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greeting_contains_message_length() {
        assert_eq!(length_in(*b"ping\x0e\0\0\0"), Some(14));
        assert_eq!(length_in(*b"ping\0\0\x10\0"), Some(MESSAGE_MAX));
    }

    #[test]
    fn rejects_invalid_greeting() {
        for bytes in [b"pong\x0e\0\0\0", b"ping\0\0\0\0", b"ping\x01\0\x10\0", b"GET / HT"] {
            assert_eq!(length_in(*bytes), None, "{bytes:?}");
        }
    }
}
