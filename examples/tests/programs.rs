//! Runs the three programs of the guide against `hairpin exchange`.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::{BufRead, BufReader, Lines};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hairpin::order_entry::{Orders, messages::ExecutionReportCancel534};
use hairpin_mapped::{Direction, Journal};
use tempfile::TempDir;

/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A child process that does not outlive the test.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn lines(&mut self) -> Lines<BufReader<ChildStdout>> {
        BufReader::new(self.0.stdout.take().unwrap()).lines()
    }

    fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits until the process exits.
    fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "timeout");
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the command, built before its first use unless all programs were built together.
fn hairpin() -> Command {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_best_prices")).parent().unwrap();
        let command = folder.join("hairpin");
        if std::env::var_os("HAIRPIN_EXAMPLES").is_some() && command.exists() {
            return command;
        }
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--bin", "hairpin"]).current_dir(workspace());
        if folder.ends_with("release") {
            build.arg("--release");
        }
        build.env("CARGO_TARGET_DIR", folder.parent().unwrap());
        assert!(build.status().unwrap().success());
        command
    });
    let mut command = Command::new(path);
    command.env_remove("HAIRPIN_SECRET_KEY");
    command
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A running `hairpin exchange`, and the folder with its two files.
struct Venue {
    folder: TempDir,
    _exchange: Process,
}

impl Venue {
    fn open(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = hairpin();
        command.args(["exchange", "--feed", "tcp", "--config-out", "config.xml"]);
        command.args(["--order-out", "order.toml", "--instruments", "5"]).args(args);
        let exchange = Process::start(command.current_dir(folder.path()));
        let until = Instant::now() + TIMEOUT;
        while !folder.path().join("config.xml").exists() {
            assert!(Instant::now() < until, "no config.xml");
            sleep(Duration::from_millis(5));
        }
        Self { folder, _exchange: exchange }
    }

    fn start(&self, program: &str) -> Process {
        Process::start(Command::new(program).current_dir(self.folder.path()))
    }

    fn journal(&self) -> Journal {
        Journal::open(self.folder.path().join("journal")).unwrap()
    }
}

#[test]
fn best_prices_prints_each_book_with_quantities() {
    let venue = Venue::open(&["--traders", "0"]);
    let mut program = venue.start(env!("CARGO_BIN_EXE_best_prices"));
    // Five books come into sync; the others are ticks.
    for line in program.lines().take(50) {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let [symbol, bids, "x", bid, "|", asks, "x", ask] = words[..] else { panic!("{line}") };
        assert!(symbol.starts_with("HP00"), "{line}");
        assert!([bids, asks].iter().all(|it| it.parse::<u32>().unwrap() > 0), "{line}");
        let [bid, ask] = [bid, ask].map(|price| price.parse::<f64>().unwrap());
        assert!(bid < ask, "{line}");
    }
}

#[test]
fn buyer_resumes_the_session_in_its_journal() {
    let venue = Venue::open(&[]);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut program = venue.start(env!("CARGO_BIN_EXE_buyer"));
        let lines: Vec<String> = program.lines().map(Result::unwrap).collect();
        assert!(program.wait().success());
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let (id, rest) = line.split_once(' ').unwrap();
        assert!(rest.starts_with("buy 1 HP001 @ 900: working, OrderID "), "{line}");
        ids.push(id.to_owned());
    }
    assert_ne!(ids[0], ids[1]);
    let journal = venue.journal();
    let orders: Vec<u64> = journal
        .records()
        .map(|(record, _)| record)
        .filter(|record| record.direction() == Direction::Outbound)
        .map(|record| journal.tag(record).uuid)
        .collect();
    assert_eq!(orders.len(), 2, "{orders:?}");
    assert_eq!(orders[0], orders[1], "the second run resumes the session of the first");
    assert_eq!(Orders::from_journal(&journal, 10).working().count(), 2);
}

#[test]
fn quoter_cancels_each_order_and_stops_on_a_signal() {
    let venue = Venue::open(&["--interval-us", "2000"]);
    let mut program = venue.start(env!("CARGO_BIN_EXE_quoter"));
    sleep(Duration::from_secs(3));
    program.signal("-INT");
    assert!(program.wait().success(), "a signal ends the run gracefully");
    let journal = venue.journal();
    let orders = Orders::from_journal(&journal, 10);
    let cancels = journal.records().filter(|(record, bytes)| {
        let template = bytes.get(6..8).map(|it| u16::from_le_bytes([it[0], it[1]]));
        record.direction() == Direction::Inbound
            && template == Some(ExecutionReportCancel534::TEMPLATE_ID)
    });
    let (requests, cancels) = (orders.counters().requests, cancels.count() as u64);
    assert!(cancels > 50, "{cancels} cancels of {requests} requests");
    assert!(orders.iter().count() as u64 <= requests - 2 * cancels, "orders without an answer");
}

#[test]
fn programs_are_as_short_as_the_guide_states() {
    for (name, max) in [("best_prices.rs", 15), ("buyer.rs", 20), ("quoter.rs", 30)] {
        let text = std::fs::read_to_string(workspace().join("examples").join(name)).unwrap();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let lines = text.lines().filter(is_code).count();
        assert!(lines <= max, "{name} has {lines} lines");
        let guide = workspace().join("docs/guide/rust-programs.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        let program = text.split_once("use hairpin").unwrap().1.trim_end();
        assert!(guide.contains(program), "docs/guide/rust-programs.md differs from {name}");
    }
}

/// Runs a program in a folder with these files, and returns its error message.
fn error_of(program: &str, files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let output = Command::new(program).current_dir(folder.path()).output().unwrap();
    assert!(!output.status.success() && output.status.signal().is_none(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn bad_input_is_an_error_of_one_line() {
    const CONFIG: &str =
        "<configuration><channel id=\"318\"/><channel id=\"320\"/></configuration>";
    const ORDER: &str = "[gateway]\nprimary = [\"127.0.0.1:1\"]\n[logon]\naccess_key_id = \"K\"\n\
        secret_file = \"key\"\nsession = \"ABC\"\nfirm = \"123\"\nsystem_name = \"n\"\n\
        system_version = \"1\"\nsystem_vendor = \"v\"\n[operator]\nsender_id = \"T\"\n\
        location = \"US,IL\"\n";
    let (feed, buyer) = (env!("CARGO_BIN_EXE_best_prices"), env!("CARGO_BIN_EXE_buyer"));
    let key = ("key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
    let bad_key = ("key", "not*a*key");
    let unknown = ORDER.replace("firm", "frim");
    for (program, files, expected) in [
        (feed, vec![], "cannot read config.xml: No such file or directory (os error 2)"),
        (
            feed,
            vec![("config.xml", CONFIG)],
            "cannot use config.xml: cannot find channel 310: the file has channels 318, 320",
        ),
        (buyer, vec![], "cannot read order.toml: No such file or directory (os error 2)"),
        (buyer, vec![("order.toml", &*unknown)], "cannot use order.toml: line 7: unknown field"),
        (buyer, vec![("order.toml", ORDER)], "cannot read key: No such file or directory"),
        (
            buyer,
            vec![("order.toml", ORDER), bad_key],
            "cannot use order.toml: cannot use the secret key in key: ",
        ),
        (
            buyer,
            vec![("order.toml", ORDER), key],
            "cannot use order.toml: no [journal]: give its `folder`, or `in_memory = true`",
        ),
    ] {
        let error = error_of(program, &files);
        assert!(error.starts_with(&format!("Error: {expected}")), "{error}");
        assert!(error.lines().count() == 1 && !error.contains(bad_key.1), "{error}");
    }
}

#[test]
fn wrong_secret_ends_the_run_without_showing_it() {
    const OTHER: &str = "HgECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let venue = Venue::open(&[]);
    std::fs::write(venue.folder.path().join("order.key"), OTHER).unwrap();
    let program = env!("CARGO_BIN_EXE_buyer");
    let output = Command::new(program).current_dir(venue.folder.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("Error: cannot log on: 0 (signature does not match)"), "{error}");
    assert!(error.lines().count() == 1 && !error.contains(OTHER), "{error}");
}

#[test]
fn journal_in_use_is_an_error_of_one_line() {
    let venue = Venue::open(&[]);
    let settings = hairpin_mapped::JournalSettings::default();
    let _journal = Journal::create_with(venue.folder.path().join("journal"), settings).unwrap();
    let program = env!("CARGO_BIN_EXE_buyer");
    let output = Command::new(program).current_dir(venue.folder.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("Error: cannot open the journal in journal: already open"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn wrong_interface_is_an_error_of_one_line() {
    let venue = Venue::open(&[]);
    let config = venue.folder.path().join("config.xml");
    let open = |a, b| {
        let feed = hairpin::Feed::builder(&config).channel(310).interfaces(a, b).open();
        feed.unwrap_err().to_string()
    };
    let expected = "cannot use interface nope0: interface nope0 does not exist";
    assert_eq!(open("nope0", "lo"), expected);
    let expected = "cannot use interface 192.0.2.1: no interface has the address 192.0.2.1";
    assert_eq!(open("lo", "192.0.2.1"), expected);
}
