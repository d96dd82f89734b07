//! A running `hairpin exchange`, and programs that run against it.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod checks;

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hairpin_mapped::Journal;
use tempfile::TempDir;

/// The time limit of each wait.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// A program with its first arguments.
pub(crate) struct Program {
    path: PathBuf,
    args: &'static [&'static str],
}

impl Program {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), args: &[] }
    }

    pub(crate) fn with_args(path: impl Into<PathBuf>, args: &'static [&'static str]) -> Self {
        Self { path: path.into(), args }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(self.args);
        command
    }
}

/// A child process that does not outlive the test.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn lines(&mut self) -> Lines<BufReader<ChildStdout>> {
        BufReader::new(self.0.stdout.take().unwrap()).lines()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits until the process exits.
    pub(crate) fn wait(&mut self) -> ExitStatus {
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
pub(crate) fn hairpin() -> Command {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let folder = programs();
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

/// Returns the folder of the programs that cargo has built.
pub(crate) fn programs() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_owned()
}

pub(crate) fn workspace() -> PathBuf {
    let ancestors = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut folders = ancestors.filter(|it| it.join("Cargo.lock").exists());
    folders.next().unwrap().to_owned()
}

/// A running `hairpin exchange`, and the folder with its two files.
pub(crate) struct Venue {
    pub(crate) folder: TempDir,
    _exchanges: Vec<Process>,
}

impl Venue {
    pub(crate) fn open(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let exchange = start_exchange(folder.path(), args);
        Self { folder, _exchanges: vec![exchange] }
    }

    /// Opens two exchanges, and joins their files: channel 310 and market segment 64 have HP001 to
    /// HP005, channel 311 and market segment 80 have ZN and others.
    pub(crate) fn open_two() -> Self {
        let venue = Self::open(&["--traders", "0"]);
        let second = tempfile::tempdir().unwrap();
        let args = ["--channel", "311", "--market-segment", "80", "--display-formats"];
        let exchange = start_exchange(second.path(), &[&args[..], &["--traders", "0"]].concat());
        let read =
            |folder: &TempDir, name| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let write = |name, text| std::fs::write(venue.folder.path().join(name), text).unwrap();
        let (first_config, second_config) =
            (read(&venue.folder, "config.xml"), read(&second, "config.xml"));
        let (start, end) = second_config.split_once("<channel ").unwrap();
        assert!(start.contains("<configuration"));
        let joined = first_config.replace("</configuration>", &format!("<channel {end}"));
        write("config.xml", joined);
        let primary = |text: &str| {
            text.lines().find(|it| it.starts_with("primary")).map(str::to_owned).unwrap()
        };
        let order = read(&venue.folder, "order.toml");
        let (_, rest) = order.split_once("[logon]").unwrap();
        let segments = [(64, primary(&order)), (80, primary(&read(&second, "order.toml")))];
        let [first, second] =
            segments.map(|(id, primary)| format!("[[segment]]\nid = {id}\n{primary}\n"));
        write("order.toml", format!("{first}{second}[logon]{rest}"));
        let exchanges = venue._exchanges.into_iter().chain([exchange]).collect();
        Self { folder: venue.folder, _exchanges: exchanges }
    }

    pub(crate) fn start(&self, program: &Program) -> Process {
        Process::start(program.command().current_dir(self.folder.path()))
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::open(self.folder.path().join("journal")).unwrap()
    }
}

/// Starts an exchange, and waits for its files.
fn start_exchange(folder: &Path, args: &[&str]) -> Process {
    let mut command = hairpin();
    command.args(["exchange", "--config-out", "config.xml", "--order-out", "order.toml"]);
    command.args(args);
    if !args.contains(&"--feed") {
        command.args(["--feed", "tcp"]);
    }
    if !args.contains(&"--display-formats") {
        command.args(["--instruments", "5"]);
    }
    let exchange = Process::start(command.current_dir(folder));
    let until = Instant::now() + TIMEOUT;
    while !folder.join("config.xml").exists() {
        assert!(Instant::now() < until, "no config.xml");
        sleep(Duration::from_millis(5));
    }
    exchange
}

/// Checks that a program has at most `max` lines of code, and is in the guide as it is. `start` is
/// the beginning of its code.
pub(crate) fn check_length_and_guide(file: &str, start: &str, max: usize) {
    let text = std::fs::read_to_string(workspace().join("examples").join(file)).unwrap();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = text.lines().filter(is_code).count();
    assert!(lines <= max, "{file} has {lines} lines");
    let guide = std::fs::read_to_string(workspace().join("docs/guide/programs.md")).unwrap();
    let program = &text[text.find(start).unwrap()..];
    assert!(guide.contains(program.trim_end()), "docs/guide/programs.md differs from {file}");
}
