//! SnapshotFullRefreshTCPLongQty68, template 68. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of SnapshotFullRefreshTCPLongQty68.
pub const MESSAGE: Message = Message {
    name: "SnapshotFullRefreshTCPLongQty68", template_id: 68, schema_id: 1, version: 13, semantic_type: "W",
    block: BlockLayout::new(37, 12, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(23, 12, NO_MD_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
    Field::new("SecurityID", 48, 9, 0, &kind::INT32),
    Field::new("HighLimitPrice", 1149, 13, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 21, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 29, 0, &kind::PRICENULL9),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntryPx", 270, 0, 0, &kind::PRICENULL9),
    Field::new("MDEntrySize", 271, 8, 0, &kind::U_INT64NULL),
    Field::new("NumberOfOrders", 346, 16, 0, &kind::INT32NULL),
    Field::new("MDPriceLevel", 1023, 20, 0, &kind::U_INT8NULL),
    Field::new("OpenCloseSettlFlag", 286, 21, 0, &kind::OPEN_CLOSE_SETTL_FLAG),
    Field::new("MDEntryType", 269, 22, 0, &kind::MD_ENTRY_TYPE),
];

/// SnapshotFullRefreshTCPLongQty68: message type W, template 68, since version 12, block of 37 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotFullRefreshTCPLongQty68<'a>(Root<'a, 37, 1>);

impl<'a> SnapshotFullRefreshTCPLongQty68<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 68;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 37;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 37] = [0; 37];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 37] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(SnapshotFullRefreshTCPLongQty68Encoder<'_>, SnapshotFullRefreshTCPLongQty68Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (SnapshotFullRefreshTCPLongQty68Encoder(block), SnapshotFullRefreshTCPLongQty68Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 37]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// TransactTime (tag 60), 8 at 0.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), 1 at 8.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// SecurityID (tag 48), 4 at 9.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 9>() }
    /// HighLimitPrice (tag 1149), 8 at 13.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 13>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), 8 at 21.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 21>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), 8 at 29.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 29>(i64::MAX).map(Decimal) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of SnapshotFullRefreshTCPLongQty68.
#[derive(Debug)]
pub struct SnapshotFullRefreshTCPLongQty68Encoder<'a>(&'a mut [u8; 37]);

impl SnapshotFullRefreshTCPLongQty68Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 9>(value); self }
    /// Writes HighLimitPrice.
    #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 13>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes LowLimitPrice.
    #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 21>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes MaxPriceVariation.
    #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 29>(value.into().map_or(i64::MAX, |v| v.0)); self }
}

/// Writes the groups of SnapshotFullRefreshTCPLongQty68, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct SnapshotFullRefreshTCPLongQty68Groups<'a>(GroupsEncoder<'a>);

impl SnapshotFullRefreshTCPLongQty68Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoMDEntries: block of 23 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDEntries<'a>(&'a [u8; 23]);

impl<'a> NoMDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 23;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 23] = [0; 23];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 23] = MESSAGE.groups[0].block.null_block();
    /// MDEntryPx (tag 270), 8 at 0.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// MDEntrySize (tag 271), 8 at 8.
    #[inline] pub fn md_entry_size(&self) -> Option<u64> { self.0.nullable::<u64, 8>(u64::MAX) }
    /// NumberOfOrders (tag 346), 4 at 16.
    #[inline] pub fn number_of_orders(&self) -> Option<i32> { self.0.nullable::<i32, 16>(i32::MAX) }
    /// MDPriceLevel (tag 1023), 1 at 20.
    #[inline] pub fn md_price_level(&self) -> Option<u8> { self.0.nullable::<u8, 20>(u8::MAX) }
    /// OpenCloseSettlFlag (tag 286), 1 at 21.
    #[inline] pub fn open_close_settl_flag(&self) -> Option<OpenCloseSettlFlag> { self.0.nullable::<u8, 21>(u8::MAX).map(OpenCloseSettlFlag) }
    /// MDEntryType (tag 269), 1 at 22.
    #[inline] pub fn md_entry_type(&self) -> MDEntryType { MDEntryType(self.0.load::<u8, 22>()) }
}

impl Entry for NoMDEntries<'_> {
    type View<'a> = NoMDEntries<'a>;
    type Encoder<'a> = NoMDEntriesEncoder<'a>;
    type Scratch = [u8; 23];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 23]) -> NoMDEntries<'a> { NoMDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoMDEntries.
#[derive(Debug)]
pub struct NoMDEntriesEncoder<'a>(&'a mut [u8; 23]);

impl NoMDEntriesEncoder<'_> {
    /// Writes MDEntryPx.
    #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes MDEntrySize.
    #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /// Writes NumberOfOrders.
    #[inline] pub fn set_number_of_orders(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 16>(value.into().unwrap_or(i32::MAX)); self }
    /// Writes MDPriceLevel.
    #[inline] pub fn set_md_price_level(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 20>(value.into().unwrap_or(u8::MAX)); self }
    /// Writes OpenCloseSettlFlag.
    #[inline] pub fn set_open_close_settl_flag(&mut self, value: impl Into<Option<OpenCloseSettlFlag>>) -> &mut Self { self.0.store::<u8, 21>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes MDEntryType.
    #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryType) -> &mut Self { self.0.store::<u8, 22>(value.0); self }
}
