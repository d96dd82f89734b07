//! `cargo xtask test`: builds the test programs, runs them side by side and prints the sum.
//!
//! | module | contents |
//! |---|---|
//! | `programs` | the test programs that cargo builds |
//! | `schedule` | runs programs side by side, or alone if they need it |
//! | `watch` | one program: its output, its time, and its end if it hangs |
//! | `hung` | the processes of a hung program |
//! | `counts` | libtest's result lines |

mod counts;
mod hung;
mod programs;
mod schedule;
mod watch;

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::python;
use crate::shell::cargo;
use crate::workspace::Workspace;
use counts::TestCounts;
use programs::TestProgram;
use schedule::Shares;
use watch::{Limits, ProgramRun};

/// The number of slowest programs in the report.
const SLOWEST: usize = 10;

/// The packages to test.
pub(crate) struct Selection<'a> {
    /// cargo's own arguments: `--workspace`, or `--package NAME` for each package.
    pub(crate) packages: &'a [&'a str],
    /// `true` if one of the packages is a library. Otherwise cargo rejects `--doc`.
    pub(crate) has_library: bool,
    /// `true` to run the tests of the Python package, which is built before.
    pub(crate) has_python: bool,
}

/// Every package of the workspace.
const WORKSPACE: Selection<'_> =
    Selection { packages: &["--workspace"], has_library: true, has_python: false };

/// Runs every test of the workspace. The last line printed is the sum over all test programs.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    run_selected(workspace, &WORKSPACE)
}

/// Runs the tests of some packages. The last line printed is the sum.
pub(crate) fn run_selected(workspace: &Workspace, selection: &Selection<'_>) -> Result<()> {
    let report = Report::new(workspace, selection)?;
    print!("{}", report.times());
    report.conclude()
}

/// Runs every test of the workspace and those of the built Python package, and leaves the printing
/// of the sum to the caller.
pub(crate) fn report(workspace: &Workspace) -> Result<Report> {
    Report::new(workspace, &Selection { has_python: true, ..WORKSPACE })
}

/// The results of a run of tests.
pub(crate) struct Report {
    counts: TestCounts,
    build_time: Duration,
    /// Each test program with its time, in the order of their end.
    programs: Vec<(String, Duration)>,
    /// The programs with a failed test, each with what it printed about its failures.
    failed: Vec<(String, String)>,
    data: Option<PathBuf>,
    /// The folder of the built examples.
    examples: Option<PathBuf>,
    is_root: bool,
}

impl Report {
    fn new(workspace: &Workspace, selection: &Selection<'_>) -> Result<Self> {
        let mut report = Self {
            counts: TestCounts::default(),
            build_time: Duration::ZERO,
            programs: Vec::new(),
            failed: Vec::new(),
            data: data_folder(&workspace.root)?,
            examples: None,
            is_root: is_root()?,
        };
        let begun = Instant::now();
        let built = programs::build(workspace, selection)?;
        report.build_time = begun.elapsed();
        report.examples = built.examples;
        let limits = Limits::default();
        let (mut side_by_side, mut alone) = (VecDeque::new(), VecDeque::new());
        if selection.has_library {
            side_by_side
                .push_back(("doc tests".to_owned(), report.doc_tests(workspace, selection)));
        }
        if selection.has_python {
            let mut command = python::tests(workspace)?;
            set_data(&mut command, report.data.as_deref());
            side_by_side.push_back(("python".to_owned(), command));
        }
        for program in schedule::slowest_first(&built.programs) {
            let Shares { side_by_side: shared, alone: exclusive } = schedule::divide(&program.name);
            let command = |tests: Vec<_>| report.command(program, &tests);
            side_by_side.extend(shared.map(|it| (program.name.clone(), command(it))));
            alone.extend(exclusive.map(|it| (format!("{} (alone)", program.name), command(it))));
        }
        for (commands, at_once) in [(side_by_side, schedule::PROGRAMS_AT_ONCE), (alone, 1)] {
            schedule::run(commands, at_once, &limits, |name, run| report.add(name, &run))?;
        }
        Ok(report)
    }

    fn doc_tests(&self, workspace: &Workspace, selection: &Selection<'_>) -> Command {
        let arguments = ["test", "--no-fail-fast", "--doc"].iter().chain(selection.packages);
        let mut command = cargo(&workspace.root, arguments.copied());
        set_data(&mut command, self.data.as_deref());
        command
    }

    fn command(&self, program: &TestProgram, tests: &[&str]) -> Command {
        let mut command = program.command(tests, self.is_root);
        set_data(&mut command, self.data.as_deref());
        // The tests of the examples run these instead of building their own.
        command.envs(self.examples.iter().map(|folder| ("HAIRPIN_EXAMPLES", folder)));
        command
    }

    /// Prints the output of a program and counts its results.
    fn add(&mut self, name: &str, run: &ProgramRun) -> Result<()> {
        let mut screen = std::io::stdout().lock();
        writeln!(screen, "test: {name}: {:.1} s", run.elapsed.as_secs_f64())?;
        screen.write_all(&run.output)?;
        self.counts += run.counts;
        self.programs.push((name.to_owned(), run.elapsed));
        if run.counts.failed > 0 {
            self.failed.push((name.to_owned(), failures(&run.output)));
        }
        Ok(())
    }

    /// The time of the build and of the slowest programs, a line each.
    pub(crate) fn times(&self) -> String {
        let mut slowest: Vec<_> = self.programs.iter().collect();
        slowest.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        let mut text = format!("test times: build {:.1} s; ", self.build_time.as_secs_f64());
        text += &format!("slowest of {} programs:\n", self.programs.len());
        for (name, time) in slowest.iter().take(SLOWEST) {
            text += &format!("{:>9.1} s  {name}\n", time.as_secs_f64());
        }
        text
    }

    /// Prints which tests did not run, which failed and how, and as the last line the sum.
    ///
    /// # Errors
    /// [`TestsFailed`] if a test failed, or if no test ran.
    pub(crate) fn conclude(&self) -> Result<()> {
        match &self.data {
            Some(folder) => println!("tests on real data: run on {}", folder.display()),
            None => println!("tests on real data: skipped, no data folder (set HAIRPIN_DATA)"),
        }
        let TestCounts { passed, failed, ignored } = self.counts;
        if !self.is_root && ignored > 0 {
            println!("tests that need root: {ignored} skipped, run again as root");
        }
        for (name, failures) in &self.failed {
            println!("failed: {name}\n{failures}");
        }
        println!("{passed} passed, {failed} failed, {ignored} skipped");
        ensure!(failed == 0 && passed > 0, TestsFailed);
        Ok(())
    }
}

/// Returns what libtest prints about failed tests: their output, then their names. Of a program
/// without such a part, returns the last lines.
fn failures(output: &[u8]) -> String {
    const LAST_LINES: usize = 40;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<_> = text.lines().collect();
    let failures = lines.iter().position(|line| *line == "failures:");
    let first = failures.unwrap_or(lines.len().saturating_sub(LAST_LINES));
    lines[first..].join("\n")
}

/// Tests failed, or no test ran. The sum already reports it and stays the last line.
#[derive(Debug)]
pub(crate) struct TestsFailed;

impl fmt::Display for TestsFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tests failed")
    }
}

impl std::error::Error for TestsFailed {}

/// Returns the folder with real captures and schemas: `HAIRPIN_DATA`, or `shared` next to the
/// checkout.
fn data_folder(root: &Path) -> Result<Option<PathBuf>> {
    let has_data = |folder: &Path| ["captures", "schemas"].iter().all(|f| folder.join(f).is_dir());
    if let Some(named) = std::env::var_os("HAIRPIN_DATA").map(PathBuf::from) {
        let Ok(named) = named.canonicalize() else {
            bail!("HAIRPIN_DATA: no such folder: {}", named.display());
        };
        ensure!(has_data(&named), "HAIRPIN_DATA: no captures and schemas in {}", named.display());
        return Ok(Some(named));
    }
    let beside = root.parent().map(|parent| parent.join("shared"));
    Ok(beside.filter(|folder| has_data(folder)))
}

/// Passes the data folder to the tests. The second variable turns the skip of a test on data into
/// a failure.
fn set_data(command: &mut Command, data: Option<&Path>) {
    match data {
        Some(folder) => command.env("HAIRPIN_DATA", folder).env("HAIRPIN_DATA_REQUIRED", "1"),
        None => command.env_remove("HAIRPIN_DATA_REQUIRED"),
    };
}

/// Returns `true` if this process is root's: a process's `/proc` entry belongs to its effective
/// user.
fn is_root() -> Result<bool> {
    let entry = std::fs::metadata("/proc/self").context("cannot find the user: no /proc")?;
    Ok(entry.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_the_failures_of_a_program_after_all_programs() {
        let failed = "\
test a ... ok
test b ... FAILED

failures:

---- b stdout ----
left 1, right 2

failures:
    b

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        let reported = failures(failed.as_bytes());
        assert!(reported.starts_with("failures:\n\n---- b stdout"), "{reported}");
        assert!(reported.contains("left 1") && !reported.contains("test a"), "{reported}");
        let crashed = failures(b"error: no such file\nfailed without a failed test");
        assert_eq!(crashed, "error: no such file\nfailed without a failed test");
    }
}
