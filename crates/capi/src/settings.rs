//! Settings, and opening.

use core::ffi::c_char;
use core::ptr::null;

use hairpin::feed_handler::{Filter, Settings, Text};
use hairpin::{Builder, Feed, Session, Trader, Wait};

use crate::error::{Outcome, catch, fail, failed, hairpin_error};
use crate::text::{array, path_from, sized, text_from, write_out};
use crate::trader::{hairpin_trader, store};

/// The wait of the loop.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum hairpin_wait {
    /// epoll_pwait2(2).
    Epoll = 0,
    /// Blocks in the first source's receive, and tries the other sources after each wakeup.
    Block = 1,
    /// ppoll(2).
    Poll = 2,
    /// Busy-polls, on a core of its own.
    Spin = 3,
    /// io_uring_enter(2).
    IoUring = 4,
}

/// The settings of a trader. Zero and NULL are the defaults: `{.size = sizeof(hairpin_settings)}`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_settings {
    /// `sizeof(hairpin_settings)`.
    pub size: usize,
    /// The path of config.xml. NULL: no market data.
    pub config: *const c_char,
    /// The path of order.toml. NULL: no order entry.
    pub orders: *const c_char,
    /// The channels of config.xml. NULL: the file has one channel.
    pub channels: *const u32,
    /// The number of channels.
    pub channel_count: usize,
    /// The interface that receives side A: a name, or a local IPv4 address. NULL: the host's routes
    /// select the interfaces.
    pub interface_a: *const c_char,
    /// The interface that receives side B.
    pub interface_b: *const c_char,
    /// The core of the thread that calls `hairpin_trader_run`. NULL: not pinned.
    pub core: *const u32,
    /// The wait of the loop: a `hairpin_wait`.
    pub wait: i32,
    /// 1: reports the known levels of books that wait for a snapshot.
    pub natural_refresh: i32,
    /// The SecurityIDs of the instruments that are followed. Without any filter, all are.
    pub security_ids: *const i32,
    /// The number of SecurityIDs.
    pub security_id_count: usize,
    /// The symbols of the instruments that are followed.
    pub symbols: *const *const c_char,
    /// The number of symbols.
    pub symbol_count: usize,
    /// The security groups of the instruments that are followed.
    pub security_groups: *const *const c_char,
    /// The number of security groups.
    pub security_group_count: usize,
    /// The assets of the instruments that are followed.
    pub assets: *const *const c_char,
    /// The number of assets.
    pub asset_count: usize,
    /// The maximum number of instruments per channel. 0: 4,096.
    pub max_instruments: usize,
    /// The folder of the definition caches. NULL: none.
    pub definition_cache: *const c_char,
    /// The folder for captures of all received datagrams. NULL: none.
    pub recording: *const c_char,
    /// The maximum number of working orders, and of requests in flight, per session. 0: 10,000.
    pub orders_max: usize,
    /// The interface that receives multicast over AF_XDP. NULL: kernel sockets.
    pub xdp: *const c_char,
    /// 1: cancels all orders at the end of the run, before the sessions terminate. 0: as
    /// `cancel_on_quit` in order.toml, by default off. Orders that are left are a problem.
    pub cancel_on_quit: i32,
}

impl Default for hairpin_settings {
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            config: null(),
            orders: null(),
            channels: null(),
            channel_count: 0,
            interface_a: null(),
            interface_b: null(),
            core: null(),
            wait: 0,
            natural_refresh: 0,
            security_ids: null(),
            security_id_count: 0,
            symbols: null(),
            symbol_count: 0,
            security_groups: null(),
            security_group_count: 0,
            assets: null(),
            asset_count: 0,
            max_instruments: 0,
            definition_cache: null(),
            recording: null(),
            orders_max: 0,
            xdp: null(),
            cancel_on_quit: 0,
        }
    }
}

impl hairpin_settings {
    /// Opens a trader.
    ///
    /// # Safety
    /// The pointers are NULL or valid, as the header states.
    pub(crate) unsafe fn open(&self) -> Outcome<Trader> {
        if self.config.is_null() && self.orders.is_null() {
            let text = "the settings have neither `config` nor `orders`";
            return Err(fail(hairpin_error::Null, text));
        }
        // SAFETY: by the caller's contract.
        unsafe {
            if self.orders.is_null() {
                return self.build::<Feed>(Feed::builder(path_from(self.config, "config")?));
            }
            let orders = path_from(self.orders, "orders")?;
            if self.config.is_null() {
                return self.build::<Session>(Session::builder(orders));
            }
            let config = path_from(self.config, "config")?;
            self.build::<Trader>(Trader::builder(config, orders))
        }
    }

    /// Applies the settings to a builder, and opens it.
    ///
    /// # Safety
    /// As [`open`](Self::open).
    unsafe fn build<T: From<Trader> + Into<Trader>>(
        &self,
        mut builder: Builder<T>,
    ) -> Outcome<Trader> {
        // SAFETY: by the caller's contract.
        unsafe {
            for channel in array(self.channels, self.channel_count, "channels")? {
                builder = builder.channel(*channel);
            }
            if !self.interface_a.is_null() || !self.interface_b.is_null() {
                let a = text_from(self.interface_a, "interface_a")?;
                builder = builder.interfaces(a, text_from(self.interface_b, "interface_b")?);
            }
            if let Some(core) = self.core.as_ref() {
                builder = builder.core(*core as usize);
            }
            if !self.definition_cache.is_null() {
                let folder = path_from(self.definition_cache, "definition_cache")?;
                builder = builder.definition_cache(folder);
            }
            if !self.recording.is_null() {
                builder = builder.recording(path_from(self.recording, "recording")?);
            }
            if !self.xdp.is_null() {
                builder = builder.xdp(text_from(self.xdp, "xdp")?);
            }
            builder = builder.filter(self.filter()?);
        }
        if self.orders_max > 0 {
            builder = builder.orders_max(self.orders_max);
        }
        if self.cancel_on_quit != 0 {
            builder = builder.cancel_on_quit(true);
        }
        let mut settings =
            Settings { natural_refresh: self.natural_refresh != 0, ..Settings::default() };
        if self.max_instruments > 0 {
            settings.max_instruments = self.max_instruments;
        }
        let builder = builder.channel_settings(settings).wait(wait(self.wait)?);
        builder.open().map(T::into).map_err(|error| failed(&error))
    }

    /// Returns the filter of instruments.
    ///
    /// # Safety
    /// As [`open`](Self::open).
    unsafe fn filter(&self) -> Outcome<Filter> {
        let mut filter = Filter::default();
        // SAFETY: by the caller's contract.
        unsafe {
            for id in array(self.security_ids, self.security_id_count, "security_ids")? {
                filter = filter.with_security_id(*id);
            }
            for symbol in array(self.symbols, self.symbol_count, "symbols")? {
                filter = filter.with_symbol(short_text(*symbol, "symbols")?);
            }
            let groups = array(self.security_groups, self.security_group_count, "security_groups")?;
            for group in groups {
                filter = filter.with_group(short_text(*group, "security_groups")?);
            }
            for asset in array(self.assets, self.asset_count, "assets")? {
                filter = filter.with_asset(short_text(*asset, "assets")?);
            }
        }
        Ok(filter)
    }
}

/// Returns a text of at most `N` bytes.
///
/// # Safety
/// As [`text_from`].
unsafe fn short_text<const N: usize>(text: *const c_char, name: &str) -> Outcome<Text<N>> {
    // SAFETY: by the caller's contract.
    let text = unsafe { text_from(text, name) }?;
    Text::new(text).ok_or_else(|| {
        let error = format_args!("`{text}` in `{name}` has more than {N} characters");
        fail(hairpin_error::Argument, error)
    })
}

fn wait(wait: i32) -> Outcome<Wait> {
    match wait {
        0 => Ok(Wait::Epoll),
        1 => Ok(Wait::Block),
        2 => Ok(Wait::Poll),
        3 => Ok(Wait::Spin),
        4 => Ok(Wait::IoUring),
        _ => Err(fail(hairpin_error::Argument, format_args!("{wait} is not a wait"))),
    }
}

/// Opens feeds and sessions. Sessions connect when the loop runs; they resume what their journals
/// have, and negotiate otherwise. Returns 0, or an error.
///
/// # Safety
/// The pointers in `settings` are NULL or valid; `trader` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_open(
    settings: *const hairpin_settings,
    trader: *mut hairpin_trader,
) -> i32 {
    catch(|| {
        if trader.is_null() {
            return Err(crate::error::null("trader"));
        }
        // SAFETY: by the caller's contract; settings of zeros are the defaults.
        let opened = unsafe { sized(settings, "settings")?.open() }?;
        // SAFETY: by the caller's contract.
        unsafe { write_out(trader, "trader", store(opened)?) }
    })
}

/// Opens a channel of config.xml on the interface that the host's routes select.
///
/// # Safety
/// `config` ends with a NUL; `feed` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_feed_open(
    config: *const c_char,
    channel: u32,
    feed: *mut hairpin_trader,
) -> i32 {
    let settings =
        hairpin_settings { config, channels: &channel, channel_count: 1, ..Default::default() };
    // SAFETY: by the caller's contract.
    unsafe { hairpin_open(&settings, feed) }
}

/// Opens the sessions of order.toml.
///
/// # Safety
/// `orders` ends with a NUL; `session` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_session_open(
    orders: *const c_char,
    session: *mut hairpin_trader,
) -> i32 {
    let settings = hairpin_settings { orders, ..Default::default() };
    // SAFETY: by the caller's contract.
    unsafe { hairpin_open(&settings, session) }
}

/// Opens a channel of config.xml and the sessions of order.toml.
///
/// # Safety
/// `config` and `orders` end with a NUL; `trader` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_trader_open(
    config: *const c_char,
    channel: u32,
    orders: *const c_char,
    trader: *mut hairpin_trader,
) -> i32 {
    let settings = hairpin_settings {
        config,
        channels: &channel,
        channel_count: 1,
        orders,
        ..Default::default()
    };
    if config.is_null() || orders.is_null() {
        let name = if config.is_null() { "config" } else { "orders" };
        return crate::error::null(name) as i32;
    }
    // SAFETY: by the caller's contract.
    unsafe { hairpin_open(&settings, trader) }
}
