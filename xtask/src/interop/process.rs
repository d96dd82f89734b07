//! Processes with a time limit. None survives its value.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hairpin_testbed::Host;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The time that a program has to end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// A running program and its descendants, which are one process group.
pub(super) struct Process {
    child: Child,
    name: String,
    out: Option<JoinHandle<String>>,
    error: Option<JoinHandle<String>>,
}

/// What a program has printed.
#[derive(Debug, Default, Clone)]
pub(super) struct Output {
    pub(super) out: String,
    pub(super) error: String,
}

impl Process {
    /// Starts a program on a host, without input.
    pub(super) fn start(host: &Host, mut command: Command) -> Result<Self> {
        let name = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        let spawned = host.spawn(command, &[]);
        let mut child = spawned.with_context(|| format!("cannot start {name}"))?;
        let out = child.stdout.take().map(collect);
        let error = child.stderr.take().map(collect);
        Ok(Self { child, name, out, error })
    }

    /// Waits for the end, at most `limit`. A program that runs longer hangs, which is an error.
    pub(super) fn wait(mut self, limit: Duration) -> Result<Output> {
        let status = self.wait_status(limit)?;
        let output = self.output();
        let (Output { out, error }, name) = (&output, &self.name);
        let status =
            status.with_context(|| format!("no end in {limit:?}: {name}\n{out}{error}"))?;
        ensure!(status.success(), "{status}: {name}\n{out}{error}");
        Ok(output)
    }

    /// Waits for the end, at most `limit`, whatever the exit status is.
    pub(super) fn wait_any(mut self, limit: Duration) -> Result<Output> {
        if self.wait_status(limit)?.is_none() {
            let name = self.name.clone();
            let output = self.output();
            bail!("no end within {limit:?}: {name}\n{}{}", output.out, output.error);
        }
        Ok(self.output())
    }

    /// Ends the program by a signal. Returns what it has printed.
    pub(super) fn stop(mut self, signal: &str) -> Result<Output> {
        self.signal_first(signal);
        if self.wait_status(STOP_TIMEOUT)?.is_none() {
            self.signal("KILL");
            bail!("no end within {STOP_TIMEOUT:?} of SIG{signal}: {}", self.name);
        }
        Ok(self.output())
    }

    /// Returns `true` while the program runs.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn wait_status(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(None)
    }

    /// Collects what was printed. Descendants that still run are killed: they hold the pipes.
    fn output(&mut self) -> Output {
        self.signal("KILL");
        let join = |thread: Option<JoinHandle<String>>| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
        };
        Output { out: join(self.out.take()), error: join(self.error.take()) }
    }

    /// Sends a signal to the first process of the group.
    fn signal_first(&self, signal: &str) {
        send(signal, &self.child.id().to_string());
    }

    /// Sends a signal to the group.
    fn signal(&self, signal: &str) {
        send(signal, &format!("-{}", self.child.id()));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal("KILL");
        let _ = self.child.wait();
    }
}

fn send(signal: &str, to: &str) {
    // A process that has ended is no error.
    let mut kill = Command::new("kill");
    let _ = kill.args(["-s", signal, "--", to]).stderr(Stdio::null()).status();
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What arrived before an error is kept.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
