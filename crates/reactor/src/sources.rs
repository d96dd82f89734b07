//! The table of sources.

use std::io;
use std::os::fd::RawFd;

use crate::ready::GROUP;
use crate::{Interest, Ready, Token};

/// Sources in one reactor: more than a process may have descriptors open, unless its limit is
/// raised.
pub const CAPACITY: usize = 1_024;

/// Groups that sources are told of in.
const GROUPS: usize = CAPACITY / GROUP;

/// The descriptor of every source and what it is waited for, by token.
///
/// Kept as the very array that ppoll(2) reads; a free slot has a descriptor of -1, which it passes
/// over. Beside it, what there is to know of 64 sources at once: with no more than those, all that
/// a turn looks at lies in this struct itself.
#[derive(Debug)]
pub(crate) struct Sources {
    slots: Vec<libc::pollfd>,
    interests: Vec<Interest>,
    groups: Groups,
}

/// What there is to know of sources by 64, and what has been found and is still to be told.
#[derive(Debug)]
pub(crate) struct Groups {
    groups: [Group; GROUPS],
    /// Groups in use, at least one: all up to the last with a source.
    used: usize,
    /// Groups with something in `found`, each a bit.
    untold: u16,
    /// The group that was tried last.
    last: usize,
}

/// 64 sources.
#[derive(Debug, Clone, Copy)]
struct Group {
    occupied: u64,
    /// All of them, as ready for all they are waited for.
    all: Ready,
    /// What the last look at the kernel found and nobody has been told of.
    found: Ready,
}

const _: () = assert!(GROUPS == u16::BITS as usize, "a bit for each group");

const FREE: libc::pollfd = libc::pollfd { fd: -1, events: 0, revents: 0 };

impl Sources {
    pub(crate) fn new() -> Self {
        let (slots, interests) = (Vec::with_capacity(GROUP), Vec::with_capacity(GROUP));
        Self { slots, interests, groups: Groups::new() }
    }

    /// Takes the first free slot.
    ///
    /// # Errors
    /// `OutOfMemory` if all are taken.
    pub(crate) fn claim(&mut self) -> io::Result<Token> {
        let Some(group) = self.groups.groups.iter().position(|group| group.occupied != u64::MAX)
        else {
            let reason = format!("a reactor holds no more than {CAPACITY} sources");
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, reason));
        };
        let free = self.groups.groups[group].occupied.trailing_ones() as usize;
        let token = Token::at(group * GROUP + free);
        self.groups.of(token).occupied |= token.bit();
        self.groups.used = self.groups.used.max(group + 1);
        if self.slots.len() <= token.index() {
            self.slots.resize(token.index() + 1, FREE);
            self.interests.resize(token.index() + 1, Interest::NONE);
        }
        Ok(token)
    }

    pub(crate) fn release(&mut self, token: Token) {
        self.set(token, -1, Interest::NONE);
        let Self { slots, interests, groups } = self;
        groups.of(token).occupied &= !token.bit();
        while groups.used > 1 && groups.groups[groups.used - 1].occupied == 0 {
            groups.used -= 1;
        }
        slots.truncate(groups.used * GROUP);
        interests.truncate(groups.used * GROUP);
    }

    /// What is waited for at a source; with none, its slot is passed over.
    pub(crate) fn set(&mut self, token: Token, fd: RawFd, interest: Interest) {
        let fd = if interest == Interest::NONE { -1 } else { fd };
        self.slots[token.index()] = libc::pollfd { fd, events: events(interest), revents: 0 };
        self.interests[token.index()] = interest;
        let group = self.groups.of(token);
        group.found.remove(token);
        group.all.remove(token);
        group.all.insert(token, interest);
    }

    /// Slots that are taken.
    pub(crate) fn count(&self) -> usize {
        self.groups.groups.iter().map(|group| group.occupied.count_ones() as usize).sum()
    }

    pub(crate) fn interest(&self, token: Token) -> Interest {
        self.interests[token.index()]
    }

    /// The slots, and where to put what was found in them.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut [libc::pollfd], &mut Groups) {
        (&mut self.slots, &mut self.groups)
    }
}

impl Groups {
    fn new() -> Self {
        let groups = std::array::from_fn(|index| {
            let nothing = Ready::none_of(index as u16);
            Group { occupied: 0, all: nothing, found: nothing }
        });
        Self { groups, used: 1, untold: 0, last: 0 }
    }

    fn of(&mut self, token: Token) -> &mut Group {
        &mut self.groups[usize::from(token.group())]
    }

    /// Takes what a look at the kernel has found, and tells of the first group of it.
    #[inline]
    pub(crate) fn gather(&mut self, found: impl Iterator<Item = (Token, Interest)>) -> Ready {
        if self.used == 1 {
            let mut ready = Ready::NOTHING;
            found.for_each(|(token, interest)| ready.insert(token, interest));
            return ready.within(self.groups[0].all);
        }
        found.for_each(|(token, interest)| self.find(token, interest));
        self.tell().unwrap_or(Ready::NOTHING)
    }

    /// Has every source tried for all it is waited for, and tells of the first group.
    #[inline]
    pub(crate) fn gather_all(&mut self) -> Ready {
        if self.used == 1 {
            return self.groups[0].all;
        }
        for (index, group) in self.groups[..self.used].iter_mut().enumerate() {
            group.found = group.all;
            self.untold |= 1 << index;
        }
        self.tell().unwrap_or(Ready::NOTHING)
    }

    /// Every source of the next group, as ready for all it is waited for: to try each.
    #[inline]
    pub(crate) fn next(&mut self) -> Ready {
        if self.used == 1 {
            return self.groups[0].all;
        }
        self.next_of_many()
    }

    fn next_of_many(&mut self) -> Ready {
        for _ in 0..self.used {
            self.last = (self.last + 1) % self.used;
            if !self.groups[self.last].all.is_nothing() {
                break;
            }
        }
        self.groups[self.last].all
    }

    /// Notes that a source is ready, to be told of by [`Groups::tell`].
    fn find(&mut self, token: Token, interest: Interest) {
        let group = token.group();
        self.groups[usize::from(group)].found.insert(token, interest);
        self.untold |= 1 << group;
    }

    /// What was found in the next group and is still waited for, if there is any.
    #[inline]
    pub(crate) fn tell(&mut self) -> Option<Ready> {
        if self.untold == 0 { None } else { self.tell_next() }
    }

    fn tell_next(&mut self) -> Option<Ready> {
        while self.untold != 0 {
            let index = self.untold.trailing_zeros() as usize;
            self.untold &= self.untold - 1;
            let group = &mut self.groups[index];
            let ready = group.found.within(group.all);
            group.found = Ready::none_of(index as u16);
            if !ready.is_nothing() {
                return Some(ready);
            }
        }
        None
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

#[cfg(test)]
mod tests {
    use super::*;

    fn with(count: usize) -> (Sources, Vec<Token>) {
        let mut sources = Sources::new();
        let tokens = (0..count).map(|_| sources.claim().unwrap()).collect();
        for &token in &tokens {
            sources.set(token, 7, Interest::READABLE);
        }
        (sources, tokens)
    }

    fn numbers(ready: Ready) -> Vec<usize> {
        ready.readable().map(Token::index).collect()
    }

    #[test]
    fn the_lowest_free_number_is_given_and_no_more_than_there_are() {
        let (mut sources, tokens) = with(CAPACITY);
        assert!(tokens.iter().map(|token| token.index()).eq(0..CAPACITY));
        assert_eq!(sources.count(), CAPACITY);
        assert_eq!(sources.claim().unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        for index in [700, 65] {
            sources.release(tokens[index]);
        }
        assert_eq!(sources.count(), CAPACITY - 2);
        assert_eq!(sources.claim().unwrap(), tokens[65]);
        assert_eq!(sources.claim().unwrap(), tokens[700]);
    }

    #[test]
    fn what_was_found_is_told_of_a_group_at_a_time_and_once() {
        let (mut sources, tokens) = with(200);
        let found = [3, 130, 199, 131].map(|index| (tokens[index], Interest::READABLE));
        assert_eq!(numbers(sources.groups.gather(found.into_iter())), [3]);
        assert_eq!(numbers(sources.groups.tell().unwrap()), [130, 131]);
        assert_eq!(numbers(sources.groups.tell().unwrap()), [199]);
        assert_eq!(sources.groups.tell(), None);
    }

    #[test]
    fn what_is_no_longer_waited_for_or_has_gone_is_not_told() {
        let (mut sources, tokens) = with(200);
        for index in [3, 100, 199] {
            sources.groups.find(tokens[index], Interest::BOTH);
        }
        sources.set(tokens[3], 7, Interest::NONE);
        sources.release(tokens[100]);
        let again = sources.claim().unwrap();
        sources.set(again, 8, Interest::READABLE);
        assert_eq!(again, tokens[100]);
        let told = sources.groups.tell().unwrap();
        assert_eq!((numbers(told), told.writable().count()), (vec![199], 0));
        assert_eq!(sources.groups.tell(), None);
    }

    #[test]
    fn all_are_tried_group_by_group() {
        let (mut sources, tokens) = with(200);
        let mut tried: Vec<usize> = (0..4).flat_map(|_| numbers(sources.groups.next())).collect();
        tried.sort_unstable();
        assert!(tried.into_iter().eq(0..200));
        let first = sources.groups.gather_all();
        let others = std::iter::from_fn(|| sources.groups.tell());
        let told: Vec<usize> = std::iter::once(first).chain(others).flat_map(numbers).collect();
        assert!(told.into_iter().eq(0..200));
        // A group without anything to wait for is passed over.
        for &token in &tokens[64..192] {
            sources.set(token, 7, Interest::NONE);
        }
        let groups: Vec<usize> = (0..4).map(|_| numbers(sources.groups.next())[0]).collect();
        assert!(groups == [0, 192, 0, 192] || groups == [192, 0, 192, 0], "{groups:?}");
    }

    #[test]
    fn sources_that_go_leave_a_small_table_behind() {
        let (mut sources, tokens) = with(200);
        tokens[10..].iter().for_each(|&token| sources.release(token));
        assert_eq!((sources.groups.used, sources.slots.len()), (1, 64));
        assert_eq!(numbers(sources.groups.next()), (0..10).collect::<Vec<_>>());
        assert_eq!(numbers(sources.groups.next()), (0..10).collect::<Vec<_>>());
    }
    #[test]
    fn of_a_few_all_are_told_at_once_but_those_not_waited_for() {
        let (mut sources, tokens) = with(64);
        sources.set(tokens[5], 7, Interest::NONE);
        let found = [63, 5, 0].map(|index| (tokens[index], Interest::BOTH));
        let told = sources.groups.gather(found.into_iter());
        assert_eq!((numbers(told), told.writable().count()), (vec![0, 63], 0));
        assert_eq!(sources.groups.tell(), None);
        assert_eq!(numbers(sources.groups.gather_all()).len(), 63);
        assert_eq!(sources.groups.tell(), None);
    }
}
