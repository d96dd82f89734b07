//! Runs `hairpin bench feed`.
//!
//! The tests assert no latency or throughput.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::support::{
    assert_done, assert_gone, assert_status, hairpin, rows, signal, turn, wait_for,
};
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the case, wait, interval and kind of a row.
fn setting(row: &Value) -> (&str, &str, u64, &str) {
    let word = |name: &str| row[name].as_str().unwrap();
    (word("case"), word("wait"), row["interval_us"].as_u64().unwrap(), word("kind"))
}

#[test]
fn feed_tables_are_measured_and_printed_again_from_file() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.args(["bench", "feed", "--samples", "20", "--rounds", "2", "--json"]).arg(&results);
    let output = command.output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    let expected = [
        ("application only", "spin", 5_000, "stage"),
        ("with network and kernel", "spin", 5_000, "stage"),
        ("application only, kept warm", "spin", 5_000, "stage"),
        ("with network and kernel, kept warm", "spin", 5_000, "stage"),
        ("application only", "spin", 5_000, "stage"),
        ("with network and kernel", "spin", 5_000, "stage"),
        ("application only", "spin", 5_000, "stage"),
        ("with network and kernel", "spin", 5_000, "stage"),
        ("bare receiver", "spin", 5_000, "stage"),
        ("application only", "spin", 0, "stage"),
        ("with network and kernel", "spin", 0, "stage"),
        ("application only", "spin", 0, "stage"),
        ("with network and kernel", "spin", 0, "stage"),
        ("application only", "spin", 0, "stage"),
        ("with network and kernel", "spin", 0, "stage"),
        ("bare receiver", "spin", 0, "stage"),
        ("application only", "none", 0, "batch"),
    ];
    assert_eq!(rows.iter().map(setting).collect::<Vec<_>>(), expected);
    for transport in ["xdp", "preload"] {
        assert_eq!(rows.iter().filter(|row| row["transport"] == transport).count(), 4);
    }
    for row in &rows {
        let failed = row["failed"].as_str();
        let unavailable = format!("{} is not available: ", row["transport"].as_str().unwrap());
        if failed.is_some_and(|reason| reason.starts_with(&unavailable)) {
            // This row requires root. The tests of `xdp` and `preload` cover it.
            continue;
        }
        let [samples, lost] = ["samples", "lost"].map(|name| row[name].as_u64().unwrap());
        let sent = match setting(row) {
            (_, _, _, "batch") => 100,
            (_, _, 0, _) => 200,
            _ => 20,
        };
        assert_eq!((samples + lost, failed), (sent, None), "{row}");
        assert!(samples > 0 && row["start_ns"].is_u64() == (row["kind"] != "batch"), "{row}");
        assert_eq!(row["size_bytes"], 76);
    }
    let printed = text(&output.stdout);
    let again = hairpin().args(["bench", "feed", "--from"]).arg(&results).output().unwrap();
    assert_done(&again);
    assert!(printed.starts_with(&text(&again.stdout)), "{printed}");
    for text in ["SocketFeedEngine", "5 ms between packets", "no delay", "spin, kept warm", "dry"] {
        assert!(printed.contains(text), "{text}: {printed}");
    }
    assert!(!printed.contains("not measured"), "{printed}");
}

#[test]
fn interrupted_run_prints_and_saves_completed_rounds() {
    let _turn = turn();
    // On a busy machine there are no samples after the first wait.
    let has_samples = |row: &Value| row["samples"].as_u64() > Some(0);
    let waits = [2, 6, 24].map(Duration::from_secs);
    let mut runs = waits.into_iter().map(interrupt_after);
    let complete = runs.find(|(rows, _)| rows.iter().all(has_samples));
    let (rows, printed) = complete.expect("the cases have samples after 24 s");
    assert!(rows.len() == 2 && rows.iter().all(|row| row["interrupted"] == true), "{rows:?}");
    // The line may also report lateness.
    let is_interrupted = |line: &str| line.starts_with("  spin: ") && line.ends_with("interrupted");
    assert!(printed.lines().any(is_interrupted) && printed.contains("not measured"), "{printed}");
}

/// Interrupts a run after a while, and returns its rows and its output.
fn interrupt_after(wait: Duration) -> (Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.args(["bench", "feed", "--samples", "7000", "--rounds", "1", "--json"]).arg(&results);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sender = wait_for(&mut parent, "bench-sender");
    let receiver = wait_for(&mut parent, "bench-receiver");
    sleep(wait);
    signal("TERM", parent.id());
    let output = parent.wait_with_output().unwrap();
    assert_status(&output, 143);
    assert_gone(&[sender, receiver]);
    (rows(&results), text(&output.stdout))
}

#[test]
fn death_of_the_sender_is_reported() {
    let _turn = turn();
    let mut command = hairpin();
    command.args(["bench", "feed", "--samples", "7000", "--rounds", "1"]);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&mut parent, "bench-receiver");
    let sender = wait_for(&mut parent, "bench-sender");
    signal("KILL", sender);
    let output = parent.wait_with_output().unwrap();
    assert_status(&output, 1);
    let stderr = text(&output.stderr);
    assert!(stderr.contains("sender: exited without an error message"), "{stderr}");
    assert!(stderr.lines().all(|line| !line.contains("panicked")), "{stderr}");
}

#[test]
fn results_without_the_tables_are_rejected_in_one_line() {
    for file in ["tests/first-version.json", "missing.json"] {
        let output = hairpin().args(["bench", "feed", "--from", file]).output().unwrap();
        assert_status(&output, 1);
        let stderr = text(&output.stderr);
        assert!(stderr.lines().count() == 1 && stderr.contains(".json"), "{stderr}");
    }
}
