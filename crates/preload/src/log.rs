//! Log lines on standard error.

use std::fmt::Display;
use std::sync::atomic::{AtomicU8, Ordering};

/// How much is logged (`HAIRPIN_LOG`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Level {
    /// Nothing.
    Off,
    /// The interfaces opened, and what falls back to the kernel.
    Fallback,
    /// Every decision about a socket.
    All,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Fallback as u8);

/// Sets the level from the value of `HAIRPIN_LOG`; an unknown value logs fallbacks.
pub(crate) fn set_level(value: Option<&str>) {
    let level = match value {
        Some("off") => Level::Off,
        Some("all") => Level::All,
        _ => Level::Fallback,
    };
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Prints a line if the level includes it: one write, so that lines of threads do not mix.
pub(crate) fn line(level: Level, text: impl Display) {
    if level as u8 <= LEVEL.load(Ordering::Relaxed) {
        print(&format!("hairpin: {text}\n"));
    }
}

/// Prints a line and ends the process with status 1.
pub(crate) fn fatal(text: &str) -> ! {
    print(&format!("hairpin: {text}\n"));
    // SAFETY: ends the process without running the program's exit handlers.
    unsafe { libc::_exit(1) }
}

/// Writes a text to standard error, by one write.
pub(crate) fn print(text: &str) {
    let (bytes, length) = (text.as_ptr(), text.len());
    // SAFETY: the bytes outlive the call. The system call avoids this library's own `write`. If
    // standard error is closed, the line is lost.
    unsafe { libc::syscall(libc::SYS_write, 2, bytes, length) };
}
