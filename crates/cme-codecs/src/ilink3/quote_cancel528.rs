//! QuoteCancel528, template 528. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of QuoteCancel528.
pub const MESSAGE: Message = Message {
    name: "QuoteCancel528", template_id: 528, schema_id: 8, version: 9, semantic_type: "Z",
    block: BlockLayout::new(61, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoQuoteEntries", 295, 0, kind::GROUP_SIZE, BlockLayout::new(10, 0, NO_QUOTE_ENTRIES)),
        GroupLayout::new("NoQuoteSets", 296, 0, kind::GROUP_SIZE, BlockLayout::new(10, 0, NO_QUOTE_SETS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("Location", 9537, 41, 0, &kind::STRING5_REQ),
    Field::new("QuoteID", 117, 46, 0, &kind::U_INT32),
    Field::new("QuoteCancelType", 298, 50, 0, &kind::QUOTE_CXL_TYP),
    Field::new("LiquidityFlag", 9373, 51, 0, &kind::BOOLEAN_NULL),
    Field::new("OrigOrderUser", 9937, 52, 8, &kind::STRING8),
    Field::new("QuoteEntryOpen", 9182, 60, 8, &kind::BOOLEAN_NULL),
];
const NO_QUOTE_ENTRIES: &[Field] = &[
    Field::new("SecurityGroup", 1151, 0, 0, &kind::STRING_LENGTH6),
    Field::new("SecurityID", 48, 6, 0, &kind::INT32NULL),
];
const NO_QUOTE_SETS: &[Field] = &[
    Field::new("BidSize", 134, 0, 0, &kind::U_INT32NULL),
    Field::new("OfferSize", 135, 4, 0, &kind::U_INT32NULL),
    Field::new("QuoteSetID", 302, 8, 0, &kind::U_INT16),
];

hairpin_sbe::message! {
    /// QuoteCancel528: message type Z, template 528, block of 61 bytes, 2 groups.
    QuoteCancel528, QuoteCancel528Encoder, 61, QuoteCancel528Groups, 2
}

impl<'a> QuoteCancel528<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SendingTimeEpoch (tag 5297), bytes 8..16.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// Location (tag 9537), bytes 41..46.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<41, 5>() }
    /// QuoteID (tag 117), bytes 46..50.
    #[inline] pub fn quote_id(&self) -> u32 { self.0.block.load::<u32, 46>() }
    /// QuoteCancelType (tag 298), bytes 50..51.
    #[inline] pub fn quote_cancel_type(&self) -> QuoteCxlTyp { QuoteCxlTyp(self.0.block.load::<u8, 50>()) }
    /// LiquidityFlag (tag 9373), bytes 51..52.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 51>(u8::MAX).map(BooleanNULL) }
    /// OrigOrderUser (tag 9937), bytes 52..60, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<52, 8>() }
    /// QuoteEntryOpen (tag 9182), bytes 60..61, since version 8.
    #[inline] pub fn quote_entry_open(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 60>(u8::MAX).map(BooleanNULL) }
    /// NoQuoteEntries (tag 295).
    #[inline] pub fn no_quote_entries(&self) -> Group<'a, NoQuoteEntries<'a>> { Group::new(self.0.group(0)) }
    /// NoQuoteSets (tag 296).
    #[inline] pub fn no_quote_sets(&self) -> Group<'a, NoQuoteSets<'a>> { Group::new(self.0.group(1)) }
}

impl QuoteCancel528Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<41, 5>(value.as_ref()); self }
    /** Writes QuoteID. */ #[inline] pub fn set_quote_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 46>(value); self }
    /** Writes QuoteCancelType. */ #[inline] pub fn set_quote_cancel_type(&mut self, value: QuoteCxlTyp) -> &mut Self { self.0.store::<u8, 50>(value.0); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 51>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes OrigOrderUser. */ #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<52, 8>(value.as_ref()); self }
    /** Writes QuoteEntryOpen. */ #[inline] pub fn set_quote_entry_open(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 60>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

impl QuoteCancel528Groups<'_> {
    /// Starts the group NoQuoteEntries.
    #[inline] pub fn no_quote_entries(&mut self) -> Result<GroupEncoder<'_, NoQuoteEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoQuoteSets.
    #[inline] pub fn no_quote_sets(&mut self) -> Result<GroupEncoder<'_, NoQuoteSets<'_>>, EncodeError> { self.0.open(1) }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteEntries (tag 295): block of 10 bytes.
    NoQuoteEntries, NoQuoteEntriesEncoder, 10, 0
}

impl<'a> NoQuoteEntries<'a> {
    /// SecurityGroup (tag 1151), bytes 0..6.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.chars::<0, 6>() }
    /// SecurityID (tag 48), bytes 6..10.
    #[inline] pub fn security_id(&self) -> Option<i32> { self.0.nullable::<i32, 6>(i32::MAX) }
}

impl NoQuoteEntriesEncoder<'_> {
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 6>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 6>(value.into().unwrap_or(i32::MAX)); self }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteSets (tag 296): block of 10 bytes.
    NoQuoteSets, NoQuoteSetsEncoder, 10, 1
}

impl NoQuoteSets<'_> {
    /// BidSize (tag 134), bytes 0..4.
    #[inline] pub fn bid_size(&self) -> Option<u32> { self.0.nullable::<u32, 0>(u32::MAX) }
    /// OfferSize (tag 135), bytes 4..8.
    #[inline] pub fn offer_size(&self) -> Option<u32> { self.0.nullable::<u32, 4>(u32::MAX) }
    /// QuoteSetID (tag 302), bytes 8..10.
    #[inline] pub fn quote_set_id(&self) -> u16 { self.0.load::<u16, 8>() }
}

impl NoQuoteSetsEncoder<'_> {
    /** Writes BidSize. */ #[inline] pub fn set_bid_size(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 0>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes OfferSize. */ #[inline] pub fn set_offer_size(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 4>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes QuoteSetID. */ #[inline] pub fn set_quote_set_id(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 8>(value); self }
}
