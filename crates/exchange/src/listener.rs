//! Callbacks of the exchange.

use hairpin_time::Instant;

use crate::gateway::{ConnectionId, Rejected, SessionState};
use crate::matching::OrderId;

/// A matching event of the generator that changed a best price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// The tick number, starting at 1.
    pub number: u64,
    /// The time at which the owner of the exchange had scheduled it.
    pub intended: Instant,
}

/// A packet of the incremental feed that contains all or part of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPacket {
    /// MsgSeqNum, the same on A and B.
    pub sequence: u32,
    /// The packet is the first one of its event.
    pub begins: bool,
    /// The packet contains the end of its event. A trader puts its number into ClOrdID.
    pub ends: bool,
    /// The number of the tick that caused the event; `None` for events caused by orders.
    pub tick: Option<u64>,
}

/// Callbacks of the exchange, in the order of events. The crate reads no clock; a callback may read
/// one to take a timestamp.
///
/// `connection` identifies the session. Texts (ClOrdID, tag 11) are passed without padding and
/// contain any bytes that the client sent.
pub trait Listener {
    /// Called when a tick has been matched, before its packets are sent.
    fn on_event(&mut self, tick: Tick) {
        let _ = tick;
    }

    /// Called before an encoded event packet is sent, first on line A.
    fn before_transmit(&mut self, packet: EventPacket) {
        let _ = packet;
    }

    /// Called when bytes have been read from a session's connection, before they are decoded.
    fn on_received(&mut self, connection: ConnectionId, length: usize) {
        let _ = (connection, length);
    }

    /// Called when a session's state has changed. `account` is the index in the gateway's accounts,
    /// or `None` before Negotiate or Establish has named one.
    fn on_session(
        &mut self,
        connection: ConnectionId,
        account: Option<usize>,
        state: SessionState,
    ) {
        let _ = (connection, account, state);
    }

    /// Called before a session is established, with TradingSystemName (1603) of the client.
    fn on_system_name(&mut self, account: usize, name: &[u8]) {
        let _ = (account, name);
    }

    /// Called when a NewOrderSingle has been decoded, before it is checked and matched.
    fn on_order(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let _ = (connection, cl_ord_id);
    }

    /// Called when an order has been accepted and its ExecutionReportNew encoded.
    fn on_acknowledged(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// Called when an OrderCancelReplaceRequest has been decoded, before it is checked.
    fn on_replace(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let _ = (connection, cl_ord_id);
    }

    /// Called when an order has been replaced and its ExecutionReportModify encoded.
    fn on_replaced(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// Called when an OrderCancelRequest has been decoded, before it is checked.
    fn on_cancel(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let _ = (connection, cl_ord_id);
    }

    /// Called when an order has been canceled and its ExecutionReportCancel encoded.
    fn on_cancelled(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// Called when a session's order has traded and its report is encoded.
    fn on_fill(
        &mut self,
        connection: ConnectionId,
        cl_ord_id: &[u8],
        order: OrderId,
        quantity: u32,
    ) {
        let _ = (connection, cl_ord_id, order, quantity);
    }

    /// Called when a session's stop order has been triggered and its report is encoded. Reports of
    /// its trades follow.
    fn on_triggered(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// Called when a session's order has been eliminated and its report is encoded: the remainder
    /// of an order that may not rest, or a day order at the end of the session.
    fn on_eliminated(&mut self, connection: ConnectionId, cl_ord_id: &[u8], order: OrderId) {
        let _ = (connection, cl_ord_id, order);
    }

    /// Called when a business message has been rejected and the reject encoded.
    fn on_rejected(&mut self, connection: ConnectionId, rejected: Rejected<'_>) {
        let _ = (connection, rejected);
    }
}

/// Ignores all callbacks.
impl Listener for () {}
