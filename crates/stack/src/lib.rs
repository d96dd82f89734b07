//! UDP and raw frames past the kernel: the engine of `netstack` over the frames of `xdp`, while the
//! kernel keeps what it is for.
//!
//! Layer L2. A [`Stack`] takes one interface. Its sockets receive frames that the filter sends to
//! this process before the kernel has seen them, and send frames straight to the driver:
//!
//! - [`UdpSocket`]: IPv4 and IPv6, hosts and groups. Behind each stands a socket of the kernel with
//!   the same address and memberships: it reserves the port, answers for it, reports groups, hears
//!   ICMP errors, and brings what comes by the kernel all the same: fragments, other interfaces,
//!   loopback, broadcast. All of it is delivered by one [`UdpSocket::receive`].
//! - [`RawFrames`]: whole frames of an EtherType of one's own, of a stack or of an interface alone.
//! - [`Poller`]: many sockets looked at by one call.
//!
//! Routes, neighbours, addresses and group members are the kernel's: they are asked for, and a
//! thread of the stack keeps them current. What cannot go past the kernel goes through it, and is
//! said ([`Stack::notice`]) or, in a strict stack, refused.
//!
//! Nothing is allocated by a socket that sends and receives, but to find a way anew. It takes
//! `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_BPF` to open a stack, and nothing afterwards; but to
//! have the kernel keep the next hops of what is sent fresh takes `CAP_NET_ADMIN` whenever that is
//! done. Without it the kernel may forget one that only frames of ours go to, and finds it again
//! by the next datagram, which then goes through it.
//!
//! Not here: TCP, VLAN devices, stamps of what was sent.
//!
//! `unsafe` is allowed here: system calls, and the engine's memory. All of it is documented.
//!
//! ```no_run
//! use hairpin_stack::{SocketOptions, Stack, StackSettings};
//!
//! let stack = Stack::open("eth1", &StackSettings::default())?;
//! println!("{stack}");
//! let mut socket = stack.bind("10.0.0.1:7000".parse()?, &SocketOptions::default())?;
//! let mut peer = socket.destination("10.0.0.2:7000".parse()?)?;
//! socket.transmit_to(&mut peer, 5, |payload| payload.copy_from_slice(b"hello"))?;
//! loop {
//!     socket.receive(32, |meta, payload| println!("{}: {payload:?}", meta.source))?;
//! }
//! # #[expect(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod addresses;
mod control;
mod core;
mod destination;
mod entries;
mod error;
mod groups;
mod kernel_socket;
mod memberships;
mod memory;
mod netlink;
mod path_event;
mod poller;
mod raw_frames;
mod readiness;
mod seat;
mod settings;
mod stack;
mod udp_socket;
mod watcher;

pub use destination::Destination;
pub use error::StackError;
pub use hairpin_xdp::{
    InterfaceSettings, Mode, Packet, ReceiveStamps, Stamp, StampSource, UmemSettings,
};
pub use path_event::{FallbackReason, PathEvent};
pub use poller::Poller;
pub use raw_frames::RawFrames;
pub use settings::{SocketOptions, StackSettings};
pub use stack::Stack;
pub use udp_socket::{Meta, Received, UdpSocket};
