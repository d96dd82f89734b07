//! Party details that a session has defined for its orders.

use hairpin_cme_codecs::ilink3::party_details_definition_request518::{
    NoPartyDetails, NoTrdRegPublications,
};
use hairpin_cme_codecs::ilink3::{
    AvgPxInd, BooleanFlag, ClearingAcctType, CmtaGiveUpCD, CustOrdHandlInst, CustOrderCapacity,
    ListUpdAct, PartyDetailRole, PartyDetailsDefinitionRequest518,
    PartyDetailsDefinitionRequestAck519, PartyDetailsListReport538, ReqResult, SLEDS, SMPI,
};
use hairpin_sbe::EncodeError;

use super::check::{self, RejectCause, tag};
use super::publish::Stamp;
use super::reason_codes::BusinessReason;
use crate::{SelfMatchInstruction, SelfMatchPrevention};

/// The maximum number of parties per definition: the schema has five roles, each at most once.
const PARTIES_MAX: usize = 5;

/// PartyDetailRequestStatus and PartyDetailDefinitionStatus of an accepted definition.
const ACCEPTED: u8 = 0;

/// A party: the padded PartyDetailID, and the PartyDetailRole.
type Party = ([u8; 20], PartyDetailRole);

/// A definition of party details. Its acknowledgement and reports repeat all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartyDetails {
    /// PartyDetailsListReqID (tag 1505).
    pub(super) id: u64,
    /// The SeqNum of the defining message.
    pub(super) sequence: u32,
    action: ListUpdAct,
    memo: [u8; 75],
    avg_px_group_id: [u8; 20],
    self_match_prevention_id: Option<u64>,
    cmta_giveup_cd: Option<CmtaGiveUpCD>,
    cust_order_capacity: Option<CustOrderCapacity>,
    clearing_account_type: Option<ClearingAcctType>,
    self_match_prevention_instruction: Option<SMPI>,
    avg_px_indicator: Option<AvgPxInd>,
    clearing_trade_price_type: Option<SLEDS>,
    cust_order_handling_inst: Option<CustOrdHandlInst>,
    executor: Option<u64>,
    idm_short_code: Option<u64>,
    parties: [Party; PARTIES_MAX],
    party_count: usize,
    /// TrdRegPublicationType and TrdRegPublicationReason, at most one pair.
    publication: Option<(u8, u8)>,
}

/// The fields of a PartyDetailsListReport538 that concern the request as a whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListReport {
    /// PartyDetailsListReqID of the request.
    pub(super) request: u64,
    pub(super) total: u16,
    pub(super) last: bool,
    pub(super) result: ReqResult,
}

/// Writes the fields that the acknowledgement and the report have under the same names.
macro_rules! details {
    ($encoder:expr, $stamp:expr, $of:expr) => {
        $encoder
            .set_seq_num($stamp.number)
            .set_uuid($stamp.uuid)
            .set_sending_time_epoch($stamp.utc)
            .set_avg_px_group_id($of.avg_px_group_id)
            .set_party_details_list_req_id($of.id)
            .set_self_match_prevention_id($of.self_match_prevention_id)
            .set_cust_order_capacity($of.cust_order_capacity)
            .set_clearing_account_type($of.clearing_account_type)
            .set_self_match_prevention_instruction($of.self_match_prevention_instruction)
            .set_avg_px_indicator($of.avg_px_indicator)
            .set_clearing_trade_price_type($of.clearing_trade_price_type)
            .set_cmta_giveup_cd($of.cmta_giveup_cd)
            .set_cust_order_handling_inst($of.cust_order_handling_inst)
            .set_executor($of.executor)
            .set_idm_short_code($of.idm_short_code)
            .set_poss_retrans_flag(BooleanFlag::FALSE)
            .set_split_msg($stamp.split)
    };
}

/// Writes the groups of the acknowledgement and the report.
macro_rules! parties {
    ($groups:expr, $of:expr) => {{
        let mut group = $groups.no_party_details()?;
        for &(id, role) in &$of.parties[..$of.party_count] {
            group.push()?.set_party_detail_id(id).set_party_detail_role(role);
        }
        let mut group = $groups.no_trd_reg_publications()?;
        if let Some((kind, reason)) = $of.publication {
            let mut publication = group.push()?;
            publication.set_trd_reg_publication_type(kind).set_trd_reg_publication_reason(reason);
        }
        $groups.finish()
    }};
}

impl PartyDetails {
    /// Creates a definition without parties.
    pub(super) const fn empty(id: u64) -> Self {
        Self {
            id,
            sequence: 0,
            action: ListUpdAct::ADD,
            memo: [0; 75],
            avg_px_group_id: [0; 20],
            self_match_prevention_id: None,
            cmta_giveup_cd: None,
            cust_order_capacity: None,
            clearing_account_type: None,
            self_match_prevention_instruction: None,
            avg_px_indicator: None,
            clearing_trade_price_type: None,
            cust_order_handling_inst: None,
            executor: None,
            idm_short_code: None,
            parties: [([0; 20], PartyDetailRole(0)); PARTIES_MAX],
            party_count: 0,
            publication: None,
        }
    }

    /// Decodes and validates a definition or a deletion.
    pub(super) fn from_message(
        message: &PartyDetailsDefinitionRequest518<'_>,
    ) -> Result<Self, RejectCause> {
        let action = message.list_update_action();
        if !matches!(action, ListUpdAct::ADD | ListUpdAct::DELETE) {
            return Err(check::undefined_value(tag::LIST_UPDATE_ACTION));
        }
        let mut details = Self {
            sequence: message.seq_num(),
            action,
            memo: array(message.memo().raw()),
            avg_px_group_id: array(message.avg_px_group_id().raw()),
            self_match_prevention_id: message.self_match_prevention_id(),
            cmta_giveup_cd: message.cmta_giveup_cd(),
            cust_order_capacity: message.cust_order_capacity(),
            clearing_account_type: message.clearing_account_type(),
            self_match_prevention_instruction: message.self_match_prevention_instruction(),
            avg_px_indicator: message.avg_px_indicator(),
            clearing_trade_price_type: message.clearing_trade_price_type(),
            cust_order_handling_inst: message.cust_order_handling_inst(),
            executor: message.executor(),
            idm_short_code: message.idm_short_code(),
            ..Self::empty(message.party_details_list_req_id())
        };
        details.check_values()?;
        details.decode_parties(message)?;
        details.decode_publication(message)?;
        Ok(details)
    }

    /// Checks the fields with listed values.
    fn check_values(&self) -> Result<(), RejectCause> {
        check::check_char(self.self_match_prevention_instruction.map(|of| of.0), b"NO", tag::SMPI)?;
        check::check_char(self.cmta_giveup_cd.map(|of| of.0), b"GS", tag::CMTA_GIVEUP_CD)?;
        macro_rules! is_undefined {
            ($field:ident) => {
                self.$field.is_some_and(|of| of.name().is_none())
            };
        }
        check::check_defined(&[
            (is_undefined!(avg_px_indicator), tag::AVG_PX_INDICATOR),
            (is_undefined!(clearing_trade_price_type), tag::CLEARING_TRADE_PRICE_TYPE),
            (is_undefined!(cust_order_handling_inst), tag::CUST_ORDER_HANDLING_INST),
            (is_undefined!(clearing_account_type), tag::CLEARING_ACCOUNT_TYPE),
            (is_undefined!(cust_order_capacity), tag::CUST_ORDER_CAPACITY),
        ])
    }

    fn decode_parties(
        &mut self,
        message: &PartyDetailsDefinitionRequest518<'_>,
    ) -> Result<(), RejectCause> {
        let (mut entries, mut scratch) = (message.no_party_details(), NoPartyDetails::SCRATCH);
        while let Some(entry) = entries.next(&mut scratch) {
            let (id, role) = (entry.party_detail_id(), entry.party_detail_role());
            check::check_texts(&[(id.raw(), tag::PARTY_DETAIL_ID)])?;
            if !ROLES.contains(&role) {
                return Err(check::undefined_value(tag::PARTY_DETAIL_ROLE));
            }
            let is_known = self.parties[..self.party_count].iter().any(|&(_, known)| known == role);
            if is_known {
                let (reason, tag) = (BusinessReason::RepeatedEntry, Some(tag::PARTY_DETAIL_ROLE));
                return Err(check::business_reject(reason, tag, "PartyDetailRole is repeated"));
            }
            self.parties[self.party_count] = (array(id.raw()), role);
            self.party_count += 1;
        }
        if self.party_count == 0 && self.action == ListUpdAct::ADD {
            return Err(check::missing(tag::NO_PARTY_DETAILS));
        }
        Ok(())
    }

    fn decode_publication(
        &mut self,
        message: &PartyDetailsDefinitionRequest518<'_>,
    ) -> Result<(), RejectCause> {
        let mut entries = message.no_trd_reg_publications();
        if entries.len() > 1 {
            let (reason, tag) =
                (BusinessReason::ValueOutOfRange, Some(tag::NO_TRD_REG_PUBLICATIONS));
            return Err(check::business_reject(reason, tag, "NoTrdRegPublications exceeds 1"));
        }
        let mut scratch = NoTrdRegPublications::SCRATCH;
        self.publication = entries
            .next(&mut scratch)
            .map(|of| (of.trd_reg_publication_type(), of.trd_reg_publication_reason()));
        Ok(())
    }

    /// Returns the self-match prevention of an order of `firm` with these details.
    pub(super) fn self_match(&self, firm: u32) -> Option<SelfMatchPrevention> {
        let instruction = match self.self_match_prevention_instruction {
            Some(SMPI::CANCEL_NEWEST) => SelfMatchInstruction::CancelAggressor,
            _ => SelfMatchInstruction::CancelResting,
        };
        let id = self.self_match_prevention_id?;
        Some(SelfMatchPrevention { firm, id, instruction })
    }

    /// Returns SelfMatchPreventionID (tag 2362).
    pub(super) fn self_match_id(&self) -> Option<u64> {
        self.self_match_prevention_id
    }

    /// Returns the same details under id 0, for messages that no definition precedes.
    pub(super) fn carried(&self) -> Self {
        Self { id: 0, sequence: 0, action: ListUpdAct::ADD, ..*self }
    }

    /// Creates details with an executor only.
    #[cfg(test)]
    pub(super) fn with_executor(id: u64, executor: u64) -> Self {
        Self { executor: Some(executor), ..Self::empty(id) }
    }

    /// Returns `true` for a deletion.
    pub(super) fn is_deletion(&self) -> bool {
        self.action == ListUpdAct::DELETE
    }

    /// Encodes the PartyDetailsDefinitionRequestAck519.
    pub(super) fn encode_ack(
        &self,
        buffer: &mut [u8],
        stamp: &Stamp,
    ) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = PartyDetailsDefinitionRequestAck519::encode(buffer)?;
        details!(root, stamp, self)
            .set_memo(self.memo)
            .set_list_update_action(self.action)
            .set_party_detail_request_status(ACCEPTED)
            .set_party_detail_definition_status(ACCEPTED);
        parties!(groups, self)
    }

    /// Encodes the PartyDetailsListReport538.
    pub(super) fn encode_report(
        &self,
        buffer: &mut [u8],
        stamp: &Stamp,
        list: ListReport,
    ) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = PartyDetailsListReport538::encode(buffer)?;
        let last = if list.last { BooleanFlag::TRUE } else { BooleanFlag::FALSE };
        details!(root, stamp, self)
            .set_party_details_list_report_id(list.request)
            .set_tot_num_parties(list.total)
            .set_request_result(list.result)
            .set_last_fragment(last);
        parties!(groups, self)
    }
}

/// The roles of the schema.
const ROLES: [PartyDetailRole; PARTIES_MAX] = [
    PartyDetailRole::EXECUTING_FIRM,
    PartyDetailRole::CUSTOMER_ACCOUNT,
    PartyDetailRole::TAKE_UP_FIRM,
    PartyDetailRole::OPERATOR,
    PartyDetailRole::TAKE_UP_ACCOUNT,
];

fn array<const N: usize>(text: &[u8]) -> [u8; N] {
    // The codec's fields have exactly these lengths.
    text.try_into().unwrap_or([0; N])
}
