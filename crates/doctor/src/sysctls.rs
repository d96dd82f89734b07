//! Settings of the kernel's network stack.

use crate::finding::Finding;
use crate::root::Root;

/// The receive buffer of each line of a feed, in bytes.
const LINE_BUFFER: u64 = 4 << 20;
/// The packets that a core's backlog should hold.
const BACKLOG: u32 = 1_000;

/// The settings; `None` for one that the kernel lacks or that this process may not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SysctlFacts {
    pub(crate) busy_poll: Option<u32>,
    pub(crate) busy_read: Option<u32>,
    pub(crate) receive_buffer_max: Option<u64>,
    pub(crate) backlog: Option<u32>,
    pub(crate) ecn: Option<u32>,
    pub(crate) jit: Option<u32>,
    /// The connections that the firewall tracks; `None` without connection tracking.
    pub(crate) tracked: Option<u64>,
    pub(crate) liberal: Option<u32>,
}

impl SysctlFacts {
    pub(crate) fn read(root: &Root) -> Self {
        let net = |name: &str| format!("proc/sys/net/{name}");
        Self {
            busy_poll: root.value(&net("core/busy_poll")),
            busy_read: root.value(&net("core/busy_read")),
            receive_buffer_max: root.value(&net("core/rmem_max")),
            backlog: root.value(&net("core/netdev_max_backlog")),
            ecn: root.value(&net("ipv4/tcp_ecn")),
            jit: root.value(&net("core/bpf_jit_enable")),
            tracked: root.value(&net("netfilter/nf_conntrack_count")),
            liberal: root.value(&net("netfilter/nf_conntrack_tcp_be_liberal")),
        }
    }
}

/// Returns the value of `rp_filter` that applies to an interface: the higher of its own and that of
/// `all`.
pub(crate) fn reverse_path_filter(root: &Root, interface: &str) -> Option<u32> {
    let value = |name: &str| root.value(&format!("proc/sys/net/ipv4/conf/{name}/rp_filter"));
    value(interface).max(value("all"))
}

/// Returns the findings about the settings of the host.
pub(crate) fn findings(facts: &SysctlFacts) -> Vec<Finding> {
    let set = |finding: Finding, setting: &str| finding.command(format!("sysctl net.{setting}"));
    let mut found = Vec::new();
    if facts.jit == Some(0) {
        let cost = "the kernel interprets the filter: several times its 20 to 50 ns per frame";
        let finding = Finding::advice("sysctls.jit", "net.core.bpf_jit_enable is 0", cost);
        found.push(set(finding, "core.bpf_jit_enable=1"));
    }
    if facts.tracked.is_some_and(|tracked| tracked > 0) && facts.liberal == Some(0) {
        let cost = "a TCP connection that returns from AF_XDP to the kernel has sequence numbers \
                    that the firewall did not see: rules that drop invalid packets cut it off";
        let what = "net.netfilter.nf_conntrack_tcp_be_liberal is 0, and connections are tracked";
        let finding = Finding::important("sysctls.liberal", what, cost);
        found.push(set(finding, "netfilter.nf_conntrack_tcp_be_liberal=1"));
    }
    if facts.ecn == Some(1) {
        let cost = "a connection that uses ECN stays with the kernel";
        let finding = Finding::advice("sysctls.ecn", "net.ipv4.tcp_ecn is 1", cost);
        found.push(set(finding, "ipv4.tcp_ecn=2"));
    }
    if facts.receive_buffer_max.is_some_and(|max| max < LINE_BUFFER) {
        let max = facts.receive_buffer_max.unwrap_or_default() >> 10;
        let what = format!("net.core.rmem_max is {max} KiB");
        let cost = "kernel sockets lose bursts that are longer; a line of a feed asks for 4 MiB";
        let finding = Finding::advice("sysctls.receive_buffer", what, cost);
        found.push(set(finding, &format!("core.rmem_max={LINE_BUFFER}")));
    }
    if let Some(backlog) = facts.backlog.filter(|backlog| *backlog < BACKLOG) {
        let what = format!("net.core.netdev_max_backlog is {backlog}");
        let cost = "longer bursts over loopback and veth are lost";
        let finding = Finding::advice("sysctls.backlog", what, cost);
        found.push(set(finding, &format!("core.netdev_max_backlog={BACKLOG}")));
    }
    if facts.busy_poll == Some(0) && facts.busy_read == Some(0) {
        let what = "kernel sockets do not poll the driver (net.core.busy_poll and busy_read are 0)";
        let cost = "kernel sockets wait for an interrupt: some microseconds; AF_XDP ignores this";
        let finding = Finding::note("sysctls.busy_poll", what, cost);
        found.push(set(finding, "core.busy_poll=50 net.core.busy_read=50"));
    }
    found
}

/// Returns the finding about the reverse path filter of an interface.
pub(crate) fn interface_findings(interface: &str, filter: Option<u32>) -> Vec<Finding> {
    if filter != Some(1) {
        return Vec::new();
    }
    let cost = "packets whose sender is not reached over this interface are dropped, such as \
                market data without a route back; AF_XDP drops them too";
    let finding = Finding::advice("sysctls.rp_filter", "rp_filter is 1 (strict)", cost);
    let command =
        format!("sysctl net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.{interface}.rp_filter=2");
    vec![finding.command(command)]
}
