//! Datagram and stream endpoints behind two traits: [`Receive`] lends received bytes in place, and
//! [`Transmit`] lends the buffer to encode in.
//!
//! Layer L2. Endpoints are kernel sockets ([`TcpStream`], [`TcpListener`]), UDP sockets over the
//! kernel or AF_XDP, selected by their [`Transport`] ([`UdpReceiver`], [`UdpSender`],
//! [`UdpSocket`]), and in-memory queues for tests ([`memory`]). [`capture`] reads and writes
//! capture files. Only IPv4 is supported. This crate does not decide when to wait for which
//! endpoint, which is the reactor's task, and contains no protocol above UDP and TCP.
//!
//! ```text
//!            Receive · Transmit · Stream · Source (traits)
//!      ┌────────────────┬──────────────────┬───────────────┐
//!  TcpStream       UdpReceiver          memory          capture
//!  TcpListener     UdpSender            (tests)         (pcap, pcapng)
//!      │           UdpSocket
//!      │                │ Transport
//!      │         ┌──────┴───────┐
//!   kernel sockets            hairpin-stack
//!   recvmmsg(2), or           AF_XDP
//!   a Ring (io_uring)
//! ```
//!
//! Endpoints allocate when they are created and not afterwards, with two exceptions: the buffers of
//! a source that is first added to a [`Ring`], and each new destination of a kernel-bypass socket.
//! No endpoint blocks, except in the one receive that a reactor requests with
//! [`Source::set_blocking`].
//!
//! Received bytes have an arrival time ([`Meta`]), and sent bytes can have a departure time
//! ([`Transmitted`]). [`Timestamping`] selects the clock.
//!
//! Start with `traits.rs`, then `udp_receiver.rs`.
//!
//! | file | content |
//! |---|---|
//! | `traits.rs`, `meta.rs` | the endpoint traits; metadata of received data |
//! | `source.rs` | the trait for reactors: descriptors, blocking receives, io_uring |
//! | `udp_receiver.rs`, `udp_sender.rs`, `udp_socket.rs` | the public UDP sockets |
//! | `tcp_stream.rs`, `tcp_listener.rs` | public TCP sockets |
//! | `multicast.rs`, `transport.rs`, `udp_options.rs` | groups, transports, options |
//! | `backend.rs`, `recv_buffer.rs` | kernel or XDP socket; a shareable receive buffer |
//! | `kernel/` | kernel sockets: recvmmsg batches, control messages, socket options |
//! | `uring/` | io_uring: the ring, its requests, provided buffers, completions |
//! | `timestamps/` | receive and transmit timestamps, the error queue, NIC capabilities |
//! | `xdp.rs`, `xdp/` | kernel-bypass sockets on `hairpin-stack` |
//! | `capture.rs`, `capture/` | capture files: reader, replay, writer, recorder |
//! | `rds.rs`, `rds/` | reliable datagram sockets over kernel UDP, AF_XDP and raw Ethernet |
//! | `memory.rs` | in-memory endpoints for tests |
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

mod backend;
pub mod capture;
mod error_context;
mod kernel;
pub mod memory;
mod meta;
mod multicast;
mod raw_array;
pub mod rds;
mod recv_buffer;
mod source;
mod tcp_listener;
mod tcp_stream;
mod timestamps;
mod traits;
mod transport;
mod udp_options;
mod udp_receiver;
mod udp_sender;
mod udp_socket;
mod uring;
pub mod xdp;

pub use error_context::{is_lost, is_permanent};
pub use hairpin_host::Interface;
pub use kernel::socket_option::ReceiveBuffer;
pub use meta::{Meta, Received, Timestamp, Transmitted};
pub use multicast::MulticastGroup;
pub use source::{Blocker, Source, SourceDeadline};
pub use tcp_listener::TcpListener;
pub use tcp_stream::{TcpOptions, TcpStream};
pub use timestamps::interface::InterfaceTimestamping;
pub use timestamps::timestamping::Timestamping;
pub use traits::{Receive, Stream, Transmit};
pub use transport::Transport;
pub use udp_options::UdpOptions;
pub use udp_receiver::UdpReceiver;
pub use udp_sender::UdpSender;
pub use udp_socket::UdpSocket;
pub use uring::receiver::{DropNotifier, UringHandle};
pub use uring::ring::{ReadySet, Ring};
