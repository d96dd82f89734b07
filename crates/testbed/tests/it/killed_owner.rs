//! The death of the process that owns a testbed with a relay and children, as root.
//!
//! The owner is a copy of this program. Its processes are identified by a variable in their
//! environment. Its namespaces are listed while it is stopped.
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{
    Chance, Delay, Direction, Faults, Offloads, Queues, RelaySettings, Testbed, eventually,
};

/// The environment variable of the owner and its children. The value identifies the owner.
const OWNER: &str = "HAIRPIN_TESTBED_DEATH";
const MS: Duration = Duration::from_millis(1);

/// The time at which the owner is killed.
#[derive(Debug, Clone, Copy)]
enum KillTime {
    /// This long after the start.
    AfterStart(Duration),
    /// This long after the owner printed a line.
    AfterLine(&'static str, Duration),
}

const BUILT: &str = "built";
const BUSY: &str = "busy";

fn kill_times() -> impl Iterator<Item = KillTime> {
    let after = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 80, 120, 200];
    let built = [0, 1, 2, 5].map(|ms| KillTime::AfterLine(BUILT, MS * ms));
    let busy = [0, 1, 3, 10, 50].map(|ms| KillTime::AfterLine(BUSY, MS * ms));
    after.into_iter().map(|ms| KillTime::AfterStart(MS * ms)).chain(built).chain(busy)
}

fn entries(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Returns the folders in /proc of all live processes with the mark.
fn marked(mark: &str) -> Vec<PathBuf> {
    let variable = format!("{OWNER}={mark}");
    let is_marked = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
    };
    entries("/proc".into()).filter(is_marked).collect()
}

/// Returns the network namespaces of a process's threads and open descriptors.
fn namespaces_of(process: PathBuf) -> impl Iterator<Item = String> {
    let threads = entries(process.join("task")).map(|task| task.join("ns/net"));
    threads
        .chain(entries(process.join("fd")))
        .filter_map(|link| fs::read_link(link).ok())
        .map(|target| target.display().to_string())
        .filter(|target| target.starts_with("net:["))
}

fn all_namespaces() -> BTreeSet<String> {
    entries("/proc".into()).flat_map(namespaces_of).collect()
}

/// Returns the interfaces of this process's own namespace.
fn interfaces() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // SAFETY: the call returns null or an array that ends with an entry without a name. Each name
    // is a C string that lives until the array is freed, which happens once, after the last use.
    unsafe {
        let first = libc::if_nameindex();
        assert!(!first.is_null());
        let mut entry = first;
        while !(*entry).if_name.is_null() {
            names.insert(CStr::from_ptr((*entry).if_name).to_string_lossy().into_owned());
            entry = entry.add(1);
        }
        libc::if_freenameindex(first);
    }
    names
}

fn signal(process: &Child, signal: i32) {
    // SAFETY: the call takes two integers. The process is a child that was not waited for, so no
    // other process has its id.
    assert_eq!(unsafe { libc::kill(process.id().cast_signed(), signal) }, 0);
}

/// Returns `true` if the process is stopped or dead, so that its state no longer changes.
fn is_stopped(process: &Child) -> bool {
    let threads = entries(format!("/proc/{}/task", process.id()).into());
    threads.map(|task| fs::read_to_string(task.join("stat")).unwrap_or_default()).all(|stat| {
        stat.rsplit(") ").next().unwrap().starts_with(['T', 'Z', 'X']) || stat.is_empty()
    })
}

fn start(mark: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed_owner::killing_the_owner_at_any_time_leaves_nothing"])
        .args(["--include-ignored", "--nocapture"])
        .env(OWNER, mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Starts a copy of this program as the owner of a testbed, and kills the copy.
#[test]
#[ignore = "needs root"]
fn killing_the_owner_at_any_time_leaves_nothing() {
    if std::env::var_os(OWNER).is_some() {
        own_a_testbed_until_killed();
    }
    let before = interfaces();
    let own = fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string();
    let mut max = (0, 0);
    for (number, time) in kill_times().enumerate() {
        let mark = format!("{}-{number}", std::process::id());
        let (processes, namespaces) = kill_an_owner(&mark, time, &own);
        println!("{time:?}: {processes} processes, {} namespaces", namespaces.len());
        max = (max.0.max(processes), max.1.max(namespaces.len()));
        assert!(eventually(|| marked(&mark).is_empty()), "{time:?}: {:?}", marked(&mark));
        assert!(eventually(|| namespaces.is_disjoint(&all_namespaces())), "{time:?}");
        assert!(interfaces().is_subset(&before), "{time:?}: {:?}", interfaces());
    }
    // The owner and four children; two hosts and the relay. Otherwise the test has checked nothing.
    assert_eq!(max, (5, 3));
}

/// Starts an owner and kills it. Returns the number of its processes, and its namespaces except
/// `own`.
fn kill_an_owner(mark: &str, time: KillTime, own: &str) -> (usize, BTreeSet<String>) {
    let mut owner = start(mark);
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    match time {
        KillTime::AfterStart(delay) => std::thread::sleep(delay),
        KillTime::AfterLine(expected, delay) => {
            let found = lines.any(|line| line.unwrap().ends_with(expected));
            assert!(found, "the owner exited before it was {expected}");
            std::thread::sleep(delay);
        }
    }
    // Stopped first, so that its processes and namespaces can be listed. SIGKILL needs no SIGCONT,
    // so no code of the owner runs in between.
    signal(&owner, libc::SIGSTOP);
    assert!(eventually(|| is_stopped(&owner)));
    let processes = marked(mark);
    let namespaces: BTreeSet<String> =
        processes.iter().cloned().flat_map(namespaces_of).filter(|name| name != own).collect();
    owner.kill().unwrap();
    owner.wait().unwrap();
    (processes.len(), namespaces)
}

fn own_a_testbed_until_killed() -> ! {
    let faults = Faults {
        loss: Chance::percent(5),
        duplication: Chance::percent(5),
        delay: Delay { jitter: MS * 5, ..Delay::default() },
        reorders: true,
        ..Faults::NONE
    };
    let relay = RelaySettings { seed: 7, faults: [faults; 2] };
    let builder = Testbed::builder().queues(Queues::pairs(2)).offloads(Offloads::OFF).relay(relay);
    let testbed = builder.build().unwrap();
    println!("{BUILT}");
    let children: Vec<Child> = testbed
        .hosts()
        .iter()
        .flat_map(|host| [host, host])
        .map(|host| {
            let mut command = Command::new("sleep");
            command.arg("60");
            host.spawn(command, &[]).unwrap()
        })
        .collect();
    let [first, second] = testbed.hosts();
    let sender = first.run(|| UdpSocket::bind((first.address(), 0)).unwrap()).unwrap();
    let send = || sender.send_to(&[1; 100], (second.address(), 7_777)).unwrap();
    while testbed.relay().unwrap().counters(Direction::FirstToSecond).arrived == 0 {
        send();
    }
    println!("{BUSY}");
    // Bounded, in case the test exits without killing this process.
    for _ in 0..100_000 {
        send();
        std::thread::sleep(MS / 10);
    }
    drop(children);
    // Then standard input is closed, and this returns at once.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(1);
}
