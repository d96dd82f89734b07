//! SnapshotFullRefreshTCPLongQty68, template 68. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of SnapshotFullRefreshTCPLongQty68.
pub const MESSAGE: Message = Message {
    name: "SnapshotFullRefreshTCPLongQty68", template_id: 68, schema_id: 1, version: 13, semantic_type: "W",
    block: BlockLayout::new(37, 12, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(23, 12, NO_MD_ENTRIES)),
    ],
    data: &[],
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

hairpin_sbe::message! {
    /// SnapshotFullRefreshTCPLongQty68: message type W, template 68, since version 12, block of 37 bytes, 1 group.
    SnapshotFullRefreshTCPLongQty68, SnapshotFullRefreshTCPLongQty68Encoder, 37, SnapshotFullRefreshTCPLongQty68Groups, 1
}

impl<'a> SnapshotFullRefreshTCPLongQty68<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// SecurityID (tag 48), bytes 9..13.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 9>() }
    /// HighLimitPrice (tag 1149), bytes 13..21.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 13>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 21..29.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 21>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 29..37.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 29>(i64::MAX).map(Decimal) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl SnapshotFullRefreshTCPLongQty68Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 9>(value); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 13>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 21>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 29>(value.into().map_or(i64::MAX, |v| v.0)); self }
}

impl SnapshotFullRefreshTCPLongQty68Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 23 bytes.
    NoMDEntries, NoMDEntriesEncoder, 23, 0
}

impl NoMDEntries<'_> {
    /// MDEntryPx (tag 270), bytes 0..8.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// MDEntrySize (tag 271), bytes 8..16.
    #[inline] pub fn md_entry_size(&self) -> Option<u64> { self.0.nullable::<u64, 8>(u64::MAX) }
    /// NumberOfOrders (tag 346), bytes 16..20.
    #[inline] pub fn number_of_orders(&self) -> Option<i32> { self.0.nullable::<i32, 16>(i32::MAX) }
    /// MDPriceLevel (tag 1023), bytes 20..21.
    #[inline] pub fn md_price_level(&self) -> Option<u8> { self.0.nullable::<u8, 20>(u8::MAX) }
    /// OpenCloseSettlFlag (tag 286), bytes 21..22.
    #[inline] pub fn open_close_settl_flag(&self) -> Option<OpenCloseSettlFlag> { self.0.nullable::<u8, 21>(u8::MAX).map(OpenCloseSettlFlag) }
    /// MDEntryType (tag 269), bytes 22..23.
    #[inline] pub fn md_entry_type(&self) -> MDEntryType { MDEntryType(self.0.load::<u8, 22>()) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes NumberOfOrders. */ #[inline] pub fn set_number_of_orders(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 16>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes MDPriceLevel. */ #[inline] pub fn set_md_price_level(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 20>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes OpenCloseSettlFlag. */ #[inline] pub fn set_open_close_settl_flag(&mut self, value: impl Into<Option<OpenCloseSettlFlag>>) -> &mut Self { self.0.store::<u8, 21>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryType) -> &mut Self { self.0.store::<u8, 22>(value.0); self }
}
