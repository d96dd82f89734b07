//! What the filter is told to look for, and the keys that the program looks up.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// EtherTypes that the kernel is for, and that no entry may take from it: IPv4, ARP, 802.1Q, IPv6
/// and 802.1ad.
const KERNELS_ETHER_TYPES: [u16; 5] = [0x0800, 0x0806, 0x8100, 0x86dd, 0x88a8];
/// What is less is the length of an 802.3 frame.
const SMALLEST_ETHER_TYPE: u16 = 0x0600;

/// Bytes of the key of an exact flow: a [`LOCAL_KEY`] and the remote end.
pub(super) const FLOW_KEY: usize = 44;
/// Bytes of every other key.
pub(super) const LOCAL_KEY: usize = 24;

/// A protocol above IP that the filter knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Protocol {
    /// 6
    Tcp,
    /// 17
    Udp,
}

impl Protocol {
    const fn number(self) -> u16 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }
}

/// What an entry is for. The filter looks for them in this order, and the first that is found
/// decides. Each is for one VLAN, 1 to 4094, or for frames without a tag (a tag with the number 0
/// counts as none); addresses of IPv4 may be written as those of IPv6 (`::ffff:a.b.c.d`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entry {
    /// One flow between two ends, exactly. `local` is where its frames are addressed to.
    Flow {
        /// Above IP.
        protocol: Protocol,
        /// The tag, if there is one.
        vlan: Option<u16>,
        /// Where frames are addressed to.
        local: SocketAddr,
        /// Where they come from.
        remote: SocketAddr,
    },
    /// All that comes to a port. An unspecified address (`0.0.0.0` or `::`) stands for every one of
    /// its family but multicast, and is looked for last.
    Local {
        /// Above IP.
        protocol: Protocol,
        /// The tag, if there is one.
        vlan: Option<u16>,
        /// Where frames are addressed to.
        local: SocketAddr,
    },
    /// UDP to a multicast group, to one port of it before all of them. What else is sent to a
    /// group, such as IGMP, stays the kernel's.
    Group {
        /// The tag, if there is one.
        vlan: Option<u16>,
        /// The group.
        group: IpAddr,
        /// `None` for all ports.
        port: Option<u16>,
    },
    /// All frames of an EtherType: raw use.
    EtherType {
        /// The tag, if there is one.
        vlan: Option<u16>,
        /// From 0x0600 on, and not one that the kernel is for: IPv4, ARP, IPv6, VLANs.
        ether_type: u16,
    },
}

/// Why an entry is none, or was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// 1 to 4094 are possible.
    #[error("VLAN {0}: 1 to 4094 are possible")]
    Vlan(u16),
    /// Nothing is ever sent there.
    #[error("port 0")]
    Port,
    /// IPv4 at one end and IPv6 at the other.
    #[error("{0} and {1} are of two families")]
    Families(IpAddr, IpAddr),
    /// A flow has two ends, and a group is no place to come from; a port is of one's own address.
    #[error("{0} cannot stand here")]
    Address(IpAddr),
    /// Groups are multicast addresses.
    #[error("{0} is no multicast group")]
    NoGroup(IpAddr),
    /// Too small for one, or the kernel's.
    #[error("EtherType {0:#06x} is not to be had")]
    EtherType(u16),
    /// The filter was made for this EtherType alone.
    #[error("the filter knows EtherType {0:#06x} alone")]
    Only(u16),
    /// The map has as many entries as it was made for.
    #[error("there is no room for another entry")]
    Full,
    /// The kernel refused.
    #[error("the filter's map: {0}")]
    Kernel(#[from] std::io::Error),
}

/// What the program needs not look for where there is no entry of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Flow(Protocol),
    Port(Protocol),
    /// A port of any address.
    AnyAddress(Protocol),
    /// A group's port, and a group with all its ports.
    GroupPort,
    Group,
    /// `vlan` is 0 for none.
    EtherType {
        vlan: u16,
        ether_type: u16,
    },
}

/// Which map an entry is in, and by what key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Flow([u8; FLOW_KEY]),
    /// A port or an EtherType.
    Local([u8; LOCAL_KEY]),
    Group([u8; LOCAL_KEY]),
}

impl Entry {
    pub(super) fn kind(&self) -> Kind {
        match *self {
            Self::Flow { protocol, .. } => Kind::Flow(protocol),
            Self::Local { protocol, local, .. } => {
                let is_any = local.ip().to_canonical().is_unspecified();
                if is_any { Kind::AnyAddress(protocol) } else { Kind::Port(protocol) }
            }
            Self::Group { port: Some(_), .. } => Kind::GroupPort,
            Self::Group { port: None, .. } => Kind::Group,
            Self::EtherType { vlan, ether_type } => {
                Kind::EtherType { vlan: vlan.unwrap_or(0), ether_type }
            }
        }
    }

    pub(super) fn key(&self) -> Result<Key, EntryError> {
        match *self {
            Self::Flow { protocol, vlan, local, remote } => {
                flow_key(protocol, vlan, local, remote).map(Key::Flow)
            }
            Self::Local { protocol, vlan, local } => {
                let address = local.ip().to_canonical();
                if address.is_multicast() {
                    return Err(EntryError::Address(address));
                }
                let port = checked_port(local.port())?;
                Ok(Key::Local(local_key(address, port, protocol.number(), checked_vlan(vlan)?)))
            }
            Self::Group { vlan, group, port } => {
                let group = group.to_canonical();
                if !group.is_multicast() {
                    return Err(EntryError::NoGroup(group));
                }
                let port = port.map_or(Ok(0), checked_port)?;
                let (kind, vlan) = (Protocol::Udp.number(), checked_vlan(vlan)?);
                Ok(Key::Group(local_key(group, port, kind, vlan)))
            }
            Self::EtherType { vlan, ether_type } => {
                if ether_type < SMALLEST_ETHER_TYPE || KERNELS_ETHER_TYPES.contains(&ether_type) {
                    return Err(EntryError::EtherType(ether_type));
                }
                let nowhere = Ipv6Addr::UNSPECIFIED.into();
                Ok(Key::Local(local_key(nowhere, 0, ether_type, checked_vlan(vlan)?)))
            }
        }
    }
}

fn flow_key(
    protocol: Protocol,
    vlan: Option<u16>,
    local: SocketAddr,
    remote: SocketAddr,
) -> Result<[u8; FLOW_KEY], EntryError> {
    let [from, to] = [remote.ip().to_canonical(), local.ip().to_canonical()];
    if from.is_ipv4() != to.is_ipv4() {
        return Err(EntryError::Families(to, from));
    }
    if let Some(address) = [from, to].into_iter().find(IpAddr::is_unspecified) {
        return Err(EntryError::Address(address));
    }
    if from.is_multicast() {
        return Err(EntryError::Address(from));
    }
    let port = checked_port(local.port())?;
    let mut key = [0; FLOW_KEY];
    let front = local_key(to, port, protocol.number(), checked_vlan(vlan)?);
    key[..LOCAL_KEY].copy_from_slice(&front);
    key[24..40].copy_from_slice(&octets(from));
    key[40..42].copy_from_slice(&checked_port(remote.port())?.to_be_bytes());
    Ok(key)
}

/// ```text
/// 0   address, 16 bytes, IPv4 as ::ffff:a.b.c.d
/// 16  port, as in the frame
/// 18  protocol, or EtherType, in the machine's order: the first are below 0x0600, the second not
/// 20  VLAN, 0 for none, in the machine's order
/// 22  nought
/// 24  of an exact flow: the remote address, 16 bytes; 40 its port, as in the frame; 42 nought
/// ```
fn local_key(address: IpAddr, port: u16, kind: u16, vlan: u16) -> [u8; LOCAL_KEY] {
    let mut key = [0; LOCAL_KEY];
    key[..16].copy_from_slice(&octets(address));
    key[16..18].copy_from_slice(&port.to_be_bytes());
    key[18..20].copy_from_slice(&kind.to_ne_bytes());
    key[20..22].copy_from_slice(&vlan.to_ne_bytes());
    key
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

fn checked_port(port: u16) -> Result<u16, EntryError> {
    if port == 0 { Err(EntryError::Port) } else { Ok(port) }
}

fn checked_vlan(vlan: Option<u16>) -> Result<u16, EntryError> {
    match vlan {
        None => Ok(0),
        Some(number @ 1..=4_094) => Ok(number),
        Some(number) => Err(EntryError::Vlan(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(entry: Entry) -> String {
        entry.key().unwrap_err().to_string()
    }

    fn flow(local: &str, remote: &str) -> Entry {
        let [local, remote] = [local, remote].map(|end| end.parse().unwrap());
        Entry::Flow { protocol: Protocol::Tcp, vlan: None, local, remote }
    }

    fn local(vlan: Option<u16>, local: &str) -> Entry {
        Entry::Local { protocol: Protocol::Udp, vlan, local: local.parse().unwrap() }
    }

    #[test]
    fn a_flows_key_begins_like_that_of_its_port() {
        let udp = |end: &str| local(Some(7), end).key().unwrap();
        let Key::Local(front) = udp("10.0.0.1:5000") else { panic!("another map") };
        let ends =
            [("10.0.0.1:5000", "10.0.0.2:6000"), ("[::ffff:10.0.0.1]:5000", "10.0.0.2:6000")];
        for (to, from) in ends {
            let [local, remote] = [to, from].map(|end| end.parse().unwrap());
            let flow = Entry::Flow { protocol: Protocol::Udp, vlan: Some(7), local, remote };
            let Key::Flow(key) = flow.key().unwrap() else { panic!("another map") };
            assert_eq!(key[..24], front);
            assert_eq!(key[34..42], [0xff, 0xff, 10, 0, 0, 2, 0x17, 0x70]);
        }
    }

    #[test]
    fn any_of_one_family_is_not_any_of_the_other() {
        assert_ne!(local(None, "0.0.0.0:9").key().unwrap(), local(None, "[::]:9").key().unwrap());
    }

    #[test]
    fn what_is_no_entry_is_told_why() {
        assert_eq!(error(local(Some(0), "10.0.0.1:1")), "VLAN 0: 1 to 4094 are possible");
        assert_eq!(error(local(Some(4_095), "10.0.0.1:1")), "VLAN 4095: 1 to 4094 are possible");
        assert_eq!(error(local(None, "10.0.0.1:0")), "port 0");
        assert_eq!(error(local(None, "239.0.0.1:1")), "239.0.0.1 cannot stand here");
        assert_eq!(
            error(flow("10.0.0.1:1", "[fe80::1]:1")),
            "10.0.0.1 and fe80::1 are of two families"
        );
        assert_eq!(error(flow("0.0.0.0:1", "10.0.0.2:1")), "0.0.0.0 cannot stand here");
        assert_eq!(error(flow("10.0.0.1:1", "239.0.0.1:1")), "239.0.0.1 cannot stand here");
        assert_eq!(error(flow("10.0.0.1:1", "10.0.0.2:0")), "port 0");
        let group =
            |group: &str| Entry::Group { vlan: None, group: group.parse().unwrap(), port: None };
        assert_eq!(error(group("10.0.0.1")), "10.0.0.1 is no multicast group");
        for ether_type in [0x05ff, 0x0800, 0x0806, 0x8100, 0x86dd, 0x88a8] {
            let entry = Entry::EtherType { vlan: None, ether_type };
            assert!(error(entry).contains("is not to be had"));
        }
        assert!(Entry::EtherType { vlan: None, ether_type: 0x88b5 }.key().is_ok());
    }
}
