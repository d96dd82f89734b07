//! A gateway with a market, whose output is fully checked.

use hairpin_cme_codecs::ilink3::{self, ExecutionReportNew522, Terminate507};
use hairpin_exchange::{
    Action, Capacity, ConnectionId, Credentials, Gateway, Instrument, MAX_PAYLOAD, SessionState,
    SimulatedMarket, SimulatedMarketSettings, TradingStatus,
};
use hairpin_sbe::{MessageHeader, Value, Visitor};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::client::{KEY, credentials};

/// The session of the second account.
pub(crate) const OTHER: (&str, &str) = ("OTHERKEY", "XYZ");
const CAPACITY: Capacity = Capacity { orders: 400, levels: 200 };

/// A gateway with its market, its clock, and the bytes its clients received.
pub(crate) struct CheckedGateway {
    pub(crate) gateway: Gateway,
    pub(crate) floor: SimulatedMarket,
    pub(crate) now: Now,
    clients: [Client; 2],
    /// The acknowledged orders.
    pub(crate) orders: Vec<u64>,
}

/// A connection from its client's point of view.
#[derive(Default)]
struct Client {
    received: Vec<u8>,
    has_terminated: bool,
    /// The highest number of a business message.
    seq_num: u32,
}

impl CheckedGateway {
    pub(crate) fn new() -> Self {
        let now = Now {
            monotonic: Instant::from_nanos(1_000_000_000),
            utc: Utc::from_nanos(1_700_000_000_000_000_000),
        };
        let other =
            Credentials::new(OTHER.0, KEY, OTHER.1, "DEFGH").expect("the settings are valid");
        let instruments = Instrument::numbered(2);
        let settings =
            SimulatedMarketSettings { instruments, capacity: CAPACITY, ..Default::default() };
        Self {
            gateway: Gateway::new(vec![credentials(), other], 2, CAPACITY.orders),
            floor: SimulatedMarket::new(&settings, now),
            now,
            clients: Default::default(),
            orders: Vec::new(),
        }
    }

    /// Connects a client, if the gateway has a free place.
    pub(crate) fn connect(&mut self) {
        if let Some(id) = self.gateway.handle_connected(self.now, &mut ()) {
            self.clients[id.0 as usize] = Client::default();
        }
        self.settle();
    }

    /// Closes a connection from the client's end.
    pub(crate) fn close(&mut self, id: ConnectionId) {
        self.gateway.handle_closed(id, &mut ());
        assert_eq!(self.gateway.state(id), SessionState::Closed);
        self.settle();
    }

    /// Passes bytes to the gateway, if it accepts them.
    pub(crate) fn bytes(&mut self, id: ConnectionId, bytes: &[u8]) {
        if self.gateway.can_receive(id) {
            self.gateway.handle_bytes(self.now, id, bytes, &mut self.floor, &mut ());
        }
        self.settle();
    }

    /// Advances the time and runs the timers.
    pub(crate) fn pass(&mut self, millis: u64) {
        let span = Duration::from_millis(millis) + Duration::from_micros(1);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        self.gateway.handle_timeout(self.now, &mut ());
        self.settle();
        let deadline = self.gateway.poll_timeout();
        let is_overdue = deadline.is_some_and(|deadline| deadline <= self.now.monotonic);
        assert!(!is_overdue, "a deadline has passed without effect");
    }

    /// Reads at most `most` bytes as the client and checks whole messages.
    pub(crate) fn read(&mut self, id: ConnectionId, most: usize) {
        let bytes = self.gateway.poll_transmit(id).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(most)];
        self.clients[id.0 as usize].receive(bytes, &mut self.orders);
        let count = bytes.len();
        self.gateway.handle_sent(id, count);
        if self.gateway.is_stalled(id) {
            self.gateway.handle_bytes(self.now, id, &[], &mut self.floor, &mut ());
        }
        self.settle();
    }

    /// Terminates a session as the exchange.
    pub(crate) fn terminate(&mut self, id: ConnectionId) {
        self.gateway.terminate(self.now, id, &mut ());
        self.settle();
    }

    /// Executes a market event.
    pub(crate) fn trade(&mut self, what: u8) {
        match what % 6 {
            0 => drop(self.floor.end_session(self.now)),
            1 => drop(self.floor.set_status(self.now, None, TradingStatus::TradingHalt)),
            2 | 3 => drop(self.floor.set_status(self.now, None, TradingStatus::ReadyToTrade)),
            _ => drop(self.floor.step(self.now)),
        }
        self.settle();
    }

    fn settle(&mut self) {
        let mut packet = [0; MAX_PAYLOAD];
        while self.floor.publisher().has_event() {
            let sent = self.floor.publisher_mut().poll_transmit(self.now, &mut packet);
            assert!(sent.is_some(), "an event is pending and not sent");
        }
        while let Some(Action::Close(id)) = self.gateway.poll_action(&mut ()) {
            assert_eq!(self.gateway.state(id), SessionState::Closed);
        }
        let counters = self.gateway.counters();
        let answers = counters.acknowledgements + counters.order_rejects;
        assert!(answers + counters.business_rejects >= counters.orders, "{counters:?}");
        let answers = counters.replaced + counters.replace_rejects + counters.cancelled;
        assert!(answers + counters.business_rejects >= counters.replaces, "{counters:?}");
        let answers = counters.cancelled + counters.cancel_rejects;
        assert!(answers + counters.business_rejects >= counters.cancels, "{counters:?}");
    }
}

impl Client {
    /// Checks that every message is complete and known, that none follows a Terminate, and that no
    /// number is skipped.
    fn receive(&mut self, bytes: &[u8], orders: &mut Vec<u64>) {
        self.received.extend_from_slice(bytes);
        while let Some((size, rest)) = self.received.split_first_chunk::<2>() {
            let size = usize::from(u16::from_le_bytes(*size));
            let Some(message) = rest.get(2..size - 2) else { return };
            assert!(!self.has_terminated, "a message after a Terminate");
            let (header, body) = MessageHeader::decode(message).expect("a frame has a header");
            assert_eq!(ilink3::visit(&header, body, &mut Unseen), Ok(size - 4));
            self.has_terminated = header.template_id == Terminate507::TEMPLATE_ID;
            // Session messages have no numbers; party details acknowledgments have them.
            if header.template_id > 513 {
                let (number, _) = body.split_first_chunk().expect("the input is complete");
                let number = u32::from_le_bytes(*number);
                // A lower number is a requested retransmission. The first number depends on earlier
                // messages.
                assert!(self.seq_num == 0 || number <= self.seq_num + 1, "{number} is too high");
                self.seq_num = self.seq_num.max(number);
            }
            if header.template_id == ExecutionReportNew522::TEMPLATE_ID {
                let mut scratch = ExecutionReportNew522::SCRATCH;
                let report = ExecutionReportNew522::decode(&header, body, &mut scratch);
                orders.extend(report.map(|report| report.order_id()));
            }
            self.received.drain(..size);
        }
    }
}

struct Unseen;

impl Visitor for Unseen {
    fn field(&mut self, _: &str, _: Value<'_>) {}
}
