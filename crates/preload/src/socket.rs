//! An accelerated socket: the datagrams that bypass the kernel and those through the program's own
//! kernel socket, as one stream.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hairpin_stack::{
    AdoptedSocket, Destination, FallbackReason, IpFields, Meta, Stack, Stamp, await_redirects,
};

use crate::clock;
use crate::counters::PathCounters;
use crate::errno::{errno, is_would_block};
use crate::kept::{self, Kept};
use crate::membership::Membership;
use crate::options::SocketState;

/// The interval of reading the kernel socket while the rings are polled, in nanoseconds. A read of
/// an empty kernel socket costs 370 ns, so this is less than one part in a hundred.
pub(crate) const KERNEL_INTERVAL_NS: u64 = 50_000;
/// The destinations cached for sendto(2).
const RECENT: usize = 16;
/// The flags of a send that change nothing on this path.
const PLAIN_SEND_FLAGS: c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_CONFIRM;

/// A datagram to be delivered to the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Datagram<'a> {
    pub(crate) source: SocketAddr,
    pub(crate) destination: Option<IpAddr>,
    /// The fields of the IP header, if the program requested one of them.
    pub(crate) fields: IpFields,
    pub(crate) stamp: Option<Stamp>,
    /// The datagrams dropped so far, if the program requested their number.
    pub(crate) dropped: u32,
    pub(crate) payload: &'a [u8],
}

/// The state of an accelerated socket, under its slot's lock.
#[derive(Debug)]
pub(crate) struct Socket {
    /// `None` once the socket has been returned to the kernel and only kept datagrams remain.
    pub(crate) adopted: Option<AdoptedSocket>,
    /// The program's descriptor.
    fd: c_int,
    pub(crate) stack: &'static Stack,
    pub(crate) local: SocketAddr,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) state: SocketState,
    pub(crate) counters: PathCounters,
    pub(crate) memberships: Vec<Membership>,
    peer: Option<Destination>,
    recent: Vec<Destination>,
    kept: VecDeque<Kept>,
    /// `true` once the filter passes the traffic to the kernel: a handback is in progress.
    redirects_ended: bool,
    /// `true` while the kernel socket may contain datagrams older than those on the rings.
    kernel_first: bool,
    kernel_checked_ns: u64,
}

impl Socket {
    pub(crate) fn new(
        fd: c_int,
        adopted: AdoptedSocket,
        stack: &'static Stack,
        local: SocketAddr,
        remote: Option<SocketAddr>,
        state: SocketState,
    ) -> Self {
        Self {
            adopted: Some(adopted),
            fd,
            stack,
            local,
            remote,
            state,
            counters: PathCounters::default(),
            memberships: Vec::new(),
            peer: None,
            recent: Vec::new(),
            kept: VecDeque::new(),
            redirects_ended: false,
            kernel_first: true,
            kernel_checked_ns: 0,
        }
    }

    /// Returns `true` if nothing is left for the library to do.
    pub(crate) fn is_finished(&self) -> bool {
        self.adopted.is_none() && self.kept.is_empty()
    }

    /// Returns `true` if the call on this socket must not wait.
    #[inline]
    pub(crate) fn is_nonblocking(&self, flags: c_int) -> bool {
        self.state.nonblocking || flags & libc::MSG_DONTWAIT != 0
    }

    pub(crate) fn receive_timeout(&self) -> Option<Duration> {
        self.state.receive_timeout
    }

    /// Receives one datagram without waiting; `None` if no datagram is pending. `deliver`
    /// returns the call's
    /// result; `kernel` is the same call on the kernel socket, with additional flags.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        flags: c_int,
        deliver: &mut impl FnMut(&Datagram<'_>, &SocketState) -> isize,
        kernel: &impl Fn(c_int) -> isize,
    ) -> Option<isize> {
        let peeks = flags & libc::MSG_PEEK != 0;
        let dropped = if self.state.overflow { self.dropped() } else { 0 };
        if let Some(first) = self.kept.front() {
            let result = deliver(&first.datagram(dropped), &self.state);
            if !peeks {
                self.count_received(first_length(&self.kept));
                self.kept.pop_front();
            }
            return Some(result);
        }
        if self.kernel_first || self.adopted.is_none() {
            let result = self.receive_from_kernel(flags, kernel);
            if result.is_some() {
                return result;
            }
            self.kernel_first = false;
        }
        let Self { adopted, state, kept, counters, .. } = self;
        let mut result = None;
        let mut length = 0;
        let received = adopted.as_mut()?.receive(1, |meta, header, payload| {
            let Meta { source, destination, stamp, .. } = meta;
            length = payload.len();
            let fields = if state.ip_fields { header.fields() } else { IpFields::default() };
            let datagram = Datagram { source, destination, fields, stamp, dropped, payload };
            result = Some(deliver(&datagram, state));
            if peeks {
                kept.push_back(Kept::new(meta, header, payload));
            }
        });
        if result.is_some() {
            if !peeks {
                counters.received_bypass += 1;
                counters.received_bypass_bytes += length as u64;
            }
            return result;
        }
        if received.is_err() {
            // The interface was removed: the kernel socket is all that remains.
            self.kernel_checked_ns = 0;
        }
        let now = clock::now_ns();
        if now.wrapping_sub(self.kernel_checked_ns) < KERNEL_INTERVAL_NS {
            return None;
        }
        self.kernel_checked_ns = now;
        self.receive_from_kernel(flags, kernel)
    }

    /// Reads the kernel socket without waiting.
    fn receive_from_kernel(
        &mut self,
        flags: c_int,
        kernel: &impl Fn(c_int) -> isize,
    ) -> Option<isize> {
        let result = kernel(flags | libc::MSG_DONTWAIT);
        if result >= 0 {
            if flags & libc::MSG_PEEK == 0 {
                self.counters.received_kernel += 1;
                self.counters.received_kernel_bytes += result.unsigned_abs() as u64;
            }
            // More may be pending.
            self.kernel_checked_ns = 0;
            return Some(result);
        }
        if is_would_block(errno()) { None } else { Some(result) }
    }

    fn count_received(&mut self, length: usize) {
        self.counters.received_bypass += 1;
        self.counters.received_bypass_bytes += length as u64;
    }

    /// Makes the next receive read the kernel socket: something may have arrived there.
    pub(crate) fn expect_kernel(&mut self) {
        self.kernel_checked_ns = 0;
    }

    /// Returns `true` if a datagram that bypassed the kernel is pending. The caller has polled the
    /// stack.
    #[inline]
    pub(crate) fn has_datagram(&self) -> bool {
        !self.kept.is_empty() || self.adopted.as_ref().is_some_and(AdoptedSocket::has_queued)
    }

    /// Returns the length of the next datagram that bypassed the kernel, as SIOCINQ does.
    pub(crate) fn next_length(&mut self) -> Option<usize> {
        if self.kept.is_empty() {
            let Self { adopted, kept, .. } = self;
            let adopted = adopted.as_mut()?;
            let _ = adopted.receive(1, |meta, header, payload| {
                kept.push_back(Kept::new(meta, header, payload));
            });
        }
        self.kept.front().map(Kept::length)
    }

    /// Returns the datagrams dropped because the program did not read, as `SO_RXQ_OVFL` reports.
    #[cold]
    fn dropped(&self) -> u32 {
        let bypassing = self.adopted.as_ref().map_or(0, AdoptedSocket::dropped);
        // The kernel's counter has 32 bits and wraps around.
        (bypassing as u32).wrapping_add(kept::kernel_drops(self.fd))
    }

    /// Returns a number that changes with each arrival.
    pub(crate) fn arrivals(&self) -> u64 {
        self.adopted.as_ref().map_or(0, AdoptedSocket::queued)
    }

    /// Sends a datagram of `length` bytes that `fill` writes. Returns `false` if the kernel socket
    /// must send it.
    #[inline]
    pub(crate) fn send(
        &mut self,
        flags: c_int,
        to: Option<SocketAddr>,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> bool {
        if flags & !PLAIN_SEND_FLAGS != 0 || !self.state.sends {
            return self.leave_to_kernel(None);
        }
        let Some(adopted) = &mut self.adopted else { return self.leave_to_kernel(None) };
        let destination = match to.filter(|to| Some(*to) != self.remote) {
            None => {
                let Some(remote) = self.remote else { return self.leave_to_kernel(None) };
                if self.peer.is_none() {
                    self.peer = adopted.destination(remote).ok();
                }
                self.peer.as_mut()
            }
            Some(to) => {
                // The last used is last.
                let known = self.recent.iter().rposition(|recent| recent.address() == to);
                match known {
                    Some(at) if at + 1 < self.recent.len() => {
                        let used = self.recent.remove(at);
                        self.recent.push(used);
                    }
                    Some(_) => {}
                    None => {
                        let Ok(new) = adopted.destination(to) else {
                            return self.leave_to_kernel(None);
                        };
                        if self.recent.len() == RECENT {
                            self.recent.remove(0);
                        }
                        self.recent.push(new);
                    }
                }
                self.recent.last_mut()
            }
        };
        let Some(destination) = destination else { return self.leave_to_kernel(None) };
        match adopted.transmit_to(destination, length, fill) {
            Ok(None) => {
                self.counters.sent_bypass += 1;
                self.counters.sent_bypass_bytes += length as u64;
                true
            }
            Ok(Some(reason)) => self.leave_to_kernel(Some(reason)),
            // The kernel reports the cause, if it cannot send the datagram either.
            Err(_) => self.leave_to_kernel(None),
        }
    }

    #[cold]
    fn leave_to_kernel(&mut self, reason: Option<FallbackReason>) -> bool {
        self.counters.sent_kernel += 1;
        if reason == Some(FallbackReason::NoNeighbor) {
            self.counters.sent_unresolved += 1;
        }
        // An answer over loopback may be pending at once.
        self.expect_kernel();
        false
    }

    /// Makes the filter pass the traffic to the kernel: the first step of a handback. Returns
    /// `false` if the kernel has the traffic already.
    pub(crate) fn end_redirects(&mut self) -> bool {
        let Some(adopted) = &mut self.adopted else { return false };
        adopted.end_redirects();
        self.redirects_ended = true;
        true
    }

    /// Ends the acceleration. Datagrams that have already arrived are kept for the program.
    pub(crate) fn hand_back(&mut self) {
        (self.peer, self.recent) = (None, Vec::new());
        if !self.redirects_ended && self.end_redirects() {
            await_redirects();
        }
        let Some(adopted) = self.adopted.take() else { return };
        let kept = &mut self.kept;
        adopted.hand_back(|meta, header, payload| {
            kept.push_back(Kept::new(meta, header, payload));
        });
    }

    /// Moves kept datagrams into the kernel socket, where other processes read them too.
    pub(crate) fn move_kept_to_kernel(&mut self, all_or_none: bool) {
        kept::move_to_kernel(self.fd, self.local.port(), &mut self.kept, all_or_none);
    }

    /// Returns the number of kept datagrams.
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Continues with another adoption, after the socket's addresses have changed.
    pub(crate) fn continue_as(&mut self, new: Self) {
        let (kept, counters) = (std::mem::take(&mut self.kept), self.counters);
        *self = Self { kept, counters, ..new };
    }

    /// Applies changed options.
    pub(crate) fn set_state(&mut self, state: SocketState) {
        self.state = state;
        if let Some(adopted) = &mut self.adopted {
            // The engine has the socket as long as this value.
            let _ = adopted.set_options(&state.options);
        }
    }

    /// Follows the kernel socket into a group. Returns `false` if that is not possible.
    pub(crate) fn join(&mut self, membership: Membership) -> bool {
        let Some(adopted) = &mut self.adopted else { return true };
        let at = self.memberships.iter().position(|known| known.group == membership.group);
        let before = at.map(|at| self.memberships.swap_remove(at));
        let Some(wanted) = membership.after(before.as_ref()) else { return false };
        if before.is_some() {
            adopted.leave(wanted.group);
        }
        if wanted.is_left {
            return true;
        }
        if adopted.join(wanted.group, &wanted.sources).is_err() {
            return false;
        }
        self.memberships.push(wanted);
        true
    }
}

fn first_length(kept: &VecDeque<Kept>) -> usize {
    kept.front().map_or(0, Kept::length)
}
