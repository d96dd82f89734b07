//! The stack's thread, which keeps what is known of the kernel current.
//!
//! It sleeps. The kernel's notifications wake it, its sockets when something has come by them, and
//! the clock: while there are groups, to look at their members, and now and then to have next hops
//! kept fresh. Whoever spins on a socket asks the kernel nothing meanwhile.

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
use crate::readiness::{self, Epoll};
use crate::stack::Shared;

/// How often next hops that are sent to are kept fresh: more often than the kernel forgets
/// (`base_reachable_time`, 15 s at the least).
const KEEP_FRESH: Duration = Duration::from_secs(5);
/// Events taken by one wait.
const EVENTS: usize = 64;

const EVENT: u64 = 0;
const NETLINK: u64 = 1;
/// The first of the sockets' tokens.
pub(crate) const SOCKETS: u64 = 2;

/// What the thread waits for.
#[derive(Debug)]
pub(crate) struct Alarm {
    epoll: Epoll,
    event: ForkGuardedFd,
    is_stopped: AtomicBool,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        let (epoll, event) = (Epoll::new()?, readiness::event()?);
        epoll.add(event.as_fd(), libc::EPOLLIN, EVENT)?;
        Ok(Self { epoll, event, is_stopped: AtomicBool::new(false) })
    }

    /// Looks after a socket of the kernel: each time something has come.
    pub(crate) fn add(&self, socket: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        self.epoll.add(socket, libc::EPOLLIN | libc::EPOLLERR | libc::EPOLLET, token)
    }

    pub(crate) fn remove(&self, socket: BorrowedFd<'_>) {
        self.epoll.remove(socket);
    }

    /// Wakes the thread, to stop or to see that there are groups now.
    pub(crate) fn wake(&self) {
        readiness::signal(self.event.as_fd());
    }

    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        self.wake();
    }

    /// Sleeps until there is something to do, for `timeout` at the most; nothing once it is
    /// stopped, or the kernel refuses.
    fn wait<'e>(
        &self,
        events: &'e mut [libc::epoll_event],
        timeout: Duration,
    ) -> Option<&'e [libc::epoll_event]> {
        let events = self.epoll.wait(events, Some(timeout)).ok()?;
        if events.iter().any(|event| event.u64 == EVENT) {
            readiness::clear(self.event.as_fd());
        }
        // Not before: whoever stops it from here on sets the event again.
        (!self.is_stopped.load(Ordering::Acquire)).then_some(events)
    }
}

/// Begins to watch, until the alarm is stopped.
pub(crate) fn spawn(shared: &Arc<Shared>) -> Result<JoinHandle<()>, StackError> {
    let netlink = Netlink::open().map_err(StackError::Netlink)?;
    shared.alarm.epoll.add(netlink.as_fd(), libc::EPOLLIN, NETLINK).map_err(StackError::Thread)?;
    let mut watcher = Watcher { shared: Arc::clone(shared), netlink, fresh_at: Instant::now() };
    // What has changed since it was read, before anybody watched.
    watcher.apply(&[Change::Overrun]);
    let thread = std::thread::Builder::new().name("hairpin-stack".to_string());
    thread
        .spawn(move || {
            block_signals();
            watcher.run();
        })
        .map_err(StackError::Thread)
}

/// A number that no stranger knows.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

struct Watcher {
    shared: Arc<Shared>,
    netlink: Netlink,
    fresh_at: Instant,
}

impl Watcher {
    fn run(&mut self) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let mut has_groups = false;
        loop {
            let timeout = if has_groups { groups::LOOK } else { KEEP_FRESH };
            let Some(events) = self.shared.alarm.wait(&mut events, timeout) else { return };
            for event in events {
                match event.u64 {
                    EVENT => {}
                    NETLINK => self.read(),
                    token => {
                        if let Some(readiness) = self.shared.control().awaited.get(&token) {
                            readiness.set_by_kernel();
                        }
                    }
                }
            }
            has_groups = look(&self.shared);
            if self.fresh_at.elapsed() >= KEEP_FRESH {
                self.fresh_at = Instant::now();
                self.shared.control().keep_fresh(self.shared.interface);
            }
        }
    }

    fn read(&mut self) {
        let mut changes = Vec::new();
        // An error of the socket is told as an overrun by the next look, or is of one message.
        if self.netlink.changes(&mut |change| changes.push(change)).is_err() {
            changes.push(Change::Overrun);
        }
        self.apply(&changes);
    }

    fn apply(&self, changes: &[Change]) {
        let mut renews = false;
        for change in changes {
            // What cannot be read now is read when it changes next, and ways are found anew.
            renews |= self.shared.control().apply(&self.shared, change).unwrap_or(true);
        }
        if renews {
            self.shared.renew_ways();
        }
    }
}

/// Looks at the members of groups; whether there are any groups.
pub(crate) fn look(shared: &Shared) -> bool {
    let mut control = shared.control();
    if control.groups.is_empty() {
        return false;
    }
    // Not readable now, they are at the next look.
    if let Ok(found) = control.groups.look(shared) {
        shared.heed(&mut control, found);
    }
    true
}

/// Signals are for the program's own threads.
fn block_signals() {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call fills the set in; the second reads it, and asks for no old one.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), std::ptr::null_mut());
    }
}
