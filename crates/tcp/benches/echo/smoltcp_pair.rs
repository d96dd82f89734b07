//! Two connections of smoltcp.

use hairpin_time::Instant;

use crate::smoltcp_host::SmoltcpHost;
use crate::{MESSAGE, Pair, START};

/// The ends in the order of their addresses. The second one has connected.
pub(crate) struct SmoltcpPair([SmoltcpHost; 2]);

impl SmoltcpPair {
    pub(crate) fn new() -> Self {
        let mut ends = [1, 2].map(|number| {
            let mut host = SmoltcpHost::new(START, number, 1_500, 1 << 16, number.into());
            host.enable_timestamps();
            host.socket().set_nagle_enabled(false);
            host
        });
        ends[0].socket().listen(1_000).unwrap();
        ends[1].connect();
        for _ in 0..4 {
            let [first, second] = &mut ends;
            second.poll(START);
            second.pass_to(first);
            first.poll(START);
            first.pass_to(second);
        }
        assert!(ends.iter_mut().all(|host| host.socket().may_send()));
        Self(ends)
    }

    /// Sends a message. Returns what the other end received.
    #[inline]
    fn send(&mut self, now: Instant, from: usize, message: &[u8; MESSAGE]) -> [u8; MESSAGE] {
        let [first, second] = &mut self.0;
        let (sender, receiver) = if from == 0 { (first, second) } else { (second, first) };
        assert_eq!(sender.socket().send_slice(message), Ok(MESSAGE));
        sender.poll(now);
        sender.pass_to(receiver);
        receiver.poll(now);
        let mut received = [0; MESSAGE];
        assert_eq!(receiver.socket().recv_slice(&mut received), Ok(MESSAGE));
        received
    }
}

impl Pair for SmoltcpPair {
    #[inline]
    fn round_trip(&mut self, now: Instant, message: &[u8; MESSAGE]) -> [u8; MESSAGE] {
        let received = self.send(now, 0, message);
        self.send(now, 1, &received)
    }

    fn measured_round_trip(&mut self, now: Instant, message: &[u8; MESSAGE]) -> [u8; MESSAGE] {
        measured_round_trip(self, now, message)
    }
}

#[inline(never)]
fn measured_round_trip(
    ends: &mut SmoltcpPair,
    now: Instant,
    message: &[u8; MESSAGE],
) -> [u8; MESSAGE] {
    ends.round_trip(now, message)
}
