//! What the exchange of a benchmark records: ticks as they leave, orders as they come.

use hairpin_exchange::{
    ConnectionId, EventPacket, Listener, OrderId, Rejected, SessionState, Tick as MatchedTick,
};
use hairpin_host::Clock;
use hairpin_measure::{Recorder, Row};
use hairpin_time::{Duration, Instant};

use super::trader_stats::Desk;
use super::outstanding_ticks::Tick;
use crate::harness::t2t_setup::{self, ExchangeSetup, Load};

/// From a logon to the first tick that the trader must answer: long enough for it to learn that it
/// is logged on, which under wait block it does only at its next wake.
const ANSWERS_AFTER: Duration = Duration::from_millis(100);
/// From the last logon that a round needs to its first tick.
pub(super) const LEAD: Duration = Duration::from_millis(200);
/// Packets of all traders' ticks that may wait at once.
const WAITING_MAX: usize = 1 << 20;
/// Packets a tick may take, and room for as many seconds of stall.
const PACKETS_PER_TICK: u64 = 8;

/// Reads the clock where the exchange's listener lets it, and keeps what that gives.
pub(super) struct Recording {
    pub(super) clock: Clock,
    desks: Box<[Desk]>,
    warm_up: u64,
    /// Number of the last tick before this round.
    before_round: u64,
    current: Current,
    received: Instant,
    lateness: Recorder,
    ticks: u64,
    rounds: u64,
}

/// The tick whose packets are leaving.
#[derive(Clone, Copy)]
struct Current {
    intended: Instant,
    sent: Instant,
}

impl Recording {
    /// A recording of rounds of `load` with up to `traders` traders.
    pub(super) fn new(clock: Clock, load: &Load, traders: u32) -> Self {
        let samples = usize::try_from(load.samples).unwrap_or(usize::MAX);
        let waiting = waiting_max(load.interval_us).min(WAITING_MAX / traders.max(1) as usize);
        Self {
            clock,
            desks: (0..traders).map(|_| Desk::new(samples, waiting)).collect(),
            warm_up: load.warm_up,
            before_round: 0,
            current: Current { intended: Instant::ZERO, sent: Instant::ZERO },
            received: Instant::ZERO,
            lateness: Recorder::with_capacity(samples),
            ticks: 0,
            rounds: 0,
        }
    }

    /// Forgets what the last round gave.
    pub(super) fn begin_round(&mut self) {
        self.desks.iter_mut().for_each(Desk::begin_round);
        self.lateness.clear();
        self.before_round = self.ticks;
        self.rounds += 1;
    }

    /// Rounds begun.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    /// One desk a trader, by account.
    pub(super) fn desks(&self) -> &[Desk] {
        &self.desks
    }

    /// How many traders are logged on.
    pub(super) fn present(&self) -> usize {
        self.desks.iter().filter(|desk| desk.connection().is_some()).count()
    }

    /// Ticks that have left in this round.
    pub(super) fn ticks(&self) -> u64 {
        self.ticks - self.before_round
    }

    /// Gives up the ticks that have waited too long.
    pub(super) fn expire(&mut self, now: Instant) {
        self.desks.iter_mut().for_each(|desk| desk.expire(now));
    }

    /// Whether every tick is answered or lost and every order cancelled again.
    pub(super) fn is_settled(&self) -> bool {
        self.desks.iter().all(Desk::is_settled)
    }

    /// The two cases of one trader's round.
    pub(super) fn rows(&self, desk: &Desk, setup: &ExchangeSetup) -> [Row; 2] {
        let ExchangeSetup { market_data, transport, wait, load, .. } = setup;
        let (feed, transport) = (market_data.transport().name(), transport.transport);
        let source = self.clock.source();
        let [intended, sent] = t2t_setup::settings(feed, transport, wait, load, source);
        let row = |setting, latency| {
            let row = Row::new(setting, latency, &self.lateness);
            Row { lost: desk.counts.lost, late_orders: desk.counts.late_orders, ..row }
        };
        [row(intended, &desk.intended_to_order), row(sent, &desk.sent_to_order)]
    }

    fn desk_of(&mut self, connection: ConnectionId) -> Option<&mut Desk> {
        self.desks.iter_mut().find(|desk| desk.connection() == Some(connection))
    }
}

/// Room for the ticks of some seconds, each of several packets.
fn waiting_max(interval_us: u64) -> usize {
    let per_second = 1_000_000_u64.checked_div(interval_us);
    let packets = per_second.map(|ticks| ticks.saturating_mul(PACKETS_PER_TICK) + 1_024);
    packets
        .and_then(|packets| usize::try_from(packets).ok())
        .map_or(WAITING_MAX, |packets| packets.min(WAITING_MAX))
}

impl Listener for Recording {
    fn on_event(&mut self, tick: MatchedTick) {
        self.ticks += 1;
        self.current.intended = tick.intended;
    }

    fn before_transmit(&mut self, packet: EventPacket) {
        let Some(number) = packet.tick else { return };
        if packet.begins {
            self.current.sent = self.clock.instant();
        }
        if packet.ends {
            let Current { intended, sent } = self.current;
            let recorded = number > self.before_round + self.warm_up;
            if recorded {
                self.lateness.record(sent - intended);
            }
            let tick = Tick { sequence: packet.sequence, intended, sent, recorded };
            self.desks.iter_mut().for_each(|desk| desk.open(tick));
        }
    }

    fn on_received(&mut self, _: ConnectionId, _: usize) {
        self.received = self.clock.instant();
    }

    fn on_session(
        &mut self,
        connection: ConnectionId,
        account: Option<usize>,
        state: SessionState,
    ) {
        if state == SessionState::Established {
            let answers_from = self.clock.instant() + ANSWERS_AFTER;
            if let Some(desk) = account.and_then(|account| self.desks.get_mut(account)) {
                desk.arrive(connection, answers_from);
            }
        } else if let Some(desk) = self.desk_of(connection) {
            desk.depart();
        }
    }

    fn on_order(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let received = self.received;
        if let Some(desk) = self.desk_of(connection) {
            desk.order(sequence(cl_ord_id), received);
        }
    }

    fn on_acknowledged(&mut self, connection: ConnectionId, _: &[u8], _: OrderId) {
        if let Some(desk) = self.desk_of(connection) {
            desk.counts.acknowledgements += 1;
        }
    }

    fn on_cancelled(&mut self, connection: ConnectionId, _: &[u8], _: OrderId) {
        if let Some(desk) = self.desk_of(connection) {
            desk.counts.cancels += 1;
        }
    }

    fn on_rejected(&mut self, connection: ConnectionId, _: Rejected<'_>) {
        if let Some(desk) = self.desk_of(connection) {
            desk.counts.rejects += 1;
        }
    }
}

/// The MsgSeqNum that a ClOrdID names: decimal digits and nothing else.
fn sequence(cl_ord_id: &[u8]) -> Option<u32> {
    if !cl_ord_id.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(cl_ord_id).ok()?.parse().ok()
}
