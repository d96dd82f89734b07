//! Which sources, and which of them for what.

use std::ops::BitOr;

/// A source of one reactor, from when it is added until it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(u16);

/// Sources in one group: what a set held in a register has bits for.
pub(crate) const GROUP: usize = 64;

impl Token {
    /// The source's number, for a table of what belongs to it: below [`crate::CAPACITY`], and the
    /// lowest that was free when the source was added.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The source with this number, below [`crate::CAPACITY`].
    #[inline]
    pub(crate) const fn at(index: usize) -> Self {
        Self(index as u16)
    }

    #[inline]
    pub(crate) const fn group(self) -> u16 {
        self.0 / GROUP as u16
    }

    /// Its place in its group.
    #[inline]
    pub(crate) const fn bit(self) -> u64 {
        1 << (self.0 % GROUP as u16)
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
///
/// Sources are told of in groups of 64, by number: a reactor with no more than that tells of all
/// that are ready at once, a larger one of one group at a time (see [`crate::Reactor::wait`]).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    readable: u64,
    writable: u64,
    group: u16,
}

impl Ready {
    /// Nothing: the deadline has passed or a signal has come.
    pub const NOTHING: Self = Self::none_of(0);

    /// Whether there may be something to receive from this source.
    #[inline]
    #[must_use]
    pub const fn is_readable(self, token: Token) -> bool {
        self.readable & token.bit() != 0 && self.group == token.group()
    }

    /// Whether there may be room to send to this source.
    #[inline]
    #[must_use]
    pub const fn is_writable(self, token: Token) -> bool {
        self.writable & token.bit() != 0 && self.group == token.group()
    }

    /// Whether no source is ready.
    #[inline]
    #[must_use]
    pub const fn is_nothing(self) -> bool {
        self.readable | self.writable == 0
    }

    /// The sources that there may be something to receive from: for a loop over many, which finds
    /// its own by [`Token::index`] and need not ask for each.
    pub fn readable(self) -> impl Iterator<Item = Token> {
        members(self.group, self.readable)
    }

    /// The sources that there may be room to send to.
    pub fn writable(self) -> impl Iterator<Item = Token> {
        members(self.group, self.writable)
    }

    /// Nothing in this group.
    #[inline]
    pub(crate) const fn none_of(group: u16) -> Self {
        Self { readable: 0, writable: 0, group }
    }

    /// Sources of a group as sets of bits: those to receive from and those to send to.
    #[inline]
    pub(crate) const fn of_sets(group: u16, readable: u64, writable: u64) -> Self {
        Self { readable, writable, group }
    }

    /// What is in `other`, of the same group, as well.
    #[inline]
    pub(crate) fn within(self, other: Self) -> Self {
        let (readable, writable) = (self.readable & other.readable, self.writable & other.writable);
        Self { readable, writable, group: self.group }
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

    /// Takes a source of this group away.
    pub(crate) fn remove(&mut self, token: Token) {
        self.readable &= !token.bit();
        self.writable &= !token.bit();
    }
}

/// The members of a set of this group.
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
    fn a_source_is_ready_for_what_was_inserted_alone() {
        let (first, last) = (Token::at(0), Token::at(63));
        let mut ready = Ready::NOTHING;
        ready.insert(first, Interest::READABLE);
        ready.insert(last, Interest::WRITABLE);
        ready.insert(Token::at(5), Interest::NONE);
        assert!(ready.is_readable(first) && !ready.is_writable(first));
        assert!(ready.is_writable(last) && !ready.is_readable(last));
        assert!(!ready.is_readable(Token::at(5)) && !ready.is_writable(Token::at(5)));
        ready.remove(first);
        assert!(!ready.is_nothing());
        ready.remove(last);
        assert!(ready.is_nothing());
    }
    #[test]
    fn sources_of_one_group_are_not_those_of_another() {
        let tokens = [Token::at(3), Token::at(67), Token::at(1_023)];
        for token in tokens {
            let mut ready = Ready::none_of(token.group());
            ready.insert(token, Interest::BOTH);
            for other in tokens {
                assert_eq!(ready.is_readable(other), other == token);
                assert_eq!(ready.is_writable(other), other == token);
            }
            assert!(ready.readable().eq([token]) && ready.writable().eq([token]));
        }
        let few = Ready::of_sets(1, 1 << 63 | 1, 2);
        assert!(few.readable().map(Token::index).eq([64, 127]));
        assert!(few.writable().map(Token::index).eq([65]));
        assert_eq!(Ready::NOTHING.readable().count(), 0);
    }
}
