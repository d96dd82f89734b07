//! Instruments: symbols, display prices and ticks.

use core::fmt;

use hairpin_feed_handler::{Definition, DisplayPrice, ParsePriceError};
use hairpin_order_entry::SecurityId;

use crate::Price;

/// An instrument, as its definition describes it.
#[derive(Debug, Clone, Copy)]
pub struct Instrument<'a> {
    pub(crate) security_id: SecurityId,
    pub(crate) definition: Option<&'a Definition>,
}

impl<'a> Instrument<'a> {
    /// Creates an instrument from a copied definition, or without one.
    #[must_use]
    pub const fn new(security_id: SecurityId, definition: Option<&'a Definition>) -> Self {
        Self { security_id, definition }
    }

    /// Returns SecurityID (48).
    #[must_use]
    pub const fn security_id(&self) -> SecurityId {
        self.security_id
    }

    /// Returns the definition, or `None` if the channel has not received it.
    #[must_use]
    pub const fn definition(&self) -> Option<&'a Definition> {
        self.definition
    }

    /// Returns Symbol (55), or an empty text without a definition.
    #[must_use]
    pub fn symbol(&self) -> &'a str {
        self.definition.map_or("", |definition| definition.symbol.as_str())
    }

    /// Parses a display price, such as `4500.25` or `108'185`.
    ///
    /// # Errors
    /// [`ParsePriceError`]. A price off tick is an error with both neighbors.
    pub fn parse(&self, text: &str) -> Result<Price, ParsePriceError> {
        let definition = self.definition.ok_or(ParsePriceError::NoTick)?;
        definition.parse_price(text).map(Price::from)
    }

    /// Returns the price as displayed. Without a definition, the wire price.
    #[must_use]
    pub fn display(&self, price: Price) -> Displayed {
        match self.definition {
            Some(definition) => Displayed::Display(definition.display_price(price.into())),
            None => Displayed::Wire(price),
        }
    }

    /// Returns the price `ticks` ticks above `price`, or below it if `ticks` is negative.
    ///
    /// Returns `None` if no tick is known, if the result is out of range, or if ticks vary with the
    /// price and `price` is off tick.
    #[inline]
    #[must_use]
    pub fn add_ticks(&self, price: Price, ticks: i64) -> Option<Price> {
        self.definition?.add_ticks(price.into(), ticks).map(Price::from)
    }

    /// Returns `true` if the price is on a tick.
    #[must_use]
    pub fn is_on_tick(&self, price: Price) -> bool {
        self.definition.is_some_and(|definition| definition.is_on_tick(price.into()))
    }
}

/// The text of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Displayed {
    /// A price in the instrument's display format.
    Display(DisplayPrice),
    /// A wire price, of an instrument without a definition.
    Wire(Price),
}

impl fmt::Display for Displayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Display(price) => fmt::Display::fmt(price, f),
            Self::Wire(price) => fmt::Display::fmt(price, f),
        }
    }
}
