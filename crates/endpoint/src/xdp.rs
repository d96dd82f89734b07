//! Kernel bypass over AF_XDP: the types from which a [`Transport::Xdp`](crate::Transport::Xdp) is
//! made.
//!
//! ```no_run
//! use hairpin_endpoint::xdp::{Stack, StackSettings};
//! use hairpin_endpoint::{MulticastGroup, Transport, UdpOptions, UdpReceiver};
//!
//! let stack = Stack::open("eth1", &StackSettings::default())?;
//! println!("{stack}");
//! let group = MulticastGroup {
//!     group: "239.192.0.1:14310".parse()?,
//!     interface: "10.0.0.2".parse()?,
//!     sources: &[],
//! };
//! let transport = Transport::Xdp(stack.clone());
//! let feed = UdpReceiver::join_with(&transport, group, UdpOptions::default())?;
//! while let Some(notice) = stack.next_event() {
//!     println!("{notice}");
//! }
//! # drop(feed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod destination_cache;
pub(crate) mod receiver;
pub(crate) mod socket;
mod takeover;
pub(crate) mod tcp_stream;
pub(crate) mod timestamps;

pub use hairpin_stack::{
    FallbackReason, InterfaceSettings, Mode, PathEvent, ReceiveStamps, Stack, StackError,
    StackSettings, TcpCounters, UmemSettings,
};
