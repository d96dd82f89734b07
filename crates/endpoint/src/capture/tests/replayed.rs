//! Tests of replay.

use std::str::FromStr;

use hairpin_time::{Duration, Instant};

use super::*;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn file(times: &[u64]) -> Vec<u8> {
    let ng = PcapngBuilder { is_big: false };
    let mut file = [ng.section(), ng.interface(1, 0, &[(9, &[9])])].concat();
    for (index, time) in times.iter().enumerate() {
        file.extend(ng.enhanced(0, *time, &[index as u8]));
    }
    file
}

/// A protocol with a timer: it expires this long after a frame without another.
struct Timer {
    timeout: Duration,
    due: Option<Instant>,
}

/// Returns the events of a replay with capture times, and their times on the caller's clock.
fn trace(times: &[u64], speed: &str) -> (Vec<String>, Vec<u64>) {
    let file = file(times);
    let reader = CaptureReader::new(&file[..]).unwrap();
    let mut replay = Replay::new(reader, Speed::from_str(speed).unwrap());
    let mut timer = Timer { timeout: Duration::from_nanos(100), due: None };
    let (mut events, mut ours, mut now) = (Vec::new(), Vec::new(), 0);
    loop {
        match replay.step(at(now), timer.due).unwrap() {
            Step::Wait(until) => {
                assert!(until > at(now));
                now = until.as_nanos();
                continue;
            }
            Step::Timeout(then) => {
                events.push(format!("{} timeout", then.monotonic.as_nanos()));
                timer.due = None;
            }
            Step::Frame(then) => {
                let frame = replay.frame().unwrap().bytes[0];
                assert_eq!(then.utc.as_nanos(), then.monotonic.as_nanos());
                events.push(format!("{} frame {frame}", then.utc.as_nanos()));
                timer.due = Some(then.monotonic + timer.timeout);
            }
            Step::End => return (events, ours),
        }
        ours.push(now);
    }
}

#[test]
fn deadlines_expire_between_frames_in_capture_time() {
    let (events, ours) = trace(&[1_000, 1_050, 1_300, 1_400], "1");
    let expected = [
        "1000 frame 0",
        "1050 frame 1",
        "1150 timeout",
        "1300 frame 2",
        // A deadline and a frame at the same time: the deadline is first.
        "1400 timeout",
        "1400 frame 3",
        "1500 timeout",
    ];
    assert_eq!(events, expected);
    assert_eq!(ours, [0, 50, 150, 300, 400, 400, 500]);
}

#[test]
fn events_are_the_same_at_any_speed() {
    let times = [1_000, 1_050, 1_300, 1_400];
    let (events, _) = trace(&times, "1");
    for (speed, last) in [("10", 50), ("0.5", 1_000), ("max", 0)] {
        let (same, ours) = trace(&times, speed);
        assert_eq!(same, events, "{speed}");
        assert_eq!(ours.last(), Some(&last), "{speed}");
    }
}

#[test]
fn time_is_monotonic() {
    let (events, ours) = trace(&[1_000, 900, 1_010], "1");
    assert_eq!(events[..3], ["1000 frame 0", "1000 frame 1", "1010 frame 2"]);
    assert_eq!(ours[..3], [0, 0, 10]);
}

#[test]
fn due_deadline_precedes_frame_with_earlier_time() {
    let bytes = file(&[1_000, 900]);
    let mut replay = Replay::new(CaptureReader::new(&bytes[..]).unwrap(), Speed::FlatOut);
    assert!(matches!(replay.step(at(0), None).unwrap(), Step::Frame(_)));
    assert!(matches!(replay.step(at(0), Some(at(1_000))).unwrap(), Step::Timeout(_)));
    assert!(matches!(replay.step(at(0), None).unwrap(), Step::Frame(_)));
}

#[test]
fn clock_shows_capture_time_when_late() {
    let bytes = file(&[1_000, 1_010]);
    let mut replay = Replay::new(CaptureReader::new(&bytes[..]).unwrap(), Speed::FlatOut);
    for time in [1_000, 1_010] {
        let Step::Frame(now) = replay.step(at(5_000_000), None).unwrap() else { panic!("a frame") };
        assert_eq!((now.monotonic, now.utc.as_nanos()), (at(time), time));
    }
}

#[test]
fn time_continues_one_second_after_last_frame() {
    let bytes = file(&[1_000]);
    let mut replay = Replay::new(CaptureReader::new(&bytes[..]).unwrap(), Speed::FlatOut);
    let mut step =
        |after| replay.step(at(0), Some(at(1_000) + Duration::from_nanos(after))).unwrap();
    assert!(matches!(step(1 << 40), Step::Frame(_)));
    assert!(matches!(step(1_000_000_000), Step::Timeout(_)));
    assert_eq!(step(1_000_000_001), Step::End);
    assert_eq!(step(1_000_000_001), Step::End);
}

#[test]
fn deadline_does_not_precede_first_frame() {
    let bytes = file(&[1 << 60]);
    let speed = Speed::Times(1.0);
    let mut replay = Replay::new(CaptureReader::new(&bytes[..]).unwrap(), speed);
    // A deadline of a clock that started at zero is due immediately, at the first frame's time.
    let Step::Timeout(now) = replay.step(at(5), Some(at(30))).unwrap() else { panic!("a timeout") };
    assert_eq!(now.monotonic, at(1 << 60));
    assert!(matches!(replay.step(at(5), None).unwrap(), Step::Frame(_)));
}

#[test]
fn truncated_file_ends_replay_after_deadlines() {
    let bytes = file(&[1_000, 1_010]);
    let cut = &bytes[..bytes.len() - 1];
    let mut replay = Replay::new(CaptureReader::new(cut).unwrap(), Speed::FlatOut);
    assert!(matches!(replay.step(at(0), None).unwrap(), Step::Frame(_)));
    assert!(matches!(replay.step(at(0), None), Err(CaptureError::Truncated { .. })));
    assert!(matches!(replay.step(at(0), Some(at(1_100))).unwrap(), Step::Timeout(_)));
    assert_eq!(replay.step(at(0), None).unwrap(), Step::End);
}
