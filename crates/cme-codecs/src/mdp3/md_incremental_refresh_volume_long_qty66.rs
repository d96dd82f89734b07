//! MDIncrementalRefreshVolumeLongQty66, template 66. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of MDIncrementalRefreshVolumeLongQty66.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshVolumeLongQty66", template_id: 66, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 12, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(24, 12, NO_MD_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntrySize", 271, 0, 0, &kind::U_INT64),
    Field::new("SecurityID", 48, 8, 0, &kind::INT32),
    Field::new("RptSeq", 83, 12, 0, &kind::U_INT32),
    Field::new("MDUpdateAction", 279, 16, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 0, 0, &kind::MD_ENTRY_TYPE_VOL),
];

/// MDIncrementalRefreshVolumeLongQty66: message type X, template 66, since version 12, block of 11 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct MDIncrementalRefreshVolumeLongQty66<'a>(Root<'a, 11, 1>);

impl<'a> MDIncrementalRefreshVolumeLongQty66<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 66;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 11;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 11] = [0; 11];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 11] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(MDIncrementalRefreshVolumeLongQty66Encoder<'_>, MDIncrementalRefreshVolumeLongQty66Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (MDIncrementalRefreshVolumeLongQty66Encoder(block), MDIncrementalRefreshVolumeLongQty66Groups(groups))) }
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

/// Writes the block of MDIncrementalRefreshVolumeLongQty66.
#[derive(Debug)]
pub struct MDIncrementalRefreshVolumeLongQty66Encoder<'a>(&'a mut [u8; 11]);

impl MDIncrementalRefreshVolumeLongQty66Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

/// Writes the groups of MDIncrementalRefreshVolumeLongQty66, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct MDIncrementalRefreshVolumeLongQty66Groups<'a>(GroupsEncoder<'a>);

impl MDIncrementalRefreshVolumeLongQty66Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoMDEntries: block of 24 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDEntries<'a>(&'a [u8; 24]);

impl<'a> NoMDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 24;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 24] = [0; 24];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 24] = MESSAGE.groups[0].block.null_block();
    /// MDEntrySize (tag 271), 8 at 0.
    #[inline] pub fn md_entry_size(&self) -> u64 { self.0.load::<u64, 0>() }
    /// SecurityID (tag 48), 4 at 8.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 8>() }
    /// RptSeq (tag 83), 4 at 12.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 12>() }
    /// MDUpdateAction (tag 279), 1 at 16.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 16>()) }
    /// MDEntryType (tag 269), constant.
    pub const MD_ENTRY_TYPE: u8 = b'e';
}

impl Entry for NoMDEntries<'_> {
    type View<'a> = NoMDEntries<'a>;
    type Encoder<'a> = NoMDEntriesEncoder<'a>;
    type Scratch = [u8; 24];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 24]) -> NoMDEntries<'a> { NoMDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoMDEntries.
#[derive(Debug)]
pub struct NoMDEntriesEncoder<'a>(&'a mut [u8; 24]);

impl NoMDEntriesEncoder<'_> {
    /// Writes MDEntrySize.
    #[inline] pub fn set_md_entry_size(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /// Writes RptSeq.
    #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 12>(value); self }
    /// Writes MDUpdateAction.
    #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
}
