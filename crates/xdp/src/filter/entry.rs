//! Filter entries and the map keys derived from them.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// EtherTypes reserved for the kernel: IPv4, ARP, 802.1Q, IPv6 and 802.1ad.
const KERNEL_ETHER_TYPES: [u16; 5] = [0x0800, 0x0806, 0x8100, 0x86dd, 0x88a8];
/// Smaller values are the length of an 802.3 frame.
const MIN_ETHER_TYPE: u16 = 0x0600;

/// The size of a flow key: a [`LOCAL_KEY`] and the remote address and port.
pub(super) const FLOW_KEY: usize = 44;
/// The size of every other key.
pub(super) const LOCAL_KEY: usize = 24;

/// A transport protocol that the filter supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Protocol {
    /// Protocol number 6.
    Tcp,
    /// Protocol number 17.
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

/// A match for frames. The filter looks entries up in this order, and the first match decides.
///
/// Each entry applies to one VLAN, 1 to 4094, or to untagged frames; a tag with VLAN 0 counts as
/// untagged. IPv4 addresses may be written as IPv6 (`::ffff:a.b.c.d`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entry {
    /// An exact flow between two endpoints.
    Flow {
        /// The transport protocol.
        protocol: Protocol,
        /// The VLAN; `None` for untagged frames.
        vlan: Option<u16>,
        /// The destination of received frames.
        local: SocketAddr,
        /// The source of received frames.
        remote: SocketAddr,
    },
    /// All traffic to a local port. An unspecified address (`0.0.0.0` or `::`) matches every
    /// unicast address of its family and is looked up last.
    Local {
        /// The transport protocol.
        protocol: Protocol,
        /// The VLAN; `None` for untagged frames.
        vlan: Option<u16>,
        /// The destination of received frames.
        local: SocketAddr,
    },
    /// UDP to a multicast group. An entry for one port precedes an entry for all ports. Other
    /// traffic to a group, such as IGMP, stays with the kernel.
    Group {
        /// The VLAN; `None` for untagged frames.
        vlan: Option<u16>,
        /// The multicast address.
        group: IpAddr,
        /// The port; `None` for all ports.
        port: Option<u16>,
    },
    /// All frames of an EtherType, for raw frames.
    EtherType {
        /// The VLAN; `None` for untagged frames.
        vlan: Option<u16>,
        /// The EtherType, 0x0600 or above, except those reserved for the kernel: IPv4, ARP, IPv6,
        /// VLAN tags.
        ether_type: u16,
    },
}

/// The reason why an entry is invalid or was not inserted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The VLAN is outside 1 to 4094.
    #[error("cannot match VLAN {0}: choose 1 to 4094")]
    Vlan(u16),
    /// Port 0 is not a valid destination.
    #[error("cannot match port 0")]
    Port,
    /// The addresses are of different families.
    #[error("cannot match a flow between {0} and {1}: address families differ")]
    Families(IpAddr, IpAddr),
    /// A flow needs two specific unicast endpoints, and a port entry cannot have a multicast
    /// address.
    #[error("cannot match {0}: not a specific unicast address")]
    Address(IpAddr),
    /// The group is not a multicast address.
    #[error("{0} is not a multicast address")]
    NotMulticast(IpAddr),
    /// The EtherType is too small or reserved for the kernel.
    #[error("cannot redirect EtherType {0:#06x}: reserved for the kernel")]
    EtherType(u16),
    /// The filter was created for this EtherType only.
    #[error("cannot add an entry: the filter is for EtherType {0:#06x} only")]
    OnlyEtherType(u16),
    /// The map has reached its capacity.
    #[error("cannot add an entry: the filter is full")]
    Full,
    /// The process that has the filter refuses the entry, for this reason.
    #[error("{0}")]
    Refused(String),
    /// The kernel's error.
    #[error("cannot change the filter's map: {0}")]
    Kernel(#[from] std::io::Error),
}

/// The kind of an entry. The program skips lookups for kinds without entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Flow(Protocol),
    Port(Protocol),
    /// A port on any local address.
    AnyAddress(Protocol),
    /// A group with one port, and a group with all ports.
    GroupPort,
    Group,
    /// `vlan` is 0 for untagged frames.
    EtherType {
        vlan: u16,
        ether_type: u16,
    },
}

/// The map and the key of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Flow([u8; FLOW_KEY]),
    /// A port or an EtherType.
    Local([u8; LOCAL_KEY]),
    Group([u8; LOCAL_KEY]),
}

impl Entry {
    pub(super) fn kind(&self) -> EntryKind {
        match *self {
            Self::Flow { protocol, .. } => EntryKind::Flow(protocol),
            Self::Local { protocol, local, .. } => {
                let is_any = local.ip().to_canonical().is_unspecified();
                if is_any { EntryKind::AnyAddress(protocol) } else { EntryKind::Port(protocol) }
            }
            Self::Group { port: Some(_), .. } => EntryKind::GroupPort,
            Self::Group { port: None, .. } => EntryKind::Group,
            Self::EtherType { vlan, ether_type } => {
                EntryKind::EtherType { vlan: vlan.unwrap_or(0), ether_type }
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
                    return Err(EntryError::NotMulticast(group));
                }
                let port = port.map_or(Ok(0), checked_port)?;
                let (kind, vlan) = (Protocol::Udp.number(), checked_vlan(vlan)?);
                Ok(Key::Group(local_key(group, port, kind, vlan)))
            }
            Self::EtherType { vlan, ether_type } => {
                if ether_type < MIN_ETHER_TYPE || KERNEL_ETHER_TYPES.contains(&ether_type) {
                    return Err(EntryError::EtherType(ether_type));
                }
                let no_address = Ipv6Addr::UNSPECIFIED.into();
                Ok(Key::Local(local_key(no_address, 0, ether_type, checked_vlan(vlan)?)))
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

/// Builds the key of a port, a group or an EtherType.
///
/// ```text
/// 0   address, 16 bytes, IPv4 as ::ffff:a.b.c.d
/// 16  port, network byte order
/// 18  protocol (below 0x0600) or EtherType (above), host byte order
/// 20  VLAN, 0 for none, host byte order
/// 22  zero
/// 24  flow keys only: remote address, 16 bytes; 40 remote port, network byte order; 42 zero
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
    fn flow_key_starts_with_its_port_key() {
        let udp = |end: &str| local(Some(7), end).key().unwrap();
        let Key::Local(front) = udp("10.0.0.1:5000") else { panic!("unexpected map") };
        let ends =
            [("10.0.0.1:5000", "10.0.0.2:6000"), ("[::ffff:10.0.0.1]:5000", "10.0.0.2:6000")];
        for (to, from) in ends {
            let [local, remote] = [to, from].map(|end| end.parse().unwrap());
            let flow = Entry::Flow { protocol: Protocol::Udp, vlan: Some(7), local, remote };
            let Key::Flow(key) = flow.key().unwrap() else { panic!("unexpected map") };
            assert_eq!(key[..24], front);
            assert_eq!(key[34..42], [0xff, 0xff, 10, 0, 0, 2, 0x17, 0x70]);
        }
    }

    #[test]
    fn unspecified_addresses_of_both_families_differ() {
        assert_ne!(local(None, "0.0.0.0:9").key().unwrap(), local(None, "[::]:9").key().unwrap());
    }

    #[test]
    fn invalid_entries_are_rejected_with_a_reason() {
        assert_eq!(error(local(Some(0), "10.0.0.1:1")), "cannot match VLAN 0: choose 1 to 4094");
        assert_eq!(
            error(local(Some(4_095), "10.0.0.1:1")),
            "cannot match VLAN 4095: choose 1 to 4094"
        );
        assert_eq!(error(local(None, "10.0.0.1:0")), "cannot match port 0");
        assert_eq!(
            error(local(None, "239.0.0.1:1")),
            "cannot match 239.0.0.1: not a specific unicast address"
        );
        assert_eq!(
            error(flow("10.0.0.1:1", "[fe80::1]:1")),
            "cannot match a flow between 10.0.0.1 and fe80::1: address families differ"
        );
        assert_eq!(
            error(flow("0.0.0.0:1", "10.0.0.2:1")),
            "cannot match 0.0.0.0: not a specific unicast address"
        );
        assert_eq!(
            error(flow("10.0.0.1:1", "239.0.0.1:1")),
            "cannot match 239.0.0.1: not a specific unicast address"
        );
        assert_eq!(error(flow("10.0.0.1:1", "10.0.0.2:0")), "cannot match port 0");
        let group =
            |group: &str| Entry::Group { vlan: None, group: group.parse().unwrap(), port: None };
        assert_eq!(error(group("10.0.0.1")), "10.0.0.1 is not a multicast address");
        for ether_type in [0x05ff, 0x0800, 0x0806, 0x8100, 0x86dd, 0x88a8] {
            let entry = Entry::EtherType { vlan: None, ether_type };
            assert!(error(entry).contains("reserved for the kernel"));
        }
        assert!(Entry::EtherType { vlan: None, ether_type: 0x88b5 }.key().is_ok());
    }
}
