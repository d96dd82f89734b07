//! The buffer a socket receives into, and who may use it.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A buffer that can be filled by a blocking receive.
pub(crate) trait Fill: Send {
    /// Receives from `socket`, waiting for as long as the socket is set to, and keeps what came,
    /// be it an error, for the next delivery.
    fn fill(&mut self, socket: BorrowedFd<'_>);
}

/// A buffer that its endpoint owns alone, or shares with the reactor that blocks in its receive.
///
/// The endpoint owns it alone under every wait but block, and pays for no lock. Exactly one of
/// the fields is there.
pub(crate) struct Inbox<T> {
    own: Option<T>,
    shared: Option<Arc<Mutex<T>>>,
}

impl<T> Inbox<T> {
    pub(crate) fn new(buffer: T) -> Self {
        Self { own: Some(buffer), shared: None }
    }

    /// The buffer, for the length of one receive. A lock, where there is one, is never contended:
    /// reactor and endpoint take turns on one thread.
    #[inline]
    pub(crate) fn open(&mut self) -> Opened<'_, T> {
        match (&mut self.own, &self.shared) {
            (Some(buffer), _) => Opened::Own(buffer),
            (None, Some(shared)) => {
                Opened::Shared(shared.lock().unwrap_or_else(PoisonError::into_inner))
            }
            (None, None) => unreachable!("a buffer is owned or shared"),
        }
    }

    /// What `question` makes of the buffer.
    pub(crate) fn look<R>(&self, question: impl FnOnce(&T) -> R) -> R {
        match (&self.own, &self.shared) {
            (Some(buffer), _) => question(buffer),
            (None, Some(shared)) => {
                question(&shared.lock().unwrap_or_else(PoisonError::into_inner))
            }
            (None, None) => unreachable!("a buffer is owned or shared"),
        }
    }

    /// Shares the buffer, for as long as the endpoint lives.
    pub(crate) fn share(&mut self) -> Weak<Mutex<T>> {
        if let Some(buffer) = self.own.take() {
            self.shared = Some(Arc::new(Mutex::new(buffer)));
        }
        Arc::downgrade(self.shared.as_ref().expect("a buffer is owned or shared"))
    }

    /// Takes the buffer back, unless somebody is blocking in it at this moment.
    pub(crate) fn reclaim(&mut self) {
        match self.shared.take().map(Arc::try_unwrap) {
            Some(Ok(buffer)) => {
                self.own = Some(buffer.into_inner().unwrap_or_else(PoisonError::into_inner));
            }
            Some(Err(shared)) => self.shared = Some(shared),
            None => {}
        }
    }
}

/// A buffer in use.
pub(crate) enum Opened<'a, T> {
    Own(&'a mut T),
    Shared(MutexGuard<'a, T>),
}

impl<T> Deref for Opened<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Own(buffer) => buffer,
            Self::Shared(guard) => guard,
        }
    }
}

impl<T> DerefMut for Opened<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match self {
            Self::Own(buffer) => buffer,
            Self::Shared(guard) => guard,
        }
    }
}

impl<T> fmt::Debug for Inbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("is_shared", &self.shared.is_some()).finish_non_exhaustive()
    }
}
