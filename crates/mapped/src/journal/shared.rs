//! What the writer and its sync thread tell each other.

use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Stores of one side and loads of the other; locks only where somebody waits.
#[derive(Debug, Default)]
pub(super) struct Shared {
    asked: Mutex<Asked>,
    /// To the thread: something is asked.
    called: Condvar,
    /// From the thread: something is done.
    done: Condvar,
    /// The errno of the last segment that could not be made; 0 if it could.
    prepare_error: AtomicI32,
    /// The errno of the first sync that failed; 0 if none has.
    sync_error: AtomicI32,
    /// The position up to which everything is on the disk.
    durable: AtomicU64,
    /// Segments below this one may go.
    disposable: AtomicU32,
    needed_uuid: AtomicU64,
    needed_seq_num: AtomicU32,
}

/// What the thread is asked for.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Asked {
    /// To finish and end.
    pub(super) stop: bool,
    /// To make a segment: the writer waits for it.
    pub(super) hungry: bool,
    /// To bring everything up to this position to the disk.
    pub(super) wanted: u64,
    /// The thread has ended.
    pub(super) ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Asked> {
        // Plain values: none is half written where a panic has left the lock.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread waits until it is asked for something, so long at most.
    pub(super) fn wait_for_call(&self, most: Duration) -> Asked {
        let mut asked = self.lock();
        let is_wanted = asked.wanted > self.durable() && !self.has_failed();
        if !(asked.stop || asked.hungry || is_wanted) {
            let waited = self.called.wait_timeout(asked, most);
            asked = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *asked
    }

    /// The thread has done what `asked` was about.
    pub(super) fn answer(&self, asked: Asked) {
        let mut current = self.lock();
        if asked.hungry {
            current.hungry = false;
        }
        self.done.notify_all();
    }

    /// The thread ends, for whatever reason: nobody waits for it any more.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.done.notify_all();
    }

    /// Asks the thread to end.
    pub(super) fn stop(&self) {
        self.lock().stop = true;
        self.called.notify_one();
    }

    /// Waits until the thread has tried to make a segment.
    ///
    /// # Errors
    /// The thread has ended.
    pub(super) fn wait_for_segment(&self) -> io::Result<()> {
        let mut asked = self.lock();
        asked.hungry = true;
        self.called.notify_one();
        while asked.hungry && !asked.ended {
            asked = self.done.wait(asked).unwrap_or_else(PoisonError::into_inner);
        }
        if asked.ended { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    /// Waits until everything up to `position` is on the disk.
    ///
    /// # Errors
    /// A sync has failed, or the thread has ended.
    pub(super) fn wait_durable(&self, position: u64) -> io::Result<()> {
        if self.durable() >= position {
            return Ok(());
        }
        let mut asked = self.lock();
        asked.wanted = asked.wanted.max(position);
        self.called.notify_one();
        while self.durable() < position {
            if let Some(error) = self.sync_error() {
                return Err(error);
            }
            if asked.ended {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            asked = self.done.wait(asked).unwrap_or_else(PoisonError::into_inner);
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

    /// The first failure stands: what the kernel could not write it may have forgotten, so that a
    /// later sync that succeeds proves nothing.
    pub(super) fn set_sync_error(&self, errno: i32) {
        let _ = self.sync_error.compare_exchange(0, errno, Ordering::AcqRel, Ordering::Acquire);
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

    /// Names the lowest outbound message that is still needed.
    pub(super) fn set_needed(&self, uuid: u64, seq_num: u32) {
        if self.needed_uuid.load(Ordering::Relaxed) != uuid {
            // Whoever sees the new UUID sees no number of the old one with it.
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
