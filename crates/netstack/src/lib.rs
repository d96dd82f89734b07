//! A UDP engine in user space, without I/O.
//!
//! Layer L1: a plain value without sockets, threads or clocks; `no_std`, no `unsafe`. The engine
//! allocates its tables when it is created, and nothing later.
//!
//! The caller passes received frames to [`Engine::handle_frame`]. Datagrams are delivered to a
//! [`Listener`] while still in their frame. [`Engine::send`] writes complete frames into the buffer
//! to send, from headers prepared once per destination. The engine supports IPv4 and IPv6, unicast,
//! multicast and broadcast, VLANs, checksums in both directions, and ICMP errors.
//!
//! Received frames obey the rules of the kernel's input path. The IP header checksum is verified. A
//! transport checksum is valid, or it is the partial sum that the kernel of a local sender leaves.
//! Packets from or to addresses that no wire may carry ([`Dropped::Martian`]) are dropped.
//!
//! It is not a full IP stack. Frames that are not UDP, are fragments, have IP options or extension
//! headers, or match no socket belong to the kernel ([`Verdict::Kernel`]). So do routes, neighbors,
//! port allocation, group reports and datagrams that need fragmentation. The caller passes what the
//! engine needs of them in a [`Route`]. A socket has one address family, is not bound to a device,
//! and cannot bind to a broadcast address. A membership can allow sources (INCLUDE mode) but not
//! exclude them.
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
//! let mut engine = Engine::new(&settings);
//! let mac = MacAddress([2, 0, 0, 0, 0, 1]);
//! let device = DeviceSettings { mac, mtu: 1_500, vlan: None };
//! let device = engine.add_device(&device)?;
//! let host = Address::from(std::net::Ipv4Addr::new(10, 0, 0, 1));
//! let socket = engine.open_socket(&SocketOptions::default())?;
//! engine.bind(socket, SocketAddress::new(host, 7))?;
//! // The example sends to itself.
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
//!
//! # Where to find what
//!
//! Start with [`Engine::handle_frame`] in `receive.rs`, which handles every frame and learns flows.
//! Nearly all frames take the fast path of `fast_path.rs`, [`Engine::deliver_known_flow`]: plain
//! headers of a known flow.
//!
//! | file | contents |
//! |---|---|
//! | `engine.rs` | [`Engine`]: open, bind, connect, close |
//! | `receive.rs` | frames in: parsing, lookup, delivery, device counters |
//! | `fast_path.rs`, `flow.rs` | the fast path and its flow cache |
//! | `martian.rs` | the addresses that are dropped |
//! | `send.rs` | [`PreparedHeader`], frames out |
//! | `icmp.rs` | ICMP errors for the socket that sent the datagram |
//! | `membership.rs` | group memberships and source filters |
//! | `device.rs`, `socket.rs`, `address.rs` | devices, sockets, addresses; their counters and keys |
//! | `tables.rs`, `table.rs`, `index.rs` | the engine's tables; hash tables |
//! | `listener.rs`, `error.rs` | callbacks, verdicts, errors |
//!
//! - **A new error counter**: add a field to [`DeviceCounters`] (`device.rs`) or [`SocketCounters`]
//!   (`socket.rs`). Device counters are incremented in `Engine::count` (`receive.rs`), by verdict.
//! - **A new wait**: the engine never waits. Waits are in the crate `stack`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod address;
mod device;
mod engine;
mod error;
mod fast_path;
mod flow;
mod icmp;
mod index;
mod listener;
mod martian;
mod membership;
mod receive;
mod send;
mod socket;
mod table;
mod tables;

pub use address::{Address, SocketAddress};
pub use device::{DeviceCounters, DeviceId, DeviceSettings};
pub use engine::Engine;
pub use error::{Error, SendError};
pub use listener::{
    Datagram, Dropped, Kernel, Listener, PathError, PathErrorReason, Payload, Verdict,
};
pub use send::{PreparedHeader, Route};
pub use socket::{SocketCounters, SocketId, SocketOptions};
pub use tables::Settings;
