//! Packet headers as views, and the internet checksum.
//!
//! A header is a `repr(C)` struct of bytes and big-endian words that is used in place in a frame.
//! [`EthernetHeader::split`] returns a reference to the header and the bytes after it; `split_mut`
//! returns both for writing. Headers with length fields (IPv4, IPv6, UDP, TCP) also have a `parse`,
//! which checks all lengths against the available bytes. No function panics on any bytes, allocates
//! or copies.
//!
//! Layer L0: plain values, `no_std`, no `unsafe`, no clock. This crate is not a network stack: it
//! keeps no state, does not reassemble fragments and does not walk IPv6 extension headers, which
//! the kernel handles.
//!
//! ```text
//!  frame ─ EthernetHeader::split ─► header │ packet
//!  packet ─── Ipv4Header::parse ──► header │ options │ datagram
//!  datagram ─ UdpHeader::parse ───► header │ payload
//! ```
//!
//! | file | content | source |
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
