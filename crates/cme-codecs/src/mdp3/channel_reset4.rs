//! ChannelReset4, template 4. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of ChannelReset4.
pub const MESSAGE: Message = Message {
    name: "ChannelReset4", template_id: 4, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(9, 0, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(2, 0, NO_MD_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
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

/// ChannelReset4: message type X, template 4, block of 9 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct ChannelReset4<'a>(Root<'a, 9, 1>);

impl<'a> ChannelReset4<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 4;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 9;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 9] = [0; 9];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 9] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(ChannelReset4Encoder<'_>, ChannelReset4Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (ChannelReset4Encoder(block), ChannelReset4Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 9]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// TransactTime (tag 60), 8 at 0.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), 1 at 8.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of ChannelReset4.
#[derive(Debug)]
pub struct ChannelReset4Encoder<'a>(&'a mut [u8; 9]);

impl ChannelReset4Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

/// Writes the groups of ChannelReset4, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct ChannelReset4Groups<'a>(GroupsEncoder<'a>);

impl ChannelReset4Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoMDEntries: block of 2 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDEntries<'a>(&'a [u8; 2]);

impl<'a> NoMDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 2;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 2] = [0; 2];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 2] = MESSAGE.groups[0].block.null_block();
    /// MDUpdateAction (tag 279), constant, since version 2.
    pub const MD_UPDATE_ACTION: i8 = 0;
    /// MDEntryType (tag 269), constant.
    pub const MD_ENTRY_TYPE: u8 = b'J';
    /// ApplID (tag 1180), 2 at 0, since version 3.
    #[inline] pub fn appl_id(&self) -> Option<i16> { self.0.nullable::<i16, 0>(i16::MAX) }
}

impl Entry for NoMDEntries<'_> {
    type View<'a> = NoMDEntries<'a>;
    type Encoder<'a> = NoMDEntriesEncoder<'a>;
    type Scratch = [u8; 2];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 2]) -> NoMDEntries<'a> { NoMDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoMDEntries.
#[derive(Debug)]
pub struct NoMDEntriesEncoder<'a>(&'a mut [u8; 2]);

impl NoMDEntriesEncoder<'_> {
    /// Writes ApplID.
    #[inline] pub fn set_appl_id(&mut self, value: impl Into<Option<i16>>) -> &mut Self { self.0.store::<i16, 0>(value.into().unwrap_or(i16::MAX)); self }
}
