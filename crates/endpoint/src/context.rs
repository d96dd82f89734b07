//! What was being done when the kernel refused.

use std::fmt;
use std::io;

/// Puts what was attempted before the kernel's reason, keeping the kind of the error.
pub(crate) trait Context<T> {
    /// `cannot <attempt>: <reason>`
    fn context(self, attempt: fmt::Arguments<'_>) -> io::Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, attempt: fmt::Arguments<'_>) -> io::Result<T> {
        self.map_err(|reason| io::Error::new(reason.kind(), format!("cannot {attempt}: {reason}")))
    }
}

/// Whether a call found nothing to do, or was interrupted before it found anything.
pub(crate) fn is_idle(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
