//! The server's process group, and the client's.

use std::fs;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::harness::host_pair::{HostPair, Role};
use crate::harness::signals::Signals;

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

/// A command of the shell with its children, which end with it.
pub(super) struct Group(Child);

impl Group {
    /// Takes a child that leads a process group.
    pub(super) fn new(child: Child) -> Self {
        Self(child)
    }

    /// Waits until the command ends, or is interrupted. Returns its status and its output.
    ///
    /// # Errors
    /// Those of waiting.
    pub(super) fn output(mut self, signals: &Signals) -> Result<(ExitStatus, String)> {
        let mut out = self.0.stdout.take().context("a child without standard output")?;
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let status = loop {
            match self.0.try_wait()? {
                Some(status) => break status,
                None if signals.stop_requested() => break self.end()?,
                None => thread::sleep(POLL),
            }
        };
        // What the command left running would keep the pipe open.
        self.signal(Signal::SIGKILL);
        let text = reader.join().unwrap_or_default();
        Ok((status, text))
    }

    fn signal(&self, signal: Signal) {
        if let Ok(id) = i32::try_from(self.0.id()) {
            let _ = killpg(Pid::from_raw(id), signal);
        }
    }

    /// Ends the group: SIGTERM, and SIGKILL after [`END`].
    fn end(&mut self) -> Result<ExitStatus> {
        self.signal(Signal::SIGTERM);
        let until = Instant::now() + END;
        while Instant::now() < until {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
        self.signal(Signal::SIGKILL);
        Ok(self.0.wait()?)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
        self.signal(Signal::SIGKILL);
    }
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
        let child = hosts.start(Role::Pong, command).context("cannot start the server")?;
        let mut group = Group::new(child);
        let until = Instant::now() + START;
        let mut found = (String::new(), Instant::now());
        while found.0.is_empty() || found.1.elapsed() < SETTLED {
            if signals.stop_requested() {
                break;
            }
            if let Some(status) = group.0.try_wait()? {
                bail!("the server has ended, {status}");
            }
            if Instant::now() > until {
                bail!("the server has opened no port within {} s", START.as_secs());
            }
            thread::sleep(POLL);
            let ports = ports(group.0.id());
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
