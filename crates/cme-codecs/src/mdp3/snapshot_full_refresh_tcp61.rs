//! SnapshotFullRefreshTCP61, template 61. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of SnapshotFullRefreshTCP61.
pub const MESSAGE: Message = Message {
    name: "SnapshotFullRefreshTCP61", template_id: 61, schema_id: 1, version: 13, semantic_type: "W",
    block: BlockLayout::new(37, 10, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(26, 10, NO_MD_ENTRIES),
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
    Field::new("MDEntrySize", 271, 8, 0, &kind::INT32NULL),
    Field::new("TradeableSize", 37719, 12, 0, &kind::INT32NULL),
    Field::new("NumberOfOrders", 346, 16, 0, &kind::INT32NULL),
    Field::new("MDPriceLevel", 1023, 20, 0, &kind::INT8NULL),
    Field::new("OpenCloseSettlFlag", 286, 21, 0, &kind::OPEN_CLOSE_SETTL_FLAG),
    Field::new("MDEntryType", 269, 22, 0, &kind::MD_ENTRY_TYPE),
    Field::new("TradingReferenceDate", 5796, 23, 0, &kind::LOCAL_MKT_DATE),
    Field::new("SettlPriceType", 731, 25, 0, &kind::SETTL_PRICE_TYPE),
];

/// SnapshotFullRefreshTCP61: message type W, template 61, since version 10, block of 37 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotFullRefreshTCP61<'a>(Root<'a, 37, 1>);

impl<'a> SnapshotFullRefreshTCP61<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 61;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 37;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 37] = [0; 37];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 37] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(SnapshotFullRefreshTCP61Encoder<'_>, SnapshotFullRefreshTCP61Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (SnapshotFullRefreshTCP61Encoder(block), SnapshotFullRefreshTCP61Groups(groups))) }
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

/// Writes the block of SnapshotFullRefreshTCP61.
#[derive(Debug)]
pub struct SnapshotFullRefreshTCP61Encoder<'a>(&'a mut [u8; 37]);

impl SnapshotFullRefreshTCP61Encoder<'_> {
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

/// Writes the groups of SnapshotFullRefreshTCP61, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct SnapshotFullRefreshTCP61Groups<'a>(GroupsEncoder<'a>);

impl SnapshotFullRefreshTCP61Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoMDEntries: block of 26 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDEntries<'a>(&'a [u8; 26]);

impl<'a> NoMDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 26;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 26] = [0; 26];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 26] = MESSAGE.groups[0].block.null_block();
    /// MDEntryPx (tag 270), 8 at 0.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// MDEntrySize (tag 271), 4 at 8.
    #[inline] pub fn md_entry_size(&self) -> Option<i32> { self.0.nullable::<i32, 8>(i32::MAX) }
    /// TradeableSize (tag 37719), 4 at 12.
    #[inline] pub fn tradeable_size(&self) -> Option<i32> { self.0.nullable::<i32, 12>(i32::MAX) }
    /// NumberOfOrders (tag 346), 4 at 16.
    #[inline] pub fn number_of_orders(&self) -> Option<i32> { self.0.nullable::<i32, 16>(i32::MAX) }
    /// MDPriceLevel (tag 1023), 1 at 20.
    #[inline] pub fn md_price_level(&self) -> Option<i8> { self.0.nullable::<i8, 20>(i8::MAX) }
    /// OpenCloseSettlFlag (tag 286), 1 at 21.
    #[inline] pub fn open_close_settl_flag(&self) -> Option<OpenCloseSettlFlag> { self.0.nullable::<u8, 21>(u8::MAX).map(OpenCloseSettlFlag) }
    /// MDEntryType (tag 269), 1 at 22.
    #[inline] pub fn md_entry_type(&self) -> MDEntryType { MDEntryType(self.0.load::<u8, 22>()) }
    /// TradingReferenceDate (tag 5796), 2 at 23.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.nullable::<u16, 23>(u16::MAX) }
    /// SettlPriceType (tag 731), 1 at 25.
    #[inline] pub fn settl_price_type(&self) -> SettlPriceType { SettlPriceType(self.0.load::<u8, 25>()) }
}

impl Entry for NoMDEntries<'_> {
    type View<'a> = NoMDEntries<'a>;
    type Encoder<'a> = NoMDEntriesEncoder<'a>;
    type Scratch = [u8; 26];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 26]) -> NoMDEntries<'a> { NoMDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoMDEntries.
#[derive(Debug)]
pub struct NoMDEntriesEncoder<'a>(&'a mut [u8; 26]);

impl NoMDEntriesEncoder<'_> {
    /// Writes MDEntryPx.
    #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes MDEntrySize.
    #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 8>(value.into().unwrap_or(i32::MAX)); self }
    /// Writes TradeableSize.
    #[inline] pub fn set_tradeable_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 12>(value.into().unwrap_or(i32::MAX)); self }
    /// Writes NumberOfOrders.
    #[inline] pub fn set_number_of_orders(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 16>(value.into().unwrap_or(i32::MAX)); self }
    /// Writes MDPriceLevel.
    #[inline] pub fn set_md_price_level(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 20>(value.into().unwrap_or(i8::MAX)); self }
    /// Writes OpenCloseSettlFlag.
    #[inline] pub fn set_open_close_settl_flag(&mut self, value: impl Into<Option<OpenCloseSettlFlag>>) -> &mut Self { self.0.store::<u8, 21>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes MDEntryType.
    #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryType) -> &mut Self { self.0.store::<u8, 22>(value.0); self }
    /// Writes TradingReferenceDate.
    #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 23>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes SettlPriceType.
    #[inline] pub fn set_settl_price_type(&mut self, value: SettlPriceType) -> &mut Self { self.0.store::<u8, 25>(value.0); self }
}
