//! The poll wait: ppoll(2).

use std::io;
use std::ptr;

use hairpin_time::Instant;

use crate::sources::{Groups, Sources, dropped_without_removal};
use crate::timespec::until;
use crate::{Interest, Ready, Token};

/// Waits until a source is ready, the deadline has passed or a signal was caught. Does not wait
/// while results of the last call are pending.
pub(crate) fn wait(
    sources: &mut Sources,
    now: Instant,
    deadline: Option<Instant>,
) -> io::Result<Ready> {
    let (slots, groups) = sources.parts();
    if let Some(ready) = groups.take_pending() {
        return Ok(ready);
    }
    let timeout = deadline.map(|deadline| until(now, deadline));
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the slots are valid for reads and writes of their count, and the timeout is null or
    // valid for reads, until the call returns. The signal mask is not changed.
    let count = unsafe {
        libc::ppoll(slots.as_mut_ptr(), slots.len() as libc::nfds_t, timeout, ptr::null())
    };
    match count {
        0 => Ok(Ready::EMPTY),
        1.. => collect(slots, groups, count as usize),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(Ready::EMPTY),
            error => Err(error),
        },
    }
}

fn collect(slots: &[libc::pollfd], groups: &mut Groups, count: usize) -> io::Result<Ready> {
    let mut is_lost = false;
    let found = slots.iter().enumerate().filter(|(_, slot)| slot.revents != 0).take(count);
    let ready = groups.gather(found.map(|(index, slot)| {
        is_lost |= slot.revents & libc::POLLNVAL != 0;
        (Token::from_index(index), found_in(slot.revents))
    }));
    if is_lost { Err(dropped_without_removal()) } else { Ok(ready) }
}

#[inline]
fn found_in(events: libc::c_short) -> Interest {
    if events & (libc::POLLERR | libc::POLLHUP) != 0 {
        return Interest::BOTH;
    }
    let readable = if events & libc::POLLIN != 0 { Interest::READABLE } else { Interest::NONE };
    let writable = if events & libc::POLLOUT != 0 { Interest::WRITABLE } else { Interest::NONE };
    readable | writable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_or_hang_up_is_ready_for_both() {
        for events in [libc::POLLERR, libc::POLLHUP, libc::POLLHUP | libc::POLLIN] {
            assert_eq!(found_in(events), Interest::BOTH);
        }
    }

    #[test]
    fn distinguishes_input_and_output() {
        assert_eq!(found_in(libc::POLLIN), Interest::READABLE);
        assert_eq!(found_in(libc::POLLOUT), Interest::WRITABLE);
        assert_eq!(found_in(libc::POLLIN | libc::POLLOUT), Interest::BOTH);
        assert_eq!(found_in(libc::POLLPRI), Interest::NONE);
    }
}
