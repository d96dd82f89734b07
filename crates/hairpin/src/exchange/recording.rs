//! What the exchange of a row records: ticks as they leave, orders as they come.

use hairpin_exchange::{
    ConnectionId, EventPacket, ExchangeCounters, FeedSide, Listener, OrderId, Rejected,
    SessionState, Tick as MatchedTick,
};
use hairpin_host::Clock;
use hairpin_measure::{Recorder, Row};
use hairpin_time::{Duration, Instant};

use super::outstanding::{Answer, Outstanding, Tick};
use crate::setup::{self, ExchangeOutcome, Load};

/// A tick that nobody has answered for so long is lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// Ticks that may wait at once: a second of them at the fastest pace, packets in between included.
const OUTSTANDING_MAX: usize = 1 << 20;

/// Reads the clock where the exchange's listener lets it, and keeps what that gives.
pub(super) struct Recording {
    pub(super) clock: Clock,
    outstanding: Outstanding,
    warm_up: u64,
    current: Current,
    received: Instant,
    intended_to_order: Recorder,
    sent_to_order: Recorder,
    lateness: Recorder,
    /// The connection of the trader that has logged on, until it logs off.
    established: Option<ConnectionId>,
    counts: Counts,
}

/// The tick whose packets are leaving.
#[derive(Clone, Copy)]
struct Current {
    intended: Instant,
    sent: Instant,
}

#[derive(Default)]
struct Counts {
    ticks: u64,
    lost: u64,
    orders: u64,
    acknowledgements: u64,
    cancels: u64,
    rejects: u64,
    unexpected_orders: u64,
    late_orders: u64,
}

impl Recording {
    pub(super) fn new(clock: Clock, load: &Load) -> Self {
        let samples = usize::try_from(load.samples).unwrap_or(usize::MAX);
        let recorder = || Recorder::with_capacity(samples);
        Self {
            clock,
            outstanding: Outstanding::new(OUTSTANDING_MAX),
            warm_up: load.warm_up,
            current: Current { intended: Instant::ZERO, sent: Instant::ZERO },
            received: Instant::ZERO,
            intended_to_order: recorder(),
            sent_to_order: recorder(),
            lateness: recorder(),
            established: None,
            counts: Counts::default(),
        }
    }

    /// Whether a trader has logged on and has not logged off.
    pub(super) fn is_established(&self) -> bool {
        self.established.is_some()
    }

    /// Ticks that have left.
    pub(super) fn ticks(&self) -> u64 {
        self.counts.ticks
    }

    /// Gives up the ticks that have waited too long.
    pub(super) fn expire(&mut self, now: Instant) {
        self.counts.lost += self.outstanding.expire(now, PATIENCE);
    }

    /// Whether every tick is answered or lost and every order cancelled again.
    pub(super) fn is_settled(&self) -> bool {
        let Counts { orders, acknowledgements, cancels, .. } = self.counts;
        self.outstanding.waiting() == 0 && orders == acknowledgements && orders == cancels
    }

    /// The rows and counts, for the parent.
    pub(super) fn outcome(
        &self,
        wait: &str,
        load: &Load,
        sockets: &ExchangeCounters,
        interrupted: bool,
    ) -> ExchangeOutcome {
        let [intended, sent] = setup::settings(wait, load, self.clock.source());
        let row = |setting, latency| {
            let row = Row::new(setting, latency, &self.lateness);
            Row { lost: self.counts.lost, late_orders: self.counts.late_orders, ..row }
        };
        ExchangeOutcome {
            rows: vec![row(intended, &self.intended_to_order), row(sent, &self.sent_to_order)],
            ticks: self.counts.ticks,
            lost: self.counts.lost,
            orders: self.counts.orders,
            acknowledgements: self.counts.acknowledgements,
            cancels: self.counts.cancels,
            rejects: self.counts.rejects,
            unexpected_orders: self.counts.unexpected_orders,
            refused_samples: self.intended_to_order.refused(),
            lost_datagrams: sockets.lost_datagrams.iter().sum(),
            muted_datagrams: sockets.muted_datagrams[FeedSide::B as usize],
            interrupted,
        }
    }

    fn record(&mut self, tick: Tick) {
        if tick.recorded {
            self.intended_to_order.record(self.received - tick.intended);
            self.sent_to_order.record(self.received - tick.sent);
        }
    }
}

impl Listener for Recording {
    fn on_event(&mut self, tick: MatchedTick) {
        self.counts.ticks += 1;
        self.current.intended = tick.intended;
    }

    fn before_transmit(&mut self, packet: EventPacket) {
        let Some(number) = packet.tick else { return };
        if packet.begins {
            self.current.sent = self.clock.instant();
        }
        if packet.ends {
            let Current { intended, sent } = self.current;
            let recorded = number > self.warm_up;
            let tick = Tick { sequence: packet.sequence, intended, sent, recorded };
            if recorded {
                self.lateness.record(sent - intended);
            }
            self.counts.lost += u64::from(self.outstanding.open(tick).is_some());
        }
    }

    fn on_received(&mut self, _: ConnectionId, _: usize) {
        self.received = self.clock.instant();
    }

    fn on_session(&mut self, connection: ConnectionId, state: SessionState) {
        if state == SessionState::Established {
            self.established = Some(connection);
        } else if self.established == Some(connection) {
            self.established = None;
        }
    }

    fn on_order(&mut self, cl_ord_id: &[u8]) {
        match sequence(cl_ord_id).map(|sequence| self.outstanding.answer(sequence)) {
            // Whoever is too busy to look for lost ticks finds them here.
            Some(Answer::InTime(tick)) if self.received - tick.sent > PATIENCE => {
                self.counts.lost += 1;
                self.counts.late_orders += 1;
            }
            Some(Answer::InTime(tick)) => {
                self.counts.orders += 1;
                self.record(tick);
            }
            // Lost it stays; that it came after all is said beside.
            Some(Answer::Late) => self.counts.late_orders += 1,
            Some(Answer::Unexpected) | None => self.counts.unexpected_orders += 1,
        }
    }

    fn on_acknowledged(&mut self, _: &[u8], _: OrderId) {
        self.counts.acknowledgements += 1;
    }

    fn on_cancelled(&mut self, _: &[u8], _: OrderId) {
        self.counts.cancels += 1;
    }

    fn on_rejected(&mut self, _: Rejected<'_>) {
        self.counts.rejects += 1;
    }
}

/// The MsgSeqNum that a ClOrdID names: decimal digits and nothing else.
fn sequence(cl_ord_id: &[u8]) -> Option<u32> {
    if !cl_ord_id.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(cl_ord_id).ok()?.parse().ok()
}
