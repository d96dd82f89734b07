//! Memory: the limit of locked memory, swap, huge pages, memory nodes.

use crate::finding::Finding;
use crate::privileges::has_capability;
use crate::root::Root;

/// The locked memory of `feed` and `trader`: 16,384 frames of 2,048 bytes.
const LARGE_BYTES: u64 = 32 << 20;
/// `CAP_IPC_LOCK`, which exceeds the limit.
const IPC_LOCK: u32 = 14;

/// The facts about memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MemoryFacts {
    /// The limit of locked memory in bytes; `None` without a limit.
    pub(crate) locked_max: Option<u64>,
    pub(crate) swap_kib: u64,
    /// `true` if the kernel makes huge pages of any memory.
    pub(crate) transparent_huge_pages: bool,
    /// `true` if the kernel moves pages between memory nodes.
    pub(crate) node_balancing: bool,
}

impl MemoryFacts {
    pub(crate) fn read(root: &Root) -> Self {
        let limits = root.text("proc/self/limits").unwrap_or_default();
        let locked = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"));
        let locked = locked.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
        let may_exceed = has_capability(root, IPC_LOCK);
        let memory = root.text("proc/meminfo").unwrap_or_default();
        let swap = memory.lines().find_map(|line| line.strip_prefix("SwapTotal:"));
        let huge = root.text("sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
        let balancing: u32 = root.value("proc/sys/kernel/numa_balancing").unwrap_or_default();
        Self {
            locked_max: locked.filter(|_| !may_exceed),
            swap_kib: swap
                .and_then(|line| line.split_ascii_whitespace().next()?.parse().ok())
                .unwrap_or_default(),
            transparent_huge_pages: huge.contains("[always]"),
            node_balancing: balancing != 0 && root.exists("sys/devices/system/node/node1"),
        }
    }
}

/// Returns the findings about memory. `needed` is the locked memory of an interface in bytes.
pub(crate) fn findings(facts: &MemoryFacts, needed: u64) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(max) = facts.locked_max.filter(|max| *max < LARGE_BYTES) {
        let what = format!("at most {} KiB of locked memory (ulimit -l)", max >> 10);
        let command = format!("ulimit -l {} (or LimitMEMLOCK= of the service)", LARGE_BYTES >> 10);
        let finding = if max < needed {
            let cost = format!("AF_XDP cannot be used: frames take {} KiB", needed >> 10);
            Finding::important("memory.locked", what, cost)
        } else {
            let cost = "feed and trader use fewer frames: longer bursts at their start are lost";
            Finding::advice("memory.locked", what, cost)
        };
        found.push(finding.command(command));
    }
    if facts.swap_kib > 0 {
        let what = format!("{} MiB of swap", facts.swap_kib >> 10);
        let cost = "a page of the program that was swapped out takes milliseconds";
        found.push(Finding::note("memory.swap", what, cost).command("swapoff -a"));
    }
    if facts.transparent_huge_pages {
        let cost = "the kernel may move the pages of a program while it runs: up to milliseconds";
        let what = "transparent huge pages for all memory";
        found.push(
            Finding::note("memory.huge_pages", what, cost)
                .command("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
        );
    }
    if facts.node_balancing {
        let cost = "page faults while a program runs, to move its pages between nodes";
        let finding = Finding::advice("memory.balancing", "automatic NUMA balancing", cost);
        found.push(finding.command("sysctl kernel.numa_balancing=0"));
    }
    found
}
