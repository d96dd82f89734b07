//! Waiting: busy-polling for the profile's budget, then sleeping in the kernel.
//!
//! There is one way to sleep: ppoll(2) on the kernel's descriptors of the call and on an event of
//! the thread. One of the sleeping threads, the *watcher*, also polls the rings of each stack. So a
//! frame wakes one thread, which takes it off the ring and signals the events of the threads that
//! wait for its socket. A watcher whose call returns passes the watch on to another sleeper.
//! While threads busy-poll on all cores of the program, they do the watcher's work.

use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};
use std::time::Duration;

use hairpin_stack::RunCount;
use libc::{pollfd, sigset_t, timespec};

use crate::clock::now_ns;
use crate::errno::{self, errno};
use crate::guard::{self, Signals};
use crate::log::{self, Level};
use crate::options;
use crate::settings::settings;
use crate::{epoll, process, real, slots, stream, summary};

/// The most threads that sleep at the same time with an event; more poll once per millisecond.
const SLEEPERS: usize = 4_096;
/// The longest sleep of a thread without an event.
const NO_EVENT_NS: u64 = 1_000_000;
/// The interval at which a watcher checks that all cores of the program still busy-poll.
const WATCH_NS: u64 = 250_000;

/// A turn of busy-polling on a core of its own is shorter.
const TURN_NS: u64 = 50_000;
/// The time for which a thread that has lost its core lets others run between its turns, or does
/// not busy-poll at all.
const SHARED_NS: u64 = 50_000_000;
/// The shortest loss after which it does not busy-poll at all: the time slice of another thread
/// that computes is about 4 ms. What the kernel and short wakeups of others take is less, and a
/// thread that slept for that would lose more.
const LOSS_NS: u64 = 1_000_000;
/// The shortest time over which a thread's waits for a core are measured.
const LOOK_NS: u64 = 50_000_000;
/// The longest such time of a thread that loses its core again when it busy-polls again.
const SHARED_MAX_NS: u64 = 2_000_000_000;
/// The length of such a time from which on the cores are crowded: the second loss in a row.
const CROWD_NS: u64 = 2 * SHARED_NS;
/// The shortest and the longest time for which crowded cores leave connections to the kernel.
const CROWDED_NS: u64 = 2_000_000_000;
const CROWDED_MAX_NS: u64 = 32_000_000_000;
/// The first such time of a program that begins on a full machine. It doubles, up to the shortest
/// one above, while the machine stays full.
const FULL_NS: u64 = 500_000_000;

/// What a sleeping thread is woken by.
struct Place {
    /// The event of a thread; of a free place `-2 - fd`, or `EMPTY`.
    event: AtomicI32,
    /// A bit per descriptor that the thread waits for, modulo 64.
    interest: AtomicU64,
    /// `true` while the event is readable, or is being made so.
    signaled: AtomicBool,
    /// `true` until a thread that leaves the library makes the event readable.
    is_due: AtomicBool,
}

const EMPTY: i32 = -1;
static PLACES: [Place; SLEEPERS] = [const {
    Place {
        event: AtomicI32::new(EMPTY),
        interest: AtomicU64::new(0),
        signaled: AtomicBool::new(false),
        is_due: AtomicBool::new(false),
    }
}; SLEEPERS];
/// The number of places that were ever used.
static USED: AtomicU32 = AtomicU32::new(0);
/// The number of threads with a place.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The place of the thread that watches the rings, or `NONE`.
static WATCHER: AtomicU32 = AtomicU32::new(NONE);
const NONE: u32 = u32::MAX;

thread_local! {
    /// The thread's place, from its first sleep to the end of the call. If a handler of the program
    /// leaves the call by longjmp(3), the thread's next wait continues with it.
    static OWN: Cell<u32> = const { Cell::new(NONE) };
    /// `true` while the thread is one of `POLLERS`.
    static POLLS: Cell<bool> = const { Cell::new(false) };
    /// `true` after the thread has woken another one.
    static HAS_WOKEN: Cell<bool> = const { Cell::new(false) };
    /// The time of the last turn of busy-polling; 0 after a sleep.
    static TURNED: Cell<u64> = const { Cell::new(0) };
    /// Until this time the thread shares its core with another one.
    static SHARES_UNTIL: Cell<u64> = const { Cell::new(0) };
    /// Until this time it does not busy-poll.
    static SPARES_UNTIL: Cell<u64> = const { Cell::new(0) };
    /// The length of that time.
    static SHARED_FOR: Cell<u64> = const { Cell::new(SHARED_NS) };
    /// When the thread has last read how long it has run and waited for a core, 0 before, these
    /// times, and whether it had waited for long.
    static LOOKED: Cell<(u64, [u64; 2], bool)> = const { Cell::new((0, [0; 2], false)) };
    /// The preemptions of the thread so far.
    static PREEMPTIONS: Cell<i64> = const { Cell::new(0) };
}

/// `true` from the begin of a time with crowded cores until [`are_cores_free`] finds its end.
static IS_CROWDED: AtomicBool = AtomicBool::new(false);
/// The end of the last such time, and its length.
static CROWDED_UNTIL: AtomicU64 = AtomicU64::new(0);
static CROWDED_FOR: AtomicU64 = AtomicU64::new(0);
/// The time of the first look at the machine if it has to be repeated, `NOT_LOOKED` before, and
/// `HAS_LOOKED` after it.
static FIRST_LOOK: AtomicU64 = AtomicU64::new(NOT_LOOKED);
const NOT_LOOKED: u64 = 0;
const HAS_LOOKED: u64 = u64::MAX;

/// The number of threads that busy-poll.
static POLLERS: AtomicU32 = AtomicU32::new(0);

/// Makes the calling thread one that busy-polls, unless as many do as the program has cores: they
/// would take the cores from the threads that have something to do. Returns `true` if it is one.
fn begin_polling() -> bool {
    if !POLLS.get() {
        let cores = settings().cores;
        let next = |count| (count < cores).then_some(count + 1);
        POLLS.set(POLLERS.fetch_update(SeqCst, SeqCst, next).is_ok());
    }
    POLLS.get()
}

/// Returns `true` if another thread has preempted the calling thread since the last call. A
/// hypervisor that takes the core does not count.
#[cold]
fn was_preempted() -> bool {
    // SAFETY: the kernel writes the structure, for which zero is valid.
    let count = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage.ru_nivcsw
    };
    PREEMPTIONS.replace(count) != count
}

/// Returns `true` if as many threads busy-poll as the program has cores.
fn are_cores_busy() -> bool {
    POLLERS.load(SeqCst) >= settings().cores
}

/// Pauses between two turns of busy-polling. Lets other threads run if the calling thread has woken
/// one while all cores of the program busy-poll, and for some time after another thread, perhaps of
/// another process, has had the core for long.
fn give_way(now: u64) {
    find_loss(now, TURN_NS);
    TURNED.set(now);
    if HAS_WOKEN.replace(false) && are_cores_busy() || now < SHARES_UNTIL.get() {
        // SAFETY: the call has no arguments.
        unsafe { libc::sched_yield() };
    } else {
        std::hint::spin_loop();
    }
}

/// Finds a loss of the core of at least this time since the last turn, perhaps of an earlier wait:
/// what the thread has waited for has often arrived meanwhile.
fn find_loss(now: u64, least: u64) {
    let turned = TURNED.get();
    let loss = if turned == 0 { 0 } else { now.saturating_sub(turned) };
    if loss > least && was_preempted() {
        SHARES_UNTIL.set(now + SHARED_NS);
        if settings().spares_cores && loss >= LOSS_NS {
            spare_core(now);
        }
    }
}

/// Begins the time in which the calling thread does not busy-poll: twice as long as the last time
/// if that has ended only now. A first loss may be the scheduler's: it counts if the thread has
/// waited for a core for long.
#[cold]
fn spare_core(now: u64) {
    let last_end = SPARES_UNTIL.get();
    let is_first = now > last_end + 2 * SHARED_FOR.get();
    if is_first && !has_waited_for_core(now).unwrap_or(true) {
        return;
    }
    let length = if is_first {
        SHARED_NS
    } else if now >= last_end {
        (2 * SHARED_FOR.get()).min(SHARED_MAX_NS)
    } else {
        SHARED_FOR.get()
    };
    SHARED_FOR.set(length);
    SPARES_UNTIL.set(now + length);
    let (until, before) = (CROWDED_UNTIL.load(SeqCst), CROWDED_FOR.load(SeqCst));
    let is_again = now < until + before;
    // Right after a crowd one loss shows that it is still there.
    let is_crowd = length >= CROWD_NS || is_again && now < until + CROWDED_NS;
    if is_crowd && !settings().strict && !IS_CROWDED.swap(true, SeqCst) {
        let again = (2 * before).clamp(CROWDED_NS, CROWDED_MAX_NS);
        let length = if is_again { again } else { CROWDED_NS };
        begin_crowd(now, length);
        // Later times are longer: the first one is printed.
        let level = if before == 0 { Level::Fallback } else { Level::All };
        let seconds = length / 1_000_000_000;
        let text = "other programs use the cores: TCP connections stay with the kernel for at \
                    least";
        log::line(level, format_args!("{text} {seconds} s (profile auto)"));
    }
}

/// Returns `true` if threads that busy-poll lose their cores to others again and again. A sleep and
/// a wakeup of the kernel's sockets then cost less than those of this library.
#[inline]
pub(crate) fn are_cores_crowded() -> bool {
    IS_CROWDED.load(Relaxed)
}

/// Returns `true` if busy-polling is worth a new attempt, as far as is known.
#[inline]
pub(crate) fn are_cores_free() -> bool {
    !are_cores_crowded() || ends_crowd()
}

/// What a check of the machine finds, before a connection is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Busy-polling is worth an attempt.
    Free,
    /// All processors are in use, and how long this thread waits for one is not known yet.
    Unknown,
    Crowded,
}

/// Looks at the machine: where more threads run than there are processors, or where this thread
/// waits for a core, no loss has to show it. A loss costs more than the kernel's sockets do.
pub(crate) fn look() -> Look {
    if !are_cores_free() {
        return Look::Crowded;
    }
    if !settings().spares_cores || settings().strict {
        return Look::Free;
    }
    let now = now_ns();
    let is_full = match FIRST_LOOK.load(SeqCst) {
        HAS_LOOKED => false,
        NOT_LOOKED => {
            let beyond = running_beyond_processors().unwrap_or(-1);
            // The thread's waits are measured from here on.
            let is_unknown = beyond == 0 && has_waited_for_core(now) == Some(false);
            FIRST_LOOK.store(if is_unknown { now } else { HAS_LOOKED }, SeqCst);
            if is_unknown {
                return Look::Unknown;
            }
            // One moment decides only before the first connection.
            beyond > 0
        }
        began if now.saturating_sub(began) < LOOK_NS => return Look::Unknown,
        _ => {
            FIRST_LOOK.store(HAS_LOOKED, SeqCst);
            false
        }
    };
    let begins = is_full || waits_for_core(now);
    // Where others are taken over, one thread decides for its connection only: their threads find
    // their own losses.
    if begins && !are_cores_crowded() && !stream::is_any_taken_over() {
        let (until, before) = (CROWDED_UNTIL.load(SeqCst), CROWDED_FOR.load(SeqCst));
        // The first time is printed.
        let level = if before == 0 { Level::Fallback } else { Level::All };
        if level == Level::Fallback {
            summary::count(RunCount::Refused);
        }
        let is_again = now < until + before;
        let again = (2 * before).clamp(FULL_NS, CROWDED_MAX_NS);
        begin_crowd(now, if is_again { again } else { FULL_NS });
        let text = "no processor is free: TCP connections stay with the kernel until one is \
                    (profile auto)";
        log::line(level, format_args!("{text}"));
    } else if begins {
        let text = "a connection stays with the kernel until a processor is free for its thread \
                    (profile auto)";
        log::line(log::level_of_first(text), format_args!("{text}"));
    }
    if begins { Look::Crowded } else { Look::Free }
}

fn begin_crowd(now: u64, length: u64) {
    CROWDED_FOR.store(length, SeqCst);
    CROWDED_UNTIL.store(now + length, SeqCst);
    IS_CROWDED.store(true, SeqCst);
}

#[cold]
fn ends_crowd() -> bool {
    let now = now_ns();
    let until = CROWDED_UNTIL.load(SeqCst);
    if now < until {
        return false;
    }
    if is_crowded_now(now) {
        let length = CROWDED_FOR.load(SeqCst);
        begin_crowd(now, length.max((2 * length).min(CROWDED_NS)));
        return false;
    }
    // Another thread may have found the opposite meanwhile.
    let ends = CROWDED_UNTIL.load(SeqCst) == until;
    if ends {
        IS_CROWDED.store(false, SeqCst);
    }
    ends
}

/// Returns `true` if the machine is full at this moment, or if the calling thread has waited for a
/// core lately: other threads may sleep at this moment only because they wait for this one.
fn is_crowded_now(now: u64) -> bool {
    waits_for_core(now) || is_machine_full()
}

/// Returns `true` if the calling thread has waited for a core, and no processor is free at this
/// moment. Before Linux 6.0 a wait also counts the time in which an idle processor wakes up.
fn waits_for_core(now: u64) -> bool {
    has_waited_for_core(now).unwrap_or(false) && running_beyond_processors() >= Some(0)
}

/// Returns `true` if more threads run, or wait for a processor, than are online.
fn is_machine_full() -> bool {
    running_beyond_processors() > Some(0)
}

/// Returns the number of threads that run, or wait for a processor, less that of the processors:
/// the fourth field of `/proc/loadavg` begins with the former. `None` if it cannot be read.
fn running_beyond_processors() -> Option<i64> {
    static ONLINE: AtomicU32 = AtomicU32::new(0);
    if ONLINE.load(Relaxed) == 0 {
        // SAFETY: the call takes an integer.
        let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        ONLINE.store(online.try_into().unwrap_or(u32::MAX), Relaxed);
    }
    let [count] = read_numbers(c"/proc/loadavg", 3)?;
    Some(i64::try_from(count).ok()? - i64::from(ONLINE.load(Relaxed)))
}

/// Returns `true` if the calling thread, when it did not sleep, has waited for a core for more than
/// a fifth of the time since it last looked, which is [`LOOK_NS`] at least. Where there is a
/// processor for each thread, two of them share one only until the scheduler moves one. `None` if
/// the kernel does not count the time: the second field of `schedstat`, in ns.
fn has_waited_for_core(now: u64) -> Option<bool> {
    let (looked, before, found) = LOOKED.get();
    if looked != 0 && now.saturating_sub(looked) < LOOK_NS {
        return Some(found);
    }
    let times = read_numbers(c"/proc/thread-self/schedstat", 0)?;
    if times[0] == 0 {
        return None;
    }
    let [ran, waited]: [u64; 2] = std::array::from_fn(|at| times[at].saturating_sub(before[at]));
    let found = waited > LOSS_NS && waited > (ran + waited) / 5;
    LOOKED.set((now, times, found));
    Some(found)
}

/// Returns the numbers at the starts of the fields from `first` on of a file with one line; `None`
/// if they cannot be read, or after the process has installed a filter of system calls.
fn read_numbers<const N: usize>(path: &CStr, first: usize) -> Option<[u64; N]> {
    if !process::is_accelerating() {
        return None;
    }
    let _inside = guard::enter();
    let mut text = [0_u8; 128];
    // SAFETY: the path ends with zero; the kernel writes at most as many bytes as the array has.
    let length = errno::keep(|| unsafe {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let fd = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags);
        let Ok(fd @ 0..) = c_int::try_from(fd) else { return 0 };
        let length = real::read(fd, text.as_mut_ptr().cast(), text.len());
        real::close(fd);
        length
    });
    numbers(text.get(..usize::try_from(length).ok()?)?, first)
}

/// Reads the numbers at the starts of the fields from `first` on.
fn numbers<const N: usize>(text: &[u8], first: usize) -> Option<[u64; N]> {
    let mut fields = text.split(|byte| *byte == b' ').skip(first);
    let mut numbers = [0; N];
    for number in &mut numbers {
        let digits = fields.next()?.split(|byte| !byte.is_ascii_digit()).next()?;
        *number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    }
    Some(numbers)
}

/// Returns the time for which a wait that begins now busy-polls.
fn spin_ns(now: u64) -> u64 {
    find_loss(now, LOSS_NS);
    TURNED.set(now);
    let is_spared = now < SPARES_UNTIL.get();
    if !is_spared && begin_polling() { settings().spin_ns } else { 0 }
}

/// Returns `true` if the thread was one that busy-polls.
fn end_polling() -> bool {
    let polled = POLLS.replace(false);
    if polled {
        POLLERS.fetch_sub(1, SeqCst);
    }
    polled
}

/// Returns the bit of a descriptor.
pub(crate) fn interest(fd: c_int) -> u64 {
    1 << (fd.cast_unsigned() % 64)
}

/// Wakes the other threads that wait for a descriptor. Async-signal-safe.
///
/// Stacks call it under the lock of a data plane, so a sleeper that checked before has already
/// registered. The calling thread checks its own sockets after it has polled the rings.
pub(crate) fn wake(fd: c_int) {
    if COUNT.load(SeqCst) > 0 {
        let (own, bit) = (OWN.get(), interest(fd));
        signal(|at, place| at != own && place.interest.load(SeqCst) & bit != 0);
    }
}

/// Returns `true` if a thread sleeps or is about to.
pub(crate) fn has_sleepers() -> bool {
    COUNT.load(SeqCst) > 0
}

/// Wakes all sleepers. Async-signal-safe.
pub(crate) fn wake_all() {
    if COUNT.load(SeqCst) > 0 {
        signal(|_, _| true);
    }
}

fn signal(selects: impl Fn(u32, &Place) -> bool) {
    for (at, place) in (0..USED.load(SeqCst)).zip(&PLACES) {
        let fd = place.event.load(SeqCst);
        if fd >= 0 && selects(at, place) {
            place.signal(fd);
        }
    }
}

impl Place {
    /// Wakes the thread now, or when the calling thread leaves the library: the woken thread may
    /// need a lock that the calling thread holds, and its core.
    fn signal(&self, fd: c_int) {
        if !self.signaled.swap(true, SeqCst) {
            self.is_due.store(true, SeqCst);
            if !guard::wake_later() {
                self.signal_due(fd);
            }
        }
    }

    fn signal_due(&self, fd: c_int) {
        if self.is_due.swap(false, SeqCst) {
            HAS_WOKEN.set(true);
            let one = 1_u64;
            let (from, length) = (&raw const one, size_of::<u64>());
            // SAFETY: the kernel reads eight bytes of a local variable. The call is
            // async-signal-safe.
            unsafe { libc::syscall(libc::SYS_write, fd, from, length) };
        }
    }

    /// Clears the event. The thread checks its sockets afterwards.
    fn clear(&self, fd: c_int) {
        let mut count = 0_u64;
        // SAFETY: the kernel writes eight bytes to a local variable.
        unsafe { real::read(fd, (&raw mut count).cast(), size_of::<u64>()) };
        self.signaled.store(false, SeqCst);
    }
}

/// Wakes the threads that were to be woken when the calling thread leaves the library.
#[cold]
pub(crate) fn signal_due() {
    for place in PLACES.iter().take(USED.load(SeqCst) as usize) {
        let fd = place.event.load(SeqCst);
        // The thread may have given its place back: another one may wake without a reason.
        place.signal_due(if fd < EMPTY { -2 - fd } else { fd });
    }
}

/// Forgets all events, in a forked child: its copies are inert there.
pub(crate) fn forget_all() {
    for place in &PLACES {
        place.event.store(EMPTY, SeqCst);
        place.signaled.store(false, SeqCst);
        place.is_due.store(false, SeqCst);
    }
    COUNT.store(0, SeqCst);
    WATCHER.store(NONE, SeqCst);
    OWN.set(NONE);
    POLLERS.store(0, SeqCst);
    POLLS.set(false);
    LOOKED.set((0, [0; 2], false));
}

/// Returns `true` if the descriptor is an event of this module.
pub(crate) fn is_event(fd: c_int) -> bool {
    PLACES.iter().take(USED.load(SeqCst) as usize).any(|place| {
        let at = place.event.load(SeqCst);
        at == fd || at == -2 - fd
    })
}

/// Gives the calling thread a place, unless it has one. Returns its number, or `None` if all are
/// taken.
fn register() -> Option<u32> {
    if OWN.get() != NONE {
        return Some(OWN.get());
    }
    let at = take_place()?;
    COUNT.fetch_add(1, SeqCst);
    OWN.set(at);
    Some(at)
}

fn take_place() -> Option<u32> {
    for (at, Place { event, .. }) in (0..).zip(&PLACES) {
        let found = event.load(SeqCst);
        if found < EMPTY && event.compare_exchange(found, -2 - found, SeqCst, SeqCst).is_ok() {
            return Some(at);
        }
    }
    for (at, Place { event, .. }) in (0..).zip(&PLACES) {
        if event.load(SeqCst) == EMPTY {
            // SAFETY: the call takes integers.
            let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
            if fd < 0 {
                return None;
            }
            // Before the event is there: it is the library's from then on.
            USED.fetch_max(at + 1, SeqCst);
            if event.compare_exchange(EMPTY, fd, SeqCst, SeqCst).is_ok() {
                return Some(at);
            }
            // SAFETY: the descriptor was created above and not published.
            unsafe { real::close(fd) };
        }
    }
    None
}

/// Releases the place of the calling thread, and passes the watch on.
fn deregister() {
    let at = OWN.replace(NONE);
    let Some(place) = PLACES.get(at as usize) else { return };
    let fd = place.event.load(SeqCst);
    if place.signaled.load(SeqCst) {
        place.clear(fd);
    }
    place.event.store(-2 - fd, SeqCst);
    COUNT.fetch_sub(1, SeqCst);
    if WATCHER.load(SeqCst) == at {
        pass_on(at);
    }
}

/// Makes the calling thread the watcher if no thread is. Returns `true` if it is the watcher.
fn watches(at: u32) -> bool {
    WATCHER.compare_exchange(NONE, at, SeqCst, SeqCst).map_or_else(|it| it == at, |_| true)
}

/// Passes the watch on to the next thread with a place, which it wakes.
fn pass_on(mut from: u32) {
    loop {
        let next = next_after(from);
        if WATCHER.compare_exchange(from, next, SeqCst, SeqCst).is_err() {
            return;
        }
        match PLACES.get(next as usize) {
            Some(place) => {
                let fd = place.event.load(SeqCst);
                if fd >= 0 {
                    place.signal(fd);
                }
                // Otherwise the thread has left, and did not know that it is the watcher.
                if place.event.load(SeqCst) >= 0 {
                    return;
                }
            }
            // A thread that has registered meanwhile may have found a watcher.
            None if next_after(NONE) == NONE => return,
            None => {}
        }
        from = next;
    }
}

/// Returns the next place with a thread, after this one, or `NONE`.
fn next_after(from: u32) -> u32 {
    let used = USED.load(SeqCst);
    let begin = if from == NONE { 0 } else { from + 1 };
    let has_thread = |at: &u32| *at != from && PLACES[*at as usize].event.load(SeqCst) >= 0;
    (begin..used).chain(0..begin.min(used)).find(has_thread).unwrap_or(NONE)
}

/// Replaces a watcher that has left frames on the rings: its call may have ended by longjmp(3) or
/// with its thread, or a handler of the program is running in it.
pub(crate) fn replace_watcher() {
    let watcher = WATCHER.load(SeqCst);
    if watcher != NONE && next_after(watcher) != NONE {
        pass_on(watcher);
    }
}

unsafe extern "C-unwind" {
    /// Ends the thread if it is canceled.
    fn pthread_testcancel();
}

/// The outcome of one turn of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Check again.
    Again,
    TimedOut,
    /// A signal handler has run.
    Interrupted,
}

/// The signals that end a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndsOn {
    /// Every handler: poll(2), select(2), epoll_wait(2).
    AnySignal,
    /// Handlers without `SA_RESTART`: receives.
    Interrupts,
    /// Every handler, even with `SA_RESTART`: receives with a timeout (signal(7)).
    TimedReceive,
}

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Wait {
    spin_until_ns: u64,
    deadline_ns: Option<u64>,
    signals: Signals,
    ends_on: EndsOn,
    /// `true` if the thread may have a place among the sleepers.
    has_place: bool,
}

impl Wait {
    /// Begins a wait of at most `timeout`, which busy-polls first if `spins`.
    pub(crate) fn new(
        timeout: Option<Duration>,
        ends_on: EndsOn,
        signals: Signals,
        spins: bool,
    ) -> Self {
        let now = now_ns();
        let deadline_ns = timeout
            .map(|timeout| now.saturating_add(timeout.as_nanos().try_into().unwrap_or(u64::MAX)));
        let spin_until_ns = now + if spins { spin_ns(now) } else { 0 };
        Self { spin_until_ns, deadline_ns, signals, ends_on, has_place: false }
    }

    /// Begins the wait of a call that receives or sends, at most for this timeout of the socket. It
    /// is read now: a program may have changed it by a system call that the library does not see.
    pub(crate) fn for_call(fd: c_int, timeout: c_int, signals: Signals) -> Self {
        let timeout = options::timeout(fd, timeout);
        let ends_on = if timeout.is_some() { EndsOn::TimedReceive } else { EndsOn::Interrupts };
        Self::new(timeout, ends_on, signals, true)
    }

    /// Returns the time at which the wait ends.
    pub(crate) fn deadline_ns(&self) -> Option<u64> {
        self.deadline_ns
    }

    /// Waits after a check that found nothing. `fds` are the kernel's descriptors of the call;
    /// `check` repeats the check, after this thread can be woken. The mask is that of ppoll(2).
    ///
    /// The caller holds no lock and is not inside the library, so that handlers run.
    pub(crate) fn turn(
        &mut self,
        fds: &mut Vec<pollfd>,
        mask: *const sigset_t,
        check: impl FnOnce() -> bool,
    ) -> Turn {
        // SAFETY: the callers' frames may be unwound.
        unsafe { pthread_testcancel() };
        if self.was_interrupted() {
            return Turn::Interrupted;
        }
        let now = now_ns();
        if self.deadline_ns.is_some_and(|deadline| now >= deadline) {
            return Turn::TimedOut;
        }
        // Without descriptors the caller has not expected a sleep.
        if now < self.spin_until_ns || fds.is_empty() {
            give_way(now);
            if now < SPARES_UNTIL.get() {
                self.spin_until_ns = now;
            }
            return Turn::Again;
        }
        self.sleep(now, fds, mask, check)
    }

    /// Returns `true` if the budget of busy-polling is spent, so that the next turn may sleep.
    pub(crate) fn may_sleep(&self) -> bool {
        now_ns() >= self.spin_until_ns
    }

    fn was_interrupted(&self) -> bool {
        let now = guard::signals();
        match self.ends_on {
            EndsOn::Interrupts => now.interrupts != self.signals.interrupts,
            EndsOn::AnySignal | EndsOn::TimedReceive => now.handled != self.signals.handled,
        }
    }

    #[cold]
    fn sleep(
        &mut self,
        now: u64,
        fds: &mut Vec<pollfd>,
        mask: *const sigset_t,
        check: impl FnOnce() -> bool,
    ) -> Turn {
        let polled = end_polling();
        TURNED.set(0);
        let own = fds.len();
        let inside = guard::enter();
        let at = register();
        self.has_place = true;
        if let Some(at) = at.filter(|_| polled) {
            // The watcher may have left the rings to this thread.
            WATCHER.store(at, SeqCst);
        }
        let place = at.and_then(|at| PLACES.get(at as usize));
        if let Some(place) = place {
            place.interest.store(interests(fds), SeqCst);
        }
        let watches = at.is_some_and(watches);
        let is_ready = check();
        drop(inside);
        // A handler that runs after this check makes the thread's event readable.
        if is_ready || self.was_interrupted() {
            return Turn::Again;
        }
        let readable = |fd| pollfd { fd, events: libc::POLLIN, revents: 0 };
        fds.extend(place.map(|place| readable(place.event.load(SeqCst))));
        let mut left = self.deadline_ns.map(|deadline| deadline.saturating_sub(now));
        let mut limit = |most: u64| left = Some(left.map_or(most, |left| left.min(most)));
        if watches && are_cores_busy() {
            // Those that poll take the frames: each would only wake this thread, on their cores.
            limit(WATCH_NS);
        } else if watches {
            fds.extend(process::ring_descriptors().iter().copied().map(readable));
        }
        if place.is_none() {
            limit(NO_EVENT_NS);
        }
        let left = left.map(|left| timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        });
        let left = left.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the entries and the timeout outlive the call; the caller guarantees the mask.
        let result = unsafe { real::ppoll(fds.as_mut_ptr(), fds.len() as u64, left, mask) };
        let was_interrupted = result < 0 && errno() == libc::EINTR;
        if result < 0 && !was_interrupted {
            // More descriptors than RLIMIT_NOFILE permits: the wait must not use the core for good.
            let moment = timespec { tv_sec: 0, tv_nsec: NO_EVENT_NS as libc::c_long };
            // SAFETY: the timeout outlives the call; the caller guarantees the mask.
            unsafe { real::ppoll(std::ptr::null_mut(), 0, &raw const moment, mask) };
        }
        if let Some(place) = place
            && fds[own].revents != 0
        {
            place.clear(fds[own].fd);
        }
        fds.truncate(own);
        // A handler that runs through a library function may not be counted: its signal still
        // interrupts poll(2) and its relatives.
        if was_interrupted && (self.ends_on != EndsOn::Interrupts || self.was_interrupted()) {
            return Turn::Interrupted;
        }
        Turn::Again
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        end_polling();
        if self.has_place {
            // No handler of the program runs in between.
            let _inside = guard::enter();
            errno::keep(deregister);
        }
    }
}

/// Returns the descriptors that a thread waits for. Those that only the library polls are stored as
/// their complement, which ppoll(2) ignores.
fn interests(fds: &[pollfd]) -> u64 {
    fds.iter().fold(0, |all, entry| {
        let fd = if entry.fd < 0 { !entry.fd } else { entry.fd };
        let instance = slots::epoll(fd).and_then(|slot| slot.instance());
        all | instance.map_or(0, |instance| epoll::interests(&instance)) | interest(fd)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

    use super::*;

    /// Makes the tests of this module, which share the process's state, run one after the other.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn running_threads_are_the_fourth_field() {
        assert_eq!(numbers(b"1.87 2.03 1.55 3/127 13881\n", 3), Some([3]));
        assert_eq!(numbers(b"81 22 7\n", 0), Some([81, 22]));
        assert_eq!(numbers::<2>(b"81\n", 0), None);
        for damaged in [&b""[..], b"1.87 2.03 1.55", b"1.87 2.03 1.55 /127", b"1 2 3 -1/127 5"] {
            assert_eq!(numbers::<1>(damaged, 3), None, "{damaged:?}");
        }
    }

    #[test]
    fn end_of_a_wait_keeps_the_error_of_the_call() {
        let _alone = alone();
        let mut wait = Wait::new(None, EndsOn::AnySignal, guard::signals(), false);
        let at = register().unwrap();
        wait.has_place = true;
        // Another thread is about to make the event readable.
        PLACES[at as usize].signaled.store(true, SeqCst);
        errno::fail(libc::ECONNRESET);
        drop(wait);
        assert_eq!(errno(), libc::ECONNRESET);
    }

    #[test]
    fn as_many_threads_busy_poll_as_there_are_cores() {
        let _alone = alone();
        let cores = settings().cores as usize;
        let barrier = Barrier::new(cores + 2);
        let polls = || {
            let polls = begin_polling();
            barrier.wait();
            end_polling();
            polls
        };
        let count = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..cores + 2).map(|_| scope.spawn(polls)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).filter(|polls| *polls).count()
        });
        assert_eq!((count, POLLERS.load(SeqCst)), (cores, 0));
    }

    #[test]
    fn thread_inside_the_library_wakes_others_when_it_leaves() {
        const FD: c_int = 3;
        let _alone = alone();
        let step = Barrier::new(2);
        let sleeper = || {
            let at = register().unwrap();
            let place = &PLACES[at as usize];
            place.interest.store(interest(FD), SeqCst);
            step.wait();
            step.wait();
            let mut event =
                pollfd { fd: place.event.load(SeqCst), events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry, which outlives the call.
            let mut is_readable = || unsafe { libc::poll(&raw mut event, 1, 0) } == 1;
            let inside = is_readable();
            step.wait();
            step.wait();
            let outside = is_readable();
            deregister();
            [inside, outside]
        };
        let readable = std::thread::scope(|scope| {
            let sleeper = scope.spawn(sleeper);
            step.wait();
            let inside = guard::enter().unwrap();
            wake(FD);
            step.wait();
            step.wait();
            drop(inside);
            step.wait();
            sleeper.join().unwrap()
        });
        assert_eq!(readable, [false, true]);
    }

    #[test]
    fn watcher_looks_again_while_others_busy_poll_on_all_cores() {
        let _alone = alone();
        let cores = settings().cores as usize;
        let step = Barrier::new(cores + 1);
        let poller = || {
            assert!(begin_polling());
            step.wait();
            step.wait();
            end_polling();
        };
        std::thread::scope(|scope| {
            (0..cores).for_each(|_| drop(scope.spawn(poller)));
            step.wait();
            let limit = Duration::from_secs(30);
            let mut wait = Wait::new(Some(limit), EndsOn::AnySignal, guard::signals(), true);
            // Nothing becomes readable, so only the watcher's interval ends the sleep.
            let mut fds = vec![pollfd { fd: -1, events: 0, revents: 0 }];
            let turns = [(); 2].map(|()| wait.turn(&mut fds, std::ptr::null(), || false));
            drop(wait);
            step.wait();
            assert_eq!(turns, [Turn::Again; 2]);
        });
    }
}
