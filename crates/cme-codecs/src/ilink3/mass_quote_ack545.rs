//! MassQuoteAck545, template 545. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MassQuoteAck545.
pub const MESSAGE: Message = Message {
    name: "MassQuoteAck545", template_id: 545, schema_id: 8, version: 9, semantic_type: "b",
    block: BlockLayout::new(352, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoQuoteEntries", 295, 0, kind::GROUP_SIZE, BlockLayout::new(11, 0, NO_QUOTE_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("SenderID", 5392, 268, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 288, 0, &kind::U_INT64),
    Field::new("RequestTime", 5979, 296, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 304, 0, &kind::U_INT64),
    Field::new("QuoteReqID", 131, 312, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 320, 0, &kind::STRING5_REQ),
    Field::new("QuoteID", 117, 325, 0, &kind::U_INT32),
    Field::new("QuoteRejectReason", 300, 329, 0, &kind::U_INT16NULL),
    Field::new("DelayDuration", 5904, 331, 0, &kind::U_INT16NULL),
    Field::new("QuoteStatus", 297, 333, 0, &kind::QUOTE_ACK_STATUS),
    Field::new("ManualOrderIndicator", 1028, 334, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("NoProcessedEntries", 9772, 335, 0, &kind::U_INT8),
    Field::new("MMProtectionReset", 9773, 336, 0, &kind::BOOLEAN_FLAG),
    Field::new("SplitMsg", 9553, 337, 0, &kind::SPLIT_MSG),
    Field::new("LiquidityFlag", 9373, 338, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 339, 0, &kind::SHORT_SALE_TYPE),
    Field::new("TotNoQuoteEntries", 304, 340, 0, &kind::U_INT8NULL),
    Field::new("PossRetransFlag", 9765, 341, 2, &kind::BOOLEAN_FLAG),
    Field::new("DelayToTime", 7552, 342, 4, &kind::U_INT64NULL),
    Field::new("QuoteEntryOpen", 9182, 350, 8, &kind::BOOLEAN_NULL),
    Field::new("QuoteEntryControl", 39034, 351, 9, &kind::BOOLEAN_NULL),
];
const NO_QUOTE_ENTRIES: &[Field] = &[
    Field::new("QuoteEntryID", 299, 0, 0, &kind::U_INT32),
    Field::new("SecurityID", 48, 4, 0, &kind::INT32),
    Field::new("QuoteSetID", 302, 8, 0, &kind::U_INT16),
    Field::new("QuoteEntryRejectReason", 368, 10, 0, &kind::U_INT8),
];

hairpin_sbe::message! {
    /// MassQuoteAck545: message type b, template 545, block of 352 bytes, 1 group.
    MassQuoteAck545, MassQuoteAck545Encoder, 352, MassQuoteAck545Groups, 1
}

impl<'a> MassQuoteAck545<'a> {
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
    /// RequestTime (tag 5979), bytes 296..304.
    #[inline] pub fn request_time(&self) -> u64 { self.0.block.load::<u64, 296>() }
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
    /// DelayDuration (tag 5904), bytes 331..333.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 331>(u16::MAX) }
    /// QuoteStatus (tag 297), bytes 333..334.
    #[inline] pub fn quote_status(&self) -> QuoteAckStatus { QuoteAckStatus(self.0.block.load::<u8, 333>()) }
    /// ManualOrderIndicator (tag 1028), bytes 334..335.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 334>()) }
    /// NoProcessedEntries (tag 9772), bytes 335..336.
    #[inline] pub fn no_processed_entries(&self) -> u8 { self.0.block.load::<u8, 335>() }
    /// MMProtectionReset (tag 9773), bytes 336..337.
    #[inline] pub fn mm_protection_reset(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 336>()) }
    /// SplitMsg (tag 9553), bytes 337..338.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 337>(u8::MAX).map(SplitMsg) }
    /// LiquidityFlag (tag 9373), bytes 338..339.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 338>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 339..340.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 339>(u8::MAX).map(ShortSaleType) }
    /// TotNoQuoteEntries (tag 304), bytes 340..341.
    #[inline] pub fn tot_no_quote_entries(&self) -> Option<u8> { self.0.block.nullable::<u8, 340>(u8::MAX) }
    /// PossRetransFlag (tag 9765), bytes 341..342, since version 2.
    #[inline] pub fn poss_retrans_flag(&self) -> Option<BooleanFlag> { self.0.block.nullable::<u8, 341>(u8::MAX).map(BooleanFlag) }
    /// DelayToTime (tag 7552), bytes 342..350, since version 4.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 342>(u64::MAX) }
    /// QuoteEntryOpen (tag 9182), bytes 350..351, since version 8.
    #[inline] pub fn quote_entry_open(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 350>(u8::MAX).map(BooleanNULL) }
    /// QuoteEntryControl (tag 39034), bytes 351..352, since version 9.
    #[inline] pub fn quote_entry_control(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 351>(u8::MAX).map(BooleanNULL) }
    /// NoQuoteEntries (tag 295).
    #[inline] pub fn no_quote_entries(&self) -> Group<'a, NoQuoteEntries<'a>> { Group::new(self.0.group(0)) }
}

impl MassQuoteAck545Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 288>(value); self }
    /** Writes RequestTime. */ #[inline] pub fn set_request_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 296>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 304>(value); self }
    /** Writes QuoteReqID. */ #[inline] pub fn set_quote_req_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 312>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<320, 5>(value.as_ref()); self }
    /** Writes QuoteID. */ #[inline] pub fn set_quote_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 325>(value); self }
    /** Writes QuoteRejectReason. */ #[inline] pub fn set_quote_reject_reason(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 329>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 331>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes QuoteStatus. */ #[inline] pub fn set_quote_status(&mut self, value: QuoteAckStatus) -> &mut Self { self.0.store::<u8, 333>(value.0); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 334>(value.0); self }
    /** Writes NoProcessedEntries. */ #[inline] pub fn set_no_processed_entries(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 335>(value); self }
    /** Writes MMProtectionReset. */ #[inline] pub fn set_mm_protection_reset(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 336>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 337>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 338>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 339>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes TotNoQuoteEntries. */ #[inline] pub fn set_tot_no_quote_entries(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 340>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: impl Into<Option<BooleanFlag>>) -> &mut Self { self.0.store::<u8, 341>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 342>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes QuoteEntryOpen. */ #[inline] pub fn set_quote_entry_open(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 350>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes QuoteEntryControl. */ #[inline] pub fn set_quote_entry_control(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 351>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

impl MassQuoteAck545Groups<'_> {
    /// Starts the group NoQuoteEntries.
    #[inline] pub fn no_quote_entries(&mut self) -> Result<GroupEncoder<'_, NoQuoteEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteEntries (tag 295): block of 11 bytes.
    NoQuoteEntries, NoQuoteEntriesEncoder, 11, 0
}

impl NoQuoteEntries<'_> {
    /// QuoteEntryID (tag 299), bytes 0..4.
    #[inline] pub fn quote_entry_id(&self) -> u32 { self.0.load::<u32, 0>() }
    /// SecurityID (tag 48), bytes 4..8.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 4>() }
    /// QuoteSetID (tag 302), bytes 8..10.
    #[inline] pub fn quote_set_id(&self) -> u16 { self.0.load::<u16, 8>() }
    /// QuoteEntryRejectReason (tag 368), bytes 10..11.
    #[inline] pub fn quote_entry_reject_reason(&self) -> u8 { self.0.load::<u8, 10>() }
}

impl NoQuoteEntriesEncoder<'_> {
    /** Writes QuoteEntryID. */ #[inline] pub fn set_quote_entry_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 4>(value); self }
    /** Writes QuoteSetID. */ #[inline] pub fn set_quote_set_id(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 8>(value); self }
    /** Writes QuoteEntryRejectReason. */ #[inline] pub fn set_quote_entry_reject_reason(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 10>(value); self }
}
