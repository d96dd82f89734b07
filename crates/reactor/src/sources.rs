//! The table of sources.

use std::io;
use std::os::fd::RawFd;

use crate::ready::GROUP;
use crate::{Interest, Ready, Token};

/// The maximum number of sources in one reactor. It exceeds the default limit of open descriptors
/// of a process.
pub const CAPACITY: usize = 1_024;

/// The number of groups in which sources are reported.
const GROUPS: usize = CAPACITY / GROUP;

/// The descriptor and interest of every source, by token.
///
/// The slots are the array that ppoll(2) reads. A free slot has the descriptor -1, which ppoll
/// ignores. The state of 64 sources is stored in this struct itself, so an iteration with up to 64
/// sources reads only the struct.
#[derive(Debug)]
pub(crate) struct Sources {
    slots: Vec<libc::pollfd>,
    interests: Vec<Interest>,
    groups: Groups,
}

/// The state of sources in groups of 64, and the results that are not yet reported.
#[derive(Debug)]
pub(crate) struct Groups {
    groups: [Group; GROUPS],
    /// The number of groups in use, at least one: all up to the last group with a source.
    used: usize,
    /// The groups with results in `found`, one bit each.
    pending: u16,
    /// The group that was reported last by a spinning wait.
    last: usize,
}

/// The state of 64 sources.
#[derive(Debug, Clone, Copy)]
struct Group {
    occupied: u64,
    /// The sources whose descriptor is readable when they are ready for any interest.
    combined: u64,
    /// All sources, as ready for their interest.
    all: Ready,
    /// The results of the last system call that are not yet reported.
    found: Ready,
}

const _: () = assert!(GROUPS == u16::BITS as usize, "a bit for each group is required");

const FREE: libc::pollfd = libc::pollfd { fd: -1, events: 0, revents: 0 };

impl Sources {
    pub(crate) fn new() -> Self {
        let (slots, interests) = (Vec::with_capacity(GROUP), Vec::with_capacity(GROUP));
        Self { slots, interests, groups: Groups::new() }
    }

    /// Takes the first free slot.
    ///
    /// # Errors
    /// `OutOfMemory` if all slots are in use.
    pub(crate) fn claim(&mut self) -> io::Result<Token> {
        let Some(group) = self.groups.groups.iter().position(|group| group.occupied != u64::MAX)
        else {
            let reason = format!("cannot add a source: a reactor holds at most {CAPACITY}");
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, reason));
        };
        let free = self.groups.groups[group].occupied.trailing_ones() as usize;
        let token = Token::from_index(group * GROUP + free);
        self.groups.group_mut(token).occupied |= token.bit();
        self.groups.used = self.groups.used.max(group + 1);
        if self.slots.len() <= token.index() {
            self.slots.resize(token.index() + 1, FREE);
            self.interests.resize(token.index() + 1, Interest::NONE);
        }
        Ok(token)
    }

    pub(crate) fn release(&mut self, token: Token) {
        self.set(token, -1, Interest::NONE);
        self.set_combined(token, false);
        let Self { slots, interests, groups } = self;
        groups.group_mut(token).occupied &= !token.bit();
        while groups.used > 1 && groups.groups[groups.used - 1].occupied == 0 {
            groups.used -= 1;
        }
        slots.truncate(groups.used * GROUP);
        interests.truncate(groups.used * GROUP);
    }

    /// Sets whether the source's descriptor is readable when the source is ready for any interest.
    pub(crate) fn set_combined(&mut self, token: Token, is_combined: bool) {
        let group = self.groups.group_mut(token);
        group.combined &= !token.bit();
        group.combined |= if is_combined { token.bit() } else { 0 };
    }

    /// Returns the events of the source's descriptor that an interest requires.
    pub(crate) fn descriptor_interest(&self, token: Token, interest: Interest) -> Interest {
        let group = &self.groups.groups[usize::from(token.group())];
        let is_combined = group.combined & token.bit() != 0 && interest != Interest::NONE;
        if is_combined { Interest::READABLE } else { interest }
    }

    /// Sets the interest in a source. A slot without interest is ignored by ppoll.
    pub(crate) fn set(&mut self, token: Token, fd: RawFd, interest: Interest) {
        let fd = if interest == Interest::NONE { -1 } else { fd };
        let events = events(self.descriptor_interest(token, interest));
        self.slots[token.index()] = libc::pollfd { fd, events, revents: 0 };
        self.interests[token.index()] = interest;
        let group = self.groups.group_mut(token);
        group.found.remove(token);
        group.all.remove(token);
        group.all.insert(token, interest);
    }

    /// Returns the number of slots in use.
    pub(crate) fn count(&self) -> usize {
        self.groups.groups.iter().map(|group| group.occupied.count_ones() as usize).sum()
    }

    pub(crate) fn interest(&self, token: Token) -> Interest {
        self.interests[token.index()]
    }

    /// Returns the slots, and the groups that collect the results.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut [libc::pollfd], &mut Groups) {
        (&mut self.slots, &mut self.groups)
    }
}

impl Groups {
    fn new() -> Self {
        let groups = std::array::from_fn(|index| {
            let nothing = Ready::empty(index as u16);
            Group { occupied: 0, combined: 0, all: nothing, found: nothing }
        });
        Self { groups, used: 1, pending: 0, last: 0 }
    }

    fn group_mut(&mut self, token: Token) -> &mut Group {
        &mut self.groups[usize::from(token.group())]
    }

    /// Collects the results of a system call, and returns the first group of them.
    #[inline]
    pub(crate) fn gather(&mut self, found: impl Iterator<Item = (Token, Interest)>) -> Ready {
        if self.used == 1 {
            let mut ready = Ready::EMPTY;
            found.for_each(|(token, interest)| ready.insert(token, interest));
            return self.groups[0].translate(ready);
        }
        found.for_each(|(token, interest)| self.record(token, interest));
        self.take_pending().unwrap_or(Ready::EMPTY)
    }

    /// Returns the results of a system call for one group as results of its sources.
    #[inline]
    pub(crate) fn translate(&self, ready: Ready) -> Ready {
        self.groups[usize::from(ready.group())].translate(ready)
    }

    /// Marks every source as ready for its interest, and returns the first group.
    #[inline]
    pub(crate) fn gather_all(&mut self) -> Ready {
        if self.used == 1 {
            return self.groups[0].all;
        }
        for (index, group) in self.groups[..self.used].iter_mut().enumerate() {
            group.found = group.all;
            self.pending |= 1 << index;
        }
        self.take_pending().unwrap_or(Ready::EMPTY)
    }

    /// Returns every source of the next group as ready for its interest.
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
            if !self.groups[self.last].all.is_empty() {
                break;
            }
        }
        self.groups[self.last].all
    }

    /// Records that a source is ready, to be returned by [`Groups::take_pending`].
    pub(crate) fn record(&mut self, token: Token, interest: Interest) {
        let group = token.group();
        self.groups[usize::from(group)].found.insert(token, interest);
        self.pending |= 1 << group;
    }

    /// Adds a result of a system call to those that are not yet reported.
    pub(crate) fn record_all(&mut self, ready: Ready) {
        ready.readable().for_each(|token| self.record(token, Interest::READABLE));
        ready.writable().for_each(|token| self.record(token, Interest::WRITABLE));
    }

    /// Returns the results of the next group that still have interest, if there are any.
    #[inline]
    pub(crate) fn take_pending(&mut self) -> Option<Ready> {
        if self.pending == 0 { None } else { self.take_next_pending() }
    }

    fn take_next_pending(&mut self) -> Option<Ready> {
        while self.pending != 0 {
            let index = self.pending.trailing_zeros() as usize;
            self.pending &= self.pending - 1;
            let group = &mut self.groups[index];
            let ready = group.translate(group.found);
            group.found = Ready::empty(index as u16);
            if !ready.is_empty() {
                return Some(ready);
            }
        }
        None
    }
}

impl Group {
    /// Returns the sources that are ready for their interest by the results for their descriptors.
    #[inline]
    fn translate(&self, found: Ready) -> Ready {
        found.with_combined(self.combined).intersection(self.all)
    }
}

/// Returns the error for a descriptor that is no longer open.
#[cold]
pub(crate) fn dropped_without_removal() -> io::Error {
    let reason = "cannot wait: a source was dropped without being removed from its reactor";
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
    fn claims_lowest_free_number() {
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
    fn reports_each_group_once() {
        let (mut sources, tokens) = with(200);
        let found = [3, 130, 199, 131].map(|index| (tokens[index], Interest::READABLE));
        assert_eq!(numbers(sources.groups.gather(found.into_iter())), [3]);
        assert_eq!(numbers(sources.groups.take_pending().unwrap()), [130, 131]);
        assert_eq!(numbers(sources.groups.take_pending().unwrap()), [199]);
        assert_eq!(sources.groups.take_pending(), None);
    }

    #[test]
    fn drops_results_without_interest_or_source() {
        let (mut sources, tokens) = with(200);
        for index in [3, 100, 199] {
            sources.groups.record(tokens[index], Interest::BOTH);
        }
        sources.set(tokens[3], 7, Interest::NONE);
        sources.release(tokens[100]);
        let again = sources.claim().unwrap();
        sources.set(again, 8, Interest::READABLE);
        assert_eq!(again, tokens[100]);
        let reported = sources.groups.take_pending().unwrap();
        assert_eq!((numbers(reported), reported.writable().count()), (vec![199], 0));
        assert_eq!(sources.groups.take_pending(), None);
    }

    #[test]
    fn tries_all_sources_group_by_group() {
        let (mut sources, tokens) = with(200);
        let mut tried: Vec<usize> = (0..4).flat_map(|_| numbers(sources.groups.next())).collect();
        tried.sort_unstable();
        assert!(tried.into_iter().eq(0..200));
        let first = sources.groups.gather_all();
        let others = std::iter::from_fn(|| sources.groups.take_pending());
        let reported: Vec<usize> = std::iter::once(first).chain(others).flat_map(numbers).collect();
        assert!(reported.into_iter().eq(0..200));
        // A group without interest is skipped.
        for &token in &tokens[64..192] {
            sources.set(token, 7, Interest::NONE);
        }
        let groups: Vec<usize> = (0..4).map(|_| numbers(sources.groups.next())[0]).collect();
        assert!(groups == [0, 192, 0, 192] || groups == [192, 0, 192, 0], "{groups:?}");
    }

    #[test]
    fn combined_descriptor_reports_writing_by_reading() {
        for count in [1, 200] {
            let (mut sources, tokens) = with(count);
            let token = tokens[count - 1];
            sources.set_combined(token, true);
            for interest in [Interest::READABLE, Interest::WRITABLE, Interest::BOTH] {
                sources.set(token, 7, interest);
                assert_eq!(sources.slots[token.index()].events, libc::POLLIN);
                let ready = sources.groups.gather([(token, Interest::READABLE)].into_iter());
                assert_eq!(ready.is_readable(token), interest.contains(Interest::READABLE));
                assert_eq!(ready.is_writable(token), interest.contains(Interest::WRITABLE));
            }
            sources.release(token);
            let again = sources.claim().unwrap();
            sources.set(again, 7, Interest::WRITABLE);
            assert_eq!((again, sources.slots[token.index()].events), (token, libc::POLLOUT));
        }
    }

    #[test]
    fn table_shrinks_after_removals() {
        let (mut sources, tokens) = with(200);
        tokens[10..].iter().for_each(|&token| sources.release(token));
        assert_eq!((sources.groups.used, sources.slots.len()), (1, 64));
        assert_eq!(numbers(sources.groups.next()), (0..10).collect::<Vec<_>>());
        assert_eq!(numbers(sources.groups.next()), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn reports_small_reactor_at_once() {
        let (mut sources, tokens) = with(64);
        sources.set(tokens[5], 7, Interest::NONE);
        let found = [63, 5, 0].map(|index| (tokens[index], Interest::BOTH));
        let reported = sources.groups.gather(found.into_iter());
        assert_eq!((numbers(reported), reported.writable().count()), (vec![0, 63], 0));
        assert_eq!(sources.groups.take_pending(), None);
        assert_eq!(numbers(sources.groups.gather_all()).len(), 63);
        assert_eq!(sources.groups.take_pending(), None);
    }
}
