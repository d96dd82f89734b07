//! SecurityDefinitionResponse561, template 561. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Float, Group, GroupEncoder, GroupLayout, Message, MonthYear};

/// The layout of SecurityDefinitionResponse561.
pub const MESSAGE: Message = Message {
    name: "SecurityDefinitionResponse561", template_id: 561, schema_id: 8, version: 9, semantic_type: "d",
    block: BlockLayout::new(430, 2, FIELDS),
    groups: &[
        GroupLayout::new("NoLegs", 555, 0, kind::GROUP_SIZE, BlockLayout::new(19, 2, NO_LEGS)),
        GroupLayout::new("NoBrokenDates", 39026, 8, kind::GROUP_SIZE, BlockLayout::new(16, 8, NO_BROKEN_DATES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("FinancialInstrumentFullName", 2714, 268, 0, &kind::STRING_LENGTH35),
    Field::new("SenderID", 5392, 303, 0, &kind::STRING20_REQ),
    Field::new("Symbol", 55, 323, 0, &kind::STRING20),
    Field::new("PartyDetailsListReqID", 1505, 343, 0, &kind::U_INT64),
    Field::new("SecurityReqID", 320, 351, 0, &kind::U_INT64),
    Field::new("SecurityResponseID", 322, 359, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 367, 0, &kind::U_INT64),
    Field::new("SecurityGroup", 1151, 375, 0, &kind::STRING_LENGTH6),
    Field::new("SecurityType", 167, 381, 0, &kind::STRING_LENGTH6),
    Field::new("Location", 9537, 387, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 392, 0, &kind::INT32NULL),
    Field::new("Currency", 15, 396, 0, &kind::STRING3),
    Field::new("SecurityIDSource", 22, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("MaturityMonthYear", 200, 399, 0, &kind::MATURITY_MONTH_YEAR),
    Field::new("DelayDuration", 5904, 404, 0, &kind::U_INT16NULL),
    Field::new("StartDate", 916, 406, 0, &kind::LOCAL_MKT_DATE),
    Field::new("EndDate", 917, 408, 0, &kind::LOCAL_MKT_DATE),
    Field::new("MaxNoOfSubstitutions", 37715, 410, 0, &kind::U_INT8NULL),
    Field::new("SourceRepoID", 5677, 411, 0, &kind::INT32NULL),
    Field::new("TerminationType", 788, 415, 3, &kind::STRING8),
    Field::new("SecurityResponseType", 323, 423, 0, &kind::SEC_RSP_TYP),
    Field::new("UserDefinedInstrument", 9779, 0, 0, &kind::UDI),
    Field::new("ExpirationCycle", 827, 424, 0, &kind::EXP_CYCLE),
    Field::new("ManualOrderIndicator", 1028, 425, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SplitMsg", 9553, 426, 0, &kind::SPLIT_MSG),
    Field::new("AutoQuoteRequest", 9776, 427, 0, &kind::BOOLEAN_FLAG),
    Field::new("PossRetransFlag", 9765, 428, 0, &kind::BOOLEAN_FLAG),
    Field::new("BrokenDateTermType", 6651, 429, 8, &kind::U_INT8NULL),
];
const NO_LEGS: &[Field] = &[
    Field::new("LegPrice", 566, 0, 0, &kind::PRICENULL9),
    Field::new("LegOptionDelta", 1017, 8, 0, &kind::DECIMAL32NULL),
    Field::new("LegSecurityIDSource", 603, 0, 0, &kind::LEG_SEC_ID_SOURCE),
    Field::new("LegSecurityID", 602, 13, 0, &kind::INT32),
    Field::new("LegSide", 624, 17, 0, &kind::SIDE_REQ),
    Field::new("LegRatioQty", 623, 18, 0, &kind::U_INT8NULL),
];
const NO_BROKEN_DATES: &[Field] = &[
    Field::new("BrokenDateGUID", 39031, 0, 0, &kind::U_INT64NULL),
    Field::new("BrokenDateSecurityID", 39027, 8, 0, &kind::INT32NULL),
    Field::new("BrokenDateStart", 6748, 12, 0, &kind::LOCAL_MKT_DATE),
    Field::new("BrokenDateEnd", 6741, 14, 0, &kind::LOCAL_MKT_DATE),
];

hairpin_sbe::message! {
    /// SecurityDefinitionResponse561: message type d, template 561, since version 2, block of 430 bytes, 2 groups.
    SecurityDefinitionResponse561, SecurityDefinitionResponse561Encoder, 430, SecurityDefinitionResponse561Groups, 2
}

impl<'a> SecurityDefinitionResponse561<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// Text (tag 58), bytes 12..268.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<12, 256>() }
    /// FinancialInstrumentFullName (tag 2714), bytes 268..303.
    #[inline] pub fn financial_instrument_full_name(&self) -> CharArray<'a> { self.0.block.chars::<268, 35>() }
    /// SenderID (tag 5392), bytes 303..323.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<303, 20>() }
    /// Symbol (tag 55), bytes 323..343.
    #[inline] pub fn symbol(&self) -> CharArray<'a> { self.0.block.chars::<323, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 343..351.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 343>() }
    /// SecurityReqID (tag 320), bytes 351..359.
    #[inline] pub fn security_req_id(&self) -> u64 { self.0.block.load::<u64, 351>() }
    /// SecurityResponseID (tag 322), bytes 359..367.
    #[inline] pub fn security_response_id(&self) -> u64 { self.0.block.load::<u64, 359>() }
    /// SendingTimeEpoch (tag 5297), bytes 367..375.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 367>() }
    /// SecurityGroup (tag 1151), bytes 375..381.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<375, 6>() }
    /// SecurityType (tag 167), bytes 381..387.
    #[inline] pub fn security_type(&self) -> CharArray<'a> { self.0.block.chars::<381, 6>() }
    /// Location (tag 9537), bytes 387..392.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<387, 5>() }
    /// SecurityID (tag 48), bytes 392..396.
    #[inline] pub fn security_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 392>(i32::MAX) }
    /// Currency (tag 15), bytes 396..399.
    #[inline] pub fn currency(&self) -> CharArray<'a> { self.0.block.chars::<396, 3>() }
    /// SecurityIDSource (tag 22), constant.
    pub const SECURITY_ID_SOURCE: u8 = b'8';
    /// MaturityMonthYear (tag 200), bytes 399..404.
    #[inline] pub fn maturity_month_year(&self) -> MonthYear { self.0.block.month_year::<399>() }
    /// DelayDuration (tag 5904), bytes 404..406.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 404>(u16::MAX) }
    /// StartDate (tag 916), bytes 406..408.
    #[inline] pub fn start_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 406>(u16::MAX) }
    /// EndDate (tag 917), bytes 408..410.
    #[inline] pub fn end_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 408>(u16::MAX) }
    /// MaxNoOfSubstitutions (tag 37715), bytes 410..411.
    #[inline] pub fn max_no_of_substitutions(&self) -> Option<u8> { self.0.block.nullable::<u8, 410>(u8::MAX) }
    /// SourceRepoID (tag 5677), bytes 411..415.
    #[inline] pub fn source_repo_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 411>(i32::MAX) }
    /// TerminationType (tag 788), bytes 415..423, since version 3.
    #[inline] pub fn termination_type(&self) -> CharArray<'a> { self.0.block.chars::<415, 8>() }
    /// SecurityResponseType (tag 323), bytes 423..424.
    #[inline] pub fn security_response_type(&self) -> SecRspTyp { SecRspTyp(self.0.block.load::<u8, 423>()) }
    /// UserDefinedInstrument (tag 9779), constant.
    pub const USER_DEFINED_INSTRUMENT: u8 = b'Y';
    /// ExpirationCycle (tag 827), bytes 424..425.
    #[inline] pub fn expiration_cycle(&self) -> Option<ExpCycle> { self.0.block.nullable::<u8, 424>(u8::MAX).map(ExpCycle) }
    /// ManualOrderIndicator (tag 1028), bytes 425..426.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 425>()) }
    /// SplitMsg (tag 9553), bytes 426..427.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 426>(u8::MAX).map(SplitMsg) }
    /// AutoQuoteRequest (tag 9776), bytes 427..428.
    #[inline] pub fn auto_quote_request(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 427>()) }
    /// PossRetransFlag (tag 9765), bytes 428..429.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 428>()) }
    /// BrokenDateTermType (tag 6651), bytes 429..430, since version 8.
    #[inline] pub fn broken_date_term_type(&self) -> Option<u8> { self.0.block.nullable::<u8, 429>(u8::MAX) }
    /// NoLegs (tag 555).
    #[inline] pub fn no_legs(&self) -> Group<'a, NoLegs<'a>> { Group::new(self.0.group(0)) }
    /// NoBrokenDates (tag 39026), since version 8.
    #[inline] pub fn no_broken_dates(&self) -> Group<'a, NoBrokenDates<'a>> { Group::new(self.0.group(1)) }
}

impl SecurityDefinitionResponse561Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes FinancialInstrumentFullName. */ #[inline] pub fn set_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 35>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<303, 20>(value.as_ref()); self }
    /** Writes Symbol. */ #[inline] pub fn set_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<323, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 343>(value); self }
    /** Writes SecurityReqID. */ #[inline] pub fn set_security_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 351>(value); self }
    /** Writes SecurityResponseID. */ #[inline] pub fn set_security_response_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 359>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 367>(value); self }
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<375, 6>(value.as_ref()); self }
    /** Writes SecurityType. */ #[inline] pub fn set_security_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<381, 6>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<387, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 392>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes Currency. */ #[inline] pub fn set_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<396, 3>(value.as_ref()); self }
    /** Writes MaturityMonthYear. */ #[inline] pub fn set_maturity_month_year(&mut self, value: MonthYear) -> &mut Self { self.0.store_month_year::<399>(value); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 404>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes StartDate. */ #[inline] pub fn set_start_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 406>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes EndDate. */ #[inline] pub fn set_end_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 408>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MaxNoOfSubstitutions. */ #[inline] pub fn set_max_no_of_substitutions(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 410>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes SourceRepoID. */ #[inline] pub fn set_source_repo_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 411>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes TerminationType. */ #[inline] pub fn set_termination_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<415, 8>(value.as_ref()); self }
    /** Writes SecurityResponseType. */ #[inline] pub fn set_security_response_type(&mut self, value: SecRspTyp) -> &mut Self { self.0.store::<u8, 423>(value.0); self }
    /** Writes ExpirationCycle. */ #[inline] pub fn set_expiration_cycle(&mut self, value: impl Into<Option<ExpCycle>>) -> &mut Self { self.0.store::<u8, 424>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 425>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 426>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes AutoQuoteRequest. */ #[inline] pub fn set_auto_quote_request(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 427>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 428>(value.0); self }
    /** Writes BrokenDateTermType. */ #[inline] pub fn set_broken_date_term_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 429>(value.into().unwrap_or(u8::MAX)); self }
}

impl SecurityDefinitionResponse561Groups<'_> {
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
    /// LegPrice (tag 566), bytes 0..8.
    #[inline] pub fn leg_price(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// LegOptionDelta (tag 1017), bytes 8..13.
    #[inline] pub fn leg_option_delta(&self) -> Option<Float> { self.0.float32::<8, 12>() }
    /// LegSecurityIDSource (tag 603), constant.
    pub const LEG_SECURITY_ID_SOURCE: u8 = b'8';
    /// LegSecurityID (tag 602), bytes 13..17.
    #[inline] pub fn leg_security_id(&self) -> i32 { self.0.load::<i32, 13>() }
    /// LegSide (tag 624), bytes 17..18.
    #[inline] pub fn leg_side(&self) -> SideReq { SideReq(self.0.load::<u8, 17>()) }
    /// LegRatioQty (tag 623), bytes 18..19.
    #[inline] pub fn leg_ratio_qty(&self) -> Option<u8> { self.0.nullable::<u8, 18>(u8::MAX) }
}

impl NoLegsEncoder<'_> {
    /** Writes LegPrice. */ #[inline] pub fn set_leg_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LegOptionDelta. */ #[inline] pub fn set_leg_option_delta(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float32::<8, 12>(value.into()); self }
    /** Writes LegSecurityID. */ #[inline] pub fn set_leg_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 13>(value); self }
    /** Writes LegSide. */ #[inline] pub fn set_leg_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 17>(value.0); self }
    /** Writes LegRatioQty. */ #[inline] pub fn set_leg_ratio_qty(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 18>(value.into().unwrap_or(u8::MAX)); self }
}

hairpin_sbe::entry! {
    /// An entry of NoBrokenDates (tag 39026): block of 16 bytes.
    NoBrokenDates, NoBrokenDatesEncoder, 16, 1
}

impl NoBrokenDates<'_> {
    /// BrokenDateGUID (tag 39031), bytes 0..8.
    #[inline] pub fn broken_date_guid(&self) -> Option<u64> { self.0.nullable::<u64, 0>(u64::MAX) }
    /// BrokenDateSecurityID (tag 39027), bytes 8..12.
    #[inline] pub fn broken_date_security_id(&self) -> Option<i32> { self.0.nullable::<i32, 8>(i32::MAX) }
    /// BrokenDateStart (tag 6748), bytes 12..14.
    #[inline] pub fn broken_date_start(&self) -> Option<u16> { self.0.nullable::<u16, 12>(u16::MAX) }
    /// BrokenDateEnd (tag 6741), bytes 14..16.
    #[inline] pub fn broken_date_end(&self) -> Option<u16> { self.0.nullable::<u16, 14>(u16::MAX) }
}

impl NoBrokenDatesEncoder<'_> {
    /** Writes BrokenDateGUID. */ #[inline] pub fn set_broken_date_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 0>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes BrokenDateSecurityID. */ #[inline] pub fn set_broken_date_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 8>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes BrokenDateStart. */ #[inline] pub fn set_broken_date_start(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 12>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes BrokenDateEnd. */ #[inline] pub fn set_broken_date_end(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 14>(value.into().unwrap_or(u16::MAX)); self }
}
