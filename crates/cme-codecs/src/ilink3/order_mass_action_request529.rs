//! OrderMassActionRequest529, template 529. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of OrderMassActionRequest529.
pub const MESSAGE: Message = Message {
    name: "OrderMassActionRequest529", template_id: 529, schema_id: 8, version: 9, semantic_type: "CA",
    block: BlockLayout::new(79, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("MassActionType", 1373, 0, 0, &kind::MASS_ACTION),
    Field::new("SendingTimeEpoch", 5297, 41, 0, &kind::U_INT64),
    Field::new("SecurityGroup", 1151, 49, 0, &kind::STRING_LENGTH6),
    Field::new("Location", 9537, 55, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 60, 0, &kind::INT32NULL),
    Field::new("MassActionScope", 1374, 64, 0, &kind::MASS_ACTION_SCOPE),
    Field::new("MarketSegmentID", 1300, 65, 0, &kind::U_INT8NULL),
    Field::new("MassCancelRequestType", 6115, 66, 0, &kind::MASS_CXL_REQ_TYP),
    Field::new("Side", 54, 67, 0, &kind::SIDE_NULL),
    Field::new("OrdType", 40, 68, 0, &kind::MASS_ACTION_ORD_TYP),
    Field::new("TimeInForce", 59, 69, 0, &kind::MASS_CANCEL_TIF),
    Field::new("LiquidityFlag", 9373, 70, 0, &kind::BOOLEAN_NULL),
    Field::new("OrigOrderUser", 9937, 71, 8, &kind::STRING8),
];

hairpin_sbe::message! {
    /// OrderMassActionRequest529: message type CA, template 529, block of 79 bytes, 0 groups.
    OrderMassActionRequest529, OrderMassActionRequest529Encoder, 79
}

impl<'a> OrderMassActionRequest529<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// OrderRequestID (tag 2422), bytes 8..16.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// MassActionType (tag 1373), constant.
    pub const MASS_ACTION_TYPE: u8 = b'3';
    /// SendingTimeEpoch (tag 5297), bytes 41..49.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// SecurityGroup (tag 1151), bytes 49..55.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<49, 6>() }
    /// Location (tag 9537), bytes 55..60.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<55, 5>() }
    /// SecurityID (tag 48), bytes 60..64.
    #[inline] pub fn security_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 60>(i32::MAX) }
    /// MassActionScope (tag 1374), bytes 64..65.
    #[inline] pub fn mass_action_scope(&self) -> MassActionScope { MassActionScope(self.0.block.load::<u8, 64>()) }
    /// MarketSegmentID (tag 1300), bytes 65..66.
    #[inline] pub fn market_segment_id(&self) -> Option<u8> { self.0.block.nullable::<u8, 65>(u8::MAX) }
    /// MassCancelRequestType (tag 6115), bytes 66..67.
    #[inline] pub fn mass_cancel_request_type(&self) -> Option<MassCxlReqTyp> { self.0.block.nullable::<u8, 66>(u8::MAX).map(MassCxlReqTyp) }
    /// Side (tag 54), bytes 67..68.
    #[inline] pub fn side(&self) -> Option<SideNULL> { self.0.block.nullable::<u8, 67>(u8::MAX).map(SideNULL) }
    /// OrdType (tag 40), bytes 68..69.
    #[inline] pub fn ord_type(&self) -> Option<MassActionOrdTyp> { self.0.block.nullable_char::<68>().map(MassActionOrdTyp) }
    /// TimeInForce (tag 59), bytes 69..70.
    #[inline] pub fn time_in_force(&self) -> Option<MassCancelTIF> { self.0.block.nullable::<u8, 69>(u8::MAX).map(MassCancelTIF) }
    /// LiquidityFlag (tag 9373), bytes 70..71.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 70>(u8::MAX).map(BooleanNULL) }
    /// OrigOrderUser (tag 9937), bytes 71..79, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<71, 8>() }
}

impl OrderMassActionRequest529Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<49, 6>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<55, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 60>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes MassActionScope. */ #[inline] pub fn set_mass_action_scope(&mut self, value: MassActionScope) -> &mut Self { self.0.store::<u8, 64>(value.0); self }
    /** Writes MarketSegmentID. */ #[inline] pub fn set_market_segment_id(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 65>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes MassCancelRequestType. */ #[inline] pub fn set_mass_cancel_request_type(&mut self, value: impl Into<Option<MassCxlReqTyp>>) -> &mut Self { self.0.store::<u8, 66>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: impl Into<Option<SideNULL>>) -> &mut Self { self.0.store::<u8, 67>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<MassActionOrdTyp>>) -> &mut Self { self.0.store::<u8, 68>(value.into().map_or(0, |v| v.0)); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<MassCancelTIF>>) -> &mut Self { self.0.store::<u8, 69>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 70>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes OrigOrderUser. */ #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<71, 8>(value.as_ref()); self }
}
