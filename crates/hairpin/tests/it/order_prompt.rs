//! Runs `hairpin order` in a terminal: line editing, history, and output while a line is edited.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::{Process, assert_status, hairpin};
use crate::traded_session::{ACCESS_KEY_ID, KEY, Venue};
use nix::pty::{OpenptyResult, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

const VARIABLE: &str = "HAIRPIN_ORDER_TEST_KEY";
const TIMEOUT: Duration = Duration::from_secs(300);
/// The escape sequence at the start of line editing: enable bracketed paste.
const EDITING_STARTED: &str = "\x1b[?2004h";
const UP: &str = "\x1b[A";

/// A command with its own pseudoterminal.
struct Terminal {
    process: Process,
    keys: File,
    screen: Arc<Mutex<String>>,
    device: OwnedFd,
    seen: usize,
}

/// Returns the command with settings in this folder, and the terminal of its input.
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

/// Collects all bytes from `from` in another thread.
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

impl Terminal {
    fn new(folder: &Path, venue: &Venue) -> Self {
        Self::with_args(folder, venue, &[])
    }

    fn with_args(folder: &Path, venue: &Venue, args: &[&str]) -> Self {
        let (mut command, pty) = command(folder, venue);
        command.args(args);
        let slave = || pty.slave.try_clone().unwrap();
        command.stdout(slave()).stderr(slave());
        let process = Process::of(command.spawn().unwrap());
        let keys = File::from(pty.master);
        let screen = watch(keys.try_clone().unwrap());
        Self { process, keys, screen, device: pty.slave, seen: 0 }
    }

    /// Starts a command whose standard output is not the terminal.
    fn printing_elsewhere(folder: &Path, venue: &Venue) -> Self {
        let (mut command, pty) = command(folder, venue);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let screen = watch(child.stderr.take().unwrap());
        let (process, keys) = (Process::of(child), File::from(pty.master));
        Self { process, keys, screen, device: pty.slave, seen: 0 }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Types a complete line, and waits for the next prompt.
    #[track_caller]
    fn enter(&mut self, line: &str) {
        let count = |screen: &str| screen.matches(EDITING_STARTED).count();
        let before = count(&self.screen.lock().unwrap());
        self.type_keys(&format!("{line}\r"));
        let until = Instant::now() + TIMEOUT;
        while count(&self.screen.lock().unwrap()) == before {
            assert!(Instant::now() < until, "no prompt: {}", self.screen.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for text after the text of the previous wait.
    #[track_caller]
    fn wait_for_text(&mut self, expected: &str) {
        let until = Instant::now() + TIMEOUT;
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(place) = screen[self.seen..].find(expected) {
                self.seen += place + expected.len();
                return;
            }
            assert!(Instant::now() < until, "no {expected:?}: {screen}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the final contents of each line on the screen.
    fn lines(&self) -> Vec<String> {
        let screen = self.screen.lock().unwrap().clone();
        screen.split('\n').map(shown).collect()
    }

    fn is_cooked(&self) -> bool {
        let flags = tcgetattr(&self.device).unwrap().local_flags;
        flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
    }

    fn output(self) -> Output {
        self.process.output()
    }
}

/// Returns the final contents of a line: the text after its last carriage return, without escape
/// sequences.
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
fn events_are_printed_above_the_edited_line() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let mut terminal = Terminal::new(folder.path(), &venue);
    terminal.wait_for_text(" established");
    assert!(!terminal.is_cooked());
    // The order is sent while the next line is typed. That line contains a corrected typo.
    terminal.enter("sleep 500ms");
    terminal.enter("buy 1 @ 1 HP001 id first");
    terminal.type_keys("satt\x7f\x7f\x7f");
    terminal.wait_for_text(" new      buy 1 @ 1 HP001 id first");
    terminal.type_keys("tatus\r");
    terminal.wait_for_text(" working  buy 1 @ 1 HP001 id first, 1 left");
    terminal.enter("hold 5");
    terminal.wait_for_text("hairpin: expected buy, sell");
    // Recalls the line before the last.
    terminal.enter(&format!("{UP}{UP}"));
    terminal.wait_for_text(" working ");
    // A paste may contain several lines.
    terminal.enter("\x1b[200~buy 1 @ 1 HP001 id pasted\ncancel pasted\x1b[201~");
    terminal.wait_for_text(" new      buy 1 @ 1 HP001 id pasted");
    // The cancel has another ClOrdID than the order.
    terminal.wait_for_text(" canceled buy 1 @ 1 HP001 id pasted");
    terminal.type_keys("quit\r");
    terminal.wait_for_text(" disconnected");
    let lines = terminal.lines();
    let events: Vec<&String> = lines.iter().filter(|line| line.contains("HP001 id ")).collect();
    let is_typed = |line: &&String| line.trim_start_matches("> ").starts_with("buy");
    let events: Vec<_> = events.into_iter().filter(|line| !is_typed(line)).collect();
    assert!(events.len() >= 7, "{lines:#?}");
    for line in events {
        let is_time = |place: usize| line.as_bytes()[place] == b':';
        assert!(is_time(2) && is_time(5) && !line.contains('>'), "{line:?} of {lines:#?}");
    }
    let device = terminal.device.try_clone().unwrap();
    assert_status(&terminal.output(), 0);
    let flags = tcgetattr(&device).unwrap().local_flags;
    assert!(
        flags.contains(LocalFlags::ICANON | LocalFlags::ECHO),
        "the terminal mode must be restored"
    );
}

#[test]
fn history_contains_only_valid_commands() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let mut terminal = Terminal::new(folder.path(), &venue);
    terminal.wait_for_text(" established");
    terminal.enter("status");
    terminal.enter(KEY);
    terminal.wait_for_text("hairpin: expected buy, sell");
    terminal.type_keys("quit\r");
    terminal.wait_for_text(" disconnected");
    assert_status(&terminal.output(), 0);
    let history = fs::read_to_string(folder.path().join("hairpin/order_history")).unwrap();
    assert_eq!(history, "status\nquit\n");
    let mut terminal = Terminal::new(folder.path(), &venue);
    terminal.wait_for_text(" established");
    terminal.enter(&format!("{UP}{UP}"));
    terminal.wait_for_text("next sequence numbers: ");
    terminal.type_keys("quit\r");
    assert_status(&terminal.output(), 0);
}

#[test]
fn interrupt_and_end_of_input_log_off() {
    for (key, status) in [("\x03", 130), ("\x04", 0)] {
        let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
        let mut terminal = Terminal::new(folder.path(), &venue);
        terminal.wait_for_text(" established");
        terminal.type_keys(key);
        terminal.wait_for_text(" disconnected");
        let device = terminal.device.try_clone().unwrap();
        assert_status(&terminal.output(), status);
        assert!(tcgetattr(&device).unwrap().local_flags.contains(LocalFlags::ICANON));
    }
}

#[test]
fn end_by_the_exchange_leaves_no_prompt() {
    for _ in 0..10 {
        let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
        let mut terminal = Terminal::new(folder.path(), &venue);
        terminal.wait_for_text(" established");
        terminal.type_keys("bu");
        venue.fail_primary();
        terminal.wait_for_text("hairpin: session ended: ");
        let screen = Arc::clone(&terminal.screen);
        assert_status(&terminal.output(), 1);
        let screen = screen.lock().unwrap();
        let last = screen.rfind("hairpin: session ended: ").unwrap();
        assert!(screen[..last].ends_with("\x1b[?2004l\r\x1b[K"), "{screen:?}");
        assert_eq!(screen[last..].matches('\n').count(), 1, "{screen:?}");
        assert!(screen.ends_with('\n'), "{screen:?}");
    }
}

#[test]
fn prompt_has_help_orders_and_positions() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let mut terminal = Terminal::new(folder.path(), &venue);
    terminal.wait_for_text(" established");
    for help in ["help", "?"] {
        terminal.enter(help);
        terminal.wait_for_text("positions                  print the net fills");
    }
    terminal.enter("buy 2 market HP001 id filled");
    terminal.enter("expect fill within 60s");
    terminal.enter("buy 1 @ 1 HP001 id works");
    terminal.enter("expect new within 60s");
    terminal.enter("orders");
    terminal.wait_for_text(" working  buy 1 @ 1 HP001 id works, 1 left");
    terminal.enter("positions");
    terminal.wait_for_text(" position HP001: net 2: bought 2, sold 0");
    terminal.type_keys("quit\r");
    terminal.wait_for_text(" disconnected");
    terminal.wait_for_text("hairpin: 1 order stays working at the exchange: CME's Cancel on");
    terminal.wait_for_text("or use --cancel-on-quit");
    assert_status(&terminal.output(), 0);
}

#[test]
fn cancel_on_quit_cancels_before_the_log_off() {
    for (key, status) in [("quit\r", 0), ("\x03", 130)] {
        let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
        let mut terminal = Terminal::with_args(folder.path(), &venue, &["--cancel-on-quit"]);
        terminal.wait_for_text(" established");
        terminal.enter("buy 1 @ 1 HP001 id first");
        terminal.enter("expect new within 60s");
        terminal.type_keys(key);
        terminal.wait_for_text(" canceled 1 order");
        terminal.wait_for_text(" terminating");
        terminal.wait_for_text(" disconnected");
        let screen = Arc::clone(&terminal.screen);
        assert_status(&terminal.output(), status);
        let screen = screen.lock().unwrap();
        assert!(!screen.contains("at the exchange"), "{screen}");
    }
}

#[test]
fn prompt_without_editing_is_printed_once_per_line() {
    let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
    let mut terminal = Terminal::printing_elsewhere(folder.path(), &venue);
    for line in ["status\n", "\n", "sleep 100ms\n", "hold\n", "quit\n"] {
        terminal.wait_for_text("> ");
        // Leaves time for an incorrect second prompt.
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_keys(line);
    }
    let screen = Arc::clone(&terminal.screen);
    let output = terminal.output();
    assert_status(&output, 0);
    assert!(String::from_utf8(output.stdout).unwrap().contains("next sequence numbers: ours 1"));
    let screen = screen.lock().unwrap().replace('\n', "");
    let (before, after) = screen.split_once("hairpin: expected buy").unwrap();
    assert_eq!(before, "> > > > ");
    assert!(after.ends_with("found `hold`; `help` prints the commands> "), "{after}");
}
