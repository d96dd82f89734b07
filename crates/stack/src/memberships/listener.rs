//! UDP sockets, as sock_diag(7) lists them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netlink_packet_core::{NLA_HEADER_SIZE, NetlinkSerializable, NlasIterator};
use zerocopy::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// `SOCK_DIAG_BY_FAMILY`, the type of both request and reply.
const BY_FAMILY: u16 = 20;
/// `INET_DIAG_SKV6ONLY`, an attribute of one byte.
const V6_ONLY: u16 = 11;

/// The address family of the sockets to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Family {
    Inet = libc::AF_INET as u8,
    Inet6 = libc::AF_INET6 as u8,
}

/// A request for all UDP sockets of a family that are bound to a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListRequest {
    pub(crate) family: Family,
    pub(crate) port: u16,
}

/// `struct inet_diag_sockid`.
#[derive(Debug, Default, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct SocketId {
    port: U16,
    remote_port: U16,
    address: [u8; 16],
    remote_address: [u8; 16],
    interface: [u8; 4],
    cookie: [[u8; 4]; 2],
}

/// `struct inet_diag_req_v2`.
#[derive(Debug, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Request {
    family: u8,
    protocol: u8,
    extensions: u8,
    padding: u8,
    states: [u8; 4],
    id: SocketId,
}

/// `struct inet_diag_msg`.
#[derive(Debug, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Reply {
    family: u8,
    state: u8,
    timer: u8,
    retransmissions: u8,
    id: SocketId,
    /// Timer expiry, queue lengths, user and inode.
    rest: [u8; 20],
}

impl NetlinkSerializable for ListRequest {
    fn message_type(&self) -> u16 {
        BY_FAMILY
    }

    fn buffer_len(&self) -> usize {
        size_of::<Request>()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        let request = Request {
            family: self.family as u8,
            protocol: libc::IPPROTO_UDP as u8,
            extensions: 0,
            padding: 0,
            states: [0xff; 4],
            id: SocketId { port: self.port.into(), ..SocketId::default() },
        };
        buffer.copy_from_slice(request.as_bytes());
    }
}

/// The binding of a UDP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) cookie: u64,
    local: SocketAddr,
    /// The interface that the socket is bound to; 0 for any.
    interface: u32,
    /// `true` for an IPv6 socket that does not receive IPv4.
    is_v6_only: bool,
}

/// Parses a reply.
pub(crate) fn parse(kind: u16, payload: &[u8]) -> Option<Listener> {
    let (reply, attributes) = Reply::ref_from_prefix(payload).ok()?;
    if kind != BY_FAMILY {
        return None;
    }
    let id = reply.id;
    let address = match i32::from(reply.family) {
        libc::AF_INET => IpAddr::V4(Ipv4Addr::from(*id.address.first_chunk::<4>()?)),
        libc::AF_INET6 => IpAddr::V6(Ipv6Addr::from(id.address)),
        _ => return None,
    };
    let mut attributes = NlasIterator::new(attributes).map_while(Result::ok);
    let v6_only = attributes.find(|attribute| attribute.kind() == V6_ONLY);
    let is_v6_only =
        v6_only.is_some_and(|attribute| attribute.into_inner().get(NLA_HEADER_SIZE) == Some(&1));
    let [low, high] = id.cookie.map(|word| u64::from(u32::from_ne_bytes(word)));
    Some(Listener {
        cookie: high << 32 | low,
        local: SocketAddr::new(address, id.port.get()),
        interface: u32::from_ne_bytes(id.interface),
        is_v6_only,
    })
}

impl Listener {
    /// Returns `true` if the socket may receive a group on an interface.
    pub(crate) fn receives(&self, interface: u32, group: SocketAddr) -> bool {
        let address = self.local.ip();
        let is_of_family = address.is_ipv4() == group.is_ipv4() || !self.is_v6_only;
        let is_bound_to = address.is_unspecified() || address.to_canonical() == group.ip();
        let is_on_interface = [0, interface].contains(&self.interface);
        self.local.port() == group.port() && is_of_family && is_bound_to && is_on_interface
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(local: &str, interface: u32, is_v6_only: bool) -> Listener {
        Listener { cookie: 1, local: local.parse().unwrap(), interface, is_v6_only }
    }

    #[test]
    fn socket_receives_groups_if_bound_to_them_or_to_any() {
        let receives = |local: &str, group: &str| {
            listener(local, 0, false).receives(4, group.parse().unwrap())
        };
        let group = "239.1.2.3:7000";
        for local in ["0.0.0.0:7000", "239.1.2.3:7000", "[::]:7000", "[::ffff:239.1.2.3]:7000"] {
            assert!(receives(local, group), "{local}");
        }
        for local in ["0.0.0.0:7001", "239.1.2.4:7000", "10.0.0.1:7000", "[::1]:7000"] {
            assert!(!receives(local, group), "{local}");
        }
        assert!(
            receives("[::]:7000", "[ff15::7]:7000") && receives("[ff15::7]:7000", "[ff15::7]:7000")
        );
        assert!(!receives("[fd77::1]:7000", "[ff15::7]:7000"));
    }

    #[test]
    fn v6_only_sockets_receive_no_ipv4_group() {
        let only = listener("[::]:7000", 0, true);
        assert!(!only.receives(4, "239.1.2.3:7000".parse().unwrap()));
        assert!(only.receives(4, "[ff15::7]:7000".parse().unwrap()));
    }

    #[test]
    fn sockets_of_another_interface_receive_nothing() {
        let group = "239.1.2.3:7000".parse().unwrap();
        let receives = |bound| listener("0.0.0.0:7000", bound, false).receives(4, group);
        assert_eq!([0, 4, 5].map(receives), [true, true, false]);
    }

    #[test]
    fn malformed_replies_are_rejected() {
        let mut reply = [0; 72];
        reply[0] = libc::AF_INET as u8;
        assert!(parse(BY_FAMILY, &reply).is_some());
        assert_eq!(parse(BY_FAMILY, &reply[..71]), None);
        assert_eq!(parse(BY_FAMILY + 1, &reply), None);
        reply[0] = libc::AF_UNIX as u8;
        assert_eq!(parse(BY_FAMILY, &reply), None);
    }
}
