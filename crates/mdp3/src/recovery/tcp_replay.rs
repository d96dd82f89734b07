//! Gaps filled by TCP replay, before snapshots are needed.
//!
//! ```text
//! hole ──reorder window over──▶ asked for ──every packet came──▶ filled
//!                                 │   ▲
//!                    failed or late   └── asked for again, what is still missing
//!                                 ▼
//!                  attempts used up, no room to wait ──▶ a gap: snapshots
//! ```
//! While a replay is under way the live packets behind the hole are held; the books stand still
//! and stay what they were. Whatever fills the hole counts, late packets of either side too.

use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16};
use hairpin_time::{Duration, Instant, Now};

use crate::channel::{Action, Channel};
use crate::feed::incremental_feed::process_replayed;
use crate::{Listener, Messages, Packet, Warning};

/// How small gaps are filled by TCP replay.
///
/// CME serves up to 2,000 packets a request, no older than a day; the defaults otherwise are those
/// of common handlers: three attempts of four seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The largest gap that is asked for, in packets.
    pub max_packets: u32,
    /// How often a gap is asked for before it is given up, at least once.
    pub attempts: u32,
    /// How long an attempt may take.
    pub timeout: Duration,
    /// How many packets may be held meanwhile, counted from the first that is missing. Memory for
    /// each is taken at the start: `Settings::max_packet` bytes.
    pub max_held: usize,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            max_packets: 2_000,
            attempts: 3,
            timeout: Duration::from_secs(4),
            // The largest gap, and as much again while it is fetched: 8 MiB of usual packets.
            max_held: 4_096,
        }
    }
}

/// How a connection for replay has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayOutcome {
    /// The server has sent what it has, and logged out. What did not come it does not have.
    Complete,
    /// It could not be reached, refused the request, or broke off.
    Failed,
}

/// Why a gap that was asked for became a gap all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayFailure {
    /// The server did not have all of it.
    Incomplete,
    /// The last attempt failed.
    Failed,
    /// The last attempt took too long.
    TimedOut,
    /// Too much came behind the gap meanwhile.
    BufferFull,
    /// The numbering has restarted: what was before does not matter any more.
    Restarted,
}

/// What becomes of a gap that replay is asked to fill. `first` and `last` are MsgSeqNum of the
/// incremental feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayUpdate {
    /// It is asked for, from the first packet that is still missing.
    Requested {
        /// The first packet.
        first: u32,
        /// The last packet.
        last: u32,
        /// The how manieth attempt, from 1.
        attempt: u32,
    },
    /// It is filled: nothing was lost.
    Filled {
        /// The first packet that was missing.
        first: u32,
        /// The last packet.
        last: u32,
    },
    /// It is given up; [`Listener::on_gap`] follows unless the numbering has restarted.
    GivenUp {
        /// The first packet that is still missing.
        first: u32,
        /// The last packet.
        last: u32,
        /// Why.
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

/// What is being asked for, if anything is.
#[derive(Debug)]
pub(crate) struct ReplayRequester {
    settings: Option<Replay>,
    request: Option<Request>,
    /// What has been asked for in vain lies up to here.
    failed_through: Option<u32>,
    action: Option<Action>,
}

impl ReplayRequester {
    pub(crate) fn new(settings: Option<Replay>) -> Self {
        Self { settings, request: None, failed_through: None, action: None }
    }

    /// How many packets may be held while one replay is under way.
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

    /// Whether a hole may be asked for, if a packet `ahead` of its first has to be held.
    fn can_request(&self, first: u32, count: u32, ahead: u32) -> bool {
        self.settings.is_some_and(|settings| {
            self.request.is_none()
                && count <= settings.max_packets
                && (ahead as usize) < settings.max_held
                && self.failed_through.is_none_or(|tried| first > tried)
        })
    }

    /// Whether a packet is part of what was asked for, or was asked for before it came.
    fn covers(&self, sequence: u32) -> bool {
        self.request.is_some_and(|request| {
            sequence.wrapping_sub(request.first) <= request.last - request.first
        })
    }

    /// Asks for packets until `now` and the time an attempt may take; the update to be told.
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

    /// Whether the request may be repeated.
    fn has_attempts(&self) -> bool {
        let attempts = self.settings.map_or(0, |settings| settings.attempts);
        self.request.is_some_and(|request| request.attempt < attempts)
    }

    /// Forgets what was tried: the numbering is another.
    pub(crate) fn reset(&mut self) {
        self.failed_through = None;
    }

    fn end(&mut self) -> Option<Request> {
        self.action = self.request.is_some().then_some(Action::EndReplay);
        self.request.take()
    }
}

impl Channel {
    /// A connection that [`Action::Replay`] asked for, the last of them, has come to its end. That
    /// of one which was replaced by another or by [`Action::EndReplay`] is not to be told.
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
            // Once more would bring no more.
            ReplayOutcome::Complete => {
                self.abandon_replay(now.monotonic, ReplayFailure::Incomplete, listener);
            }
            ReplayOutcome::Failed => {
                self.retry_replay(now.monotonic, ReplayFailure::Failed, listener);
            }
        }
    }

    /// Asks for the hole before the lowest packet held, or before `sequence` if that is lower;
    /// false if it is not to be had.
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

    /// Asks once more for what is still missing, or gives it up.
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

    /// What is still missing will not come: it is a gap, and so is what else is overdue.
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

    /// Ends a replay that is under way without having brought everything.
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

    /// Ends a replay whose hole has been filled.
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

    /// A packet that was asked for, or that comes too late for that.
    #[cold]
    pub(crate) fn handle_replayed(
        &mut self,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        // The session's own messages are in packets with numbers of their own.
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

/// Whether a packet begins or ends a session with the replay server.
fn is_session_message(messages: &[u8]) -> bool {
    let first = Messages::new(messages).next_valid();
    first.is_some_and(|message| {
        [AdminLogin15::TEMPLATE_ID, AdminLogout16::TEMPLATE_ID]
            .contains(&message.header.template_id)
    })
}
