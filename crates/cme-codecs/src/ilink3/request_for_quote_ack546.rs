//! RequestForQuoteAck546, template 546. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of RequestForQuoteAck546.
pub const MESSAGE: Message = Message {
    name: "RequestForQuoteAck546", template_id: 546, schema_id: 8, version: 9, semantic_type: "b",
    block: BlockLayout::new(358, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("SenderID", 5392, 268, 0, &kind::STRING20_REQ),
    Field::new("ExchangeQuoteReqID", 9770, 288, 0, &kind::STRING17),
    Field::new("PartyDetailsListReqID", 1505, 305, 0, &kind::U_INT64),
    Field::new("RequestTime", 5979, 313, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 321, 0, &kind::U_INT64),
    Field::new("QuoteReqID", 131, 329, 0, &kind::U_INT64),
    Field::new("Location", 9537, 337, 0, &kind::STRING5_REQ),
    Field::new("QuoteRejectReason", 300, 342, 0, &kind::U_INT16NULL),
    Field::new("DelayDuration", 5904, 344, 0, &kind::U_INT16NULL),
    Field::new("QuoteStatus", 297, 346, 0, &kind::QUOTE_ACK_STATUS),
    Field::new("ManualOrderIndicator", 1028, 347, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SplitMsg", 9553, 348, 0, &kind::SPLIT_MSG),
    Field::new("PossRetransFlag", 9765, 349, 2, &kind::BOOLEAN_FLAG),
    Field::new("DelayToTime", 7552, 350, 4, &kind::U_INT64NULL),
];

hairpin_sbe::message! {
    /// RequestForQuoteAck546: message type b, template 546, block of 358 bytes, 0 groups.
    RequestForQuoteAck546, RequestForQuoteAck546Encoder, 358
}

impl<'a> RequestForQuoteAck546<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// Text (tag 58), bytes 12..268.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<12, 256>() }
    /// SenderID (tag 5392), bytes 268..288.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<268, 20>() }
    /// ExchangeQuoteReqID (tag 9770), bytes 288..305.
    #[inline] pub fn exchange_quote_req_id(&self) -> CharArray<'a> { self.0.block.chars::<288, 17>() }
    /// PartyDetailsListReqID (tag 1505), bytes 305..313.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 305>() }
    /// RequestTime (tag 5979), bytes 313..321.
    #[inline] pub fn request_time(&self) -> u64 { self.0.block.load::<u64, 313>() }
    /// SendingTimeEpoch (tag 5297), bytes 321..329.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 321>() }
    /// QuoteReqID (tag 131), bytes 329..337.
    #[inline] pub fn quote_req_id(&self) -> u64 { self.0.block.load::<u64, 329>() }
    /// Location (tag 9537), bytes 337..342.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<337, 5>() }
    /// QuoteRejectReason (tag 300), bytes 342..344.
    #[inline] pub fn quote_reject_reason(&self) -> Option<u16> { self.0.block.nullable::<u16, 342>(u16::MAX) }
    /// DelayDuration (tag 5904), bytes 344..346.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 344>(u16::MAX) }
    /// QuoteStatus (tag 297), bytes 346..347.
    #[inline] pub fn quote_status(&self) -> QuoteAckStatus { QuoteAckStatus(self.0.block.load::<u8, 346>()) }
    /// ManualOrderIndicator (tag 1028), bytes 347..348.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 347>()) }
    /// SplitMsg (tag 9553), bytes 348..349.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 348>(u8::MAX).map(SplitMsg) }
    /// PossRetransFlag (tag 9765), bytes 349..350, since version 2.
    #[inline] pub fn poss_retrans_flag(&self) -> Option<BooleanFlag> { self.0.block.nullable::<u8, 349>(u8::MAX).map(BooleanFlag) }
    /// DelayToTime (tag 7552), bytes 350..358, since version 4.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 350>(u64::MAX) }
}

impl RequestForQuoteAck546Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 20>(value.as_ref()); self }
    /** Writes ExchangeQuoteReqID. */ #[inline] pub fn set_exchange_quote_req_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<288, 17>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 305>(value); self }
    /** Writes RequestTime. */ #[inline] pub fn set_request_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 313>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 321>(value); self }
    /** Writes QuoteReqID. */ #[inline] pub fn set_quote_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 329>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<337, 5>(value.as_ref()); self }
    /** Writes QuoteRejectReason. */ #[inline] pub fn set_quote_reject_reason(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 342>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 344>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes QuoteStatus. */ #[inline] pub fn set_quote_status(&mut self, value: QuoteAckStatus) -> &mut Self { self.0.store::<u8, 346>(value.0); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 347>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 348>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: impl Into<Option<BooleanFlag>>) -> &mut Self { self.0.store::<u8, 349>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 350>(value.into().unwrap_or(u64::MAX)); self }
}
