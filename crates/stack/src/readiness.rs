//! The readiness of a socket, for threads that wait for it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hairpin_xdp::{ForkGuardedFd, Socket};

/// Signals a socket that other threads queued something for it: a socket of the same stack took a
/// frame for it off the rings, or its backing socket has something.
#[derive(Debug)]
pub(crate) struct Readiness {
    wake: Wake,
    /// `true` if a thread may wait for the event: not while its owner spins.
    waited_on: AtomicBool,
    signaled: AtomicBool,
    /// `true` while the event is signaled.
    has_frames: AtomicBool,
    /// `true` if a frame was queued since the queue was last empty.
    kernel_pending: AtomicBool,
}

/// How a readiness wakes the threads that wait for it.
#[derive(Debug)]
enum Wake {
    /// An eventfd(2), for a socket that waits on descriptors of its own.
    Event(ForkGuardedFd),
    /// A function of the owner, which wakes the owner's sleeping threads. It needs no descriptor.
    Call(fn()),
}

impl Readiness {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self::with(Wake::Event(new_event()?)))
    }

    /// Creates a readiness that wakes waiters by a call. The function must be quick and take no
    /// lock of the stack: it runs under the lock of the data plane.
    pub(crate) fn with_call(wake: fn()) -> Self {
        Self::with(Wake::Call(wake))
    }

    fn with(wake: Wake) -> Self {
        Self {
            wake,
            waited_on: AtomicBool::new(true),
            signaled: AtomicBool::new(false),
            has_frames: AtomicBool::new(false),
            // The first receive finds what arrived before any poll.
            kernel_pending: AtomicBool::new(true),
        }
    }

    /// Returns the descriptor that is readable while the readiness is signaled.
    pub(crate) fn event(&self) -> Option<BorrowedFd<'_>> {
        match &self.wake {
            Wake::Event(event) => Some(event.as_fd()),
            Wake::Call(_) => None,
        }
    }

    pub(crate) fn set_has_waiters(&self, has_waiters: bool) {
        self.waited_on.store(has_waiters, Ordering::Relaxed);
    }

    pub(crate) fn has_waiters(&self) -> bool {
        self.waited_on.load(Ordering::Relaxed)
    }

    /// Signals that another thread queued a frame.
    #[inline]
    pub(crate) fn signal(&self) {
        self.has_frames.store(true, Ordering::Release);
        match &self.wake {
            Wake::Event(event) => {
                if self.waited_on.load(Ordering::Relaxed)
                    && !self.signaled.swap(true, Ordering::AcqRel)
                {
                    signal_event(event.as_fd());
                }
            }
            Wake::Call(wake) => wake(),
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
        self.kernel_pending.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_kernel_pending(&self) -> bool {
        self.kernel_pending.load(Ordering::Relaxed)
    }

    /// Returns `true` and clears the flag if the backing socket must be read; the caller reads it.
    #[inline]
    pub(crate) fn take_kernel_pending(&self) -> bool {
        self.kernel_pending.load(Ordering::Relaxed)
            && self.kernel_pending.swap(false, Ordering::AcqRel)
    }
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
    /// # Errors
    /// The kernel's, if it lacks memory.
    pub(crate) fn watch(&self, sockets: &[Socket], watching: bool) -> io::Result<()> {
        for socket in sockets {
            if !watching {
                self.remove(socket.as_fd());
                continue;
            }
            match self.add(socket.as_fd(), libc::EPOLLIN, 0) {
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

    /// Waits until a descriptor is ready or `timeout` has passed, rounded up to milliseconds.
    /// Returns the ready tokens and events; empty after a signal.
    pub(crate) fn wait<'e>(
        &self,
        events: &'e mut [libc::epoll_event],
        timeout: Option<Duration>,
    ) -> io::Result<&'e [libc::epoll_event]> {
        let milliseconds = timeout.map_or(-1, |timeout| {
            timeout.as_micros().div_ceil(1_000).try_into().unwrap_or(i32::MAX)
        });
        let most = events.len() as i32;
        // SAFETY: the buffer has room for this number of events.
        let count = unsafe {
            libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), most, milliseconds)
        };
        match usize::try_from(count) {
            Ok(count) => Ok(&events[..count]),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(&[]),
                error => Err(error),
            },
        }
    }
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
