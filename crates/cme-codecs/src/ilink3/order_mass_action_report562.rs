//! OrderMassActionReport562, template 562. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of OrderMassActionReport562.
pub const MESSAGE: Message = Message {
    name: "OrderMassActionReport562", template_id: 562, schema_id: 8, version: 9, semantic_type: "BZ",
    block: BlockLayout::new(130, 5, FIELDS), groups: &[
        GroupLayout { name: "NoAffectedOrders", tag: 534, since: 0, block: BlockLayout::new(32, 5, NO_AFFECTED_ORDERS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
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

/// OrderMassActionReport562: message type BZ, template 562, since version 5, block of 130 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct OrderMassActionReport562<'a>(Root<'a, 130, 1>);

impl<'a> OrderMassActionReport562<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 562;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 130;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 130] = [0; 130];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 130] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(OrderMassActionReport562Encoder<'_>, OrderMassActionReport562Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (OrderMassActionReport562Encoder(block), OrderMassActionReport562Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 130]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// SeqNum (tag 9726), 4 at 0.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), 8 at 4.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// SenderID (tag 5392), 20 at 12.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<12, 20>() }
    /// PartyDetailsListReqID (tag 1505), 8 at 32.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 32>() }
    /// TransactTime (tag 60), 8 at 40.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 40>() }
    /// SendingTimeEpoch (tag 5297), 8 at 48.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 48>() }
    /// OrderRequestID (tag 2422), 8 at 56.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 56>() }
    /// MassActionReportID (tag 1369), 8 at 64.
    #[inline] pub fn mass_action_report_id(&self) -> u64 { self.0.block.load::<u64, 64>() }
    /// MassActionType (tag 1373), constant.
    pub const MASS_ACTION_TYPE: u8 = b'3';
    /// SecurityGroup (tag 1151), 6 at 72.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<72, 6>() }
    /// Location (tag 9537), 5 at 78.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<78, 5>() }
    /// SecurityID (tag 48), 4 at 83.
    #[inline] pub fn security_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 83>(i32::MAX) }
    /// DelayDuration (tag 5904), 2 at 87.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 87>(u16::MAX) }
    /// MassActionResponse (tag 1375), 1 at 89.
    #[inline] pub fn mass_action_response(&self) -> MassActionResponse { MassActionResponse(self.0.block.load::<u8, 89>()) }
    /// ManualOrderIndicator (tag 1028), 1 at 90.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 90>()) }
    /// MassActionScope (tag 1374), 1 at 91.
    #[inline] pub fn mass_action_scope(&self) -> MassActionScope { MassActionScope(self.0.block.load::<u8, 91>()) }
    /// TotalAffectedOrders (tag 533), 4 at 92.
    #[inline] pub fn total_affected_orders(&self) -> u32 { self.0.block.load::<u32, 92>() }
    /// LastFragment (tag 893), 1 at 96.
    #[inline] pub fn last_fragment(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 96>()) }
    /// MassActionRejectReason (tag 1376), 1 at 97.
    #[inline] pub fn mass_action_reject_reason(&self) -> Option<u8> { self.0.block.nullable::<u8, 97>(u8::MAX) }
    /// MarketSegmentID (tag 1300), 1 at 98.
    #[inline] pub fn market_segment_id(&self) -> Option<u8> { self.0.block.nullable::<u8, 98>(u8::MAX) }
    /// MassCancelRequestType (tag 6115), 1 at 99.
    #[inline] pub fn mass_cancel_request_type(&self) -> Option<MassCxlReqTyp> { self.0.block.nullable::<u8, 99>(u8::MAX).map(MassCxlReqTyp) }
    /// Side (tag 54), 1 at 100.
    #[inline] pub fn side(&self) -> Option<SideNULL> { self.0.block.nullable::<u8, 100>(u8::MAX).map(SideNULL) }
    /// OrdType (tag 40), 1 at 101.
    #[inline] pub fn ord_type(&self) -> Option<MassActionOrdTyp> { self.0.block.nullable_char::<101>().map(MassActionOrdTyp) }
    /// TimeInForce (tag 59), 1 at 102.
    #[inline] pub fn time_in_force(&self) -> Option<MassCancelTIF> { self.0.block.nullable::<u8, 102>(u8::MAX).map(MassCancelTIF) }
    /// SplitMsg (tag 9553), 1 at 103.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 103>(u8::MAX).map(SplitMsg) }
    /// LiquidityFlag (tag 9373), 1 at 104.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 104>(u8::MAX).map(BooleanNULL) }
    /// PossRetransFlag (tag 9765), 1 at 105.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 105>()) }
    /// DelayToTime (tag 7552), 8 at 106.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 106>(u64::MAX) }
    /// OrigOrderUser (tag 9937), 8 at 114, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<114, 8>() }
    /// CancelText (tag 2807), 8 at 122, since version 8.
    #[inline] pub fn cancel_text(&self) -> CharArray<'a> { self.0.block.chars::<122, 8>() }
    /// NoAffectedOrders (tag 534).
    #[inline] pub fn no_affected_orders(&self) -> Group<'a, NoAffectedOrders<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of OrderMassActionReport562.
#[derive(Debug)]
pub struct OrderMassActionReport562Encoder<'a>(&'a mut [u8; 130]);

impl OrderMassActionReport562Encoder<'_> {
    /// Writes SeqNum.
    #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /// Writes UUID.
    #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /// Writes SenderID.
    #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 20>(value.as_ref()); self }
    /// Writes PartyDetailsListReqID.
    #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 32>(value); self }
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 40>(value); self }
    /// Writes SendingTimeEpoch.
    #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 48>(value); self }
    /// Writes OrderRequestID.
    #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 56>(value); self }
    /// Writes MassActionReportID.
    #[inline] pub fn set_mass_action_report_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 64>(value); self }
    /// Writes SecurityGroup.
    #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 6>(value.as_ref()); self }
    /// Writes Location.
    #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<78, 5>(value.as_ref()); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 83>(value.into().unwrap_or(i32::MAX)); self }
    /// Writes DelayDuration.
    #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 87>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes MassActionResponse.
    #[inline] pub fn set_mass_action_response(&mut self, value: MassActionResponse) -> &mut Self { self.0.store::<u8, 89>(value.0); self }
    /// Writes ManualOrderIndicator.
    #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 90>(value.0); self }
    /// Writes MassActionScope.
    #[inline] pub fn set_mass_action_scope(&mut self, value: MassActionScope) -> &mut Self { self.0.store::<u8, 91>(value.0); self }
    /// Writes TotalAffectedOrders.
    #[inline] pub fn set_total_affected_orders(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 92>(value); self }
    /// Writes LastFragment.
    #[inline] pub fn set_last_fragment(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 96>(value.0); self }
    /// Writes MassActionRejectReason.
    #[inline] pub fn set_mass_action_reject_reason(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 97>(value.into().unwrap_or(u8::MAX)); self }
    /// Writes MarketSegmentID.
    #[inline] pub fn set_market_segment_id(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 98>(value.into().unwrap_or(u8::MAX)); self }
    /// Writes MassCancelRequestType.
    #[inline] pub fn set_mass_cancel_request_type(&mut self, value: impl Into<Option<MassCxlReqTyp>>) -> &mut Self { self.0.store::<u8, 99>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes Side.
    #[inline] pub fn set_side(&mut self, value: impl Into<Option<SideNULL>>) -> &mut Self { self.0.store::<u8, 100>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes OrdType.
    #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<MassActionOrdTyp>>) -> &mut Self { self.0.store::<u8, 101>(value.into().map_or(0, |v| v.0)); self }
    /// Writes TimeInForce.
    #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<MassCancelTIF>>) -> &mut Self { self.0.store::<u8, 102>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes SplitMsg.
    #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 103>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes LiquidityFlag.
    #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 104>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes PossRetransFlag.
    #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 105>(value.0); self }
    /// Writes DelayToTime.
    #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 106>(value.into().unwrap_or(u64::MAX)); self }
    /// Writes OrigOrderUser.
    #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<114, 8>(value.as_ref()); self }
    /// Writes CancelText.
    #[inline] pub fn set_cancel_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<122, 8>(value.as_ref()); self }
}

/// Writes the groups of OrderMassActionReport562, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct OrderMassActionReport562Groups<'a>(GroupsEncoder<'a>);

impl OrderMassActionReport562Groups<'_> {
    /// Begins NoAffectedOrders. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_affected_orders(&mut self) -> Result<GroupEncoder<'_, NoAffectedOrders<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoAffectedOrders: block of 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoAffectedOrders<'a>(&'a [u8; 32]);

impl<'a> NoAffectedOrders<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 32;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 32] = [0; 32];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 32] = MESSAGE.groups[0].block.null_block();
    /// OrigCIOrdID (tag 41), 20 at 0.
    #[inline] pub fn orig_ci_ord_id(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// AffectedOrderID (tag 535), 8 at 20.
    #[inline] pub fn affected_order_id(&self) -> u64 { self.0.load::<u64, 20>() }
    /// CxlQuantity (tag 84), 4 at 28.
    #[inline] pub fn cxl_quantity(&self) -> u32 { self.0.load::<u32, 28>() }
}

impl Entry for NoAffectedOrders<'_> {
    type View<'a> = NoAffectedOrders<'a>;
    type Encoder<'a> = NoAffectedOrdersEncoder<'a>;
    type Scratch = [u8; 32];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 32]) -> NoAffectedOrders<'a> { NoAffectedOrders(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoAffectedOrdersEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoAffectedOrdersEncoder(block)) }
}

/// Writes the block of an entry of NoAffectedOrders.
#[derive(Debug)]
pub struct NoAffectedOrdersEncoder<'a>(&'a mut [u8; 32]);

impl NoAffectedOrdersEncoder<'_> {
    /// Writes OrigCIOrdID.
    #[inline] pub fn set_orig_ci_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /// Writes AffectedOrderID.
    #[inline] pub fn set_affected_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 20>(value); self }
    /// Writes CxlQuantity.
    #[inline] pub fn set_cxl_quantity(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 28>(value); self }
}
