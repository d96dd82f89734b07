//! MDIncrementalRefreshDailyStatistics49, template 49. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshDailyStatistics49.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshDailyStatistics49", template_id: 49, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(32, 9, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntryPx", 270, 0, 0, &kind::PRICENULL9),
    Field::new("MDEntrySize", 271, 8, 0, &kind::INT32NULL),
    Field::new("SecurityID", 48, 12, 0, &kind::INT32),
    Field::new("RptSeq", 83, 16, 0, &kind::U_INT32),
    Field::new("TradingReferenceDate", 5796, 20, 0, &kind::LOCAL_MKT_DATE),
    Field::new("SettlPriceType", 731, 22, 0, &kind::SETTL_PRICE_TYPE),
    Field::new("MDUpdateAction", 279, 23, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 24, 0, &kind::MD_ENTRY_TYPE_DAILY_STATISTICS),
];

hairpin_sbe::message! {
    /// MDIncrementalRefreshDailyStatistics49: message type X, template 49, since version 9, block of 11 bytes, 1 group.
    MDIncrementalRefreshDailyStatistics49, MDIncrementalRefreshDailyStatistics49Encoder, 11, MDIncrementalRefreshDailyStatistics49Groups, 1
}

impl<'a> MDIncrementalRefreshDailyStatistics49<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MDIncrementalRefreshDailyStatistics49Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshDailyStatistics49Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 32 bytes.
    NoMDEntries, NoMDEntriesEncoder, 32, 0
}

impl NoMDEntries<'_> {
    /// MDEntryPx (tag 270), bytes 0..8.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// MDEntrySize (tag 271), bytes 8..12.
    #[inline] pub fn md_entry_size(&self) -> Option<i32> { self.0.nullable::<i32, 8>(i32::MAX) }
    /// SecurityID (tag 48), bytes 12..16.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 12>() }
    /// RptSeq (tag 83), bytes 16..20.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 16>() }
    /// TradingReferenceDate (tag 5796), bytes 20..22.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.nullable::<u16, 20>(u16::MAX) }
    /// SettlPriceType (tag 731), bytes 22..23.
    #[inline] pub fn settl_price_type(&self) -> SettlPriceType { SettlPriceType(self.0.load::<u8, 22>()) }
    /// MDUpdateAction (tag 279), bytes 23..24.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 23>()) }
    /// MDEntryType (tag 269), bytes 24..25.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeDailyStatistics { MDEntryTypeDailyStatistics(self.0.load::<u8, 24>()) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 8>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 12>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
    /** Writes TradingReferenceDate. */ #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 20>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes SettlPriceType. */ #[inline] pub fn set_settl_price_type(&mut self, value: SettlPriceType) -> &mut Self { self.0.store::<u8, 22>(value.0); self }
    /** Writes MDUpdateAction. */ #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 23>(value.0); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeDailyStatistics) -> &mut Self { self.0.store::<u8, 24>(value.0); self }
}
