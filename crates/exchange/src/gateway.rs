//! The order entry gateway: the server side of iLink 3 (schema 8 version 9), sans-IO.
//!
//! ```text
//!             Negotiate          Establish          Terminate, either side
//! Connected ────────────▶ Negotiated ────────▶ Established ────────▶ Terminating ──▶ Closed
//!     └──────── Establish, with the current UUID ────────▲
//! ```
//!
//! `docs/reference/simulated-gateway.md` lists every rule that a client may rely on, with its test:
//! framing, logon, sequence numbers, keep-alive, Terminate, retransmission across UUIDs and of
//! messages published
//! before the week's first logon, port closure, rate limits, cancel on disconnect, primary and
//! backup. [`GatewaySettings`] enables the rules of the second half.
//!
//! | request | answers |
//! |---|---|
//! | NewOrderSingle514 | 522, then 525 for trades, 524 for what may not rest; or 523 |
//! | a resting stop order that a trade triggers | 522 again, then as above |
//! | OrderCancelReplaceRequest515 | 531, then as above; 534 if mitigation leaves 0; or 536 |
//! | OrderCancelRequest516 | 534, or 535 |
//! | OrderMassActionRequest529 | one or more 562 |
//! | MassQuote517 | 545, then 525 for trades |
//! | MassQuoteRequest567 | 571, then 525 for trades |
//! | QuoteCancel528, and 568 to 570 | 563 |
//! | RequestForQuote543 | 546 |
//! | NewOrderCross544, RequestForCross566 | 522 for each side, 525 for trades; or 523 for each |
//! | PartyDetailsDefinitionRequest518 | 519; if on demand, before the answer to its message |
//! | PartyDetailsListRequest537 | one or more 538 |
//! | OrderStatusRequest533 | 532 |
//! | OrderMassStatusRequest530 | 532 for each order |
//! | any other or undecodable business message | BusinessReject521 |
//!
//! Orders are limit, market with protection, market-limit, stop limit and stop with protection.
//! Their time in force is day, GTD, GTC, fill and kill, or fill or kill. A minimum quantity and a
//! display quantity are optional. Reports for a disconnected session are numbered and stored, and
//! are retransmitted on request. Self-match prevention applies between orders of one firm whose
//! party details have the same SelfMatchPreventionID; other orders of a session trade with each
//! other like any others.
//!
//! Not supported: orders good for the session, and all other messages (BusinessReject 3).
//!
//! Accounts and connections are tables: many sessions are served at once.

mod account;
mod ascii_int;
mod check;
mod counters;
mod cross;
mod disconnect;
mod dispatch;
mod failover;
mod faults;
mod frame;
mod logon;
mod mass_action;
mod message_controls;
mod one_sided_quotes;
mod order_parties;
mod order_requests;
mod party_details;
mod party_requests;
mod pending_reports;
mod port_closure;
mod publish;
mod quote_cancel;
mod quote_request;
mod quotes;
mod rate_limits;
mod reason_codes;
mod reports;
mod request;
mod retransmission;
mod retransmit_buffer;
mod selection;
mod session;
mod settings;
mod status;
mod trading_week;
mod unsolicited_quote_cancel;
mod unsolicited_reports;

pub use account::{Credentials, CredentialsError};
pub use counters::GatewayCounters;
pub use failover::Designation;
pub use faults::{GatewayFaultTally, GatewayFaults};
pub use rate_limits::{RateLimit, RateLimits};
pub use reason_codes::{
    BusinessReason, LogonReject, MassActionReason, OrderReason, QuoteReason, RetransmitReason,
    TerminateCode,
};
pub use settings::{GatewayKind, GatewaySettings, Venue};

use hairpin_time::{Instant, Now};

use crate::{Listener, Market};
use account::Account;
use dispatch::FrameHandler;
use faults::Faults;
use frame::Inbound;
use order_parties::OrderParties;
use quotes::ENTRIES_MAX;
use request::ClientOrder;
use session::Session;
use settings::Rules;

/// A connection slot. It is reused after the connection has closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// The state of a connection's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionState {
    /// No logon yet.
    Connected,
    /// The NegotiationResponse has been sent.
    Negotiated,
    /// The EstablishmentAck has been sent; business messages are accepted.
    Established,
    /// A Terminate has been sent.
    Terminating,
    /// The slot has no connection.
    Closed,
}

/// A rejected business message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejected<'a> {
    /// Rejected by a BusinessReject521.
    Business {
        /// The ClOrdID; empty if the message has none or could not be decoded.
        cl_ord_id: &'a [u8],
        /// BusinessRejectReason (tag 380).
        reason: BusinessReason,
        /// The tag of the invalid field, if one field is the cause.
        tag: Option<u16>,
    },
    /// A new order, rejected by an ExecutionReportReject523.
    Order {
        /// The order's ClOrdID.
        cl_ord_id: &'a [u8],
        /// OrdRejReason (tag 103).
        reason: OrderReason,
    },
    /// A replacement, rejected by an OrderCancelReplaceReject536.
    Replace {
        /// The ClOrdID of the request.
        cl_ord_id: &'a [u8],
        /// CxlRejReason (tag 102).
        reason: OrderReason,
    },
    /// A cancel, rejected by an OrderCancelReject535.
    Cancel {
        /// The ClOrdID of the request.
        cl_ord_id: &'a [u8],
        /// CxlRejReason (tag 102).
        reason: OrderReason,
    },
}

/// A request to the I/O layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Close this connection. Its slot may be used again.
    Close(ConnectionId),
}

/// The order entry gateway: accounts, connections and sessions of all clients.
#[derive(Debug)]
pub struct Gateway {
    accounts: Box<[Account]>,
    connections: Box<[Connection]>,
    /// The orders of all sessions, by slot of the market.
    orders: Box<[ClientOrder]>,
    /// The orders whose slots the current message has reused, until their events are reported.
    departed: Vec<ClientOrder>,
    order_parties: OrderParties,
    /// Execution reports published so far, over all accounts.
    executions: u64,
    rules: Rules,
    /// The gateway that is the primary now.
    primary: Designation,
    /// The failed gateway, if any.
    failed: Option<Designation>,
    /// Set when a session may have to end because of another connection or a port closure.
    has_orphans: bool,
    /// Set when orders of a lost session have to be canceled.
    has_lost_sessions: bool,
    /// Set when quotes have left the market and their sessions are not notified yet.
    has_lost_quotes: bool,
    faults: Option<Box<Faults>>,
    /// The number of orders to reject, for tests.
    orders_to_reject: u32,
    counters: GatewayCounters,
}

#[derive(Debug)]
struct Connection {
    /// Set when a frame may be waiting for room in the send buffer.
    stalled: bool,
    inbound: Inbound,
    session: Session,
}

impl Gateway {
    /// The most bytes that one call of [`Gateway::handle_bytes`] takes.
    pub const CHUNK_MAX: usize = Inbound::CHUNK_MAX;

    /// Creates a gateway with [`GatewaySettings::lenient`]: for these accounts and at most
    /// `connections` connections, in front of an engine that holds up to `orders` orders.
    #[must_use]
    pub fn new(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        Self::with_settings(GatewaySettings::lenient(accounts, connections, orders))
    }

    /// Creates a gateway with these settings.
    #[must_use]
    pub fn with_settings(settings: GatewaySettings) -> Self {
        let rules = Rules::from(&settings);
        let GatewaySettings { accounts, connections, orders, faults, .. } = settings;
        let (retransmit_buffer, lists) = (settings.kept_messages, settings.party_definitions);
        let connection = |index| Connection {
            stalled: false,
            inbound: Inbound::new(),
            session: Session::new(ConnectionId(index)),
        };
        let mut accounts: Box<[Account]> =
            accounts.into_iter().map(|of| Account::new(of, retransmit_buffer, lists)).collect();
        for index in 0..accounts.len() {
            let first = accounts.iter().position(|of| of.is_same_firm(&accounts[index]));
            // The number of accounts fits in a `u32`.
            accounts[index].firm = first.unwrap_or(index) as u32;
        }
        Self {
            accounts,
            connections: (0..connections).map(connection).collect(),
            orders: vec![ClientOrder::default(); orders as usize].into(),
            departed: Vec::with_capacity(2 * ENTRIES_MAX),
            order_parties: OrderParties::new(),
            executions: 0,
            rules,
            primary: Designation::Primary,
            failed: None,
            has_orphans: false,
            has_lost_sessions: false,
            has_lost_quotes: false,
            faults: faults.map(|faults| Box::new(Faults::new(faults))),
            orders_to_reject: 0,
            counters: GatewayCounters::default(),
        }
    }

    /// Handles a connection accepted by the designated primary. Returns `None` if no slot is free;
    /// the caller then closes the connection.
    pub fn handle_connected(
        &mut self,
        now: Now,
        listener: &mut impl Listener,
    ) -> Option<ConnectionId> {
        self.handle_connected_at(now, Designation::Primary, listener)
    }

    /// Handles a connection accepted by one of the two gateways. Returns `None` if no slot is free
    /// or that gateway has failed; the caller then closes the connection.
    pub fn handle_connected_at(
        &mut self,
        now: Now,
        designation: Designation,
        listener: &mut impl Listener,
    ) -> Option<ConnectionId> {
        if self.failed == Some(designation) {
            self.counters.failed_connections += 1;
            return None;
        }
        if self.faults.as_mut().is_some_and(|faults| faults.refuses_connection()) {
            return None;
        }
        let free = |connection: &&mut Connection| connection.session.state == SessionState::Closed;
        let Some(connection) = self.connections.iter_mut().find(free) else {
            self.counters.refused_connections += 1;
            return None;
        };
        self.counters.connections += 1;
        connection.stalled = false;
        connection.inbound.clear();
        connection.session.open(now);
        connection.session.designation = designation;
        if self.faults.is_some() {
            connection.session.sendable_length = 0;
        }
        connection.session.backup = designation != self.primary;
        listener.on_session(connection.session.id, None, SessionState::Connected);
        Some(connection.session.id)
    }

    /// Returns `true` if a connection of one of the two gateways has a free slot, or would be
    /// refused for another reason.
    #[must_use]
    pub fn has_room(&self, designation: Designation) -> bool {
        let is_free = |connection: &Connection| connection.session.state == SessionState::Closed;
        self.failed == Some(designation) || self.connections.iter().any(is_free)
    }

    /// Closes the oldest connection whose client has not negotiated, so that a new connection can
    /// take its slot. The caller closes its stream. Returns `None` if each client has negotiated:
    /// sessions never give way.
    pub fn close_idle(&mut self, listener: &mut impl Listener) -> Option<ConnectionId> {
        let sessions = self.connections.iter().map(|connection| &connection.session);
        let idle = sessions.filter(|session| session.state == SessionState::Connected);
        // The time limit for a logon counts from the connection.
        let id = idle.min_by_key(|session| session.deadline)?.id;
        self.counters.idle_connections_closed += 1;
        self.handle_closed(id, listener);
        Some(id)
    }

    /// Handles received bytes: at most [`Gateway::CHUNK_MAX`], and only while
    /// [`Gateway::can_receive`].
    ///
    /// With no bytes, continues with frames and retransmissions that waited for room in the send
    /// buffer.
    pub fn handle_bytes(
        &mut self,
        now: Now,
        id: ConnectionId,
        bytes: &[u8],
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        if !connection.session.accepts_input() {
            return;
        }
        if self.has_lost_sessions {
            self.cancel_lost(now, market, listener);
        }
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        connection.session.queued_behind_split = None;
        if connection.inbound.append(bytes) < bytes.len() {
            // Only a caller that ignores `can_receive` gets here.
            connection.session.fail(now, TerminateCode::Other, &mut self.counters, listener);
            return;
        }
        if let Some(account) = connection.session.account {
            pending_reports::send_pending(&mut connection.session, &self.accounts[account], now);
            retransmission::continue_retransmission(
                &mut connection.session,
                &self.accounts[account],
                now,
            );
        }
        self.continue_mass_status(now, id, market);
        while self.handle_frame(now, id, market, listener) {
            self.handle_fills(now, market, listener);
            self.continue_mass_status(now, id, market);
        }
        self.connections[id.0 as usize].session.split = None;
        if self.has_orphans {
            self.end_orphans(now, listener);
        }
        self.inject_faults(now);
    }

    fn continue_mass_status(&mut self, now: Now, id: ConnectionId, market: &impl Market) {
        if self.connections[id.0 as usize].session.mass_status.is_some() {
            self.send_mass_status(now, id.0 as usize, market);
        }
    }

    /// Injects no further faults. Delayed bytes are still sent.
    pub fn end_faults(&mut self) {
        if let Some(faults) = &mut self.faults {
            faults.end();
        }
    }

    /// Returns `true` if a connection's next bytes can be taken. Otherwise its client has to read
    /// first.
    #[must_use]
    pub fn can_receive(&self, id: ConnectionId) -> bool {
        self.connections.get(id.0 as usize).is_some_and(|connection| connection.inbound.has_room())
    }

    /// Returns `true` if frames, reports or a retransmission wait for room in the send buffer. Call
    /// [`Gateway::handle_bytes`] without bytes after some of the buffer has been sent.
    #[must_use]
    pub fn is_stalled(&self, id: ConnectionId) -> bool {
        let has_pending = |connection: &Connection| {
            let session = &connection.session;
            let has_more = session.retransmission.is_some() || session.mass_status.is_some();
            connection.stalled || has_more || session.pending_reports > 0
        };
        self.connections.get(id.0 as usize).is_some_and(has_pending)
    }

    /// Handles the end of a connection: the peer has closed it, or it has failed.
    pub fn handle_closed(&mut self, id: ConnectionId, listener: &mut impl Listener) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        let session = &mut connection.session;
        if session.state == SessionState::Closed {
            return;
        }
        let account = session.account.take();
        session.outbound.clear();
        session.enter(SessionState::Closed, listener);
        if let Some(account) = account {
            let graceful = session.graceful;
            self.detach(account, id.0, graceful);
        }
    }

    /// Performs the actions that are due.
    pub fn handle_timeout(&mut self, now: Now, listener: &mut impl Listener) {
        for connection in &mut self.connections {
            let session = &mut connection.session;
            session.handle_timeout(now, &self.accounts, &mut self.counters, listener);
        }
        if self.has_orphans {
            self.end_orphans(now, listener);
        }
        self.inject_faults(now);
    }

    /// Applies faults to the bytes written since the last call.
    fn inject_faults(&mut self, now: Now) {
        let Some(faults) = &mut self.faults else { return };
        for connection in &mut self.connections {
            faults.handle_written(now, &mut connection.session);
        }
    }

    /// Returns the counts of injected faults, or `None` without faults.
    #[must_use]
    pub fn fault_tally(&self) -> Option<&GatewayFaultTally> {
        self.faults.as_ref().map(|faults| &faults.tally)
    }

    /// Returns the time at which [`Gateway::handle_timeout`] has work to do next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.has_orphans {
            return Some(Instant::ZERO);
        }
        let open = self.connections.iter().filter(|c| c.session.state != SessionState::Closed);
        open.map(|connection| connection.session.timeout()).min()
    }

    /// Returns the bytes to send on a connection, if any. Report the number of bytes sent to
    /// [`Gateway::handle_sent`].
    #[must_use]
    pub fn poll_transmit(&self, id: ConnectionId) -> Option<&[u8]> {
        let bytes = self.connections.get(id.0 as usize)?.session.sendable();
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Removes the first `count` bytes, which have been sent, from the send buffer.
    pub fn handle_sent(&mut self, id: ConnectionId, count: usize) {
        if let Some(connection) = self.connections.get_mut(id.0 as usize) {
            connection.session.consume(count);
        }
    }

    /// Returns the next request to the I/O layer. Call it until it returns `None`. After
    /// [`Action::Close`] the connection is closed here too.
    pub fn poll_action(&mut self, listener: &mut impl Listener) -> Option<Action> {
        let is_drained = |connection: &&Connection| {
            let session = &connection.session;
            session.state != SessionState::Closed
                && session.closing
                && session.outbound.bytes().is_empty()
        };
        let id = self.connections.iter().find(is_drained)?.session.id;
        self.handle_closed(id, listener);
        Some(Action::Close(id))
    }

    /// Terminates a session: sends Terminate, and waits up to one keep-alive interval for the
    /// answer.
    pub fn terminate(&mut self, now: Now, id: ConnectionId, listener: &mut impl Listener) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        let session = &mut connection.session;
        match session.state {
            SessionState::Negotiated | SessionState::Established if session.accepts_input() => {
                session.send_terminate(now, now.utc.as_nanos(), TerminateCode::Finished);
                session.graceful = true;
                session.deadline = now.monotonic + session.keep_alive;
                session.enter(SessionState::Terminating, listener);
            }
            SessionState::Connected => session.close(now),
            _ => {}
        }
    }

    /// Marks the next message of a connection as received out of order (tag 9553). TCP hides this
    /// from the gateway; a caller that sees segments calls it. Reports show it only if the
    /// split-message safeguard is on.
    pub fn set_out_of_order(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id.0 as usize) {
            connection.session.out_of_order = true;
        }
    }

    /// Returns the session state of a connection.
    #[must_use]
    pub fn state(&self, id: ConnectionId) -> SessionState {
        self.connections
            .get(id.0 as usize)
            .map_or(SessionState::Closed, |connection| connection.session.state)
    }

    /// Rejects the next order that a client sends, as a full matching engine does. Further calls
    /// reject further orders.
    pub fn reject_next_order(&mut self) {
        self.orders_to_reject += 1;
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &GatewayCounters {
        &self.counters
    }

    /// Handles one frame. Returns `false` without a frame or without room for its answer.
    fn handle_frame(
        &mut self,
        now: Now,
        id: ConnectionId,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) -> bool {
        let rules = &self.rules;
        let Connection { stalled, inbound, session } = &mut self.connections[id.0 as usize];
        let has_room = session.pending_reports == 0 && session.outbound.has_room();
        *stalled = session.accepts_input() && !has_room;
        if !session.accepts_input() || *stalled {
            return false;
        }
        let is_split = inbound.is_split();
        let Some(frame) = inbound.next_frame() else { return false };
        if let Some(limit) = rules.split_queue_max
            && session.count_frame(is_split) > limit
        {
            self.counters.split_overflows += 1;
            let code = match limit {
                0 => TerminateCode::SplitQueued,
                _ => TerminateCode::TooManySplitQueued,
            };
            session.fail(now, code, &mut self.counters, listener);
            return true;
        }
        let mut displaced = None;
        let mut handling = FrameHandler {
            now,
            session,
            accounts: &mut self.accounts,
            orders: &mut self.orders,
            departed: &mut self.departed,
            order_parties: &mut self.order_parties,
            executions: &mut self.executions,
            counters: &mut self.counters,
            rules: &self.rules,
            faults: &mut self.faults,
            listener,
            orders_to_reject: &mut self.orders_to_reject,
            displaced: &mut displaced,
            has_orphans: &mut self.has_orphans,
        };
        match frame {
            Ok(frame) => handling.handle_frame(frame, market),
            Err(frame::BadFrame) => {
                handling.counters.bad_frames += 1;
                handling.fail(TerminateCode::InvalidSofh);
            }
        }
        if let Some(old) = displaced {
            self.counters.displaced_connections += 1;
            let session = &mut self.connections[old as usize].session;
            session.account = None;
            session.fail(now, TerminateCode::Other, &mut self.counters, listener);
        }
        true
    }
}
