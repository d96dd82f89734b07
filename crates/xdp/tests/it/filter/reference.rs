//! A reference implementation of the filter: entries are compared field by field.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hairpin_xdp::{Entry, Protocol};

/// The destination of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Kernel,
    Slot(u32),
}

/// The branch that leads to a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Branch {
    TagTruncated,
    SecondTag,
    ServiceTag,
    EtherTypeEntry,
    EtherTypeUnknown,
    Ipv4Truncated,
    Ipv4OtherVersion,
    Ipv4Options,
    Ipv4FirstFragment,
    Ipv4LaterFragment,
    Ipv6Truncated,
    Ipv6OtherVersion,
    Ipv6Mapped,
    OtherProtocol,
    TcpTruncated,
    UdpTruncated,
    UdpLong,
    Flow,
    Port,
    AnyAddress,
    GroupPort,
    Group,
    GroupNotUdp,
    NotMulticast,
    NoEntry,
}

pub(crate) const BRANCHES: [Branch; 25] = [
    Branch::TagTruncated,
    Branch::SecondTag,
    Branch::ServiceTag,
    Branch::EtherTypeEntry,
    Branch::EtherTypeUnknown,
    Branch::Ipv4Truncated,
    Branch::Ipv4OtherVersion,
    Branch::Ipv4Options,
    Branch::Ipv4FirstFragment,
    Branch::Ipv4LaterFragment,
    Branch::Ipv6Truncated,
    Branch::Ipv6OtherVersion,
    Branch::Ipv6Mapped,
    Branch::OtherProtocol,
    Branch::TcpTruncated,
    Branch::UdpTruncated,
    Branch::UdpLong,
    Branch::Flow,
    Branch::Port,
    Branch::AnyAddress,
    Branch::GroupPort,
    Branch::Group,
    Branch::GroupNotUdp,
    Branch::NotMulticast,
    Branch::NoEntry,
];

/// A path through the filter: the branch, the entry's outcome if an entry decided, whether the
/// frame is tagged, and the IP version.
pub(crate) type DecisionPath = (Branch, Option<Outcome>, bool, u8);

/// The longest datagram that is redirected, with its header. Random lengths are shorter three times
/// in four.
pub(crate) const LONGEST_DATAGRAM: u16 = 49_151;

/// The entries, searched one by one.
pub(crate) struct Reference {
    pub(crate) entries: Vec<(Entry, Outcome)>,
}

struct Ip {
    protocol: u8,
    vlan: Option<u16>,
    local: IpAddr,
    remote: IpAddr,
}

impl Reference {
    /// Returns the outcome for a frame, and the path to it.
    pub(crate) fn decide(&self, frame: &[u8]) -> (Outcome, DecisionPath) {
        let is_tagged = word(frame, 12) == Some(0x8100);
        let (branch, entry, family) = self.ethernet(frame);
        (entry.unwrap_or(Outcome::Kernel), (branch, entry, is_tagged, family))
    }

    fn ethernet(&self, frame: &[u8]) -> (Branch, Option<Outcome>, u8) {
        let kernel = |branch| (branch, None, 0);
        let (mut vlan, mut rest) = (None, 14);
        let mut kind = word(frame, 12).expect("a frame has an Ethernet header");
        if kind == 0x8100 {
            let (Some(tag), Some(inner)) = (word(frame, 14), word(frame, 16)) else {
                return kernel(Branch::TagTruncated);
            };
            vlan = Some(tag & 0x0fff).filter(|&number| number != 0);
            (kind, rest) = (inner, 18);
        }
        match kind {
            0x8100 => kernel(Branch::SecondTag),
            0x88a8 => kernel(Branch::ServiceTag),
            0x0800 => self.ipv4(vlan, &frame[rest..]),
            0x86dd => self.ipv6(vlan, &frame[rest..]),
            ether_type => match self.find(Entry::EtherType { vlan, ether_type }) {
                None => kernel(Branch::EtherTypeUnknown),
                entry => (Branch::EtherTypeEntry, entry, 0),
            },
        }
    }

    fn ipv4(&self, vlan: Option<u16>, packet: &[u8]) -> (Branch, Option<Outcome>, u8) {
        let kernel = |branch| (branch, None, 4);
        if packet.len() < 20 {
            return kernel(Branch::Ipv4Truncated);
        }
        if packet[0] >> 4 != 4 {
            return kernel(Branch::Ipv4OtherVersion);
        }
        if packet[0] & 0xf != 5 {
            return kernel(Branch::Ipv4Options);
        }
        let fragment = u16::from_be_bytes([packet[6], packet[7]]);
        if fragment & 0x1fff != 0 {
            return kernel(Branch::Ipv4LaterFragment);
        }
        if fragment & 0x2000 != 0 {
            return kernel(Branch::Ipv4FirstFragment);
        }
        let address =
            |at: usize| Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]);
        let (local, remote) = (address(16).into(), address(12).into());
        let (branch, entry) =
            self.ports(Ip { protocol: packet[9], vlan, local, remote }, &packet[20..]);
        (branch, entry, 4)
    }

    fn ipv6(&self, vlan: Option<u16>, packet: &[u8]) -> (Branch, Option<Outcome>, u8) {
        let kernel = |branch| (branch, None, 6);
        if packet.len() < 40 {
            return kernel(Branch::Ipv6Truncated);
        }
        if packet[0] >> 4 != 6 {
            return kernel(Branch::Ipv6OtherVersion);
        }
        let address = |at: usize| {
            let octets: [u8; 16] = packet[at..at + 16].try_into().unwrap();
            Ipv6Addr::from(octets)
        };
        if address(24).to_ipv4_mapped().is_some() {
            return kernel(Branch::Ipv6Mapped);
        }
        let (local, remote) = (address(24).into(), address(8).into());
        let (branch, entry) =
            self.ports(Ip { protocol: packet[6], vlan, local, remote }, &packet[40..]);
        (branch, entry, 6)
    }

    fn ports(&self, ip: Ip, segment: &[u8]) -> (Branch, Option<Outcome>) {
        let protocol = match ip.protocol {
            6 if segment.len() < 20 => return (Branch::TcpTruncated, None),
            17 if segment.len() < 8 => return (Branch::UdpTruncated, None),
            17 if word(segment, 4) > Some(LONGEST_DATAGRAM) => return (Branch::UdpLong, None),
            6 => Protocol::Tcp,
            17 => Protocol::Udp,
            _ => return (Branch::OtherProtocol, None),
        };
        let [from, to] = [0, 2].map(|at| word(segment, at).unwrap());
        let Ip { vlan, local, remote, .. } = ip;
        let end = SocketAddr::new(local, to);
        let flow =
            Entry::Flow { protocol, vlan, local: end, remote: SocketAddr::new(remote, from) };
        if let Some(outcome) = self.find(flow) {
            return (Branch::Flow, Some(outcome));
        }
        if local.is_multicast() {
            return self.group(protocol, vlan, end);
        }
        if let Some(outcome) = self.find(Entry::Local { protocol, vlan, local: end }) {
            return (Branch::Port, Some(outcome));
        }
        let any: IpAddr = match local {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let any = Entry::Local { protocol, vlan, local: SocketAddr::new(any, to) };
        self.find(any).map_or((Branch::NoEntry, None), |entry| (Branch::AnyAddress, Some(entry)))
    }

    fn group(
        &self,
        protocol: Protocol,
        vlan: Option<u16>,
        end: SocketAddr,
    ) -> (Branch, Option<Outcome>) {
        if protocol != Protocol::Udp {
            return (Branch::GroupNotUdp, None);
        }
        let group = end.ip();
        if let Some(outcome) = self.find(Entry::Group { vlan, group, port: Some(end.port()) }) {
            return (Branch::GroupPort, Some(outcome));
        }
        let all = self.find(Entry::Group { vlan, group, port: None });
        all.map_or((Branch::NotMulticast, None), |outcome| (Branch::Group, Some(outcome)))
    }

    fn find(&self, wanted: Entry) -> Option<Outcome> {
        let found = self.entries.iter().find(|(entry, _)| *entry == wanted);
        found.map(|(_, outcome)| *outcome)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Counts of the paths taken.
#[derive(Default)]
pub(crate) struct Census(BTreeMap<(Branch, String), u32>);

impl Census {
    pub(crate) fn count(&mut self, (branch, entry, is_tagged, family): DecisionPath) {
        let tag = if is_tagged { "tagged" } else { "untagged" };
        let family = ["no IP", "IPv4", "IPv6"][usize::from(family / 2).saturating_sub(1)];
        let entry = entry.map_or("none".to_string(), |entry| format!("{entry:?}"));
        *self.0.entry((branch, format!("{tag}, {family}, entry {entry}"))).or_default() += 1;
    }

    pub(crate) fn count_of(&self, branch: Branch, terms: &str) -> u32 {
        let matches =
            |how: &str| terms.split(' ').all(|term| how.split([',', ' ']).any(|word| word == term));
        let all = self.0.iter().filter(|((b, how), _)| *b == branch && matches(how));
        all.map(|(_, count)| count).sum()
    }

    pub(crate) fn print(&self) {
        for ((branch, how), count) in &self.0 {
            println!("{count:>8}  {branch:?}: {how}");
        }
        println!("{:>8}  frames", self.0.values().sum::<u32>());
    }
}
