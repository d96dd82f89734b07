//! SnapshotFullRefreshOrderBook53, template 53. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of SnapshotFullRefreshOrderBook53.
pub const MESSAGE: Message = Message {
    name: "SnapshotFullRefreshOrderBook53", template_id: 53, schema_id: 1, version: 13, semantic_type: "W",
    block: BlockLayout::new(28, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(29, 9, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("LastMsgSeqNumProcessed", 369, 0, 0, &kind::U_INT32),
    Field::new("TotNumReports", 911, 4, 0, &kind::U_INT32),
    Field::new("SecurityID", 48, 8, 0, &kind::INT32),
    Field::new("NoChunks", 37709, 12, 0, &kind::U_INT32),
    Field::new("CurrentChunk", 37710, 16, 0, &kind::U_INT32),
    Field::new("TransactTime", 60, 20, 0, &kind::U_INT64),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64),
    Field::new("MDOrderPriority", 37707, 8, 0, &kind::U_INT64NULL),
    Field::new("MDEntryPx", 270, 16, 0, &kind::PRICE9),
    Field::new("MDDisplayQty", 37706, 24, 0, &kind::INT32),
    Field::new("MDEntryType", 269, 28, 0, &kind::MD_ENTRY_TYPE_BOOK),
];

hairpin_sbe::message! {
    /// SnapshotFullRefreshOrderBook53: message type W, template 53, since version 9, block of 28 bytes, 1 group.
    SnapshotFullRefreshOrderBook53, SnapshotFullRefreshOrderBook53Encoder, 28, SnapshotFullRefreshOrderBook53Groups, 1
}

impl<'a> SnapshotFullRefreshOrderBook53<'a> {
    /// LastMsgSeqNumProcessed (tag 369), bytes 0..4.
    #[inline] pub fn last_msg_seq_num_processed(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// TotNumReports (tag 911), bytes 4..8.
    #[inline] pub fn tot_num_reports(&self) -> u32 { self.0.block.load::<u32, 4>() }
    /// SecurityID (tag 48), bytes 8..12.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 8>() }
    /// NoChunks (tag 37709), bytes 12..16.
    #[inline] pub fn no_chunks(&self) -> u32 { self.0.block.load::<u32, 12>() }
    /// CurrentChunk (tag 37710), bytes 16..20.
    #[inline] pub fn current_chunk(&self) -> u32 { self.0.block.load::<u32, 16>() }
    /// TransactTime (tag 60), bytes 20..28.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 20>() }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl SnapshotFullRefreshOrderBook53Encoder<'_> {
    /** Writes LastMsgSeqNumProcessed. */ #[inline] pub fn set_last_msg_seq_num_processed(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes TotNumReports. */ #[inline] pub fn set_tot_num_reports(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 4>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /** Writes NoChunks. */ #[inline] pub fn set_no_chunks(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 12>(value); self }
    /** Writes CurrentChunk. */ #[inline] pub fn set_current_chunk(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 20>(value); self }
}

impl SnapshotFullRefreshOrderBook53Groups<'_> {
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
    #[inline] pub fn md_order_priority(&self) -> Option<u64> { self.0.nullable::<u64, 8>(u64::MAX) }
    /// MDEntryPx (tag 270), bytes 16..24.
    #[inline] pub fn md_entry_px(&self) -> Price9 { Decimal(self.0.load::<i64, 16>()) }
    /// MDDisplayQty (tag 37706), bytes 24..28.
    #[inline] pub fn md_display_qty(&self) -> i32 { self.0.load::<i32, 24>() }
    /// MDEntryType (tag 269), bytes 28..29.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeBook { MDEntryTypeBook(self.0.load::<u8, 28>()) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MDOrderPriority. */ #[inline] pub fn set_md_order_priority(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 16>(value.0); self }
    /** Writes MDDisplayQty. */ #[inline] pub fn set_md_display_qty(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 24>(value); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeBook) -> &mut Self { self.0.store::<u8, 28>(value.0); self }
}
