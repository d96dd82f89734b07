//! OrderCancelReject535, template 535. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of OrderCancelReject535.
pub const MESSAGE: Message = Message {
    name: "OrderCancelReject535", template_id: 535, schema_id: 8, version: 9, semantic_type: "9",
    block: BlockLayout::new(409, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("ExecID", 17, 268, 0, &kind::STRING40),
    Field::new("SenderID", 5392, 308, 0, &kind::STRING20_REQ),
    Field::new("ClOrdID", 11, 328, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 348, 0, &kind::U_INT64),
    Field::new("OrdStatus", 39, 0, 0, &kind::ORD_STATUS_CXL_REJ),
    Field::new("CxlRejResponseTo", 434, 0, 0, &kind::CXL_REJ_RSP),
    Field::new("OrderID", 37, 356, 0, &kind::U_INT64),
    Field::new("TransactTime", 60, 364, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 372, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 380, 0, &kind::U_INT64),
    Field::new("Location", 9537, 388, 0, &kind::STRING5_REQ),
    Field::new("CxlRejReason", 102, 393, 0, &kind::U_INT16),
    Field::new("DelayDuration", 5904, 395, 0, &kind::U_INT16NULL),
    Field::new("ManualOrderIndicator", 1028, 397, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 398, 0, &kind::BOOLEAN_FLAG),
    Field::new("SplitMsg", 9553, 399, 0, &kind::SPLIT_MSG),
    Field::new("LiquidityFlag", 9373, 400, 0, &kind::BOOLEAN_NULL),
    Field::new("DelayToTime", 7552, 401, 4, &kind::U_INT64NULL),
];

hairpin_sbe::message! {
    /// OrderCancelReject535: message type 9, template 535, block of 409 bytes, 0 groups.
    OrderCancelReject535, OrderCancelReject535Encoder, 409
}

impl<'a> OrderCancelReject535<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// Text (tag 58), bytes 12..268.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<12, 256>() }
    /// ExecID (tag 17), bytes 268..308.
    #[inline] pub fn exec_id(&self) -> CharArray<'a> { self.0.block.chars::<268, 40>() }
    /// SenderID (tag 5392), bytes 308..328.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<308, 20>() }
    /// ClOrdID (tag 11), bytes 328..348.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.block.chars::<328, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 348..356.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 348>() }
    /// OrdStatus (tag 39), constant.
    pub const ORD_STATUS: u8 = b'U';
    /// CxlRejResponseTo (tag 434), constant.
    pub const CXL_REJ_RESPONSE_TO: u8 = b'1';
    /// OrderID (tag 37), bytes 356..364.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 356>() }
    /// TransactTime (tag 60), bytes 364..372.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 364>() }
    /// SendingTimeEpoch (tag 5297), bytes 372..380.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 372>() }
    /// OrderRequestID (tag 2422), bytes 380..388.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 380>() }
    /// Location (tag 9537), bytes 388..393.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<388, 5>() }
    /// CxlRejReason (tag 102), bytes 393..395.
    #[inline] pub fn cxl_rej_reason(&self) -> u16 { self.0.block.load::<u16, 393>() }
    /// DelayDuration (tag 5904), bytes 395..397.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 395>(u16::MAX) }
    /// ManualOrderIndicator (tag 1028), bytes 397..398.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 397>()) }
    /// PossRetransFlag (tag 9765), bytes 398..399.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 398>()) }
    /// SplitMsg (tag 9553), bytes 399..400.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 399>(u8::MAX).map(SplitMsg) }
    /// LiquidityFlag (tag 9373), bytes 400..401.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 400>(u8::MAX).map(BooleanNULL) }
    /// DelayToTime (tag 7552), bytes 401..409, since version 4.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 401>(u64::MAX) }
}

impl OrderCancelReject535Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes ExecID. */ #[inline] pub fn set_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 40>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<308, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<328, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 348>(value); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 356>(value); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 364>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 372>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 380>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<388, 5>(value.as_ref()); self }
    /** Writes CxlRejReason. */ #[inline] pub fn set_cxl_rej_reason(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 393>(value); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 395>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 397>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 398>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 399>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 400>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 401>(value.into().unwrap_or(u64::MAX)); self }
}
