//! Runs `hairpin exchange --events` with a receiver on loopback.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Process, assert_done, assert_status, hairpin, turn};

/// The last event, with which the receiver ends.
const LAST: &str = "Status SecurityID=1002 Symbol=HP002 TradingStatus=PostClose(26)";

/// Returns every event, half a second apart, starting at this second.
fn script(start: u64) -> String {
    let events = [
        "channel-reset",
        "channel-reset restart",
        "book-reset all",
        "status all pre-open # before the day",
        "status all open",
        "status HP001 halt",
        "limits 1001 990 1010 5",
        "statistics-reset all",
        "new-week",
        "status 1003 close",
        "status HP002 post-close",
    ];
    let line =
        |(index, event): (u64, &str)| format!("+{}ms {event}\n", start * 1_000 + 500 * index);
    (0_u64..).zip(events).map(line).collect()
}

struct Run {
    printed: String,
    exchange: Output,
}

/// Runs an exchange and a receiver until the last event, which comes some seconds after the start.
fn run(folder: &Path, group: &str, start: u64) -> Run {
    let [events, config, printed] =
        ["events", "config.xml", "printed"].map(|name| folder.join(format!("{start}{name}")));
    fs::write(&events, script(start)).unwrap();
    let mut command = hairpin();
    command.args(["exchange", "--group", group, "--instruments", "6", "--traders", "0"]);
    command.args(["--interval-us", "20000", "--config-out"]).arg(&config);
    command.arg("--events").arg(&events).arg("--record").arg(folder.join("record.pcapng"));
    let mut exchange = Process::start(&mut command);
    let until = Instant::now() + Duration::from_secs(60);
    while !config.exists() {
        assert!(exchange.runs() && Instant::now() < until, "no config.xml");
        sleep(Duration::from_millis(5));
    }
    let mut command = hairpin();
    command.args(["feed", "--interface", "lo", "--channel", "310", "--callbacks", "--config"]);
    command.arg(&config);
    if group == "premium" {
        command.args(["--orders", "full"]);
    }
    // Standard output is a file: a full pipe would block the receiver.
    command.stdout(File::create(&printed).unwrap()).stderr(Stdio::piped());
    let mut feed = Process::of(command.spawn().unwrap());
    let until = Instant::now() + Duration::from_secs(start + 120);
    // A busy receiver may be in recovery from the new week when the last event arrives.
    let is_done = |printed: String| {
        let states = printed.rsplit_once("ChannelState State=");
        printed.contains(LAST) && states.is_some_and(|(_, last)| last.starts_with("InSync"))
    };
    while !is_done(fs::read_to_string(&printed).unwrap()) {
        assert!(feed.runs() && exchange.runs() && Instant::now() < until, "{group}: no end");
        sleep(Duration::from_millis(50));
    }
    feed.signal("INT");
    assert_status(&feed.output(), 130);
    exchange.signal("INT");
    let exchange = exchange.output();
    assert_status(&exchange, 130);
    Run { printed: fs::read_to_string(&printed).unwrap(), exchange }
}

/// Returns the part of the output before the first line with this text.
#[track_caller]
fn before<'a>(printed: &'a str, text: &str) -> &'a str {
    printed.split_once(text).unwrap_or_else(|| panic!("no {text}")).0
}

#[test]
fn receiver_stays_in_sync_after_each_event_of_a_script() {
    let _turn = turn();
    for group in ["levels", "premium"] {
        let folder = tempfile::tempdir().unwrap();
        // On a busy machine the receiver needs longer to be in sync before the first event.
        let mut start = 4;
        let Run { printed, exchange } = loop {
            let run = run(folder.path(), group, start);
            if run.printed.contains(" ChannelReset")
                && before(&run.printed, " ChannelReset").contains("ChannelState State=InSync")
            {
                break run;
            }
            start *= 2;
            assert!(start < 100, "never in sync: {}", run.printed);
        };
        assert_eq!(printed.matches(" - ChannelReset").count(), 2, "{group}");
        for line in [
            " 4 ChannelReset4 ",
            "MDEntryType=BookReset(J)",
            " - Status SecurityGroup=HP Asset=- TradingStatus=PreOpen(21)",
            " - Status SecurityGroup=HP Asset=- TradingStatus=ReadyToTrade(17)",
            " - Status SecurityID=1001 Symbol=HP001 TradingStatus=TradingHalt(2)",
            " - Limits SecurityID=1001 Symbol=HP001 High=1010 Low=990 MaxPriceVariation=5",
            "Event=ResetStatistics(4)",
            " - Status SecurityID=1003 Symbol=HP003 TradingStatus=Close(4)",
        ] {
            assert!(printed.contains(line), "{group}: no {line}");
        }
        let counts = printed.lines().rev().nth(1).unwrap();
        assert!(counts.contains("6 of 6 instruments in sync, 0 gaps, "), "{group}: {counts}");
        let stderr = String::from_utf8_lossy(&exchange.stderr).into_owned();
        assert_eq!(stderr.matches("exchange: event: line ").count(), 11, "{stderr}");
        let fourth = format!("event: line 4: +{}ms status all pre-open\n", start * 1_000 + 1_500);
        assert!(stderr.contains(&fourth), "{stderr}");
        // What was recorded reads the same.
        let mut command = hairpin();
        command.args(["feed", "--channel", "310", "--callbacks", "--config"]);
        command.arg(folder.path().join(format!("{start}config.xml")));
        command.arg("--pcap").arg(folder.path().join("record.pcapng"));
        let recorded = command.output().unwrap();
        assert_done(&recorded);
        let recorded = String::from_utf8_lossy(&recorded.stdout).into_owned();
        assert_eq!(recorded.matches(" - ChannelReset").count(), 2, "{group}");
        assert!(recorded.contains(LAST), "{group}");
        let counts = recorded.lines().rev().nth(1).unwrap();
        assert!(counts.contains("6 of 6 instruments in sync, 0 gaps, "), "{group}: {counts}");
    }
}

#[test]
fn wrong_event_exits_with_one_line_and_status_1() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events");
    for (text, error) in [
        ("+1s new-week\n+2s halt\n", "line 2: expected channel-reset, "),
        ("+1s status HP999 halt\n", "line 1: expected a symbol, a SecurityID or all, found "),
    ] {
        fs::write(&path, text).unwrap();
        let output = hairpin().args(["exchange", "--events"]).arg(&path).output().unwrap();
        assert_status(&output, 1);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = format!("hairpin: cannot read events from {}: {error}", path.display());
        assert!(stderr.starts_with(&expected) && stderr.lines().count() == 1, "{stderr}");
    }
}

#[test]
fn live_feed_ends_when_no_definition_has_a_name_of_the_filter() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.xml");
    let mut command = hairpin();
    command.args(["exchange", "--instruments", "3", "--traders", "0"]);
    let mut exchange = Process::start(command.arg("--config-out").arg(&config));
    let until = Instant::now() + Duration::from_secs(60);
    while !config.exists() {
        assert!(exchange.runs() && Instant::now() < until, "no config.xml");
        sleep(Duration::from_millis(5));
    }
    for (flag, name, error) in [
        ("--security", "NOSUCH", "cannot find security NOSUCH: none of 3 definitions"),
        ("--security", "HP004", "similar: HP001, HP002, HP003"),
        ("--group", "NOPE", "cannot find security group NOPE"),
        ("--asset", "NOPE", "cannot find asset NOPE"),
    ] {
        let mut command = hairpin();
        command.args(["feed", "--interface", "lo", "--channel", "310", flag, name, "--config"]);
        let output = command.arg(&config).output().unwrap();
        assert_status(&output, 1);
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(printed.contains(error), "{flag} {name}: {printed}");
    }
    exchange.signal("INT");
    assert_status(&exchange.output(), 130);
}
