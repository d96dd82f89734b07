//! What is due, and when: signs of life, answers that are awaited, and the look at the key.

use hairpin_time::{Instant, Now};

use super::{Context, Session};
use crate::key_expiry::DAY;
use crate::pending::Wanted;
use crate::{Error, Listener, OutboundSink, State, Warning};

impl Session {
    /// Does what is due at `now`; nothing if no deadline has passed.
    pub fn handle_timeout<L: Listener>(
        &mut self,
        now: Now,
        outlet: &mut dyn OutboundSink,
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
        if self.outbound.is_usual && now.monotonic < self.quiet_until {
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
        self.outbound.is_usual = self.is_as_usual();
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
                    Some(keep_alive).filter(|_| !pending.wants(Wanted::SEQUENCE)),
                    self.recovery.deadline(),
                    self.key_due,
                    self.outbound.replay.map(|replay| replay.retry_at),
                ];
                Some(wanted.into_iter().flatten().fold(self.silence_deadline(), Instant::min))
            }
            State::Terminating => Some(pending.terminate_deadline),
        }
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
    pub(super) fn sign_of_life<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        asks_for_life: bool,
    ) {
        if self.outbound.is_in_doubt() {
            self.settle_by_logon(context);
        } else {
            self.outbound.pending.sequence(asks_for_life);
        }
    }

    /// Warns if the key expires soon, and notes when to look again.
    pub(super) fn look_at_key<L: Listener>(&mut self, context: &mut Context<'_, L>) {
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
}
