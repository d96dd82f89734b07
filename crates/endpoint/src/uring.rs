//! Receiving with io_uring(7): the ring, and the shared state of each source's requests.
//!
//! ```text
//!  Ring ── requests ──► kernel ── writes ──► BufferRing
//!    ▲                    │ completions           ▲ release
//!    │                    ▼                       │
//!  Requests ── push ──► CompletionQueue ── pop ── UringReceiver ──► Receive::receive
//! ```

pub(crate) mod buffer_ring;
pub(crate) mod completion_queue;
#[cfg(test)]
mod completion_queue_tests;
#[cfg(test)]
mod loom_model;
pub(crate) mod multishot_receive;
pub(crate) mod receiver;
pub(crate) mod requests;
pub(crate) mod ring;

/// The atomics of the completion queue. The loom model replaces them.
mod atomic {
    pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
