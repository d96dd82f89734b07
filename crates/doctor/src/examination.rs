//! An examination: reads the facts, and collects the findings of all areas.

use hairpin_host::{Clock, HostFacts};

use crate::clock::{self, ClockFacts};
use crate::container::{self, ContainerFacts};
use crate::cores::{self, CoreFacts};
use crate::finding::{Finding, Severity};
use crate::firewall::{self, FirewallFacts};
use crate::interface::{self, InterfaceFacts};
use crate::kernel::{ExamineError, InterfaceAnswers, KernelAnswers};
use crate::measurements::Measurements;
use crate::memory::{self, MemoryFacts};
use crate::netlink::Link;
use crate::offloads;
use crate::privileges::{self, PrivilegeFacts};
use crate::queues::{self, QueueFacts};
use crate::report::{HostSummary, InterfaceSummary, Report};
use crate::root::Root;
use crate::sysctls::{self, SysctlFacts};

/// Examines this host and an interface, or all interfaces that are up except loopback. It changes
/// nothing, and takes about a second.
///
/// # Errors
/// The interface does not exist; the kernel does not answer.
pub fn examine(interface: Option<&str>) -> Result<Report, ExamineError> {
    let root = Root::new("/");
    let answers = KernelAnswers::query()?;
    let is_examined = |link: &&Link| match interface {
        Some(name) => link.name == name,
        None => link.up && !link.loopback,
    };
    let links: Vec<Link> = answers.links.iter().filter(is_examined).cloned().collect();
    if let (Some(name), []) = (interface, &links[..]) {
        // It has the error of the code that would open the interface.
        hairpin_xdp::Device::from_name(name)?;
    }
    let interfaces: Result<Vec<_>, _> = links.iter().map(InterfaceAnswers::query).collect();
    let measured = Measurements::take(&answers.allowed_cores);
    let facts = HostFacts::read(&Clock::from_kernel());
    let host =
        HostSummary { kernel: facts.kernel, cpu: facts.cpu, cores: answers.allowed_cores.clone() };
    Ok(report(&root, &answers, interfaces?, &measured, host))
}

/// The findings that keep AF_XDP from being used at all.
const OBSTACLES: [&str; 7] = [
    "interface.loopback",
    "interface.plan",
    "interface.mtu",
    "interface.program",
    "privileges.capabilities",
    "privileges.namespace",
    "memory.locked",
];

/// Collects the findings of all areas.
pub(crate) fn report(
    root: &Root,
    kernel: &KernelAnswers,
    interfaces: Vec<InterfaceAnswers>,
    measured: &Measurements,
    host: HostSummary,
) -> Report {
    let allowed = &kernel.allowed_cores;
    let cores = CoreFacts::read(root, allowed.clone());
    let interfaces: Vec<(InterfaceFacts, QueueFacts)> = interfaces
        .into_iter()
        .map(|answers| {
            let queues = QueueFacts::read(root, &answers);
            (InterfaceFacts::read(root, answers, &kernel.links), queues)
        })
        .collect();
    let plans = interfaces.iter().filter_map(|(facts, _)| facts.plans.as_ref().ok());
    let locked = plans.map(|[datagrams, _]| datagrams.locked_bytes).max().unwrap_or_default();
    let mut findings = [
        privileges::findings(&PrivilegeFacts::read(root, kernel.missing_capabilities.clone())),
        memory::findings(&MemoryFacts::read(root), locked),
        container::findings(&ContainerFacts::read(root, allowed)),
        firewall::findings(&FirewallFacts::read(root, kernel.chains.clone())),
        sysctls::findings(&SysctlFacts::read(root)),
        cores::findings(&cores, measured),
        clock::findings(&ClockFacts::read(root, kernel.clock_sync), measured),
    ]
    .concat();
    let of_host = obstacle(&findings);
    let mut summaries = Vec::new();
    for (facts, queues) in &interfaces {
        let filter = sysctls::reverse_path_filter(root, facts.name());
        let own = [
            interface::findings(facts),
            queues::findings(facts, queues, allowed, &cores.isolated),
            offloads::findings(facts),
            firewall::interface_findings(facts),
            sysctls::interface_findings(facts.name(), filter),
        ]
        .concat();
        let obstacle = obstacle(&own).or_else(|| of_host.clone());
        summaries.push(InterfaceSummary::new(facts, obstacle));
        findings.extend(own.into_iter().map(|finding| finding.on(facts.name())));
    }
    Report::new(host, summaries, findings, root.unread())
}

/// Returns what keeps AF_XDP from being used.
fn obstacle(findings: &[Finding]) -> Option<String> {
    let blocks = |finding: &&Finding| {
        finding.severity == Severity::Important && OBSTACLES.contains(&finding.id)
    };
    findings.iter().find(blocks).map(|finding| finding.found.clone())
}

#[cfg(test)]
mod tests;
