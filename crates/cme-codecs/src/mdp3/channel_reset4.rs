//! ChannelReset4, template 4. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of ChannelReset4.
pub const MESSAGE: Message = Message {
    name: "ChannelReset4", template_id: 4, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(9, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(2, 0, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDUpdateAction", 279, 0, 2, &kind::MD_UPDATE_TYPE_NEW),
    Field::new("MDEntryType", 269, 0, 0, &kind::MD_ENTRY_TYPE_CHANNEL_RESET),
    Field::new("ApplID", 1180, 0, 3, &kind::INT16),
];

hairpin_sbe::message! {
    /// ChannelReset4: message type X, template 4, block of 9 bytes, 1 group.
    ChannelReset4, ChannelReset4Encoder, 9, ChannelReset4Groups, 1
}

impl<'a> ChannelReset4<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl ChannelReset4Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl ChannelReset4Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 2 bytes.
    NoMDEntries, NoMDEntriesEncoder, 2, 0
}

impl NoMDEntries<'_> {
    /// MDUpdateAction (tag 279), constant, since version 2.
    pub const MD_UPDATE_ACTION: i8 = 0;
    /// MDEntryType (tag 269), constant.
    pub const MD_ENTRY_TYPE: u8 = b'J';
    /// ApplID (tag 1180), bytes 0..2, since version 3.
    #[inline] pub fn appl_id(&self) -> Option<i16> { self.0.nullable::<i16, 0>(i16::MAX) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes ApplID. */ #[inline] pub fn set_appl_id(&mut self, value: impl Into<Option<i16>>) -> &mut Self { self.0.store::<i16, 0>(value.into().unwrap_or(i16::MAX)); self }
}
