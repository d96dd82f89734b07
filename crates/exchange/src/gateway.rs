//! The order entry gateway: the server's side of iLink 3 (schema 8 version 9), sans-IO.
//!
//! ```text
//!             Negotiate          Establish          Terminate, either side
//! Connected ────────────▶ Negotiated ────────▶ Established ────────▶ Terminating ──▶ Closed
//!     └──────── Establish, with the UUID of before ─────▲
//! ```
//!
//! What a client may rely on, rule by rule and with the test of each, is in
//! `docs/reference/simulated-gateway.md`:
//! framing, logon, numbers, keep-alive, Terminate, retransmission across UUIDs and of what was
//! published before the week's first logon, closed ports, rate limits, cancel on disconnect,
//! primary and backup. Which of the latter apply [`GatewaySettings`] says.
//!
//! | request | answers |
//! |---|---|
//! | NewOrderSingle514 | 522, then 525 for trades, 524 for what may not rest; or 523 |
//! | a stop order of before that a trade triggers | 522 once more, then as above |
//! | OrderCancelReplaceRequest515 | 531, then as above; 534 if mitigation leaves nothing; or 536 |
//! | OrderCancelRequest516 | 534, or 535 |
//! | OrderMassActionRequest529 | 562, as many as it takes |
//! | MassQuote517 | 545, then 525 for trades |
//! | MassQuoteRequest567 | 571, then 525 for trades |
//! | QuoteCancel528, and 568 to 570 | 563 |
//! | RequestForQuote543 | 546 |
//! | NewOrderCross544, RequestForCross566 | 522 for each side, 525 for trades; or 523 for each |
//! | PartyDetailsDefinitionRequest518 | 519, on demand behind the answer to its message |
//! | PartyDetailsListRequest537 | 538, as many as it takes |
//! | OrderStatusRequest533 | 532 |
//! | OrderMassStatusRequest530 | 532 for each order |
//! | what is none of these, or cannot be read | BusinessReject521 |
//!
//! Orders are limit, market with protection, market-limit, stop limit and stop with protection;
//! good for the day, till a date, till cancelled, fill and kill or fill or kill; with a minimum
//! quantity or without. What happens to them while their session is away is numbered and kept, and
//! sent when it is back and asks. There is **no self-match prevention**: a session's orders trade
//! with each other like any others, and both sides are reported.
//!
//! Not here: display orders, orders good for the session, requests by ClOrdID alone, and all other
//! messages (BusinessReject 3).
//!
//! Accounts and connections are tables: many sessions are served at once.

mod account;
mod backlog;
mod business;
mod check;
mod controls;
mod counters;
mod cross;
mod definition;
mod disconnect;
mod dispatch;
mod failover;
mod faults;
mod frame;
mod kept;
mod limits;
mod logon;
mod mass_action;
mod notices;
mod number;
mod one_sided_quotes;
mod parties;
mod ports;
mod publish;
mod quote_cancel;
mod quote_request;
mod quotes;
mod reason;
mod reports;
mod request;
mod retransmission;
mod selection;
mod session;
mod settings;
mod status;
mod week;

pub use account::{Credentials, CredentialsError};
pub use counters::GatewayCounters;
pub use failover::Designation;
pub use faults::{GatewayFaultTally, GatewayFaults};
pub use limits::{RateLimit, RateLimits};
pub use reason::{
    BusinessReason, LogonReject, MassActionReason, OrderReason, QuoteReason, RetransmitReason,
    TerminateCode,
};
pub use settings::GatewaySettings;

use hairpin_time::{Instant, Now};

use crate::{Listener, Market};
use account::Account;
use dispatch::Handling;
use faults::Faults;
use frame::Inbound;
use request::ClientOrder;
use session::Session;
use settings::Rules;

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
    rules: Rules,
    /// Which of the two gateways is the primary now.
    primary: Designation,
    /// The one that has failed.
    failed: Option<Designation>,
    /// Connections may have to end because of what became of others.
    has_orphans: bool,
    /// Orders have to be cancelled because their session is lost.
    has_lost: bool,
    faults: Option<Box<Faults>>,
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
    /// that holds up to `orders` orders: [`GatewaySettings::lenient`].
    #[must_use]
    pub fn new(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        Self::with_settings(GatewaySettings::lenient(accounts, connections, orders))
    }

    /// A gateway as `settings` say.
    #[must_use]
    pub fn with_settings(settings: GatewaySettings) -> Self {
        let rules = Rules::from(&settings);
        let GatewaySettings { accounts, connections, orders, faults, .. } = settings;
        let (kept, lists) = (settings.kept_messages, settings.party_definitions);
        let connection = |index| Connection {
            is_stalled: false,
            inbound: Inbound::new(),
            session: Session::new(ConnectionId(index)),
        };
        Self {
            accounts: accounts.into_iter().map(|of| Account::new(of, kept, lists)).collect(),
            connections: (0..connections).map(connection).collect(),
            orders: vec![ClientOrder::default(); orders as usize].into(),
            executions: 0,
            rules,
            primary: Designation::Primary,
            failed: None,
            has_orphans: false,
            has_lost: false,
            faults: faults.map(|faults| Box::new(Faults::new(faults))),
            counters: GatewayCounters::default(),
        }
    }

    /// A connection has been accepted by the designated primary; `None` if there is no place for
    /// it: close it.
    pub fn handle_connected(
        &mut self,
        now: Now,
        listener: &mut impl Listener,
    ) -> Option<ConnectionId> {
        self.handle_connected_at(now, Designation::Primary, listener)
    }

    /// A connection has been accepted by one of the two gateways; `None` if there is no place for
    /// it, or if that gateway has failed: close it.
    pub fn handle_connected_at(
        &mut self,
        now: Now,
        at: Designation,
        listener: &mut impl Listener,
    ) -> Option<ConnectionId> {
        if self.failed == Some(at) {
            self.counters.failed_connections += 1;
            return None;
        }
        if self.faults.as_mut().is_some_and(|faults| faults.refuses()) {
            return None;
        }
        let free = |connection: &&mut Connection| connection.session.state == SessionState::Closed;
        let Some(connection) = self.connections.iter_mut().find(free) else {
            self.counters.refused_connections += 1;
            return None;
        };
        self.counters.connections += 1;
        connection.is_stalled = false;
        connection.inbound.clear();
        connection.session.open(now);
        connection.session.at = at;
        if self.faults.is_some() {
            connection.session.allowed = 0;
        }
        connection.session.is_backup = at != self.primary;
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
        if self.has_lost {
            self.cancel_lost(now, market, listener);
        }
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        connection.session.behind_split = None;
        if connection.inbound.append(bytes) < bytes.len() {
            // Only a caller that does not ask can bring this about.
            connection.session.fail(now, TerminateCode::Other, &mut self.counters, listener);
            return;
        }
        if let Some(account) = connection.session.account {
            backlog::catch_up(&mut connection.session, &self.accounts[account], now);
            retransmission::continue_replay(&mut connection.session, &self.accounts[account], now);
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
        self.make_faults(now);
    }

    fn continue_mass_status(&mut self, now: Now, id: ConnectionId, market: &impl Market) {
        if self.connections[id.0 as usize].session.mass_status.is_some() {
            self.continue_status(now, id.0 as usize, market);
        }
    }

    /// Whether a connection's next bytes can be taken; if not, its client has to read first.
    #[must_use]
    pub fn can_receive(&self, id: ConnectionId) -> bool {
        self.connections.get(id.0 as usize).is_some_and(|connection| connection.inbound.has_room())
    }

    /// Whether frames, reports or a retransmission wait for room in the buffer of answers: call
    /// [`Gateway::handle_bytes`] without bytes when some of that has been sent.
    #[must_use]
    pub fn is_stalled(&self, id: ConnectionId) -> bool {
        let is_stalled = |of: &Connection| {
            let session = &of.session;
            let has_more = session.replay.is_some() || session.mass_status.is_some();
            of.is_stalled || has_more || session.behind > 0
        };
        self.connections.get(id.0 as usize).is_some_and(is_stalled)
    }

    /// The peer has closed, or the connection has failed.
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
            let is_graceful = session.is_graceful;
            self.leave(account, id.0, is_graceful);
        }
    }

    /// Does what is due by now.
    pub fn handle_timeout(&mut self, now: Now, listener: &mut impl Listener) {
        for connection in &mut self.connections {
            let session = &mut connection.session;
            session.handle_timeout(now, &self.accounts, &mut self.counters, listener);
        }
        if self.has_orphans {
            self.end_orphans(now, listener);
        }
        self.make_faults(now);
    }

    /// Decides what becomes of bytes that were written since.
    fn make_faults(&mut self, now: Now) {
        let Some(faults) = &mut self.faults else { return };
        for connection in &mut self.connections {
            faults.tend(now, &mut connection.session);
        }
    }

    /// What faults have happened, if any are made.
    #[must_use]
    pub fn fault_tally(&self) -> Option<&GatewayFaultTally> {
        self.faults.as_ref().map(|faults| &faults.tally)
    }

    /// When [`Gateway::handle_timeout`] has something to do next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.has_orphans {
            return Some(Instant::ZERO);
        }
        let open = self.connections.iter().filter(|c| c.session.state != SessionState::Closed);
        open.map(|connection| connection.session.timeout()).min()
    }

    /// The bytes that wait to be sent on a connection, if there are any. Tell
    /// [`Gateway::handle_sent`] how many have left.
    #[must_use]
    pub fn poll_transmit(&self, id: ConnectionId) -> Option<&[u8]> {
        let bytes = self.connections.get(id.0 as usize)?.session.sendable();
        (!bytes.is_empty()).then_some(bytes)
    }

    /// `count` bytes of those that waited have been sent.
    pub fn handle_sent(&mut self, id: ConnectionId, count: usize) {
        if let Some(connection) = self.connections.get_mut(id.0 as usize) {
            connection.session.consume(count);
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
                session.is_graceful = true;
                session.deadline = now.monotonic + session.keep_alive;
                session.enter(SessionState::Terminating, listener);
            }
            SessionState::Connected => session.close(now),
            _ => {}
        }
    }

    /// What comes next on a connection came out of order, says whoever sees segments: TCP does not
    /// show it. Answers say so (tag 9553) if there is the safeguard against split messages.
    pub fn set_out_of_order(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id.0 as usize) {
            connection.session.is_out_of_order = true;
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
        let rules = &self.rules;
        let Connection { is_stalled, inbound, session } = &mut self.connections[id.0 as usize];
        let has_room = session.behind == 0 && session.outbound.has_room();
        *is_stalled = session.listens() && !has_room;
        if !session.listens() || *is_stalled {
            return false;
        }
        let is_split = inbound.is_split();
        let Some(frame) = inbound.next_frame() else { return false };
        if let Some(most) = rules.split_queue_max
            && session.note_frame(is_split) > most
        {
            self.counters.split_overflows += 1;
            let code = match most {
                0 => TerminateCode::SplitQueued,
                _ => TerminateCode::TooManySplitQueued,
            };
            session.fail(now, code, &mut self.counters, listener);
            return true;
        }
        let mut displaced = None;
        let mut handling = Handling {
            now,
            session,
            accounts: &mut self.accounts,
            orders: &mut self.orders,
            executions: &mut self.executions,
            counters: &mut self.counters,
            rules: &self.rules,
            faults: &mut self.faults,
            listener,
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
