//! ppoll(2).

use std::io;
use std::ptr;

use hairpin_time::Instant;

use crate::sources::{Sources, dropped_without_removal};
use crate::timespec::until;
use crate::{Interest, Ready, Token};

/// Waits until a source is ready, the deadline has passed or a signal has come.
pub(crate) fn wait(
    sources: &mut Sources,
    now: Instant,
    deadline: Option<Instant>,
) -> io::Result<Ready> {
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
    let mut ready = Ready::NOTHING;
    for (index, slot) in sources.slots().iter().enumerate() {
        if slot.revents == 0 {
            continue;
        }
        if slot.revents & libc::POLLNVAL != 0 {
            return Err(dropped_without_removal());
        }
        ready |= found(Token(index as u8), slot.revents);
        count -= 1;
        if count == 0 {
            break;
        }
    }
    Ok(ready.within(sources.all()))
}

fn found(token: Token, events: libc::c_short) -> Ready {
    let mut ready = Ready::NOTHING;
    if events & (libc::POLLERR | libc::POLLHUP) != 0 {
        ready.insert(token, Interest::BOTH);
    }
    if events & libc::POLLIN != 0 {
        ready.insert(token, Interest::READABLE);
    }
    if events & libc::POLLOUT != 0 {
        ready.insert(token, Interest::WRITABLE);
    }
    ready
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_or_a_hang_up_is_ready_for_whatever_was_waited_for() {
        for events in [libc::POLLERR, libc::POLLHUP] {
            let ready = found(Token(3), events);
            assert!(ready.is_readable(Token(3)) && ready.is_writable(Token(3)));
        }
    }

    #[test]
    fn input_and_room_are_told_apart() {
        let input = found(Token(3), libc::POLLIN);
        assert!(input.is_readable(Token(3)) && !input.is_writable(Token(3)));
        let room = found(Token(3), libc::POLLOUT);
        assert!(room.is_writable(Token(3)) && !room.is_readable(Token(3)));
    }
}
