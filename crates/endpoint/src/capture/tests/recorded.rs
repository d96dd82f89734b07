//! Tests of the recorder.

use std::fs::File;
use std::net::SocketAddrV4;
use std::path::Path;

use super::*;
use crate::Timestamp;

const SOURCE: &str = "10.0.0.1:40000";

fn lines() -> Vec<RecordedLine> {
    let line = |name: &str, group: &str| RecordedLine {
        name: name.to_owned(),
        description: format!("line {name}"),
        group: group.parse().unwrap(),
    };
    vec![line("310IA", "224.0.31.1:14310"), line("310IB", "224.0.32.1:15310")]
}

fn source() -> SocketAddrV4 {
    SOURCE.parse().unwrap()
}

fn read(path: &Path) -> Vec<(String, String, u64, Vec<u8>)> {
    let mut datagrams = Datagrams::new(CaptureReader::new(File::open(path).unwrap()).unwrap());
    let mut found = Vec::new();
    while datagrams.advance().unwrap() {
        let it = datagrams.current().unwrap();
        let interface = &datagrams.reader().interfaces()[it.interface as usize];
        let time = it.time.unwrap();
        assert_eq!(time.clock, interface.clock);
        assert_eq!(it.source.to_string(), SOURCE);
        let line = format!("{} {:?}", interface.name, time.clock);
        found.push((line, it.destination.to_string(), time.utc.as_nanos(), it.bytes.to_vec()));
    }
    found
}

#[test]
fn records_line_time_and_clock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feed.pcapng");
    let mut recorder = Recorder::start(&RecorderSettings::new(&path), lines()).unwrap();
    let at = Utc::from_nanos;
    recorder.record(0, source(), Timestamp::Software(at(5)), at(9), b"a");
    recorder.record(1, source(), Timestamp::Hardware(at(6)), at(9), b"bb");
    recorder.record(1, source(), Timestamp::None, at(9), b"");
    let counters = recorder.finish().unwrap();
    assert_eq!((counters.recorded_datagrams, counters.recorded_bytes), (3, 3));
    let line = |name: &str, group: &str, time, bytes: &[u8]| {
        (name.to_owned(), group.to_owned(), time, bytes.to_vec())
    };
    let expected = [
        line("310IA Software", "224.0.31.1:14310", 5, b"a"),
        line("310IB Hardware", "224.0.32.1:15310", 6, b"bb"),
        line("310IB Unknown", "224.0.32.1:15310", 9, b""),
    ];
    assert_eq!(read(&path), expected);
}

#[test]
fn ring_wraps_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feed.pcapng");
    let settings = RecorderSettings { ring_bytes: 1 << 17, ..RecorderSettings::new(&path) };
    let mut recorder = Recorder::start(&settings, lines()).unwrap();
    for number in 0..4_000_u64 {
        let payload = vec![number as u8; (number * 7 % 1_400) as usize];
        while recorder.counters().recorded_datagrams <= number {
            let before = recorder.counters().ring_overflows;
            let time = Timestamp::Software(Utc::from_nanos(number));
            recorder.record(0, source(), time, Utc::EPOCH, &payload);
            if recorder.counters().ring_overflows > before {
                std::thread::yield_now();
            }
        }
    }
    recorder.finish().unwrap();
    let found = read(&path);
    assert_eq!(found.len(), 4_000);
    for (number, (.., time, bytes)) in found.into_iter().enumerate() {
        assert_eq!((time, bytes.len()), (number as u64, number * 7 % 1_400));
        assert!(bytes.iter().all(|byte| *byte == number as u8));
    }
}

/// Headers and payloads end at every offset of the ring, also at its end.
#[test]
fn short_datagrams_survive_every_ring_offset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feed.pcapng");
    let settings = RecorderSettings { ring_bytes: 1 << 17, ..RecorderSettings::new(&path) };
    let mut recorder = Recorder::start(&settings, lines()).unwrap();
    let payload = |number: u64| (0..number * 7 % 60).map(move |at| (number * 31 + at) as u8);
    for number in 0..40_000 {
        let bytes: Vec<u8> = payload(number).collect();
        while recorder.counters().recorded_datagrams <= number {
            let before = recorder.counters().ring_overflows;
            let time = Timestamp::Software(Utc::from_nanos(number));
            recorder.record(number as usize % 2, source(), time, Utc::EPOCH, &bytes);
            if recorder.counters().ring_overflows > before {
                std::thread::yield_now();
            }
        }
    }
    recorder.finish().unwrap();
    let found = read(&path);
    assert_eq!(found.len(), 40_000);
    for (number, (line, _, time, bytes)) in (0..).zip(found) {
        let expected = ["310IA Software", "310IB Software"][number as usize % 2];
        assert_eq!((time, line.as_str()), (number, expected));
        assert!(bytes.into_iter().eq(payload(number)), "{number}");
    }
}

#[test]
fn counts_ring_overflows_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feed.pcapng");
    let settings = RecorderSettings { ring_bytes: 0, ..RecorderSettings::new(&path) };
    let mut recorder = Recorder::start(&settings, lines()).unwrap();
    // Longer than the smallest ring.
    recorder.record(0, source(), Timestamp::None, Utc::EPOCH, &vec![0; 1 << 17]);
    for (name, count) in recorder.counters().iter() {
        assert_eq!(count, u64::from(name == "ring_overflows"), "{name}");
    }
    assert_eq!(recorder.failure(), None);
    assert!(read(&path).is_empty());
}

#[test]
fn counts_unwritten_datagrams_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feed.pcapng");
    let settings = RecorderSettings { file_bytes: 1, ..RecorderSettings::new(&path) };
    let mut recorder = Recorder::start(&settings, lines()).unwrap();
    folder.close().unwrap();
    recorder.record(0, source(), Timestamp::None, Utc::EPOCH, b"for the next file");
    while recorder.failure().is_none() {
        std::thread::yield_now();
    }
    let failure = recorder.failure().unwrap();
    let end = "feed.00002.pcapng: No such file or directory (os error 2): recording has stopped";
    assert!(failure.ends_with(end), "{failure}");
    // The thread is about to abandon the ring.
    while recorder.counters().unwritten_datagrams == 0 {
        recorder.record(0, source(), Timestamp::None, Utc::EPOCH, b"");
    }
    let counters = recorder.counters();
    let error_counters = counters.iter().filter(|(name, _)| !name.starts_with("recorded_"));
    for (name, count) in error_counters {
        assert_eq!(count, u64::from(name == "unwritten_datagrams"), "{name}");
    }
    assert_eq!(recorder.finish(), Err(failure));
}

/// Uses the kernel's device that is always full.
#[test]
fn start_fails_on_full_disk() {
    let path = Path::new("/dev").join("full");
    let error = Recorder::start(&RecorderSettings::new(&path), lines()).unwrap_err();
    assert!(error.to_string().contains("full: No space left on device"), "{error}");
}

#[test]
fn rotates_files_and_removes_oldest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feed.pcapng");
    let settings = RecorderSettings { file_bytes: 4_096, files: 3, ..RecorderSettings::new(&path) };
    let mut recorder = Recorder::start(&settings, lines()).unwrap();
    for number in 0..50 {
        let payload = [number; 500];
        recorder.record(1, source(), Timestamp::Software(Utc::from_nanos(7)), Utc::EPOCH, &payload);
    }
    recorder.finish().unwrap();
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let numbers: Vec<u8> = names
        .iter()
        .flat_map(|name| {
            let path = folder.path().join(name);
            assert!(path.metadata().unwrap().len() <= 4_096, "{name}");
            read(&path).into_iter().map(|(line, .., bytes)| {
                assert_eq!(line, "310IB Software");
                bytes[0]
            })
        })
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names[2].starts_with("feed.000") && names[2].ends_with(".pcapng"), "{names:?}");
    let last = *numbers.last().unwrap();
    assert_eq!(last, 49);
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
}

#[test]
fn start_fails_if_file_cannot_be_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no folder").join("feed.pcapng");
    let error = Recorder::start(&RecorderSettings::new(&path), lines()).unwrap_err();
    assert!(error.to_string().contains("feed.pcapng: No such file or directory"), "{error}");
}
