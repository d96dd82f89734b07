//! Captures without a configuration: what `hairpin exchange --record` writes is read back, and what
//! is published from a capture.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Process, assert_done, assert_status, hairpin, turn};

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Returns every value of `--group`, as the help lists them.
fn group_kinds() -> Vec<String> {
    let help = hairpin().args(["exchange", "--help"]).output().unwrap();
    let help = text(&help.stdout);
    let (_, of_group) = help.split_once("--group <GROUP>").unwrap();
    let (_, values) = of_group.split_once("Possible values:").unwrap();
    let lines = values.lines().skip(1).map_while(|line| line.trim().strip_prefix("- "));
    lines.map(|line| line.split(':').next().unwrap().to_owned()).collect()
}

/// Runs `hairpin feed` on a capture, with a configuration file or without.
fn feed(capture: &Path, config: Option<&Path>, orders: &str) -> Output {
    let mut command = hairpin();
    command.args(["feed", "--books", "--orders", orders, "--pcap"]).arg(capture);
    if let Some(config) = config {
        command.arg("--config").arg(config);
    }
    command.output().unwrap()
}

/// Checks that the feeds of a capture are detected: the output is that with a configuration.
#[track_caller]
fn assert_same_as_with(config: &Path, capture: &Path, about: &str) -> String {
    let mut last = String::new();
    for orders in ["none", "top", "full"] {
        let (with, without) = (feed(capture, Some(config), orders), feed(capture, None, orders));
        assert_done(&with);
        assert_done(&without);
        assert!(with.stdout == without.stdout, "{about}, --orders {orders}");
        last = text(&without.stdout).lines().rev().nth(1).unwrap_or_default().to_owned();
    }
    last
}

#[test]
fn recording_of_every_kind_of_group_is_read_without_configuration() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let kinds = group_kinds();
    assert!(kinds.len() >= 4 && kinds.contains(&"premium".to_owned()), "{kinds:?}");
    for kind in &kinds {
        for (name, args) in [
            ("interfaces.pcapng", &["--instruments", "20"][..]),
            ("contents.pcap", &["--instruments", "20"]),
            ("formats.pcap", &["--display-formats", "--channel", "7"]),
            ("one.pcap", &["--instruments", "1", "--mute-b", "20,40"]),
        ] {
            let config = folder.path().join("config.xml");
            let capture = folder.path().join(format!("{kind}-{name}"));
            // An exchange that loses its core sends the ticks at once, and ends before its loops
            // have contained every instrument: a longer run has them.
            let states = (0..6).map(|run| {
                let samples = (60 << run).to_string();
                let mut command = hairpin();
                command.args(["exchange", "--group", kind, "--traders", "0", "--rounds", "1"]);
                command.args(["--samples", &samples, "--interval-us", "2000"]).args(args);
                command.arg("--record").arg(&capture).arg("--config-out").arg(&config);
                assert_done(&command.output().unwrap());
                assert_same_as_with(&config, &capture, &format!("{kind}, {name}"))
            });
            let is_whole = |state: &String| {
                let (in_sync, rest) = state.split_once(" of ").unwrap();
                in_sync != "0" && rest.starts_with(&format!("{in_sync} instrument"))
            };
            let mut tried = Vec::new();
            let whole = states.inspect(|state| tried.push(state.clone())).any(|it| is_whole(&it));
            assert!(whole, "{kind}, {name}: {tried:?}");
        }
    }
}

/// Without ticks the incremental feed has heartbeats alone.
#[test]
fn recording_that_was_interrupted_before_the_first_tick_is_read() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    for kind in group_kinds() {
        let config = folder.path().join(format!("{kind}.xml"));
        let capture = folder.path().join(format!("{kind}.pcap"));
        let mut command = hairpin();
        command.args(["exchange", "--group", &kind, "--instruments", "3", "--loop-rate", "200"]);
        command.arg("--record").arg(&capture).arg("--config-out").arg(&config);
        let mut exchange = Process::start(&mut command);
        let until = Instant::now() + Duration::from_secs(60);
        while fs::metadata(&capture).map_or(0, |file| file.len()) < 60_000 {
            assert!(exchange.runs() && Instant::now() < until, "{kind}: nothing was recorded");
            sleep(Duration::from_millis(20));
        }
        exchange.signal("INT");
        assert_status(&exchange.output(), 130);
        assert_same_as_with(&config, &capture, &kind);
    }
}

/// Writes a capture (raw IP, pcap) with a copy of each packet that is not market data and has
/// another group. Returns the number of copies.
fn with_other_traffic(from: &Path, to: &Path) -> usize {
    let bytes = fs::read(from).unwrap();
    let (head, mut rest) = bytes.split_at(24);
    let (mut copy, mut others) = (head.to_vec(), 0);
    while rest.len() >= 16 {
        let length = 16 + u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (packet, behind) = rest.split_at(length);
        rest = behind;
        copy.extend_from_slice(packet);
        others += 1;
        // The schema of the first message, at 18 of the datagram, and the group's last byte.
        let mut other = packet.to_vec();
        other[16 + 28 + 18] = 77;
        other[16 + 19] = 250;
        copy.extend_from_slice(&other);
    }
    fs::write(to, copy).unwrap();
    others
}

#[test]
fn publishes_market_data_alone() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (generated, mixed) = (folder.path().join("feed.pcap"), folder.path().join("mixed.pcap"));
    let mut command = hairpin();
    command.args(["generate", "--megabytes", "1", "--instruments", "2"]).arg(&generated);
    assert_done(&command.output().unwrap());
    let others = with_other_traffic(&generated, &mixed);
    let publish = |path: &Path| {
        let mut command = hairpin();
        command.args(["exchange", "--speed", "max", "--publish"]).arg(path).output().unwrap()
    };
    let output = publish(&mixed);
    assert_done(&output);
    let out = text(&output.stdout);
    assert!(out.starts_with(&format!("{others} packets of ")), "{out}");
    assert!(out.contains(" to 6 groups, 0 lost because buffers were full, "), "{out}");
    let ignored = format!("hairpin: note: {others} packets of other traffic ignored: ");
    let err = text(&output.stderr);
    assert!(err.starts_with(&ignored) && err.contains(" of UDP port "), "{err}");
    // Nothing but other traffic.
    let bytes = fs::read(&mixed).unwrap();
    let first = 24 + 16 + u32::from_le_bytes(bytes[32..36].try_into().unwrap()) as usize;
    let second = 16 + u32::from_le_bytes(bytes[first + 8..first + 12].try_into().unwrap()) as usize;
    fs::write(&mixed, [&bytes[..24], &bytes[first..first + second]].concat()).unwrap();
    let output = publish(&mixed);
    assert_status(&output, 1);
    assert!(
        text(&output.stderr).contains(": no market data to IPv4 multicast groups in this capture")
    );
}

#[test]
fn instruments_beyond_the_limit_are_counted() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("feed.pcap");
    let mut command = hairpin();
    command.args(["generate", "--megabytes", "1", "--instruments", "20"]).arg(&capture);
    assert_done(&command.output().unwrap());
    let feed = |limit: &str| {
        let mut command = hairpin();
        command.args(["feed", "--stats", "--instruments", limit, "--pcap"]).arg(&capture);
        command.output().unwrap()
    };
    let output = feed("5");
    assert_done(&output);
    let expected = "hairpin: ignored 15 of 20 instruments, more than 5: use --instruments 20\n";
    assert_eq!(text(&output.stderr), expected);
    let out = text(&output.stdout);
    assert!(out.contains("\n5 of 20 instruments in sync, "), "{out}");
    let output = feed("20");
    assert_eq!(text(&output.stderr), "");
    assert!(text(&output.stdout).contains("\n20 of 20 instruments in sync, "));
}

#[test]
fn name_that_no_instrument_has_is_an_error() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("feed.pcap");
    let mut command = hairpin();
    command.args(["generate", "--megabytes", "1", "--instruments", "3"]).arg(&capture);
    assert_done(&command.output().unwrap());
    let feed = |args: &[&str]| {
        let mut command = hairpin();
        command.args(["feed", "--pcap"]).arg(&capture).args(args).output().unwrap()
    };
    let output = feed(&["--callbacks"]);
    let out = text(&output.stdout);
    let (_, definition) = out.split_once(" - Definition SecurityID=").unwrap();
    let (id, rest) = definition.split_once(" Symbol=").unwrap();
    let symbol = rest.split(' ').next().unwrap();
    assert_done(&feed(&["--security", &format!("{symbol},{id}")]));
    for (args, what) in [
        (["--security", "NOSUCH"], "security NOSUCH: none of 3 definitions has that name"),
        (["--security", "999999"], "security 999999: none of 3 definitions has that name"),
        (["--group", "NONE"], "security group NONE: none of 3 definitions has that name"),
        (["--asset", "NONE"], "asset NONE: none of 3 definitions has that name"),
    ] {
        let output = feed(&args);
        assert_status(&output, 1);
        assert_eq!(text(&output.stderr), format!("hairpin: cannot find {what}\n"));
    }
    let output = feed(&["--security", &format!("{id},{}", &symbol[..symbol.len() - 1])]);
    assert_status(&output, 1);
    assert!(text(&output.stderr).contains("; similar: "), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains(symbol));
}

#[test]
fn invalid_entry_of_the_configuration_concerns_its_channel_alone() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (capture, config) = (folder.path().join("feed.pcap"), folder.path().join("config.xml"));
    let mut command = hairpin();
    command.args(["generate", "--megabytes", "1", "--instruments", "3"]).arg(&capture);
    assert_done(&command.output().unwrap());
    let connection = |id: &str, ip: &str, feed: &str| {
        format!(
            "<connection id=\"{id}\"><type feed-type=\"{}\"/><protocol>UDP/IP</protocol>\
             <ip>{ip}</ip><port>14310</port><feed>{feed}</feed></connection>",
            &id[3..4]
        )
    };
    let sound: String =
        [("310IA", "224.0.31.1"), ("310NA", "224.0.31.22"), ("310SA", "224.0.31.43")]
            .map(|(id, ip)| connection(id, ip, "A"))
            .concat();
    let odd = connection("999IA", "224.0.31.9", "C");
    let channel = |id: &str, connections: &str| {
        format!("<channel id=\"{id}\"><connections>{connections}</connections></channel>\n")
    };
    let channels = channel("310", &sound) + &channel("999", &odd);
    let xml = format!("<?xml version=\"1.0\"?>\n<configuration>\n{channels}</configuration>");
    // In UTF-16, too.
    let wide: Vec<u8> =
        format!("\u{feff}{xml}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [xml.into_bytes(), wide] {
        fs::write(&config, bytes).unwrap();
        let feed = |id: &str| {
            let mut command = hairpin();
            command.args(["feed", "--pcap"]).arg(&capture).args(["--channel", id, "--config"]);
            command.arg(&config).output().unwrap()
        };
        let output = feed("310");
        assert_done(&output);
        assert!(text(&output.stdout).contains("\n3 of 3 instruments in sync, "));
        let output = feed("999");
        assert_status(&output, 1);
        let expected = format!(
            "hairpin: {}: channel 999: connection 999IA: line 4: <feed>: 'C' is not a valid side: \
             use A or B\n",
            config.display()
        );
        assert_eq!(text(&output.stderr), expected);
        let output = feed("311");
        assert!(text(&output.stderr).ends_with("the file has channels 310, 999 (invalid)\n"));
    }
}
