//! A flood: messages sent as fast as possible.

use std::io;

use anyhow::Result;
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor};
use hairpin_time::{Duration, Instant};
use serde::{Deserialize, Serialize};

use super::message;
use super::ping_transport::PingTransport;

/// The messages between two clock readings.
const BURST: u64 = 32;
/// The longest wait for buffer space.
const MAX_SLEEP: Duration = Duration::from_millis(10);
const SECOND: Duration = Duration::from_secs(1);
/// The longest wait for the last messages: a pong that shares its core takes its time.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// The messages that were sent.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    /// The number of messages.
    pub(crate) messages: u64,
    /// The time from the first to the last message, in nanoseconds.
    pub(crate) nanos: u64,
    /// The messages in each second; the last second is partial.
    pub(crate) by_second: Vec<u64>,
    /// The number of times that the send buffer was full and a message was sent later.
    pub(crate) waits: u64,
}

impl Sent {
    #[inline]
    fn count(&mut self, messages: u64, since_start: Duration) {
        let second = (since_start.as_nanos() / SECOND.as_nanos()) as usize;
        if self.by_second.len() <= second {
            self.by_second.resize(second + 1, 0);
        }
        self.by_second[second] += messages;
        self.messages += messages;
        self.nanos = since_start.as_nanos();
    }
}

/// A flood over several transports.
pub(super) struct Flood<'a, L> {
    reactor: Reactor,
    clock: Clock,
    lines: &'a mut [L],
    size: usize,
    sequence: u64,
}

impl<'a, L: PingTransport> Flood<'a, L> {
    /// Returns a flood of messages of `size` bytes and adds every transport to the reactor.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(
        mut reactor: Reactor,
        clock: Clock,
        lines: &'a mut [L],
        size: usize,
    ) -> io::Result<Self> {
        for line in lines.iter_mut() {
            reactor.add(line, Interest::WRITABLE)?;
        }
        Ok(Self { reactor, clock, lines, size, sequence: 0 })
    }

    /// Sends for `span`, or until `stop_requested` returns `true`, and returns the counts.
    ///
    /// # Errors
    /// Those of the network.
    pub(super) fn run(
        &mut self,
        span: Duration,
        stop_requested: impl Fn() -> bool,
    ) -> Result<Sent> {
        let mut sent = Sent::default();
        let start = self.clock.instant();
        let mut now = start;
        while now.saturating_since(start) < span && !stop_requested() {
            let messages = self.burst()?;
            now = self.clock.instant();
            sent.count(messages, now.saturating_since(start));
            if messages < BURST {
                sent.waits += 1;
                self.wait_for_room(now)?;
                now = self.clock.instant();
            }
        }
        self.drain(now)?;
        Ok(sent)
    }

    /// Sends one burst, or less if the send buffer is full.
    #[inline]
    fn burst(&mut self) -> Result<u64> {
        let run = std::process::id();
        for count in 0..BURST {
            let index = (self.sequence % self.lines.len() as u64) as usize;
            let (size, sequence) = (self.size, self.sequence);
            let outcome =
                self.lines[index].transmit(size, |bytes| message::write(bytes, sequence, run));
            match outcome {
                Ok(()) => self.sequence += 1,
                Err(error) if super::pinger::is_lost::<L>(&error) => return Ok(count),
                Err(error) => return Err(super::pinger::nobody(error)),
            }
        }
        Ok(BURST)
    }

    fn wait_for_room(&mut self, now: Instant) -> io::Result<()> {
        self.reactor.wait(now, Some(now + MAX_SLEEP))?;
        self.lines.iter_mut().try_for_each(|line| line.flush().map(drop))
    }

    /// Sends what still waits for buffer space or acknowledgments. Does not wait long for a pong
    /// that reads nothing.
    fn drain(&mut self, now: Instant) -> io::Result<()> {
        let until = now + DRAIN_TIMEOUT;
        for index in 0..self.lines.len() {
            let mut now = self.clock.instant();
            while !self.lines[index].flush()? && now < until {
                // A lost packet shows only in a late acknowledgment.
                self.reactor.wait(now, Some(now + MAX_SLEEP))?;
                now = self.clock.instant();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_messages_of_each_second() {
        let mut sent = Sent::default();
        for (messages, ms) in [(10, 5), (20, 999), (7, 1_000), (1, 3_500)] {
            sent.count(messages, Duration::from_millis(ms));
        }
        assert_eq!(sent.by_second, [30, 7, 0, 1]);
        assert_eq!((sent.messages, sent.nanos), (38, 3_500_000_000));
    }
}
