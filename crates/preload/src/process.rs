//! The state of the process: its stacks, which sockets they accelerate, and forks.

use std::ffi::{c_int, c_uint};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::time::Duration;

use hairpin_mapped::{AnswerFile, CounterPage};
use hairpin_stack::{
    Adoption, KeeperClient, ReceiveStamps, RunCount, SocketProtocol, Stack, StackSettings,
    await_redirects,
};

use crate::addresses::{self, option};
use crate::counters::{self, ACCELERATED, REFUSED, RETURNED};
use crate::log::{self, Level};
use crate::membership::{self, Change, Membership};
use crate::options::SocketState;
use crate::settings::settings;
use crate::slots::{self, Slot};
use crate::socket::{Path, Socket};
use crate::stream_counters::Cause;
use crate::{errno, guard, real, sleep, stream, stream_counters, summary};

/// The most accelerated sockets of an interface; others stay with the kernel.
const SOCKETS: u32 = 16_384;

/// The opened stacks and their ring descriptors. Replaced as a whole, never freed.
struct Stacks {
    stacks: Vec<Stack>,
    rings: Vec<c_int>,
    keeper: Option<KeeperClient>,
}

/// The reason of a handback after a membership that the stack cannot follow.
const NO_MEMBERSHIP: &str = "the group membership is not supported";

static STACKS: AtomicPtr<Stacks> = AtomicPtr::new(null_mut());
/// `true` while a thread opens the stacks, or after it failed.
static OPENING: AtomicBool = AtomicBool::new(false);
/// `true` after that thread has finished.
static OPENED: AtomicBool = AtomicBool::new(false);
const OPENING_PAUSE: Duration = Duration::from_millis(1);
/// `true` if all sockets stay with the kernel.
static KERNEL_ONLY: AtomicBool = AtomicBool::new(false);
/// `true` once the process has installed a filter of system calls.
static HAS_FILTER: AtomicBool = AtomicBool::new(false);
/// `true` in a forked child. Its parent may have the interface, which is no reason to end it.
static FORKED: AtomicBool = AtomicBool::new(false);
/// The descriptor of the counters' page, or -1.
static PAGE: AtomicI32 = AtomicI32::new(-1);
/// The descriptor of the file in which the process answers questions, or -1.
static ANSWERS: AtomicI32 = AtomicI32::new(-1);

fn stacks() -> Option<&'static Stacks> {
    // SAFETY: a published value is never freed.
    unsafe { STACKS.load(Ordering::Acquire).as_ref() }
}

/// Returns the open stacks.
#[inline]
pub(crate) fn open_stacks() -> &'static [Stack] {
    stacks().map_or(&[], |stacks| &stacks.stacks)
}

/// Returns the descriptors that are readable while a ring has a frame.
pub(crate) fn ring_descriptors() -> &'static [c_int] {
    stacks().map_or(&[], |stacks| &stacks.rings)
}

/// Takes the frames of all stacks off their rings and queues them.
#[inline]
pub(crate) fn poll_stacks() {
    for stack in open_stacks() {
        // After the interface's removal, the kernel sockets report the consequences.
        let _ = stack.poll();
    }
}

/// Takes frames that no thread has taken for a while.
pub(crate) fn poll_left_frames() {
    if open_stacks().iter().any(|stack| !stack.is_idle()) {
        poll_stacks();
        sleep::replace_watcher();
    }
}

/// Opens the stacks of the configured interfaces, once. Other threads wait meanwhile, so that their
/// sockets do not stay with the kernel.
pub(crate) fn open() -> &'static [Stack] {
    if stacks().is_some() {
        return open_stacks();
    }
    // Before the first thread opens: a child that is forked meanwhile must not wait for it.
    watch_forks();
    if OPENING.swap(true, Ordering::AcqRel) {
        while !OPENED.load(Ordering::Acquire) {
            std::thread::sleep(OPENING_PAUSE);
        }
        return open_stacks();
    }
    let stacks = open_all();
    OPENED.store(true, Ordering::Release);
    stacks
}

/// The memory that the library needs on top of the program's: the keeper's memory file has 129 MiB.
const MEMORY: u64 = 256 << 20;

/// Returns `true` if a limit of memory leaves enough for the library.
fn has_memory(resource: c_uint, limit: &libc::rlimit) -> bool {
    if !matches!(resource, libc::RLIMIT_AS | libc::RLIMIT_DATA) {
        return true;
    }
    // The first field is the size of the address space in pages (proc_pid_statm(5)).
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
    // SAFETY: the call takes an integer.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    limit.rlim_cur >= (pages * page.cast_unsigned()).saturating_add(MEMORY)
}

/// Returns all sockets to the kernel if a new limit leaves too little memory for the library.
/// Returns `false` if the call must fail.
pub(crate) fn accept_limit(resource: c_uint, limit: &libc::rlimit) -> bool {
    // Without a stack, the first socket finds the limit.
    if guard::is_inside() || open_stacks().is_empty() || has_memory(resource, limit) {
        return true;
    }
    let is_accepted = leave_to_kernel("a limit of memory leaves too little for the library");
    if is_accepted && let Some(_inside) = guard::enter() {
        leave_keeper();
    }
    is_accepted
}

/// Returns `true` if the limits of memory leave enough for the library.
fn has_enough_memory() -> bool {
    [libc::RLIMIT_AS, libc::RLIMIT_DATA].iter().all(|resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the kernel writes the structure.
        unsafe { libc::getrlimit(*resource, &raw mut limit) };
        has_memory(*resource, &limit)
    })
}

/// Ends the process after a panic of the library, which must not unwind the program's functions.
fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        std::process::abort();
    }));
}

fn open_all() -> &'static [Stack] {
    abort_on_panic();
    if !has_enough_memory() {
        let reason = "the limit of memory (RLIMIT_AS, RLIMIT_DATA) leaves too little";
        if settings().strict && !FORKED.load(Ordering::Relaxed) {
            log::fatal(&format!("strict: {reason}"));
        }
        log::line(Level::Fallback, format_args!("not accelerated: {reason}"));
        return &[];
    }
    let mut stacks = Vec::new();
    let keeper = keeper();
    for interface in settings().interfaces.iter() {
        let mut stack_settings = StackSettings {
            sockets: SOCKETS,
            on_thread_start: Some(guard::enter_forever),
            keeper: keeper.clone(),
            ..StackSettings::default()
        };
        if settings().timestamps {
            stack_settings.interface.receive_stamps = ReceiveStamps::Kernel;
        }
        let locals = &mut stack_settings.interface.filter.locals;
        *locals = (*locals).max(SOCKETS);
        match Stack::open(interface, &stack_settings) {
            Ok(stack) => {
                log::line(Level::Fallback, format_args!("{stack}"));
                stacks.push(stack);
            }
            Err(error) => {
                if settings().strict && !FORKED.load(Ordering::Relaxed) {
                    log::fatal(&format!("strict: {error}"));
                }
                log::line(Level::Fallback, format_args!("not accelerated: {error}"));
            }
        }
    }
    if stacks.is_empty() {
        return &[];
    }
    let rings = stacks.iter().flat_map(Stack::receive_descriptors).collect();
    STACKS.store(Box::into_raw(Box::new(Stacks { stacks, rings, keeper })), Ordering::Release);
    stream::watch_exit();
    counters::start();
    // One of the threads that sleep must watch the rings from now on.
    sleep::wake_all();
    open_stacks()
}

/// Registers this process at the keeper of its run.
fn keeper() -> Option<KeeperClient> {
    // SAFETY: the descriptor stays open, because the program cannot close it.
    let keeper = unsafe { BorrowedFd::borrow_raw(settings().keeper?) };
    let connected = KeeperClient::connect(keeper);
    let report = |error: &_| {
        log::line(Level::Fallback, format_args!("cannot register at the keeper: {error}"));
    };
    connected.inspect_err(report).ok()
}

/// Returns `true` once the keeper of this process has ended.
pub(crate) fn is_keeper_lost() -> bool {
    stacks().and_then(|stacks| stacks.keeper.as_ref()).is_some_and(KeeperClient::is_lost)
}

/// Returns all sockets to the kernel for good, and ends the keeper's work. From now on, the library
/// makes no system calls of its own in the program's threads. Returns `false` if the call that
/// requires it must fail.
#[cold]
pub(crate) fn leave_for_filter() -> bool {
    if open_stacks().is_empty() {
        // Most such programs have no socket: no line, and no failure of a strict run.
        KERNEL_ONLY.store(true, Ordering::Relaxed);
        return true;
    }
    if !leave_to_kernel("the process installs a filter of system calls (seccomp)") {
        return false;
    }
    if let Some(_inside) = guard::enter() {
        leave_keeper();
        HAS_FILTER.store(true, Ordering::Relaxed);
    }
    true
}

/// Ends the keeper's work for this process, which has handed back all connections.
pub(crate) fn leave_keeper() {
    if HAS_FILTER.load(Ordering::Relaxed) {
        return;
    }
    if let Some(keeper) = stacks().and_then(|stacks| stacks.keeper.as_ref()) {
        keeper.leave();
    }
}

/// Records the page's descriptor, which the program must not close.
pub(crate) fn set_page(page: &CounterPage) {
    PAGE.store(page.fd().as_raw_fd(), Ordering::Relaxed);
}

/// Records the descriptor of the answers, which the program must not close.
pub(crate) fn set_answers(answers: Option<&AnswerFile>) {
    let fd = answers.map_or(-1, |answers| answers.fd().as_raw_fd());
    ANSWERS.store(fd, Ordering::Relaxed);
}

/// Returns `true` if the programs that this one runs must inherit the descriptor: the keeper's, or
/// that of the library's file.
pub(crate) fn is_inherited(fd: c_int) -> bool {
    settings().inherited().any(|inherited| inherited == fd)
}

/// Returns `true` if the descriptor belongs to the library, so that the program must not close it.
pub(crate) fn is_internal(fd: c_int) -> bool {
    is_inherited(fd)
        || stacks().is_some()
            && (hairpin_stack::is_internal_descriptor(fd)
                || sleep::is_event(fd)
                || [&PAGE, &ANSWERS].iter().any(|own| own.load(Ordering::Relaxed) == fd))
}

/// Prints the events of all stacks.
pub(crate) fn print_events() {
    for stack in open_stacks() {
        while let Some(event) = stack.next_event() {
            let level = if event.is_loss() { Level::Fallback } else { Level::All };
            log::line(level, event);
        }
    }
}

/// Returns `true` if sockets of this process are accelerated.
pub(crate) fn is_accelerating() -> bool {
    !settings().interfaces.is_empty() && !KERNEL_ONLY.load(Ordering::Relaxed)
}

/// Returns all sockets to the kernel for good. Returns `false` if the call that requires it must
/// fail, because the run is strict.
#[cold]
pub(crate) fn leave_to_kernel(reason: &str) -> bool {
    let Some(_inside) = guard::enter().filter(|_| is_accelerating()) else { return true };
    if settings().strict {
        log::line(Level::Fallback, format_args!("strict: {reason}"));
        return false;
    }
    return_all(reason);
    true
}

/// Returns all sockets to the kernel for good if `is_unseen` finds waits that the library does not
/// see. Returns `true` if so.
///
/// The caller is inside the library, and holds no lock.
pub(crate) fn leave_if(is_unseen: impl Fn() -> bool) -> bool {
    const REASON: &str = "the program waits for them by system calls beside the C library";
    if !is_accelerating() || !is_unseen() {
        return false;
    }
    if settings().strict {
        log::fatal(&format!("strict: {REASON}"));
    }
    return_all(REASON);
    true
}

/// Returns all sockets to the kernel for good.
///
/// The caller is inside the library.
#[cold]
fn return_all(reason: &str) {
    KERNEL_ONLY.store(true, Ordering::Relaxed);
    log::line(Level::Fallback, format_args!("all sockets stay with the kernel: {reason}"));
    share_all(reason, |_| true, Kept::Whole);
}

/// Accelerates a socket that the kernel has bound on its first send. One that was inherited or
/// received may have other owners.
pub(crate) fn adopt_sender(fd: c_int) {
    if is_accelerating()
        && slots::is_candidate(fd)
        && let Some(_inside) = guard::enter()
    {
        adopt(fd);
    }
}

/// Makes the next call on an accelerated UDP socket ask the kernel socket first: it has a datagram
/// or an error.
pub(crate) fn expect_kernel(fd: c_int) {
    if let Some(slot) = slots::socket(fd)
        && let Some(_inside) = guard::enter()
        && let Some(socket) = slot.socket().as_deref_mut()
    {
        socket.expect_kernel();
    }
}

/// Records a new UDP socket, so that threads that wait for it notice when it is accelerated.
pub(crate) fn expect_binding(fd: c_int, domain: c_int, kind: c_int) {
    let is_datagram = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) == libc::SOCK_DGRAM;
    if matches!(domain, libc::AF_INET | libc::AF_INET6)
        && is_datagram
        && is_accelerating()
        && let Some(slot) = slots::find_or_create(fd)
    {
        slot.memberships().clear();
        slot.set_candidate();
    }
}

/// Accelerates a socket that was just bound or connected, if its address is on an interface.
///
/// The caller is inside the library.
pub(crate) fn adopt(fd: c_int) {
    try_adopt(fd);
    // Only now: until then, a thread that begins to wait must notice the adoption.
    if let Some(slot) = slots::find(fd) {
        slot.end_candidacy();
    }
}

fn try_adopt(fd: c_int) {
    let Some((local, stacks)) = find_stacks(fd) else { return };
    let remote = addresses::remote(fd);
    let Some(slot) = slots::find_or_create(fd).filter(|slot| !slot.is_duplicated()) else { return };
    let state = match SocketState::read(fd, local) {
        Ok(state) => state,
        Err(reason) => return refuse(fd, slot, reason),
    };
    // The old adoption must end first: both have the same port.
    let mut old = slot.socket();
    let memberships = old.as_mut().map(|socket| std::mem::take(&mut socket.memberships));
    if let Some(socket) = old.as_deref_mut() {
        socket.hand_back();
    }
    drop(old);
    let adoption = Adoption {
        local,
        remote,
        cookie: cookie(fd),
        options: state.options,
        wake: sleep::wake,
        fd,
    };
    let adopt = |stack: &'static Stack| -> io::Result<Path> {
        let adopted = stack.adopt_udp(&adoption)?;
        Ok(Path { stack, adopted, interface: stack.interface() })
    };
    let paths = match stacks.iter().copied().map(adopt).collect::<io::Result<Vec<_>>>() {
        Ok(paths) => paths,
        Err(error) => return refuse(fd, slot, error),
    };
    let mut new = Socket::new(fd, paths, local, remote, state);
    for membership in memberships.into_iter().flatten() {
        new.join(membership);
    }
    let is_joined = join_early(&mut new, slot, &stacks);
    let mut place = slot.socket();
    match place.as_deref_mut() {
        Some(old) => old.continue_as(new),
        None => {
            drop(place);
            slot.set_socket(Some(Box::new(new)));
            ACCELERATED.fetch_add(1, Ordering::Relaxed);
            counters::wake();
            summary::count(RunCount::Sockets);
            summary::count(RunCount::Accelerated);
        }
    }
    // A thread that waits for the kernel socket waits for the rings from now on.
    sleep::wake_all();
    let peer = remote.map(|remote| format!(" to {remote}")).unwrap_or_default();
    log::line(Level::All, format_args!("{local}{peer} is accelerated (descriptor {fd})"));
    if !is_joined {
        hand_back(fd, NO_MEMBERSHIP);
    }
}

/// Returns the local address of a UDP socket, and the stacks that carry its traffic. If there is no
/// such stack, hands the socket back and returns `None`.
fn find_stacks(fd: c_int) -> Option<(SocketAddr, Vec<&'static Stack>)> {
    if !is_accelerating() {
        return None;
    }
    if !is_udp(fd) {
        // A listener may accept no connection.
        if summary::is_on_loopback(fd) {
            summary::count(RunCount::Loopback);
        }
        return None;
    }
    let Some(local) = addresses::local(fd).filter(|local| local.port() != 0) else {
        hand_back(fd, "the socket is not bound");
        return None;
    };
    if local.ip().to_canonical().is_loopback() {
        summary::count(RunCount::Loopback);
        hand_back(fd, "the address is on another interface");
        return None;
    }
    if !settings().accelerates(SocketProtocol::Udp, local, addresses::remote(fd)) {
        summary::count(RunCount::NotNamed);
        hand_back(fd, "--accelerate does not name it");
        return None;
    }
    if open().is_empty() {
        return None;
    }
    let stacks = stacks_of(fd, local);
    if stacks.is_empty() {
        summary::count(RunCount::OtherInterface);
        hand_back(fd, "the address is on another interface");
        return None;
    }
    Some((local, stacks))
}

/// Joins the groups that the socket joined before it was bound. Returns `false` if that is not
/// possible.
fn join_early(socket: &mut Socket, slot: &Slot, stacks: &[&'static Stack]) -> bool {
    let early = std::mem::take(&mut *slot.memberships());
    early.iter().all(|request| match request.change(stacks.iter().copied()) {
        Change::Here(membership) => socket.join(membership),
        Change::Unsupported => false,
        Change::Elsewhere | Change::None => true,
    })
}

/// Returns the stacks that carry the traffic of a socket: all for one bound to any address or a
/// group, unless it is bound to an interface.
fn stacks_of(fd: c_int, local: SocketAddr) -> Vec<&'static Stack> {
    let ip = local.ip().to_canonical();
    let bound_to = option(fd, libc::SOL_SOCKET, libc::SO_BINDTOIFINDEX).unwrap_or(0);
    let is_carrier = |stack: &&Stack| {
        (bound_to == 0 || bound_to.cast_unsigned() == stack.interface())
            && (ip.is_unspecified() || ip.is_multicast() || stack.has_address(ip))
    };
    open_stacks().iter().filter(is_carrier).collect()
}

#[cold]
fn refuse(fd: c_int, slot: &Slot, reason: impl std::fmt::Display) {
    if slot.is_socket() {
        return hand_back(fd, reason);
    }
    REFUSED.fetch_add(1, Ordering::Relaxed);
    summary::count(RunCount::Sockets);
    summary::count(RunCount::Refused);
    let local = addresses::local(fd).map(|local| local.to_string()).unwrap_or_default();
    let level = log::level_of_first(&reason.to_string());
    log::line(level, format_args!("{local} stays with the kernel: {reason}"));
}

/// Returns a socket to the kernel. Datagrams that have arrived are kept for the program.
///
/// The caller is inside the library.
pub(crate) fn hand_back(fd: c_int, reason: impl std::fmt::Display) {
    if slots::stream(fd).is_some() {
        return stream::give_up(fd, Cause::from_text(&reason.to_string()));
    }
    let Some(slot) = slots::socket(fd) else { return };
    let mut place = slot.socket();
    let Some(socket) = place.as_deref_mut() else { return };
    if !socket.is_adopted() {
        return;
    }
    socket.hand_back();
    RETURNED.fetch_add(1, Ordering::Relaxed);
    let level = log::level_of_first(&reason.to_string());
    log::line(level, format_args!("{} returns to the kernel: {reason}", socket.local));
    close_finished(slot, &mut place);
}

/// Forgets a socket that has been returned to the kernel and has no kept datagrams.
fn close_finished(slot: &Slot, place: &mut Option<Box<Socket>>) {
    if let Some(socket) = place.take_if(|socket| socket.is_finished()) {
        socket.counters.close();
        slot.set_plain();
    }
}

/// Returns a socket to the kernel because another descriptor or process will use it. Datagrams that
/// have arrived move into the kernel socket.
///
/// The caller is inside the library.
pub(crate) fn share(fd: c_int, reason: &str) {
    if let Some(slot) = slots::find(fd) {
        slot.end_candidacy();
        slot.set_duplicated(true);
    }
    if slots::stream(fd).is_some() {
        return stream::give_up(fd, Cause::from_text(reason));
    }
    if slots::socket(fd).is_some() {
        share_all(reason, |shared| shared == fd, Kept::Whole);
    }
}

/// The datagrams that move into the kernel socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All, or none if one must stay: this process continues and can read them.
    Whole,
    /// As many as possible: this program ends.
    Part,
}

/// Returns all sockets and connections that `is_shared` selects, with one wait for the filters.
///
/// The caller is inside the library.
pub(crate) fn share_all(reason: &str, is_shared: impl Fn(c_int) -> bool, kept: Kept) {
    let mut ended = false;
    let mut shared = Vec::new();
    slots::for_each(|fd, slot| {
        if slot.is_stream() && is_shared(fd) {
            stream::give_up(fd, Cause::from_text(reason));
        }
        if slot.is_socket()
            && is_shared(fd)
            && let Some(socket) = slot.socket().as_deref_mut()
        {
            ended |= socket.end_redirects();
            shared.push((fd, slot));
        }
    });
    if ended {
        await_redirects();
    }
    for (fd, slot) in shared {
        hand_back(fd, reason);
        let mut place = slot.socket();
        let Some(socket) = place.as_deref_mut() else { continue };
        socket.move_kept_to_kernel(kept == Kept::Whole);
        if kept == Kept::Part && socket.kept() > 0 {
            let (count, local) = (socket.kept(), socket.local);
            let text = format_args!("{local} loses {count} datagrams: {reason}");
            log::line(Level::Fallback, text);
        }
        close_finished(slot, &mut place);
    }
}

/// Records a duplicate of a descriptor. A socket with duplicates stays with the kernel.
///
/// The caller is inside the library.
pub(crate) fn duplicated(from: c_int, to: c_int) {
    if slots::epoll(from).is_some() || !is_accelerating() {
        return crate::epoll::duplicated(from, to);
    }
    // Its last owner may have closed the number by a call that is not replaced.
    stream::discard(to);
    forget(to);
    let domain = option(from, libc::SOL_SOCKET, libc::SO_DOMAIN);
    if matches!(domain, Some(libc::AF_INET | libc::AF_INET6)) {
        for slot in [from, to].into_iter().filter_map(slots::find_or_create) {
            slot.set_duplicated(true);
        }
        stream::copy_left(from, to);
    }
}

/// Forgets a descriptor that is about to be closed. Its traffic ends; nothing is kept.
pub(crate) fn forget(fd: c_int) {
    let Some(slot) = slots::find(fd) else { return };
    slot.set_duplicated(false);
    slot.set_multicast_interface(0);
    slot.memberships().clear();
    stream::give_up(fd, Cause::Close);
    crate::epoll::forget(fd, slot);
    if let Some(socket) = slot.set_socket(None) {
        socket.counters.close();
    }
}

fn is_udp(fd: c_int) -> bool {
    let is = |name, value| option(fd, libc::SOL_SOCKET, name) == Some(value);
    is(libc::SO_TYPE, libc::SOCK_DGRAM) && is(libc::SO_PROTOCOL, libc::IPPROTO_UDP)
}

pub(crate) fn cookie(fd: c_int) -> u64 {
    let mut cookie = 0_u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    let place = (&raw mut cookie).cast();
    // SAFETY: the value outlives the call and has the length that is passed.
    unsafe {
        real::getsockopt(fd, libc::SOL_SOCKET, libc::SO_COOKIE, place, &raw mut length);
    }
    cookie
}

/// Registers the fork handlers, once.
pub(crate) fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        // Otherwise its handlers would run first, and `before_fork` would wait for threads that
        // hold a connection and wait for the fork.
        let _ = hairpin_stack::register_fork_handlers();
        // SAFETY: the functions exist as long as the process.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child))
        };
    }
}

/// Returns the sockets to the kernel, because a child shares them from now on. Until the fork is
/// over, no connection is taken over.
pub(crate) extern "C" fn before_fork() {
    if settings().parent_keeps_sockets {
        return;
    }
    stream::pause_takeovers();
    if let Some(_inside) = guard::enter() {
        share_all("the process forks", |_| true, Kept::Whole);
    }
}

pub(crate) extern "C" fn after_fork() {
    if !settings().parent_keeps_sockets {
        stream::resume_takeovers();
    }
}

/// Returns the sockets to the kernel that stay open when a program is executed: `is_last` if this
/// process ends with it. No connection is taken over until [`after_exec`].
pub(crate) fn before_exec(is_last: bool) {
    if guard::is_lent() {
        return;
    }
    stream::pause_takeovers();
    let Some(_inside) = guard::enter() else { return };
    let stays_open = |fd| {
        // SAFETY: the call takes integers.
        let flags = unsafe { real::fcntl(fd, libc::F_GETFD, 0) };
        flags >= 0 && flags & libc::FD_CLOEXEC == 0
    };
    if is_last {
        // Also those that the kernel closes: their unsent bytes are here.
        stream::give_up_all(Cause::Exec);
        leave_keeper();
    }
    let kept = if is_last { Kept::Part } else { Kept::Whole };
    share_all("the process runs another program", stays_open, kept);
    summary::include_messages();
}

/// Ends what [`before_exec`] began: the other program runs in a process of its own, or not at all.
pub(crate) fn after_exec() {
    if !guard::is_lent() {
        errno::keep(stream::resume_takeovers);
    }
}

/// The child has no stack and no socket of the parent. It opens its own when it binds a socket.
pub(crate) extern "C" fn after_fork_in_child() {
    STACKS.store(null_mut(), Ordering::Relaxed);
    FORKED.store(true, Ordering::Relaxed);
    OPENING.store(false, Ordering::Relaxed);
    OPENED.store(false, Ordering::Relaxed);
    PAGE.store(-1, Ordering::Relaxed);
    // The parent answers in its file: the child would be taken for it.
    let answers = ANSWERS.swap(-1, Ordering::Relaxed);
    if answers >= 0 {
        // SAFETY: closes the child's copy of the library's descriptor, which nothing uses there.
        unsafe { libc::syscall(libc::SYS_close, answers) };
    }
    slots::forget_all();
    crate::epoll::forget_listed();
    stream::forget_pauses();
    sleep::forget_all();
    counters::forget();
    stream_counters::forget();
    summary::forget();
}

/// Blocks all signals of the calling thread: they are for the program's own threads.
pub(crate) fn block_signals() {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call initializes the set; the second reads it and requests no old set.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), null_mut());
    }
}

/// Records the interface that a socket sends IPv4 datagrams to groups on.
pub(crate) fn set_multicast_interface(fd: c_int, index: u32) {
    if !settings().interfaces.is_empty()
        && let Some(slot) = slots::find_or_create(fd)
    {
        slot.set_multicast_interface(index);
    }
}

/// Joins a group after the kernel socket has, or leaves it. `None` returns the socket to the
/// kernel.
pub(crate) fn update_membership(fd: c_int, change: Option<Membership>) {
    let Some(slot) = slots::socket(fd) else { return };
    let joined = {
        let mut place = slot.socket();
        let Some(socket) = place.as_deref_mut() else { return };
        change.is_some_and(|change| socket.join(change))
    };
    if !joined {
        hand_back(fd, NO_MEMBERSHIP);
    }
}

/// Records a membership of a socket that is not bound yet.
pub(crate) fn record_membership(fd: c_int, request: membership::Request) {
    if let Some(slot) = slots::find(fd) {
        slot.memberships().push(request);
    }
}
