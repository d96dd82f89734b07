//! Runs `hairpin ping` and `hairpin pong` with raw frames over AF_XDP, between two hosts.
//!
//! The tests assert no latency or throughput.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{assert_done, assert_status, hairpin, rows, signal, turn};
use hairpin_reactor::Wait;
use hairpin_stack::{Mode, RawFrames, Stack, StackSettings};
use hairpin_testbed::{Host, Queues, Testbed};
use hairpin_xdp::{InterfaceSettings, UmemSettings};
use serde_json::Value;

const ETHER_TYPE: u16 = 0x88b5;
const BROADCAST: [u8; 6] = [0xff; 6];
/// The address of a third host.
const STRANGER: [u8; 6] = [2, 0, 0, 0, 0, 0x5a];
const RAW: [&str; 4] = ["--protocol", "raw", "--transport", "xdp"];

fn testbed() -> Testbed {
    Testbed::builder().queues(Queues::pairs(1)).build().unwrap()
}

/// Returns a results folder, the results file, and the command that writes it.
fn ping(args: &str) -> (tempfile::TempDir, PathBuf, Command) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.arg("ping").args(RAW).args(args.split_whitespace()).arg("--json").arg(&results);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    (folder, results, command)
}

/// Runs a ping that must succeed and returns its rows. Without `host` the command makes its hosts.
fn measured(host: Option<&Host>, args: &str) -> (Vec<Value>, Output) {
    let (_folder, results, mut command) = ping(args);
    let output = match host {
        Some(host) => host.spawn(command, &[]).unwrap().wait_with_output().unwrap(),
        None => command.output().unwrap(),
    };
    assert_done(&output);
    (rows(&results), output)
}

fn number(row: &Value, field: &str) -> u64 {
    row[field].as_u64().unwrap_or_else(|| panic!("{field}: {row}"))
}

fn assert_complete(row: &Value, samples: u64) {
    assert_eq!((number(row, "samples"), number(row, "lost")), (samples, 0), "{row}");
    assert_eq!(row["failed"], Value::Null, "{row}");
    assert!(number(row, "min") > 0, "{row}");
    let path = (&row["protocol"], &row["transport"]);
    assert_eq!(path, (&"raw".into(), &"xdp".into()), "{row}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A `hairpin pong` that runs on a host.
struct Pong {
    child: std::process::Child,
    out: BufReader<ChildStdout>,
    error: BufReader<ChildStderr>,
    mac: String,
    /// The first line on standard error, which describes the interface.
    interface: String,
}

impl Pong {
    fn on(host: &Host, args: &str) -> Self {
        let mut command = hairpin();
        command.arg("pong").args(RAW).args(["--interface", host.interface()]);
        command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.spawn(command, &[]).unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut error = BufReader::new(child.stderr.take().unwrap());
        let [mut line, mut interface] = [String::new(), String::new()];
        error.read_line(&mut interface).unwrap();
        out.read_line(&mut line).unwrap();
        let mac = line.trim().rsplit(' ').next().unwrap().to_owned();
        Self { child, out, error, mac, interface }
    }

    /// Interrupts the pong and returns its output after the first lines.
    fn end(mut self) -> String {
        signal("INT", self.child.id());
        let mut summary = String::new();
        self.out.read_to_string(&mut summary).unwrap();
        self.error.read_to_string(&mut summary).unwrap();
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

/// Opens raw frames on a host's interface in this process.
fn frames(host: &Host) -> RawFrames {
    let interface = InterfaceSettings { mode: Mode::Generic, ..InterfaceSettings::default() };
    let settings = StackSettings { interface, ..StackSettings::default() };
    let open = || {
        let stack = Stack::open(host.interface(), &settings).unwrap();
        stack.raw_frames(ETHER_TYPE).unwrap()
    };
    host.run(open).unwrap()
}

fn send(frames: &mut RawFrames, bytes: &[u8]) {
    let mut packet = frames.frame(bytes.len() as u32).unwrap();
    frames.bytes_mut(&mut packet).copy_from_slice(bytes);
    frames.transmit(packet).unwrap().unwrap();
}

/// Returns the frame with `source` as sender and the old sender as destination.
fn reply_from(frame: &[u8], source: [u8; 6]) -> Vec<u8> {
    [&frame[6..12], &source, &frame[12..]].concat()
}

/// Runs a ping on the second host. `on_frame` handles each frame that arrives at the first.
fn ping_simulated_pong(
    testbed: &Testbed,
    args: &str,
    mut on_frame: impl FnMut(&mut RawFrames, &[u8]) + Send,
) -> (Vec<Value>, Output) {
    let [ours, theirs] = testbed.hosts();
    let mut frames = frames(ours);
    let is_over = AtomicBool::new(false);
    let args = format!("--interface {} --rounds 1 {args}", theirs.interface());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                frames.wait(Some(Duration::from_millis(10))).unwrap();
                while let Some(packet) = frames.receive().unwrap() {
                    let bytes = frames.bytes(&packet).to_vec();
                    frames.release(packet);
                    on_frame(&mut frames, &bytes);
                }
            }
        });
        let _stop = StopOnDrop(&is_over);
        measured(Some(theirs), &args)
    })
}

/// Stops the other thread when dropped, also during a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
#[ignore = "needs root"]
fn waits_and_modes_lose_no_ping() {
    let _turn = turn();
    let waits: Vec<Wait> = Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()).collect();
    for mode in ["generic", "native"] {
        let args = format!("--samples 141 --rounds 2 --xdp-mode {mode}");
        let (rows, output) = measured(None, &args);
        let found: Vec<&Value> = rows.iter().map(|row| &row["wait"]).collect();
        assert_eq!(found, waits.iter().map(|wait| wait.name()).collect::<Vec<_>>());
        rows.iter().for_each(|row| assert_complete(row, 141));
        // Each process prints the line once, although each round opens a new stack.
        let stderr = text(&output.stderr);
        for side in ["ping", "pong"] {
            let line = format!("{side}: veth0: veth, 1 queue, {mode} mode, copy");
            assert_eq!(stderr.matches(&line).count(), 1, "{stderr}");
        }
    }
}

/// A leaked frame would exhaust the frame pool.
#[test]
#[ignore = "needs root"]
fn pings_beyond_the_number_of_frames_are_answered() {
    let _turn = turn();
    let (rows, _) = measured(None, "--wait spin --rounds 1 --samples 6000");
    assert_complete(&rows[0], 6_000);
}

#[test]
#[ignore = "needs root"]
fn messages_of_every_size_are_answered() {
    let _turn = turn();
    let sizes = "1,2,8,11,12,13,43,44,45,1472,1498";
    let (rows, _) = measured(None, &format!("--wait epoll --rounds 1 --samples 40 --size {sizes}"));
    let found: Vec<String> = rows.iter().map(|row| row["size_bytes"].to_string()).collect();
    assert_eq!(found.join(","), sizes);
    rows.iter().for_each(|row| assert_complete(row, 40));
}

#[test]
#[ignore = "needs root"]
fn oversize_message_fails_its_row() {
    let _turn = turn();
    let (_folder, results, mut command) = ping("--wait epoll --rounds 1 --samples 40 --size 1499");
    assert_status(&command.output().unwrap(), 1);
    let rows = rows(&results);
    let reason = rows[0]["failed"].as_str().unwrap();
    assert!(reason.contains("at most 1498 bytes"), "{reason}");
}

#[test]
#[ignore = "needs root"]
fn open_loop_measures_from_intended_and_actual_send_time() {
    let _turn = turn();
    let (rows, _) = measured(None, "--wait epoll,spin --rounds 1 --samples 300 --rate 3333");
    assert_eq!(rows.len(), 4, "expected two cases for each of two waits");
    for pair in rows.chunks(2) {
        let cases = (&pair[0]["case"], &pair[1]["case"]);
        assert_eq!(cases, (&"ping".into(), &"sent to answer".into()));
        pair.iter().for_each(|row| assert_complete(row, 300));
        assert!(
            number(&pair[0], "max") >= number(&pair[1], "max"),
            "the intended send time is never later than the actual"
        );
    }
}

#[test]
#[ignore = "needs root"]
fn flood_counts_sent_and_received_messages() {
    let _turn = turn();
    let (rows, output) = measured(None, "--flood --seconds 1 --rounds 1 --wait epoll,spin");
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((&row["case"], &row["kind"]), (&"flood".into(), &"batch".into()), "{row}");
        assert!(number(row, "samples") > 0 && number(row, "min") > 0, "{row}");
    }
    let stdout = text(&output.stdout);
    assert!(
        stdout.contains("One way, as fast as it goes") && stdout.contains("raw, epoll"),
        "{stdout}"
    );
}

#[test]
#[ignore = "needs root"]
fn delay_option_adds_to_each_round_trip() {
    let _turn = turn();
    let (rows, _) = measured(None, "--wait spin --rounds 1 --samples 30 --delay-ns 500000");
    assert!(number(&rows[0], "min") >= 500_000, "{}", rows[0]);
}

#[test]
#[ignore = "needs root"]
fn pong_is_found_by_broadcast_or_by_address() {
    let _turn = turn();
    let testbed = testbed();
    let [ours, theirs] = testbed.hosts();
    let pong = Pong::on(ours, "--xdp-mode generic --wait epoll");
    assert_eq!(pong.interface, "veth0: veth, 1 queue, generic mode, copy, rx-vlan-offload on\n");
    let args = format!("--interface {} --wait epoll --samples 50 --rounds 2", theirs.interface());
    for peer in [String::new(), format!("--peer {}", pong.mac)] {
        let (rows, _) = measured(Some(theirs), &format!("{args} {peer}"));
        assert_complete(&rows[0], 50);
        assert_eq!(rows[0]["ground"], "this host and the peer at veth0");
    }
    // Two rounds of each. Each has 200 warm-up pings.
    assert_eq!(pong.end(), "900 answered, 0 answers refused\n");
    // The interface can be opened again.
    drop(frames(ours));
}

#[test]
#[ignore = "needs root"]
fn remote_pong_counts_a_flood() {
    let _turn = turn();
    let testbed = testbed();
    let [ours, theirs] = testbed.hosts();
    let pong = Pong::on(ours, "--flood");
    let args = format!("--interface {} --peer {} --flood", theirs.interface(), pong.mac);
    let args = format!("{args} --seconds 1 --rounds 1 --wait epoll");
    let (_folder, _results, command) = ping(&args);
    // The ping does not know how many arrived. A row without samples is not a failure.
    let output = theirs.spawn(command, &[]).unwrap().wait_with_output().unwrap();
    assert_done(&output);
    let summary = pong.end();
    let messages: u64 = summary.split(' ').next().unwrap().parse().unwrap();
    // More messages than frames: each frame was reused.
    assert!(messages > 2 * u64::from(UmemSettings::default().frames), "{summary}");
}

#[test]
#[ignore = "needs root"]
fn first_ping_is_broadcast_and_others_are_unicast() {
    let _turn = turn();
    let testbed = testbed();
    let mut destinations = Vec::new();
    let (rows, _) =
        ping_simulated_pong(&testbed, "--wait epoll --samples 20 --size 14", |frames, frame| {
            assert_eq!(frame.len(), 60);
            assert_eq!(frame[12..16], [0x88, 0xb5, 0, 14]);
            let sequence = u64::from_le_bytes(*frame[16..].first_chunk().unwrap());
            assert_eq!(sequence, destinations.len() as u64);
            assert_eq!(frame[30..], [0; 30], "the padding must be zero");
            destinations.push(<[u8; 6]>::try_from(&frame[..6]).unwrap());
            send(frames, &reply_from(frame, STRANGER));
        });
    assert_complete(&rows[0], 20);
    // 200 warm-up pings and the recorded ones.
    assert_eq!((destinations.len(), destinations[0]), (220, BROADCAST));
    assert!(destinations[1..].iter().all(|to| *to == STRANGER), "{destinations:x?}");
}

#[test]
#[ignore = "needs root"]
fn peer_option_sends_every_ping_to_that_address() {
    let _turn = turn();
    let testbed = testbed();
    let mut destinations = Vec::new();
    let args = "--peer 02:00:00:00:00:5a --wait epoll --samples 20";
    let (rows, _) = ping_simulated_pong(&testbed, args, |frames, frame| {
        destinations.push(<[u8; 6]>::try_from(&frame[..6]).unwrap());
        send(frames, &reply_from(frame, STRANGER));
    });
    assert_complete(&rows[0], 20);
    assert!(destinations.iter().all(|to| *to == STRANGER), "{destinations:x?}");
}

#[test]
#[ignore = "needs root"]
fn unexpected_frames_are_counted_and_not_measured() {
    let _turn = turn();
    let testbed = testbed();
    let mut pings = 0;
    let (rows, output) =
        ping_simulated_pong(&testbed, "--wait epoll --samples 20", |frames, frame| {
            pings += 1;
            let answer = reply_from(frame, [2, 0, 0, 0, 0, 7]);
            if pings > 200 {
                // A duplicate from a third host, an oversize length, and a frame to another
                // destination.
                send(frames, &reply_from(frame, STRANGER));
                let mut long = answer.clone();
                long[14] = 0xff;
                send(frames, &long);
                let mut foreign = answer.clone();
                foreign[..6].copy_from_slice(&STRANGER);
                send(frames, &foreign);
            }
            send(frames, &answer);
        });
    assert_complete(&rows[0], 20);
    let stdout = text(&output.stdout);
    assert!(stdout.contains("0 duplicate answers, 0 out of order, 40 unexpected"), "{stdout}");
}

#[test]
#[ignore = "needs root"]
fn pong_answers_only_valid_pings_to_its_address() {
    let _turn = turn();
    let testbed = testbed();
    let [ours, theirs] = testbed.hosts();
    let pong = Pong::on(ours, "--wait epoll");
    let mut frames = frames(theirs);
    let parts: Vec<u8> =
        pong.mac.split(':').map(|part| u8::from_str_radix(part, 16).unwrap()).collect();
    let pong_mac = <[u8; 6]>::try_from(parts).unwrap();
    let own = frames.mac();
    let ping = |to: [u8; 6], from: [u8; 6], length: u8| {
        let mut frame = [&to[..], &from, &[0x88, 0xb5, 0, length]].concat();
        frame.resize(60, 0);
        frame
    };
    // More pings to a third host than there are frames.
    for _ in 0..=UmemSettings::default().frames {
        send(&mut frames, &ping(STRANGER, own, 14));
    }
    // The mark of an answer is in the last byte of the run.
    let mark = |mut frame: Vec<u8>| {
        frame[16 + 11] |= 0x80;
        frame
    };
    let mut answers = 0;
    let mut drain = |frames: &mut RawFrames| {
        while let Some(packet) = frames.receive().unwrap() {
            assert_eq!(frames.bytes(&packet), mark(ping(own, pong_mac, 44)));
            frames.release(packet);
            answers += 1;
        }
    };
    // Those pings may have filled the pong's ring: repeat until a valid ping is answered.
    let answer = |frames: &mut RawFrames| {
        let is_answered = |_| {
            send(frames, &ping(pong_mac, own, 44));
            frames.wait(Some(Duration::from_secs(1))).unwrap()
        };
        assert!((0..60).any(is_answered), "no answer to a valid ping");
    };
    answer(&mut frames);
    drain(&mut frames);
    // An answer of another pong, one from a group address, and one whose length exceeds its frame.
    send(&mut frames, &mark(ping(pong_mac, own, 14)));
    send(&mut frames, &ping(pong_mac, BROADCAST, 14));
    send(&mut frames, &ping(pong_mac, own, 45));
    answer(&mut frames);
    let summary = pong.end();
    drain(&mut frames);
    // Standard output, then standard error.
    let (counts, ignored) = summary.split_once('\n').unwrap();
    assert_eq!(counts, format!("{answers} answered, 0 answers refused"));
    assert!(ignored.starts_with("pong: no ping from ") && ignored.ends_with(": 1 ignored\n"));
}

#[test]
#[ignore = "needs root"]
fn missing_pong_is_reported_in_one_line() {
    let testbed = testbed();
    let theirs = &testbed.hosts()[1];
    let args = format!("--interface {} --wait epoll --rounds 1", theirs.interface());
    let (_folder, _results, command) = ping(&args);
    let output = theirs.spawn(command, &[]).unwrap().wait_with_output().unwrap();
    assert_status(&output, 1);
    let stderr = text(&output.stderr);
    assert!(stderr.contains("no answer") && output.stdout.is_empty(), "{stderr}");
}

#[test]
fn invalid_arguments_are_rejected_in_one_line() {
    // A missing interface exits with status 1.
    for (args, status, named) in [
        ("ping --protocol raw", 2, "--transport xdp"),
        ("ping --protocol raw --transport kernel", 2, "--transport xdp"),
        ("ping --protocol raw,udp --transport xdp", 2, "--protocol raw"),
        ("ping --protocol raw --transport xdp 10.0.0.1:5", 2, "--interface"),
        ("ping --protocol raw --transport xdp --connections 2", 2, "--connections"),
        ("ping --protocol raw --transport xdp --timestamps software", 2, "--timestamps"),
        ("ping --protocol raw --transport xdp --interface lo --flood", 2, "--peer"),
        ("ping --protocol raw --transport xdp --interface lo --delay-ns 5", 2, "at lo"),
        ("ping --protocol raw --transport xdp --interface lo --pong-wait spin", 2, "at lo"),
        ("ping --protocol raw --transport xdp --interface nope0", 1, "nope0"),
        ("ping --protocol raw --transport xdp --peer 02:00:00:00:00:01", 2, "--interface"),
        ("ping --protocol raw --transport xdp --interface lo --peer x", 2, "--peer"),
        ("ping --interface lo --peer 02:00:00:00:00:01", 2, "--peer"),
        ("ping --xdp-mode native", 2, "--xdp-mode"),
        ("pong --protocol raw", 2, "--transport xdp"),
        ("pong --protocol raw --transport xdp", 2, "--interface"),
        ("pong --protocol raw --interface lo", 2, "--transport xdp"),
        (
            "pong --protocol raw --transport xdp --interface lo --listen 10.0.0.1:5",
            2,
            "--interface",
        ),
    ] {
        let output = hairpin().args(args.split_whitespace()).output().unwrap();
        assert_status(&output, status);
        let stderr = text(&output.stderr);
        assert!(stderr.lines().count() == 1 && stderr.contains(named), "{args}: {stderr}");
    }
}
