//! Runs `hairpin bench order`.
//!
//! The tests assert no latency or throughput.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::support::{
    assert_done, assert_gone, assert_status, copy_hairpin, hairpin, rows, signal, turn, wait_for,
};
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const STAGES: [&str; 5] =
    ["handler receive", "handler send", "handler send + receive", "OS + handler send", "one way"];

const ONE_ROUND: [&str; 4] = ["--rounds", "1", "--interval-us", "0"];

/// Returns the case, wait, interval and kind of every row of a short run with these intervals.
fn expected(intervals: &[u64]) -> Vec<(String, &'static str, u64, &'static str)> {
    let kind = |stage: &str| if stage == "one way" { "rtt" } else { "stage" };
    let mut all = Vec::new();
    for &interval in intervals {
        for suffix in ["", ", bare gateway"] {
            let case = |stage: &str| (format!("{stage}{suffix}"), "spin", interval, kind(stage));
            all.extend(STAGES.map(case));
        }
        let bare = |stage: &str| (format!("bare sockets, {stage}"), "spin", interval, kind(stage));
        all.extend(["OS + handler send", "one way"].map(bare));
    }
    all.extend(STAGES[..3].iter().map(|&stage| (stage.to_owned(), "none", 0, "batch")));
    all
}

fn setting(row: &Value) -> (String, &str, u64, &str) {
    let word = |name: &str| row[name].as_str().unwrap();
    (word("case").to_owned(), word("wait"), row["interval_us"].as_u64().unwrap(), word("kind"))
}

fn add_short_run(command: &mut Command, results: &Path, args: [&str; 4]) {
    command.args(["bench", "order", "--samples", "20", "--xdp", "off", "--preload", "off"]);
    command.args(args);
    command.arg("--json").arg(results);
}

#[track_caller]
fn assert_measured(results: &Path, intervals: &[u64], ground: &str) {
    let rows = rows(results);
    assert_eq!(rows.iter().map(setting).collect::<Vec<_>>(), expected(intervals));
    for row in &rows {
        let [samples, lost] = ["samples", "lost"].map(|name| row[name].as_u64().unwrap());
        let sent = if row["kind"] == "batch" { 10 } else { 20 };
        assert_eq!((samples, lost, &row["failed"]), (sent, 0, &Value::Null), "{row}");
        assert!(row["ground"].as_str().unwrap().contains(ground), "{row}");
        assert_eq!(row["size_bytes"], 144);
    }
}

#[test]
fn order_stages_are_measured_and_printed_again_from_file() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    add_short_run(&mut command, &results, ["--rounds", "2", "--interval-us", "500,0"]);
    let output = command.output().unwrap();
    assert_done(&output);
    assert_measured(&results, &[500, 0], "");
    let printed = text(&output.stdout);
    let again = hairpin().args(["bench", "order", "--from"]).arg(&results).output().unwrap();
    assert_done(&again);
    assert!(printed.starts_with(&text(&again.stdout)), "{printed}");
    let expected = ["native sockets", "3327 / 4131 / 4921", "0.5 ms between", "bare gateway, spin"];
    for expected in STAGES.iter().chain(&expected) {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    let mut compare = hairpin();
    let compared = compare.arg("bench-compare").args([&results, &results]).output().unwrap();
    assert_done(&compared);
    assert!(text(&compared.stdout).contains("handler send"), "{}", text(&compared.stdout));
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_can_run_the_benchmark() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    // Only root can read the build folder, so the test runs a copy of the program.
    let program = folder.path().join("hairpin");
    copy_hairpin(&program);
    std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).unwrap();
    let results = folder.path().join("results.json");
    let mut command = Command::new(&program);
    command.env_remove("HAIRPIN_SECRET_KEY").stdin(Stdio::null()).current_dir("/");
    add_short_run(&mut command, &results, ONE_ROUND);
    let output = command.uid(65_534).gid(65_534).output().unwrap();
    assert_done(&output);
    assert_measured(&results, &[0], "");
}

#[test]
fn interface_is_recorded_in_the_results() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    add_short_run(&mut command, &results, ONE_ROUND);
    assert_done(&command.args(["--interface", "lo"]).output().unwrap());
    assert_measured(&results, &[0], "address of lo");
}

#[test]
fn interrupted_run_prints_and_saves_completed_rounds() {
    let _turn = turn();
    // On a busy machine some cases have no samples after the first wait.
    let has_samples = |row: &Value| row["samples"].as_u64() > Some(0);
    let waits = [1_500, 6_000, 24_000].map(Duration::from_millis);
    let mut runs = waits.into_iter().map(interrupt_after);
    let complete = runs.find(|(rows, _)| rows.iter().all(has_samples));
    let (rows, printed) = complete.expect("all cases have samples after 24 s");
    assert!(rows.len() == 5 && rows.iter().all(|row| row["interrupted"] == true), "{rows:?}");
    let is_interrupted = |line: &str| line.starts_with("  spin: ") && line.ends_with("interrupted");
    assert!(printed.lines().any(is_interrupted), "{printed}");
}

/// Interrupts a run after a while, and returns its rows and its output.
fn interrupt_after(wait: Duration) -> (Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.args(["bench", "order", "--samples", "200000", "--rounds", "1"]);
    command.arg("--json").arg(&results);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let gateway = wait_for(&mut parent, "bench-gateway");
    let client = wait_for(&mut parent, "bench-client");
    sleep(wait);
    signal("TERM", parent.id());
    let output = parent.wait_with_output().unwrap();
    assert_status(&output, 143);
    assert_gone(&[gateway, client]);
    (rows(&results), text(&output.stdout))
}

#[test]
fn death_of_the_gateway_is_reported() {
    let _turn = turn();
    let mut command = hairpin();
    command.args(["bench", "order", "--samples", "20000", "--rounds", "1"]);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let gateway = wait_for(&mut parent, "bench-gateway");
    wait_for(&mut parent, "bench-client");
    sleep(Duration::from_millis(300));
    signal("KILL", gateway);
    let output = parent.wait_with_output().unwrap();
    assert_status(&output, 1);
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("gateway: exited") || stderr.contains("client: session ended"),
        "{stderr}"
    );
    assert!(stderr.lines().all(|line| !line.contains("panicked")), "{stderr}");
}

#[test]
fn invalid_arguments_are_rejected_in_one_line() {
    let wrong: [&[&str]; 5] = [
        &["--samples", "0"],
        &["--interval-us", "1000001"],
        &["--wait", "sleep"],
        &["--rounds", "many"],
        &["--from", "a.json", "--samples", "7"],
    ];
    for args in wrong {
        let output = hairpin().args(["bench", "order"]).args(args).output().unwrap();
        assert_status(&output, 2);
        assert_eq!(text(&output.stderr).lines().count(), 1, "{args:?}");
    }
    for (args, names) in [(["--from", "missing.json"], ".json"), (["--cpus", "0,1023"], "1023")] {
        let output = hairpin().args(["bench", "order"]).args(args).output().unwrap();
        assert_status(&output, 1);
        let stderr = text(&output.stderr);
        assert!(stderr.lines().count() == 1 && stderr.contains(names), "{stderr}");
    }
}
