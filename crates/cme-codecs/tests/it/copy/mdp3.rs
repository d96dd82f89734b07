//! Copies every message field by field. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use crate::plain_value::ValueLog;
use hairpin_sbe::{EncodeError, MessageHeader};
use hairpin_cme_codecs::mdp3::*;

pub(crate) fn copy(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    match header.template_id {
        ChannelReset4::TEMPLATE_ID => channel_reset4(header, body, buffer, values),
        AdminHeartbeat12::TEMPLATE_ID => admin_heartbeat12(header, body, buffer, values),
        AdminLogin15::TEMPLATE_ID => admin_login15(header, body, buffer, values),
        AdminLogout16::TEMPLATE_ID => admin_logout16(header, body, buffer, values),
        SecurityStatus30::TEMPLATE_ID => security_status30(header, body, buffer, values),
        MDIncrementalRefreshVolume37::TEMPLATE_ID => md_incremental_refresh_volume37(header, body, buffer, values),
        QuoteRequest39::TEMPLATE_ID => quote_request39(header, body, buffer, values),
        MDIncrementalRefreshBook46::TEMPLATE_ID => md_incremental_refresh_book46(header, body, buffer, values),
        MDIncrementalRefreshOrderBook47::TEMPLATE_ID => md_incremental_refresh_order_book47(header, body, buffer, values),
        MDIncrementalRefreshTradeSummary48::TEMPLATE_ID => md_incremental_refresh_trade_summary48(header, body, buffer, values),
        MDIncrementalRefreshDailyStatistics49::TEMPLATE_ID => md_incremental_refresh_daily_statistics49(header, body, buffer, values),
        MDIncrementalRefreshLimitsBanding50::TEMPLATE_ID => md_incremental_refresh_limits_banding50(header, body, buffer, values),
        MDIncrementalRefreshSessionStatistics51::TEMPLATE_ID => md_incremental_refresh_session_statistics51(header, body, buffer, values),
        SnapshotFullRefresh52::TEMPLATE_ID => snapshot_full_refresh52(header, body, buffer, values),
        SnapshotFullRefreshOrderBook53::TEMPLATE_ID => snapshot_full_refresh_order_book53(header, body, buffer, values),
        MDInstrumentDefinitionFuture54::TEMPLATE_ID => md_instrument_definition_future54(header, body, buffer, values),
        MDInstrumentDefinitionOption55::TEMPLATE_ID => md_instrument_definition_option55(header, body, buffer, values),
        MDInstrumentDefinitionSpread56::TEMPLATE_ID => md_instrument_definition_spread56(header, body, buffer, values),
        MDInstrumentDefinitionFixedIncome57::TEMPLATE_ID => md_instrument_definition_fixed_income57(header, body, buffer, values),
        MDInstrumentDefinitionRepo58::TEMPLATE_ID => md_instrument_definition_repo58(header, body, buffer, values),
        SnapshotRefreshTopOrders59::TEMPLATE_ID => snapshot_refresh_top_orders59(header, body, buffer, values),
        SecurityStatusWorkup60::TEMPLATE_ID => security_status_workup60(header, body, buffer, values),
        SnapshotFullRefreshTCP61::TEMPLATE_ID => snapshot_full_refresh_tcp61(header, body, buffer, values),
        CollateralMarketValue62::TEMPLATE_ID => collateral_market_value62(header, body, buffer, values),
        MDInstrumentDefinitionFX63::TEMPLATE_ID => md_instrument_definition_fx63(header, body, buffer, values),
        MDIncrementalRefreshBookLongQty64::TEMPLATE_ID => md_incremental_refresh_book_long_qty64(header, body, buffer, values),
        MDIncrementalRefreshTradeSummaryLongQty65::TEMPLATE_ID => md_incremental_refresh_trade_summary_long_qty65(header, body, buffer, values),
        MDIncrementalRefreshVolumeLongQty66::TEMPLATE_ID => md_incremental_refresh_volume_long_qty66(header, body, buffer, values),
        MDIncrementalRefreshSessionStatisticsLongQty67::TEMPLATE_ID => md_incremental_refresh_session_statistics_long_qty67(header, body, buffer, values),
        SnapshotFullRefreshTCPLongQty68::TEMPLATE_ID => snapshot_full_refresh_tcp_long_qty68(header, body, buffer, values),
        SnapshotFullRefreshLongQty69::TEMPLATE_ID => snapshot_full_refresh_long_qty69(header, body, buffer, values),
        other => panic!("template {other}"),
    }
}

pub(crate) fn empty(template_id: u16, buffer: &mut [u8]) -> Result<usize, EncodeError> {
    match template_id {
        ChannelReset4::TEMPLATE_ID => {
            let (_, mut groups) = ChannelReset4::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        AdminHeartbeat12::TEMPLATE_ID => AdminHeartbeat12::encode(buffer).map(|_| AdminHeartbeat12::ENCODED_LENGTH),
        AdminLogin15::TEMPLATE_ID => AdminLogin15::encode(buffer).map(|_| AdminLogin15::ENCODED_LENGTH),
        AdminLogout16::TEMPLATE_ID => AdminLogout16::encode(buffer).map(|_| AdminLogout16::ENCODED_LENGTH),
        SecurityStatus30::TEMPLATE_ID => SecurityStatus30::encode(buffer).map(|_| SecurityStatus30::ENCODED_LENGTH),
        MDIncrementalRefreshVolume37::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshVolume37::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        QuoteRequest39::TEMPLATE_ID => {
            let (_, mut groups) = QuoteRequest39::encode(buffer)?;
            groups.no_related_sym()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshBook46::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshBook46::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.no_order_id_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshOrderBook47::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshOrderBook47::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshTradeSummary48::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshTradeSummary48::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.no_order_id_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshDailyStatistics49::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshDailyStatistics49::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshLimitsBanding50::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshLimitsBanding50::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshSessionStatistics51::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshSessionStatistics51::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        SnapshotFullRefresh52::TEMPLATE_ID => {
            let (_, mut groups) = SnapshotFullRefresh52::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        SnapshotFullRefreshOrderBook53::TEMPLATE_ID => {
            let (_, mut groups) = SnapshotFullRefreshOrderBook53::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        MDInstrumentDefinitionFuture54::TEMPLATE_ID => {
            let (_, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer)?;
            groups.no_events()?.push()?;
            groups.no_md_feed_types()?.push()?;
            groups.no_inst_attrib()?.push()?;
            groups.no_lot_type_rules()?.push()?;
            groups.finish()
        }
        MDInstrumentDefinitionOption55::TEMPLATE_ID => {
            let (_, mut groups) = MDInstrumentDefinitionOption55::encode(buffer)?;
            groups.no_events()?.push()?;
            groups.no_md_feed_types()?.push()?;
            groups.no_inst_attrib()?.push()?;
            groups.no_lot_type_rules()?.push()?;
            groups.no_underlyings()?.push()?;
            groups.no_related_instruments()?.push()?;
            groups.finish()
        }
        MDInstrumentDefinitionSpread56::TEMPLATE_ID => {
            let (_, mut groups) = MDInstrumentDefinitionSpread56::encode(buffer)?;
            groups.no_events()?.push()?;
            groups.no_md_feed_types()?.push()?;
            groups.no_inst_attrib()?.push()?;
            groups.no_lot_type_rules()?.push()?;
            groups.no_legs()?.push()?;
            groups.finish()
        }
        MDInstrumentDefinitionFixedIncome57::TEMPLATE_ID => {
            let (_, mut groups) = MDInstrumentDefinitionFixedIncome57::encode(buffer)?;
            groups.no_events()?.push()?;
            groups.no_md_feed_types()?.push()?;
            groups.no_inst_attrib()?.push()?;
            groups.no_lot_type_rules()?.push()?;
            groups.finish()
        }
        MDInstrumentDefinitionRepo58::TEMPLATE_ID => {
            let (_, mut groups) = MDInstrumentDefinitionRepo58::encode(buffer)?;
            groups.no_events()?.push()?;
            groups.no_md_feed_types()?.push()?;
            groups.no_inst_attrib()?.push()?;
            groups.no_lot_type_rules()?.push()?;
            groups.no_underlyings()?.push()?;
            groups.no_related_instruments()?.push()?;
            groups.no_broken_dates()?.push()?;
            groups.finish()
        }
        SnapshotRefreshTopOrders59::TEMPLATE_ID => {
            let (_, mut groups) = SnapshotRefreshTopOrders59::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        SecurityStatusWorkup60::TEMPLATE_ID => {
            let (_, mut groups) = SecurityStatusWorkup60::encode(buffer)?;
            groups.no_order_id_entries()?.push()?;
            groups.finish()
        }
        SnapshotFullRefreshTCP61::TEMPLATE_ID => {
            let (_, mut groups) = SnapshotFullRefreshTCP61::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        CollateralMarketValue62::TEMPLATE_ID => {
            let (_, mut groups) = CollateralMarketValue62::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        MDInstrumentDefinitionFX63::TEMPLATE_ID => {
            let (_, mut groups) = MDInstrumentDefinitionFX63::encode(buffer)?;
            groups.no_events()?.push()?;
            groups.no_md_feed_types()?.push()?;
            groups.no_inst_attrib()?.push()?;
            groups.no_lot_type_rules()?.push()?;
            groups.no_trading_sessions()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshBookLongQty64::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshBookLongQty64::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.no_order_id_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshTradeSummaryLongQty65::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshTradeSummaryLongQty65::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.no_order_id_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshVolumeLongQty66::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshVolumeLongQty66::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        MDIncrementalRefreshSessionStatisticsLongQty67::TEMPLATE_ID => {
            let (_, mut groups) = MDIncrementalRefreshSessionStatisticsLongQty67::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        SnapshotFullRefreshTCPLongQty68::TEMPLATE_ID => {
            let (_, mut groups) = SnapshotFullRefreshTCPLongQty68::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        SnapshotFullRefreshLongQty69::TEMPLATE_ID => {
            let (_, mut groups) = SnapshotFullRefreshLongQty69::encode(buffer)?;
            groups.no_md_entries()?.push()?;
            groups.finish()
        }
        other => panic!("template {other}"),
    }
}

fn channel_reset4(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ChannelReset4::SCRATCH;
    let from = ChannelReset4::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = ChannelReset4::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = channel_reset4::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(channel_reset4::NoMDEntries::MD_UPDATE_ACTION);
        values.push(channel_reset4::NoMDEntries::MD_ENTRY_TYPE);
        _to.set_appl_id(entry.appl_id()); values.push(entry.appl_id());
    }
    groups.finish().unwrap()
}

fn admin_heartbeat12(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = AdminHeartbeat12::SCRATCH;
    let from = AdminHeartbeat12::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = AdminHeartbeat12::encode(buffer).unwrap();
    AdminHeartbeat12::ENCODED_LENGTH
}

fn admin_login15(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = AdminLogin15::SCRATCH;
    let from = AdminLogin15::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = AdminLogin15::encode(buffer).unwrap();
    _to.set_heart_bt_int(from.heart_bt_int()); values.push(from.heart_bt_int());
    AdminLogin15::ENCODED_LENGTH
}

fn admin_logout16(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = AdminLogout16::SCRATCH;
    let from = AdminLogout16::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = AdminLogout16::encode(buffer).unwrap();
    _to.set_text(from.text()); values.push(from.text());
    AdminLogout16::ENCODED_LENGTH
}

fn security_status30(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SecurityStatus30::SCRATCH;
    let from = SecurityStatus30::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = SecurityStatus30::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_asset(from.asset()); values.push(from.asset());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_security_trading_status(from.security_trading_status()); values.push(from.security_trading_status().map(|v| v.0));
    _to.set_halt_reason(from.halt_reason()); values.push(from.halt_reason().0);
    _to.set_security_trading_event(from.security_trading_event()); values.push(from.security_trading_event().0);
    SecurityStatus30::ENCODED_LENGTH
}

fn md_incremental_refresh_volume37(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshVolume37::SCRATCH;
    let from = MDIncrementalRefreshVolume37::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshVolume37::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_volume37::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        values.push(md_incremental_refresh_volume37::NoMDEntries::MD_ENTRY_TYPE);
    }
    groups.finish().unwrap()
}

fn quote_request39(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = QuoteRequest39::SCRATCH;
    let from = QuoteRequest39::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = QuoteRequest39::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_quote_req_id(from.quote_req_id()); values.push(from.quote_req_id());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_related_sym();
    let mut scratch = quote_request39::NoRelatedSym::SCRATCH;
    let mut pushed = groups.no_related_sym().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_symbol(entry.symbol()); values.push(entry.symbol());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_order_qty(entry.order_qty()); values.push(entry.order_qty());
        _to.set_quote_type(entry.quote_type()); values.push(entry.quote_type());
        _to.set_side(entry.side()); values.push(entry.side());
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_book46(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshBook46::SCRATCH;
    let from = MDIncrementalRefreshBook46::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshBook46::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_book46::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_md_price_level(entry.md_price_level()); values.push(entry.md_price_level());
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
        _to.set_tradeable_size(entry.tradeable_size()); values.push(entry.tradeable_size());
    }
    let mut entries = from.no_order_id_entries();
    let mut scratch = md_incremental_refresh_book46::NoOrderIDEntries::SCRATCH;
    let mut pushed = groups.no_order_id_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_md_order_priority(entry.md_order_priority()); values.push(entry.md_order_priority());
        _to.set_md_display_qty(entry.md_display_qty()); values.push(entry.md_display_qty());
        _to.set_reference_id(entry.reference_id()); values.push(entry.reference_id());
        _to.set_order_update_action(entry.order_update_action()); values.push(entry.order_update_action().0);
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_order_book47(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshOrderBook47::SCRATCH;
    let from = MDIncrementalRefreshOrderBook47::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshOrderBook47::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_order_book47::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_md_order_priority(entry.md_order_priority()); values.push(entry.md_order_priority());
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_display_qty(entry.md_display_qty()); values.push(entry.md_display_qty());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_trade_summary48(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshTradeSummary48::SCRATCH;
    let from = MDIncrementalRefreshTradeSummary48::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshTradeSummary48::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_trade_summary48::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_aggressor_side(entry.aggressor_side()); values.push(entry.aggressor_side().map(|v| v.0));
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        values.push(md_incremental_refresh_trade_summary48::NoMDEntries::MD_ENTRY_TYPE);
        _to.set_md_trade_entry_id(entry.md_trade_entry_id()); values.push(entry.md_trade_entry_id());
    }
    let mut entries = from.no_order_id_entries();
    let mut scratch = md_incremental_refresh_trade_summary48::NoOrderIDEntries::SCRATCH;
    let mut pushed = groups.no_order_id_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_last_qty(entry.last_qty()); values.push(entry.last_qty());
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_daily_statistics49(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshDailyStatistics49::SCRATCH;
    let from = MDIncrementalRefreshDailyStatistics49::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshDailyStatistics49::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_daily_statistics49::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_trading_reference_date(entry.trading_reference_date()); values.push(entry.trading_reference_date());
        _to.set_settl_price_type(entry.settl_price_type()); values.push(entry.settl_price_type().0);
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_limits_banding50(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshLimitsBanding50::SCRATCH;
    let from = MDIncrementalRefreshLimitsBanding50::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshLimitsBanding50::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_limits_banding50::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_high_limit_price(entry.high_limit_price()); values.push(entry.high_limit_price());
        _to.set_low_limit_price(entry.low_limit_price()); values.push(entry.low_limit_price());
        _to.set_max_price_variation(entry.max_price_variation()); values.push(entry.max_price_variation());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        values.push(md_incremental_refresh_limits_banding50::NoMDEntries::MD_UPDATE_ACTION);
        values.push(md_incremental_refresh_limits_banding50::NoMDEntries::MD_ENTRY_TYPE);
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_session_statistics51(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshSessionStatistics51::SCRATCH;
    let from = MDIncrementalRefreshSessionStatistics51::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshSessionStatistics51::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_session_statistics51::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_open_close_settl_flag(entry.open_close_settl_flag()); values.push(entry.open_close_settl_flag().map(|v| v.0));
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
    }
    groups.finish().unwrap()
}

fn snapshot_full_refresh52(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SnapshotFullRefresh52::SCRATCH;
    let from = SnapshotFullRefresh52::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SnapshotFullRefresh52::encode(buffer).unwrap();
    _to.set_last_msg_seq_num_processed(from.last_msg_seq_num_processed()); values.push(from.last_msg_seq_num_processed());
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_rpt_seq(from.rpt_seq()); values.push(from.rpt_seq());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    let mut entries = from.no_md_entries();
    let mut scratch = snapshot_full_refresh52::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_md_price_level(entry.md_price_level()); values.push(entry.md_price_level());
        _to.set_trading_reference_date(entry.trading_reference_date()); values.push(entry.trading_reference_date());
        _to.set_open_close_settl_flag(entry.open_close_settl_flag()); values.push(entry.open_close_settl_flag().map(|v| v.0));
        _to.set_settl_price_type(entry.settl_price_type()); values.push(entry.settl_price_type().0);
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}

fn snapshot_full_refresh_order_book53(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SnapshotFullRefreshOrderBook53::SCRATCH;
    let from = SnapshotFullRefreshOrderBook53::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SnapshotFullRefreshOrderBook53::encode(buffer).unwrap();
    _to.set_last_msg_seq_num_processed(from.last_msg_seq_num_processed()); values.push(from.last_msg_seq_num_processed());
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_no_chunks(from.no_chunks()); values.push(from.no_chunks());
    _to.set_current_chunk(from.current_chunk()); values.push(from.current_chunk());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    let mut entries = from.no_md_entries();
    let mut scratch = snapshot_full_refresh_order_book53::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_md_order_priority(entry.md_order_priority()); values.push(entry.md_order_priority());
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_display_qty(entry.md_display_qty()); values.push(entry.md_display_qty());
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}

fn md_instrument_definition_future54(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDInstrumentDefinitionFuture54::SCRATCH;
    let from = MDInstrumentDefinitionFuture54::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer).unwrap();
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_update_action(from.security_update_action()); values.push(from.security_update_action().0);
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_appl_id(from.appl_id()); values.push(from.appl_id());
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_underlying_product(from.underlying_product()); values.push(from.underlying_product());
    _to.set_security_exchange(from.security_exchange()); values.push(from.security_exchange());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_asset(from.asset()); values.push(from.asset());
    _to.set_symbol(from.symbol()); values.push(from.symbol());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    values.push(MDInstrumentDefinitionFuture54::SECURITY_ID_SOURCE);
    _to.set_security_type(from.security_type()); values.push(from.security_type());
    _to.set_cfi_code(from.cfi_code()); values.push(from.cfi_code());
    _to.set_maturity_month_year(from.maturity_month_year()); values.push(from.maturity_month_year());
    _to.set_currency(from.currency()); values.push(from.currency());
    _to.set_settl_currency(from.settl_currency()); values.push(from.settl_currency());
    _to.set_match_algorithm(from.match_algorithm()); values.push(from.match_algorithm());
    _to.set_min_trade_vol(from.min_trade_vol()); values.push(from.min_trade_vol());
    _to.set_max_trade_vol(from.max_trade_vol()); values.push(from.max_trade_vol());
    _to.set_min_price_increment(from.min_price_increment()); values.push(from.min_price_increment());
    _to.set_display_factor(from.display_factor()); values.push(from.display_factor());
    _to.set_main_fraction(from.main_fraction()); values.push(from.main_fraction());
    _to.set_sub_fraction(from.sub_fraction()); values.push(from.sub_fraction());
    _to.set_price_display_format(from.price_display_format()); values.push(from.price_display_format());
    _to.set_unit_of_measure(from.unit_of_measure()); values.push(from.unit_of_measure());
    _to.set_unit_of_measure_qty(from.unit_of_measure_qty()); values.push(from.unit_of_measure_qty());
    _to.set_trading_reference_price(from.trading_reference_price()); values.push(from.trading_reference_price());
    _to.set_settl_price_type(from.settl_price_type()); values.push(from.settl_price_type().0);
    _to.set_open_interest_qty(from.open_interest_qty()); values.push(from.open_interest_qty());
    _to.set_cleared_volume(from.cleared_volume()); values.push(from.cleared_volume());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    _to.set_decay_quantity(from.decay_quantity()); values.push(from.decay_quantity());
    _to.set_decay_start_date(from.decay_start_date()); values.push(from.decay_start_date());
    _to.set_original_contract_size(from.original_contract_size()); values.push(from.original_contract_size());
    _to.set_contract_multiplier(from.contract_multiplier()); values.push(from.contract_multiplier());
    _to.set_contract_multiplier_unit(from.contract_multiplier_unit()); values.push(from.contract_multiplier_unit());
    _to.set_flow_schedule_type(from.flow_schedule_type()); values.push(from.flow_schedule_type());
    _to.set_min_price_increment_amount(from.min_price_increment_amount()); values.push(from.min_price_increment_amount());
    _to.set_user_defined_instrument(from.user_defined_instrument()); values.push(from.user_defined_instrument());
    _to.set_trading_reference_date(from.trading_reference_date()); values.push(from.trading_reference_date());
    _to.set_instrument_guid(from.instrument_guid()); values.push(from.instrument_guid());
    let mut entries = from.no_events();
    let mut scratch = md_instrument_definition_future54::NoEvents::SCRATCH;
    let mut pushed = groups.no_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_event_type(entry.event_type()); values.push(entry.event_type().0);
        _to.set_event_time(entry.event_time()); values.push(entry.event_time());
    }
    let mut entries = from.no_md_feed_types();
    let mut scratch = md_instrument_definition_future54::NoMDFeedTypes::SCRATCH;
    let mut pushed = groups.no_md_feed_types().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_feed_type(entry.md_feed_type()); values.push(entry.md_feed_type());
        _to.set_market_depth(entry.market_depth()); values.push(entry.market_depth());
    }
    let mut entries = from.no_inst_attrib();
    let mut scratch = md_instrument_definition_future54::NoInstAttrib::SCRATCH;
    let mut pushed = groups.no_inst_attrib().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(md_instrument_definition_future54::NoInstAttrib::INST_ATTRIB_TYPE);
        _to.set_inst_attrib_value(entry.inst_attrib_value()); values.push(entry.inst_attrib_value().0);
    }
    let mut entries = from.no_lot_type_rules();
    let mut scratch = md_instrument_definition_future54::NoLotTypeRules::SCRATCH;
    let mut pushed = groups.no_lot_type_rules().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_lot_type(entry.lot_type()); values.push(entry.lot_type());
        _to.set_min_lot_size(entry.min_lot_size()); values.push(entry.min_lot_size());
    }
    groups.finish().unwrap()
}

fn md_instrument_definition_option55(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDInstrumentDefinitionOption55::SCRATCH;
    let from = MDInstrumentDefinitionOption55::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDInstrumentDefinitionOption55::encode(buffer).unwrap();
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_update_action(from.security_update_action()); values.push(from.security_update_action().0);
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_appl_id(from.appl_id()); values.push(from.appl_id());
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_underlying_product(from.underlying_product()); values.push(from.underlying_product());
    _to.set_security_exchange(from.security_exchange()); values.push(from.security_exchange());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_asset(from.asset()); values.push(from.asset());
    _to.set_symbol(from.symbol()); values.push(from.symbol());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    values.push(MDInstrumentDefinitionOption55::SECURITY_ID_SOURCE);
    _to.set_security_type(from.security_type()); values.push(from.security_type());
    _to.set_cfi_code(from.cfi_code()); values.push(from.cfi_code());
    _to.set_put_or_call(from.put_or_call()); values.push(from.put_or_call().0);
    _to.set_maturity_month_year(from.maturity_month_year()); values.push(from.maturity_month_year());
    _to.set_currency(from.currency()); values.push(from.currency());
    _to.set_strike_price(from.strike_price()); values.push(from.strike_price());
    _to.set_strike_currency(from.strike_currency()); values.push(from.strike_currency());
    _to.set_settl_currency(from.settl_currency()); values.push(from.settl_currency());
    _to.set_min_cab_price(from.min_cab_price()); values.push(from.min_cab_price());
    _to.set_match_algorithm(from.match_algorithm()); values.push(from.match_algorithm());
    _to.set_min_trade_vol(from.min_trade_vol()); values.push(from.min_trade_vol());
    _to.set_max_trade_vol(from.max_trade_vol()); values.push(from.max_trade_vol());
    _to.set_min_price_increment(from.min_price_increment()); values.push(from.min_price_increment());
    _to.set_min_price_increment_amount(from.min_price_increment_amount()); values.push(from.min_price_increment_amount());
    _to.set_display_factor(from.display_factor()); values.push(from.display_factor());
    _to.set_tick_rule(from.tick_rule()); values.push(from.tick_rule());
    _to.set_main_fraction(from.main_fraction()); values.push(from.main_fraction());
    _to.set_sub_fraction(from.sub_fraction()); values.push(from.sub_fraction());
    _to.set_price_display_format(from.price_display_format()); values.push(from.price_display_format());
    _to.set_unit_of_measure(from.unit_of_measure()); values.push(from.unit_of_measure());
    _to.set_unit_of_measure_qty(from.unit_of_measure_qty()); values.push(from.unit_of_measure_qty());
    _to.set_trading_reference_price(from.trading_reference_price()); values.push(from.trading_reference_price());
    _to.set_settl_price_type(from.settl_price_type()); values.push(from.settl_price_type().0);
    _to.set_cleared_volume(from.cleared_volume()); values.push(from.cleared_volume());
    _to.set_open_interest_qty(from.open_interest_qty()); values.push(from.open_interest_qty());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_user_defined_instrument(from.user_defined_instrument()); values.push(from.user_defined_instrument());
    _to.set_trading_reference_date(from.trading_reference_date()); values.push(from.trading_reference_date());
    _to.set_instrument_guid(from.instrument_guid()); values.push(from.instrument_guid());
    let mut entries = from.no_events();
    let mut scratch = md_instrument_definition_option55::NoEvents::SCRATCH;
    let mut pushed = groups.no_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_event_type(entry.event_type()); values.push(entry.event_type().0);
        _to.set_event_time(entry.event_time()); values.push(entry.event_time());
    }
    let mut entries = from.no_md_feed_types();
    let mut scratch = md_instrument_definition_option55::NoMDFeedTypes::SCRATCH;
    let mut pushed = groups.no_md_feed_types().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_feed_type(entry.md_feed_type()); values.push(entry.md_feed_type());
        _to.set_market_depth(entry.market_depth()); values.push(entry.market_depth());
    }
    let mut entries = from.no_inst_attrib();
    let mut scratch = md_instrument_definition_option55::NoInstAttrib::SCRATCH;
    let mut pushed = groups.no_inst_attrib().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(md_instrument_definition_option55::NoInstAttrib::INST_ATTRIB_TYPE);
        _to.set_inst_attrib_value(entry.inst_attrib_value()); values.push(entry.inst_attrib_value().0);
    }
    let mut entries = from.no_lot_type_rules();
    let mut scratch = md_instrument_definition_option55::NoLotTypeRules::SCRATCH;
    let mut pushed = groups.no_lot_type_rules().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_lot_type(entry.lot_type()); values.push(entry.lot_type());
        _to.set_min_lot_size(entry.min_lot_size()); values.push(entry.min_lot_size());
    }
    let mut entries = from.no_underlyings();
    let mut scratch = md_instrument_definition_option55::NoUnderlyings::SCRATCH;
    let mut pushed = groups.no_underlyings().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_underlying_security_id(entry.underlying_security_id()); values.push(entry.underlying_security_id());
        values.push(md_instrument_definition_option55::NoUnderlyings::UNDERLYING_SECURITY_ID_SOURCE);
        _to.set_underlying_symbol(entry.underlying_symbol()); values.push(entry.underlying_symbol());
    }
    let mut entries = from.no_related_instruments();
    let mut scratch = md_instrument_definition_option55::NoRelatedInstruments::SCRATCH;
    let mut pushed = groups.no_related_instruments().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_related_security_id(entry.related_security_id()); values.push(entry.related_security_id());
        values.push(md_instrument_definition_option55::NoRelatedInstruments::RELATED_SECURITY_ID_SOURCE);
        _to.set_related_symbol(entry.related_symbol()); values.push(entry.related_symbol());
    }
    groups.finish().unwrap()
}

fn md_instrument_definition_spread56(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDInstrumentDefinitionSpread56::SCRATCH;
    let from = MDInstrumentDefinitionSpread56::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDInstrumentDefinitionSpread56::encode(buffer).unwrap();
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_update_action(from.security_update_action()); values.push(from.security_update_action().0);
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_appl_id(from.appl_id()); values.push(from.appl_id());
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_underlying_product(from.underlying_product()); values.push(from.underlying_product());
    _to.set_security_exchange(from.security_exchange()); values.push(from.security_exchange());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_asset(from.asset()); values.push(from.asset());
    _to.set_symbol(from.symbol()); values.push(from.symbol());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    values.push(MDInstrumentDefinitionSpread56::SECURITY_ID_SOURCE);
    _to.set_security_type(from.security_type()); values.push(from.security_type());
    _to.set_cfi_code(from.cfi_code()); values.push(from.cfi_code());
    _to.set_maturity_month_year(from.maturity_month_year()); values.push(from.maturity_month_year());
    _to.set_currency(from.currency()); values.push(from.currency());
    _to.set_security_sub_type(from.security_sub_type()); values.push(from.security_sub_type());
    _to.set_user_defined_instrument(from.user_defined_instrument()); values.push(from.user_defined_instrument());
    _to.set_match_algorithm(from.match_algorithm()); values.push(from.match_algorithm());
    _to.set_min_trade_vol(from.min_trade_vol()); values.push(from.min_trade_vol());
    _to.set_max_trade_vol(from.max_trade_vol()); values.push(from.max_trade_vol());
    _to.set_min_price_increment(from.min_price_increment()); values.push(from.min_price_increment());
    _to.set_display_factor(from.display_factor()); values.push(from.display_factor());
    _to.set_price_display_format(from.price_display_format()); values.push(from.price_display_format());
    _to.set_price_ratio(from.price_ratio()); values.push(from.price_ratio());
    _to.set_tick_rule(from.tick_rule()); values.push(from.tick_rule());
    _to.set_unit_of_measure(from.unit_of_measure()); values.push(from.unit_of_measure());
    _to.set_trading_reference_price(from.trading_reference_price()); values.push(from.trading_reference_price());
    _to.set_settl_price_type(from.settl_price_type()); values.push(from.settl_price_type().0);
    _to.set_open_interest_qty(from.open_interest_qty()); values.push(from.open_interest_qty());
    _to.set_cleared_volume(from.cleared_volume()); values.push(from.cleared_volume());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    _to.set_main_fraction(from.main_fraction()); values.push(from.main_fraction());
    _to.set_sub_fraction(from.sub_fraction()); values.push(from.sub_fraction());
    _to.set_trading_reference_date(from.trading_reference_date()); values.push(from.trading_reference_date());
    _to.set_price_quote_method(from.price_quote_method()); values.push(from.price_quote_method());
    _to.set_risk_set(from.risk_set()); values.push(from.risk_set());
    _to.set_market_set(from.market_set()); values.push(from.market_set());
    _to.set_instrument_guid(from.instrument_guid()); values.push(from.instrument_guid());
    _to.set_financial_instrument_full_name(from.financial_instrument_full_name()); values.push(from.financial_instrument_full_name());
    let mut entries = from.no_events();
    let mut scratch = md_instrument_definition_spread56::NoEvents::SCRATCH;
    let mut pushed = groups.no_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_event_type(entry.event_type()); values.push(entry.event_type().0);
        _to.set_event_time(entry.event_time()); values.push(entry.event_time());
    }
    let mut entries = from.no_md_feed_types();
    let mut scratch = md_instrument_definition_spread56::NoMDFeedTypes::SCRATCH;
    let mut pushed = groups.no_md_feed_types().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_feed_type(entry.md_feed_type()); values.push(entry.md_feed_type());
        _to.set_market_depth(entry.market_depth()); values.push(entry.market_depth());
    }
    let mut entries = from.no_inst_attrib();
    let mut scratch = md_instrument_definition_spread56::NoInstAttrib::SCRATCH;
    let mut pushed = groups.no_inst_attrib().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(md_instrument_definition_spread56::NoInstAttrib::INST_ATTRIB_TYPE);
        _to.set_inst_attrib_value(entry.inst_attrib_value()); values.push(entry.inst_attrib_value().0);
    }
    let mut entries = from.no_lot_type_rules();
    let mut scratch = md_instrument_definition_spread56::NoLotTypeRules::SCRATCH;
    let mut pushed = groups.no_lot_type_rules().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_lot_type(entry.lot_type()); values.push(entry.lot_type());
        _to.set_min_lot_size(entry.min_lot_size()); values.push(entry.min_lot_size());
    }
    let mut entries = from.no_legs();
    let mut scratch = md_instrument_definition_spread56::NoLegs::SCRATCH;
    let mut pushed = groups.no_legs().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_leg_security_id(entry.leg_security_id()); values.push(entry.leg_security_id());
        values.push(md_instrument_definition_spread56::NoLegs::LEG_SECURITY_ID_SOURCE);
        _to.set_leg_side(entry.leg_side()); values.push(entry.leg_side().0);
        _to.set_leg_ratio_qty(entry.leg_ratio_qty()); values.push(entry.leg_ratio_qty());
        _to.set_leg_price(entry.leg_price()); values.push(entry.leg_price());
        _to.set_leg_option_delta(entry.leg_option_delta()); values.push(entry.leg_option_delta());
    }
    groups.finish().unwrap()
}

fn md_instrument_definition_fixed_income57(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDInstrumentDefinitionFixedIncome57::SCRATCH;
    let from = MDInstrumentDefinitionFixedIncome57::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDInstrumentDefinitionFixedIncome57::encode(buffer).unwrap();
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_update_action(from.security_update_action()); values.push(from.security_update_action().0);
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_appl_id(from.appl_id()); values.push(from.appl_id());
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_underlying_product(from.underlying_product()); values.push(from.underlying_product());
    _to.set_security_exchange(from.security_exchange()); values.push(from.security_exchange());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_asset(from.asset()); values.push(from.asset());
    _to.set_symbol(from.symbol()); values.push(from.symbol());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    values.push(MDInstrumentDefinitionFixedIncome57::SECURITY_ID_SOURCE);
    _to.set_security_type(from.security_type()); values.push(from.security_type());
    _to.set_cfi_code(from.cfi_code()); values.push(from.cfi_code());
    _to.set_currency(from.currency()); values.push(from.currency());
    _to.set_settl_currency(from.settl_currency()); values.push(from.settl_currency());
    _to.set_match_algorithm(from.match_algorithm()); values.push(from.match_algorithm());
    _to.set_min_trade_vol(from.min_trade_vol()); values.push(from.min_trade_vol());
    _to.set_max_trade_vol(from.max_trade_vol()); values.push(from.max_trade_vol());
    _to.set_min_price_increment(from.min_price_increment()); values.push(from.min_price_increment());
    _to.set_display_factor(from.display_factor()); values.push(from.display_factor());
    _to.set_main_fraction(from.main_fraction()); values.push(from.main_fraction());
    _to.set_sub_fraction(from.sub_fraction()); values.push(from.sub_fraction());
    _to.set_price_display_format(from.price_display_format()); values.push(from.price_display_format());
    _to.set_unit_of_measure(from.unit_of_measure()); values.push(from.unit_of_measure());
    _to.set_unit_of_measure_qty(from.unit_of_measure_qty()); values.push(from.unit_of_measure_qty());
    _to.set_trading_reference_price(from.trading_reference_price()); values.push(from.trading_reference_price());
    _to.set_trading_reference_date(from.trading_reference_date()); values.push(from.trading_reference_date());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    _to.set_min_price_increment_amount(from.min_price_increment_amount()); values.push(from.min_price_increment_amount());
    _to.set_issue_date(from.issue_date()); values.push(from.issue_date());
    _to.set_dated_date(from.dated_date()); values.push(from.dated_date());
    _to.set_maturity_date(from.maturity_date()); values.push(from.maturity_date());
    _to.set_coupon_rate(from.coupon_rate()); values.push(from.coupon_rate());
    _to.set_par_value(from.par_value()); values.push(from.par_value());
    _to.set_coupon_frequency_unit(from.coupon_frequency_unit()); values.push(from.coupon_frequency_unit());
    _to.set_coupon_frequency_period(from.coupon_frequency_period()); values.push(from.coupon_frequency_period());
    _to.set_coupon_day_count(from.coupon_day_count()); values.push(from.coupon_day_count());
    _to.set_country_of_issue(from.country_of_issue()); values.push(from.country_of_issue());
    _to.set_issuer(from.issuer()); values.push(from.issuer());
    _to.set_financial_instrument_full_name(from.financial_instrument_full_name()); values.push(from.financial_instrument_full_name());
    _to.set_security_alt_id(from.security_alt_id()); values.push(from.security_alt_id());
    _to.set_security_alt_id_source(from.security_alt_id_source()); values.push(from.security_alt_id_source().map(|v| v.0));
    _to.set_price_quote_method(from.price_quote_method()); values.push(from.price_quote_method());
    _to.set_party_role_clearing_org(from.party_role_clearing_org()); values.push(from.party_role_clearing_org());
    _to.set_user_defined_instrument(from.user_defined_instrument()); values.push(from.user_defined_instrument());
    _to.set_risk_set(from.risk_set()); values.push(from.risk_set());
    _to.set_market_set(from.market_set()); values.push(from.market_set());
    _to.set_instrument_guid(from.instrument_guid()); values.push(from.instrument_guid());
    let mut entries = from.no_events();
    let mut scratch = md_instrument_definition_fixed_income57::NoEvents::SCRATCH;
    let mut pushed = groups.no_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_event_type(entry.event_type()); values.push(entry.event_type().0);
        _to.set_event_time(entry.event_time()); values.push(entry.event_time());
    }
    let mut entries = from.no_md_feed_types();
    let mut scratch = md_instrument_definition_fixed_income57::NoMDFeedTypes::SCRATCH;
    let mut pushed = groups.no_md_feed_types().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_feed_type(entry.md_feed_type()); values.push(entry.md_feed_type());
        _to.set_market_depth(entry.market_depth()); values.push(entry.market_depth());
    }
    let mut entries = from.no_inst_attrib();
    let mut scratch = md_instrument_definition_fixed_income57::NoInstAttrib::SCRATCH;
    let mut pushed = groups.no_inst_attrib().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(md_instrument_definition_fixed_income57::NoInstAttrib::INST_ATTRIB_TYPE);
        _to.set_inst_attrib_value(entry.inst_attrib_value()); values.push(entry.inst_attrib_value().0);
    }
    let mut entries = from.no_lot_type_rules();
    let mut scratch = md_instrument_definition_fixed_income57::NoLotTypeRules::SCRATCH;
    let mut pushed = groups.no_lot_type_rules().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_lot_type(entry.lot_type()); values.push(entry.lot_type());
        _to.set_min_lot_size(entry.min_lot_size()); values.push(entry.min_lot_size());
    }
    groups.finish().unwrap()
}

fn md_instrument_definition_repo58(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDInstrumentDefinitionRepo58::SCRATCH;
    let from = MDInstrumentDefinitionRepo58::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDInstrumentDefinitionRepo58::encode(buffer).unwrap();
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_update_action(from.security_update_action()); values.push(from.security_update_action().0);
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_appl_id(from.appl_id()); values.push(from.appl_id());
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_underlying_product(from.underlying_product()); values.push(from.underlying_product());
    _to.set_security_exchange(from.security_exchange()); values.push(from.security_exchange());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_asset(from.asset()); values.push(from.asset());
    _to.set_symbol(from.symbol()); values.push(from.symbol());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    values.push(MDInstrumentDefinitionRepo58::SECURITY_ID_SOURCE);
    _to.set_security_type(from.security_type()); values.push(from.security_type());
    _to.set_cfi_code(from.cfi_code()); values.push(from.cfi_code());
    _to.set_currency(from.currency()); values.push(from.currency());
    _to.set_settl_currency(from.settl_currency()); values.push(from.settl_currency());
    _to.set_match_algorithm(from.match_algorithm()); values.push(from.match_algorithm());
    _to.set_min_trade_vol(from.min_trade_vol()); values.push(from.min_trade_vol());
    _to.set_max_trade_vol(from.max_trade_vol()); values.push(from.max_trade_vol());
    _to.set_min_price_increment(from.min_price_increment()); values.push(from.min_price_increment());
    _to.set_display_factor(from.display_factor()); values.push(from.display_factor());
    _to.set_unit_of_measure(from.unit_of_measure()); values.push(from.unit_of_measure());
    _to.set_unit_of_measure_qty(from.unit_of_measure_qty()); values.push(from.unit_of_measure_qty());
    _to.set_trading_reference_price(from.trading_reference_price()); values.push(from.trading_reference_price());
    _to.set_trading_reference_date(from.trading_reference_date()); values.push(from.trading_reference_date());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    _to.set_financial_instrument_full_name(from.financial_instrument_full_name()); values.push(from.financial_instrument_full_name());
    _to.set_party_role_clearing_org(from.party_role_clearing_org()); values.push(from.party_role_clearing_org());
    _to.set_start_date(from.start_date()); values.push(from.start_date());
    _to.set_end_date(from.end_date()); values.push(from.end_date());
    _to.set_termination_type(from.termination_type()); values.push(from.termination_type());
    _to.set_security_sub_type(from.security_sub_type()); values.push(from.security_sub_type().0);
    _to.set_money_or_par(from.money_or_par()); values.push(from.money_or_par().map(|v| v.0));
    _to.set_max_no_of_substitutions(from.max_no_of_substitutions()); values.push(from.max_no_of_substitutions());
    _to.set_price_quote_method(from.price_quote_method()); values.push(from.price_quote_method());
    _to.set_user_defined_instrument(from.user_defined_instrument()); values.push(from.user_defined_instrument());
    _to.set_risk_set(from.risk_set()); values.push(from.risk_set());
    _to.set_market_set(from.market_set()); values.push(from.market_set());
    _to.set_instrument_guid(from.instrument_guid()); values.push(from.instrument_guid());
    _to.set_term_code(from.term_code()); values.push(from.term_code());
    _to.set_broken_date_term_type(from.broken_date_term_type()); values.push(from.broken_date_term_type());
    let mut entries = from.no_events();
    let mut scratch = md_instrument_definition_repo58::NoEvents::SCRATCH;
    let mut pushed = groups.no_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_event_type(entry.event_type()); values.push(entry.event_type().0);
        _to.set_event_time(entry.event_time()); values.push(entry.event_time());
    }
    let mut entries = from.no_md_feed_types();
    let mut scratch = md_instrument_definition_repo58::NoMDFeedTypes::SCRATCH;
    let mut pushed = groups.no_md_feed_types().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_feed_type(entry.md_feed_type()); values.push(entry.md_feed_type());
        _to.set_market_depth(entry.market_depth()); values.push(entry.market_depth());
    }
    let mut entries = from.no_inst_attrib();
    let mut scratch = md_instrument_definition_repo58::NoInstAttrib::SCRATCH;
    let mut pushed = groups.no_inst_attrib().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(md_instrument_definition_repo58::NoInstAttrib::INST_ATTRIB_TYPE);
        _to.set_inst_attrib_value(entry.inst_attrib_value()); values.push(entry.inst_attrib_value().0);
    }
    let mut entries = from.no_lot_type_rules();
    let mut scratch = md_instrument_definition_repo58::NoLotTypeRules::SCRATCH;
    let mut pushed = groups.no_lot_type_rules().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_lot_type(entry.lot_type()); values.push(entry.lot_type());
        _to.set_min_lot_size(entry.min_lot_size()); values.push(entry.min_lot_size());
    }
    let mut entries = from.no_underlyings();
    let mut scratch = md_instrument_definition_repo58::NoUnderlyings::SCRATCH;
    let mut pushed = groups.no_underlyings().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_underlying_symbol(entry.underlying_symbol()); values.push(entry.underlying_symbol());
        _to.set_underlying_security_id(entry.underlying_security_id()); values.push(entry.underlying_security_id());
        values.push(md_instrument_definition_repo58::NoUnderlyings::UNDERLYING_SECURITY_ID_SOURCE);
        _to.set_underlying_security_alt_id(entry.underlying_security_alt_id()); values.push(entry.underlying_security_alt_id());
        _to.set_underlying_security_alt_id_source(entry.underlying_security_alt_id_source()); values.push(entry.underlying_security_alt_id_source().map(|v| v.0));
        _to.set_underlying_financial_instrument_full_name(entry.underlying_financial_instrument_full_name()); values.push(entry.underlying_financial_instrument_full_name());
        _to.set_underlying_security_type(entry.underlying_security_type()); values.push(entry.underlying_security_type());
        _to.set_underlying_country_of_issue(entry.underlying_country_of_issue()); values.push(entry.underlying_country_of_issue());
        _to.set_underlying_issuer(entry.underlying_issuer()); values.push(entry.underlying_issuer());
        _to.set_underlying_max_life_time(entry.underlying_max_life_time()); values.push(entry.underlying_max_life_time());
        _to.set_underlying_min_days_to_maturity(entry.underlying_min_days_to_maturity()); values.push(entry.underlying_min_days_to_maturity());
        _to.set_underlying_instrument_guid(entry.underlying_instrument_guid()); values.push(entry.underlying_instrument_guid());
        _to.set_underlying_maturity_date(entry.underlying_maturity_date()); values.push(entry.underlying_maturity_date());
    }
    let mut entries = from.no_related_instruments();
    let mut scratch = md_instrument_definition_repo58::NoRelatedInstruments::SCRATCH;
    let mut pushed = groups.no_related_instruments().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_related_security_id(entry.related_security_id()); values.push(entry.related_security_id());
        values.push(md_instrument_definition_repo58::NoRelatedInstruments::RELATED_SECURITY_ID_SOURCE);
        _to.set_related_symbol(entry.related_symbol()); values.push(entry.related_symbol());
        _to.set_related_instrument_guid(entry.related_instrument_guid()); values.push(entry.related_instrument_guid());
    }
    let mut entries = from.no_broken_dates();
    let mut scratch = md_instrument_definition_repo58::NoBrokenDates::SCRATCH;
    let mut pushed = groups.no_broken_dates().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_broken_date_guid(entry.broken_date_guid()); values.push(entry.broken_date_guid());
        _to.set_broken_date_security_id(entry.broken_date_security_id()); values.push(entry.broken_date_security_id());
        _to.set_broken_date_start(entry.broken_date_start()); values.push(entry.broken_date_start());
        _to.set_broken_date_end(entry.broken_date_end()); values.push(entry.broken_date_end());
    }
    groups.finish().unwrap()
}

fn snapshot_refresh_top_orders59(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SnapshotRefreshTopOrders59::SCRATCH;
    let from = SnapshotRefreshTopOrders59::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SnapshotRefreshTopOrders59::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    let mut entries = from.no_md_entries();
    let mut scratch = snapshot_refresh_top_orders59::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_md_order_priority(entry.md_order_priority()); values.push(entry.md_order_priority());
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_display_qty(entry.md_display_qty()); values.push(entry.md_display_qty());
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}

fn security_status_workup60(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SecurityStatusWorkup60::SCRATCH;
    let from = SecurityStatusWorkup60::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SecurityStatusWorkup60::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_md_entry_px(from.md_entry_px()); values.push(from.md_entry_px());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_trade_link_id(from.trade_link_id()); values.push(from.trade_link_id());
    _to.set_security_trading_status(from.security_trading_status()); values.push(from.security_trading_status().0);
    _to.set_halt_reason(from.halt_reason()); values.push(from.halt_reason().0);
    _to.set_security_trading_event(from.security_trading_event()); values.push(from.security_trading_event().0);
    let mut entries = from.no_order_id_entries();
    let mut scratch = security_status_workup60::NoOrderIDEntries::SCRATCH;
    let mut pushed = groups.no_order_id_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_side(entry.side()); values.push(entry.side().0);
        _to.set_aggressor_indicator(entry.aggressor_indicator()); values.push(entry.aggressor_indicator().map(|v| v.0));
    }
    groups.finish().unwrap()
}

fn snapshot_full_refresh_tcp61(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SnapshotFullRefreshTCP61::SCRATCH;
    let from = SnapshotFullRefreshTCP61::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SnapshotFullRefreshTCP61::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    let mut entries = from.no_md_entries();
    let mut scratch = snapshot_full_refresh_tcp61::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_tradeable_size(entry.tradeable_size()); values.push(entry.tradeable_size());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_md_price_level(entry.md_price_level()); values.push(entry.md_price_level());
        _to.set_open_close_settl_flag(entry.open_close_settl_flag()); values.push(entry.open_close_settl_flag().map(|v| v.0));
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
        _to.set_trading_reference_date(entry.trading_reference_date()); values.push(entry.trading_reference_date());
        _to.set_settl_price_type(entry.settl_price_type()); values.push(entry.settl_price_type().0);
    }
    groups.finish().unwrap()
}

fn collateral_market_value62(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = CollateralMarketValue62::SCRATCH;
    let from = CollateralMarketValue62::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = CollateralMarketValue62::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = collateral_market_value62::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_underlying_security_alt_id(entry.underlying_security_alt_id()); values.push(entry.underlying_security_alt_id());
        _to.set_underlying_security_alt_id_source(entry.underlying_security_alt_id_source()); values.push(entry.underlying_security_alt_id_source().map(|v| v.0));
        _to.set_collateral_market_price(entry.collateral_market_price()); values.push(entry.collateral_market_price());
        _to.set_dirty_price(entry.dirty_price()); values.push(entry.dirty_price());
        _to.set_underlying_instrument_guid(entry.underlying_instrument_guid()); values.push(entry.underlying_instrument_guid());
        _to.set_md_stream_id(entry.md_stream_id()); values.push(entry.md_stream_id().map(|v| v.0));
    }
    groups.finish().unwrap()
}

fn md_instrument_definition_fx63(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDInstrumentDefinitionFX63::SCRATCH;
    let from = MDInstrumentDefinitionFX63::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDInstrumentDefinitionFX63::encode(buffer).unwrap();
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_update_action(from.security_update_action()); values.push(from.security_update_action().0);
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_appl_id(from.appl_id()); values.push(from.appl_id());
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_underlying_product(from.underlying_product()); values.push(from.underlying_product());
    _to.set_security_exchange(from.security_exchange()); values.push(from.security_exchange());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_asset(from.asset()); values.push(from.asset());
    _to.set_symbol(from.symbol()); values.push(from.symbol());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    values.push(MDInstrumentDefinitionFX63::SECURITY_ID_SOURCE);
    _to.set_security_type(from.security_type()); values.push(from.security_type());
    _to.set_cfi_code(from.cfi_code()); values.push(from.cfi_code());
    _to.set_currency(from.currency()); values.push(from.currency());
    _to.set_settl_currency(from.settl_currency()); values.push(from.settl_currency());
    _to.set_price_quote_currency(from.price_quote_currency()); values.push(from.price_quote_currency());
    _to.set_match_algorithm(from.match_algorithm()); values.push(from.match_algorithm());
    _to.set_min_trade_vol(from.min_trade_vol()); values.push(from.min_trade_vol());
    _to.set_max_trade_vol(from.max_trade_vol()); values.push(from.max_trade_vol());
    _to.set_min_price_increment(from.min_price_increment()); values.push(from.min_price_increment());
    _to.set_display_factor(from.display_factor()); values.push(from.display_factor());
    _to.set_price_precision(from.price_precision()); values.push(from.price_precision());
    _to.set_unit_of_measure(from.unit_of_measure()); values.push(from.unit_of_measure());
    _to.set_unit_of_measure_qty(from.unit_of_measure_qty()); values.push(from.unit_of_measure_qty());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    _to.set_user_defined_instrument(from.user_defined_instrument()); values.push(from.user_defined_instrument());
    _to.set_financial_instrument_full_name(from.financial_instrument_full_name()); values.push(from.financial_instrument_full_name());
    _to.set_fx_currency_symbol(from.fx_currency_symbol()); values.push(from.fx_currency_symbol());
    _to.set_settl_type(from.settl_type()); values.push(from.settl_type());
    _to.set_intervening_days(from.intervening_days()); values.push(from.intervening_days());
    _to.set_fx_benchmark_rate_fix(from.fx_benchmark_rate_fix()); values.push(from.fx_benchmark_rate_fix());
    _to.set_rate_source(from.rate_source()); values.push(from.rate_source());
    _to.set_fix_rate_local_time(from.fix_rate_local_time()); values.push(from.fix_rate_local_time());
    _to.set_fix_rate_local_time_zone(from.fix_rate_local_time_zone()); values.push(from.fix_rate_local_time_zone());
    _to.set_min_quote_life(from.min_quote_life()); values.push(from.min_quote_life());
    _to.set_max_price_discretion_offset(from.max_price_discretion_offset()); values.push(from.max_price_discretion_offset());
    _to.set_instrument_guid(from.instrument_guid()); values.push(from.instrument_guid());
    _to.set_maturity_month_year(from.maturity_month_year()); values.push(from.maturity_month_year());
    _to.set_settlement_locale(from.settlement_locale()); values.push(from.settlement_locale());
    _to.set_alt_min_price_increment(from.alt_min_price_increment()); values.push(from.alt_min_price_increment());
    _to.set_alt_min_quote_life(from.alt_min_quote_life()); values.push(from.alt_min_quote_life());
    _to.set_alt_price_increment_constraint(from.alt_price_increment_constraint()); values.push(from.alt_price_increment_constraint());
    _to.set_max_bid_ask_constraint(from.max_bid_ask_constraint()); values.push(from.max_bid_ask_constraint());
    let mut entries = from.no_events();
    let mut scratch = md_instrument_definition_fx63::NoEvents::SCRATCH;
    let mut pushed = groups.no_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_event_type(entry.event_type()); values.push(entry.event_type().0);
        _to.set_event_time(entry.event_time()); values.push(entry.event_time());
    }
    let mut entries = from.no_md_feed_types();
    let mut scratch = md_instrument_definition_fx63::NoMDFeedTypes::SCRATCH;
    let mut pushed = groups.no_md_feed_types().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_feed_type(entry.md_feed_type()); values.push(entry.md_feed_type());
        _to.set_market_depth(entry.market_depth()); values.push(entry.market_depth());
    }
    let mut entries = from.no_inst_attrib();
    let mut scratch = md_instrument_definition_fx63::NoInstAttrib::SCRATCH;
    let mut pushed = groups.no_inst_attrib().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(md_instrument_definition_fx63::NoInstAttrib::INST_ATTRIB_TYPE);
        _to.set_inst_attrib_value(entry.inst_attrib_value()); values.push(entry.inst_attrib_value().0);
    }
    let mut entries = from.no_lot_type_rules();
    let mut scratch = md_instrument_definition_fx63::NoLotTypeRules::SCRATCH;
    let mut pushed = groups.no_lot_type_rules().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_lot_type(entry.lot_type()); values.push(entry.lot_type());
        _to.set_min_lot_size(entry.min_lot_size()); values.push(entry.min_lot_size());
    }
    let mut entries = from.no_trading_sessions();
    let mut scratch = md_instrument_definition_fx63::NoTradingSessions::SCRATCH;
    let mut pushed = groups.no_trading_sessions().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_trade_date(entry.trade_date()); values.push(entry.trade_date());
        _to.set_settl_date(entry.settl_date()); values.push(entry.settl_date());
        _to.set_maturity_date(entry.maturity_date()); values.push(entry.maturity_date());
        _to.set_security_alt_id(entry.security_alt_id()); values.push(entry.security_alt_id());
        values.push(md_instrument_definition_fx63::NoTradingSessions::SECURITY_ALT_ID_SOURCE);
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_book_long_qty64(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshBookLongQty64::SCRATCH;
    let from = MDIncrementalRefreshBookLongQty64::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshBookLongQty64::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_book_long_qty64::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_md_price_level(entry.md_price_level()); values.push(entry.md_price_level());
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    let mut entries = from.no_order_id_entries();
    let mut scratch = md_incremental_refresh_book_long_qty64::NoOrderIDEntries::SCRATCH;
    let mut pushed = groups.no_order_id_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_md_order_priority(entry.md_order_priority()); values.push(entry.md_order_priority());
        _to.set_md_display_qty(entry.md_display_qty()); values.push(entry.md_display_qty());
        _to.set_reference_id(entry.reference_id()); values.push(entry.reference_id());
        _to.set_order_update_action(entry.order_update_action()); values.push(entry.order_update_action().0);
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_trade_summary_long_qty65(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshTradeSummaryLongQty65::SCRATCH;
    let from = MDIncrementalRefreshTradeSummaryLongQty65::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshTradeSummaryLongQty65::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_trade_summary_long_qty65::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_md_trade_entry_id(entry.md_trade_entry_id()); values.push(entry.md_trade_entry_id());
        _to.set_aggressor_side(entry.aggressor_side()); values.push(entry.aggressor_side().map(|v| v.0));
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        values.push(md_incremental_refresh_trade_summary_long_qty65::NoMDEntries::MD_ENTRY_TYPE);
    }
    let mut entries = from.no_order_id_entries();
    let mut scratch = md_incremental_refresh_trade_summary_long_qty65::NoOrderIDEntries::SCRATCH;
    let mut pushed = groups.no_order_id_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_last_qty(entry.last_qty()); values.push(entry.last_qty());
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_volume_long_qty66(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshVolumeLongQty66::SCRATCH;
    let from = MDIncrementalRefreshVolumeLongQty66::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshVolumeLongQty66::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_volume_long_qty66::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        values.push(md_incremental_refresh_volume_long_qty66::NoMDEntries::MD_ENTRY_TYPE);
    }
    groups.finish().unwrap()
}

fn md_incremental_refresh_session_statistics_long_qty67(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MDIncrementalRefreshSessionStatisticsLongQty67::SCRATCH;
    let from = MDIncrementalRefreshSessionStatisticsLongQty67::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MDIncrementalRefreshSessionStatisticsLongQty67::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    let mut entries = from.no_md_entries();
    let mut scratch = md_incremental_refresh_session_statistics_long_qty67::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_rpt_seq(entry.rpt_seq()); values.push(entry.rpt_seq());
        _to.set_open_close_settl_flag(entry.open_close_settl_flag()); values.push(entry.open_close_settl_flag().map(|v| v.0));
        _to.set_md_update_action(entry.md_update_action()); values.push(entry.md_update_action().0);
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}

fn snapshot_full_refresh_tcp_long_qty68(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SnapshotFullRefreshTCPLongQty68::SCRATCH;
    let from = SnapshotFullRefreshTCPLongQty68::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SnapshotFullRefreshTCPLongQty68::encode(buffer).unwrap();
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_match_event_indicator(from.match_event_indicator()); values.push(from.match_event_indicator().0);
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    let mut entries = from.no_md_entries();
    let mut scratch = snapshot_full_refresh_tcp_long_qty68::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_md_price_level(entry.md_price_level()); values.push(entry.md_price_level());
        _to.set_open_close_settl_flag(entry.open_close_settl_flag()); values.push(entry.open_close_settl_flag().map(|v| v.0));
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}

fn snapshot_full_refresh_long_qty69(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SnapshotFullRefreshLongQty69::SCRATCH;
    let from = SnapshotFullRefreshLongQty69::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SnapshotFullRefreshLongQty69::encode(buffer).unwrap();
    _to.set_last_msg_seq_num_processed(from.last_msg_seq_num_processed()); values.push(from.last_msg_seq_num_processed());
    _to.set_tot_num_reports(from.tot_num_reports()); values.push(from.tot_num_reports());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_rpt_seq(from.rpt_seq()); values.push(from.rpt_seq());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_last_update_time(from.last_update_time()); values.push(from.last_update_time());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_md_security_trading_status(from.md_security_trading_status()); values.push(from.md_security_trading_status().map(|v| v.0));
    _to.set_high_limit_price(from.high_limit_price()); values.push(from.high_limit_price());
    _to.set_low_limit_price(from.low_limit_price()); values.push(from.low_limit_price());
    _to.set_max_price_variation(from.max_price_variation()); values.push(from.max_price_variation());
    let mut entries = from.no_md_entries();
    let mut scratch = snapshot_full_refresh_long_qty69::NoMDEntries::SCRATCH;
    let mut pushed = groups.no_md_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_md_entry_px(entry.md_entry_px()); values.push(entry.md_entry_px());
        _to.set_md_entry_size(entry.md_entry_size()); values.push(entry.md_entry_size());
        _to.set_number_of_orders(entry.number_of_orders()); values.push(entry.number_of_orders());
        _to.set_md_price_level(entry.md_price_level()); values.push(entry.md_price_level());
        _to.set_open_close_settl_flag(entry.open_close_settl_flag()); values.push(entry.open_close_settl_flag().map(|v| v.0));
        _to.set_md_entry_type(entry.md_entry_type()); values.push(entry.md_entry_type().0);
    }
    groups.finish().unwrap()
}
