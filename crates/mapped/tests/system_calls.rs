//! A counter page and a journal cost their writer no system call and no allocation. The program
//! counts allocations, so it is separate from the others.
//!
//! The program runs itself under strace. `traced_updates` and `traced_commits` work between two
//! marks in the trace, and do nothing unless an environment variable is set.
#![allow(clippy::unwrap_used, reason = "this is all tests")]

use std::path::Path;
use std::process::{Command, Stdio};

use hairpin_mapped::{
    CounterPage, CounterPages, CounterWriter, Direction, Journal, JournalSettings, Retention,
    SyncPolicy, Tag, Unit,
};
use hairpin_testbed::{CountingAllocator, allocations};
use hairpin_time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const VARIABLE: &str = "HAIRPIN_TRACED_UPDATES";
const BEGIN: &str = "updates-begin";
const END: &str = "updates-end";
const TURNS: u64 = 100_000;

fn write(writer: &mut CounterWriter<'_>, turn: u64) {
    for trader in 0..16 {
        let part = format_args!("trader.{trader}");
        writer.gauge(part, "present", Unit::Flag, 1);
        let counters = [("orders", turn), ("bytes_sent", 100 * turn), ("rejects", 0)];
        writer.counters(part, counters.into_iter());
    }
}

/// Runs this many iterations of a loop, a tenth of which update the page.
fn iterations(page: &mut CounterPage) -> u64 {
    let at = |turn| Instant::ZERO + Duration::from_millis(turn);
    let is_updated =
        |turn: &u64| page.update_if_due(at(*turn), true, |writer| write(writer, *turn));
    (1..=TURNS).filter(is_updated).count() as u64
}

#[test]
fn updates_allocate_nothing() {
    let title = std::process::id().to_string();
    let mut page = CounterPage::create(&title, "allocations", |writer| write(writer, 0)).unwrap();
    let before = allocations();
    let updates = iterations(&mut page);
    assert_eq!(allocations() - before, 0);
    assert_eq!(updates, TURNS / 10);
    let pages = CounterPages::find().unwrap();
    let mut views = pages.found.iter().filter_map(|found| found.page.as_ref().ok());
    let view = views.find(|view| view.title() == title).unwrap();
    assert_eq!(view.values().nth(1), Some(TURNS));
}

/// Creates a journal with enough segments ahead for the commits below.
fn journal(folder: &Path) -> Journal {
    let settings = JournalSettings {
        segment_bytes: 1 << 20,
        ahead: 8,
        sync: SyncPolicy::Interval(Duration::from_millis(1)),
        retention: Retention { segments: 2, age: None },
    };
    let path = folder.join("journal");
    let journal = Journal::create_with(&path, settings).unwrap();
    // The first segment and the segments ahead.
    while std::fs::read_dir(&path).unwrap().count() < 9 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    journal.wait_ready();
    journal
}

/// Commits orders and reports through at least four segments, and marks each report.
fn commits(journal: &mut Journal) {
    for number in 1..=12_000 {
        let mut claim = journal.claim(140).unwrap();
        claim.payload().fill(number as u8);
        claim.commit_as(&Tag { uuid: 7, seq_num: number, ..Tag::default() }, 140);
        let tag = Tag { direction: Direction::Inbound, uuid: 7, seq_num: number, ..Tag::default() };
        let record = journal.claim(230).unwrap().commit_as(&tag, 230);
        journal.mark(record);
        journal.needed_from(7, number);
    }
}

#[test]
fn commits_allocate_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(folder.path());
    let before = allocations();
    commits(&mut journal);
    assert_eq!(allocations() - before, 0);
    let last = journal.last(Direction::Outbound).unwrap();
    assert!(journal.segment_of(last) >= 5);
}

#[test]
fn commits_make_no_system_call() {
    assert_no_call("traced_commits");
}

#[test]
fn traced_commits() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(folder.path());
    assert!(!Path::new(BEGIN).exists());
    commits(&mut journal);
    assert!(!Path::new(END).exists());
    let last = journal.last(Direction::Outbound).unwrap();
    assert!(journal.segment_of(last) >= 5);
}

#[test]
fn updates_make_no_system_call() {
    assert_no_call("traced_updates");
}

/// Runs a test of this program and checks its thread's system calls between the marks.
fn assert_no_call(test: &str) {
    let output = std::env::temp_dir().join(format!("hairpin-{test}-{}.strace", std::process::id()));
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&output)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(VARIABLE, "yes")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let trace = std::fs::read_to_string(&output);
    let _ = std::fs::remove_file(&output);
    let Some(trace) = trace.ok().filter(|trace| trace.contains(BEGIN)) else {
        println!("skipped: strace is not installed or must not trace");
        return;
    };
    assert!(status.unwrap().success(), "{trace}");
    let thread = trace.lines().find(|line| line.contains(BEGIN)).unwrap();
    let thread = thread.split(' ').next().unwrap();
    let calls: Vec<&str> = trace
        .lines()
        .filter(|line| line.split(' ').next() == Some(thread))
        .skip_while(|line| !line.contains(BEGIN))
        .take_while(|line| !line.contains(END))
        .filter(|line| !line.contains(BEGIN) && !line.contains("resumed>"))
        .collect();
    assert!(trace.contains(END), "{trace}");
    assert_eq!(calls, [""; 0]);
}

#[test]
fn traced_updates() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let mut page = CounterPage::create("test", "traced", |writer| write(writer, 0)).unwrap();
    // Access to a missing file is a mark in the trace.
    assert!(!Path::new(BEGIN).exists());
    let updates = iterations(&mut page);
    assert!(!Path::new(END).exists());
    assert_eq!(updates, TURNS / 10);
}
