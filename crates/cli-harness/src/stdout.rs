//! Standard output, whose errors name it.

use std::io::{self, StdoutLock, Write};

/// Standard output, locked, whose errors name it.
#[derive(Debug)]
pub struct Stdout(StdoutLock<'static>);

/// An error of standard output.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {0}")]
pub(crate) struct StdoutError(io::Error);

/// Locks standard output.
pub fn lock() -> Stdout {
    Stdout(io::stdout().lock())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(named)
    }
}

fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), StdoutError(error))
}

/// Returns `true` for an error of standard output.
pub fn is_stdout_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|it| it.is::<StdoutError>())
}
