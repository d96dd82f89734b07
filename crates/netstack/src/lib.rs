//! A UDP engine in user space, without IO.
//!
//! Frames go in by [`Engine::handle_frame`], and datagrams come out of it into a [`Listener`],
//! still lying in their frame; [`Engine::send`] writes whole frames into the buffer that leaves,
//! from headers prepared once for a destination. IPv4 and IPv6, hosts, groups and broadcast, VLANs,
//! checksums both ways, and ICMP errors for the socket that they concern. All that it knows lies in
//! one arena of bytes that the caller owns, with indices and no addresses in it, so that it can be
//! mapped at two places at once and be gone on with by another program ([`Engine::open`]).
//!
//! What is not UDP, is in fragments, has IP options or extension headers, or is for no socket of
//! its own is the kernel's, and said to be ([`Verdict::Kernel`]). So are routes, neighbours, port
//! numbers, group reports and datagrams longer than a packet: the caller brings what it knows of
//! them in a [`Route`]. A socket is of one family, is not tied to a device, and cannot be bound to
//! a broadcast address. A member of a group may name the senders that it wants to hear, but not
//! those that it does not.
//!
//! Nearly all frames take a shortcut: plain headers, and a flow that has led to one socket before.
//! [`Engine::handle_frame_generally`] is the same without it.
//!
//! Layer L1: a value without sockets of the kernel, threads or clocks; `no_std`, no `unsafe`, and
//! nothing is ever allocated.
//!
//! ```
//! use hairpin_netstack::{
//!     Address, Datagram, DeviceSettings, Engine, Listener, Route, Settings, SocketAddress,
//!     SocketId, SocketOptions,
//! };
//! # use hairpin_time::{Instant, Now, Utc};
//! # use hairpin_wire::MacAddress;
//! struct Print;
//! impl Listener for Print {
//!     fn on_datagram(&mut self, _: Now, _: SocketId, datagram: &Datagram<'_>) {
//!         println!("{:?} from {:?}", datagram.payload, datagram.source.address.to_ip());
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
//! let settings = Settings::default();
//! let mut arena = vec![0_u64; settings.arena_size().div_ceil(8)];
//! let mut engine = Engine::create(zerocopy::IntoBytes::as_mut_bytes(&mut arena[..]), &settings)?;
//! let mac = MacAddress([2, 0, 0, 0, 0, 1]);
//! let device = DeviceSettings { mac, mtu: 1_500, trusts_checksums: false, vlan: None };
//! let device = engine.add_device(&device)?;
//! let host = Address::from(std::net::Ipv4Addr::new(10, 0, 0, 1));
//! let socket = engine.open_socket(&SocketOptions::default())?;
//! engine.bind(socket, SocketAddress::new(host, 7))?;
//! // To itself, for once.
//! let destination = SocketAddress::new(host, 7);
//! let (source, next_hop, is_broadcast) = (host, mac, false);
//! let route = Route { device, source, destination, next_hop, is_broadcast };
//! let header = engine.prepare(socket, &route)?;
//! let mut frame = [0; 2_048];
//! let length = engine.send(&header, 5, &mut frame, |payload| payload.copy_from_slice(b"hello"))?;
//! engine.handle_frame(now, device, &frame[..length], &mut Print);
//! assert_eq!(engine.socket_counters(socket)?.received, 1);
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod address;
mod arena;
mod device;
mod engine;
mod error;
mod flow;
mod icmp;
mod index;
mod listener;
mod membership;
mod receive;
mod send;
mod shortcut;
mod socket;
mod table;

pub use address::{Address, SocketAddress};
pub use arena::Settings;
pub use device::{DeviceCounters, DeviceId, DeviceSettings};
pub use engine::Engine;
pub use error::{Error, SendError};
pub use listener::{
    Datagram, Dropped, Kernel, Listener, PathError, PathErrorReason, Payload, Verdict,
};
pub use send::{PreparedHeader, Route};
pub use socket::{SocketCounters, SocketId, SocketOptions};
