//! Whether a socket has something to receive, for those who sleep until it has.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hairpin_xdp::{ForkGuardedFd, Socket};

/// Tells one socket what others have brought to it: another socket of its stack, which took a frame
/// of it off the ring, or the kernel, by the socket behind it.
#[derive(Debug)]
pub(crate) struct Readiness {
    event: ForkGuardedFd,
    /// Whether anybody may sleep until the event: not while its owner spins.
    is_awaited: AtomicBool,
    is_raised: AtomicBool,
    /// Somebody has put something into the queue since it was empty.
    has_frames: AtomicBool,
    /// The kernel's socket has something.
    by_kernel: AtomicBool,
}

impl Readiness {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            event: event()?,
            is_awaited: AtomicBool::new(true),
            is_raised: AtomicBool::new(false),
            has_frames: AtomicBool::new(false),
            // What came before anybody looked is found by the first look.
            by_kernel: AtomicBool::new(true),
        })
    }

    pub(crate) fn set_awaited(&self, is_awaited: bool) {
        self.is_awaited.store(is_awaited, Ordering::Relaxed);
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.is_awaited.load(Ordering::Relaxed)
    }

    /// Something was put into the socket's queue by another.
    #[inline]
    pub(crate) fn raise(&self) {
        self.has_frames.store(true, Ordering::Release);
        if self.is_awaited.load(Ordering::Relaxed) && !self.is_raised.swap(true, Ordering::AcqRel) {
            signal(self.event.as_fd());
        }
    }

    /// The queue has been emptied.
    #[inline]
    pub(crate) fn lower(&self) {
        self.has_frames.store(false, Ordering::Relaxed);
        if self.is_raised.load(Ordering::Acquire) {
            clear(self.event.as_fd());
            self.is_raised.store(false, Ordering::Release);
        }
    }

    /// Whether others have put something into the queue.
    #[inline]
    pub(crate) fn has_frames(&self) -> bool {
        self.has_frames.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn set_by_kernel(&self) {
        self.by_kernel.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_by_kernel(&self) -> bool {
        self.by_kernel.load(Ordering::Relaxed)
    }

    /// Whether the kernel's socket has to be looked at, which whoever asks then does.
    #[inline]
    pub(crate) fn take_by_kernel(&self) -> bool {
        self.by_kernel.load(Ordering::Relaxed) && self.by_kernel.swap(false, Ordering::AcqRel)
    }
}

impl AsFd for Readiness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// An eventfd(2).
pub(crate) fn event() -> io::Result<ForkGuardedFd> {
    // SAFETY: no pointers.
    let open = || owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) });
    ForkGuardedFd::make(open)
}

pub(crate) fn signal(event: BorrowedFd<'_>) {
    let one = 1_u64;
    // SAFETY: eight bytes are read from a local variable. It fails only when the count is full,
    // and then it is readable already.
    unsafe { libc::write(event.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
}

pub(crate) fn clear(event: BorrowedFd<'_>) {
    let mut count = 0_u64;
    // SAFETY: eight bytes are written to a local variable. It fails only when there is nothing.
    unsafe { libc::read(event.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
}

/// An epoll(7) instance.
#[derive(Debug)]
pub(crate) struct Epoll(ForkGuardedFd);

impl Epoll {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        let open = || owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) });
        ForkGuardedFd::make(open).map(Self)
    }

    pub(crate) fn add(&self, fd: BorrowedFd<'_>, events: i32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        let (epoll, fd) = (self.0.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: the event outlives the call.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) })
    }

    /// Takes these in, if they are not in already, or out. As long as one is in, the kernel goes
    /// to wake somebody at each frame, whether anybody sleeps or not: on a veth in native mode
    /// that is a fifth of what a frame takes.
    ///
    /// # Errors
    /// The kernel's, that has no memory for it.
    pub(crate) fn watch(&self, sockets: &[Socket], is_watching: bool) -> io::Result<()> {
        for socket in sockets {
            if !is_watching {
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

    /// Takes a descriptor out; nothing happens if it is not there.
    pub(crate) fn remove(&self, fd: BorrowedFd<'_>) {
        let (epoll, fd) = (self.0.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: no event is needed to remove.
        unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
    }

    /// Sleeps until something is ready, up to `timeout` rounded up to milliseconds; the tokens and
    /// events of what is. A signal ends it early.
    pub(crate) fn wait<'e>(
        &self,
        events: &'e mut [libc::epoll_event],
        timeout: Option<Duration>,
    ) -> io::Result<&'e [libc::epoll_event]> {
        let milliseconds = timeout.map_or(-1, |timeout| {
            timeout.as_micros().div_ceil(1_000).try_into().unwrap_or(i32::MAX)
        });
        let most = events.len() as i32;
        // SAFETY: there is room for so many.
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
    // SAFETY: the kernel has just made it, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
