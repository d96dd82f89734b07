//! MDIncrementalRefreshVolume37, template 37. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshVolume37.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshVolume37", template_id: 37, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 2, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(16, 2, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntrySize", 271, 0, 0, &kind::INT32),
    Field::new("SecurityID", 48, 4, 0, &kind::INT32),
    Field::new("RptSeq", 83, 8, 0, &kind::U_INT32),
    Field::new("MDUpdateAction", 279, 12, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 0, 0, &kind::MD_ENTRY_TYPE_VOL),
];

hairpin_sbe::message! {
    /// MDIncrementalRefreshVolume37: message type X, template 37, since version 2, block of 11 bytes, 1 group.
    MDIncrementalRefreshVolume37, MDIncrementalRefreshVolume37Encoder, 11, MDIncrementalRefreshVolume37Groups, 1
}

impl<'a> MDIncrementalRefreshVolume37<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MDIncrementalRefreshVolume37Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshVolume37Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 16 bytes.
    NoMDEntries, NoMDEntriesEncoder, 16, 0
}

impl NoMDEntries<'_> {
    /// MDEntrySize (tag 271), bytes 0..4.
    #[inline] pub fn md_entry_size(&self) -> i32 { self.0.load::<i32, 0>() }
    /// SecurityID (tag 48), bytes 4..8.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 4>() }
    /// RptSeq (tag 83), bytes 8..12.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 8>() }
    /// MDUpdateAction (tag 279), bytes 12..13.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 12>()) }
    /// MDEntryType (tag 269), constant.
    pub const MD_ENTRY_TYPE: u8 = b'e';
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 4>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /** Writes MDUpdateAction. */ #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 12>(value.0); self }
}
