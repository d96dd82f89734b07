//! Rules of FIX sessions, with a client that sends exactly what a test asks for.

use std::fs;
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::drop_copy::{CLIENT, Place, TIMEOUT, program};
use crate::journal::{ReportJournal, exec_id};
use crate::raw_client::RawClient;

const WIRE: &[&str] = &["--wire-prices"];
/// The documentation with the sample configuration of an order session.
const SAMPLE: &str = include_str!("../../../docs/guide/order-library.md");

/// Returns a place with a journal of so many reports.
fn place(reports: u32) -> (Place, ReportJournal) {
    let (place, mut journal) = Place::new();
    (0..reports).for_each(|_| journal.write());
    (place, journal)
}

#[test]
fn reports_follow_logon_and_continue_after_it_with_further_ones() {
    let (place, mut journal) = place(2);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    let logon = client.expect("A");
    assert_eq!((logon.field(34), logon.field(108), logon.field(49)), ("1", "30", "HAIRPIN"));
    for number in 1..=2 {
        let report = client.expect("8");
        assert_eq!(report.field(34), (number + 1).to_string());
        assert_eq!(report.field(17), exec_id(number));
    }
    client.send("1", "112=HELLO");
    assert_eq!(client.expect("0").field(112), "HELLO");
    journal.write();
    let report = client.expect("8");
    assert_eq!((report.field(34), report.field(17)), ("5", &exec_id(3)[..]));
    client.send("5", "");
    client.expect_logout("logged out");
    let mut client = RawClient::log_on(server.port, CLIENT, client.next, "108=30");
    assert_eq!(client.expect("A").field(34), "7");
}

#[test]
fn too_low_number_is_a_logout() {
    let (place, _journal) = place(0);
    let server = place.start(0, WIRE);
    RawClient::log_on(server.port, CLIENT, 1, "108=30").expect("A");
    let mut again = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    again.expect_logout("MsgSeqNum too low, expecting 2 but received 1");
}

#[test]
fn too_high_number_is_a_resend_request_until_the_gap_is_filled() {
    let (place, _journal) = place(0);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 5, "108=30");
    client.expect("A");
    let request = client.expect("2");
    assert_eq!((request.field(7), request.field(16)), ("1", "0"));
    client.send("1", "112=IGNORED");
    let fill = client.message("4", 1, "43=Y|123=Y|36=7");
    client.send_bytes(&fill);
    client.next = 7;
    client.send("1", "112=NEXT");
    assert_eq!(client.expect("0").field(112), "NEXT");
    // A reset sets the number without one of its own, and never back.
    let reset = client.message("4", 1, "36=20");
    client.send_bytes(&reset);
    let back = client.message("4", 1, "36=3");
    client.send_bytes(&back);
    let reject = client.expect("3");
    assert_eq!((reject.field(371), reject.field(373)), ("36", "5"));
    client.next = 20;
    client.send("1", "112=AFTER");
    assert_eq!(client.expect("0").field(112), "AFTER");
}

#[test]
fn requested_messages_are_sent_again_with_gap_fills_for_session_messages() {
    let (place, mut journal) = place(2);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    client.expect("A");
    let first = [client.expect("8"), client.expect("8")];
    for id in ["X", "Y"] {
        client.send("1", &format!("112={id}"));
        client.expect("0");
    }
    journal.write();
    let last = client.expect("8");
    client.send("2", "7=1|16=0");
    let fill = client.expect("4");
    assert_eq!([34, 36, 43, 123].map(|tag| fill.field(tag)), ["1", "2", "Y", "Y"]);
    for sent in &first {
        let again = client.expect("8");
        assert_eq!([34, 17, 31].map(|tag| again.field(tag)), [34, 17, 31].map(|it| sent.field(it)));
        assert_eq!((again.field(43), again.field(122)), ("Y", sent.field(52)));
    }
    let fill = client.expect("4");
    assert_eq!([34, 36, 43, 123].map(|tag| fill.field(tag)), ["4", "6", "Y", "Y"]);
    assert_eq!(client.expect("8").field(17), last.field(17));
    client.send("2", "7=2|16=2");
    assert_eq!(client.expect("8").field(34), "2");
    client.send("2", "16=2");
    assert_eq!(client.expect("3").field(371), "7");
}

#[test]
fn reset_restarts_numbers_and_repeats_no_report() {
    let (place, mut journal) = place(1);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    client.expect("A");
    client.expect("8");
    client.send("5", "");
    client.expect_logout("logged out");
    journal.write();
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30|141=Y");
    let logon = client.expect("A");
    assert_eq!((logon.field(34), logon.field(141)), ("1", "Y"));
    let report = client.expect("8");
    assert_eq!((report.field(34), report.field(17)), ("2", &exec_id(2)[..]));
    drop(server);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 2, "108=30");
    assert_eq!(client.expect("A").field(34), "3");
}

#[test]
fn garbled_messages_are_ignored() {
    let (place, _journal) = place(0);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    client.expect("A");
    let mut garbled = client.message("1", client.next, "112=GARBLED");
    let sum = garbled.len() - 2;
    garbled[sum] ^= 1;
    client.send_bytes(&garbled);
    client.send_bytes(b"not FIX at all");
    client.send("1", "112=RIGHT");
    assert_eq!(client.expect("0").field(112), "RIGHT");
}

#[test]
fn silent_client_is_tested_then_logged_out() {
    let (place, _journal) = place(0);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=1");
    client.expect("A");
    client.expect("0");
    let mut is_tested = false;
    loop {
        let message = client.receive().unwrap();
        match message.field(35) {
            "1" => is_tested = true,
            "0" => {}
            other => {
                assert_eq!((other, message.field(58)), ("5", "no reply to a TestRequest"));
                break;
            }
        }
    }
    assert!(is_tested && client.receive().is_none());
}

#[test]
fn wrong_logons_are_refused() {
    let (place, _journal) = place(0);
    let server = place.start(0, WIRE);
    assert!(RawClient::log_on(server.port, "STRANGER", 1, "108=30").receive().is_none());
    let mut first = RawClient::connect(server.port, CLIENT);
    first.send("0", "");
    assert!(first.receive().is_none());
    let mut encrypted = RawClient::connect(server.port, CLIENT);
    encrypted.send("A", "98=1|108=30");
    encrypted.expect_logout("EncryptMethod (98) must be 0");
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    client.expect("A");
    assert!(RawClient::log_on(server.port, CLIENT, 2, "108=30").receive().is_none());
    client.send("D", "11=1");
    let reject = client.expect("j");
    assert_eq!((reject.field(372), reject.field(380)), ("D", "3"));
    let log = fs::read_to_string(place.log()).unwrap();
    for line in ["no session \"STRANGER\"", "the first message is not", "RISK is logged on"] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

#[test]
fn client_that_does_not_read_delays_no_other() {
    let (place, _journal) = place(40_000);
    let server = place.start(0, &["--wire-prices", "--fix-client", "SLOW"]);
    let _slow = RawClient::log_on(server.port, "SLOW", 1, "108=0");
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=0");
    client.expect("A");
    for number in 1..=40_000_u32 {
        assert_eq!(client.receive().unwrap().field(34), (number + 1).to_string());
    }
}

fn write_file(place: &Place, name: &str, arguments: &[&str]) -> Output {
    let mut command = program();
    command.arg("--journal").arg(place.journal()).args(arguments);
    command.arg("--fix-file").arg(place.client().join(name)).output().unwrap()
}

#[test]
fn file_has_the_same_messages_and_is_the_same_each_time() {
    let (place, _journal) = place(60);
    fs::create_dir_all(place.client()).unwrap();
    let files = ["one", "other"].map(|name| {
        let output = write_file(&place, name, WIRE);
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(place.client().join(name)).unwrap()
    });
    assert_eq!(files[0], files[1]);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=0");
    client.expect("A");
    let body = |text: &str| {
        let is_body = |field: &&str| {
            !["8=", "9=", "34=", "52=", "56=", "10="].iter().any(|tag| field.starts_with(tag))
        };
        text.split('|').filter(is_body).map(str::to_owned).collect::<Vec<_>>()
    };
    let lines: Vec<_> = files[0].lines().map(|line| line.replace('\u{1}', "|")).collect();
    assert_eq!(lines.len(), 60);
    for line in lines {
        assert_eq!(body(&line), body(&client.receive().unwrap().text));
    }
    let output = write_file(&place, "one", WIRE);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("file exists; --force replaces it") && text.lines().count() == 1);
    assert!(write_file(&place, "one", &["--wire-prices", "--force"]).status.success());
}

/// Runs the program with arguments that are wrong, and returns its one line.
#[track_caller]
fn error(arguments: &[&str]) -> String {
    let mut command = program();
    command.args(arguments).args(WIRE).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() && start.elapsed() < TIMEOUT {
        thread::sleep(Duration::from_millis(10));
    }
    // A process that does not end by itself has no exit status.
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn errors_are_one_line() {
    let (place, _journal) = place(0);
    fs::create_dir_all(place.client()).unwrap();
    let path = |name: &str| place.client().join(name).display().to_string();
    let out = path("out");
    let missing = error(&["--journal", &path("missing"), "--fix-file", &out]);
    assert!(missing.contains("missing: no journal"), "{missing}");
    fs::write(path("key"), "AAECAwQFBgcICQoLDA0ODw").unwrap();
    let (_, sample) = SAMPLE.split_once("```toml\n").unwrap();
    let (head, _) = sample.split_once("[journal]").unwrap();
    let config = |rest: &str| {
        let head = head.lines().map(|line| match line.split_once('=') {
            Some((name, _)) if name.trim() == "secret_file" => "secret_file = \"key\"",
            _ => line,
        });
        let text = head.collect::<Vec<_>>().join("\n") + "\n" + rest;
        fs::write(path("order.toml"), text).unwrap();
        error(&["--config", &path("order.toml"), "--fix-file", &out])
    };
    let unknown = config("[journal]\nfolders = \"a\"\n");
    assert!(unknown.contains("order.toml") && unknown.contains("`folders`"), "{unknown}");
    let in_memory = config("[journal]\nin_memory = true\n");
    assert!(in_memory.contains("the session's journal is in memory"), "{in_memory}");
    let outbound = config("[journal]\nfolder = \"a\"\nkeep_inbound = false\n");
    assert!(outbound.contains("keep_inbound = false"), "{outbound}");
    let missing = config("[journal]\nfolder = \"a\"\n");
    assert!(missing.contains("no journal in"), "{missing}");
    let capture = path("day.pcap");
    let none = program()
        .args(["--journal", &place.journal().display().to_string()])
        .args(["--fix-file", &out, "--display-prices", &capture])
        .output()
        .unwrap();
    assert!(String::from_utf8(none.stderr).unwrap().contains("day.pcap: No such file"));
    assert!(!place.client().join("out").exists());
}

#[test]
fn damaged_segment_is_one_line_and_reading_continues() {
    let (place, journal) = place(400);
    drop(journal);
    let first = place.journal().join("0000000001.segment");
    let mut bytes = fs::read(&first).unwrap();
    bytes[2_000..2_100].fill(0xEE);
    fs::write(&first, bytes).unwrap();
    fs::create_dir_all(place.client()).unwrap();
    let output = write_file(&place, "out", WIRE);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("0000000001.segment") && text.lines().count() == 1, "{text}");
    let lines = fs::read_to_string(place.client().join("out")).unwrap().lines().count();
    assert!((1..400).contains(&lines), "{lines}");
}

#[test]
fn store_of_another_journal_is_refused() {
    let (place, journal) = place(3);
    let server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    client.expect("A");
    (0..3).for_each(|_| drop(client.expect("8")));
    drop((server, journal));
    fs::remove_dir_all(place.journal()).unwrap();
    let mut other = ReportJournal::create(&place.journal());
    (0..30).for_each(|_| other.write());
    let (journal, store) = (place.journal(), place.store());
    let text = error(&[
        "--journal",
        journal.to_str().unwrap(),
        "--fix-store",
        store.to_str().unwrap(),
        "--fix-listen",
        "127.0.0.1:0",
        "--fix-client",
        CLIENT,
    ]);
    assert!(text.contains("does not have the last report that was sent"), "{text}");
}

#[test]
fn stopped_drop_copy_logs_clients_out() {
    let (place, _journal) = place(0);
    let mut server = place.start(0, WIRE);
    let mut client = RawClient::log_on(server.port, CLIENT, 1, "108=30");
    client.expect("A");
    let pid = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    client.expect_logout("the drop copy is stopped");
    assert!(server.child.wait().unwrap().success());
}
