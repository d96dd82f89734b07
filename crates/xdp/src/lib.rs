//! AF_XDP for one network interface: frame memory, rings, sockets, and a flow filter in the kernel.
//!
//! Layer L2. The crate moves whole Ethernet frames between an interface and memory of this process,
//! bypassing the kernel's network stack. Frames that the filter does not match stay with the
//! kernel.
//!
//! It is not a network stack: everything above Ethernet is in `netstack` and `stack`. A packet that
//! is longer than a frame arrives in parts if [`SocketSettings::long_frames`] is set, on Linux 6.6
//! or newer; otherwise an interface with such an MTU is rejected ([`InterfaceError::Mtu`]).
//!
//! Opening an interface requires `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_BPF`; using it requires
//! nothing. Linux 5.11 or newer is required; the oldest tested kernel is 5.15.
//!
//! ```no_run
//! use hairpin_xdp::{Entry, Interface, InterfaceSettings};
//!
//! let mut interface = Interface::open("veth0", &InterfaceSettings::default())?;
//! println!("{interface}");
//! interface.redirect(&Entry::EtherType { vlan: None, ether_type: 0x88b5 })?;
//! loop {
//!     while let Some((queue, mut packet)) = interface.receive()? {
//!         // Swap the Ethernet addresses in place and send the same frame back.
//!         interface.bytes_mut(&mut packet)[..12].rotate_left(6);
//!         if let Err(packet) = interface.transmit(queue, packet) {
//!             interface.release(packet.into_frame());
//!         }
//!     }
//!     interface.flush()?;
//! }
//! # #[expect(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who owns a frame
//!
//! Each frame has one owner at any time: the pool, a [`Packet`] or [`Frame`] of the program, or the
//! kernel. The four rings of a [`Socket`] transfer ownership of frames by their offset in the
//! [`Umem`].
//!
//! ```text
//!   this process                       rings                        kernel
//!                  refill                       takes a frame to
//!   FramePool ───────────────▶ fill        ───▶ receive into      ─┐
//!       ▲                                                          │ filter matches: a frame
//!       │ release                                                  │ arrives and is written
//!       │          receive                                         │
//!   Packet    ◀─────────────── receive     ◀───────────────────────┘
//!       │
//!       │          transmit                     sends the frame
//!       ├────────────────────▶ transmit    ───▶ (woken by kick)   ─┐
//!       ▼          complete                                        │
//!   FramePool ◀─────────────── completion  ◀───────────────────────┘
//! ```
//!
//! In each ring one side produces and the other consumes. The producer owns free entries until it
//! publishes its index (release store); the consumer owns published entries until it publishes its
//! own. `ring/queue.rs` implements this, and `ring/model.rs` checks it with loom.
//!
//! # Where to find what
//!
//! Start with [`Interface`], then [`Socket`], then `ring/queue.rs`.
//!
//! | file | contents |
//! |---|---|
//! | `interface.rs` | [`Interface`]: filter, one socket per queue, memory; queue rotation, refill, reclaim |
//! | `opened_interface.rs` | [`OpenedInterface`]: what requires capabilities, passed between processes |
//! | `socket.rs` | [`Socket`]: the four rings of one queue, kernel counters ([`Statistics`]) |
//! | `ring.rs`, `ring/queue.rs` | ring layout; producer and consumer sides |
//! | `umem.rs`, `frame.rs`, `frame_pool.rs` | frame memory, frame ownership, free frames |
//! | `rx_probe.rs` | [`RxProbe`]: lock-free check for pending packets |
//! | `tx_wakeup.rs` | [`TxWakeup`]: the system call that sends a transmit ring |
//! | `timestamp.rs` | receive and transmit timestamps |
//! | `filter.rs`, `filter/` | [`Filter`]: entries, maps, the program and its assembler, attachment |
//! | `device.rs`, `ethtool.rs`, `netdev.rs` | properties, settings and XDP features of an interface |
//! | `plan.rs` | [`InterfacePlan`]: what opening an interface will do |
//! | `capabilities.rs` | the required capabilities |
//! | `xsk_socket.rs`, `mapping.rs`, `btf.rs` | system calls, mappings, kernel type information |
//! | `fork_guard.rs`, `fork_guard/` | [`ForkGuardedFd`]: descriptors that a forked child does not inherit |
//!
//! - **A new error counter**: for events that the kernel counts, extend [`Statistics`] and
//!   `Socket::statistics` in `socket.rs`. For events that this crate detects, add a field next to
//!   `invalid` in [`Socket`], increment it where the event is detected, and add a getter.
//! - **A new wait**: `Socket::wait` in `socket.rs` and `XskSocket::wait` in `xsk_socket.rs` sleep
//!   in poll(2). Another kind of wait starts there; [`Socket`] implements `AsFd` for waits of the
//!   caller, and [`RxProbe`] serves busy-polling without a lock.
//!
//! `unsafe` is allowed in this crate, for system calls and for memory shared with the kernel. Each
//! block is documented.

mod btf;
mod capabilities;
mod device;
mod ethtool;
mod filter;
mod fork_guard;
mod frame;
mod frame_pool;
mod interface;
mod kernel_release;
mod mapping;
mod netdev;
mod opened_interface;
mod plan;
mod prepared_socket;
mod ring;
mod rx_probe;
mod socket;
mod timestamp;
mod tx_wakeup;
mod umem;
mod xsk_socket;

pub use btf::BtfError;
pub use capabilities::{
    Capability, CapabilityError, MissingCapabilities, check_capabilities, drop_capabilities,
    drop_other_capabilities,
};
pub use device::{Device, DeviceError, ETHERNET_HEADER, LinkState};
pub use ethtool::{Coalescing, DriverSettings, RingSizes};
pub use filter::{
    Entry, EntryError, Filter, FilterError, FilterSettings, Link, LinkError, LinkOwner, Mode,
    Protocol, Slot, Stamping, Verdict,
};
pub use fork_guard::{
    ForkGuardedFd, after_copy_in_child, after_copy_in_parent, before_copy, is_internal_descriptor,
    register_fork_handlers,
};
pub use frame::{Frame, FrameAddress, Packet};
pub use frame_pool::FramePool;
pub use interface::{Interface, InterfaceError, InterfaceSettings};
pub use kernel_release::kernel_version;
pub use netdev::Features;
pub use opened_interface::{KeptInterface, OpenedInterface, PreparedInterface, ReceivedInterface};
pub use plan::InterfacePlan;
pub use rx_probe::RxProbe;
pub use socket::{
    BusyPolling, Completion, CopyMode, Socket, SocketError, SocketSettings, Statistics,
};
pub use timestamp::{ReceiveStamps, Stamp, StampSource};
pub use tx_wakeup::TxWakeup;
pub use umem::{Backing, KERNEL_HEADROOM, TRANSMIT_METADATA, Umem, UmemError, UmemSettings};
