//! The definition of a repo: template 58.

use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, MDInstrumentDefinitionRepo58, MatchEventIndicator, RepoSubType,
};
use hairpin_sbe::{Decimal, EncodeError};

use super::{Context, shared_fields, shared_groups};
use crate::Instrument;

/// Root block, lot types, one underlying, no related instruments, no broken dates.
pub(super) const LENGTH: usize = 276 + (3 + 5) + (3 + 118) + 3 + 3;

/// The CFI code (ISO 10962) of a repurchase agreement.
const CFI_CODE: &[u8] = b"LRXXXX";

pub(super) fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    context: &Context<'_>,
    (special, (security_id, symbol)): (bool, &(i32, String)),
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDInstrumentDefinitionRepo58::encode(buffer)?;
    let sub_type = if special { RepoSubType::SPECIAL } else { RepoSubType::GC };
    let [start, end] = [context.channel.started, context.channel.expiry].map(|at| at.days() as u16);
    shared_fields!(root, instrument, context)
        .set_security_type(b"REPO")
        .set_cfi_code(CFI_CODE)
        .set_currency(b"USD")
        .set_settl_currency(b"USD")
        .set_unit_of_measure_qty(Decimal(1_000_000_000))
        .set_trading_reference_price(instrument.reference)
        .set_financial_instrument_full_name(&instrument.symbol)
        .set_start_date(start)
        .set_end_date(end)
        .set_security_sub_type(sub_type)
        .set_max_no_of_substitutions(0);
    shared_groups!(groups, instrument, context);
    groups.no_lot_type_rules()?.push()?.set_lot_type(1).set_min_lot_size(Decimal(10_000));
    groups
        .no_underlyings()?
        .push()?
        .set_underlying_security_id(*security_id)
        .set_underlying_symbol(symbol);
    groups.no_related_instruments()?;
    groups.no_broken_dates()?;
    groups.finish()
}
