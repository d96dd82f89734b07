//! CollateralMarketValue62, template 62. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of CollateralMarketValue62.
pub const MESSAGE: Message = Message {
    name: "CollateralMarketValue62", template_id: 62, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 11, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(40, 11, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("UnderlyingSecurityAltID", 458, 0, 0, &kind::STRING12),
    Field::new("UnderlyingSecurityAltIDSource", 459, 12, 0, &kind::SECURITY_ALT_ID_SOURCE),
    Field::new("CollateralMarketPrice", 2689, 13, 0, &kind::PRICE9),
    Field::new("DirtyPrice", 37001, 21, 0, &kind::PRICE9),
    Field::new("UnderlyingInstrumentGUID", 37519, 29, 0, &kind::U_INT64),
    Field::new("MDStreamID", 1500, 37, 0, &kind::PRICE_SOURCE),
];

hairpin_sbe::message! {
    /// CollateralMarketValue62: message type X, template 62, since version 11, block of 11 bytes, 1 group.
    CollateralMarketValue62, CollateralMarketValue62Encoder, 11, CollateralMarketValue62Groups, 1
}

impl<'a> CollateralMarketValue62<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), bytes 8..9.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl CollateralMarketValue62Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

impl CollateralMarketValue62Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 40 bytes.
    NoMDEntries, NoMDEntriesEncoder, 40, 0
}

impl<'a> NoMDEntries<'a> {
    /// UnderlyingSecurityAltID (tag 458), bytes 0..12.
    #[inline] pub fn underlying_security_alt_id(&self) -> CharArray<'a> { self.0.chars::<0, 12>() }
    /// UnderlyingSecurityAltIDSource (tag 459), bytes 12..13.
    #[inline] pub fn underlying_security_alt_id_source(&self) -> Option<SecurityAltIDSource> { self.0.nullable::<u8, 12>(u8::MAX).map(SecurityAltIDSource) }
    /// CollateralMarketPrice (tag 2689), bytes 13..21.
    #[inline] pub fn collateral_market_price(&self) -> Price9 { Decimal(self.0.load::<i64, 13>()) }
    /// DirtyPrice (tag 37001), bytes 21..29.
    #[inline] pub fn dirty_price(&self) -> Price9 { Decimal(self.0.load::<i64, 21>()) }
    /// UnderlyingInstrumentGUID (tag 37519), bytes 29..37.
    #[inline] pub fn underlying_instrument_guid(&self) -> u64 { self.0.load::<u64, 29>() }
    /// MDStreamID (tag 1500), bytes 37..38.
    #[inline] pub fn md_stream_id(&self) -> Option<PriceSource> { self.0.nullable::<u8, 37>(u8::MAX).map(PriceSource) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes UnderlyingSecurityAltID. */ #[inline] pub fn set_underlying_security_alt_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 12>(value.as_ref()); self }
    /** Writes UnderlyingSecurityAltIDSource. */ #[inline] pub fn set_underlying_security_alt_id_source(&mut self, value: impl Into<Option<SecurityAltIDSource>>) -> &mut Self { self.0.store::<u8, 12>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes CollateralMarketPrice. */ #[inline] pub fn set_collateral_market_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 13>(value.0); self }
    /** Writes DirtyPrice. */ #[inline] pub fn set_dirty_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 21>(value.0); self }
    /** Writes UnderlyingInstrumentGUID. */ #[inline] pub fn set_underlying_instrument_guid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 29>(value); self }
    /** Writes MDStreamID. */ #[inline] pub fn set_md_stream_id(&mut self, value: impl Into<Option<PriceSource>>) -> &mut Self { self.0.store::<u8, 37>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
