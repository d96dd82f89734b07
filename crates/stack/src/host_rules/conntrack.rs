//! The kernel's connection tracking (linux/netfilter/nfnetlink_conntrack.h).

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::request::{NETFILTER_HEADER, Request, attribute, number};
use crate::netlink::{RequestSocket, attributes};

/// `NFNL_SUBSYS_CTNETLINK` with `IPCTNL_MSG_CT_GET`.
const GET: u16 = 1 << 8 | 1;
/// `CTA_TUPLE_ORIG`, `CTA_STATUS`; inside the first `CTA_TUPLE_IP` and `CTA_TUPLE_PROTO`.
const TUPLE: u16 = 1;
const STATUS: u16 = 3;
const ADDRESSES: u16 = 1;
const PROTOCOL: u16 = 2;
/// The flag of an attribute that contains others.
const NESTED: u16 = 1 << 15;
/// `IPS_SRC_NAT` and `IPS_DST_NAT`.
const TRANSLATED: u32 = 1 << 4 | 1 << 5;

/// Returns `true` if the addresses of a TCP connection are translated. `ends` are the local and the
/// remote address, as the socket has them: each direction of a connection is found.
///
/// # Errors
/// The kernel's: `PermissionDenied` without `CAP_NET_ADMIN`.
pub(super) fn is_translated(socket: &mut RequestSocket, ends: [SocketAddr; 2]) -> io::Result<bool> {
    let status = socket.request(request(ends), |_, payload| {
        let mut found = attributes(payload.get(NETFILTER_HEADER..)?);
        found.find_map(|(kind, value)| (kind == STATUS).then(|| number(value))?)
    });
    match status {
        Ok(status) => Ok(status & TRANSLATED != 0),
        // It is not tracked, or nothing tracks connections: EINVAL and EPROTONOSUPPORT.
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                || matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPROTONOSUPPORT)) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn request(ends: [SocketAddr; 2]) -> Request {
    let [local, remote] = ends.map(|end| end.ip().to_canonical());
    let (family, numbers) =
        if local.is_ipv4() { (libc::AF_INET, [1, 2]) } else { (libc::AF_INET6, [3, 4]) };
    let bytes = |address| match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let addresses = [attribute(numbers[0], &bytes(local)), attribute(numbers[1], &bytes(remote))];
    let [source, destination] = ends.map(|end| end.port().to_be_bytes());
    let protocol = [
        attribute(1, &[libc::IPPROTO_TCP as u8]),
        attribute(2, &source),
        attribute(3, &destination),
    ];
    let tuple = [
        attribute(ADDRESSES | NESTED, &addresses.concat()),
        attribute(PROTOCOL | NESTED, &protocol.concat()),
    ];
    let mut payload = vec![family as u8, 0, 0, 0];
    payload.extend(attribute(TUPLE | NESTED, &tuple.concat()));
    Request { kind: GET, payload }
}
