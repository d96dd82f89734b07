//! Errors of feed threads.

use hairpin_reactor::{Panic, SpawnError, SpinError};

use crate::FeedError;

/// An error at the start of threads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadsError {
    /// The number of spinning threads exceeds the number of cores.
    #[error(transparent)]
    Spin(#[from] SpinError),
    /// A thread cannot be spawned or pinned.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// A thread failed during startup.
    #[error("thread {name}: {error}")]
    Thread {
        /// The thread's name.
        name: String,
        /// The cause.
        error: ThreadError,
    },
}

/// An error on a thread.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// The host does not support the wait, or the wait failed.
    #[error("cannot wait: {0}")]
    Wait(std::io::Error),
    /// A channel failed; see [`FeedError`]. After startup the thread continues.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A listener or the thread itself panicked with this message. The thread has ended.
    #[error(transparent)]
    Panic(#[from] Panic),
}
