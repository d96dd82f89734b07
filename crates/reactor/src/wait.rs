//! The kinds of wait.

use std::fmt;
use std::io;
use std::str::FromStr;

use thiserror::Error;

/// The kind of wait of a [`crate::Reactor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Blocks in the first source's receive, and tries the other sources after each wakeup.
    Block,
    /// ppoll(2) on all sources.
    Poll,
    /// epoll_pwait2(2) on all sources.
    Epoll,
    /// Busy-polls: never waits, and every source is tried in each iteration.
    Spin,
    /// io_uring_enter(2): requests of all sources to receive or to report readiness. Data received
    /// by requests are in their source when the wait ends.
    IoUring,
}

impl Wait {
    /// The waits, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Block, Self::Poll, Self::Epoll, Self::Spin, Self::IoUring];

    /// Returns the name of the wait on the command line and in results.
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

    /// Checks whether this host supports the wait, by creating a [`crate::Reactor`].
    /// [`Wait::Epoll`] and [`Wait::IoUring`] may be too new for the kernel or forbidden.
    ///
    /// # Errors
    /// The errors of [`crate::Reactor::new`], which contain the reason.
    pub fn probe(self) -> io::Result<()> {
        crate::Reactor::new(self).map(drop)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error of an unknown wait name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("unknown wait: use block, poll, epoll, spin or io_uring")]
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
    fn parses_printed_name() {
        for wait in Wait::ALL {
            assert_eq!(wait.to_string().parse(), Ok(wait));
        }
        assert_eq!("io_uring".parse(), Ok(Wait::IoUring));
        assert_eq!("Epoll".parse::<Wait>(), Err(ParseWaitError));
        assert_eq!("".parse::<Wait>(), Err(ParseWaitError));
    }
}
