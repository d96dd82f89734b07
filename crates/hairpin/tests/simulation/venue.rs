//! The simulated exchange: the real market and gateway on simulated sockets.

use hairpin_exchange::{
    Action, Capacity, ConnectionId, Credentials, EventPart, Feed, Gateway, Instrument, MAX_PAYLOAD,
    Matching, Pace, Publication, PublisherSettings, SessionState, SimulatedMarket,
    SimulatedMarketSettings,
};
use hairpin_netsim::{Census, ConnectionState, End, Group, Link, Random, Reading, ReceiverId};
use hairpin_time::{Duration, Instant, Now};

use crate::ledger::{Frames, Ledger, Register};
use crate::plan::{Plan, TRADERS, line};
use crate::truth::Truth;
use crate::wire::Shared;

/// The secret key of every trader.
pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The maximum number of bytes per read from a connection.
const CHUNK: usize = 2_048;

/// A receiver's membership of every group, by feed and line.
pub(crate) type Places = [[ReceiverId; 2]; 3];

/// The exchange, its multicast groups and its connections.
pub(crate) struct Venue {
    pub(crate) floor: SimulatedMarket,
    pub(crate) gateway: Gateway,
    pub(crate) truth: Truth,
    pub(crate) ledgers: [Ledger; TRADERS],
    pub(crate) groups: [[Group; 2]; 3],
    pub(crate) census: Census,
    /// By trader: `true` if the trader's bytes may be corrupt.
    lenient: [bool; TRADERS],
    visits: Vec<Visit>,
    packet: Box<[u8; MAX_PAYLOAD]>,
    chunk: Vec<u8>,
}

/// A connection at the exchange's end.
struct Visit {
    trader: usize,
    connection: Shared,
    /// The connection's id at the gateway, once established.
    id: Option<ConnectionId>,
    frames: Frames,
    /// The number of bytes of a partly written frame that are still to be written.
    frame_left: usize,
    /// The next business message to the trader is dropped.
    swallows: bool,
}

impl Venue {
    pub(crate) fn new(plan: &mut Plan, now: Now) -> Self {
        let capacity = Capacity { orders: 4_096, levels: 2_048 };
        let publisher = PublisherSettings {
            loop_period: plan.loop_period,
            heartbeat: plan.heartbeat,
            ..PublisherSettings::default()
        };
        let instruments = Instrument::numbered(plan.instruments);
        let seed = plan.random.any();
        let settings = SimulatedMarketSettings {
            instruments,
            seed,
            capacity,
            publisher,
            ..SimulatedMarketSettings::default()
        };
        let mut floor = SimulatedMarket::new(&settings, now);
        floor.publisher_mut().set_pace(Pace::Paced, now.monotonic);
        let accounts = (0..TRADERS).map(|trader| {
            let (key, session) = (format!("ACCESS-{trader}"), format!("TR{trader}"));
            Credentials::new(&key, KEY, &session, "FIRM").expect("the values fit their fields")
        });
        Self {
            gateway: Gateway::new(accounts.collect(), 6, capacity.orders),
            truth: Truth::new(&floor, plan.instruments),
            floor,
            ledgers: Default::default(),
            groups: Default::default(),
            census: Census::new(),
            lenient: plan.ordeals.map(|ordeal| ordeal.corrupts_orders()),
            visits: Vec::new(),
            packet: Box::new([0; MAX_PAYLOAD]),
            chunk: Vec::with_capacity(CHUNK),
        }
    }

    /// Adds a receiver to every group.
    pub(crate) fn places(&mut self, random: &mut Random) -> Places {
        let mut place = |feed: usize, side: usize| {
            let (faults, _) = line(side, Duration::ZERO, &[]);
            self.groups[feed][side].add(Link::new(random.split(), faults))
        };
        [0, 1, 2].map(|feed| [0, 1].map(|side| place(feed, side)))
    }

    /// Publishes the generator's next event.
    pub(crate) fn tick(&mut self, now: Now) {
        self.transmit(now);
        let (_, publication) = self.floor.step(now).expect("the market can always change");
        assert!(matches!(publication, Publication::Event(_)), "{publication:?}");
        assert_eq!(self.truth.record(&self.floor), 1, "a tick changes one book");
        self.census.count("ticks");
        self.transmit(now);
    }

    /// Sends every packet that is due.
    pub(crate) fn transmit(&mut self, now: Now) {
        let monotonic = now.monotonic;
        loop {
            while let Some(sent) = self.floor.publisher_mut().poll_transmit(now, &mut *self.packet)
            {
                if sent.feed == Feed::Incremental {
                    let ends = sent.event.filter(|event| event.ends);
                    self.truth.note_packet(sent.sequence, ends.map(|event| event.number));
                    self.count_packet(sent.event);
                }
                for side in &mut self.groups[sent.feed as usize] {
                    side.send(monotonic, &self.packet[..sent.length]);
                }
            }
            if !self.floor.is_deferred() || self.floor.publish(now) == Publication::Deferred {
                return;
            }
            self.truth.record(&self.floor);
        }
    }

    fn count_packet(&mut self, event: Option<EventPart>) {
        match event {
            None => self.census.count("heartbeats"),
            Some(event) if event.begins && event.ends => self.census.count("events in one packet"),
            Some(event) if event.ends => self.census.count("events in several packets"),
            Some(_) => {}
        }
    }

    /// Adds a new connection of a trader.
    pub(crate) fn admit(&mut self, trader: usize, connection: Shared) {
        let (id, frames, frame_left, swallows) = (None, Frames::default(), 0, false);
        self.visits.push(Visit { trader, connection, id, frames, frame_left, swallows });
    }

    /// Terminates a trader's session at the exchange's end. Returns `true` if the session was
    /// established.
    pub(crate) fn terminate(&mut self, now: Now, trader: usize) -> bool {
        let established = |visit: &&mut Visit| {
            let is_established = |id| self.gateway.state(id) == SessionState::Established;
            visit.trader == trader && visit.id.is_some_and(is_established)
        };
        let Some(visit) = self.visits.iter_mut().find(established) else { return false };
        let id = visit.id.expect("the session is established");
        let ledger = &mut self.ledgers[trader];
        let mut register = Register { ledger, frames: &mut visit.frames, is_lenient: false };
        self.gateway.terminate(now, id, &mut register);
        true
    }

    /// Handles all due events of the connections and the gateway.
    pub(crate) fn pump(&mut self, now: Now) {
        for place in (0..self.visits.len()).rev() {
            self.welcome(now, place);
            if self.visits[place].id.is_some() && !self.serve(now, place) {
                self.visits.swap_remove(place);
            }
        }
        if self.gateway.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic) {
            self.gateway.handle_timeout(now, &mut ());
        }
        while let Some(Action::Close(id)) = self.gateway.poll_action(&mut ()) {
            if let Some(place) = self.visits.iter().position(|visit| visit.id == Some(id)) {
                let visit = self.visits.swap_remove(place);
                visit.connection.borrow_mut().shut(now.monotonic, End::Server);
            }
        }
        self.visits.retain(|visit| {
            let state = visit.connection.borrow().state(now.monotonic);
            visit.id.is_some()
                || matches!(state, ConnectionState::Connecting | ConnectionState::Open)
        });
        self.transmit(now);
    }

    /// Registers an established connection at the gateway.
    fn welcome(&mut self, now: Now, place: usize) {
        let visit = &mut self.visits[place];
        let is_open = visit.connection.borrow().state(now.monotonic) == ConnectionState::Open;
        if visit.id.is_none() && is_open {
            visit.id = self.gateway.handle_connected(now, &mut ());
            assert!(visit.id.is_some(), "the gateway refused the connection");
        }
    }

    /// Reads and writes one connection. Returns `true` if the connection is still open.
    fn serve(&mut self, now: Now, place: usize) -> bool {
        let is_there = self.read(now, place) && self.write(now, place);
        let id = self.visits[place].id.expect("the connection is registered");
        if !is_there {
            self.gateway.handle_closed(id, &mut ());
        }
        is_there
    }

    fn read(&mut self, now: Now, place: usize) -> bool {
        let Self { floor, gateway, truth, ledgers, visits, chunk, lenient, census, .. } = self;
        let Visit { trader, connection, id: Some(id), frames, .. } = &mut visits[place] else {
            return true;
        };
        let (ledger, is_lenient) = (&mut ledgers[*trader], lenient[*trader]);
        let mut register = Register { ledger, frames, is_lenient };
        if gateway.is_stalled(*id) {
            gateway.handle_bytes(now, *id, &[], floor, &mut register);
            truth.record(floor);
        }
        while gateway.can_receive(*id) {
            chunk.clear();
            let read = connection.borrow_mut().read(now.monotonic, End::Server, CHUNK, |bytes| {
                chunk.extend_from_slice(bytes);
            });
            match read {
                Ok(Reading::Bytes(_)) => {
                    register.frames.feed(chunk);
                    gateway.handle_bytes(now, *id, chunk, floor, &mut register);
                    census.add("books changed by traders' orders", truth.record(floor) as u64);
                }
                Ok(Reading::Nothing) => return true,
                Ok(Reading::End) | Err(_) => return false,
            }
        }
        true
    }

    fn write(&mut self, now: Now, place: usize) -> bool {
        self.swallow(place);
        let Visit { connection, id: Some(id), frame_left, .. } = &mut self.visits[place] else {
            return true;
        };
        let Some(bytes) = self.gateway.poll_transmit(*id) else { return true };
        match connection.borrow_mut().write(now.monotonic, End::Server, bytes) {
            Ok(count) => {
                let mut written = &bytes[..count];
                while !written.is_empty() {
                    if *frame_left == 0 {
                        *frame_left = frame_length(bytes, count - written.len());
                    }
                    let part = written.len().min(*frame_left);
                    *frame_left -= part;
                    written = &written[part..];
                }
                self.gateway.handle_sent(*id, count);
            }
            Err(_) => return false,
        }
        true
    }

    /// Drops the next report to a trader.
    pub(crate) fn swallow_next(&mut self, trader: usize) {
        self.visits.iter_mut().filter(|v| v.trader == trader).for_each(|v| v.swallows = true);
    }

    /// Drops one whole business message from the outgoing bytes.
    fn swallow(&mut self, place: usize) {
        const FIRST_BUSINESS: u16 = 514;
        let visit = &mut self.visits[place];
        let Some(id) = visit.id.filter(|_| visit.swallows && visit.frame_left == 0) else { return };
        let Some(bytes) = self.gateway.poll_transmit(id) else { return };
        let template = bytes.get(6..8).map_or(0, |t| u16::from_le_bytes([t[0], t[1]]));
        if template < FIRST_BUSINESS {
            return;
        }
        let length = frame_length(bytes, 0);
        visit.swallows = false;
        self.ledgers[visit.trader].break_run(visit.frames.uuid(), "a report was dropped");
        self.census.count("reports dropped");
        self.gateway.handle_sent(id, length);
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let visits = self.visits.iter().filter_map(|visit| {
            let takes = visit.id.is_none_or(|id| self.gateway.can_receive(id));
            takes.then(|| visit.connection.borrow().poll_timeout(now, End::Server)).flatten()
        });
        let own = [self.floor.publisher().poll_timeout(), self.gateway.poll_timeout()];
        own.into_iter().flatten().chain(visits).min()
    }

    /// Returns the market's order books.
    pub(crate) fn matching(&self) -> &Matching {
        self.floor.matching()
    }
}

/// Returns the length of the frame that begins at `start`.
fn frame_length(bytes: &[u8], start: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[start], bytes[start + 1]]))
}
