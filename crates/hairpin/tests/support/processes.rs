//! Support for tests of the command: processes, signals, results.
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hairpin_mapped::CounterPages;
use hairpin_testbed::Host;
use serde_json::Value;

/// Long enough that a process that has not done something hangs, on a machine that does other work.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// The variable with the seconds after which a message without an answer is lost.
pub(crate) const ANSWER_TIMEOUT: &str = "HAIRPIN_ANSWER_TIMEOUT";

/// Returns the command `hairpin` with the test key and no standard input. It waits long for
/// answers, on a machine that does other work.
pub(crate) fn hairpin() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hairpin"));
    command.env(ANSWER_TIMEOUT, "30");
    command.env_remove("HAIRPIN_SECRET_KEY").stdin(Stdio::null());
    command
}

/// Copies the command to a file.
///
/// Another process writes the copy. A child that a parallel test starts meanwhile would inherit a
/// copy open for writing, and the kernel refuses to run such a file (ETXTBSY).
pub(crate) fn copy_hairpin(to: &Path) {
    let copy = Command::new("cp").arg(env!("CARGO_BIN_EXE_hairpin")).arg(to).status();
    assert!(copy.unwrap().success());
}

/// Serializes the tests of a program that busy-poll or measure: two at once would disturb each
/// other.
static TURN: Mutex<()> = Mutex::new(());

/// Waits for the other such tests of this program. Hold the guard during the test.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a Python program on a host, and waits until it has printed that it listens.
pub(crate) fn listening_program(host: &Host, script: &Path, arguments: &[&str]) -> Child {
    let mut program = Command::new("/usr/bin/python3");
    program.arg(script).args(arguments).stdout(Stdio::piped());
    let mut program = host.spawn(program, &[]).unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "listening\n");
    program
}

/// Returns the rows of a results file.
pub(crate) fn rows(results: &Path) -> Vec<Value> {
    let text = fs::read_to_string(results).expect("cannot read the results");
    let document: Value = serde_json::from_str(&text).expect("the results are not JSON");
    assert_eq!(document["schema"], "hairpin.results/1");
    document["rows"].as_array().expect("rows").clone()
}

/// Checks the exit status, and panics with all output if it differs.
pub(crate) fn assert_status(output: &Output, status: i32) {
    assert_eq!(
        output.status.code(),
        Some(status),
        "stdout:\n{}\nstderr:\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Checks that the command succeeded, and panics with all output if not.
pub(crate) fn assert_done(output: &Output) {
    assert_status(output, 0);
}

/// Returns the process ids of the children of `parent` that run `hairpin ROLE`.
pub(crate) fn children(parent: u32, role: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(") ").next().unwrap_or_default();
        let parent_is = after_name.split(' ').nth(1) == Some(&parent.to_string());
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        parent_is && words.split(|&byte| byte == 0).nth(1) == Some(role.as_bytes())
    })
    .collect()
}

/// Waits for the child that runs `hairpin ROLE`.
pub(crate) fn wait_for(parent: &mut Child, role: &str) -> u32 {
    started(parent, role).unwrap_or_else(|| panic!("the command ended before {role} started"))
}

/// Waits for the child that runs `hairpin ROLE`. Returns `None` if the command has ended.
fn started(parent: &mut Child, role: &str) -> Option<u32> {
    let until = Instant::now() + TIMEOUT;
    while Instant::now() < until {
        if let Some(&id) = children(parent.id(), role).first() {
            return Some(id);
        }
        if parent.try_wait().unwrap().is_some() {
            return None;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("no {role} within {TIMEOUT:?}");
}

/// Returns a counter of a process; `None` if the process does not publish it.
pub(crate) fn counter(process: u32, name: &str) -> Option<u64> {
    let pages = CounterPages::find().unwrap();
    let pages = pages.found.iter().filter(|found| found.process == process);
    pages.filter_map(|found| found.page.as_ref().ok()).find_map(|page| {
        let at = page.metrics().iter().position(|metric| metric.name == name)?;
        page.values().nth(at)
    })
}

/// Waits until a process has counted up to `least`.
pub(crate) fn wait_for_count(process: u32, name: &str, least: u64) {
    assert!(has_counted(process, name, least), "the process ends before {least} {name}");
}

/// Waits until a process has counted up to `least`, or has ended: then returns `false`.
pub(crate) fn has_counted(process: u32, name: &str, least: u64) -> bool {
    let until = Instant::now() + TIMEOUT;
    while counter(process, name).is_none_or(|count| count < least) {
        if !is_alive(process) {
            return false;
        }
        assert!(Instant::now() < until, "no {least} {name} within {TIMEOUT:?}");
        sleep(Duration::from_millis(5));
    }
    true
}

/// Returns the first value of an attempt. An attempt returns `None` if a process has ended before
/// the test could act on it: a busy machine may run that process alone for its whole life.
pub(crate) fn first_in_time<T>(attempt: impl FnMut() -> Option<T>) -> T {
    const ATTEMPTS: usize = 20;
    let found = std::iter::repeat_with(attempt).take(ATTEMPTS).flatten().next();
    found.expect("the processes of all attempts ended before the test acted on them")
}

/// Returns `true` if a process handles a signal, or has ended.
fn handles(process: u32, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.map(|mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    !is_alive(process) || caught.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Sends a signal by its name. A process that has just started must handle it first.
pub(crate) fn signal(name: &str, process: u32) {
    if let Some(number) = [("INT", 2), ("TERM", 15)].iter().find(|it| it.0 == name) {
        let until = Instant::now() + TIMEOUT;
        while !handles(process, number.1) {
            assert!(Instant::now() < until, "{process} does not handle {name}");
            sleep(Duration::from_millis(1));
        }
    }
    assert!(has_sent(name, &[process]));
}

/// Sends a signal to processes by its name. Returns `false` if one of them has ended.
pub(crate) fn has_sent(name: &str, processes: &[u32]) -> bool {
    let ids = processes.iter().map(u32::to_string);
    Command::new("kill").args(["-s", name]).args(ids).status().unwrap().success()
}

/// Runs a measurement with an exchange and a trader per round. Sends it a signal during the second
/// round, or as timeout(1) twice, to the process and to its group. Returns `None` if it has ended
/// before.
pub(crate) fn signal_in_second_round(
    command: &mut Command,
    name: &str,
    is_twice: bool,
) -> Option<Output> {
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let first = wait_for(&mut parent, "t2t-exchange");
    assert_gone(&[first]);
    let second = started(&mut parent, "t2t-exchange")?;
    let trader = started(&mut parent, "t2t-trader")?;
    let id = parent.id();
    let ids = if is_twice { vec![id; 2] } else { vec![id] };
    let is_in_time = has_counted(second, "exchange.ticks", 1) && has_sent(name, &ids);
    let output = parent.wait_with_output().unwrap();
    assert_gone(&[second, trader]);
    (is_in_time && !output.status.success()).then_some(output)
}

fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Waits until every process has exited.
pub(crate) fn assert_gone(processes: &[u32]) {
    let until = Instant::now() + TIMEOUT;
    while processes.iter().any(|&process| is_alive(process)) {
        assert!(Instant::now() < until, "still alive: {processes:?}");
        sleep(Duration::from_millis(10));
    }
}

/// A child process that is killed when its test ends.
pub(crate) struct Process(Option<Child>);

impl Process {
    /// Starts the command with both outputs captured.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    pub(crate) fn of(child: Child) -> Self {
        Self(Some(child))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(name, self.id());
    }

    /// Returns `true` if the process is running.
    pub(crate) fn runs(&mut self) -> bool {
        self.0.as_mut().unwrap().try_wait().unwrap().is_none()
    }

    /// Waits for the exit of the process.
    pub(crate) fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
