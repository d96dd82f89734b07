//! An epoll instance, which several descriptors may refer to.

use std::ffi::c_int;
use std::sync::Arc;

use hairpin_stack::{FastGuard, FastMutex};
use libc::epoll_event;

use super::EpollSet;
use crate::errno::set_errno;
use crate::slots::{self, Slot};
use crate::{real, sleep};

/// The kernel's comparison of two open file descriptions (`KCMP_FILE` of linux/kcmp.h).
const KCMP_FILE: c_int = 0;
/// What the link of a descriptor in /proc/self/fd names.
const NAME: &str = "anon_inode:[eventpoll]";

/// An instance, with its members that may be accelerated.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    set: FastMutex<EpollSet>,
    /// The descriptors of this process that refer to it.
    descriptors: FastMutex<Vec<c_int>>,
}

impl Instance {
    pub(super) fn set(&self) -> FastGuard<'_, EpollSet> {
        self.set.lock()
    }

    pub(super) fn descriptors(&self) -> FastGuard<'_, Vec<c_int>> {
        self.descriptors.lock()
    }

    /// Wakes the threads that sleep until the instance is ready.
    pub(super) fn wake(&self) {
        if sleep::has_sleepers() {
            self.descriptors().iter().copied().for_each(sleep::wake);
        }
    }

    /// Changes a member of the kernel's instance. Returns `false` and `errno` on failure.
    pub(super) fn change_kernel(
        &self,
        operation: c_int,
        fd: c_int,
        events: u32,
        data: u64,
    ) -> bool {
        let Some(epoll) = self.descriptors().first().copied() else {
            // Another thread has closed it.
            set_errno(libc::EBADF);
            return false;
        };
        let mut event = epoll_event { events, u64: data };
        // SAFETY: the event outlives the call.
        unsafe { real::epoll_ctl(epoll, operation, fd, &raw mut event) == 0 }
    }
}

/// Returns `true` if a descriptor is that of an epoll instance.
pub(crate) fn is_epoll(fd: c_int) -> bool {
    fd >= 0
        && std::fs::read_link(format!("/proc/self/fd/{fd}"))
            .is_ok_and(|name| name.as_os_str() == NAME)
}

/// Returns the known instance that a descriptor refers to.
pub(super) fn duplicate_of(fd: c_int) -> Option<Arc<Instance>> {
    let mut found = None;
    slots::for_each(|known, slot| {
        if slot.is_epoll() && found.is_none() && is_same_file(known, fd) {
            found = Slot::instance(slot);
        }
    });
    found
}

fn is_same_file(a: c_int, b: c_int) -> bool {
    // SAFETY: the call takes integers. An error, also of a kernel without the call, is not 0.
    unsafe {
        let process = libc::getpid();
        libc::syscall(libc::SYS_kcmp, process, process, KCMP_FILE, a, b) == 0
    }
}
