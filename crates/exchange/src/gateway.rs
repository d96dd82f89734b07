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
//! both ways (20), the Terminate handshake. Limit orders good for the day and their cancels are
//! matched; trades of them are reported.
//!
//! **There are no rate limits**: this gateway serves benchmarks, and says so.
//!
//! Not here yet: retransmission (every request is answered OutOfRange), messages published while
//! a client is away, port closure after bad logons, cancel on disconnect, backup, other orders
//! and messages (BusinessReject 3 or 115).
//!
//! Accounts and connections are tables: several sessions can be served at once.

mod account;
mod business;
mod frame;
mod logon;
mod number;
mod reason;
mod reports;
mod session;

pub use account::{Credentials, CredentialsError};
pub use reason::{BusinessReason, LogonReject, TerminateCode};

use hairpin_cme_codecs::ilink3::{
    Establish503, KeepAliveLapsed, MESSAGES, Negotiate500, NewOrderSingle514,
    OrderCancelRequest516, RetransmitRequest508, SCHEMA_ID, Sequence506, Terminate507,
};
use hairpin_sbe::MessageHeader;
use hairpin_time::{Instant, Now};

use crate::{Listener, Market, SessionFill};
use account::Account;
use business::LARGEST_SEQUENCE;
use frame::Inbound;
use reports::{ClientOrder, Refusal, Request};
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
    /// By an OrderCancelReject535: there is no such order of this session.
    Cancel {
        /// The ClOrdID of the cancel request.
        cl_ord_id: &'a [u8],
    },
}

/// What only IO can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Close this connection; its place may be used again.
    Close(ConnectionId),
}

/// What has happened at the gateway, counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct GatewayCounters {
    /// Connections accepted.
    pub connections: u64,
    /// Connections refused because every place was taken.
    pub refused_connections: u64,
    /// Whole frames read.
    pub frames: u64,
    /// Framing headers of an impossible length or another encoding.
    pub bad_frames: u64,
    /// Frames of another schema, of a template that clients do not send, or shorter than they say.
    pub undecodable: u64,
    /// NegotiationResponses sent.
    pub negotiated: u64,
    /// EstablishmentAcks sent.
    pub established: u64,
    /// NegotiationRejects and EstablishmentRejects sent.
    pub logon_rejects: u64,
    /// Terminates sent for an error of the client.
    pub terminates: u64,
    /// Sequences with a lapse sent: a client was silent for an interval.
    pub lapses: u64,
    /// NotApplieds sent.
    pub not_applied: u64,
    /// Gaps that a client filled by a Sequence.
    pub gap_fills: u64,
    /// RetransmitRequests refused.
    pub retransmit_rejects: u64,
    /// NewOrderSingles read in sequence.
    pub orders: u64,
    /// ExecutionReportNews sent.
    pub acknowledgements: u64,
    /// OrderCancelRequests read in sequence.
    pub cancels: u64,
    /// ExecutionReportCancels sent.
    pub cancelled: u64,
    /// BusinessRejects sent.
    pub business_rejects: u64,
    /// OrderCancelRejects sent.
    pub cancel_rejects: u64,
    /// Trades reported to sessions.
    pub fills: u64,
    /// Trades of sessions that were not there to be told.
    pub unreported_fills: u64,
}

/// The sessions of all clients.
#[derive(Debug)]
pub struct Gateway {
    accounts: Box<[Account]>,
    connections: Box<[Connection]>,
    orders: Box<[ClientOrder]>,
    counters: GatewayCounters,
}

#[derive(Debug)]
struct Connection {
    inbound: Inbound,
    session: Session,
}

/// One frame of one connection being handled.
struct Handling<'a, L> {
    now: Now,
    session: &'a mut Session,
    accounts: &'a mut [Account],
    orders: &'a mut [ClientOrder],
    counters: &'a mut GatewayCounters,
    listener: &'a mut L,
    /// A connection that another one has taken the place of.
    displaced: &'a mut Option<u32>,
}

impl Gateway {
    /// The most bytes that one call of [`Gateway::handle_bytes`] takes.
    pub const CHUNK_MAX: usize = Inbound::CHUNK_MAX;

    /// A gateway for these accounts, with places for so many connections, in front of an engine
    /// that holds up to `orders` orders.
    #[must_use]
    pub fn new(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        let connection = |index| Connection {
            inbound: Inbound::new(),
            session: Session::new(ConnectionId(index)),
        };
        Self {
            accounts: accounts.into_iter().map(Account::new).collect(),
            connections: (0..connections).map(connection).collect(),
            orders: vec![ClientOrder::default(); orders as usize].into(),
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
        connection.inbound.clear();
        connection.session.open(now);
        listener.on_session(connection.session.id, SessionState::Connected);
        Some(connection.session.id)
    }

    /// Bytes have arrived: at most [`Gateway::CHUNK_MAX`], and only while
    /// [`Gateway::can_receive`].
    ///
    /// With no bytes: goes on with frames that had to wait for room in the buffer of answers.
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
        while self.handle_frame(now, id, market, listener) {
            self.handle_fills(now, market, listener);
        }
    }

    /// Whether a connection's next bytes can be taken; if not, its client has to read first.
    #[must_use]
    pub fn can_receive(&self, id: ConnectionId) -> bool {
        self.connections.get(id.0 as usize).is_some_and(|connection| connection.inbound.has_room())
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

    /// Orders of sessions have traded: reports what `market` has to tell.
    pub fn handle_fills(
        &mut self,
        now: Now,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        while let Some(fill) = market.next_fill() {
            self.report(now, &fill, listener);
        }
    }

    fn report(&mut self, now: Now, fill: &SessionFill, listener: &mut impl Listener) {
        let account = fill.owner.0.checked_sub(1).and_then(|a| self.accounts.get_mut(a as usize));
        let Some(account) = account else { return };
        let connection = account.connection.and_then(|c| self.connections.get_mut(c as usize));
        let of = &self.orders[fill.order.slot() as usize];
        let session = connection.map(|connection| &mut connection.session);
        match session.filter(|session| session.is_established() && of.order == fill.order) {
            Some(session) => {
                reports::send_trade(session, account, now, of, fill);
                self.counters.fills += 1;
                let cl_ord_id = hairpin_sbe::CharArray::new(&of.request.cl_ord_id);
                listener.on_fill(cl_ord_id.as_bytes(), fill.order, fill.quantity);
            }
            None => self.counters.unreported_fills += 1,
        }
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
        let Connection { inbound, session } = &mut self.connections[id.0 as usize];
        if !session.listens() || !session.outbound.has_room() {
            return false;
        }
        let Some(frame) = inbound.next_frame() else { return false };
        let mut displaced = None;
        let mut handling = Handling {
            now,
            session,
            accounts: &mut self.accounts,
            orders: &mut self.orders,
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
            let session = &mut self.connections[old as usize].session;
            session.account = None;
            session.fail(now, TerminateCode::Other, &mut self.counters, listener);
        }
        true
    }
}

/// Templates of business messages that clients send, and this gateway does not do, with the
/// offset of SeqNum in each.
const UNSUPPORTED: [(u16, usize); 17] = [
    (515, 17),
    (517, 17),
    (518, 17),
    (528, 17),
    (529, 17),
    (530, 17),
    (533, 17),
    (537, 16),
    (539, 17),
    (543, 17),
    (544, 17),
    (560, 17),
    (566, 17),
    (567, 17),
    (568, 17),
    (569, 17),
    (570, 17),
];

impl<L: Listener> Handling<'_, L> {
    fn fail(&mut self, code: TerminateCode) {
        self.session.fail(self.now, code, self.counters, self.listener);
    }

    /// Handles a frame, from its SBE header on.
    fn handle_frame(&mut self, frame: &[u8], market: &mut impl Market) {
        self.counters.frames += 1;
        self.session.heard = self.now.monotonic;
        self.session.warned = None;
        let Ok((header, body)) = MessageHeader::decode(frame) else { return self.undecodable() };
        let is_terminate = header.template_id == Terminate507::TEMPLATE_ID;
        if self.session.state == SessionState::Terminating && !is_terminate {
            // Nothing may be sent after our own Terminate; its answer is all that matters.
            return;
        }
        if header.schema_id != SCHEMA_ID {
            return self.undecodable();
        }
        match header.template_id {
            Negotiate500::TEMPLATE_ID => {
                let mut scratch = Negotiate500::SCRATCH;
                match Negotiate500::decode(&header, body, &mut scratch) {
                    Ok(message) => self.handle_negotiate(&message),
                    Err(_) => self.undecodable(),
                }
            }
            Establish503::TEMPLATE_ID => {
                let mut scratch = Establish503::SCRATCH;
                match Establish503::decode(&header, body, &mut scratch) {
                    Ok(message) => self.handle_establish(&message),
                    Err(_) => self.undecodable(),
                }
            }
            _ => self.handle_within_session(&header, body, market),
        }
    }

    fn handle_within_session(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
        market: &mut impl Market,
    ) {
        let is_terminate = header.template_id == Terminate507::TEMPLATE_ID;
        let account = match (self.session.state, self.session.account) {
            (SessionState::Established, Some(account)) => account,
            (SessionState::Terminating | SessionState::Negotiated, _) if is_terminate => {
                return self.handle_terminate(header, body);
            }
            (SessionState::Negotiated, _) => return self.fail(TerminateCode::NotEstablished),
            _ => return self.fail(TerminateCode::Unnegotiated),
        };
        match header.template_id {
            NewOrderSingle514::TEMPLATE_ID => {
                let mut scratch = NewOrderSingle514::SCRATCH;
                match NewOrderSingle514::decode(header, body, &mut scratch) {
                    Ok(message) => self.handle_new_order(account, &message, market),
                    Err(_) => self.reject_undecodable(account, b"D"),
                }
            }
            OrderCancelRequest516::TEMPLATE_ID => {
                let mut scratch = OrderCancelRequest516::SCRATCH;
                match OrderCancelRequest516::decode(header, body, &mut scratch) {
                    Ok(message) => self.handle_cancel_request(account, &message, market),
                    Err(_) => self.reject_undecodable(account, b"F"),
                }
            }
            Sequence506::TEMPLATE_ID => self.handle_sequence(account, header, body),
            Terminate507::TEMPLATE_ID => self.handle_terminate(header, body),
            RetransmitRequest508::TEMPLATE_ID => self.handle_retransmit_request(header, body),
            template => match UNSUPPORTED.iter().find(|(known, _)| *known == template) {
                Some(&(_, offset)) => self.handle_unsupported(account, header, body, offset),
                None => self.undecodable(),
            },
        }
    }

    fn handle_sequence(&mut self, account: usize, header: &MessageHeader, body: &[u8]) {
        let mut scratch = Sequence506::SCRATCH;
        let Ok(message) = Sequence506::decode(header, body, &mut scratch) else {
            return self.undecodable();
        };
        if message.uuid() != self.session.uuid {
            return self.fail(TerminateCode::InvalidUuid);
        }
        let known = &mut self.accounts[account];
        let next = message.next_seq_no();
        if next < known.next_inbound || next > LARGEST_SEQUENCE {
            return self.fail(TerminateCode::InvalidNextSeqNo);
        }
        if next > known.next_inbound {
            self.counters.gap_fills += 1;
            known.next_inbound = next;
        }
        if message.keep_alive_interval_lapsed() == KeepAliveLapsed::LAPSED {
            let next = known.next_outbound;
            self.session.send_sequence(self.now, next, KeepAliveLapsed::NOT_LAPSED);
        }
    }

    fn handle_terminate(&mut self, header: &MessageHeader, body: &[u8]) {
        let mut scratch = Terminate507::SCRATCH;
        let Ok(message) = Terminate507::decode(header, body, &mut scratch) else {
            return self.undecodable();
        };
        if self.session.state == SessionState::Terminating {
            return self.session.close(self.now);
        }
        if message.uuid() != self.session.uuid {
            return self.fail(TerminateCode::InvalidUuid);
        }
        if message.error_codes() != TerminateCode::Finished.code() {
            return self.fail(TerminateCode::Other);
        }
        let timestamp = message.request_timestamp();
        self.session.send_terminate(self.now, timestamp, TerminateCode::Finished);
        self.session.enter(SessionState::Terminating, self.listener);
        self.session.close(self.now);
    }

    fn handle_retransmit_request(&mut self, header: &MessageHeader, body: &[u8]) {
        let mut scratch = RetransmitRequest508::SCRATCH;
        let Ok(message) = RetransmitRequest508::decode(header, body, &mut scratch) else {
            return self.undecodable();
        };
        if message.uuid() != self.session.uuid {
            return self.fail(TerminateCode::InvalidUuid);
        }
        self.counters.retransmit_rejects += 1;
        let (timestamp, last_uuid) = (message.request_timestamp(), message.last_uuid());
        self.session.send_retransmit_reject(self.now, timestamp, last_uuid);
    }

    /// A business message that the schema has and this gateway has not: it uses up its number.
    fn handle_unsupported(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
        offset: usize,
    ) {
        let message_type = MESSAGES
            .iter()
            .find(|message| message.template_id == header.template_id)
            .map_or("", |message| message.semantic_type);
        let number = body
            .get(..usize::from(header.block_length))
            .and_then(|block| block.get(offset..)?.first_chunk().copied())
            .map(u32::from_le_bytes);
        let Some(number) = number else {
            return self.reject_undecodable(account, message_type.as_bytes());
        };
        if !self.take_number(account, number) {
            return;
        }
        let refusal = Refusal {
            reason: BusinessReason::UnsupportedMessageType,
            tag: None,
            text: "Unsupported message type",
        };
        self.reject(account, &Request::default(), message_type.as_bytes(), number, refusal);
    }

    /// A session message that is none.
    fn undecodable(&mut self) {
        self.counters.undecodable += 1;
        self.fail(TerminateCode::DecodingError);
    }

    /// A business message too short to be read: it does not use up a number.
    fn reject_undecodable(&mut self, account: usize, message_type: &[u8]) {
        self.counters.undecodable += 1;
        let refusal = Refusal {
            reason: BusinessReason::CouldNotBeDecoded,
            tag: None,
            text: "Could not be decoded",
        };
        self.send_business_reject(account, &Request::default(), message_type, None, refusal);
        self.counters.business_rejects += 1;
        let Refusal { reason, tag, .. } = refusal;
        self.listener.on_rejected(Rejected::Business { cl_ord_id: &[], reason, tag });
    }
}
