//! Several channels on one engine.

mod channel_feed;
mod listeners;
mod shared_line;

use std::io;

use hairpin_mdp3::{Action, Channel, ChannelState, Filter, Input, Listener, Settings};
use hairpin_time::{Instant, Now};

pub(crate) use channel_feed::ChannelFeed;
pub use listeners::{Listeners, Same};
pub(crate) use shared_line::{SharedLine, Subscription};

use crate::feed_handler::{RECOVERY_WAKE, waited_from};
use crate::inlet::Inlet;
use crate::replay_line::ReplayLine;
use crate::{
    Arrival, CacheError, DefinitionCache, EngineError, FeedEngine, FeedError, KeepWarm,
    LineAddress, LineId, LineStatistics, Multicast, ReplayError, Statistics,
};

/// The number of a channel among [`FeedHandlers`], in the order of [`FeedHandlers::add`], from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandlerId(u32);

impl HandlerId {
    /// The number.
    #[inline]
    #[must_use]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// Several market data channels that are fed by one engine, each with a listener of its own.
///
/// Feeds and channels may share ports and whole lines: each line is opened once, and what arrives
/// on it is handed to every feed that is there. A line is joined for as long as any of its feeds is
/// wanted. Nothing is allocated after the last [`FeedHandlers::add`], but where an interface has
/// returned, and for each replay.
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
///         eprintln!("{error}"); // told once; the handlers go on
///     }
/// }
/// # #[allow(unreachable_code)]
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FeedHandlers<E> {
    engine: E,
    /// By the engine's numbers.
    lines: Vec<SharedLine>,
    channels: Vec<ChannelFeed>,
    /// When the last turn was, by the engine's time.
    processed: Instant,
    has_more: bool,
}

impl<E: FeedEngine> FeedHandlers<E> {
    /// No channels yet.
    #[must_use]
    pub fn new(engine: E) -> Self {
        let (lines, channels) = (Vec::new(), Vec::new());
        Self { engine, lines, channels, processed: Instant::ZERO, has_more: false }
    }

    /// Adds a channel, which joins what it needs to come in sync. Of the feeds and sides that the
    /// settings name those are used that have an address; a replay is asked for only if the engine
    /// has a way ([`FeedEngine::streams`]).
    ///
    /// # Errors
    /// [`FeedError::NoFeed`], [`FeedError::SameAddress`]: the addresses will not do.
    /// [`FeedError::Replay`]: the replay server cannot be asked.
    /// [`FeedError::Engine`]: a line cannot be opened or joined. Nothing of the channel stays.
    pub fn add(
        &mut self,
        settings: Settings,
        addresses: &Multicast,
    ) -> Result<HandlerId, FeedError> {
        self.add_with_filter(settings, Filter::default(), addresses)
    }

    /// Adds a channel of which some instruments are wanted.
    ///
    /// # Errors
    /// Those of [`FeedHandlers::add`].
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
            Some(server) => ReplayLine::open(server, &settings, addresses.interface)?,
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
        let inlet = Inlet::new(Channel::new_with_filter(settings, filter));
        self.channels.push(ChannelFeed::new(inlet, lines, replay));
        let outcome = self.act(handler);
        if outcome.is_err() {
            self.take_back(handler);
        }
        outcome.map(|()| HandlerId(handler as u32))
    }

    /// Waits until something may have arrived or something is due.
    ///
    /// # Errors
    /// [`FeedError::Engine`].
    #[inline]
    pub fn wait(&mut self, now: Now) -> Result<(), FeedError> {
        self.wait_until(now, None)
    }

    /// Waits as [`FeedHandlers::wait`], and not beyond `deadline`.
    ///
    /// # Errors
    /// [`FeedError::Engine`].
    #[inline]
    pub fn wait_until(&mut self, now: Now, deadline: Option<Instant>) -> Result<(), FeedError> {
        let deadline = self.next_deadline().into_iter().chain(deadline).min();
        self.engine.wait(now.monotonic, deadline).map_err(|error| EngineError::Io(error).into())
    }

    /// Does what a wake calls for: hands the channels what has arrived, calls their listeners, does
    /// what is due, joins and leaves. If nothing has arrived for any channel, each listener is told
    /// that the loop is idle, once for each channel.
    ///
    /// The listeners are as many as the channels, in the order in which these were added; or one
    /// for all ([`Same`]).
    ///
    /// # Errors
    /// The first, if there are several; everything that could be done was done nevertheless, and
    /// the next call goes on. An interface that has gone is told once.
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
            if E::HAS_OWN_TIME {
                pass_to(at, channels, listeners);
            }
            dispatch::<E>(at, &arrival, lines, channels, listeners);
        });
        let now = self.engine.now(now);
        let before = waited_from(&mut self.processed, now);
        // Time that is the engine's own does not pass while packets lie unread.
        let by_then = if E::HAS_OWN_TIME { now } else { before };
        self.has_more = false;
        let mut outcome = received.map_err(FeedError::from);
        for handler in 0..self.channels.len() {
            if self.channels[handler].is_refilling() {
                let listener = listeners.of(HandlerId(handler as u32));
                outcome = outcome.and(self.refill(handler, now, listener));
            }
            if !self.may_fill_hole(handler) {
                let channel = &mut self.channels[handler].inlet.channel;
                channel.handle_timeout(by_then, listeners.of(HandlerId(handler as u32)));
            }
            outcome = outcome.and(self.act(handler));
            if self.channels[handler].is_refilling() {
                self.ask(handler, now, listeners.of(HandlerId(handler as u32)));
            }
            if is_idle {
                listeners.of(HandlerId(handler as u32)).on_idle(now);
            }
        }
        outcome
    }

    /// When [`FeedHandlers::process`] is due though nothing has arrived, by the engine's time.
    #[must_use]
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.has_more {
            return Some(self.processed);
        }
        let channels = self.channels.iter().flat_map(|feed| {
            let is_in_sync = feed.inlet.channel.state() == ChannelState::InSync;
            let is_slow = !is_in_sync || feed.is_refilling();
            let recovery = is_slow.then(|| self.processed + RECOVERY_WAKE);
            let replay = feed.replay.as_ref().and_then(|replay| replay.next_deadline());
            [feed.inlet.channel.poll_timeout(), recovery, replay]
        });
        channels.chain([self.engine.next_deadline()]).flatten().min()
    }

    /// Gives a channel the definitions of a cache before its first packet; see
    /// [`FeedHandler::load_definitions`](crate::FeedHandler::load_definitions).
    ///
    /// # Errors
    /// [`CacheError::NotWanted`].
    ///
    /// # Panics
    /// If the number is of others.
    pub fn load_definitions(
        &mut self,
        handler: HandlerId,
        cache: &DefinitionCache,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<usize, CacheError> {
        cache.load_into(&mut self.channels[handler.as_usize()].inlet.channel, now, listener)
    }

    /// Has a cache note every definition of a channel from now on.
    ///
    /// # Panics
    /// If the number is of others.
    pub fn keep_definitions(&mut self, handler: HandlerId, cache: DefinitionCache) {
        self.channels[handler.as_usize()].inlet.definitions = Some(Box::new(cache));
    }

    /// The cache that notes a channel's definitions, to be saved.
    ///
    /// # Panics
    /// If the number is of others.
    pub fn definitions(&mut self, handler: HandlerId) -> Option<&mut DefinitionCache> {
        self.channels[handler.as_usize()].inlet.definitions.as_deref_mut()
    }

    /// Keeps the way of a packet warm, to be called when [`FeedHandlers::process`] has brought
    /// nothing: reads what the next packet of a channel would read, and puts a dry packet through
    /// the path if it is time, from the engine's hand to the callbacks; whether it did. `dry` is
    /// told of it as the listener of channel 0 ([`KeepWarm`]).
    ///
    /// # Panics
    /// If the number is of others.
    #[inline]
    pub fn keep_warm(
        &self,
        handler: HandlerId,
        warm: &mut KeepWarm,
        now: Now,
        dry: &mut (impl Listeners + ?Sized),
    ) -> bool {
        let feed = &self.channels[handler.as_usize()];
        for &line in &feed.lines {
            self.lines[line.as_usize()].prefetch();
        }
        warm.prefetch(&feed.inlet.channel);
        warm.turn_by(now, |arrival, line, channel| dispatch::<E>(now, arrival, line, channel, dry))
    }

    /// How many channels there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.channels.len()
    }

    /// A channel: its state, instruments, books and counters.
    ///
    /// # Panics
    /// If the number is of others.
    #[must_use]
    pub fn channel(&self, handler: HandlerId) -> &Channel {
        &self.channels[handler.as_usize()].inlet.channel
    }

    /// Every channel with its number.
    pub fn channels(&self) -> impl Iterator<Item = (HandlerId, &Channel)> {
        (0..).map(HandlerId).zip(self.channels.iter().map(|feed| &feed.inlet.channel))
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The engine, for what it can do beside feeding channels.
    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// What each side of each feed of a channel has received. Feeds that share a line have each
    /// counted what came while they were joined; buffer, drops and cuts are the line's.
    pub fn lines(&self, handler: HandlerId) -> impl Iterator<Item = LineStatistics> {
        let feed = &self.channels[handler.as_usize()];
        feed.lines.iter().flat_map(move |&id| {
            let (line, figures) = (&self.lines[id.as_usize()], self.engine.figures(id));
            line.statistics(handler.as_usize(), figures)
        })
    }

    /// What the lines have counted since the start, all together and each line once.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let each = self.lines.iter().enumerate().map(|(number, line)| {
            let figures = self.engine.figures(LineId::new(number));
            let is_short = figures.receive_buffer.is_some_and(|buffer| buffer.is_short());
            Statistics {
                packets: line.packets,
                bytes: line.bytes,
                kernel_drops: figures.drops,
                truncated: figures.truncated,
                receive_buffers_short: u64::from(is_short),
                ..Statistics::default()
            }
        });
        let replays = self.channels.iter().flat_map(|feed| &feed.replay);
        each.chain(replays.map(|replay| replay.statistics()))
            .fold(Statistics::default(), Statistics::plus)
    }

    /// Why the last request of a channel to its replay server that failed has failed.
    ///
    /// # Panics
    /// If the number is of others.
    #[must_use]
    pub fn last_replay_failure(&self, handler: HandlerId) -> Option<&ReplayError> {
        self.channels[handler.as_usize()].replay.as_ref()?.last_failure()
    }

    /// Takes everything from the engine and closes it: lines, and connections for replay. The
    /// engine, with the reactor of others in it, goes on, and may feed other handlers.
    pub fn close(mut self) -> (E, Result<(), FeedError>) {
        if let Some((reactor, _)) = self.engine.streams() {
            let replays = self.channels.iter_mut().filter_map(|feed| feed.replay.as_mut());
            replays.for_each(|replay| replay.close(reactor));
        }
        let mut outcome = Ok(());
        for (number, line) in self.lines.iter().enumerate().filter(|(_, line)| line.is_joined) {
            let left = self.engine.leave(LineId::new(number));
            outcome = outcome.and(left.map_err(|error| named(&line.address, error)));
        }
        let closed = self.engine.close().map_err(|error| EngineError::Io(error).into());
        (self.engine, outcome.and(closed))
    }

    /// The line of this address, opened if it is new.
    fn line(&mut self, address: &LineAddress) -> Result<LineId, FeedError> {
        if let Some(number) = self.lines.iter().position(|line| line.address == *address) {
            return Ok(LineId::new(number));
        }
        let line = self.engine.open(address).map_err(|error| named(address, error))?;
        assert_eq!(line.as_usize(), self.lines.len(), "an engine numbers lines as they are opened");
        self.lines.push(SharedLine::new(address.clone()));
        Ok(line)
    }

    /// Whether a line of the incremental feed has more to read.
    #[inline]
    fn may_fill_hole(&mut self, handler: usize) -> bool {
        let mut may_fill_hole = false;
        for &line in &self.channels[handler].lines {
            if self.engine.has_more(line) {
                self.has_more = true;
                let mut feeds = self.lines[line.as_usize()].subscriptions.iter();
                may_fill_hole |= feeds.any(|it| it.handler == handler && it.is_incremental());
            }
        }
        may_fill_hole
    }

    /// Does what a channel asks for.
    #[inline]
    fn act(&mut self, handler: usize) -> Result<(), FeedError> {
        note_actions(handler, &mut self.lines, &mut self.channels[handler]);
        if self.channels[handler].has_acted { self.settle(handler) } else { Ok(()) }
    }

    /// Hands over what the replay server has sent. What has been asked for in this very turn takes
    /// the place of what is under way first.
    #[cold]
    fn refill(
        &mut self,
        handler: usize,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let outcome = self.act(handler);
        self.ask(handler, now, listener);
        let ChannelFeed { inlet, replay, .. } = &mut self.channels[handler];
        if let (Some(replay), Some((reactor, ready))) = (replay, self.engine.streams()) {
            replay.turn(now, ready, reactor, inlet, listener);
        }
        outcome
    }

    /// Asks for what a channel wants replayed.
    #[cold]
    fn ask(&mut self, handler: usize, now: Now, listener: &mut impl Listener) {
        let ChannelFeed { inlet, replay, .. } = &mut self.channels[handler];
        if let (Some(replay), Some((reactor, _))) = (replay, self.engine.streams()) {
            replay.settle(now, reactor, inlet, listener);
        }
    }

    /// Has the engine join the lines that are wanted, and leave those that are not.
    #[cold]
    fn settle(&mut self, handler: usize) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        self.channels[handler].has_acted = false;
        for &id in &self.channels[handler].lines {
            let line = &mut self.lines[id.as_usize()];
            let is_wanted = line.is_wanted();
            if is_wanted == line.is_joined {
                continue;
            }
            line.is_joined = is_wanted;
            let done = if is_wanted { self.engine.join(id) } else { self.engine.leave(id) };
            outcome = outcome.and(done.map_err(|error| named(&line.address, error)));
        }
        outcome
    }

    /// Forgets the channel added last. Its lines stay open, and left.
    #[cold]
    fn take_back(&mut self, handler: usize) {
        for line in &mut self.lines {
            line.subscriptions.retain(|subscription| subscription.handler != handler);
        }
        // The first error tells what is wrong; those of taking back would not.
        let _ = self.settle(handler);
        self.channels.truncate(handler);
    }
}

/// Time of the engine's own has come so far: does what was due before.
#[inline]
fn pass_to(at: Now, channels: &mut [ChannelFeed], listeners: &mut (impl Listeners + ?Sized)) {
    for (handler, feed) in (0..).zip(channels) {
        if feed.inlet.channel.poll_timeout().is_some_and(|due| due <= at.monotonic) {
            feed.inlet.channel.handle_timeout(at, listeners.of(HandlerId(handler)));
        }
    }
}

/// Hands a packet to every feed on its line that is joined.
///
/// Never inlined: dry packets ([`KeepWarm`]) pass the same instructions.
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
        if !subscription.is_joined {
            continue;
        }
        subscription.packets += 1;
        subscription.bytes += length;
        let Subscription { handler, feed, side, .. } = *subscription;
        let input = Input { feed, line: side, received: arrival.timestamp.utc() };
        let listener = listeners.of(HandlerId(handler as u32));
        let feed = &mut channels[handler];
        feed.inlet.handle_packet(at, input, arrival.bytes, listener);
        if E::HAS_OWN_TIME {
            note_actions(handler, lines, feed);
        }
    }
}

/// Notes which feeds a channel wants.
#[inline]
fn note_actions(handler: usize, lines: &mut [SharedLine], feed: &mut ChannelFeed) {
    while let Some(action) = feed.inlet.channel.poll_action() {
        let (changed, is_joined) = match action {
            Action::Join(changed) => (changed, true),
            Action::Leave(changed) => (changed, false),
            other => {
                if let Some(replay) = &mut feed.replay {
                    replay.note(other);
                }
                continue;
            }
        };
        feed.has_acted = true;
        for &line in &feed.lines {
            let subscriptions = lines[line.as_usize()].subscriptions.iter_mut();
            let of = subscriptions.filter(|it| it.handler == handler && it.feed == changed);
            of.for_each(|subscription| subscription.is_joined = is_joined);
        }
    }
}

#[cold]
fn named(address: &LineAddress, error: io::Error) -> FeedError {
    EngineError::Line { address: address.clone(), error }.into()
}
