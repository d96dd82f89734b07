//! The queues of an interface: their number, rings, interrupts and memory node.

use hairpin_host::format_cores;

use crate::finding::Finding;
use crate::interface::{InterfaceFacts, folder};
use crate::kernel::InterfaceAnswers;
use crate::root::Root;

/// The receive ring below which bursts are lost: about 0.4 ms of full frames at 10 Gbit/s.
const RING_MIN: u32 = 512;

/// The facts about the queues of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QueueFacts {
    /// The interrupts with the cores that handle them.
    pub(crate) interrupts: Vec<(u32, Vec<usize>)>,
    /// `true` if irqbalance moves interrupts.
    pub(crate) balanced: bool,
    /// The memory node of the card, and its cores, on a host with several nodes.
    pub(crate) node: Option<(usize, Vec<usize>)>,
    /// The settings `napi_defer_hard_irqs` and `gro_flush_timeout` (in nanoseconds).
    pub(crate) deferred_interrupts: u64,
    pub(crate) flush_timeout: u64,
}

impl QueueFacts {
    pub(crate) fn read(root: &Root, answers: &InterfaceAnswers) -> Self {
        let Some(folder) = folder(root, answers) else { return Self::default() };
        let node = root.value(&format!("{folder}/device/numa_node")).and_then(|node: isize| {
            let node = usize::try_from(node).ok()?;
            let has_others = root.exists("sys/devices/system/node/node1");
            let cores = root.cores(&format!("sys/devices/system/node/node{node}/cpulist"));
            has_others.then_some((node, cores))
        });
        let value = |name: &str| root.value(&format!("{folder}/{name}")).unwrap_or_default();
        Self {
            interrupts: interrupts(root, &folder, &answers.device.name),
            balanced: !root.running(&["irqbalance"]).is_empty(),
            node,
            deferred_interrupts: value("napi_defer_hard_irqs"),
            flush_timeout: value("gro_flush_timeout"),
        }
    }

    /// Returns the cores that handle interrupts.
    fn cores(&self) -> Vec<usize> {
        let mut cores: Vec<usize> =
            self.interrupts.iter().flat_map(|(_, cores)| cores.iter().copied()).collect();
        cores.sort_unstable();
        cores.dedup();
        cores
    }
}

/// Returns the interrupts of an interface: those of its device, and those with its name or that of
/// its virtio device. An interrupt for changes of the configuration is not one of a queue.
fn interrupts(root: &Root, folder: &str, name: &str) -> Vec<(u32, Vec<usize>)> {
    let of_device = root.names(&format!("{folder}/device/msi_irqs"));
    let device = root.link(&format!("{folder}/device")).unwrap_or_default();
    let table = root.text("proc/interrupts").unwrap_or_default();
    let mut numbers: Vec<u32> = Vec::new();
    for line in table.lines() {
        let Some((number, rest)) = line.split_once(':') else { continue };
        let action = rest.split_ascii_whitespace().next_back().unwrap_or_default();
        let number = number.trim();
        let is_own = of_device.iter().any(|it| it == number)
            || [name, &device].into_iter().any(|it| is_named(action, it));
        if is_own && !action.ends_with("config") {
            numbers.extend(number.parse::<u32>());
        }
    }
    let cores = |number: u32| {
        let effective = root.cores(&format!("proc/irq/{number}/effective_affinity_list"));
        if effective.is_empty() {
            root.cores(&format!("proc/irq/{number}/smp_affinity_list"))
        } else {
            effective
        }
    };
    numbers.into_iter().map(|number| (number, cores(number))).collect()
}

/// Returns `true` if an action such as `i40e-eth1-TxRx-0` or `virtio2-input.0` contains a name as a
/// whole word.
fn is_named(action: &str, name: &str) -> bool {
    let words = action.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    !name.is_empty() && (action == name || words.into_iter().any(|word| word == name))
}

/// Returns the findings about the queues of an interface, for a program that may use `allowed`
/// cores and a host with `isolated` cores.
pub(crate) fn findings(
    interface: &InterfaceFacts,
    facts: &QueueFacts,
    allowed: &[usize],
    isolated: &[usize],
) -> Vec<Finding> {
    let name = interface.name();
    let mut found = Vec::new();
    let queues = interface.answers.device.queues;
    if queues as usize > allowed.len() && !allowed.is_empty() {
        let what = format!("queues: {queues}; cores for this process: {}", allowed.len());
        let cost = "each queue has a socket, and a loop reads the rings of all queues";
        let finding = Finding::advice("queues.many", what, cost);
        found.push(finding.command(format!("ethtool -L {name} combined {}", allowed.len())));
    }
    found.extend(rings(interface));
    found.extend(coalescing(interface));
    found.extend(interrupt_cores(facts, isolated));
    if facts.deferred_interrupts > 0 && facts.flush_timeout > 0 {
        let delay = facts.flush_timeout / 1_000;
        let what = format!(
            "interrupts are deferred: napi_defer_hard_irqs {}, gro_flush_timeout {} ns",
            facts.deferred_interrupts, facts.flush_timeout
        );
        let cost = format!("up to {delay} us per frame, unless a socket polls the driver");
        let finding = Finding::advice("queues.deferred", what, cost);
        found.push(finding.command(format!("echo 0 > /sys/class/net/{name}/napi_defer_hard_irqs")));
    }
    if let Some((node, cores)) = &facts.node
        && !cores.iter().any(|core| allowed.contains(core))
    {
        let what = format!("the card is at memory node {node}, with cores {}", format_cores(cores));
        let cost = "each frame crosses nodes: about 0.1 us per access to memory";
        let finding = Finding::advice("queues.node", what, cost);
        found.push(finding.command(format!("taskset -c {} PROGRAM", format_cores(cores))));
    }
    found
}

fn rings(interface: &InterfaceFacts) -> Option<Finding> {
    let rings = interface.answers.settings.rings?;
    if rings.receive >= RING_MIN.min(rings.receive_max) {
        return None;
    }
    let (size, max) = (rings.receive, rings.receive_max);
    let what = format!("receive rings of {size} descriptors, at most {max}");
    let cost = format!("a burst of more than {size} frames per queue is lost");
    let finding = Finding::advice("queues.rings", what, cost);
    let size = max.min(RING_MIN * 2);
    Some(finding.command(format!("ethtool -G {} rx {size}", interface.name())))
}

fn coalescing(interface: &InterfaceFacts) -> Option<Finding> {
    let coalescing = interface.answers.settings.coalescing?;
    if coalescing.receive_us == 0 && !coalescing.adaptive {
        return None;
    }
    let adaptive = if coalescing.adaptive { ", adaptive" } else { "" };
    let what = format!("receive interrupts are delayed by {} us{adaptive}", coalescing.receive_us);
    let cost = match (coalescing.receive_us, coalescing.adaptive) {
        (0, _) | (_, true) => "up to some tens of us per frame, changing with the load".to_owned(),
        (us, false) => format!("up to {us} us per frame"),
    };
    let finding = Finding::advice("queues.coalescing", what, cost);
    let name = interface.name();
    Some(finding.command(format!("ethtool -C {name} adaptive-rx off rx-usecs 0")))
}

fn interrupt_cores(facts: &QueueFacts, isolated: &[usize]) -> Vec<Finding> {
    let cores = facts.cores();
    let mut found = Vec::new();
    if cores.is_empty() {
        return found;
    }
    let disturbed: Vec<usize> =
        cores.iter().copied().filter(|core| isolated.contains(core)).collect();
    let numbers = |on: &[usize]| {
        let own = facts.interrupts.iter().filter(|(_, at)| at.iter().any(|it| on.contains(it)));
        own.map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(" ")
    };
    let move_away = |finding: Finding, from: &[usize]| {
        finding.command(format!(
            "for irq in {}; do echo CORE > /proc/irq/$irq/smp_affinity_list; done",
            numbers(from)
        ))
    };
    if disturbed.is_empty() {
        let what = format!("cores {} handle the interrupts", format_cores(&cores));
        let cost = "a thread that spins there waits for the kernel: use another core, or move the \
                    interrupts";
        found.push(move_away(Finding::note("queues.interrupts", what, cost), &cores));
    } else {
        let what = format!("isolated cores {} handle interrupts", format_cores(&disturbed));
        let cost = "each frame interrupts the thread that spins there";
        found
            .push(move_away(Finding::advice("queues.isolated_interrupts", what, cost), &disturbed));
    }
    if facts.balanced {
        let cost = "it moves interrupts to other cores while programs run";
        let finding = Finding::advice("queues.irqbalance", "irqbalance runs", cost);
        found.push(finding.command("systemctl disable --now irqbalance"));
    }
    found
}
