//! `hairpin drop-copy`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::journal::{ReportJournal, exec_id};
use crate::quickfix::{self, Client, Logged};

/// The variable that multiplies the number of kills.
const SCALE: &str = "HAIRPIN_TEST_SCALE";
const KILLS: usize = 4;
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);
pub(crate) const CLIENT: &str = "RISK";

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hairpin-data"));
    command.arg("drop-copy").stdin(Stdio::null());
    command
}

/// A folder with a journal, a store and a client's files.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> (Self, ReportJournal) {
        let place = Self(tempfile::tempdir().unwrap());
        let journal = ReportJournal::create(&place.journal());
        (place, journal)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.path().join("journal")
    }

    pub(crate) fn client(&self) -> PathBuf {
        self.0.path().join(CLIENT)
    }

    pub(crate) fn start(&self, port: u16, arguments: &[&str]) -> Server {
        fs::create_dir_all(self.client()).unwrap();
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = program();
        command.arg("--journal").arg(self.journal()).arg("--fix-store").arg(self.store());
        command.args(["--fix-listen", &format!("127.0.0.1:{port}"), "--fix-client", CLIENT]);
        command.args(arguments).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let log = || fs::read_to_string(self.log()).unwrap();
        let port = line.trim_end().rsplit_once(':').unwrap_or_else(|| panic!("{}", log())).1;
        Server { port: port.parse().unwrap(), child }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    /// Waits until the client has so many different reports, and returns all its messages.
    #[track_caller]
    fn wait_for(&self, reports: usize) -> Vec<Logged> {
        self.wait_until(reports, |messages| numbers(messages).len())
    }

    /// Waits until the client has so many reports of any number.
    #[track_caller]
    fn wait_for_ids(&self, reports: usize) -> Vec<Logged> {
        self.wait_until(reports, |messages| {
            messages.iter().filter(|it| it.kind == "report").count()
        })
    }

    /// Waits until the log has a text so many times.
    #[track_caller]
    fn wait_for_log(&self, text: &str, count: usize) {
        let start = Instant::now();
        let log = || fs::read_to_string(self.log()).unwrap();
        while log().matches(text).count() < count {
            assert!(start.elapsed() < TIMEOUT, "{}", log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn wait_until(&self, reports: usize, count: impl Fn(&[Logged]) -> usize) -> Vec<Logged> {
        let start = Instant::now();
        loop {
            let messages = quickfix::messages(&self.client());
            let found = count(&messages);
            if found >= reports {
                return messages;
            }
            let log = || fs::read_to_string(self.log()).unwrap();
            assert!(start.elapsed() < TIMEOUT, "{found} of {reports} reports\n{}", log());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns the MsgSeqNums of the reports.
fn numbers(messages: &[Logged]) -> BTreeSet<u32> {
    let reports = messages.iter().filter(|it| it.kind == "report");
    reports.map(|it| it.field(34).parse().unwrap()).collect()
}

/// A drop copy, which is killed at its end.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) child: Child,
}

impl Server {
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks that the client has each report of the journal once: the same MsgSeqNum has the same
/// report, and no report has two. Returns the reports that were received more than once, which only
/// a killed client may have: before it stored the number.
fn check_reports(messages: &[Logged], written: u32) -> usize {
    let mut by_number = BTreeMap::new();
    let mut repeated = 0;
    for report in messages.iter().filter(|it| it.kind == "report") {
        let id = match report.field(35) {
            "9" => format!("EXEC{:06}", report.field(37).parse::<u32>().unwrap() - 700),
            _ => report.field(17).to_owned(),
        };
        let number: u32 = report.field(34).parse().unwrap();
        if let Some(earlier) = by_number.insert(number, id.clone()) {
            assert_eq!(earlier, id, "MsgSeqNum {number}");
            assert_eq!(report.field(43), "Y", "{report:?}");
            repeated += 1;
        }
    }
    // In the order of the journal, without a gap.
    let received: Vec<String> = by_number.into_values().collect();
    let expected: Vec<String> = (1..=written).map(exec_id).collect();
    assert_eq!(received, expected);
    let of_type = |kind: &str, msg_type: &str| {
        messages.iter().filter(|it| it.kind == kind && it.field(35) == msg_type).count()
    };
    assert_eq!(of_type("out", "3"), 0, "QuickFIX rejects no message");
    assert_eq!(of_type("in", "3"), 0, "QuickFIX receives no reject");
    repeated
}

#[test]
fn quickfix_receives_every_report_once_over_kills_of_either_side() {
    if !quickfix::is_available() {
        return;
    }
    let kills: usize =
        KILLS * std::env::var(SCALE).map_or(1, |text| text.parse::<usize>().unwrap());
    let (place, mut journal) = Place::new();
    let (stop, written) = (AtomicBool::new(false), AtomicU32::new(0));
    let mut server = place.start(0, &["--wire-prices"]);
    let port = server.port;
    let mut client = Client::start(&place.client(), port, CLIENT, false);
    let mut client_kills = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                journal.write();
                written.store(journal.written(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let mut received = 0;
        // Few kills may all fall between two messages: more follow until the client has asked for
        // some again.
        for kill in 0..kills + 100 {
            let messages = place.wait_for(received + 20 + kill * 7 % 40);
            if kill >= kills && messages.iter().any(is_resend_request) {
                break;
            }
            received = numbers(&messages).len();
            if kill % 2 == 0 {
                server.kill();
                server = place.start(port, &["--wire-prices"]);
            } else {
                client.kill();
                client = Client::start(&place.client(), port, CLIENT, false);
                client_kills += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let written = written.load(Ordering::Relaxed);
    let messages = place.wait_for(written as usize);
    let repeated = check_reports(&messages, written);
    assert!(repeated <= client_kills, "{repeated} repeated, {client_kills} clients killed");
    let count = |kind: &str, start: &str| {
        messages.iter().filter(|it| it.kind == kind && it.text.contains(start)).count()
    };
    let requests = messages.iter().filter(|it| is_resend_request(it)).count();
    let gap_fills = count("in", "|123=Y|");
    println!("{kills} kills, {written} reports, {requests} requests, {gap_fills} gap fills");
    assert!(requests > 0, "{requests} {gap_fills}");
}

fn is_resend_request(message: &Logged) -> bool {
    message.kind == "out" && message.text.contains("|35=2|")
}

/// Restarts the numbers that a client expects at 1, in the store of QuickFIX/J: text after its
/// length.
fn forget_incoming(place: &Place) {
    let path = place.client().join(format!("store/FIX.4.4-{CLIENT}-HAIRPIN.targetseqnums"));
    let text = fs::read(&path).unwrap();
    assert!(text.len() > 2 && text[2..].iter().all(u8::is_ascii_digit), "{text:?}");
    fs::write(path, b"\0\x011").unwrap();
}

#[test]
fn quickfix_receives_everything_again_with_gap_fills() {
    if !quickfix::is_available() {
        return;
    }
    let (place, mut journal) = Place::new();
    (0..20).for_each(|_| journal.write());
    let mut server = place.start(0, &["--wire-prices"]);
    for total in [20, 40] {
        let mut client = Client::start(&place.client(), server.port, CLIENT, false);
        place.wait_for(total);
        client.kill();
        (0..20).for_each(|_| journal.write());
        server.kill();
        server = place.start(server.port, &["--wire-prices"]);
    }
    forget_incoming(&place);
    let _client = Client::start(&place.client(), server.port, CLIENT, false);
    let messages = place.wait_for(60);
    assert!(check_reports(&messages, 60) >= 40);
    let is_fill = |it: &&Logged| it.kind == "in" && it.field(35) == "4" && it.field(123) == "Y";
    assert!(messages.iter().filter(is_fill).count() >= 2);
}

#[test]
fn quickfix_with_reset_on_logon_receives_each_report_once() {
    if !quickfix::is_available() {
        return;
    }
    let (place, mut journal) = Place::new();
    let server = place.start(0, &["--wire-prices"]);
    let mut received = Vec::new();
    for (logons, total) in [(1, 10), (2, 20), (3, 30)] {
        (0..10).for_each(|_| journal.write());
        let mut client = Client::start(&place.client(), server.port, CLIENT, true);
        place.wait_for_ids(total);
        client.kill();
        // A report that is sent to a connection before its end is noticed is lost by a reset.
        place.wait_for_log("closed by the client", logons);
        received = quickfix::messages(&place.client());
    }
    let reports = received.iter().filter(|it| it.kind == "report");
    assert_eq!(reports.clone().count(), 30);
    // After each logon the numbers begin after that of the Logon.
    assert!(reports.enumerate().all(|(at, it)| it.field(34) == (at % 10 + 2).to_string()));
}
