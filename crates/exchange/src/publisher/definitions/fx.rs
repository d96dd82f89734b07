//! The definition of an FX instrument: template 63.

use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, MDInstrumentDefinitionFX63, MatchEventIndicator,
};
use hairpin_sbe::{Decimal, EncodeError};

use super::{Context, shared_fields, shared_groups};
use crate::{Instrument, Price};

/// Root block, lot types, no trading sessions.
pub(super) const LENGTH: usize = 337 + (3 + 9) + 3;

/// The CFI code (ISO 10962) of a deliverable FX spot.
const CFI_CODE: &[u8] = b"IFXXXP";

pub(super) fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    context: &Context<'_>,
    (currency, price_currency): (&[u8; 3], &[u8; 3]),
) -> Result<usize, EncodeError> {
    let [a, b, c] = *currency;
    let [x, y, z] = *price_currency;
    let (mut root, mut groups) = MDInstrumentDefinitionFX63::encode(buffer)?;
    shared_fields!(root, instrument, context)
        .set_maturity_month_year(context.channel.maturity)
        .set_security_type(b"FXSPOT")
        .set_cfi_code(CFI_CODE)
        .set_currency(currency)
        .set_settl_currency(price_currency)
        .set_price_quote_currency(price_currency)
        .set_price_precision(decimals(instrument.tick))
        .set_unit_of_measure_qty(Decimal(1_000_000_000))
        .set_fx_currency_symbol([a, b, c, b'/', x, y, z])
        .set_settl_type(b"0")
        .set_intervening_days(0)
        .set_min_quote_life(0)
        .set_max_price_discretion_offset(Decimal(0));
    shared_groups!(groups, instrument, context);
    groups.no_lot_type_rules()?.push()?.set_lot_type(1).set_min_lot_size(1);
    groups.finish()
}

/// Returns the number of decimals of prices with this tick, up to 9.
fn decimals(tick: Price) -> u8 {
    let is_whole = |&places: &u8| tick.0 % 10_i64.pow(9 - u32::from(places)) == 0;
    (0..9).find(is_whole).unwrap_or(9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_decimals_of_a_tick() {
        let count = |mantissa| decimals(Decimal(mantissa));
        assert_eq!(
            [count(1_000_000_000), count(250_000_000), count(50_000), count(1)],
            [0, 2, 5, 9]
        );
    }
}
