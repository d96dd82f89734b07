//! MassQuote517, template 517. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MassQuote517.
pub const MESSAGE: Message = Message {
    name: "MassQuote517", template_id: 517, schema_id: 8, version: 9, semantic_type: "i",
    block: BlockLayout::new(123, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoQuoteEntries", 295, 0, kind::GROUP_SIZE, BlockLayout::new(38, 0, NO_QUOTE_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("QuoteReqID", 131, 41, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 49, 0, &kind::STRING5_REQ),
    Field::new("QuoteID", 117, 54, 0, &kind::U_INT32),
    Field::new("TotNoQuoteEntries", 304, 58, 0, &kind::U_INT8),
    Field::new("MMProtectionReset", 9773, 59, 0, &kind::BOOLEAN_FLAG),
    Field::new("LiquidityFlag", 9373, 60, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 61, 0, &kind::SHORT_SALE_TYPE),
    Field::new("Reserved", 5187, 62, 5, &kind::STRING30),
    Field::new("Reserved1", 5239, 92, 8, &kind::STRING30),
    Field::new("QuoteEntryOpen", 9182, 122, 8, &kind::BOOLEAN_NULL),
];
const NO_QUOTE_ENTRIES: &[Field] = &[
    Field::new("BidPx", 132, 0, 0, &kind::PRICENULL9),
    Field::new("OfferPx", 133, 8, 0, &kind::PRICENULL9),
    Field::new("QuoteEntryID", 299, 16, 0, &kind::U_INT32),
    Field::new("SecurityID", 48, 20, 0, &kind::INT32),
    Field::new("BidSize", 134, 24, 0, &kind::U_INT32NULL),
    Field::new("OfferSize", 135, 28, 0, &kind::U_INT32NULL),
    Field::new("UnderlyingSecurityID", 309, 32, 0, &kind::INT32NULL),
    Field::new("QuoteSetID", 302, 36, 0, &kind::U_INT16),
];

hairpin_sbe::message! {
    /// MassQuote517: message type i, template 517, block of 123 bytes, 1 group.
    MassQuote517, MassQuote517Encoder, 123, MassQuote517Groups, 1
}

impl<'a> MassQuote517<'a> {
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
    /// QuoteReqID (tag 131), bytes 41..49.
    #[inline] pub fn quote_req_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 41>(u64::MAX) }
    /// Location (tag 9537), bytes 49..54.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<49, 5>() }
    /// QuoteID (tag 117), bytes 54..58.
    #[inline] pub fn quote_id(&self) -> u32 { self.0.block.load::<u32, 54>() }
    /// TotNoQuoteEntries (tag 304), bytes 58..59.
    #[inline] pub fn tot_no_quote_entries(&self) -> u8 { self.0.block.load::<u8, 58>() }
    /// MMProtectionReset (tag 9773), bytes 59..60.
    #[inline] pub fn mm_protection_reset(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 59>()) }
    /// LiquidityFlag (tag 9373), bytes 60..61.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 60>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 61..62.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 61>(u8::MAX).map(ShortSaleType) }
    /// Reserved (tag 5187), bytes 62..92, since version 5.
    #[inline] pub fn reserved(&self) -> CharArray<'a> { self.0.block.chars::<62, 30>() }
    /// Reserved1 (tag 5239), bytes 92..122, since version 8.
    #[inline] pub fn reserved1(&self) -> CharArray<'a> { self.0.block.chars::<92, 30>() }
    /// QuoteEntryOpen (tag 9182), bytes 122..123, since version 8.
    #[inline] pub fn quote_entry_open(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 122>(u8::MAX).map(BooleanNULL) }
    /// NoQuoteEntries (tag 295).
    #[inline] pub fn no_quote_entries(&self) -> Group<'a, NoQuoteEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MassQuote517Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes QuoteReqID. */ #[inline] pub fn set_quote_req_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 41>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<49, 5>(value.as_ref()); self }
    /** Writes QuoteID. */ #[inline] pub fn set_quote_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 54>(value); self }
    /** Writes TotNoQuoteEntries. */ #[inline] pub fn set_tot_no_quote_entries(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 58>(value); self }
    /** Writes MMProtectionReset. */ #[inline] pub fn set_mm_protection_reset(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 59>(value.0); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 60>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 61>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes Reserved. */ #[inline] pub fn set_reserved(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<62, 30>(value.as_ref()); self }
    /** Writes Reserved1. */ #[inline] pub fn set_reserved1(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<92, 30>(value.as_ref()); self }
    /** Writes QuoteEntryOpen. */ #[inline] pub fn set_quote_entry_open(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 122>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

impl MassQuote517Groups<'_> {
    /// Starts the group NoQuoteEntries.
    #[inline] pub fn no_quote_entries(&mut self) -> Result<GroupEncoder<'_, NoQuoteEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteEntries (tag 295): block of 38 bytes.
    NoQuoteEntries, NoQuoteEntriesEncoder, 38, 0
}

impl NoQuoteEntries<'_> {
    /// BidPx (tag 132), bytes 0..8.
    #[inline] pub fn bid_px(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// OfferPx (tag 133), bytes 8..16.
    #[inline] pub fn offer_px(&self) -> Option<Price9> { self.0.nullable::<i64, 8>(i64::MAX).map(Decimal) }
    /// QuoteEntryID (tag 299), bytes 16..20.
    #[inline] pub fn quote_entry_id(&self) -> u32 { self.0.load::<u32, 16>() }
    /// SecurityID (tag 48), bytes 20..24.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 20>() }
    /// BidSize (tag 134), bytes 24..28.
    #[inline] pub fn bid_size(&self) -> Option<u32> { self.0.nullable::<u32, 24>(u32::MAX) }
    /// OfferSize (tag 135), bytes 28..32.
    #[inline] pub fn offer_size(&self) -> Option<u32> { self.0.nullable::<u32, 28>(u32::MAX) }
    /// UnderlyingSecurityID (tag 309), bytes 32..36.
    #[inline] pub fn underlying_security_id(&self) -> Option<i32> { self.0.nullable::<i32, 32>(i32::MAX) }
    /// QuoteSetID (tag 302), bytes 36..38.
    #[inline] pub fn quote_set_id(&self) -> u16 { self.0.load::<u16, 36>() }
}

impl NoQuoteEntriesEncoder<'_> {
    /** Writes BidPx. */ #[inline] pub fn set_bid_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes OfferPx. */ #[inline] pub fn set_offer_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 8>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes QuoteEntryID. */ #[inline] pub fn set_quote_entry_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 20>(value); self }
    /** Writes BidSize. */ #[inline] pub fn set_bid_size(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 24>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes OfferSize. */ #[inline] pub fn set_offer_size(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 28>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes UnderlyingSecurityID. */ #[inline] pub fn set_underlying_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 32>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes QuoteSetID. */ #[inline] pub fn set_quote_set_id(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 36>(value); self }
}
