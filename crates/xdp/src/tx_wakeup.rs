//! The system call that makes the kernel send a socket's transmit ring.

use std::io;
use std::sync::Arc;

use crate::xsk_socket::{KickOutcome, XskSocket};

/// The most frames that one call sends in copy mode: `TX_BATCH_SIZE` of net/xdp/xsk.c.
const MAX_BATCH: u32 = 32;

/// Makes the kernel send the packets that a [`Socket`](crate::Socket) has submitted.
///
/// It works from any thread and without access to the socket, so no lock needs to be held during
/// the system call. The handle keeps the kernel socket open, so its queue stays bound while the
/// handle exists.
#[derive(Debug, Clone)]
pub struct TxWakeup {
    xsk: Arc<XskSocket>,
}

impl TxWakeup {
    pub(crate) fn new(xsk: Arc<XskSocket>) -> Self {
        Self { xsk }
    }

    /// Makes the kernel send `frames` frames, the number that
    /// [`Socket::submit`](crate::Socket::submit) returned, in as many calls as needed. Frames that
    /// a busy driver does not accept stay in the ring; the next `submit` counts them again.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down; the packets stay in the ring.
    #[inline(always)]
    pub fn kick(&self, frames: u32) -> io::Result<()> {
        kick_all(frames, || self.xsk.kick())
    }
}

/// Calls until the ring is empty. Before Linux 6.17 the ring's consumer index does not show
/// progress between calls, so the loop counts the most frames that the calls can have sent.
#[inline(always)]
fn kick_all(frames: u32, mut kick: impl FnMut() -> io::Result<KickOutcome>) -> io::Result<()> {
    if frames == 0 {
        return Ok(());
    }
    match kick()? {
        KickOutcome::Drained => Ok(()),
        sent => kick_rest(frames, sent, kick),
    }
}

/// Continues after a call that did not empty the ring.
#[cold]
fn kick_rest(
    frames: u32,
    last: KickOutcome,
    mut kick: impl FnMut() -> io::Result<KickOutcome>,
) -> io::Result<()> {
    let (mut sent, mut last) = (0, last);
    loop {
        sent += match last {
            KickOutcome::Drained => return Ok(()),
            KickOutcome::Partial => MAX_BATCH,
            KickOutcome::Dropped => 1,
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

    /// Simulates a kernel with `in_ring` frames in the ring. Each call sends `sends` frames and
    /// stops at every `dropped`-th frame.
    ///
    /// Returns the frames left after a kick of `frames`, and the number of calls.
    fn left(in_ring: u32, frames: u32, sends: u32, drop_every: Option<u32>) -> (u32, u32) {
        let (mut left, mut calls) = (in_ring, 0);
        kick_all(frames, || {
            calls += 1;
            for _ in 0..sends.min(left) {
                left -= 1;
                if drop_every.is_some_and(|every| left.is_multiple_of(every)) {
                    return Ok(KickOutcome::Dropped);
                }
            }
            Ok(if left == 0 { KickOutcome::Drained } else { KickOutcome::Partial })
        })
        .unwrap();
        (left, calls)
    }

    #[test]
    fn bursts_of_any_length_are_sent_completely() {
        for frames in 0..=1_024 {
            assert_eq!(left(frames, frames, 32, None), (0, frames.div_ceil(32)), "{frames}");
        }
    }

    #[test]
    fn dropped_frames_do_not_hold_back_later_frames() {
        for frames in 0..=200 {
            for every in [1, 2, 7, 32, 33, 64] {
                assert_eq!(
                    left(frames, frames, 32, Some(every)).0,
                    0,
                    "{frames} frames, every {every}th dropped"
                );
            }
        }
    }

    #[test]
    fn kick_stops_when_the_driver_stays_busy() {
        assert_eq!(left(1, 1, 0, None), (1, 1));
        assert_eq!(left(1_024, 1_024, 0, None), (1_024, 32));
    }

    #[test]
    fn kick_makes_no_call_for_an_empty_ring() {
        assert_eq!(left(40, 1_024, 64, None), (0, 1));
        assert_eq!(left(0, 0, 32, None), (0, 0));
    }

    #[test]
    fn kick_stops_at_an_error_and_returns_it() {
        let mut calls = 0;
        let result = kick_all(1_000, || {
            calls += 1;
            Err(io::ErrorKind::NetworkDown.into())
        });
        assert_eq!((result.unwrap_err().kind(), calls), (io::ErrorKind::NetworkDown, 1));
    }
}
