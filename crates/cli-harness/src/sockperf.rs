//! sockperf, an independent program for round trips between two hosts.

use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::host_pair::{HostPair, Role};

/// The default port of sockperf.
const PORT: u16 = 11_111;

/// A measurement of round trips in a closed loop.
#[derive(Debug, Clone, Copy)]
pub struct PingPong {
    /// The server's address.
    pub address: Ipv4Addr,
    /// The message size in bytes, at least 14.
    pub size: usize,
    /// Messages travel over TCP, not UDP.
    pub is_tcp: bool,
    /// Both sides spin on non-blocking sockets.
    pub is_nonblocked: bool,
    /// The length of the measurement.
    pub seconds: u32,
}

impl PingPong {
    /// Returns the server's command line.
    pub fn server(&self) -> Vec<String> {
        self.words("server")
    }

    /// Returns the client's command line. The limit of the rate is above what any host reaches.
    pub fn client(&self) -> Vec<String> {
        let mut words = self.words("ping-pong");
        words.extend(["-m".to_owned(), self.size.to_string(), "--mps=3000000".to_owned()]);
        words.extend(["-t".to_owned(), self.seconds.to_string()]);
        words
    }

    fn words(&self, subcommand: &str) -> Vec<String> {
        let (address, port) = (self.address.to_string(), PORT.to_string());
        let mut words = vec!["sockperf", subcommand, "-i", &address, "-p", &port];
        words.extend(self.is_tcp.then_some("--tcp"));
        words.extend(self.is_nonblocked.then_some("--nonblocked"));
        words.into_iter().map(str::to_owned).collect()
    }
}

/// Returns a command of these words, pinned to a core.
pub fn pinned(core: Option<usize>, words: &[String]) -> Command {
    let Some(core) = core else {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        return command;
    };
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).args(words);
    command
}

/// Returns `true` if sockperf is installed or could be installed.
pub fn is_installed() -> bool {
    let runs = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let is_here = || runs("sockperf", &["--version"]);
    is_here()
        || (runs("apt-get", &["install", "-y", "--no-install-recommends", "sockperf"]) && is_here())
}

/// A server that ends with its round.
pub struct Server(Child);

impl Server {
    /// Starts a server on the pong's host and waits until it receives.
    ///
    /// # Errors
    /// It cannot be started, or ends, with the last line that it printed.
    pub fn start(hosts: &HostPair, mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = Self(hosts.start(Role::Pong, command).context("cannot start sockperf")?);
        let out = server.0.stdout.take().context("a child without standard output")?;
        let mut errors = server.0.stderr.take().context("a child without standard error")?;
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        if !lines.by_ref().any(|line| line.contains("to block on socket")) {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut errors, &mut text)?;
            let last = text.lines().last().unwrap_or("nothing");
            bail!("sockperf's server has ended; it printed: {last}");
        }
        std::thread::spawn(move || lines.for_each(drop));
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a client on the ping's host and returns what it printed.
///
/// # Errors
/// It cannot be started, or fails, with the last line that it printed.
pub fn output(hosts: &HostPair, mut command: Command) -> Result<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = hosts.start(Role::Ping, command).context("cannot start sockperf")?;
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let [text, errors] = [&text, &*errors].map(|all| all.lines().last().unwrap_or("nothing"));
        bail!("sockperf has failed ({}); it printed: {text}; errors: {errors}", output.status);
    }
    Ok(text)
}
