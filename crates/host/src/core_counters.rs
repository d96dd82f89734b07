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

/// Returns the time since boot in which `core` executed programs, without interrupts.
///
/// Returns `None` if the kernel does not count it for this core. The unit is a tick of 10 ms.
///
/// # Errors
/// /proc/stat cannot be read.
pub fn busy_time(core: usize) -> io::Result<Option<Duration>> {
    let text = fs::read_to_string("/proc/stat")?;
    Ok(busy_ticks(&text, core).map(|ticks| Duration::from_nanos(ticks * tick_nanos())))
}

/// Returns the processor time of a process, all its threads, and the core that executed its first
/// thread last. A process that has exited has both until its parent waits for it.
///
/// # Errors
/// There is no such process.
pub fn process_time(process: u32) -> io::Result<(usize, Duration)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (core, ticks) = process_ticks(&text).ok_or(io::ErrorKind::InvalidData)?;
    Ok((core, Duration::from_nanos(ticks * tick_nanos())))
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
    numbers(stat, core)?.nth(STEAL)?.parse().ok()
}

/// Returns the sum of the first three numbers of the core's line: user, nice and system.
fn busy_ticks(stat: &str, core: usize) -> Option<u64> {
    numbers(stat, core)?.take(3).map(|word| word.parse::<u64>().ok()).sum()
}

fn numbers(stat: &str, core: usize) -> Option<impl Iterator<Item = &str>> {
    let name = format!("cpu{core}");
    stat.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next()? == name).then_some(words)
    })
}

/// Returns the core, and the sum of user and system time, from a process's stat file: see
/// proc_pid_stat(5). The name in parentheses may contain any character.
fn process_ticks(stat: &str) -> Option<(usize, u64)> {
    // Counted from the field after the name, which is the third.
    const UTIME: usize = 14 - 3;
    const STIME: usize = 15 - 3;
    const PROCESSOR: usize = 39 - 3;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let core = usize::try_from(number(PROCESSOR)?).ok()?;
    Some((core, number(UTIME)? + number(STIME)?))
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
    fn busy_is_user_nice_and_system() {
        assert_eq!(busy_ticks(STAT, 0), Some(6));
        assert_eq!(busy_ticks(STAT, 2), Some(6));
        assert_eq!(busy_ticks(STAT, 9), None);
        let core = crate::allowed_cores().unwrap()[0];
        assert!(busy_time(core).unwrap().is_some());
    }

    #[test]
    fn process_has_core_and_time_after_its_name() {
        let fields: String = (4..=52).map(|field| format!(" {field}")).collect();
        let stat = format!("7 (a) b) S{fields}");
        assert_eq!(process_ticks(&stat), Some((39, 14 + 15)));
        assert_eq!(process_ticks("7 (a) S 1 2"), None);
        assert!(process_time(std::process::id()).is_ok());
        assert!(process_time(0).is_err());
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
