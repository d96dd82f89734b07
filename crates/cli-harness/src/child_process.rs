//! A child process of a round, as its parent sees it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::child_protocol::ChildPage;
use crate::datapath;
use crate::host_pair::{HostPair, Role};
use crate::preload::{TIMESTAMPS, accelerated};
use crate::secret_key;
use crate::transport::{Transport, TransportArgs};

/// The processor time of the children that have ended, and the core of each.
static ENDED: Mutex<Vec<(usize, Duration)>> = Mutex::new(Vec::new());

/// Returns the processor time on `core` of all children that have ended.
pub(crate) fn time_on(core: usize) -> Duration {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.iter().filter(|(of, _)| *of == core).map(|(_, time)| *time).sum()
}

/// A child process. Its setup was written to its standard input; a thread reads its output lines.
pub struct ChildProcess {
    name: &'static str,
    child: Child,
    lines: Receiver<String>,
    error_lines: Receiver<String>,
}

impl ChildProcess {
    /// Starts the child of `role`, under `hairpin run` if `transport` demands it.
    pub fn start(
        hosts: &HostPair,
        role: Role,
        page: &ChildPage,
        transport: TransportArgs,
        setup: &impl Serialize,
    ) -> Result<Self> {
        let name = role.name();
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let mut command = Command::new(program);
        command.arg(role.subcommand());
        if transport.transport == Transport::Preload {
            command = accelerated(&command, hosts.interface(role), &[TIMESTAMPS])?;
        }
        secret_key::pass_to(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = hosts
            .spawn(role, command, page.control())
            .with_context(|| format!("cannot start the {name}"))?;
        let mut stdin = child.stdin.take().context("a child without standard input")?;
        // A child that has already exited reports its error on standard error.
        let _ = stdin.write_all(&serde_json::to_vec(setup)?);
        drop(stdin);
        let lines = child.stdout.take().context("a child without standard output")?;
        let error_lines = child.stderr.take().context("a child without standard error")?;
        let lines = read_lines(lines, |_| true);
        let error_lines =
            read_lines(error_lines, move |line| !datapath::forward_notice(name, line));
        Ok(Self { name, child, lines, error_lines })
    }

    /// Returns the name of its role.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the next line, decoded from JSON.
    ///
    /// # Errors
    /// No line within `timeout`; a line that cannot be decoded; the child has exited.
    pub fn line<T: DeserializeOwned>(&mut self, timeout: Duration) -> Result<T> {
        self.poll_line(timeout)?.ok_or_else(|| {
            anyhow!("the {}: no reply within {timeout:?}, process killed", self.name)
        })
    }

    /// Returns the next line, decoded from JSON, or `None` after a timeout of `timeout`.
    pub fn poll_line<T: DeserializeOwned>(&mut self, timeout: Duration) -> Result<Option<T>> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => serde_json::from_str(&line)
                .map(Some)
                .with_context(|| format!("the {}: invalid reply", self.name)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.named_error()),
        }
    }

    /// Returns the child's error message if it has exited with an error.
    pub fn failed(&mut self) -> Result<Option<String>> {
        match self.child.try_wait()? {
            Some(status) if !status.success() => Ok(Some(self.error_message())),
            _ => Ok(None),
        }
    }

    /// Returns the child's error message with its name.
    fn named_error(&mut self) -> anyhow::Error {
        let message = self.error_message();
        anyhow!("{}: {message}", self.name)
    }

    /// Returns the last line on standard error, or the exit status if it printed nothing.
    fn error_message(&mut self) -> String {
        let status = self.child.wait();
        let lines: Vec<String> = self.error_lines.iter().collect();
        match (lines.last(), status) {
            (Some(line), _) => line.trim_start_matches("hairpin: ").to_owned(),
            (None, Ok(status)) => format!("exited without an error message, {status}"),
            (None, Err(error)) => error.to_string(),
        }
    }

    /// Requests the child to stop, and wakes it if it sleeps.
    pub fn request_stop(&self, page: &ChildPage) {
        page.request_stop();
        if let Ok(id) = i32::try_from(self.child.id()) {
            // Children ignore this signal, but it interrupts their wait.
            let _ = kill(Pid::from_raw(id), Signal::SIGINT);
        }
    }

    /// Waits for the child to exit.
    pub fn end(mut self) -> Result<()> {
        self.record_time();
        if self.child.wait()?.success() { Ok(()) } else { Err(self.named_error()) }
    }

    /// Records the processor time of a child that has done its work. The kernel has none of a child
    /// that was waited for, which the record then lacks.
    fn record_time(&self) {
        if let Ok((core, time)) = hairpin_host::process_time(self.child.id()) {
            let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
            ended.push((core, Duration::from_nanos(time.as_nanos())));
        }
    }
}

/// Ends the child: no child outlives its row.
impl Drop for ChildProcess {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.record_time();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the lines of a stream that `is_wanted` accepts, read by a thread of its own.
fn read_lines(
    from: impl Read + Send + 'static,
    is_wanted: impl Fn(&str) -> bool + Send + 'static,
) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if is_wanted(&line) && sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
