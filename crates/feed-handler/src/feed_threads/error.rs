//! What can go wrong with threads.

use hairpin_reactor::{Panic, SpawnError, SpinError};

use crate::FeedError;

/// Why threads were not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadsError {
    /// Threads that spin would take turns on a core.
    #[error(transparent)]
    Spin(#[from] SpinError),
    /// A thread was refused, or its core.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// What a thread could not do at its start.
    #[error("thread {name}: {error}")]
    Thread {
        /// The thread.
        name: String,
        /// What it was.
        error: ThreadError,
    },
}

/// What has gone wrong on a thread.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// The wait is not to be had on this host.
    #[error("{0}")]
    Wait(std::io::Error),
    /// A channel: see [`FeedError`]. Unless it was at the start, the thread goes on.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A listener, or the thread itself, has panicked with these words. The thread has ended.
    #[error(transparent)]
    Panic(#[from] Panic),
}
