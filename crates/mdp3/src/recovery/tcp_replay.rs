//! TCP replay of gaps, before snapshots are needed.
//!
//! ```text
//! gap ──reorder window over──▶ requested ──all packets received──▶ filled
//!                                │   ▲
//!                 failed or late │   └── requested again: the rest
//!                                ▼
//!                 attempts used up, buffer full ──▶ declared lost: snapshots
//! ```
//! During a replay, live packets after the gap are buffered and the books do not change. Late
//! packets of either line fill the gap too.

use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16, SCHEMA_ID};
use hairpin_time::{Duration, Instant, Now};

use crate::channel::{Action, Channel};
use crate::feed::incremental_feed::process_replayed;
use crate::{Listener, Messages, Packet, Warning};

/// The limits for filling gaps by TCP replay.
///
/// CME serves up to 2,000 packets per request, at most a day old. The other defaults are those of
/// common handlers: three attempts of four seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The largest gap to request, in packets.
    pub max_packets: u32,
    /// The number of attempts before a gap is given up, at least one.
    pub attempts: u32,
    /// The timeout of an attempt.
    pub timeout: Duration,
    /// The pause after the server has refused the login, or was unreachable in all attempts for a
    /// gap. Until then, further gaps are not requested.
    pub pause: Duration,
    /// The number of packets that may be buffered meanwhile, counted from the first missing one.
    /// Each takes `Settings::max_packet` bytes, allocated at creation.
    pub max_held: usize,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            max_packets: 2_000,
            attempts: 3,
            timeout: Duration::from_secs(4),
            pause: Duration::from_secs(300),
            // The largest gap, and as many packets again during the replay: 8 MiB with default
            // packets.
            max_held: 4_096,
        }
    }
}

/// The result of a replay connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayOutcome {
    /// The server has sent all it has and logged out. It does not have packets that are still
    /// missing.
    Complete,
    /// The connection could not be established, was rejected, or was lost.
    Failed,
}

/// The reason why a requested gap was declared lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayFailure {
    /// The server did not have all packets.
    Incomplete,
    /// The last attempt failed.
    Failed,
    /// The last attempt timed out.
    TimedOut,
    /// Too many packets arrived after the gap meanwhile.
    BufferFull,
    /// Numbering has restarted, so the gap no longer matters.
    Restarted,
}

/// The progress of a replay. `first` and `last` are MsgSeqNum of the incremental feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayUpdate {
    /// The missing packets were requested.
    Requested {
        /// The first packet.
        first: u32,
        /// The last packet.
        last: u32,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// The gap is filled; nothing was lost.
    Filled {
        /// The first packet that was missing.
        first: u32,
        /// The last packet.
        last: u32,
    },
    /// The replay was given up; [`Listener::on_gap`] follows unless numbering has restarted.
    GivenUp {
        /// The first packet that is still missing.
        first: u32,
        /// The last packet.
        last: u32,
        /// The reason.
        reason: ReplayFailure,
    },
}

/// A gap being filled.
#[derive(Debug, Clone, Copy)]
struct Request {
    first: u32,
    last: u32,
    attempt: u32,
    deadline: Instant,
}

/// The state of TCP replay: the current request, if any.
#[derive(Debug)]
pub(crate) struct ReplayRequester {
    settings: Option<Replay>,
    request: Option<Request>,
    /// The end of the last gap that replay could not fill.
    failed_through: Option<u32>,
    action: Option<Action>,
}

impl ReplayRequester {
    pub(crate) fn new(settings: Option<Replay>) -> Self {
        Self { settings, request: None, failed_through: None, action: None }
    }

    /// Returns how many packets may be buffered during a replay.
    pub(crate) fn max_held(&self) -> usize {
        self.settings.map_or(0, |settings| settings.max_held)
    }

    pub(crate) fn is_active(&self) -> bool {
        self.request.is_some()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.request.map(|request| request.deadline)
    }

    #[inline]
    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.action.take()
    }

    /// Returns `true` if a gap may be requested while a packet `ahead` of its first is buffered.
    fn can_request(&self, first: u32, count: u32, ahead: u32) -> bool {
        self.settings.is_some_and(|settings| {
            self.request.is_none()
                && count <= settings.max_packets
                && (ahead as usize) < settings.max_held
                && self.failed_through.is_none_or(|tried| first > tried)
        })
    }

    /// Returns `true` if a packet is in the requested range.
    fn covers(&self, sequence: u32) -> bool {
        self.request.is_some_and(|request| {
            sequence.wrapping_sub(request.first) <= request.last - request.first
        })
    }

    /// Requests packets, with a deadline one timeout after `now`. Returns the update for the
    /// listener.
    fn request_packets(
        &mut self,
        (first, last): (u32, u32),
        attempt: u32,
        now: Instant,
    ) -> ReplayUpdate {
        let timeout = self.settings.map_or(Duration::ZERO, |settings| settings.timeout);
        let begun = self.request.map_or(first, |request| request.first);
        self.request = Some(Request { first: begun, last, attempt, deadline: now + timeout });
        self.action = Some(Action::Replay { first, last });
        ReplayUpdate::Requested { first, last, attempt }
    }

    /// Returns `true` if the request may be repeated.
    fn has_attempts(&self) -> bool {
        let attempts = self.settings.map_or(0, |settings| settings.attempts);
        self.request.is_some_and(|request| request.attempt < attempts)
    }

    /// Forgets failed requests because numbering restarted.
    pub(crate) fn reset(&mut self) {
        self.failed_through = None;
    }

    fn end(&mut self) -> Option<Request> {
        self.action = self.request.is_some().then_some(Action::EndReplay);
        self.request.take()
    }
}

impl Channel {
    /// Handles the end of the connection of the last [`Action::Replay`]. Do not report connections
    /// that a later request or [`Action::EndReplay`] has replaced.
    pub fn handle_replay_end(
        &mut self,
        now: Now,
        outcome: ReplayOutcome,
        listener: &mut impl Listener,
    ) {
        if !self.replay.is_active() {
            return;
        }
        match outcome {
            // Another attempt would return the same packets.
            ReplayOutcome::Complete => {
                self.abandon_replay(now.monotonic, ReplayFailure::Incomplete, listener);
            }
            ReplayOutcome::Failed => {
                self.retry_replay(now.monotonic, ReplayFailure::Failed, listener);
            }
        }
    }

    /// Requests the gap before the lowest buffered packet, or before `sequence` if lower. Returns
    /// `false` if replay cannot fill it.
    #[cold]
    pub(crate) fn request_replay(
        &mut self,
        now: Instant,
        sequence: Option<u32>,
        listener: &mut impl Listener,
    ) -> bool {
        let first = self.arbiter.expected();
        let Some(next) = self.end_of_gap(sequence) else { return false };
        let ahead = sequence.unwrap_or(next).wrapping_sub(first);
        if !self.replay.can_request(first, next.wrapping_sub(first), ahead) {
            return false;
        }
        self.market.counters.replays += 1;
        self.gap_deadline = None;
        self.arbiter.set_waiting_for_replay(true);
        listener.on_replay(&self.replay.request_packets((first, next - 1), 1, now));
        true
    }

    /// Requests the missing packets again, or gives up.
    #[cold]
    pub(crate) fn retry_replay(
        &mut self,
        now: Instant,
        reason: ReplayFailure,
        listener: &mut impl Listener,
    ) {
        let Some(Request { last, attempt, .. }) = self.replay.request else { return };
        self.market.counters.replay_failures += 1;
        if !self.replay.has_attempts() {
            return self.abandon_replay(now, reason, listener);
        }
        let first = self.arbiter.expected();
        listener.on_replay(&self.replay.request_packets((first, last), attempt + 1, now));
    }

    /// Declares the missing packets and other overdue gaps lost.
    fn abandon_replay(
        &mut self,
        now: Instant,
        reason: ReplayFailure,
        listener: &mut impl Listener,
    ) {
        self.end_replay(reason, listener);
        self.declare_gap(None, listener);
        self.handle_overdue_gaps(now, listener);
    }

    /// Ends an incomplete replay.
    #[cold]
    pub(crate) fn end_replay(&mut self, reason: ReplayFailure, listener: &mut impl Listener) {
        let Some(Request { last, .. }) = self.replay.end() else { return };
        self.arbiter.set_waiting_for_replay(false);
        self.market.counters.replays_given_up += 1;
        let is_restart = reason == ReplayFailure::Restarted;
        self.replay.failed_through = (!is_restart).then_some(last);
        if reason == ReplayFailure::BufferFull {
            self.market.warn(&Warning::ReplayBufferFull, listener);
        }
        let first = self.arbiter.expected();
        listener.on_replay(&ReplayUpdate::GivenUp { first, last, reason });
    }

    /// Ends a replay whose gap has been filled.
    #[cold]
    pub(crate) fn end_if_filled(&mut self, listener: &mut impl Listener) {
        if !self.replay.is_active() || self.replay.covers(self.arbiter.expected()) {
            return;
        }
        if let Some(Request { first, last, .. }) = self.replay.end() {
            self.arbiter.set_waiting_for_replay(false);
            self.market.counters.replays_filled += 1;
            listener.on_replay(&ReplayUpdate::Filled { first, last });
        }
    }

    /// Handles a packet of the replay connection.
    #[cold]
    pub(crate) fn handle_replayed(
        &mut self,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        // The session's own messages use packets with separate numbers.
        let is_of_older_epoch = packet.sending_time < self.arbiter.epoch_began();
        if !self.replay.covers(packet.sequence) || is_of_older_epoch || is_session_message(messages)
        {
            self.market.counters.unwanted_packets += 1;
            return;
        }
        let expected = self.arbiter.expected();
        if packet.sequence == expected {
            let Self { arbiter, market, .. } = self;
            process_replayed(arbiter, market, packet, messages, listener);
            return self.release_buffered(listener);
        }
        let is_new = packet.sequence > expected
            && self.reorder_buffer.has_room(expected, packet.sequence, messages.len())
            && self.reorder_buffer.insert(*packet, messages);
        self.followup_pending = true;
        if !is_new {
            self.market.counters.replay_duplicates += 1;
        }
    }
}

/// Returns `true` if a packet belongs to the session with the replay server: a logon or logout of
/// the core schema, or any message of another one.
fn is_session_message(messages: &[u8]) -> bool {
    let first = Messages::new(messages).next_valid();
    first.is_some_and(|message| {
        message.header.schema_id != SCHEMA_ID
            || [AdminLogin15::TEMPLATE_ID, AdminLogout16::TEMPLATE_ID]
                .contains(&message.header.template_id)
    })
}
