//! The same once more with huge pages.
//!
//! A channel's memory is that of vectors, so that it is the allocator that asks for huge pages: the
//! C library does for what it maps, where `GLIBC_TUNABLES` says `glibc.malloc.hugetlb=1` (since
//! 2.35), which is read once at the start of a process. So this program runs itself again. Where
//! the kernel gives huge pages to everybody (`always` in
//! `/sys/kernel/mm/transparent_hugepage/enabled`) both runs have them, where it never does, neither
//! has: how much of them there is, is printed.

use std::process::Command;

/// Says to this program that it is the second run.
const IS_SECOND: &str = "HAIRPIN_BENCH_HUGE_PAGES";
/// What the C library is told.
const TUNABLES: &str = "glibc.malloc.hugetlb=1";

/// Whether this is the run with huge pages.
pub(crate) fn are_huge() -> bool {
    std::env::var_os(IS_SECOND).is_some()
}

/// Runs this program again with huge pages, and the same words.
pub(crate) fn again_with_huge() {
    let program = std::env::current_exe().expect("this program's own file");
    let status = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(IS_SECOND, "1")
        .env("GLIBC_TUNABLES", TUNABLES)
        .status()
        .expect("this program once more");
    assert!(status.success(), "with huge pages: {status}");
}

/// How much memory this process has, and how much of it in huge pages.
pub(crate) fn describe() -> String {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let megabytes = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let kilobytes: Option<u64> =
            line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        kilobytes.map_or("unknown".to_owned(), |it| format!("{} MB", it / 1_024))
    };
    format!("{} of memory, of it {} in huge pages", megabytes("Rss:"), megabytes("AnonHugePages:"))
}
