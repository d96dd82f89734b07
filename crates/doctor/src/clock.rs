//! Clocks: the kernel's source, the time stamp counter, synchronization.

use hairpin_host::{ClockSource, ClockSync};

use crate::finding::Finding;
use crate::measurements::Measurements;
use crate::root::Root;

const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";
/// The sources that programs read without a system call.
const FAST_SOURCES: [&str; 4] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];
/// The error of the clock above which CME refuses a logon, in nanoseconds.
const LOGON_ERROR_NS: u64 = 5_000_000_000;

/// The facts about the clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClockFacts {
    /// The kernel's clock source.
    pub(crate) source: Option<String>,
    pub(crate) available: Vec<String>,
    pub(crate) sync: Option<ClockSync>,
    /// The running daemons that set the clock.
    pub(crate) daemons: Vec<String>,
}

impl ClockFacts {
    pub(crate) fn read(root: &Root, sync: Option<ClockSync>) -> Self {
        let available = root.text(&format!("{FOLDER}/available_clocksource")).unwrap_or_default();
        let daemons =
            ["chronyd", "ntpd", "systemd-timesyn", "ptp4l", "phc2sys", "sfptpd", "openntpd"];
        Self {
            source: root.text(&format!("{FOLDER}/current_clocksource")),
            available: available.split_whitespace().map(str::to_owned).collect(),
            sync,
            daemons: root.running(&daemons),
        }
    }
}

/// Returns the findings about the clocks.
pub(crate) fn findings(facts: &ClockFacts, measured: &Measurements) -> Vec<Finding> {
    let mut found = Vec::new();
    let slow = facts.source.as_deref().filter(|source| !FAST_SOURCES.contains(source));
    if let Some(source) = slow {
        let cost = match measured.clock {
            Some(clock) => format!("{:.0} ns for each reading of the time", clock.kernel_read_ns),
            None => "a system call for each reading of the time".to_owned(),
        };
        let what = format!("the kernel's clock source is {source}");
        let finding = Finding::advice("clock.source", what, cost);
        let has_tsc = facts.available.iter().any(|source| source == "tsc");
        found.push(match has_tsc {
            true => finding.command(format!("echo tsc > /{FOLDER}/current_clocksource")),
            false => finding.command("kernel parameter: tsc=reliable (if the counter is stable)"),
        });
    }
    if let Some(clock) = measured.clock
        && clock.source == ClockSource::Kernel
    {
        let what = "the time stamp counter is not usable";
        let cost = format!("{:.0} ns for each reading, instead of some 10 ns", clock.read_ns);
        found.push(Finding::advice("clock.counter", what, cost));
    }
    match facts.sync {
        Some(sync) if !sync.synchronized => {
            let what = match facts.daemons.as_slice() {
                [] => "no daemon synchronizes the clock".to_owned(),
                daemons => {
                    format!("the clock is not synchronized, though {} runs", daemons.join(", "))
                }
            };
            let seconds = LOGON_ERROR_NS / 1_000_000_000;
            let cost = format!(
                "wrong times in journals and captures; CME refuses a logon {seconds} s off"
            );
            let finding = Finding::advice("clock.sync", what, cost);
            found.push(finding.command("systemctl enable --now chronyd (or PTP: ptp4l, phc2sys)"));
        }
        Some(sync) if sync.error_max.as_nanos() > LOGON_ERROR_NS => {
            let what =
                format!("the clock may be {} s off", sync.error_max.as_nanos() / 1_000_000_000);
            let cost = "CME refuses a logon whose time is more than 5 s off";
            found.push(Finding::important("clock.error", what, cost).command("chronyc makestep"));
        }
        _ => {}
    }
    found
}
