//! The state shared by the writer and the sync worker.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Mostly atomics, stored by one thread and loaded by the other. Locks are used only for waiting.
#[derive(Debug, Default)]
pub(super) struct SyncState {
    requests: Mutex<Requests>,
    /// Signals the worker that there is a request.
    requested: Condvar,
    /// Signals the writer that a request is done.
    done: Condvar,
    /// The errno of the last failed segment creation; 0 after a success.
    prepare_error: AtomicI32,
    /// The errno of the first failed sync; 0 if none has failed.
    sync_error: AtomicI32,
    /// Set with `sync_error`; the writer's to clear.
    attention: Arc<AtomicBool>,
    /// The position up to which everything is on disk.
    durable: AtomicU64,
    /// The number of the first segment that must be kept.
    disposable: AtomicU32,
    needed_uuid: AtomicU64,
    needed_seq_num: AtomicU32,
}

/// The requests to the worker.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Requests {
    /// The worker must finish and end.
    pub(super) stop: bool,
    /// The writer waits for a segment.
    pub(super) needs_segment: bool,
    /// The position up to which the writer waits for a sync.
    pub(super) sync_position: u64,
    /// The worker has ended.
    pub(super) ended: bool,
}

impl SyncState {
    fn lock(&self) -> MutexGuard<'_, Requests> {
        // The values are plain, so a panic that poisoned the lock left no partial write.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks the worker until there is a request or `timeout` has passed.
    pub(super) fn wait_for_request(&self, timeout: Duration) -> Requests {
        let mut requests = self.lock();
        let is_sync_requested = requests.sync_position > self.durable() && !self.has_failed();
        if !(requests.stop || requests.needs_segment || is_sync_requested) {
            let waited = self.requested.wait_timeout(requests, timeout);
            requests = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *requests
    }

    /// Completes a request.
    pub(super) fn complete(&self, requests: Requests) {
        let mut current = self.lock();
        if requests.needs_segment {
            current.needs_segment = false;
        }
        self.done.notify_all();
    }

    /// Reports that the worker has ended, and wakes all waiters.
    pub(super) fn set_ended(&self) {
        self.lock().ended = true;
        self.done.notify_all();
    }

    /// Requests the worker to stop.
    pub(super) fn stop(&self) {
        self.lock().stop = true;
        self.requested.notify_one();
    }

    /// Waits until the worker has tried to create a segment.
    ///
    /// # Errors
    /// The thread has ended.
    pub(super) fn wait_for_segment(&self) -> io::Result<()> {
        let mut requests = self.lock();
        requests.needs_segment = true;
        self.requested.notify_one();
        while requests.needs_segment && !requests.ended {
            requests = self.done.wait(requests).unwrap_or_else(PoisonError::into_inner);
        }
        if requests.ended { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    /// Waits until everything up to `position` is on disk.
    ///
    /// # Errors
    /// A sync has failed, or the worker has ended.
    pub(super) fn wait_durable(&self, position: u64) -> io::Result<()> {
        if self.durable() >= position {
            return Ok(());
        }
        let mut requests = self.lock();
        requests.sync_position = requests.sync_position.max(position);
        self.requested.notify_one();
        while self.durable() < position {
            if let Some(error) = self.sync_error() {
                return Err(error);
            }
            if requests.ended {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            requests = self.done.wait(requests).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    pub(super) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    pub(super) fn set_durable(&self, position: u64) {
        self.durable.store(position, Ordering::Release);
    }

    pub(super) fn set_prepare_error(&self, errno: i32) {
        self.prepare_error.store(errno, Ordering::Release);
    }

    pub(super) fn prepare_error(&self) -> Option<io::Error> {
        error_of(&self.prepare_error)
    }

    /// Stores the first failure only. The kernel may have discarded what it could not write, so a
    /// later successful sync proves nothing.
    pub(super) fn set_sync_error(&self, errno: i32) {
        let stored =
            self.sync_error.compare_exchange(0, errno, Ordering::AcqRel, Ordering::Acquire);
        if stored.is_ok() {
            self.attention.store(true, Ordering::Release);
        }
    }

    pub(super) fn attention(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.attention)
    }

    pub(super) fn sync_error(&self) -> Option<io::Error> {
        error_of(&self.sync_error)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.sync_error.load(Ordering::Acquire) != 0
    }

    pub(super) fn disposable(&self) -> u32 {
        self.disposable.load(Ordering::Acquire)
    }

    pub(super) fn set_disposable(&self, number: u32) {
        self.disposable.store(number, Ordering::Release);
    }

    /// Sets the lowest outbound message that is still needed.
    pub(super) fn set_needed(&self, uuid: u64, seq_num: u32) {
        if self.needed_uuid.load(Ordering::Relaxed) != uuid {
            // A thread that sees the new UUID sees no sequence number of the old one.
            self.needed_seq_num.store(0, Ordering::Release);
            self.needed_uuid.store(uuid, Ordering::Release);
        }
        self.needed_seq_num.store(seq_num, Ordering::Release);
    }

    pub(super) fn needed(&self) -> (u64, u32) {
        let uuid = self.needed_uuid.load(Ordering::Acquire);
        (uuid, self.needed_seq_num.load(Ordering::Acquire))
    }
}

fn error_of(errno: &AtomicI32) -> Option<io::Error> {
    match errno.load(Ordering::Acquire) {
        0 => None,
        errno => Some(io::Error::from_raw_os_error(errno)),
    }
}
