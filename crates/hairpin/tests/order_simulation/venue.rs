//! The exchange: the real floor and gateway, netsim for its sockets.

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
use hairpin_netsim::{Census, ConnectionState, End, Random, Reading};
use hairpin_sbe::MessageHeader;
use hairpin_time::{Duration, Instant, Now};

use crate::frames::{BUSINESS, Frames, client_number, cut_in, message, template};
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::trace::trace;
use crate::wire::{Line, Shared};

/// The secret key of the trader.
pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The template that announces what is sent again.
const RETRANSMISSION: u16 = 509;
/// Bytes read from a connection at once.
const CHUNK: usize = 2_048;

/// Where a gateway is.
pub(crate) fn address(of: Designation) -> SocketAddrV4 {
    let port = match of {
        Designation::Primary => 1,
        Designation::Backup => 2,
    };
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
}

/// Exchange and connections.
pub(crate) struct Venue {
    pub(crate) floor: SimulatedMarket,
    pub(crate) gateway: Gateway,
    pub(crate) ledger: Rc<RefCell<Ledger>>,
    pub(crate) census: Census,
    /// The connection ends when so many bytes more have left.
    pub(crate) cuts_after: Option<usize>,
    /// Sequences of the primary that have left wholly.
    pub(crate) sequences: u64,
    random: Random,
    /// What is sent again is under way for long.
    dawdles: bool,
    visits: Vec<Visit>,
    packet: Box<[u8; MAX_PAYLOAD]>,
}

/// A connection as the exchange sees it.
struct Visit {
    connection: Shared,
    /// The gateway it was made to.
    at: Designation,
    /// Its place at the gateway, once it is established.
    id: Option<ConnectionId>,
    uuid: u64,
    received: Frames,
    /// Frames that have arrived and the gateway has not been given.
    waiting: VecDeque<Vec<u8>>,
    /// The frame that it has been given and has not looked at.
    given: Option<Vec<u8>>,
    sent: Frames,
}

impl Venue {
    pub(crate) fn new(plan: &mut Plan, ledger: Rc<RefCell<Ledger>>, now: Now) -> Self {
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
        let account = Credentials::new("ACCESS", KEY, "ABC", "FIRM").expect("they fit");
        let gateway = GatewaySettings {
            cancels_on_disconnect: plan.cancels_on_disconnect,
            kept_messages: 8_192,
            faults: plan.faults,
            ..GatewaySettings::lenient(vec![account], 16, capacity.orders)
        };
        let mut floor = SimulatedMarket::new(&settings, now);
        floor.publisher_mut().set_pace(Pace::Paced, now.monotonic);
        Self {
            gateway: Gateway::with_settings(gateway),
            floor,
            ledger,
            census: Census::new(),
            cuts_after: None,
            sequences: 0,
            random: plan.random.split(),
            dawdles: plan.dawdles,
            visits: Vec::new(),
            packet: Box::new([0; MAX_PAYLOAD]),
        }
    }

    /// The trader has dialled.
    pub(crate) fn admit(&mut self, Line { connection, gateway, .. }: Line) {
        let is_backup = gateway == address(Designation::Backup);
        self.visits.push(Visit {
            connection,
            at: if is_backup { Designation::Backup } else { Designation::Primary },
            id: None,
            uuid: 0,
            received: Frames::default(),
            waiting: VecDeque::new(),
            given: None,
            sent: Frames::default(),
        });
    }

    /// The primary fails with all that is on its way to it and from it. Its connections end then,
    /// unless they are to hang. Whether a session goes on over the backup.
    pub(crate) fn fail_primary(&mut self, now: Now, hangs: bool) -> bool {
        let failed = self.gateway.primary();
        let before = self.gateway.counters().promotions;
        self.gateway.fail_primary(now, &mut ());
        for visit in self.visits.extract_if(.., |visit| visit.at == failed) {
            if !hangs {
                visit.connection.borrow_mut().reset();
            }
        }
        self.close(now);
        self.gateway.counters().promotions > before
    }

    /// A step of the others' orders.
    pub(crate) fn tick(&mut self, now: Now) {
        self.census.count("steps of the market");
        self.floor.step(now);
        self.gateway.handle_fills(now, &mut self.floor, &mut ());
        self.transmit(now);
    }

    /// Sells one contract so many times to the best bid, which is the trader's when all others
    /// are gone.
    pub(crate) fn trade(&mut self, now: Now, times: u32) {
        let time_in_force = TimeInForce::FillAndKill;
        let order = |price, quantity| {
            let order = NewOrder::limit(0, Side::Offer, price, quantity, Owner::BACKGROUND);
            NewOrder { time_in_force, ..order }
        };
        let is_traders = |floor: &SimulatedMarket| {
            let best = floor.matching().orders_at_best(0, Side::Bid).next();
            best.is_none_or(|order| order.owner == Owner(1))
        };
        while !is_traders(&self.floor) {
            let best = self.floor.matching().best(0, Side::Bid).expect("somebody bids");
            let quantity = best.quantity.clamp(1, 10_000);
            self.floor.submit(now, &order(best.price, quantity)).expect("it trades");
            self.transmit(now);
        }
        for _ in 0..times {
            let Some(best) = self.floor.matching().best(0, Side::Bid) else { return };
            self.floor.submit(now, &order(best.price, 1)).expect("it trades");
            self.gateway.handle_fills(now, &mut self.floor, &mut ());
            self.transmit(now);
            self.census.count("trades while the trader was away");
        }
    }

    /// The trading day ends.
    pub(crate) fn end_day(&mut self, now: Now) {
        self.census.count("trading days ended");
        self.floor.end_session(now);
        self.gateway.handle_fills(now, &mut self.floor, &mut ());
        self.transmit(now);
    }

    /// Market data leaves, and nobody hears it.
    fn transmit(&mut self, now: Now) {
        loop {
            while self.floor.publisher_mut().poll_transmit(now, &mut *self.packet).is_some() {}
            if !self.floor.is_deferred() {
                return;
            }
            self.floor.publish(now);
        }
    }

    /// Ends the trader's session from this side, if it is established.
    pub(crate) fn terminate(&mut self, now: Now) {
        let ids: Vec<_> = self.visits.iter().filter_map(|visit| visit.id).collect();
        for id in ids {
            if self.gateway.state(id) == SessionState::Established {
                self.gateway.terminate(now, id, &mut ());
            }
        }
    }

    /// Does all that is to do at the connections and the gateway now.
    pub(crate) fn pump(&mut self, now: Now) {
        for place in (0..self.visits.len()).rev() {
            self.welcome(now, place);
            if self.visits[place].id.is_some() && !self.serve(now, place) {
                let visit = self.visits.swap_remove(place);
                visit.connection.borrow_mut().shut(now.monotonic, End::Server);
            }
        }
        self.gateway.handle_fills(now, &mut self.floor, &mut ());
        if self.gateway.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic) {
            self.gateway.handle_timeout(now, &mut ());
        }
        self.close(now);
        self.gateway.handle_fills(now, &mut self.floor, &mut ());
        self.visits.retain(|visit| {
            let state = visit.connection.borrow().state(now.monotonic);
            visit.id.is_some()
                || matches!(state, ConnectionState::Connecting | ConnectionState::Open)
        });
        self.transmit(now);
    }

    /// Closes what the gateway is done with.
    fn close(&mut self, now: Now) {
        while let Some(Action::Close(id)) = self.gateway.poll_action(&mut ()) {
            if let Some(place) = self.visits.iter().position(|visit| visit.id == Some(id)) {
                let visit = self.visits.swap_remove(place);
                visit.connection.borrow_mut().shut(now.monotonic, End::Server);
            }
        }
    }

    /// Gives a connection that is established a place at the gateway, or refuses it.
    fn welcome(&mut self, now: Now, place: usize) {
        let visit = &mut self.visits[place];
        let is_open = visit.connection.borrow().state(now.monotonic) == ConnectionState::Open;
        if visit.id.is_none() && is_open {
            visit.id = self.gateway.handle_connected_at(now, visit.at, &mut ());
            if visit.id.is_none() {
                visit.connection.borrow_mut().reset();
            }
        }
    }

    /// Reads and writes one connection; whether it is still there.
    fn serve(&mut self, now: Now, place: usize) -> bool {
        let id = self.visits[place].id.expect("it is welcome");
        let is_there = self.read(now, place);
        self.handle(now, place);
        let is_there = is_there && self.write(now, place);
        if !is_there {
            self.gateway.handle_closed(id, &mut ());
        }
        is_there
    }

    /// Takes what has arrived; whether the connection is still there.
    fn read(&mut self, now: Now, place: usize) -> bool {
        let Visit { connection, received, waiting, .. } = &mut self.visits[place];
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

    /// Has the gateway look at frames, one after the other.
    fn handle(&mut self, now: Now, place: usize) {
        if self.visits[place].given.is_some() || self.is_stalled(place) {
            self.give(now, place, &[]);
        }
        while self.visits[place].given.is_none() {
            let Some(frame) = self.visits[place].waiting.pop_front() else { return };
            // In two pieces, as it may come.
            let cut = self.random.below(frame.len() as u64) as usize;
            self.give(now, place, &frame[..cut]);
            self.visits[place].given = Some(frame.clone());
            self.give(now, place, &frame[cut..]);
        }
    }

    fn is_stalled(&self, place: usize) -> bool {
        self.visits[place].id.is_some_and(|id| self.gateway.is_stalled(id))
    }

    /// Gives the gateway bytes, and notes what has become of the frame they end.
    fn give(&mut self, now: Now, place: usize, bytes: &[u8]) {
        let Self { gateway, floor, visits, ledger, census, .. } = self;
        let visit = &mut visits[place];
        let id = visit.id.expect("it is welcome");
        let before = *gateway.counters();
        gateway.handle_bytes(now, id, bytes, floor, &mut ());
        let after = gateway.counters();
        let is_over = matches!(gateway.state(id), SessionState::Closed | SessionState::Terminating);
        if after.frames == before.frames {
            // What ends a session is not followed by anything.
            visit.given = visit.given.take().filter(|_| !is_over);
            return;
        }
        let Some(frame) = visit.given.take() else { return };
        trace!(now, "exchange: takes {}", template(&frame));
        let taken = |of: &GatewayCounters| {
            of.orders + of.replaces + of.cancels + of.status_requests + of.mass_actions
        };
        let mut ledger = ledger.borrow_mut();
        if taken(after) > taken(&before) {
            ledger.accept(visit.uuid, &frame);
        } else if after.not_applied > before.not_applied && template(&frame) >= BUSINESS {
            ledger.declare(visit.uuid, client_number(&frame));
        } else if after.undecodable > before.undecodable {
            ledger.refuse(visit.uuid, &frame);
        } else if after.gap_fills > before.gap_fills {
            ledger.fill(visit.uuid, next_of_sequence(message(&frame)));
        } else if after.established > before.established {
            let (uuid, next) = establish_of(message(&frame));
            visit.uuid = uuid;
            if visit.at != gateway.primary() {
                return census.count("logons on the backup");
            }
            let had = after.not_applied > before.not_applied;
            if had {
                ledger.declare(uuid, next - 1);
            }
            census.count(if had {
                "logons with messages missing"
            } else {
                "logons with all there"
            });
        }
    }

    /// Writes what the gateway has; whether the connection is still there.
    fn write(&mut self, now: Now, place: usize) -> bool {
        let Visit { connection, id: Some(id), .. } = &self.visits[place] else { return true };
        let Some(bytes) = self.gateway.poll_transmit(*id) else { return true };
        let wanted = self.cuts_after.map_or(bytes.len(), |left| left.min(bytes.len()));
        let written = connection.borrow_mut().write(now.monotonic, End::Server, &bytes[..wanted]);
        let Ok(count) = written else { return false };
        let bytes = bytes[..count].to_vec();
        self.gateway.handle_sent(*id, count);
        self.note_sent(now, place, &bytes);
        let Some(left) = &mut self.cuts_after else { return true };
        *left -= count;
        if *left > 0 {
            return true;
        }
        self.cuts_after = None;
        self.census.count(cut_in(self.visits[place].sent.begun()));
        self.census.count("cuts while the exchange sends");
        false
    }

    fn note_sent(&mut self, now: Now, place: usize, bytes: &[u8]) {
        let Visit { sent, connection, .. } = &mut self.visits[place];
        sent.feed(bytes);
        let mut ledger = self.ledger.borrow_mut();
        while let Some(frame) = sent.take() {
            trace!(now, "exchange: sends {}", template(&frame));
            if template(&frame) >= BUSINESS {
                ledger.send(&frame);
                continue;
            }
            if template(&frame) == RETRANSMISSION && self.dawdles && self.random.below(3) == 0 {
                let (least, most) = (Duration::from_millis(450), Duration::from_millis(900));
                let length = self.random.span(least, most);
                connection.borrow_mut().stall(now.monotonic, End::Server, length);
                self.census.count("retransmissions under way for long");
            }
            let (told, is_sequence) = published(message(&frame));
            self.sequences += u64::from(is_sequence && told[0].is_some());
            told.into_iter().flatten().for_each(|(uuid, last)| ledger.publish(uuid, last));
        }
    }

    /// Whether nothing of the trader's is under way or waits here.
    pub(crate) fn is_idle(&self) -> bool {
        self.visits.iter().all(|visit| visit.waiting.is_empty() && visit.given.is_none())
    }

    /// Whether there is no connection.
    pub(crate) fn is_closed(&self) -> bool {
        self.visits.is_empty()
    }

    /// When there is something to do next.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let visits = self.visits.iter().filter_map(|visit| {
            let connection = visit.connection.borrow();
            let has_bytes = visit.id.is_some_and(|id| self.gateway.poll_transmit(id).is_some());
            let is_urgent = has_bytes && connection.is_writable(now, End::Server);
            let arrival = connection.poll_timeout(now, End::Server);
            is_urgent.then_some(now).into_iter().chain(arrival).min()
        });
        self.gateway.poll_timeout().into_iter().chain(visits).min()
    }
}

/// What a session message says to be published: UUID and last number, of which a backup says
/// nothing; and whether it is a Sequence.
fn published(message: &[u8]) -> ([Option<(u64, u32)>; 2], bool) {
    let (header, body) = MessageHeader::decode(message).expect("the gateway sends frames");
    match header.template_id {
        NegotiationResponse501::TEMPLATE_ID => {
            let mut scratch = NegotiationResponse501::SCRATCH;
            let it =
                NegotiationResponse501::decode(&header, body, &mut scratch).expect("it is one");
            ([Some((it.previous_uuid(), it.previous_seq_no())), None], false)
        }
        EstablishmentAck504::TEMPLATE_ID => {
            let mut scratch = EstablishmentAck504::SCRATCH;
            let it = EstablishmentAck504::decode(&header, body, &mut scratch).expect("it is one");
            let present = it.next_seq_no().checked_sub(1).map(|last| (it.uuid(), last));
            ([Some((it.previous_uuid(), it.previous_seq_no())), present], false)
        }
        Sequence506::TEMPLATE_ID => {
            let mut scratch = Sequence506::SCRATCH;
            let it = Sequence506::decode(&header, body, &mut scratch).expect("it is one");
            ([it.next_seq_no().checked_sub(1).map(|last| (it.uuid(), last)), None], true)
        }
        _ => ([None, None], false),
    }
}

fn next_of_sequence(message: &[u8]) -> u32 {
    let (header, body) = MessageHeader::decode(message).expect("it was taken");
    let mut scratch = Sequence506::SCRATCH;
    Sequence506::decode(&header, body, &mut scratch).expect("it was taken").next_seq_no()
}

/// UUID and NextSeqNo.
fn establish_of(message: &[u8]) -> (u64, u32) {
    let (header, body) = MessageHeader::decode(message).expect("it was taken");
    let mut scratch = Establish503::SCRATCH;
    let establish = Establish503::decode(&header, body, &mut scratch).expect("it was taken");
    (establish.uuid(), establish.next_seq_no())
}
