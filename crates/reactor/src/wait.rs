//! The ways to wait.

use std::fmt;
use std::io;
use std::str::FromStr;

use thiserror::Error;

/// How a [`crate::Reactor`] waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Blocks in the first source's receive, and tries the other sources after each wake.
    Block,
    /// ppoll(2) on all sources.
    Poll,
    /// epoll_pwait2(2) on all sources.
    Epoll,
    /// Never waits: every source is tried every turn.
    Spin,
    /// io_uring_enter(2): requests of all sources to receive or to tell when they are ready. What
    /// arrives by request lies in its source when the wait ends.
    IoUring,
}

impl Wait {
    /// Every wait, in the order in which tables show them.
    pub const ALL: [Self; 5] = [Self::Block, Self::Poll, Self::Epoll, Self::Spin, Self::IoUring];

    /// The name of the wait on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Poll => "poll",
            Self::Epoll => "epoll",
            Self::Spin => "spin",
            Self::IoUring => "io_uring",
        }
    }

    /// Whether this host has it: of [`Wait::Epoll`] and [`Wait::IoUring`] the kernel may be too old
    /// for it, or forbid it. Makes a [`crate::Reactor`] and drops it.
    ///
    /// # Errors
    /// Those of [`crate::Reactor::new`], which say why not.
    pub fn probe(self) -> io::Result<()> {
        crate::Reactor::new(self).map(drop)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no wait's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a wait is block, poll, epoll, spin or io_uring")]
pub struct ParseWaitError;

impl FromStr for Wait {
    type Err = ParseWaitError;

    fn from_str(name: &str) -> Result<Self, ParseWaitError> {
        Self::ALL.into_iter().find(|wait| wait.name() == name).ok_or(ParseWaitError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_as_it_is_written() {
        for wait in Wait::ALL {
            assert_eq!(wait.to_string().parse(), Ok(wait));
        }
        assert_eq!("io_uring".parse(), Ok(Wait::IoUring));
        assert_eq!("Epoll".parse::<Wait>(), Err(ParseWaitError));
        assert_eq!("".parse::<Wait>(), Err(ParseWaitError));
    }
}
