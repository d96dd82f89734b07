//! What a forked child does not get: descriptors and memory that keep flows alive.
//!
//! The kernel lets go of a socket or of a program on an interface when the last descriptor and the
//! last mapping are gone. A child that had inherited them would keep the flows redirected to nobody
//! when its parent ends: peers would find neither an answer nor a refusal. So each descriptor is
//! entered in a [`table`] of the process, and every fork(3) takes them from the child. Mappings are
//! left out by the kernel itself (`MADV_DONTFORK`).
//!
//! A fork waits while a descriptor is between being made and being entered ([`gate`]). What copies
//! a process past fork(3) is not seen: clone(2), vfork(2) and `_Fork`. An exec(2) then helps, for
//! all descriptors are close-on-exec. A child that has been made and has not run yet has everything
//! still.

mod gate;
mod table;

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use gate::without_forks;

/// How often this process was forked off, counted from its first ancestor that has loaded us.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A descriptor that does nothing. It is there once something waits for a fork.
static INERT: OnceLock<OwnedFd> = OnceLock::new();

/// A descriptor that a forked child does not inherit.
///
/// In the child its number stands for a descriptor that does nothing, until the child ends or calls
/// exec(2). So no other descriptor can get the number, and what the child calls on it fails; to
/// drop it there closes nothing.
#[derive(Debug)]
pub struct ForkGuardedFd {
    descriptor: ManuallyDrop<OwnedFd>,
    process: Process,
}

impl ForkGuardedFd {
    /// Makes a descriptor. A fork by another thread waits for that, so it must be quick.
    ///
    /// # Errors
    /// Those of `open`; of the first in a process, also the kernel's want of memory or descriptors.
    pub fn make<D: Into<OwnedFd>>(open: impl FnOnce() -> io::Result<D>) -> io::Result<Self> {
        without_forks(|| {
            if INERT.get().is_none() {
                watch_forks()?;
            }
            let descriptor: OwnedFd = open()?.into();
            table::enter(descriptor.as_raw_fd());
            Ok(Self { descriptor: ManuallyDrop::new(descriptor), process: Process::this() })
        })
    }

    /// Whether this is what a forked child has of it: nothing.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        !self.process.is_this()
    }
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
                table::remove(self.as_raw_fd());
                // SAFETY: this is the end of the value, which has not been dropped before.
                unsafe { ManuallyDrop::drop(&mut self.descriptor) };
            }
        });
    }
}

/// The process that something was made in, told from those forked off it.
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

/// Has every fork from now on call us. Once, with forks kept out: one that has begun before goes on
/// unseen, for the kernel's part of it.
pub(crate) fn watch_forks() -> io::Result<()> {
    if INERT.get().is_some() {
        return Ok(());
    }
    // SAFETY: takes numbers and touches no memory of ours.
    let inert = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if inert < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let inert = unsafe { OwnedFd::from_raw_fd(inert) };
    // SAFETY: the functions exist as long as the process, and do in a forked child only what may be
    // done there.
    match unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } {
        0 => {
            INERT.get_or_init(|| inert);
            Ok(())
        }
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

extern "C" fn before() {
    gate::shut();
}

extern "C" fn in_parent() {
    gate::reopen();
}

/// Only system calls and atomics: other threads, and the locks that they held, are gone.
extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    table::take_all(make_inert);
    gate::reopen();
}

/// Puts what does nothing in a descriptor's place, or closes it.
fn make_inert(descriptor: RawFd) {
    let inert = INERT.get().map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: the descriptor is one that is owned by a `ForkGuardedFd`, which in this process never
    // closes it nor expects anything of it.
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
        let writer = ForkGuardedFd::make(|| {
            let (end, writer) = std::io::pipe()?;
            reader = Some(end);
            Ok(writer)
        });
        (reader.unwrap(), writer.unwrap())
    }

    fn write(to: impl AsFd) -> bool {
        // SAFETY: one byte, which lives through the call.
        unsafe { libc::write(to.as_fd().as_raw_fd(), b"x".as_ptr().cast(), 1) == 1 }
    }

    /// Whether all of the other ends are closed, when a child has had its time to do so.
    fn is_at_end(reader: &PipeReader) -> bool {
        let (fd, events) = (reader.as_raw_fd(), libc::POLLIN);
        let mut poll = libc::pollfd { fd, events, revents: 0 };
        // SAFETY: one entry, which lives through the call.
        unsafe { libc::poll(&raw mut poll, 1, 10_000) == 1 && poll.revents == libc::POLLHUP }
    }

    /// A forked child that sleeps until this is dropped.
    struct Sleeper(libc::pid_t);

    impl Sleeper {
        fn fork() -> Self {
            // SAFETY: the child does nothing but sleep until it is killed, with its parent if not
            // before.
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
            // SAFETY: the child is ours, and nobody else waits for it.
            unsafe {
                libc::kill(self.0, libc::SIGKILL);
                libc::waitpid(self.0, std::ptr::null_mut(), 0);
            }
        }
    }

    /// Whether a forked child says so, which may do what a handler of a signal may.
    fn in_fork(body: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child does what a handler of a signal may, and ends.
        match unsafe { libc::fork() } {
            // SAFETY: ends the child at once, or in a minute if it hangs.
            0 => unsafe {
                libc::alarm(60);
                libc::_exit(i32::from(!body()))
            },
            child => {
                let mut status = -1;
                // SAFETY: the number lives through the call.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                status == 0
            }
        }
    }

    #[test]
    fn the_last_descriptor_is_the_parents_though_a_child_lives() {
        let (reader, writer) = pipe();
        let _child = Sleeper::fork();
        drop(writer);
        assert!(is_at_end(&reader), "the child has it still");
    }

    #[test]
    fn in_a_child_nothing_is_done_and_nothing_foreign_closed() {
        let (_reader, writer) = pipe();
        assert!(!writer.is_inherited() && write(&writer));
        let writer = ManuallyDrop::new(writer);
        let is_so = in_fork(|| {
            let number = writer.as_raw_fd();
            // SAFETY: a number; what it stands for afterwards belongs to nobody.
            let other = unsafe { libc::dup(2) };
            let is_idle = writer.is_inherited() && !write(&*writer) && other != number;
            // Somebody closes what is not theirs, and gets the number for something else.
            // SAFETY: as above.
            unsafe { libc::dup2(other, number) };
            drop(ManuallyDrop::into_inner(writer));
            // SAFETY: as above.
            is_idle && unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0
        });
        assert!(is_so);
    }

    #[test]
    fn a_childs_own_are_closed_by_it_and_not_inherited_by_its_children() {
        assert!(in_fork(|| {
            let (reader, writer) = pipe();
            let number = writer.as_raw_fd();
            let is_idle = in_fork(|| writer.is_inherited() && !write(&writer));
            drop(writer);
            // SAFETY: asks about a number.
            is_idle && is_at_end(&reader) && unsafe { libc::fcntl(number, libc::F_GETFD) } < 0
        }));
    }

    /// A thread forks in the midst of each of many descriptors: it waits, and no child has one.
    #[test]
    fn no_moment_of_a_descriptor_is_seen_by_a_fork() {
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
                // All live on, so that what they have is seen.
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
                let writer = ForkGuardedFd::make(|| {
                    let (end, writer) = std::io::pipe()?;
                    reader = Some(end);
                    moment.send(Arc::clone(&is_over)).unwrap();
                    wait(&begun, round);
                    // Time for a fork that does not wait; for one that does it changes nothing.
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
            assert!(readers.iter().all(is_at_end), "a child has it");
            assert_eq!(
                children.iter().filter(|(_, has_waited)| *has_waited).count(),
                ROUNDS as usize
            );
        });
    }

    /// Who forks inside, in a handler of a signal, is inside still when that is over.
    #[test]
    fn a_fork_inside_the_gate_lets_nobody_in() {
        let (inside, is_inside) = std::sync::mpsc::channel();
        let is_over = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let next = scope.spawn(move || {
                is_inside.recv().unwrap();
                without_forks(|| is_over.load(Ordering::Relaxed))
            });
            without_forks(|| {
                assert!(in_fork(|| true));
                inside.send(()).unwrap();
                // Time for one who does not wait; for one who does it changes nothing.
                std::thread::sleep(Duration::from_millis(20));
                is_over.store(true, Ordering::Relaxed);
            });
            assert!(next.join().unwrap(), "somebody came in meanwhile");
        });
    }

    /// Many are dropped one by one while another thread forks, which no child sees half done.
    #[test]
    fn no_end_of_a_descriptor_is_seen_by_a_fork() {
        for _ in 0..50 {
            let (reader, writer) = std::io::pipe().unwrap();
            let copy = || ForkGuardedFd::make(|| writer.try_clone()).unwrap();
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
            assert!(is_at_end(&reader), "a child has one");
        }
    }

    /// The number of one that was dropped is another's by then, which a child keeps.
    #[test]
    fn what_is_dropped_is_forgotten_and_nothing_else() {
        // Far from the numbers that other tests get.
        const HIGH: RawFd = 700;
        let (_reader, plain) = std::io::pipe().unwrap();
        let copy = || {
            // SAFETY: takes numbers; the descriptor is new and nobody else's.
            let copy = unsafe { libc::fcntl(plain.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIGH) };
            assert_eq!(copy, HIGH);
            // SAFETY: as above.
            unsafe { OwnedFd::from_raw_fd(copy) }
        };
        let (_first, first) = pipe();
        let dropped = ForkGuardedFd::make(|| Ok(copy())).unwrap();
        let (_last, last) = pipe();
        drop(dropped);
        let others = copy();
        assert!(in_fork(|| write(&others) && !write(&first) && !write(&last)));
    }

    #[test]
    fn a_fork_inside_the_gate_goes_on() {
        let is_so = without_forks(|| in_fork(|| without_forks(|| true)));
        assert!(is_so && without_forks(|| true));
    }

    /// A child that nobody was told of: its thread finds another inside, who is not there.
    #[test]
    fn who_was_inside_when_a_process_was_copied_keeps_nobody_out() {
        let (inside, is_inside) = std::sync::mpsc::channel();
        let (leave, may_leave) = std::sync::mpsc::channel::<()>();
        let status = std::thread::scope(|scope| {
            scope.spawn(move || {
                without_forks(|| {
                    inside.send(()).unwrap();
                    may_leave.recv().unwrap();
                });
            });
            is_inside.recv().unwrap();
            let mut status = -1;
            // SAFETY: the child, a copy as of `_Fork`, makes system calls alone, and ends.
            match unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } {
                0 => {
                    // SAFETY: ends the child if it waits for ever.
                    unsafe { libc::alarm(10) };
                    let is_so = without_forks(|| without_forks(|| true));
                    // SAFETY: ends the child at once.
                    unsafe { libc::_exit(i32::from(!is_so)) }
                }
                child => {
                    // SAFETY: the number lives through the call.
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
    fn there_is_room_for_any_number() {
        let many: Vec<_> = (0..100).map(|_| pipe()).collect();
        assert!(in_fork(|| many.iter().all(|(_, writer)| !write(writer))));
        drop(many);
        assert!(in_fork(|| true));
    }
}
