//! A capture through time.

use std::str::FromStr;

use hairpin_time::{Duration, Instant};

use super::*;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn file(times: &[u64]) -> Vec<u8> {
    let ng = Ng { is_big: false };
    let mut file = [ng.section(), ng.interface(1, 0, &[(9, &[9])])].concat();
    for (index, time) in times.iter().enumerate() {
        file.extend(ng.enhanced(0, *time, &[index as u8]));
    }
    file
}

/// A protocol that has a timer: so long after each frame, unless another comes.
struct Timer {
    patience: Duration,
    due: Option<Instant>,
}

/// What happened in a replay, with the replay's time; and when, with ours.
fn trace(times: &[u64], speed: &str) -> (Vec<String>, Vec<u64>) {
    let file = file(times);
    let reader = CaptureReader::new(&file[..]).unwrap();
    let mut replay = Replay::new(reader, Speed::from_str(speed).unwrap());
    let mut timer = Timer { patience: Duration::from_nanos(100), due: None };
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
                timer.due = Some(then.monotonic + timer.patience);
            }
            Step::End => return (events, ours),
        }
        ours.push(now);
    }
}

#[test]
fn deadlines_come_between_frames_as_they_did_then() {
    let (events, ours) = trace(&[1_000, 1_050, 1_300, 1_400], "1");
    let expected = [
        "1000 frame 0",
        "1050 frame 1",
        "1150 timeout",
        "1300 frame 2",
        // A deadline and a frame of one moment: the deadline was first.
        "1400 timeout",
        "1400 frame 3",
        "1500 timeout",
    ];
    assert_eq!(events, expected);
    assert_eq!(ours, [0, 50, 150, 300, 400, 400, 500]);
}

#[test]
fn what_happens_is_the_same_at_any_speed() {
    let times = [1_000, 1_050, 1_300, 1_400];
    let (events, _) = trace(&times, "1");
    for (speed, last) in [("10", 50), ("0.5", 1_000), ("max", 0)] {
        let (same, ours) = trace(&times, speed);
        assert_eq!(same, events, "{speed}");
        assert_eq!(ours.last(), Some(&last), "{speed}");
    }
}

#[test]
fn time_never_goes_back() {
    let (events, ours) = trace(&[1_000, 900, 1_010], "1");
    assert_eq!(events[..3], ["1000 frame 0", "1000 frame 1", "1010 frame 2"]);
    assert_eq!(ours[..3], [0, 0, 10]);
}

#[test]
fn a_deadline_that_is_due_comes_before_a_frame_that_is_stamped_earlier() {
    let bytes = file(&[1_000, 900]);
    let mut replay = Replay::new(CaptureReader::new(&bytes[..]).unwrap(), Speed::FlatOut);
    assert!(matches!(replay.step(at(0), None).unwrap(), Step::Frame(_)));
    assert!(matches!(replay.step(at(0), Some(at(1_000))).unwrap(), Step::Timeout(_)));
    assert!(matches!(replay.step(at(0), None).unwrap(), Step::Frame(_)));
}

#[test]
fn the_clock_shows_the_captures_time_however_late_ours_is() {
    let bytes = file(&[1_000, 1_010]);
    let mut replay = Replay::new(CaptureReader::new(&bytes[..]).unwrap(), Speed::FlatOut);
    for time in [1_000, 1_010] {
        let Step::Frame(now) = replay.step(at(5_000_000), None).unwrap() else { panic!("a frame") };
        assert_eq!((now.monotonic, now.utc.as_nanos()), (at(time), time));
    }
}

#[test]
fn behind_the_last_frame_time_goes_on_for_a_second_and_no_longer() {
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
fn before_the_first_frame_nothing_is_late() {
    let bytes = file(&[1 << 60]);
    let speed = Speed::Times(1.0);
    let mut replay = Replay::new(CaptureReader::new(&bytes[..]).unwrap(), speed);
    // A deadline of a clock that began at zero is due at once, at the first frame's time.
    let Step::Timeout(now) = replay.step(at(5), Some(at(30))).unwrap() else { panic!("a timeout") };
    assert_eq!(now.monotonic, at(1 << 60));
    assert!(matches!(replay.step(at(5), None).unwrap(), Step::Frame(_)));
}

#[test]
fn a_file_that_was_cut_ends_the_replay_with_its_error_and_deadlines_still_come() {
    let bytes = file(&[1_000, 1_010]);
    let cut = &bytes[..bytes.len() - 1];
    let mut replay = Replay::new(CaptureReader::new(cut).unwrap(), Speed::FlatOut);
    assert!(matches!(replay.step(at(0), None).unwrap(), Step::Frame(_)));
    assert!(matches!(replay.step(at(0), None), Err(CaptureError::Truncated { .. })));
    assert!(matches!(replay.step(at(0), Some(at(1_100))).unwrap(), Step::Timeout(_)));
    assert_eq!(replay.step(at(0), None).unwrap(), Step::End);
}
