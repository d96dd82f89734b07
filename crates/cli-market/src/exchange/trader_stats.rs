//! The statistics of one trader at the exchange of a benchmark.

use hairpin_cli_harness::answer_timeout::answer_timeout;
use hairpin_exchange::ConnectionId;
use hairpin_measure::{Answer, Outstanding, Recorder, Sent};
use hairpin_reactor::Wait;
use hairpin_time::Instant;

/// The counts of a trader's ticks and orders since the start of the round.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct TickCounts {
    /// Ticks sent while the trader was logged on, if it answers them.
    pub(super) ticks: u64,
    /// Ticks that no order answered in time.
    pub(super) lost: u64,
    /// Ticks still open when the trader's session ended.
    pub(super) abandoned: u64,
    /// Orders that answered a tick in time, and all those of a session that answers no ticks.
    pub(super) orders: u64,
    /// Orders for ticks that were sent while the trader was still logging on.
    pub(super) early_orders: u64,
    /// Orders for ticks already counted as lost.
    pub(super) late_orders: u64,
    /// Orders that named no tick or one that was already answered.
    pub(super) unexpected_orders: u64,
    /// ExecutionReportNew sent.
    pub(super) acknowledgements: u64,
    /// ExecutionReportCancel sent.
    pub(super) cancels: u64,
    /// Orders still working when the trader's session ended.
    pub(super) orphaned: u64,
    /// Session and business rejects sent.
    pub(super) rejects: u64,
    /// Sessions that ended before the exchange terminated them.
    pub(super) departures: u64,
}

impl TickCounts {
    /// Returns every count with its name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let Self { ticks, lost, abandoned, orders, early_orders, late_orders, .. } = *self;
        let Self { unexpected_orders, acknowledgements, cancels, orphaned, .. } = *self;
        let Self { rejects, departures, .. } = *self;
        [
            ("ticks", ticks),
            ("lost", lost),
            ("abandoned", abandoned),
            ("orders", orders),
            ("early_orders", early_orders),
            ("late_orders", late_orders),
            ("unexpected_orders", unexpected_orders),
            ("acknowledgements", acknowledgements),
            ("cancels", cancels),
            ("orphaned", orphaned),
            ("rejects", rejects),
            ("departures", departures),
        ]
        .into_iter()
    }

    /// Returns the sum of both.
    fn plus(self, other: Self) -> Self {
        Self {
            ticks: self.ticks + other.ticks,
            lost: self.lost + other.lost,
            abandoned: self.abandoned + other.abandoned,
            orders: self.orders + other.orders,
            early_orders: self.early_orders + other.early_orders,
            late_orders: self.late_orders + other.late_orders,
            unexpected_orders: self.unexpected_orders + other.unexpected_orders,
            acknowledgements: self.acknowledgements + other.acknowledgements,
            cancels: self.cancels + other.cancels,
            orphaned: self.orphaned + other.orphaned,
            rejects: self.rejects + other.rejects,
            departures: self.departures + other.departures,
        }
    }

    /// Returns the orders of every kind.
    pub(super) const fn all_orders(&self) -> u64 {
        self.orders + self.early_orders + self.late_orders + self.unexpected_orders
    }
}

/// The statistics of one trader.
pub(super) struct TraderStats {
    connection: Option<ConnectionId>,
    /// The trader's wait, if it has named it at its last logon.
    pub(super) wait: Option<Wait>,
    /// The run measures traders: each of them must answer ticks.
    is_measured: bool,
    /// The time from which ticks must be answered after a logon.
    answers_from: Instant,
    /// The packet sequence of the first tick that this session must answer.
    first_sequence: Option<u64>,
    outstanding: Outstanding,
    /// The packet sequence of the last tick of a warm-up.
    warm_up: u64,
    pub(super) intended_to_order: Recorder,
    pub(super) sent_to_order: Recorder,
    pub(super) counts: TickCounts,
    /// The counts of the earlier rounds.
    before: TickCounts,
}

impl TraderStats {
    /// Returns the statistics of a trader that is not logged on, with space for `samples` per round
    /// and `waiting` open ticks. Without samples nothing is measured.
    pub(super) fn new(samples: usize, waiting: usize) -> Self {
        Self {
            connection: None,
            wait: None,
            is_measured: samples > 0,
            answers_from: Instant::ZERO,
            first_sequence: None,
            outstanding: Outstanding::new(waiting),
            warm_up: 0,
            intended_to_order: Recorder::with_capacity(samples),
            sent_to_order: Recorder::with_capacity(samples),
            counts: TickCounts::default(),
            before: TickCounts::default(),
        }
    }

    /// Clears the results of the last round. Open ticks stay open.
    pub(super) fn begin_round(&mut self) {
        self.intended_to_order.clear();
        self.sent_to_order.clear();
        self.before = self.total();
        self.counts = TickCounts::default();
    }

    /// Returns the counts of all rounds.
    pub(super) fn total(&self) -> TickCounts {
        self.before.plus(self.counts)
    }

    /// Returns the number of ticks that wait for an order.
    pub(super) fn open_ticks(&self) -> u64 {
        self.outstanding.waiting()
    }

    pub(super) fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// Records a logon; ticks must be answered from `answers_from` on.
    pub(super) fn arrive(&mut self, connection: ConnectionId, answers_from: Instant) {
        self.connection = Some(connection);
        self.answers_from = answers_from;
        self.first_sequence = None;
    }

    /// Records the end of the session and abandons its open ticks.
    pub(super) fn depart(&mut self) {
        self.connection = None;
        self.counts.departures += 1;
        while let Some(tick) = self.outstanding.oldest() {
            self.outstanding.answer(tick.sequence);
            self.counts.abandoned += 1;
        }
        // The orders of an earlier session are still among these. Orders by hand may be filled.
        if self.answers_ticks() {
            self.counts.orphaned = self.counts.all_orders().saturating_sub(self.counts.cancels);
        }
    }

    /// Returns `true` if the trader must answer ticks. A simulator expects that only of a trader
    /// that has named its wait: others may be people who enter orders by hand.
    fn answers_ticks(&self) -> bool {
        self.is_measured || self.wait.is_some()
    }

    /// Adds a tick whose last packet is being sent.
    pub(super) fn open(&mut self, tick: Sent, is_recorded: bool) {
        let is_due = self.connection.is_some() && tick.left >= self.answers_from;
        if !is_due || !self.answers_ticks() {
            return;
        }
        if !is_recorded {
            self.warm_up = tick.sequence;
        }
        self.first_sequence.get_or_insert(tick.sequence);
        self.counts.ticks += 1;
        self.counts.lost += u64::from(self.outstanding.depart_as(tick).is_some());
    }

    /// Handles an order that names the packet `sequence`, or no readable one.
    pub(super) fn order(&mut self, sequence: Option<u32>, received: Instant) {
        if !self.answers_ticks() {
            self.counts.orders += 1;
            return;
        }
        let Some(sequence) = sequence.map(u64::from) else {
            self.counts.unexpected_orders += 1;
            return;
        };
        match self.outstanding.answer(sequence) {
            // A loop too busy to check for lost ticks finds them here.
            Answer::InTime(tick) if received - tick.left > answer_timeout() => {
                self.counts.lost += 1;
                self.counts.late_orders += 1;
            }
            Answer::InTime(tick) => {
                self.counts.orders += 1;
                self.record(tick, received);
            }
            // The tick stays lost; the late order is counted separately.
            Answer::Late => self.counts.late_orders += 1,
            Answer::Duplicate | Answer::Unexpected
                if self.first_sequence.is_none_or(|first| sequence < first) =>
            {
                self.counts.early_orders += 1;
            }
            Answer::Duplicate | Answer::Unexpected => self.counts.unexpected_orders += 1,
        }
    }

    fn record(&mut self, tick: Sent, received: Instant) {
        if tick.sequence > self.warm_up {
            self.intended_to_order.record(received - tick.intended);
            self.sent_to_order.record(received - tick.left);
        }
    }

    /// Counts the ticks that have waited too long as lost.
    pub(super) fn expire(&mut self, now: Instant) {
        while self.outstanding.expire(now, answer_timeout()).is_some() {
            self.counts.lost += 1;
        }
    }

    /// Returns `true` if every tick is answered or lost and every order canceled.
    pub(super) fn is_settled(&self) -> bool {
        let orders = self.counts.all_orders();
        let TickCounts { acknowledgements, cancels, orphaned, .. } = self.counts;
        let is_quiet = orders == acknowledgements && orders == cancels + orphaned;
        self.outstanding.waiting() == 0 && (is_quiet || self.connection.is_none())
    }
}

#[cfg(test)]
mod tests {
    use hairpin_time::Duration;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn tick(sequence: u32, sent_ms: u64) -> Sent {
        Sent { sequence: sequence.into(), intended: at(sent_ms), left: at(sent_ms) }
    }

    fn trader() -> TraderStats {
        let mut trader = TraderStats::new(8, 8);
        trader.arrive(ConnectionId(0), at(10));
        trader
    }

    #[test]
    fn expects_nothing_of_a_trader_that_is_not_there() {
        let mut trader = TraderStats::new(8, 8);
        trader.open(tick(1, 0), true);
        assert_eq!(trader.counts, TickCounts::default());
        assert!(trader.is_settled());
    }

    #[test]
    fn simulator_expects_answers_only_of_traders_that_name_their_wait() {
        for (wait, counts) in [
            (None, TickCounts { orders: 2, ..TickCounts::default() }),
            (
                Some(Wait::Epoll),
                TickCounts {
                    ticks: 1,
                    lost: 1,
                    unexpected_orders: 1,
                    late_orders: 1,
                    ..TickCounts::default()
                },
            ),
        ] {
            let mut trader = TraderStats::new(0, 8);
            trader.wait = wait;
            trader.arrive(ConnectionId(0), at(10));
            trader.open(tick(1, 20), true);
            trader.order(None, at(21));
            trader.expire(at(5_000));
            trader.order(Some(1), at(5_001));
            assert_eq!(trader.counts, counts, "{wait:?}");
            trader.depart();
            assert_eq!(trader.counts.orphaned, wait.map_or(0, |_| 2));
        }
    }

    #[test]
    fn counts_early_order_without_error() {
        let mut trader = trader();
        trader.open(tick(1, 5), true);
        trader.order(Some(1), at(6));
        trader.open(tick(2, 10), true);
        trader.order(Some(2), at(11));
        trader.order(Some(1), at(12));
        trader.order(Some(3), at(12));
        trader.order(None, at(12));
        let expected = TickCounts {
            ticks: 1,
            orders: 1,
            early_orders: 2,
            unexpected_orders: 2,
            ..TickCounts::default()
        };
        assert_eq!(trader.counts, expected);
        assert_eq!(trader.sent_to_order.samples(), [1_000_000]);
    }

    #[test]
    fn departed_traders_ticks_are_abandoned() {
        let mut trader = trader();
        for sequence in 1..=3 {
            trader.open(tick(sequence, 10), true);
        }
        trader.order(Some(1), at(11));
        trader.counts.acknowledgements += 1;
        trader.depart();
        trader.expire(at(5_000));
        let TickCounts { ticks, orders, abandoned, lost, orphaned, departures, .. } = trader.counts;
        assert_eq!((ticks, orders, abandoned, lost), (3, 1, 2, 0));
        assert_eq!((orphaned, departures), (1, 1));
        assert!(trader.is_settled());
    }

    #[test]
    fn adds_up_orders_of_two_departures() {
        let mut trader = trader();
        for (sequence, orphaned) in [(1, 1), (3, 2)] {
            trader.open(tick(sequence, 20), true);
            trader.open(tick(sequence + 1, 20), true);
            trader.order(Some(sequence), at(21));
            trader.order(Some(sequence + 1), at(21));
            trader.counts.acknowledgements += 2;
            trader.counts.cancels += 1;
            trader.depart();
            assert_eq!(trader.counts.orphaned, orphaned);
            trader.arrive(ConnectionId(0), at(10));
        }
        assert!(trader.is_settled());
    }

    #[test]
    fn counts_answer_after_timeout_as_late() {
        let mut trader = trader();
        trader.open(tick(1, 10), true);
        trader.open(tick(2, 10), true);
        trader.order(Some(1), at(1_011));
        trader.expire(at(1_011));
        trader.order(Some(2), at(1_012));
        assert_eq!(
            (trader.counts.lost, trader.counts.late_orders, trader.counts.orders),
            (2, 2, 0)
        );
        assert!(trader.sent_to_order.samples().is_empty());
    }

    #[test]
    fn new_round_resets_counts_and_keeps_open_orders() {
        let mut trader = trader();
        trader.open(tick(1, 10), true);
        trader.begin_round();
        assert!(!trader.is_settled());
        assert_eq!(trader.open_ticks(), 1);
        trader.order(Some(1), at(11));
        assert_eq!((trader.counts.ticks, trader.counts.orders), (0, 1));
        assert_eq!((trader.total().ticks, trader.total().orders), (1, 1));
    }

    #[test]
    fn totals_cover_every_count_and_round() {
        let one = TickCounts {
            ticks: 1,
            lost: 2,
            abandoned: 3,
            orders: 4,
            early_orders: 5,
            late_orders: 6,
            unexpected_orders: 7,
            acknowledgements: 8,
            cancels: 9,
            orphaned: 10,
            rejects: 11,
            departures: 12,
        };
        let mut trader = trader();
        for _ in 0..3 {
            trader.counts = one;
            trader.begin_round();
        }
        let total: Vec<u64> = trader.total().iter().map(|(_, count)| count).collect();
        assert_eq!(total, (1..=12).map(|count| 3 * count).collect::<Vec<_>>());
        assert_eq!(trader.counts, TickCounts::default());
    }
}
