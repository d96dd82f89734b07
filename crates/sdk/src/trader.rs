//! The loop: feeds, sessions, reactor and clock as siblings.

use std::io::Write;
use std::path::{Path, PathBuf};

use hairpin_feed_handler::{ChannelState, FeedHandler, FilterName};
use hairpin_host::Clock;
use hairpin_order_entry::{NotAppliedAnswer, OrdersLeft, SecurityId, State as SessionState};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant, Now};

use crate::adapters::{FeedAdapter, SessionAdapter};
use crate::builder::cache_path;
use crate::cl_ord_ids::ClOrdIds;
use crate::names::{Names, Others};
use crate::state::{JournalContent, Positions, SegmentSession, State, TIMERS_MAX};
use crate::{Builder, ChannelId, Context, Error, NotReady, Problem, Result, StopHandle, Strategy};

/// The longest wait for the exchange to answer a Terminate, and before it a cancel of all orders.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest sleep of the loop, so that a stop request is read in time.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// The opened parts of a trader.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) clock: Clock,
    pub(crate) reactor: Reactor,
    pub(crate) channels: Vec<ChannelId>,
    pub(crate) feeds: Vec<FeedHandler>,
    pub(crate) sessions: Vec<SegmentSession>,
    pub(crate) names: Vec<(String, SecurityId)>,
    pub(crate) core: Option<usize>,
    pub(crate) caches: Option<PathBuf>,
}

/// The low-level parts of a [`Trader`], for functions beyond this crate.
#[derive(Debug)]
pub struct PartsMut<'a> {
    /// The feed handlers, in the order of the channels.
    pub feeds: &'a mut [FeedHandler],
    /// The sessions, in the order of order.toml.
    pub sessions: &'a mut [SegmentSession],
    /// The reactor of all of them.
    pub reactor: &'a mut Reactor,
}

/// Market data and order entry for one strategy, on one thread.
///
/// ```no_run
/// use hairpin::prelude::*;
///
/// struct Quoter;
/// impl Strategy for Quoter {
///     fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
///         let Some(best) = book.best_bid().filter(|_| ctx.is_ready()) else { return };
///         let Some(price) = book.instrument().add_ticks(best.price, -40) else { return };
///         if let Err(error) = ctx.buy(book.security_id(), Quantity(1), price) {
///             eprintln!("not sent: {error}");
///         }
///     }
/// }
/// Trader::open("config.xml", 310, "order.toml")?.run(&mut Quoter)?;
/// # Ok::<(), hairpin::Error>(())
/// ```
#[derive(Debug)]
pub struct Trader {
    parts: Parts,
    state: State,
    stop: StopHandle,
    /// The reason for which it is not ready; `None` if it is.
    not_ready: Option<NotReady>,
    /// The names of the filter were compared with the definitions.
    filter_checked: bool,
    /// The latest end of the cancel of all orders that has begun.
    cancel_deadline: Option<Instant>,
    /// The latest end of a graceful termination that has begun.
    stop_deadline: Option<Instant>,
    /// The orders that are left were reported.
    left_reported: bool,
}

/// Market data for one strategy.
#[derive(Debug)]
pub struct Feed(Trader);

/// Order entry for one strategy.
#[derive(Debug)]
pub struct Session(Trader);

impl Trader {
    /// Opens a channel of config.xml and the sessions of order.toml. The sessions resume what
    /// their journals have, and negotiate otherwise.
    ///
    /// # Errors
    /// [`Error`], displayed in one line.
    pub fn open(
        config: impl AsRef<Path>,
        channel: impl Into<ChannelId>,
        orders: impl AsRef<Path>,
    ) -> Result<Self> {
        Self::builder(config, orders).channel(channel).open()
    }

    /// Returns the settings of a trader, to change them before [`Builder::open`].
    pub fn builder(config: impl AsRef<Path>, orders: impl AsRef<Path>) -> Builder<Self> {
        Builder::new(Some(config.as_ref()), Some(orders.as_ref()))
    }

    pub(crate) fn new(parts: Parts, content: JournalContent) -> Self {
        let now = parts.clock.now();
        let mut positions = Positions::new();
        content.fills.iter().for_each(|&(id, change)| positions.change(id, change));
        let state = State {
            ids: ClOrdIds::new(now.utc, content.last_run),
            positions,
            timers: Vec::with_capacity(TIMERS_MAX),
            is_ready: false,
            stop_requested: false,
            is_canceling: false,
            failure: None,
        };
        let mut trader = Self {
            parts,
            state,
            stop: StopHandle::default(),
            not_ready: None,
            filter_checked: false,
            cancel_deadline: None,
            stop_deadline: None,
            left_reported: false,
        };
        trader.parts.sessions.iter_mut().for_each(|it| it.session.start(now));
        trader.not_ready = trader.find_not_ready();
        trader
    }

    /// Runs until the strategy or a [`StopHandle`] stops it, or until an error. Terminates the
    /// sessions gracefully. Orders stay at the exchange, unless
    /// [`Builder::cancel_on_quit`] is set; the strategy receives [`Problem::OrdersLeft`].
    ///
    /// # Errors
    /// [`Error`]: rejected credentials, used-up attempts to connect, failed system calls.
    pub fn run(mut self, strategy: &mut impl Strategy) -> Result<()> {
        self.pin()?;
        while self.turn(strategy)? {}
        self.save_definition_caches()
    }

    /// Pins the calling thread to the core of [`Builder::core`], if there is one.
    /// [`run`](Self::run) does this first.
    ///
    /// # Errors
    /// [`Error::Core`].
    pub fn pin(&self) -> Result<()> {
        let Some(core) = self.parts.core else { return Ok(()) };
        hairpin_host::pin(core).map_err(|error| Error::Core(error.to_string()))
    }

    /// Runs one iteration, for callers with their own loop: waits at most 100 ms, processes what
    /// has arrived, and sends what the strategy decides. Returns `false` once the run has ended.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    #[inline]
    pub fn turn<S: Strategy>(&mut self, strategy: &mut S) -> Result<bool> {
        let before = self.parts.clock.instant();
        // A spinning wait returns at once.
        let spins = self.parts.reactor.kind() == Wait::Spin;
        let deadline = if spins { before } else { self.next_deadline(before) };
        let ready = self.parts.reactor.wait(before, Some(deadline))?;
        // One clock reading per wakeup.
        let now = self.parts.clock.now();
        self.process_feeds(now, ready, strategy)?;
        self.process_sessions(now, ready, strategy)?;
        self.parts.clock.recalibrate_if_due(now.monotonic);
        let needs_update = self.state.timers.last().is_some_and(|(at, _)| *at <= now.monotonic)
            || self.find_not_ready() != self.not_ready
            || self.state.stop_requested
            || self.stop.is_stopped()
            || self.state.failure.is_some();
        if needs_update { self.update(now, strategy) } else { Ok(true) }
    }

    /// Returns a handle that stops the run from any thread.
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Stops the run gracefully on SIGINT and SIGTERM. The same signal again, at least 200 ms
    /// later, ends the process at once.
    ///
    /// # Errors
    /// The errors of `sigaction(2)`.
    pub fn stop_on_signals(self) -> Result<Self> {
        self.stop.stop_on_signals()?;
        Ok(self)
    }

    /// Returns the instrument with a symbol: of `[instruments]` in order.toml, or of a received
    /// definition.
    ///
    /// # Errors
    /// [`Error::UnknownSymbol`].
    pub fn security_id(&self, symbol: &str) -> Result<SecurityId> {
        let Parts { names, feeds, .. } = &self.parts;
        let id = Names::new(&Others::all(names, feeds)).security_id(symbol);
        id.ok_or_else(|| Error::UnknownSymbol(symbol.to_owned()))
    }

    /// Returns `true` if all books are in sync and all sessions established, and the run is not
    /// ending.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.state.is_ready
    }

    /// Returns the feed handlers, the sessions and the reactor, for functions beyond this crate.
    pub fn parts_mut(&mut self) -> PartsMut<'_> {
        let Parts { feeds, sessions, reactor, .. } = &mut self.parts;
        PartsMut { feeds, sessions, reactor }
    }

    #[inline]
    fn next_deadline(&self, now: Instant) -> Instant {
        let mut deadline = now + MAX_SLEEP;
        for feed in &self.parts.feeds {
            deadline = feed.next_deadline().map_or(deadline, |at| at.min(deadline));
        }
        for it in &self.parts.sessions {
            deadline = it.session.next_deadline().map_or(deadline, |at| at.min(deadline));
        }
        self.state.timers.last().map_or(deadline, |(at, _)| deadline.min(*at))
    }

    #[inline]
    fn process_feeds<S: Strategy>(
        &mut self,
        now: Now,
        ready: Ready,
        strategy: &mut S,
    ) -> Result<()> {
        let Parts { reactor, channels, feeds, sessions, names, .. } = &mut self.parts;
        for (number, &channel) in channels.iter().enumerate() {
            let (before, rest) = feeds.split_at_mut(number);
            let Some((feed, after)) = rest.split_first_mut() else { break };
            let others = Others { configured: names, before, after };
            let mut adapter = FeedAdapter {
                strategy,
                channel,
                now,
                state: &mut self.state,
                names: Names::new(&others),
                sessions,
            };
            match feed.process(now, ready, reactor, &mut adapter) {
                Ok(()) => {}
                // The feed handler recovers by itself.
                Err(error) if error.is_transient() => {
                    let problem = Problem::Feed(channel, &error);
                    let others = Others::all(names, feeds);
                    let mut context = Context {
                        now,
                        state: &mut self.state,
                        names: Names::new(&others),
                        before: sessions,
                        current: None,
                        after: &mut [],
                    };
                    strategy.on_problem(&problem, &mut context);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    #[inline]
    fn process_sessions<S: Strategy>(
        &mut self,
        now: Now,
        ready: Ready,
        strategy: &mut S,
    ) -> Result<()> {
        let Parts { reactor, feeds, sessions, names, .. } = &mut self.parts;
        let others = Others::all(names, feeds);
        for number in 0..sessions.len() {
            let (before, rest) = sessions.split_at_mut(number);
            let Some((it, after)) = rest.split_first_mut() else { break };
            let SegmentSession { segment, session, orders, was_established, .. } = it;
            let mut adapter = SessionAdapter {
                strategy,
                now,
                state: &mut self.state,
                names: Names::new(&others),
                segment: *segment,
                orders,
                was_established,
                answer: NotAppliedAnswer::default(),
                before,
                after,
            };
            session.process(now, ready, reactor, &mut adapter)?;
        }
        Ok(())
    }

    /// Returns the first part that is not ready.
    #[inline]
    fn find_not_ready(&self) -> Option<NotReady> {
        let Parts { channels, feeds, sessions, .. } = &self.parts;
        for (channel, feed) in channels.iter().zip(feeds) {
            if feed.channel().state() != ChannelState::InSync {
                return Some(NotReady::Books(*channel));
            }
        }
        for it in sessions {
            if it.session.session().state() != SessionState::Established {
                return Some(NotReady::Session(it.segment));
            }
        }
        None
    }

    /// Returns the first name of the filter that no channel has, once all definitions are known.
    fn unmatched_name(&self) -> Option<FilterName> {
        let channels = self.parts.feeds.iter().map(|feed| feed.channel().unmatched_names());
        let mut of_each = channels.map(|names| names.map(Iterator::collect::<Vec<_>>));
        let first = of_each.next()??;
        let others = of_each.collect::<Option<Vec<_>>>()?;
        first.into_iter().find(|name| others.iter().all(|names| names.contains(name)))
    }

    /// Runs expired timers, reports readiness, and stops. Returns `false` once the run has ended.
    #[cold]
    fn update<S: Strategy>(&mut self, now: Now, strategy: &mut S) -> Result<bool> {
        if let Some(failure) = self.state.failure.take() {
            self.abandon(now)?;
            return Err(failure);
        }
        while let Some(timer) = self.state.expired(now.monotonic) {
            self.call(now, |context| strategy.on_timer(timer, context));
        }
        let not_ready = self.find_not_ready();
        if !self.filter_checked && !matches!(not_ready, Some(NotReady::Books(_))) {
            self.filter_checked = true;
            if let Some(name) = self.unmatched_name() {
                self.abandon(now)?;
                return Err(Error::UnmatchedFilter(name));
            }
        }
        let before = std::mem::replace(&mut self.not_ready, not_ready);
        self.state.is_ready = not_ready.is_none() && !self.state.stop_requested;
        match (before, not_ready) {
            (Some(_), None) => self.call(now, |context| strategy.on_ready(context)),
            (None, Some(reason)) => {
                self.call(now, |context| strategy.on_not_ready(reason, context))
            }
            _ => {}
        }
        self.stop_if_requested(now, strategy)
    }

    /// Runs a callback outside of those of channels and sessions.
    fn call(&mut self, now: Now, callback: impl FnOnce(&mut Context<'_>)) {
        let Parts { feeds, sessions, names, .. } = &mut self.parts;
        callback(&mut Context {
            now,
            state: &mut self.state,
            names: Names::new(&Others::all(names, feeds)),
            before: sessions,
            current: None,
            after: &mut [],
        });
    }

    /// Cancels all orders if that is set, and terminates the sessions, if a stop was requested.
    /// Returns `false` once all have ended.
    fn stop_if_requested<S: Strategy>(&mut self, now: Now, strategy: &mut S) -> Result<bool> {
        if !self.state.stop_requested && !self.stop.is_stopped() {
            return Ok(true);
        }
        (self.state.stop_requested, self.state.is_ready) = (true, false);
        if self.stop_deadline.is_none() && self.is_canceling(now) {
            return Ok(true);
        }
        let deadline = match self.stop_deadline {
            Some(deadline) => deadline,
            None => {
                self.parts.sessions.iter_mut().for_each(|it| it.session.stop());
                // The connector terminates at the next call.
                self.process_sessions(now, Ready::EMPTY, strategy)?;
                *self.stop_deadline.insert(now.monotonic + TERMINATE_TIMEOUT)
            }
        };
        let is_over = self.parts.sessions.iter().all(|it| it.session.is_idle());
        if !is_over && now.monotonic < deadline {
            return Ok(true);
        }
        if !is_over {
            self.abandon(now)?;
        }
        if let Some(left) = self.take_orders_left() {
            self.call(now, |context| strategy.on_problem(&Problem::OrdersLeft(left), context));
        }
        self.close_journals()
    }

    /// Cancels the orders of sessions that are set to do so. Returns `true` while the exchange may
    /// still report cancels, and at most for [`TERMINATE_TIMEOUT`].
    fn is_canceling(&mut self, now: Now) -> bool {
        let deadline = match self.cancel_deadline {
            Some(deadline) => deadline,
            None => {
                self.parts.sessions.iter_mut().for_each(|it| it.cancel_on_quit(now));
                self.state.is_canceling = self.parts.sessions.iter().any(|it| it.cancel_on_quit);
                *self.cancel_deadline.insert(now.monotonic + TERMINATE_TIMEOUT)
            }
        };
        now.monotonic < deadline && self.parts.sessions.iter().any(SegmentSession::is_canceling)
    }

    /// Returns the orders that are left in all sessions, once, if there are any.
    fn take_orders_left(&mut self) -> Option<OrdersLeft> {
        let of_each = self.parts.sessions.iter().map(SegmentSession::left);
        let left = of_each.filter(|left| !left.is_empty()).reduce(|sum, left| OrdersLeft {
            working: sum.working + left.working,
            unanswered: sum.unanswered + left.unanswered,
            cancel: sum.cancel,
        });
        left.filter(|_| !std::mem::replace(&mut self.left_reported, true))
    }

    /// Syncs the journals to disk at the end of the run. Returns `false`: the run has ended.
    fn close_journals(&mut self) -> Result<bool> {
        for it in &mut self.parts.sessions {
            it.session.close_journal().map_err(|error| {
                Error::Journal(format!("cannot write the journal to disk: {error}"))
            })?;
        }
        Ok(false)
    }

    fn abandon(&mut self, now: Now) -> Result<()> {
        let Parts { sessions, reactor, .. } = &mut self.parts;
        for it in sessions {
            it.session.abandon(now, reactor, &mut ())?;
        }
        Ok(())
    }

    /// Saves the definitions in the folder of [`Builder::definition_cache`], if there is one.
    /// [`run`](Self::run) does this at its end.
    ///
    /// # Errors
    /// [`Error::Cache`].
    pub fn save_definition_caches(&mut self) -> Result<()> {
        let Some(folder) = &self.parts.caches else { return Ok(()) };
        let now = self.parts.clock.now().utc;
        for (channel, feed) in self.parts.channels.iter().zip(&mut self.parts.feeds) {
            let path = cache_path(folder, *channel);
            if let Some(cache) = feed.definition_cache() {
                cache.save(&path, now).map_err(|error| Error::Cache { path, error })?;
            }
        }
        Ok(())
    }
}

/// A run that ends without a stop, because of an error or a drop, cannot wait for cancels and has
/// no strategy to report to.
impl Drop for Trader {
    fn drop(&mut self) {
        let now = self.parts.clock.now();
        if !self.left_reported {
            self.parts.sessions.iter_mut().for_each(|it| it.cancel_on_quit(now));
        }
        if let Some(left) = self.take_orders_left() {
            // A closed standard error changes nothing.
            let _ = writeln!(std::io::stderr(), "hairpin: {left}");
        }
    }
}

/// Defines the functions that all three types have.
macro_rules! facade {
    ($name:ident) => {
        impl From<Trader> for $name {
            fn from(trader: Trader) -> Self {
                Self(trader)
            }
        }

        impl From<$name> for Trader {
            fn from(part: $name) -> Self {
                part.0
            }
        }

        impl $name {
            /// Runs until the strategy or a [`StopHandle`] stops it, or until an error; see
            /// [`Trader::run`].
            ///
            /// # Errors
            /// Those of [`Trader::run`].
            pub fn run(self, strategy: &mut impl Strategy) -> Result<()> {
                self.0.run(strategy)
            }

            /// Runs one iteration, for callers with their own loop; see [`Trader::turn`].
            ///
            /// # Errors
            /// Those of [`Trader::turn`].
            #[inline]
            pub fn turn<S: Strategy>(&mut self, strategy: &mut S) -> Result<bool> {
                self.0.turn(strategy)
            }

            /// Returns a handle that stops the run from any thread.
            #[must_use]
            pub fn stop_handle(&self) -> StopHandle {
                self.0.stop_handle()
            }

            /// Stops the run gracefully on SIGINT and SIGTERM; see [`Trader::stop_on_signals`].
            ///
            /// # Errors
            /// Those of [`Trader::stop_on_signals`].
            pub fn stop_on_signals(self) -> Result<Self> {
                self.0.stop_on_signals().map(Self)
            }

            /// Returns the instrument with a symbol; see [`Trader::security_id`].
            ///
            /// # Errors
            /// [`Error::UnknownSymbol`].
            pub fn security_id(&self, symbol: &str) -> Result<SecurityId> {
                self.0.security_id(symbol)
            }

            /// Returns `true` if it is ready; see [`Trader::is_ready`].
            #[must_use]
            pub const fn is_ready(&self) -> bool {
                self.0.is_ready()
            }

            /// Returns the low-level parts; see [`Trader::parts_mut`].
            pub fn parts_mut(&mut self) -> PartsMut<'_> {
                self.0.parts_mut()
            }
        }
    };
}

facade!(Feed);
facade!(Session);

impl Feed {
    /// Opens a channel of config.xml on the interface that the host's routes select.
    ///
    /// # Errors
    /// [`Error`], displayed in one line.
    pub fn open(config: impl AsRef<Path>, channel: impl Into<ChannelId>) -> Result<Self> {
        Self::builder(config).channel(channel).open()
    }

    /// Returns the settings of a feed, to change them before [`Builder::open`].
    pub fn builder(config: impl AsRef<Path>) -> Builder<Self> {
        Builder::new(Some(config.as_ref()), None)
    }
}

impl Session {
    /// Opens the sessions of order.toml. They resume what their journals have, and negotiate
    /// otherwise.
    ///
    /// # Errors
    /// [`Error`], displayed in one line.
    pub fn open(orders: impl AsRef<Path>) -> Result<Self> {
        Self::builder(orders).open()
    }

    /// Returns the settings of a session, to change them before [`Builder::open`].
    pub fn builder(orders: impl AsRef<Path>) -> Builder<Self> {
        Builder::new(None, Some(orders.as_ref()))
    }
}
