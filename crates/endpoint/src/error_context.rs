//! Context for the kernel's errors: the operation that failed.

use std::fmt;
use std::io;

/// Adds the attempted operation to an error and keeps the error's kind.
pub(crate) trait Context<T> {
    /// Formats the error as `cannot <attempt>: <reason>`.
    fn context(self, attempt: fmt::Arguments<'_>) -> io::Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, attempt: fmt::Arguments<'_>) -> io::Result<T> {
        self.map_err(|reason| io::Error::new(reason.kind(), format!("cannot {attempt}: {reason}")))
    }
}

/// Returns `true` if a call found no data, or was interrupted before it found any.
pub(crate) fn is_idle(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
