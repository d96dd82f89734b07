//! The members of epoll instances that are accelerated sockets.
//!
//! The instance stays a kernel one, and each member stays registered there: the kernel reports
//! datagrams through the kernel socket, errors and writability. This module adds what bypasses the
//! kernel, and merges both.

use std::ffi::c_int;

use libc::epoll_event;

use crate::slots::{self, Slot};
use crate::stream_counters::Cause;
use crate::{addresses, real, sleep, stream};

const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONE_SHOT: u32 = libc::EPOLLONESHOT as u32;

/// The members of an instance that are UDP or TCP sockets, or instances with such members.
#[derive(Debug, Default)]
pub(crate) struct EpollSet {
    members: Vec<Member>,
    /// The place from which the next wait begins, so that no member starves.
    next: usize,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    fd: c_int,
    events: u32,
    data: u64,
    /// The arrivals of the socket when it was last reported, for edges.
    seen: u64,
    /// `false` after a one-shot event, until the program arms the member again.
    armed: bool,
}

impl Member {
    /// Returns the events to report now, without those of the kernel, and the arrivals.
    fn ready(&self) -> Option<(u32, u64)> {
        if !self.armed || self.events & (READABLE | WRITABLE) == 0 {
            return None;
        }
        let slot = slots::handled(self.fd)?;
        let (ready, arrivals) = if slot.is_stream() {
            let ready = stream::ready(self.fd, slot)?;
            (u32::from(ready.events.cast_unsigned()), ready.arrivals)
        } else if slot.is_epoll() {
            (if is_ready(slot) { READABLE } else { 0 }, self.seen.wrapping_add(1))
        } else {
            let place = slot.socket();
            let socket = place.as_deref()?;
            (if socket.has_datagram() { READABLE } else { 0 }, socket.arrivals())
        };
        let ready = self.events & ready;
        let is_edge = self.events & EDGE != 0;
        (ready != 0 && (!is_edge || arrivals != self.seen)).then_some((ready, arrivals))
    }
}

/// Follows a successful epoll_ctl(2).
pub(crate) fn control(epoll: c_int, operation: c_int, fd: c_int, event: Option<&epoll_event>) {
    let is_member = slots::epoll(epoll).is_some_and(|slot| {
        slot.epoll().as_ref().is_some_and(|set| set.members.iter().any(|it| it.fd == fd))
    });
    if !is_member && (operation == libc::EPOLL_CTL_DEL || !is_relevant(fd)) {
        return;
    }
    let (Some(slot), Some(member)) = (slots::find_or_create(epoll), slots::find_or_create(fd))
    else {
        return;
    };
    slot.set_epoll();
    {
        let mut instances = member.instances();
        instances.retain(|known| *known != epoll);
        if operation != libc::EPOLL_CTL_DEL {
            instances.push(epoll);
        }
    }
    let mut place = slot.epoll();
    let set = place.get_or_insert_default();
    let count = set.members.len();
    set.members.retain(|member| member.fd != fd);
    let is_new = set.members.len() == count;
    if operation != libc::EPOLL_CTL_DEL
        && let Some(&epoll_event { events, u64: data }) = event
    {
        // An edge is reported again after every change, if the socket is ready.
        let new = Member { fd, events, data, seen: u64::MAX, armed: true };
        set.members.push(new);
        drop(place);
        if is_new || new.ready().is_some() {
            // A thread that waits for the instance must see the member.
            sleep::wake(epoll);
        }
    } else {
        drop(place);
    }
    let is_bypassing = slots::stream(fd).is_some_and(|slot| slot.stream.is_bypassing());
    let data = event.map_or(0, |event| event.u64);
    if is_bypassing && operation != libc::EPOLL_CTL_DEL && !set_kernel_events(epoll, fd, 0, data) {
        stream::hand_back(fd, Cause::Option);
    }
}

/// Changes the events of a member of the kernel's instance.
fn set_kernel_events(epoll: c_int, fd: c_int, events: u32, data: u64) -> bool {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: the event outlives the call.
    unsafe { real::epoll_ctl(epoll, libc::EPOLL_CTL_MOD, fd, &raw mut event) == 0 }
}

/// Calls `on` with every instance that has the member.
fn for_each_with(fd: c_int, mut on: impl FnMut(c_int, &'static Slot, &mut Member)) {
    let Some(slot) = slots::find(fd) else { return };
    let instances = slot.instances().clone();
    for epoll in instances {
        if let Some(slot) = slots::epoll(epoll)
            && let Some(set) = slot.epoll().as_deref_mut()
            && let Some(member) = set.members.iter_mut().find(|member| member.fd == fd)
        {
            on(epoll, slot, member);
        }
    }
}

/// Stops the kernel from reporting a connection that is taken over. Returns `false`, and changes
/// nothing, if a thread waits in the kernel for an instance with that member, or if the kernel
/// does not permit it.
pub(crate) fn suspend(fd: c_int) -> bool {
    let mut instances = Vec::new();
    let mut is_waited_for = false;
    for_each_with(fd, |epoll, slot, member| {
        is_waited_for |= slot.stream.is_used();
        // Every readiness after the takeover is an edge.
        member.seen = u64::MAX;
        instances.push((epoll, member.data));
    });
    for &(inner, _) in &instances {
        for_each_with(inner, |_, slot, _| is_waited_for |= slot.stream.is_used());
    }
    if is_waited_for {
        return false;
    }
    let is_done = instances.iter().all(|&(epoll, data)| set_kernel_events(epoll, fd, 0, data));
    if !is_done {
        resume(fd);
    }
    is_done
}

/// Lets the kernel report a connection again. What is ready is an edge.
pub(crate) fn resume(fd: c_int) {
    for_each_with(fd, |epoll, _, member| {
        let events = if member.armed { member.events } else { ONE_SHOT };
        set_kernel_events(epoll, fd, events, member.data);
    });
}

/// Returns `true` for a UDP or TCP socket, which may be accelerated later, and for an instance with
/// such members.
fn is_relevant(fd: c_int) -> bool {
    let is = |name, value| addresses::option(fd, libc::SOL_SOCKET, name) == Some(value);
    slots::handled(fd).is_some()
        || is(libc::SO_TYPE, libc::SOCK_DGRAM) && is(libc::SO_PROTOCOL, libc::IPPROTO_UDP)
        || is(libc::SO_TYPE, libc::SOCK_STREAM) && is(libc::SO_PROTOCOL, libc::IPPROTO_TCP)
}

/// Returns `true` if a member is accelerated, so that the instance must be polled in user space.
pub(crate) fn has_accelerated(slot: &Slot) -> bool {
    slot.epoll()
        .as_ref()
        .is_some_and(|set| set.members.iter().any(|it| slots::is_accelerated(it.fd)))
}

/// Returns the descriptors that a thread waits for that waits for an instance.
pub(crate) fn interests(slot: &Slot) -> u64 {
    let place = slot.epoll();
    let members = place.iter().flat_map(|set| &set.members);
    members.fold(0, |all, member| {
        // The members of an instance that is a member may change meanwhile.
        let is_instance = slots::epoll(member.fd).is_some();
        all | if is_instance { u64::MAX } else { sleep::interest(member.fd) }
    })
}

/// Returns `true` if a member has something that the kernel does not know.
pub(crate) fn is_ready(slot: &Slot) -> bool {
    // The lock is not held while members are checked: an instance may be a member.
    let members = slot.epoll().as_ref().map(|set| set.members.clone()).unwrap_or_default();
    members.iter().any(|member| member.ready().is_some())
}

/// Writes the events of the ready members. Returns how many.
pub(crate) fn take_ready(slot: &Slot, epoll: c_int, events: &mut [epoll_event]) -> usize {
    let (count, first) = match slot.epoll().as_deref() {
        Some(set) => (set.members.len(), set.next),
        None => return 0,
    };
    let mut found = 0;
    for turn in 0..count {
        if found == events.len() {
            break;
        }
        // The lock is not held while a member is checked: a connection that is handed back changes
        // the members.
        let at = (first + turn) % count;
        let member = slot.epoll().as_deref().and_then(|set| set.members.get(at).copied());
        let Some(member) = member else { break };
        let Some((ready, arrivals)) = member.ready() else { continue };
        let mut place = slot.epoll();
        let Some(set) = place.as_deref_mut() else { break };
        let same =
            |it: &&mut Member| (it.fd, it.seen, it.armed) == (member.fd, member.seen, member.armed);
        let Some(member) = set.members.get_mut(at).filter(same) else { continue };
        member.seen = arrivals;
        if member.events & ONE_SHOT != 0 {
            member.armed = false;
            // The kernel keeps the member, without events.
            set_kernel_events(epoll, member.fd, ONE_SHOT, member.data);
        }
        events[found] = epoll_event { events: ready, u64: member.data };
        found += 1;
    }
    if let Some(set) = slot.epoll().as_deref_mut() {
        set.next = set.next.wrapping_add(1) % count.max(1);
    }
    found
}

/// Merges `added` events of the kernel, which follow `found` of ours, into one event per member.
/// Returns how many remain of the kernel's.
pub(crate) fn merge(slot: &Slot, events: &mut [epoll_event], found: usize, added: usize) -> usize {
    let mut place = slot.epoll();
    let mut kept = 0;
    for at in found..found + added {
        let epoll_event { events: bits, u64: data } = events[at];
        if let Some(set) = place.as_deref_mut() {
            let one_shot = set.members.iter_mut().filter(|it| it.events & ONE_SHOT != 0);
            one_shot.filter(|it| it.data == data).for_each(|it| it.armed = false);
        }
        let ours = events[..found].iter_mut().find(|ours| { ours.u64 } == data);
        match ours {
            Some(ours) => ours.events |= bits,
            None => {
                events[found + kept] = epoll_event { events: bits, u64: data };
                kept += 1;
            }
        }
    }
    kept
}

/// Removes a descriptor that is about to be closed from all instances, or an instance's members.
pub(crate) fn forget(fd: c_int, slot: &Slot) {
    if slot.is_epoll() {
        *slot.epoll() = None;
        return slot.set_plain();
    }
    let instances = std::mem::take(&mut *slot.instances());
    for instance in instances.into_iter().filter_map(slots::epoll) {
        if let Some(set) = instance.epoll().as_deref_mut() {
            set.members.retain(|member| member.fd != fd);
        }
    }
}
