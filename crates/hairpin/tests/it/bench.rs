//! Runs `hairpin bench t2t`.
//!
//! The tests assert no latency or throughput.

use std::fs;
use std::path::Path;

use crate::support::{
    assert_done, assert_status, first_in_time, hairpin, rows, signal_in_second_round, turn,
};
use serde_json::Value;

/// A short run: one feed, one interval, few samples, 14 rounds.
const SMALL: [&str; 8] =
    ["bench", "t2t", "--feed", "tcp", "--interval-us", "500", "--samples", "210"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Prints the table of a results file with `--from`.
fn from(results: &Path, args: &[&str]) -> String {
    let output =
        hairpin().args(["bench", "t2t", "--from"]).arg(results).args(args).output().unwrap();
    assert_done(&output);
    text(&output.stdout)
}

#[test]
fn t2t_table_is_measured_and_printed_again_from_file() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let output = hairpin().args(SMALL).arg("--json").arg(&results).output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    let mut waits: Vec<_> = rows.iter().map(|row| row["wait"].as_str().unwrap()).collect();
    waits.dedup();
    assert_eq!(waits, ["poll", "epoll"]);
    for row in &rows {
        assert_eq!((&row["rounds"], &row["samples"]), (&7.into(), &210.into()), "{row}");
        assert_eq!((&row["lost"], &row["failed"]), (&0.into(), &Value::Null), "{row}");
    }
    let printed = text(&output.stdout);
    assert!(printed.starts_with(&from(&results, &[])), "{printed}");
    assert!(printed.contains("to the trader in sync: median"), "{printed}");
    for word in ["half the round trip", "tcp, 500 µs", "95 % interval", "verdict", "not public"] {
        assert!(printed.contains(word), "{word}: {printed}");
    }
    let sent = from(&results, &["--case", "sent"]);
    assert!(sent.contains("sent to order") && !printed.contains("sent to order"), "{sent}");

    let page = folder.path().join("report").join("report.html");
    let report = hairpin()
        .args(["bench", "t2t", "--from"])
        .arg(&results)
        .arg("--report")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_done(&report);
    assert!(page.is_file(), "the default folder is ./report");
}

#[test]
fn interrupted_run_prints_and_saves_completed_rounds() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let output = first_in_time(|| {
        let mut command = hairpin();
        command.args(["bench", "t2t", "--feed", "tcp", "--interval-us", "1000"]);
        command.args(["--samples", "21000", "--json"]).arg(&results);
        signal_in_second_round(&mut command, "TERM", false)
    });
    assert_status(&output, 143);
    let rows = rows(&results);
    assert!(rows.len() == 4 && rows.iter().all(|row| row["interrupted"] == true), "{rows:?}");
    let printed = text(&output.stdout);
    let poll = printed.lines().find(|line| line.starts_with("  poll: ")).unwrap();
    assert!(poll.starts_with("  poll: 3000 samples in 1 round, 0 lost"), "{printed}");
    assert!(poll.ends_with("; interrupted"), "the line may also report lateness: {printed}");
}

#[test]
fn unknown_table_fails_with_list_of_tables() {
    for args in [&["bench", "nosuch"][..], &["bench"], &["bench", "t2t", "--rounds", "6"]] {
        let output = hairpin().args(args).output().unwrap();
        assert_status(&output, 2);
        assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
    }
    let stderr = text(&hairpin().args(["bench", "nosuch"]).output().unwrap().stderr);
    assert!(stderr.contains("'nosuch'") && stderr.contains("t2t"), "{stderr}");
}

#[test]
fn results_without_the_table_are_rejected_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.json");
    let document = fs::read_to_string("tests/first-version.json").unwrap();
    let mut document: Value = serde_json::from_str(&document).unwrap();
    for row in document["rows"].as_array_mut().unwrap() {
        row["bench"] = "ping".into();
    }
    fs::write(&other, document.to_string()).unwrap();
    for file in [&other, &folder.path().join("missing.json")] {
        let output = hairpin().args(["bench", "t2t", "--from"]).arg(file).output().unwrap();
        assert_status(&output, 1);
        let stderr = text(&output.stderr);
        assert!(stderr.lines().count() == 1 && stderr.contains(".json"), "{stderr}");
    }
}
