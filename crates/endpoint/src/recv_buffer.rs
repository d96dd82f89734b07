//! A receive buffer that is owned by its endpoint or shared with a blocking reactor.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A buffer that a blocking receive can fill.
pub(crate) trait Fill: Send {
    /// Receives from `socket`, blocking for at most the socket's timeout. Keeps the data or the
    /// error for the next delivery.
    fn fill(&mut self, socket: BorrowedFd<'_>);
}

/// A buffer that its endpoint owns, or shares with the reactor that blocks in its receive.
///
/// The endpoint owns the buffer under every wait but block, and then needs no lock. Exactly one of
/// the fields is `Some`.
pub(crate) struct RecvBuffer<T> {
    owned: Option<T>,
    shared: Option<Arc<Mutex<T>>>,
}

impl<T> RecvBuffer<T> {
    pub(crate) fn new(buffer: T) -> Self {
        Self { owned: Some(buffer), shared: None }
    }

    /// Borrows the buffer for one receive. The lock of a shared buffer is never contended: reactor
    /// and endpoint run alternately on one thread.
    #[inline]
    pub(crate) fn borrow(&mut self) -> Borrowed<'_, T> {
        match (&mut self.owned, &self.shared) {
            (Some(buffer), _) => Borrowed::Owned(buffer),
            (None, Some(shared)) => {
                Borrowed::Shared(shared.lock().unwrap_or_else(PoisonError::into_inner))
            }
            (None, None) => unreachable!("a buffer is owned or shared"),
        }
    }

    /// Calls `read` with the buffer and returns its result.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        match (&self.owned, &self.shared) {
            (Some(buffer), _) => read(buffer),
            (None, Some(shared)) => read(&shared.lock().unwrap_or_else(PoisonError::into_inner)),
            (None, None) => unreachable!("a buffer is owned or shared"),
        }
    }

    /// Shares the buffer for the lifetime of the endpoint.
    pub(crate) fn share(&mut self) -> Weak<Mutex<T>> {
        if let Some(buffer) = self.owned.take() {
            self.shared = Some(Arc::new(Mutex::new(buffer)));
        }
        Arc::downgrade(self.shared.as_ref().expect("a buffer is owned or shared"))
    }

    /// Takes the buffer back, unless a thread is blocking in it now.
    pub(crate) fn reclaim(&mut self) {
        match self.shared.take().map(Arc::try_unwrap) {
            Some(Ok(buffer)) => {
                self.owned = Some(buffer.into_inner().unwrap_or_else(PoisonError::into_inner));
            }
            Some(Err(shared)) => self.shared = Some(shared),
            None => {}
        }
    }
}

/// A borrowed buffer.
pub(crate) enum Borrowed<'a, T> {
    Owned(&'a mut T),
    Shared(MutexGuard<'a, T>),
}

impl<T> Deref for Borrowed<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Owned(buffer) => buffer,
            Self::Shared(guard) => guard,
        }
    }
}

impl<T> DerefMut for Borrowed<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match self {
            Self::Owned(buffer) => buffer,
            Self::Shared(guard) => guard,
        }
    }
}

impl<T> fmt::Debug for RecvBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("is_shared", &self.shared.is_some()).finish_non_exhaustive()
    }
}
