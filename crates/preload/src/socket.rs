//! An accelerated socket: the datagrams that bypass the kernel and those through the program's own
//! kernel socket, as one stream.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hairpin_stack::{AdoptedSocket, FallbackReason, IpFields, Meta, Stack, Stamp, await_redirects};

use crate::addresses::canonical;
use crate::clock;
use crate::counters::PathCounters;
use crate::errno::{errno, is_would_block};
use crate::kept::{self, Kept};
use crate::log::{self, Level};
use crate::membership::Membership;
use crate::options::SocketState;
use crate::real;
use crate::targets::Targets;

/// The interval of reading the kernel socket while the rings are polled, in nanoseconds. A read of
/// an empty kernel socket costs 370 ns, so this is less than one part in a hundred.
pub(crate) const KERNEL_INTERVAL_NS: u64 = 50_000;
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
    /// The index of the interface that received it.
    pub(crate) interface: u32,
    /// The datagrams dropped until it was queued, if the program requested their number.
    pub(crate) dropped: u32,
    pub(crate) payload: &'a [u8],
}

impl Datagram<'_> {
    /// Returns the address that an answer to a datagram to an IPv4 group comes from.
    pub(crate) fn reply_address(&self) -> Option<Ipv4Addr> {
        self.destination.filter(|to| to.to_canonical().is_multicast())?;
        let mut stacks = crate::process::open_stacks().iter();
        let stack = stacks.find(|stack| stack.interface() == self.interface)?;
        match stack.source_address(canonical(self.source).ip())? {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        }
    }
}

/// The traffic of a socket on one interface.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) stack: &'static Stack,
    pub(crate) adopted: AdoptedSocket,
    /// The interface's index.
    pub(crate) interface: u32,
}

/// The datagrams dropped by a socket, of which a datagram reports those until it was queued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drops {
    all: u32,
    /// Those of the datagram's interface.
    path: u32,
}

impl Drops {
    /// `all`: `None` if the program does not request the number.
    #[inline]
    fn of(adopted: &AdoptedSocket, all: Option<u32>) -> Self {
        match all {
            Some(all) => Self { all, path: adopted.dropped() as u32 },
            None => Self { all: 0, path: 0 },
        }
    }

    /// Returns the number until the interface had dropped `queued`; `None`: now.
    #[inline]
    pub(crate) fn until(self, queued: Option<u32>) -> u32 {
        queued.map_or(self.all, |queued| self.all.wrapping_sub(self.path).wrapping_add(queued))
    }
}

/// The datagrams through the kernel before any other that are reported.
const REPORTED_AFTER: u64 = 8;

/// The state of an accelerated socket, under its slot's lock.
#[derive(Debug)]
pub(crate) struct Socket {
    /// One per interface: several for a socket bound to any address. Empty once the socket has been
    /// returned to the kernel and only kept datagrams remain.
    pub(crate) paths: Vec<Path>,
    /// The path that the next receive tries first.
    first_path: usize,
    /// The program's descriptor.
    fd: c_int,
    pub(crate) local: SocketAddr,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) state: SocketState,
    pub(crate) counters: PathCounters,
    pub(crate) memberships: Vec<Membership>,
    targets: Targets,
    kept: VecDeque<Kept>,
    /// The arrivals and drops of earlier adoptions.
    arrived_before: u64,
    dropped_before: u64,
    /// `true` once the filter passes the traffic to the kernel: a handback is in progress.
    redirects_ended: bool,
    /// `true` while the kernel socket may contain datagrams older than those on the rings.
    kernel_first: bool,
    kernel_checked_ns: u64,
    error_checked_ns: u64,
    /// `true` after a send with `MSG_MORE`: the kernel adds the next sends to that datagram.
    corked: bool,
}

impl Socket {
    pub(crate) fn new(
        fd: c_int,
        paths: Vec<Path>,
        local: SocketAddr,
        remote: Option<SocketAddr>,
        state: SocketState,
    ) -> Self {
        Self {
            paths,
            first_path: 0,
            fd,
            local,
            remote,
            state,
            counters: PathCounters::default(),
            memberships: Vec::new(),
            targets: Targets::default(),
            kept: VecDeque::new(),
            arrived_before: 0,
            dropped_before: 0,
            redirects_ended: false,
            kernel_first: true,
            kernel_checked_ns: 0,
            error_checked_ns: 0,
            corked: false,
        }
    }

    /// Returns `true` if nothing is left for the library to do.
    pub(crate) fn is_finished(&self) -> bool {
        !self.is_adopted() && self.kept.is_empty()
    }

    /// Returns `true` until the socket is returned to the kernel.
    #[inline]
    pub(crate) fn is_adopted(&self) -> bool {
        !self.paths.is_empty()
    }

    /// Returns `true` if a call that has found nothing must not wait.
    pub(crate) fn refuses_wait(&mut self, flags: c_int) -> bool {
        self.state.nonblocking.refuses(self.fd, flags)
    }

    /// Returns the stacks that carry the socket's traffic.
    pub(crate) fn stacks(&self) -> Vec<&'static Stack> {
        self.paths.iter().map(|path| path.stack).collect()
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
        if let Some(first) = self.kept.front() {
            let result = deliver(&first.datagram(), &self.state);
            if !peeks {
                self.count_received(first_length(&self.kept));
                self.kept.pop_front();
            }
            return Some(result);
        }
        if self.kernel_first || !self.is_adopted() {
            let result = self.receive_from_kernel(flags, kernel);
            if result.is_some() {
                return result;
            }
            self.kernel_first = false;
        }
        if let Some(result) = self.receive_bypassing(peeks, deliver) {
            return Some(result);
        }
        let now = clock::now_ns();
        if now.wrapping_sub(self.kernel_checked_ns) < KERNEL_INTERVAL_NS {
            return None;
        }
        self.kernel_checked_ns = now;
        self.receive_from_kernel(flags, kernel)
    }

    /// Receives one datagram that bypassed the kernel.
    #[inline]
    fn receive_bypassing(
        &mut self,
        peeks: bool,
        deliver: &mut impl FnMut(&Datagram<'_>, &SocketState) -> isize,
    ) -> Option<isize> {
        let dropped = self.dropped();
        let Self { paths, first_path, state, kept, counters, .. } = self;
        let mut result = None;
        let mut length = 0;
        for _ in 0..paths.len() {
            let Path { adopted, interface, .. } = &mut paths[*first_path];
            let interface = *interface;
            let drops = Drops::of(adopted, dropped);
            let received = adopted.receive(1, |meta, header, payload| {
                let Meta { source, destination, stamp, .. } = meta;
                let dropped = drops.until(meta.dropped);
                length = payload.len();
                let fields = if state.ip_fields { header.fields() } else { IpFields::default() };
                let datagram =
                    Datagram { source, destination, fields, stamp, interface, dropped, payload };
                result = Some(deliver(&datagram, state));
                if peeks {
                    kept.push_back(Kept::new(meta, header, payload, interface, drops));
                }
            });
            if received.is_err() {
                // The interface was removed: the kernel socket is all that remains.
                self.kernel_checked_ns = 0;
            }
            // The other interfaces have their turn, also if this one has more.
            *first_path = if *first_path + 1 < paths.len() { *first_path + 1 } else { 0 };
            if result.is_some() {
                break;
            }
        }
        if result.is_some() && !peeks {
            counters.received_bypass += 1;
            counters.received_bypass_bytes += length as u64;
        }
        result
    }

    /// Reports that the first datagrams of a socket, whose traffic is redirected, have not bypassed
    /// the kernel.
    #[cold]
    fn report_kernel_only(&self) {
        if self.paths.iter().any(|path| path.adopted.receives_over_xdp()) {
            log::line(
                Level::Fallback,
                format_args!(
                    "{} received its first {REPORTED_AFTER} datagrams through the kernel: from \
                     this host, on another interface, or in fragments",
                    self.local
                ),
            );
        }
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
                if self.counters.received_kernel == REPORTED_AFTER
                    && self.counters.received_bypass == 0
                {
                    self.report_kernel_only();
                }
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
        self.error_checked_ns = 0;
    }

    /// Returns `true` if a datagram that bypassed the kernel is pending. The caller has polled the
    /// stack.
    #[inline]
    pub(crate) fn has_datagram(&self) -> bool {
        !self.kept.is_empty() || self.paths.iter().any(|path| path.adopted.has_queued())
    }

    /// Returns the length of the next datagram that bypassed the kernel, as SIOCINQ does.
    pub(crate) fn next_length(&mut self) -> Option<usize> {
        if self.kept.is_empty() {
            let dropped = self.dropped();
            let Self { paths, kept, .. } = self;
            for Path { adopted, interface, .. } in paths {
                let drops = Drops::of(adopted, dropped);
                let _ = adopted.receive(1, |meta, header, payload| {
                    kept.push_back(Kept::new(meta, header, payload, *interface, drops));
                });
            }
        }
        self.kept.front().map(Kept::length)
    }

    /// Returns the datagrams dropped because the program did not read, if it has set
    /// `SO_RXQ_OVFL`.
    #[inline]
    fn dropped(&self) -> Option<u32> {
        if self.state.overflow { Some(self.all_dropped()) } else { None }
    }

    #[cold]
    fn all_dropped(&self) -> u32 {
        let bypassing = self.dropped_before + self.dropped_bypassing();
        // The kernel's counter has 32 bits and wraps around.
        (bypassing as u32).wrapping_add(kept::kernel_drops(self.fd))
    }

    /// Returns a number that changes with each arrival.
    pub(crate) fn arrivals(&self) -> u64 {
        self.arrived_before + self.paths.iter().map(|path| path.adopted.queued()).sum::<u64>()
    }

    fn dropped_bypassing(&self) -> u64 {
        self.paths.iter().map(|path| path.adopted.dropped()).sum()
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
        if flags & !PLAIN_SEND_FLAGS != 0
            || !self.state.sends
            || self.corked
            || self.remote.is_some() && self.has_error()
        {
            return self.leave_send(flags);
        }
        let to = to.filter(|to| Some(*to) != self.remote);
        let Self { paths, targets, state, local, remote, .. } = self;
        let Some(target) = targets.find(paths, state, *local, *remote, to) else {
            return self.leave_to_kernel(None);
        };
        let Path { adopted, .. } = &mut paths[target.path];
        match adopted.transmit_to(&mut target.destination, length, fill) {
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

    /// Leaves a send to the kernel, with what belongs to the same datagram.
    #[cold]
    pub(crate) fn leave_send(&mut self, flags: c_int) -> bool {
        self.corked = flags & libc::MSG_MORE != 0;
        self.leave_to_kernel(None)
    }

    /// Returns `true` if the peer has refused a datagram, which the next call reports.
    fn has_error(&mut self) -> bool {
        let now = clock::now_ns();
        let checked_ns = self.kernel_checked_ns.max(self.error_checked_ns);
        if now.wrapping_sub(checked_ns) < KERNEL_INTERVAL_NS {
            return false;
        }
        self.error_checked_ns = now;
        has_error(self.fd)
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
        self.paths.iter_mut().for_each(|path| path.adopted.end_redirects());
        self.redirects_ended = self.is_adopted();
        self.redirects_ended
    }

    /// Ends the acceleration. Datagrams that have already arrived are kept for the program.
    pub(crate) fn hand_back(&mut self) {
        self.targets = Targets::default();
        if !self.redirects_ended && self.end_redirects() {
            await_redirects();
        }
        self.arrived_before = self.arrivals();
        let dropped = self.dropped();
        self.dropped_before += self.dropped_bypassing();
        let Self { paths, kept, first_path, .. } = self;
        *first_path = 0;
        for Path { adopted, interface, .. } in paths.drain(..) {
            let drops = Drops::of(&adopted, dropped);
            adopted.hand_back(|meta, header, payload| {
                kept.push_back(Kept::new(meta, header, payload, interface, drops));
            });
        }
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
        let Self { counters, arrived_before, dropped_before, .. } = *self;
        let kept = std::mem::take(&mut self.kept);
        *self = Self { kept, counters, arrived_before, dropped_before, ..new };
    }

    /// Applies changed options.
    pub(crate) fn set_state(&mut self, state: SocketState) {
        self.state = state;
        // Other options may select other paths.
        self.targets = Targets::default();
        for path in &mut self.paths {
            // The engine has the socket as long as this value.
            let _ = path.adopted.set_options(&state.options);
        }
    }

    /// Follows the kernel socket into a group. Returns `false` if that is not possible.
    pub(crate) fn join(&mut self, membership: Membership) -> bool {
        let mut paths = self.paths.iter_mut();
        let Some(path) = paths.find(|path| path.interface == membership.interface) else {
            return true;
        };
        let adopted = &mut path.adopted;
        let key = |it: &Membership| (it.group, it.interface);
        let at = self.memberships.iter().position(|known| key(known) == key(&membership));
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

/// Returns `true` if the next call on a descriptor reports an error of its peer or network.
pub(crate) fn has_error(fd: c_int) -> bool {
    let mut entry = libc::pollfd { fd, events: 0, revents: 0 };
    // SAFETY: the entry outlives the call.
    unsafe { real::poll(&raw mut entry, 1, 0) };
    entry.revents & libc::POLLERR != 0
}
