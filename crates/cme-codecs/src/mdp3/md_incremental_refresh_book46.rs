//! MDIncrementalRefreshBook46, template 46. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshBook46.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshBook46", template_id: 46, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(32, 9, NO_MD_ENTRIES)),
        GroupLayout::new("NoOrderIDEntries", 37705, 0, kind::GROUP_SIZE8_BYTE, BlockLayout::new(24, 9, NO_ORDER_ID_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntryPx", 270, 0, 0, &kind::PRICENULL9),
    Field::new("MDEntrySize", 271, 8, 0, &kind::INT32NULL),
    Field::new("SecurityID", 48, 12, 0, &kind::INT32),
    Field::new("RptSeq", 83, 16, 0, &kind::U_INT32),
    Field::new("NumberOfOrders", 346, 20, 0, &kind::INT32NULL),
    Field::new("MDPriceLevel", 1023, 24, 0, &kind::U_INT8),
    Field::new("MDUpdateAction", 279, 25, 0, &kind::MD_UPDATE_ACTION),
    Field::new("MDEntryType", 269, 26, 0, &kind::MD_ENTRY_TYPE_BOOK),
    Field::new("TradeableSize", 37719, 27, 10, &kind::INT32NULL),
];
const NO_ORDER_ID_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64),
    Field::new("MDOrderPriority", 37707, 8, 0, &kind::U_INT64NULL),
    Field::new("MDDisplayQty", 37706, 16, 0, &kind::INT32NULL),
    Field::new("ReferenceID", 9633, 20, 0, &kind::U_INT8NULL),
    Field::new("OrderUpdateAction", 37708, 21, 0, &kind::ORDER_UPDATE_ACTION),
];

hairpin_sbe::message! {
    /// MDIncrementalRefreshBook46: message type X, template 46, since version 9, block of 11 bytes, 2 groups.
    MDIncrementalRefreshBook46, MDIncrementalRefreshBook46Encoder, 11, MDIncrementalRefreshBook46Groups, 2
}

impl<'a> MDIncrementalRefreshBook46<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
    /// NoOrderIDEntries (tag 37705).
    #[inline] pub fn no_order_id_entries(&self) -> Group<'a, NoOrderIDEntries<'a>> { Group::new(self.0.group(1)) }
}

impl MDIncrementalRefreshBook46Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshBook46Groups<'_> {
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
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// MDEntrySize (tag 271), bytes 8..12.
    #[inline] pub fn md_entry_size(&self) -> Option<i32> { self.0.nullable::<i32, 8>(i32::MAX) }
    /// SecurityID (tag 48), bytes 12..16.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 12>() }
    /// RptSeq (tag 83), bytes 16..20.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 16>() }
    /// NumberOfOrders (tag 346), bytes 20..24.
    #[inline] pub fn number_of_orders(&self) -> Option<i32> { self.0.nullable::<i32, 20>(i32::MAX) }
    /// MDPriceLevel (tag 1023), bytes 24..25.
    #[inline] pub fn md_price_level(&self) -> u8 { self.0.load::<u8, 24>() }
    /// MDUpdateAction (tag 279), bytes 25..26.
    #[inline] pub fn md_update_action(&self) -> MDUpdateAction { MDUpdateAction(self.0.load::<u8, 25>()) }
    /// MDEntryType (tag 269), bytes 26..27.
    #[inline] pub fn md_entry_type(&self) -> MDEntryTypeBook { MDEntryTypeBook(self.0.load::<u8, 26>()) }
    /// TradeableSize (tag 37719), bytes 27..31, since version 10.
    #[inline] pub fn tradeable_size(&self) -> Option<i32> { self.0.nullable::<i32, 27>(i32::MAX) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 8>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 12>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
    /** Writes NumberOfOrders. */ #[inline] pub fn set_number_of_orders(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 20>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes MDPriceLevel. */ #[inline] pub fn set_md_price_level(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 24>(value); self }
    /** Writes MDUpdateAction. */ #[inline] pub fn set_md_update_action(&mut self, value: MDUpdateAction) -> &mut Self { self.0.store::<u8, 25>(value.0); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryTypeBook) -> &mut Self { self.0.store::<u8, 26>(value.0); self }
    /** Writes TradeableSize. */ #[inline] pub fn set_tradeable_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 27>(value.into().unwrap_or(i32::MAX)); self }
}

hairpin_sbe::entry! {
    /// An entry of NoOrderIDEntries (tag 37705): block of 24 bytes.
    NoOrderIDEntries, NoOrderIDEntriesEncoder, 24, 1
}

impl NoOrderIDEntries<'_> {
    /// OrderID (tag 37), bytes 0..8.
    #[inline] pub fn order_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// MDOrderPriority (tag 37707), bytes 8..16.
    #[inline] pub fn md_order_priority(&self) -> Option<u64> { self.0.nullable::<u64, 8>(u64::MAX) }
    /// MDDisplayQty (tag 37706), bytes 16..20.
    #[inline] pub fn md_display_qty(&self) -> Option<i32> { self.0.nullable::<i32, 16>(i32::MAX) }
    /// ReferenceID (tag 9633), bytes 20..21.
    #[inline] pub fn reference_id(&self) -> Option<u8> { self.0.nullable::<u8, 20>(u8::MAX) }
    /// OrderUpdateAction (tag 37708), bytes 21..22.
    #[inline] pub fn order_update_action(&self) -> OrderUpdateAction { OrderUpdateAction(self.0.load::<u8, 21>()) }
}

impl NoOrderIDEntriesEncoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MDOrderPriority. */ #[inline] pub fn set_md_order_priority(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes MDDisplayQty. */ #[inline] pub fn set_md_display_qty(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 16>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes ReferenceID. */ #[inline] pub fn set_reference_id(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 20>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes OrderUpdateAction. */ #[inline] pub fn set_order_update_action(&mut self, value: OrderUpdateAction) -> &mut Self { self.0.store::<u8, 21>(value.0); self }
}
