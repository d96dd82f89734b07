//! NewOrderCross544, template 544. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of NewOrderCross544.
pub const MESSAGE: Message = Message {
    name: "NewOrderCross544", template_id: 544, schema_id: 8, version: 9, semantic_type: "s",
    block: BlockLayout::new(74, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoSides", 552, 0, kind::GROUP_SIZE, BlockLayout::new(34, 0, NO_SIDES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("CrossID", 548, 0, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("OrdType", 40, 0, 0, &kind::CROSS_ORDER_TYPE),
    Field::new("CrossType", 549, 0, 0, &kind::CROSS_TYPE),
    Field::new("CrossPrioritization", 550, 0, 0, &kind::CROSS_PRIORITIZATION),
    Field::new("Price", 44, 41, 0, &kind::PRICE9),
    Field::new("TransBkdTime", 483, 49, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 57, 0, &kind::U_INT64),
    Field::new("Location", 9537, 65, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 70, 0, &kind::INT32),
];
const NO_SIDES: &[Field] = &[
    Field::new("ClOrdID", 11, 0, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 20, 0, &kind::U_INT64),
    Field::new("OrderQty", 38, 28, 0, &kind::U_INT32),
    Field::new("Side", 54, 32, 0, &kind::SIDE_REQ),
    Field::new("SideTimeInForce", 962, 33, 0, &kind::SIDE_TIME_IN_FORCE),
];

hairpin_sbe::message! {
    /// NewOrderCross544: message type s, template 544, block of 74 bytes, 1 group.
    NewOrderCross544, NewOrderCross544Encoder, 74, NewOrderCross544Groups, 1
}

impl<'a> NewOrderCross544<'a> {
    /// CrossID (tag 548), bytes 0..8.
    #[inline] pub fn cross_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// OrderRequestID (tag 2422), bytes 8..16.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// OrdType (tag 40), constant.
    pub const ORD_TYPE: u8 = b'2';
    /// CrossType (tag 549), constant.
    pub const CROSS_TYPE: u8 = b'3';
    /// CrossPrioritization (tag 550), constant.
    pub const CROSS_PRIORITIZATION: u8 = b'0';
    /// Price (tag 44), bytes 41..49.
    #[inline] pub fn price(&self) -> Price9 { Decimal(self.0.block.load::<i64, 41>()) }
    /// TransBkdTime (tag 483), bytes 49..57.
    #[inline] pub fn trans_bkd_time(&self) -> u64 { self.0.block.load::<u64, 49>() }
    /// SendingTimeEpoch (tag 5297), bytes 57..65.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 57>() }
    /// Location (tag 9537), bytes 65..70.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<65, 5>() }
    /// SecurityID (tag 48), bytes 70..74.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 70>() }
    /// NoSides (tag 552).
    #[inline] pub fn no_sides(&self) -> Group<'a, NoSides<'a>> { Group::new(self.0.group(0)) }
}

impl NewOrderCross544Encoder<'_> {
    /** Writes CrossID. */ #[inline] pub fn set_cross_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes Price. */ #[inline] pub fn set_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 41>(value.0); self }
    /** Writes TransBkdTime. */ #[inline] pub fn set_trans_bkd_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 49>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 57>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<65, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 70>(value); self }
}

impl NewOrderCross544Groups<'_> {
    /// Starts the group NoSides.
    #[inline] pub fn no_sides(&mut self) -> Result<GroupEncoder<'_, NoSides<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoSides (tag 552): block of 34 bytes.
    NoSides, NoSidesEncoder, 34, 0
}

impl<'a> NoSides<'a> {
    /// ClOrdID (tag 11), bytes 0..20.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 20..28.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.load::<u64, 20>() }
    /// OrderQty (tag 38), bytes 28..32.
    #[inline] pub fn order_qty(&self) -> u32 { self.0.load::<u32, 28>() }
    /// Side (tag 54), bytes 32..33.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.load::<u8, 32>()) }
    /// SideTimeInForce (tag 962), bytes 33..34.
    #[inline] pub fn side_time_in_force(&self) -> SideTimeInForce { SideTimeInForce(self.0.load::<u8, 33>()) }
}

impl NoSidesEncoder<'_> {
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 20>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 28>(value); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 32>(value.0); self }
    /** Writes SideTimeInForce. */ #[inline] pub fn set_side_time_in_force(&mut self, value: SideTimeInForce) -> &mut Self { self.0.store::<u8, 33>(value.0); self }
}
