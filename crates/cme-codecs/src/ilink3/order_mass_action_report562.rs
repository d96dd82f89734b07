//! OrderMassActionReport562, template 562. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of OrderMassActionReport562.
pub const MESSAGE: Message = Message {
    name: "OrderMassActionReport562", template_id: 562, schema_id: 8, version: 9, semantic_type: "BZ",
    block: BlockLayout::new(130, 5, FIELDS),
    groups: &[
        GroupLayout::new("NoAffectedOrders", 534, 0, kind::GROUP_SIZE, BlockLayout::new(32, 5, NO_AFFECTED_ORDERS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("SenderID", 5392, 12, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 32, 0, &kind::U_INT64),
    Field::new("TransactTime", 60, 40, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 48, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 56, 0, &kind::U_INT64),
    Field::new("MassActionReportID", 1369, 64, 0, &kind::U_INT64),
    Field::new("MassActionType", 1373, 0, 0, &kind::MASS_ACTION),
    Field::new("SecurityGroup", 1151, 72, 0, &kind::STRING_LENGTH6),
    Field::new("Location", 9537, 78, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 83, 0, &kind::INT32NULL),
    Field::new("DelayDuration", 5904, 87, 0, &kind::U_INT16NULL),
    Field::new("MassActionResponse", 1375, 89, 0, &kind::MASS_ACTION_RESPONSE),
    Field::new("ManualOrderIndicator", 1028, 90, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("MassActionScope", 1374, 91, 0, &kind::MASS_ACTION_SCOPE),
    Field::new("TotalAffectedOrders", 533, 92, 0, &kind::U_INT32),
    Field::new("LastFragment", 893, 96, 0, &kind::BOOLEAN_FLAG),
    Field::new("MassActionRejectReason", 1376, 97, 0, &kind::U_INT8NULL),
    Field::new("MarketSegmentID", 1300, 98, 0, &kind::U_INT8NULL),
    Field::new("MassCancelRequestType", 6115, 99, 0, &kind::MASS_CXL_REQ_TYP),
    Field::new("Side", 54, 100, 0, &kind::SIDE_NULL),
    Field::new("OrdType", 40, 101, 0, &kind::MASS_ACTION_ORD_TYP),
    Field::new("TimeInForce", 59, 102, 0, &kind::MASS_CANCEL_TIF),
    Field::new("SplitMsg", 9553, 103, 0, &kind::SPLIT_MSG),
    Field::new("LiquidityFlag", 9373, 104, 0, &kind::BOOLEAN_NULL),
    Field::new("PossRetransFlag", 9765, 105, 0, &kind::BOOLEAN_FLAG),
    Field::new("DelayToTime", 7552, 106, 0, &kind::U_INT64NULL),
    Field::new("OrigOrderUser", 9937, 114, 8, &kind::STRING8),
    Field::new("CancelText", 2807, 122, 8, &kind::STRING8),
];
const NO_AFFECTED_ORDERS: &[Field] = &[
    Field::new("OrigCIOrdID", 41, 0, 0, &kind::STRING20_REQ),
    Field::new("AffectedOrderID", 535, 20, 0, &kind::U_INT64),
    Field::new("CxlQuantity", 84, 28, 0, &kind::U_INT32),
];

hairpin_sbe::message! {
    /// OrderMassActionReport562: message type BZ, template 562, since version 5, block of 130 bytes, 1 group.
    OrderMassActionReport562, OrderMassActionReport562Encoder, 130, OrderMassActionReport562Groups, 1
}

impl<'a> OrderMassActionReport562<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// SenderID (tag 5392), bytes 12..32.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<12, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 32..40.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 32>() }
    /// TransactTime (tag 60), bytes 40..48.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 40>() }
    /// SendingTimeEpoch (tag 5297), bytes 48..56.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 48>() }
    /// OrderRequestID (tag 2422), bytes 56..64.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 56>() }
    /// MassActionReportID (tag 1369), bytes 64..72.
    #[inline] pub fn mass_action_report_id(&self) -> u64 { self.0.block.load::<u64, 64>() }
    /// MassActionType (tag 1373), constant.
    pub const MASS_ACTION_TYPE: u8 = b'3';
    /// SecurityGroup (tag 1151), bytes 72..78.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<72, 6>() }
    /// Location (tag 9537), bytes 78..83.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<78, 5>() }
    /// SecurityID (tag 48), bytes 83..87.
    #[inline] pub fn security_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 83>(i32::MAX) }
    /// DelayDuration (tag 5904), bytes 87..89.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 87>(u16::MAX) }
    /// MassActionResponse (tag 1375), bytes 89..90.
    #[inline] pub fn mass_action_response(&self) -> MassActionResponse { MassActionResponse(self.0.block.load::<u8, 89>()) }
    /// ManualOrderIndicator (tag 1028), bytes 90..91.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 90>()) }
    /// MassActionScope (tag 1374), bytes 91..92.
    #[inline] pub fn mass_action_scope(&self) -> MassActionScope { MassActionScope(self.0.block.load::<u8, 91>()) }
    /// TotalAffectedOrders (tag 533), bytes 92..96.
    #[inline] pub fn total_affected_orders(&self) -> u32 { self.0.block.load::<u32, 92>() }
    /// LastFragment (tag 893), bytes 96..97.
    #[inline] pub fn last_fragment(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 96>()) }
    /// MassActionRejectReason (tag 1376), bytes 97..98.
    #[inline] pub fn mass_action_reject_reason(&self) -> Option<u8> { self.0.block.nullable::<u8, 97>(u8::MAX) }
    /// MarketSegmentID (tag 1300), bytes 98..99.
    #[inline] pub fn market_segment_id(&self) -> Option<u8> { self.0.block.nullable::<u8, 98>(u8::MAX) }
    /// MassCancelRequestType (tag 6115), bytes 99..100.
    #[inline] pub fn mass_cancel_request_type(&self) -> Option<MassCxlReqTyp> { self.0.block.nullable::<u8, 99>(u8::MAX).map(MassCxlReqTyp) }
    /// Side (tag 54), bytes 100..101.
    #[inline] pub fn side(&self) -> Option<SideNULL> { self.0.block.nullable::<u8, 100>(u8::MAX).map(SideNULL) }
    /// OrdType (tag 40), bytes 101..102.
    #[inline] pub fn ord_type(&self) -> Option<MassActionOrdTyp> { self.0.block.nullable_char::<101>().map(MassActionOrdTyp) }
    /// TimeInForce (tag 59), bytes 102..103.
    #[inline] pub fn time_in_force(&self) -> Option<MassCancelTIF> { self.0.block.nullable::<u8, 102>(u8::MAX).map(MassCancelTIF) }
    /// SplitMsg (tag 9553), bytes 103..104.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 103>(u8::MAX).map(SplitMsg) }
    /// LiquidityFlag (tag 9373), bytes 104..105.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 104>(u8::MAX).map(BooleanNULL) }
    /// PossRetransFlag (tag 9765), bytes 105..106.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 105>()) }
    /// DelayToTime (tag 7552), bytes 106..114.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 106>(u64::MAX) }
    /// OrigOrderUser (tag 9937), bytes 114..122, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<114, 8>() }
    /// CancelText (tag 2807), bytes 122..130, since version 8.
    #[inline] pub fn cancel_text(&self) -> CharArray<'a> { self.0.block.chars::<122, 8>() }
    /// NoAffectedOrders (tag 534).
    #[inline] pub fn no_affected_orders(&self) -> Group<'a, NoAffectedOrders<'a>> { Group::new(self.0.group(0)) }
}

impl OrderMassActionReport562Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 32>(value); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 40>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 48>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 56>(value); self }
    /** Writes MassActionReportID. */ #[inline] pub fn set_mass_action_report_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 64>(value); self }
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 6>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<78, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 83>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 87>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MassActionResponse. */ #[inline] pub fn set_mass_action_response(&mut self, value: MassActionResponse) -> &mut Self { self.0.store::<u8, 89>(value.0); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 90>(value.0); self }
    /** Writes MassActionScope. */ #[inline] pub fn set_mass_action_scope(&mut self, value: MassActionScope) -> &mut Self { self.0.store::<u8, 91>(value.0); self }
    /** Writes TotalAffectedOrders. */ #[inline] pub fn set_total_affected_orders(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 92>(value); self }
    /** Writes LastFragment. */ #[inline] pub fn set_last_fragment(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 96>(value.0); self }
    /** Writes MassActionRejectReason. */ #[inline] pub fn set_mass_action_reject_reason(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 97>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes MarketSegmentID. */ #[inline] pub fn set_market_segment_id(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 98>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes MassCancelRequestType. */ #[inline] pub fn set_mass_cancel_request_type(&mut self, value: impl Into<Option<MassCxlReqTyp>>) -> &mut Self { self.0.store::<u8, 99>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: impl Into<Option<SideNULL>>) -> &mut Self { self.0.store::<u8, 100>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<MassActionOrdTyp>>) -> &mut Self { self.0.store::<u8, 101>(value.into().map_or(0, |v| v.0)); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<MassCancelTIF>>) -> &mut Self { self.0.store::<u8, 102>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 103>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 104>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 105>(value.0); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 106>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes OrigOrderUser. */ #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<114, 8>(value.as_ref()); self }
    /** Writes CancelText. */ #[inline] pub fn set_cancel_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<122, 8>(value.as_ref()); self }
}

impl OrderMassActionReport562Groups<'_> {
    /// Starts the group NoAffectedOrders.
    #[inline] pub fn no_affected_orders(&mut self) -> Result<GroupEncoder<'_, NoAffectedOrders<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoAffectedOrders (tag 534): block of 32 bytes.
    NoAffectedOrders, NoAffectedOrdersEncoder, 32, 0
}

impl<'a> NoAffectedOrders<'a> {
    /// OrigCIOrdID (tag 41), bytes 0..20.
    #[inline] pub fn orig_ci_ord_id(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// AffectedOrderID (tag 535), bytes 20..28.
    #[inline] pub fn affected_order_id(&self) -> u64 { self.0.load::<u64, 20>() }
    /// CxlQuantity (tag 84), bytes 28..32.
    #[inline] pub fn cxl_quantity(&self) -> u32 { self.0.load::<u32, 28>() }
}

impl NoAffectedOrdersEncoder<'_> {
    /** Writes OrigCIOrdID. */ #[inline] pub fn set_orig_ci_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /** Writes AffectedOrderID. */ #[inline] pub fn set_affected_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 20>(value); self }
    /** Writes CxlQuantity. */ #[inline] pub fn set_cxl_quantity(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 28>(value); self }
}
