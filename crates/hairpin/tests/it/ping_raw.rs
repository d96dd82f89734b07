//! `hairpin ping` and `hairpin pong` by raw frames, past the kernel, between two hosts.
//!
//! Nothing here asserts how fast anything is.

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
/// Who else might answer.
const STRANGER: [u8; 6] = [2, 0, 0, 0, 0, 0x5a];
const RAW: [&str; 4] = ["--protocol", "raw", "--transport", "xdp"];

fn bed() -> Testbed {
    Testbed::builder().queues(Queues::pairs(1)).build().unwrap()
}

/// A folder for results, and the command that writes them there.
fn ping(words: &str) -> (tempfile::TempDir, PathBuf, Command) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut command = hairpin();
    command.arg("ping").args(RAW).args(words.split_whitespace()).arg("--json").arg(&results);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    (folder, results, command)
}

/// The rows of a ping that must do what it should, run on a host or with hosts of its own.
fn measured(host: Option<&Host>, words: &str) -> (Vec<Value>, Output) {
    let (_folder, results, mut command) = ping(words);
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

fn assert_whole(row: &Value, samples: u64) {
    assert_eq!((number(row, "samples"), number(row, "lost")), (samples, 0), "{row}");
    assert_eq!(row["failed"], Value::Null, "{row}");
    assert!(number(row, "min") > 0, "{row}");
    let way = (&row["protocol"], &row["transport"]);
    assert_eq!(way, (&"raw".into(), &"xdp".into()), "{row}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A pong of the command's own on a host.
struct Pong {
    child: std::process::Child,
    out: BufReader<ChildStdout>,
    error: BufReader<ChildStderr>,
    mac: String,
    /// Its first line on standard error.
    way: String,
}

impl Pong {
    fn on(host: &Host, words: &str) -> Self {
        let mut command = hairpin();
        command.arg("pong").args(RAW).args(["--interface", host.interface()]);
        command.args(words.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.spawn(command, &[]).unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut error = BufReader::new(child.stderr.take().unwrap());
        let [mut line, mut way] = [String::new(), String::new()];
        error.read_line(&mut way).unwrap();
        out.read_line(&mut line).unwrap();
        let mac = line.trim().rsplit(' ').next().unwrap().to_owned();
        Self { child, out, error, mac, way }
    }

    /// Interrupts it; what it said after its first lines.
    fn end(mut self) -> String {
        signal("INT", self.child.id());
        let mut said = String::new();
        self.out.read_to_string(&mut said).unwrap();
        self.error.read_to_string(&mut said).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(130), "{said}");
        said
    }
}

impl Drop for Pong {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Frames of a host's interface, in this process.
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

/// Sends a frame back as it is but for its addresses, from `source`.
fn turned(frame: &[u8], source: [u8; 6]) -> Vec<u8> {
    [&frame[6..12], &source, &frame[12..]].concat()
}

/// A ping on the second host against what `on_frame` makes of each frame at the first.
fn against(
    bed: &Testbed,
    words: &str,
    mut on_frame: impl FnMut(&mut RawFrames, &[u8]) + Send,
) -> (Vec<Value>, Output) {
    let [ours, theirs] = bed.hosts();
    let mut frames = frames(ours);
    let is_over = AtomicBool::new(false);
    let words = format!("--interface {} --rounds 1 {words}", theirs.interface());
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
        let _ending = Ending(&is_over);
        measured(Some(theirs), &words)
    })
}

/// Ends the other thread, also when this one panics.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
#[ignore = "needs root"]
fn every_wait_and_mode_adds_up() {
    let _turn = turn();
    let waits: Vec<Wait> = Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()).collect();
    for mode in ["generic", "native"] {
        let words = format!("--samples 141 --rounds 2 --xdp-mode {mode}");
        let (rows, output) = measured(None, &words);
        let found: Vec<&Value> = rows.iter().map(|row| &row["wait"]).collect();
        assert_eq!(found, waits.iter().map(|wait| wait.name()).collect::<Vec<_>>());
        rows.iter().for_each(|row| assert_whole(row, 141));
        // Once for each side, though each round has a stack of its own.
        let said = text(&output.stderr);
        for side in ["ping", "pong"] {
            let line = format!("{side}: veth0: veth, 1 queue, {mode} mode, copy");
            assert_eq!(said.matches(&line).count(), 1, "{said}");
        }
    }
}

/// A frame that does not go back to where it came from is missing sooner or later.
#[test]
#[ignore = "needs root"]
fn more_pings_than_there_are_frames_come_back() {
    let _turn = turn();
    let (rows, _) = measured(None, "--wait spin --rounds 1 --samples 6000 --interval-us 200");
    assert_whole(&rows[0], 6_000);
}

#[test]
#[ignore = "needs root"]
fn messages_of_every_size_come_back() {
    let _turn = turn();
    let sizes = "1,2,8,11,12,13,43,44,45,1472,1498";
    let (rows, _) = measured(None, &format!("--wait epoll --rounds 1 --samples 40 --size {sizes}"));
    let found: Vec<String> = rows.iter().map(|row| row["size_bytes"].to_string()).collect();
    assert_eq!(found.join(","), sizes);
    rows.iter().for_each(|row| assert_whole(row, 40));
}

#[test]
#[ignore = "needs root"]
fn a_message_that_no_frame_holds_fails_its_row() {
    let _turn = turn();
    let (_folder, results, mut command) = ping("--wait epoll --rounds 1 --samples 40 --size 1499");
    assert_status(&command.output().unwrap(), 1);
    let rows = rows(&results);
    let reason = rows[0]["failed"].as_str().unwrap();
    assert!(reason.contains("at most 1498 bytes"), "{reason}");
}

#[test]
#[ignore = "needs root"]
fn an_open_loop_counts_from_the_intended_and_from_the_actual_time() {
    let _turn = turn();
    let (rows, _) = measured(None, "--wait epoll,spin --rounds 1 --samples 300 --rate 3333");
    assert_eq!(rows.len(), 4, "two cases for each of two waits");
    for pair in rows.chunks(2) {
        let cases = (&pair[0]["case"], &pair[1]["case"]);
        assert_eq!(cases, (&"ping".into(), &"sent to answer".into()));
        pair.iter().for_each(|row| assert_whole(row, 300));
        assert!(number(&pair[0], "max") >= number(&pair[1], "max"), "intended is never later");
    }
}

#[test]
#[ignore = "needs root"]
fn a_flood_counts_what_left_and_what_arrived() {
    let _turn = turn();
    let (rows, output) = measured(None, "--flood --seconds 1 --rounds 1 --wait epoll,spin");
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((&row["case"], &row["kind"]), (&"flood".into(), &"batch".into()), "{row}");
        assert!(number(row, "samples") > 0 && number(row, "min") > 0, "{row}");
    }
    let said = text(&output.stdout);
    assert!(said.contains("One way, as fast as it goes") && said.contains("raw, epoll"), "{said}");
}

#[test]
#[ignore = "needs root"]
fn a_pong_that_is_told_to_be_slow_is() {
    let _turn = turn();
    let (rows, _) = measured(None, "--wait spin --rounds 1 --samples 30 --delay-ns 2000000");
    assert!(number(&rows[0], "min") >= 2_000_000, "{}", rows[0]);
}

#[test]
#[ignore = "needs root"]
fn a_pong_behind_an_interface_is_found_or_named() {
    let _turn = turn();
    let bed = bed();
    let [ours, theirs] = bed.hosts();
    let pong = Pong::on(ours, "--xdp-mode generic --wait epoll");
    assert_eq!(pong.way, "veth0: veth, 1 queue, generic mode, copy, rx-vlan-offload on\n");
    let words = format!("--interface {} --wait epoll --samples 50 --rounds 2", theirs.interface());
    for peer in [String::new(), format!("--peer {}", pong.mac)] {
        let (rows, _) = measured(Some(theirs), &format!("{words} {peer}"));
        assert_whole(&rows[0], 50);
        assert_eq!(rows[0]["ground"], "this host and who is behind veth0");
    }
    // Two rounds of each, each with a warm-up of 200.
    assert_eq!(pong.end(), "900 answered, 0 answers refused\n");
    // The interface is free again.
    drop(frames(ours));
}

#[test]
#[ignore = "needs root"]
fn a_flood_is_counted_by_a_pong_behind_an_interface() {
    let _turn = turn();
    let bed = bed();
    let [ours, theirs] = bed.hosts();
    let pong = Pong::on(ours, "--flood");
    let words = format!("--interface {} --peer {} --flood", theirs.interface(), pong.mac);
    let words = format!("{words} --seconds 1 --rounds 1 --wait epoll");
    let (_folder, _results, command) = ping(&words);
    // What arrived is not known here: a row without samples is no failure.
    let output = theirs.spawn(command, &[]).unwrap().wait_with_output().unwrap();
    assert_done(&output);
    let said = pong.end();
    let messages: u64 = said.split(' ').next().unwrap().parse().unwrap();
    // Each frame of the stack's memory was used more than once.
    assert!(messages > 2 * u64::from(UmemSettings::default().frames), "{said}");
}

#[test]
#[ignore = "needs root"]
fn the_first_ping_goes_to_everyone_and_the_others_to_who_answered() {
    let _turn = turn();
    let bed = bed();
    let mut went_to = Vec::new();
    let (rows, _) = against(&bed, "--wait epoll --samples 20 --size 14", |frames, frame| {
        assert_eq!(frame.len(), 60);
        assert_eq!(frame[12..16], [0x88, 0xb5, 0, 14]);
        let sequence = u64::from_le_bytes(*frame[16..].first_chunk().unwrap());
        assert_eq!(sequence, went_to.len() as u64);
        assert_eq!(frame[30..], [0; 30], "the padding is zeros");
        went_to.push(<[u8; 6]>::try_from(&frame[..6]).unwrap());
        send(frames, &turned(frame, STRANGER));
    });
    assert_whole(&rows[0], 20);
    // 200 to warm up, and those that are recorded.
    assert_eq!((went_to.len(), went_to[0]), (220, BROADCAST));
    assert!(went_to[1..].iter().all(|to| *to == STRANGER), "{went_to:x?}");
}

#[test]
#[ignore = "needs root"]
fn a_pong_that_is_named_gets_every_ping_and_nobody_else_does() {
    let _turn = turn();
    let bed = bed();
    let mut went_to = Vec::new();
    let words = "--peer 02:00:00:00:00:5a --wait epoll --samples 20";
    let (rows, _) = against(&bed, words, |frames, frame| {
        went_to.push(<[u8; 6]>::try_from(&frame[..6]).unwrap());
        send(frames, &turned(frame, STRANGER));
    });
    assert_whole(&rows[0], 20);
    assert!(went_to.iter().all(|to| *to == STRANGER), "{went_to:x?}");
}

#[test]
#[ignore = "needs root"]
fn what_is_no_answer_of_the_pong_is_told_and_measured_by_nobody() {
    let _turn = turn();
    let bed = bed();
    let mut pings = 0;
    let (rows, output) = against(&bed, "--wait epoll --samples 20", |frames, frame| {
        pings += 1;
        let answer = turned(frame, [2, 0, 0, 0, 0, 7]);
        if pings > 200 {
            // Another who answers the same; one whose length no frame holds; one to somebody else.
            send(frames, &turned(frame, STRANGER));
            let mut long = answer.clone();
            long[14] = 0xff;
            send(frames, &long);
            let mut foreign = answer.clone();
            foreign[..6].copy_from_slice(&STRANGER);
            send(frames, &foreign);
        }
        send(frames, &answer);
    });
    assert_whole(&rows[0], 20);
    let said = text(&output.stdout);
    assert!(said.contains("0 duplicate answers, 0 out of order, 40 unexpected"), "{said}");
}

#[test]
#[ignore = "needs root"]
fn a_pong_answers_nothing_but_pings_to_it() {
    let _turn = turn();
    let bed = bed();
    let [ours, theirs] = bed.hosts();
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
    // To another, more often than there are frames; from a group; longer than its frame.
    for _ in 0..=UmemSettings::default().frames {
        send(&mut frames, &ping(STRANGER, own, 14));
    }
    send(&mut frames, &ping(pong_mac, BROADCAST, 14));
    send(&mut frames, &ping(pong_mac, own, 45));
    send(&mut frames, &ping(pong_mac, own, 44));
    assert!(frames.wait(Some(Duration::from_secs(10))).unwrap());
    let packet = frames.receive().unwrap().unwrap();
    assert_eq!(frames.bytes(&packet), ping(own, pong_mac, 44));
    frames.release(packet);
    assert_eq!(pong.end(), "1 answered, 0 answers refused\n");
}

#[test]
#[ignore = "needs root"]
fn nobody_there_is_said_in_one_line() {
    let _turn = turn();
    let bed = bed();
    let theirs = &bed.hosts()[1];
    let words = format!("--interface {} --wait epoll --rounds 1", theirs.interface());
    let (_folder, _results, command) = ping(&words);
    let output = theirs.spawn(command, &[]).unwrap().wait_with_output().unwrap();
    assert_status(&output, 1);
    let said = text(&output.stderr);
    assert!(said.contains("no answer") && output.stdout.is_empty(), "{said}");
}

#[test]
fn wrong_words_are_told_in_one_line() {
    // A missing interface is no wrong word.
    for (words, status, named) in [
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
        let output = hairpin().args(words.split_whitespace()).output().unwrap();
        assert_status(&output, status);
        let said = text(&output.stderr);
        assert!(said.lines().count() == 1 && said.contains(named), "{words}: {said}");
    }
}
