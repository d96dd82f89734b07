//! AF_XDP.
#![expect(dead_code, reason = "x")]
mod frame;
mod frame_pool;
mod mapping;
mod ring;
mod umem;

pub use frame::{Frame, FrameAddress, Packet};
pub use frame_pool::FramePool;
pub use umem::{Backing, KERNEL_HEADROOM, TRANSMIT_METADATA, Umem, UmemError, UmemSettings};
