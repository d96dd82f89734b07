//! The definition of a future: template 54.

use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, MDInstrumentDefinitionFuture54, MatchEventIndicator,
};
use hairpin_sbe::{Decimal, EncodeError};

use super::{Context, display_fields, shared_fields, shared_groups};
use crate::Instrument;

/// Root block and lot types.
pub(super) const LENGTH: usize = 224 + (3 + 5);

/// The CFI code (ISO 10962) of a standardized commodity future with physical delivery.
const CFI_CODE: &[u8] = b"FCEPSO";

pub(super) fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    context: &Context<'_>,
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer)?;
    display_fields!(root, instrument);
    shared_fields!(root, instrument, context)
        .set_maturity_month_year(context.channel.maturity)
        .set_security_type(b"FUT")
        .set_cfi_code(CFI_CODE)
        .set_currency(b"USD")
        .set_settl_currency(b"USD")
        .set_unit_of_measure_qty(Decimal(1_000_000_000))
        .set_trading_reference_price(instrument.reference)
        .set_min_price_increment_amount(instrument.tick);
    shared_groups!(groups, instrument, context);
    groups.no_lot_type_rules()?.push()?.set_lot_type(1).set_min_lot_size(Decimal(10_000));
    groups.finish()
}
