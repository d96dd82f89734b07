//! AF_XDP.
#![expect(dead_code, reason = "x")]
mod btf;
mod filter;
mod frame;
mod frame_pool;
mod mapping;
mod ring;
mod umem;

pub use btf::BtfError;
pub use filter::{
    Entry, EntryError, Filter, FilterError, FilterSettings, Link, LinkError, Mode, Protocol, Slot,
    Verdict,
};
pub use frame::{Frame, FrameAddress, Packet};
pub use frame_pool::FramePool;
pub use umem::{Backing, KERNEL_HEADROOM, TRANSMIT_METADATA, Umem, UmemError, UmemSettings};
