//! The schedule and the outcomes of pings, without clock and socket.

use hairpin_cli_harness::answer_timeout::answer_timeout;
use hairpin_measure::{Answer, Outstanding, Recorder, Row, Schedule, Sent, Setting};
use hairpin_time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// The time from the end of the warm-up to the first scheduled ping.
const START_DELAY: Duration = Duration::from_millis(1);
/// The largest number of pings outstanding or remembered.
const WAITING_MAX: u64 = 1 << 20;
/// The number of lost pings, from the first on, after which there is no pong.
const SILENCE: u64 = 3;
/// The time without a due event that is enough for housekeeping.
const QUIET: Duration = Duration::from_micros(50);

/// The spacing and number of the pings of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// The interval between intended send times, in nanoseconds. Zero is a closed loop: a ping is
    /// sent when the previous one is answered or lost.
    pub(crate) interval_ns: u64,
    /// The pings before recording starts, always in a closed loop.
    pub(crate) warm_up: u64,
    /// The pings recorded.
    pub(crate) samples: u64,
    /// The connections that pings are distributed over, at least one.
    pub(crate) connections: usize,
}

/// The outcomes of the recorded pings.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PingCounts {
    /// Pings sent.
    pub(crate) sent: u64,
    /// Pings answered in time.
    pub(crate) answered: u64,
    /// Pings not answered in time.
    pub(crate) lost: u64,
    /// Answers to pings that were counted as lost.
    pub(crate) late: u64,
    /// Answers to pings that were already answered.
    pub(crate) duplicated: u64,
    /// Answers in time that arrived after the answer to a later ping of their connection.
    pub(crate) out_of_order: u64,
    /// Answers to no ping of this run, or of a wrong length.
    pub(crate) unexpected: u64,
}

impl PingCounts {
    /// Returns every count with its name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let Self { sent, answered, lost, late, duplicated, out_of_order, unexpected } = *self;
        [
            ("sent", sent),
            ("answered", answered),
            ("lost", lost),
            ("late", late),
            ("duplicated", duplicated),
            ("out_of_order", out_of_order),
            ("unexpected", unexpected),
        ]
        .into_iter()
    }
}

/// A ping that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DuePing {
    pub(crate) sequence: u64,
    pub(crate) connection: usize,
}

/// A round of pings.
pub(crate) struct PingLoop {
    load: Load,
    /// The time without an answer after which a ping is lost.
    timeout: Duration,
    /// The first sequence that is not sent.
    end: u64,
    schedule: Option<Schedule>,
    outstanding: Outstanding,
    /// The sequence after the highest answered one, of each connection.
    expected: Box<[u64]>,
    /// Pings lost before any was answered.
    silence: Option<u64>,
    from_intended: Recorder,
    from_sent: Recorder,
    lateness: Recorder,
    counts: PingCounts,
}

impl PingLoop {
    /// Returns a round that starts with the first [`PingLoop::depart`].
    pub(crate) fn new(load: Load) -> Self {
        let samples = usize::try_from(load.samples).unwrap_or(usize::MAX);
        let is_open = load.interval_ns > 0;
        let timeout = answer_timeout();
        Self {
            load,
            timeout,
            end: load.warm_up + load.samples,
            schedule: None,
            outstanding: Outstanding::new(waiting_max(load.interval_ns, timeout)),
            expected: (0..load.connections as u64).collect(),
            silence: Some(0),
            from_intended: Recorder::with_capacity(samples),
            from_sent: Recorder::with_capacity(if is_open { samples } else { 0 }),
            lateness: Recorder::with_capacity(if is_open { samples } else { 0 }),
            counts: PingCounts::default(),
        }
    }

    /// Returns the next ping if one is due at `now`; at most one per call.
    #[inline]
    pub(crate) fn depart(&mut self, now: Instant) -> Option<DuePing> {
        let next = self.outstanding.next();
        if next == self.end {
            return None;
        }
        let intended = self.due(next, now)?;
        let (sequence, displaced) = self.outstanding.depart(intended, now);
        if let Some(ping) = displaced {
            self.lose(ping);
        }
        if self.is_recorded(sequence) {
            self.counts.sent += 1;
            if self.schedule.is_some() {
                self.lateness.record(now - intended);
            }
        }
        let connection = (sequence % self.load.connections as u64) as usize;
        Some(DuePing { sequence, connection })
    }

    /// Returns the intended send time of ping number `next` if it is due.
    #[inline]
    fn due(&mut self, next: u64, now: Instant) -> Option<Instant> {
        if let Some(schedule) = &mut self.schedule {
            return schedule.depart(now).map(|departure| departure.intended);
        }
        if self.outstanding.waiting() > 0 {
            return None;
        }
        if self.load.interval_ns > 0 && next >= self.load.warm_up {
            let interval = Duration::from_nanos(self.load.interval_ns);
            self.schedule = Some(Schedule::new(now + START_DELAY, interval));
            return None;
        }
        Some(now)
    }

    /// Returns the most likely sequence of the next answer on this connection.
    #[inline]
    pub(crate) fn expected(&self, connection: usize) -> u64 {
        self.expected[connection]
    }

    /// Records an answer to `sequence`. Returns the ping if it was recorded.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        connection: usize,
        sequence: u64,
        received: Instant,
    ) -> Option<Sent> {
        let answer = self.outstanding.answer(sequence);
        // A loop too busy to check for lost pings finds them here.
        let answer = match answer {
            Answer::InTime(ping) if received.saturating_since(ping.left) > self.timeout => {
                self.lose(ping);
                Answer::Late
            }
            answer => answer,
        };
        let is_recorded = self.is_recorded(sequence);
        let once = u64::from(is_recorded);
        match answer {
            Answer::InTime(ping) => {
                self.silence = None;
                let expected = &mut self.expected[connection];
                let is_in_order = sequence >= *expected;
                *expected = (*expected).max(sequence + self.load.connections as u64);
                if is_recorded {
                    self.counts.answered += 1;
                    self.counts.out_of_order += u64::from(!is_in_order);
                    self.record(ping, received);
                    return Some(ping);
                }
            }
            Answer::Late => self.counts.late += once,
            Answer::Duplicate => self.counts.duplicated += once,
            Answer::Unexpected => self.counts.unexpected += 1,
        }
        None
    }

    /// Counts an answer that belongs to no ping of this run.
    #[cold]
    pub(crate) fn answer_unexpected(&mut self) {
        self.counts.unexpected += 1;
    }

    #[inline]
    fn record(&mut self, ping: Sent, received: Instant) {
        self.from_intended.record(received - ping.intended);
        if self.schedule.is_some() {
            self.from_sent.record(received - ping.left);
        }
    }

    /// Counts the pings that have waited too long as lost.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        while let Some(ping) = self.outstanding.expire(now, self.timeout) {
            self.lose(ping);
        }
    }

    #[cold]
    fn lose(&mut self, ping: Sent) {
        self.counts.lost += u64::from(self.is_recorded(ping.sequence));
        if let Some(silence) = &mut self.silence {
            *silence += 1;
        }
    }

    /// Returns the time of the next work if nothing arrives: a ping to send, or one to count as
    /// lost.
    #[inline]
    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        let has_more = self.outstanding.next() < self.end;
        let departure = self.schedule.as_ref().filter(|_| has_more).map(Schedule::next_departure);
        // One nanosecond later the ping has waited *longer* than the timeout.
        let lapse = self.timeout + Duration::from_nanos(1);
        let expiry = self.outstanding.oldest().map(|ping| ping.left + lapse);
        match (departure, expiry) {
            (Some(departure), Some(expiry)) => Some(departure.min(expiry)),
            (departure, expiry) => departure.or(expiry),
        }
    }

    /// Returns `true` if no ping is in flight and none is due soon.
    #[inline]
    pub(crate) fn is_quiet(&self, now: Instant) -> bool {
        let is_far = |schedule: &Schedule| schedule.next_departure() > now + QUIET;
        self.outstanding.waiting() == 0 && self.schedule.as_ref().is_none_or(is_far)
    }

    /// Returns `true` if several pings were sent and none was ever answered.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.silence.is_some_and(|lost| lost >= SILENCE)
    }

    /// Sends no further ping; pings in flight may still be answered.
    pub(crate) fn stop(&mut self) {
        self.end = self.outstanding.next();
    }

    /// Returns `true` if every ping was sent and is answered or lost.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.outstanding.next() == self.end && self.outstanding.waiting() == 0
    }

    /// Returns the number of pings that wait for their answer.
    pub(crate) fn waiting(&self) -> u64 {
        self.outstanding.waiting()
    }

    /// Returns the number of recorded pings sent.
    pub(crate) fn sent(&self) -> u64 {
        self.counts.sent
    }

    /// Returns the counts of the recorded pings.
    pub(crate) fn counts(&self) -> PingCounts {
        self.counts
    }

    /// Returns the rows: latency from the intended send time and, for an open loop, from the actual
    /// one.
    pub(crate) fn rows(&self, [intended, sent]: [Setting; 2]) -> Vec<Row> {
        let row = |setting, latency| Row {
            lost: self.counts.lost,
            late_orders: self.counts.late,
            ..Row::new(setting, latency, &self.lateness)
        };
        let from_intended = row(intended, &self.from_intended);
        let from_sent = (self.load.interval_ns > 0).then(|| row(sent, &self.from_sent));
        std::iter::once(from_intended).chain(from_sent).collect()
    }

    #[inline]
    fn is_recorded(&self, sequence: u64) -> bool {
        sequence >= self.load.warm_up
    }
}

/// Returns the capacity for the pings of twice the timeout. A closed loop has one ping in flight
/// and remembers some to detect late answers.
fn waiting_max(interval_ns: u64, timeout: Duration) -> usize {
    let open = (2 * timeout.as_nanos()).checked_div(interval_ns).unwrap_or(0);
    open.clamp(4_096, WAITING_MAX) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARM_UP: u64 = 2;
    const INTERVAL: Duration = Duration::from_micros(100);

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    fn load(interval: Duration, connections: usize) -> Load {
        let interval_ns = interval.as_nanos();
        Load { interval_ns, warm_up: WARM_UP, samples: 4, connections }
    }

    /// Returns a loop whose warm-up ends at `us`.
    fn warm(load: Load, us: u64) -> PingLoop {
        let mut ping_loop = PingLoop::new(load);
        for sequence in 0..WARM_UP {
            let departure = ping_loop.depart(at(us)).unwrap();
            assert_eq!(departure.sequence, sequence);
            assert_eq!(ping_loop.depart(at(us)), None, "the warm-up is a closed loop");
            assert_eq!(ping_loop.answer(departure.connection, sequence, at(us)), None);
        }
        ping_loop
    }

    #[test]
    fn closed_loop_sends_after_answer() {
        let mut ping_loop = warm(load(Duration::ZERO, 1), 0);
        for sequence in WARM_UP..WARM_UP + 4 {
            let sent = at(sequence * 50);
            assert_eq!(ping_loop.depart(sent).unwrap().sequence, sequence);
            assert_eq!(ping_loop.depart(sent), None);
            ping_loop.answer(0, sequence, sent + Duration::from_micros(7));
        }
        assert_eq!(ping_loop.depart(at(9_000)), None);
        assert!(ping_loop.is_over());
        assert_eq!(ping_loop.from_intended.samples(), [7_000; 4]);
        assert_eq!(
            ping_loop.counts(),
            PingCounts { sent: 4, answered: 4, ..PingCounts::default() }
        );
    }

    #[test]
    fn open_loop_sends_on_schedule() {
        let mut ping_loop = warm(load(INTERVAL, 1), 0);
        assert_eq!(ping_loop.depart(at(0)), None);
        assert_eq!(ping_loop.poll_timeout(), Some(at(1_000)), "after the lead");
        for index in 0..4 {
            let due = at(1_000 + 100 * index);
            assert_eq!(ping_loop.depart(due - Duration::from_nanos(1)), None);
            assert_eq!(ping_loop.depart(due).unwrap().sequence, WARM_UP + index);
        }
        assert_eq!(ping_loop.depart(at(99_000)), None, "there are no more");
        for index in 0..4 {
            ping_loop.answer(0, WARM_UP + index, at(1_400));
        }
        assert_eq!(ping_loop.from_intended.samples(), [400_000, 300_000, 200_000, 100_000]);
        assert!(ping_loop.is_over());
    }

    #[test]
    fn measures_from_intended_and_actual_time() {
        let mut ping_loop = warm(load(INTERVAL, 1), 0);
        ping_loop.depart(at(0));
        ping_loop.depart(at(1_030));
        ping_loop.answer(0, WARM_UP, at(1_050));
        assert_eq!(ping_loop.from_intended.samples(), [50_000]);
        assert_eq!(ping_loop.from_sent.samples(), [20_000]);
        assert_eq!(ping_loop.lateness.samples(), [30_000]);
    }

    #[test]
    fn lost_late_duplicated_and_out_of_order_are_counted_apart() {
        let mut ping_loop = warm(load(INTERVAL, 1), 0);
        ping_loop.depart(at(0));
        for index in 0..4 {
            ping_loop.depart(at(1_000 + 100 * index)).unwrap();
        }
        let answered = at(1_400);
        ping_loop.answer(0, WARM_UP + 1, answered);
        ping_loop.answer(0, WARM_UP, answered);
        ping_loop.answer(0, WARM_UP, answered);
        assert_eq!(ping_loop.poll_timeout(), Some(at(1_001_200) + Duration::from_nanos(1)));
        ping_loop.handle_timeout(at(1_001_200));
        assert_eq!(ping_loop.counts().lost, 0, "not longer than its timeout");
        ping_loop.handle_timeout(at(1_001_300));
        ping_loop.answer(0, WARM_UP + 2, at(1_001_300));
        ping_loop.answer(0, 77, at(1_001_300));
        ping_loop.answer_unexpected();
        let expected = PingCounts {
            sent: 4,
            answered: 2,
            lost: 1,
            late: 1,
            duplicated: 1,
            out_of_order: 1,
            unexpected: 2,
        };
        assert_eq!(ping_loop.counts(), expected);
        assert!(!ping_loop.is_over(), "the last one may still be answered");
        ping_loop.handle_timeout(at(2_000_000));
        assert!(ping_loop.is_over());
        assert_eq!(ping_loop.counts().lost, 2);
    }

    #[test]
    fn counts_late_answer_as_lost_and_late() {
        let mut ping_loop = warm(load(Duration::ZERO, 1), 0);
        ping_loop.depart(at(0));
        assert_eq!(ping_loop.answer(0, WARM_UP, at(1_000_001)), None);
        let PingCounts { answered, lost, late, .. } = ping_loop.counts();
        assert_eq!((answered, lost, late), (0, 1, 1));
    }

    #[test]
    fn closed_loop_continues_after_loss() {
        let mut ping_loop = warm(load(Duration::ZERO, 1), 0);
        ping_loop.depart(at(0));
        ping_loop.handle_timeout(at(1_000_001));
        assert_eq!(ping_loop.depart(at(1_000_002)).unwrap().sequence, WARM_UP + 1);
        assert!(!ping_loop.is_unanswered(), "the warm-up was answered");
    }

    #[test]
    fn nobody_is_there_if_the_first_three_are_lost() {
        let mut ping_loop = PingLoop::new(Load { warm_up: 4, ..load(INTERVAL, 1) });
        for second in 1..=3 {
            assert!(!ping_loop.is_unanswered());
            ping_loop.depart(at((second - 1) * 1_000_002));
            ping_loop.handle_timeout(at(second * 1_000_002));
        }
        assert!(ping_loop.is_unanswered());
        assert_eq!(ping_loop.counts(), PingCounts::default(), "the warm-up counts for nothing");
    }

    #[test]
    fn connections_take_turns_and_each_has_its_order() {
        let mut ping_loop = warm(load(INTERVAL, 2), 0);
        ping_loop.depart(at(0));
        let connections: Vec<_> = (0..4)
            .map(|index| ping_loop.depart(at(1_000 + 100 * index)).unwrap().connection)
            .collect();
        assert_eq!(connections, [0, 1, 0, 1]);
        ping_loop.answer(1, WARM_UP + 3, at(1_400));
        ping_loop.answer(0, WARM_UP, at(1_400));
        assert_eq!(ping_loop.counts().out_of_order, 0, "they are of two connections");
        assert_eq!((ping_loop.expected(0), ping_loop.expected(1)), (WARM_UP + 2, WARM_UP + 5));
        ping_loop.answer(1, WARM_UP + 1, at(1_400));
        assert_eq!(ping_loop.counts().out_of_order, 1);
    }

    #[test]
    fn stops_after_pings_in_flight() {
        let mut ping_loop = warm(load(INTERVAL, 1), 0);
        ping_loop.depart(at(0));
        ping_loop.depart(at(1_000));
        ping_loop.stop();
        assert_eq!(ping_loop.depart(at(5_000)), None);
        assert!(!ping_loop.is_over());
        ping_loop.answer(0, WARM_UP, at(5_000));
        assert!(ping_loop.is_over());
    }
}
