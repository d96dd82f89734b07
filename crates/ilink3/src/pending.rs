//! Control traffic and actions that wait to be polled.

use hairpin_time::Instant;

use crate::{Action, TerminateCode};

/// What the session wants to send or have done, in the order of its fields.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    connect: bool,
    pub(crate) negotiate: bool,
    pub(crate) establish: bool,
    /// A Sequence; `true` if it asks for a sign of life.
    pub(crate) sequence: Option<bool>,
    pub(crate) terminate: Option<Terminate>,
    /// Our own graceful Terminate has left and is not answered yet.
    pub(crate) awaiting_answer: bool,
    /// When a Terminate that has not left, or was not answered, is given up.
    pub(crate) terminate_deadline: Instant,
    close: Close,
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
        Self { connect: true, ..Self::default() }
    }

    /// Asks for a Sequence; one that asks for a sign of life also gives one.
    pub(crate) fn sequence(&mut self, asks_for_life: bool) {
        self.sequence = Some(asks_for_life || self.sequence == Some(true));
    }

    /// Terminates and waits for the answer until `deadline`.
    pub(crate) fn terminate(&mut self, code: TerminateCode, deadline: Instant) {
        self.only(Terminate { code, answers: None }, deadline);
    }

    /// Terminates, or answers a Terminate, and closes as soon as that has left.
    pub(crate) fn terminate_and_close(&mut self, terminate: Terminate, deadline: Instant) {
        self.only(terminate, deadline);
        self.close = Close::AfterTransmit;
    }

    /// Closes now, whatever was to be sent.
    pub(crate) fn close(&mut self) {
        *self = Self { close: Close::Now, ..Self::default() };
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
        // Without a jump for each: all of it is asked for at every turn.
        self.connect
            | self.negotiate
            | self.establish
            | self.sequence.is_some()
            | self.terminate.is_some()
            | matches!(self.close, Close::AfterTransmit | Close::Now)
    }

    /// Takes the next action.
    pub(crate) fn action(&mut self) -> Option<Action> {
        if self.connect {
            self.connect = false;
            return Some(Action::Connect);
        }
        let sent = self.close == Close::AfterTransmit && self.terminate.is_none();
        if sent || self.close == Close::Now {
            self.close = Close::Issued;
            return Some(Action::Close);
        }
        None
    }

    /// Nothing may leave but `terminate`.
    fn only(&mut self, terminate: Terminate, terminate_deadline: Instant) {
        let terminate = Some(terminate);
        *self = Self { terminate, terminate_deadline, ..Self::default() };
    }
}
