//! The members of epoll instances that are accelerated sockets.
//!
//! The instance stays a kernel one, and each member stays registered there: the kernel reports
//! datagrams through the kernel socket, errors and writability. This module adds what bypasses the
//! kernel, and merges both.

use std::ffi::c_int;

use libc::epoll_event;

use crate::slots::{self, Slot};
use crate::{addresses, real};

const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONE_SHOT: u32 = libc::EPOLLONESHOT as u32;

/// The members of an instance that are UDP sockets, or instances with such members.
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
        if !self.armed || self.events & READABLE == 0 {
            return None;
        }
        let slot = slots::handled(self.fd)?;
        let arrivals = if slot.is_epoll() {
            is_ready(slot).then_some(self.seen.wrapping_add(1))
        } else {
            let place = slot.socket();
            let socket = place.as_deref()?;
            socket.has_datagram().then(|| socket.arrivals())
        }?;
        let is_edge = self.events & EDGE != 0;
        (!is_edge || arrivals != self.seen).then_some((self.events & READABLE, arrivals))
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
    set.members.retain(|member| member.fd != fd);
    if operation != libc::EPOLL_CTL_DEL
        && let Some(&epoll_event { events, u64: data }) = event
    {
        // An edge is reported again after every change, if the socket is ready.
        set.members.push(Member { fd, events, data, seen: u64::MAX, armed: true });
    }
}

/// Returns `true` for a UDP socket, which may be accelerated later, and for an instance with such
/// members.
fn is_relevant(fd: c_int) -> bool {
    let is = |name, value| addresses::option(fd, libc::SOL_SOCKET, name) == Some(value);
    slots::handled(fd).is_some()
        || is(libc::SO_TYPE, libc::SOCK_DGRAM) && is(libc::SO_PROTOCOL, libc::IPPROTO_UDP)
}

/// Returns `true` if a member is accelerated, so that the instance must be polled in user space.
pub(crate) fn has_accelerated(slot: &Slot) -> bool {
    slot.epoll()
        .as_ref()
        .is_some_and(|set| set.members.iter().any(|it| slots::handled(it.fd).is_some()))
}

/// Returns `true` if a member has something that the kernel does not know.
pub(crate) fn is_ready(slot: &Slot) -> bool {
    // The lock is not held while members are checked: an instance may be a member.
    let members = slot.epoll().as_ref().map(|set| set.members.clone()).unwrap_or_default();
    members.iter().any(|member| member.ready().is_some())
}

/// Writes the events of the ready members. Returns how many.
pub(crate) fn take_ready(slot: &Slot, epoll: c_int, events: &mut [epoll_event]) -> usize {
    let mut place = slot.epoll();
    let Some(set) = place.as_deref_mut() else { return 0 };
    let count = set.members.len();
    let mut found = 0;
    for turn in 0..count {
        if found == events.len() {
            break;
        }
        let at = (set.next + turn) % count;
        let member = &mut set.members[at];
        let Some((ready, arrivals)) = member.ready() else { continue };
        member.seen = arrivals;
        if member.events & ONE_SHOT != 0 {
            member.armed = false;
            // The kernel keeps the member, without events.
            let mut none = epoll_event { events: ONE_SHOT, u64: member.data };
            // SAFETY: the event outlives the call.
            unsafe { real::epoll_ctl(epoll, libc::EPOLL_CTL_MOD, member.fd, &raw mut none) };
        }
        events[found] = epoll_event { events: ready, u64: member.data };
        found += 1;
    }
    set.next = set.next.wrapping_add(1) % count.max(1);
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
