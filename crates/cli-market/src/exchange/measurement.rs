//! What the exchange of a benchmark records: ticks as they leave, orders as they arrive.

use hairpin_cli_harness::t2t_setup::{self, ExchangeSetup, Load};
use hairpin_exchange::{
    ConnectionId, EventPacket, Listener, OrderId, Rejected, SessionState, Tick as MatchedTick,
};
use hairpin_host::Clock;
use hairpin_measure::{Recorder, Row, Sent};
use hairpin_time::{Duration, Instant};

use super::trader_stats::TraderStats;

/// The time from a logon to the first tick that the trader must answer: long enough for the trader
/// to see that it is logged on; with wait block it does so only at its next wakeup.
const ANSWERS_AFTER: Duration = Duration::from_millis(100);
/// The time from the last logon that a round needs to its first tick.
pub(super) const START_DELAY: Duration = Duration::from_millis(200);
/// The wait of traders in the rows, without `--wait` and unless the trader names its own.
pub(super) const UNKNOWN_WAIT: &str = "unknown";
/// The largest number of packets of all traders' ticks that may wait at once.
const WAITING_MAX: usize = 1 << 20;
/// The largest number of packets of a tick, and the seconds of stall for which there is room.
const PACKETS_PER_TICK: u64 = 8;

/// Reads the clock in the callbacks of the exchange's listener, and records the results.
pub(super) struct Measurement {
    pub(super) clock: Clock,
    traders: Box<[TraderStats]>,
    warm_up: u64,
    /// The number of the last tick before this round.
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

impl Measurement {
    /// Creates a measurement of rounds of `load` with up to `traders` traders.
    pub(super) fn new(clock: Clock, load: &Load, traders: u32) -> Self {
        let samples = usize::try_from(load.samples).unwrap_or(usize::MAX);
        let waiting = waiting_max(load.interval_us).min(WAITING_MAX / traders.max(1) as usize);
        Self {
            clock,
            traders: (0..traders).map(|_| TraderStats::new(samples, waiting)).collect(),
            warm_up: load.warm_up,
            before_round: 0,
            current: Current { intended: Instant::ZERO, sent: Instant::ZERO },
            received: Instant::ZERO,
            lateness: Recorder::with_capacity(samples),
            ticks: 0,
            rounds: 0,
        }
    }

    /// Drops the results of the previous round.
    pub(super) fn begin_round(&mut self) {
        self.traders.iter_mut().for_each(TraderStats::begin_round);
        self.lateness.clear();
        self.before_round = self.ticks;
        self.rounds += 1;
    }

    /// Returns the number of rounds begun.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Returns the statistics of each trader, by account.
    pub(super) fn traders(&self) -> &[TraderStats] {
        &self.traders
    }

    /// Returns the number of traders logged on.
    pub(super) fn present(&self) -> usize {
        self.traders.iter().filter(|trader| trader.connection().is_some()).count()
    }

    /// Returns the ticks that have left in this round.
    pub(super) fn ticks(&self) -> u64 {
        self.ticks - self.before_round
    }

    /// Counts ticks that have waited too long as lost.
    pub(super) fn expire(&mut self, now: Instant) {
        self.traders.iter_mut().for_each(|trader| trader.expire(now));
    }

    /// Returns `true` if every tick is answered or lost and every order canceled.
    pub(super) fn is_settled(&self) -> bool {
        self.traders.iter().all(TraderStats::is_settled)
    }

    /// Returns the two rows of one trader's round.
    pub(super) fn rows(&self, trader: &TraderStats, setup: &ExchangeSetup) -> [Row; 2] {
        let ExchangeSetup { market_data, transport, wait, load, .. } = setup;
        let wait = match trader.wait {
            Some(own) if wait == UNKNOWN_WAIT => own.name(),
            _ => wait.as_str(),
        };
        let (feed, transport) = (market_data.transport().name(), transport.transport);
        let source = self.clock.source();
        let [intended, sent] = t2t_setup::settings(feed, transport, wait, load, source);
        let row = |setting, latency| {
            let row = Row::new(setting, latency, &self.lateness);
            Row { lost: trader.counts.lost, late_orders: trader.counts.late_orders, ..row }
        };
        [row(intended, &trader.intended_to_order), row(sent, &trader.sent_to_order)]
    }

    fn trader_of(&mut self, connection: ConnectionId) -> Option<&mut TraderStats> {
        self.traders.iter_mut().find(|trader| trader.connection() == Some(connection))
    }
}

/// Returns room for the ticks of some seconds, each of several packets.
fn waiting_max(interval_us: u64) -> usize {
    let per_second = 1_000_000_u64.checked_div(interval_us);
    let packets = per_second.map(|ticks| ticks.saturating_mul(PACKETS_PER_TICK) + 1_024);
    packets
        .and_then(|packets| usize::try_from(packets).ok())
        .map_or(WAITING_MAX, |packets| packets.min(WAITING_MAX))
}

impl Listener for Measurement {
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
            let tick = Sent { sequence: packet.sequence.into(), intended, left: sent };
            self.traders.iter_mut().for_each(|trader| trader.open(tick, recorded));
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
            if let Some(trader) = account.and_then(|account| self.traders.get_mut(account)) {
                trader.arrive(connection, answers_from);
            }
        } else if let Some(trader) = self.trader_of(connection) {
            trader.depart();
        }
    }

    fn on_system_name(&mut self, account: usize, name: &[u8]) {
        if let Some(trader) = self.traders.get_mut(account) {
            trader.wait = t2t_setup::wait_of(name);
        }
    }

    fn on_order(&mut self, connection: ConnectionId, cl_ord_id: &[u8]) {
        let received = self.received;
        if let Some(trader) = self.trader_of(connection) {
            trader.order(sequence(cl_ord_id), received);
        }
    }

    fn on_acknowledged(&mut self, connection: ConnectionId, _: &[u8], _: OrderId) {
        if let Some(trader) = self.trader_of(connection) {
            trader.counts.acknowledgements += 1;
        }
    }

    fn on_cancelled(&mut self, connection: ConnectionId, _: &[u8], _: OrderId) {
        if let Some(trader) = self.trader_of(connection) {
            trader.counts.cancels += 1;
        }
    }

    fn on_rejected(&mut self, connection: ConnectionId, _: Rejected<'_>) {
        if let Some(trader) = self.trader_of(connection) {
            trader.counts.rejects += 1;
        }
    }
}

/// Returns the MsgSeqNum in a ClOrdID of decimal digits only.
fn sequence(cl_ord_id: &[u8]) -> Option<u32> {
    if !cl_ord_id.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(cl_ord_id).ok()?.parse().ok()
}
