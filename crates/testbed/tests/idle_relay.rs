//! A relay with nothing to do, alone in its process so that its thread is the only one.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::net::UdpSocket;
use std::time::Duration;

use hairpin_testbed::{Delay, Direction, Faults, RelaySettings, Testbed};

/// The nanoseconds that the thread of this name has run for.
fn nanoseconds_run(name: &str) -> u64 {
    let mut tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path());
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let task = tasks.find(|task| read(task.join("comm")).trim() == name).unwrap();
    read(task.join("schedstat")).split(' ').next().unwrap().parse().unwrap()
}

/// A thread that spun would run nearly all the time, even on a busy machine a tenth of it.
#[test]
#[ignore = "needs root"]
fn a_relay_with_nothing_to_do_sleeps() {
    let delay = Delay::exactly(Duration::from_secs(1_000));
    let faults = Faults { delay, ..Faults::NONE };
    let settings = RelaySettings::seeded(7).with(Direction::FirstToSecond, faults);
    let bed = Testbed::builder().relay(settings).build().unwrap();
    let [first, second] = bed.hosts();
    let sender = first.run(|| UdpSocket::bind((first.address(), 0)).unwrap()).unwrap();
    sender.send_to(b"waits", (second.address(), 7_777)).unwrap();
    let under_way = || bed.relay().unwrap().tally(Direction::FirstToSecond).under_way;
    assert!((0..2_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        under_way() == 1
    }));
    let before = nanoseconds_run("relay");
    std::thread::sleep(Duration::from_secs(1));
    assert!(nanoseconds_run("relay") - before < 50_000_000);
}
