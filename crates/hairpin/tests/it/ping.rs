//! Runs `hairpin ping` and `hairpin pong`.
//!
//! The tests assert no latency, except the least effect of an injected fault.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::support::{
    assert_done, assert_gone, assert_status, copy_hairpin, hairpin, rows, signal, turn, wait_for,
    wait_for_count,
};
use hairpin_reactor::Wait;
use serde_json::Value;

/// Returns a results folder, the results file, and the command that writes it.
fn ping(args: &str) -> (tempfile::TempDir, PathBuf, Command) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.arg("ping").args(args.split_whitespace()).arg("--json").arg(&results);
    (folder, results, command)
}

/// Runs a ping that must succeed, and returns its rows.
fn measured(args: &str) -> Vec<Value> {
    let (_folder, results, mut command) = ping(args);
    assert_done(&command.output().unwrap());
    rows(&results)
}

fn number(row: &Value, field: &str) -> u64 {
    row[field].as_u64().unwrap_or_else(|| panic!("{field}: {row}"))
}

fn assert_complete(row: &Value, samples: u64) {
    assert_eq!((number(row, "samples"), number(row, "lost")), (samples, 0), "{row}");
    assert_eq!(row["failed"], Value::Null, "{row}");
    assert!(number(row, "min") > 0 && number(row, "min") <= number(row, "p50"), "{row}");
}

/// A running `hairpin pong` and its address.
struct Pong {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Pong {
    fn listen(args: &str) -> Self {
        let mut command = hairpin();
        command.arg("pong").args(args.split_whitespace()).stdout(Stdio::piped());
        Self::of(command.spawn().unwrap())
    }

    /// Takes over a process whose standard output is piped.
    fn of(mut child: Child) -> Self {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        Self { child, out, address }
    }

    /// Interrupts the pong and returns its output after the first line.
    fn end(mut self) -> String {
        signal("INT", self.child.id());
        let mut summary = String::new();
        self.out.read_to_string(&mut summary).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(130), "{summary}");
        summary
    }
}

impl Drop for Pong {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn protocols_and_waits_lose_no_ping() {
    let _turn = turn();
    let rows = measured("--protocol udp,multicast,tcp --samples 141 --rounds 2");
    let waits: Vec<Wait> = Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()).collect();
    let expected = ["udp", "multicast", "tcp"];
    let expected = expected.map(|it| waits.iter().map(move |wait| [it, wait.name()]));
    let found: Vec<_> = rows.iter().map(|row| [&row["protocol"], &row["wait"]]).collect();
    assert_eq!(found, expected.into_iter().flatten().collect::<Vec<_>>());
    for row in &rows {
        assert_complete(row, 141);
        assert_eq!((&row["case"], &row["kind"]), (&"ping".into(), &"rtt".into()), "{row}");
        assert_eq!(row["rounds"], 2, "{row}");
        let rounds = row["by_round"].as_array().unwrap().iter();
        assert_eq!(rounds.map(|it| number(it, "samples")).collect::<Vec<_>>(), [71, 70]);
    }
}

#[test]
fn messages_of_every_size_are_answered() {
    let _turn = turn();
    let sizes = [1, 2, 8, 11, 12, 13, 1_472, 1_473, 9_000, 65_000];
    let list = sizes.map(|size: u64| size.to_string()).join(",");
    let args = "--protocol udp,multicast,tcp --wait epoll --rounds 1 --samples 40";
    let rows = measured(&format!("{args} --size {list}"));
    let expected = ["udp", "multicast", "tcp"].map(|protocol| sizes.map(|size| (protocol, size)));
    let found =
        rows.iter().map(|row| (row["protocol"].as_str().unwrap(), number(row, "size_bytes")));
    assert_eq!(found.collect::<Vec<_>>(), expected.concat());
    rows.iter().for_each(|row| assert_complete(row, 40));
}

#[test]
fn open_loop_measures_from_intended_and_actual_send_time() {
    let _turn = turn();
    for args in ["--interval-us 300", "--rate 3333"] {
        let rows = measured(&format!("--wait epoll --rounds 1 --samples 300 {args}"));
        assert_eq!(rows.len(), 4, "expected two cases for each of two protocols");
        for pair in rows.chunks(2) {
            assert_eq!(
                (&pair[0]["case"], &pair[1]["case"]),
                (&"ping".into(), &"sent to answer".into())
            );
            pair.iter().for_each(|row| assert_complete(row, 300));
            pair.iter().for_each(|row| assert_eq!(row["interval_us"], 300));
            assert!(
                number(&pair[0], "max") >= number(&pair[1], "max"),
                "the intended send time is never later than the actual"
            );
            assert!(pair[0]["lateness_p99"].is_u64() || number(&pair[0], "samples") < 1_000);
        }
    }
}

#[test]
fn connections_are_served_in_turn() {
    let _turn = turn();
    for args in ["--interval-us 200", "--interval-us 0"] {
        let args = format!("--connections 7 --wait poll,io_uring,spin --rounds 1 {args}");
        for row in measured(&format!("{args} --samples 210 --size 1,500")) {
            assert_complete(&row, 210);
        }
    }
}

#[test]
fn flood_counts_sent_and_received_messages() {
    let _turn = turn();
    let (_folder, results, mut command) =
        ping("--flood --seconds 1 --rounds 1 --wait epoll --size 100 --protocol udp,multicast,tcp");
    let output = command.output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert_eq!((&row["case"], &row["kind"]), (&"flood".into(), &"batch".into()), "{row}");
        assert!(number(row, "samples") > 0 && number(row, "min") > 0, "{row}");
    }
    assert_eq!(number(&rows[2], "lost"), 0, "TCP loses nothing: {}", rows[2]);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stdout.contains("One way, as fast as it goes") && stdout.contains(" > "), "{stdout}");
}

#[test]
fn stall_delays_pings_intended_during_it() {
    let _turn = turn();
    let rows = measured(
        "--protocol udp --wait spin --rounds 1 --interval-us 500 --samples 1000 --stall-ms 20,100",
    );
    assert_complete(&rows[0], 1_000);
    assert!(number(&rows[0], "max") >= 20_000_000, "{}", rows[0]);
    // A stall of 20 ms delays 40 pings. In a closed loop it would delay one.
    assert!(number(&rows[0], "p90") >= 1_000_000, "{}", rows[0]);
}

#[test]
fn delay_option_adds_to_each_round_trip() {
    let _turn = turn();
    for row in measured("--wait epoll,spin --rounds 1 --samples 30 --delay-ns 500000") {
        assert!(number(&row, "min") >= 500_000, "{row}");
    }
}

#[test]
fn timestamps_divide_the_round_trip_into_stages() {
    let _turn = turn();
    for source in ["software", "hardware"] {
        let args = "--protocol udp,multicast,tcp --wait epoll,spin --rounds 1 --samples 200";
        let (_folder, results, mut command) = ping(&format!("{args} --timestamps {source}"));
        let output = command.output().unwrap();
        assert_done(&output);
        let text = fs::read_to_string(&results).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        // Loopback has no hardware timestamps: software timestamps replace them, and the results
        // record this.
        assert_eq!(document["host"]["timestamping"], "software");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows = rows(&results);
        assert_eq!(rows.len(), 6 * 4);
        let stamp_counts: Vec<(u64, u64)> = stdout.lines().filter_map(stamped_and_not).collect();
        assert_eq!(stamp_counts.len(), 6, "{stdout}");
        for (rows, counts) in rows.chunks(4).zip(stamp_counts) {
            let cases: Vec<&Value> = rows.iter().map(|row| &row["case"]).collect();
            assert_eq!(cases, ["ping", "app to stamp", "stamp to stamp", "stamp to app"]);
            assert_complete(&rows[0], 200);
            for row in &rows[1..] {
                // On a busy machine a few timestamps may arrive too late, but not the majority.
                let stamped = number(row, "samples");
                assert!((100..=200).contains(&stamped), "{row}");
                assert_complete(row, stamped);
                assert_eq!(counts, (stamped, 200 - stamped), "{row}");
                assert_eq!(
                    (&row["kind"], &row["clock"]),
                    (&"stage".into(), &"software_timestamp".into())
                );
                assert!(
                    number(row, "min") <= number(&rows[0], "max"),
                    "a stage must not exceed the round trip: {row}"
                );
            }
        }
    }
}

/// Parses a line about timestamps. Returns the number of pings with all timestamps, and the number
/// with a missing one.
fn stamped_and_not(line: &str) -> Option<(u64, u64)> {
    let (stamped, reasons) = line.split_once(" pings with both timestamps, ")?;
    let stamped = stamped.rsplit(' ').next()?.parse().ok()?;
    let not = reasons.split(", ").map(|reason| reason.split(' ').next()?.parse::<u64>().ok());
    Some((stamped, not.sum::<Option<u64>>()?))
}

#[test]
fn host_checks_are_printed_with_the_results() {
    let _turn = turn();
    let (_folder, results, mut command) =
        ping("--protocol udp --wait spin --rounds 1 --samples 100");
    let output = command.output().unwrap();
    assert_done(&output);
    let text = fs::read_to_string(&results).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let truth = &document["truth"];
    assert!(truth["clock_step_ns"].as_f64().unwrap() > 0.0, "{truth}");
    let cores: Vec<&Value> = truth["cores"].as_array().unwrap().iter().collect();
    let pinned = document["rows"][0]["cores"].as_array().unwrap();
    let watched: Vec<&Value> = cores.iter().map(|core| &core["core"]).collect();
    assert_eq!(watched, pinned.iter().collect::<Vec<_>>());
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    for expected in ["clock: step", "floor: ", "core 0: ", " interruptions in ", "backlogs"] {
        assert!(stdout.contains(expected), "{expected}: {stdout}");
    }
}

#[test]
fn interrupted_run_prints_and_saves_completed_rounds() {
    let _turn = turn();
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        let args = "--protocol udp --wait epoll --rounds 60 --samples 60000 --interval-us 500";
        let (_folder, results, mut command) = ping(args);
        let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let first = wait_for(&mut parent, "ping-ping");
        assert_gone(&[first]);
        let (pinger, pong) =
            (wait_for(&mut parent, "ping-ping"), wait_for(&mut parent, "ping-pong"));
        signal(name, parent.id());
        let output = parent.wait_with_output().unwrap();
        assert_status(&output, status);
        assert_gone(&[pinger, pong]);
        let rows = rows(&results);
        assert_eq!(rows.len(), 2);
        for row in &rows {
            assert_eq!(row["interrupted"], true, "{row}");
            assert_eq!(row["failed"], Value::Null, "{row}");
            assert_eq!(number(row, "lost"), 0, "pings in flight must still be answered: {row}");
            assert!((1_000..60_000).contains(&number(row, "samples")), "{row}");
        }
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(table.contains("interrupted"), "{table}");
    }
}

#[test]
fn killed_ping_leaves_no_process() {
    let _turn = turn();
    let (_folder, _results, mut command) = ping("--wait spin --samples 10000000 --rounds 1");
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (pinger, pong) = (wait_for(&mut parent, "ping-ping"), wait_for(&mut parent, "ping-pong"));
    signal("KILL", parent.id());
    parent.wait().unwrap();
    assert_gone(&[pinger, pong]);
}

#[test]
fn killed_pong_fails_the_row_with_a_message() {
    let _turn = turn();
    for protocol in ["udp", "tcp"] {
        let args = "--wait epoll --interval-us 1000 --rounds 1 --samples 60000";
        let args = format!("--protocol {protocol} {args}");
        let (_folder, _results, mut command) = ping(&args);
        let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pong = wait_for(&mut parent, "ping-pong");
        let pinger = wait_for(&mut parent, "ping-ping");
        wait_for_count(pinger, "ping.answered", 1);
        signal("KILL", pong);
        let output = parent.wait_with_output().unwrap();
        assert_status(&output, 1);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(stdout.contains("pong"), "{stdout}");
    }
}

fn assert_refused(output: &Output, expected: &str) {
    assert_status(output, 1);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("hairpin: ")).collect();
    assert!(errors.len() == 1 && errors[0].contains(expected), "{stderr}");
    assert!(output.stdout.is_empty(), "standard output must be empty: {output:?}");
}

#[test]
fn missing_pong_is_reported_in_one_line() {
    let ping_unanswered = |args: &str| ping(args).2.output().unwrap();
    // The discard port has no listener in this test.
    assert_refused(
        &ping_unanswered("127.0.0.1:9 --protocol udp --wait epoll"),
        "onnection refused",
    );
    assert_refused(
        &ping_unanswered("127.0.0.1:9 --protocol tcp --wait epoll"),
        "onnection refused",
    );
    let silent = "239.77.1.1:14399 --protocol multicast --wait epoll --interface lo";
    assert_refused(&ping_unanswered(silent), "no answer");
}

#[test]
fn invalid_arguments_are_rejected_in_one_line() {
    for (args, status) in [
        ("--size 0", 2),
        ("--wait soon", 2),
        ("--cpus 1,1", 2),
        ("--rate 0", 2),
        ("--connections 5000", 2),
        ("127.0.0.1:9 --flood", 2),
        ("127.0.0.1:9 --protocol udp,tcp", 2),
        ("127.0.0.1:port", 2),
        ("--interface nope0", 1),
        ("127.0.0.1:9", 1),
        ("127.0.0.1:9 --protocol tcp", 1),
        ("--cpus 0,1023", 1),
    ] {
        let output = ping(args).2.output().unwrap();
        assert_status(&output, status);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(stderr.lines().count(), 1, "{args}: {stderr}");
    }
}

#[test]
fn pong_serves_pingers_one_after_the_other() {
    let _turn = turn();
    for (protocol, listen) in
        [("udp", "127.0.0.1:0"), ("tcp", "127.0.0.1:0"), ("multicast", "239.77.1.2:14400")]
    {
        let pong = Pong::listen(&format!("--listen {listen} --protocol {protocol} --interface lo"));
        let args = format!("{} --protocol {protocol} --wait epoll --interface lo", pong.address);
        for size in [14, 3_000] {
            let rows = measured(&format!("{args} --samples 50 --rounds 2 --size {size}"));
            assert_complete(&rows[0], 50);
            assert_eq!(
                rows[0]["ground"],
                "this host, 127.0.0.1, and ".to_owned() + pong.address.split(':').next().unwrap()
            );
        }
        let summary = pong.end();
        // Two rounds of each size. Each has 200 warm-up pings.
        assert_eq!(summary, "900 answered, 0 answers refused\n", "{protocol}");
    }
}

#[test]
fn ping_and_pong_agree_on_the_default_port() {
    let _turn = turn();
    for protocol in ["udp", "tcp"] {
        let pong = Pong::listen(&format!("--protocol {protocol}"));
        assert_eq!(pong.address, "0.0.0.0:9200");
        let args = format!("127.0.0.1 --protocol {protocol} --wait epoll");
        assert_complete(&measured(&format!("{args} --samples 50 --rounds 1"))[0], 50);
    }
}

#[test]
fn ping_finds_the_protocol_of_the_pong_and_resolves_its_name() {
    let _turn = turn();
    for protocol in ["udp", "tcp", "rds"] {
        let pong = Pong::listen(&format!("--protocol {protocol} --listen 127.0.0.1:0"));
        let place = pong.address.replace("127.0.0.1", "localhost");
        let rows = measured(&format!("{place} --wait epoll --samples 50 --rounds 1"));
        assert_eq!((rows.len(), rows[0]["protocol"].as_str()), (1, Some(protocol)));
        assert_complete(&rows[0], 50);
    }
}

#[test]
fn pong_survives_an_invalid_connection() {
    let _turn = turn();
    let pong = Pong::listen("--listen 127.0.0.1:0 --protocol tcp");
    let mut stranger = TcpStream::connect(&pong.address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // The connection ends without an answer, with or without a reset.
    let _ = stranger.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    let args = format!("{} --protocol tcp --wait epoll --samples 50 --rounds 1", pong.address);
    assert_complete(&measured(&args)[0], 50);
}

/// A connection to a TCP pong with messages of 14 bytes.
fn pinger(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(b"ping\x0e\0\0\0").unwrap();
    stream
}

/// Sends a message and reads its answer.
fn assert_answered(stream: &mut TcpStream, number: u8) {
    stream.write_all(&[number; 14]).unwrap();
    let mut answer = [0; 14];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [number; 14]);
}

#[test]
fn pong_pauses_accepting_without_descriptors_and_resumes() {
    let _turn = turn();
    for wait in Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()) {
        let mut command = Command::new("sh");
        let limited = "ulimit -n 40; exec \"$0\" \"$@\"";
        command.args(["-c", limited, hairpin().get_program().to_str().unwrap(), "pong"]);
        command.args(["--protocol", "tcp", "--listen", "127.0.0.1:0", "--wait", wait.name()]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let pong = Pong::of(child);
        let mut first = pinger(&pong.address);
        assert_answered(&mut first, 1);
        // More than the pong has descriptors; the kernel completes their handshakes.
        let mut others: Vec<_> = (0..60).map(|_| pinger(&pong.address)).collect();
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let expected = "pong: cannot accept connections: Too many open files";
        assert!(line.starts_with(expected), "{wait}: {line}");
        assert_answered(&mut first, 2);
        assert_answered(&mut others[0], 3);
        // The last one waits until the others are closed.
        let mut last = others.pop().unwrap();
        drop(others);
        assert_answered(&mut last, 4);
        assert_answered(&mut first, 5);
        assert_eq!(pong.end(), "5 answered, 0 answers refused\n", "{wait}");
        let mut rest = String::new();
        errors.read_to_string(&mut rest).unwrap();
        assert!(rest.lines().count() == 1 && rest.contains(" failed_accepts"), "{wait}: {rest}");
    }
}

#[test]
fn pong_answers_no_answer() {
    let _turn = turn();
    let pong = Pong::listen("--listen 127.0.0.1:0 --protocol udp");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    for length in [1, 2, 8, 11, 12, 14, 1_000] {
        let mut ping = vec![0; length];
        let marked = length.min(12) - 1;
        ping[marked] = 0x80;
        // An answer, an empty message, and a ping: only the ping is answered.
        socket.send_to(&ping, &pong.address).unwrap();
        socket.send_to(&[], &pong.address).unwrap();
        ping[marked] = 0;
        socket.send_to(&ping, &pong.address).unwrap();
        let mut answer = [0; 2_000];
        assert_eq!(socket.recv(&mut answer).unwrap(), length);
        ping[marked] = 0x80;
        assert_eq!(answer[..length], ping);
    }
    assert_eq!(pong.end(), "7 answered, 0 answers refused\n");
}

#[test]
fn running_pong_publishes_its_counters() {
    let _turn = turn();
    let pong = Pong::listen("--listen 127.0.0.1:0 --protocol udp");
    let args = format!("{} --protocol udp --wait epoll --samples 100 --rounds 1", pong.address);
    assert_complete(&measured(&args)[0], 100);
    wait_for_count(pong.child.id(), "pong.answered", 300);
    let stat = hairpin().arg("stat").output().unwrap();
    assert_done(&stat);
    let stdout = String::from_utf8_lossy(&stat.stdout).into_owned();
    let answered = stdout.lines().find(|line| line.contains("answered") && line.contains("300"));
    assert!(answered.is_some(), "{stdout}");
}

#[test]
fn concurrent_runs_do_not_interfere() {
    let _turn = turn();
    let args = "--interface lo --protocol udp,multicast,tcp --wait epoll --interval-us 1000 \
                 --samples 300 --rounds 1";
    let runs = [ping(args), ping(args)].map(|(folder, results, mut command)| {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        (folder, results, child)
    });
    for (_folder, results, child) in runs {
        let output = child.wait_with_output().unwrap();
        assert_done(&output);
        rows(&results).iter().for_each(|row| assert_complete(row, 300));
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            !stdout.contains("to nothing"),
            "every answer must belong to its own run: {stdout}"
        );
    }
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_can_run_ping() {
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
        .args("ping --protocol udp,multicast,tcp --wait epoll --rounds 2 --samples 100".split(' '))
        .arg("--json")
        .arg(&results)
        .current_dir("/")
        .output()
        .unwrap();
    assert_done(&output);
    rows(&results).iter().for_each(|row| assert_complete(row, 100));
}
