//! The instruments of the simulated market.

use crate::Price;
use crate::matching::{Side, Terms};
use hairpin_sbe::Decimal;

/// An instrument: the data for its definition message, matching and background flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instrument {
    /// SecurityID (tag 48), positive.
    pub security_id: i32,
    /// Symbol (tag 55), at most 20 ASCII characters.
    pub symbol: String,
    /// The smallest price increment (tag 969), positive.
    pub tick: Price,
    /// The price around which the background flow trades, a multiple of the tick.
    pub reference: Price,
    /// The distance beyond the best price to which a market order may trade, a multiple of the
    /// tick.
    pub protection: Price,
    /// The instrument has an implied book of [`crate::IMPLIED_DEPTH`] levels in addition to its
    /// own.
    pub implied_book: bool,
    /// The kind of instrument in its definition.
    pub kind: InstrumentKind,
    /// The display of its prices.
    pub display: DisplayFormat,
}

/// The display of an instrument's prices, as its definition describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisplayFormat {
    /// DisplayFactor (tag 9787): a displayed price is the wire price times the factor.
    pub factor: Price,
    /// MainFraction (tag 37702), SubFraction (tag 37703) and PriceDisplayFormat (tag 9800) of
    /// prices that are displayed with fractions. Futures and bonds only.
    pub fraction: Option<(u8, u8, u8)>,
}

impl DisplayFormat {
    /// The wire price, in decimals.
    pub const WIRE: Self = Self { factor: Decimal(1_000_000_000), fraction: None };
}

/// The kinds of instruments, each with its own definition message.
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
        /// SecurityID and symbol of the underlying (tags 309 and 311).
        underlying: (i32, String),
    },
    /// A spread: template 56.
    Spread {
        /// The legs, 1 to 8.
        legs: Vec<Leg>,
    },
    /// A bond or note: template 57.
    Bond {
        /// The yearly coupon in percent (tag 223).
        coupon: Price,
    },
    /// A repurchase agreement: template 58.
    Repo {
        /// The repo is on one special security; otherwise on general collateral (tag 762).
        special: bool,
        /// SecurityID and symbol of the collateral (tags 309 and 311).
        underlying: (i32, String),
    },
    /// Foreign exchange: template 63. The quantities fit in 32 bits, so the book is sent with the
    /// ordinary templates, not with those for long quantities.
    Fx {
        /// The traded currency (tag 15), three letters.
        currency: [u8; 3],
        /// The currency of the price (tag 1524), three letters.
        price_currency: [u8; 3],
    },
}

/// The right that an option gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptionRight {
    /// The right to sell.
    Put,
    /// The right to buy.
    Call,
}

/// A leg of a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    /// The instrument (tag 602).
    pub security_id: i32,
    /// The side of the leg for a buyer of the spread (tag 624).
    pub side: Side,
    /// The contracts of the leg per contract of the spread (tag 623), positive.
    pub ratio: i8,
}

/// The maximum number of legs, with which the definition still fits in a packet.
pub(crate) const MAX_LEGS: usize = 8;

impl Instrument {
    /// Creates `count` futures `HP001`, `HP002` and so on, with ids from 1001 and ticks of 0.25.
    /// The reference prices are 1,000, 1,010, 1,020 and so on. Market orders may trade six points
    /// (24 ticks) beyond the best price.
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
                implied_book: false,
                kind: InstrumentKind::Future,
                display: DisplayFormat::WIRE,
            })
            .collect()
    }

    /// Creates an instrument for each way in which CME displays prices, with ids from 2001: a bond
    /// and seven futures, whose symbols name a product with that display.
    #[must_use]
    pub fn display_formats() -> Vec<Self> {
        const FIRST_ID: i32 = 2_001;
        const ONE: i64 = 1_000_000_000;
        let fraction = |main, sub, digits| DisplayFormat {
            fraction: Some((main, sub, digits)),
            ..DisplayFormat::WIRE
        };
        let decimal = |factor| DisplayFormat { factor: Decimal(factor), fraction: None };
        let formats = [
            ("ES", 25 * ONE, decimal(ONE / 100)),
            ("6E", 50 * ONE, decimal(ONE / 100_000)),
            ("WHOLE", ONE, DisplayFormat::WIRE),
            ("ZN", ONE / 64, fraction(32, 2, 3)),
            ("ZB", ONE / 32, fraction(32, 0, 2)),
            ("ZF", ONE / 128, fraction(32, 4, 3)),
            ("ZC", ONE / 4, fraction(8, 0, 1)),
            ("10Y", ONE / 256, fraction(32, 8, 3)),
        ];
        let create = |(id, (symbol, tick, display)): (i32, (&str, i64, DisplayFormat))| Self {
            security_id: id,
            symbol: symbol.to_owned(),
            tick: Decimal(tick),
            reference: Decimal(4_000 * tick),
            protection: Decimal(24 * tick),
            implied_book: false,
            kind: match symbol {
                "10Y" => InstrumentKind::Bond { coupon: Decimal(4 * ONE) },
                _ => InstrumentKind::Future,
            },
            display,
        };
        (FIRST_ID..).zip(formats).map(create).collect()
    }

    /// Returns the terms for the matching engine.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms { tick: self.tick, protection: self.protection }
    }
}
