//! Session messages and actions that wait to be polled.

use hairpin_time::Instant;

use crate::Action;

/// The queue of session messages to send and actions to execute.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The queued items, executed in the order of their bits.
    queued: Queued,
    /// The Terminate to send, if one is queued.
    terminate: Option<Terminate>,
    /// Our graceful Terminate was sent and is not confirmed yet.
    pub(crate) awaiting_confirmation: bool,
    /// The deadline for sending the Terminate, or for its confirmation.
    pub(crate) terminate_deadline: Instant,
    close: Close,
}

/// A set of queued items. Checking for an empty set is one comparison, because the
/// owner checks in every loop iteration.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Queued(u8);

impl Queued {
    const NOTHING: Self = Self(0);
    const CONNECT: Self = Self(1);
    pub(crate) const NEGOTIATE: Self = Self(1 << 1);
    pub(crate) const ESTABLISH: Self = Self(1 << 2);
    pub(crate) const SEQUENCE: Self = Self(1 << 3);
    /// The queued Sequence has KeepAliveIntervalLapsed set and so requests one from the exchange.
    const LAPSED: Self = Self(1 << 4);
    const TERMINATE: Self = Self(1 << 5);
    const CLOSE: Self = Self(1 << 6);

    /// Returns `true` if the sets overlap.
    const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

/// A Terminate507 to send. Its code is always 0: CME treats any other code as an error of the
/// client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminate {
    /// The RequestTimestamp of the Terminate that this one confirms.
    pub(crate) confirms: Option<u64>,
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
    /// Creates a queue with only a connect action.
    pub(crate) fn connect() -> Self {
        Self { queued: Queued::CONNECT, ..Self::default() }
    }

    /// Queues `items`.
    pub(crate) fn queue(&mut self, items: Queued) {
        self.queued = self.queued.with(items);
    }

    /// Returns `true` if any of `items` is queued.
    pub(crate) fn is_queued(&self, items: Queued) -> bool {
        self.queued.intersects(items)
    }

    /// Removes `items` and returns `true` if any was queued.
    pub(crate) fn dequeue(&mut self, items: Queued) -> bool {
        let was = self.is_queued(items);
        self.queued = self.queued.without(items);
        was
    }

    /// Queues a Sequence. `lapsed` sets KeepAliveIntervalLapsed.
    pub(crate) fn queue_sequence(&mut self, lapsed: bool) {
        self.queue(Queued::SEQUENCE);
        if lapsed {
            self.queue(Queued::LAPSED);
        }
    }

    /// Removes the queued Sequence and returns its KeepAliveIntervalLapsed.
    pub(crate) fn take_sequence(&mut self) -> Option<bool> {
        let lapsed = self.dequeue(Queued::LAPSED);
        self.dequeue(Queued::SEQUENCE).then_some(lapsed)
    }

    /// Removes the queued Terminate.
    pub(crate) fn take_terminate(&mut self) -> Option<Terminate> {
        self.dequeue(Queued::TERMINATE);
        self.terminate.take()
    }

    /// Queues a Terminate. Its confirmation is expected before `deadline`.
    pub(crate) fn terminate(&mut self, deadline: Instant) {
        self.replace_with(Terminate { confirms: None }, deadline);
    }

    /// Queues the confirmation of a Terminate. The connection closes once it is sent.
    pub(crate) fn confirm_and_close(&mut self, request_timestamp: u64, deadline: Instant) {
        self.replace_with(Terminate { confirms: Some(request_timestamp) }, deadline);
        self.queue(Queued::CLOSE);
        self.close = Close::AfterTransmit;
    }

    /// Closes now and drops everything queued.
    pub(crate) fn close(&mut self) {
        *self = Self { queued: Queued::CLOSE, close: Close::Now, ..Self::default() };
    }

    /// Returns `true` if the session is closing the connection; further input is ignored.
    pub(crate) fn is_closing(&self) -> bool {
        self.close != Close::No
    }

    /// Returns `true` if the owner of the connection has nothing to wait for.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.close, Close::Issued | Close::Now)
    }

    /// Returns `true` if a message or an action is queued.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.queued != Queued::NOTHING
    }

    /// Removes the next action.
    pub(crate) fn action(&mut self) -> Option<Action> {
        if self.dequeue(Queued::CONNECT) {
            return Some(Action::Connect);
        }
        let sent = self.close == Close::AfterTransmit && !self.is_queued(Queued::TERMINATE);
        if sent || self.close == Close::Now {
            self.dequeue(Queued::CLOSE);
            self.close = Close::Issued;
            return Some(Action::Close);
        }
        None
    }

    /// Replaces everything queued by `terminate`.
    fn replace_with(&mut self, terminate: Terminate, terminate_deadline: Instant) {
        let (queued, terminate) = (Queued::TERMINATE, Some(terminate));
        *self = Self { queued, terminate, terminate_deadline, ..Self::default() };
    }
}
