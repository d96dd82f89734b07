//! `hairpin order` at a terminal: lines are edited, earlier ones come back, and nothing is torn.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::order_gateway::{ACCESS_KEY_ID, KEY, Venue};
use crate::support::{Process, assert_status, hairpin};
use nix::pty::{OpenptyResult, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

const VARIABLE: &str = "HAIRPIN_ORDER_TEST_KEY";
const PATIENCE: Duration = Duration::from_secs(60);
/// What the terminal is told when a line begins to be edited.
const EDITS: &str = "\x1b[?2004h";
const UP: &str = "\x1b[A";

/// A command at a terminal of its own.
struct Typist {
    process: Process,
    keys: File,
    screen: Arc<Mutex<String>>,
    terminal: OwnedFd,
    seen: usize,
}

/// The command with settings of its own in this folder, and a terminal it reads from.
fn command(folder: &Path, venue: &Venue) -> (Command, OpenptyResult) {
    let settings = format!(
        "[gateway]\nprimary = [\"{}\"]\n[logon]\naccess_key_id = \"{ACCESS_KEY_ID}\"\n\
         secret_env = \"{VARIABLE}\"\nsession = \"ABC\"\nfirm = \"DEFGH\"\n\
         system_name = \"Test\"\nsystem_version = \"1\"\nsystem_vendor = \"Test\"\n\
         [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n\
         [instruments]\nHP001 = 1001\n",
        venue.gateway
    );
    fs::write(folder.join("order.toml"), settings).unwrap();
    let (mut command, pty) = (hairpin(), openpty(None, None).unwrap());
    command.arg("order").arg(folder.join("order.toml"));
    command.env(VARIABLE, KEY).env("TERM", "xterm").env("XDG_STATE_HOME", folder);
    command.stdin(pty.slave.try_clone().unwrap());
    (command, pty)
}

/// All that comes from there, as it comes.
fn watch(mut from: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let screen = Arc::new(Mutex::new(String::new()));
    let drawn = Arc::clone(&screen);
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            drawn.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    });
    screen
}

impl Typist {
    fn new(folder: &Path, venue: &Venue) -> Self {
        let (mut command, pty) = command(folder, venue);
        let slave = || pty.slave.try_clone().unwrap();
        command.stdout(slave()).stderr(slave());
        let process = Process::of(command.spawn().unwrap());
        let keys = File::from(pty.master);
        let screen = watch(keys.try_clone().unwrap());
        Self { process, keys, screen, terminal: pty.slave, seen: 0 }
    }

    /// One whose command does not print to the terminal.
    fn printing_elsewhere(folder: &Path, venue: &Venue) -> Self {
        let (mut command, pty) = command(folder, venue);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let screen = watch(child.stderr.take().unwrap());
        let (process, keys) = (Process::of(child), File::from(pty.master));
        Self { process, keys, screen, terminal: pty.slave, seen: 0 }
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Types a whole line, and waits for the prompt of the next.
    #[track_caller]
    fn enters(&mut self, line: &str) {
        let count = |screen: &str| screen.matches(EDITS).count();
        let before = count(&self.screen.lock().unwrap());
        self.types(&format!("{line}\r"));
        let until = Instant::now() + PATIENCE;
        while count(&self.screen.lock().unwrap()) == before {
            assert!(Instant::now() < until, "no prompt: {}", self.screen.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for these words behind those that were waited for before.
    #[track_caller]
    fn sees(&mut self, words: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(place) = screen[self.seen..].find(words) {
                self.seen += place + words.len();
                return;
            }
            assert!(Instant::now() < until, "no {words:?}: {screen}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The lines as they were left on the screen.
    fn lines(&self) -> Vec<String> {
        let screen = self.screen.lock().unwrap().clone();
        screen.split('\n').map(shown).collect()
    }

    fn is_cooked(&self) -> bool {
        let flags = tcgetattr(&self.terminal).unwrap().local_flags;
        flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
    }

    fn output(self) -> Output {
        self.process.output()
    }
}

/// What a line shows once all of it was drawn: what stands behind its last return to its begin,
/// without the sequences that draw.
fn shown(line: &str) -> String {
    let mut plain = String::new();
    let mut characters = line.trim_end_matches('\r').chars();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => drop(characters.by_ref().skip(1).find(char::is_ascii_alphabetic)),
            '\r' => plain.clear(),
            _ => plain.push(character),
        }
    }
    plain
}

#[test]
fn lines_are_edited_and_what_happens_stands_above_them() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let mut typist = Typist::new(folder.path(), &venue);
    typist.sees(" established");
    assert!(!typist.is_cooked());
    // The order leaves while the next line is being typed, with a slip that is taken back.
    typist.enters("sleep 500ms");
    typist.enters("buy 1 @ 1 HP001 id first");
    typist.types("satt\x7f\x7f\x7f");
    typist.sees(" ExecutionReportNew522 ");
    typist.types("tatus\r");
    typist.sees(" order ");
    typist.sees(" ClOrdID=first ");
    typist.enters("hold 5");
    typist.sees("hairpin: line 4, column 1: expected buy, sell");
    // Two lines back.
    typist.enters(&format!("{UP}{UP}"));
    typist.sees(" order ");
    // What is pasted may be of several lines.
    typist.enters("\x1b[200~buy 1 @ 1 HP001 id pasted\ncancel pasted\x1b[201~");
    typist.sees(" ClOrdID=pasted ");
    typist.sees(" ExecutionReportCancel534 ");
    typist.types("quit\r");
    typist.sees(" disconnected");
    let lines = typist.lines();
    let events: Vec<&String> = lines.iter().filter(|line| line.contains("Z ")).collect();
    assert!(events.len() >= 7, "{lines:#?}");
    for line in events {
        let is_whole = line.starts_with("20") && !line.contains("> ") && line.len() > 40;
        assert!(is_whole, "{line:?} of {lines:#?}");
    }
    let terminal = typist.terminal.try_clone().unwrap();
    assert_status(&typist.output(), 0);
    let flags = tcgetattr(&terminal).unwrap().local_flags;
    assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ECHO), "the terminal is as it was");
}

#[test]
fn a_later_run_knows_the_commands_and_nothing_else_that_was_typed() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let mut typist = Typist::new(folder.path(), &venue);
    typist.sees(" established");
    typist.enters("status");
    typist.enters(KEY);
    typist.sees("hairpin: line 2");
    typist.types("quit\r");
    typist.sees(" disconnected");
    assert_status(&typist.output(), 0);
    let history = fs::read_to_string(folder.path().join("hairpin/order_history")).unwrap();
    assert_eq!(history, "status\nquit\n");
    let mut typist = Typist::new(folder.path(), &venue);
    typist.sees(" established");
    typist.enters(&format!("{UP}{UP}"));
    typist.sees("next sequence numbers: ");
    typist.types("quit\r");
    assert_status(&typist.output(), 0);
}

#[test]
fn ctrl_c_and_the_end_of_input_log_off() {
    for (key, status) in [("\x03", 130), ("\x04", 0)] {
        let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
        let mut typist = Typist::new(folder.path(), &venue);
        typist.sees(" established");
        typist.types(key);
        typist.sees(" disconnected");
        let terminal = typist.terminal.try_clone().unwrap();
        assert_status(&typist.output(), status);
        assert!(tcgetattr(&terminal).unwrap().local_flags.contains(LocalFlags::ICANON));
    }
}

#[test]
fn where_nothing_is_edited_each_line_is_asked_for_once() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let mut typist = Typist::printing_elsewhere(folder.path(), &venue);
    for line in ["status\n", "\n", "sleep 100ms\n", "hold\n", "quit\n"] {
        typist.sees("> ");
        // Some time to ask again, as it must not.
        std::thread::sleep(Duration::from_millis(100));
        typist.types(line);
    }
    let screen = Arc::clone(&typist.screen);
    let output = typist.output();
    assert_status(&output, 0);
    assert!(String::from_utf8(output.stdout).unwrap().contains("next sequence numbers: ours 1"));
    let screen = screen.lock().unwrap().replace('\n', "");
    let (before, after) = screen.split_once("hairpin: line 4, column 1: expected buy").unwrap();
    assert_eq!(before, "> > > > ");
    assert!(after.ends_with("`hold`> "), "{after}");
}
