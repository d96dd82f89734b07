//! The source's end of what arrives by request.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use io_uring::types::RecvMsgOut;

use crate::arrivals::{Arrivals, Shape};

/// Takes what the kernel has answered to a ring's requests, in order, and gives the buffers back.
pub(crate) struct Delivery {
    arrivals: Arc<Arrivals>,
    notice: Option<DropNotifier>,
}

/// How a source tells its ring that it has been dropped.
#[derive(Debug)]
pub struct DropNotifier {
    pub(crate) word: Arc<AtomicU64>,
    pub(crate) bit: u64,
}

/// The right to receive into another's buffers: what a source gives to its ring.
pub struct UringHandle(pub(crate) Arc<Arrivals>);

impl fmt::Debug for UringHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UringHandle").finish_non_exhaustive()
    }
}

impl Delivery {
    /// At least `count` buffers that hold `length` bytes each.
    pub(crate) fn new(shape: Shape, count: usize, length: usize) -> Self {
        Self { arrivals: Arc::new(Arrivals::new(shape, count, length)), notice: None }
    }

    /// Lets a ring receive for this source, or takes that right from the one that had it.
    ///
    /// # Errors
    /// `AlreadyExists` if another ring has it.
    pub(crate) fn attach(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let Some(notice) = notice else {
            self.notice = None;
            self.arrivals.end();
            return Ok(None);
        };
        // SAFETY: this is the source's end, of which there is one.
        if !unsafe { self.arrivals.attach() } {
            let reason = "a source can be in one reactor at a time that waits by io_uring";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        self.notice = Some(notice);
        Ok(Some(UringHandle(Arc::clone(&self.arrivals))))
    }

    /// Tells the ring that the socket can receive.
    pub(crate) fn set_open(&self) {
        self.arrivals.set_open();
    }

    /// Whether to look here instead of asking the kernel: for as long as a ring receives, and
    /// until what it has received is delivered.
    #[inline]
    pub(crate) fn is_responsible(&self) -> bool {
        self.arrivals.is_live() || !self.is_empty()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.arrivals.completions().count() == 0
    }

    /// The oldest thing that is not delivered yet, as the kernel wrote it into its buffer; without
    /// a buffer it is empty. It stays until it is told to go.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<io::Result<&[u8]>> {
        while self.arrivals.completions().first().is_some_and(|completion| completion.is_empty()) {
            self.pop();
        }
        let completion = self.arrivals.completions().first()?;
        let Ok(length) = usize::try_from(completion.result) else {
            return Some(Err(io::Error::from_raw_os_error(-completion.result)));
        };
        let Some(index) = completion.buffer() else { return Some(Ok(&[])) };
        // SAFETY: the completion says that the kernel has given the buffer back. It is given again
        // by `pop` alone, which the bytes keep from being called as they borrow from `self`.
        Some(Ok(unsafe { self.arrivals.buffers().bytes(index, length) }))
    }

    /// The same with its parts told apart, where requests are made by recvmsg.
    #[inline]
    pub(crate) fn first_message(&mut self) -> Option<io::Result<RecvMsgOut<'_>>> {
        let header = *self.arrivals.header();
        let message = self.first()?.and_then(|bytes| {
            RecvMsgOut::parse(bytes, &header).map_err(|()| io::ErrorKind::InvalidData.into())
        });
        Some(message)
    }

    /// Lets the oldest thing go, and gives its buffer to the kernel.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let Some(completion) = self.arrivals.completions().first() else { return };
        if let Some(index) = completion.buffer() {
            // SAFETY: the kernel has given the buffer back, it leaves the queue below so that it
            // is not given twice, and nothing borrows from it since `self` is borrowed mutably.
            unsafe { self.arrivals.buffers().give(index) };
        }
        self.arrivals.completions().pop();
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(notice) = &self.notice {
            notice.word.fetch_or(notice.bit, Ordering::Release);
        }
    }
}
