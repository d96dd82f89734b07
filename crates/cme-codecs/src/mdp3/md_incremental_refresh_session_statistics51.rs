//! MDIncrementalRefreshSessionStatistics51, template 51. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshSessionStatistics51.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshSessionStatistics51", template_id: 51, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(24, 9, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntryPx", 270, 0, 0, &kind::PRICE9),
    Field::new("SecurityID", 48, 8, 0, &kind::INT32),
    Field::new("RptSeq", 83, 12, 0, &kind::U_INT32),
    Field::new("OpenCloseSettlFlag", 286, 16, 0, &kind::OPEN_CLOSE_SETTL_FLAG),
    Field::new("MDUpdateAction", 279, 17, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 18, 0, &kind::MD_ENTRY_TYPE_STATISTICS),
    Field::new("MDEntrySize", 271, 19, 0, &kind::INT32NULL),
];

hairpin_sbe::message! {
    /// MDIncrementalRefreshSessionStatistics51: message type X, template 51, since version 9, block of 11 bytes, 1 group.
    MDIncrementalRefreshSessionStatistics51, MDIncrementalRefreshSessionStatistics51Encoder, 11, MDIncrementalRefreshSessionStatistics51Groups, 1
}

impl<'a> MDIncrementalRefreshSessionStatistics51<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MDIncrementalRefreshSessionStatistics51Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshSessionStatistics51Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 24 bytes.
    NoMDEntries, NoMDEntriesEncoder, 24, 0
}

impl NoMDEntries<'_> {
    /// MDEntryPx (tag 270), bytes 0..8.
    #[inline] pub fn md_entry_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// SecurityID (tag 48), bytes 8..12.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 8>() }
    /// RptSeq (tag 83), bytes 12..16.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 12>() }
    /// OpenCloseSettlFlag (tag 286), bytes 16..17.
    #[inline] pub fn open_close_settl_flag(&self) -> Option<OpenCloseSettlFlag> { self.0.nullable::<u8, 16>(u8::MAX).map(OpenCloseSettlFlag) }
    /// MDUpdateAction (tag 279), bytes 17..18.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 17>()) }
    /// MDEntryType (tag 269), bytes 18..19.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeStatistics { MDEntryTypeStatistics(self.0.load::<u8, 18>()) }
    /// MDEntrySize (tag 271), bytes 19..23.
    #[inline] pub fn md_entry_size(&self) -> Option<i32> { self.0.nullable::<i32, 19>(i32::MAX) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 12>(value); self }
    /** Writes OpenCloseSettlFlag. */ #[inline] pub fn set_open_close_settl_flag(&mut self, value: impl Into<Option<OpenCloseSettlFlag>>) -> &mut Self { self.0.store::<u8, 16>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes MDUpdateAction. */ #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 17>(value.0); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeStatistics) -> &mut Self { self.0.store::<u8, 18>(value.0); self }
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 19>(value.into().unwrap_or(i32::MAX)); self }
}
