//! MDIncrementalRefreshSessionStatisticsLongQty67, template 67. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of MDIncrementalRefreshSessionStatisticsLongQty67.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshSessionStatisticsLongQty67", template_id: 67, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 12, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(32, 12, NO_MD_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
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

/// MDIncrementalRefreshSessionStatisticsLongQty67: message type X, template 67, since version 12, block of 11 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct MDIncrementalRefreshSessionStatisticsLongQty67<'a>(Root<'a, 11, 1>);

impl<'a> MDIncrementalRefreshSessionStatisticsLongQty67<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 67;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 11;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 11] = [0; 11];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 11] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(MDIncrementalRefreshSessionStatisticsLongQty67Encoder<'_>, MDIncrementalRefreshSessionStatisticsLongQty67Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (MDIncrementalRefreshSessionStatisticsLongQty67Encoder(block), MDIncrementalRefreshSessionStatisticsLongQty67Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 11]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// TransactTime (tag 60), 8 at 0.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), 1 at 8.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of MDIncrementalRefreshSessionStatisticsLongQty67.
#[derive(Debug)]
pub struct MDIncrementalRefreshSessionStatisticsLongQty67Encoder<'a>(&'a mut [u8; 11]);

impl MDIncrementalRefreshSessionStatisticsLongQty67Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

/// Writes the groups of MDIncrementalRefreshSessionStatisticsLongQty67, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct MDIncrementalRefreshSessionStatisticsLongQty67Groups<'a>(GroupsEncoder<'a>);

impl MDIncrementalRefreshSessionStatisticsLongQty67Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoMDEntries: block of 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDEntries<'a>(&'a [u8; 32]);

impl<'a> NoMDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 32;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 32] = [0; 32];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 32] = MESSAGE.groups[0].block.null_block();
    /// MDEntryPx (tag 270), 8 at 0.
    #[inline] pub fn md_entry_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// MDEntrySize (tag 271), 8 at 8.
    #[inline] pub fn md_entry_size(&self) -> Option<u64> { self.0.nullable::<u64, 8>(u64::MAX) }
    /// SecurityID (tag 48), 4 at 16.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 16>() }
    /// RptSeq (tag 83), 4 at 20.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 20>() }
    /// OpenCloseSettlFlag (tag 286), 1 at 24.
    #[inline] pub fn open_close_settl_flag(&self) -> Option<OpenCloseSettlFlag> { self.0.nullable::<u8, 24>(u8::MAX).map(OpenCloseSettlFlag) }
    /// MDUpdateAction (tag 279), 1 at 25.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 25>()) }
    /// MDEntryType (tag 269), 1 at 26.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeStatistics { MDEntryTypeStatistics(self.0.load::<u8, 26>()) }
}

impl Entry for NoMDEntries<'_> {
    type View<'a> = NoMDEntries<'a>;
    type Encoder<'a> = NoMDEntriesEncoder<'a>;
    type Scratch = [u8; 32];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 32]) -> NoMDEntries<'a> { NoMDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoMDEntries.
#[derive(Debug)]
pub struct NoMDEntriesEncoder<'a>(&'a mut [u8; 32]);

impl NoMDEntriesEncoder<'_> {
    /// Writes MDEntryPx.
    #[inline] pub fn set_md_entry_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /// Writes MDEntrySize.
    #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 16>(value); self }
    /// Writes RptSeq.
    #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 20>(value); self }
    /// Writes OpenCloseSettlFlag.
    #[inline] pub fn set_open_close_settl_flag(&mut self, value: impl Into<Option<OpenCloseSettlFlag>>) -> &mut Self { self.0.store::<u8, 24>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes MDUpdateAction.
    #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 25>(value.0); self }
    /// Writes MDEntryType.
    #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeStatistics) -> &mut Self { self.0.store::<u8, 26>(value.0); self }
}
