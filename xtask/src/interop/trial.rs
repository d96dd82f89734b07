//! One run of a case: two hosts, and which of them is accelerated.

use std::fmt;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hairpin_testbed::{Host, Queues, Testbed};

use super::Side;
use super::process::{Output, Process};

/// The time in which a server must listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The state of a listening socket in /proc/net/tcp, and of an unconnected one in /proc/net/udp.
const LISTENING: &str = "0A";
const UNCONNECTED: &str = "07";

/// The sides whose programs run under `hairpin run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accelerated {
    pub(super) server: bool,
    pub(super) client: bool,
}

impl Accelerated {
    pub(super) const NONE: Self = Self { server: false, client: false };
    pub(super) const EACH: [Self; 3] = [
        Self { server: true, client: false },
        Self { server: false, client: true },
        Self { server: true, client: true },
    ];

    pub(super) fn includes(self, side: Side) -> bool {
        match side {
            Side::Server => self.server,
            Side::Client => self.client,
        }
    }
}

/// Formats the sides.
impl fmt::Display for Accelerated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match (self.server, self.client) {
            (false, false) => "none",
            (true, false) => "server",
            (false, true) => "client",
            (true, true) => "both",
        })
    }
}

/// Two hosts, and a folder for the files of the programs.
pub(super) struct Trial {
    testbed: Testbed,
    hairpin: PathBuf,
    accelerated: Accelerated,
    flags: Vec<&'static str>,
    folder: PathBuf,
    /// The folder of programs that are built once.
    pub(super) builds: PathBuf,
    /// `true` if each side is pinned to a core of its own, where it may busy-poll.
    pinned: bool,
    /// Programs that hold the filter of an interface.
    holders: Vec<Process>,
}

/// Opens the interface, and sleeps.
const HOLDER: &str = "
import socket, sys, time
holder = socket.socket(type=socket.SOCK_DGRAM)
holder.bind((sys.argv[1], 0))
time.sleep(1000)
";

impl Trial {
    pub(super) fn new(
        hairpin: &Path,
        accelerated: Accelerated,
        queues: u32,
        flags: &[&'static str],
    ) -> Result<Self> {
        let testbed = Testbed::builder().queues(Queues::pairs(queues)).build()?;
        let folder = std::env::temp_dir().join(format!("hairpin-interop-{}", std::process::id()));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(Self {
            testbed,
            hairpin: hairpin.into(),
            accelerated,
            flags: flags.to_vec(),
            folder,
            builds: PathBuf::new(),
            pinned: false,
            holders: Vec::new(),
        })
    }

    /// Pins each side to a core of its own.
    pub(super) fn pin(&mut self) {
        self.pinned = true;
    }

    /// Attaches the filter to both interfaces, for programs that are not accelerated.
    pub(super) fn attach_filters(&mut self) -> Result<()> {
        for side in [Side::Server, Side::Client] {
            let address = self.address(side).to_string();
            let holder = ["/usr/bin/python3", "-c", HOLDER, &address];
            self.holders.push(Process::start(self.host(side), self.hairpin_run(side, &holder))?);
            let end = Instant::now() + LISTEN_TIMEOUT;
            let show = ["ip", "link", "show", self.host(side).interface()];
            while !self.run_plain(side, &show, 10)?.contains("xdp") {
                ensure!(Instant::now() < end, "no filter on the {side}");
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        Ok(())
    }

    pub(super) fn hosts(&self) -> &[Host; 2] {
        self.testbed.hosts()
    }

    pub(super) fn is_accelerated(&self, side: Side) -> bool {
        self.accelerated.includes(side)
    }

    fn host(&self, side: Side) -> &Host {
        &self.testbed.hosts()[side as usize]
    }

    /// Returns the address of a side.
    pub(super) fn address(&self, side: Side) -> Ipv4Addr {
        self.host(side).address()
    }

    /// Returns the server's address as text.
    pub(super) fn server(&self) -> String {
        self.address(Side::Server).to_string()
    }

    /// Returns a path in the folder of this run.
    pub(super) fn path(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    /// Writes a file in the folder of this run. Returns its path.
    pub(super) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<String> {
        let path = self.path(name);
        fs::write(&path, contents).with_context(|| format!("cannot write {path}"))?;
        Ok(path)
    }

    /// Returns a program's command, under `hairpin run` if its side is accelerated.
    pub(super) fn command(&self, side: Side, program: &[&str]) -> Command {
        if self.is_accelerated(side) {
            return self.hairpin_run(side, program);
        }
        if !self.pinned {
            return plain(program);
        }
        let mut command = Command::new("taskset");
        command.args(["-c", core(side)]).args(program);
        command
    }

    fn hairpin_run(&self, side: Side, program: &[&str]) -> Command {
        let mut command = Command::new(&self.hairpin);
        if self.pinned {
            command = Command::new("taskset");
            command.args(["-c", core(side)]).arg(&self.hairpin);
        }
        // Programs that sleep between messages also run on a busy machine.
        let profile = if self.pinned { "latency" } else { "safe" };
        command.args(["run", "--profile", profile, "--interface", self.host(side).interface()]);
        command.args(&self.flags).arg("--").args(program);
        command.env("HAIRPIN_LOG", std::env::var("HAIRPIN_LOG").unwrap_or("fallback".into()));
        command
    }

    /// Starts a program.
    pub(super) fn start(&self, side: Side, program: &[&str]) -> Result<Process> {
        Process::start(self.host(side), self.command(side, program))
    }

    /// Starts a server, and waits until it listens on a TCP port.
    pub(super) fn serve(&self, program: &[&str], port: u16) -> Result<Process> {
        self.serve_by(self.command(Side::Server, program), Side::Server, "tcp", port)
    }

    /// Starts a server, and waits until it has bound a UDP port.
    pub(super) fn serve_udp(&self, program: &[&str], port: u16) -> Result<Process> {
        self.serve_by(self.command(Side::Server, program), Side::Server, "udp", port)
    }

    /// Starts a server that is never accelerated on a host.
    pub(super) fn serve_plain(&self, side: Side, program: &[&str], port: u16) -> Result<Process> {
        self.serve_by(plain(program), side, "tcp", port)
    }

    fn serve_by(&self, command: Command, side: Side, protocol: &str, port: u16) -> Result<Process> {
        let name = format!("{command:?}");
        let mut process = Process::start(self.host(side), command)?;
        let end = Instant::now() + LISTEN_TIMEOUT;
        while !self.is_bound(side, protocol, port)? {
            if !process.is_running() || Instant::now() > end {
                let Output { out, error } = process.stop("KILL")?;
                anyhow::bail!("does not listen on port {port}: {name}\n{out}{error}");
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(process)
    }

    fn is_bound(&self, side: Side, protocol: &str, port: u16) -> Result<bool> {
        let state = if protocol == "tcp" { LISTENING } else { UNCONNECTED };
        let read = || {
            let both = [protocol.to_owned(), format!("{protocol}6")];
            both.map(|table| {
                fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default()
            })
        };
        let tables = self.host(side).run(read)?.concat();
        let local = format!(":{port:04X}");
        Ok(tables.lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            fields.next().is_some_and(|field| field.ends_with(&local))
                && fields.nth(1) == Some(state)
        }))
    }

    /// Runs the client to its end. Returns its standard output.
    pub(super) fn run(&self, program: &[&str], seconds: u64) -> Result<String> {
        Ok(self.run_on(Side::Client, program, seconds)?.out)
    }

    /// Runs a program to its end.
    pub(super) fn run_on(&self, side: Side, program: &[&str], seconds: u64) -> Result<Output> {
        self.start(side, program)?.wait(Duration::from_secs(seconds))
    }

    /// Runs a program that is never accelerated on a host. Returns its standard output.
    pub(super) fn run_plain(&self, side: Side, program: &[&str], seconds: u64) -> Result<String> {
        let process = Process::start(self.host(side), plain(program))?;
        Ok(process.wait(Duration::from_secs(seconds))?.out)
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the core of a side that is pinned.
fn core(side: Side) -> &'static str {
    if side == Side::Server { "0" } else { "1" }
}

fn plain(program: &[&str]) -> Command {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]);
    command
}

/// Returns the number after `before` in a text.
pub(super) fn number_after(text: &str, before: &str) -> Result<f64> {
    let rest = text.split_once(before).map(|(_, rest)| rest.trim_start());
    let rest = rest.with_context(|| format!("no {before:?} in {text}"))?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    ensure!(end > 0, "no number after {before:?} in {text}");
    Ok(rest[..end].parse()?)
}
