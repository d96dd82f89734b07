//! Kills programs of `hairpin run`, and keepers: the peer receives what `send` has accepted, and
//! then EOF or RST.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hairpin_testbed::{Capability, Testbed, become_ordinary_user, scaled};
use nix::sys::signal::Signal;
use socket2::{SockRef, TcpKeepalive};

use crate::support::{hairpin, turn};

const PORT: u16 = 7_800;
/// The program becomes an ordinary user, who may not bind this port, when it listens.
const LOW_PORT: u16 = 80;
/// The variable that identifies the processes of a run.
const VARIABLE: &str = "HAIRPIN_TEST_RUN";
/// A peer without an answer for this long waits without limit.
const SILENCE: Duration = Duration::from_secs(60);
/// A slower end is printed.
const SLOW: Duration = Duration::from_millis(200);
/// Starts a program after each usual way to let it inherit no descriptor.
const CLOSING: &str = "
import fcntl, os, subprocess, sys
for fd in map(int, os.listdir('/proc/self/fd')):
    for mark in (lambda: os.set_inheritable(fd, False), lambda: fcntl.fcntl(fd, fcntl.F_SETFD, 1)):
        try:
            fd < 3 or mark()
        except OSError:
            pass
subprocess.call(sys.argv[1:])
";
const MESSAGE: usize = 64;

/// The end of the peer's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Eof,
    Reset,
}

/// A run of `kept.py` and the peer's connection.
struct Run {
    name: String,
    program: Child,
    peer: TcpStream,
    record: PathBuf,
    log: PathBuf,
    received: u64,
}

struct Ground {
    testbed: Testbed,
    folder: tempfile::TempDir,
    runs: u32,
    /// `false`: the runs are those of an ordinary user with the capabilities.
    is_root: bool,
    port: u16,
}

fn pattern(position: u64) -> u8 {
    ((position / 4) as u32).to_be_bytes()[(position % 4) as usize]
}

impl Ground {
    fn new() -> Self {
        let testbed = Testbed::namespaces().unwrap();
        Self { testbed, folder: tempfile::tempdir().unwrap(), runs: 0, is_root: true, port: PORT }
    }

    /// Returns the command and the script, in a folder that an ordinary user may search.
    fn command(&self) -> (Command, PathBuf) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kept.py");
        if self.is_root {
            return (hairpin(), script);
        }
        let folder = self.folder.path();
        let files = [Path::new(env!("CARGO_BIN_EXE_hairpin")), &script];
        let [command, script] = files.map(|file| {
            let copy = folder.join(file.file_name().unwrap());
            fs::copy(file, &copy).unwrap();
            copy
        });
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(command);
        command.current_dir("/").stdin(Stdio::null());
        (command, script)
    }

    fn spawn(&self, mut command: Command) -> Child {
        let [host, _] = self.testbed.hosts();
        if self.is_root {
            return host.spawn(command, &[]).unwrap();
        }
        let start = || {
            let needed = [Capability::NetAdmin, Capability::NetRaw, Capability::Bpf];
            become_ordinary_user(&needed).unwrap();
            command.spawn().unwrap()
        };
        host.run(start).unwrap()
    }

    /// Starts a run and exchanges the first messages. `wrapped`: the program is a child of another
    /// one, which passes no descriptor but the first three.
    fn start(&mut self, role: &str, behavior: &str, wrapped: bool) -> Run {
        self.runs += 1;
        let name = format!("{}-{}", std::process::id(), self.runs);
        let path = |kind: &str| self.folder.path().join(format!("{kind}-{}", self.runs));
        let (record, log) = (path("record"), path("log"));
        fs::write(&record, [0; 8]).unwrap();
        fs::set_permissions(&record, fs::Permissions::from_mode(0o666)).unwrap();
        let [host, other] = self.testbed.hosts();
        let is_server = role == "accept";
        let address = SocketAddr::from((if is_server { host } else { other }.address(), self.port));
        let listener =
            (!is_server).then(|| other.run(|| TcpListener::bind(address)).unwrap().unwrap());
        let (mut command, script) = self.command();
        command.args(["run", "--strict", "--interface", host.interface()]);
        if self.port == LOW_PORT {
            command.args(["--user", "65534"]);
        }
        command.arg("--");
        if wrapped {
            command.args(["/usr/bin/python3", "-S", "-E", "-c", CLOSING]);
        }
        command.args(["/usr/bin/python3", "-S", "-E"]).arg(script);
        command
            .args([role, &address.ip().to_string(), &self.port.to_string(), behavior])
            .arg(&record);
        command.env("HAIRPIN_LOG", "all").env(VARIABLE, &name);
        command.stdout(Stdio::piped()).stderr(fs::File::create(&log).unwrap());
        let mut program = self.spawn(command);
        let peer = match listener {
            Some(listener) => listener.accept().unwrap().0,
            None => {
                let mut line = String::new();
                let mut output = BufReader::new(program.stdout.take().unwrap());
                output.read_line(&mut line).unwrap();
                assert_eq!(line, "listening\n", "{}", fs::read_to_string(&log).unwrap());
                other.run(|| TcpStream::connect(address)).unwrap().unwrap()
            }
        };
        peer.set_nodelay(true).unwrap();
        peer.set_read_timeout(Some(SILENCE)).unwrap();
        let mut run = Run { name, program, peer, record, log, received: 0 };
        for _ in 0..8 {
            run.exchange().expect("the first messages");
        }
        run
    }
}

impl Run {
    /// Sends a request and receives the answer.
    fn exchange(&mut self) -> Result<(), End> {
        let _ = self.peer.write_all(&[0; MESSAGE]);
        self.receive(MESSAGE as u64)
    }

    /// Receives `length` bytes and checks them by position.
    fn receive(&mut self, length: u64) -> Result<(), End> {
        let until = self.received.saturating_add(length);
        let mut buffer = vec![0; 64 << 10];
        while self.received < until {
            let most = (until - self.received).min(buffer.len() as u64) as usize;
            match self.peer.read(&mut buffer[..most]) {
                Ok(0) => return Err(End::Eof),
                Ok(count) => {
                    let at = self.received;
                    let wrong = (0..count).find(|it| buffer[*it] != pattern(at + *it as u64));
                    assert_eq!(wrong, None, "a wrong byte after {at}");
                    self.received += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Err(End::Reset),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    panic!("silence after {} bytes: {error}\n{}", self.received, self.log())
                }
            }
        }
        Ok(())
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Returns `true` if the connection was taken over when the program ended.
    fn was_bypassing(&self) -> bool {
        let log = self.log();
        let last = |text| log.rfind(text).map_or(0, |at| at + 1);
        last("is taken over") > last("returns to the kernel")
    }

    /// Returns the running processes of the run with this name.
    fn processes(&self, command: &str) -> Vec<i32> {
        let variable = format!("{VARIABLE}={}", self.name);
        let is_of_run = |process: &i32| {
            let read = |file: &str| fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
            let variables = read("environ");
            read("comm").starts_with(command.as_bytes())
                && variables.split(|byte| *byte == 0).any(|it| it == variable.as_bytes())
        };
        let folders = fs::read_dir("/proc").unwrap().flatten();
        let numbers = folders.filter_map(|it| it.file_name().to_str()?.parse().ok());
        numbers.filter(is_of_run).collect()
    }

    /// Returns the two processes with this name, the parent first. Its number is the higher one if
    /// the kernel's numbers began again in between.
    fn parent_and_child(&self, command: &str) -> [i32; 2] {
        let found = self.processes(command);
        let parent = |process: &i32| {
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
            status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
        };
        let child = found.iter().find(|it| parent(it).is_some_and(|it| found.contains(&it)));
        let child = *child.expect("a child of a process with the same name");
        let parent = found.iter().find(|it| **it != child);
        assert_eq!(found.len(), 2);
        [*parent.unwrap(), child]
    }

    /// Returns the keepers: the process that replaces the other, and the one that serves.
    fn keepers(&self) -> [i32; 2] {
        self.parent_and_child("hairpin-keeper")
    }

    /// Receives to the end. Returns it, and checks that nothing that was accepted is missing.
    fn expect_end(&mut self) -> End {
        let end = self.receive(u64::MAX).unwrap_err();
        let record = fs::read(&self.record).unwrap();
        let accepted = u64::from_ne_bytes(record.try_into().unwrap());
        let received = self.received;
        assert!(received >= accepted, "{received} of {accepted} bytes\n{}", self.log());
        end
    }

    /// Waits until no process of the run is left.
    fn expect_no_process(&mut self) {
        let _ = self.program.wait();
        let until = Instant::now() + SILENCE;
        while !self.processes("").is_empty() {
            assert!(Instant::now() < until, "processes are left: {:?}", self.processes(""));
            sleep(Duration::from_millis(2));
        }
    }
}

fn kill(process: i32) {
    signal(process, Signal::SIGKILL);
}

fn signal(process: i32, signal: Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), signal).unwrap();
}

/// Kills a program in the middle of its work. Returns the end that the peer sees, the time until
/// then, and `true` if the connection was taken over.
fn kill_at_work(ground: &mut Ground, number: u32) -> (End, Duration, bool) {
    let role = ["accept", "connect"][number as usize % 2];
    let behavior = ["echo", "push", "sleep"][number as usize / 2 % 3];
    let wrapped = number % 5 == 4;
    let mut run = ground.start(role, behavior, wrapped);
    let pause = Duration::from_micros(u64::from(number) * 7_919 % 40_000);
    let until = Instant::now() + pause;
    match behavior {
        "echo" => {
            while Instant::now() < until {
                run.exchange().unwrap();
            }
            // The last request is in flight or answered.
            let _ = run.peer.write_all(&[0; MESSAGE]);
        }
        "push" => {
            while Instant::now() < until {
                run.receive(10_000).unwrap();
            }
        }
        _ => {
            run.peer.write_all(&[0; 10 * MESSAGE]).unwrap();
            // The program sleeps; its stack receives the bytes meanwhile.
            sleep(pause + Duration::from_millis(50));
        }
    }
    let program =
        if wrapped { run.parent_and_child("python3")[1] } else { run.program.id() as i32 };
    kill(program);
    let begin = Instant::now();
    let end = run.expect_end();
    let passed = begin.elapsed();
    let bypassing = run.was_bypassing();
    run.expect_no_process();
    (end, passed, bypassing)
}

#[test]
#[ignore = "needs root"]
fn killed_program_sends_all_and_closes() {
    let _turn = turn();
    let mut ground = Ground::new();
    let (mut bypassing, mut ends, mut longest) = (0, [0, 0], Duration::ZERO);
    let count = scaled(20) as u32;
    for number in 0..count {
        let (end, passed, was_bypassing) = kill_at_work(&mut ground, number);
        bypassing += u32::from(was_bypassing);
        ends[usize::from(end == End::Reset)] += 1;
        longest = longest.max(passed);
        if passed > SLOW {
            println!("kill {number}: {end:?} after {passed:?}");
        }
    }
    let [eof, reset] = ends;
    println!("{count} kills, {bypassing} while taken over: {eof} EOF, {reset} RST");
    println!("longest time until the end: {longest:?}");
    assert!(bypassing * 2 > count && eof > 0 && reset > 0);
}

/// The peer asks after 2 s of silence, and gives up after 3 s without an answer.
#[test]
#[ignore = "needs root"]
fn stopped_program_keeps_its_connection() {
    const STOPPED: Duration = Duration::from_secs(8);
    let _turn = turn();
    let mut ground = Ground::new();
    for role in ["accept", "connect"] {
        let mut run = ground.start(role, "echo", false);
        (0..100).for_each(|_| run.exchange().unwrap());
        assert!(run.was_bypassing(), "{}", run.log());
        let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(2));
        let keepalive = keepalive.with_interval(Duration::from_secs(1)).with_retries(3);
        SockRef::from(&run.peer).set_tcp_keepalive(&keepalive).unwrap();
        let program = run.program.id() as i32;
        signal(program, Signal::SIGSTOP);
        run.peer.set_read_timeout(Some(STOPPED)).unwrap();
        let error = run.peer.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock, "{role}: {error}");
        // What arrives meanwhile is answered afterwards.
        run.peer.write_all(&[0; MESSAGE]).unwrap();
        signal(program, Signal::SIGCONT);
        run.peer.set_read_timeout(Some(SILENCE)).unwrap();
        run.receive(MESSAGE as u64).unwrap();
        (0..100).for_each(|_| run.exchange().unwrap());
        kill(program);
        run.expect_end();
        run.expect_no_process();
    }
}

/// Works for a random time, and kills the keepers then: the process that serves, the one that
/// replaces it, or both. Returns the log.
fn kill_keeper_at_work(ground: &mut Ground, number: u32) -> String {
    let role = ["accept", "connect"][number as usize % 2];
    let victims = number % 3;
    let mut run = ground.start(role, "echo", false);
    let until = Instant::now() + Duration::from_micros(u64::from(number) * 7_919 % 40_000);
    while Instant::now() < until {
        run.exchange().unwrap();
    }
    let [spare, server] = run.keepers();
    if victims != 0 {
        kill(spare);
    }
    if victims != 1 {
        kill(server);
    }
    for _ in 0..100 {
        run.exchange().unwrap();
    }
    if victims == 1 {
        // The keeper itself still serves.
        kill(run.program.id() as i32);
    } else {
        // The line is printed at most a second later.
        let until = Instant::now() + SILENCE;
        while !run.log().contains("the keeper has ended: TCP continues") && Instant::now() < until {
            sleep(Duration::from_millis(5));
        }
        // The program ends when its peer has closed its half.
        run.peer.shutdown(std::net::Shutdown::Write).unwrap();
    }
    let end = run.expect_end();
    let log = run.log();
    assert_eq!(end, [End::Eof, End::Eof, End::Reset][victims as usize], "{log}");
    let lines = usize::from(victims != 1);
    assert_eq!(log.matches("the keeper has ended: TCP continues").count(), lines, "{log}");
    assert_eq!(log.contains("1 connections stay taken over"), victims == 2, "{log}");
    assert!(victims != 0 || !run.was_bypassing(), "{log}");
    run.expect_no_process();
    log
}

#[test]
#[ignore = "needs root"]
fn killed_keeper_leaves_the_program_to_the_kernel() {
    let _turn = turn();
    let mut ground = Ground::new();
    let count = scaled(6) as u32;
    for number in 0..count {
        kill_keeper_at_work(&mut ground, number);
    }
    println!("{count} keepers killed, every byte received");
}

/// The peer waits then, as docs/design/tcp.md says, but nothing is left on this host.
#[test]
#[ignore = "needs root"]
fn program_and_keeper_killed_at_once_leave_port_and_interface_free() {
    let _turn = turn();
    let mut ground = Ground::new();
    for number in 0..scaled(3) {
        let role = ["accept", "connect"][number as usize % 2];
        let mut run = ground.start(role, "echo", false);
        run.exchange().unwrap();
        let [spare, server] = run.keepers();
        [spare, server, run.program.id() as i32].into_iter().for_each(kill);
        run.expect_no_process();
        let mut next = ground.start(role, "echo", false);
        next.exchange().unwrap();
        assert!(next.log().contains("is taken over"), "{}", next.log());
        kill(next.program.id() as i32);
        next.expect_end();
        next.expect_no_process();
    }
}

/// Returns a set of capabilities of a process, by its name in proc(5).
fn capabilities(process: i32, set: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
    u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
}

#[test]
#[ignore = "needs root"]
fn keeper_has_the_capabilities_and_the_program_has_none() {
    /// `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_BPF`.
    const DROPPED: u64 = 1 << 12 | 1 << 13 | 1 << 39;
    let _turn = turn();
    let mut ground = Ground::new();
    for (is_root, port) in [(true, PORT), (false, PORT), (true, LOW_PORT)] {
        (ground.is_root, ground.port) = (is_root, port);
        let role = if port == PORT { "connect" } else { "accept" };
        let mut run = ground.start(role, "echo", false);
        run.exchange().unwrap();
        let log = run.log();
        assert!(log.contains("is taken over"), "{log}");
        let program = run.program.id() as i32;
        let sets = ["CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd"];
        for set in &sets[..if is_root { 5 } else { 4 }] {
            let has = capabilities(program, set);
            assert_eq!(has & DROPPED, 0, "{set}");
            assert!(is_root || has == 0, "{set} {has:x}");
        }
        // Root's program keeps the others.
        assert_eq!(capabilities(program, "CapEff") != 0, is_root && port == PORT);
        for keeper in run.keepers() {
            assert_eq!(capabilities(keeper, "CapEff") & DROPPED, DROPPED);
        }
        // A handback requires the keeper.
        run.peer.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(run.expect_end(), End::Eof, "{log}");
        assert!(!run.was_bypassing(), "{}", run.log());
        run.expect_no_process();
    }
}
