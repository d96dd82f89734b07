//! Deadlines: keep-alive, response timeouts and the key expiry check.

use hairpin_time::{Instant, Now};

use super::{Context, Session};
use crate::key_expiry::DAY;
use crate::pending::Queued;
use crate::{Error, Listener, OutboundSink, State, Warning};

impl Session {
    /// Executes everything due at `now`. Does nothing if no deadline has passed.
    pub fn handle_timeout<L: Listener>(
        &mut self,
        now: Now,
        sink: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let mut context = Context { now, sink, listener };
        self.report_state(&mut context);
        match self.state() {
            State::Disconnected => {}
            State::Connecting | State::Negotiating | State::Establishing => {
                if now.monotonic >= self.response_deadline {
                    self.repeat_logon(&mut context);
                }
            }
            State::Established => {
                self.keep_alive(&mut context);
                if self.key_check_at.is_some_and(|due| due <= now.monotonic) {
                    self.check_key_expiry(&mut context);
                }
                if self.state() == State::Established {
                    self.handle_recovery_timeout(&mut context);
                    self.outbound.continue_replay(now, &mut *context.sink);
                }
            }
            State::Terminating => self.give_up_terminate(&mut context),
        }
        self.report_state(&mut context);
    }

    /// Returns `true` if [`handle_timeout`](Self::handle_timeout) is due. Equivalent to comparing
    /// [`poll_timeout`](Self::poll_timeout) with `now`, but costs one comparison in the common
    /// case.
    #[inline]
    pub fn is_due(&mut self, now: Now) -> bool {
        if self.outbound.fast_path_armed && now.monotonic < self.no_deadline_before {
            debug_assert!(self.poll_timeout().is_none_or(|deadline| now.monotonic < deadline));
            return false;
        }
        self.is_due_slow(now)
    }

    /// Recomputes the lower bound of all deadlines. Every sent or received message moves the
    /// keep-alive deadlines later, so the old bound stays valid until then.
    #[cold]
    fn is_due_slow(&mut self, now: Now) -> bool {
        let signs = self.keep_alive_deadline().min(self.silence_deadline());
        self.no_deadline_before = self.key_check_at.map_or(signs, |due| due.min(signs));
        self.outbound.fast_path_armed = self.can_arm_fast_path();
        self.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic)
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due, or `None` if
    /// nothing is pending.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let pending = &self.outbound.pending;
        match self.state() {
            State::Disconnected => None,
            _ if pending.is_closed() => None,
            State::Connecting | State::Negotiating | State::Establishing => {
                Some(self.response_deadline)
            }
            State::Established => {
                let keep_alive = self.keep_alive_deadline();
                let deadlines = [
                    Some(keep_alive).filter(|_| !pending.is_queued(Queued::SEQUENCE)),
                    self.recovery.deadline(),
                    self.key_check_at,
                    self.outbound.replay.map(|replay| replay.retry_at),
                ];
                Some(deadlines.into_iter().flatten().fold(self.silence_deadline(), Instant::min))
            }
            State::Terminating => Some(pending.terminate_deadline),
        }
    }

    /// Sends a Sequence if nothing else was sent recently. If nothing was received, requests a
    /// Sequence first and then gives up.
    fn keep_alive<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let now = context.now.monotonic;
        if now >= self.silence_deadline() {
            if self.inbound.sequence_requested_at.is_some() {
                self.fail(context, Error::KeepAliveLapsed);
                return;
            }
            self.inbound.sequence_requested_at = Some(now);
            self.send_sequence(context, true);
            self.warn(context, Warning::Silence);
        }
        if now >= self.keep_alive_deadline() {
            self.send_sequence(context, false);
        }
    }

    /// Queues a Sequence, unless it would hide messages in doubt.
    pub(super) fn send_sequence<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        lapsed: bool,
    ) {
        if self.outbound.is_in_doubt() {
            self.resolve_doubt_by_logon(context);
        } else {
            self.outbound.pending.queue_sequence(lapsed);
        }
    }

    /// Warns if the key expires soon, and schedules the next check.
    pub(super) fn check_key_expiry<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let Some(expiry) = self.policy.key_expires else { return };
        let looked = expiry.check(context.now.utc);
        self.key_check_at = Some(context.now.monotonic + looked.err().unwrap_or(DAY));
        self.no_deadline_before = Instant::ZERO;
        if let Ok(days_left) = looked {
            self.warn(context, Warning::KeyExpires { days_left });
        }
    }

    /// Closes if a Terminate could not be sent, or was not confirmed, in time.
    fn give_up_terminate<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let pending = &self.outbound.pending;
        if pending.is_closed() || context.now.monotonic < pending.terminate_deadline {
            return;
        }
        if pending.is_closing() {
            self.outbound.pending.close();
        } else {
            self.fail(context, Error::TerminateTimeout);
        }
    }

    /// Returns the keep-alive deadline. The Sequence is sent a tenth of the interval early, so that
    /// it arrives in time.
    fn keep_alive_deadline(&self) -> Instant {
        let interval = self.settings.keep_alive_interval;
        self.outbound.last_sent + (interval - interval / 10)
    }

    /// Returns the deadline for received messages. After one silent interval the session requests a
    /// Sequence; after one more it gives up. An extra tenth covers messages that the exchange sends
    /// at the end of its interval and that are still in flight. Without it an idle session would
    /// send a request in every interval.
    fn silence_deadline(&self) -> Instant {
        let interval = self.settings.keep_alive_interval;
        match self.inbound.sequence_requested_at {
            None => self.inbound.last_received + interval + interval / 10,
            Some(asked) => asked + interval,
        }
    }
}
