//! Gap recovery: requests missing messages and delivers all messages in order.
//!
//! One request is in flight at a time, for at most [`REQUEST_MAX`] messages. Messages missing under
//! previous UUIDs come first, then those of the current UUID. Later messages are held as far as
//! there is room, and delivered in their turn. Messages without room are requested too.
//!
//! Messages are lost only if the exchange refuses them. If it refuses a range, the lost numbers are
//! those it refuses individually (see `retransmit_chunk`). If requested messages do not arrive, the
//! connection ends and the next one requests them again. Messages of a previous UUID are lost after
//! three such connections.

use hairpin_time::{Duration, Instant, Now};

use super::hold_queue::HoldQueue;
use super::inbound::Frame;
use super::retransmit_chunk::RetransmitChunk;
use super::{Context, Session};
use crate::listener::Gap;
use crate::{Error, Listener, State, Warning};

/// The maximum number of messages that CME retransmits per request.
pub const REQUEST_MAX: u16 = 2_500;

/// The minimum timeout of a retransmission.
const TIMEOUT_MIN: Duration = Duration::from_millis(1);

/// The number of consecutive connections without progress after which messages of a previous UUID
/// are lost. By then the network path has changed several times. Without the limit, an exchange
/// that never responds would prevent trading.
const CONNECTIONS_MAX: u32 = 3;

/// A retransmit request, sent or to be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// The requested messages, including those already received.
    pub(super) gap: Gap,
    /// The first requested message that has not arrived.
    pub(super) first_missing: u32,
    pub(super) phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The request is to be sent.
    Unsent,
    /// The request was sent with this RequestTimestamp and expires at the deadline.
    Sent { request_timestamp: u64, deadline: Instant },
    /// The request was rejected temporarily and is repeated at this time.
    Rejected { until: Instant },
}

/// The connections that ended because a message of a previous UUID did not arrive.
#[derive(Debug, Default, Clone, Copy)]
struct StalledConnections {
    uuid: u64,
    seq_num: u32,
    connections: u32,
}

/// The state of gap recovery.
#[derive(Debug)]
pub(super) struct Recovery {
    /// Messages are missing.
    pub(super) active: bool,
    /// The next message of the current UUID may not be delivered: messages of a previous UUID are
    /// missing, or this is a backup.
    pub(super) current_uuid_blocked: bool,
    /// Held messages are being delivered.
    pub(super) delivering_held: bool,
    /// The SeqNum of the last message that the exchange is known to have published under the
    /// current UUID.
    pub(super) last_published: u32,
    pub(super) held: HoldQueue,
    /// The hold queue has overflowed since the last recovery.
    pub(super) overflowed: bool,
    pub(super) request: Option<Request>,
    /// The number of consecutive requests without progress.
    pub(super) failed_requests: u32,
    /// The size of the next request.
    pub(super) chunk: RetransmitChunk,
    stalled: StalledConnections,
}

impl Recovery {
    /// Creates an idle recovery with room for `held_bytes` bytes of messages.
    pub(super) fn new(held_bytes: usize) -> Self {
        Self {
            active: false,
            current_uuid_blocked: false,
            delivering_held: false,
            last_published: 0,
            held: HoldQueue::new(held_bytes),
            overflowed: false,
            request: None,
            failed_requests: 0,
            chunk: RetransmitChunk::new(0),
            stalled: StalledConnections::default(),
        }
    }

    /// Resets the state for a new connection.
    pub(super) fn begin(&mut self) {
        let held = core::mem::take(&mut self.held);
        *self = Self { held, stalled: self.stalled, ..Self::new(0) };
        self.held.clear();
    }

    /// Counts a connection on which a message of a previous UUID did not arrive. Returns `true` if
    /// another connection should request it again.
    fn may_retry_on_next_connection(&mut self, Gap { uuid, from: seq_num, .. }: Gap) -> bool {
        if (self.stalled.uuid, self.stalled.seq_num) != (uuid, seq_num) {
            self.stalled = StalledConnections { uuid, seq_num, connections: 0 };
        }
        self.stalled.connections += 1;
        self.stalled.connections < CONNECTIONS_MAX
    }

    /// Returns `true` if a request is to be sent.
    pub(super) fn has_unsent_request(&self) -> bool {
        self.request.is_some_and(|request| request.phase == Phase::Unsent)
    }

    /// Returns the deadline of the pending request.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.request?.phase {
            Phase::Unsent => None,
            Phase::Sent { deadline, .. } => Some(deadline),
            Phase::Rejected { until } => Some(until),
        }
    }

    /// Returns `true` if `seq_num` is at or after the end of the pending request.
    pub(super) fn ends_request(&self, uuid: u64, seq_num: u32) -> bool {
        self.request.is_some_and(|Request { gap, phase, .. }| {
            gap.uuid == uuid && gap.to <= seq_num && matches!(phase, Phase::Sent { .. })
        })
    }

    /// Restarts the timeout after a retransmitted message or its announcement.
    pub(super) fn extend_deadline(&mut self, now: Now, timeout: Duration) {
        if let Some(Request { phase: Phase::Sent { deadline, .. }, .. }) = &mut self.request {
            *deadline = now.monotonic + timeout;
        }
    }
}

impl Session {
    pub(super) fn retransmission_timeout(&self) -> Duration {
        self.policy.retransmission_timeout.max(TIMEOUT_MIN)
    }

    /// Returns the SeqNum of the last message known to be published under the current UUID.
    pub(super) fn last_published(&self) -> u32 {
        self.recovery.last_published.max(self.outbound.progress.next_incoming.saturating_sub(1))
    }

    /// Records that the exchange has published messages up to `last`, and reports a gap if they are
    /// new.
    pub(super) fn record_published<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        last: u32,
    ) {
        let known = self.last_published();
        if last > known {
            let uuid = self.outbound.progress.uuid;
            self.recovery.last_published = last;
            self.mark_incomplete();
            self.report_gap(context, Gap { uuid, from: known + 1, to: last });
        }
    }

    /// Returns the SeqNum of the exchange's next message, as far as known.
    pub(super) fn next_published(&self) -> u32 {
        self.last_published() + 1
    }

    /// Holds all messages from `next_seq_no` on until the takeover shows which messages were
    /// delivered before.
    pub(super) fn hold_from(&mut self, next_seq_no: u32) {
        self.outbound.progress.next_incoming = next_seq_no;
        self.recovery.last_published = next_seq_no - 1;
        self.recovery.current_uuid_blocked = true;
        self.mark_incomplete();
    }

    /// Marks messages as missing.
    pub(super) fn mark_incomplete(&mut self) {
        (self.recovery.active, self.outbound.fast_path_armed) = (true, false);
    }

    /// Starts the recovery of messages missing before this logon.
    pub(super) fn begin_recovery<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let has_previous_gap = self.outbound.progress.previous_uuids.first_gap().is_some();
        self.recovery.current_uuid_blocked = has_previous_gap;
        if has_previous_gap {
            self.mark_incomplete();
        }
        self.recover(context);
    }

    /// Delivers held messages that are next, and requests missing ones.
    #[cold]
    pub(super) fn recover<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.is_takeover_pending() {
            return;
        }
        self.recovery.current_uuid_blocked =
            self.outbound.progress.previous_uuids.first_gap().is_some();
        self.deliver_held(context);
        if self.state() != State::Established {
            return;
        }
        let Some(gap) = self.first_missing() else {
            self.recovery.active = false;
            self.recovery.overflowed = false;
            self.recovery.request = None;
            self.recovery.chunk = RetransmitChunk::new(self.outbound.progress.uuid);
            return;
        };
        let pending = self.recovery.request.filter(|request| {
            request.gap.uuid == gap.uuid && (request.gap.from..=request.gap.to).contains(&gap.from)
        });
        match pending {
            None => {
                let before = self.recovery.request.filter(|request| request.gap.uuid == gap.uuid);
                if before.is_some() {
                    self.recovery.chunk.grow(gap.from);
                }
                self.recovery.failed_requests = 0;
                self.request(gap);
            }
            Some(pending) if pending.first_missing < gap.from => {
                self.recovery.chunk.record_progress();
                self.recovery.request = Some(Request { first_missing: gap.from, ..pending });
                self.recovery.extend_deadline(context.now, self.retransmission_timeout());
            }
            Some(_) => {}
        }
    }

    /// Returns the first gap across all UUIDs.
    pub(super) fn first_missing(&self) -> Option<Gap> {
        let progress = &self.outbound.progress;
        let previous = progress.previous_uuids.first_gap();
        previous.or_else(|| {
            let to = self.recovery.held.first().map_or(self.last_published(), |first| first - 1);
            let (uuid, from) = (progress.uuid, progress.next_incoming);
            (from <= to).then_some(Gap { uuid, from, to })
        })
    }

    /// Requests the first messages of `gap`.
    pub(super) fn request(&mut self, gap: Gap) {
        self.recovery.chunk.select_uuid(gap.uuid);
        let to = gap.to.min(self.recovery.chunk.last_seq_num(gap.from));
        let request =
            Request { gap: Gap { to, ..gap }, first_missing: gap.from, phase: Phase::Unsent };
        self.recovery.request = Some(request);
    }

    /// Delivers held messages while they are next.
    fn deliver_held<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.recovery.current_uuid_blocked {
            return;
        }
        let mut held = core::mem::take(&mut self.recovery.held);
        self.recovery.delivering_held = true;
        while let Some(first) = held.first() {
            let next = self.outbound.progress.next_incoming;
            if first > next || self.outbound.pending.is_closing() {
                break;
            }
            let Some(message) = held.pop().filter(|_| first == next) else { continue };
            if let Ok(frame) = Frame::decode(message) {
                self.handle_business_message(context, frame);
            }
        }
        self.recovery.delivering_held = false;
        self.recovery.held = held;
    }

    /// Repeats the pending request for what has not arrived. Gives up after the configured number
    /// of attempts without progress.
    pub(super) fn retry_request<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let Some(gap) = self.first_missing() else {
            self.recovery.request = None;
            return;
        };
        let has_moved = self.recovery.request.is_none_or(|request| request.gap.from != gap.from);
        self.recovery.failed_requests =
            if has_moved { 0 } else { self.recovery.failed_requests + 1 };
        if self.recovery.failed_requests < self.policy.retransmission_attempts.max(1) {
            self.request(gap);
        } else if gap.uuid == self.outbound.progress.uuid
            || self.recovery.may_retry_on_next_connection(gap)
        {
            self.fail(context, Error::Retransmission(gap));
        } else {
            // These messages are not required for trading: the session continues with current ones.
            self.give_up(context, gap);
        }
    }

    /// Reports the messages of `gap` as lost and continues after them.
    pub(super) fn give_up<L: Listener>(&mut self, context: &mut Context<'_, L>, gap: Gap) {
        self.inbound.counters.lost += u64::from(gap.to - gap.from) + 1;
        let progress = &mut self.outbound.progress;
        if gap.uuid == progress.uuid {
            progress.next_incoming = gap.to + 1;
        } else {
            progress.previous_uuids.close_to(gap.to);
        }
        self.recovery.request = None;
        self.notify(context, |listener, sender| listener.on_lost(sender, gap));
        self.recover(context);
    }

    /// Repeats a request that stalled or was rejected temporarily.
    pub(super) fn handle_recovery_timeout<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let Some(request) = self.recovery.request else { return };
        if self.recovery.deadline().is_none_or(|deadline| context.now.monotonic < deadline) {
            return;
        }
        if let Phase::Sent { .. } = request.phase {
            self.inbound.counters.retransmissions_stalled += 1;
            let gap = self.first_missing().unwrap_or(request.gap);
            self.warn(context, Warning::RetransmissionStalled(Gap { to: request.gap.to, ..gap }));
        }
        self.retry_request(context);
    }
}
