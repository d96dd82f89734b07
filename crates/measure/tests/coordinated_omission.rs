//! What a stalling server does to an open and to a closed loop, on a virtual clock.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use hairpin_measure::{Answer, ClosedLoop, Histogram, Outstanding, Recorder, Schedule, Summary};
use hairpin_time::{Duration, Instant};

const SAMPLES: usize = 200_000;
const INTERVAL: Duration = Duration::from_micros(100);
const SERVICE: Duration = Duration::from_micros(20);
const STALL: Duration = Duration::from_millis(10);
const TIMEOUT: Duration = Duration::from_secs(1);

/// Answers one after the other, each within [`SERVICE`]; once a second it stops for [`STALL`].
struct Server {
    free: Instant,
}

impl Server {
    /// When the answer to what arrives at `now` leaves.
    fn answer(&mut self, now: Instant) -> Instant {
        let begin = self.free.max(now);
        let in_second = begin.as_nanos() % 1_000_000_000;
        let stop = 500_000_000..500_000_000 + STALL.as_nanos();
        let held = if stop.contains(&in_second) { stop.end - in_second } else { 0 };
        self.free = begin + Duration::from_nanos(held) + SERVICE;
        self.free
    }
}

/// Every send leaves when it is meant to; answers come in between.
fn open_loop() -> Summary {
    let (mut server, mut schedule) =
        (Server { free: Instant::ZERO }, Schedule::new(Instant::ZERO, INTERVAL));
    let mut sends = Outstanding::new(1 << 14);
    let mut latency = Recorder::with_capacity(SAMPLES);
    let mut on_the_way = std::collections::VecDeque::new();
    while latency.samples().len() < SAMPLES {
        let now = schedule.next_departure();
        while let Some((arrival, number)) =
            on_the_way.pop_front_if(|it: &mut (Instant, u64)| it.0 <= now)
        {
            let Answer::InTime(sent) = sends.answer(number) else { panic!("{number}") };
            latency.record(arrival - sent.intended);
        }
        assert_eq!(sends.expire(now, TIMEOUT), None);
        let departure = schedule.depart(now).unwrap();
        assert_eq!(departure.lateness, Duration::ZERO);
        let (number, displaced) = sends.depart(departure.intended, now);
        assert_eq!(displaced, None);
        on_the_way.push_back((server.answer(now), number));
    }
    Summary::of(&latency)
}

/// The same server, the same interval, one send at a time.
fn closed_loop() -> Summary {
    let (mut server, mut closed) =
        (Server { free: Instant::ZERO }, ClosedLoop::new(Instant::ZERO, INTERVAL));
    let mut latency = Recorder::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let now = closed.next_departure().unwrap();
        let departure = closed.depart(now).unwrap();
        let answered = server.answer(now);
        assert_eq!(closed.depart(answered), None, "one send an answer");
        latency.record(answered - departure.intended);
        closed.answered(answered);
    }
    Summary::of(&latency)
}

fn is_nine_milliseconds(p99_9: Option<u64>) -> bool {
    p99_9.is_some_and(|nanos| (8_100_000..=9_900_000).contains(&nanos))
}

#[test]
fn an_open_loop_sees_the_whole_of_a_stall() {
    let of = open_loop();
    assert!(is_nine_milliseconds(of.p99_9), "{:?}", of.p99_9);
    assert!(of.max.is_some_and(|nanos| nanos >= 10_000_000), "{:?}", of.max);
    assert_eq!(of.p50, Some(20_000 + 15)); // of a bucket 16 wide
}

#[test]
fn a_closed_loop_omits_what_it_should_measure() {
    let of = closed_loop();
    assert!(of.p99_9.is_some_and(|nanos| nanos < 1_000_000), "{:?}", of.p99_9);
    assert!(of.max.is_some_and(|nanos| nanos >= 10_000_000), "{:?}", of.max);
}

#[test]
fn a_closed_loop_that_was_recorded_raw_can_be_corrected_afterwards() {
    let raw = closed_loop().histogram;
    let corrected: Histogram = raw.corrected(INTERVAL);
    let at = |histogram: &Histogram| histogram.at(hairpin_measure::Quantile::P99_9);
    assert!(at(&raw).is_some_and(|nanos| nanos < 1_000_000), "the raw one is left as it was");
    assert!(is_nine_milliseconds(at(&corrected)), "{:?}", at(&corrected));
    assert!(corrected.count() > raw.count() + 1_500);
}
