//! Records of the schema `definition`.

use std::ffi::c_char;

use dbn::{
    InstrumentClass, InstrumentDefMsg, RecordHeader, SecurityUpdateAction, Side,
    UserDefinedInstrument, rtype,
};
use hairpin_feed_handler::{
    Definition, DefinitionAction, DefinitionUpdate, Details, Leg, LegSide, PutOrCall,
};

use super::rows::{PUBLISHER, PacketFields, price, time};
use super::symbols::Symbols;
use super::unheld::{Unheld, UnheldCounts};

/// LotType (1093) of round lots and blocks.
const ROUND_LOT: i8 = 2;
const BLOCK: i8 = 3;
/// The wire's decimals of a quantity, and DBN's.
const QUANTITY_SCALE: i64 = 100_000;

/// Returns the records of a definition: one, or one for each leg of a spread.
pub(super) fn records(
    update: &DefinitionUpdate<'_>,
    packet: &PacketFields,
    (channel, symbols): (u8, &Symbols),
    unheld: &mut UnheldCounts,
) -> Vec<InstrumentDefMsg> {
    let definition = update.definition;
    let mut record = common(definition, packet, channel);
    details(definition, &mut record);
    lots(definition, &mut record);
    let mut underlyings = update.underlyings();
    if let Some(first) = underlyings.next() {
        record.underlying_id = first.security_id.unwrap_or(0) as u32;
        record.underlying = chars(first.symbol.as_str());
    }
    unheld.add_many(Unheld::Underlying, underlyings.count() as u64);
    unheld.add_many(Unheld::DefinitionField, fields_without_column(definition));
    let legs: Vec<&Leg> = update.legs().collect();
    record.leg_count = legs.len() as u16;
    if legs.is_empty() {
        return vec![record];
    }
    let with_leg = |(index, leg): (usize, &&Leg)| {
        let mut record = record.clone();
        record.leg_index = index as u16;
        set_leg(leg, symbols, &mut record);
        record
    };
    legs.iter().enumerate().map(with_leg).collect()
}

/// Returns a record with the fields that definitions of all kinds have.
fn common(it: &Definition, packet: &PacketFields, channel: u8) -> InstrumentDefMsg {
    let (id, ts_event) = (it.security_id as u32, it.last_update_time.as_nanos());
    let action = match it.action {
        DefinitionAction::Modify => SecurityUpdateAction::Modify,
        DefinitionAction::Delete => SecurityUpdateAction::Delete,
        _ => SecurityUpdateAction::Add,
    };
    let user_defined =
        if it.user_defined { UserDefinedInstrument::Yes } else { UserDefinedInstrument::No };
    InstrumentDefMsg {
        hd: RecordHeader::new::<InstrumentDefMsg>(rtype::INSTRUMENT_DEF, PUBLISHER, id, ts_event),
        ts_recv: packet.ts_recv,
        min_price_increment: price(it.min_price_increment),
        display_factor: it.display_factor.0,
        expiration: time(it.last_trade),
        activation: time(it.activation),
        high_limit_price: price(it.high_limit_price),
        low_limit_price: price(it.low_limit_price),
        max_price_variation: price(it.max_price_variation),
        unit_of_measure_qty: price(it.unit_of_measure_qty),
        min_price_increment_amount: price(it.min_price_increment_amount),
        raw_instrument_id: id.into(),
        inst_attrib_value: it.attributes.0 as i32,
        market_depth_implied: it.implied_depth.into(),
        market_depth: it.depth.into(),
        market_segment_id: it.market_segment_id.into(),
        max_trade_vol: it.max_trade_vol,
        min_trade_vol: it.min_trade_vol,
        appl_id: it.appl_id,
        maturity_year: it.maturity.year.unwrap_or(u16::MAX),
        maturity_month: it.maturity.month.unwrap_or(u8::MAX),
        maturity_day: it.maturity.day.unwrap_or(u8::MAX),
        maturity_week: it.maturity.week.unwrap_or(u8::MAX),
        channel_id: channel.into(),
        currency: chars(it.currency.as_str()),
        settl_currency: chars(it.settl_currency.as_str()),
        raw_symbol: chars(it.symbol.as_str()),
        group: chars(it.security_group.as_str()),
        exchange: chars(it.security_exchange.as_str()),
        asset: chars(it.asset.as_str()),
        cfi: chars(it.cfi_code.as_str()),
        security_type: chars(it.security_type.as_str()),
        unit_of_measure: chars(it.unit_of_measure.as_str()),
        instrument_class: instrument_class(it),
        match_algorithm: it.match_algorithm as c_char,
        main_fraction: it.main_fraction.unwrap_or(u8::MAX),
        price_display_format: it.price_display_format.unwrap_or(u8::MAX),
        sub_fraction: it.sub_fraction.unwrap_or(u8::MAX),
        underlying_product: it.underlying_product.unwrap_or(u8::MAX),
        security_update_action: action as u8 as c_char,
        user_defined_instrument: user_defined as u8 as c_char,
        ..InstrumentDefMsg::default()
    }
}

/// Sets the fields of one kind of definition.
fn details(it: &Definition, record: &mut InstrumentDefMsg) {
    match &it.details {
        Details::Future(future) => {
            record.decay_quantity = future.decay_quantity.unwrap_or(i32::MAX);
            record.decay_start_date = future.decay_start_date.unwrap_or(u16::MAX);
            record.original_contract_size = future.original_contract_size.unwrap_or(i32::MAX);
            record.contract_multiplier = future.contract_multiplier.unwrap_or(i32::MAX);
            record.contract_multiplier_unit = future.contract_multiplier_unit.unwrap_or(i8::MAX);
            record.flow_schedule_type = future.flow_schedule_type.unwrap_or(i8::MAX);
        }
        Details::Option(option) => {
            record.strike_price = price(option.strike_price);
            record.strike_price_currency = chars(option.strike_currency.as_str());
            record.tick_rule = option.tick_rule.map_or(u8::MAX, |rule| rule as u8);
        }
        Details::Spread(spread) => {
            record.secsubtype = chars(spread.sub_type.as_str());
            record.price_ratio = price(spread.price_ratio);
            record.tick_rule = spread.tick_rule.map_or(u8::MAX, |rule| rule as u8);
        }
        _ => {}
    }
}

/// Sets the minimum sizes of lots.
fn lots(it: &Definition, record: &mut InstrumentDefMsg) {
    for lot in it.lots.iter() {
        let Some(size) = lot.min_size else { continue };
        let size = i32::try_from(size.0 / 10_000).unwrap_or(i32::MAX);
        match lot.lot_type {
            ROUND_LOT => record.min_lot_size_round_lot = size,
            BLOCK => record.min_lot_size_block = size,
            _ => record.min_lot_size = size,
        }
    }
}

/// Sets the fields of a leg.
fn set_leg(leg: &Leg, symbols: &Symbols, record: &mut InstrumentDefMsg) {
    let id = leg.security_id as u32;
    record.leg_instrument_id = id;
    record.leg_raw_symbol = chars(symbols.symbol(id).unwrap_or(""));
    record.leg_side = match leg.side {
        LegSide::BUY_SIDE => Side::Bid,
        LegSide::SELL_SIDE => Side::Ask,
        _ => Side::None,
    } as c_char;
    record.leg_ratio_qty_numerator = leg.ratio.into();
    record.leg_ratio_qty_denominator = 1;
    record.leg_price = price(leg.price);
    if let Some(delta) = leg.option_delta {
        record.leg_delta = delta.0.saturating_mul(QUANTITY_SCALE);
    }
}

/// Returns the class of an instrument, from its template and CFICode (461); 0 if neither states it.
fn instrument_class(it: &Definition) -> c_char {
    let class = match &it.details {
        Details::Future(_) => InstrumentClass::Future,
        Details::Option(option) if option.put_or_call == PutOrCall::PUT => InstrumentClass::Put,
        Details::Option(_) => InstrumentClass::Call,
        Details::Spread(_) => match it.cfi_code.as_bytes().first() {
            Some(b'F') => InstrumentClass::FutureSpread,
            Some(b'O') => InstrumentClass::OptionSpread,
            _ => InstrumentClass::MixedSpread,
        },
        Details::FixedIncome(_) | Details::Repo(_) => InstrumentClass::Bond,
        Details::Fx(_) => InstrumentClass::FxSpot,
        _ => return 0,
    };
    class as u8 as c_char
}

/// Returns the number of present fields that DBN has no field for.
fn fields_without_column(it: &Definition) -> u64 {
    let shared = [
        it.instrument_guid.is_some(),
        it.trading_reference_price.is_some(),
        it.trading_reference_date.is_some(),
        it.open_interest_qty.is_some(),
        it.cleared_volume.is_some(),
        !it.price_quote_method.as_bytes().is_empty(),
        !it.risk_set.as_bytes().is_empty(),
        !it.market_set.as_bytes().is_empty(),
        !it.party_role_clearing_org.as_bytes().is_empty(),
        it.trading_status.is_some(),
    ];
    let own = match &it.details {
        Details::Option(option) => u64::from(option.min_cab_price.is_some()),
        Details::Spread(spread) => u64::from(!spread.full_name.as_bytes().is_empty()),
        // Templates 57, 58 and 63: none of their own fields.
        Details::FixedIncome(_) => 13,
        Details::Repo(_) => 9,
        Details::Fx(_) => 17,
        _ => 0,
    };
    shared.iter().filter(|is_present| **is_present).count() as u64 + own
}

/// Returns a text followed by zeros. DBN's fields are longer than CME's.
fn chars<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (to, from) in chars[..N - 1].iter_mut().zip(text.bytes()) {
        *to = from as c_char;
    }
    chars
}
