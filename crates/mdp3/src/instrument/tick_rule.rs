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
        let rule = self.tick_rule()?;
        let Table { limit, small, large, .. } = TABLES.iter().find(|table| table.code == rule)?;
        let is_near = price.0.unsigned_abs() <= limit.unsigned_abs();
        Some(Price9(if is_near { *small } else { *large }))
    }
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
}
