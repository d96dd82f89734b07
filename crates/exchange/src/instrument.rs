//! The instruments that are traded here.

use crate::Price;
use hairpin_sbe::Decimal;

/// One future, as its definition (template 54) and its order flow need it.
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
}

impl Instrument {
    /// `count` futures `HP001`, `HP002`… with ids from 1001, ticks of 0.25, and reference
    /// prices of 1,000 and 10 more for each.
    #[must_use]
    pub fn numbered(count: u32) -> Vec<Self> {
        const FIRST_ID: i32 = 1_001;
        const TICK: i64 = 250_000_000;
        const FIRST_REFERENCE: i64 = 1_000_000_000_000;
        const STEP: i64 = 10_000_000_000;
        (0..count)
            .map(|n| Self {
                security_id: FIRST_ID.saturating_add_unsigned(n),
                symbol: format!("HP{:03}", n + 1),
                tick: Decimal(TICK),
                reference: Decimal(FIRST_REFERENCE + STEP * i64::from(n)),
            })
            .collect()
    }
}
