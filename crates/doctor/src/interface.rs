//! An interface: its mode, and what stands in the way of AF_XDP.

use hairpin_stack::InterfaceError;
use hairpin_xdp::{InterfacePlan, Mode};

use crate::finding::Finding;
use crate::kernel::{InterfaceAnswers, plan};
use crate::netlink::Link;
use crate::root::Root;

/// The bits of virtio's features, by their places in the file `features`: receive offloads that
/// the host may use (`GUEST_CSUM`, `GUEST_TSO4`, `GUEST_TSO6`, `GUEST_ECN`, `GUEST_UFO`,
/// `GUEST_USO4`, `GUEST_USO6`), and the command that switches them off.
const VIRTIO_RECEIVE_OFFLOADS: [usize; 7] = [1, 7, 8, 9, 10, 54, 55];
const VIRTIO_CONTROL_OFFLOADS: usize = 2;

/// The facts about an interface.
#[derive(Debug, Clone)]
pub(crate) struct InterfaceFacts {
    pub(crate) answers: InterfaceAnswers,
    /// The names of the VLANs on top.
    pub(crate) vlans: Vec<String>,
    /// The interface below a macvlan that answers ARP for its addresses too.
    pub(crate) answers_arp: Option<String>,
    /// `true` for a virtio device whose driver refuses native mode.
    pub(crate) virtio_refuses: bool,
    /// The plans for datagrams, and for commands that carry TCP.
    pub(crate) plans: Result<[InterfacePlan; 2], Obstacle>,
}

/// The reason why an interface cannot be used, from the code that would use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    text: String,
    /// The highest MTU that fits, if the MTU is the reason.
    max_mtu: Option<u32>,
}

impl InterfaceFacts {
    pub(crate) fn read(root: &Root, mut answers: InterfaceAnswers, links: &[Link]) -> Self {
        let index = answers.device.index;
        let on_top = links.iter().filter(|link| link.below == Some(index));
        let vlans = on_top.filter(|link| link.kind.as_deref() == Some("vlan"));
        let vlans = vlans.map(|link| link.name.clone()).collect();
        let features = folder(root, &answers)
            .and_then(|folder| root.text(&format!("{folder}/device/features")));
        let virtio_refuses = answers.device.driver.as_deref() == Some("virtio_net")
            && features.is_some_and(|bits| refuses_native(&bits));
        if virtio_refuses && let Some(features) = &mut answers.device.features {
            (features.native, features.zero_copy) = (false, false);
        }
        let below = links.iter().find(|link| Some(link.index) == answers.link.below && link.up);
        let ignores_arp = |name: &str| {
            let setting = format!("proc/sys/net/ipv4/conf/{name}/arp_ignore");
            root.value::<u32>(&setting).is_none_or(|value| value > 0)
        };
        let answers_arp = below
            .filter(|_| answers.link.kind.as_deref() == Some("macvlan"))
            .map(|link| link.name.clone())
            .filter(|name| !ignores_arp("all") && !ignores_arp(name));
        let plans = plan(&answers.device, false)
            .and_then(|datagrams| Ok([datagrams, plan(&answers.device, true)?]));
        Self { answers, vlans, answers_arp, virtio_refuses, plans: plans.map_err(Obstacle::new) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.answers.device.name
    }

    pub(crate) fn driver(&self) -> &str {
        self.answers.device.driver.as_deref().unwrap_or("none")
    }

    /// Returns `true` if the filter runs after the driver.
    pub(crate) fn is_generic(&self) -> bool {
        self.plans.as_ref().is_ok_and(|[datagrams, _]| datagrams.mode == Mode::Generic)
    }

    fn is_kind(&self, kind: &str) -> bool {
        self.answers.link.kind.as_deref() == Some(kind)
    }
}

impl Obstacle {
    fn new(error: InterfaceError) -> Self {
        let max_mtu = match &error {
            InterfaceError::Mtu { max_mtu, .. } => Some(*max_mtu),
            _ => None,
        };
        Self { text: error.to_string(), max_mtu }
    }
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the folder of an interface in /sys, unless /sys is that of another network namespace.
pub(crate) fn folder(root: &Root, answers: &InterfaceAnswers) -> Option<String> {
    let folder = format!("sys/class/net/{}", answers.device.name);
    let index: u32 = root.value(&format!("{folder}/ifindex"))?;
    (index == answers.device.index).then_some(folder)
}

/// Returns `true` if virtio_net refuses native mode: the host may combine received frames, and the
/// driver cannot switch that off (`virtnet_xdp_set`).
fn refuses_native(bits: &str) -> bool {
    let has = |place: &usize| bits.as_bytes().get(*place) == Some(&b'1');
    VIRTIO_RECEIVE_OFFLOADS.iter().any(has) && !has(&VIRTIO_CONTROL_OFFLOADS)
}

/// Returns the findings about an interface.
pub(crate) fn findings(facts: &InterfaceFacts) -> Vec<Finding> {
    let all = [path(facts), structure(facts), mode(facts)];
    all.into_iter().flatten().chain(long_packets(facts)).collect()
}

/// Returns what keeps the interface from being used at all.
fn path(facts: &InterfaceFacts) -> Vec<Finding> {
    let (name, link) = (facts.name(), &facts.answers.link);
    let mut found = Vec::new();
    if link.loopback {
        let cost = "traffic on loopback stays with the kernel";
        found.push(Finding::important("interface.loopback", "loopback interface", cost));
        return found;
    }
    if !link.up {
        let down = Finding::important("interface.down", "the interface is down", "no traffic");
        found.push(down.command(format!("ip link set dev {name} up")));
    } else if !link.running {
        let cost = "no traffic: check cable, switch port or the peer of a veth";
        found.push(Finding::important("interface.carrier", "no carrier", cost));
    }
    if let Err(obstacle) = &facts.plans {
        let id = if obstacle.max_mtu.is_some() { "interface.mtu" } else { "interface.plan" };
        let cost = "everything stays with the kernel";
        let finding = Finding::important(id, obstacle.to_string(), cost);
        found.push(match obstacle.max_mtu {
            Some(mtu) => finding.command(format!("ip link set dev {name} mtu {mtu}")),
            None => finding,
        });
    }
    if let Some(program) = link.program {
        let (owner, command) = match &facts.answers.owner {
            Some(owner) => (format!(" of {owner}"), format!("kill {}", owner.process)),
            None => (String::new(), format!("ip link set dev {name} xdp off")),
        };
        let what = format!("XDP program {program}{owner} is attached");
        let cost = "an interface has one program: AF_XDP cannot be used";
        found.push(Finding::important("interface.program", what, cost).command(command));
    }
    if !facts.answers.has_address {
        let cost = "no socket can be bound to the interface, except for raw frames";
        let finding = Finding::advice("interface.address", "no IPv4 address", cost);
        found.push(finding.command(format!("ip address add ADDRESS/LENGTH dev {name}")));
    }
    found
}

/// Returns a finding about an MTU above the length of a frame of the UMEM.
fn long_packets(facts: &InterfaceFacts) -> Option<Finding> {
    let (mtu, [plan, _]) = (facts.answers.device.mtu, facts.plans.as_ref().ok()?);
    let longest = Some(plan.max_mtu).filter(|longest| mtu > *longest)?;
    let what = format!("MTU {mtu}: packets above {longest} bytes");
    let cost = "the kernel receives such datagrams, and TCP takes such packets in parts";
    let finding = Finding::advice("interface.long_packets", what, cost);
    Some(finding.command(format!("ip link set dev {} mtu {longest}", facts.name())))
}

/// Returns findings about what the interface is made of or is part of.
fn structure(facts: &InterfaceFacts) -> Vec<Finding> {
    let link = &facts.answers.link;
    let mut found = Vec::new();
    if facts.is_kind("vlan") {
        let cost = "generic mode only: the kernel removes the tag before the filter runs";
        found.push(Finding::advice("interface.vlan", "the interface is a VLAN", cost));
    }
    if let Some(master) = &link.member_of {
        let what = format!("member of a {master}");
        let cost = format!("the {master} has the addresses: name it instead of its member");
        found.push(Finding::important("interface.member", what, cost));
    }
    if facts.is_kind("bond") {
        let cost = "generic mode only: the members do not deliver to sockets of the bond";
        found.push(Finding::advice("interface.bond", "the interface is a bond", cost));
    }
    if facts.is_kind("ipvlan") && link.without_arp {
        let cost = "what is sent goes through the kernel: the driver needs its routes";
        let finding = Finding::advice("interface.layer3", "ipvlan in mode L3", cost);
        found.push(finding);
    }
    if let Some(below) = &facts.answers_arp {
        let what = format!("{below}, below this macvlan, answers ARP for its addresses too");
        let cost = format!("hosts that send to {below} reach kernel sockets only");
        let finding = Finding::important("interface.arp", what, cost);
        found.push(finding.command(format!("sysctl net.ipv4.conf.{below}.arp_ignore=1")));
    }
    if !facts.vlans.is_empty() {
        let what = format!("VLANs on top: {}", facts.vlans.join(", "));
        let cost = "tagged frames stay with the kernel";
        found.push(Finding::note("interface.vlans", what, cost));
    }
    found
}

/// Returns findings about the mode of the filter.
fn mode(facts: &InterfaceFacts) -> Vec<Finding> {
    let features = facts.answers.device.features;
    let mut found = Vec::new();
    if facts.answers.link.loopback || facts.plans.is_err() {
        return found;
    }
    let cost =
        "the filter runs after the driver: the kernel allocates a buffer and copies each frame";
    if facts.virtio_refuses {
        let what = "the virtual card combines received frames, so that virtio_net refuses native \
                    mode";
        let finding = Finding::advice("interface.virtio", what, cost);
        found.push(finding.command(
            "at the hypervisor: switch off guest_tso4, guest_tso6, guest_ufo, guest_csum, or offer \
             ctrl_guest_offloads",
        ));
    } else if facts.is_generic() && !facts.is_kind("bond") && !facts.is_kind("veth") {
        let what = format!("the driver {} has no native mode", facts.driver());
        found.push(Finding::advice("interface.generic", what, cost));
    }
    if facts.is_kind("veth") {
        let cost =
            "generic mode is faster by a quarter here; `--transport xdp` with TCP uses native mode";
        found.push(Finding::note("interface.veth", "the interface is a veth", cost));
    }
    if features.is_none() {
        let cost = "native mode is tried first, and is used if the driver has it";
        let what = "the kernel does not report the driver's XDP features (before Linux 6.3)";
        found.push(Finding::note("interface.features", what, cost));
    }
    if features.is_some_and(|features| features.native && !features.receive_stamps) {
        let cost = "receive times are taken when the filter runs, in software";
        let what = "the driver passes no receive timestamps to XDP programs";
        found.push(Finding::note("interface.timestamps", what, cost));
    }
    found
}
