//! The outstanding requests of a ring and the state derived from their completions.

use std::os::fd::RawFd;

use io_uring::opcode;
use io_uring::squeue::Entry;
use io_uring::types::Fd;

use crate::UringHandle;
use crate::uring::completion_queue::Completion;

/// The maximum number of sources in one ring.
pub(crate) const CAPACITY: usize = 1_024;
/// The number of sources in one group: the bits of a set that fits in a register.
pub(crate) const GROUP: usize = 64;

/// The outstanding requests of each source, at most one of a kind, and the state derived from their
/// completions.
///
/// Sources are stored by slot, and their state in groups of 64 slots as sets of bits. There are as
/// many groups as the highest slot ever used needs: a ring of up to 64 sources checks one group.
pub(crate) struct Requests {
    entries: Vec<SourceEntry>,
    groups: Vec<Group>,
    /// The group that [`Requests::next_ready`] has reported last, if any.
    reported: Option<usize>,
    /// The group that [`Requests::next_ready`] checks first.
    next: usize,
    exhausted: u64,
}

/// The state of 64 sources, one bit each.
#[derive(Default, Clone, Copy)]
struct Group {
    /// The slots in use.
    taken: u64,
    /// The sources with interest: to receive from, and to send to.
    interest: (u64, u64),
    /// The sources that receive by requests.
    receivers: u64,
    /// The sources with an outstanding request, by kind.
    pending: [u64; 3],
    /// The sources with undelivered data, as far as known.
    unread: u64,
    /// The sources whose stream has ended.
    ended: u64,
    /// The sources whose last request failed. No further request is made until the failure is
    /// delivered.
    failed: u64,
    /// The sources whose descriptor was closed.
    closed: u64,
    /// The sources found ready by completed polls, until they have been reported.
    readable: u64,
    writable: u64,
}

impl Group {
    /// Clears the state of one source.
    fn remove(&mut self, bit: u64) {
        let Self { taken, interest, receivers, pending, unread, ended, failed, closed, .. } = self;
        let [receive, input, output] = pending;
        let (reading, writing) = interest;
        let sets = [taken, reading, writing, receivers, receive, input, output, unread];
        for set in sets.into_iter().chain([ended, failed, closed]) {
            *set &= !bit;
        }
        self.readable &= !bit;
        self.writable &= !bit;
    }

    /// Returns the readable and the writable sources among those with interest.
    #[inline]
    fn ready(&self) -> (u64, u64) {
        let readable = self.unread | self.ended | self.readable;
        (readable & self.interest.0, self.writable & self.interest.1)
    }
}

/// Returns the group of a slot and its bit in the group.
#[inline]
fn position_of(slot: usize) -> (usize, u64) {
    (slot / GROUP, 1 << (slot % GROUP))
}

/// The entry of a source.
#[derive(Default)]
struct SourceEntry {
    socket: RawFd,
    handle: Option<UringHandle>,
    /// The number of sources that used this slot before. Completions of their requests are ignored.
    generation: u32,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A multishot receive.
    Receive = 0,
    /// A poll for input.
    Input = 1,
    /// A poll for output.
    Output = 2,
    /// A cancellation of another request.
    Cancel = 3,
}

impl Kind {
    const CANCELABLE: [Self; 3] = [Self::Receive, Self::Input, Self::Output];

    fn from_code(number: u8) -> Self {
        match number {
            0 => Self::Receive,
            1 => Self::Input,
            2 => Self::Output,
            _ => Self::Cancel,
        }
    }
}

impl Requests {
    pub(crate) fn new() -> Self {
        let groups = vec![Group::default()];
        Self { entries: Vec::new(), groups, reported: None, next: 0, exhausted: 0 }
    }

    pub(crate) fn is_free(&self, slot: usize) -> bool {
        let (group, bit) = position_of(slot);
        slot < CAPACITY && self.groups.get(group).is_none_or(|group| group.taken & bit == 0)
    }

    /// Slots that are taken.
    pub(crate) fn taken(&self) -> impl Iterator<Item = usize> + use<> {
        let taken: Vec<u64> = self.groups.iter().map(|group| group.taken).collect();
        (0..).zip(taken).flat_map(|(group, set)| slots(set).map(move |slot| group * GROUP + slot))
    }

    /// Adds a source. Its undelivered data are delivered before any new request.
    pub(crate) fn add(&mut self, slot: usize, socket: RawFd, handle: Option<UringHandle>) {
        let (group, bit) = position_of(slot);
        if self.groups.len() <= group {
            self.groups.resize(group + 1, Group::default());
        }
        if self.entries.len() <= slot {
            self.entries.resize_with(slot + 1, SourceEntry::default);
        }
        let is_unread = handle.as_ref().is_some_and(|handle| undelivered(handle) > 0);
        let group = &mut self.groups[group];
        group.taken |= bit;
        if handle.is_some() {
            group.receivers |= bit;
        }
        if is_unread {
            group.unread |= bit;
            group.failed |= bit;
        }
        let entry = &mut self.entries[slot];
        entry.socket = socket;
        entry.handle = handle;
    }

    /// Sets the interest in a source, from the next wait on.
    pub(crate) fn set_interest(&mut self, slot: usize, readable: bool, writable: bool) {
        let (group, bit) = position_of(slot);
        let (reading, writing) = &mut self.groups[group].interest;
        *reading = if readable { *reading | bit } else { *reading & !bit };
        *writing = if writable { *writing | bit } else { *writing & !bit };
    }

    /// Removes a source and ignores further completions of its requests.
    pub(crate) fn remove(&mut self, slot: usize) -> Option<UringHandle> {
        let (group, bit) = position_of(slot);
        self.groups[group].remove(bit);
        let entry = &mut self.entries[slot];
        entry.generation = entry.generation.wrapping_add(1);
        entry.handle.take()
    }

    fn handle(&self, slot: usize) -> Option<&UringHandle> {
        self.entries[slot].handle.as_ref()
    }

    /// Returns `true` if the kernel holds a request of this source.
    pub(crate) fn has_pending(&self, slot: usize) -> bool {
        let (group, bit) = position_of(slot);
        self.groups[group].pending.iter().any(|pending| pending & bit != 0)
    }

    /// Makes the missing requests of the sources with interest.
    #[inline]
    pub(crate) fn arm(&mut self, mut push: impl FnMut(Entry)) {
        for group in 0..self.groups.len() {
            self.arm_group(group, &mut push);
        }
    }

    #[inline]
    fn arm_group(&mut self, index: usize, push: &mut impl FnMut(Entry)) {
        let group = self.groups[index];
        let (readable, writable) = group.interest;
        let [receiving, input, output] = group.pending;
        let unarmed = readable & !(receiving | group.ended);
        for slot in slots(unarmed & group.receivers).map(|slot| index * GROUP + slot) {
            if let Some(entry) = self.receive(slot) {
                push(entry);
            }
        }
        // Receivers that are not yet connected are polled like any other source.
        let receiving = self.groups[index].pending[Kind::Receive as usize];
        let unpolled = unarmed & !(group.receivers & receiving) & !input;
        for slot in slots(unpolled).map(|slot| index * GROUP + slot) {
            if self.handle(slot).is_none_or(|handle| !handle.0.is_open()) {
                push(self.poll(slot, Kind::Input, libc::POLLIN));
            }
        }
        for slot in slots(writable & !output).map(|slot| index * GROUP + slot) {
            push(self.poll(slot, Kind::Output, libc::POLLOUT));
        }
    }

    /// Returns requests that cancel all others of a source.
    pub(crate) fn cancel(&self, slot: usize) -> impl Iterator<Item = Entry> {
        let (group, bit) = position_of(slot);
        let pending = self.groups[group].pending;
        let is_pending = move |kind: &Kind| pending[*kind as usize] & bit != 0;
        Kind::CANCELABLE.into_iter().filter(is_pending).map(move |kind| {
            let user_data = self.user_data(slot, Kind::Cancel);
            opcode::AsyncCancel::new(self.user_data(slot, kind)).build().user_data(user_data)
        })
    }

    /// Handles the completion of the request with this user data.
    #[inline]
    pub(crate) fn complete(&mut self, user_data: u64, completion: Completion) {
        let (slot, kind, generation) = parse(user_data);
        if kind == Kind::Cancel || self.entries[slot].generation != generation {
            return;
        }
        if !completion.has_more() {
            let (group, bit) = position_of(slot);
            self.groups[group].pending[kind as usize] &= !bit;
        }
        if kind == Kind::Receive {
            self.handle_receive(slot, completion);
        } else {
            self.handle_poll(slot, kind, completion.result);
        }
    }

    /// Returns `true` if any source with interest is ready, as far as completions and undelivered
    /// data show.
    #[inline]
    pub(crate) fn is_ready(&mut self) -> bool {
        (0..self.groups.len()).any(|index| self.poll_group(index) != (0, 0))
    }

    /// Returns the next group with ready sources: its first slot, the sources to receive from and
    /// those to send to. Both sets are empty if no source is ready. The groups take turns.
    #[inline]
    pub(crate) fn next_ready(&mut self) -> (usize, u64, u64) {
        let count = self.groups.len();
        for step in 0..count {
            let index = (self.next + step) % count;
            let (readable, writable) = self.poll_group(index);
            if readable | writable != 0 {
                self.reported = Some(index);
                self.next = index + 1;
                return (index * GROUP, readable, writable);
            }
        }
        self.reported = None;
        (0, 0, 0)
    }

    #[inline]
    fn poll_group(&mut self, index: usize) -> (u64, u64) {
        for slot in slots(self.groups[index].unread) {
            if self.handle(index * GROUP + slot).is_none_or(|handle| undelivered(handle) == 0) {
                self.groups[index].unread &= !(1 << slot);
            }
        }
        self.groups[index].ready()
    }

    /// Clears the poll results that a wait has reported. New polls must find them again.
    #[inline]
    pub(crate) fn clear_reported(&mut self) {
        let reported = self.reported.take().map_or(0..self.groups.len(), |index| index..index + 1);
        for group in &mut self.groups[reported] {
            (group.readable, group.writable) = (0, 0);
        }
    }

    /// Returns `true` if a source's descriptor was found closed.
    #[inline]
    pub(crate) fn has_closed_descriptor(&self) -> bool {
        self.groups.iter().any(|group| group.closed != 0)
    }

    /// Returns the number of requests that ended because all buffers of their source were full.
    pub(crate) fn exhausted(&self) -> u64 {
        self.exhausted
    }

    /// Creates a receive request if the source is connected and has room. At least half of the
    /// buffers must be free, so that not every freed buffer costs a request. After a failure all
    /// must be free, since the failure ends the earlier data.
    fn receive(&mut self, slot: usize) -> Option<Entry> {
        let (group, bit) = position_of(slot);
        let (group, entry) = (&mut self.groups[group], &self.entries[slot]);
        let multishot = &entry.handle.as_ref()?.0;
        let room = if group.failed & bit != 0 { 0 } else { multishot.buffers().count() / 2 };
        if !multishot.is_open() || multishot.completions().count() > room {
            return None;
        }
        group.failed &= !bit;
        group.pending[Kind::Receive as usize] |= bit;
        let request = multishot.request(entry.socket, slot as u16);
        Some(request.user_data(self.user_data(slot, Kind::Receive)))
    }

    fn poll(&mut self, slot: usize, kind: Kind, events: libc::c_short) -> Entry {
        let (group, bit) = position_of(slot);
        self.groups[group].pending[kind as usize] |= bit;
        let socket = Fd(self.entries[slot].socket);
        let request = opcode::PollAdd::new(socket, u32::from(events.cast_unsigned())).build();
        request.user_data(self.user_data(slot, kind))
    }

    #[inline]
    fn handle_receive(&mut self, slot: usize, completion: Completion) {
        let (group, bit) = position_of(slot);
        let group = &mut self.groups[group];
        match completion.result.wrapping_neg() {
            libc::ENOBUFS => self.exhausted += 1,
            libc::EBADF => group.closed |= bit,
            _ => {}
        }
        let Some(UringHandle(multishot)) = &self.entries[slot].handle else { return };
        if completion.is_empty() && completion.buffer().is_none() {
            return;
        }
        multishot.completions().push(completion);
        group.unread |= bit;
        if completion.result < 0 {
            group.failed |= bit;
        } else if multishot.is_end_of_stream(completion) {
            group.ended |= bit;
        }
    }

    /// Handles the completion of a poll. An error or a hang-up makes the source readable and
    /// writable, as with poll(2).
    fn handle_poll(&mut self, slot: usize, kind: Kind, result: i32) {
        let (group, bit) = position_of(slot);
        let group = &mut self.groups[group];
        let events = libc::c_short::try_from(result).unwrap_or(libc::POLLERR);
        match result.wrapping_neg() {
            libc::ECANCELED => {}
            libc::EBADF => group.closed |= bit,
            _ if result < 0 || events & (libc::POLLERR | libc::POLLHUP) != 0 => {
                group.readable |= bit;
                group.writable |= bit;
            }
            _ if kind == Kind::Input => group.readable |= bit,
            _ => group.writable |= bit,
        }
    }

    /// ```text
    /// 63         32 31     16 15      0
    /// | generation |  kind   |  slot  |      the user data of a request
    /// ```
    fn user_data(&self, slot: usize, kind: Kind) -> u64 {
        let generation = u64::from(self.entries[slot].generation);
        generation << 32 | (kind as u64) << 16 | slot as u64
    }
}

fn parse(user_data: u64) -> (usize, Kind, u32) {
    (
        usize::from(user_data as u16),
        Kind::from_code((user_data >> 16) as u8),
        (user_data >> 32) as u32,
    )
}

fn undelivered(handle: &UringHandle) -> usize {
    handle.0.completions().count()
}

/// Iterates over the members of a set.
pub(crate) fn slots(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let slot = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(slot)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::DropNotifier;
    use crate::uring::multishot_receive::BufferLayout;
    use crate::uring::receiver::UringReceiver;

    /// Returns a completion with a buffer.
    const fn with_buffer(result: i32, buffer: u32) -> Completion {
        Completion { result, flags: buffer << 16 | BUFFER | MORE }
    }
    const BUFFER: u32 = 1;
    const MORE: u32 = 2;

    /// Returns the last completion of a request.
    const fn last(result: i32) -> Completion {
        Completion { result, flags: 0 }
    }

    /// Adds a stream receiver with four buffers in slot 3.
    fn receiver(requests: &mut Requests) -> UringReceiver {
        let mut uring = UringReceiver::new(BufferLayout::Chunks, 4, 8);
        uring.set_open();
        add(requests, &mut uring);
        uring
    }

    fn add(requests: &mut Requests, uring: &mut UringReceiver) {
        let drop_notifier = DropNotifier { word: Arc::new(AtomicU64::new(0)), bit: 8 };
        requests.add(3, 42, uring.attach(Some(drop_notifier)).unwrap());
    }

    /// Returns the requests made for this interest in slot 3.
    fn arm_requests(requests: &mut Requests, readable: bool, writable: bool) -> Vec<(Kind, u64)> {
        let mut all = Vec::new();
        requests.set_interest(3, readable, writable);
        requests.arm(|entry| {
            let user_data = entry.get_user_data();
            assert_eq!(parse(user_data).0, 3);
            all.push((parse(user_data).1, user_data));
        });
        all
    }

    /// Returns the ready sources of the first group, as if there were interest in all of them.
    fn ready(requests: &mut Requests) -> (u64, u64) {
        requests.poll_group(0);
        let group = &mut requests.groups[0];
        let interest = std::mem::replace(&mut group.interest, (u64::MAX, u64::MAX));
        let ready = group.ready();
        group.interest = interest;
        ready
    }

    fn kinds(all: &[(Kind, u64)]) -> Vec<Kind> {
        all.iter().map(|(kind, _)| *kind).collect()
    }

    #[test]
    fn receiver_has_one_request_until_last_completion() {
        let mut requests = Requests::new();
        let mut uring = receiver(&mut requests);
        let all = arm_requests(&mut requests, true, false);
        assert_eq!(kinds(&all), [Kind::Receive]);
        assert!(arm_requests(&mut requests, true, false).is_empty());
        requests.complete(all[0].1, with_buffer(5, 0));
        assert!(arm_requests(&mut requests, true, false).is_empty());
        assert_eq!(ready(&mut requests), (8, 0));
        uring.pop();
        assert_eq!(ready(&mut requests), (0, 0));
        requests.complete(all[0].1, last(-libc::EAGAIN));
        assert_eq!(kinds(&arm_requests(&mut requests, true, false)), [Kind::Receive]);
        assert!(!requests.has_pending(2) && requests.has_pending(3));
    }

    #[test]
    fn rearms_when_half_of_buffers_are_free() {
        let mut requests = Requests::new();
        let mut uring = receiver(&mut requests);
        let user_data = arm_requests(&mut requests, true, false)[0].1;
        (0..4).for_each(|buffer| requests.complete(user_data, with_buffer(8, buffer)));
        requests.complete(user_data, last(-libc::ENOBUFS));
        assert_eq!(requests.exhausted(), 1);
        for _ in 0..2 {
            assert!(arm_requests(&mut requests, true, false).is_empty());
            uring.pop();
        }
        assert_eq!(kinds(&arm_requests(&mut requests, true, false)), [Kind::Receive]);
        assert_eq!(ready(&mut requests), (8, 0), "the rest is not yet delivered");
    }

    #[test]
    fn rearms_after_failure_is_delivered() {
        let mut requests = Requests::new();
        let mut uring = receiver(&mut requests);
        let user_data = arm_requests(&mut requests, true, false)[0].1;
        requests.complete(user_data, last(-libc::ECONNRESET));
        assert_eq!(ready(&mut requests), (8, 0));
        assert!(arm_requests(&mut requests, true, false).is_empty());
        let error = uring.first().unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        uring.pop();
        let user_data = arm_requests(&mut requests, true, false)[0].1;
        requests.complete(user_data, last(0));
        uring.pop();
        assert_eq!(ready(&mut requests), (8, 0), "the end of stream persists");
        assert!(
            arm_requests(&mut requests, true, false).is_empty(),
            "no request follows the end of stream"
        );
    }

    #[test]
    fn polls_unconnected_receiver() {
        let mut requests = Requests::new();
        let mut uring = UringReceiver::new(BufferLayout::Chunks, 4, 8);
        add(&mut requests, &mut uring);
        let all = arm_requests(&mut requests, true, true);
        assert_eq!(kinds(&all), [Kind::Input, Kind::Output]);
        assert!(!uring.is_active());
        requests.complete(all[1].1, last(i32::from(libc::POLLOUT)));
        assert_eq!(ready(&mut requests), (0, 8));
        uring.set_open();
        assert_eq!(kinds(&arm_requests(&mut requests, true, false)), [Kind::Receive]);
        assert!(uring.is_active());
    }

    #[test]
    fn delivers_leftover_data_before_new_request() {
        let mut requests = Requests::new();
        let mut uring = receiver(&mut requests);
        let user_data = arm_requests(&mut requests, true, false)[0].1;
        requests.complete(user_data, with_buffer(8, 2));
        let handle = requests.remove(3).unwrap();
        handle.0.detach();
        assert_eq!(ready(&mut requests), (0, 0));
        requests.complete(user_data, with_buffer(8, 3));
        assert_eq!(ready(&mut requests), (0, 0), "a completion of an earlier source's request");
        assert!(requests.is_free(3));
        add(&mut requests, &mut uring);
        assert!(!requests.is_free(3));
        assert_eq!(ready(&mut requests), (8, 0));
        assert!(arm_requests(&mut requests, true, false).is_empty());
        uring.pop();
        assert_eq!(kinds(&arm_requests(&mut requests, true, false)), [Kind::Receive]);
    }

    #[test]
    fn poll_error_or_hang_up_makes_source_ready_for_both() {
        for result in [-libc::EINVAL, i32::from(libc::POLLERR), i32::from(libc::POLLHUP)] {
            let mut requests = Requests::new();
            requests.add(3, 42, None);
            let all = arm_requests(&mut requests, true, false);
            assert_eq!(kinds(&all), [Kind::Input]);
            requests.complete(all[0].1, last(result));
            assert_eq!(ready(&mut requests), (8, 8));
            requests.clear_reported();
            assert_eq!(ready(&mut requests), (0, 0));
            assert!(!requests.has_closed_descriptor());
        }
    }

    #[test]
    fn closed_descriptor_is_reported_until_removal() {
        let mut requests = Requests::new();
        requests.add(3, 42, None);
        let all = arm_requests(&mut requests, true, false);
        requests.complete(all[0].1, last(-libc::EBADF));
        assert!(requests.has_closed_descriptor());
        assert_eq!(ready(&mut requests), (0, 0));
        requests.remove(3);
        assert!(!requests.has_closed_descriptor());
    }

    #[test]
    fn cancels_all_pending_requests() {
        let mut requests = Requests::new();
        let _delivery = receiver(&mut requests);
        assert_eq!(requests.cancel(3).count(), 0);
        arm_requests(&mut requests, true, true);
        let all_user_data: Vec<u64> =
            requests.cancel(3).map(|entry| entry.get_user_data()).collect();
        assert_eq!(all_user_data.len(), 2);
        // The completion of the cancellation itself is ignored.
        requests.complete(all_user_data[0], last(-libc::EBADF));
        assert!(!requests.has_closed_descriptor() && requests.has_pending(3));
        assert_eq!(slots(1 << 63 | 1 << 5 | 1).collect::<Vec<_>>(), [0, 5, 63]);
    }

    #[test]
    fn source_without_interest_is_not_ready() {
        let mut requests = Requests::new();
        let _delivery = receiver(&mut requests);
        let user_data = arm_requests(&mut requests, true, false)[0].1;
        requests.complete(user_data, with_buffer(5, 0));
        assert!(requests.is_ready());
        requests.set_interest(3, false, true);
        assert!(!requests.is_ready());
        assert_eq!(requests.next_ready(), (0, 0, 0));
        requests.set_interest(3, true, false);
        assert_eq!(requests.next_ready(), (0, 8, 0));
    }

    #[test]
    fn groups_take_turns_and_report_each_result_once() {
        let mut requests = Requests::new();
        let all = [1, 70, 1_023];
        for slot in all {
            assert!(requests.is_free(slot));
            requests.add(slot, 42, None);
            requests.set_interest(slot, true, false);
        }
        assert!(!requests.is_free(70) && requests.is_free(71) && !requests.is_free(CAPACITY));
        assert!(requests.taken().eq(all));
        let mut all_user_data = Vec::new();
        requests.arm(|entry| all_user_data.push(entry.get_user_data()));
        assert!(all_user_data.iter().map(|&user_data| parse(user_data).0).eq(all));
        for user_data in all_user_data {
            requests.complete(user_data, last(i32::from(libc::POLLIN)));
        }
        let reported: Vec<_> = (0..4)
            .map(|_| {
                let reported = requests.next_ready();
                requests.clear_reported();
                reported
            })
            .collect();
        assert_eq!(reported, [(0, 2, 0), (64, 1 << 6, 0), (960, 1 << 63, 0), (0, 0, 0)]);
        assert!(!requests.is_ready());
        // The first group is not reported twice while others wait.
        for slot in [1, 70] {
            requests.groups[slot / GROUP].ended = 1 << (slot % GROUP);
        }
        let reported: Vec<_> = (0..4).map(|_| requests.next_ready().0).collect();
        assert_eq!(reported, [0, 64, 0, 64]);
    }
}
