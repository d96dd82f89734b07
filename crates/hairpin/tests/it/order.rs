//! Runs `hairpin order` against a gateway on loopback.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Output, Stdio};

use crate::support::{Process, assert_done, assert_status, hairpin};
use crate::traded_session::{ACCESS_KEY_ID, KEY, Venue};
use serde_json::Value;

/// The environment variable with the secret key.
const VARIABLE: &str = "HAIRPIN_ORDER_TEST_KEY";

/// A gateway, and a folder with the settings of a session that can log on to it.
struct OrderTest {
    folder: tempfile::TempDir,
    venue: Venue,
}

impl OrderTest {
    fn new() -> Self {
        let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
        let test = Self { folder, venue };
        let gateway = test.venue.gateway;
        test.write(
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
        test
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        // A key file that other users can read is refused.
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Replaces text in the settings.
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

    /// Returns the command that runs this script.
    fn script(&self, text: &str) -> Command {
        self.write("script", text);
        let mut command = self.command();
        command.arg("--script").arg(self.path("script"));
        command
    }

    /// Starts a script that sleeps, and waits for its logon.
    fn sleeping(&self) -> Process {
        let mut command = self.script("sleep 10m\n");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let process = Process::of(child);
        let mut lines = out.lines().map(Result::unwrap);
        assert!(lines.any(|line| line.ends_with(" established")), "the session must log on");
        // The remaining output is drained, so that the command never blocks on a full pipe.
        std::thread::spawn(move || lines.count());
        process
    }
}

/// A running command with piped input and output.
struct Console {
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    process: Process,
}

impl Console {
    fn with(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take().unwrap(), lines, process: Process::of(child) }
    }

    fn enter(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
    }

    /// Returns the next line that contains all parts, and skips the lines before it.
    #[track_caller]
    fn wait_for_line(&mut self, parts: &[&str]) -> String {
        let mut skipped = Vec::new();
        for line in self.lines.by_ref().map(Result::unwrap) {
            if parts.iter().all(|part| line.contains(part)) {
                return line;
            }
            skipped.push(line);
        }
        panic!("{parts:?} was not printed: {skipped:#?}");
    }
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the error message after checking that it is one line. Orders that stay working are
/// another line.
fn error_line(output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    let is_left = |line: &&str| line.contains(" at the exchange: CME's Cancel on Disconnect");
    let stderr: String = stderr.split_inclusive('\n').filter(|line| !is_left(line)).collect();
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("hairpin: "), "{stderr}");
    stderr
}

/// Returns the direction and name of each message printed.
fn messages(output: &Output) -> Vec<(String, String)> {
    let words = |line: &String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let all = lines(output);
    let all = all.iter().map(words).filter(|words| words[1] == "in" || words[1] == "out");
    all.map(|words| (words[1].clone(), words[4].clone())).collect()
}

const OUT: &str = "out";
const IN: &str = "in";

#[test]
fn script_buys_replaces_and_cancels() {
    let test = OrderTest::new();
    let output = test
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
fn script_expects_fills_rejects_and_mass_cancels() {
    let test = OrderTest::new();
    let output = test
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
    assert!(!lines.iter().any(|line| line.contains(" order ")), "orders still work: {lines:#?}");
}

/// The report of an earlier order does not meet the expectation of a later one.
#[test]
fn expect_counts_only_reports_after_its_command() {
    let test = OrderTest::new();
    // `replace` waits for the order's report, so that it has arrived before the second order.
    let script = "buy 1 @ 1 HP001 id a\nreplace a qty 2\nexpect replace within 60s\n\
                  buy 1 @ 1 HP001 id b\nreplace b qty 2\nbuy 1 @ 1 999\nexpect new within 50ms\n";
    let output = test.script(script).output().unwrap();
    assert_status(&output, 1);
    assert_eq!(error_line(&output), "hairpin: line 7: expected new: timeout\n");
    // A later command of another kind does not hide it.
    let script = "buy 1 @ 1 HP001 id c\nreplace c qty 2\nexpect new within 60s\n\
                  expect replace within 60s\ncancel all\nexpect cancel within 60s\n";
    assert_done(&test.script(script).output().unwrap());
}

#[test]
fn quoted_symbol_with_blanks_is_traded_with_a_display_quantity() {
    let test = OrderTest::new();
    test.replace("HP001 = 1001", "HP001 = 1001\n\"HP002 C1000\" = 1002");
    let script = "buy 9 @ 1 \"HP002 C1000\" day show 4\nexpect new within 60s\n\
                  replace last show 3\nexpect replace within 60s\n\
                  replace last qty 2 show 1\nexpect replace within 60s\n\
                  cancel all \"HP002 C1000\"\nexpect cancel within 60s\n";
    let output = test.script(script).output().unwrap();
    assert_done(&output);
    let lines = lines(&output);
    let has =
        |parts: &[&str]| lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    for (name, quantity, shown) in [("New522", 9, 4), ("Modify531", 9, 3), ("Modify531", 2, 1)] {
        let quantity = format!(" OrderQty={quantity} DisplayQty={shown} ");
        assert!(has(&[name, &quantity, " SecurityID=1002 "]), "{lines:#?}");
    }
    let output = test.script("buy 1 @ 1 \"HP002 C2000\"\n").output().unwrap();
    assert_status(&output, 1);
    let error = "line 1, column 11: expected a SecurityID, or a symbol from [instruments], found \
                 \"HP002 C2000\"";
    assert!(error_line(&output).contains(error), "{}", error_line(&output));
}

#[test]
fn missing_message_exits_with_one_line_and_status_1() {
    let test = OrderTest::new();
    let script = "buy 1 @ 1 HP001\nexpect new within 60s\nexpect fill within 50ms\ncancel last\n";
    let output = test.script(script).output().unwrap();
    assert_status(&output, 1);
    assert_eq!(error_line(&output), "hairpin: line 3: expected fill: timeout\n");
    assert_eq!(messages(&output).len(), 2, "the script must stop at the timeout");
    assert!(lines(&output).last().unwrap().ends_with(" disconnected"), "the session must log off");
}

#[test]
fn standard_input_is_read_and_json_is_printed() {
    let test = OrderTest::new();
    let mut command = test.command();
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
fn invalid_input_line_exits_with_status_1() {
    let test = OrderTest::new();
    let mut command = test.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"status\n\n # why\nhold 5\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 1);
    assert!(
        error_line(&output).contains("line 4, column 1: expected buy, sell"),
        "{}",
        error_line(&output)
    );
}

#[test]
fn unknown_order_is_reported() {
    let test = OrderTest::new();
    for (script, expected) in [
        ("cancel last", "line 1: no order entered yet"),
        ("cancel 77", "line 1: no order 77"),
        ("buy 1 @ 1 HP001 id a\nbuy 1 @ 1 HP001 id a", "line 2: order a exists already"),
        ("buy 1 @ 1 999\nreplace last qty 2", "line 2: the exchange rejected order"),
    ] {
        let output = test.script(script).output().unwrap();
        assert_status(&output, 1);
        assert!(error_line(&output).contains(expected), "{}", error_line(&output));
    }
}

#[test]
fn signals_log_off_and_set_the_exit_status() {
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        let test = OrderTest::new();
        let process = test.sleeping();
        process.signal(name);
        assert_status(&process.output(), status);
        let mut show = hairpin();
        show.args(["order", "--show", "--journal"]).arg(test.path("journal"));
        let trail = lines(&show.output().unwrap());
        assert!(trail.last().unwrap().contains(" Terminate507 "), "{trail:#?}");
    }
}

#[test]
fn journal_accepts_one_session_at_a_time() {
    let test = OrderTest::new();
    let first = test.sleeping();
    let output = test.script("quit").output().unwrap();
    assert_status(&output, 1);
    let stderr = error_line(&output);
    let journal = test.path("journal");
    assert!(
        stderr.contains(journal.to_str().unwrap()) && stderr.contains("already open"),
        "{stderr}"
    );
    first.signal("TERM");
    assert_status(&first.output(), 143);
    assert_done(&test.script("quit").output().unwrap());
}

#[test]
fn script_is_parsed_before_the_session_starts() {
    let test = OrderTest::new();
    let output = test.script("buy 1 @ 1 HP001\nbuy 10 @ x HP001\n").output().unwrap();
    assert_status(&output, 1);
    let stderr = error_line(&output);
    assert!(stderr.ends_with("line 2, column 10: expected a price such as 4500.25, found `x`\n"));
    assert!(stderr.contains("script: "), "{stderr}");
    assert!(!test.path("journal").exists());
}

#[test]
fn rejected_logon_is_reported() {
    let test = OrderTest::new();
    let mut command = test.script("quit");
    let output = command.env(VARIABLE, "AAAA").output().unwrap();
    assert_status(&output, 1);
    assert!(error_line(&output).contains("cannot log on: 0 (signature"), "{}", error_line(&output));
}

#[test]
fn invalid_settings_are_reported_without_the_key() {
    let test = OrderTest::new();
    let good = fs::read_to_string(test.path("order.toml")).unwrap();
    let key = |line: &str| good.replace(&format!("secret_env = \"{VARIABLE}\""), line);
    test.write("key", "secret!but?not#base64");
    for (text, expected) in [
        (good.replace("[gateway]", "[gate]"), "line 1: unknown field `gate`"),
        (good.replace("session = \"ABC\"", "session = \"ABCD\""), "Session must be"),
        (good.replace("firm", "#"), "missing field `firm`"),
        (good.replace("127.0.0.1", "nowhere"), "line 2: not a valid address"),
        (good.replace("1001", "\"one\""), "line 17: invalid type"),
        (
            key("secret_env = \"HAIRPIN_NOT_SET\""),
            "environment variable HAIRPIN_NOT_SET is not set",
        ),
        (key(""), "either `secret_file` or `secret_env`"),
        (key("secret_file = \"key\""), "not base64url"),
    ] {
        test.write("order.toml", &text);
        let output = test.script("quit").output().unwrap();
        assert_status(&output, 1);
        let stderr = error_line(&output);
        assert!(stderr.contains("order.toml") && stderr.contains(expected), "{expected}: {stderr}");
        assert!(!stderr.contains("secret!but"), "{stderr}");
    }
}

#[test]
fn journal_option_sets_the_folder() {
    let test = OrderTest::new();
    let elsewhere = test.path("elsewhere");
    let mut command = test.script("buy 1 @ 1 HP001\nexpect new within 60s\ncancel all\n");
    assert_done(&command.arg("--journal").arg(&elsewhere).output().unwrap());
    assert!(elsewhere.exists() && !test.path("journal").exists());
    let mut show = hairpin();
    let output = show.args(["order", "--show", "--journal"]).arg(&elsewhere).output().unwrap();
    assert!(lines(&output).iter().any(|line| line.contains(" NewOrderSingle514 ")));
}

#[test]
fn journal_is_in_memory_without_a_folder() {
    let test = OrderTest::new();
    test.replace("[journal]\nfolder = \"journal\"\n", "");
    assert_done(&test.script("buy 1 @ 1 HP001\nexpect new within 60s\n").output().unwrap());
    assert!(!test.path("journal").exists());
}

#[test]
fn message_above_the_limit_is_reported() {
    let test = OrderTest::new();
    test.replace("[instruments]", "[throttle]\nothers = 2\ninterval_ms = 600000\n[instruments]");
    let buy = "buy 1 @ 1 HP001\nexpect new within 60s\n";
    let output = test.script(&buy.repeat(3)).output().unwrap();
    assert_status(&output, 1);
    assert!(error_line(&output).starts_with("hairpin: line 5: "), "{}", error_line(&output));
    assert_eq!(messages(&output).len(), 4);
}

#[test]
fn session_connects_to_the_host_that_answers() {
    let test = OrderTest::new();
    // A TCP port of loopback without a listener.
    let unused = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    test.replace("primary = [", &format!("interval_ms = 10\nprimary = [\"{unused}\", "));
    let script = "buy 1 @ 1 HP001\nexpect new within 60s\ncancel last\nexpect cancel within 60s\n";
    let output = test.script(script).output().unwrap();
    assert_done(&output);
    assert_eq!(messages(&output).len(), 4);
}

#[test]
fn session_continues_on_the_backup_after_failover() {
    let test = OrderTest::new();
    let backup = format!("[gateway]\nbackup = [\"{}\"]", test.venue.backup);
    test.replace("[gateway]", &backup);
    let mut console = Console::with(test.command());
    let line = console.wait_for_line(&[" session ", " backup Text=established"]);
    let uuid = line.split(' ').nth(2).unwrap().to_owned();
    console.enter("buy 1 @ 1 HP001\nexpect new within 60s");
    console.wait_for_line(&[" in ", " 1 ExecutionReportNew522"]);
    test.venue.fail_primary();
    console
        .wait_for_line(&[&uuid, " failover Text=\"the exchange has made the backup the primary\""]);
    let line = console.wait_for_line(&[&uuid, " active Text="]);
    assert!(line.contains("our next message is 2, nothing could be sent for "), "{line}");
    console.enter("buy 1 @ 1 HP001\nexpect new within 60s\nquit");
    console.wait_for_line(&[" in ", &uuid, " 2 ExecutionReportNew522"]);
    // The session then tries the old primary as its backup, without success.
    let rest: Vec<_> = console.lines.map(Result::unwrap).collect();
    assert_done(&console.process.output());
    assert!(rest.last().unwrap().ends_with(" disconnected"), "{rest:#?}");
}

#[test]
fn segment_option_selects_the_session() {
    let test = OrderTest::new();
    test.replace("[gateway]", "[[segment]]\nid = 64");
    let second = "[[segment]]\nid = 80\nprimary = [\"127.0.0.1:1\"]\n[logon]";
    test.replace("[logon]", second);
    let with = |args: &[&str]| {
        let output = test.script("quit").args(args).output().unwrap();
        (output.status.code(), output)
    };
    let (status, output) = with(&[]);
    let expected = "line 1: file with `[[segment]]` has several sessions: choose one \
                with --segment\n";
    assert!(
        status == Some(1) && error_line(&output).ends_with(expected),
        "{}",
        error_line(&output)
    );
    let (status, output) = with(&["--segment", "65"]);
    let expected = "no market segment 65, only 64, 80\n";
    assert!(
        status == Some(1) && error_line(&output).ends_with(expected),
        "{}",
        error_line(&output)
    );
    let (_, output) = with(&["--segment", "64"]);
    assert_done(&output);
    assert!(test.path("journal/64/0000000001.segment").exists());
    assert!(!test.path("journal/80").exists());
}

#[test]
fn failure_of_all_attempts_reports_the_cause() {
    let test = OrderTest::new();
    let unused = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gateway = test.venue.gateway.to_string();
    test.replace(&gateway, &unused.to_string());
    test.replace("[logon]", "attempts = 2\ninterval_ms = 10\n[logon]");
    let output = test.script("quit").output().unwrap();
    assert_status(&output, 1);
    let reason = "cannot log on: cannot connect to ";
    let stderr = error_line(&output);
    assert!(stderr.contains(reason) && stderr.contains(&unused.to_string()), "{stderr}");
    let advice = "; nothing listens there: `hairpin exchange` starts a simulator\n";
    assert!(stderr.ends_with(advice), "{stderr}");
    let printed = lines(&output);
    assert_eq!(
        printed.iter().filter(|line| line.contains(" failure Text=")).count(),
        2,
        "{printed:#?}"
    );
}

#[test]
fn documented_file_trades_at_the_simulated_exchange() {
    let document = include_str!("../../../../docs/guide/order-command.md");
    let block = |which: usize| {
        let block = document.split("```toml\n").nth(which).unwrap();
        block.split("```").next().unwrap().to_owned()
    };
    let mut exchange = hairpin();
    let mut exchange = exchange
        .args(["exchange", "--gateway", "127.0.0.1:0", "--instruments", "2"])
        .args(["--traders", "0", "--config-out", "/dev/null"])
        .env("HAIRPIN_SECRET_KEY", KEY)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut stderr = BufReader::new(exchange.stderr.take().unwrap());
    stderr.read_line(&mut first).unwrap();
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
fn session_waits_outside_its_schedule() {
    let test = OrderTest::new();
    let closed = "[schedule]\nweek_start = \"Sun 15:00\"\nopen = []\n[instruments]";
    let now = jiff::Timestamp::now().in_tz("America/Chicago").unwrap();
    let day = now.strftime("%a").to_string();
    let window = |from: &str, to: &str| format!("[[\"{day} {from}\", \"{day} {to}\"]]");
    // A window of today that excludes the present time.
    let open = if now.hour() < 12 { window("20:00", "21:00") } else { window("02:00", "03:00") };
    test.replace("[instruments]", &closed.replace("[]", &open));
    let mut command = test.script("buy 1 @ 1 HP001\n");
    let process = Process::start(&mut command);
    // The signal is sent once the process handles it.
    process.signal("TERM");
    let output = process.output();
    assert_status(&output, 143);
    assert!(messages(&output).is_empty());
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    for args in [
        &["order"][..],
        &["order", "a", "b"],
        &["order", "a", "--format", "csv"],
        &["order", "a", "--format", "smoke"],
        &["order", "a", "--show", "--journal", "b"],
        &["order", "a", "--uuid", "1"],
        &["order", "a", "--script"],
        &["order", "--script", "a"],
    ] {
        let output = hairpin().args(args).output().unwrap();
        assert_status(&output, 2);
        assert!(error_line(&output).ends_with("try --help\n"), "{args:?}");
    }
}
