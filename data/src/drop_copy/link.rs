//! The state of one connection of a FIX session.

use hairpin_time::{Duration, Instant};

/// The state of the logon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logged {
    /// No Logon was accepted.
    Off,
    /// The client is logged on.
    On,
}

/// A connection. Its bytes wait in `output` until the socket accepts them.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) logged: Logged,
    /// `true` once a Logout was added: nothing else is processed or sent.
    pub(super) closing: bool,
    /// The range that is sent again.
    pub(super) resend: Option<(u32, u32)>,
    /// The number up to which the client's messages were requested.
    pub(super) requested: Option<u32>,
    /// HeartBtInt (108); zero for no heartbeats.
    heartbeat: Duration,
    last_sent: Instant,
    last_received: Instant,
    /// `true` if a TestRequest was sent since the last message of the client.
    test_sent: bool,
    output: Vec<u8>,
    /// Bytes of `output` that the socket has accepted.
    written: usize,
    /// The time since which the socket accepts nothing.
    stalled_since: Instant,
}

impl Link {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            logged: Logged::Off,
            closing: false,
            resend: None,
            requested: None,
            heartbeat: Duration::from_secs(0),
            last_sent: now,
            last_received: now,
            test_sent: false,
            output: Vec::new(),
            written: 0,
            stalled_since: now,
        }
    }

    pub(super) fn log_on(&mut self, now: Instant, heartbeat: Duration) {
        self.logged = Logged::On;
        self.heartbeat = heartbeat;
        self.received(now);
    }

    /// Records that the client has sent a message.
    pub(super) fn received(&mut self, now: Instant) {
        self.last_received = now;
        self.test_sent = false;
    }

    /// Returns the buffer to send.
    pub(super) fn output_mut(&mut self, now: Instant) -> &mut Vec<u8> {
        if self.waiting().is_empty() {
            self.stalled_since = now;
        }
        self.last_sent = now;
        &mut self.output
    }

    /// Returns the bytes that the socket has not accepted.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.output[self.written..]
    }

    /// Records that the socket has accepted so many bytes.
    pub(super) fn wrote(&mut self, now: Instant, count: usize) {
        self.written += count;
        self.stalled_since = now;
        if self.written == self.output.len() {
            self.output.clear();
            self.written = 0;
        } else if self.written > self.output.len() / 2 {
            self.output.drain(..self.written);
            self.written = 0;
        }
    }

    /// Returns `true` if the client is logged on and fewer bytes wait than `limit`.
    pub(super) fn is_open_for(&self, limit: usize) -> bool {
        self.logged == Logged::On && !self.closing && self.waiting().len() < limit
    }

    /// Returns how long the socket has accepted nothing of what waits.
    pub(super) fn stalled_for(&self, now: Instant) -> Duration {
        match self.waiting() {
            [] => Duration::from_secs(0),
            _ => now.saturating_since(self.stalled_since),
        }
    }

    fn has_passed(&self, now: Instant, since: Instant, fifths: u64) -> bool {
        let limit = Duration::from_nanos(self.heartbeat.as_nanos() / 5 * fifths);
        let is_active = self.logged == Logged::On && !self.closing;
        is_active && limit > Duration::from_secs(0) && now.saturating_since(since) >= limit
    }

    pub(super) fn is_heartbeat_due(&self, now: Instant) -> bool {
        self.waiting().is_empty() && self.has_passed(now, self.last_sent, 5)
    }

    /// Returns `true` if a TestRequest is due. Sets that it was sent.
    pub(super) fn is_test_due(&mut self, now: Instant) -> bool {
        let is_due = !self.test_sent && self.has_passed(now, self.last_received, 6);
        self.test_sent |= is_due;
        is_due
    }

    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.test_sent && self.has_passed(now, self.last_received, 12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn link() -> Link {
        let mut link = Link::new(at(0));
        link.log_on(at(0), Duration::from_secs(10));
        link
    }

    #[test]
    fn heartbeat_is_due_after_an_interval_without_a_message() {
        let mut link = link();
        link.output_mut(at(1_000)).push(1);
        link.wrote(at(1_000), 1);
        assert!(!link.is_heartbeat_due(at(10_999)));
        assert!(link.is_heartbeat_due(at(11_000)));
        link.closing = true;
        assert!(!link.is_heartbeat_due(at(99_000)));
    }

    #[test]
    fn silent_client_is_tested_once_and_then_expires() {
        let mut link = link();
        assert!(!link.is_test_due(at(11_999)) && !link.is_expired(at(24_000)));
        assert!(link.is_test_due(at(12_000)) && !link.is_test_due(at(12_001)));
        assert!(!link.is_expired(at(23_999)) && link.is_expired(at(24_000)));
        link.received(at(23_999));
        assert!(!link.is_expired(at(24_000)) && link.is_test_due(at(36_000)));
    }

    #[test]
    fn without_an_interval_nothing_expires() {
        let mut link = Link::new(at(0));
        link.log_on(at(0), Duration::from_secs(0));
        let never = at(u64::from(u32::MAX));
        assert!(!link.is_heartbeat_due(never) && !link.is_test_due(never));
    }

    #[test]
    fn stall_counts_from_the_last_progress_while_bytes_wait() {
        let mut link = link();
        assert_eq!(link.stalled_for(at(50_000)), Duration::from_secs(0));
        link.output_mut(at(50_000)).extend([1, 2, 3]);
        assert_eq!(link.stalled_for(at(60_000)), Duration::from_secs(10));
        link.wrote(at(60_000), 1);
        assert_eq!(link.waiting(), [2, 3]);
        link.output_mut(at(70_000)).push(4);
        assert_eq!(link.stalled_for(at(71_000)), Duration::from_secs(11));
        link.wrote(at(71_000), 2);
        assert_eq!(link.waiting(), [4]);
        link.wrote(at(72_000), 1);
        assert_eq!(link.stalled_for(at(99_000)), Duration::from_secs(0));
        assert!(link.is_open_for(1) && !link.is_open_for(0));
    }
}
