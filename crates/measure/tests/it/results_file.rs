//! The format of results files, and the errors of reading them.

use std::fs;
use std::path::PathBuf;

use hairpin_measure::{
    Clock, CoreReport, EnvironmentReport, Host, Kind, Recorder, Results, ResultsError, Row,
    Setting, Timestamping,
};
use hairpin_time::{Duration, Utc};
use proptest::prelude::*;
use serde_json::Value;

fn host() -> Host {
    Host {
        cpu: "A processor".to_string(),
        cores: 2,
        kernel: "6.1.0".to_string(),
        virtualised: true,
        tsc_hz: Some(2_445_000_000),
        governor: None,
        nic: "veth".to_string(),
        timestamping: Timestamping::Software,
    }
}

fn setting() -> Setting {
    Setting {
        bench: "t2t".to_string(),
        case: "intended to order".to_string(),
        feed: Some("multicast".to_string()),
        transport: "kernel".to_string(),
        wait: "epoll".to_string(),
        protocol: "multicast+tcp".to_string(),
        size_bytes: 64,
        interval_us: 1_000,
        kind: Kind::Rtt,
        clock: Clock::Tsc,
        rounds: 1,
    }
}

fn row(samples: &[u64]) -> Row {
    let mut latency = Recorder::with_capacity(samples.len());
    samples.iter().for_each(|&nanos| latency.record(Duration::from_nanos(nanos)));
    Row::new(setting(), &latency, &latency)
}

fn results(rows: Vec<Row>) -> Results {
    let started = Utc::from_nanos(1_795_284_000_000_000_000);
    Results { rows, ..Results::new(started, "hairpin t2t --full", host()) }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Applies `change` to a document of 2,000 samples, writes and reads it. Returns the error.
fn read_changed(change: impl FnOnce(&mut Value)) -> String {
    let measured = results(vec![row(&[7; 2_000])]);
    let mut document = serde_json::to_value(measured).expect("every result can be written");
    change(&mut document);
    let (folder, path) = file(&document.to_string());
    let error = Results::read(&path).expect_err("an invalid document").to_string();
    drop(folder);
    assert!(!error.contains('\n'), "more than one line: {error}");
    error.rsplit_once("results.json: ").expect("the error names the file").1.to_string()
}

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = folder();
    let path = folder.path().join("results.json");
    fs::write(&path, text).expect("a writable folder");
    (folder, path)
}

#[test]
fn fields_have_their_documented_names() {
    let document = serde_json::to_value(results(vec![row(&[7; 20])])).unwrap();
    let names = |value: &Value| {
        let mut names: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(names(&document), "command commit host rows schema started truth version");
    assert_eq!(
        names(&document["host"]),
        "cores cpu governor kernel nic timestamping tsc_hz virtualised"
    );
    assert_eq!(
        names(&document["rows"][0]),
        "bench block_deadline_ns by_round case clock cores failed feed ground histogram \
         interrupted interval_us kind late late_orders lateness_histogram lateness_p50 \
         lateness_p99 lost max mean min over_time p25 p50 p75 p90 p95 p99 p99_9 p99_99 \
         protocol rounds samples seed size_bytes \
         start_ns stddev transport unit wait"
    );
    assert_eq!(names(&document["rows"][0]["over_time"][0]), "count first max min p50 p99");
}

#[test]
fn values_are_written_as_documented() {
    let document = serde_json::to_value(results(vec![row(&[7; 20])])).unwrap();
    assert_eq!(document["schema"], "hairpin.results/1");
    assert_eq!(document["started"], "2026-11-21T18:00:00Z");
    assert_eq!(document["host"]["timestamping"], "software");
    let row = &document["rows"][0];
    assert_eq!(
        (&row["kind"], &row["clock"], &row["unit"]),
        (&"rtt".into(), &"tsc".into(), &"ns".into())
    );
    assert_eq!((&row["p50"], &row["p75"], &row["failed"]), (&7.into(), &Value::Null, &Value::Null));
    assert!(row["histogram"].as_str().unwrap().starts_with("HISTFAAAA"));
}

#[test]
fn older_documents_without_later_fields_are_read() {
    let mut document = serde_json::to_value(results(vec![row(&[7; 20])])).unwrap();
    let fields = document["rows"][0].as_object_mut().unwrap();
    let first = ["feed", "lateness_p50", "lateness_p99", "late", "late_orders", "failed"];
    let second = ["over_time", "cores", "seed", "ground", "interrupted", "block_deadline_ns"];
    for later in first.into_iter().chain(second).chain(["by_round", "lateness_histogram"]) {
        fields.remove(later).expect("a known field");
    }
    document.as_object_mut().unwrap().remove("truth").expect("a known field");
    let fields = document["rows"][0].as_object_mut().unwrap();
    fields.insert("unknown".to_string(), "blue".into());
    let (_folder, path) = file(&document.to_string());
    let read = Results::read(&path).expect("later fields are optional");
    assert_eq!(read.rows[0].samples, 20);
}

#[test]
fn rejects_other_documents() {
    let version = read_changed(|document| document["schema"] = "hairpin.results/2".into());
    assert_eq!(version, r#"schema is "hairpin.results/2", expected "hairpin.results/1""#);
    let unit = read_changed(|document| document["rows"][0]["unit"] = "us".into());
    assert!(unit.starts_with("not a results file: unknown variant `us`, expected `ns`"), "{unit}");
    let time = read_changed(|document| document["started"] = "yesterday".into());
    assert!(time.starts_with("not a results file: "), "{time}");
    let missing = read_changed(|document| {
        document["rows"][0].as_object_mut().unwrap().remove("lost");
    });
    assert!(missing.starts_with("not a results file: missing field `lost`"), "{missing}");
}

#[test]
fn rejects_inconsistent_rows() {
    let disorder = read_changed(|document| document["rows"][0]["p90"] = 6.into());
    assert_eq!(disorder, "row 1: p90 is less than p75");
    let count = read_changed(|document| document["rows"][0]["samples"] = 1_999.into());
    assert_eq!(count, "row 1: the histogram has 2000 samples, the row 1999");
    let time = read_changed(|document| document["rows"][0]["over_time"][2]["first"] = 1.into());
    let expected = "bucket 3 of over_time does not follow the previous bucket within the samples";
    assert_eq!(time, format!("row 1: {expected}"));
    let cores = read_changed(|document| document["rows"][0]["cores"] = vec![1, 1].into());
    assert_eq!(cores, "row 1: exchange and trader are both on core 1");
    let block = read_changed(|document| document["rows"][0]["block_deadline_ns"] = 1.into());
    assert_eq!(block, "row 1: block_deadline_ns is given, but the wait is not block");
    let histogram = read_changed(|document| document["rows"][0]["histogram"] = "HIST".into());
    assert!(
        histogram.starts_with("not a results file: the histogram is not in HdrHistogram's V2"),
        "{histogram}"
    );
}

#[test]
fn rounds_and_environment_round_trip() {
    let joined = Row::from_rounds(&[row(&[7; 20]), row(&[9; 20])]).unwrap();
    let core = CoreReport { core: 1, watched_ns: 9, ..CoreReport::default() };
    let environment = EnvironmentReport {
        clock_step_ns: 10.5,
        cores: vec![core],
        ..EnvironmentReport::default()
    };
    let written = Results { truth: Some(environment), ..results(vec![joined]) };
    let document = serde_json::to_value(&written).unwrap();
    let names = |value: &Value| {
        let mut names: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(
        names(&document["truth"]),
        "clock_pair_ns clock_read_ns clock_step_ns cores drift_ppb floor_ns"
    );
    assert_eq!(
        names(&document["truth"]["cores"][0]),
        "core interrupted_ns interruptions longest_ns others_ns run_ns steal_ns watched_ns"
    );
    let row = &document["rows"][0];
    assert_eq!((&row["rounds"], &row["by_round"][1]["p50"]), (&2.into(), &9.into()));
    assert_eq!(
        names(&row["by_round"][0]),
        "lost max mean min p25 p50 p75 p90 p95 p99 p99_9 samples start_ns"
    );
    assert!(row["lateness_histogram"].as_str().unwrap().starts_with("HISTFAAAA"));
    let (_folder, path) = file(&document.to_string());
    assert_eq!(Results::read(&path).unwrap(), written);
}

#[test]
fn rejects_inconsistent_rounds_and_environment() {
    let round = |samples: u64| {
        let figures = r#"{"samples": 0, "lost": 0, "min": 7, "max": 7, "mean": 7.0}"#;
        let mut round: Value = serde_json::from_str(figures).unwrap();
        round["samples"] = samples.into();
        round
    };
    let error = read_changed(|document| {
        document["rows"][0]["by_round"] = vec![round(1_999)].into();
    });
    let expected = "samples, lost, min or max of by_round differ from those of the row";
    assert_eq!(error, format!("row 1: {expected}"));
    let error = read_changed(|document| {
        document["rows"][0]["by_round"] = vec![round(2_000), round(0)].into();
    });
    assert_eq!(error, "row 1: by_round has 2 rounds, the row 1");
    let error = read_changed(|document| document["rows"][0]["lateness_p50"] = 8.into());
    assert_eq!(error, "row 1: lateness_p99 is less than lateness_p50");
    let truth = |step: f64| {
        let figures = r#"{"clock_read_ns": 1.0, "clock_pair_ns": 1.0}"#;
        let mut truth: Value = serde_json::from_str(figures).unwrap();
        truth["clock_step_ns"] = step.into();
        truth
    };
    let error = read_changed(|document| document["truth"] = truth(-1.0));
    assert_eq!(error, "truth: clock_step_ns is not a number of at least zero");
    let error = read_changed(|document| {
        document["truth"] = truth(1.0);
        let core = |core: u64| {
            serde_json::json!({"core": core, "watched_ns": 1, "interruptions": 0,
                "interrupted_ns": 0, "longest_ns": 0})
        };
        document["truth"]["cores"] = vec![core(1), core(1)].into();
    });
    assert_eq!(error, "truth: core 1 is listed twice");
}

#[test]
fn read_errors_contain_the_path() {
    let folder = folder();
    let path = folder.path().join("nowhere.json");
    let error = Results::read(&path).unwrap_err();
    assert!(matches!(error, ResultsError::Io { .. }), "{error}");
    assert!(error.to_string().contains("nowhere.json"));
}

#[test]
fn failed_write_leaves_no_file() {
    let folder = folder();
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    let error = results(vec![]).write(&path).unwrap_err();
    assert!(error.to_string().contains("taken"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn write_replaces_the_old_file() {
    let (folder, path) = file(&"x".repeat(100_000));
    let written = results(vec![row(&[1, 2, 3])]);
    written.write(&path).unwrap();
    assert_eq!(Results::read(&path).unwrap(), written);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn results_round_trip(
        rows in prop::collection::vec(
            prop::collection::vec(0..70_000_000_000u64, 0..1_500), 0..4,
        ),
        lost in 0..5u64,
        reason in prop::option::of("[ -~]{0,40}"),
    ) {
        let rows = rows
            .iter()
            .map(|samples| Row { lost, failed: reason.clone(), ..row(samples) })
            .collect();
        let written = results(rows);
        let folder = folder();
        let path = folder.path().join("results.json");
        written.write(&path).unwrap();
        prop_assert_eq!(Results::read(&path).unwrap(), written);
    }
}

#[test]
fn write_follows_links_and_keeps_devices() {
    let folder = folder();
    let (file, link) = (folder.path().join("kept.json"), folder.path().join("link.json"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    std::fs::write(&file, "old").unwrap();
    let results = results(Vec::new());
    results.write(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(Results::read(&file).is_ok());

    let null = folder.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &null).unwrap();
    results.write(&null).unwrap();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn errors_are_one_line() {
    let kind = read_changed(|document| document["host"]["timestamping"] = "soft\nw\u{1b}re".into());
    assert!(kind.contains("unknown variant `soft\u{fffd}w\u{fffd}re`"), "{kind}");
    let schema = read_changed(|document| document["schema"] = "other\r\n/1".into());
    assert!(
        schema.ends_with("schema is \"other\u{fffd}\u{fffd}/1\", expected \"hairpin.results/1\"")
    );
}

#[test]
fn rejects_start_times_outside_the_range() {
    let error = read_changed(|document| document["started"] = "3026-11-21T18:00:00Z".into());
    assert!(error.contains("a time after the year 2554"), "{error}");
    let error = read_changed(|document| document["started"] = "1969-12-31T23:59:59Z".into());
    assert!(error.starts_with("not a results file"), "{error}");
}
