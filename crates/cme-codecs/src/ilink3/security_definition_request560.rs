//! SecurityDefinitionRequest560, template 560. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Float, Group, GroupEncoder, GroupLayout, Message};

/// The layout of SecurityDefinitionRequest560.
pub const MESSAGE: Message = Message {
    name: "SecurityDefinitionRequest560", template_id: 560, schema_id: 8, version: 9, semantic_type: "c",
    block: BlockLayout::new(72, 2, FIELDS),
    groups: &[
        GroupLayout::new("NoLegs", 555, 0, kind::GROUP_SIZE, BlockLayout::new(19, 2, NO_LEGS)),
        GroupLayout::new("NoBrokenDates", 39026, 8, kind::GROUP_SIZE, BlockLayout::new(4, 8, NO_BROKEN_DATES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("SecurityReqID", 320, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20),
    Field::new("SecurityReqType", 321, 0, 0, &kind::SECURITY_REQ_TYPE),
    Field::new("SendingTimeEpoch", 5297, 41, 0, &kind::U_INT64),
    Field::new("SecuritySubType", 762, 49, 0, &kind::STRING8_REQ),
    Field::new("Location", 9537, 57, 0, &kind::STRING5_REQ),
    Field::new("StartDate", 916, 62, 0, &kind::LOCAL_MKT_DATE),
    Field::new("EndDate", 917, 64, 0, &kind::LOCAL_MKT_DATE),
    Field::new("MaxNoOfSubstitutions", 37715, 66, 0, &kind::U_INT8NULL),
    Field::new("SourceRepoID", 5677, 67, 0, &kind::INT32NULL),
    Field::new("BrokenDateTermType", 6651, 71, 8, &kind::U_INT8NULL),
];
const NO_LEGS: &[Field] = &[
    Field::new("LegSecurityIDSource", 603, 0, 0, &kind::LEG_SEC_ID_SOURCE),
    Field::new("LegPrice", 566, 0, 0, &kind::PRICENULL9),
    Field::new("LegSecurityID", 602, 8, 0, &kind::INT32),
    Field::new("LegOptionDelta", 1017, 12, 0, &kind::DECIMAL32NULL),
    Field::new("LegSide", 624, 17, 0, &kind::SIDE_REQ),
    Field::new("LegRatioQty", 623, 18, 0, &kind::U_INT8NULL),
];
const NO_BROKEN_DATES: &[Field] = &[
    Field::new("BrokenDateStart", 6748, 0, 0, &kind::LOCAL_MKT_DATE),
    Field::new("BrokenDateEnd", 6741, 2, 0, &kind::LOCAL_MKT_DATE),
];

hairpin_sbe::message! {
    /// SecurityDefinitionRequest560: message type c, template 560, since version 2, block of 72 bytes, 2 groups.
    SecurityDefinitionRequest560, SecurityDefinitionRequest560Encoder, 72, SecurityDefinitionRequest560Groups, 2
}

impl<'a> SecurityDefinitionRequest560<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SecurityReqID (tag 320), bytes 8..16.
    #[inline] pub fn security_req_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// SecurityReqType (tag 321), constant.
    pub const SECURITY_REQ_TYPE: u8 = b'1';
    /// SendingTimeEpoch (tag 5297), bytes 41..49.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// SecuritySubType (tag 762), bytes 49..57.
    #[inline] pub fn security_sub_type(&self) -> CharArray<'a> { self.0.block.chars::<49, 8>() }
    /// Location (tag 9537), bytes 57..62.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<57, 5>() }
    /// StartDate (tag 916), bytes 62..64.
    #[inline] pub fn start_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 62>(u16::MAX) }
    /// EndDate (tag 917), bytes 64..66.
    #[inline] pub fn end_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 64>(u16::MAX) }
    /// MaxNoOfSubstitutions (tag 37715), bytes 66..67.
    #[inline] pub fn max_no_of_substitutions(&self) -> Option<u8> { self.0.block.nullable::<u8, 66>(u8::MAX) }
    /// SourceRepoID (tag 5677), bytes 67..71.
    #[inline] pub fn source_repo_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 67>(i32::MAX) }
    /// BrokenDateTermType (tag 6651), bytes 71..72, since version 8.
    #[inline] pub fn broken_date_term_type(&self) -> Option<u8> { self.0.block.nullable::<u8, 71>(u8::MAX) }
    /// NoLegs (tag 555).
    #[inline] pub fn no_legs(&self) -> Group<'a, NoLegs<'a>> { Group::new(self.0.group(0)) }
    /// NoBrokenDates (tag 39026), since version 8.
    #[inline] pub fn no_broken_dates(&self) -> Group<'a, NoBrokenDates<'a>> { Group::new(self.0.group(1)) }
}

impl SecurityDefinitionRequest560Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes SecurityReqID. */ #[inline] pub fn set_security_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /** Writes SecuritySubType. */ #[inline] pub fn set_security_sub_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<49, 8>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<57, 5>(value.as_ref()); self }
    /** Writes StartDate. */ #[inline] pub fn set_start_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 62>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes EndDate. */ #[inline] pub fn set_end_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 64>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MaxNoOfSubstitutions. */ #[inline] pub fn set_max_no_of_substitutions(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 66>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes SourceRepoID. */ #[inline] pub fn set_source_repo_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 67>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes BrokenDateTermType. */ #[inline] pub fn set_broken_date_term_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 71>(value.into().unwrap_or(u8::MAX)); self }
}

impl SecurityDefinitionRequest560Groups<'_> {
    /// Starts the group NoLegs.
    #[inline] pub fn no_legs(&mut self) -> Result<GroupEncoder<'_, NoLegs<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoBrokenDates.
    #[inline] pub fn no_broken_dates(&mut self) -> Result<GroupEncoder<'_, NoBrokenDates<'_>>, EncodeError> { self.0.open(1) }
}

hairpin_sbe::entry! {
    /// An entry of NoLegs (tag 555): block of 19 bytes.
    NoLegs, NoLegsEncoder, 19, 0
}

impl NoLegs<'_> {
    /// LegSecurityIDSource (tag 603), constant.
    pub const LEG_SECURITY_ID_SOURCE: u8 = b'8';
    /// LegPrice (tag 566), bytes 0..8.
    #[inline] pub fn leg_price(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// LegSecurityID (tag 602), bytes 8..12.
    #[inline] pub fn leg_security_id(&self) -> i32 { self.0.load::<i32, 8>() }
    /// LegOptionDelta (tag 1017), bytes 12..17.
    #[inline] pub fn leg_option_delta(&self) -> Option<Float> { self.0.float32::<12, 16>() }
    /// LegSide (tag 624), bytes 17..18.
    #[inline] pub fn leg_side(&self) -> SideReq { SideReq(self.0.load::<u8, 17>()) }
    /// LegRatioQty (tag 623), bytes 18..19.
    #[inline] pub fn leg_ratio_qty(&self) -> Option<u8> { self.0.nullable::<u8, 18>(u8::MAX) }
}

impl NoLegsEncoder<'_> {
    /** Writes LegPrice. */ #[inline] pub fn set_leg_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LegSecurityID. */ #[inline] pub fn set_leg_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /** Writes LegOptionDelta. */ #[inline] pub fn set_leg_option_delta(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float32::<12, 16>(value.into()); self }
    /** Writes LegSide. */ #[inline] pub fn set_leg_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 17>(value.0); self }
    /** Writes LegRatioQty. */ #[inline] pub fn set_leg_ratio_qty(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 18>(value.into().unwrap_or(u8::MAX)); self }
}

hairpin_sbe::entry! {
    /// An entry of NoBrokenDates (tag 39026): block of 4 bytes.
    NoBrokenDates, NoBrokenDatesEncoder, 4, 1
}

impl NoBrokenDates<'_> {
    /// BrokenDateStart (tag 6748), bytes 0..2.
    #[inline] pub fn broken_date_start(&self) -> Option<u16> { self.0.nullable::<u16, 0>(u16::MAX) }
    /// BrokenDateEnd (tag 6741), bytes 2..4.
    #[inline] pub fn broken_date_end(&self) -> Option<u16> { self.0.nullable::<u16, 2>(u16::MAX) }
}

impl NoBrokenDatesEncoder<'_> {
    /** Writes BrokenDateStart. */ #[inline] pub fn set_broken_date_start(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 0>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes BrokenDateEnd. */ #[inline] pub fn set_broken_date_end(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 2>(value.into().unwrap_or(u16::MAX)); self }
}
