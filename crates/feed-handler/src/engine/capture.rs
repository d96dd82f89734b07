//! An engine that reads captures.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};

use hairpin_endpoint::Timestamp;
use hairpin_endpoint::capture::{CapturedDatagram, Datagrams, Speed};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::{Arrival, EngineError, FeedEngine, LineAddress, LineId};

/// The number of packets delivered per call.
const BUDGET: usize = 1_024;
/// The longest sleep per wait, so that a stop request takes effect in time.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// A UDP datagram in a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedPacket<'a> {
    /// The destination group and port.
    pub destination: SocketAddrV4,
    /// The sender's address and port.
    pub source: SocketAddrV4,
    /// The capture timestamp.
    pub timestamp: Utc,
    /// The UDP payload.
    pub payload: &'a [u8],
}

/// A reader of captured datagrams in sequence.
pub trait CaptureSource {
    /// Advances to the next datagram. Returns `false` at the end of the capture, and after that.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is truncated. The engine reads no further datagram.
    fn advance(&mut self) -> io::Result<bool>;

    /// Returns the current datagram. Called only after [`CaptureSource::advance`] returned `true`.
    fn current(&self) -> CapturedPacket<'_>;
}

/// Reads pcap and pcapng files. IPv6 datagrams are skipped, because lines are IPv4. A datagram
/// without a timestamp gets 1970, which the engine raises to the time of the datagram before it.
impl<R: io::Read> CaptureSource for Datagrams<R> {
    fn advance(&mut self) -> io::Result<bool> {
        while Datagrams::advance(self)? {
            if self.current().is_some_and(|datagram| ipv4(&datagram).is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[inline]
    fn current(&self) -> CapturedPacket<'_> {
        let datagram = Datagrams::current(self).and_then(|datagram| ipv4(&datagram));
        datagram.expect("advance stopped at an IPv4 datagram")
    }
}

/// Returns the datagram, or `None` if it is not IPv4.
#[inline]
fn ipv4<'a>(datagram: &CapturedDatagram<'a>) -> Option<CapturedPacket<'a>> {
    let CapturedDatagram { source, destination, time, bytes, .. } = *datagram;
    let (SocketAddr::V4(source), SocketAddr::V4(destination)) = (source, destination) else {
        return None;
    };
    let timestamp = time.map_or(Utc::EPOCH, |time| time.utc);
    Some(CapturedPacket { destination, source, timestamp, payload: bytes })
}

/// An engine that replays a capture. Each open line receives the packets sent to its group and
/// port.
///
/// A line's senders and interface are ignored: the capture contains what a host received. The time
/// is the capture's ([`FeedEngine::now`]), so gaps and silence are judged as when it was recorded,
/// independent of the replay speed. A timestamp earlier than the one before it is raised to that
/// one.
#[derive(Debug)]
pub struct CaptureEngine<R> {
    reader: R,
    speed: Speed,
    opened: usize,
    by_group: HashMap<SocketAddrV4, Vec<LineId>>,
    state: State,
    /// The time base: set by the first packet.
    start: Option<Start>,
    /// The capture time of the last delivered packet.
    latest: Utc,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    captured: Utc,
    started: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No datagram is buffered; the source may have more.
    Empty,
    /// The source has a datagram that is not delivered yet.
    Ready,
    Finished,
}

impl<R: CaptureSource> CaptureEngine<R> {
    /// Creates an engine that has not read any datagram.
    #[must_use]
    pub fn new(reader: R, speed: Speed) -> Self {
        Self {
            reader,
            speed,
            opened: 0,
            by_group: HashMap::new(),
            state: State::Empty,
            start: None,
            latest: Utc::EPOCH,
        }
    }

    /// Returns the capture reader.
    #[must_use]
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Makes a datagram available. Returns `false` at the end of the capture.
    fn fill(&mut self) -> io::Result<bool> {
        if self.state == State::Empty {
            // An error ends the capture too.
            self.state = State::Finished;
            if self.reader.advance()? {
                self.state = State::Ready;
            }
        }
        Ok(self.state == State::Ready)
    }

    /// Returns the replay time of the current datagram, on the clock of the loop.
    fn due(&self, start: Start) -> Instant {
        let captured = self.reader.current().timestamp.saturating_since(start.captured);
        start.started + self.scale(captured)
    }

    /// Converts a span of capture time to replay time.
    fn scale(&self, span: Duration) -> Duration {
        match self.speed {
            Speed::FlatOut => Duration::ZERO,
            Speed::Times(times) => Duration::from_nanos((span.as_nanos() as f64 / times) as u64),
        }
    }

    /// Returns the capture time at `now` on the clock of the loop.
    fn capture_time(&self, start: Start, now: Instant) -> Utc {
        match self.speed {
            Speed::FlatOut => self.latest,
            Speed::Times(times) => {
                let span = (now - start.started).as_nanos() as f64 * times;
                start.captured + Duration::from_nanos(span as u64)
            }
        }
    }

    /// Returns both clocks at a capture time.
    fn now_at(&self, start: Start, utc: Utc) -> Now {
        let utc = utc.max(self.latest);
        Now { monotonic: start.started + utc.saturating_since(start.captured), utc }
    }
}

impl<R: CaptureSource> FeedEngine for CaptureEngine<R> {
    const HAS_OWN_CLOCK: bool = true;

    fn close(&mut self) -> io::Result<()> {
        self.opened = 0;
        self.by_group.clear();
        Ok(())
    }

    fn open(&mut self, address: &LineAddress) -> io::Result<LineId> {
        let line = LineId::new(self.opened);
        self.opened += 1;
        self.by_group.entry(address.group).or_default().push(line);
        Ok(line)
    }

    fn join(&mut self, _: LineId) -> io::Result<()> {
        Ok(())
    }

    fn leave(&mut self, _: LineId) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<()> {
        let Some(start) = self.start.filter(|_| self.speed != Speed::FlatOut) else {
            return Ok(());
        };
        // Deadlines of handlers are in capture time.
        let deadline =
            deadline.map(|deadline| start.started + self.scale(deadline - start.started));
        let due = (self.state == State::Ready).then(|| self.due(start));
        let until = due.into_iter().chain(deadline).min().unwrap_or(now);
        if until > now {
            std::thread::sleep((until - now).min(SLEEP_MAX).into());
        }
        Ok(())
    }

    fn receive(
        &mut self,
        now: Now,
        on: &mut impl FnMut(Now, Arrival<'_>),
    ) -> Result<(), EngineError> {
        for _ in 0..BUDGET {
            if !self.fill()? {
                break;
            }
            let captured = self.reader.current().timestamp;
            let first = Start { captured, started: now.monotonic };
            let start = *self.start.get_or_insert(first);
            if self.speed != Speed::FlatOut && self.due(start) > now.monotonic {
                break;
            }
            let at = self.now_at(start, captured);
            self.latest = at.utc;
            let CapturedPacket { destination, source, timestamp, payload } = self.reader.current();
            for &line in self.by_group.get(&destination).into_iter().flatten() {
                let timestamp = Timestamp::Software(timestamp);
                on(at, Arrival { line, source, timestamp, bytes: payload });
            }
            self.state = State::Empty;
        }
        Ok(())
    }

    fn now(&self, now: Now) -> Now {
        self.start.map_or(now, |start| self.now_at(start, self.capture_time(start, now.monotonic)))
    }

    fn next_deadline(&self) -> Option<Instant> {
        // A buffered datagram has a due time. Without one, read the capture at once.
        (self.state == State::Empty).then_some(Instant::ZERO)
    }

    fn is_finished(&self) -> bool {
        self.state == State::Finished
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hairpin_endpoint::Transport;

    use super::*;

    const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(224, 0, 31, 1), 14_310);
    const OTHER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(224, 0, 31, 2), 14_310);
    const START: Utc = Utc::from_nanos(1_767_225_600_000_000_000);

    /// Packets as (group, milliseconds after the start, payload), then an optional error.
    struct Script {
        packets: Vec<(SocketAddrV4, u64, u8)>,
        next: usize,
        fails_at_end: bool,
    }

    impl CaptureSource for Script {
        fn advance(&mut self) -> io::Result<bool> {
            self.next += 1;
            match (self.next <= self.packets.len(), self.fails_at_end) {
                (true, _) => Ok(true),
                (false, false) => Ok(false),
                (false, true) => Err(io::Error::other("cut short")),
            }
        }
        fn current(&self) -> CapturedPacket<'_> {
            let (destination, millis, payload) = &self.packets[self.next - 1];
            CapturedPacket {
                destination: *destination,
                source: GROUP,
                timestamp: START + Duration::from_millis(*millis),
                payload: std::slice::from_ref(payload),
            }
        }
    }

    fn engine(speed: Speed, packets: &[(SocketAddrV4, u64, u8)]) -> CaptureEngine<Script> {
        let script = Script { packets: packets.to_vec(), next: 0, fails_at_end: false };
        let mut engine = CaptureEngine::new(script, speed);
        let interface = Ipv4Addr::UNSPECIFIED;
        let address = LineAddress {
            group: GROUP,
            interface,
            sources: Vec::new(),
            transport: Transport::Kernel,
        };
        assert_eq!(engine.open(&address).unwrap().as_usize(), 0);
        engine
    }

    fn now(millis: u64) -> Now {
        let span = Duration::from_millis(millis);
        Now { monotonic: Instant::ZERO + span, utc: Utc::EPOCH + span }
    }

    /// Returns the payloads delivered by then, each with its capture time in milliseconds.
    fn received(engine: &mut CaptureEngine<Script>, millis: u64) -> Vec<(u8, u64)> {
        let mut received = Vec::new();
        let mut on = |at: Now, arrival: Arrival<'_>| {
            let millis = at.utc.saturating_since(START).as_nanos() / 1_000_000;
            received.push((arrival.bytes[0], millis));
        };
        engine.receive(now(millis), &mut on).unwrap();
        received
    }

    #[test]
    fn line_delivers_packets_of_its_group() {
        let mut engine = engine(Speed::FlatOut, &[(GROUP, 0, 1), (OTHER, 1, 2), (GROUP, 9, 3)]);
        assert_eq!(received(&mut engine, 100), [(1, 0), (3, 9)]);
        assert!(engine.is_finished());
        assert_eq!(received(&mut engine, 100), []);
    }

    #[test]
    fn time_is_capture_time_and_never_steps_back() {
        let mut engine = engine(Speed::FlatOut, &[(GROUP, 5, 1), (GROUP, 3, 2), (GROUP, 7, 3)]);
        assert_eq!(received(&mut engine, 100), [(1, 5), (2, 5), (3, 7)]);
        let at = engine.now(now(500));
        assert_eq!(at.utc, START + Duration::from_millis(7));
        assert_eq!(at.monotonic, now(102).monotonic);
    }

    #[test]
    fn replay_speed_scales_capture_time() {
        let packets = [(GROUP, 0, 1), (GROUP, 10, 2), (GROUP, 20, 3)];
        let mut recorded = engine(Speed::Times(1.0), &packets);
        assert_eq!(received(&mut recorded, 1_000), [(1, 0)]);
        assert_eq!(received(&mut recorded, 1_009), []);
        assert_eq!(recorded.now(now(1_009)).utc, START + Duration::from_millis(9));
        assert_eq!(received(&mut recorded, 1_010), [(2, 10)]);
        assert!(!recorded.is_finished());
        let mut scaled = engine(Speed::Times(10.0), &packets);
        assert_eq!(received(&mut scaled, 1_000), [(1, 0)]);
        assert_eq!(received(&mut scaled, 1_001), [(2, 10)]);
        assert_eq!(received(&mut scaled, 1_002), [(3, 20)]);
    }

    #[test]
    fn error_is_reported_once_after_all_complete_packets() {
        let mut engine = engine(Speed::FlatOut, &[(GROUP, 0, 1)]);
        engine.reader.fails_at_end = true;
        let mut count = 0;
        let mut on = |_: Now, _: Arrival<'_>| count += 1;
        let error = engine.receive(now(0), &mut on).unwrap_err();
        assert_eq!(error.to_string(), "cut short");
        engine.receive(now(1), &mut on).unwrap();
        assert_eq!((count, engine.is_finished()), (1, true));
    }
}
