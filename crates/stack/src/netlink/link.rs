//! Interfaces.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    LinkAttribute, LinkExtentMask, LinkFlags, LinkHeader, LinkMessage,
};

use super::attributes::{attributes, mac, number};

/// `struct ifinfomsg`.
const HEADER: usize = 16;

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The kernel's number of it.
    pub(crate) index: u32,
    /// Its name; what of it is no UTF-8 is replaced.
    pub(crate) name: String,
    /// Its Ethernet address; noughts where it has none.
    pub(crate) mac: [u8; 6],
    /// The longest packet in bytes, without the Ethernet header.
    pub(crate) mtu: u32,
    /// Whether it is switched on.
    pub(crate) is_up: bool,
    /// Whether packets pass: it is switched on and has a carrier.
    pub(crate) is_running: bool,
}

/// Asks for an interface, without its counters.
pub(super) fn question(interface: u32) -> RouteNetlinkMessage {
    let mut message = LinkMessage::default();
    message.header.link_layer_type = 0.into();
    message.header.index = interface;
    message.attributes = vec![LinkAttribute::ExtMask(vec![LinkExtentMask::SkipStats])];
    RouteNetlinkMessage::GetLink(message)
}

/// The index that a message about an interface has in its header.
pub(super) fn index(payload: &[u8]) -> Option<u32> {
    LinkHeader::parse(payload).ok().map(|header| header.index)
}

impl Link {
    /// Reads `RTM_NEWLINK`.
    pub(crate) fn parse(kind: u16, payload: &[u8]) -> Option<Self> {
        if kind != libc::RTM_NEWLINK {
            return None;
        }
        let header = LinkHeader::parse(payload).ok()?;
        let (mut name, mut mtu, mut address) = (None, None, None);
        for (kind, value) in attributes(&payload[HEADER..]) {
            match kind {
                libc::IFLA_IFNAME => name = Some(text(value)),
                libc::IFLA_MTU => mtu = number(value),
                libc::IFLA_ADDRESS => address = mac(value),
                _ => {}
            }
        }
        Some(Self {
            index: header.index,
            name: name?,
            mac: address.unwrap_or_default(),
            mtu: mtu?,
            is_up: header.flags.contains(LinkFlags::Up),
            is_running: header.flags.contains(LinkFlags::Up | LinkFlags::Running),
        })
    }
}

/// What stands before the first nought.
fn text(value: &[u8]) -> String {
    let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
