//! Requests to the kernel over netlink: links.

use std::io;

use hairpin_stack::{RequestSocket, attributes};
use netlink_packet_core::NetlinkSerializable;
use netlink_sys::protocols::NETLINK_ROUTE;

/// linux/rtnetlink.h: `RTM_GETLINK`.
const GET_LINK: u16 = 18;
/// The size of `struct ifinfomsg`.
const LINK_HEADER: usize = 16;
/// linux/if_link.h: `IFLA_EXT_MASK` with `RTEXT_FILTER_SKIP_STATS`.
const SKIP_STATISTICS: [u8; 8] = [8, 0, 29, 0, 8, 0, 0, 0];
/// linux/if.h.
const FLAG_UP: u32 = 1;
const FLAG_RUNNING: u32 = 1 << 6;
const FLAG_LOOPBACK: u32 = 1 << 3;
const FLAG_NO_ARP: u32 = 1 << 7;

/// An interface, as `ip -details link` prints it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) index: u32,
    pub(crate) name: String,
    pub(crate) up: bool,
    /// `true` if the interface is up and has a carrier.
    pub(crate) running: bool,
    pub(crate) loopback: bool,
    pub(crate) without_arp: bool,
    /// The kind: `vlan`, `bond`, `veth` and so on; `None` for hardware.
    pub(crate) kind: Option<String>,
    /// The kind of the master, for a member of a bond, bridge or team.
    pub(crate) member_of: Option<String>,
    /// The index of the interface below in the same network namespace, of a VLAN for example.
    pub(crate) below: Option<u32>,
    /// The id of an attached XDP program.
    pub(crate) program: Option<u32>,
}

/// A request as bytes.
#[derive(Clone)]
struct Request {
    kind: u16,
    payload: Vec<u8>,
}

impl NetlinkSerializable for Request {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.payload.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..self.payload.len()].copy_from_slice(&self.payload);
    }
}

/// Returns all interfaces of this network namespace.
///
/// # Errors
/// The kernel's.
pub(crate) fn links() -> io::Result<Vec<Link>> {
    let mut payload = vec![0; LINK_HEADER];
    payload.extend(SKIP_STATISTICS);
    let request = Request { kind: GET_LINK, payload };
    RequestSocket::open(NETLINK_ROUTE)?.dump(&request, |_, payload| Link::parse(payload))
}

impl Link {
    fn parse(payload: &[u8]) -> Option<Self> {
        let word = |at: usize| payload.get(at..at + 4).and_then(number);
        let (index, flags) = (word(4)?, word(8)?);
        let mut link = Self {
            index,
            up: flags & FLAG_UP != 0,
            running: flags & FLAG_RUNNING != 0,
            loopback: flags & FLAG_LOOPBACK != 0,
            without_arp: flags & FLAG_NO_ARP != 0,
            ..Self::default()
        };
        let mut is_elsewhere = false;
        for (kind, value) in attributes(payload.get(LINK_HEADER..)?) {
            match kind {
                // IFLA_IFNAME, IFLA_LINK, IFLA_LINKINFO, IFLA_LINK_NETNSID, IFLA_XDP.
                3 => link.name = text(value),
                5 => link.below = number(value).filter(|below| *below != index),
                18 => {
                    for (kind, value) in attributes(value) {
                        match kind {
                            1 => link.kind = Some(text(value)),
                            4 => link.member_of = Some(text(value)),
                            _ => {}
                        }
                    }
                }
                37 => is_elsewhere = true,
                43 => {
                    // IFLA_XDP_PROG_ID, and those of driver, generic and hardware mode.
                    let mut ids = attributes(value).filter(|(kind, _)| (4..=7).contains(kind));
                    link.program = ids.find_map(|(_, id)| number(id)).filter(|id| *id != 0);
                }
                _ => {}
            }
        }
        // The index is one of another network namespace.
        link.below = link.below.filter(|_| !is_elsewhere);
        Some(link)
    }
}

fn number(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_ne_bytes)
}

fn text(value: &[u8]) -> String {
    let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn link(flags: u32, attributes: &[Vec<u8>]) -> Link {
        let mut payload = vec![0; LINK_HEADER];
        payload[4] = 7;
        payload[8..12].copy_from_slice(&flags.to_ne_bytes());
        payload.extend(attributes.concat());
        Link::parse(&payload).unwrap()
    }

    #[test]
    fn link_has_kind_master_and_program() {
        let information = [attribute(1, b"vlan\0"), attribute(4, b"bond\0")].concat();
        let program = [attribute(2, &[2]), attribute(4, &9_u32.to_ne_bytes())].concat();
        let found = link(
            FLAG_UP,
            &[
                attribute(3, b"eth1.5\0"),
                attribute(5, &2_u32.to_ne_bytes()),
                attribute(18, &information),
                attribute(43, &program),
            ],
        );
        assert_eq!((found.name.as_str(), found.index, found.below), ("eth1.5", 7, Some(2)));
        assert_eq!(
            (found.kind.as_deref(), found.member_of.as_deref()),
            (Some("vlan"), Some("bond"))
        );
        assert_eq!((found.up, found.running, found.program), (true, false, Some(9)));
        let index = |kind| attribute(kind, &2_u32.to_ne_bytes());
        assert_eq!(link(0, &[index(5), index(37)]).below, None, "in another network namespace");
        let plain = link(FLAG_UP | FLAG_RUNNING, &[attribute(43, &attribute(2, &[0]))]);
        assert_eq!((plain.running, plain.program, plain.kind), (true, None, None));
    }

    #[test]
    fn truncated_messages_are_skipped() {
        for length in 0..LINK_HEADER {
            assert!(Link::parse(&vec![0; length]).is_none());
        }
    }

    #[test]
    fn loopback_of_this_kernel_is_found() {
        let links = links().unwrap();
        let lo = links.iter().find(|link| link.name == "lo").unwrap();
        assert!(lo.loopback && lo.kind.is_none() && lo.member_of.is_none());
        assert!(hairpin_stack::traffic_control(lo.index).unwrap().filters.is_empty());
    }
}
