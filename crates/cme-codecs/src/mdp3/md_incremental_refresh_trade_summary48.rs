//! MDIncrementalRefreshTradeSummary48, template 48. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of MDIncrementalRefreshTradeSummary48.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshTradeSummary48", template_id: 48, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 9, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(32, 9, NO_MD_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoOrderIDEntries", tag: 37705, since: 0, block: BlockLayout::new(16, 9, NO_ORDER_ID_ENTRIES),
            dimension: Dimension { name: "groupSize8Byte", length: 8, block_length_offset: 0, count_offset: 7, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntryPx", 270, 0, 0, &kind::PRICE9),
    Field::new("MDEntrySize", 271, 8, 0, &kind::INT32),
    Field::new("SecurityID", 48, 12, 0, &kind::INT32),
    Field::new("RptSeq", 83, 16, 0, &kind::U_INT32),
    Field::new("NumberOfOrders", 346, 20, 0, &kind::INT32),
    Field::new("AggressorSide", 5797, 24, 0, &kind::AGGRESSOR_SIDE),
    Field::new("MDUpdateAction", 279, 25, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 0, 0, &kind::MD_ENTRY_TYPE_TRADE),
    Field::new("MDTradeEntryID", 37711, 26, 0, &kind::U_INT32NULL),
];
const NO_ORDER_ID_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64),
    Field::new("LastQty", 32, 8, 0, &kind::INT32),
];

/// MDIncrementalRefreshTradeSummary48: message type X, template 48, since version 9, block of 11 bytes, 2 groups.
#[derive(Clone, Copy, Debug)]
pub struct MDIncrementalRefreshTradeSummary48<'a>(Root<'a, 11, 2>);

impl<'a> MDIncrementalRefreshTradeSummary48<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 48;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 11;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 11] = [0; 11];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 11] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(MDIncrementalRefreshTradeSummary48Encoder<'_>, MDIncrementalRefreshTradeSummary48Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (MDIncrementalRefreshTradeSummary48Encoder(block), MDIncrementalRefreshTradeSummary48Groups(groups))) }
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
    /// NoOrderIDEntries (tag 37705).
    #[inline] pub fn no_order_id_entries(&self) -> Group<'a, NoOrderIDEntries<'a>> { Group::new(self.0.group(1)) }
}

/// Writes the block of MDIncrementalRefreshTradeSummary48.
#[derive(Debug)]
pub struct MDIncrementalRefreshTradeSummary48Encoder<'a>(&'a mut [u8; 11]);

impl MDIncrementalRefreshTradeSummary48Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

/// Writes the groups of MDIncrementalRefreshTradeSummary48, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct MDIncrementalRefreshTradeSummary48Groups<'a>(GroupsEncoder<'a>);

impl MDIncrementalRefreshTradeSummary48Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Begins NoOrderIDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_order_id_entries(&mut self) -> Result<GroupEncoder<'_, NoOrderIDEntries<'_>>, EncodeError> { self.0.open(1) }
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
    /// MDEntrySize (tag 271), 4 at 8.
    #[inline] pub fn md_entry_size(&self) -> i32 { self.0.load::<i32, 8>() }
    /// SecurityID (tag 48), 4 at 12.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 12>() }
    /// RptSeq (tag 83), 4 at 16.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 16>() }
    /// NumberOfOrders (tag 346), 4 at 20.
    #[inline] pub fn number_of_orders(&self) -> i32 { self.0.load::<i32, 20>() }
    /// AggressorSide (tag 5797), 1 at 24.
    #[inline] pub fn aggressor_side(&self) -> Option<AggressorSide> { self.0.nullable::<u8, 24>(u8::MAX).map(AggressorSide) }
    /// MDUpdateAction (tag 279), 1 at 25.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 25>()) }
    /// MDEntryType (tag 269), constant.
    pub const MD_ENTRY_TYPE: u8 = b'2';
    /// MDTradeEntryID (tag 37711), 4 at 26.
    #[inline] pub fn md_trade_entry_id(&self) -> Option<u32> { self.0.nullable::<u32, 26>(u32::MAX) }
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
    #[inline] pub fn set_md_entry_size(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 12>(value); self }
    /// Writes RptSeq.
    #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
    /// Writes NumberOfOrders.
    #[inline] pub fn set_number_of_orders(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 20>(value); self }
    /// Writes AggressorSide.
    #[inline] pub fn set_aggressor_side(&mut self, value: impl Into<Option<AggressorSide>>) -> &mut Self { self.0.store::<u8, 24>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes MDUpdateAction.
    #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 25>(value.0); self }
    /// Writes MDTradeEntryID.
    #[inline] pub fn set_md_trade_entry_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 26>(value.into().unwrap_or(u32::MAX)); self }
}

/// An entry of NoOrderIDEntries: block of 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoOrderIDEntries<'a>(&'a [u8; 16]);

impl<'a> NoOrderIDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 16;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 16] = [0; 16];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 16] = MESSAGE.groups[1].block.null_block();
    /// OrderID (tag 37), 8 at 0.
    #[inline] pub fn order_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// LastQty (tag 32), 4 at 8.
    #[inline] pub fn last_qty(&self) -> i32 { self.0.load::<i32, 8>() }
}

impl Entry for NoOrderIDEntries<'_> {
    type View<'a> = NoOrderIDEntries<'a>;
    type Encoder<'a> = NoOrderIDEntriesEncoder<'a>;
    type Scratch = [u8; 16];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[1];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 16]) -> NoOrderIDEntries<'a> { NoOrderIDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoOrderIDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoOrderIDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoOrderIDEntries.
#[derive(Debug)]
pub struct NoOrderIDEntriesEncoder<'a>(&'a mut [u8; 16]);

impl NoOrderIDEntriesEncoder<'_> {
    /// Writes OrderID.
    #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes LastQty.
    #[inline] pub fn set_last_qty(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
}
