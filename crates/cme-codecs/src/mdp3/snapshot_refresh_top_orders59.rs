//! SnapshotRefreshTopOrders59, template 59. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of SnapshotRefreshTopOrders59.
pub const MESSAGE: Message = Message {
    name: "SnapshotRefreshTopOrders59", template_id: 59, schema_id: 1, version: 13, semantic_type: "W",
    block: BlockLayout::new(13, 10, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(29, 10, NO_MD_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
    Field::new("SecurityID", 48, 9, 0, &kind::INT32),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64),
    Field::new("MDOrderPriority", 37707, 8, 0, &kind::U_INT64),
    Field::new("MDEntryPx", 270, 16, 0, &kind::PRICE9),
    Field::new("MDDisplayQty", 37706, 24, 0, &kind::INT32),
    Field::new("MDEntryType", 269, 28, 0, &kind::MD_ENTRY_TYPE_BOOK),
];

/// SnapshotRefreshTopOrders59: message type W, template 59, since version 10, block of 13 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotRefreshTopOrders59<'a>(Root<'a, 13, 1>);

impl<'a> SnapshotRefreshTopOrders59<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 59;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 13;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 13] = [0; 13];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 13] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(SnapshotRefreshTopOrders59Encoder<'_>, SnapshotRefreshTopOrders59Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (SnapshotRefreshTopOrders59Encoder(block), SnapshotRefreshTopOrders59Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 13]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// TransactTime (tag 60), 8 at 0.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), 1 at 8.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// SecurityID (tag 48), 4 at 9.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 9>() }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of SnapshotRefreshTopOrders59.
#[derive(Debug)]
pub struct SnapshotRefreshTopOrders59Encoder<'a>(&'a mut [u8; 13]);

impl SnapshotRefreshTopOrders59Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 9>(value); self }
}

/// Writes the groups of SnapshotRefreshTopOrders59, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct SnapshotRefreshTopOrders59Groups<'a>(GroupsEncoder<'a>);

impl SnapshotRefreshTopOrders59Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoMDEntries: block of 29 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDEntries<'a>(&'a [u8; 29]);

impl<'a> NoMDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 29;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 29] = [0; 29];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 29] = MESSAGE.groups[0].block.null_block();
    /// OrderID (tag 37), 8 at 0.
    #[inline] pub fn order_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// MDOrderPriority (tag 37707), 8 at 8.
    #[inline] pub fn md_order_priority(&self) -> u64 { self.0.load::<u64, 8>() }
    /// MDEntryPx (tag 270), 8 at 16.
    #[inline] pub fn md_entry_px(&self) -> Price9 { Decimal(self.0.load::<i64, 16>()) }
    /// MDDisplayQty (tag 37706), 4 at 24.
    #[inline] pub fn md_display_qty(&self) -> i32 { self.0.load::<i32, 24>() }
    /// MDEntryType (tag 269), 1 at 28.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeBook { MDEntryTypeBook(self.0.load::<u8, 28>()) }
}

impl Entry for NoMDEntries<'_> {
    type View<'a> = NoMDEntries<'a>;
    type Encoder<'a> = NoMDEntriesEncoder<'a>;
    type Scratch = [u8; 29];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 29]) -> NoMDEntries<'a> { NoMDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoMDEntries.
#[derive(Debug)]
pub struct NoMDEntriesEncoder<'a>(&'a mut [u8; 29]);

impl NoMDEntriesEncoder<'_> {
    /// Writes OrderID.
    #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MDOrderPriority.
    #[inline] pub fn set_md_order_priority(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /// Writes MDEntryPx.
    #[inline] pub fn set_md_entry_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 16>(value.0); self }
    /// Writes MDDisplayQty.
    #[inline] pub fn set_md_display_qty(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 24>(value); self }
    /// Writes MDEntryType.
    #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeBook) -> &mut Self { self.0.store::<u8, 28>(value.0); self }
}
