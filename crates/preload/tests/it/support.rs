//! Hosts, accelerated programs, and their counters.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hairpin_mapped::CounterPages;
use hairpin_testbed::{Host, Queues, Testbed};

/// The tests run one after another: a busy-polling program leaves others too little time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates two hosts with both families.
pub(crate) fn testbed(queues: u32) -> Testbed {
    let testbed = Testbed::builder().queues(Queues::pairs(queues)).ipv6().build().unwrap();
    for host in testbed.hosts() {
        let free = || std::fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "0");
        host.run(free).unwrap().unwrap();
    }
    testbed
}

/// Returns the library, which cargo builds next to this test.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.with_file_name("libhairpin_preload.so");
    assert!(path.exists(), "{} does not exist", path.display());
    path
}

/// Returns a command, accelerated if requested.
pub(crate) fn command(program: impl AsRef<OsStr>, accelerated: bool) -> Command {
    let mut command = Command::new(program);
    if accelerated {
        command
            .env("LD_PRELOAD", library())
            .env("HAIRPIN_INTERFACES", "veth0")
            .env("HAIRPIN_STRICT", "1")
            .env("HAIRPIN_LOG", "all");
    }
    command
}

/// Runs a command on a host to its end.
pub(crate) fn output(host: &Host, command: Command) -> Output {
    limited(host, command, 600)
}

/// Runs a command on a host to its end, which `seconds` limit.
pub(crate) fn limited(host: &Host, command: Command, seconds: u32) -> Output {
    // A hang ends the test, with what was printed before.
    let mut limited = Command::new("timeout");
    limited.arg(seconds.to_string()).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            limited.env(name, value);
        }
    }
    let mut command = limited;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    host.spawn(command, &[]).unwrap().wait_with_output().unwrap()
}

/// A C program of the folder `programs`, removed with this value.
pub(crate) struct Compiled(pub(crate) PathBuf);

impl Compiled {
    pub(crate) fn new(source: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let name = format!("{source}-{}", std::process::id());
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-Wall", "-Werror", "-o"]).arg(&program).arg(path);
        assert!(compiler.args(["-ldl", "-lrt", "-lpthread"]).status().unwrap().success());
        Self(program)
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A program that ends with its test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a counter of an accelerated process.
pub(crate) fn counter(process: u32, name: &str) -> u64 {
    let pages = CounterPages::find().unwrap();
    let pages = pages.found.iter().filter(|found| found.process == process);
    for page in pages.filter_map(|found| found.page.as_ref().ok()) {
        let metrics = page.metrics().iter().position(|metric| metric.name == name);
        if let Some(at) = metrics {
            return page.values().nth(at).unwrap();
        }
    }
    panic!("process {process} has no counter {name}");
}

/// Returns all counters of an accelerated process that are not zero, for messages.
pub(crate) fn counters(process: u32) -> String {
    let pages = CounterPages::find().unwrap();
    let pages = pages.found.iter().filter(|found| found.process == process);
    let pages = pages.filter_map(|found| found.page.as_ref().ok());
    let values = pages.flat_map(|page| {
        let all = page.metrics().iter().zip(page.values());
        let counted = all.filter(|(_, value)| *value != 0);
        counted.map(|(metric, value)| format!("{} {value}", metric.name)).collect::<Vec<_>>()
    });
    values.collect::<Vec<_>>().join(", ")
}

/// Returns the path of an installed program; `None` with a line that the test is skipped.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let found = ["/usr/bin", "/usr/sbin", "/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(program))
        .find(|path| path.exists());
    if found.is_none() {
        println!("skipped: {program} is not installed");
    }
    found
}

/// Answers each message over TCP and UDP with its copy, until the test ends.
pub(crate) fn echo(host: &Host) -> u16 {
    let address = host.address();
    let (listener, datagrams) = host
        .run(|| {
            let listener = TcpListener::bind((address, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            (listener, UdpSocket::bind((address, port)).unwrap())
        })
        .unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut bytes = [0; 2_048];
        while let Ok((length, from)) = datagrams.recv_from(&mut bytes) {
            let _ = datagrams.send_to(&bytes[..length], from);
        }
    });
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 2_048];
                while let Ok(length @ 1..) = stream.read(&mut bytes) {
                    if stream.write_all(&bytes[..length]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

/// Long enough that what has not happened never will, on a machine that does other work.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// Polls until the condition holds, for a limited time.
pub(crate) fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > TIMEOUT {
            return false;
        }
        pause(5);
    }
    true
}

/// Waits until a host has a socket that listens at a port, or is bound to it for UDP.
pub(crate) fn wait_for_port(host: &Host, port: u16) {
    let read = |file: &'static str| {
        let read = move || std::fs::read_to_string(format!("/proc/thread-self/net/{file}"));
        host.run(read).unwrap().unwrap_or_default()
    };
    let local = format!(":{port:04X}");
    let is_bound = |file, state: &str| {
        read(file).lines().any(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            words.len() > 3 && words[1].ends_with(&local) && words[3].ends_with(state)
        })
    };
    // 0A is LISTEN; a UDP socket has another state.
    let has_port = || {
        ["tcp", "tcp6"].into_iter().any(|file| is_bound(file, "0A"))
            || ["udp", "udp6"].into_iter().any(|file| is_bound(file, ""))
    };
    assert!(eventually(has_port), "no socket has port {port}");
}

/// Returns counters once they no longer change: the page is written at most a second later.
pub(crate) fn settled<T: PartialEq>(mut read: impl FnMut() -> T) -> T {
    let mut last = read();
    loop {
        pause(1_200);
        let now = read();
        if now == last {
            return now;
        }
        last = now;
    }
}

/// Sleeps for a while that a test cannot replace by an event.
pub(crate) fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Sends a signal to a process of this test.
pub(crate) fn interrupt(child: &Child) -> io::Result<()> {
    // SAFETY: the call takes integers; the child has not been waited for.
    match unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
