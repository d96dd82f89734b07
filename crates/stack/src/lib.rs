//! UDP sockets, TCP connections and raw frames that bypass the kernel: the engines of `netstack`
//! and `tcp` on the frames of `xdp`, with the kernel as control plane.
//!
//! Layer L2. A [`Stack`] opens one interface. Its sockets receive frames that the filter redirects
//! before the kernel's network stack, and send frames directly to the driver:
//!
//! - [`UdpSocket`]: IPv4 and IPv6, unicast and multicast. Behind each is a kernel socket with the
//!   same address and memberships. It owns the port, answers for it, reports groups, receives ICMP
//!   errors, and carries fragments, broadcast, loopback and traffic of other interfaces.
//!   [`UdpSocket::receive`] delivers both as one stream.
//! - [`AdoptedSocket`]: the same for a kernel socket that the caller keeps: only the datagrams that
//!   bypass the kernel, at no descriptor.
//! - [`RawFrames`]: whole frames of one EtherType, of a stack or of a dedicated interface.
//! - [`TcpSocket`]: an established connection, taken over from the kernel and handed back to the
//!   same descriptor ([`Stack::adopt_tcp`]).
//! - [`start_keeper`]: a process that ends the connections of a program that was killed.
//! - [`RunSummary`]: what the processes of a run have accelerated.
//! - [`Poller`]: polls many sockets with one call.
//! - [`plan_interface`]: what opening a stack will do; [`RequestSocket`]: netlink requests.
//!
//! The kernel keeps routes, neighbors, addresses and group members. A watcher thread follows their
//! changes. Traffic that cannot bypass the kernel falls back to it and is reported
//! ([`Stack::next_event`]) or, in a strict stack, rejected.
//!
//! The crate does not connect, listen, accept or close TCP connections, and does not support VLAN
//! devices or transmit timestamps.
//!
//! Sockets allocate nothing while they send and receive, except to find a path again. Opening a
//! stack requires `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_BPF`; using it requires nothing. One
//! exception: keeping the neighbor entries of next hops fresh requires `CAP_NET_ADMIN`. Without it
//! the kernel may forget a next hop that only bypassing frames use; the next datagram then goes
//! through the kernel and resolves it again.
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
//!
//! # The path of a datagram
//!
//! ```text
//!  receive                                            send
//!
//!  NIC, driver                                        UdpSocket::transmit_to      send.rs
//!   │ XDP filter: no entry ─▶ kernel ─▶ backing        │ path stale? ask the control plane
//!   ▼ entry: redirect                   socket  ─┐     │ path through the kernel ─▶ backing socket
//!  receive ring                       xdp        │     ▼ Path::Xdp
//!   │ Interface::receive                         │    tx_frame: the caller writes the payload
//!   ▼                                            │     │
//!  DataPlane::demux            data_plane.rs     │     ▼ lock the data plane
//!   │ fast path: Engine::deliver_known_flow      │    Engine::send: headers, checksums
//!   │ otherwise: Engine::handle_frame            │     │
//!   ▼                                            │     ▼ Interface::post
//!  the reader's batch, or the ReceiveQueue of    │    transmit ring
//!   │ another socket and its Readiness           │     │ unlock
//!   ▼                                            │     ▼ TxWakeup::kick
//!  UdpSocket::receive          receive.rs ◀──────┘    driver, NIC
//! ```
//!
//! Any socket that polls takes the frames of all sockets off the rings: its own go to its batch,
//! the
//! others to their queues. The data plane has one lock per stack, which is not held during system
//! calls. The control plane has another one, taken first.
//!
//! # Where to find what
//!
//! Start with [`Stack`], then `udp_socket.rs` and `data_plane.rs`.
//!
//! | file | contents |
//! |---|---|
//! | `stack.rs` | [`Stack`] and the state that its sockets share |
//! | `udp_socket.rs`, `udp_socket/` | [`UdpSocket`]: bind, connect, join; receive, send, wait, frames |
//! | `adopted_socket.rs` | [`AdoptedSocket`]: the traffic of a kernel socket of the caller |
//! | `raw_frames.rs`, `raw_frames/` | [`RawFrames`] of a dedicated interface or of a stack |
//! | `tcp.rs`, `tcp/` | [`TcpSocket`]: takeover, handback, frames of connections |
//! | `poller.rs`, `readiness.rs` | [`Poller`]; readiness of sockets, epoll |
//! | `data_plane.rs`, `receive_queue.rs` | frames off the rings, demultiplexing, queues, drops |
//! | `fast_mutex.rs`, `fast_mutex/` | [`FastMutex`], the lock of the data plane and of connections |
//! | `control_plane.rs`, `destination.rs` | addresses, routes, neighbors; [`Destination`] and its
//! path |
//! | `groups.rs`, `memberships.rs`, `memberships/` | which groups bypass the kernel; the kernel's members |
//! | `udp_injector.rs` | received datagrams returned to kernel sockets |
//! | `bound_address.rs`, `filter_entries.rs` | filter entries of sockets, reference-counted |
//! | `family.rs` | IPv4, IPv6 or both |
//! | `backing_socket.rs` | the kernel socket behind each socket |
//! | `watcher.rs`, `netlink.rs`, `netlink/` | the watcher thread; rtnetlink requests and notifications |
//! | `run_summary.rs`, `socket_rule.rs` | the last line of a run; the sockets that it accelerates |
//! | `host_rules.rs`, `host_rules/` | firewall and translation rules that bypassed frames would skip |
//! | `path_event.rs`, `settings.rs`, `error.rs` | events, settings, errors |
//!
//! - **A new error counter**: drops of a socket are counted in `ReceiveQueue`
//!   (`receive_queue.rs`, `record_drop`) and read by [`UdpSocket::dropped`]. Malformed frames are
//!   counted by the engine (`DeviceCounters` in `netstack`), ring errors by `xdp`.
//! - **A new reason for a fallback**: add a variant to [`FallbackReason`] in `path_event.rs` and
//!   return it from `ControlPlane::path` or `Groups::poll`.
//! - **A new wait**: sockets wait on the epoll instance of `readiness.rs`, see
//!   `udp_socket/wait.rs`. Another wait must call `Readiness::set_has_waiters`, so that other
//!   sockets signal it, and poll the rings once before it sleeps.
//!
//! `unsafe` is allowed in this crate, for system calls, the engine's memory and [`FastMutex`]. Each
//! block is documented.

mod adopted_socket;
mod backing_socket;
mod bound_address;
mod control_plane;
mod data_plane;
mod destination;
mod drops;
mod error;
mod family;
mod fast_mutex;
mod filter_entries;
mod groups;
mod host_rules;
mod long_frames;
mod memberships;
mod neighbors;
mod netlink;
mod path_event;
mod poller;
mod raw_frames;
mod readiness;
mod receive_queue;
mod run_summary;
mod settings;
mod socket_rule;
mod source_policy;
mod stack;
mod tcp;
mod udp_injector;
mod udp_socket;
mod watcher;

pub use adopted_socket::{AdoptedSocket, Adoption, IpHeader, await_redirects};
pub use destination::Destination;
pub use drops::{DropCause, DropCounters};
pub use error::StackError;
pub use fast_mutex::{FastGuard, FastMutex};
pub use hairpin_tcp::Reason as HandbackReason;
pub use hairpin_xdp::{
    InterfaceError, InterfaceSettings, Mode, Packet, ReceiveStamps, Stamp, StampSource,
    UmemSettings, after_copy_in_child, after_copy_in_parent, before_copy, is_internal_descriptor,
    register_fork_handlers,
};
pub use host_rules::{Chain, HostRules, TrafficControl, chains, traffic_control};
pub use neighbors::Neighbors;
pub use netlink::{RequestSocket, attributes};
pub use path_event::{FallbackReason, PathEvent};
pub use poller::Poller;
pub use raw_frames::RawFrames;
pub use run_summary::{LastLine, RunCount, RunSummary};
pub use settings::{SocketOptions, StackSettings};
pub use socket_rule::{SocketProtocol, SocketRule, SocketRuleError};
pub use stack::{Stack, plan_interface};
pub use tcp::{
    AdoptedTcp, KeeperClient, TakeoverError, TcpCounters, TcpReceived, TcpSocket, TcpStatus,
    TcpTotals, inheritable, start_keeper,
};
pub use udp_injector::IpFields;
pub use udp_socket::{Meta, Received, UdpSocket};
