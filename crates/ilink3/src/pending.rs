//! Control traffic and actions that wait to be polled.

use hairpin_time::Instant;

use crate::{Action, TerminateCode};

/// What the session wants to send or have done.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// All of it, in the order in which it is done.
    wanted: Wanted,
    /// The Terminate, if one is wanted.
    terminate: Option<Terminate>,
    /// Our own graceful Terminate has left and is not answered yet.
    pub(crate) awaiting_answer: bool,
    /// When a Terminate that has not left, or was not answered, is given up.
    pub(crate) terminate_deadline: Instant,
    close: Close,
}

/// What can be wanted, as a set: at every turn it is asked whether there is anything.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted(u8);

impl Wanted {
    const NOTHING: Self = Self(0);
    const CONNECT: Self = Self(1);
    pub(crate) const NEGOTIATE: Self = Self(1 << 1);
    pub(crate) const ESTABLISH: Self = Self(1 << 2);
    pub(crate) const SEQUENCE: Self = Self(1 << 3);
    /// The Sequence asks for a sign of life.
    const LIFE: Self = Self(1 << 4);
    const TERMINATE: Self = Self(1 << 5);
    const CLOSE: Self = Self(1 << 6);

    /// Whether any of `others` is wanted.
    const fn any_of(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

/// A Terminate507 to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminate {
    pub(crate) code: TerminateCode,
    /// The RequestTimestamp of the Terminate it answers.
    pub(crate) answers: Option<u64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Close {
    #[default]
    No,
    AfterTransmit,
    Now,
    Issued,
}

impl Pending {
    /// Nothing but a connection.
    pub(crate) fn connect() -> Self {
        Self { wanted: Wanted::CONNECT, ..Self::default() }
    }

    /// Wants this as well.
    pub(crate) fn want(&mut self, what: Wanted) {
        self.wanted = self.wanted.with(what);
    }

    /// Whether this is wanted.
    pub(crate) fn wants(&self, what: Wanted) -> bool {
        self.wanted.any_of(what)
    }

    /// Whether this was wanted: it is not any more.
    pub(crate) fn take(&mut self, what: Wanted) -> bool {
        let was = self.wants(what);
        self.wanted = self.wanted.without(what);
        was
    }

    /// Asks for a Sequence; one that asks for a sign of life also gives one.
    pub(crate) fn sequence(&mut self, asks_for_life: bool) {
        self.want(Wanted::SEQUENCE);
        if asks_for_life {
            self.want(Wanted::LIFE);
        }
    }

    /// The Sequence to send: whether it asks for a sign of life.
    pub(crate) fn take_sequence(&mut self) -> Option<bool> {
        let asks_for_life = self.take(Wanted::LIFE);
        self.take(Wanted::SEQUENCE).then_some(asks_for_life)
    }

    /// The Terminate to send.
    pub(crate) fn take_terminate(&mut self) -> Option<Terminate> {
        self.take(Wanted::TERMINATE);
        self.terminate.take()
    }

    /// Terminates and waits for the answer until `deadline`.
    pub(crate) fn terminate(&mut self, code: TerminateCode, deadline: Instant) {
        self.only(Terminate { code, answers: None }, deadline);
    }

    /// Terminates, or answers a Terminate, and closes as soon as that has left.
    pub(crate) fn terminate_and_close(&mut self, terminate: Terminate, deadline: Instant) {
        self.only(terminate, deadline);
        self.want(Wanted::CLOSE);
        self.close = Close::AfterTransmit;
    }

    /// Closes now, whatever was to be sent.
    pub(crate) fn close(&mut self) {
        *self = Self { wanted: Wanted::CLOSE, close: Close::Now, ..Self::default() };
    }

    /// Whether input is still worth reading: not once the connection is to be closed.
    pub(crate) fn is_closing(&self) -> bool {
        self.close != Close::No
    }

    /// Whether the connection was closed because the session wanted it.
    pub(crate) fn was_closed(&self) -> bool {
        matches!(self.close, Close::Issued | Close::AfterTransmit | Close::Now)
    }

    /// Whether the owner of the connection has nothing to wait for.
    pub(crate) fn has_closed(&self) -> bool {
        matches!(self.close, Close::Issued | Close::Now)
    }

    /// Whether there is anything to transmit or to do.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.wanted != Wanted::NOTHING
    }

    /// Takes the next action.
    pub(crate) fn action(&mut self) -> Option<Action> {
        if self.take(Wanted::CONNECT) {
            return Some(Action::Connect);
        }
        let sent = self.close == Close::AfterTransmit && !self.wants(Wanted::TERMINATE);
        if sent || self.close == Close::Now {
            self.take(Wanted::CLOSE);
            self.close = Close::Issued;
            return Some(Action::Close);
        }
        None
    }

    /// Nothing may leave but `terminate`.
    fn only(&mut self, terminate: Terminate, terminate_deadline: Instant) {
        let (wanted, terminate) = (Wanted::TERMINATE, Some(terminate));
        *self = Self { wanted, terminate, terminate_deadline, ..Self::default() };
    }
}
