//! MDIncrementalRefreshLimitsBanding50, template 50. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDIncrementalRefreshLimitsBanding50.
pub const MESSAGE: Message = Message {
    name: "MDIncrementalRefreshLimitsBanding50", template_id: 50, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(32, 9, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("HighLimitPrice", 1149, 0, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 8, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 16, 0, &kind::PRICENULL9),
    Field::new("SecurityID", 48, 24, 0, &kind::INT32),
    Field::new("RptSeq", 83, 28, 0, &kind::U_INT32),
    Field::new("MDUpdateAction", 279, 0, 0, &kind::MD_UPDATE_ACTION_NEW),
    Field::new("MDEntryType", 269, 0, 0, &kind::MD_ENTRY_TYPE_LIMITS),
];

hairpin_sbe::message! {
    /// MDIncrementalRefreshLimitsBanding50: message type X, template 50, since version 9, block of 11 bytes, 1 group.
    MDIncrementalRefreshLimitsBanding50, MDIncrementalRefreshLimitsBanding50Encoder, 11, MDIncrementalRefreshLimitsBanding50Groups, 1
}

impl<'a> MDIncrementalRefreshLimitsBanding50<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MDIncrementalRefreshLimitsBanding50Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl MDIncrementalRefreshLimitsBanding50Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 32 bytes.
    NoMDEntries, NoMDEntriesEncoder, 32, 0
}

impl NoMDEntries<'_> {
    /// HighLimitPrice (tag 1149), bytes 0..8.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 8..16.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.nullable::<i64, 8>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 16..24.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.nullable::<i64, 16>(i64::MAX).map(Decimal) }
    /// SecurityID (tag 48), bytes 24..28.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 24>() }
    /// RptSeq (tag 83), bytes 28..32.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.load::<u32, 28>() }
    /// MDUpdateAction (tag 279), constant.
    pub const MD_UPDATE_ACTION: i8 = 0;
    /// MDEntryType (tag 269), constant.
    pub const MD_ENTRY_TYPE: u8 = b'g';
}

impl NoMDEntriesEncoder<'_> {
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 8>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 16>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 24>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 28>(value); self }
}
