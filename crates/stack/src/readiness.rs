//! The readiness of a socket, for threads that wait for it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hairpin_xdp::{ForkGuardedFd, Socket};

/// Signals a socket that other threads queued something for it: a socket of the same stack took a
/// frame for it off the rings, or its backing socket has something.
#[derive(Debug)]
pub(crate) struct Readiness {
    wake: Wake,
    /// `true` if a thread may wait for the event: not while its owner spins.
    waited_on: AtomicBool,
    /// `true` while the event is signaled.
    signaled: AtomicBool,
    /// `true` if a frame was queued since the queue was last empty.
    has_frames: AtomicBool,
    /// `true` if the backing socket may have something.
    kernel_pending: AtomicBool,
    /// The list of the poller that the socket belongs to, and the socket's place in the poller.
    list: Mutex<Option<(Arc<ReadyList>, usize)>>,
    /// `true` if there is a list, and the socket is not in it.
    is_unlisted: AtomicBool,
}

/// The places of the sockets of a poller that may have datagrams.
#[derive(Debug, Default)]
pub(crate) struct ReadyList(Mutex<Vec<usize>>);

impl ReadyList {
    /// Moves the places to the end of `into`.
    pub(crate) fn take(&self, into: &mut Vec<usize>) {
        into.append(&mut lock(&self.0));
    }
}

/// How a readiness wakes the threads that wait for it.
#[derive(Debug)]
enum Wake {
    /// An eventfd(2), for a socket that waits on descriptors of its own.
    Event(ForkGuardedFd),
    /// A function of the owner, called with the owner's descriptor: it wakes the threads that sleep
    /// until the socket has something. It needs no descriptor of its own.
    Call(fn(RawFd), RawFd),
}

impl Readiness {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self::with(Wake::Event(new_event()?)))
    }

    /// Creates a readiness that wakes waiters by a call. The function must be quick and take no
    /// lock of the stack: it runs under the lock of the data plane.
    pub(crate) fn with_call(wake: fn(RawFd), fd: RawFd) -> Self {
        Self::with(Wake::Call(wake, fd))
    }

    fn with(wake: Wake) -> Self {
        Self {
            wake,
            waited_on: AtomicBool::new(true),
            signaled: AtomicBool::new(false),
            has_frames: AtomicBool::new(false),
            // The first receive finds what arrived before any poll.
            kernel_pending: AtomicBool::new(true),
            list: Mutex::new(None),
            is_unlisted: AtomicBool::new(false),
        }
    }

    /// Adds the socket to a poller's list, or to none.
    pub(crate) fn set_list(&self, list: Option<(Arc<ReadyList>, usize)>) {
        let mut own = lock(&self.list);
        let is_unlisted = list.is_some();
        *own = list;
        self.is_unlisted.store(is_unlisted, Ordering::Release);
        drop(own);
        // What arrived before.
        self.enlist();
    }

    /// Records that the poller has taken the socket off its list. Call it before checking what the
    /// socket has.
    pub(crate) fn unlist(&self) {
        if lock(&self.list).is_some() {
            self.is_unlisted.store(true, Ordering::SeqCst);
        }
    }

    /// Puts the socket on the list of its poller, if it has one.
    #[inline]
    pub(crate) fn enlist(&self) {
        if self.is_unlisted.load(Ordering::SeqCst) {
            self.enlist_now();
        }
    }

    #[cold]
    fn enlist_now(&self) {
        if self.is_unlisted.swap(false, Ordering::SeqCst)
            && let Some((list, place)) = &*lock(&self.list)
        {
            lock(&list.0).push(*place);
        }
    }

    /// Returns the descriptor that is readable while the readiness is signaled.
    pub(crate) fn event(&self) -> Option<BorrowedFd<'_>> {
        match &self.wake {
            Wake::Event(event) => Some(event.as_fd()),
            Wake::Call(..) => None,
        }
    }

    pub(crate) fn set_has_waiters(&self, has_waiters: bool) {
        self.waited_on.store(has_waiters, Ordering::Relaxed);
    }

    pub(crate) fn has_waiters(&self) -> bool {
        self.waited_on.load(Ordering::Relaxed)
    }

    /// Wakes the owner's sleeping threads, if it has a function for that.
    pub(crate) fn wake(&self) {
        if let Wake::Call(wake, fd) = self.wake {
            wake(fd);
        }
    }

    /// Signals that another thread queued a frame.
    #[inline]
    pub(crate) fn signal(&self) {
        self.has_frames.store(true, Ordering::Release);
        self.enlist();
        match &self.wake {
            Wake::Event(event) => {
                if self.waited_on.load(Ordering::Relaxed)
                    && !self.signaled.swap(true, Ordering::AcqRel)
                {
                    signal_event(event.as_fd());
                }
            }
            Wake::Call(wake, fd) => wake(*fd),
        }
    }

    /// Clears the signal; the queue is empty.
    #[inline]
    pub(crate) fn clear(&self) {
        self.has_frames.store(false, Ordering::Relaxed);
        if self.signaled.load(Ordering::Acquire) {
            if let Some(event) = self.event() {
                clear_event(event);
            }
            self.signaled.store(false, Ordering::Release);
        }
    }

    /// Returns `true` if another thread has queued frames.
    #[inline]
    pub(crate) fn has_frames(&self) -> bool {
        self.has_frames.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn set_kernel_pending(&self) {
        self.kernel_pending.store(true, Ordering::SeqCst);
        self.enlist();
        self.wake();
    }

    #[inline]
    pub(crate) fn is_kernel_pending(&self) -> bool {
        self.kernel_pending.load(Ordering::SeqCst)
    }

    /// Returns `true` and clears the flag if the backing socket must be read; the caller reads it.
    #[inline]
    pub(crate) fn take_kernel_pending(&self) -> bool {
        self.kernel_pending.load(Ordering::Relaxed)
            && self.kernel_pending.swap(false, Ordering::AcqRel)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates an eventfd(2).
pub(crate) fn new_event() -> io::Result<ForkGuardedFd> {
    // SAFETY: the call takes integers only.
    let open = || owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) });
    ForkGuardedFd::from_fn(open)
}

pub(crate) fn signal_event(event: BorrowedFd<'_>) {
    let one = 1_u64;
    // SAFETY: the kernel reads eight bytes of a local variable. The call fails only if the counter
    // is full, and then the event is readable already.
    unsafe { libc::write(event.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
}

pub(crate) fn clear_event(event: BorrowedFd<'_>) {
    let mut count = 0_u64;
    // SAFETY: the kernel writes eight bytes to a local variable. The call fails only if the counter
    // is zero.
    unsafe { libc::read(event.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
}

/// An epoll(7) instance.
#[derive(Debug)]
pub(crate) struct Epoll(ForkGuardedFd);

impl Epoll {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the call takes integers only.
        let open = || owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) });
        ForkGuardedFd::from_fn(open).map(Self)
    }

    /// Adds the event of a readiness, if it has one.
    pub(crate) fn add_readiness(&self, readiness: &Readiness, token: u64) -> io::Result<()> {
        readiness.event().map_or(Ok(()), |event| self.add(event, libc::EPOLLIN, token))
    }

    pub(crate) fn add(&self, fd: BorrowedFd<'_>, events: i32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        let (epoll, fd) = (self.0.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: the event outlives the call.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) })
    }

    /// Changes the events of a descriptor that was added.
    pub(crate) fn modify(&self, fd: BorrowedFd<'_>, events: i32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        let (epoll, fd) = (self.0.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: the event outlives the call.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_MOD, fd, &raw mut event) })
    }

    /// Adds or removes the AF_XDP sockets. While one is added, the kernel processes a wakeup for
    /// each frame, whether or not a thread waits. On a veth in native mode that is a fifth of the
    /// cost of a frame.
    ///
    /// Of the threads that sleep in [`wait`](Self::wait), a frame wakes one (`EPOLLEXCLUSIVE`),
    /// which takes the frames off the rings and signals their sockets.
    ///
    /// # Errors
    /// The kernel's, if it lacks memory.
    pub(crate) fn watch(&self, sockets: &[Socket], watching: bool) -> io::Result<()> {
        for socket in sockets {
            if !watching {
                self.remove(socket.as_fd());
                continue;
            }
            match self.add(socket.as_fd(), libc::EPOLLIN | libc::EPOLLEXCLUSIVE, 0) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                added => added?,
            }
        }
        Ok(())
    }

    /// Removes a descriptor, if present.
    pub(crate) fn remove(&self, fd: BorrowedFd<'_>) {
        let (epoll, fd) = (self.0.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: removal needs no event.
        unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
    }

    /// Sleeps until a descriptor is ready or `timeout` has passed.
    pub(crate) fn wait<'e>(
        &self,
        events: &'e mut [libc::epoll_event],
        timeout: Option<Duration>,
    ) -> io::Result<Wakeup<'e>> {
        match self.wait_nanos(events, timeout) {
            Ok(0) => Ok(Wakeup::TimedOut),
            Ok(count) => Ok(Wakeup::Ready(&events[..count])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Wakeup::Interrupted),
            Err(error) => Err(error),
        }
    }

    /// Calls epoll_pwait2(2), which is exact to the nanosecond; before Linux 5.11 epoll_wait(2),
    /// whose timeout is rounded up to milliseconds.
    fn wait_nanos(
        &self,
        events: &mut [libc::epoll_event],
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        let (epoll, most) = (self.0.as_raw_fd(), events.len() as i32);
        let limit = timeout.map(|timeout| libc::timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let mask = std::ptr::null::<libc::sigset_t>();
        // SAFETY: the buffer has room for this number of events, and the limit outlives the call.
        let count = unsafe {
            libc::syscall(libc::SYS_epoll_pwait2, epoll, events.as_mut_ptr(), most, limit, mask, 0)
        };
        match usize::try_from(count) {
            Ok(count) => Ok(count),
            Err(_) => match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::ENOSYS) => {
                    self.wait_millis(events, timeout)
                }
                error => Err(error),
            },
        }
    }

    #[cold]
    fn wait_millis(
        &self,
        events: &mut [libc::epoll_event],
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        let millis = timeout.map_or(-1, |timeout| {
            timeout.as_nanos().div_ceil(1_000_000).try_into().unwrap_or(i32::MAX)
        });
        let (epoll, most) = (self.0.as_raw_fd(), events.len() as i32);
        // SAFETY: the buffer has room for this number of events.
        let count = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), most, millis) };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }

    /// Calls `is_ready` until it returns `true`, and sleeps between the calls. Returns `false`
    /// after `timeout` or a signal. `is_ready` gets the events of the last sleep. After each sleep
    /// it is called once more, because the sleeper may be the only one that a frame has woken.
    ///
    /// # Errors
    /// Those of `is_ready` and of the kernel.
    pub(crate) fn wait_until(
        &self,
        timeout: Option<Duration>,
        mut is_ready: impl FnMut(&[libc::epoll_event]) -> io::Result<bool>,
    ) -> io::Result<bool> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
        let mut wakeup = Wakeup::Ready(&[]);
        loop {
            let ready = if let Wakeup::Ready(ready) = wakeup { ready } else { &[] };
            if is_ready(ready)? {
                return Ok(true);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) || matches!(wakeup, Wakeup::Interrupted) {
                return Ok(false);
            }
            wakeup = self.wait(&mut events, left)?;
        }
    }
}

/// The end of a sleep.
#[derive(Debug)]
pub(crate) enum Wakeup<'e> {
    Ready(&'e [libc::epoll_event]),
    TimedOut,
    /// A signal handler has run.
    Interrupted,
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn owned(fd: i32) -> io::Result<OwnedFd> {
    check(fd)?;
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
