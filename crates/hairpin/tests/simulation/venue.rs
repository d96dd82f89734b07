//! The simulated exchange: the real market and gateway on simulated sockets.

use hairpin_exchange::{
    Action, Capacity, ConnectionId, Credentials, EventPart, Feed, Gateway, Instrument, MAX_PAYLOAD,
    Matching, Pace, Publication, PublisherSettings, SessionState, SimulatedMarket,
    SimulatedMarketSettings,
};
use hairpin_netsim::{Census, ConnectionState, End, Group, Link, Random, Reading, ReceiverId};
use hairpin_time::{Duration, Instant, Now};

use crate::client_stream::Shared;
use crate::expected_state::ExpectedState;
use crate::message_log::{Frames, GatewayRecorder, MessageLog};
use crate::plan::{Plan, TRADERS, line};

/// The secret key of every trader.
pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The maximum number of bytes per read from a connection.
const CHUNK: usize = 2_048;

/// A receiver's membership of every group, by feed and line.
pub(crate) type Memberships = [[ReceiverId; 2]; 3];

/// The exchange, its multicast groups and its connections.
pub(crate) struct Venue {
    pub(crate) market: SimulatedMarket,
    pub(crate) gateway: Gateway,
    pub(crate) expected_state: ExpectedState,
    pub(crate) message_logs: [MessageLog; TRADERS],
    pub(crate) groups: [[Group; 2]; 3],
    pub(crate) census: Census,
    /// The traders whose bytes may be corrupt.
    lenient: [bool; TRADERS],
    peers: Vec<Peer>,
    packet: Box<[u8; MAX_PAYLOAD]>,
    chunk: Vec<u8>,
}

/// A connection at the exchange's end.
struct Peer {
    trader: usize,
    connection: Shared,
    /// The connection's id at the gateway, once established.
    id: Option<ConnectionId>,
    frames: Frames,
    /// The number of bytes of a partly written frame that are still to be written.
    frame_left: usize,
    /// The next business message to the trader is dropped.
    drops_next_report: bool,
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
        let mut market = SimulatedMarket::new(&settings, now);
        market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
        let accounts = (0..TRADERS).map(|trader| {
            let (key, session) = (format!("ACCESS-{trader}"), format!("TR{trader}"));
            Credentials::new(&key, KEY, &session, "FIRM").expect("the values fit their fields")
        });
        Self {
            gateway: Gateway::new(accounts.collect(), 6, capacity.orders),
            expected_state: ExpectedState::new(&market, plan.instruments),
            market,
            message_logs: Default::default(),
            groups: Default::default(),
            census: Census::new(),
            lenient: plan.scenarios.map(|scenario| scenario.corrupts_orders()),
            peers: Vec::new(),
            packet: Box::new([0; MAX_PAYLOAD]),
            chunk: Vec::with_capacity(CHUNK),
        }
    }

    /// Adds a receiver to every group.
    pub(crate) fn memberships(&mut self, random: &mut Random) -> Memberships {
        let mut place = |feed: usize, feed_line: usize| {
            let (faults, _) = line(feed_line, Duration::ZERO, &[]);
            self.groups[feed][feed_line].add(Link::new(random.split(), faults))
        };
        [0, 1, 2].map(|feed| [0, 1].map(|feed_line| place(feed, feed_line)))
    }

    /// Publishes the generator's next event.
    pub(crate) fn tick(&mut self, now: Now) {
        self.transmit(now);
        let (_, publication) = self.market.step(now).expect("the market can always change");
        assert!(matches!(publication, Publication::Event(_)), "{publication:?}");
        assert_eq!(self.expected_state.record(&self.market), 1, "a tick changes one book");
        self.census.count("ticks");
        self.transmit(now);
    }

    /// Sends every packet that is due.
    pub(crate) fn transmit(&mut self, now: Now) {
        let monotonic = now.monotonic;
        loop {
            while let Some(sent) = self.market.publisher_mut().poll_transmit(now, &mut *self.packet)
            {
                if sent.feed == Feed::Incremental {
                    let ends = sent.event.filter(|event| event.ends);
                    self.expected_state
                        .record_packet(sent.sequence, ends.map(|event| event.number));
                    self.count_packet(sent.event);
                }
                for feed_line in &mut self.groups[sent.feed as usize] {
                    feed_line.send(monotonic, &self.packet[..sent.length]);
                }
            }
            if !self.market.is_deferred() || self.market.publish(now) == Publication::Deferred {
                return;
            }
            self.expected_state.record(&self.market);
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
        let (id, frames, frame_left, drops_next_report) = (None, Frames::default(), 0, false);
        self.peers.push(Peer { trader, connection, id, frames, frame_left, drops_next_report });
    }

    /// Terminates a trader's session at the exchange's end. Returns `true` if the session was
    /// established.
    pub(crate) fn terminate(&mut self, now: Now, trader: usize) -> bool {
        let established = |peer: &&mut Peer| {
            let is_established = |id| self.gateway.state(id) == SessionState::Established;
            peer.trader == trader && peer.id.is_some_and(is_established)
        };
        let Some(peer) = self.peers.iter_mut().find(established) else { return false };
        let id = peer.id.expect("the session is established");
        let message_log = &mut self.message_logs[trader];
        let mut recorder =
            GatewayRecorder { message_log, frames: &mut peer.frames, is_lenient: false };
        self.gateway.terminate(now, id, &mut recorder);
        true
    }

    /// Handles all due events of the connections and the gateway.
    pub(crate) fn handle_due_events(&mut self, now: Now) {
        for place in (0..self.peers.len()).rev() {
            self.register_peer(now, place);
            if self.peers[place].id.is_some() && !self.run_io(now, place) {
                self.peers.swap_remove(place);
            }
        }
        if self.gateway.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic) {
            self.gateway.handle_timeout(now, &mut ());
        }
        while let Some(Action::Close(id)) = self.gateway.poll_action(&mut ()) {
            if let Some(place) = self.peers.iter().position(|peer| peer.id == Some(id)) {
                let peer = self.peers.swap_remove(place);
                peer.connection.borrow_mut().shut(now.monotonic, End::Server);
            }
        }
        self.peers.retain(|peer| {
            let state = peer.connection.borrow().state(now.monotonic);
            peer.id.is_some()
                || matches!(state, ConnectionState::Connecting | ConnectionState::Open)
        });
        self.transmit(now);
    }

    /// Registers an established connection at the gateway.
    fn register_peer(&mut self, now: Now, place: usize) {
        let peer = &mut self.peers[place];
        let is_open = peer.connection.borrow().state(now.monotonic) == ConnectionState::Open;
        if peer.id.is_none() && is_open {
            peer.id = self.gateway.handle_connected(now, &mut ());
            assert!(peer.id.is_some(), "the gateway refused the connection");
        }
    }

    /// Reads and writes one connection. Returns `true` if the connection is still open.
    fn run_io(&mut self, now: Now, place: usize) -> bool {
        let is_there = self.read(now, place) && self.write(now, place);
        let id = self.peers[place].id.expect("the connection is registered");
        if !is_there {
            self.gateway.handle_closed(id, &mut ());
        }
        is_there
    }

    fn read(&mut self, now: Now, place: usize) -> bool {
        let Self {
            market,
            gateway,
            expected_state,
            message_logs,
            peers,
            chunk,
            lenient,
            census,
            ..
        } = self;
        let Peer { trader, connection, id: Some(id), frames, .. } = &mut peers[place] else {
            return true;
        };
        let (message_log, is_lenient) = (&mut message_logs[*trader], lenient[*trader]);
        let mut recorder = GatewayRecorder { message_log, frames, is_lenient };
        if gateway.is_stalled(*id) {
            gateway.handle_bytes(now, *id, &[], market, &mut recorder);
            expected_state.record(market);
        }
        while gateway.can_receive(*id) {
            chunk.clear();
            let read = connection.borrow_mut().read(now.monotonic, End::Server, CHUNK, |bytes| {
                chunk.extend_from_slice(bytes);
            });
            match read {
                Ok(Reading::Bytes(_)) => {
                    recorder.frames.feed(chunk);
                    gateway.handle_bytes(now, *id, chunk, market, &mut recorder);
                    census.add(
                        "books changed by traders' orders",
                        expected_state.record(market) as u64,
                    );
                }
                Ok(Reading::Nothing) => return true,
                Ok(Reading::End) | Err(_) => return false,
            }
        }
        true
    }

    fn write(&mut self, now: Now, place: usize) -> bool {
        self.drop_report(place);
        let Peer { connection, id: Some(id), frame_left, .. } = &mut self.peers[place] else {
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
    pub(crate) fn drop_next_report(&mut self, trader: usize) {
        self.peers
            .iter_mut()
            .filter(|v| v.trader == trader)
            .for_each(|v| v.drops_next_report = true);
    }

    /// Drops one whole business message from the outgoing bytes.
    fn drop_report(&mut self, place: usize) {
        const FIRST_BUSINESS: u16 = 514;
        let peer = &mut self.peers[place];
        let Some(id) = peer.id.filter(|_| peer.drops_next_report && peer.frame_left == 0) else {
            return;
        };
        let Some(bytes) = self.gateway.poll_transmit(id) else { return };
        let template = bytes.get(6..8).map_or(0, |t| u16::from_le_bytes([t[0], t[1]]));
        if template < FIRST_BUSINESS {
            return;
        }
        let length = frame_length(bytes, 0);
        peer.drops_next_report = false;
        self.message_logs[peer.trader].allow_loss(peer.frames.uuid(), "a report was dropped");
        self.census.count("reports dropped");
        self.gateway.handle_sent(id, length);
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let peers = self.peers.iter().filter_map(|peer| {
            let takes = peer.id.is_none_or(|id| self.gateway.can_receive(id));
            takes.then(|| peer.connection.borrow().poll_timeout(now, End::Server)).flatten()
        });
        let own = [self.market.publisher().poll_timeout(), self.gateway.poll_timeout()];
        own.into_iter().flatten().chain(peers).min()
    }

    /// Returns the market's order books.
    pub(crate) fn matching(&self) -> &Matching {
        self.market.matching()
    }
}

/// Returns the length of the frame that begins at `start`.
fn frame_length(bytes: &[u8], start: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[start], bytes[start + 1]]))
}
