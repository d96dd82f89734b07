//! What the exchange has published and has not arrived: asked for again, in order.
//!
//! One request is under way at a time, for at most [`REQUEST_MAX`] messages. What is missing under
//! earlier UUIDs comes first, then what is missing under the present one. What arrives meanwhile
//! and is not next is held, as far as there is room, and delivered when its turn comes; what is
//! not held is asked for too.
//!
//! Messages are lost by the exchange's refusal: of a range that it refuses, those numbers that it
//! refuses one by one (see `stride`). What is asked for and does not come ends the connection, and
//! the next one asks again; only of an earlier UUID it is lost when three have asked in vain.

use hairpin_time::{Duration, Instant, Now};

use super::held::Held;
use super::inbound::Frame;
use super::stride::Stride;
use super::{Context, Session};
use crate::listener::Gap;
use crate::{Error, Listener, State, Warning};

/// The most messages CME sends again for one request.
pub const REQUEST_MAX: u16 = 2_500;

/// The least a retransmission may stand still.
const TIMEOUT_MIN: Duration = Duration::from_millis(1);

/// Connections in a row on which the same messages of an earlier UUID were asked for in vain,
/// after which they are lost: a line that stands still is another by then, and an exchange that
/// never answers would keep us from trading.
const CONNECTIONS_MAX: u32 = 3;

/// Messages asked for, or to be asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// The messages; what has come of them since is not taken off.
    pub(super) gap: Gap,
    /// The first of them that has not come.
    pub(super) reached: u32,
    pub(super) phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The request is to leave.
    Wanted,
    /// It has left with this RequestTimestamp; given up at the deadline.
    Asked { request_timestamp: u64, deadline: Instant },
    /// It was refused for now: to be made again then.
    Refused { until: Instant },
}

/// Connections given up because a message of an earlier UUID did not come.
#[derive(Debug, Default, Clone, Copy)]
struct GivenUp {
    uuid: u64,
    seq_num: u32,
    connections: u32,
}

/// Missing messages, and those that wait for them.
#[derive(Debug)]
pub(super) struct Recovery {
    /// Something is missing.
    pub(super) is_active: bool,
    /// Something is missing that comes before all messages of the present UUID.
    pub(super) is_earlier: bool,
    /// Held messages are being delivered.
    pub(super) is_releasing: bool,
    /// SeqNum of the last message of the present UUID that is known to be published.
    pub(super) known: u32,
    pub(super) held: Held,
    /// There was no room to hold a message since all were there.
    pub(super) has_overflowed: bool,
    pub(super) request: Option<Request>,
    /// Requests since the last one that brought anything.
    pub(super) fruitless: u32,
    /// How much is asked for at once.
    pub(super) stride: Stride,
    given_up: GivenUp,
}

impl Recovery {
    /// Nothing is missing; room for `held_bytes` of messages.
    pub(super) fn new(held_bytes: usize) -> Self {
        Self {
            is_active: false,
            is_earlier: false,
            is_releasing: false,
            known: 0,
            held: Held::new(held_bytes),
            has_overflowed: false,
            request: None,
            fruitless: 0,
            stride: Stride::new(0),
            given_up: GivenUp::default(),
        }
    }

    /// A connection begins: whatever was on its way is not any more.
    pub(super) fn begin(&mut self) {
        let held = core::mem::take(&mut self.held);
        *self = Self { held, given_up: self.given_up, ..Self::new(0) };
        self.held.clear();
    }

    /// A message of an earlier UUID has not come on this connection: whether it may on another.
    fn may_come_later(&mut self, Gap { uuid, from: seq_num, .. }: Gap) -> bool {
        if (self.given_up.uuid, self.given_up.seq_num) != (uuid, seq_num) {
            self.given_up = GivenUp { uuid, seq_num, connections: 0 };
        }
        self.given_up.connections += 1;
        self.given_up.connections < CONNECTIONS_MAX
    }

    /// Whether a request is to leave.
    pub(super) fn is_wanted(&self) -> bool {
        self.request.is_some_and(|request| request.phase == Phase::Wanted)
    }

    /// When something is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.request?.phase {
            Phase::Wanted => None,
            Phase::Asked { deadline, .. } => Some(deadline),
            Phase::Refused { until } => Some(until),
        }
    }

    /// Whether a message ends what was asked for, or lies beyond.
    pub(super) fn is_asked_to(&self, uuid: u64, seq_num: u32) -> bool {
        self.request.is_some_and(|Request { gap, phase, .. }| {
            gap.uuid == uuid && gap.to <= seq_num && matches!(phase, Phase::Asked { .. })
        })
    }

    /// A message of the retransmission, or its announcement, has come.
    pub(super) fn moved(&mut self, now: Now, timeout: Duration) {
        if let Some(Request { phase: Phase::Asked { deadline, .. }, .. }) = &mut self.request {
            *deadline = now.monotonic + timeout;
        }
    }
}

impl Session {
    pub(super) fn retransmission_timeout(&self) -> Duration {
        self.conduct.retransmission_timeout.max(TIMEOUT_MIN)
    }

    /// SeqNum of the last message of the present UUID that is known to be published.
    pub(super) fn known(&self) -> u32 {
        self.recovery.known.max(self.outbound.progress.next_incoming.saturating_sub(1))
    }

    /// The exchange has published messages up to `last`: tells of those nobody knew of.
    pub(super) fn publish<L: Listener>(&mut self, context: &mut Context<'_, L>, last: u32) {
        let known = self.known();
        if last > known {
            let uuid = self.outbound.progress.uuid;
            self.recovery.known = last;
            self.miss();
            self.report_gap(context, Gap { uuid, from: known + 1, to: last });
        }
    }

    /// SeqNum of the exchange's next message as far as is known.
    pub(super) fn next_published(&self) -> u32 {
        self.known() + 1
    }

    /// Keeps all messages from `next_seq_no` on until it is known what was delivered before them.
    pub(super) fn hold_from(&mut self, next_seq_no: u32) {
        self.outbound.progress.next_incoming = next_seq_no;
        self.recovery.known = next_seq_no - 1;
        self.recovery.is_earlier = true;
        self.miss();
    }

    /// Something is missing from now on.
    pub(super) fn miss(&mut self) {
        (self.recovery.is_active, self.outbound.is_usual) = (true, false);
    }

    /// The session is established: what was missing before it is asked for.
    pub(super) fn begin_recovery<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let is_earlier = self.outbound.progress.earlier.first_missing().is_some();
        self.recovery.is_earlier = is_earlier;
        if is_earlier {
            self.miss();
        }
        self.recover(context);
    }

    /// Delivers what has waited and is next now, and asks for what is missing.
    #[cold]
    pub(super) fn recover<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.awaits_take_over() {
            return;
        }
        self.recovery.is_earlier = self.outbound.progress.earlier.first_missing().is_some();
        self.release(context);
        if self.state() != State::Established {
            return;
        }
        let Some(gap) = self.first_missing() else {
            self.recovery.is_active = false;
            self.recovery.has_overflowed = false;
            self.recovery.request = None;
            self.recovery.stride = Stride::new(self.outbound.progress.uuid);
            return;
        };
        let asked = self.recovery.request.filter(|request| {
            request.gap.uuid == gap.uuid && (request.gap.from..=request.gap.to).contains(&gap.from)
        });
        match asked {
            None => {
                let before = self.recovery.request.filter(|it| it.gap.uuid == gap.uuid);
                if before.is_some() {
                    self.recovery.stride.lengthen(gap.from);
                }
                self.recovery.fruitless = 0;
                self.want(gap);
            }
            Some(asked) if asked.reached < gap.from => {
                self.recovery.stride.come();
                self.recovery.request = Some(Request { reached: gap.from, ..asked });
                self.recovery.moved(context.now, self.retransmission_timeout());
            }
            Some(_) => {}
        }
    }

    /// What is missing and comes before all else.
    pub(super) fn first_missing(&self) -> Option<Gap> {
        let progress = &self.outbound.progress;
        let earlier = progress.earlier.first_missing();
        earlier.or_else(|| {
            let to = self.recovery.held.first().map_or(self.known(), |first| first - 1);
            let (uuid, from) = (progress.uuid, progress.next_incoming);
            (from <= to).then_some(Gap { uuid, from, to })
        })
    }

    /// Asks for the first of the messages of `gap`.
    pub(super) fn want(&mut self, gap: Gap) {
        self.recovery.stride.turn_to(gap.uuid);
        let to = gap.to.min(self.recovery.stride.end(gap.from));
        let request = Request { gap: Gap { to, ..gap }, reached: gap.from, phase: Phase::Wanted };
        self.recovery.request = Some(request);
    }

    /// Delivers held messages while they are next.
    fn release<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.recovery.is_earlier {
            return;
        }
        let mut held = core::mem::take(&mut self.recovery.held);
        self.recovery.is_releasing = true;
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
        self.recovery.is_releasing = false;
        self.recovery.held = held;
    }

    /// Asks again for what has not come of the present request, unless it was asked for too often
    /// in vain.
    pub(super) fn ask_again<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let Some(gap) = self.first_missing() else {
            self.recovery.request = None;
            return;
        };
        let has_moved = self.recovery.request.is_none_or(|request| request.gap.from != gap.from);
        self.recovery.fruitless = if has_moved { 0 } else { self.recovery.fruitless + 1 };
        if self.recovery.fruitless < self.conduct.retransmission_attempts.max(1) {
            self.want(gap);
        } else if gap.uuid == self.outbound.progress.uuid || self.recovery.may_come_later(gap) {
            self.fail(context, Error::Retransmission(gap));
        } else {
            // The session can do without: it goes on with what is published now.
            self.lose(context, gap);
        }
    }

    /// These will not come any more.
    pub(super) fn lose<L: Listener>(&mut self, context: &mut Context<'_, L>, gap: Gap) {
        self.inbound.counters.lost += u64::from(gap.to - gap.from) + 1;
        let progress = &mut self.outbound.progress;
        if gap.uuid == progress.uuid {
            progress.next_incoming = gap.to + 1;
        } else {
            progress.earlier.settle(gap.to);
        }
        self.recovery.request = None;
        self.tell(context, |listener, sender| listener.on_lost(sender, gap));
        self.recover(context);
    }

    /// Asks again for what stands still or was refused for a time.
    pub(super) fn handle_recovery_timeout<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let Some(request) = self.recovery.request else { return };
        if self.recovery.deadline().is_none_or(|deadline| context.now.monotonic < deadline) {
            return;
        }
        if let Phase::Asked { .. } = request.phase {
            self.inbound.counters.retransmissions_stalled += 1;
            let gap = self.first_missing().unwrap_or(request.gap);
            self.warn(context, Warning::RetransmissionStalled(Gap { to: request.gap.to, ..gap }));
        }
        self.ask_again(context);
    }
}
