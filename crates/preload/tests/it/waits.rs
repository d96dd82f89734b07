//! Sleeping threads of an accelerated program: which are woken, and what they cost.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hairpin_mapped::CounterPages;
use hairpin_testbed::Host;

use crate::support::{
    Running, alone, command, counter, counters, echo, eventually, installed, output, pause, testbed,
};

fn program(name: &str, host: &Host) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let mut python = command("/usr/bin/python3", true);
    python.arg("-u").arg(path).arg(host.address().to_string()).env("HAIRPIN_LOG", "off");
    python.stdout(Stdio::piped());
    python
}

fn start(host: &Host, command: Command) -> (Running, BufReader<std::process::ChildStdout>) {
    let mut program = Running(host.spawn(command, &[]).unwrap());
    let lines = BufReader::new(program.0.stdout.take().unwrap());
    (program, lines)
}

fn line(lines: &mut impl BufRead) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// The datagrams that the owner of a socket receives in each batch.
const DATAGRAMS: u32 = 400;
/// The batches. The one with the fewest sleeps counts: a busy machine wakes sleepers more often.
const BATCHES: u32 = 10;

#[test]
#[ignore = "needs root"]
fn frame_wakes_one_sleeper_and_the_owner() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let mut python = program("sleepers.py", host);
    python.arg(BATCHES.to_string()).env("HAIRPIN_PROFILE", "safe");
    let (_program, mut lines) = start(host, python);
    assert_eq!(line(&mut lines), "ready");
    let peer = other.run(|| UdpSocket::bind((other.address(), 0))).unwrap().unwrap();
    let mut fewest = u32::MAX;
    for _ in 0..BATCHES {
        for number in 0..DATAGRAMS {
            peer.send_to(&number.to_be_bytes(), (host.address(), 5_000)).unwrap();
            // The others sleep again.
            std::thread::sleep(Duration::from_micros(500));
        }
        peer.send_to(b"end", (host.address(), 5_000)).unwrap();
        let counted = line(&mut lines);
        println!("{counted}");
        let values: Vec<u32> =
            counted.split(' ').skip(1).map(|value| value.parse().unwrap()).collect();
        let [received, sleeps] = values[..] else { panic!("{counted}") };
        assert_eq!(received, DATAGRAMS - 1, "{counted}");
        fewest = fewest.min(sleeps);
    }
    // Three sleepers woken by each frame sleep three times as often as there are frames. A frame
    // wakes one, and the owner wakes at most one more, to pass the watch on.
    assert!(fewest < DATAGRAMS * 2, "{fewest} sleeps");
    // The others are woken by their own.
    for port in 5_001..5_004 {
        peer.send_to(b"own", (host.address(), port)).unwrap();
    }
    assert_eq!(line(&mut lines), "received [b'own', b'own', b'own']");
}

/// Returns a processor that this process may use.
fn processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split(['-', ',']).next().unwrap().to_owned()
}

/// The ms that a thread has run, and has waited, which has been there for long.
const LONG_AGO: [u64; 2] = [1_000_000, 0];

/// Returns a line of schedstat: the ms that a thread has run and has waited for a core.
fn times([ran, waited]: [u64; 2]) -> String {
    format!("{ran:09}000000 {waited:09}000000 9\n")
}

/// What a program reads of the machine: it is as full as the test wants.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    /// Creates a machine on which the program has waited for a core for so many ms, or on which the
    /// kernel does not count this time.
    fn new(load: &str, waited: Option<u64>) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        machine.set_load(load);
        machine.set_times(&waited.map_or(String::new(), |waited| times([100, waited])));
        machine
    }

    fn set_times(&self, times: &str) {
        std::fs::write(self.file("schedstat"), times).unwrap();
    }

    /// Lets the program run and wait for a core for so many ms each, until it is done.
    fn share_core(&self, is_done: impl Fn() -> bool) {
        let file = std::fs::File::options().write(true).open(self.file("schedstat")).unwrap();
        let mut now = LONG_AGO;
        eventually(|| {
            now = now.map(|time: u64| time + 5);
            file.write_all_at(times(now).as_bytes(), 0).unwrap();
            is_done()
        });
    }

    fn set_load(&self, load: &str) {
        std::fs::write(self.file("loadavg"), load).unwrap();
    }

    /// Stops counting the time, so that each loss of the core counts.
    fn stop_counting(&self) {
        self.set_times("");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Returns the command of an echo client with profile auto on one core of this machine, in a mount
/// namespace of its own.
fn crowded_client(machine: &Machine, processor: &str, server: (Ipv4Addr, u16)) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/crowded.py");
    let mut client = command("unshare", true);
    let mount = "mount --bind \"$1\" /proc/loadavg && \
                 mount --bind \"$2\" /proc/$$/task/$$/schedstat && shift 2 && exec \"$@\"";
    client.args(["--mount", "sh", "-c", mount, "sh"]);
    client.args(["loadavg", "schedstat"].map(|name| machine.file(name)));
    client.args(["taskset", "-c", processor, "/usr/bin/python3"]).arg(script);
    client.args([server.0.to_string(), server.1.to_string()]);
    client.env("HAIRPIN_PROFILE", "auto").env("HAIRPIN_STRICT", "0");
    client
}

const QUIET: &str = "0.00 0.00 0.00 1/99 4711\n";
const FULL: &str = "0.00 0.00 0.00 90000/99999 4711\n";

/// A connection goes to the kernel while another program computes on the only core, and is taken
/// over again afterwards.
#[test]
#[ignore = "needs root"]
fn crowded_core_leaves_connections_to_the_kernel() {
    let _alone = alone();
    if installed("python3").is_none() || installed("taskset").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, peer] = testbed.hosts();
    let (port, processor) = (echo(peer), processor());
    let machine = Machine::new(QUIET, Some(1));
    let client = crowded_client(&machine, &processor, (peer.address(), port));
    let mut client = Running(host.spawn(client, &[]).unwrap());
    let id = client.0.id();
    let of = |name| move || counter(id, name);
    assert!(eventually(|| CounterPages::find().unwrap().found.iter().any(|it| it.process == id)));
    let [taken_over, crowded] = [of("connections.taken_over"), of("handbacks.crowded")];
    assert!(eventually(|| taken_over() > 0), "{}", counters(id));
    let mut busy = command("taskset", false);
    busy.args(["-c", &processor, "sh", "-c", "while :; do :; done"]);
    let busy = Running(busy.spawn().unwrap());
    machine.stop_counting();
    assert!(eventually(|| crowded() > 0), "{}", counters(id));
    let kernel = of("tcp.received_kernel");
    let before = kernel();
    assert!(eventually(|| kernel() > before), "{}", counters(id));
    drop(busy);
    let before = taken_over();
    assert!(eventually(|| taken_over() > before), "{}", counters(id));
    assert_eq!(client.0.try_wait().unwrap(), None);
}

/// A program that begins on a full machine, or has waited for a core, leaves its connection to the
/// kernel, and the interface alone, until fewer threads run than there are processors.
#[test]
#[ignore = "needs root"]
fn full_machine_leaves_connections_to_the_kernel_from_the_start() {
    let _alone = alone();
    if installed("python3").is_none() || installed("taskset").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, peer] = testbed.hosts();
    let (port, processor) = (echo(peer), processor());
    let server = (peer.address(), port);
    let starts = |machine: &Machine| {
        let log = machine.file("log");
        let mut client = crowded_client(machine, &processor, server);
        client.stderr(std::fs::File::create(&log).unwrap());
        let client = Running(host.spawn(client, &[]).unwrap());
        (client, move || std::fs::read_to_string(&log).unwrap())
    };
    let has_page = |id| CounterPages::find().unwrap().found.iter().any(|it| it.process == id);
    let is_taken_over = |id| has_page(id) && counter(id, "connections.taken_over") > 0;
    let text = "no processor is free";
    // As many threads run at this moment as there are processors, or fewer, and this one has waited
    // for a core for long, or not, or the kernel does not count it.
    let processors = Command::new("getconf").arg("_NPROCESSORS_ONLN").output().unwrap().stdout;
    let none_free =
        format!("0.00 0.00 0.00 {}/99 4711\n", String::from_utf8(processors).unwrap().trim());
    for (load, waited, is_crowded) in [
        (&*none_free, Some(26), true),
        (&none_free, Some(24), false),
        (&none_free, None, false),
        (QUIET, Some(26), none_free.contains(" 1/")),
    ] {
        let machine = Machine::new(load, waited);
        let (client, lines) = starts(&machine);
        assert!(eventually(|| is_taken_over(client.0.id())), "{waited:?} {}", lines());
        assert_eq!(lines().contains(text), is_crowded, "{waited:?} {}", lines());
    }
    // At first the thread has not waited; from then on it waits as long as it runs.
    let machine = Machine::new(&none_free, None);
    machine.set_times(&times(LONG_AGO));
    let (client, lines) = starts(&machine);
    machine.share_core(|| lines().contains(text));
    assert!(lines().contains(text) && !has_page(client.0.id()), "{}", lines());
    drop(client);
    let machine = Machine::new(FULL, Some(1));
    let (client, lines) = starts(&machine);
    assert!(eventually(|| lines().contains(text)), "{}", lines());
    assert!(!has_page(client.0.id()), "{}", lines());
    machine.set_load(QUIET);
    assert!(eventually(|| is_taken_over(client.0.id())), "{}", lines());
}

/// epoll_wait(2) works on a kernel without epoll_pwait2(2), such as that of Debian 11.
#[test]
#[ignore = "needs root"]
fn epoll_wait_needs_no_newer_call() {
    const SCRIPT: &str = "
import select, socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
epoll = select.epoll()
epoll.register(connection, select.EPOLLIN)
for number in range(200):
    connection.send(number.to_bytes(8, 'big'))
    answer = b''
    while len(answer) < 8:
        epoll.poll(None if number % 2 else 30)
        answer += connection.recv(8 - len(answer))
    assert answer == number.to_bytes(8, 'big')
assert epoll.poll(0.02) == []
print('done')
";
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, peer] = testbed.hosts();
    let port = echo(peer).to_string();
    let wrapper = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/old_kernel.py");
    let mut client = command("/usr/bin/python3", true);
    let preloaded = client.get_envs().find(|(name, _)| *name == "LD_PRELOAD");
    let library = preloaded.and_then(|(_, value)| value).unwrap().to_owned();
    client.env_remove("LD_PRELOAD").env("PRELOADED", library).env("HAIRPIN_STRICT", "0");
    client.arg(wrapper).args(["/usr/bin/python3", "-c", SCRIPT]);
    client.args([peer.address().to_string(), port]);
    let output = output(host, client);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&output.stdout), "done\n", "{}", text(&output.stderr));
}

/// Returns the time that the threads of a process have run, in nanoseconds.
fn cpu_time(process: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let time = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    tasks.filter_map(time).sum()
}

#[test]
#[ignore = "needs root"]
fn idle_program_uses_no_cpu_once_its_budget_is_spent() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    for profile in ["safe", "latency"] {
        let mut python = program("idle.py", host);
        python.env("HAIRPIN_PROFILE", profile);
        let (program, mut lines) = start(host, python);
        assert_eq!(line(&mut lines), "waiting");
        // On a busy machine it takes some time until the budgets of five threads are spent.
        let mut share = 1.0;
        let is_idle = || {
            let (begin, before) = (Instant::now(), cpu_time(program.0.id()));
            pause(2_000);
            let used = cpu_time(program.0.id()) - before;
            share = used as f64 / begin.elapsed().as_nanos() as f64;
            before > 0 && share < 0.02
        };
        assert!(eventually(is_idle), "{profile}: {:.1} % of a core", share * 100.0);
        println!("{profile}: {:.3} % of a core", share * 100.0);
    }
}
