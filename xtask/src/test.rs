//! `cargo xtask test`: every test this machine can run, and how many it could not.

mod hung;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::cargo;
use crate::workspace::Workspace;

/// A test program that prints nothing for so long is hung. The longest test takes a minute and a
/// half on two cores.
const PATIENCE: Duration = Duration::from_secs(600);
/// The same once one has hung: what holds one up may hold up others, and the sum is to be told in
/// time.
const PATIENCE_LEFT: Duration = Duration::from_secs(180);

/// Every test of the workspace. The last line printed is the sum over all test programs.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    run_selected(workspace, &["--workspace"], true)
}

/// The tests of some packages, given as cargo's own arguments. Where none of them is a library,
/// cargo takes asking for libraries and their doc tests as an error.
pub(crate) fn run_selected(
    workspace: &Workspace,
    packages: &[&str],
    has_library: bool,
) -> Result<()> {
    let data = data_folder(&workspace.root)?;
    let root = is_root()?;
    let mut tally = Tally::default();
    // Doc tests run apart: `--include-ignored` would run those that only show, too.
    let targets = ["test", "--no-fail-fast", "--bins", "--tests", "--examples", "--lib"];
    let targets = if has_library { &targets[..] } else { &targets[..targets.len() - 1] };
    let doc: &[&str] = &["test", "--no-fail-fast", "--doc"];
    let kinds = if has_library { 2 } else { 1 };
    let ignored: &[&str] = if root { &["--", "--include-ignored"] } else { &[] };
    for (kind, last) in [(targets, ignored), (doc, &[])].into_iter().take(kinds) {
        let arguments = kind.iter().chain(packages).chain(last).copied();
        let mut command = cargo(&workspace.root, arguments);
        tally.watch(with_data(&mut command, data.as_deref()), &mut std::io::stdout())?;
    }
    match &data {
        Some(folder) => {
            println!("tests on real data: none may skip, it is in {}", folder.display())
        }
        None => println!("tests on real data: skipped, no data folder (set HAIRPIN_DATA)"),
    }
    if !root && tally.ignored > 0 {
        println!("tests that need root: {} skipped, run again as root", tally.ignored);
    }
    println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.ignored);
    ensure!(tally.failed == 0 && tally.passed > 0, TestsFailed);
    Ok(())
}

/// Tests failed, or there were none. The sum already says so, and stays the last line.
#[derive(Debug)]
pub(crate) struct TestsFailed;

impl std::fmt::Display for TestsFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("tests failed")
    }
}

impl std::error::Error for TestsFailed {}

/// Where real captures and schemas lie: `HAIRPIN_DATA`, else `shared` beside the checkout.
fn data_folder(root: &Path) -> Result<Option<PathBuf>> {
    let holds_data =
        |folder: &Path| ["captures", "schemas"].iter().all(|f| folder.join(f).is_dir());
    if let Some(named) = std::env::var_os("HAIRPIN_DATA").map(PathBuf::from) {
        let Ok(named) = named.canonicalize() else {
            bail!("HAIRPIN_DATA: no such folder: {}", named.display());
        };
        ensure!(holds_data(&named), "HAIRPIN_DATA: no captures and schemas in {}", named.display());
        return Ok(Some(named));
    }
    let beside = root.parent().map(|parent| parent.join("shared"));
    Ok(beside.filter(|folder| holds_data(folder)))
}

/// With data at hand no test may skip: the second variable turns a skip into a panic.
fn with_data<'a>(command: &'a mut Command, data: Option<&Path>) -> &'a mut Command {
    match data {
        Some(folder) => command.env("HAIRPIN_DATA", folder).env("HAIRPIN_DATA_REQUIRED", "1"),
        None => command.env_remove("HAIRPIN_DATA_REQUIRED"),
    }
}

/// The kernel gives a process's own `/proc` entry to its effective user.
fn is_root() -> Result<bool> {
    Ok(std::fs::metadata("/proc/self").context("who am I: /proc is not mounted")?.uid() == 0)
}

/// What the test programs said of themselves.
#[derive(Debug, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
    patience: Duration,
}

impl Default for Tally {
    fn default() -> Self {
        Self { passed: 0, failed: 0, ignored: 0, patience: PATIENCE }
    }
}

impl Tally {
    /// Runs `cargo test`, shows every line on `screen` as it comes and counts the results. A test
    /// program that hangs is shown and ended, and counts as a failure; one that cannot be ended
    /// ends the tests.
    fn watch(&mut self, command: &mut Command, screen: &mut impl Write) -> Result<()> {
        let failed_before = self.failed;
        let mut child = command.stdout(Stdio::piped()).spawn().context("cargo test")?;
        let lines = lines(child.stdout.take().context("cargo test has no output")?);
        let mut ended = Vec::new();
        loop {
            match lines.recv_timeout(self.patience) {
                Ok(line) => {
                    self.add(&String::from_utf8_lossy(&line));
                    screen.write_all(&line).and_then(|()| screen.write_all(b"\n"))?;
                }
                // Somebody whom a test has left behind still holds its output.
                Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => break,
                Err(RecvTimeoutError::Timeout) => {
                    let programs = hung::end_programs(child.id(), screen)?;
                    if programs.is_empty() {
                        continue;
                    }
                    self.failed += 1;
                    self.patience = self.patience.min(PATIENCE_LEFT);
                    if programs == ended {
                        // The kernel does not let it go, nor would it what comes behind.
                        writeln!(
                            screen,
                            "hung: it cannot be ended; the tests behind it do not run"
                        )?;
                        let _ = child.kill();
                        return Ok(());
                    }
                    ended = programs;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = child.wait().context("cargo test")?;
        if !status.success() && self.failed == failed_before {
            writeln!(
                screen,
                "cargo test failed without a failed test: it did not build, or one crashed"
            )?;
            self.failed += 1;
        }
        Ok(())
    }

    /// Counts a line like `test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; …`.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) =
            line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let number: u64 = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

/// The lines of an output as they come.
fn lines(output: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use std::io::sink;

    use super::*;

    #[test]
    fn sums_the_results_of_all_test_programs() {
        let mut tally = Tally::default();
        let lines = "\
test utc::tests::prints_leap_days_and_year_ends ... ok
test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 8 tests
test result: FAILED. 7 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 1.2s
";
        lines.lines().for_each(|line| tally.add(line));
        assert_eq!(tally, Tally { passed: 12, failed: 1, ignored: 2, patience: PATIENCE });
    }

    #[test]
    fn a_test_command_that_fails_without_a_result_counts_as_a_failure() {
        let mut tally = Tally::default();
        tally.watch(&mut Command::new("false"), &mut sink()).expect("`false` is everywhere");
        assert_eq!(tally.failed, 1);
        tally.watch(&mut Command::new("true"), &mut sink()).expect("`true` is everywhere");
        assert_eq!(tally.failed, 1);
    }

    /// A tally that is soon tired, and a folder with a program of a test that sleeps for long.
    fn impatient() -> (Tally, PathBuf) {
        let folder = std::env::temp_dir().join(format!("hairpin-hung-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("deps")).expect("a folder");
        std::fs::copy("/bin/sleep", folder.join("deps/sleep")).expect("`sleep` is everywhere");
        (Tally { patience: Duration::from_millis(300), ..Tally::default() }, folder)
    }

    fn shell(script: &str, folder: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder);
        command
    }

    #[test]
    fn what_hangs_is_ended_and_counts_as_a_failure_and_the_rest_goes_on() {
        let (mut tally, folder) = impatient();
        let result = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";
        let script = format!("deps/sleep 1000; deps/sleep 1000; {result}");
        tally.watch(&mut shell(&script, &folder), &mut sink()).expect("it ends");
        assert_eq!((tally.passed, tally.failed), (3, 2));
        // Compiling takes as long as it takes.
        tally
            .watch(&mut shell(&format!("sleep 1; {result}"), &folder), &mut sink())
            .expect("it ends");
        assert_eq!((tally.passed, tally.failed), (6, 2));
        // One that has been left behind and holds the output.
        tally
            .watch(&mut shell(&format!("sleep 5 & {result}"), &folder), &mut sink())
            .expect("it ends");
        assert_eq!((tally.passed, tally.failed), (9, 2));
        std::fs::remove_dir_all(folder).expect("the folder is ours");
    }
}
