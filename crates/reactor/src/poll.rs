//! ppoll(2).

use std::io;
use std::ptr;

use hairpin_time::Instant;

use crate::sources::{Sources, dropped_without_removal};
use crate::timespec::until;
use crate::{Interest, Ready, Token};

/// Waits until a source is ready, the deadline has passed or a signal has come; not at all while
/// there is more to tell of the last time.
pub(crate) fn wait(
    sources: &mut Sources,
    now: Instant,
    deadline: Option<Instant>,
) -> io::Result<Ready> {
    if let Some(ready) = sources.tell() {
        return Ok(ready);
    }
    let timeout = deadline.map(|deadline| until(now, deadline));
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    let slots = sources.slots();
    // SAFETY: the slots are valid for reads and writes of their count, the timeout for reads or
    // null, until the call returns; the signal mask stays as it is.
    let count = unsafe {
        libc::ppoll(slots.as_mut_ptr(), slots.len() as libc::nfds_t, timeout, ptr::null())
    };
    match count {
        0 => Ok(Ready::NOTHING),
        1.. => collect(sources, count.unsigned_abs()),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(Ready::NOTHING),
            error => Err(error),
        },
    }
}

fn collect(sources: &mut Sources, mut count: u32) -> io::Result<Ready> {
    for index in 0..sources.slots().len() {
        let events = sources.slots()[index].revents;
        if events == 0 {
            continue;
        }
        if events & libc::POLLNVAL != 0 {
            return Err(dropped_without_removal());
        }
        sources.find(Token::at(index), found(events));
        count -= 1;
        if count == 0 {
            break;
        }
    }
    Ok(sources.tell().unwrap_or(Ready::NOTHING))
}

#[inline]
fn found(events: libc::c_short) -> Interest {
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
    fn an_error_or_a_hang_up_is_ready_for_whatever_was_waited_for() {
        for events in [libc::POLLERR, libc::POLLHUP, libc::POLLHUP | libc::POLLIN] {
            assert_eq!(found(events), Interest::BOTH);
        }
    }

    #[test]
    fn input_and_room_are_told_apart() {
        assert_eq!(found(libc::POLLIN), Interest::READABLE);
        assert_eq!(found(libc::POLLOUT), Interest::WRITABLE);
        assert_eq!(found(libc::POLLIN | libc::POLLOUT), Interest::BOTH);
        assert_eq!(found(libc::POLLPRI), Interest::NONE);
    }
}
