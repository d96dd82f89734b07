//! A byte stream both ways, as a program sees TCP.

use hairpin_time::{Duration, Instant};

use crate::pipe::{Pipe, Reading};
use crate::{Census, Random, StreamFaults};

/// One of the two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The end that connects.
    Client,
    /// The end that accepts.
    Server,
}

impl End {
    /// The end at the other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// How a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// The client's attempt is under way.
    Connecting,
    /// Bytes can go both ways, as far as no end has shut its side.
    Open,
    /// The attempt has failed.
    Refused,
    /// One end has reset it.
    Reset,
}

/// Why an end can neither read nor write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The attempt is still under way.
    #[error("not connected yet")]
    NotConnected,
    /// Nobody listens.
    #[error("connection refused")]
    Refused,
    /// The connection was reset.
    #[error("connection reset")]
    Reset,
    /// This end has shut its side and cannot write.
    #[error("this side has been shut down")]
    Shut,
}

/// A connection: two directions, each of which keeps order, arrives in chunks cut anywhere, and
/// takes only what fits in its window.
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
    /// Indexed by the end that writes.
    pipes: [Pipe; 2],
    /// When the attempt succeeds, or fails.
    decided_at: Instant,
    is_refused: bool,
    is_reset: bool,
    /// Bytes that were lost in each direction by a reset.
    lost: [u64; 2],
}

impl Connection {
    /// A client's attempt to connect, which succeeds after a round trip.
    #[must_use]
    pub fn open(now: Instant, random: Random, faults: StreamFaults) -> Self {
        Self::attempt(now, random, faults, false)
    }

    /// A client's attempt to connect to nobody, which fails after a round trip.
    #[must_use]
    pub fn refused(now: Instant, random: Random, faults: StreamFaults) -> Self {
        Self::attempt(now, random, faults, true)
    }

    fn attempt(now: Instant, mut random: Random, faults: StreamFaults, is_refused: bool) -> Self {
        let there = faults.delay.draw(&mut random).0;
        let back = faults.delay.draw(&mut random).0;
        Self {
            pipes: [Pipe::new(random.split(), faults), Pipe::new(random.split(), faults)],
            decided_at: now + there + back,
            is_refused,
            is_reset: false,
            lost: [0; 2],
        }
    }

    /// How the connection is now.
    #[must_use]
    pub fn state(&self, now: Instant) -> ConnectionState {
        match () {
            () if self.is_reset => ConnectionState::Reset,
            () if now < self.decided_at => ConnectionState::Connecting,
            () if self.is_refused => ConnectionState::Refused,
            () => ConnectionState::Open,
        }
    }

    /// Writes as many of `bytes` as the window takes: 0 if it is full.
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn write(&mut self, now: Instant, end: End, bytes: &[u8]) -> Result<usize, StreamError> {
        self.check(now)?;
        let pipe = &mut self.pipes[end as usize];
        if pipe.is_shut() { Err(StreamError::Shut) } else { Ok(pipe.write(now, bytes)) }
    }

    /// Whether a write would take a byte.
    #[must_use]
    pub fn is_writable(&self, now: Instant, end: End) -> bool {
        let pipe = &self.pipes[end as usize];
        self.check(now).is_ok() && !pipe.is_shut() && pipe.has_room()
    }

    /// Hands at most `max` bytes that have arrived at `end` to `on`, which is called once or not.
    ///
    /// # Errors
    /// [`StreamError`], but for [`StreamError::Shut`]: an end that has shut its side still reads.
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

    /// `end` writes no more; the other end reads what is under way, and then the end.
    pub fn shut(&mut self, now: Instant, end: End) {
        self.pipes[end as usize].shut(now);
    }

    /// Either end resets: what is under way or unread is lost, and both ends are told.
    pub fn reset(&mut self) {
        if !self.is_reset {
            self.is_reset = true;
            for (lost, pipe) in self.lost.iter_mut().zip(&mut self.pipes) {
                *lost += pipe.clear() as u64;
            }
        }
    }

    /// What `end` writes does not arrive for a while; the window fills meanwhile.
    pub fn stall(&mut self, now: Instant, end: End, length: Duration) {
        self.pipes[end as usize].stall(now + length);
    }

    /// Changes what may happen in both directions from now on.
    pub fn set_faults(&mut self, faults: StreamFaults) {
        self.pipes.iter_mut().for_each(|pipe| pipe.faults = faults);
    }

    /// When there is something new for an end: the outcome of the attempt, bytes, their end. In the
    /// past if bytes have arrived and were not read.
    #[must_use]
    pub fn poll_timeout(&self, now: Instant, end: End) -> Option<Instant> {
        match self.state(now) {
            ConnectionState::Connecting => Some(self.decided_at),
            ConnectionState::Open => self.pipes[end.other() as usize].poll_timeout(),
            ConnectionState::Refused | ConnectionState::Reset => None,
        }
    }

    /// Bytes that `end` wrote and nobody read, because of a reset.
    #[must_use]
    pub fn lost(&self, end: End) -> u64 {
        self.lost[end as usize]
    }

    /// Adds what has happened to a census.
    pub fn report(&self, census: &mut Census) {
        let partial = self.pipes.iter().map(|pipe| pipe.partial_writes).sum();
        census.add("partial writes", partial);
        census.add("connections reset", u64::from(self.is_reset));
        census.add("connections refused", u64::from(self.is_refused));
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
    fn connects_after_a_round_trip_or_is_refused_then() {
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
    fn bytes_arrive_in_order_in_chunks_after_the_delay_both_ways() {
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
    fn what_is_not_read_fills_the_window_and_writes_are_partial() {
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
    fn an_end_that_has_shut_its_side_is_read_to_its_end_and_still_reads() {
        let mut connection = open(1, STILL);
        connection.write(at(2), End::Client, b"last").expect("it is open");
        connection.shut(at(2), End::Client);
        assert_eq!(connection.write(at(2), End::Client, b"x"), Err(StreamError::Shut));
        assert_eq!(connection.read(at(2), End::Server, 9, |_| {}), Ok(Reading::Nothing));
        assert_eq!(connection.read(at(3), End::Server, 9, |_| {}), Ok(Reading::Bytes(4)));
        assert_eq!(connection.read(at(3), End::Server, 9, |_| {}), Ok(Reading::End));
        assert_eq!(connection.write(at(3), End::Server, b"answer"), Ok(6));
        assert_eq!(read(&mut connection, at(4), End::Client), b"answer");
    }

    #[test]
    fn a_reset_loses_what_is_not_read_and_both_ends_are_told() {
        let mut connection = open(1, STILL);
        connection.write(at(2), End::Client, b"lost").expect("it is open");
        connection.reset();
        connection.reset();
        assert_eq!(connection.read(at(3), End::Server, 9, |_| {}), Err(StreamError::Reset));
        assert_eq!(connection.write(at(3), End::Client, b"x"), Err(StreamError::Reset));
        assert_eq!((connection.lost(End::Client), connection.lost(End::Server)), (4, 0));
    }

    #[test]
    fn a_stall_holds_back_what_is_under_way_and_what_follows_in_order() {
        let mut connection = open(1, STILL);
        connection.write(at(2), End::Server, b"one ").expect("it is open");
        connection.stall(at(2), End::Server, STEP * 5);
        connection.write(at(3), End::Server, b"two").expect("it is open");
        assert_eq!(read(&mut connection, at(6), End::Client), b"");
        assert_eq!(read(&mut connection, at(7), End::Client), b"one two");
    }

    #[test]
    fn corruption_flips_one_bit_of_a_chunk() {
        let faults = StreamFaults { chunk_max: 1, corruption: Chance::ALWAYS, ..STILL };
        let mut connection = open(1, faults);
        connection.write(at(2), End::Client, &[0; 50]).expect("it is open");
        let arrived = read(&mut connection, at(3), End::Server);
        assert!(arrived.len() == 50 && arrived.iter().all(|byte| byte.count_ones() == 1));
    }
}
