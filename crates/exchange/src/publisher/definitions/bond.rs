//! The definition of a bond: template 57.

use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, MDInstrumentDefinitionFixedIncome57, MatchEventIndicator,
};
use hairpin_sbe::{Decimal, EncodeError};

use super::{Context, display_fields, shared_fields, shared_groups};
use crate::{Instrument, Price};

/// Root block and lot types.
pub(super) const LENGTH: usize = 338 + (3 + 5);

/// The CFI code (ISO 10962) of a government-guaranteed bond with fixed coupons.
const CFI_CODE: &[u8] = b"DBFTFB";

pub(super) fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    context: &Context<'_>,
    coupon: Price,
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDInstrumentDefinitionFixedIncome57::encode(buffer)?;
    let maturity = context.channel.expiry.days() as u16;
    display_fields!(root, instrument);
    shared_fields!(root, instrument, context)
        .set_security_type(b"TNOTE")
        .set_cfi_code(CFI_CODE)
        .set_currency(b"USD")
        .set_settl_currency(b"USD")
        .set_unit_of_measure_qty(Decimal(1_000_000_000))
        .set_trading_reference_price(instrument.reference)
        .set_min_price_increment_amount(instrument.tick)
        .set_maturity_date(maturity)
        .set_coupon_rate(coupon)
        .set_par_value(Decimal(100_000_000_000))
        .set_coupon_frequency_unit(b"Mo")
        .set_coupon_frequency_period(6)
        .set_country_of_issue(b"US")
        .set_financial_instrument_full_name(&instrument.symbol);
    shared_groups!(groups, instrument, context);
    groups.no_lot_type_rules()?.push()?.set_lot_type(1).set_min_lot_size(Decimal(10_000));
    groups.finish()
}
