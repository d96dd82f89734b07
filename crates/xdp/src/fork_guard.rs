//! Keeps file descriptors and mappings of AF_XDP sockets out of forked children.
//!
//! The kernel releases a socket or an attached program when its last descriptor and mapping are
//! closed. If a forked child inherited them, flows would stay redirected after the parent's death,
//! and peers would get neither an answer nor a port-unreachable error.
//!
//! So each descriptor is registered in a [table](fd_table), and every fork(3) replaces the
//! registered descriptors in the child. The kernel itself excludes mappings (`MADV_DONTFORK`).
//!
//! A fork waits while a descriptor is between creation and registration ([`fork_lock`]). Copies of
//! the process that bypass fork(3), by clone(2), vfork(2) and `_Fork`, are covered only if the
//! caller calls [`before_copy`] and the two functions after it. A following
//! exec(2) closes the descriptors, because all are close-on-exec. A child that exists but has not
//! run yet still holds everything.

mod fd_table;
mod fork_lock;

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use fork_lock::without_forks;

/// The number of forks between this process and the first ancestor that loaded this library.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A descriptor without function. It exists once forks are watched.
static INERT: OnceLock<OwnedFd> = OnceLock::new();

/// A file descriptor that a forked child does not inherit.
///
/// In the child the number refers to an inert descriptor until the child ends or calls exec(2). So
/// no other file can reuse the number, calls on it fail, and dropping the value closes nothing.
#[derive(Debug)]
pub struct ForkGuardedFd {
    descriptor: ManuallyDrop<OwnedFd>,
    process: Process,
}

impl ForkGuardedFd {
    /// Creates a descriptor with `open`. Forks by other threads wait meanwhile, so `open` must be
    /// quick.
    ///
    /// # Errors
    /// Those of `open`. The first call in a process also fails if memory or descriptors are
    /// exhausted.
    pub fn from_fn<D: Into<OwnedFd>>(open: impl FnOnce() -> io::Result<D>) -> io::Result<Self> {
        without_forks(|| {
            if INERT.get().is_none() {
                watch_forks()?;
            }
            let descriptor: OwnedFd = open()?.into();
            fd_table::insert(descriptor.as_raw_fd());
            Ok(Self { descriptor: ManuallyDrop::new(descriptor), process: Process::this() })
        })
    }

    /// Returns `true` in a forked child, where the descriptor is inert.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        !self.process.is_this()
    }
}

/// Returns `true` if the descriptor belongs to a [`ForkGuardedFd`] of this process, or is the inert
/// one of its forked children.
#[must_use]
pub fn is_internal_descriptor(descriptor: RawFd) -> bool {
    fd_table::contains(descriptor) || INERT.get().is_some_and(|it| it.as_raw_fd() == descriptor)
}

impl AsFd for ForkGuardedFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl AsRawFd for ForkGuardedFd {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

impl Drop for ForkGuardedFd {
    fn drop(&mut self) {
        without_forks(|| {
            if !self.is_inherited() {
                fd_table::remove(self.as_raw_fd());
                // SAFETY: this is the end of the value, which has not been dropped before.
                unsafe { ManuallyDrop::drop(&mut self.descriptor) };
            }
        });
    }
}

/// The process that created a value, distinguished from its forked children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn this() -> Self {
        Self(FORKS.load(Ordering::Relaxed))
    }

    pub(crate) fn is_this(self) -> bool {
        self == Self::this()
    }
}

/// Registers fork handlers once. Call it while forks are locked out. A fork that has already
/// entered the kernel is not seen.
pub(crate) fn watch_forks() -> io::Result<()> {
    if INERT.get().is_some() {
        return Ok(());
    }
    // SAFETY: the call takes integers and accesses no memory of this process.
    let inert = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if inert < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    let inert = unsafe { OwnedFd::from_raw_fd(inert) };
    // SAFETY: the functions exist as long as the process, and in a forked child they only make
    // async-signal-safe calls.
    match unsafe {
        libc::pthread_atfork(
            Some(before_fork),
            Some(after_fork_in_parent),
            Some(after_fork_in_child),
        )
    } {
        0 => {
            INERT.get_or_init(|| inert);
            Ok(())
        }
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

/// Registers the fork handlers of this library, before the caller registers its own. Those that are
/// registered later run earlier before a fork, when forks are not locked out yet: they may wait for
/// threads that create descriptors.
///
/// # Errors
/// The kernel's, if memory or descriptors are exhausted.
pub fn register_fork_handlers() -> io::Result<()> {
    without_forks(watch_forks)
}

/// Prepares a copy of the process that bypasses fork(3), such as clone(2) with memory of its own.
/// Descriptors exist already.
pub fn before_copy() {
    before_fork();
}

/// Ends what [`before_copy`] began, in the parent.
pub fn after_copy_in_parent() {
    after_fork_in_parent();
}

/// Ends what [`before_copy`] began, in the child: its descriptors are inert from now on.
pub fn after_copy_in_child() {
    after_fork_in_child();
}

extern "C" fn before_fork() {
    fork_lock::lock_for_fork();
}

extern "C" fn after_fork_in_parent() {
    fork_lock::unlock_after_fork();
}

/// Runs in the child. It may use only system calls and atomics: other threads do not exist here,
/// and locks that they
/// held stay locked.
extern "C" fn after_fork_in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    fd_table::drain(replace_by_inert);
    fork_lock::unlock_after_fork();
}

/// Replaces a descriptor by the inert one, or closes it if that fails.
fn replace_by_inert(descriptor: RawFd) {
    let inert = INERT.get().map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: the descriptor is owned by a `ForkGuardedFd`, which in this process neither closes
    // nor uses it.
    unsafe {
        if libc::dup3(inert, descriptor, libc::O_CLOEXEC) < 0 {
            libc::close(descriptor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::io::PipeReader;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn pipe() -> (PipeReader, ForkGuardedFd) {
        let mut reader = None;
        let writer = ForkGuardedFd::from_fn(|| {
            let (end, writer) = std::io::pipe()?;
            reader = Some(end);
            Ok(writer)
        });
        (reader.unwrap(), writer.unwrap())
    }

    fn write(to: impl AsFd) -> bool {
        // SAFETY: one byte, which outlives the call.
        unsafe { libc::write(to.as_fd().as_raw_fd(), b"x".as_ptr().cast(), 1) == 1 }
    }

    /// Returns `true` if all other ends are closed, after giving a child time to close its copy.
    fn is_at_end(reader: &PipeReader) -> bool {
        let (fd, events) = (reader.as_raw_fd(), libc::POLLIN);
        let mut poll = libc::pollfd { fd, events, revents: 0 };
        // SAFETY: one entry, which outlives the call.
        unsafe { libc::poll(&raw mut poll, 1, 10_000) == 1 && poll.revents == libc::POLLHUP }
    }

    /// A forked child that sleeps until this value is dropped.
    struct Sleeper(libc::pid_t);

    impl Sleeper {
        fn fork() -> Self {
            // SAFETY: the child only sleeps until it is killed, at the latest with its parent.
            match unsafe { libc::fork() } {
                // SAFETY: as above.
                0 => unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    loop {
                        libc::pause();
                    }
                },
                child => Self(child),
            }
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            // SAFETY: the child is a child of this process that no other caller waits for.
            unsafe {
                libc::kill(self.0, libc::SIGKILL);
                libc::waitpid(self.0, std::ptr::null_mut(), 0);
            }
        }
    }

    /// Runs `body` in a forked child and returns its result. `body` must be async-signal-safe.
    fn in_fork(body: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child runs only async-signal-safe code and exits.
        match unsafe { libc::fork() } {
            // SAFETY: ends the child immediately, or after a minute if it hangs.
            0 => unsafe {
                libc::alarm(60);
                libc::_exit(i32::from(!body()))
            },
            child => {
                let mut status = -1;
                // SAFETY: the status outlives the call.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                status == 0
            }
        }
    }

    #[test]
    fn child_does_not_keep_the_last_descriptor_open() {
        let (reader, writer) = pipe();
        let _child = Sleeper::fork();
        drop(writer);
        assert!(is_at_end(&reader), "the child still holds the descriptor");
    }

    #[test]
    fn inherited_value_is_inert_and_closes_nothing() {
        let (_reader, writer) = pipe();
        assert!(!writer.is_inherited() && write(&writer));
        let writer = ManuallyDrop::new(writer);
        let is_so = in_fork(|| {
            let number = writer.as_raw_fd();
            // SAFETY: the call takes a descriptor number; no value owns the duplicate.
            let other = unsafe { libc::dup(2) };
            let is_idle = writer.is_inherited() && !write(&*writer) && other != number;
            // Simulates foreign code that closes the descriptor and reuses its number. SAFETY: as
            // above.
            unsafe { libc::dup2(other, number) };
            drop(ManuallyDrop::into_inner(writer));
            // SAFETY: as above.
            is_idle && unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0
        });
        assert!(is_so);
    }

    #[test]
    fn child_owns_the_descriptors_that_it_creates() {
        assert!(in_fork(|| {
            let (reader, writer) = pipe();
            let number = writer.as_raw_fd();
            let is_idle = in_fork(|| writer.is_inherited() && !write(&writer));
            drop(writer);
            // SAFETY: the call only queries a descriptor number.
            is_idle && is_at_end(&reader) && unsafe { libc::fcntl(number, libc::F_GETFD) } < 0
        }));
    }

    /// A thread forks while each of many descriptors is being created. The fork must wait, and no
    /// child may hold the descriptor.
    #[test]
    fn fork_never_sees_a_descriptor_in_creation() {
        const ROUNDS: u32 = 50;
        let (moment, moments) = std::sync::mpsc::channel::<Arc<AtomicBool>>();
        let [begun, ended] = [const { AtomicU32::new(0) }; 2];
        let wait = |count: &AtomicU32, until| {
            while count.load(Ordering::Relaxed) < until {
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            let forker = scope.spawn(|| {
                // All children stay alive, so that inherited descriptors would be noticed.
                let fork = |is_over: Arc<AtomicBool>| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    let child = Sleeper::fork();
                    let has_waited = is_over.load(Ordering::Relaxed);
                    ended.fetch_add(1, Ordering::Relaxed);
                    (child, has_waited)
                };
                moments.into_iter().map(fork).collect::<Vec<_>>()
            });
            let mut readers = Vec::new();
            for round in 1..=ROUNDS {
                let (mut reader, is_over) = (None, Arc::new(AtomicBool::new(false)));
                let writer = ForkGuardedFd::from_fn(|| {
                    let (end, writer) = std::io::pipe()?;
                    reader = Some(end);
                    moment.send(Arc::clone(&is_over)).unwrap();
                    wait(&begun, round);
                    // Gives a fork that does not wait the time to show; one that waits is not
                    // affected.
                    std::thread::sleep(Duration::from_millis(2));
                    is_over.store(true, Ordering::Relaxed);
                    Ok(writer)
                });
                drop(writer.unwrap());
                readers.extend(reader);
                wait(&ended, round);
            }
            drop(moment);
            let children = forker.join().unwrap();
            assert!(readers.iter().all(is_at_end), "a child holds the descriptor");
            assert_eq!(
                children.iter().filter(|(_, has_waited)| *has_waited).count(),
                ROUNDS as usize
            );
        });
    }

    /// A thread that forks inside the lock, as in a signal handler, still holds the lock
    /// afterwards.
    #[test]
    fn fork_inside_the_lock_does_not_release_it() {
        let (holder, is_inside) = std::sync::mpsc::channel();
        let is_over = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let next = scope.spawn(move || {
                is_inside.recv().unwrap();
                without_forks(|| is_over.load(Ordering::Relaxed))
            });
            without_forks(|| {
                assert!(in_fork(|| true));
                holder.send(()).unwrap();
                // Gives a thread that does not wait the time to show; one that waits is not
                // affected.
                std::thread::sleep(Duration::from_millis(20));
                is_over.store(true, Ordering::Relaxed);
            });
            assert!(next.join().unwrap(), "another thread entered the lock");
        });
    }

    /// Many descriptors are dropped one by one while another thread forks; no child may see a
    /// half-closed one.
    #[test]
    fn fork_never_sees_a_descriptor_in_destruction() {
        for _ in 0..50 {
            let (reader, writer) = std::io::pipe().unwrap();
            let copy = || ForkGuardedFd::from_fn(|| writer.try_clone()).unwrap();
            let copies: Vec<_> = (0..60).map(|_| copy()).collect();
            drop(writer);
            let together = std::sync::Barrier::new(2);
            let _child = std::thread::scope(|scope| {
                scope.spawn(|| {
                    together.wait();
                    drop(copies);
                });
                together.wait();
                Sleeper::fork()
            });
            assert!(is_at_end(&reader), "a child holds a descriptor");
        }
    }

    /// After a drop the descriptor number may belong to another file, which a child must keep.
    #[test]
    fn dropped_descriptors_are_unregistered_and_no_others() {
        // Far from the numbers that other tests get.
        const HIGH: RawFd = 700;
        let (_reader, plain) = std::io::pipe().unwrap();
        let copy = || {
            // SAFETY: the call takes integers; the descriptor is new and has no other owner.
            let copy = unsafe { libc::fcntl(plain.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIGH) };
            assert_eq!(copy, HIGH);
            // SAFETY: as above.
            unsafe { OwnedFd::from_raw_fd(copy) }
        };
        let (_first, first) = pipe();
        let dropped = ForkGuardedFd::from_fn(|| Ok(copy())).unwrap();
        let (_last, last) = pipe();
        drop(dropped);
        let others = copy();
        assert!(in_fork(|| write(&others) && !write(&first) && !write(&last)));
    }

    #[test]
    fn fork_inside_the_lock_does_not_deadlock() {
        let is_so = without_forks(|| in_fork(|| without_forks(|| true)));
        assert!(is_so && without_forks(|| true));
    }

    /// Copies the process without fork handlers. In the copy, the lock's holder is a thread that
    /// does not exist there.
    #[test]
    fn holder_of_another_process_does_not_block_the_lock() {
        let (holder, is_inside) = std::sync::mpsc::channel();
        let (leave, may_leave) = std::sync::mpsc::channel::<()>();
        let status = std::thread::scope(|scope| {
            scope.spawn(move || {
                without_forks(|| {
                    holder.send(()).unwrap();
                    may_leave.recv().unwrap();
                });
            });
            is_inside.recv().unwrap();
            let mut status = -1;
            // SAFETY: the child, created as by `_Fork`, makes only system calls and exits.
            match unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } {
                0 => {
                    // SAFETY: ends the child if it waits forever.
                    unsafe { libc::alarm(10) };
                    let is_so = without_forks(|| without_forks(|| true));
                    // SAFETY: ends the child immediately.
                    unsafe { libc::_exit(i32::from(!is_so)) }
                }
                child => {
                    // SAFETY: the status outlives the call.
                    unsafe { libc::waitpid(child as libc::pid_t, &raw mut status, 0) };
                }
            }
            leave.send(()).unwrap();
            status
        });
        assert_eq!(status, 0);
        assert!(without_forks(|| true));
    }

    #[test]
    fn table_grows_without_limit() {
        let many: Vec<_> = (0..100).map(|_| pipe()).collect();
        assert!(in_fork(|| many.iter().all(|(_, writer)| !write(writer))));
        drop(many);
        assert!(in_fork(|| true));
    }
}
