//! Several channels on one engine.

mod channel_feed;
mod listeners;
mod shared_line;

use std::io;

use hairpin_mdp3::{Action, Channel, ChannelState, Filter, Input, Listener, Settings};
use hairpin_time::{Instant, Now};

pub(crate) use channel_feed::ChannelFeed;
pub use listeners::{Listeners, SharedListener};
pub(crate) use shared_line::{SharedLine, Subscription};

use crate::channel_input::ChannelInput;
use crate::channel_replay::ChannelReplay;
use crate::feed_handler::{RECOVERY_WAKE, previous_process_time};
use crate::{
    Arrival, CacheError, CacheWarmer, DefinitionCache, EngineError, FeedEngine, FeedError,
    LineAddress, LineId, LineStatistics, Multicast, ReplayError, Statistics,
};

/// The index of a channel in [`FeedHandlers`], in the order of [`FeedHandlers::add`], from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandlerId(u32);

impl HandlerId {
    /// Returns the index.
    #[inline]
    #[must_use]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// Several market data channels on one engine, each with a listener.
///
/// Feeds and channels may share ports and whole lines. Each line is opened once, and each packet is
/// delivered to every feed on its line. A line stays joined while any of its feeds needs it. After
/// the last [`FeedHandlers::add`] only rejoined interfaces and replays allocate.
///
/// ```no_run
/// use hairpin_feed_handler::{FeedHandlers, Listener, Multicast, Settings, SocketEngine};
/// use hairpin_reactor::Wait;
/// # fn now() -> hairpin_time::Now { unreachable!() }
/// # fn addresses(_: &str) -> Multicast { unreachable!() }
///
/// struct Printer(&'static str);
/// impl Listener for Printer {}
///
/// let mut feeds = FeedHandlers::new(SocketEngine::new(Wait::Epoll)?);
/// for channel in ["310", "318"] {
///     feeds.add(Settings::default(), &addresses(channel))?;
/// }
/// let mut listeners = [Printer("310"), Printer("318")];
/// loop {
///     feeds.wait(now())?;
///     if let Err(error) = feeds.process(now(), &mut listeners) {
///         eprintln!("{error}"); // reported once; the handlers continue
///     }
/// }
/// # #[allow(unreachable_code)]
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FeedHandlers<E> {
    engine: E,
    /// The lines by [`LineId`].
    lines: Vec<SharedLine>,
    channels: Vec<ChannelFeed>,
    /// The engine's time at the last call of [`FeedHandlers::process`].
    processed: Instant,
    /// A line has unread packets.
    unread: bool,
}

impl<E: FeedEngine> FeedHandlers<E> {
    /// Creates handlers without channels.
    #[must_use]
    pub fn new(engine: E) -> Self {
        let (lines, channels) = (Vec::new(), Vec::new());
        Self { engine, lines, channels, processed: Instant::ZERO, unread: false }
    }

    /// Adds a channel and joins the feeds that it needs to synchronize. Uses the feeds and sides
    /// that are in `settings` and have an address. Replay requires an engine with
    /// [`FeedEngine::streams`].
    ///
    /// # Errors
    /// [`FeedError::NoFeed`], [`FeedError::SameAddress`]: the addresses are invalid.
    /// [`FeedError::Replay`]: the replay client cannot be created.
    /// [`FeedError::Engine`]: a line cannot be opened or joined. The channel is not added.
    pub fn add(
        &mut self,
        settings: Settings,
        addresses: &Multicast,
    ) -> Result<HandlerId, FeedError> {
        self.add_with_filter(settings, Filter::default(), addresses)
    }

    /// Adds a channel with a filter for its instruments.
    ///
    /// # Errors
    /// The errors of [`FeedHandlers::add`].
    pub fn add_with_filter(
        &mut self,
        settings: Settings,
        filter: Filter,
        addresses: &Multicast,
    ) -> Result<HandlerId, FeedError> {
        addresses.check()?;
        let mut settings = addresses.fit(settings);
        if self.engine.streams().is_none() {
            settings.replay = None;
        }
        let replay = match &addresses.replay {
            Some(server) => ChannelReplay::open(server, &settings, addresses.interface)?,
            None => None,
        };
        let handler = self.channels.len();
        let mut opened = Vec::new();
        for (feed, side, group) in addresses.groups() {
            opened.push((self.line(&addresses.line(group))?, feed, side));
        }
        let lines = opened.iter().map(|&(line, ..)| line).collect();
        for (line, feed, side) in opened {
            let line = &mut self.lines[line.as_usize()];
            line.subscriptions.push(Subscription::new(handler, feed, side));
        }
        let channel_input = ChannelInput::new(Channel::new_with_filter(settings, filter));
        self.channels.push(ChannelFeed::new(channel_input, lines, replay));
        let outcome = self.handle_actions(handler);
        if outcome.is_err() {
            self.remove_last(handler);
        }
        outcome.map(|()| HandlerId(handler as u32))
    }

    /// Waits until packets may have arrived or a timer is due.
    ///
    /// # Errors
    /// [`FeedError::Engine`].
    #[inline]
    pub fn wait(&mut self, now: Now) -> Result<(), FeedError> {
        self.wait_until(now, None)
    }

    /// Waits like [`FeedHandlers::wait`], but no later than `deadline`.
    ///
    /// # Errors
    /// [`FeedError::Engine`].
    #[inline]
    pub fn wait_until(&mut self, now: Now, deadline: Option<Instant>) -> Result<(), FeedError> {
        let deadline = self.next_deadline().into_iter().chain(deadline).min();
        self.engine.wait(now.monotonic, deadline).map_err(|error| EngineError::Io(error).into())
    }

    /// Processes one wakeup: delivers received packets to the channels, runs timers, joins and
    /// leaves lines. If no channel received a packet, reports an idle loop to each listener, once
    /// per channel.
    ///
    /// `listeners` holds one listener per channel, in the order in which the channels were added,
    /// or one for all channels ([`SharedListener`]).
    ///
    /// # Errors
    /// The first of several; all other work is done, and the next call continues. The loss of an
    /// interface is reported once.
    #[inline]
    pub fn process(
        &mut self,
        now: Now,
        listeners: &mut (impl Listeners + ?Sized),
    ) -> Result<(), FeedError> {
        let Self { engine, lines, channels, .. } = self;
        let mut is_idle = true;
        let received = engine.receive(now, &mut |at, arrival| {
            is_idle = false;
            if E::HAS_OWN_CLOCK {
                advance_time(at, channels, listeners);
            }
            dispatch::<E>(at, &arrival, lines, channels, listeners);
        });
        let now = self.engine.now(now);
        let before = previous_process_time(&mut self.processed, now);
        // An engine's own time does not advance while packets are unread.
        let timeout_now = if E::HAS_OWN_CLOCK { now } else { before };
        self.unread = false;
        let mut outcome = received.map_err(FeedError::from);
        for handler in 0..self.channels.len() {
            if self.channels[handler].is_replaying() {
                let listener = listeners.listener(HandlerId(handler as u32));
                outcome = outcome.and(self.poll_replay(handler, now, listener));
            }
            if !self.may_fill_gap(handler) {
                let channel = &mut self.channels[handler].channel_input.channel;
                channel.handle_timeout(timeout_now, listeners.listener(HandlerId(handler as u32)));
            }
            outcome = outcome.and(self.handle_actions(handler));
            if self.channels[handler].is_replaying() {
                self.start_replay(handler, now, listeners.listener(HandlerId(handler as u32)));
            }
            if is_idle {
                listeners.listener(HandlerId(handler as u32)).on_idle(now);
            }
        }
        outcome
    }

    /// Returns the next time, on the engine's clock, at which [`FeedHandlers::process`] must run
    /// without input.
    #[must_use]
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.unread {
            return Some(self.processed);
        }
        let channels = self.channels.iter().flat_map(|feed| {
            let is_in_sync = feed.channel_input.channel.state() == ChannelState::InSync;
            let is_slow = !is_in_sync || feed.is_replaying();
            let recovery = is_slow.then(|| self.processed + RECOVERY_WAKE);
            let replay = feed.replay.as_ref().and_then(|replay| replay.next_deadline());
            [feed.channel_input.channel.poll_timeout(), recovery, replay]
        });
        channels.chain([self.engine.next_deadline()]).flatten().min()
    }

    /// Passes cached definitions to a channel before its first packet; see
    /// [`FeedHandler::load_definitions`](crate::FeedHandler::load_definitions).
    ///
    /// # Errors
    /// [`CacheError::NotCollecting`].
    ///
    /// # Panics
    /// If the handler id is unknown.
    pub fn load_definitions(
        &mut self,
        handler: HandlerId,
        cache: &DefinitionCache,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<usize, CacheError> {
        cache.load_into(&mut self.channels[handler.as_usize()].channel_input.channel, now, listener)
    }

    /// Sets a cache that records every definition of a channel from now on.
    ///
    /// # Panics
    /// If the handler id is unknown.
    pub fn set_definition_cache(&mut self, handler: HandlerId, cache: DefinitionCache) {
        self.channels[handler.as_usize()].channel_input.definitions = Some(Box::new(cache));
    }

    /// Returns the cache that records a channel's definitions, to save it.
    ///
    /// # Panics
    /// If the handler id is unknown.
    pub fn definition_cache(&mut self, handler: HandlerId) -> Option<&mut DefinitionCache> {
        self.channels[handler.as_usize()].channel_input.definitions.as_deref_mut()
    }

    /// Keeps a packet's code path warm in the CPU caches. Call when [`FeedHandlers::process`]
    /// received nothing.
    ///
    /// Reads the memory that the channel's next packet would read. At each interval of `warmer`
    /// also sends a synthetic packet through the path, from the engine to the callbacks. Returns
    /// `true` if it did. `listeners` receives the synthetic packet as channel 0 ([`CacheWarmer`]).
    ///
    /// # Panics
    /// If the handler id is unknown.
    /// If the number is of others.
    #[inline]
    pub fn keep_warm(
        &self,
        handler: HandlerId,
        warmer: &mut CacheWarmer,
        now: Now,
        listeners: &mut (impl Listeners + ?Sized),
    ) -> bool {
        let feed = &self.channels[handler.as_usize()];
        for &line in &feed.lines {
            self.lines[line.as_usize()].prefetch();
        }
        warmer.prefetch(&feed.channel_input.channel);
        warmer.poll_with(now, |arrival, line, channel| {
            dispatch::<E>(now, arrival, line, channel, listeners);
        })
    }

    /// Returns the number of channels.
    #[must_use]
    pub fn count(&self) -> usize {
        self.channels.len()
    }

    /// Returns a channel: state, instruments, books and counters.
    ///
    /// # Panics
    /// If the handler id is unknown.
    #[must_use]
    pub fn channel(&self, handler: HandlerId) -> &Channel {
        &self.channels[handler.as_usize()].channel_input.channel
    }

    /// Returns every channel with its id.
    pub fn channels(&self) -> impl Iterator<Item = (HandlerId, &Channel)> {
        (0..).map(HandlerId).zip(self.channels.iter().map(|feed| &feed.channel_input.channel))
    }

    /// Returns the engine.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// Returns the engine mutably, for functions beyond [`FeedEngine`].
    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// Returns the counters of each side of each feed of a channel. Feeds that share a line each
    /// count the packets received while they were joined. Buffer, drops and truncations are the
    /// line's.
    pub fn lines(&self, handler: HandlerId) -> impl Iterator<Item = LineStatistics> {
        let feed = &self.channels[handler.as_usize()];
        feed.lines.iter().flat_map(move |&id| {
            let (line, counters) = (&self.lines[id.as_usize()], self.engine.line_counters(id));
            line.statistics(handler.as_usize(), counters)
        })
    }

    /// Returns the sum of the lines' counters since startup, each line once.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let each = self.lines.iter().enumerate().map(|(number, line)| {
            let counters = self.engine.line_counters(LineId::new(number));
            let is_short = counters.receive_buffer.is_some_and(|buffer| buffer.is_short());
            Statistics {
                packets: line.packets,
                bytes: line.bytes,
                kernel_drops: counters.drops,
                truncated: counters.truncated,
                receive_buffers_short: u64::from(is_short),
                ..Statistics::default()
            }
        });
        let replays = self.channels.iter().flat_map(|feed| &feed.replay);
        each.chain(replays.map(|replay| replay.statistics()))
            .fold(Statistics::default(), Statistics::plus)
    }

    /// Returns the cause of a channel's last failed replay request.
    ///
    /// # Panics
    /// If the handler id is unknown.
    #[must_use]
    pub fn last_replay_failure(&self, handler: HandlerId) -> Option<&ReplayError> {
        self.channels[handler.as_usize()].replay.as_ref()?.last_failure()
    }

    /// Closes all lines and replay connections, and returns the engine. The engine and its reactor
    /// remain usable, and may serve other handlers.
    pub fn close(mut self) -> (E, Result<(), FeedError>) {
        if let Some((reactor, _)) = self.engine.streams() {
            let replays = self.channels.iter_mut().filter_map(|feed| feed.replay.as_mut());
            replays.for_each(|replay| replay.close(reactor));
        }
        let mut outcome = Ok(());
        for (number, line) in self.lines.iter().enumerate().filter(|(_, line)| line.joined) {
            let left = self.engine.leave(LineId::new(number));
            outcome = outcome.and(left.map_err(|error| line_error(&line.address, error)));
        }
        let closed = self.engine.close().map_err(|error| EngineError::Io(error).into());
        (self.engine, outcome.and(closed))
    }

    /// Returns the line with this address; opens a new line if necessary.
    fn line(&mut self, address: &LineAddress) -> Result<LineId, FeedError> {
        if let Some(number) = self.lines.iter().position(|line| line.address == *address) {
            return Ok(LineId::new(number));
        }
        let line = self.engine.open(address).map_err(|error| line_error(address, error))?;
        assert_eq!(line.as_usize(), self.lines.len(), "an engine numbers its lines in order");
        self.lines.push(SharedLine::new(address.clone()));
        Ok(line)
    }

    /// Returns `true` if a line of the channel's incremental feed has unread packets.
    #[inline]
    fn may_fill_gap(&mut self, handler: usize) -> bool {
        let mut may_fill_gap = false;
        for &line in &self.channels[handler].lines {
            if self.engine.has_more(line) {
                self.unread = true;
                let mut feeds = self.lines[line.as_usize()].subscriptions.iter();
                may_fill_gap |= feeds.any(|it| it.handler == handler && it.is_incremental());
            }
        }
        may_fill_gap
    }

    /// Executes the actions that a channel requests.
    #[inline]
    fn handle_actions(&mut self, handler: usize) -> Result<(), FeedError> {
        record_actions(handler, &mut self.lines, &mut self.channels[handler]);
        if self.channels[handler].joins_changed { self.update_joins(handler) } else { Ok(()) }
    }

    /// Delivers packets from the replay server. A request made during this call first replaces the
    /// request in progress.
    #[cold]
    fn poll_replay(
        &mut self,
        handler: usize,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let outcome = self.handle_actions(handler);
        self.start_replay(handler, now, listener);
        let ChannelFeed { channel_input, replay, .. } = &mut self.channels[handler];
        if let (Some(replay), Some((reactor, ready))) = (replay, self.engine.streams()) {
            replay.poll(now, ready, reactor, channel_input, listener);
        }
        outcome
    }

    /// Starts the replay that a channel requested.
    #[cold]
    fn start_replay(&mut self, handler: usize, now: Now, listener: &mut impl Listener) {
        let ChannelFeed { channel_input, replay, .. } = &mut self.channels[handler];
        if let (Some(replay), Some((reactor, _))) = (replay, self.engine.streams()) {
            replay.start_requested(now, reactor, channel_input, listener);
        }
    }

    /// Joins the lines that a feed needs, and leaves the others.
    #[cold]
    fn update_joins(&mut self, handler: usize) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        self.channels[handler].joins_changed = false;
        for &id in &self.channels[handler].lines {
            let line = &mut self.lines[id.as_usize()];
            let is_wanted = line.is_wanted();
            if is_wanted == line.joined {
                continue;
            }
            line.joined = is_wanted;
            let done = if is_wanted { self.engine.join(id) } else { self.engine.leave(id) };
            outcome = outcome.and(done.map_err(|error| line_error(&line.address, error)));
        }
        outcome
    }

    /// Removes the channel added last. Its lines stay open, but are left.
    #[cold]
    fn remove_last(&mut self, handler: usize) {
        for line in &mut self.lines {
            line.subscriptions.retain(|subscription| subscription.handler != handler);
        }
        // The first error is the cause; a leave error would hide it.
        let _ = self.update_joins(handler);
        self.channels.truncate(handler);
    }
}

/// Advances the channels' time on an engine with its own clock: runs the timeouts due by then.
#[inline]
fn advance_time(at: Now, channels: &mut [ChannelFeed], listeners: &mut (impl Listeners + ?Sized)) {
    for (handler, feed) in (0..).zip(channels) {
        if feed.channel_input.channel.poll_timeout().is_some_and(|due| due <= at.monotonic) {
            feed.channel_input.channel.handle_timeout(at, listeners.listener(HandlerId(handler)));
        }
    }
}

/// Delivers a packet to every joined feed on its line.
///
/// Never inlined: synthetic packets ([`CacheWarmer`]) must execute the same instructions.
#[inline(never)]
fn dispatch<E: FeedEngine>(
    at: Now,
    arrival: &Arrival<'_>,
    lines: &mut [SharedLine],
    channels: &mut [ChannelFeed],
    listeners: &mut (impl Listeners + ?Sized),
) {
    let number = arrival.line.as_usize();
    let (line, length) = (&mut lines[number], arrival.bytes.len() as u64);
    line.packets += 1;
    line.bytes += length;
    for index in 0..line.subscriptions.len() {
        let subscription = &mut lines[number].subscriptions[index];
        if !subscription.joined {
            continue;
        }
        subscription.packets += 1;
        subscription.bytes += length;
        let Subscription { handler, feed, side, .. } = *subscription;
        let input = Input { feed, line: side, received: arrival.timestamp.utc() };
        let listener = listeners.listener(HandlerId(handler as u32));
        let feed = &mut channels[handler];
        feed.channel_input.handle_packet(at, input, arrival.bytes, listener);
        if E::HAS_OWN_CLOCK {
            record_actions(handler, lines, feed);
        }
    }
}

/// Records the feeds that a channel joins and leaves, and its replay requests.
#[inline]
fn record_actions(handler: usize, lines: &mut [SharedLine], feed: &mut ChannelFeed) {
    while let Some(action) = feed.channel_input.channel.poll_action() {
        let (changed, joined) = match action {
            Action::Join(changed) => (changed, true),
            Action::Leave(changed) => (changed, false),
            other => {
                if let Some(replay) = &mut feed.replay {
                    replay.handle_action(other);
                }
                continue;
            }
        };
        feed.joins_changed = true;
        for &line in &feed.lines {
            let subscriptions = lines[line.as_usize()].subscriptions.iter_mut();
            let matching = subscriptions.filter(|it| it.handler == handler && it.feed == changed);
            matching.for_each(|subscription| subscription.joined = joined);
        }
    }
}

#[cold]
fn line_error(address: &LineAddress, error: io::Error) -> FeedError {
    EngineError::Line { address: address.clone(), error }.into()
}
