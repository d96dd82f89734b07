//! Per-core kernel counters: time stolen by the hypervisor, and packets dropped at a full backlog.

use std::fs;
use std::io;

use hairpin_time::Duration;

/// Returns the time since boot in which the hypervisor ran something else while `core` had work.
///
/// Returns `None` if the kernel does not count it for this core (offline, or an old kernel). The
/// unit is a tick of 10 ms. Many hypervisors report no steal time, and then the result stays zero.
///
/// # Errors
/// /proc/stat cannot be read.
pub fn steal_time(core: usize) -> io::Result<Option<Duration>> {
    let text = fs::read_to_string("/proc/stat")?;
    Ok(stolen_ticks(&text, core).map(|ticks| Duration::from_nanos(ticks * tick_nanos())))
}

/// Returns the number of received packets that the kernel dropped because a core's backlog was full
/// (`net.core.netdev_max_backlog`), since boot, over all cores and namespaces.
///
/// Every packet over loopback and veth passes a backlog. Sockets do not report these drops.
///
/// # Errors
/// /proc/net/softnet_stat cannot be read.
pub fn backlog_drops() -> io::Result<u64> {
    fs::read_to_string("/proc/net/softnet_stat").map(|text| dropped(&text))
}

/// Returns the eighth number of the core's line in /proc/stat: see proc_stat(5).
fn stolen_ticks(stat: &str, core: usize) -> Option<u64> {
    const STEAL: usize = 7;
    let name = format!("cpu{core}");
    stat.lines()
        .find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            (words.next()? == name).then(|| words.nth(STEAL))?
        })?
        .parse()
        .ok()
}

/// Sums the drops. There is one line per core, in hexadecimal: packets processed, dropped, and
/// more.
fn dropped(softnet_stat: &str) -> u64 {
    const DROPPED: usize = 1;
    let drops_in =
        |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(DROPPED)?, 16).ok();
    softnet_stat.lines().filter_map(drops_in).sum()
}

/// Returns the unit of times in /proc/stat: 10 ms on all common Linux systems.
fn tick_nanos() -> u64 {
    // SAFETY: the call takes a number and accesses no memory of this process.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(per_second).ok().and_then(|hz| 1_000_000_000_u64.checked_div(hz)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  10 20 30 40 50 60 70 999 0 0\n\
                        cpu0 1 2 3 4 5 6 7 8 9 10\n\
                        cpu1 1 2 3 4 5 6 7 0 9 10\n\
                        cpu10 1 2 3 4 5 6 7 80 0 0\n\
                        cpu2 1 2 3 4\n\
                        cpu3 1 2 3 4 5 6 7 x\n\
                        intr 12345\n";

    #[test]
    fn reads_eighth_number_of_core_line() {
        assert_eq!(stolen_ticks(STAT, 0), Some(8));
        assert_eq!(stolen_ticks(STAT, 1), Some(0));
        assert_eq!(stolen_ticks(STAT, 10), Some(80));
    }

    #[test]
    fn returns_none_without_number() {
        for core in [2, 3, 4, 100] {
            assert_eq!(stolen_ticks(STAT, core), None, "cpu{core}");
        }
        assert_eq!(stolen_ticks("", 0), None);
    }

    #[test]
    fn sums_drops_of_all_cores() {
        let text = "00000a10 00000002 00000000 0 0 0\n0000ffff 00000010 00000001 0 0 0\n";
        assert_eq!(dropped(text), 18);
        assert_eq!(dropped("00000a10\nnothing here\n"), 0);
    }

    #[test]
    fn reads_counters_of_this_kernel() {
        let core = crate::allowed_cores().unwrap()[0];
        let (steal, drops) = (steal_time(core).unwrap().unwrap(), backlog_drops().unwrap());
        assert!(steal_time(core).unwrap().unwrap() >= steal);
        assert!(backlog_drops().unwrap() >= drops);
        assert_eq!(steal_time(1_000_000).unwrap(), None);
    }
}
