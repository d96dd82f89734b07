//! Runs `hairpin bench-compare` on valid and invalid results files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hairpin_measure::{Clock, Host, Kind, Recorder, Results, Row, Setting, Timestamping};
use hairpin_time::{Duration, Utc};

fn setting(wait: &str) -> Setting {
    Setting {
        bench: "ping".to_owned(),
        case: "ping".to_owned(),
        feed: None,
        transport: "kernel".to_owned(),
        wait: wait.to_owned(),
        protocol: "udp".to_owned(),
        size_bytes: 64,
        interval_us: 100,
        kind: Kind::Rtt,
        clock: Clock::Tsc,
        rounds: 1,
    }
}

/// Returns a row with rounds of 40 samples. Their medians exceed `p50` by at most 0.6 %.
fn row(wait: &str, p50: u64, rounds: u64) -> Row {
    let round = |round: u64| {
        let mut latency = Recorder::with_capacity(40);
        let median = p50 + p50 * (round * 5 % 7) / 1_000;
        (0..40).for_each(|at| latency.record(Duration::from_nanos(median + at)));
        Row::new(setting(wait), &latency, &Recorder::with_capacity(0))
    };
    let rounds: Vec<Row> = (0..rounds).map(round).collect();
    Row::from_rounds(&rounds).unwrap()
}

fn results(rows: Vec<Row>) -> Results {
    let host = Host {
        cpu: "A processor".to_owned(),
        cores: 2,
        kernel: "6.1.0".to_owned(),
        virtualised: true,
        tsc_hz: None,
        governor: None,
        nic: "veth".to_owned(),
        timestamping: Timestamping::None,
    };
    let started = Utc::from_nanos(1_795_284_000_000_000_000);
    Results { rows, ..Results::new(started, "hairpin ping", host) }
}

/// Writes the results as `0.json`, `1.json`, … to a temporary folder.
fn files<const N: usize>(all: [Results; N]) -> (tempfile::TempDir, [PathBuf; N]) {
    let folder = tempfile::tempdir().unwrap();
    let mut number = 0..;
    let paths = all.map(|results| {
        let path = folder.path().join(format!("{}.json", number.next().unwrap()));
        results.write(&path).unwrap();
        path
    });
    (folder, paths)
}

/// Returns the exit status, standard output and standard error.
fn compare(args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hairpin"));
    let output = command.arg("bench-compare").args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the error message after checking that it is one line and the exit status is `status`.
fn line(args: &[&str], status: i32) -> String {
    let (code, out, stderr) = compare(args);
    assert_eq!((code, out.as_str()), (Some(status), ""), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    assert!(stderr.starts_with("hairpin: ") && !stderr.contains("panicked"), "{args:?}: {stderr}");
    stderr
}

fn three() -> Vec<Row> {
    vec![row("block", 30_000, 7), row("epoll", 25_000, 7), row("spin", 12_000, 7)]
}

#[test]
fn file_compared_with_itself_is_the_same() {
    let (_folder, [a]) = files([results(three())]);
    // Runs on a virtual machine differ by more than 5 % otherwise.
    let (status, out, stderr) = compare(&[text(&a), text(&a), "--between-runs", "2"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{out}");
    let verdicts = out.lines().filter(|line| line.trim_end().ends_with("  the same"));
    assert_eq!(verdicts.count(), 3, "{out}");
    assert!(
        out.contains("\n3 rows: 3 the same, 0 undecided, 0 slower, 0 faster, 0 not comparable;"),
        "{out}"
    );
    assert!(!out.contains("different machines"), "{out}");
}

#[test]
fn slower_rows_fail_only_with_fail_on_slower() {
    let slow = vec![row("block", 36_000, 7), row("epoll", 30_000, 7), row("spin", 14_400, 7)];
    let (_folder, [a, b]) = files([results(three()), results(slow)]);
    let (status, out, stderr) = compare(&[text(&a), text(&b)]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{out}");
    assert_eq!(out.lines().filter(|line| line.ends_with("  slower")).count(), 3, "{out}");
    let (status, out, stderr) = compare(&[text(&a), text(&b), "--fail-on-slower"]);
    assert_eq!((status, stderr.as_str()), (Some(1), "hairpin: 3 of 3 rows are slower\n"));
    assert!(out.contains("3 slower"), "the table must be printed: {out}");
    let (status, out, _) = compare(&[text(&b), text(&a), "--fail-on-slower"]);
    assert_eq!(status, Some(0));
    assert_eq!(out.lines().filter(|line| line.ends_with("  faster")).count(), 3, "{out}");
    let (_, out, _) = compare(&[text(&a), text(&b), "--between-runs", "25"]);
    assert!(out.contains("\n3 rows: 0 the same, 3 undecided"), "{out}");
    assert!(out.contains("undecided; no number of rounds up to 100,000 would decide"), "{out}");
}

#[test]
fn rows_without_rounds_have_a_ratio_and_no_verdict() {
    let mut old = row("epoll", 25_000, 1);
    old.by_round.clear();
    let (_folder, [a, b]) = files([results(vec![old]), results(three())]);
    let (status, out, _) = compare(&[text(&a), text(&b)]);
    assert_eq!(status, Some(0));
    assert!(out.contains("not comparable: too few rounds: 0 and 7, 6 are needed"), "{out}");
    assert_eq!(out.matches("not comparable: only in B").count(), 2, "{out}");
}

#[test]
fn different_machines_are_reported_above_the_table() {
    let mut other = results(three());
    (other.host.cpu, other.host.cores) = ("Another".to_owned(), 64);
    let (_folder, [a, b]) = files([results(three()), other]);
    let (_, out, _) = compare(&[text(&a), text(&b)]);
    let expected = "different machines, so any difference may be the machine's: processor: A \
                processor / Another; cores: 2 / 64";
    assert_eq!(out.lines().nth(2), Some(expected), "{out}");
}

#[test]
fn json_option_writes_the_comparison() {
    let (folder, [a, b]) = files([results(three()), results(vec![row("epoll", 50_000, 7)])]);
    let json = folder.path().join("c.json");
    let (status, ..) = compare(&[text(&a), text(&b), "--json", text(&json)]);
    assert_eq!(status, Some(0));
    let read: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!(read["schema"], "hairpin.comparison/1");
    assert_eq!((&read["between_runs"], &read["machines"]), (&0.1.into(), &serde_json::json!([])));
    let epoll = &read["rows"][1];
    assert_eq!((&epoll["wait"], &epoll["verdict"]), (&"epoll".into(), &"slower".into()));
    assert_eq!((&epoll["a"]["rounds"], &epoll["b"]["rounds"]), (&7.into(), &7.into()));
    let ratio = epoll["ratio"]["ratio"].as_f64().unwrap();
    assert!((1.99..2.01).contains(&ratio), "{ratio}");
    assert!(epoll["ratio"]["low"].as_f64() < epoll["over_rounds"]["low"].as_f64());
    let quiet = epoll["quiet_ratio"]["ratio"].as_f64().unwrap();
    assert!((1.99..2.01).contains(&quiet), "{quiet}");
    assert!(epoll["quiet_ratio"]["low"].as_f64() < epoll["quiet_over_rounds"]["low"].as_f64());
    assert_eq!(epoll["median_verdict"], "slower");
    assert!(epoll["a"]["quiet"].as_f64() <= epoll["a"]["p50"].as_f64());
    assert_eq!(read["rows"][0]["median_verdict"], serde_json::Value::Null);
    let block = &read["rows"][0];
    assert_eq!((&block["verdict"], &block["b"]), (&"not comparable: only in A".into(), &().into()));
}

#[test]
fn unreadable_and_unwritable_files_are_reported_in_one_line() {
    let (folder, [a]) = files([results(three())]);
    let bad = folder.path().join("bad.json");
    fs::write(&bad, "{\"schema\": \"hairpin.comparison/1\"}").unwrap();
    let stderr = line(&[text(&a), text(&bad)], 1);
    assert!(stderr.contains("bad.json: schema is \"hairpin.comparison/1\""), "{stderr}");
    let stderr = line(&[text(&folder.path().join("no.json")), text(&a)], 1);
    assert!(stderr.ends_with("no.json: No such file or directory (os error 2)\n"), "{stderr}");
    assert_eq!(stderr.matches("No such file").count(), 1, "{stderr}");
    let stderr = line(&[text(&a), text(&a), "--json", text(folder.path())], 1);
    assert!(stderr.contains("cannot write the comparison to "), "{stderr}");
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    assert!(line(&[], 2).contains("<A> and <B> are required"));
    assert!(line(&["a.json"], 2).contains("<B>"));
    let stderr = line(&["a.json", "b.json", "--between-runs", "-1"], 2);
    assert!(stderr.contains("--between-runs") || stderr.contains("-1"), "{stderr}");
    let stderr = line(&["a.json", "b.json", "--between-runs", "nan"], 2);
    assert!(stderr.contains("expected a number from 0 to 1000"), "{stderr}");
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let (_folder, [a]) = files([results(three())]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hairpin"))
        .args(["bench-compare", text(&a), text(&a)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
