//! MDIncrementalRefreshTradeSummary48, template 48. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshTradeSummary48.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshTradeSummary48", template_id: 48, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(32, 9, NO_MD_ENTRIES)),
        GroupLayout::new("NoOrderIDEntries", 37705, 0, kind::GROUP_SIZE8_BYTE, BlockLayout::new(16, 9, NO_ORDER_ID_ENTRIES)),
    ],
    data: &[],
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

hairpin_sbe::message! {
    /// MDIncrementalRefreshTradeSummary48: message type X, template 48, since version 9, block of 11 bytes, 2 groups.
    MDIncrementalRefreshTradeSummary48, MDIncrementalRefreshTradeSummary48Encoder, 11, MDIncrementalRefreshTradeSummary48Groups, 2
}

impl<'a> MDIncrementalRefreshTradeSummary48<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
    /// NoOrderIDEntries (tag 37705).
    #[inline] pub fn no_order_id_entries(&self) -> Group<'a, NoOrderIDEntries<'a>> { Group::new(self.0.group(1)) }
}

impl MDIncrementalRefreshTradeSummary48Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshTradeSummary48Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoOrderIDEntries.
    #[inline] pub fn no_order_id_entries(&mut self) -> Result<GroupEncoder<'_, NoOrderIDEntries<'_>>, EncodeError> { self.0.open(1) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 32 bytes.
    NoMDEntries, NoMDEntriesEncoder, 32, 0
}

impl NoMDEntries<'_> {
    /// MDEntryPx (tag 270), bytes 0..8.
    #[inline] pub fn md_entry_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// MDEntrySize (tag 271), bytes 8..12.
    #[inline] pub fn md_entry_size(&self) -> i32 { self.0.load::<i32, 8>() }
    /// SecurityID (tag 48), bytes 12..16.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 12>() }
    /// RptSeq (tag 83), bytes 16..20.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 16>() }
    /// NumberOfOrders (tag 346), bytes 20..24.
    #[inline] pub fn number_of_orders(&self) -> i32 { self.0.load::<i32, 20>() }
    /// AggressorSide (tag 5797), bytes 24..25.
    #[inline] pub fn aggressor_side(&self) -> Option<AggressorSide> { self.0.nullable::<u8, 24>(u8::MAX).map(AggressorSide) }
    /// MDUpdateAction (tag 279), bytes 25..26.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 25>()) }
    /// MDEntryType (tag 269), constant.
    pub const MD_ENTRY_TYPE: u8 = b'2';
    /// MDTradeEntryID (tag 37711), bytes 26..30.
    #[inline] pub fn md_trade_entry_id(&self) -> Option<u32> { self.0.nullable::<u32, 26>(u32::MAX) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 12>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
    /** Writes NumberOfOrders. */ #[inline] pub fn set_number_of_orders(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 20>(value); self }
    /** Writes AggressorSide. */ #[inline] pub fn set_aggressor_side(&mut self, value: impl Into<Option<AggressorSide>>) -> &mut Self { self.0.store::<u8, 24>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes MDUpdateAction. */ #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 25>(value.0); self }
    /** Writes MDTradeEntryID. */ #[inline] pub fn set_md_trade_entry_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 26>(value.into().unwrap_or(u32::MAX)); self }
}

hairpin_sbe::entry! {
    /// An entry of NoOrderIDEntries (tag 37705): block of 16 bytes.
    NoOrderIDEntries, NoOrderIDEntriesEncoder, 16, 1
}

impl NoOrderIDEntries<'_> {
    /// OrderID (tag 37), bytes 0..8.
    #[inline] pub fn order_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// LastQty (tag 32), bytes 8..12.
    #[inline] pub fn last_qty(&self) -> i32 { self.0.load::<i32, 8>() }
}

impl NoOrderIDEntriesEncoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes LastQty. */ #[inline] pub fn set_last_qty(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
}
