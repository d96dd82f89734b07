//! What the exchange tells whoever runs it.

use hairpin_time::Instant;

use crate::gateway::{ConnectionId, Rejected, SessionState};
use crate::matching::OrderId;

/// A matching event of the generator that changed a best price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// From 1.
    pub number: u64,
    /// When it was due, by the schedule of whoever runs the exchange.
    pub intended: Instant,
}

/// A packet of the incremental feed that carries all or part of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPacket {
    /// MsgSeqNum, the same on A and B.
    pub sequence: u32,
    /// Whether it is the first packet of its event.
    pub begins: bool,
    /// Whether it carries the end of its event: the number a trader puts into ClOrdID.
    pub ends: bool,
    /// Number of the tick whose event it is; `None` for events that orders caused.
    pub tick: Option<u64>,
}

/// Callbacks of the exchange, in the order in which things happen. The crate reads no clock: each
/// call is a moment at which the caller may.
///
/// `connection` is that of the session concerned. Texts (ClOrdID, tag 11) are without their
/// padding, as the client sent them: any bytes.
pub trait Listener {
    /// A tick has been matched; its packets follow.
    fn on_event(&mut self, tick: Tick) {
        let _ = tick;
    }

    /// A packet of an event is encoded and leaves, on side A first, when this returns.
    fn before_transmit(&mut self, packet: EventPacket) {
        let _ = packet;
    }

    /// Bytes have been read from a session's connection; nobody has looked at them yet.
    fn on_received(&mut self, connection: ConnectionId, length: usize) {
        let _ = (connection, length);
    }

    /// A session's state has changed. `account` counts the accounts as they were given to the
    /// gateway; none is known before Negotiate or Establish has named one.
    fn on_session(
        &mut self,
        connection: ConnectionId,
        account: Option<usize>,
        state: SessionState,
    ) {
        let _ = (connection, account, state);
    }

    /// A NewOrderSingle has been read; it has yet to be checked and matched.
    fn on_order(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let _ = (connection, cl_ord_id);
    }

    /// An order has been accepted and its ExecutionReportNew encoded.
    fn on_acknowledged(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// An OrderCancelReplaceRequest has been read; it has yet to be checked.
    fn on_replace(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let _ = (connection, cl_ord_id);
    }

    /// An order has been replaced and its ExecutionReportModify encoded.
    fn on_replaced(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// An OrderCancelRequest has been read; it has yet to be checked.
    fn on_cancel(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let _ = (connection, cl_ord_id);
    }

    /// An order has been cancelled and its ExecutionReportCancel encoded.
    fn on_cancelled(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// An order of a session has traded and its report is encoded.
    fn on_fill(
        &mut self,
        connection: ConnectionId,
        cl_ord_id: &[u8],
        order: OrderId,
        quantity: u32,
    ) {
        let _ = (connection, cl_ord_id, order, quantity);
    }

    /// A stop order of a session has been triggered and its report is encoded; what it traded
    /// follows.
    fn on_triggered(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// An order of a session is gone without a cancel, and its report is encoded: the rest of one
    /// that may not rest, or a day order at the session's end.
    fn on_eliminated(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// A business message has been refused and the refusal encoded.
    fn on_rejected(&mut self, connection: ConnectionId, rejected: Rejected<'_>) {
        let _ = (connection, rejected);
    }
}

/// Listens to nothing.
impl Listener for () {}
