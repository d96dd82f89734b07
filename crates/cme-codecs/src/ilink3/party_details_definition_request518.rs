//! PartyDetailsDefinitionRequest518, template 518. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of PartyDetailsDefinitionRequest518.
pub const MESSAGE: Message = Message {
    name: "PartyDetailsDefinitionRequest518", template_id: 518, schema_id: 8, version: 9, semantic_type: "CX",
    block: BlockLayout::new(147, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoPartyDetails", 1671, 0, kind::GROUP_SIZE, BlockLayout::new(22, 0, NO_PARTY_DETAILS)),
        GroupLayout::new("NoTrdRegPublications", 2668, 2, kind::GROUP_SIZE, BlockLayout::new(2, 2, NO_TRD_REG_PUBLICATIONS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 8, 0, &kind::U_INT64),
    Field::new("ListUpdateAction", 1324, 16, 0, &kind::LIST_UPD_ACT),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("Memo", 5149, 21, 0, &kind::STRING75),
    Field::new("AvgPxGroupID", 1731, 96, 0, &kind::STRING20),
    Field::new("SelfMatchPreventionID", 2362, 116, 0, &kind::U_INT64NULL),
    Field::new("CmtaGiveupCD", 9708, 124, 0, &kind::CMTA_GIVE_UP_CD),
    Field::new("CustOrderCapacity", 582, 125, 0, &kind::CUST_ORDER_CAPACITY),
    Field::new("ClearingAccountType", 1816, 126, 0, &kind::CLEARING_ACCT_TYPE),
    Field::new("SelfMatchPreventionInstruction", 8000, 127, 0, &kind::SMPI),
    Field::new("AvgPxIndicator", 819, 128, 0, &kind::AVG_PX_IND),
    Field::new("ClearingTradePriceType", 1598, 129, 0, &kind::SLEDS),
    Field::new("CustOrderHandlingInst", 1031, 130, 0, &kind::CUST_ORD_HANDL_INST),
    Field::new("Executor", 5290, 131, 0, &kind::U_INT64NULL),
    Field::new("IDMShortCode", 36023, 139, 0, &kind::U_INT64NULL),
    Field::new("NoPartyUpdates", 1676, 0, 0, &kind::NO_PTY_UPD),
];
const NO_PARTY_DETAILS: &[Field] = &[
    Field::new("PartyDetailID", 1691, 0, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailIDSource", 1692, 0, 0, &kind::PARTY_ID_SOURCE),
    Field::new("PartyDetailRole", 1693, 20, 0, &kind::PARTY_DETAIL_ROLE),
];
const NO_TRD_REG_PUBLICATIONS: &[Field] = &[
    Field::new("TrdRegPublicationType", 2669, 0, 0, &kind::U_INT8),
    Field::new("TrdRegPublicationReason", 2670, 1, 0, &kind::U_INT8),
];

hairpin_sbe::message! {
    /// PartyDetailsDefinitionRequest518: message type CX, template 518, block of 147 bytes, 2 groups.
    PartyDetailsDefinitionRequest518, PartyDetailsDefinitionRequest518Encoder, 147, PartyDetailsDefinitionRequest518Groups, 2
}

impl<'a> PartyDetailsDefinitionRequest518<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SendingTimeEpoch (tag 5297), bytes 8..16.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ListUpdateAction (tag 1324), bytes 16..17.
    #[inline] pub fn list_update_action(&self) -> ListUpdAct { ListUpdAct(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// Memo (tag 5149), bytes 21..96.
    #[inline] pub fn memo(&self) -> CharArray<'a> { self.0.block.chars::<21, 75>() }
    /// AvgPxGroupID (tag 1731), bytes 96..116.
    #[inline] pub fn avg_px_group_id(&self) -> CharArray<'a> { self.0.block.chars::<96, 20>() }
    /// SelfMatchPreventionID (tag 2362), bytes 116..124.
    #[inline] pub fn self_match_prevention_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 116>(u64::MAX) }
    /// CmtaGiveupCD (tag 9708), bytes 124..125.
    #[inline] pub fn cmta_giveup_cd(&self) -> Option<CmtaGiveUpCD> { self.0.block.nullable_char::<124>().map(CmtaGiveUpCD) }
    /// CustOrderCapacity (tag 582), bytes 125..126.
    #[inline] pub fn cust_order_capacity(&self) -> Option<CustOrderCapacity> { self.0.block.nullable::<u8, 125>(u8::MAX).map(CustOrderCapacity) }
    /// ClearingAccountType (tag 1816), bytes 126..127.
    #[inline] pub fn clearing_account_type(&self) -> Option<ClearingAcctType> { self.0.block.nullable::<u8, 126>(u8::MAX).map(ClearingAcctType) }
    /// SelfMatchPreventionInstruction (tag 8000), bytes 127..128.
    #[inline] pub fn self_match_prevention_instruction(&self) -> Option<SMPI> { self.0.block.nullable_char::<127>().map(SMPI) }
    /// AvgPxIndicator (tag 819), bytes 128..129.
    #[inline] pub fn avg_px_indicator(&self) -> Option<AvgPxInd> { self.0.block.nullable::<u8, 128>(u8::MAX).map(AvgPxInd) }
    /// ClearingTradePriceType (tag 1598), bytes 129..130.
    #[inline] pub fn clearing_trade_price_type(&self) -> Option<SLEDS> { self.0.block.nullable::<u8, 129>(u8::MAX).map(SLEDS) }
    /// CustOrderHandlingInst (tag 1031), bytes 130..131.
    #[inline] pub fn cust_order_handling_inst(&self) -> Option<CustOrdHandlInst> { self.0.block.nullable_char::<130>().map(CustOrdHandlInst) }
    /// Executor (tag 5290), bytes 131..139.
    #[inline] pub fn executor(&self) -> Option<u64> { self.0.block.nullable::<u64, 131>(u64::MAX) }
    /// IDMShortCode (tag 36023), bytes 139..147.
    #[inline] pub fn idm_short_code(&self) -> Option<u64> { self.0.block.nullable::<u64, 139>(u64::MAX) }
    /// NoPartyUpdates (tag 1676), constant.
    pub const NO_PARTY_UPDATES: u8 = 1;
    /// NoPartyDetails (tag 1671).
    #[inline] pub fn no_party_details(&self) -> Group<'a, NoPartyDetails<'a>> { Group::new(self.0.group(0)) }
    /// NoTrdRegPublications (tag 2668), since version 2.
    #[inline] pub fn no_trd_reg_publications(&self) -> Group<'a, NoTrdRegPublications<'a>> { Group::new(self.0.group(1)) }
}

impl PartyDetailsDefinitionRequest518Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ListUpdateAction. */ #[inline] pub fn set_list_update_action(&mut self, value: ListUpdAct) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes Memo. */ #[inline] pub fn set_memo(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 75>(value.as_ref()); self }
    /** Writes AvgPxGroupID. */ #[inline] pub fn set_avg_px_group_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<96, 20>(value.as_ref()); self }
    /** Writes SelfMatchPreventionID. */ #[inline] pub fn set_self_match_prevention_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 116>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes CmtaGiveupCD. */ #[inline] pub fn set_cmta_giveup_cd(&mut self, value: impl Into<Option<CmtaGiveUpCD>>) -> &mut Self { self.0.store::<u8, 124>(value.into().map_or(0, |v| v.0)); self }
    /** Writes CustOrderCapacity. */ #[inline] pub fn set_cust_order_capacity(&mut self, value: impl Into<Option<CustOrderCapacity>>) -> &mut Self { self.0.store::<u8, 125>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ClearingAccountType. */ #[inline] pub fn set_clearing_account_type(&mut self, value: impl Into<Option<ClearingAcctType>>) -> &mut Self { self.0.store::<u8, 126>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SelfMatchPreventionInstruction. */ #[inline] pub fn set_self_match_prevention_instruction(&mut self, value: impl Into<Option<SMPI>>) -> &mut Self { self.0.store::<u8, 127>(value.into().map_or(0, |v| v.0)); self }
    /** Writes AvgPxIndicator. */ #[inline] pub fn set_avg_px_indicator(&mut self, value: impl Into<Option<AvgPxInd>>) -> &mut Self { self.0.store::<u8, 128>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ClearingTradePriceType. */ #[inline] pub fn set_clearing_trade_price_type(&mut self, value: impl Into<Option<SLEDS>>) -> &mut Self { self.0.store::<u8, 129>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes CustOrderHandlingInst. */ #[inline] pub fn set_cust_order_handling_inst(&mut self, value: impl Into<Option<CustOrdHandlInst>>) -> &mut Self { self.0.store::<u8, 130>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Executor. */ #[inline] pub fn set_executor(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 131>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes IDMShortCode. */ #[inline] pub fn set_idm_short_code(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 139>(value.into().unwrap_or(u64::MAX)); self }
}

impl PartyDetailsDefinitionRequest518Groups<'_> {
    /// Starts the group NoPartyDetails.
    #[inline] pub fn no_party_details(&mut self) -> Result<GroupEncoder<'_, NoPartyDetails<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoTrdRegPublications.
    #[inline] pub fn no_trd_reg_publications(&mut self) -> Result<GroupEncoder<'_, NoTrdRegPublications<'_>>, EncodeError> { self.0.open(1) }
}

hairpin_sbe::entry! {
    /// An entry of NoPartyDetails (tag 1671): block of 22 bytes.
    NoPartyDetails, NoPartyDetailsEncoder, 22, 0
}

impl<'a> NoPartyDetails<'a> {
    /// PartyDetailID (tag 1691), bytes 0..20.
    #[inline] pub fn party_detail_id(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// PartyDetailIDSource (tag 1692), constant.
    pub const PARTY_DETAIL_ID_SOURCE: u8 = b'C';
    /// PartyDetailRole (tag 1693), bytes 20..22.
    #[inline] pub fn party_detail_role(&self) -> PartyDetailRole { PartyDetailRole(self.0.load::<u16, 20>()) }
}

impl NoPartyDetailsEncoder<'_> {
    /** Writes PartyDetailID. */ #[inline] pub fn set_party_detail_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /** Writes PartyDetailRole. */ #[inline] pub fn set_party_detail_role(&mut self, value: PartyDetailRole) -> &mut Self { self.0.store::<u16, 20>(value.0); self }
}

hairpin_sbe::entry! {
    /// An entry of NoTrdRegPublications (tag 2668): block of 2 bytes.
    NoTrdRegPublications, NoTrdRegPublicationsEncoder, 2, 1
}

impl NoTrdRegPublications<'_> {
    /// TrdRegPublicationType (tag 2669), bytes 0..1.
    #[inline] pub fn trd_reg_publication_type(&self) -> u8 { self.0.load::<u8, 0>() }
    /// TrdRegPublicationReason (tag 2670), bytes 1..2.
    #[inline] pub fn trd_reg_publication_reason(&self) -> u8 { self.0.load::<u8, 1>() }
}

impl NoTrdRegPublicationsEncoder<'_> {
    /** Writes TrdRegPublicationType. */ #[inline] pub fn set_trd_reg_publication_type(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 0>(value); self }
    /** Writes TrdRegPublicationReason. */ #[inline] pub fn set_trd_reg_publication_reason(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 1>(value); self }
}
