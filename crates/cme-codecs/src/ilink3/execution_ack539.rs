//! ExecutionAck539, template 539. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, Field, Message};

/// The layout of ExecutionAck539.
pub const MESSAGE: Message = Message {
    name: "ExecutionAck539", template_id: 539, schema_id: 8, version: 9, semantic_type: "BN",
    block: BlockLayout::new(101, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("OrderID", 37, 8, 0, &kind::U_INT64),
    Field::new("ExecAckStatus", 1036, 16, 0, &kind::EXEC_ACK_STATUS),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("ClOrdID", 11, 21, 0, &kind::STRING20_REQ),
    Field::new("SecExecID", 527, 41, 0, &kind::U_INT64),
    Field::new("LastPx", 31, 49, 0, &kind::PRICE9),
    Field::new("SecurityID", 48, 57, 0, &kind::INT32),
    Field::new("LastQty", 32, 61, 0, &kind::U_INT32),
    Field::new("DKReason", 127, 65, 0, &kind::DK_REASON),
    Field::new("Side", 54, 66, 0, &kind::SIDE_REQ),
    Field::new("SenderID", 5392, 67, 4, &kind::STRING20_REQ),
    Field::new("SendingTimeEpoch", 5297, 87, 5, &kind::U_INT64),
    Field::new("Location", 9537, 95, 5, &kind::STRING5_REQ),
    Field::new("ManualOrderIndicator", 1028, 100, 5, &kind::MANUAL_ORD_IND_REQ),
];

hairpin_sbe::message! {
    /// ExecutionAck539: message type BN, template 539, block of 101 bytes, 0 groups.
    ExecutionAck539, ExecutionAck539Encoder, 101
}

impl<'a> ExecutionAck539<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// OrderID (tag 37), bytes 8..16.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ExecAckStatus (tag 1036), bytes 16..17.
    #[inline] pub fn exec_ack_status(&self) -> ExecAckStatus { ExecAckStatus(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// ClOrdID (tag 11), bytes 21..41.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// SecExecID (tag 527), bytes 41..49.
    #[inline] pub fn sec_exec_id(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// LastPx (tag 31), bytes 49..57.
    #[inline] pub fn last_px(&self) -> Price9 { Decimal(self.0.block.load::<i64, 49>()) }
    /// SecurityID (tag 48), bytes 57..61.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 57>() }
    /// LastQty (tag 32), bytes 61..65.
    #[inline] pub fn last_qty(&self) -> u32 { self.0.block.load::<u32, 61>() }
    /// DKReason (tag 127), bytes 65..66.
    #[inline] pub fn dk_reason(&self) -> Option<DKReason> { self.0.block.nullable_char::<65>().map(DKReason) }
    /// Side (tag 54), bytes 66..67.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 66>()) }
    /// SenderID (tag 5392), bytes 67..87, since version 4.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<67, 20>() }
    /// SendingTimeEpoch (tag 5297), bytes 87..95, since version 5.
    #[inline] pub fn sending_time_epoch(&self) -> Option<u64> { self.0.block.nullable::<u64, 87>(u64::MAX) }
    /// Location (tag 9537), bytes 95..100, since version 5.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<95, 5>() }
    /// ManualOrderIndicator (tag 1028), bytes 100..101, since version 5.
    #[inline] pub fn manual_order_indicator(&self) -> Option<ManualOrdIndReq> { self.0.block.nullable::<u8, 100>(u8::MAX).map(ManualOrdIndReq) }
}

impl ExecutionAck539Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ExecAckStatus. */ #[inline] pub fn set_exec_ack_status(&mut self, value: ExecAckStatus) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes SecExecID. */ #[inline] pub fn set_sec_exec_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /** Writes LastPx. */ #[inline] pub fn set_last_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 49>(value.0); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 57>(value); self }
    /** Writes LastQty. */ #[inline] pub fn set_last_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 61>(value); self }
    /** Writes DKReason. */ #[inline] pub fn set_dk_reason(&mut self, value: impl Into<Option<DKReason>>) -> &mut Self { self.0.store::<u8, 65>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 66>(value.0); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<67, 20>(value.as_ref()); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 87>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<95, 5>(value.as_ref()); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: impl Into<Option<ManualOrdIndReq>>) -> &mut Self { self.0.store::<u8, 100>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
