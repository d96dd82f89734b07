//! The instruments that are traded here.

use crate::Price;
use crate::matching::{Side, Terms};
use hairpin_sbe::Decimal;

/// One instrument, as its definition and its order flow need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instrument {
    /// CME's number of it (tag 48), positive.
    pub security_id: i32,
    /// Its name (tag 55), at most 20 ASCII characters.
    pub symbol: String,
    /// The smallest step of its price (tag 969), positive.
    pub tick: Price,
    /// The price that the generator's flow stays around, a multiple of the tick.
    pub reference: Price,
    /// How far beyond the best price a market order may trade, a multiple of the tick.
    pub protection: Price,
    /// Whether it has an implied book beside its own, [`crate::IMPLIED_DEPTH`] levels deep.
    pub has_implied: bool,
    /// What kind of instrument its definition says it is.
    pub kind: InstrumentKind,
}

/// Kinds of instrument, each with its own definition message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstrumentKind {
    /// A future: template 54.
    Future,
    /// An option on another instrument: template 55.
    Option {
        /// Put or call (tag 201).
        right: OptionRight,
        /// The strike price (tag 202).
        strike: Price,
        /// SecurityID and symbol (tags 309 and 311) of what it is an option on.
        underlying: (i32, String),
    },
    /// A spread: template 56.
    Spread {
        /// Its legs, 1 to 8.
        legs: Vec<Leg>,
    },
    /// A bond or note: template 57.
    Bond {
        /// The yearly coupon in per cent (tag 223).
        coupon: Price,
    },
    /// A repurchase agreement: template 58.
    Repo {
        /// Of the one security it names, else of general collateral (tag 762).
        is_special: bool,
        /// SecurityID and symbol (tags 309 and 311) of what is lent.
        underlying: (i32, String),
    },
    /// Foreign exchange: template 63. Its quantities fit in 32 bits here, so that its book is sent
    /// by the templates of the others, not by those for long quantities.
    Fx {
        /// The currency that is bought and sold (tag 15), three letters.
        currency: [u8; 3],
        /// The currency of the price (tag 1524), three letters.
        price_currency: [u8; 3],
    },
}

/// What an option gives the right to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptionRight {
    /// To sell.
    Put,
    /// To buy.
    Call,
}

/// One leg of a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    /// The instrument (tag 602).
    pub security_id: i32,
    /// What a buyer of the spread does in it (tag 624).
    pub side: Side,
    /// Contracts of it in one of the spread (tag 623), positive.
    pub ratio: i8,
}

/// The most legs of a spread: with them its definition still fits in a packet.
pub(crate) const MAX_LEGS: usize = 8;

impl Instrument {
    /// `count` futures `HP001`, `HP002`… with ids from 1001, ticks of 0.25, and reference
    /// prices of 1,000 and 10 more for each. Market orders may trade six points, 24 ticks, beyond
    /// the best price.
    #[must_use]
    pub fn numbered(count: u32) -> Vec<Self> {
        const FIRST_ID: i32 = 1_001;
        const TICK: i64 = 250_000_000;
        const FIRST_REFERENCE: i64 = 1_000_000_000_000;
        const STEP: i64 = 10_000_000_000;
        const PROTECTION: i64 = 6_000_000_000;
        (0..count)
            .map(|n| Self {
                security_id: FIRST_ID.saturating_add_unsigned(n),
                symbol: format!("HP{:03}", n + 1),
                tick: Decimal(TICK),
                reference: Decimal(FIRST_REFERENCE + STEP * i64::from(n)),
                protection: Decimal(PROTECTION),
                has_implied: false,
                kind: InstrumentKind::Future,
            })
            .collect()
    }

    /// What matching has to know of it.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms { tick: self.tick, protection: self.protection }
    }
}
