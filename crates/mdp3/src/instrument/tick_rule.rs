//! Tick sizes.
//!
//! Most instruments have one tick, MinPriceIncrement (969). Options and spreads with a TickRule
//! (6350) have a small tick near zero and a larger one beyond, by the variable tick table of that
//! number (CME Client Systems Wiki, "Tick Size and Display Pricing", page 46172721).

use crate::{Definition, Details, Price9};

/// A variable tick table, in whole prices and thousandths as on the wire.
struct Table {
    /// TickRule.
    code: i8,
    /// The small tick applies up to this absolute price.
    limit: i64,
    small: i64,
    large: i64,
}

const fn table(code: i8, limit: i64, small: i64, large: i64) -> Table {
    const MILLI: i64 = 1_000_000;
    Table { code, limit: limit * 1_000 * MILLI, small: small * MILLI, large: large * MILLI }
}

/// Limit in whole prices, ticks in thousandths.
const TABLES: [Table; 8] = [
    table(1, 500, 5_000, 10_000),
    table(2, 5, 500, 1_000),
    table(3, 10, 1_000, 2_000),
    table(4, 500, 5_000, 25_000),
    table(10, 300, 5_000, 25_000),
    table(11, 300, 5_000, 10_000),
    table(12, 5, 250, 500),
    table(13, 25, 1_000, 5_000),
];

impl Definition {
    /// Returns TickRule (6350), which only options and spreads have; 0 counts as none.
    #[must_use]
    pub fn tick_rule(&self) -> Option<i8> {
        let rule = match &self.details {
            Details::Option(option) => option.tick_rule,
            Details::Spread(spread) => spread.tick_rule,
            _ => None,
        };
        rule.filter(|rule| *rule != 0)
    }

    /// Returns the tick at a price, as on the wire: MinPriceIncrement (969), or the one from the
    /// variable tick table of TickRule (6350). Exactly at the table's limit it is the smaller one,
    /// which leads from there towards zero.
    ///
    /// Returns `None` if the definition has neither, or names a table that CME has not published.
    #[must_use]
    pub fn tick_at(&self, price: Price9) -> Option<Price9> {
        if self.min_price_increment.is_some() {
            return self.min_price_increment;
        }
        let Table { limit, small, large, .. } = self.tick_table()?;
        let is_near = price.0.unsigned_abs() <= limit.unsigned_abs();
        Some(Price9(if is_near { *small } else { *large }))
    }

    /// Returns `true` if the price is a multiple of its tick. Without a known tick, returns
    /// `false`.
    #[must_use]
    pub fn is_on_tick(&self, price: Price9) -> bool {
        self.tick_at(price).is_some_and(|tick| tick.0 > 0 && price.0 % tick.0 == 0)
    }

    /// Returns the nearest prices on a tick at or below and at or above a price. Both are equal for
    /// a price on a tick. `None` if no tick is known, or if a neighbor is out of range.
    #[must_use]
    pub fn tick_neighbors(&self, price: Price9) -> Option<(Price9, Price9)> {
        let tick = self.tick_at(price)?.0;
        if tick <= 0 {
            return None;
        }
        let below = price.0.checked_sub(price.0.rem_euclid(tick))?;
        let above = if below == price.0 { below } else { below.checked_add(tick)? };
        Some((Price9(below), Price9(above)))
    }

    /// Returns the price `ticks` ticks above `price`, or below it if `ticks` is negative. Follows
    /// the variable tick table of TickRule (6350) across its limits.
    ///
    /// Returns `None` if no tick is known, if the result is out of range, or if ticks vary and
    /// `price` is off tick.
    #[inline]
    #[must_use]
    pub fn add_ticks(&self, price: Price9, ticks: i64) -> Option<Price9> {
        match self.min_price_increment {
            Some(tick) => {
                price.0.checked_add(tick.0.checked_mul(ticks)?).filter(is_in_range).map(Price9)
            }
            None => self.add_variable_ticks(price, ticks),
        }
    }

    #[cold]
    fn add_variable_ticks(&self, price: Price9, ticks: i64) -> Option<Price9> {
        let &Table { limit, small, large, .. } = self.tick_table()?;
        if !self.is_on_tick(price) {
            return None;
        }
        if ticks == 0 {
            return Some(price);
        }
        // A table is symmetric, so going down is going up from the negated price.
        let direction = ticks.signum();
        let (mut at, mut left) = (price.0.checked_mul(direction)?, ticks.checked_abs()?);
        while left > 0 {
            let (tick, end) = match at {
                it if it < -limit => (large, -limit),
                it if it < limit => (small, limit),
                _ => (large, i64::MAX),
            };
            let steps = (end.saturating_sub(at) / tick).min(left);
            if steps == 0 {
                return None;
            }
            at = at.checked_add(steps.checked_mul(tick)?)?;
            left -= steps;
        }
        Some(at * direction).filter(is_in_range).map(Price9)
    }

    fn tick_table(&self) -> Option<&'static Table> {
        let rule = self.tick_rule()?;
        TABLES.iter().find(|table| table.code == rule)
    }
}

/// Returns `true` if a mantissa is not the null value of a price.
fn is_in_range(mantissa: &i64) -> bool {
    *mantissa != i64::MAX && *mantissa != i64::MIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SpreadDetails, Text};

    fn spread(tick_rule: Option<i8>) -> Definition {
        let details = Details::Spread(SpreadDetails {
            sub_type: Text::EMPTY,
            price_ratio: None,
            tick_rule,
            full_name: Text::EMPTY,
        });
        Definition { details, ..Definition::undefined(7) }
    }

    /// Returns the tick in thousandths, at a price in thousandths.
    fn tick(rule: i8, price: i64) -> Option<i64> {
        let price = Price9(price * 1_000_000);
        spread(Some(rule)).tick_at(price).map(|tick| tick.0 / 1_000_000)
    }

    #[test]
    fn tick_grows_beyond_table_limit() {
        assert_eq!(tick(1, 510_000), Some(10_000), "CME's example");
        assert_eq!(
            [-500_001, -500_000, 0, 500_000, 500_001].map(|price| tick(1, price)),
            [Some(10_000), Some(5_000), Some(5_000), Some(5_000), Some(10_000)]
        );
        assert_eq!([tick(12, 5_000), tick(12, -5_250)], [Some(250), Some(500)]);
        assert_eq!([tick(13, 25_000), tick(13, 30_000)], [Some(1_000), Some(5_000)]);
        assert_eq!(tick(1, i64::MIN / 1_000_000), Some(10_000));
    }

    #[test]
    fn fixed_tick_overrides_rule() {
        let min_price_increment = Some(Price9(250_000_000));
        let definition = Definition { min_price_increment, ..spread(Some(1)) };
        assert_eq!(definition.tick_at(Price9(0)), min_price_increment);
    }

    #[test]
    fn unknown_table_has_no_tick() {
        assert_eq!((tick(99, 0), tick(0, 0)), (None, None));
        assert_eq!(spread(None).tick_at(Price9(0)), None);
        assert_eq!(spread(Some(0)).tick_rule(), None);
        assert_eq!(Definition::undefined(7).tick_at(Price9(0)), None);
    }

    #[test]
    fn variable_ticks_are_added_across_the_limits() {
        // Rule 2: half a unit up to 5, a unit beyond, in whole prices and thousandths.
        let definition = spread(Some(2));
        let unit = 1_000_000_000;
        for (from, ticks, expected) in [
            (5 * unit, 1, 6 * unit),
            (5 * unit, -1, 4 * unit + unit / 2),
            (6 * unit, -2, 4 * unit + unit / 2),
            (-6 * unit, 2, -4 * unit - unit / 2),
            (-7 * unit, 24, 7 * unit),
            (7 * unit, -24, -7 * unit),
            (3 * unit, 0, 3 * unit),
        ] {
            let from = Price9(from);
            assert_eq!(definition.add_ticks(from, ticks), Some(Price9(expected)), "{from} {ticks}");
        }
        assert_eq!(definition.add_ticks(Price9(5 * unit + 1), 1), None);
        assert_eq!(definition.add_ticks(Price9(0), i64::MAX), None);
        assert_eq!(definition.add_ticks(Price9(0), i64::MIN), None);
        let above = definition.tick_neighbors(Price9(5 * unit + 1));
        assert_eq!(above, Some((Price9(5 * unit), Price9(6 * unit))));
        let below = definition.tick_neighbors(Price9(-1));
        assert_eq!(below, Some((Price9(-unit / 2), Price9(0))));
        assert!(definition.is_on_tick(Price9(-unit / 2)) && !definition.is_on_tick(Price9(1)));
    }
}
