//! Network interfaces.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    LinkAttribute, LinkExtentMask, LinkFlags, LinkHeader, LinkMessage,
};

use super::attributes::{attributes, mac, number};

/// The size of `struct ifinfomsg`.
const HEADER: usize = 16;

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The interface index.
    pub(crate) index: u32,
    /// The name; bytes that are not UTF-8 are replaced.
    pub(crate) name: String,
    /// The Ethernet address; zeros if the interface has no address.
    pub(crate) mac: [u8; 6],
    /// The MTU: the longest packet in bytes, without the Ethernet header.
    pub(crate) mtu: u32,
    /// `true` if the interface is administratively up.
    pub(crate) is_up: bool,
    /// `true` if the interface is up and has a carrier.
    pub(crate) is_running: bool,
    /// `true` for an ipvlan in mode L3 or L3S. Its driver sends by the packet's protocol, which
    /// AF_XDP does not set, so that each frame would be lost.
    pub(crate) is_layer3: bool,
}

/// Builds a request for an interface, without its counters.
pub(super) fn request(interface: u32) -> RouteNetlinkMessage {
    let mut message = LinkMessage::default();
    message.header.link_layer_type = 0.into();
    message.header.index = interface;
    message.attributes = vec![LinkAttribute::ExtMask(vec![LinkExtentMask::SkipStats])];
    RouteNetlinkMessage::GetLink(message)
}

/// Returns the interface index of a link message.
pub(super) fn index(payload: &[u8]) -> Option<u32> {
    LinkHeader::parse(payload).ok().map(|header| header.index)
}

impl Link {
    /// Parses `RTM_NEWLINK`.
    pub(crate) fn parse(kind: u16, payload: &[u8]) -> Option<Self> {
        if kind != libc::RTM_NEWLINK {
            return None;
        }
        let header = LinkHeader::parse(payload).ok()?;
        let (mut name, mut mtu, mut address, mut is_ipvlan) = (None, None, None, false);
        for (kind, value) in attributes(&payload[HEADER..]) {
            match kind {
                libc::IFLA_IFNAME => name = Some(text(value)),
                libc::IFLA_MTU => mtu = number(value),
                libc::IFLA_ADDRESS => address = mac(value),
                libc::IFLA_LINKINFO => is_ipvlan = driver(value).as_deref() == Some("ipvlan"),
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
            is_layer3: is_ipvlan && header.flags.contains(LinkFlags::Noarp),
        })
    }
}

/// Returns the driver's name from `IFLA_LINKINFO`.
fn driver(information: &[u8]) -> Option<String> {
    let mut found = attributes(information);
    found.find_map(|(kind, value)| (kind == libc::IFLA_INFO_KIND).then(|| text(value)))
}

/// Returns the text before the first NUL.
fn text(value: &[u8]) -> String {
    let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
