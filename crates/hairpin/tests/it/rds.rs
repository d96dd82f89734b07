//! Runs `hairpin ping`, `pong`, `rds-stress` and `bench rds` over reliable datagrams.
//!
//! The tests assert no latency or rate.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Output, Stdio};
use std::time::Instant;

use crate::support::{Process, TIMEOUT, assert_done, assert_status, hairpin, rows, signal, turn};
use hairpin_endpoint::rds::{Message, RdsOptions, RdsSocket, RdsTransport};
use hairpin_reactor::{Interest, Reactor, Wait};
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that writes results, and returns its output and its rows.
fn measured(args: &str) -> (Output, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.args(args.split_whitespace()).arg("--json").arg(&results);
    let output = command.output().unwrap();
    assert_done(&output);
    (output, rows(&results))
}

/// A command that prints the address at which it listens.
pub(crate) struct Listener {
    child: Child,
    out: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Listener {
    fn start(args: &str) -> Self {
        let mut command = hairpin();
        command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self::of(command.spawn().unwrap())
    }

    /// Takes over a process whose standard output is piped.
    pub(crate) fn of(mut child: Child) -> Self {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        Self { child, out, address }
    }

    fn stress() -> Self {
        Self::start("rds-stress --listen 127.0.0.1:0")
    }

    /// Waits for the next line.
    pub(crate) fn wait_for_line(&mut self, start: &str) {
        let line = self.read_line();
        assert!(line.starts_with(start), "{line}");
    }

    /// Waits for a line and skips those before it.
    pub(crate) fn skip_to_line(&mut self, start: &str) {
        while !self.read_line().starts_with(start) {}
    }

    /// Waits for the end of a session.
    fn skip_to_average(&mut self) {
        while !self.read_line().ends_with("(average)\n") {}
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        let length = self.out.read_line(&mut line).unwrap();
        assert!(length > 0, "the command has ended");
        line
    }

    /// Interrupts the command and returns the rest of its output.
    pub(crate) fn end(mut self) -> String {
        signal("INT", self.child.id());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(130), "{rest}");
        rest
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Repeats a session that must be taken once the other side notices the end of the last one. Until
/// then it is refused for one of the reasons.
pub(crate) fn assert_taken(reasons: &[&str], mut session: impl FnMut() -> Output) {
    let until = Instant::now() + TIMEOUT;
    loop {
        let output = session();
        let stderr = text(&output.stderr);
        let is_refused = reasons.iter().any(|reason| stderr.contains(reason));
        if output.status.success() || !is_refused || Instant::now() > until {
            return assert_done(&output);
        }
    }
}

/// Runs the connecting side of `rds-stress`.
fn stress(address: &str, args: &str) -> Output {
    hairpin().args(["rds-stress", address]).args(args.split_whitespace()).output().unwrap()
}

#[test]
fn pings_of_every_size_are_answered_under_every_wait() {
    let _turn = turn();
    let args = "ping --protocol rds --samples 60 --rounds 2";
    let (_, rows) = measured(&format!("{args} --size 1,4,1024,65000"));
    let waits = Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()).count();
    assert_eq!(rows.len(), 4 * waits);
    for row in &rows {
        assert_eq!((&row["samples"], &row["lost"]), (&60.into(), &0.into()), "{row}");
        assert_eq!((&row["protocol"], &row["failed"]), (&"rds".into(), &Value::Null), "{row}");
    }
}

#[test]
fn pong_answers_several_pings_and_publishes_counters() {
    let _turn = turn();
    let pong = Listener::start("pong --protocol rds --listen 127.0.0.1:0");
    for _ in 0..2 {
        let args = format!("ping {} --protocol rds --wait epoll --rounds 1", pong.address);
        let (_, rows) = measured(&format!("{args} --samples 100"));
        assert_eq!((&rows[0]["samples"], &rows[0]["lost"]), (&100.into(), &0.into()), "{rows:?}");
    }
    let stat = hairpin().args(["stat", &pong.child.id().to_string()]).output().unwrap();
    let counters = text(&stat.stdout);
    for name in [
        "rds.messages_received",
        "rds.packets_sent",
        "rds.dropped_checksum",
        "rds.icmp_ignored",
        "rds.error_unreachable",
        "pong.ignored",
    ] {
        assert!(counters.contains(name), "{name}: {counters}");
    }
    // With 200 messages of warm-up each.
    assert_eq!(pong.end(), "600 answered, 0 answers refused\n");
}

#[test]
fn pong_answers_no_answer_over_reliable_datagrams() {
    let _turn = turn();
    let pong = Listener::start("pong --protocol rds --listen 127.0.0.1:0");
    let clock = hairpin_host::Clock::from_kernel();
    let mut socket = RdsSocket::new(clock.instant(), RdsOptions::default());
    socket.bind(clock.instant(), &RdsTransport::Kernel, "127.0.0.1:0".parse().unwrap()).unwrap();
    let to = pong.address.parse().unwrap();
    let mut reactor = Reactor::new(Wait::Poll).unwrap();
    reactor.add(&mut socket, Interest::READABLE).unwrap();
    for byte in [0x80, 0] {
        socket.send(clock.instant(), to, 12, |message| message.fill(byte)).unwrap();
    }
    let mut answers = Vec::new();
    while answers.is_empty() || !socket.is_acknowledged() {
        reactor.wait(clock.instant(), None).unwrap();
        let receive = |message: Message<'_>| answers.push(message.bytes.to_vec());
        socket.receive(clock.instant(), 8, receive).unwrap();
    }
    let mut expected = vec![0; 12];
    expected[11] = 0x80;
    assert_eq!(answers, [expected]);
    assert_eq!(pong.end(), "1 answered, 0 answers refused\n");
}

#[test]
fn flood_over_reliable_datagrams_loses_nothing() {
    let _turn = turn();
    let args = "ping --protocol rds --wait spin --size 64 --flood --seconds 1 --rounds 2";
    let (_, rows) = measured(args);
    assert_eq!((&rows[0]["case"], &rows[0]["lost"]), (&"flood".into(), &0.into()), "{rows:?}");
}

#[test]
fn stress_verifies_every_byte_in_both_directions() {
    let _turn = turn();
    let listener = Listener::stress();
    let mut sessions = 0;
    for args in ["-t 3 -d 8 -q 3000 -a 200 -v", "-v -q 16 -a 16", "-q 1048576 -a 16 -d 2 -v"] {
        // On a busy machine a second may be too short for both sides.
        let sends = |seconds| {
            sessions += 1;
            both_sides_send(&listener.address, &format!("{args} -T {seconds}"))
        };
        assert!([1, 5, 30].into_iter().any(sends), "both sides send: {args}");
    }
    let printed = listener.end();
    assert_eq!(printed.matches("session with 127.0.0.1:").count(), sessions, "{printed}");
    assert_eq!(printed.matches("(average)").count(), sessions, "{printed}");
}

/// Runs a session and checks its output. Returns `true` if both sides have sent several messages.
fn both_sides_send(address: &str, args: &str) -> bool {
    let output = stress(address, args);
    assert_done(&output);
    let printed = text(&output.stdout);
    assert!(printed.starts_with("tsks "), "{printed}");
    let last = printed.lines().last().unwrap();
    assert!(last.ends_with(" requests, 0 without an acknowledgment"), "{args}: {printed}");
    let requests: u64 = last.split(' ').next().unwrap().parse().unwrap();
    let average = printed.lines().find(|line| line.ends_with("(average)")).unwrap();
    let rates: Vec<f64> =
        average.split_whitespace().skip(1).take(2).map(|it| it.parse().unwrap()).collect();
    requests > 2 && rates.iter().all(|&rate| rate > 0.0)
}

#[test]
fn interrupted_stress_prints_its_average() {
    let _turn = turn();
    let mut listener = Listener::stress();
    let mut command = hairpin();
    command.args(["rds-stress", &listener.address, "-v"]);
    let child = Process::start(&mut command);
    listener.wait_for_line("session with ");
    listener.wait_for_line("tsks ");
    child.signal("INT");
    let output = child.output();
    assert_status(&output, 130);
    let printed = text(&output.stdout);
    assert!(printed.contains("(average)") && printed.contains(", 0 without"), "{printed}");
    assert_done(&stress(&listener.address, "-T 1"));
}

#[test]
fn second_stress_is_refused_while_the_first_runs() {
    let _turn = turn();
    let mut listener = Listener::stress();
    let mut command = hairpin();
    let first = Process::start(command.args(["rds-stress", &listener.address]));
    listener.wait_for_line("session with ");
    listener.wait_for_line("tsks ");
    let refused = stress(&listener.address, "-T 1");
    assert_status(&refused, 1);
    let stderr = text(&refused.stderr);
    assert!(stderr.contains("busy with 127.0.0.1:"), "{stderr}");
    first.signal("INT");
    assert_status(&first.output(), 130);
    let taken = hairpin().args(["rds-stress", "--listen", &listener.address]).output().unwrap();
    assert_status(&taken, 1);
    let stderr = text(&taken.stderr);
    assert!(stderr.starts_with("hairpin: cannot listen at 127.0.0.1:"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn death_of_either_side_is_reported_and_survived() {
    let _turn = turn();
    let mut listener = Listener::stress();
    let mut command = hairpin();
    let first = Process::start(command.args(["rds-stress", &listener.address, "-v", "-t", "2"]));
    listener.wait_for_line("session with ");
    listener.wait_for_line("tsks ");
    first.signal("KILL");
    drop(first);
    assert_taken(&["busy with "], || stress(&listener.address, "-v -t 2 -T 1"));

    let mut command = hairpin();
    let second = Process::start(command.args(["rds-stress", &listener.address]));
    listener.skip_to_average();
    listener.wait_for_line("session with ");
    listener.wait_for_line("tsks ");
    drop(listener);
    let output = second.output();
    assert_status(&output, 1);
    let stderr = text(&output.stderr);
    assert!(stderr.lines().last().unwrap().starts_with("hairpin: "), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn stress_keeps_its_promises_under_every_wait() {
    let _turn = turn();
    let mut listener = Listener::start("rds-stress --listen [::]:0 --wait spin");
    let (_, port) = listener.address.rsplit_once(':').unwrap();
    let port: u16 = port.parse().unwrap();
    // Both families reach a listener at the unspecified address.
    for (ip, wait) in ["127.0.0.1", "[::1]"].into_iter().cycle().zip(Wait::ALL) {
        if wait.probe().is_err() {
            continue;
        }
        let mut command = hairpin();
        command.args(["rds-stress", &format!("{ip}:{port}"), "-t", "2", "-d", "3", "-T", "2"]);
        let session = Process::start(command.args(["--wait", wait.name()]));
        listener.skip_to_line("session with ");
        listener.wait_for_line("tsks ");
        // The tasks of the listening side use consecutive ports.
        let table = if ip == "[::1]" { "/proc/net/udp6" } else { "/proc/net/udp" };
        let bound = std::fs::read_to_string(table).unwrap();
        for port in [port, port + 1] {
            assert!(bound.contains(&format!(":{port:04X} ")), "{port}: {bound}");
        }
        let output = session.output();
        assert_done(&output);
        let printed = text(&output.stdout);
        // The headings, a line each second, the average and the totals.
        assert!(printed.lines().count() >= 4, "{printed}");
        assert!(printed.lines().all(|line| !line.is_empty()), "{printed}");
    }
    let printed = listener.end();
    assert!(printed.ends_with("(average)\n"), "{printed}");
}

#[test]
fn stress_interrupted_before_its_session_has_status_130() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let mut command = hairpin();
    let child = Process::start(command.args(["rds-stress", &address]));
    let _connection = silent.accept().unwrap();
    child.signal("INT");
    let output = child.output();
    assert_status(&output, 130);
    assert!(!text(&output.stderr).contains("hairpin: "), "{}", text(&output.stderr));
}

#[test]
fn stress_without_a_listening_side_fails_in_one_line() {
    let output = stress("127.0.0.1:1", "-T 1");
    assert_status(&output, 1);
    let stderr = text(&output.stderr);
    assert!(stderr.starts_with("hairpin: cannot connect to 127.0.0.1:1"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn wrong_arguments_are_refused_in_one_line() {
    for args in [
        "bench rds --size 0",
        "bench rds --quick --samples 5",
        "ping --protocol rds-ethernet",
        "ping --protocol rds --timestamps software",
        "pong --protocol rds",
        "rds-stress",
        "rds-stress 127.0.0.1",
        "rds-stress 127.0.0.1:0",
        "rds-stress 127.0.0.1:4000 --listen 127.0.0.1:4000",
        "rds-stress --listen 127.0.0.1:4000 -t 2",
        "rds-stress 127.0.0.1:4000 -t 65",
        "rds-stress 127.0.0.1:4000 -q 15",
        "rds-stress 127.0.0.1:4000 -a 1048577",
        "rds-stress 127.0.0.1:4000 --ethernet",
        "rds-stress 127.0.0.1:4000 --interface lo",
        "rds-stress 127.0.0.1:4000 --strict",
        "rds-stress 127.0.0.1:4000 -T 0",
        "rds-stress 127.0.0.1:4000 -d 4097",
        "rds-stress 127.0.0.1:4000 --wait never",
        "rds-stress --listen localhost:4000",
        "rds-stress 127.0.0.1:4000 --transport xdp",
    ] {
        let output = hairpin().args(args.split(' ')).output().unwrap();
        assert_status(&output, 2);
        let stderr = text(&output.stderr);
        assert!(stderr.starts_with("hairpin: ") && stderr.lines().count() == 1, "{args}: {stderr}");
    }
}

#[test]
fn rds_table_is_measured_and_printed_again_from_file() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.args(["bench", "rds", "--size", "4,64", "--samples", "60", "--rounds", "2", "--json"]);
    let output = command.arg(&results).output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    assert_eq!(rows.len(), 2 * 7 + 2);
    for row in &rows {
        assert_eq!(row["bench"], "rds", "{row}");
        let failed = row["failed"].as_str();
        if row["transport"] == "xdp"
            && failed.is_some_and(|reason| reason.starts_with("xdp is not available: "))
        {
            continue;
        }
        assert_eq!(failed, None, "{row}");
        if row["case"] == "ping" {
            assert_eq!((&row["samples"], &row["lost"]), (&60.into(), &0.into()), "{row}");
        }
        if row["protocol"] == "rds" {
            assert_eq!(row["lost"], 0, "{row}");
        }
    }
    let printed = text(&output.stdout);
    let again = hairpin().args(["bench", "rds", "--from"]).arg(&results).output().unwrap();
    assert_done(&again);
    assert!(printed.starts_with(&text(&again.stdout)), "{printed}");
    for word in ["fastest", "median over rounds", "flood of 64-byte", "zabbo.net"] {
        assert!(printed.contains(word), "{word}: {printed}");
    }
}
