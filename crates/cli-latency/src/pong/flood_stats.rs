//! The counts of a flood at its pong.

use hairpin_measure::{Recorder, Row, Setting};
use hairpin_time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// The smallest number of messages in a window, as a `batch` row requires.
const WINDOW_MESSAGES: u64 = 64;
/// The shortest window: a thousand clock readings per second cost nothing.
const WINDOW: Duration = Duration::from_millis(1);
/// The largest number of windows recorded: those of some minutes.
const WINDOWS_MAX: usize = 1 << 18;
const SECOND: Duration = Duration::from_secs(1);

/// The messages that were received.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FloodReceived {
    /// The number of messages.
    pub(crate) messages: u64,
    /// The time from the first to the last message, in nanoseconds.
    pub(crate) nanos: u64,
    /// The messages in each second; the last second is partial.
    pub(crate) by_second: Vec<u64>,
    /// The nanoseconds per message of each window.
    pub(crate) per_message: Vec<u64>,
    /// The highest sequence received plus one, so that at least as many were sent. Zero if messages
    /// are not inspected (TCP).
    pub(crate) numbered: u64,
}

impl FloodReceived {
    /// Returns the row of a flood of `sent` messages; a sample is the time per message in one
    /// window.
    pub(crate) fn row(&self, setting: Setting, sent: u64) -> Row {
        let mut samples = Recorder::with_capacity(self.per_message.len());
        self.per_message.iter().for_each(|&nanos| samples.record(Duration::from_nanos(nanos)));
        let lost = sent.saturating_sub(self.messages);
        Row { lost, ..Row::new(setting, &samples, &Recorder::with_capacity(0)) }
    }
}

/// Counts messages as they arrive.
#[derive(Debug, Default)]
pub(crate) struct FloodTally {
    received: FloodReceived,
    start: Option<Instant>,
    last: Instant,
    window_start: Instant,
    window_messages: u64,
    /// The messages of the earlier floods.
    before: u64,
}

impl FloodTally {
    /// Counts messages that have arrived by `now`.
    #[inline]
    pub(crate) fn count(&mut self, messages: u64, now: Instant) {
        let Some(start) = self.start else {
            self.start = Some(now);
            (self.last, self.window_start) = (now, now);
            self.received.messages += messages;
            self.received.by_second.push(messages);
            return;
        };
        let second = (now.saturating_since(start).as_nanos() / SECOND.as_nanos()) as usize;
        if self.received.by_second.len() <= second {
            self.received.by_second.resize(second + 1, 0);
        }
        self.received.by_second[second] += messages;
        self.received.messages += messages;
        self.last = now;
        self.window_messages += messages;
        if now.saturating_since(self.window_start) >= WINDOW {
            self.end_window(now);
        }
    }

    /// Records the sequence of a message.
    #[inline]
    pub(crate) fn number(&mut self, sequence: u64) {
        self.received.numbered = self.received.numbered.max(sequence + 1);
    }

    /// Returns the most likely sequence of the next message.
    #[inline]
    pub(crate) fn expected(&self) -> u64 {
        self.received.numbered
    }

    /// Returns the messages of all floods.
    pub(crate) fn messages(&self) -> u64 {
        self.before + self.received.messages
    }

    /// Returns `true` if messages have arrived, but none for `span` until `now`.
    pub(crate) fn is_silent(&self, now: Instant, span: Duration) -> bool {
        self.start.is_some() && now.saturating_since(self.last) > span
    }

    /// Returns the counts and starts again at zero.
    pub(crate) fn take(&mut self) -> FloodReceived {
        let anew = Self { before: self.messages(), ..Self::default() };
        let tally = std::mem::replace(self, anew);
        let nanos = tally.start.map_or(0, |start| tally.last.saturating_since(start).as_nanos());
        FloodReceived { nanos, ..tally.received }
    }

    fn end_window(&mut self, now: Instant) {
        if self.window_messages >= WINDOW_MESSAGES && self.received.per_message.len() < WINDOWS_MAX
        {
            let nanos = now.saturating_since(self.window_start).as_nanos();
            self.received.per_message.push(nanos / self.window_messages);
            (self.window_start, self.window_messages) = (now, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn window_has_minimum_messages_and_time() {
        let mut tally = FloodTally::default();
        tally.count(1, at(0));
        tally.count(60, at(1_500));
        tally.count(4, at(1_600));
        tally.count(640, at(1_700));
        tally.count(360, at(2_600));
        let received = tally.take();
        assert_eq!(received.per_message, [1_600_000 / 64, 1_000]);
        assert_eq!((received.messages, received.nanos), (1_065, 2_600_000));
    }

    #[test]
    fn counts_messages_of_each_second() {
        let mut tally = FloodTally::default();
        for (messages, ms) in [(3, 500), (4, 1_499), (5, 1_500), (6, 3_600)] {
            tally.count(messages, at(ms * 1_000));
        }
        assert_eq!(tally.take().by_second, [7, 5, 0, 6]);
    }

    #[test]
    fn silence_ends_what_has_begun_and_nothing_else() {
        let mut tally = FloodTally::default();
        assert!(!tally.is_silent(at(9_000_000), SECOND));
        tally.count(1, at(0));
        assert!(!tally.is_silent(at(1_000_000), SECOND));
        assert!(tally.is_silent(at(1_000_001), SECOND));
        tally.number(7);
        assert_eq!((tally.take().numbered, tally.expected()), (8, 0));
        assert!(!tally.is_silent(at(9_000_000), SECOND), "it has started again");
    }

    #[test]
    fn counts_missing_messages_as_lost() {
        use hairpin_measure::{Clock, Kind};
        let setting = Setting {
            bench: "ping".to_owned(),
            case: "flood".to_owned(),
            feed: None,
            transport: "kernel".to_owned(),
            wait: "spin".to_owned(),
            protocol: "udp".to_owned(),
            size_bytes: 14,
            interval_us: 0,
            kind: Kind::Batch,
            clock: Clock::Tsc,
            rounds: 1,
        };
        let received =
            FloodReceived { messages: 90, per_message: vec![500, 700], ..Default::default() };
        let row = received.row(setting, 100);
        assert_eq!((row.samples, row.lost, row.summary.max), (2, 10, Some(700)));
        assert_eq!(row.validate(), Ok(()));
    }
}
