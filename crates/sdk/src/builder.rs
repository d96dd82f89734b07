//! The settings of a feed, a session or a trader before it is opened.

use std::io;
use std::marker::PhantomData;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use hairpin_endpoint::capture::RecorderSettings;
use hairpin_endpoint::xdp::{Stack, StackSettings};
use hairpin_feed_handler::config::ConfigError;
use hairpin_feed_handler::{self as feed, Addresses, DefinitionCache, FeedHandler, Filter};
use hairpin_host::Clock;
use hairpin_order_entry::{
    self as order_entry, CancelOnQuit, Orders, ReconnectingSession, SecurityId, WhenFull,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Now;

use crate::state::{JournalContent, SegmentSession};
use crate::trader::Parts;
use crate::{ChannelId, Error, Result, Trader};

/// The default number of working orders and of requests in flight per session.
const ORDERS_MAX: usize = 10_000;
/// The size of a journal in memory: about 70,000 orders.
const MEMORY_JOURNAL_BYTES: usize = 16 << 20;

/// The settings of a [`Feed`](crate::Feed), a [`Session`](crate::Session) or a [`Trader`].
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder<T> {
    config: Option<PathBuf>,
    channels: Vec<ChannelId>,
    orders: Option<PathBuf>,
    interfaces: Option<(String, String)>,
    wait: Wait,
    core: Option<usize>,
    transport: feed::Transport,
    xdp: Option<String>,
    filter: Filter,
    settings: feed::Settings,
    caches: Option<PathBuf>,
    recording: Option<PathBuf>,
    orders_max: usize,
    cancel_on_quit: Option<bool>,
    opens: PhantomData<T>,
}

impl<T: From<Trader>> Builder<T> {
    pub(crate) fn new(config: Option<&Path>, orders: Option<&Path>) -> Self {
        Self {
            config: config.map(Path::to_owned),
            channels: Vec::new(),
            orders: orders.map(Path::to_owned),
            interfaces: None,
            wait: Wait::Epoll,
            core: None,
            transport: feed::Transport::Kernel,
            xdp: None,
            filter: Filter::default(),
            settings: feed::Settings::default(),
            caches: None,
            recording: None,
            orders_max: ORDERS_MAX,
            cancel_on_quit: None,
            opens: PhantomData,
        }
    }

    /// Adds a channel of config.xml. Without any, the file must have one channel.
    pub fn channel(mut self, channel: impl Into<ChannelId>) -> Self {
        self.channels.push(channel.into());
        self
    }

    /// Sets the interfaces that receive sides A and B: names, or local IPv4 addresses. By default
    /// the host's routes select them. Kernel bypass uses the interfaces of its transport.
    pub fn interfaces(mut self, a: &str, b: &str) -> Self {
        self.interfaces = Some((a.to_owned(), b.to_owned()));
        self
    }

    /// Sets the wait of the loop; the default is epoll. Use [`Wait::Spin`] on a core of its own.
    pub const fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Pins the thread that calls `run` to a core.
    pub const fn core(mut self, core: usize) -> Self {
        self.core = Some(core);
        self
    }

    /// Sets the receive path of multicast: kernel sockets, the default, or kernel bypass.
    pub fn transport(mut self, transport: feed::Transport) -> Self {
        self.transport = transport;
        self
    }

    /// Receives multicast over AF_XDP on an interface, with the default settings of kernel bypass.
    /// With [`interfaces`](Self::interfaces), of which one is this one, each side over AF_XDP on
    /// its own.
    pub fn xdp(mut self, interface: &str) -> Self {
        self.xdp = Some(interface.to_owned());
        self
    }

    /// Sets the instruments that are followed; the default is all.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the settings of every channel: capacity, depth, order books and recovery.
    pub fn channel_settings(mut self, settings: feed::Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the folder of the definition caches. Each channel starts with the definitions of its
    /// cache, and `run` saves them at its end.
    pub fn definition_cache(mut self, folder: impl AsRef<Path>) -> Self {
        self.caches = Some(folder.as_ref().to_owned());
        self
    }

    /// Records all received datagrams of each channel in a capture in this folder, named after the
    /// channel.
    pub fn recording(mut self, folder: impl AsRef<Path>) -> Self {
        self.recording = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets the largest number of working orders, and of requests in flight, per session; the
    /// default is 10,000. Orders beyond it are not tracked.
    pub const fn orders_max(mut self, orders: usize) -> Self {
        self.orders_max = orders;
        self
    }

    /// Cancels all orders of the sessions at the end of the run, before they terminate; the default
    /// is `cancel_on_quit` in order.toml, otherwise off. Orders of earlier runs are canceled too. A
    /// run that ends with an error sends the cancel without waiting for the answer.
    ///
    /// Orders that are left are reported as [`Problem::OrdersLeft`](crate::Problem).
    pub const fn cancel_on_quit(mut self, cancel: bool) -> Self {
        self.cancel_on_quit = Some(cancel);
        self
    }

    /// Opens feeds and sessions. Sessions connect when the loop runs.
    ///
    /// # Errors
    /// [`Error`], displayed in one line.
    pub fn open(self) -> Result<T> {
        let clock = Clock::new();
        let now = clock.now();
        let mut reactor = Reactor::new(self.wait)?;
        let (channels, feeds) = match &self.config {
            Some(path) => self.feeds(path, now, &mut reactor)?.into_iter().unzip(),
            None => (Vec::new(), Vec::new()),
        };
        let mut content = JournalContent::default();
        let mut names = Vec::new();
        let sessions = match &self.orders {
            Some(path) => self.sessions(path, &mut content, &mut names)?,
            None => Vec::new(),
        };
        let Self { core, caches, .. } = self;
        let parts = Parts { clock, reactor, channels, feeds, sessions, names, core, caches };
        Ok(Trader::new(parts, content).into())
    }

    fn feeds(
        &self,
        path: &Path,
        now: Now,
        reactor: &mut Reactor,
    ) -> Result<Vec<(ChannelId, FeedHandler)>> {
        let config_error = |error| match error {
            ConfigError::Io(error) => Error::File { path: path.to_owned(), error },
            error => Error::FeedConfig { path: path.to_owned(), error },
        };
        let config = feed::config::Config::read(path).map_err(config_error)?;
        let interfaces = match &self.interfaces {
            Some((a, b)) => Some((address(a)?, address(b)?)),
            None => None,
        };
        let [side_a, side_b] = self.transports()?;
        let mut ids: Vec<Option<String>> =
            self.channels.iter().map(|channel| Some(channel.to_string())).collect();
        if ids.is_empty() {
            ids.push(None);
        }
        let mut feeds = Vec::new();
        for id in ids {
            let channel = config.channel(id.as_deref()).map_err(config_error)?;
            let first = interfaces.map_or(Ipv4Addr::UNSPECIFIED, |(a, _)| a);
            let mut addresses = channel.addresses(first).map_err(config_error)?;
            if let Addresses::Multicast(groups) = &mut addresses {
                groups.set_transports(&side_a, &side_b);
                if let Some((a, b)) = interfaces {
                    groups.set_interfaces(a, b);
                }
            }
            let settings = self.settings;
            let filter = self.filter.clone();
            let mut feed = FeedHandler::new_with_filter(settings, filter, addresses, reactor)?;
            let number = ChannelId(channel.id.parse().unwrap_or_default());
            if let Some(folder) = &self.recording {
                let settings = RecorderSettings::new(folder.join(format!("{}.pcapng", channel.id)));
                feed.record(&settings, &channel.id)?;
            }
            if let Some(folder) = &self.caches {
                load_cache(folder, number, now, &mut feed)?;
            }
            feeds.push((number, feed));
        }
        Ok(feeds)
    }

    /// Returns the transports of side A and of side B, which are the same on one interface.
    fn transports(&self) -> Result<[feed::Transport; 2]> {
        let Some(interface) = &self.xdp else {
            return Ok([self.transport.clone(), self.transport.clone()]);
        };
        let open = |interface: &str| -> Result<_> {
            let stack = Stack::open(interface, &StackSettings::default());
            Ok(feed::Transport::Xdp(stack.map_err(|error| Error::Xdp(error.to_string()))?))
        };
        let sides = match &self.interfaces {
            Some((a, b)) => [name(a)?, name(b)?],
            None => [interface.clone(), interface.clone()],
        };
        if !sides.contains(interface) {
            let [a, b] = &sides;
            let what = format!("{interface} receives neither side: they are on {a} and {b}");
            return Err(Error::Xdp(what));
        }
        let side_a = open(&sides[0])?;
        let side_b = if sides[0] == sides[1] { side_a.clone() } else { open(&sides[1])? };
        Ok([side_a, side_b])
    }

    fn sessions(
        &self,
        path: &Path,
        content: &mut JournalContent,
        names: &mut Vec<(String, SecurityId)>,
    ) -> Result<Vec<SegmentSession>> {
        use order_entry::{Config, ConfigError};
        let order_error = |error| match error {
            ConfigError::File { path, error } => Error::File { path, error },
            error => Error::OrderConfig { path: path.to_owned(), error },
        };
        let configs = match Config::read(path) {
            Ok(config) => vec![(None, config)],
            Err(ConfigError::Segments { .. }) => {
                let segments = Config::read_segments(path).map_err(order_error)?;
                segments.into_iter().map(|(segment, config)| (Some(segment), config)).collect()
            }
            Err(error) => return Err(order_error(error)),
        };
        let mut sessions = Vec::new();
        for (segment, mut config) in configs {
            if config.journal.is_none() && !config.in_memory {
                return Err(Error::NoJournal { path: path.to_owned() });
            }
            if config.in_memory {
                // No restart reads the journal.
                config.session.when_full = WhenFull::Restart;
            }
            let journal = config.open_journal(MEMORY_JOURNAL_BYTES);
            let journal = journal.map_err(|error| Error::Journal(error.to_string()))?;
            let read = JournalContent::read(&journal);
            content.last_run = content.last_run.max(read.last_run);
            content.fills.extend(read.fills);
            let orders = Orders::from_journal(&journal, self.orders_max);
            let cancel_on_quit = self.cancel_on_quit.unwrap_or(config.cancel_on_quit);
            names.extend(
                config.instruments.iter().map(|(name, id)| (name.clone(), SecurityId(*id))),
            );
            let session = order_entry::Session::new(config.session, journal);
            let session = session.map_err(|error| Error::Settings(error.to_string()))?;
            let session = ReconnectingSession::new(session, config.connector, config.zone);
            sessions.push(SegmentSession {
                segment,
                session,
                orders,
                was_established: false,
                cancel_on_quit,
                cancel: CancelOnQuit::Off,
            });
        }
        names.sort();
        names.dedup();
        Ok(sessions)
    }
}

/// Returns the address of an interface: a name or a local IPv4 address.
fn address(interface: &str) -> Result<Ipv4Addr> {
    let failed = |error| Error::Interface { name: interface.to_owned(), error };
    match interface.parse() {
        Ok(address) => hairpin_host::address_interface(address).map(|_| address).map_err(failed),
        Err(_) => hairpin_host::interface_address(interface).map_err(failed),
    }
}

/// Returns the name of an interface: a name or a local IPv4 address.
fn name(interface: &str) -> Result<String> {
    let failed = |error| Error::Interface { name: interface.to_owned(), error };
    match interface.parse() {
        Ok(address) => hairpin_host::address_interface(address).map_err(failed),
        Err(_) => Ok(interface.to_owned()),
    }
}

/// Returns the file of a channel's definition cache.
pub(crate) fn cache_path(folder: &Path, channel: ChannelId) -> PathBuf {
    folder.join(format!("{channel}.definitions"))
}

/// Passes the definitions of the last run to a channel, if there are any.
fn load_cache(folder: &Path, channel: ChannelId, now: Now, feed: &mut FeedHandler) -> Result<()> {
    let path = cache_path(folder, channel);
    // A channel number of CME has three digits.
    let number = channel.0 as u16;
    let cache = match DefinitionCache::read(&path, number, now.utc) {
        Err(feed::CacheError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            DefinitionCache::new(number)
        }
        Err(error) => return Err(Error::Cache { path, error }),
        Ok(cache) => {
            let loaded = feed.load_definitions(&cache, now, &mut ());
            loaded.map_err(|error| Error::Cache { path, error })?;
            cache
        }
    };
    feed.set_definition_cache(cache);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bypass_on_an_interface_of_neither_side_is_an_error() {
        for (a, b) in [("lo", "lo"), ("eth1", "127.0.0.1")] {
            let builder = Builder::<Trader>::new(None, None).xdp("eth9").interfaces(a, b);
            let error = builder.transports().unwrap_err();
            let text = error.to_string();
            assert!(text.contains("eth9 receives neither side") && text.contains("lo"), "{text}");
        }
    }
}
