//! MassQuoteResponse571, template 571. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MassQuoteResponse571.
pub const MESSAGE: Message = Message {
    name: "MassQuoteResponse571", template_id: 571, schema_id: 8, version: 9, semantic_type: "b",
    block: BlockLayout::new(350, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoQuoteEntries", 295, 0, kind::GROUP_SIZE, BlockLayout::new(20, 9, NO_QUOTE_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("SenderID", 5392, 268, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 288, 0, &kind::U_INT64),
    Field::new("TransactTime", 60, 296, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 304, 0, &kind::U_INT64),
    Field::new("QuoteReqID", 131, 312, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 320, 0, &kind::STRING5_REQ),
    Field::new("QuoteID", 117, 325, 0, &kind::U_INT32),
    Field::new("QuoteRejectReason", 300, 329, 0, &kind::U_INT16NULL),
    Field::new("QuoteStatus", 297, 331, 0, &kind::QUOTE_ACK_STATUS),
    Field::new("ManualOrderIndicator", 1028, 332, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("NoProcessedEntries", 9772, 333, 0, &kind::U_INT8),
    Field::new("MMProtectionReset", 9773, 334, 0, &kind::BOOLEAN_FLAG),
    Field::new("SplitMsg", 9553, 335, 0, &kind::SPLIT_MSG),
    Field::new("LiquidityFlag", 9373, 336, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 337, 0, &kind::SHORT_SALE_TYPE),
    Field::new("TotNoQuoteEntries", 304, 338, 0, &kind::U_INT8NULL),
    Field::new("PossRetransFlag", 9765, 339, 0, &kind::BOOLEAN_FLAG),
    Field::new("DelayToTime", 7552, 340, 0, &kind::U_INT64NULL),
    Field::new("QuoteEntryOpen", 9182, 348, 0, &kind::BOOLEAN_NULL),
    Field::new("QuoteEntryControl", 39034, 349, 0, &kind::BOOLEAN_NULL),
];
const NO_QUOTE_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64NULL),
    Field::new("QuoteEntryID", 299, 8, 0, &kind::U_INT32),
    Field::new("QuoteSetID", 302, 12, 0, &kind::U_INT16),
    Field::new("SecurityID", 48, 14, 0, &kind::INT32),
    Field::new("Side", 54, 18, 0, &kind::SIDE),
    Field::new("QuoteEntryRejectReason", 368, 19, 0, &kind::U_INT8NULL),
];

hairpin_sbe::message! {
    /// MassQuoteResponse571: message type b, template 571, since version 9, block of 350 bytes, 1 group.
    MassQuoteResponse571, MassQuoteResponse571Encoder, 350, MassQuoteResponse571Groups, 1
}

impl<'a> MassQuoteResponse571<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// Text (tag 58), bytes 12..268.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<12, 256>() }
    /// SenderID (tag 5392), bytes 268..288.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<268, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 288..296.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 288>() }
    /// TransactTime (tag 60), bytes 296..304.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 296>() }
    /// SendingTimeEpoch (tag 5297), bytes 304..312.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 304>() }
    /// QuoteReqID (tag 131), bytes 312..320.
    #[inline] pub fn quote_req_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 312>(u64::MAX) }
    /// Location (tag 9537), bytes 320..325.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<320, 5>() }
    /// QuoteID (tag 117), bytes 325..329.
    #[inline] pub fn quote_id(&self) -> u32 { self.0.block.load::<u32, 325>() }
    /// QuoteRejectReason (tag 300), bytes 329..331.
    #[inline] pub fn quote_reject_reason(&self) -> Option<u16> { self.0.block.nullable::<u16, 329>(u16::MAX) }
    /// QuoteStatus (tag 297), bytes 331..332.
    #[inline] pub fn quote_status(&self) -> QuoteAckStatus { QuoteAckStatus(self.0.block.load::<u8, 331>()) }
    /// ManualOrderIndicator (tag 1028), bytes 332..333.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 332>()) }
    /// NoProcessedEntries (tag 9772), bytes 333..334.
    #[inline] pub fn no_processed_entries(&self) -> u8 { self.0.block.load::<u8, 333>() }
    /// MMProtectionReset (tag 9773), bytes 334..335.
    #[inline] pub fn mm_protection_reset(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 334>()) }
    /// SplitMsg (tag 9553), bytes 335..336.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 335>(u8::MAX).map(SplitMsg) }
    /// LiquidityFlag (tag 9373), bytes 336..337.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 336>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 337..338.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 337>(u8::MAX).map(ShortSaleType) }
    /// TotNoQuoteEntries (tag 304), bytes 338..339.
    #[inline] pub fn tot_no_quote_entries(&self) -> Option<u8> { self.0.block.nullable::<u8, 338>(u8::MAX) }
    /// PossRetransFlag (tag 9765), bytes 339..340.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 339>()) }
    /// DelayToTime (tag 7552), bytes 340..348.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 340>(u64::MAX) }
    /// QuoteEntryOpen (tag 9182), bytes 348..349.
    #[inline] pub fn quote_entry_open(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 348>(u8::MAX).map(BooleanNULL) }
    /// QuoteEntryControl (tag 39034), bytes 349..350.
    #[inline] pub fn quote_entry_control(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 349>(u8::MAX).map(BooleanNULL) }
    /// NoQuoteEntries (tag 295).
    #[inline] pub fn no_quote_entries(&self) -> Group<'a, NoQuoteEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MassQuoteResponse571Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 288>(value); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 296>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 304>(value); self }
    /** Writes QuoteReqID. */ #[inline] pub fn set_quote_req_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 312>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<320, 5>(value.as_ref()); self }
    /** Writes QuoteID. */ #[inline] pub fn set_quote_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 325>(value); self }
    /** Writes QuoteRejectReason. */ #[inline] pub fn set_quote_reject_reason(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 329>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes QuoteStatus. */ #[inline] pub fn set_quote_status(&mut self, value: QuoteAckStatus) -> &mut Self { self.0.store::<u8, 331>(value.0); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 332>(value.0); self }
    /** Writes NoProcessedEntries. */ #[inline] pub fn set_no_processed_entries(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 333>(value); self }
    /** Writes MMProtectionReset. */ #[inline] pub fn set_mm_protection_reset(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 334>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 335>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 336>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 337>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes TotNoQuoteEntries. */ #[inline] pub fn set_tot_no_quote_entries(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 338>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 339>(value.0); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 340>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes QuoteEntryOpen. */ #[inline] pub fn set_quote_entry_open(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 348>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes QuoteEntryControl. */ #[inline] pub fn set_quote_entry_control(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 349>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

impl MassQuoteResponse571Groups<'_> {
    /// Starts the group NoQuoteEntries.
    #[inline] pub fn no_quote_entries(&mut self) -> Result<GroupEncoder<'_, NoQuoteEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteEntries (tag 295): block of 20 bytes.
    NoQuoteEntries, NoQuoteEntriesEncoder, 20, 0
}

impl NoQuoteEntries<'_> {
    /// OrderID (tag 37), bytes 0..8.
    #[inline] pub fn order_id(&self) -> Option<u64> { self.0.nullable::<u64, 0>(u64::MAX) }
    /// QuoteEntryID (tag 299), bytes 8..12.
    #[inline] pub fn quote_entry_id(&self) -> u32 { self.0.load::<u32, 8>() }
    /// QuoteSetID (tag 302), bytes 12..14.
    #[inline] pub fn quote_set_id(&self) -> u16 { self.0.load::<u16, 12>() }
    /// SecurityID (tag 48), bytes 14..18.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 14>() }
    /// Side (tag 54), bytes 18..19.
    #[inline] pub fn side(&self) -> Side { Side(self.0.load::<u8, 18>()) }
    /// QuoteEntryRejectReason (tag 368), bytes 19..20.
    #[inline] pub fn quote_entry_reject_reason(&self) -> Option<u8> { self.0.nullable::<u8, 19>(u8::MAX) }
}

impl NoQuoteEntriesEncoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 0>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes QuoteEntryID. */ #[inline] pub fn set_quote_entry_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /** Writes QuoteSetID. */ #[inline] pub fn set_quote_set_id(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 12>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 14>(value); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: Side) -> &mut Self { self.0.store::<u8, 18>(value.0); self }
    /** Writes QuoteEntryRejectReason. */ #[inline] pub fn set_quote_entry_reject_reason(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 19>(value.into().unwrap_or(u8::MAX)); self }
}
