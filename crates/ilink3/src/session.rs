//! The session itself: its parts, and the verbs that concern them all.
//!
//! What comes in is told in `inbound` and `session_message`, control traffic is written in
//! `control`; what is due is done in `timers`, what is missing asked for in `recovery`.

mod backup;
mod connection;
mod control;
mod earlier;
mod held;
mod inbound;
mod judgement;
mod logon;
mod not_applied;
mod recovery;
mod redelivery;
mod retransmission;
mod session_message;
mod stride;
mod timers;

use core::ops::ControlFlow;

use hairpin_time::{Instant, Now};

use crate::listener::Failover;
use crate::pending::{Pending, Terminate};
use crate::reassembly::whole_frame;
use crate::replay::Told;
use crate::sender::{Outbound, Outgoing, Sender};
use crate::{
    Action, Binding, Ending, Error, InboundCounters, Listener, OutboundCounters, OutboundSink,
    Progress, Rates, Reassembly, SendError, SessionPolicy, Settings, SettingsError, State,
    Throttle, Warning,
};

use earlier::Earlier;
use recovery::Recovery;

pub use connection::ConnectError;
pub use control::CONTROL_LENGTH;
pub use recovery::REQUEST_MAX;

/// The client's side of one iLink 3 session, without IO.
///
/// Give it what happens (`handle_*`), then do what it wants, in this order: all it has to
/// [transmit](Self::poll_transmit), each [action](Self::poll_action), and call
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) has passed.
/// It holds its number streams, not its journal: that is the [`OutboundSink`]'s.
#[derive(Debug)]
pub struct Session {
    outbound: Outbound,
    inbound: Inbound,
    reassembly: Reassembly,
    recovery: Recovery,
    settings: Settings,
    conduct: SessionPolicy,
    binding: Binding,
    earlier: Earlier,
    /// The id of the message [`send`](Session::send) has written last.
    written: Option<u64>,
    /// RequestTimestamp of the request that is unanswered, or was answered last.
    requested: u64,
    /// RequestTimestamp of the first request of this kind, if it was sent more than once.
    first_requested: u64,
    /// How often the request was sent.
    logon_attempts: u32,
    /// A request was sent more than once on this connection.
    has_repeated: bool,
    /// The exchange has made this backup the primary, and it has not taken over yet; since when.
    failover: Option<(Failover, Instant)>,
    /// Of a backup: the UUID of its primary, and the number that one has to receive next.
    primary: (u64, u32),
    /// The present connection, or the last, came to be established.
    was_established: bool,
    /// Since when it is not established any more, if it was.
    ceased: Option<Instant>,
    /// When the connection or the answer that is awaited is given up.
    response_deadline: Instant,
    /// While nothing but signs of life is due: no deadline is before this.
    quiet_until: Instant,
    /// When the expiry of the key is looked at again.
    key_due: Option<Instant>,
    /// The state the listener knows of.
    told: State,
    /// A message that an earlier process has kept is delivered.
    is_redelivering: bool,
    /// How the connection has ended, or will.
    ending: Ending,
}

/// What only the receiving half writes.
#[derive(Debug, Default)]
struct Inbound {
    /// When the last frame came.
    last_heard: Instant,
    /// When the exchange was asked for a sign of life that has not come yet.
    asked: Option<Instant>,
    counters: InboundCounters,
}

/// What a verb was called with.
struct Context<'a, L> {
    now: Now,
    outlet: &'a mut dyn OutboundSink,
    listener: &'a mut L,
}

impl<L> Context<'_, L> {
    /// A copy for a function that is not inlined. The original is never in memory then, and where
    /// the outlet's type is known its functions are called without its table.
    #[inline(always)]
    fn copy(&mut self) -> Context<'_, L> {
        Context { now: self.now, outlet: &mut *self.outlet, listener: &mut *self.listener }
    }
}

impl Session {
    /// A disconnected session that goes on from `progress`: the default one, or what an earlier
    /// process has kept. It conducts itself in the [default](SessionPolicy) way.
    ///
    /// # Errors
    /// [`SettingsError`] with the first setting CME would refuse.
    pub fn new(settings: Settings, progress: Progress) -> Result<Self, SettingsError> {
        Self::with_conduct(settings, progress, SessionPolicy::default())
    }

    /// Like [`new`](Self::new), with a [`SessionPolicy`] of its own.
    ///
    /// # Errors
    /// [`SettingsError`] with the first setting CME would refuse.
    pub fn with_conduct(
        settings: Settings,
        progress: Progress,
        conduct: SessionPolicy,
    ) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            outbound: Outbound {
                state: State::Disconnected,
                progress,
                newest: None,
                last_sent: Instant::ZERO,
                operator: settings.operator,
                on_demand_party_id: conduct.on_demand_party_id,
                version: conduct.version,
                pending: Pending::default(),
                replay: None,
                told: Told::default(),
                settled_below: 1,
                doubted_at: None,
                is_backup: false,
                is_restrained: true,
                is_usual: false,
                throttle: None,
                batches: 0,
                keep_alive_interval: settings.keep_alive_interval,
                counters: OutboundCounters::default(),
            },
            inbound: Inbound::default(),
            reassembly: Reassembly::new(),
            recovery: Recovery::new(conduct.held_bytes),
            settings,
            conduct,
            binding: Binding::New,
            earlier: Earlier::default(),
            written: None,
            requested: 0,
            first_requested: 0,
            logon_attempts: 0,
            has_repeated: false,
            failover: None,
            primary: (0, 0),
            ceased: None,
            response_deadline: Instant::MAX,
            quiet_until: Instant::ZERO,
            key_due: None,
            told: State::Disconnected,
            is_redelivering: false,
            ending: Ending::Lost,
            was_established: false,
        })
    }

    /// Takes bytes from the connection, cut anywhere, and calls the listener for each message in
    /// them. A whole frame is read where it lies.
    #[inline]
    pub fn handle_bytes<L: Listener>(
        &mut self,
        now: Now,
        bytes: &[u8],
        outlet: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let mut context = Context { now, outlet, listener };
        self.inbound.counters.bytes += bytes.len() as u64;
        let mut rest = bytes;
        debug_assert!(!self.outbound.is_usual || self.is_as_usual());
        while self.outbound.is_usual
            && let Some((frame, behind)) = whole_frame(rest)
        {
            rest = behind;
            self.handle_usual_frame(&mut context, frame);
        }
        if !rest.is_empty() || !self.outbound.is_usual {
            self.handle_rest(&mut context.copy(), rest, rest.len() == bytes.len());
        }
    }

    /// Takes bytes when not all is as usual: from the middle of a frame on, say, or during a logon.
    /// `is_all` says whether nothing came before them at once.
    #[cold]
    fn handle_rest<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        bytes: &[u8],
        is_all: bool,
    ) {
        self.settle(context);
        let connected = !matches!(self.state(), State::Disconnected | State::Connecting);
        if !connected || self.outbound.pending.is_closing() {
            // What came behind a message that has ended the session does not count.
            if is_all {
                self.inbound.counters.bytes_discarded += bytes.len() as u64;
            }
            return;
        }
        let mut rest = bytes;
        if self.reassembly.is_empty() {
            while let Some((frame, behind)) = whole_frame(rest) {
                rest = behind;
                self.handle_frame(context, frame);
                if self.outbound.pending.is_closing() {
                    return;
                }
            }
        }
        if !rest.is_empty() {
            self.reassemble(context, rest);
        }
        self.outbound.is_usual = self.is_as_usual();
    }

    /// Whether nothing is to be looked out for when a message comes: what
    /// [`is_usual`](Outbound::is_usual) says without looking.
    fn is_as_usual(&self) -> bool {
        let Self { recovery, reassembly, outbound, .. } = self;
        outbound.state == State::Established
            && self.told == State::Established
            && !outbound.pending.is_closing()
            && outbound.replay.is_none()
            && !recovery.is_active
            && !recovery.is_earlier
            && recovery.request.is_none()
            && reassembly.is_empty()
    }

    /// Takes bytes that do not begin with a whole frame.
    fn reassemble<L: Listener>(&mut self, context: &mut Context<'_, L>, bytes: &[u8]) {
        let mut reassembly = core::mem::take(&mut self.reassembly);
        let fed = reassembly.feed(bytes, |frame| {
            self.handle_frame(context, frame);
            if self.outbound.pending.is_closing() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.reassembly = reassembly;
        if let Err(error) = fed {
            self.fail(context, Error::Framing(error));
        }
    }

    /// The sending half, for sends outside of the session's own callbacks.
    #[inline]
    pub fn sender<'a>(&'a mut self, now: Now, outlet: &'a mut dyn OutboundSink) -> Sender<'a> {
        Sender { outbound: &mut self.outbound, outlet, now }
    }

    /// Writes the frame of `message` with the next number into `frame`, for owners that keep
    /// messages in another way than an [`OutboundSink`]. [`commit`](Self::commit) uses the number
    /// up;
    /// without it the next call writes the same number again.
    ///
    /// # Errors
    /// [`SendError`] if business messages do not flow or the message does not fit.
    pub fn send<M: Outgoing>(
        &mut self,
        now: Now,
        message: &M,
        frame: &mut [u8],
    ) -> Result<usize, SendError> {
        self.outbound.check(now, message, true)?;
        self.written = message.request_id(self.outbound.progress.next_outgoing);
        self.outbound.encode(now, message, frame)
    }

    /// Uses up the number of the message of `length` bytes that [`send`](Self::send) has written,
    /// now that it is kept, and returns it.
    pub fn commit(&mut self, now: Now, length: usize) -> u32 {
        self.outbound.commit(now, length, self.written)
    }

    /// Limits how many business messages leave: what is beyond is refused with
    /// [`SendError::Throttled`]. Without rates there is no limit, as at the beginning. What is
    /// [sent again](crate::NotAppliedAnswer::Replay) is not counted.
    pub fn set_throttle(&mut self, rates: Option<&Rates>) {
        self.outbound.throttle = rates.map(Throttle::new);
        self.outbound.is_restrained = true;
    }

    /// Begins to terminate gracefully: see [`Sender::terminate`].
    pub fn terminate(&mut self, now: Now) {
        self.outbound.terminate(now);
    }

    /// What only the owner of the connection can do. Ask after
    /// [`poll_transmit`](Self::poll_transmit), until there is nothing.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.outbound.pending.action()
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) or [`poll_action`](Self::poll_action) has
    /// something now: after a `terminate` from outside, say.
    #[inline]
    #[must_use]
    pub fn has_pending(&self) -> bool {
        let is_usual = self.outbound.is_usual;
        self.outbound.pending.is_any() || (!is_usual && self.wants_retransmission())
    }

    /// Whether a RetransmitRequest is to leave.
    fn wants_retransmission(&self) -> bool {
        self.recovery.is_wanted() && self.state() == State::Established
    }

    /// The state of the session.
    #[must_use]
    pub fn state(&self) -> State {
        self.outbound.state
    }

    /// The identity of the session and the numbers of its streams: what is to be kept.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.outbound.progress
    }

    /// How the last connection ended: of use while there is none.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Whether the present connection, or the last one, came to be established: both may happen
    /// between two looks at [`state`](Self::state).
    #[must_use]
    pub fn was_established(&self) -> bool {
        self.was_established
    }

    /// What came in, counted since the session was made.
    #[must_use]
    pub fn inbound_counters(&self) -> &InboundCounters {
        &self.inbound.counters
    }

    /// What went out, counted since the session was made.
    #[must_use]
    pub fn outbound_counters(&self) -> &OutboundCounters {
        &self.outbound.counters
    }

    /// How it conducts itself.
    #[must_use]
    pub fn conduct(&self) -> &SessionPolicy {
        &self.conduct
    }

    /// The settings it was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reports a fault, terminates with its code if it has one, and closes.
    #[cold]
    fn fail<L: Listener>(&mut self, context: &mut Context<'_, L>, error: Error) {
        self.inbound.counters.count(&error);
        // To whom numbers do not fit it is the same who has found it out.
        self.ending = error.terminate_code().map_or(Ending::Lost, Ending::Terminated);
        let deadline = context.now.monotonic + self.settings.keep_alive_interval;
        let pending = &mut self.outbound.pending;
        // After our own Terminate nothing may be sent.
        match error.terminate_code().filter(|_| !pending.awaiting_answer) {
            Some(code) => pending.terminate_and_close(Terminate { code, answers: None }, deadline),
            None => pending.close(),
        }
        self.tell(context, |listener, sender| listener.on_error(sender, &error));
        self.enter(context, State::Terminating);
    }

    fn warn<L: Listener>(&mut self, context: &mut Context<'_, L>, warning: Warning) {
        self.tell(context, |listener, sender| listener.on_warning(sender, &warning));
    }

    /// Moves to `state` and tells the listener.
    fn enter<L: Listener>(&mut self, context: &mut Context<'_, L>, state: State) {
        self.outbound.enter(state);
        if matches!(state, State::Negotiating | State::Establishing) {
            self.response_deadline = self.response_deadline_after(context.now);
            self.logon_attempts = 0;
        }
        self.settle(context);
    }

    /// Tells the listener of a state it does not know yet.
    #[inline(never)]
    fn settle<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        while self.told != self.outbound.state {
            let state = self.outbound.state;
            self.note_ceased(context.now, state);
            self.told = state;
            self.tell(context, |listener, sender| listener.on_state(sender, state));
        }
    }

    /// Notes when it ceases to be established; attempts that fail after that change nothing.
    #[cold]
    fn note_ceased(&mut self, now: Now, state: State) {
        if state == State::Established {
            self.ceased = None;
        } else if self.told == State::Established {
            self.ceased = Some(now.monotonic);
        }
    }

    /// Calls the listener with the sending half.
    #[inline(always)]
    fn tell<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        call: impl FnOnce(&mut L, &mut Sender<'_>),
    ) {
        let mut sender =
            Sender { outbound: &mut self.outbound, outlet: &mut *context.outlet, now: context.now };
        call(context.listener, &mut sender);
    }
}

#[cfg(test)]
mod tests;
