//! The loop of definitions: template 54 for every instrument.

use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, MDInstrumentDefinitionFuture54, MatchEventIndicator,
    SecurityTradingStatus, SecurityUpdateAction,
};
use hairpin_sbe::{Decimal, EncodeError};

use super::Channel;
use super::ladder::DEPTH;
use super::packet::Packet;
use crate::Instrument;

/// MsgSize, SBE header, root block, and the groups: two events, one feed type, one attribute,
/// one lot type.
const LENGTH: usize = 2 + 8 + 224 + (3 + 2 * 9) + (3 + 4) + (3 + 4) + (3 + 5);

/// The CFI code (ISO 10962) of a standardised future on a commodity that is delivered.
const CFI_CODE: &[u8] = b"FCEPSO";

/// The bit ElectronicMatchEligible of tag 872.
const ELECTRONIC_MATCH_ELIGIBLE: u32 = 1;

/// Appends the definitions from `first` on that fit; returns the index behind the last.
pub(super) fn fill(
    packet: &mut Packet<'_>,
    instruments: &[Instrument],
    first: u32,
    channel: &Channel,
) -> u32 {
    let mut next = first;
    while let Some(instrument) = instruments.get(next as usize)
        && packet.room() >= LENGTH
    {
        packet
            .append(|buffer| encode(buffer, instrument, instruments.len(), channel))
            .expect("the room for it was compared before");
        next += 1;
    }
    next
}

fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    total: usize,
    channel: &Channel,
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer)?;
    root.set_match_event_indicator(MatchEventIndicator(0x80))
        .set_tot_num_reports(total as u32)
        .set_security_update_action(SecurityUpdateAction::ADD)
        .set_last_update_time(channel.started.as_nanos())
        .set_md_security_trading_status(SecurityTradingStatus::READY_TO_TRADE)
        .set_appl_id(channel.id)
        .set_market_segment_id(channel.market_segment)
        .set_underlying_product(2)
        .set_security_exchange(b"XHPN")
        .set_security_group(b"HP")
        .set_asset(b"HP")
        .set_symbol(&instrument.symbol)
        .set_security_id(instrument.security_id)
        .set_security_type(b"FUT")
        .set_cfi_code(CFI_CODE)
        .set_maturity_month_year(channel.maturity)
        .set_currency(b"USD")
        .set_settl_currency(b"USD")
        .set_match_algorithm(b'F')
        .set_min_trade_vol(1)
        .set_max_trade_vol(crate::NewOrder::MAX_QUANTITY)
        .set_min_price_increment(instrument.tick)
        .set_display_factor(Decimal(1_000_000_000))
        .set_unit_of_measure(b"CTRCT")
        .set_unit_of_measure_qty(Decimal(1_000_000_000))
        .set_trading_reference_price(instrument.reference)
        .set_min_price_increment_amount(instrument.tick)
        .set_user_defined_instrument(b'N');
    let mut events = groups.no_events()?;
    events
        .push()?
        .set_event_type(EventType::ACTIVATION)
        .set_event_time(channel.activation.as_nanos());
    events
        .push()?
        .set_event_type(EventType::LAST_ELIGIBLE_TRADE_DATE)
        .set_event_time(channel.expiry.as_nanos());
    groups.no_md_feed_types()?.push()?.set_md_feed_type(b"GBX").set_market_depth(DEPTH as i8);
    groups
        .no_inst_attrib()?
        .push()?
        .set_inst_attrib_value(InstAttribValue(ELECTRONIC_MATCH_ELIGIBLE));
    groups.no_lot_type_rules()?.push()?.set_lot_type(1).set_min_lot_size(Decimal(10_000));
    groups.finish()
}
