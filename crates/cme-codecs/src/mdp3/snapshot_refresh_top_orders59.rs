//! SnapshotRefreshTopOrders59, template 59. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of SnapshotRefreshTopOrders59.
pub const MESSAGE: Message = Message {
    name: "SnapshotRefreshTopOrders59", template_id: 59, schema_id: 1, version: 13, semantic_type: "W",
    block: BlockLayout::new(13, 10, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(29, 10, NO_MD_ENTRIES)),
    ],
    data: &[],
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

hairpin_sbe::message! {
    /// SnapshotRefreshTopOrders59: message type W, template 59, since version 10, block of 13 bytes, 1 group.
    SnapshotRefreshTopOrders59, SnapshotRefreshTopOrders59Encoder, 13, SnapshotRefreshTopOrders59Groups, 1
}

impl<'a> SnapshotRefreshTopOrders59<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// SecurityID (tag 48), bytes 9..13.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 9>() }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl SnapshotRefreshTopOrders59Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 9>(value); self }
}

impl SnapshotRefreshTopOrders59Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 29 bytes.
    NoMDEntries, NoMDEntriesEncoder, 29, 0
}

impl NoMDEntries<'_> {
    /// OrderID (tag 37), bytes 0..8.
    #[inline] pub fn order_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// MDOrderPriority (tag 37707), bytes 8..16.
    #[inline] pub fn md_order_priority(&self) -> u64 { self.0.load::<u64, 8>() }
    /// MDEntryPx (tag 270), bytes 16..24.
    #[inline] pub fn md_entry_px(&self) -> Price9 { Decimal(self.0.load::<i64, 16>()) }
    /// MDDisplayQty (tag 37706), bytes 24..28.
    #[inline] pub fn md_display_qty(&self) -> i32 { self.0.load::<i32, 24>() }
    /// MDEntryType (tag 269), bytes 28..29.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeBook { MDEntryTypeBook(self.0.load::<u8, 28>()) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MDOrderPriority. */ #[inline] pub fn set_md_order_priority(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 16>(value.0); self }
    /** Writes MDDisplayQty. */ #[inline] pub fn set_md_display_qty(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 24>(value); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeBook) -> &mut Self { self.0.store::<u8, 28>(value.0); self }
}
