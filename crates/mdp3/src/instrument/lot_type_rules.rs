//! The lot types of an instrument.

use core::fmt;
use core::ops::Deref;

use hairpin_cme_codecs::mdp3::DecimalQty;

/// A lot type of an instrument (an entry of group NoLotTypeRules).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LotTypeRule {
    /// LotType (1093): 1 odd, 2 round, 3 block, 4 round by the unit of measure.
    pub lot_type: i8,
    /// MinLotSize (1231): the minimum size.
    pub min_size: Option<DecimalQty>,
}

/// The lot types of an instrument: at most one of each of FIX's four types. Further entries are
/// dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LotTypeRules {
    lots: [LotTypeRule; 4],
    count: u8,
}

impl LotTypeRules {
    pub(crate) const NONE: Self =
        Self { lots: [LotTypeRule { lot_type: 0, min_size: None }; 4], count: 0 };

    pub(crate) fn push(&mut self, lot_type: i8, min_size: Option<DecimalQty>) {
        if let Some(slot) = self.lots.get_mut(usize::from(self.count)) {
            *slot = LotTypeRule { lot_type, min_size };
            self.count += 1;
        }
    }
}

/// The rules in message order.
impl Deref for LotTypeRules {
    type Target = [LotTypeRule];

    fn deref(&self) -> &[LotTypeRule] {
        &self.lots[..usize::from(self.count).min(self.lots.len())]
    }
}

impl fmt::Debug for LotTypeRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A conversion of MinLotSize, which has two types on the wire.
pub(crate) trait LotSize {
    fn lot_size(self) -> Option<DecimalQty>;
}

impl LotSize for Option<DecimalQty> {
    fn lot_size(self) -> Option<DecimalQty> {
        self
    }
}

/// The type in template 63: whole units.
impl LotSize for u64 {
    fn lot_size(self) -> Option<DecimalQty> {
        let units = i64::try_from(self).unwrap_or(i64::MAX);
        Some(DecimalQty(units.saturating_mul(10_000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_fifth_lot_type() {
        let mut lots = LotTypeRules::NONE;
        (1..=5).for_each(|lot_type| lots.push(lot_type, Some(DecimalQty(10_000))));
        assert!(lots.iter().map(|lot| lot.lot_type).eq(1..=4));
    }

    #[test]
    fn converts_whole_units_to_decimals() {
        assert_eq!(1_000_000u64.lot_size(), Some(DecimalQty(10_000_000_000)));
        assert_eq!(u64::MAX.lot_size(), Some(DecimalQty(i64::MAX)));
        assert_eq!(Some(DecimalQty(5)).lot_size(), Some(DecimalQty(5)));
    }
}
