//! The thread of a relay. A program of its own: the tests identify the thread among all threads of
//! the process by its name, and so run one at a time.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::collections::BTreeSet;
use std::fs;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use hairpin_testbed::{Delay, Direction, Faults, RelaySettings, Testbed, eventually};

/// Held by each test.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Returns the CPU time of the thread with this name.
fn cpu_time_ns(name: &str) -> u64 {
    let mut tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path());
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let task = tasks.find(|task| read(task.join("comm")).trim() == name).unwrap();
    read(task.join("schedstat")).split(' ').next().unwrap().parse().unwrap()
}

/// A spinning thread would use nearly all of the second; on a busy machine at least a tenth.
#[test]
#[ignore = "needs root"]
fn idle_relay_sleeps() {
    let _guard = ONE_AT_A_TIME.lock();
    let delay = Delay::exactly(Duration::from_secs(1_000));
    let faults = Faults { delay, ..Faults::NONE };
    let settings = RelaySettings::seeded(7).with(Direction::FirstToSecond, faults);
    let testbed = Testbed::builder().relay(settings).build().unwrap();
    let [first, second] = testbed.hosts();
    let sender = first.run(|| UdpSocket::bind((first.address(), 0)).unwrap()).unwrap();
    sender.send_to(b"waits", (second.address(), 7_777)).unwrap();
    let in_flight = || testbed.relay().unwrap().counters(Direction::FirstToSecond).in_flight;
    assert!(eventually(|| in_flight() == 1));
    let before = cpu_time_ns("relay");
    std::thread::sleep(Duration::from_secs(1));
    assert!(cpu_time_ns("relay") - before < 50_000_000);
}

#[test]
#[ignore = "needs root"]
fn drop_ends_relay_and_children() {
    let _guard = ONE_AT_A_TIME.lock();
    let testbed = Testbed::builder().relay(RelaySettings::seeded(7)).build().unwrap();
    let names = testbed.hosts().each_ref().map(|host| {
        let name = || fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string();
        host.run(name).unwrap()
    });
    let mut command = Command::new("sleep");
    command.arg("60");
    let mut child = testbed.hosts()[0].spawn(command, &[]).unwrap();
    let relays = || {
        entries("/proc/self/task".into())
            .filter(|task| {
                fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "relay\n")
            })
            .map(|task| fs::read_link(task.join("ns/net")).unwrap().display().to_string())
            .collect::<Vec<_>>()
    };
    let relay_namespaces = relays();
    assert_eq!(relay_namespaces.len(), 1);
    drop(testbed);
    assert!(!child.wait().unwrap().success());
    // The kernel may still list a thread that has been joined.
    assert!(eventually(|| relays().is_empty()));
    let is_unused = |name: &String| !all_namespaces().contains(name);
    assert!(eventually(|| names.iter().chain(&relay_namespaces).all(is_unused)));
}

fn entries(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path())
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
