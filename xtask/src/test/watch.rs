//! A running test program: its output, its time, and its end if it hangs.

use std::io::{BufRead, BufReader, PipeReader, Write, pipe};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::counts::TestCounts;
use super::hung;

/// The limits that a program must keep, shared by all programs of a run.
#[derive(Debug)]
pub(super) struct Limits {
    /// A program without output for this long is hung.
    silence: Duration,
    /// The same once a program has hung: its cause may hold up the others, and the sum must be
    /// printed in time.
    silence_after_hang: Duration,
    /// The time from the exit of a program to the end of its output. A process that a test left
    /// behind may hold the output longer.
    exit_grace: Duration,
    has_hung: AtomicBool,
    is_stuck: AtomicBool,
}

impl Default for Limits {
    /// The longest test takes a minute and a half on two cores, alone.
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(600),
            silence_after_hang: Duration::from_secs(180),
            exit_grace: Duration::from_secs(5),
            has_hung: AtomicBool::new(false),
            is_stuck: AtomicBool::new(false),
        }
    }
}

impl Limits {
    /// Returns `true` if a hung program could not be ended: neither could the programs after it.
    pub(super) fn is_stuck(&self) -> bool {
        self.is_stuck.load(Ordering::Relaxed)
    }

    fn silence(&self) -> Duration {
        if self.has_hung.load(Ordering::Relaxed) { self.silence_after_hang } else { self.silence }
    }
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct ProgramRun {
    /// Standard output and standard error, in the order of their lines.
    pub(super) output: Vec<u8>,
    pub(super) counts: TestCounts,
    pub(super) elapsed: Duration,
}

/// The interval between checks for the exit of a program that prints nothing.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs a program to its end. A hung program is described in its output and killed, and counts as
/// a failure.
pub(super) fn watch(mut command: Command, limits: &Limits) -> Result<ProgramRun> {
    let begun = Instant::now();
    let (reader, writer) = pipe().context("cannot make a pipe")?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    // The command holds the writing ends of the pipe.
    drop(command);
    let mut run =
        ProgramRun { output: Vec::new(), counts: TestCounts::default(), elapsed: Duration::ZERO };
    let ended = run.read_output(&mut child, &lines(reader), limits)?;
    run.elapsed = begun.elapsed();
    if ended && !child.wait()?.success() && run.counts.failed == 0 {
        writeln!(run.output, "failed without a failed test: the program did not build or crashed")?;
        run.counts.failed = 1;
    }
    Ok(run)
}

impl ProgramRun {
    /// Reads lines until the program has ended. Returns `false` if the program hangs and cannot be
    /// ended.
    fn read_output(
        &mut self,
        child: &mut Child,
        lines: &Receiver<Vec<u8>>,
        limits: &Limits,
    ) -> Result<bool> {
        let mut last_line = Instant::now();
        let mut exited = None;
        let mut has_hung = false;
        loop {
            match lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => {
                    self.counts.add_line(&String::from_utf8_lossy(&line));
                    self.output.extend(line);
                    last_line = Instant::now();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(true),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if child.try_wait()?.is_some() {
                let exited = exited.get_or_insert_with(Instant::now);
                if exited.elapsed() > limits.exit_grace {
                    return Ok(true);
                }
            } else if last_line.elapsed() > limits.silence() {
                if has_hung {
                    writeln!(self.output, "hung: cannot be killed; no more tests run")?;
                    limits.is_stuck.store(true, Ordering::Relaxed);
                    return Ok(false);
                }
                hung::kill(child.id(), &mut self.output)?;
                self.counts.failed += 1;
                limits.has_hung.store(true, Ordering::Relaxed);
                has_hung = true;
                last_line = Instant::now();
            }
        }
    }
}

/// Returns the lines of an output as they arrive, each with its line feed.
fn lines(output: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";

    fn impatient() -> Limits {
        let [silence, silence_after_hang] = [300, 300].map(Duration::from_millis);
        let exit_grace = Duration::from_millis(300);
        Limits { silence, silence_after_hang, exit_grace, ..Limits::default() }
    }

    fn shell(script: &str) -> ProgramRun {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        watch(command, &impatient()).expect("`sh` exists")
    }

    #[test]
    fn counts_results() {
        let run = shell(RESULT);
        assert_eq!(run.counts, TestCounts { passed: 3, ..TestCounts::default() });
        assert!(run.output.starts_with(b"test result: ok."));
    }

    #[test]
    fn crash_without_a_result_counts_as_a_failure() {
        assert_eq!(shell("exit 1").counts.failed, 1);
        assert_eq!(shell("exit 0").counts.failed, 0);
    }

    #[test]
    fn hung_programs_are_killed_with_their_children() {
        let run = shell("sleep 1000 & sleep 1000");
        assert_eq!(run.counts.failed, 1);
        let output = String::from_utf8_lossy(&run.output);
        assert_eq!(output.matches(": sleep 1000\n").count(), 2, "{output}");
    }

    #[test]
    fn output_that_a_left_child_holds_ends_after_a_grace() {
        let run = shell(&format!("sleep 5 & {RESULT}"));
        assert_eq!((run.counts.passed, run.counts.failed), (3, 0));
        assert!(run.elapsed < Duration::from_secs(5));
    }
}
