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

/// The atomics and memory orderings of the completion queue. The loom model replaces them.
mod memory {
    use std::sync::atomic::Ordering;
    pub(super) use std::sync::atomic::{AtomicU32, AtomicU64};

    /// The store of the push count, which publishes a completion and its buffer to the source.
    pub(super) const PUBLISH_PUSHED: Ordering = Ordering::Release;
    /// The load of the push count, after which the source reads completions and buffers.
    pub(super) const OBSERVE_PUSHED: Ordering = Ordering::Acquire;
    /// The store of the pop count, which returns a slot to the ring.
    pub(super) const PUBLISH_POPPED: Ordering = Ordering::Release;
    /// The load of the pop count, after which the ring uses a slot again.
    pub(super) const OBSERVE_POPPED: Ordering = Ordering::Acquire;
}
