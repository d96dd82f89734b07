//! The trader of a `t2t` row: answers each tick with an order and takes the order back.
//!
//! It knows no more of the exchange than packets tell: this module names the feed handler, order
//! entry and the loop under them, and nothing else of the house.

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
/// How far below the lowest published bid an order rests: beyond depth 10, so that it never
/// changes the published book.
const TICKS_BELOW: i64 = 5;
/// For the exchange to answer a Terminate.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(2);
/// How long the loop may sleep without looking whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// What happened to the trader.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    pub(crate) orders: u64,
    pub(crate) acknowledgements: u64,
    pub(crate) cancels: u64,
    /// Business and session rejects.
    pub(crate) rejects: u64,
    /// Gaps in the market data since the channel was first in sync.
    pub(crate) gaps: u64,
    /// The first of them: its first packet's number, and how many packets.
    pub(crate) first_gap: Option<(u32, u32)>,
    /// Times that a book fell out of sync since then.
    pub(crate) unsynced: u64,
    /// What could not be understood, sent or answered.
    pub(crate) errors: u64,
    /// The first of those, in words.
    pub(crate) first_error: Option<String>,
    /// Datagrams the kernel dropped because a receive buffer was full.
    pub(crate) kernel_drops: u64,
    /// Incremental packets received on side A and on side B.
    pub(crate) packets: [u64; 2],
    /// When the channel was first in sync.
    pub(crate) in_sync_at: Option<Instant>,
}

/// The trader at the end of a turn of its loop, for whoever watches it.
pub(crate) struct Turn<'a> {
    pub(crate) now: Instant,
    /// No order has left in this turn: the moment for what is not urgent.
    pub(crate) is_quiet: bool,
    pub(crate) feed: &'a FeedHandler,
    pub(crate) session: &'a Session,
    pub(crate) counts: &'a Counts,
}

/// The loop: feed, session and strategy side by side.
pub(crate) struct Trader {
    pub(crate) clock: Clock,
    pub(crate) reactor: Reactor,
    pub(crate) feed: FeedHandler,
    pub(crate) session: Session,
}

impl Trader {
    /// Comes in sync, logs on, trades, and ends when the exchange terminates the session; or when
    /// `stop` says so, after terminating the session itself. `watch` sees the end of every turn.
    ///
    /// # Errors
    /// Those of the sockets; a logon that was refused or a connection that failed.
    pub(crate) fn run(
        &mut self,
        stop: impl Fn() -> bool,
        mut watch: impl FnMut(&Turn<'_>),
    ) -> Result<Counts> {
        let mut strategy = Strategy::default();
        let mut goodbye = None;
        while !strategy.is_over {
            let before = self.clock.now();
            let deadline = [self.feed.next_deadline(), self.session.next_deadline()];
            let deadline = deadline.into_iter().flatten().min().unwrap_or(before.monotonic + LOOK);
            let deadline = deadline.min(before.monotonic + LOOK);
            let ready = self.reactor.wait(before.monotonic, Some(deadline))?;

            let now = self.clock.now();
            let orders = strategy.counts.orders;
            let mut reaction =
                Reaction { strategy: &mut strategy, session: &mut self.session, now };
            match self.feed.process(now, ready, &mut self.reactor, &mut reaction) {
                // It is told, and the feed comes back by itself.
                Err(error) if error.is_transient() => {
                    let _ = writeln!(io::stderr(), "hairpin: {error}");
                }
                outcome => outcome?,
            }
            self.session.process(now, ready, &mut self.reactor, &mut strategy)?;
            if strategy.wants_to_log_on() {
                self.session.connect(now, Binding::New)?;
                strategy.has_asked = true;
            }
            watch(&Turn {
                now: now.monotonic,
                is_quiet: strategy.counts.orders == orders,
                feed: &self.feed,
                session: &self.session,
                counts: &strategy.counts,
            });
            self.clock.recalibrate_if_due(now.monotonic);
            match goodbye {
                None if stop() => {
                    if self.session.state() != State::Established {
                        break;
                    }
                    self.session.terminate(now);
                    goodbye = Some(now.monotonic + GOODBYE_PATIENCE);
                }
                Some(until) if now.monotonic > until => break,
                _ => {}
            }
        }
        self.check_goodbye(&strategy)?;
        let counters = self.feed.channel().counters();
        strategy.counts.packets = [counters.packets_a, counters.packets_b];
        strategy.counts.kernel_drops = self.feed.statistics().kernel_drops;
        Ok(strategy.counts)
    }

    /// A session that ended before it was established is no result but a reason.
    fn check_goodbye(&self, strategy: &Strategy) -> Result<()> {
        if strategy.is_over && !strategy.was_established {
            let reason = strategy
                .refusal
                .clone()
                .or_else(|| self.session.last_failure().map(ToString::to_string));
            let reason = reason.unwrap_or_else(|| "the connection closed".to_owned());
            bail!("the logon failed: {reason}");
        }
        Ok(())
    }
}

/// What the trader knows and counts. Called by the session; by the feed through [`Reaction`].
#[derive(Debug, Default)]
pub(crate) struct Strategy {
    pub(crate) counts: Counts,
    was_in_sync: bool,
    has_asked: bool,
    was_established: bool,
    is_over: bool,
    refusal: Option<String>,
}

impl Strategy {
    /// Only a trader whose books are in sync logs on: the exchange takes the logon for that.
    fn wants_to_log_on(&self) -> bool {
        self.was_in_sync && !self.has_asked
    }
}

impl Counts {
    #[cold]
    fn error(&mut self, words: impl ToString) {
        self.errors += 1;
        self.first_error.get_or_insert_with(|| words.to_string());
    }
}

/// What feed callbacks reach: the strategy and, beside it, the session.
pub(crate) struct Reaction<'a, D: Connect> {
    pub(crate) strategy: &'a mut Strategy,
    pub(crate) session: &'a mut Session<D>,
    pub(crate) now: Now,
}

impl<D: Connect> feed::Listener for Reaction<'_, D> {
    /// An order for every book whose best price the event has changed.
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
                self.strategy
                    .counts
                    .error("a book without bids or an instrument without tick size");
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
            self.strategy.was_in_sync = true;
            self.strategy.counts.in_sync_at.get_or_insert(self.now.monotonic);
        }
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        let fell_out = self.strategy.was_in_sync && !change.book.is_in_sync();
        self.strategy.counts.unsynced += u64::from(fell_out);
    }

    fn on_gap(&mut self, gap: &Gap) {
        if self.strategy.was_in_sync {
            self.strategy.counts.gaps += 1;
            self.strategy.counts.first_gap.get_or_insert((gap.first, gap.count));
        }
    }

    fn on_error(&mut self, _: Option<&Packet>, error: &feed::Error) {
        self.strategy.counts.error(format_args!("feed: {error}"));
    }
}

/// Five ticks below the lowest published bid.
fn resting_price(book: Book<'_>, tick: Price9) -> Option<Price9> {
    let lowest = book.bids().last()?;
    let below = TICKS_BELOW.checked_mul(tick.0)?;
    lowest.price.0.checked_sub(below).map(Decimal)
}

impl order_entry::Listener for Strategy {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.was_established |= state == State::Established;
        self.is_over |= self.has_asked && state == State::Disconnected;
    }

    /// Takes the order back.
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

    /// No other business message answers what this trader sends.
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        self.counts
            .error(format_args!("an unexpected message, template {}", message.header.template_id));
    }

    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        self.counts.rejects += 1;
        self.refusal = Some(format!("{} {}", rejected.code, rejected.reason));
    }

    fn on_gap(&mut self, _: &mut Sender<'_>, gap: order_entry::Gap) {
        self.counts.error(format_args!("messages of the exchange are missing: {gap:?}"));
    }

    fn on_error(&mut self, _: &mut Sender<'_>, error: &order_entry::Error) {
        self.counts.error(format_args!("session: {error}"));
        self.refusal.get_or_insert_with(|| error.to_string());
    }
}
