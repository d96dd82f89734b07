//! MDIncrementalRefreshSessionStatisticsLongQty67, template 67. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshSessionStatisticsLongQty67.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshSessionStatisticsLongQty67", template_id: 67, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 12, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(32, 12, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntryPx", 270, 0, 0, &kind::PRICE9),
    Field::new("MDEntrySize", 271, 8, 0, &kind::U_INT64NULL),
    Field::new("SecurityID", 48, 16, 0, &kind::INT32),
    Field::new("RptSeq", 83, 20, 0, &kind::U_INT32),
    Field::new("OpenCloseSettlFlag", 286, 24, 0, &kind::OPEN_CLOSE_SETTL_FLAG),
    Field::new("MDUpdateAction", 279, 25, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 26, 0, &kind::MD_ENTRY_TYPE_STATISTICS),
];

hairpin_sbe::message! {
    /// MDIncrementalRefreshSessionStatisticsLongQty67: message type X, template 67, since version 12, block of 11 bytes, 1 group.
    MDIncrementalRefreshSessionStatisticsLongQty67, MDIncrementalRefreshSessionStatisticsLongQty67Encoder, 11, MDIncrementalRefreshSessionStatisticsLongQty67Groups, 1
}

impl<'a> MDIncrementalRefreshSessionStatisticsLongQty67<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MDIncrementalRefreshSessionStatisticsLongQty67Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshSessionStatisticsLongQty67Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 32 bytes.
    NoMDEntries, NoMDEntriesEncoder, 32, 0
}

impl NoMDEntries<'_> {
    /// MDEntryPx (tag 270), bytes 0..8.
    #[inline] pub fn md_entry_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// MDEntrySize (tag 271), bytes 8..16.
    #[inline] pub fn md_entry_size(&self) -> Option<u64> { self.0.nullable::<u64, 8>(u64::MAX) }
    /// SecurityID (tag 48), bytes 16..20.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 16>() }
    /// RptSeq (tag 83), bytes 20..24.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 20>() }
    /// OpenCloseSettlFlag (tag 286), bytes 24..25.
    #[inline] pub fn open_close_settl_flag(&self) -> Option<OpenCloseSettlFlag> { self.0.nullable::<u8, 24>(u8::MAX).map(OpenCloseSettlFlag) }
    /// MDUpdateAction (tag 279), bytes 25..26.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 25>()) }
    /// MDEntryType (tag 269), bytes 26..27.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeStatistics { MDEntryTypeStatistics(self.0.load::<u8, 26>()) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 16>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 20>(value); self }
    /** Writes OpenCloseSettlFlag. */ #[inline] pub fn set_open_close_settl_flag(&mut self, value: impl Into<Option<OpenCloseSettlFlag>>) -> &mut Self { self.0.store::<u8, 24>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes MDUpdateAction. */ #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 25>(value.0); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeStatistics) -> &mut Self { self.0.store::<u8, 26>(value.0); self }
}
