//! That a live page costs its writer no system call and no allocation.
//!
//! This binary runs itself under strace: `traced_updates` does them between two marks in the trace,
//! and nothing unless it is asked to.
#![allow(clippy::unwrap_used, reason = "this is all tests")]

use std::path::Path;
use std::process::{Command, Stdio};

use hairpin_mapped::{LivePage, LivePages, Sheet, Unit};
use hairpin_testbed::{CountingAllocator, allocations};
use hairpin_time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const VARIABLE: &str = "HAIRPIN_TRACED_UPDATES";
const BEGIN: &str = "updates-begin";
const END: &str = "updates-end";
const TURNS: u64 = 100_000;

fn tell(sheet: &mut Sheet<'_>, turn: u64) {
    for trader in 0..16 {
        let part = format_args!("trader.{trader}");
        sheet.gauge(part, "present", Unit::Flag, 1);
        let counters = [("orders", turn), ("bytes_sent", 100 * turn), ("rejects", 0)];
        sheet.counters(part, counters.into_iter());
    }
}

/// So many turns of a loop, a tenth of which bring the page up to date.
fn turns(page: &mut LivePage) -> u64 {
    let at = |turn| Instant::ZERO + Duration::from_millis(turn);
    let is_updated = |turn: &u64| page.update_if_due(at(*turn), true, |sheet| tell(sheet, *turn));
    (1..=TURNS).filter(is_updated).count() as u64
}

#[test]
fn updates_allocate_nothing() {
    let title = std::process::id().to_string();
    let mut page = LivePage::create(&title, "allocations", |sheet| tell(sheet, 0)).unwrap();
    let before = allocations();
    let updates = turns(&mut page);
    assert_eq!(allocations() - before, 0);
    assert_eq!(updates, TURNS / 10);
    let pages = LivePages::find().unwrap();
    let mut views = pages.found.iter().filter_map(|found| found.page.as_ref().ok());
    let view = views.find(|view| view.title() == title).unwrap();
    assert_eq!(view.values().nth(1), Some(TURNS));
}

#[test]
fn updates_make_no_system_call() {
    let output = std::env::temp_dir().join(format!("hairpin-{}.strace", std::process::id()));
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&output)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "traced_updates"])
        .env(VARIABLE, "yes")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let trace = std::fs::read_to_string(&output);
    let _ = std::fs::remove_file(&output);
    let Some(trace) = trace.ok().filter(|trace| trace.contains(BEGIN)) else {
        println!("skipped: strace is not here, or may not trace");
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
    let mut page = LivePage::create("test", "traced", |sheet| tell(sheet, 0)).unwrap();
    // To ask for a file that is not there is a mark in the trace.
    assert!(!Path::new(BEGIN).exists());
    let updates = turns(&mut page);
    assert!(!Path::new(END).exists());
    assert_eq!(updates, TURNS / 10);
}
