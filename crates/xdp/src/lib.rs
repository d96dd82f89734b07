//! AF_XDP: whole frames between a network interface and memory of ours, past the kernel's stack.
//!
//! Layer L2. What is here:
//!
//! - [`Umem`]: memory cut into frames, which the kernel reads and writes; [`Packet`], the right to
//!   one of them; [`FramePool`], those that are free.
//! - [`Socket`]: the four rings of one queue, without a copy where the driver can.
//! - [`Filter`]: the program that chooses, frame by frame, what is ours. It is assembled here and
//!   changed while it runs; all that no entry names stays the kernel's.
//! - [`Interface`]: all of that on every queue of an interface.
//!
//! What is not here: anything above Ethernet (that is `netstack`'s and `stack`'s), and frames of
//! several buffers: an interface whose MTU does not fit one frame of memory is refused
//! ([`InterfaceError::Mtu`]). It takes `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_BPF` to set up, and
//! nothing afterwards. Linux 5.11 is the oldest that could work; 6.18 is what it is tested on.
//!
//! `unsafe` is allowed here: system calls, and memory shared with the kernel. All of it is
//! documented.
//!
//! ```no_run
//! use hairpin_xdp::{Entry, Interface, InterfaceSettings};
//!
//! let mut interface = Interface::open("veth0", &InterfaceSettings::default())?;
//! println!("{interface}");
//! interface.enter(&Entry::EtherType { vlan: None, ether_type: 0x88b5 })?;
//! loop {
//!     while let Some((queue, mut packet)) = interface.receive()? {
//!         // Back to where it came from, in its own memory.
//!         interface.bytes_mut(&mut packet)[..12].rotate_left(6);
//!         if let Err(packet) = interface.transmit(queue, packet) {
//!             interface.give(packet.into_frame());
//!         }
//!     }
//!     interface.flush()?;
//! }
//! # #[expect(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod btf;
mod capabilities;
mod device;
mod filter;
mod forked;
mod frame;
mod frame_pool;
mod interface;
mod kernel_socket;
mod mapping;
mod netdev;
mod ring;
mod rx_probe;
mod socket;
mod stamp;
mod tx_wakeup;
mod umem;

pub use btf::BtfError;
pub use capabilities::{Capability, CapabilityError, Missing, check_capabilities};
pub use device::{Device, DeviceError, ETHERNET_HEADER};
pub use filter::{
    Entry, EntryError, Filter, FilterError, FilterSettings, Link, LinkError, Mode, Protocol, Slot,
    Stamping, Verdict,
};
pub use forked::ForkGuardedFd;
pub use frame::{Frame, FrameAddress, Packet};
pub use frame_pool::FramePool;
pub use interface::{Interface, InterfaceError, InterfaceSettings};
pub use netdev::Features;
pub use rx_probe::RxProbe;
pub use socket::{
    BusyPolling, Completion, CopyMode, Socket, SocketError, SocketSettings, Statistics,
};
pub use stamp::{ReceiveStamps, Stamp, StampSource};
pub use tx_wakeup::TxWakeup;
pub use umem::{Backing, KERNEL_HEADROOM, TRANSMIT_METADATA, Umem, UmemError, UmemSettings};
