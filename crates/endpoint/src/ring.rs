//! Receiving, and waiting for it, by requests in a ring: io_uring(7).

use std::fmt;
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hairpin_time::Duration;
use io_uring::IoUring;
use io_uring::squeue::Entry;
use io_uring::types::{SubmitArgs, Timespec};

use crate::completions::Completion;
use crate::requests::{CAPACITY, GROUP, Requests, slots};
use crate::{DropNotifier, Source, UringHandle};

/// Requests of up to [`Ring::CAPACITY`] sources to receive, and to be told when they can be
/// received from or sent to. For a reactor, which says what to wait for and for how long.
///
/// A source that can (see [`Source::set_uring_handle`]) has one request that receives again and
/// again,
/// each time into the next free one of its buffers, until none is free; all others are polled for
/// by requests that are answered once. Buffers are allocated when a source is first added and
/// belong to it; they outlive it for as long as the kernel may write to them.
///
/// The kernel works on requests only within a wait and on the thread that waits (`DEFER_TASKRUN`):
/// it interrupts nothing else that the thread does, reads a socket as late as it can and so as
/// much as there is, and needs no lock (`SINGLE_ISSUER`). So a ring belongs to the thread that
/// first waits by it, and can be moved until then (`R_DISABLED`). Requests to send are not made: a
/// send has to leave before the next wait, and would need a system call of its own just the same.
pub struct Ring {
    uring: IoUring,
    requests: Requests,
    /// Sources that have been dropped without being removed, in groups like those of `requests`.
    dropped: Vec<Arc<AtomicU64>>,
    is_enabled: bool,
}

/// What a wait has found in one group of 64 slots: sets of sources, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadySet {
    /// The slot that the lowest bits stand for, a multiple of 64.
    pub first: usize,
    /// Sources to receive from.
    pub readable: u64,
    /// Sources to send to.
    pub writable: u64,
    /// Answers of the kernel's. If there were any and no source is ready, time may be left.
    pub answers: usize,
}

/// Requests made at once: two for each source, and some that end them.
const REQUESTS: u32 = 256;
/// Answers that the kernel has room for: those of sixteen sources with all their buffers full at
/// once. More are kept by it elsewhere, at more cost. With the requests this is some 40 KiB, less
/// than the 64 KiB that older systems let a user lock.
const ANSWERS: u32 = 1_024;
/// How often and for how long to wait until the kernel has ended a request. It needs no longer
/// than a turn; the bound is for a kernel that does not answer at all.
const CANCEL_TURNS: usize = 100;
const CANCEL_TIMEOUT: Duration = Duration::from_millis(10);

impl Ring {
    /// Sources in one ring.
    pub const CAPACITY: usize = CAPACITY;

    /// A ring without sources.
    ///
    /// # Errors
    /// `Unsupported` if the kernel has no io_uring or one older than Linux 6.1's,
    /// `PermissionDenied` if it is forbidden (`kernel.io_uring_disabled`, seccomp), `OutOfMemory`
    /// if the user may not lock so much (RLIMIT_MEMLOCK); else the kernel's.
    pub fn new() -> io::Result<Self> {
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            // Shows without a system call whether there is anything to do in the kernel.
            .setup_taskrun_flag()
            // The thread that enables the ring owns it, not the one that makes it.
            .setup_r_disabled()
            .setup_submit_all()
            .setup_cqsize(ANSWERS)
            .build(REQUESTS)
            .map_err(|error| unavailable(&error))?;
        let requests = Requests::new();
        Ok(Self { uring, requests, dropped: Vec::new(), is_enabled: false })
    }

    /// Adds a source in a slot that is free. Nothing is asked of the kernel for it before the first
    /// wait in which it is waited for (see [`Ring::set_interest`]). What is known of the sources is
    /// kept for all slots up to the highest taken, so low ones cost least.
    ///
    /// # Errors
    /// The kernel's; `AlreadyExists` if the source is in another ring.
    ///
    /// # Panics
    /// If the slot is taken, or not below [`Ring::CAPACITY`].
    pub fn add(&mut self, slot: usize, source: &mut impl Source) -> io::Result<()> {
        assert!(self.requests.is_free(slot), "a source is added in a free slot");
        let socket = source.as_fd().as_raw_fd();
        let group = slot / GROUP;
        if self.dropped.len() <= group {
            self.dropped.resize_with(group + 1, Arc::default);
        }
        let notice =
            DropNotifier { word: Arc::clone(&self.dropped[group]), bit: 1 << (slot % GROUP) };
        let intake = source.set_uring_handle(Some(notice))?;
        if let Some(UringHandle(arrivals)) = &intake {
            // SAFETY: the intake is kept until `release`, which withdraws the buffers or leaks it.
            let outcome = unsafe { arrivals.register(&self.uring.submitter(), slot as u16) };
            if let Err(error) = outcome {
                arrivals.detach();
                source.set_uring_handle(None)?;
                return Err(error);
            }
        }
        self.requests.add(slot, socket, intake);
        Ok(())
    }

    /// Waits for a source to be readable, writable, both or, for now, neither: what a source that
    /// has been added is waited for until this is called.
    ///
    /// # Panics
    /// If the slot is free.
    pub fn set_interest(&mut self, slot: usize, readable: bool, writable: bool) {
        assert!(!self.requests.is_free(slot), "what is waited for has been added");
        self.requests.set_wanted(slot, readable, writable);
    }

    /// Removes a source: when this returns, the kernel has no request of it and no longer writes
    /// to its buffers. What it had received by then is for the source's `receive` to deliver.
    ///
    /// # Errors
    /// The kernel's, above all if this is not the thread that waits. The source is removed
    /// nevertheless, but its buffers leak and may still receive for as long as the ring is there.
    pub fn remove(&mut self, slot: usize, source: &mut impl Source) -> io::Result<()> {
        let outcome = self.release(slot);
        source.set_uring_handle(None)?;
        outcome
    }

    /// Waits until a source may be ready for what it is waited for, `timeout` has passed (never
    /// without one), or a signal has come. One system call, or none if what is undelivered is ready
    /// already and the kernel has nothing new.
    ///
    /// If sources of several groups are ready, those of one are told; the next wait tells of the
    /// next group, without waiting.
    ///
    /// # Errors
    /// The kernel's. `NotFound` if a source was dropped without being removed.
    #[inline]
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<ReadySet> {
        if !self.is_enabled {
            self.enable()?;
        }
        if self.dropped.iter().any(|group| group.load(Ordering::Acquire) != 0) {
            return Err(self.bury());
        }
        self.requests.forget();
        self.request()?;
        let is_ready = self.requests.is_ready();
        self.enter(if is_ready { Some(Duration::ZERO) } else { timeout })?;
        let answers = self.reap();
        if self.requests.has_lost() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (first, readable, writable) = self.requests.next_ready();
        Ok(ReadySet { first, readable, writable, answers })
    }

    /// How often a request had to end because all buffers of its source were full. What came after
    /// that was kept by the socket, until some had been delivered.
    #[must_use]
    pub fn exhausted(&self) -> u64 {
        self.requests.exhausted()
    }

    /// Makes the requests that are missing.
    #[inline]
    fn request(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        let Self { uring, requests, .. } = self;
        requests.make(|entry| {
            // SAFETY: `requests` keeps the intake of the source, and so its buffers and header,
            // until `release` has seen the last answer to this, or leaks it.
            if let Err(error) = unsafe { push(uring, &entry) } {
                outcome = Err(error);
            }
        });
        outcome
    }

    /// Gives the kernel what there is to do, and waits.
    #[inline]
    fn enter(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let outcome = match timeout {
            Some(Duration::ZERO) => {
                let mut queue = self.uring.submission();
                queue.sync();
                if queue.is_empty() && !queue.taskrun() && !queue.cq_overflow() {
                    return Ok(());
                }
                drop(queue);
                self.uring.submit()
            }
            Some(timeout) => {
                let nanos = timeout.min(TIMEOUT_MAX).as_nanos();
                // What is left of a second fits 32 bits.
                let time = Timespec::new().sec(nanos / NANOS).nsec((nanos % NANOS) as u32);
                self.uring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
            None => self.uring.submit_and_wait(1),
        };
        match outcome {
            Err(error) => entered(error),
            Ok(_) => Ok(()),
        }
    }

    /// Takes the answers, and says how many.
    #[inline]
    fn reap(&mut self) -> usize {
        let mut count = 0;
        for answer in self.uring.completion() {
            let completion = Completion { result: answer.result(), flags: answer.flags() };
            self.requests.complete(answer.user_data(), completion);
            count += 1;
        }
        count
    }

    #[cold]
    fn enable(&mut self) -> io::Result<()> {
        self.uring.submitter().register_enable_rings()?;
        self.is_enabled = true;
        Ok(())
    }

    /// Ends the requests of sources that were dropped, so that their sockets are closed. Their
    /// slots stay taken: nobody can remove them.
    #[cold]
    fn bury(&mut self) -> io::Error {
        for group in 0..self.dropped.len() {
            for slot in slots(self.dropped[group].load(Ordering::Acquire)) {
                // Of both errors the other is worth more.
                let _ = self.release(group * GROUP + slot);
            }
        }
        io::ErrorKind::NotFound.into()
    }

    /// Ends the requests of a source and takes its buffers back from the kernel.
    fn release(&mut self, slot: usize) -> io::Result<()> {
        let ended = self.cancel(slot);
        let Some(UringHandle(arrivals)) = self.requests.remove(slot) else { return ended };
        let withdrawn =
            ended.and_then(|()| self.uring.submitter().unregister_buf_ring(slot as u16));
        match &withdrawn {
            Ok(()) => arrivals.detach(),
            // The kernel may write to them for ever.
            Err(_) => mem::forget(arrivals),
        }
        withdrawn
    }

    /// Has the kernel end the requests of a source, and waits until it has.
    fn cancel(&mut self, slot: usize) -> io::Result<()> {
        for entry in self.requests.cancel(slot) {
            // SAFETY: the request has no memory.
            unsafe { push(&mut self.uring, &entry)? };
        }
        for _ in 0..CANCEL_TURNS {
            if !self.requests.has_pending(slot) {
                return Ok(());
            }
            self.enter(Some(CANCEL_TIMEOUT))?;
            self.reap();
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "the kernel does not end a request"))
    }
}

const NANOS: u64 = 1_000_000_000;
/// Some 34 years: kernels differ in what they make of a time that they cannot count.
const TIMEOUT_MAX: Duration = Duration::from_secs(1 << 30);

/// Leaves a request for the next time the kernel is entered.
///
/// # Safety
/// What the request points to stays until its last answer.
#[inline]
unsafe fn push(uring: &mut IoUring, entry: &Entry) -> io::Result<()> {
    // SAFETY: as the caller says.
    while unsafe { uring.submission().push(entry) }.is_err() {
        uring.submit()?;
    }
    Ok(())
}

/// What is no failure of a wait: that time has passed, a signal has come, or that there are too
/// many answers to take another request now.
#[cold]
fn entered(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::ETIME | libc::EINTR | libc::EBUSY) => Ok(()),
        Some(libc::EEXIST) => {
            let reason = "a reactor that waits by io_uring belongs to the thread that waited first";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
        }
        _ => Err(error),
    }
}

#[cold]
fn unavailable(error: &io::Error) -> io::Error {
    let (kind, reason) = match error.raw_os_error() {
        Some(libc::ENOSYS) => (io::ErrorKind::Unsupported, "the kernel has none"),
        Some(libc::EINVAL) => (io::ErrorKind::Unsupported, "that of Linux 6.1 or newer is needed"),
        Some(libc::EPERM | libc::EACCES) => {
            let reason = "it is forbidden here (sysctl kernel.io_uring_disabled, or seccomp)";
            (io::ErrorKind::PermissionDenied, reason)
        }
        Some(libc::ENOMEM) => {
            let reason = "no memory, or no more that may be locked (ulimit -l)";
            (io::ErrorKind::OutOfMemory, reason)
        }
        _ => return io::Error::new(error.kind(), format!("cannot wait by io_uring: {error}")),
    };
    io::Error::new(kind, format!("cannot wait by io_uring: {reason}"))
}

impl Drop for Ring {
    /// Has the kernel let go of all buffers; of those that it will not, the memory leaks.
    fn drop(&mut self) {
        for slot in self.requests.taken() {
            // There is nobody to tell.
            let _ = self.release(slot);
        }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("is_enabled", &self.is_enabled).finish_non_exhaustive()
    }
}
