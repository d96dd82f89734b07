//! The epoll wait: epoll(7), level-triggered.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use hairpin_time::Instant;

use crate::sources::Groups;
use crate::timespec::until;
use crate::{Interest, Ready, Token};

/// An epoll instance with its event buffer.
#[derive(Debug)]
pub(crate) struct Epoll {
    fd: OwnedFd,
    events: Box<[libc::epoll_event; EVENTS]>,
}

/// The maximum number of sources reported by one call. The kernel reports others in the next call.
const EVENTS: usize = 64;

impl Epoll {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the call accesses no memory of this process.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the descriptor is new, and no other code owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut epoll =
            Self { fd, events: Box::new([libc::epoll_event { events: 0, u64: 0 }; EVENTS]) };
        // An older kernel must fail here and not in the loop.
        epoll.wait_events(Instant::ZERO, Some(Instant::ZERO)).map_err(|reason| {
            let what = match reason.raw_os_error() {
                Some(libc::ENOSYS) => "Linux 5.11 or newer is required: no epoll_pwait2".to_owned(),
                _ => format!("cannot wait with epoll_pwait2: {reason}"),
            };
            io::Error::new(reason.kind(), what)
        })?;
        Ok(epoll)
    }

    /// Waits until a source is ready, the deadline has passed or a signal was caught. Does not wait
    /// while results of the last call are pending.
    #[inline]
    pub(crate) fn wait(
        &mut self,
        groups: &mut Groups,
        now: Instant,
        deadline: Option<Instant>,
    ) -> io::Result<Ready> {
        if let Some(ready) = groups.take_pending() {
            return Ok(ready);
        }
        let count = self.wait_events(now, deadline)?;
        let events = self.events[..count].iter();
        let found =
            events.map(|event| (Token::from_index(event.u64 as usize), found(event.events)));
        Ok(groups.gather(found))
    }

    /// Calls the kernel and returns the number of ready sources.
    fn wait_events(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<usize> {
        let timeout = deadline.map(|deadline| until(now, deadline));
        let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        // Called by number, since older C libraries have no function for it. SAFETY: the events are
        // valid for writes of their count, and the timeout is null or valid for reads, until the
        // call returns. The signal mask is null, so its size is not read.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS as libc::c_int,
                timeout,
                ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        usize::try_from(count).or_else(|_| match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        })
    }

    /// Changes the interest in a source. A source without interest is removed from epoll, which
    /// would otherwise report its hang-ups.
    pub(crate) fn change(
        &self,
        token: Token,
        source: BorrowedFd<'_>,
        old: Interest,
        new: Interest,
    ) -> io::Result<()> {
        let operation = match (old, new) {
            (Interest::NONE, Interest::NONE) => return Ok(()),
            (Interest::NONE, _) => libc::EPOLL_CTL_ADD,
            (_, Interest::NONE) => libc::EPOLL_CTL_DEL,
            _ => libc::EPOLL_CTL_MOD,
        };
        self.control(operation, source, event(token, new))
    }

    fn control(
        &self,
        operation: libc::c_int,
        source: BorrowedFd<'_>,
        mut event: libc::epoll_event,
    ) -> io::Result<()> {
        // SAFETY: both descriptors are open; the event is valid until the call returns.
        check(unsafe {
            let event = &raw mut event;
            libc::epoll_ctl(self.fd.as_raw_fd(), operation, source.as_raw_fd(), event)
        })
        .map(drop)
    }
}

/// Creates an event that contains the token and the interest.
fn event(token: Token, interest: Interest) -> libc::epoll_event {
    let mut events = 0;
    if interest.contains(Interest::READABLE) {
        events |= libc::EPOLLIN;
    }
    if interest.contains(Interest::WRITABLE) {
        events |= libc::EPOLLOUT;
    }
    libc::epoll_event { events: events.cast_unsigned(), u64: token.index() as u64 }
}

#[inline]
fn found(events: u32) -> Interest {
    let events = events.cast_signed();
    if events & (libc::EPOLLERR | libc::EPOLLHUP) != 0 {
        return Interest::BOTH;
    }
    let readable = if events & libc::EPOLLIN != 0 { Interest::READABLE } else { Interest::NONE };
    let writable = if events & libc::EPOLLOUT != 0 { Interest::WRITABLE } else { Interest::NONE };
    readable | writable
}

fn check(status: libc::c_int) -> io::Result<libc::c_int> {
    if status >= 0 { Ok(status) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(events: libc::c_int) -> Interest {
        found(events.cast_unsigned())
    }

    #[test]
    fn error_or_hang_up_is_ready_for_both() {
        for events in [libc::EPOLLERR, libc::EPOLLHUP, libc::EPOLLHUP | libc::EPOLLIN] {
            assert_eq!(found_in(events), Interest::BOTH);
        }
    }

    #[test]
    fn distinguishes_input_and_output() {
        assert_eq!(found_in(libc::EPOLLIN), Interest::READABLE);
        assert_eq!(found_in(libc::EPOLLOUT), Interest::WRITABLE);
        assert_eq!(found_in(libc::EPOLLIN | libc::EPOLLOUT), Interest::BOTH);
        assert_eq!(found_in(libc::EPOLLPRI), Interest::NONE);
    }
}
