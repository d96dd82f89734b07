//! Polls of a poller, which count as polls of its sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hairpin_time::{Duration, Instant};

use super::SocketState;
use crate::readiness::Readiness;
use crate::tcp::now;

/// The state that the TCP sockets of a poller share.
#[derive(Debug, Default)]
pub(crate) struct Attendance {
    /// The time of the last poll, in nanoseconds.
    polled_at: AtomicU64,
    /// The number of sockets whose connections are the kernel's.
    kernel_sockets: AtomicUsize,
}

impl Attendance {
    pub(crate) fn record_poll(&self) {
        self.polled_at.store(now().as_nanos(), Ordering::Relaxed);
    }

    /// Returns the time since the last poll.
    pub(super) fn age(&self, time: Instant) -> Duration {
        time - Instant::from_nanos(self.polled_at.load(Ordering::Relaxed))
    }

    pub(crate) fn has_kernel_sockets(&self) -> bool {
        self.kernel_sockets.load(Ordering::Relaxed) > 0
    }

    pub(super) fn add_kernel_socket(&self) {
        self.kernel_sockets.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_kernel_socket(&self) {
        self.kernel_sockets.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SocketState {
    /// Adds the socket to a poller, or to none.
    pub(crate) fn attend(&self, attendance: Option<&Arc<Attendance>>) {
        let mut inner = self.inner();
        let is_kernel = inner.bypass.is_none();
        let before = std::mem::replace(&mut inner.attendance, attendance.cloned());
        if let Some(before) = before.filter(|_| is_kernel) {
            before.remove_kernel_socket();
        }
        if let Some(attendance) = attendance.filter(|_| is_kernel) {
            attendance.add_kernel_socket();
        }
    }

    pub(crate) fn readiness(&self) -> &Arc<Readiness> {
        &self.readiness
    }

    /// Returns `true` while the connection bypasses the kernel; also while another thread hands it
    /// back.
    #[inline]
    pub(crate) fn is_bypassing(&self) -> bool {
        self.is_bypassing.load(Ordering::Acquire)
    }

    /// Returns `true` if a call of the owner may find something. The kernel reports what the
    /// kernel's connection has.
    pub(crate) fn is_ready(&self) -> bool {
        let inner = self.inner();
        inner.error.is_some()
            || inner.bypass.as_deref().is_some_and(|bypass| {
                bypass.connection.unread_length() > 0
                    || bypass.connection.poll_action().is_some()
                    || self.readiness.has_frames()
                    || self.readiness.is_kernel_pending()
            })
    }
}
