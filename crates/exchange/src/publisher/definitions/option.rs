//! The definition of an option: template 55.

use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, MDInstrumentDefinitionOption55, MatchEventIndicator, PutOrCall,
};
use hairpin_sbe::{Decimal, EncodeError};

use super::{Context, shared_fields, shared_groups};
use crate::{Instrument, OptionRight, Price};

/// Root block, lot types, one underlying, no related instruments.
pub(super) const LENGTH: usize = 221 + (3 + 5) + (3 + 24) + 3;

pub(super) fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    context: &Context<'_>,
    (right, strike, underlying): (OptionRight, Price, &(i32, String)),
) -> Result<usize, EncodeError> {
    // CFI codes (ISO 10962) of American options on futures, standardized, delivered.
    let (put_or_call, cfi_code) = match right {
        OptionRight::Put => (PutOrCall::PUT, b"OPAFPS"),
        OptionRight::Call => (PutOrCall::CALL, b"OCAFPS"),
    };
    let (mut root, mut groups) = MDInstrumentDefinitionOption55::encode(buffer)?;
    shared_fields!(root, instrument, context)
        .set_maturity_month_year(context.channel.maturity)
        .set_security_type(b"OOF")
        .set_cfi_code(cfi_code)
        .set_put_or_call(put_or_call)
        .set_currency(b"USD")
        .set_strike_price(strike)
        .set_strike_currency(b"USD")
        .set_settl_currency(b"USD")
        .set_unit_of_measure_qty(Decimal(1_000_000_000))
        .set_trading_reference_price(instrument.reference)
        .set_min_price_increment_amount(instrument.tick);
    shared_groups!(groups, instrument, context);
    groups.no_lot_type_rules()?.push()?.set_lot_type(1).set_min_lot_size(Decimal(10_000));
    let (security_id, symbol) = underlying;
    groups
        .no_underlyings()?
        .push()?
        .set_underlying_security_id(*security_id)
        .set_underlying_symbol(symbol);
    groups.finish()
}
