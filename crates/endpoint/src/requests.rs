//! Which requests a ring has made, and what their answers mean.

use std::os::fd::RawFd;

use io_uring::opcode;
use io_uring::squeue::Entry;
use io_uring::types::Fd;

use crate::UringHandle;
use crate::completions::Completion;

/// Sources in one ring.
pub(crate) const CAPACITY: usize = 1_024;
/// Sources in one group: what a set held in a register has bits for.
pub(crate) const GROUP: usize = 64;

/// The requests of each source that are with the kernel, at most one of a kind, and what is known
/// from the answers.
///
/// Sources are kept by slot, and what is known of them in groups of 64 slots, as sets of bits.
/// There are as many groups as the highest slot ever taken needs: a ring of up to 64 sources looks
/// at one.
pub(crate) struct Requests {
    places: Vec<Place>,
    groups: Vec<Group>,
    /// The group that [`Requests::next_ready`] has named last, if it did.
    named: Option<usize>,
    /// The group that it looks at first.
    next: usize,
    exhausted: u64,
}

/// What is known of 64 sources, each a bit.
#[derive(Default, Clone, Copy)]
struct Group {
    /// Slots that are taken.
    taken: u64,
    /// Sources that are waited for, to receive from and to send to.
    wanted: (u64, u64),
    /// Sources with an intake.
    receivers: u64,
    /// Sources with a request under way, by kind.
    pending: [u64; 3],
    /// Sources with something undelivered, as far as known.
    unread: u64,
    /// Sources whose stream has ended.
    ended: u64,
    /// Sources whose last request failed: no other is made until that is delivered.
    failed: u64,
    /// Sources whose descriptor is no longer open.
    lost: u64,
    /// Sources found ready by polls that have been answered, until they have been named.
    readable: u64,
    writable: u64,
}

impl Group {
    /// Forgets one source.
    fn remove(&mut self, bit: u64) {
        let Self { taken, wanted, receivers, pending, unread, ended, failed, lost, .. } = self;
        let [receive, input, output] = pending;
        let (reading, writing) = wanted;
        let sets = [taken, reading, writing, receivers, receive, input, output, unread];
        for set in sets.into_iter().chain([ended, failed, lost]) {
            *set &= !bit;
        }
        self.readable &= !bit;
        self.writable &= !bit;
    }

    /// Those waited for that are readable and writable.
    #[inline]
    fn ready(&self) -> (u64, u64) {
        let readable = self.unread | self.ended | self.readable;
        (readable & self.wanted.0, self.writable & self.wanted.1)
    }
}

/// A slot's group, and its bit there.
#[inline]
fn place_of(slot: usize) -> (usize, u64) {
    (slot / GROUP, 1 << (slot % GROUP))
}

/// Where a source is kept.
#[derive(Default)]
struct Place {
    socket: RawFd,
    intake: Option<UringHandle>,
    /// Sources that have been here before: answers to requests of theirs are passed over.
    generation: u32,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To receive.
    Receive = 0,
    /// To tell when there is something to receive.
    Input = 1,
    /// To tell when there is room to send.
    Output = 2,
    /// To end another.
    Cancel = 3,
}

impl Kind {
    const ENDING: [Self; 3] = [Self::Receive, Self::Input, Self::Output];

    fn of(number: u8) -> Self {
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
        Self { places: Vec::new(), groups, named: None, next: 0, exhausted: 0 }
    }

    pub(crate) fn is_free(&self, slot: usize) -> bool {
        let (group, bit) = place_of(slot);
        slot < CAPACITY && self.groups.get(group).is_none_or(|group| group.taken & bit == 0)
    }

    /// Slots that are taken.
    pub(crate) fn taken(&self) -> impl Iterator<Item = usize> + use<> {
        let taken: Vec<u64> = self.groups.iter().map(|group| group.taken).collect();
        (0..).zip(taken).flat_map(|(group, set)| slots(set).map(move |slot| group * GROUP + slot))
    }

    /// Makes a place for a source. What it has not delivered yet comes before all requests.
    pub(crate) fn add(&mut self, slot: usize, socket: RawFd, intake: Option<UringHandle>) {
        let (group, bit) = place_of(slot);
        if self.groups.len() <= group {
            self.groups.resize(group + 1, Group::default());
        }
        if self.places.len() <= slot {
            self.places.resize_with(slot + 1, Place::default);
        }
        let is_unread = intake.as_ref().is_some_and(|intake| undelivered(intake) > 0);
        let group = &mut self.groups[group];
        group.taken |= bit;
        if intake.is_some() {
            group.receivers |= bit;
        }
        if is_unread {
            group.unread |= bit;
            group.failed |= bit;
        }
        let place = &mut self.places[slot];
        place.socket = socket;
        place.intake = intake;
    }

    /// What a source is waited for, from the next wait on.
    pub(crate) fn set_wanted(&mut self, slot: usize, readable: bool, writable: bool) {
        let (group, bit) = place_of(slot);
        let (reading, writing) = &mut self.groups[group].wanted;
        *reading = if readable { *reading | bit } else { *reading & !bit };
        *writing = if writable { *writing | bit } else { *writing & !bit };
    }

    /// Forgets a source, and what may still be answered to its requests.
    pub(crate) fn remove(&mut self, slot: usize) -> Option<UringHandle> {
        let (group, bit) = place_of(slot);
        self.groups[group].remove(bit);
        let place = &mut self.places[slot];
        place.generation = place.generation.wrapping_add(1);
        place.intake.take()
    }

    fn intake(&self, slot: usize) -> Option<&UringHandle> {
        self.places[slot].intake.as_ref()
    }

    /// Whether the kernel has a request of this source.
    pub(crate) fn has_pending(&self, slot: usize) -> bool {
        let (group, bit) = place_of(slot);
        self.groups[group].pending.iter().any(|pending| pending & bit != 0)
    }

    /// Makes the requests that are missing for the sources waited for to be found ready.
    #[inline]
    pub(crate) fn make(&mut self, mut push: impl FnMut(Entry)) {
        for group in 0..self.groups.len() {
            self.make_for(group, &mut push);
        }
    }

    #[inline]
    fn make_for(&mut self, index: usize, push: &mut impl FnMut(Entry)) {
        let group = self.groups[index];
        let (readable, writable) = group.wanted;
        let [receiving, input, output] = group.pending;
        let unserved = readable & !(receiving | group.ended);
        for slot in slots(unserved & group.receivers).map(|slot| index * GROUP + slot) {
            if let Some(entry) = self.receive(slot) {
                push(entry);
            }
        }
        // Receivers that are not connected yet are polled for like any other source.
        let receiving = self.groups[index].pending[Kind::Receive as usize];
        let polled = unserved & !(group.receivers & receiving) & !input;
        for slot in slots(polled).map(|slot| index * GROUP + slot) {
            if self.intake(slot).is_none_or(|intake| !intake.0.is_open()) {
                push(self.poll(slot, Kind::Input, libc::POLLIN));
            }
        }
        for slot in slots(writable & !output).map(|slot| index * GROUP + slot) {
            push(self.poll(slot, Kind::Output, libc::POLLOUT));
        }
    }

    /// Requests that end all others of a source.
    pub(crate) fn cancel(&self, slot: usize) -> impl Iterator<Item = Entry> {
        let (group, bit) = place_of(slot);
        let pending = self.groups[group].pending;
        let is_pending = move |kind: &Kind| pending[*kind as usize] & bit != 0;
        Kind::ENDING.into_iter().filter(is_pending).map(move |kind| {
            let name = self.name(slot, Kind::Cancel);
            opcode::AsyncCancel::new(self.name(slot, kind)).build().user_data(name)
        })
    }

    /// Takes the answer to the request of this name.
    #[inline]
    pub(crate) fn complete(&mut self, name: u64, completion: Completion) {
        let (slot, kind, generation) = parse(name);
        if kind == Kind::Cancel || self.places[slot].generation != generation {
            return;
        }
        if !completion.has_more() {
            let (group, bit) = place_of(slot);
            self.groups[group].pending[kind as usize] &= !bit;
        }
        if kind == Kind::Receive {
            self.received(slot, completion);
        } else {
            self.polled(slot, kind, completion.result);
        }
    }

    /// Whether any source that is waited for is ready, as far as the answers and what lies
    /// undelivered tell.
    #[inline]
    pub(crate) fn is_ready(&mut self) -> bool {
        (0..self.groups.len()).any(|index| self.look(index) != (0, 0))
    }

    /// The next group with sources that are waited for and ready, as the slot it begins with, and
    /// which: those to receive from, those to send to. None of either if there is none. The groups
    /// take turns.
    #[inline]
    pub(crate) fn next_ready(&mut self) -> (usize, u64, u64) {
        let count = self.groups.len();
        for step in 0..count {
            let index = (self.next + step) % count;
            let (readable, writable) = self.look(index);
            if readable | writable != 0 {
                self.named = Some(index);
                self.next = index + 1;
                return (index * GROUP, readable, writable);
            }
        }
        self.named = None;
        (0, 0, 0)
    }

    #[inline]
    fn look(&mut self, index: usize) -> (u64, u64) {
        for slot in slots(self.groups[index].unread) {
            if self.intake(index * GROUP + slot).is_none_or(|intake| undelivered(intake) == 0) {
                self.groups[index].unread &= !(1 << slot);
            }
        }
        self.groups[index].ready()
    }

    /// Forgets what polls have found and a wait has told of: whether it still holds is for new
    /// ones to find.
    #[inline]
    pub(crate) fn forget(&mut self) {
        let told = self.named.take().map_or(0..self.groups.len(), |index| index..index + 1);
        for group in &mut self.groups[told] {
            (group.readable, group.writable) = (0, 0);
        }
    }

    /// Whether a source's descriptor was found closed.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.groups.iter().any(|group| group.lost != 0)
    }

    /// Requests that ended because all buffers of their source were full.
    pub(crate) fn exhausted(&self) -> u64 {
        self.exhausted
    }

    /// A request to receive, if there is a connection and room: half of the buffers, lest each
    /// one that becomes free cost a request; all, after a failure, which ends what came before.
    fn receive(&mut self, slot: usize) -> Option<Entry> {
        let (group, bit) = place_of(slot);
        let (group, place) = (&mut self.groups[group], &self.places[slot]);
        let arrivals = &place.intake.as_ref()?.0;
        let room = if group.failed & bit != 0 { 0 } else { arrivals.buffers().count() / 2 };
        if !arrivals.is_open() || arrivals.completions().count() > room {
            return None;
        }
        group.failed &= !bit;
        group.pending[Kind::Receive as usize] |= bit;
        let entry = arrivals.request(place.socket, slot as u16);
        Some(entry.user_data(self.name(slot, Kind::Receive)))
    }

    fn poll(&mut self, slot: usize, kind: Kind, events: libc::c_short) -> Entry {
        let (group, bit) = place_of(slot);
        self.groups[group].pending[kind as usize] |= bit;
        let socket = Fd(self.places[slot].socket);
        let entry = opcode::PollAdd::new(socket, u32::from(events.cast_unsigned())).build();
        entry.user_data(self.name(slot, kind))
    }

    #[inline]
    fn received(&mut self, slot: usize, completion: Completion) {
        let (group, bit) = place_of(slot);
        let group = &mut self.groups[group];
        match completion.result.wrapping_neg() {
            libc::ENOBUFS => self.exhausted += 1,
            libc::EBADF => group.lost |= bit,
            _ => {}
        }
        let Some(UringHandle(arrivals)) = &self.places[slot].intake else { return };
        if completion.is_empty() && completion.buffer().is_none() {
            return;
        }
        arrivals.completions().push(completion);
        group.unread |= bit;
        if completion.result < 0 {
            group.failed |= bit;
        } else if arrivals.is_end(completion) {
            group.ended |= bit;
        }
    }

    /// Of an error or a hang-up whatever was waited for is to report, as with poll(2).
    fn polled(&mut self, slot: usize, kind: Kind, result: i32) {
        let (group, bit) = place_of(slot);
        let group = &mut self.groups[group];
        let events = libc::c_short::try_from(result).unwrap_or(libc::POLLERR);
        match result.wrapping_neg() {
            libc::ECANCELED => {}
            libc::EBADF => group.lost |= bit,
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
    /// | generation |  kind   |  slot  |      what an answer says of its request
    /// ```
    fn name(&self, slot: usize, kind: Kind) -> u64 {
        let generation = u64::from(self.places[slot].generation);
        generation << 32 | (kind as u64) << 16 | slot as u64
    }
}

fn parse(name: u64) -> (usize, Kind, u32) {
    (usize::from(name as u16), Kind::of((name >> 16) as u8), (name >> 32) as u32)
}

fn undelivered(intake: &UringHandle) -> usize {
    intake.0.completions().count()
}

/// The members of a set.
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
    use crate::arrivals::Shape;
    use crate::delivery::Delivery;

    /// An answer with a buffer.
    const fn brought(result: i32, buffer: u32) -> Completion {
        Completion { result, flags: buffer << 16 | BUFFER | MORE }
    }
    const BUFFER: u32 = 1;
    const MORE: u32 = 2;

    /// An answer that is the last of its request.
    const fn last(result: i32) -> Completion {
        Completion { result, flags: 0 }
    }

    /// A receiver of chunks with four buffers, in slot 3.
    fn receiver(requests: &mut Requests) -> Delivery {
        let mut delivery = Delivery::new(Shape::Chunks, 4, 8);
        delivery.set_open();
        add(requests, &mut delivery);
        delivery
    }

    fn add(requests: &mut Requests, delivery: &mut Delivery) {
        let notice = DropNotifier { word: Arc::new(AtomicU64::new(0)), bit: 8 };
        requests.add(3, 42, delivery.attach(Some(notice)).unwrap());
    }

    /// What is asked for when slot 3 is waited for.
    fn made(requests: &mut Requests, readable: bool, writable: bool) -> Vec<(Kind, u64)> {
        let mut all = Vec::new();
        requests.set_wanted(3, readable, writable);
        requests.make(|entry| {
            let name = entry.get_user_data();
            assert_eq!(parse(name).0, 3);
            all.push((parse(name).1, name));
        });
        all
    }

    /// Sources of the first group that are ready, all of them waited for.
    fn ready(requests: &mut Requests) -> (u64, u64) {
        requests.look(0);
        let group = &mut requests.groups[0];
        let wanted = std::mem::replace(&mut group.wanted, (u64::MAX, u64::MAX));
        let ready = group.ready();
        group.wanted = wanted;
        ready
    }

    fn kinds(all: &[(Kind, u64)]) -> Vec<Kind> {
        all.iter().map(|(kind, _)| *kind).collect()
    }

    #[test]
    fn a_receiver_has_one_request_until_its_last_answer() {
        let mut requests = Requests::new();
        let mut delivery = receiver(&mut requests);
        let all = made(&mut requests, true, false);
        assert_eq!(kinds(&all), [Kind::Receive]);
        assert!(made(&mut requests, true, false).is_empty());
        requests.complete(all[0].1, brought(5, 0));
        assert!(made(&mut requests, true, false).is_empty());
        assert_eq!(ready(&mut requests), (8, 0));
        delivery.pop();
        assert_eq!(ready(&mut requests), (0, 0));
        requests.complete(all[0].1, last(-libc::EAGAIN));
        assert_eq!(kinds(&made(&mut requests, true, false)), [Kind::Receive]);
        assert!(!requests.has_pending(2) && requests.has_pending(3));
    }

    #[test]
    fn without_buffers_the_next_request_is_made_when_half_are_free() {
        let mut requests = Requests::new();
        let mut delivery = receiver(&mut requests);
        let name = made(&mut requests, true, false)[0].1;
        (0..4).for_each(|buffer| requests.complete(name, brought(8, buffer)));
        requests.complete(name, last(-libc::ENOBUFS));
        assert_eq!(requests.exhausted(), 1);
        for _ in 0..2 {
            assert!(made(&mut requests, true, false).is_empty());
            delivery.pop();
        }
        assert_eq!(kinds(&made(&mut requests, true, false)), [Kind::Receive]);
        assert_eq!(ready(&mut requests), (8, 0), "the rest is still to be delivered");
    }

    #[test]
    fn after_a_failure_the_next_request_is_made_when_it_is_delivered() {
        let mut requests = Requests::new();
        let mut delivery = receiver(&mut requests);
        let name = made(&mut requests, true, false)[0].1;
        requests.complete(name, last(-libc::ECONNRESET));
        assert_eq!(ready(&mut requests), (8, 0));
        assert!(made(&mut requests, true, false).is_empty());
        let error = delivery.first().unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        delivery.pop();
        let name = made(&mut requests, true, false)[0].1;
        requests.complete(name, last(0));
        delivery.pop();
        assert_eq!(ready(&mut requests), (8, 0), "an end stays");
        assert!(made(&mut requests, true, false).is_empty(), "and nothing follows");
    }

    #[test]
    fn a_receiver_without_a_connection_is_polled_for_until_it_has_one() {
        let mut requests = Requests::new();
        let mut delivery = Delivery::new(Shape::Chunks, 4, 8);
        add(&mut requests, &mut delivery);
        let all = made(&mut requests, true, true);
        assert_eq!(kinds(&all), [Kind::Input, Kind::Output]);
        assert!(!delivery.is_responsible());
        requests.complete(all[1].1, last(i32::from(libc::POLLOUT)));
        assert_eq!(ready(&mut requests), (0, 8));
        delivery.set_open();
        assert_eq!(kinds(&made(&mut requests, true, false)), [Kind::Receive]);
        assert!(delivery.is_responsible());
    }

    #[test]
    fn what_is_undelivered_when_a_source_is_added_comes_before_any_request() {
        let mut requests = Requests::new();
        let mut delivery = receiver(&mut requests);
        let name = made(&mut requests, true, false)[0].1;
        requests.complete(name, brought(8, 2));
        let intake = requests.remove(3).unwrap();
        intake.0.detach();
        assert_eq!(ready(&mut requests), (0, 0));
        requests.complete(name, brought(8, 3));
        assert_eq!(ready(&mut requests), (0, 0), "an answer to what was asked before");
        assert!(requests.is_free(3));
        add(&mut requests, &mut delivery);
        assert!(!requests.is_free(3));
        assert_eq!(ready(&mut requests), (8, 0));
        assert!(made(&mut requests, true, false).is_empty());
        delivery.pop();
        assert_eq!(kinds(&made(&mut requests, true, false)), [Kind::Receive]);
    }

    #[test]
    fn a_poll_that_fails_or_finds_a_hang_up_makes_ready_for_all() {
        for result in [-libc::EINVAL, i32::from(libc::POLLERR), i32::from(libc::POLLHUP)] {
            let mut requests = Requests::new();
            requests.add(3, 42, None);
            let all = made(&mut requests, true, false);
            assert_eq!(kinds(&all), [Kind::Input]);
            requests.complete(all[0].1, last(result));
            assert_eq!(ready(&mut requests), (8, 8));
            requests.forget();
            assert_eq!(ready(&mut requests), (0, 0));
            assert!(!requests.has_lost());
        }
    }

    #[test]
    fn a_descriptor_that_is_closed_is_lost_until_it_is_removed() {
        let mut requests = Requests::new();
        requests.add(3, 42, None);
        let all = made(&mut requests, true, false);
        requests.complete(all[0].1, last(-libc::EBADF));
        assert!(requests.has_lost());
        assert_eq!(ready(&mut requests), (0, 0));
        requests.remove(3);
        assert!(!requests.has_lost());
    }

    #[test]
    fn all_that_is_pending_can_be_cancelled() {
        let mut requests = Requests::new();
        let _delivery = receiver(&mut requests);
        assert_eq!(requests.cancel(3).count(), 0);
        made(&mut requests, true, true);
        let names: Vec<u64> = requests.cancel(3).map(|entry| entry.get_user_data()).collect();
        assert_eq!(names.len(), 2);
        // The answer to that is nothing to anybody.
        requests.complete(names[0], last(-libc::EBADF));
        assert!(!requests.has_lost() && requests.has_pending(3));
        assert_eq!(slots(1 << 63 | 1 << 5 | 1).collect::<Vec<_>>(), [0, 5, 63]);
    }
    #[test]
    fn a_source_that_is_not_waited_for_is_not_ready() {
        let mut requests = Requests::new();
        let _delivery = receiver(&mut requests);
        let name = made(&mut requests, true, false)[0].1;
        requests.complete(name, brought(5, 0));
        assert!(requests.is_ready());
        requests.set_wanted(3, false, true);
        assert!(!requests.is_ready());
        assert_eq!(requests.next_ready(), (0, 0, 0));
        requests.set_wanted(3, true, false);
        assert_eq!(requests.next_ready(), (0, 8, 0));
    }

    #[test]
    fn groups_take_turns_and_are_forgotten_when_they_have_been_told_of() {
        let mut requests = Requests::new();
        let all = [1, 70, 1_023];
        for slot in all {
            assert!(requests.is_free(slot));
            requests.add(slot, 42, None);
            requests.set_wanted(slot, true, false);
        }
        assert!(!requests.is_free(70) && requests.is_free(71) && !requests.is_free(CAPACITY));
        assert!(requests.taken().eq(all));
        let mut names = Vec::new();
        requests.make(|entry| names.push(entry.get_user_data()));
        assert!(names.iter().map(|&name| parse(name).0).eq(all));
        for name in names {
            requests.complete(name, last(i32::from(libc::POLLIN)));
        }
        let told: Vec<_> = (0..4)
            .map(|_| {
                let told = requests.next_ready();
                requests.forget();
                told
            })
            .collect();
        assert_eq!(told, [(0, 2, 0), (64, 1 << 6, 0), (960, 1 << 63, 0), (0, 0, 0)]);
        assert!(!requests.is_ready());
        // The first is not told of twice while others wait.
        for slot in [1, 70] {
            requests.groups[slot / GROUP].ended = 1 << (slot % GROUP);
        }
        let told: Vec<_> = (0..4).map(|_| requests.next_ready().0).collect();
        assert_eq!(told, [0, 64, 0, 64]);
    }
}
