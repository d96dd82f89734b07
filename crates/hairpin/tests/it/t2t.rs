//! Runs `hairpin t2t`: two processes and the packets between them.
//!
//! The tests assert no latency, except the least effect of an injected fault.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{
    TIMEOUT, assert_done, assert_gone, assert_status, copy_hairpin, first_in_time, hairpin,
    has_counted, has_sent, rows, signal, signal_in_second_round, turn, wait_for, wait_for_count,
};
use hairpin_reactor::Wait;
use serde_json::Value;

/// Returns a results folder, the results file, and the command that writes it.
fn t2t(args: &[&str]) -> (tempfile::TempDir, PathBuf, Command) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.arg("t2t").args(args).arg("--json").arg(&results);
    (folder, results, command)
}

#[test]
fn waits_lose_no_tick() {
    let _turn = turn();
    let (_folder, results, mut command) = t2t(&["--quick", "--samples", "400"]);
    assert_done(&command.output().unwrap());
    let rows = rows(&results);
    // A benchmark case has two rows.
    let names = |row: &Value| [row["feed"].clone(), row["wait"].clone()];
    let mut sets: Vec<_> = rows.iter().map(names).collect();
    assert!(sets.chunk_by(|a, b| a == b).all(|sets| sets.len() == 2), "{sets:?}");
    sets.dedup();
    let waits: Vec<Wait> = Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()).collect();
    let feeds = ["multicast", "tcp"];
    let expected = feeds.map(|feed| waits.iter().map(move |wait| [feed, wait.name()]));
    assert_eq!(sets, expected.into_iter().flatten().collect::<Vec<_>>());
    for row in &rows {
        assert_eq!(row["samples"], 400, "{row}");
        assert_eq!(row["lost"], 0, "{row}");
        assert_eq!(row["failed"], Value::Null, "{row}");
        assert_eq!(row["p99_9"], Value::Null, "fewer than 10 samples exceed p99.9: {row}");
        assert!(row["min"].as_u64() > Some(0) && row["min"].as_u64() <= row["p50"].as_u64());
    }
    for pair in rows.chunks(2) {
        assert_eq!(pair[0]["case"], "intended to order");
        assert_eq!(pair[1]["case"], "sent to order");
        assert!(
            pair[0]["max"].as_u64() >= pair[1]["max"].as_u64(),
            "the intended send time is never later than the actual"
        );
    }
}

/// Returns the same command, run by strace, which writes each program that starts to a file.
fn traced(command: &Command, log: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=execve", "-s", "200", "-o"]).arg(log);
    strace.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        value.map(|value| strace.env(name, value));
    }
    strace.env_remove("HAIRPIN_SECRET_KEY");
    strace
}

#[test]
fn rounds_use_new_processes_and_yield_one_row_per_wait() {
    let _turn = turn();
    let args = ["--quick", "--feed", "tcp", "--wait", "poll,epoll", "--rounds", "3"];
    let (folder, results, mut command) = t2t(&args);
    command.args(["--samples", "200"]);
    let log = folder.path().join("strace");
    let Ok(output) = traced(&command, &log).output() else {
        println!("skipped: strace is not installed");
        return;
    };
    assert_done(&output);
    let rows = rows(&results);
    let log = fs::read_to_string(log).unwrap();
    let is_exchange = |line: &&str| line.contains("\"t2t-exchange\"") && line.ends_with(" = 0");
    let exchanges = log.lines().filter(is_exchange).count();
    assert_eq!((rows.len(), exchanges), (4, 6), "{log}");
    for row in &rows {
        assert_eq!((&row["samples"], &row["rounds"]), (&200.into(), &3.into()), "{row}");
        let rounds = row["by_round"].as_array().unwrap();
        let samples: Vec<_> = rounds.iter().map(|round| round["samples"].as_u64()).collect();
        assert_eq!(samples, [Some(67), Some(67), Some(66)], "{row}");
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("to the trader in sync: median"), "{stdout}");
}

#[test]
fn interrupted_run_joins_completed_rounds() {
    let _turn = turn();
    let args = ["--feed", "tcp", "--wait", "poll,epoll", "--interval-us", "1000", "--rounds", "9"];
    let (_folder, results, mut command) = t2t(&args);
    command.args(["--samples", "4500"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut parent = command.spawn().unwrap();
    let mut last = 0;
    for _ in 0..3 {
        let exchange = wait_for_another(&mut parent, "t2t-exchange", last);
        last = exchange;
    }
    let trader = wait_for(&mut parent, "t2t-trader");
    // A later round is as good.
    has_counted(last, "exchange.ticks", 1);
    signal("INT", parent.id());
    let output = parent.wait_with_output().unwrap();
    assert_status(&output, 130);
    assert_gone(&[last, trader]);
    let rows = rows(&results);
    let firsts: Vec<_> = rows.iter().step_by(2).collect();
    assert_eq!(firsts.len(), 2, "{rows:?}");
    assert_eq!((&firsts[0]["wait"], &firsts[1]["wait"]), (&"poll".into(), &"epoll".into()));
    assert!(firsts.iter().all(|row| row["interrupted"] == true && row["failed"] == Value::Null));
    for row in firsts {
        let [samples, rounds] = ["samples", "rounds"].map(|name| row[name].as_u64().unwrap());
        assert!((500..4_500).contains(&samples), "the first round is complete, not all: {row}");
        // The interrupted round may have no samples yet.
        let by_round = row["by_round"].as_array().unwrap();
        let begun = by_round.iter().filter(|round| round["samples"].as_u64() > Some(0)).count();
        assert_eq!((by_round.len(), begun), (rounds as usize, samples.div_ceil(500) as usize));
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"));
}

#[test]
fn killed_trader_fails_its_row_and_others_continue() {
    let _turn = turn();
    let (output, rows, reason) = first_in_time(kill_trader_in_first_round);
    assert_status(&output, 1);
    assert!(!reason.contains("round 2"), "{reason}");
    assert_eq!(rows[0]["samples"], 1_000, "its other round must be recorded: {}", rows[0]);
    let epoll: Vec<_> = rows.iter().filter(|row| row["wait"] == "epoll").collect();
    assert!(epoll.iter().all(|row| row["failed"] == Value::Null && row["samples"] == 2_000));
}

/// Returns the output, the rows and the reason of the failed one.
fn kill_trader_in_first_round() -> Option<(Output, Vec<Value>, String)> {
    let args = ["--feed", "tcp", "--wait", "poll,epoll", "--interval-us", "1000", "--rounds", "2"];
    let (_folder, results, mut command) = t2t(&args);
    command.args(["--quick", "--samples", "2000"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut parent = command.spawn().unwrap();
    let exchange = wait_for(&mut parent, "t2t-exchange");
    let trader = wait_for(&mut parent, "t2t-trader");
    let is_killed = has_counted(exchange, "exchange.ticks", 1) && has_sent("KILL", &[trader]);
    let output = parent.wait_with_output().unwrap();
    let rows = rows(&results);
    let reason = rows[0]["failed"].as_str().filter(|it| it.starts_with("round 1: "))?.to_owned();
    is_killed.then_some((output, rows, reason))
}

/// Waits for a child that runs `hairpin ROLE` and is not `other`.
fn wait_for_another(parent: &mut Child, role: &str, other: u32) -> u32 {
    let until = Instant::now() + TIMEOUT;
    while Instant::now() < until {
        match wait_for(parent, role) {
            same if same == other => sleep(Duration::from_millis(5)),
            another => return another,
        }
    }
    panic!("no other {role} within {TIMEOUT:?}");
}

/// Returns the name and allowed cores of each thread of a process.
fn threads(process: u32) -> Vec<(String, String)> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().filter_map(Result::ok);
    let thread = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().to_owned()
        };
        (field("Name:"), field("Cpus_allowed_list:"))
    };
    tasks.map(thread).collect()
}

#[test]
fn threads_have_their_configured_name_and_core() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.toml");
    fs::write(&file, "[threads]\nexchange = 1\ntrader = 0\n").unwrap();
    let by_file = ["--threads", file.to_str().unwrap()];
    let has_ring = Wait::ALL.iter().any(|wait| wait.name() == "io_uring" && wait.probe().is_ok());
    let ring = if has_ring { "io_uring" } else { "spin" };
    for (args, wait) in [(["--cpus", "1,0"], "epoll"), (by_file, ring)] {
        let (_folder, _results, mut command) = t2t(&["--wait", wait, "--interval-us", "10000"]);
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        let mut parent = command.spawn().unwrap();
        let exchange = wait_for(&mut parent, "t2t-exchange");
        let trader = wait_for(&mut parent, "t2t-trader");
        // Each process names and pins its threads before it trades.
        wait_for_count(exchange, "exchange.ticks", 2);
        let all = [threads(exchange), threads(trader)];
        signal("TERM", parent.id());
        assert_eq!(parent.wait().unwrap().code(), Some(143));
        let expected = [("exchange", "1"), ("trader", "0")];
        for (threads, (name, core)) in all.iter().zip(expected) {
            let is_bound = |thread: &(String, String)| thread.0 == name && thread.1 == core;
            assert!(!threads.is_empty() && threads.iter().all(is_bound), "{wait}: {threads:?}");
        }
    }
}

#[test]
fn matching_off_means_no_ticks() {
    let _turn = turn();
    let args = ["--matching", "off", "--wait", "epoll", "--interval-us", "500", "--samples", "99"];
    let (_folder, results, mut command) = t2t(&args);
    assert_done(&command.output().unwrap());
    for row in rows(&results) {
        assert_eq!(row["samples"], 0);
        assert_eq!(row["lost"], 0);
        assert_eq!(row["failed"], Value::Null);
    }
}

#[test]
fn outage_of_one_feed_line_is_not_a_gap() {
    let _turn = turn();
    for side in ["--mute-a", "--mute-b"] {
        // During the outage each packet has one copy, so a packet dropped by a full socket buffer
        // would be a gap. At this interval the buffer holds one second of packets.
        let args = ["--wait", "epoll", "--interval-us", "5000", "--samples", "60"];
        let (_folder, results, mut command) = t2t(&args);
        assert_done(&command.args(["--quick", side, "80,40"]).output().unwrap());
        assert!(rows(&results).iter().all(|row| row["samples"] == 60 && row["lost"] == 0));
    }
}

#[test]
fn stopped_trader_delays_orders_but_no_ticks() {
    let _turn = turn();
    // The exchange counts a tick as lost after a second. A machine that does other work may make a
    // stop that long, but not every time.
    let most = Duration::from_millis(500);
    assert!((0..20).any(|_| stop_trader() < most), "all stops were long");
}

/// Runs with a trader that is stopped three times. Checks the results, unless a stop was longer
/// than half a second. Returns the longest.
fn stop_trader() -> Duration {
    let args =
        ["--feed", "multicast", "--wait", "epoll", "--interval-us", "500", "--samples", "5000"];
    let (_folder, results, mut command) = t2t(&args);
    command.arg("--quick");
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let exchange = wait_for(&mut parent, "t2t-exchange");
    let trader = wait_for(&mut parent, "t2t-trader");
    let stop_at = |ticks| {
        has_counted(exchange, "exchange.ticks", ticks).then_some(())?;
        let begin = Instant::now();
        has_sent("STOP", &[trader]).then_some(())?;
        sleep(Duration::from_millis(110));
        signal("CONT", trader);
        Some(begin.elapsed())
    };
    // A round that has ended is stopped too late.
    let stops = [200, 1_700, 3_200].map(|ticks| stop_at(ticks).unwrap_or(Duration::MAX));
    let longest = stops[0].max(stops[1]).max(stops[2]);
    let output = parent.wait_with_output().unwrap();
    if longest >= Duration::from_millis(500) {
        return longest;
    }
    assert_done(&output);
    let rows = rows(&results);
    let max = |case: &str| {
        let row = rows.iter().find(|row| row["case"] == case).unwrap();
        assert_eq!((&row["samples"], &row["lost"]), (&5000.into(), &0.into()));
        row["max"].as_u64().unwrap()
    };
    let (intended, sent) = (max("intended to order"), max("sent to order"));
    assert!(intended >= 100_000_000, "intended to order: {intended} ns");
    assert!(sent >= 100_000_000, "sent to order: {sent} ns");
    // A generator that waits for orders would send one tick during the stop. This generator
    // continues: 200 ticks are delayed, and 1 % of all ticks by more than half of the stop.
    let p99 = rows.iter().find(|row| row["case"] == "sent to order").unwrap()["p99"].as_u64();
    assert!(p99 >= Some(50_000_000), "sent to order: p99 {p99:?} ns");
    longest
}

#[test]
fn interrupted_run_prints_and_saves_completed_rounds() {
    let _turn = turn();
    let args = [
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
        let (output, rows) = first_in_time(|| {
            let (_folder, results, mut command) = t2t(&args);
            let output = signal_in_second_round(&mut command, name, true)?;
            Some((output, rows(&results)))
        });
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert!(rows.len() >= 4, "the first case is complete, the second interrupted");
        assert_eq!(rows[0]["samples"], 3_000);
        let last = rows.last().unwrap();
        assert!(last["samples"].as_u64() < Some(3_000), "{last}");
        assert_eq!(last["lost"], 0, "orders in flight must still be counted: {last}");
        assert_eq!(last["failed"], Value::Null, "those orders must be canceled: {last}");
        let table = String::from_utf8_lossy(&output.stdout);
        assert!(table.contains("intended to order") && table.contains("poll"), "{table}");
    }
}

#[test]
fn closed_output_pipe_loses_no_results() {
    let _turn = turn();
    let args = ["--wait", "epoll", "--interval-us", "500", "--samples", "100"];
    let (_folder, results, mut command) = t2t(&args);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(parent.stdout.take());
    assert_eq!(parent.wait().unwrap().code(), Some(0));
    assert!(rows(&results).len() >= 2);
}

#[test]
fn killed_run_leaves_no_process() {
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
fn killed_trader_fails_the_row_with_a_message() {
    let _turn = turn();
    let args = ["--feed", "multicast", "--wait", "epoll", "--interval-us", "10000"];
    let (_folder, _results, mut command) = t2t(&args);
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let trader = wait_for(&mut parent, "t2t-trader");
    sleep(Duration::from_millis(300));
    signal("KILL", trader);
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(stdout.contains("trader"), "{stdout}");
}

#[test]
fn concurrent_runs_do_not_interfere() {
    let _turn = turn();
    let args = ["--interface", "lo", "--wait", "epoll", "--interval-us", "2000", "--quick"];
    let runs = [t2t(&args), t2t(&args)].map(|(folder, results, mut command)| {
        command.args(["--samples", "100"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        (folder, results, child)
    });
    for (_folder, results, child) in runs {
        assert_done(&child.wait_with_output().unwrap());
        assert!(rows(&results).iter().all(|row| row["samples"] == 100 && row["lost"] == 0));
    }
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_can_run_t2t() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hairpin");
    copy_hairpin(&program);
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
