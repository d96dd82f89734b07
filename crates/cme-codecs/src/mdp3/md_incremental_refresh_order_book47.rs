//! MDIncrementalRefreshOrderBook47, template 47. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshOrderBook47.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshOrderBook47", template_id: 47, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(40, 9, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64NULL),
    Field::new("MDOrderPriority", 37707, 8, 0, &kind::U_INT64NULL),
    Field::new("MDEntryPx", 270, 16, 0, &kind::PRICENULL9),
    Field::new("MDDisplayQty", 37706, 24, 0, &kind::INT32NULL),
    Field::new("SecurityID", 48, 28, 0, &kind::INT32),
    Field::new("MDUpdateAction", 279, 32, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 33, 0, &kind::MD_ENTRY_TYPE_BOOK),
];

hairpin_sbe::message! {
    /// MDIncrementalRefreshOrderBook47: message type X, template 47, since version 9, block of 11 bytes, 1 group.
    MDIncrementalRefreshOrderBook47, MDIncrementalRefreshOrderBook47Encoder, 11, MDIncrementalRefreshOrderBook47Groups, 1
}

impl<'a> MDIncrementalRefreshOrderBook47<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MDIncrementalRefreshOrderBook47Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshOrderBook47Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 40 bytes.
    NoMDEntries, NoMDEntriesEncoder, 40, 0
}

impl NoMDEntries<'_> {
    /// OrderID (tag 37), bytes 0..8.
    #[inline] pub fn order_id(&self) -> Option<u64> { self.0.nullable::<u64, 0>(u64::MAX) }
    /// MDOrderPriority (tag 37707), bytes 8..16.
    #[inline] pub fn md_order_priority(&self) -> Option<u64> { self.0.nullable::<u64, 8>(u64::MAX) }
    /// MDEntryPx (tag 270), bytes 16..24.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.nullable::<i64, 16>(i64::MAX).map(Decimal) }
    /// MDDisplayQty (tag 37706), bytes 24..28.
    #[inline] pub fn md_display_qty(&self) -> Option<i32> { self.0.nullable::<i32, 24>(i32::MAX) }
    /// SecurityID (tag 48), bytes 28..32.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 28>() }
    /// MDUpdateAction (tag 279), bytes 32..33.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 32>()) }
    /// MDEntryType (tag 269), bytes 33..34.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeBook { MDEntryTypeBook(self.0.load::<u8, 33>()) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 0>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes MDOrderPriority. */ #[inline] pub fn set_md_order_priority(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 16>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MDDisplayQty. */ #[inline] pub fn set_md_display_qty(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 24>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 28>(value); self }
    /** Writes MDUpdateAction. */ #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 32>(value.0); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeBook) -> &mut Self { self.0.store::<u8, 33>(value.0); self }
}
