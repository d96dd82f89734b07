//! What can go wrong with threads.

use std::io;

use hairpin_reactor::{Panic, SpawnError, SpinError};

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

/// Why a thread has ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// Its wait is not to be had on this host, or has failed.
    #[error("waiting: {0}")]
    Wait(io::Error),
    /// The reactor has refused a connection a place, or has lost one. What becomes of connections
    /// themselves is told to their listeners.
    #[error("session {session}: {error}")]
    Session {
        /// Its place on the thread.
        session: usize,
        /// The reactor's.
        error: io::Error,
    },
    /// A listener, a call, or the thread itself has panicked with these words.
    #[error(transparent)]
    Panic(#[from] Panic),
}
