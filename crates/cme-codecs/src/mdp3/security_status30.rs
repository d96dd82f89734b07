//! SecurityStatus30, template 30. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of SecurityStatus30.
pub const MESSAGE: Message = Message {
    name: "SecurityStatus30", template_id: 30, schema_id: 1, version: 13, semantic_type: "f",
    block: BlockLayout::new(30, 2, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("SecurityGroup", 1151, 8, 0, &kind::SECURITY_GROUP),
    Field::new("Asset", 6937, 14, 0, &kind::ASSET),
    Field::new("SecurityID", 48, 20, 0, &kind::INT32NULL),
    Field::new("TradeDate", 75, 24, 0, &kind::LOCAL_MKT_DATE),
    Field::new("MatchEventIndicator", 5799, 26, 0, &kind::MATCH_EVENT_INDICATOR),
    Field::new("SecurityTradingStatus", 326, 27, 0, &kind::SECURITY_TRADING_STATUS),
    Field::new("HaltReason", 327, 28, 0, &kind::HALT_REASON),
    Field::new("SecurityTradingEvent", 1174, 29, 0, &kind::SECURITY_TRADING_EVENT),
];

hairpin_sbe::message! {
    /// SecurityStatus30: message type f, template 30, since version 2, block of 30 bytes, 0 groups.
    SecurityStatus30, SecurityStatus30Encoder, 30
}

impl<'a> SecurityStatus30<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SecurityGroup (tag 1151), bytes 8..14.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<8, 6>() }
    /// Asset (tag 6937), bytes 14..20.
    #[inline] pub fn asset(&self) -> CharArray<'a> { self.0.block.chars::<14, 6>() }
    /// SecurityID (tag 48), bytes 20..24.
    #[inline] pub fn security_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 20>(i32::MAX) }
    /// TradeDate (tag 75), bytes 24..26.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 24>(u16::MAX) }
    /// MatchEventIndicator (tag 5799), bytes 26..27.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 26>()) }
    /// SecurityTradingStatus (tag 326), bytes 27..28.
    #[inline] pub fn security_trading_status(&self) -> Option<SecurityTradingStatus> { self.0.block.nullable::<u8, 27>(u8::MAX).map(SecurityTradingStatus) }
    /// HaltReason (tag 327), bytes 28..29.
    #[inline] pub fn halt_reason(&self) -> HaltReason { HaltReason(self.0.block.load::<u8, 28>()) }
    /// SecurityTradingEvent (tag 1174), bytes 29..30.
    #[inline] pub fn security_trading_event(&self) -> SecurityTradingEvent { SecurityTradingEvent(self.0.block.load::<u8, 29>()) }
}

impl SecurityStatus30Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<8, 6>(value.as_ref()); self }
    /** Writes Asset. */ #[inline] pub fn set_asset(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<14, 6>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 20>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 24>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 26>(value.0); self }
    /** Writes SecurityTradingStatus. */ #[inline] pub fn set_security_trading_status(&mut self, value: impl Into<Option<SecurityTradingStatus>>) -> &mut Self { self.0.store::<u8, 27>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes HaltReason. */ #[inline] pub fn set_halt_reason(&mut self, value: HaltReason) -> &mut Self { self.0.store::<u8, 28>(value.0); self }
    /** Writes SecurityTradingEvent. */ #[inline] pub fn set_security_trading_event(&mut self, value: SecurityTradingEvent) -> &mut Self { self.0.store::<u8, 29>(value.0); self }
}
