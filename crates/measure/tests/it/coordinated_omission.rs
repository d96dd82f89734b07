//! Coordinated omission: an open and a closed loop against a stalling server, on a virtual clock.
use hairpin_measure::{Answer, ClosedLoop, Histogram, Outstanding, Recorder, Schedule, Summary};
use hairpin_time::{Duration, Instant};

const SAMPLES: usize = 200_000;
const INTERVAL: Duration = Duration::from_micros(100);
const SERVICE: Duration = Duration::from_micros(20);
const STALL: Duration = Duration::from_millis(10);
const TIMEOUT: Duration = Duration::from_secs(1);

/// A server that answers each request within [`SERVICE`], one at a time, and stalls for [`STALL`]
/// once per second.
struct Server {
    free: Instant,
}

impl Server {
    /// Returns the departure of the answer to a request that arrives at `now`.
    fn answer(&mut self, now: Instant) -> Instant {
        let begin = self.free.max(now);
        let in_second = begin.as_nanos() % 1_000_000_000;
        let stop = 500_000_000..500_000_000 + STALL.as_nanos();
        let stalled = if stop.contains(&in_second) { stop.end - in_second } else { 0 };
        self.free = begin + Duration::from_nanos(stalled) + SERVICE;
        self.free
    }
}

/// Runs the open loop: every send departs at its intended time.
fn open_loop() -> Summary {
    let (mut server, mut schedule) =
        (Server { free: Instant::ZERO }, Schedule::new(Instant::ZERO, INTERVAL));
    let mut sends = Outstanding::new(1 << 14);
    let mut latency = Recorder::with_capacity(SAMPLES);
    let mut in_flight = std::collections::VecDeque::new();
    while latency.samples().len() < SAMPLES {
        let now = schedule.next_departure();
        while let Some((arrival, number)) =
            in_flight.pop_front_if(|it: &mut (Instant, u64)| it.0 <= now)
        {
            let Answer::InTime(sent) = sends.answer(number) else { panic!("{number}") };
            latency.record(arrival - sent.intended);
        }
        assert_eq!(sends.expire(now, TIMEOUT), None);
        let departure = schedule.depart(now).unwrap();
        assert_eq!(departure.lateness, Duration::ZERO);
        let (number, displaced) = sends.depart(departure.intended, now);
        assert_eq!(displaced, None);
        in_flight.push_back((server.answer(now), number));
    }
    Summary::new(&latency)
}

/// Runs the closed loop, with the same server and interval.
fn closed_loop() -> Summary {
    let (mut server, mut closed) =
        (Server { free: Instant::ZERO }, ClosedLoop::new(Instant::ZERO, INTERVAL));
    let mut latency = Recorder::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let now = closed.next_departure().unwrap();
        let departure = closed.depart(now).unwrap();
        let answered = server.answer(now);
        assert_eq!(closed.depart(answered), None, "one send per answer");
        latency.record(answered - departure.intended);
        closed.answered(answered);
    }
    Summary::new(&latency)
}

fn is_nine_milliseconds(p99_9: Option<u64>) -> bool {
    p99_9.is_some_and(|nanos| (8_100_000..=9_900_000).contains(&nanos))
}

#[test]
fn open_loop_records_the_whole_stall() {
    let summary = open_loop();
    assert!(is_nine_milliseconds(summary.p99_9), "{:?}", summary.p99_9);
    assert!(summary.max.is_some_and(|nanos| nanos >= 10_000_000), "{:?}", summary.max);
    assert_eq!(summary.p50, Some(20_000 + 15)); // a bucket of width 16
}

#[test]
fn closed_loop_omits_the_stall() {
    let summary = closed_loop();
    assert!(summary.p99_9.is_some_and(|nanos| nanos < 1_000_000), "{:?}", summary.p99_9);
    assert!(summary.max.is_some_and(|nanos| nanos >= 10_000_000), "{:?}", summary.max);
}

#[test]
fn correction_restores_the_stall_of_a_closed_loop() {
    let raw = closed_loop().histogram;
    let corrected: Histogram = raw.corrected(INTERVAL);
    let at = |histogram: &Histogram| histogram.at(hairpin_measure::Quantile::P99_9);
    assert!(at(&raw).is_some_and(|nanos| nanos < 1_000_000), "the raw histogram is unchanged");
    assert!(is_nine_milliseconds(at(&corrected)), "{:?}", at(&corrected));
    assert!(corrected.count() > raw.count() + 1_500);
}
