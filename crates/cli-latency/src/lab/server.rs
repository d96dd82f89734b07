//! The server's processes, and the client's.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::signals::Signals;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

/// The time in which a server opens its port.
const START: Duration = Duration::from_secs(30);
/// The time without a change after which all ports of a server are open.
const SETTLED: Duration = Duration::from_millis(500);
/// The time between two looks at a process.
const POLL: Duration = Duration::from_millis(10);
/// The time that a process has to end after SIGTERM.
const END: Duration = Duration::from_secs(5);
/// The state of a TCP socket that listens, in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// A command of the shell with all its descendants, which end with it.
pub(super) struct Group {
    child: Child,
    /// The children of this process that are not the command's.
    others: Vec<i32>,
}

impl Group {
    /// Starts a command on a host, as the leader of a process group.
    ///
    /// # Errors
    /// Those of starting a process.
    pub(super) fn start(hosts: &HostPair, role: Role, mut command: Command) -> Result<Self> {
        // A daemon leaves its group and outlives its parent; then it becomes a child of this
        // process.
        set_child_subreaper(true)?;
        // Ctrl-C is this process's, which ends the group.
        command.stdin(Stdio::null()).process_group(0);
        let others = children();
        let child = hosts.start(role, command)?;
        Ok(Self { child, others })
    }

    /// Waits until the command ends, or is interrupted. Returns its status and its output.
    ///
    /// # Errors
    /// Those of waiting.
    pub(super) fn output(mut self, signals: &Signals) -> Result<(ExitStatus, String)> {
        let mut out = self.child.stdout.take().context("a child without standard output")?;
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if signals.stop_requested() => break self.end()?,
                None => thread::sleep(POLL),
            }
        };
        // What the command left running would keep the pipe open.
        self.end_remaining();
        let text = reader.join().unwrap_or_default();
        Ok((status, text))
    }

    fn signal(&self, signal: Signal) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ = killpg(Pid::from_raw(id), signal);
        }
    }

    /// Ends the group: SIGTERM, and SIGKILL after [`END`].
    fn end(&mut self) -> Result<ExitStatus> {
        self.signal(Signal::SIGTERM);
        let until = Instant::now() + END;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
        self.signal(Signal::SIGKILL);
        Ok(self.child.wait()?)
    }

    /// Kills what a command that has ended left running.
    fn end_remaining(&self) {
        self.signal(Signal::SIGKILL);
        // The children of a killed process become children of this one.
        loop {
            let mut remaining = children();
            remaining.retain(|id| !self.others.contains(id));
            for id in remaining.iter().map(|id| Pid::from_raw(*id)) {
                let _ = kill(id, Signal::SIGKILL);
                let _ = waitpid(id, None);
            }
            if remaining.is_empty() {
                break;
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
        self.end_remaining();
    }
}

/// Returns the process IDs of the children of this process.
fn children() -> Vec<i32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    lists
        .flat_map(|it| it.split(' ').filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// A server that has opened a port.
pub(super) struct Server(#[expect(dead_code, reason = "ends when dropped")] Group);

impl Server {
    /// Starts the server and waits until it listens or receives.
    ///
    /// # Errors
    /// It cannot be started, ends, or opens no port.
    pub(super) fn start(hosts: &HostPair, mut command: Command, signals: &Signals) -> Result<Self> {
        command.stdout(Stdio::null());
        let start = Group::start(hosts, Role::Pong, command);
        let mut group = start.context("cannot start the server")?;
        let until = Instant::now() + START;
        let mut found = (String::new(), Instant::now());
        while found.0.is_empty() || found.1.elapsed() < SETTLED {
            if signals.stop_requested() {
                break;
            }
            if let Some(status) = group.child.try_wait()? {
                bail!("the server has ended, {status}");
            }
            if Instant::now() > until {
                bail!("the server has opened no port within {} s", START.as_secs());
            }
            thread::sleep(POLL);
            let ports = ports(group.child.id());
            if ports != found.0 {
                found = (ports, Instant::now());
            }
        }
        Ok(Self(group))
    }
}

/// Returns the local addresses of the TCP sockets that listen and of the bound UDP sockets in the
/// network namespace of a process. The namespace is new, so they are the server's.
fn ports(process: u32) -> String {
    let mut all = String::new();
    for kind in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/{process}/net/{kind}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if let [_, local, _, state, ..] = fields[..]
                && (kind.starts_with("udp") || state == LISTEN)
            {
                all.push_str(local);
            }
        }
    }
    all
}
