//! The system call that has a socket's transmit ring sent.

use std::io;
use std::sync::Arc;

use crate::kernel_socket::{KernelSocket, Sent};

/// Frames that a call sends at most in copy mode: `TX_BATCH_SIZE` of net/xdp/xsk.c.
const CALL: u32 = 32;

/// Has the kernel send what a [`Socket`](crate::Socket) has submitted, from any thread and without
/// the socket, so that no lock need be held over the system call.
///
/// It keeps the kernel's socket, and so its queue is taken as long as this lives.
#[derive(Debug, Clone)]
pub struct TxWakeup {
    kernel: Arc<KernelSocket>,
}

impl TxWakeup {
    pub(crate) fn new(kernel: Arc<KernelSocket>) -> Self {
        Self { kernel }
    }

    /// Has the kernel send as many frames as [`Socket::submit`](crate::Socket::submit) has told of,
    /// in as many calls as these take. What a busy driver does not take stays in the ring, and the
    /// next submit tells of it again.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down; the packets stay in the ring.
    #[inline(always)]
    pub fn kick(&self, frames: u32) -> io::Result<()> {
        kick_all(frames, || self.kernel.kick())
    }
}

/// Calls until the kernel says that all has gone. What it has taken from the ring does not show in
/// between before Linux 6.17, so it is counted what the calls have sent at most.
#[inline(always)]
fn kick_all(frames: u32, mut kick: impl FnMut() -> io::Result<Sent>) -> io::Result<()> {
    if frames == 0 {
        return Ok(());
    }
    match kick()? {
        Sent::All => Ok(()),
        sent => kick_rest(frames, sent, kick),
    }
}

/// Goes on after a call that has not sent all.
#[cold]
fn kick_rest(
    frames: u32,
    last: Sent,
    mut kick: impl FnMut() -> io::Result<Sent>,
) -> io::Result<()> {
    let (mut sent, mut last) = (0, last);
    loop {
        sent += match last {
            Sent::All => return Ok(()),
            Sent::Some => CALL,
            Sent::ToDrop => 1,
        };
        if sent >= frames {
            return Ok(());
        }
        last = kick()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with so many frames in the ring, which sends `sends` a call and drops every one of
    /// a number: what is left after a kick of `frames`, and how many calls it took.
    fn left(in_ring: u32, frames: u32, sends: u32, dropped: Option<u32>) -> (u32, u32) {
        let (mut left, mut calls) = (in_ring, 0);
        kick_all(frames, || {
            calls += 1;
            for _ in 0..sends.min(left) {
                left -= 1;
                if dropped.is_some_and(|every| left.is_multiple_of(every)) {
                    return Ok(Sent::ToDrop);
                }
            }
            Ok(if left == 0 { Sent::All } else { Sent::Some })
        })
        .unwrap();
        (left, calls)
    }

    #[test]
    fn a_burst_of_any_length_is_sent_to_its_end() {
        for frames in 0..=1_024 {
            assert_eq!(left(frames, frames, 32, None), (0, frames.div_ceil(32)), "{frames}");
        }
    }

    #[test]
    fn a_frame_that_is_dropped_keeps_back_none_behind_it() {
        for frames in 0..=200 {
            for every in [1, 2, 7, 32, 33, 64] {
                assert_eq!(left(frames, frames, 32, Some(every)).0, 0, "{frames}, each {every}th");
            }
        }
    }

    #[test]
    fn a_driver_that_is_busy_is_not_called_for_ever() {
        assert_eq!(left(1, 1, 0, None), (1, 1));
        assert_eq!(left(1_024, 1_024, 0, None), (1_024, 32));
    }

    #[test]
    fn no_call_is_made_when_all_has_gone() {
        assert_eq!(left(40, 1_024, 64, None), (0, 1));
        assert_eq!(left(0, 0, 32, None), (0, 0));
    }

    #[test]
    fn an_error_ends_it_and_is_told() {
        let mut calls = 0;
        let result = kick_all(1_000, || {
            calls += 1;
            Err(io::ErrorKind::NetworkDown.into())
        });
        assert_eq!((result.unwrap_err().kind(), calls), (io::ErrorKind::NetworkDown, 1));
    }
}
