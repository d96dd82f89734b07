//! Tokens, interests and the result of a wait.

use std::ops::BitOr;

/// A handle of a source in one reactor, from its addition to its removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(u16);

/// The number of sources in one group: the bits of a set that fits in a register.
pub(crate) const GROUP: usize = 64;

impl Token {
    /// Returns the source's number, for use as a table index. It is below [`crate::CAPACITY`], and
    /// was the lowest free number when the source was added.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Creates the token of this number, which is below [`crate::CAPACITY`].
    #[inline]
    pub(crate) const fn from_index(index: usize) -> Self {
        Self(index as u16)
    }

    #[inline]
    pub(crate) const fn group(self) -> u16 {
        self.0 / GROUP as u16
    }

    /// Returns the source's bit in its group.
    #[inline]
    pub(crate) const fn bit(self) -> u64 {
        1 << (self.0 % GROUP as u16)
    }
}

/// The interest in a source: the readiness to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interest(u8);

impl Interest {
    /// No interest: not even a hang-up is reported.
    pub const NONE: Self = Self(0);
    /// Data can be received, a connection can be accepted, or the peer has ended the stream.
    pub const READABLE: Self = Self(1);
    /// Data can be sent, or a connection attempt has completed.
    pub const WRITABLE: Self = Self(2);
    /// Both interests.
    pub const BOTH: Self = Self(3);

    /// Returns `true` if this includes all of `other`.
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

/// The result of a wait: the sources to receive from and the sources to send to.
///
/// A source with an error or a hang-up is ready for every interest, so that the next call on the
/// source returns the error.
///
/// Sources are reported in groups of 64 by number. A reactor with up to 64 sources reports all
/// ready sources at once, a larger one reports one group at a time (see [`crate::Reactor::wait`]).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    readable: u64,
    writable: u64,
    group: u16,
}

impl Ready {
    /// The empty result: the deadline has passed or a signal was caught.
    pub const EMPTY: Self = Self::empty(0);

    /// Returns `true` if data may be received from this source.
    #[inline]
    #[must_use]
    pub const fn is_readable(self, token: Token) -> bool {
        self.readable & token.bit() != 0 && self.group == token.group()
    }

    /// Returns `true` if data may be sent to this source.
    #[inline]
    #[must_use]
    pub const fn is_writable(self, token: Token) -> bool {
        self.writable & token.bit() != 0 && self.group == token.group()
    }

    /// Returns `true` if no source is ready.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.readable | self.writable == 0
    }

    /// Iterates over the sources that may have data to receive. A loop over many sources finds its
    /// state by [`Token::index`] and need not check each source.
    pub fn readable(self) -> impl Iterator<Item = Token> {
        members(self.group, self.readable)
    }

    /// Iterates over the sources that may accept data to send.
    pub fn writable(self) -> impl Iterator<Item = Token> {
        members(self.group, self.writable)
    }

    /// Creates an empty result for a group.
    #[inline]
    pub(crate) const fn empty(group: u16) -> Self {
        Self { readable: 0, writable: 0, group }
    }

    /// Creates a result from bit sets of a group: sources to receive from and sources to send to.
    #[inline]
    pub(crate) const fn from_sets(group: u16, readable: u64, writable: u64) -> Self {
        Self { readable, writable, group }
    }

    /// Returns the intersection with `other`, a result of the same group.
    #[inline]
    pub(crate) fn intersection(self, other: Self) -> Self {
        let (readable, writable) = (self.readable & other.readable, self.writable & other.writable);
        Self { readable, writable, group: self.group }
    }

    #[inline]
    pub(crate) const fn group(self) -> u16 {
        self.group
    }

    /// Adds readable sources of a set as writable.
    #[inline]
    pub(crate) const fn with_combined(self, combined: u64) -> Self {
        Self { writable: self.writable | (self.readable & combined), ..self }
    }

    /// Adds a source of this group.
    #[inline]
    pub(crate) fn insert(&mut self, token: Token, interest: Interest) {
        if interest.contains(Interest::READABLE) {
            self.readable |= token.bit();
        }
        if interest.contains(Interest::WRITABLE) {
            self.writable |= token.bit();
        }
    }

    /// Removes a source of this group.
    pub(crate) fn remove(&mut self, token: Token) {
        self.readable &= !token.bit();
        self.writable &= !token.bit();
    }
}

/// Iterates over the members of a set of this group.
fn members(group: u16, mut set: u64) -> impl Iterator<Item = Token> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(Token(group * GROUP as u16 + bit as u16))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_ready_only_as_inserted() {
        let (first, last) = (Token::from_index(0), Token::from_index(63));
        let mut ready = Ready::EMPTY;
        ready.insert(first, Interest::READABLE);
        ready.insert(last, Interest::WRITABLE);
        ready.insert(Token::from_index(5), Interest::NONE);
        assert!(ready.is_readable(first) && !ready.is_writable(first));
        assert!(ready.is_writable(last) && !ready.is_readable(last));
        assert!(
            !ready.is_readable(Token::from_index(5)) && !ready.is_writable(Token::from_index(5))
        );
        ready.remove(first);
        assert!(!ready.is_empty());
        ready.remove(last);
        assert!(ready.is_empty());
    }

    #[test]
    fn groups_do_not_share_sources() {
        let tokens = [Token::from_index(3), Token::from_index(67), Token::from_index(1_023)];
        for token in tokens {
            let mut ready = Ready::empty(token.group());
            ready.insert(token, Interest::BOTH);
            for other in tokens {
                assert_eq!(ready.is_readable(other), other == token);
                assert_eq!(ready.is_writable(other), other == token);
            }
            assert!(ready.readable().eq([token]) && ready.writable().eq([token]));
        }
        let few = Ready::from_sets(1, 1 << 63 | 1, 2);
        assert!(few.readable().map(Token::index).eq([64, 127]));
        assert!(few.writable().map(Token::index).eq([65]));
        assert_eq!(Ready::EMPTY.readable().count(), 0);
    }
}
