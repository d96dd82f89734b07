//! Datagram and stream endpoints behind one pair of traits: [`Receive`] hands out borrowed bytes,
//! [`Transmit`] has them encoded in the buffer that leaves.
//!
//! Layer L2. Endpoints are sockets of the kernel ([`TcpStream`], [`TcpListener`]), of the kernel or
//! past it, as their [`Transport`] says ([`UdpReceiver`], [`UdpSender`], [`UdpSocket`]), and, for
//! tests, queues in [`memory`]. IPv4 only. Files of captured traffic are read and written by
//! [`capture`]. Not here: when to wait for which of them, which is the reactor's, and any protocol
//! above UDP and TCP.
//!
//! Every endpoint is sized when it is made and allocates nothing afterwards, but for the buffers
//! it is given when it is first added to a [`Ring`], which receives by requests in an io_uring(7),
//! and for each new address that one past the kernel sends to. None ever blocks, but for the one
//! receive that a reactor asks for through [`Source::set_blocking`].
//!
//! Received bytes come with the time of their arrival ([`Meta`]), and what was sent can have that
//! of its departure ([`Transmitted`]); [`Timestamping`] says by whose clock.
//!
//! ```no_run
//! use std::net::{Ipv4Addr, SocketAddrV4};
//! use hairpin_endpoint::{MulticastGroup, Receive, UdpOptions, UdpReceiver};
//!
//! let mut feed = UdpReceiver::join(
//!     MulticastGroup {
//!         group: SocketAddrV4::new(Ipv4Addr::new(239, 192, 0, 1), 14_310),
//!         interface: Ipv4Addr::new(10, 0, 0, 2),
//!         sources: &[Ipv4Addr::new(10, 0, 0, 1)],
//!     },
//!     UdpOptions::default(),
//! )?;
//! let received = feed.receive(64, |meta, datagram| {
//!     println!("{} bytes from {} at {:?}", datagram.len(), meta.source, meta.timestamp);
//! })?;
//! assert!(received.count <= 64);
//! # Ok::<(), std::io::Error>(())
//! ```

mod address;
mod ancillary;
mod arrivals;
mod batch;
mod buffers;
pub mod capture;
mod carrier;
mod completions;
mod context;
mod datagram;
mod datagrams;
mod delivery;
mod destinations;
mod error_queue;
mod inbox;
mod incoming;
mod interface_timestamping;
mod kernel_sender;
mod kernel_socket;
pub mod memory;
mod meta;
mod multicast;
mod outgoing;
mod requests;
mod ring;
mod socket_option;
mod source;
mod stamps;
mod stream_buffer;
mod table;
mod tcp_listener;
mod tcp_stream;
mod timestamping;
mod traits;
mod transport;
mod udp_options;
mod udp_receiver;
mod udp_sender;
mod udp_socket;
pub mod xdp;
mod xdp_datagrams;
mod xdp_socket;
mod xdp_stamps;

pub use delivery::{DropNotifier, UringHandle};
pub use hairpin_host::Interface;
pub use interface_timestamping::InterfaceTimestamping;
pub use meta::{Meta, Received, Timestamp, Transmitted};
pub use multicast::MulticastGroup;
pub use ring::{ReadySet, Ring};
pub use socket_option::ReceiveBuffer;
pub use source::{Blocker, Source};
pub use tcp_listener::TcpListener;
pub use tcp_stream::{TcpOptions, TcpStream};
pub use timestamping::Timestamping;
pub use traits::{Receive, Stream, Transmit};
pub use transport::Transport;
pub use udp_options::UdpOptions;
pub use udp_receiver::UdpReceiver;
pub use udp_sender::UdpSender;
pub use udp_socket::UdpSocket;
