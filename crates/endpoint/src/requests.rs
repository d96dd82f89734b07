//! Which requests a ring has made, and what their answers mean.

use std::os::fd::RawFd;

use io_uring::opcode;
use io_uring::squeue::Entry;
use io_uring::types::Fd;

use crate::Intake;
use crate::completions::Completion;

/// Sources in one ring: what a bit set in a register holds.
pub(crate) const CAPACITY: usize = 64;

/// The requests of each source that are with the kernel, at most one of a kind, and what is known
/// from the answers. Sets of sources are words of bits.
pub(crate) struct Requests {
    places: Box<[Place]>,
    /// Slots that are taken.
    taken: u64,
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
    /// Sources found ready by the polls answered since the last wait.
    readable: u64,
    writable: u64,
    exhausted: u64,
}

/// Where a source is kept.
#[derive(Default)]
struct Place {
    socket: RawFd,
    intake: Option<Intake>,
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
        Self {
            places: (0..CAPACITY).map(|_| Place::default()).collect(),
            taken: 0,
            receivers: 0,
            pending: [0; 3],
            unread: 0,
            ended: 0,
            failed: 0,
            lost: 0,
            readable: 0,
            writable: 0,
            exhausted: 0,
        }
    }

    pub(crate) fn is_free(&self, slot: usize) -> bool {
        slot < CAPACITY && self.taken >> slot & 1 == 0
    }

    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Makes a place for a source. What it has not delivered yet comes before all requests.
    pub(crate) fn add(&mut self, slot: usize, socket: RawFd, intake: Option<Intake>) {
        let bit = 1 << slot;
        self.taken |= bit;
        let is_unread = intake.as_ref().is_some_and(|intake| undelivered(intake) > 0);
        self.receivers |= u64::from(intake.is_some()) << slot;
        if is_unread {
            self.unread |= bit;
            self.failed |= bit;
        }
        let place = &mut self.places[slot];
        place.socket = socket;
        place.intake = intake;
    }

    /// Forgets a source, and what may still be answered to its requests.
    pub(crate) fn remove(&mut self, slot: usize) -> Option<Intake> {
        let others = !(1 << slot);
        let Self { taken, receivers, pending, unread, ended, failed, lost, .. } = self;
        let [receive, input, output] = pending;
        for set in [taken, receivers, receive, input, output, unread, ended, failed, lost] {
            *set &= others;
        }
        self.readable &= others;
        self.writable &= others;
        let place = &mut self.places[slot];
        place.generation = place.generation.wrapping_add(1);
        place.intake.take()
    }

    fn intake(&self, slot: usize) -> Option<&Intake> {
        self.places[slot].intake.as_ref()
    }

    /// Whether the kernel has a request of this source.
    pub(crate) fn has_pending(&self, slot: usize) -> bool {
        self.pending.iter().any(|pending| pending >> slot & 1 != 0)
    }

    /// Makes the requests that are missing for sources to be found readable or writable.
    #[inline]
    pub(crate) fn make(&mut self, readable: u64, writable: u64, mut push: impl FnMut(Entry)) {
        let receiving = self.pending[Kind::Receive as usize] | self.ended;
        let unserved = readable & !receiving;
        for slot in slots(unserved & self.receivers) {
            if let Some(entry) = self.receive(slot) {
                push(entry);
            }
        }
        // Receivers that are not connected yet are polled for like any other source.
        let polled = unserved & !(self.receivers & self.receiving());
        for slot in slots(polled & !self.pending[Kind::Input as usize]) {
            if self.intake(slot).is_none_or(|intake| !intake.0.is_open()) {
                push(self.poll(slot, Kind::Input, libc::POLLIN));
            }
        }
        for slot in slots(writable & !self.pending[Kind::Output as usize]) {
            push(self.poll(slot, Kind::Output, libc::POLLOUT));
        }
    }

    /// Requests that end all others of a source.
    pub(crate) fn cancel(&self, slot: usize) -> impl Iterator<Item = Entry> {
        let is_pending = move |kind: &Kind| self.pending[*kind as usize] >> slot & 1 != 0;
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
            self.pending[kind as usize] &= !(1 << slot);
        }
        if kind == Kind::Receive {
            self.received(slot, completion);
        } else {
            self.polled(slot, kind, completion.result);
        }
    }

    /// Sources that are readable and writable, as far as the answers and what lies undelivered
    /// tell.
    #[inline]
    pub(crate) fn ready(&mut self) -> (u64, u64) {
        for slot in slots(self.unread) {
            if self.intake(slot).is_none_or(|intake| undelivered(intake) == 0) {
                self.unread &= !(1 << slot);
            }
        }
        (self.unread | self.ended | self.readable, self.writable)
    }

    /// Forgets what polls have found: whether it still holds is for new ones to find.
    #[inline]
    pub(crate) fn forget(&mut self) {
        (self.readable, self.writable) = (0, 0);
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Requests that ended because all buffers of their source were full.
    pub(crate) fn exhausted(&self) -> u64 {
        self.exhausted
    }

    /// Receivers that receive by request, or are about to.
    fn receiving(&self) -> u64 {
        self.pending[Kind::Receive as usize]
    }

    /// A request to receive, if there is a connection and room: half of the buffers, lest each
    /// one that becomes free cost a request; all, after a failure, which ends what came before.
    fn receive(&mut self, slot: usize) -> Option<Entry> {
        let place = &self.places[slot];
        let arrivals = &place.intake.as_ref()?.0;
        let room = if self.failed >> slot & 1 != 0 { 0 } else { arrivals.buffers().count() / 2 };
        if !arrivals.is_open() || arrivals.completions().count() > room {
            return None;
        }
        let entry = arrivals.request(place.socket, slot as u16);
        self.failed &= !(1 << slot);
        self.pending[Kind::Receive as usize] |= 1 << slot;
        Some(entry.user_data(self.name(slot, Kind::Receive)))
    }

    fn poll(&mut self, slot: usize, kind: Kind, events: libc::c_short) -> Entry {
        self.pending[kind as usize] |= 1 << slot;
        let socket = Fd(self.places[slot].socket);
        let entry = opcode::PollAdd::new(socket, u32::from(events.cast_unsigned())).build();
        entry.user_data(self.name(slot, kind))
    }

    #[inline]
    fn received(&mut self, slot: usize, completion: Completion) {
        let bit = 1 << slot;
        match completion.result.wrapping_neg() {
            libc::ENOBUFS => self.exhausted += 1,
            libc::EBADF => self.lost |= bit,
            _ => {}
        }
        let Some(Intake(arrivals)) = &self.places[slot].intake else { return };
        if completion.is_empty() && completion.buffer().is_none() {
            return;
        }
        arrivals.completions().push(completion);
        self.unread |= bit;
        if completion.result < 0 {
            self.failed |= bit;
        } else if arrivals.is_end(completion) {
            self.ended |= bit;
        }
    }

    /// Of an error or a hang-up whatever was waited for is to report, as with poll(2).
    fn polled(&mut self, slot: usize, kind: Kind, result: i32) {
        let bit = 1 << slot;
        let events = libc::c_short::try_from(result).unwrap_or(libc::POLLERR);
        match result.wrapping_neg() {
            libc::ECANCELED => {}
            libc::EBADF => self.lost |= bit,
            _ if result < 0 || events & (libc::POLLERR | libc::POLLHUP) != 0 => {
                self.readable |= bit;
                self.writable |= bit;
            }
            _ if kind == Kind::Input => self.readable |= bit,
            _ => self.writable |= bit,
        }
    }

    /// ```text
    /// 63         32 31     16 15     8 7      0
    /// | generation |   zero  |  kind  |  slot  |      what an answer says of its request
    /// ```
    fn name(&self, slot: usize, kind: Kind) -> u64 {
        let generation = u64::from(self.places[slot].generation);
        generation << 32 | (kind as u64) << 8 | slot as u64
    }
}

fn parse(name: u64) -> (usize, Kind, u32) {
    (name as usize % CAPACITY, Kind::of((name >> 8) as u8), (name >> 32) as u32)
}

fn undelivered(intake: &Intake) -> usize {
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
    use crate::Notice;
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
        let notice = Notice { word: Arc::new(AtomicU64::new(0)), bit: 8 };
        requests.add(3, 42, delivery.attach(Some(notice)).unwrap());
    }

    /// What is asked for when slot 3 is waited for.
    fn made(requests: &mut Requests, readable: bool, writable: bool) -> Vec<(Kind, u64)> {
        let mut all = Vec::new();
        requests.make(u64::from(readable) << 3, u64::from(writable) << 3, |entry| {
            let name = entry.get_user_data();
            assert_eq!(parse(name).0, 3);
            all.push((parse(name).1, name));
        });
        all
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
        assert_eq!(requests.ready(), (8, 0));
        delivery.pop();
        assert_eq!(requests.ready(), (0, 0));
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
        assert_eq!(requests.ready(), (8, 0), "the rest is still to be delivered");
    }

    #[test]
    fn after_a_failure_the_next_request_is_made_when_it_is_delivered() {
        let mut requests = Requests::new();
        let mut delivery = receiver(&mut requests);
        let name = made(&mut requests, true, false)[0].1;
        requests.complete(name, last(-libc::ECONNRESET));
        assert_eq!(requests.ready(), (8, 0));
        assert!(made(&mut requests, true, false).is_empty());
        let error = delivery.first().unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        delivery.pop();
        let name = made(&mut requests, true, false)[0].1;
        requests.complete(name, last(0));
        delivery.pop();
        assert_eq!(requests.ready(), (8, 0), "an end stays");
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
        assert_eq!(requests.ready(), (0, 8));
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
        assert_eq!(requests.ready(), (0, 0));
        requests.complete(name, brought(8, 3));
        assert_eq!(requests.ready(), (0, 0), "an answer to what was asked before");
        assert!(requests.is_free(3));
        add(&mut requests, &mut delivery);
        assert!(!requests.is_free(3));
        assert_eq!(requests.ready(), (8, 0));
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
            assert_eq!(requests.ready(), (8, 8));
            requests.forget();
            assert_eq!(requests.ready(), (0, 0));
            assert_eq!(requests.lost(), 0);
        }
    }

    #[test]
    fn a_descriptor_that_is_closed_is_lost_until_it_is_removed() {
        let mut requests = Requests::new();
        requests.add(3, 42, None);
        let all = made(&mut requests, true, false);
        requests.complete(all[0].1, last(-libc::EBADF));
        assert_eq!((requests.lost(), requests.ready()), (8, (0, 0)));
        requests.remove(3);
        assert_eq!(requests.lost(), 0);
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
        assert!(requests.lost() == 0 && requests.has_pending(3));
        assert_eq!(slots(1 << 63 | 1 << 5 | 1).collect::<Vec<_>>(), [0, 5, 63]);
    }
}
