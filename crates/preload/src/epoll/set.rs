//! The members of an epoll instance.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{EDGE, ONE_SHOT};

/// `true` if a member of any instance was ever armed for one event.
static HAS_ONE_SHOT: AtomicBool = AtomicBool::new(false);

/// The waits after which all connections that are taken over were checked.
const WAITS: usize = 64;

/// The members of an instance that are UDP or TCP sockets, or instances with such members.
#[derive(Debug, Default)]
pub(crate) struct EpollSet {
    /// The members by descriptor.
    members: Vec<Option<Member>>,
    /// The members that are always candidates: UDP sockets and instances.
    always: Vec<c_int>,
    /// The connections that are taken over.
    taken_over: Vec<c_int>,
    /// The members that may be ready, each once, in the order in which they are checked.
    candidates: VecDeque<c_int>,
    /// The place of the next connection that becomes a candidate without a reason.
    next: usize,
    /// `true` if a member was ever armed for one event.
    pub(super) has_one_shot: bool,
    /// The time at which the kernel was asked last.
    pub(super) kernel_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) fd: c_int,
    pub(super) events: u32,
    pub(super) data: u64,
    /// The arrivals of the socket when it was last reported, for edges.
    pub(super) seen: u64,
    /// `false` after a one-shot event, until the program arms the member again.
    pub(super) armed: bool,
    /// `true` while the kernel reports nothing, because the connection is taken over.
    pub(super) is_suspended: bool,
    is_always: bool,
    is_candidate: bool,
}

impl Member {
    /// Creates a member that is armed. Only connections become candidates by a call.
    pub(super) fn new(fd: c_int, events: u32, data: u64, is_connection: bool) -> Self {
        Self {
            fd,
            events,
            data,
            seen: u64::MAX,
            armed: true,
            is_suspended: false,
            is_always: !is_connection,
            is_candidate: false,
        }
    }

    /// Changes the events and data. What is ready is an edge.
    pub(super) fn change(&mut self, events: u32, data: u64) {
        (self.events, self.data) = (events, data);
        (self.seen, self.armed) = (u64::MAX, true);
    }

    /// Returns the events that the kernel must report after a handback.
    pub(super) fn kernel_events(&self) -> u32 {
        if self.armed { self.events } else { ONE_SHOT }
    }

    pub(super) fn is_edge_triggered(&self) -> bool {
        self.events & EDGE != 0
    }
}

/// Returns `true` if a report of the kernel may disarm a member.
#[inline]
pub(crate) fn has_one_shot() -> bool {
    HAS_ONE_SHOT.load(Ordering::Relaxed)
}

impl EpollSet {
    pub(super) fn get(&mut self, fd: c_int) -> Option<&mut Member> {
        self.members.get_mut(usize::try_from(fd).ok()?)?.as_mut()
    }

    /// Adds or replaces a member. Returns `true` if it is new.
    pub(super) fn insert(&mut self, member: Member) -> bool {
        let is_new = !self.remove(member.fd);
        let at = member.fd.cast_unsigned() as usize;
        if at >= self.members.len() {
            self.members.resize(at + 1, None);
        }
        self.members[at] = Some(member);
        self.note_events(member.events);
        if member.is_always {
            self.always.push(member.fd);
            self.add_candidate(member.fd);
        }
        is_new
    }

    /// Records the events of a member that is added or changed.
    pub(super) fn note_events(&mut self, events: u32) {
        if events & ONE_SHOT != 0 {
            self.has_one_shot = true;
            HAS_ONE_SHOT.store(true, Ordering::Relaxed);
        }
    }

    /// Removes a member. Returns `true` if there was one.
    pub(super) fn remove(&mut self, fd: c_int) -> bool {
        let place = usize::try_from(fd).ok().and_then(|at| self.members.get_mut(at));
        let Some(member) = place.and_then(Option::take) else { return false };
        let forget = |list: &mut Vec<c_int>| list.retain(|known| *known != fd);
        if member.is_always {
            forget(&mut self.always);
        }
        if member.is_suspended {
            forget(&mut self.taken_over);
        }
        if member.is_candidate {
            self.candidates.retain(|known| *known != fd);
        }
        true
    }

    /// Marks a connection as taken over, and as a candidate. Returns its data; `None` if it is no
    /// member.
    pub(super) fn suspend(&mut self, fd: c_int) -> Option<u64> {
        let member = self.get(fd)?;
        let data = member.data;
        if !std::mem::replace(&mut member.is_suspended, true) {
            // Every readiness after the takeover is an edge.
            member.seen = u64::MAX;
            self.taken_over.push(fd);
            self.add_candidate(fd);
        }
        Some(data)
    }

    /// Marks a connection as the kernel's. Returns the member, if it was taken over.
    pub(super) fn resume(&mut self, fd: c_int) -> Option<Member> {
        let member = self.get(fd).filter(|member| member.is_suspended)?;
        member.is_suspended = false;
        let member = *member;
        self.taken_over.retain(|known| *known != fd);
        Some(member)
    }

    /// Records that a member may be ready.
    pub(super) fn add_candidate(&mut self, fd: c_int) {
        if let Some(member) = self.get(fd)
            && (member.is_suspended || member.is_always)
            && !std::mem::replace(&mut member.is_candidate, true)
        {
            self.candidates.push_back(fd);
        }
    }

    /// Makes some connections candidates, so that their timers run. Returns the number of
    /// candidates.
    pub(super) fn begin_wait(&mut self) -> usize {
        let count = self.taken_over.len();
        for _ in 0..count.div_ceil(WAITS) {
            self.next = (self.next + 1) % count;
            self.add_candidate(self.taken_over[self.next]);
        }
        self.candidates.len()
    }

    /// Takes the next candidate.
    pub(super) fn next_candidate(&mut self) -> Option<Member> {
        let fd = self.candidates.pop_front()?;
        let member = self.get(fd)?;
        member.is_candidate = false;
        Some(*member)
    }

    /// Puts a member that was checked behind the other candidates, if it may be ready again.
    pub(super) fn end_check(&mut self, fd: c_int, was_ready: bool) {
        if was_ready || self.get(fd).is_some_and(|member| member.is_always) {
            self.add_candidate(fd);
        }
    }

    /// Returns the members that may have something that the kernel does not know.
    pub(super) fn unknown_to_kernel(&mut self) -> Vec<Member> {
        let all = [&self.always[..], &self.taken_over].concat();
        all.into_iter().filter_map(|fd| self.get(fd).copied()).collect()
    }

    pub(super) fn has_taken_over(&self) -> bool {
        !self.taken_over.is_empty()
    }

    /// Returns the members that are always candidates.
    pub(super) fn always(&self) -> &[c_int] {
        &self.always
    }

    pub(super) fn members(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a set with connections that are taken over, and not candidates any more.
    fn set_of(connections: impl IntoIterator<Item = c_int>) -> EpollSet {
        let mut set = EpollSet::default();
        for fd in connections {
            assert!(set.insert(Member::new(fd, 1, fd as u64, true)));
            set.suspend(fd);
        }
        while set.next_candidate().is_some() {}
        set
    }

    fn candidates(set: &mut EpollSet) -> Vec<c_int> {
        std::iter::from_fn(|| set.next_candidate()).map(|member| member.fd).collect()
    }

    #[test]
    fn candidate_is_checked_once_and_in_order() {
        let mut set = set_of(3..8);
        [5, 4, 5, 7, 99].into_iter().for_each(|fd| set.add_candidate(fd));
        assert_eq!(candidates(&mut set), [5, 4, 7]);
        assert_eq!(candidates(&mut set), []);
    }

    #[test]
    fn member_that_was_ready_is_checked_again_after_the_others() {
        let mut set = set_of(3..6);
        [3, 4].into_iter().for_each(|fd| set.add_candidate(fd));
        let first = set.next_candidate().unwrap();
        set.end_check(first.fd, true);
        let second = set.next_candidate().unwrap();
        set.end_check(second.fd, false);
        assert_eq!(candidates(&mut set), [3]);
    }

    #[test]
    fn every_connection_is_checked_within_64_waits() {
        let mut set = set_of(0..1_000);
        let mut found = vec![0; 1_000];
        for _ in 0..WAITS {
            assert!(set.begin_wait() <= 16);
            candidates(&mut set).into_iter().for_each(|fd| found[fd as usize] += 1);
        }
        assert!(found.iter().all(|count| (1..=2).contains(count)));
    }

    #[test]
    fn udp_socket_is_always_a_candidate() {
        let mut set = set_of([3]);
        set.insert(Member::new(9, 1, 0, false));
        for _ in 0..3 {
            let member = set.next_candidate().unwrap();
            assert_eq!(member.fd, 9);
            set.end_check(9, false);
        }
        assert!(set.remove(9));
        assert_eq!(candidates(&mut set), []);
    }

    #[test]
    fn change_while_taken_over_is_the_kernels_after_the_handback() {
        let mut set = set_of([3, 4]);
        assert!(set.remove(3));
        assert_eq!(set.resume(3), None);
        set.get(4).unwrap().change(7, 8);
        let resumed = set.resume(4).unwrap();
        assert_eq!((resumed.kernel_events(), resumed.data), (7, 8));
        assert!(!set.has_taken_over());
        assert_eq!(set.resume(4), None);
    }

    #[test]
    fn connection_of_the_kernel_is_no_candidate() {
        let mut set = set_of([3]);
        set.resume(3);
        set.add_candidate(3);
        assert_eq!((set.begin_wait(), candidates(&mut set)), (0, vec![]));
    }
}
