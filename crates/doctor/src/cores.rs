//! Cores: isolation, frequency, idle states, SMT, mitigations, and who else runs there.

use std::collections::BTreeMap;

use hairpin_host::{format_cores, parse_cores};

use crate::finding::{Finding, Severity};
use crate::measurements::Measurements;
use crate::root::Root;

const CPU: &str = "sys/devices/system/cpu";
/// The exit latency above which an idle state matters, in microseconds. C1 has 1 to 2.
const EXIT_LATENCY_US: u32 = 2;
/// The share of a core above which other programs matter, in percent.
const BUSY_PERCENT: u32 = 20;
/// The share of a core that is important if the hypervisor takes it, in percent. The kernel counts
/// in steps of 2 % over the time of the measurement.
const STOLEN_PERCENT: u32 = 5;
/// The mitigation files whose text begins with this have one that costs time.
const MITIGATION: &str = "Mitigation:";

/// The facts about the cores.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CoreFacts {
    /// The cores that this process may use.
    pub(crate) allowed: Vec<usize>,
    pub(crate) online: Vec<usize>,
    pub(crate) isolated: Vec<usize>,
    /// The cores without a timer tick, and those without callbacks of RCU.
    pub(crate) tickless: Vec<usize>,
    pub(crate) without_callbacks: Vec<usize>,
    /// The frequency governors that are not `performance`, with their cores.
    pub(crate) governors: BTreeMap<String, Vec<usize>>,
    /// The idle states that are not disabled, with their exit latencies in microseconds.
    pub(crate) idle_states: Vec<(String, u32)>,
    pub(crate) smt: bool,
    /// The names of the mitigated vulnerabilities.
    pub(crate) mitigations: Vec<String>,
    pub(crate) virtual_machine: bool,
}

impl CoreFacts {
    pub(crate) fn read(root: &Root, allowed: Vec<usize>) -> Self {
        let online = root.cores(&format!("{CPU}/online"));
        let mut governors: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for core in &online {
            let governor = root.text(&format!("{CPU}/cpu{core}/cpufreq/scaling_governor"));
            if let Some(governor) = governor.filter(|governor| governor != "performance") {
                governors.entry(governor).or_default().push(*core);
            }
        }
        let first = online.first().copied().unwrap_or_default();
        let command_line = root.text("proc/cmdline").unwrap_or_default();
        let vulnerabilities = root.names(&format!("{CPU}/vulnerabilities")).into_iter();
        let is_mitigated = |name: &String| {
            let state = root.text(&format!("{CPU}/vulnerabilities/{name}"));
            state.is_some_and(|state| state.starts_with(MITIGATION))
        };
        let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
        let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
        Self {
            allowed,
            isolated: root.cores(&format!("{CPU}/isolated")),
            tickless: root.cores(&format!("{CPU}/nohz_full")),
            without_callbacks: parameter(&command_line, "rcu_nocbs")
                .map_or_else(Vec::new, parse_cores),
            governors,
            idle_states: idle_states(root, first),
            smt: root.text(&format!("{CPU}/smt/active")).as_deref() == Some("1"),
            mitigations: vulnerabilities.filter(is_mitigated).collect(),
            virtual_machine: flags
                .next()
                .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
            online,
        }
    }
}

/// Returns the value of a parameter of the kernel's command line.
fn parameter<'a>(command_line: &'a str, name: &str) -> Option<&'a str> {
    let mut words = command_line.split_ascii_whitespace();
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn idle_states(root: &Root, core: usize) -> Vec<(String, u32)> {
    let folder = format!("{CPU}/cpu{core}/cpuidle");
    let states = root.names(&folder).into_iter();
    let state = |state: String| {
        let file = |name: &str| format!("{folder}/{state}/{name}");
        let is_disabled = root.text(&file("disable")).as_deref() == Some("1");
        let latency = root.value(&file("latency")).filter(|_| !is_disabled)?;
        Some((root.text(&file("name"))?, latency))
    };
    states.filter_map(state).collect()
}

/// Returns the findings about the cores.
pub(crate) fn findings(facts: &CoreFacts, measured: &Measurements) -> Vec<Finding> {
    let all = [isolation(facts, measured), speed(facts, measured), others(facts, measured)];
    all.into_iter().flatten().collect()
}

fn isolation(facts: &CoreFacts, measured: &Measurements) -> Vec<Finding> {
    let mut found = Vec::new();
    if facts.allowed.len() == 1 {
        let cost = "a thread that spins shares the core with the kernel and all programs";
        found.push(Finding::advice("cores.one", "one core for this process", cost));
    }
    let missing = |from: &[usize]| -> Vec<usize> {
        facts.isolated.iter().copied().filter(|core| !from.contains(core)).collect()
    };
    let ticking = missing(&facts.tickless);
    if facts.isolated.is_empty() {
        let cost = match measured.worst_pauses() {
            Some(pauses) => format!("a spinning thread is interrupted: {pauses}"),
            None => "other programs and the kernel interrupt a spinning thread".to_owned(),
        };
        let finding = Finding::advice("cores.isolation", "no core is isolated", cost);
        found.push(finding.command(
            "kernel parameters: isolcpus=managed_irq,domain,CORES nohz_full=CORES rcu_nocbs=CORES",
        ));
    } else if !ticking.is_empty() {
        let ticking = format_cores(&ticking);
        let what = format!("isolated cores {ticking} have a timer tick");
        let cost = "an interrupt of some microseconds, 100 to 1000 times a second";
        let finding = Finding::advice("cores.tick", what, cost);
        found.push(finding.command(format!("kernel parameter: nohz_full={ticking}")));
    }
    let with_callbacks = missing(&facts.without_callbacks);
    // A core without a tick has no callbacks either.
    let with_callbacks: Vec<usize> =
        with_callbacks.into_iter().filter(|core| !facts.tickless.contains(core)).collect();
    if !with_callbacks.is_empty() {
        let cores = format_cores(&with_callbacks);
        let what = format!("isolated cores {cores} run callbacks of RCU");
        let finding = Finding::advice("cores.callbacks", what, "pauses of some microseconds");
        found.push(finding.command(format!("kernel parameter: rcu_nocbs={cores}")));
    }
    found
}

fn speed(facts: &CoreFacts, measured: &Measurements) -> Vec<Finding> {
    let mut found = Vec::new();
    for (governor, cores) in &facts.governors {
        let what = format!("frequency governor {governor} on cores {}", format_cores(cores));
        let cost = "an idle core is slow at first: up to milliseconds at a lower frequency";
        let finding = Finding::advice("cores.governor", what, cost);
        found.push(finding.command("cpupower frequency-set -g performance"));
    }
    let deepest = facts.idle_states.iter().max_by_key(|(_, latency)| *latency);
    if let Some((name, latency)) = deepest.filter(|(_, latency)| *latency > EXIT_LATENCY_US) {
        let what = format!("idle states down to {name}");
        let cost = format!("{latency} us to wake up, with every wait but spin");
        let finding = Finding::advice("cores.idle", what, cost);
        found.push(finding.command(format!("cpupower idle-set -D {EXIT_LATENCY_US}")));
    }
    if facts.smt {
        let cost = "two threads of a core share its caches and units: up to half of the speed";
        let finding = Finding::advice("cores.smt", "SMT is on", cost);
        found.push(finding.command("echo off > /sys/devices/system/cpu/smt/control"));
    }
    if !facts.mitigations.is_empty() {
        let what = format!("mitigations are on: {}", facts.mitigations.join(", "));
        let cost = match measured.system_call_ns {
            Some(ns) => format!("part of the {ns:.0} ns of a system call; none while spinning"),
            None => "slower system calls; none while spinning".to_owned(),
        };
        let finding = Finding::note("cores.mitigations", what, cost);
        found.push(finding.command("kernel parameter: mitigations=off (on a host of your own)"));
    }
    found
}

fn others(facts: &CoreFacts, measured: &Measurements) -> Vec<Finding> {
    let mut found = Vec::new();
    let busy = |core: &&crate::measurements::CoreLoad| {
        core.busy_percent > BUSY_PERCENT && facts.allowed.contains(&core.core)
    };
    let busy: Vec<String> = measured.loads.iter().filter(busy).map(ToString::to_string).collect();
    if !busy.is_empty() {
        let what = format!("programs run on the cores: {}", busy.join(", "));
        let cost = "a thread there waits for its turn: milliseconds";
        let finding = Finding::advice("cores.busy", what, cost);
        found.push(finding.command("top -H (end or move them)"));
    }
    let stolen: u32 = measured.loads.iter().map(|core| core.stolen_percent).max().unwrap_or(0);
    if stolen > 0 {
        let what = format!("the hypervisor takes up to {stolen} % of a core (steal)");
        let cost = "pauses of milliseconds that no setting of this host avoids";
        let severity =
            if stolen >= STOLEN_PERCENT { Severity::Important } else { Severity::Advice };
        found.push(Finding::new(severity, "cores.steal", what, cost));
    } else if facts.virtual_machine {
        let cost = "the hypervisor may pause it at any time, and its card adds a copy";
        found.push(Finding::note("cores.virtual", "virtual machine", cost));
    }
    found
}
