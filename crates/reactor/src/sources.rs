//! The table of sources.

use std::io;
use std::os::fd::RawFd;

use crate::{Interest, Ready, Token};

/// Sources in one reactor: what a bit set in a register holds.
pub const CAPACITY: usize = 64;

/// The descriptor of every source and what it is waited for, by token.
///
/// Kept as the very array that ppoll(2) reads; a free slot has a descriptor of -1, which it passes
/// over.
#[derive(Debug)]
pub(crate) struct Sources {
    slots: Vec<libc::pollfd>,
    occupied: u64,
    /// Every source, as ready for all it is waited for.
    all: Ready,
    interests: [Interest; CAPACITY],
}

const FREE: libc::pollfd = libc::pollfd { fd: -1, events: 0, revents: 0 };

impl Sources {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::with_capacity(CAPACITY),
            occupied: 0,
            all: Ready::NOTHING,
            interests: [Interest::NONE; CAPACITY],
        }
    }

    /// Takes the first free slot.
    ///
    /// # Errors
    /// `OutOfMemory` if all are taken.
    pub(crate) fn claim(&mut self) -> io::Result<Token> {
        let index = self.occupied.trailing_ones();
        if index as usize >= CAPACITY {
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                "a reactor holds no more than 64 sources",
            ));
        }
        let token = Token(index as u8);
        self.occupied |= token.bit();
        if self.slots.len() <= token.index() {
            self.slots.resize(token.index() + 1, FREE);
        }
        Ok(token)
    }

    pub(crate) fn release(&mut self, token: Token) {
        self.set(token, -1, Interest::NONE);
        self.occupied &= !token.bit();
    }

    /// What is waited for at a source; with none, its slot is passed over.
    pub(crate) fn set(&mut self, token: Token, fd: RawFd, interest: Interest) {
        let fd = if interest == Interest::NONE { -1 } else { fd };
        self.slots[token.index()] = libc::pollfd { fd, events: events(interest), revents: 0 };
        self.interests[token.index()] = interest;
        self.all.remove(token);
        self.all.insert(token, interest);
    }

    pub(crate) fn interest(&self, token: Token) -> Interest {
        self.interests[token.index()]
    }

    /// Every source, as ready for all it is waited for: to try each.
    #[inline]
    pub(crate) fn all(&self) -> Ready {
        self.all
    }

    pub(crate) fn slots(&mut self) -> &mut [libc::pollfd] {
        &mut self.slots
    }
}

/// What a wait says of a descriptor that is no longer open.
#[cold]
pub(crate) fn dropped_without_removal() -> io::Error {
    let reason = "a source was dropped without being removed from its reactor";
    io::Error::new(io::ErrorKind::NotFound, reason)
}

fn events(interest: Interest) -> libc::c_short {
    let mut events = 0;
    if interest.contains(Interest::READABLE) {
        events |= libc::POLLIN;
    }
    if interest.contains(Interest::WRITABLE) {
        events |= libc::POLLOUT;
    }
    events
}
