//! Requests to the kernel over netlink: links, queueing disciplines, filters and nftables chains.

use std::io;

use hairpin_stack::{RequestSocket, attributes};
use netlink_packet_core::NetlinkSerializable;
use netlink_sys::protocols::{NETLINK_NETFILTER, NETLINK_ROUTE};

/// linux/rtnetlink.h: `RTM_GETLINK`, `RTM_GETTFILTER`, `RTM_GETQDISC`; an answer's type is one or
/// two less.
const GET_LINK: u16 = 18;
const GET_FILTER: u16 = 46;
const GET_QDISC: u16 = 38;
/// `NFNL_SUBSYS_NFTABLES` and `NFT_MSG_GETCHAIN`.
const GET_CHAIN: u16 = 10 << 8 | 4;
const NEW_CHAIN: u16 = 10 << 8 | 3;
/// The sizes of `struct ifinfomsg`, `tcmsg` and `nfgenmsg`.
const LINK_HEADER: usize = 16;
const TRAFFIC_HEADER: usize = 20;
const NETFILTER_HEADER: usize = 4;
/// linux/if_link.h: `IFLA_EXT_MASK` with `RTEXT_FILTER_SKIP_STATS`.
const SKIP_STATISTICS: [u8; 8] = [8, 0, 29, 0, 8, 0, 0, 0];
/// linux/if.h.
const FLAG_UP: u32 = 1;
const FLAG_RUNNING: u32 = 1 << 6;
const FLAG_LOOPBACK: u32 = 1 << 3;
const FLAG_NO_ARP: u32 = 1 << 7;
/// `TC_H_CLSACT` with `TC_H_MIN_INGRESS` and `TC_H_MIN_EGRESS`. An ingress discipline has only the
/// first.
const CLASSIFIER_PARENTS: [u32; 2] = [0xffff_fff2, 0xffff_fff3];

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
    /// The index of the interface below, of a VLAN for example.
    pub(crate) below: Option<u32>,
    /// The id of an attached XDP program.
    pub(crate) program: Option<u32>,
}

/// What traffic control does with the frames of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrafficControl {
    /// The kinds of the root disciplines.
    pub(crate) disciplines: Vec<String>,
    /// The kinds of the filters at ingress and egress.
    pub(crate) filters: Vec<String>,
}

/// A chain of nftables that packets pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) table: String,
    pub(crate) name: String,
    /// `filter`, `nat` or `route`.
    pub(crate) kind: String,
    pub(crate) rules: u32,
    /// `true` if packets without a matching rule are dropped.
    pub(crate) drops: bool,
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

/// Returns the queueing disciplines and filters of an interface.
///
/// # Errors
/// The kernel's.
pub(crate) fn traffic_control(interface: u32) -> io::Result<TrafficControl> {
    let mut socket = RequestSocket::open(NETLINK_ROUTE)?;
    let request = Request { kind: GET_QDISC, payload: vec![0; TRAFFIC_HEADER] };
    let all = socket.dump(&request, |_, payload| discipline(payload))?;
    let own = || all.iter().filter(|(index, ..)| *index == interface);
    let mut found = TrafficControl::default();
    for (_, kind) in own() {
        if !matches!(kind.as_str(), "clsact" | "ingress") {
            found.disciplines.push(kind.clone());
            continue;
        }
        let parents = &CLASSIFIER_PARENTS[..if kind == "clsact" { 2 } else { 1 }];
        for parent in parents {
            let mut payload = vec![0; TRAFFIC_HEADER];
            payload[4..8].copy_from_slice(&interface.to_ne_bytes());
            payload[12..16].copy_from_slice(&parent.to_ne_bytes());
            let request = Request { kind: GET_FILTER, payload };
            found.filters.extend(
                socket.dump(&request, |_, payload| discipline(payload).map(|(_, kind)| kind))?,
            );
        }
    }
    found.filters.sort();
    found.filters.dedup();
    Ok(found)
}

/// Returns the chains of nftables that packets pass; none if the kernel has no nftables.
///
/// # Errors
/// The kernel's: `PermissionDenied` without `CAP_NET_ADMIN`.
pub(crate) fn chains() -> io::Result<Vec<Chain>> {
    let request = Request { kind: GET_CHAIN, payload: vec![0; NETFILTER_HEADER] };
    let parse = |kind, payload: &[u8]| (kind == NEW_CHAIN).then(|| Chain::parse(payload)).flatten();
    match RequestSocket::open(NETLINK_NETFILTER).and_then(|mut it| it.dump(&request, parse)) {
        // EINVAL and EPROTONOSUPPORT: no nf_tables, no nfnetlink.
        Err(error) if matches!(error.raw_os_error(), Some(22 | 93)) => Ok(Vec::new()),
        other => other,
    }
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
        for (kind, value) in attributes(payload.get(LINK_HEADER..)?) {
            match kind {
                // IFLA_IFNAME, IFLA_LINK, IFLA_LINKINFO, IFLA_XDP.
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
                43 => {
                    // IFLA_XDP_PROG_ID, and those of driver, generic and hardware mode.
                    let mut ids = attributes(value).filter(|(kind, _)| (4..=7).contains(kind));
                    link.program = ids.find_map(|(_, id)| number(id)).filter(|id| *id != 0);
                }
                _ => {}
            }
        }
        Some(link)
    }
}

impl Chain {
    /// Parses a chain; `None` if no packets pass it unless a rule jumps to it.
    fn parse(payload: &[u8]) -> Option<Self> {
        let mut chain = Self::default();
        let mut has_hook = false;
        for (kind, value) in attributes(payload.get(NETFILTER_HEADER..)?) {
            // Numbers of nftables have network byte order.
            let number = || number(value).map_or(0, u32::from_be);
            match kind {
                // NFTA_CHAIN_TABLE, _NAME, _HOOK, _POLICY, _USE, _TYPE.
                1 => chain.table = text(value),
                3 => chain.name = text(value),
                4 => has_hook = true,
                5 => chain.drops = number() == 0,
                6 => chain.rules = number(),
                7 => chain.kind = text(value),
                _ => {}
            }
        }
        has_hook.then_some(chain)
    }
}

/// Returns the interface and the kind of a discipline or filter.
fn discipline(payload: &[u8]) -> Option<(u32, String)> {
    let index = payload.get(4..8).and_then(number)?;
    let mut found = attributes(payload.get(TRAFFIC_HEADER..)?);
    found.find_map(|(kind, value)| (kind == 1).then(|| (index, text(value))))
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
        let plain = link(FLAG_UP | FLAG_RUNNING, &[attribute(43, &attribute(2, &[0]))]);
        assert_eq!((plain.running, plain.program, plain.kind), (true, None, None));
    }

    #[test]
    fn chain_without_hook_is_skipped() {
        let chain = |hook: bool, policy: u32| {
            let mut payload = vec![0; NETFILTER_HEADER];
            payload.extend(attribute(1, b"inet\0"));
            payload.extend(attribute(3, b"input\0"));
            payload.extend(attribute(5, &policy.to_be_bytes()));
            payload.extend(attribute(6, &3_u32.to_be_bytes()));
            payload.extend(attribute(7, b"filter\0"));
            if hook {
                payload.extend(attribute(4, &[]));
            }
            Chain::parse(&payload)
        };
        assert_eq!(chain(false, 0), None);
        let found = chain(true, 0).unwrap();
        assert_eq!((found.name.as_str(), found.rules, found.drops), ("input", 3, true));
        assert!(!chain(true, 1).unwrap().drops);
    }

    #[test]
    fn discipline_has_an_interface_and_a_kind() {
        let mut payload = vec![0; TRAFFIC_HEADER];
        payload[4..8].copy_from_slice(&7_u32.to_ne_bytes());
        assert_eq!(discipline(&payload), None);
        payload.extend(attribute(2, &[0; 8]));
        payload.extend(attribute(1, b"clsact\0"));
        assert_eq!(discipline(&payload), Some((7, "clsact".to_owned())));
    }

    #[test]
    fn truncated_messages_are_skipped() {
        for length in 0..TRAFFIC_HEADER {
            assert_eq!(discipline(&vec![0; length]), None);
            assert!(length >= LINK_HEADER || Link::parse(&vec![0; length]).is_none());
        }
        assert_eq!(Chain::parse(&[0; 3]), None);
    }

    #[test]
    fn loopback_of_this_kernel_is_found() {
        let links = links().unwrap();
        let lo = links.iter().find(|link| link.name == "lo").unwrap();
        assert!(lo.loopback && lo.kind.is_none() && lo.member_of.is_none());
        assert!(traffic_control(lo.index).unwrap().filters.is_empty());
    }
}
