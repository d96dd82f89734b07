//! Kills programs of `hairpin run`, and keepers: the peer receives what `send` has accepted, and
//! then EOF or RST.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hairpin_testbed::{Testbed, scaled};

use crate::support::{hairpin, turn};

const PORT: u16 = 7_800;
/// The variable that identifies the processes of a run.
const VARIABLE: &str = "HAIRPIN_TEST_RUN";
/// A peer without an answer for this long waits without limit.
const SILENCE: Duration = Duration::from_secs(5);
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
}

fn pattern(position: u64) -> u8 {
    ((position / 4) as u32).to_be_bytes()[(position % 4) as usize]
}

impl Ground {
    fn new() -> Self {
        let testbed = Testbed::namespaces().unwrap();
        Self { testbed, folder: tempfile::tempdir().unwrap(), runs: 0 }
    }

    /// Starts a run and exchanges the first messages. `wrapped`: the program is a child of a shell.
    fn start(&mut self, role: &str, behavior: &str, wrapped: bool) -> Run {
        self.runs += 1;
        let name = format!("{}-{}", std::process::id(), self.runs);
        let path = |kind: &str| self.folder.path().join(format!("{kind}-{}", self.runs));
        let (record, log) = (path("record"), path("log"));
        fs::write(&record, [0; 8]).unwrap();
        let [host, other] = self.testbed.hosts();
        let is_server = role == "accept";
        let address = SocketAddr::from((if is_server { host } else { other }.address(), PORT));
        let listener =
            (!is_server).then(|| other.run(|| TcpListener::bind(address)).unwrap().unwrap());
        let mut command = hairpin();
        command.args(["run", "--strict", "--interface", host.interface(), "--"]);
        if wrapped {
            command.args(["/bin/sh", "-c", "\"$@\" & wait", "sh"]);
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kept.py");
        command.args(["/usr/bin/python3", "-S", "-E"]).arg(script);
        command.args([role, &address.ip().to_string(), &PORT.to_string(), behavior]).arg(&record);
        command.env("HAIRPIN_LOG", "all").env(VARIABLE, &name);
        command.stdout(Stdio::piped()).stderr(fs::File::create(&log).unwrap());
        let mut program = host.spawn(command, &[]).unwrap();
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
    let process = nix::unistd::Pid::from_raw(process);
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL).unwrap();
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
    let program = if wrapped { run.processes("python3")[0] } else { run.program.id() as i32 };
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
    }
    let [eof, reset] = ends;
    println!("{count} kills, {bypassing} while taken over: {eof} EOF, {reset} RST");
    println!("longest time until the end: {longest:?}");
    assert!(bypassing * 2 > count && eof > 0 && reset > 0);
}

#[test]
#[ignore = "needs root"]
fn killed_keeper_leaves_the_program_to_the_kernel() {
    let _turn = turn();
    let mut ground = Ground::new();
    for number in 0..scaled(3) {
        let role = ["accept", "connect"][number as usize % 2];
        let mut run = ground.start(role, "echo", false);
        run.exchange().unwrap();
        let keepers = run.processes("hairpin-keeper");
        assert_eq!(keepers.len(), 1);
        kill(keepers[0]);
        for _ in 0..100 {
            run.exchange().unwrap();
        }
        // The line is printed at most a second later.
        let until = Instant::now() + SILENCE;
        while !run.log().contains("the keeper has ended: TCP continues") && Instant::now() < until {
            sleep(Duration::from_millis(5));
        }
        let log = run.log();
        assert_eq!(log.matches("the keeper has ended: TCP continues").count(), 1, "{log}");
        assert!(!run.was_bypassing(), "{log}");
        kill(run.program.id() as i32);
        assert_eq!(run.expect_end(), End::Eof);
        run.expect_no_process();
    }
}
