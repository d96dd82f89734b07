//! The exchange: the real market and gateway on simulated sockets.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;

use hairpin_cme_codecs::ilink3::{
    Establish503, EstablishmentAck504, NegotiationResponse501, Sequence506,
};
use hairpin_exchange::{
    Action, Capacity, ConnectionId, Credentials, Designation, Gateway, GatewayCounters,
    GatewaySettings, Instrument, MAX_PAYLOAD, Market, NewOrder, Owner, Pace, PublisherSettings,
    SessionState, Side, SimulatedMarket, SimulatedMarketSettings, TimeInForce,
};
use hairpin_netsim::{Census, ConnectionState, End, Random, Reading, trace};
use hairpin_sbe::MessageHeader;
use hairpin_time::{Duration, Instant, Now};

use crate::client_stream::{Line, Shared};
use crate::frames::{BUSINESS, Frames, client_number, cut_in, message, template};
use crate::message_log::MessageLog;
use crate::plan::Plan;

/// The secret key of the trader.
pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The template id of Retransmission, which announces retransmitted messages.
const RETRANSMISSION: u16 = 509;
/// The maximum number of bytes per read from a connection.
const CHUNK: usize = 2_048;

/// Returns the address of a gateway.
pub(crate) fn address(of: Designation) -> SocketAddrV4 {
    let port = match of {
        Designation::Primary => 1,
        Designation::Backup => 2,
    };
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
}

/// The exchange and its connections.
pub(crate) struct Venue {
    pub(crate) market: SimulatedMarket,
    pub(crate) gateway: Gateway,
    pub(crate) message_log: Rc<RefCell<MessageLog>>,
    pub(crate) census: Census,
    /// The connection ends after this number of further bytes to the trader.
    pub(crate) cuts_after: Option<usize>,
    /// The number of completely sent Sequence messages of the primary.
    pub(crate) sequences: u64,
    random: Random,
    /// Retransmissions are delayed for long.
    delays_retransmissions: bool,
    peers: Vec<Peer>,
    packet: Box<[u8; MAX_PAYLOAD]>,
}

/// A connection at the exchange's end.
struct Peer {
    connection: Shared,
    /// The gateway that the trader connected to.
    at: Designation,
    /// The connection's id at the gateway, once established.
    id: Option<ConnectionId>,
    uuid: u64,
    received: Frames,
    /// The received frames that were not passed to the gateway yet.
    waiting: VecDeque<Vec<u8>>,
    /// The frame that was passed to the gateway and not handled yet.
    passed: Option<Vec<u8>>,
    sent: Frames,
}

impl Venue {
    pub(crate) fn new(plan: &mut Plan, message_log: Rc<RefCell<MessageLog>>, now: Now) -> Self {
        let capacity = Capacity { orders: 8_192, levels: 2_048 };
        let hour = Duration::from_secs(3_600);
        let publisher = PublisherSettings {
            loop_period: hour,
            heartbeat: hour,
            ..PublisherSettings::default()
        };
        let instruments = Instrument::numbered(2);
        let seed = plan.random.any();
        let settings = SimulatedMarketSettings {
            instruments,
            seed,
            capacity,
            publisher,
            ..SimulatedMarketSettings::default()
        };
        let account =
            Credentials::new("ACCESS", KEY, "ABC", "FIRM").expect("the values fit their fields");
        let gateway = GatewaySettings {
            cancels_on_disconnect: plan.cancels_on_disconnect,
            kept_messages: 8_192,
            faults: plan.faults,
            ..GatewaySettings::lenient(vec![account], 16, capacity.orders)
        };
        let mut market = SimulatedMarket::new(&settings, now);
        market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
        Self {
            gateway: Gateway::with_settings(gateway),
            market,
            message_log,
            census: Census::new(),
            cuts_after: None,
            sequences: 0,
            random: plan.random.split(),
            delays_retransmissions: plan.delays_retransmissions,
            peers: Vec::new(),
            packet: Box::new([0; MAX_PAYLOAD]),
        }
    }

    /// Adds a new connection of the trader.
    pub(crate) fn admit(&mut self, Line { connection, gateway, .. }: Line) {
        let is_backup = gateway == address(Designation::Backup);
        self.peers.push(Peer {
            connection,
            at: if is_backup { Designation::Backup } else { Designation::Primary },
            id: None,
            uuid: 0,
            received: Frames::default(),
            waiting: VecDeque::new(),
            passed: None,
            sent: Frames::default(),
        });
    }

    /// Fails the primary and drops all data in flight to and from it.
    ///
    /// Its connections close, unless they hang. Returns `true` if a session continues on the
    /// backup.
    pub(crate) fn fail_primary(&mut self, now: Now, hangs: bool) -> bool {
        let failed = self.gateway.primary();
        let before = self.gateway.counters().promotions;
        self.gateway.fail_primary(now, &mut ());
        for peer in self.peers.extract_if(.., |peer| peer.at == failed) {
            if !hangs {
                peer.connection.borrow_mut().reset();
            }
        }
        self.close(now);
        self.gateway.counters().promotions > before
    }

    /// Runs one step of the background flow.
    pub(crate) fn tick(&mut self, now: Now) {
        self.census.count("steps of the market");
        self.market.step(now);
        self.gateway.handle_fills(now, &mut self.market, &mut ());
        self.transmit(now);
    }

    /// Sells one contract `times` times to the best bid, which is the trader's if there is no
    /// other.
    pub(crate) fn trade(&mut self, now: Now, times: u32) {
        let time_in_force = TimeInForce::FillAndKill;
        let order = |price, quantity| {
            let order = NewOrder::limit(0, Side::Offer, price, quantity, Owner::BACKGROUND);
            NewOrder { time_in_force, ..order }
        };
        let is_traders = |market: &SimulatedMarket| {
            let best = market.matching().orders_at_best(0, Side::Bid).next();
            best.is_none_or(|order| order.owner == Owner(1))
        };
        while !is_traders(&self.market) {
            let best = self.market.matching().best(0, Side::Bid).expect("the book has a bid");
            let quantity = best.quantity.clamp(1, 10_000);
            self.market.submit(now, &order(best.price, quantity)).expect("the order trades");
            self.transmit(now);
        }
        for _ in 0..times {
            let Some(best) = self.market.matching().best(0, Side::Bid) else { return };
            self.market.submit(now, &order(best.price, 1)).expect("the order trades");
            self.gateway.handle_fills(now, &mut self.market, &mut ());
            self.transmit(now);
            self.census.count("trades while the trader was disconnected");
        }
    }

    /// Ends the trading day.
    pub(crate) fn end_day(&mut self, now: Now) {
        self.census.count("trading days ended");
        self.market.end_session(now);
        self.gateway.handle_fills(now, &mut self.market, &mut ());
        self.transmit(now);
    }

    /// Discards the market data that is due.
    fn transmit(&mut self, now: Now) {
        loop {
            while self.market.publisher_mut().poll_transmit(now, &mut *self.packet).is_some() {}
            if !self.market.is_deferred() {
                return;
            }
            self.market.publish(now);
        }
    }

    /// Terminates the trader's session at the exchange's end, if established.
    pub(crate) fn terminate(&mut self, now: Now) {
        let ids: Vec<_> = self.peers.iter().filter_map(|peer| peer.id).collect();
        for id in ids {
            if self.gateway.state(id) == SessionState::Established {
                self.gateway.terminate(now, id, &mut ());
            }
        }
    }

    /// Handles all due events of the connections and the gateway.
    pub(crate) fn handle_due_events(&mut self, now: Now) {
        for place in (0..self.peers.len()).rev() {
            self.register_peer(now, place);
            if self.peers[place].id.is_some() && !self.run_io(now, place) {
                let peer = self.peers.swap_remove(place);
                peer.connection.borrow_mut().shut(now.monotonic, End::Server);
            }
        }
        self.gateway.handle_fills(now, &mut self.market, &mut ());
        if self.gateway.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic) {
            self.gateway.handle_timeout(now, &mut ());
        }
        self.close(now);
        self.gateway.handle_fills(now, &mut self.market, &mut ());
        self.peers.retain(|peer| {
            let state = peer.connection.borrow().state(now.monotonic);
            peer.id.is_some()
                || matches!(state, ConnectionState::Connecting | ConnectionState::Open)
        });
        self.transmit(now);
    }

    /// Closes the connections that the gateway has closed.
    fn close(&mut self, now: Now) {
        while let Some(Action::Close(id)) = self.gateway.poll_action(&mut ()) {
            if let Some(place) = self.peers.iter().position(|peer| peer.id == Some(id)) {
                let peer = self.peers.swap_remove(place);
                peer.connection.borrow_mut().shut(now.monotonic, End::Server);
            }
        }
    }

    /// Registers an established connection at the gateway, or refuses it.
    fn register_peer(&mut self, now: Now, place: usize) {
        let peer = &mut self.peers[place];
        let is_open = peer.connection.borrow().state(now.monotonic) == ConnectionState::Open;
        if peer.id.is_none() && is_open {
            peer.id = self.gateway.handle_connected_at(now, peer.at, &mut ());
            if peer.id.is_none() {
                peer.connection.borrow_mut().reset();
            }
        }
    }

    /// Reads and writes one connection. Returns `true` if the connection is still open.
    fn run_io(&mut self, now: Now, place: usize) -> bool {
        let id = self.peers[place].id.expect("the connection is registered");
        let is_there = self.read(now, place);
        self.handle(now, place);
        let is_there = is_there && self.write(now, place);
        if !is_there {
            self.gateway.handle_closed(id, &mut ());
        }
        is_there
    }

    /// Reads received bytes. Returns `true` if the connection is still open.
    fn read(&mut self, now: Now, place: usize) -> bool {
        let Peer { connection, received, waiting, .. } = &mut self.peers[place];
        loop {
            let mut connection = connection.borrow_mut();
            let read = connection.read(now.monotonic, End::Server, CHUNK, |it| received.feed(it));
            match read {
                Ok(Reading::Bytes(_)) => {
                    waiting.extend(std::iter::from_fn(|| received.take()));
                }
                Ok(Reading::Nothing) => return true,
                Ok(Reading::End) | Err(_) => return false,
            }
        }
    }

    /// Passes the received frames to the gateway in order.
    fn handle(&mut self, now: Now, place: usize) {
        if self.peers[place].passed.is_some() || self.is_stalled(place) {
            self.pass_bytes(now, place, &[]);
        }
        while self.peers[place].passed.is_none() {
            let Some(frame) = self.peers[place].waiting.pop_front() else { return };
            // In two parts, because TCP may split a frame.
            let cut = self.random.below(frame.len() as u64) as usize;
            self.pass_bytes(now, place, &frame[..cut]);
            self.peers[place].passed = Some(frame.clone());
            self.pass_bytes(now, place, &frame[cut..]);
        }
    }

    fn is_stalled(&self, place: usize) -> bool {
        self.peers[place].id.is_some_and(|id| self.gateway.is_stalled(id))
    }

    /// Passes bytes to the gateway and records its decision on the frame that they complete.
    fn pass_bytes(&mut self, now: Now, place: usize, bytes: &[u8]) {
        let Self { gateway, market, peers, message_log, census, .. } = self;
        let peer = &mut peers[place];
        let id = peer.id.expect("the connection is registered");
        let before = *gateway.counters();
        gateway.handle_bytes(now, id, bytes, market, &mut ());
        let after = gateway.counters();
        let is_over = matches!(gateway.state(id), SessionState::Closed | SessionState::Terminating);
        if after.frames == before.frames {
            // No frame follows the end of a session.
            peer.passed = peer.passed.take().filter(|_| !is_over);
            return;
        }
        let Some(frame) = peer.passed.take() else { return };
        trace!(now, "exchange: takes {}", template(&frame));
        let taken = |of: &GatewayCounters| {
            of.orders + of.replaces + of.cancels + of.status_requests + of.mass_actions
        };
        let mut message_log = message_log.borrow_mut();
        if taken(after) > taken(&before) {
            message_log.accept(peer.uuid, &frame);
        } else if after.not_applied > before.not_applied && template(&frame) >= BUSINESS {
            message_log.declare(peer.uuid, client_number(&frame));
        } else if after.undecodable > before.undecodable {
            message_log.refuse(peer.uuid, &frame);
        } else if after.gap_fills > before.gap_fills {
            message_log.fill(peer.uuid, next_of_sequence(message(&frame)));
        } else if after.established > before.established {
            let (uuid, next) = establish_of(message(&frame));
            peer.uuid = uuid;
            if peer.at != gateway.primary() {
                return census.count("logons on the backup");
            }
            let had = after.not_applied > before.not_applied;
            if had {
                message_log.declare(uuid, next - 1);
            }
            census.count(if had {
                "logons with messages missing"
            } else {
                "logons without missing messages"
            });
        }
    }

    /// Writes the gateway's bytes. Returns `true` if the connection is still open.
    fn write(&mut self, now: Now, place: usize) -> bool {
        let Peer { connection, id: Some(id), .. } = &self.peers[place] else { return true };
        let Some(bytes) = self.gateway.poll_transmit(*id) else { return true };
        let wanted = self.cuts_after.map_or(bytes.len(), |left| left.min(bytes.len()));
        let written = connection.borrow_mut().write(now.monotonic, End::Server, &bytes[..wanted]);
        let Ok(count) = written else { return false };
        let bytes = bytes[..count].to_vec();
        self.gateway.handle_sent(*id, count);
        self.record_sent(now, place, &bytes);
        let Some(left) = &mut self.cuts_after else { return true };
        *left -= count;
        if *left > 0 {
            return true;
        }
        self.cuts_after = None;
        self.census.count(cut_in(self.peers[place].sent.partial_template()));
        self.census.count("cuts while the exchange sends");
        false
    }

    fn record_sent(&mut self, now: Now, place: usize, bytes: &[u8]) {
        let Peer { sent, connection, .. } = &mut self.peers[place];
        sent.feed(bytes);
        let mut message_log = self.message_log.borrow_mut();
        while let Some(frame) = sent.take() {
            trace!(now, "exchange: sends {}", template(&frame));
            if template(&frame) >= BUSINESS {
                message_log.send(&frame);
                continue;
            }
            if template(&frame) == RETRANSMISSION
                && self.delays_retransmissions
                && self.random.below(3) == 0
            {
                let (least, most) = (Duration::from_millis(450), Duration::from_millis(900));
                let length = self.random.span(least, most);
                connection.borrow_mut().stall(now.monotonic, End::Server, length);
                self.census.count("retransmissions delayed for long");
            }
            if let Some((uuid, last)) = previous_of_negotiation(message(&frame)) {
                message_log.send_previous(uuid, last);
            }
            let (delivered, is_sequence) = published(message(&frame));
            self.sequences += u64::from(is_sequence && delivered[0].is_some());
            delivered
                .into_iter()
                .flatten()
                .for_each(|(uuid, last)| message_log.publish(uuid, last));
        }
    }

    /// Returns `true` if no message of the trader is in flight or queued.
    pub(crate) fn is_idle(&self) -> bool {
        self.peers.iter().all(|peer| peer.waiting.is_empty() && peer.passed.is_none())
    }

    /// Returns `true` if there is no connection.
    pub(crate) fn is_closed(&self) -> bool {
        self.peers.is_empty()
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let peers = self.peers.iter().filter_map(|peer| {
            let connection = peer.connection.borrow();
            let has_bytes = peer.id.is_some_and(|id| self.gateway.poll_transmit(id).is_some());
            let is_urgent = has_bytes && connection.is_writable(now, End::Server);
            let arrival = connection.poll_timeout(now, End::Server);
            is_urgent.then_some(now).into_iter().chain(arrival).min()
        });
        self.gateway.poll_timeout().into_iter().chain(peers).min()
    }
}

/// Returns the previous UUID and its last number in a NegotiationResponse.
fn previous_of_negotiation(message: &[u8]) -> Option<(u64, u32)> {
    let (header, body) = MessageHeader::decode(message).expect("the gateway sends frames");
    let mut scratch = NegotiationResponse501::SCRATCH;
    (header.template_id == NegotiationResponse501::TEMPLATE_ID).then(|| {
        let it = NegotiationResponse501::decode(&header, body, &mut scratch)
            .expect("the message is a NegotiationResponse");
        (it.previous_uuid(), it.previous_seq_no())
    })
}

/// Returns the published numbers in a session message, and `true` if the message is a Sequence.
///
/// Each number is a UUID and the last number published under it. The backup's messages contain
/// none.
fn published(message: &[u8]) -> ([Option<(u64, u32)>; 2], bool) {
    let (header, body) = MessageHeader::decode(message).expect("the gateway sends frames");
    match header.template_id {
        EstablishmentAck504::TEMPLATE_ID => {
            let mut scratch = EstablishmentAck504::SCRATCH;
            let it = EstablishmentAck504::decode(&header, body, &mut scratch)
                .expect("the message is an Establish");
            let present = it.next_seq_no().checked_sub(1).map(|last| (it.uuid(), last));
            ([Some((it.previous_uuid(), it.previous_seq_no())), present], false)
        }
        Sequence506::TEMPLATE_ID => {
            let mut scratch = Sequence506::SCRATCH;
            let it = Sequence506::decode(&header, body, &mut scratch)
                .expect("the message is an Establish");
            ([it.next_seq_no().checked_sub(1).map(|last| (it.uuid(), last)), None], true)
        }
        _ => ([None, None], false),
    }
}

fn next_of_sequence(message: &[u8]) -> u32 {
    let (header, body) =
        MessageHeader::decode(message).expect("the frame was passed to the gateway");
    let mut scratch = Sequence506::SCRATCH;
    Sequence506::decode(&header, body, &mut scratch)
        .expect("the frame was passed to the gateway")
        .next_seq_no()
}

/// Returns the UUID and NextSeqNo of an Establish.
fn establish_of(message: &[u8]) -> (u64, u32) {
    let (header, body) =
        MessageHeader::decode(message).expect("the frame was passed to the gateway");
    let mut scratch = Establish503::SCRATCH;
    let establish = Establish503::decode(&header, body, &mut scratch)
        .expect("the frame was passed to the gateway");
    (establish.uuid(), establish.next_seq_no())
}
