//! Symbols of instruments.

use core::fmt;

use hairpin_feed_handler::{FeedHandler, InstrumentIndex, Instruments};
use hairpin_order_entry::SecurityId;

/// The symbols of `[instruments]` in order.toml, and the books of all channels, without those of
/// the channel whose callback runs.
pub(crate) struct Others<'a> {
    pub(crate) configured: &'a [(String, SecurityId)],
    pub(crate) before: &'a [FeedHandler],
    pub(crate) after: &'a [FeedHandler],
}

impl<'a> Others<'a> {
    /// Returns the books of these channels, outside of their callbacks.
    pub(crate) fn all(configured: &'a [(String, SecurityId)], feeds: &'a [FeedHandler]) -> Self {
        Self { configured, before: feeds, after: &[] }
    }
}

/// The symbols of instruments: those of `[instruments]` in order.toml, then those of definitions;
/// and the books of all channels. Small, because each callback has a copy.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    /// The books of the channel whose callback runs.
    pub(crate) current: Option<&'a Instruments>,
    pub(crate) others: &'a Others<'a>,
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

impl<'a> Names<'a> {
    /// Returns the names outside of a channel's callbacks.
    pub(crate) fn new(others: &'a Others<'a>) -> Self {
        Self { current: None, others }
    }

    fn channels(self) -> impl Iterator<Item = &'a Instruments> {
        let others = self.others.before.iter().chain(self.others.after);
        self.current.into_iter().chain(others.map(|feed| feed.channel().instruments()))
    }

    /// Returns an instrument with its channel.
    pub(crate) fn find(self, id: SecurityId) -> Option<(&'a Instruments, InstrumentIndex)> {
        self.channels().find_map(|channel| Some((channel, channel.find(id.0)?)))
    }

    /// Returns the symbol of an instrument, or an empty text.
    pub(crate) fn symbol(self, id: SecurityId) -> &'a str {
        if let Some((symbol, _)) = self.others.configured.iter().find(|(_, other)| *other == id) {
            return symbol;
        }
        let definition = self.find(id).and_then(|(channel, index)| channel.definition(index));
        definition.map_or("", |definition| definition.symbol.as_str())
    }

    /// Returns the symbol of an instrument, or else its SecurityID (48), for display.
    pub(crate) fn text(self, id: SecurityId) -> impl fmt::Display + use<'a> {
        NameText { symbol: self.symbol(id), id }
    }

    /// Returns the instrument with a symbol. Searches all definitions.
    pub(crate) fn security_id(self, symbol: &str) -> Option<SecurityId> {
        let configured = self.others.configured.iter().find(|(name, _)| name == symbol);
        let defined = || {
            let definitions = self.channels().flat_map(|channel| {
                channel.iter().filter_map(|instrument| channel.definition(instrument))
            });
            let mut named = definitions.filter(|definition| definition.symbol.as_str() == symbol);
            named.next().map(|definition| SecurityId(definition.security_id))
        };
        configured.map(|(_, id)| *id).or_else(defined)
    }
}

struct NameText<'a> {
    symbol: &'a str,
    id: SecurityId,
}

impl fmt::Display for NameText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.symbol.is_empty() {
            fmt::Display::fmt(&self.id, f)
        } else {
            f.write_str(self.symbol)
        }
    }
}
