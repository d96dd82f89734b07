//! The source's end of an io_uring multishot receive.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use io_uring::types::RecvMsgOut;

use crate::uring::multishot_receive::{BufferLayout, MultishotReceive};

/// Takes the completions of a ring's receive requests in order, and returns the buffers to the
/// kernel.
pub(crate) struct UringReceiver {
    multishot: Arc<MultishotReceive>,
    drop_notifier: Option<DropNotifier>,
}

/// A handle with which a source notifies its ring when the source is dropped.
#[derive(Debug)]
pub struct DropNotifier {
    pub(crate) word: Arc<AtomicU64>,
    pub(crate) bit: u64,
}

/// A handle with which a ring receives into a source's buffers. The source hands it to its ring.
pub struct UringHandle(pub(crate) Arc<MultishotReceive>);

impl fmt::Debug for UringHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UringHandle").finish_non_exhaustive()
    }
}

impl UringReceiver {
    /// Allocates at least `count` buffers of `length` bytes each.
    pub(crate) fn new(layout: BufferLayout, count: usize, length: usize) -> Self {
        Self {
            multishot: Arc::new(MultishotReceive::new(layout, count, length)),
            drop_notifier: None,
        }
    }

    /// Attaches a ring that receives for this source, or detaches it.
    ///
    /// # Errors
    /// `AlreadyExists` if the source is in another ring.
    pub(crate) fn attach(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let Some(drop_notifier) = drop_notifier else {
            self.drop_notifier = None;
            self.multishot.stop_receiving();
            return Ok(None);
        };
        // SAFETY: this is the source's end, and a source has only one.
        if !unsafe { self.multishot.attach() } {
            let reason = "cannot add the source: the source is already in an io_uring reactor";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        self.drop_notifier = Some(drop_notifier);
        Ok(Some(UringHandle(Arc::clone(&self.multishot))))
    }

    /// Marks the socket as able to receive.
    pub(crate) fn set_open(&self) {
        self.multishot.set_open();
    }

    /// Returns `true` if data come from here and not from the socket: while a ring receives, and
    /// until everything that the ring has received is delivered.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.multishot.is_receiving() || !self.is_empty()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.multishot.completions().count() == 0
    }

    /// Returns the oldest undelivered buffer as the kernel wrote it, or an empty slice for a
    /// completion without a buffer. The buffer stays until [`pop`](Self::pop).
    #[inline]
    pub(crate) fn first(&mut self) -> Option<io::Result<&[u8]>> {
        while self.multishot.completions().first().is_some_and(|completion| completion.is_empty()) {
            self.pop();
        }
        let completion = self.multishot.completions().first()?;
        let Ok(length) = usize::try_from(completion.result) else {
            return Some(Err(io::Error::from_raw_os_error(-completion.result)));
        };
        let Some(index) = completion.buffer() else { return Some(Ok(&[])) };
        // SAFETY: the completion shows that the kernel has returned the buffer. Only `pop` releases
        // the buffer again, and the borrow of `self` prevents calling `pop` while the bytes are in
        // use.
        Some(Ok(unsafe { self.multishot.buffers().bytes(index, length) }))
    }

    /// Returns the oldest undelivered message, parsed, for requests made by recvmsg.
    #[inline]
    pub(crate) fn first_message(&mut self) -> Option<io::Result<RecvMsgOut<'_>>> {
        let header = *self.multishot.header();
        let message = self.first()?.and_then(|bytes| {
            RecvMsgOut::parse(bytes, &header).map_err(|()| io::ErrorKind::InvalidData.into())
        });
        Some(message)
    }

    /// Drops the oldest undelivered buffer and releases it to the kernel.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let Some(completion) = self.multishot.completions().first() else { return };
        if let Some(index) = completion.buffer() {
            // SAFETY: the kernel has returned the buffer. The completion leaves the queue below, so
            // the buffer is not released twice. Nothing borrows from the buffer since `self` is
            // borrowed mutably.
            unsafe { self.multishot.buffers().release(index) };
        }
        self.multishot.completions().pop();
    }
}

impl Drop for UringReceiver {
    fn drop(&mut self) {
        if let Some(drop_notifier) = &self.drop_notifier {
            drop_notifier.word.fetch_or(drop_notifier.bit, Ordering::Release);
        }
    }
}
