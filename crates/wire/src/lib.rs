//! Packet headers as views, and the internet checksum.
//!
//! A header is a `repr(C)` struct of bytes and big-endian words, and lies in a frame as it is:
//! [`EthernetHeader::split`] lends the header and what follows it, `split_mut` lends both for
//! writing. Where a header tells lengths (IPv4, IPv6, UDP, TCP) there is a `parse` as well, which
//! believes none of them before they have been held against the bytes that are there. Nothing here
//! panics on any bytes, nothing allocates, and nothing is copied.
//!
//! Layer L0: plain values, `no_std`, no `unsafe`, no clock. It is not a stack: it keeps no state,
//! reassembles no fragments and walks no IPv6 extension headers, which belong to the kernel.
//!
//! | file | is | source |
//! |---|---|---|
//! | `ethernet`, `vlan` | Ethernet II; 802.1Q and 802.1ad tags | IEEE 802.3, 802.1Q |
//! | `arp` | ARP for IPv4 on Ethernet | RFC 826 |
//! | `ipv4`, `ipv6` | the two headers | RFC 791, RFC 8200 |
//! | `icmpv4`, `icmpv6`, `quoted` | echo, errors, and the packet they quote | RFC 792, 4443 |
//! | `igmp` | membership reports and queries | RFC 1112, 2236, 9776 |
//! | `udp`, `tcp`, `tcp_option` | the two transports | RFC 768, RFC 9293 |
//! | `checksum` | sums in parts, pseudo headers, updates | RFC 1071, RFC 1624 |
//!
//! ```
//! use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, Protocol, UdpHeader};
//!
//! # fn ports(frame: &[u8]) -> Result<Option<(u16, u16)>, hairpin_wire::Error> {
//! let (ethernet, packet) = EthernetHeader::split(frame)?;
//! if ethernet.ether_type() == EtherType::IPV4 {
//!     let (ip, _options, datagram) = Ipv4Header::parse(packet)?;
//!     if ip.protocol() == Protocol::UDP && !ip.is_fragment() && ip.is_checksum_valid(packet) {
//!         let (udp, _payload) = UdpHeader::parse(datagram)?;
//!         return Ok(Some((udp.source_port(), udp.destination_port())));
//!     }
//! }
//! Ok(None)
//! # }
//! # assert_eq!(ports(&[0; 13]), Err(hairpin_wire::Error::TooShort));
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
mod view;

mod arp;
mod checksum;
mod error;
mod ethernet;
mod icmpv4;
mod icmpv6;
mod igmp;
mod ipv4;
mod ipv6;
mod mac;
mod protocol;
mod quoted;
mod tcp;
mod tcp_option;
mod udp;
mod vlan;

pub use arp::{ArpOperation, ArpPacket};
pub use checksum::{Sum, update, update_u32};
pub use error::Error;
pub use ethernet::{EtherType, EthernetHeader};
pub use icmpv4::{Icmpv4Header, Icmpv4Message};
pub use icmpv6::{Icmpv6Header, Icmpv6Message};
pub use igmp::{IgmpHeader, IgmpKind};
pub use ipv4::Ipv4Header;
pub use ipv6::Ipv6Header;
pub use mac::MacAddress;
pub use protocol::Protocol;
pub use quoted::QuotedPacket;
pub use tcp::{TcpFlags, TcpHeader};
pub use tcp_option::{TcpOption, TcpOptions};
pub use udp::UdpHeader;
pub use vlan::VlanTag;
