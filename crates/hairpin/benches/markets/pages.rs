//! Runs the benchmark again with huge pages.
//!
//! A channel's memory consists of vectors, so the allocator must request huge pages: the C library
//! does for its mappings if `GLIBC_TUNABLES` contains `glibc.malloc.hugetlb=1` (since 2.35), which
//! it reads once at the start of a process. So this program starts itself again. If the kernel
//! gives huge pages to every process (`always` in `/sys/kernel/mm/transparent_hugepage/enabled`)
//! both runs have them; if it never does, neither has. The number of huge pages is printed.

use std::process::Command;

/// Marks the second run of this program.
const IS_SECOND: &str = "HAIRPIN_BENCH_HUGE_PAGES";
/// The setting for the C library.
const TUNABLES: &str = "glibc.malloc.hugetlb=1";

/// Returns `true` in the run with huge pages.
pub(crate) fn are_huge() -> bool {
    std::env::var_os(IS_SECOND).is_some()
}

/// Runs this program again with huge pages and the same arguments.
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

/// Returns how much memory this process has, and how much of it in huge pages.
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
