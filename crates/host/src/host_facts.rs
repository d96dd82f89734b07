//! Facts about the host that a measurement must report.

use std::fs;

use crate::Clock;

/// The facts about this host, for the `host` object of a results file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// The processor's model name; `unknown` if the kernel does not report it.
    pub cpu: String,
    /// The number of online cores, including those that this process may not use.
    pub cores: usize,
    /// The kernel release, as printed by `uname -r`.
    pub kernel: String,
    /// `true` for a virtual machine, which its host may stop at any time.
    pub virtualised: bool,
    /// The time stamp counter's ticks per second; `None` if it is not used as a clock.
    pub tsc_hz: Option<u64>,
    /// The frequency governor of the first core; `None` if the kernel does not scale frequencies,
    /// as in most virtual machines.
    pub governor: Option<String>,
}

impl HostFacts {
    /// Reads /proc and /sys. Missing facts are omitted and never an error.
    #[must_use]
    pub fn read(clock: &Clock) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            cpu: field(&cpuinfo, "model name").unwrap_or("unknown").to_owned(),
            cores: count_cores(&cpuinfo),
            kernel: line("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned()),
            virtualised: is_virtualised(&cpuinfo),
            tsc_hz: clock.tsc_hz(),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        }
    }
}

/// Returns the first value of `name` in the `name : value` lines of /proc/cpuinfo.
fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// Counts the online cores: there is one block of lines per core. The affinity of this thread does
/// not matter.
fn count_cores(cpuinfo: &str) -> usize {
    let blocks = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    blocks.filter(|(key, _)| key.trim() == "processor").count().max(1)
}

/// Returns `true` on a virtual machine: a hypervisor sets a CPUID bit, which the kernel lists among
/// the flags.
fn is_virtualised(cpuinfo: &str) -> bool {
    field(cpuinfo, "flags")
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Returns the only line of a file, or `None` if it cannot be read or is empty.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str = "processor\t: 0\nmodel name\t: Some CPU @ 3.00GHz\nflags\t\t: fpu tsc \
                           hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: Another\n";

    #[test]
    fn reads_name_of_first_processor() {
        assert_eq!(field(CPUINFO, "model name"), Some("Some CPU @ 3.00GHz"));
        assert_eq!(field(CPUINFO, "model"), None);
        assert_eq!(field("model name\t:\n", "model name"), None);
    }

    #[test]
    fn counts_online_cores() {
        assert_eq!(count_cores(CPUINFO), 2);
        assert_eq!(count_cores(""), 1);
    }

    #[test]
    fn detects_virtual_machine_by_flag() {
        assert!(is_virtualised(CPUINFO));
        assert!(!is_virtualised("flags\t: fpu nohypervisor tsc\n"));
        assert!(!is_virtualised(""));
    }

    #[test]
    fn reads_facts_of_this_host() {
        let clock = Clock::new();
        let facts = HostFacts::read(&clock);
        assert!(facts.cores >= crate::allowed_cores().unwrap().len());
        assert_ne!(facts.kernel, "unknown");
        assert_eq!(facts.tsc_hz, clock.tsc_hz());
    }
}
