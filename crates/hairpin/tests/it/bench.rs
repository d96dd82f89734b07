//! `hairpin bench` run as its user runs it.
//!
//! Nothing here asserts how fast anything is.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::support::{
    assert_done, assert_gone, assert_status, hairpin, rows, signal, turn, wait_for,
};
use serde_json::Value;

/// One feed, one interval, few samples: 14 rounds.
const SMALL: [&str; 8] =
    ["bench", "t2t", "--feed", "tcp", "--interval-us", "500", "--samples", "210"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The table of a results file, printed again.
fn from(results: &Path, words: &[&str]) -> String {
    let output =
        hairpin().args(["bench", "t2t", "--from"]).arg(results).args(words).output().unwrap();
    assert_done(&output);
    text(&output.stdout)
}

#[test]
fn poll_and_epoll_in_seven_rounds_and_the_same_table_from_the_file_alone() {
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
    assert!(page.is_file(), "./report, unless another folder is named");
}

#[test]
fn interrupted_it_prints_and_saves_what_is_done() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.args(["bench", "t2t", "--feed", "tcp", "--interval-us", "1000", "--samples", "7000"]);
    command.arg("--json").arg(&results).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut parent = command.spawn().unwrap();
    let first = wait_for(&mut parent, "t2t-exchange");
    assert_gone(&[first]);
    let second = wait_for(&mut parent, "t2t-exchange");
    let trader = wait_for(&mut parent, "t2t-trader");
    sleep(Duration::from_millis(700));
    signal("TERM", parent.id());
    let output = parent.wait_with_output().unwrap();
    assert_status(&output, 143);
    assert_gone(&[second, trader]);
    let rows = rows(&results);
    assert!(rows.len() == 4 && rows.iter().all(|row| row["interrupted"] == true), "{rows:?}");
    let printed = text(&output.stdout);
    let poll = printed.lines().find(|line| line.starts_with("  poll: ")).unwrap();
    assert!(poll.starts_with("  poll: 1000 samples in 1 round, 0 lost"), "{printed}");
    assert!(poll.ends_with("; interrupted"), "and it may have been late: {printed}");
}

#[test]
fn an_unknown_table_is_refused_in_one_line_with_those_there_are() {
    for words in [&["bench", "rds"][..], &["bench"], &["bench", "t2t", "--rounds", "6"]] {
        let output = hairpin().args(words).output().unwrap();
        assert_status(&output, 2);
        assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
    }
    let said = text(&hairpin().args(["bench", "rds"]).output().unwrap().stderr);
    assert!(said.contains("'rds'") && said.contains("t2t"), "{said}");
}

#[test]
fn a_file_without_the_table_is_refused_in_one_line() {
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
        let said = text(&output.stderr);
        assert!(said.lines().count() == 1 && said.contains(".json"), "{said}");
    }
}
