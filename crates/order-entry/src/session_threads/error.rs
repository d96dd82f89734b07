//! Errors of session threads.

use std::io;

use hairpin_reactor::{Panic, SpawnError, SpinError};

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

/// The error that ended a thread.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// The host does not support the wait, or the wait failed.
    #[error("cannot wait: {0}")]
    Wait(io::Error),
    /// The reactor could not register or update a connection. Failures of the connections
    /// themselves are reported to their listeners.
    #[error("session {session}: {error}")]
    Session {
        /// The session's index on the thread.
        session: usize,
        /// The reactor's error.
        error: io::Error,
    },
    /// A listener, a call, or the thread itself panicked with this message.
    #[error(transparent)]
    Panic(#[from] Panic),
}
