//! The cost of this crate per order and per report, with the journal and without sockets.
//!
//! `cargo bench --package hairpin-order-entry` times batches of 64 with the journal in a folder.
//! `cargo xtask bench-instructions` runs the same code under callgrind, one case at a time:
//! `handler --count CASE`. The benchmark fails if an operation allocates.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a benchmark may fail by panicking")]

mod case;
mod endpoint;

#[path = "../../tests/it/mock_exchange.rs"]
mod mock_exchange;

use std::process::ExitCode;

use hairpin_mapped::{Journal, JournalSettings, Retention};
use hairpin_testbed::CountingAllocator;

use case::{BATCH, Case, Harness};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The number of batches counted.
const COUNTED: u64 = 160;
/// The number of batches timed, after a warm-up of a twentieth of them.
const TIMED: u64 = 4_000;

/// Runs one case with `--count CASE` and prints the number of its events; otherwise times all
/// cases.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ["--count", name] = &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        time();
        return ExitCode::SUCCESS;
    };
    let Some(case) = Case::ALL.into_iter().find(|case| case.name() == *name) else {
        eprintln!("unknown case: {name}");
        return ExitCode::from(2);
    };
    let journal = Journal::anonymous(16 << 20).expect("memory for a journal");
    let mut harness = Harness::new(case, journal);
    for _ in 0..COUNTED {
        harness.batch();
    }
    harness.check();
    println!("events={}", COUNTED * BATCH);
    ExitCode::SUCCESS
}

/// Times every case, each with its own journal.
fn time() {
    println!("{TIMED} batches of {BATCH}, journal in a folder; ns each");
    println!("page faults: of this thread, in all batches including their preparation");
    let head = ("case", "min", "p50", "p99", "p99/p50", "faults");
    println!("{:<16}{:>8}{:>8}{:>8}{:>10}{:>8}", head.0, head.1, head.2, head.3, head.4, head.5);
    for case in Case::ALL {
        let parent = tempfile::tempdir().expect("a folder");
        let retention = Retention { segments: 2, age: None };
        let settings = JournalSettings { retention, ..JournalSettings::default() };
        let journal = Journal::create_with(parent.path().join("journal"), settings);
        let mut harness = Harness::new(case, journal.expect("a journal"));
        for _ in 0..TIMED / 20 {
            harness.batch();
        }
        // Written once, so that its own page faults are not counted.
        let mut times = vec![f64::NAN; TIMED as usize];
        let faults = page_faults();
        times.iter_mut().for_each(|time| *time = harness.batch().as_nanos() as f64);
        let faults = page_faults() - faults;
        harness.check();
        times.sort_unstable_by(f64::total_cmp);
        let each = |share: f64| times[(share * (times.len() - 1) as f64) as usize] / BATCH as f64;
        let (min, p50, p99) = (each(0.0), each(0.5), each(0.99));
        let (name, spread) = (case.name(), p99 / p50);
        println!("{name:<16}{min:>8.1}{p50:>8.1}{p99:>8.1}{spread:>10.2}{faults:>8}");
    }
}

/// Returns the number of minor page faults of this thread.
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("/proc is mounted");
    // The name may contain any character. After it, the eighth field is minflt.
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    fields.split_whitespace().nth(7).and_then(|it| it.parse().ok()).expect("a count")
}
