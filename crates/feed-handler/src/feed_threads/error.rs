//! What can go wrong with threads.

use hairpin_reactor::SpawnError;

use crate::FeedError;

/// Why threads were not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadsError {
    /// More threads would spin than there are cores for them.
    #[error("{asked} threads cannot spin on {cores} cores; let some wait by epoll")]
    TooManySpin {
        /// Threads that were to spin.
        asked: usize,
        /// Cores that this process may use.
        cores: usize,
    },
    /// Two threads would spin on one core.
    #[error("threads {} and {} cannot both spin on core {core}", names[0], names[1])]
    SameCore {
        /// The core.
        core: usize,
        /// The threads.
        names: [String; 2],
    },
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
    #[error("panicked: {0}")]
    Panic(String),
}

/// Why a thread could not be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// As many calls as there may be wait already.
    #[error("too many calls wait for the thread")]
    Full,
    /// The thread has ended.
    #[error("the thread has ended")]
    Ended,
}
