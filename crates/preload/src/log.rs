//! Log lines on standard error.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

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

/// The hashes of the reasons that were printed; 0 if there are fewer.
static REASONS: [AtomicU64; 32] = [const { AtomicU64::new(0) }; 32];

/// Returns the level of a line about a socket that has a reason other sockets may have too:
/// [`Level::Fallback`] for the first of the process, [`Level::All`] afterwards and after 32
/// reasons.
#[cold]
pub(crate) fn level_of_first(reason: &str) -> Level {
    let mut hasher = DefaultHasher::new();
    reason.hash(&mut hasher);
    let hash = hasher.finish().max(1);
    for place in &REASONS {
        match place.compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Level::Fallback,
            Err(other) if other == hash => break,
            Err(_) => {}
        }
    }
    Level::All
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_printed_once_and_at_most_32_are() {
        for reason in 0..40 {
            let expected = if reason < 32 { Level::Fallback } else { Level::All };
            assert_eq!(level_of_first(&reason.to_string()), expected, "{reason}");
            assert_eq!(level_of_first(&reason.to_string()), Level::All, "{reason}");
        }
    }
}
