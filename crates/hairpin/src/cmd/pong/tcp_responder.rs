//! Answers pings over TCP.

use std::io;

use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions, TcpStream};
use hairpin_host::Clock;
use hairpin_reactor::{CAPACITY, Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant};

use super::server::{PongState, Responder};
use crate::cmd::ping::{GREETING, GREETING_LENGTH};

/// The longest message; a longer one in a greeting is invalid.
const MESSAGE_MAX: usize = 1 << 20;
/// The interval at which a spinning loop checks for new connections: each check is a system call.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// A listener and its connections.
pub(super) struct TcpResponder {
    listener: TcpListener,
    token: Token,
    /// The time of the next check of a spinning loop.
    next_check: Instant,
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
    pub(super) fn new(mut listener: TcpListener, reactor: &mut Reactor) -> io::Result<Self> {
        let token = reactor.add(&mut listener, Interest::READABLE)?;
        let (next_check, pingers) = (Instant::ZERO, Vec::with_capacity(CAPACITY));
        Ok(Self { listener, token, next_check, pingers })
    }

    /// Returns `true` unless a spinning loop has checked for connections just before.
    #[inline]
    fn is_check_due(&mut self, reactor: &Reactor, clock: &Clock) -> bool {
        if reactor.kind() != Wait::Spin {
            return true;
        }
        let now = clock.instant();
        let is_due = now >= self.next_check;
        if is_due {
            self.next_check = now + CHECK_INTERVAL;
        }
        is_due
    }

    #[cold]
    fn accept(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        while let Some(mut stream) = self.listener.accept(TcpOptions::default())? {
            // One source is the listener. Surplus connections are closed.
            if self.pingers.len() + 1 >= CAPACITY {
                continue;
            }
            let token = reactor.add(&mut stream, Interest::READABLE)?;
            self.pingers.push(Pinger {
                stream,
                token,
                length: None,
                bytes: Vec::with_capacity(4 << 10),
                answered: 0,
                is_full: false,
            });
        }
        Ok(())
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
            if pinger.turn(ready, reactor, state).unwrap_or(Turn::Gone) == Turn::Gone {
                let Pinger { mut stream, token, .. } = self.pingers.swap_remove(index);
                reactor.remove(token, &mut stream)?;
            } else {
                index += 1;
            }
        }
        if ready.is_readable(self.token) && self.is_check_due(reactor, &state.clock) {
            self.accept(reactor)?;
        }
        Ok(())
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
