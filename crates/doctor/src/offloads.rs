//! Offloads that combine, split or strip frames.

use crate::finding::Finding;
use crate::interface::InterfaceFacts;

/// Returns the findings about the offloads of an interface.
pub(crate) fn findings(facts: &InterfaceFacts) -> Vec<Finding> {
    if facts.answers.link.loopback {
        return Vec::new();
    }
    let (name, settings) = (facts.name(), &facts.answers.settings);
    let switch_off = |finding: Finding, feature: &str, flag: &str| match settings.is_fixed(feature)
    {
        true => finding,
        false => finding.command(format!("ethtool -K {name} {flag} off")),
    };
    let mut found = Vec::new();
    if settings.is_active("rx-lro") {
        let cost = "the card combines frames: drivers refuse native mode, or switch LRO off";
        let finding = Finding::advice("offloads.lro", "LRO is on", cost);
        found.push(switch_off(finding, "rx-lro", "lro"));
    }
    if settings.is_active("rx-gro-hw") {
        let cost = "the card combines frames: some drivers refuse native mode";
        let finding = Finding::advice("offloads.gro_hw", "hardware GRO is on", cost);
        found.push(switch_off(finding, "rx-gro-hw", "rx-gro-hw"));
    }
    if settings.is_active("rx-gro") && facts.is_generic() {
        let cost = "TCP only: the kernel combines frames before the filter; they arrive in parts \
                    (before Linux 6.6 they are lost)";
        let finding = Finding::advice("offloads.gro", "GRO is on, in generic mode", cost);
        found.push(switch_off(finding, "rx-gro", "gro"));
    }
    let segments = ["tx-tcp-segmentation", "tx-tcp6-segmentation"];
    if segments.into_iter().any(|it| settings.is_active(it)) {
        let is_virtual = matches!(facts.driver(), "veth" | "macvlan");
        let cost = if is_virtual {
            "this host's kernel sends long frames: a peer in generic mode receives them in parts"
        } else {
            "none for bypassed traffic, which is sent as complete frames"
        };
        let finding = Finding::note("offloads.tso", "TSO is on", cost);
        found.push(if is_virtual {
            finding.command(format!("ethtool -K {name} tso off gso off"))
        } else {
            finding
        });
    }
    if facts.answers.device.strips_vlan && !facts.vlans.is_empty() {
        let cost = "sockets of the interface also receive the frames of its VLANs: the filter does \
                    not see the tags";
        let finding = Finding::important("offloads.vlan", "the card strips VLAN tags", cost);
        found.push(switch_off(finding, "rx-vlan-hw-parse", "rxvlan"));
    }
    found
}
