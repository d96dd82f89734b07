//! Captures as an engine.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};

use hairpin_endpoint::Timestamp;
use hairpin_endpoint::capture::{CapturedDatagram, Datagrams, Speed};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::{Arrival, EngineError, FeedEngine, LineAddress, LineId};

/// Packets handed on by one call.
const BUDGET: usize = 1_024;
/// The longest sleep of one wait, so that whoever asks to stop is heard.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// A datagram of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured<'a> {
    /// Group and port it was sent to.
    pub destination: SocketAddrV4,
    /// Who sent it.
    pub source: SocketAddrV4,
    /// When it was captured.
    pub timestamp: Utc,
    /// The payload of the datagram.
    pub payload: &'a [u8],
}

/// Whatever reads datagrams from a capture, one after the other.
pub trait CaptureSource {
    /// Goes to the next datagram; false at the end, and from then on.
    ///
    /// # Errors
    /// Of the file: it cannot be read, it is damaged, it is cut short. No further datagram is asked
    /// for then.
    fn advance(&mut self) -> io::Result<bool>;

    /// The datagram that [`CaptureSource::advance`] has come to. Not asked for unless it returned
    /// true.
    fn current(&self) -> Captured<'_>;
}

/// Files of pcap and pcapng. Datagrams of IPv6 are passed over: no line is there. What has no time
/// counts as captured in 1970, which is as late as the datagram before.
impl<R: io::Read> CaptureSource for Datagrams<R> {
    fn advance(&mut self) -> io::Result<bool> {
        while Datagrams::advance(self)? {
            if self.current().is_some_and(|datagram| of_ipv4(&datagram).is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[inline]
    fn current(&self) -> Captured<'_> {
        let datagram = Datagrams::current(self).and_then(|datagram| of_ipv4(&datagram));
        datagram.expect("one of IPv4 is there, since advance has said so")
    }
}

/// The datagram, if it is of IPv4.
#[inline]
fn of_ipv4<'a>(datagram: &CapturedDatagram<'a>) -> Option<Captured<'a>> {
    let CapturedDatagram { source, destination, time, bytes, .. } = *datagram;
    let (SocketAddr::V4(source), SocketAddr::V4(destination)) = (source, destination) else {
        return None;
    };
    let timestamp = time.map_or(Utc::EPOCH, |time| time.utc);
    Some(Captured { destination, source, timestamp, payload: bytes })
}

/// A capture: every line that is opened brings what was sent to its group and port.
///
/// Senders and interface of a line are not asked for, since a capture holds what somebody received
/// already. The time is that of the capture ([`FeedEngine::now`]): holes and silence are judged as
/// they would have been then, whatever the speed. A time stamp before that of the packet before
/// counts as that one.
#[derive(Debug)]
pub struct CaptureEngine<R> {
    reader: R,
    speed: Speed,
    opened: usize,
    by_group: HashMap<SocketAddrV4, Vec<LineId>>,
    state: State,
    /// The times of the first packet: in the capture, and when it was handed on.
    start: Option<Start>,
    /// The capture's time of the last packet handed on.
    reached: Utc,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    captured: Utc,
    begun: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The reader has to be asked.
    Between,
    /// The reader has a datagram that is not handed on yet.
    Holding,
    Over,
}

impl<R: CaptureSource> CaptureEngine<R> {
    /// An engine that has read nothing yet.
    #[must_use]
    pub fn new(reader: R, speed: Speed) -> Self {
        Self {
            reader,
            speed,
            opened: 0,
            by_group: HashMap::new(),
            state: State::Between,
            start: None,
            reached: Utc::EPOCH,
        }
    }

    /// The reader.
    #[must_use]
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Has a datagram at hand, unless there is none any more.
    fn hold(&mut self) -> io::Result<bool> {
        if self.state == State::Between {
            // An error is the end too.
            self.state = State::Over;
            if self.reader.advance()? {
                self.state = State::Holding;
            }
        }
        Ok(self.state == State::Holding)
    }

    /// When the datagram at hand is due, by the clock of the loop.
    fn due(&self, start: Start) -> Instant {
        let captured = self.reader.current().timestamp.saturating_since(start.captured);
        start.begun + self.shrink(captured)
    }

    /// So long does it take for a span of the capture to go by.
    fn shrink(&self, span: Duration) -> Duration {
        match self.speed {
            Speed::FlatOut => Duration::ZERO,
            Speed::Times(times) => Duration::from_nanos((span.as_nanos() as f64 / times) as u64),
        }
    }

    /// The capture's time, told by the loop's.
    fn elapsed(&self, start: Start, now: Instant) -> Utc {
        match self.speed {
            Speed::FlatOut => self.reached,
            Speed::Times(times) => {
                let span = (now - start.begun).as_nanos() as f64 * times;
                start.captured + Duration::from_nanos(span as u64)
            }
        }
    }

    /// Both clocks at a time of the capture.
    fn at(&self, start: Start, utc: Utc) -> Now {
        let utc = utc.max(self.reached);
        Now { monotonic: start.begun + utc.saturating_since(start.captured), utc }
    }
}

impl<R: CaptureSource> FeedEngine for CaptureEngine<R> {
    const HAS_OWN_TIME: bool = true;

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
        // Deadlines of handlers are times of the capture.
        let deadline = deadline.map(|deadline| start.begun + self.shrink(deadline - start.begun));
        let due = (self.state == State::Holding).then(|| self.due(start));
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
            if !self.hold()? {
                break;
            }
            let captured = self.reader.current().timestamp;
            let first = Start { captured, begun: now.monotonic };
            let start = *self.start.get_or_insert(first);
            if self.speed != Speed::FlatOut && self.due(start) > now.monotonic {
                break;
            }
            let at = self.at(start, captured);
            self.reached = at.utc;
            let Captured { destination, source, timestamp, payload } = self.reader.current();
            for &line in self.by_group.get(&destination).into_iter().flatten() {
                let timestamp = Timestamp::Software(timestamp);
                on(at, Arrival { line, source, timestamp, bytes: payload });
            }
            self.state = State::Between;
        }
        Ok(())
    }

    fn now(&self, now: Now) -> Now {
        self.start.map_or(now, |start| self.at(start, self.elapsed(start, now.monotonic)))
    }

    fn next_deadline(&self) -> Option<Instant> {
        // What is at hand is waited for; to ask for more is always due.
        (self.state == State::Between).then_some(Instant::ZERO)
    }

    fn is_over(&self) -> bool {
        self.state == State::Over
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

    /// Group, milliseconds after the start, payload; then perhaps an error.
    struct Script {
        packets: Vec<(SocketAddrV4, u64, u8)>,
        next: usize,
        ends_well: bool,
    }

    impl CaptureSource for Script {
        fn advance(&mut self) -> io::Result<bool> {
            self.next += 1;
            match (self.next <= self.packets.len(), self.ends_well) {
                (true, _) => Ok(true),
                (false, true) => Ok(false),
                (false, false) => Err(io::Error::other("cut short")),
            }
        }
        fn current(&self) -> Captured<'_> {
            let (destination, millis, payload) = &self.packets[self.next - 1];
            Captured {
                destination: *destination,
                source: GROUP,
                timestamp: START + Duration::from_millis(*millis),
                payload: std::slice::from_ref(payload),
            }
        }
    }

    fn engine(speed: Speed, packets: &[(SocketAddrV4, u64, u8)]) -> CaptureEngine<Script> {
        let script = Script { packets: packets.to_vec(), next: 0, ends_well: true };
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

    /// What comes by then: payloads and milliseconds of the capture's time.
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
    fn a_line_brings_what_was_sent_to_its_group() {
        let mut engine = engine(Speed::FlatOut, &[(GROUP, 0, 1), (OTHER, 1, 2), (GROUP, 9, 3)]);
        assert_eq!(received(&mut engine, 100), [(1, 0), (3, 9)]);
        assert!(engine.is_over());
        assert_eq!(received(&mut engine, 100), []);
    }

    #[test]
    fn time_is_the_captures_and_never_steps_back() {
        let mut engine = engine(Speed::FlatOut, &[(GROUP, 5, 1), (GROUP, 3, 2), (GROUP, 7, 3)]);
        assert_eq!(received(&mut engine, 100), [(1, 5), (2, 5), (3, 7)]);
        let at = engine.now(now(500));
        assert_eq!(at.utc, START + Duration::from_millis(7));
        assert_eq!(at.monotonic, now(102).monotonic);
    }

    #[test]
    fn a_capture_goes_by_as_fast_as_it_was_recorded_or_so_many_times() {
        let packets = [(GROUP, 0, 1), (GROUP, 10, 2), (GROUP, 20, 3)];
        let mut recorded = engine(Speed::Times(1.0), &packets);
        assert_eq!(received(&mut recorded, 1_000), [(1, 0)]);
        assert_eq!(received(&mut recorded, 1_009), []);
        assert_eq!(recorded.now(now(1_009)).utc, START + Duration::from_millis(9));
        assert_eq!(received(&mut recorded, 1_010), [(2, 10)]);
        assert!(!recorded.is_over());
        let mut scaled = engine(Speed::Times(10.0), &packets);
        assert_eq!(received(&mut scaled, 1_000), [(1, 0)]);
        assert_eq!(received(&mut scaled, 1_001), [(2, 10)]);
        assert_eq!(received(&mut scaled, 1_002), [(3, 20)]);
    }

    #[test]
    fn an_error_is_told_once_behind_all_whole_packets() {
        let mut engine = engine(Speed::FlatOut, &[(GROUP, 0, 1)]);
        engine.reader.ends_well = false;
        let mut count = 0;
        let mut on = |_: Now, _: Arrival<'_>| count += 1;
        let error = engine.receive(now(0), &mut on).unwrap_err();
        assert_eq!(error.to_string(), "cut short");
        engine.receive(now(1), &mut on).unwrap();
        assert_eq!((count, engine.is_over()), (1, true));
    }
}
