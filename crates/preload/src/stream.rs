//! TCP connections: counted while the kernel has them, then taken over, and handed back.
//!
//! A connection that the program creates by connect(2) or accept(2) is *tracked*: its calls go to
//! the kernel and are counted. After some messages each way, [`Stream`] takes it over when a
//! receive has returned data. The descriptor stays the program's own.
//!
//! A thread marks a descriptor as used before each call of the kernel on it, and then checks that
//! it is not taken over. A takeover marks it as taken over, and then checks that it is not used.
//! One of both finds the other's mark.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::fmt;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use hairpin_stack::{
    AdoptedTcp, FallbackReason, FastGuard, FastMutex, RunCount, SocketProtocol, Stack,
    TakeoverError, TcpTotals,
};

use crate::addresses::{self, option};
use crate::errno::{self, set_errno};
use crate::log::{self, Level};
use crate::settings::settings;
use crate::sleep::Look;
use crate::slots::{self, Acceleration, Slot};
use crate::stream_counters::{Cause, Counter, Unreported, add, count_handback};
use crate::stream_options::StreamState;
use crate::{clock, counters, epoll, guard, process, real, sleep, summary, unseen};

/// The most takeovers of one connection per second.
const TAKEOVERS_MAX: usize = 10;
const SECOND_NS: u64 = 1_000_000_000;
/// The most receives between two attempts, and if the connection was only busy.
const DISTANCE_MAX: u32 = 4_096;
const DISTANCE_BUSY: u32 = 16;
/// The receives that make a takeover worth its cost.
const WORTH: u32 = 64;
/// The receives after a handback of bulk data or trouble until the next attempt.
const DISTANCE_AFTER_TROUBLE: u32 = 64;

/// The bytes of a long round, and the long rounds in a row that make bulk data.
pub(crate) const LONG_ROUND: usize = 48 << 10;
const LONG_ROUNDS: u32 = 8;
/// A round that never ends, in a stream of one direction, counts as one after so many bytes.
const ENDLESS_ROUND: usize = 1 << 20;

/// `true` once the process ends: no connection is taken over any more.
static EXITING: AtomicBool = AtomicBool::new(false);

/// The calls in progress that share descriptors with another process. No connection is taken over
/// meanwhile. A takeover checks this while it holds the connection, and such a call hands back each
/// connection afterwards.
static PAUSES: AtomicU32 = AtomicU32::new(0);

pub(crate) fn pause_takeovers() {
    PAUSES.fetch_add(1, Ordering::SeqCst);
}

pub(crate) fn resume_takeovers() {
    PAUSES.fetch_sub(1, Ordering::SeqCst);
}

/// A forked child has only the thread that forked.
pub(crate) fn forget_pauses() {
    PAUSES.store(0, Ordering::SeqCst);
}

/// A descriptor's calls of the kernel, and its connection.
#[derive(Debug, Default)]
pub(crate) struct Tracking {
    /// The threads in a call of the kernel on the descriptor.
    users: AtomicU32,
    is_bypassing: Acceleration,
    /// The messages through the kernel.
    received: AtomicU32,
    sent: AtomicU32,
    /// The bytes through the kernel since the last attempt.
    bytes: AtomicUsize,
    /// The messages through the kernel, received and sent, at the last attempt.
    attempted: [AtomicU32; 2],
    /// The receives until the next attempt, if the last one found bulk data; otherwise 0.
    bulk_distance: AtomicU32,
    /// The number of received messages at which a takeover is tried.
    attempt_at: AtomicU32,
    stream: FastMutex<Option<Box<Stream>>>,
    /// The cookie of a socket that was left to the kernel for good, and what had bypassed it.
    left: FastMutex<Option<(u64, TcpTotals)>>,
}

/// A connection that was taken over at least once.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) tcp: AdoptedTcp,
    pub(crate) state: StreamState,
    /// A send found no room: the next room is an edge.
    pub(crate) is_blocked: bool,
    /// The last receive has found a wrong pointer.
    pub(crate) found_wrong: bool,
    /// The engine holds back short segments.
    pub(crate) holds: bool,
    /// The kernel's value of `TCP_CORK`.
    is_kernel_corked: bool,
    /// The number of such edges.
    edges: u32,
    /// The bytes of a send in several parts.
    pub(crate) scratch: Vec<u8>,
    local: SocketAddr,
    remote: SocketAddr,
    pub(crate) unreported: Unreported,
    /// The receives between two attempts. It doubles with each takeover that was not worth it.
    distance: u32,
    /// The receives since the takeover.
    received: u32,
    /// The times of the last takeovers.
    takeovers: VecDeque<u64>,
    /// The number of all takeovers.
    taken_over: u32,
    /// The cause of the last handback.
    cause: Option<Cause>,
    rounds: Rounds,
}

/// The bytes of requests and answers. The kernel has segmentation offload: it is faster if they are
/// long.
#[derive(Debug, Default)]
struct Rounds {
    bytes: usize,
    has_sent: bool,
    /// The round began while the connection was taken over.
    is_whole: bool,
    /// The long rounds in a row.
    long: u32,
    /// The receives until the next attempt after the last handback of bulk data; 0 after a round
    /// that was not long.
    distance: u32,
}

impl Rounds {
    /// Counts sent bytes.
    #[inline]
    fn count_sent(&mut self, count: usize) {
        self.has_sent = true;
        self.bytes += count;
    }

    /// Counts received bytes: the first ones after a send begin a round. Returns `true` if the
    /// rounds before were long.
    #[inline]
    fn count_received(&mut self, count: usize) -> bool {
        let is_bulk = (self.has_sent || self.bytes >= ENDLESS_ROUND) && self.end_round();
        self.bytes += count;
        is_bulk
    }

    #[inline]
    fn end_round(&mut self) -> bool {
        self.has_sent = false;
        let is_long = std::mem::take(&mut self.bytes) >= LONG_ROUND;
        if !std::mem::replace(&mut self.is_whole, true) {
            return false;
        }
        self.long = if is_long { self.long + 1 } else { 0 };
        if !is_long {
            self.distance = 0;
        }
        self.long >= LONG_ROUNDS
    }

    /// Returns the receives until the next attempt after a handback of bulk data.
    fn next_distance(&mut self) -> u32 {
        self.distance = next_bulk_distance(self.distance);
        self.distance
    }
}

/// Returns the receives until the next attempt after one that found bulk data.
fn next_bulk_distance(before: u32) -> u32 {
    (before * 2).clamp(DISTANCE_AFTER_TROUBLE, DISTANCE_MAX)
}

/// The readiness of a connection that is taken over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    /// The events, with the values of poll(2) and epoll(7).
    pub(crate) events: i16,
    /// A number that changes with each edge.
    pub(crate) arrivals: u64,
}

impl Tracking {
    pub(crate) fn stream(&self) -> FastGuard<'_, Option<Box<Stream>>> {
        self.stream.lock()
    }

    fn left(&self) -> FastGuard<'_, Option<(u64, TcpTotals)>> {
        self.left.lock()
    }

    /// Returns `true` while the connection is taken over.
    #[inline]
    pub(crate) fn is_bypassing(&self) -> bool {
        self.is_bypassing.get()
    }

    /// Returns the messages received and sent through the kernel.
    pub(crate) fn messages(&self) -> [u32; 2] {
        [&self.received, &self.sent].map(|count| count.load(Ordering::Relaxed))
    }

    /// Returns `true` if a thread is in a call of the kernel on the descriptor.
    pub(crate) fn is_used(&self) -> bool {
        self.users.load(Ordering::SeqCst) != 0
    }

    fn begin(&self) {
        self.received.store(0, Ordering::Relaxed);
        self.sent.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        self.attempted.iter().for_each(|count| count.store(0, Ordering::Relaxed));
        self.bulk_distance.store(0, Ordering::Relaxed);
        self.attempt_at.store(settings().take_after, Ordering::Relaxed);
    }

    /// Sets the receives until the next attempt.
    fn postpone(&self, distance: u32) {
        let received = self.received.load(Ordering::Relaxed);
        self.attempt_at.store(received.saturating_add(distance), Ordering::Relaxed);
    }

    /// Postpones an attempt if the rounds since the last one, all through the kernel, were long.
    /// Returns `true` if so. The caller holds the lock.
    fn postpones_bulk(&self) -> bool {
        let [received, sent] = [(&self.received, 0), (&self.sent, 1)].map(|(count, at)| {
            let now = count.load(Ordering::Relaxed);
            now.wrapping_sub(self.attempted[at].swap(now, Ordering::Relaxed))
        });
        let bytes = self.bytes.swap(0, Ordering::Relaxed);
        let is_bulk = bytes / received.min(sent).max(1) as usize >= LONG_ROUND;
        let before = self.bulk_distance.load(Ordering::Relaxed);
        let distance = if is_bulk { next_bulk_distance(before) } else { 0 };
        self.bulk_distance.store(distance, Ordering::Relaxed);
        if is_bulk {
            self.postpone(distance);
        }
        is_bulk
    }

    /// Marks the descriptor as used while `call` runs, unless `is_kernels` then returns `false`.
    #[inline]
    pub(crate) fn use_kernel<R>(
        &self,
        is_kernels: impl FnOnce() -> bool,
        call: impl FnOnce() -> R,
    ) -> Option<R> {
        self.users.fetch_add(1, Ordering::SeqCst);
        let result = is_kernels().then(call);
        self.users.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// Counts a message that the kernel has sent.
    #[inline]
    pub(crate) fn count_sent(&self, result: isize) {
        if result > 0 {
            self.sent.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(result.unsigned_abs(), Ordering::Relaxed);
            add(Counter::SentKernel, 1);
            add(Counter::SentKernelBytes, result.unsigned_abs() as u64);
        }
    }

    /// Counts a message that the kernel has received, and takes the connection over when it is
    /// time.
    #[inline]
    pub(crate) fn count_received(&self, fd: c_int, slot: &'static Slot, result: isize) {
        if result <= 0 {
            return;
        }
        add(Counter::ReceivedKernel, 1);
        add(Counter::ReceivedKernelBytes, result.unsigned_abs() as u64);
        self.bytes.fetch_add(result.unsigned_abs(), Ordering::Relaxed);
        let received = self.received.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if received >= self.attempt_at.load(Ordering::Relaxed)
            && self.sent.load(Ordering::Relaxed) >= settings().take_after
        {
            errno::keep(|| take_over(fd, slot));
        }
    }
}

/// Calls `call` with all connections marked as used, unless the library must be able to end the
/// wait for a descriptor.
pub(crate) fn wait_in_kernel<R>(
    fds: impl Iterator<Item = c_int> + Clone,
    call: impl FnOnce() -> R,
) -> Option<R> {
    let marked: Vec<_> = fds.clone().filter_map(slots::stream).collect();
    marked.iter().for_each(|slot| {
        slot.stream.users.fetch_add(1, Ordering::SeqCst);
    });
    let is_kernels = !fds.into_iter().any(slots::needs_waking);
    let result = is_kernels.then(call);
    marked.iter().for_each(|slot| {
        slot.stream.users.fetch_sub(1, Ordering::SeqCst);
    });
    result
}

/// Tracks a connection that this process has accepted, or has connected.
pub(crate) fn track(fd: c_int) {
    if !process::is_accelerating() {
        return;
    }
    // A child shares the connection, tracked or taken over.
    process::watch_forks();
    if let Some(slot) = slots::find_or_create(fd)
        && !slot.is_duplicated()
        && slot.set_stream()
    {
        slot.stream.begin();
        if summary::is_on_loopback(fd) {
            // It stays with the kernel, and says nothing of the machine.
            slot.stream.postpone(u32::MAX);
            summary::count(RunCount::Loopback);
        } else {
            summary::count(RunCount::Sockets);
        }
    }
}

/// Tracks a socket whose connect(2) has succeeded or is in progress, if it is one of TCP.
pub(crate) fn connected(fd: c_int) {
    if process::is_accelerating()
        && slots::stream(fd).is_none()
        && let Some(_inside) = guard::enter()
        && is_tcp(fd)
    {
        track(fd);
    }
}

/// Returns `true` if a connection of this process is taken over.
pub(crate) fn is_any_taken_over() -> bool {
    let mut is_any = false;
    slots::for_each(|_, slot| is_any |= slot.is_stream() && slot.stream.is_bypassing());
    is_any
}

fn is_tcp(fd: c_int) -> bool {
    let is = |name, value| option(fd, libc::SOL_SOCKET, name) == Some(value);
    is(libc::SO_TYPE, libc::SOCK_STREAM) && is(libc::SO_PROTOCOL, libc::IPPROTO_TCP)
}

/// Tries to take a connection over after a receive that has returned data.
#[cold]
fn take_over(fd: c_int, slot: &'static Slot) {
    let Some(_inside) = guard::enter() else { return };
    if process::leave_if(unseen::is_found) {
        return;
    }
    let mut place = slot.stream.stream();
    let is_paused = PAUSES.load(Ordering::SeqCst) > 0 || EXITING.load(Ordering::SeqCst);
    let is_kernels = slot.is_stream() && !slot.stream.is_bypassing();
    if is_kernels {
        match sleep::look() {
            Look::Free => {}
            Look::Unknown => return slot.stream.postpone(1),
            Look::Crowded => {
                add(Counter::Busy, 1);
                return slot.stream.postpone(DISTANCE_AFTER_TROUBLE);
            }
        }
    }
    // The interface is not opened only for bulk data, which the filter makes slower.
    if is_kernels && !is_paused && !slot.stream.postpones_bulk() {
        if place.is_none() {
            *place = Stream::new(fd).map(Box::new);
        }
        let keeps = place.as_deref_mut().is_some_and(|stream| stream.take_over(fd, slot));
        if !keeps {
            *place = None;
            slot.set_plain();
        }
    }
}

impl Stream {
    /// Adopts a connection over one of the interfaces.
    fn new(fd: c_int) -> Option<Self> {
        if !is_tcp(fd) {
            return None;
        }
        let (local, remote) = (addresses::local(fd)?, addresses::remote(fd)?);
        let [from, to] = [local, remote].map(|address| address.ip().to_canonical());
        if from.is_loopback() || from == to {
            return None;
        }
        if !settings().accelerates(SocketProtocol::Tcp, local, Some(remote)) {
            summary::count(RunCount::NotNamed);
            return None;
        }
        let is_route = |stack: &&'static Stack| stack.has_address(from) && stack.routes_to(to);
        let Some(stack) = process::open().iter().find(is_route) else {
            summary::count(RunCount::OtherInterface);
            return None;
        };
        // SAFETY: the value is dropped before the descriptor is closed, or discarded if the
        // program has closed the descriptor by a call that is not replaced.
        let descriptor = unsafe { BorrowedFd::borrow_raw(fd) };
        Some(Self {
            tcp: stack.adopt_tcp_descriptor(descriptor, epoll::wake),
            state: StreamState::default(),
            is_blocked: false,
            found_wrong: false,
            holds: false,
            is_kernel_corked: false,
            edges: 0,
            scratch: Vec::new(),
            local,
            remote,
            unreported: Unreported::default(),
            distance: 1,
            received: 0,
            takeovers: VecDeque::with_capacity(TAKEOVERS_MAX),
            taken_over: 0,
            cause: None,
            rounds: Rounds::default(),
        })
    }

    /// Takes the connection over, or postpones the next attempt. Returns `false` if the connection
    /// stays with the kernel for good.
    fn take_over(&mut self, fd: c_int, slot: &Slot) -> bool {
        let now = clock::now_ns();
        let oldest = self.takeovers.front().copied().unwrap_or(0);
        if self.takeovers.len() == TAKEOVERS_MAX && now - oldest < SECOND_NS {
            return self.postpone(slot);
        }
        match StreamState::read(fd) {
            Ok(state) => self.state = state,
            Err(what) => {
                self.report_refusal(&TakeoverError::Feature(what));
                return self.postpone(slot);
            }
        }
        slot.stream.is_bypassing.set(true);
        if slot.stream.is_used() || !epoll::suspend(fd) {
            slot.stream.is_bypassing.set(false);
            add(Counter::Busy, 1);
            return self.try_soon(slot);
        }
        let error = match self.tcp.take_over() {
            Ok(()) => {
                if self.takeovers.len() == TAKEOVERS_MAX {
                    self.takeovers.pop_front();
                }
                if self.takeovers.is_empty() {
                    summary::count(RunCount::Accelerated);
                }
                self.takeovers.push_back(now);
                self.taken_over += 1;
                self.received = 0;
                (self.is_blocked, self.holds) = (false, false);
                self.is_kernel_corked = self.state.corked;
                self.hold(false);
                self.rounds = Rounds { distance: self.rounds.distance, ..Rounds::default() };
                counters::wake();
                add(Counter::TakenOver, 1);
                add(Counter::Bypassing, 1);
                log::line(Level::All, format_args!("{self} is taken over (descriptor {fd})"));
                return true;
            }
            Err(error) => error,
        };
        slot.stream.is_bypassing.set(false);
        epoll::resume(fd);
        match error {
            TakeoverError::Busy => {
                add(Counter::Busy, 1);
                self.try_soon(slot)
            }
            error @ (TakeoverError::Full | TakeoverError::Path(_)) => {
                self.report_refusal(&error);
                self.distance = self.distance.max(DISTANCE_AFTER_TROUBLE);
                self.postpone(slot)
            }
            error => {
                self.report_refusal(&error);
                false
            }
        }
    }

    /// Counts that the connection stays with the kernel, and prints the first of each reason.
    #[cold]
    fn report_refusal(&self, error: &TakeoverError) {
        add(Counter::Refused, 1);
        let level = match error {
            // A connection that is being closed, or whose next hop is asked for, is usual.
            TakeoverError::State | TakeoverError::Path(FallbackReason::NoNeighbor) => Level::All,
            error => {
                summary::count(RunCount::Refused);
                log::level_of_first(&error.to_string())
            }
        };
        match error {
            TakeoverError::Rule(rule) => {
                log::line(level, format_args!("{self} stays with the kernel: {rule}"));
            }
            error => log::line(level, format_args!("{self}: {error}")),
        }
    }

    /// Tries again soon. The number of receives until an attempt after a handback stays.
    fn try_soon(&mut self, slot: &Slot) -> bool {
        let before = self.distance;
        self.distance = before.min(DISTANCE_BUSY / 2);
        self.postpone(slot);
        self.distance = self.distance.max(before);
        true
    }

    /// Doubles the number of receives until the next attempt.
    fn postpone(&mut self, slot: &Slot) -> bool {
        // Odd: a program that reads each message by two receives would otherwise always be found
        // between them.
        self.distance = (self.distance * 2).min(DISTANCE_MAX) | 1;
        slot.stream.postpone(self.distance);
        true
    }

    /// Returns what the connection is ready for; `None` after it was handed back.
    fn ready(&mut self, fd: c_int, slot: &Slot) -> Option<Ready> {
        let polled = self.tcp.poll();
        let status = self.tcp.status().filter(|_| polled.is_ok());
        let Some(status) = status else {
            self.settle(fd, slot, polled.err());
            return None;
        };
        let mut events = 0;
        if status.unread > 0 {
            events |= libc::POLLIN | libc::POLLRDNORM;
        }
        if status.is_writable() {
            events |= libc::POLLOUT | libc::POLLWRNORM;
            self.edges += u32::from(std::mem::take(&mut self.is_blocked));
        }
        let arrivals = u64::from(self.edges) << 32 | u64::from(status.received);
        Some(Ready { events, arrivals })
    }

    /// Follows a handback by the connection itself, or one that an error requires.
    #[cold]
    pub(crate) fn settle(&mut self, fd: c_int, slot: &Slot, error: Option<std::io::Error>) {
        if let Some(error) = error {
            log::line(Level::Fallback, format_args!("{self}: {error}"));
            // The kernel's socket reports the consequence.
            let _ = self.tcp.hand_back();
        }
        let mut cause = Cause::from_reason(self.tcp.handback_reason());
        if cause == Cause::Idle {
            if self.tcp.is_written_beside() {
                cause = Cause::Beside;
            } else if process::is_keeper_lost() {
                cause = Cause::Keeper;
            }
        }
        if cause == Cause::Bulk {
            self.distance = self.rounds.next_distance();
        } else if cause.is_trouble() {
            self.distance = self.distance.max(DISTANCE_AFTER_TROUBLE);
        }
        self.finish(fd, slot, cause);
    }

    /// Holds back short segments of the next sends if more bytes follow, or with `TCP_CORK`.
    #[inline]
    pub(crate) fn hold(&mut self, more_follows: bool) {
        let holds = more_follows || self.state.corked;
        if holds != self.holds {
            self.holds = holds;
            self.tcp.set_corked(holds);
        }
    }

    /// Counts sent bytes.
    #[inline]
    pub(crate) fn count_sent(&mut self, count: usize) {
        self.rounds.count_sent(count);
    }

    /// Counts received bytes, and hands the connection back if the program exchanges bulk data or
    /// the cores are crowded. Returns `true` if so.
    #[inline]
    pub(crate) fn count_received(&mut self, fd: c_int, slot: &Slot, count: usize) -> bool {
        if count > 0 {
            self.received += 1;
            if self.received == WORTH {
                self.distance = 1;
            }
        }
        let is_bulk = count > 0 && self.rounds.count_received(count);
        (is_bulk || count > 0 && !sleep::are_cores_free()) && self.leave(fd, slot, is_bulk)
    }

    #[cold]
    fn leave(&mut self, fd: c_int, slot: &Slot, is_bulk: bool) -> bool {
        if is_bulk {
            self.distance = self.rounds.next_distance();
        }
        self.hand_back(fd, slot, if is_bulk { Cause::Bulk } else { Cause::Crowded });
        !self.tcp.is_bypassing()
    }

    fn hand_back(&mut self, fd: c_int, slot: &Slot, cause: Cause) {
        if let Err(error) = self.tcp.hand_back() {
            log::line(Level::Fallback, format_args!("{self}: cannot hand back: {error}"));
            if self.tcp.is_bypassing() {
                // Without a route the connection continues, as one of the kernel does.
                return;
            }
        }
        self.finish(fd, slot, cause);
    }

    fn finish(&mut self, fd: c_int, slot: &Slot, cause: Cause) {
        if !slot.stream.is_bypassing.set(false) {
            return;
        }
        epoll::resume(fd);
        if self.state.corked != self.is_kernel_corked {
            set_kernel_corked(fd, self.state.corked);
        }
        if cause == Cause::Beside {
            // The library would miss the next ones too.
            slot.stream.postpone(u32::MAX);
        } else {
            self.postpone(slot);
        }
        self.unreported.report();
        self.cause = Some(cause);
        count_handback(cause, &*self);
        sleep::wake_all();
    }

    /// Returns the takeovers and handbacks, the cause of the last handback, and the bytes that the
    /// program has not read and the peer has not acknowledged.
    pub(crate) fn transitions(&self) -> ([u32; 2], &'static str, [usize; 2]) {
        let is_bypassing = self.tcp.is_bypassing();
        let counts = [self.taken_over, self.taken_over - u32::from(is_bypassing)];
        let status = self.tcp.status().filter(|_| is_bypassing);
        let queued = status.map_or([0; 2], |status| [status.unread, status.unacknowledged]);
        (counts, self.cause.map_or("", Cause::name), queued)
    }
}

/// Formats the addresses.
impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.local, self.remote)
    }
}

/// Polls a connection that is taken over, and returns what it is ready for.
///
/// The caller is inside the library.
pub(crate) fn ready(fd: c_int, slot: &Slot) -> Option<Ready> {
    if !slot.stream.is_bypassing() {
        return None;
    }
    slot.stream.stream().as_deref_mut()?.ready(fd, slot)
}

/// Hands a connection back, before a wait, if the program has written to it by calls that the
/// library does not see. Returns `true` if so.
#[cold]
pub(crate) fn follow_beside(fd: c_int, slot: &Slot) -> bool {
    let Some(_inside) = guard::enter() else { return false };
    let mut place = slot.stream.stream();
    let Some(stream) = place.as_deref_mut().filter(|it| it.tcp.is_bypassing()) else {
        return false;
    };
    let followed = stream.tcp.follow_beside();
    let is_kernels = !stream.tcp.is_bypassing();
    if is_kernels || followed.is_err() {
        stream.settle(fd, slot, followed.err());
    }
    is_kernels
}

/// Sets `TCP_CORK` of a connection that is taken over. Returns `false` if it is the kernel's.
///
/// The caller is inside the library.
pub(crate) fn set_corked(fd: c_int, is_corked: bool) -> bool {
    let Some(slot) = slots::stream(fd).filter(|slot| slot.stream.is_bypassing()) else {
        return false;
    };
    let mut place = slot.stream.stream();
    let Some(stream) = place.as_deref_mut().filter(|it| it.tcp.is_bypassing()) else {
        return false;
    };
    stream.state.corked = is_corked;
    stream.hold(false);
    if !is_corked {
        // Sends what waits.
        let sent = stream.tcp.send(&[]);
        if !stream.tcp.is_bypassing() || sent.is_err() {
            stream.settle(fd, slot, sent.err());
        }
    }
    true
}

fn set_kernel_corked(fd: c_int, is_corked: bool) {
    let value = c_int::from(is_corked);
    let (value, length) = ((&raw const value).cast(), size_of::<c_int>() as u32);
    // SAFETY: the kernel reads an integer that outlives the call.
    unsafe { real::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_CORK, value, length) };
}

/// Hands a connection back, if it is taken over. It may be taken over again.
///
/// The caller is inside the library.
pub(crate) fn hand_back(fd: c_int, cause: Cause) {
    let Some(slot) = slots::stream(fd).filter(|slot| slot.stream.is_bypassing()) else { return };
    if let Some(stream) = slot.stream.stream().as_deref_mut() {
        stream.hand_back(fd, slot, cause);
    }
}

/// Hands a connection back, and leaves it to the kernel for good.
///
/// The caller is inside the library.
pub(crate) fn give_up(fd: c_int, cause: Cause) {
    let Some(slot) = slots::stream(fd) else { return };
    let mut place = slot.stream.stream();
    if let Some(stream) = place.as_deref_mut()
        && slot.stream.is_bypassing()
    {
        stream.hand_back(fd, slot, cause);
        stream.finish(fd, slot, cause);
    }
    if let Some(stream) = place.take()
        && !matches!(cause, Cause::Close | Cause::Exit)
    {
        *slot.stream.left() = Some((process::cookie(fd), stream.tcp.totals()));
    }
    slot.set_plain();
}

/// Records what had bypassed a socket for another descriptor of it.
pub(crate) fn copy_left(from: c_int, to: c_int) {
    if let (Some(from), Some(to)) = (slots::find(from), slots::find(to)) {
        let left = *from.stream.left();
        *to.stream.left() = left;
    }
}

/// Completes a `struct tcp_info` of the kernel, of which `info` may be only the start, with what
/// has bypassed the kernel.
///
/// The caller is inside the library.
pub(crate) fn complete_info(fd: c_int, info: &mut [u8]) {
    let Some(slot) = slots::find(fd) else { return };
    if let Some(stream) = slot.stream.stream().as_deref().filter(|_| slot.is_stream()) {
        return stream.tcp.complete_info(info);
    }
    let Some((cookie, totals)) = *slot.stream.left() else { return };
    // The number may be another socket's by now.
    if process::cookie(fd) == cookie {
        totals.add_to(info);
    }
}

/// Hands all connections back, and leaves them to the kernel for good.
///
/// The caller is inside the library.
pub(crate) fn give_up_all(cause: Cause) {
    slots::for_each(|fd, slot| {
        if slot.is_stream() {
            give_up(fd, cause);
        }
    });
}

/// Forgets a connection whose descriptor now belongs to another file: the program has closed it by
/// a call that is not replaced.
pub(crate) fn discard(fd: c_int) {
    let Some(slot) = slots::stream(fd) else { return };
    let stream = slot.stream.stream().take();
    slot.set_plain();
    if let Some(stream) = stream {
        if slot.stream.is_bypassing.set(false) {
            count_handback(Cause::Closed, &stream);
        }
        stream.tcp.discard();
    }
}

/// Hands a connection back before a call that only the kernel can do. Returns `true` if the call
/// must fail with the `errno` that was set: the run is strict, or there is no route.
pub(crate) fn leave(fd: c_int, cause: Cause, what: &str) -> bool {
    let is_bypassing = slots::stream(fd).is_some_and(|slot| slot.stream.is_bypassing());
    let Some(_inside) = guard::enter().filter(|_| is_bypassing) else { return false };
    if settings().strict {
        log::line(Level::Fallback, format_args!("strict: {what} is not supported"));
        set_errno(libc::EOPNOTSUPP);
        return true;
    }
    hand_back(fd, cause);
    let is_unroutable = slots::stream(fd).is_some_and(|slot| slot.stream.is_bypassing());
    if is_unroutable {
        set_errno(libc::ENETUNREACH);
    }
    is_unroutable
}

/// Registers the handler that hands all connections back when the process exits.
pub(crate) fn watch_exit() {
    extern "C" fn on_exit() {
        // A child of vfork(2) must not call exit(3), but may.
        if !guard::is_lent() {
            exit(Cause::Exit);
        }
    }
    // SAFETY: the function exists as long as the process.
    unsafe { libc::atexit(on_exit) };
}

/// Hands all connections back, and takes none over any more: the process ends.
pub(crate) fn exit(cause: Cause) {
    if guard::is_lent() {
        // A child of vfork(2) ends: the memory is its parent's, which continues.
        return;
    }
    EXITING.store(true, Ordering::SeqCst);
    if let Some(_inside) = guard::enter() {
        give_up_all(cause);
        process::leave_keeper();
    }
    summary::print();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exchanges messages of these lengths. Returns the number of rounds until they are bulk data.
    fn rounds(state: &mut Rounds, sent: usize, received: usize) -> Option<u32> {
        (0..100).find(|_| {
            state.count_sent(sent);
            let parts = [received / 2, received - received / 2];
            parts.into_iter().any(|part| state.count_received(part))
        })
    }

    #[test]
    fn long_rounds_are_bulk_data_with_either_direction_long() {
        assert_eq!(rounds(&mut Rounds::default(), 100, 1_000), None);
        for lengths in [[100, LONG_ROUND], [LONG_ROUND, 100]] {
            let [sent, received] = lengths;
            assert_eq!(rounds(&mut Rounds::default(), sent, received), Some(LONG_ROUNDS));
        }
    }

    #[test]
    fn stream_of_one_direction_is_bulk_data() {
        let mut state = Rounds::default();
        let receives = (0..10_000).find(|_| state.count_received(8_192)).unwrap();
        assert_eq!(receives * 8_192, (LONG_ROUNDS as usize + 1) * ENDLESS_ROUND);
    }

    #[test]
    fn long_rounds_through_the_kernel_postpone_an_attempt() {
        let tracking = Tracking::default();
        let mut postponed_by = |answer: usize| {
            tracking.received.fetch_add(4, Ordering::Relaxed);
            tracking.sent.fetch_add(16, Ordering::Relaxed);
            tracking.bytes.fetch_add(4 * (100 + answer), Ordering::Relaxed);
            let received = tracking.received.load(Ordering::Relaxed);
            tracking
                .postpones_bulk()
                .then(|| tracking.attempt_at.load(Ordering::Relaxed) - received)
        };
        assert_eq!(postponed_by(1_000), None);
        assert_eq!([100_000; 8].map(&mut postponed_by).map(Option::unwrap)[..3], [64, 128, 256]);
        assert_eq!(postponed_by(100_000), Some(DISTANCE_MAX));
        assert_eq!(postponed_by(1_000), None);
        assert_eq!(postponed_by(LONG_ROUND), Some(DISTANCE_AFTER_TROUBLE));
    }

    #[test]
    fn distance_doubles_while_rounds_are_long() {
        let mut distance = 0;
        let mut next = |received| {
            let mut state = Rounds { distance, ..Rounds::default() };
            rounds(&mut state, 100, received);
            distance = state.next_distance();
            distance
        };
        assert_eq!([100_000; 3].map(&mut next), [64, 128, 256]);
        assert_eq!(next(100), 64);
    }
}
