//! `hairpin order` against a gateway on loopback.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Output, Stdio};

use crate::order_gateway::{ACCESS_KEY_ID, KEY, Venue};
use crate::support::{Process, assert_done, assert_status, hairpin};
use serde_json::Value;

/// The variable that holds the key here.
const VARIABLE: &str = "HAIRPIN_ORDER_TEST_KEY";

/// A gateway, and a folder with the settings of somebody who may log on there.
struct Stand {
    folder: tempfile::TempDir,
    venue: Venue,
}

impl Stand {
    fn new() -> Self {
        let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
        let stand = Self { folder, venue };
        let gateway = stand.venue.gateway;
        stand.write(
            "order.toml",
            &format!(
                "[gateway]\nprimary = [\"{gateway}\"]\n\
                 [logon]\naccess_key_id = \"{ACCESS_KEY_ID}\"\nsecret_env = \"{VARIABLE}\"\n\
                 session = \"ABC\"\nfirm = \"DEFGH\"\nsystem_name = \"Test\"\n\
                 system_version = \"1\"\nsystem_vendor = \"Test\"\n\
                 [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n\
                 [journal]\nfolder = \"journal\"\n[instruments]\nHP001 = 1001\n"
            ),
        );
        stand
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Puts something else into the settings.
    fn replace(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.path("order.toml")).unwrap();
        assert!(text.contains(from), "{from}");
        self.write("order.toml", &text.replacen(from, to, 1));
    }

    fn command(&self) -> Command {
        let mut command = hairpin();
        command.arg("order").arg(self.path("order.toml")).env(VARIABLE, KEY);
        command
    }

    /// The command that runs this script.
    fn script(&self, text: &str) -> Command {
        self.write("script", text);
        let mut command = self.command();
        command.arg("--script").arg(self.path("script"));
        command
    }

    /// A script that sleeps, once it is logged on.
    fn sleeping(&self) -> Process {
        let mut command = self.script("sleep 10m\n");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let process = Process::of(child);
        let mut lines = out.lines().map(Result::unwrap);
        assert!(lines.any(|line| line.ends_with(" established")), "it has not logged on");
        // Whatever it says from now on is read by nobody, and must not block or stop it.
        std::thread::spawn(move || lines.count());
        process
    }
}

/// A command that is typed to, and what it says as it says it.
struct Talk {
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    process: Process,
}

impl Talk {
    fn with(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take().unwrap(), lines, process: Process::of(child) }
    }

    fn say(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
    }

    /// The next line that has all of these in it; what comes before it is passed over.
    #[track_caller]
    fn hear(&mut self, parts: &[&str]) -> String {
        let mut passed = Vec::new();
        for line in self.lines.by_ref().map(Result::unwrap) {
            if parts.iter().all(|part| line.contains(part)) {
                return line;
            }
            passed.push(line);
        }
        panic!("{parts:?} was not said: {passed:#?}");
    }
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// The one line that was said.
fn said(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("hairpin: "), "{said}");
    said
}

/// Direction and message of the lines that are messages.
fn messages(output: &Output) -> Vec<(String, String)> {
    let words = |line: &String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let all = lines(output);
    let all = all.iter().map(words).filter(|words| words[1] == "in" || words[1] == "out");
    all.map(|words| (words[1].clone(), words[4].clone())).collect()
}

const OUT: &str = "out";
const IN: &str = "in";

#[test]
fn a_script_buys_replaces_and_cancels() {
    let stand = Stand::new();
    let output = stand
        .script(
            "# rests far below the market\n\
             buy 5 @ 1.25 HP001 gtc id first\nexpect new within 60s\n\n\
             replace last qty 7 @ 2\nexpect replace within 60s\nstatus\n\
             cancel first\nexpect cancel within 60s\nquit\nbuy 1 @ 1 HP001\n",
        )
        .output()
        .unwrap();
    assert_done(&output);
    let expected = [
        (OUT, "NewOrderSingle514"),
        (IN, "ExecutionReportNew522"),
        (OUT, "OrderCancelReplaceRequest515"),
        (IN, "ExecutionReportModify531"),
        (OUT, "OrderCancelRequest516"),
        (IN, "ExecutionReportCancel534"),
    ]
    .map(|(direction, name)| (direction.to_owned(), name.to_owned()));
    assert_eq!(messages(&output), expected);
    let lines = lines(&output);
    let working = lines.iter().find(|line| line.contains(" order ")).unwrap();
    for part in [" working ", " ClOrdID=first ", " OrderQty=7 ", " Price=2 ", " LeavesQty=7"] {
        assert!(working.contains(part), "{part}: {working}");
    }
    assert!(
        lines.iter().any(|line| line.contains(" ClOrdID=first ") && line.contains("Price=1.25"))
    );
    assert!(lines.last().unwrap().ends_with(" disconnected"), "{lines:#?}");
    assert!(output.stderr.is_empty());
}

#[test]
fn fills_rejects_mass_cancels_and_statuses_are_expected() {
    let stand = Stand::new();
    let output = stand
        .script(
            "sell 1 market HP001\nexpect fill within 60s\n\
             buy 1 @ 1 999\nexpect reject within 60s\n\
             buy 9999 @ 1 HP001 fak\nexpect eliminate within 60s\n\
             buy 1 stop 99999 HP001 gtd 2099-12-31\nstatus last\nexpect status within 60s\n\
             cancel all\nexpect cancel within 60s\nstatus\n",
        )
        .output()
        .unwrap();
    assert_done(&output);
    let lines = lines(&output);
    assert!(lines.iter().any(|line| line.contains(" TotalAffectedOrders=1 ")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains(" order ")), "nothing works: {lines:#?}");
}

#[test]
fn what_never_comes_is_one_line_and_status_1() {
    let stand = Stand::new();
    let script = "buy 1 @ 1 HP001\nexpect new within 60s\nexpect fill within 50ms\ncancel last\n";
    let output = stand.script(script).output().unwrap();
    assert_status(&output, 1);
    assert_eq!(said(&output), "hairpin: line 3: expected fill: timeout\n");
    assert_eq!(messages(&output).len(), 2, "nothing was done after it");
    assert!(lines(&output).last().unwrap().ends_with(" disconnected"), "it has logged off");
}

#[test]
fn commands_come_by_standard_input_and_json_goes_out() {
    let stand = Stand::new();
    let mut command = stand.command();
    command.args(["--format", "json"]).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"buy 3 @ 1 1001\nexpect new within 60s\n\n# enough\ncancel last\n").unwrap();
    input.write_all(b"expect cancel within 60s\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_done(&output);
    let objects: Vec<Value> =
        lines(&output).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| objects.iter().find(|object| object["message"] == name).unwrap();
    assert_eq!(of("NewOrderSingle514")["OrderQty"], 3);
    assert_eq!(of("ExecutionReportNew522")["direction"], "in");
    assert_eq!(of("ExecutionReportCancel534")["direction"], "in");
    assert_eq!(of("established")["direction"], "session");
}

#[test]
fn a_wrong_line_of_standard_input_ends_it_with_status_1() {
    let stand = Stand::new();
    let mut command = stand.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"status\n\n # why\nhold 5\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 1);
    assert!(said(&output).contains("line 4, column 1: expected buy, sell"), "{}", said(&output));
}

#[test]
fn what_names_no_order_is_told() {
    let stand = Stand::new();
    for (script, expected) in [
        ("cancel last", "line 1: no order entered yet"),
        ("cancel 77", "line 1: no order 77"),
        ("buy 1 @ 1 HP001 id a\nbuy 1 @ 1 HP001 id a", "line 2: order a exists already"),
        ("buy 1 @ 1 999\nreplace last qty 2", "line 2: the exchange rejected order"),
    ] {
        let output = stand.script(script).output().unwrap();
        assert_status(&output, 1);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}

#[test]
fn signals_log_off_and_give_their_status() {
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        let stand = Stand::new();
        let process = stand.sleeping();
        process.signal(name);
        assert_status(&process.output(), status);
        let mut show = hairpin();
        show.args(["order", "--show", "--journal"]).arg(stand.path("journal"));
        let trail = lines(&show.output().unwrap());
        assert!(trail.last().unwrap().contains(" Terminate507 "), "{trail:#?}");
    }
}

#[test]
fn a_journal_has_one_session_at_a_time() {
    let stand = Stand::new();
    let first = stand.sleeping();
    let output = stand.script("quit").output().unwrap();
    assert_status(&output, 1);
    let said = said(&output);
    let journal = stand.path("journal");
    assert!(said.contains(journal.to_str().unwrap()) && said.contains("already open"), "{said}");
    first.signal("TERM");
    assert_status(&first.output(), 143);
    assert_done(&stand.script("quit").output().unwrap());
}

#[test]
fn a_script_is_read_before_anything_is_done() {
    let stand = Stand::new();
    let output = stand.script("buy 1 @ 1 HP001\nbuy 10 @ x HP001\n").output().unwrap();
    assert_status(&output, 1);
    let said = said(&output);
    assert!(said.ends_with("line 2, column 10: expected a price such as 4500.25, found `x`\n"));
    assert!(said.contains("script: "), "{said}");
    assert!(!stand.path("journal").exists());
}

#[test]
fn a_logon_that_is_refused_is_told() {
    let stand = Stand::new();
    let mut command = stand.script("quit");
    let output = command.env(VARIABLE, "AAAA").output().unwrap();
    assert_status(&output, 1);
    assert!(said(&output).contains("cannot log on: 0 (signature"), "{}", said(&output));
}

#[test]
fn settings_that_are_wrong_are_named_and_no_key_repeated() {
    let stand = Stand::new();
    let good = fs::read_to_string(stand.path("order.toml")).unwrap();
    let key = |line: &str| good.replace(&format!("secret_env = \"{VARIABLE}\""), line);
    stand.write("key", "secret!but?not#base64");
    for (text, expected) in [
        (good.replace("[gateway]", "[gate]"), "line 1: unknown field `gate`"),
        (good.replace("session = \"ABC\"", "session = \"ABCD\""), "Session must be"),
        (good.replace("firm", "#"), "missing field `firm`"),
        (good.replace("127.0.0.1", "nowhere"), "line 2: `nowhere:"),
        (good.replace("1001", "\"one\""), "line 17: invalid type"),
        (
            key("secret_env = \"HAIRPIN_NOT_SET\""),
            "environment variable HAIRPIN_NOT_SET is not set",
        ),
        (key(""), "either `secret_file` or `secret_env`"),
        (key("secret_file = \"key\""), "not base64url"),
    ] {
        stand.write("order.toml", &text);
        let output = stand.script("quit").output().unwrap();
        assert_status(&output, 1);
        let said = said(&output);
        assert!(said.contains("order.toml") && said.contains(expected), "{expected}: {said}");
        assert!(!said.contains("secret!but"), "{said}");
    }
}

#[test]
fn a_journal_is_where_the_command_line_says() {
    let stand = Stand::new();
    let elsewhere = stand.path("elsewhere");
    let mut command = stand.script("buy 1 @ 1 HP001\nexpect new within 60s\ncancel all\n");
    assert_done(&command.arg("--journal").arg(&elsewhere).output().unwrap());
    assert!(elsewhere.exists() && !stand.path("journal").exists());
    let mut show = hairpin();
    let output = show.args(["order", "--show", "--journal"]).arg(&elsewhere).output().unwrap();
    assert!(lines(&output).iter().any(|line| line.contains(" NewOrderSingle514 ")));
}

#[test]
fn without_a_folder_the_journal_is_in_memory() {
    let stand = Stand::new();
    stand.replace("[journal]\nfolder = \"journal\"\n", "");
    assert_done(&stand.script("buy 1 @ 1 HP001\nexpect new within 60s\n").output().unwrap());
    assert!(!stand.path("journal").exists());
}

#[test]
fn a_message_beyond_the_limit_is_told() {
    let stand = Stand::new();
    stand.replace("[instruments]", "[throttle]\nothers = 2\ninterval_ms = 600000\n[instruments]");
    let buy = "buy 1 @ 1 HP001\nexpect new within 60s\n";
    let output = stand.script(&buy.repeat(3)).output().unwrap();
    assert_status(&output, 1);
    assert!(said(&output).starts_with("hairpin: line 5: "), "{}", said(&output));
    assert_eq!(messages(&output).len(), 4);
}

#[test]
fn of_several_hosts_the_one_that_answers_is_connected() {
    let stand = Stand::new();
    // A port of loopback at which nobody listens: bound, and never listened at.
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    stand.replace("primary = [", &format!("interval_ms = 10\nprimary = [\"{nobody}\", "));
    let script = "buy 1 @ 1 HP001\nexpect new within 60s\ncancel last\nexpect cancel within 60s\n";
    let output = stand.script(script).output().unwrap();
    assert_done(&output);
    assert_eq!(messages(&output).len(), 4);
}

#[test]
fn what_becomes_of_the_backup_is_told_and_the_session_goes_on_over_it() {
    let stand = Stand::new();
    let backup = format!("[gateway]\nbackup = [\"{}\"]", stand.venue.backup);
    stand.replace("[gateway]", &backup);
    let mut talk = Talk::with(stand.command());
    let line = talk.hear(&[" session ", " backup Text=established"]);
    let uuid = line.split(' ').nth(2).unwrap().to_owned();
    talk.say("buy 1 @ 1 HP001\nexpect new within 60s");
    talk.hear(&[" in ", " 1 ExecutionReportNew522"]);
    stand.venue.fail_primary();
    talk.hear(&[&uuid, " failover Text=\"the exchange has made the backup the primary\""]);
    let line = talk.hear(&[&uuid, " active Text="]);
    assert!(line.contains("our next message is 2, nothing could be sent for "), "{line}");
    talk.say("buy 1 @ 1 HP001\nexpect new within 60s\nquit");
    talk.hear(&[" in ", &uuid, " 2 ExecutionReportNew522"]);
    // The old primary is tried as the backup, which it is not.
    let rest: Vec<_> = talk.lines.map(Result::unwrap).collect();
    assert_done(&talk.process.output());
    assert!(rest.last().unwrap().ends_with(" disconnected"), "{rest:#?}");
}

#[test]
fn of_several_sessions_one_is_chosen() {
    let stand = Stand::new();
    stand.replace("[gateway]", "[[segment]]\nid = 64");
    let second = "[[segment]]\nid = 80\nprimary = [\"127.0.0.1:1\"]\n[logon]";
    stand.replace("[logon]", second);
    let with = |words: &[&str]| {
        let output = stand.script("quit").args(words).output().unwrap();
        (output.status.code(), output)
    };
    let (status, output) = with(&[]);
    let told = "line 1: file with `[[segment]]` has several sessions: choose one \
                with --segment\n";
    assert!(status == Some(1) && said(&output).ends_with(told), "{}", said(&output));
    let (status, output) = with(&["--segment", "65"]);
    let told = "no market segment 65, only 64, 80\n";
    assert!(status == Some(1) && said(&output).ends_with(told), "{}", said(&output));
    let (_, output) = with(&["--segment", "64"]);
    assert_done(&output);
    assert!(stand.path("journal/64/0000000001.segment").exists());
    assert!(!stand.path("journal/80").exists());
}

#[test]
fn when_all_attempts_have_failed_it_says_why() {
    let stand = Stand::new();
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gateway = stand.venue.gateway.to_string();
    stand.replace(&gateway, &nobody.to_string());
    stand.replace("[logon]", "attempts = 2\ninterval_ms = 10\n[logon]");
    let output = stand.script("quit").output().unwrap();
    assert_status(&output, 1);
    let reason = "cannot log on: connection lost while connecting: ";
    let said = said(&output);
    assert!(said.contains(reason) && said.contains(&nobody.to_string()), "{said}");
    let told = lines(&output);
    assert_eq!(told.iter().filter(|line| line.contains(" failure Text=")).count(), 2, "{told:#?}");
}

#[test]
fn the_documented_file_trades_at_an_exchange_of_ones_own() {
    let document = include_str!("../../../../docs/guide/order-command.md");
    let block = |which: usize| {
        let block = document.split("```toml\n").nth(which).unwrap();
        block.split("```").next().unwrap().to_owned()
    };
    let mut exchange = hairpin();
    let mut exchange = exchange
        .args(["exchange", "--gateway", "127.0.0.1:0", "--instruments", "2"])
        .env("HAIRPIN_SECRET_KEY", KEY)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut said = BufReader::new(exchange.stderr.take().unwrap());
    said.read_line(&mut first).unwrap();
    let exchange = Process::of(exchange);
    let gateway = first.split("gateway ").nth(1).unwrap().split(' ').next().unwrap();
    let mut text = block(1).replace("127.0.0.1:9100", gateway);
    for line in block(2).lines() {
        let name = line.split(" = ").next().unwrap();
        let old = text.lines().find(|old| old.starts_with(&format!("{name} = "))).unwrap();
        text = text.replace(&old.to_owned(), line);
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, script) = (folder.path().join("order.toml"), folder.path().join("script"));
    fs::write(&file, text).unwrap();
    fs::write(&script, "sell 1 market ESZ6 fak\nexpect fill within 60s\n").unwrap();
    let mut command = hairpin();
    command.arg("order").arg(&file).arg("--script").arg(&script).env("HAIRPIN_SECRET_KEY", KEY);
    assert_done(&command.output().unwrap());
    exchange.signal("TERM");
    assert_status(&exchange.output(), 143);
}

#[test]
fn outside_of_its_schedule_it_waits_and_may_be_ended() {
    let stand = Stand::new();
    let closed = "[schedule]\nweek_start = \"Sun 15:00\"\nopen = []\n[instruments]";
    let now = jiff::Timestamp::now().in_tz("America/Chicago").unwrap();
    let day = now.strftime("%a").to_string();
    let window = |from: &str, to: &str| format!("[[\"{day} {from}\", \"{day} {to}\"]]");
    // A window of today that is not now.
    let open = if now.hour() < 12 { window("20:00", "21:00") } else { window("02:00", "03:00") };
    stand.replace("[instruments]", &closed.replace("[]", &open));
    let mut command = stand.script("buy 1 @ 1 HP001\n");
    let process = Process::start(&mut command);
    std::thread::sleep(std::time::Duration::from_millis(500));
    process.signal("TERM");
    let output = process.output();
    assert_status(&output, 143);
    assert!(messages(&output).is_empty());
}

#[test]
fn wrong_words_are_status_2() {
    for words in [
        &["order"][..],
        &["order", "a", "b"],
        &["order", "a", "--format", "csv"],
        &["order", "a", "--format", "smoke"],
        &["order", "a", "--show", "--journal", "b"],
        &["order", "a", "--uuid", "1"],
        &["order", "a", "--script"],
        &["order", "--script", "a"],
    ] {
        let output = hairpin().args(words).output().unwrap();
        assert_status(&output, 2);
        assert!(said(&output).ends_with("try --help\n"), "{words:?}");
    }
}
