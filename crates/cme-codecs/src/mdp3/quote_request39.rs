//! QuoteRequest39, template 39. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of QuoteRequest39.
pub const MESSAGE: Message = Message {
    name: "QuoteRequest39", template_id: 39, schema_id: 1, version: 13, semantic_type: "R",
    block: BlockLayout::new(35, 3, FIELDS),
    groups: &[
        GroupLayout::new("NoRelatedSym", 146, 0, kind::GROUP_SIZE, BlockLayout::new(32, 3, NO_RELATED_SYM)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("QuoteReqID", 131, 8, 0, &kind::QUOTE_REQ_ID),
    Field::new("MatchEventIndicator", 5799, 31, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_RELATED_SYM: &[Field] = &[
    Field::new("Symbol", 55, 0, 0, &kind::SYMBOL),
    Field::new("SecurityID", 48, 20, 0, &kind::INT32),
    Field::new("OrderQty", 38, 24, 0, &kind::INT32NULL),
    Field::new("QuoteType", 537, 28, 0, &kind::INT8),
    Field::new("Side", 54, 29, 0, &kind::INT8NULL),
];

hairpin_sbe::message! {
    /// QuoteRequest39: message type R, template 39, since version 3, block of 35 bytes, 1 group.
    QuoteRequest39, QuoteRequest39Encoder, 35, QuoteRequest39Groups, 1
}

impl<'a> QuoteRequest39<'a> {
    /// TransactTime (tag 60), bytes 0..8.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// QuoteReqID (tag 131), bytes 8..31.
    #[inline] pub fn quote_req_id(&self) -> CharArray<'a> { self.0.block.chars::<8, 23>() }
    /// MatchEventIndicator (tag 5799), bytes 31..32.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 31>()) }
    /// NoRelatedSym (tag 146).
    #[inline] pub fn no_related_sym(&self) -> Group<'a, NoRelatedSym<'a>> { Group::new(self.0.group(0)) }
}

impl QuoteRequest39Encoder<'_> {
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes QuoteReqID. */ #[inline] pub fn set_quote_req_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<8, 23>(value.as_ref()); self }
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 31>(value.0); self }
}

impl QuoteRequest39Groups<'_> {
    /// Starts the group NoRelatedSym.
    #[inline] pub fn no_related_sym(&mut self) -> Result<GroupEncoder<'_, NoRelatedSym<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoRelatedSym (tag 146): block of 32 bytes.
    NoRelatedSym, NoRelatedSymEncoder, 32, 0
}

impl<'a> NoRelatedSym<'a> {
    /// Symbol (tag 55), bytes 0..20.
    #[inline] pub fn symbol(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// SecurityID (tag 48), bytes 20..24.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 20>() }
    /// OrderQty (tag 38), bytes 24..28.
    #[inline] pub fn order_qty(&self) -> Option<i32> { self.0.nullable::<i32, 24>(i32::MAX) }
    /// QuoteType (tag 537), bytes 28..29.
    #[inline] pub fn quote_type(&self) -> i8 { self.0.load::<i8, 28>() }
    /// Side (tag 54), bytes 29..30.
    #[inline] pub fn side(&self) -> Option<i8> { self.0.nullable::<i8, 29>(i8::MAX) }
}

impl NoRelatedSymEncoder<'_> {
    /** Writes Symbol. */ #[inline] pub fn set_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 20>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 24>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes QuoteType. */ #[inline] pub fn set_quote_type(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 28>(value); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 29>(value.into().unwrap_or(i8::MAX)); self }
}
