//! The example trader: answers each tick with an order and cancels the order once it is
//! acknowledged.
//!
//! The module names only what a user's own program would name: feed handler, order entry, reactor,
//! endpoint, time and host (`cargo xtask tidy` checks it). `hairpin trader` and the trader of a
//! `t2t` row run it; tests and benchmarks drive its callbacks.

use std::io::{self, Write};

use anyhow::{Result, bail};
use hairpin_feed_handler as feed;
use hairpin_feed_handler::{
    Book, ChannelState, EndOfEvent, FeedHandler, Gap, InstrumentStateChange, Packet,
};
use hairpin_host::Clock;
use hairpin_order_entry as order_entry;
use hairpin_order_entry::{
    Binding, BusinessReject521, CancelOrder, ClOrdId, Connect, Decimal, ExecutionReportCancel534,
    ExecutionReportNew522, Message, NewOrder, Price9, Rejected, Sender, Session, SideReq, State,
};
use hairpin_reactor::Reactor;
use hairpin_time::{Duration, Instant, Now};

/// Contracts per order.
const QUANTITY: u32 = 1;
/// The distance of an order below the lowest published bid: beyond depth 10, so that the order
/// never changes the published book.
const TICKS_BELOW: i64 = 5;
/// The longest wait for the exchange to answer a Terminate.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest sleep of the loop, so that a stop request is seen in time.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// The counts of a trader.
#[derive(Debug, Default, Clone)]
pub struct TraderCounts {
    /// Orders sent.
    pub orders: u64,
    /// ExecutionReportNew received.
    pub acknowledgements: u64,
    /// ExecutionReportCancel received.
    pub cancels: u64,
    /// Business and session rejects.
    pub rejects: u64,
    /// Gaps in the market data since the channel was first in sync.
    pub gaps: u64,
    /// The first of these gaps: the number of its first packet, and its length in packets.
    pub first_gap: Option<(u32, u32)>,
    /// Books that fell out of sync since then.
    pub unsynced: u64,
    /// Messages that could not be decoded, sent or answered.
    pub errors: u64,
    /// The text of the first of these errors.
    pub first_error: Option<String>,
    /// Datagrams the kernel dropped because a receive buffer was full.
    pub kernel_drops: u64,
    /// Incremental packets received on lines A and B.
    pub packets: [u64; 2],
    /// The time at which the channel was first in sync.
    pub in_sync_at: Option<Instant>,
}

/// Feed, session and strategy side by side; [`Trader::turn`] is one turn of its loop.
pub struct Trader {
    /// The clock of the loop.
    pub clock: Clock,
    reactor: Reactor,
    feed: FeedHandler,
    session: Session,
    strategy: Strategy,
    /// The latest time for the exchange to answer the trader's Terminate.
    terminate_deadline: Option<Instant>,
    stopped: bool,
}

impl Trader {
    /// Returns a trader that logs on as soon as its books are in sync.
    pub fn new(clock: Clock, reactor: Reactor, feed: FeedHandler, session: Session) -> Self {
        let strategy = Strategy::default();
        Self { clock, reactor, feed, session, strategy, terminate_deadline: None, stopped: false }
    }

    /// Waits for packets and timers, at most 100 ms, and handles them. Returns the time, and `true`
    /// if no order was sent.
    ///
    /// # Errors
    /// Those of the sockets.
    pub fn turn(&mut self) -> Result<(Instant, bool)> {
        let before = self.clock.instant();
        let latest = before + MAX_SLEEP;
        let deadlines = [self.feed.next_deadline(), self.session.next_deadline(), Some(latest)];
        let ready = self.reactor.wait(before, deadlines.into_iter().flatten().min())?;

        let now = self.clock.now();
        let Self { reactor, feed, session, strategy, .. } = self;
        let orders = strategy.counts.orders;
        let mut reaction = Reaction { strategy, session, now };
        match feed.process(now, ready, reactor, &mut reaction) {
            // The feed handler tries again by itself.
            Err(error) if error.is_transient() => {
                let _ = writeln!(io::stderr(), "hairpin: {error}");
            }
            outcome => outcome?,
        }
        session.process(now, ready, reactor, strategy)?;
        if strategy.wants_to_log_on() {
            session.connect(now, Binding::New)?;
            strategy.connected = true;
        }
        self.stopped |= self.terminate_deadline.is_some_and(|until| now.monotonic > until);
        Ok((now.monotonic, self.strategy.counts.orders == orders))
    }

    /// Terminates the session; the trader is finished when the exchange answers, or after 2 s.
    pub fn stop(&mut self) {
        let now = self.clock.now();
        if self.session.state() == State::Established {
            self.session.terminate(now);
            self.terminate_deadline = Some(now.monotonic + TERMINATE_TIMEOUT);
        } else {
            self.stopped = true;
        }
    }

    /// Returns `true` if the session has ended or the trader was stopped.
    pub fn is_finished(&self) -> bool {
        self.strategy.disconnected || self.stopped
    }

    /// The feed handler, for counters.
    pub fn feed(&self) -> &FeedHandler {
        &self.feed
    }

    /// The session, for counters.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The counts so far; those of the sockets are set by [`Trader::outcome`].
    pub fn counts(&self) -> &TraderCounts {
        &self.strategy.counts
    }

    /// Returns the counts of a trader that is finished.
    ///
    /// # Errors
    /// The reason why the session ended before it was established.
    pub fn outcome(&self) -> Result<TraderCounts> {
        let Self { strategy, session, feed, .. } = self;
        if strategy.disconnected && !strategy.established {
            let failure = || session.last_failure().map(ToString::to_string);
            let reason = strategy.refusal.clone().or_else(failure);
            bail!("cannot log on: {}", reason.as_deref().unwrap_or("connection closed"));
        }
        let counters = feed.channel().counters();
        Ok(TraderCounts {
            packets: [counters.packets_a, counters.packets_b],
            kernel_drops: feed.statistics().kernel_drops,
            ..strategy.counts.clone()
        })
    }
}

/// The state and counts of the strategy. The session calls it directly; the feed calls it through
/// [`Reaction`].
#[derive(Debug, Default)]
pub struct Strategy {
    /// The counts so far.
    pub counts: TraderCounts,
    in_sync: bool,
    connected: bool,
    established: bool,
    disconnected: bool,
    refusal: Option<String>,
}

impl Strategy {
    /// Returns `true` once the books are in sync; the exchange takes the logon as the sign of that.
    fn wants_to_log_on(&self) -> bool {
        self.in_sync && !self.connected
    }
}

impl TraderCounts {
    #[cold]
    fn error(&mut self, error: impl ToString) {
        self.errors += 1;
        self.first_error.get_or_insert_with(|| error.to_string());
    }
}

/// The listener of the feed: the strategy and the session through which it sends orders.
pub struct Reaction<'a, D: Connect> {
    /// The strategy.
    pub strategy: &'a mut Strategy,
    /// The session that sends the orders.
    pub session: &'a mut Session<D>,
    /// The time of the current packet.
    pub now: Now,
}

impl<D: Connect> feed::Listener for Reaction<'_, D> {
    /// Sends an order for every book whose best price the event has changed.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        if self.session.state() != State::Established {
            return;
        }
        for (instrument, book, changes) in event.changed() {
            if !changes.best_price() {
                continue;
            }
            let definition = event.instruments.definition(instrument);
            let tick = definition.and_then(|definition| definition.min_price_increment);
            let Some(price) = tick.and_then(|tick| resting_price(book, tick)) else {
                self.strategy.counts.error("cannot price an order: no bids or no tick size");
                continue;
            };
            let id = ClOrdId::from(u64::from(event.packet.sequence));
            let order = NewOrder::limit(book.security_id(), SideReq::BUY, price, QUANTITY, id);
            match self.session.sender(self.now).send(&order) {
                Ok(_) => self.strategy.counts.orders += 1,
                Err(error) => self.strategy.counts.error(format_args!("order: {error}")),
            }
        }
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        if state == ChannelState::InSync {
            self.strategy.in_sync = true;
            self.strategy.counts.in_sync_at.get_or_insert(self.now.monotonic);
        }
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        let fell_out = self.strategy.in_sync && !change.book.is_in_sync();
        self.strategy.counts.unsynced += u64::from(fell_out);
    }

    fn on_gap(&mut self, gap: &Gap) {
        if self.strategy.in_sync {
            self.strategy.counts.gaps += 1;
            self.strategy.counts.first_gap.get_or_insert((gap.first, gap.count));
        }
    }

    fn on_error(&mut self, _: Option<&Packet>, error: &feed::Error) {
        self.strategy.counts.error(format_args!("feed: {error}"));
    }
}

/// Returns the price five ticks below the lowest published bid.
fn resting_price(book: Book<'_>, tick: Price9) -> Option<Price9> {
    let lowest = book.bids().last()?;
    let below = TICKS_BELOW.checked_mul(tick.0)?;
    lowest.price.0.checked_sub(below).map(Decimal)
}

impl order_entry::Listener for Strategy {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.established |= state == State::Established;
        self.disconnected |= self.connected && state == State::Disconnected;
    }

    /// Cancels the order.
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.counts.acknowledgements += 1;
        let id = ClOrdId(*report.cl_ord_id().raw().first_chunk().unwrap_or(&[0; 20]));
        let cancel = CancelOrder::new(report.order_id(), report.security_id(), report.side(), id);
        if let Err(error) = sender.send(&cancel) {
            self.counts.error(format_args!("cancel: {error}"));
        }
    }

    fn on_execution_report_cancel(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.counts.cancels += 1;
    }

    fn on_business_reject(
        &mut self,
        _: &mut Sender<'_>,
        _: BusinessReject521<'_>,
        _: &Message<'_>,
    ) {
        self.counts.rejects += 1;
    }

    /// Counts an error: no other business message answers an order or a cancel of this trader.
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        self.counts
            .error(format_args!("unexpected message, template {}", message.header.template_id));
    }

    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        self.counts.rejects += 1;
        self.refusal = Some(format!("{} {}", rejected.code, rejected.reason));
    }

    fn on_gap(&mut self, _: &mut Sender<'_>, gap: order_entry::Gap) {
        self.counts.error(format_args!("sequence gap: {gap:?}"));
    }

    fn on_error(&mut self, _: &mut Sender<'_>, error: &order_entry::Error) {
        self.counts.error(format_args!("session: {error}"));
        self.refusal.get_or_insert_with(|| error.to_string());
    }
}
