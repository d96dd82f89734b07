//! Runs `hairpin exchange` with instrument groups, packet faults and a replay server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Process, assert_status, hairpin, turn};

/// Returns a FIX message with this body. A `|` stands for the end of a field.
fn message(body: &str) -> Vec<u8> {
    let mut bytes = format!("9={}|{body}", body.len()).replace('|', "\u{1}").into_bytes();
    let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    bytes.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    bytes
}

/// Requests the replay of one packet. Returns the template and packet number of each answer, or
/// `None` if no server listens.
fn request_packet(port: u16, number: u32) -> Option<Vec<(u16, u32)>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(&message("35=A|553=CME|554=CME|")).ok()?;
    let request = format!("35=V|1180=310|262=310-1|1182={number}|1183={number}|");
    stream.write_all(&message(&request)).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let mut answers = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let length = usize::from(u16::from_le_bytes([rest[0], rest[1]]));
        let (packet, behind) = rest[2..].split_at(length);
        let sequence = u32::from_le_bytes(packet[..4].try_into().unwrap());
        answers.push((u16::from_le_bytes([packet[16], packet[17]]), sequence));
        rest = behind;
    }
    Some(answers)
}

#[test]
fn instrument_groups_are_published_and_replayed_under_faults() {
    let _turn = turn();
    // The template of the first message that is not a heartbeat: a book, an order book, top orders,
    // a book with 64-bit quantities.
    for (group, first) in [("levels", 46), ("premium", 47), ("brokertec", 59), ("ebs", 64)] {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = hairpin();
        command.args(["exchange", "--group", group, "--instruments", "300"]);
        command.args(["--faults-a", "drop=5,delay=5:2", "--faults-b", "silence=1:100"]);
        command.args(["--replay-port", &port.to_string(), "--traders", "1"]);
        let mut exchange = Process::start(&mut command);
        let until = Instant::now() + Duration::from_secs(60);
        let is_conflated = ["brokertec", "ebs"].contains(&group);
        let mut number = 1;
        let answers = loop {
            assert!(exchange.runs() && Instant::now() < until, "{group}: no replay within 60 s");
            match request_packet(port, number) {
                // A conflated group sends heartbeats between its updates.
                Some(answers)
                    if is_conflated && answers.len() == 3 && answers[1] == (12, number) =>
                {
                    number += 1;
                }
                Some(answers) if answers.len() == 3 => break answers,
                _ => sleep(Duration::from_millis(20)),
            }
        };
        assert_eq!(answers, [(15, 1), (first, number), (16, 2)], "{group}");
        exchange.signal("INT");
        let output = exchange.output();
        assert_status(&output, 130);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(&format!("replay at 127.0.0.1:{port}")), "{stderr}");
    }
}

#[test]
fn invalid_fault_exits_with_one_line_and_status_2() {
    let _turn = turn();
    let output = hairpin().args(["exchange", "--faults-a", "rain=1"]).output().unwrap();
    assert_status(&output, 2);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("unknown fault rain=1"), "{stderr}");
}

/// Starts `hairpin feed` on a channel over the loopback interface.
fn feed(config: &std::path::Path, args: &[&str]) -> Process {
    let mut command = hairpin();
    command.args(["feed", "--interface", "lo", "--config"]).arg(config).args(args);
    Process::start(&mut command)
}

#[test]
fn packets_lost_on_both_lines_are_replayed() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.xml");
    let mut command = hairpin();
    command.args(["exchange", "--group", "premium", "--replay-port", "0"]);
    command.args(["--interval-us", "2000", "--instruments", "20"]);
    command.args(["--faults-a", "drop=20", "--faults-b", "drop=20", "--config-out"]).arg(&config);
    let exchange = Process::start(&mut command);
    let until = Instant::now() + Duration::from_secs(60);
    while !config.exists() {
        assert!(Instant::now() < until, "no configuration within 60 s");
        sleep(Duration::from_millis(5));
    }
    let text = std::fs::read_to_string(&config).unwrap();
    for kind in ["I", "N", "S", "SMBO", "H"] {
        assert!(text.contains(&format!("feed-type=\"{kind}\"")), "{kind}: {text}");
    }
    let args = ["--callbacks", "--replay", "--orders", "full"];
    let args = [&args[..], &["--security", "1001,HP002", "--format", "json"]].concat();
    let printed = folder.path().join("printed.txt");
    let file = std::fs::File::create(&printed).unwrap();
    let mut command = hairpin();
    command.args(["feed", "--interface", "lo", "--config"]).arg(&config).args(args);
    let mut feed = Process::of(command.stdout(file).stderr(Stdio::piped()).spawn().unwrap());
    let until = Instant::now() + Duration::from_secs(60);
    let has_all = |printed: &str| printed.contains("\"Filled\"") && printed.contains("\"InSync\"");
    while !has_all(&std::fs::read_to_string(&printed).unwrap()) {
        assert!(feed.runs() && Instant::now() < until, "no replay within 60 s");
        sleep(Duration::from_millis(50));
    }
    feed.signal("INT");
    assert_status(&feed.output(), 130);
    drop(exchange);
    let out = std::fs::read_to_string(&printed).unwrap();
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| lines.iter().filter(|line| line["name"] == name).count();
    assert!(of("Replay") > 0, "{}", &out[out.len().saturating_sub(2_000)..]);
    let summary = lines.iter().find(|line| line["instruments"].is_number()).unwrap();
    assert_eq!(summary["instruments"], 2, "{summary}");
}

#[test]
fn missing_replay_server_is_reported() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let text = "[[channel]]\nid = \"450\"\n[[channel.connection]]\nfeed = \"I\"\nside = \"A\"\n\
                group = \"239.192.9.1\"\nport = 14310\n";
    std::fs::write(&config, text).unwrap();
    let output = feed(&config, &["--replay"]).output();
    assert_status(&output, 1);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.trim(), "hairpin: channel 450 has no replay server (feed-type H)");
    // The incremental feed on one line is sufficient.
    let output = feed(&config, &["--for", "0.2"]).output();
    assert_status(&output, 0);
}
