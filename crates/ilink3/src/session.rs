//! The session itself: its verbs and its timers.
//!
//! What comes in is judged in `inbound`, control traffic is written in `control`.

mod backup;
mod control;
mod earlier;
mod held;
mod inbound;
mod recovery;
mod stride;

use core::ops::ControlFlow;

use hairpin_cme_codecs::ilink3::SCHEMA_ID;
use hairpin_time::{Instant, Now};
use thiserror::Error;

use crate::key_expiry::DAY;
use crate::listener::Failover;
use crate::pending::{Pending, Terminate};
use crate::reassembly::whole_frame;
use crate::replay::Told;
use crate::sender::{Outbound, Outgoing, Sender};
use crate::{
    Action, Binding, Conduct, EarlierStreams, Ending, Error, InboundCounters, Listener,
    OutboundCounters, Outlet, Progress, Rates, Reassembly, SEQ_NUM_MAX, SendError, Settings,
    SettingsError, State, Throttle, Warning,
};

use earlier::Earlier;
use recovery::Recovery;

pub use control::CONTROL_LENGTH;
pub use recovery::REQUEST_MAX;

/// Why a session does not connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is connected, or about to be.
    #[error("the session is {0} already")]
    Busy(State),
    /// There is no session to resume: nothing was negotiated yet.
    #[error("there is no session to resume")]
    NothingToResume,
    /// The session has used its last number: only a new one can be negotiated.
    #[error("the session has used its last sequence number")]
    NumbersExhausted,
}

/// The client's side of one iLink 3 session, without IO.
///
/// Give it what happens (`handle_*`), then do what it wants, in this order: all it has to
/// [transmit](Self::poll_transmit), each [action](Self::poll_action), and call
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) has passed.
/// It holds its number streams, not its journal: that is the [`Outlet`]'s.
#[derive(Debug)]
pub struct Session {
    outbound: Outbound,
    inbound: Inbound,
    reassembly: Reassembly,
    recovery: Recovery,
    settings: Settings,
    conduct: Conduct,
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
    outlet: &'a mut dyn Outlet,
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
    /// process has kept. It conducts itself in the [default](Conduct) way.
    ///
    /// # Errors
    /// [`SettingsError`] with the first setting CME would refuse.
    pub fn new(settings: Settings, progress: Progress) -> Result<Self, SettingsError> {
        Self::with_conduct(settings, progress, Conduct::default())
    }

    /// Like [`new`](Self::new), with a [`Conduct`] of its own.
    ///
    /// # Errors
    /// [`SettingsError`] with the first setting CME would refuse.
    pub fn with_conduct(
        settings: Settings,
        progress: Progress,
        conduct: Conduct,
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
                is_restrained: false,
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
            ceased: None,
            response_deadline: Instant::MAX,
            quiet_until: Instant::ZERO,
            key_due: None,
            told: State::Disconnected,
            is_redelivering: false,
            ending: Ending::Lost,
        })
    }

    /// Takes bytes from the connection, cut anywhere, and calls the listener for each message in
    /// them. A whole frame is read where it lies.
    #[inline]
    pub fn handle_bytes<L: Listener>(
        &mut self,
        now: Now,
        bytes: &[u8],
        outlet: &mut dyn Outlet,
        listener: &mut L,
    ) {
        let mut context = Context { now, outlet, listener };
        self.settle_usual(&mut context);
        self.inbound.counters.bytes += bytes.len() as u64;
        let connected = !matches!(self.state(), State::Disconnected | State::Connecting);
        if !connected || self.outbound.pending.is_closing() {
            self.inbound.counters.bytes_discarded += bytes.len() as u64;
            return;
        }
        let mut rest = bytes;
        if self.reassembly.is_empty() {
            while let Some((frame, behind)) = whole_frame(rest) {
                rest = behind;
                self.handle_frame::<L, false>(&mut context, frame);
                if self.outbound.pending.is_closing() {
                    rest = &[];
                    break;
                }
            }
        }
        if !rest.is_empty() {
            self.reassemble(&mut context.copy(), rest);
        }
        self.settle_usual(&mut context);
    }

    /// Takes bytes that do not begin with a whole frame.
    #[cold]
    fn reassemble<L: Listener>(&mut self, context: &mut Context<'_, L>, bytes: &[u8]) {
        let mut reassembly = core::mem::take(&mut self.reassembly);
        let fed = reassembly.feed(bytes, |frame| {
            self.handle_cut_frame(context, frame);
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

    /// Calls the listener for a message that an earlier process was [given to
    /// keep](Outlet::keep) and never to [mark](Outlet::mark): it died before the callback had
    /// returned, or before it was called. The [`Message`](crate::Message) says so.
    ///
    /// `message` is as it was kept. The numbers stay as they are: what was kept is counted in the
    /// `progress` the session was made with. One that cannot be read is a warning. Redeliver all
    /// of them, in order, before the session connects.
    pub fn redeliver<L: Listener>(
        &mut self,
        now: Now,
        message: &[u8],
        outlet: &mut dyn Outlet,
        listener: &mut L,
    ) {
        let mut context = Context { now, outlet, listener };
        self.is_redelivering = true;
        match inbound::Frame::decode(message) {
            Ok(frame) if frame.header.schema_id == SCHEMA_ID => {
                self.handle_business_message(&mut context, frame);
            }
            _ => self.not_redelivered(&mut context, 0),
        }
        self.is_redelivering = false;
    }

    #[cold]
    fn not_redelivered<L: Listener>(&mut self, context: &mut Context<'_, L>, template_id: u16) {
        self.inbound.counters.not_redelivered += 1;
        self.warn(context, Warning::NotRedelivered { template_id });
    }

    /// The sending half, for sends outside of the session's own callbacks.
    #[inline]
    pub fn sender<'a>(&'a mut self, now: Now, outlet: &'a mut dyn Outlet) -> Sender<'a> {
        Sender { outbound: &mut self.outbound, outlet, now }
    }

    /// Writes the frame of `message` with the next number into `frame`, for owners that keep
    /// messages in another way than an [`Outlet`]. [`commit`](Self::commit) uses the number up;
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
        self.outbound.set_backup(self.outbound.is_backup);
    }

    /// Asks for a connection: the next [`poll_action`](Self::poll_action) says so.
    ///
    /// # Errors
    /// [`ConnectError`] if there is one already, or nothing to resume.
    pub fn connect(&mut self, now: Now, binding: Binding) -> Result<(), ConnectError> {
        if self.state() != State::Disconnected {
            return Err(ConnectError::Busy(self.state()));
        }
        let begins = matches!(binding, Binding::New | Binding::NewWeek);
        if !begins && self.progress().uuid == 0 {
            return Err(ConnectError::NothingToResume);
        }
        if !begins && self.progress().next_outgoing > SEQ_NUM_MAX {
            return Err(ConnectError::NumbersExhausted);
        }
        self.binding = binding;
        self.ending = Ending::Lost;
        self.outbound.state = State::Connecting;
        self.outbound.pending = Pending::connect();
        self.response_deadline = self.response_deadline_after(now);
        Ok(())
    }

    /// Begins to terminate gracefully: see [`Sender::terminate`].
    pub fn terminate(&mut self, now: Now) {
        self.outbound.terminate(now);
    }

    /// The connection is there: logs on.
    pub fn handle_connected<L: Listener>(
        &mut self,
        now: Now,
        outlet: &mut dyn Outlet,
        listener: &mut L,
    ) {
        if self.state() != State::Connecting {
            return;
        }
        let mut context = Context { now, outlet, listener };
        self.settle(&mut context);
        self.reassembly.clear();
        self.inbound = Inbound { counters: self.inbound.counters, ..Inbound::default() };
        self.recovery.begin();
        (self.has_repeated, self.failover) = (false, None);
        (self.outbound.replay, self.outbound.told) = (None, Told::default());
        self.outbound.doubted_at = None;
        let is_backup = self.binding == Binding::Backup;
        self.outbound.set_backup(is_backup);
        // No business message is taken as the next one while it is the backup.
        self.recovery.is_earlier = is_backup;
        match self.binding {
            Binding::New | Binding::NewWeek => {
                self.begin_stream(now);
                self.outbound.pending.negotiate = true;
                self.enter(&mut context, State::Negotiating);
            }
            Binding::Resume | Binding::Backup => {
                self.outbound.pending.establish = true;
                self.enter(&mut context, State::Establishing);
            }
        }
    }

    /// Takes a new UUID; both streams begin at 1.
    fn begin_stream(&mut self, now: Now) {
        let progress = &mut self.outbound.progress;
        let uuid = progress.new_uuid(now.utc.as_nanos());
        self.earlier.negotiate(progress, uuid);
        if self.binding == Binding::NewWeek {
            progress.earlier = EarlierStreams::default();
        }
        (progress.uuid, progress.next_outgoing, progress.next_incoming) = (uuid, 1, 1);
    }

    /// The connection is gone, or could not be made, or was closed as the session wanted.
    pub fn handle_disconnected<L: Listener>(
        &mut self,
        now: Now,
        outlet: &mut dyn Outlet,
        listener: &mut L,
    ) {
        let mut context = Context { now, outlet, listener };
        self.settle(&mut context);
        let state = self.state();
        if state == State::Disconnected {
            return;
        }
        if !self.outbound.pending.was_closed() {
            let error = Error::ConnectionLost(state);
            self.inbound.counters.count(&error);
            self.tell(&mut context, |listener, sender| listener.on_error(sender, &error));
        }
        self.outbound.pending = Pending::default();
        self.outbound.replay = None;
        self.failover = None;
        self.enter(&mut context, State::Disconnected);
    }

    /// Does what is due at `now`; nothing if no deadline has passed.
    pub fn handle_timeout<L: Listener>(
        &mut self,
        now: Now,
        outlet: &mut dyn Outlet,
        listener: &mut L,
    ) {
        let mut context = Context { now, outlet, listener };
        self.settle(&mut context);
        match self.state() {
            State::Disconnected => {}
            State::Connecting | State::Negotiating | State::Establishing => {
                if now.monotonic >= self.response_deadline {
                    self.repeat_logon(&mut context);
                }
            }
            State::Established => {
                self.keep_alive(&mut context);
                if self.key_due.is_some_and(|due| due <= now.monotonic) {
                    self.look_at_key(&mut context);
                }
                if self.state() == State::Established {
                    self.handle_recovery_timeout(&mut context);
                    self.outbound.continue_replay(now, &mut *context.outlet);
                }
            }
            State::Terminating => self.give_up_terminate(&mut context),
        }
        self.settle(&mut context);
    }

    /// Whether [`handle_timeout`](Self::handle_timeout) is due: what
    /// [`poll_timeout`](Self::poll_timeout) says, for who asks at every turn and mostly hears no.
    #[inline]
    pub fn is_due(&mut self, now: Now) -> bool {
        let is_quiet = self.state() == State::Established
            && !self.recovery.is_active
            && self.outbound.replay.is_none();
        if is_quiet && now.monotonic < self.quiet_until {
            debug_assert!(self.poll_timeout().is_none_or(|deadline| now.monotonic < deadline));
            return false;
        }
        self.look_what_is_due(now)
    }

    /// Signs of life are due later and later, with all that is sent and heard.
    #[cold]
    fn look_what_is_due(&mut self, now: Now) -> bool {
        let signs = self.keep_alive_deadline().min(self.silence_deadline());
        self.quiet_until = self.key_due.map_or(signs, |due| due.min(signs));
        self.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic)
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; `None` if nothing is awaited.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let pending = &self.outbound.pending;
        match self.state() {
            State::Disconnected => None,
            _ if pending.has_closed() => None,
            State::Connecting | State::Negotiating | State::Establishing => {
                Some(self.response_deadline)
            }
            State::Established => {
                let keep_alive = self.keep_alive_deadline();
                let wanted = [
                    Some(keep_alive).filter(|_| pending.sequence.is_none()),
                    self.recovery.deadline(),
                    self.key_due,
                    self.outbound.replay.map(|replay| replay.retry_at),
                ];
                Some(wanted.into_iter().flatten().fold(self.silence_deadline(), Instant::min))
            }
            State::Terminating => Some(pending.terminate_deadline),
        }
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
        self.outbound.pending.is_any() || self.wants_retransmission()
    }

    /// Whether a RetransmitRequest is to leave.
    #[inline]
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
    pub fn conduct(&self) -> &Conduct {
        &self.conduct
    }

    /// The settings it was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sends the request that was not answered again, unless that was done often enough, or it
    /// could not even leave.
    fn repeat_logon<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let state = self.state();
        let pending = &mut self.outbound.pending;
        let waits = pending.negotiate || pending.establish;
        let attempts = self.conduct.logon_attempts.max(1);
        if state == State::Connecting || waits || self.logon_attempts >= attempts {
            return self.fail(context, Error::ResponseTimeout(state));
        }
        (pending.negotiate, pending.establish) =
            (state == State::Negotiating, state == State::Establishing);
        self.has_repeated = true;
        self.inbound.counters.logons_repeated += 1;
        self.response_deadline = self.response_deadline_after(context.now);
        self.warn(context, Warning::LogonRepeated(state));
    }

    /// Sends a sign of life if nothing else was sent for long, and asks for one, then gives up, if
    /// nothing was heard.
    fn keep_alive<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let now = context.now.monotonic;
        if now >= self.silence_deadline() {
            if self.inbound.asked.is_some() {
                self.fail(context, Error::KeepAliveLapsed);
                return;
            }
            self.inbound.asked = Some(now);
            self.sign_of_life(context, true);
            self.warn(context, Warning::Silence);
        }
        if now >= self.keep_alive_deadline() {
            self.sign_of_life(context, false);
        }
    }

    /// Has a Sequence sent, unless it would hide what is in doubt.
    fn sign_of_life<L: Listener>(&mut self, context: &mut Context<'_, L>, asks_for_life: bool) {
        if self.outbound.is_in_doubt() {
            self.settle_by_logon(context);
        } else {
            self.outbound.pending.sequence(asks_for_life);
        }
    }

    /// Warns if the key expires soon, and notes when to look again.
    fn look_at_key<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let Some(expiry) = self.conduct.key_expires else { return };
        let looked = expiry.look(context.now.utc);
        self.key_due = Some(context.now.monotonic + looked.err().unwrap_or(DAY));
        self.quiet_until = Instant::ZERO;
        if let Ok(days_left) = looked {
            self.warn(context, Warning::KeyExpires { days_left });
        }
    }

    /// Closes when a Terminate could not leave, or was not answered, in time.
    fn give_up_terminate<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let pending = &self.outbound.pending;
        if pending.has_closed() || context.now.monotonic < pending.terminate_deadline {
            return;
        }
        if pending.is_closing() {
            self.outbound.pending.close();
        } else {
            self.fail(context, Error::TerminateTimeout);
        }
    }

    /// A connection or an answer is given up after two keep-alive intervals.
    fn response_deadline_after(&self, now: Now) -> Instant {
        now.monotonic + self.settings.keep_alive_interval * 2
    }

    /// A sign of life leaves a tenth of the interval early, so that it arrives within it.
    fn keep_alive_deadline(&self) -> Instant {
        let interval = self.settings.keep_alive_interval;
        self.outbound.last_sent + (interval - interval / 10)
    }

    /// After one silent interval the exchange is asked; after one more it is given up. A tenth is
    /// granted to what it sent at the end of the interval and is still on its way: without it a
    /// quiet session would ask in every interval.
    fn silence_deadline(&self) -> Instant {
        let interval = self.settings.keep_alive_interval;
        match self.inbound.asked {
            None => self.inbound.last_heard + interval + interval / 10,
            Some(asked) => asked + interval,
        }
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
        self.outbound.state = state;
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

    /// The same, mostly for nothing.
    #[inline(always)]
    fn settle_usual<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.told != self.outbound.state {
            self.settle(&mut context.copy());
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
