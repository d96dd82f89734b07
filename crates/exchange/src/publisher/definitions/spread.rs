//! The definition of a spread: template 56.

use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, LegSide, MDInstrumentDefinitionSpread56, MatchEventIndicator,
};
use hairpin_sbe::{Decimal, EncodeError};

use super::{Context, shared_fields, shared_groups};
use crate::matching::Side;
use crate::{Instrument, Leg};

/// Returns the length of root block, lot types and legs.
pub(super) const fn length(legs: usize) -> usize {
    255 + (3 + 5) + 3 + 18 * legs
}

/// The CFI code (ISO 10962) of a future without further attributes.
const CFI_CODE: &[u8] = b"FXXXXX";

/// SecuritySubType (tag 762): a generic spread.
const SECURITY_SUB_TYPE: &[u8] = b"GN";

pub(super) fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    context: &Context<'_>,
    legs: &[Leg],
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDInstrumentDefinitionSpread56::encode(buffer)?;
    shared_fields!(root, instrument, context)
        .set_maturity_month_year(context.channel.maturity)
        .set_security_type(b"FUT")
        .set_cfi_code(CFI_CODE)
        .set_currency(b"USD")
        .set_security_sub_type(SECURITY_SUB_TYPE)
        .set_trading_reference_price(instrument.reference);
    shared_groups!(groups, instrument, context);
    groups.no_lot_type_rules()?.push()?.set_lot_type(1).set_min_lot_size(Decimal(10_000));
    let mut entries = groups.no_legs()?;
    for leg in legs {
        let side = match leg.side {
            Side::Bid => LegSide::BUY_SIDE,
            Side::Offer => LegSide::SELL_SIDE,
        };
        entries
            .push()?
            .set_leg_security_id(leg.security_id)
            .set_leg_side(side)
            .set_leg_ratio_qty(leg.ratio);
    }
    groups.finish()
}
