//! Which sources, and which of them for what.

use std::ops::{BitOr, BitOrAssign};

/// A source of one reactor, from when it is added until it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(pub(crate) u8);

impl Token {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    pub(crate) fn bit(self) -> u64 {
        1 << self.0
    }
}

/// What to wait for at a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interest(u8);

impl Interest {
    /// Nothing for now; not even a hang-up is reported.
    pub const NONE: Self = Self(0);
    /// That there is something to receive or accept, the peer's end of the stream included.
    pub const READABLE: Self = Self(1);
    /// That there is room to send, or that a connection attempt has come to its end.
    pub const WRITABLE: Self = Self(2);
    /// Either.
    pub const BOTH: Self = Self(3);

    /// Whether this includes all of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Interest {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a wait found: the sources to receive from and those to send to.
///
/// A source with an error or a hang-up is ready for whatever was waited for, so that the next call
/// there reports it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    readable: u64,
    writable: u64,
}

impl Ready {
    /// Nothing: the deadline has passed or a signal has come.
    pub const NOTHING: Self = Self { readable: 0, writable: 0 };

    /// Whether there may be something to receive from this source.
    #[inline]
    #[must_use]
    pub const fn is_readable(self, token: Token) -> bool {
        self.readable >> token.0 & 1 != 0
    }

    /// Whether there may be room to send to this source.
    #[inline]
    #[must_use]
    pub const fn is_writable(self, token: Token) -> bool {
        self.writable >> token.0 & 1 != 0
    }

    /// Whether no source is ready.
    #[inline]
    #[must_use]
    pub const fn is_nothing(self) -> bool {
        self.readable | self.writable == 0
    }

    /// Sources as sets of bits, by token: those to receive from and those to send to.
    #[inline]
    pub(crate) const fn of_sets(readable: u64, writable: u64) -> Self {
        Self { readable, writable }
    }

    /// The same sets.
    #[inline]
    pub(crate) const fn sets(self) -> (u64, u64) {
        (self.readable, self.writable)
    }

    /// What is in `other` as well.
    #[inline]
    pub(crate) fn within(self, other: Self) -> Self {
        Self { readable: self.readable & other.readable, writable: self.writable & other.writable }
    }

    /// Adds a source.
    #[inline]
    pub(crate) fn insert(&mut self, token: Token, interest: Interest) {
        if interest.contains(Interest::READABLE) {
            self.readable |= token.bit();
        }
        if interest.contains(Interest::WRITABLE) {
            self.writable |= token.bit();
        }
    }

    pub(crate) fn remove(&mut self, token: Token) {
        self.readable &= !token.bit();
        self.writable &= !token.bit();
    }
}

impl BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Self) {
        self.readable |= other.readable;
        self.writable |= other.writable;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_ready_for_what_was_inserted_alone() {
        let (first, last) = (Token(0), Token(63));
        let mut ready = Ready::NOTHING;
        ready.insert(first, Interest::READABLE);
        ready.insert(last, Interest::WRITABLE);
        ready.insert(Token(5), Interest::NONE);
        assert!(ready.is_readable(first) && !ready.is_writable(first));
        assert!(ready.is_writable(last) && !ready.is_readable(last));
        assert!(!ready.is_readable(Token(5)) && !ready.is_writable(Token(5)));
        ready.remove(first);
        assert!(!ready.is_nothing());
        ready.remove(last);
        assert!(ready.is_nothing());
    }
}
