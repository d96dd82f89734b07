//! The order entry gateway: the server's side of iLink 3 (schema 8 version 9), sans-IO.
//!
//! ```text
//!             Negotiate          Establish          Terminate, either side
//! Connected ────────────▶ Negotiated ────────▶ Established ────────▶ Terminating ──▶ Closed
//!     └──────── Establish, with the UUID of before ─────▲
//! ```
//!
//! What a client may rely on, with CME's codes: framing (18), known and whole messages (19, or
//! BusinessReject 109), nothing before its time (2, 3) or twice (4, 6; 5 and 7 cannot happen, as
//! every answer is immediate), UUID (13), HMAC in constant time, RequestTimestamp (reject 3),
//! KeepAliveInterval (reject 11), NextSeqNo (10), SeqNum (11, or NotApplied for a gap), keep-alive
//! both ways (20), the Terminate handshake, retransmission of what was published.
//!
//! | request | answers |
//! |---|---|
//! | NewOrderSingle514 | 522, then 525 for trades, 524 for what may not rest; or 523 |
//! | OrderCancelReplaceRequest515 | 531, then as above; 534 if mitigation leaves nothing; or 536 |
//! | OrderCancelRequest516 | 534, or 535 |
//! | what is none of these, or cannot be read | BusinessReject521 |
//!
//! Orders are limit, market with protection and market-limit; good for the day, till cancelled,
//! fill and kill or fill or kill; with a minimum quantity or without. They stay when their session
//! leaves. What happens to them then is numbered and kept (the last 4,096 messages of an account)
//! and sent when the session is back and asks. There is **no self-match prevention**: a session's
//! orders trade with each other like any others, and both sides are reported.
//!
//! **There are no rate limits**: this gateway serves benchmarks, and says so.
//!
//! Not here: port closure after bad logons, cancel on disconnect, backup, messages published
//! before a session's first Negotiate (it has no orders then), stop and display orders, orders
//! good till a date, requests by ClOrdID alone, and all other messages (BusinessReject 3).
//!
//! Accounts and connections are tables: several sessions are served at once.

mod account;
mod business;
mod check;
mod counters;
mod dispatch;
mod frame;
mod kept;
mod logon;
mod notices;
mod number;
mod publish;
mod reason;
mod reports;
mod request;
mod retransmission;
mod session;

pub use account::{Credentials, CredentialsError};
pub use counters::GatewayCounters;
pub use reason::{BusinessReason, LogonReject, OrderReason, RetransmitReason, TerminateCode};

use hairpin_time::{Instant, Now};

use crate::{Listener, Market};
use account::Account;
use dispatch::Handling;
use frame::Inbound;
use request::ClientOrder;
use session::Session;

/// A place for a connection, used again after the connection has been closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// Where a connection's session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionState {
    /// Nobody has logged on yet.
    Connected,
    /// The NegotiationResponse has been sent.
    Negotiated,
    /// The EstablishmentAck has been sent: business.
    Established,
    /// A Terminate has been sent.
    Terminating,
    /// There is no connection.
    Closed,
}

/// A business message that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejected<'a> {
    /// By a BusinessReject521.
    Business {
        /// The ClOrdID, empty if the message has none or could not be read.
        cl_ord_id: &'a [u8],
        /// Tag 380.
        reason: BusinessReason,
        /// The tag of the field at fault, if it is one.
        tag: Option<u16>,
    },
    /// A new order, by an ExecutionReportReject523.
    Order {
        /// The order's ClOrdID.
        cl_ord_id: &'a [u8],
        /// Tag 103.
        reason: OrderReason,
    },
    /// A replacement, by an OrderCancelReplaceReject536.
    Replace {
        /// The ClOrdID of the request.
        cl_ord_id: &'a [u8],
        /// Tag 102.
        reason: OrderReason,
    },
    /// A cancel, by an OrderCancelReject535.
    Cancel {
        /// The ClOrdID of the request.
        cl_ord_id: &'a [u8],
        /// Tag 102.
        reason: OrderReason,
    },
}

/// What only IO can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Close this connection; its place may be used again.
    Close(ConnectionId),
}

/// The sessions of all clients.
#[derive(Debug)]
pub struct Gateway {
    accounts: Box<[Account]>,
    connections: Box<[Connection]>,
    orders: Box<[ClientOrder]>,
    /// Execution reports published to anybody.
    executions: u64,
    counters: GatewayCounters,
}

#[derive(Debug)]
struct Connection {
    /// A frame may be waiting for room in the buffer of answers.
    is_stalled: bool,
    inbound: Inbound,
    session: Session,
}

impl Gateway {
    /// The most bytes that one call of [`Gateway::handle_bytes`] takes.
    pub const CHUNK_MAX: usize = Inbound::CHUNK_MAX;

    /// A gateway for these accounts, with places for so many connections, in front of an engine
    /// that holds up to `orders` orders.
    #[must_use]
    pub fn new(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        let connection = |index| Connection {
            is_stalled: false,
            inbound: Inbound::new(),
            session: Session::new(ConnectionId(index)),
        };
        Self {
            accounts: accounts.into_iter().map(Account::new).collect(),
            connections: (0..connections).map(connection).collect(),
            orders: vec![ClientOrder::default(); orders as usize].into(),
            executions: 0,
            counters: GatewayCounters::default(),
        }
    }

    /// A connection has been accepted; `None` if there is no place for it: close it.
    pub fn handle_connected(
        &mut self,
        now: Now,
        listener: &mut impl Listener,
    ) -> Option<ConnectionId> {
        let free = |connection: &&mut Connection| connection.session.state == SessionState::Closed;
        let Some(connection) = self.connections.iter_mut().find(free) else {
            self.counters.refused_connections += 1;
            return None;
        };
        self.counters.connections += 1;
        connection.is_stalled = false;
        connection.inbound.clear();
        connection.session.open(now);
        listener.on_session(connection.session.id, None, SessionState::Connected);
        Some(connection.session.id)
    }

    /// Bytes have arrived: at most [`Gateway::CHUNK_MAX`], and only while
    /// [`Gateway::can_receive`].
    ///
    /// With no bytes: goes on with frames and retransmissions that had to wait for room in the
    /// buffer of answers.
    pub fn handle_bytes(
        &mut self,
        now: Now,
        id: ConnectionId,
        bytes: &[u8],
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        if !connection.session.listens() {
            return;
        }
        if connection.inbound.append(bytes) < bytes.len() {
            // Only a caller that does not ask can bring this about.
            connection.session.fail(now, TerminateCode::Other, &mut self.counters, listener);
            return;
        }
        if let Some(account) = connection.session.account {
            retransmission::continue_replay(&mut connection.session, &self.accounts[account], now);
        }
        while self.handle_frame(now, id, market, listener) {
            self.handle_fills(now, market, listener);
        }
    }

    /// Whether a connection's next bytes can be taken; if not, its client has to read first.
    #[must_use]
    pub fn can_receive(&self, id: ConnectionId) -> bool {
        self.connections.get(id.0 as usize).is_some_and(|connection| connection.inbound.has_room())
    }

    /// Whether frames or a retransmission wait for room in the buffer of answers: call
    /// [`Gateway::handle_bytes`] without bytes when some of that has been sent.
    #[must_use]
    pub fn is_stalled(&self, id: ConnectionId) -> bool {
        let is_stalled = |of: &Connection| of.is_stalled || of.session.replay.is_some();
        self.connections.get(id.0 as usize).is_some_and(is_stalled)
    }

    /// The peer has closed, or the connection has failed.
    pub fn handle_closed(&mut self, id: ConnectionId, listener: &mut impl Listener) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        let session = &mut connection.session;
        if session.state == SessionState::Closed {
            return;
        }
        if let Some(account) = session.account.take()
            && self.accounts[account].connection == Some(id.0)
        {
            self.accounts[account].connection = None;
        }
        session.outbound.clear();
        session.enter(SessionState::Closed, listener);
    }

    /// Does what is due by now.
    pub fn handle_timeout(&mut self, now: Now, listener: &mut impl Listener) {
        for connection in &mut self.connections {
            let session = &mut connection.session;
            session.handle_timeout(now, &self.accounts, &mut self.counters, listener);
        }
    }

    /// When [`Gateway::handle_timeout`] has something to do next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let open = self.connections.iter().filter(|c| c.session.state != SessionState::Closed);
        open.map(|connection| connection.session.timeout()).min()
    }

    /// The bytes that wait to be sent on a connection, if there are any. Tell
    /// [`Gateway::handle_sent`] how many have left.
    #[must_use]
    pub fn poll_transmit(&self, id: ConnectionId) -> Option<&[u8]> {
        let bytes = self.connections.get(id.0 as usize)?.session.outbound.bytes();
        (!bytes.is_empty()).then_some(bytes)
    }

    /// `count` bytes of those that waited have been sent.
    pub fn handle_sent(&mut self, id: ConnectionId, count: usize) {
        if let Some(connection) = self.connections.get_mut(id.0 as usize) {
            connection.session.outbound.consume(count);
        }
    }

    /// What IO has to do, if anything: ask until there is nothing more. After
    /// [`Action::Close`] the connection is closed here too.
    pub fn poll_action(&mut self, listener: &mut impl Listener) -> Option<Action> {
        let is_done = |connection: &&Connection| {
            let session = &connection.session;
            session.state != SessionState::Closed
                && session.is_closing
                && session.outbound.bytes().is_empty()
        };
        let id = self.connections.iter().find(is_done)?.session.id;
        self.handle_closed(id, listener);
        Some(Action::Close(id))
    }

    /// Ends a session from this side: sends Terminate, and waits an interval for the answer.
    pub fn terminate(&mut self, now: Now, id: ConnectionId, listener: &mut impl Listener) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        let session = &mut connection.session;
        match session.state {
            SessionState::Negotiated | SessionState::Established if session.listens() => {
                session.send_terminate(now, now.utc.as_nanos(), TerminateCode::Finished);
                session.deadline = now.monotonic + session.keep_alive;
                session.enter(SessionState::Terminating, listener);
            }
            SessionState::Connected => session.close(now),
            _ => {}
        }
    }

    /// Where a connection stands.
    #[must_use]
    pub fn state(&self, id: ConnectionId) -> SessionState {
        self.connections
            .get(id.0 as usize)
            .map_or(SessionState::Closed, |connection| connection.session.state)
    }

    /// What has happened so far.
    #[must_use]
    pub fn counters(&self) -> &GatewayCounters {
        &self.counters
    }

    /// Handles one frame; `false` if there is none, or no room for its answer.
    fn handle_frame(
        &mut self,
        now: Now,
        id: ConnectionId,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) -> bool {
        let Connection { is_stalled, inbound, session } = &mut self.connections[id.0 as usize];
        *is_stalled = session.listens() && !session.outbound.has_room();
        if !session.listens() || *is_stalled {
            return false;
        }
        let Some(frame) = inbound.next_frame() else { return false };
        let mut displaced = None;
        let mut handling = Handling {
            now,
            session,
            accounts: &mut self.accounts,
            orders: &mut self.orders,
            executions: &mut self.executions,
            counters: &mut self.counters,
            listener,
            displaced: &mut displaced,
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
