//! Rules of firewall, address translation and traffic control that bypassed frames skip.

use hairpin_stack::Chain;

use crate::finding::Finding;
use crate::interface::InterfaceFacts;
use crate::root::Root;

/// The disciplines that only queue: nothing is lost if frames skip them.
const PLAIN: [&str; 7] = ["noqueue", "pfifo_fast", "mq", "fq_codel", "fq", "pfifo", "noop"];

/// The facts about rules of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FirewallFacts {
    /// The chains of nftables, or the reason why they cannot be read.
    pub(crate) chains: Result<Vec<Chain>, String>,
    /// The tables of iptables that exist, possibly without rules: `filter`, `nat` and others.
    pub(crate) tables: Vec<String>,
}

impl FirewallFacts {
    pub(crate) fn read(root: &Root, chains: Result<Vec<Chain>, String>) -> Self {
        let mut tables = Vec::new();
        for (file, program) in [("ip_tables_names", "iptables"), ("ip6_tables_names", "ip6tables")]
        {
            let names = root.text(&format!("proc/net/{file}")).unwrap_or_default();
            tables.extend(names.split_whitespace().map(|name| format!("{program} {name}")));
        }
        Self { chains, tables }
    }
}

/// Returns the findings about the rules of the host.
pub(crate) fn findings(facts: &FirewallFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    match &facts.chains {
        Ok(chains) => {
            let (translating, others): (Vec<&Chain>, Vec<&Chain>) = chains
                .iter()
                .filter(|chain| chain.rules > 0 || chain.drops)
                .partition(|chain| chain.kind == "nat");
            if !others.is_empty() {
                let what = format!("nftables has rules: {}", describe(&others));
                let cost = "bypassed frames skip them: they neither drop nor count these";
                let finding = Finding::advice("firewall.nftables", what, cost);
                found.push(finding.command("nft list ruleset"));
            }
            if !translating.is_empty() {
                let what = format!("nftables translates addresses: {}", describe(&translating));
                let cost = "bypassed frames are not translated: use kernel sockets for these peers";
                let finding = Finding::advice("firewall.nat", what, cost);
                found.push(finding.command("nft list ruleset"));
            }
        }
        Err(cause) => {
            let what = format!("cannot read the rules of nftables: {cause}");
            let cost = "unknown: bypassed frames skip them";
            found.push(
                Finding::note("firewall.unread", what, cost).command("sudo nft list ruleset"),
            );
        }
    }
    if !facts.tables.is_empty() {
        let what = format!("tables exist: {} (their rules are not read)", facts.tables.join(", "));
        let cost = "bypassed frames skip all rules, also those that translate addresses";
        let finding = Finding::advice("firewall.iptables", what, cost);
        found.push(finding.command("iptables-save; ip6tables-save"));
    }
    found
}

fn describe(chains: &[&Chain]) -> String {
    let describe = |chain: &&Chain| {
        let drops = if chain.drops { ", else drop" } else { "" };
        let plural = if chain.rules == 1 { "" } else { "s" };
        format!("{} {} ({} rule{plural}{drops})", chain.table, chain.name, chain.rules)
    };
    chains.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// Returns the findings about traffic control of an interface.
pub(crate) fn interface_findings(facts: &InterfaceFacts) -> Vec<Finding> {
    let name = facts.name();
    let mut found = Vec::new();
    let Ok(control) = &facts.answers.traffic_control else { return found };
    if !control.filters.is_empty() {
        let what = format!("traffic control has filters: {}", control.filters.join(", "));
        let finding = Finding::advice("firewall.filters", what, "bypassed frames skip them");
        let command =
            format!("tc filter show dev {name} ingress; tc filter show dev {name} egress");
        found.push(finding.command(command));
    }
    let shaping = control.disciplines.iter().find(|kind| !PLAIN.contains(&kind.as_str()));
    if let Some(kind) = shaping {
        let what = format!("sent frames are shaped by {kind}");
        let cost = "bypassed frames skip it: neither delayed nor limited";
        let finding = Finding::advice("firewall.shaping", what, cost);
        found.push(finding.command(format!("tc qdisc show dev {name}")));
    }
    found
}
