//! `O_NONBLOCK` of a descriptor, which a program may also change by a system call that the library
//! does not see.

use std::ffi::c_int;

use crate::real;

/// The flag as last read from the kernel.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nonblocking {
    is_set: bool,
    /// The calls in a row that found nothing and did not wait.
    refused: u32,
}

impl Nonblocking {
    /// Reads the flag.
    pub(crate) fn read(fd: c_int) -> Self {
        let mut flag = Self { is_set: false, refused: 0 };
        flag.update(fd);
        flag
    }

    /// Follows a change by the program.
    pub(crate) fn set(&mut self, is_set: bool) {
        *self = Self { is_set, refused: 0 };
    }

    /// Records that a call did not have to wait.
    #[inline]
    pub(crate) fn found(&mut self) {
        self.refused = 0;
    }

    /// Returns `true` if a call with these flags, which has found nothing, must not wait. Before a
    /// wait the kernel is asked, and in the first 8, then 16, 32 and so on calls in a row that did
    /// not wait: a program that polls pays almost nothing.
    pub(crate) fn refuses(&mut self, fd: c_int, flags: c_int) -> bool {
        if flags & libc::MSG_DONTWAIT != 0 {
            return true;
        }
        self.refused = if self.is_set { self.refused.wrapping_add(1) } else { 0 };
        if self.refused <= 8 || self.refused.is_power_of_two() {
            self.update(fd);
        }
        self.is_set
    }

    fn update(&mut self, fd: c_int) {
        // SAFETY: the call takes integers.
        let status = unsafe { real::fcntl(fd, libc::F_GETFL, 0) };
        // A closed descriptor has none.
        if status >= 0 {
            self.is_set = status & libc::O_NONBLOCK != 0;
        }
    }
}
