//! A bed with a relay and children whose owner is killed, at any moment, as root.
//!
//! The owner is a copy of this program. Its processes are known by a mark in their environment,
//! and its namespaces by looking, while it stands still, at what it is in and holds open.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{Chance, Delay, Direction, Faults, Offloads, Queues, RelaySettings, Testbed};

/// Set in the environment of the owner, and so in that of its children; the value is its mark.
const OWNER: &str = "HAIRPIN_TESTBED_DEATH";
const MS: Duration = Duration::from_millis(1);

/// When the owner is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// So long after it was started.
    After(Duration),
    /// So long after it has said so.
    Said(&'static str, Duration),
}

const MADE: &str = "made";
const BUSY: &str = "busy";

fn moments() -> impl Iterator<Item = Moment> {
    let after = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 80, 120, 200];
    let made = [0, 1, 2, 5].map(|ms| Moment::Said(MADE, MS * ms));
    let busy = [0, 1, 3, 10, 50].map(|ms| Moment::Said(BUSY, MS * ms));
    after.into_iter().map(|ms| Moment::After(MS * ms)).chain(made).chain(busy)
}

/// Polls, within bounds, until `is_so`.
fn eventually(is_so: impl Fn() -> bool) -> bool {
    (0..2_000).any(|_| {
        is_so() || {
            std::thread::sleep(MS * 10);
            false
        }
    })
}

fn entries(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The folders in /proc of all processes that carry the mark, but for those that are dead.
fn marked(mark: &str) -> Vec<PathBuf> {
    let wanted = format!("{OWNER}={mark}");
    let is_marked = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|word| word == wanted.as_bytes())
    };
    entries("/proc".into()).filter(is_marked).collect()
}

/// The network namespaces that a process is in, by any thread, or holds open.
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

/// The interfaces of this process's own namespace, which the C library asks rtnetlink for.
fn interfaces() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // SAFETY: returns null or an array that ends with an entry without a name; each name is a
    // string that lives until the array is freed, once, after which nothing of it is used.
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
    // SAFETY: takes two integers. The process is ours and not waited for, so the number is its.
    assert_eq!(unsafe { libc::kill(process.id().cast_signed(), signal) }, 0);
}

/// Stopped, or dead already: whatever it holds stays as it is.
fn stands_still(process: &Child) -> bool {
    let threads = entries(format!("/proc/{}/task", process.id()).into());
    threads.map(|task| fs::read_to_string(task.join("stat")).unwrap_or_default()).all(|stat| {
        stat.rsplit(") ").next().unwrap().starts_with(['T', 'Z', 'X']) || stat.is_empty()
    })
}

fn start(mark: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killing_the_owner_at_any_moment_leaves_nothing"])
        .args(["--include-ignored", "--nocapture"])
        .env(OWNER, mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Plays the owner when it finds itself started as one by itself.
#[test]
#[ignore = "needs root"]
fn killing_the_owner_at_any_moment_leaves_nothing() {
    if std::env::var_os(OWNER).is_some() {
        own_a_bed_until_killed();
    }
    let before = interfaces();
    let ours = fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string();
    let mut most = (0, 0);
    for (number, moment) in moments().enumerate() {
        let mark = format!("{}-{number}", std::process::id());
        let (processes, namespaces) = kill_an_owner(&mark, moment, &ours);
        println!("{moment:?}: {processes} processes, {} namespaces", namespaces.len());
        most = (most.0.max(processes), most.1.max(namespaces.len()));
        assert!(eventually(|| marked(&mark).is_empty()), "{moment:?}: {:?}", marked(&mark));
        assert!(eventually(|| namespaces.is_disjoint(&all_namespaces())), "{moment:?}");
        assert!(interfaces().is_subset(&before), "{moment:?}: {:?}", interfaces());
    }
    // Owner and four children; two hosts and the relay. Else the test has looked at nothing.
    assert_eq!(most, (5, 3));
}

/// Starts an owner and kills it; how many processes it was, and in which namespaces of its own.
fn kill_an_owner(mark: &str, moment: Moment, ours: &str) -> (usize, BTreeSet<String>) {
    let mut owner = start(mark);
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    match moment {
        Moment::After(time) => std::thread::sleep(time),
        Moment::Said(what, time) => {
            assert!(lines.any(|line| line.unwrap().ends_with(what)), "it never was {what}");
            std::thread::sleep(time);
        }
    }
    // Stopped first, so that what it is and has can be listed; the signal that kills needs no
    // waking and nothing runs in between.
    signal(&owner, libc::SIGSTOP);
    assert!(eventually(|| stands_still(&owner)));
    let processes = marked(mark);
    let namespaces: BTreeSet<String> =
        processes.iter().cloned().flat_map(namespaces_of).filter(|name| name != ours).collect();
    owner.kill().unwrap();
    owner.wait().unwrap();
    (processes.len(), namespaces)
}

fn own_a_bed_until_killed() -> ! {
    let faults = Faults {
        loss: Chance::percent(5),
        duplication: Chance::percent(5),
        delay: Delay { jitter: MS * 5, ..Delay::default() },
        reorders: true,
        ..Faults::NONE
    };
    let relay = RelaySettings { seed: 7, faults: [faults; 2] };
    let builder = Testbed::builder().queues(Queues::pairs(2)).offloads(Offloads::OFF).relay(relay);
    let bed = builder.build().unwrap();
    println!("{MADE}");
    let children: Vec<Child> = bed
        .hosts()
        .iter()
        .flat_map(|host| [host, host])
        .map(|host| {
            let mut command = Command::new("sleep");
            command.arg("60");
            host.spawn(command, &[]).unwrap()
        })
        .collect();
    let [first, second] = bed.hosts();
    let sender = first.run(|| UdpSocket::bind((first.address(), 0)).unwrap()).unwrap();
    let send = || sender.send_to(&[1; 100], (second.address(), 7_777)).unwrap();
    while bed.relay().unwrap().tally(Direction::FirstToSecond).arrived == 0 {
        send();
    }
    println!("{BUSY}");
    // Bounded, should the test die before it has killed us.
    for _ in 0..100_000 {
        send();
        std::thread::sleep(MS / 10);
    }
    drop(children);
    // Ends at once then.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(1);
}

/// The same without a death: what is dropped is gone, relay and children first of all.
#[test]
#[ignore = "needs root"]
fn a_dropped_bed_takes_relay_and_children_with_it() {
    let bed = Testbed::builder().relay(RelaySettings::seeded(7)).build().unwrap();
    let names = bed.hosts().each_ref().map(|host| {
        let name = || fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string();
        host.run(name).unwrap()
    });
    let mut command = Command::new("sleep");
    command.arg("60");
    let mut child = bed.hosts()[0].spawn(command, &[]).unwrap();
    let relays = || {
        entries("/proc/self/task".into())
            .filter(|task| {
                fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "relay\n")
            })
            .map(|task| fs::read_link(task.join("ns/net")).unwrap().display().to_string())
            .collect::<Vec<_>>()
    };
    let theirs = relays();
    assert_eq!(theirs.len(), 1);
    drop(bed);
    assert!(!child.wait().unwrap().success());
    // A thread that has been joined may still be on its way out of the kernel's list.
    assert!(eventually(|| relays().is_empty()));
    let gone = |name: &String| !all_namespaces().contains(name);
    assert!(eventually(|| names.iter().chain(&theirs).all(gone)));
}
