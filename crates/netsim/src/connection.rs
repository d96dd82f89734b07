//! A bidirectional byte stream, as a program sees TCP.

use hairpin_time::{Duration, Instant};

use crate::pipe::{Pipe, Reading};
use crate::{Census, Random, StreamFaults};

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The end that connects.
    Client,
    /// The end that accepts.
    Server,
}

impl End {
    /// Returns the peer.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// The client is connecting.
    Connecting,
    /// Established, possibly half-closed.
    Open,
    /// The server refused the connection.
    Refused,
    /// Reset by one end.
    Reset,
}

/// The reason for which an end cannot read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The connection is not established yet.
    #[error("not connected yet")]
    NotConnected,
    /// The server refused the connection.
    #[error("connection refused")]
    Refused,
    /// The connection was reset.
    #[error("connection reset")]
    Reset,
    /// This end has shut down its direction.
    #[error("cannot write: shut down")]
    Shut,
}

/// A connection with two directions. Bytes arrive in order, in chunks of random size, and a write
/// accepts only what fits in the window.
///
/// ```
/// use hairpin_netsim::{Connection, End, Random, Reading, StreamFaults};
/// use hairpin_time::{Duration, Instant};
///
/// let mut now = Instant::ZERO;
/// let mut connection = Connection::open(now, Random::new(1), StreamFaults::LAN);
/// now += Duration::from_millis(1);
/// assert_eq!(connection.write(now, End::Client, b"order"), Ok(5));
/// now += Duration::from_millis(1);
/// let mut read = Vec::new();
/// while let Ok(Reading::Bytes(_)) =
///     connection.read(now, End::Server, 3, |bytes| read.extend_from_slice(bytes)) {}
/// assert_eq!(read, b"order");
/// ```
#[derive(Debug)]
pub struct Connection {
    /// The two directions, indexed by the end that writes.
    pipes: [Pipe; 2],
    /// The time at which the connection is established or refused.
    decided_at: Instant,
    refused: bool,
    reset: bool,
    /// The bytes of each direction that a reset lost.
    lost: [u64; 2],
}

impl Connection {
    /// Returns a connection that is established after a round trip.
    #[must_use]
    pub fn open(now: Instant, random: Random, faults: StreamFaults) -> Self {
        Self::attempt(now, random, faults, false)
    }

    /// Returns a connection that is refused after a round trip.
    #[must_use]
    pub fn refused(now: Instant, random: Random, faults: StreamFaults) -> Self {
        Self::attempt(now, random, faults, true)
    }

    fn attempt(now: Instant, mut random: Random, faults: StreamFaults, refused: bool) -> Self {
        let forward = faults.delay.draw(&mut random).0;
        let back = faults.delay.draw(&mut random).0;
        Self {
            pipes: [Pipe::new(random.split(), faults), Pipe::new(random.split(), faults)],
            decided_at: now + forward + back,
            refused,
            reset: false,
            lost: [0; 2],
        }
    }

    /// Returns the state at `now`.
    #[must_use]
    pub fn state(&self, now: Instant) -> ConnectionState {
        match () {
            () if self.reset => ConnectionState::Reset,
            () if now < self.decided_at => ConnectionState::Connecting,
            () if self.refused => ConnectionState::Refused,
            () => ConnectionState::Open,
        }
    }

    /// Writes as many of `bytes` as fit in the window. Returns their number.
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn write(&mut self, now: Instant, end: End, bytes: &[u8]) -> Result<usize, StreamError> {
        self.check(now)?;
        let pipe = &mut self.pipes[end as usize];
        if pipe.is_shut() { Err(StreamError::Shut) } else { Ok(pipe.write(now, bytes)) }
    }

    /// Returns `true` if a write would accept at least one byte.
    #[must_use]
    pub fn is_writable(&self, now: Instant, end: End) -> bool {
        let pipe = &self.pipes[end as usize];
        self.check(now).is_ok() && !pipe.is_shut() && pipe.has_room()
    }

    /// Passes at most `max` bytes that have arrived at `end` to `on`, in at most one call.
    ///
    /// # Errors
    /// [`StreamError`], except [`StreamError::Shut`]: an end that has shut down its direction can
    /// still read.
    pub fn read(
        &mut self,
        now: Instant,
        end: End,
        max: usize,
        on: impl FnOnce(&[u8]),
    ) -> Result<Reading, StreamError> {
        self.check(now)?;
        Ok(self.pipes[end.other() as usize].read(now, max, on))
    }

    /// Shuts down the direction from `end`. The peer reads the bytes in flight, then the end.
    pub fn shut(&mut self, now: Instant, end: End) {
        self.pipes[end as usize].shut(now);
    }

    /// Resets the connection. Bytes in flight or unread are lost, and both ends receive an error.
    pub fn reset(&mut self) {
        if !self.reset {
            self.reset = true;
            for (lost, pipe) in self.lost.iter_mut().zip(&mut self.pipes) {
                *lost += pipe.clear() as u64;
            }
        }
    }

    /// Delays all bytes from `end` for `length`. Meanwhile the window fills.
    pub fn stall(&mut self, now: Instant, end: End, length: Duration) {
        self.pipes[end as usize].stall(now + length);
    }

    /// Sets the faults of both directions for later bytes.
    pub fn set_faults(&mut self, faults: StreamFaults) {
        self.pipes.iter_mut().for_each(|pipe| pipe.faults = faults);
    }

    /// Returns the time of the next event at an end: the outcome of connecting, bytes, or the end
    /// of the stream. The time is in the past if unread bytes have arrived.
    #[must_use]
    pub fn poll_timeout(&self, now: Instant, end: End) -> Option<Instant> {
        match self.state(now) {
            ConnectionState::Connecting => Some(self.decided_at),
            ConnectionState::Open => self.pipes[end.other() as usize].poll_timeout(),
            ConnectionState::Refused | ConnectionState::Reset => None,
        }
    }

    /// Returns the bytes from `end` that a reset lost.
    #[must_use]
    pub fn lost(&self, end: End) -> u64 {
        self.lost[end as usize]
    }

    /// Adds the counts of this connection to a census.
    pub fn report(&self, census: &mut Census) {
        let partial = self.pipes.iter().map(|pipe| pipe.partial_writes).sum();
        census.add("partial writes", partial);
        census.add("connections reset", u64::from(self.reset));
        census.add("connections refused", u64::from(self.refused));
        census.add("bytes lost by resets", self.lost.iter().sum());
    }

    fn check(&self, now: Instant) -> Result<(), StreamError> {
        match self.state(now) {
            ConnectionState::Open => Ok(()),
            ConnectionState::Connecting => Err(StreamError::NotConnected),
            ConnectionState::Refused => Err(StreamError::Refused),
            ConnectionState::Reset => Err(StreamError::Reset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, Delay};

    const STEP: Duration = Duration::from_micros(100);
    const STILL: StreamFaults = StreamFaults { delay: Delay::exactly(STEP), ..StreamFaults::LAN };

    fn at(steps: u64) -> Instant {
        Instant::ZERO + STEP * steps
    }

    fn open(seed: u64, faults: StreamFaults) -> Connection {
        Connection::open(Instant::ZERO, Random::new(seed), faults)
    }

    fn read(connection: &mut Connection, now: Instant, end: End) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(Reading::Bytes(_)) =
            connection.read(now, end, 5, |bytes| all.extend_from_slice(bytes))
        {}
        all
    }

    #[test]
    fn connecting_takes_a_round_trip() {
        let mut connection = open(1, STILL);
        assert_eq!(connection.state(at(1)), ConnectionState::Connecting);
        assert_eq!(connection.write(at(1), End::Client, b"x"), Err(StreamError::NotConnected));
        assert_eq!(connection.poll_timeout(at(1), End::Client), Some(at(2)));
        assert_eq!(connection.state(at(2)), ConnectionState::Open);
        let mut refused = Connection::refused(Instant::ZERO, Random::new(1), STILL);
        assert_eq!(refused.state(at(1)), ConnectionState::Connecting);
        assert_eq!(refused.state(at(2)), ConnectionState::Refused);
        assert_eq!(refused.read(at(2), End::Client, 1, |_| {}), Err(StreamError::Refused));
        assert_eq!(refused.poll_timeout(at(2), End::Client), None);
    }

    #[test]
    fn bytes_arrive_in_order_after_the_delay() {
        for seed in 0..50 {
            let mut connection = open(seed, StreamFaults { chunk_max: 7, ..STILL });
            let text: Vec<u8> = (0..100).collect();
            assert_eq!(connection.write(at(2), End::Client, &text), Ok(100));
            assert_eq!(connection.write(at(2), End::Server, b"back"), Ok(4));
            assert_eq!(connection.poll_timeout(at(2), End::Server), Some(at(3)));
            assert_eq!(read(&mut connection, at(2), End::Server), b"");
            assert_eq!(read(&mut connection, at(3), End::Server), text);
            assert_eq!(read(&mut connection, at(3), End::Client), b"back");
            assert_eq!(connection.poll_timeout(at(3), End::Server), None);
        }
    }

    #[test]
    fn unread_bytes_fill_the_window() {
        let mut connection = open(1, StreamFaults { window_bytes: 10, ..STILL });
        assert_eq!(connection.write(at(2), End::Client, &[1; 7]), Ok(7));
        assert!(connection.is_writable(at(2), End::Client));
        assert_eq!(connection.write(at(2), End::Client, &[2; 7]), Ok(3));
        assert!(!connection.is_writable(at(2), End::Client));
        assert_eq!(connection.write(at(3), End::Client, &[3; 7]), Ok(0));
        assert_eq!(connection.poll_timeout(at(3), End::Server), Some(at(3)));
        assert_eq!(connection.read(at(3), End::Server, 4, |_| {}), Ok(Reading::Bytes(4)));
        assert_eq!(connection.poll_timeout(at(3), End::Server), Some(Instant::ZERO));
        assert_eq!(connection.write(at(3), End::Client, &[3; 7]), Ok(4));
        assert_eq!(read(&mut connection, at(4), End::Server), [1, 1, 1, 2, 2, 2, 3, 3, 3, 3]);
        let mut census = Census::new();
        connection.report(&mut census);
        assert_eq!(census.of("partial writes"), 3);
    }

    #[test]
    fn shut_down_end_can_still_read() {
        let mut connection = open(1, STILL);
        connection.write(at(2), End::Client, b"last").expect("open");
        connection.shut(at(2), End::Client);
        assert_eq!(connection.write(at(2), End::Client, b"x"), Err(StreamError::Shut));
        assert_eq!(connection.read(at(2), End::Server, 9, |_| {}), Ok(Reading::Nothing));
        assert_eq!(connection.read(at(3), End::Server, 9, |_| {}), Ok(Reading::Bytes(4)));
        assert_eq!(connection.read(at(3), End::Server, 9, |_| {}), Ok(Reading::End));
        assert_eq!(connection.write(at(3), End::Server, b"answer"), Ok(6));
        assert_eq!(read(&mut connection, at(4), End::Client), b"answer");
    }

    #[test]
    fn reset_loses_unread_bytes_and_fails_both_ends() {
        let mut connection = open(1, STILL);
        connection.write(at(2), End::Client, b"lost").expect("open");
        connection.reset();
        connection.reset();
        assert_eq!(connection.read(at(3), End::Server, 9, |_| {}), Err(StreamError::Reset));
        assert_eq!(connection.write(at(3), End::Client, b"x"), Err(StreamError::Reset));
        assert_eq!((connection.lost(End::Client), connection.lost(End::Server)), (4, 0));
    }

    #[test]
    fn stall_delays_bytes_and_preserves_their_order() {
        let mut connection = open(1, STILL);
        connection.write(at(2), End::Server, b"one ").expect("open");
        connection.stall(at(2), End::Server, STEP * 5);
        connection.write(at(3), End::Server, b"two").expect("open");
        assert_eq!(read(&mut connection, at(6), End::Client), b"");
        assert_eq!(read(&mut connection, at(7), End::Client), b"one two");
    }

    #[test]
    fn corruption_flips_one_bit_of_a_chunk() {
        let faults = StreamFaults { chunk_max: 1, corruption: Chance::ALWAYS, ..STILL };
        let mut connection = open(1, faults);
        connection.write(at(2), End::Client, &[0; 50]).expect("open");
        let arrived = read(&mut connection, at(3), End::Server);
        assert!(arrived.len() == 50 && arrived.iter().all(|byte| byte.count_ones() == 1));
    }
}
