//! Where the time of a ping goes: its way cut at the time stamps of its packets.
//!
//! ```text
//! app ──────> stamp ═══ there, the pong, and back ═══> stamp ──────> app
//!     "app to stamp"       "stamp to stamp"        "stamp to app"
//! ```

use hairpin_endpoint::{Timestamp, Transmitted};
use hairpin_measure::{Clock, Kind, Recorder, Row, Setting};
use hairpin_time::{Duration, Utc};
use serde::{Deserialize, Serialize};

use super::message::nearest;
use super::ping_loop::Load;

/// The number of pings remembered, because their timestamps may still arrive.
const REMEMBERED: u64 = 4_096;
/// The cases of the rows, in the order of the path.
const CASES: [&str; 3] = ["app to stamp", "stamp to stamp", "stamp to app"];

/// The timestamps of the recorded pings that were answered.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StampCounts {
    /// Pings with both timestamps.
    pub(crate) complete: u64,
    /// Pings without a transmit timestamp.
    pub(crate) no_transmit: u64,
    /// Pings without a receive timestamp of their answer.
    pub(crate) no_receive: u64,
    /// Pings whose timestamps cannot be compared: one of the kernel and one of the card, or in an
    /// impossible order.
    pub(crate) contradictory: u64,
}

/// The times of one ping.
#[derive(Debug, Clone, Copy)]
struct RoundTrip {
    sequence: u64,
    sent: Utc,
    transmit: Timestamp,
    /// The answer's timestamp and the time at which it was read.
    answer: Option<(Timestamp, Utc)>,
}

/// The breakdown of a round.
pub(crate) struct LatencyBreakdown {
    round_trips: Box<[Option<RoundTrip>]>,
    connections: u64,
    warm_up: u64,
    /// The length of a message if timestamps are identified by bytes, else 1.
    step: u64,
    /// The most likely identifier of the next timestamp of each connection.
    expected: Box<[u64]>,
    recorders: [Recorder; 3],
    clock: Clock,
    counts: StampCounts,
}

impl LatencyBreakdown {
    /// Returns the breakdown of pings of `size` bytes; on a stream, a timestamp is identified by
    /// its last byte.
    pub(crate) fn new(load: &Load, size: usize, is_stream: bool) -> Self {
        let samples = usize::try_from(load.samples).unwrap_or(usize::MAX);
        Self {
            round_trips: vec![None; REMEMBERED as usize].into_boxed_slice(),
            connections: load.connections as u64,
            warm_up: load.warm_up,
            step: if is_stream { size as u64 } else { 1 },
            expected: vec![0; load.connections].into_boxed_slice(),
            recorders: [0; 3].map(|_| Recorder::with_capacity(samples)),
            clock: Clock::SoftwareTimestamp,
            counts: StampCounts::default(),
        }
    }

    /// Records that a ping is about to be sent.
    pub(crate) fn sent(&mut self, sequence: u64, now: Utc) {
        let round_trip = RoundTrip { sequence, sent: now, transmit: Timestamp::None, answer: None };
        let displaced = self.slot(sequence).replace(round_trip);
        if let Some(displaced) = displaced {
            self.give_up(displaced);
        }
    }

    /// Records a transmit timestamp of the kernel or the card.
    pub(crate) fn stamped(
        &mut self,
        connection: usize,
        Transmitted { id, timestamp }: Transmitted,
    ) {
        let name = nearest(u64::from(id), 32, self.expected[connection]);
        self.expected[connection] = name + self.step;
        // If a message was sent in two writes, the last byte of the first write ends no message.
        if !(name + 1).is_multiple_of(self.step) {
            return;
        }
        let index = (name + 1) / self.step - 1;
        let sequence = index * self.connections + connection as u64;
        let Some(round_trip) =
            self.slot(sequence).as_mut().filter(|round_trip| round_trip.sequence == sequence)
        else {
            return;
        };
        // A retransmitted segment has a second timestamp.
        if round_trip.transmit == Timestamp::None {
            round_trip.transmit = timestamp;
        }
        if round_trip.answer.is_some() {
            self.settle(sequence);
        }
    }

    /// Records that the answer to a ping was read at `now`, with this timestamp.
    pub(crate) fn answered(&mut self, sequence: u64, timestamp: Timestamp, now: Utc) {
        let round_trip =
            self.slot(sequence).as_mut().filter(|round_trip| round_trip.sequence == sequence);
        let Some(round_trip) = round_trip else { return };
        round_trip.answer = Some((timestamp, now));
        if round_trip.transmit != Timestamp::None {
            self.settle(sequence);
        }
    }

    /// Returns the counts; timestamps that have not arrived by now count as missing.
    pub(crate) fn finish(&mut self) -> StampCounts {
        for index in 0..self.round_trips.len() {
            if let Some(round_trip) = self.round_trips[index].take() {
                self.give_up(round_trip);
            }
        }
        self.counts
    }

    /// Returns a row for each stage that can be measured. Stages between a card's timestamps and
    /// the program's clock cannot.
    pub(crate) fn rows(&self, setting: &Setting) -> Vec<Row> {
        let row = |(case, recorder): (&str, &Recorder)| {
            let setting = Setting {
                case: case.to_owned(),
                kind: Kind::Stage,
                clock: self.clock,
                ..setting.clone()
            };
            Row::new(setting, recorder, &Recorder::with_capacity(0))
        };
        let is_ours = |case: &str| self.clock == Clock::SoftwareTimestamp || case == CASES[1];
        let cases = CASES.into_iter().zip(&self.recorders);
        cases.filter(|(case, _)| is_ours(case)).map(row).collect()
    }

    fn settle(&mut self, sequence: u64) {
        if let Some(round_trip) = self.slot(sequence).take() {
            self.give_up(round_trip);
        }
    }

    /// Counts a ping whose times are complete or no longer expected.
    fn give_up(&mut self, round_trip: RoundTrip) {
        let Some((receive, read)) =
            round_trip.answer.filter(|_| round_trip.sequence >= self.warm_up)
        else {
            return;
        };
        match (round_trip.transmit, receive) {
            (Timestamp::None, _) => self.counts.no_transmit += 1,
            (_, Timestamp::None) => self.counts.no_receive += 1,
            (Timestamp::Software(out), Timestamp::Software(back)) => {
                self.record(Clock::SoftwareTimestamp, [round_trip.sent, out, back, read]);
            }
            (Timestamp::Hardware(out), Timestamp::Hardware(back)) => {
                self.record(Clock::HardwareTimestamp, [out, out, back, back]);
            }
            _ => self.counts.contradictory += 1,
        }
    }

    /// Records the four times of a ping, which must be in order.
    fn record(&mut self, clock: Clock, times: [Utc; 4]) {
        let is_first = self.counts.complete == 0;
        if !times.is_sorted() || (!is_first && clock != self.clock) {
            self.counts.contradictory += 1;
            return;
        }
        self.clock = clock;
        self.counts.complete += 1;
        for (recorder, pair) in self.recorders.iter_mut().zip(times.windows(2)) {
            recorder.record(Duration::from_nanos(pair[1].as_nanos() - pair[0].as_nanos()));
        }
    }

    fn slot(&mut self, sequence: u64) -> &mut Option<RoundTrip> {
        &mut self.round_trips[(sequence % REMEMBERED) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Utc {
        Utc::from_nanos(1_000_000 + nanos)
    }

    fn software(nanos: u64) -> Timestamp {
        Timestamp::Software(at(nanos))
    }

    fn hardware(nanos: u64) -> Timestamp {
        Timestamp::Hardware(Utc::from_nanos(nanos))
    }

    fn breakdown(connections: usize, step: Option<usize>) -> LatencyBreakdown {
        let load = Load { interval_ns: 0, warm_up: 0, samples: 8, connections };
        LatencyBreakdown::new(&load, step.unwrap_or(14), step.is_some())
    }

    fn samples(breakdown: &LatencyBreakdown) -> Vec<&[u64]> {
        breakdown.recorders.iter().map(Recorder::samples).collect()
    }

    #[test]
    fn divides_latency_at_timestamps() {
        let mut breakdown = breakdown(1, None);
        breakdown.sent(0, at(0));
        breakdown.stamped(0, Transmitted { id: 0, timestamp: software(700) });
        breakdown.answered(0, software(9_000), at(9_900));
        assert_eq!(samples(&breakdown), [&[700], &[8_300], &[900]]);
        assert_eq!(breakdown.finish(), StampCounts { complete: 1, ..Default::default() });
    }

    #[test]
    fn accepts_timestamp_after_answer() {
        let mut breakdown = breakdown(1, None);
        breakdown.sent(0, at(0));
        breakdown.answered(0, software(9_000), at(9_900));
        assert_eq!(samples(&breakdown)[1], [0_u64; 0]);
        breakdown.stamped(0, Transmitted { id: 0, timestamp: software(700) });
        assert_eq!(samples(&breakdown)[1], [8_300]);
    }

    #[test]
    fn absent_timestamp_is_none() {
        let mut breakdown = breakdown(1, None);
        for (sequence, answer) in [(0, software(9_000)), (1, Timestamp::None)] {
            breakdown.sent(sequence, at(0));
            if sequence == 1 {
                breakdown.stamped(0, Transmitted { id: 1, timestamp: software(700) });
            }
            breakdown.answered(sequence, answer, at(9_900));
        }
        let counts = breakdown.finish();
        assert_eq!((counts.complete, counts.no_transmit, counts.no_receive), (0, 1, 1));
        assert!(samples(&breakdown).iter().all(|samples| samples.is_empty()));
        let setting = super::super::table::tests::setting(0);
        let rows = breakdown.rows(&setting);
        assert!(rows.iter().all(|row| row.samples == 0 && row.summary.min.is_none()));
    }

    #[test]
    fn compares_hardware_clock_only_with_itself() {
        let mut breakdown = breakdown(1, None);
        breakdown.sent(0, at(0));
        breakdown.stamped(0, Transmitted { id: 0, timestamp: hardware(50) });
        breakdown.answered(0, hardware(4_050), at(9_900));
        breakdown.sent(1, at(10_000));
        breakdown.stamped(0, Transmitted { id: 1, timestamp: hardware(70) });
        breakdown.answered(1, software(19_000), at(19_900));
        assert_eq!(samples(&breakdown)[1], [4_000]);
        assert_eq!(breakdown.counts.contradictory, 1);
        let rows = breakdown.rows(&super::super::table::tests::setting(0));
        let cases: Vec<_> = rows.iter().map(|row| &*row.setting.case).collect();
        assert_eq!(
            (cases, rows[0].setting.clock),
            (vec!["stamp to stamp"], Clock::HardwareTimestamp)
        );
    }

    #[test]
    fn stamps_before_their_cause_are_not_believed() {
        let mut breakdown = breakdown(1, None);
        breakdown.sent(0, at(1_000));
        breakdown.stamped(0, Transmitted { id: 0, timestamp: software(999) });
        breakdown.answered(0, software(9_000), at(9_900));
        assert_eq!(breakdown.finish(), StampCounts { contradictory: 1, ..Default::default() });
    }

    #[test]
    fn identifies_stream_timestamps_by_last_byte_and_connection() {
        let mut breakdown = breakdown(2, Some(100));
        for sequence in 0..6 {
            breakdown.sent(sequence, at(sequence));
        }
        // The third message of connection 1 is ping 5; half a message has no identifier.
        breakdown.stamped(1, Transmitted { id: 249, timestamp: software(1) });
        breakdown.stamped(1, Transmitted { id: 299, timestamp: software(500) });
        breakdown.answered(5, software(900), at(1_000));
        assert_eq!(samples(&breakdown), [&[495], &[400], &[100]]);
    }

    #[test]
    fn excludes_warm_up() {
        let load = Load { interval_ns: 0, warm_up: 1, samples: 8, connections: 1 };
        let mut breakdown = LatencyBreakdown::new(&load, 14, false);
        breakdown.sent(0, at(0));
        breakdown.answered(0, software(900), at(1_000));
        assert_eq!(breakdown.finish(), StampCounts::default());
    }
}
