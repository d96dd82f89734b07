//! The watcher thread, which keeps the control plane current.
//!
//! It sleeps until a kernel notification arrives, a backing socket has something, or a timer
//! expires: to poll the members of groups, and to keep next hops fresh. A socket that spins makes
//! no system calls for these.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hairpin_xdp::ForkGuardedFd;

use crate::StackError;
use crate::groups;
use crate::netlink::{Change, Netlink};
use crate::readiness::{self, Epoll, Wakeup};
use crate::stack::SharedState;

/// The interval of refreshing the next hops in use: shorter than the kernel's expiry
/// (`base_reachable_time`, at least 15 s).
const NEIGHBOR_REFRESH_INTERVAL: Duration = Duration::from_secs(5);
/// The interval of reading the rules of the host, which change without a notification that a
/// process without `CAP_NET_ADMIN` may receive.
const RULES_INTERVAL: Duration = Duration::from_secs(1);
/// The most events per wait.
const EVENTS: usize = 64;

const WAKE_TOKEN: u64 = 0;
const NETLINK_TOKEN: u64 = 1;
const KEEPER_TOKEN: u64 = u64::MAX;
/// The first token of the sockets.
pub(crate) const FIRST_SOCKET_TOKEN: u64 = 2;

/// The events that the thread waits for.
#[derive(Debug)]
pub(crate) struct EventSource {
    epoll: Epoll,
    event: ForkGuardedFd,
    stopped: AtomicBool,
    /// `true` if there is something to report about dropped frames.
    has_drops: AtomicBool,
}

impl EventSource {
    pub(crate) fn new() -> io::Result<Self> {
        let (epoll, event) = (Epoll::new()?, readiness::new_event()?);
        epoll.add(event.as_fd(), libc::EPOLLIN, WAKE_TOKEN)?;
        let [stopped, has_drops] = [(); 2].map(|()| AtomicBool::new(false));
        Ok(Self { epoll, event, stopped, has_drops })
    }

    /// Adds a backing socket, reported each time that something arrives.
    pub(crate) fn add(&self, socket: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        self.epoll.add(socket, libc::EPOLLIN | libc::EPOLLERR | libc::EPOLLET, token)
    }

    /// Adds the connection to the keeper, reported when that ends.
    pub(crate) fn add_keeper(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.epoll.add(socket, libc::EPOLLRDHUP | libc::EPOLLET, KEEPER_TOKEN)
    }

    pub(crate) fn remove(&self, socket: BorrowedFd<'_>) {
        self.epoll.remove(socket);
    }

    /// Wakes the thread, to stop it or to start polling groups.
    pub(crate) fn wake(&self) {
        readiness::signal_event(self.event.as_fd());
    }

    /// Wakes the thread to report dropped frames.
    pub(crate) fn wake_for_drops(&self) {
        self.has_drops.store(true, Ordering::Release);
        self.wake();
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.wake();
    }

    /// Waits for events, at most `timeout`. Returns `None` once stopped or if the kernel fails.
    fn wait<'e>(
        &self,
        events: &'e mut [libc::epoll_event],
        timeout: Duration,
    ) -> Option<&'e [libc::epoll_event]> {
        let events = match self.epoll.wait(events, Some(timeout)).ok()? {
            Wakeup::Ready(events) => events,
            Wakeup::TimedOut | Wakeup::Interrupted => &[],
        };
        if events.iter().any(|event| event.u64 == WAKE_TOKEN) {
            readiness::clear_event(self.event.as_fd());
        }
        // Checked after clearing: a later stop signals the event again.
        (!self.stopped.load(Ordering::Acquire)).then_some(events)
    }
}

/// Starts the watcher thread, which runs until the event source is stopped.
pub(crate) fn spawn(
    shared: &Arc<SharedState>,
    on_start: Option<fn()>,
) -> Result<JoinHandle<()>, StackError> {
    let netlink = Netlink::open().map_err(StackError::Netlink)?;
    shared
        .event_source
        .epoll
        .add(netlink.as_fd(), libc::EPOLLIN, NETLINK_TOKEN)
        .map_err(StackError::Thread)?;
    let (shared_state, now) = (Arc::clone(shared), Instant::now());
    let mut watcher =
        Watcher { shared: shared_state, netlink, refreshed_at: now, rules_read_at: now };
    // Changes between the first read and the subscription.
    watcher.apply(&[Change::Overrun]);
    let thread = std::thread::Builder::new().name("hairpin-stack".to_string());
    // The thread inherits the mask, so no signal of the process ever reaches it.
    let mask = block_signals();
    let spawned = thread.spawn(move || {
        on_start.inspect(|start| start());
        watcher.run();
    });
    restore_signals(&mask);
    spawned.map_err(StackError::Thread)
}

/// Returns a random number that a remote sender cannot guess.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

struct Watcher {
    shared: Arc<SharedState>,
    netlink: Netlink,
    refreshed_at: Instant,
    rules_read_at: Instant,
}

impl Watcher {
    fn run(&mut self) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let mut has_groups = false;
        let has_rules = self.shared.tcp.keeper.is_some();
        loop {
            let timeout =
                if has_groups { groups::POLL_INTERVAL } else { NEIGHBOR_REFRESH_INTERVAL };
            let timeout = if has_rules { timeout.min(RULES_INTERVAL) } else { timeout };
            let timeout = self.shared.tcp.poll_interval().map_or(timeout, |tcp| timeout.min(tcp));
            let Some(events) = self.shared.event_source.wait(&mut events, timeout) else { return };
            for event in events {
                match event.u64 {
                    WAKE_TOKEN => {}
                    NETLINK_TOKEN => self.read(),
                    KEEPER_TOKEN => self.shared.on_keeper_lost(),
                    token => {
                        if let Some(readiness) =
                            self.shared.control_plane().readiness_by_token.get(&token)
                        {
                            readiness.set_kernel_pending();
                        }
                    }
                }
            }
            self.shared.tcp.make_progress(&self.shared);
            has_groups = poll_groups(&self.shared);
            report_drops(&self.shared);
            self.follow_rules();
            if self.refreshed_at.elapsed() >= NEIGHBOR_REFRESH_INTERVAL {
                self.refreshed_at = Instant::now();
                let mut control_plane = self.shared.control_plane();
                control_plane.refresh_neighbors(&self.shared);
                // Sysctls change without a notification. An error is retried next time.
                let _ = control_plane.update_sources(&self.shared);
            }
        }
    }

    /// Returns flows to the kernel that a new rule of the host applies to. Without a keeper, the
    /// process has chosen to skip the rules.
    fn follow_rules(&mut self) {
        if self.rules_read_at.elapsed() < RULES_INTERVAL {
            return;
        }
        self.rules_read_at = Instant::now();
        let shared = &self.shared;
        let Some(keeper) = shared.tcp.keeper.as_ref().filter(|keeper| !keeper.is_lost()) else {
            return;
        };
        if (shared.control_plane().has_sockets() || shared.tcp.has_bypass())
            && let Ok([restricting, translating]) = keeper.find_rules(shared.interface)
        {
            if restricting != 0 {
                shared.tcp.obey_rules(shared, restricting);
            }
            shared.control_plane().obey_rules(shared, restricting | translating);
        }
    }

    fn read(&mut self) {
        let mut changes = Vec::new();
        // A socket error is reported as an overrun by the next read, or affects one message only.
        if self.netlink.changes(&mut |change| changes.push(change)).is_err() {
            changes.push(Change::Overrun);
        }
        self.apply(&changes);
    }

    fn apply(&self, changes: &[Change]) {
        let mut paths_changed = false;
        for change in changes {
            // What cannot be read now is read at the next change; paths are found again.
            paths_changed |=
                self.shared.control_plane().apply(&self.shared, change).unwrap_or(true);
        }
        if paths_changed {
            self.shared.invalidate_paths();
        }
    }
}

/// Polls the members of groups. Returns `true` if there are groups.
pub(crate) fn poll_groups(shared: &SharedState) -> bool {
    let mut control_plane = shared.control_plane();
    if control_plane.groups.is_empty() {
        return false;
    }
    // On failure the members are read by the next poll.
    if let Ok(found) = control_plane.groups.poll(shared) {
        shared.apply_group_update(&mut control_plane, found);
    }
    true
}

/// Reports dropped frames of sockets that have received nothing, and makes the kernel receive for
/// those of which every frame is lost.
fn report_drops(shared: &SharedState) {
    if !shared.event_source.has_drops.swap(false, Ordering::AcqRel) {
        return;
    }
    let mut control_plane = shared.control_plane();
    let reports = shared.data_plane().drops.take_reports();
    for report in reports {
        control_plane.report_drops(shared, report);
    }
}

/// Blocks all signals of the calling thread: they are for the program's own threads. Returns the
/// mask before.
fn block_signals() -> libc::sigset_t {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the first call initializes the set, and the second reads it. An empty set is valid.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

fn restore_signals(mask: &libc::sigset_t) {
    // SAFETY: the set is initialized, and no old set is requested.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}
