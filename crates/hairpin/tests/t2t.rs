//! `hairpin t2t` run as its user runs it: two processes and the packets between them.
//!
//! Nothing here asserts how fast anything is; what a fault must cause at least is asserted.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread::sleep;
use std::time::Duration;

use hairpin_reactor::Wait;
use serde_json::Value;
use support::{assert_done, assert_gone, hairpin, rows, signal, wait_for};

/// Two cores carry one exchange and one trader: these tests take turns.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A folder for results, and the command that writes them there.
fn t2t(words: &[&str]) -> (tempfile::TempDir, PathBuf, Command) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.arg("t2t").args(words).arg("--json").arg(&results);
    (folder, results, command)
}

#[test]
fn every_wait_adds_up() {
    let _turn = turn();
    let (_folder, results, mut command) = t2t(&["--interval-us", "500", "--samples", "400"]);
    assert_done(&command.output().unwrap());
    let rows = rows(&results);
    // Two cases a set, and a set whose generator was late on a busy machine comes twice.
    let names = |row: &Value| [row["feed"].clone(), row["wait"].clone()];
    let mut sets: Vec<_> = rows.iter().map(names).collect();
    assert!(sets.chunk_by(|a, b| a == b).all(|sets| matches!(sets.len(), 2 | 4)), "{sets:?}");
    sets.dedup();
    let waits: Vec<Wait> = Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()).collect();
    let feeds = ["multicast", "tcp"];
    let expected = feeds.map(|feed| waits.iter().map(move |wait| [feed, wait.name()]));
    assert_eq!(sets, expected.into_iter().flatten().collect::<Vec<_>>());
    for row in &rows {
        assert_eq!(row["samples"], 400, "{row}");
        assert_eq!(row["lost"], 0, "{row}");
        assert_eq!(row["failed"], Value::Null, "{row}");
        assert_eq!(row["p99_9"], Value::Null, "fewer than 10 samples lie beyond: {row}");
        assert!(row["min"].as_u64() > Some(0) && row["min"].as_u64() <= row["p50"].as_u64());
    }
    for pair in rows.chunks(2) {
        assert_eq!(pair[0]["case"], "intended to order");
        assert_eq!(pair[1]["case"], "sent to order");
        assert!(pair[0]["max"].as_u64() >= pair[1]["max"].as_u64(), "intended is never later");
    }
}

#[test]
fn matching_off_means_no_ticks() {
    let _turn = turn();
    let words = ["--matching", "off", "--wait", "epoll", "--interval-us", "500", "--samples", "99"];
    let (_folder, results, mut command) = t2t(&words);
    assert_done(&command.output().unwrap());
    for row in rows(&results) {
        assert_eq!(row["samples"], 0);
        assert_eq!(row["lost"], 0);
        assert_eq!(row["failed"], Value::Null);
    }
}

#[test]
fn a_or_b_mute_for_a_second_is_no_gap() {
    let _turn = turn();
    for side in ["--mute-a", "--mute-b"] {
        let words = ["--wait", "epoll", "--interval-us", "500", "--samples", "3000"];
        let (_folder, results, mut command) = t2t(&words);
        assert_done(&command.args([side, "500,2000"]).output().unwrap());
        assert!(rows(&results).iter().all(|row| row["samples"] == 3000 && row["lost"] == 0));
    }
}

#[test]
fn stopped_trader_delays_orders_and_no_tick() {
    let _turn = turn();
    let words =
        ["--feed", "multicast", "--wait", "epoll", "--interval-us", "500", "--samples", "5000"];
    let (_folder, results, mut command) = t2t(&words);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let trader = wait_for(&mut parent, "t2t-trader");
    // On a busy machine the first of these may come before the first tick.
    for _ in 0..3 {
        sleep(Duration::from_millis(700));
        signal("STOP", trader);
        sleep(Duration::from_millis(110));
        signal("CONT", trader);
    }
    assert_done(&parent.wait_with_output().unwrap());
    let rows = rows(&results);
    let max = |case: &str| {
        let row = rows.iter().find(|row| row["case"] == case).unwrap();
        assert_eq!((&row["samples"], &row["lost"]), (&5000.into(), &0.into()));
        row["max"].as_u64().unwrap()
    };
    let (intended, sent) = (max("intended to order"), max("sent to order"));
    assert!(intended >= 100_000_000, "intended to order: {intended} ns");
    assert!(sent >= 100_000_000, "sent to order: {sent} ns");
    // A generator that waited for orders would have sent one tick into the stop. This one went on:
    // of the 200 ticks that waited, one per cent of all waited for more than half of it.
    let p99 = rows.iter().find(|row| row["case"] == "sent to order").unwrap()["p99"].as_u64();
    assert!(p99 >= Some(50_000_000), "sent to order: p99 {p99:?} ns");
}

#[test]
fn interrupted_prints_and_saves_what_is_done() {
    let _turn = turn();
    let words = [
        "--feed",
        "multicast",
        "--wait",
        "poll,epoll",
        "--interval-us",
        "500",
        "--samples",
        "3000",
    ];
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        let (_folder, results, mut command) = t2t(&words);
        let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let first = wait_for(&mut parent, "t2t-exchange");
        assert_gone(&[first]);
        let second = wait_for(&mut parent, "t2t-exchange");
        let trader = wait_for(&mut parent, "t2t-trader");
        sleep(Duration::from_millis(700));
        signal(name, parent.id());
        let output = parent.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert_gone(&[second, trader]);
        let rows = rows(&results);
        assert!(rows.len() >= 4, "the first set is done, the second cut short");
        assert_eq!(rows[0]["samples"], 3_000);
        let last = rows.last().unwrap();
        assert!(last["samples"].as_u64() < Some(3_000), "{last}");
        assert_eq!(last["lost"], 0, "the orders under way still came: {last}");
        assert_eq!(last["failed"], Value::Null, "and were cancelled: {last}");
        let table = String::from_utf8_lossy(&output.stdout);
        assert!(table.contains("intended to order") && table.contains("poll"), "{table}");
    }
}

#[test]
fn a_closed_pipe_loses_no_results() {
    let _turn = turn();
    let words = ["--wait", "epoll", "--interval-us", "500", "--samples", "100"];
    let (_folder, results, mut command) = t2t(&words);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(parent.stdout.take());
    assert_eq!(parent.wait().unwrap().code(), Some(0));
    assert!(rows(&results).len() >= 2);
}

#[test]
fn killed_it_leaves_no_process() {
    let _turn = turn();
    let (_folder, _results, mut command) = t2t(&["--wait", "spin", "--interval-us", "10000"]);
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let exchange = wait_for(&mut parent, "t2t-exchange");
    let trader = wait_for(&mut parent, "t2t-trader");
    signal("KILL", parent.id());
    parent.wait().unwrap();
    assert_gone(&[exchange, trader]);
}

#[test]
fn a_killed_trader_fails_the_row_in_words() {
    let _turn = turn();
    let (_folder, _results, mut command) = t2t(&["--wait", "epoll", "--interval-us", "10000"]);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let trader = wait_for(&mut parent, "t2t-trader");
    sleep(Duration::from_millis(300));
    signal("KILL", trader);
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("trader"), "{said}");
}

#[test]
fn two_runs_at_once_do_not_meet() {
    let _turn = turn();
    let words =
        ["--interface", "lo", "--wait", "epoll", "--interval-us", "2000", "--samples", "300"];
    let runs = [t2t(&words), t2t(&words)].map(|(folder, results, mut command)| {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        (folder, results, child)
    });
    for (_folder, results, child) in runs {
        assert_done(&child.wait_with_output().unwrap());
        assert!(rows(&results).iter().all(|row| row["samples"] == 300 && row["lost"] == 0));
    }
}

#[test]
#[ignore = "needs root"]
fn an_ordinary_user_gets_the_same() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hairpin");
    fs::copy(env!("CARGO_BIN_EXE_hairpin"), &program).unwrap();
    let open = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    };
    open(folder.path());
    open(&program);
    let results = folder.path().join("results.json");
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&program)
        .args(["t2t", "--wait", "epoll", "--interval-us", "500", "--samples", "400", "--json"])
        .arg(&results)
        .current_dir("/")
        .output()
        .unwrap();
    assert_done(&output);
    assert!(rows(&results).iter().all(|row| row["samples"] == 400 && row["lost"] == 0));
}
