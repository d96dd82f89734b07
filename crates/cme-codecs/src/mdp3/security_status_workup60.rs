//! SecurityStatusWorkup60, template 60. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of SecurityStatusWorkup60.
pub const MESSAGE: Message = Message {
    name: "SecurityStatusWorkup60", template_id: 60, schema_id: 1, version: 13, semantic_type: "f",
    block: BlockLayout::new(30, 10, FIELDS),
    groups: &[
        GroupLayout::new("NoOrderIDEntries", 37705, 0, kind::GROUP_SIZE, BlockLayout::new(10, 10, NO_ORDER_ID_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MDEntryPx", 270, 8, 0, &kind::PRICENULL9),
    Field::new("SecurityID", 48, 16, 0, &kind::INT32),
    Field::new("MatchEventIndicator", 5799, 20, 0, &kind::MATCH_EVENT_INDICATOR),
    Field::new("TradeDate", 75, 21, 0, &kind::LOCAL_MKT_DATE),
    Field::new("TradeLinkID", 820, 23, 0, &kind::U_INT32),
    Field::new("SecurityTradingStatus", 326, 27, 0, &kind::WORKUP_TRADING_STATUS),
    Field::new("HaltReason", 327, 28, 0, &kind::HALT_REASON),
    Field::new("SecurityTradingEvent", 1174, 29, 0, &kind::SECURITY_TRADING_EVENT),
];
const NO_ORDER_ID_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64),
    Field::new("Side", 54, 8, 0, &kind::SIDE),
    Field::new("AggressorIndicator", 1057, 9, 0, &kind::AGGRESSOR_FLAG),
];

hairpin_sbe::message! {
    /// SecurityStatusWorkup60: message type f, template 60, since version 10, block of 30 bytes, 1 group.
    SecurityStatusWorkup60, SecurityStatusWorkup60Encoder, 30, SecurityStatusWorkup60Groups, 1
}

impl<'a> SecurityStatusWorkup60<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MDEntryPx (tag 270), bytes 8..16.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.block.nullable::<i64, 8>(i64::MAX).map(Decimal) }
    /// SecurityID (tag 48), bytes 16..20.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 16>() }
    /// MatchEventIndicator (tag 5799), bytes 20..21.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 20>()) }
    /// TradeDate (tag 75), bytes 21..23.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 21>(u16::MAX) }
    /// TradeLinkID (tag 820), bytes 23..27.
    #[inline] pub fn trade_link_id(&self) -> u32 { self.0.block.load::<u32, 23>() }
    /// SecurityTradingStatus (tag 326), bytes 27..28.
    #[inline] pub fn security_trading_status(&self) -> WorkupTradingStatus { WorkupTradingStatus(self.0.block.load::<u8, 27>()) }
    /// HaltReason (tag 327), bytes 28..29.
    #[inline] pub fn halt_reason(&self) -> HaltReason { HaltReason(self.0.block.load::<u8, 28>()) }
    /// SecurityTradingEvent (tag 1174), bytes 29..30.
    #[inline] pub fn security_trading_event(&self) -> SecurityTradingEvent { SecurityTradingEvent(self.0.block.load::<u8, 29>()) }
    /// NoOrderIDEntries (tag 37705).
    #[inline] pub fn no_order_id_entries(&self) -> Group<'a, NoOrderIDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl SecurityStatusWorkup60Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 8>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 16>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 20>(value.0); self }
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 21>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes TradeLinkID. */ #[inline] pub fn set_trade_link_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 23>(value); self }
    /** Writes SecurityTradingStatus. */ #[inline] pub fn set_security_trading_status(&mut self, value: WorkupTradingStatus) -> &mut Self { self.0.store::<u8, 27>(value.0); self }
    /** Writes HaltReason. */ #[inline] pub fn set_halt_reason(&mut self, value: HaltReason) -> &mut Self { self.0.store::<u8, 28>(value.0); self }
    /** Writes SecurityTradingEvent. */ #[inline] pub fn set_security_trading_event(&mut self, value: SecurityTradingEvent) -> &mut Self { self.0.store::<u8, 29>(value.0); self }
}

impl SecurityStatusWorkup60Groups<'_> {
    /// Starts the group NoOrderIDEntries.
    #[inline] pub fn no_order_id_entries(&mut self) -> Result<GroupEncoder<'_, NoOrderIDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoOrderIDEntries (tag 37705): block of 10 bytes.
    NoOrderIDEntries, NoOrderIDEntriesEncoder, 10, 0
}

impl NoOrderIDEntries<'_> {
    /// OrderID (tag 37), bytes 0..8.
    #[inline] pub fn order_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// Side (tag 54), bytes 8..9.
    #[inline] pub fn side(&self) -> Side { Side(self.0.load::<u8, 8>()) }
    /// AggressorIndicator (tag 1057), bytes 9..10.
    #[inline] pub fn aggressor_indicator(&self) -> Option<AggressorFlag> { self.0.nullable::<u8, 9>(u8::MAX).map(AggressorFlag) }
}

impl NoOrderIDEntriesEncoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: Side) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
    /** Writes AggressorIndicator. */ #[inline] pub fn set_aggressor_indicator(&mut self, value: impl Into<Option<AggressorFlag>>) -> &mut Self { self.0.store::<u8, 9>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
