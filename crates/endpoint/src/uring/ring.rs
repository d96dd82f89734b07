//! An io_uring(7) that receives from sources and waits for them.

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

use crate::uring::completion_queue::Completion;
use crate::uring::requests::{CAPACITY, GROUP, Requests, slots};
use crate::{DropNotifier, Source, UringHandle};

/// An io_uring instance that receives from up to [`Ring::CAPACITY`] sources and waits until they
/// are readable or writable. It is used by a reactor, which sets the interests and the timeout.
///
/// A source that supports requests (see [`Source::set_uring_handle`]) has one multishot receive
/// request. The request receives again and again, each time into the next free buffer, until no
/// buffer is free. All other sources are polled by one-shot requests. Buffers are allocated when a
/// source is first added and belong to the source. They outlive the source for as long as the
/// kernel may write to them.
///
/// The kernel processes requests only within a wait and on the waiting thread (`DEFER_TASKRUN`). So
/// it does not interrupt the thread otherwise, reads a socket as late as possible and so as much as
/// there is, and needs no lock (`SINGLE_ISSUER`). Therefore a ring belongs to the thread that first
/// waits with it, and can be moved until then (`R_DISABLED`). There are no send requests: a send
/// must leave before the next wait, so it would need a system call of its own anyway.
pub struct Ring {
    uring: IoUring,
    requests: Requests,
    /// The sources that were dropped without being removed, in groups like those of `requests`.
    dropped: Vec<Arc<AtomicU64>>,
    enabled: bool,
}

/// The result of a wait for one group of 64 slots: sets of sources as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadySet {
    /// The slot of the lowest bit, a multiple of 64.
    pub first: usize,
    /// The sources to receive from.
    pub readable: u64,
    /// The sources to send to.
    pub writable: u64,
    /// The number of completions handled. If it is not 0 and no source is ready, time may be left.
    pub completions: usize,
}

/// The number of requests submitted at once: two per source, and some cancellations.
const REQUESTS: u32 = 256;
/// The number of completions that the kernel has room for: those of sixteen sources with all their
/// buffers full at once. The kernel stores more elsewhere, at a higher cost. Together with the
/// requests this is about 40 KiB, less than the 64 KiB that older systems let a user lock.
const COMPLETIONS: u32 = 1_024;
/// The number and the length of waits for the kernel to cancel a request. One wait is enough; the
/// bound is for a kernel that does not reply at all.
const CANCEL_WAITS: usize = 100;
const CANCEL_TIMEOUT: Duration = Duration::from_millis(10);

impl Ring {
    /// The maximum number of sources in one ring.
    pub const CAPACITY: usize = CAPACITY;

    /// Creates a ring without sources.
    ///
    /// # Errors
    /// `Unsupported` if the kernel has no io_uring or is older than Linux 6.1, `PermissionDenied`
    /// if io_uring is forbidden (`kernel.io_uring_disabled`, seccomp), `OutOfMemory` if the user
    /// may not lock enough memory (RLIMIT_MEMLOCK). Otherwise the kernel's errors.
    pub fn new() -> io::Result<Self> {
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            // Shows without a system call that the kernel has work to do.
            .setup_taskrun_flag()
            // The thread that enables the ring owns it, not the thread that creates it.
            .setup_r_disabled()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(REQUESTS)
            .map_err(|error| describe_setup_error(&error))?;
        let requests = Requests::new();
        Ok(Self { uring, requests, dropped: Vec::new(), enabled: false })
    }

    /// Adds a source in a free slot. The kernel is not involved before the first wait with an
    /// interest in the source (see [`Ring::set_interest`]). State is kept for all slots up to the
    /// highest in use, so low slots cost least.
    ///
    /// # Errors
    /// The kernel's errors; `AlreadyExists` if the source is in another ring.
    ///
    /// # Panics
    /// If the slot is in use, or not below [`Ring::CAPACITY`].
    pub fn add(&mut self, slot: usize, source: &mut impl Source) -> io::Result<()> {
        assert!(self.requests.is_free(slot), "the slot must be free and below the capacity");
        let socket = source.as_fd().as_raw_fd();
        let group = slot / GROUP;
        if self.dropped.len() <= group {
            self.dropped.resize_with(group + 1, Arc::default);
        }
        let drop_notifier =
            DropNotifier { word: Arc::clone(&self.dropped[group]), bit: 1 << (slot % GROUP) };
        let handle = source.set_uring_handle(Some(drop_notifier))?;
        if let Some(UringHandle(multishot)) = &handle {
            // SAFETY: the handle is kept until `release`, which unregisters the buffers or leaks
            // them.
            let outcome = unsafe { multishot.register(&self.uring.submitter(), slot as u16) };
            if let Err(error) = outcome {
                multishot.detach();
                source.set_uring_handle(None)?;
                return Err(error);
            }
        }
        self.requests.add(slot, socket, handle);
        Ok(())
    }

    /// Sets the interest in a source: readable, writable, both or neither. The setting stays until
    /// it is changed.
    ///
    /// # Panics
    /// If the slot is free.
    pub fn set_interest(&mut self, slot: usize, readable: bool, writable: bool) {
        assert!(!self.requests.is_free(slot), "the source must have been added");
        self.requests.set_interest(slot, readable, writable);
    }

    /// Removes a source. When this returns, the kernel holds no request of the source and no longer
    /// writes to its buffers. The source's `receive` delivers what arrived before.
    ///
    /// # Errors
    /// The kernel's errors, especially if this is not the waiting thread. The source is still
    /// removed, but its buffers leak and may receive data for the lifetime of the ring.
    pub fn remove(&mut self, slot: usize, source: &mut impl Source) -> io::Result<()> {
        let outcome = self.release(slot);
        source.set_uring_handle(None)?;
        outcome
    }

    /// Waits until a source may be ready for its interest, `timeout` has passed (`None`: no
    /// timeout), or a signal was caught. Makes one system call, or none if undelivered data are
    /// ready and the kernel has nothing new.
    ///
    /// If sources of several groups are ready, one group is reported. The next wait reports the
    /// next group without waiting.
    ///
    /// # Errors
    /// The kernel's errors. `NotFound` if a source was dropped without being removed.
    #[inline]
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<ReadySet> {
        if !self.enabled {
            self.enable()?;
        }
        if self.dropped.iter().any(|group| group.load(Ordering::Acquire) != 0) {
            return Err(self.release_dropped());
        }
        self.requests.clear_reported();
        self.arm()?;
        let is_ready = self.requests.is_ready();
        self.enter(if is_ready { Some(Duration::ZERO) } else { timeout })?;
        let completions = self.handle_completions();
        if self.requests.has_closed_descriptor() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (first, readable, writable) = self.requests.next_ready();
        Ok(ReadySet { first, readable, writable, completions })
    }

    /// Returns the number of requests that ended because all buffers of their source were full.
    /// Later data stayed in the socket until some buffers had been delivered.
    #[must_use]
    pub fn exhausted(&self) -> u64 {
        self.requests.exhausted()
    }

    /// Makes the missing requests.
    #[inline]
    fn arm(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        let Self { uring, requests, .. } = self;
        requests.arm(|entry| {
            // SAFETY: `requests` keeps the source's handle, and so its buffers and header, until
            // `release` has seen the last completion of this request, or leaks them.
            if let Err(error) = unsafe { push(uring, &entry) } {
                outcome = Err(error);
            }
        });
        outcome
    }

    /// Submits the pending requests and waits.
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
                // The remainder of a second fits in 32 bits.
                let time = Timespec::new().sec(nanos / NANOS).nsec((nanos % NANOS) as u32);
                self.uring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
            None => self.uring.submit_and_wait(1),
        };
        match outcome {
            Err(error) => filter_wait_error(error),
            Ok(_) => Ok(()),
        }
    }

    /// Handles all available completions and returns their number.
    #[inline]
    fn handle_completions(&mut self) -> usize {
        let mut count = 0;
        for entry in self.uring.completion() {
            let completion = Completion { result: entry.result(), flags: entry.flags() };
            self.requests.complete(entry.user_data(), completion);
            count += 1;
        }
        count
    }

    #[cold]
    fn enable(&mut self) -> io::Result<()> {
        self.uring.submitter().register_enable_rings()?;
        self.enabled = true;
        Ok(())
    }

    /// Cancels the requests of dropped sources, so that their sockets are closed. Their slots stay
    /// in use, since no caller can remove them.
    #[cold]
    fn release_dropped(&mut self) -> io::Error {
        for group in 0..self.dropped.len() {
            for slot in slots(self.dropped[group].load(Ordering::Acquire)) {
                // The error returned below is more useful than this one.
                let _ = self.release(group * GROUP + slot);
            }
        }
        io::ErrorKind::NotFound.into()
    }

    /// Cancels the requests of a source and unregisters its buffers.
    fn release(&mut self, slot: usize) -> io::Result<()> {
        let ended = self.cancel(slot);
        let Some(UringHandle(multishot)) = self.requests.remove(slot) else { return ended };
        let unregistered =
            ended.and_then(|()| self.uring.submitter().unregister_buf_ring(slot as u16));
        match &unregistered {
            Ok(()) => multishot.detach(),
            // The kernel may write to the buffers at any later time.
            Err(_) => mem::forget(multishot),
        }
        unregistered
    }

    /// Cancels the requests of a source and waits until the kernel has completed them.
    fn cancel(&mut self, slot: usize) -> io::Result<()> {
        for entry in self.requests.cancel(slot) {
            // SAFETY: the request refers to no memory.
            unsafe { push(&mut self.uring, &entry)? };
        }
        for _ in 0..CANCEL_WAITS {
            if !self.requests.has_pending(slot) {
                return Ok(());
            }
            self.enter(Some(CANCEL_TIMEOUT))?;
            self.handle_completions();
        }
        Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "cannot cancel a request: no completion within 1 s",
        ))
    }
}

const NANOS: u64 = 1_000_000_000;
/// The longest timeout, about 34 years. Kernels differ in their handling of times beyond their
/// range.
const TIMEOUT_MAX: Duration = Duration::from_secs(1 << 30);

/// Queues a request for the next submission.
///
/// # Safety
/// What the request points to stays valid until its last completion.
#[inline]
unsafe fn push(uring: &mut IoUring, entry: &Entry) -> io::Result<()> {
    // SAFETY: guaranteed by the caller.
    while unsafe { uring.submission().push(entry) }.is_err() {
        uring.submit()?;
    }
    Ok(())
}

/// Filters the errors of a wait: a timeout, a signal, or too many completions to accept another
/// request are not errors.
#[cold]
fn filter_wait_error(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::ETIME | libc::EINTR | libc::EBUSY) => Ok(()),
        Some(libc::EEXIST) => {
            let reason = "cannot wait: an io_uring reactor belongs to the thread that waited first";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
        }
        _ => Err(error),
    }
}

#[cold]
fn describe_setup_error(error: &io::Error) -> io::Error {
    let (kind, reason) = match error.raw_os_error() {
        Some(libc::ENOSYS) => (io::ErrorKind::Unsupported, "the kernel has no io_uring"),
        Some(libc::EINVAL) => (io::ErrorKind::Unsupported, "Linux 6.1 or newer is required"),
        Some(libc::EPERM | libc::EACCES) => {
            let reason = "forbidden by sysctl kernel.io_uring_disabled or by seccomp";
            (io::ErrorKind::PermissionDenied, reason)
        }
        Some(libc::ENOMEM) => {
            let reason = "not enough memory or lockable memory, see ulimit -l";
            (io::ErrorKind::OutOfMemory, reason)
        }
        _ => return io::Error::new(error.kind(), format!("cannot wait with io_uring: {error}")),
    };
    io::Error::new(kind, format!("cannot wait with io_uring: {reason}"))
}

impl Drop for Ring {
    /// Unregisters all buffers. Leaks the memory of those that cannot be unregistered.
    fn drop(&mut self) {
        for slot in self.requests.taken() {
            // No caller can receive an error here.
            let _ = self.release(slot);
        }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("enabled", &self.enabled).finish_non_exhaustive()
    }
}
